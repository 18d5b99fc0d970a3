/* SPDX-License-Identifier: Apache-2.0
 *
 * Redistribution, for other folders: the executor, which works on raw memory, and on top of it the public calls, with
 * specs instead of texts. On shared memory any spec to any spec is one *direct exchange*: every rank publishes the
 * address of its source shard, and pulls the blocks that it lacks straight from its peers' memory to their place in the
 * target, reducing partials while it reads. The plans of the other planners run step by step, each step as such an
 * exchange between the ranks along the step's mesh dims. What a rank pulls is computed once per pair of specs and kept
 * in a cache of the context (prepared_move.h).
 */
#ifndef DT_MOVE_MOVE_H
#define DT_MOVE_MOVE_H

#include "dtensor/comm.h"
#include "dtensor/redistribute.h"
#include "move/halo.h"
#include "plan/plan.h"
#include "tensor/tensor.h"

/* One redistribution. The specs have the same shape and dtype; their meshes may differ, and so may their ranks.
 *
 * src is this rank's shard of `from`: the element at local index 0 of every dim, and strides in elements, which may
 * be any (a view, a broadcast), or NULL: dense, as in dt_spec_local(from). dst is this rank's shard of `to`, dense
 * as in dt_spec_local(to); it does not overlap src, except where from is to and both are the same memory. Either may
 * be NULL where this rank's shard is empty. src is not changed.
 *
 * Peers read src in place if it is in this rank's heap (dt_heap_alloc); other memory passes through a staging buffer of
 * 1 MiB, in rounds that all ranks make, and up to 8 KiB of a dense src are copied, so that this rank need not wait for
 * its readers. dst may be any
 * memory, too: where peers read it in the second phase of a reduction, the result is written to the heap and copied
 * from there.
 */
typedef struct dt__redistribution {
    dt_spec *from, *to;
    const void *src;
    const int64_t *src_strides;
    void *dst;
    dt__planner planner;        /* normally DT__PLANNER_DIRECT */
    const dt__machine *machine; /* of the planners; NULL: the context's */
    bool in_place; /* reductions take two phases; dst may be src where nothing but partial values changes */
    const dt__step_counts *counts; /* of its minimum-cost plan, where its caller has one; NULL: planned when needed */
} dt__redistribution;

/* Runs it to its end. Collective over the ranks of both meshes; others return at once. Where no rank needs anything
 * from another, no rank waits. Agreed errors: shapes, dtypes or meshes that do not fit, a target that is partial
 * where the source is not the same partial. */
dt_status dt__redistribute_run(const dt__redistribution *request);

/* Runs several, those between specs on one mesh in one exchange. Moves of the exchange that are the same collectives
 * over the same mesh dims are counted once. Collective over the ranks of the meshes. Agreed errors as above. */
dt_status dt__redistribute_run_list(dt_ctx *ctx, int n, const dt__redistribution *requests);

typedef struct dt__execution dt__execution;

/* Starts it. src and dst must not be touched until it was waited for; the specs, the strides and the request itself
 * may be freed. All members start their redistributions in the same order. A plan of several steps is run to its end
 * here. NULL on failure, with the error recorded. Collective. */
dt__execution *dt__redistribute_start(const dt__redistribution *request);
/* DT_OK when it is finished, DT_IN_PROGRESS, or the error. The handle stays valid until it was waited for, and only
 * then is dst complete. Local. */
dt_status dt__redistribute_test(dt__execution *execution);
/* Waits until it is finished and frees the handle; DT_ERR_STATE for NULL. Collective with its start. */
dt_status dt__redistribute_wait(dt__execution *execution);

/* Counters of this rank. A direct exchange counts as the collectives of the min_cost plan that it replaces; between
 * different meshes, as the one of its own plan. */
typedef struct dt__redistribute_stats {
    int64_t n_runs;                        /* redistributions that this rank took part in and finished */
    int64_t collectives[DT__N_STEP_KINDS]; /* by kind; NONE counts steps that every rank does by itself */
    int64_t n_exchanges;                   /* exchanges that were run for them */
    int64_t bytes_received;                /* read from peers' memory */
    int64_t n_hits, n_misses;              /* of the cache */
    int64_t n_entries;                     /* currently in the cache */
} dt__redistribute_stats;

/* The collective that a step counts as. */
dt_collective dt__collective_of_step(dt__step_kind kind);

/* All zero before the first redistribution. Local. */
dt__redistribute_stats dt__redistribute_statistics(const dt_ctx *ctx);

/* What a direct exchange will count as, by the context's machine model. Prepares and keeps nothing. Local. */
dt_status dt__redistribute_count(const dt_spec *from, const dt_spec *to, dt__step_counts *out);

/* A redistribution that this rank took part in and finished. */
typedef struct dt__redistribution_report {
    const dt_spec *from, *to;
    dt__planner planner;
    int64_t collectives[DT_N_COLLECTIVES]; /* what it counts as */
    int64_t bytes;                         /* that this rank received */
    double begin_us, end_us;               /* monotonic clock */
} dt__redistribution_report;

/* transfer_log.c: a line about it, and one about all when the context is closed. */
void dt__log_redistribution(dt_ctx *ctx, const dt__redistribution_report *report);
void dt__log_redistributions(dt_ctx *ctx, const dt__redistribute_stats *stats);

/* Installed in the context (ctx->move_observer). */
typedef struct dt__move_observer {
    void (*redistribution)(dt_ctx *ctx, const dt__redistribution_report *report);
} dt__move_observer;

/* The spec on another mesh with other placements, given as text or, where text is NULL, Replicate everywhere. NULL
 * with an agreed error. One reference, which belongs to the caller. */
dt_spec *dt__spec_with(const dt_spec *spec, dt_mesh *mesh, const char *place);
dt_spec *dt__spec_with_dtype(const dt_spec *spec, dt_dtype dtype);
/* full_tensor.c: the spec with the placements that a caller stated for gradients of its local tensors, whose shapes
 * stay: they differ only in Replicate and partial sums or averages. An agreed error of `op` otherwise. NULL in *out
 * where place is NULL; else a reference, which belongs to the caller. */
dt_status dt__grad_place_parse(const char *op, const dt_spec *spec, const char *place, dt_spec **out);

/* The tensor's value under another spec, which has its shape and dtype: a new handle, or, where the spec is the
 * tensor's own, another handle on the same storage. Not recorded. */
dt_tensor *dt__tensor_redistribute(dt_tensor *tensor, dt_spec *to, dt__planner planner);
/* Redistributes by a direct exchange whose minimum-cost plan has these steps. */
dt_tensor *dt__tensor_move(dt_tensor *tensor, dt_spec *to, const dt__step_counts *counts);

/* redistribute_list.c: the same for several tensors, in one exchange for each mesh; recorded. All NULL after an error.
 * If the caller no longer needs the tensors, results may overwrite those that nothing else refers to; their values are
 * then undefined, also after an error. */
dt_status dt__tensors_redistribute(dt_ctx *ctx, int n, dt_tensor *const *tensors, dt_spec *const *to,
                                   bool may_overwrite, dt_tensor **out);

/* As dt_full_tensor, for the library's own use: not recorded. */
dt_tensor *dt__full_tensor(dt_tensor *tensor);

/* The tensor with another dtype, element by element; the spec keeps its placements. */
dt_tensor *dt__tensor_convert(const dt_tensor *tensor, dt_dtype dtype);

/* Whether a partial can be converted contribution by contribution. */
bool dt__converts_partials(const dt_spec *spec, dt_dtype dtype);
/* Refuses a partial target otherwise: the value must be reduced before it is converted. */
dt_status dt__refuse_partial_target(const char *op, const dt_spec *to, dt_dtype from, dt_dtype dtype);

#endif
