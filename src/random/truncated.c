/* SPDX-License-Identifier: Apache-2.0
 *
 * A normal number between limits, by rejection: propose, accept or try again with the next attempt's words. Which
 * proposal is best follows from the limits alone (draw.c): the bell itself where it mostly falls between them, equal
 * chances where they are close together, an exponential tail where both lie far out on one side. At least one in about
 * ten is accepted. Arithmetic is double whatever the dtype.
 */
#include "random/kernels.h"
#include "random/scalar.h"

enum { MOST_ATTEMPTS = 1 << 16 };

/* Accepts with the chance exp(-exponent / 2): the log of a uniform number decides. */
static bool accepts(uint64_t word, double exponent) { return -2 * log_f64(positive_f64(word)) >= exponent; }

static bool propose(const dt__draw *draw, const philox_block *block, double *z) {
    const uint64_t x = block_u64(block, 0), y = block_u64(block, 1);
    switch (draw->proposal) {
    case DT__PROPOSE_NORMAL:
        *z = sqrt(-2 * log_f64(positive_f64(x))) * turn_f64(y).cos;
        return *z >= draw->alpha && *z <= draw->beta;
    case DT__PROPOSE_UNIFORM: {
        double nearest = draw->alpha > 0 ? draw->alpha : 0;
        *z = draw->alpha + unit_f64(x) * (draw->beta - draw->alpha);
        return accepts(y, *z * *z - nearest * nearest);
    }
    default:
        *z = draw->alpha - log_f64(positive_f64(x)) / draw->alpha;
        return *z <= draw->beta && accepts(y, (*z - draw->alpha) * (*z - draw->alpha));
    }
}

double dt__truncated_normal(const dt__draw *draw, uint64_t index) {
    double z = draw->alpha; /* stays where 2^16 attempts fail, which does not happen: 0.9^65536 */
    for (uint32_t attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
        philox_block block = random_block(draw->state, index, attempt);
        if (propose(draw, &block, &z))
            break;
    }
    double value = (draw->mirrored ? -z : z) * draw->scale + draw->shift;
    return value < draw->low ? draw->low : value > draw->high ? draw->high : value;
}
