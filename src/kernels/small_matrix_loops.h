/* SPDX-License-Identifier: Apache-2.0
 *
 * Small matrices, a register of them at once, for the instruction set of the including file (loops.h:
 * dt__small_matrices). Elements that follow one another in memory are transposed, so that a lane is a matrix.
 */
#ifndef DT_KERNELS_SMALL_MATRIX_LOOPS_H
#define DT_KERNELS_SMALL_MATRIX_LOOPS_H

#include "kernels/loops.h"
#include "kernels/simd.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

/* Elements of two registers in turn, from their lower and from their upper halves. */
#if VEC_BYTES == 64
#define LOW_F32  0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23
#define HIGH_F32 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31
#define LOW_F64  0, 8, 1, 9, 2, 10, 3, 11
#define HIGH_F64 4, 12, 5, 13, 6, 14, 7, 15
#elif VEC_BYTES == 32
#define LOW_F32  0, 8, 1, 9, 2, 10, 3, 11
#define HIGH_F32 4, 12, 5, 13, 6, 14, 7, 15
#define LOW_F64  0, 4, 1, 5
#define HIGH_F64 2, 6, 3, 7
#else
#define LOW_F32  0, 4, 1, 5
#define HIGH_F32 2, 6, 3, 7
#define LOW_F64  0, 2
#define HIGH_F64 1, 3
#endif

#define SMALL_JOIN_(a, b)   small_##a##_##b
#define SMALL_JOIN(a, b)    SMALL_JOIN_(a, b)
#define LANE_NAME(name)     SMALL_JOIN(name, REAL_NAME)   /* of registers of reals */
#define SMALL_NAME(name)    SMALL_JOIN(name, NUMBER_NAME) /* of numbers */
#define LANES_OF(real_name) SMALL_JOIN(lanes, real_name)

/* What counts as 0 off the diagonal of a matrix whose largest element is near 1. */
#define SMALL_REAL            float
#define REAL_NAME             f32
#define COMPLEX_NAME          c64
#define REAL_ROOT             sqrtf
#define REAL_EPSILON          (FLT_EPSILON / 2)
#define REAL_MIN              FLT_MIN
#define REAL_MAX              FLT_MAX
#define NEGLIGIBLE            (FLT_EPSILON / (1 << 20))
#define VREAL                 vf32
#define VMASK                 vi32
#define MAGNITUDE_BITS        INT32_MAX
#define FRACTION_BITS         23
#define MAX_EXPONENT          254
#define INTERLEAVE_LOW(x, y)  __builtin_shufflevector(x, y, LOW_F32)
#define INTERLEAVE_HIGH(x, y) __builtin_shufflevector(x, y, HIGH_F32)
#include "kernels/small_matrix_template.h" /* undefines them */

#define SMALL_REAL            double
#define REAL_NAME             f64
#define COMPLEX_NAME          c128
#define REAL_ROOT             sqrt
#define REAL_EPSILON          (DBL_EPSILON / 2)
#define REAL_MIN              DBL_MIN
#define REAL_MAX              DBL_MAX
#define NEGLIGIBLE            (DBL_EPSILON / (1 << 20))
#define VREAL                 vf64
#define VMASK                 vi64
#define MAGNITUDE_BITS        INT64_MAX
#define FRACTION_BITS         52
#define MAX_EXPONENT          2046
#define INTERLEAVE_LOW(x, y)  __builtin_shufflevector(x, y, LOW_F64)
#define INTERLEAVE_HIGH(x, y) __builtin_shufflevector(x, y, HIGH_F64)
#include "kernels/small_matrix_template.h"

static dt__small_matrix_loop *const small_matrix_loops[DT_N_DTYPES] = {
    [DT_F32] = small_run_f32, [DT_F64] = small_run_f64, [DT_C64] = small_run_c64, [DT_C128] = small_run_c128};

#endif
