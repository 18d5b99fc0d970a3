/* SPDX-License-Identifier: Apache-2.0
 *
 * dt_save and dt_saving_wait. A save is a file call (tensor/file_call.h) on the mesh of the list. The ranks synchronize
 * when the first one has made the folder and its files, when all have written their pieces and these are on the disk,
 * and when the folder has its name. With .later, the second and third synchronization happen in dt_saving_wait, and a
 * thread writes copies of the pieces in between.
 */
#include "train/checkpoint_content.h"

#include "base/c_locale.h"
#include "base/hash.h"
#include "base/options.h"
#include "mesh/mesh.h"

#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define STEP_LIMIT INT64_C(1000000000000000000)

static const dt__exchange_call save_call = {.name = "save", .has_text = true};
static const dt__exchange_call files_call = {.name = "params_save", .has_text = true};
static const dt__exchange_call wait_call = {.name = "saving_wait", .has_text = true};

struct dt_saving {
    dt_ctx *ctx;
    dt_saving *next; /* of the context's */
    dt__arena arena; /* of what follows */
    bool is_open;    /* the folder has no name yet */
    dt_mesh *mesh;   /* holds a reference while it is open; NULL: plain */
    const char *run; /* as the program wrote it */
    int64_t step, keep;
    bool is_flat;         /* files go to the folder itself, without a step */
    dt__part_folder part; /* on the first rank */
    dt__save_job job;
    unsigned char *buffer; /* of the copied pieces; stays for the next save */
    size_t capacity;
    pthread_t thread;
    bool has_thread;
};

/* A call of dt_save. */
typedef struct save {
    dt_ctx *ctx;
    const dt_params *params;
    const dt_save_options *options;
    dt_saving *saving;
    dt__file_call call;
    dt__content content;
    dt__metadata metadata;
} save;

void dt__saving_text(const dt_saving *self, size_t capacity, char *out) {
    (void)snprintf(out, capacity, "%s/step-%06" PRId64, self->run, self->step);
}

/* What is saved. */

static dt_status list_numbers(save *s, const dt_optimizer *optimizer, dt__arena *arena) {
    const dt__method_numbers *numbers;
    const dt__method *method = dt__optimizer_method(optimizer, &numbers);
    DT__TRY(dt__metadata_add(&s->metadata, arena, "optimizer", "%s", method->name));
    for (const dt__method_number *at = method->numbers; at->name; at++) {
        const char *value = (const char *)numbers + at->at;
        char key[64];
        (void)snprintf(key, sizeof key, "optimizer.%s", at->name);
        const char *copy = dt__arena_copy_text(arena, key);
        if (!copy)
            return DT_ERR_MEMORY;
        DT__TRY(at->is_flag
                    ? dt__metadata_add(&s->metadata, arena, copy, "%s",
                                       *(const bool *)(const void *)value ? "true" : "false")
                    : dt__metadata_add(&s->metadata, arena, copy, "%.17g", *(const double *)(const void *)value));
    }
    return DT_OK;
}

static dt_status list_scaler(save *s, const dt_scaler *scaler, dt__arena *arena) {
    DT__TRY(dt__metadata_add(&s->metadata, arena, "scaler.scale", "%.17g", scaler->scale));
    DT__TRY(dt__metadata_add(&s->metadata, arena, "scaler.growth", "%.17g", scaler->growth));
    DT__TRY(dt__metadata_add(&s->metadata, arena, "scaler.backoff", "%.17g", scaler->backoff));
    DT__TRY(dt__metadata_add(&s->metadata, arena, "scaler.interval", "%" PRId64, scaler->interval));
    return dt__metadata_add(&s->metadata, arena, "scaler.n_finite", "%" PRId64, scaler->n_finite);
}

static dt_status list_metadata(save *s) {
    const dt_save_options *o = s->options;
    dt__arena *arena = &s->saving->arena;
    dt_generator *generator = o->generator ? o->generator : dt_generator_default_site(s->ctx, NULL);
    if (!generator)
        return dt_error_status(s->ctx);
    const dt_generator_state state = dt_generator_save(generator);
    DT__TRY(dt__metadata_add(&s->metadata, arena, "format", "pt"));
    if (s->saving->is_flat)
        return DT_OK;
    DT__TRY(dt__metadata_add(&s->metadata, arena, "step", "%" PRId64, s->saving->step));
    DT__TRY(dt__metadata_add(&s->metadata, arena, "seed", "%" PRIu64, state.seed));
    DT__TRY(dt__metadata_add(&s->metadata, arena, "draw", "%" PRIu64, state.draw));
    if (o->batches)
        DT__TRY(dt__metadata_add(&s->metadata, arena, "batches", "%" PRId64, dt_batches_position(o->batches)));
    const dt__c_locale points = dt__c_locale_begin();
    dt_status status = o->scaler ? list_scaler(s, o->scaler, arena) : DT_OK;
    if (status == DT_OK && o->optimizer)
        status = list_numbers(s, o->optimizer, arena);
    dt__c_locale_end(&points);
    return status;
}

/* Files and offsets, the same on every rank. */
static dt_status lay_out(save *s) {
    dt_saving *saving = s->saving;
    dt__save_job *job = &saving->job;
    DT__TRY(list_metadata(s));
    DT__TRY(dt__content_list(&s->content, &saving->arena, s->params, s->options->optimizer));
    for (int i = 0; i < s->content.n_sets; i++) {
        DT__TRY(
            dt__file_set_lay_out(&s->content.sets[i], &saving->arena, &s->metadata, s->options->file_bytes.value));
        job->n_files += s->content.sets[i].n_files;
    }
    job->files = DT__NEW_ARRAY(&saving->arena, dt__new_file *, job->n_files);
    if (!job->files)
        return DT_ERR_MEMORY;
    for (int i = 0, f = 0; i < s->content.n_sets; i++)
        for (int k = 0; k < s->content.sets[i].n_files; k++)
            job->files[f++] = &s->content.sets[i].files[k];
    return DT_OK;
}

/* save("run", 600, 148 tensors; step=600; seed=0; draw=148; optimizer=adamw; keep=3) */
static dt_status describe(save *s) {
    const dt_save_options *o = s->options;
    uint64_t hash = 0;
    if (!s->call.group)
        return DT_OK;
    dt__text text = dt__text_new(s->ctx);
    dt__text_add(&text, "save(\"%s\", %" PRId64 ", %d tensors", s->saving->run, s->saving->step,
                 s->content.sets[0].n_entries);
    for (int i = 1; i < s->metadata.n; i++) /* all have the same format */
        dt__text_add(&text, "; %s=%s", s->metadata.texts[i].key, s->metadata.texts[i].value);
    if (o->keep.value)
        dt__text_add(&text, "; keep=%" PRId64, o->keep.value);
    if (o->file_bytes.value)
        dt__text_add(&text, "; file_bytes=%" PRId64, o->file_bytes.value);
    dt__text_add(&text, "%s%s)", o->unsynced ? "; unsynced=true" : "", o->later ? "; later" : "");
    for (int i = 0; i < s->content.sets[0].n_entries; i++) {
        const dt_spec *spec = s->content.sources[0][i].spec;
        hash = dt__hash_u64(spec ? dt_spec_fingerprint(spec) : 0, hash);
    }
    for (int f = 0; f < s->saving->job.n_files; f++)
        hash = dt__hash(s->saving->job.files[f]->head, s->saving->job.files[f]->head_bytes, hash);
    dt_status status = dt__file_call_describe(&s->call, &text, hash);
    dt__text_free(&text);
    return status;
}

/* Making the folder, on the first rank, and finding it on the others. */

static dt_status make_folder(save *s) {
    dt_saving *saving = s->saving;
    char failure[DT__FAILURE_BYTES];
    struct stat info = {0};
    if (!s->call.is_first)
        return DT_OK;
    if (!dt__part_folder_make(&saving->part, saving->run, saving->step, failure))
        return dt__file_call_fail(&s->call, DT_ERR_SYSTEM, failure);
    (void)snprintf(saving->job.folder, sizeof saving->job.folder, "%s", saving->part.path);
    if (s->call.group && strlen(saving->part.path) >= sizeof s->call.own.temporary)
        return dt__file_call_fail(&s->call, DT_ERR_SYSTEM, "cannot be created: the path is too long");
    saving->job.makes_files = true;
    if (!dt__save_job_make_files(&saving->job))
        return dt__file_call_fail(&s->call, DT_ERR_SYSTEM, saving->job.failure);
    (void)stat(saving->part.path, &info);
    s->call.own.handle[0] = (int64_t)info.st_ino;
    (void)snprintf(s->call.own.temporary, sizeof s->call.own.temporary, "%.*s", (int)sizeof s->call.own.temporary - 1,
                   saving->part.path);
    return DT_OK;
}

/* A failure is that of the job, which the next meeting shares. */
static void find_folder(save *s) {
    dt__save_job *job = &s->saving->job;
    struct stat info;
    if (s->call.is_first)
        return;
    (void)snprintf(job->folder, sizeof job->folder, "%s", s->call.temporary);
    if (stat(job->folder, &info) == 0 && (int64_t)info.st_ino == s->call.handle[0])
        return;
    job->failed = true;
    (void)snprintf(job->failure, sizeof job->failure, "%.400s is not visible on this rank", job->folder);
}

/* Writing. */

static void *write_pieces(void *job) {
    dt__save_job_run(job);
    return NULL;
}

/* Signals are for the threads of the program. Without a thread, the pieces are written now. */
static void start_thread(dt_saving *self) {
    sigset_t all, before;
    sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    self->has_thread = pthread_create(&self->thread, NULL, write_pieces, &self->job) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!self->has_thread)
        dt__save_job_run(&self->job);
}

static void join_thread(dt_saving *self) {
    if (self->has_thread)
        (void)pthread_join(self->thread, NULL);
    self->has_thread = false;
}

/* Copies the pieces to the buffer, so that parameters may change while they are written. */
static dt_status copy_pieces(dt_saving *self) {
    const size_t bytes = (size_t)self->job.bytes;
    if (bytes > self->capacity) {
        dt__free(self->ctx, self->buffer, self->capacity);
        self->buffer = dt__alloc(self->ctx, bytes);
        self->capacity = self->buffer ? bytes : 0;
        if (!self->buffer)
            return dt__fail_memory(self->ctx, bytes, "the copy of a checkpoint");
    }
    unsigned char *at = self->buffer;
    for (int64_t i = 0; i < self->job.n_pieces; i++) {
        dt__save_piece *piece = &self->job.pieces[i];
        memcpy(at, piece->data, piece->bytes);
        piece->data = at;
        at += piece->bytes;
    }
    return DT_OK;
}

static dt_status write_or_start(save *s) {
    dt_saving *saving = s->saving;
    dt_ctx *ctx = s->ctx;
    dt_scope scope = dt_scope_begin(ctx);
    dt__training_setting setting = dt__training_begin(ctx);
    dt_status status = dt__content_add_pieces(&s->content, &saving->arena, &saving->job);
    dt__training_end(&setting);
    if (status == DT_OK)
        dt__train_state_of(ctx)->bytes_saved += saving->job.bytes;
    if (status == DT_OK && s->options->later)
        status = copy_pieces(saving);
    if (status == DT_OK && !saving->job.failed) {
        if (s->options->later)
            start_thread(saving);
        else
            dt__save_job_run(&saving->job);
    }
    dt_scope_end(scope);
    return status;
}

/* Naming. */

static dt_status place(dt_saving *self, dt__file_call *call) {
    char failure[DT__FAILURE_BYTES];
    if (!call->is_first)
        return DT_OK;
    if (!(self->is_flat ? dt__part_folder_unpack : dt__part_folder_place)(&self->part, self->job.sync, failure) ||
        (self->keep && !dt__run_keep(self->part.run, self->keep, self->step, failure)))
        return dt__file_call_fail(call, DT_ERR_SYSTEM, failure);
    return DT_OK;
}

static dt_status finish(dt_saving *self, dt__file_call *call) {
    dt_status status = self->job.failed ? dt__file_call_fail(call, DT_ERR_SYSTEM, self->job.failure) : DT_OK;
    DT__TRY(dt__file_call_meet(call, status));
    return dt__file_call_meet(call, place(self, call));
}

/* Ends the save, however it went. */
static void close_saving(dt_saving *self) {
    join_thread(self);
    dt__part_folder_abandon(&self->part);
    dt_mesh_release(self->mesh);
    self->mesh = NULL;
    self->is_open = false;
}

/* Waiting. */

static dt_status describe_wait(dt_saving *self, dt__file_call *call) {
    if (!call->group)
        return DT_OK;
    dt__text text = dt__text_new(self->ctx);
    dt__text_add(&text, "saving_wait(\"%s\", %" PRId64 ")", self->run, self->step);
    dt_status status = dt__file_call_describe(call, &text, 0);
    dt__text_free(&text);
    return status;
}

static dt_status wait_for(dt_saving *self) {
    dt__file_call call;
    if (!self->is_open)
        return DT_OK;
    join_thread(self);
    dt_status status = dt__file_call_begin(&call, self->ctx, &wait_call, self->run, self->mesh);
    if (status == DT_OK)
        status = describe_wait(self, &call);
    if (status == DT_OK)
        status = finish(self, &call);
    dt__file_call_end(&call);
    close_saving(self);
    return status;
}

dt_status dt_saving_wait_site(dt_saving *saving, const dt_site *site) {
    DT__ENTER(saving ? saving->ctx : NULL, "saving_wait", site);
    DT__TRY(DT__REFUSAL());
    return saving ? wait_for(saving) : DT_OK;
}

/* At the end of the context. */

const dt_saving *dt__savings_abandon(dt_saving *first) {
    const dt_saving *open = NULL;
    for (dt_saving *self = first; self; self = self->next) {
        open = self->is_open ? self : open;
        join_thread(self);
        dt__part_folder_abandon(&self->part);
    }
    return open;
}

void dt__savings_free(dt_saving *first) {
    (void)dt__savings_abandon(first);
    for (dt_saving *self = first; self; self = self->next) {
        dt__free(self->ctx, self->buffer, self->capacity);
        self->buffer = NULL;
        dt__arena_free(&self->arena);
    }
}

/* Saving. */

static bool is_outside(dt_mesh *mesh) { return mesh && !dt_mesh_coordinate(mesh, (int64_t[DT_MESH_MAX_DIMS]){0}); }

static dt_status run(save *s) {
    DT__TRY(describe(s));
    DT__TRY(dt__file_call_meet(&s->call, make_folder(s)));
    find_folder(s);
    DT__TRY(write_or_start(s));
    return s->options->later ? DT_OK : finish(s->saving, &s->call);
}

static dt_status save_to(save *s, const char *folder, int64_t step) {
    dt_saving *saving = s->saving;
    dt_mesh *mesh = dt__params_mesh(s->params);
    dt__arena_free(&saving->arena);
    saving->arena = dt__arena_new(s->ctx);
    saving->run = dt__arena_copy_text(&saving->arena, folder);
    saving->step = step;
    saving->keep = s->options->keep.value;
    saving->job = (dt__save_job){.sync = !s->options->unsynced};
    saving->part = (dt__part_folder){.lock = -1};
    if (!saving->run)
        return DT_ERR_MEMORY;
    DT__TRY(lay_out(s));
    if (is_outside(mesh) || !dt__has_data(s->ctx))
        return DT_OK;
    dt_status status =
        dt__file_call_begin(&s->call, s->ctx, saving->is_flat ? &files_call : &save_call, saving->run, mesh);
    saving->mesh = mesh ? dt_mesh_retain(mesh) : NULL;
    saving->is_open = true;
    if (status == DT_OK)
        status = run(s);
    dt__file_call_end(&s->call);
    if (status != DT_OK || !s->options->later)
        close_saving(saving);
    return status;
}

static dt_status check_numbers(dt_ctx *ctx, int64_t step, const dt_save_options *o) {
    if (step < 0 || step >= STEP_LIMIT)
        return dt__fail(ctx, DT_ERR_VALUE, "step: expected 0 to 10^18 - 1, got %" PRId64, step);
    if (o->keep.value < 0)
        return dt__fail(ctx, DT_ERR_VALUE, "keep: expected at least 1, or 0 for all, got %" PRId64, o->keep.value);
    if (o->file_bytes.value < 0)
        return dt__fail(ctx, DT_ERR_VALUE, "file_bytes: expected at least 1, or 0 for one file, got %" PRId64,
                        o->file_bytes.value);
    return DT_OK;
}

dt_status dt__checkpoint_check(const dt_params *params, const char *folder, const dt_optimizer *optimizer,
                               const dt_generator *generator, const dt_batches *batches) {
    dt_ctx *ctx = dt__params_ctx(params);
    if (!folder || !*folder)
        return dt__fail(ctx, DT_ERR_VALUE, "argument 2 is %s: expected the path of a folder",
                        folder ? "\"\"" : "NULL");
    if ((optimizer && (!DT__LIVE(DT__KIND_OPTIMIZER, optimizer) ||
                       !dt__check_context(ctx, "checkpoint", "optimizer", dt__optimizer_ctx(optimizer)))) ||
        (generator && (!DT__LIVE(DT__KIND_GENERATOR, generator) ||
                       !dt__check_context(ctx, "checkpoint", "generator", dt_generator_ctx(generator)))) ||
        (batches && (!DT__LIVE(DT__KIND_BATCHES, batches) ||
                     !dt__check_context(ctx, "checkpoint", "batches", dt__batches_ctx(batches)))))
        return dt_error_status(ctx);
    return dt__params_check(params);
}

/* The save that the program's pointer refers to, once its previous save has ended; or a new one. */
static dt_status open_saving(dt_ctx *ctx, dt_saving **out) {
    dt__train_state *state = dt__train_state_of(ctx);
    if (!state)
        return dt_error_status(ctx);
    if (*out) {
        const dt_saving *known = state->savings;
        while (known && known != *out)
            known = known->next;
        return known ? wait_for(*out)
                     : dt__fail(ctx, DT_ERR_STATE, "later: expected NULL or a dt_saving of this context");
    }
    dt_saving *saving = dt__owned_new(ctx, sizeof *saving, "a save");
    if (!saving)
        return dt_error_status(ctx);
    *saving = (dt_saving){.ctx = ctx, .next = state->savings, .arena = dt__arena_new(ctx), .part = {.lock = -1}};
    state->savings = saving;
    *out = saving;
    return DT_OK;
}

/* Saves to one run get their names in their order. */
static dt_status wait_for_earlier(dt_ctx *ctx, const char *run, const dt_mesh *mesh) {
    dt__train_state *state = dt__train_state_of(ctx);
    if (!state)
        return dt_error_status(ctx);
    for (dt_saving *self = state->savings; self; self = self->next)
        if (self->is_open && self->mesh == mesh && strcmp(self->run, run) == 0)
            DT__TRY(wait_for(self));
    return DT_OK;
}

dt_status dt__save_files(const dt_params *params, const char *folder, int64_t file_bytes, bool unsynced) {
    dt_ctx *ctx = dt__params_ctx(params);
    const dt_save_options options = {.file_bytes = {.given = true, .value = file_bytes}, .unsynced = unsynced};
    dt_saving saving = {.ctx = ctx, .arena = dt__arena_new(ctx), .is_flat = true, .part = {.lock = -1}};
    DT__TRY(dt__checkpoint_check(params, folder, NULL, NULL, NULL));
    DT__TRY(check_numbers(ctx, 0, &options));
    save s = {.ctx = ctx, .params = params, .options = &options, .saving = &saving};
    dt_status status = save_to(&s, folder, 0);
    dt__arena_free(&saving.arena);
    return status;
}

static dt_status save_params(const dt_params *params, const char *folder, int64_t step,
                             const dt_save_options *options) {
    dt_ctx *ctx = dt__params_ctx(params);
    dt_saving now = {.ctx = ctx, .arena = dt__arena_new(ctx), .part = {.lock = -1}}, *later = NULL;
    DT__TRY(dt__checkpoint_check(params, folder, options->optimizer, options->generator, options->batches));
    DT__TRY(check_numbers(ctx, step, options));
    DT__TRY(wait_for_earlier(ctx, folder, dt__params_mesh(params)));
    if (options->later) {
        later = *options->later;
        DT__TRY(open_saving(ctx, &later));
        *options->later = later;
    }
    save s = {.ctx = ctx, .params = params, .options = options, .saving = later ? later : &now};
    dt_status status = save_to(&s, folder, step);
    dt__arena_free(&now.arena);
    return status;
}

dt_status dt_save_sized(dt_params *params, const char *folder, int64_t step, const dt_save_options *options,
                        size_t options_size) {
    dt_save_options full;
    DT__ENTER_OPTIONS(params ? dt__params_ctx(params) : NULL, "save", options, options_size, &full);
    DT__TRY(DT__REFUSAL());
    params = DT__LIVE(DT__KIND_PARAMS, params);
    return params && options ? save_params(params, folder, step, options) : DT_ERR_STATE;
}
