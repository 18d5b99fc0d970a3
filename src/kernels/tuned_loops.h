/* SPDX-License-Identifier: Apache-2.0
 *
 * All loops of loops.h, for whatever instruction set the including file is compiled for. That file includes its
 * simd_x.h first.
 */
#ifndef DT_KERNELS_TUNED_LOOPS_H
#define DT_KERNELS_TUNED_LOOPS_H

#include "kernels/convert_loops.h"
#include "kernels/fold_loops.h"
#include "kernels/op_loops.h"
#include "kernels/product_loops.h"

#define TUNED_LOOPS                                                                                                  \
    {                                                                                                                \
        .convert = convert_loops, .ops = op_loops, .folds = fold_loops, .deviations = deviations_loops,              \
        .small_products = small_loops,                                                                               \
    }

#endif
