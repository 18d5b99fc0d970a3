/* SPDX-License-Identifier: Apache-2.0
 *
 * Cores and NUMA nodes of a set of CPUs, read from files that the test writes.
 */
#include "support/check.h"
#include "support/fake_root.h"

#include "launch/node_cpus.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void write_file(const char *name, const char *text) {
    char path[128];
    snprintf(path, sizeof path, "/sys/devices/system/%s", name);
    fake_root_write(path, text);
}

/* 2 NUMA nodes of 2 cores: {0,4} {1,5} on node 0, {2,6} {3,7} on node 1. */
static void describe_machine(void) {
    static const char *const siblings[] = {"0,4\n", "1,5\n", "2,6\n", "3,7\n"};
    char name[64];
    for (int cpu = 0; cpu < 8; cpu++) {
        snprintf(name, sizeof name, "cpu/cpu%d/topology/thread_siblings_list", cpu);
        write_file(name, siblings[cpu % 4]);
    }
    write_file("cpu/smt/active", "1\n");
    write_file("node/online", "0-1\n");
    write_file("node/node0/cpulist", "0-1,4-5\n");
    write_file("node/node1/cpulist", "2-3,6-7\n");
}

static dt__cpu_set set_of(const char *cpus) {
    dt__cpu_set set = {{0}};
    for (; *cpus; cpus++)
        set.words[0] |= UINT64_C(1) << (*cpus - '0');
    return set;
}

static int cores_of(const char *cpus) {
    dt__cpu_set set = set_of(cpus);
    return dt__cores_of(fake_root(), &set);
}

static int node_of(const char *cpus) {
    dt__cpu_set set = set_of(cpus);
    return dt__numa_node_of(fake_root(), &set);
}

static void cores__are_counted_once_per_pair_of_hardware_threads(void **state) {
    (void)state;
    describe_machine();
    assert_int_equal(cores_of("01234567"), 4);
    assert_int_equal(cores_of("04"), 1);
    assert_int_equal(cores_of("4"), 1);
    assert_int_equal(cores_of("456"), 3);
    assert_int_equal(cores_of("0145"), 2);
    assert_int_equal(cores_of(""), 0);
    write_file("cpu/smt/active", "0\n"); /* the lists are not read */
    assert_int_equal(cores_of("04"), 2);
}

static void cores__are_the_cpus_without_a_description(void **state) {
    (void)state;
    dt__cpu_set set = set_of("0123");
    assert_int_equal(dt__cores_of("/nonexistent", &set), 4);
    assert_int_equal(dt__numa_node_of("/nonexistent", &set), -1);
}

static void node__is_known_if_all_cpus_are_on_it(void **state) {
    (void)state;
    describe_machine();
    assert_int_equal(node_of("04"), 0);
    assert_int_equal(node_of("0145"), 0);
    assert_int_equal(node_of("7"), 1);
    assert_int_equal(node_of("12"), -1);
    assert_int_equal(node_of("01234567"), -1);
    assert_int_equal(node_of(""), -1);
    write_file("node/online", "0\n"); /* the only one: nothing to decide */
    assert_int_equal(node_of("04"), -1);
}

static void cpus__of_this_process_are_those_of_its_mask(void **state) {
    (void)state;
    dt__cpu_set set;
    cpu_set_t mask;
    assert_true(dt__cpus_of_process(&set));
    assert_int_equal(sched_getaffinity(0, sizeof mask, &mask), 0);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        assert_int_equal(dt__cpu_set_has(&set, cpu), !!CPU_ISSET((size_t)cpu, &mask));
    assert_false(dt__cpu_set_has(&set, -1));
    assert_false(dt__cpu_set_has(&set, DT__MAX_CPUS));
    assert_in_range(dt__cores_of("", &set), 1, CPU_COUNT(&mask));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cores__are_counted_once_per_pair_of_hardware_threads),
        cmocka_unit_test(cores__are_the_cpus_without_a_description),
        cmocka_unit_test(node__is_known_if_all_cpus_are_on_it),
        cmocka_unit_test(cpus__of_this_process_are_those_of_its_mask),
    };
    return cmocka_run_group_tests(tests, fake_root_make, fake_root_remove);
}
