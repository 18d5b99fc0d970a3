/* SPDX-License-Identifier: Apache-2.0
 *
 * The gradients of cross_entropy and nll_loss.
 */
#ifndef DT_OPS_CROSS_ENTROPY_GRADIENTS_H
#define DT_OPS_CROSS_ENTROPY_GRADIENTS_H

#include "ops/kernel_support.h"

/* dt_op.backward of both. */
dt_status dt__cross_entropy_gradients(const dt_op_backward *call, dt_tensor **input_grads);

#endif
