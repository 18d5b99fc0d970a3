/* SPDX-License-Identifier: Apache-2.0
 *
 * Files for what the ranks write, one for each output of each rank.
 */
#ifndef DTRUN_OUTPUT_FILES_H
#define DTRUN_OUTPUT_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Opens DIR/rank-3.out (which 0) or DIR/rank-3.err (1), empty, or with what it has; makes the folder and those above
 * it if needed. The descriptor, close-on-exec, or -1 after writing "PATH: reason" to error. */
int output_file_open(const char *dir, int64_t rank, int which, bool appends, char *error, size_t error_bytes);

#endif
