/* SPDX-License-Identifier: Apache-2.0
 *
 * What one rank pulls in a direct exchange. Pure arithmetic: from two specs and a rank follow the *blocks* of its
 * target, one for each part of the source that it reads from, and who holds each. What two parts have in common is a
 * product of index sets, so a block is kept as such, as *pieces* per tensor dim.
 *
 * An element of a source that is partial is the reduction of one value of each coordinate along the mesh dims whose
 * partial ends; they are reduced in the order of the mesh, whoever computes them. Where ranks are alike in the
 * source, a rank reads from the one that shares its coordinates along those mesh dims: from itself where it can, and
 * from each holder as often as from the others.
 *
 * A reduction whose result several ranks keep goes in two phases: each of these replicas reduces its share of their
 * common part, then reads the shares of the others, so that the cost does not grow with the number of ranks.
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

/* What comes from one part of the source: the product of the dims' pieces. */
typedef struct dt__block {
    int64_t elements;
    const dt__piece **pieces;       /* per dim */
    const int64_t *n_pieces;        /* per dim */
    const int64_t *members;         /* n_sources, in the order of reduction: places in the list of ranks */
    const int64_t *shape, *strides; /* of the part that they hold, where it is dense */
    int64_t part_elements;
} dt__block;

/* Another replica's share: all of the target part but for dim share_dim, there `size` indices from `first` on. */
typedef struct dt__share {
    int64_t member, first, size;
} dt__share;

typedef struct dt__pulls {
    int n_dims;
    int n_sources; /* values that are reduced to one */
    dt_reduce reduce;
    int64_t divisor; /* of an average */
    int64_t n_blocks;
    dt__block *blocks;
    bool two_phases; /* the same on all ranks; the blocks are then those of this rank's share */
    int share_dim;
    int64_t n_shares;
    dt__share *shares;       /* of the others */
    dt__block *share_blocks; /* the same as blocks, whose shape and strides are those of the target part */
    int64_t bytes;           /* of all this, about */
} dt__pulls;

typedef struct dt__pulls_of {
    const dt_spec *from, *to; /* checked: same shape and dtype, and no partial that cannot be had */
    bool same_mesh;
    bool changes[DT_SPEC_MAX_DIMS]; /* mesh dims that change, where the mesh is the same */
    int64_t rank;
    const int64_t *ranks; /* who takes part, ascending */
    int64_t n_ranks;
} dt__pulls_of;

/* The ranks that take part with this one, ascending: those along the mesh dims that change, or of both meshes. */
dt_status dt__pulls_ranks(dt__arena *arena, dt__pulls_of *what);
/* Whether any of them needs something of another; the same for all. */
bool dt__pulls_need_peers(const dt__pulls_of *what);
dt_status dt__pulls_new(dt__arena *arena, const dt__pulls_of *what, dt__pulls *out);

#endif
