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

/* Enough: every dim of a plan doubles the number of elements at least, and there are fewer than 2^63. */
enum { DT__STRIDED_DIMS = 64 };

/* Runs of run_bytes, contiguous on both sides; dims[0] has the smallest stride of dst. No dim has size 0 or 1 or a
 * negative stride of dst, and no two neighbors could be joined. */
typedef struct dt__strided_plan {
    char *dst;
    const char *src;
    size_t run_bytes;
    int n_dims;
    dt__strided_dim dims[DT__STRIDED_DIMS];
} dt__strided_plan;

/* False when there is nothing to copy. */
bool dt__strided_plan_make(const dt__strided *args, dt__strided_plan *out);

#endif
