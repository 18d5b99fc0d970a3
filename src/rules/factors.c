/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads rules of factors and makes rows of them. A symbol is a letter, "...", or the name of an argument in brackets;
 * it is one dim or several, and each of these is a factor. Terms are matched with the dims of the tensors: inputs
 * first, then outputs, then addends, whose dims are those of the first output. A factor makes one row: sharded wherever
 * it occurs, except where a dim of size 1 is broadcast; outputs whose terms lack it become partial, and so do the
 * addends. There is no row if the sizes of a factor differ in any other way, or if an output's term has the factor and
 * its tensor lacks it.
 */
#include "rules/factors.h"

#include "base/cursor.h"

#include <ctype.h>
#include <string.h>

enum { ELLIPSIS, UNIT, MAX_SYMBOLS = 24, MAX_TERMS = 16, MAX_ITEMS = DT_SPEC_MAX_DIMS, NO_ARGUMENT = -1 };

/* A part of the text of a rule. */
typedef struct word {
    const char *at;
    int n;
} word;

typedef struct rule_symbol {
    word name;
    bool whole; /* "!": must not be sharded */
    unsigned
        flags; /* of its rows: "@": the kernel needs the offset of its shard; "~": meet; ">": scan; "^": window */
} rule_symbol;

/* A symbol in a term. */
typedef struct item {
    signed char symbol;
    signed char argument; /* of the rule: the argument that has its positions */
    bool counts;          /* "#": as many dims in this place as the argument has members */
    bool optional;        /* "?" */
} item;

typedef struct term {
    int n;
    item items[MAX_ITEMS];
    bool addend, moved; /* "+", "=" */
    dt_reduce vanished; /* outputs: what a factor that it lacks makes of it */
} term;

typedef struct rule {
    int n_symbols, n_arguments;
    rule_symbol symbols[MAX_SYMBOLS];
    word arguments[MAX_SYMBOLS];
    int n_inputs, n_outputs; /* terms: inputs, then outputs */
    term terms[MAX_TERMS];
} rule;

static bool same_word(word a, word b) { return a.n == b.n && !memcmp(a.at, b.at, (size_t)a.n); }

static dt_status find_symbol(const dt__cursor *at, rule *out, word name, item *into) {
    int s = 0;
    while (s < out->n_symbols && !same_word(out->symbols[s].name, name))
        s++;
    if (s == MAX_SYMBOLS)
        return dt__cursor_fail(at, "expected at most %d factors in a rule", MAX_SYMBOLS - 2);
    out->n_symbols += s == out->n_symbols;
    out->symbols[s].name = name;
    into->symbol = (signed char)s;
    return DT_OK;
}

static int find_argument(rule *out, word name) {
    int a = 0;
    while (a < out->n_arguments && !same_word(out->arguments[a], name))
        a++;
    out->n_arguments += a == out->n_arguments;
    out->arguments[a] = name; /* there are no more arguments than symbols */
    return a;
}

static const struct {
    const char *mark;
    unsigned flag;
} row_marks[] = {{"@", DT_ROW_OFFSET}, {"~", DT_ROW_MEET}, {">", DT_ROW_SCAN}, {"^", DT_ROW_WINDOW}};

/* "!", "?" and the marks of rows after a factor. */
static void read_marks(dt__cursor *at, rule *out, item *into) {
    rule_symbol *of = &out->symbols[into->symbol];
    for (bool more = true; more;) {
        more = false;
        if (dt__cursor_skip(at, "!"))
            more = of->whole = true;
        if (dt__cursor_skip(at, "?"))
            more = into->optional = true;
        for (size_t m = 0; m < sizeof row_marks / sizeof *row_marks; m++)
            if (dt__cursor_skip(at, row_marks[m].mark)) {
                of->flags |= row_marks[m].flag;
                more = true;
            }
    }
}

static bool is_name(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* A letter, or 1: a dim of size 1. */
static dt_status read_letter(dt__cursor *at, rule *out, item *into) {
    if (!islower((unsigned char)*at->at) && *at->at != '1')
        return dt__cursor_fail(at, "expected a letter or 1");
    word name = {at->at, 1};
    if (*at->at == '1')
        into->symbol = UNIT;
    else
        DT__TRY(find_symbol(at, out, name, into));
    at->at++;
    return DT_OK;
}

/* "[dim]", "[dim:k]", "[#dims]", with marks. */
static dt_status read_bracket(dt__cursor *at, rule *out, item *into) {
    into->counts = dt__cursor_skip(at, "#");
    word name = {at->at, 0};
    while (is_name(at->at[name.n]))
        name.n++;
    if (!name.n)
        return dt__cursor_fail(at, "expected the name of an argument");
    into->argument = (signed char)find_argument(out, name);
    at->at += name.n;
    if (dt__cursor_skip(at, ":"))
        DT__TRY(read_letter(at, out, into));
    else
        DT__TRY(find_symbol(at, out, name, into));
    read_marks(at, out, into);
    return dt__cursor_expect(at, "]", "after the name of an argument");
}

static dt_status read_item(dt__cursor *at, rule *out, item *into) {
    *into = (item){.argument = NO_ARGUMENT};
    if (dt__cursor_skip(at, "["))
        return read_bracket(at, out, into);
    if (*at->at == '.') {
        if (!dt__cursor_skip(at, "..."))
            return dt__cursor_fail(at, "expected '...'");
        into->symbol = ELLIPSIS;
    } else
        DT__TRY(read_letter(at, out, into));
    read_marks(at, out, into);
    return DT_OK;
}

/* "P(max)" after an output. */
static dt_status read_vanished(dt__cursor *at, term *into) {
    for (int kind = 0; kind < DT_N_REDUCES; kind++)
        if (dt__cursor_skip(at, dt_reduce_name((dt_reduce)kind))) {
            into->vanished = (dt_reduce)kind;
            return dt__cursor_expect(at, ")", "after the reduction");
        }
    return dt__cursor_fail(at, "expected the name of a reduction, such as max");
}

static bool is_at_positions(const item *at) { return at->argument != NO_ARGUMENT && !at->counts; }

/* The number of dims of a tensor determines whether one optional factor is absent, but not which one of several: this
 * holds for those of an input, and for those in brackets. An output has the letters that its inputs have. */
static bool is_found_by_count(const item *at, bool is_output) {
    return at->optional && at->symbol != ELLIPSIS && (!is_output || is_at_positions(at));
}

static bool begins_item(char c) { return islower((unsigned char)c) || c == '.' || c == '[' || c == '1'; }

static dt_status read_term(dt__cursor *at, rule *out, bool is_output, term *into) {
    int n_counted = 0;
    *into = (term){.vanished = DT_SUM};
    if (!is_output) {
        into->addend = dt__cursor_take(at, "+");
        into->moved = dt__cursor_take(at, "=");
    }
    while (begins_item(dt__cursor_peek(at))) {
        dt__cursor before = *at;
        if (into->n == MAX_ITEMS)
            return dt__cursor_fail(at, "expected at most %d factors in a term", MAX_ITEMS);
        item *next = &into->items[into->n];
        DT__TRY(read_item(at, out, next));
        for (int i = 0; i < into->n; i++)
            if (next->symbol != UNIT && into->items[i].symbol == next->symbol)
                return dt__cursor_fail(&before, "expected each factor once in a term");
        n_counted += is_found_by_count(next, is_output);
        if (n_counted > 1)
            return dt__cursor_fail(&before, "expected at most one optional factor in a term: the number of dims does "
                                            "not determine which one is absent");
        into->n++;
    }
    return is_output && dt__cursor_skip(at, "P(") ? read_vanished(at, into) : DT_OK;
}

static dt_status read_terms(dt__cursor *at, rule *out, bool is_output, int *n) {
    do {
        if (out->n_inputs + out->n_outputs == MAX_TERMS)
            return dt__cursor_fail(at, "expected at most %d terms in a rule", MAX_TERMS);
        DT__TRY(read_term(at, out, is_output, &out->terms[out->n_inputs + out->n_outputs]));
        ++*n;
    } while (dt__cursor_take(at, ","));
    return DT_OK;
}

static dt_status read_rule(dt_ctx *ctx, const char *text, rule *out) {
    dt__cursor at = dt__cursor_new(ctx, DT_ERR_VALUE, "rule", text);
    memset(out, 0, sizeof *out);
    out->n_symbols = 2;
    out->symbols[ELLIPSIS].name = (word){"...", 3};
    out->symbols[UNIT].name = (word){"1", 1};
    DT__TRY(read_terms(&at, out, false, &out->n_inputs));
    DT__TRY(dt__cursor_expect(&at, "->", "after the inputs"));
    DT__TRY(read_terms(&at, out, true, &out->n_outputs));
    return dt__cursor_peek(&at) ? dt__cursor_fail(&at, "expected a factor, a comma or the end of the rule") : DT_OK;
}

/* The parameter of this name; -1: the signature has none. */
static int find_param(const dt__signature *signature, word name) {
    for (int p = 0; p < signature->n_params; p++)
        if (same_word(name, (word){signature->params[p].name, (int)strlen(signature->params[p].name)}))
            return p;
    return -1;
}

static bool is_tensor(const dt__param *param) {
    return param->type.kind == DT__PARAM_TENSOR || param->type.kind == DT__PARAM_TENSORS;
}

/* An argument in brackets is an integer or a list of integers, in each signature that has it. */
static dt_status check_argument(const dt__cursor *whole, const dt__schema *schema, word name) {
    bool exists = false;
    dt__cursor at = *whole;
    at.at = name.at;
    for (int s = 0; s < schema->n_signatures; s++) {
        int p = find_param(&schema->signatures[s], name);
        exists |= p >= 0;
        const dt__param *param = p >= 0 ? &schema->signatures[s].params[p] : NULL;
        if (param && param->type.kind != DT__PARAM_INT && param->type.kind != DT__PARAM_INTS)
            return dt__cursor_fail(&at, "argument '%s' of %s is no dim: expected an int or a list of them",
                                   param->name, schema->name);
    }
    return exists ? DT_OK : dt__cursor_fail(&at, "%s has no argument '%.*s'", schema->name, name.n, name.at);
}

dt_status dt__factors_check(dt_ctx *ctx, const char *text, const dt__schema *schema, const char *read,
                            unsigned *flags) {
    rule parsed;
    DT__TRY(read_rule(ctx, text, &parsed));
    dt__cursor at = dt__cursor_new(ctx, DT_ERR_VALUE, "rule", text);
    for (int a = 0; a < parsed.n_arguments; a++)
        DT__TRY(check_argument(&at, schema, parsed.arguments[a]));
    for (int s = 0; s < schema->n_signatures; s++) {
        const dt__signature *signature = &schema->signatures[s];
        int n = 0;
        for (int p = 0; p < signature->n_params; p++)
            n += is_tensor(&signature->params[p]) && !(read && !strcmp(signature->params[p].name, read));
        if (n > parsed.n_inputs)
            return dt__cursor_fail(&at, "%s%s%s: expected a term for each of %d tensors, got %d", schema->name,
                                   *signature->overload ? "." : "", signature->overload, n, parsed.n_inputs);
    }
    *flags = 0;
    for (int i = 0; i < parsed.n_symbols; i++)
        *flags |= parsed.symbols[i].flags;
    return DT_OK;
}

/* Which dim of each entry of a row a factor is; -1: none. Factor j of a symbol is `symbol * DT_SPEC_MAX_DIMS + j`. */
typedef struct dims {
    dt_rows *rows;
    const dt_op_call *call;
    const rule *rule;
    const term **terms; /* per entry; NULL: any dims, which stay as they are */
    int n_factors;
    int n_ellipsis; /* the most dims that "..." is in an input */
    struct factor {
        int64_t size;  /* 1 unless some entry has more */
        bool in_input; /* some input has it */
        bool differs;  /* in size, and not by broadcasting */
    } * factors;
    signed char *of; /* per entry and factor */
} dims;

static signed char *dims_of(const dims *self, int entry) { return self->of + (ptrdiff_t)entry * self->n_factors; }

static void place(dims *self, int entry, int symbol, int j, int dim) {
    int f = symbol * DT_SPEC_MAX_DIMS + j;
    struct factor *factor = &self->factors[f];
    int64_t size = dt__row_value(self->call, entry)->shape[dim];
    bool is_input = entry < self->call->n_inputs;
    if (symbol == UNIT)
        return;
    dims_of(self, entry)[f] = (signed char)dim;
    factor->in_input |= is_input;
    factor->differs |= size != factor->size && factor->size != 1 && !(is_input && size == 1);
    if (size != 1)
        factor->size = size;
}

/* The value of an argument of the rule; NULL where the signature has none. */
static const dt_arg *argument_of(const dims *self, int argument) {
    const dt__op_info *info = self->call->info;
    int p = find_param(&info->schema.signatures[self->call->overload], self->rule->arguments[argument]);
    return p >= 0 ? &self->call->args[p] : NULL;
}

/* The positions that an item in brackets names in a tensor; without a value, or with an empty list, all. -1 where one
 * does not exist. */
static int read_positions(const dims *self, const item *at, int n_dims, int *out) {
    const dt_arg *arg = argument_of(self, at->argument);
    int n = !arg ? 0 : arg->type == DT_ARG_INT ? 1 : arg->type == DT_ARG_INTS ? arg->n : 0;
    if (n == 0 || n_dims == 0) {
        for (int d = 0; d < n_dims; d++)
            out[d] = d;
        return n_dims;
    }
    if (n > n_dims)
        return -1;
    for (int i = 0; i < n; i++) {
        int64_t dim = arg->type == DT_ARG_INT ? arg->as.i : arg->as.ints[i];
        dim += dim < 0 ? n_dims : 0;
        if (dim < 0 || dim >= n_dims)
            return -1;
        out[i] = (int)dim;
    }
    return n;
}

static int count_of(const dims *self, const item *at) {
    const dt_arg *arg = argument_of(self, at->argument);
    return arg && arg->type == DT_ARG_INTS ? arg->n : 0;
}

/* A term while it is matched with the dims of one tensor. */
typedef struct match {
    dims *self;
    const term *over;
    int entry, n_dims;
    int n[MAX_ITEMS];             /* dims of each item */
    bool taken[DT_SPEC_MAX_DIMS]; /* by items in brackets */
} match;

static bool has_ellipsis(const term *over) {
    for (int i = 0; i < over->n; i++)
        if (over->items[i].symbol == ELLIPSIS)
            return true;
    return false;
}

/* Whether an output has an optional factor: a letter if an input has it, dims in brackets if there are as many dims. */
static bool output_has(const match *m, const item *at, int n_required) {
    const dims *self = m->self;
    int positions[DT_SPEC_MAX_DIMS];
    if (!is_at_positions(at))
        return self->factors[at->symbol * DT_SPEC_MAX_DIMS].in_input;
    return m->n_dims == n_required + (has_ellipsis(m->over) ? self->n_ellipsis : 0) +
                            read_positions(self, at, m->n_dims, positions);
}

/* Places items that are at positions of arguments, and counts them. */
static bool place_at_positions(match *m, int n_required) {
    for (int i = 0; i < m->over->n; i++) {
        const item *at = &m->over->items[i];
        int positions[DT_SPEC_MAX_DIMS];
        if (!is_at_positions(at) || (at->optional && !output_has(m, at, n_required)))
            continue;
        int n = read_positions(m->self, at, m->n_dims, positions);
        if (n < 0)
            return false;
        for (int j = 0; j < n; j++) {
            place(m->self, m->entry, at->symbol, j, positions[j]);
            m->taken[positions[j]] = true;
        }
    }
    return true;
}

/* The number of dims of each item that is not at positions. */
static bool count_in_order(match *m, int n_required) {
    bool is_output = m->entry >= m->self->call->n_inputs;
    int left = m->n_dims, ellipsis = -1;
    for (int d = 0; d < m->n_dims; d++)
        left -= m->taken[d];
    int spare = left - n_required;
    for (int i = 0; i < m->over->n; i++) {
        const item *at = &m->over->items[i];
        if (is_at_positions(at))
            continue;
        if (at->symbol == ELLIPSIS)
            ellipsis = i;
        else
            m->n[i] = at->counts ? count_of(m->self, at) : 1;
        if (at->optional && at->symbol != ELLIPSIS && (is_output ? !output_has(m, at, 0) : spare-- <= 0))
            m->n[i] = 0;
        left -= m->n[i];
    }
    if (ellipsis >= 0)
        m->n[ellipsis] = left;
    return left == 0 || (ellipsis >= 0 && left > 0);
}

static void place_in_order(match *m) {
    int dim = 0;
    for (int i = 0; i < m->over->n; i++) {
        const item *at = &m->over->items[i];
        for (int j = 0; j < m->n[i]; j++) {
            while (m->taken[dim])
                dim++;
            place(m->self, m->entry, at->symbol, at->symbol == ELLIPSIS ? m->n[i] - 1 - j : j, dim++);
        }
        if (at->symbol == ELLIPSIS && m->entry < m->self->call->n_inputs && m->n[i] > m->self->n_ellipsis)
            m->self->n_ellipsis = m->n[i];
    }
}

/* Matches a term with the dims of a tensor; false where it does not fit. */
static bool lay(dims *self, int entry) {
    match m = {
        .self = self, .over = self->terms[entry], .entry = entry, .n_dims = dt__row_value(self->call, entry)->n_dims};
    int n_required = 0;
    for (int i = 0; i < m.over->n; i++) {
        const item *at = &m.over->items[i];
        if (!is_at_positions(at) && !at->optional && at->symbol != ELLIPSIS)
            n_required += at->counts ? count_of(self, at) : 1;
    }
    if (!place_at_positions(&m, n_required) || !count_in_order(&m, n_required))
        return false;
    place_in_order(&m);
    return true;
}

static bool has_symbol(const term *over, int symbol) {
    for (int i = 0; i < over->n; i++)
        if (over->items[i].symbol == symbol)
            return true;
    return false;
}

/* The dims of an addend are those that its term names, or those of the first output, aligned at the right ("..."). */
static bool lay_addend(dims *self, int entry) {
    int output = self->call->n_inputs, n_out = self->call->outputs[0].n_dims;
    int n = self->call->inputs[entry].n_dims;
    if (!has_symbol(self->terms[entry], ELLIPSIS))
        return lay(self, entry);
    if (n > n_out)
        return false;
    for (int f = 0; f < self->n_factors; f++)
        if (dims_of(self, output)[f] >= n_out - n)
            place(self, entry, f / DT_SPEC_MAX_DIMS, f % DT_SPEC_MAX_DIMS, dims_of(self, output)[f] - (n_out - n));
    return true;
}

/* An empty vector in a list of tensors can be joined with tensors of any shape (as in cat). */
static const term *term_of_member(const dt_op_value *value, const term *of_list) {
    return value->n_dims == 1 && value->shape[0] == 0 ? NULL : of_list;
}

/* The term of each input: absent optional tensors have a term, but no entry; the members of a list have the same. */
static bool find_terms(dims *self) {
    const dt_op_call *call = self->call;
    const dt__op_info *info = call->info;
    const dt__signature *signature = &info->schema.signatures[call->overload];
    int n = 0, t = 0;
    for (int p = 0; p < signature->n_params; p++) {
        const dt_arg *arg = &call->args[p];
        if (!is_tensor(&signature->params[p]))
            continue;
        if (t == self->rule->n_inputs)
            return false;
        const term *of_param = &self->rule->terms[t++];
        if (arg->type == DT_ARG_TENSOR)
            self->terms[n++] = of_param;
        for (int i = 0; arg->type == DT_ARG_TENSORS && i < arg->n; i++)
            if (dt_arg_member(arg, i) >= 0) {
                self->terms[n] = term_of_member(&call->inputs[n], of_param);
                n++;
            }
    }
    for (int o = 0; o < call->n_outputs; o++)
        self->terms[n + o] =
            &self->rule->terms[self->rule->n_inputs + (o < self->rule->n_outputs ? o : self->rule->n_outputs - 1)];
    return n == call->n_inputs;
}

static bool lay_all(dims *self, uint64_t *addends) {
    const dt_op_call *call = self->call;
    for (int e = 0; e < call->n_inputs + call->n_outputs; e++) {
        bool addend = self->terms[e] && self->terms[e]->addend;
        if (addend && e < 64)
            *addends |= (uint64_t)1 << e;
        if (self->terms[e] && !addend && !lay(self, e))
            return false;
    }
    for (int e = 0; e < call->n_inputs; e++)
        if (self->terms[e] && self->terms[e]->addend && !lay_addend(self, e))
            return false;
    return true;
}

/* Tensors whose elements the op only moves have one reduction, which the outputs get. */
static void add_moved(const dims *self) {
    const dt_op_call *call = self->call;
    uint64_t moved = 0;
    for (int e = 0; e < call->n_inputs && e < 64; e++)
        if (self->terms[e] && self->terms[e]->moved)
            moved |= (uint64_t)1 << e;
    for (int kind = 0; kind < DT_N_REDUCES && moved; kind++)
        dt_rows_reduce(self->rows, moved, (dt_reduce)kind, (dt_reduce)kind);
}

/* The entry of an output: sharded, or partial where its term lacks the factor. False: there is no such row. */
static bool entry_of_output(const dims *self, int entry, int factor, bool *vanishes, dt_row_entry *out) {
    const term *over = self->terms[entry];
    int dim = dims_of(self, entry)[factor];
    if (has_symbol(over, factor / DT_SPEC_MAX_DIMS)) {
        *out = DT_ROW_S(dim);
        return dim >= 0;
    }
    if (self->rule->symbols[factor / DT_SPEC_MAX_DIMS].flags & DT__ROW_STATES) {
        *out = DT_ROW_R; /* complete on every rank that takes part */
        return true;
    }
    *out = DT_ROW_P(over->vanished);
    *vanishes = true;
    return over->vanished != DT_SUM || dt__row_value(self->call, entry)->dtype != DT_BOOL;
}

static void add_row(const dims *self, int factor, dt_row_entry *entries) {
    const dt_op_call *call = self->call;
    const rule_symbol *of = &self->rule->symbols[factor / DT_SPEC_MAX_DIMS];
    bool vanishes = false;
    if (of->whole || (self->factors[factor].differs && !(of->flags & DT_ROW_WINDOW)))
        return;
    for (int o = call->n_inputs; o < call->n_inputs + call->n_outputs; o++)
        if (!entry_of_output(self, o, factor, &vanishes, &entries[o]))
            return;
    for (int e = 0; e < call->n_inputs; e++) {
        int dim = dims_of(self, e)[factor];
        bool is_sharded =
            dim >= 0 && (call->inputs[e].shape[dim] == self->factors[factor].size || of->flags & DT_ROW_WINDOW);
        bool is_term = vanishes && self->terms[e] && self->terms[e]->addend;
        entries[e] = is_sharded ? DT_ROW_S(dim) : is_term ? DT_ROW_P(DT_SUM) : DT_ROW_R;
    }
    dt_rows_add(self->rows, of->flags, entries);
}

/* Factors of the outputs in the order of their dims, then the others. A row that is listed is not added again. */
static void add_rows(const dims *self, dt_row_entry *entries) {
    const dt_op_call *call = self->call;
    for (int o = 0; o < call->n_outputs; o++)
        for (int dim = 0; dim < call->outputs[o].n_dims; dim++)
            for (int f = 0; f < self->n_factors; f++)
                if (dims_of(self, call->n_inputs + o)[f] == dim)
                    add_row(self, f, entries);
    for (int f = 0; f < self->n_factors; f++)
        if (self->factors[f].in_input)
            add_row(self, f, entries);
}

static bool dims_open(dims *self, dt__arena *arena) {
    size_t n_entries = (size_t)(self->call->n_inputs + self->call->n_outputs);
    self->n_factors = self->rule->n_symbols * DT_SPEC_MAX_DIMS;
    self->terms = DT__NEW_ARRAY(arena, const term *, (int)n_entries);
    self->factors = DT__NEW_ARRAY(arena, struct factor, self->n_factors);
    self->of = dt__arena_alloc(arena, n_entries, (size_t)self->n_factors);
    if (!self->terms || !self->factors || !self->of)
        return false;
    memset(self->of, -1, n_entries * (size_t)self->n_factors);
    for (int f = 0; f < self->n_factors; f++)
        self->factors[f].size = 1;
    return true;
}

/* In how many inputs and outputs a factor is. */
static void count_terms(const dims *self, int f, int *n_in, int *n_out) {
    *n_in = *n_out = 0;
    for (int e = 0; e < self->call->n_inputs + self->call->n_outputs; e++)
        *(e < self->call->n_inputs ? n_in : n_out) += dims_of(self, e)[f] >= 0;
}

double dt__factors_flops(const dt_op_call *call, const char *rule_text) {
    dt__arena arena = dt__arena_new(call->ctx);
    rule parsed;
    uint64_t addends = 0;
    double product = 2;
    bool contracts = false, scatters = false;
    dims self = {.call = call, .rule = &parsed};
    if (read_rule(call->ctx, rule_text, &parsed) == DT_OK && dims_open(&self, &arena) && find_terms(&self) &&
        lay_all(&self, &addends))
        for (int f = 0; f < self.n_factors; f++) {
            int n_in, n_out;
            count_terms(&self, f, &n_in, &n_out);
            product *= (double)self.factors[f].size;
            contracts = contracts || (n_in > 1 && n_out == 0);
            scatters = scatters || (n_in == 0 && n_out > 0); /* adds to elements that indices name */
        }
    dt__arena_free(&arena);
    return contracts && !scatters && call->n_outputs ? product : 0;
}

void dt__factors_add(dt_rows *rows, const char *text, uint64_t *addends) {
    const dt_op_call *call = rows->call;
    size_t n_entries = (size_t)(call->n_inputs + call->n_outputs);
    rule parsed;
    if (rows->status != DT_OK || call->n_outputs == 0)
        return;
    rows->status = read_rule(rows->arena->ctx, text, &parsed);
    if (rows->status != DT_OK)
        return;
    dims self = {.rows = rows, .call = call, .rule = &parsed};
    dt_row_entry *entries = DT__NEW_ARRAY(rows->arena, dt_row_entry, (int)n_entries);
    if (!entries || !dims_open(&self, rows->arena)) {
        rows->status = DT_ERR_MEMORY;
        return;
    }
    if (!find_terms(&self))
        return;
    if (lay_all(&self, addends))
        add_rows(&self, entries);
    add_moved(&self);
}
