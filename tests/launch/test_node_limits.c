/* SPDX-License-Identifier: Apache-2.0
 *
 * The memory that a process may use of its node, read from files of both cgroup versions that the test writes; the
 * default size of heaps; and the process that the kernel ends first when memory runs out.
 *
 * mpi: no: it is about the limits of a launch without MPI
 */
#include "support/fake_root.h"
#include "support/launch.h"

#include "launch/launch.h"
#include "tensor/tensor.h"

#include <dtensor/ops.h>

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MIB ((size_t)1 << 20)

static void memory__is_what_the_node_has_available(void **state) {
    (void)state;
    fake_root_write("/proc/meminfo", "MemTotal:       16384000 kB\nMemFree:  1 kB\nMemAvailable:    2048 kB\n");
    fake_root_write("/proc/self/cgroup", "1:name=systemd:/\n0::/\n");
    assert_int_equal(dt__available_memory(fake_root()), 2 * MIB);
}

static void memory__is_limited_by_every_cgroup_of_version_2(void **state) {
    (void)state;
    fake_root_write("/proc/meminfo", "MemAvailable: 1048576 kB\n");
    fake_root_write("/proc/self/cgroup", "0::/user/job\n");
    fake_root_write("/sys/fs/cgroup/user/job/memory.max", "max\n");
    fake_root_write("/sys/fs/cgroup/user/job/memory.current", "1\n");
    assert_int_equal(dt__available_memory(fake_root()), 1024 * MIB);
    fake_root_write("/sys/fs/cgroup/user/memory.max", "104857600\n");
    fake_root_write("/sys/fs/cgroup/user/memory.current", "41943040\n");
    assert_int_equal(dt__available_memory(fake_root()), 60 * MIB);
    fake_root_write("/sys/fs/cgroup/user/memory.stat", "anon 1\ninactive_file 10485760\nactive_file 7\n");
    assert_int_equal(dt__available_memory(fake_root()), 70 * MIB);
    fake_root_write("/sys/fs/cgroup/user/job/memory.max", "20971520\n");
    assert_int_equal(dt__available_memory(fake_root()), 20 * MIB - 1);
    fake_root_write("/sys/fs/cgroup/user/job/memory.current", "30000000\n"); /* above its limit */
    assert_int_equal(dt__available_memory(fake_root()), 0);
}

static void memory__is_limited_by_cgroups_of_version_1(void **state) {
    (void)state;
    fake_root_write("/proc/meminfo", "MemAvailable: 1048576 kB\n");
    fake_root_write("/proc/self/cgroup", "5:cpu,cpuacct:/other\n4:memory:/deep/job\n0::/\n");
    fake_root_write("/sys/fs/cgroup/memory/deep/job/memory.limit_in_bytes", "9223372036854771712\n");
    fake_root_write("/sys/fs/cgroup/memory/deep/job/memory.usage_in_bytes", "12345\n");
    assert_int_equal(dt__available_memory(fake_root()), 1024 * MIB);
    fake_root_write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "104857600\n");
    fake_root_write("/sys/fs/cgroup/memory/memory.usage_in_bytes", "41943040\n");
    fake_root_write("/sys/fs/cgroup/memory/memory.stat", "inactive_file 3\ntotal_inactive_file 10485760\n");
    assert_int_equal(dt__available_memory(fake_root()), 70 * MIB);
}

static void oom_kills__are_counted(void **state) {
    (void)state;
    assert_int_equal(dt__oom_kills("/nonexistent"), 0);
    fake_root_write("/proc/vmstat", "nr_free_pages 17\noom_kill 3\ndrop_pagecache 9\n");
    assert_int_equal(dt__oom_kills(fake_root()), 3);
}

/* The memory in use by others may change between two calls. */
static void heaps__fit_into_memory(void **state) {
    (void)state;
    for (int64_t n = 1; n <= 64; n *= 4) {
        size_t available = dt__available_memory(""), heaps = (size_t)n * dt__heap_bytes_default(n);
        if (heaps > available + available / 8 || heaps < available / 4)
            fail_msg("%lld heaps of %zu bytes in total, %zu bytes available", (long long)n, heaps, available);
    }
}

static int read_score(void) {
    int score = -1;
    FILE *file = fopen("/proc/self/oom_score_adj", "r");
    if (file && fscanf(file, "%d", &score) != 1)
        score = -1;
    if (file)
        fclose(file);
    return score;
}

static int check_score(dt_ctx *ctx, void *arg) {
    (void)ctx;
    CHECK(read_score() > *(int *)arg, "expected an oom_score_adj above %d, got %d", *(int *)arg, read_score());
    return 0;
}

static void ranks__are_offered_to_the_oom_killer_first(void **state) {
    (void)state;
    int own = read_score();
    char *error = NULL;
    if (test_with_tsan)
        return;
    assert_int_equal(dt_spawn(2, check_score, &own, &error), DT_OK);
    assert_int_equal(read_score(), own);
}

static void heap__names_size_and_largest_tensors(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(&(dt_init_options){.heap_bytes = 64 * MIB});
    dt_tensor *small = dt_zeros(ctx, DT_SHAPE(1000));
    dt_tensor *large = dt_zeros(ctx, DT_SHAPE(5, 1024, 1024)), *view = dt_narrow(large, 0, 1, 2);
    dt_scope scope = dt_scope_begin(ctx);
    dt_tensor *medium = dt_zeros(ctx, DT_SHAPE(2, 1024, 1024), .dtype = DT_F64), *tiny = dt_zeros(ctx, DT_SHAPE(1));
    assert_true(small && large && view && medium && tiny);
    assert_null(dt_zeros(ctx, DT_SHAPE(16, 1024, 1024)));
    dt_scope_end(scope);
    assert_error_contains(ctx, DT_ERR_MEMORY, "64.0 MiB requested");
    assert_error_contains(ctx, DT_ERR_MEMORY, "36.0 of 64.0 MiB in use in 4 blocks");
    assert_error_contains(ctx, DT_ERR_MEMORY,
                          "largest tensors: f32[5,1024,1024] (20971520 bytes), f64[2,1024,1024] (16777216 bytes), "
                          "f32[1000] (4000 bytes); ");
    assert_error_contains(ctx, DT_ERR_MEMORY, "DTENSOR_HEAP");
    assert_int_equal(dt_error_clear(ctx), DT_OK);
    assert_int_equal(dt_close(ctx), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory__is_what_the_node_has_available),
        cmocka_unit_test(memory__is_limited_by_every_cgroup_of_version_2),
        cmocka_unit_test(memory__is_limited_by_cgroups_of_version_1),
        cmocka_unit_test(oom_kills__are_counted),
        cmocka_unit_test(heaps__fit_into_memory),
        cmocka_unit_test(ranks__are_offered_to_the_oom_killer_first),
        cmocka_unit_test(heap__names_size_and_largest_tensors),
    };
    return cmocka_run_group_tests(tests, fake_root_make, fake_root_remove);
}
