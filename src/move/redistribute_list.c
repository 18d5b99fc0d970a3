/* SPDX-License-Identifier: Apache-2.0
 *
 * dt_redistribute_list: the tensors of a list that are on one mesh move in one exchange, between the ranks along all
 * mesh dims that any of the moves takes. Every rank publishes one address and a table of distances and strides, and
 * pulls for each tensor what it would pull in an exchange of its own. On a mesh that spans nodes, one collective
 * carries the moves of a kind over the same mesh dims. Which moves are joined follows from the specs and the nodes of
 * the ranks alone, so that all ranks of a mesh agree.
 */
#include "move/execution.h"

#include "base/options.h"
#include "mesh/mesh.h"
#include "move/staged_source.h"

#include <stdlib.h>
#include <string.h>

static const dt__exchange_call list_call = {.name = "redistribute_list"};

/* Results of a mesh that have more together may overwrite their sources; fewer are not worth a second phase. */
enum { OVERWRITE_FROM_BYTES = 1 << 20 };

/* A move of the list. */
typedef struct listed {
    const dt__redistribution *request;
    dt__execution execution;
    dt__listed_move place;
    int64_t received; /* bytes */
    bool is_done;
} listed;

/* Moves of one mesh, in one exchange. */
typedef struct joined_moves {
    dt__executor *executor;
    dt__arena *arena;
    int n;
    listed **moves;
    dt__pull_request ranks; /* that take part */
    int n_words;
    int64_t *words;
    const char *base; /* the address that is published */
    char *staging;    /* of all sources outside the heap, or NULL */
    bool two_phases;
    dt_group *group;
    dt__exchange exchange;
} joined_moves;

/* Whether a move is joined with others of its mesh; the same on all its ranks. */
static bool can_join(const dt__prepared_move *prepared) {
    return dt__mesh_same(prepared->pair.from->mesh, prepared->pair.to->mesh) && !prepared->n_stops &&
           dt__step_counts_communicate(&prepared->counts);
}

/* Both steps of the exchange: each move's own. A move whose group is NULL reads nothing from others here. */
static dt_status pull(joined_moves *self, dt_work *work, dt__exchange_step *step, bool second) {
    for (int i = 0; i < self->n; i++) {
        listed *move = self->moves[i];
        const dt__prepared_move *prepared = move->execution.prepared;
        int64_t before = self->executor->stats.bytes_received;
        if (second && (!prepared->group || !prepared->pulls.two_phases))
            continue;
        DT__TRY(step(prepared->group ? work : NULL, &move->execution));
        move->received += self->executor->stats.bytes_received - before;
    }
    return DT_OK;
}

/* The rounds of a move, which are the same on all ranks, whether it has a group here or not. */
static int64_t rounds_of(const listed *move) {
    return dt__staged_rounds(move->execution.from, move->execution.executor->staged_bytes);
}

/* The moves have their rounds one after the other: the one that has this round, and its own number of it. */
static listed *move_of_round(const joined_moves *self, int64_t *round) {
    for (int i = 0; i < self->n; i++) {
        int64_t n = rounds_of(self->moves[i]);
        if (*round < n)
            return self->moves[i];
        *round -= n;
    }
    return NULL;
}

static int64_t count_rounds(void *user) {
    const joined_moves *self = user;
    int64_t n = 0;
    for (int i = 0; i < self->n; i++)
        n += rounds_of(self->moves[i]);
    return n;
}

static void fill_staging(int64_t round, void *user) {
    listed *move = move_of_round(user, &round);
    if (move)
        dt__execution_fill(&move->execution, round);
}

static dt_status pull_round(joined_moves *self, dt_work *work, int64_t round) {
    listed *move = move_of_round(self, &round);
    int64_t before = self->executor->stats.bytes_received;
    if (!move)
        return DT_OK;
    if (move->execution.prepared->group)
        DT__TRY(dt__execution_pull_round(work, &move->execution, round));
    else if (round == 0)
        DT__TRY(dt__execution_pull_blocks(NULL, &move->execution));
    move->received += self->executor->stats.bytes_received - before;
    return DT_OK;
}

static dt_status pull_all_blocks(dt_work *work, void *user) {
    const int64_t round = dt__exchange_round(work);
    return round >= 0 ? pull_round(user, work, round) : pull(user, work, dt__execution_pull_blocks, false);
}

static dt_status pull_all_portions(dt_work *work, void *user) {
    return pull(user, work, dt__execution_pull_portions, true);
}

/* The ranks along all mesh dims that take part. */
static dt_status find_ranks(joined_moves *self) {
    const dt__spec_pair *first = &self->moves[0]->execution.prepared->pair;
    self->ranks = (dt__pull_request){
        .from = first->from, .to = first->to, .same_mesh = true, .rank = self->executor->ctx->rank};
    for (int i = 0; i < self->n; i++)
        for (int m = 0; m < first->from->sharding.n_mesh_dims; m++)
            self->ranks.changes[m] |= self->moves[i]->execution.prepared->changes[m];
    return dt__pull_list_ranks(self->arena, &self->ranks);
}

/* The group of the last list is kept, because lists are mostly moved again. */
static dt_status find_group(joined_moves *self) {
    dt__executor *executor = self->executor;
    dt_group *last = executor->list_group;
    bool same = last && !dt__group_is_stale(last) && dt_group_size(last) == self->ranks.n_ranks;
    for (int64_t i = 0; i < self->ranks.n_ranks && same; i++)
        same = dt_group_world_rank(last, i) == self->ranks.ranks[i];
    if (!same) {
        dt_group *group = dt__group_new_for(executor->ctx, self->ranks.ranks, self->ranks.n_ranks, 0);
        if (!group)
            return dt_error_status(executor->ctx);
        dt_group_release(last);
        executor->list_group = group;
    }
    self->group = executor->list_group;
    return DT_OK;
}

static int by_rank(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* The numbers of a group's members in the joined group. Members mostly follow each other in both. */
static dt_status find_members(joined_moves *self, const dt_group *own, int64_t *members) {
    const int64_t *ranks = self->ranks.ranks, n_ranks = self->ranks.n_ranks;
    int64_t n = own ? dt_group_size(own) : 0, next = 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t rank = dt_group_world_rank(own, i);
        if (next >= n_ranks || ranks[next] != rank) {
            const int64_t *found = bsearch(&rank, ranks, (size_t)n_ranks, sizeof rank, by_rank);
            if (!found)
                return dt__fail(
                    self->executor->ctx, DT_ERR_INTERNAL,
                    "redistribute_list: rank %lld takes part in a move, but is not in the group of the list",
                    (long long)rank);
            next = found - ranks;
        }
        members[i] = next++;
    }
    return DT_OK;
}

/* The place of a move in the list. Moves with one group, as those of most lists, have their members in common. */
static dt_status find_place(joined_moves *self, int i) {
    listed *move = self->moves[i];
    const dt_group *own = move->execution.prepared->group;
    const listed *before = i > 0 ? self->moves[i - 1] : NULL;
    const bool is_alike = before && before->execution.prepared->group == own;
    const int64_t *members = is_alike ? before->place.members : NULL;
    if (!members) {
        int64_t *found = DT__NEW_ARRAY(self->arena, int64_t, (own ? dt_group_size(own) : 0) + 1);
        if (!found)
            return DT_ERR_MEMORY;
        DT__TRY(find_members(self, own, found));
        members = found;
    }
    move->place = (dt__listed_move){.members = members, .at = self->n_words};
    move->execution.listed = &move->place;
    self->n_words += DT__LISTED_STRIDES + move->execution.from->local.n_dims;
    return DT_OK;
}

/* The distance of an address from the one that is published, which is the first of all. */
static int64_t distance_to(joined_moves *self, const char *at) {
    if (!self->base)
        self->base = at;
    return at - self->base;
}

/* Writes the words of a move, after its memory was made readable. */
static dt_status publish(joined_moves *self, listed *move) {
    dt__execution *execution = &move->execution;
    bool dense;
    move->place.n_words = self->n_words;
    self->two_phases |= execution->prepared->pulls.two_phases;
    DT__TRY(dt__execution_check_memory(execution));
    if (!dt__transport_has_data(self->executor->ctx))
        return DT_OK;
    DT__TRY(dt__execution_publish(execution, &self->staging, &dense));
    int64_t *words = self->words + move->place.at;
    words[DT__LISTED_STAGED] = execution->staging != NULL;
    if (execution->from->local.elements) {
        words[DT__LISTED_SRC] = distance_to(self, execution->staging ? execution->staging : execution->src.at);
        for (int d = 0; d < execution->from->local.n_dims; d++)
            words[DT__LISTED_STRIDES + d] = execution->src.strides[d];
    }
    if (execution->prepared->pulls.two_phases && execution->to->local.elements)
        words[DT__LISTED_DST] = distance_to(self, execution->dst);
    return DT_OK;
}

/* All ranks of the mesh join their moves, each with the ranks along the mesh dims of any of them. */
static uint64_t mesh_dims_met(const joined_moves *self) {
    uint64_t mesh_dims = 0;
    for (int m = 0; m < self->ranks.from->sharding.n_mesh_dims; m++)
        mesh_dims |= (uint64_t)self->ranks.changes[m] << m;
    return dt__dims_met(dt__mesh_history(self->ranks.from->mesh), mesh_dims);
}

static dt_status exchange(joined_moves *self) {
    const dt_spec *first = self->moves[0]->execution.from;
    dt__history *history = dt__mesh_history(first->mesh);
    uint64_t tag = dt__hash_u64((uint64_t)self->n, 11);
    int64_t elements = 0;
    for (int i = 0; i < self->n; i++) {
        tag = dt__hash_u64(self->moves[i]->execution.prepared->tag, tag);
        elements += self->moves[i]->execution.to->elements;
    }
    self->exchange = (dt__exchange){.call = &list_call,
                                    .tag = tag,
                                    .histories = {history},
                                    .n_histories = history ? 1 : 0,
                                    .mesh_dims = mesh_dims_met(self),
                                    .dtype = first->dtype,
                                    .count = elements,
                                    .src = self->base,
                                    .src_bytes = self->base ? 1 : 0,
                                    .src_strides = self->words,
                                    .n_strides = self->n_words,
                                    .steps = {pull_all_blocks, self->two_phases ? pull_all_portions : NULL},
                                    .fill = self->staging ? fill_staging : NULL,
                                    .n_rounds = count_rounds,
                                    .user = self};
    return dt__exchange_run(self->group, &self->exchange);
}

static dt_status run_joined(joined_moves *self) {
    DT__TRY(find_ranks(self));
    DT__TRY(find_group(self));
    for (int i = 0; i < self->n; i++)
        DT__TRY(find_place(self, i));
    if (!(self->words = DT__NEW_ARRAY(self->arena, int64_t, self->n_words)))
        return DT_ERR_MEMORY;
    dt_status status = DT_OK;
    for (int i = 0; i < self->n && status == DT_OK; i++)
        status = publish(self, self->moves[i]);
    if (status == DT_OK)
        status = exchange(self);
    (void)dt_heap_free(self->executor->ctx, self->staging);
    self->executor->stats.n_exchanges += status == DT_OK;
    return status;
}

/* Whether one collective can carry both. */
static bool is_same_collective(const dt__execution *a, const dt__execution *b) {
    const dt__carried_move *x = a->prepared->carried, *y = b->prepared->carried;
    bool reduces = x->op == DT_ALL_REDUCE || x->op == DT_REDUCE_SCATTER;
    return x->op == y->op && (!reduces || (x->reduce == y->reduce && a->to->dtype == b->to->dtype));
}

/* Among groups along some mesh dims, those whose ranks need nothing from each other take part in no collective. */
static bool covers_mesh(const joined_moves *self) { return mesh_dims_met(self) == DT__ALL_MESH_DIMS; }

/* The exchange that a collective replaces: only what members compare is used. */
static dt__exchange describe_carried(const joined_moves *self, int n, listed *const *moves) {
    dt__history *history = dt__mesh_history(moves[0]->execution.from->mesh);
    uint64_t tag = dt__hash_u64((uint64_t)n, 13);
    for (int i = 0; i < n; i++)
        tag = dt__hash_u64(moves[i]->execution.prepared->tag, tag);
    return (dt__exchange){.call = &list_call,
                          .tag = tag,
                          .histories = {history},
                          .n_histories = history ? 1 : 0,
                          .mesh_dims = covers_mesh(self) ? DT__ALL_MESH_DIMS : 0};
}

/* Moves that one collective carries. */
static dt_status carry(joined_moves *self, int n, listed *const *moves) {
    dt__message_part *parts = DT__NEW_ARRAY(self->arena, dt__message_part, n);
    const dt__carried_move *first = moves[0]->execution.prepared->carried;
    dt__exchange exchange = describe_carried(self, n, moves);
    if (!parts)
        return DT_ERR_MEMORY;
    for (int i = 0; i < n; i++) {
        DT__TRY(dt__execution_check_memory(&moves[i]->execution));
        parts[i] = dt__execution_part(&moves[i]->execution);
    }
    dt__message_transfer transfer = {.ctx = self->executor->ctx,
                                     .n = n,
                                     .parts = parts,
                                     .n_members = first->messages.n_members,
                                     .op = first->op,
                                     .reduce = first->reduce};
    DT__TRY(dt__transfer_begin(&transfer));
    DT__TRY(dt__transfer_end(&transfer, dt__carry_run(self->group, &exchange, &transfer.call)));
    for (int i = 0; i < n; i++) {
        moves[i]->received = parts[i].messages->received_bytes;
        self->executor->stats.bytes_received += moves[i]->received;
    }
    self->executor->stats.n_exchanges++;
    return DT_OK;
}

/* Between nodes: one collective for all moves of a kind. */
static dt_status carry_all(joined_moves *self) {
    listed **alike = DT__NEW_ARRAY(self->arena, listed *, self->n);
    bool *done = DT__NEW_ARRAY(self->arena, bool, self->n);
    if (!alike || !done)
        return DT_ERR_MEMORY;
    for (int i = 0; i < self->n; i++) {
        dt__execution *execution = &self->moves[i]->execution;
        int n = 0;
        execution->listed = &self->moves[i]->place;
        if (!execution->prepared->carried) { /* no rank needs anything from another */
            DT__TRY(dt__execution_check_memory(execution));
            DT__TRY(dt__execution_run_locally(execution));
            continue;
        }
        for (int k = i; k < self->n; k++) {
            const dt__execution *other = &self->moves[k]->execution;
            if (done[k] || !other->prepared->carried || !is_same_collective(execution, other))
                continue;
            done[k] = true;
            alike[n++] = self->moves[k];
        }
        if (n)
            DT__TRY(carry(self, n, alike));
    }
    return DT_OK;
}

/* Whether a group along the mesh dims of any of the moves spans nodes, anywhere in the mesh. */
static bool spans_nodes(const joined_moves *self) {
    int64_t nodes[DT_SPEC_MAX_DIMS];
    const dt_mesh *mesh = self->moves[0]->execution.from->mesh;
    if (!dt__mesh_nodes(mesh, nodes))
        return false;
    for (int i = 0; i < self->n; i++)
        for (int m = 0; m < dt_mesh_n_dims(mesh); m++)
            if (nodes[m] > 1 && self->moves[i]->execution.prepared->changes[m])
                return true;
    return false;
}

static bool has_same_dims(const joined_moves *self, int i, int k) {
    return !memcmp(self->moves[i]->execution.prepared->changes, self->moves[k]->execution.prepared->changes,
                   sizeof self->moves[i]->execution.prepared->changes);
}

/* The moves over the same mesh dims as move i, which have one group; none if one before it is among them. */
static dt_status select_alike(const joined_moves *self, int i, joined_moves *out) {
    *out = (joined_moves){.executor = self->executor, .arena = self->arena};
    for (int k = 0; k < i; k++)
        if (has_same_dims(self, i, k))
            return DT_OK;
    if (!(out->moves = DT__NEW_ARRAY(self->arena, listed *, self->n)))
        return DT_ERR_MEMORY;
    for (int k = i; k < self->n; k++)
        if (has_same_dims(self, i, k))
            out->moves[out->n++] = self->moves[k];
    return DT_OK;
}

/* On a mesh that spans nodes, moves are joined that have the same group; in this order on all ranks of the mesh,
 * whether a group itself is on one node or not. */
static dt_status run_by_groups(joined_moves *self) {
    for (int i = 0; i < self->n; i++) {
        joined_moves alike;
        DT__TRY(select_alike(self, i, &alike));
        if (!alike.n)
            continue;
        DT__TRY(find_ranks(&alike));
        DT__TRY(find_group(&alike));
        DT__TRY(dt__group_spans_nodes(alike.group) ? carry_all(&alike) : run_joined(&alike));
    }
    return DT_OK;
}

/* The first move of the exchange that is the same collectives over the same mesh dims; they count once. */
static listed *counted_with(const joined_moves *self, int i) {
    const dt__prepared_move *own = self->moves[i]->execution.prepared;
    for (int k = 0; k < i; k++) {
        const dt__prepared_move *other = self->moves[k]->execution.prepared;
        if (!memcmp(&own->counts, &other->counts, sizeof own->counts) &&
            !memcmp(own->changes, other->changes, sizeof own->changes))
            return self->moves[k];
    }
    return self->moves[i];
}

static void count(joined_moves *self, dt__run_start start) {
    for (int i = 0; i < self->n; i++) {
        listed *move = self->moves[i], *first = counted_with(self, i);
        first->received += move != first ? move->received : 0;
    }
    for (int i = 0; i < self->n; i++) {
        const listed *move = self->moves[i];
        bool repeats = move != counted_with(self, i);
        start.bytes = self->executor->stats.bytes_received - (repeats ? 0 : move->received);
        dt__run_count(self->executor, move->execution.prepared, start, repeats);
        start.us =
            start.us > 0 ? dt__clock_us(self->executor->ctx) : 0; /* the first report has the time of the exchange */
    }
}

/* Runs the moves of one mesh to their end. */
static dt_status run_on_mesh(joined_moves *self) {
    dt__run_start start = dt__run_begin(self->executor);
    dt_status status = spans_nodes(self) ? run_by_groups(self) : run_joined(self);
    for (int i = 0; i < self->n; i++) {
        status = dt__execution_close(&self->moves[i]->execution, status);
        self->moves[i]->is_done = true;
    }
    if (status == DT_OK)
        count(self, start);
    return status;
}

/* Move i alone, or with all later ones that it is joined with. */
static dt_status run_from(dt__executor *executor, dt__arena *arena, int n, listed *moves, int i) {
    const dt__prepared_move *first = moves[i].execution.prepared;
    joined_moves joined = {.executor = executor, .arena = arena, .moves = DT__NEW_ARRAY(arena, listed *, n)};
    if (!joined.moves)
        return DT_ERR_MEMORY;
    for (int k = i; k < n && can_join(first); k++) {
        const dt__prepared_move *other = moves[k].execution.prepared;
        if (!moves[k].is_done && can_join(other) && dt__mesh_same(other->pair.from->mesh, first->pair.from->mesh))
            joined.moves[joined.n++] = &moves[k];
    }
    if (joined.n > 1 && first->takes_part)
        return run_on_mesh(&joined);
    (void)dt__execution_close(&moves[i].execution, DT_ERR_STATE); /* it runs in an exchange of its own */
    moves[i].is_done = true;
    return dt__redistribute_run(moves[i].request);
}

static dt_status run_list(dt__executor *executor, dt__arena *arena, int n, const dt__redistribution *requests) {
    listed *moves = DT__NEW_ARRAY(arena, listed, n + 1);
    dt_status status = moves ? DT_OK : DT_ERR_MEMORY;
    int n_open = 0;
    for (; n_open < n && status == DT_OK; n_open++) {
        listed *move = &moves[n_open];
        const dt__redistribution *request = &requests[n_open];
        dt__prepared_move *prepared;
        dt__spec_pair pair = {.from = request->from,
                              .to = request->to,
                              .planner = (int)request->planner,
                              .machine = executor->ctx->machine,
                              .in_place = request->in_place,
                              .counts = request->counts};
        if ((status = dt__prepare(executor, &pair, &prepared)) != DT_OK)
            break;
        *move = (listed){.request = request};
        dt__execution_open(&move->execution, executor, prepared, request);
    }
    for (int i = 0; i < n && status == DT_OK; i++)
        if (!moves[i].is_done)
            status = run_from(executor, arena, n, moves, i);
    for (int i = 0; i < n_open; i++)
        if (!moves[i].is_done)
            (void)dt__execution_close(&moves[i].execution, DT_ERR_STATE);
    return status;
}

dt_status dt__redistribute_run_list(dt_ctx *ctx, int n, const dt__redistribution *requests) {
    if (!dt__transport_name(ctx))
        return dt__fail(ctx, DT_ERR_STATE, "redistribute_list: the context has no transport");
    dt__executor *executor = dt__executor_of(ctx);
    if (!executor)
        return DT_ERR_MEMORY;
    dt__arena arena = dt__arena_new(ctx);
    dt_status status = run_list(executor, &arena, n, requests);
    dt__arena_free(&arena);
    return status;
}

/* Whether the move turns Partial into Replicate, and nothing else changes. */
static bool only_reduces(const dt__sharding *from, const dt__sharding *to) {
    for (int m = 0; m < from->n_mesh_dims; m++)
        if (!dt_placement_equal(&from->placements[m], &to->placements[m]) &&
            !(dt_placement_is_partial(from->placements[m]) && dt_placement_is_replicate(to->placements[m])))
            return false;
    return true;
}

/* Whether the tensor alone has its memory, dense in the order of a spec of the same local shape. */
static bool has_memory_of(const dt_tensor *tensor, const dt_spec *to) {
    const dt__storage *storage = tensor->storage;
    bool own = tensor->n_refs == 1 && storage->n_refs == 1 && !storage->origin && !dt__may_require_grad(tensor);
    if (!own || !tensor->data || tensor->data != storage->data || storage->bytes != (size_t)to->local.bytes)
        return false;
    for (int d = 0; d < to->local.n_dims; d++)
        if (tensor->strides[d] != to->local.strides[d] && to->local.shape[d] > 1)
            return false;
    return true;
}

/* Whether the result can be written over the source. In the first of two phases a rank reduces a portion that no other
 * rank reads. In the second it writes the other portions, which every rank has finished reading by then. */
static dt_status find_overwrites(dt_ctx *ctx, const dt_tensor *tensor, dt_spec *to, bool *out) {
    dt__spec_pair pair = {
        .from = tensor->spec, .to = to, .planner = DT__PLANNER_DIRECT, .machine = ctx->machine, .in_place = true};
    dt__prepared_move *prepared;
    *out = dt__mesh_same(tensor->spec->mesh, to->mesh) && only_reduces(&tensor->spec->sharding, &to->sharding) &&
           has_memory_of(tensor, to);
    if (!*out)
        return DT_OK;
    dt__executor *executor = dt__executor_of(ctx);
    if (!executor)
        return DT_ERR_MEMORY;
    DT__TRY(dt__prepare(executor, &pair, &prepared));
    *out = prepared->group && !prepared->carried && !prepared->n_stops && prepared->pulls.two_phases;
    return DT_OK;
}

/* All ranks of the mesh decide this alike, although they may differ in who owns the memory of a tensor. */
static bool is_in_place(int n, dt_spec *const *to, const dt_mesh *mesh) {
    int64_t bytes = 0;
    for (int i = 0; i < n; i++)
        bytes += dt__mesh_same(to[i]->mesh, mesh) ? to[i]->max_bytes : 0;
    return bytes > OVERWRITE_FROM_BYTES;
}

/* The handle of a result: on new memory, or on that of its source. */
static dt_tensor *result_of(dt_tensor *tensor, dt_spec *to, bool in_place) {
    bool overwrites = false;
    if (tensor->spec == to)
        return dt__tensor_alias(tensor);
    if (in_place && find_overwrites(tensor->ctx, tensor, to, &overwrites) != DT_OK)
        return NULL;
    return overwrites ? dt__tensor_wrap(to, tensor->storage, 0, NULL) : dt__tensor_of_spec(to);
}

/* Makes the results of those tensors that move, and runs all moves. */
static dt_status redistribute_all(dt_ctx *ctx, int n, dt_tensor *const *tensors, dt_spec *const *to,
                                  bool may_overwrite, dt__redistribution *requests, dt_tensor **out) {
    int n_moves = 0;
    for (int i = 0; i < n; i++) {
        DT__TRY(dt__check_current(tensors[i]));
        const bool same = tensors[i]->spec == to[i], in_place = may_overwrite && is_in_place(n, to, to[i]->mesh);
        if (!(out[i] = result_of(tensors[i], to[i], in_place)))
            return dt_error_status(ctx);
        if (!same)
            requests[n_moves++] = (dt__redistribution){.from = tensors[i]->spec,
                                                       .to = to[i],
                                                       .src = tensors[i]->data,
                                                       .src_strides = tensors[i]->strides,
                                                       .dst = out[i]->data,
                                                       .planner = DT__PLANNER_DIRECT,
                                                       .in_place = in_place};
    }
    return n_moves ? dt__redistribute_run_list(ctx, n_moves, requests) : DT_OK;
}

dt_status dt__tensors_redistribute(dt_ctx *ctx, int n, dt_tensor *const *tensors, dt_spec *const *to,
                                   bool may_overwrite, dt_tensor **out) {
    dt__arena arena = dt__arena_new(ctx);
    dt__redistribution *requests = DT__NEW_ARRAY(&arena, dt__redistribution, n + 1);
    memset(out, 0, (size_t)n * sizeof *out);
    dt_status status = requests ? redistribute_all(ctx, n, tensors, to, may_overwrite, requests, out) : DT_ERR_MEMORY;
    for (int i = 0; i < n && status == DT_OK; i++)
        if (!(out[i] = dt__made_from("redistribute", tensors[i], out[i], 0, NULL)))
            status = dt_error_status(ctx);
    for (int i = 0; i < n && status != DT_OK; i++) {
        dt_drop(out[i]);
        out[i] = NULL;
    }
    dt__arena_free(&arena);
    return status;
}

/* Checks all tensors before any is looked at closer, and all placements before anything moves. */
static dt_status check_list(dt_ctx *ctx, dt_tensors tensors, const char *const *places) {
    for (int i = 0; i < tensors.n; i++) {
        dt_tensor *tensor = tensors.list[i];
        if (!tensor)
            return dt_failed(ctx) ? dt_error_status(ctx) : dt__fail(ctx, DT_ERR_VALUE, "tensor %d is NULL", i + 1);
        if (!DT__LIVE_ARGUMENT(DT__KIND_TENSOR, tensor, i + 1))
            return DT_ERR_STATE;
        if (tensor->ctx != ctx)
            return dt__fail(ctx, DT_ERR_STATE, "tensor %d belongs to another context", i + 1);
        if (!tensor->spec)
            return dt__fail(
                ctx, DT_ERR_PLACEMENT,
                "tensor %d is plain: expected a distributed one; dt_distribute_tensor places it on a mesh", i + 1);
        if (!places[i])
            return dt__fail(ctx, DT_ERR_VALUE, "placements %d: expected a text, got NULL", i + 1);
    }
    return DT_OK;
}

static dt_status find_specs(dt_ctx *ctx, dt_tensors tensors, const char *const *places, dt_spec **to) {
    for (int i = 0; i < tensors.n; i++) {
        const dt_tensor *tensor = tensors.list[i];
        DT__TRY(dt__note_tensor(tensor, &(dt__call_details){.text = places[i]}));
        if (!(to[i] = dt__spec_with(tensor->spec, tensor->spec->mesh, places[i])))
            return dt_error_status(ctx);
    }
    return DT_OK;
}

dt_status dt_redistribute_list_sized(dt_tensors tensors, const char *const *places, dt_tensor **results,
                                     const dt_redistribute_list_options *options, size_t options_size) {
    dt_redistribute_list_options full;
    dt_ctx *ctx = NULL;
    for (int i = 0; i < tensors.n && !ctx; i++)
        ctx = tensors.list[i] ? tensors.list[i]->ctx : NULL;
    options = DT__OPTIONS(ctx, "redistribute_list", options, options_size, &full);
    DT__ENTER(ctx, "redistribute_list", options ? options->site : NULL);
    if (results)
        memset(results, 0, (size_t)tensors.n * sizeof *results);
    DT__TRY(DT__REFUSAL());
    if (!tensors.n)
        return DT_OK;
    if (!options || !ctx)
        return DT_ERR_VALUE;
    if (!places || !results)
        return dt__fail(ctx, DT_ERR_VALUE, "%s: expected an array, got NULL", places ? "results" : "places");
    dt__arena arena = dt__arena_new(ctx);
    dt_spec **to = DT__NEW_ARRAY(&arena, dt_spec *, tensors.n);
    dt_status status = to ? check_list(ctx, tensors, places) : DT_ERR_MEMORY;
    if (status == DT_OK)
        status = find_specs(ctx, tensors, places, to);
    if (status == DT_OK)
        status = dt__tensors_redistribute(ctx, tensors.n, tensors.list, to, false, results);
    for (int i = 0; to && i < tensors.n; i++)
        dt_spec_release(to[i]);
    dt__arena_free(&arena);
    return status;
}
