/* SPDX-License-Identifier: Apache-2.0
 *
 * Arguments that vary: those that an op names in its descriptor because decisions do not depend on their values
 * (dt_op.varying). The names are resolved once per op to bits in its signatures.
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
                            "%s: varying: expected names of arguments that are no tensors, separated by commas, "
                            "got '%.*s'",
                            schema->name, (int)n, name);
}

dt_status dt__schema_set_varying(dt__arena *arena, dt__schema *schema, const char *names) {
    if (!names)
        return DT_OK;
    dt__signature *signatures =
        dt__arena_copy(arena, schema->signatures, (size_t)schema->n_signatures, sizeof *signatures);
    if (!signatures)
        return DT_ERR_MEMORY;
    for (const char *name = names;; name++) {
        size_t n = strcspn(name, ",");
        DT__TRY(mark(arena->ctx, schema, signatures, name, n));
        name += n;
        if (!*name)
            break;
    }
    schema->signatures = signatures;
    return DT_OK;
}
