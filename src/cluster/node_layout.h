/* SPDX-License-Identifier: Apache-2.0
 *
 * The members of a group by nodes. Nodes are numbered in the order that the group lists them; the *place* of a
 * member is its number among those of its node, in group order. The members with the same place on all nodes are a
 * *lane*.
 */
#ifndef DT_CLUSTER_NODE_LAYOUT_H
#define DT_CLUSTER_NODE_LAYOUT_H

#include "cluster/algorithm_choice.h"

/* The last choice for a collective of the group. */
struct dt__last_choice {
    dt__algorithm_request request;
    dt__algorithm_choice choice;
};

typedef struct dt__node_layout {
    int64_t n_members, n_nodes;
    int64_t node, place;                         /* of this rank */
    int64_t min_width, max_width;                /* members of one node */
    bool in_blocks;                              /* the group lists its members node by node */
    int64_t *starts;                             /* [n_nodes + 1] in `members` */
    int64_t *members;                            /* [n_members] of the group, node by node */
    int64_t *lanes;                              /* [min_width][n_nodes] members of the group */
    struct dt__last_choice last[DT__N_WORK_OPS]; /* n_ranks 0: none */
} dt__node_layout;

/* The layout for member `me` of a group whose members are on these nodes; NULL when out of memory. */
dt__node_layout *dt__node_layout_new(dt_ctx *ctx, const int32_t *nodes, int64_t n_members, int64_t me);
void dt__node_layout_free(dt_ctx *ctx, dt__node_layout *layout);

static inline int64_t dt__node_width(const dt__node_layout *layout, int64_t node) {
    return layout->starts[node + 1] - layout->starts[node];
}
static inline int64_t dt__node_member(const dt__node_layout *layout, int64_t node, int64_t place) {
    return layout->members[layout->starts[node] + place];
}

#endif
