/* SPDX-License-Identifier: Apache-2.0
 *
 * A forked child holds copies of its parent's contexts. Whatever it does with them, it gets an error of state, and the
 * parent and its peers notice nothing.
 */
#include "support/ranks.h"

#include "dtensor/dtensor.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* What a child may try, with the context's objects. Returns the number of the first thing that is not refused. */
static int try_everything(dt_ctx *ctx, dt_tensor *x, dt_tensor *sharded, dt_work *work, dt_scope scope) {
    dt_group *all = dt_group_world(ctx);
    double value = 100, sum = 0;
    float *data = dt_data(x);
    if (dt_comm_all_reduce(all, &value, &sum, 1, DT_F64, DT_SUM) != DT_ERR_STATE || dt_heap_alloc(ctx, 1) ||
        dt_error_status(ctx) != DT_ERR_STATE || !strstr(dt_error_text(ctx), "forked"))
        return 1;
    if (dt_relu(x) || dt_relu_(x) || dt_ones(ctx, DT_SHAPE(2)) || dt_mesh_new(ctx, "*") ||
        dt_redistribute(sharded, "R"))
        return 2;
    dt_status tested = dt_work_test(work), waited = dt_work_wait(work);
    if ((tested != DT_ERR_STATE && tested != DT_OK) || waited != tested) /* DT_OK: it was finished before the fork */
        return 3;
    if (!isnan(dt_item(sharded)))
        return 4;
    if (dt_error_clear(ctx) != DT_ERR_STATE || !dt_failed(ctx))
        return 5;
    if (data[0] != 1 || value != 100 || sum != 0)
        return 6;
    dt_drop(x);
    dt_scope_end(scope);
    if (dt_heap_free(ctx, data) != DT_ERR_STATE)
        return 7;
    if (!freopen("/dev/null", "w", stderr) || dt_close(ctx) != 1)
        return 8;
    dt_ctx *own = dt_init(&(dt_init_options){.transport = "self"});
    const float *twos = dt_data(dt_add_scalar(dt_ones(own, DT_SHAPE(2)), 1));
    return twos && twos[1] == 2 && dt_close(own) == 0 ? 0 : 9;
}

/* The child ends before the parent continues; collectives before, during and after it must have the right results. */
static int fork_in_a_rank(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_group *all = dt_group_world(ctx);
    int64_t rank = dt_rank(ctx), world = dt_world(ctx);
    dt_mesh *mesh = dt_mesh_from_shape(ctx, &world, 1, NULL);
    dt_tensor *sharded = dt_ones(ctx, DT_SHAPE(1), .mesh = mesh, .place = "P(sum)");
    for (int round = 0; round < 3; round++) {
        dt_scope scope = dt_scope_begin(ctx);
        dt_tensor *x = dt_ones(ctx, DT_SHAPE(100));
        double value = 1, sum = 0;
        dt_work *work = dt_comm_start(
            all, &(dt_comm_call){.op = DT_ALL_REDUCE, .src = &value, .dst = &sum, .count = 1, .dtype = DT_F64});
        pid_t pid = rank == round % world ? fork() : -1;
        if (pid == 0) {
            test_become_child();
            _exit(try_everything(ctx, x, sharded, work, scope));
        }
        int status = 0;
        CHECK(pid < 0 || waitpid(pid, &status, 0) == pid, "waitpid");
        CHECK(status == 0, "rank %lld: the child ended with %d", (long long)rank, WEXITSTATUS(status));
        CHECK_OK(ctx, dt_work_wait(work));
        CHECK(sum == (double)world, "rank %lld: the sum is %g", (long long)rank, sum);
        CHECK(((const float *)dt_data(x))[99] == 1, "the tensor is unchanged");
        CHECK(dt_item(sharded) == 1, "the item of the partial sum");
        CHECK(dt_error_status(ctx) == DT_OK, "%s", dt_error_text(ctx));
        CHECK_OK(ctx, dt_comm_barrier(all));
        dt_scope_end(scope);
    }
    return 0;
}

/* mpi: no: MPI libraries do not support fork */
static void child__of_a_rank_disturbs_nobody(void **state) {
    (void)state;
    for (int64_t n = 1; n <= 3; n++)
        run_ranks(n, fork_in_a_rank, NULL);
}

static void child__has_contexts_of_its_own(void **state) {
    (void)state;
    dt_ctx *first = dt_init(&(dt_init_options){.transport = "self"}),
           *second = dt_init(&(dt_init_options){.transport = "self"});
    dt_tensor *x = dt_ones(first, DT_SHAPE(3)), *y = dt_ones(second, DT_SHAPE(3));
    pid_t pid = fork();
    if (pid == 0) {
        test_become_child();
        dt_ctx *own = dt_init(&(dt_init_options){.transport = "self"});
        bool ok = own && !dt_relu(x) && !dt_relu(y) && dt_failed(first) && dt_failed(second) && !dt_failed(own) &&
                  dt_ones(own, DT_SHAPE(3)) && dt_close(own) == 0;
        _exit(ok ? 0 : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_non_null(dt_relu(x));
    assert_non_null(dt_relu(y));
    assert_int_equal(dt_close(second), 0);
    assert_int_equal(dt_close(first), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(child__of_a_rank_disturbs_nobody),
        cmocka_unit_test(child__has_contexts_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
