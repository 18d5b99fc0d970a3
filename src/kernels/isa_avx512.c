/* SPDX-License-Identifier: Apache-2.0
 *
 * The table for AVX-512 (F, BW, DQ, VL) with F16C; flags.cmake compiles this file for it.
 */
#ifdef __x86_64__
#include "kernels/simd_avx512.h"

#include "kernels/isa_table.h"
#else
typedef int dt__no_avx512;
#endif
