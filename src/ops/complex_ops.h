/* SPDX-License-Identifier: Apache-2.0
 *
 * What other ops need for complex numbers: conjugates, for gradients that are written as functions, and a check.
 */
#ifndef DT_OPS_COMPLEX_OPS_H
#define DT_OPS_COMPLEX_OPS_H

#include "dtensor/op.h"
#include "dtensor/tensor.h"

/* A check of ops of complex numbers which in place would overwrite what their gradients need. */
dt_status dt__refuse_complex_in_place(const dt_op_call *call);
/* The conjugate; the tensor itself if it is real, NULL for NULL. */
dt_tensor *dt__conjugate(dt_tensor *tensor);

#endif
