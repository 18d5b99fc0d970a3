/* SPDX-License-Identifier: Apache-2.0
 *
 * Works out who pulls what from whom: walks the parts of the source, keeps what overlaps this rank's part of the
 * target, and names the holders.
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

/* The next coordinate along the mesh dims that are `walked`, the last of them fastest; false after the last one. */
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

/* Sets the coordinates that will be walked to 0. */
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

dt_status dt__pulls_ranks(dt__arena *arena, dt__pulls_of *what) {
    const dt_spec *specs[] = {what->from, what->to};
    int n_specs = what->same_mesh ? 1 : 2;
    int64_t coordinate[DT_SPEC_MAX_DIMS] = {0}, n[2] = {0, 0};
    bool all[DT_SPEC_MAX_DIMS];
    memset(all, true, sizeof all);
    const bool *walked = what->same_mesh ? what->changes : all;
    for (int i = 0; i < n_specs; i++)
        n[i] = n_coordinates(specs[i]->sharding.n_mesh_dims, specs[i]->sharding.mesh, walked);
    int64_t *ranks = DT__NEW_ARRAY(arena, int64_t, n[0] + n[1]);
    if (!ranks)
        return DT_ERR_MEMORY;
    if (what->same_mesh)
        dt_mesh_coordinate_of(what->from->mesh, what->rank, coordinate);
    for (int i = 0; i < n_specs; i++)
        add_ranks(specs[i]->mesh, &specs[i]->sharding, walked, coordinate, ranks + (i ? n[0] : 0));
    qsort(ranks, (size_t)(n[0] + n[1]), sizeof *ranks, by_value);
    what->n_ranks = 0;
    for (int64_t i = 0; i < n[0] + n[1]; i++)
        if (i == 0 || ranks[i] != ranks[i - 1])
            ranks[what->n_ranks++] = ranks[i];
    what->ranks = ranks;
    return DT_OK;
}

/* A mesh dim of the source whose values are reduced. */
static bool is_reduced(const dt__pulls_of *what, int m) {
    return dt_placement_is_partial(what->from->sharding.placements[m]) &&
           !(what->same_mesh && dt_placement_is_partial(what->to->sharding.placements[m]));
}

static void find_reduced(const dt__pulls_of *what, bool *out) {
    for (int m = 0; m < what->from->sharding.n_mesh_dims; m++)
        out[m] = is_reduced(what, m);
}

/* Whether a rank has all that it needs. */
static bool has_all(const dt__pulls_of *what, int64_t rank) {
    int64_t from[DT_SPEC_MAX_DIMS], to[DT_SPEC_MAX_DIMS];
    dt_local local;
    dt_spec_local_of(what->to, rank, &local);
    if (local.elements == 0)
        return true;
    dt_mesh_coordinate_of(what->to->mesh, rank, to);
    if (!dt_mesh_coordinate_of(what->from->mesh, rank, from))
        return false;
    for (int d = 0; d < local.n_dims; d++) {
        dt__shard held, wanted;
        dt__shard_at(&what->from->sharding, d, from, &held);
        dt__shard_at(&what->to->sharding, d, to, &wanted);
        if (held.size != held.global_size && dt__overlap_size(&held, &wanted) != wanted.size)
            return false;
    }
    return true;
}

bool dt__pulls_need_peers(const dt__pulls_of *what) {
    bool reduced[DT_SPEC_MAX_DIMS];
    const dt__sharding *from = &what->from->sharding;
    find_reduced(what, reduced);
    if (what->to->elements == 0)
        return false;
    if (n_coordinates(from->n_mesh_dims, from->mesh, reduced) > 1)
        return true;
    for (int64_t i = 0; i < what->n_ranks; i++)
        if (!has_all(what, what->ranks[i]))
            return true;
    return false;
}

/* Everything that is known while pulls are made. */
typedef struct making {
    dt__arena *arena;
    const dt__pulls_of *what;
    dt__pulls *out;
    bool cut[DT_SPEC_MAX_DIMS], reduced[DT_SPEC_MAX_DIMS]; /* per mesh dim of the source */
    int64_t source[DT_SPEC_MAX_DIMS];                      /* coordinate in the source's mesh that is looked at */
    int64_t target[DT_SPEC_MAX_DIMS];                      /* this rank's in the target's */
    dt__shard wanted[DT_SPEC_MAX_DIMS];                    /* per tensor dim */
    int64_t first, end;                                    /* along share_dim: what this rank computes */
    int64_t room;
} making;

static int64_t place_of(const dt__pulls_of *what, int64_t rank) {
    const int64_t *found = bsearch(&rank, what->ranks, (size_t)what->n_ranks, sizeof rank, by_value);
    return found ? found - what->ranks : -1;
}

static bool holds_side_by_side(const dt__piece *piece, const dt__overlap_run *run) {
    return piece->n == 1 && run->a == piece->src + piece->size && run->b == piece->dst + piece->size;
}

static bool goes_on(const dt__piece *piece, const dt__overlap_run *run) {
    return run->end - run->begin == piece->size &&
           (piece->n == 1 ||
            (run->a == piece->src + piece->n * piece->src_step && run->b == piece->dst + piece->n * piece->dst_step));
}

/* Adds a run to the last piece if it can be; otherwise the piece is full. */
static bool join(dt__piece *piece, const dt__overlap_run *run) {
    if (holds_side_by_side(piece, run)) {
        piece->size += run->end - run->begin;
        return true;
    }
    if (!goes_on(piece, run))
        return false;
    if (piece->n == 1) {
        piece->src_step = run->a - piece->src;
        piece->dst_step = run->b - piece->dst;
    }
    piece->n++;
    return true;
}

/* What remains of a run between local indices first and end of the target. */
static bool clip(dt__overlap_run *run, int64_t first, int64_t end) {
    int64_t before = dt__max_i64(0, first - run->b), length = run->end - run->begin;
    int64_t behind = dt__max_i64(0, run->b + length - end);
    if (before + behind >= length)
        return false;
    run->begin += before;
    run->a += before;
    run->b += before;
    run->end -= behind;
    return true;
}

/* Counts the pieces that two shards have in common, and writes them where there is an out. */
static int64_t list_pieces(const dt__shard *held, const dt__shard *wanted, int64_t first, int64_t end,
                           dt__piece *out) {
    int64_t n = 0, at = 0;
    dt__piece last = {0};
    dt__overlap_run run;
    while (dt__overlap_next(held, wanted, &at, &run)) {
        if (!clip(&run, first, end))
            continue;
        if (n && join(&last, &run)) {
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
static dt_status find_pieces(making *self, dt__block *block) {
    const dt__sharding *from = &self->what->from->sharding;
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
        bool shared = self->out->two_phases && d == self->out->share_dim;
        int64_t first = shared ? self->first : 0, end = shared ? self->end : INT64_MAX;
        dt__shard held;
        dt__shard_at(from, d, self->source, &held);
        n_pieces[d] = list_pieces(&held, &self->wanted[d], first, end, NULL);
        if (n_pieces[d] == 0)
            return DT_OK;
        dt__piece *list = DT__NEW_ARRAY(self->arena, dt__piece, n_pieces[d]);
        if (!list)
            return DT_ERR_MEMORY;
        list_pieces(&held, &self->wanted[d], first, end, list);
        pieces[d] = list;
        elements *= size_of_pieces(list, n_pieces[d]);
        self->out->bytes += n_pieces[d] * (int64_t)sizeof *list;
    }
    block->elements = elements;
    return DT_OK;
}

static dt_status find_part(making *self, dt__block *block) {
    const dt_spec *from = self->what->from;
    dt_local local;
    dt__spec_local(from, self->source, &local);
    block->shape = dt__arena_copy(self->arena, local.shape, (size_t)local.n_dims, sizeof *local.shape);
    block->strides = dt__arena_copy(self->arena, local.strides, (size_t)local.n_dims, sizeof *local.strides);
    block->part_elements = local.elements;
    return block->shape && block->strides ? DT_OK : DT_ERR_MEMORY;
}

/* One holder per value that is reduced, in the order of the mesh. */
static dt_status find_members(making *self, dt__block *block) {
    const dt__sharding *from = &self->what->from->sharding;
    int64_t *members = DT__NEW_ARRAY(self->arena, int64_t, self->out->n_sources);
    int64_t coordinate[DT_SPEC_MAX_DIMS], i = 0;
    if (!members)
        return DT_ERR_MEMORY;
    memcpy(coordinate, self->source, sizeof coordinate);
    rewind_coordinate(from->n_mesh_dims, self->reduced, coordinate);
    do {
        members[i] = place_of(self->what, dt_mesh_rank_at(self->what->from->mesh, coordinate));
        if (members[i++] < 0)
            return dt__fail(self->arena->ctx, DT_ERR_INTERNAL,
                            "redistribute: rank %lld holds what rank %lld needs, and is not in its group",
                            (long long)dt_mesh_rank_at(self->what->from->mesh, coordinate),
                            (long long)self->what->rank);
    } while (next_coordinate(from->n_mesh_dims, from->mesh, self->reduced, coordinate));
    block->members = members;
    return DT_OK;
}

static dt_status add_block(making *self, const dt__block *block) {
    dt__pulls *out = self->out;
    if (out->n_blocks == self->room) {
        int64_t room = self->room ? 2 * self->room : 4;
        dt__block *blocks = DT__NEW_ARRAY(self->arena, dt__block, room);
        if (!blocks)
            return DT_ERR_MEMORY;
        if (out->n_blocks)
            memcpy(blocks, out->blocks, (size_t)out->n_blocks * sizeof *blocks);
        out->blocks = blocks;
        self->room = room;
    }
    out->blocks[out->n_blocks++] = *block;
    out->bytes += (int64_t)sizeof *block + (out->n_sources + 4 * out->n_dims) * (int64_t)sizeof(int64_t);
    return DT_OK;
}

static dt_status look_at_part(making *self) {
    dt__arena_mark mark = dt__arena_begin(self->arena);
    dt__block block = {0};
    DT__TRY(find_pieces(self, &block));
    if (!block.elements) {
        dt__arena_rewind(self->arena, mark);
        return DT_OK;
    }
    DT__TRY(find_part(self, &block));
    DT__TRY(find_members(self, &block));
    return add_block(self, &block);
}

static int64_t row_major(int n, const int64_t *sizes, const int64_t *coordinate) {
    int64_t i = 0;
    for (int m = 0; m < n; m++)
        i = i * sizes[m] + coordinate[m];
    return i;
}

/* Where ranks are alike in the source, this one keeps to its own coordinates; one that is outside takes those that
 * its number in the target's mesh gives. */
static void choose_holders(making *self) {
    const dt__sharding *from = &self->what->from->sharding, *to = &self->what->to->sharding;
    if (dt_mesh_coordinate_of(self->what->from->mesh, self->what->rank, self->source))
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

static void find_roles(making *self) {
    const dt__sharding *from = &self->what->from->sharding;
    dt__pulls *out = self->out;
    find_reduced(self->what, self->reduced);
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

/* Mesh dims of the target along which the members of the group keep the same. */
static int64_t find_replicas(const making *self, bool *out) {
    const dt__sharding *to = &self->what->to->sharding;
    for (int m = 0; m < to->n_mesh_dims; m++)
        out[m] = dt_placement_is_replicate(to->placements[m]) && (!self->what->same_mesh || self->what->changes[m]);
    return n_coordinates(to->n_mesh_dims, to->mesh, out);
}

static bool is_empty(const making *self) {
    for (int d = 0; d < self->out->n_dims; d++)
        if (!self->wanted[d].size)
            return true;
    return false;
}

/* A share is a block of one piece per dim. */
static dt_status make_share_blocks(making *self) {
    dt__pulls *out = self->out;
    int n_dims = out->n_dims;
    out->share_blocks = DT__NEW_ARRAY(self->arena, dt__block, out->n_shares);
    if (!out->share_blocks)
        return DT_ERR_MEMORY;
    for (int64_t i = 0; i < out->n_shares; i++) {
        const dt__share *share = &out->shares[i];
        dt__piece *list = DT__NEW_ARRAY(self->arena, dt__piece, n_dims);
        const dt__piece **pieces = DT__NEW_ARRAY(self->arena, const dt__piece *, n_dims);
        int64_t *n_pieces = DT__NEW_ARRAY(self->arena, int64_t, n_dims);
        if (!list || !pieces || !n_pieces)
            return DT_ERR_MEMORY;
        int64_t elements = 1;
        for (int d = 0; d < n_dims; d++) {
            bool shared = d == out->share_dim;
            int64_t first = shared ? share->first : 0, size = shared ? share->size : self->wanted[d].size;
            list[d] = (dt__piece){.size = size, .n = 1, .src = first, .dst = first};
            pieces[d] = &list[d];
            n_pieces[d] = 1;
            elements *= size;
        }
        out->share_blocks[i] =
            (dt__block){.elements = elements, .pieces = pieces, .n_pieces = n_pieces, .members = &share->member};
        out->bytes += (int64_t)sizeof(dt__block) + n_dims * (int64_t)(sizeof *list + 2 * sizeof(int64_t));
    }
    return DT_OK;
}

/* Shares this rank's part of the target out among those that keep the same. */
static dt_status find_shares(making *self) {
    const dt__sharding *to = &self->what->to->sharding;
    dt__pulls *out = self->out;
    bool walked[DT_SPEC_MAX_DIMS];
    int64_t n_replicas = find_replicas(self, walked), coordinate[DT_SPEC_MAX_DIMS];
    if (!dt__reduces_in_two_phases(out->n_sources, n_replicas, self->what->to->max_bytes))
        return DT_OK;
    out->two_phases = true;
    out->share_dim = dt__portion_dim(to->n_dims, self->what->to->stride_order, self->wanted, n_replicas);
    out->shares = DT__NEW_ARRAY(self->arena, dt__share, n_replicas);
    if (!out->shares)
        return DT_ERR_MEMORY;
    int64_t size = self->wanted[out->share_dim].size, width = dt__ceil_div(size, n_replicas), own = 0;
    memcpy(coordinate, self->target, sizeof coordinate);
    rewind_coordinate(to->n_mesh_dims, walked, coordinate);
    for (int64_t i = 0; i < n_replicas; i++, next_coordinate(to->n_mesh_dims, to->mesh, walked, coordinate)) {
        int64_t first = dt__min_i64(i * width, size), rank = dt_mesh_rank_at(self->what->to->mesh, coordinate);
        dt__share share = {place_of(self->what, rank), first, dt__min_i64(width, size - first)};
        if (rank == self->what->rank) {
            self->first = first;
            self->end = first + share.size;
            own = out->n_shares;
        } else if (share.size && !is_empty(self)) {
            out->shares[out->n_shares++] = share;
        }
    }
    /* Each begins with the one behind it, so that they do not all read one rank's memory at a time. */
    dt__share *turned = DT__NEW_ARRAY(self->arena, dt__share, out->n_shares);
    if (!turned)
        return DT_ERR_MEMORY;
    for (int64_t i = 0; i < out->n_shares; i++)
        turned[i] = out->shares[(own + i) % out->n_shares];
    out->shares = turned;
    return make_share_blocks(self);
}

/* Begins with the first block that this rank or one behind it holds, as shares do. */
static dt_status turn_blocks(making *self) {
    dt__pulls *out = self->out;
    int64_t me = place_of(self->what, self->what->rank), first = 0;
    while (first < out->n_blocks && out->blocks[first].members[0] < me)
        first++;
    dt__block *turned = DT__NEW_ARRAY(self->arena, dt__block, out->n_blocks);
    if (!turned)
        return DT_ERR_MEMORY;
    for (int64_t i = 0; i < out->n_blocks; i++)
        turned[i] = out->blocks[(first + i) % out->n_blocks];
    out->blocks = turned;
    return DT_OK;
}

dt_status dt__pulls_new(dt__arena *arena, const dt__pulls_of *what, dt__pulls *out) {
    making self = {.arena = arena, .what = what, .out = out};
    const dt__sharding *from = &what->from->sharding, *to = &what->to->sharding;
    *out = (dt__pulls){.n_dims = from->n_dims};
    find_roles(&self);
    bool wants = dt_mesh_coordinate_of(what->to->mesh, what->rank, self.target);
    for (int d = 0; wants && d < to->n_dims; d++)
        dt__shard_at(to, d, self.target, &self.wanted[d]);
    if (!wants) { /* it takes part in both phases all the same */
        bool walked[DT_SPEC_MAX_DIMS];
        out->two_phases =
            dt__reduces_in_two_phases(out->n_sources, find_replicas(&self, walked), what->to->max_bytes);
        return DT_OK;
    }
    DT__TRY(find_shares(&self));
    choose_holders(&self);
    rewind_coordinate(from->n_mesh_dims, self.cut, self.source);
    do
        DT__TRY(look_at_part(&self));
    while (next_coordinate(from->n_mesh_dims, from->mesh, self.cut, self.source));
    return turn_blocks(&self);
}
