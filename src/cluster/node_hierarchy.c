/* SPDX-License-Identifier: Apache-2.0
 *
 * The schedule of each collective between nodes: shm within the nodes, and the chosen algorithm among the ranks that
 * carry data between them (algorithm_choice.h). Ranks of a node are lined up by their places: lane k has the ranks with
 * place k, and the leaders are lane 0, or for a rooted collective the lane of its root.
 *
 *                     on the node               between nodes                      on the node
 *     leaders
 *       all_reduce    reduce to the leader      all_reduce of the value            broadcast
 *       all_gather    gather to the leader      all_gather of the nodes' blocks    broadcast
 *       red._scatter  reduce to the leader      reduce_scatter                     scatter
 *       rooted        gather                    broadcast, gather or scatter       broadcast, scatter
 *     shares
 *       all_reduce    reduce_scatter            all_reduce of a share              all_gather
 *       broadcast     scatter, by the root      broadcast of a share               all_gather
 *       all_gather                              all_gather along the lane          all_gather
 *       red._scatter  reduce_scatter            reduce_scatter along the lane
 *       all_to_all    all_to_all by places      all_to_all along the lane
 *     copies          all_reduce                all_reduce of the value
 *     direct                                    all_to_all with other nodes        all_to_all, at once
 *                                               barrier with other nodes           barrier, at once
 *     ranks                                     the collective itself
 *
 * A node's ranks are reduced first, in group order, then the nodes, in the order of the algorithm. Products of complex
 * numbers are in group order on one rank, because the signs of zeros depend on it, and averages of integers, because a
 * sum may wrap around.
 */
#include "cluster/node_layout.h"
#include "cluster/team.h"

#include "base/dtype.h"
#include "base/size.h"

/* The schedule of one call while it is made. */
struct maker {
    dt_work *work;
    const dt_comm_call *call;
    const dt__node_layout *layout; /* not of a message between two ranks */
    dt__work_op op;                /* an exchange between nodes is a barrier */
    dt__algorithm_choice choice;
};

static dt__team_schedule *const schedules[DT__N_WORK_OPS][DT__N_ALGORITHMS] = {
    [DT__WORK_BARRIER] = {[DT__ALGORITHM_PAIRWISE_EXCHANGE] = dt__pairwise_barrier,
                          [DT__ALGORITHM_RECURSIVE_DOUBLING] = dt__doubling_barrier},
    [DT__WORK_BROADCAST] = {[DT__ALGORITHM_PAIRWISE_EXCHANGE] = dt__pairwise_broadcast,
                            [DT__ALGORITHM_BINOMIAL_TREE] = dt__binomial_broadcast,
                            [DT__ALGORITHM_RING] = dt__ring_broadcast},
    [DT__WORK_SCATTER] = {[DT__ALGORITHM_PAIRWISE_EXCHANGE] = dt__pairwise_scatter,
                          [DT__ALGORITHM_BINOMIAL_TREE] = dt__binomial_scatter},
    [DT__WORK_GATHER] = {[DT__ALGORITHM_PAIRWISE_EXCHANGE] = dt__pairwise_gather,
                         [DT__ALGORITHM_BINOMIAL_TREE] = dt__binomial_gather},
    [DT__WORK_ALL_GATHER] = {[DT__ALGORITHM_PAIRWISE_EXCHANGE] = dt__pairwise_all_gather,
                             [DT__ALGORITHM_RECURSIVE_DOUBLING] = dt__doubling_all_gather},
    [DT__WORK_ALL_REDUCE] = {[DT__ALGORITHM_PAIRWISE_EXCHANGE] = dt__pairwise_all_reduce,
                             [DT__ALGORITHM_RECURSIVE_DOUBLING] = dt__doubling_all_reduce,
                             [DT__ALGORITHM_RING] = dt__ring_all_reduce},
    [DT__WORK_REDUCE_SCATTER] = {[DT__ALGORITHM_PAIRWISE_EXCHANGE] = dt__pairwise_reduce_scatter,
                                 [DT__ALGORITHM_RING] = dt__ring_reduce_scatter},
    [DT__WORK_ALL_TO_ALL] = {[DT__ALGORITHM_PAIRWISE_EXCHANGE] = dt__pairwise_all_to_all},
};

static dt__team all_ranks(const struct maker *self) {
    return (dt__team){self->work->group->n_ranks, self->work->group->rank, NULL};
}

/* A rank whose place is at least min_width has no lane. */
static dt__team own_lane(const struct maker *self) {
    const dt__node_layout *layout = self->layout;
    return (dt__team){layout->n_nodes, layout->node, layout->lanes + layout->place * layout->n_nodes};
}

static void run_on(const struct maker *self, dt__team team, dt__team_data data) {
    schedules[self->op][self->choice.algorithm](self->work, &team, &data);
}

static size_t bytes_of(const struct maker *self, int64_t count) { return dt__span_bytes(self->work, count); }
static unsigned char *src_at(const struct maker *self, int64_t at) {
    return (unsigned char *)(uintptr_t)self->call->src + bytes_of(self, at);
}
static unsigned char *dst_at(const struct maker *self, int64_t at) {
    return (unsigned char *)self->call->dst + bytes_of(self, at);
}
static unsigned char *scratch(const struct maker *self, int64_t count) {
    return dt__span_scratch(self->work, bytes_of(self, count));
}
static void copy(const struct maker *self, void *dst, const void *src, int64_t count) {
    dt__span_copy(self->work, dst, src, bytes_of(self, count));
}
static int64_t size_of(const struct maker *self, int64_t i) { return dt__block_size(self->call, i); }
static int64_t own_size(const struct maker *self) { return size_of(self, self->work->group->rank); }

static int64_t total_size(const struct maker *self) { return dt__block_at(self->call, self->work->group->n_ranks); }

/* Elements of the blocks of a node, and of a lane. */
static int64_t node_size(const struct maker *self, int64_t node) {
    int64_t size = 0;
    for (int64_t place = 0; place < dt__node_width(self->layout, node); place++)
        size += size_of(self, dt__node_member(self->layout, node, place));
    return size;
}
static int64_t lane_size(const struct maker *self, int64_t place) {
    int64_t size = 0;
    for (int64_t node = 0; node < self->layout->n_nodes; node++)
        size += size_of(self, dt__node_member(self->layout, node, place));
    return size;
}

/* Small data, and data of a group whose blocks are not listed node by node, is put in order in scratch memory, so that
 * the ranks of a node meet once instead of once per node. */
static bool is_packed(const struct maker *self) {
    return !self->layout->in_blocks || bytes_of(self, total_size(self)) <= DT__EXCHANGE_COPIED_BYTES;
}

/* Copies all blocks between memory in group order and packed memory: node by node, or lane by lane. */
enum packing { PACK_BY_NODE, PACK_BY_LANE, UNPACK_BY_NODE, UNPACK_BY_LANE };
static void copy_block(const struct maker *self, unsigned char *blocks, unsigned char **packed, int64_t i,
                       bool packs) {
    unsigned char *block = blocks + bytes_of(self, dt__block_at(self->call, i));
    copy(self, packs ? *packed : block, packs ? block : *packed, size_of(self, i));
    *packed += bytes_of(self, size_of(self, i));
}
static void pack(const struct maker *self, unsigned char *blocks, unsigned char *packed, enum packing packing) {
    const dt__node_layout *layout = self->layout;
    bool packs = packing == PACK_BY_NODE || packing == PACK_BY_LANE;
    if (packing == PACK_BY_NODE || packing == UNPACK_BY_NODE)
        for (int64_t k = 0; k < layout->n_members; k++)
            copy_block(self, blocks, &packed, layout->members[k], packs);
    else
        for (int64_t place = 0; place < layout->max_width; place++)
            for (int64_t node = 0; node < layout->n_nodes; node++)
                copy_block(self, blocks, &packed, dt__node_member(layout, node, place), packs);
}

/* The blocks of the nodes, or of one lane, in memory that is ordered node by node. */
static void node_pieces(const struct maker *self, unsigned char *at, dt__team_piece *out) {
    for (int64_t node = 0; node < self->layout->n_nodes; node++) {
        out[node] = (dt__team_piece){at, node_size(self, node)};
        at += at ? bytes_of(self, out[node].n) : 0;
    }
}
static void lane_pieces(const struct maker *self, unsigned char *at, dt__team_piece *out) {
    for (int64_t node = 0; node < self->layout->n_nodes; node++) {
        out[node] = (dt__team_piece){at, size_of(self, dt__node_member(self->layout, node, self->layout->place))};
        at += bytes_of(self, out[node].n);
    }
}

/* The blocks of this node's members, and of one lane in all of them: counts of a collective on the node. */
static void node_counts(const struct maker *self, int64_t node, int64_t *out) {
    for (int64_t place = 0; place < dt__node_width(self->layout, node); place++)
        out[place] = size_of(self, dt__node_member(self->layout, node, place));
}
static void lane_counts(const struct maker *self, int64_t *out) {
    for (int64_t place = 0; place < self->layout->max_width; place++)
        out[place] = lane_size(self, place);
}

/* The share of a value that the rank with this place carries, if `n` ranks of each node carry one. */
static struct dt__slice share_of(const struct maker *self, int64_t n, int64_t place) {
    return place < n ? dt__slice_of(self->call->count, n, place, self->work->item_bytes) : (struct dt__slice){0};
}
static void share_counts(const struct maker *self, int64_t n, int64_t *out) {
    for (int64_t place = 0; place < dt__node_width(self->layout, self->layout->node); place++)
        out[place] = share_of(self, n, place).n;
}

/* The leaders of a rooted collective: the root, and on other nodes the rank with the root's place, or the last rank. */
static dt__team leaders_around(const struct maker *self, int64_t *members, int64_t *root_node, int64_t *place) {
    const dt__node_layout *layout = self->layout;
    int64_t root = 0;
    while (layout->members[root] != self->call->root)
        root++;
    *root_node = 0;
    while (layout->starts[*root_node + 1] <= root)
        ++*root_node;
    for (int64_t node = 0; node < layout->n_nodes; node++) {
        int64_t at = dt__min_i64(root - layout->starts[*root_node], dt__node_width(layout, node) - 1);
        members[node] = dt__node_member(layout, node, at);
        if (node == layout->node)
            *place = at;
    }
    return (dt__team){layout->n_nodes, layout->node, members};
}

/* The ranks of this node, which a direct exchange reaches by shm. */
static void leave_out_node(const struct maker *self, bool *out) {
    for (int64_t i = 0; i < self->work->group->n_ranks; i++)
        out[i] = !dt__is_remote(self->work->group->runtime, dt__group_member(self->work->group, i));
}

static void make_barrier(const struct maker *self) {
    dt_comm_call local = {.op = DT_BARRIER};
    bool left_out[DT__MAX_RANKS];
    if (self->choice.route == DT__ROUTE_RANKS) {
        run_on(self, all_ranks(self), (dt__team_data){0});
        return;
    }
    if (self->choice.route == DT__ROUTE_DIRECT) {
        leave_out_node(self, left_out);
        run_on(self, all_ranks(self), (dt__team_data){.left_out = left_out});
        dt__span_add_local_beside(self->work, local, NULL, NULL);
        return;
    }
    dt__span_add_local(self->work, local, NULL, NULL);
    if (self->choice.route == DT__ROUTE_COPIES || self->layout->place == 0)
        run_on(self, own_lane(self), (dt__team_data){0});
    if (self->choice.route == DT__ROUTE_LEADERS)
        dt__span_add_local(self->work, local, NULL, NULL);
}

static void broadcast_shares(const struct maker *self, int64_t root_node, int64_t root_place) {
    const dt__node_layout *layout = self->layout;
    int64_t n = layout->min_width, counts[DT__MAX_RANKS];
    struct dt__slice share = share_of(self, n, layout->place);
    unsigned char *own = dst_at(self, share.first);
    share_counts(self, n, counts);
    if (layout->node == root_node)
        dt__span_add_local(self->work,
                           (dt_comm_call){.op = DT_SCATTER, .src = self->call->src, .dst = own, .root = root_place},
                           counts, NULL);
    if (layout->place < n)
        run_on(self, own_lane(self), (dt__team_data){.value = {own, share.n}, .root = root_node});
    dt__span_add_local(self->work, (dt_comm_call){.op = DT_ALL_GATHER, .src = own, .dst = self->call->dst}, counts,
                       NULL);
}

/* The root sends what it has in src, unless the algorithm also writes there. */
static void make_broadcast(const struct maker *self) {
    const dt_comm_call *call = self->call;
    int64_t leaders[DT__MAX_RANKS], root_node = 0, place = 0;
    bool is_root = self->work->group->rank == call->root, is_ring = self->choice.algorithm == DT__ALGORITHM_RING;
    dt__team team = leaders_around(self, leaders, &root_node, &place);
    if (self->choice.route == DT__ROUTE_SHARES) {
        broadcast_shares(self, root_node, place);
        return;
    }
    if (is_root && is_ring)
        copy(self, call->dst, call->src, call->count);
    dt__team_piece value = {is_root && !is_ring ? src_at(self, 0) : dst_at(self, 0), call->count};
    if (self->choice.route == DT__ROUTE_RANKS)
        run_on(self, all_ranks(self), (dt__team_data){.value = value, .root = call->root});
    else if (leaders[team.me] == self->work->group->rank)
        run_on(self, team, (dt__team_data){.value = value, .root = root_node});
    if (self->choice.route == DT__ROUTE_LEADERS)
        (is_root ? dt__span_add_local_beside : dt__span_add_local)(
            self->work,
            (dt_comm_call){
                .op = DT_BROADCAST, .src = value.at, .dst = call->dst, .count = call->count, .root = place},
            NULL, NULL);
    else if (is_root)
        copy(self, call->dst, value.at, call->count);
}

/* The blocks in `memory`, which has them in group order; elsewhere only their sizes. */
static void all_pieces(const struct maker *self, unsigned char *memory, dt__team_piece *out) {
    int64_t at = 0;
    for (int64_t i = 0; i < self->work->group->n_ranks; i++) {
        out[i] = (dt__team_piece){memory ? memory + bytes_of(self, at) : NULL, size_of(self, i)};
        at += out[i].n;
    }
}

static void make_scatter(const struct maker *self) {
    const dt_comm_call *call = self->call;
    int64_t leaders[DT__MAX_RANKS], counts[DT__MAX_RANKS], root_node = 0, place = 0;
    dt__team_piece pieces[DT__MAX_RANKS];
    bool is_root = self->work->group->rank == call->root;
    if (self->choice.route == DT__ROUTE_RANKS) {
        all_pieces(self, is_root ? src_at(self, 0) : NULL, pieces);
        run_on(self, all_ranks(self),
               (dt__team_data){.value = {call->dst, own_size(self)}, .pieces = pieces, .root = call->root});
        return;
    }
    dt__team team = leaders_around(self, leaders, &root_node, &place);
    unsigned char *own = NULL, *all = is_root ? src_at(self, 0) : NULL;
    if (leaders[team.me] == self->work->group->rank) {
        if (is_root && !self->layout->in_blocks)
            pack(self, src_at(self, 0), all = scratch(self, total_size(self)), PACK_BY_NODE);
        node_pieces(self, all, pieces);
        own = is_root ? pieces[root_node].at : scratch(self, pieces[team.me].n);
        run_on(self, team, (dt__team_data){.value = {own, pieces[team.me].n}, .pieces = pieces, .root = root_node});
    }
    node_counts(self, self->layout->node, counts);
    dt__span_add_local(self->work, (dt_comm_call){.op = DT_SCATTER, .src = own, .dst = call->dst, .root = place},
                       counts, NULL);
}

static void make_gather(const struct maker *self) {
    const dt_comm_call *call = self->call;
    int64_t leaders[DT__MAX_RANKS], counts[DT__MAX_RANKS], root_node = 0, place = 0;
    dt__team_piece pieces[DT__MAX_RANKS];
    bool is_root = self->work->group->rank == call->root;
    if (self->choice.route == DT__ROUTE_RANKS) {
        all_pieces(self, is_root ? dst_at(self, 0) : NULL, pieces);
        run_on(self, all_ranks(self),
               (dt__team_data){.value = {src_at(self, 0), own_size(self)}, .pieces = pieces, .root = call->root});
        return;
    }
    dt__team team = leaders_around(self, leaders, &root_node, &place);
    bool is_leader = leaders[team.me] == self->work->group->rank;
    unsigned char *own = NULL, *all = NULL;
    if (is_root)
        all = self->layout->in_blocks ? dst_at(self, 0) : scratch(self, total_size(self));
    node_pieces(self, all, pieces);
    if (is_leader)
        own = is_root ? pieces[root_node].at : scratch(self, pieces[team.me].n);
    node_counts(self, self->layout->node, counts);
    dt__span_add_local(self->work, (dt_comm_call){.op = DT_GATHER, .src = call->src, .dst = own, .root = place},
                       counts, NULL);
    if (is_leader)
        run_on(self, team, (dt__team_data){.value = {own, pieces[team.me].n}, .pieces = pieces, .root = root_node});
    if (is_root && !self->layout->in_blocks)
        pack(self, dst_at(self, 0), all, UNPACK_BY_NODE);
}

static void all_gather_packed(const struct maker *self) {
    const dt__node_layout *layout = self->layout;
    int64_t counts[DT__MAX_RANKS];
    dt__team_piece pieces[DT__MAX_RANKS];
    unsigned char *lane = scratch(self, lane_size(self, layout->place)), *all = scratch(self, total_size(self));
    lane_pieces(self, lane, pieces);
    copy(self, pieces[layout->node].at, self->call->src, own_size(self));
    run_on(self, own_lane(self), (dt__team_data){.pieces = pieces});
    lane_counts(self, counts);
    dt__span_add_local(self->work, (dt_comm_call){.op = DT_ALL_GATHER, .src = lane, .dst = all}, counts, NULL);
    pack(self, dst_at(self, 0), all, UNPACK_BY_LANE);
}

/* The ranks of a node gather the blocks of one node after the other, in their places. */
static void all_gather_in_place(const struct maker *self) {
    const dt__node_layout *layout = self->layout;
    int64_t counts[DT__MAX_RANKS];
    dt__team_piece pieces[DT__MAX_RANKS];
    for (int64_t node = 0; node < layout->n_nodes; node++) {
        int64_t i = dt__node_member(layout, node, layout->place);
        unsigned char *at = node == layout->node ? src_at(self, 0) : dst_at(self, dt__block_at(self->call, i));
        pieces[node] = (dt__team_piece){at, size_of(self, i)};
    }
    run_on(self, own_lane(self), (dt__team_data){.pieces = pieces});
    for (int64_t node = 0; node < layout->n_nodes; node++) {
        int64_t first = dt__node_member(layout, node, 0);
        node_counts(self, node, counts);
        dt__span_add_local(self->work,
                           (dt_comm_call){.op = DT_ALL_GATHER,
                                          .src = pieces[node].at,
                                          .dst = dst_at(self, dt__block_at(self->call, first))},
                           counts, NULL);
    }
}

static void all_gather_by_leaders(const struct maker *self) {
    const dt__node_layout *layout = self->layout;
    int64_t counts[DT__MAX_RANKS], total = total_size(self);
    dt__team_piece pieces[DT__MAX_RANKS];
    unsigned char *all = layout->in_blocks ? dst_at(self, 0) : scratch(self, total);
    node_pieces(self, all, pieces);
    node_counts(self, layout->node, counts);
    dt__span_add_local(self->work,
                       (dt_comm_call){.op = DT_GATHER, .src = self->call->src, .dst = pieces[layout->node].at},
                       counts, NULL);
    if (layout->place == 0)
        run_on(self, own_lane(self), (dt__team_data){.pieces = pieces});
    dt__span_add_local(self->work, (dt_comm_call){.op = DT_BROADCAST, .src = all, .dst = all, .count = total}, NULL,
                       NULL);
    if (!layout->in_blocks)
        pack(self, dst_at(self, 0), all, UNPACK_BY_NODE);
}

static void make_all_gather(const struct maker *self) {
    dt__team_piece pieces[DT__MAX_RANKS];
    if (self->choice.route == DT__ROUTE_LEADERS) {
        all_gather_by_leaders(self);
    } else if (self->choice.route == DT__ROUTE_SHARES) {
        (is_packed(self) ? all_gather_packed : all_gather_in_place)(self);
    } else {
        dt__team_piece *own = &pieces[self->work->group->rank];
        all_pieces(self, dst_at(self, 0), pieces);
        unsigned char *place = own->at;
        own->at = src_at(self, 0);
        run_on(self, all_ranks(self), (dt__team_data){.pieces = pieces});
        copy(self, place, own->at, own->n);
    }
}

/* n ranks of each node carry a share, which is reduced in dst if peers can read it there and read nothing else. */
static void all_reduce_shares(const struct maker *self, int64_t n) {
    const dt__node_layout *layout = self->layout;
    const dt_comm_call *call = self->call;
    int64_t counts[DT__MAX_RANKS];
    struct dt__slice share = share_of(self, n, layout->place);
    unsigned char *own = dst_at(self, share.first);
    if (call->src == call->dst || !dt__heap_holds(&self->work->group->runtime->heap, own, bytes_of(self, share.n)))
        own = scratch(self, share.n);
    share_counts(self, n, counts);
    dt__span_add_local(
        self->work,
        (dt_comm_call){
            .op = DT_REDUCE_SCATTER, .reduce = dt__partial_reduce(self->work), .src = call->src, .dst = own},
        counts, NULL);
    if (layout->place < n)
        run_on(self, own_lane(self), (dt__team_data){.value = {own, share.n}});
    if (n == 1)
        dt__span_add_local(self->work,
                           (dt_comm_call){.op = DT_BROADCAST, .src = own, .dst = call->dst, .count = call->count},
                           NULL, NULL);
    else
        dt__span_add_local(self->work, (dt_comm_call){.op = DT_ALL_GATHER, .src = own, .dst = call->dst}, counts,
                           NULL);
}

static void make_all_reduce(const struct maker *self) {
    const dt_comm_call *call = self->call;
    dt__team_data data = {.value = {call->dst, call->count}};
    switch (self->choice.route) {
    case DT__ROUTE_LEADERS:
        all_reduce_shares(self, 1);
        break;
    case DT__ROUTE_SHARES:
        all_reduce_shares(self, self->layout->min_width);
        break;
    case DT__ROUTE_COPIES:
        dt__span_add_local(self->work,
                           (dt_comm_call){.op = DT_ALL_REDUCE,
                                          .reduce = dt__partial_reduce(self->work),
                                          .src = call->src,
                                          .dst = call->dst,
                                          .count = call->count},
                           NULL, NULL);
        run_on(self, own_lane(self), data);
        break;
    default:
        copy(self, call->dst, call->src, call->count);
        run_on(self, all_ranks(self), data);
    }
}

static void reduce_scatter_by_leaders(const struct maker *self) {
    const dt__node_layout *layout = self->layout;
    const dt_comm_call *call = self->call;
    int64_t counts[DT__MAX_RANKS], total = total_size(self);
    dt__team_piece pieces[DT__MAX_RANKS];
    bool is_leader = layout->place == 0;
    unsigned char *all = src_at(self, 0), *reduced = is_leader ? scratch(self, total) : NULL, *own = NULL;
    if (!layout->in_blocks)
        pack(self, src_at(self, 0), all = scratch(self, total), PACK_BY_NODE);
    for (int64_t place = 0; place < dt__node_width(layout, layout->node); place++)
        counts[place] = place ? 0 : total;
    dt__span_add_local(
        self->work,
        (dt_comm_call){.op = DT_REDUCE_SCATTER, .reduce = dt__partial_reduce(self->work), .src = all, .dst = reduced},
        counts, NULL);
    node_pieces(self, reduced, pieces);
    if (is_leader) {
        own = scratch(self, pieces[layout->node].n);
        run_on(self, own_lane(self), (dt__team_data){.value = {own, pieces[layout->node].n}, .pieces = pieces});
    }
    node_counts(self, layout->node, counts);
    dt__span_add_local(self->work, (dt_comm_call){.op = DT_SCATTER, .src = own, .dst = call->dst}, counts, NULL);
}

/* On the node, the ranks reduce the blocks of each lane; or those of one node after the other. */
static void reduce_scatter_shares(const struct maker *self) {
    const dt__node_layout *layout = self->layout;
    int64_t counts[DT__MAX_RANKS];
    dt__team_piece pieces[DT__MAX_RANKS];
    dt_comm_call local = {.op = DT_REDUCE_SCATTER, .reduce = dt__partial_reduce(self->work)};
    lane_pieces(self, scratch(self, lane_size(self, layout->place)), pieces);
    if (is_packed(self)) {
        unsigned char *packed = scratch(self, total_size(self));
        pack(self, src_at(self, 0), packed, PACK_BY_LANE);
        lane_counts(self, counts);
        local.src = packed;
        local.dst = pieces[0].at;
        dt__span_add_local(self->work, local, counts, NULL);
    }
    for (int64_t node = 0; !is_packed(self) && node < layout->n_nodes; node++) {
        node_counts(self, node, counts);
        local.src = src_at(self, dt__block_at(self->call, dt__node_member(layout, node, 0)));
        local.dst = pieces[node].at;
        dt__span_add_local(self->work, local, counts, NULL);
    }
    run_on(self, own_lane(self), (dt__team_data){.value = {self->call->dst, own_size(self)}, .pieces = pieces});
}

static void make_reduce_scatter(const struct maker *self) {
    dt__team_piece pieces[DT__MAX_RANKS];
    if (self->choice.route == DT__ROUTE_LEADERS) {
        reduce_scatter_by_leaders(self);
    } else if (self->choice.route == DT__ROUTE_SHARES) {
        reduce_scatter_shares(self);
    } else {
        all_pieces(self, src_at(self, 0), pieces);
        run_on(self, all_ranks(self), (dt__team_data){.value = {self->call->dst, own_size(self)}, .pieces = pieces});
    }
}

static int64_t received_size(const struct maker *self, int64_t i) {
    return self->call->recv_counts ? self->call->recv_counts[i] : self->call->count;
}

/* Blocks of equal size: on the node, each rank collects what its node has for the ranks with its place; then each of
 * those gets the blocks of all ranks of this node in one message. */
static void all_to_all_shares(const struct maker *self) {
    const dt__node_layout *layout = self->layout;
    int64_t width = layout->min_width, count = self->call->count, all = total_size(self);
    dt__team_piece pieces[DT__MAX_RANKS], received[DT__MAX_RANKS];
    unsigned char *packed = scratch(self, all), *collected = scratch(self, all);
    unsigned char *sent = scratch(self, all), *into = layout->in_blocks ? dst_at(self, 0) : scratch(self, all);
    pack(self, src_at(self, 0), packed, PACK_BY_LANE);
    dt__span_add_local(
        self->work,
        (dt_comm_call){.op = DT_ALL_TO_ALL, .src = packed, .dst = collected, .count = layout->n_nodes * count}, NULL,
        NULL);
    for (int64_t node = 0; node < layout->n_nodes; node++)
        for (int64_t place = 0; place < width; place++)
            copy(self, sent + bytes_of(self, (node * width + place) * count),
                 collected + bytes_of(self, (place * layout->n_nodes + node) * count), count);
    for (int64_t node = 0; node < layout->n_nodes; node++) {
        size_t at = bytes_of(self, node * width * count);
        pieces[node] = (dt__team_piece){sent + at, width * count};
        received[node] = (dt__team_piece){into + at, width * count};
    }
    run_on(self, own_lane(self), (dt__team_data){.pieces = pieces, .received = received});
    if (!layout->in_blocks)
        pack(self, dst_at(self, 0), into, UNPACK_BY_NODE);
}

/* The blocks of this node in memory of their own, unless they are consecutive. */
static void all_to_all_on_node(const struct maker *self, const dt__team_piece *pieces,
                               const dt__team_piece *received) {
    const dt__node_layout *layout = self->layout;
    int64_t width = dt__node_width(layout, layout->node), n_sent = 0, n_received = 0;
    int64_t counts[DT__MAX_RANKS], recv_counts[DT__MAX_RANKS];
    for (int64_t place = 0; place < width; place++) {
        int64_t i = dt__node_member(layout, layout->node, place);
        n_sent += counts[place] = pieces[i].n;
        n_received += recv_counts[place] = received[i].n;
    }
    int64_t first = dt__node_member(layout, layout->node, 0);
    bool packs = !layout->in_blocks;
    unsigned char *src = packs ? scratch(self, n_sent) : pieces[first].at;
    unsigned char *dst = packs ? scratch(self, n_received) : received[first].at, *at = src;
    for (int64_t place = 0; packs && place < width; place++) {
        dt__team_piece piece = pieces[dt__node_member(layout, layout->node, place)];
        copy(self, at, piece.at, piece.n);
        at += bytes_of(self, piece.n);
    }
    bool equal = !self->call->counts;
    (packs ? dt__span_add_local : dt__span_add_local_beside)(
        self->work,
        (dt_comm_call){.op = DT_ALL_TO_ALL, .src = src, .dst = dst, .count = equal ? self->call->count : 0},
        equal ? NULL : counts, equal ? NULL : recv_counts);
    at = dst;
    for (int64_t place = 0; packs && place < width; place++) {
        dt__team_piece piece = received[dt__node_member(layout, layout->node, place)];
        copy(self, piece.at, at, piece.n);
        at += bytes_of(self, piece.n);
    }
}

static void choose(struct maker *self);

/* In place, the sent data is copied first, because the received data overwrites it. Only the two ranks of a block
 * compare its size if sizes are unequal: a barrier at the end lets the others detect a difference. */
static void make_all_to_all(const struct maker *self) {
    const dt_comm_call *call = self->call;
    int64_t n = self->work->group->n_ranks, sent_at = 0, received_at = 0;
    dt__team_piece pieces[DT__MAX_RANKS], received[DT__MAX_RANKS];
    bool left_out[DT__MAX_RANKS];
    unsigned char *src = src_at(self, 0);
    if (self->choice.route == DT__ROUTE_SHARES) {
        all_to_all_shares(self);
        return;
    }
    if (call->src == call->dst)
        copy(self, src = scratch(self, total_size(self)), call->src, total_size(self));
    for (int64_t i = 0; i < n; i++) {
        pieces[i] = (dt__team_piece){src + bytes_of(self, sent_at), size_of(self, i)};
        received[i] = (dt__team_piece){dst_at(self, received_at), received_size(self, i)};
        sent_at += pieces[i].n;
        received_at += received[i].n;
    }
    bool direct = self->choice.route == DT__ROUTE_DIRECT;
    if (direct)
        leave_out_node(self, left_out);
    run_on(self, all_ranks(self),
           (dt__team_data){.pieces = pieces, .received = received, .left_out = direct ? left_out : NULL});
    if (direct)
        all_to_all_on_node(self, pieces, received);
    if (!call->counts)
        return;
    struct maker barrier = *self;
    barrier.op = DT__WORK_BARRIER;
    choose(&barrier);
    make_barrier(&barrier);
}

static void make_send(const struct maker *self) {
    dt__span_add_stage(self->work);
    dt__span_send(self->work, self->call->root, self->call->src, bytes_of(self, self->call->count));
}

static void make_recv(const struct maker *self) {
    dt__span_add_stage(self->work);
    dt__span_receive(self->work, self->call->root, self->call->dst, bytes_of(self, self->call->count));
}

/* Every rank computes the same value: blocks that only two ranks of an all_to_all have are taken to be large. */
static double choice_bytes(const struct maker *self) {
    const dt__op_shape *shape = &dt__op_shapes[self->op];
    if (self->op == DT__WORK_ALL_TO_ALL && self->call->counts)
        return 1e9;
    bool blocks = shape->src == DT__ALL_BLOCKS || shape->dst == DT__ALL_BLOCKS;
    return (double)bytes_of(self, blocks ? total_size(self) : self->call->count);
}

static bool is_same(const dt__algorithm_request *a, const dt__algorithm_request *b) {
    return a->n_ranks == b->n_ranks && a->bytes == b->bytes && a->in_order == b->in_order &&
           a->has_pair_counts == b->has_pair_counts;
}

/* Sums of integers that are averaged may wrap around on a node. */
static bool is_in_order(const struct maker *self) {
    dt_reduce reduce = self->call->reduce;
    dt_dtype dtype = self->call->dtype;
    return dt__op_shapes[self->op].reduces &&
           ((reduce == DT_PRODUCT && dt__is_complex(dtype)) || (reduce == DT_AVG && dt__is_integral(dtype)));
}

/* A loop makes the same call again and again: the last choice is kept. */
static void choose(struct maker *self) {
    const dt__runtime *runtime = self->work->group->runtime;
    dt__node_layout *layout = self->work->group->layout;
    struct dt__last_choice *last = &layout->last[self->op];
    dt__algorithm_request request = {
        .op = self->op,
        .n_ranks = layout->n_members,
        .n_nodes = layout->n_nodes,
        .min_width = layout->min_width,
        .max_width = layout->max_width,
        .bytes = choice_bytes(self),
        .in_order = is_in_order(self),
        .has_pair_counts = self->op == DT__WORK_ALL_TO_ALL && self->call->counts,
    };
    if (!is_same(&last->request, &request)) {
        last->choice = dt__choose_algorithm(runtime->ctx->machine, &request, &dt__mpi_of(runtime)->forced);
        last->request = request;
    }
    self->choice = last->choice;
}

static dt__node_layout *layout_of(dt_group *group) {
    dt__runtime *runtime = group->runtime;
    size_t bytes = (size_t)group->n_ranks * sizeof(int32_t);
    if (group->layout)
        return group->layout;
    int32_t *nodes = dt__alloc(runtime->ctx, bytes);
    for (int64_t i = 0; nodes && i < group->n_ranks; i++)
        nodes[i] = runtime->node_of[dt__group_member(group, i)];
    if (nodes)
        group->layout = dt__node_layout_new(runtime->ctx, nodes, group->n_ranks, group->rank);
    dt__free(runtime->ctx, nodes, bytes);
    return group->layout;
}

dt_status dt__span_schedule(dt_work *work) {
    static void (*const makers[DT__N_WORK_OPS])(const struct maker *) = {
        [DT_BARRIER] = make_barrier,
        [DT_BROADCAST] = make_broadcast,
        [DT_SCATTER] = make_scatter,
        [DT_GATHER] = make_gather,
        [DT_ALL_GATHER] = make_all_gather,
        [DT_ALL_REDUCE] = make_all_reduce,
        [DT_REDUCE_SCATTER] = make_reduce_scatter,
        [DT_ALL_TO_ALL] = make_all_to_all,
        [DT_SEND] = make_send,
        [DT_RECV] = make_recv,
        [DT__WORK_EXCHANGE] = make_barrier,
    };
    struct maker self = {.work = work, .call = &work->call, .op = work->op};
    if (self.op == DT__WORK_EXCHANGE)
        self.op = DT__WORK_BARRIER;
    if (!dt__op_shapes[work->op].pair) {
        self.layout = layout_of(work->group);
        if (!self.layout)
            return DT_ERR_MEMORY;
        choose(&self);
    }
    makers[work->op](&self);
    return work->span->out_of_memory ? DT_ERR_MEMORY : DT_OK;
}
