/* SPDX-License-Identifier: Apache-2.0
 *
 * The files of a checkpoint: which tensors are in which file, and where. Names, dtypes and shapes determine all of it,
 * so every rank computes the same offsets.
 */
#ifndef DT_TRAIN_CHECKPOINT_FILES_H
#define DT_TRAIN_CHECKPOINT_FILES_H

#include "base/arena.h"
#include "dtensor/base.h"
#include "train/safetensors.h"

enum { DT__FILE_NAME_BYTES = 64 };

/* A tensor in a file. */
typedef struct dt__file_entry {
    const char *name;
    dt_dtype dtype;
    int n_dims;
    const int64_t *shape;
    /* Set by the layout: */
    int file;
    int64_t at, bytes; /* in the file */
} dt__file_entry;

/* A file, with what comes before its tensors. */
typedef struct dt__new_file {
    char name[DT__FILE_NAME_BYTES];
    char *head;
    size_t head_bytes;
    int64_t bytes; /* of the file */
} dt__new_file;

/* Strings by key, which each file has. */
typedef struct dt__metadata {
    int n, capacity;
    dt__stored_text *texts;
} dt__metadata;
/* Adds a value, which is formatted into the arena. */
dt_status dt__metadata_add(dt__metadata *self, dt__arena *arena, const char *key, const char *format, ...)
    DT_PRINTF(4);

/* The files of one kind, and, if there are several, the index that lists them, which is the last one. */
typedef struct dt__file_set {
    const char *stem; /* "model" */
    int n_entries;
    dt__file_entry *entries;
    int n_files; /* with the index */
    dt__new_file *files;
} dt__file_set;

/* Decides files and offsets of the entries. Entries keep their order from file to file; within one, larger elements
 * come first, so that all are aligned. file_bytes 0: one file. Memory; an agreed error for sizes that overflow. */
dt_status dt__file_set_lay_out(dt__file_set *self, dt__arena *arena, const dt__metadata *metadata,
                               int64_t file_bytes);

#endif
