/* SPDX-License-Identifier: Apache-2.0
 *
 * Running redistributions, on raw memory: tensors stand on top of this. On shared memory any spec to any spec is one
 * *direct exchange*: every rank shows where its part of the source lies, and pulls the blocks that it lacks straight
 * from its peers' memory to their place in the target, reducing partials while it reads. The other planners' plans run
 * step by step, each step as such an exchange between the ranks along the step's mesh dims.
 *
 * What a rank pulls is worked out once per pair of specs and kept in a cache of the context.
 */
#ifndef DT_MOVE_EXECUTE_H
#define DT_MOVE_EXECUTE_H

#include "plan/plan.h"

/* One redistribution. The specs have the same shape and dtype; their meshes may differ, and so may their ranks.
 *
 * src is this rank's part of `from`: the element at local index 0 of every dim, and strides in elements, which may be
 * any (a view, a broadcast), or NULL: dense, as dt_spec_local(from) says. dst is this rank's part of `to`, dense as
 * dt_spec_local(to) says; it does not overlap src, except where from is to and both are the same memory. Either may
 * be NULL where this rank holds nothing of that side. src is not changed.
 *
 * Peers read src in place if it lies in this rank's heap (dt_heap_alloc); any other memory is copied to the heap for
 * the call, and so are up to 8 KiB of a dense src, so that nobody has to wait at the end. dst may be any memory, too:
 * where peers read it in the second phase of a reduction, it is written to the heap first and copied from there. */
typedef struct dt__redistribution {
    dt_spec *from, *to;
    const void *src;
    const int64_t *src_strides;
    void *dst;
    dt__planner planner;        /* DT__PLANNER_DIRECT is the one to take */
    const dt__machine *machine; /* prices of the planners; NULL: the built-in table */
} dt__redistribution;

/* Runs it to its end. Collective over the ranks of both meshes; others return at once. Where no rank needs anything
 * from another one, nobody waits for anybody. Agreed errors: shapes, dtypes or meshes that do not fit, a target that
 * is partial where the source is not the same partial. */
dt_status dt__redistribute_run(const dt__redistribution *what);

typedef struct dt__moving dt__moving;

/* Starts it: src and dst stay untouched until it was waited for; the specs, strides and `what` itself may go. All
 * members start what they start in the same order. A plan of several steps is run to its end here. NULL on failure,
 * with the error recorded. Collective. */
dt__moving *dt__redistribute_start(const dt__redistribution *what);
/* DT_OK when it is over, DT_IN_PROGRESS, or the error. The handle stays valid until it was waited for, and only then
 * is dst complete. Local. */
dt_status dt__redistribute_test(dt__moving *moving);
/* Waits to the end and frees the handle. NULL gives DT_ERR_STATE. Collective with its start. */
dt_status dt__redistribute_wait(dt__moving *moving);

/* What this rank has run, and how the cache does. A direct exchange counts as the collectives of the min_cost plan
 * that it replaces; between different meshes, as the one that its own plan names. */
typedef struct dt__redistribute_stats {
    int64_t n_runs;                         /* redistributions that this rank took part in and finished */
    int64_t collectives[DT__N_COLLECTIVES]; /* by kind; NONE counts steps that every rank does by itself */
    int64_t n_exchanges;                    /* rendezvous that were run for them */
    int64_t bytes_received;                 /* read from peers' memory */
    int64_t n_hits, n_misses;               /* of the cache */
    int64_t n_entries;                      /* in the cache now */
} dt__redistribute_stats;

/* Zero where nothing was run yet. Local. */
dt__redistribute_stats dt__redistribute_statistics(const dt_ctx *ctx);

/* What a redistribution will count as: the collectives by kind, as above. The same cache answers. */
dt_status dt__redistribute_count(dt_spec *from, dt_spec *to, dt__planner planner, const dt__machine *machine,
                                 int64_t collectives[DT__N_COLLECTIVES]);

#endif
