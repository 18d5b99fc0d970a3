/* SPDX-License-Identifier: Apache-2.0
 *
 * Saving tensors as .npy and .npz files. Here dt_save_npz has a parameter for the limit of 32-bit fields, so that
 * tests need no files of 4 GiB.
 */
#ifndef DT_MOVE_SAVE_NPY_H
#define DT_MOVE_SAVE_NPY_H

#include "dtensor/tensor.h"

dt_status dt__save_npz(const char *path, int n, const char *const *names, dt_tensor *const *tensors, int64_t limit);

#endif
