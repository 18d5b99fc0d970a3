/* SPDX-License-Identifier: Apache-2.0
 *
 * dt_load_npy and dt_load_npz: the header says what the tensor is, and each rank reads its pieces of the data.
 */
#include "base/dtype.h"
#include "dtensor/files.h"

#include "base/size.h"
#include "tensor/file.h"
#include "tensor/npy.h"
#include "tensor/zip.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* An open file, or the entry of one. */
struct source {
    dt_ctx *ctx;
    const char *op, *path;
    int fd;
    int64_t at, end; /* bytes of the file */
    unsigned char *data;
};

static dt_status refuse(const struct source *s, const char *why) {
    return dt__fail_local(s->ctx, DT_ERR_VALUE, "%s: %s: %s", s->op, s->path, why);
}

static dt_status open_source(struct source *s) {
    struct stat status;
    s->fd = open(s->path, O_RDONLY | O_CLOEXEC);
    if (s->fd < 0 || fstat(s->fd, &status) != 0)
        return dt__fail_local(s->ctx, DT_ERR_SYSTEM, "%s: %s cannot be opened: %s", s->op, s->path, strerror(errno));
    if (!S_ISREG(status.st_mode))
        return refuse(s, "it is not a regular file");
    s->at = 0;
    s->end = (int64_t)status.st_size;
    return DT_OK;
}

static dt_status read_header(const struct source *s, dt__npy *npy) {
    unsigned char bytes[DT__NPY_MOST_BYTES];
    size_t n = (size_t)dt__min_i64(s->end - s->at, sizeof bytes);
    DT__TRY(dt__file_read(s->ctx, s->op, s->path, s->fd, s->at, bytes, n));
    const char *why = dt__npy_read(bytes, n, npy);
    if (why)
        return refuse(s, why);
    int64_t left = s->end - s->at - (int64_t)npy->header_bytes;
    if (npy->bytes <= left)
        return DT_OK;
    char shape[512];
    return dt__fail_local(s->ctx, DT_ERR_VALUE, "%s: %s: it is cut off: %s[%s] has %lld bytes, and %lld are there",
                          s->op, s->path, dt_dtype_name(npy->dtype),
                          dt__shape_text(npy->n_dims, npy->shape, sizeof shape, shape), (long long)npy->bytes,
                          (long long)left);
}

static dt_status read_piece(void *user, int64_t file_at, size_t memory_at, size_t bytes) {
    const struct source *s = user;
    return dt__file_read(s->ctx, s->op, s->path, s->fd, s->at + file_at, s->data + memory_at, bytes);
}

/* Turns the bytes of each number round; a complex one is two. */
static void swap(dt_dtype dtype, unsigned char *data, size_t bytes) {
    size_t size = dt_dtype_size(dtype) / (dt__is_complex(dtype) ? 2 : 1);
    for (size_t at = 0; at < bytes; at += size)
        for (size_t i = 0; i < size / 2; i++) {
            unsigned char kept = data[at + i];
            data[at + i] = data[at + size - 1 - i];
            data[at + size - 1 - i] = kept;
        }
}

static dt_tensor *load(struct source *s, const dt_load_options *o) {
    dt__npy npy;
    int order[DT_SPEC_MAX_DIMS];
    if (read_header(s, &npy) != DT_OK)
        return NULL;
    for (int d = 0; d < npy.n_dims; d++)
        order[d] = npy.n_dims - 1 - d;
    dt_tensor *tensor = dt__tensor_make(
        s->ctx, s->op, (dt_shape){npy.n_dims, npy.shape},
        &(dt_make_options){.dtype = npy.dtype, .mesh = o->mesh, .place = o->place, .requires_grad = o->requires_grad},
        npy.fortran ? order : NULL);
    if (!dt__wants_values(tensor))
        return tensor;
    s->at += (int64_t)npy.header_bytes;
    s->data = tensor->data;
    if (dt__file_pieces(tensor, npy.fortran, read_piece, s) != DT_OK) {
        dt_drop(tensor);
        return NULL;
    }
    size_t bytes = tensor->storage->bytes;
    if (npy.swapped)
        swap(npy.dtype, tensor->data, bytes);
    for (size_t i = 0; npy.dtype == DT_BOOL && i < bytes; i++)
        tensor->data[i] = tensor->data[i] != 0;
    return tensor;
}

static void close_source(struct source *s) {
    if (s->fd >= 0)
        (void)close(s->fd);
}

/* An entry of a .npz file takes the place of the file. */
static dt_status enter(struct source *s, const char *name, bool check) {
    dt__zip_entry entry;
    bool missing;
    uint32_t crc;
    const char *why = dt__zip_find(s->fd, s->end, name, &entry, &missing);
    if (missing)
        return dt__fail_local(s->ctx, DT_ERR_VALUE, "%s: %s: it has no entry %s", s->op, s->path, name);
    if (why)
        return refuse(s, why);
    s->at = entry.data_at;
    s->end = entry.data_at + entry.bytes;
    if (!check)
        return DT_OK;
    DT__TRY(dt__file_crc(s->ctx, s->op, s->path, s->fd, s->at, entry.bytes, &crc));
    return crc == entry.crc ? DT_OK : refuse(s, "the checksum of the entry is not that of its data");
}

/* name NULL: the file itself. */
static dt_tensor *load_from(dt_ctx *ctx, const char *op, const char *path, const char *name,
                            const dt_load_options *options) {
    static const dt_load_options defaults;
    const dt_load_options *o = options ? options : &defaults;
    if (!ctx)
        return NULL;
    if (!path)
        return dt__null_argument(ctx, op, 2);
    struct source source = {.ctx = ctx, .op = op, .path = path, .fd = -1};
    dt_status status = open_source(&source);
    if (status == DT_OK && name)
        status = enter(&source, name, o->check || !(o->mesh || o->place));
    dt_tensor *tensor = status == DT_OK ? load(&source, o) : NULL;
    close_source(&source);
    return tensor;
}

dt_tensor *(dt_load_npy)(dt_ctx *ctx, const char *path, const dt_load_options *options) {
    return load_from(ctx, "load_npy", path, NULL, options);
}

dt_tensor *(dt_load_npz)(dt_ctx *ctx, const char *path, const char *name, const dt_load_options *options) {
    if (ctx && !name)
        return dt__null_argument(ctx, "load_npz", 3);
    return load_from(ctx, "load_npz", path, name, options);
}
