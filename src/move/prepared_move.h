/* SPDX-License-Identifier: Apache-2.0
 *
 * Prepared moves: everything that a redistribution between a pair of specs needs, and the cache that keeps it. That is:
 * who takes part; what this rank pulls from whom, or the collective that carries the move if the group spans nodes, or
 * the intermediate specs of a plan of several steps; and the collectives that it counts as. A hit costs a comparison or
 * a hash lookup.
 *
 * The cache holds references to its specs and is bounded by number and by bytes; entries in use are never dropped.
 */
#ifndef DT_MOVE_PREPARED_MOVE_H
#define DT_MOVE_PREPARED_MOVE_H

#include "base/hash.h"
#include "comm/comm.h"
#include "move/block_copy.h"
#include "move/carried_move.h"
#include "move/move.h"
#include "move/pull_list.h"

/* In place of a planner: one step of a plan, which is run as it is and counts as no collective. */
enum { DT__PLANNER_STEP = DT__N_PLANNERS };

typedef struct dt__spec_pair {
    dt_spec *from, *to;
    int planner;
    const dt__machine *machine;    /* never NULL */
    bool in_place;                 /* reduces in two phases, so that results may overwrite sources */
    const dt__step_counts *counts; /* what a direct exchange counts as, where its caller has planned it; or NULL */
} dt__spec_pair;

typedef struct dt__prepared_move {
    dt__spec_pair pair;           /* holds references; machine and counts are not kept; */
    uint64_t machine_fingerprint; /* part of the key */
    uint64_t hash;
    int64_t n_users;                         /* redistributions that use it now */
    struct dt__prepared_move *newer, *older; /* entries, by last use */
    bool takes_part;                         /* this rank is in one of the meshes */
    int n_stops; /* specs that a plan of several steps passes through, both ends included; or 0 */
    dt_spec **stops;
    dt_group *group;                /* NULL: no rank needs anything from another */
    bool changes[DT_SPEC_MAX_DIMS]; /* mesh dims that take part, on one mesh */
    double cost_us;                 /* the price of its plan */
    uint64_t tag;                   /* hash of everything that the members must agree on */
    dt__carried_move *carried;      /* where the group spans nodes: in place of the pull list */
    dt__pull_list pulls;
    dt__chunks chunks[2];   /* for threads: of the blocks and of the portions */
    dt__step_counts counts; /* the collectives that it counts as */
    dt__arena arena;        /* owns everything above, and this itself */
} dt__prepared_move;

/* Buffers of the copy loops, which grow on demand: the memory of the sources of a block, or of all blocks where
 * threads share them; and for each thread pointers and, where something is reduced, scratch. */
typedef struct dt__copy_buffers {
    int64_t n_block_sources;
    int n_sources; /* of a block */
    int n_lanes;   /* threads */
    dt__shard_memory *sources;
    unsigned char *lanes;          /* one after the other */
    size_t lane_bytes, scratch_at; /* of a lane, and offset in it, after the pointers */
} dt__copy_buffers;

/* The state of the folder in a context. */
typedef struct dt__executor {
    dt_ctx *ctx;
    dt__map prepared;
    dt__prepared_move *newest, *oldest;
    int64_t bytes; /* approximate size of all entries */
    dt__redistribute_stats stats;
    dt__execution *started; /* started and not yet waited for */
    dt__freed_queue freed_transfers;
    dt__copy_buffers buffers;
    int64_t staged_bytes; /* of the buffer for sources outside the heap (staged_source.h); the same on all ranks */
    dt_group *list_group; /* of the last list that moved in one exchange, or NULL */
} dt__executor;

/* The mesh dims along which all ranks of the mesh meet in the move, for verdicts (comm/verdict.h); 0: some do not meet.
 */
uint64_t dt__prepared_mesh_dims(const dt__prepared_move *prepared);

/* The context's executor, made on first use; NULL with the error recorded. */
dt__executor *dt__executor_of(dt_ctx *ctx);

/* Finds the pair in the cache or prepares it. */
dt_status dt__prepare(dt__executor *executor, const dt__spec_pair *pair, dt__prepared_move **out);
/* Replaces a group that was made before errors were cleared. */
dt_status dt__prepared_move_refresh(dt__executor *executor, dt__prepared_move *prepared);

/* executor.c: waits for all started redistributions. */
void dt__executions_end(dt__executor *executor);

#endif
