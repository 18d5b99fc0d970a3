/* SPDX-License-Identifier: Apache-2.0
 *
 * CPU shares on synthetic machines, whose description is written to a folder and read from there.
 */
#include "support/check.h"

#include "dtrun/binding.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static char root[] = "/tmp/dtrun-machine-XXXXXX";

static void write_file(const char *path, const char *text) {
    char full_path[512];
    for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
        snprintf(full_path, sizeof full_path, "%s/%.*s", root, (int)(slash - path), path);
        mkdir(full_path, 0700);
    }
    snprintf(full_path, sizeof full_path, "%s/%s", root, path);
    FILE *file = fopen(full_path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

/* n_nodes packages, each a NUMA node, of n_cores cores with two threads; the second threads are numbered after all
 * first ones, as by the kernel. */
static void describe_machine(int n_nodes, int n_cores) {
    int n = n_nodes * n_cores;
    char path[128], text[64];
    for (int cpu = 0; cpu < 2 * n; cpu++) {
        snprintf(path, sizeof path, "cpu/cpu%d/topology/physical_package_id", cpu);
        snprintf(text, sizeof text, "%d\n", cpu % n / n_cores);
        write_file(path, text);
        snprintf(path, sizeof path, "cpu/cpu%d/topology/core_id", cpu);
        snprintf(text, sizeof text, "%d\n", cpu % n_cores);
        write_file(path, text);
    }
    for (int node = 0; node < n_nodes; node++) {
        int first = node * n_cores;
        snprintf(path, sizeof path, "node/node%d/cpulist", node);
        snprintf(text, sizeof text, "%d-%d,%d-%d\n", first, first + n_cores - 1, n + first, n + first + n_cores - 1);
        write_file(path, text);
    }
    snprintf(text, sizeof text, "0-%d\n", n_nodes - 1);
    write_file("node/online", text);
}

static cpu_mask mask_of(int n_cpus) {
    cpu_mask mask = {{0}};
    for (int i = 0; i < n_cpus; i++)
        CPU_SET_S((size_t)i, sizeof mask, cpu_mask_set(&mask));
    return mask;
}

/* "0,4,8" for each rank, separated by "|"; "-" if it is impossible. */
static void print_shares(const struct machine *machine, enum binding binding, int64_t n_ranks, char *text) {
    *text = 0;
    for (int64_t rank = 0; rank < n_ranks; rank++) {
        cpu_mask share;
        const char *comma = "";
        text += sprintf(text, "%s", rank ? "|" : "");
        if (!binding_share(machine, binding, rank, n_ranks, &share)) {
            text += sprintf(text, "-");
            continue;
        }
        for (int i = 0; i < 64; i++) {
            if (CPU_ISSET_S((size_t)i, sizeof share, cpu_mask_set(&share))) {
                text += sprintf(text, "%s%d", comma, i);
                comma = ",";
            }
        }
    }
}

static void assert_shares(const struct machine *machine, enum binding binding, int64_t n_ranks,
                          const char *expected) {
    char text[1024];
    print_shares(machine, binding, n_ranks, text);
    assert_string_equal(text, expected);
}

static void binding__assigns_whole_cores_if_there_are_enough(void **state) {
    (void)state;
    struct machine machine;
    cpu_mask allowed = mask_of(8);
    describe_machine(2, 2); /* cores {0,4} {1,5} on node 0, {2,6} {3,7} on node 1 */
    assert_true(machine_read(root, &allowed, &machine));
    assert_shares(&machine, BIND_CORE, 1, "0,1,2,3,4,5,6,7");
    assert_shares(&machine, BIND_CORE, 2, "0,1,4,5|2,3,6,7");
    assert_shares(&machine, BIND_CORE, 3, "0,4|1,5|2,3,6,7");
    assert_shares(&machine, BIND_CORE, 4, "0,4|1,5|2,6|3,7");
    assert_shares(&machine, BIND_CORE, 5, "0|1,4|5|2,6|3,7");
    assert_shares(&machine, BIND_CORE, 8, "0|4|1|5|2|6|3|7");
    assert_shares(&machine, BIND_CORE, 9, "-|-|-|-|-|-|-|-|-");
    machine_free(&machine);
}

static void binding__follows_numa_nodes(void **state) {
    (void)state;
    struct machine machine;
    cpu_mask allowed = mask_of(12);
    describe_machine(3, 2); /* nodes {0,1,6,7} {2,3,8,9} {4,5,10,11} */
    assert_true(machine_read(root, &allowed, &machine));
    assert_shares(&machine, BIND_NUMA, 1, "0,1,2,3,4,5,6,7,8,9,10,11");
    assert_shares(&machine, BIND_NUMA, 2, "0,1,6,7|2,3,4,5,8,9,10,11");
    assert_shares(&machine, BIND_NUMA, 3, "0,1,6,7|2,3,8,9|4,5,10,11");
    assert_shares(&machine, BIND_NUMA, 4, "0,1,6,7|0,1,6,7|2,3,8,9|4,5,10,11");
    assert_shares(&machine, BIND_NUMA, 6, "0,1,6,7|0,1,6,7|2,3,8,9|2,3,8,9|4,5,10,11|4,5,10,11");
    machine_free(&machine);
}

static void binding__uses_only_cpus_that_are_allowed(void **state) {
    (void)state;
    struct machine machine;
    cpu_mask allowed = {{0}};
    describe_machine(2, 2);
    for (size_t cpu = 3; cpu <= 5; cpu++) /* one thread of each of the cores {3,7} {0,4} {1,5} */
        CPU_SET_S(cpu, sizeof allowed, cpu_mask_set(&allowed));
    assert_true(machine_read(root, &allowed, &machine));
    assert_shares(&machine, BIND_CORE, 3, "4|5|3");
    assert_shares(&machine, BIND_CORE, 2, "4|3,5");
    assert_shares(&machine, BIND_NUMA, 2, "4,5|3");
    assert_shares(&machine, BIND_CORE, 4, "-|-|-|-");
    assert_shares(&machine, BIND_NONE, 1, "-");
    machine_free(&machine);
}

/* Without a description, each CPU is a core and all are on one node. */
static void binding__works_without_a_description_of_the_machine(void **state) {
    (void)state;
    struct machine machine;
    cpu_mask allowed = mask_of(4), none = mask_of(0);
    assert_true(machine_read("/nonexistent", &allowed, &machine));
    assert_shares(&machine, BIND_CORE, 2, "0,1|2,3");
    assert_shares(&machine, BIND_NUMA, 2, "0,1,2,3|0,1,2,3");
    machine_free(&machine);
    assert_true(machine_read("/nonexistent", &none, &machine));
    assert_shares(&machine, BIND_NUMA, 1, "-");
    machine_free(&machine);
}

/* Shares of different ranks do not overlap, have all CPUs in total, and differ by at most one core. */
static void binding__shares_are_fair(void **state) {
    (void)state;
    struct machine machine;
    cpu_mask allowed = mask_of(28);
    describe_machine(2, 7);
    assert_true(machine_read(root, &allowed, &machine));
    for (int64_t n_ranks = 1; n_ranks <= 28; n_ranks++) {
        int n_all = 0, min = 28, max = 0;
        cpu_mask all = {{0}}, share;
        for (int64_t rank = 0; rank < n_ranks; rank++) {
            assert_true(binding_share(&machine, BIND_CORE, rank, n_ranks, &share));
            int n = CPU_COUNT_S(sizeof share, cpu_mask_set(&share));
            CPU_OR_S(sizeof all, cpu_mask_set(&all), cpu_mask_set(&all), cpu_mask_set(&share));
            n_all += n;
            min = n < min ? n : min;
            max = n > max ? n : max;
        }
        assert_int_equal(n_all, 28);
        assert_int_equal(CPU_COUNT_S(sizeof all, cpu_mask_set(&all)), 28);
        assert_true(min >= 1 && max - min <= (n_ranks <= 14 ? 2 : 1));
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

static int make_root(void **state) {
    (void)state;
    return mkdtemp(root) ? 0 : -1;
}

static int remove_root(void **state) {
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", root);
    return system(command);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(binding__assigns_whole_cores_if_there_are_enough),
        cmocka_unit_test(binding__follows_numa_nodes),
        cmocka_unit_test(binding__uses_only_cpus_that_are_allowed),
        cmocka_unit_test(binding__works_without_a_description_of_the_machine),
        cmocka_unit_test(binding__shares_are_fair),
        cmocka_unit_test(binding__default_is_core_if_each_rank_has_one),
    };
    return cmocka_run_group_tests(tests, make_root, remove_root);
}
