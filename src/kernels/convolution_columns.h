/* SPDX-License-Identifier: Apache-2.0
 *
 * The columns of a convolution: for each position of the map the elements of the image that it reads, one per channel
 * and tap. Elements outside the image are zeros.
 */
#ifndef DT_KERNELS_CONVOLUTION_COLUMNS_H
#define DT_KERNELS_CONVOLUTION_COLUMNS_H

#include "kernels/kernels.h"

enum { DT__SPACE = 3 };

/* An image or a map; strides in elements. */
typedef struct dt__conv_operand {
    char *data;
    int64_t batch, channel, step[DT__SPACE], size[DT__SPACE];
} dt__conv_operand;

typedef struct dt__columns {
    dt_dtype dtype;
    dt__conv_operand image;
    int64_t taps[DT__SPACE], positions[DT__SPACE];
    int64_t stride[DT__SPACE], dilation[DT__SPACE];
    int64_t begin[DT__SPACE]; /* where the first tap of the first position reads */
} dt__columns;

/* Columns of n positions, from `from` on in row-major order, of some channels: `data` has a row of n elements for each
 * channel and tap. */
typedef struct dt__column_block {
    int64_t batch, channel, n_channels, from, n;
    char *data;
} dt__column_block;

void dt__columns_unfold(const dt__kernels *kernels, const dt__columns *columns, const dt__column_block *block);
/* Adds the columns to the elements of the image that they belong to. */
void dt__columns_fold(const dt__kernels *kernels, const dt__columns *columns, const dt__column_block *block);
/* Fills channels of the image with their bias, or with zeros if it is NULL. */
void dt__columns_fill(const dt__kernels *kernels, const dt__columns *columns, const dt__array *bias, int64_t batch,
                      int64_t channel, int64_t n_channels);
/* Copies positions of channels to the rows of a block, or back. */
void dt__positions_copy(const dt__kernels *kernels, const dt__conv_operand *operand, dt_dtype dtype,
                        const dt__column_block *block, bool to_block);

#endif
