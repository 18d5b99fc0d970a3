/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads and writes of whole ranges, repeated until complete, and the walk over the segments of a shard.
 */
#include "tensor/file_io.h"

#include "base/size.h"
#include "tensor/tensor.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include <zlib.h>

enum {
    MAX_CALL_BYTES = 1 << 30,
    CHUNK_BYTES = 1 << 18,
    SHARE_BYTES = 1 << 18, /* replicas divide a shard by multiples of it */
};

dt_status dt__file_fail(const dt__file *file, dt_status status, const char *format, ...) {
    char text[1024];
    int n = file->entry ? snprintf(text, sizeof text, "entry %.200s: ", file->entry) : 0;
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text + n, sizeof text - (size_t)n, format, args);
    va_end(args);
    return dt__file_call_fail(file->call, status, text);
}

/* "File too large" is more often the limit of the process than that of the file system. */
static dt_status fail_to_write(const dt__file *file, int error) {
    struct rlimit limit;
    if (error != EFBIG || getrlimit(RLIMIT_FSIZE, &limit) || limit.rlim_cur == RLIM_INFINITY)
        return dt__file_fail(file, DT_ERR_SYSTEM, "cannot be written: %s", strerror(error));
    return dt__file_fail(file, DT_ERR_SYSTEM,
                         "cannot be written: %s; the limit of file sizes (ulimit -f) is %llu bytes", strerror(error),
                         (unsigned long long)limit.rlim_cur);
}

const char *dt__file_kind(mode_t mode) {
    return S_ISREG(mode)    ? "regular file"
           : S_ISDIR(mode)  ? "directory"
           : S_ISFIFO(mode) ? "FIFO"
           : S_ISCHR(mode)  ? "character device"
           : S_ISBLK(mode)  ? "block device"
           : S_ISSOCK(mode) ? "socket"
                            : "file of another kind";
}

/* Without blocking: a FIFO would wait for its writer. */
dt_status dt__file_open(dt__file *file, struct stat *info) {
    file->fd = open(file->call->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file->fd < 0 || fstat(file->fd, info) != 0)
        return dt__file_fail(file, DT_ERR_SYSTEM, "cannot be opened: %s", strerror(errno));
    if (!S_ISREG(info->st_mode))
        return dt__file_fail(file, DT_ERR_VALUE, "expected a regular file, got a %s", dt__file_kind(info->st_mode));
    return DT_OK;
}

static size_t call_bytes(size_t n) { return n < MAX_CALL_BYTES ? n : MAX_CALL_BYTES; }

dt_status dt__file_read(const dt__file *file, int64_t at, void *out, size_t n) {
    for (size_t done = 0; done < n;) {
        off_t offset = (off_t)(at + (int64_t)done);
        ssize_t count = pread(file->fd, (unsigned char *)out + done, call_bytes(n - done), offset);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return dt__file_fail(file, DT_ERR_SYSTEM, "cannot be read: %s", strerror(errno));
        if (count == 0)
            return dt__file_fail(file, DT_ERR_VALUE, "the file is too short: expected %lld bytes, got %lld",
                                 (long long)(at + (int64_t)n), (long long)offset);
        done += (size_t)count;
    }
    return DT_OK;
}

dt_status dt__file_write(const dt__file *file, int64_t at, const void *in, size_t n) {
    for (size_t done = 0; done < n;) {
        off_t offset = (off_t)(at + (int64_t)done);
        ssize_t count = pwrite(file->fd, (const unsigned char *)in + done, call_bytes(n - done), offset);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return fail_to_write(file, count < 0 ? errno : ENOSPC);
        done += (size_t)count;
    }
    return DT_OK;
}

dt_status dt__file_crc(const dt__file *file, int64_t at, int64_t n, uint32_t *out) {
    unsigned char *chunk = dt__alloc(file->ctx, CHUNK_BYTES);
    if (!chunk)
        return dt__fail_memory(file->ctx, CHUNK_BYTES, "a checksum");
    dt_status status = DT_OK;
    *out = 0;
    for (int64_t done = 0; done < n && status == DT_OK;) {
        size_t size = (size_t)dt__min_i64(n - done, CHUNK_BYTES);
        status = dt__file_read(file, at + done, chunk, size);
        *out = (uint32_t)crc32_z(*out, chunk, status == DT_OK ? size : 0);
        done += (int64_t)size;
    }
    dt__free(file->ctx, chunk, CHUNK_BYTES);
    return status;
}

/* One dim, in the order of the file: this rank's shard of it, and bytes from one index to the next. */
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

/* The last of the n dims is the innermost one that is sharded: one segment per run of it, and the dims before it index
 * by index. inner is the bytes of one of its indices, with the dims after it. */
static dt_status walk_segments(int n, const struct file_dim *dims, int64_t inner, dt__segment_fn *segment,
                               void *user) {
    int64_t index[DT_SPEC_MAX_DIMS] = {0}, last = n - 1, memory_at = 0;
    const dt__shard *shard = &dims[last].shard;
    for (;;) {
        int64_t base = 0;
        for (int d = 0; d < last; d++)
            base += dt__shard_to_global(&dims[d].shard, index[d]) * dims[d].stride;
        for (int64_t i = 0; i < shard->size;) {
            dt_run run = dt__shard_run(shard, i);
            int64_t length = run.end - run.begin;
            DT__TRY(segment(user, base + run.begin * inner, (size_t)memory_at, (size_t)(length * inner)));
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

dt_status dt__file_segments(const dt_tensor *tensor, bool fortran, dt__segment_fn *segment, void *user) {
    int n = tensor->n_dims;
    int64_t inner = (int64_t)dt_dtype_size(tensor->dtype);
    if (dt_tensor_local_elements(tensor) == 0 || (tensor->spec && !tensor->spec->local.member))
        return DT_OK;
    struct file_dim *dims = dt__alloc(tensor->ctx, (size_t)(n + 1) * sizeof *dims);
    if (!dims)
        return dt__fail_memory(tensor->ctx, (size_t)(n + 1) * sizeof *dims, "the segments of a file");
    int64_t stride = inner;
    for (int d = n - 1; d >= 0; d--) {
        shard_of(tensor, fortran ? n - 1 - d : d, &dims[d].shard);
        dims[d].stride = stride;
        stride *= dims[d].shard.global_size;
    }
    int n_sharded = n;
    for (; n_sharded > 0 && dims[n_sharded - 1].shard.size == dims[n_sharded - 1].shard.global_size; n_sharded--)
        inner = dims[n_sharded - 1].stride * dims[n_sharded - 1].shard.global_size;
    dt_status status =
        n_sharded ? walk_segments(n_sharded, dims, inner, segment, user) : segment(user, 0, 0, (size_t)inner);
    dt__free(tensor->ctx, dims, (size_t)(n + 1) * sizeof *dims);
    return status;
}

/* The ranks that hold equal shards: how many, and the place of this one among them. */
static int64_t count_replicas(const dt_spec *spec, int64_t *place) {
    int64_t coordinate[DT_SPEC_MAX_DIMS], n = 1;
    *place = 0;
    if (!spec || !dt_mesh_coordinate(spec->mesh, coordinate))
        return 1;
    for (int m = 0; m < spec->sharding.n_mesh_dims; m++)
        if (dt_placement_is_replicate(spec->sharding.placements[m])) {
            n *= spec->sharding.mesh[m];
            *place = *place * spec->sharding.mesh[m] + coordinate[m];
        }
    return n;
}

/* The share of this rank, in bytes of its local tensor. */
struct share {
    int64_t begin, end;
    dt__segment_fn *segment;
    void *user;
};

static dt_status visit_shared(void *user, int64_t file_at, size_t memory_at, size_t bytes) {
    const struct share *share = user;
    const int64_t begin = dt__max_i64((int64_t)memory_at, share->begin);
    const int64_t end = dt__min_i64((int64_t)(memory_at + bytes), share->end);
    if (begin >= end)
        return DT_OK;
    return share->segment(share->user, file_at + (begin - (int64_t)memory_at), (size_t)begin, (size_t)(end - begin));
}

dt_status dt__file_shared_segments(const dt_tensor *tensor, int64_t turn, dt__segment_fn *segment, void *user) {
    int64_t place;
    const int64_t n = count_replicas(tensor->spec, &place);
    const int64_t bytes = dt_tensor_local_elements(tensor) * (int64_t)dt_dtype_size(tensor->dtype);
    const int64_t size = dt__ceil_div(dt__ceil_div(bytes, n), SHARE_BYTES) * SHARE_BYTES;
    struct share share = {.segment = segment, .user = user};
    share.begin = dt__min_i64((place + turn) % n * size, bytes);
    share.end = dt__min_i64(share.begin + size, bytes);
    return dt__file_segments(tensor, false, visit_shared, &share);
}

uint32_t dt__crc_part(const void *part, size_t n, int64_t after) {
    return (uint32_t)crc32_combine(crc32_z(0, part, n), 0, (z_off_t)after);
}
