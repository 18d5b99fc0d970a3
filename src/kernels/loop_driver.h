/* SPDX-License-Identifier: Apache-2.0
 *
 * A driver of elementwise loops with any number of inputs and outputs, for loops that are not in the tables of the
 * instruction sets, such as those of a program's own ops. Arrays may have any strides and dtypes; the loop gets
 * contiguous elements of one dtype.
 */
#ifndef DT_KERNELS_LOOP_DRIVER_H
#define DT_KERNELS_LOOP_DRIVER_H

#include "kernels/array.h"
#include "kernels/kernel_table.h"
#include "kernels/thread_pool.h"

enum { DT__MAX_LOOP_OPERANDS = 128 };

/* Computes n elements of each output. An output may be an input, exactly. */
typedef void dt__operand_loop(int64_t n, const void *const *ins, void *const *outs, const void *arg);

typedef struct dt__loop_operands {
    dt_dtype dtype;          /* what the loop reads and writes */
    int n_ins, n_all;        /* at most DT__MAX_LOOP_OPERANDS */
    const dt__array *arrays; /* inputs, which are broadcast, then outputs, at least one and all of one shape */
    dt__operand_loop *loop;
    const void *arg;
} dt__loop_operands;

void dt__loop_operands_run(const dt__kernels *kernels, dt__pool *pool, const dt__loop_operands *args);

#endif
