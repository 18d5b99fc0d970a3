/* SPDX-License-Identifier: Apache-2.0
 *
 * The public ways to call an op: the functions of dtensor/ops.h, which name it by its index, and calls by name, for
 * ops that a program registered and for other languages. Both build a dt__call and pass it to the dispatcher; a call
 * by name binds its arguments to the schema line each time. What needs ops by name installs those of the library
 * first.
 */
#include "ops/op_functions.h"
#include "ops/ops.h"

dt_status dt__library_ops_open(dt_ctx *ctx) { return dt__ops_open(ctx); }

/* The context of the first tensor that is not NULL. Where all are NULL, an earlier call has recorded its error. */
static dt_ctx *ctx_of(const dt__call *call) {
    for (int i = 0; i < call->n_inputs; i++)
        if (call->inputs[i])
            return dt_tensor_ctx(call->inputs[i]);
    return NULL;
}

void dt__call_add_list(dt_arg *to, dt__call *call, dt_tensors tensors, bool optional) {
    int *members = NULL;
    for (int i = 0; i < tensors.n && !call->ctx; i++)
        call->ctx = tensors.list[i] ? dt_tensor_ctx(tensors.list[i]) : NULL;
    to->type = DT_ARG_TENSORS;
    to->n = tensors.n;
    int n = (call->n_inputs > call->n_members ? call->n_inputs : call->n_members) + tensors.n;
    if (n > call->capacity && (!call->ctx || dt__call_reserve(call, n) != DT_OK)) {
        call->failed = true;
        return;
    }
    if (optional) {
        members = call->members + call->n_members;
        call->n_members += tensors.n;
    }
    to->as.tensors.first = call->n_inputs;
    to->as.tensors.members = NULL;
    for (int i = 0; i < tensors.n; i++) {
        bool none = members && !tensors.list[i];
        if (none)
            to->as.tensors.members = members;
        if (members)
            members[i] = none ? -1 : call->n_inputs;
        if (!none)
            call->inputs[call->n_inputs++] = tensors.list[i];
    }
}

static const char *const op_names[] = {
#define OP_NAME(name) #name,
    DT__OP_LIST(OP_NAME)
#undef OP_NAME
};

static inline __attribute__((always_inline)) dt_status run_indexed(dt__call *call, dt__op_number op,
                                                                   const dt_site *site) {
    dt_ctx *ctx = call->ctx ? call->ctx : ctx_of(call);
    if (!ctx || call->failed)
        return DT_ERR_VALUE;
    call->ctx = ctx;
    DT__ENTER_ON(ctx, op_names[op], site, call->n_inputs ? call : NULL, dt__call_describe);
    DT__TRY(dt__ops_open(ctx));
    call->info = dt__op_at(ctx, (int)op);
    return call->info ? dt__dispatch(ctx, call) : dt_error_status(ctx);
}

dt_tensor *dt__call_run(dt__call *call, dt__op_number op, const dt_site *site) {
    dt_status status = run_indexed(call, op, site);
    dt_tensor *first = status == DT_OK && call->n_outputs > 0 ? call->outputs[0] : NULL;
    dt__call_end(call);
    return first;
}

dt_status dt__call_run_status(dt__call *call, dt__op_number op, const dt_site *site) {
    dt_status status = run_indexed(call, op, site);
    dt__call_end(call);
    return status;
}

void dt__call_run_tuple(dt__call *call, dt__op_number op, const dt_site *site, dt_tensor **outputs, int n) {
    int n_made = run_indexed(call, op, site) == DT_OK ? call->n_outputs : 0;
    for (int i = 0; i < n; i++)
        outputs[i] = i < n_made ? call->outputs[i] : NULL;
    dt__call_end(call);
}

int dt__call_run_list(dt__call *call, dt__op_number op, const dt_site *site, dt_tensor **out, int capacity) {
    int n = run_indexed(call, op, site) == DT_OK ? call->n_outputs : -1;
    for (int i = 0; i < n && i < capacity; i++)
        out[i] = call->outputs[i];
    dt__call_end(call);
    return n;
}

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
    DT__TRY(dt__ops_open(ctx));
    call->info = dt__op_find(ctx, name);
    if (!call->info)
        return dt_error_status(ctx);
    if (ctx->call.name == name) /* the caller's, which what the call makes outlives */
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
    if (!name)
        return dt__fail(ctx, DT_ERR_VALUE, "op_run: expected the name of an op, got NULL");
    dt__arena arena = dt__arena_new(ctx);
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
    dt__arena arena = dt__arena_new(ctx);
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

dt_status dt_op_register_sized(dt_ctx *ctx, const dt_op *op, size_t op_size, const dt_site *site) {
    DT__ENTER(ctx, "op_register", site);
    DT__TRY(dt__ops_open(ctx));
    return dt__op_table_add(ctx, op, op_size);
}

const char *dt_explain_tensors(dt_ctx *ctx, const char *call, int n, dt_tensor *const *tensors, const dt_site *site) {
    DT__ENTER(ctx, "explain", site);
    return ctx && dt__ops_open(ctx) == DT_OK ? dt__explain(ctx, call, n, tensors) : NULL;
}
