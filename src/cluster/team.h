/* SPDX-License-Identifier: Apache-2.0
 *
 * The algorithms between nodes: each function adds the stages of one collective on a team to the schedule of an
 * operation. A team has one member of the group per node, or all members; ranks that are not in it add nothing. Every
 * rank of a team adds the same number of stages with messages.
 */
#ifndef DT_CLUSTER_TEAM_H
#define DT_CLUSTER_TEAM_H

#include "cluster/spanning.h"

typedef struct dt__team {
    int64_t n, me;          /* ranks; the number of this one */
    const int64_t *members; /* [n] in the group; NULL: all, in order */
} dt__team;

static inline int64_t dt__team_member(const dt__team *team, int64_t t) {
    return team->members ? team->members[t] : t;
}

/* A piece of the data, on this rank. */
typedef struct dt__team_piece {
    unsigned char *at;
    int64_t n; /* elements */
} dt__team_piece;

/* The data that a collective on a team reads and writes on this rank. Sizes of pieces are the same on all ranks of the
 * team, except for an all_to_all.
 *
 *     barrier         nothing; but for ranks that are left out
 *     broadcast       value, from the root's
 *     gather          value of each rank into the root's pieces
 *     scatter         the root's pieces into value of each rank; on other ranks pieces have sizes only
 *     all_gather      pieces: the one of this rank is complete; brings the others
 *     all_reduce      value, in place
 *     reduce_scatter  pieces of all ranks; those of this rank are reduced into value
 *     all_to_all      pieces to each rank; into received, from each rank; but for those that are left out
 */
typedef struct dt__team_data {
    dt__team_piece value;
    const dt__team_piece *pieces;   /* [n] */
    const dt__team_piece *received; /* [n] */
    const bool *left_out;           /* [n] or NULL */
    int64_t root;
} dt__team_data;

typedef void dt__team_schedule(dt_work *work, const dt__team *team, const dt__team_data *data);

dt__team_schedule dt__pairwise_barrier, dt__pairwise_broadcast, dt__pairwise_gather, dt__pairwise_scatter,
    dt__pairwise_all_gather, dt__pairwise_all_reduce, dt__pairwise_reduce_scatter, dt__pairwise_all_to_all;
dt__team_schedule dt__ring_broadcast, dt__ring_all_reduce, dt__ring_reduce_scatter;
dt__team_schedule dt__doubling_barrier, dt__doubling_all_gather, dt__doubling_all_reduce;
dt__team_schedule dt__binomial_broadcast, dt__binomial_gather, dt__binomial_scatter;

#endif
