/* SPDX-License-Identifier: Apache-2.0
 *
 * A stream over zlib. Compressed bytes come from the file chunk by chunk; bytes that are not needed are inflated into
 * a second chunk and count for the checksum only. The size that the entry declares is trusted: inflating stops there,
 * and a stream that is shorter or longer is an error. zlib's memory comes from the context.
 */
#include "tensor/inflate.h"

#include "base/size.h"
#include "tensor/tensor.h"

#include <zlib.h>

enum { CHUNK_BYTES = 1 << 16, MAX_CALL_BYTES = 1 << 30 };

struct dt__inflate {
    const dt__file *file;
    const dt__zip_entry *entry;
    z_stream zlib;
    int64_t in_at, out_at; /* bytes read from the file; bytes inflated */
    uint32_t crc;          /* of the bytes inflated */
    bool ended;            /* the stream's end was reached */
    unsigned char in[CHUNK_BYTES], skipped[CHUNK_BYTES];
};

/* zlib frees without a size, so each block begins with its own. */
union block {
    size_t bytes;
    max_align_t aligned;
};

static voidpf zlib_alloc(voidpf ctx, uInt n, uInt item_bytes) {
    size_t bytes = sizeof(union block) + (size_t)n * item_bytes;
    union block *block = dt__alloc_zeroed(ctx, bytes);
    if (!block)
        return Z_NULL;
    block->bytes = bytes;
    return block + 1;
}

static void zlib_free(voidpf ctx, voidpf memory) {
    union block *block = (union block *)memory - 1;
    dt__free(ctx, block, block->bytes);
}

static void start_over(dt__inflate *s) {
    s->in_at = s->out_at = 0;
    s->crc = 0;
    s->ended = false;
    s->zlib.avail_in = 0;
}

dt__inflate *dt__inflate_new(const dt__file *file, const dt__zip_entry *entry) {
    dt__inflate *s = dt__alloc(file->ctx, sizeof *s);
    if (!s) {
        (void)dt__fail_memory(file->ctx, sizeof *s, "a compressed entry");
        return NULL;
    }
    s->file = file;
    s->entry = entry;
    s->zlib = (z_stream){.zalloc = zlib_alloc, .zfree = zlib_free, .opaque = file->ctx};
    start_over(s);
    if (inflateInit2(&s->zlib, -MAX_WBITS) != Z_OK) { /* negative: without zlib's own header, as in zip files */
        (void)dt__fail_memory(file->ctx, CHUNK_BYTES, "a compressed entry");
        dt__free(file->ctx, s, sizeof *s);
        return NULL;
    }
    return s;
}

void dt__inflate_free(dt__inflate *s) {
    if (!s)
        return;
    (void)inflateEnd(&s->zlib);
    dt__free(s->file->ctx, s, sizeof *s);
}

static dt_status read_input(dt__inflate *s) {
    size_t n = (size_t)dt__min_i64(s->entry->stored_bytes - s->in_at, CHUNK_BYTES);
    if (s->zlib.avail_in > 0 || n == 0)
        return DT_OK;
    DT__TRY(dt__file_read(s->file, s->entry->data_at + s->in_at, s->in, n));
    s->in_at += (int64_t)n;
    s->zlib.next_in = s->in;
    s->zlib.avail_in = (uInt)n;
    return DT_OK;
}

/* At least one byte, at most n; 0 at the end of the stream. */
static dt_status inflate_some(dt__inflate *s, unsigned char *out, size_t n, size_t *count) {
    *count = 0;
    while (*count == 0 && !s->ended) {
        DT__TRY(read_input(s));
        s->zlib.next_out = out;
        s->zlib.avail_out = (uInt)(n < MAX_CALL_BYTES ? n : MAX_CALL_BYTES);
        int code = inflate(&s->zlib, Z_NO_FLUSH);
        *count = (size_t)(s->zlib.next_out - out);
        if (code == Z_MEM_ERROR)
            return dt__fail_memory(s->file->ctx, CHUNK_BYTES, "a compressed entry");
        if (code == Z_BUF_ERROR && *count == 0)
            return dt__file_fail(s->file, DT_ERR_VALUE,
                                 "the compressed data is cut off: expected %lld bytes, got %lld",
                                 (long long)s->entry->bytes, (long long)s->out_at);
        if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR)
            return dt__file_fail(s->file, DT_ERR_VALUE, "the compressed data is corrupt at byte %lld: %s",
                                 (long long)s->out_at, s->zlib.msg ? s->zlib.msg : "it needs a dictionary");
        s->ended = code == Z_STREAM_END;
    }
    s->crc = (uint32_t)crc32_z(s->crc, out, *count);
    s->out_at += (int64_t)*count;
    return DT_OK;
}

static dt_status inflate_all(dt__inflate *s, unsigned char *out, size_t n) {
    for (size_t done = 0, count; done < n; done += count) {
        DT__TRY(inflate_some(s, out + done, n - done, &count));
        if (count == 0)
            return dt__file_fail(s->file, DT_ERR_VALUE,
                                 "the compressed data is too short: expected %lld bytes, got %lld",
                                 (long long)s->entry->bytes, (long long)s->out_at);
    }
    return DT_OK;
}

static dt_status skip_to(dt__inflate *s, int64_t at) {
    while (s->out_at < at)
        DT__TRY(inflate_all(s, s->skipped, (size_t)dt__min_i64(at - s->out_at, CHUNK_BYTES)));
    return DT_OK;
}

dt_status dt__inflate_read(dt__inflate *s, int64_t at, void *out, size_t n) {
    if (at < s->out_at) {
        (void)inflateReset(&s->zlib);
        start_over(s);
    }
    DT__TRY(skip_to(s, at));
    return inflate_all(s, out, n);
}

dt_status dt__inflate_finish(dt__inflate *s) {
    size_t more = 0;
    DT__TRY(skip_to(s, s->entry->bytes));
    uint32_t crc = s->crc;
    DT__TRY(inflate_some(s, s->skipped, 1, &more));
    if (more > 0)
        return dt__file_fail(s->file, DT_ERR_VALUE, "the compressed data is too long: expected %lld bytes, got more",
                             (long long)s->entry->bytes);
    int64_t used = s->in_at - (int64_t)s->zlib.avail_in;
    if (used != s->entry->stored_bytes)
        return dt__file_fail(s->file, DT_ERR_VALUE, "bytes follow the compressed data: expected %lld bytes, got %lld",
                             (long long)used, (long long)s->entry->stored_bytes);
    if (crc != s->entry->crc)
        return dt__file_fail(s->file, DT_ERR_VALUE, "the checksum differs: expected %08x, got %08x", s->entry->crc,
                             crc);
    return DT_OK;
}
