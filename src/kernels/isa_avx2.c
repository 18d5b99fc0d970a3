/* SPDX-License-Identifier: Apache-2.0
 *
 * The table for AVX2 with F16C; flags.cmake compiles this file for it.
 */
#ifdef __x86_64__
#include "kernels/simd_avx2.h"

#include "kernels/isa_table.h"
#else
typedef int dt__no_avx2;
#endif
