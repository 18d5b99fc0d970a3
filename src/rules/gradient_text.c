/* SPDX-License-Identifier: Apache-2.0
 *
 * Parses gradients. The grammar:
 *
 *     gradient  formula (";" formula)*
 *     formula   target ("," target)* ":" ("none" | sum)
 *     target    name | name "." overload | "_"
 *     sum       product (("+" | "-") product)*
 *     product   factor (("*" | "/") factor)*
 *     factor    "-" factor | "(" sum ")" | value | name | name ".shape" | name ".dtype" | name "(" arguments ")"
 *     arguments (name "=")? sum ("," …)*
 *
 * The text is parsed once per signature, since names mean parameters of it; formulas whose target the signature lacks
 * are only skipped over.
 */
#include "rules/gradient_text.h"

#include "base/near_miss.h"
#include "rules/literal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NODES = 64, MAX_CALL_ARGS = 16, MAX_DEPTH = 32 };

static const struct {
    const char *name;
    int n_args;
} functions[DT__N_FUNCTIONS] = {
    [DT__FN_AGAIN] = {"again", 1},     [DT__FN_KEPT] = {"kept", 2},       [DT__FN_COUNT] = {"count", 2},
    [DT__FN_SIZE] = {"size", 2},       [DT__FN_INVERSE] = {"inverse", 1}, [DT__FN_CONJUGATE] = {"conjugate", 1},
    [DT__FN_EITHER] = {"either", 2},   [DT__FN_UNLESS] = {"unless", 2},   [DT__FN_NEGATIVE] = {"negative", 1},
    [DT__FN_IS_ZERO] = {"is_zero", 1},
};

typedef struct parser {
    dt__arena *arena;
    dt__cursor at;
    const dt__signature *signature;
    dt__op_exists_fn *exists;
    const void *registry;
    bool skips; /* the formula is not of this signature: names are not looked up */
    int depth;  /* of the factor being read */
    int n_nodes;
    dt__formula_node nodes[MAX_NODES];
    uint64_t grads;
    dt__saved_values uses;
} parser;

static bool is_tensor(const dt__param *param) {
    return param->type.kind == DT__PARAM_TENSOR || param->type.kind == DT__PARAM_TENSORS;
}

static int find_param(const dt__signature *signature, const char *name) {
    for (int p = 0; p < signature->n_params; p++)
        if (!strcmp(signature->params[p].name, name))
            return p;
    return -1;
}

/* The output that "result", "result1" or "grad_NAME" means, where `prefix` is "result" or "grad"; -1: none. */
static int find_output(const dt__signature *signature, const char *prefix, const char *name) {
    size_t n = strlen(prefix);
    if (strncmp(name, prefix, n) != 0)
        return -1;
    if (!name[n])
        return 0;
    if (isdigit((unsigned char)name[n])) {
        char *end;
        unsigned long output = strtoul(name + n, &end, 10);
        return !*end && output < 64 ? (int)output : -1;
    }
    for (int r = 0; name[n] == '_' && r < signature->n_returns; r++)
        if (!strcmp(signature->returns[r].name, name + n + 1))
            return r;
    return -1;
}

static int find_return(const dt__signature *signature, const char *name) {
    for (int r = 0; r < signature->n_returns; r++)
        if (!strcmp(signature->returns[r].name, name))
            return r;
    return find_output(signature, "result", name);
}

static dt_status add_node(parser *self, const dt__formula_node *node, int *out) {
    if (self->n_nodes == MAX_NODES)
        return dt__cursor_fail(&self->at, "the formula is too long: expected at most %d values and calls", MAX_NODES);
    *out = self->n_nodes;
    self->nodes[self->n_nodes] = *node;
    self->nodes[self->n_nodes++].column = (int)(self->at.at - self->at.text);
    return DT_OK;
}

static dt_status read_sum(parser *self, int *out);

/* A call of op `name` with these nodes by position. */
static dt_status add_call(parser *self, const char *name, int n, const int *nodes, int *out) {
    dt__formula_arg *args = DT__NEW_ARRAY(self->arena, dt__formula_arg, n);
    if (!args)
        return DT_ERR_MEMORY;
    for (int i = 0; i < n; i++)
        args[i].node = nodes[i];
    return add_node(self, &(dt__formula_node){.kind = DT__FORMULA_OP, .name = name, .n_args = n, .args = args}, out);
}

static dt_status refuse_op(const parser *self, const char *name) {
    return dt__cursor_fail(&self->at, "there is no op or function '%.60s'", name);
}

/* The arguments after the parenthesis. */
static dt_status read_call(parser *self, const char *name, int *out) {
    dt__formula_node node = {.kind = DT__FORMULA_OP, .name = name};
    dt__formula_arg args[MAX_CALL_ARGS] = {{0}};
    for (int f = 0; f < DT__N_FUNCTIONS; f++)
        if (!strcmp(functions[f].name, name))
            node.kind = DT__FORMULA_FUNCTION, node.index = f;
    if (node.kind == DT__FORMULA_OP && !self->exists(self->registry, name))
        return refuse_op(self, name);
    while (!dt__cursor_take(&self->at, ")")) {
        if (node.n_args == MAX_CALL_ARGS)
            return dt__cursor_fail(&self->at, "too many arguments: expected at most %d", MAX_CALL_ARGS);
        if (node.n_args)
            DT__TRY(dt__cursor_expect(&self->at, ",", "between arguments"));
        dt__formula_arg *arg = &args[node.n_args++];
        dt__cursor begin = self->at;
        if (isalpha((unsigned char)dt__cursor_peek(&self->at))) {
            arg->name = dt__literal_name(&self->at, self->arena);
            if (!arg->name)
                return DT_ERR_MEMORY;
            if (!dt__cursor_take(&self->at, "=")) {
                arg->name = NULL;
                self->at = begin;
            }
        }
        DT__TRY(read_sum(self, &arg->node));
    }
    if (node.kind == DT__FORMULA_FUNCTION && node.n_args != functions[node.index].n_args)
        return dt__cursor_fail(&self->at, "%s: expected %d arguments, got %d", name, functions[node.index].n_args,
                               node.n_args);
    if (!(node.args = dt__arena_copy(self->arena, args, (size_t)node.n_args, sizeof *args)))
        return DT_ERR_MEMORY;
    return add_node(self, &node, out);
}

static dt_status refuse_name(const parser *self, const char *name) {
    dt__near_miss near = dt__near_miss_new(name);
    for (int p = 0; p < self->signature->n_params; p++)
        dt__near_miss_add(&near, self->signature->params[p].name, strlen(self->signature->params[p].name));
    return dt__cursor_fail(&self->at, "'%.60s' is no argument, result or gradient of this signature%s", name,
                           dt__near_miss_hint(&near));
}

/* A property of the tensor of parameter p; the dot is read. */
static dt_status read_property(parser *self, int p, const char *name, int *out) {
    bool shape = dt__cursor_take(&self->at, "shape");
    if (!shape && !dt__cursor_take(&self->at, "dtype"))
        return dt__cursor_fail(&self->at, "expected .shape or .dtype");
    int output = p < 0 ? find_return(self->signature, name) : -1;
    if (!self->skips && output < 0 && (p < 0 || self->signature->params[p].type.kind != DT__PARAM_TENSOR))
        return dt__cursor_fail(&self->at, "'%.60s' is no tensor argument", name);
    p = output < 0 ? p : ~output;
    return add_node(
        self, &(dt__formula_node){.kind = shape ? DT__FORMULA_SHAPE : DT__FORMULA_DTYPE, .index = p, .name = name},
        out);
}

static const char *const value_words[] = {"true", "false", "none", "nan", "inf"};

static dt_status read_value(parser *self, int *out) {
    dt__formula_node node = {.kind = DT__FORMULA_CONSTANT};
    DT__TRY(dt__literal_read(&self->at, self->arena, &node.value));
    return add_node(self, &node, out);
}

static dt_status read_name(parser *self, int *out) {
    for (size_t i = 0; i < sizeof value_words / sizeof *value_words; i++) {
        dt__cursor begin = self->at;
        if (dt__cursor_take(&self->at, value_words[i])) {
            self->at = begin;
            return read_value(self, out);
        }
    }
    const char *name = dt__literal_name(&self->at, self->arena);
    if (!name)
        return dt_error_status(self->arena->ctx);
    if (dt__cursor_take(&self->at, "("))
        return read_call(self, name, out);
    int p = find_param(self->signature, name);
    if (dt__cursor_skip(&self->at, "."))
        return read_property(self, p, name, out);
    dt__formula_node node = {.kind = DT__FORMULA_ARGUMENT, .index = p, .name = name};
    if (p >= 0) {
        if (is_tensor(&self->signature->params[p]))
            self->uses.params |= UINT32_C(1) << p;
        return add_node(self, &node, out);
    }
    node.kind = DT__FORMULA_GRAD;
    node.index = find_output(self->signature, "grad", name);
    if (node.index >= 0) {
        self->grads |= UINT64_C(1) << node.index;
        return add_node(self, &node, out);
    }
    node.kind = DT__FORMULA_RESULT;
    node.index = find_return(self->signature, name);
    if (node.index < 0 && !self->skips)
        return refuse_name(self, name);
    if (node.index >= 0)
        self->uses.outputs |= UINT64_C(1) << node.index;
    return add_node(self, &node, out);
}

static dt_status read_any_factor(parser *self, int *out);

static dt_status read_factor(parser *self, int *out) {
    if (++self->depth > MAX_DEPTH)
        return dt__cursor_fail(&self->at, "the formula is nested too deeply: expected at most %d levels", MAX_DEPTH);
    DT__TRY(read_any_factor(self, out));
    self->depth--;
    return DT_OK;
}

static dt_status read_any_factor(parser *self, int *out) {
    char c = dt__cursor_peek(&self->at);
    if (c == '-' && !isdigit((unsigned char)self->at.at[1])) {
        int of;
        self->at.at++;
        DT__TRY(read_factor(self, &of));
        return add_call(self, "neg", 1, &of, out);
    }
    if (dt__cursor_take(&self->at, "(")) {
        DT__TRY(read_sum(self, out));
        return dt__cursor_expect(&self->at, ")", "after a sum");
    }
    return isalpha((unsigned char)c) || c == '_' ? read_name(self, out) : read_value(self, out);
}

static dt_status read_operators(parser *self, const char *operators, const char *const *ops,
                                dt_status (*read)(parser *self, int *out), int *out) {
    DT__TRY(read(self, out));
    for (;;) {
        char c = dt__cursor_peek(&self->at);
        if (!c || (c != operators[0] && c != operators[1]))
            return DT_OK;
        int nodes[2] = {*out};
        self->at.at++;
        DT__TRY(read(self, &nodes[1]));
        DT__TRY(add_call(self, ops[c != operators[0]], 2, nodes, out));
    }
}

static dt_status read_product(parser *self, int *out) {
    static const char *const ops[] = {"mul", "div"};
    return read_operators(self, "*/", ops, read_factor, out);
}

static dt_status read_sum(parser *self, int *out) {
    static const char *const ops[] = {"add", "sub"};
    return read_operators(self, "+-", ops, read_product, out);
}

/* The targets of one formula, as far as this signature has them. */
typedef struct target_list {
    int n;
    int params[DT__MAX_RETURNS]; /* -1: "_", or a tensor of another signature */
    bool found;                  /* one of them is of this signature */
    bool only;                   /* it is named with the overload */
} target_list;

static dt_status read_targets(parser *self, target_list *to) {
    *to = (target_list){0};
    do {
        if (to->n == DT__MAX_RETURNS)
            return dt__cursor_fail(&self->at, "too many targets: expected at most %d", DT__MAX_RETURNS);
        const char *name = dt__literal_name(&self->at, self->arena), *overload = NULL;
        if (!name || (dt__cursor_skip(&self->at, ".") && !(overload = dt__literal_name(&self->at, self->arena))))
            return dt_error_status(self->arena->ctx);
        int p = find_param(self->signature, name);
        bool fits = p >= 0 && is_tensor(&self->signature->params[p]) &&
                    (!overload || !strcmp(overload, self->signature->overload));
        to->params[to->n++] = fits ? p : -1;
        to->found |= fits;
        to->only |= overload != NULL;
    } while (dt__cursor_take(&self->at, ","));
    return dt__cursor_expect(&self->at, ":", "after the targets of a formula");
}

/* Targets that have a formula of their own for this overload lose the general one. */
static dt_status set_targets(const parser *self, dt__gradient *to, target_list *targets, int formula,
                             const bool *only) {
    targets->found = false;
    for (int t = 0; t < targets->n; t++) {
        int *p = &targets->params[t];
        if (*p >= 0 && only[*p] && !targets->only)
            *p = -1;
        if (*p < 0)
            continue;
        if (to->of_param[*p] >= 0)
            return dt__cursor_fail(&self->at, "'%s' has two formulas", self->signature->params[*p].name);
        to->of_param[*p] = (signed char)formula;
        targets->found = true;
    }
    return DT_OK;
}

static dt_status read_formula(parser *self, const target_list *targets, dt__formula *out) {
    int last;
    self->skips = !targets->found;
    self->n_nodes = 0;
    self->grads = 0;
    self->uses = (dt__saved_values){0};
    *out = (dt__formula){.n_targets = targets->n};
    memcpy(out->targets, targets->params, sizeof out->targets);
    dt__cursor begin = self->at;
    if (dt__cursor_take(&self->at, "none"))
        return DT_OK;
    self->at = begin;
    DT__TRY(read_sum(self, &last));
    out->n_nodes = self->n_nodes;
    out->grads = self->grads;
    out->uses = self->uses;
    out->nodes = dt__arena_copy(self->arena, self->nodes, (size_t)self->n_nodes, sizeof *self->nodes);
    return out->nodes ? DT_OK : DT_ERR_MEMORY;
}

/* Reads the text once without looking up names: which targets have a formula for this overload only. */
static dt_status find_own_formulas(parser *self, bool *only) {
    dt__cursor begin = self->at;
    for (int f = 0; dt__cursor_peek(&self->at); f++) {
        target_list targets;
        dt__formula ignored;
        if (f)
            DT__TRY(dt__cursor_expect(&self->at, ";", "between formulas"));
        DT__TRY(read_targets(self, &targets));
        for (int t = 0; t < targets.n && targets.only; t++)
            if (targets.params[t] >= 0)
                only[targets.params[t]] = true;
        targets.found = false;
        DT__TRY(read_formula(self, &targets, &ignored));
    }
    self->at = begin;
    return DT_OK;
}

/* Sets bit f of *found for formulas that this signature has. */
static dt_status read_signature(parser *self, dt__gradient *out, uint32_t *found) {
    bool only[DT__MAX_ARGS] = {false};
    DT__TRY(find_own_formulas(self, only));
    int capacity = 1;
    for (const char *c = self->at.text; *c; c++)
        capacity += *c == ';';
    memset(out->of_param, -1, sizeof out->of_param);
    out->formulas = DT__NEW_ARRAY(self->arena, dt__formula, capacity);
    if (!out->formulas)
        return DT_ERR_MEMORY;
    for (int f = 0; dt__cursor_peek(&self->at); f++) {
        target_list targets;
        if (f)
            DT__TRY(dt__cursor_expect(&self->at, ";", "between formulas"));
        if (f == capacity)
            return dt__cursor_fail(&self->at, "expected the end");
        DT__TRY(read_targets(self, &targets));
        if (targets.found)
            *found |= UINT32_C(1) << f % 32;
        DT__TRY(set_targets(self, out, &targets, f, only));
        DT__TRY(read_formula(self, &targets, &out->formulas[f]));
        out->n_formulas = f + 1;
    }
    return DT_OK;
}

dt_status dt__gradient_parse(dt__arena *arena, const dt__schema *schema, const char *text, dt__op_exists_fn *exists,
                             const void *registry, dt__gradient **out) {
    dt__text what = dt__text_new(arena->ctx);
    uint32_t found = 0;
    dt__text_add(&what, "%s: gradient", schema->name);
    dt_status status = dt__text_status(&what);
    *out = DT__NEW_ARRAY(arena, dt__gradient, schema->n_signatures);
    if (!*out)
        status = DT_ERR_MEMORY;
    for (int s = 0; s < schema->n_signatures && status == DT_OK; s++) {
        parser self;
        self.arena = arena;
        self.signature = &schema->signatures[s];
        self.exists = exists;
        self.registry = registry;
        self.depth = 0;
        self.at = dt__cursor_new(arena->ctx, DT_ERR_VALUE, dt__text_chars(&what), text);
        status = read_signature(&self, &(*out)[s], &found);
    }
    for (int f = 0; status == DT_OK && f < (*out)[0].n_formulas; f++)
        if (!(found >> f % 32 & 1))
            status = dt__fail(arena->ctx, DT_ERR_VALUE,
                              "%s: gradient: formula %d: expected the name of a tensor argument before the colon",
                              schema->name, f + 1);
    dt__text_free(&what);
    return status;
}
