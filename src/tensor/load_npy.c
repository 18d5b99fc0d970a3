/* SPDX-License-Identifier: Apache-2.0
 *
 * dt_load_npy and dt_load_npz: the header declares dtype and shape, and each rank reads the segments of its shard. A
 * compressed entry has no random access: each rank inflates all of it and keeps its shard.
 */
#include "dtensor/files.h"

#include "base/dtype.h"
#include "base/options.h"
#include "base/size.h"
#include "tensor/file_io.h"
#include "tensor/inflate.h"
#include "tensor/npy.h"
#include "tensor/tensor.h"
#include "tensor/zip.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The bytes of a .npy file: a file, or an entry of one. */
struct source {
    dt__file file;
    dt__zip_entry entry;  /* of a .npz file */
    dt__inflate *inflate; /* NULL: not compressed */
    int64_t at, bytes;    /* in the file, unless inflated */
};

static dt_status open_source(struct source *s) {
    struct stat status;
    s->file.fd = open(s->file.path, O_RDONLY | O_CLOEXEC);
    if (s->file.fd < 0 || fstat(s->file.fd, &status) != 0)
        return dt__file_fail(&s->file, DT_ERR_SYSTEM, "cannot be opened: %s", strerror(errno));
    if (!S_ISREG(status.st_mode))
        return dt__file_fail(&s->file, DT_ERR_VALUE, "not a regular file");
    s->bytes = (int64_t)status.st_size;
    return DT_OK;
}

static void close_source(struct source *s) {
    dt__inflate_free(s->inflate);
    if (s->file.fd >= 0)
        (void)close(s->file.fd);
}

static dt_status read_source(struct source *s, int64_t at, void *out, size_t n) {
    return s->inflate ? dt__inflate_read(s->inflate, at, out, n) : dt__file_read(&s->file, s->at + at, out, n);
}

/* Narrows the source to an entry of the file. With check, the checksum of a stored entry is compared now; that of a
 * compressed one always is, after reading. */
static dt_status open_entry(struct source *s, const char *name, bool check) {
    bool missing;
    uint32_t crc;
    const char *error = dt__zip_find(s->file.fd, s->bytes, name, &s->entry, &missing);
    if (missing)
        return dt__file_fail(&s->file, DT_ERR_VALUE, "no entry %s", name);
    s->file.entry = name;
    if (error)
        return dt__file_fail(&s->file, DT_ERR_VALUE, "%s", error);
    s->at = s->entry.data_at;
    s->bytes = s->entry.bytes;
    if (s->entry.deflated) {
        s->inflate = dt__inflate_new(&s->file, &s->entry);
        return s->inflate ? DT_OK : DT_ERR_MEMORY;
    }
    if (!check)
        return DT_OK;
    DT__TRY(dt__file_crc(&s->file, s->at, s->bytes, &crc));
    if (crc == s->entry.crc)
        return DT_OK;
    return dt__file_fail(&s->file, DT_ERR_VALUE, "the checksum differs: expected %08x, got %08x", s->entry.crc, crc);
}

static dt_status read_header(struct source *s, dt__npy *npy) {
    unsigned char bytes[DT__NPY_MAX_BYTES];
    size_t n = (size_t)dt__min_i64(s->bytes, sizeof bytes);
    DT__TRY(read_source(s, 0, bytes, n));
    const char *error = dt__npy_read(bytes, n, npy);
    if (error)
        return dt__file_fail(&s->file, DT_ERR_VALUE, "%s", error);
    int64_t left = s->bytes - (int64_t)npy->header_bytes;
    if (npy->bytes <= left)
        return DT_OK;
    char shape[512];
    return dt__file_fail(&s->file, DT_ERR_VALUE, "the data of %s[%s] is cut off: expected %lld bytes, got %lld",
                         dt_dtype_name(npy->dtype), dt__shape_text(npy->n_dims, npy->shape, sizeof shape, shape),
                         (long long)npy->bytes, (long long)left);
}

/* The data of a source, and where it goes. */
struct loading {
    struct source *source;
    int64_t data_at; /* behind the header */
    unsigned char *out;
};

static dt_status read_segment(void *user, int64_t file_at, size_t memory_at, size_t bytes) {
    const struct loading *l = user;
    return read_source(l->source, l->data_at + file_at, l->out + memory_at, bytes);
}

/* Reverses the bytes of each number; a complex one is two. */
static void swap_bytes(dt_dtype dtype, unsigned char *data, size_t bytes) {
    size_t size = dt_dtype_size(dtype) / (dt__is_complex(dtype) ? 2 : 1);
    for (size_t at = 0; at < bytes; at += size)
        for (size_t i = 0; i < size / 2; i++) {
            unsigned char first = data[at + i];
            data[at + i] = data[at + size - 1 - i];
            data[at + size - 1 - i] = first;
        }
}

static dt_status read_data(struct source *s, const dt__npy *npy, dt_tensor *tensor) {
    struct loading loading = {s, (int64_t)npy->header_bytes, tensor->data};
    DT__TRY(dt__file_segments(tensor, npy->fortran, read_segment, &loading));
    if (s->inflate)
        DT__TRY(dt__inflate_finish(s->inflate));
    size_t bytes = tensor->storage->bytes;
    if (npy->swapped)
        swap_bytes(npy->dtype, tensor->data, bytes);
    for (size_t i = 0; npy->dtype == DT_BOOL && i < bytes; i++)
        tensor->data[i] = tensor->data[i] != 0;
    return DT_OK;
}

static dt_tensor *load_source(struct source *s, const dt_load_options *o) {
    dt__npy npy;
    int order[DT_SPEC_MAX_DIMS];
    if (read_header(s, &npy) != DT_OK)
        return NULL;
    for (int d = 0; d < npy.n_dims; d++)
        order[d] = npy.n_dims - 1 - d;
    dt_tensor *tensor = dt__tensor_make(
        s->file.ctx, s->file.op, (dt_shape){npy.n_dims, npy.shape},
        &(dt_make_options){.dtype = npy.dtype, .mesh = o->mesh, .place = o->place, .requires_grad = o->requires_grad},
        npy.fortran ? order : NULL);
    if (!dt__needs_values(tensor) || read_data(s, &npy, tensor) == DT_OK)
        return tensor;
    dt_drop(tensor);
    return NULL;
}

/* name NULL: the file itself. */
static dt_tensor *load(dt_ctx *ctx, const char *op, const char *path, const char *name, const dt_load_options *o) {
    if (!ctx)
        return NULL;
    if (!path)
        return dt__null_argument(ctx, op, 2);
    struct source source = {.file = {.ctx = ctx, .op = op, .path = path, .fd = -1}};
    dt_status status = open_source(&source);
    if (status == DT_OK && name)
        status = open_entry(&source, name, o->check || !(o->mesh || o->place));
    dt_tensor *tensor = status == DT_OK ? load_source(&source, o) : NULL;
    close_source(&source);
    return tensor;
}

dt_tensor *dt_load_npy_sized(dt_ctx *ctx, const char *path, const dt_load_options *options, size_t options_size) {
    dt_load_options full;
    DT__ENTER_OPTIONS(ctx, "load_npy", options, options_size, &full);
    return options ? load(ctx, "load_npy", path, NULL, options) : NULL;
}

dt_tensor *dt_load_npz_sized(dt_ctx *ctx, const char *path, const char *name, const dt_load_options *options,
                             size_t options_size) {
    dt_load_options full;
    DT__ENTER_OPTIONS(ctx, "load_npz", options, options_size, &full);
    if (!options)
        return NULL;
    if (ctx && !name)
        return dt__null_argument(ctx, "load_npz", 3);
    return load(ctx, "load_npz", path, name, options);
}
