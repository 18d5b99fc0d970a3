/* SPDX-License-Identifier: Apache-2.0
 *
 * Zip files as far as .npz needs them: finding an entry, stored or deflated, by its name; and the headers of a file
 * of stored entries whose sizes are all known before it is written. Sizes and offsets from `limit` on (4 GiB - 1, less
 * in tests) are written as 64-bit fields.
 */
#ifndef DT_TENSOR_ZIP_H
#define DT_TENSOR_ZIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DT__ZIP_LIMIT UINT32_MAX

typedef struct dt__zip_entry {
    const char *name; /* with its extension */
    bool deflated;
    uint32_t crc;         /* of the data, before compression */
    int64_t bytes;        /* of the data, before compression */
    int64_t stored_bytes; /* in the file, from data_at on; the same unless deflated */
    int64_t header_at;
    int64_t data_at;
} dt__zip_entry;

/* Finds the entry `name` or `name`.npy. Returns NULL, or the reason why not; *missing: the file has no such entry. */
const char *dt__zip_find(int fd, int64_t file_bytes, const char *name, dt__zip_entry *out, bool *missing);

/* The header in front of the data of a stored entry: its size, and its bytes. A name has at most 65535 bytes. */
size_t dt__zip_header_bytes(const dt__zip_entry *entry, int64_t limit);
void dt__zip_header(const dt__zip_entry *entry, int64_t limit, unsigned char *out);
/* The directory at the end of the file: its size, and its bytes. */
size_t dt__zip_directory_bytes(int n, const dt__zip_entry *entries, int64_t at, int64_t limit);
void dt__zip_directory(int n, const dt__zip_entry *entries, int64_t at, int64_t limit, unsigned char *out);

#endif
