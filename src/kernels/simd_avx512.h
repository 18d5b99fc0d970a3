/* SPDX-License-Identifier: Apache-2.0
 *
 * Operations of AVX-512 (F, BW, DQ, VL) and F16C that generic vectors lack. Registers hold 64 bytes: one cache line.
 */
#ifndef DT_KERNELS_SIMD_AVX512_H
#define DT_KERNELS_SIMD_AVX512_H

#include <immintrin.h>

#define ISA_NAME  "avx512"
#define ISA_TABLE dt__kernels_avx512
#define ISA_LOOPS dt__loops_avx512
#define VEC_BYTES 64

/* The low 32 bits of each 64-bit lane of x times those of m. */
#define HW_MULTIPLY_U32(x, m) ((vu64)_mm512_mul_epu32((__m512i)(x), (__m512i)(m)))

#define HW_STREAM(to, x) _mm512_stream_si512((__m512i *)(to), (__m512i)(x))
/* f32 to f64; gcc 12 would build the register of two halves. */
#define HW_WIDEN_F32(x) ((vf64)_mm512_cvtps_pd((__m256)(x)))
#define HW_FENCE()      _mm_sfence()

#define HW_COPY_BYTES(dst, src, bytes) __asm__ volatile("rep movsb" : "+D"(dst), "+S"(src), "+c"(bytes) : : "memory")

/* The first n bytes, for n below the size of a register; the rest is zero, and is not touched. */
#define HW_FIRST(n)             (((__mmask64)1 << (n)) - 1)
#define HW_LOAD_PART(from, n)   ((vec)_mm512_maskz_loadu_epi8(HW_FIRST(n), (from)))
#define HW_STORE_PART(to, x, n) _mm512_mask_storeu_epi8((to), HW_FIRST(n), (__m512i)(x))

/* Lower and upper half of a register of f16, each as a register of f32; and back; and half a register in memory. */
#define HW_F16_LOW(x)  ((vec)_mm512_cvtph_ps(_mm512_castsi512_si256((__m512i)(x))))
#define HW_F16_HIGH(x) ((vec)_mm512_cvtph_ps(_mm512_extracti64x4_epi64((__m512i)(x), 1)))
#define HW_F16_PACK(low, high)                                                                                       \
    ((vec)_mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvtps_ph((__m512)(low), _MM_FROUND_TO_NEAREST_INT)),      \
                             _mm512_cvtps_ph((__m512)(high), _MM_FROUND_TO_NEAREST_INT), 1))

#define HW_LOAD_F16(from) ((vf32)_mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(const void *)(from))))

/* The upper halves of the 32-bit elements of two registers, one after another. */
#define HW_PACK_HIGH(low, high)                                                                                      \
    ((vec)_mm512_permutex2var_epi16((__m512i)(low),                                                                  \
                                    (__m512i)(vu16){1,  3,  5,  7,  9,  11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31,  \
                                                    33, 35, 37, 39, 41, 43, 45, 47, 49, 51, 53, 55, 57, 59, 61, 63}, \
                                    (__m512i)(high)))

#define HW_MIN_F32(x, y) ((vec)_mm512_min_ps((__m512)(x), (__m512)(y)))
#define HW_MIN_F64(x, y) ((vec)_mm512_min_pd((__m512d)(x), (__m512d)(y)))
#define HW_MIN_I8(x, y)  ((vec)_mm512_min_epi8((__m512i)(x), (__m512i)(y)))
#define HW_MIN_U8(x, y)  ((vec)_mm512_min_epu8((__m512i)(x), (__m512i)(y)))
#define HW_MIN_I16(x, y) ((vec)_mm512_min_epi16((__m512i)(x), (__m512i)(y)))
#define HW_MIN_I32(x, y) ((vec)_mm512_min_epi32((__m512i)(x), (__m512i)(y)))
#define HW_MIN_I64(x, y) ((vec)_mm512_min_epi64((__m512i)(x), (__m512i)(y)))
#define HW_MAX_F32(x, y) ((vec)_mm512_max_ps((__m512)(x), (__m512)(y)))
#define HW_MAX_F64(x, y) ((vec)_mm512_max_pd((__m512d)(x), (__m512d)(y)))
#define HW_MAX_I8(x, y)  ((vec)_mm512_max_epi8((__m512i)(x), (__m512i)(y)))
#define HW_MAX_U8(x, y)  ((vec)_mm512_max_epu8((__m512i)(x), (__m512i)(y)))
#define HW_MAX_I16(x, y) ((vec)_mm512_max_epi16((__m512i)(x), (__m512i)(y)))
#define HW_MAX_I32(x, y) ((vec)_mm512_max_epi32((__m512i)(x), (__m512i)(y)))
#define HW_MAX_I64(x, y) ((vec)_mm512_max_epi64((__m512i)(x), (__m512i)(y)))

#endif
