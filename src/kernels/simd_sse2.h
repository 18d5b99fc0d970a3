/* SPDX-License-Identifier: Apache-2.0
 *
 * Operations of every x86-64 that generic vectors lack. Registers hold 16 bytes.
 */
#ifndef DT_KERNELS_SIMD_SSE2_H
#define DT_KERNELS_SIMD_SSE2_H

#include <emmintrin.h>

#define ISA_NAME  "baseline"
#define ISA_TABLE dt__kernels_baseline
#define ISA_LOOPS dt__loops_baseline
#define VEC_BYTES 16

/* The low 32 bits of each 64-bit lane of x times those of m. */
#define HW_MULTIPLY_U32(x, m) ((vu64)_mm_mul_epu32((__m128i)(x), (__m128i)(m)))

#define HW_STREAM(to, x) _mm_stream_si128((__m128i *)(to), (__m128i)(x))
#define HW_FENCE()       _mm_sfence()

/* The lower and the upper half of a register of f32, as f64. */
#define HW_WIDEN_LOW(x)  ((vf64)_mm_cvtps_pd((__m128)(x)))
#define HW_WIDEN_HIGH(x) ((vf64)_mm_cvtps_pd(_mm_movehl_ps((__m128)(x), (__m128)(x))))

/* The upper halves of the 32-bit elements of two registers, one after another. */
#define HW_PACK_HIGH(low, high)                                                                                      \
    ((vec)_mm_packs_epi32(_mm_srai_epi32((__m128i)(low), 16), _mm_srai_epi32((__m128i)(high), 16)))

#define HW_MIN_F32(x, y) ((vec)_mm_min_ps((__m128)(x), (__m128)(y)))
#define HW_MIN_F64(x, y) ((vec)_mm_min_pd((__m128d)(x), (__m128d)(y)))
#define HW_MIN_U8(x, y)  ((vec)_mm_min_epu8((__m128i)(x), (__m128i)(y)))
#define HW_MIN_I16(x, y) ((vec)_mm_min_epi16((__m128i)(x), (__m128i)(y)))
#define HW_MAX_F32(x, y) ((vec)_mm_max_ps((__m128)(x), (__m128)(y)))
#define HW_MAX_F64(x, y) ((vec)_mm_max_pd((__m128d)(x), (__m128d)(y)))
#define HW_MAX_U8(x, y)  ((vec)_mm_max_epu8((__m128i)(x), (__m128i)(y)))
#define HW_MAX_I16(x, y) ((vec)_mm_max_epi16((__m128i)(x), (__m128i)(y)))

#endif
