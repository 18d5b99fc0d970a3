/* SPDX-License-Identifier: Apache-2.0
 *
 * Planning a decomposition takes everything from the context of the call: it reserves no address space, reads no
 * variable and no file, and prints nothing. So it works in a program that has little address space left, that changes
 * its environment or its folder.
 */
/* ctest: processors=2 */
#include "support/launch.h"

#include "dtensor/dtensor.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

static size_t address_space(void) {
    size_t pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (file && fscanf(file, "%zu", &pages) != 1)
        pages = 0;
    if (file)
        fclose(file);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* Has a decomposition, which is planned: the mean over classes that are sharded by rows. */
static double planned_loss(dt_ctx *ctx, dt_mesh *mesh) {
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(10, 6), .mesh = mesh, .place = "S(0)");
    dt_tensor *t = dt_zeros(ctx, DT_SHAPE(10), .mesh = mesh, .place = "S(0)", .dtype = DT_I64);
    dt_tensor *loss = dt_cross_entropy(x, t);
    return loss ? dt_item(loss) : -1;
}

#define LOSS 1.791759 /* log(6) */

static int check_loss(dt_ctx *ctx, double loss) {
    CHECK(loss > LOSS - 1e-5 && loss < LOSS + 1e-5, "expected %g, got %g: %s", LOSS, loss, dt_error_text(ctx));
    return 0;
}

static int plan_in_little_space(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh = dt_mesh_new(ctx, "*");
    struct rlimit before, low;
    CHECK(!getrlimit(RLIMIT_AS, &before), "getrlimit failed");
    low = before;
    size_t space = address_space();
    low.rlim_cur = space + ((size_t)16 << 20);
    CHECK(test_slowness > 1 || !setrlimit(RLIMIT_AS, &low), "setrlimit failed");
    double loss = planned_loss(ctx, mesh);
    CHECK(!setrlimit(RLIMIT_AS, &before), "setrlimit failed");
    CHECK(test_slowness > 1 || address_space() - space < (size_t)16 << 20, "%zu bytes of address space",
          address_space() - space);
    dt_mesh_release(mesh);
    return check_loss(ctx, loss);
}

static void dry_context__reserves_no_heap(void **state) {
    (void)state;
    for (int64_t n = 1; n <= 3; n++)
        run_ranks(n, plan_in_little_space, NULL);
}

/* Everything that dt_init would refuse. */
static int plan_in_another_environment(dt_ctx *ctx, void *arg) {
    static const char *const names[] = {"MACHINE",    "LOG",         "HEAP",          "HEAP_IDLE",
                                        "TIMEOUT",    "THREADS",     "KERNELS",       "TRANSPORT",
                                        "KEEP_FREED", "CHECK_CALLS", "CHECK_REPLICAS"};
    char name[64];
    (void)arg;
    dt_mesh *mesh = dt_mesh_new(ctx, "*");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        (void)snprintf(name, sizeof name, "DTENSOR_%s", names[i]);
        setenv(name, "?", 1);
    }
    double loss = planned_loss(ctx, mesh);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        (void)snprintf(name, sizeof name, "DTENSOR_%s", names[i]);
        unsetenv(name);
    }
    dt_mesh_release(mesh);
    return check_loss(ctx, loss);
}

static void dry_context__reads_no_variables(void **state) {
    (void)state;
    if (test_with_tsan)
        test_skip("the ranks are threads and have one environment");
    for (int64_t n = 1; n <= 2; n++)
        run_ranks(n, plan_in_another_environment, NULL);
}

static void count_line(void *user, dt_log_level level, const char *line) {
    (void)level, (void)line;
    ++*(int *)user;
}

/* All that is logged is logged by the context of the call, and standard error stays empty. */
static void dry_context__prints_nothing(void **state) {
    (void)state;
    int n_lines = 0, saved = dup(STDERR_FILENO);
    FILE *file = tmpfile();
    dt_ctx *ctx = dt_init(
        &(dt_init_options){.transport = "self", .log = count_line, .log_user = &n_lines, .log_level = DT_LOG_DEBUG});
    dt_mesh *mesh = dt_mesh_new(ctx, "1");
    setenv("DTENSOR_LOG", "debug", 1);
    assert_true(dup2(fileno(file), STDERR_FILENO) >= 0);
    double loss = planned_loss(ctx, mesh);
    fflush(stderr);
    assert_true(dup2(saved, STDERR_FILENO) >= 0);
    unsetenv("DTENSOR_LOG");
    assert_int_equal(lseek(fileno(file), 0, SEEK_END), 0);
    assert_int_equal(check_loss(ctx, loss), 0);
    assert_true(n_lines > 0);
    fclose(file);
    close(saved);
    dt_mesh_release(mesh);
    assert_int_equal(dt_close(ctx), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dry_context__reserves_no_heap),
        cmocka_unit_test(dry_context__reads_no_variables),
        cmocka_unit_test(dry_context__prints_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
