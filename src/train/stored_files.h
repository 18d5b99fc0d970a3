/* SPDX-License-Identifier: Apache-2.0
 *
 * Safetensors files, open for reading: one file, or the files of a folder with an index. Every rank opens them all and
 * reads their headers; of the data it reads the elements of its shards only.
 */
#ifndef DT_TRAIN_STORED_FILES_H
#define DT_TRAIN_STORED_FILES_H

#include "tensor/tensor.h"
#include "train/safetensors.h"

typedef struct dt__stored_file {
    dt__file file;
    dt__safetensors header;
} dt__stored_file;

/* A tensor and the file that holds it. */
typedef struct dt__stored_entry {
    const dt__stored_tensor *tensor;
    const dt__stored_file *file;
} dt__stored_entry;

typedef struct dt__stored_files {
    dt__file_call *call;
    int n_files;
    dt__stored_file *files;
    int n;
    dt__stored_entry *entries; /* in the order of files and data */
    dt__stored_entry *by_name; /* sorted */
} dt__stored_files;

/* Opens the path of the call: a file, an index, or a folder with model.safetensors or model.safetensors.index.json. An
 * error becomes that of the file call, which its next synchronization shares; the files that ranks compare there
 * include these. The arena must live as long. Local. */
dt_status dt__stored_files_open(dt__stored_files *self, dt__file_call *call, dt__arena *arena);
/* Accepts files that failed to open. */
void dt__stored_files_close(dt__stored_files *self);
/* NULL: there is none. */
const dt__stored_entry *dt__stored_files_find(const dt__stored_files *self, const char *name);

/* A part of a stored tensor. */
typedef struct dt__stored_window {
    int64_t begin[DT_SPEC_MAX_DIMS], size[DT_SPEC_MAX_DIMS]; /* along the dims as they are stored */
    bool transposed;                                         /* the last two dims change places after that */
} dt__stored_window;

/* Reads this rank's shard of a tensor that has the shape of the window, NULL: of all, converted to its dtype as
 * dt__convert does. An error is one of the call. Local. */
dt_status dt__stored_read(dt__stored_files *self, const dt__stored_entry *entry, const dt__stored_window *window,
                          dt_tensor *to);

#endif
