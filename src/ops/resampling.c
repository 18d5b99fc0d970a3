/* SPDX-License-Identifier: Apache-2.0
 *
 * The bands of averages and interpolation (resampling.h), with the conventions of PyTorch: where the centers of
 * elements are, how positions before the first element are treated, and in which precision nearest positions are found.
 */
#include "ops/resampling.h"

#include <math.h>

static int64_t clamp_index(int64_t at, int64_t size) { return dt__max_i64(dt__min_i64(at, size - 1), 0); }

/* The size of an element of the result, in elements of the image. */
static double scale_of(const dt__resampling *self, int d) {
    if (self->aligns_corners)
        return self->result[d] > 1 ? (double)(self->image[d] - 1) / (double)(self->result[d] - 1) : 0;
    return self->scale[d] > 0 ? 1 / self->scale[d] : (double)self->image[d] / (double)self->result[d];
}

/* Writes n equal weights. */
static int64_t fill_band(double *weights, int64_t n, double weight) {
    for (int64_t i = 0; i < n && weights; i++)
        weights[i] = weight;
    return n;
}

static int64_t band_of_average(const dt__resampling *self, int d, int64_t at, int64_t *begin, double *weights) {
    const int64_t first = at * self->stride[d] - self->padding[d],
                  last = dt__min_i64(first + self->kernel[d], self->image[d] + self->padding[d]);
    const int64_t end = dt__min_i64(last, self->image[d]);
    *begin = dt__max_i64(first, 0);
    const int64_t n = dt__max_i64(end - *begin, 0);
    const double count = self->divisor != 0 ? 1 : (double)(self->counts_padding ? last - first : n);
    return fill_band(weights, n, 1 / (self->divisor != 0 && d == 0 ? self->divisor : count));
}

static int64_t band_of_part(const dt__resampling *self, int d, int64_t at, int64_t *begin, double *weights) {
    const int64_t image = self->image[d], result = self->result[d];
    *begin = at / result * image + at % result * image / result;
    const int64_t end = (at + 1) / result * image + ((at + 1) % result * image + result - 1) / result;
    return fill_band(weights, end - *begin, 1 / (double)(end - *begin));
}

/* Positions are found in f32, whatever the dtype. In two dims and without half an element, sizes that are equal or
 * doubled count, and not the scale that they were computed from. */
static int64_t band_of_nearest(const dt__resampling *self, int d, int64_t at, int64_t *begin, double *weights) {
    const bool is_exact = self->mode == DT__NEAREST_EXACT;
    const float half = is_exact ? 0.5F : 0, scale = (float)scale_of(self, d);
    const int64_t factor = self->result[d] / self->image[d];
    const bool is_whole =
        !is_exact && self->n_space == 2 && factor * self->image[d] == self->result[d] && (factor == 1 || factor == 2);
    *begin = is_whole ? at / factor : clamp_index((int64_t)floorf(((float)at + half) * scale), self->image[d]);
    return fill_band(weights, 1, 1);
}

static double position_of(const dt__resampling *self, int d, int64_t at) {
    const double scale = scale_of(self, d);
    return self->aligns_corners ? scale * (double)at : scale * ((double)at + 0.5) - 0.5;
}

/* Along a dim whose size does not change, linear and smooth interpolation copy, whatever scale was given. */
static int64_t band_of_copy(int64_t at, int64_t *begin, double *weights) {
    *begin = at;
    return fill_band(weights, 1, 1);
}

static int64_t band_of_linear(const dt__resampling *self, int d, int64_t at, int64_t *begin, double *weights) {
    if (self->image[d] == self->result[d])
        return band_of_copy(at, begin, weights);
    const double position = fmax(position_of(self, d, at), 0);
    *begin = clamp_index((int64_t)position, self->image[d]);
    const double part = fmin(fmax(position - (double)*begin, 0), 1);
    if (*begin == self->image[d] - 1)
        return fill_band(weights, 1, 1);
    if (weights) {
        weights[0] = 1 - part;
        weights[1] = part;
    }
    return 2;
}

/* The weight of an element at this distance, for the parameter a of the family of cubic convolutions. */
static double cubic_weight(double distance, double a) {
    const double x = fabs(distance);
    if (x < 1)
        return ((a + 2) * x - (a + 3)) * x * x + 1;
    return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

/* Elements outside the image are those at its ends. */
static int64_t band_of_cubic(const dt__resampling *self, int d, int64_t at, int64_t *begin, double *weights) {
    const double position = position_of(self, d, at), floor_of = floor(position);
    const int64_t first = (int64_t)floor_of - 1, size = self->image[d];
    *begin = clamp_index(first, size);
    const int64_t n = clamp_index(first + 3, size) - *begin + 1;
    fill_band(weights, n, 0);
    for (int i = 0; i < 4 && weights; i++)
        weights[clamp_index(first + i, size) - *begin] += cubic_weight(position - (floor_of - 1 + i), -0.75);
    return n;
}

static double smooth_weight(const dt__resampling *self, double distance) {
    return self->mode == DT__CUBIC ? cubic_weight(distance, -0.5) : fmax(1 - fabs(distance), 0);
}

/* Bands as wide as an element of the result, normalized. */
static int64_t band_of_smooth(const dt__resampling *self, int d, int64_t at, int64_t *begin, double *weights) {
    if (self->image[d] == self->result[d])
        return band_of_copy(at, begin, weights);
    const double scale = scale_of(self, d), wide = fmax(scale, 1);
    const double support = (self->mode == DT__CUBIC ? 2 : 1) * wide, center = scale * ((double)at + 0.5);
    *begin = dt__max_i64((int64_t)(center - support + 0.5), 0);
    const int64_t end = dt__min_i64((int64_t)(center + support + 0.5), self->image[d]);
    double sum = 0;
    for (int64_t i = *begin; i < end && weights; i++)
        sum += weights[i - *begin] = smooth_weight(self, ((double)i - center + 0.5) / wide);
    for (int64_t i = *begin; i < end && weights && sum != 0; i++)
        weights[i - *begin] /= sum;
    return dt__max_i64(end - *begin, 0);
}

int64_t dt__resampling_band(const dt__resampling *self, int d, int64_t at, int64_t *begin, double *weights) {
    typedef int64_t band_function(const dt__resampling *, int, int64_t, int64_t *, double *);
    static band_function *const functions[DT__N_RESAMPLE_MODES] = {
        [DT__AVERAGE] = band_of_average,       [DT__ADAPTIVE] = band_of_part, [DT__NEAREST] = band_of_nearest,
        [DT__NEAREST_EXACT] = band_of_nearest, [DT__LINEAR] = band_of_linear, [DT__CUBIC] = band_of_cubic,
    };
    return (self->is_smooth ? band_of_smooth : functions[self->mode])(self, d, at, begin, weights);
}

dt__index_range dt__resampling_read(const dt__resampling *self, int d, int64_t first, int64_t n) {
    dt__index_range out = {0, 0};
    int64_t last;
    (void)dt__resampling_band(self, d, first, &out.begin, NULL);
    const int64_t count = dt__resampling_band(self, d, first + n - 1, &last, NULL);
    out.begin = dt__min_i64(out.begin, self->image[d]);
    out.end = dt__max_i64(dt__min_i64(last + count, self->image[d]), out.begin);
    return out;
}

/* The first result whose band ends after an index of the image, or, of beginnings, begins after it. */
static int64_t first_after(const dt__resampling *self, int d, int64_t index, bool of_beginnings) {
    int64_t low = 0, high = self->result[d];
    while (low < high) {
        int64_t middle = low + (high - low) / 2, begin;
        const int64_t n = dt__resampling_band(self, d, middle, &begin, NULL);
        if (begin + (of_beginnings ? 0 : n) > index)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

dt__index_range dt__resampling_readers(const dt__resampling *self, int d, int64_t first, int64_t n) {
    dt__index_range out = {first_after(self, d, first, false), first_after(self, d, first + n - 1, true)};
    out.end = dt__max_i64(out.end, out.begin);
    return out;
}

int64_t dt__pooled_size(int64_t size, int64_t reach, int64_t stride, int64_t padding, bool ceil_mode) {
    const int64_t room = size + 2 * padding - reach - 1 + (ceil_mode ? stride - 1 : 0);
    int64_t out = room < 0 ? 0 : room / stride + 1;
    if (ceil_mode && (out - 1) * stride >= size + padding) /* a window that begins after the image */
        out--;
    return out;
}
