/* SPDX-License-Identifier: Apache-2.0
 *
 * The tuned table for AVX2 with F16C; flags.cmake compiles this file for them.
 */
#ifdef __x86_64__
#include "kernels/simd_avx2.h"

#include "kernels/tuned.h"

const dt__kernels dt__kernels_table_avx2 = TUNED_TABLE;
#else
typedef int dt__no_avx2;
#endif
