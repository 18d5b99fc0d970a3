/* SPDX-License-Identifier: Apache-2.0
 *
 * Limits of statistics of random numbers, for any seed: a true sample exceeds each about once in 10^7.
 */
#ifndef DT_TESTS_RANDOM_STATISTICS_H
#define DT_TESTS_RANDOM_STATISTICS_H

#include <math.h>

static const double SIGMAS = 5.33; /* of a normal statistic: 2 * normal_cdf(-5.33) = 1e-7 */

static inline double chi_square(const int *counts, int n, double expected) {
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += (counts[i] - expected) * (counts[i] - expected) / expected;
    return sum;
}

/* The cube root of chi-square / degrees is nearly normal (Wilson and Hilferty), and is above 5.2 standard deviations
 * once in 10^7. For 2 degrees of freedom, for which this is least exact, it is once in 7 * 10^7. */
static inline double chi_limit(double degrees) {
    return degrees * pow(1 - 2 / (9 * degrees) + 5.2 * sqrt(2 / (9 * degrees)), 3);
}

#endif
