/* SPDX-License-Identifier: Apache-2.0
 *
 * Parameters and the state of their optimizer in one .npz file, by the names that checkpoints have. Reading and writing
 * are those of dt_load_npz and dt_save_npz; what is here lists the entries. Loading reads all of them before it changes
 * anything.
 */
#include "train/checkpoint_view.h"

#include "base/options.h"
#include "dtensor/files.h"
#include "dtensor/redistribute.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define CONFIG "config"

typedef struct entries {
    dt_ctx *ctx;
    const dt_params *params;
    dt_optimizer *optimizer;
    dt_ints config;
    const char *path;
    dt__arena arena;
    int n;
    const char **names;
    dt_tensor **tensors;
} entries;

static const char *state_name(entries *e, const char *state, const char *name) {
    const size_t n = strlen(state) + strlen(name) + 2;
    char *out = DT__NEW_ARRAY(&e->arena, char, n);
    if (out)
        (void)snprintf(out, n, "%s.%s", state, name);
    return out;
}

static dt_status reserve(entries *e) {
    const int64_t n = (int64_t)dt_params_n(e->params) * (2 + DT__MAX_STATES) + 1;
    e->names = DT__NEW_ARRAY(&e->arena, const char *, n);
    e->tensors = DT__NEW_ARRAY(&e->arena, dt_tensor *, n);
    return e->names && e->tensors ? DT_OK : DT_ERR_MEMORY;
}

/* Adds a tensor, moved from the mesh of a stage to that of the list. */
static dt_status add(entries *e, const char *name, dt_tensor *tensor) {
    dt_mesh *mesh = dt__params_mesh(e->params);
    if (tensor && mesh && dt_spec_mesh(tensor->spec) != mesh)
        tensor = dt_redistribute(tensor, NULL, .mesh = mesh);
    if (!name || !tensor)
        return dt_error_status(e->ctx);
    e->names[e->n] = name;
    e->tensors[e->n++] = tensor;
    return DT_OK;
}

static dt_mesh *mesh_of(const dt_tensor *tensor) { return tensor->spec ? dt_spec_mesh(tensor->spec) : NULL; }

/* Saving. */

static dt_status add_state(entries *e, const dt__param_entry *of) {
    const char *names[DT__MAX_STATES];
    const int n = dt__optimizer_states(e->optimizer, names);
    const dt_dtype dtype = dt__optimizer_state_dtype(of->tensor->dtype);
    int64_t n_steps;
    dt_tensor *const *states = dt__optimizer_row(e->optimizer, of->tensor, &n_steps);
    for (int s = 0; s < n; s++) /* outside the stage of a parameter, its state is not known, and empty */
        DT__TRY(add(e, state_name(e, names[s], of->name),
                    states ? states[s] : dt_zeros_like(of->tensor, .dtype = dtype)));
    return add(e, state_name(e, "step", of->name),
               dt_full(e->ctx, DT_SHAPE(), DT_NUMBER(n_steps), .dtype = DT_I64, .mesh = mesh_of(of->tensor)));
}

static dt_status list_entries(entries *e) {
    DT__TRY(reserve(e));
    for (int i = 0; i < dt_params_n(e->params); i++) {
        const dt__param_entry of = dt__params_entry(e->params, i);
        if (of.tied || of.original)
            continue;
        DT__TRY(add(e, of.name, of.tensor));
        if (e->optimizer && !of.is_frozen)
            DT__TRY(add_state(e, &of));
    }
    if (!e->config.n)
        return DT_OK;
    dt_tensor *config = dt_from_memory(e->ctx, e->config.list, DT_SHAPE(e->config.n), DT_I64);
    dt_mesh *mesh = dt__params_mesh(e->params);
    return add(e, CONFIG, mesh ? dt_distribute_tensor(config, mesh, NULL, .everywhere = true) : config);
}

static dt_status save(entries *e) {
    DT__TRY(list_entries(e));
    return dt_save_npz_site(e->path, e->n, e->names, e->tensors, NULL);
}

/* Loading. */

/* An entry that was read, and where it goes. */
typedef struct pending {
    dt_tensor *from, *parameter;
    int state;       /* of the parameter; -1: the parameter itself */
    int64_t n_steps; /* of a parameter with state */
} pending;

/* Reads an entry into the placement of another tensor. */
static dt_tensor *read_like(entries *e, const char *name, const dt_tensor *like) {
    char expected[128], got[128], place[1024];
    const dt_spec *spec = like->spec;
    if (!name)
        return NULL;
    if (spec)
        (void)dt_placements_text(spec->sharding.n_mesh_dims, spec->sharding.placements, sizeof place, place);
    dt_tensor *read = dt_load_npz(e->ctx, e->path, name, .mesh = mesh_of(like), .place = spec ? place : NULL);
    if (!read || (read->n_dims == like->n_dims &&
                  (!like->n_dims || !memcmp(read->shape, like->shape, (size_t)like->n_dims * sizeof *like->shape))))
        return read;
    (void)dt__fail(e->ctx, DT_ERR_SHAPE, "%.400s: %.100s has another shape: expected [%s], got [%s]", e->path, name,
                   dt__shape_text(like->n_dims, like->shape, sizeof expected, expected),
                   dt__shape_text(read->n_dims, read->shape, sizeof got, got));
    return NULL;
}

/* The integers of an entry, the same on every rank. */
static const int64_t *read_integers(entries *e, const char *name, int64_t n) {
    const dt_tensor *read = name ? dt_load_npz(e->ctx, e->path, name, .mesh = dt__params_mesh(e->params)) : NULL;
    if (!read)
        return NULL;
    if (read->dtype == DT_I64 && dt_tensor_elements(read) == n)
        return (const int64_t *)(const void *)read->data;
    (void)dt__fail(e->ctx, DT_ERR_VALUE, "%.400s: %.100s: expected %" PRId64 " integers, i64", e->path, name, n);
    return NULL;
}

static dt_status check_config(entries *e) {
    const int64_t *stored = e->config.n ? read_integers(e, CONFIG, e->config.n) : NULL;
    char expected[256], got[256];
    if (!e->config.n)
        return DT_OK;
    if (!stored)
        return dt_error_status(e->ctx);
    if (!memcmp(stored, e->config.list, (size_t)e->config.n * sizeof *stored))
        return DT_OK;
    return dt__fail(e->ctx, DT_ERR_VALUE, "%.400s: another model: its config is [%s], expected [%s]", e->path,
                    dt__shape_text(e->config.n, stored, sizeof got, got),
                    dt__shape_text(e->config.n, e->config.list, sizeof expected, expected));
}

static dt_status read_state(entries *e, const dt__param_entry *of, pending *all, int *n) {
    const char *names[DT__MAX_STATES];
    const int n_states = dt__optimizer_states(e->optimizer, names);
    const int64_t *steps = read_integers(e, state_name(e, "step", of->name), 1);
    if (!steps)
        return dt_error_status(e->ctx);
    for (int s = 0; s < n_states; s++) {
        all[*n] = (pending){read_like(e, state_name(e, names[s], of->name), of->tensor), of->tensor, s, *steps};
        if (!all[(*n)++].from)
            return dt_error_status(e->ctx);
    }
    return DT_OK;
}

/* A copy on another mesh has the numbers of its original. */
static dt_status read_all(entries *e, pending *all, int *n) {
    DT__TRY(check_config(e));
    for (int i = 0; i < dt_params_n(e->params); i++) {
        dt__param_entry of = dt__params_entry(e->params, i);
        if (of.tied)
            continue;
        of.name = of.original ? of.original : of.name;
        all[*n] = (pending){read_like(e, of.name, of.tensor), of.tensor, -1, 0};
        if (!all[(*n)++].from)
            return dt_error_status(e->ctx);
        if (e->optimizer && !of.is_frozen)
            DT__TRY(read_state(e, &of, all, n));
    }
    return DT_OK;
}

static dt_status put(const entries *e, const pending *one) {
    dt_tensor *to = one->parameter;
    int64_t n_steps;
    if (to->spec && !to->spec->local.member)
        return DT_OK;
    if (one->state == 0)
        DT__TRY(dt__optimizer_restore(e->optimizer, to, one->n_steps));
    if (one->state >= 0) {
        dt_tensor *const *states = dt__optimizer_row(e->optimizer, to, &n_steps);
        if (!states)
            return DT_OK; /* never stepped: zeros */
        to = states[one->state];
    }
    return dt_copy_(to, one->from) ? DT_OK : dt_error_status(e->ctx);
}

static dt_status load(entries *e) {
    int n = 0;
    pending *all = DT__NEW_ARRAY(&e->arena, pending, (int64_t)dt_params_n(e->params) * (1 + DT__MAX_STATES));
    if (!all)
        return DT_ERR_MEMORY;
    DT__TRY(read_all(e, all, &n));
    for (int i = 0; i < n; i++)
        DT__TRY(put(e, &all[i]));
    return DT_OK;
}

/* Both. */

static dt_status run(dt_params *params, const char *path, const dt_params_npz_options *options,
                     dt_status (*what)(entries *e)) {
    params = DT__LIVE(DT__KIND_PARAMS, params);
    if (!params || !options)
        return DT_ERR_STATE;
    dt_ctx *ctx = dt__params_ctx(params);
    DT__TRY(dt__checkpoint_check(params, path, options->optimizer, NULL, NULL));
    entries e = {.ctx = ctx,
                 .params = params,
                 .optimizer = options->optimizer,
                 .config = options->config,
                 .path = path,
                 .arena = dt__arena_new(ctx)};
    dt_scope scope = dt_scope_begin(ctx);
    dt__training_setting setting = dt__training_begin(ctx);
    dt_comm_policy(ctx, DT_COMM_ALLOW); /* of the scope: what stages have meets on the mesh of the list */
    dt_status status = what(&e);
    dt__training_end(&setting);
    dt_scope_end(scope);
    dt__arena_free(&e.arena);
    return status;
}

dt_status dt_params_save_npz_sized(dt_params *params, const char *path, const dt_params_npz_options *options,
                                   size_t options_size) {
    dt_params_npz_options full;
    DT__ENTER_OPTIONS(params ? dt__params_ctx(params) : NULL, "params_save_npz", options, options_size, &full);
    DT__TRY(DT__REFUSAL());
    return run(params, path, options, save);
}

dt_status dt_params_load_npz_sized(dt_params *params, const char *path, const dt_params_npz_options *options,
                                   size_t options_size) {
    dt_params_npz_options full;
    DT__ENTER_OPTIONS(params ? dt__params_ctx(params) : NULL, "params_load_npz", options, options_size, &full);
    DT__TRY(DT__REFUSAL());
    return run(params, path, options, load);
}
