/* SPDX-License-Identifier: Apache-2.0
 *
 * Factorizations of small matrices, a register of matrices at once: element [i,j] of all of them is one register, or of
 * complex numbers two. small_matrix_loops.h includes this file for each real type, with SMALL_REAL, its name, and the
 * vectors of it. The result of a matrix does not depend on the other lanes: where matrices need different numbers of
 * steps, masks keep finished lanes unchanged, to the bit.
 */
#ifndef SMALL_REAL
#include "kernels/small_matrix_loops.h"
#else

#include "kernels/small_lanes.h"

#define NUMBER_NAME REAL_NAME
#define N_PARTS     1
#include "kernels/small_matrix_kinds.h" /* undefines them */

#define NUMBER_NAME COMPLEX_NAME
#define N_PARTS     2
#include "kernels/small_matrix_kinds.h"

#undef N_LANES
#undef SMALL_REAL
#undef REAL_NAME
#undef COMPLEX_NAME
#undef REAL_ROOT
#undef REAL_EPSILON
#undef REAL_MIN
#undef REAL_MAX
#undef NEGLIGIBLE
#undef VREAL
#undef VMASK
#undef MAGNITUDE_BITS
#undef FRACTION_BITS
#undef MAX_EXPONENT
#undef INTERLEAVE_LOW
#undef INTERLEAVE_HIGH
#endif
