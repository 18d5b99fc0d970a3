/* SPDX-License-Identifier: Apache-2.0
 *
 * Makes pull lists: visits the source shards, keeps what overlaps this rank's target shard, and finds the ranks that
 * hold it.
 */
#include "move/pull_list.h"

#include "base/size.h"
#include "plan/plan.h"
#include "spec/spec.h"

#include <stdlib.h>
#include <string.h>

static int by_value(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static bool is_sorted(const int64_t *ranks, int64_t n) {
    for (int64_t i = 1; i < n; i++)
        if (ranks[i] < ranks[i - 1])
            return false;
    return true;
}

/* The next coordinate along the `walked` mesh dims, the last of them fastest; false after the last one. */
static bool next_coordinate(int n, const int64_t *sizes, const bool *walked, int64_t *coordinate) {
    for (int m = n - 1; m >= 0; m--) {
        if (!walked[m])
            continue;
        if (++coordinate[m] < sizes[m])
            return true;
        coordinate[m] = 0;
    }
    return false;
}

static int64_t n_coordinates(int n, const int64_t *sizes, const bool *walked) {
    int64_t count = 1;
    for (int m = 0; m < n; m++)
        count *= walked[m] ? sizes[m] : 1;
    return count;
}

/* Sets the walked coordinates to 0. */
static void rewind_coordinate(int n, const bool *walked, int64_t *coordinate) {
    for (int m = 0; m < n; m++)
        coordinate[m] = walked[m] ? 0 : coordinate[m];
}

static void add_ranks(const dt_mesh *mesh, const dt__sharding *sharding, const bool *walked, int64_t *coordinate,
                      int64_t *ranks) {
    int n = sharding->n_mesh_dims;
    rewind_coordinate(n, walked, coordinate);
    int64_t i = 0;
    do
        ranks[i++] = dt_mesh_rank_at(mesh, coordinate);
    while (next_coordinate(n, sharding->mesh, walked, coordinate));
}

dt_status dt__pull_list_ranks(dt__arena *arena, dt__pull_request *request) {
    const dt_spec *specs[] = {request->from, request->to};
    int n_specs = request->same_mesh ? 1 : 2;
    int64_t coordinate[DT_SPEC_MAX_DIMS] = {0}, n[2] = {0, 0};
    bool all[DT_SPEC_MAX_DIMS];
    memset(all, true, sizeof all);
    const bool *walked = request->same_mesh ? request->changes : all;
    for (int i = 0; i < n_specs; i++)
        n[i] = n_coordinates(specs[i]->sharding.n_mesh_dims, specs[i]->sharding.mesh, walked);
    int64_t *ranks = DT__NEW_ARRAY(arena, int64_t, n[0] + n[1]);
    if (!ranks)
        return DT_ERR_MEMORY;
    if (request->same_mesh)
        dt_mesh_coordinate_of(request->from->mesh, request->rank, coordinate);
    for (int i = 0; i < n_specs; i++)
        add_ranks(specs[i]->mesh, &specs[i]->sharding, walked, coordinate, ranks + (i ? n[0] : 0));
    if (!is_sorted(ranks, n[0] + n[1]))
        qsort(ranks, (size_t)(n[0] + n[1]), sizeof *ranks, by_value);
    request->n_ranks = 0;
    for (int64_t i = 0; i < n[0] + n[1]; i++)
        if (i == 0 || ranks[i] != ranks[i - 1])
            ranks[request->n_ranks++] = ranks[i];
    request->ranks = ranks;
    return DT_OK;
}

/* A mesh dim of the source whose values are reduced. */
static bool is_reduced(const dt__pull_request *request, int m) {
    return dt_placement_is_partial(request->from->sharding.placements[m]) &&
           !(request->same_mesh && dt_placement_is_partial(request->to->sharding.placements[m]));
}

static void find_reduced(const dt__pull_request *request, bool *out) {
    for (int m = 0; m < request->from->sharding.n_mesh_dims; m++)
        out[m] = is_reduced(request, m);
}

/* Whether a rank holds everything that it needs. */
static bool has_all(const dt__pull_request *request, int64_t rank) {
    int64_t from[DT_SPEC_MAX_DIMS], to[DT_SPEC_MAX_DIMS];
    dt_local local;
    dt_spec_local_of(request->to, rank, &local);
    if (local.elements == 0)
        return true;
    dt_mesh_coordinate_of(request->to->mesh, rank, to);
    if (!dt_mesh_coordinate_of(request->from->mesh, rank, from))
        return false;
    for (int d = 0; d < local.n_dims; d++) {
        dt__shard held, needed;
        dt__shard_at(&request->from->sharding, d, from, &held);
        dt__shard_at(&request->to->sharding, d, to, &needed);
        if (held.size != held.global_size && dt__overlap_size(&held, &needed) != needed.size)
            return false;
    }
    return true;
}

bool dt__pull_list_needs_peers(const dt__pull_request *request) {
    bool reduced[DT_SPEC_MAX_DIMS];
    const dt__sharding *from = &request->from->sharding;
    find_reduced(request, reduced);
    if (request->to->elements == 0)
        return false;
    if (n_coordinates(from->n_mesh_dims, from->mesh, reduced) > 1)
        return true;
    for (int64_t i = 0; i < request->n_ranks; i++)
        if (!has_all(request, request->ranks[i]))
            return true;
    return false;
}

/* A pull list while it is built. */
typedef struct builder {
    dt__arena *arena;
    const dt__pull_request *request;
    dt__pull_list *out;
    bool cut[DT_SPEC_MAX_DIMS], reduced[DT_SPEC_MAX_DIMS]; /* per mesh dim of the source */
    int64_t source[DT_SPEC_MAX_DIMS];                      /* coordinate in the source's mesh that is visited */
    int64_t target[DT_SPEC_MAX_DIMS];                      /* this rank's in the target's */
    dt__shard shard[DT_SPEC_MAX_DIMS];                     /* of this rank in the target, per tensor dim */
    int64_t first, end;                                    /* along portion_dim: what this rank reduces */
    int64_t capacity;
} builder;

static int64_t index_of(const dt__pull_request *request, int64_t rank) {
    int64_t distance = rank - request->ranks[0]; /* the index, where ranks are consecutive */
    if (distance >= 0 && distance < request->n_ranks && request->ranks[distance] == rank)
        return distance;
    const int64_t *found = bsearch(&rank, request->ranks, (size_t)request->n_ranks, sizeof rank, by_value);
    return found ? found - request->ranks : -1;
}

static bool extends_run(const dt__piece *piece, const dt__overlap_run *run) {
    return piece->n == 1 && run->a == piece->src + piece->size && run->b == piece->dst + piece->size;
}

static bool continues(const dt__piece *piece, const dt__overlap_run *run) {
    return run->end - run->begin == piece->size &&
           (piece->n == 1 ||
            (run->a == piece->src + piece->n * piece->src_step && run->b == piece->dst + piece->n * piece->dst_step));
}

/* Appends a run to the piece; false where the piece cannot express it. */
static bool append_run(dt__piece *piece, const dt__overlap_run *run) {
    if (extends_run(piece, run)) {
        piece->size += run->end - run->begin;
        return true;
    }
    if (!continues(piece, run))
        return false;
    if (piece->n == 1) {
        piece->src_step = run->a - piece->src;
        piece->dst_step = run->b - piece->dst;
    }
    piece->n++;
    return true;
}

/* Clips a run to local indices first … end - 1 of the target; false where nothing remains. */
static bool clip(dt__overlap_run *run, int64_t first, int64_t end) {
    int64_t before = dt__max_i64(0, first - run->b), length = run->end - run->begin;
    int64_t after = dt__max_i64(0, run->b + length - end);
    if (before + after >= length)
        return false;
    run->begin += before;
    run->a += before;
    run->b += before;
    run->end -= after;
    return true;
}

/* Counts the pieces of the intersection of two shards, and writes them unless out is NULL. */
static int64_t list_pieces(const dt__shard *held, const dt__shard *needed, int64_t first, int64_t end,
                           dt__piece *out) {
    int64_t n = 0, at = 0;
    dt__piece last = {0};
    dt__overlap_run run;
    while (dt__overlap_next(held, needed, &at, &run)) {
        if (!clip(&run, first, end))
            continue;
        if (n && append_run(&last, &run)) {
            if (out)
                out[n - 1] = last;
            continue;
        }
        last = (dt__piece){.size = run.end - run.begin, .n = 1, .src = run.a, .dst = run.b};
        if (out)
            out[n] = last;
        n++;
    }
    return n;
}

static int64_t size_of_pieces(const dt__piece *pieces, int64_t n) {
    int64_t size = 0;
    for (int64_t i = 0; i < n; i++)
        size += pieces[i].size * pieces[i].n;
    return size;
}

/* The pieces of every dim; block->elements is 0 where nothing is common. */
static dt_status find_pieces(builder *self, dt__block *block) {
    const dt__sharding *from = &self->request->from->sharding;
    int n_dims = from->n_dims;
    const dt__piece **pieces = DT__NEW_ARRAY(self->arena, const dt__piece *, n_dims);
    int64_t *n_pieces = DT__NEW_ARRAY(self->arena, int64_t, n_dims);
    if (!pieces || !n_pieces)
        return DT_ERR_MEMORY;
    block->pieces = pieces;
    block->n_pieces = n_pieces;
    block->elements = 0;
    int64_t elements = 1;
    for (int d = 0; d < n_dims; d++) {
        bool divided = self->out->two_phases && d == self->out->portion_dim;
        int64_t first = divided ? self->first : 0, end = divided ? self->end : INT64_MAX;
        dt__shard held;
        dt__shard_at(from, d, self->source, &held);
        n_pieces[d] = list_pieces(&held, &self->shard[d], first, end, NULL);
        if (n_pieces[d] == 0)
            return DT_OK;
        dt__piece *list = DT__NEW_ARRAY(self->arena, dt__piece, n_pieces[d]);
        if (!list)
            return DT_ERR_MEMORY;
        list_pieces(&held, &self->shard[d], first, end, list);
        pieces[d] = list;
        elements *= size_of_pieces(list, n_pieces[d]);
        self->out->bytes += n_pieces[d] * (int64_t)sizeof *list;
    }
    block->elements = elements;
    return DT_OK;
}

static dt_status set_source_shape(builder *self, dt__block *block) {
    const dt_spec *from = self->request->from;
    dt_local local;
    dt__spec_local(from, self->source, &local);
    block->shape = dt__arena_copy(self->arena, local.shape, (size_t)local.n_dims, sizeof *local.shape);
    block->strides = dt__arena_copy(self->arena, local.strides, (size_t)local.n_dims, sizeof *local.strides);
    block->shard_elements = local.elements;
    return block->shape && block->strides ? DT_OK : DT_ERR_MEMORY;
}

/* One holder per value that is reduced, in the order of the mesh. */
static dt_status find_members(builder *self, dt__block *block) {
    const dt__sharding *from = &self->request->from->sharding;
    int64_t *members = DT__NEW_ARRAY(self->arena, int64_t, self->out->n_sources);
    int64_t coordinate[DT_SPEC_MAX_DIMS], i = 0;
    if (!members)
        return DT_ERR_MEMORY;
    memcpy(coordinate, self->source, sizeof coordinate);
    rewind_coordinate(from->n_mesh_dims, self->reduced, coordinate);
    do {
        members[i] = index_of(self->request, dt_mesh_rank_at(self->request->from->mesh, coordinate));
        if (members[i++] < 0)
            return dt__fail(self->arena->ctx, DT_ERR_INTERNAL,
                            "redistribute: rank %lld holds a shard that rank %lld needs, but is not in its group",
                            (long long)dt_mesh_rank_at(self->request->from->mesh, coordinate),
                            (long long)self->request->rank);
    } while (next_coordinate(from->n_mesh_dims, from->mesh, self->reduced, coordinate));
    block->members = members;
    return DT_OK;
}

static dt_status add_block(builder *self, const dt__block *block) {
    dt__pull_list *out = self->out;
    if (out->n_blocks == self->capacity) {
        int64_t capacity = self->capacity ? 2 * self->capacity : 4;
        dt__block *blocks = DT__NEW_ARRAY(self->arena, dt__block, capacity);
        if (!blocks)
            return DT_ERR_MEMORY;
        if (out->n_blocks)
            memcpy(blocks, out->blocks, (size_t)out->n_blocks * sizeof *blocks);
        out->blocks = blocks;
        self->capacity = capacity;
    }
    out->blocks[out->n_blocks++] = *block;
    out->bytes += (int64_t)sizeof *block + (out->n_sources + 4 * out->n_dims) * (int64_t)sizeof(int64_t);
    return DT_OK;
}

static dt_status visit_shard(builder *self) {
    dt__arena_mark mark = dt__arena_begin(self->arena);
    dt__block block = {0};
    DT__TRY(find_pieces(self, &block));
    if (!block.elements) {
        dt__arena_rewind(self->arena, mark);
        return DT_OK;
    }
    DT__TRY(set_source_shape(self, &block));
    DT__TRY(find_members(self, &block));
    return add_block(self, &block);
}

static int64_t row_major(int n, const int64_t *sizes, const int64_t *coordinate) {
    int64_t i = 0;
    for (int m = 0; m < n; m++)
        i = i * sizes[m] + coordinate[m];
    return i;
}

/* Among ranks that hold the same source shard, this rank reads from the one with its own coordinates; a rank outside
 * the source's mesh derives coordinates from its number in the target's mesh. */
static void choose_holders(builder *self) {
    const dt__sharding *from = &self->request->from->sharding, *to = &self->request->to->sharding;
    if (dt_mesh_coordinate_of(self->request->from->mesh, self->request->rank, self->source))
        return;
    int64_t left = row_major(to->n_mesh_dims, to->mesh, self->target);
    for (int m = from->n_mesh_dims - 1; m >= 0; m--) {
        self->source[m] = 0;
        if (!self->cut[m] && !self->reduced[m]) {
            self->source[m] = left % from->mesh[m];
            left /= from->mesh[m];
        }
    }
}

static void find_roles(builder *self) {
    const dt__sharding *from = &self->request->from->sharding;
    dt__pull_list *out = self->out;
    find_reduced(self->request, self->reduced);
    out->reduce = DT_SUM;
    out->divisor = 1;
    for (int m = 0; m < from->n_mesh_dims; m++) {
        const dt_placement *placement = &from->placements[m];
        self->cut[m] = dt__is_cut(placement);
        if (!self->reduced[m] || placement->kind == DT_PLACEMENT_MASKED || placement->reduce == DT_SUM)
            continue;
        out->reduce = placement->reduce;
        out->divisor *= placement->reduce == DT_AVG ? from->mesh[m] : 1;
    }
    out->n_sources = (int)n_coordinates(from->n_mesh_dims, from->mesh, self->reduced);
}

/* Mesh dims of the target along which the members of the group keep the same shard. */
static int64_t find_replicas(const builder *self, bool *out) {
    const dt__sharding *to = &self->request->to->sharding;
    for (int m = 0; m < to->n_mesh_dims; m++)
        out[m] =
            dt_placement_is_replicate(to->placements[m]) && (!self->request->same_mesh || self->request->changes[m]);
    return n_coordinates(to->n_mesh_dims, to->mesh, out);
}

static bool is_empty(const builder *self) {
    for (int d = 0; d < self->out->n_dims; d++)
        if (!self->shard[d].size)
            return true;
    return false;
}

/* A portion is a block of one piece per dim. */
static dt_status make_share_blocks(builder *self) {
    dt__pull_list *out = self->out;
    int n_dims = out->n_dims;
    out->portion_blocks = DT__NEW_ARRAY(self->arena, dt__block, out->n_portions);
    if (!out->portion_blocks)
        return DT_ERR_MEMORY;
    for (int64_t i = 0; i < out->n_portions; i++) {
        const dt__replica_portion *portion = &out->portions[i];
        dt__piece *list = DT__NEW_ARRAY(self->arena, dt__piece, n_dims);
        const dt__piece **pieces = DT__NEW_ARRAY(self->arena, const dt__piece *, n_dims);
        int64_t *n_pieces = DT__NEW_ARRAY(self->arena, int64_t, n_dims);
        if (!list || !pieces || !n_pieces)
            return DT_ERR_MEMORY;
        int64_t elements = 1;
        for (int d = 0; d < n_dims; d++) {
            bool divided = d == out->portion_dim;
            int64_t first = divided ? portion->first : 0, size = divided ? portion->size : self->shard[d].size;
            list[d] = (dt__piece){.size = size, .n = 1, .src = first, .dst = first};
            pieces[d] = &list[d];
            n_pieces[d] = 1;
            elements *= size;
        }
        out->portion_blocks[i] =
            (dt__block){.elements = elements, .pieces = pieces, .n_pieces = n_pieces, .members = &portion->member};
        out->bytes += (int64_t)sizeof(dt__block) + n_dims * (int64_t)(sizeof *list + 2 * sizeof(int64_t));
    }
    return DT_OK;
}

static bool reduces_in_two_phases(const builder *self, int64_t n_replicas) {
    if (self->request->in_place && !self->request->one_phase)
        return self->out->n_sources > 1 && n_replicas > 1;
    return !self->request->one_phase &&
           dt__reduces_in_two_phases(self->out->n_sources, n_replicas, self->request->to->max_bytes);
}

/* Divides this rank's target shard among the replicas of it. */
static dt_status find_portions(builder *self) {
    const dt__sharding *to = &self->request->to->sharding;
    dt__pull_list *out = self->out;
    bool walked[DT_SPEC_MAX_DIMS];
    int64_t n_replicas = find_replicas(self, walked), coordinate[DT_SPEC_MAX_DIMS];
    if (!reduces_in_two_phases(self, n_replicas))
        return DT_OK;
    out->two_phases = true;
    out->portion_dim = dt__portion_dim(to->n_dims, self->request->to->stride_order, self->shard, n_replicas);
    out->portions = DT__NEW_ARRAY(self->arena, dt__replica_portion, n_replicas);
    if (!out->portions)
        return DT_ERR_MEMORY;
    int64_t size = self->shard[out->portion_dim].size, width = dt__ceil_div(size, n_replicas), own = 0;
    memcpy(coordinate, self->target, sizeof coordinate);
    rewind_coordinate(to->n_mesh_dims, walked, coordinate);
    for (int64_t i = 0; i < n_replicas; i++, next_coordinate(to->n_mesh_dims, to->mesh, walked, coordinate)) {
        int64_t first = dt__min_i64(i * width, size), rank = dt_mesh_rank_at(self->request->to->mesh, coordinate);
        dt__replica_portion portion = {index_of(self->request, rank), first, dt__min_i64(width, size - first)};
        if (rank == self->request->rank) {
            self->first = first;
            self->end = first + portion.size;
            own = out->n_portions;
        } else if (portion.size && !is_empty(self)) {
            out->portions[out->n_portions++] = portion;
        }
    }
    /* Each rank begins with the next one, so that they do not all read the same rank's memory at the same time. */
    dt__replica_portion *rotated = DT__NEW_ARRAY(self->arena, dt__replica_portion, out->n_portions);
    if (!rotated)
        return DT_ERR_MEMORY;
    for (int64_t i = 0; i < out->n_portions; i++)
        rotated[i] = out->portions[(own + i) % out->n_portions];
    out->portions = rotated;
    return make_share_blocks(self);
}

/* Begins with the first block that this rank or a later one holds, as portions do. */
static dt_status rotate_blocks(builder *self) {
    dt__pull_list *out = self->out;
    int64_t me = index_of(self->request, self->request->rank), first = 0;
    while (first < out->n_blocks && out->blocks[first].members[0] < me)
        first++;
    dt__block *rotated = DT__NEW_ARRAY(self->arena, dt__block, out->n_blocks);
    if (!rotated)
        return DT_ERR_MEMORY;
    for (int64_t i = 0; i < out->n_blocks; i++)
        rotated[i] = out->blocks[(first + i) % out->n_blocks];
    out->blocks = rotated;
    return DT_OK;
}

dt_status dt__pull_list_new(dt__arena *arena, const dt__pull_request *request, dt__pull_list *out) {
    builder self = {.arena = arena, .request = request, .out = out};
    const dt__sharding *from = &request->from->sharding, *to = &request->to->sharding;
    *out = (dt__pull_list){.n_dims = from->n_dims};
    find_roles(&self);
    bool is_member = dt_mesh_coordinate_of(request->to->mesh, request->rank, self.target);
    for (int d = 0; is_member && d < to->n_dims; d++)
        dt__shard_at(to, d, self.target, &self.shard[d]);
    if (!is_member) { /* it still takes part in both phases */
        bool walked[DT_SPEC_MAX_DIMS];
        out->two_phases = reduces_in_two_phases(&self, find_replicas(&self, walked));
        return DT_OK;
    }
    DT__TRY(find_portions(&self));
    choose_holders(&self);
    rewind_coordinate(from->n_mesh_dims, self.cut, self.source);
    do
        DT__TRY(visit_shard(&self));
    while (next_coordinate(from->n_mesh_dims, from->mesh, self.cut, self.source));
    return rotate_blocks(&self);
}
