/* SPDX-License-Identifier: Apache-2.0
 *
 * Random numbers one at a time: the plain table, and the functions that the tuned tables share with it.
 *
 * Truncated normal numbers are drawn by rejection sampling: propose, accept or try again with the words of the next
 * attempt. The proposal distribution depends on the bounds alone (src/random/draw.c): the normal distribution if most
 * of it is between them, a uniform one if they are close together, an exponential tail if both are far out on one
 * side. At least one in about ten proposals is accepted. The arithmetic is f64 whatever the dtype.
 */
#ifndef DT_KERNELS_RANDOM_PLAIN_H
#define DT_KERNELS_RANDOM_PLAIN_H

#include "kernels/random_draw.h"
#include "kernels/vector_math.h"

void dt__random_groups_plain(const dt__draw *draw, uint64_t group, int64_t n, void *dst);
void dt__random_words_plain(dt__philox_key key, uint64_t group, uint64_t *dst);

/* The proposal from two words, in standard deviations from the mean; NaN if it is rejected. Acceptance with
 * probability exp(-exponent / 2) is decided by comparing with the log of a uniform number. */
DT__INLINE double propose_truncated(const dt__draw *draw, dt__proposal proposal, uint64_t x, uint64_t y) {
    const double alpha = draw->alpha, beta = draw->beta, nearest = alpha > 0 ? alpha : 0;
    double z;
    if (proposal == DT__PROPOSE_NORMAL) {
        z = sqrt(-2 * random_log_f64(random_positive_f64(x))) * random_turn_f64(y).cos;
        return z >= alpha && z <= beta ? z : (double)NAN;
    }
    const double chance = -2 * random_log_f64(random_positive_f64(y));
    if (proposal == DT__PROPOSE_UNIFORM) {
        z = alpha + random_unit_f64(x) * (beta - alpha);
        return chance >= z * z - nearest * nearest ? z : (double)NAN;
    }
    z = alpha - random_log_f64(random_positive_f64(x)) / alpha;
    return z <= beta && chance >= (z - alpha) * (z - alpha) ? z : (double)NAN;
}

/* The first accepted proposal of element `index` from attempt `first` on. */
double dt__truncated_attempts(const dt__draw *draw, uint64_t index, uint32_t first);

/* The value of an accepted proposal. */
DT__INLINE double truncated_value(const dt__draw *draw, double z) {
    double value = (draw->mirrored ? -z : z) * draw->scale + draw->shift;
    return value < draw->low ? draw->low : value > draw->high ? draw->high : value;
}

/* Writes element i of dst, rounded to a float dtype. */
void dt__random_store(dt_dtype dtype, double value, int64_t i, void *dst);

#endif
