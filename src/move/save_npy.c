/* SPDX-License-Identifier: Apache-2.0
 *
 * dt_save_npy and dt_save_npz. All sizes follow from the specs, so every rank computes where in the file its data
 * goes. The first rank of the mesh creates the file (atomic_file.h) and writes headers and directory; each rank writes
 * its share of the elements; when all are done, the first rank places the file under its name. The checksum of an entry
 * of a .npz file is the exclusive or of what each written part contributes, so no byte is read again.
 *
 * The ranks synchronize (tensor/file_call.h) when the file is created, when all have written, and when it is placed.
 */
#include "move/save_npy.h"

#include "base/hash.h"
#include "base/size.h"
#include "base/size_guard.h"
#include "dtensor/files.h"
#include "move/atomic_file.h"
#include "move/move.h"
#include "tensor/tensor.h"

#include <stdio.h>
#include <string.h>

static const dt__exchange_call npy_call = {.name = "save_npy", .has_text = true};
static const dt__exchange_call npz_call = {.name = "save_npz", .has_text = true};

/* One file that is being written. */
struct saving {
    dt_ctx *ctx;
    dt__file_call call;
    dt__atomic_file output;
    dt__save_options options;
    int n;
    dt_tensor *const *requested; /* of the caller; names as well */
    const char *const *names;    /* NULL: .npy */
    dt_tensor **tensors;         /* without partials */
    dt__zip_entry *entries;
    uint32_t *crcs; /* what this rank's parts contribute to the checksum of each entry */
};

/* One tensor of it. */
struct writing {
    struct saving *saving;
    int entry;
    int64_t at, bytes; /* of its data in the file */
    const unsigned char *data;
};

static dt_status write_segment(void *user, int64_t file_at, size_t memory_at, size_t bytes) {
    const struct writing *w = user;
    if (w->saving->names)
        w->saving->crcs[w->entry] ^= dt__crc_part(w->data + memory_at, bytes, w->bytes - file_at - (int64_t)bytes);
    return dt__file_write(&w->saving->output.file, w->at + file_at, w->data + memory_at, bytes);
}

static dt_status write_tensor(struct saving *s, int i) {
    const dt__zip_entry *entry = &s->entries[i];
    dt_tensor *tensor = s->tensors[i];
    unsigned char header[DT__NPY_MAX_BYTES];
    size_t n = dt__npy_write(tensor->dtype, tensor->n_dims, tensor->shape, header);
    if (s->call.is_first) {
        s->crcs[i] ^= dt__crc_part(header, n, entry->bytes - (int64_t)n);
        DT__TRY(dt__file_write(&s->output.file, entry->data_at, header, n));
    }
    dt_tensor *dense = dt_tensor_is_contiguous(tensor) ? tensor : dt__clone(tensor);
    if (!dense)
        return dt_error_status(s->ctx);
    struct writing writing = {s, i, entry->data_at + (int64_t)n, entry->bytes - (int64_t)n, dense->data};
    dt_status status = dt__file_shared_segments(dense, i, write_segment, &writing);
    if (dense != tensor)
        dt_drop(dense);
    return status;
}

/* The checksums of the entries, on the first rank. */
static dt_status combine_crcs(struct saving *s, dt__arena *arena) {
    const int64_t n_ranks = s->call.group ? dt_group_size(s->call.group) : 1;
    uint32_t *all = DT__NEW_ARRAY(arena, uint32_t, n_ranks * s->n);
    if (!all)
        return DT_ERR_MEMORY;
    if (s->call.group)
        DT__TRY(dt_comm_gather_site(s->call.group, s->crcs, all, s->n, DT_I32, 0, NULL));
    else
        memcpy(all, s->crcs, (size_t)s->n * sizeof *all);
    for (int i = 0; i < s->n; i++)
        for (int64_t rank = 0; rank < n_ranks; rank++)
            s->entries[i].crc ^= all[rank * s->n + i];
    return DT_OK;
}

/* Headers and directory, once the data is written and has a checksum. */
static dt_status write_zip(struct saving *s) {
    const dt__zip_entry *last = s->n ? &s->entries[s->n - 1] : NULL;
    int64_t end = last ? last->data_at + last->bytes : 0;
    size_t capacity = dt__zip_directory_bytes(s->n, s->entries, end, s->options.limit);
    for (int i = 0; i < s->n; i++) {
        const dt__zip_entry *e = &s->entries[i];
        capacity = capacity > dt__zip_header_bytes(e, s->options.limit) ? capacity
                                                                        : dt__zip_header_bytes(e, s->options.limit);
    }
    unsigned char *bytes = dt__alloc(s->ctx, capacity);
    if (!bytes)
        return dt__fail_memory(s->ctx, capacity, "the directory of a file");
    dt_status status = DT_OK;
    for (int i = 0; i < s->n && status == DT_OK; i++) {
        dt__zip_header(&s->entries[i], s->options.limit, bytes);
        status = dt__file_write(&s->output.file, s->entries[i].header_at, bytes,
                                dt__zip_header_bytes(&s->entries[i], s->options.limit));
    }
    if (status == DT_OK) {
        dt__zip_directory(s->n, s->entries, end, s->options.limit, bytes);
        status = dt__file_write(&s->output.file, end, bytes,
                                dt__zip_directory_bytes(s->n, s->entries, end, s->options.limit));
    }
    dt__free(s->ctx, bytes, capacity);
    return status;
}

static dt_status write_tensors(struct saving *s) {
    memset(s->crcs, 0, (size_t)s->n * sizeof *s->crcs);
    for (int i = 0; i < s->n; i++)
        DT__TRY(write_tensor(s, i));
    return dt__atomic_file_flush(&s->output);
}

static dt_status finish_file(struct saving *s) {
    if (!s->call.is_first)
        return DT_OK;
    if (s->names)
        DT__TRY(write_zip(s));
    DT__TRY(dt__atomic_file_flush(&s->output));
    return dt__atomic_file_place(&s->output);
}

/* Opens the file that the first rank has created, and writes this rank's elements. */
static dt_status open_and_write(struct saving *s) {
    dt_status status = s->call.is_first ? DT_OK : dt__atomic_file_open(&s->output);
    s->call.own.wants_name = status == DT_IN_PROGRESS;
    if (status == DT_IN_PROGRESS)
        return DT_OK;
    DT__TRY(status);
    return write_tensors(s);
}

/* Creates the file on the first rank. */
static dt_status create_file(struct saving *s, bool named) {
    if (!s->call.is_first)
        return DT_OK;
    DT__TRY(dt__atomic_file_create(&s->output, named));
    dt__atomic_file_publish(&s->output, &s->call.own);
    return DT_OK;
}

/* If some rank cannot open a file without a name, all begin again with a named one. */
static dt_status write_file(struct saving *s) {
    dt_status status = dt__file_call_meet(&s->call, open_and_write(s));
    if (status != DT_OK || !s->call.wants_name)
        return status;
    dt__atomic_file_close(&s->output);
    DT__TRY(dt__file_call_meet(&s->call, create_file(s, true)));
    return dt__file_call_meet(&s->call, open_and_write(s));
}

/* The name of an entry, "NAME.npy". */
static const char *entry_name(dt__arena *arena, const char *name) {
    size_t bytes = strlen(name) + sizeof ".npy";
    char *out = DT__NEW_ARRAY(arena, char, (int64_t)bytes);
    if (out)
        (void)snprintf(out, bytes, "%s.npy", name);
    return out;
}

/* Where each tensor goes: the same on every rank. */
static dt_status lay_out(struct saving *s, dt__arena *arena) {
    unsigned char header[DT__NPY_MAX_BYTES];
    int64_t at = 0;
    for (int i = 0; i < s->n; i++) {
        const dt_tensor *t = s->requested[i];
        dt__zip_entry *e = &s->entries[i];
        int64_t bytes = dt_tensor_elements(t) * (int64_t)dt_dtype_size(t->dtype);
        *e = (dt__zip_entry){.name = s->names ? entry_name(arena, s->names[i]) : ""};
        if (!e->name)
            return DT_ERR_MEMORY;
        bool fits = dt__add_i64(bytes, (int64_t)dt__npy_write(t->dtype, t->n_dims, t->shape, header), &e->bytes);
        e->header_at = at;
        e->data_at = at + (s->names ? (int64_t)dt__zip_header_bytes(e, s->options.limit) : 0);
        if (!fits || !dt__add_i64(e->data_at, e->bytes, &at))
            return dt__file_call_refuse(&s->call, DT_ERR_SHAPE, "the size of the file overflows 64 bits");
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

/* The tensors without partials. */
static dt_status reduce_tensors(struct saving *s) {
    for (int i = 0; i < s->n; i++) {
        s->tensors[i] = reduced(s->requested[i]);
        if (!s->tensors[i])
            return dt_error_status(s->ctx);
    }
    return DT_OK;
}

static bool is_on_mesh(const dt_tensor *tensor, dt_mesh *mesh) {
    dt_mesh *own = dt_tensor_mesh(tensor);
    return own == mesh || (own && mesh && dt_mesh_equal(own, mesh));
}

/* What is wrong in the same way on every rank that makes the same call. */
static dt_status check_tensors(struct saving *s) {
    for (int i = 0; i < s->n; i++) {
        const char *name = s->names ? s->names[i] : "-";
        if (!is_on_mesh(s->requested[i], dt_tensor_mesh(s->requested[0])))
            return dt__file_call_refuse(&s->call, DT_ERR_MESH,
                                        "tensors 0 and %d: expected the same mesh, or plain tensors only", i);
        if (s->requested[i]->storage->is_held)
            return dt__file_call_refuse(&s->call, DT_ERR_STATE,
                                        "tensor %d%s%s: expected a complete gradient, got one that is held; call "
                                        "dt_backward without hold before",
                                        i, s->names && name ? ", " : "", s->names && name ? name : "");
        if (!name || !*name || strlen(name) > 60000)
            return dt__file_call_refuse(&s->call, DT_ERR_VALUE, "tensor %d: expected a name of 1 to 60000 characters",
                                        i);
        for (int k = 0; s->names && k < i; k++)
            if (strcmp(name, s->names[k]) == 0)
                return dt__file_call_refuse(&s->call, DT_ERR_VALUE, "two tensors have the name %s", name);
    }
    if (!dt__has_data(s->ctx))
        return dt__file_call_refuse(&s->call, DT_ERR_UNSUPPORTED, "tensors have no data on the fake transport");
    return DT_OK;
}

static dt_status check_and_create(struct saving *s, dt__arena *arena) {
    DT__TRY(check_tensors(s));
    DT__TRY(lay_out(s, arena));
    return create_file(s, s->options.named);
}

/* save_npz("a.npz", w=f32[8,6] S(0) on mesh(tp=3), b=f32[6] R on mesh(tp=3)) */
static dt_status describe(struct saving *s) {
    if (!s->call.group)
        return DT_OK;
    dt__text text = dt__text_new(s->ctx);
    uint64_t hash = (uint64_t)s->n;
    dt__text_add(&text, "%s(\"%s\"", s->call.kind->name, s->call.path);
    for (int i = 0; i < s->n; i++) {
        char tensor[1024];
        (void)dt_tensor_text(s->requested[i], sizeof tensor, tensor);
        hash = dt__hash_u64(dt_spec_fingerprint(s->requested[i]->spec), hash);
        if (s->names)
            dt__text_add(&text, ", %s=%s", s->names[i] ? s->names[i] : "NULL", tensor);
        else
            dt__text_add(&text, ", %s", tensor);
    }
    dt__text_add(&text, ")");
    dt_status status = dt__file_call_describe(&s->call, &text, hash);
    dt__text_free(&text);
    return status;
}

/* In an estimate the ranks meet and reduce, and no file is written. */
static dt_status run_estimated(struct saving *s) {
    dt__estimate_notes_add(s->ctx, DT__NOT_RUN, s->call.kind->name);
    DT__TRY(dt__file_call_meet(&s->call, check_tensors(s)));
    DT__TRY(reduce_tensors(s));
    return dt__file_call_meet(&s->call, DT_OK);
}

static dt_status run(struct saving *s, dt__arena *arena) {
    s->tensors = DT__NEW_ARRAY(arena, dt_tensor *, s->n);
    s->crcs = s->tensors ? DT__NEW_ARRAY(arena, uint32_t, s->n) : NULL;
    s->entries = s->crcs ? DT__NEW_ARRAY(arena, dt__zip_entry, s->n) : NULL;
    if (!s->entries)
        return DT_ERR_MEMORY;
    DT__TRY(describe(s));
    if (s->ctx->estimate)
        return run_estimated(s);
    DT__TRY(dt__file_call_meet(&s->call, check_and_create(s, arena)));
    DT__TRY(reduce_tensors(s));
    DT__TRY(write_file(s));
    if (s->names)
        DT__TRY(combine_crcs(s, arena));
    return dt__file_call_meet(&s->call, finish_file(s));
}

/* Tensors of other contexts cannot be compared with the peers'. */
static dt_status check_contexts(const struct saving *s, const char *op) {
    for (int i = 0; i < s->n; i++)
        if (!dt__check_context(s->ctx, op, "tensor", s->requested[i]->ctx))
            return DT_ERR_STATE;
    return DT_OK;
}

static bool is_outside(dt_mesh *mesh) { return mesh && !dt_mesh_coordinate(mesh, (int64_t[DT_MESH_MAX_DIMS]){0}); }

/* A rank outside the mesh takes no part, but finds what is wrong with the call. */
static dt_status save_on(struct saving *s, const dt__exchange_call *kind, const char *path, dt__arena *arena) {
    dt_mesh *mesh = dt_tensor_mesh(s->requested[0]);
    DT__TRY(dt__file_call_begin(&s->call, s->ctx, kind, path, mesh));
    if (is_outside(mesh))
        return check_tensors(s);
    dt__size_guard guard = dt__size_guard_begin();
    dt_status status = run(s, arena);
    dt__atomic_file_close(&s->output);
    dt__size_guard_end(&guard);
    for (int i = 0; s->entries && i < s->n; i++)
        if (s->tensors[i] && s->tensors[i] != s->requested[i])
            dt_drop(s->tensors[i]);
    return status;
}

static dt_status save(dt_ctx *ctx, const dt__exchange_call *kind, const char *path, int n, const char *const *names,
                      dt_tensor *const *tensors, const dt__save_options *options) {
    DT__ENTER(ctx, kind->name, NULL); /* what it calls is part of it, also for the callers in tests */
    dt__arena arena = dt__arena_new(ctx);
    struct saving *s = DT__NEW(&arena, struct saving);
    dt_status status = DT_ERR_MEMORY;
    if (s) {
        *s = (struct saving){.ctx = ctx, .n = n, .names = names, .requested = tensors, .options = *options};
        s->output.file = (dt__file){.ctx = ctx, .call = &s->call, .fd = -1};
        status = check_contexts(s, kind->name);
        for (int i = 0; i < n && status == DT_OK; i++)
            status = dt__check_current(tensors[i]);
        if (status == DT_OK)
            status = save_on(s, kind, path, &arena);
        dt__file_call_end(&s->call);
    }
    dt__arena_free(&arena);
    return status;
}

dt_status dt__save_npy(dt_tensor *tensor, const char *path, const dt__save_options *options) {
    if (!tensor)
        return DT_ERR_VALUE;
    if (path)
        return save(tensor->ctx, &npy_call, path, 1, NULL, &tensor, options);
    (void)dt__null_argument(tensor->ctx, "save_npy", 2);
    return dt_error_status(tensor->ctx);
}

/* The context of the first tensor that is not NULL. */
static dt_ctx *ctx_of_list(int n, dt_tensor *const *tensors) {
    dt_ctx *ctx = NULL;
    for (int i = 0; tensors && !ctx && i < n; i++)
        ctx = dt_tensor_ctx(tensors[i]);
    return ctx;
}

dt_status dt__save_npz(const char *path, int n, const char *const *names, dt_tensor *const *tensors,
                       const dt__save_options *options) {
    dt_ctx *ctx = ctx_of_list(n, tensors);
    bool complete = path && names && tensors && n > 0;
    for (int i = 0; complete && i < n; i++)
        complete = DT__LIVE_ARGUMENT(DT__KIND_TENSOR, tensors[i], i + 1) != NULL;
    if (complete)
        return save(ctx, &npz_call, path, n, names, tensors, options);
    if (ctx && !dt_failed(ctx))
        (void)dt__fail(ctx, DT_ERR_VALUE, "save_npz: expected tensors, got NULL");
    return DT_ERR_VALUE;
}

static const dt__save_options defaults = {.limit = DT__ZIP_LIMIT};

dt_status dt_save_npy_site(dt_tensor *tensor, const char *path, const dt_site *site) {
    DT__ENTER_TENSOR(tensor, "save_npy", site);
    DT__TRY(DT__REFUSAL());
    if (tensor && !dt__noted_read(tensor, &(dt__call_details){.text = path}))
        return dt_error_status(tensor->ctx);
    return dt__save_npy(tensor, path, &defaults);
}

dt_status dt_save_npz_site(const char *path, int n, const char *const *names, dt_tensor *const *tensors,
                           const dt_site *site) {
    DT__ENTER(ctx_of_list(n, tensors), "save_npz", site);
    DT__TRY(DT__REFUSAL());
    for (int i = 0; tensors && i < n; i++)
        if (tensors[i] && !dt__noted_read(tensors[i], &(dt__call_details){.text = path}))
            return dt_error_status(tensors[i]->ctx);
    return dt__save_npz(path, n, names, tensors, &defaults);
}
