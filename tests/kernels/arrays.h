/* SPDX-License-Identifier: Apache-2.0
 *
 * What the tests of the kernels on arrays share: arrays of random shape and strides in guarded memory, and one element
 * read or written as long double, which holds every real dtype exactly.
 */
#ifndef DT_TESTS_KERNELS_ARRAYS_H
#define DT_TESTS_KERNELS_ARRAYS_H

#include "kernels/kernels.h"
#include "kernels/support.h"

#include <math.h>

enum { MAX_DIMS = 6 };

static const dt_dtype all_dtypes[] = {DT_F32, DT_F64, DT_F16, DT_BF16, DT_I8,  DT_I16,
                                      DT_I32, DT_I64, DT_U8,  DT_BOOL, DT_C64, DT_C128};

static inline bool is_complex(dt_dtype d) { return d == DT_C64 || d == DT_C128; }
static inline bool is_float(dt_dtype d) { return d == DT_F32 || d == DT_F64 || d == DT_F16 || d == DT_BF16; }
static inline bool is_integer(dt_dtype d) { return !is_complex(d) && !is_float(d); }

/* An array that owns its memory; a.data points into it. */
typedef struct test_array {
    dt__array a;
    int64_t shape[MAX_DIMS], strides[MAX_DIMS];
    guarded memory;
} test_array;

typedef enum test_layout { DENSE, STRIDED, BROADCAST } test_layout; /* STRIDED: distinct elements */

/* Elements are random ones of the dtype. The array must not move in memory afterwards. */
static inline void test_array_make(test_array *t, dt_dtype dtype, int n_dims, const int64_t *shape,
                                   test_layout layout, uint64_t *random) {
    int order[MAX_DIMS];
    int64_t n = 1, first = 0;
    for (int d = 0; d < n_dims; d++)
        order[d] = d;
    for (int d = n_dims - 1; d > 0 && layout != DENSE; d--) {
        int other = (int)test_below(random, d + 1), kept = order[d];
        order[d] = order[other];
        order[other] = kept;
    }
    for (int i = n_dims - 1; i >= 0; i--) {
        const int d = order[i];
        const int64_t size = shape[d] ? shape[d] : 1;
        t->shape[d] = shape[d];
        t->strides[d] = n;
        if (layout == BROADCAST && test_below(random, 4) == 0) {
            t->strides[d] = 0;
            continue;
        }
        if (layout != DENSE && test_below(random, 4) == 0)
            t->strides[d] += 1 + test_below(random, 3);
        n += t->strides[d] * (size - 1);
        if (layout != DENSE && test_below(random, 4) == 0) {
            first += t->strides[d] * (size - 1);
            t->strides[d] = -t->strides[d];
        }
    }
    t->memory = guarded_new((size_t)n * dt_dtype_size(dtype), (size_t)test_below(random, 3));
    random_elements(dtype, random, t->memory.data, (size_t)n);
    t->a = (dt__array){t->memory.data + first * (int64_t)dt_dtype_size(dtype), dtype, n_dims, t->shape, t->strides};
}

static inline void test_array_free(test_array *t) {
    assert_true(guarded_is_intact(&t->memory));
    guarded_free(&t->memory);
}

/* A random shape of few elements; zero sizes are rare. */
static inline int random_shape(uint64_t *random, int64_t *shape, int64_t max_elements) {
    int n_dims = (int)test_below(random, 5);
    for (int d = 0; d < n_dims; d++) {
        const int64_t max_size = max_elements < 40 ? max_elements : test_below(random, 6) ? 9 : max_elements;
        shape[d] = test_below(random, 40) == 0 ? 0 : 1 + test_below(random, max_size);
        max_elements /= shape[d] ? shape[d] : 1;
        max_elements = max_elements ? max_elements : 1;
    }
    return n_dims;
}

static inline bool next_index(int n_dims, const int64_t *shape, int64_t *index) {
    for (int d = n_dims - 1; d >= 0; d--) {
        if (++index[d] < shape[d])
            return true;
        index[d] = 0;
    }
    return false;
}

static inline bool is_empty(const dt__array *a) { return dt__array_count(a) == 0; }

/* The address of an element; the index is one of a shape that the array is broadcast to. */
static inline void *element_at(const dt__array *a, int n_dims, const int64_t *index) {
    int64_t at = 0;
    for (int d = 0; d < a->n_dims; d++)
        at += (a->shape[d] == 1 ? 0 : index[n_dims - a->n_dims + d]) * a->strides[d];
    return (char *)a->data + at * (int64_t)dt_dtype_size(a->dtype);
}

static inline long double widen_16(uint16_t h, int fraction_bits, int bias) {
    const int fraction = h & ((1 << fraction_bits) - 1), exponent = (h & 0x7fff) >> fraction_bits;
    const int special = (1 << (15 - fraction_bits)) - 1;
    long double size = exponent == special ? (fraction ? NAN : INFINITY)
                       : exponent == 0     ? ldexpl(fraction, 1 - bias - fraction_bits)
                                           : ldexpl(fraction + (1 << fraction_bits), exponent - bias - fraction_bits);
    return h >> 15 ? -size : size;
}

/* Nearest number of the format, ties to even. */
static inline uint16_t narrow_16(long double x, int fraction_bits, int bias) {
    const int special = (1 << (15 - fraction_bits)) - 1, sign = signbit(x) ? 0x8000 : 0;
    if (isnan(x))
        return (uint16_t)(sign | special << fraction_bits | 1 << (fraction_bits - 1));
    int e = x == 0 || isinf(x) ? 1 - bias : ilogbl(x);
    e = e < 1 - bias ? 1 - bias : e;
    if (isinf(x) || e > special - 1 - bias)
        return (uint16_t)(sign | special << fraction_bits);
    const int scaled = (int)rintl(ldexpl(fabsl(x), fraction_bits - e));
    return (uint16_t)(sign | (((e + bias - 1) << fraction_bits) + scaled));
}

typedef struct wide {
    long double re, im;
} wide;

static inline wide get(dt_dtype dtype, const void *from) {
    union {
        float f[2];
        double d[2];
        int8_t i8;
        int16_t i16;
        uint16_t u16;
        int32_t i32;
        int64_t i64;
        uint8_t u8;
    } v;
    memcpy(&v, from, dt_dtype_size(dtype));
    switch (dtype) {
    case DT_F32:
        return (wide){v.f[0], 0};
    case DT_F64:
        return (wide){v.d[0], 0};
    case DT_F16:
        return (wide){widen_16(v.u16, 10, 15), 0};
    case DT_BF16:
        return (wide){widen_16(v.u16, 7, 127), 0};
    case DT_I8:
        return (wide){v.i8, 0};
    case DT_I16:
        return (wide){v.i16, 0};
    case DT_I32:
        return (wide){v.i32, 0};
    case DT_I64:
        return (wide){v.i64, 0};
    case DT_U8:
        return (wide){v.u8, 0};
    case DT_BOOL:
        return (wide){v.u8 != 0, 0};
    case DT_C64:
        return (wide){v.f[0], v.f[1]};
    case DT_C128:
        return (wide){v.d[0], v.d[1]};
    default:
        return (wide){0, 0};
    }
}

static inline int64_t lowest_of(dt_dtype dtype) {
    return dtype == DT_I8    ? INT8_MIN
           : dtype == DT_I16 ? INT16_MIN
           : dtype == DT_I32 ? INT32_MIN
           : dtype == DT_I64 ? INT64_MIN
                             : 0;
}

static inline int64_t highest_of(dt_dtype dtype) {
    return dtype == DT_I8     ? INT8_MAX
           : dtype == DT_I16  ? INT16_MAX
           : dtype == DT_I32  ? INT32_MAX
           : dtype == DT_U8   ? UINT8_MAX
           : dtype == DT_BOOL ? 1
                              : INT64_MAX;
}

/* Writes a number in a dtype: rounded once for floats, truncated and clamped to the range for integers. */
static inline void put(dt_dtype dtype, wide w, void *to) {
    const float f[2] = {(float)w.re, (float)w.im};
    const double d[2] = {(double)w.re, (double)w.im};
    uint16_t h;
    int64_t i;
    switch (dtype) {
    case DT_F32:
    case DT_C64:
        memcpy(to, f, dt_dtype_size(dtype));
        return;
    case DT_F64:
    case DT_C128:
        memcpy(to, d, dt_dtype_size(dtype));
        return;
    case DT_F16:
        h = narrow_16(w.re, 10, 15);
        memcpy(to, &h, 2);
        return;
    case DT_BF16:
        h = narrow_16(w.re, 7, 127);
        memcpy(to, &h, 2);
        return;
    case DT_BOOL:
        *(uint8_t *)to = w.re != 0 || w.im != 0;
        return;
    default:
        i = isnan(w.re)                              ? 0
            : w.re >= (long double)highest_of(dtype) ? highest_of(dtype)
            : w.re <= (long double)lowest_of(dtype)  ? lowest_of(dtype)
                                                     : (int64_t)w.re;
        memcpy(to, &i, dt_dtype_size(dtype));
    }
}

/* Writes an integer with wrap-around. */
static inline void put_wrapped(dt_dtype dtype, int64_t i, void *to) {
    if (dtype == DT_BOOL)
        *(uint8_t *)to = i != 0;
    else
        memcpy(to, &i, dt_dtype_size(dtype));
}

static inline int64_t get_integer(dt_dtype dtype, const void *from) { return (int64_t)get(dtype, from).re; }

#endif
