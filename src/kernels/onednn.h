/* SPDX-License-Identifier: Apache-2.0
 *
 * Convolutions of f32 by oneDNN, which is loaded at the first one that is large enough to use it: a private copy that
 * runs one thread (private_library.h), so that a call is one thread's work. Version 2 is supported (libdnnl.so.2).
 * library_convolution.c divides convolutions into calls.
 *
 * A prepared convolution has machine code of its own for its sizes and strides. Operands whose order in memory is not
 * that of the code are reordered: the image and the map in each call, the weight once for many calls.
 */
#ifndef DT_KERNELS_ONEDNN_H
#define DT_KERNELS_ONEDNN_H

#include "kernels/kernels.h"

enum { DT__ONEDNN_SPACE = 3 };

/* The sizes of one call, in elements. Unused fields are 0, so that equal sizes have equal bytes. `channels` of an image
 * and `filters` of a map are those of all groups. */
typedef struct dt__onednn_sizes {
    int64_t out, n_dims; /* a dt__convolution_part; of space */
    int64_t batch, groups, channels, filters, has_bias;
    int64_t image[DT__ONEDNN_SPACE], map[DT__ONEDNN_SPACE], taps[DT__ONEDNN_SPACE];
    int64_t stride[DT__ONEDNN_SPACE], dilation[DT__ONEDNN_SPACE], before[DT__ONEDNN_SPACE], after[DT__ONEDNN_SPACE];
    /* Strides: batch, channel, space; of the weight: filter, channel, taps. */
    int64_t image_strides[DT__ONEDNN_SPACE + 2], map_strides[DT__ONEDNN_SPACE + 2],
        weight_strides[DT__ONEDNN_SPACE + 2];
} dt__onednn_sizes;

typedef struct dt__onednn_conv dt__onednn_conv;

/* Whether the library is installed. Loads it. From any thread. */
bool dt__onednn_load(void);
/* NULL if the library has no fast code for this, or when out of memory; no error is recorded. */
dt__onednn_conv *dt__onednn_conv_new(dt_ctx *ctx, const dt__onednn_sizes *sizes);
void dt__onednn_conv_free(dt_ctx *ctx, dt__onednn_conv *conv);

/* The memory of a call, aligned to 64 bytes, and of a weight in the order of the code; 0: it is used where it is. */
size_t dt__onednn_conv_bytes(const dt__onednn_conv *conv);
size_t dt__onednn_weight_bytes(const dt__onednn_conv *conv);

/* The arrays of a call. A weight that is read is reordered where its bytes are not 0. */
typedef struct dt__onednn_arrays {
    void *image, *weight, *map;
    const void *bias;
    char *memory; /* of dt__onednn_conv_bytes */
} dt__onednn_arrays;

/* From any thread. False when out of memory. */
bool dt__onednn_reorder_weight(const dt__onednn_conv *conv, const void *weight, void *to, char *memory);
bool dt__onednn_conv_run(const dt__onednn_conv *conv, const dt__onednn_arrays *arrays);

#endif
