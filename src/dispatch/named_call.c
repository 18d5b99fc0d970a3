/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls of ops by name, for ops that a program registered and for other languages: the arguments are bound to the
 * schema line in each call.
 */
#include "dispatch/dispatch.h"
#include "dtensor/dispatch.h"

enum { MEMORY_BYTES = 4096 }; /* for the arguments of most calls, so that these allocate nothing */

/* Arguments before they are bound: the tensors are numbered in their order. */
typedef struct numbered {
    int n_tensors;
    dt_tensor **tensors;
    dt__argument arguments[2 * DT__MAX_ARGS];
} numbered;

static int count_tensors(int n, const dt_op_argument *arguments) {
    int n_tensors = 0;
    for (int i = 0; i < n; i++)
        n_tensors += arguments[i].tensor ? 1 : arguments[i].tensors ? arguments[i].n_tensors : 0;
    return n_tensors;
}

static dt_status number_arguments(dt_ctx *ctx, const char *name, int n, const dt_op_argument *arguments,
                                  dt__arena *arena, numbered *to) {
    if (n < 0 || n > 2 * DT__MAX_ARGS)
        return dt__fail(ctx, DT_ERR_VALUE, "%s: too many arguments: expected at most %d, got %d", name,
                        2 * DT__MAX_ARGS, n);
    to->tensors = DT__NEW_ARRAY(arena, dt_tensor *, count_tensors(n, arguments));
    if (!to->tensors)
        return DT_ERR_MEMORY;
    for (int i = 0; i < n; i++) {
        const dt_op_argument *from = &arguments[i];
        dt__argument *argument = &to->arguments[i];
        *argument = (dt__argument){.name = from->name, .value = from->value};
        if (from->tensor) {
            argument->value = (dt_arg){.type = DT_ARG_TENSOR, .n = 1, .as.first = to->n_tensors};
            to->tensors[to->n_tensors++] = from->tensor;
        } else if (from->tensors) {
            int64_t *numbers = DT__NEW_ARRAY(arena, int64_t, from->n_tensors);
            if (!numbers)
                return DT_ERR_MEMORY;
            argument->value = (dt_arg){.type = DT_ARG_TENSORS, .n = from->n_tensors};
            argument->tensors = numbers;
            for (int k = 0; k < from->n_tensors; k++) {
                numbers[k] = from->tensors[k] ? to->n_tensors : -1;
                if (from->tensors[k])
                    to->tensors[to->n_tensors++] = from->tensors[k];
            }
        }
    }
    return DT_OK;
}

/* The caller ends the call. */
static dt_status run_named(dt_ctx *ctx, const char *name, int n, const dt_op_argument *arguments, dt__arena *arena,
                           dt__call *call) {
    numbered from = {.n_tensors = 0};
    dt__bound_args *bound = DT__NEW(arena, dt__bound_args);
    dt__call_init(call, ctx, 0, NULL);
    if (!bound)
        return DT_ERR_MEMORY;
    DT__TRY(number_arguments(ctx, name, n, arguments, arena, &from));
    DT__TRY(dt__library_ops_open(ctx));
    call->info = dt__op_find(ctx, name);
    if (!call->info)
        return dt_error_status(ctx);
    if (ctx->call.name == name) /* the caller's, for tensors that outlive this call */
        ctx->call.name = call->info->schema.name;
    DT__TRY(dt__schema_bind(arena, &call->info->schema, n, from.arguments, bound));
    call->overload = bound->overload;
    call->args = bound->args;
    DT__TRY(dt__call_reserve(call, bound->n_inputs));
    call->n_inputs = bound->n_inputs;
    for (int i = 0; i < bound->n_inputs; i++)
        call->inputs[i] = from.tensors[bound->inputs[i]];
    return dt__dispatch(ctx, call);
}

dt_status dt_op_run(dt_ctx *ctx, const char *name, int n_arguments, const dt_op_argument *arguments,
                    const dt_site *site, dt_tensor **outputs, int capacity, int *n_outputs) {
    *n_outputs = 0;
    if (!ctx)
        return DT_ERR_VALUE;
    DT__ENTER(ctx, name ? name : "op_run", site);
    DT__TRY(DT__REFUSAL());
    if (!name)
        return dt__fail(ctx, DT_ERR_VALUE, "op_run: expected the name of an op, got NULL");
    _Alignas(16) char memory[MEMORY_BYTES];
    dt__arena arena = dt__arena_on(ctx, memory, sizeof memory);
    dt__call call;
    dt_status status = run_named(ctx, name, n_arguments, arguments, &arena, &call);
    *n_outputs = status == DT_OK ? call.n_outputs : 0;
    for (int i = 0; i < *n_outputs && i < capacity; i++)
        outputs[i] = call.outputs[i];
    dt__call_end(&call);
    dt__arena_free(&arena);
    return status;
}

dt_tensor *dt_op_run_tensors(dt_ctx *ctx, const char *name, int n, dt_tensor *const *tensors, const dt_site *site) {
    dt_op_argument arguments[DT__MAX_ARGS] = {{0}};
    if (!ctx)
        return NULL;
    DT__ENTER(ctx, name ? name : "call", site);
    if (DT__REFUSAL() != DT_OK)
        return NULL;
    if (!name)
        return (void)dt__fail(ctx, DT_ERR_VALUE, "call: expected the name of an op, got NULL"), NULL;
    if (n < 0 || n > DT__MAX_ARGS)
        return (void)dt__fail(ctx, DT_ERR_VALUE, "too many tensors: expected at most %d, got %d", DT__MAX_ARGS, n),
               NULL;
    for (int i = 0; i < n; i++) {
        if (!tensors[i])
            return dt__null_argument(ctx, name, i + 1);
        arguments[i].tensor = tensors[i];
    }
    _Alignas(16) char memory[MEMORY_BYTES];
    dt__arena arena = dt__arena_on(ctx, memory, sizeof memory);
    dt__call call;
    dt_status status = run_named(ctx, name, n, arguments, &arena, &call);
    int n_outputs = status == DT_OK ? call.n_outputs : 0;
    dt_tensor *first = n_outputs > 0 ? call.outputs[0] : NULL;
    for (int i = 1; i < n_outputs; i++)
        dt_drop(call.outputs[i]);
    dt__call_end(&call);
    dt__arena_free(&arena);
    return first;
}
