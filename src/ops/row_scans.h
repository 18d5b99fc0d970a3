/* SPDX-License-Identifier: Apache-2.0
 *
 * The gradient of cumprod.
 */
#ifndef DT_OPS_ROW_SCANS_H
#define DT_OPS_ROW_SCANS_H

#include "dtensor/op.h"

/* dt_op.backward of an op whose first argument by name is the dim; it reads the tensor and the result. */
dt_status dt__cumprod_backward(const dt_op_backward *call, dt_tensor **input_grads);

#endif
