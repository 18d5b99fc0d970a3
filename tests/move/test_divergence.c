/* SPDX-License-Identifier: Apache-2.0
 *
 * Ranks that make different calls on a mesh's tensors: every rank of the mesh gets an error in the next operation on
 * the mesh that names the first differing call of each side, even if that call sent nothing; ranks that make the same
 * calls, or different ones on other meshes, on plain tensors or apart, get none. With DTENSOR_CHECK_CALLS the call
 * that differs fails itself.
 */
#include "support/launch.h"

#include <dtensor/dtensor.h>

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const int64_t worlds[] = {2, 3, 5};

/* A program in which rank 1 makes another call, and the calls that the errors contain. */
typedef struct program {
    const char *name;
    void (*run)(dt_ctx *ctx, dt_mesh *mesh, bool differs); /* differs: on rank 1 */
    const char *call, *differing_call;
} program;

static void other_op(dt_ctx *ctx, dt_mesh *mesh, bool differs) {
    dt_tensor *q = dt_ones(ctx, DT_SHAPE(8, 6), .mesh = mesh, .place = "S(0)");
    dt_tensor *r = dt_ones(ctx, DT_SHAPE(8, 6), .mesh = mesh, .place = "S(1)");
    for (int i = 0; i < 3; i++) /* from the second iteration on, from the cache */
        dt_add(q, r), dt_mul(q, r);
    differs ? dt_mul(q, r) : dt_add(q, r);
}

static void other_reduction(dt_ctx *ctx, dt_mesh *mesh, bool differs) {
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(8, 6), .mesh = mesh, .place = "S(0)");
    dt_full_tensor(differs ? dt_mean(x, .dim = DT_DIMS(0)) : dt_sum(x, .dim = DT_DIMS(0)));
}

static void other_dim(dt_ctx *ctx, dt_mesh *mesh, bool differs) {
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(6, 6), .mesh = mesh, .place = "R");
    dt_tensor *y = dt_sum(x, .dim = differs ? DT_DIMS(1) : DT_DIMS(0));
    dt_redistribute(dt_redistribute(y, "S(0)"), "R");
}

static void other_value(dt_ctx *ctx, dt_mesh *mesh, bool differs) {
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(8, 6), .mesh = mesh, .place = "S(0)");
    for (int i = 0; i < 3; i++)
        dt_mul_scalar(x, 2.0);
    dt_mul_scalar(x, differs ? 4.0 : 3.0);
    dt_item(dt_sum(x));
}

static void other_probability(dt_ctx *ctx, dt_mesh *mesh, bool differs) {
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(8, 6), .mesh = mesh, .place = "S(0)");
    dt_print(dt_dropout(x, .p = differs ? DT_REAL(0.25) : DT_REAL(0.5)));
}

static void other_start(dt_ctx *ctx, dt_mesh *mesh, bool differs) {
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(8, 6), .mesh = mesh, .place = "S(0)");
    for (int i = 0; i < 3; i++)
        dt_slice(x, 1, i, i + 2, 1);
    dt_slice(x, 1, differs ? 4 : 3, differs ? 6 : 5, 1);
    dt_item(dt_sum(x));
}

static void other_end(dt_ctx *ctx, dt_mesh *mesh, bool differs) {
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(8, 6), .mesh = mesh, .place = "S(0)");
    dt_slice(x, 1, -6, differs ? 6 : 5, 1);
    dt_item(dt_sum(x));
}

static void other_standard_deviation(dt_ctx *ctx, dt_mesh *mesh, bool differs) {
    dt_tensor *x =
        dt_randn(ctx, DT_SHAPE(8, 6), .mesh = mesh, .place = "S(0)", .std = differs ? DT_REAL(0.5) : DT_REAL(2));
    dt_print(x);
}

static void other_seed(dt_ctx *ctx, dt_mesh *mesh, bool differs) {
    dt_generator_seed(dt_generator_default(ctx), differs ? 7 : 6);
    dt_print(dt_randn(ctx, DT_SHAPE(8, 6), .mesh = mesh, .place = "S(0)"));
}

static void extra_call(dt_ctx *ctx, dt_mesh *mesh, bool differs) {
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(8, 6), .mesh = mesh, .place = "S(0)");
    if (differs)
        dt_relu(x);
    dt_neg(x);
    dt_redistribute(x, "R");
}

static void other_maker(dt_ctx *ctx, dt_mesh *mesh, bool differs) {
    dt_tensor *x = differs ? dt_zeros(ctx, DT_SHAPE(8, 6), .mesh = mesh, .place = "S(0)")
                           : dt_ones(ctx, DT_SHAPE(8, 6), .mesh = mesh, .place = "S(0)");
    dt_full_tensor(x);
}

static void other_target(dt_ctx *ctx, dt_mesh *mesh, bool differs) {
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(8, 6), .mesh = mesh, .place = "S(0)");
    dt_redistribute(x, differs ? "S(1)" : "R");
}

static void failing_call(dt_ctx *ctx, dt_mesh *mesh, bool differs) {
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(8, 6), .mesh = mesh, .place = "S(0)");
    if (differs)
        dt_matmul(x, x); /* refused, on this rank alone */
    else
        dt_relu(x);
    if (dt_error_status(ctx) == DT_ERR_SHAPE)
        dt_error_clear(ctx);
    dt_redistribute(x, "R");
}

static dt_tensor *indices(dt_ctx *ctx, dt_mesh *mesh, double largest) {
    return dt_from_local(ctx, dt_full(ctx, DT_SHAPE(4), largest, .dtype = DT_I64), mesh, "R");
}

/* An argument that one rank passes, and the others read from values. */
static void other_reading(dt_ctx *ctx, dt_mesh *mesh, bool differs) {
    dt_tensor *x = dt_full(ctx, DT_SHAPE(8), 4, .dtype = DT_I64, .mesh = mesh, .place = "S(0)");
    dt_one_hot(x, differs ? 5 : -1);
    dt_redistribute(x, "R");
}

/* What should be replicated and is not. */
static void other_value_read(dt_ctx *ctx, dt_mesh *mesh, bool differs) {
    dt_tensor *x = indices(ctx, mesh, 4);
    for (int i = 0; i < 2; i++)
        dt_one_hot(x, -1);
    dt_one_hot(indices(ctx, mesh, differs ? 6 : 4), -1);
    dt_redistribute(dt_ones(ctx, DT_SHAPE(8), .mesh = mesh, .place = "S(0)"), "R");
}

static const program programs[] = {
    {"another op", other_op, "add(f32[8,6] S(0); f32[8,6] S(1))", "mul(f32[8,6] S(0); f32[8,6] S(1))"},
    {"another reduction", other_reduction, "sum(f32[8,6] S(0); dim=[0])", "mean(f32[8,6] S(0); dim=[0])"},
    {"another dim", other_dim, "sum(f32[6,6] R; dim=[0])", "sum(f32[6,6] R; dim=[1])"},
    {"another value", other_value, "mul(f32[8,6] S(0)) with 3", "mul(f32[8,6] S(0)) with 4"},
    {"another start", other_start, "slice(f32[8,6] S(0); dim=1) with 3 and 5", "dim=1) with 4 and 6"},
    {"another end", other_end, "slice(f32[8,6] S(0); dim=1) with -6 and 5", "dim=1) with -6 and 6"},
    {"another probability", other_probability, "with 0.5", "with 0.25"},
    {"another standard deviation", other_standard_deviation, "std=2)", "std=0.5)"},
    {"another seed", other_seed, "randn(f32[8,6] S(0)", "randn(f32[8,6] S(0)"},
    {"an extra call", extra_call, "neg(f32[8,6] S(0))", "relu(f32[8,6] S(0))"},
    {"another maker", other_maker,
     "ones(size=[8,6]; dtype=f32) S(0) on mesh(tp=", "zeros(size=[8,6]; dtype=f32) S(0) on mesh(tp="},
    {"another target", other_target, "redistribute(f32[8,6] S(0)", "redistribute(f32[8,6] S(0)"},
    {"a call that fails", failing_call, "relu(f32[8,6] S(0))", "matmul(f32[8,6] S(0); f32[8,6] S(0))"},
    {"another reading", other_reading, "one_hot(i64[8] S(0)) (at", "one_hot(i64[8] S(0); num_classes=5)"},
    {"another value read", other_value_read, "one_hot(i64[4] R; num_classes=5)", "one_hot(i64[4] R; num_classes=7)"},
};

static int diverge(dt_ctx *ctx, void *arg) {
    const program *p = arg;
    dt_mesh *mesh = dt_mesh_new(ctx, dt_world(ctx) == 2 ? "tp=2" : dt_world(ctx) == 3 ? "tp=3" : "tp=5");
    freopen("/dev/null", "w", stdout);
    p->run(ctx, mesh, dt_rank(ctx) == 1);
    const char *text = dt_error_text(ctx);
    CHECK(dt_error_status(ctx) == DT_ERR_MISMATCH, "%s: rank %lld: expected mismatch, got %s: %s", p->name,
          (long long)dt_rank(ctx), dt_status_name(dt_error_status(ctx)), text);
    CHECK(strstr(text, p->call) && strstr(text, p->differing_call), "%s: expected %s and %s, got: %s", p->name,
          p->call, p->differing_call, text);
    CHECK(strstr(text, "made different calls on mesh(tp=") && strstr(text, "rank 1") &&
              strstr(text, "test_divergence.c:"),
          "%s: %s", p->name, text);
    CHECK(dt_error_clear(ctx) == DT_OK, "%s: %s", p->name, dt_error_text(ctx));
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(8, 6), .mesh = mesh, .place = "S(0)");
    CHECK(dt_item(dt_sum(x)) == 48, "%s: after clearing: %s", p->name, dt_error_text(ctx));
    return 0;
}

static void divergence__is_an_error_on_every_rank(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        for (size_t w = 0; w < sizeof worlds / sizeof *worlds; w++)
            run_ranks(worlds[w], diverge, (void *)&programs[i]);
}

/* Rank 0 needs nothing from the others, and closes; the errors of the others report its differing call, not that it
 * has closed. */
static int close_early(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh = dt_mesh_new(ctx, "tp=3");
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(9), .mesh = mesh, .place = "S(0)");
    dt_tensor *y = dt_redistribute(x, dt_rank(ctx) == 0 ? "S(0)" : "R");
    if (dt_rank(ctx) == 0)
        return y ? dt_close(ctx) : 1;
    const char *text = dt_error_text(ctx);
    CHECK(dt_error_status(ctx) == DT_ERR_MISMATCH && strstr(text, "; R)") && strstr(text, "; S(0))"), "%s: %s",
          dt_status_name(dt_error_status(ctx)), text);
    freopen("/dev/null", "w", stderr);
    return !dt_close(ctx);
}

static void divergence__is_detected_if_the_other_rank_has_closed(void **state) {
    (void)state;
    test_launch launch = {0};
    test_launch_begin(&launch, 3, NULL, close_early, NULL);
    test_launch_end(&launch, 60 * test_slowness);
    for (int rank = 0; rank < 3; rank++)
        assert_int_equal(launch.statuses[rank], 0);
}

static int diverge_2000_calls_ago(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh = dt_mesh_new(ctx, "tp=2");
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(4), .mesh = mesh, .place = "S(0)");
    dt_rank(ctx) == 0 ? dt_relu(x) : dt_neg(x);
    for (int i = 0; i < 2000; i++)
        dt_drop(dt_neg(x));
    dt_full_tensor(x);
    CHECK(dt_error_status(ctx) == DT_ERR_MISMATCH && strstr(dt_error_text(ctx), "before the last 1024"), "%s",
          dt_error_text(ctx));
    return dt_error_clear(ctx) != DT_OK;
}

static void divergence__beyond_the_recorded_calls_is_reported(void **state) {
    (void)state;
    run_ranks(2, diverge_2000_calls_ago, NULL);
}

/* Rank 0 is late; meanwhile the others make more calls than are kept, and wait long enough to look at its calls. */
static int be_2000_calls_late(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh = dt_mesh_new(ctx, "tp=*");
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(4), .mesh = mesh, .place = "S(0)");
    for (int i = 0; i < 2000; i++) {
        if (dt_rank(ctx) == 0 && i % 500 == 10)
            nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL);
        dt_drop(dt_neg(x));
    }
    CHECK(dt_full_tensor(x), "%s", dt_error_text(ctx));
    return 0;
}

static void late_rank__has_made_the_same_calls(void **state) {
    (void)state;
    run_ranks(2, be_2000_calls_late, NULL);
    run_ranks(3, be_2000_calls_late, NULL);
}

/* Each rank waits for another one, in different groups: rank 1 in one of its row, the others in one of all. */
static int wait_in_other_groups(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh = dt_mesh_new(ctx, "dp=2,tp=2");
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(8, 6), .mesh = mesh, .place = "S(0),S(1)");
    CHECK(!dt_redistribute(x, dt_rank(ctx) == 1 ? "S(0),R" : "R,R"), "no error");
    const char *text = dt_error_text(ctx);
    CHECK(strstr(text, "; R,R)") && strstr(text, "; S(0),R)"), "%s", text);
    CHECK(dt_error_clear(ctx) == DT_OK && dt_redistribute(dt_ones(ctx, DT_SHAPE(8, 6), .mesh = mesh), "S(0),R"), "%s",
          dt_error_text(ctx));
    return 0;
}

static void divergence__is_found_where_ranks_wait_in_other_groups(void **state) {
    (void)state;
    run_ranks(4, wait_in_other_groups, NULL);
}

/* Calls that may differ between ranks. */
static int make_allowed_calls(dt_ctx *ctx, void *arg) {
    (void)arg;
    int64_t rank = dt_rank(ctx);
    dt_mesh *mesh = dt_mesh_new(ctx, "dp=2,tp=2"), *tp = dt_mesh_slice(mesh, "tp");
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(8, 6), .mesh = mesh, .place = "S(0),S(1)");
    dt_tensor *y = dt_ones(ctx, DT_SHAPE(5), .mesh = tp, .place = "S(0)");
    for (int i = 0; i < (rank < 2 ? 3 : 5); i++) { /* the calls on the two slices differ */
        dt_relu(y);
        CHECK(dt_item(dt_sum(y)) == 5, "%s", dt_error_text(ctx));
    }
    dt_tensor *plain = dt_ones(ctx, DT_SHAPE(3));
    for (int i = 0; i < rank; i++)
        plain = dt_add(plain, plain);
    if (rank == 1) {
        char text[64];
        dt_tensor_text(x, sizeof text, text);
        dt_scope scope = dt_scope_begin(ctx);
        dt_scope_end(scope);
        CHECK(dt_data(dt_to_local(x)), "%s", dt_error_text(ctx)); /* a rank's own business */
        dt_apart_begin(ctx);
        dt_tensor *local = dt_to_local(x);
        dt_relu(x);
        dt_print(dt_sum(local));
        dt_apart_end(ctx);
    }
    CHECK(!dt_matmul(x, x) && dt_error_status(ctx) == DT_ERR_SHAPE, "%s", dt_error_text(ctx)); /* on all ranks */
    CHECK_OK(ctx, dt_error_clear(ctx));
    CHECK(dt_item(dt_sum(x)) == 48, "%s", dt_error_text(ctx));
    return 0;
}

static void ranks__may_differ_on_other_meshes_plain_tensors_and_apart(void **state) {
    (void)state;
    run_ranks(4, make_allowed_calls, NULL);
}

/* What a rank has cached is its own: here rank 1 forgets what the list has decided. */
static int call_after_a_list(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh = dt_mesh_new(ctx, "tp=*");
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(8, 6), .mesh = mesh, .place = "S(0)"), *output;
    CHECK(dt_foreach_neg(DT_TENSORS(x), &output, 1) == 1, "%s", dt_error_text(ctx));
    if (dt_rank(ctx) == 1)
        dt_cache_clear(ctx);
    CHECK(dt_neg(x) && dt_item(dt_sum(x)) == 48, "%s", dt_error_text(ctx));
    return 0;
}

/* Rank 0 is in the first mesh, rank 2 in the second, rank 1 in both; the later calls are cached. */
static int lists_on_two_meshes(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *a = dt_mesh_new(ctx, "[0,1]"), *b = dt_mesh_new(ctx, "[1,2]");
    dt_tensor *list[] = {dt_ones(ctx, DT_SHAPE(7), .mesh = a, .place = "S(0)"),
                         dt_ones(ctx, DT_SHAPE(4), .mesh = b, .place = "S(0)")};
    for (int i = 0; i < 3; i++) {
        dt_tensor *outputs[2];
        CHECK(dt_foreach_neg(DT_TENSORS(list[0], list[1]), outputs, 2) == 2, "%s", dt_error_text(ctx));
        for (int k = 0; k < 2; k++)
            CHECK(dt_full_tensor(list[k]), "call %d: %s", i, dt_error_text(ctx));
    }
    return 0;
}

static void same_calls__are_the_same_whatever_is_cached(void **state) {
    (void)state;
    for (size_t w = 0; w < sizeof worlds / sizeof *worlds; w++)
        run_ranks(worlds[w], call_after_a_list, NULL);
    run_ranks(3, lists_on_two_meshes, NULL);
}

static int redistribute_apart(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh = dt_mesh_new(ctx, "tp=3");
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(8, 6), .mesh = mesh, .place = "S(0)");
    dt_apart_begin(ctx);
    CHECK(!dt_redistribute(x, "R") && dt_error_status(ctx) == DT_ERR_STATE, "%s", dt_error_text(ctx));
    CHECK(strstr(dt_error_text(ctx), "dt_apart_begin"), "%s", dt_error_text(ctx));
    dt_apart_end(ctx);
    CHECK_OK(ctx, dt_error_clear(ctx));
    CHECK(dt_redistribute(x, "R"), "%s", dt_error_text(ctx));
    dt_apart_end(ctx);
    CHECK(dt_error_status(ctx) == DT_ERR_STATE, "expected an error for an end without a begin");
    return dt_error_clear(ctx) != DT_OK;
}

static void apart__refuses_transfers(void **state) {
    (void)state;
    run_ranks(3, redistribute_apart, NULL);
}

/* Rank 0 is in the first mesh, rank 2 in the second, rank 1 in both. */
static int redistribute_between_meshes(dt_ctx *ctx, void *arg) {
    bool differs = arg && dt_rank(ctx) == 2;
    dt_mesh *a = dt_mesh_new(ctx, "[0,1]"), *b = dt_mesh_new(ctx, "[1,2]");
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(7), .mesh = a, .place = "S(0)");
    dt_tensor *z = dt_ones(ctx, DT_SHAPE(4), .mesh = b, .place = "S(0)");
    if (dt_rank(ctx) > 0)
        differs ? dt_relu(z) : dt_neg(z);
    if (dt_rank(ctx) < 2)
        dt_relu(x);
    dt_tensor *y = dt_redistribute(x, "S(0)", .mesh = b);
    if (!arg) {
        CHECK(y, "%s", dt_error_text(ctx));
        return 0;
    }
    if (dt_rank(ctx) > 0) /* rank 0 reads nothing from the others and may have finished */
        CHECK(dt_error_status(ctx) == DT_ERR_MISMATCH && strstr(dt_error_text(ctx), "relu(f32[4] S(0))"),
              "rank %lld: %s: %s", (long long)dt_rank(ctx), dt_status_name(dt_error_status(ctx)), dt_error_text(ctx));
    return dt_error_clear(ctx) != DT_OK;
}

static void divergence__between_meshes_compares_the_members_of_each(void **state) {
    (void)state;
    run_ranks(3, redistribute_between_meshes, NULL);
    run_ranks(3, redistribute_between_meshes, "odd");
}

/* A local call in which rank 1 differs; x is f32[8,6] S(0). */
typedef struct local_call {
    const char *name;
    dt_tensor *(*run)(dt_tensor *x, bool differs);
    const char *call, *differing_call;
} local_call;

static dt_tensor *relu_or_neg(dt_tensor *x, bool differs) { return differs ? dt_neg(x) : dt_relu(x); }
static dt_tensor *mul_number(dt_tensor *x, bool differs) { return dt_mul_scalar_(x, differs ? 4.0 : 3.0); }
static dt_tensor *fill_number(dt_tensor *x, bool differs) { return dt_fill_(x, differs ? 4.0 : 3.0); }
static dt_tensor *cached_number(dt_tensor *x, bool differs) {
    return dt_mul_scalar(x, 2.0) && dt_mul_scalar(x, 2.0) ? dt_mul_scalar(x, differs ? 4.0 : 3.0) : NULL;
}
static dt_tensor *ones_or_zeros(dt_tensor *x, bool differs) {
    dt_ctx *ctx = dt_tensor_ctx(x);
    dt_mesh *mesh = dt_spec_mesh(dt_tensor_spec(x));
    return differs ? dt_zeros(ctx, DT_SHAPE(8), .mesh = mesh) : dt_ones(ctx, DT_SHAPE(8), .mesh = mesh);
}
static dt_tensor *randn_spread(dt_tensor *x, bool differs) {
    return dt_randn(dt_tensor_ctx(x), DT_SHAPE(8, 6), .mesh = dt_spec_mesh(dt_tensor_spec(x)), .place = "S(0)",
                    .std = differs ? DT_REAL(0.5) : DT_REAL(2));
}
static dt_tensor *randn_seed(dt_tensor *x, bool differs) {
    dt_generator_seed(dt_generator_default(dt_tensor_ctx(x)), differs ? 7 : 6);
    return dt_randn(dt_tensor_ctx(x), DT_SHAPE(8, 6), .mesh = dt_spec_mesh(dt_tensor_spec(x)), .place = "S(0)");
}
static dt_tensor *dropout_seed(dt_tensor *x, bool differs) {
    dt_generator_seed(dt_generator_default(dt_tensor_ctx(x)), differs ? 7 : 6);
    return dt_dropout(x);
}
static dt_tensor *randperm_seed(dt_tensor *x, bool differs) {
    dt_generator_seed(dt_generator_default(dt_tensor_ctx(x)), differs ? 7 : 6);
    return dt_randperm(dt_tensor_ctx(x), 9, .mesh = dt_spec_mesh(dt_tensor_spec(x)), .place = "S(0)");
}
static dt_tensor *detach_or_clone(dt_tensor *x, bool differs) { return differs ? dt_detach(x) : dt_clone(x); }
static dt_tensor *like_or_contiguous(dt_tensor *x, bool differs) {
    return differs ? dt_contiguous(x) : dt_empty_like(x);
}

static dt_tensor *without_kernel(dt_tensor *x, bool differs) {
    return differs ? dt_isclose(x, x) : dt_softmin(x, .dim = DT_INT(1));
}
/* The lists have decided both calls. */
static dt_tensor *single_call_after_lists(dt_tensor *x, bool differs) {
    dt_tensor *outputs[2];
    bool made =
        dt_foreach_neg(DT_TENSORS(x), &outputs[0], 1) == 1 && dt_foreach_abs(DT_TENSORS(x), &outputs[1], 1) == 1;
    return !made ? NULL : differs ? dt_neg(x) : dt_abs(x);
}

static const local_call local_calls[] = {
    {"another op", relu_or_neg, "relu(f32[8,6] S(0))", "neg(f32[8,6] S(0))"},
    {"another factor", mul_number, "with 3", "with 4"},
    {"another fill", fill_number, "with 3", "with 4"},
    {"another number in a cached call", cached_number, "with 3", "with 4"},
    {"another maker", ones_or_zeros,
     "ones(size=[8]; dtype=f32) R on mesh(tp=", "zeros(size=[8]; dtype=f32) R on mesh(tp="},
    {"another standard deviation", randn_spread, "std=2)", "std=0.5)"},
    {"another seed", randn_seed, "randn(f32[8,6] S(0)", "different random draws"},
    {"another seed of dropout", dropout_seed, "dropout(f32[8,6] S(0)", "different random draws"},
    {"another seed of randperm", randperm_seed, "randperm(i64[9] S(0)", "different random draws"},
    {"a detached tensor", detach_or_clone, "clone(f32[8,6] S(0)", "detach(f32[8,6] S(0)"},
    {"another op without a kernel", without_kernel, "softmin(f32[8,6] S(0); dim=1)",
     "isclose(f32[8,6] S(0); f32[8,6] S(0)"},
    {"another op after lists", single_call_after_lists, "abs(f32[8,6] S(0))", "neg(f32[8,6] S(0))"},
    {"a copy or none", like_or_contiguous, "empty_like(f32[8,6] S(0)", "contiguous(f32[8,6] S(0)"},
};

static int differ_locally(dt_ctx *ctx, void *arg) {
    const local_call *p = arg;
    dt_mesh *mesh = dt_mesh_new(ctx, "tp=*");
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(8, 6), .mesh = mesh, .place = "S(0)");
    dt_tensor *y = p->run(x, dt_rank(ctx) == 1);
    if (getenv("DTENSOR_CHECK_CALLS")) {
        CHECK(!y, "%s: rank %lld: the call was not refused", p->name, (long long)dt_rank(ctx));
    } else {
        CHECK(y && dt_error_status(ctx) == DT_OK, "%s: rank %lld: %s", p->name, (long long)dt_rank(ctx),
              dt_error_text(ctx));
        CHECK(!dt_redistribute(x, "R"), "%s: rank %lld: no error", p->name, (long long)dt_rank(ctx));
    }
    const char *text = dt_error_text(ctx);
    CHECK(dt_error_status(ctx) == DT_ERR_MISMATCH, "%s: rank %lld: expected mismatch, got %s: %s", p->name,
          (long long)dt_rank(ctx), dt_status_name(dt_error_status(ctx)), text);
    CHECK(strstr(text, "made different calls on mesh(tp=") && strstr(text, p->call) &&
              strstr(text, p->differing_call),
          "%s: expected %s and %s, got: %s", p->name, p->call, p->differing_call, text);
    CHECK(dt_error_clear(ctx) == DT_OK, "%s: %s", p->name, dt_error_text(ctx));
    x = dt_ones(ctx, DT_SHAPE(8, 6), .mesh = mesh, .place = "S(0)");
    CHECK(dt_item(dt_sum(x)) == 48, "%s: after clearing: %s", p->name, dt_error_text(ctx));
    return 0;
}

static void with_checks(void (*test)(void **)) {
    setenv("DTENSOR_CHECK_CALLS", "1", 1);
    test(NULL);
    unsetenv("DTENSOR_CHECK_CALLS");
}

static void differ_locally_in_all_worlds(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof local_calls / sizeof *local_calls; i++)
        for (size_t w = 0; w < sizeof worlds / sizeof *worlds; w++)
            run_ranks(worlds[w], differ_locally, (void *)&local_calls[i]);
}

static void local_divergence__is_found_in_the_next_transfer(void **state) { differ_locally_in_all_worlds(state); }

static void local_divergence__is_found_at_once_when_calls_are_checked(void **state) {
    (void)state;
    with_checks(differ_locally_in_all_worlds);
}

/* What is an error without checks is one with them, and what is legal stays so. */
static void checked_calls__have_the_same_errors(void **state) {
    (void)state;
    with_checks(divergence__is_an_error_on_every_rank);
    with_checks(ranks__may_differ_on_other_meshes_plain_tensors_and_apart);
    with_checks(same_calls__are_the_same_whatever_is_cached);
    with_checks(apart__refuses_transfers);
    with_checks(divergence__between_meshes_compares_the_members_of_each);
}

/* Rank 2 is outside the mesh and makes no calls on it; it waits for no rank, and no rank waits for it. Counters,
 * policies and traces do not have checks as collectives. */
static int check_silently(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh = dt_mesh_new(ctx, "[0,1]");
    dt_group *world = dt_group_world(ctx);
    CHECK_OK(ctx, dt_comm_stats_begin(ctx));
    CHECK_OK(ctx, dt_trace_begin(ctx, NULL));
    CHECK_OK(ctx, dt_comm_policy(ctx, DT_COMM_ERROR));
    if (dt_rank(ctx) < 2) {
        dt_tensor *x = dt_ones(ctx, DT_SHAPE(7), .mesh = mesh, .place = "S(0)");
        dt_heap_statistics before = dt_heap_stats(ctx);
        for (int i = 0; i < 40; i++) /* more than there are slots of headers in a channel */
            dt_drop(dt_relu(x));
        CHECK(x && dt_heap_stats(ctx).live_bytes == before.live_bytes, "%s", dt_error_text(ctx));
        CHECK(strstr(dt_trace_text(ctx), "relu"), "no relu in the trace");
    }
    CHECK(dt_comm_stats(ctx, NULL).n == 0, "%lld collectives", (long long)dt_comm_stats(ctx, NULL).n);
    CHECK(!strstr(dt_trace_text(ctx), "check_calls"), "%s", dt_trace_text(ctx));
    CHECK_OK(ctx, dt_comm_policy(ctx, DT_COMM_ALLOW));
    return dt_comm_barrier(world) != DT_OK;
}

static void check_silently_in_three_ranks(void **state) {
    (void)state;
    run_ranks(3, check_silently, NULL);
}

static void checked_calls__are_not_counted_and_involve_members_alone(void **state) {
    (void)state;
    with_checks(check_silently_in_three_ranks);
}

/* The library's own collectives compare, too: here the gathering of local shapes. */
static int gather_after_divergence(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh = dt_mesh_new(ctx, "tp=3");
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(8, 6), .mesh = mesh, .place = "S(0)");
    dt_rank(ctx) == 1 ? dt_neg(x) : dt_relu(x);
    dt_tensor *local = dt_ones(ctx, DT_SHAPE(dt_rank(ctx) + 1));
    CHECK(!dt_from_local(ctx, local, mesh, "S(0)", .check = true), "no error");
    const char *text = dt_error_text(ctx);
    CHECK(dt_error_status(ctx) == DT_ERR_MISMATCH && strstr(text, "relu(f32[8,6] S(0))") &&
              strstr(text, "neg(f32[8,6] S(0))"),
          "%s", text);
    return dt_error_clear(ctx) != DT_OK;
}

static void divergence__is_found_by_from_local(void **state) {
    (void)state;
    run_ranks(3, gather_after_divergence, NULL);
}

/* Messages and collectives of the program's own on a mesh's groups have no place among the calls on its tensors: rank
 * 0 sends and reduces before a call, rank 1 receives after it. */
static int communicate_between_calls(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh = dt_mesh_new(ctx, "tp=2");
    dt_group *group = dt_mesh_group(mesh, 0);
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(8, 6), .mesh = mesh, .place = "S(0)");
    float value = 3, sum = 0;
    dt_work *work = NULL;
    if (dt_rank(ctx) == 0) {
        CHECK_OK(ctx, dt_comm_send(group, &value, 1, DT_F32, 1));
        work = dt_comm_start(
            group,
            &(dt_comm_call){
                .op = DT_ALL_REDUCE, .src = &value, .dst = &sum, .count = 1, .dtype = DT_F32, .reduce = DT_SUM});
    }
    CHECK(dt_relu(x), "%s", dt_error_text(ctx));
    if (dt_rank(ctx) == 1) {
        CHECK_OK(ctx, dt_comm_recv(group, &value, 1, DT_F32, 0));
        CHECK_OK(ctx, dt_comm_all_reduce(group, &value, &sum, 1, DT_F32, DT_SUM));
    } else
        CHECK_OK(ctx, dt_work_wait(work));
    CHECK(value == 3 && sum == 6, "%g %g", value, sum);
    CHECK(dt_item(dt_sum(x)) == 48, "%s", dt_error_text(ctx));
    return 0;
}

static void raw_collectives__compare_no_history(void **state) {
    (void)state;
    run_ranks(2, communicate_between_calls, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(divergence__is_an_error_on_every_rank),
        cmocka_unit_test(divergence__is_detected_if_the_other_rank_has_closed),
        cmocka_unit_test(divergence__beyond_the_recorded_calls_is_reported),
        cmocka_unit_test(late_rank__has_made_the_same_calls),
        cmocka_unit_test(divergence__is_found_where_ranks_wait_in_other_groups),
        cmocka_unit_test(ranks__may_differ_on_other_meshes_plain_tensors_and_apart),
        cmocka_unit_test(same_calls__are_the_same_whatever_is_cached),
        cmocka_unit_test(apart__refuses_transfers),
        cmocka_unit_test(divergence__between_meshes_compares_the_members_of_each),
        cmocka_unit_test(local_divergence__is_found_in_the_next_transfer),
        cmocka_unit_test(local_divergence__is_found_at_once_when_calls_are_checked),
        cmocka_unit_test(checked_calls__have_the_same_errors),
        cmocka_unit_test(checked_calls__are_not_counted_and_involve_members_alone),
        cmocka_unit_test(divergence__is_found_by_from_local),
        cmocka_unit_test(raw_collectives__compare_no_history),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
