/* SPDX-License-Identifier: Apache-2.0
 *
 * Rounding of a draw's arguments to its dtype.
 */
#ifndef DT_RANDOM_DRAW_H
#define DT_RANDOM_DRAW_H

#include "random/random.h"

/* The nearest value of a float dtype; and, for a value x of the dtype, the largest value below it. */
double dt__round_to(dt_dtype dtype, double x);
double dt__below(dt_dtype dtype, double x);
/* The range of integers that a dtype can hold: its own limits or, for a float, all finite values. */
void dt__randint_limits(dt_dtype dtype, int64_t *min, int64_t *max);

#endif
