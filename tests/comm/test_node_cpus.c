/* SPDX-License-Identifier: Apache-2.0
 *
 * Cores and NUMA nodes of a set of CPUs, read from files that the test writes, and memory that is placed on a node of
 * this machine.
 */
#include "support/check.h"
#include "support/fake_root.h"

#include "comm/node_cpus.h"

#include <errno.h>
#include <linux/mempolicy.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
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

static void memory__is_placed_on_a_node(void **state) {
    (void)state;
    enum { BYTES = 1 << 20 };
    int fd = memfd_create("test", MFD_CLOEXEC), mode = -1;
    assert_int_equal(ftruncate(fd, 2 * BYTES), 0);
    char *memory = mmap(NULL, 2 * BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    assert_ptr_not_equal(memory, MAP_FAILED);
    errno = 0;
    assert_false(dt__place_memory(memory, BYTES, -1));
    assert_false(dt__place_memory(memory, BYTES, DT__MAX_NODES));
    assert_false(dt__place_memory(memory, BYTES, DT__MAX_NODES - 1)); /* there is none */
    if (dt__place_memory(memory, BYTES, 0)) {
        unsigned long nodes[DT__MAX_NODES / 64] = {0};
        assert_int_equal(syscall(SYS_get_mempolicy, &mode, nodes, DT__MAX_NODES + 1ul, memory, MPOL_F_ADDR), 0);
        assert_int_equal(mode, MPOL_PREFERRED);
        assert_int_equal(nodes[0], 1);
        assert_int_equal(syscall(SYS_get_mempolicy, &mode, nodes, DT__MAX_NODES + 1ul, memory + BYTES, MPOL_F_ADDR),
                         0);
        assert_int_equal(mode, MPOL_DEFAULT);
    } else {
        print_message("memory policies are not allowed here\n");
    }
    assert_int_equal(errno, 0);
    memset(memory, 1, 2 * BYTES);
    munmap(memory, 2 * BYTES);
    close(fd);
}

static void assert_shared(const dt__rank_cpus *ranks, int64_t n, int64_t total, const int64_t *own) {
    for (int64_t me = 0; me < n; me++) {
        int64_t cores;
        assert_int_equal(dt__share_cores(ranks, n, me, &cores), total);
        assert_int_equal(cores, own[me]);
    }
}

/* As mpirun binds them: to nothing, to cores, to sockets of which the first has three ranks and the second two. */
static void cores__of_equal_sets_are_shared(void **state) {
    (void)state;
    assert_shared((dt__rank_cpus[]){{7, 16}, {7, 16}, {7, 16}}, 3, 16, (int64_t[]){5, 5, 5});
    assert_shared((dt__rank_cpus[]){{1, 1}, {2, 1}, {3, 1}, {4, 1}}, 4, 4, (int64_t[]){1, 1, 1, 1});
    assert_shared((dt__rank_cpus[]){{1, 8}, {1, 8}, {2, 8}, {1, 8}, {2, 8}}, 5, 16, (int64_t[]){2, 2, 4, 2, 4});
    assert_shared((dt__rank_cpus[]){{9, 2}, {9, 2}, {9, 2}}, 3, 2, (int64_t[]){1, 1, 1});
    assert_shared((dt__rank_cpus[]){{0, 4}}, 1, 4, (int64_t[]){4});
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cores__are_counted_once_per_pair_of_hardware_threads),
        cmocka_unit_test(cores__are_the_cpus_without_a_description),
        cmocka_unit_test(node__is_known_if_all_cpus_are_on_it),
        cmocka_unit_test(cores__of_equal_sets_are_shared),
        cmocka_unit_test(cpus__of_this_process_are_those_of_its_mask),
        cmocka_unit_test(memory__is_placed_on_a_node),
    };
    return cmocka_run_group_tests(tests, fake_root_make, fake_root_remove);
}
