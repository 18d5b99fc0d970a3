/* SPDX-License-Identifier: Apache-2.0
 *
 * Conversion of n contiguous elements, from every dtype to every dtype, for the instruction set of the including file.
 */
#ifndef DT_KERNELS_CONVERT_LOOPS_H
#define DT_KERNELS_CONVERT_LOOPS_H

#include "kernels/element_types.h"
#include "kernels/lanes.h"
#include "kernels/loops.h"

/* X(FROM, from, TO, to) for every real dtype. */
#define TO_REALS(X, FROM, from)                                                                                      \
    X(FROM, from, F32, f32)                                                                                          \
    X(FROM, from, F64, f64)                                                                                          \
    X(FROM, from, F16, f16)                                                                                          \
    X(FROM, from, BF16, bf16)                                                                                        \
    X(FROM, from, I8, i8)                                                                                            \
    X(FROM, from, I16, i16)                                                                                          \
    X(FROM, from, I32, i32)                                                                                          \
    X(FROM, from, I64, i64)                                                                                          \
    X(FROM, from, U8, u8)

#define CONVERT(FROM, from, TO, to, value)                                                                           \
    static void convert_##FROM##_##TO(int64_t n, void *dst, const void *src) {                                       \
        const dt__##from *x = src;                                                                                   \
        dt__##to *y = dst;                                                                                           \
        DT__EACH for (int64_t i = 0; i < n; i++) y[i] = value;                                                       \
    }

#define FROM_REAL(FROM, from, TO, to) CONVERT(FROM, from, TO, to, DT__PUT_##TO(DT__GET_##FROM(x[i])))
#define FROM_REAL_TO_ALL(FROM, from)                                                                                 \
    TO_REALS(FROM_REAL, FROM, from)                                                                                  \
    CONVERT(FROM, from, BOOL, bool8, DT__PUT_BOOL(DT__GET_##FROM(x[i])))                                             \
    CONVERT(FROM, from, C64, c64, ((dt__c64){DT__PUT_F32(DT__GET_##FROM(x[i])), 0}))                                 \
    CONVERT(FROM, from, C128, c128, ((dt__c128){DT__PUT_F64(DT__GET_##FROM(x[i])), 0}))
#define FROM_COMPLEX(FROM, from, TO, to) CONVERT(FROM, from, TO, to, DT__PUT_##TO(x[i].re))
#define FROM_COMPLEX_TO_ALL(FROM, from)                                                                              \
    TO_REALS(FROM_COMPLEX, FROM, from)                                                                               \
    CONVERT(FROM, from, BOOL, bool8, DT__PUT_BOOL(x[i].re) | DT__PUT_BOOL(x[i].im))                                  \
    CONVERT(FROM, from, C64, c64, ((dt__c64){(float)x[i].re, (float)x[i].im}))                                       \
    CONVERT(FROM, from, C128, c128, ((dt__c128){(double)x[i].re, (double)x[i].im}))

FROM_REAL_TO_ALL(F32, f32)
FROM_REAL_TO_ALL(F64, f64)
FROM_REAL_TO_ALL(F16, f16)
FROM_REAL_TO_ALL(BF16, bf16)
FROM_REAL_TO_ALL(I8, i8)
FROM_REAL_TO_ALL(I16, i16)
FROM_REAL_TO_ALL(I32, i32)
FROM_REAL_TO_ALL(I64, i64)
FROM_REAL_TO_ALL(U8, u8)
FROM_REAL_TO_ALL(BOOL, bool8)
FROM_COMPLEX_TO_ALL(C64, c64)
FROM_COMPLEX_TO_ALL(C128, c128)

enum { F32_LANES = VEC_BYTES / 4 };

#ifdef HW_PACK_HIGH
static void narrow_bf16_fast(int64_t n, void *dst, const void *src) {
    int64_t i = 0;
    for (; i + 2 * F32_LANES <= n; i += 2 * F32_LANES) {
        vec low = vec_load((const char *)src + 4 * i), high = vec_load((const char *)src + 4 * i + VEC_BYTES);
        vec_store((char *)dst + 2 * i, HW_PACK_HIGH(narrow_bf16(low), narrow_bf16(high)));
    }
    convert_F32_BF16(n - i, (char *)dst + 2 * i, (const char *)src + 4 * i);
}
#define convert_F32_BF16 narrow_bf16_fast
#endif

#ifdef HW_F16_PACK

static void widen_f16_fast(int64_t n, void *dst, const void *src) {
    int64_t i = 0;
    for (; i + 2 * F32_LANES <= n; i += 2 * F32_LANES) {
        vec x = vec_load((const char *)src + 2 * i);
        vec_store((char *)dst + 4 * i, HW_F16_LOW(x));
        vec_store((char *)dst + 4 * i + VEC_BYTES, HW_F16_HIGH(x));
    }
    convert_F16_F32(n - i, (char *)dst + 4 * i, (const char *)src + 2 * i);
}

static void narrow_f16_fast(int64_t n, void *dst, const void *src) {
    int64_t i = 0;
    for (; i + 2 * F32_LANES <= n; i += 2 * F32_LANES) {
        vec low = vec_load((const char *)src + 4 * i), high = vec_load((const char *)src + 4 * i + VEC_BYTES);
        vec_store((char *)dst + 2 * i, HW_F16_PACK(low, high));
    }
    convert_F32_F16(n - i, (char *)dst + 2 * i, (const char *)src + 4 * i);
}
#define convert_F16_F32 widen_f16_fast
#define convert_F32_F16 narrow_f16_fast
#endif

#define ENTRY(FROM, from, TO, to) [DT_##TO] = convert_##FROM##_##TO,
#define ENTRIES(FROM)                                                                                                \
    [DT_##FROM] = {TO_REALS(ENTRY, FROM, ) ENTRY(FROM, , BOOL, ) ENTRY(FROM, , C64, ) ENTRY(FROM, , C128, )}
static dt__convert_loop *const convert_loops[DT_N_DTYPES][DT_N_DTYPES] = {
    ENTRIES(F32), ENTRIES(F64), ENTRIES(F16), ENTRIES(BF16), ENTRIES(I8),  ENTRIES(I16),
    ENTRIES(I32), ENTRIES(I64), ENTRIES(U8),  ENTRIES(BOOL), ENTRIES(C64), ENTRIES(C128),
};
#undef ENTRY
#undef ENTRIES
#undef CONVERT

#endif
