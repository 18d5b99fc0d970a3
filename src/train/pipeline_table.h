/* SPDX-License-Identifier: Apache-2.0
 *
 * A pipeline schedule as a table: a row of actions per rank. Everything here is arithmetic on tables.
 */
#ifndef DT_TRAIN_PIPELINE_TABLE_H
#define DT_TRAIN_PIPELINE_TABLE_H

#include "base/arena.h"
#include "base/text.h"
#include "dtensor/pipeline.h"

enum { DT__MAX_PIPELINE_ACTIONS = 1 << 24 }; /* of all ranks */

typedef struct dt__pipeline_row {
    int64_t n, capacity;
    dt_action *actions;
    int64_t n_live; /* the largest number of activations at once */
} dt__pipeline_row;

typedef struct dt__pipeline {
    int64_t n_ranks, n_stages, n_micro;
    dt__pipeline_row *rows;
    int64_t *rank_of; /* per stage */
} dt__pipeline;

/* What a program requires of a schedule; 0: nothing. */
typedef struct dt__pipeline_sizes {
    int64_t n_ranks, n_stages, n_micro;
} dt__pipeline_sizes;

/* Whether the text is a table and not a name. */
bool dt__pipeline_is_table(const char *text);
/* Reads a table, without checking it. */
dt_status dt__pipeline_parse(dt__arena *arena, const char *text, dt__pipeline *out);
void dt__pipeline_print(dt__text *text, const dt__pipeline *self);
/* "2F0" */
void dt__action_print(dt__text *text, const dt_action *action, bool with_stage);

/* The schedule of this name. */
dt_status dt__pipeline_build(dt__arena *arena, const char *name, dt__pipeline_sizes sizes, dt__pipeline *out);

/* Finds the rank of each stage and the activations of each rank; the error names the action that is wrong. */
dt_status dt__pipeline_check(dt__arena *arena, dt__pipeline *self);

/* The times of all stages, or of each one. */
typedef struct dt__pipeline_times {
    const dt_stage_times *list;
    bool per_stage;
} dt__pipeline_times;

/* Runs a table that was checked, or is being checked: the time when each action begins, and the time of the step. Rows
 * that wait for each other are an agreed error. */
dt_status dt__pipeline_simulate(dt__arena *arena, const dt__pipeline *table, dt__pipeline_times times, double *begins,
                                double *makespan);
/* Adds a picture of the simulation, a line per rank. */
dt_status dt__pipeline_draw(dt__arena *arena, const dt__pipeline *table, const dt_stage_times *times, dt__text *out);
/* schedule.c: the table of a schedule that is live. */
const dt__pipeline *dt__schedule_table(const dt_schedule *schedule);
dt_ctx *dt__schedule_ctx(const dt_schedule *schedule);
/* The step that runs in the context, as its stage functions see it; NULL: none. */
struct dt__running_stage **dt__running_stage_of(dt_ctx *ctx);

/* How long an action takes. */
double dt__action_time(const dt_stage_times *times, char kind);

#endif
