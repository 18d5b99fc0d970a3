/* SPDX-License-Identifier: Apache-2.0
 *
 * The phases of eigenvectors, and the part of a gradient that they take.
 */
#include "ops/eigenvectors.h"

#include "base/dtype.h"
#include "dtensor/ops.h"
#include "ops/complex_ops.h"

#include <complex.h>
#include <math.h>

#define TURN(name, T, SIZE, CONJ)                                                                                    \
    static void name(int64_t n, T *vectors) {                                                                        \
        for (int64_t j = 0; j < n; j++, vectors += n) {                                                              \
            int64_t at = 0;                                                                                          \
            for (int64_t i = 1; i < n; i++)                                                                          \
                at = SIZE(vectors[i]) > SIZE(vectors[at]) ? i : at;                                                  \
            if (!(SIZE(vectors[at]) > 0))                                                                            \
                continue;                                                                                            \
            const T turn = CONJ(vectors[at]) / SIZE(vectors[at]);                                                    \
            for (int64_t i = 0; i < n; i++)                                                                          \
                vectors[i] = i == at ? SIZE(vectors[i]) : vectors[i] * turn;                                         \
        }                                                                                                            \
    }
TURN(turn_f32, float, fabsf, +)
TURN(turn_f64, double, fabs, +)
TURN(turn_c64, float _Complex, cabsf, conjf)
TURN(turn_c128, double _Complex, cabs, conj)

void dt__turn_vectors(dt_dtype dtype, int64_t n, void *vectors) {
    if (dtype == DT_F32)
        turn_f32(n, vectors);
    else if (dtype == DT_F64)
        turn_f64(n, vectors);
    else if (dtype == DT_C64)
        turn_c64(n, vectors);
    else
        turn_c128(n, vectors);
}

/* With z = vᴴ g of a column, v[k] its largest component and e[k] the unit vector there: g - v Re(z) - e[k] i Im(z) /
 * v[k]. A change u of the vector is followed by -v Re(vᴴ u), which keeps its norm, and -i v Im(u[k]) / v[k], which
 * keeps its phase. */
dt_tensor *dt__at_fixed_phases(dt_tensor *v, dt_tensor *grad) {
    if (v && !dt_tensor_size(v, -1))
        return grad; /* there are no components to compare */
    const bool is_complex = dt__is_complex(dt_tensor_dtype(v));
    dt_tensor *z = dt_sum(dt_mul(dt__conjugate(v), grad), .dim = DT_DIMS(-2), .keepdim = true);
    if (!is_complex)
        return dt_sub(grad, dt_mul(v, z));
    dt_tensor *real = dt_mul_scalar(dt_add(z, dt_conj(z)), 0.5), *sizes = dt_abs(v);
    dt_tensor *at = dt_one_hot(dt_argmax(sizes, .dim = DT_INT(-2)), dt_tensor_size(v, -2));
    dt_tensor *largest = dt_amax(sizes, .dim = DT_DIMS(-2), .keepdim = true);
    dt_tensor *turned = dt_mul(dt_transpose(at, -2, -1), dt_div(dt_sub(z, real), largest));
    return dt_sub(dt_sub(grad, dt_mul(v, real)), turned);
}
