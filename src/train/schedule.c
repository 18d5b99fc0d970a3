/* SPDX-License-Identifier: Apache-2.0
 *
 * The public schedules of dtensor/pipeline.h: handles that own a table which was checked, its text and the picture that
 * was made last.
 */
#include "base/lifetime.h"
#include "base/options.h"
#include "train/pipeline_table.h"

#include <math.h>
#include <string.h>

struct dt_schedule {
    dt__lifetime life;
    dt_ctx *ctx;
    dt__arena arena; /* of the table */
    dt__pipeline table;
    dt__text text, timeline;
    dt_schedule *older, *newer; /* live schedules of the context */
};

typedef struct schedule_list {
    dt_schedule *newest;
    dt__freed_queue freed;
    struct dt__running_stage *running;
} schedule_list;

static void release_parts(dt_schedule *schedule) {
    dt__arena_free(&schedule->arena);
    dt__text_free(&schedule->text);
    dt__text_free(&schedule->timeline);
}

static void destroy_schedule(schedule_list *list, dt_schedule *schedule) {
    if (schedule->newer)
        schedule->newer->older = schedule->older;
    else
        list->newest = schedule->older;
    if (schedule->older)
        schedule->older->newer = schedule->newer;
    release_parts(schedule);
    DT__LIFE_END(&list->freed, schedule);
    dt__freed_trim(&list->freed, schedule->ctx, sizeof *schedule);
}

static void free_list(dt_ctx *ctx, void *state) {
    schedule_list *list = state;
    while (list->newest)
        destroy_schedule(list, list->newest);
    dt__freed_free(&list->freed, ctx, sizeof(dt_schedule));
    dt__free(ctx, list, sizeof *list);
}

static schedule_list *list_of(dt_ctx *ctx) {
    if (ctx->slots[DT__SLOT_PIPELINE].state)
        return ctx->slots[DT__SLOT_PIPELINE].state;
    schedule_list *list = dt__alloc_zeroed(ctx, sizeof *list);
    if (!list) {
        dt__fail_memory(ctx, sizeof *list, "the context's schedules");
        return NULL;
    }
    ctx->slots[DT__SLOT_PIPELINE].state = list;
    ctx->slots[DT__SLOT_PIPELINE].free_state = free_list;
    return list;
}

typedef struct given_size {
    const char *name;
    dt_opt_int given;
    int64_t *size;
} given_size;

static dt_status read_sizes(dt_ctx *ctx, const dt_schedule_new_options *options, dt__pipeline_sizes *out) {
    const given_size all[] = {{"ranks", options->ranks, &out->n_ranks},
                              {"stages", options->stages, &out->n_stages},
                              {"micro", options->micro, &out->n_micro}};
    for (int i = 0; i < 3; i++) {
        if (all[i].given.given && (all[i].given.value < 1 || all[i].given.value > DT__MAX_PIPELINE_ACTIONS))
            return dt__fail(ctx, DT_ERR_VALUE, ".%s is out of range: expected 1 to %d, got %lld", all[i].name,
                            (int)DT__MAX_PIPELINE_ACTIONS, (long long)all[i].given.value);
        *all[i].size = all[i].given.given ? all[i].given.value : 0;
    }
    return DT_OK;
}

static dt_status compare_size(dt_ctx *ctx, const char *name, int64_t given, int64_t size) {
    return !given || given == size
               ? DT_OK
               : dt__fail(ctx, DT_ERR_VALUE, ".%s differs from the table: expected %lld, got %lld", name,
                          (long long)size, (long long)given);
}

static dt_status fill_table(dt_schedule *self, const char *text, dt__pipeline_sizes sizes) {
    const bool is_table = dt__pipeline_is_table(text);
    dt_status status = is_table ? dt__pipeline_parse(&self->arena, text, &self->table)
                                : dt__pipeline_build(&self->arena, text, sizes, &self->table);
    if (status == DT_OK)
        status = dt__pipeline_check(&self->arena, &self->table);
    DT__TRY(status);
    DT__TRY(compare_size(self->ctx, "ranks", sizes.n_ranks, self->table.n_ranks));
    DT__TRY(compare_size(self->ctx, "stages", sizes.n_stages, self->table.n_stages));
    DT__TRY(compare_size(self->ctx, "micro", sizes.n_micro, self->table.n_micro));
    dt__pipeline_print(&self->text, &self->table);
    return dt__text_status(&self->text);
}

dt_schedule *dt_schedule_new_sized(dt_ctx *ctx, const char *text, const dt_schedule_new_options *options,
                                   size_t options_size) {
    dt_schedule_new_options full;
    DT__ENTER_OPTIONS(ctx, "schedule_new", options, options_size, &full);
    if (DT__REFUSAL() != DT_OK || !ctx || !options)
        return NULL;
    if (!text) {
        dt__fail(ctx, DT_ERR_VALUE, "the name or table is NULL");
        return NULL;
    }
    dt__pipeline_sizes sizes;
    schedule_list *list = read_sizes(ctx, options, &sizes) == DT_OK ? list_of(ctx) : NULL;
    dt_schedule *self = list ? dt__alloc_zeroed(ctx, sizeof *self) : NULL;
    if (!self) {
        if (list)
            dt__fail_memory(ctx, sizeof *self, "a schedule");
        return NULL;
    }
    dt__life_begin(&self->life, ctx);
    self->ctx = ctx;
    self->arena = dt__arena_new(ctx);
    self->text = self->timeline = dt__text_new(ctx);
    if (fill_table(self, text, sizes) != DT_OK) {
        release_parts(self);
        dt__free(ctx, self, sizeof *self);
        return NULL;
    }
    self->older = list->newest;
    if (list->newest)
        list->newest->newer = self;
    return list->newest = self;
}

void dt_schedule_free_site(dt_schedule *schedule, const dt_site *site) {
    DT__ENTER(schedule ? schedule->ctx : NULL, "schedule_free", site);
    schedule = DT__LIVE(DT__KIND_SCHEDULE, schedule);
    if (schedule)
        destroy_schedule(schedule->ctx->slots[DT__SLOT_PIPELINE].state, schedule);
}

int64_t dt_schedule_n_ranks(const dt_schedule *schedule) {
    schedule = DT__LIVE(DT__KIND_SCHEDULE, schedule);
    return schedule ? schedule->table.n_ranks : 0;
}

int64_t dt_schedule_n_stages(const dt_schedule *schedule) {
    schedule = DT__LIVE(DT__KIND_SCHEDULE, schedule);
    return schedule ? schedule->table.n_stages : 0;
}

int64_t dt_schedule_n_micro(const dt_schedule *schedule) {
    schedule = DT__LIVE(DT__KIND_SCHEDULE, schedule);
    return schedule ? schedule->table.n_micro : 0;
}

int64_t dt_schedule_rank_of(const dt_schedule *schedule, int64_t stage) {
    schedule = DT__LIVE(DT__KIND_SCHEDULE, schedule);
    return schedule && stage >= 0 && stage < schedule->table.n_stages ? schedule->table.rank_of[stage] : -1;
}

const dt__pipeline *dt__schedule_table(const dt_schedule *schedule) { return &schedule->table; }
dt_ctx *dt__schedule_ctx(const dt_schedule *schedule) { return schedule->ctx; }

struct dt__running_stage **dt__running_stage_of(dt_ctx *ctx) {
    schedule_list *list = ctx ? ctx->slots[DT__SLOT_PIPELINE].state : NULL;
    return list ? &list->running : NULL;
}

/* NULL: no such rank. */
static const dt__pipeline_row *row_of(const dt_schedule *schedule, int64_t rank) {
    return schedule && rank >= 0 && rank < schedule->table.n_ranks ? &schedule->table.rows[rank] : NULL;
}

int64_t dt_schedule_n_actions(const dt_schedule *schedule, int64_t rank) {
    const dt__pipeline_row *row = row_of(DT__LIVE(DT__KIND_SCHEDULE, schedule), rank);
    return row ? row->n : 0;
}

bool dt_schedule_action(const dt_schedule *schedule, int64_t rank, int64_t i, dt_action *out) {
    const dt__pipeline_row *row = row_of(DT__LIVE(DT__KIND_SCHEDULE, schedule), rank);
    if (!row || i < 0 || i >= row->n)
        return false;
    *out = row->actions[i];
    return true;
}

int64_t dt_schedule_n_live(const dt_schedule *schedule, int64_t rank) {
    const dt__pipeline_row *row = row_of(DT__LIVE(DT__KIND_SCHEDULE, schedule), rank);
    return row ? row->n_live : 0;
}

const char *dt_schedule_text(const dt_schedule *schedule) {
    schedule = DT__LIVE(DT__KIND_SCHEDULE, schedule);
    return schedule ? dt__text_chars(&schedule->text) : NULL;
}

static const dt_stage_times default_times = {1, 1, 1, 0};

static dt_status check_times(dt_ctx *ctx, const dt_stage_times *times) {
    const double all[] = {times->forward, times->input, times->weight, times->hop};
    static const char *const names[] = {"forward", "input", "weight", "hop"};
    for (int i = 0; i < 4; i++)
        if (!(all[i] >= 0) || isinf(all[i]))
            return dt__fail(ctx, DT_ERR_VALUE, "the time %s is out of range: expected at least 0, got %g", names[i],
                            all[i]);
    return DT_OK;
}

static double simulate(const dt_schedule *schedule, dt__pipeline_times times, double *begins) {
    for (int64_t i = 0; i < (times.per_stage ? schedule->table.n_stages : 1); i++)
        if (check_times(schedule->ctx, &times.list[i]) != DT_OK)
            return -1;
    dt__arena arena = dt__arena_new(schedule->ctx);
    double makespan = -1;
    dt_status status = dt__pipeline_simulate(&arena, &schedule->table, times, begins, &makespan);
    dt__arena_free(&arena);
    return status == DT_OK ? makespan : -1;
}

double dt_schedule_simulate_site(const dt_schedule *schedule, const dt_stage_times *times, double *begins,
                                 const dt_site *site) {
    DT__ENTER(schedule ? schedule->ctx : NULL, "schedule_simulate", site);
    schedule = DT__LIVE(DT__KIND_SCHEDULE, schedule);
    return schedule ? simulate(schedule, (dt__pipeline_times){times ? times : &default_times, false}, begins) : -1;
}

double dt_schedule_simulate_stages_site(const dt_schedule *schedule, const dt_stage_times *times, double *begins,
                                        const dt_site *site) {
    DT__ENTER(schedule ? schedule->ctx : NULL, "schedule_simulate_stages", site);
    schedule = DT__LIVE(DT__KIND_SCHEDULE, schedule);
    return schedule ? simulate(schedule, (dt__pipeline_times){times ? times : &default_times, times != NULL}, begins)
                    : -1;
}

const char *dt_schedule_timeline_site(dt_schedule *schedule, const dt_stage_times *times, const dt_site *site) {
    DT__ENTER(schedule ? schedule->ctx : NULL, "schedule_timeline", site);
    schedule = DT__LIVE(DT__KIND_SCHEDULE, schedule);
    times = times ? times : &default_times;
    if (!schedule || check_times(schedule->ctx, times) != DT_OK)
        return NULL;
    dt__arena arena = dt__arena_new(schedule->ctx);
    dt__text_clear(&schedule->timeline);
    dt_status status = dt__pipeline_draw(&arena, &schedule->table, times, &schedule->timeline);
    dt__arena_free(&arena);
    return status == DT_OK ? dt__text_chars(&schedule->timeline) : NULL;
}
