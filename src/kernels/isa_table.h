/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of one instruction set, that of the including file, with all its loops. The including file includes its
 * simd_x.h first, which names the table; everything else in the table is static to it.
 */
#ifndef DT_KERNELS_ISA_TABLE_H
#define DT_KERNELS_ISA_TABLE_H

#include "kernels/convert_loops.h"
#include "kernels/copy.h"
#include "kernels/exp_sum_loops.h"
#include "kernels/fold_loops.h"
#include "kernels/gradient_loops.h"
#include "kernels/op_loops.h"
#include "kernels/optimizer_loops.h"
#include "kernels/product_loops.h"
#include "kernels/random_loops.h"
#include "kernels/reduce_loops.h"
#include "kernels/small_matrix_loops.h"
#include "kernels/strided.h"
#include "kernels/thin_loops.h"

const dt__loops ISA_LOOPS = {
    .convert = convert_loops,
    .ops = op_loops,
    .folds = fold_loops,
    .deviations = deviations_loops,
    .add_widened = add_widened,
    .exp_sums = exp_sum_loops,
    .gradients = gradient_loops,
    .small_products = small_loops,
    .thin_products = thin_loops,
    .optimizers = optimizer_loops,
    .small_matrices = small_matrix_loops,
};

const dt__kernels ISA_TABLE = {
    .name = ISA_NAME,
    .copy = copy,
    .copy_rows = copy_rows,
    .reduce = reduce,
    .accumulate = accumulate,
    .fill = fill,
    .copy_strided = copy_strided,
    .random_groups = random_groups,
    .random_words = random_words,
    .loops = &ISA_LOOPS,
};

#endif
