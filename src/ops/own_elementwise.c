/* SPDX-License-Identifier: Apache-2.0
 *
 * Elementwise ops with user-supplied loops: the shape function and the kernel that they share.
 */
#include "ops/kernel_support.h"

/* The loop for a dtype; NULL: none. */
static dt_loop *loop_of(const dt_loops *loops, dt_dtype dtype) {
    return dtype == DT_F32   ? loops->f32
           : dtype == DT_F64 ? loops->f64
           : dtype == DT_I32 ? loops->i32
           : dtype == DT_I64 ? loops->i64
                             : NULL;
}

/* The dtype to compute in: that of the operands, or one that holds its values; of integers, floating point where there
 * are no loops for integers. DT_N_DTYPES: none. */
static dt_dtype computed_in(const dt_loops *loops, dt_dtype dtype) {
    static const dt_dtype wider[DT_N_DTYPES][3] = {
        [DT_F32] = {DT_F32},
        [DT_F64] = {DT_F64, DT_F64, DT_F64},
        [DT_F16] = {DT_F32},
        [DT_BF16] = {DT_F32},
        [DT_I8] = {DT_I32, DT_I64, DT_F32},
        [DT_I16] = {DT_I32, DT_I64, DT_F32},
        [DT_U8] = {DT_I32, DT_I64, DT_F32},
        [DT_BOOL] = {DT_I32, DT_I64, DT_F32},
        [DT_I32] = {DT_I32, DT_I64, DT_F32},
        [DT_I64] = {DT_I64, DT_F32, DT_F32},
    };
    for (int i = 0; i < 3 && !dt__is_complex(dtype); i++)
        if (loop_of(loops, wider[dtype][i]))
            return wider[dtype][i];
    return DT_N_DTYPES;
}

static int count_returns(const dt_op_call *call) {
    const dt__op_info *info = call->info;
    return info->schema.signatures[call->overload].n_returns;
}

dt_status dt_op_broadcast(dt_op_call *call) {
    const dt_loops *loops = call->op->family;
    dt_dtype dtype = dt__promote_call(call, UINT64_MAX, call->n_args);
    dt__shape shape;
    if (!loops || call->n_inputs == 0)
        return dt_op_refuse(call, DT_ERR_VALUE, "expected an op with loops (dt_op.family) and a tensor");
    dt_dtype computed = computed_in(loops, dtype);
    if (computed == DT_N_DTYPES)
        return dt_op_refuse(call, DT_ERR_DTYPE, "the op has no loop for %s", dt_dtype_name(dtype));
    DT__TRY(dt__broadcast(call, UINT64_MAX, &shape));
    for (int i = 0; i < count_returns(call); i++)
        DT__TRY(dt__add_shape(call, dt__is_integral(dtype) && computed == DT_F32 ? DT_F32 : dtype, &shape));
    return DT_OK;
}

struct bound_loop {
    dt_loop *loop;
    const dt_op_call *call;
};

static void run_loop(int64_t n, const void *const *ins, void *const *outs, const void *arg) {
    const struct bound_loop *self = arg;
    self->loop(n, ins, outs, self->call);
}

dt_status dt_op_elementwise(dt_op_call *call) {
    const dt_loops *loops = call->op->family;
    dt__array arrays[DT__MAX_LOOP_OPERANDS];
    int n = call->n_inputs + call->n_outputs;
    if (!loops || n > DT__MAX_LOOP_OPERANDS || call->n_outputs == 0)
        return dt_op_refuse(call, DT_ERR_UNSUPPORTED, "expected loops (dt_op.family) and at most %d tensors, got %d",
                            DT__MAX_LOOP_OPERANDS, n);
    dt_dtype dtype = computed_in(loops, call->outputs[0].dtype);
    struct bound_loop bound = {dtype == DT_N_DTYPES ? NULL : loop_of(loops, dtype), call};
    if (!bound.loop)
        return dt_op_refuse(call, DT_ERR_DTYPE, "the op has no loop for %s", dt_dtype_name(call->outputs[0].dtype));
    for (int k = 0; k < n; k++)
        arrays[k] = dt__array_of(dt__row_value(call, k));
    dt__loop_operands_run(dt__kernels_of(call->ctx), dt__pool_of(call->ctx),
                          &(dt__loop_operands){dtype, call->n_inputs, n, arrays, run_loop, &bound});
    return DT_OK;
}
