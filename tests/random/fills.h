/* SPDX-License-Identifier: Apache-2.0
 *
 * Fills of every distribution and every dtype that it has, with parameters that reach all its branches.
 */
#ifndef DT_TESTS_RANDOM_FILLS_H
#define DT_TESTS_RANDOM_FILLS_H

#include "support/check.h"

#include "random/random.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const table_names[] = {"plain", "baseline", "avx2", "avx512"};
enum { N_TABLES = sizeof table_names / sizeof *table_names };

#define FLOATS(...)                                                                                                  \
    {.dtype = DT_F32, __VA_ARGS__}, {.dtype = DT_F64, __VA_ARGS__}, {.dtype = DT_F16, __VA_ARGS__}, {                \
        .dtype = DT_BF16, __VA_ARGS__                                                                                \
    }
#define INTEGERS(...)                                                                                                \
    {.dtype = DT_I8, __VA_ARGS__}, {.dtype = DT_I16, __VA_ARGS__}, {.dtype = DT_I32, __VA_ARGS__},                   \
        {.dtype = DT_I64, __VA_ARGS__}, {.dtype = DT_U8, __VA_ARGS__}, {                                             \
        .dtype = DT_BOOL, __VA_ARGS__                                                                                \
    }

static const dt__random all_fills[] = {
    FLOATS(.distribution = DT__UNIFORM, .high = 1),
    FLOATS(.distribution = DT__UNIFORM, .low = -3, .high = 2.5),
    FLOATS(.distribution = DT__NORMAL, .std = 1),
    FLOATS(.distribution = DT__NORMAL, .mean = -1.5, .std = 0.8),
    FLOATS(.distribution = DT__EXPONENTIAL, .rate = 2.5),
    FLOATS(.distribution = DT__TRUNCATED_NORMAL, .std = 1, .low = -2, .high = 2),
    FLOATS(.distribution = DT__TRUNCATED_NORMAL, .mean = 1, .std = 2, .low = 1.5, .high = 2),
    FLOATS(.distribution = DT__TRUNCATED_NORMAL, .mean = 10, .std = 1, .low = -INFINITY, .high = 6),
    FLOATS(.distribution = DT__RANDINT, .from = -7, .to = 1000),
    FLOATS(.distribution = DT__BERNOULLI, .p = 0.3),
    FLOATS(.distribution = DT__DROPOUT, .p = 0.2),
    FLOATS(.distribution = DT__DROPOUT, .p = 1),
    INTEGERS(.distribution = DT__RANDINT, .from = 0, .to = 2),
    INTEGERS(.distribution = DT__BERNOULLI, .p = 0.5),
    INTEGERS(.distribution = DT__BERNOULLI, .p = 1),
    {.dtype = DT_I64, .distribution = DT__RANDINT, .from = INT64_MIN, .to = INT64_MAX},
    /* three of eight words are rejected */
    {.dtype = DT_I64, .distribution = DT__RANDINT, .from = INT64_MIN, .to = INT64_C(1) << 61},
    {.dtype = DT_I8, .distribution = DT__RANDINT, .from = -128, .to = 128},
    {.dtype = DT_U8, .distribution = DT__RANDINT, .from = 0, .to = 256},
};
enum { N_FILLS = sizeof all_fills / sizeof *all_fills };

static inline dt__draw begin_draw(dt_generator *generator, const dt__random *fill) {
    dt__draw draw;
    if (dt__draw_begin(generator, fill, &draw) != DT_OK)
        fail_msg("distribution %d, %s: %s", (int)fill->distribution, dt_dtype_name(fill->dtype),
                 dt_error_text(dt__generator_ctx(generator)));
    return draw;
}

/* The value of an f16 or bf16 by the definition of the formats; finite values only. */
static inline double f16_or_bf16_value(dt_dtype dtype, uint16_t bits) {
    const int n_fraction = dtype == DT_F16 ? 10 : 7, bias = dtype == DT_F16 ? 15 : 127;
    const int exponent = (bits & 0x7fff) >> n_fraction, fraction = bits & ((1 << n_fraction) - 1);
    double size = exponent ? ldexp((1 << n_fraction) + fraction, exponent - bias - n_fraction)
                           : ldexp(fraction, 1 - bias - n_fraction);
    return bits & 0x8000 ? -size : size;
}

/* Asserts that bytes are equal, and prints the first difference. */
static inline void check_bytes(const char *name, const void *got, const void *expected, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (((const unsigned char *)got)[i] != ((const unsigned char *)expected)[i])
            fail_msg("%s: byte %zu: expected %02x, got %02x", name, i, ((const unsigned char *)expected)[i],
                     ((const unsigned char *)got)[i]);
}

#endif
