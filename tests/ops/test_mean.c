/* SPDX-License-Identifier: Apache-2.0
 *
 * The mean of nothing: NaN, of complex numbers in both parts.
 */
#include "dispatch/calls.h"

#include <math.h>

static void mean__of_nothing_is_nan(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    dt_tensor *real = dt_mean(dt_zeros(ctx, DT_SHAPE(0)));
    assert_true(isnan(dt_item(real)));
    dt_tensor *mean = dt_mean(dt_zeros(ctx, DT_SHAPE(0, 2), .dtype = DT_C64), .dim = DT_DIMS(0));
    assert_non_null(mean);
    for (int i = 0; i < 4; i++) {
        const double part = (double)((const float *)mean->data)[i];
        if (!isnan(part))
            fail_msg("part %d: expected nan, got %g", i, part);
    }
    assert_int_equal(dt_close(ctx), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(mean__of_nothing_is_nan)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
