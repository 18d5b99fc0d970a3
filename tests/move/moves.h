/* SPDX-License-Identifier: Apache-2.0
 *
 * Redistributions with values, checked element by element. What a rank holds comes from the definition of cuts
 * (spec/brute.h), every value from its global index and, where it is partial, from the coordinates along the partial
 * mesh dims; sums, averages and products of these values are exact in every dtype. Nothing here shares code with
 * the executor.
 */
#ifndef DT_TESTS_MOVE_MOVES_H
#define DT_TESTS_MOVE_MOVES_H

#include "spec/brute.h"
#include "support/launch.h"

#include "move/move.h"

enum { MOVES_MOST_RANKS = 16, MOVES_MOST_ELEMENTS = 1 << 14 };

/* Where the memory of a part lies. */
enum moves_memory { MOVES_HEAP, MOVES_FOREIGN, MOVES_N_MEMORIES };

typedef struct moves_case {
    brute_case from, to;
    bool same_mesh;
    int64_t from_ranks[MOVES_MOST_RANKS], to_ranks[MOVES_MOST_RANKS]; /* in mesh order */
    int from_order[BRUTE_MOST_DIMS], to_order[BRUTE_MOST_DIMS];       /* stride orders */
    dt_dtype dtype;
    dt__planner planner;
    enum moves_memory src, dst;
    uint64_t strided; /* 0: the source is dense; else a seed of its strides */
    bool started;
    uint64_t seed; /* of the values */
    char text[1400];
} moves_case;

static inline bool moves_is_partial(const brute_case *c, int m) {
    return c->placements[m].kind == DT_PLACEMENT_PARTIAL || c->placements[m].kind == DT_PLACEMENT_MASKED;
}

static inline bool moves_is_reduced(const moves_case *what, int m) {
    return moves_is_partial(&what->from, m) && !(what->same_mesh && moves_is_partial(&what->to, m));
}

/* The kind of the source's partials; DT_AVG where sum and avg are mixed. */
static inline dt_reduce moves_kind(const moves_case *what, int64_t *all_averaged) {
    dt_reduce kind = DT_SUM;
    *all_averaged = 1;
    for (int m = 0; m < what->from.n_mesh_dims; m++)
        if (what->from.placements[m].kind == DT_PLACEMENT_PARTIAL && what->from.placements[m].reduce != DT_SUM) {
            kind = what->from.placements[m].reduce;
            *all_averaged *= kind == DT_AVG ? what->from.mesh[m] : 1;
        }
    return kind;
}

static inline bool moves_is_narrow(dt_dtype dtype) { return dt_dtype_size(dtype) <= 2; }

/* A negative factor would leave the other half of a complex product at -0. */
static inline bool moves_has_sign(dt_dtype dtype) { return dtype != DT_U8 && dtype != DT_C64 && dtype != DT_C128; }

/* What the holder at these coordinates has for element g. */
static inline int64_t moves_value(const moves_case *what, int64_t g, const int64_t *coordinate) {
    int64_t all_averaged, p = 0;
    dt_reduce kind = moves_kind(what, &all_averaged);
    bool partial = false;
    for (int m = 0; m < what->from.n_mesh_dims; m++)
        if (moves_is_partial(&what->from, m)) {
            p = p * what->from.mesh[m] + coordinate[m];
            partial = true;
        }
    uint64_t random = what->seed + (uint64_t)g * 1000003 + (uint64_t)p * 7919;
    int64_t draw = test_below(&random, 1000);
    if (what->dtype == DT_BOOL)
        return draw & 1;
    if (!partial)
        return draw % 100 + (what->dtype == DT_I8 || what->dtype == DT_U8 ? 0 : g % 27);
    if (kind == DT_PRODUCT)
        return p == 0 ? 1 + draw % 3 : moves_has_sign(what->dtype) && draw % 2 ? -1 : 1;
    if (kind == DT_MIN || kind == DT_MAX)
        return draw % 100;
    return (moves_is_narrow(what->dtype) ? draw % 2 : draw % 17 - 8) * all_averaged;
}

static inline int64_t moves_combine(dt_dtype dtype, dt_reduce kind, int64_t a, int64_t b) {
    if (dtype == DT_BOOL)
        return kind == DT_PRODUCT || kind == DT_MIN ? (a && b) : (a || b);
    switch (kind) {
    case DT_PRODUCT:
        return a * b;
    case DT_MIN:
        return a < b ? a : b;
    case DT_MAX:
        return a > b ? a : b;
    default:
        return a + b;
    }
}

static inline bool moves_next(int n, const int64_t *sizes, const bool *walked, int64_t *index) {
    for (int m = n - 1; m >= 0; m--) {
        if (walked && !walked[m])
            continue;
        if (++index[m] < sizes[m])
            return true;
        index[m] = 0;
    }
    return false;
}

/* What the target at these coordinates must have for element g. */
static inline int64_t moves_expected(const moves_case *what, int64_t g, const int64_t *target) {
    int64_t coordinate[BRUTE_MOST_DIMS] = {0}, all_averaged, divisor = 1, total = 0;
    bool reduced[BRUTE_MOST_DIMS], first = true;
    dt_reduce kind = moves_kind(what, &all_averaged);
    for (int m = 0; m < what->from.n_mesh_dims; m++) {
        reduced[m] = moves_is_reduced(what, m);
        coordinate[m] = !reduced[m] && what->same_mesh ? target[m] : 0;
        if (reduced[m] && what->from.placements[m].kind == DT_PLACEMENT_PARTIAL &&
            what->from.placements[m].reduce == DT_AVG)
            divisor *= what->from.mesh[m];
    }
    do {
        int64_t value = moves_value(what, g, coordinate);
        total = first ? value : moves_combine(what->dtype, kind, total, value);
        first = false;
    } while (moves_next(what->from.n_mesh_dims, what->from.mesh, reduced, coordinate));
    return total / divisor;
}

/* A small whole number as f16. */
static inline uint16_t moves_half(int64_t v) {
    unsigned sign = v < 0 ? 0x8000u : 0;
    uint64_t size = (uint64_t)(v < 0 ? -v : v);
    unsigned exponent = 0;
    if (!size)
        return 0;
    while (size >> (exponent + 1))
        exponent++;
    return (uint16_t)(sign | (exponent + 15) << 10 |
                      ((exponent <= 10 ? size << (10 - exponent) : size >> (exponent - 10)) & 0x3ff));
}

static inline void moves_encode(dt_dtype dtype, int64_t v, bool product, void *out) {
    float f = (float)v;
    double d = (double)v;
    uint32_t bits;
    uint16_t half;
    float c64[2] = {f, product ? 0 : 2 * f};
    double c128[2] = {d, product ? 0 : 2 * d};
    switch (dtype) {
    case DT_F32:
        memcpy(out, &f, 4);
        return;
    case DT_F64:
        memcpy(out, &d, 8);
        return;
    case DT_F16:
        half = moves_half(v);
        memcpy(out, &half, 2);
        return;
    case DT_BF16:
        memcpy(&bits, &f, 4);
        half = (uint16_t)(bits >> 16);
        memcpy(out, &half, 2);
        return;
    case DT_C64:
        memcpy(out, c64, 8);
        return;
    case DT_C128:
        memcpy(out, c128, 16);
        return;
    default: /* integers and bool, little-endian */
        memcpy(out, &v, dt_dtype_size(dtype));
    }
}

/* A part as lists of indices. */
typedef struct moves_part {
    bool member;
    int n_dims;
    int64_t coordinate[BRUTE_MOST_DIMS], sizes[BRUTE_MOST_DIMS], strides[BRUTE_MOST_DIMS];
    brute_list lists[BRUTE_MOST_DIMS];
    int64_t elements;
    char *memory, *at; /* what was allocated, and the first element */
    size_t bytes;      /* of memory */
} moves_part;

static inline bool moves_coordinate(const brute_case *c, const int64_t *ranks, int64_t rank, int64_t *out) {
    for (int64_t i = 0; i < brute_world(c); i++)
        if (ranks[i] == rank) {
            brute_coordinate(c, i, out);
            return true;
        }
    return false;
}

static inline void moves_part_of(const brute_case *c, const int64_t *ranks, const int *order, int64_t rank,
                                 moves_part *out) {
    memset(out, 0, sizeof *out);
    out->n_dims = c->n_dims;
    out->member = moves_coordinate(c, ranks, rank, out->coordinate);
    if (!out->member)
        return;
    out->elements = 1;
    for (int d = 0; d < c->n_dims; d++) {
        out->lists[d] = brute_shard(c, d, out->coordinate);
        out->sizes[d] = out->lists[d].n;
        out->elements *= out->sizes[d];
    }
    int64_t step = 1;
    for (int i = c->n_dims - 1; i >= 0; i--) {
        out->strides[order[i]] = step;
        step *= out->sizes[order[i]] ? out->sizes[order[i]] : 1;
    }
}

/* Any order of the dims, with gaps, now and then backwards. */
static inline void moves_any_strides(moves_part *part, uint64_t seed, int64_t *first, int64_t *room) {
    bool taken[BRUTE_MOST_DIMS] = {false};
    int64_t step = 1 + test_below(&seed, 2);
    *first = 0;
    for (int k = 0; k < part->n_dims; k++) {
        int d;
        do
            d = brute_below(&seed, part->n_dims);
        while (taken[d]);
        taken[d] = true;
        bool backwards = test_below(&seed, 3) == 0;
        int64_t size = part->sizes[d] ? part->sizes[d] : 1;
        part->strides[d] = backwards ? -step : step;
        *first += backwards ? (size - 1) * step : 0;
        step = step * size + test_below(&seed, 3);
    }
    *room = step;
}

static inline int moves_alloc(dt_ctx *ctx, moves_part *part, enum moves_memory memory, size_t item, int64_t first,
                              int64_t room) {
    part->bytes = (size_t)room * item;
    if (!part->elements)
        return 0;
    part->memory = memory == MOVES_HEAP ? dt_heap_alloc(ctx, part->bytes) : malloc(part->bytes);
    CHECK(part->memory, "%s", dt_error_text(ctx));
    memset(part->memory, 0xa5, part->bytes);
    part->at = part->memory + first * (int64_t)item;
    return 0;
}

static inline void moves_free(dt_ctx *ctx, moves_part *part, enum moves_memory memory) {
    if (memory == MOVES_HEAP)
        dt_heap_free(ctx, part->memory);
    else
        free(part->memory);
}

/* Global and local place of each element in turn. */
static inline int64_t moves_global(const brute_case *c, const moves_part *part, const int64_t *index) {
    int64_t g = 0;
    for (int d = 0; d < part->n_dims; d++)
        g = g * c->shape[d] + part->lists[d].items[index[d]];
    return g;
}

static inline char *moves_place(const moves_part *part, const int64_t *index, size_t item) {
    int64_t at = 0;
    for (int d = 0; d < part->n_dims; d++)
        at += index[d] * part->strides[d];
    return part->at + at * (int64_t)item;
}

static inline bool moves_is_product(const moves_case *what) {
    int64_t all_averaged;
    return moves_kind(what, &all_averaged) == DT_PRODUCT;
}

/* Fills the source, or compares it. */
static inline int moves_source(const moves_case *what, moves_part *part, bool compare) {
    size_t item = dt_dtype_size(what->dtype);
    int64_t index[BRUTE_MOST_DIMS] = {0};
    unsigned char value[16];
    if (!part->elements)
        return 0;
    do {
        int64_t g = moves_global(&what->from, part, index);
        moves_encode(what->dtype, moves_value(what, g, part->coordinate), moves_is_product(what), value);
        char *place = moves_place(part, index, item);
        if (compare)
            CHECK(!memcmp(place, value, item), "%s: the source was changed at %lld", what->text, (long long)g);
        else
            memcpy(place, value, item);
    } while (moves_next(part->n_dims, part->sizes, NULL, index));
    return 0;
}

static inline int moves_compare(const dt_ctx *ctx, const moves_case *what, const moves_part *part) {
    size_t item = dt_dtype_size(what->dtype);
    int64_t index[BRUTE_MOST_DIMS] = {0};
    unsigned char value[16];
    if (!part->elements)
        return 0;
    do {
        int64_t g = moves_global(&what->to, part, index), want = moves_expected(what, g, part->coordinate);
        moves_encode(what->dtype, want, moves_is_product(what), value);
        const unsigned char *got = (const unsigned char *)moves_place(part, index, item);
        CHECK(!memcmp(got, value, item), "rank %lld: %s: element %lld is %02x%02x..., not %lld",
              (long long)dt_rank(ctx), what->text, (long long)g, got[0], got[item - 1], (long long)want);
    } while (moves_next(part->n_dims, part->sizes, NULL, index));
    return 0;
}

/* Elements of b that a holds, too. */
static inline int64_t moves_common(const moves_part *a, const moves_part *b) {
    int64_t n = a->member && b->member;
    for (int d = 0; n && d < a->n_dims; d++) {
        int64_t common = 0;
        for (int i = 0; i < b->lists[d].n; i++)
            for (int j = 0; j < a->lists[d].n; j++)
                common += a->lists[d].items[j] == b->lists[d].items[i];
        n *= common;
    }
    return n;
}

static inline void moves_name(moves_case *what) {
    snprintf(what->text, sizeof what->text, "%s to %s, %s, %s, src %d dst %d strides %d%s", what->from.text,
             what->to.text, dt_dtype_name(what->dtype), dt__planner_name(what->planner), (int)what->src,
             (int)what->dst, what->strided != 0, what->started ? ", started" : "");
}

static inline dt_spec *moves_spec(dt_ctx *ctx, const moves_case *what, const brute_case *c, const int64_t *ranks,
                                  const int *order) {
    dt_mesh *mesh = dt_mesh_from_ranks(ctx, ranks, c->mesh, c->n_mesh_dims, NULL);
    dt_spec *spec = dt_spec_new(mesh, &(dt_spec_desc){.dtype = what->dtype,
                                                      .n_dims = c->n_dims,
                                                      .shape = c->shape,
                                                      .n_placements = c->n_mesh_dims,
                                                      .placements = c->placements,
                                                      .stride_order = order});
    dt_mesh_release(mesh);
    return spec;
}

static inline dt_status moves_execute(const moves_case *what, const dt__redistribution *call) {
    if (!what->started)
        return dt__redistribute_run(call);
    dt__execution *moving = dt__redistribute_start(call);
    if (!moving)
        return dt_error_status(call->from->ctx);
    for (int i = 0; i < 3; i++)
        if (dt__redistribute_test(moving) != DT_IN_PROGRESS)
            break;
    return dt__redistribute_wait(moving);
}

/* How many bytes this rank must receive at least, or -1 where something is reduced. */
static inline int64_t moves_least_bytes(const moves_case *what, const moves_part *src, const moves_part *dst) {
    for (int m = 0; m < what->from.n_mesh_dims; m++)
        if (moves_is_reduced(what, m) && what->from.mesh[m] > 1)
            return -1;
    return (dst->elements - moves_common(src, dst)) * (int64_t)dt_dtype_size(what->dtype);
}

/* Runs the case on this rank and checks everything: values, the source, memory, bytes. */
static inline int moves_check(dt_ctx *ctx, const moves_case *what) {
    size_t item = dt_dtype_size(what->dtype);
    int64_t first = 0, room;
    static _Thread_local moves_part src, dst;
    dt_spec *from = moves_spec(ctx, what, &what->from, what->from_ranks, what->from_order);
    dt_spec *to = moves_spec(ctx, what, &what->to, what->to_ranks, what->to_order);
    CHECK(from && to, "%s: %s", what->text, dt_error_text(ctx));
    moves_part_of(&what->from, what->from_ranks, what->from_order, dt_rank(ctx), &src);
    moves_part_of(&what->to, what->to_ranks, what->to_order, dt_rank(ctx), &dst);
    room = src.elements;
    if (what->strided && src.member)
        moves_any_strides(&src, what->strided, &first, &room);
    if (moves_alloc(ctx, &src, what->src, item, first, room) ||
        moves_alloc(ctx, &dst, what->dst, item, 0, dst.elements) || moves_source(what, &src, false))
        return 1;
    dt__redistribute_stats before = dt__redistribute_statistics(ctx);
    size_t live = dt_heap_stats(ctx).live_bytes;
    CHECK_OK(ctx, moves_execute(what, &(dt__redistribution){.from = from,
                                                            .to = to,
                                                            .src = src.at,
                                                            .src_strides = what->strided ? src.strides : NULL,
                                                            .dst = dst.at,
                                                            .planner = what->planner}));
    dt__redistribute_stats after = dt__redistribute_statistics(ctx);
    int64_t least = moves_least_bytes(what, &src, &dst), received = after.bytes_received - before.bytes_received;
    if (what->planner == DT__PLANNER_DIRECT && least >= 0)
        CHECK(received == least, "%s: rank %lld received %lld bytes, and lacks %lld", what->text,
              (long long)dt_rank(ctx), (long long)received, (long long)least);
    size_t more = dt_heap_stats(ctx).live_bytes - live; /* small messages of new groups stay */
    CHECK(more % ((size_t)128 << 10) == 0, "%s: %zu bytes are left in the heap", what->text, more);
    if (moves_compare(ctx, what, &dst) || moves_source(what, &src, true))
        return 1;
    moves_free(ctx, &src, what->src);
    moves_free(ctx, &dst, what->dst);
    dt_spec_release(from);
    dt_spec_release(to);
    return 0;
}

/* A case on one mesh of the first ranks, row-major, dense and direct. */
static inline void moves_plain(moves_case *what) {
    what->same_mesh = true;
    what->planner = DT__PLANNER_DIRECT;
    for (int64_t i = 0; i < MOVES_MOST_RANKS; i++)
        what->from_ranks[i] = what->to_ranks[i] = i;
    for (int d = 0; d < BRUTE_MOST_DIMS; d++)
        what->from_order[d] = what->to_order[d] = d;
    what->seed = test_seed(1);
}

static inline void moves_shuffle(uint64_t *random, int64_t *items, int64_t n) {
    for (int64_t i = n - 1; i > 0; i--) {
        int64_t j = test_below(random, i + 1), item = items[i];
        items[i] = items[j];
        items[j] = item;
    }
}

static inline void moves_any_order(uint64_t *random, int *order, int n) {
    for (int i = n - 1; i > 0; i--) {
        int j = brute_below(random, i + 1), item = order[i];
        order[i] = order[j];
        order[j] = item;
    }
}

/* Target placements for a source on the same mesh; partials stay now and then. */
static inline void moves_any_target(uint64_t *random, const brute_case *like, bool same_mesh, brute_case *c) {
    for (int m = 0; m < c->n_mesh_dims; m++) {
        do
            c->placements[m] = brute_random_placement(random, c->n_dims, DT_SUM);
        while (dt_placement_is_partial(c->placements[m]));
        if (brute_below(random, 3) == 0)
            c->placements[m] = dt_placement_replicate();
        if (same_mesh && dt_placement_is_partial(like->placements[m]) && brute_below(random, 3) == 0)
            c->placements[m] = like->placements[m];
    }
    for (int d = 0; d < c->n_dims; d++) {
        brute_random_order(random, c, d);
        brute_random_extents(random, c, d);
    }
}

/* Large enough for reductions in two phases. */
static inline int moves_large_shape(uint64_t *random, int64_t *shape) {
    static const int sizes[] = {61, 64, 100, 128, 129, 200, 251};
    int n_dims = 2 + brute_below(random, 2), small = n_dims == 3 ? brute_below(random, 3) : -1;
    for (int d = 0; d < n_dims; d++)
        shape[d] = d == small ? 1 + brute_below(random, 3) : sizes[brute_below(random, 7)];
    return n_dims;
}

/* Any move of a tensor of this shape, for a world of so many ranks. */
static inline void moves_any_of(uint64_t *random, int64_t world, int n_dims, const int64_t *shape, moves_case *what) {
    memset(what, 0, sizeof *what);
    moves_plain(what);
    brute_random_case_of(random, (int)world, n_dims, shape, &what->from);
    do
        what->dtype = (dt_dtype)(DT_F32 + test_below(random, DT_N_DTYPES - DT_F32));
    while (brute_below(random, 3) == 0);
    for (int m = 0; m < what->from.n_mesh_dims; m++) {
        dt_placement *p = &what->from.placements[m];
        if (p->kind == DT_PLACEMENT_PARTIAL && !dt_reduce_allowed(what->dtype, p->reduce))
            p->reduce = DT_SUM;
        if (p->kind == DT_PLACEMENT_PARTIAL && p->reduce == DT_SUM && dt_reduce_allowed(what->dtype, DT_AVG) &&
            brute_below(random, 2))
            p->reduce = DT_AVG;
    }
    what->same_mesh = brute_below(random, 4) != 0;
    if (what->same_mesh) {
        what->to = (brute_case){.n_mesh_dims = what->from.n_mesh_dims};
        memcpy(what->to.mesh, what->from.mesh, sizeof what->to.mesh);
    } else {
        brute_random_case_of(random, (int)world, what->from.n_dims, what->from.shape, &what->to);
        memset(what->to.n_order, 0, sizeof what->to.n_order);
    }
    what->to.n_dims = what->from.n_dims;
    memcpy(what->to.shape, what->from.shape, sizeof what->to.shape);
    moves_any_target(random, &what->from, what->same_mesh, &what->to);
    if (brute_below(random, 2)) {
        moves_shuffle(random, what->from_ranks, world);
        memcpy(what->to_ranks, what->from_ranks, sizeof what->to_ranks);
    }
    if (!what->same_mesh)
        moves_shuffle(random, what->to_ranks, world);
    if (brute_below(random, 3) == 0)
        moves_any_order(random, what->from_order, what->from.n_dims);
    if (brute_below(random, 3) == 0)
        moves_any_order(random, what->to_order, what->from.n_dims);
    what->planner = what->same_mesh && brute_below(random, 3) == 0 ? (dt__planner)test_below(random, DT__N_PLANNERS)
                                                                   : DT__PLANNER_DIRECT;
    what->src = brute_below(random, 4) ? MOVES_HEAP : MOVES_FOREIGN;
    what->dst = brute_below(random, 4) ? MOVES_HEAP : MOVES_FOREIGN;
    what->strided = brute_below(random, 3) ? 0 : test_random(random) | 1;
    what->started = brute_below(random, 3) == 0;
    what->seed = test_random(random);
    brute_name(&what->from);
    brute_name(&what->to);
    moves_name(what);
}

/* Anything at all. */
static inline void moves_any(uint64_t *random, int64_t world, bool large, moves_case *what) {
    int64_t shape[BRUTE_MOST_DIMS];
    int n_dims = large ? moves_large_shape(random, shape) : brute_random_shape(random, shape);
    moves_any_of(random, world, n_dims, shape, what);
}

#endif
