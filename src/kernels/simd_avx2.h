/* SPDX-License-Identifier: Apache-2.0
 *
 * Operations of AVX2 and F16C that generic vectors lack. Registers hold 32 bytes.
 */
#ifndef DT_KERNELS_SIMD_AVX2_H
#define DT_KERNELS_SIMD_AVX2_H

#include <immintrin.h>

#define ISA_NAME  "avx2"
#define ISA_TABLE dt__kernels_avx2
#define ISA_LOOPS dt__loops_avx2
#define VEC_BYTES 32

/* The low 32 bits of each 64-bit lane of x times those of m. */
#define HW_MULTIPLY_U32(x, m) ((vu64)_mm256_mul_epu32((__m256i)(x), (__m256i)(m)))

#define HW_STREAM(to, x) _mm256_stream_si256((__m256i *)(to), (__m256i)(x))
/* f32 to f64; gcc 12 would build the register of two halves. */
#define HW_WIDEN_F32(x)  ((vf64)_mm256_cvtps_pd((__m128)(x)))
#define HW_WIDEN_LOW(x)  HW_WIDEN_F32(_mm256_castps256_ps128((__m256)(x)))
#define HW_WIDEN_HIGH(x) HW_WIDEN_F32(_mm256_extractf128_ps((__m256)(x), 1))
#define HW_FENCE()       _mm_sfence()

#define HW_COPY_BYTES(dst, src, bytes) __asm__ volatile("rep movsb" : "+D"(dst), "+S"(src), "+c"(bytes) : : "memory")

/* Lower and upper half of a register of f16, each as a register of f32; and back; and half a register in memory. */
#define HW_F16_LOW(x)  ((vec)_mm256_cvtph_ps(_mm256_castsi256_si128((__m256i)(x))))
#define HW_F16_HIGH(x) ((vec)_mm256_cvtph_ps(_mm256_extracti128_si256((__m256i)(x), 1)))
#define HW_F16_PACK(low, high)                                                                                       \
    ((vec)_mm256_set_m128i(_mm256_cvtps_ph((__m256)(high), _MM_FROUND_TO_NEAREST_INT),                               \
                           _mm256_cvtps_ph((__m256)(low), _MM_FROUND_TO_NEAREST_INT)))

#define HW_LOAD_F16(from) ((vf32)_mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)(from))))

/* The upper halves of the 32-bit elements of two registers, one after another. */
#define HW_PACK_HIGH(low, high)                                                                                      \
    ((vec)_mm256_permute4x64_epi64(                                                                                  \
        _mm256_packs_epi32(_mm256_srai_epi32((__m256i)(low), 16), _mm256_srai_epi32((__m256i)(high), 16)), 0xd8))

#define HW_MIN_F32(x, y) ((vec)_mm256_min_ps((__m256)(x), (__m256)(y)))
#define HW_MIN_F64(x, y) ((vec)_mm256_min_pd((__m256d)(x), (__m256d)(y)))
#define HW_MIN_I8(x, y)  ((vec)_mm256_min_epi8((__m256i)(x), (__m256i)(y)))
#define HW_MIN_U8(x, y)  ((vec)_mm256_min_epu8((__m256i)(x), (__m256i)(y)))
#define HW_MIN_I16(x, y) ((vec)_mm256_min_epi16((__m256i)(x), (__m256i)(y)))
#define HW_MIN_I32(x, y) ((vec)_mm256_min_epi32((__m256i)(x), (__m256i)(y)))
#define HW_MAX_F32(x, y) ((vec)_mm256_max_ps((__m256)(x), (__m256)(y)))
#define HW_MAX_F64(x, y) ((vec)_mm256_max_pd((__m256d)(x), (__m256d)(y)))
#define HW_MAX_I8(x, y)  ((vec)_mm256_max_epi8((__m256i)(x), (__m256i)(y)))
#define HW_MAX_U8(x, y)  ((vec)_mm256_max_epu8((__m256i)(x), (__m256i)(y)))
#define HW_MAX_I16(x, y) ((vec)_mm256_max_epi16((__m256i)(x), (__m256i)(y)))
#define HW_MAX_I32(x, y) ((vec)_mm256_max_epi32((__m256i)(x), (__m256i)(y)))

#endif
