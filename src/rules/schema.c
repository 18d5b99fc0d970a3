/* SPDX-License-Identifier: Apache-2.0
 *
 * Parses schema lines, and prints them.
 */
#include "rules/schema.h"

#include "rules/literal.h"

#include <ctype.h>
#include <string.h>

/* The words of types; a type without lists has DT__N_PARAM_TYPES for them. */
static const struct type_word {
    const char *word;
    dt__param_type one, list;
} type_words[] = {
    {"Tensor", DT__PARAM_TENSOR, DT__PARAM_TENSORS}, {"int", DT__PARAM_INT, DT__PARAM_INTS},
    {"float", DT__PARAM_FLOAT, DT__PARAM_FLOATS},    {"bool", DT__PARAM_BOOL, DT__N_PARAM_TYPES},
    {"Scalar", DT__PARAM_SCALAR, DT__PARAM_SCALARS}, {"ScalarType", DT__PARAM_DTYPE, DT__N_PARAM_TYPES},
    {"str", DT__PARAM_TEXT, DT__N_PARAM_TYPES},      {"Generator", DT__PARAM_GENERATOR, DT__N_PARAM_TYPES},
};
enum { N_TYPE_WORDS = sizeof type_words / sizeof *type_words };

/* Dtypes as defaults have them: by the names of C, or by number. */
static const struct {
    const char *word;
    int64_t number;
    dt_dtype dtype;
} default_dtypes[] = {
    {"byte", 0, DT_U8},    {"char", 1, DT_I8},        {"short", 2, DT_I16}, {"int", 3, DT_I32},
    {"long", 4, DT_I64},   {"half", 5, DT_F16},       {"float", 6, DT_F32}, {"double", 7, DT_F64},
    {"bool", 11, DT_BOOL}, {"bfloat16", 15, DT_BF16},
};

/* "(a)", "(a!)", "(a -> *)". */
static dt_status read_alias(dt__cursor *at, dt__schema_type *out) {
    if (!dt__cursor_skip(at, "("))
        return DT_OK;
    if (out->alias)
        return dt__cursor_fail(at, "this type has two aliases");
    if (!islower((unsigned char)*at->at))
        return dt__cursor_fail(at, "expected the letter of an alias");
    out->alias = *at->at++;
    out->written = dt__cursor_skip(at, "!");
    out->spreads = dt__cursor_skip(at, " -> *");
    return dt__cursor_expect(at, ")", "after an alias");
}

static dt_status read_list_mark(dt__cursor *at, dt__param_type list, dt__schema_type *out) {
    int64_t n = 0;
    if (!dt__cursor_skip(at, "["))
        return DT_OK;
    if (list == DT__N_PARAM_TYPES)
        return dt__cursor_fail(at, "this type has no lists");
    if (dt__cursor_peek(at) != ']')
        DT__TRY(dt__cursor_number(at, 1, DT_SPEC_MAX_DIMS, "the length of a list", &n));
    DT__TRY(dt__cursor_expect(at, "]", "after ["));
    out->kind = list;
    out->n = (int)n;
    out->optional_members = out->optional;
    out->optional = dt__cursor_skip(at, "?");
    return DT_OK;
}

/* "Tensor(a!)[]", "Tensor?[]", "int[1]?". The alias may also follow the brackets. */
static dt_status read_type(dt__cursor *at, dt__arena *arena, dt__schema_type *out) {
    *out = (dt__schema_type){.kind = DT__PARAM_TENSOR};
    const char *word = dt__literal_name(at, arena);
    if (!word)
        return dt_error_status(at->ctx);
    int t = 0;
    while (t < N_TYPE_WORDS && strcmp(type_words[t].word, word) != 0)
        t++;
    if (t == N_TYPE_WORDS)
        return dt__cursor_fail(at, "there is no type '%s'", word);
    out->kind = type_words[t].one;
    DT__TRY(read_alias(at, out));
    out->optional = dt__cursor_skip(at, "?");
    DT__TRY(read_list_mark(at, type_words[t].list, out));
    DT__TRY(read_alias(at, out));
    if (out->alias && out->kind != DT__PARAM_TENSOR && out->kind != DT__PARAM_TENSORS)
        return dt__cursor_fail(at, "only tensors have aliases");
    return DT_OK;
}

static dt_status settle_dtype(const dt__cursor *at, dt_arg *value) {
    for (size_t i = 0; i < sizeof default_dtypes / sizeof *default_dtypes; i++)
        if ((value->type == DT_ARG_TEXT && !strcmp(value->as.text, default_dtypes[i].word)) ||
            (value->type == DT_ARG_INT && value->as.i == default_dtypes[i].number)) {
            *value = (dt_arg){.type = DT_ARG_DTYPE, .as.dtype = default_dtypes[i].dtype};
            return DT_OK;
        }
    return dt__cursor_fail(at, "expected a dtype as default");
}

/* Converts a default to the type of its parameter: as binding does with arguments. */
static dt_status settle_default(const dt__cursor *at, dt__arena *arena, dt__param *param) {
    static const dt_arg_type types[DT__N_PARAM_TYPES] = {
        [DT__PARAM_INT] = DT_ARG_INT,   [DT__PARAM_FLOAT] = DT_ARG_FLOAT,   [DT__PARAM_BOOL] = DT_ARG_BOOL,
        [DT__PARAM_INTS] = DT_ARG_INTS, [DT__PARAM_FLOATS] = DT_ARG_FLOATS, [DT__PARAM_TEXT] = DT_ARG_TEXT,
    };
    dt_arg *value = &param->absent;
    if (value->type == DT_ARG_NONE)
        return param->type.optional ? DT_OK : dt__cursor_fail(at, "only an optional parameter has the default None");
    if (param->type.kind == DT__PARAM_DTYPE)
        return settle_dtype(at, value);
    if (param->type.kind == DT__PARAM_SCALAR && (value->type == DT_ARG_INT || value->type == DT_ARG_FLOAT))
        return DT_OK;
    if (param->type.kind == DT__PARAM_FLOAT && value->type == DT_ARG_INT)
        *value = (dt_arg){.type = DT_ARG_FLOAT, .as.f = (double)value->as.i};
    if (param->type.kind == DT__PARAM_INTS && value->type == DT_ARG_INT) {
        int n = param->type.n ? param->type.n : 1;
        int64_t *copies = DT__NEW_ARRAY(arena, int64_t, n);
        if (!copies)
            return DT_ERR_MEMORY;
        for (int i = 0; i < n; i++)
            copies[i] = value->as.i;
        *value = (dt_arg){.type = DT_ARG_INTS, .n = n, .as.ints = copies};
    }
    return types[param->type.kind] == value->type && value->type != DT_ARG_NONE
               ? DT_OK
               : dt__cursor_fail(at, "the default does not have the type of '%s'", param->name);
}

static dt_status read_param(dt__cursor *at, dt__arena *arena, bool keyword_only, dt__param *out) {
    *out = (dt__param){.required = true, .keyword_only = keyword_only};
    DT__TRY(read_type(at, arena, &out->type));
    out->name = dt__literal_name(at, arena);
    if (!out->name)
        return dt_error_status(at->ctx);
    if (!dt__cursor_take(at, "="))
        return DT_OK;
    out->required = false;
    dt__cursor_peek(at);
    const char *begin = at->at;
    DT__TRY(dt__literal_read(at, arena, &out->absent));
    out->default_text = dt__arena_copy_chars(arena, begin, (size_t)(at->at - begin));
    return out->default_text ? settle_default(at, arena, out) : DT_ERR_MEMORY;
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
        if (!keyword_only && dt__cursor_take(at, "*")) {
            keyword_only = true;
            continue;
        }
        dt__param *param = &params[out->n_params];
        DT__TRY(read_param(at, arena, keyword_only, param));
        out->written |= (uint32_t)param->type.written << out->n_params;
        out->n_params++;
    }
    if (keyword_only && (out->n_params == 0 || !params[out->n_params - 1].keyword_only))
        return dt__cursor_fail(at, "expected a parameter after the *");
    at->at++;
    out->params = dt__arena_copy(arena, params, (size_t)out->n_params, sizeof *params);
    return out->params ? DT_OK : DT_ERR_MEMORY;
}

/* Finds the parameter that a return is, or is a view of. */
static dt_status resolve_alias(const dt__cursor *at, const dt__signature *signature, dt__return *out) {
    out->param = -1;
    if (!out->type.alias)
        return DT_OK;
    for (int p = 0; p < signature->n_params && out->param < 0; p++)
        if (signature->params[p].type.alias == out->type.alias)
            out->param = p;
    if (out->param < 0)
        return dt__cursor_fail(at, "no parameter has the alias '%c'", out->type.alias);
    if (signature->params[out->param].type.written != out->type.written)
        return dt__cursor_fail(at, "the alias '%c' is written in one place only", out->type.alias);
    return DT_OK;
}

static dt_status read_several(dt__cursor *at, dt__arena *arena, dt__signature *out) {
    dt__return returns[DT__MAX_RETURNS];
    while (dt__cursor_peek(at) != ')') {
        if (out->n_returns)
            DT__TRY(dt__cursor_expect(at, ",", "between returns"));
        if (out->n_returns && dt__cursor_take(at, "...")) {
            out->return_form = DT__RETURNS_MORE;
            break;
        }
        if (out->n_returns == DT__MAX_RETURNS)
            return dt__cursor_fail(at, "expected at most %d returns", DT__MAX_RETURNS);
        dt__return *to = &returns[out->n_returns];
        *to = (dt__return){.name = ""};
        DT__TRY(read_type(at, arena, &to->type));
        if (isalpha((unsigned char)dt__cursor_peek(at)) && !(to->name = dt__literal_name(at, arena)))
            return dt_error_status(at->ctx);
        DT__TRY(resolve_alias(at, out, to));
        out->n_returns++;
    }
    DT__TRY(dt__cursor_expect(at, ")", "after the returns"));
    out->returns = dt__arena_copy(arena, returns, (size_t)out->n_returns, sizeof *returns);
    return out->returns ? DT_OK : DT_ERR_MEMORY;
}

/* "Tensor", "(Tensor values, Tensor indices)", "Tensor or (Tensor, Tensor)". */
static dt_status read_returns(dt__cursor *at, dt__arena *arena, dt__signature *out) {
    dt__return one = {.name = ""};
    out->return_form = DT__RETURNS_SEVERAL;
    dt__cursor_peek(at);
    if (dt__cursor_take(at, "("))
        return read_several(at, arena, out);
    DT__TRY(read_type(at, arena, &one.type));
    DT__TRY(resolve_alias(at, out, &one));
    if (dt__cursor_take(at, "or")) {
        out->return_form = DT__RETURNS_EITHER;
        DT__TRY(dt__cursor_expect(at, "(", "after or"));
        DT__TRY(read_several(at, arena, out));
        bool same =
            out->n_returns > 1 && out->returns[0].type.kind == one.type.kind && one.type.kind == DT__PARAM_TENSOR;
        return same ? DT_OK : dt__cursor_fail(at, "expected several returns, the first a Tensor like the single one");
    }
    out->return_form = DT__RETURNS_ONE;
    out->n_returns = 1;
    out->returns = dt__arena_copy(arena, &one, 1, sizeof one);
    return out->returns ? DT_OK : DT_ERR_MEMORY;
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
    return read_returns(at, arena, out);
}

dt_status dt__schema_parse(dt__arena *arena, const char *line, dt__schema *out) {
    dt__cursor at = dt__cursor_new(arena->ctx, DT_ERR_VALUE, "schema", line);
    int capacity = 1;
    for (const char *c = line; *c; c++)
        capacity += *c == '|';
    dt__signature *signatures = DT__NEW_ARRAY(arena, dt__signature, capacity);
    if (!signatures)
        return DT_ERR_MEMORY;
    *out = (dt__schema){.signatures = signatures};
    do
        DT__TRY(read_signature(&at, arena, out, &signatures[out->n_signatures++]));
    while (dt__cursor_take(&at, "|"));
    return dt__cursor_peek(&at) ? dt__cursor_fail(&at, "expected '|' or the end after the returns") : DT_OK;
}

static const struct type_word *word_of(const dt__schema_type *type) {
    const struct type_word *word = type_words;
    while (word->one != type->kind && word->list != type->kind)
        word++;
    return word;
}

const char *dt__schema_type_word(const dt__schema_type *type) { return word_of(type)->word; }

bool dt__schema_type_is_list(const dt__schema_type *type) { return word_of(type)->list == type->kind; }

bool dt__name_list_has(const char *list, const char *name) {
    size_t n = strlen(name);
    for (const char *at = list; at; at = strchr(at, ',')) {
        at += *at == ',';
        if (!strncmp(at, name, n) && (at[n] == 0 || at[n] == ','))
            return true;
    }
    return false;
}

static void add_type(const dt__schema_type *type, dt__text *out) {
    bool is_list = dt__schema_type_is_list(type);
    dt__text_add(out, "%s", dt__schema_type_word(type));
    if (type->alias)
        dt__text_add(out, "(%c%s%s)", type->alias, type->written ? "!" : "", type->spreads ? " -> *" : "");
    if (type->optional_members)
        dt__text_add(out, "?");
    if (is_list && type->n)
        dt__text_add(out, "[%d]", type->n);
    else if (is_list)
        dt__text_add(out, "[]");
    if (type->optional)
        dt__text_add(out, "?");
}

static void add_param(const dt__param *param, dt__text *out) {
    add_type(&param->type, out);
    dt__text_add(out, " %s", param->name);
    if (param->default_text)
        dt__text_add(out, "=%s", param->default_text);
}

static void add_tuple(const dt__signature *signature, dt__text *out) {
    dt__text_add(out, "(");
    for (int r = 0; r < signature->n_returns; r++) {
        const dt__return *one = &signature->returns[r];
        dt__text_add(out, r ? ", " : "");
        add_type(&one->type, out);
        dt__text_add(out, "%s%s", *one->name ? " " : "", one->name);
    }
    dt__text_add(out, signature->return_form == DT__RETURNS_MORE ? ", ...)" : ")");
}

void dt__signature_text(const dt__schema *schema, int overload, dt__text *out) {
    const dt__signature *signature = &schema->signatures[overload];
    bool keyword_only = false;
    dt__text_add(out, "%s%s%s(", schema->name, *signature->overload ? "." : "", signature->overload);
    for (int p = 0; p < signature->n_params; p++) {
        const dt__param *param = &signature->params[p];
        dt__text_add(out, p ? ", " : "");
        if (param->keyword_only && !keyword_only)
            dt__text_add(out, "*, ");
        keyword_only = param->keyword_only;
        add_param(param, out);
    }
    dt__text_add(out, ") -> ");
    if (signature->return_form == DT__RETURNS_ONE || signature->return_form == DT__RETURNS_EITHER)
        add_type(&signature->returns[0].type, out);
    if (signature->return_form == DT__RETURNS_EITHER)
        dt__text_add(out, " or ");
    if (signature->return_form != DT__RETURNS_ONE)
        add_tuple(signature, out);
}

void dt__schema_text(const dt__schema *schema, dt__text *out) {
    for (int i = 0; i < schema->n_signatures; i++) {
        dt__text_add(out, i ? " | " : "");
        dt__signature_text(schema, i, out);
    }
}
