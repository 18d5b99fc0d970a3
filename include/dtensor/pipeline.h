/* SPDX-License-Identifier: Apache-2.0
 *
 * Pipelines. A schedule is data: which rank runs which part of which stage, in which order. Making, checking,
 * simulating and printing one is arithmetic and needs no ranks; `dtensor pipeline` does the same from the command line.
 * dt_pipeline_run, below, runs one.
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
 * Empty cells are skipped, and so are cells that only repeat what follows from the table (`0SEND_F1`, `1RECV_F0`,
 * `0UNSHARD`, `0RESHARD`, `0REDUCE_GRAD`); `(0F1;1B0)OVERLAP_F_B` is its two actions. So the tables that PyTorch's
 * schedules write as CSV load as they are.
 *
 * A schedule is checked when it is made: every stage is on one rank and has each micro-batch's F once, and its B, or
 * its I and W, once and in this order; no ranks wait for each other in a circle; and both ranks of a link, the boundary
 * of two stages in one direction, have the micro-batches in one order. Schedules belong to their context and may be
 * freed before it. Errors of schedules are agreed, except for lack of memory.
 */
#ifndef DTENSOR_PIPELINE_H
#define DTENSOR_PIPELINE_H

#include <dtensor/params.h>

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

/* Times of one stage, in any unit: F, I and W (B takes both), and the time until the result of a stage is on the rank
 * of the next. */
typedef struct dt_stage_times {
    double forward, input, weight, hop;
} dt_stage_times;

/* The time of a step, from the first action to the last; times NULL: 1, 1, 1 and no hop. begins: when each action
 * begins, those of rank 0 first; may be NULL. -1 after an error: a time is negative or not finite. Local. */
DT_API double dt_schedule_simulate_site(const dt_schedule *schedule, const dt_stage_times *times, double *begins,
                                        DT_CALLER);
/* dt_schedule_simulate with times of each stage, dt_schedule_n_stages of them; the hop of a stage is the one after it.
 * Stages differ where the first has no input gradient, or where units are uneven. Local. */
DT_API double dt_schedule_simulate_stages_site(const dt_schedule *schedule, const dt_stage_times *times,
                                               double *begins, DT_CALLER);
/* A picture of the simulation, one line per rank. A column is as long as the shortest time above 0; an action that
 * takes several columns is followed by -, an idle column is a dot. A rank is idle for the time of the step less its own
 * work. Stages are left out where each rank has one. The text is valid until the next call with this schedule; NULL
 * after an error. Local. */
DT_API const char *dt_schedule_timeline_site(dt_schedule *schedule, const dt_stage_times *times, DT_CALLER);

/* Running a schedule. The stages of a model are functions of one program, which dt_pipeline_run calls in the order of
 * the schedule; examples/18_pipeline.c is a whole program.
 *
 * The mesh dim "pp" has one coordinate per rank of the schedule; a stage is on the slice of the other dims at the
 * coordinate of its rank (dt_pipeline_mesh), where it may be data parallel, tensor parallel or fully sharded. */

/* One micro-batch through one stage. x is what the stage before returned, placed as .hop states; NULL for the first
 * stage, which has inputs of its own. The result is the tensor for the next stage, or, of the last stage, the mean loss
 * of the micro-batch: one element. NULL after an error. Random numbers from the context's default generator depend on
 * stage, micro-batch and the state of the generator at the start of the step, and on nothing else. Tensors that the
 * function makes belong to a scope of its own; a stage uses the same parameters for every micro-batch. */
typedef dt_tensor *dt_stage_fn(int64_t stage, int64_t micro, dt_tensor *x, void *user);

typedef struct dt_pipeline_run_options {
    DT_OPTION(const char *, hop); /* what crosses from stage to stage: "f32[4,128,768] dp=S(0)", of the largest
                                             micro-batch; several tensors are joined by ";" */
    DT_OPTION(const char *const *, hops); /* that of each link, from stage i to stage i + 1, instead of hop */
    DT_OPTION(const int64_t *, rows);     /* size of dim 0 of each micro-batch; default: that of the hop for all */
    DT_OPTION(const double *, weights);   /* of each micro-batch in the loss, such as its tokens; default: rows */
    DT_OPTION(dt_params *, params);       /* whose tied copies (params.h) are summed, and whose gradients are dropped
                                             after an error */
    DT_OPTION(const char *, hold);        /* mesh dims along which gradients are reduced once per step (dt_backward);
                                             "": none; default: those along which the hop is sharded by its dim 0 */
    DT_OPTION(double *, loss);            /* gets the weighted mean loss, on every rank */
    DT_OPTION(double *, metrics);         /* gets the weighted means of dt_pipeline_metric, on every rank */
    DT_OPTION(dt_opt_int, n_metrics);
    DT_OPTION(dt_stage_times *, times);       /* gets this rank's mean seconds of F, of I or B, and of W; hop is 0 */
    DT_OPTION(dt_stage_times *, stage_times); /* gets those of each stage; of stages of other ranks, zeros */
    const dt_site *site;
} dt_pipeline_run_options;

/* Runs one step: every action of this rank, in the order of its row. Gradients are added to those that parameters have
 * (dt_grad), as of the weighted mean loss. What crosses between stages is sent as soon as it exists, and nothing waits
 * for a receiver. At most dt_schedule_n_live micro-batches are alive on a rank.
 *
 * Agreed errors, before anything runs: a mesh whose dim pp has another size than the schedule has ranks, a hop that is
 * malformed or missing, sizes of micro-batches out of range. An error in an action names it and its stage, the line in
 * the stage and the line of this call, and ends the step on every rank: gradients of .params are dropped, parameters
 * and the generator are as they were, and the step can be repeated after dt_error_clear. Collective over the mesh. */
DT_API dt_status dt_pipeline_run_sized(dt_schedule *schedule, dt_mesh *mesh, dt_stage_fn *run, void *user,
                                       DT_OPTIONS(dt_pipeline_run_options));

/* The mesh of a stage: the slice at the coordinate of its rank along pp, with all other dims; of a mesh with no other
 * dim, one rank along "stage". Of a mesh without pp, and of NULL, that itself: the schedule has one rank. A new
 * reference. Local. */
DT_API dt_mesh *dt_pipeline_mesh_site(const dt_schedule *schedule, dt_mesh *mesh, int64_t stage, DT_CALLER);

/* Inside a stage function: tensor i of the hop from the stage before, and sets tensor i of that to the next; 0 is x and
 * the result. An error outside, and for a tensor that the hop does not have. Local. */
DT_API dt_tensor *dt_pipeline_input_site(dt_ctx *ctx, int i, DT_CALLER);
DT_API dt_status dt_pipeline_output_site(dt_ctx *ctx, int i, dt_tensor *tensor, DT_CALLER);
/* Inside a stage function: adds this micro-batch's value, a tensor of one element, to metric i of the step. The stages
 * of one rank each add their own. Local. */
DT_API dt_status dt_pipeline_metric_site(dt_ctx *ctx, int i, dt_tensor *value, DT_CALLER);

#ifndef __cplusplus
/* clang-format off */
#define dt_schedule_new(...) DT_SCHEDULE_NEW_(__VA_ARGS__, .site = DT_SITE)
#define DT_SCHEDULE_NEW_(ctx, text, ...) \
    dt_schedule_new_sized(ctx, text, DT_CHECKED(dt_schedule_new_options, __VA_ARGS__))
#define dt_schedule_free(...) dt_schedule_free_site(__VA_ARGS__, DT_SITE)
#define dt_schedule_simulate(...) dt_schedule_simulate_site(__VA_ARGS__, DT_SITE)
#define dt_schedule_simulate_stages(...) dt_schedule_simulate_stages_site(__VA_ARGS__, DT_SITE)
#define dt_schedule_timeline(...) dt_schedule_timeline_site(__VA_ARGS__, DT_SITE)
#define dt_pipeline_run(...) DT_PIPELINE_RUN_(__VA_ARGS__, .site = DT_SITE)
#define DT_PIPELINE_RUN_(schedule, mesh, run, user, ...) \
    dt_pipeline_run_sized(schedule, mesh, run, user, DT_CHECKED(dt_pipeline_run_options, __VA_ARGS__))
#define dt_pipeline_mesh(...) dt_pipeline_mesh_site(__VA_ARGS__, DT_SITE)
#define dt_pipeline_input(...) dt_pipeline_input_site(__VA_ARGS__, DT_SITE)
#define dt_pipeline_output(...) dt_pipeline_output_site(__VA_ARGS__, DT_SITE)
#define dt_pipeline_metric(...) dt_pipeline_metric_site(__VA_ARGS__, DT_SITE)
/* clang-format on */
#endif

#ifdef __cplusplus
}
#endif

#endif
