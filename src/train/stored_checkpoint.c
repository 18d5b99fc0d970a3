/* SPDX-License-Identifier: Apache-2.0
 *
 * Opening a checkpoint without its parameters, and copying it. Tensors are read, converted and written one by one, so a
 * copy needs the memory of the largest; a .npz file is saved by dt_save_npz, which needs that of all.
 */
#include "train/stored_checkpoint.h"

#include "base/size.h"
#include "dtensor/files.h"
#include "train/checkpoint_writer.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static const dt__exchange_call checkpoint_call = {.name = "checkpoint"};
static const char *const stems[DT__CHECKPOINT_SETS] = {"model", "optimizer"};

/* Opening. */

static dt_status fail(dt__stored_checkpoint *self, dt_status status, const char *text) {
    return dt__file_call_fail(&self->call, status, text);
}

/* The folder: that of the path, or the newest one of a run. */
static dt_status find_folder(dt__stored_checkpoint *self, const char *path, dt__arena *arena) {
    char failure[DT__FAILURE_BYTES], found[PATH_MAX];
    struct stat info;
    int64_t step;
    self->path = path;
    if (stat(path, &info) != 0)
        return fail(self, DT_ERR_SYSTEM, strerror(errno));
    if (!S_ISDIR(info.st_mode) || dt__checkpoint_find(path, stems[0], found))
        return DT_OK;
    if (!dt__run_newest(path, &step, failure))
        return fail(self, DT_ERR_SYSTEM, failure);
    if (step < 0 || !dt__step_path(path, step, found))
        return fail(self, DT_ERR_VALUE, "there is no checkpoint: expected folders step-NNNNNN or model.safetensors");
    self->path = dt__arena_copy_text(arena, found);
    return self->path ? DT_OK : DT_ERR_MEMORY;
}

static dt_status open_set(dt__stored_checkpoint *self, const char *path, dt__arena *arena) {
    self->call.path = self->set_paths[self->n_sets] = dt__arena_copy_text(arena, path);
    return self->call.path ? dt__stored_files_open(&self->sets[self->n_sets++], &self->call, arena) : DT_ERR_MEMORY;
}

dt_status dt__stored_checkpoint_open(dt__stored_checkpoint *self, dt_ctx *ctx, const char *path, dt__arena *arena) {
    char found[PATH_MAX];
    *self = (dt__stored_checkpoint){.n_sets = 0};
    DT__TRY(dt__file_call_begin(&self->call, ctx, &checkpoint_call, path, NULL));
    DT__TRY(find_folder(self, path, arena));
    DT__TRY(open_set(self, self->path, arena));
    return dt__checkpoint_find(self->path, stems[1], found) ? open_set(self, found, arena) : DT_OK;
}

void dt__stored_checkpoint_close(dt__stored_checkpoint *self) {
    for (int s = 0; s < self->n_sets; s++)
        dt__stored_files_close(&self->sets[s]);
    dt__file_call_end(&self->call);
    self->n_sets = 0;
}

/* Copying. */

typedef struct copying {
    dt__stored_checkpoint *from;
    dt__arena *arena;
    const dt__conversion *conversion;
    const char *to;
    dt__file_set sets[DT__CHECKPOINT_SETS];
    dt__save_job job;
} copying;

static bool is_float(dt_dtype dtype) {
    return dtype == DT_F64 || dtype == DT_F32 || dtype == DT_F16 || dtype == DT_BF16;
}

static dt_dtype dtype_of(const copying *self, int set, const dt__stored_tensor *stored) {
    const dt_dtype dtype = stored->dtype->dtype;
    return set == 0 && self->conversion->dtype && is_float(dtype) ? self->conversion->dtype : dtype;
}

/* The tensor, in the current scope; NULL after an error. */
static dt_tensor *read_entry(const copying *self, int set, const dt__stored_entry *entry) {
    const dt__stored_tensor *stored = entry->tensor;
    dt_tensor *tensor = dt__tensor_new(self->from->call.ctx, "checkpoint", dtype_of(self, set, stored),
                                       stored->n_dims, stored->shape);
    if (tensor && dt__stored_read(&self->from->sets[set], entry, NULL, tensor) != DT_OK)
        return NULL;
    return tensor;
}

static dt_status list_set(copying *self, int set) {
    const dt__stored_files *from = &self->from->sets[set];
    dt__file_set *to = &self->sets[set];
    dt__metadata metadata = {.n = 0};
    to->stem = stems[set];
    to->entries = DT__NEW_ARRAY(self->arena, dt__file_entry, from->n);
    if (!to->entries)
        return DT_ERR_MEMORY;
    for (; to->n_entries < from->n; to->n_entries++) {
        const dt__stored_tensor *stored = from->entries[to->n_entries].tensor;
        to->entries[to->n_entries] = (dt__file_entry){.name = stored->name,
                                                      .dtype = dtype_of(self, set, stored),
                                                      .n_dims = stored->n_dims,
                                                      .shape = stored->shape};
    }
    if (from->n_files) {
        metadata.n = from->files[0].header.n_texts;
        metadata.texts = from->files[0].header.texts;
    }
    return dt__file_set_lay_out(to, self->arena, &metadata, self->conversion->file_bytes);
}

static dt_status list_files(copying *self) {
    for (int s = 0; s < self->from->n_sets; s++) {
        DT__TRY(list_set(self, s));
        self->job.n_files += self->sets[s].n_files;
    }
    self->job.files = DT__NEW_ARRAY(self->arena, dt__new_file *, self->job.n_files);
    for (int s = 0, f = 0; self->job.files && s < self->from->n_sets; s++)
        for (int k = 0; k < self->sets[s].n_files; k++)
            self->job.files[f++] = &self->sets[s].files[k];
    return self->job.files ? DT_OK : DT_ERR_MEMORY;
}

static dt_status finish_job(copying *self) {
    dt__save_job_run(&self->job);
    return self->job.failed ? fail(self->from, DT_ERR_SYSTEM, self->job.failure) : DT_OK;
}

static dt_status copy_entry(copying *self, int set, int first_file, int i) {
    dt_ctx *ctx = self->from->call.ctx;
    const dt__file_entry *to = &self->sets[set].entries[i];
    dt_scope scope = dt_scope_begin(ctx);
    const dt_tensor *tensor = read_entry(self, set, &self->from->sets[set].entries[i]);
    dt__save_piece piece = {first_file + to->file, to->at, tensor ? tensor->data : NULL, (size_t)to->bytes};
    self->job.pieces = &piece;
    self->job.n_pieces = 1;
    dt_status status = tensor ? finish_job(self) : dt_error_status(ctx);
    dt_scope_end(scope);
    return status;
}

static dt_status copy_entries(copying *self) {
    for (int s = 0, first = 0; s < self->from->n_sets; first += self->sets[s++].n_files)
        for (int i = 0; i < self->sets[s].n_entries; i++)
            DT__TRY(copy_entry(self, s, first, i));
    self->job.n_pieces = 0; /* brings all files to the disk */
    self->job.makes_files = true;
    self->job.sync = true;
    return finish_job(self);
}

static dt_status check_absent(copying *self) {
    struct stat info;
    return lstat(self->to, &info) == 0 ? fail(self->from, DT_ERR_VALUE, "expected a path that does not exist")
                                       : DT_OK;
}

static dt_status write_files(copying *self, dt__part_folder *part) {
    char failure[DT__FAILURE_BYTES];
    (void)snprintf(self->job.folder, sizeof self->job.folder, "%s", part->path);
    if (!dt__save_job_make_files(&self->job))
        return fail(self->from, DT_ERR_SYSTEM, self->job.failure);
    DT__TRY(copy_entries(self));
    DT__TRY(check_absent(self));
    return dt__part_folder_place(part, true, failure) ? DT_OK : fail(self->from, DT_ERR_SYSTEM, failure);
}

static dt_status write_folder(copying *self) {
    char failure[DT__FAILURE_BYTES];
    dt__part_folder part;
    DT__TRY(list_files(self));
    dt_status status = dt__part_folder_make_at(&part, self->to, failure) ? write_files(self, &part)
                                                                         : fail(self->from, DT_ERR_SYSTEM, failure);
    dt__part_folder_abandon(&part);
    return status;
}

static dt_status write_npz(copying *self) {
    dt_ctx *ctx = self->from->call.ctx;
    int n = 0, total = 0;
    for (int s = 0; s < self->from->n_sets; s++)
        total += self->from->sets[s].n;
    const char **names = DT__NEW_ARRAY(self->arena, const char *, total);
    dt_tensor **tensors = DT__NEW_ARRAY(self->arena, dt_tensor *, total);
    if (!names || !tensors)
        return DT_ERR_MEMORY;
    dt_scope scope = dt_scope_begin(ctx);
    for (int s = 0; s < self->from->n_sets; s++)
        for (int i = 0; i < self->from->sets[s].n; i++, n++) {
            names[n] = self->from->sets[s].entries[i].tensor->name;
            tensors[n] = read_entry(self, s, &self->from->sets[s].entries[i]);
        }
    dt_status status = dt_failed(ctx) ? dt_error_status(ctx) : dt_save_npz_site(self->to, n, names, tensors, NULL);
    dt_scope_end(scope);
    return status;
}

dt_status dt__stored_checkpoint_convert(dt__stored_checkpoint *self, dt__arena *arena,
                                        const dt__conversion *conversion, const char *to) {
    copying copy = {.from = self, .arena = arena, .conversion = conversion, .to = to};
    self->call.path = to;
    DT__TRY(check_absent(&copy));
    return conversion->npz ? write_npz(&copy) : write_folder(&copy);
}
