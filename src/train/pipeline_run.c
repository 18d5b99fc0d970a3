/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs a schedule: prepares a step from its options, walks this rank's row of the table, and ends the step on all ranks
 * together. The walk itself decides nothing: the table states what happens when, and pipeline_stage.c does it. After an
 * error the step leaves nothing but the error, whose text every rank gets.
 */
#include "train/pipeline_stage.h"

#include "base/hash.h"
#include "base/options.h"
#include "dtensor/redistribute.h"
#include "mesh/mesh.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Meshes of stages. */

/* The names of all dims but pp, joined by commas. */
static const char *other_dims(dt__arena *arena, const dt_mesh *mesh, int stage_dim) {
    dt__text text = dt__text_new(arena->ctx);
    for (int m = 0; m < dt_mesh_n_dims(mesh); m++)
        if (m != stage_dim)
            dt__text_add(&text, "%s%s", text.n_chars ? "," : "", dt_mesh_dim_name(mesh, m));
    const char *names = dt__arena_copy_chars(arena, dt__text_chars(&text), text.n_chars);
    dt__text_free(&text);
    return names;
}

static dt_mesh *slice_stage(dt__arena *arena, dt_mesh *mesh, int64_t rank) {
    const int dim = dt__stage_dim(mesh);
    if (dt_mesh_n_dims(mesh) > 1) {
        const char *names = other_dims(arena, mesh, dim);
        return names ? dt_mesh_slice_at(mesh, names, rank) : NULL;
    }
    dt_mesh *line = dt_mesh_unflatten(mesh, 0, ((int64_t[]){dt_mesh_size(mesh), 1}), 2,
                                      &(dt_mesh_options){.names = "stages,stage"});
    dt_mesh *stage = line ? dt_mesh_slice_at(line, "stage", rank) : NULL;
    dt_mesh_release(line);
    return stage;
}

static dt_status check_mesh(dt_ctx *ctx, const dt__pipeline *table, dt_mesh *mesh) {
    const int dim = mesh ? dt__stage_dim(mesh) : -1;
    const int64_t n = dim >= 0 ? dt_mesh_dim_size(mesh, dim) : 1;
    if (n != table->n_ranks)
        return dt__fail(ctx, DT_ERR_MESH,
                        "expected a mesh with pp=%" PRId64 ", the ranks of the schedule, got %s%s%s", table->n_ranks,
                        mesh ? "mesh(" : "none", mesh ? dt_mesh_text(mesh) : "", mesh ? ")" : "");
    for (int m = 0; mesh && dim >= 0 && m < dt_mesh_n_dims(mesh); m++)
        if (!dt_mesh_dim_name(mesh, m))
            return dt__fail(ctx, DT_ERR_MESH, "expected a mesh whose dims have names, got mesh(%s)",
                            dt_mesh_text(mesh));
    return DT_OK;
}

static dt_mesh *stage_mesh(dt__arena *arena, const dt__pipeline *table, dt_mesh *mesh, int64_t stage) {
    if (!mesh || dt__stage_dim(mesh) < 0)
        return mesh ? dt_mesh_retain(mesh) : NULL;
    return slice_stage(arena, mesh, table->rank_of[stage]);
}

dt_mesh *dt_pipeline_mesh_site(const dt_schedule *schedule, dt_mesh *mesh, int64_t stage, const dt_site *site) {
    dt_ctx *ctx = schedule ? dt__schedule_ctx(schedule) : NULL;
    DT__ENTER(ctx, "pipeline_mesh", site);
    if (DT__REFUSAL() != DT_OK || !(schedule = DT__LIVE(DT__KIND_SCHEDULE, schedule)))
        return NULL;
    const dt__pipeline *table = dt__schedule_table(schedule);
    if (mesh && !DT__LIVE_ARGUMENT(DT__KIND_MESH, mesh, 2))
        return NULL;
    if ((mesh && !dt__check_context(ctx, "pipeline_mesh", "mesh", dt_mesh_ctx(mesh))) ||
        check_mesh(ctx, table, mesh) != DT_OK)
        return NULL;
    if (stage < 0 || stage >= table->n_stages) {
        (void)dt__fail(ctx, DT_ERR_VALUE, "expected a stage from 0 to %" PRId64 ", got %" PRId64, table->n_stages - 1,
                       stage);
        return NULL;
    }
    dt__arena arena = dt__arena_new(ctx);
    dt_mesh *out = stage_mesh(&arena, table, mesh, stage);
    dt__arena_free(&arena);
    return out;
}

/* Preparing a step. */

static dt_status parse_hops(dt__pipeline_step *self) {
    const dt_pipeline_run_options *o = self->options;
    const int64_t n = self->table->n_stages - 1;
    dt__hop *hops = DT__NEW_ARRAY(&self->arena, dt__hop, n + 1);
    self->links.links = DT__NEW_ARRAY(&self->arena, dt__stage_link, n + 1);
    if (!hops || !self->links.links)
        return DT_ERR_MEMORY;
    for (int64_t i = 0; i < n; i++) {
        const char *text = o->hops ? o->hops[i] : o->hop;
        if (!text)
            return dt__fail(self->ctx, DT_ERR_VALUE,
                            "expected .hop, what crosses between stages, such as \"f32[4,128,768] dp=S(0)\"");
        const bool again = !o->hops && i > 0;
        if (!again)
            DT__TRY(dt__hop_parse(&self->arena, text, &hops[i]));
        self->links.links[i].hop = again ? &hops[0] : &hops[i];
        if (self->links.links[i].hop->tensors[0].array.shape[0] != hops[0].tensors[0].array.shape[0])
            return dt__fail(self->ctx, DT_ERR_VALUE,
                            "hop %" PRId64 ": expected %" PRId64 " rows, as hop 0 has, got '%s'", i,
                            hops[0].tensors[0].array.shape[0], text);
    }
    return DT_OK;
}

static dt_status find_rows(dt__pipeline_step *self) {
    const dt_pipeline_run_options *o = self->options;
    const int64_t n = self->table->n_micro, has_hop = self->table->n_stages > 1,
                  most = has_hop ? self->links.links[0].hop->tensors[0].array.shape[0] : INT64_MAX;
    double total = 0;
    self->rows = DT__NEW_ARRAY(&self->arena, int64_t, n);
    self->weights = DT__NEW_ARRAY(&self->arena, double, n);
    if (!self->rows || !self->weights)
        return DT_ERR_MEMORY;
    for (int64_t m = 0; m < n; m++) {
        self->rows[m] = o->rows ? o->rows[m] : has_hop ? most : 1;
        self->weights[m] = o->weights ? o->weights[m] : (double)self->rows[m];
        if (self->rows[m] < 1 || self->rows[m] > most)
            return dt__fail(self->ctx, DT_ERR_VALUE,
                            "rows of micro-batch %" PRId64 ": expected 1 to %" PRId64
                            ", those of the hop, got %" PRId64,
                            m, most, self->rows[m]);
        if (!(self->weights[m] >= 0) || isinf(self->weights[m]))
            return dt__fail(self->ctx, DT_ERR_VALUE, "weight of micro-batch %" PRId64 ": expected at least 0, got %g",
                            m, self->weights[m]);
        total += self->weights[m];
    }
    if (!(total > 0))
        return dt__fail(self->ctx, DT_ERR_VALUE, "weights: expected a sum above 0, got %g", total);
    for (int64_t m = 0; m < n; m++)
        self->weights[m] /= total;
    return DT_OK;
}

/* By default, the mesh dims along which a hop of the stage is sharded by its dim 0. */
static dt_status find_hold(dt__pipeline_step *self, int64_t stage) {
    dt__own_stage *own = &self->stages[stage];
    const int64_t link = stage + 1 < self->table->n_stages ? stage : stage - 1;
    dt__text text = dt__text_new(self->ctx);
    if (self->options->hold)
        dt__text_add(&text, "%s", self->options->hold);
    else if (own->mesh && link >= 0) {
        dt_spec *spec = dt__hop_spec(&self->links.links[link].hop->tensors[0], own->mesh, self->rows[0]);
        for (int m = 0; spec && m < spec->sharding.n_mesh_dims; m++) {
            const dt_placement *p = &spec->sharding.placements[m];
            if (p->kind == DT_PLACEMENT_SHARD && p->dim == 0 && dt_mesh_dim_name(own->mesh, m))
                dt__text_add(&text, "%s%s", text.n_chars ? "," : "", dt_mesh_dim_name(own->mesh, m));
        }
        dt_spec_release(spec);
    }
    if (text.n_chars)
        own->hold = dt__arena_copy_chars(&self->arena, dt__text_chars(&text), text.n_chars);
    dt__text_free(&text);
    return dt_error_status(self->ctx);
}

/* The world rank at this rank's coordinates, but along pp that of another stage. */
static int64_t peer_of(const dt__pipeline_step *self, int64_t stage) {
    int64_t coordinate[DT_MESH_MAX_DIMS];
    if (!dt_mesh_coordinate(self->mesh, coordinate))
        return -1;
    coordinate[dt__stage_dim(self->mesh)] = self->table->rank_of[stage];
    return dt_mesh_rank_at(self->mesh, coordinate);
}

static dt_status open_stages(dt__pipeline_step *self) {
    const int64_t n = self->table->n_stages, *rank_of = self->table->rank_of;
    self->stages = DT__NEW_ARRAY(&self->arena, dt__own_stage, n);
    if (!self->stages)
        return DT_ERR_MEMORY;
    for (int64_t s = 0; s < n; s++) {
        if (rank_of[s] != self->rank)
            continue;
        self->stages[s].mesh = stage_mesh(&self->arena, self->table, self->mesh, s);
        self->stages[s].micro = DT__NEW_ARRAY(&self->arena, dt__live_micro *, self->table->n_micro);
        if (dt_failed(self->ctx) || !self->stages[s].micro)
            return dt_error_status(self->ctx);
        DT__TRY(find_hold(self, s));
    }
    for (int64_t i = 0; i + 1 < n; i++)
        if (rank_of[i] != rank_of[i + 1] && (rank_of[i] == self->rank || rank_of[i + 1] == self->rank)) {
            const bool sends = rank_of[i] == self->rank;
            DT__TRY(dt__link_open(&self->links, i, sends, peer_of(self, sends ? i + 1 : i)));
        }
    return DT_OK;
}

static dt_status check_options(dt__pipeline_step *self) {
    const dt_pipeline_run_options *o = self->options;
    const int64_t n = o->n_metrics.given ? o->n_metrics.value : 0;
    if (n < 0 || n > 1024 || (n > 0 && !o->metrics))
        return dt__fail(self->ctx, DT_ERR_VALUE, "n_metrics: expected 0 to 1024, with .metrics, got %" PRId64, n);
    if (o->params && (!DT__LIVE(DT__KIND_PARAMS, o->params) ||
                      !dt__check_context(self->ctx, "pipeline_run", "params", dt__params_ctx(o->params))))
        return dt_error_status(self->ctx);
    self->n_values = 1 + (int)n;
    self->values = DT__NEW_ARRAY(&self->arena, dt_tensor *, self->n_values);
    return self->values ? DT_OK : DT_ERR_MEMORY;
}

/* What all ranks must have alike: stages compare the hash in what they send, and other ranks the entries in the
 * histories of the pipeline's mesh and of each stage's. */

enum { SHOWN_ACTIONS_BYTES = 120, N_NOTED = 8 };

static uint64_t hash_text(const char *text, uint64_t hash) {
    return text ? dt__hash(text, strlen(text) + 1, hash) : hash;
}

/* A hash as a number that errors may show. */
static double number_of(uint64_t hash) { return (double)(hash >> 12); }

static int list_fields(dt__pipeline_step *self, const char *schedule, char shown[SHOWN_ACTIONS_BYTES],
                       dt__field fields[N_NOTED]) {
    const dt_pipeline_run_options *o = self->options;
    const size_t n_micro = (size_t)self->table->n_micro, first = strcspn(schedule, "\n");
    uint64_t hops = 0;
    for (int64_t i = 0; i + 1 < self->table->n_stages; i++)
        hops = hash_text(o->hops ? o->hops[i] : o->hop, hops);
    (void)snprintf(shown, SHOWN_ACTIONS_BYTES, "%.*s", (int)first, schedule);
    const dt__field all[N_NOTED] = {
        {.name = "schedule of the first rank", .text = shown},
        {.name = "hash of the schedule", .value = number_of(hash_text(schedule, 0))},
        {.name = "hop", .text = o->hops ? o->hops[0] : o->hop},
        {.name = "hash of the hops", .value = number_of(hops)},
        {.name = "hash of rows", .value = number_of(dt__hash(self->rows, n_micro * sizeof *self->rows, 0))},
        {.name = "hash of weights", .value = number_of(dt__hash(self->weights, n_micro * sizeof *self->weights, 0))},
        {.name = "hold", .text = o->hold ? o->hold : "default"},
        {.name = "n_metrics", .value = self->n_values - 1},
    };
    memcpy(fields, all, sizeof all);
    return N_NOTED;
}

static dt_status note_on(const dt__pipeline_step *self, dt_mesh *mesh, const dt__field *fields, int n) {
    const dt_placement replicated[DT_MESH_MAX_DIMS] = {{.kind = DT_PLACEMENT_REPLICATE}};
    dt_spec *spec = dt_spec_new(
        mesh, &(dt_spec_desc){.dtype = DT_F64, .n_placements = dt_mesh_n_dims(mesh), .placements = replicated});
    if (!spec)
        return dt_error_status(self->ctx);
    dt__note_fields(spec, fields, n);
    dt_spec_release(spec);
    return dt__mesh_check_calls(mesh);
}

static dt_status note(dt__pipeline_step *self, const char *schedule) {
    char shown[SHOWN_ACTIONS_BYTES];
    dt__field fields[N_NOTED];
    const int n = list_fields(self, schedule, shown, fields);
    for (int i = 0; i < n; i++)
        self->hash = fields[i].text ? hash_text(fields[i].text, self->hash)
                                    : dt__hash(&fields[i].value, sizeof fields[i].value, self->hash);
    if (!self->mesh)
        return DT_OK;
    DT__TRY(note_on(self, self->mesh, fields, n));
    for (int64_t s = 0; s < self->table->n_stages; s++)
        if (self->stages[s].mesh && !dt__mesh_same(self->stages[s].mesh, self->mesh))
            DT__TRY(note_on(self, self->stages[s].mesh, fields, n));
    self->links.history = dt__mesh_history(self->mesh);
    return DT_OK;
}

static dt_status prepare(dt__pipeline_step *self, const char *schedule) {
    DT__TRY(check_mesh(self->ctx, self->table, self->mesh));
    DT__TRY(check_options(self));
    DT__TRY(parse_hops(self));
    DT__TRY(find_rows(self));
    self->generator = dt_generator_default(self->ctx);
    self->state = dt_generator_save(self->generator);
    DT__TRY(open_stages(self));
    return note(self, schedule);
}

/* Walking the table. */

/* An error of an action, on all ranks: its own text, with its own line, inside this call's. */
static dt_status fail_action(dt__pipeline_step *self, const dt_action *action, dt_status status) {
    dt_ctx *ctx = self->ctx;
    char text[DT__ERROR_TEXT_BYTES], site[DT__SITE_TEXT_BYTES];
    const char *name = "pipeline_run: ";
    (void)snprintf(text, sizeof text, "%s", dt_failed(ctx) ? ctx->text : dt_status_name(status));
    dt__site_text(ctx->call.site, site, sizeof site);
    const size_t n = strcspn(text, "\n"), n_site = strlen(site);            /* of several lines, the first has it */
    if (n_site && n >= n_site && !strncmp(text + n - n_site, site, n_site)) /* is written again */
        memmove(text + n - n_site, text + n, strlen(text + n) + 1);
    status = dt_failed(ctx) ? ctx->status : status;
    ctx->status = DT_OK;
    return dt__fail_local(ctx, status, "%" PRId64 "%c%" PRId64 ": stage %" PRId64 ", micro-batch %" PRId64 ": %s",
                          action->stage, action->kind, action->micro, action->stage, action->micro,
                          text + (strncmp(text, name, strlen(name)) ? 0 : strlen(name)));
}

static dt_status run_action(dt__pipeline_step *self, const dt_action *action) {
    switch (action->kind) {
    case 'F':
        return dt__stage_forward(self, action->stage, action->micro);
    case 'W':
        return dt__stage_weights(self, action->stage, action->micro);
    default:
        return dt__stage_backward(self, action->stage, action->micro, action->kind == 'B');
    }
}

static dt_status walk(dt__pipeline_step *self) {
    const dt__pipeline_row *row = &self->table->rows[self->rank];
    for (int64_t i = 0; i < row->n; i++) {
        dt_status status = run_action(self, &row->actions[i]);
        if (status == DT_OK && dt_failed(self->ctx))
            status = dt_error_status(self->ctx);
        if (status != DT_OK)
            return fail_action(self, &row->actions[i], status);
        dt__links_poll(&self->links);
    }
    return dt__links_drain(&self->links);
}

/* Ending a step. */

/* Loss and metrics of the stages that have them, for all ranks. */
static dt_status share_values(dt__pipeline_step *self, double *out) {
    for (int i = 0; i < self->n_values; i++)
        out[i] = self->values[i] ? dt_item(self->values[i]) : 0;
    if (dt_failed(self->ctx) || self->table->n_ranks == 1)
        return dt_error_status(self->ctx);
    const dt_comm_call call = {.op = DT_ALL_REDUCE,
                               .dtype = DT_F64,
                               .reduce = DT_SUM,
                               .src = out,
                               .dst = out,
                               .count = self->n_values,
                               .tag = self->hash};
    return dt__comm_run_within(dt_mesh_group(self->mesh, dt__stage_dim(self->mesh)), &call, self->links.history);
}

/* Means over micro-batches, in seconds; and those over the stages of this rank. */
static void write_times(const dt__pipeline_step *self) {
    dt_stage_times sum = {0};
    int64_t n = 0;
    for (int64_t s = 0; s < self->table->n_stages; s++) {
        const double *us = self->stages[s].us, scale = 1e-6 / (double)self->table->n_micro;
        const dt_stage_times mean = {us[0] * scale, us[1] * scale, us[2] * scale, 0};
        if (self->options->stage_times)
            self->options->stage_times[s] = mean;
        sum = (dt_stage_times){sum.forward + mean.forward, sum.input + mean.input, sum.weight + mean.weight, 0};
        n += self->table->rank_of[s] == self->rank;
    }
    if (self->options->times)
        *self->options->times =
            (dt_stage_times){sum.forward / (double)n, sum.input / (double)n, sum.weight / (double)n, 0};
}

static dt_status finish(dt__pipeline_step *self) {
    const dt_pipeline_run_options *o = self->options;
    double *values = DT__NEW_ARRAY(&self->arena, double, self->n_values);
    if (!values)
        return DT_ERR_MEMORY;
    DT__TRY(dt_generator_restore(self->generator,
                                 (dt_generator_state){.seed = self->state.seed, .draw = self->state.draw + 1}));
    if (o->params)
        DT__TRY(dt__tied_gradients_sum(o->params));
    DT__TRY(share_values(self, values));
    if (o->loss)
        *o->loss = values[0];
    if (self->n_values > 1)
        memcpy(o->metrics, values + 1, (size_t)(self->n_values - 1) * sizeof *values);
    write_times(self);
    return DT_OK;
}

/* Restores gradients and the generator after a failed step, although the context refuses calls. */
static void undo(dt__pipeline_step *self) {
    const dt_status status = self->ctx->status;
    self->ctx->status = DT_OK;
    if (self->generator)
        (void)dt_generator_restore(self->generator, self->state);
    if (self->options->params)
        (void)dt_zero_grad(dt_params_list(self->options->params, NULL));
    self->ctx->status = status;
}

static void close_step(dt__pipeline_step *self) {
    for (int64_t s = 0; s < self->table->n_stages && self->stages; s++) {
        for (int64_t m = 0; m < self->table->n_micro && self->stages[s].micro; m++)
            dt__live_micro_free(self, self->stages[s].micro[m]);
        for (int i = 0; i < DT__MAX_HOP_TENSORS; i++) {
            dt_spec_release(self->stages[s].specs[0][i]);
            dt_spec_release(self->stages[s].specs[1][i]);
        }
        dt_mesh_release(self->stages[s].mesh);
    }
    (void)dt__links_drain(&self->links);
    dt__links_close(&self->links, self->table->n_stages - 1);
    for (int i = 0; i < self->n_values && self->values; i++)
        dt_tensor_release(self->values[i]);
    dt__arena_free(&self->arena);
}

static dt_status run_step(dt__pipeline_step *self, const char *schedule) {
    dt_status status = prepare(self, schedule);
    if (status == DT_OK) {
        status = walk(self);
        if (status == DT_OK)
            status = finish(self);
        if (status != DT_OK)
            undo(self);
    }
    close_step(self);
    return status;
}

dt_status dt_pipeline_run_sized(dt_schedule *schedule, dt_mesh *mesh, dt_stage_fn *run, void *user,
                                const dt_pipeline_run_options *options, size_t options_size) {
    dt_pipeline_run_options full;
    dt_ctx *ctx = schedule ? dt__schedule_ctx(schedule) : NULL;
    DT__ENTER_OPTIONS(ctx, "pipeline_run", options, options_size, &full);
    DT__TRY(DT__REFUSAL());
    schedule = DT__LIVE(DT__KIND_SCHEDULE, schedule);
    if (!schedule || !options || (mesh && !DT__LIVE_ARGUMENT(DT__KIND_MESH, mesh, 2)))
        return ctx && dt_failed(ctx) ? dt_error_status(ctx) : DT_ERR_VALUE;
    if (mesh && !dt__check_context(ctx, "pipeline_run", "mesh", dt_mesh_ctx(mesh)))
        return DT_ERR_STATE;
    if (!run)
        return dt__fail(ctx, DT_ERR_VALUE, "the stage function is NULL");
    if (*dt__running_stage_of(ctx))
        return dt__fail(ctx, DT_ERR_STATE, "a pipeline is running: expected no call from a stage function");
    const int dim = mesh ? dt__stage_dim(mesh) : -1;
    int64_t coordinate[DT_MESH_MAX_DIMS];
    if (mesh && !dt_mesh_coordinate(mesh, coordinate))
        return DT_OK; /* a rank outside the mesh has no stage */
    dt__pipeline_step self = {.ctx = ctx,
                              .arena = dt__arena_new(ctx),
                              .table = dt__schedule_table(schedule),
                              .mesh = mesh,
                              .rank = dim >= 0 ? coordinate[dim] : 0,
                              .run = run,
                              .user = user,
                              .options = options};
    self.links = (dt__pipeline_links){.ctx = ctx, .arena = &self.arena};
    return run_step(&self, dt_schedule_text(schedule));
}
