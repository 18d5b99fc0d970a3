/* SPDX-License-Identifier: Apache-2.0
 *
 * For tests of tensors: reading an element by its index, and comparing tensors element by element.
 */
#ifndef DT_TESTS_TENSORS_H
#define DT_TESTS_TENSORS_H

#include "support/ranks.h"

#include "dtensor/dtensor.h"

#include <stdio.h>
#include <string.h>

/* The next index in row-major order; false after the last one. */
static inline bool tensors_next(int n_dims, const int64_t *shape, int64_t *index) {
    for (int d = n_dims - 1; d >= 0; d--) {
        if (++index[d] < shape[d])
            return true;
        index[d] = 0;
    }
    return false;
}

static inline const unsigned char *tensors_at(const dt_tensor *tensor, const int64_t *index) {
    int64_t at = 0;
    for (int d = 0; d < dt_tensor_local_n_dims(tensor); d++)
        at += index[d] * dt_tensor_strides(tensor)[d];
    return (const unsigned char *)dt_data(tensor) + at * (int64_t)dt_dtype_size(dt_tensor_dtype(tensor));
}

static inline bool tensors_same_shape(const dt_tensor *a, const dt_tensor *b) {
    return dt_tensor_local_n_dims(a) == dt_tensor_local_n_dims(b) &&
           memcmp(dt_tensor_local_shape(a), dt_tensor_local_shape(b),
                  (size_t)dt_tensor_local_n_dims(a) * sizeof(int64_t)) == 0;
}

/* Whether two local tensors are equal bit by bit. */
static inline bool tensors_equal(const dt_tensor *a, const dt_tensor *b) {
    int64_t index[DT_SPEC_MAX_DIMS] = {0}, n = dt_tensor_local_elements(a);
    if (!a || !b || dt_tensor_dtype(a) != dt_tensor_dtype(b) || !tensors_same_shape(a, b))
        return false;
    for (int64_t i = 0; i < n; i++, tensors_next(dt_tensor_local_n_dims(a), dt_tensor_local_shape(a), index))
        if (memcmp(tensors_at(a, index), tensors_at(b, index), dt_dtype_size(dt_tensor_dtype(a))) != 0)
            return false;
    return true;
}

/* A shape of n sizes that the caller stores. */
#define TENSORS_SHAPE(n, sizes) ((dt_shape){(n), (sizes)})

#endif
