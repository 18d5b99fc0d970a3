/* SPDX-License-Identifier: Apache-2.0
 *
 * The tuned table for AVX-512 (F, BW, DQ, VL); flags.cmake compiles this file for them.
 */
#ifdef __x86_64__
#include "kernels/simd_avx512.h"

#define HW_PRODUCT(x, m) ((vu64)_mm512_mul_epu32((__m512i)(x), (__m512i)(m)))
#define HW_SQRT_F32(x)   ((vf32)_mm512_sqrt_ps((__m512)(x)))
#define HW_SQRT_F64(x)   ((vf64)_mm512_sqrt_pd((__m512d)(x)))

#include "random/tuned.h"

const dt__random_kernels dt__random_avx512 = TUNED_TABLE;
#else
typedef int dt__no_random_avx512;
#endif
