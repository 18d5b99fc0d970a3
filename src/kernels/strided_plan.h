/* SPDX-License-Identifier: Apache-2.0
 *
 * A strided copy in its simplest form, which the loops of strided.h run. Pure arithmetic, the same for every
 * instruction set.
 */
#ifndef DT_KERNELS_STRIDED_PLAN_H
#define DT_KERNELS_STRIDED_PLAN_H

#include "kernels/kernel_table.h"

/* Strides in bytes. */
typedef struct dt__strided_dim {
    int64_t size, dst, src;
} dt__strided_dim;

/* Every dim kept has at least two elements of dst, which are distinct and less than 2^63 in number. */
enum { DT__STRIDED_DIMS = 64 };

/* Runs of run_bytes, contiguous on both sides; dims[0] is where dst moves least from run to run. No dim has size 0 or
 * 1 or a negative dst stride, and no two neighbours could be one dim. */
typedef struct dt__strided_plan {
    char *dst;
    const char *src;
    size_t run_bytes;
    int n_dims;
    dt__strided_dim dims[DT__STRIDED_DIMS];
} dt__strided_plan;

/* False when there is nothing to copy. */
bool dt__strided_plan_make(const dt__strided *what, dt__strided_plan *out);

#endif
