/* SPDX-License-Identifier: Apache-2.0
 *
 * The arithmetic of cuts. The figure shows _S(0,2) over n = 2 on 7 positions: 2 chunks of ceil(7/2) = 4 and 3, each
 * in 2 blocks of ceil(4/2) = 2 and ceil(3/2) = 2. Full chunks are alike, so that one level describes all of them.
 *
 *     position        0 1 2 3 | 4 5 6        coordinate 0: 0 1 4 5
 *     coordinate      0 0 1 1 | 0 0 1        coordinate 1: 2 3 6
 */
#include "spec/shard.h"

#include "base/size.h"

/* n + 1 running sums of the extents. */
static const int64_t *starts_of(dt__arena *arena, const dt_placement *placement) {
    int64_t *starts = DT__NEW_ARRAY(arena, int64_t, placement->n_extents + 1);
    for (int64_t r = 0; starts && r < placement->n_extents; r++)
        starts[r + 1] = starts[r] + placement->extents[r];
    return starts;
}

static bool build_cuts(dt__arena *arena, const dt__sharding *sharding, int *first_cut, dt__cut *cuts) {
    for (int m = 0; m < sharding->n_mesh_dims; m++)
        if (dt__is_cut(&sharding->placements[m]))
            first_cut[sharding->placements[m].dim + 1]++;
    for (int d = 0; d < sharding->n_dims; d++)
        first_cut[d + 1] += first_cut[d];
    for (int m = 0; m < sharding->n_mesh_dims; m++) {
        const dt_placement *placement = &sharding->placements[m];
        if (!dt__is_cut(placement))
            continue;
        dt__cut *cut = &cuts[first_cut[placement->dim] + placement->position];
        *cut = (dt__cut){.mesh_dim = m, .n = sharding->mesh[m], .split = 1};
        if (placement->kind == DT_PLACEMENT_STRIDED)
            cut->split = placement->split_factor;
        else if (placement->n_extents && !(cut->starts = starts_of(arena, placement)))
            return false;
    }
    return true;
}

static bool copy_placements(dt__arena *arena, const dt__sharding_desc *desc, const dt_placement **out) {
    dt_placement *placements = dt__arena_copy(arena, desc->placements, (size_t)desc->n_mesh_dims, sizeof *placements);
    if (!placements)
        return false;
    for (int m = 0; m < desc->n_mesh_dims; m++)
        if (placements[m].n_extents &&
            !(placements[m].extents =
                  dt__arena_copy(arena, placements[m].extents, (size_t)placements[m].n_extents, sizeof(int64_t))))
            return false;
    *out = placements;
    return true;
}

dt_status dt__sharding_build(dt__arena *arena, const dt__sharding_desc *desc, dt__sharding *out) {
    dt__sharding sharding = {
        .n_dims = desc->n_dims,
        .n_mesh_dims = desc->n_mesh_dims,
        .shape = dt__arena_copy(arena, desc->shape, (size_t)desc->n_dims, sizeof(int64_t)),
        .mesh = dt__arena_copy(arena, desc->mesh, (size_t)desc->n_mesh_dims, sizeof(int64_t)),
    };
    int *first_cut = DT__NEW_ARRAY(arena, int, desc->n_dims + 1);
    dt__cut *cuts = DT__NEW_ARRAY(arena, dt__cut, desc->n_mesh_dims);
    if (!sharding.shape || !sharding.mesh || !first_cut || !cuts ||
        !copy_placements(arena, desc, &sharding.placements) || !build_cuts(arena, &sharding, first_cut, cuts))
        return DT_ERR_MEMORY;
    sharding.first_cut = first_cut;
    sharding.cuts = cuts;
    *out = sharding;
    return DT_OK;
}

dt_status dt__sharding_new(dt__arena *arena, const dt__sharding_desc *desc, dt__sharding *out) {
    dt_placement normalized[DT_SPEC_MAX_DIMS];
    DT__TRY(dt__placements_normalize(arena->ctx, desc, normalized));
    dt__sharding_desc checked = *desc;
    checked.placements = normalized;
    return dt__sharding_build(arena, &checked, out);
}

/* Block r of n of `size` positions. r * width is below size + n, which fits in an unsigned 64-bit integer. */
static void block_of(int64_t size, int64_t n, int64_t r, int64_t *begin, int64_t *count) {
    int64_t width = dt__ceil_div(size, n);
    uint64_t start = (uint64_t)r * (uint64_t)width;
    *begin = start < (uint64_t)size ? (int64_t)start : size;
    *count = dt__min_i64(width, size - *begin);
}

/* What coordinate r keeps of `size` positions. */
static dt__shard_level level_at(const dt__cut *cut, int64_t size, int64_t r) {
    if (cut->starts)
        return (dt__shard_level){
            .chunk = size, .n_whole = 1, .begin = cut->starts[r], .mine = cut->starts[r + 1] - cut->starts[r]};
    int64_t chunk = cut->split == 1 ? size : dt__ceil_div(size, cut->split);
    dt__shard_level level = {.chunk = chunk, .n_whole = chunk == size ? 1 : size / chunk};
    block_of(chunk, cut->n, r, &level.begin, &level.mine);
    int64_t tail = size - level.n_whole * chunk;
    if (tail)
        block_of(tail, cut->n, r, &level.tail_begin, &level.tail_mine);
    return level;
}

static int64_t level_size(const dt__shard_level *level) { return level->n_whole * level->mine + level->tail_mine; }

int64_t dt__cut_size(const dt__cut *cut, int64_t size, int64_t r) {
    if (!size)
        return 0;
    dt__shard_level level = level_at(cut, size, r);
    return level_size(&level);
}

/* Position before the cut of position i after it. */
static int64_t level_up(const dt__shard_level *level, int64_t i) {
    if (i < level->mine)
        return level->begin + i;
    int64_t from_whole = level->n_whole * level->mine;
    if (level->mine && i < from_whole)
        return i / level->mine * level->chunk + level->begin + i % level->mine;
    return level->n_whole * level->chunk + level->tail_begin + (i - from_whole);
}

/* First position after the cut that stands for position x before it or a later one. */
static int64_t level_seek(const dt__shard_level *level, int64_t x) {
    int64_t at = x < level->chunk ? 0 : x / level->chunk;
    if (at < level->n_whole)
        return at * level->mine + dt__min_i64(dt__max_i64(x - at * level->chunk - level->begin, 0), level->mine);
    int64_t in_tail = x - level->n_whole * level->chunk - level->tail_begin;
    return level->n_whole * level->mine + dt__min_i64(dt__max_i64(in_tail, 0), level->tail_mine);
}

/* Positions from i to the end of the consecutive ones that the cut keeps. */
static int64_t level_left(const dt__shard_level *level, int64_t i) {
    if (i < level->mine)
        return level->mine - i;
    int64_t from_whole = level->n_whole * level->mine;
    return level->mine && i < from_whole ? level->mine - i % level->mine : from_whole + level->tail_mine - i;
}

static bool is_one_block(const dt__shard_level *level) { return level->n_whole == 1 && !level->tail_mine; }

/* Adds a cut to the chain. One that keeps everything changes nothing, a block of a block is a block; therefore runs
 * never touch, and a plain shard has at most one level. */
static void push(dt__shard *shard, dt__shard_level level) {
    int64_t size = level_size(&level);
    if (size == shard->size)
        return;
    if (level.mine == 0)
        level = (dt__shard_level){.chunk = shard->size,
                                  .n_whole = 1,
                                  .begin = level.n_whole * level.chunk + level.tail_begin,
                                  .mine = level.tail_mine};
    dt__shard_level *last = shard->n_levels ? &shard->levels[shard->n_levels - 1] : NULL;
    shard->size = size;
    if (size == 0) {
        shard->n_levels = 0;
    } else if (last && is_one_block(last) && is_one_block(&level)) {
        last->begin += level.begin;
        last->mine = level.mine;
    } else {
        shard->levels[shard->n_levels++] = level;
    }
}

void dt__shard_at(const dt__sharding *sharding, int dim, const int64_t *coordinate, dt__shard *out) {
    out->global_size = out->size = sharding->shape[dim];
    out->n_levels = 0;
    for (int c = sharding->first_cut[dim]; c < sharding->first_cut[dim + 1] && out->size; c++) {
        const dt__cut *cut = &sharding->cuts[c];
        push(out, level_at(cut, out->size, coordinate[cut->mesh_dim]));
    }
}

int64_t dt__shard_to_global(const dt__shard *shard, int64_t i) {
    for (int l = shard->n_levels - 1; l >= 0; l--)
        i = level_up(&shard->levels[l], i);
    return i;
}

int64_t dt__shard_seek(const dt__shard *shard, int64_t global) {
    for (int l = 0; l < shard->n_levels; l++)
        global = level_seek(&shard->levels[l], global);
    return dt__min_i64(global, shard->size);
}

bool dt__shard_to_local(const dt__shard *shard, int64_t global, int64_t *out) {
    if (global < 0 || global >= shard->global_size)
        return false;
    int64_t i = dt__shard_seek(shard, global);
    if (i == shard->size || dt__shard_to_global(shard, i) != global)
        return false;
    *out = i;
    return true;
}

dt_run dt__shard_run(const dt__shard *shard, int64_t i) {
    int64_t at = i, left = shard->size - i;
    for (int l = shard->n_levels - 1; l >= 0; l--) {
        left = dt__min_i64(left, level_left(&shard->levels[l], at));
        at = level_up(&shard->levels[l], at);
    }
    return (dt_run){at, at + left, i};
}

int64_t dt__shard_offset(const dt__shard *shard) {
    return shard->size ? dt__shard_to_global(shard, 0) : shard->global_size;
}

void dt__sharding_local(const dt__sharding *sharding, const int64_t *coordinate, int64_t *shape, int64_t *offset) {
    dt__shard shard;
    for (int d = 0; d < sharding->n_dims; d++) {
        dt__shard_at(sharding, d, coordinate, &shard);
        shape[d] = shard.size;
        offset[d] = dt__shard_offset(&shard);
    }
}

/* The last r with starts[r] <= x: empty shards before x are skipped, because the next one starts there, too. */
static int64_t holder_by_starts(const dt__cut *cut, int64_t x) {
    int64_t low = 0, high = cut->n;
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (cut->starts[middle] <= x)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* The coordinate that keeps position x of `size`. */
static int64_t holder(const dt__cut *cut, int64_t size, int64_t x) {
    if (cut->starts)
        return holder_by_starts(cut, x);
    int64_t chunk = cut->split == 1 ? size : dt__ceil_div(size, cut->split);
    int64_t from = x / chunk * chunk, width = dt__ceil_div(dt__min_i64(chunk, size - from), cut->n);
    return width ? (x - from) / width : 0; /* never 0: x is in this chunk */
}

void dt__sharding_dim_owner(const dt__sharding *sharding, int dim, int64_t i, int64_t *coordinate) {
    int64_t size = sharding->shape[dim];
    for (int c = sharding->first_cut[dim]; c < sharding->first_cut[dim + 1]; c++) {
        const dt__cut *cut = &sharding->cuts[c];
        int64_t r = coordinate[cut->mesh_dim] = holder(cut, size, i);
        dt__shard_level level = level_at(cut, size, r);
        i = level_seek(&level, i);
        size = level_size(&level);
    }
}

void dt__sharding_owner(const dt__sharding *sharding, const int64_t *global, int64_t *coordinate) {
    for (int m = 0; m < sharding->n_mesh_dims; m++)
        coordinate[m] = -1;
    for (int d = 0; d < sharding->n_dims; d++)
        dt__sharding_dim_owner(sharding, d, global[d], coordinate);
}

bool dt__sharding_next_owner(const dt__sharding *sharding, const int64_t *owner, int64_t *at, int64_t *coordinate) {
    int64_t rest = (*at)++;
    for (int m = sharding->n_mesh_dims - 1; m >= 0; m--) {
        coordinate[m] = owner[m] >= 0 ? owner[m] : rest % sharding->mesh[m];
        rest = owner[m] >= 0 ? rest : rest / sharding->mesh[m];
    }
    return rest == 0;
}
