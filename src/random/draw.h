/* SPDX-License-Identifier: Apache-2.0
 *
 * Rounding of a draw's arguments to its dtype.
 */
#ifndef DT_RANDOM_DRAW_H
#define DT_RANDOM_DRAW_H

#include "random/random.h"

/* The nearest value of a float dtype, and the largest value of it that is below x, which is one. */
double dt__round_to(dt_dtype dtype, double x);
double dt__below(dt_dtype dtype, double x);
/* The integers that a dtype holds without loss of order: all of its own, or, of a float, all that are finite. */
void dt__randint_limits(dt_dtype dtype, int64_t *min, int64_t *max);

#endif
