/* SPDX-License-Identifier: Apache-2.0
 *
 * The loops that every CPU of the architecture runs.
 */
#ifdef __x86_64__
#include "kernels/simd_sse2.h"
#endif

#include "kernels/tuned_loops.h"

const dt__loops dt__loops_baseline = TUNED_LOOPS;
