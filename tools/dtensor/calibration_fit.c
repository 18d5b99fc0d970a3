/* SPDX-License-Identifier: Apache-2.0
 *
 * The line that fits measured times, and a steeper one for results that the caches do not hold. Times span five orders
 * of magnitude, so ratios count and not differences: the largest ratio between a line and a point, in either direction,
 * is made as small as possible. The lines that stay below some ratio are a convex set of start-up times and slopes, so
 * along either of them the ratio falls and then rises: a ternary search over the slope, with one over the start-up time
 * inside, finds the minimum. Each size but the largest is tried as the first one on the steeper line.
 */
#include "calibration.h"

#include <math.h>

enum { STEPS = 40 };
static const double HARDLY_BETTER = 0.98; /* the simpler form stays, if another one improves the ratio by less */

/* Bounds of a parameter, in logarithms. */
typedef struct range {
    double low, high;
} range;

/* The search; slopes are in microseconds per byte. */
typedef struct fitting {
    const calibration_series *series;
    range starts, slopes;
    double cache_bytes; /* points above are for the steeper line */
    double start, slope, memory_slope;
} fitting;

static double ratio_at(const calibration_point *point, double us) { return fmax(us / point->us, point->us / us); }

/* Of a line to the points that the caches hold. */
static double line_ratio(const fitting *self, double start, double slope) {
    double worst = 1;
    for (int i = 0; i < self->series->n_points; i++) {
        const calibration_point *point = &self->series->points[i];
        if (point->bytes <= self->cache_bytes)
            worst = fmax(worst, ratio_at(point, start + slope * point->bytes));
    }
    return worst;
}

/* Of the steeper line, which continues the first, to the other points. */
static double memory_ratio(const fitting *self, double slope) {
    double worst = 1, cached_us = self->start + self->slope * self->cache_bytes;
    for (int i = 0; i < self->series->n_points; i++) {
        const calibration_point *point = &self->series->points[i];
        if (point->bytes > self->cache_bytes)
            worst = fmax(worst, ratio_at(point, cached_us + slope * (point->bytes - self->cache_bytes)));
    }
    return worst;
}

/* Wide enough for any line between the points: all start-up, or all rate. */
static void find_ranges(fitting *self) {
    double min_us = INFINITY, max_us = 0, min_slope = INFINITY, max_slope = 0;
    for (int i = 0; i < self->series->n_points; i++) {
        const calibration_point *point = &self->series->points[i];
        min_us = fmin(min_us, point->us);
        max_us = fmax(max_us, point->us);
        min_slope = fmin(min_slope, point->us / point->bytes);
        max_slope = fmax(max_slope, point->us / point->bytes);
    }
    self->starts = (range){log(min_us / 1000), log(max_us)};
    self->slopes = (range){log(min_slope / 1000), log(max_slope)};
}

static double inner_low(const range *of) { return exp(of->low + (of->high - of->low) / 3); }
static double inner_high(const range *of) { return exp(of->high - (of->high - of->low) / 3); }
static double middle(const range *of) { return exp((of->low + of->high) / 2); }

/* Removes the third of a range that does not have the minimum, by the ratios at its inner points. */
static void shrink(range *of, double low_ratio, double high_ratio) {
    double third = (of->high - of->low) / 3;
    if (low_ratio < high_ratio)
        of->high -= third;
    else
        of->low += third;
}

/* The smallest ratio of lines with this slope. */
static double fit_start(fitting *self, double slope) {
    range of = self->starts;
    for (int i = 0; i < STEPS; i++)
        shrink(&of, line_ratio(self, inner_low(&of), slope), line_ratio(self, inner_high(&of), slope));
    self->start = middle(&of);
    return line_ratio(self, self->start, slope);
}

static double fit_line(fitting *self) {
    range of = self->slopes;
    for (int i = 0; i < STEPS; i++)
        shrink(&of, fit_start(self, inner_low(&of)), fit_start(self, inner_high(&of)));
    self->slope = middle(&of);
    return fit_start(self, self->slope);
}

/* The smallest ratio if the first line ends at this size; the second is no flatter. */
static double fit_both(fitting *self, double cache_bytes) {
    self->cache_bytes = cache_bytes;
    double ratio = fit_line(self);
    range of = {log(self->slope), fmax(log(self->slope), self->slopes.high)};
    for (int i = 0; i < STEPS; i++)
        shrink(&of, memory_ratio(self, inner_low(&of)), memory_ratio(self, inner_high(&of)));
    self->memory_slope = middle(&of);
    return fmax(ratio, memory_ratio(self, self->memory_slope));
}

static double largest(const calibration_series *series) {
    double bytes = 0;
    for (int i = 0; i < series->n_points; i++)
        bytes = fmax(bytes, series->points[i].bytes);
    return bytes;
}

double calibration_fit(const calibration_series *series, dt__measured_step *out) {
    fitting self = {.series = series, .cache_bytes = INFINITY};
    find_ranges(&self);
    double best = fit_line(&self);
    fitting fitted = self;
    for (int i = 0; i < series->n_points; i++) {
        double ratio =
            series->points[i].bytes < largest(series) ? fit_both(&self, series->points[i].bytes) : INFINITY;
        if (ratio < best * HARDLY_BETTER && self.memory_slope > self.slope) {
            best = ratio;
            fitted = self;
        }
    }
    bool has_memory = isfinite(fitted.cache_bytes);
    *out = (dt__measured_step){.kind = series->kind,
                               .strided = series->strided,
                               .group = series->group,
                               .ranks = series->ranks,
                               .start_us = fitted.start,
                               .bytes_per_us = 1 / fitted.slope,
                               .cache_bytes = has_memory ? fitted.cache_bytes : 0,
                               .memory_bytes_per_us = has_memory ? 1 / fitted.memory_slope : 0};
    return best;
}
