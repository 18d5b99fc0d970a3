/* SPDX-License-Identifier: Apache-2.0
 *
 * The default eps of rms_norm: that of the dtype that is computed in, which is f32 for half-precision numbers.
 */
#include "dispatch/calls.h"

static void rms_norm__of_small_half_precision_numbers_has_a_mean_square_of_one(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    static const dt_dtype dtypes[] = {DT_F16, DT_BF16, DT_F32, DT_F64};
    for (int i = 0; i < 4; i++) {
        dt_tensor *x = dt_full(ctx, DT_SHAPE(2, 4), 0x1p-6, .dtype = dtypes[i]);
        const double got = calls_element(dt_rms_norm(x, DT_SHAPE(4)), 0);
        if (!(got > 0.99 && got < 1.01))
            fail_msg("%s: expected 1, got %g", dt_dtype_name(dtypes[i]), got);
    }
    assert_int_equal(dt_close(ctx), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rms_norm__of_small_half_precision_numbers_has_a_mean_square_of_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
