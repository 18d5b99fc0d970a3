/* SPDX-License-Identifier: Apache-2.0
 *
 * All kinds of work on small matrices of one dtype. small_matrix_template.h includes this file for real and for complex
 * numbers, with NUMBER_NAME and N_PARTS.
 */
#ifndef SMALL_REAL
#include "kernels/small_matrix_loops.h"
#else

#include "kernels/small_numbers.h" /* defines NUMBER */

#include "kernels/small_factors.h"
#include "kernels/small_reflectors.h"
#include "kernels/small_systems.h"

#include "kernels/small_eigenvalues.h" /* with reflectors */

#include "kernels/small_singular_values.h" /* with rotations of eigenvectors */

static void SMALL_NAME(run)(const dt__small_matrices *self, int64_t begin, int64_t end, void *memory) {
    static void (*const runs[DT__N_SMALL])(const dt__small_matrices *, int64_t, int, void *) = {
        [DT__SMALL_CHOLESKY] = SMALL_NAME(cholesky),
        [DT__SMALL_SOLVE] = SMALL_NAME(solve),
        [DT__SMALL_EIGH] = SMALL_NAME(eigh),
        [DT__SMALL_LU] = SMALL_NAME(lu),
        [DT__SMALL_DIAGONAL] = SMALL_NAME(diagonal),
        [DT__SMALL_TRIANGULAR] = SMALL_NAME(substitutions),
        [DT__SMALL_LU_SOLVE] = SMALL_NAME(substitutions),
        [DT__SMALL_QR] = SMALL_NAME(qr),
        [DT__SMALL_GEQRF] = SMALL_NAME(geqrf),
        [DT__SMALL_SVD] = SMALL_NAME(svd),
    };
    for (int64_t i = begin; i < end; i++)
        self->infos[i] = 0;
    for (int64_t first = begin; self->n && first < end; first += N_LANES)
        runs[self->kind](self, first, end - first < N_LANES ? (int)(end - first) : N_LANES, memory);
}

#undef NUMBER
#undef NUMBER_NAME
#undef N_PARTS
#endif
