/* SPDX-License-Identifier: Apache-2.0
 *
 * dt_load. A load is a file call (tensor/file_call.h) on the mesh of the list. The first rank chooses the folder; then
 * each rank opens its files and checks all that could be wrong with them; then each reads its shards. The ranks
 * synchronize after each of these stages, so that nothing changes unless every rank can load everything.
 */
#include "train/checkpoint_view.h"

#include "base/c_locale.h"
#include "base/hash.h"
#include "base/options.h"
#include "train/checkpoint_folder.h"
#include "train/stored_files.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const dt__exchange_call load_call = {.name = "load", .has_text = true};

/* What the first rank found, and publishes with the step. */
enum { HANDLE_KIND, HANDLE_STEP };
enum { NOTHING, FOLDER_ITSELF, STEP_FOLDER };

/* A parameter and where its data is. */
typedef struct loaded {
    dt__param_entry of;
    const dt__stored_entry *entry;
    const char *stored_name;
    int64_t n_steps;
    const dt__stored_entry *states[DT__MAX_STATES];
} loaded;

typedef struct load {
    dt_ctx *ctx;
    dt_params *params;
    const dt_load_options *options;
    dt__arena arena;
    dt__file_call call;
    const char *folder;
    dt__stored_files model, optimizer;
    int n;
    loaded *list;
    int64_t step, position;
    dt_generator_state generator;
    dt_scaler scaler;
} load;

/* Choosing the folder. */

static dt_status choose(load *l) {
    char failure[DT__FAILURE_BYTES], path[PATH_MAX];
    int64_t *handle = l->call.own.handle;
    if (!l->call.is_first)
        return DT_OK;
    handle[HANDLE_KIND] = dt__checkpoint_find(l->folder, "model", path) ? FOLDER_ITSELF : NOTHING;
    if (handle[HANDLE_KIND] == FOLDER_ITSELF)
        return DT_OK;
    if (!dt__run_newest(l->folder, &handle[HANDLE_STEP], failure))
        return dt__file_call_fail(&l->call, DT_ERR_SYSTEM, failure);
    handle[HANDLE_KIND] = handle[HANDLE_STEP] >= 0 ? STEP_FOLDER : NOTHING;
    if (handle[HANDLE_KIND] == NOTHING && !l->options->optional)
        return dt__file_call_fail(&l->call, DT_ERR_VALUE,
                                  access(l->folder, F_OK) == 0
                                      ? "there is no checkpoint: expected folders step-NNNNNN or model.safetensors"
                                      : "there is no checkpoint: the folder does not exist");
    return DT_OK;
}

/* The folder that the first rank has chosen; NULL in *out: none. */
static dt_status chosen(load *l, const char **out) {
    const int64_t *handle = l->call.group ? l->call.handle : l->call.own.handle;
    char path[PATH_MAX];
    *out = NULL;
    if (handle[HANDLE_KIND] == NOTHING)
        return DT_OK;
    if (handle[HANDLE_KIND] == STEP_FOLDER && !dt__step_path(l->folder, handle[HANDLE_STEP], path))
        return dt__fail(l->ctx, DT_ERR_VALUE, "the path of the folder is too long");
    *out = handle[HANDLE_KIND] == STEP_FOLDER ? dt__arena_copy_text(&l->arena, path) : l->folder;
    return *out ? DT_OK : DT_ERR_MEMORY;
}

/* Opening and checking. */

static dt_status refuse(load *l, const char *format, ...) DT_PRINTF(2);
static dt_status refuse(load *l, const char *format, ...) {
    char text[512];
    va_list args;
    va_start(args, format);
    dt__vformat(text, sizeof text, format, args);
    va_end(args);
    return dt__file_call_fail(&l->call, DT_ERR_VALUE, text);
}

/* Names for an error: "a, b, c and 12 more". */
typedef struct name_list {
    char text[160];
    int n;
} name_list;

static void add_name(name_list *self, const char *state, const char *name) {
    const size_t used = strlen(self->text);
    char full[100];
    (void)snprintf(full, sizeof full, "%s%s%s", state, *state ? "." : "", name);
    self->n++;
    if (used + strlen(full) + 3 < sizeof self->text)
        (void)snprintf(self->text + used, sizeof self->text - used, "%s%s", used ? ", " : "", full);
    else if (used + 4 < sizeof self->text && self->text[used - 1] != '.')
        (void)snprintf(self->text + used, sizeof self->text - used, "...");
}

static const dt__stored_entry *find_param(const load *l, const dt__param_entry *of, const char **stored_name) {
    const dt__stored_entry *entry = dt__stored_files_find(&l->model, of->name);
    *stored_name = of->name;
    if (!entry && of->original) {
        entry = dt__stored_files_find(&l->model, of->original);
        *stored_name = of->original;
    }
    for (int i = 0; i < dt_params_n(l->params) && !entry; i++) {
        const dt__param_entry other = dt__params_entry(l->params, i);
        if (!other.tied || other.tensor != of->tensor)
            continue;
        entry = dt__stored_files_find(&l->model, other.name);
        *stored_name = other.name;
    }
    return entry;
}

static bool has_shape(const dt_tensor *tensor, const dt__stored_tensor *stored) {
    return tensor->n_dims == stored->n_dims &&
           (stored->n_dims == 0 ||
            memcmp(tensor->shape, stored->shape, (size_t)stored->n_dims * sizeof *stored->shape) == 0);
}

static dt_status check_shape(load *l, const dt_tensor *tensor, const dt__stored_tensor *stored) {
    char expected[128], got[128];
    if (has_shape(tensor, stored))
        return DT_OK;
    return refuse(l, "%.100s has another shape: expected [%s], got [%s]", stored->name,
                  dt__shape_text(tensor->n_dims, tensor->shape, sizeof expected, expected),
                  dt__shape_text(stored->n_dims, stored->shape, sizeof got, got));
}

static dt_status match_model(load *l) {
    name_list missing = {.n = 0}, unknown = {.n = 0};
    l->list = DT__NEW_ARRAY(&l->arena, loaded, dt_params_n(l->params));
    if (!l->list)
        return DT_ERR_MEMORY;
    for (int i = 0; i < dt_params_n(l->params); i++) {
        loaded *to = &l->list[l->n];
        to->of = dt__params_entry(l->params, i);
        if (to->of.tied)
            continue;
        to->entry = find_param(l, &to->of, &to->stored_name);
        if (!to->entry)
            add_name(&missing, "", to->of.name);
        l->n++;
    }
    for (int i = 0; i < l->model.n; i++)
        if (!dt__params_has(l->params, l->model.by_name[i].tensor->name))
            add_name(&unknown, "", l->model.by_name[i].tensor->name);
    if (missing.n || unknown.n)
        return refuse(l, "its names are not those of the parameters: %d missing%s%s, %d unknown%s%s", missing.n,
                      missing.n ? ": " : "", missing.text, unknown.n, unknown.n ? ": " : "", unknown.text);
    for (int i = 0; i < l->n; i++)
        DT__TRY(check_shape(l, l->list[i].of.tensor, l->list[i].entry->tensor));
    return DT_OK;
}

static dt_status read_n_steps(load *l, const dt__stored_entry *entry, int64_t *out) {
    unsigned char bytes[8];
    const dt__stored_tensor *stored = entry->tensor;
    if (stored->n_dims != 0 || stored->dtype->dtype != DT_I64 || stored->dtype->bytes != (int)sizeof bytes)
        return refuse(l, "%.100s: expected one number of I64", stored->name);
    DT__TRY(dt__file_read(&entry->file->file, entry->file->header.data_at + stored->begin, bytes, sizeof bytes));
    memcpy(out, bytes, sizeof *out);
    return *out >= 0 ? DT_OK : refuse(l, "%.100s: expected at least 0, got %" PRId64, stored->name, *out);
}

static const dt__stored_entry *find_state(const load *l, const char *state, const char *name) {
    char full[1024];
    (void)snprintf(full, sizeof full, "%s.%s", state, name);
    return dt__stored_files_find(&l->optimizer, full);
}

static dt_status match_optimizer(load *l) {
    const char *names[DT__MAX_STATES];
    const int n = dt__optimizer_states(l->options->optimizer, names);
    name_list missing = {.n = 0};
    for (int i = 0; i < l->n; i++) {
        loaded *to = &l->list[i];
        if (to->of.is_frozen)
            continue;
        const dt__stored_entry *steps = find_state(l, "step", to->stored_name);
        if (!steps)
            add_name(&missing, "step", to->stored_name);
        else
            DT__TRY(read_n_steps(l, steps, &to->n_steps));
        for (int s = 0; s < n; s++) {
            to->states[s] = find_state(l, names[s], to->stored_name);
            if (!to->states[s])
                add_name(&missing, names[s], to->stored_name);
            else
                DT__TRY(check_shape(l, to->of.tensor, to->states[s]->tensor));
        }
    }
    if (!missing.n)
        return DT_OK;
    return refuse(l, "the state of another optimizer, or of other parameters: %d missing: %s", missing.n,
                  missing.text);
}

/* A text of the metadata that was asked for. */
static dt_status read_text(load *l, const char *key, const char **out) {
    *out = l->model.n_files ? dt__safetensors_text(&l->model.files[0].header, key) : NULL;
    return *out ? DT_OK : refuse(l, "its metadata has no '%s': it was saved without", key);
}

static dt_status read_number(load *l, const char *key, uint64_t limit, uint64_t *out) {
    const char *text;
    DT__TRY(read_text(l, key, &text));
    const size_t n = strlen(text);
    errno = 0;
    *out = n && n <= 20 && strspn(text, "0123456789") == n ? strtoull(text, NULL, 10) : UINT64_MAX;
    if (errno != 0 || *out > limit || (*out == UINT64_MAX && strcmp(text, "18446744073709551615") != 0))
        return refuse(l, "its metadata has '%s' = '%.40s': expected a number", key, text);
    return DT_OK;
}

/* A finite number above 0. */
static dt_status read_factor(load *l, const char *key, double *out) {
    const char *text;
    char *end;
    DT__TRY(read_text(l, key, &text));
    *out = dt__real_read(text, &end);
    return *text && !*end && *out > 0 && isfinite(*out)
               ? DT_OK
               : refuse(l, "its metadata has '%s' = '%.40s': expected a number above 0", key, text);
}

static dt_status read_scaler(load *l) {
    uint64_t interval = 0, n_finite = 0;
    DT__TRY(read_factor(l, "scaler.scale", &l->scaler.scale));
    DT__TRY(read_factor(l, "scaler.growth", &l->scaler.growth));
    DT__TRY(read_factor(l, "scaler.backoff", &l->scaler.backoff));
    DT__TRY(read_number(l, "scaler.interval", INT64_MAX, &interval));
    DT__TRY(read_number(l, "scaler.n_finite", INT64_MAX, &n_finite));
    l->scaler.interval = (int64_t)interval;
    l->scaler.n_finite = (int64_t)n_finite;
    return DT_OK;
}

static dt_status read_metadata(load *l) {
    const dt_load_options *o = l->options;
    uint64_t number = 0;
    if (o->step) {
        DT__TRY(read_number(l, "step", INT64_MAX, &number));
        l->step = (int64_t)number;
    }
    if (o->batches) {
        DT__TRY(read_number(l, "batches", INT64_MAX, &number));
        l->position = (int64_t)number;
    }
    if (o->generator) {
        DT__TRY(read_number(l, "seed", UINT64_MAX, &l->generator.seed));
        DT__TRY(read_number(l, "draw", (UINT64_C(1) << 48) - 1, &l->generator.draw));
    }
    return o->scaler ? read_scaler(l) : DT_OK;
}

static dt_status open_optimizer(load *l, const char *folder) {
    char path[PATH_MAX];
    if (!dt__checkpoint_find(folder, "optimizer", path))
        return refuse(l, "it has no state of an optimizer: it was saved without");
    l->call.path = dt__arena_copy_text(&l->arena, path);
    if (!l->call.path)
        return DT_ERR_MEMORY;
    DT__TRY(dt__stored_files_open(&l->optimizer, &l->call, &l->arena));
    return match_optimizer(l);
}

static dt_status open_and_check(load *l, const char *folder) {
    l->call.path = folder;
    DT__TRY(dt__stored_files_open(&l->model, &l->call, &l->arena));
    DT__TRY(match_model(l));
    DT__TRY(read_metadata(l));
    return l->options->optimizer ? open_optimizer(l, folder) : DT_OK;
}

/* Reading. */

static dt_status read_tensor(dt__stored_files *files, const dt__stored_entry *entry, dt_tensor *to) {
    dt__storage_changed(to->storage);
    return dt__stored_read(files, entry, NULL, to);
}

static dt_status read_state(load *l, const loaded *from) {
    dt_optimizer *optimizer = l->options->optimizer;
    const dt_spec *spec = from->of.tensor->spec;
    int64_t n_steps;
    if (!optimizer || from->of.is_frozen || (spec && !spec->local.member))
        return DT_OK;
    DT__TRY(dt__optimizer_restore(optimizer, from->of.tensor, from->n_steps));
    dt_tensor *const *states = dt__optimizer_row(optimizer, from->of.tensor, &n_steps);
    for (int s = 0; states && s < DT__MAX_STATES && from->states[s]; s++)
        DT__TRY(read_tensor(&l->optimizer, from->states[s], states[s]));
    return DT_OK;
}

static dt_status read_all(load *l) {
    dt__training_setting setting = dt__training_begin(l->ctx);
    dt_status status = DT_OK;
    for (int i = 0; i < l->n && status == DT_OK; i++) {
        status = read_tensor(&l->model, l->list[i].entry, l->list[i].of.tensor);
        if (status == DT_OK)
            status = read_state(l, &l->list[i]);
    }
    dt__training_end(&setting);
    return status;
}

/* Generator and batches, which may still refuse a state. */
static dt_status restore_position(load *l) {
    if (l->options->batches)
        DT__TRY(dt_batches_seek_site(l->options->batches, l->position, NULL));
    return l->options->generator ? dt_generator_restore_site(l->options->generator, l->generator, NULL) : DT_OK;
}

/* load("run", 148 tensors; optimizer; generator; batches; scaler; optional) */
static dt_status describe(load *l) {
    const dt_load_options *o = l->options;
    uint64_t hash = 0;
    if (!l->call.group)
        return DT_OK;
    dt__text text = dt__text_new(l->ctx);
    dt__text_add(&text, "load(\"%s\", %d names%s%s%s%s%s)", l->folder, dt_params_n(l->params),
                 o->optimizer ? "; optimizer" : "", o->generator ? "; generator" : "", o->batches ? "; batches" : "",
                 o->scaler ? "; scaler" : "", o->optional ? "; optional" : "");
    for (int i = 0; i < dt_params_n(l->params); i++) {
        const dt__param_entry of = dt__params_entry(l->params, i);
        hash = dt__hash(of.name, strlen(of.name), hash);
        hash = dt__hash_u64(of.tensor->spec ? dt_spec_fingerprint(of.tensor->spec) : 0, hash);
    }
    dt_status status = dt__file_call_describe(&l->call, &text, hash);
    dt__text_free(&text);
    return status;
}

static dt_status run(load *l) {
    const char *folder;
    DT__TRY(describe(l));
    DT__TRY(dt__file_call_meet(&l->call, choose(l)));
    DT__TRY(chosen(l, &folder));
    if (!folder)
        return DT_OK;
    DT__TRY(dt__file_call_meet(&l->call, open_and_check(l, folder)));
    l->call.path = folder;
    DT__TRY(restore_position(l));
    DT__TRY(dt__file_call_meet(&l->call, read_all(l)));
    if (l->options->step)
        *l->options->step = l->step;
    if (l->options->scaler)
        *l->options->scaler = l->scaler;
    return DT_OK;
}

static bool is_outside(dt_mesh *mesh) { return mesh && !dt_mesh_coordinate(mesh, (int64_t[DT_MESH_MAX_DIMS]){0}); }

static dt_status load_params(dt_params *params, const char *folder, const dt_load_options *options) {
    dt_ctx *ctx = dt__params_ctx(params);
    dt_mesh *mesh = dt__params_mesh(params);
    load l = {.ctx = ctx, .params = params, .options = options, .folder = folder, .arena = dt__arena_new(ctx)};
    DT__TRY(dt__checkpoint_check(params, folder, options->optimizer, options->generator, options->batches));
    if (is_outside(mesh))
        return DT_OK;
    dt_status status = dt__file_call_begin(&l.call, ctx, &load_call, folder, mesh);
    if (status == DT_OK)
        status = run(&l);
    dt__file_call_end(&l.call);
    dt__stored_files_close(&l.model);
    dt__stored_files_close(&l.optimizer);
    dt__arena_free(&l.arena);
    return status;
}

dt_status dt_load_sized(dt_params *params, const char *folder, const dt_load_options *options, size_t options_size) {
    dt_load_options full;
    DT__ENTER_OPTIONS(params ? dt__params_ctx(params) : NULL, "load", options, options_size, &full);
    DT__TRY(DT__REFUSAL());
    params = DT__LIVE(DT__KIND_PARAMS, params);
    return params && options ? load_params(params, folder, options) : DT_ERR_STATE;
}
