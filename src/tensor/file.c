/* SPDX-License-Identifier: Apache-2.0
 *
 * Pieces of files.
 */
#include "tensor/file.h"

#include "base/size.h"
#include "tensor/zip.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* One dim, in the order of the file: what this rank holds of it, and bytes from one index to the next. */
struct file_dim {
    dt__shard shard;
    int64_t stride;
};

static void shard_of(const dt_tensor *tensor, int dim, dt__shard *out) {
    int64_t coordinate[DT_SPEC_MAX_DIMS];
    if (tensor->spec && dt_mesh_coordinate(tensor->spec->mesh, coordinate))
        dt__shard_at(&tensor->spec->sharding, dim, coordinate, out);
    else
        *out = (dt__shard){.global_size = tensor->shape[dim], .size = tensor->shape[dim]};
}

/* The dims before the last one that is cut are walked through index by index, that one run by run, and the whole dims
 * behind it are one piece with it. */
static dt_status walk(int n, const struct file_dim *dims, int64_t inner, dt__piece_fn *piece, void *user) {
    int64_t index[DT_SPEC_MAX_DIMS] = {0}, last = n - 1, memory_at = 0;
    const dt__shard *cut = &dims[last].shard;
    for (;;) {
        int64_t base = 0;
        for (int d = 0; d < last; d++)
            base += dt__shard_to_global(&dims[d].shard, index[d]) * dims[d].stride;
        for (int64_t i = 0; i < cut->size;) {
            dt_run run = dt__shard_run(cut, i);
            int64_t length = run.end - run.begin;
            DT__TRY(piece(user, base + run.begin * inner, (size_t)memory_at, (size_t)(length * inner)));
            memory_at += length * inner;
            i += length;
        }
        int64_t d = last - 1;
        for (; d >= 0 && ++index[d] == dims[d].shard.size; d--)
            index[d] = 0;
        if (d < 0)
            return DT_OK;
    }
}

dt_status dt__file_pieces(const dt_tensor *tensor, bool fortran, dt__piece_fn *piece, void *user) {
    int n = tensor->n_dims;
    int64_t inner = (int64_t)dt_dtype_size(tensor->dtype);
    if (dt_tensor_local_elements(tensor) == 0 || (tensor->spec && !tensor->spec->local.member))
        return DT_OK;
    struct file_dim *dims = dt__alloc(tensor->ctx, (size_t)(n + 1) * sizeof *dims);
    if (!dims)
        return dt__fail_memory(tensor->ctx, (size_t)(n + 1) * sizeof *dims, "a file's pieces");
    int64_t stride = inner;
    for (int d = n - 1; d >= 0; d--) {
        shard_of(tensor, fortran ? n - 1 - d : d, &dims[d].shard);
        dims[d].stride = stride;
        stride *= dims[d].shard.global_size;
    }
    int n_cut = n;
    for (; n_cut > 0 && dims[n_cut - 1].shard.size == dims[n_cut - 1].shard.global_size; n_cut--)
        inner = dims[n_cut - 1].stride * dims[n_cut - 1].shard.global_size;
    dt_status status = n_cut ? walk(n_cut, dims, inner, piece, user) : piece(user, 0, 0, (size_t)inner);
    dt__free(tensor->ctx, dims, (size_t)(n + 1) * sizeof *dims);
    return status;
}

/* At most so much at once: what the system takes, and not more. */
enum { MOST_AT_ONCE = 1 << 30 };

static size_t at_once(size_t n) { return n < MOST_AT_ONCE ? n : MOST_AT_ONCE; }

dt_status dt__file_read(dt_ctx *ctx, const char *op, const char *path, int fd, int64_t at, void *out, size_t n) {
    for (size_t done = 0; done < n;) {
        ssize_t got = pread(fd, (unsigned char *)out + done, at_once(n - done), (off_t)(at + (int64_t)done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return dt__fail_local(ctx, DT_ERR_SYSTEM, "%s: %s cannot be read: %s", op, path, strerror(errno));
        if (got == 0)
            return dt__fail_local(ctx, DT_ERR_VALUE, "%s: %s ends at byte %lld, where more was expected", op, path,
                                  (long long)(at + (int64_t)done));
        done += (size_t)got;
    }
    return DT_OK;
}

dt_status dt__file_write(dt_ctx *ctx, const char *op, const char *path, int fd, int64_t at, const void *in,
                         size_t n) {
    for (size_t done = 0; done < n;) {
        ssize_t put = pwrite(fd, (const unsigned char *)in + done, at_once(n - done), (off_t)(at + (int64_t)done));
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return dt__fail_local(ctx, DT_ERR_SYSTEM, "%s: %s cannot be written: %s", op, path,
                                  put < 0 ? strerror(errno) : "nothing is taken");
        done += (size_t)put;
    }
    return DT_OK;
}

dt_status dt__file_crc(dt_ctx *ctx, const char *op, const char *path, int fd, int64_t at, int64_t n, uint32_t *out) {
    enum { CHUNK = 1 << 18 };
    unsigned char *chunk = dt__alloc(ctx, CHUNK);
    if (!chunk)
        return dt__fail_memory(ctx, CHUNK, "a checksum");
    dt_status status = DT_OK;
    *out = 0;
    for (int64_t done = 0; done < n && status == DT_OK;) {
        size_t size = (size_t)dt__min_i64(n - done, CHUNK);
        status = dt__file_read(ctx, op, path, fd, at + done, chunk, size);
        *out = dt__crc32(*out, chunk, size);
        done += (int64_t)size;
    }
    dt__free(ctx, chunk, CHUNK);
    return status;
}
