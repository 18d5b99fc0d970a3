/* SPDX-License-Identifier: Apache-2.0
 *
 * Nested integer tuples (dt_tuple of dtensor/layout.h) in an arena: making, arithmetic, text. They are never changed
 * after they are made, and are copied by assignment.
 *
 * A tuple nests at most DT_TUPLE_MAX_DEPTH deep, which the makers check, so that functions may recurse. Linear order
 * is row-major everywhere: the last item runs fastest.
 */
#ifndef DT_LAYOUT_TUPLE_H
#define DT_LAYOUT_TUPLE_H

#include "base/arena.h"
#include "base/cursor.h"
#include "base/text.h"
#include "dtensor/layout.h"

/* A list of copies of the items; an error when it would nest too deep. items may be NULL for n = 0. */
dt_status dt__tuple_list(dt__arena *arena, const dt_tuple *items, int64_t n, dt_tuple *out);
/* A flat list of integers. */
dt_status dt__tuple_ints(dt__arena *arena, const int64_t *values, int64_t n, dt_tuple *out);
/* A copy whose items are in the arena, too. */
dt_status dt__tuple_copy(dt__arena *arena, const dt_tuple *tuple, dt_tuple *out);

/* The integers from left to right, as a flat list. */
dt_status dt__tuple_flatten(dt__arena *arena, const dt_tuple *tuple, dt_tuple *out);
/* A tuple with the nesting of `form` and other integers, taken from left to right. */
dt_status dt__tuple_like(dt__arena *arena, const dt_tuple *form, const int64_t *values, dt_tuple *out);

/* Product of all integers; of `()` it is 1. */
dt_status dt__tuple_product(dt_ctx *ctx, const dt_tuple *tuple, int64_t *out);
/* Sum of the products of corresponding integers; the two must be congruent. */
dt_status dt__tuple_inner_product(dt_ctx *ctx, const dt_tuple *a, const dt_tuple *b, int64_t *out);
/* Each integer becomes the product of all integers to its right: the row-major strides of a shape. */
dt_status dt__tuple_suffix_product(dt__arena *arena, const dt_tuple *shape, dt_tuple *out);
/* Divides a shape by an integer that is consumed from the left: (3,4)/6 is (1,2). Indivisible is an error. */
dt_status dt__tuple_shape_div(dt__arena *arena, const dt_tuple *shape, int64_t divisor, dt_tuple *out);

void dt__tuple_print(dt__text *text, const dt_tuple *tuple);
/* Parses the tuple at the cursor and moves the cursor past it; after an error, always DT_ERR_VALUE, the cursor is
 * unchanged. The form has no blanks. */
dt_status dt__tuple_parse(dt__arena *arena, dt__cursor *cursor, dt_tuple *out);

#endif
