/* SPDX-License-Identifier: Apache-2.0
 *
 * Ranks that are played in one process without communication: each is a context that claims to be that rank, with a
 * mesh of all of them, so that a kernel which looks at its offset, its spec or its generator sees the truth.
 */
#ifndef DT_VERIFY_SIMULATED_RANKS_H
#define DT_VERIFY_SIMULATED_RANKS_H

#include "rules/rules.h"

enum { DT__MAX_SIM_RANKS = 7 };

/* One of the ranks. */
typedef struct dt__sim_rank {
    dt_ctx *ctx;
    dt_mesh *mesh;
    const dt__op_info *info; /* of the op, in this context */
} dt__sim_rank;

typedef struct dt__sim {
    dt_ctx *ctx; /* of the caller: memory and errors */
    const dt__op_info *info;
    dt__arena texts; /* of the rank that is alone: the call that is verified */
    dt__sim_rank worlds[DT__MAX_SIM_RANKS + 1][DT__MAX_SIM_RANKS]; /* by number of ranks; made on first use */
} dt__sim;

dt__sim dt__sim_new(dt_ctx *ctx, const dt__op_info *info);
void dt__sim_free(dt__sim *stage);
/* The ranks of a world of n. NULL with the error recorded in the caller's context. */
const dt__sim_rank *dt__sim_ranks(dt__sim *stage, int n);

/* A refusal in a played rank is an answer, not an error of the caller's; but a lack of memory becomes one. */
dt_status dt__sim_rank_clear_error(const dt__sim_rank *actor, dt_ctx *caller);

/* Runs the kernel as dispatch does: inputs are dense parts; outputs have shapes, and memory unless they share that of
 * the first input. Strides of outputs are written to the arrays that they point to. */
dt_status dt__sim_rank_run(const dt__sim_rank *actor, const dt__placed_call *of, unsigned row_flags,
                           dt_op_value *inputs, int n_outputs, dt_op_value *outputs);

/* Whether outputs of this row are views of the first input. */
static inline bool dt__makes_views(const dt_op *op, unsigned row_flags) {
    return op->flags & DT_OP_VIEW && !(row_flags & DT_ROW_OFFSET);
}

#endif
