/* SPDX-License-Identifier: Apache-2.0
 *
 * Test programs that mpirun started as ranks: running a function on them, and what forked ranks would have from their
 * parent, memory and folders in common. Ranks of a test are on one machine, also where they pretend to be on several,
 * so a folder of the launch is enough for both.
 */
#include "support/ranks.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { MEETING_SECONDS = 120 };

int64_t test_started_ranks(void) {
    const char *text = getenv("DTENSOR_TEST_RANKS");
    return text ? strtoll(text, NULL, 10) : 0;
}

bool test_is_started(int64_t n) {
    if (getenv("DTENSOR_TEST_LIST"))
        printf("needs %lld ranks\n", (long long)n);
    return test_started_ranks() == n;
}

__attribute__((constructor)) static void prepare(void) {
    const char *filter = getenv("DTENSOR_TEST_FILTER");
    if (filter)
        cmocka_set_test_filter(filter);
    if (test_started_ranks())
        setenv("DTENSOR_TRANSPORT", "self", 1);
}

/* The path of the next thing that all ranks make alike. */
static void next_path(const char *kind, char *path, size_t path_bytes) {
    static int n;
    const char *folder = getenv("DTENSOR_TEST_FOLDER");
    assert_non_null(folder);
    snprintf(path, path_bytes, "%s/%s-%d", folder, kind, n++);
}

void *test_shared_memory(size_t bytes) {
    int fd = -1, flags = MAP_SHARED | MAP_ANONYMOUS;
    if (test_started_ranks()) {
        char path[256];
        next_path("memory", path, sizeof path);
        fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        assert_true(fd >= 0 && ftruncate(fd, (off_t)bytes) == 0);
        flags = MAP_SHARED;
    }
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, fd, 0);
    assert_ptr_not_equal(memory, MAP_FAILED);
    if (fd >= 0)
        close(fd);
    return memory;
}

bool test_make_folder(char *path, size_t path_bytes) {
    if (test_started_ranks()) {
        next_path("folder", path, path_bytes);
        return mkdir(path, 0700) == 0 || errno == EEXIST;
    }
    snprintf(path, path_bytes, "/tmp/dtensor_files_XXXXXX");
    return mkdtemp(path);
}

int test_remove_folder(const char *path) { return test_started_ranks() ? 0 : rmdir(path); }

/* Waits until all ranks have come here as often as this one. */
static void meet(void) {
    static atomic_long *n_arrived;
    static long n_meetings;
    if (!n_arrived)
        n_arrived = test_shared_memory(sizeof *n_arrived);
    atomic_fetch_add(n_arrived, 1);
    long expected = ++n_meetings * (long)test_started_ranks();
    time_t end = time(NULL) + MEETING_SECONDS;
    while (atomic_load(n_arrived) < expected) {
        if (time(NULL) > end)
            fail_msg("other ranks have not come to meeting %ld", n_meetings);
        nanosleep(&(struct timespec){0, 200000}, NULL);
    }
}

bool test_leads(void) {
    static atomic_long *n_processes;
    static bool leads;
    if (!test_started_ranks())
        return true;
    if (!n_processes) {
        n_processes = test_shared_memory(sizeof *n_processes);
        leads = atomic_fetch_add(n_processes, 1) == 0;
    }
    return leads;
}

int test_run_started(const dt_init_options *options, dt_rank_fn *fn, void *arg) {
    meet();
    setenv("DTENSOR_TRANSPORT", "mpi", 1);
    dt_ctx *ctx = dt_init(options);
    setenv("DTENSOR_TRANSPORT", "self", 1);
    int code = 99;
    if (ctx && dt_world(ctx) != test_started_ranks())
        print_error("expected %lld ranks, got %lld\n", (long long)test_started_ranks(), (long long)dt_world(ctx));
    else if (ctx)
        code = fn(ctx, arg);
    meet();
    return code;
}
