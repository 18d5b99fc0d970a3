/* SPDX-License-Identifier: Apache-2.0
 *
 * A checkpoint on disk, for tools: its contents, and a copy of it in another dtype, in other files or as one .npz file.
 * Nothing here needs ranks or parameters.
 */
#ifndef DT_TRAIN_STORED_CHECKPOINT_H
#define DT_TRAIN_STORED_CHECKPOINT_H

#include "train/stored_files.h"

enum { DT__CHECKPOINT_SETS = 2 };

typedef struct dt__stored_checkpoint {
    dt__file_call call;
    const char *path;                           /* the folder or file that was found */
    dt__stored_files sets[DT__CHECKPOINT_SETS]; /* model, and the state of an optimizer where there is one */
    const char *set_paths[DT__CHECKPOINT_SETS]; /* of what was opened for each */
    int n_sets;
} dt__stored_checkpoint;

/* Opens a folder, the newest checkpoint of a run, or one safetensors file. Close accepts one that failed to open. The
 * arena and the path must live as long. Local. */
dt_status dt__stored_checkpoint_open(dt__stored_checkpoint *self, dt_ctx *ctx, const char *path, dt__arena *arena);
void dt__stored_checkpoint_close(dt__stored_checkpoint *self);

typedef struct dt__conversion {
    dt_dtype dtype;     /* of the floats of the model; DT_NO_DTYPE: those that they have */
    int64_t file_bytes; /* as in dt_save_options; 0: one file */
    bool npz;           /* one file, which has the state of the optimizer, too */
} dt__conversion;
/* Writes a copy to a path that does not exist; it appears there when it is complete. The context has data. Local. */
dt_status dt__stored_checkpoint_convert(dt__stored_checkpoint *self, dt__arena *arena,
                                        const dt__conversion *conversion, const char *to);

#endif
