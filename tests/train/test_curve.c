/* SPDX-License-Identifier: Apache-2.0
 *
 * Curves of numbers as text and as SVG, compared with texts: usual numbers, none, one, negative, infinite and NaN ones,
 * and those whose sums or differences are beyond the range of a double.
 */
#include "support/ranks.h"

#include "dtensor/progress.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define TEXT_OF(rows, columns, ...)                                                                                  \
    text_of((int64_t)(sizeof((const double[]){__VA_ARGS__}) / sizeof(double)), (const double[]){__VA_ARGS__}, rows,  \
            columns)

static const char *text_of(int64_t n, const double *values, int rows, int columns) {
    static char text[8000];
    const size_t length = dt_curve_text(n, values, rows, columns, sizeof text, text);
    assert_int_equal(length, strlen(text));
    return text;
}

static void text__has_bars(void **state) {
    (void)state;
    assert_string_equal(TEXT_OF(2, 4, 4, 3, 2, 1), "  4.00 |█▄  \n"
                                                   "  2.00 |███▄\n");
    /* eighths of a row */
    assert_string_equal(TEXT_OF(1, 9, 0, 1, 2, 3, 4, 5, 6, 7, 8), "  8.00 | ▁▂▃▄▅▆▇█\n");
    /* means of two, and columns without a number of their own */
    assert_string_equal(TEXT_OF(1, 2, 1, 3, 0, 2), "  2.00 |█▄\n");
    assert_string_equal(TEXT_OF(1, 6, 1, 2), "  2.00 |▄▄▄███\n");
    assert_string_equal(TEXT_OF(2, 3, 5), "  5.00 |███\n  2.50 |███\n");
}

static void text__has_ten_rows_of_64_by_default(void **state) {
    (void)state;
    const char *text = TEXT_OF(0, 0, 3);
    for (int r = 0; r < 10; r++) {
        char label[20];
        snprintf(label, sizeof label, "%6.2f |", 0.3 * (10 - r));
        assert_memory_equal(text, label, strlen(label));
        assert_int_equal(strcspn(text, "\n"), 8 + 64 * 3);
        text += 8 + 64 * 3 + 1;
    }
    assert_string_equal(text, "");
}

static void text__of_numbers_that_are_not_finite(void **state) {
    (void)state;
    assert_string_equal(TEXT_OF(2, 4, 2, NAN, INFINITY, 1), "  2.00 |█   \n  1.00 |█??█\n");
    assert_string_equal(TEXT_OF(1, 2, 2, NAN, -INFINITY, 4), "  4.00 |▄█\n");
    assert_string_equal(TEXT_OF(2, 3, NAN), "  1.00 |   \n  0.50 |???\n");
    assert_string_equal(TEXT_OF(2, 3, 0), "  1.00 |   \n  0.50 |   \n");
}

static void text__of_numbers_that_are_negative_large_or_small(void **state) {
    (void)state;
    assert_string_equal(TEXT_OF(2, 3, -1, 0, 1), "  1.00 |  █\n  0.00 | ██\n");
    assert_string_equal(TEXT_OF(2, 2, -4, -2), "  0.00 |  \n -2.00 | █\n");
    assert_string_equal(TEXT_OF(2, 3, 2000, 1000, 0), "  2.00e+03 |█  \n  1.00e+03 |██ \n");
    assert_string_equal(TEXT_OF(1, 2, 0.01, 0.005), "  1.00e-02 |█▄\n");
    assert_string_equal(TEXT_OF(2, 2, -DBL_MAX, DBL_MAX), " 1.80e+308 | █\n  0.00e+00 | █\n");
    assert_string_equal(TEXT_OF(1, 1, DBL_MAX, DBL_MAX, DBL_MAX), " 1.80e+308 |█\n");
}

static void text__without_anything_to_draw(void **state) {
    (void)state;
    const double value = 1;
    char text[4] = "old";
    assert_string_equal(text_of(0, &value, 2, 3), "");
    assert_string_equal(text_of(-1, &value, 2, 3), "");
    assert_string_equal(text_of(0, NULL, 2, 3), "");
    assert_string_equal(text_of(1, NULL, 2, 3), "");
    assert_string_equal(text_of(1, &value, -1, 3), "");
    assert_string_equal(text_of(1, &value, 2, -3), "");
    assert_int_equal(dt_curve_text(1, &value, 1, 1, 0, NULL), 12);
    assert_int_equal(dt_curve_text(1, &value, 1, 1, sizeof text, text), 12);
    assert_string_equal(text, "  1");
}

#define HEAD                                                                                                         \
    "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 640 320\" font-family=\"sans-serif\" "                  \
    "font-size=\"12\" fill=\"#333\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
#define TICK(y, text_y, value, x, step)                                                                              \
    "<path d=\"M56 " y "H624\" stroke=\"#ddd\"/><text x=\"48\" y=\"" text_y "\" text-anchor=\"end\">" value          \
    "</text>\n<text x=\"" x "\" y=\"290\" text-anchor=\"middle\">" step "</text>\n"
#define AXES(v0, v1, v2, v3, v4, s0, s1, s2, s3, s4, label)                                                          \
    TICK("272.0", "276.0", v0, "56.0", s0)                                                                           \
    TICK("212.0", "216.0", v1, "198.0", s1)                                                                          \
    TICK("152.0", "156.0", v2, "340.0", s2)                                                                          \
    TICK("92.0", "96.0", v3, "482.0", s3)                                                                            \
    TICK("32.0", "36.0", v4, "624.0", s4)                                                                            \
    "<text x=\"340\" y=\"308\" text-anchor=\"middle\">" label "</text>\n"
#define LINE(d) "<path fill=\"none\" stroke=\"#08519c\" stroke-width=\"1.5\" d=\"" d "\"/>\n</svg>\n"

/* The text of a file that is removed. */
static const char *read_back(const char *path) {
    static char text[8000];
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    (void)fclose(file);
    assert_int_equal(unlink(path), 0);
    return text;
}

/* A context, and a path for a picture. */
typedef struct drawing {
    dt_ctx *ctx;
    char folder[200], path[220];
} drawing;

static int begin_drawing(void **state) {
    static drawing self;
    self.ctx = dt_init(NULL);
    if (!self.ctx || !test_make_folder(self.folder, sizeof self.folder))
        return 1;
    snprintf(self.path, sizeof self.path, "%s/curve.svg", self.folder);
    *state = &self;
    return 0;
}

static int end_drawing(void **state) {
    drawing *self = *state;
    return dt_close(self->ctx) || test_remove_folder(self->folder);
}

static void svg__has_axes_and_a_line(void **state) {
    const drawing *self = *state;
    const double losses[] = {3, 1.5, 0.75};
    assert_int_equal(dt_curve_save_svg(self->ctx, self->path, 3, losses, .title = "a < b & c > d", .first = DT_INT(6),
                                       .label = "batch"),
                     DT_OK);
    assert_string_equal(read_back(self->path), HEAD "<text x=\"56\" y=\"18\">a &lt; b &amp; c &gt; d</text>\n" AXES(
                                                   "0", "0.75", "1.5", "2.2", "3", "6", "7", "8", "8", "9", "batch")
                                                   LINE("M56.0 32.0L340.0 152.0L624.0 212.0"));
}

static void svg__replaces_a_file(void **state) {
    const drawing *self = *state;
    const double values[40] = {1, 2, 3};
    assert_int_equal(dt_curve_save_svg(self->ctx, self->path, 40, values, .title = "long"), DT_OK);
    assert_int_equal(dt_curve_save_svg(self->ctx, self->path, 1, values), DT_OK);
    assert_string_equal(read_back(self->path), HEAD AXES("0", "0.25", "0.5", "0.75", "1", "0", "0", "0", "1", "1",
                                                         "step") LINE("M56.0 32.0h1"));
}

static void svg__has_gaps_where_numbers_are_not_finite(void **state) {
    const drawing *self = *state;
    const double values[] = {1, 2, NAN, 1, INFINITY};
    assert_int_equal(dt_curve_save_svg(self->ctx, self->path, 5, values), DT_OK);
    assert_string_equal(read_back(self->path), HEAD AXES("0", "0.5", "1", "1.5", "2", "0", "1", "2", "4", "5", "step")
                                                   LINE("M56.0 152.0L198.0 32.0M482.0 152.0h1"));
    for (int64_t n = 0; n < 2; n++) {
        assert_int_equal(dt_curve_save_svg(self->ctx, self->path, n, n ? values + 2 : NULL), DT_OK);
        assert_non_null(strstr(read_back(self->path), LINE("")));
    }
}

static void svg__of_numbers_that_are_negative_large_or_small(void **state) {
    const drawing *self = *state;
    const double negative[] = {-1.5, 2}, large[] = {-DBL_MAX, DBL_MAX}, small[] = {0.002, 0.005};
    assert_int_equal(dt_curve_save_svg(self->ctx, self->path, 2, negative), DT_OK);
    assert_string_equal(read_back(self->path), HEAD AXES("-2", "-1", "0", "1", "2", "0", "0", "1", "2", "2", "step")
                                                   LINE("M56.0 242.0L624.0 32.0"));
    assert_int_equal(dt_curve_save_svg(self->ctx, self->path, 2, large), DT_OK);
    assert_string_equal(read_back(self->path), HEAD AXES("-1.8e+308", "-9e+307", "0", "9e+307", "1.8e+308", "0", "0",
                                                         "1", "2", "2", "step") LINE("M56.0 272.0L624.0 32.0"));
    assert_int_equal(dt_curve_save_svg(self->ctx, self->path, 2, small), DT_OK);
    assert_string_equal(read_back(self->path), HEAD AXES("0", "0.0025", "0.005", "0.0075", "0.01", "0", "0", "1", "2",
                                                         "2", "step") LINE("M56.0 224.0L624.0 152.0"));
}

static void svg__does_not_depend_on_the_locale(void **state) {
    const drawing *self = *state;
    const double value = 1.5;
    char text[8];
    test_commas_begin();
    const dt_status status = dt_curve_save_svg(self->ctx, self->path, 1, &value);
    snprintf(text, sizeof text, "%.1f", 0.5);
    test_commas_end();
    assert_int_equal(status, DT_OK);
    assert_string_equal(text, "0,5"); /* the program's locale is as it was */
    assert_non_null(strstr(read_back(self->path), LINE("M56.0 92.0h1")));
}

static void assert_fails(dt_ctx *ctx, dt_status status, const char *text) {
    assert_error_contains(ctx, status, text);
    assert_int_equal(dt_error_clear(ctx), DT_OK);
}

static void svg__errors(void **state) {
    const drawing *self = *state;
    dt_ctx *ctx = self->ctx;
    const double value = 1;
    assert_int_equal(dt_curve_save_svg(ctx, NULL, 1, &value), DT_ERR_VALUE);
    assert_fails(ctx, DT_ERR_VALUE, "curve_save_svg: the path is NULL");
    assert_int_equal(dt_curve_save_svg(ctx, self->path, -2, &value), DT_ERR_VALUE);
    assert_fails(ctx, DT_ERR_VALUE, "curve_save_svg: the numbers are invalid: expected 0 or more, got -2");
    assert_int_equal(dt_curve_save_svg(ctx, self->path, 2, NULL), DT_ERR_VALUE);
    assert_fails(ctx, DT_ERR_VALUE, "curve_save_svg: the numbers are invalid: expected 0 or more, got 2 at NULL");
    assert_int_not_equal(access(self->path, F_OK), 0);
    assert_int_equal(dt_curve_save_svg(ctx, self->folder, 1, &value), DT_ERR_SYSTEM);
    assert_fails(ctx, DT_ERR_SYSTEM, "for writing: ");
    assert_int_equal(dt_curve_save_svg(NULL, self->path, 1, &value), DT_ERR_VALUE);
    if (access("/dev/full", W_OK) == 0) {
        assert_int_equal(dt_curve_save_svg(ctx, "/dev/full", 1, &value), DT_ERR_SYSTEM);
        assert_fails(ctx, DT_ERR_SYSTEM,
                     "curve_save_svg: cannot write all of /dev/full: No space left on device; the file is cut off");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text__has_bars),
        cmocka_unit_test(text__has_ten_rows_of_64_by_default),
        cmocka_unit_test(text__of_numbers_that_are_not_finite),
        cmocka_unit_test(text__of_numbers_that_are_negative_large_or_small),
        cmocka_unit_test(text__without_anything_to_draw),
        cmocka_unit_test_setup_teardown(svg__has_axes_and_a_line, begin_drawing, end_drawing),
        cmocka_unit_test_setup_teardown(svg__replaces_a_file, begin_drawing, end_drawing),
        cmocka_unit_test_setup_teardown(svg__has_gaps_where_numbers_are_not_finite, begin_drawing, end_drawing),
        cmocka_unit_test_setup_teardown(svg__of_numbers_that_are_negative_large_or_small, begin_drawing, end_drawing),
        cmocka_unit_test_setup_teardown(svg__does_not_depend_on_the_locale, begin_drawing, end_drawing),
        cmocka_unit_test_setup_teardown(svg__errors, begin_drawing, end_drawing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
