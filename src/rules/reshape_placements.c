/* SPDX-License-Identifier: Apache-2.0
 *
 * Maps shards from the dims of a tensor to those of its reshape. Where everything divides evenly, a shard over n
 * ranks is a digit of radix n of the row-major index of its group of dims: `weight` is the product of the radices
 * before it. A digit does not depend on dims, so it is read from the one shape and written to the other, where it may
 * need a strided shard or an order:
 *
 *     [8,4] S(1) over 2, as [32]: weight 8, radix 2 of 32: 8 chunks, each split in 2: _S(0,8)
 *
 * Where something is uneven, a dim that stays as it is keeps its shards; the last dim of a group keeps one shard,
 * which the last dim of the other group holds with another number of chunks; and the first dim of a group keeps one
 * shard, with explicit extents:
 *
 *     [4,5] S(1) over 2, as [20]: 4 chunks of 5, each split in 3 and 2: _S(0,4)
 *     [5,4] S(0) over 2, as [20]: S(0){12,8}
 */
#include "rules/rules.h"

#include "base/size.h"

#include <string.h>

int dt__dim_groups_find(int n_from, const int64_t *from, int n_to, const int64_t *to, dt__dim_group *out) {
    int i = 0, j = 0, n = 0;
    bool empty = false;
    for (int d = 0; d < n_from; d++)
        empty = empty || from[d] == 0;
    while (i < n_from && j < n_to) {
        bool same = from[i] == to[j];
        if (!same && empty)
            break;
        if (!same && (from[i] == 1 || to[j] == 1)) {
            i += from[i] == 1;
            j += to[j] == 1;
            continue;
        }
        dt__dim_group group = {{i, j}, {0, 0}};
        int64_t a = from[i++], b = to[j++];
        while (a != b)
            if (a < b)
                a *= from[i++];
            else
                b *= to[j++];
        group.n[0] = i - group.first[0];
        group.n[1] = j - group.first[1];
        out[n++] = group;
    }
    return n;
}

enum { MAX_EXTENTS = 4096 };

typedef struct digit {
    int mesh_dim;
    int64_t weight, radix;
} digit;

typedef struct digits {
    int n;
    digit list[DT_SPEC_MAX_DIMS]; /* by weight */
} digits;

/* Adds a digit; false if it would overlap another, or if the larger weight is not a multiple of the smaller digit: then
 * the split is not a digit, because its blocks begin inside those of the other. */
static bool add_digit(digits *self, digit one) {
    int at = self->n;
    for (int i = 0; i < self->n; i++) {
        const digit *other = &self->list[i];
        bool before = one.weight % (other->weight * other->radix) == 0;
        bool after = other->weight % (one.weight * one.radix) == 0;
        if (!before && !after)
            return false;
        if (after && at == self->n)
            at = i;
    }
    memmove(&self->list[at + 1], &self->list[at], (size_t)(self->n - at) * sizeof *self->list);
    self->list[at] = one;
    self->n++;
    return true;
}

/* Reads the shards of one dim, whose first digit has the weight `left`. */
static bool read_dim(const dt__sharding *from, int dim, int64_t left, digits *out) {
    digits own = {0}; /* of this dim, by weights within it */
    for (int c = from->first_cut[dim]; c < from->first_cut[dim + 1]; c++) {
        const dt__cut *cut = &from->cuts[c];
        int64_t weight = cut->split;
        if (cut->starts)
            return false;
        for (int i = 0; i < own.n; i++)
            if (own.list[i].weight <= weight)
                weight *= own.list[i].radix;
        if (cut->n == 1)
            continue;
        if (from->shape[dim] % weight || from->shape[dim] / weight % cut->n)
            return false;
        if (!add_digit(&own, (digit){cut->mesh_dim, weight, cut->n}))
            return false;
    }
    for (int i = 0; i < own.n; i++)
        if (!add_digit(out, (digit){own.list[i].mesh_dim, own.list[i].weight * left, own.list[i].radix}))
            return false;
    return true;
}

/* Writes digits as shards of the dims of one group. */
static bool write_group(const digits *from, const dt__dim_group *group, const int64_t *to, dt_placement *out) {
    int64_t left = 1;
    int i = 0;
    for (int d = group->first[1]; d < group->first[1] + group->n[1]; d++) {
        int64_t taken = 1; /* by digits of this dim so far */
        for (int position = 0; i < from->n && from->list[i].weight < left * to[d]; i++, position++) {
            const digit *one = &from->list[i];
            int64_t end = one->weight * one->radix;
            if (one->weight % left || left * to[d] % end || one->weight / left % taken)
                return false;
            int64_t split = one->weight / left / taken;
            out[one->mesh_dim] = split == 1 ? dt_placement_shard(d) : dt_placement_strided(d, split);
            out[one->mesh_dim].position = position;
            out[one->mesh_dim].ordered = true;
            taken *= one->radix;
        }
        left *= to[d];
    }
    return i == from->n;
}

static bool map_evenly(const dt__sharding *from, const dt__dim_group *group, const int64_t *to, dt_placement *out) {
    digits all = {0};
    int64_t left = 1;
    for (int d = group->first[0]; d < group->first[0] + group->n[0]; d++) {
        if (!read_dim(from, d, left, &all))
            return false;
        left *= from->shape[d];
    }
    return write_group(&all, group, to, out);
}

/* A dim that stays as it is. */
static void copy_cuts(const dt__sharding *from, const dt__dim_group *group, dt_placement *out) {
    for (int c = from->first_cut[group->first[0]]; c < from->first_cut[group->first[0] + 1]; c++) {
        int m = from->cuts[c].mesh_dim;
        out[m] = from->placements[m];
        out[m].dim = group->first[1];
    }
}

static int64_t product(const int64_t *sizes, int n) {
    int64_t all = 1;
    for (int i = 0; i < n; i++)
        all *= sizes[i];
    return all;
}

/* The only shard of the group; NULL if there are several. */
static const dt__cut *only_cut(const dt__sharding *from, const dt__dim_group *group) {
    int first = from->first_cut[group->first[0]];
    return from->first_cut[group->first[0] + group->n[0]] == first + 1 ? &from->cuts[first] : NULL;
}

/* One uneven shard of the last dim: chunks of the same size in the last dim. */
static bool map_last(const dt__sharding *from, const dt__dim_group *group, const int64_t *to, dt_placement *out) {
    int last = group->first[0] + group->n[0] - 1, last_to = group->first[1] + group->n[1] - 1;
    const dt__cut *cut = only_cut(from, group);
    if (!cut || from->first_cut[last + 1] == from->first_cut[last] || cut->starts || from->shape[last] % cut->split)
        return false;
    int64_t chunk = from->shape[last] / cut->split, n_chunks = to[last_to] / chunk;
    if (to[last_to] % chunk)
        return false;
    out[cut->mesh_dim] = n_chunks == 1 ? dt_placement_shard(last_to) : dt_placement_strided(last_to, n_chunks);
    return true;
}

/* One uneven shard of the first dim: explicit extents of the first dim. */
static dt_status map_first(dt__arena *arena, const dt__sharding *from, const dt__dim_group *group, const int64_t *to,
                           dt_placement *out, bool *fits) {
    int first = group->first[0];
    const dt__cut *cut = only_cut(from, group);
    int64_t inner = product(from->shape + first + 1, group->n[0] - 1);
    int64_t inner_to = product(to + group->first[1] + 1, group->n[1] - 1);
    *fits = false;
    if (!cut || from->first_cut[first + 1] == from->first_cut[first] || cut->split != 1 || cut->n > MAX_EXTENTS)
        return DT_OK;
    int64_t *extents = DT__NEW_ARRAY(arena, int64_t, cut->n);
    if (!extents)
        return DT_ERR_MEMORY;
    for (int64_t r = 0; r < cut->n; r++) {
        int64_t elements = dt__cut_size(cut, from->shape[first], r) * inner;
        if (elements % inner_to)
            return DT_OK;
        extents[r] = elements / inner_to;
    }
    out[cut->mesh_dim] = dt_placement_shard(group->first[1]);
    out[cut->mesh_dim].n_extents = cut->n;
    out[cut->mesh_dim].extents = extents;
    *fits = true;
    return DT_OK;
}

static bool has_cuts(const dt__sharding *from, const dt__dim_group *group) {
    return from->first_cut[group->first[0]] < from->first_cut[group->first[0] + group->n[0]];
}

/* Cuts by mesh dims of size 1 have no effect; other cuts must all be in some group. */
static bool is_covered(const dt__sharding *from, const dt_placement *out) {
    for (int m = 0; m < from->n_mesh_dims; m++)
        if (dt__is_cut(&from->placements[m]) && from->mesh[m] > 1 && !dt__is_cut(&out[m]))
            return false;
    return true;
}

dt_status dt__reshape_placements(dt__arena *arena, const dt__sharding *from, int n_to, const int64_t *to,
                                 dt_placement *out, bool *fits) {
    dt__dim_group groups[DT_SPEC_MAX_DIMS];
    int n = dt__dim_groups_find(from->n_dims, from->shape, n_to, to, groups);
    for (int m = 0; m < from->n_mesh_dims; m++)
        out[m] = dt__is_cut(&from->placements[m]) ? dt_placement_replicate() : from->placements[m];
    *fits = true;
    for (int g = 0; g < n && *fits; g++) {
        const dt__dim_group *group = &groups[g];
        if (!has_cuts(from, group))
            continue;
        if (group->n[0] == 1 && group->n[1] == 1)
            copy_cuts(from, group, out);
        else if (!map_evenly(from, group, to, out) && !map_last(from, group, to, out))
            DT__TRY(map_first(arena, from, group, to, out, fits));
    }
    *fits = *fits && is_covered(from, out);
    return DT_OK;
}
