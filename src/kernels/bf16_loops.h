/* SPDX-License-Identifier: Apache-2.0
 *
 * Products of bf16 by instructions that multiply pairs of elements and add both products to an f32, in half the time of
 * f32 products. The pairs of a sum are added in order. Subnormal numbers count as zero, as the instructions define it.
 */
#ifndef DT_KERNELS_BF16_LOOPS_H
#define DT_KERNELS_BF16_LOOPS_H

#include "kernels/kernel_table.h"

enum { DT__BF16_ROWS = 8, DT__BF16_COLUMNS = 32 }; /* of a tile */

typedef struct dt__bf16_loops {
    /* c[8,32] (+)= the sum of n pairs: a has pairs of 8 rows one after another, b of 32 columns, aligned to 64. */
    void (*tile)(int64_t n, const uint32_t *a, const uint32_t *b, float *c, int64_t c_row, bool adds);
    /* Pairs of columns of two rows of w; the second may be missing: out[i] = first[i] | second[i] << 16. */
    void (*interleave)(int64_t n, const uint16_t *first, const uint16_t *second, uint32_t *out);
    /* The first 16 pairs of 16 rows, as 16 rows of pairs; strides in elements. */
    void (*transpose)(const uint16_t *rows, int64_t row, uint32_t *out, int64_t out_row);
    /* As the loops of dt__thin_loops, with x in bf16. */
    dt__thin_loop *dots[DT__N_THIN];
} dt__bf16_loops;

#ifdef __x86_64__
extern const dt__bf16_loops dt__bf16_loops_avx512;
#endif
/* instruction_sets.c: NULL if the CPU lacks these instructions, or if the table is for CPUs that lack them. */
const dt__bf16_loops *dt__bf16_loops_of(const dt__kernels *kernels);

#endif
