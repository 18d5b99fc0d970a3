/* SPDX-License-Identifier: Apache-2.0
 *
 * Redistributions between nodes, where collectives carry what ranks of one node read from each other: random moves
 * with ranks that count as nodes of one, two and three, whose values are those that every executor must have.
 *
 * ctest: processors=2
 *
 * mpi: no: it pretends nodes on shm; under MPI, move.execute_random runs on nodes
 */
#include "move/moves.h"

#include <stdlib.h>

static int run_random_cases(dt_ctx *ctx, void *arg) {
    static _Thread_local moves_case test;
    int64_t n = *(const int64_t *)arg;
    uint64_t random = test_seed(1000 + (uint64_t)dt_world(ctx));
    for (int64_t i = 0; i < n; i++) {
        moves_random(&random, dt_world(ctx), i % 40 == 0, &test);
        if (moves_run(ctx, &test))
            return 1;
    }
    return 0;
}

static void run_on_nodes_of(const char *ranks_per_node) {
    int64_t n = 150;
    setenv("DTENSOR_TEST_SPAN", ranks_per_node, 1);
    for (int64_t n_ranks = 1; n_ranks <= 6; n_ranks++)
        run_ranks(n_ranks, run_random_cases, &n);
    unsetenv("DTENSOR_TEST_SPAN");
}

static void nodes__of_one_rank_have_the_values_of_random_moves(void **state) {
    (void)state;
    run_on_nodes_of("1");
}

static void nodes__of_two_ranks_have_the_values_of_random_moves(void **state) {
    (void)state;
    run_on_nodes_of("2");
}

static void nodes__of_three_ranks_have_the_values_of_random_moves(void **state) {
    (void)state;
    run_on_nodes_of("3");
}

static int check_groups(dt_ctx *ctx, void *arg) {
    (void)arg;
    CHECK(dt__has_nodes(ctx) && dt__node_of(ctx, 1) == 0 && dt__node_of(ctx, 2) == 1, "no nodes");
    int64_t near[] = {0, 1}, far[] = {1, 2};
    dt_group *groups[] = {dt_group_new(ctx, near, 2), dt_group_new(ctx, far, 2)};
    CHECK(groups[0] && groups[1], "%s", dt_error_text(ctx));
    CHECK(!dt__group_spans_nodes(groups[0]) && dt__group_spans_nodes(groups[1]), "groups span the wrong nodes");
    dt_group_release(groups[0]);
    dt_group_release(groups[1]);
    return 0;
}

/* Exchanges and collectives that run a move by a model. */
static int64_t count_steps(dt_ctx *ctx, dt_mesh *mesh, const char *const *places, const dt__machine *machine) {
    static const int64_t shape[] = {64, 64};
    dt_spec *specs[2];
    void *memory[2];
    for (int i = 0; i < 2; i++) {
        specs[i] =
            dt_spec_new(mesh, &(dt_spec_desc){.dtype = DT_I32, .n_dims = 2, .shape = shape, .text = places[i]});
        memory[i] = dt_heap_alloc(ctx, (size_t)dt_spec_local(specs[i])->bytes);
        memset(memory[i], 0, (size_t)dt_spec_local(specs[i])->bytes);
    }
    int64_t before = dt__redistribute_statistics(ctx).n_exchanges;
    dt_status status = dt__redistribute_run(&(dt__redistribution){.from = specs[0],
                                                                  .to = specs[1],
                                                                  .src = memory[0],
                                                                  .dst = memory[1],
                                                                  .planner = DT__PLANNER_DIRECT,
                                                                  .machine = machine});
    for (int i = 0; i < 2; i++) {
        dt_heap_free(ctx, memory[i]);
        dt_spec_release(specs[i]);
    }
    return status == DT_OK ? dt__redistribute_statistics(ctx).n_exchanges - before : -1;
}

/* The first mesh dim is between nodes. What reduces or gathers over both is one collective, in which a node receives
 * what crosses once. Over a slow link, the ranks of a node bring half each of what all of them need; if it is only
 * slow to start, each rank brings all. */
static int check_plans(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh = dt_mesh_new(ctx, "2x2");
    dt__machine slow = {.within = {1, 0, 1000}, .between = {1, 0, 1}, .copy_bytes_per_us = 1000};
    dt__machine late = {.within = {1, 0, 1000}, .between = {1e6, 0, 1000}, .copy_bytes_per_us = 1000};
    dt__machine_derive(&slow);
    dt__machine_derive(&late);
    int64_t n = count_steps(ctx, mesh, (const char *const[]){"P(sum),P(sum)", "R,R"}, &slow);
    CHECK(n == 1, "%lld steps", (long long)n);
    n = count_steps(ctx, mesh, (const char *const[]){"S(0),S(0)", "R,R"}, &slow);
    CHECK(n == 1, "%lld steps", (long long)n);
    int64_t received = dt__redistribute_statistics(ctx).bytes_received, half = 64 * 64 * 4 / 2;
    n = count_steps(ctx, mesh, (const char *const[]){"S(0),R", "R,R"}, &late);
    received = dt__redistribute_statistics(ctx).bytes_received - received;
    CHECK(n == 1 && received == half, "%lld steps, %lld bytes", (long long)n, (long long)received);
    received = dt__redistribute_statistics(ctx).bytes_received;
    n = count_steps(ctx, mesh, (const char *const[]){"S(0),R", "R,R"}, &slow); /* by S(0),S(1) */
    received = dt__redistribute_statistics(ctx).bytes_received - received;
    CHECK(n == 1 && received == half + half / 2, "%lld steps, %lld bytes", (long long)n, (long long)received);
    dt_mesh_release(mesh);
    return 0;
}

static void nodes__follow_plans_by_the_model(void **state) {
    (void)state;
    setenv("DTENSOR_TEST_SPAN", "2", 1);
    run_ranks(4, check_plans, NULL);
    unsetenv("DTENSOR_TEST_SPAN");
}

static void nodes__are_known_to_groups(void **state) {
    (void)state;
    setenv("DTENSOR_TEST_SPAN", "2", 1);
    run_ranks(4, check_groups, NULL);
    unsetenv("DTENSOR_TEST_SPAN");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes__are_known_to_groups),
        cmocka_unit_test(nodes__follow_plans_by_the_model),
        cmocka_unit_test(nodes__of_one_rank_have_the_values_of_random_moves),
        cmocka_unit_test(nodes__of_two_ranks_have_the_values_of_random_moves),
        cmocka_unit_test(nodes__of_three_ranks_have_the_values_of_random_moves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
