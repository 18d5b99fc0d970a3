/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs a table on a virtual clock: each rank takes its actions in order, and an action begins when its rank is free and
 * its inputs have arrived. F of a stage needs F of the stage before; B and I need F of their stage and B or I of the
 * stage after; W needs its I. If no rank can continue, ranks wait in a circle, which the error spells out.
 */
#include "train/pipeline_table.h"

#include <string.h>

enum { NOT_YET = -1 };

typedef struct simulation {
    dt__arena *arena;
    const dt__pipeline *table;
    dt__pipeline_times times;
    int64_t *next;                      /* per rank: its next action */
    double *free_at;                    /* per rank */
    double *forward_end, *backward_end; /* per stage and micro-batch; NOT_YET */
} simulation;

double dt__action_time(const dt_stage_times *times, char kind) {
    return kind == 'F'   ? times->forward
           : kind == 'I' ? times->input
           : kind == 'W' ? times->weight
                         : times->input + times->weight;
}

static const dt_stage_times *times_of(const simulation *self, int64_t stage) {
    return &self->times.list[self->times.per_stage ? stage : 0];
}

static int64_t at(const simulation *self, int64_t stage, int64_t micro) {
    return stage * self->table->n_micro + micro;
}

/* The stage whose result an action needs from another stage; -1: none. */
static int64_t source_stage(const simulation *self, const dt_action *action) {
    if (action->kind == 'F')
        return action->stage - 1;
    const bool is_last = action->kind == 'W' || action->stage == self->table->n_stages - 1;
    return is_last ? -1 : action->stage + 1;
}

static double *end_of(const simulation *self, const dt_action *action, int64_t stage) {
    return &(action->kind == 'F' ? self->forward_end : self->backward_end)[at(self, stage, action->micro)];
}

/* When the inputs of an action are there; NOT_YET. Actions of one rank are in order (pipeline_check.c). */
static double inputs_at(const simulation *self, const dt_action *action) {
    const int64_t source = source_stage(self, action);
    if (source < 0)
        return 0;
    const double end = *end_of(self, action, source);
    const bool hops = self->table->rank_of[source] != self->table->rank_of[action->stage];
    return end == NOT_YET ? NOT_YET : end + (hops ? times_of(self, source)->hop : 0);
}

/* Runs what a rank can run; returns the number of actions. */
static int64_t run_rank(const simulation *self, int64_t rank, double *begins) {
    const dt__pipeline_row *row = &self->table->rows[rank];
    const int64_t first = self->next[rank];
    for (; self->next[rank] < row->n; self->next[rank]++) {
        const dt_action *action = &row->actions[self->next[rank]];
        const double ready = inputs_at(self, action);
        if (ready == NOT_YET)
            break;
        const double begin = ready > self->free_at[rank] ? ready : self->free_at[rank];
        self->free_at[rank] = begin + dt__action_time(times_of(self, action->stage), action->kind);
        if (action->kind != 'W')
            *end_of(self, action, action->stage) = self->free_at[rank];
        if (begins)
            begins[self->next[rank]] = begin;
    }
    return self->next[rank] - first;
}

/* The action that a rank waits for. */
static dt_action awaited(const simulation *self, const dt_action *action) {
    const int64_t source = source_stage(self, action), rank = self->table->rank_of[source];
    const dt__pipeline_row *row = &self->table->rows[rank];
    for (int64_t i = self->next[rank]; i < row->n; i++)
        if (row->actions[i].stage == source && row->actions[i].micro == action->micro &&
            (row->actions[i].kind == 'F') == (action->kind == 'F'))
            return row->actions[i];
    return *action; /* not reached: the action exists */
}

/* Adds "rank 0 waits in 0F1 for 1B0"; returns the rank of the action that it waits for. */
static int64_t add_wait(const simulation *self, int64_t rank, dt__text *text) {
    const dt_action *waits = &self->table->rows[rank].actions[self->next[rank]], needed = awaited(self, waits);
    dt__text_add(text, "%srank %lld waits in ", dt__text_chars(text)[0] ? ", " : "", (long long)rank);
    dt__action_print(text, waits, true);
    dt__text_add(text, " for ");
    dt__action_print(text, &needed, true);
    return self->table->rank_of[needed.stage];
}

/* Follows the waits from this rank: the first round only walks into the circle. */
static dt_status fail_circle(const simulation *self, int64_t rank) {
    dt__text text = dt__text_new(self->arena->ctx);
    bool *seen = DT__NEW_ARRAY(self->arena, bool, self->table->n_ranks);
    if (!seen)
        return DT_ERR_MEMORY;
    for (int round = 0; round < 2; round++) {
        memset(seen, 0, (size_t)self->table->n_ranks * sizeof *seen);
        dt__text_clear(&text);
        while (!seen[rank]) {
            seen[rank] = true;
            rank = add_wait(self, rank, &text);
        }
    }
    dt_status status = dt__text_status(&text);
    if (status == DT_OK)
        status = dt__fail(self->arena->ctx, DT_ERR_VALUE, "the ranks wait in a circle: %s", dt__text_chars(&text));
    dt__text_free(&text);
    return status;
}

static dt_status run_all(const simulation *self, double *begins) {
    for (;;) {
        int64_t n_run = 0, stuck = -1, first = 0;
        for (int64_t rank = 0; rank < self->table->n_ranks; rank++) {
            n_run += run_rank(self, rank, begins ? begins + first : NULL);
            first += self->table->rows[rank].n;
            stuck = stuck < 0 && self->next[rank] < self->table->rows[rank].n ? rank : stuck;
        }
        if (stuck < 0)
            return DT_OK;
        if (n_run == 0)
            return fail_circle(self, stuck);
    }
}

dt_status dt__pipeline_simulate(dt__arena *arena, const dt__pipeline *table, dt__pipeline_times times, double *begins,
                                double *makespan) {
    const int64_t n = table->n_stages * table->n_micro;
    simulation self = {arena,
                       table,
                       times,
                       DT__NEW_ARRAY(arena, int64_t, table->n_ranks),
                       DT__NEW_ARRAY(arena, double, table->n_ranks),
                       DT__NEW_ARRAY(arena, double, n),
                       DT__NEW_ARRAY(arena, double, n)};
    if (!self.next || !self.free_at || !self.forward_end || !self.backward_end)
        return DT_ERR_MEMORY;
    for (int64_t i = 0; i < n; i++)
        self.forward_end[i] = self.backward_end[i] = NOT_YET;
    DT__TRY(run_all(&self, begins));
    *makespan = 0;
    for (int64_t rank = 0; rank < table->n_ranks; rank++)
        *makespan = self.free_at[rank] > *makespan ? self.free_at[rank] : *makespan;
    return DT_OK;
}
