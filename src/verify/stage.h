/* SPDX-License-Identifier: Apache-2.0
 *
 * Ranks that are played in one process without communication: each is a context that claims to be that rank, with a
 * mesh of all of them, so that a kernel which looks at its offset, its spec or its generator sees the truth.
 */
#ifndef DT_VERIFY_STAGE_H
#define DT_VERIFY_STAGE_H

#include "rules/call_text.h"

enum { DT__MOST_PLAYED = 7 };

/* One of the ranks. */
typedef struct dt__actor {
    dt_ctx *ctx;
    dt_mesh *mesh;
    const dt__op_info *info; /* of the op, in this context */
} dt__actor;

typedef struct dt__stage {
    dt_ctx *ctx; /* of the caller: memory and errors */
    const dt__op_info *info;
    dt__arena texts;                                        /* of the rank that is alone: the call that is verified */
    dt__actor worlds[DT__MOST_PLAYED + 1][DT__MOST_PLAYED]; /* by number of ranks; made on first use */
} dt__stage;

dt__stage dt__stage_new(dt_ctx *ctx, const dt__op_info *info);
void dt__stage_free(dt__stage *stage);
/* The ranks of a world of n. NULL with the error recorded in the caller's context. */
const dt__actor *dt__stage_ranks(dt__stage *stage, int n);

/* A refusal in a played rank is an answer, not an error of the caller's; but a lack of memory becomes one. */
dt_status dt__actor_forgive(const dt__actor *actor, dt_ctx *caller);

/* Runs the kernel as dispatch does: inputs are dense parts; outputs have shapes, and memory unless they share that of
 * the first input. Strides of outputs are written to the arrays that they point to. */
dt_status dt__actor_run(const dt__actor *actor, const dt__placed_call *of, unsigned row_flags, dt_op_value *inputs,
                        int n_outputs, dt_op_value *outputs);

/* Whether outputs of this row are views of the first input. */
static inline bool dt__makes_views(const dt_op *op, unsigned row_flags) {
    return op->flags & DT_OP_VIEW && !(row_flags & DT_ROW_OFFSET);
}

#endif
