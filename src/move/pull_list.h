/* SPDX-License-Identifier: Apache-2.0
 *
 * What one rank pulls in a direct exchange. Pure arithmetic: two specs and a rank determine the *blocks* of its target
 * shard, one for each source shard that it reads from, and the ranks that hold them. The intersection of two shards is
 * a product of index sets, so a block is kept as such, as *pieces* per tensor dim.
 *
 * An element of a partial source is the reduction of one value per coordinate along the mesh dims whose Partial is
 * resolved; the values are reduced in the order of the mesh, whichever rank computes them. Where several ranks hold the
 * same source shard, a rank reads from the one that has its coordinates along those mesh dims: from itself where it
 * can, and from each holder equally often.
 *
 * A reduction whose result several ranks keep takes two phases: each of these replicas reduces its portion of their
 * common shard, then reads the portions of the others, so that the cost does not grow with the number of ranks.
 */
#ifndef DT_MOVE_PULL_LIST_H
#define DT_MOVE_PULL_LIST_H

#include "spec/spec.h"

/* n runs of `size` local indices along a tensor dim, evenly spaced on both sides. */
typedef struct dt__piece {
    int64_t size, n;
    int64_t src, dst; /* first index */
    int64_t src_step, dst_step;
} dt__piece;

/* What comes from one source shard: the product of the dims' pieces. */
typedef struct dt__block {
    int64_t elements;
    const dt__piece **pieces;       /* per dim */
    const int64_t *n_pieces;        /* per dim */
    const int64_t *members;         /* n_sources, in the order of reduction: indices into the list of ranks */
    const int64_t *shape, *strides; /* of the shard that they hold, where it is dense */
    int64_t shard_elements;
} dt__block;

/* Another replica's portion of the target shard: `size` indices from `first` on along portion_dim, and all of the
 * others.
 */
typedef struct dt__replica_portion {
    int64_t member, first, size;
} dt__replica_portion;

typedef struct dt__pull_list {
    int n_dims;
    int n_sources; /* values that are reduced to one */
    dt_reduce reduce;
    int64_t divisor; /* of an average */
    int64_t n_blocks;
    dt__block *blocks;
    bool two_phases; /* the same on all ranks; the blocks are then those of this rank's portion */
    int portion_dim;
    int64_t n_portions;
    dt__replica_portion *portions; /* of the other replicas */
    dt__block *portion_blocks;     /* like blocks, with the shape and strides of the target shard */
    int64_t bytes;                 /* approximate size of all of this */
} dt__pull_list;

typedef struct dt__pull_request {
    const dt_spec *from, *to; /* checked: same shape and dtype, and no new partial */
    bool same_mesh;
    bool changes[DT_SPEC_MAX_DIMS]; /* mesh dims that change, where the mesh is the same */
    bool one_phase;                 /* whatever two_phase.h decides for shared memory */
    bool in_place;                  /* two phases, whatever it decides */
    int64_t rank;
    const int64_t *ranks; /* that take part, ascending */
    int64_t n_ranks;
} dt__pull_request;

/* The ranks that take part with this one, ascending: those along the mesh dims that change, or of both meshes. */
dt_status dt__pull_list_ranks(dt__arena *arena, dt__pull_request *request);
/* Whether any of them needs something from another; the same on all. */
bool dt__pull_list_needs_peers(const dt__pull_request *request);
dt_status dt__pull_list_new(dt__arena *arena, const dt__pull_request *request, dt__pull_list *out);

#endif
