/* SPDX-License-Identifier: Apache-2.0
 *
 * Decides which collective carries a move, and makes its messages from the pull lists of the ranks that take part.
 */
#include "move/carried_move.h"

#include "base/size.h"

#include <string.h>

/* A carried move while it is made. */
typedef struct builder {
    dt__arena *arena, *scratch;
    const dt__pull_request *request;
    const dt__machine *machine;
    dt__carried_move *out;
    dt__messages_builder messages;
    int64_t own; /* this rank's number among those that take part */
} builder;

/* The pull list of a member, in the scratch arena. */
static dt_status pull_list_of(builder *self, int64_t member, bool one_phase, dt__pull_list *out) {
    dt__pull_request request = *self->request;
    request.rank = request.ranks[member];
    request.one_phase = one_phase;
    return dt__pull_list_new(self->scratch, &request, out);
}

/* What every mesh dim that changes has in common. */
typedef struct common_change {
    bool to_replicate, to_cut, partial, cut;
} common_change;

static common_change find_common_change(const dt__pull_request *request) {
    const dt__sharding *from = &request->from->sharding, *to = &request->to->sharding;
    common_change all = {true, true, true, true};
    for (int m = 0; m < from->n_mesh_dims; m++) {
        if (!request->changes[m] || from->mesh[m] == 1)
            continue;
        all.to_replicate = all.to_replicate && dt_placement_is_replicate(to->placements[m]);
        all.to_cut = all.to_cut && dt__is_cut(&to->placements[m]);
        all.partial = all.partial && dt_placement_is_partial(from->placements[m]);
        all.cut = all.cut && dt__is_cut(&from->placements[m]);
    }
    return all;
}

/* The divisor of an average must be the size of the group, or the collective computes something else. */
static bool can_reduce(const builder *self, const dt__pull_list *own) {
    return own->n_sources == self->request->n_ranks && dt_reduce_allowed(self->request->to->dtype, own->reduce) &&
           (own->reduce != DT_AVG || own->divisor == self->request->n_ranks);
}

/* The whole of a dense shard as one block. */
static dt_status whole_block(builder *self, const dt_local *local, dt__block *out) {
    int n_dims = local->n_dims;
    const dt__piece **pieces = DT__NEW_ARRAY(self->scratch, const dt__piece *, n_dims + 1);
    dt__piece *list = DT__NEW_ARRAY(self->scratch, dt__piece, n_dims + 1);
    int64_t *n_pieces = DT__NEW_ARRAY(self->scratch, int64_t, n_dims + 1);
    if (!pieces || !list || !n_pieces)
        return DT_ERR_MEMORY;
    for (int d = 0; d < n_dims; d++) {
        list[d] = (dt__piece){.size = local->shape[d], .n = 1};
        pieces[d] = &list[d];
        n_pieces[d] = 1;
    }
    *out = (dt__block){.elements = local->elements, .pieces = pieces, .n_pieces = n_pieces};
    return DT_OK;
}

/* One message that is a whole shard, in the order of these strides. */
static dt_status add_whole(builder *self, dt__message_side *side, const dt_local *local, const int64_t *packed) {
    dt__block whole;
    side->is_one = true;
    side->bytes[0] = local->bytes;
    if (!local->elements)
        return DT_OK;
    DT__TRY(whole_block(self, local, &whole));
    return dt__messages_add(&self->messages, side, self->own, &whole, packed);
}

static dt_status make_all_reduce(builder *self) {
    const dt_spec *from = self->request->from, *to = self->request->to;
    DT__TRY(add_whole(self, &self->out->messages.sent, &from->local, to->local.strides));
    return add_whole(self, &self->out->messages.received, &to->local, to->local.strides);
}

/* Each member's target shard, as this rank holds it. */
static dt_status make_reduce_scatter(builder *self) {
    const dt_spec *to = self->request->to;
    dt__message_side *sent = &self->out->messages.sent;
    for (int64_t i = 0; i < self->request->n_ranks; i++) {
        dt__arena_mark mark = dt__arena_begin(self->scratch);
        dt__pull_list pulls;
        dt_local local;
        DT__TRY(pull_list_of(self, i, true, &pulls));
        dt_spec_local_of(to, self->request->ranks[i], &local);
        sent->bytes[i] = local.bytes;
        for (int64_t b = 0; b < pulls.n_blocks; b++)
            DT__TRY(dt__messages_add(&self->messages, sent, i, &pulls.blocks[b], local.strides));
        dt__arena_rewind(self->scratch, mark);
    }
    return add_whole(self, &self->out->messages.received, &to->local, to->local.strides);
}

/* Every member's whole shard, and what this rank needs from it. */
static dt_status make_all_gather(builder *self, const dt__pull_list *own) {
    const dt_spec *from = self->request->from;
    dt__message_side *received = &self->out->messages.received;
    dt_local local;
    for (int64_t i = 0; i < self->request->n_ranks; i++) {
        dt_spec_local_of(from, self->request->ranks[i], &local);
        received->bytes[i] = local.bytes;
    }
    for (int64_t b = 0; b < own->n_blocks; b++) {
        const dt__block *block = &own->blocks[b];
        DT__TRY(dt__messages_add(&self->messages, received, block->members[0], block, block->strides));
    }
    return add_whole(self, &self->out->messages.sent, &from->local, from->local.strides);
}

/* The bytes that enter a node, for the node with the longest transfer. */
typedef struct crossing {
    double packed; /* just what its ranks lack */
    double whole;  /* every shard of the other nodes, once */
} crossing;

/* The number of the first member on the node of each member. */
static int64_t *find_nodes(const builder *self) {
    const dt__pull_request *request = self->request;
    const dt_ctx *ctx = request->from->ctx;
    int64_t *nodes = DT__NEW_ARRAY(self->scratch, int64_t, request->n_ranks);
    for (int64_t i = 0; nodes && i < request->n_ranks; i++) {
        int64_t node = dt__node_of(ctx, request->ranks[i]), first = 0;
        while (dt__node_of(ctx, request->ranks[first]) != node)
            first++;
        nodes[i] = first;
    }
    return nodes;
}

/* Makes the messages of an all_to_all, and counts what crosses. */
static dt_status make_all_to_all(builder *self, crossing *out) {
    const dt__pull_request *request = self->request;
    int64_t n = request->n_ranks, item = (int64_t)dt_dtype_size(request->to->dtype);
    int64_t *nodes = find_nodes(self);
    double *packed = DT__NEW_ARRAY(self->scratch, double, n), *whole = DT__NEW_ARRAY(self->scratch, double, n);
    double total = 0;
    if (!nodes || !packed || !whole)
        return DT_ERR_MEMORY;
    for (int64_t i = 0; i < n; i++) {
        dt__arena_mark mark = dt__arena_begin(self->scratch);
        dt__pull_list pulls;
        dt_local local;
        DT__TRY(pull_list_of(self, i, true, &pulls));
        for (int64_t b = 0; b < pulls.n_blocks; b++) {
            const dt__block *block = &pulls.blocks[b];
            DT__TRY(dt__messages_visit(&self->messages, i, pulls.n_sources, block));
            for (int s = 0; s < pulls.n_sources; s++)
                packed[nodes[i]] += nodes[block->members[s]] != nodes[i] ? (double)(block->elements * item) : 0;
        }
        dt__arena_rewind(self->scratch, mark);
        dt_spec_local_of(request->from, request->ranks[i], &local);
        whole[nodes[i]] += (double)local.bytes;
        total += (double)local.bytes;
    }
    *out = (crossing){0, 0};
    for (int64_t i = 0; i < n; i++) {
        out->packed = packed[i] > out->packed ? packed[i] : out->packed;
        if (nodes[i] == i && total - whole[i] > out->whole)
            out->whole = total - whole[i];
    }
    return DT_OK;
}

/* Whether it takes less time, by the model, to bring every shard to every node once than to bring each rank what it
 * lacks. An all_gather also writes all of it on every rank. */
static bool gathers(const builder *self, const crossing *bytes, int n_sources) {
    const dt_spec *from = self->request->from, *to = self->request->to;
    double all = (double)from->max_bytes * (double)self->request->n_ranks;
    double link = self->machine->between.bytes_per_us, copy = self->machine->copy_bytes_per_us;
    return n_sources == 1 && bytes->whole / link + all / copy <= bytes->packed / link + (double)to->max_bytes / copy;
}

static dt_status restart(builder *self) {
    dt__messages *messages = &self->out->messages;
    *messages = (dt__messages){.n_dims = messages->n_dims,
                               .n_members = messages->n_members,
                               .own = messages->own,
                               .item_bytes = messages->item_bytes,
                               .received_bytes = messages->received_bytes};
    return dt__messages_begin(&self->messages);
}

static dt_status make_without_reduction(builder *self, const dt__pull_list *own) {
    crossing bytes = {0, 0};
    self->out->op = DT_ALL_TO_ALL;
    DT__TRY(make_all_to_all(self, &bytes));
    if (!gathers(self, &bytes, own->n_sources))
        return DT_OK;
    self->out->op = DT_ALL_GATHER;
    DT__TRY(restart(self));
    return make_all_gather(self, own);
}

static dt_status make(builder *self, const dt__pull_list *own) {
    common_change all = find_common_change(self->request);
    bool reduces = self->request->same_mesh && all.partial && own->n_sources > 1 && can_reduce(self, own);
    if (reduces && all.to_replicate) {
        self->out->op = DT_ALL_REDUCE;
        return make_all_reduce(self);
    }
    if (reduces && all.to_cut) {
        self->out->op = DT_REDUCE_SCATTER;
        return make_reduce_scatter(self);
    }
    return make_without_reduction(self, own);
}

/* The reads of a direct exchange, in one phase or two. */
static int64_t count_received(const builder *self, const dt__pull_list *pulls) {
    int64_t elements = 0;
    for (int64_t b = 0; b < pulls->n_blocks; b++)
        for (int i = 0; i < pulls->n_sources; i++)
            elements += pulls->blocks[b].members[i] != self->own ? pulls->blocks[b].elements : 0;
    for (int64_t i = 0; i < pulls->n_portions; i++)
        elements += pulls->portion_blocks[i].elements;
    return elements * self->out->messages.item_bytes;
}

static dt_status fill(builder *self) {
    const dt__pull_request *request = self->request;
    const dt_spec *from = request->from, *to = request->to;
    dt__carried_move *out = self->out;
    dt__pull_list own, as_read;
    while (request->ranks[self->own] != request->rank)
        self->own++;
    *out = (dt__carried_move){.messages = {.n_dims = from->sharding.n_dims,
                                           .n_members = request->n_ranks,
                                           .own = self->own,
                                           .item_bytes = (int64_t)dt_dtype_size(to->dtype)}};
    self->messages = (dt__messages_builder){.arena = self->arena, .order = to->stride_order, .out = &out->messages};
    DT__TRY(dt__messages_begin(&self->messages));
    DT__TRY(pull_list_of(self, self->own, true, &own));
    DT__TRY(pull_list_of(self, self->own, false, &as_read));
    out->reduce = own.reduce;
    out->divisor = own.divisor;
    DT__TRY(make(self, &own));
    out->messages.received_bytes = count_received(self, &as_read);
    return dt__messages_end(&self->messages, &(dt__messages_memory){.src_strides = from->local.strides,
                                                                    .dst_strides = to->local.strides,
                                                                    .n_threads = from->ctx->threads});
}

dt_status dt__carried_move_new(dt__arena *arena, const dt__pull_request *request, const dt__machine *machine,
                               dt__carried_move *out) {
    dt__arena scratch = dt__arena_new(arena->ctx);
    dt_status status =
        fill(&(builder){.arena = arena, .scratch = &scratch, .request = request, .machine = machine, .out = out});
    dt__arena_free(&scratch);
    return status;
}
