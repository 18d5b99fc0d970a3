/* SPDX-License-Identifier: Apache-2.0
 *
 * What ops that compare elements along a dim share: the lines of a tensor along that dim, and keys that order elements
 * of any real dtype.
 */
#ifndef DT_OPS_ORDER_LINES_H
#define DT_OPS_ORDER_LINES_H

#include "ops/kernel_support.h"

/* A tensor along one of its dims; one without dims is a vector of one element. */
typedef struct dt__along {
    int dim;
    int64_t shape[DT_SPEC_MAX_DIMS], strides[DT_SPEC_MAX_DIMS];
    dt__array array;
} dt__along;

void dt__line_along(const dt_op_value *value, int dim, dt__along *out);
/* An output, with the dim as one of size 1 whether it is kept or not. */
void dt__line_reduced(const dt_op_value *value, const dt__along *input, dt__along *out);
/* Where line number `line`, of the positions in all other dims, begins. */
int64_t dt__line_offset(const dt__along *tensor, int64_t line);

/* An element as an integer of the same order. NaN is the largest; -0 equals 0. */
int64_t dt__order_key(dt_dtype dtype, const void *element);

#endif
