/* SPDX-License-Identifier: Apache-2.0
 *
 * Averages of windows and interpolation of images as one family: along each dim of space, an element of the result is a
 * weighted sum of a band of neighbors. avg_pool2d, adaptive_avg_pool2d and interpolate differ in the bands only, and
 * their gradient is the transposed map.
 */
#ifndef DT_OPS_RESAMPLING_H
#define DT_OPS_RESAMPLING_H

#include "ops/image_operand.h"

typedef enum dt__resample_mode {
    DT__AVERAGE,  /* of a window of a fixed size */
    DT__ADAPTIVE, /* of windows that cover all of the dim */
    DT__NEAREST,
    DT__NEAREST_EXACT,
    DT__LINEAR,
    DT__CUBIC,
    DT__N_RESAMPLE_MODES
} dt__resample_mode;

/* A map of images, by global sizes. */
typedef struct dt__resampling {
    dt__resample_mode mode;
    int n_space;
    int n_leading;       /* dims before those of space: 1 or 2 */
    bool is_transposed;  /* computes the image from the result */
    bool aligns_corners; /* of interpolation: the centers of the first and last elements coincide */
    bool is_smooth;      /* bands are widened where the result is smaller than the image (antialias) */
    bool counts_padding; /* of averages: the divisor includes padding */
    double divisor;      /* of averages; 0: the number of elements */
    int64_t image[DT__SPACE_DIMS], result[DT__SPACE_DIMS];
    int64_t kernel[DT__SPACE_DIMS], stride[DT__SPACE_DIMS], padding[DT__SPACE_DIMS]; /* of averages */
    double scale[DT__SPACE_DIMS]; /* of interpolation: sizes of the result per size of the image; 0: their quotient */
} dt__resampling;

/* The band of index `at` of the result in dim d of space: its first index of the image and the number of them. Its
 * weights are written if `weights` is not NULL. Both ends of bands ascend with the index. */
int64_t dt__resampling_band(const dt__resampling *self, int d, int64_t at, int64_t *begin, double *weights);
/* The indices of the image in the bands of results first to first + n - 1, and the results whose bands have some of
 * the elements first to first + n - 1 of the image. */
typedef struct dt__index_range {
    int64_t begin, end;
} dt__index_range;
dt__index_range dt__resampling_read(const dt__resampling *self, int d, int64_t first, int64_t n);
dt__index_range dt__resampling_readers(const dt__resampling *self, int d, int64_t first, int64_t n);

/* The number of windows of a dim: of a reach of so many elements after the first, with ceil_mode also one that goes
 * beyond the end, but does not begin there. */
int64_t dt__pooled_size(int64_t size, int64_t reach, int64_t stride, int64_t padding, bool ceil_mode);

#endif
