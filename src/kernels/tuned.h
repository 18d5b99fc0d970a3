/* SPDX-License-Identifier: Apache-2.0
 *
 * The tuned table, for whatever instruction set the including file is compiled for. That file includes its simd_x.h
 * first and defines one table with TUNED_TABLE; everything else here is static to it.
 */
#ifndef DT_KERNELS_TUNED_H
#define DT_KERNELS_TUNED_H

#include "kernels/copy.h"
#include "kernels/loops.h"
#include "kernels/reduce.h"
#include "kernels/strided.h"
#include "kernels/tables.h"

#define TUNED_TABLE                                                                                                  \
    {                                                                                                                \
        .name = ISA_NAME, .copy = copy, .reduce = reduce, .accumulate = accumulate, .fill = fill,                    \
        .copy_strided = copy_strided, .loops = ISA_LOOPS,                                                            \
    }

#endif
