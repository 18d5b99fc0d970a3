/* SPDX-License-Identifier: Apache-2.0
 *
 * The time of a kernel in an estimate, by the machine model. An op with rates of its own takes its flops or bytes at
 * those. Others take the longer of computing and memory access. Computing is the number of flops at the rate of
 * products of that size and dtype; the number is twice the product of the local sizes of all factors of a rule that
 * contracts some (`...m?k, ...kn? -> ...m?n?`), or what the descriptor states. Memory access is the number of bytes
 * read and written, at the rate of elementwise ops of that size. Every call takes the start-up time, too. Without rates
 * in the model, kernels take no time.
 */
#include "dispatch/dispatch_state.h"

#include "base/dtype.h"

#include <math.h>

/* Bytes of the local tensors that the kernel reads and writes. */
static double touched_bytes(const dt_op_call *call) {
    double bytes = 0;
    for (int i = 0; i < call->n_inputs; i++)
        bytes += (double)dt__elements(call->inputs[i].n_dims, call->inputs[i].shape) *
                 (double)dt_dtype_size(call->inputs[i].dtype);
    for (int i = 0; i < call->n_outputs; i++)
        bytes += (double)dt__elements(call->outputs[i].n_dims, call->outputs[i].shape) *
                 (double)dt_dtype_size(call->outputs[i].dtype);
    return bytes;
}

static double flops_of(const dt_op_call *call) {
    if (call->op->flops)
        return call->op->flops(call);
    return call->op->rule ? dt__factors_flops(call, call->op->rule) : 0;
}

dt__op_work dt__op_work_of(const dt_op_call *call) { return (dt__op_work){flops_of(call), touched_bytes(call)}; }

/* The items of a list pass through the caches one after the other, so each is as fast as a call on all of them. */
static double n_together(const dt_ctx *ctx) {
    return ctx->estimate && ctx->estimate->n_items ? ctx->estimate->n_items : 1;
}

static double touch_us(const dt_ctx *ctx, double bytes) {
    return bytes > 0 ? bytes / dt__op_rate_at(ctx->machine, DT__RATE_TOUCH, DT_F32, bytes * n_together(ctx)) : 0;
}

/* Not call->name, which for an item of a list is that of the list. */
static const char *op_name(const dt_op_call *call) {
    const dt__op_info *info = call->info;
    return dt__op_at(call->ctx, info->index)->schema.name;
}

/* The rate of an op that has lines of its own; 0 if it has none. */
static double own_rate(const dt_ctx *ctx, const char *name, dt_dtype dtype, double size) {
    return size > 0 ? dt__named_rate_at(ctx->machine, name, dtype, size * n_together(ctx)) : 0;
}

double dt__op_time_us(const dt_op_call *call) {
    const dt__machine *machine = call->ctx->machine;
    if (machine->n_op_rates == 0 || call->op->flags & DT_OP_VIEW)
        return 0;
    dt_dtype dtype = call->n_inputs ? call->inputs[0].dtype : call->n_outputs ? call->outputs[0].dtype : DT_F32;
    dt__op_work work = dt__op_work_of(call);
    double size = work.flops > 0 ? work.flops : work.bytes;
    double rate = own_rate(call->ctx, op_name(call), dtype, size);
    if (rate > 0)
        return machine->op_start_us + size / rate;
    double multiplied =
        work.flops > 0 ? work.flops / dt__op_rate_at(machine, DT__RATE_MULTIPLY, dtype, work.flops) : 0;
    return machine->op_start_us + fmax(multiplied, touch_us(call->ctx, work.bytes));
}

/* As clone, if that has rates. */
double dt__copy_time_us(const dt_tensor *copy) {
    const dt_ctx *ctx = copy->ctx;
    double bytes =
        2.0 * (double)dt__elements(copy->local_n_dims, copy->local_shape) * (double)dt_dtype_size(copy->dtype);
    double rate = own_rate(ctx, "clone", copy->dtype, bytes);
    if (ctx->machine->n_op_rates == 0)
        return 0;
    return rate > 0 ? bytes / rate : touch_us(ctx, bytes);
}
