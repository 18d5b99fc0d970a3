/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows of the last dim are checked without a branch; only one with a bad index is searched for it.
 */
#include "kernels/index_range.h"

#include "kernels/element_types.h"
#include "kernels/walk.h"

#define LOOP(name, type)                                                                                             \
    static bool name(const char *at, int64_t n, int64_t stride, int64_t limit) {                                     \
        bool is_outside = false;                                                                                     \
        if (stride == sizeof(type))                                                                                  \
            for (int64_t i = 0; i < n; i++)                                                                          \
                is_outside |= (uint64_t) * (const type *)(at + i * (int64_t)sizeof(type)) >= (uint64_t)limit;        \
        else                                                                                                         \
            for (int64_t i = 0; i < n; i++)                                                                          \
                is_outside |= (uint64_t) * (const type *)(at + i * stride) >= (uint64_t)limit;                       \
        return is_outside;                                                                                           \
    }
LOOP(any_outside_i64, dt__i64)
LOOP(any_outside_i32, dt__i32)
#undef LOOP

bool dt__check_indexes(const dt__array *index, int64_t limit, int64_t *bad) {
    static const int64_t one = 1;
    const int n_dims = index->n_dims ? index->n_dims : 1;
    const int64_t *shape = index->n_dims ? index->shape : &one, *strides = index->n_dims ? index->strides : &one;
    const int64_t size = (int64_t)dt_dtype_size(index->dtype), n = shape[n_dims - 1],
                  stride = strides[n_dims - 1] * size;
    int64_t position[DT__WALK_DIMS] = {0};
    const char *at = index->data;
    if (dt__array_count(index) == 0)
        return true;
    for (int d = n_dims - 1; d >= 0;) {
        if (index->dtype == DT_I64 ? any_outside_i64(at, n, stride, limit) : any_outside_i32(at, n, stride, limit)) {
            for (int64_t i = 0; *bad = dt__index_at(index, at + i * stride), *bad >= 0 && *bad < limit;)
                i++;
            return false;
        }
        for (d = n_dims - 2; d >= 0; d--) {
            at += strides[d] * size;
            if (++position[d] < shape[d])
                break;
            at -= shape[d] * strides[d] * size;
            position[d] = 0;
        }
    }
    return true;
}
