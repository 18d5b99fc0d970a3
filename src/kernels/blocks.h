/* SPDX-License-Identifier: Apache-2.0
 *
 * The driver of elementwise loops: splits arrays of any strides into blocks, gathers and converts the operands of a
 * block for the loop, runs the loop, and scatters its result. Blocks are distributed over the threads of the pool.
 */
#ifndef DT_KERNELS_BLOCKS_H
#define DT_KERNELS_BLOCKS_H

#include "kernels/kernels.h"

typedef struct dt__blocks {
    const dt__kernels *kernels;
    dt__pool *pool;
    dt__loop *loop;   /* NULL: only converts the single input */
    dt__loop *affine; /* of a b and a + b c in f32 or f64, else NULL: for rows where only b or c is not a number */
    const dt__number *numbers;
    int n_arrays;                             /* including the output */
    const dt__array *arrays[DT__LOOP_ARRAYS]; /* the output first */
    dt_dtype loop_dtypes[DT__LOOP_ARRAYS];    /* what the loop reads and writes */
} dt__blocks;

void dt__blocks_run(const dt__blocks *args);

#endif
