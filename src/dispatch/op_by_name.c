/* SPDX-License-Identifier: Apache-2.0
 *
 * Ops by name: for those that a program registered, and for other languages. Arguments are bound to the schema line at
 * every call, which the functions of ops.h do not need.
 */
#include "dispatch/dispatch.h"
#include "dtensor/dispatch.h"

/* The call's tensors, numbered as they come. */
struct gathered {
    int n;
    dt_tensor *tensors[DT__MAX_INPUTS];
    dt__argument given[2 * DT__MAX_ARGS];
};

static dt_status add_tensor(dt_ctx *ctx, const char *name, struct gathered *to, dt_tensor *tensor) {
    if (to->n == DT__MAX_INPUTS)
        return dt__fail(ctx, DT_ERR_UNSUPPORTED, "%s: more than %d tensors", name, DT__MAX_INPUTS);
    to->tensors[to->n++] = tensor;
    return DT_OK;
}

static dt_status gather(dt_ctx *ctx, const char *name, int n, const dt_op_argument *given, dt__arena *arena,
                        struct gathered *to) {
    if (n < 0 || n > 2 * DT__MAX_ARGS)
        return dt__fail(ctx, DT_ERR_VALUE, "%s: %d arguments; at most %d are possible", name, n, 2 * DT__MAX_ARGS);
    for (int i = 0; i < n; i++) {
        dt__argument *one = &to->given[i];
        *one = (dt__argument){given[i].name, given[i].value};
        if (given[i].tensor) {
            one->value = (dt_arg){.type = DT_ARG_TENSOR, .n = 1, .as.first = to->n};
            DT__TRY(add_tensor(ctx, name, to, given[i].tensor));
        } else if (given[i].tensors) {
            int64_t *numbers = DT__NEW_ARRAY(arena, int64_t, given[i].n_tensors);
            if (!numbers)
                return DT_ERR_MEMORY;
            one->value = (dt_arg){.type = DT_ARG_TENSORS, .n = given[i].n_tensors, .as.ints = numbers};
            for (int k = 0; k < given[i].n_tensors; k++) {
                if (!given[i].tensors[k])
                    return (void)dt__null_argument(ctx, name, i + 1), dt_error_status(ctx);
                numbers[k] = to->n;
                DT__TRY(add_tensor(ctx, name, to, given[i].tensors[k]));
            }
        }
    }
    return DT_OK;
}

static dt_status run(dt_ctx *ctx, const char *name, const struct gathered *from, int n, dt__arena *arena,
                     const dt_site *site, dt_tensor **outputs, int *n_outputs) {
    const dt__op_info *info = dt__op_find(ctx, name);
    dt_tensor *inputs[DT__MAX_INPUTS];
    dt__bound_args bound;
    if (!info)
        return dt_error_status(ctx);
    DT__TRY(dt__schema_bind(arena, &info->schema, n, from->given, &bound));
    if (bound.n_inputs > DT__MAX_INPUTS)
        return dt__fail(ctx, DT_ERR_UNSUPPORTED, "%s: more than %d tensors", name, DT__MAX_INPUTS);
    for (int i = 0; i < bound.n_inputs; i++)
        inputs[i] = from->tensors[bound.inputs[i]];
    return dt__dispatch(ctx, &(dt__invocation){info, bound.overload, bound.args, bound.n_inputs, inputs, site},
                        outputs, n_outputs);
}

dt_status dt_op_run(dt_ctx *ctx, const char *name, int n_given, const dt_op_argument *given, const dt_site *site,
                    dt_tensor *outputs[DT_OP_MAX_OUTPUTS], int *n_outputs) {
    *n_outputs = 0;
    if (!ctx)
        return DT_ERR_VALUE;
    if (!name)
        return dt__fail(ctx, DT_ERR_VALUE, "op_run: the name is NULL");
    struct gathered gathered = {.n = 0};
    dt__arena arena = dt__arena_new(ctx);
    dt_status status = gather(ctx, name, n_given, given, &arena, &gathered);
    if (status == DT_OK)
        status = run(ctx, name, &gathered, n_given, &arena, site, outputs, n_outputs);
    dt__arena_free(&arena);
    return status;
}

dt_tensor *dt_op_run_tensors(dt_ctx *ctx, const char *name, int n, dt_tensor *const *tensors, const dt_site *site) {
    dt_op_argument given[DT__MAX_ARGS] = {{0}};
    dt_tensor *outputs[DT_OP_MAX_OUTPUTS];
    int n_outputs;
    if (!ctx)
        return NULL;
    if (n < 0 || n > DT__MAX_ARGS)
        return (void)dt__fail(ctx, DT_ERR_VALUE, "%s: %d tensors; at most %d", name ? name : "call", n, DT__MAX_ARGS),
               NULL;
    for (int i = 0; i < n; i++) {
        if (!tensors[i])
            return dt__null_argument(ctx, name ? name : "call", i + 1);
        given[i].tensor = tensors[i];
    }
    dt_status status = dt_op_run(ctx, name, n, given, site, outputs, &n_outputs);
    for (int i = 1; status == DT_OK && i < n_outputs; i++)
        dt_drop(outputs[i]);
    return status == DT_OK && n_outputs > 0 ? outputs[0] : NULL;
}
