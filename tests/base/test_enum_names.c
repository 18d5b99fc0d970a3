/* SPDX-License-Identifier: Apache-2.0 */
#include "support/check.h"

#include <complex.h>
#include <stdio.h>
#include <string.h>

static void names__every_status_has_a_unique_name_and_text(void **state) {
    (void)state;
    static const dt_status statuses[] = {
#define VALUE(name, value, word, text) DT_##name,
        DT_STATUS_LIST(VALUE)
#undef VALUE
    };
    enum { N = sizeof statuses / sizeof *statuses };
    for (int i = 0; i < N; i++) {
        assert_true(*dt_status_text(statuses[i]));
        for (int j = 0; j < i; j++) {
            assert_string_not_equal(dt_status_name(statuses[i]), dt_status_name(statuses[j]));
            assert_string_not_equal(dt_status_text(statuses[i]), dt_status_text(statuses[j]));
            assert_int_not_equal(statuses[i], statuses[j]);
        }
    }
    assert_string_equal(dt_status_name(DT_OK), "ok");
    assert_string_equal(dt_status_name(DT_ERR_SHAPE), "shape");
    assert_int_equal(DT_OK, 0);
    assert_true(DT_IN_PROGRESS > 0 && DT_ERR_VALUE < 0 && DT_ERR_INTERNAL < 0);
}

static void names__invalid_statuses_have_texts(void **state) {
    (void)state;
    assert_string_equal(dt_status_name((dt_status)-1000), "unknown");
    assert_string_equal(dt_status_text((dt_status)1000), "not a status");
}

static void names__of_dtypes_and_reductions_round_trip(void **state) {
    (void)state;
    for (int i = DT_NO_DTYPE + 1; i < DT_N_DTYPES; i++) {
        dt_dtype dtype = DT_N_DTYPES;
        assert_true(dt_dtype_parse(dt_dtype_name((dt_dtype)i), &dtype));
        assert_int_equal(dtype, i);
    }
    for (int i = 0; i < DT_N_REDUCES; i++) {
        dt_reduce reduce = DT_N_REDUCES;
        assert_true(dt_reduce_parse(dt_reduce_name((dt_reduce)i), &reduce));
        assert_int_equal(reduce, i);
    }
}

static void names__unknown_ones_are_refused_without_output(void **state) {
    (void)state;
    static const char *const wrong[] = {NULL, "", "f3", "f322", "F32", " f32", "?", "float", "sum ", "mean", "SUM"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        dt_dtype dtype = DT_C64;
        dt_reduce reduce = DT_MAX;
        assert_false(dt_dtype_parse(wrong[i], &dtype));
        assert_false(dt_reduce_parse(wrong[i], &reduce));
        assert_int_equal(dtype, DT_C64);
        assert_int_equal(reduce, DT_MAX);
    }
}

static void names__sizes_are_those_of_the_c_types(void **state) {
    (void)state;
    static const struct {
        dt_dtype dtype;
        size_t size;
    } rows[] = {
        {DT_F32, sizeof(float)},     {DT_F64, sizeof(double)},        {DT_F16, sizeof(uint16_t)},
        {DT_BF16, sizeof(uint16_t)}, {DT_I8, sizeof(int8_t)},         {DT_I16, sizeof(int16_t)},
        {DT_I32, sizeof(int32_t)},   {DT_I64, sizeof(int64_t)},       {DT_U8, sizeof(uint8_t)},
        {DT_BOOL, sizeof(bool)},     {DT_C64, sizeof(float complex)}, {DT_C128, sizeof(double complex)},
    };
    assert_int_equal(sizeof rows / sizeof *rows, DT_N_DTYPES - DT_F32);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(dt_dtype_size(rows[i].dtype), rows[i].size);
}

static void names__values_outside_the_enums_have_defaults(void **state) {
    (void)state;
    static const int outside[] = {DT_NO_DTYPE - 1, DT_N_DTYPES, 1000, INT32_MAX, INT32_MIN};
    for (size_t i = 0; i < sizeof outside / sizeof *outside; i++) {
        assert_int_equal(dt_dtype_size((dt_dtype)outside[i]), 0);
        assert_string_equal(dt_dtype_name((dt_dtype)outside[i]), "?");
        assert_string_equal(dt_reduce_name((dt_reduce)outside[i]), "?");
        assert_false(dt_reduce_allowed((dt_dtype)outside[i], DT_SUM));
        assert_false(dt_reduce_allowed(DT_F32, (dt_reduce)outside[i]));
    }
    assert_int_equal(dt_dtype_size(DT_NO_DTYPE), 0);
    assert_string_equal(dt_dtype_name(DT_NO_DTYPE), "?");
    assert_false(dt_reduce_allowed(DT_NO_DTYPE, DT_SUM));
    assert_string_equal(dt_reduce_name(DT_N_REDUCES), "?");
}

static void names__reductions_that_a_dtype_allows(void **state) {
    (void)state;
    for (int dtype = DT_NO_DTYPE + 1; dtype < DT_N_DTYPES; dtype++)
        for (int reduce = 0; reduce < DT_N_REDUCES; reduce++) {
            bool is_complex = *dt_dtype_name((dt_dtype)dtype) == 'c';
            bool needs_order = reduce == DT_MIN || reduce == DT_MAX;
            bool expected = !(is_complex && needs_order) && !(dtype == DT_BOOL && reduce == DT_AVG);
            if (dt_reduce_allowed((dt_dtype)dtype, (dt_reduce)reduce) != expected)
                fail_msg("%s of %s: expected %s", dt_reduce_name((dt_reduce)reduce), dt_dtype_name((dt_dtype)dtype),
                         expected ? "allowed" : "not allowed");
        }
}

static void names__version_is_that_of_the_header(void **state) {
    (void)state;
    char text[32];
    snprintf(text, sizeof text, "%d.%d.%d", DT_VERSION_MAJOR, DT_VERSION_MINOR, DT_VERSION_PATCH);
    assert_string_equal(dt_version_text(), text);
    assert_int_equal(dt_version(), DT_VERSION);
    assert_int_equal(DT_VERSION / 10000, DT_VERSION_MAJOR);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names__every_status_has_a_unique_name_and_text),
        cmocka_unit_test(names__invalid_statuses_have_texts),
        cmocka_unit_test(names__of_dtypes_and_reductions_round_trip),
        cmocka_unit_test(names__unknown_ones_are_refused_without_output),
        cmocka_unit_test(names__sizes_are_those_of_the_c_types),
        cmocka_unit_test(names__values_outside_the_enums_have_defaults),
        cmocka_unit_test(names__reductions_that_a_dtype_allows),
        cmocka_unit_test(names__version_is_that_of_the_header),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
