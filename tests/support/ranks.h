/* SPDX-License-Identifier: Apache-2.0
 *
 * Running a function on several ranks from a test: forked, or as threads under a race detector. A rank
 * reports failures with CHECK, which prints both operands and makes the rank's function return 1.
 */
#ifndef DT_TESTS_RANKS_H
#define DT_TESTS_RANKS_H

#include "support/check.h"

#include "dtensor/comm.h"

#include <stdio.h>

/* Runs fn on n ranks; fails the test, with the text of the first failure, unless all return 0. Under a race detector
 * the ranks are threads.
 *
 * A test program can also be started by mpirun, as a whole and on every rank, with DTENSOR_TEST_RANKS=<number of ranks>
 * and DTENSOR_TEST_FOLDER=<an empty folder> (tests/mpi/matrix.py does so). Then nothing is forked: a call for just that
 * number of ranks runs fn on the ranks that mpirun started, which meet before and after, and a call for another number
 * does nothing. Contexts that the program makes elsewhere are worlds of one. DTENSOR_TEST_FILTER picks tests by a
 * pattern. */
void run_ranks(int64_t n, dt_rank_fn *fn, void *arg);

/* The number of ranks that mpirun started this program with, or 0 if ranks are to be forked. */
int64_t test_started_ranks(void);
/* Whether it is n. With DTENSOR_TEST_LIST set, and a number of ranks that no test needs, a program prints which
 * it needs. */
bool test_is_started(int64_t n);
/* Whether this process is the one that prepares and checks what all ranks have in common: always, unless mpirun started
 * it, then in one process of the launch. Ranks call this first in the same place. What that process does between two
 * runs is complete when the second one begins. */
bool test_leads(void);
/* Runs fn as this process's rank, with a context made with these options, which fn closes; returns fn's result. */
int test_run_started(const dt_init_options *options, dt_rank_fn *fn, void *arg);

/* Memory that ranks share with the test: zeroed, never freed. */
void *test_shared_memory(size_t bytes);
/* Makes an empty folder that all ranks of the test see, and removes it once it is empty; started ranks, which may still
 * use it while another one does not, leave that to their launch. */
bool test_make_folder(char *path, size_t path_bytes);
int test_remove_folder(const char *path);

/* In a forked process: a fault ends it, and so does a failed assertion after printing its text; the test library would
 * jump back into the test and continue with the following tests. */
void test_become_child(void);

/* Prints a failed check in one piece, on the standard error that the test was started with: the text survives a rank
 * that has redirected or closed its own, and one that is killed right after. */
void test_report_failure(const char *file, int line, const char *condition, const char *format, ...) DT_PRINTF(4);

/* Prints the leaks that a leak detector finds, if the program was built with one; returns whether there are any. */
bool test_leaks(void);

/* The groups that the context has, and whether two of them use the same channel. */
int test_count_groups(dt_ctx *ctx);
bool test_share_channel(const dt_group *a, const dt_group *b);

#define CHECK(condition, ...)                                                                                        \
    do {                                                                                                             \
        if (!(condition)) {                                                                                          \
            test_report_failure(__FILE__, __LINE__, #condition, __VA_ARGS__);                                        \
            return 1;                                                                                                \
        }                                                                                                            \
    } while (0)

/* A call that must succeed; prints the context's error otherwise. */
#define CHECK_OK(ctx, call)                                                                                          \
    do {                                                                                                             \
        dt_status check_status_ = (call);                                                                            \
        CHECK(check_status_ == DT_OK, "rank %lld: %s: %s", (long long)dt_rank(ctx), dt_status_name(check_status_),   \
              dt_error_text(ctx));                                                                                   \
    } while (0)

#endif
