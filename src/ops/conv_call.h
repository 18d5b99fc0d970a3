/* SPDX-License-Identifier: Apache-2.0
 *
 * Convolutions as one relation of three tensors: an image [N,C,..], a weight [K,C / groups,taps..] and a map [N,K,..].
 * conv2d computes the map from the other two, conv_transpose2d the image, and each is a gradient of the others. Batch
 * may be absent.
 */
#ifndef DT_OPS_CONV_CALL_H
#define DT_OPS_CONV_CALL_H

#include "kernels/kernels.h"
#include "ops/image_operand.h"

/* Arguments; ops have the first four, and some of the others. */
#define DT__CONV_ARGUMENTS "stride,padding,dilation,groups"
enum { DT__CONV_STRIDE, DT__CONV_PADDING, DT__CONV_DILATION, DT__CONV_GROUPS };

/* What an op of the family computes. */
typedef struct dt__conv_family {
    dt__convolution_part out;
    int n_space; /* 0: by the dims of the weight */
} dt__conv_family;

/* A call of an op of the family. */
typedef struct dt__conv {
    dt__convolution_part out;
    int n_space;
    int n_leading; /* dims before those of space: 2, or 1 without a batch */
    int64_t groups;
    /* Those that the call has: inputs, and in kernels and windows the output. */
    const dt_op_value *image, *weight, *map, *bias;
    int64_t stride[DT__SPACE_DIMS], padding[DT__SPACE_DIMS], dilation[DT__SPACE_DIMS];
} dt__conv;

/* The numbers of a call whose arguments the shape function has checked. */
void dt__conv_read(const dt_op_call *call, dt__conv *out);
/* A shape function, a rows function and a window function for all ops of the family. */
dt_status dt__conv_shape(dt_op_call *call);
void dt__conv_rows(const dt_op_call *call, dt_rows *rows);
void dt__conv_window(const dt_op_call *call, int input, int dim, dt_window *out);

#endif
