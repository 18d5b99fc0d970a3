/* SPDX-License-Identifier: Apache-2.0
 *
 * CPU shares on machines that are described: several packages and NUMA nodes, hardware threads, machines of which only
 * some CPUs may be used, any number of ranks.
 */
#include "support/check.h"

#include "dtrun/topology.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SHARES = 128 };

static struct machine read_machine(const char *description) {
    struct machine machine;
    assert_true(machine_read(description, &machine));
    assert_true(machine.is_pretended);
    return machine;
}

/* Only the CPUs of the list are left, as if a cgroup allowed no others. */
static void restrict_to(struct machine *machine, const int *ids, int n_ids) {
    int n = 0;
    for (int i = 0; i < machine->n_cpus; i++) {
        bool is_allowed = false;
        for (int k = 0; k < n_ids; k++)
            is_allowed = is_allowed || machine->cpus[i].id == ids[k];
        if (is_allowed)
            machine->cpus[n++] = machine->cpus[i];
    }
    machine->n_cpus = n;
}

/* "0,4,8" for each rank, separated by "|", in the machine's order; "-" if it is impossible. */
static void assert_shares(const struct machine *machine, enum binding binding, int64_t n_ranks,
                          const char *expected) {
    struct share shares[MAX_SHARES];
    char text[1024] = "-", *end = text;
    if (binding_divide(machine, binding, n_ranks, shares))
        for (int64_t rank = 0; rank < n_ranks; rank++)
            for (int i = 0; i < shares[rank].n; i++)
                end += sprintf(end, "%s%d", i ? "," : rank ? "|" : "", machine->cpus[shares[rank].first + i].id);
    assert_string_equal(text, expected);
}

/* Cores {0,4} {1,5} on node 0, {2,6} {3,7} on node 1: second hardware threads after all first ones, as kernels do. */
#define TWO_NODES "package:2 numa:1 core:2 pu:2(indexes=0,4,1,5,2,6,3,7)"

static void topology__has_the_described_levels(void **state) {
    (void)state;
    struct machine machine = read_machine("package:2 numa:2 core:4 pu:2");
    assert_int_equal(machine.n_cpus, 32);
    assert_int_equal(machine_cores(&machine), 16);
    assert_int_equal(machine_nodes(&machine), 4);
    assert_int_equal(machine_packages(&machine), 2);
    for (int i = 0; i < 32; i++) {
        assert_int_equal(machine.cpus[i].id, i);
        assert_int_equal(machine.cpus[i].core, i / 2);
        assert_int_equal(machine.cpus[i].node, i / 8);
        assert_int_equal(machine.cpus[i].package, i / 16);
    }
    machine_free(&machine);
    machine = read_machine("pu:3"); /* each CPU is a core, all are on one node */
    assert_int_equal(machine_cores(&machine), 3);
    assert_int_equal(machine_nodes(&machine), 1);
    assert_int_equal(machine_packages(&machine), 1);
    machine_free(&machine);
}

static void topology__that_cannot_be_read_is_refused(void **state) {
    (void)state;
    static const char *const texts[] = {"", "core", "core:0", "core:x", "/nonexistent.xml", "/dev/null", "/tmp"};
    struct machine machine;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_false(machine_read(texts[i], &machine));
        assert_null(machine.cpus);
    }
}

static void binding__assigns_whole_cores_if_there_are_enough(void **state) {
    (void)state;
    struct machine machine = read_machine(TWO_NODES);
    assert_shares(&machine, BIND_CORE, 1, "0,4,1,5,2,6,3,7");
    assert_shares(&machine, BIND_CORE, 2, "0,4,1,5|2,6,3,7");
    assert_shares(&machine, BIND_CORE, 3, "0,4,1,5|2,6|3,7");
    assert_shares(&machine, BIND_CORE, 4, "0,4|1,5|2,6|3,7");
    machine_free(&machine);
}

static void binding__with_more_ranks_than_cores_is_fair_or_none(void **state) {
    (void)state;
    struct machine machine = read_machine(TWO_NODES);
    static const int64_t unfair[] = {5, 6, 7, 9, 16, 100};
    assert_shares(&machine, BIND_CORE, 8, "0|4|1|5|2|6|3|7");
    for (size_t i = 0; i < sizeof unfair / sizeof *unfair; i++)
        assert_shares(&machine, BIND_CORE, unfair[i], "-");
    machine_free(&machine);
    machine = read_machine("core:2 pu:4"); /* pairs of hardware threads, or single ones */
    assert_shares(&machine, BIND_CORE, 4, "0,1|2,3|4,5|6,7");
    assert_shares(&machine, BIND_CORE, 8, "0|1|2|3|4|5|6|7");
    assert_shares(&machine, BIND_CORE, 6, "-");
    static const int uneven[] = {0, 1, 2, 4};
    restrict_to(&machine, uneven, 4); /* three hardware threads of one core, one of the other */
    assert_shares(&machine, BIND_CORE, 4, "-");
    assert_shares(&machine, BIND_CORE, 2, "0,1,2|4");
    machine_free(&machine);
}

/* 2 nodes of 8 cores. Three ranks have 5 cores each if one crosses the boundary, but only 4 if none does; seven have 2
 * in any case. */
static void binding__crosses_numa_nodes_only_for_a_larger_smallest_share(void **state) {
    (void)state;
    struct machine machine = read_machine("numa:2 core:8 pu:1");
    assert_shares(&machine, BIND_CORE, 3, "0,1,2,3,4|5,6,7,8,9|10,11,12,13,14,15");
    assert_shares(&machine, BIND_CORE, 5, "0,1,2|3,4,5|6,7,8|9,10,11|12,13,14,15");
    assert_shares(&machine, BIND_CORE, 7, "0,1|2,3,4|5,6,7|8,9|10,11|12,13|14,15");
    machine_free(&machine);
}

static void binding__follows_numa_nodes(void **state) {
    (void)state;
    struct machine machine = read_machine("numa:3 core:2 pu:1");
    assert_shares(&machine, BIND_NUMA, 1, "0,1,2,3,4,5");
    assert_shares(&machine, BIND_NUMA, 2, "0,1|2,3,4,5");
    assert_shares(&machine, BIND_NUMA, 3, "0,1|2,3|4,5");
    assert_shares(&machine, BIND_NUMA, 4, "0,1|2,3|2,3|4,5");
    assert_shares(&machine, BIND_NUMA, 6, "0,1|0,1|2,3|2,3|4,5|4,5");
    assert_shares(&machine, BIND_NUMA, 7, "0,1|0,1|2,3|2,3|2,3|4,5|4,5");
    machine_free(&machine);
}

static void binding__follows_packages(void **state) {
    (void)state;
    struct machine machine = read_machine("package:2 numa:2 core:2 pu:1");
    assert_shares(&machine, BIND_PACKAGE, 1, "0,1,2,3,4,5,6,7");
    assert_shares(&machine, BIND_PACKAGE, 2, "0,1,2,3|4,5,6,7");
    assert_shares(&machine, BIND_PACKAGE, 3, "0,1,2,3|4,5,6,7|4,5,6,7");
    assert_shares(&machine, BIND_NUMA, 3, "0,1|2,3|4,5,6,7");
    machine_free(&machine);
}

static void binding__uses_only_cpus_that_are_allowed(void **state) {
    (void)state;
    struct machine machine = read_machine(TWO_NODES);
    static const int allowed[] = {3, 4, 5}; /* one thread of each of the cores {3,7} {0,4} {1,5} */
    restrict_to(&machine, allowed, 3);
    assert_shares(&machine, BIND_CORE, 3, "4|5|3");
    assert_shares(&machine, BIND_CORE, 2, "4,5|3");
    assert_shares(&machine, BIND_NUMA, 2, "4,5|3");
    assert_shares(&machine, BIND_CORE, 4, "-");
    assert_shares(&machine, BIND_NONE, 1, "-");
    machine_free(&machine);
}

/* Nodes of 1 and 8 cores: ranks go where the cores are, and a core stays unused rather than in a share across nodes. */
static void binding__weighs_numa_nodes_by_their_cores(void **state) {
    (void)state;
    struct machine machine = read_machine("numa:2 core:8 pu:1");
    static const int allowed[] = {7, 8, 9, 10, 11, 12, 13, 14, 15};
    restrict_to(&machine, allowed, 9);
    assert_shares(&machine, BIND_NUMA, 3, "8,9,10,11,12,13,14,15|8,9,10,11,12,13,14,15|8,9,10,11,12,13,14,15");
    assert_shares(&machine, BIND_CORE, 2, "8,9,10,11|12,13,14,15");
    assert_shares(&machine, BIND_CORE, 9, "7|8|9|10|11|12|13|14|15");
    machine_free(&machine);
    struct machine empty = {0};
    assert_shares(&empty, BIND_CORE, 1, "-");
    assert_shares(&empty, BIND_NUMA, 1, "-");
}

/* On any machine: shares of cores do not overlap, no core belongs to two ranks, and every rank has at least cores /
 * ranks of them; nodes and packages are the same for ranks that share them, and all ranks have CPUs. */
static void binding__shares_are_fair(void **state) {
    (void)state;
    static const char *const machines[] = {
        "core:7 pu:1",        "package:2 core:7 pu:2",        "package:2 numa:2 core:4 pu:2",
        "numa:3 core:5 pu:1", "package:3 numa:1 core:1 pu:4", "pu:1"};
    for (size_t m = 0; m < sizeof machines / sizeof *machines; m++) {
        struct machine machine = read_machine(machines[m]);
        int n_cores = machine_cores(&machine);
        for (int64_t n_ranks = 1; n_ranks <= n_cores; n_ranks++) {
            struct share shares[MAX_SHARES];
            assert_true(binding_divide(&machine, BIND_CORE, n_ranks, shares));
            for (int64_t rank = 0; rank < n_ranks; rank++) {
                const struct share *share = &shares[rank];
                int end = rank ? shares[rank - 1].first + shares[rank - 1].n : 0;
                assert_true(share->first >= end);
                assert_true(share_cores(&machine, share) >= n_cores / n_ranks);
                if (share->first > 0)
                    assert_int_not_equal(machine.cpus[share->first].core, machine.cpus[share->first - 1].core);
            }
            assert_true(shares[n_ranks - 1].first + shares[n_ranks - 1].n <= machine.n_cpus);
            assert_int_equal(binding_threads(&machine, shares, n_ranks), n_cores / n_ranks);
        }
        for (int64_t n_ranks = 1; n_ranks <= MAX_SHARES; n_ranks++)
            for (enum binding binding = BIND_NUMA; binding <= BIND_PACKAGE; binding++) {
                struct share shares[MAX_SHARES];
                assert_true(binding_divide(&machine, binding, n_ranks, shares));
                for (int64_t rank = 0; rank < n_ranks; rank++) {
                    assert_true(shares[rank].n > 0);
                    assert_true(rank == 0 || shares[rank].first == shares[rank - 1].first ||
                                shares[rank].first >= shares[rank - 1].first + shares[rank - 1].n);
                }
            }
        machine_free(&machine);
    }
}

static void binding__threads_fit_the_smallest_share(void **state) {
    (void)state;
    struct machine machine = read_machine("package:2 numa:2 core:4 pu:2");
    static const struct {
        enum binding binding;
        int64_t n_ranks;
        int threads;
    } rows[] = {{BIND_CORE, 1, 16}, {BIND_CORE, 3, 5}, {BIND_CORE, 7, 2}, {BIND_CORE, 16, 1},   {BIND_CORE, 32, 1},
                {BIND_NUMA, 3, 4},  {BIND_NUMA, 5, 2}, {BIND_NUMA, 8, 2}, {BIND_PACKAGE, 2, 8}, {BIND_PACKAGE, 5, 2}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct share shares[MAX_SHARES];
        assert_true(binding_divide(&machine, rows[i].binding, rows[i].n_ranks, shares));
        assert_int_equal(binding_threads(&machine, shares, rows[i].n_ranks), rows[i].threads);
    }
    machine_free(&machine);
}

static void binding__default_is_core_if_each_rank_has_one(void **state) {
    (void)state;
    assert_int_equal(binding_settle(BIND_DEFAULT, 1, 4), BIND_NONE);
    assert_int_equal(binding_settle(BIND_DEFAULT, 4, 4), BIND_CORE);
    assert_int_equal(binding_settle(BIND_DEFAULT, 5, 4), BIND_NONE);
    assert_int_equal(binding_settle(BIND_NUMA, 5, 4), BIND_NUMA);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(topology__has_the_described_levels),
        cmocka_unit_test(topology__that_cannot_be_read_is_refused),
        cmocka_unit_test(binding__assigns_whole_cores_if_there_are_enough),
        cmocka_unit_test(binding__with_more_ranks_than_cores_is_fair_or_none),
        cmocka_unit_test(binding__crosses_numa_nodes_only_for_a_larger_smallest_share),
        cmocka_unit_test(binding__follows_numa_nodes),
        cmocka_unit_test(binding__follows_packages),
        cmocka_unit_test(binding__uses_only_cpus_that_are_allowed),
        cmocka_unit_test(binding__weighs_numa_nodes_by_their_cores),
        cmocka_unit_test(binding__shares_are_fair),
        cmocka_unit_test(binding__threads_fit_the_smallest_share),
        cmocka_unit_test(binding__default_is_core_if_each_rank_has_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
