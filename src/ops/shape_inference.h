/* SPDX-License-Identifier: Apache-2.0
 *
 * What shape functions of several ops share: broadcasting, type promotion, dims and their checks.
 */
#ifndef DT_OPS_SHAPE_INFERENCE_H
#define DT_OPS_SHAPE_INFERENCE_H

#include "base/ctx.h"
#include "base/dtype.h"
#include "base/size.h"
#include "dtensor/op.h"
#include "rules/rules.h"

/* A shape while it is computed. */
typedef struct dt__shape {
    int n;
    int64_t sizes[DT_SPEC_MAX_DIMS];
} dt__shape;

#ifdef __clang_analyzer__ /* as dt__fail */
#define dt_op_refuse(call, status, ...) ((void)(dt_op_refuse)(call, status, __VA_ARGS__), status)
#endif

/* The dtype of an elementwise op on these inputs (by bits) and the Scalars among the first n_operands arguments: first
 * tensors with dims, then those without, then numbers; a later one counts only where its category (bool, integer,
 * float, complex) is higher. */
dt_dtype dt__promote_call(const dt_op_call *call, uint64_t inputs, int n_operands);

/* The shape to which these inputs (by bits) broadcast. */
dt_status dt__broadcast(const dt_op_call *call, uint64_t inputs, dt__shape *out);
/* Adds an output of the broadcast shape of all inputs. */
dt_status dt__add_broadcast(dt_op_call *call, dt_dtype dtype);
/* Adds an output with the shape of an input. */
dt_status dt__add_like(dt_op_call *call, int input, dt_dtype dtype);
static inline dt_status dt__add_shape(dt_op_call *call, dt_dtype dtype, const dt__shape *shape) {
    return dt_op_add_output(call, dtype, shape->n, shape->sizes);
}

/* Adds the output of a maker; refuses what no tensor can be: a negative size, too many dims, an unknown dtype. */
dt_status dt__add_made(dt_op_call *call, dt_dtype dtype, int n_dims, const int64_t *shape);

/* Reads a dim; negative ones count from the end. A tensor without dims counts as one of a single dim of size 1. */
dt_status dt__read_dim(const dt_op_call *call, int64_t arg, int n_dims, int *out);
/* A dim, or a list of dims, as bits; with none, or with an empty list, all dims. */
dt_status dt__read_dims(const dt_op_call *call, const dt_arg *arg, int n_dims, uint32_t *out);
/* The dim of an argument that the shape function has checked. */
static inline int dt__wrap_dim(int64_t arg, int n_dims) { return (int)(arg < 0 ? arg + (n_dims ? n_dims : 1) : arg); }
uint32_t dt__wrap_dims(const dt_arg *arg, int n_dims);
/* The dims whose bits are set, in order; `list` has room for n_dims. */
dt_dims dt__list_dims(uint32_t dims, int n_dims, int64_t *list);

/* A dtype argument, or the default where it is none. */
static inline dt_dtype dt__arg_dtype(const dt_arg *arg, dt_dtype or_default) {
    return arg && arg->type == DT_ARG_DTYPE ? arg->as.dtype : or_default;
}
/* A real number as double; 0 for anything else. */
double dt__arg_number(const dt_arg *arg);
/* -1, 0 or 1; 0 also for infinities and NaN. */
int dt__arg_sign(const dt_arg *arg);

/* Whether a number can become an element of a dtype. Only integer dtypes refuse numbers: those out of range. The
 * fraction is dropped, and negative numbers wrap around in an unsigned dtype. */
bool dt__fits_dtype(const dt_arg *arg, dt_dtype dtype);
/* What rows depend on in a number that becomes elements: 0 on every rank is its own sum, 1 its own product. A tensor is
 * OTHER. */
typedef enum dt__number_class { DT__NUMBER_OTHER, DT__NUMBER_ZERO, DT__NUMBER_ONE } dt__number_class;
dt__number_class dt__class_of_number(const dt_arg *arg);
/* Refuses a number that does not fit the dtype. */
dt_status dt__expect_fit(const dt_op_call *call, const dt_arg *arg, dt_dtype dtype);

/* Refuse (dtype, shape) inputs: complex numbers where an order is needed, integers where floating point is, other
 * dtypes than i64 and i32 of indices, another number of dims. */
dt_status dt__refuse_complex(const dt_op_call *call);
dt_status dt__expect_floating(const dt_op_call *call, int input);
dt_status dt__expect_index(const dt_op_call *call, int input);
dt_status dt__expect_dims(const dt_op_call *call, int input, int n_dims);

#endif
