/* SPDX-License-Identifier: Apache-2.0
 *
 * The tuned table for AVX-512 (F, BW, DQ, VL); flags.cmake compiles this file for them.
 */
#ifdef __x86_64__
#include "kernels/simd_avx512.h"

#include "kernels/tuned.h"

const dt__kernels dt__kernels_table_avx512 = TUNED_TABLE;
#else
typedef int dt__no_avx512;
#endif
