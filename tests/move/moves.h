/* SPDX-License-Identifier: Apache-2.0
 *
 * Redistributions with values, compared element by element. The shards follow the definition in spec/brute.h; a value
 * depends on its global index and, if it is partial, on the coordinates along the partial mesh dims; sums, averages
 * and products of these values are exact in every dtype. Nothing here shares code with the executor.
 */
#ifndef DT_TESTS_MOVE_MOVES_H
#define DT_TESTS_MOVE_MOVES_H

#include "spec/brute.h"
#include "support/launch.h"

#include "comm/comm.h"
#include "move/move.h"

enum { MOVES_MAX_RANKS = 16, MOVES_MAX_ELEMENTS = 1 << 14 };

/* Where the memory of a shard is. */
enum moves_memory { MOVES_HEAP, MOVES_FOREIGN, MOVES_N_MEMORIES };

typedef struct moves_case {
    brute_case from, to;
    bool same_mesh;
    int64_t from_ranks[MOVES_MAX_RANKS], to_ranks[MOVES_MAX_RANKS]; /* in mesh order */
    int from_order[BRUTE_MAX_DIMS], to_order[BRUTE_MAX_DIMS];       /* stride orders */
    dt_dtype dtype;
    dt__planner planner;
    enum moves_memory src, dst;
    uint64_t strided; /* the seed of the strides of the source, or 0: it is dense */
    bool started;
    uint64_t seed; /* of the values */
    char text[1400];
} moves_case;

static inline bool moves_is_partial(const brute_case *c, int m) {
    return c->placements[m].kind == DT_PLACEMENT_PARTIAL || c->placements[m].kind == DT_PLACEMENT_MASKED;
}

static inline bool moves_is_reduced(const moves_case *test, int m) {
    return moves_is_partial(&test->from, m) && !(test->same_mesh && moves_is_partial(&test->to, m));
}

/* The reduction of the partials of the source; DT_AVG if sum and avg are mixed. */
static inline dt_reduce moves_kind(const moves_case *test, int64_t *all_averaged) {
    dt_reduce kind = DT_SUM;
    *all_averaged = 1;
    for (int m = 0; m < test->from.n_mesh_dims; m++)
        if (test->from.placements[m].kind == DT_PLACEMENT_PARTIAL && test->from.placements[m].reduce != DT_SUM) {
            kind = test->from.placements[m].reduce;
            *all_averaged *= kind == DT_AVG ? test->from.mesh[m] : 1;
        }
    return kind;
}

static inline bool moves_is_narrow(dt_dtype dtype) { return dt_dtype_size(dtype) <= 2; }

/* A negative factor would make the imaginary part of a complex product -0. */
static inline bool moves_has_sign(dt_dtype dtype) { return dtype != DT_U8 && dtype != DT_C64 && dtype != DT_C128; }

/* Element g, or the contribution to it, at these coordinates of the source. */
static inline int64_t moves_value(const moves_case *test, int64_t g, const int64_t *coordinate) {
    int64_t all_averaged, p = 0;
    dt_reduce kind = moves_kind(test, &all_averaged);
    bool partial = false;
    for (int m = 0; m < test->from.n_mesh_dims; m++)
        if (moves_is_partial(&test->from, m)) {
            p = p * test->from.mesh[m] + coordinate[m];
            partial = true;
        }
    uint64_t random = test->seed + (uint64_t)g * 1000003 + (uint64_t)p * 7919;
    int64_t draw = test_below(&random, 1000);
    if (test->dtype == DT_BOOL)
        return draw & 1;
    if (!partial)
        return draw % 100 + (test->dtype == DT_I8 || test->dtype == DT_U8 ? 0 : g % 27);
    if (kind == DT_PRODUCT)
        return p == 0 ? 1 + draw % 3 : moves_has_sign(test->dtype) && draw % 2 ? -1 : 1;
    if (kind == DT_MIN || kind == DT_MAX)
        return draw % 100;
    return (moves_is_narrow(test->dtype) ? draw % 2 : draw % 17 - 8) * all_averaged;
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

static inline bool moves_next(int n, const int64_t *sizes, const bool *varies, int64_t *index) {
    for (int m = n - 1; m >= 0; m--) {
        if (varies && !varies[m])
            continue;
        if (++index[m] < sizes[m])
            return true;
        index[m] = 0;
    }
    return false;
}

/* Element g at these coordinates of the target. */
static inline int64_t moves_expected(const moves_case *test, int64_t g, const int64_t *target) {
    int64_t coordinate[BRUTE_MAX_DIMS] = {0}, all_averaged, divisor = 1, total = 0;
    bool reduced[BRUTE_MAX_DIMS], first = true;
    dt_reduce kind = moves_kind(test, &all_averaged);
    for (int m = 0; m < test->from.n_mesh_dims; m++) {
        reduced[m] = moves_is_reduced(test, m);
        coordinate[m] = !reduced[m] && test->same_mesh ? target[m] : 0;
        if (reduced[m] && test->from.placements[m].kind == DT_PLACEMENT_PARTIAL &&
            test->from.placements[m].reduce == DT_AVG)
            divisor *= test->from.mesh[m];
    }
    do {
        int64_t value = moves_value(test, g, coordinate);
        total = first ? value : moves_combine(test->dtype, kind, total, value);
        first = false;
    } while (moves_next(test->from.n_mesh_dims, test->from.mesh, reduced, coordinate));
    return total / divisor;
}

/* A small integer as f16. */
static inline uint16_t moves_f16(int64_t v) {
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
        half = moves_f16(v);
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

/* A shard as lists of indices. */
typedef struct moves_shard {
    bool member;
    int n_dims;
    int64_t coordinate[BRUTE_MAX_DIMS], sizes[BRUTE_MAX_DIMS], strides[BRUTE_MAX_DIMS];
    brute_list lists[BRUTE_MAX_DIMS];
    int64_t elements;
    char *memory, *at; /* the allocation, and the first element */
    size_t bytes;      /* of memory */
} moves_shard;

static inline bool moves_coordinate(const brute_case *c, const int64_t *ranks, int64_t rank, int64_t *out) {
    for (int64_t i = 0; i < brute_world(c); i++)
        if (ranks[i] == rank) {
            brute_coordinate(c, i, out);
            return true;
        }
    return false;
}

static inline void moves_shard_of(const brute_case *c, const int64_t *ranks, const int *order, int64_t rank,
                                  moves_shard *out) {
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

/* Strides in a random order of the dims, with gaps, some of them negative. */
static inline void moves_random_strides(moves_shard *shard, uint64_t seed, int64_t *first, int64_t *capacity) {
    bool taken[BRUTE_MAX_DIMS] = {false};
    int64_t step = 1 + test_below(&seed, 2);
    *first = 0;
    for (int k = 0; k < shard->n_dims; k++) {
        int d;
        do
            d = brute_below(&seed, shard->n_dims);
        while (taken[d]);
        taken[d] = true;
        bool backwards = test_below(&seed, 3) == 0;
        int64_t size = shard->sizes[d] ? shard->sizes[d] : 1;
        shard->strides[d] = backwards ? -step : step;
        *first += backwards ? (size - 1) * step : 0;
        step = step * size + test_below(&seed, 3);
    }
    *capacity = step;
}

static inline int moves_alloc(dt_ctx *ctx, moves_shard *shard, enum moves_memory memory, size_t item, int64_t first,
                              int64_t capacity) {
    shard->bytes = (size_t)capacity * item;
    if (!shard->elements)
        return 0;
    shard->memory = memory == MOVES_HEAP ? dt_heap_alloc(ctx, shard->bytes) : malloc(shard->bytes);
    CHECK(shard->memory, "%s", dt_error_text(ctx));
    memset(shard->memory, 0xa5, shard->bytes);
    shard->at = shard->memory + first * (int64_t)item;
    return 0;
}

static inline void moves_free(dt_ctx *ctx, moves_shard *shard, enum moves_memory memory) {
    if (memory == MOVES_HEAP)
        dt_heap_free(ctx, shard->memory);
    else
        free(shard->memory);
}

/* The global index of an element, and its address. */
static inline int64_t moves_global(const brute_case *c, const moves_shard *shard, const int64_t *index) {
    int64_t g = 0;
    for (int d = 0; d < shard->n_dims; d++)
        g = g * c->shape[d] + shard->lists[d].items[index[d]];
    return g;
}

static inline char *moves_address(const moves_shard *shard, const int64_t *index, size_t item) {
    int64_t at = 0;
    for (int d = 0; d < shard->n_dims; d++)
        at += index[d] * shard->strides[d];
    return shard->at + at * (int64_t)item;
}

static inline bool moves_is_product(const moves_case *test) {
    int64_t all_averaged;
    return moves_kind(test, &all_averaged) == DT_PRODUCT;
}

/* Fills the source, or checks that it is unchanged. */
static inline int moves_source(const moves_case *test, moves_shard *shard, bool compare) {
    size_t item = dt_dtype_size(test->dtype);
    int64_t index[BRUTE_MAX_DIMS] = {0};
    unsigned char value[16];
    if (!shard->elements)
        return 0;
    do {
        int64_t g = moves_global(&test->from, shard, index);
        moves_encode(test->dtype, moves_value(test, g, shard->coordinate), moves_is_product(test), value);
        char *place = moves_address(shard, index, item);
        if (compare)
            CHECK(!memcmp(place, value, item), "%s: the source was changed at %lld", test->text, (long long)g);
        else
            memcpy(place, value, item);
    } while (moves_next(shard->n_dims, shard->sizes, NULL, index));
    return 0;
}

static inline int moves_compare(const dt_ctx *ctx, const moves_case *test, const moves_shard *shard) {
    size_t item = dt_dtype_size(test->dtype);
    int64_t index[BRUTE_MAX_DIMS] = {0};
    unsigned char value[16];
    if (!shard->elements)
        return 0;
    do {
        int64_t g = moves_global(&test->to, shard, index), expected = moves_expected(test, g, shard->coordinate);
        moves_encode(test->dtype, expected, moves_is_product(test), value);
        const unsigned char *got = (const unsigned char *)moves_address(shard, index, item);
        CHECK(!memcmp(got, value, item), "rank %lld: %s: element %lld: expected %lld, got %02x...%02x",
              (long long)dt_rank(ctx), test->text, (long long)g, (long long)expected, got[0], got[item - 1]);
    } while (moves_next(shard->n_dims, shard->sizes, NULL, index));
    return 0;
}

/* Elements of b that a holds, too. */
static inline int64_t moves_common(const moves_shard *a, const moves_shard *b) {
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

static inline void moves_name(moves_case *test) {
    snprintf(test->text, sizeof test->text, "%s to %s, %s, %s, src %d dst %d strides %d%s", test->from.text,
             test->to.text, dt_dtype_name(test->dtype), dt__planner_name(test->planner), (int)test->src,
             (int)test->dst, test->strided != 0, test->started ? ", started" : "");
}

static inline dt_spec *moves_spec(dt_ctx *ctx, const moves_case *test, const brute_case *c, const int64_t *ranks,
                                  const int *order) {
    dt_mesh *mesh = dt_mesh_from_ranks(ctx, ranks, c->mesh, c->n_mesh_dims, NULL);
    dt_spec *spec = dt_spec_new(mesh, &(dt_spec_desc){.dtype = test->dtype,
                                                      .n_dims = c->n_dims,
                                                      .shape = c->shape,
                                                      .n_placements = c->n_mesh_dims,
                                                      .placements = c->placements,
                                                      .stride_order = order});
    dt_mesh_release(mesh);
    return spec;
}

static inline dt_status moves_execute(const moves_case *test, const dt__redistribution *call) {
    if (!test->started)
        return dt__redistribute_run(call);
    dt__execution *execution = dt__redistribute_start(call);
    if (!execution)
        return dt_error_status(call->from->ctx);
    for (int i = 0; i < 3; i++)
        if (dt__redistribute_test(execution) != DT_IN_PROGRESS)
            break;
    return dt__redistribute_wait(execution);
}

/* The bytes that this rank must receive, or -1 if something is reduced. */
static inline int64_t moves_min_bytes(const moves_case *test, const moves_shard *src, const moves_shard *dst) {
    for (int m = 0; m < test->from.n_mesh_dims; m++)
        if (moves_is_reduced(test, m) && test->from.mesh[m] > 1)
            return -1;
    return (dst->elements - moves_common(src, dst)) * (int64_t)dt_dtype_size(test->dtype);
}

/* Runs the case on this rank and checks the values, the source, memory and received bytes. */
static inline int moves_run(dt_ctx *ctx, const moves_case *test) {
    size_t item = dt_dtype_size(test->dtype);
    int64_t first = 0, capacity;
    static _Thread_local moves_shard src, dst;
    dt_spec *from = moves_spec(ctx, test, &test->from, test->from_ranks, test->from_order);
    dt_spec *to = moves_spec(ctx, test, &test->to, test->to_ranks, test->to_order);
    CHECK(from && to, "%s: %s", test->text, dt_error_text(ctx));
    moves_shard_of(&test->from, test->from_ranks, test->from_order, dt_rank(ctx), &src);
    moves_shard_of(&test->to, test->to_ranks, test->to_order, dt_rank(ctx), &dst);
    capacity = src.elements;
    if (test->strided && src.member)
        moves_random_strides(&src, test->strided, &first, &capacity);
    if (moves_alloc(ctx, &src, test->src, item, first, capacity) ||
        moves_alloc(ctx, &dst, test->dst, item, 0, dst.elements) || moves_source(test, &src, false))
        return 1;
    dt__redistribute_stats before = dt__redistribute_statistics(ctx);
    size_t live = dt_heap_stats(ctx).live_bytes;
    CHECK_OK(ctx, moves_execute(test, &(dt__redistribution){.from = from,
                                                            .to = to,
                                                            .src = src.at,
                                                            .src_strides = test->strided ? src.strides : NULL,
                                                            .dst = dst.at,
                                                            .planner = test->planner}));
    dt__redistribute_stats after = dt__redistribute_statistics(ctx);
    int64_t min_bytes = moves_min_bytes(test, &src, &dst), received = after.bytes_received - before.bytes_received;
    if (test->planner == DT__PLANNER_DIRECT && min_bytes >= 0) /* between nodes, the cheapest steps may move more */
        CHECK(dt__has_nodes(ctx) ? received >= min_bytes : received == min_bytes,
              "%s: rank %lld: expected %lld received bytes, got %lld", test->text, (long long)dt_rank(ctx),
              (long long)min_bytes, (long long)received);
    size_t grown = dt_heap_stats(ctx).live_bytes - live; /* buffers of new groups remain */
    CHECK(grown % ((size_t)128 << 10) == 0, "%s: %zu bytes of the heap leak", test->text, grown);
    if (moves_compare(ctx, test, &dst) || moves_source(test, &src, true))
        return 1;
    moves_free(ctx, &src, test->src);
    moves_free(ctx, &dst, test->dst);
    dt_spec_release(from);
    dt_spec_release(to);
    return 0;
}

/* A case on one mesh of the first ranks, row-major, dense and direct. */
static inline void moves_defaults(moves_case *test) {
    test->same_mesh = true;
    test->planner = DT__PLANNER_DIRECT;
    for (int64_t i = 0; i < MOVES_MAX_RANKS; i++)
        test->from_ranks[i] = test->to_ranks[i] = i;
    for (int d = 0; d < BRUTE_MAX_DIMS; d++)
        test->from_order[d] = test->to_order[d] = d;
    test->seed = test_seed(1);
}

static inline void moves_shuffle(uint64_t *random, int64_t *items, int64_t n) {
    for (int64_t i = n - 1; i > 0; i--) {
        int64_t j = test_below(random, i + 1), item = items[i];
        items[i] = items[j];
        items[j] = item;
    }
}

static inline void moves_random_order(uint64_t *random, int *order, int n) {
    for (int i = n - 1; i > 0; i--) {
        int j = brute_below(random, i + 1), item = order[i];
        order[i] = order[j];
        order[j] = item;
    }
}

/* Random target placements; on the same mesh, some partials stay partial. */
static inline void moves_random_target(uint64_t *random, const brute_case *like, bool same_mesh, brute_case *c) {
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

/* A random redistribution of a tensor of this shape in this world. */
static inline void moves_random_of(uint64_t *random, int64_t world, int n_dims, const int64_t *shape,
                                   moves_case *test) {
    memset(test, 0, sizeof *test);
    moves_defaults(test);
    brute_random_case_of(random, (int)world, n_dims, shape, &test->from);
    do
        test->dtype = (dt_dtype)(DT_F32 + test_below(random, DT_N_DTYPES - DT_F32));
    while (brute_below(random, 3) == 0);
    for (int m = 0; m < test->from.n_mesh_dims; m++) {
        dt_placement *p = &test->from.placements[m];
        if (p->kind == DT_PLACEMENT_PARTIAL && !dt_reduce_allowed(test->dtype, p->reduce))
            p->reduce = DT_SUM;
        if (p->kind == DT_PLACEMENT_PARTIAL && p->reduce == DT_SUM && dt_reduce_allowed(test->dtype, DT_AVG) &&
            brute_below(random, 2))
            p->reduce = DT_AVG;
    }
    test->same_mesh = brute_below(random, 4) != 0;
    if (test->same_mesh) {
        test->to = (brute_case){.n_mesh_dims = test->from.n_mesh_dims};
        memcpy(test->to.mesh, test->from.mesh, sizeof test->to.mesh);
    } else {
        brute_random_case_of(random, (int)world, test->from.n_dims, test->from.shape, &test->to);
        memset(test->to.n_order, 0, sizeof test->to.n_order);
    }
    test->to.n_dims = test->from.n_dims;
    memcpy(test->to.shape, test->from.shape, sizeof test->to.shape);
    moves_random_target(random, &test->from, test->same_mesh, &test->to);
    if (brute_below(random, 2)) {
        moves_shuffle(random, test->from_ranks, world);
        memcpy(test->to_ranks, test->from_ranks, sizeof test->to_ranks);
    }
    if (!test->same_mesh)
        moves_shuffle(random, test->to_ranks, world);
    if (brute_below(random, 3) == 0)
        moves_random_order(random, test->from_order, test->from.n_dims);
    if (brute_below(random, 3) == 0)
        moves_random_order(random, test->to_order, test->from.n_dims);
    test->planner = test->same_mesh && brute_below(random, 3) == 0 ? (dt__planner)test_below(random, DT__N_PLANNERS)
                                                                   : DT__PLANNER_DIRECT;
    test->src = brute_below(random, 4) ? MOVES_HEAP : MOVES_FOREIGN;
    test->dst = brute_below(random, 4) ? MOVES_HEAP : MOVES_FOREIGN;
    test->strided = brute_below(random, 3) ? 0 : test_random(random) | 1;
    test->started = brute_below(random, 3) == 0;
    test->seed = test_random(random);
    brute_name(&test->from);
    brute_name(&test->to);
    moves_name(test);
}

/* A random redistribution. */
static inline void moves_random(uint64_t *random, int64_t world, bool large, moves_case *test) {
    int64_t shape[BRUTE_MAX_DIMS];
    int n_dims = large ? moves_large_shape(random, shape) : brute_random_shape(random, shape);
    moves_random_of(random, world, n_dims, shape, test);
}

#endif
