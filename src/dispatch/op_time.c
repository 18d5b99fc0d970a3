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

static double touch_us(const dt__machine *machine, double bytes) {
    return bytes > 0 ? bytes / dt__op_rate_at(machine, DT__RATE_TOUCH, DT_F32, bytes) : 0;
}

double dt__op_time_us(const dt_op_call *call) {
    const dt__machine *machine = call->ctx->machine;
    if (machine->n_op_rates == 0 || call->op->flags & DT_OP_VIEW)
        return 0;
    dt_dtype dtype = call->n_inputs ? call->inputs[0].dtype : call->n_outputs ? call->outputs[0].dtype : DT_F32;
    dt__op_work work = dt__op_work_of(call);
    double size = work.flops > 0 ? work.flops : work.bytes;
    double own_rate = size > 0 ? dt__named_rate_at(machine, call->name, dtype, size) : 0;
    if (own_rate > 0)
        return machine->op_start_us + size / own_rate;
    double multiplied =
        work.flops > 0 ? work.flops / dt__op_rate_at(machine, DT__RATE_MULTIPLY, dtype, work.flops) : 0;
    return machine->op_start_us + fmax(multiplied, touch_us(machine, work.bytes));
}

double dt__copy_time_us(const dt_tensor *copy) {
    const dt_ctx *ctx = copy->ctx;
    double bytes =
        2.0 * (double)dt__elements(copy->local_n_dims, copy->local_shape) * (double)dt_dtype_size(copy->dtype);
    return ctx->machine->n_op_rates ? touch_us(ctx->machine, bytes) : 0;
}
