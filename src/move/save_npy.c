/* SPDX-License-Identifier: Apache-2.0
 *
 * dt_save_npy and dt_save_npz. All sizes follow from the specs, so every rank computes where in the file its data
 * goes. The first rank of the mesh creates the file under a temporary name and writes headers and directory; each
 * element is written by its first holder; when all are done, the first rank renames the file.
 *
 * The error of a rank is local, so that the waits of its peers fail; the first rank removes the temporary file.
 */
#include "move/save_npy.h"

#include "base/size.h"
#include "dtensor/files.h"
#include "move/move.h"
#include "tensor/tensor.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* One file under way. */
struct saving {
    dt__file file;
    dt_group *group; /* of the mesh's ranks; NULL: this rank alone */
    bool first;      /* this rank creates the file */
    char *temporary; /* its name until it is complete */
    size_t temporary_bytes;
    int64_t limit; /* of zip fields */
    int n;
    dt_tensor **tensors; /* without partials */
    dt__zip_entry *entries;
    bool zip;
};

static dt_status fail(const struct saving *s, const char *failure) {
    return dt__file_fail(&s->file, DT_ERR_SYSTEM, "%s: %s", failure, strerror(errno));
}

/* The temporary name: the same on every rank. */
static dt_status name_temporary(struct saving *s, int64_t number) {
    s->temporary_bytes = strlen(s->file.path) + 64;
    s->temporary = dt__alloc(s->file.ctx, s->temporary_bytes);
    if (!s->temporary)
        return dt__fail_memory(s->file.ctx, s->temporary_bytes, "the name of a file");
    (void)snprintf(s->temporary, s->temporary_bytes, "%s.%lld.part", s->file.path, (long long)number);
    return DT_OK;
}

/* Creates the file under an unused temporary name; the number identifies it. */
static dt_status create_file(struct saving *s, int64_t *number) {
    *number = (int64_t)getpid();
    for (int tries = 0;; tries++) {
        DT__TRY(name_temporary(s, *number));
        s->file.fd = open(s->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (s->file.fd >= 0)
            return DT_OK;
        int error = errno;
        dt__free(s->file.ctx, s->temporary, s->temporary_bytes);
        s->temporary = NULL;
        errno = error;
        if (error != EEXIST || tries == 100)
            return fail(s, "cannot be created");
        *number += INT64_C(1) << 32;
    }
}

static dt_status open_file(struct saving *s) {
    int64_t number = 0;
    if (s->first)
        DT__TRY(create_file(s, &number));
    if (!s->group)
        return DT_OK;
    DT__TRY(dt_comm_broadcast(s->group, &number, &number, 1, DT_I64, 0));
    if (s->first)
        return DT_OK;
    DT__TRY(name_temporary(s, number));
    s->file.fd = open(s->temporary, O_RDWR | O_CLOEXEC);
    return s->file.fd >= 0 ? DT_OK : fail(s, "is not visible on this rank");
}

struct writing {
    struct saving *saving;
    int64_t at;
    const unsigned char *data;
};

static dt_status write_segment(void *user, int64_t file_at, size_t memory_at, size_t bytes) {
    const struct writing *w = user;
    return dt__file_write(&w->saving->file, w->at + file_at, w->data + memory_at, bytes);
}

/* Whether this rank is the first one that holds its shard. */
static bool is_first_holder(const dt_tensor *tensor) {
    int64_t coordinate[DT_SPEC_MAX_DIMS];
    if (!tensor->spec)
        return true;
    if (!dt_mesh_coordinate(tensor->spec->mesh, coordinate))
        return false;
    for (int m = 0; m < tensor->spec->sharding.n_mesh_dims; m++)
        if (dt_placement_is_replicate(tensor->spec->sharding.placements[m]) && coordinate[m] != 0)
            return false;
    return true;
}

static dt_status write_tensor(struct saving *s, int i) {
    const dt__zip_entry *entry = &s->entries[i];
    dt_tensor *tensor = s->tensors[i];
    unsigned char header[DT__NPY_MAX_BYTES];
    size_t n = dt__npy_write(tensor->dtype, tensor->n_dims, tensor->shape, header);
    if (s->first)
        DT__TRY(dt__file_write(&s->file, entry->data_at, header, n));
    if (!is_first_holder(tensor))
        return DT_OK;
    dt_tensor *dense = dt_contiguous(tensor);
    if (!dense)
        return dt_error_status(s->file.ctx);
    struct writing writing = {s, entry->data_at + (int64_t)n, dense->data};
    dt_status status = dt__file_segments(dense, false, write_segment, &writing);
    if (dense != tensor)
        dt_drop(dense);
    return status;
}

/* Headers and directory, once the data is written and has a checksum. */
static dt_status write_zip(struct saving *s) {
    const dt__zip_entry *last = s->n ? &s->entries[s->n - 1] : NULL;
    int64_t end = last ? last->data_at + last->bytes : 0;
    size_t capacity = dt__zip_directory_bytes(s->n, s->entries, end, s->limit);
    for (int i = 0; i < s->n; i++) {
        dt__zip_entry *e = &s->entries[i];
        DT__TRY(dt__file_crc(&s->file, e->data_at, e->bytes, &e->crc));
        capacity = capacity > dt__zip_header_bytes(e, s->limit) ? capacity : dt__zip_header_bytes(e, s->limit);
    }
    unsigned char *bytes = dt__alloc(s->file.ctx, capacity);
    if (!bytes)
        return dt__fail_memory(s->file.ctx, capacity, "the directory of a file");
    dt_status status = DT_OK;
    for (int i = 0; i < s->n && status == DT_OK; i++) {
        dt__zip_header(&s->entries[i], s->limit, bytes);
        status =
            dt__file_write(&s->file, s->entries[i].header_at, bytes, dt__zip_header_bytes(&s->entries[i], s->limit));
    }
    if (status == DT_OK) {
        dt__zip_directory(s->n, s->entries, end, s->limit, bytes);
        status = dt__file_write(&s->file, end, bytes, dt__zip_directory_bytes(s->n, s->entries, end, s->limit));
    }
    dt__free(s->file.ctx, bytes, capacity);
    return status;
}

/* Some file systems report only now that they are full. */
static dt_status close_file(struct saving *s) {
    int fd = s->file.fd;
    s->file.fd = -1;
    return close(fd) == 0 ? DT_OK : fail(s, "cannot be written");
}

/* Everything is written: renames the file. */
static dt_status finish_file(struct saving *s) {
    if (s->zip)
        DT__TRY(write_zip(s));
    DT__TRY(close_file(s));
    return rename(s->temporary, s->file.path) == 0 ? DT_OK : fail(s, "cannot be renamed");
}

static dt_status barrier(const struct saving *s) { return s->group ? dt_comm_barrier(s->group) : DT_OK; }

static dt_status write_file(struct saving *s) {
    DT__TRY(open_file(s));
    for (int i = 0; i < s->n; i++)
        DT__TRY(write_tensor(s, i));
    if (!s->first)
        DT__TRY(close_file(s));
    DT__TRY(barrier(s));
    if (s->first)
        DT__TRY(finish_file(s));
    return DT_OK;
}

static dt_status save_file(struct saving *s) {
    s->file.fd = -1;
    dt_status status = write_file(s);
    if (s->file.fd >= 0)
        (void)close(s->file.fd);
    if (status != DT_OK && s->first && s->temporary)
        (void)unlink(s->temporary);
    if (s->temporary)
        dt__free(s->file.ctx, s->temporary, s->temporary_bytes);
    return status == DT_OK ? barrier(s) : status;
}

/* Where each tensor goes: the same on every rank. */
static dt_status lay_out(struct saving *s) {
    unsigned char header[DT__NPY_MAX_BYTES];
    int64_t at = 0;
    for (int i = 0; i < s->n; i++) {
        const dt_tensor *t = s->tensors[i];
        dt__zip_entry *e = &s->entries[i];
        int64_t bytes = dt_tensor_elements(t) * (int64_t)dt_dtype_size(t->dtype);
        if (!dt__add_i64(bytes, (int64_t)dt__npy_write(t->dtype, t->n_dims, t->shape, header), &e->bytes))
            return dt__fail(s->file.ctx, DT_ERR_SHAPE, "%s: the size of the file overflows 64 bits", s->file.op);
        e->header_at = at;
        e->data_at = at + (s->zip ? (int64_t)dt__zip_header_bytes(e, s->limit) : 0);
        if (!dt__add_i64(e->data_at, e->bytes, &at))
            return dt__fail(s->file.ctx, DT_ERR_SHAPE, "%s: the size of the file overflows 64 bits", s->file.op);
    }
    return DT_OK;
}

/* The tensor without partials: itself, or reduced. */
static dt_tensor *reduced(dt_tensor *tensor) {
    if (!tensor->spec)
        return tensor;
    const dt__sharding *sharding = &tensor->spec->sharding;
    dt_placement placements[DT_SPEC_MAX_DIMS];
    bool partial = false;
    for (int m = 0; m < sharding->n_mesh_dims; m++) {
        placements[m] = sharding->placements[m];
        if (!dt_placement_is_partial(placements[m]))
            continue;
        placements[m] = dt_placement_replicate();
        partial = true;
    }
    if (!partial)
        return tensor;
    dt_spec *spec = dt_spec_new(tensor->spec->mesh, &(dt_spec_desc){.dtype = tensor->dtype,
                                                                    .n_dims = tensor->n_dims,
                                                                    .shape = tensor->shape,
                                                                    .n_placements = sharding->n_mesh_dims,
                                                                    .placements = placements});
    dt_tensor *result = spec ? dt__tensor_redistribute(tensor, spec, DT__PLANNER_DIRECT) : NULL;
    dt_spec_release(spec);
    return result;
}

static dt_status join_mesh(struct saving *s, dt_mesh *mesh, dt__arena *arena) {
    s->first = true;
    if (!mesh || dt_mesh_size(mesh) == 1)
        return DT_OK;
    int64_t n = dt_mesh_size(mesh), *ranks = DT__NEW_ARRAY(arena, int64_t, n);
    if (!ranks)
        return DT_ERR_MEMORY;
    dt_mesh_ranks(mesh, ranks);
    s->group = dt_group_new(s->file.ctx, ranks, n);
    s->first = ranks[0] == s->file.ctx->rank;
    return s->group ? DT_OK : dt_error_status(s->file.ctx);
}

static dt_status save(struct saving *s, dt_tensor *const *tensors, const char *const *names, dt__arena *arena) {
    dt_mesh *mesh = dt_tensor_mesh(tensors[0]);
    s->tensors = DT__NEW_ARRAY(arena, dt_tensor *, s->n);
    s->entries = s->tensors ? DT__NEW_ARRAY(arena, dt__zip_entry, s->n) : NULL;
    if (!s->entries)
        return DT_ERR_MEMORY;
    DT__TRY(join_mesh(s, mesh, arena));
    for (int i = 0; i < s->n; i++) {
        s->tensors[i] = reduced(tensors[i]);
        if (!s->tensors[i])
            return dt_error_status(s->file.ctx);
        s->entries[i] = (dt__zip_entry){.name = ""};
        if (!names)
            continue;
        size_t length = strlen(names[i]);
        char *name = DT__NEW_ARRAY(arena, char, (int64_t)length + 5);
        if (!name)
            return DT_ERR_MEMORY;
        (void)snprintf(name, length + 5, "%s.npy", names[i]);
        s->entries[i].name = name;
    }
    DT__TRY(lay_out(s));
    return save_file(s);
}

/* Agreed errors, before anything happens. */
static dt_status check_tensors(const struct saving *s, dt_tensor *const *tensors, const char *const *names) {
    for (int i = 0; i < s->n; i++) {
        if (!dt__check_context(s->file.ctx, s->file.op, "tensor", tensors[i]->ctx))
            return DT_ERR_STATE;
        if (dt_tensor_mesh(tensors[i]) != dt_tensor_mesh(tensors[0]) &&
            !dt_mesh_equal(dt_tensor_mesh(tensors[i]), dt_tensor_mesh(tensors[0])))
            return dt__fail(s->file.ctx, DT_ERR_MESH,
                            "%s: tensors 0 and %d: expected the same mesh, or plain tensors only", s->file.op, i);
        if (names && (!names[i] || !*names[i] || strlen(names[i]) > 60000))
            return dt__fail(s->file.ctx, DT_ERR_VALUE, "%s: tensor %d: expected a name of 1 to 60000 characters",
                            s->file.op, i);
        for (int k = 0; names && k < i; k++)
            if (strcmp(names[i], names[k]) == 0)
                return dt__fail(s->file.ctx, DT_ERR_VALUE, "%s: two tensors have the name %s", s->file.op, names[i]);
    }
    if (!dt__has_data(s->file.ctx))
        return dt__fail(s->file.ctx, DT_ERR_UNSUPPORTED, "%s: tensors have no data on the fake transport",
                        s->file.op);
    return DT_OK;
}

static dt_status save_all(struct saving *s, dt_tensor *const *tensors, const char *const *names) {
    dt_mesh *mesh = dt_tensor_mesh(tensors[0]);
    DT__TRY(check_tensors(s, tensors, names));
    if (mesh && !dt_mesh_coordinate(mesh, (int64_t[DT_MESH_MAX_DIMS]){0}))
        return DT_OK; /* a rank outside takes no part */
    dt__arena arena = dt__arena_new(s->file.ctx);
    dt_status status = save(s, tensors, names, &arena);
    for (int i = 0; s->entries && i < s->n; i++)
        if (s->tensors[i] && s->tensors[i] != tensors[i])
            dt_drop(s->tensors[i]);
    dt_group_release(s->group);
    dt__arena_free(&arena);
    return status;
}

dt_status dt_save_npy_site(dt_tensor *tensor, const char *path, const dt_site *site) {
    DT__ENTER_TENSOR(tensor, "save_npy", site);
    if (!tensor)
        return DT_ERR_VALUE;
    if (!path) {
        (void)dt__null_argument(tensor->ctx, "save_npy", 2);
        return dt_error_status(tensor->ctx);
    }
    struct saving saving = {.file = {.ctx = tensor->ctx, .op = "save_npy", .path = path, .fd = -1}, .n = 1};
    return save_all(&saving, &tensor, NULL);
}

/* The context of the first tensor that is not NULL. */
static dt_ctx *ctx_of_list(int n, dt_tensor *const *tensors) {
    dt_ctx *ctx = NULL;
    for (int i = 0; tensors && !ctx && i < n; i++)
        ctx = dt_tensor_ctx(tensors[i]);
    return ctx;
}

dt_status dt__save_npz(const char *path, int n, const char *const *names, dt_tensor *const *tensors, int64_t limit) {
    dt_ctx *ctx = ctx_of_list(n, tensors);
    bool complete = path && names && tensors && n > 0;
    for (int i = 0; complete && i < n; i++)
        complete = tensors[i] != NULL;
    if (!complete) {
        if (ctx && !dt_failed(ctx))
            (void)dt__fail(ctx, DT_ERR_VALUE, "save_npz: expected tensors, got NULL");
        return DT_ERR_VALUE;
    }
    struct saving saving = {
        .file = {.ctx = ctx, .op = "save_npz", .path = path, .fd = -1}, .n = n, .zip = true, .limit = limit};
    return save_all(&saving, tensors, names);
}

dt_status dt_save_npz_site(const char *path, int n, const char *const *names, dt_tensor *const *tensors,
                           const dt_site *site) {
    DT__ENTER(ctx_of_list(n, tensors), "save_npz", site);
    return dt__save_npz(path, n, names, tensors, DT__ZIP_LIMIT);
}
