/* SPDX-License-Identifier: Apache-2.0
 *
 * The loops that need AVX2 and F16C.
 */
#ifdef __x86_64__
#include "kernels/simd_avx2.h"

#include "kernels/tuned_loops.h"

const dt__loops dt__loops_avx2 = TUNED_LOOPS;
#else
typedef int dt__no_avx2_loops;
#endif
