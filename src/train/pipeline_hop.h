/* SPDX-License-Identifier: Apache-2.0
 *
 * What crosses between the stages of a pipeline, and how. A *hop* is the stated list of tensors that a stage passes to
 * the next. A *link* is the boundary of two stages: a hop, and a directed channel each way between this rank and the
 * rank of the other stage at the same coordinates. Started sends only publish, so that ranks may send to each other in
 * any order.
 */
#ifndef DT_TRAIN_PIPELINE_HOP_H
#define DT_TRAIN_PIPELINE_HOP_H

#include "base/arena.h"
#include "comm/comm.h"
#include "dispatch/dispatch.h"
#include "spec/spec.h"

enum { DT__MAX_HOP_TENSORS = 8 };

typedef struct dt__hop_tensor {
    dt__array_text array; /* of the largest micro-batch */
    const char *place;    /* NULL: replicated */
} dt__hop_tensor;

typedef struct dt__hop {
    int n;
    dt__hop_tensor tensors[DT__MAX_HOP_TENSORS];
} dt__hop;

/* Reads "f32[4,128,768] dp=S(0); i64[4,128] dp=S(0)". */
dt_status dt__hop_parse(dt__arena *arena, const char *text, dt__hop *out);
/* Whether a tensor has a gradient that crosses back. */
bool dt__hop_has_gradient(const dt__hop_tensor *self);
/* The spec of a tensor of a micro-batch with this many rows on the mesh of a stage; a new reference. */
dt_spec *dt__hop_spec(const dt__hop_tensor *self, dt_mesh *mesh, int64_t rows);

/* A tensor that was sent and not yet received. */
typedef struct dt__sending {
    struct dt__sending *next;
    dt_work *work;
    dt_tensor *tensor; /* holds a reference */
} dt__sending;

typedef struct dt__stage_link {
    const dt__hop *hop;
    dt_group *forward, *backward; /* NULL: both stages are on this rank, or neither is */
} dt__stage_link;

/* The links of a step, and what is on its way. */
typedef struct dt__pipeline_links {
    dt_ctx *ctx;
    dt__arena *arena;
    dt__history *history;  /* of the pipeline's mesh, for errors; NULL: none */
    dt__stage_link *links; /* links[i] is between stages i and i + 1 */
    dt__sending *sendings, *unused;
} dt__pipeline_links;

/* Makes the channels of a link; peer: the world rank of the other stage. */
dt_status dt__link_open(dt__pipeline_links *self, int64_t i, bool sends_forward, int64_t peer);
/* Sends a tensor over a channel; the tag is that of its action. Returns at once. */
dt_status dt__link_send(dt__pipeline_links *self, dt_group *channel, dt_tensor *tensor, uint64_t tag);
/* A tensor with this spec, or a plain one of this shape, from a channel, in the current scope. NULL after an error. */
dt_tensor *dt__link_receive(dt__pipeline_links *self, dt_group *channel, dt_spec *spec, uint64_t tag);
/* Frees what has arrived; waits for all of it, also after an error. */
void dt__links_poll(dt__pipeline_links *self);
dt_status dt__links_drain(dt__pipeline_links *self);
void dt__links_close(dt__pipeline_links *self, int64_t n);

#endif
