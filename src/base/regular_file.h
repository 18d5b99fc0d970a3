/* SPDX-License-Identifier: Apache-2.0
 *
 * Files that variables and options name. Anything may be at a path: a pipe blocks who opens it, and a device never
 * ends. Only regular files are opened, and of a bounded size where all of it is read.
 */
#ifndef DT_BASE_REGULAR_FILE_H
#define DT_BASE_REGULAR_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { DT__REGULAR_ERROR_BYTES = 128 };

/* Opens a regular file of at most max_bytes for reading. NULL, with the reason, such as "expected a regular file". */
FILE *dt__regular_file_read(const char *path, size_t max_bytes, char error[DT__REGULAR_ERROR_BYTES]);
/* Opens a regular file for writing, empty, and creates it if there is none; or a character device, such as /dev/null.
 * NULL with the reason. */
FILE *dt__regular_file_write(const char *path, char error[DT__REGULAR_ERROR_BYTES]);

#endif
