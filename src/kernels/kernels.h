/* SPDX-License-Identifier: Apache-2.0
 *
 * Compute kernels on memory: the interface of this folder. Kernels are independent of tensors and ranks. Callers pass
 * valid arguments: only the values of indexes are checked, and only matrix products and the thread pool allocate.
 *
 * The lowest level is one function table per instruction set (kernel_table.h): copy, fill, reduce, the innermost
 * loops, random numbers. Above it are kernels on strided arrays, which split the work into blocks for the threads of a
 * pool. Large matrix products use the BLAS that is found at run time.
 */
#ifndef DT_KERNELS_KERNELS_H
#define DT_KERNELS_KERNELS_H

#include "kernels/array.h"
#include "kernels/attention.h"
#include "kernels/blas.h"
#include "kernels/elementwise.h"
#include "kernels/gather.h"
#include "kernels/indexing.h"
#include "kernels/kernel_table.h"
#include "kernels/loop_driver.h"
#include "kernels/normalise.h"
#include "kernels/products.h"
#include "kernels/random_draw.h"
#include "kernels/reductions.h"
#include "kernels/singular_values.h"
#include "kernels/spread.h"
#include "kernels/statistics.h"
#include "kernels/thread_pool.h"

#endif
