/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads an argument of a call from values (dt_op.read), before the call is decided. The call then continues with the
 * number in place of what was read, so that its key, its record and its shapes depend on the number like on any other.
 * It is in the history of its mesh twice: as the program made it, before anything is sent, and with the number, so that
 * ranks that read different values from replicas get an error.
 */
#include "base/dtype.h"
#include "comm/comm.h"
#include "dispatch/dispatch_state.h"
#include "mesh/mesh.h"
#include "move/move.h"

#include <inttypes.h>
#include <limits.h>
#include <string.h>

/* Refuses an argument that cannot be read, on all ranks of the mesh alike and before any of it is read. */
static dt_status check_tensor(const dt__call *call, const dt_tensor *tensor) {
    char text[512];
    if (tensor->spec && !dt_mesh_coordinate(tensor->spec->mesh, (int64_t[DT_MESH_MAX_DIMS]){0}))
        return dt_op_refuse(&call->op_call, DT_ERR_MESH,
                            "%s is read from values, which ranks outside the mesh do not have: expected a number",
                            call->info->op->read->argument);
    if (dt__is_integer(tensor->dtype) && tensor->n_dims <= 1 && dt_tensor_elements(tensor) <= INT_MAX)
        return DT_OK;
    (void)dt_tensor_text(tensor, sizeof text, text);
    return dt_op_refuse(&call->op_call, DT_ERR_VALUE, "%s: expected an integer tensor with at most one dim, got %s",
                        call->info->op->read->argument, text);
}

/* The full tensor on every rank of the mesh; NULL with the error recorded. The program requested the move to its use
 * placement; the policy applies to the rest. */
static dt_tensor *full_tensor(dt_ctx *ctx, const dt__call *call, dt_tensor *tensor) {
    dt_spec *from = tensor->use ? tensor->use : tensor->spec;
    dt_spec *replicate = from ? dt__spec_with(from, from->mesh, NULL) : NULL;
    bool fails = from && (!replicate || dt__policy_check_read(ctx, call, from, replicate) != DT_OK);
    dt_spec_release(replicate);
    return fails ? NULL : dt__full_tensor(tensor);
}

/* Its elements: an int, or a list. */
static dt_status read_integers(dt__arena *arena, const dt_tensor *full, dt_arg *out) {
    int n = (int)dt_tensor_elements(full);
    int64_t step = full->n_dims ? full->strides[0] * (int64_t)dt_dtype_size(full->dtype) : 0;
    int64_t *values = DT__NEW_ARRAY(arena, int64_t, n);
    if (!values)
        return DT_ERR_MEMORY;
    for (int i = 0; i < n; i++)
        values[i] = dt__read_i64(full->dtype, (const unsigned char *)full->data + i * step);
    *out = full->n_dims ? (dt_arg){.type = DT_ARG_INTS, .n = n, .as.ints = values}
                        : (dt_arg){.type = DT_ARG_INT, .as.i = values[0]};
    return DT_OK;
}

static dt_status read_value(dt_ctx *ctx, dt__arena *arena, const dt__call *call, int position, dt_arg *out) {
    const dt_read *read = call->info->op->read;
    const dt_arg *arg = &call->args[position];
    dt_tensor *tensor = read->values                 ? read->values(&call->op_call, call->inputs)
                        : arg->type == DT_ARG_TENSOR ? call->inputs[arg->as.first]
                                                     : NULL;
    tensor = DT__LIVE_ARGUMENT(DT__KIND_TENSOR, tensor, 0);
    if (!tensor)
        return dt_failed(ctx) ? dt_error_status(ctx)
                              : dt_op_refuse(&call->op_call, DT_ERR_VALUE, "%s: there is no tensor to read it from",
                                             read->argument);
    DT__TRY(check_tensor(call, tensor));
    const dt_tensor *full = full_tensor(ctx, call, tensor);
    if (!full)
        return dt_error_status(ctx);
    if (dt__is_idle(ctx, full->data))
        return dt__refuse_unread(&call->op_call);
    DT__TRY(read_integers(arena, full, out));
    return read->convert ? read->convert(&call->op_call, out) : DT_OK;
}

/* Reads the argument in a scope of its own, not recorded. Its transfers count as the op's. */
static dt_status read_apart(dt_ctx *ctx, dt__arena *arena, const dt__call *call, int position, dt_arg *out) {
    const struct dt__recorder *recorder = ctx->recorder;
    const char *outer = ctx->observer ? ctx->observer->op : NULL;
    dt_scope scope = dt_scope_begin(ctx);
    if (!scope.number)
        return dt_error_status(ctx);
    ctx->recorder = NULL;
    if (ctx->observer && !outer)
        ctx->observer->op = call->info->schema.name;
    dt_status status = read_value(ctx, arena, call, position, out);
    if (ctx->observer)
        ctx->observer->op = outer;
    ctx->recorder = recorder;
    dt_scope_end(scope);
    return status;
}

/* The call as if it had been made with a value in this position: positional arguments, and named ones after the *. */
static dt_status bind_value(dt__arena *arena, const dt__call *call, int position, const dt_arg *value,
                            dt__bound_args *out) {
    const dt__signature *signature = &call->info->schema.signatures[call->overload];
    dt__argument arguments[DT__MAX_ARGS];
    for (int p = 0; p < signature->n_params; p++) {
        const dt_arg *arg = p == position ? value : &call->args[p];
        int64_t *members = arg->type == DT_ARG_TENSORS ? DT__NEW_ARRAY(arena, int64_t, arg->n) : NULL;
        if (arg->type == DT_ARG_TENSORS && !members)
            return DT_ERR_MEMORY;
        for (int i = 0; members && i < arg->n; i++)
            members[i] = dt_arg_member(arg, i);
        const char *name = signature->params[p].keyword_only ? signature->params[p].name : NULL;
        arguments[p] = (dt__argument){.name = name, .value = *arg, .tensors = members};
    }
    return dt__schema_bind(arena, &call->info->schema, signature->n_params, arguments, out);
}

/* Reads the argument, and binds the call with its value. The tensors of the new call are those of the old one, by
 * index; everything is in the arena. */
static dt_status read_argument(dt__arena *arena, dt__call *call, int position, dt__bound_args *out) {
    dt_ctx *ctx = call->ctx;
    dt_mesh *mesh;
    dt_arg value;
    dt__op_call_init(&call->op_call, ctx, call->info, call->overload, call->args, call->n_inputs, call->values);
    dt__call_set_global_inputs(call);
    DT__TRY(dt__note_undecided_call(ctx, call));
    DT__TRY(dt__call_find_mesh(ctx, call, &mesh));
    if (ctx->is_dry || !dt__has_data(ctx))
        return dt__refuse_unread(&call->op_call);
    DT__TRY(read_apart(ctx, arena, call, position, &value));
    return bind_value(arena, call, position, &value, out);
}

dt_status dt__dispatch_read(dt_ctx *ctx, dt__call *call, int position) {
    dt__arena arena = dt__arena_new(ctx);
    dt__bound_args bound;
    dt__call with_value;
    dt__call_init(&with_value, ctx, 0, bound.args);
    dt_status status = read_argument(&arena, call, position, &bound);
    if (status == DT_OK)
        status = dt__call_reserve(&with_value, bound.n_inputs);
    if (status == DT_OK) {
        with_value.info = call->info;
        with_value.overload = bound.overload;
        with_value.n_inputs = bound.n_inputs;
        for (int i = 0; i < bound.n_inputs; i++)
            with_value.inputs[i] = call->inputs[bound.inputs[i]];
        status = dt__dispatch(ctx, &with_value);
    }
    if (status == DT_OK && (status = dt__call_reserve_outputs(call, with_value.n_outputs)) == DT_OK) {
        call->n_outputs = with_value.n_outputs;
        memcpy(call->outputs, with_value.outputs, (size_t)call->n_outputs * sizeof *call->outputs);
    }
    dt__call_end(&with_value);
    dt__arena_free(&arena);
    return status;
}
