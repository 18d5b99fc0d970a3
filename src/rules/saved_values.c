/* SPDX-License-Identifier: Apache-2.0
 *
 * Which values an op's records keep: those that its formulas use, or that it lists (dt_op.saves), which is read once
 * per signature.
 */
#include "rules/rules.h"

#include <stdlib.h>
#include <string.h>

static bool is_tensor(const dt__param *param) {
    return param->type.kind == DT__PARAM_TENSOR || param->type.kind == DT__PARAM_TENSORS;
}

static bool is_named(const char *name, const char *text, size_t n) {
    return strlen(name) == n && strncmp(name, text, n) == 0;
}

/* Bits of the outputs that the name means: a name of the schema line, "result" all, "result1" the second; 0: none. */
static uint64_t outputs_of(const dt__signature *signature, const char *name, size_t n) {
    static const char result[] = "result";
    size_t prefix = sizeof result - 1;
    for (int r = 0; r < signature->n_returns; r++)
        if (is_named(signature->returns[r].name, name, n))
            return UINT64_C(1) << r;
    if (n < prefix || strncmp(name, result, prefix) != 0)
        return 0;
    if (n == prefix)
        return UINT64_MAX;
    char *end;
    unsigned long output = strtoul(name + prefix, &end, 10);
    return end == name + n && output < 64 ? UINT64_C(1) << output : 0;
}

/* Adds what a name means to the signatures that have it; false if none has. */
static bool add_name(const dt__schema *schema, const char *name, size_t n, dt__saved_values *to) {
    bool found = false;
    for (int s = 0; s < schema->n_signatures; s++) {
        const dt__signature *signature = &schema->signatures[s];
        uint64_t outputs = outputs_of(signature, name, n);
        to[s].outputs |= outputs;
        found = found || outputs;
        for (int p = 0; p < signature->n_params; p++) {
            if (!is_tensor(&signature->params[p]) || !is_named(signature->params[p].name, name, n))
                continue;
            to[s].params |= UINT32_C(1) << p;
            found = true;
        }
    }
    return found;
}

/* All tensors except those that the op changes. */
static void add_all(const dt__schema *schema, dt__saved_values *to) {
    for (int s = 0; s < schema->n_signatures; s++) {
        const dt__signature *signature = &schema->signatures[s];
        to[s].outputs = UINT64_MAX;
        for (int p = 0; p < signature->n_params; p++)
            if (is_tensor(&signature->params[p]) && !(signature->written >> p & 1))
                to[s].params |= UINT32_C(1) << p;
    }
}

dt_status dt__saved_values_parse(dt__arena *arena, const dt_op *op, const dt__schema *schema,
                                 const dt__saved_values **out) {
    dt__saved_values *values = DT__NEW_ARRAY(arena, dt__saved_values, schema->n_signatures);
    *out = values;
    if (!values)
        return DT_ERR_MEMORY;
    if (op->saves && op->gradient)
        return dt__fail(arena->ctx, DT_ERR_VALUE, "%s: saves: the gradient states what is saved", schema->name);
    if (!op->saves) {
        if (!(op->flags & DT_OP_VIEW) && !op->gradient)
            add_all(schema, values);
        return DT_OK;
    }
    for (const char *name = op->saves; *name;) {
        size_t n = strcspn(name, ",");
        if (!add_name(schema, name, n, values))
            return dt__fail(arena->ctx, DT_ERR_VALUE,
                            "%s: saves: expected the name of a tensor argument or result, got \"%.*s\"", schema->name,
                            (int)n, name);
        name += n + (name[n] == ',');
    }
    return DT_OK;
}

dt__saved_values dt__values_to_save(const dt__op_info *info, int overload, uint32_t params) {
    if (!info->gradient)
        return info->saves[overload];
    const dt__gradient *gradient = &info->gradient[overload];
    dt__saved_values values = {0};
    for (; params; params &= params - 1) {
        int formula = gradient->of_param[__builtin_ctz(params)];
        if (formula < 0)
            continue;
        values.params |= gradient->formulas[formula].uses.params;
        values.outputs |= gradient->formulas[formula].uses.outputs;
    }
    return values;
}
