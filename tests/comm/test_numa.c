/* SPDX-License-Identifier: Apache-2.0
 *
 * Ranks of a NUMA node that share what they read from other nodes: the decision by the model, and the collectives by
 * definition on pretended nodes. Ranks 3 4 5 7 8; nodes in halves, interleaved, of different sizes, each rank on its
 * own (a sample of these); memory in the heap, outside, and mixed; in place and not; equal and unequal blocks; groups
 * in another order.
 */
/* ctest: timeout=600 */
#include "support/collectives.h"
#include "support/launch.h"

#include "comm/shm.h"

#include <unistd.h>

/* The rates of a machine with two sockets, as orders of magnitude: 40 GB/s between them, 10 GB/s by one core. */
static dt__machine two_sockets(void) {
    dt__machine machine = dt__machine_builtin;
    machine.numa_bytes_per_us = 40000;
    machine.copy_bytes_per_us = 10000;
    machine.within.start_us = 2;
    dt__machine_derive(&machine);
    return machine;
}

static void sharing__pays_where_the_link_is_the_limit(void **state) {
    (void)state;
    dt__machine machine = two_sockets();
    const double mb = 1e6;
    assert_false(dt__numa_sharing_pays(&dt__machine_builtin, 64, 100 * mb)); /* its link is not known */
    assert_false(dt__numa_sharing_pays(&machine, 1, 100 * mb));
    assert_false(dt__numa_sharing_pays(&machine, 4, 100 * mb)); /* 4 cores do not fill the link */
    assert_true(dt__numa_sharing_pays(&machine, 5, 100 * mb));  /* 12.5 ms, in place of 2.5 + 8 */
    assert_true(dt__numa_sharing_pays(&machine, 16, mb));       /* 400 us, in place of 25 + 94 + 2 */
    assert_true(dt__numa_sharing_pays(&machine, 64, mb));
    assert_false(dt__numa_sharing_pays(&machine, 64, 1000)); /* 1.6 us: less than a synchronisation */
    assert_false(dt__numa_sharing_pays(&machine, 64, 0));
    machine.numa_bytes_per_us = 1e9; /* a link that is never the limit */
    assert_false(dt__numa_sharing_pays(&machine, 64, 100 * mb));
}

/* The time of sharing never exceeds that of reading alone where it is chosen: both recomputed here from the steps. */
static void sharing__is_chosen_exactly_where_it_takes_less_time(void **state) {
    (void)state;
    dt__machine machine = two_sockets();
    for (int64_t near = 2; near <= 128; near *= 2)
        for (double bytes = 100; bytes < 1e10; bytes *= 7)
            for (double link = 100; link < 1e7; link *= 10) {
                machine.numa_bytes_per_us = link;
                double crossing = bytes * (double)near / link, copying = bytes / 10000;
                double alone = crossing > copying ? crossing : copying;
                double part_crossing = bytes / link, part_copying = copying / (double)near;
                double shared = (part_crossing > part_copying ? part_crossing : part_copying) +
                                copying * (double)(near - 1) / (double)near + 2;
                if (shared < alone * 0.999 || shared > alone * 1.001)
                    assert_int_equal(dt__numa_sharing_pays(&machine, near, bytes), shared < alone);
            }
}

/* Ways to place n ranks on nodes. */
static int halves(int64_t rank, int64_t n) { return (int)(rank * 2 / n); }
static int interleaved(int64_t rank, int64_t n) { return (int)(rank % 2 + 0 * n); }
static int lone_first(int64_t rank, int64_t n) { return rank > 0 ? 3 : (int)(0 * n); }
static int thirds(int64_t rank, int64_t n) { return (int)(rank * 3 / n); }
static int alone(int64_t rank, int64_t n) { return (int)(rank + 0 * n); }
static int (*const layouts[])(int64_t rank, int64_t n) = {halves, interleaved, lone_first, thirds, alone};
enum { N_LAYOUTS = sizeof layouts / sizeof *layouts };

/* Pretends that this rank is on a node, and that crossing between nodes takes much longer than anything else. */
static int pretend(dt_ctx *ctx, int node) {
    dt__machine machine = two_sockets();
    machine.numa_bytes_per_us = 1;
    machine.within.start_us = 0;
    dt__machine_derive(&machine);
    dt__segment_set_numa_node(dt__runtime_of(ctx)->shm->segment, dt_rank(ctx), node);
    CHECK_OK(ctx, dt__ctx_set_machine(ctx, &machine));
    CHECK_OK(ctx, dt_comm_barrier(dt_group_world(ctx)));
    return 0;
}

/* Whether this rank has neighbours in the group, and reads from other nodes in this case. */
static bool should_share(dt_ctx *ctx, dt_group *group, const test_case *collective, int (*layout)(int64_t, int64_t)) {
    int64_t n = dt_group_size(group), world = dt_world(ctx), near = 0, far = 0;
    int own = layout(dt_rank(ctx), world);
    for (int64_t i = 0; i < n; i++) {
        bool is_near = layout(dt__group_member(group, i), world) == own;
        bool is_read = collective->op != DT_BROADCAST || i == collective->root;
        near += is_near;
        far += !is_near && is_read;
    }
    return near > 1 && far > 0;
}

static int run_case(dt_ctx *ctx, dt_group *group, const test_case *collective, int (*layout)(int64_t, int64_t)) {
    test_run run;
    CHECK(test_prepare(&run, ctx, group, collective) == 0, "%s", dt_error_text(ctx));
    dt_work *work = dt_comm_start(group, &run.call);
    CHECK(work, "%s", dt_error_text(ctx));
    bool large = (size_t)dt__dst_count(group, &run.call) * dt_dtype_size(collective->dtype) > DT__EAGER_BYTES;
    bool expected = large && !dt__group_spans_nodes(group) && should_share(ctx, group, collective, layout);
    CHECK(work->shares_far == expected || (collective->unequal && !work->shares_far), "%s of %lld: %d, expected %d",
          dt_collective_name(collective->op), (long long)collective->count, work->shares_far, expected);
    CHECK_OK(ctx, dt_work_wait(work));
    return test_finish(&run);
}

/* Large cases run a quarter of the variants, in rotation. */
enum { LARGE_BYTES = 50000 };

static int run_variants(dt_ctx *ctx, dt_group *group, test_case collective, int (*layout)(int64_t, int64_t)) {
    bool large = (size_t)collective.count * dt_dtype_size(collective.dtype) > LARGE_BYTES;
    for (int variant = 0; variant < 12; variant++) {
        if (large && collective.seed++ / 16 % 4 != (uint64_t)variant % 4)
            continue;
        collective.memory = (enum test_memory_kind)(variant % 3);
        collective.in_place = variant / 3 % 2;
        collective.unequal = variant / 6;
        collective.root = (int64_t)(collective.seed % (uint64_t)dt_group_size(group));
        collective.seed++;
        if (run_case(ctx, group, &collective, layout))
            return 1;
    }
    return 0;
}

static const dt_collective ops[] = {DT_BROADCAST, DT_ALL_GATHER, DT_ALL_REDUCE};
enum { N_OPS = 3 };

static int every_way_of_reading(dt_ctx *ctx, void *arg) {
    int (*layout)(int64_t, int64_t) = *(int (*const *)(int64_t, int64_t))arg;
    static const int64_t bytes[] = {4096, DT__EAGER_BYTES + 48, 100016, DT__STAGING_BYTES + 48, (1 << 20) + 48};
    static const dt_dtype dtypes[] = {DT_F32, DT_U8, DT_BF16, DT_C128};
    uint64_t seed = test_seed(5);
    if (pretend(ctx, layout(dt_rank(ctx), dt_world(ctx))))
        return 1;
    for (int op = 0; op < N_OPS; op++)
        for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++) {
            dt_dtype dtype = dtypes[(seed / 16 + i) % 4];
            int64_t size = ops[op] == DT_ALL_GATHER ? bytes[i] / dt_world(ctx) : bytes[i];
            test_case collective = {.op = ops[op],
                                    .dtype = dtype,
                                    .reduce = DT_SUM,
                                    .count = size / (int64_t)dt_dtype_size(dtype),
                                    .seed = seed += 16};
            if (run_variants(ctx, dt_group_world(ctx), collective, layout))
                return 1;
        }
    return 0;
}

static void sharing__results_are_those_by_definition(void **state) {
    (void)state;
    static const int64_t counts[N_LAYOUTS][3] = {{3, 4, 7}, {3, 5, 8}, {3, 4, 5}, {4, 7, 8}, {3, 4, 5}};
    for (int layout = 0; layout < N_LAYOUTS; layout++)
        for (int i = 0; i < (test_with_tsan ? 1 : 3); i++)
            run_ranks(counts[layout][i], every_way_of_reading, (void *)&layouts[layout]);
}

/* Groups of some ranks, in another order, that share and do not share nodes. */
static int other_groups(dt_ctx *ctx, void *arg) {
    (void)arg;
    static const int64_t orders[][5] = {{6, 1, 4, 0, 3}, {5, 3, 1, 6, 4}, {0, 2, 4, 6, 1}};
    if (pretend(ctx, interleaved(dt_rank(ctx), 0)))
        return 1;
    for (int i = 0; i < 3; i++) {
        dt_group *group = dt_group_new(ctx, orders[i], 5);
        CHECK(group, "%s", dt_error_text(ctx));
        for (int op = 0; op < N_OPS && dt_group_rank(group) >= 0; op++) {
            test_case collective = {.op = ops[op],
                                    .dtype = DT_F32,
                                    .reduce = DT_SUM,
                                    .count = 20011,
                                    .seed = test_seed(9) + (uint64_t)(16 * op)};
            if (run_variants(ctx, group, collective, interleaved))
                return 1;
        }
        dt_group_release(group);
    }
    return 0;
}

static void sharing__works_in_groups_of_any_order(void **state) {
    (void)state;
    run_ranks(7, other_groups, NULL);
}

/* Several operations in flight, waited for in different orders. */
static int in_flight(dt_ctx *ctx, void *arg) {
    (void)arg;
    enum { N = 6 };
    test_run runs[N];
    dt_work *works[N];
    if (pretend(ctx, halves(dt_rank(ctx), dt_world(ctx))))
        return 1;
    for (int i = 0; i < N; i++) {
        test_case collective = {.op = ops[i % N_OPS],
                                .dtype = DT_F32,
                                .reduce = DT_SUM,
                                .count = 30000 + i,
                                .root = i % dt_world(ctx),
                                .memory = (enum test_memory_kind)(i % 3),
                                .seed = test_seed(31) + (uint64_t)i};
        CHECK(test_prepare(&runs[i], ctx, dt_group_world(ctx), &collective) == 0, "%s", dt_error_text(ctx));
        works[i] = dt_comm_start(dt_group_world(ctx), &runs[i].call);
        CHECK(works[i], "%s", dt_error_text(ctx));
    }
    for (int i = 0; i < N; i++) {
        int next = dt_rank(ctx) % 2 ? N - 1 - i : i;
        CHECK_OK(ctx, dt_work_wait(works[next]));
        if (test_finish(&runs[next]))
            return 1;
    }
    return 0;
}

static void sharing__operations_may_be_in_flight_together(void **state) {
    (void)state;
    run_ranks(5, in_flight, NULL);
}

/* One rank is not bound: no rank counts as near to another. */
static int one_unbound(dt_ctx *ctx, void *arg) {
    (void)arg;
    if (pretend(ctx, dt_rank(ctx) == 2 ? -1 : (int)(dt_rank(ctx) / 2)))
        return 1;
    test_run run;
    test_case collective = {.op = DT_ALL_GATHER, .dtype = DT_F32, .count = 20000, .seed = test_seed(3)};
    CHECK(test_prepare(&run, ctx, dt_group_world(ctx), &collective) == 0, "%s", dt_error_text(ctx));
    dt_work *work = dt_comm_start(dt_group_world(ctx), &run.call);
    CHECK(work && !work->shares_far, "rank %lld", (long long)dt_rank(ctx));
    CHECK_OK(ctx, dt_work_wait(work));
    return test_finish(&run);
}

static void sharing__needs_the_node_of_every_member(void **state) {
    (void)state;
    run_ranks(4, one_unbound, NULL);
}

/* A mismatched call is an error on all ranks also where neighbours wait for each other. */
static int mismatch(dt_ctx *ctx, void *arg) {
    (void)arg;
    if (pretend(ctx, halves(dt_rank(ctx), dt_world(ctx))))
        return 1;
    int64_t count = dt_rank(ctx) == 3 ? 40000 : 50000;
    float *value = dt_heap_alloc(ctx, (size_t)count * sizeof *value);
    CHECK(value, "%s", dt_error_text(ctx));
    dt_status status =
        dt_comm_run(dt_group_world(ctx),
                    &(dt_comm_call){.op = DT_BROADCAST, .dtype = DT_F32, .src = value, .dst = value, .count = count});
    if (status == DT_OK) /* the root and its neighbours may have ended before the mismatch is found */
        status = dt_comm_barrier(dt_group_world(ctx));
    CHECK(status != DT_OK, "rank %lld", (long long)dt_rank(ctx));
    CHECK_OK(ctx, dt_error_clear(ctx));
    CHECK_OK(ctx, dt_heap_free(ctx, value));
    return 0;
}

static void sharing__mismatches_are_errors(void **state) {
    (void)state;
    run_ranks(4, mismatch, NULL);
}

/* Rank 3 dies after the call before: its neighbour, which waits for its part, gets an error, and so do the others at
 * the latest in the next call. */
static int neighbour_dies(dt_ctx *ctx, void *arg) {
    (void)arg;
    enum { COUNT = 50000 };
    if (pretend(ctx, halves(dt_rank(ctx), dt_world(ctx))))
        return 1;
    float *value = dt_heap_alloc(ctx, COUNT * sizeof *value);
    CHECK(value, "%s", dt_error_text(ctx));
    dt_comm_call call = {.op = DT_BROADCAST, .dtype = DT_F32, .src = value, .dst = value, .count = COUNT};
    CHECK_OK(ctx, dt_comm_run(dt_group_world(ctx), &call));
    if (dt_rank(ctx) == 3)
        _exit(7);
    dt_status status = dt_comm_run(dt_group_world(ctx), &call);
    if (status == DT_OK)
        status = dt_comm_barrier(dt_group_world(ctx));
    CHECK(status == DT_ERR_PEER || status == DT_ERR_GROUP, "rank %lld: %s", (long long)dt_rank(ctx),
          dt_status_name(status));
    (void)dt_close(ctx);
    return 0;
}

static void sharing__a_dead_neighbour_is_an_error(void **state) {
    (void)state;
    test_launch launch = {.notifies = true};
    if (test_with_tsan)
        return; /* ranks would be threads */
    test_launch_begin(&launch, 4, NULL, neighbour_dies, NULL);
    test_launch_end(&launch, 60 * test_slowness);
    for (int rank = 0; rank < 4; rank++)
        assert_int_equal(launch.statuses[rank], rank == 3 ? 7 << 8 : 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sharing__pays_where_the_link_is_the_limit),
        cmocka_unit_test(sharing__is_chosen_exactly_where_it_takes_less_time),
        cmocka_unit_test(sharing__results_are_those_by_definition),
        cmocka_unit_test(sharing__works_in_groups_of_any_order),
        cmocka_unit_test(sharing__operations_may_be_in_flight_together),
        cmocka_unit_test(sharing__needs_the_node_of_every_member),
        cmocka_unit_test(sharing__mismatches_are_errors),
        cmocka_unit_test(sharing__a_dead_neighbour_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
