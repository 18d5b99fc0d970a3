/* SPDX-License-Identifier: Apache-2.0
 *
 * Means of losses of classes over sharded rows. A mean is divided by the weights of all targets that are not ignored:
 * instead of the targets, the ranks exchange one number.
 */
#ifndef DT_OPS_CLASS_MEANS_H
#define DT_OPS_CLASS_MEANS_H

#include "dtensor/op.h"

/* dt_op.decompose of cross_entropy and nll_loss: the sum, divided by the sum of weights. Not for other reductions, nor
 * for targets that are probabilities, whose number is known. */
dt_status dt__class_mean(dt_op_call *call, dt_tensor *const *inputs, dt_tensor **outputs);

#endif
