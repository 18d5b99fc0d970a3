/* SPDX-License-Identifier: Apache-2.0
 *
 * Reading a deflated zip entry front to back. Memory is bounded: two chunks and zlib's window, whatever the entry
 * declares or holds.
 */
#ifndef DT_TENSOR_INFLATE_H
#define DT_TENSOR_INFLATE_H

#include "tensor/file_io.h"
#include "tensor/zip.h"

typedef struct dt__inflate dt__inflate;

/* Starts at byte 0 of the data. File and entry must outlive it. NULL after an error. */
dt__inflate *dt__inflate_new(const dt__file *file, const dt__zip_entry *entry);
/* Bytes at .. at + n of the data. Reading onwards is cheap; an offset before the last read starts over. */
dt_status dt__inflate_read(dt__inflate *s, int64_t at, void *out, size_t n);
/* Reads what is left and compares length and checksum with what the entry declares. */
dt_status dt__inflate_finish(dt__inflate *s);
void dt__inflate_free(dt__inflate *s);

#endif
