/* SPDX-License-Identifier: Apache-2.0
 *
 * Files named by variables and options. Anything may be at a path: opening a pipe blocks, and a device never ends. Only
 * regular files are opened, and only up to a size limit where the whole file is read.
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
