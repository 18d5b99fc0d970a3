/* SPDX-License-Identifier: Apache-2.0
 *
 * The loops that need AVX-512 (F, BW, DQ, VL).
 */
#ifdef __x86_64__
#include "kernels/simd_avx512.h"

#include "kernels/tuned_loops.h"

const dt__loops dt__loops_avx512 = TUNED_LOOPS;
#else
typedef int dt__no_avx512_loops;
#endif
