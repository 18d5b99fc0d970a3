/* SPDX-License-Identifier: Apache-2.0
 *
 * The records of a zip file, all little-endian: a header in front of each entry's data, a directory with one record
 * per entry after the last one, and an end record that locates the directory. Files with large sizes have an end
 * record with 64-bit fields in front of the ordinary one, and a locator between them. Sizes come from the directory;
 * those in the header of an entry may be zero.
 */
#include "tensor/zip.h"

#include <string.h>
#include <unistd.h>

enum {
    HEADER_BYTES = 30,
    RECORD_BYTES = 46,
    END_BYTES = 22,
    END64_BYTES = 56,
    LOCATOR_BYTES = 20,
    MAX_COMMENT_BYTES = 65535,
    MAX_NAME_BYTES = 65535
};
enum { STORED = 0, DEFLATED = 8 };
enum { MAX_RATIO = 1032 }; /* of deflate: two bits stand for 258 bytes */
#define HEADER_SIGNATURE  0x04034b50u
#define RECORD_SIGNATURE  0x02014b50u
#define END_SIGNATURE     0x06054b50u
#define END64_SIGNATURE   0x06064b50u
#define LOCATOR_SIGNATURE 0x07064b50u

static uint64_t read_int(const unsigned char *at, int n) {
    uint64_t value = 0;
    for (int i = n - 1; i >= 0; i--)
        value = value << 8 | at[i];
    return value;
}

static unsigned char *put_int(unsigned char *at, int n, uint64_t value) {
    for (int i = 0; i < n; i++)
        at[i] = (unsigned char)(value >> (8 * i));
    return at + n;
}

static bool read_at(int fd, int64_t at, size_t n, unsigned char *out) {
    for (size_t done = 0; done < n;) {
        ssize_t count = pread(fd, out + done, n - done, (off_t)(at + (int64_t)done));
        if (count <= 0)
            return false;
        done += (size_t)count;
    }
    return true;
}

/* Where the directory is. */
struct directory {
    uint64_t at, n;
};

static const char *find_directory(int fd, int64_t file_bytes, struct directory *out) {
    unsigned char tail[END_BYTES + MAX_COMMENT_BYTES], wide[END64_BYTES], locator[LOCATOR_BYTES];
    int64_t n = file_bytes < (int64_t)sizeof tail ? file_bytes : (int64_t)sizeof tail, start = file_bytes - n;
    int64_t i = n - END_BYTES;
    bool read = n >= END_BYTES && read_at(fd, start, (size_t)n, tail);
    while (read && i >= 0 &&
           (read_int(tail + i, 4) != END_SIGNATURE || (int64_t)read_int(tail + i + 20, 2) != n - i - END_BYTES))
        i--;
    if (!read || i < 0)
        return "not a zip file: it has no end record";
    const unsigned char *end = tail + i;
    *out = (struct directory){read_int(end + 16, 4), read_int(end + 10, 2)};
    if (out->at != UINT32_MAX && out->n != UINT16_MAX)
        return NULL;
    if (start + i < LOCATOR_BYTES || !read_at(fd, start + i - LOCATOR_BYTES, sizeof locator, locator) ||
        read_int(locator, 4) != LOCATOR_SIGNATURE)
        return NULL; /* the 32-bit fields are the values */
    if (read_int(locator + 8, 8) > (uint64_t)file_bytes ||
        !read_at(fd, (int64_t)read_int(locator + 8, 8), sizeof wide, wide) || read_int(wide, 4) != END64_SIGNATURE)
        return "the 64-bit end record is corrupt";
    *out = (struct directory){read_int(wide + 48, 8), read_int(wide + 32, 8)};
    return NULL;
}

/* Replaces fields that are all ones by those of the 64-bit extra field, which follow in this order. */
static bool widen(const unsigned char *extra, size_t n, uint64_t *fields[3]) {
    for (size_t at = 0; at + 4 <= n;) {
        size_t id = (size_t)read_int(extra + at, 2), length = (size_t)read_int(extra + at + 2, 2);
        at += 4;
        if (length > n - at)
            return false;
        size_t used = 0;
        for (int f = 0; id == 1 && f < 3; f++)
            if (*fields[f] == UINT32_MAX) {
                if (used + 8 > length)
                    return false;
                *fields[f] = read_int(extra + at + used, 8);
                used += 8;
            }
        at += length;
    }
    return true;
}

/* How well an entry's name matches the requested one; an exact match precedes one that lacks the extension. */
enum match { NO_MATCH, MATCH_WITH_EXTENSION, MATCH };

static enum match match_name(const unsigned char *name, size_t n, const char *requested) {
    size_t length = strlen(requested);
    if (n < length || memcmp(name, requested, length) != 0)
        return NO_MATCH;
    if (n == length)
        return MATCH;
    return n == length + 4 && memcmp(name + length, ".npy", 4) == 0 ? MATCH_WITH_EXTENSION : NO_MATCH;
}

/* Sizes of an entry, from its record in the directory. */
struct sizes {
    uint64_t bytes, stored_bytes, header_at;
};

/* From the record in the directory to the data. */
static const char *open_entry(int fd, int64_t file_bytes, const unsigned char *record, const struct sizes *sizes,
                              dt__zip_entry *out) {
    unsigned char header[HEADER_BYTES];
    uint64_t method = read_int(record + 10, 2), at = sizes->header_at;
    if (read_int(record + 8, 2) & 1)
        return "it is encrypted";
    if (method != STORED && method != DEFLATED)
        return "its compression method is neither 0 (stored) nor 8 (deflated)";
    if ((method == STORED && sizes->bytes != sizes->stored_bytes) || at > (uint64_t)file_bytes ||
        !read_at(fd, (int64_t)at, sizeof header, header) || read_int(header, 4) != HEADER_SIGNATURE)
        return "its header is corrupt";
    uint64_t data = at + HEADER_BYTES + read_int(header + 26, 2) + read_int(header + 28, 2);
    if (data > (uint64_t)file_bytes || sizes->stored_bytes > (uint64_t)file_bytes - data)
        return "it extends beyond the end of the file";
    if (sizes->bytes / MAX_RATIO > sizes->stored_bytes)
        return "it declares more bytes than its compressed data can hold";
    *out = (dt__zip_entry){.deflated = method == DEFLATED,
                           .crc = (uint32_t)read_int(record + 16, 4),
                           .bytes = (int64_t)sizes->bytes,
                           .stored_bytes = (int64_t)sizes->stored_bytes,
                           .header_at = (int64_t)at,
                           .data_at = (int64_t)data};
    return NULL;
}

/* Among entries that match equally well the last one counts: the newest, if entries were appended to the file. */
const char *dt__zip_find(int fd, int64_t file_bytes, const char *name, dt__zip_entry *out, bool *missing) {
    static const char *const corrupt = "the directory is corrupt";
    struct directory directory;
    enum match best = NO_MATCH;
    unsigned char record[RECORD_BYTES], texts[2 * MAX_NAME_BYTES], found[RECORD_BYTES];
    struct sizes sizes;
    *missing = false;
    const char *why = find_directory(fd, file_bytes, &directory);
    if (why)
        return why;
    for (uint64_t i = 0, at = directory.at; i < directory.n; i++) {
        if (at > (uint64_t)file_bytes || !read_at(fd, (int64_t)at, sizeof record, record) ||
            read_int(record, 4) != RECORD_SIGNATURE)
            return corrupt;
        size_t n_name = (size_t)read_int(record + 28, 2), n_extra = (size_t)read_int(record + 30, 2);
        if (!read_at(fd, (int64_t)at + RECORD_BYTES, n_name + n_extra, texts))
            return corrupt;
        enum match match = match_name(texts, n_name, name);
        if (match != NO_MATCH && match >= best) {
            best = match;
            memcpy(found, record, sizeof found);
            sizes = (struct sizes){read_int(record + 24, 4), read_int(record + 20, 4), read_int(record + 42, 4)};
            if (!widen(texts + n_name, n_extra, (uint64_t *[]){&sizes.bytes, &sizes.stored_bytes, &sizes.header_at}))
                return corrupt;
        }
        at += RECORD_BYTES + n_name + n_extra + read_int(record + 32, 2);
    }
    if (best != NO_MATCH)
        return open_entry(fd, file_bytes, found, &sizes, out);
    *missing = true;
    return "no such entry";
}

/* Both sizes where the data is large; the offset where that is. */
static size_t extra_bytes(const dt__zip_entry *entry, int64_t limit, bool with_offset) {
    size_t n = (entry->bytes >= limit ? 16u : 0u) + (with_offset && entry->header_at >= limit ? 8u : 0u);
    return n ? 4 + n : 0;
}

static unsigned char *put_extra(unsigned char *at, const dt__zip_entry *entry, int64_t limit, bool with_offset) {
    size_t n = extra_bytes(entry, limit, with_offset);
    if (n == 0)
        return at;
    at = put_int(put_int(at, 2, 1), 2, n - 4);
    if (entry->bytes >= limit)
        at = put_int(put_int(at, 8, (uint64_t)entry->bytes), 8, (uint64_t)entry->bytes);
    return with_offset && entry->header_at >= limit ? put_int(at, 8, (uint64_t)entry->header_at) : at;
}

static uint64_t small(int64_t value, int64_t limit) { return value >= limit ? UINT32_MAX : (uint64_t)value; }

/* What headers and records have in common: needed version to the length of the extra field. */
static unsigned char *put_common(unsigned char *at, const dt__zip_entry *entry, int64_t limit, size_t n_extra) {
    enum { NEEDED = 45, UTF8 = 1 << 11, DATE = 1 << 5 | 1 }; /* the first of January 1980: the same file every time */
    at = put_int(put_int(put_int(at, 2, NEEDED), 2, UTF8), 2, 0);
    at = put_int(put_int(put_int(at, 2, 0), 2, DATE), 4, entry->crc);
    at = put_int(put_int(at, 4, small(entry->bytes, limit)), 4, small(entry->bytes, limit));
    return put_int(put_int(at, 2, strlen(entry->name)), 2, n_extra);
}

static unsigned char *put_name(unsigned char *at, const dt__zip_entry *entry) {
    size_t n = strlen(entry->name);
    memcpy(at, entry->name, n);
    return at + n;
}

size_t dt__zip_header_bytes(const dt__zip_entry *entry, int64_t limit) {
    return HEADER_BYTES + strlen(entry->name) + extra_bytes(entry, limit, false);
}

void dt__zip_header(const dt__zip_entry *entry, int64_t limit, unsigned char *out) {
    unsigned char *at = put_common(put_int(out, 4, HEADER_SIGNATURE), entry, limit, extra_bytes(entry, limit, false));
    put_extra(put_name(at, entry), entry, limit, false);
}

static size_t records_bytes(int n, const dt__zip_entry *entries, int64_t limit) {
    size_t bytes = 0;
    for (int i = 0; i < n; i++)
        bytes += RECORD_BYTES + strlen(entries[i].name) + extra_bytes(&entries[i], limit, true);
    return bytes;
}

static bool needs_wide_end(int n, size_t bytes, int64_t at, int64_t limit) {
    return n >= UINT16_MAX || at >= limit || (int64_t)bytes >= limit;
}

size_t dt__zip_directory_bytes(int n, const dt__zip_entry *entries, int64_t at, int64_t limit) {
    size_t bytes = records_bytes(n, entries, limit);
    return bytes + END_BYTES + (needs_wide_end(n, bytes, at, limit) ? END64_BYTES + LOCATOR_BYTES : 0);
}

void dt__zip_directory(int n, const dt__zip_entry *entries, int64_t at, int64_t limit, unsigned char *out) {
    enum { MADE_BY = 3 << 8 | 45, MODE = 0100644 };
    size_t bytes = records_bytes(n, entries, limit);
    for (int i = 0; i < n; i++) {
        const dt__zip_entry *entry = &entries[i];
        out = put_int(put_int(out, 4, RECORD_SIGNATURE), 2, MADE_BY);
        out = put_common(out, entry, limit, extra_bytes(entry, limit, true));
        out = put_int(put_int(put_int(out, 2, 0), 2, 0), 2, 0); /* no comment, first disk, no attributes */
        out = put_int(put_int(out, 4, (uint64_t)MODE << 16), 4, small(entry->header_at, limit));
        out = put_extra(put_name(out, entry), entry, limit, true);
    }
    uint64_t count = (uint64_t)n;
    if (needs_wide_end(n, bytes, at, limit)) {
        uint64_t end = (uint64_t)at + bytes;
        out = put_int(put_int(put_int(put_int(out, 4, END64_SIGNATURE), 8, END64_BYTES - 12), 2, MADE_BY), 2, 45);
        out = put_int(put_int(put_int(put_int(out, 4, 0), 4, 0), 8, count), 8, count);
        out = put_int(put_int(out, 8, bytes), 8, (uint64_t)at);
        out = put_int(put_int(put_int(put_int(out, 4, LOCATOR_SIGNATURE), 4, 0), 8, end), 4, 1);
        count = count >= UINT16_MAX || at >= limit ? UINT16_MAX : count;
    }
    out = put_int(put_int(put_int(out, 4, END_SIGNATURE), 2, 0), 2, 0);
    out = put_int(put_int(put_int(out, 2, count), 2, count), 4, small((int64_t)bytes, limit));
    put_int(put_int(out, 4, small(at, limit)), 2, 0);
}
