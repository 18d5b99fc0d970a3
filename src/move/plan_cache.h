/* SPDX-License-Identifier: Apache-2.0
 *
 * What was worked out for redistributions between pairs of specs, and the cache that keeps it: who takes part, what
 * this rank pulls from whom, or the specs that a plan of several steps goes through, and what it all counts as. A
 * hit costs a comparison or a look into a hash map.
 *
 * The cache holds references to its specs and is bounded by number and by bytes; what is in use is never dropped.
 */
#ifndef DT_MOVE_PLAN_CACHE_H
#define DT_MOVE_PLAN_CACHE_H

#include "base/hash.h"
#include "comm/runtime.h"
#include "move/block_copy.h"
#include "move/move.h"
#include "move/pull_list.h"

/* In place of a planner: one step of a plan, which is run as it is and counts as nothing. */
enum { DT__PLANNER_STEP = DT__N_PLANNERS };

typedef struct dt__pair {
    dt_spec *from, *to;
    int planner;
    const dt__machine *machine; /* never NULL */
    uint64_t machine_hash;
} dt__pair;

typedef struct dt__prepared {
    dt__pair pair; /* holds references; machine is not kept */
    uint64_t hash;
    int64_t n_users;                    /* redistributions that are using it */
    struct dt__prepared *newer, *older; /* of all, by last use */
    bool takes_part;                    /* this rank is in one of the meshes */
    int n_stops; /* specs that a plan of several steps goes through, both ends included; or 0 */
    dt_spec **stops;
    dt_group *group; /* NULL: no rank needs anything from another */
    uint64_t tag;    /* what the members must agree on */
    dt__pulls pulls;
    dt__chunks chunks[2]; /* for threads: of the blocks and of the shares */
    int64_t collectives[DT__N_STEP_KINDS];
    dt__arena arena; /* holds all that the pointers above point to, and this itself */
} dt__prepared;

/* Memory of the loops, which there is more of when somebody needs more: where the sources of a block lie, or of all
 * blocks where threads share them; and for each thread pointers and, where something is reduced, scratch. */
typedef struct dt__room {
    int64_t n_views;
    int n_sources; /* of a block */
    int n_lanes;   /* threads */
    dt__shard_memory *views;
    unsigned char *lanes;          /* one behind the other */
    size_t lane_bytes, scratch_at; /* of a lane, and in it; it begins with the pointers */
} dt__room;

/* What hangs off the context. */
typedef struct dt__executor {
    dt_ctx *ctx;
    dt__map prepared;
    dt__prepared *newest, *oldest;
    int64_t bytes; /* of all, about */
    dt__redistribute_stats stats;
    dt__moving *moving; /* started and not yet waited for */
    dt__room room;
} dt__executor;

/* The context's, made on first use; NULL with the error recorded. */
dt__executor *dt__executor_of(dt_ctx *ctx);

/* Looks the pair up or prepares it. */
dt_status dt__prepare(dt__executor *executor, const dt__pair *pair, dt__prepared **out);
/* A group that was made before errors were cleared is made again. */
dt_status dt__prepared_refresh(dt__executor *executor, dt__prepared *prepared);

/* execute.c: ends what was started. */
void dt__moving_end_all(dt__executor *executor);

#endif
