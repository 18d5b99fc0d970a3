/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory that runs out half-way through ops: every allocation in turn fails, of ordinary memory and of the heap. The
 * call returns no output and a memory error, nothing leaks, and inputs stay as they were. And a rank on which it runs
 * out does not leave its peers waiting.
 */
#include "dispatch/calls.h"
#include "support/launch.h"

#include "dtensor/debug.h"
#include "dtensor/ops.h"

#include <sched.h>
#include <stdatomic.h>
#include <string.h>

static bool run_ops(dt_ctx *ctx, dt_mesh *mesh) {
    dt_tensor *a = calls_counting(ctx, DT_F32, DT_SHAPE(6, 4), 1, 1);
    dt_tensor *x = a ? calls_distribute(a, mesh, "S(0)") : NULL, *p = NULL;
    if (!x)
        return false;
    p = CALL(ctx, "sum($1; [0])", x);
    if (!p)
        return false;
    dt_tensor *t = CALL(ctx, "transpose($1; 0; 1)", x);
    return t && CALL(ctx, "mm($1; $2)", t, x) && CALL(ctx, "exp($1)", p) && CALL(ctx, "add_($1; $1)", x) &&
           CALL(ctx, "split($1; 2)", x) && CALL(ctx, "reshape($1; [24])", t);
}

/* Runs the ops with counts and traces. */
static bool run_observed(dt_ctx *ctx, dt_mesh *mesh) {
    bool ok = dt_comm_stats_begin(ctx) == DT_OK && dt_trace_begin(ctx, NULL) == DT_OK &&
              dt_comm_scope_begin(ctx, "part") == DT_OK && run_ops(ctx, mesh);
    dt_tensor *x = ok ? dt_ones(ctx, DT_SHAPE(6, 4), .mesh = mesh, .place = "P(sum)") : NULL;
    ok = x && dt_full_tensor(x) && dt_explain(ctx, "relu", x) && dt_comm_stats_text(ctx) && dt_comm_stats_json(ctx);
    dt_comm_scope_end(ctx);
    dt_comm_stats_end(ctx);
    ok = dt_trace_end(ctx) == DT_OK && ok;
    return ok && !dt_failed(ctx);
}

/* Ops that meet, scan and fetch windows; on one rank, states and windows are made all the same. */
static bool run_ways(dt_ctx *ctx, dt_mesh *mesh) {
    dt_tensor *a = calls_counting(ctx, DT_F32, DT_SHAPE(6, 4), 1, 1);
    dt_tensor *x = a ? calls_distribute(a, mesh, "S(0)") : NULL;
    return x && CALL(ctx, "softmax($1; 0)", x) && CALL(ctx, "cumsum($1; 0)", x) && CALL(ctx, "flip($1; [0])", x) &&
           CALL(ctx, "slice($1; 0; 1; 5)", x) && CALL(ctx, "cat({$1; $1}; 0)", x);
}

/* Arguments that are read from values: of plain and of distributed tensors, by a kernel and from a tensor as it is. */
static bool run_read(dt_ctx *ctx, dt_mesh *mesh) {
    dt_tensor *plain = dt_from_memory(ctx, (int64_t[]){1, 4, 2, 0, 3, 1}, DT_SHAPE(6), DT_I64);
    dt_tensor *classes = plain ? calls_distribute(plain, mesh, "S(0)") : NULL, *parts[3];
    dt_tensor *ends = dt_from_memory(ctx, (int64_t[]){1, 4}, DT_SHAPE(2), DT_I64);
    dt_tensor *at = ends ? calls_distribute(ends, mesh, "S(0)") : NULL;
    dt_tensor *partial = dt_ones(ctx, DT_SHAPE(1), .dtype = DT_I64, .mesh = mesh, .place = "P(sum)");
    dt_tensor *start = partial ? dt_squeeze_dim(partial, 0) : NULL;
    return classes && at && start && dt_one_hot(plain, -1) && dt_one_hot(classes, -1) &&
           dt_tensor_split_tensor_indices_or_sections(classes, at, parts, 3) == 3 &&
           dt_narrow_tensor(classes, 0, start, 2);
}

/* More tensors than a call has space for. */
static bool run_many(dt_ctx *ctx, dt_mesh *mesh) {
    enum { MANY = 70 };
    dt_tensor *many[MANY], *parts[MANY];
    dt_tensor *one = dt_ones(ctx, DT_SHAPE(2), .mesh = mesh, .place = "R");
    for (int i = 0; i < MANY; i++)
        many[i] = one;
    dt_tensor *all = dt_cat(((dt_tensors){MANY, many}));
    return all && dt_split(all, 2, parts, MANY) == MANY;
}

typedef bool run_fn(dt_ctx *ctx, dt_mesh *mesh);

static bool run_in_scope(dt_ctx *ctx, run_fn *run) {
    int64_t one = 1;
    dt_mesh *mesh = dt_mesh_from_shape(ctx, &one, 1, NULL);
    dt_scope scope = mesh ? dt_scope_begin(ctx) : (dt_scope){0};
    bool ok = scope.number && run(ctx, mesh);
    if (mesh)
        dt_scope_end(scope);
    dt_mesh_release(mesh);
    return ok;
}

static long fail_each_allocation(run_fn *run) {
    long n_failed = 0;
    for (bool has_failed = true; has_failed; n_failed += has_failed) {
        test_memory memory = {0};
        dt_ctx *ctx = dt_init(
            &(dt_init_options){.transport = "self", .threads = 1, .allocator = test_memory_allocator(&memory)});
        assert_non_null(ctx);
        memory.fail_at = memory.n_calls + n_failed + 1;
        bool worked = run_in_scope(ctx, run);
        has_failed = memory.n_calls >= memory.fail_at;
        if (worked == has_failed || (has_failed && dt_error_status(ctx) != DT_ERR_MEMORY))
            fail_msg("allocation %ld %s: the error is %s: %s", n_failed + 1, has_failed ? "failed" : "was not made",
                     dt_status_name(dt_error_status(ctx)), dt_error_text(ctx));
        (void)dt_error_clear(ctx);
        assert_int_equal(dt_heap_stats(ctx).n_live, 0);
        memory.fail_at = 0;
        if (!run_in_scope(ctx, run)) /* the context is still usable */
            fail_msg("after allocation %ld failed: expected that the calls work, got %s", n_failed + 1,
                     dt_error_text(ctx));
        (void)dt_error_clear(ctx);
        (void)dt_close(ctx);
        if (memory.n_live || memory.wrong_size)
            fail_msg("after allocation %ld failed: %ld blocks leak%s", n_failed + 1, memory.n_live,
                     memory.wrong_size ? " and a size was wrong" : "");
    }
    return n_failed;
}

static void faults__every_allocation_in_turn(void **state) {
    (void)state;
    assert_true(fail_each_allocation(run_ops) > 50);
}

static void faults__every_allocation_of_ways(void **state) {
    (void)state;
    assert_true(fail_each_allocation(run_ways) > 30);
}

static void faults__every_allocation_of_arguments_that_are_read(void **state) {
    (void)state;
    assert_true(fail_each_allocation(run_read) > 30);
}

static void faults__every_allocation_of_many_tensors(void **state) {
    (void)state;
    assert_true(fail_each_allocation(run_many) > 10);
}

static void faults__every_allocation_of_counts_and_traces(void **state) {
    (void)state;
    assert_true(fail_each_allocation(run_observed) > 80);
}

/* Two ranks that must redistribute an input; an allocation of one of them fails. */
static int one_rank_fails(dt_ctx *ctx, void *arg) {
    (void)arg;
    int64_t two = 2;
    dt_mesh *mesh = dt_mesh_from_shape(ctx, &two, 1, NULL);
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(64, 64), .mesh = mesh, .place = "P(sum)");
    CHECK(x, "%s", dt_error_text(ctx));
    dt_tensor *big = NULL;
    if (dt_rank(ctx) == 1)
        big = dt_ones(ctx, DT_SHAPE(1 << 20, 1 << 20)); /* larger than the memory */
    CHECK(!big, "expected a memory error, got a tensor");
    dt_tensor *y = CALL(ctx, "exp($1)", x); /* P(sum) of exp is a product: nothing moves */
    dt_tensor *z = y ? CALL(ctx, "gelu($1)", x) : NULL;
    CHECK(dt_rank(ctx) == 0 || dt_failed(ctx), "rank 1 has no error");
    CHECK(dt_rank(ctx) == 1 || z || dt_error_status(ctx) == DT_ERR_PEER, "rank 0: %s", dt_error_text(ctx));
    CHECK(dt_error_clear(ctx) == DT_OK, "%s", dt_error_text(ctx));
    CHECK(CALL(ctx, "gelu($1)", x), "afterwards: %s", dt_error_text(ctx));
    dt_mesh_release(mesh);
    return 0;
}

static void faults__peers_of_a_rank_without_memory_are_notified(void **state) {
    (void)state;
    run_ranks(2, one_rank_fails, NULL);
}

/* The exchanges inside ops: of states of all and of those before, and of windows. */
static dt_tensor *meet(dt_tensor *x) { return dt_softmax(x, 0); }
static dt_tensor *scan(dt_tensor *x) { return dt_cumsum(x, 0); }
static dt_tensor *fetch(dt_tensor *x) { return dt_flip(x, DT_DIMS(0)); }
static dt_tensor *fetch_others(dt_tensor *x) { return dt_roll(x, DT_INTS(3), .dims = DT_DIMS(0)); }

typedef struct way_fault {
    dt_tensor *(*call)(dt_tensor *x);
    const char *name;
    atomic_int *turn; /* shared by the ranks */
} way_fault;

static dt_tensor *rows_of(dt_ctx *ctx, dt_mesh *mesh) {
    return dt_view(dt_arange(ctx, 0, (int64_t)63 * 512, 1, .dtype = DT_F32, .mesh = mesh, .place = "S(0)"),
                   DT_SHAPE(63, 512));
}

/* A rank that has no memory for its states or its window: the others get its error, and all may continue. */
static int way_without_memory(dt_ctx *ctx, void *arg) {
    const way_fault *fault = arg;
    dt_mesh *mesh = dt_mesh_new(ctx, "3");
    dt_tensor *x = rows_of(ctx, mesh);
    CHECK(x && fault->call(x), "%s", dt_error_text(ctx));
    if (dt_rank(ctx) == 1)
        CHECK(!dt_ones(ctx, DT_SHAPE(1 << 20, 1 << 20)), "expected a memory error");
    dt_tensor *y = fault->call(x);
    dt_status status = dt_error_status(ctx);
    CHECK(!y && status == (dt_rank(ctx) == 1 ? DT_ERR_MEMORY : DT_ERR_PEER), "rank %d: %s", (int)dt_rank(ctx),
          dt_error_text(ctx));
    CHECK_OK(ctx, dt_error_clear(ctx));
    CHECK(fault->call(x), "afterwards: %s", dt_error_text(ctx));
    dt_mesh_release(mesh);
    return 0;
}

/* A rank that comes late, while the others wait inside: the call completes. */
static int way_with_a_late_rank(dt_ctx *ctx, void *arg) {
    const way_fault *fault = arg;
    dt_mesh *mesh = dt_mesh_new(ctx, "3");
    dt_tensor *x = rows_of(ctx, mesh), *first = fault->call(x);
    CHECK(first, "%s", dt_error_text(ctx));
    atomic_fetch_add(fault->turn, 1);
    while (dt_rank(ctx) == 2 && atomic_load(fault->turn) < 3) /* the others are about to wait */
        sched_yield();
    if (dt_rank(ctx) == 2)
        test_sleep(0.05);
    dt_tensor *again = fault->call(x);
    CHECK(again, "%s", dt_error_text(ctx));
    CHECK(!memcmp(dt_data(first), dt_data(again), (size_t)dt_tensor_local_elements(first) * sizeof(float)),
          "other values");
    dt_mesh_release(mesh);
    return 0;
}

/* Another op on one rank: both calls are named. */
static int way_of_another_op(dt_ctx *ctx, void *arg) {
    const way_fault *fault = arg;
    dt_mesh *mesh = dt_mesh_new(ctx, "3");
    dt_tensor *x = rows_of(ctx, mesh);
    CHECK(x && fault->call(x), "%s", dt_error_text(ctx));
    dt_tensor *y = dt_rank(ctx) == 1 ? fetch_others(x) : fault->call(x);
    CHECK(!y && dt_error_status(ctx) == DT_ERR_MISMATCH, "rank %d: %s", (int)dt_rank(ctx), dt_error_text(ctx));
    CHECK(strstr(dt_error_text(ctx), "made different calls on mesh(3)") && strstr(dt_error_text(ctx), "roll(") &&
              strstr(dt_error_text(ctx), fault->name),
          "%s", dt_error_text(ctx));
    CHECK_OK(ctx, dt_error_clear(ctx));
    CHECK(fault->call(x), "afterwards: %s", dt_error_text(ctx));
    dt_mesh_release(mesh);
    return 0;
}

static void faults__in_exchanges_of_ops(void **state) {
    (void)state;
    atomic_int *turn = test_shared_memory(sizeof *turn);
    const way_fault faults[] = {{meet, "softmax(", turn}, {scan, "cumsum(", turn}, {fetch, "flip(", turn}};
    for (int i = 0; i < 3; i++) {
        atomic_store(turn, 0);
        run_ranks(3, way_without_memory, (void *)&faults[i]);
        run_ranks(3, way_with_a_late_rank, (void *)&faults[i]);
        run_ranks(3, way_of_another_op, (void *)&faults[i]);
    }
}

/* [4,2] in shards of 2, 2 and 0 rows that are not contiguous: only the empty one can be viewed as one row. */
static int view_of_some_shards(dt_ctx *ctx, void *arg) {
    atomic_int *notified = arg; /* the others wait until the last rank has the error */
    dt_mesh *mesh = dt_mesh_new(ctx, "3");
    dt_tensor *columns = dt_select(dt_zeros(ctx, DT_SHAPE(4, 3, 2), .mesh = mesh, .place = "S(0)"), 1, 0);
    dt_tensor *line = dt_view(columns, DT_SHAPE(8));
    CHECK((line == NULL) == (dt_rank(ctx) < 2), "rank %d: %s", (int)dt_rank(ctx), dt_error_text(ctx));
    CHECK(dt_full_tensor(line) == NULL && strstr(dt_error_text(ctx), "allow no view of this shape"), "%s",
          dt_error_text(ctx));
    if (dt_rank(ctx) == 2)
        atomic_store(notified, 1);
    while (!atomic_load(notified))
        sched_yield();
    CHECK_OK(ctx, dt_error_clear(ctx));
    CHECK(dt_full_tensor(dt_reshape(columns, DT_SHAPE(8))), "%s", dt_error_text(ctx));
    dt_mesh_release(mesh);
    return 0;
}

static void faults__a_view_that_some_ranks_refuse_fails_on_all(void **state) {
    (void)state;
    run_ranks(3, view_of_some_shards, test_shared_memory(sizeof(atomic_int)));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(faults__every_allocation_in_turn),
        cmocka_unit_test(faults__every_allocation_of_ways),
        cmocka_unit_test(faults__every_allocation_of_arguments_that_are_read),
        cmocka_unit_test(faults__every_allocation_of_many_tensors),
        cmocka_unit_test(faults__every_allocation_of_counts_and_traces),
        cmocka_unit_test(faults__peers_of_a_rank_without_memory_are_notified),
        cmocka_unit_test(faults__in_exchanges_of_ops),
        cmocka_unit_test(faults__a_view_that_some_ranks_refuse_fails_on_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
