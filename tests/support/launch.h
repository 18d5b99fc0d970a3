/* SPDX-License-Identifier: Apache-2.0
 *
 * Ranks that a test starts, monitors and kills itself: forked like those of dt_spawn, but the others are not ended
 * when one dies, and each reports how it ended. Every wait here is bounded; a rank that runs longer is killed and the
 * test fails.
 */
#ifndef DT_TESTS_LAUNCH_H
#define DT_TESTS_LAUNCH_H

#include "support/ranks.h"

#include "launch/launch.h"

#include <sys/types.h>

enum { TEST_MAX_RANKS = 16 };

/* Whether the program was built with a race detector, which handles threads only, and the factor for time limits. */
extern const bool test_with_tsan;
/* Ranks are threads: with the thread sanitizer, and by DTENSOR_TEST_RANK_THREADS=1 under an emulator, which has
 * threads of its own and therefore cannot fork ranks. */
bool test_ranks_are_threads(void);
extern const double test_slowness;

typedef struct test_launch {
    int64_t n;
    struct dt__segment *segment;
    int fd;
    bool notifies;                /* ranks are notified of deaths, as by dtrun; otherwise they detect them */
    bool bare;                    /* ranks get no context (ctx is NULL): they call dt_init themselves */
    pid_t pids[TEST_MAX_RANKS];   /* 0 once it is waited for */
    int statuses[TEST_MAX_RANKS]; /* of waitpid */
} test_launch;

/* Forks n ranks, each with a context made with these options. Unlike elsewhere, fn closes its context itself, and its
 * result is the exit code. */
void test_launch_begin(test_launch *launch, int64_t n, const dt_init_options *options, dt_rank_fn *fn, void *arg);
/* Reaps the ranks that have ended; returns the number of running ones. */
int64_t test_launch_poll(test_launch *launch);
/* Waits for all ranks, with a time-out, and checks that nothing leaks. */
void test_launch_end(test_launch *launch, double seconds);

/* Runs fn on n ranks whose contexts are made with these options, closes them, and fails the test unless all return 0
 * within five minutes. With `counted`, a rank's ordinary memory is counted in it (each rank has a copy of its own), and
 * a rank that has not freed all of it after closing fails too. Under a race detector the ranks are threads and nothing
 * is counted. */
typedef struct test_ranks {
    int64_t n;
    dt_init_options options;
    test_memory *counted;
} test_ranks;
void run_ranks_with(const test_ranks *ranks, dt_rank_fn *fn, void *arg);

/* This process has no children, and no shared memory of a launch is open or mapped. */
void assert_nothing_leaks(void);
/* Open files of this process. */
int test_open_files(void);

double test_seconds(void);
void test_sleep(double seconds);

#endif
