/* SPDX-License-Identifier: Apache-2.0
 *
 * A file that appears under its path only when it is complete. The first rank creates it, all write to it, and the
 * first rank places it.
 *
 * While it is written it has no name, so that no file remains however the ranks end; the other ranks open it through
 * the first one's descriptor (/proc/PID/fd). If the file system or the kernel does not support that, the file has a
 * temporary name in the same folder, which the first rank registers (launch/launch.h): survivors and the supervisor
 * remove it.
 */
#ifndef DT_MOVE_ATOMIC_FILE_H
#define DT_MOVE_ATOMIC_FILE_H

#include "tensor/tensor.h"

#include <limits.h>

typedef struct dt__atomic_file {
    dt__file file;
    char target[PATH_MAX];    /* absolute; links are resolved */
    char temporary[PATH_MAX]; /* "": it has no name */
    bool replaces;            /* the target exists */
} dt__atomic_file;

/* Creates the file, or refuses the path: not a regular file, not replaceable, or with an owner that cannot be kept.
 * With named, under a temporary name. On the first rank. */
dt_status dt__atomic_file_create(dt__atomic_file *f, bool named);
/* Writes to the record of the call how the other ranks open it. */
void dt__atomic_file_publish(const dt__atomic_file *f, dt__file_record *record);
/* Opens it on another rank; DT_IN_PROGRESS: not possible without a name. */
dt_status dt__atomic_file_open(dt__atomic_file *f);
/* Some file systems report only at the end that they are full. */
dt_status dt__atomic_file_flush(const dt__atomic_file *f);
/* Links or renames the complete file to its name. On the first rank. */
dt_status dt__atomic_file_place(dt__atomic_file *f);
/* Closes it; a file that was not placed disappears, also that of a rank that has died. */
void dt__atomic_file_close(dt__atomic_file *f);

#endif
