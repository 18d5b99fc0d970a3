/* SPDX-License-Identifier: Apache-2.0
 *
 * Tensors on several ranks: from local tensors, to local tensors, redistributed, read and written. The expected shards
 * follow the definition of the placements in spec/brute.h. Ranks 1, 2, 3, 4, 5, 7 on shm.
 */
#include "spec/brute.h"
#include "tensor/tensors.h"

#include "move/move.h"

#include <math.h>
#include <sched.h>
#include <stdatomic.h>

static const int64_t worlds[] = {1, 2, 3, 4, 5, 7};

static void run_on_all_worlds(dt_rank_fn *fn) {
    for (size_t i = 0; i < sizeof worlds / sizeof *worlds; i++) {
        uint64_t seed = test_seed(1000 * (i + 1));
        run_ranks(worlds[i], fn, &seed);
    }
}

/* Element i of every full tensor. */
static double value_of(int64_t i) { return (double)(i * 7 % 64 - 20); }

static dt_tensor *full_tensor_of(dt_ctx *ctx, const brute_case *c) {
    dt_tensor *t = dt_empty(ctx, TENSORS_SHAPE(c->n_dims, c->shape), .dtype = DT_F64);
    for (int64_t i = 0; i < dt_tensor_elements(t); i++)
        ((double *)dt_data(t))[i] = value_of(i);
    return t;
}

/* The contribution of coordinate k of n to a value x, if the case is partial. */
static double contribution_of(const brute_case *c, double x, int64_t k, int64_t n, bool *partial) {
    const dt_placement *p = NULL;
    for (int m = 0; m < c->n_mesh_dims; m++)
        if (dt_placement_is_partial(c->placements[m]))
            p = &c->placements[m];
    *partial = p;
    if (!p)
        return x;
    switch (p->reduce) {
    case DT_SUM:
        return k == 0 ? x - 3 * (double)(n - 1) : 3;
    case DT_AVG:
        return x + (double)k - (double)(n - 1) / 2;
    case DT_PRODUCT:
        return k == 0 ? x : 1;
    case DT_MIN:
        return x + (double)k;
    default:
        return x - (double)k;
    }
}

/* The local tensor of a rank, from lists of indices; swapped: the strides of dims 0 and 1 are exchanged. */
static dt_tensor *local_tensor_of(dt_ctx *ctx, const brute_case *c, int64_t rank, bool swapped) {
    int64_t coordinate[BRUTE_MAX_DIMS], shape[BRUTE_MAX_DIMS], index[BRUTE_MAX_DIMS] = {0}, k = 0, n = 1, total = 1;
    brute_list lists[BRUTE_MAX_DIMS];
    bool partial;
    brute_coordinate(c, rank, coordinate);
    for (int m = 0; m < c->n_mesh_dims; m++)
        if (dt_placement_is_partial(c->placements[m])) {
            k = k * c->mesh[m] + coordinate[m];
            n *= c->mesh[m];
        }
    for (int d = 0; d < c->n_dims; d++) {
        lists[d] = brute_shard(c, d, coordinate);
        shape[d] = lists[d].n;
        total *= shape[d];
    }
    dt_tensor *t;
    if (swapped) {
        int64_t other[BRUTE_MAX_DIMS];
        memcpy(other, shape, sizeof other);
        other[0] = shape[1];
        other[1] = shape[0];
        t = dt_transpose(dt_empty(ctx, TENSORS_SHAPE(c->n_dims, other), .dtype = DT_F64), 0, 1);
    } else {
        t = dt_empty(ctx, TENSORS_SHAPE(c->n_dims, shape), .dtype = DT_F64);
    }
    for (int64_t i = 0; i < total; i++, tensors_next(c->n_dims, shape, index)) {
        int64_t at = 0;
        for (int d = 0; d < c->n_dims; d++)
            at = at * c->shape[d] + lists[d].items[index[d]];
        double x = contribution_of(c, value_of(at), k, n, &partial);
        memcpy((void *)(uintptr_t)tensors_at(t, index), &x, sizeof x);
    }
    return t;
}

static bool is_partial(const brute_case *c) {
    for (int m = 0; m < c->n_mesh_dims; m++)
        if (dt_placement_is_partial(c->placements[m]))
            return true;
    return false;
}

/* The distributed tensor of a case, from its shards. On ranks outside the mesh, shape and dtype come from the options.
 */
static dt_tensor *tensor_of(dt_ctx *ctx, uint64_t *random, const brute_case *c, dt_mesh *mesh) {
    char place[256];
    int64_t rank = dt_rank(ctx), strides[BRUTE_MAX_DIMS], step = 1;
    bool swapped = c->n_dims >= 2 && test_below(random, 2); /* the same on every rank */
    for (int d = c->n_dims - 1; d >= 0; d--) {
        int at = swapped && d < 2 ? 1 - d : d;
        strides[at] = step;
        step *= c->shape[at] ? c->shape[at] : 1;
    }
    dt_placements_text(c->n_mesh_dims, c->placements, sizeof place, place);
    dt_tensor *part =
        rank < brute_world(c) ? local_tensor_of(ctx, c, rank, swapped) : dt_empty(ctx, DT_SHAPE(0), .dtype = DT_F64);
    return dt_from_local(ctx, part, mesh, place, .shape = TENSORS_SHAPE(c->n_dims, c->shape),
                         .stride = ((dt_ints){.n = c->n_dims, .list = strides}));
}

static int compare_with_definition(dt_ctx *ctx, void *arg) {
    uint64_t random = *(const uint64_t *)arg;
    for (int i = 0; i < 250; i++) {
        dt_scope scope = dt_scope_begin(ctx);
        brute_case a, b;
        brute_random_case(&random, (int)dt_world(ctx), &a);
        brute_random_case_of(&random, (int)dt_world(ctx), a.n_dims, a.shape, &b);
        for (int m = 0; m < b.n_mesh_dims; m++)
            if (dt_placement_is_partial(b.placements[m]))
                b.placements[m] = dt_placement_replicate();
        brute_name(&b);
        bool inside_a = dt_rank(ctx) < brute_world(&a), inside_b = dt_rank(ctx) < brute_world(&b);
        dt_mesh *mesh = dt_mesh_from_shape(ctx, a.mesh, a.n_mesh_dims, NULL);
        dt_mesh *other = dt_mesh_from_shape(ctx, b.mesh, b.n_mesh_dims, NULL);
        dt_tensor *whole = full_tensor_of(ctx, &a), *t = tensor_of(ctx, &random, &a, mesh), *full = dt_full_tensor(t);
        CHECK(full, "%s: %s", a.text, dt_error_text(ctx));
        CHECK(!inside_a || tensors_equal(full, whole), "rank %lld: the full tensor of %s differs",
              (long long)dt_rank(ctx), a.text);
        CHECK(inside_a || (dt_tensor_n_dims(full) == 1 && dt_tensor_elements(full) == 0), "outside: %s", a.text);
        if (!is_partial(&a)) { /* distributing the full tensor yields the same shards */
            char place[256];
            dt_placements_text(a.n_mesh_dims, a.placements, sizeof place, place);
            int64_t source = test_below(&random, brute_world(&a));
            dt_tensor *mine = dt_rank(ctx) == source ? whole : dt_empty_like(whole);
            dt_tensor *parts = dt_distribute_tensor(mine, mesh, place, .source = DT_INT(source));
            CHECK(tensors_equal(dt_to_local(parts), dt_to_local(t)), "from rank %lld: %s", (long long)source, a.text);
            parts = dt_distribute_tensor(whole, mesh, place, .everywhere = true);
            CHECK(tensors_equal(dt_to_local(parts), dt_to_local(t)), "from everywhere: %s", a.text);
        }
        char place[256];
        static const char *const planners[] = {NULL, "direct", "min_cost", "greedy", "graph"};
        dt_placements_text(b.n_mesh_dims, b.placements, sizeof place, place);
        bool same = dt_mesh_equal(mesh, other);
        const char *planner = planners[test_below(&random, same ? 5 : 2)];
        dt_tensor *moved = dt_redistribute(t, place, .mesh = other, .planner = planner);
        CHECK(moved, "%s to %s: %s", a.text, b.text, dt_error_text(ctx));
        if (inside_b) {
            dt_tensor *expected = local_tensor_of(ctx, &b, dt_rank(ctx), false);
            CHECK(tensors_equal(dt_to_local(moved), expected), "rank %lld: %s to %s by %s", (long long)dt_rank(ctx),
                  a.text, b.text, planner ? planner : "default");
        }
        dt_mesh_release(mesh);
        dt_mesh_release(other);
        dt_scope_end(scope);
    }
    CHECK(dt_heap_stats(ctx).n_live < 20, "%lld blocks leak", (long long)dt_heap_stats(ctx).n_live);
    return 0;
}

static void tensors__hold_their_shards_by_definition(void **state) {
    (void)state;
    run_on_all_worlds(compare_with_definition);
}

/* Shards of any size, which are exchanged with check. */
static int pass_uneven_shards(dt_ctx *ctx, void *arg) {
    uint64_t random = *(const uint64_t *)arg;
    int64_t n = dt_world(ctx), r = dt_rank(ctx);
    dt_mesh *mesh = dt_mesh_from_shape(ctx, &n, 1, NULL);
    for (int i = 0; i < 20; i++) {
        dt_scope scope = dt_scope_begin(ctx);
        int64_t sizes[8], total = 0, before = 0;
        for (int64_t k = 0; k < n; k++) {
            sizes[k] = test_below(&random, 5);
            before += k < r ? sizes[k] : 0;
            total += sizes[k];
        }
        dt_tensor *part = dt_reshape(dt_arange(ctx, (double)(3 * before), (double)(3 * (before + sizes[r])), 1),
                                     DT_SHAPE(sizes[r], 3));
        dt_tensor *expected = dt_reshape(dt_arange(ctx, 0, (double)(3 * total), 1), DT_SHAPE(total, 3));
        dt_tensor *t = dt_from_local(ctx, part, mesh, "S(0)", .check = true);
        CHECK(t, "%s", dt_error_text(ctx));
        CHECK(dt_tensor_size(t, 0) == total && dt_tensor_shares(t, part), "%lld", (long long)dt_tensor_size(t, 0));
        CHECK(tensors_equal(dt_full_tensor(t), expected), "checked");
        dt_tensor *u = dt_from_local(ctx, part, mesh, "S(0)", .extents = sizes);
        CHECK(u && dt_tensor_spec(u) == dt_tensor_spec(t), "extents: %s", dt_error_text(ctx));
        dt_scope_end(scope);
    }
    dt_mesh_release(mesh);
    return 0;
}

static void from_local__exchanges_uneven_sizes(void **state) {
    (void)state;
    run_on_all_worlds(pass_uneven_shards);
}

#define CHECK_REFUSED(ctx, call, status, part)                                                                       \
    do {                                                                                                             \
        CHECK((call) == NULL, "expected an error, got a tensor");                                                    \
        CHECK(dt_error_status(ctx) == (status) && strstr(dt_error_text(ctx), part), "rank %lld: %s: %s",             \
              (long long)dt_rank(ctx), dt_status_name(dt_error_status(ctx)), dt_error_text(ctx));                    \
        CHECK(dt_error_clear(ctx) == DT_OK, "clear");                                                                \
    } while (0)

static bool has_shape(const dt_tensor *t, int n, const int64_t *sizes) {
    return dt_tensor_n_dims(t) == n && memcmp(dt_tensor_shape(t), sizes, (size_t)n * sizeof *sizes) == 0;
}
static bool has_local_shape(const dt_tensor *t, int n, const int64_t *sizes) {
    return dt_tensor_local_n_dims(t) == n && memcmp(dt_tensor_local_shape(t), sizes, (size_t)n * sizeof *sizes) == 0;
}
#define LIST(...)                                                                                                    \
    (int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (int64_t[]) { __VA_ARGS__ }
#define SHAPE_IS(t, ...) has_shape((t), LIST(__VA_ARGS__))
#define LOCAL_IS(t, ...) has_local_shape((t), LIST(__VA_ARGS__))

static bool has_strides(const dt_tensor *t, const int64_t *strides) {
    return memcmp(dt_spec_strides(dt_tensor_spec(t)), strides, (size_t)dt_tensor_n_dims(t) * sizeof *strides) == 0;
}
#define STRIDES_ARE(t, ...) has_strides((t), (int64_t[]){__VA_ARGS__})

static int64_t n_exchanges_of(dt_ctx *ctx) { return dt__redistribute_statistics(ctx).n_exchanges; }

static int call_from_local(dt_ctx *ctx, void *arg) {
    (void)arg;
    int64_t r = dt_rank(ctx);
    dt_mesh *mesh = dt_mesh_new(ctx, "4"), *two = dt_mesh_new(ctx, "2x2");
    /* DT-004 */
    CHECK(STRIDES_ARE(dt_from_local(ctx, dt_zeros(ctx, DT_SHAPE(4, 8)), mesh, "S(0)"), 8, 1), "DT-004");
    CHECK(STRIDES_ARE(dt_from_local(ctx, dt_zeros(ctx, DT_SHAPE(8, 4)), mesh, "S(1)"), 16, 1), "DT-004");
    dt_tensor *permuted = dt_permute(dt_zeros(ctx, DT_SHAPE(8, 4, 8)), DT_DIMS(1, 2, 0));
    CHECK(STRIDES_ARE(dt_from_local(ctx, permuted, mesh, "S(1)"), 32, 1, 128), "DT-004");
    /* DT-001, DT-005 */
    dt_tensor *local = dt_full(ctx, DT_SHAPE(3, 3), (double)r);
    CHECK(SHAPE_IS(dt_from_local(ctx, local, mesh, "S(0)"), 12, 3), "DT-005");
    CHECK(SHAPE_IS(dt_from_local(ctx, local, mesh, "R"), 3, 3), "DT-005");
    CHECK(SHAPE_IS(dt_from_local(ctx, local, mesh, NULL), 3, 3), "DT-005");
    dt_tensor *sum = dt_from_local(ctx, local, mesh, "P(sum)");
    CHECK(SHAPE_IS(sum, 3, 3) && dt_item(dt_select(dt_select(dt_full_tensor(sum), 0, 1), 0, 1)) == 6, "DT-005");
    /* DT-007 */
    CHECK_REFUSED(ctx, dt_from_local(ctx, sum, mesh, "R"), DT_ERR_VALUE, "is distributed already");
    /* DT-014 */
    int64_t mine = r < 2 ? 2 : r == 2 ? 1 : 0;
    dt_tensor *uneven = dt_zeros(ctx, DT_SHAPE(mine, 2));
    dt_tensor *t = dt_from_local(ctx, uneven, mesh, "S(0)", .shape = DT_SHAPE(5, 2), .stride = DT_INTS(2, 1));
    CHECK(SHAPE_IS(t, 5, 2) && STRIDES_ARE(t, 2, 1), "DT-014");
    /* DT-015: a stride alone is refused; a shape alone is enough, which is a deviation. */
    CHECK_REFUSED(ctx, dt_from_local(ctx, uneven, mesh, "S(0)", .stride = DT_INTS(2, 1)), DT_ERR_VALUE,
                  "expected the global shape, too");
    CHECK(SHAPE_IS(dt_from_local(ctx, uneven, mesh, "S(0)", .shape = DT_SHAPE(5, 2)), 5, 2), "DT-015");
    CHECK_REFUSED(ctx, dt_from_local(ctx, uneven, mesh, "S(0)", .shape = DT_SHAPE(5, 2), .stride = DT_INTS(3, 1)),
                  DT_ERR_VALUE, "expected those of a dense tensor");
    /* DT-016 */
    t = dt_from_local(ctx, local, mesh, "S(-1)");
    CHECK(SHAPE_IS(t, 3, 12) && dt_spec_placements(dt_tensor_spec(t))[0].dim == 1, "DT-016");
    /* DT-017, DT-019: the shards are returned, and not copied. */
    t = dt_from_local(ctx, local, mesh, "S(0)");
    CHECK(tensors_equal(dt_to_local(t), local) && dt_data(dt_to_local(t)) == dt_data(local), "DT-019");
    /* DT-028: the text may change afterwards. */
    char place[] = "S(0)";
    t = dt_from_local(ctx, local, mesh, place);
    memcpy(place, "S(1)", sizeof place);
    CHECK(dt_spec_placements(dt_tensor_spec(t))[0].dim == 0, "DT-028");
    /* DT-029 */
    dt_tensor *again = dt_from_local(ctx, dt_clone(local), mesh, "S(0)");
    CHECK(dt_tensor_spec(again) == dt_tensor_spec(t) && dt_tensor_spec(t) != dt_tensor_spec(sum), "DT-029");
    CHECK(dt_spec_fingerprint(dt_tensor_spec(t)) != dt_spec_fingerprint(dt_tensor_spec(sum)), "DT-029");
    /* DT-030 */
    CHECK(strcmp(dt_mesh_device(dt_tensor_mesh(t)), "cpu") == 0, "DT-030");
    /* requires_grad is kept. */
    dt_set_requires_grad(local, true);
    CHECK(dt_requires_grad(dt_from_local(ctx, local, mesh, "R")), "requires_grad");
    /* Invalid arguments. */
    CHECK_REFUSED(ctx, dt_from_local(ctx, local, mesh, "S(2)"), DT_ERR_PLACEMENT,
                  "wrong tensor dim: expected 0 to 1, got 2");
    CHECK_REFUSED(ctx, dt_from_local(ctx, local, mesh, "S(0),R"), DT_ERR_PLACEMENT,
                  "placements: expected 1 for mesh(4), got 2");
    CHECK_REFUSED(ctx, dt_from_local(ctx, local, two, "S(0)"), DT_ERR_PLACEMENT, "placements: expected 2 for mesh(");
    CHECK_REFUSED(ctx, dt_from_local(ctx, local, mesh, "S(0"), DT_ERR_PLACEMENT, "column 4: expected ')' or ':'");
    CHECK_REFUSED(ctx, dt_from_local(ctx, local, NULL, "R"), DT_ERR_MESH,
                  "mesh: expected a mesh, got NULL and there is no current mesh");
    CHECK_REFUSED(ctx, dt_from_local(ctx, NULL, mesh, "R"), DT_ERR_VALUE, "argument 2 of from_local is NULL");
    CHECK_REFUSED(ctx, dt_from_local(ctx, local, two, "S(0),S(1)", .extents = ((int64_t[]){3, 3})), DT_ERR_PLACEMENT,
                  "expected one mesh dim that shards it, got several");
    CHECK_REFUSED(ctx, dt_from_local(ctx, local, mesh, "R", .extents = ((int64_t[]){3, 3, 3, 3})), DT_ERR_PLACEMENT,
                  "expected one mesh dim that shards it, got none");
    CHECK_REFUSED(ctx, dt_from_local(ctx, local, mesh, "S(0)", .extents = ((int64_t[]){3, -3, 3, 3})), DT_ERR_VALUE,
                  "extent 1");
    const int64_t threes[] = {3, 3, 3, 3};
    CHECK(dt_from_local(ctx, local, mesh, "S(0)", .extents = threes, .shape = DT_SHAPE(12, 3)), "both");
    CHECK_REFUSED(ctx, dt_from_local(ctx, local, mesh, "S(0)", .extents = threes, .shape = DT_SHAPE(13, 3)),
                  DT_ERR_SHAPE, "the extents do not add up to the size: expected 13, got 12");
    /* Every rank checks its own shard; here all are wrong. */
    CHECK_REFUSED(ctx, dt_from_local(ctx, local, mesh, "S(0)", .shape = DT_SHAPE(8, 3)), DT_ERR_SHAPE,
                  "this rank's shard of f32[8,3] S(0) on mesh(4): expected [2,3], got [3,3]");
    /* One shard is wrong: with check, all ranks report it. */
    dt_tensor *odd = dt_zeros(ctx, DT_SHAPE(r == 2 ? 2 : 3, 3));
    CHECK_REFUSED(ctx, dt_from_local(ctx, odd, mesh, "S(0)", .shape = DT_SHAPE(12, 3), .check = true), DT_ERR_SHAPE,
                  "rank 2's shard of f32[12,3] S(0) on mesh(4): expected [3,3], got [2,3]");
    /* DT-051 */
    CHECK_REFUSED(
        ctx,
        dt_from_local(ctx, dt_zeros(ctx, DT_SHAPE(3, 3), .dtype = r ? DT_F32 : DT_F64), mesh, "S(0)", .check = true),
        DT_ERR_VALUE, "ranks 0 and 1 differ in dtype");
    CHECK_REFUSED(ctx,
                  dt_from_local(ctx, dt_zeros(ctx, DT_SHAPE(3, 3), .requires_grad = !r), mesh, "S(0)", .check = true),
                  DT_ERR_VALUE, "requires_grad");
    dt_tensor *square = dt_zeros(ctx, DT_SHAPE(3, 3));
    CHECK_REFUSED(ctx, dt_from_local(ctx, r ? square : dt_transpose(square, 0, 1), mesh, "S(0)", .check = true),
                  DT_ERR_VALUE, "stride order");
    CHECK_REFUSED(ctx, dt_from_local(ctx, r == 3 ? dt_zeros(ctx, DT_SHAPE(3)) : square, mesh, "S(1)", .check = true),
                  DT_ERR_VALUE, "ranks 0 and 3 differ in number of dims");
    CHECK_REFUSED(ctx, dt_from_local(ctx, dt_zeros(ctx, DT_SHAPE(3, r == 1 ? 2 : 3)), mesh, "S(0)", .check = true),
                  DT_ERR_VALUE, "ranks 0 and 1 differ in the size of a dim that is not sharded");
    CHECK(dt_from_local(ctx, dt_zeros(ctx, DT_SHAPE(3, 3), .dtype = r ? DT_F32 : DT_F64), mesh, "S(0)"), "unchecked");
    /* Several mesh dims shard one dim: sizes add up. */
    t = dt_from_local(ctx, dt_zeros(ctx, DT_SHAPE(r == 3 ? 1 : 2, 3)), two, "S(0),S(0)", .check = true);
    CHECK(SHAPE_IS(t, 7, 3), "check with two shards of a dim");
    /* Explicit extents in the placement. */
    t = dt_from_local(ctx, dt_zeros(ctx, DT_SHAPE(r == 1 ? 5 : 1)), mesh, "S(0:1,5,1,1)");
    CHECK(SHAPE_IS(t, 8), "extents in the text: %s", dt_error_text(ctx));
    /* DT-061 */
    CHECK_REFUSED(ctx, dt_from_local(ctx, square, two, "P(sum),P(max)"), DT_ERR_PLACEMENT,
                  "kinds of partial cannot be mixed");
    CHECK_REFUSED(ctx, dt_distribute_tensor(square, two, "P(sum),P(max)"), DT_ERR_PLACEMENT,
                  "kinds of partial cannot be mixed");
    t = dt_from_local(ctx, square, two, "P(sum),P(avg)");
    CHECK(t && dt_distribute_tensor(square, two, "P(sum),P(avg)") && dt_redistribute(t, "R,R"), "DT-061");
    CHECK_REFUSED(ctx, dt_redistribute(t, "P(sum),P(max)"), DT_ERR_PLACEMENT, "kinds of partial cannot be mixed");
    dt_mesh_release(mesh);
    dt_mesh_release(two);
    return 0;
}

static void from_local__joins_local_tensors(void **state) {
    (void)state;
    run_ranks(4, call_from_local, NULL);
}

/* One rank passes a wrong shard, without check: it gets an error, and the others when they wait for it. */
static int pass_wrong_shard_on_rank_1(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh = dt_mesh_new(ctx, "3");
    dt_tensor *part = dt_zeros(ctx, DT_SHAPE(dt_rank(ctx) == 1 ? 5 : 2));
    dt_tensor *t = dt_from_local(ctx, part, mesh, "S(0)", .shape = DT_SHAPE(6));
    CHECK(!t == (dt_rank(ctx) == 1), "rank %lld", (long long)dt_rank(ctx));
    CHECK(!dt_full_tensor(t), "expected an error because a peer has failed");
    CHECK(dt_rank(ctx) != 1 || strstr(dt_error_text(ctx), "expected [2], got [5]"), "%s", dt_error_text(ctx));
    CHECK(dt_rank(ctx) == 1 || strstr(dt_error_text(ctx), "rank 1"), "%s", dt_error_text(ctx));
    CHECK(dt_error_clear(ctx) == DT_OK, "clear");
    CHECK(dt_item(dt_full_tensor(dt_ones(ctx, DT_SHAPE(1), .mesh = mesh))) == 1, "%s", dt_error_text(ctx));
    dt_mesh_release(mesh);
    return 0;
}

static void from_local__fails_on_peers_of_a_wrong_local_tensor(void **state) {
    (void)state;
    run_ranks(3, pass_wrong_shard_on_rank_1, NULL);
}

static int call_distribute_tensor(dt_ctx *ctx, void *arg) {
    (void)arg;
    int64_t r = dt_rank(ctx), before;
    dt_mesh *mesh = dt_mesh_new(ctx, "4"), *two = dt_mesh_new(ctx, "2x2");
    /* API-001 */
    dt_tensor *value = dt_reshape(dt_arange(ctx, 0, 36, 1), DT_SHAPE(12, 3));
    dt_set_requires_grad(value, true);
    before = n_exchanges_of(ctx);
    dt_tensor *t = dt_distribute_tensor(value, mesh, "S(0)");
    CHECK(SHAPE_IS(t, 12, 3) && LOCAL_IS(t, 3, 3) && dt_requires_grad(t), "API-001");
    CHECK(n_exchanges_of(ctx) - before == 1, "API-001: %lld exchanges", (long long)(n_exchanges_of(ctx) - before));
    CHECK(((float *)dt_data(t))[0] == (float)(9 * r), "API-001");
    /* API-002 */
    t = dt_distribute_tensor(dt_zeros(ctx, DT_SHAPE(3, 12)), mesh, "S(-1)");
    CHECK(dt_spec_placements(dt_tensor_spec(t))[0].dim == 1, "API-002");
    /* API-003, API-004 */
    static const char *const places[] = {"S(0)", "S(1)", "R", "P(sum)", "P(avg)"};
    for (int p = 0; p < 5; p++) {
        dt_tensor *mine = dt_full(ctx, DT_SHAPE(12, 12), (double)(r * 10 + p)), *from = dt_full_like(mine, 10 + p);
        t = dt_distribute_tensor(mine, mesh, places[p], .source = DT_INT(1));
        CHECK(tensors_equal(dt_full_tensor(t), from), "API-003 %s: %s", places[p], dt_error_text(ctx));
        before = n_exchanges_of(ctx);
        t = dt_distribute_tensor(from, mesh, places[p], .everywhere = true);
        CHECK(n_exchanges_of(ctx) == before, "API-004 %s", places[p]);
        CHECK(p > 1 || dt_tensor_local_elements(t) == 36, "API-004 %s", places[p]);
        CHECK(tensors_equal(dt_full_tensor(t), from), "API-004 %s", places[p]);
    }
    /* P(sum) has the value at the first coordinate, P(avg) at all. */
    t = dt_to_local(dt_distribute_tensor(dt_ones(ctx, DT_SHAPE(2)), mesh, "P(sum)"));
    CHECK(((float *)dt_data(t))[1] == (r == 0), "P(sum)");
    t = dt_to_local(dt_distribute_tensor(dt_ones(ctx, DT_SHAPE(2)), two, "P(avg),P(sum)"));
    CHECK(((float *)dt_data(t))[1] == (r % 2 == 0), "P(avg)");
    /* Averages of integers do not wrap around. */
    static const dt_dtype integers[] = {DT_I8, DT_I16, DT_I32, DT_I64, DT_U8};
    for (size_t i = 0; i < sizeof integers / sizeof *integers; i++) {
        const dt_dtype dtype = integers[i];
        dt_tensor *large = dt_full(ctx, DT_SHAPE(3, 5), dtype == DT_I64 ? 0x1p62 : 100, .dtype = dtype);
        t = dt_distribute_tensor(large, two, "P(avg),P(avg)");
        CHECK(tensors_equal(dt_full_tensor(t), large), "P(avg) of %s", dt_dtype_name(dtype));
    }
    /* API-005 */
    CHECK_REFUSED(ctx, dt_distribute_tensor(value, two, "S(0)"), DT_ERR_PLACEMENT,
                  "expected 2, one per mesh dim, got 1");
    CHECK_REFUSED(ctx, dt_distribute_tensor(value, two, "R,P(product)"), DT_ERR_PLACEMENT,
                  "expected P(sum) or P(avg), got P(product)");
    CHECK_REFUSED(ctx, dt_distribute_tensor(value, two, "R,P(mask)"), DT_ERR_PLACEMENT, "P(mask)");
    t = dt_distribute_tensor(value, mesh, "S(0)");
    CHECK(dt_distribute_tensor(t, mesh, "S(0)") == t && dt_distribute_tensor(t, mesh, "S(-2)") == t,
          "expected the same tensor");
    CHECK_REFUSED(ctx, dt_distribute_tensor(t, mesh, "S(1)"), DT_ERR_PLACEMENT, "expected a plain tensor");
    CHECK_REFUSED(ctx, dt_distribute_tensor(t, two, "S(0),R"), DT_ERR_PLACEMENT, "expected a plain tensor");
    CHECK_REFUSED(ctx, dt_distribute_tensor(value, mesh, "R", .source = DT_INT(9)), DT_ERR_MESH,
                  "source: expected a rank of mesh(4), got 9");
    CHECK_REFUSED(ctx, dt_distribute_tensor(value, NULL, "R"), DT_ERR_MESH, "there is no current mesh");
    /* API-006, DT-032, DT-033, DT-034 */
    for (int64_t size = 13; size <= 14; size++)
        for (int d = 0; d < 3; d++) {
            int64_t shape[3] = {3, 3, 3}, chunk = (size + 3) / 4;
            char place[24];
            shape[d] = size;
            (void)snprintf(place, sizeof place, "S(%d)", d);
            value = dt_reshape(dt_arange(ctx, 0, (double)(9 * size), 1), TENSORS_SHAPE(3, shape));
            t = dt_distribute_tensor(value, mesh, place);
            dt_tensor *expected = dt_slice(value, d, r * chunk, (r + 1) * chunk, 1);
            CHECK(dt_tensor_size(t, d) == size && tensors_equal(dt_to_local(t), expected), "API-006");
        }
    value = dt_view(dt_arange(ctx, 0, 16, 1), DT_SHAPE(4, 4));
    before = n_exchanges_of(ctx);
    t = dt_distribute_tensor(value, mesh, "S(0)", .everywhere = true);
    CHECK(tensors_equal(dt_to_local(t), dt_narrow(value, 0, r, 1)), "DT-032");
    t = dt_distribute_tensor(value, mesh, "S(1)", .everywhere = true);
    CHECK(tensors_equal(dt_to_local(t), dt_narrow(value, 1, r, 1)) && n_exchanges_of(ctx) == before, "DT-032");
    t = dt_distribute_tensor(dt_view(dt_arange(ctx, 0, 4, 1), DT_SHAPE(2, 2)), two, "S(0),S(1)");
    CHECK(dt_tensor_local_elements(t) == 1 && ((float *)dt_data(t))[0] == (float)r, "DT-033");
    t = dt_distribute_tensor(dt_zeros(ctx, DT_SHAPE(2, 8)), mesh, "S(0)");
    CHECK(LOCAL_IS(t, r < 2, 8), "DT-034");
    /* DT-039: the current mesh. */
    CHECK_OK(ctx, dt_mesh_scope_begin(mesh));
    t = dt_redistribute(dt_from_local(ctx, dt_zeros(ctx, DT_SHAPE(3, 3)), NULL, "S(0)"), "R");
    CHECK(LOCAL_IS(t, 12, 3), "DT-039");
    CHECK(LOCAL_IS(dt_distribute_tensor(dt_zeros(ctx, DT_SHAPE(12, 3)), NULL, "S(0)"), 3, 3), "DT-039");
    CHECK_OK(ctx, dt_mesh_scope_begin(two));
    CHECK(LOCAL_IS(dt_distribute_tensor(dt_zeros(ctx, DT_SHAPE(12, 3)), NULL, "S(0),R"), 6, 3), "DT-039");
    CHECK_OK(ctx, dt_mesh_scope_end(ctx));
    CHECK(LOCAL_IS(dt_distribute_tensor(dt_zeros(ctx, DT_SHAPE(12, 3)), NULL, "S(0)"), 3, 3), "DT-039");
    CHECK_OK(ctx, dt_mesh_scope_end(ctx));
    /* DT-040 */
    dt_tensor *local = dt_zeros(ctx, DT_SHAPE(3, 3));
    CHECK(SHAPE_IS(dt_from_local(ctx, local, two, "S(0),S(1)"), 6, 6), "DT-040");
    CHECK(SHAPE_IS(dt_from_local(ctx, local, two, "S(0),S(0)"), 12, 3), "DT-040");
    dt_mesh_release(mesh);
    dt_mesh_release(two);
    return 0;
}

static void distribute_tensor__sends_each_rank_its_shard(void **state) {
    (void)state;
    run_ranks(4, call_distribute_tensor, NULL);
}

/* DT-040, DT-041, DT-042, DT-043, DT-046 */
static int use_several_mesh_dims(dt_ctx *ctx, void *arg) {
    (void)arg;
    int64_t r = dt_rank(ctx);
    dt_mesh *cube = dt_mesh_new(ctx, "2x2x2"), *grid = dt_mesh_new(ctx, "2x4"), *pair = dt_mesh_new(ctx, "[0,2]");
    dt_tensor *local = dt_zeros(ctx, DT_SHAPE(3, 3, 3)), *t;
    dt_tensor *square = dt_zeros(ctx, DT_SHAPE(3, 3));
    CHECK(SHAPE_IS(dt_from_local(ctx, square, grid, "S(0),S(1)"), 6, 12), "DT-040");
    CHECK(SHAPE_IS(dt_from_local(ctx, square, grid, "S(0),S(0)"), 24, 3), "DT-040");
    CHECK(SHAPE_IS(dt_from_local(ctx, local, cube, "S(0),S(1),S(2)"), 6, 6, 6), "DT-041");
    CHECK(SHAPE_IS(dt_from_local(ctx, local, cube, "S(0),S(0),S(2)"), 12, 3, 6), "DT-041");
    const struct {
        const char *place;
        int64_t offset[2];
    } cases[] = {{"S(0),R", {12 * (r / 4), 0}},
                 {"S(1),R", {0, 12 * (r / 4)}},
                 {"R,S(0)", {6 * (r % 4), 0}},
                 {"R,S(1)", {0, 6 * (r % 4)}}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        t = dt_zeros(ctx, DT_SHAPE(24, 24), .mesh = grid, .place = cases[i].place);
        CHECK(memcmp(dt_spec_local(dt_tensor_spec(t))->offset, cases[i].offset, 16) == 0, "DT-042 %s",
              cases[i].place);
    }
    bool member = r == 0 || r == 2;
    t = dt_from_local(ctx, dt_ones(ctx, DT_SHAPE(3, 4)), pair, "S(0)");
    CHECK(SHAPE_IS(t, 6, 4) && (member ? LOCAL_IS(t, 3, 4) : LOCAL_IS(t, 0)), "DT-043");
    CHECK(dt_tensor_local_elements(dt_to_local(t)) == (member ? 12 : 0), "DT-043");
    t = dt_redistribute(dt_from_local(ctx, dt_ones(ctx, DT_SHAPE(4, 3)), pair, "S(0)"), "R");
    CHECK(member ? tensors_equal(dt_to_local(t), dt_ones(ctx, DT_SHAPE(8, 3))) : LOCAL_IS(t, 0), "DT-046");
    t = dt_redistribute(t, "S(0)");
    CHECK(member ? tensors_equal(dt_to_local(t), dt_ones(ctx, DT_SHAPE(4, 3))) : LOCAL_IS(t, 0), "DT-046");
    /* A rank outside the mesh needs no local tensor if the shape is set. */
    t = dt_from_local(ctx, member ? dt_ones(ctx, DT_SHAPE(4)) : NULL, pair, "S(0)", .shape = DT_SHAPE(8));
    CHECK(SHAPE_IS(t, 8), "NULL outside: %s", dt_error_text(ctx));
    t = dt_from_local(ctx, dt_ones(ctx, DT_SHAPE(r == 2 ? 1 : 4)), pair, "S(0)", .check = true);
    CHECK(t && (!member || SHAPE_IS(t, 5)), "check: %s", dt_error_text(ctx));
    CHECK(member ? dt_item(dt_ones(ctx, DT_SHAPE(), .mesh = pair)) == 1
                 : isnan(dt_item(dt_ones(ctx, DT_SHAPE(), .mesh = pair))) && !dt_failed(ctx),
          "item");
    dt_mesh_release(cube);
    dt_mesh_release(grid);
    dt_mesh_release(pair);
    return 0;
}

static void meshes__of_several_dims_and_sub_meshes(void **state) {
    (void)state;
    run_ranks(8, use_several_mesh_dims, NULL);
}

/* DT-022, DT-026: start and wait, in both orders, with tests, across scopes, and with a change of the source. */
static int run_transfers(dt_ctx *ctx, void *arg) {
    (void)arg;
    int64_t n = dt_world(ctx), r = dt_rank(ctx);
    dt_mesh *mesh = dt_mesh_from_shape(ctx, &n, 1, NULL);
    dt_tensor *a = dt_reshape(dt_arange(ctx, 0, 60, 1), DT_SHAPE(12, 5)), *b = dt_full_like(a, 3);
    dt_tensor *da = dt_distribute_tensor(a, mesh, "S(0)"), *db = dt_distribute_tensor(b, mesh, "P(sum)");
    int64_t before = dt_heap_stats(ctx).n_live;
    for (int i = 0; i < 40; i++) {
        dt_scope scope = dt_scope_begin(ctx);
        dt_transfer *first = dt_redistribute_start(da, "R"), *second = dt_redistribute_start(db, "S(1)");
        dt_transfer *same = dt_redistribute_start(da, "S(0)");
        CHECK(first && second && same, "%s", dt_error_text(ctx));
        if (i % 3 == 1)
            while (dt_transfer_test(second) == DT_IN_PROGRESS)
                continue;
        bool reverses = (i + r) % 2; /* ranks may wait in different orders */
        dt_tensor *x = reverses ? NULL : dt_transfer_wait(first), *y = dt_transfer_wait(second);
        if (reverses)
            x = dt_transfer_wait(first);
        dt_tensor *z = dt_transfer_wait(same);
        CHECK(tensors_equal(dt_to_local(x), a), "first");
        CHECK(tensors_equal(dt_full_tensor(y), b), "second");
        CHECK(dt_tensor_shares(z, da), "expected the same storage");
        dt_scope_end(scope);
    }
    /* The scope of the start ends first; a dropped source is still held. */
    dt_scope scope = dt_scope_begin(ctx);
    dt_transfer *late = dt_redistribute_start(dt_redistribute(da, "S(1)"), "R", .dtype = DT_F64);
    dt_scope_end(scope);
    dt_tensor *x = dt_transfer_wait(late);
    CHECK(x && dt_tensor_dtype(x) == DT_F64 && ((double *)dt_data(x))[7] == 7, "%s", dt_error_text(ctx));
    dt_drop(x);
    /* A change between start and wait. */
    dt_tensor *source = dt_redistribute(da, "S(1)");
    dt_transfer *changed = dt_redistribute_start(source, "R");
    CHECK(dt_copy_(source, dt_full_like(source, 1)), "%s", dt_error_text(ctx));
    CHECK(!dt_transfer_wait(changed), "expected an error because the source was changed");
    CHECK(dt_error_status(ctx) == DT_ERR_STATE &&
              strstr(dt_error_text(ctx), "changed between the start and the wait"),
          "%s", dt_error_text(ctx));
    CHECK(dt_error_clear(ctx) == DT_OK, "clear");
    dt_drop(source);
    CHECK(!dt_redistribute_start(NULL, "R") && !dt_transfer_wait(NULL), "NULL");
    CHECK(dt_transfer_test(NULL) == DT_ERR_STATE, "NULL");
    CHECK_REFUSED(ctx, dt_redistribute_start(a, "R"), DT_ERR_PLACEMENT, "f32[12,5] is a plain tensor");
    CHECK_REFUSED(ctx, dt_redistribute_start(da, "S(4)"), DT_ERR_PLACEMENT, "expected -2 to 1, got 4");
    CHECK_REFUSED(ctx, dt_redistribute(da, "R", .planner = "best"), DT_ERR_VALUE,
                  "planner: expected greedy, graph, min_cost");
    CHECK_REFUSED(ctx, dt_redistribute(da, "R", .planner = "greddy"), DT_ERR_VALUE,
                  "direct, got greddy; did you mean greedy?");
    CHECK_REFUSED(ctx, dt_redistribute(da, "R", .dtype = (dt_dtype)77), DT_ERR_DTYPE, "expected a dt_dtype, got 77");
    CHECK(dt_heap_stats(ctx).n_live <= before + 3, "%lld blocks more",
          (long long)(dt_heap_stats(ctx).n_live - before)); /* the full_like above, and groups */
    dt_mesh_release(mesh);
    return 0;
}

static void transfers__are_waited_for_in_any_order(void **state) {
    (void)state;
    run_on_all_worlds(run_transfers);
}

/* Values are converted before they move if the result is the same, and otherwise after the reduction. */
static int convert_dtypes(dt_ctx *ctx, void *arg) {
    (void)arg;
    int64_t n = dt_world(ctx);
    dt_mesh *mesh = dt_mesh_from_shape(ctx, &n, 1, NULL);
    /* 0.5 on each rank: as integers the shards would all be 0. */
    dt_tensor *part = dt_full(ctx, DT_SHAPE(4, 2), 0.5), *t = dt_from_local(ctx, part, mesh, "P(sum)");
    dt_tensor *u = dt_redistribute(t, "R", .dtype = DT_I32);
    CHECK(dt_tensor_dtype(u) == DT_I32 && ((int32_t *)dt_data(u))[3] == n / 2, "%d", ((int32_t *)dt_data(u))[3]);
    u = dt_redistribute(t, "S(0)", .dtype = DT_F64);
    dt_tensor *full = dt_full_tensor(u);
    CHECK(dt_tensor_dtype(u) == DT_F64 && ((double *)dt_data(full))[7] == 0.5 * (double)n, "f64");
    u = dt_redistribute(dt_redistribute(t, "R"), "S(1)", .dtype = DT_BF16);
    CHECK(dt_tensor_dtype(u) == DT_BF16, "bf16");
    dt_mesh_release(mesh);
    return 0;
}

static void redistribute__converts(void **state) {
    (void)state;
    run_on_all_worlds(convert_dtypes);
}

/* "P(sum)" on the first mesh dim, Replicate on the others. */
static const char *partial_place(int n_mesh_dims) {
    static const char *const places[] = {"", "P(sum)", "P(sum),R", "P(sum),R,R", "P(sum),R,R,R"};
    assert_true(n_mesh_dims < 5);
    return places[n_mesh_dims];
}

static int copy_between_placements(dt_ctx *ctx, void *arg) {
    uint64_t random = *(const uint64_t *)arg;
    for (int i = 0; i < 100; i++) {
        dt_scope scope = dt_scope_begin(ctx);
        brute_case a, b;
        brute_random_case(&random, (int)dt_world(ctx), &a);
        brute_random_case_of(&random, (int)dt_world(ctx), a.n_dims, a.shape, &b);
        for (int m = 0; m < b.n_mesh_dims; m++)
            if (dt_placement_is_partial(b.placements[m]))
                b.placements[m] = dt_placement_replicate();
        brute_name(&b);
        dt_mesh *mesh = dt_mesh_from_shape(ctx, a.mesh, a.n_mesh_dims, NULL);
        dt_mesh *other = dt_mesh_from_shape(ctx, b.mesh, b.n_mesh_dims, NULL);
        bool inside_a = dt_rank(ctx) < brute_world(&a), inside_b = dt_rank(ctx) < brute_world(&b);
        dt_tensor *whole = full_tensor_of(ctx, &a), *src = tensor_of(ctx, &random, &a, mesh);
        dt_tensor *dst = dt_full_like(tensor_of(ctx, &random, &b, other), 99);
        CHECK(dt_copy_(dst, src), "%s", dt_error_text(ctx)); /* distributed to distributed */
        dt_tensor *full = dt_full_tensor(dst);
        CHECK(full && (!inside_b || tensors_equal(full, whole)), "%s to %s", a.text, b.text);
        dst = dt_full_like(dst, 98);
        CHECK(dt_copy_(dst, whole), "%s", dt_error_text(ctx)); /* plain to distributed */
        full = dt_full_tensor(dst);
        CHECK(full && (!inside_b || tensors_equal(full, whole)), "plain to %s", b.text);
        dst = dt_full(ctx, TENSORS_SHAPE(a.n_dims, a.shape), 96, .dtype = DT_F64, .mesh = other,
                      .place = partial_place(b.n_mesh_dims));
        dt_tensor *back = dt_full_like(src, 95);
        CHECK(dt_copy_(dst, src), "%s", dt_error_text(ctx)); /* to a partial, converted */
        full = dt_full_tensor(dst);
        CHECK(full && (!inside_b || dt_tensor_dtype(full) == DT_F64), "dtype");
        for (int64_t e = 0; inside_b && e < dt_tensor_elements(whole); e++)
            CHECK(((double *)dt_data(full))[e] == value_of(e), "%s to a partial", a.text);
        if (!strstr(a.text, "mask")) {                                      /* P(mask) is made by ops only */
            CHECK(dt_copy_(back, whole) == back, "%s", dt_error_text(ctx)); /* plain to distributed, also partial */
            full = dt_full_tensor(back);
            CHECK(full && (!inside_a || tensors_equal(full, whole)), "plain to %s", a.text);
        }
        dt_tensor *plain = dt_full(ctx, TENSORS_SHAPE(a.n_dims, a.shape), 97, .dtype = DT_I16);
        CHECK(dt_copy_(plain, src), "%s", dt_error_text(ctx)); /* distributed to plain, converted */
        for (int64_t e = 0; e < dt_tensor_elements(plain); e++)
            CHECK(((int16_t *)dt_data(plain))[e] == (inside_a ? (int)value_of(e) : 97), "%s to plain", a.text);
        dt_mesh_release(mesh);
        dt_mesh_release(other);
        dt_scope_end(scope);
    }
    return 0;
}

static void copy__keeps_placements_and_dtype(void **state) {
    (void)state;
    run_on_all_worlds(copy_between_placements);
}

/* A vector is copied into the rows of a matrix, from a plain tensor, from the same mesh and from another one; wrong
 * shapes are agreed errors; later calls use cached decisions. */
static int broadcast_copies(dt_ctx *ctx, void *arg) {
    (void)arg;
    int64_t n = dt_world(ctx), last = n - 1;
    dt_mesh *all = dt_mesh_new(ctx, "*"), *one = dt_mesh_from_ranks(ctx, &last, (int64_t[]){1}, 1, NULL);
    static const char *const places[] = {"S(0)", "S(1)", "R", "P(sum)"};
    for (int k = 0; k < 32; k++) {
        dt_scope scope = dt_scope_begin(ctx);
        dt_tensor *matrix = dt_zeros(ctx, DT_SHAPE(5, 3), .mesh = all, .place = places[k % 4]);
        dt_dtype dtype = k % 4 == 3 ? DT_F32 : DT_I32; /* contributions of integers are not converted */
        dt_tensor *row = dt_arange(ctx, 7, 10, 1, .dtype = dtype);
        dt_mesh *mesh = k / 4 % 2 ? one : all;
        dt_tensor *from =
            k % 16 < 4 ? row : dt_distribute_tensor(row, mesh, k % 16 < 12 ? "R" : "S(0)", .everywhere = true);
        CHECK(dt_copy_(matrix, from) == matrix, "%d: %s", k, dt_error_text(ctx));
        dt_tensor *full = dt_full_tensor(matrix);
        for (int e = 0; full && e < 15; e++)
            CHECK(((float *)dt_data(full))[e] == (float)(7 + e % 3), "%d: %g", k, ((float *)dt_data(full))[e]);
        CHECK(full, "%s", dt_error_text(ctx));
        CHECK_REFUSED(ctx, dt_copy_(matrix, dt_ones(ctx, DT_SHAPE(4), .mesh = mesh)), DT_ERR_SHAPE, "copy_");
        CHECK_REFUSED(ctx, dt_copy_(row, matrix), DT_ERR_SHAPE, "copy_");
        dt_scope_end(scope);
    }
    dt_mesh_release(all);
    dt_mesh_release(one);
    return 0;
}

static void copy__broadcasts_between_meshes(void **state) {
    (void)state;
    run_on_all_worlds(broadcast_copies);
}

/* [2,1] in shards of 1, 1 and 0 rows, expanded: the empty shard can be written to, but the others cannot. */
static int copy_to_expanded(dt_ctx *ctx, void *arg) {
    atomic_int *has_error = arg; /* the others wait until the last rank has its error */
    dt_mesh *mesh = dt_mesh_new(ctx, "3");
    dt_tensor *wide = dt_expand(dt_zeros(ctx, DT_SHAPE(2, 1), .mesh = mesh, .place = "S(0)"), DT_SHAPE(2, 4));
    dt_tensor *value = dt_ones(ctx, DT_SHAPE(2, 4), .mesh = mesh, .place = "S(1)");
    CHECK(value && !dt_copy_(wide, value), "expected an error, got a copy");
    CHECK(strstr(dt_error_text(ctx), "cannot write to f32[2,4]"), "%s", dt_error_text(ctx));
    if (dt_rank(ctx) == 2)
        atomic_store(has_error, 1);
    while (!atomic_load(has_error))
        sched_yield();
    CHECK_OK(ctx, dt_error_clear(ctx));
    CHECK(dt_item(dt_full_tensor(dt_ones(ctx, DT_SHAPE(1), .mesh = mesh))) == 1, "%s", dt_error_text(ctx));
    dt_mesh_release(mesh);
    return 0;
}

static void copy__that_fails_on_some_ranks_fails_on_all(void **state) {
    (void)state;
    run_ranks(3, copy_to_expanded, test_shared_memory(sizeof(atomic_int)));
}

static void copy__writes_through_views(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    dt_tensor *t = dt_view(dt_arange(ctx, 0, 12, 1), DT_SHAPE(3, 4));
    assert_non_null(dt_copy_(dt_select(t, 1, 2), dt_full(ctx, DT_SHAPE(3), -1, .dtype = DT_F64)));
    const float *at = dt_data(t);
    for (int i = 0; i < 12; i++)
        assert_true(at[i] == (i % 4 == 2 ? -1 : (float)i));
    /* From a view of the same storage: as if the source had been copied first. */
    dt_tensor *line = dt_arange(ctx, 0, 6, 1);
    assert_non_null(dt_copy_(dt_narrow(line, 0, 1, 5), dt_narrow(line, 0, 0, 5)));
    for (int i = 0; i < 6; i++)
        assert_true(((float *)dt_data(line))[i] == (float)(i ? i - 1 : 0));
    assert_non_null(dt_copy_(line, line));
    /* Failed calls change nothing. */
    assert_null(dt_copy_(dt_expand(dt_scalar(ctx, 1), DT_SHAPE(3)), dt_zeros(ctx, DT_SHAPE(3))));
    assert_int_equal(dt_error_status(ctx), DT_ERR_STATE);
    assert_error_contains(ctx, DT_ERR_STATE, "cannot write to f32[3]: two indices may share an element");
    dt_error_clear(ctx);
    assert_null(dt_copy_(dt_unfold(line, 0, 3, 2), dt_zeros(ctx, DT_SHAPE(2, 3))));
    assert_int_equal(dt_error_status(ctx), DT_ERR_STATE);
    dt_error_clear(ctx);
    for (int i = 0; i < 6; i++)
        assert_true(((float *)dt_data(line))[i] == (float)(i ? i - 1 : 0));
    dt_mesh *alone = dt_mesh_new(ctx, "1");
    dt_tensor *sums = dt_zeros(ctx, DT_SHAPE(3), .dtype = DT_I32, .mesh = alone, .place = "P(sum)");
    dt_tensor *halves = dt_distribute_tensor(dt_full(ctx, DT_SHAPE(3), 0.5), alone, "P(sum)");
    assert_null(dt_copy_(sums, halves));
    assert_int_equal(dt_error_status(ctx), DT_ERR_PLACEMENT);
    dt_error_clear(ctx);
    dt_mesh_release(alone);
    assert_null(dt_copy_(t, line));
    assert_int_equal(dt_error_status(ctx), DT_ERR_SHAPE);
    assert_error_contains(ctx, DT_ERR_SHAPE, "do not broadcast");
    dt_error_clear(ctx);
    assert_null(dt_copy_(t, NULL));
    assert_int_equal(dt_error_status(ctx), DT_ERR_VALUE);
    assert_error_contains(ctx, DT_ERR_VALUE, "argument 2 of copy_ is NULL");
    dt_error_clear(ctx);
    dt_mesh *mesh = dt_mesh_new(ctx, "1");
    dt_tensor *partial = dt_zeros(ctx, DT_SHAPE(3, 4), .mesh = mesh, .place = "P(max)");
    assert_non_null(dt_copy_(partial, t)); /* the maximum of equal values */
    assert_true(dt_item(dt_select(dt_select(dt_full_tensor(partial), 0, 2), 0, 3)) == 11);
    assert_non_null(dt_copy_(partial, dt_ones(ctx, DT_SHAPE(3, 4), .mesh = mesh, .place = "P(max)")));
    assert_null(dt_copy_(NULL, NULL));
    dt_mesh_release(mesh);
    assert_int_equal(dt_close(ctx), 0);
}

static int read_items(dt_ctx *ctx, void *arg) {
    (void)arg;
    int64_t n = dt_world(ctx), r = dt_rank(ctx);
    dt_mesh *mesh = dt_mesh_from_shape(ctx, &n, 1, NULL);
    CHECK(dt_item(dt_full(ctx, DT_SHAPE(1, 1), 2.5, .mesh = mesh, .place = "S(1)")) == 2.5, "shard");
    dt_tensor *t = dt_from_local(ctx, dt_scalar(ctx, (double)(r + 1), .dtype = DT_I64), mesh, "P(sum)");
    CHECK(dt_item_i64(t) == n * (n + 1) / 2, "%lld", (long long)dt_item_i64(t));
    CHECK(dt_item(dt_redistribute(t, "R")) == (double)(n * (n + 1) / 2), "sum");
    CHECK(isnan(dt_item(dt_zeros(ctx, DT_SHAPE(2), .mesh = mesh))), "two elements");
    CHECK(strstr(dt_error_text(ctx), "item: f32[2] R on mesh("), "%s", dt_error_text(ctx));
    CHECK(dt_error_clear(ctx) == DT_OK, "clear");
    CHECK(dt_item_i64(dt_scalar(ctx, 1)) == 0 && dt_error_status(ctx) == DT_ERR_DTYPE, "%s", dt_error_text(ctx));
    CHECK(dt_error_clear(ctx) == DT_OK, "clear");
    CHECK(isnan(dt_item(NULL)) && dt_item_i64(NULL) == 0, "NULL");
    float c[2] = {4, 5};
    CHECK(dt_item(dt_from_memory(ctx, c, DT_SHAPE(), DT_C64)) == 4, "complex");
    CHECK(!dt_to_local(NULL) && !dt_full_tensor(NULL) && !dt_redistribute(NULL, "R"), "NULL");
    CHECK(!dt_distribute_tensor(NULL, mesh, "R"), "NULL");
    /* Reading replicated values moves nothing and copies nothing. */
    t = dt_ones(ctx, DT_SHAPE(3), .mesh = mesh);
    CHECK(dt_tensor_shares(dt_full_tensor(t), t), "replicated");
    t = dt_ones(ctx, DT_SHAPE(3));
    CHECK(dt_to_local(t) == t && dt_full_tensor(t) == t, "plain");
    dt_mesh_release(mesh);
    return 0;
}

static void tensors__of_other_contexts_are_refused(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL), *other = dt_init(NULL);
    dt_mesh *mesh = dt_mesh_new(ctx, "1"), *other_mesh = dt_mesh_new(other, "1");
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(4)), *y = dt_ones(other, DT_SHAPE(4));
#define OTHER(call, message)                                                                                         \
    do {                                                                                                             \
        assert_true(call);                                                                                           \
        assert_error_contains(ctx, DT_ERR_STATE, message " belongs to another context");                             \
        dt_error_clear(ctx);                                                                                         \
    } while (0)
    OTHER(!dt_ones(ctx, DT_SHAPE(4), .mesh = other_mesh), "ones: the mesh");
    OTHER(!dt_randn(ctx, DT_SHAPE(4), .mesh = other_mesh), "randn: the mesh");
    OTHER(!dt_from_local(ctx, x, other_mesh, "S(0)"), "from_local: the mesh");
    OTHER(!dt_from_local(ctx, y, mesh, "S(0)"), "from_local: the tensor");
    OTHER(!dt_distribute_tensor(x, other_mesh, "S(0)"), "distribute_tensor: the mesh");
    OTHER(!dt_copy_(x, y), "tensor 2");
    OTHER(dt_save_npz("x.npz", 2, (const char *[]){"x", "y"}, (dt_tensor *[]){x, y}) == DT_ERR_STATE,
          "save_npz: the tensor");
#undef OTHER
    dt_mesh_release(mesh);
    dt_mesh_release(other_mesh);
    assert_int_equal(dt_close(other), 0);
    assert_int_equal(dt_close(ctx), 0);
}

static void item__reads_and_reduces(void **state) {
    (void)state;
    run_on_all_worlds(read_items);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tensors__hold_their_shards_by_definition),
        cmocka_unit_test(from_local__exchanges_uneven_sizes),
        cmocka_unit_test(from_local__joins_local_tensors),
        cmocka_unit_test(from_local__fails_on_peers_of_a_wrong_local_tensor),
        cmocka_unit_test(distribute_tensor__sends_each_rank_its_shard),
        cmocka_unit_test(meshes__of_several_dims_and_sub_meshes),
        cmocka_unit_test(transfers__are_waited_for_in_any_order),
        cmocka_unit_test(redistribute__converts),
        cmocka_unit_test(copy__keeps_placements_and_dtype),
        cmocka_unit_test(copy__broadcasts_between_meshes),
        cmocka_unit_test(copy__writes_through_views),
        cmocka_unit_test(copy__that_fails_on_some_ranks_fails_on_all),
        cmocka_unit_test(item__reads_and_reduces),
        cmocka_unit_test(tensors__of_other_contexts_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
