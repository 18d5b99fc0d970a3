/* SPDX-License-Identifier: Apache-2.0
 *
 * Parts of a partial tensor: numbers, different on each rank, that reduce to a given value. Deterministic: the parts
 * follow from a seed, the element's number and the rank's place.
 */
#ifndef TOOLS_DTENSOR_SPLIT_H
#define TOOLS_DTENSOR_SPLIT_H

#include "dtensor/base.h"

/* How many ranks reduce, and how. Sums and averages may be mixed: n_averaged of the n parts are averaged, the quotient
 * summed. */
typedef struct split {
    dt_reduce reduce;
    dt_dtype dtype;
    int64_t n, n_averaged;
    uint64_t seed;
} split;

/* Part `place` (0 … n - 1) of a number, and of a whole number. */
double split_number(const split *how, double value, int64_t element, int64_t place);
int64_t split_whole(const split *how, int64_t value, int64_t element, int64_t place);

#endif
