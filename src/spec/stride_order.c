/* SPDX-License-Identifier: Apache-2.0
 *
 * Stride orders and dense strides.
 */
#include "spec/stride_order.h"

#include "base/size.h"

void dt__stride_order_row_major(int n, int *out) {
    for (int d = 0; d < n; d++)
        out[d] = d;
}

bool dt__is_stride_order(int n, const int *order) {
    uint64_t found = 0;
    for (int i = 0; i < n; i++) {
        if (order[i] < 0 || order[i] >= n || found >> order[i] & 1)
            return false;
        found |= UINT64_C(1) << order[i];
    }
    return true;
}

bool dt__is_permuted(int n, const int64_t *strides) {
    int64_t least = INT64_MAX;
    for (int d = 0; d < n; d++) {
        if (strides[d] > least)
            return true;
        least = strides[d] ? strides[d] : least;
    }
    return false;
}

/* Whether dim b belongs before dim a, which is lower. */
static bool is_slower(const int64_t *shape, const int64_t *strides, int a, int b) {
    return strides[a] != strides[b] ? strides[a] < strides[b] : shape[a] == 1 && shape[b] > 1;
}

void dt__stride_order_of(int n, const int64_t *shape, const int64_t *strides, int *out) {
    for (int d = 0; d < n; d++) {
        int at = d;
        for (; at > 0 && is_slower(shape, strides, out[at - 1], d); at--)
            out[at] = out[at - 1];
        out[at] = d;
    }
}

bool dt__dense_strides(int n, const int64_t *shape, const int *order, int64_t *out) {
    int64_t stride = 1;
    for (int i = n - 1; i >= 0; i--) {
        out[order[i]] = stride;
        if (i > 0 && !dt__mul_i64(stride, dt__max_i64(shape[order[i]], 1), &stride))
            return false;
    }
    return true;
}
