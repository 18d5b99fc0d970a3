/* SPDX-License-Identifier: Apache-2.0
 *
 * Local images as kernels take them: with a batch, a number of dims of space, and in a dtype that is computed in. Where
 * a tensor is not so, a copy serves as the operand.
 */
#ifndef DT_OPS_IMAGE_OPERAND_H
#define DT_OPS_IMAGE_OPERAND_H

#include "ops/kernel_support.h"

enum { DT__SPACE_DIMS = 3 }; /* at most */

typedef struct dt__image {
    dt__array given, array; /* the tensor, and the operand */
    int64_t shape[DT__SPACE_DIMS + 2], strides[DT__SPACE_DIMS + 2];
    dt__scratch copy;
    bool is_copied;
} dt__image;

/* How a tensor is opened. */
typedef struct dt__image_form {
    bool adds_batch;
    int n_added;    /* dims of space of size 1, in front of the others */
    bool is_dense;  /* the operand is dense */
    bool is_output; /* its elements are not read */
} dt__image_form;

/* f16 and bf16 become f32, integers i64. Freed by dt__image_close, also after an error. */
dt_status dt__image_open(const dt_op_call *call, const dt_op_value *value, dt__image_form form, dt__image *out);
/* Writes the copy of an output to the tensor. */
void dt__image_store(const dt_op_call *call, const dt__image *image);
void dt__image_close(const dt_op_call *call, dt__image *image);

#endif
