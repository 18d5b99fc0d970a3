/* SPDX-License-Identifier: Apache-2.0
 *
 * Stride orders: the dims from the slowest to the fastest in memory. A tensor of a spec is dense, so that its strides
 * follow from order and shape; dims of size 0 count as 1.
 */
#ifndef DT_SPEC_STRIDE_ORDER_H
#define DT_SPEC_STRIDE_ORDER_H

#include <stdbool.h>
#include <stdint.h>

/* 0, 1, 2 …: the last dim is the fastest. */
void dt__stride_order_row_major(int n, int *out);
/* Whether each of 0 … n - 1 appears once. */
bool dt__is_stride_order(int n, const int *order);
/* Whether a dim has a larger stride than one before it. Strides of 0, of expanded dims, do not count. */
bool dt__is_permuted(int n, const int64_t *strides);
/* Dims by descending stride; where strides are equal, those of size 1 last, as in a dense tensor. */
void dt__stride_order_of(int n, const int64_t *shape, const int64_t *strides, int *out);
/* Strides, in elements, of a dense tensor; false where one is above 2^63 - 1. */
bool dt__dense_strides(int n, const int64_t *shape, const int *order, int64_t *out);

#endif
