/* SPDX-License-Identifier: Apache-2.0
 *
 * Elementwise kernels on arrays: conversion between dtypes and all ops of the list in element_ops.h. An op computes in
 * one dtype; operands of other dtypes are converted as they are read, and the result as it is written, so that type
 * promotion needs no pass of its own. f16 and bf16 are computed in f32, 8- and 16-bit integers in i32 (which wraps as
 * the narrow ones do).
 */
#ifndef DT_KERNELS_ELEMENTWISE_H
#define DT_KERNELS_ELEMENTWISE_H

#include "kernels/array.h"
#include "kernels/element_ops.h"
#include "kernels/kernel_table.h"
#include "kernels/loops.h"
#include "kernels/thread_pool.h"

/* dst = src, converted: to bool is "not 0"; a complex number becomes real by dropping its imaginary part; floats become
 * integers toward zero, those out of range the nearest end of the range and NaN 0; integers wrap; to a shorter float
 * is to nearest, ties to even, NaN stays NaN. src is broadcast to dst. */
void dt__convert(const dt__kernels *kernels, dt__pool *pool, const dt__array *dst, const dt__array *src);

/* out = op(ins…), computed in dtype. Inputs are broadcast to out. Input k of an op that reads it as bool, and the
 * result of an op that computes bool, are bool whatever dtype is (element_ops.h), and are converted from and to the
 * arrays' dtypes like all others. */
typedef struct dt__elementwise {
    dt__element_op op;
    dt_dtype dtype;
    dt__number numbers[2]; /* as element_ops.h has it */
    const dt__array *out, *ins[DT__LOOP_ARRAYS - 1];
} dt__elementwise;

/* Whether the op computes in the dtype. */
bool dt__op_computes(dt__element_op op, dt_dtype dtype);
/* Only what dt__op_computes. */
void dt__elementwise_run(const dt__kernels *kernels, dt__pool *pool, const dt__elementwise *args);

#endif
