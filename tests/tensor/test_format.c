/* SPDX-License-Identifier: Apache-2.0
 *
 * Tensors as text: some texts of NumPy (test_numpy_text.py compares many more if NumPy is installed), and dtypes and
 * options that NumPy does not have.
 */
#include "tensor/tensors.h"

#include <math.h>
#include <stdlib.h>

static void assert_text(dt_ctx *ctx, dt_tensor *t, const char *expected) {
    char *text = dt_format(t);
    if (!text)
        fail_msg("%s", dt_error_text(ctx));
    if (strcmp(text, expected) != 0)
        fail_msg("expected\n%s\ngot\n%s", expected, text);
    free(text);
    dt_drop(t);
}

static dt_tensor *f64s(dt_ctx *ctx, int64_t n, const double *numbers) {
    return dt_from_memory(ctx, numbers, TENSORS_SHAPE(1, &n), DT_F64);
}
#define F64S(ctx, ...) f64s(ctx, sizeof((double[]){__VA_ARGS__}) / sizeof(double), (double[]){__VA_ARGS__})

static void texts__are_those_of_numpy(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    assert_text(ctx, dt_view(dt_arange(ctx, 0, 3, 0.25), DT_SHAPE(3, 4)),
                "[[0.   0.25 0.5  0.75]\n [1.   1.25 1.5  1.75]\n [2.   2.25 2.5  2.75]]");
    assert_text(ctx, F64S(ctx, 1.5, (double)NAN, -(double)INFINITY), "[ 1.5  nan -inf]");
    assert_text(ctx, F64S(ctx, 1e10, 1.5), "[1.0e+10 1.5e+00]");
    assert_text(ctx, F64S(ctx, 0.1, 1.0 / 3, 1234.5), "[1.00000000e-01 3.33333333e-01 1.23450000e+03]");
    assert_text(ctx, F64S(ctx, -0.0, 0.5), "[-0.   0.5]");
    assert_text(ctx, F64S(ctx, 5e-324, 1), "[5.e-324 1.e+000]");
    assert_text(ctx, F64S(ctx, 1.23456789123, 2), "[1.23456789 2.        ]");
    assert_text(ctx, dt_scalar(ctx, 1e16, .dtype = DT_F64), "1e+16");
    assert_text(ctx, dt_scalar(ctx, 0.1), "0.1");
    assert_text(ctx, dt_scalar(ctx, 3), "3.0");
    assert_text(ctx, dt_scalar(ctx, -7, .dtype = DT_I8), "-7");
    assert_text(ctx, dt_scalar(ctx, 1, .dtype = DT_BOOL), "True");
    assert_text(ctx, dt_scalar(ctx, 1, .dtype = DT_C64), "(1+0j)");
    assert_text(ctx, dt_from_memory(ctx, (float[]){0, 2}, DT_SHAPE(), DT_C64), "2j");
    assert_text(ctx, dt_from_memory(ctx, (float[]){-0.0f, 2}, DT_SHAPE(), DT_C64), "(-0+2j)");
    assert_text(ctx, dt_from_memory(ctx, (double[]){1, 2, -3.25, -0.001}, DT_SHAPE(2), DT_C128),
                "[ 1.  +2.e+00j -3.25-1.e-03j]");
    assert_text(ctx, dt_from_memory(ctx, "\1\0\1", DT_SHAPE(3), DT_BOOL), "[ True False  True]");
    assert_text(ctx, dt_arange(ctx, 0, 1001, 1, .dtype = DT_I32), "[   0    1    2 ...  998  999 1000]");
    assert_text(ctx, dt_view(dt_arange(ctx, 0, 2000, 1, .dtype = DT_I64), DT_SHAPE(2, 1000)),
                "[[   0    1    2 ...  997  998  999]\n [1000 1001 1002 ... 1997 1998 1999]]");
    assert_text(ctx, dt_view(dt_arange(ctx, 0, 4, 1, .dtype = DT_U8), DT_SHAPE(2, 1, 2)), "[[[0 1]]\n\n [[2 3]]]");
    assert_text(ctx, dt_transpose(dt_view(dt_arange(ctx, 0, 6, 1, .dtype = DT_I16), DT_SHAPE(2, 3)), 0, 1),
                "[[0 3]\n [1 4]\n [2 5]]");
    assert_text(ctx, dt_zeros(ctx, DT_SHAPE(2, 0, 3)), "[]");
    assert_text(ctx, dt_zeros(ctx, DT_SHAPE(0)), "[]");
    int64_t min = INT64_MIN;
    assert_text(ctx, dt_from_memory(ctx, &min, DT_SHAPE(1), DT_I64), "[-9223372036854775808]");
    assert_int_equal(dt_close(ctx), 0);
}

/* bf16 has 2 to 3 decimal digits. */
static void bf16__has_its_own_precision(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    assert_text(ctx, dt_scalar(ctx, 0.1, .dtype = DT_BF16), "0.1");
    assert_text(ctx, dt_scalar(ctx, 3.14159, .dtype = DT_BF16), "3.14");
    assert_text(ctx, dt_arange(ctx, 0, 1, 0.25, .dtype = DT_BF16), "[0.   0.25 0.5  0.75]");
    assert_text(ctx, dt_full(ctx, DT_SHAPE(1), 300, .dtype = DT_BF16), "[3.e+02]");
    assert_int_equal(dt_close(ctx), 0);
}

static void options__change_the_format(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    dt_tensor *t = dt_arange(ctx, 0, 10, 1, .dtype = DT_I32);
    char *text = dt_format(t, .threshold = DT_INT(5), .edge_items = DT_INT(2));
    assert_string_equal(text, "[0 1 ... 8 9]");
    free(text);
    text = dt_format(t, .width = DT_INT(12));
    assert_string_equal(text, "[0 1 2 3 4\n 5 6 7 8 9]");
    free(text);
    text = dt_format(dt_scalar(ctx, 1.0 / 3), .precision = DT_INT(2)); /* a scalar is printed with all its digits */
    assert_string_equal(text, "0.33333334");
    free(text);
    text = dt_format(dt_full(ctx, DT_SHAPE(1), 2.75), .precision = DT_INT(0)); /* 0 is a value, not the default */
    assert_string_equal(text, "[3.]");
    free(text);
    text = dt_format(dt_full(ctx, DT_SHAPE(1), 1.0 / 3), .precision = DT_INT(2));
    assert_string_equal(text, "[0.33]");
    free(text);
    assert_null(dt_format(NULL));
    assert_int_equal(dt_print(NULL), DT_ERR_VALUE);
    assert_int_equal(dt_close(ctx), 0);
}

/* Decimal points in a locale with decimal commas. */
static void text__does_not_depend_on_the_locale(void **state) {
    (void)state;
    test_commas_begin();
    dt_ctx *ctx = dt_init(NULL);
    assert_text(ctx, F64S(ctx, 1.5, 0.1), "[1.5 0.1]");
    assert_text(ctx, F64S(ctx, 1.5e10, 0.1), "[1.5e+10 1.0e-01]");
    assert_int_equal(dt_close(ctx), 0);
    test_commas_end();
}

static void fake__reports_that_there_is_no_data(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(&(dt_init_options){.transport = "fake", .world = 4, .rank = 1});
    assert_text(ctx, dt_zeros(ctx, DT_SHAPE(3)), "f32[3]\n(no data)");
    assert_int_equal(dt_close(ctx), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts__are_those_of_numpy),           cmocka_unit_test(bf16__has_its_own_precision),
        cmocka_unit_test(options__change_the_format),          cmocka_unit_test(text__does_not_depend_on_the_locale),
        cmocka_unit_test(fake__reports_that_there_is_no_data),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
