/* SPDX-License-Identifier: Apache-2.0
 *
 * dt_save_npz with another limit for 32-bit fields than the format's own, for tests.
 */
#ifndef DT_MOVE_SAVE_NPY_H
#define DT_MOVE_SAVE_NPY_H

#include "dtensor/tensor.h"

dt_status dt__save_npz(const char *path, int n, const char *const *names, dt_tensor *const *tensors, int64_t limit);

#endif
