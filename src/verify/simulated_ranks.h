/* SPDX-License-Identifier: Apache-2.0
 *
 * Ranks that are simulated in one process without communication: each is a context with that rank number and a mesh of
 * all of them, so that a kernel reads its real offset, spec and generator.
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
    dt__arena texts; /* of the world of one rank: the call that is verified */
    dt__sim_rank worlds[DT__MAX_SIM_RANKS + 1][DT__MAX_SIM_RANKS]; /* by number of ranks; made on first use */
} dt__sim;

dt__sim dt__sim_new(dt_ctx *ctx, const dt__op_info *info);
void dt__sim_free(dt__sim *sim);
/* The ranks of a world of n. NULL with the error recorded in the caller's context. */
const dt__sim_rank *dt__sim_ranks(dt__sim *sim, int n);

/* Clears the error of a simulated rank, which is a result, not an error of the caller; out of memory is passed on. */
dt_status dt__sim_rank_clear_error(const dt__sim_rank *actor, dt_ctx *caller);

/* Runs the kernel as dispatch does: inputs are dense; outputs have shapes, and memory unless they share that of the
 * first input. The kernel of a view writes the strides of its outputs to the arrays that they point to. */
dt_status dt__sim_rank_run(const dt__sim_rank *actor, const dt__placed_call *placed, unsigned row_flags,
                           dt_op_value *inputs, int n_outputs, dt_op_value *outputs);

/* Runs all ranks of a row that meets or scans: values[rank] has the inputs, then the outputs. The failure of a rank is
 * appended to the text. */
dt_status dt__sim_ranks_meet(dt__arena *arena, const dt__sim_rank *ranks, int n, const dt__placed_call *placed,
                             unsigned row_flags, dt_op_value *const *values, dt__text *failure);

/* Whether outputs of this row are views of the first input. */
static inline bool dt__returns_views(const dt_op *op, unsigned row_flags) {
    return op->flags & DT_OP_VIEW && !(row_flags & DT_ROW_OFFSET);
}

#endif
