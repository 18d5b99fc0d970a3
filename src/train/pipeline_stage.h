/* SPDX-License-Identifier: Apache-2.0
 *
 * One step of a running pipeline on one rank, for the files that run it: pipeline_run.c prepares, walks the table and
 * ends; pipeline_stage.c does the actions of a stage.
 */
#ifndef DT_TRAIN_PIPELINE_STAGE_H
#define DT_TRAIN_PIPELINE_STAGE_H

#include "dtensor/random.h"
#include "train/pipeline_hop.h"
#include "train/pipeline_table.h"
#include "train/train.h"

/* A micro-batch of a stage between F and B or W; tensors are retained. */
typedef struct dt__live_micro {
    dt_tensor *inputs[DT__MAX_HOP_TENSORS], *outputs[DT__MAX_HOP_TENSORS];
    dt_tensor *grads[DT__MAX_HOP_TENSORS]; /* of the outputs, where the next stage is on this rank */
    dt_rest *rest;                         /* between I and W */
} dt__live_micro;

/* A stage of this rank. */
typedef struct dt__own_stage {
    dt_mesh *mesh;          /* holds a reference; NULL: plain tensors */
    dt__live_micro **micro; /* by micro-batch; NULL: not alive */
    int64_t n_backward;     /* micro-batches whose weights have their gradients */
    char *hold;             /* mesh dims along which they are held until the last; NULL: none */
    dt_spec
        *specs[2][DT__MAX_HOP_TENSORS]; /* of the tensors of the hops to and from it, for `rows`; hold references */
    int64_t rows[2][DT__MAX_HOP_TENSORS];
    double us[3]; /* of F, of I or B, and of W, of all micro-batches */
} dt__own_stage;

typedef struct dt__pipeline_step {
    dt_ctx *ctx;
    dt__arena arena;
    const dt__pipeline *table;
    uint64_t hash; /* of the table and the options */
    dt_mesh *mesh;
    int64_t rank; /* of the schedule */
    dt_stage_fn *run;
    void *user;
    const dt_pipeline_run_options *options;
    dt__pipeline_links links;
    dt__own_stage *stages; /* by stage; those of other ranks are zero */
    double *weights;       /* of each micro-batch; the sum is 1 */
    int64_t *rows;
    dt_generator *generator;
    dt_generator_state state; /* of the generator, at the beginning */
    int n_values;             /* the loss, and metrics */
    dt_tensor **values;       /* sums so far; retained */
    dt__live_micro *unused;   /* chained by rest */
} dt__pipeline_step;

/* What a stage function may ask for while it runs. */
struct dt__running_stage {
    dt__pipeline_step *step;
    int64_t stage, micro;
    dt__live_micro *live;
};

dt_status dt__stage_forward(dt__pipeline_step *self, int64_t stage, int64_t micro);
/* B, or I. */
dt_status dt__stage_backward(dt__pipeline_step *self, int64_t stage, int64_t micro, bool with_weights);
dt_status dt__stage_weights(dt__pipeline_step *self, int64_t stage, int64_t micro);
/* Releases the tensors of a micro-batch; accepts NULL. */
void dt__live_micro_free(dt__pipeline_step *self, dt__live_micro *live);

#endif
