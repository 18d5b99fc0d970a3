/* SPDX-License-Identifier: Apache-2.0
 *
 * The tuned table that every CPU of the architecture runs: SSE2 on x86-64, 16-byte generic vectors elsewhere.
 */
#ifdef __x86_64__
#include "kernels/simd_sse2.h"

#define HW_PRODUCT(x, m) ((vu64)_mm_mul_epu32((__m128i)(x), (__m128i)(m)))
#define HW_SQRT_F32(x)   ((vf32)_mm_sqrt_ps((__m128)(x)))
#define HW_SQRT_F64(x)   ((vf64)_mm_sqrt_pd((__m128d)(x)))
#endif

#include "random/tuned.h"

const dt__random_kernels dt__random_baseline = TUNED_TABLE;
