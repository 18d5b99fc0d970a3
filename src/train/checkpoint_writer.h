/* SPDX-License-Identifier: Apache-2.0
 *
 * Writing this rank's bytes of a checkpoint. A job is a list of pieces of files; it needs no context, so a thread can
 * run it.
 */
#ifndef DT_TRAIN_CHECKPOINT_WRITER_H
#define DT_TRAIN_CHECKPOINT_WRITER_H

#include "train/checkpoint_files.h"
#include "train/checkpoint_folder.h"

/* Bytes that are contiguous in a file and in memory. */
typedef struct dt__save_piece {
    int file;
    int64_t at;
    const unsigned char *data;
    size_t bytes;
} dt__save_piece;

typedef struct dt__save_job {
    char folder[PATH_MAX];
    int n_files;
    dt__new_file **files;
    int64_t n_pieces;
    dt__save_piece *pieces; /* by file */
    bool makes_files;       /* this rank has made them, and syncs those without pieces, too */
    bool sync;
    int64_t bytes; /* of the pieces */
    /* The result: */
    bool failed;
    char failure[DT__FAILURE_BYTES];
} dt__save_job;

/* Creates the files, each with its head and its size. False with the failure of the job. */
bool dt__save_job_make_files(dt__save_job *self);
/* Writes the pieces. */
void dt__save_job_run(dt__save_job *self);

#endif
