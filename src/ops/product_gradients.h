/* SPDX-License-Identifier: Apache-2.0
 *
 * The gradients of prod and cumprod.
 */
#ifndef DT_OPS_PRODUCT_GRADIENTS_H
#define DT_OPS_PRODUCT_GRADIENTS_H

#include "dtensor/op.h"

/* dt_op.backward of ops whose first argument by name is the dim; they read the tensor. */
dt_status dt__prod_backward(const dt_op_backward *call, dt_tensor **input_grads);
dt_status dt__cumprod_backward(const dt_op_backward *call, dt_tensor **input_grads);

#endif
