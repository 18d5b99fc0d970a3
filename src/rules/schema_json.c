/* SPDX-License-Identifier: Apache-2.0
 *
 * An op as JSON: its schema line as the parser reads it, for `dtensor ops --json`, the generators of the C functions
 * and other languages.
 */
#include "rules/literal.h"
#include "rules/rules.h"

#include <string.h>

static void add_string(dt__json_writer *json, const char *key, const char *value) {
    dt__json_key(json, key);
    dt__json_string(json, value);
}

static void add_true(dt__json_writer *json, const char *key, bool value) {
    if (!value)
        return;
    dt__json_key(json, key);
    dt__json_bool(json, true);
}

/* Members that are false or zero are left out. */
static void add_type(dt__json_writer *json, const dt__schema_type *type) {
    char alias[] = {type->alias, 0};
    add_string(json, "type", dt__schema_type_word(type));
    add_true(json, "list", dt__schema_type_is_list(type));
    if (type->n) {
        dt__json_key(json, "length");
        dt__json_int(json, type->n);
    }
    add_true(json, "optional", type->optional);
    add_true(json, "optional_members", type->optional_members);
    if (type->alias)
        add_string(json, "alias", alias);
    add_true(json, "written", type->written);
}

/* The default as calls have it: "none", "1", "1e-05", "true", "[0,1]", "\"mean\"". */
static void add_default(dt__json_writer *json, const dt_arg *value, dt_ctx *ctx) {
    static const char *const types[DT_N_ARG_TYPES] = {
        [DT_ARG_NONE] = "none",  [DT_ARG_INT] = "int",        [DT_ARG_FLOAT] = "float",      [DT_ARG_BOOL] = "bool",
        [DT_ARG_INTS] = "int[]", [DT_ARG_FLOATS] = "float[]", [DT_ARG_DTYPE] = "ScalarType", [DT_ARG_TEXT] = "str",
    };
    dt__text text = dt__text_new(ctx);
    dt__literal_text(value, &text);
    dt__json_key(json, "default");
    dt__json_open(json, '{');
    add_string(json, "type", types[value->type]);
    add_string(json, "text", dt__text_chars(&text));
    dt__json_close(json, '}');
    dt__text_free(&text);
}

static void add_param(dt__json_writer *json, const dt__op_info *info, const dt__param *param, dt_ctx *ctx) {
    dt__json_open(json, '{');
    add_string(json, "name", param->name);
    add_type(json, &param->type);
    add_true(json, "keyword_only", param->keyword_only);
    if (!param->required)
        add_default(json, &param->absent, ctx);
    add_true(json, "unused", dt__name_list_has(info->op->unused, param->name));
    dt__json_close(json, '}');
}

static void add_signature(dt__json_writer *json, const dt__op_info *info, int overload, dt_ctx *ctx) {
    static const char *const forms[] = {[DT__RETURNS_ONE] = "one",
                                        [DT__RETURNS_SEVERAL] = "several",
                                        [DT__RETURNS_MORE] = "more",
                                        [DT__RETURNS_EITHER] = "either"};
    const dt__signature *signature = &info->schema.signatures[overload];
    dt__text text = dt__text_new(ctx);
    dt__signature_text(&info->schema, overload, &text);
    dt__json_open(json, '{');
    add_string(json, "overload", signature->overload);
    add_string(json, "text", dt__text_chars(&text));
    dt__json_key(json, "params");
    dt__json_open(json, '[');
    for (int p = 0; p < signature->n_params; p++)
        add_param(json, info, &signature->params[p], ctx);
    dt__json_close(json, ']');
    add_string(json, "return_form", forms[signature->return_form]);
    dt__json_key(json, "returns");
    dt__json_open(json, '[');
    for (int r = 0; r < signature->n_returns; r++) {
        dt__json_open(json, '{');
        add_string(json, "name", signature->returns[r].name);
        add_type(json, &signature->returns[r].type);
        dt__json_close(json, '}');
    }
    dt__json_close(json, ']');
    dt__json_close(json, '}');
    dt__text_free(&text);
}

void dt__op_info_json(dt_ctx *ctx, const dt__op_info *info, dt__json_writer *json) {
    dt__json_open(json, '{');
    add_string(json, "name", info->schema.name);
    add_string(json, "schema", info->op->schema);
    add_string(json, "summary", info->op->summary ? info->op->summary : "");
    add_true(json, "maker", info->op->flags & DT_OP_MAKER);
    add_true(json, "view", info->op->flags & DT_OP_VIEW);
    add_true(json, "random", info->op->flags & DT_OP_RANDOM);
    add_true(json, "positional", info->op->flags & DT_OP_POSITIONAL);
    dt__json_key(json, "signatures");
    dt__json_open(json, '[');
    for (int i = 0; i < info->schema.n_signatures; i++)
        add_signature(json, info, i, ctx);
    dt__json_close(json, ']');
    dt__json_close(json, '}');
}
