/* SPDX-License-Identifier: Apache-2.0
 *
 * What the tests of the kernels share: the tables that this CPU runs, elements of every dtype with the special values
 * among them, and buffers with canaries on both sides.
 */
#ifndef DT_TESTS_KERNELS_SUPPORT_H
#define DT_TESTS_KERNELS_SUPPORT_H

#include "support/check.h"

#include "kernels/kernels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CANARY_BYTES = 128, CANARY = 0xa5, ALIGNMENT = 64, N_NAMES = 4 };

static const char *const table_names[N_NAMES] = {"plain", "baseline", "avx2", "avx512"};

/* NULL if this CPU or build does not have it. Cached: querying the CPU is slow. */
static inline const dt__kernels *table_at(int i) {
    static const dt__kernels *tables[N_NAMES];
    static bool is_cached;
    for (int t = 0; t < N_NAMES && !is_cached; t++)
        tables[t] = dt__kernels_named(table_names[t]);
    is_cached = true;
    return tables[i];
}

/* Memory at `offset` bytes after an aligned address, with canaries on both sides. */
typedef struct guarded {
    unsigned char *block, *data;
    size_t bytes;
} guarded;

static inline guarded guarded_new(size_t bytes, size_t offset) {
    guarded g = {.bytes = bytes};
    size_t allocated = 2 * CANARY_BYTES + ALIGNMENT + offset + bytes;
    g.block = aligned_alloc(ALIGNMENT, (allocated + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
    assert_non_null(g.block);
    g.data = g.block + CANARY_BYTES + offset;
    memset(g.data - CANARY_BYTES, CANARY, CANARY_BYTES);
    memset(g.data, 0, bytes);
    memset(g.data + bytes, CANARY, CANARY_BYTES);
    return g;
}

static inline bool guarded_is_intact(const guarded *g) {
    for (int i = 0; i < CANARY_BYTES; i++)
        if (g->data[-1 - i] != CANARY || g->data[g->bytes + (size_t)i] != CANARY)
            return false;
    return true;
}

static inline void guarded_free(guarded *g) { free(g->block); }

static inline uint64_t bits_of_f32(float x) {
    uint32_t bits;
    memcpy(&bits, &x, 4);
    return bits;
}

static inline uint64_t bits_of_f64(double x) {
    uint64_t bits;
    memcpy(&bits, &x, 8);
    return bits;
}

/* One real number of the dtype (a part of a complex one): a special value, a small number or random bits. */
static inline void random_real(dt_dtype dtype, uint64_t *state, void *out) {
    static const float f32s[] = {NAN,
                                 -NAN,
                                 INFINITY,
                                 -INFINITY,
                                 0.0f,
                                 -0.0f,
                                 0x1p-149f,
                                 -0x1p-149f,
                                 0x1p-126f,
                                 1,
                                 -1,
                                 0x1.fffffep127f,
                                 -0x1.fffffep127f,
                                 0x1.fffffcp-127f};
    static const double f64s[] = {NAN,
                                  -NAN,
                                  INFINITY,
                                  -INFINITY,
                                  0.0,
                                  -0.0,
                                  0x1p-1074,
                                  -0x1p-1074,
                                  0x1p-1022,
                                  1,
                                  -1,
                                  0x1.fffffffffffffp1023,
                                  -0x1.fffffffffffffp1023,
                                  0x1.ffffffffffffep-1023};
    static const uint16_t f16s[] = {0x7e00, 0xfe01, 0x7c00, 0xfc00, 0,      0x8000, 1,
                                    0x8001, 0x0400, 0x3c00, 0xbc00, 0x7bff, 0xfbff, 0x03ff};
    static const uint16_t bf16s[] = {0x7fc0, 0xffc1, 0x7f80, 0xff80, 0,      0x8000, 1,
                                     0x8001, 0x0080, 0x3f80, 0xbf80, 0x7f7f, 0xff7f, 0x007f};
    static const int64_t integers[] = {0,         1,         -1,        127,       -128,      255,       INT16_MAX,
                                       INT16_MIN, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN, INT64_MAX, 2};
    enum { N_SPECIAL = 14 };
    uint64_t kind = test_random(state) % 8, bits = test_random(state);
    size_t special = (size_t)(bits % N_SPECIAL);
    double small = (double)(int64_t)(bits >> 11) * 0x1p-50; /* in [0, 8) */
    small = bits & 1 ? -small : small;
    if (kind == 0)
        bits = dtype == DT_F32 || dtype == DT_C64    ? bits_of_f32(f32s[special])
               : dtype == DT_F64 || dtype == DT_C128 ? bits_of_f64(f64s[special])
               : dtype == DT_F16                     ? f16s[special]
               : dtype == DT_BF16                    ? bf16s[special]
                                                     : (uint64_t)integers[special];
    else if (kind < 6)
        bits = dtype == DT_F32 || dtype == DT_C64    ? bits_of_f32((float)small)
               : dtype == DT_F64 || dtype == DT_C128 ? bits_of_f64(small)
               : dtype == DT_F16                     ? (bits & 0x83ff) | (0x3000 + (bits >> 20 & 0x1c00))
               : dtype == DT_BF16                    ? bits_of_f32((float)small) >> 16
                                                     : (uint64_t)(int64_t)(small * 8);
    if (dtype == DT_BOOL && kind >= 6)
        bits = 0; /* so that not all results of "and" and "or" are true */
    memcpy(out, &bits, dtype == DT_C64 ? 4 : dtype == DT_C128 ? 8 : dt_dtype_size(dtype));
}

static inline void random_elements(dt_dtype dtype, uint64_t *state, void *out, size_t n) {
    size_t parts = dtype == DT_C64 || dtype == DT_C128 ? 2 : 1, step = dt_dtype_size(dtype) / parts;
    for (size_t i = 0; i < n * parts; i++)
        random_real(dtype, state, (char *)out + i * step);
}

static inline bool is_nan_at(dt_dtype dtype, const void *real) {
    float f;
    double d;
    uint16_t h;
    switch (dtype) {
    case DT_F32:
    case DT_C64:
        memcpy(&f, real, 4);
        return isnan(f);
    case DT_F64:
    case DT_C128:
        memcpy(&d, real, 8);
        return isnan(d);
    case DT_F16:
        memcpy(&h, real, 2);
        return (h & 0x7fff) > 0x7c00;
    case DT_BF16:
        memcpy(&h, real, 2);
        return (h & 0x7fff) > 0x7f80;
    default:
        return false;
    }
}

/* Index of the first real number that differs, or -1; NaN equals NaN. */
static inline int64_t first_difference(dt_dtype dtype, const void *a, const void *b, size_t n) {
    size_t parts = dtype == DT_C64 || dtype == DT_C128 ? 2 : 1, step = dt_dtype_size(dtype) / parts;
    for (size_t i = 0; i < n * parts; i++) {
        const char *x = (const char *)a + i * step, *y = (const char *)b + i * step;
        if (memcmp(x, y, step) != 0 && !(is_nan_at(dtype, x) && is_nan_at(dtype, y)))
            return (int64_t)i;
    }
    return -1;
}

/* The bits of real number i, for messages. */
static inline uint64_t real_bits(dt_dtype dtype, const void *reals, int64_t i) {
    size_t parts = dtype == DT_C64 || dtype == DT_C128 ? 2 : 1, step = dt_dtype_size(dtype) / parts;
    uint64_t bits = 0;
    memcpy(&bits, (const char *)reals + (size_t)i * step, step);
    return bits;
}

#endif
