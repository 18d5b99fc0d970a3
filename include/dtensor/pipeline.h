/* SPDX-License-Identifier: Apache-2.0
 *
 * Pipeline schedules as data: which rank runs which part of which stage, in which order. Making, checking, simulating
 * and printing one is arithmetic and needs no ranks; `dtensor pipeline` does the same from the command line.
 *
 *     dt_schedule *s = dt_schedule_new(ctx, "zb-h1", .stages = DT_INT(4), .micro = DT_INT(8));
 *     printf("%s", dt_schedule_timeline(s, NULL)); // 0 |F0 F1 F2 F3 . . . I0 W0 F4 ...| 3 idle of 27, 4 live
 *     dt_schedule_free(s);
 *
 * An action is written `2F0`: stage, what is done, micro-batch. F is the forward pass, B the backward pass; a schedule
 * may split it into I, the gradient of the stage's input, and W, the gradients of its weights, which no other stage
 * waits for. A table has one line per rank, with actions separated by commas:
 *
 *     0F0,0F1,0B0,0B1
 *     1F0,1B0,1F1,1B1
 *
 * Empty cells are skipped, and so are cells that only say what follows from the table (`0SEND_F1`, `1RECV_F0`,
 * `0UNSHARD`, `0RESHARD`, `0REDUCE_GRAD`); `(0F1;1B0)OVERLAP_F_B` is its two actions. So the tables that PyTorch's
 * schedules write as CSV load as they are.
 *
 * A schedule is checked when it is made: every stage is on one rank and has each micro-batch's F once, and its B, or
 * its I and W, once and in this order; no ranks wait for each other in a circle; and both ranks of a link, the boundary
 * of two stages in one direction, have the micro-batches in one order. Schedules belong to their context and may be
 * freed before it. All calls are *Local*; errors are agreed, except for lack of memory.
 */
#ifndef DTENSOR_PIPELINE_H
#define DTENSOR_PIPELINE_H

#include <dtensor/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dt_schedule dt_schedule;

typedef struct dt_schedule_new_options {
    DT_OPTION(dt_opt_int, ranks);  /* default: as many as the stages need */
    DT_OPTION(dt_opt_int, stages); /* default: 2 per rank for zb-v, dualpipe-v and interleaved, otherwise 1 */
    DT_OPTION(dt_opt_int, micro);  /* micro-batches of a step; a schedule by name needs it */
    const dt_site *site;
} dt_schedule_new_options;

/* A schedule by name (gpipe, 1f1b, interleaved, zb-h1, zb-v, dualpipe-v), or from the text of a table; options that are
 * given must agree with the table. Local. */
DT_API dt_schedule *dt_schedule_new_sized(dt_ctx *ctx, const char *text, DT_OPTIONS(dt_schedule_new_options));
/* Frees the schedule; accepts NULL. Local. */
DT_API void dt_schedule_free_site(dt_schedule *schedule, DT_CALLER);

/* Sizes; 0 for NULL. Local. */
DT_API int64_t dt_schedule_n_ranks(const dt_schedule *schedule);
DT_API int64_t dt_schedule_n_stages(const dt_schedule *schedule);
DT_API int64_t dt_schedule_n_micro(const dt_schedule *schedule);
/* The rank that has a stage; -1 unless 0 <= stage < dt_schedule_n_stages. Local. */
DT_API int64_t dt_schedule_rank_of(const dt_schedule *schedule, int64_t stage);

typedef struct dt_action {
    int64_t stage, micro;
    char kind; /* F, B, I or W */
} dt_action;

/* The number of actions of a rank, and one of them; 0 and false if there is no such rank or action. Local. */
DT_API int64_t dt_schedule_n_actions(const dt_schedule *schedule, int64_t rank);
DT_API bool dt_schedule_action(const dt_schedule *schedule, int64_t rank, int64_t i, dt_action *out);
/* The largest number of micro-batches of its stages whose activations a rank holds at once: from F to B or W. Local. */
DT_API int64_t dt_schedule_n_live(const dt_schedule *schedule, int64_t rank);
/* The table as text, valid as long as the schedule; NULL for NULL. Local. */
DT_API const char *dt_schedule_text(const dt_schedule *schedule);

/* Times of one stage, in any unit: F, I and W (B takes both), and what passes until the result of a stage is on the
 * rank of the next. */
typedef struct dt_stage_times {
    double forward, input, weight, hop;
} dt_stage_times;

/* The time of a step, from the first action to the last; times NULL: 1, 1, 1 and no hop. begins: when each action
 * begins, those of rank 0 first; may be NULL. -1 after an error: a time is negative or not finite. Local. */
DT_API double dt_schedule_simulate_site(const dt_schedule *schedule, const dt_stage_times *times, double *begins,
                                        DT_CALLER);
/* A picture of the simulation, one line per rank. A column is as long as the shortest time above 0; an action that
 * takes several columns is followed by -, an idle column is a dot. A rank is idle for the time of the step less its own
 * work. Stages are left out where each rank has one. The text is valid until the next call with this schedule; NULL
 * after an error. Local. */
DT_API const char *dt_schedule_timeline_site(dt_schedule *schedule, const dt_stage_times *times, DT_CALLER);

#ifndef __cplusplus
/* clang-format off */
#define dt_schedule_new(...) DT_SCHEDULE_NEW_(__VA_ARGS__, .site = DT_SITE)
#define DT_SCHEDULE_NEW_(ctx, text, ...) \
    dt_schedule_new_sized(ctx, text, DT_CHECKED(dt_schedule_new_options, __VA_ARGS__))
#define dt_schedule_free(...) dt_schedule_free_site(__VA_ARGS__, DT_SITE)
#define dt_schedule_simulate(...) dt_schedule_simulate_site(__VA_ARGS__, DT_SITE)
#define dt_schedule_timeline(...) dt_schedule_timeline_site(__VA_ARGS__, DT_SITE)
/* clang-format on */
#endif

#ifdef __cplusplus
}
#endif

#endif
