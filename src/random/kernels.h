/* SPDX-License-Identifier: Apache-2.0
 *
 * One table per instruction set; all give the same bits. A group is 16 blocks of the generator, which is 64 elements
 * of a 32-bit draw, 32 of a 64-bit draw and 16 where each element has a block of its own. Groups are always made
 * whole, so there is no code for tails and no bit can depend on where a range ends.
 */
#ifndef DT_RANDOM_KERNELS_H
#define DT_RANDOM_KERNELS_H

#include "random/random.h"

enum { DT__GROUP_BLOCKS = 16, DT__GROUP_BYTES = 64 * 8 }; /* bytes: room for a group of any draw */

typedef struct dt__random_kernels {
    const char *name; /* as in kernels/kernels.h */
    /* Groups group … group + n - 1 of the draw. dst may be unaligned. */
    void (*groups)(const dt__draw *draw, uint64_t group, int64_t n, void *dst);
    /* The 32 numbers of a group of a 64-bit draw. */
    void (*words)(dt_generator_state state, uint64_t group, uint64_t *dst);
} dt__random_kernels;

extern const dt__random_kernels dt__random_plain, dt__random_baseline;
#ifdef __x86_64__
extern const dt__random_kernels dt__random_avx2, dt__random_avx512;
#endif

/* The table for what the kernels of this name run on; NULL when this CPU or this build lacks it. */
const dt__random_kernels *dt__random_kernels_named(const char *name);
const dt__random_kernels *dt__random_kernels_best(void);
/* The best, as it was chosen for the generator's context. */
const dt__random_kernels *dt__generator_kernels(const dt_generator *generator);

/* One element of a truncated normal draw. */
double dt__truncated_normal(const dt__draw *draw, uint64_t index);

#endif
