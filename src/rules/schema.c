/* SPDX-License-Identifier: Apache-2.0
 *
 * Parses schema lines. What follows the arrow is for readers: outputs come from the shape function.
 */
#include "rules/schema.h"

#include "rules/literal.h"

#include <string.h>

static const struct {
    const char *word;
    dt__param_type one, list;
} types[] = {
    {"Tensor", DT__PARAM_TENSOR, DT__PARAM_TENSORS}, {"int", DT__PARAM_INT, DT__PARAM_INTS},
    {"float", DT__PARAM_FLOAT, DT__PARAM_FLOATS},    {"bool", DT__PARAM_BOOL, DT__N_PARAM_TYPES},
    {"Scalar", DT__PARAM_SCALAR, DT__N_PARAM_TYPES}, {"ScalarType", DT__PARAM_DTYPE, DT__N_PARAM_TYPES},
    {"str", DT__PARAM_TEXT, DT__N_PARAM_TYPES},
};

static dt_status read_list_mark(dt__cursor *at, dt__param_type list, dt__param *out) {
    int64_t n = 0;
    if (list == DT__N_PARAM_TYPES)
        return dt__cursor_fail(at, "this type has no lists");
    if (dt__cursor_peek(at) != ']')
        DT__TRY(dt__cursor_number(at, 1, DT_SPEC_MAX_DIMS, "the length of a list", &n));
    out->type = list;
    out->n = (int)n;
    return dt__cursor_expect(at, "]", "after [");
}

/* "Tensor(a!)?", "int[1]?"; the letter of an alias is for readers. */
static dt_status read_type(dt__cursor *at, dt__arena *arena, dt__param *out) {
    const char *word = dt__literal_name(at, arena);
    if (!word)
        return dt_error_status(at->ctx);
    size_t t = 0;
    while (t < sizeof types / sizeof *types && strcmp(types[t].word, word) != 0)
        t++;
    if (t == sizeof types / sizeof *types)
        return dt__cursor_fail(at, "there is no type '%s'", word);
    out->type = types[t].one;
    if (dt__cursor_skip(at, "(")) {
        while (*at->at && *at->at != ')')
            at->at++;
        DT__TRY(dt__cursor_expect(at, ")", "after an alias"));
    }
    out->optional = dt__cursor_skip(at, "?");
    if (dt__cursor_skip(at, "["))
        DT__TRY(read_list_mark(at, types[t].list, out));
    out->optional |= dt__cursor_skip(at, "?");
    return DT_OK;
}

/* Converts a default to the type of its parameter. */
static void settle_default(dt__param *param) {
    dt_arg *value = &param->absent;
    if (param->type == DT__PARAM_FLOAT && value->type == DT_ARG_INT)
        *value = (dt_arg){.type = DT_ARG_FLOAT, .as.f = (double)value->as.i};
    if (param->type == DT__PARAM_DTYPE && value->type == DT_ARG_TEXT)
        *value = (dt_arg){.type = DT_ARG_DTYPE, .as.dtype = DT_I64}; /* "long" is the only default of this type */
}

static dt_status read_param(dt__cursor *at, dt__arena *arena, bool keyword_only, dt__param *out) {
    *out = (dt__param){.required = true, .keyword_only = keyword_only};
    DT__TRY(read_type(at, arena, out));
    out->name = dt__literal_name(at, arena);
    if (!out->name)
        return dt_error_status(at->ctx);
    if (!dt__cursor_take(at, "="))
        return DT_OK;
    out->required = false;
    DT__TRY(dt__literal_read(at, arena, &out->absent));
    settle_default(out);
    return DT_OK;
}

static dt_status read_params(dt__cursor *at, dt__arena *arena, dt__signature *out) {
    dt__param params[DT__MAX_ARGS];
    bool keyword_only = false;
    DT__TRY(dt__cursor_expect(at, "(", "after the name"));
    while (dt__cursor_peek(at) != ')') {
        if (out->n_params == DT__MAX_ARGS)
            return dt__cursor_fail(at, "expected at most %d parameters", DT__MAX_ARGS);
        if (out->n_params || keyword_only)
            DT__TRY(dt__cursor_expect(at, ",", "between parameters"));
        if (dt__cursor_take(at, "*")) {
            keyword_only = true;
            continue;
        }
        dt__param *param = &params[out->n_params];
        DT__TRY(read_param(at, arena, keyword_only, param));
        out->n_params++;
    }
    at->at++;
    out->params = dt__arena_copy(arena, params, (size_t)out->n_params, sizeof *params);
    return out->params ? DT_OK : DT_ERR_MEMORY;
}

static dt_status read_signature(dt__cursor *at, dt__arena *arena, dt__schema *schema, dt__signature *out) {
    *out = (dt__signature){.overload = ""};
    const char *name = dt__literal_name(at, arena);
    if (!name)
        return dt_error_status(at->ctx);
    if (schema->name && strcmp(schema->name, name) != 0)
        return dt__cursor_fail(at, "the names of overloads differ: '%s' and '%s'", schema->name, name);
    schema->name = name;
    if (dt__cursor_skip(at, ".")) {
        out->overload = dt__literal_name(at, arena);
        if (!out->overload)
            return dt_error_status(at->ctx);
    }
    DT__TRY(read_params(at, arena, out));
    DT__TRY(dt__cursor_expect(at, "->", "after the parameters"));
    while (*at->at && *at->at != '|')
        at->at++;
    return DT_OK;
}

dt_status dt__schema_parse(dt__arena *arena, const char *line, dt__schema *out) {
    dt__cursor at = dt__cursor_new(arena->ctx, DT_ERR_VALUE, "schema", line);
    int n = 1;
    for (const char *c = line; *c; c++)
        n += *c == '|';
    dt__signature *signatures = DT__NEW_ARRAY(arena, dt__signature, n);
    if (!signatures)
        return DT_ERR_MEMORY;
    *out = (dt__schema){.n_signatures = n, .signatures = signatures};
    for (int i = 0; i < n; i++) {
        if (i)
            DT__TRY(dt__cursor_expect(&at, "|", "between overloads"));
        DT__TRY(read_signature(&at, arena, out, &signatures[i]));
    }
    return DT_OK;
}
