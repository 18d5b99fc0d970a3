/* SPDX-License-Identifier: Apache-2.0
 *
 * Properties of redistributions besides their values: which ranks wait, statistics, memory, the order of sums, and
 * errors.
 *
 * ctest: processors=2
 */
#include "support/launch.h"

#include "base/ctx.h"
#include "base/hash.h"
#include "move/move.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

/* A tensor of f32 whose shard is in the heap. */
typedef struct shard {
    dt_spec *spec;
    float *data;
} shard;

static dt_mesh *mesh_of(dt_ctx *ctx, const char *text) { return dt_mesh_new(ctx, text); }

static dt_spec *spec_of(dt_mesh *mesh, int n_dims, const int64_t *shape, const char *placements) {
    return dt_spec_new(mesh, &(dt_spec_desc){.dtype = DT_F32, .n_dims = n_dims, .shape = shape, .text = placements});
}

static shard new_shard(dt_ctx *ctx, dt_mesh *mesh, int n_dims, const int64_t *shape, const char *placements) {
    shard out = {.spec = spec_of(mesh, n_dims, shape, placements)};
    if (out.spec && dt_spec_local(out.spec)->bytes)
        out.data = dt_heap_alloc(ctx, (size_t)dt_spec_local(out.spec)->bytes);
    if (out.data)
        memset(out.data, 0, (size_t)dt_spec_local(out.spec)->bytes);
    return out;
}

static void free_shard(dt_ctx *ctx, shard *p) {
    dt_spec_release(p->spec);
    dt_heap_free(ctx, p->data);
}

static dt__redistribution redistribution_of(const shard *from, const shard *to) {
    return (dt__redistribution){
        .from = from->spec, .to = to->spec, .src = from->data, .dst = to->data, .planner = DT__PLANNER_DIRECT};
}

static dt_status redistribute(const shard *from, const shard *to) {
    dt__redistribution test = redistribution_of(from, to);
    return dt__redistribute_run(&test);
}

static void reset_error(dt_ctx *ctx) {
    ctx->status = DT_OK;
    ctx->text[0] = 0;
}

/* The error's text has that of the exchange or, where messages carry it between nodes, of the collective. */
static bool names_call(dt_ctx *ctx, const char *exchange, const char *carried) {
    const char *text = dt_error_text(ctx);
    return strstr(text, exchange) || (dt__has_nodes(ctx) && strstr(text, carried));
}

/* A redistribution and its numbers of all_gather, all_reduce, reduce_scatter, all_to_all, and rendezvous. */
struct counted {
    const char *mesh, *from, *to;
    int64_t collectives[4], exchanges;
};

/* RED-001 RED-002 RED-003 RED-005 RED-006 RED-011 RED-017 RED-072 */
static const struct counted counted_on_4[] = {
    {"4", "S(0)", "R", {1, 0, 0, 0}, 1},
    {"4", "R", "R", {0, 0, 0, 0}, 0},
    {"4", "P(sum)", "P(sum)", {0, 0, 0, 0}, 0},
    {"4", "R", "S(0)", {0, 0, 0, 0}, 0},
    {"4", "P(sum)", "R", {0, 1, 0, 0}, 1},
    {"4", "P(sum)", "S(1)", {0, 0, 1, 0}, 1},
    {"4", "S(0)", "S(1)", {0, 0, 0, 1}, 1},
    {"2x2", "P(sum),P(sum)", "R,R", {0, 1, 0, 0}, 1},
    {"2x2", "P(sum),P(sum)", "S(0),S(0)", {0, 0, 1, 0}, 1},
    {"2x2", "S(0),S(0)", "R,R", {1, 0, 0, 0}, 1},
    {"2x2", "R,S(0)", "R,R", {1, 0, 0, 0}, 1},
    {"2x2", "R,S(0)", "S(1),S(0)", {0, 0, 0, 0}, 0},
    {"4x1", "S(0),R", "S(0),S(1)", {0, 0, 0, 0}, 0},
};

static int run_counted(dt_ctx *ctx, void *arg) {
    (void)arg;
    static const int64_t shape[] = {8, 12};
    for (size_t i = 0; i < sizeof counted_on_4 / sizeof *counted_on_4; i++) {
        const struct counted *expected = &counted_on_4[i];
        dt_mesh *mesh = mesh_of(ctx, expected->mesh);
        shard from = new_shard(ctx, mesh, 2, shape, expected->from),
              to = new_shard(ctx, mesh, 2, shape, expected->to);
        dt__redistribute_stats before = dt__redistribute_statistics(ctx);
        CHECK_OK(ctx, redistribute(&from, &to));
        dt__redistribute_stats after = dt__redistribute_statistics(ctx);
        dt__step_counts counted;
        CHECK_OK(ctx, dt__redistribute_count(from.spec, to.spec, &counted));
        for (int k = 0; k < 4; k++) {
            int64_t got = after.collectives[k + 1] - before.collectives[k + 1];
            CHECK(got == expected->collectives[k] && got == counted.of[k + 1],
                  "%s: %s to %s: expected %lld of %s, got %lld", expected->mesh, expected->from, expected->to,
                  (long long)expected->collectives[k], dt__step_kind_name((dt__step_kind)(k + 1)), (long long)got);
        }
        CHECK(dt__has_nodes(ctx) || after.n_exchanges - before.n_exchanges == expected->exchanges,
              "%s to %s: %lld rendezvous", expected->from, expected->to,
              (long long)(after.n_exchanges - before.n_exchanges));
        CHECK(after.n_runs == before.n_runs + 1, "%lld runs", (long long)after.n_runs);
        free_shard(ctx, &from);
        free_shard(ctx, &to);
        dt_mesh_release(mesh);
    }
    return 0;
}

static void execute__counts_the_collectives_that_it_replaces(void **state) {
    (void)state;
    run_ranks(4, run_counted, NULL);
}

/* A redistribution that needs no peer does not wait: only one of the ranks makes the call. */
static int run_on_one_rank(dt_ctx *ctx, void *arg) {
    (void)arg;
    static const int64_t shape[] = {6, 5};
    dt_mesh *mesh = mesh_of(ctx, "3");
    shard whole = new_shard(ctx, mesh, 2, shape, "R"), part = new_shard(ctx, mesh, 2, shape, "S(0)");
    for (int i = 0; i < 30; i++)
        whole.data[i] = (float)i;
    if (dt_rank(ctx) == 1) {
        CHECK_OK(ctx, redistribute(&whole, &part));
        for (int i = 0; i < 10; i++)
            CHECK(part.data[i] == (float)(10 + i), "%g", (double)part.data[i]);
        CHECK_OK(ctx, dt__redistribute_run(&(dt__redistribution){.from = part.spec,
                                                                 .to = part.spec,
                                                                 .src = part.data,
                                                                 .dst = part.data,
                                                                 .planner = DT__PLANNER_DIRECT}));
        CHECK(part.data[9] == 19, "%g", (double)part.data[9]);
    }
    CHECK_OK(ctx, dt_comm_barrier(dt_group_world(ctx)));
    free_shard(ctx, &whole);
    free_shard(ctx, &part);
    dt_mesh_release(mesh);
    return 0;
}

static void execute__does_not_wait_if_no_peer_is_needed(void **state) {
    (void)state;
    run_ranks(3, run_on_one_rank, NULL);
}

/* Values whose sum depends on the order. */
static float random_value(int64_t rank, int64_t i) {
    uint64_t random = test_seed((uint64_t)(rank * 1000003 + i));
    return (float)((double)(int64_t)(test_random(&random) >> 11) * 0x1p-50 - 4);
}

/* The sum of the values of all ranks in the order of the mesh. */
static int check_sums(const dt_ctx *ctx, const float *got, int64_t first, int64_t n, const char *test) {
    for (int64_t i = 0; i < n; i++) {
        float sum = random_value(0, first + i);
        for (int64_t r = 1; r < dt_world(ctx); r++)
            sum += random_value(r, first + i);
        CHECK(got[i] == sum, "%s: rank %lld: element %lld: expected %.9g, got %.9g", test, (long long)dt_rank(ctx),
              (long long)(first + i), (double)sum, (double)got[i]);
    }
    return 0;
}

/* Sums of [rows,100] in the order of the mesh, in one phase and in two. */
static int run_sums(dt_ctx *ctx, void *arg) {
    int64_t rows = *(const int64_t *)arg, shape[] = {rows, 100}, n = rows * 100, world = dt_world(ctx);
    dt_mesh *mesh = dt_mesh_from_shape(ctx, &world, 1, NULL);
    shard from = new_shard(ctx, mesh, 2, shape, "P(sum)"), to = new_shard(ctx, mesh, 2, shape, "R");
    shard cut = new_shard(ctx, mesh, 2, shape, "S(0)");
    float *transposed = dt_heap_alloc(ctx, (size_t)n * sizeof *transposed); /* column-major */
    CHECK(transposed, "%s", dt_error_text(ctx));
    for (int64_t i = 0; i < n; i++)
        transposed[i % 100 * rows + i / 100] = from.data[i] = random_value(dt_rank(ctx), i);
    for (int k = 0; k < 2; k++) {
        dt__redistribute_stats before = dt__redistribute_statistics(ctx);
        CHECK_OK(ctx, redistribute(&from, &to));
        if (check_sums(ctx, to.data, 0, n, "P to R"))
            return 1;
        int64_t received = dt__redistribute_statistics(ctx).bytes_received - before.bytes_received;
        int64_t width = (rows + world - 1) / world, first = width * dt_rank(ctx) < rows ? width * dt_rank(ctx) : rows;
        int64_t share = (width < rows - first ? width : rows - first) * 400;
        int64_t two_phase_bytes = (world - 1) * share + (4 * n - share), one_phase_bytes = (world - 1) * 4 * n;
        bool two = world > 1 && 4 * n > (world == 2 ? 4 << 20 : 8192);
        CHECK(received == (two ? two_phase_bytes : one_phase_bytes), "%lld rows: rank %lld received %lld bytes",
              (long long)rows, (long long)dt_rank(ctx), (long long)received);
        memset(to.data, 0, (size_t)n * 4);
        dt__redistribution view = redistribution_of(&from, &to);
        view.src = dt_rank(ctx) % 2 ? from.data : transposed;
        view.src_strides = dt_rank(ctx) % 2 ? NULL : (const int64_t[]){1, rows};
        CHECK_OK(ctx, dt__redistribute_run(&view));
        if (check_sums(ctx, to.data, 0, n, "P to R, transposed"))
            return 1;
        CHECK_OK(ctx, redistribute(&from, &cut));
        const dt_local *local = dt_spec_local(cut.spec);
        if (check_sums(ctx, cut.data, local->offset[0] * 100, local->elements, "P to S(0)"))
            return 1;
    }
    free_shard(ctx, &from);
    free_shard(ctx, &to);
    free_shard(ctx, &cut);
    dt_heap_free(ctx, transposed);
    dt_mesh_release(mesh);
    return 0;
}

static void execute__sums_in_the_order_of_the_mesh(void **state) {
    (void)state;
    static const int64_t n_ranks[] = {1, 2, 3, 5};
    for (size_t i = 0; i < sizeof n_ranks / sizeof *n_ranks; i++) {
        run_ranks(n_ranks[i], run_sums, &(int64_t){7});
        run_ranks(n_ranks[i], run_sums, &(int64_t){301});
    }
    run_ranks(2, run_sums, &(int64_t){12001}); /* above 4 MiB */
}

/* Peak memory: source and target. */
static int run_peak(dt_ctx *ctx, void *arg) {
    (void)arg;
    static const char *const moves[][2] = {
        {"S(0),P(sum)", "R,S(1)"}, {"S(0),S(1)", "S(1),S(0)"}, {"P(sum),S(0)", "R,R"}, {"R,S(1)", "S(0),R"}};
    static const int64_t shape[] = {301, 203};
    dt_mesh *mesh = mesh_of(ctx, "2x2");
    for (size_t i = 0; i < sizeof moves / sizeof *moves; i++) {
        shard from = new_shard(ctx, mesh, 2, shape, moves[i][0]), to = new_shard(ctx, mesh, 2, shape, moves[i][1]);
        void *more = dt_heap_alloc(ctx, (size_t)4 << 20); /* raises the peak above that of earlier calls */
        CHECK_OK(ctx, dt_heap_free(ctx, more));
        CHECK_OK(ctx, redistribute(&from, &to));
        size_t live = dt_heap_stats(ctx).live_bytes, peak = dt_heap_stats(ctx).peak_bytes;
        void *filler = dt_heap_alloc(ctx, peak - live);
        CHECK(filler && dt_heap_stats(ctx).peak_bytes == peak, "%s", dt_error_text(ctx));
        CHECK_OK(ctx, redistribute(&from, &to));
        CHECK(dt__has_nodes(ctx) || dt_heap_stats(ctx).peak_bytes == peak, "%s to %s: the heap grew by %zu bytes",
              moves[i][0], moves[i][1], dt_heap_stats(ctx).peak_bytes - peak);
        CHECK_OK(ctx, dt_heap_free(ctx, filler));
        free_shard(ctx, &from);
        free_shard(ctx, &to);
    }
    dt_mesh_release(mesh);
    return 0;
}

static void execute__allocates_nothing_besides_source_and_target(void **state) {
    (void)state;
    run_ranks(4, run_peak, NULL);
}

/* Plans of several steps allocate the memory that they predict. */
static int run_planned_peak(dt_ctx *ctx, void *arg) {
    const dt__planner *planner = arg;
    static const int64_t shape[] = {256, 256};
    dt_mesh *mesh = mesh_of(ctx, "2x2");
    shard from = new_shard(ctx, mesh, 2, shape, "S(0)[1],S(0)[0]"), to = new_shard(ctx, mesh, 2, shape, "S(0),S(0)");
    dt__redistribution test = redistribution_of(&from, &to);
    test.planner = *planner;
    dt__move move;
    dt__plan plan;
    dt__arena arena = dt__arena_new(ctx);
    CHECK_OK(ctx, dt__move_of_specs(from.spec, to.spec, &move));
    CHECK_OK(ctx, dt__plan_new(&arena, &move, *planner, &dt__machine_builtin, &plan));
    CHECK_OK(ctx, dt__redistribute_run(&test));
    CHECK(dt__has_nodes(ctx) || (int64_t)dt_heap_stats(ctx).peak_bytes == plan.peak_bytes,
          "%s: expected %lld bytes, got %zu", dt__planner_name(*planner), (long long)plan.peak_bytes,
          dt_heap_stats(ctx).peak_bytes);
    dt__arena_free(&arena);
    free_shard(ctx, &from);
    free_shard(ctx, &to);
    dt_mesh_release(mesh);
    return 0;
}

static void execute__allocates_what_plans_predict(void **state) {
    (void)state;
    for (int planner = 0; planner < DT__N_PLANNERS; planner++)
        run_ranks(4, run_planned_peak, &(dt__planner){(dt__planner)planner});
}

/* The cache: hits, a bounded number of entries, and no references to specs. */
static int run_cache(dt_ctx *ctx, void *arg) {
    (void)arg;
    int64_t world = dt_world(ctx);
    dt_mesh *mesh = dt_mesh_from_shape(ctx, &world, 1, NULL);
    for (int round = 0; round < 2; round++)
        for (int64_t size = 1; size <= 1200; size++) {
            shard from = new_shard(ctx, mesh, 1, &size, "S(0)"), to = new_shard(ctx, mesh, 1, &size, "R");
            dt__redistribute_stats before = dt__redistribute_statistics(ctx);
            for (int i = 0; i < 2; i++)
                CHECK_OK(ctx, redistribute(&from, &to));
            dt__redistribute_stats after = dt__redistribute_statistics(ctx);
            CHECK(after.n_misses == before.n_misses + 1 && after.n_hits == before.n_hits + 1,
                  "size %lld: %lld misses, %lld hits", (long long)size, (long long)(after.n_misses - before.n_misses),
                  (long long)(after.n_hits - before.n_hits));
            CHECK(after.n_entries <= 1024, "%lld entries", (long long)after.n_entries);
            free_shard(ctx, &from);
            free_shard(ctx, &to);
        }
    dt_mesh_release(mesh);
    return 0;
}

static void execute__keeps_a_bounded_number_of_pairs(void **state) {
    (void)state;
    run_ranks(1, run_cache, NULL);
    run_ranks(2, run_cache, NULL);
}

struct refusal {
    const char *from, *to;
    dt_status status;
    const char *message;
};

/* RED-009 RED-021 RED-040 RED-053 */
static const struct refusal refusals[] = {
    {"f32[4,4] R on mesh(2)", "f32[4,4] P(sum) on mesh(2)", DT_ERR_PLACEMENT, "can not redistribute R to P(sum)"},
    {"f32[4,4] S(0) on mesh(2)", "f32[4,4] P(sum) on mesh(2)", DT_ERR_PLACEMENT,
     "can not redistribute S(0) to P(sum)"},
    {"f32[4,4] P(sum) on mesh(2)", "f32[4,4] P(avg) on mesh(2)", DT_ERR_PLACEMENT, "P(sum) to P(avg)"},
    {"f32[4,4] P(sum) on mesh(2)", "f32[4,4] P(sum) on mesh(2,1)", DT_ERR_PLACEMENT,
     "a target on another mesh may not be partial"},
    {"f32[4,4] R on mesh(2)", "f32[4,5] R on mesh(2)", DT_ERR_SHAPE, "the shapes differ"},
    {"f32[4,4] R on mesh(2)", "f32[4,4,1] R,R on mesh(2,1)", DT_ERR_SHAPE, "the shapes differ"},
    {"f32[4,4] R on mesh(2)", "f64[4,4] R on mesh(2)", DT_ERR_DTYPE, "the dtypes differ"},
    {"f32[4,4] R on mesh(2)", "f64[4,4] R,R on mesh(2,1)", DT_ERR_DTYPE, "the dtypes differ"},
};

static int run_refusals(dt_ctx *ctx, void *arg) {
    (void)arg;
    static const int64_t shape[] = {4, 4};
    dt_mesh *meshes[] = {mesh_of(ctx, "2"), mesh_of(ctx, "2x1")};
    shard part = new_shard(ctx, meshes[0], 2, shape, "S(0)"), whole = new_shard(ctx, meshes[0], 2, shape, "R");
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        const struct refusal *r = &refusals[i];
        float memory[64];
        dt_spec *from = dt_spec_parse(ctx, r->from), *to = dt_spec_parse(ctx, r->to);
        if (!to && strstr(r->to, "P(sum) on mesh(2,1)")) { /* one placement per mesh dim */
            reset_error(ctx);
            to = spec_of(meshes[1], 2, shape, "P(sum),R");
        }
        CHECK(from && to, "%s: %s", r->to, dt_error_text(ctx));
        dt_status status = dt__redistribute_run(&(dt__redistribution){
            .from = from, .to = to, .src = memory, .dst = memory + 32, .planner = DT__PLANNER_DIRECT});
        CHECK(status == r->status && strstr(dt_error_text(ctx), r->message), "%s to %s: %s: %s", r->from, r->to,
              dt_status_name(status), dt_error_text(ctx));
        reset_error(ctx);
        dt_spec_release(from);
        dt_spec_release(to);
        CHECK_OK(ctx, redistribute(&part, &whole)); /* an agreed error: all ranks continue */
    }
    dt_spec *other = spec_of(meshes[1], 2, shape, "R,R");
    dt_status status = dt__redistribute_run(&(dt__redistribution){
        .from = part.spec, .to = other, .src = part.data, .dst = whole.data, .planner = DT__PLANNER_GREEDY});
    CHECK(status == DT_ERR_MESH, "%s", dt_status_name(status));
    reset_error(ctx);
    dt_spec_release(other);
    free_shard(ctx, &part);
    free_shard(ctx, &whole);
    dt_mesh_release(meshes[0]);
    dt_mesh_release(meshes[1]);
    return 0;
}

static void execute__refuses_invalid_redistributions(void **state) {
    (void)state;
    run_ranks(2, run_refusals, NULL);
}

/* Ranks that are in neither mesh are not waited for; those in one of them are. */
static int run_outside(dt_ctx *ctx, void *arg) {
    (void)arg;
    static const int64_t shape[] = {5, 3};
    dt_mesh *left = mesh_of(ctx, "[0,1]"), *right = mesh_of(ctx, "[2,1]");
    shard from = new_shard(ctx, left, 2, shape, "S(0)"), to = new_shard(ctx, left, 2, shape, "R");
    shard on_other_mesh = new_shard(ctx, right, 2, shape, "S(1)");
    const dt_local *local = dt_spec_local(from.spec);
    for (int64_t i = 0; i < local->elements; i++)
        from.data[i] = (float)(local->offset[0] * 3 + i);
    if (dt_rank(ctx) == 3) {
        CHECK_OK(ctx, redistribute(&from, &to));
        CHECK_OK(ctx, redistribute(&from, &on_other_mesh));
        CHECK(dt__redistribute_statistics(ctx).n_runs == 0, "%lld",
              (long long)dt__redistribute_statistics(ctx).n_runs);
    }
    CHECK_OK(ctx, dt_comm_barrier(dt_group_world(ctx)));
    if (dt_rank(ctx) < 3) {
        CHECK_OK(ctx, redistribute(&from, &to));
        CHECK_OK(ctx, redistribute(&from, &on_other_mesh));
    }
    for (int i = 0; dt_rank(ctx) < 2 && i < 15; i++)
        CHECK(to.data[i] == (float)i, "%g", (double)to.data[i]);
    local = dt_spec_local(on_other_mesh.spec);
    for (int64_t i = 0; i < local->elements; i++) {
        int64_t row = i / local->shape[1], column = local->offset[1] + i % local->shape[1];
        CHECK(on_other_mesh.data[i] == (float)(row * 3 + column), "%g", (double)on_other_mesh.data[i]);
    }
    free_shard(ctx, &from);
    free_shard(ctx, &to);
    free_shard(ctx, &on_other_mesh);
    dt_mesh_release(left);
    dt_mesh_release(right);
    return 0;
}

static void execute__does_not_involve_other_ranks(void **state) {
    (void)state;
    run_ranks(4, run_outside, NULL);
}

/* Ranks that make different calls all fail, and can continue after clearing the error. */
static int run_mismatch(dt_ctx *ctx, void *arg) {
    bool planners = *(const bool *)arg;
    static const int64_t shape[] = {64, 64};
    dt_mesh *mesh = mesh_of(ctx, "2");
    shard from = new_shard(ctx, mesh, 2, shape, "S(0)"), to = new_shard(ctx, mesh, 2, shape, "R");
    shard other = new_shard(ctx, mesh, 2, shape, "S(1)");
    CHECK_OK(ctx, redistribute(&from, &to));
    dt__redistribution test = redistribution_of(&from, dt_rank(ctx) && !planners ? &other : &to);
    test.planner = dt_rank(ctx) && planners ? DT__PLANNER_GREEDY : DT__PLANNER_DIRECT;
    dt_status status = dt__redistribute_run(&test);
    CHECK(status == DT_ERR_MISMATCH, "%s: %s", dt_status_name(status), dt_error_text(ctx));
    CHECK(names_call(ctx, "redistribute of f32 x 4096", "all_gather of u8 x 16384"), "%s", dt_error_text(ctx));
    CHECK(names_call(ctx, "between different specs", " call"), "%s", dt_error_text(ctx));
    status = redistribute(&from, &to);
    CHECK(status == DT_ERR_GROUP, "%s", dt_status_name(status));
    CHECK_OK(ctx, dt_error_clear(ctx));
    CHECK_OK(ctx, redistribute(&from, &to));
    free_shard(ctx, &from);
    free_shard(ctx, &to);
    free_shard(ctx, &other);
    dt_mesh_release(mesh);
    return 0;
}

static void execute__detects_that_calls_differ(void **state) {
    (void)state;
    run_ranks(2, run_mismatch, &(bool){false});
    run_ranks(2, run_mismatch, &(bool){true});
}

/* Waiting ranks get an error if a rank closes or fails. */
static int run_without_rank_2(dt_ctx *ctx, void *arg) {
    bool fails = *(const bool *)arg;
    static const int64_t shape[] = {300, 64};
    dt_mesh *mesh = mesh_of(ctx, "3");
    shard from = new_shard(ctx, mesh, 2, shape, "P(sum)"), to = new_shard(ctx, mesh, 2, shape, "R");
    dt__redistribution test = redistribution_of(&from, &to);
    if (dt_rank(ctx) == 2 && fails) {
        test.dst = NULL;
        dt_status status = dt__redistribute_run(&test);
        CHECK(status == DT_ERR_VALUE && strstr(dt_error_text(ctx), "dst: expected memory"), "%s", dt_error_text(ctx));
    } else if (dt_rank(ctx) < 2) {
        dt_status status = dt__redistribute_run(&test);
        CHECK(status == DT_ERR_PEER && names_call(ctx, "redistribute of f32 x 19200", "all_reduce of f32 x 19200"),
              "%s: %s", dt_status_name(status), dt_error_text(ctx));
    }
    if (fails)
        CHECK_OK(ctx, dt_error_clear(ctx));
    reset_error(ctx);
    free_shard(ctx, &from);
    free_shard(ctx, &to);
    dt_mesh_release(mesh);
    return 0;
}

static void execute__fails_if_peers_do_not_arrive(void **state) {
    (void)state;
    if (!test_started_ranks()) /* launchers report ranks that do not finalize MPI; tests/mpi/test_faults.py does this */
        run_ranks(3, run_without_rank_2, &(bool){false});
    run_ranks(3, run_without_rank_2, &(bool){true});
}

/* Started redistributions are waited for in any order. */
static int run_started(dt_ctx *ctx, void *arg) {
    (void)arg;
    static const int64_t shape[] = {120, 50};
    dt_mesh *mesh = mesh_of(ctx, "2");
    shard from = new_shard(ctx, mesh, 2, shape, "S(0)"), to[3];
    static const char *const targets[] = {"R", "S(1)", "R"};
    dt__execution *moving[3];
    const dt_local *local = dt_spec_local(from.spec);
    for (int64_t i = 0; i < local->elements; i++)
        from.data[i] = (float)(local->offset[0] * 50 + i);
    for (int i = 0; i < 3; i++) {
        to[i] = new_shard(ctx, mesh, 2, shape, targets[i]);
        dt__redistribution test = redistribution_of(&from, &to[i]);
        moving[i] = dt__redistribute_start(&test);
        CHECK(moving[i], "%s", dt_error_text(ctx));
    }
    int first = dt_rank(ctx) ? 1 : 0;
    CHECK_OK(ctx, dt__redistribute_wait(moving[first]));
    CHECK_OK(ctx, dt__redistribute_wait(moving[1 - first]));
    CHECK_OK(ctx, dt__redistribute_wait(moving[2]));
    for (int i = 0; i < 6000; i++)
        CHECK(to[0].data[i] == (float)i, "%g", (double)to[0].data[i]);
    for (int i = 0; i < 3000; i++)
        CHECK(to[1].data[i] == (float)(i / 25 * 50 + i % 25 + 25 * dt_rank(ctx)), "%g", (double)to[1].data[i]);
    for (int i = 0; i < 6000; i++)
        CHECK(to[2].data[i] == (float)i, "%g", (double)to[2].data[i]);
    for (int i = 0; i < 3; i++)
        free_shard(ctx, &to[i]);
    free_shard(ctx, &from);
    dt_mesh_release(mesh);
    return 0;
}

static void execute__runs_several_at_once(void **state) {
    (void)state;
    run_ranks(2, run_started, NULL);
}

/* The n-th allocation of one rank fails: the others get errors, and nothing leaks. */
struct failing_allocation {
    test_memory memory;
    long n;
    bool *has_failed; /* read by the test */
    const char *from, *to;
    dt__planner planner;
    bool started;
};

static int run_with_failing_allocation(dt_ctx *ctx, void *arg) {
    struct failing_allocation *test = arg;
    static const int64_t shape[] = {60, 50};
    dt_mesh *mesh = mesh_of(ctx, "2x2");
    shard from = new_shard(ctx, mesh, 2, shape, test->from), to = new_shard(ctx, mesh, 2, shape, test->to);
    shard pair = new_shard(ctx, mesh, 2, shape, "P(sum),R"), whole = new_shard(ctx, mesh, 2, shape, "R,R");
    dt__redistribution call = redistribution_of(&from, &to);
    call.planner = test->planner;
    CHECK_OK(ctx, redistribute(&pair, &whole));
    if (dt_rank(ctx) == 0)
        test->memory.fail_at = test->memory.n_calls + test->n;
    dt__execution *moving = test->started ? dt__redistribute_start(&call) : NULL;
    dt_status status = !test->started ? dt__redistribute_run(&call)
                       : moving       ? dt__redistribute_wait(moving)
                                      : dt_error_status(ctx);
    bool has_failed = dt_rank(ctx) == 0 && test->memory.n_calls >= test->memory.fail_at;
    test->memory.fail_at = 0;
    if (has_failed)
        CHECK(status == DT_ERR_MEMORY, "rank 0: %s: %s", dt_status_name(status), dt_error_text(ctx));
    else
        CHECK(status == DT_OK || (dt_rank(ctx) > 0 && status == DT_ERR_PEER), "rank %lld: %s: %s",
              (long long)dt_rank(ctx), dt_status_name(status), dt_error_text(ctx));
    *test->has_failed |= has_failed;
    CHECK_OK(ctx, dt_error_clear(ctx));
    CHECK_OK(ctx, redistribute(&pair, &whole)); /* also redistributions that were cached before succeed again */
    CHECK_OK(ctx, redistribute(&from, &to));
    free_shard(ctx, &pair);
    free_shard(ctx, &whole);
    free_shard(ctx, &from);
    free_shard(ctx, &to);
    dt_mesh_release(mesh);
    return 0;
}

static void execute__survives_failing_allocations(void **state) {
    (void)state;
    static const struct failing_allocation kinds[] = {
        {.from = "S(0),P(sum)", .to = "R,S(1)", .planner = DT__PLANNER_DIRECT},
        {.from = "S(0),S(0)", .to = "S(1),R", .planner = DT__PLANNER_GREEDY},
        {.from = "P(sum),R", .to = "R,S(0)", .planner = DT__PLANNER_DIRECT, .started = true},
        {.from = "P(sum),P(sum)", .to = "R,R", .planner = DT__PLANNER_DIRECT},
    };
    enum { N_RANKS = 4, N_KINDS = sizeof kinds / sizeof *kinds, MAX_CALLS = 1000 };
    if (test_with_tsan)
        test_skip("threads share the counter with the thread sanitizer");
    if (test_started_ranks() && test_started_ranks() != N_RANKS)
        test_skip("needs 4 ranks");
    bool *has_failed = test_shared_memory(N_KINDS * MAX_CALLS); /* of each call: started ranks share them */
    for (size_t i = 0; i < N_KINDS; i++) {
        long n = 0;
        do {
            struct failing_allocation test = kinds[i];
            assert_true(++n < MAX_CALLS);
            test.n = n;
            test.has_failed = &has_failed[i * MAX_CALLS + (size_t)n];
            run_ranks_with(&(test_ranks){.n = N_RANKS, .counted = &test.memory}, run_with_failing_allocation, &test);
        } while (has_failed[i * MAX_CALLS + (size_t)n]);
        assert_true(n > 2);
    }
}

/* A fake world: redistributions are counted, and nothing moves. */
static void execute__moves_nothing_on_fake(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(&(dt_init_options){.transport = "fake", .world = 100000, .rank = 77});
    int64_t shape[] = {200000, 3}, sizes[] = {1000, 100};
    dt_mesh *mesh = dt_mesh_from_shape(ctx, sizes, 2, NULL);
    shard from = new_shard(ctx, mesh, 2, shape, "S(0),S(0)"), to = new_shard(ctx, mesh, 2, shape, "R,S(0)");
    to.data[0] = 5;
    assert_int_equal(redistribute(&from, &to), DT_OK);
    dt__redistribution test = redistribution_of(&from, &to);
    dt__execution *moving = dt__redistribute_start(&test);
    assert_int_equal(dt__redistribute_wait(moving), DT_OK);
    dt__redistribute_stats stats = dt__redistribute_statistics(ctx);
    assert_int_equal(stats.n_runs, 2);
    assert_true(stats.collectives[DT__STEP_ALL_GATHER] + stats.collectives[DT__STEP_ALL_TO_ALL] > 0);
    assert_int_equal(stats.bytes_received, 0);
    assert_true(to.data[0] == 5);
    free_shard(ctx, &from);
    free_shard(ctx, &to);
    dt_mesh_release(mesh);
    assert_int_equal(dt_close(ctx), 0);
}

/* One element viewed as a tensor with strides of 0, copied and reduced. */
static int run_broadcast(dt_ctx *ctx, void *arg) {
    (void)arg;
    static const int64_t shape[] = {70, 50}, zero_strides[] = {0, 0};
    dt_mesh *mesh = mesh_of(ctx, "3");
    static const char *const moves[][2] = {{"S(0)", "S(1)"}, {"P(sum)", "R"}, {"P(sum)", "S(1)"}};
    for (size_t i = 0; i < sizeof moves / sizeof *moves; i++) {
        dt_spec *from = spec_of(mesh, 2, shape, moves[i][0]);
        shard to = new_shard(ctx, mesh, 2, shape, moves[i][1]);
        float *one = dt_heap_alloc(ctx, sizeof *one), sum = i ? 1 + 2 + 3 : 5;
        *one = i ? (float)(dt_rank(ctx) + 1) : 5;
        dt__redistribution test = {.from = from,
                                   .to = to.spec,
                                   .src = one,
                                   .src_strides = zero_strides,
                                   .dst = to.data,
                                   .planner = DT__PLANNER_DIRECT};
        CHECK_OK(ctx, dt__redistribute_run(&test));
        for (int64_t k = 0; k < dt_spec_local(to.spec)->elements; k++)
            CHECK(to.data[k] == sum, "%s to %s: element %lld is %g", moves[i][0], moves[i][1], (long long)k,
                  (double)to.data[k]);
        free_shard(ctx, &to);
        dt_heap_free(ctx, one);
        dt_spec_release(from);
    }
    dt_mesh_release(mesh);
    return 0;
}

static void execute__reads_broadcast_sources(void **state) {
    (void)state;
    run_ranks(3, run_broadcast, NULL);
}

/* Meshes of the same ranks whose dims have other names: partials may stay partial. */
static int run_renamed(dt_ctx *ctx, void *arg) {
    (void)arg;
    static const int64_t shape[] = {6, 4};
    dt_mesh *a = mesh_of(ctx, "a=2,b=2"), *b = mesh_of(ctx, "x=2,y=2");
    shard from = new_shard(ctx, a, 2, shape, "P(sum),S(0)"), to = new_shard(ctx, b, 2, shape, "P(sum),R");
    const dt_local *local = dt_spec_local(from.spec);
    float own_value = (float)(dt_rank(ctx) / 2 * 100); /* depends on the coordinate along the partial */
    for (int64_t i = 0; i < local->elements; i++)
        from.data[i] = own_value + (float)(local->offset[0] * 4 + i);
    CHECK_OK(ctx, redistribute(&from, &to));
    for (int i = 0; i < 24; i++)
        CHECK(to.data[i] == own_value + (float)i, "rank %lld: element %d is %g", (long long)dt_rank(ctx), i,
              (double)to.data[i]);
    free_shard(ctx, &from);
    free_shard(ctx, &to);
    dt_mesh_release(a);
    dt_mesh_release(b);
    return 0;
}

static void execute__treats_equal_ranks_under_other_names_as_one_mesh(void **state) {
    (void)state;
    run_ranks(4, run_renamed, NULL);
}

/* Rank 1 makes the call after the time-out of rank 0. */
static int run_late(dt_ctx *ctx, void *arg) {
    atomic_bool *has_timed_out = arg;
    static const int64_t shape[] = {64, 64};
    dt_mesh *mesh = mesh_of(ctx, "2");
    shard from = new_shard(ctx, mesh, 2, shape, "S(0)"), to = new_shard(ctx, mesh, 2, shape, "R");
    dt__redistribution test = redistribution_of(&from, &to);
    if (dt_rank(ctx) == 0) {
        dt__execution *moving = dt__redistribute_start(&test);
        CHECK(moving, "%s", dt_error_text(ctx));
        dt_status status = dt__redistribute_wait(moving);
        CHECK(status == DT_ERR_TIMEOUT && names_call(ctx, "redistribute of f32 x 4096", "all_gather of u8 x 16384"),
              "%s: %s", dt_status_name(status), dt_error_text(ctx));
        atomic_store(has_timed_out, true);
    } else {
        while (!atomic_load(has_timed_out))
            test_sleep(0.001);
        dt_status status = dt__redistribute_run(&test);
        CHECK(status == DT_ERR_TIMEOUT, "%s: %s", dt_status_name(status), dt_error_text(ctx));
    }
    reset_error(ctx);
    free_shard(ctx, &from);
    free_shard(ctx, &to);
    dt_mesh_release(mesh);
    return 0;
}

static void execute__times_out(void **state) {
    (void)state;
    atomic_bool *has_timed_out = test_shared_memory(sizeof *has_timed_out);
    run_ranks_with(&(test_ranks){.n = 2, .options = {.timeout_s = 0.2 * test_slowness}}, run_late, has_timed_out);
}

/* A rank dies in a sequence of redistributions. */
static int run_until_death(dt_ctx *ctx, void *arg) {
    int when = *(const int *)arg;
    static const int64_t shape[] = {200, 300};
    dt_mesh *mesh = mesh_of(ctx, "3");
    shard from = new_shard(ctx, mesh, 2, shape, "P(sum)"), to = new_shard(ctx, mesh, 2, shape, "R");
    shard part = new_shard(ctx, mesh, 2, shape, "S(1)");
    for (int i = 0; i < 1000; i++) {
        if (dt_rank(ctx) == 1 && i == when)
            raise(SIGKILL);
        dt_status status = i % 2 ? redistribute(&part, &to) : redistribute(&from, &part);
        if (status == DT_OK)
            continue;
        bool as_expected =
            status == DT_ERR_PEER && i >= when && strstr(dt_error_text(ctx), "redistribute of f32 x 60000");
        int code = as_expected ? 0 : 1;
        if (!as_expected)
            fprintf(stderr, "call %d: %s: %s\n", i, dt_status_name(status), dt_error_text(ctx));
        dt__ctx_free(ctx);
        return code;
    }
    return 1;
}

static void execute__fails_if_a_peer_dies(void **state) {
    (void)state;
    if (test_with_tsan)
        test_skip("a thread cannot die alone with the thread sanitizer");
    for (int when = 0; when < 6; when++) {
        test_launch launch = {.notifies = when % 2 == 0};
        dt_init_options options = {.timeout_s = 60};
        test_launch_begin(&launch, 3, &options, run_until_death, &when);
        test_launch_end(&launch, 60 * test_slowness);
        assert_int_equal(launch.statuses[0], 0);
        assert_int_equal(launch.statuses[2], 0);
        assert_true(WIFSIGNALED(launch.statuses[1]));
    }
}

/* A world of one, in which the n-th allocation fails. */
static void execute__succeeds_or_reports_exhausted_memory(void **state) {
    (void)state;
    static const int64_t shape[] = {5, 7};
    static const char *const moves[][2] = {{"P(sum),S(0)", "R,S(1)"}, {"S(0),_S(1,3)", "S(1),S(1)"}};
    bool has_failed = true;
    for (long n = 1; has_failed; n++) {
        test_memory memory = {0};
        dt_ctx *ctx = dt_init(&(dt_init_options){.transport = "self", .allocator = test_memory_allocator(&memory)});
        dt_mesh *mesh = mesh_of(ctx, "1x1");
        has_failed = false;
        for (int i = 0; i < 6; i++) {
            const char *const *move = moves[i % 2];
            shard from = new_shard(ctx, mesh, 2, shape, move[0]), to = new_shard(ctx, mesh, 2, shape, move[1]);
            dt__redistribution test = redistribution_of(&from, &to);
            test.planner = (dt__planner)(i % DT__N_PLANNERS);
            for (int k = 0; k < 35; k++)
                from.data[k] = (float)k;
            memory.fail_at = memory.n_calls + n;
            dt_status status = dt__redistribute_run(&test);
            bool failed_now = memory.n_calls >= memory.fail_at;
            memory.fail_at = 0;
            if (status != (failed_now ? DT_ERR_MEMORY : DT_OK))
                fail_msg("%s to %s: %s: %s", move[0], move[1], dt_status_name(status), dt_error_text(ctx));
            for (int k = 0; k < 35 && !failed_now; k++)
                assert_true(to.data[k] == (float)k);
            has_failed |= failed_now;
            reset_error(ctx);
            free_shard(ctx, &from);
            free_shard(ctx, &to);
        }
        dt_mesh_release(mesh);
        assert_int_equal(dt_close(ctx), 0);
        assert_int_equal(memory.n_live, 0);
        assert_false(memory.wrong_size);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(execute__counts_the_collectives_that_it_replaces),
        cmocka_unit_test(execute__does_not_wait_if_no_peer_is_needed),
        cmocka_unit_test(execute__sums_in_the_order_of_the_mesh),
        cmocka_unit_test(execute__allocates_nothing_besides_source_and_target),
        cmocka_unit_test(execute__allocates_what_plans_predict),
        cmocka_unit_test(execute__keeps_a_bounded_number_of_pairs),
        cmocka_unit_test(execute__refuses_invalid_redistributions),
        cmocka_unit_test(execute__does_not_involve_other_ranks),
        cmocka_unit_test(execute__detects_that_calls_differ),
        cmocka_unit_test(execute__fails_if_peers_do_not_arrive),
        cmocka_unit_test(execute__runs_several_at_once),
        cmocka_unit_test(execute__survives_failing_allocations),
        cmocka_unit_test(execute__moves_nothing_on_fake),
        cmocka_unit_test(execute__reads_broadcast_sources),
        cmocka_unit_test(execute__treats_equal_ranks_under_other_names_as_one_mesh),
        cmocka_unit_test(execute__times_out),
        cmocka_unit_test(execute__fails_if_a_peer_dies),
        cmocka_unit_test(execute__succeeds_or_reports_exhausted_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
