/* SPDX-License-Identifier: Apache-2.0
 *
 * Every collective on groups that nodes divide in different ways, against arithmetic by definition: the world, the
 * world backwards, every second rank first, without the last rank, and without the first; all dtypes and reductions;
 * odd sizes, sizes below the number of ranks, and large ones; blocks of equal and of unequal sizes; in place and not;
 * and several in progress at once. Forked ranks are on one node; tests/mpi/test_algorithms.py runs this on several.
 * There, DTENSOR_TEST_ALGORITHMS lists values of DTENSOR_TEST_ALGORITHM to try in turn, a context each ("model": none).
 *
 * mpi: no: mpi.algorithms runs it, on more nodes
 */
#include "support/collectives.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_RANKS = 8, N_ORDERS = 5, N_AT_ONCE = 6 };

/* The members of a group, in its order; returns their number. */
static int64_t list_members(int order, int64_t world, int64_t *members) {
    int64_t n = 0;
    for (int64_t i = 0; i < world; i++)
        switch (order) {
        case 0:
            members[n++] = i;
            break;
        case 1:
            members[n++] = world - 1 - i;
            break;
        case 2: /* 0 2 4 1 3 */
            members[n++] = 2 * i < world ? 2 * i : 2 * (i - (world + 1) / 2) + 1;
            break;
        case 3:
            if (i < world - 1)
                members[n++] = i;
            break;
        default:
            if (i > 0)
                members[n++] = i;
        }
    return n;
}

static bool is_member(const int64_t *members, int64_t n, int64_t rank) {
    for (int64_t i = 0; i < n; i++)
        if (members[i] == rank)
            return true;
    return false;
}

static bool reduces(int op) { return op == DT_ALL_REDUCE || op == DT_REDUCE_SCATTER; }

static test_case make_case(int op, int64_t count, int64_t n, uint64_t seed) {
    return (test_case){.op = (dt_collective)op,
                       .dtype = DT_F32,
                       .count = count,
                       .unequal = seed & 1,
                       .in_place = seed >> 1 & 1,
                       .memory = (enum test_memory_kind)(seed % 3),
                       .root = (int64_t)(seed % (uint64_t)n),
                       .seed = seed};
}

static int every_size(dt_ctx *ctx, dt_group *group, uint64_t *seed) {
    static const int64_t counts[] = {0, 1, 3, 129, 1000, 4099, 60001};
    for (int op = DT_BARRIER; op < DT_SEND; op++)
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
            for (int variant = 0; variant < 2; variant++) {
                test_case collective = make_case(op, counts[i], dt_group_size(group), ++*seed);
                if (test_run_once(ctx, group, &collective))
                    return 1;
            }
    return 0;
}

static int every_dtype(dt_ctx *ctx, dt_group *group, uint64_t *seed) {
    for (int op = DT_BARRIER; op < DT_SEND; op++)
        for (int dtype = DT_NO_DTYPE + 1; dtype < DT_N_DTYPES; dtype++)
            for (int reduce = 0; reduce < DT_N_REDUCES; reduce++) {
                if (reduces(op) ? !dt_reduce_allowed((dt_dtype)dtype, (dt_reduce)reduce) : reduce > 0)
                    continue;
                ++*seed;
                test_case collective = make_case(op, 1 + (int64_t)(*seed % 700), dt_group_size(group), *seed);
                collective.dtype = (dt_dtype)dtype;
                collective.reduce = (dt_reduce)reduce;
                if (test_run_once(ctx, group, &collective))
                    return 1;
            }
    return 0;
}

/* Started one after the other, and waited for in an order that differs from rank to rank. */
static int several_at_once(dt_ctx *ctx, dt_group *group, uint64_t *seed) {
    test_run runs[N_AT_ONCE];
    dt_work *works[N_AT_ONCE];
    for (int round = 0; round < 4; round++) {
        for (int i = 0; i < N_AT_ONCE; i++) {
            int op = DT_BROADCAST + (int)(++*seed % (DT_SEND - DT_BROADCAST));
            int64_t count = *seed % 3 ? 1 + (int64_t)(*seed % 900) : 20000;
            test_case collective = make_case(op, count, dt_group_size(group), *seed);
            CHECK(!test_prepare(&runs[i], ctx, group, &collective), "%s", dt_error_text(ctx));
            works[i] = dt_comm_start(group, &runs[i].call);
            CHECK(works[i], "%s", dt_error_text(ctx));
        }
        for (int k = 0; k < N_AT_ONCE; k++) {
            int i = (k * 5 + (int)dt_rank(ctx)) % N_AT_ONCE;
            CHECK_OK(ctx, dt_work_wait(works[i]));
            if (test_finish(&runs[i]))
                return 1;
        }
    }
    return 0;
}

static int run_groups(dt_ctx *ctx, void *arg) {
    (void)arg;
    for (int order = 0; order < N_ORDERS; order++) {
        uint64_t seed = test_seed(17) + 10000 * (uint64_t)order; /* the same on all members */
        int64_t members[MAX_RANKS], n = list_members(order, dt_world(ctx), members);
        if (n < 1 || !is_member(members, n, dt_rank(ctx)))
            continue;
        dt_group *group = dt_group_new(ctx, members, n);
        CHECK(group, "%s", dt_error_text(ctx));
        if (every_size(ctx, group, &seed) || every_dtype(ctx, group, &seed) || several_at_once(ctx, group, &seed))
            return 1;
        dt_group_release(group);
    }
    return 0;
}

/* Numbers whose sum depends on the order: all ranks have the same bits, in every run. */
static int sums_have_the_same_bits(dt_ctx *ctx, void *arg) {
    (void)arg;
    static const int64_t counts[] = {1, 7, 3000, 50000};
    dt_group *world = dt_group_world(ctx);
    float *src = dt_heap_alloc(ctx, 50000 * sizeof *src), *sum = dt_heap_alloc(ctx, 50000 * sizeof *sum);
    float *again = dt_heap_alloc(ctx, 50000 * sizeof *again);
    CHECK(src && sum && again, "%s", dt_error_text(ctx));
    for (int i = 0; i < 50000; i++)
        src[i] = 1.0f / (float)(1 + (i * 31 + (int)dt_rank(ctx) * 977) % 1013);
    for (int k = 0; k < 4; k++) {
        size_t bytes = (size_t)counts[k] * sizeof *sum;
        CHECK_OK(ctx, dt_comm_all_reduce(world, src, sum, counts[k], DT_F32, DT_SUM));
        CHECK_OK(ctx, dt_comm_all_reduce(world, src, again, counts[k], DT_F32, DT_SUM));
        CHECK(!memcmp(sum, again, bytes), "%lld elements: two runs differ", (long long)counts[k]);
        CHECK_OK(ctx, dt_comm_broadcast(world, sum, again, counts[k], DT_F32, 0));
        CHECK(!memcmp(sum, again, bytes), "%lld elements: rank %lld and rank 0 differ", (long long)counts[k],
              (long long)dt_rank(ctx));
    }
    dt_heap_free(ctx, src);
    dt_heap_free(ctx, sum);
    return dt_heap_free(ctx, again) != DT_OK;
}

static void with_each_algorithm(dt_rank_fn *fn) {
    const char *names = getenv("DTENSOR_TEST_ALGORITHMS");
    char list[1024];
    assert_true(snprintf(list, sizeof list, "%s", names && *names ? names : "model") < (int)sizeof list);
    for (char *state, *name = strtok_r(list, " ", &state); name; name = strtok_r(NULL, " ", &state)) {
        printf("algorithm: %s\n", name);
        fflush(stdout);
        assert_int_equal(setenv("DTENSOR_TEST_ALGORITHM", strcmp(name, "model") ? name : "", 1), 0);
        run_ranks(test_started_ranks(), fn, NULL);
    }
}

static void on_ranks(dt_rank_fn *fn) {
    static const int64_t forked[] = {2, 3, 7};
    if (test_started_ranks())
        with_each_algorithm(fn);
    for (size_t i = 0; !test_started_ranks() && i < sizeof forked / sizeof *forked; i++)
        run_ranks(forked[i], fn, NULL);
}

static void algorithms__every_collective_on_every_group(void **state) {
    (void)state;
    on_ranks(run_groups);
}

static void algorithms__sums_have_the_same_bits_on_every_rank(void **state) {
    (void)state;
    on_ranks(sums_have_the_same_bits);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(algorithms__every_collective_on_every_group),
        cmocka_unit_test(algorithms__sums_have_the_same_bits_on_every_rank),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
