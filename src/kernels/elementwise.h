/* SPDX-License-Identifier: Apache-2.0
 *
 * Elementwise kernels on arrays: conversion between dtypes, and the ops of element_ops.h. An op computes in one dtype;
 * operands of other dtypes are converted as they are read and the result as it is written, so that type promotion
 * needs no extra pass. f16 and bf16 are computed in f32, 8- and 16-bit integers in i32 (which wraps to the same
 * results).
 */
#ifndef DT_KERNELS_ELEMENTWISE_H
#define DT_KERNELS_ELEMENTWISE_H

#include "kernels/array.h"
#include "kernels/element_ops.h"
#include "kernels/kernel_table.h"
#include "kernels/loops.h"
#include "kernels/thread_pool.h"

/* dst = src, converted: nonzero becomes true; complex to real drops the imaginary part; floats to integers truncate
 * toward zero and saturate, and NaN becomes 0; integers wrap; to a shorter float rounds to nearest, ties to even, and
 * NaN stays NaN. src is broadcast to dst. */
void dt__convert(const dt__kernels *kernels, dt__pool *pool, const dt__array *dst, const dt__array *src);

/* out = op(ins…), computed in dtype. Inputs are broadcast to out. Inputs and results that element_ops.h declares as
 * bool are bool whatever dtype is, and are converted from and to the arrays' dtypes like all others. */
typedef struct dt__elementwise {
    dt__element_op op;
    dt_dtype dtype;
    dt__number numbers[3]; /* parameters: see element_ops.h */
    const dt__array *out, *ins[DT__LOOP_ARRAYS - 1];
} dt__elementwise;

/* Whether the op computes in the dtype. */
bool dt__op_computes(dt__element_op op, dt_dtype dtype);
/* Requires dt__op_computes. */
void dt__elementwise_run(const dt__kernels *kernels, dt__pool *pool, const dt__elementwise *args);

#endif
