/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums and maxima of a few contiguous f32 elements, inline, for rows that are so short that calling a loop of
 * fold_loops.h costs more than the row. To the same bits as those loops: lanes are joined pairwise by halves, without
 * the lanes that the row does not fill.
 */
#ifndef DT_KERNELS_SHORT_ROWS_H
#define DT_KERNELS_SHORT_ROWS_H

#include "kernels/element_types.h"

enum { DT__SHORT_ROW = 15 }; /* elements: fewer than the lanes of a fold */

static inline double dt__join_lanes(double *lanes, int n) {
    int width = 1;
    while (width < n)
        width *= 2;
    for (int j = n; j < width; j++)
        lanes[j] = 0;
    for (int half = width / 2; half; half /= 2)
        for (int j = 0; j < half; j++)
            lanes[j] += lanes[j + half];
    return 0 + lanes[0];
}

static inline double dt__short_sum(const dt__f32 *x, int n) {
    double lanes[DT__SHORT_ROW + 1];
    for (int j = 0; j < n; j++)
        lanes[j] = 0 + (double)x[j];
    return dt__join_lanes(lanes, n);
}

/* The sum of squares of differences from a mean. */
static inline double dt__short_deviations(const dt__f32 *x, int n, double mean) {
    double lanes[DT__SHORT_ROW + 1];
    for (int j = 0; j < n; j++) {
        const double off = (double)x[j] - mean;
        lanes[j] = 0 + off * off;
    }
    return dt__join_lanes(lanes, n);
}

/* NaN if an element is. */
static inline float dt__short_max(const dt__f32 *x, int n) {
    float largest = x[0];
    for (int j = 1; j < n; j++)
        largest = x[j] > largest || x[j] != x[j] ? x[j] : largest;
    return largest;
}

#endif
