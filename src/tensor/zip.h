/* SPDX-License-Identifier: Apache-2.0
 *
 * Zip files of stored entries, as far as .npz needs them: finding an entry by its name, and the headers of a file of
 * which all sizes are known before it is written. Sizes and offsets from `limit` on (4 GiB - 1, less in tests) are
 * written as 64-bit fields.
 */
#ifndef DT_TENSOR_ZIP_H
#define DT_TENSOR_ZIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DT__ZIP_LIMIT UINT32_MAX

typedef struct dt__zip_entry {
    const char *name; /* with its ending */
    uint32_t crc;
    int64_t bytes;     /* of the data */
    int64_t header_at; /* in the file */
    int64_t data_at;
} dt__zip_entry;

/* Continues a checksum, 0 at the start. */
uint32_t dt__crc32(uint32_t crc, const void *bytes, size_t n);

/* Looks for an entry called `name` or `name`.npy. NULL, or why not; *missing says that there is no such entry. */
const char *dt__zip_find(int fd, int64_t file_bytes, const char *name, dt__zip_entry *out, bool *missing);

/* Bytes of the header in front of the data. */
size_t dt__zip_header_bytes(const dt__zip_entry *entry, int64_t limit);
/* Writes it; at most 64 KiB for the name. */
void dt__zip_header(const dt__zip_entry *entry, int64_t limit, unsigned char *out);
/* The directory at the end: its length, and its bytes. */
size_t dt__zip_directory_bytes(int n, const dt__zip_entry *entries, int64_t at, int64_t limit);
void dt__zip_directory(int n, const dt__zip_entry *entries, int64_t at, int64_t limit, unsigned char *out);

#endif
