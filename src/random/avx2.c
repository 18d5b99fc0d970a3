/* SPDX-License-Identifier: Apache-2.0
 *
 * The tuned table for AVX2; flags.cmake compiles this file for it.
 */
#ifdef __x86_64__
#include "kernels/simd_avx2.h"

#define HW_PRODUCT(x, m) ((vu64)_mm256_mul_epu32((__m256i)(x), (__m256i)(m)))
#define HW_SQRT_F32(x)   ((vf32)_mm256_sqrt_ps((__m256)(x)))
#define HW_SQRT_F64(x)   ((vf64)_mm256_sqrt_pd((__m256d)(x)))

#include "random/tuned.h"

const dt__random_kernels dt__random_avx2 = TUNED_TABLE;
#else
typedef int dt__no_random_avx2;
#endif
