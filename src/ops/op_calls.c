/* SPDX-License-Identifier: Apache-2.0
 *
 * The public ways to call an op: the functions of dtensor/ops.h, which name it by its index, and calls by name, for
 * ops that a program registered and for other languages. Both build a dt__call and pass it to the dispatcher; a call
 * by name binds its arguments to the schema line each time. What needs ops by name installs those of the library
 * first.
 */
#include "ops/op_functions.h"
#include "ops/ops.h"

/* The context of the first tensor that is not NULL. Where all are NULL, an earlier call has recorded its error. */
static dt_ctx *ctx_of(const dt__call *call) {
    for (int i = 0; i < call->n_inputs && i < DT__MAX_INPUTS; i++)
        if (call->inputs[i])
            return dt_tensor_ctx(call->inputs[i]);
    return NULL;
}

static const char *const op_names[] = {
#define OP_NAME(name) #name,
    DT__OP_LIST(OP_NAME)
#undef OP_NAME
};

static dt_status run_indexed(dt__call *call, dt__op_index op, const dt_site *site, dt_tensor **outputs, int *n) {
    dt_ctx *ctx = ctx_of(call);
    if (!ctx)
        return DT_ERR_VALUE;
    DT__ENTER_ON(ctx, op_names[op], site, call, dt__call_describe);
    DT__TRY(dt__ops_open(ctx));
    call->info = dt__op_at(ctx, (int)op);
    return call->info ? dt__dispatch(ctx, call, outputs, n) : dt_error_status(ctx);
}

dt_tensor *dt__call_run(dt__call *call, dt__op_index op, const dt_site *site) {
    dt_tensor *outputs[DT__MAX_OUTPUTS];
    int n = 0;
    return run_indexed(call, op, site, outputs, &n) == DT_OK && n > 0 ? outputs[0] : NULL;
}

int dt__call_run_list(dt__call *call, dt__op_index op, const dt_site *site, dt_tensor **out, int capacity) {
    dt_tensor *outputs[DT__MAX_OUTPUTS];
    int n = 0;
    if (run_indexed(call, op, site, outputs, &n) != DT_OK)
        return -1;
    for (int i = 0; i < n && i < capacity; i++)
        out[i] = outputs[i];
    return n;
}

/* Arguments before they are bound: the tensors are numbered in their order. */
typedef struct numbered {
    int n_tensors;
    dt_tensor *tensors[DT__MAX_INPUTS];
    dt__argument arguments[2 * DT__MAX_ARGS];
} numbered;

static dt_status number_tensor(dt_ctx *ctx, const char *name, dt_tensor *tensor, numbered *to, int64_t *number) {
    if (to->n_tensors == DT__MAX_INPUTS)
        return dt__fail(ctx, DT_ERR_UNSUPPORTED, "%s: too many tensors: expected at most %d", name, DT__MAX_INPUTS);
    *number = to->n_tensors;
    to->tensors[to->n_tensors++] = tensor;
    return DT_OK;
}

static dt_status number_arguments(dt_ctx *ctx, const char *name, int n, const dt_op_argument *arguments,
                                  dt__arena *arena, numbered *to) {
    if (n < 0 || n > 2 * DT__MAX_ARGS)
        return dt__fail(ctx, DT_ERR_VALUE, "%s: too many arguments: expected at most %d, got %d", name,
                        2 * DT__MAX_ARGS, n);
    for (int i = 0; i < n; i++) {
        const dt_op_argument *from = &arguments[i];
        dt__argument *argument = &to->arguments[i];
        *argument = (dt__argument){.name = from->name, .value = from->value};
        if (from->tensor) {
            int64_t number = 0;
            DT__TRY(number_tensor(ctx, name, from->tensor, to, &number));
            argument->value = (dt_arg){.type = DT_ARG_TENSOR, .n = 1, .as.first = (int)number};
        } else if (from->tensors) {
            int64_t *numbers = DT__NEW_ARRAY(arena, int64_t, from->n_tensors);
            if (!numbers)
                return DT_ERR_MEMORY;
            argument->value = (dt_arg){.type = DT_ARG_TENSORS, .n = from->n_tensors};
            argument->tensors = numbers;
            for (int k = 0; k < from->n_tensors; k++) {
                if (!from->tensors[k])
                    return (void)dt__null_argument(ctx, name, i + 1), dt_error_status(ctx);
                DT__TRY(number_tensor(ctx, name, from->tensors[k], to, &numbers[k]));
            }
        }
    }
    return DT_OK;
}

static dt_status run_named(dt_ctx *ctx, const char *name, int n, const dt_op_argument *arguments, dt__arena *arena,
                           dt_tensor **outputs, int *n_outputs) {
    numbered from = {.n_tensors = 0};
    dt__bound_args bound;
    dt__call call;
    DT__TRY(number_arguments(ctx, name, n, arguments, arena, &from));
    DT__TRY(dt__ops_open(ctx));
    call.info = dt__op_find(ctx, name);
    if (!call.info)
        return dt_error_status(ctx);
    DT__TRY(dt__schema_bind(arena, &call.info->schema, n, from.arguments, &bound));
    dt__call_init(&call, bound.overload, bound.args);
    call.n_inputs = bound.n_inputs;
    for (int i = 0; i < bound.n_inputs && i < DT__MAX_INPUTS; i++)
        call.inputs[i] = from.tensors[bound.inputs[i]];
    return dt__dispatch(ctx, &call, outputs, n_outputs);
}

dt_status dt_op_run(dt_ctx *ctx, const char *name, int n_arguments, const dt_op_argument *arguments,
                    const dt_site *site, dt_tensor *outputs[DT_OP_MAX_OUTPUTS], int *n_outputs) {
    *n_outputs = 0;
    if (!ctx)
        return DT_ERR_VALUE;
    DT__ENTER(ctx, name ? name : "op_run", site);
    if (!name)
        return dt__fail(ctx, DT_ERR_VALUE, "op_run: expected the name of an op, got NULL");
    dt__arena arena = dt__arena_new(ctx);
    dt_status status = run_named(ctx, name, n_arguments, arguments, &arena, outputs, n_outputs);
    dt__arena_free(&arena);
    return status;
}

dt_tensor *dt_op_run_tensors(dt_ctx *ctx, const char *name, int n, dt_tensor *const *tensors, const dt_site *site) {
    dt_op_argument arguments[DT__MAX_ARGS] = {{0}};
    dt_tensor *outputs[DT_OP_MAX_OUTPUTS];
    int n_outputs;
    if (!ctx)
        return NULL;
    DT__ENTER(ctx, name ? name : "call", site);
    if (n < 0 || n > DT__MAX_ARGS)
        return (void)dt__fail(ctx, DT_ERR_VALUE, "too many tensors: expected at most %d, got %d", DT__MAX_ARGS, n),
               NULL;
    for (int i = 0; i < n; i++) {
        if (!tensors[i])
            return dt__null_argument(ctx, name ? name : "call", i + 1);
        arguments[i].tensor = tensors[i];
    }
    dt_status status = dt_op_run(ctx, name, n, arguments, site, outputs, &n_outputs);
    for (int i = 1; status == DT_OK && i < n_outputs; i++)
        dt_drop(outputs[i]);
    return status == DT_OK && n_outputs > 0 ? outputs[0] : NULL;
}

dt_status dt_op_register_sized(dt_ctx *ctx, const dt_op *op, size_t op_size, const dt_site *site) {
    DT__ENTER(ctx, "op_register", site);
    DT__TRY(dt__ops_open(ctx));
    return dt__op_table_add(ctx, op, op_size);
}

const char *dt_explain_tensors(dt_ctx *ctx, const char *call, int n, dt_tensor *const *tensors, const dt_site *site) {
    DT__ENTER(ctx, "explain", site);
    return ctx && dt__ops_open(ctx) == DT_OK ? dt__explain(ctx, call, n, tensors) : NULL;
}
