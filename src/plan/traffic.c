/* SPDX-License-Identifier: Apache-2.0
 *
 * Flows, receiver by receiver. Senders are found dim by dim: those coordinates of the mesh dims that cut a tensor
 * dim before the step whose shard of it overlaps the receiver's. A sender is one such combination per tensor dim and
 * one coordinate per mesh dim that is reduced.
 */
#include "plan/traffic.h"

#include "base/assume.h"
#include "base/size.h"
#include "plan/two_phase.h"

#include <stdlib.h>
#include <string.h>

/* Bytes of the largest shard, as in a spec. A chain of splits that no spec may have counts by its first coordinate. */
static int64_t largest_shard(const dt__sharding *sharding, int64_t item_bytes) {
    int64_t zero[DT_SPEC_MAX_DIMS] = {0}, sizes[DT_SPEC_MAX_DIMS], bytes;
    for (int d = 0; d < sharding->n_dims; d++)
        if (!dt__sharding_dim_max(sharding, d, &sizes[d])) {
            dt__shard shard;
            dt__shard_at(sharding, d, zero, &shard);
            sizes[d] = shard.size;
        }
    return dt__product(sharding->n_dims, sizes, item_bytes, &bytes) ? bytes : INT64_MAX;
}

static void add_reduced(dt__transfer *out, int m) {
    const dt__sharding *before = out->before;
    if (!dt_placement_is_partial(before->placements[m]) || before->mesh[m] == 1)
        return;
    out->reduced_dims[out->n_reduced_dims++] = m;
    out->reduced *= before->mesh[m];
}

static void add_replicas(dt__transfer *out, int m) {
    if (!dt_placement_is_replicate(out->after->placements[m]))
        return;
    out->replica_dims[out->n_replica_dims++] = m;
    out->replicas *= out->after->mesh[m];
}

void dt__transfer_new(const dt__sharding *before, const dt__sharding *after, int n_changed, const int *changed,
                      int64_t item_bytes, dt__transfer *out) {
    *out = (dt__transfer){.before = before, .after = after, .reduced = 1, .replicas = 1};
    for (int i = 0; i < n_changed; i++) {
        add_reduced(out, changed[i]);
        add_replicas(out, changed[i]);
    }
    out->two_phases = dt__reduces_in_two_phases(out->reduced, out->replicas, largest_shard(after, item_bytes));
}

void dt__transfer_cross_mesh(const dt__move *move, dt__transfer *out) {
    *out = (dt__transfer){.before = move->from,
                          .after = move->to,
                          .from_mesh = move->from_mesh,
                          .to_mesh = move->to_mesh,
                          .reduced = 1,
                          .replicas = 1};
    for (int m = 0; m < move->from->n_mesh_dims; m++)
        add_reduced(out, m);
    for (int m = 0; m < move->to->n_mesh_dims; m++)
        add_replicas(out, m);
    out->two_phases =
        dt__reduces_in_two_phases(out->reduced, out->replicas, largest_shard(move->to, move->item_bytes));
}

static int64_t number_along(int n_mesh_dims, const int *mesh_dims, const int64_t *mesh, const int64_t *coordinate) {
    int64_t number = 0;
    for (int i = 0; i < n_mesh_dims; i++)
        number = number * mesh[mesh_dims[i]] + coordinate[mesh_dims[i]];
    return number;
}

int64_t dt__transfer_replica(const dt__transfer *transfer, const int64_t *coordinate) {
    return number_along(transfer->n_replica_dims, transfer->replica_dims, transfer->after->mesh, coordinate);
}

bool dt__transfer_received(const dt__transfer *transfer, const dt__shard *before, const dt__shard *after,
                           int64_t replica, int64_t *out) {
    int n_dims = transfer->after->n_dims;
    int64_t elements = 1, own = before ? 1 : 0, from_others, of_own, all = 1;
    for (int d = 0; d < n_dims; d++)
        all *= after[d].size;
    if (transfer->two_phases) {
        dt__portion portion = dt__portion_of(n_dims, after, transfer->replicas, replica);
        elements = dt__portion_size(n_dims, after, &portion);
        own = before ? dt__portion_common(n_dims, before, after, &portion) : 0;
    } else {
        elements = all;
        for (int d = 0; d < n_dims && own; d++)
            own *= dt__overlap_size(&before[d], &after[d]);
    }
    return dt__mul_i64(transfer->reduced, elements - own, &from_others) &&
           dt__mul_i64(transfer->reduced - 1, own, &of_own) && dt__add_i64(from_others, of_own, out) &&
           dt__add_i64(*out, all - elements, out);
}

int64_t dt__position(int n_mesh_dims, const int64_t *mesh, const int64_t *coordinate) {
    int64_t position = 0;
    for (int m = 0; m < n_mesh_dims; m++)
        position = position * mesh[m] + coordinate[m];
    return position;
}

void dt__coordinate(int n_mesh_dims, const int64_t *mesh, int64_t position, int64_t *out) {
    for (int m = n_mesh_dims - 1; m >= 0; m--) {
        out[m] = position % mesh[m];
        position /= mesh[m];
    }
}

int64_t dt__transfer_source_position(const dt__transfer *transfer, int64_t receiver, int64_t *coordinate) {
    const dt__sharding *before = transfer->before, *after = transfer->after;
    if (!transfer->from_mesh) {
        dt__coordinate(before->n_mesh_dims, before->mesh, receiver, coordinate);
        return receiver;
    }
    int64_t target[DT_SPEC_MAX_DIMS], ranks = 1;
    dt__coordinate(after->n_mesh_dims, after->mesh, receiver, target);
    if (dt_mesh_coordinate_of(transfer->from_mesh, dt_mesh_rank_at(transfer->to_mesh, target), coordinate))
        return dt__position(before->n_mesh_dims, before->mesh, coordinate);
    for (int m = 0; m < before->n_mesh_dims; m++)
        ranks *= before->mesh[m];
    dt__coordinate(before->n_mesh_dims, before->mesh, receiver % ranks, coordinate);
    return -1;
}

/* A combination of some of the coordinates of a sender. */
typedef struct choice {
    int64_t number; /* of the combination */
    int64_t offset; /* added to the position of the sender */
    int64_t size;   /* what the sender and the receiver have in common along one tensor dim */
} choice;

typedef struct choices {
    int64_t n;
    choice *items;
} choices;

typedef struct flow_search {
    dt__arena *arena;
    const dt__transfer *transfer;
    const dt__sharding *before;
    int64_t stride[DT_SPEC_MAX_DIMS];
    dt__shard target[DT_SPEC_MAX_DIMS]; /* per tensor dim: what the receiver gets */
    choices dims[DT_SPEC_MAX_DIMS], reduced;
    dt__portion portion; /* what the receiver reduces, in two phases */
    int64_t home;        /* position that the receiver's own coordinates add up to */
} flow_search;

static void find_strides(flow_search *self) {
    int64_t stride = 1;
    for (int m = self->before->n_mesh_dims - 1; m >= 0; m--) {
        self->stride[m] = stride;
        stride *= self->before->mesh[m];
    }
}

/* Sets the i-th combination of coordinates of these mesh dims; returns what they add to a position. */
static int64_t combine(const flow_search *self, int n_mesh_dims, const int *mesh_dims, int64_t i,
                       int64_t *coordinate) {
    int64_t offset = 0;
    for (int k = n_mesh_dims - 1; k >= 0; k--) {
        int m = mesh_dims[k];
        coordinate[m] = i % self->before->mesh[m];
        i /= self->before->mesh[m];
        offset += coordinate[m] * self->stride[m];
    }
    return offset;
}

static int64_t n_combinations(const flow_search *self, int n_mesh_dims, const int *mesh_dims) {
    int64_t n = 1;
    for (int k = 0; k < n_mesh_dims; k++)
        n *= self->before->mesh[mesh_dims[k]];
    return n;
}

/* The mesh dims that cut a tensor dim before the step. */
static int cutting_dims(const flow_search *self, int dim, int *out) {
    const dt__sharding *before = self->before;
    int n = 0;
    for (int c = before->first_cut[dim]; c < before->first_cut[dim + 1]; c++)
        out[n++] = before->cuts[c].mesh_dim;
    return n;
}

static dt_status find_holders(flow_search *self, int dim) {
    int mesh_dims[DT_SPEC_MAX_DIMS], n_mesh_dims = cutting_dims(self, dim, mesh_dims);
    int64_t coordinate[DT_SPEC_MAX_DIMS] = {0}, n = n_combinations(self, n_mesh_dims, mesh_dims);
    choices *out = &self->dims[dim];
    out->items = DT__NEW_ARRAY(self->arena, choice, n);
    if (!out->items)
        return DT_ERR_MEMORY;
    for (int64_t i = 0; i < n; i++) {
        dt__shard shard;
        choice one = {.number = i, .offset = combine(self, n_mesh_dims, mesh_dims, i, coordinate)};
        dt__shard_at(self->before, dim, coordinate, &shard);
        one.size = dt__overlap_size(&shard, &self->target[dim]);
        if (one.size)
            out->items[out->n++] = one;
    }
    return DT_OK;
}

static dt_status find_contributions(flow_search *self) {
    const dt__transfer *transfer = self->transfer;
    int64_t coordinate[DT_SPEC_MAX_DIMS] = {0};
    self->reduced.n = transfer->reduced;
    self->reduced.items = DT__NEW_ARRAY(self->arena, choice, transfer->reduced);
    if (!self->reduced.items)
        return DT_ERR_MEMORY;
    for (int64_t i = 0; i < self->reduced.n; i++)
        self->reduced.items[i] = (choice){
            .number = i, .offset = combine(self, transfer->n_reduced_dims, transfer->reduced_dims, i, coordinate)};
    return DT_OK;
}

/* The coordinates that a sender shares with the receiver: along mesh dims that neither cut nor are reduced. */
static int64_t find_home(const flow_search *self, const int64_t *own) {
    int64_t home = 0;
    for (int m = 0; m < self->before->n_mesh_dims; m++) {
        bool free = !dt__is_cut(&self->before->placements[m]);
        for (int k = 0; k < self->transfer->n_reduced_dims; k++)
            free = free && self->transfer->reduced_dims[k] != m;
        home += free ? own[m] * self->stride[m] : 0;
    }
    return home;
}

/* Elements that this sender holds of what the receiver takes in the first phase. */
static int64_t elements_of(const flow_search *self, const choice *const *chosen) {
    int64_t elements = 1;
    int n_dims = self->before->n_dims;
    if (!self->transfer->two_phases) {
        for (int d = 0; d < n_dims; d++)
            elements *= chosen[d]->size;
        return elements;
    }
    dt__shard shards[DT_SPEC_MAX_DIMS];
    for (int d = 0; d < n_dims; d++) {
        int mesh_dims[DT_SPEC_MAX_DIMS], n_mesh_dims = cutting_dims(self, d, mesh_dims);
        int64_t coordinate[DT_SPEC_MAX_DIMS] = {0};
        combine(self, n_mesh_dims, mesh_dims, chosen[d]->number, coordinate);
        dt__shard_at(self->before, d, coordinate, &shards[d]);
    }
    return dt__portion_common(n_dims, shards, self->target, &self->portion);
}

static int compare_flows(const void *a, const void *b) {
    const dt__flow *x = a, *y = b;
    if (x->in_target != y->in_target)
        return x->in_target ? 1 : -1;
    return (x->sender > y->sender) - (x->sender < y->sender);
}

/* Merges the flows of one sender, drops empty ones, and counts the receiver's own as kept. */
static void merge_flows(int64_t receiver, dt__flows *out) {
    int64_t n = 0;
    if (out->n)
        qsort(out->items, (size_t)out->n, sizeof *out->items, compare_flows);
    for (int64_t i = 0; i < out->n; i++) {
        const dt__flow *flow = &out->items[i];
        if (flow->sender == receiver && !flow->in_target)
            out->kept += flow->elements;
        else if (n && out->items[n - 1].sender == flow->sender && out->items[n - 1].in_target == flow->in_target)
            out->items[n - 1].elements += flow->elements;
        else if (flow->elements)
            out->items[n++] = *flow;
    }
    out->n = n;
}

/* The portions that the other replicas have reduced. */
static void add_second_phase(const flow_search *self, const int64_t *target, dt__flows *out) {
    const dt__transfer *transfer = self->transfer;
    const dt__sharding *after = transfer->after;
    int64_t coordinate[DT_SPEC_MAX_DIMS], own = dt__transfer_replica(transfer, target);
    memcpy(coordinate, target, (size_t)after->n_mesh_dims * sizeof *coordinate);
    for (int64_t i = 0; i < transfer->replicas; i++) {
        dt__portion portion = dt__portion_of(after->n_dims, self->target, transfer->replicas, i);
        int64_t left = i;
        for (int k = transfer->n_replica_dims - 1; k >= 0; k--) {
            int m = transfer->replica_dims[k];
            coordinate[m] = left % after->mesh[m];
            left /= after->mesh[m];
        }
        if (i != own)
            out->items[out->n++] = (dt__flow){.sender = dt__position(after->n_mesh_dims, after->mesh, coordinate),
                                              .in_target = transfer->to_mesh != NULL,
                                              .elements = dt__portion_size(after->n_dims, self->target, &portion)};
    }
}

static dt_status find_flows(flow_search *self, int64_t receiver, const int64_t *target, dt__flows *out) {
    int n_dims = self->before->n_dims;
    const dt__transfer *transfer = self->transfer;
    int64_t n = self->reduced.n;
    for (int d = 0; d < n_dims; d++)
        n *= self->dims[d].n;
    *out = (dt__flows){.items = DT__NEW_ARRAY(self->arena, dt__flow, n + transfer->replicas)};
    if (!out->items)
        return DT_ERR_MEMORY;
    if (transfer->two_phases)
        self->portion =
            dt__portion_of(n_dims, self->target, transfer->replicas, dt__transfer_replica(transfer, target));
    for (int64_t i = 0; i < n; i++) {
        const choice *chosen[DT_SPEC_MAX_DIMS];
        int64_t left = i / self->reduced.n, sender = self->home + self->reduced.items[i % self->reduced.n].offset;
        for (int d = n_dims - 1; d >= 0; d--) {
            DT__ASSUME(self->dims[d].n > 0); /* n has it as a factor */
            chosen[d] = &self->dims[d].items[left % self->dims[d].n];
            left /= self->dims[d].n;
            sender += chosen[d]->offset;
        }
        out->items[out->n++] = (dt__flow){.sender = sender, .elements = elements_of(self, chosen)};
    }
    if (transfer->two_phases)
        add_second_phase(self, target, out);
    merge_flows(receiver, out);
    return DT_OK;
}

dt_status dt__flows_new(dt__arena *arena, const dt__transfer *transfer, int64_t receiver, dt__flows *out) {
    flow_search self; /* large: only what is used is set */
    self.arena = arena;
    self.transfer = transfer;
    self.before = transfer->before;
    self.reduced = (choices){0};
    self.portion = (dt__portion){0};
    int64_t target[DT_SPEC_MAX_DIMS], own[DT_SPEC_MAX_DIMS];
    int64_t home = dt__transfer_source_position(transfer, receiver, own);
    dt__coordinate(transfer->after->n_mesh_dims, transfer->after->mesh, receiver, target);
    find_strides(&self);
    for (int d = 0; d < self.before->n_dims; d++) {
        self.dims[d] = (choices){0};
        dt__shard_at(transfer->after, d, target, &self.target[d]);
        DT__TRY(find_holders(&self, d));
    }
    DT__TRY(find_contributions(&self));
    self.home = find_home(&self, own);
    return find_flows(&self, home, target, out);
}

/* Consecutive shards of one size, in the order of the ranks: the size of a shard. 0 where they are not. */
static int64_t even_size(const dt__sharding *sharding, int dim) {
    int64_t size = sharding->shape[dim];
    for (int c = sharding->first_cut[dim]; c < sharding->first_cut[dim + 1]; c++) {
        const dt__cut *cut = &sharding->cuts[c];
        if (cut->split != 1 || cut->starts || size % cut->n)
            return 0;
        size /= cut->n;
    }
    return size;
}

/* The number of shards of a tensor dim that have a part of the target's; 0 where that takes a search. */
static int64_t count_holders(const dt__sharding *before, const dt__shard *target, int dim) {
    int64_t size = even_size(before, dim);
    if (!size || !target->size)
        return 0;
    dt_run run = dt__shard_run(target, 0);
    return run.end - run.begin == target->size ? (run.end - 1) / size - run.begin / size + 1 : 0;
}

/* Every sender is one combination of coordinates, and so is the receiver, if it has a part of what it gets. */
dt_status dt__flows_count(dt__arena *arena, const dt__transfer *transfer, int64_t receiver, int64_t *out) {
    int64_t coordinate[DT_SPEC_MAX_DIMS], n = transfer->reduced;
    bool has_part = true;
    dt__flows flows;
    dt__coordinate(transfer->after->n_mesh_dims, transfer->after->mesh, receiver, coordinate);
    for (int d = 0; d < transfer->after->n_dims && n && !transfer->from_mesh && !transfer->two_phases; d++) {
        dt__shard own, target;
        dt__shard_at(transfer->before, d, coordinate, &own);
        dt__shard_at(transfer->after, d, coordinate, &target);
        has_part = has_part && dt__overlap_size(&own, &target) > 0;
        n *= count_holders(transfer->before, &target, d);
    }
    if (n && !transfer->from_mesh && !transfer->two_phases) {
        *out = n - has_part;
        return DT_OK;
    }
    DT__TRY(dt__flows_new(arena, transfer, receiver, &flows));
    *out = flows.n;
    return DT_OK;
}

bool dt__same_cut(const dt__cut *a, const dt__cut *b) {
    if (a->mesh_dim != b->mesh_dim || a->split != b->split || !a->starts != !b->starts)
        return false;
    for (int64_t r = 0; a->starts && r <= a->n; r++)
        if (a->starts[r] != b->starts[r])
            return false;
    return true;
}

/* Whether a tensor dim is cut in the same way before and after. */
static bool is_cut_alike(const dt__transfer *transfer, int dim) {
    const dt__sharding *a = transfer->before, *b = transfer->after;
    int n = a->first_cut[dim + 1] - a->first_cut[dim];
    if (b->first_cut[dim + 1] - b->first_cut[dim] != n || (n && transfer->from_mesh))
        return false;
    for (int c = 0; c < n; c++)
        if (!dt__same_cut(&a->cuts[a->first_cut[dim] + c], &b->cuts[b->first_cut[dim] + c]))
            return false;
    return true;
}

bool dt__transfer_is_strided(const dt__transfer *transfer) {
    int d = 0;
    while (d < transfer->after->n_dims && transfer->after->shape[d] == 1)
        d++;
    for (d++; d < transfer->after->n_dims; d++)
        if (!is_cut_alike(transfer, d))
            return true;
    return false;
}
