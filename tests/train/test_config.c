/* SPDX-License-Identifier: Apache-2.0
 *
 * Settings of models as JSON: paths, kinds, and files that are refused.
 */
#include "support/ranks.h"

#include "dtensor/dtensor.h"

#include <string.h>
#include <unistd.h>

static char folder[256], path[300];

static dt_config *open_text(dt_ctx *ctx, const char *text) {
    FILE *file = fopen(path, "w");
    assert_true(file && fputs(text, file) >= 0 && !fclose(file));
    return dt_config_open(ctx, path);
}

static void config__has_paths_and_kinds(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    const dt_config *c =
        open_text(ctx, "{\"a\": 12, \"rope\": {\"theta\": 5e5, \"in\": {\"x\": \"y\\n\"}, \"none\": null},"
                       " \"tied\": true, \"list\": [1, {\"b\": 2}], \"name\": \"llama\", \"e\": {}}");
    assert_non_null(c);
    assert_int_equal(dt_config_n(c), 7);
    assert_string_equal(dt_config_key(c, 0), "a");
    assert_null(dt_config_key(c, 7));
    assert_int_equal(dt_config_int(c, "a", 1), 12);
    assert_true(dt_config_real(c, "rope.theta", 1) == 5e5);
    assert_int_equal(dt_config_int(c, "rope.theta", 1), 500000);
    assert_string_equal(dt_config_text(c, "rope.in.x"), "y\n");
    assert_string_equal(dt_config_text(c, "list"), "[1, {\"b\": 2}]");
    assert_null(dt_config_text(c, "rope.none"));
    assert_true(dt_config_real(c, "rope.none", 3) == 3 && dt_config_real(c, "rope", 4) == 4);
    assert_true(dt_config_bool(c, "tied", false) && !dt_config_bool(c, "untied", false));
    assert_false(dt_failed(ctx));
    /* What is of another kind is an error, and the default is returned. */
    assert_true(dt_config_real(c, "name", 3) == 3 && dt_failed(ctx));
    assert_non_null(strstr(dt_error_text(ctx), "config_real: name: expected a number, got llama"));
    assert_int_equal(dt_error_clear(ctx), DT_OK);
    assert_true(dt_config_int(c, "tied", 3) == 3 && dt_failed(ctx));
    assert_int_equal(dt_error_clear(ctx), DT_OK);
    assert_true(dt_config_bool(c, "a", true) && dt_failed(ctx));
    assert_int_equal(dt_error_clear(ctx), DT_OK);
    assert_int_equal(dt_close(ctx), 0);
}

static void config__refuses_malformed_files(void **state) {
    (void)state;
    static const struct {
        const char *text, *reason;
    } rows[] = {{"", "expected an object, got the end of the text"},
                {"[1]", "expected an object, got '['"},
                {"{\"a\": 1, \"a\": 2}", "the key 'a' occurs twice"},
                {"{\"a\": {\"b\": 1}, \"a\": {\"b\": 2}}", "the key 'a.b' occurs twice"},
                {"{\"a\": 1} x", "text follows the value"},
                {"{\"a\": 1e}", "expected a digit"},
                {"{\"a\": {\"b\": tru}}", "expected true"}};
    dt_ctx *ctx = dt_init(NULL);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_null(open_text(ctx, rows[i].text));
        if (!strstr(dt_error_text(ctx), rows[i].reason))
            fail_msg("%s: expected '%s', got '%s'", rows[i].text, rows[i].reason, dt_error_text(ctx));
        assert_int_equal(dt_error_clear(ctx), DT_OK);
    }
    assert_null(dt_config_open(ctx, "/dev/zero"));
    assert_non_null(strstr(dt_error_text(ctx), "expected a regular file"));
    assert_int_equal(dt_error_clear(ctx), DT_OK);
    assert_null(dt_config_open(ctx, NULL));
    assert_int_equal(dt_error_clear(ctx), DT_OK);
    assert_int_equal(dt_config_n(NULL), 0);
    assert_null(dt_config_text(NULL, "a"));
    assert_int_equal(dt_close(ctx), 0);
}

/* JSON has decimal points, also in a program whose locale has decimal commas. */
static void config__does_not_depend_on_the_locale(void **state) {
    (void)state;
    test_commas_begin();
    dt_ctx *ctx = dt_init(NULL);
    const dt_config *c = open_text(ctx, "{\"eps\": 0.5, \"theta\": 1.25e2, \"n\": 3.0}");
    assert_true(dt_config_real(c, "eps", 1) == 0.5 && dt_config_real(c, "theta", 1) == 125);
    assert_int_equal(dt_config_int(c, "n", 1), 3);
    assert_int_equal(dt_close(ctx), 0);
    test_commas_end();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(config__does_not_depend_on_the_locale),
        cmocka_unit_test(config__has_paths_and_kinds),
        cmocka_unit_test(config__refuses_malformed_files),
    };
    if (!test_make_folder(folder, sizeof folder))
        return 1;
    (void)snprintf(path, sizeof path, "%s/config.json", folder);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    (void)unlink(path);
    (void)test_remove_folder(folder);
    return failed;
}
