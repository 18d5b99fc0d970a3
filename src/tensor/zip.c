/* SPDX-License-Identifier: Apache-2.0
 *
 * The records of a zip file, all little-endian: a header in front of each entry's data, a directory with one record
 * per entry behind the last one, and an end record that says where the directory is. Files with large sizes have an
 * end record with 64-bit fields in front of the ordinary one, and a locator between them.
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
    MOST_COMMENT = 65535,
    MOST_NAME = 65535
};
#define HEADER_MARK  0x04034b50u
#define RECORD_MARK  0x02014b50u
#define END_MARK     0x06054b50u
#define END64_MARK   0x06064b50u
#define LOCATOR_MARK 0x07064b50u

/* Eight bytes at a time, with tables that are cheaper to make than to keep: number k says what a byte followed by k
 * zero bytes does. */
struct tables {
    uint32_t of[8][256];
};

static void make_tables(struct tables *t) {
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t crc = byte;
        for (int bit = 0; bit < 8; bit++)
            crc = (crc >> 1) ^ (crc & 1 ? 0xedb88320u : 0);
        t->of[0][byte] = crc;
    }
    for (int k = 1; k < 8; k++)
        for (uint32_t byte = 0; byte < 256; byte++)
            t->of[k][byte] = (t->of[k - 1][byte] >> 8) ^ t->of[0][t->of[k - 1][byte] & 255];
}

uint32_t dt__crc32(uint32_t crc, const void *bytes, size_t n) {
    struct tables t;
    const unsigned char *at = bytes, *end = at + n;
    make_tables(&t);
    crc = ~crc;
    for (; end - at >= 8; at += 8) {
        crc ^= at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
        crc = t.of[7][crc & 255] ^ t.of[6][crc >> 8 & 255] ^ t.of[5][crc >> 16 & 255] ^ t.of[4][crc >> 24] ^
              t.of[3][at[4]] ^ t.of[2][at[5]] ^ t.of[1][at[6]] ^ t.of[0][at[7]];
    }
    for (; at < end; at++)
        crc = t.of[0][(crc ^ *at) & 255] ^ (crc >> 8);
    return ~crc;
}

static uint64_t get(const unsigned char *at, int n) {
    uint64_t value = 0;
    for (int i = n - 1; i >= 0; i--)
        value = value << 8 | at[i];
    return value;
}

static unsigned char *put(unsigned char *at, int n, uint64_t value) {
    for (int i = 0; i < n; i++)
        at[i] = (unsigned char)(value >> (8 * i));
    return at + n;
}

static bool read_at(int fd, int64_t at, size_t n, unsigned char *out) {
    for (size_t done = 0; done < n;) {
        ssize_t got = pread(fd, out + done, n - done, (off_t)(at + (int64_t)done));
        if (got <= 0)
            return false;
        done += (size_t)got;
    }
    return true;
}

/* Where the directory is. */
struct directory {
    uint64_t at, n;
};

static const char *find_directory(int fd, int64_t file_bytes, struct directory *out) {
    unsigned char tail[END_BYTES + MOST_COMMENT], wide[END64_BYTES], locator[LOCATOR_BYTES];
    int64_t n = file_bytes < (int64_t)sizeof tail ? file_bytes : (int64_t)sizeof tail, start = file_bytes - n;
    int64_t i = n - END_BYTES;
    bool read = n >= END_BYTES && read_at(fd, start, (size_t)n, tail);
    while (read && i >= 0 && (get(tail + i, 4) != END_MARK || (int64_t)get(tail + i + 20, 2) != n - i - END_BYTES))
        i--;
    if (!read || i < 0)
        return "it is not a zip file: it has no end record";
    const unsigned char *end = tail + i;
    *out = (struct directory){get(end + 16, 4), get(end + 10, 2)};
    if (out->at != UINT32_MAX && out->n != UINT16_MAX)
        return NULL;
    if (start + i < LOCATOR_BYTES || !read_at(fd, start + i - LOCATOR_BYTES, sizeof locator, locator) ||
        get(locator, 4) != LOCATOR_MARK)
        return NULL; /* the numbers stand for themselves */
    if (get(locator + 8, 8) > (uint64_t)file_bytes || !read_at(fd, (int64_t)get(locator + 8, 8), sizeof wide, wide) ||
        get(wide, 4) != END64_MARK)
        return "its 64-bit end record is damaged";
    *out = (struct directory){get(wide + 48, 8), get(wide + 32, 8)};
    return NULL;
}

/* Replaces fields that are all ones by those of the 64-bit extra field, which follow in this order. */
static bool widen(const unsigned char *extra, size_t n, uint64_t *fields[3]) {
    for (size_t at = 0; at + 4 <= n;) {
        size_t id = (size_t)get(extra + at, 2), length = (size_t)get(extra + at + 2, 2);
        at += 4;
        if (length > n - at)
            return false;
        size_t used = 0;
        for (int f = 0; id == 1 && f < 3; f++)
            if (*fields[f] == UINT32_MAX) {
                if (used + 8 > length)
                    return false;
                *fields[f] = get(extra + at + used, 8);
                used += 8;
            }
        at += length;
    }
    return true;
}

/* How well an entry's name is what was asked for; the whole name is better than one without its ending. */
enum match { NO_MATCH, MATCH_WITH_ENDING, MATCH };

static enum match match_name(const unsigned char *name, size_t n, const char *asked) {
    size_t length = strlen(asked);
    if (n < length || memcmp(name, asked, length) != 0)
        return NO_MATCH;
    if (n == length)
        return MATCH;
    return n == length + 4 && memcmp(name + length, ".npy", 4) == 0 ? MATCH_WITH_ENDING : NO_MATCH;
}

/* From the record of the directory to the data. */
static const char *open_entry(int fd, int64_t file_bytes, const unsigned char *record, uint64_t sizes[3],
                              dt__zip_entry *out) {
    unsigned char header[HEADER_BYTES];
    if (get(record + 8, 2) & 1)
        return "the entry is encrypted";
    if (get(record + 10, 2) != 0)
        return "the entry is compressed; numpy.savez stores entries, numpy.savez_compressed does not";
    uint64_t bytes = sizes[0], at = sizes[2];
    if (sizes[1] != bytes || at > (uint64_t)file_bytes || !read_at(fd, (int64_t)at, sizeof header, header) ||
        get(header, 4) != HEADER_MARK)
        return "the entry's header is damaged";
    uint64_t data = at + HEADER_BYTES + get(header + 26, 2) + get(header + 28, 2);
    if (data > (uint64_t)file_bytes || bytes > (uint64_t)file_bytes - data)
        return "the entry reaches beyond the end of the file";
    *out = (dt__zip_entry){.crc = (uint32_t)get(record + 16, 4),
                           .bytes = (int64_t)bytes,
                           .header_at = (int64_t)at,
                           .data_at = (int64_t)data};
    return NULL;
}

/* Of entries that match equally well the last one counts: that is the newest in a file that was added to. */
const char *dt__zip_find(int fd, int64_t file_bytes, const char *name, dt__zip_entry *out, bool *missing) {
    static const char *const damaged = "its directory is damaged";
    struct directory directory;
    enum match best = NO_MATCH;
    unsigned char record[RECORD_BYTES], texts[2 * MOST_NAME], found[RECORD_BYTES];
    uint64_t sizes[3];
    *missing = false;
    const char *why = find_directory(fd, file_bytes, &directory);
    if (why)
        return why;
    for (uint64_t i = 0, at = directory.at; i < directory.n; i++) {
        if (at > (uint64_t)file_bytes || !read_at(fd, (int64_t)at, sizeof record, record) ||
            get(record, 4) != RECORD_MARK)
            return damaged;
        size_t n_name = (size_t)get(record + 28, 2), n_extra = (size_t)get(record + 30, 2);
        if (!read_at(fd, (int64_t)at + RECORD_BYTES, n_name + n_extra, texts))
            return damaged;
        enum match match = match_name(texts, n_name, name);
        if (match != NO_MATCH && match >= best) {
            best = match;
            memcpy(found, record, sizeof found);
            sizes[0] = get(record + 24, 4);
            sizes[1] = get(record + 20, 4);
            sizes[2] = get(record + 42, 4);
            if (!widen(texts + n_name, n_extra, (uint64_t *[]){&sizes[0], &sizes[1], &sizes[2]}))
                return damaged;
        }
        at += RECORD_BYTES + n_name + n_extra + get(record + 32, 2);
    }
    if (best != NO_MATCH)
        return open_entry(fd, file_bytes, found, sizes, out);
    *missing = true;
    return "it has no such entry";
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
    at = put(put(at, 2, 1), 2, n - 4);
    if (entry->bytes >= limit)
        at = put(put(at, 8, (uint64_t)entry->bytes), 8, (uint64_t)entry->bytes);
    return with_offset && entry->header_at >= limit ? put(at, 8, (uint64_t)entry->header_at) : at;
}

static uint64_t small(int64_t value, int64_t limit) { return value >= limit ? UINT32_MAX : (uint64_t)value; }

/* What headers and records have in common: needed version to the length of the extra field. */
static unsigned char *put_common(unsigned char *at, const dt__zip_entry *entry, int64_t limit, size_t n_extra) {
    enum { NEEDED = 45, UTF8 = 1 << 11, DATE = 1 << 5 | 1 }; /* the first of January 1980: the same file every time */
    at = put(put(put(at, 2, NEEDED), 2, UTF8), 2, 0);
    at = put(put(put(at, 2, 0), 2, DATE), 4, entry->crc);
    at = put(put(at, 4, small(entry->bytes, limit)), 4, small(entry->bytes, limit));
    return put(put(at, 2, strlen(entry->name)), 2, n_extra);
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
    unsigned char *at = put_common(put(out, 4, HEADER_MARK), entry, limit, extra_bytes(entry, limit, false));
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
        out = put(put(out, 4, RECORD_MARK), 2, MADE_BY);
        out = put_common(out, entry, limit, extra_bytes(entry, limit, true));
        out = put(put(put(out, 2, 0), 2, 0), 2, 0); /* no comment, first disk, no attributes */
        out = put(put(out, 4, (uint64_t)MODE << 16), 4, small(entry->header_at, limit));
        out = put_extra(put_name(out, entry), entry, limit, true);
    }
    uint64_t count = (uint64_t)n;
    if (needs_wide_end(n, bytes, at, limit)) {
        uint64_t end = (uint64_t)at + bytes;
        out = put(put(put(put(out, 4, END64_MARK), 8, END64_BYTES - 12), 2, MADE_BY), 2, 45);
        out = put(put(put(put(out, 4, 0), 4, 0), 8, count), 8, count);
        out = put(put(out, 8, bytes), 8, (uint64_t)at);
        out = put(put(put(put(out, 4, LOCATOR_MARK), 4, 0), 8, end), 4, 1);
        count = count >= UINT16_MAX || at >= limit ? UINT16_MAX : count;
    }
    out = put(put(put(out, 4, END_MARK), 2, 0), 2, 0);
    out = put(put(put(out, 2, count), 2, count), 4, small((int64_t)bytes, limit));
    put(put(out, 4, small(at, limit)), 2, 0);
}
