/* SPDX-License-Identifier: Apache-2.0
 *
 * Means of losses of classes over sharded rows. The divisor of a mean is the sum of the weights of all targets that are
 * not ignored: the ranks exchange this one number instead of the targets.
 */
#ifndef DT_OPS_CLASS_MEANS_H
#define DT_OPS_CLASS_MEANS_H

#include "dtensor/op.h"

/* dt_op.decompose of cross_entropy and nll_loss: the sum, divided by the sum of weights. Not for other reductions, nor
 * for targets that are probabilities, whose number is known. */
dt_status dt__class_mean(dt_op_call *call, dt_tensor *const *inputs, dt_tensor **outputs);

#endif
