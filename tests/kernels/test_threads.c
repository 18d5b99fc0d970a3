/* SPDX-License-Identifier: Apache-2.0
 *
 * The pool runs every piece exactly once, for any number of threads, many times in a row, and starts no thread
 * before it is used.
 */
#include "support/check.h"

#include "base/ctx.h"
#include "kernels/kernels.h"

#include <dirent.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PIECES = 1000 };

static void count(void *arg, int64_t piece) { atomic_fetch_add(&((_Atomic int *)arg)[piece], 1); }

static void check_pool(dt__pool *pool, int64_t n_pieces) {
    static _Atomic int times[MAX_PIECES];
    for (int i = 0; i < MAX_PIECES; i++)
        atomic_store(&times[i], 0);
    dt__pool_run(pool, n_pieces, count, times);
    for (int i = 0; i < MAX_PIECES; i++)
        if (atomic_load(&times[i]) != (i < n_pieces))
            fail_msg("%d threads, %ld pieces: piece %d: expected %d runs, got %d", dt__pool_threads(pool),
                     (long)n_pieces, i, i < n_pieces, atomic_load(&times[i]));
}

static void pool__runs_each_piece_once(void **state) {
    (void)state;
    dt_ctx *ctx = dt__ctx_new(NULL);
    static const int threads[] = {-1, 1, 2, 3, 8};
    check_pool(NULL, 10);
    for (int t = 0; t < 5; t++) {
        dt__pool *pool = dt__pool_new(ctx, threads[t]);
        for (int i = 0; i < 2000; i++)
            check_pool(pool, i % 7 == 0 ? MAX_PIECES : i % 5);
        dt__pool_free(pool);
    }
    dt__pool_free(NULL);
    dt__ctx_free(ctx);
}

static int n_threads_of_process(void) {
    DIR *tasks = opendir("/proc/self/task");
    int n = 0;
    assert_non_null(tasks);
    for (struct dirent *entry; (entry = readdir(tasks));)
        n += entry->d_name[0] != '.';
    closedir(tasks);
    return n;
}

static void pool__starts_threads_at_first_use(void **state) {
    (void)state;
    dt_ctx *ctx = dt__ctx_new(NULL);
    const int before = n_threads_of_process();
    dt__pool *pool = dt__pool_new(ctx, 4);
    assert_int_equal(dt__pool_threads(pool), 4);
    check_pool(pool, 1);
    assert_int_equal(n_threads_of_process(), before);
    check_pool(pool, 2);
    assert_int_equal(n_threads_of_process(), before + 3);
    dt__pool_free(pool);
    dt__ctx_free(ctx);
}

static bool run_pool(dt_ctx *ctx, void *user) {
    (void)user;
    dt__pool *pool = dt__pool_new(ctx, 2);
    if (!pool)
        return dt__fail_memory(ctx, 1, "a pool") == DT_OK;
    check_pool(pool, 3);
    dt__pool_free(pool);
    return true;
}

static void pool__survives_lack_of_memory(void **state) {
    (void)state;
    assert_int_equal(assert_survives_failing_allocations(run_pool, NULL), 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pool__runs_each_piece_once),
        cmocka_unit_test(pool__starts_threads_at_first_use),
        cmocka_unit_test(pool__survives_lack_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
