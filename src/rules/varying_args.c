/* SPDX-License-Identifier: Apache-2.0
 *
 * What decisions depend on: the values of all arguments, except those that the descriptor names because they vary
 * (dt_op.varying), and the types of arguments whose type does not follow from the schema. Resolved once per op to bits
 * in its signatures.
 */
#include "rules/rules.h"

#include <string.h>

static bool is_tensor(const dt__param *param) {
    return param->type.kind == DT__PARAM_TENSOR || param->type.kind == DT__PARAM_TENSORS;
}

static bool is_named(const dt__param *param, const char *name, size_t n) {
    return !strncmp(param->name, name, n) && !param->name[n];
}

/* Marks the arguments of one name in all signatures that have it. */
static dt_status mark(dt_ctx *ctx, const dt__schema *schema, dt__signature *signatures, const char *name, size_t n) {
    bool found = false;
    for (int s = 0; s < schema->n_signatures; s++)
        for (int p = 0; p < signatures[s].n_params; p++) {
            uint32_t bit = (uint32_t)1 << p;
            if (is_tensor(&signatures[s].params[p]) || !is_named(&signatures[s].params[p], name, n))
                continue;
            if (signatures[s].varying & bit)
                return dt__fail(ctx, DT_ERR_VALUE, "%s: varying: '%.*s' is named twice", schema->name, (int)n, name);
            signatures[s].varying |= bit;
            found = true;
        }
    return found ? DT_OK
                 : dt__fail(ctx, DT_ERR_VALUE,
                            "%s: varying: expected names of arguments that are not tensors, separated by commas, "
                            "got '%.*s'",
                            schema->name, (int)n, name);
}

static dt_status mark_all(dt_ctx *ctx, const dt__schema *schema, dt__signature *signatures, const char *names) {
    for (const char *name = names; name; name++) {
        size_t n = strcspn(name, ",");
        DT__TRY(mark(ctx, schema, signatures, name, n));
        name += n;
        if (!*name)
            break;
    }
    return DT_OK;
}

/* The type that every argument of a parameter has; DT_ARG_NONE: several are possible. */
static dt_arg_type only_type(const dt__param *param) {
    static const dt_arg_type by_kind[DT__N_PARAM_TYPES] = {
        [DT__PARAM_TENSOR] = DT_ARG_TENSOR, [DT__PARAM_TENSORS] = DT_ARG_TENSORS, [DT__PARAM_INT] = DT_ARG_INT,
        [DT__PARAM_FLOAT] = DT_ARG_FLOAT,   [DT__PARAM_BOOL] = DT_ARG_BOOL,       [DT__PARAM_INTS] = DT_ARG_INTS,
        [DT__PARAM_FLOATS] = DT_ARG_FLOATS, [DT__PARAM_DTYPE] = DT_ARG_DTYPE,
    };
    dt_arg_type type = by_kind[param->type.kind];
    return param->type.optional || (!param->required && param->absent.type != type) ? DT_ARG_NONE : type;
}

void dt__signature_set_varying(dt__signature *signature, uint32_t varying) {
    signature->varying = varying;
    signature->keyed = signature->open_types = 0;
    for (int p = 0; p < signature->n_params; p++) {
        const dt__param *param = &signature->params[p];
        bool keyed = param->type.kind != DT__PARAM_TENSOR && !(signature->varying >> p & 1);
        signature->keyed |= (uint32_t)keyed << p;
        signature->open_types |= (uint32_t)(only_type(param) == DT_ARG_NONE) << p;
    }
}

dt_status dt__schema_set_varying(dt__arena *arena, dt__schema *schema, const char *names) {
    dt__signature *signatures =
        dt__arena_copy(arena, schema->signatures, (size_t)schema->n_signatures, sizeof *signatures);
    if (!signatures)
        return DT_ERR_MEMORY;
    DT__TRY(mark_all(arena->ctx, schema, signatures, names));
    for (int s = 0; s < schema->n_signatures; s++)
        dt__signature_set_varying(&signatures[s], signatures[s].varying);
    schema->signatures = signatures;
    return DT_OK;
}
