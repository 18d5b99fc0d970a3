/* SPDX-License-Identifier: Apache-2.0
 *
 * Arrays, numbers and loops for the kernels of ops.
 */
#include "ops/kernel_support.h"

#include "comm/comm.h"
#include "dtensor/comm.h"

#include <inttypes.h>
#include <string.h>

static void real_and_imaginary(const dt_arg *arg, double out[2]) {
    out[0] = arg->type == DT_ARG_COMPLEX ? arg->as.c[0] : dt__arg_number(arg);
    out[1] = arg->type == DT_ARG_COMPLEX ? arg->as.c[1] : 0;
}

dt__array dt__array_of_number(const dt_arg *arg, dt_dtype dtype, dt__constant *storage) {
    dt_arg wrapped = *arg;
    if (arg->type == DT_ARG_INT && dt__is_integral(dtype))
        wrapped.as.i = dt__wrap_integer(dtype, arg->as.i);
    return dt__array_of_bound(&wrapped, dtype, storage);
}

dt__array dt__array_of_bound(const dt_arg *arg, dt_dtype dtype, dt__constant *storage) {
    double number[2];
    real_and_imaginary(arg, number);
    if (arg->type == DT_ARG_INT && dtype == DT_I64)
        dt__write_i64(dtype, arg->as.i, storage);
    else if (dt__is_complex(dtype))
        dt__element_write(dtype, (dt__element){.re = number[0], .im = number[1]}, storage);
    else
        dt__write_f64(dtype, number[0], storage);
    return (dt__array){storage, dtype, 0, NULL, NULL};
}

dt__array dt__array_of_arg(const dt_op_call *call, int i, dt_dtype dtype, dt__constant *storage) {
    const dt_arg *arg = &call->args[i];
    return arg->type == DT_ARG_TENSOR ? dt__array_of(&call->inputs[arg->as.first])
                                      : dt__array_of_number(arg, dtype, storage);
}

bool dt__keeps_order_of(const dt_op_call *call, uint64_t inputs) {
    for (int i = 0; i < call->n_inputs; i++)
        if (inputs >> i & 1 && !dt__keeps_order(call->inputs[i].dtype, call->outputs[0].dtype))
            return false;
    return true;
}

dt__array dt__array_wrapped(const dt_op_call *call, const dt__array *array, dt_dtype dtype, dt__constant *storage) {
    if (array->n_dims > 0 || array->dtype == dtype || !dt__is_integral(array->dtype) || !dt__is_integral(dtype))
        return *array;
    dt__array wrapped = {storage, dtype, 0, NULL, NULL};
    dt__run_convert(call, &wrapped, array);
    return wrapped;
}

dt__number dt__number_of(const dt_arg *arg, dt_dtype dtype) {
    dt__number number;
    double parts[2];
    real_and_imaginary(arg, parts);
    if (dt__is_integral(dtype))
        number.i = arg->type == DT_ARG_INT ? arg->as.i : (int64_t)parts[0];
    else {
        number.f.re = parts[0];
        number.f.im = parts[1];
    }
    return number;
}

static dt_status run(const dt_op_call *call, const dt__elementwise *what) {
    if (!dt__op_computes(what->op, what->dtype))
        return dt_op_refuse(call, DT_ERR_DTYPE, "no kernel for dtype %s", dt_dtype_name(what->dtype));
    dt__elementwise_run(dt__kernels_of(call->ctx), dt__pool_of(call->ctx), what);
    return DT_OK;
}

dt_status dt__run_elements(const dt_op_call *call, dt__element_op op, dt_dtype dtype, const dt__array *out,
                           const dt__array *a, const dt__array *b, const dt__array *c) {
    return run(call, &(dt__elementwise){.op = op, .dtype = dtype, .out = out, .ins = {a, b, c}});
}

void dt__run_convert(const dt_op_call *call, const dt__array *out, const dt__array *src) {
    dt__convert(dt__kernels_of(call->ctx), dt__pool_of(call->ctx), out, src);
}

/* The imaginary parts are real elements of another array, two of them apart. */
dt_status dt__run_conjugate(const dt_op_call *call, const dt__array *out, const dt__array *src) {
    int64_t strides[DT_SPEC_MAX_DIMS];
    const dt_dtype dtype = out->dtype == DT_C64 ? DT_F32 : DT_F64;
    dt__run_convert(call, out, src);
    if (!dt__is_complex(out->dtype))
        return DT_OK;
    for (int d = 0; d < out->n_dims; d++)
        strides[d] = 2 * out->strides[d];
    const dt__array parts = {(unsigned char *)out->data + dt_dtype_size(dtype), dtype, out->n_dims, out->shape,
                             strides};
    return dt__run_elements(call, DT__EL_NEG, dtype, &parts, &parts, NULL, NULL);
}

void dt__run_fill(const dt_op_call *call, const void *element) {
    const dt_op_value *out = &call->outputs[0];
    if (out->data)
        dt__spread_fill(dt__kernels_of(call->ctx), dt__pool_of(call->ctx), out->data, element,
                        dt_dtype_size(out->dtype), dt__elements(out->n_dims, out->shape));
}

dt_status dt__scratch_new(const dt_op_call *call, dt_dtype dtype, int n_dims, const int64_t *shape,
                          dt__scratch *out) {
    int64_t elements;
    DT__TRY(dt__shape_check(call->ctx, call->name, dtype, n_dims, shape, &elements));
    out->bytes = (size_t)elements * dt_dtype_size(dtype);
    size_t bytes = out->bytes ? out->bytes : 1;
    bool has_heap = dt__transport_has_data(call->ctx);
    void *memory = has_heap ? dt_heap_alloc(call->ctx, bytes) : dt__alloc(call->ctx, bytes);
    if (!memory)
        return has_heap ? dt_error_status(call->ctx) : dt__fail_memory(call->ctx, bytes, call->name);
    dt__row_strides(n_dims, shape, out->strides);
    out->array = (dt__array){memory, dtype, n_dims, shape, out->strides};
    return DT_OK;
}

void dt__scratch_free(const dt_op_call *call, dt__scratch *scratch) {
    if (dt__transport_has_data(call->ctx))
        (void)dt_heap_free(call->ctx, scratch->array.data);
    else
        dt__free(call->ctx, scratch->array.data, scratch->bytes ? scratch->bytes : 1);
}

dt_status dt__bad_index(const dt_op_call *call, int64_t index, int64_t limit) {
    return dt_op_verdict(call, DT_ERR_VALUE, "index %" PRId64 " is out of range: expected 0 to %" PRId64, index,
                         limit - 1);
}

dt__view dt__view_of_value(const dt_op_call *call, const dt_op_value *value) {
    dt__view view; /* dims after the last one are never read */
    view.ctx = call->ctx;
    view.dtype = value->dtype;
    view.n_dims = value->n_dims;
    view.offset = 0;
    for (int d = 0; d < value->n_dims; d++) {
        view.shape[d] = value->shape[d];
        view.strides[d] = value->strides[d];
    }
    return view;
}

dt_status dt__set_view(dt_op_call *call, int output, const dt__view *view) {
    dt_op_value *value = &call->outputs[output];
    int64_t *strides = dt__view_strides(call, output);
    if (view->n_dims != value->n_dims)
        return dt_op_refuse(call, DT_ERR_INTERNAL, "view: expected %d dims, got %d", value->n_dims, view->n_dims);
    memcpy(strides, view->strides, (size_t)view->n_dims * sizeof *strides);
    const unsigned char *first = call->inputs[0].data;
    value->data = (void *)(first + view->offset * (int64_t)dt_dtype_size(value->dtype));
    return DT_OK;
}
