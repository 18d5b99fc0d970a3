/* SPDX-License-Identifier: Apache-2.0
 *
 * Saving tensors as .npy and .npz files, with hooks for tests: large files and file systems without unnamed files are
 * rare.
 */
#ifndef DT_MOVE_SAVE_NPY_H
#define DT_MOVE_SAVE_NPY_H

#include "dtensor/tensor.h"

typedef struct dt__save_options {
    int64_t limit; /* of 32-bit fields in a zip file; normally DT__ZIP_LIMIT */
    bool named;    /* write under a temporary name even where a file without a name is possible */
} dt__save_options;

dt_status dt__save_npy(dt_tensor *tensor, const char *path, const dt__save_options *options);
dt_status dt__save_npz(const char *path, int n, const char *const *names, dt_tensor *const *tensors,
                       const dt__save_options *options);

#endif
