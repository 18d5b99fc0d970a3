/* SPDX-License-Identifier: Apache-2.0
 *
 * Sorts the members of a group by nodes. Pure: nodes are numbers.
 */
#include "cluster/node_layout.h"

#include "base/size.h"

#include <string.h>

static size_t layout_bytes(int64_t n_members) {
    return sizeof(dt__node_layout) + (size_t)(3 * n_members + 1) * sizeof(int64_t);
}

/* Numbers the nodes of the members in `out` by their first members; returns how many there are. */
static int64_t number_nodes(const int32_t *nodes, int64_t n, int64_t *out) {
    int64_t n_nodes = 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t first = 0;
        while (nodes[first] != nodes[i])
            first++;
        out[i] = first == i ? n_nodes++ : out[first];
    }
    return n_nodes;
}

static void sort_members(dt__node_layout *self, const int64_t *numbers, int64_t me) {
    int64_t at = 0;
    self->in_blocks = true;
    self->min_width = self->n_members;
    for (int64_t node = 0; node < self->n_nodes; node++) {
        self->starts[node] = at;
        for (int64_t i = 0; i < self->n_members; i++) {
            if (numbers[i] != node)
                continue;
            if (i == me) {
                self->node = node;
                self->place = at - self->starts[node];
            }
            self->in_blocks = self->in_blocks && i == at;
            self->members[at++] = i;
        }
        self->min_width = dt__min_i64(self->min_width, at - self->starts[node]);
        self->max_width = dt__max_i64(self->max_width, at - self->starts[node]);
    }
    self->starts[self->n_nodes] = at;
}

/* The arrays follow the struct: starts and members together, then lanes. */
dt__node_layout *dt__node_layout_new(dt_ctx *ctx, const int32_t *nodes, int64_t n_members, int64_t me) {
    dt__node_layout *self = dt__alloc_zeroed(ctx, layout_bytes(n_members));
    if (!self)
        return NULL;
    self->n_members = n_members;
    self->starts = (int64_t *)(self + 1);
    self->members = self->starts + n_members + 1;
    self->lanes = self->members + n_members;
    self->n_nodes = number_nodes(nodes, n_members, self->lanes);
    sort_members(self, self->lanes, me);
    for (int64_t place = 0; place < self->min_width; place++)
        for (int64_t node = 0; node < self->n_nodes; node++)
            self->lanes[place * self->n_nodes + node] = dt__node_member(self, node, place);
    return self;
}

void dt__node_layout_free(dt_ctx *ctx, dt__node_layout *layout) {
    dt__free(ctx, layout, layout ? layout_bytes(layout->n_members) : 0);
}
