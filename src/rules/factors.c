/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads rules of factors and makes rows of them. A factor is a letter, or a position in "..." counted from the right.
 * Each factor that the result has may be sharded wherever it occurs; a dim of size 1 that is broadcast stays
 * Replicate. Each factor that the result lacks makes a partial sum, of which addends, which lack it, too, become
 * terms.
 */
#include "rules/factors.h"

#include "base/cursor.h"

#include <ctype.h>
#include <string.h>

enum { N_LETTERS = 26, ELLIPSIS = N_LETTERS, N_FACTORS = N_LETTERS + DT_SPEC_MAX_DIMS, MAX_TERMS = 16 };

/* A term as it is written: letters, with ELLIPSIS for "...". */
typedef struct term {
    int n;
    signed char factors[DT_SPEC_MAX_DIMS];
    bool addend;
} term;

typedef struct rule {
    int n_inputs, n_outputs; /* terms: inputs, then outputs */
    term terms[MAX_TERMS];
    bool whole[N_LETTERS];
} rule;

static dt_status read_term(dt__cursor *at, rule *out, term *into) {
    *into = (term){.addend = dt__cursor_take(at, "+")};
    bool ellipsis = false;
    for (char c = dt__cursor_peek(at); islower((unsigned char)c) || c == '.'; c = dt__cursor_peek(at)) {
        if (into->n == DT_SPEC_MAX_DIMS)
            return dt__cursor_fail(at, "expected at most %d factors in a term", DT_SPEC_MAX_DIMS);
        if (c == '.') {
            if (ellipsis || !dt__cursor_skip(at, "..."))
                return dt__cursor_fail(at, "expected '...', once in a term");
            ellipsis = true;
            into->factors[into->n++] = ELLIPSIS;
            continue;
        }
        at->at++;
        into->factors[into->n++] = (signed char)(c - 'a');
        if (dt__cursor_skip(at, "!"))
            out->whole[c - 'a'] = true;
    }
    return DT_OK;
}

static dt_status read_terms(dt__cursor *at, rule *out, int *n) {
    do {
        if (out->n_inputs + out->n_outputs == MAX_TERMS)
            return dt__cursor_fail(at, "expected at most %d terms in a rule", MAX_TERMS);
        DT__TRY(read_term(at, out, &out->terms[out->n_inputs + out->n_outputs]));
        ++*n;
    } while (dt__cursor_take(at, ","));
    return DT_OK;
}

static dt_status read_rule(dt_ctx *ctx, const char *text, rule *out) {
    dt__cursor at = dt__cursor_new(ctx, DT_ERR_VALUE, "rule", text);
    memset(out, 0, sizeof *out);
    DT__TRY(read_terms(&at, out, &out->n_inputs));
    DT__TRY(dt__cursor_expect(&at, "->", "after the inputs"));
    DT__TRY(read_terms(&at, out, &out->n_outputs));
    return dt__cursor_peek(&at) ? dt__cursor_fail(&at, "expected the end of the rule") : DT_OK;
}

dt_status dt__factors_check(dt_ctx *ctx, const char *text) {
    rule parsed;
    return read_rule(ctx, text, &parsed);
}

/* Which dim of each entry of a row a factor is; -1: none. */
typedef struct dims {
    dt_rows *rows;
    const rule *rule;
    int64_t size[N_FACTORS];     /* 1 unless some entry has more */
    bool known[N_FACTORS];       /* some entry has it */
    signed char of[][N_FACTORS]; /* per entry */
} dims;

static void place(dims *self, int entry, int factor, int dim) {
    int64_t size = dt__row_value(self->rows->call, entry)->shape[dim];
    self->of[entry][factor] = (signed char)dim;
    self->known[factor] = true;
    if (size != 1)
        self->size[factor] = size;
}

/* Matches a term with the dims of a tensor; false where it does not fit. */
static bool lay(dims *self, const term *over, int entry) {
    int n_dims = dt__row_value(self->rows->call, entry)->n_dims, n_letters = 0, dim = 0;
    for (int i = 0; i < over->n; i++)
        n_letters += over->factors[i] != ELLIPSIS;
    int n_rest = n_dims - n_letters;
    bool ellipsis = n_letters < over->n;
    if (n_rest < 0 || (n_rest > 0 && !ellipsis))
        return false;
    for (int i = 0; i < over->n; i++) {
        if (over->factors[i] != ELLIPSIS) {
            place(self, entry, over->factors[i], dim++);
            continue;
        }
        for (int rest = n_rest - 1; rest >= 0; rest--)
            place(self, entry, ELLIPSIS + rest, dim++);
    }
    return true;
}

/* An addend's dims are those of the output, aligned at the right. */
static bool lay_addend(dims *self, int entry, int output) {
    int n = dt__row_value(self->rows->call, entry)->n_dims, n_out = dt__row_value(self->rows->call, output)->n_dims;
    if (n > n_out)
        return false;
    for (int factor = 0; factor < N_FACTORS; factor++)
        if (self->of[output][factor] >= n_out - n)
            place(self, entry, factor, self->of[output][factor] - (n_out - n));
    return true;
}

/* The term of each input: absent optional tensors have a term, but no entry. */
static int find_terms(const dt_op_call *call, const rule *parsed, const term **out) {
    const dt__op_info *info = call->info;
    const dt__signature *signature = &info->schema.signatures[call->overload];
    int n = 0, t = 0;
    for (int p = 0; p < signature->n_params; p++) {
        if (signature->params[p].type.kind != DT__PARAM_TENSOR)
            continue;
        if (t == parsed->n_inputs)
            return -1;
        if (call->args[p].type == DT_ARG_TENSOR)
            out[n++] = &parsed->terms[t];
        t++;
    }
    return n == call->n_inputs ? n : -1;
}

static bool lay_all(dims *self, const term **terms, uint64_t *addends) {
    const dt_op_call *call = self->rows->call;
    for (int o = 0; o < call->n_outputs; o++)
        if (!lay(self, &self->rule->terms[self->rule->n_inputs + (o < self->rule->n_outputs ? o : 0)],
                 call->n_inputs + o))
            return false;
    for (int i = 0; i < call->n_inputs; i++) {
        if (terms[i]->addend)
            *addends |= (uint64_t)1 << i;
        if (!(terms[i]->addend ? lay_addend(self, i, call->n_inputs) : lay(self, terms[i], i)))
            return false;
    }
    return true;
}

static void add_row(dims *self, int factor, uint64_t addends) {
    const dt_op_call *call = self->rows->call;
    dt_row_entry entries[2 * MAX_TERMS] = {0};
    bool kept = self->of[call->n_inputs][factor] >= 0;
    for (int e = 0; e < call->n_inputs + call->n_outputs; e++) {
        int dim = self->of[e][factor];
        if (dim >= 0 && dt__row_value(call, e)->shape[dim] == self->size[factor])
            entries[e] = DT_ROW_S(dim);
        else if (!kept && (e >= call->n_inputs || addends >> e & 1))
            entries[e] = DT_ROW_P(DT_SUM);
    }
    dt_rows_add(self->rows, 0, entries);
}

/* Factors of the output in the order of its dims, then the others. */
static void add_rows(dims *self, uint64_t addends) {
    const dt_op_call *call = self->rows->call;
    for (int dim = 0; dim < call->outputs[0].n_dims; dim++)
        for (int factor = 0; factor < N_FACTORS; factor++)
            if (self->of[call->n_inputs][factor] == dim && !(factor < N_LETTERS && self->rule->whole[factor]))
                add_row(self, factor, addends);
    for (int factor = 0; factor < N_FACTORS; factor++)
        if (self->known[factor] && self->of[call->n_inputs][factor] < 0 &&
            !(factor < N_LETTERS && self->rule->whole[factor]) && call->outputs[0].dtype != DT_BOOL)
            add_row(self, factor, addends);
}

void dt__factors_add(dt_rows *rows, const char *text, uint64_t *addends) {
    const dt_op_call *call = rows->call;
    int n_entries = call->n_inputs + call->n_outputs;
    const term *terms[MAX_TERMS];
    rule parsed;
    if (rows->status != DT_OK || call->n_outputs == 0 || n_entries > 2 * MAX_TERMS)
        return;
    rows->status = read_rule(rows->arena->ctx, text, &parsed);
    if (rows->status != DT_OK || find_terms(call, &parsed, terms) < 0)
        return;
    dims *self = dt__arena_alloc(rows->arena, 1, sizeof *self + (size_t)n_entries * sizeof *self->of);
    if (!self) {
        rows->status = DT_ERR_MEMORY;
        return;
    }
    self->rows = rows;
    self->rule = &parsed;
    memset(self->of, -1, (size_t)n_entries * sizeof *self->of);
    for (int f = 0; f < N_FACTORS; f++)
        self->size[f] = 1;
    if (lay_all(self, terms, addends))
        add_rows(self, *addends);
}
