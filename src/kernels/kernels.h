/* SPDX-License-Identifier: Apache-2.0
 *
 * Loops on memory: what other folders use of this one. Kernels know nothing of tensors or ranks, allocate nothing,
 * check nothing and cannot fail; callers pass valid arguments.
 *
 * Below everything is one table of functions per instruction set (kernel_table.h): copy, fill, reduce, the innermost
 * loops, random numbers. Above it are kernels on arrays with strides, which cut the work into blocks for the threads of
 * a pool. Matrix products of large matrices go to the BLAS that is found at run time.
 */
#ifndef DT_KERNELS_KERNELS_H
#define DT_KERNELS_KERNELS_H

#include "kernels/array.h"
#include "kernels/blas.h"
#include "kernels/elementwise.h"
#include "kernels/gather.h"
#include "kernels/indexing.h"
#include "kernels/kernel_table.h"
#include "kernels/normalise.h"
#include "kernels/products.h"
#include "kernels/random_draw.h"
#include "kernels/reductions.h"
#include "kernels/spread.h"
#include "kernels/thread_pool.h"

#endif
