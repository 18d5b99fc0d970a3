/* SPDX-License-Identifier: Apache-2.0
 *
 * What shape functions and rows of several ops have in common: broadcasting, type promotion, dims and their checks, and
 * rows over dims that an op leaves alone.
 */
#ifndef DT_OPS_SHAPE_INFERENCE_H
#define DT_OPS_SHAPE_INFERENCE_H

#include "base/ctx.h"
#include "base/dtype.h"
#include "base/size.h"
#include "dtensor/op.h"

/* A shape that is being made. */
typedef struct dt__shape {
    int n;
    int64_t sizes[DT_SPEC_MAX_DIMS];
} dt__shape;

#ifdef __clang_analyzer__ /* as dt__fail */
#define dt_op_refuse(call, status, ...) ((void)(dt_op_refuse)(call, status, __VA_ARGS__), status)
#endif

/* The dtype of an elementwise op on these inputs (by bits) and Scalar arguments: tensors with dims decide, then those
 * without, then numbers; a later one counts only where its kind (bool, integer, floating, complex) is higher. */
dt_dtype dt__promote_call(const dt_op_call *call, uint64_t inputs);

/* The shape to which these inputs (by bits) broadcast. */
dt_status dt__broadcast(const dt_op_call *call, uint64_t inputs, dt__shape *out);
/* Adds an output of the broadcast shape of all inputs. */
dt_status dt__add_broadcast(dt_op_call *call, dt_dtype dtype);
/* Adds an output with the shape of an input. */
dt_status dt__add_like(dt_op_call *call, int input, dt_dtype dtype);
static inline dt_status dt__add_shape(dt_op_call *call, dt_dtype dtype, const dt__shape *shape) {
    return dt_op_add_output(call, dtype, shape->n, shape->sizes);
}

/* Reads a dim, negative ones from the end; a tensor without dims has dim 0 as one of size 1. */
dt_status dt__read_dim(const dt_op_call *call, int64_t given, int n_dims, int *out);
/* A list of dims as bits; none or an empty list: all. */
dt_status dt__read_dims(const dt_op_call *call, const dt_arg *given, int n_dims, uint32_t *out);
/* The dim of an argument that a shape function has checked. */
static inline int dt__wrap_dim(int64_t given, int n_dims) {
    return (int)(given < 0 ? given + (n_dims ? n_dims : 1) : given);
}
uint32_t dt__wrap_dims(const dt_arg *given, int n_dims);

/* The argument of this name; it must exist. */
static inline const dt_arg *dt__arg(const dt_op_call *call, const char *name) { return dt_op_arg(call, name); }
/* A dtype argument, or the other where it is none. */
static inline dt_dtype dt__arg_dtype(const dt_arg *arg, dt_dtype otherwise) {
    return arg && arg->type == DT_ARG_DTYPE ? arg->as.dtype : otherwise;
}
/* A number as floating point; 0 for what is not a real number. */
double dt__arg_number(const dt_arg *arg);
/* -1, 0 or 1; 0 for what is not finite, too. */
int dt__arg_sign(const dt_arg *arg);

/* Whether a number can become an element of a dtype: any but integers take all; of an integer's fraction nothing is
 * left. A negative number that wraps around in an unsigned dtype is taken. */
bool dt__fits_dtype(const dt_arg *arg, dt_dtype dtype);
/* What rows look at in a number that becomes elements: it is its own sum where it is 0, its own product where it is 1,
 * and refused where it does not fit. A tensor is some other. */
typedef enum dt__number_class {
    DT__NUMBER_OTHER,
    DT__NUMBER_ZERO,
    DT__NUMBER_ONE,
    DT__NUMBER_UNFIT
} dt__number_class;
dt__number_class dt__class_of_number(const dt_arg *arg, dt_dtype dtype);
/* Refuses a number that does not fit the dtype. */
dt_status dt__expect_fit(const dt_op_call *call, const dt_arg *arg, dt_dtype dtype);

/* Refuses dtypes: complex numbers where an order is needed, whole numbers where a fraction is. */
dt_status dt__refuse_complex(const dt_op_call *call);
dt_status dt__expect_floating(const dt_op_call *call, int input);
dt_status dt__expect_index(const dt_op_call *call, int input);
dt_status dt__expect_dims(const dt_op_call *call, int input, int n_dims);

/* Adds S(d) -> S(map[d]) for each dim of the first input; map[d] < 0: not this one. Other inputs are Replicate; all
 * outputs are alike. */
void dt__rows_map(const dt_op_call *call, dt_rows *rows, const int *map);

#endif
