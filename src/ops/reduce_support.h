/* SPDX-License-Identifier: Apache-2.0
 *
 * What reductions over dims share: the shape of their outputs, and sums of functions of elements without a copy of the
 * tensor. The names `dim` and `keepdim` come first in their `.arguments`.
 */
#ifndef DT_OPS_REDUCE_SUPPORT_H
#define DT_OPS_REDUCE_SUPPORT_H

#include "ops/kernel_support.h"

/* Positions in .arguments. */
enum { DT__REDUCED_DIM, DT__KEEPDIM };

/* Adds an output that lacks these dims of the first input, or has them with size 1 (keepdim). */
dt_status dt__add_reduced(dt_op_call *call, uint32_t dims, dt_dtype dtype);
/* Refuses dims without elements, which have no maximum. */
dt_status dt__expect_elements(const dt_op_call *call, uint32_t dims);

/* A reduced tensor without the dims that are kept as 1. */
typedef struct dt__reduced {
    int64_t shape[DT_SPEC_MAX_DIMS], strides[DT_SPEC_MAX_DIMS];
    dt__array array;
} dt__reduced;
void dt__reduced_of(const dt_op_call *call, const dt_op_value *output, uint32_t dims, dt__reduced *out);

/* out, which lacks the reduced dims, = the fold of op(in), or of op(in, with), computed in dtype. `with` is a number or
 * has the dims of out. A slice of the tensor at a time, so that temporary memory is small. Over no elements: the
 * identity of the fold, a sum, max or min. */
typedef struct dt__mapped_fold {
    dt__fold fold;
    dt__element_op op;
    dt_dtype dtype;
    dt__number numbers[3];
    const dt__array *with; /* (optional) */
} dt__mapped_fold;
dt_status dt__reduce_mapped(const dt_op_call *call, const dt__mapped_fold *mapped, const dt__array *in, uint32_t dims,
                            const dt__array *out);

#endif
