/* SPDX-License-Identifier: Apache-2.0
 *
 * The log: the lines of each level. One rank of a fake world of four, where large tensors take no memory.
 */
#include "dispatch/calls.h"

#include "base/ctx.h"
#include "support/launch.h"

#include <stdlib.h>

enum { TEXT_BYTES = 1 << 16 };

static const char *const level_names[] = {"off", "error", "warn", "info", "debug"};

static void keep_line(void *user, dt_log_level level, const char *line) {
    char *text = user;
    size_t n = strlen(text);
    snprintf(text + n, TEXT_BYTES - n, "%s: %s\n", level_names[level], line);
}

static void run_program(dt_ctx *ctx) {
    int64_t sizes[] = {2, 2};
    dt_mesh *mesh = dt_mesh_from_shape(ctx, sizes, 2, &(dt_mesh_options){.names = "dp,tp"});
    dt_mesh *slice = dt_mesh_slice(mesh, "tp");
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(8, 8), .mesh = mesh, .place = "S(0),R");
    dt_tensor *y = dt_ones(ctx, DT_SHAPE(8, 8), .mesh = mesh, .place = "S(1),R");
    for (int i = 0; i < 3; i++) {
        assert_non_null(CALL(ctx, "add($1; $2)", x, y));
        assert_non_null(CALL(ctx, "add($1; $1)", x));
        assert_non_null(CALL(ctx, "sum($1; dim=[1])", x));
    }
    dt_tensor *large = dt_ones(ctx, DT_SHAPE(8192, 4096), .mesh = mesh, .place = "S(0),S(0)");
    assert_non_null(dt_redistribute(large, "R,R")); /* the fake transport receives nothing */
    assert_non_null(dt_redistribute(x, "R,R"));
    assert_int_equal(dt_comm_barrier(dt_group_world(ctx)), DT_OK);
    dt_mesh_release(slice);
    dt_mesh_release(mesh);
}

/* The log of the program at this level. */
static char *log_of(dt_log_level level) {
    char *text = calloc(1, TEXT_BYTES);
    dt_ctx *ctx = dt_init(&(dt_init_options){
        .transport = "fake", .world = 4, .rank = 1, .log = keep_line, .log_user = text, .log_level = level});
    assert_non_null(ctx);
    run_program(ctx);
    assert_int_equal(dt_close(ctx), 0);
    return text;
}

static int count(const char *text, const char *part) {
    int n = 0;
    for (const char *at = text; (at = strstr(at, part)); at++)
        n++;
    return n;
}

static void assert_contains(const char *text, int n, const char *part) {
    if (count(text, part) != n)
        fail_msg("expected %d times\n%s\ngot %d in\n%s", n, part, count(text, part), text);
}

static void info__has_launch_meshes_first_decisions_and_counts(void **state) {
    (void)state;
    char *text = log_of(DT_LOG_INFO);
    assert_contains(text, 1, "info: dtensor ");
    assert_contains(text, 1, ": rank 1 of 4, 4 per host, transport fake, heap ");
    assert_contains(text, 1, "info: new mesh(dp=2,tp=2)\n");
    assert_contains(text, 3, "info: decision: ");
    assert_contains(
        text, 1,
        "info: decision: ones(size=[8,8]; dtype=f32) -> f32[8,8] S(0),R on mesh(dp=2,tp=2); moves nothing\n");
    assert_contains(text, 1,
                    "info: decision: add(f32[8,8] S(0),R; f32[8,8] S(1),R) -> f32[8,8] S(0),S(0) on mesh(dp=2,tp=2); "
                    "moves argument 1 to S(0),S(0) and argument 2 to S(0),S(0), ");
    assert_contains(
        text, 1,
        "info: decision: sum(f32[8,8] S(0),R; dim=[1]) -> f32[8] S(0),R on mesh(dp=2,tp=2); moves nothing\n");
    assert_contains(text, 1, "info: close: 12 calls of ops, 6 decided, 6 from the cache\n");
    assert_contains(text, 1, "info: close: 8 redistributions, received 0 B\n");
    assert_contains(text, 1, "info: close: 1 collectives with results of 0 B, at most ");
    assert_contains(text, 0, "debug: ");
    free(text);
}

/* A rank receives as many bytes as count as large, and one byte less. */
static int redistribute_large(dt_ctx *ctx, void *arg) {
    const char *text = arg;
    int64_t n = dt_world(ctx), large = 64 << 20;
    dt_mesh *mesh = dt_mesh_from_shape(ctx, &n, 1, NULL);
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(2 * large), .dtype = DT_U8, .mesh = mesh, .place = "S(0)");
    CHECK(dt_redistribute(x, "R"), "%s", dt_error_text(ctx));
    const char *expected = "info: redistribute: u8[134217728] S(0) on mesh(2) to R: all_gather 1, received 64 MiB\n";
    CHECK(strstr(text, expected), "expected %s in %s", expected, text);
    x = dt_ones(ctx, DT_SHAPE(2 * large - 2), .dtype = DT_U8, .mesh = mesh, .place = "S(0)");
    CHECK(dt_redistribute(x, "R"), "%s", dt_error_text(ctx));
    CHECK(!strstr(text, "u8[134217726]"), "expected no line for a byte less than large in %s", text);
    dt_mesh_release(mesh);
    return 0;
}

static void info__has_large_transfers(void **state) {
    (void)state;
    if (test_with_tsan)
        test_skip("ranks are threads with the thread sanitizer, and share the text");
    char *text = calloc(1, TEXT_BYTES); /* of each rank, which is forked */
    run_ranks_with(&(test_ranks){.n = 2, .options = {.log = keep_line, .log_user = text, .log_level = DT_LOG_INFO}},
                   redistribute_large, text);
    free(text);
}

static void debug__has_each_decision_redistribution_and_collective(void **state) {
    (void)state;
    char *text = log_of(DT_LOG_DEBUG);
    assert_contains(text, 6, ": decision: ");
    assert_contains(text, 1, "debug: decision: add(f32[8,8] S(0),R; f32[8,8] S(0),R) -> ");
    assert_contains(text, 8, "debug: redistribute: ");
    assert_contains(text, 3,
                    "debug: redistribute: f32[8,8] S(1),R on mesh(dp=2,tp=2) to S(0),S(0): all_to_all 1, received ");
    assert_contains(text, 1,
                    "debug: redistribute: f32[8,8] S(0),R on mesh(dp=2,tp=2) to R,R: all_gather 1, received ");
    assert_contains(text, 1, "debug: barrier of 4 ranks, result of 0 B\n");
    assert_contains(text, 1, "debug: new mesh(tp=2");
    free(text);
}

static void lower_levels__are_silent(void **state) {
    (void)state;
    for (dt_log_level level = DT_LOG_OFF; level <= DT_LOG_WARN; level++) {
        char *text = log_of(level);
        assert_string_equal(text, "");
        free(text);
    }
}

/* The number of warnings is bounded, however many shapes occur. */
static void warnings__are_bounded(void **state) {
    (void)state;
    char *text = calloc(1, 4 * TEXT_BYTES);
    dt_ctx *ctx = dt_init(&(dt_init_options){.transport = "fake", .world = 2, .log = keep_line, .log_user = text});
    int64_t two = 2;
    dt_mesh *mesh = dt_mesh_from_shape(ctx, &two, 1, NULL);
    assert_int_equal(dt_comm_policy(ctx, DT_COMM_WARN), DT_OK);
    for (int64_t n = 1; n <= 1200; n++) {
        text[0] = 0;
        dt_scope scope = dt_scope_begin(ctx);
        dt_tensor *x = dt_ones(ctx, DT_SHAPE(2, 2 * n), .mesh = mesh, .place = "S(0)");
        dt_tensor *y = dt_ones(ctx, DT_SHAPE(2, 2 * n), .mesh = mesh, .place = "S(1)");
        assert_non_null(CALL(ctx, "add($1; $2)", x, y));
        dt_scope_end(scope);
        assert_int_equal(count(text, "\n"), n <= 1001);
        if (n == 1001)
            assert_string_equal(text, "warn: 1000 warnings about communication; further ones are not shown\n");
    }
    dt_mesh_release(mesh);
    assert_int_equal(dt_close(ctx), 0);
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(info__has_launch_meshes_first_decisions_and_counts),
        cmocka_unit_test(info__has_large_transfers),
        cmocka_unit_test(debug__has_each_decision_redistribution_and_collective),
        cmocka_unit_test(lower_levels__are_silent),
        cmocka_unit_test(warnings__are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
