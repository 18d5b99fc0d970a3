/* SPDX-License-Identifier: Apache-2.0
 *
 * What kernels of several ops share: local tensors as arrays, numbers as arrays, elementwise loops.
 */
#ifndef DT_OPS_KERNEL_SUPPORT_H
#define DT_OPS_KERNEL_SUPPORT_H

#include "kernels/kernels.h"
#include "ops/shape_inference.h"
#include "tensor/tensor.h"

static inline dt__array dt__array_of(const dt_op_value *value) {
    return (dt__array){value->data, value->dtype, value->n_dims, value->shape, value->strides};
}

/* A number as an array without dims, whose element is in `storage`. */
typedef struct dt__constant {
    double element[2];
} dt__constant;
dt__array dt__array_of_number(const dt_arg *arg, dt_dtype dtype, dt__constant *storage);
/* Converts, but integers saturate instead of wrapping around. */
dt__array dt__array_of_bound(const dt_arg *arg, dt_dtype dtype, dt__constant *storage);
/* Argument i: an input, or a number of this dtype. */
dt__array dt__array_of_arg(const dt_op_call *call, int i, dt_dtype dtype, dt__constant *storage);
/* Whether the dtype of the result keeps the order of these inputs: it may be too narrow for an integer without dims. */
bool dt__keeps_order_of(const dt_op_call *call, uint64_t inputs);
/* An integer without dims, converted to an integer dtype (it wraps around if it is out of range); any other array
 * unchanged.
 */
dt__array dt__array_wrapped(const dt_op_call *call, const dt__array *array, dt_dtype dtype, dt__constant *storage);
/* A number as the parameter of loops that compute in a dtype. */
dt__number dt__number_of(const dt_arg *arg, dt_dtype dtype);

/* out = op(ins…), computed in dtype. */
dt_status dt__run_elements(const dt_op_call *call, dt__element_op op, dt_dtype dtype, const dt__array *out,
                           const dt__array *a, const dt__array *b, const dt__array *c);
/* out = src, converted and broadcast. */
void dt__run_convert(const dt_op_call *call, const dt__array *out, const dt__array *src);
/* out = the conjugate of src, of the same dtype, broadcast; of real numbers a copy. */
dt_status dt__run_conjugate(const dt_op_call *call, const dt__array *out, const dt__array *src);
/* Fills the call's first output, which must be dense, with one element of its dtype. */
void dt__run_fill(const dt_op_call *call, const void *element);

/* A temporary dense array, in the rank's heap; ordinary memory where kernels are simulated without one. */
typedef struct dt__scratch {
    dt__array array;
    size_t bytes;
    int64_t strides[DT_SPEC_MAX_DIMS];
} dt__scratch;
dt_status dt__scratch_new(const dt_op_call *call, dt_dtype dtype, int n_dims, const int64_t *shape, dt__scratch *out);
void dt__scratch_free(const dt_op_call *call, dt__scratch *scratch);

/* memory_order.c: outputs keep the strides of the inputs of an elementwise op (dt_op.order); or they are channels-last
 * if an input is, or if all are. */
bool dt__order_of_elements(const dt_op_call *call, int output, int *order);
bool dt__order_of_images(const dt_op_call *call, int output, int *order);
bool dt__order_of_all_images(const dt_op_call *call, int output, int *order);

/* The verdict that an index is out of range, of 0 to limit - 1. */
dt_status dt__bad_index(const dt_op_call *call, int64_t index, int64_t limit);

/* For kernels of views: an input as a view that can be changed, and a view as an output. */
dt__view dt__view_of_value(const dt_op_call *call, const dt_op_value *value);
dt_status dt__set_view(dt_op_call *call, int output, const dt__view *view);
/* The strides of an output, to be written by the kernel of a view; before, they are those of a dense tensor. */
static inline int64_t *dt__view_strides(const dt_op_call *call, int output) {
    return (int64_t *)call->outputs[output].strides; /* memory of the dispatcher */
}

#endif
