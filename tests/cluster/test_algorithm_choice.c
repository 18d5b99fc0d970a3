/* SPDX-License-Identifier: Apache-2.0
 *
 * The choice of route and algorithm between nodes, and the members of a group by nodes: pure functions, no ranks.
 */
#include "support/check.h"

#include "cluster/algorithm_choice.h"
#include "cluster/node_layout.h"

#include "dtensor/base.h"

#include <math.h>
#include <stdlib.h>

/* Times that make sums easy to compute: within a 1, o 0; between a 10, o 2; 100 and 10 bytes per microsecond. */
static dt__machine simple_machine(void) {
    dt__machine machine = {.within = {.start_us = 1, .peer_us = 0, .bytes_per_us = 100},
                           .between = {.start_us = 10, .peer_us = 2, .bytes_per_us = 10},
                           .copy_bytes_per_us = 1000};
    return machine;
}

static dt__algorithm_request request_of(dt__work_op op, int64_t n_nodes, int64_t width, double bytes) {
    return (dt__algorithm_request){.op = op,
                                   .n_ranks = n_nodes * width,
                                   .n_nodes = n_nodes,
                                   .min_width = width,
                                   .max_width = width,
                                   .bytes = bytes};
}

static void check_choice(const dt__machine *machine, dt__algorithm_request request, dt__node_route route,
                         dt__algorithm algorithm) {
    dt__algorithm_choice choice = dt__choose_algorithm(machine, &request, NULL);
    if (choice.route != route || choice.algorithm != algorithm)
        fail_msg("op %d, %lld nodes of %lld, %g bytes: expected %s/%s, got %s/%s", (int)request.op,
                 (long long)request.n_nodes, (long long)request.max_width, request.bytes, dt__route_name(route),
                 dt__algorithm_name(algorithm), dt__route_name(choice.route), dt__algorithm_name(choice.algorithm));
}

static void check_us(double got, double expected) {
    if (fabs(got - expected) > 1e-9 * fabs(expected))
        fail_msg("expected %.12g us, got %.12g", expected, got);
}

static double us_of(dt__work_op op, int64_t n, double bytes, dt__algorithm algorithm) {
    dt__machine machine = simple_machine();
    dt__algorithm_request request = request_of(op, n, 1, bytes);
    return dt__algorithm_us(&machine, &request, DT__ROUTE_RANKS, algorithm);
}

/* a = 10, o = 2, b = 0.1, g = 0.001; 4 ranks, 8000 bytes. */
static void choice__costs_are_those_of_the_heads(void **state) {
    (void)state;
    check_us(us_of(DT__WORK_ALL_REDUCE, 4, 8000, DT__ALGORITHM_PAIRWISE_EXCHANGE), 2 * 16 + 6000 * 0.201);
    check_us(us_of(DT__WORK_ALL_REDUCE, 4, 8000, DT__ALGORITHM_RING), 6 * (12 + 200) + 2);
    check_us(us_of(DT__WORK_ALL_REDUCE, 4, 8000, DT__ALGORITHM_RECURSIVE_DOUBLING), 2 * (12 + 808));
    check_us(us_of(DT__WORK_ALL_REDUCE, 5, 8000, DT__ALGORITHM_RECURSIVE_DOUBLING), 4 * (12 + 800) + 3 * 8);
    check_us(us_of(DT__WORK_ALL_GATHER, 4, 8000, DT__ALGORITHM_PAIRWISE_EXCHANGE), 16 + 600);
    check_us(us_of(DT__WORK_ALL_GATHER, 4, 8000, DT__ALGORITHM_RECURSIVE_DOUBLING), 24 + 600 + 16);
    check_us(us_of(DT__WORK_REDUCE_SCATTER, 4, 8000, DT__ALGORITHM_RING), 3 * (12 + 200) + 2);
    check_us(us_of(DT__WORK_BROADCAST, 4, 8000, DT__ALGORITHM_PAIRWISE_EXCHANGE), 10 + 3 * 802);
    check_us(us_of(DT__WORK_BROADCAST, 4, 8000, DT__ALGORITHM_BINOMIAL_TREE), 2 * 812);
    check_us(us_of(DT__WORK_BROADCAST, 4, 8000, DT__ALGORITHM_RING), 16 + 36 + 1200);
    check_us(us_of(DT__WORK_GATHER, 4, 8000, DT__ALGORITHM_BINOMIAL_TREE), 24 + 600 + 8);
    check_us(us_of(DT__WORK_BARRIER, 7, 0, DT__ALGORITHM_RECURSIVE_DOUBLING), 36);
    check_us(us_of(DT__WORK_BARRIER, 7, 0, DT__ALGORITHM_PAIRWISE_EXCHANGE), 22);
}

static void choice__routes_add_the_steps_on_the_node(void **state) {
    (void)state;
    dt__machine machine = simple_machine();
    dt__algorithm_request request = request_of(DT__WORK_ALL_REDUCE, 2, 4, 8000);
    dt__algorithm doubling = DT__ALGORITHM_RECURSIVE_DOUBLING;
    check_us(dt__algorithm_us(&machine, &request, DT__ROUTE_LEADERS, doubling), 2 + 240 + 80 + 12 + 808);
    check_us(dt__algorithm_us(&machine, &request, DT__ROUTE_SHARES, doubling), 2 * (1 + 60) + 12 + 202);
    check_us(dt__algorithm_us(&machine, &request, DT__ROUTE_COPIES, doubling), 1 + 240 + 12 + 808);
}

/* The collective on the node, of half of the bytes, runs while two messages with a quarter each are in transfer. */
static void choice__the_longer_part_of_a_direct_exchange_counts(void **state) {
    (void)state;
    dt__machine machine = simple_machine();
    dt__algorithm_request request = request_of(DT__WORK_ALL_TO_ALL, 2, 2, 8000);
    dt__algorithm pairwise = DT__ALGORITHM_PAIRWISE_EXCHANGE;
    check_us(dt__algorithm_us(&machine, &request, DT__ROUTE_DIRECT, pairwise), 10 + 2 * (2 + 200));
    machine.within.start_us = 1000;
    check_us(dt__algorithm_us(&machine, &request, DT__ROUTE_DIRECT, pairwise), 1000 + 40);
    request.bytes = 4;
    check_choice(&dt__machine_builtin, request, DT__ROUTE_DIRECT, pairwise);
    check_choice(&dt__machine_builtin, request_of(DT__WORK_BARRIER, 2, 2, 0), DT__ROUTE_DIRECT, pairwise);
    check_choice(&dt__machine_builtin, request_of(DT__WORK_BARRIER, 8, 8, 0), DT__ROUTE_COPIES,
                 DT__ALGORITHM_PAIRWISE_EXCHANGE);
}

static void choice__small_values_take_few_steps_and_large_ones_few_bytes(void **state) {
    (void)state;
    dt__machine machine = simple_machine();
    check_choice(&machine, request_of(DT__WORK_ALL_REDUCE, 2, 4, 4), DT__ROUTE_COPIES,
                 DT__ALGORITHM_RECURSIVE_DOUBLING);
    check_choice(&machine, request_of(DT__WORK_ALL_REDUCE, 2, 4, 2e4), DT__ROUTE_SHARES,
                 DT__ALGORITHM_RECURSIVE_DOUBLING); /* of two nodes: as many bytes in half the steps */
    check_choice(&machine, request_of(DT__WORK_ALL_REDUCE, 2, 4, 1e6), DT__ROUTE_SHARES,
                 DT__ALGORITHM_PAIRWISE_EXCHANGE); /* which needs half the scratch memory */
    check_choice(&machine, request_of(DT__WORK_ALL_REDUCE, 5, 1, 4), DT__ROUTE_RANKS,
                 DT__ALGORITHM_PAIRWISE_EXCHANGE);
    check_choice(&machine, request_of(DT__WORK_ALL_REDUCE, 64, 1, 4), DT__ROUTE_RANKS,
                 DT__ALGORITHM_RECURSIVE_DOUBLING);
    check_choice(&machine, request_of(DT__WORK_ALL_REDUCE, 5, 1, 1e6), DT__ROUTE_RANKS, DT__ALGORITHM_RING);
    check_choice(&machine, request_of(DT__WORK_REDUCE_SCATTER, 5, 1, 1e6), DT__ROUTE_RANKS, DT__ALGORITHM_RING);
    check_choice(&machine, request_of(DT__WORK_ALL_GATHER, 64, 1, 64), DT__ROUTE_RANKS,
                 DT__ALGORITHM_RECURSIVE_DOUBLING);
    check_choice(&machine, request_of(DT__WORK_ALL_GATHER, 5, 3, 1e6), DT__ROUTE_SHARES,
                 DT__ALGORITHM_PAIRWISE_EXCHANGE);
    check_choice(&machine, request_of(DT__WORK_BROADCAST, 16, 1, 4), DT__ROUTE_RANKS,
                 DT__ALGORITHM_PAIRWISE_EXCHANGE);
    check_choice(&machine, request_of(DT__WORK_BROADCAST, 16, 1, 400), DT__ROUTE_RANKS, DT__ALGORITHM_BINOMIAL_TREE);
    check_choice(&machine, request_of(DT__WORK_BROADCAST, 16, 1, 1e6), DT__ROUTE_RANKS, DT__ALGORITHM_RING);
    check_choice(&machine, request_of(DT__WORK_BROADCAST, 2, 4, 1e6), DT__ROUTE_SHARES,
                 DT__ALGORITHM_PAIRWISE_EXCHANGE);
    check_choice(&machine, request_of(DT__WORK_GATHER, 64, 1, 64), DT__ROUTE_RANKS, DT__ALGORITHM_BINOMIAL_TREE);
    check_choice(&machine, request_of(DT__WORK_BARRIER, 64, 2, 0), DT__ROUTE_COPIES,
                 DT__ALGORITHM_RECURSIVE_DOUBLING);
    check_choice(&machine, request_of(DT__WORK_ALL_TO_ALL, 2, 4, 8), DT__ROUTE_SHARES,
                 DT__ALGORITHM_PAIRWISE_EXCHANGE);
    check_choice(&machine, request_of(DT__WORK_ALL_TO_ALL, 2, 4, 1e6), DT__ROUTE_DIRECT,
                 DT__ALGORITHM_PAIRWISE_EXCHANGE);
}

/* A broadcast of 400 bytes to 15 ranks: 10 + 15 (2 + 400 b) by pairs, 4 (12 + 400 b) by a tree; 640 and 208 with
 * b = 0.1, 40 and 48 where the link is fast, 1630 and 4168 where a message takes 1000 to start. */
static void choice__follows_the_link(void **state) {
    (void)state;
    dt__machine machine = simple_machine();
    const dt__algorithm_request request = request_of(DT__WORK_BROADCAST, 16, 1, 400);
    check_choice(&machine, request, DT__ROUTE_RANKS, DT__ALGORITHM_BINOMIAL_TREE);
    machine.between.bytes_per_us = 1e6;
    check_choice(&machine, request, DT__ROUTE_RANKS, DT__ALGORITHM_PAIRWISE_EXCHANGE);
    machine = simple_machine();
    machine.between.start_us = 1000;
    check_choice(&machine, request, DT__ROUTE_RANKS, DT__ALGORITHM_PAIRWISE_EXCHANGE);
}

static void choice__unequal_nodes_and_reductions_in_order_limit_the_routes(void **state) {
    (void)state;
    dt__algorithm_request request = request_of(DT__WORK_ALL_REDUCE, 3, 2, 1e6);
    request.in_order = true;
    check_choice(&dt__machine_builtin, request, DT__ROUTE_RANKS, DT__ALGORITHM_PAIRWISE_EXCHANGE);
    request = request_of(DT__WORK_ALL_GATHER, 3, 2, 64);
    request.n_ranks = 5;
    request.min_width = 1;
    check_choice(&dt__machine_builtin, request, DT__ROUTE_LEADERS, DT__ALGORITHM_PAIRWISE_EXCHANGE);
    request = request_of(DT__WORK_ALL_TO_ALL, 2, 2, 1e9);
    request.has_pair_counts = true;
    check_choice(&dt__machine_builtin, request, DT__ROUTE_DIRECT, DT__ALGORITHM_PAIRWISE_EXCHANGE);
}

/* The choice never costs more than another combination, over many requests. */
static void choice__is_the_cheapest(void **state) {
    (void)state;
    dt__machine machine = simple_machine();
    for (int op = DT__WORK_BARRIER; op < DT__WORK_SEND; op++)
        for (int64_t nodes = 2; nodes < 40; nodes += 3)
            for (int64_t width = 1; width < 5; width++)
                for (double bytes = 1; bytes < 1e9; bytes *= 13) {
                    dt__algorithm_request request = request_of((dt__work_op)op, nodes, width, bytes);
                    double us = dt__choose_algorithm(&machine, &request, NULL).us;
                    for (int r = 0; r < DT__N_ROUTES; r++)
                        for (int a = 0; a < DT__N_ALGORITHMS; a++)
                            if (dt__algorithm_exists(&request, (dt__node_route)r, (dt__algorithm)a))
                                assert_true(
                                    us <= dt__algorithm_us(&machine, &request, (dt__node_route)r, (dt__algorithm)a));
                }
}

static void choice__a_test_can_force_what_exists(void **state) {
    (void)state;
    dt__algorithm_choice forced, choice;
    dt__algorithm_request request = request_of(DT__WORK_ALL_REDUCE, 4, 2, 4);
    assert_true(dt__algorithm_choice_parse("leaders/ring", &forced));
    choice = dt__choose_algorithm(&dt__machine_builtin, &request, &forced);
    assert_int_equal(choice.route, DT__ROUTE_LEADERS);
    assert_int_equal(choice.algorithm, DT__ALGORITHM_RING);
    request.op = DT__WORK_ALL_GATHER; /* has no ring */
    choice = dt__choose_algorithm(&dt__machine_builtin, &request, &forced);
    assert_int_equal(choice.route, DT__ROUTE_LEADERS);
    assert_true(dt__algorithm_choice_parse("binomial_tree", &forced));
    assert_int_equal(forced.route, DT__N_ROUTES);
    assert_true(dt__algorithm_choice_parse("shares", &forced));
    assert_int_equal(forced.algorithm, DT__N_ALGORITHMS);
    static const char *const wrong[] = {"", "star", "shares/", "/ring", "ring/shares", "shares/ring/x", "shares "};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(dt__algorithm_choice_parse(wrong[i], &forced));
}

static void layout__numbers_nodes_and_places_in_group_order(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    static const int32_t nodes[] = {7, 2, 7, 2, 7, 5, 5};
    dt__node_layout *layout = dt__node_layout_new(ctx, nodes, 7, 4);
    static const int64_t members[] = {0, 2, 4, 1, 3, 5, 6}, lanes[] = {0, 1, 5, 2, 3, 6};
    assert_int_equal(layout->n_nodes, 3);
    assert_int_equal(layout->node, 0);
    assert_int_equal(layout->place, 2);
    assert_int_equal(layout->min_width, 2);
    assert_int_equal(layout->max_width, 3);
    assert_false(layout->in_blocks);
    for (int i = 0; i < 7; i++)
        assert_int_equal(layout->members[i], members[i]);
    for (int i = 0; i < 6; i++)
        assert_int_equal(layout->lanes[i], lanes[i]);
    assert_int_equal(dt__node_width(layout, 0), 3);
    assert_int_equal(dt__node_member(layout, 2, 1), 6);
    dt__node_layout_free(ctx, layout);
    static const int32_t blocks[] = {1, 1, 0, 0};
    layout = dt__node_layout_new(ctx, blocks, 4, 3);
    assert_true(layout->in_blocks);
    assert_int_equal(layout->node, 1);
    assert_int_equal(layout->place, 1);
    dt__node_layout_free(ctx, layout);
    assert_int_equal(dt_close(ctx), DT_OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(choice__costs_are_those_of_the_heads),
        cmocka_unit_test(choice__routes_add_the_steps_on_the_node),
        cmocka_unit_test(choice__the_longer_part_of_a_direct_exchange_counts),
        cmocka_unit_test(choice__small_values_take_few_steps_and_large_ones_few_bytes),
        cmocka_unit_test(choice__follows_the_link),
        cmocka_unit_test(choice__unequal_nodes_and_reductions_in_order_limit_the_routes),
        cmocka_unit_test(choice__is_the_cheapest),
        cmocka_unit_test(choice__a_test_can_force_what_exists),
        cmocka_unit_test(layout__numbers_nodes_and_places_in_group_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
