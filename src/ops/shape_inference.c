/* SPDX-License-Identifier: Apache-2.0
 *
 * Shapes and dtypes of results, as in PyTorch.
 */
#include "ops/shape_inference.h"

#include "tensor/tensor.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Categories of dtypes, from the lowest: a number promotes a tensor only to a higher one. */
enum category { CATEGORY_BOOL, CATEGORY_INTEGER, CATEGORY_FLOAT, CATEGORY_COMPLEX };

static enum category category_of(dt_dtype dtype) {
    if (dtype == DT_BOOL)
        return CATEGORY_BOOL;
    return dt__is_complex(dtype) ? CATEGORY_COMPLEX : dt__is_float(dtype) ? CATEGORY_FLOAT : CATEGORY_INTEGER;
}

/* The promoted dtype of one priority: tensors with dims, tensors without, numbers. */
typedef struct promotion {
    bool any;
    dt_dtype dtype;
} promotion;

static inline void include_dtype(promotion *into, dt_dtype dtype) {
    into->dtype = into->any && into->dtype != dtype ? dt__promote(into->dtype, dtype) : dtype;
    into->any = true;
}

static promotion combine(promotion higher, promotion lower) {
    if (!higher.any || !lower.any)
        return higher.any ? higher : lower;
    enum category high = category_of(higher.dtype), low = category_of(lower.dtype);
    if (high >= low || (high == CATEGORY_FLOAT && low != CATEGORY_COMPLEX))
        return higher;
    if (high == CATEGORY_FLOAT)
        return (promotion){true, dt__promote_to_complex(higher.dtype)};
    if (high == CATEGORY_BOOL || low >= CATEGORY_FLOAT)
        return (promotion){true, dt__promote(higher.dtype, lower.dtype)};
    return higher;
}

static bool scalar_dtype(const dt_arg *arg, dt_dtype *out) {
    static const struct {
        bool is;
        dt_dtype dtype;
    } by_type[DT_N_ARG_TYPES] = {
        [DT_ARG_INT] = {true, DT_I64},
        [DT_ARG_FLOAT] = {true, DT_F32},
        [DT_ARG_BOOL] = {true, DT_BOOL},
        [DT_ARG_COMPLEX] = {true, DT_C64},
    };
    *out = by_type[arg->type].dtype;
    return by_type[arg->type].is;
}

dt_dtype dt__promote_call(const dt_op_call *call, uint64_t inputs, int n_operands) {
    promotion by_priority[3] = {{0}};
    for (int i = 0; i < call->n_inputs && i < 64; i++)
        if (inputs >> i & 1)
            include_dtype(&by_priority[call->inputs[i].n_dims == 0], call->inputs[i].dtype);
    for (int p = 0; p < n_operands; p++) {
        dt_dtype dtype;
        if (scalar_dtype(&call->args[p], &dtype))
            include_dtype(&by_priority[2], dtype);
    }
    return combine(by_priority[0], combine(by_priority[1], by_priority[2])).dtype;
}

dt_status dt__broadcast(const dt_op_call *call, uint64_t inputs, dt__shape *out) {
    out->n = 0;
    for (int i = 0; i < call->n_inputs && i < 64; i++)
        if (inputs >> i & 1 && call->inputs[i].n_dims > out->n)
            out->n = call->inputs[i].n_dims;
    for (int d = 0; d < out->n; d++)
        out->sizes[d] = 1;
    for (int i = 0; i < call->n_inputs && i < 64; i++) {
        const dt_op_value *input = &call->inputs[i];
        for (int d = 0; d < input->n_dims && inputs >> i & 1; d++) {
            int64_t *size = &out->sizes[out->n - input->n_dims + d];
            if (input->shape[d] != 1 && *size != 1 && *size != input->shape[d])
                return dt_op_refuse(call, DT_ERR_SHAPE,
                                    "the shapes do not broadcast: sizes %" PRId64 " and %" PRId64 " in dim -%d",
                                    *size, input->shape[d], input->n_dims - d);
            *size = *size == 1 ? input->shape[d] : *size;
        }
    }
    return DT_OK;
}

dt_status dt__add_broadcast(dt_op_call *call, dt_dtype dtype) {
    dt__shape shape;
    DT__TRY(dt__broadcast(call, UINT64_MAX, &shape));
    return dt__add_shape(call, dtype, &shape);
}

dt_status dt__add_like(dt_op_call *call, int input, dt_dtype dtype) {
    return dt_op_add_output(call, dtype, call->inputs[input].n_dims, call->inputs[input].shape);
}

dt_status dt__add_made(dt_op_call *call, dt_dtype dtype, int n_dims, const int64_t *shape) {
    int64_t elements;
    DT__TRY(dt__shape_check(call->ctx, call->name, dtype, n_dims, shape, &elements));
    return dt_op_add_output(call, dtype, n_dims, shape);
}

dt_status dt__read_dim(const dt_op_call *call, int64_t arg, int n_dims, int *out) {
    int n = n_dims ? n_dims : 1;
    if (arg < -n || arg >= n)
        return dt_op_refuse(call, DT_ERR_VALUE, "dim: expected %d to %d, got %" PRId64, -n, n - 1, arg);
    *out = dt__wrap_dim(arg, n_dims);
    return DT_OK;
}

static uint32_t all_dims(int n_dims) { return (uint32_t)(((uint64_t)1 << n_dims) - 1); }

/* The dims that an argument names: one, or a list; none means all. */
static int list_dims(const dt_arg *arg, const int64_t **out) {
    bool is_list = arg && arg->type == DT_ARG_INTS, is_one = arg && arg->type == DT_ARG_INT;
    *out = is_list ? arg->as.ints : is_one ? &arg->as.i : NULL;
    return is_list ? arg->n : is_one;
}

dt_status dt__read_dims(const dt_op_call *call, const dt_arg *arg, int n_dims, uint32_t *out) {
    const int64_t *list;
    int n = list_dims(arg, &list);
    *out = n ? 0 : all_dims(n_dims);
    for (int i = 0; i < n; i++) {
        int dim = 0;
        DT__TRY(dt__read_dim(call, list[i], n_dims, &dim));
        if (*out >> dim & 1)
            return dt_op_refuse(call, DT_ERR_VALUE, "dim %d is given twice", dim);
        *out |= (uint32_t)1 << dim;
    }
    *out &= all_dims(n_dims);
    return DT_OK;
}

uint32_t dt__wrap_dims(const dt_arg *arg, int n_dims) {
    const int64_t *list;
    int n = list_dims(arg, &list);
    uint32_t dims = n ? 0 : UINT32_MAX;
    for (int i = 0; i < n; i++)
        dims |= (uint32_t)1 << dt__wrap_dim(list[i], n_dims);
    return dims & all_dims(n_dims);
}

dt_dims dt__list_dims(uint32_t dims, int n_dims, int64_t *list) {
    dt_dims out = {.n = 0, .list = list};
    for (int d = 0; d < n_dims; d++)
        if (dims >> d & 1)
            list[out.n++] = d;
    return out;
}

double dt__arg_number(const dt_arg *arg) {
    if (!arg)
        return 0;
    return arg->type == DT_ARG_INT     ? (double)arg->as.i
           : arg->type == DT_ARG_FLOAT ? arg->as.f
           : arg->type == DT_ARG_BOOL  ? (double)arg->as.b
                                       : 0;
}

int dt__arg_sign(const dt_arg *arg) {
    double number = dt__arg_number(arg);
    return isfinite(number) ? (number > 0) - (number < 0) : 0;
}

bool dt__fits_dtype(const dt_arg *arg, dt_dtype dtype) {
    int64_t min, max;
    if (!dt__is_integer(dtype))
        return true;
    dt__integer_limits(dtype, &min, &max);
    min = dt__is_unsigned(dtype) ? -max : min;
    return arg->type == DT_ARG_INT ? arg->as.i >= min && arg->as.i <= max
                                   : dt__is_within(dt__arg_number(arg), min, max);
}

dt__number_class dt__class_of_number(const dt_arg *arg) {
    double value = dt__arg_number(arg);
    if (arg->type == DT_ARG_TENSOR || arg->type == DT_ARG_COMPLEX)
        return DT__NUMBER_OTHER;
    return value == 0 ? DT__NUMBER_ZERO : value == 1 ? DT__NUMBER_ONE : DT__NUMBER_OTHER;
}

dt_status dt__expect_fit(const dt_op_call *call, const dt_arg *arg, dt_dtype dtype) {
    int64_t min, max;
    if (dt__fits_dtype(arg, dtype))
        return DT_OK;
    dt__integer_limits(dtype, &min, &max);
    return dt_op_refuse(call, DT_ERR_VALUE, "%.17g does not fit %s: expected a number from %" PRId64 " to %" PRId64,
                        dt__arg_number(arg), dt_dtype_name(dtype), min, max);
}

dt_status dt__refuse_complex(const dt_op_call *call) {
    for (int i = 0; i < call->n_inputs; i++)
        if (dt__is_complex(call->inputs[i].dtype))
            return dt_op_refuse(call, DT_ERR_DTYPE, "expected real dtypes, got %s",
                                dt_dtype_name(call->inputs[i].dtype));
    return DT_OK;
}

dt_status dt__expect_floating(const dt_op_call *call, int input) {
    if (dt__is_inexact(call->inputs[input].dtype))
        return DT_OK;
    return dt_op_refuse(call, DT_ERR_DTYPE, "expected a floating-point tensor, got %s",
                        dt_dtype_name(call->inputs[input].dtype));
}

dt_status dt__expect_index(const dt_op_call *call, int input) {
    if (call->inputs[input].dtype == DT_I64 || call->inputs[input].dtype == DT_I32)
        return DT_OK;
    return dt_op_refuse(call, DT_ERR_DTYPE, "expected indices as i64 or i32, got %s",
                        dt_dtype_name(call->inputs[input].dtype));
}

dt_status dt__expect_dims(const dt_op_call *call, int input, int n_dims) {
    if (call->inputs[input].n_dims == n_dims)
        return DT_OK;
    return dt_op_refuse(call, DT_ERR_SHAPE, "tensor %d: expected %d dims, got %d", input + 1, n_dims,
                        call->inputs[input].n_dims);
}
