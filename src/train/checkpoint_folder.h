/* SPDX-License-Identifier: Apache-2.0
 *
 * The folders of a run, and copies of one. Those named step-000600 are complete; those named
 * .step-000600.0123456789abcdef.part are being written or removed. A process that writes one holds a lock on it, which
 * ends with the process, so that the next save recognizes and removes the remains of an interrupted one. Nothing here
 * needs a context: functions return false with the text of the failure.
 */
#ifndef DT_TRAIN_CHECKPOINT_FOLDER_H
#define DT_TRAIN_CHECKPOINT_FOLDER_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DT__FAILURE_BYTES = 512 };

/* A folder that is being written. */
typedef struct dt__part_folder {
    char run[PATH_MAX];      /* absolute: the folder that it is in */
    char name[NAME_MAX + 1]; /* its final name there */
    char path[PATH_MAX];     /* "": none */
    int lock;                /* a descriptor; -1: none */
} dt__part_folder;

/* Makes the run's folder where it does not exist, removes what interrupted saves have left in it, and makes the part
 * folder. */
bool dt__part_folder_make(dt__part_folder *self, const char *run, int64_t step, char failure[DT__FAILURE_BYTES]);
/* Makes a part folder that will have a path of its own, whose parent exists, and removes what interrupted calls for the
 * same path have left. */
bool dt__part_folder_make_at(dt__part_folder *self, const char *path, char failure[DT__FAILURE_BYTES]);
/* Gives it its name, replacing a folder with that name; sync: waits for the disk. */
bool dt__part_folder_place(dt__part_folder *self, bool sync, char failure[DT__FAILURE_BYTES]);
/* Gives its files their names in the run's folder, replacing those that have them, and removes it. Of
 * model.safetensors and an index only the new one stays. */
bool dt__part_folder_unpack(dt__part_folder *self, bool sync, char failure[DT__FAILURE_BYTES]);
/* Removes it, unless it has its name; accepts one that was not made. */
void dt__part_folder_abandon(dt__part_folder *self);

/* Removes all but the newest `keep` checkpoints of a run and that of `step`. */
bool dt__run_keep(const char *run, int64_t keep, int64_t step, char failure[DT__FAILURE_BYTES]);
/* The step of the newest checkpoint; -1: there is none, or no such folder. */
bool dt__run_newest(const char *run, int64_t *step, char failure[DT__FAILURE_BYTES]);
/* The path of the file or the index of a kind, "model" or "optimizer"; false: there is none. */
bool dt__checkpoint_find(const char *folder, const char *stem, char out[PATH_MAX]);
/* Removes a folder and the files in it; false if something is left. */
bool dt__folder_remove(const char *path);
/* The path of a checkpoint. False if it is too long. */
bool dt__step_path(const char *run, int64_t step, char out[PATH_MAX]);

#endif
