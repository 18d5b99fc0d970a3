/* SPDX-License-Identifier: Apache-2.0
 *
 * dt_load_npy and dt_load_npz: the header declares dtype and shape, and each rank reads the segments of its shard. A
 * compressed entry has no random access: each rank inflates all of it and keeps its shard. The ranks of a mesh meet
 * twice: when each has opened the file and read its header, and when each has read its data.
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

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const dt__exchange_call npy_call = {.name = "load_npy", .has_text = true};
static const dt__exchange_call npz_call = {.name = "load_npz", .has_text = true};

/* The bytes of a .npy file: a file, or an entry of one. */
struct source {
    dt__file file;
    dt__zip_entry entry;  /* of a .npz file */
    dt__inflate *inflate; /* NULL: not compressed */
    int64_t at, bytes;    /* in the file, unless inflated */
};

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
    if (!error)
        error = dt__npy_check_bytes(npy, s->bytes);
    return error ? dt__file_fail(&s->file, DT_ERR_VALUE, "%s", error) : DT_OK;
}

/* The data of a source, and where it goes. */
struct loading {
    struct source *source;
    int64_t data_at; /* after the header */
    unsigned char *out;
};

static dt_status read_segment(void *user, int64_t file_at, size_t memory_at, size_t bytes) {
    const struct loading *l = user;
    return read_source(l->source, l->data_at + file_at, l->out + memory_at, bytes);
}

static dt_status read_data(struct source *s, const dt__npy *npy, dt_tensor *tensor) {
    struct loading loading = {s, (int64_t)npy->header_bytes, tensor->data};
    DT__TRY(dt__file_segments(tensor, npy->fortran, read_segment, &loading));
    if (s->inflate)
        DT__TRY(dt__inflate_finish(s->inflate));
    dt__npy_decode(npy, tensor->data, tensor->storage->bytes);
    return DT_OK;
}

/* A call of dt_load_npy or, with a name, dt_load_npz. */
struct load {
    dt_ctx *ctx;
    const char *path, *name;
    const dt_load_npy_options *options;
    dt_mesh *mesh; /* that of the options, or the current one */
    dt__file_call call;
    struct source source;
    dt__npy npy;
};

static dt_tensor *read_tensor(struct load *l) {
    int order[DT_SPEC_MAX_DIMS];
    const dt_load_npy_options *o = l->options;
    for (int d = 0; d < l->npy.n_dims; d++)
        order[d] = l->npy.n_dims - 1 - d;
    dt_tensor *tensor = dt__tensor_make(l->ctx, l->call.kind->name, (dt_shape){l->npy.n_dims, l->npy.shape},
                                        &(dt_make_options){.dtype = l->npy.dtype,
                                                           .mesh = o->mesh,
                                                           .place = o->place,
                                                           .requires_grad = o->requires_grad,
                                                           .use = o->use},
                                        l->npy.fortran ? order : NULL);
    if (!tensor)
        return NULL;
    dt_status status = dt__note_tensor(tensor, &(dt__call_details){.text = l->path});
    if (status == DT_OK && dt__needs_values(tensor))
        status = read_data(&l->source, &l->npy, tensor);
    if (dt__file_call_meet(&l->call, status) == DT_OK)
        return tensor;
    dt_drop(tensor);
    return NULL;
}

/* load_npz("a.npz", "w", mesh=mesh(tp=3), place=S(0), check=true) */
static dt_status describe(struct load *l) {
    const dt_load_npy_options *o = l->options;
    if (!l->call.group)
        return DT_OK;
    dt__text text = dt__text_new(l->ctx);
    dt__text_add(&text, "%s(\"%s\"", l->call.kind->name, l->path);
    if (l->name)
        dt__text_add(&text, ", \"%s\"", l->name);
    dt__text_add(&text, ", mesh=mesh(%s)", dt_mesh_text(l->mesh));
    if (o->place)
        dt__text_add(&text, ", place=%s", o->place);
    if (o->requires_grad)
        dt__text_add(&text, ", requires_grad=true");
    if (o->use)
        dt__text_add(&text, ", use=%s", o->use);
    if (o->check)
        dt__text_add(&text, ", check=true");
    dt__text_add(&text, ")");
    dt_status status = dt__file_call_describe(&l->call, &text, dt_mesh_fingerprint(l->mesh));
    dt__text_free(&text);
    return status;
}

static dt_status open_and_read_header(struct load *l) {
    struct stat info;
    char shape[128], text[192];
    DT__TRY(dt__file_open(&l->source.file, &info));
    l->source.bytes = (int64_t)info.st_size;
    if (l->name)
        DT__TRY(open_entry(&l->source, l->name, l->options->check || !l->mesh));
    DT__TRY(read_header(&l->source, &l->npy));
    (void)snprintf(text, sizeof text, "%s[%s], %s-major", dt_dtype_name(l->npy.dtype),
                   dt__shape_text(l->npy.n_dims, l->npy.shape, sizeof shape, shape),
                   l->npy.fortran ? "column" : "row");
    dt__file_call_opened(&l->call, &info, text);
    return DT_OK;
}

static dt_tensor *run(struct load *l) {
    dt_status status = describe(l);
    if (status != DT_OK)
        return NULL;
    status = dt__file_call_meet(&l->call, open_and_read_header(l));
    return status == DT_OK ? read_tensor(l) : NULL;
}

static dt_tensor *load(dt_ctx *ctx, const dt__exchange_call *kind, const char *path, const char *name,
                       const dt_load_npy_options *o) {
    if (!ctx)
        return NULL;
    if (!path)
        return dt__null_argument(ctx, kind->name, 2);
    if (o->mesh && !DT__LIVE(DT__KIND_MESH, o->mesh))
        return NULL;
    struct load l = {.ctx = ctx, .path = path, .name = name, .options = o};
    l.mesh = o->mesh ? o->mesh : o->place ? dt_mesh_current(ctx) : NULL;
    l.source.file = (dt__file){.ctx = ctx, .call = &l.call, .fd = -1};
    dt_tensor *tensor = dt__file_call_begin(&l.call, ctx, kind, path, l.mesh) == DT_OK ? run(&l) : NULL;
    close_source(&l.source);
    dt__file_call_end(&l.call);
    return tensor;
}

dt_tensor *dt_load_npy_sized(dt_ctx *ctx, const char *path, const dt_load_npy_options *options, size_t options_size) {
    dt_load_npy_options full;
    DT__ENTER_OPTIONS(ctx, "load_npy", options, options_size, &full);
    if (DT__REFUSAL() != DT_OK)
        return NULL;
    return options ? load(ctx, &npy_call, path, NULL, options) : NULL;
}

dt_tensor *dt_load_npz_sized(dt_ctx *ctx, const char *path, const char *name, const dt_load_npy_options *options,
                             size_t options_size) {
    dt_load_npy_options full;
    DT__ENTER_OPTIONS(ctx, "load_npz", options, options_size, &full);
    if (DT__REFUSAL() != DT_OK || !options)
        return NULL;
    if (ctx && !name)
        return dt__null_argument(ctx, "load_npz", 3);
    return load(ctx, &npz_call, path, name, options);
}
