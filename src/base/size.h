/* SPDX-License-Identifier: Apache-2.0
 *
 * Checked arithmetic on sizes, for all sizes that come from outside the library. False if the result overflows; *out
 * is then unchanged.
 */
#ifndef DT_BASE_SIZE_H
#define DT_BASE_SIZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline bool dt__add_size(size_t a, size_t b, size_t *out) {
    size_t sum;
    return !__builtin_add_overflow(a, b, &sum) && ((*out = sum), true);
}

static inline bool dt__mul_size(size_t a, size_t b, size_t *out) {
    size_t product;
    return !__builtin_mul_overflow(a, b, &product) && ((*out = product), true);
}

static inline bool dt__add_i64(int64_t a, int64_t b, int64_t *out) {
    int64_t sum;
    return !__builtin_add_overflow(a, b, &sum) && ((*out = sum), true);
}

static inline bool dt__mul_i64(int64_t a, int64_t b, int64_t *out) {
    int64_t product;
    return !__builtin_mul_overflow(a, b, &product) && ((*out = product), true);
}

/* Smallest q with q * step >= n, for n >= 0 and step > 0. */
static inline int64_t dt__ceil_div(int64_t n, int64_t step) { return n / step + (n % step != 0); }

static inline int64_t dt__min_i64(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t dt__max_i64(int64_t a, int64_t b) { return a > b ? a : b; }

#endif
