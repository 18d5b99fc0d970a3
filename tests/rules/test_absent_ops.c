/* SPDX-License-Identifier: Apache-2.0
 *
 * Names of PyTorch functions without an op here: each is refused as such, without a suggestion of an op that is spelled
 * like it. A name that has become an op leaves the list.
 */
#include "support/check.h"

#include "ops/ops.h"
#include "rules/absent_ops.h"
#include "rules/rules.h"

#include <stdio.h>
#include <string.h>

static dt_ctx *open_ops(void) {
    dt_ctx *ctx = dt__ctx_new(NULL);
    assert_int_equal(dt__ops_open(ctx), DT_OK);
    return ctx;
}

static void assert_refused(dt_ctx *ctx, const char *name, const char *text) {
    if (dt__op_find(ctx, name))
        fail_msg("%s is an op: remove it from the list in absent_ops.c", name);
    assert_int_equal(dt_error_status(ctx), DT_ERR_OP);
    assert_string_equal(dt_error_text(ctx), text);
    dt_error_clear(ctx);
}

static void absent_ops__are_refused_without_a_suggestion(void **state) {
    (void)state;
    dt_ctx *ctx = open_ops();
    int n = 0;
    for (; dt__absent_ops[n]; n++) {
        const char *name = dt__absent_ops[n];
        char text[160];
        snprintf(text, sizeof text, "there is no op '%s': PyTorch's %s does not exist in dtensor yet", name, name);
        assert_refused(ctx, name, text);
        if (n > 0 && strcmp(dt__absent_ops[n - 1], name) >= 0)
            fail_msg("%s is out of order", name);
    }
    assert_in_range(n, 100, 1000);
    dt__ctx_free(ctx);
}

static void absent_ops__are_found_by_their_beginnings(void **state) {
    (void)state;
    dt_ctx *ctx = open_ops();
    assert_refused(ctx, "grid", "there is no op 'grid': PyTorch's grid_sample does not exist in dtensor yet");
    assert_refused(ctx, "max_unpool",
                   "there is no op 'max_unpool': PyTorch's max_unpool2d does not exist in dtensor yet");
    assert_refused(ctx, "con", "there is no op 'con'; did you mean conj?"); /* too short to be a beginning */
    dt__ctx_free(ctx);
}

static void near_misses__still_have_suggestions(void **state) {
    (void)state;
    dt_ctx *ctx = open_ops();
    assert_refused(ctx, "sotfmax", "there is no op 'sotfmax'; did you mean softmax?");
    assert_refused(ctx, "nonsense", "there is no op 'nonsense'");
    assert_refused(ctx, "", "there is no op ''");
    dt__ctx_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(absent_ops__are_refused_without_a_suggestion),
        cmocka_unit_test(absent_ops__are_found_by_their_beginnings),
        cmocka_unit_test(near_misses__still_have_suggestions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
