/* SPDX-License-Identifier: Apache-2.0 */
#include "support/check.h"

#include "base/ctx.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void ctx__keeps_the_first_error_only(void **state) {
    (void)state;
    dt_ctx *ctx = dt__ctx_new(NULL);
    assert_false(dt_failed(ctx));
    assert_int_equal(dt_error_status(ctx), DT_OK);
    assert_string_equal(dt_error_text(ctx), "");
    assert_int_equal(dt__fail(ctx, DT_ERR_SHAPE, "inner sizes %d and %d differ", 3, 5), DT_ERR_SHAPE);
    assert_int_equal(dt__fail(ctx, DT_ERR_MESH, "a later one"), DT_ERR_MESH);
    assert_int_equal(dt__fail_local(ctx, DT_ERR_SYSTEM, "and another"), DT_ERR_SYSTEM);
    assert_true(dt_failed(ctx));
    assert_int_equal(dt_error_status(ctx), DT_ERR_SHAPE);
    assert_string_equal(dt_error_text(ctx), "inner sizes 3 and 5 differ");
    dt__ctx_free(ctx);
}

static void ctx__long_texts_are_truncated(void **state) {
    (void)state;
    static char text[DT__ERROR_TEXT_BYTES + 1];
    memset(text, 'x', sizeof text - 1);
    for (size_t length = DT__ERROR_TEXT_BYTES - 2; length <= DT__ERROR_TEXT_BYTES; length++) {
        dt_ctx *ctx = dt__ctx_new(NULL);
        dt__fail(ctx, DT_ERR_VALUE, "%.*s", (int)length, text);
        bool fits = length < DT__ERROR_TEXT_BYTES;
        size_t kept = strlen(dt_error_text(ctx));
        assert_int_equal(kept, fits ? length : DT__ERROR_TEXT_BYTES - 1);
        assert_string_equal(dt_error_text(ctx) + kept - 4, fits ? "xxxx" : "x...");
        dt__ctx_free(ctx);
    }
}

static void ctx__a_text_that_cannot_be_formatted_shows_its_format(void **state) {
    (void)state;
    dt_ctx *ctx = dt__ctx_new(NULL);
    dt__fail(ctx, DT_ERR_VALUE, "no dim %ls", L"\x20ac"); /* not in the character set of the C locale */
    assert_string_equal(dt_error_text(ctx), "no dim %ls");
    dt__ctx_free(ctx);
}

static void ctx__null_has_failed(void **state) {
    (void)state;
    assert_true(dt_failed(NULL));
    assert_int_equal(dt_error_status(NULL), DT_ERR_STATE);
    assert_string_equal(dt_error_text(NULL), "there is no context");
    assert_int_equal(dt__fail(NULL, DT_ERR_MESH, "not stored"), DT_ERR_MESH);
    assert_int_equal(dt_error_set(NULL, DT_ERR_VALUE, "not stored either"), DT_ERR_VALUE);
    assert_int_equal(dt_rank(NULL), 0);
    assert_int_equal(dt_world(NULL), 0);
    assert_int_equal(dt_threads(NULL), 0);
    dt__ctx_free(NULL);
}

static void ctx__without_a_launch_is_a_world_of_one(void **state) {
    (void)state;
    dt_ctx *ctx = dt__ctx_new(NULL);
    assert_int_equal(dt_rank(ctx), 0);
    assert_int_equal(dt_world(ctx), 1);
    assert_int_equal(dt_threads(ctx), 1);
    dt__ctx_free(ctx);
}

static int n_aborts;
static dt_status abort_status;
static char abort_text[64];
static void count_abort(dt_ctx *ctx, dt_status status, const char *text) {
    (void)ctx;
    n_aborts++;
    abort_status = status;
    snprintf(abort_text, sizeof abort_text, "%s", text);
}

static void ctx__a_local_error_aborts_even_after_an_agreed_one(void **state) {
    (void)state;
    n_aborts = 0;
    dt_ctx *ctx = dt__ctx_new(NULL);
    ctx->on_local_error = count_abort;
    dt__fail_memory(ctx, 64, "a plan");
    assert_int_equal(n_aborts, 1);
    assert_int_equal(abort_status, DT_ERR_MEMORY);
    assert_string_equal(abort_text, "out of memory: 64 bytes for a plan");
    dt__ctx_free(ctx);

    ctx = dt__ctx_new(NULL);
    ctx->on_local_error = count_abort;
    dt__fail(ctx, DT_ERR_SHAPE, "the same on every rank");
    assert_int_equal(n_aborts, 1);
    dt_error_set_site(ctx, DT_ERR_SYSTEM, &(dt_site){"save.c", 7}, "disk %s is full", "/data");
    assert_int_equal(n_aborts, 2);
    assert_string_equal(abort_text, "disk /data is full (at save.c:7)");
    assert_error_contains(ctx, DT_ERR_SHAPE, "the same on every rank");
    dt__ctx_free(ctx);
}

static void ctx__users_can_set_errors(void **state) {
    (void)state;
    dt_ctx *ctx = dt__ctx_new(NULL);
    assert_int_equal(dt_error_set(ctx, DT_ERR_SYSTEM, "cannot read %s", "weights.bin"), DT_ERR_SYSTEM);
    assert_error_contains(ctx, DT_ERR_SYSTEM, "cannot read weights.bin");
    dt__ctx_free(ctx);
}

static void ctx__setting_an_error_with_a_status_of_success_is_an_error(void **state) {
    (void)state;
    static const dt_status statuses[] = {DT_OK, DT_IN_PROGRESS};
    for (int i = 0; i < 2; i++) {
        dt_ctx *ctx = dt__ctx_new(NULL);
        assert_int_equal(dt_error_set(ctx, statuses[i], "all is well"), DT_ERR_VALUE);
        assert_error_contains(ctx, DT_ERR_VALUE, dt_status_name(statuses[i]));
        dt__ctx_free(ctx);
    }
}

/* The output of fn on standard error, with its result in *result. */
static const char *capture_stderr(int (*fn)(dt_ctx *), dt_ctx *ctx, int *result) {
    static char text[512];
    FILE *file = tmpfile();
    fflush(stderr);
    int saved = dup(STDERR_FILENO);
    dup2(fileno(file), STDERR_FILENO);
    *result = fn(ctx);
    fflush(stderr);
    dup2(saved, STDERR_FILENO);
    close(saved);
    rewind(file);
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    return text;
}

static void report__prints_the_first_error_and_returns_1(void **state) {
    (void)state;
    int result = -1;
    dt_ctx *ctx = dt__ctx_new(NULL);
    assert_string_equal(capture_stderr(dt_report, ctx, &result), "");
    assert_int_equal(result, 0);
    ctx->rank = 2;
    dt__fail(ctx, DT_ERR_SHAPE, "linear: inner sizes 3 and 5 differ");
    assert_string_equal(capture_stderr(dt_report, ctx, &result),
                        "rank 2: shape: linear: inner sizes 3 and 5 differ\n");
    assert_int_equal(result, 1);
    assert_string_equal(capture_stderr(dt_report, NULL, &result), "dtensor: there is no context\n");
    assert_int_equal(result, 1);
    dt__ctx_free(ctx);
}

static void report__prints_the_status_once(void **state) {
    (void)state;
    int result = -1;
    dt_ctx *ctx = dt__ctx_new(NULL);
    dt__fail(ctx, DT_ERR_MESH, "mesh: 4 ranks for a world of 2");
    assert_string_equal(capture_stderr(dt_report, ctx, &result), "rank 0: mesh: 4 ranks for a world of 2\n");
    assert_string_equal(dt_error_text(ctx), "mesh: 4 ranks for a world of 2");
    dt__ctx_free(ctx);
    ctx = dt__ctx_new(NULL);
    dt__fail(ctx, DT_ERR_MESH, "meshes differ");
    assert_string_equal(capture_stderr(dt_report, ctx, &result), "rank 0: mesh: meshes differ\n");
    dt__ctx_free(ctx);
}

struct log_record {
    int n_lines;
    dt_log_level level;
    char text[256];
};

static void record_line(void *user, dt_log_level level, const char *log_record) {
    struct log_record *last = user;
    last->n_lines++;
    last->level = level;
    snprintf(last->text, sizeof last->text, "%s", log_record);
}

static void log__levels_above_the_selected_one_are_not_logged(void **state) {
    (void)state;
    for (dt_log_level max_level = DT_LOG_ERROR; max_level <= DT_LOG_DEBUG; max_level++) {
        struct log_record last = {0};
        dt_ctx *ctx = dt__ctx_new(&(dt_init_options){.log = record_line, .log_user = &last, .log_level = max_level});
        for (dt_log_level level = DT_LOG_ERROR; level <= DT_LOG_DEBUG; level++)
            dt__log(ctx, level, "line %d", level);
        assert_int_equal(last.n_lines, max_level);
        assert_int_equal(last.level, max_level);
        dt__ctx_free(ctx);
    }
}

static void log__environment_is_the_default(void **state) {
    (void)state;
    static const struct {
        const char *value;
        dt_log_level level;
    } rows[] = {{"off", DT_LOG_OFF},     {"error", DT_LOG_ERROR}, {"warn", DT_LOG_WARN}, {"info", DT_LOG_INFO},
                {"debug", DT_LOG_DEBUG}, {"", DT_LOG_WARN},       {"loud", DT_LOG_WARN}, {NULL, DT_LOG_WARN}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].value)
            setenv("DTENSOR_LOG", rows[i].value, 1);
        else
            unsetenv("DTENSOR_LOG");
        dt_ctx *ctx = dt__ctx_new(NULL);
        assert_int_equal(ctx->log_level, rows[i].level);
        dt__ctx_free(ctx);
        ctx = dt__ctx_new(&(dt_init_options){.log_level = DT_LOG_WARN});
        assert_int_equal(ctx->log_level, DT_LOG_WARN);
        dt__ctx_free(ctx);
    }
}

static void log__errors_are_logged_with_the_name_of_their_status(void **state) {
    (void)state;
    struct log_record last = {0};
    dt_ctx *ctx = dt__ctx_new(&(dt_init_options){.log = record_line, .log_user = &last, .log_level = DT_LOG_ERROR});
    dt__fail(ctx, DT_ERR_MESH, "no dim %s", "cp");
    assert_string_equal(last.text, "mesh: no dim cp");
    dt__fail(ctx, DT_ERR_MESH, "not kept, not logged");
    assert_int_equal(last.n_lines, 1);
    dt__ctx_free(ctx);
}

static int log_a_warning(dt_ctx *ctx) {
    dt__log((dt_ctx *)(uintptr_t)ctx, DT_LOG_WARN, "%d of %d", 1, 2);
    return 0;
}

static void log__is_written_to_standard_error_by_default(void **state) {
    (void)state;
    int result;
    dt_ctx *ctx = dt__ctx_new(&(dt_init_options){.log_level = DT_LOG_WARN});
    ctx->rank = 3;
    assert_string_equal(capture_stderr(log_a_warning, ctx, &result), "rank 3: warn: 1 of 2\n");
    dt__ctx_free(ctx);
    ctx = dt__ctx_new(NULL);
    assert_string_equal(capture_stderr(log_a_warning, ctx, &result), "rank 0: warn: 1 of 2\n");
    dt__ctx_free(ctx);
    setenv("DTENSOR_LOG", "off", 1);
    ctx = dt__ctx_new(NULL);
    assert_string_equal(capture_stderr(log_a_warning, ctx, &result), "");
    dt__ctx_free(ctx);
    unsetenv("DTENSOR_LOG");
}

/* dt_report prints errors; a program that handles an error prints nothing. */
static void log__errors_are_not_logged_by_default(void **state) {
    (void)state;
    struct log_record last = {0};
    dt_ctx *ctx = dt__ctx_new(&(dt_init_options){.log = record_line, .log_user = &last});
    dt__fail(ctx, DT_ERR_MESH, "no dim %s", "cp");
    dt__log(ctx, DT_LOG_INFO, "details");
    assert_int_equal(last.n_lines, 0);
    dt__log(ctx, DT_LOG_WARN, "slow");
    assert_int_equal(last.n_lines, 1);
    dt__ctx_free(ctx);
}

static int n_freed;
static int freed[DT__N_SLOTS];
static void free_slot(dt_ctx *ctx, void *slot) {
    assert_false(dt_failed(ctx));
    freed[n_freed++] = *(int *)slot;
}

static void ctx__frees_its_slots_from_the_last_to_the_first(void **state) {
    (void)state;
    int names[DT__N_SLOTS];
    n_freed = 0;
    dt_ctx *ctx = dt__ctx_new(NULL);
    for (int i = 0; i < DT__N_SLOTS; i++) {
        names[i] = i;
        ctx->slots[i].state = &names[i];
        ctx->slots[i].free_state = free_slot;
    }
    ctx->slots[0].free_state = NULL; /* an empty slot is skipped */
    dt__ctx_free(ctx);
    assert_int_equal(n_freed, DT__N_SLOTS - 1);
    for (int i = 0; i < n_freed; i++)
        assert_int_equal(freed[i], DT__N_SLOTS - 1 - i);
}

/* The allocator gets the exact size of every block, also of empty ones. */
static void memory__old_sizes_are_exact(void **state) {
    (void)state;
    test_memory memory = {0};
    dt_ctx *ctx = dt__ctx_new(&(dt_init_options){.allocator = test_memory_allocator(&memory)});
    static const size_t sizes[] = {0, 1, 0, 100, 7, 0};
    char *block = NULL;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        block = dt__resize(ctx, block, i ? sizes[i - 1] : 0, sizes[i]);
        assert_non_null(block);
        memset(block, 'x', sizes[i]);
    }
    dt__free(ctx, block, 0);
    void *nothing = dt__alloc(ctx, 0);
    assert_non_null(nothing);
    dt__free(ctx, nothing, 0);
    dt__free(ctx, NULL, 10);
    char *zeros = dt__alloc_zeroed(ctx, 100);
    for (int i = 0; i < 100; i++)
        assert_int_equal(zeros[i], 0);
    dt__free(ctx, zeros, 100);
    dt__ctx_free(ctx);
    assert_int_equal(memory.n_live, 0);
    assert_int_equal(memory.live_bytes, 0);
    assert_false(memory.wrong_size);
}

static void memory__failed_resize_returns_null_and_keeps_the_old_block(void **state) {
    (void)state;
    test_memory memory = {.fail_at = 1};
    assert_null(dt__ctx_new(&(dt_init_options){.allocator = test_memory_allocator(&memory)}));
    memory = (test_memory){.fail_at = 3};
    dt_ctx *ctx = dt__ctx_new(&(dt_init_options){.allocator = test_memory_allocator(&memory)});
    char *block = dt__alloc(ctx, 8);
    memcpy(block, "seventy", 8);
    assert_null(dt__resize(ctx, block, 8, 1000));
    assert_string_equal(block, "seventy");
    assert_false(dt_failed(ctx)); /* the caller reports the error, with the purpose of the memory */
    dt__free(ctx, block, 8);
    dt__ctx_free(ctx);
    assert_int_equal(memory.n_live, 0);
}

static dt_status return_status(dt_status status) { return status; }
static dt_status try_status(dt_status status, bool *continued) {
    DT__TRY(return_status(status));
    *continued = true;
    return DT_OK;
}

static void ctx__try_returns_any_other_status_than_ok(void **state) {
    (void)state;
    bool continued = false;
    assert_int_equal(try_status(DT_ERR_PEER, &continued), DT_ERR_PEER);
    assert_int_equal(try_status(DT_IN_PROGRESS, &continued), DT_IN_PROGRESS);
    assert_false(continued);
    assert_int_equal(try_status(DT_OK, &continued), DT_OK);
    assert_true(continued);
}

static void *call_from_a_thread(void *arg) {
    dt_ctx *ctx = arg;
    static const dt_site site = {"second.c", 7};
    DT__ENTER(ctx, "second", &site);
    return NULL;
}

static void call_in_thread(dt_ctx *ctx) {
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, call_from_a_thread, ctx), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
}

static void call_nested(dt_ctx *ctx) { DT__ENTER(ctx, "nested", NULL); }

static void call_meanwhile(dt_ctx *ctx) {
    static const dt_site site = {"first.c", 3};
    DT__ENTER(ctx, "first", &site);
    call_nested(ctx);
    call_in_thread(ctx);
}

static void ctx__refuses_a_second_thread_when_calls_are_checked(void **state) {
    (void)state;
    dt_ctx *ctx = dt__ctx_new(&(dt_init_options){0});
    call_meanwhile(ctx);
    assert_int_equal(dt_error_status(ctx), DT_OK);
    ctx->checks_calls = true;
    call_in_thread(ctx); /* one after the other */
    call_from_a_thread(ctx);
    call_in_thread(ctx);
    assert_int_equal(dt_error_status(ctx), DT_OK);
    call_meanwhile(ctx);
    assert_int_equal(dt_error_status(ctx), DT_ERR_STATE);
    assert_string_equal(dt_error_text(ctx), "first: second (at second.c:7) was called by another thread during this "
                                            "call: a context belongs to one thread at a time (at first.c:3)");
    dt__ctx_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ctx__keeps_the_first_error_only),
        cmocka_unit_test(ctx__long_texts_are_truncated),
        cmocka_unit_test(ctx__a_text_that_cannot_be_formatted_shows_its_format),
        cmocka_unit_test(ctx__null_has_failed),
        cmocka_unit_test(ctx__without_a_launch_is_a_world_of_one),
        cmocka_unit_test(ctx__a_local_error_aborts_even_after_an_agreed_one),
        cmocka_unit_test(ctx__users_can_set_errors),
        cmocka_unit_test(ctx__setting_an_error_with_a_status_of_success_is_an_error),
        cmocka_unit_test(report__prints_the_first_error_and_returns_1),
        cmocka_unit_test(report__prints_the_status_once),
        cmocka_unit_test(log__levels_above_the_selected_one_are_not_logged),
        cmocka_unit_test(log__environment_is_the_default),
        cmocka_unit_test(log__errors_are_logged_with_the_name_of_their_status),
        cmocka_unit_test(log__is_written_to_standard_error_by_default),
        cmocka_unit_test(log__errors_are_not_logged_by_default),
        cmocka_unit_test(ctx__frees_its_slots_from_the_last_to_the_first),
        cmocka_unit_test(memory__old_sizes_are_exact),
        cmocka_unit_test(memory__failed_resize_returns_null_and_keeps_the_old_block),
        cmocka_unit_test(ctx__try_returns_any_other_status_than_ok),
        cmocka_unit_test(ctx__refuses_a_second_thread_when_calls_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
