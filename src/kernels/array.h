/* SPDX-License-Identifier: Apache-2.0
 *
 * The operand of the kernels on whole arrays: raw memory with a shape. Nothing is owned and nothing is checked; the
 * callers (ops) pass valid arguments. Unless stated otherwise, the elements of an output are distinct, and an
 * output either is an input exactly (same memory, same strides, same dtype) or does not overlap it.
 */
#ifndef DT_KERNELS_ARRAY_H
#define DT_KERNELS_ARRAY_H

#include "dtensor/base.h"

/* data is element 0,0,…; strides count elements, have any sign, and are 0 along a dim that repeats one element. data
 * may be unaligned. n_dims is at most 64; 0 is one element. */
typedef struct dt__array {
    void *data;
    dt_dtype dtype;
    int n_dims;
    const int64_t *shape, *strides;
} dt__array;

/* dt_dtype_size without a call or a check. */
static inline size_t dt__dtype_bytes(dt_dtype dtype) {
    static const unsigned char sizes[DT_N_DTYPES] = {
#define DT__DTYPE_BYTES(name, size, word) [DT_##name] = size,
        DT_DTYPE_LIST(DT__DTYPE_BYTES)
#undef DT__DTYPE_BYTES
    };
    return sizes[dtype];
}

static inline int64_t dt__array_count(const dt__array *a) {
    int64_t n = 1;
    for (int d = 0; d < a->n_dims; d++)
        n *= a->shape[d];
    return n;
}

/* Whether the elements are contiguous, the last dim fastest. */
static inline bool dt__array_is_dense(const dt__array *a) {
    int64_t expected = 1;
    for (int d = a->n_dims - 1; d >= 0; d--) {
        if (a->shape[d] != 1 && a->strides[d] != expected)
            return a->shape[d] == 0;
        expected *= a->shape[d];
    }
    return true;
}

#endif
