/* SPDX-License-Identifier: Apache-2.0
 *
 * The indices that each coordinate holds, by the definition alone: lists of indices are split into chunks, one split
 * after the other; and random cases. Nothing here shares code or formulas with the library.
 */
#ifndef DT_TESTS_SPEC_BRUTE_H
#define DT_TESTS_SPEC_BRUTE_H

#include "support/check.h"

#include "spec/spec.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BRUTE_MAX_INDICES = 256, BRUTE_MAX_DIMS = 4 };

static inline int brute_below(uint64_t *random, int n) { return (int)test_below(random, n); }

/* Placements of a tensor of n_dims on a mesh of n_mesh_dims; order[d] lists the mesh dims that split dim d. */
typedef struct brute_case {
    int n_mesh_dims, n_dims;
    int64_t mesh[BRUTE_MAX_DIMS], shape[BRUTE_MAX_DIMS];
    dt_placement placements[BRUTE_MAX_DIMS];
    int64_t extents[BRUTE_MAX_DIMS][BRUTE_MAX_INDICES];
    int n_order[BRUTE_MAX_DIMS], order[BRUTE_MAX_DIMS][BRUTE_MAX_DIMS];
    char text[512];
} brute_case;

typedef struct brute_list {
    int n, items[BRUTE_MAX_INDICES];
} brute_list;

/* Chunk i of n_chunks, each of ceil(n / n_chunks) indices, the last ones short or empty. */
static inline brute_list brute_chunk(const brute_list *from, int64_t n_chunks, int64_t i) {
    brute_list out = {0};
    int64_t length = 0;
    while (length * n_chunks < from->n)
        length++;
    for (int at = 0; at < from->n; at++)
        if (length && at / length == i)
            out.items[out.n++] = from->items[at];
    return out;
}

static inline brute_list brute_split(const brute_list *from, const dt_placement *placement, int64_t n, int64_t r) {
    brute_list out = {0};
    if (placement->n_extents) {
        int64_t skip = 0;
        for (int64_t i = 0; i < r; i++)
            skip += placement->extents[i];
        for (int64_t i = 0; i < placement->extents[r]; i++)
            out.items[out.n++] = from->items[skip + i];
        return out;
    }
    int64_t n_chunks = placement->kind == DT_PLACEMENT_STRIDED ? placement->split_factor : 1;
    for (int64_t i = 0; i < n_chunks && i < from->n; i++) {
        brute_list chunk = brute_chunk(from, n_chunks, i);
        brute_list block = brute_chunk(&chunk, n, r);
        memcpy(out.items + out.n, block.items, (size_t)block.n * sizeof *block.items);
        out.n += block.n;
    }
    return out;
}

/* The indices of dim d that a coordinate holds. */
static inline brute_list brute_shard(const brute_case *c, int d, const int64_t *coordinate) {
    brute_list list = {.n = (int)c->shape[d]};
    for (int i = 0; i < list.n; i++)
        list.items[i] = i;
    for (int k = 0; k < c->n_order[d]; k++) {
        int m = c->order[d][k];
        list = brute_split(&list, &c->placements[m], c->mesh[m], coordinate[m]);
    }
    return list;
}

static inline int64_t brute_world(const brute_case *c) {
    int64_t n = 1;
    for (int m = 0; m < c->n_mesh_dims; m++)
        n *= c->mesh[m];
    return n;
}

static inline void brute_coordinate(const brute_case *c, int64_t rank, int64_t *out) {
    for (int m = c->n_mesh_dims - 1; m >= 0; m--) {
        out[m] = rank % c->mesh[m];
        rank /= c->mesh[m];
    }
}

static inline dt_placement brute_random_placement(uint64_t *random, int n_dims, int partial) {
    int dice = brute_below(random, 10);
    if (n_dims && dice < 4) {
        int dim = brute_below(random, n_dims);
        return dt_placement_shard(brute_below(random, 3) ? dim : dim - n_dims);
    }
    if (n_dims && dice < 7)
        return dt_placement_strided(brute_below(random, n_dims), 1 + brute_below(random, 6));
    if (dice < 8)
        return dt_placement_replicate();
    if (partial == DT_N_REDUCES)
        return dt_placement_masked();
    return dt_placement_partial((dt_reduce)partial);
}

/* One in three dims that are split by one plain shard gets explicit extents, some of them 0. */
static inline void brute_random_extents(uint64_t *random, brute_case *c, int d) {
    int m = c->order[d][0];
    if (c->n_order[d] != 1 || c->placements[m].kind != DT_PLACEMENT_SHARD || brute_below(random, 3))
        return;
    int64_t left = c->shape[d];
    for (int64_t r = 0; r < c->mesh[m]; r++) {
        int64_t size = r + 1 < c->mesh[m] ? brute_below(random, (int)left + 1) : left;
        c->extents[m][r] = brute_below(random, 4) || r + 1 == c->mesh[m] ? size : 0;
        left -= c->extents[m][r];
    }
    c->placements[m].n_extents = c->mesh[m];
    c->placements[m].extents = c->extents[m];
}

static inline void brute_random_order(uint64_t *random, brute_case *c, int d) {
    for (int m = 0; m < c->n_mesh_dims; m++) {
        const dt_placement *p = &c->placements[m];
        bool splits = p->kind == DT_PLACEMENT_SHARD || p->kind == DT_PLACEMENT_STRIDED;
        if (splits && (p->dim == d || p->dim + c->n_dims == d))
            c->order[d][c->n_order[d]++] = m;
    }
    if (brute_below(random, 2) == 0)
        return;
    for (int k = c->n_order[d] - 1; k > 0; k--) {
        int other = brute_below(random, k + 1), m = c->order[d][k];
        c->order[d][k] = c->order[d][other];
        c->order[d][other] = m;
    }
    for (int k = 0; k < c->n_order[d]; k++) {
        c->placements[c->order[d][k]].ordered = true;
        c->placements[c->order[d][k]].position = k;
    }
}

static inline void brute_name(brute_case *c) {
    int n = 0;
    for (int m = 0; m < c->n_mesh_dims; m++)
        n += snprintf(c->text + n, sizeof c->text - (size_t)n, "%s%" PRId64, m ? "x" : "mesh ", c->mesh[m]);
    for (int d = 0; d < c->n_dims; d++)
        n += snprintf(c->text + n, sizeof c->text - (size_t)n, "%s%" PRId64, d ? "," : " shape ", c->shape[d]);
    n += snprintf(c->text + n, sizeof c->text - (size_t)n, " ");
    dt_placements_text(c->n_mesh_dims, c->placements, sizeof c->text - (size_t)n, c->text + n);
}

/* A case of this shape on a mesh of at most most_ranks. */
static inline void brute_random_case_of(uint64_t *random, int max_ranks, int n_dims, const int64_t *shape,
                                        brute_case *c) {
    static const int sizes[] = {1, 2, 2, 3, 3, 4, 5, 7};
    *c = (brute_case){.n_mesh_dims = 1 + brute_below(random, BRUTE_MAX_DIMS), .n_dims = n_dims};
    memcpy(c->shape, shape, (size_t)n_dims * sizeof *shape);
    int ranks = 1, partial = brute_below(random, DT_N_REDUCES + 1);
    for (int m = 0; m < c->n_mesh_dims; m++) {
        int size = sizes[brute_below(random, sizeof sizes / sizeof *sizes)];
        c->mesh[m] = ranks * size <= max_ranks ? size : 1;
        ranks *= (int)c->mesh[m];
        c->placements[m] = brute_random_placement(random, n_dims, partial);
    }
    for (int d = 0; d < n_dims; d++) {
        brute_random_order(random, c, d);
        brute_random_extents(random, c, d);
    }
    brute_name(c);
}

static inline int brute_random_shape(uint64_t *random, int64_t *shape) {
    static const int sizes[] = {0, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 13, 16, 17, 31};
    int n_dims = brute_below(random, BRUTE_MAX_DIMS);
    for (int d = 0; d < n_dims; d++)
        shape[d] = sizes[brute_below(random, n_dims < 3 ? 16 : 10)];
    return n_dims;
}

static inline void brute_random_case(uint64_t *random, int max_ranks, brute_case *c) {
    int64_t shape[BRUTE_MAX_DIMS];
    int n_dims = brute_random_shape(random, shape);
    brute_random_case_of(random, max_ranks, n_dims, shape, c);
}

static inline dt__sharding_desc brute_desc(const brute_case *c) {
    return (dt__sharding_desc){c->n_mesh_dims, c->mesh, c->n_dims, c->shape, c->n_mesh_dims, c->placements};
}

/* The case as the library represents it. */
static inline dt__sharding brute_sharding(dt__arena *arena, const brute_case *c) {
    dt__sharding sharding;
    dt__sharding_desc desc = brute_desc(c);
    if (dt__sharding_new(arena, &desc, &sharding) != DT_OK)
        fail_msg("%s: %s", c->text, dt_error_text(arena->ctx));
    return sharding;
}

/* Prints the case and both numbers. */
#define check_equal(name, got, expected)                                                                             \
    do {                                                                                                             \
        int64_t got_ = (got), expected_ = (expected);                                                                \
        if (got_ != expected_)                                                                                       \
            fail_msg("%s: " #got ": expected " #expected " = %" PRId64 ", got %" PRId64, (name), expected_, got_);   \
    } while (0)

#endif
