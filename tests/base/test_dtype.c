/* SPDX-License-Identifier: Apache-2.0 */
#include "base/dtype.h"

#include "base/half_float.h"
#include "support/check.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* A binary floating-point format of 16 bits, for conversions by arithmetic that share nothing with half_float.h: a
 * normal number is 1.fraction * 2^e with e in [e_min, e_max]. */
typedef struct format {
    int fraction_bits, e_min, e_max;
} format;

static const format f16 = {10, -14, 15}, bf16 = {7, -126, 127};

static double decode(const format *as, uint16_t bits) {
    int fraction = bits & ((1 << as->fraction_bits) - 1), exponent = (bits & 0x7fff) >> as->fraction_bits;
    double magnitude;
    if (exponent == as->e_max - as->e_min + 2)
        magnitude = fraction ? (double)NAN : (double)INFINITY;
    else if (exponent == 0)
        magnitude = ldexp(fraction, as->e_min - as->fraction_bits);
    else
        magnitude = ldexp(fraction + (1 << as->fraction_bits), as->e_min - 1 + exponent - as->fraction_bits);
    return bits >> 15 ? -magnitude : magnitude;
}

/* rint of the number, scaled so that its last stored bit is 1; a carry increments the exponent. */
static uint16_t encode(const format *as, double x) {
    int sign = signbit(x) ? 0x8000 : 0, infinity = (as->e_max - as->e_min + 2) << as->fraction_bits;
    if (isnan(x))
        return (uint16_t)(sign | infinity | 1 << (as->fraction_bits - 1));
    int e = x == 0 ? as->e_min : isinf(x) ? as->e_max + 1 : ilogb(x);
    if (e > as->e_max)
        return (uint16_t)(sign | infinity);
    e = e < as->e_min ? as->e_min : e;
    int scaled = (int)rint(ldexp(fabs(x), as->fraction_bits - e));
    return (uint16_t)(sign | (((e - as->e_min) << as->fraction_bits) + scaled));
}

static bool is_same_value(const format *as, uint16_t a, uint16_t b) {
    return a == b || (isnan(decode(as, a)) && isnan(decode(as, b)));
}

static void half_float__every_code_is_converted_to_f32_exactly(void **state) {
    (void)state;
    for (uint32_t code = 0; code < 65536; code++) {
        double got[] = {(double)dt__f16_to_f32((uint16_t)code), (double)dt__bf16_to_f32((uint16_t)code)};
        double expected[] = {decode(&f16, (uint16_t)code), decode(&bf16, (uint16_t)code)};
        for (int i = 0; i < 2; i++)
            if (isnan(expected[i]) ? !isnan(got[i]) : memcmp(&got[i], &expected[i], sizeof got[i]) != 0)
                fail_msg("code %x: expected %a, got %a", code, expected[i], got[i]);
    }
}

static void half_float__f32_is_rounded_to_nearest_even(void **state) {
    (void)state;
    for (uint64_t i = 0; i < 1ull << 32; i += 255) { /* an odd stride, so that all low bits occur */
        float x = dt__f32_from_bits((uint32_t)i);
        if (!is_same_value(&f16, dt__f32_to_f16(x), encode(&f16, (double)x)))
            fail_msg("%a to f16: expected %x, got %x", (double)x, encode(&f16, (double)x), dt__f32_to_f16(x));
        if (!is_same_value(&bf16, dt__f32_to_bf16(x), encode(&bf16, (double)x)))
            fail_msg("%a to bf16: expected %x, got %x", (double)x, encode(&bf16, (double)x), dt__f32_to_bf16(x));
    }
}

/* Every midpoint between two codes and the doubles next to it, for which double rounding is wrong. */
static void half_float__f64_is_rounded_once(void **state) {
    (void)state;
    const format *formats[] = {&f16, &bf16};
    for (int f = 0; f < 2; f++)
        for (uint32_t code = 0; code < 0x7fff; code++) {
            double low = decode(formats[f], (uint16_t)code), high = decode(formats[f], (uint16_t)(code + 1));
            double middle = isinf(high) ? low + ldexp(1, formats[f]->e_max - formats[f]->fraction_bits - 1)
                                        : low + (high - low) / 2;
            double values[] = {low, middle, nextafter(middle, 0), nextafter(middle, HUGE_VAL), -middle};
            for (int i = 0; i < 5 && isfinite(low); i++) {
                uint16_t got = f ? dt__f64_to_bf16(values[i]) : dt__f64_to_f16(values[i]);
                if (!is_same_value(formats[f], got, encode(formats[f], values[i])))
                    fail_msg("%a: expected %x, got %x", values[i], encode(formats[f], values[i]), got);
            }
        }
}

static void dtype__each_is_in_exactly_one_class(void **state) {
    (void)state;
    for (int i = DT_NO_DTYPE + 1; i < DT_N_DTYPES; i++) {
        const dt_dtype d = (dt_dtype)i;
        const char *name = dt_dtype_name(d);
        assert_int_equal(dt__is_float(d), name[0] == 'f' || !strcmp(name, "bf16"));
        assert_int_equal(dt__is_complex(d), name[0] == 'c');
        assert_int_equal(dt__is_integer(d), name[0] == 'i' || name[0] == 'u');
        assert_int_equal(dt__is_float(d) + dt__is_complex(d) + dt__is_integer(d) + (d == DT_BOOL), 1);
        assert_int_equal(dt__is_inexact(d), !dt__is_integral(d));
        assert_int_equal(dt__is_half(d), dt__is_float(d) && dt_dtype_size(d) == 2);
        assert_int_equal(dt__is_double_precision(d), dt__dtype_epsilon(d) == DBL_EPSILON);
        assert_int_equal(dt__is_unsigned(d), name[0] == 'u' || d == DT_BOOL);
    }
    assert_false(dt__is_inexact(DT_NO_DTYPE) || dt__is_integral(DT_NO_DTYPE) || dt__is_inexact(DT_N_DTYPES));
}

static void dtype__promotion_is_commutative_and_reaches_a_fixed_point(void **state) {
    (void)state;
    for (int i = DT_NO_DTYPE + 1; i < DT_N_DTYPES; i++)
        for (int j = DT_NO_DTYPE + 1; j < DT_N_DTYPES; j++) {
            dt_dtype a = (dt_dtype)i, b = (dt_dtype)j, both = dt__promote(a, b);
            assert_int_equal(both, dt__promote(b, a));
            assert_int_equal(dt__promote(a, both), both);
            assert_int_equal(dt__promote(b, both), both);
        }
    static const dt_dtype cases[][3] = {
        {DT_U8, DT_I8, DT_I16},   {DT_U8, DT_I32, DT_I32},   {DT_BOOL, DT_U8, DT_U8},  {DT_F16, DT_BF16, DT_F32},
        {DT_I64, DT_F16, DT_F16}, {DT_C64, DT_F64, DT_C128}, {DT_C64, DT_F32, DT_C64}, {DT_I64, DT_C64, DT_C64},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(dt__promote(cases[i][0], cases[i][1]), cases[i][2]);
}

static void dtype__integers_wrap_and_doubles_saturate(void **state) {
    (void)state;
    static const dt_dtype dtypes[] = {DT_I8, DT_I16, DT_I32, DT_I64, DT_U8, DT_BOOL};
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++) {
        int64_t min, max, memory[2] = {0, 77};
        dt__integer_limits(dtypes[i], &min, &max);
        dt__write_f64(dtypes[i], 1e30, memory);
        assert_int_equal(dt__read_i64(dtypes[i], memory), max);
        dt__write_f64(dtypes[i], (double)NAN, memory);
        assert_int_equal(dt__read_i64(dtypes[i], memory), dtypes[i] == DT_BOOL); /* "not 0" */
        if (dtypes[i] == DT_BOOL)
            continue;
        dt__write_f64(dtypes[i], -1e30, memory);
        assert_int_equal(dt__read_i64(dtypes[i], memory), min);
        dt__write_f64(dtypes[i], 2.9, memory);
        assert_int_equal(dt__read_i64(dtypes[i], memory), 2);
        dt__write_i64(dtypes[i], (int64_t)((uint64_t)max + 1), memory);
        assert_int_equal(dt__read_i64(dtypes[i], memory), min);
        assert_int_equal(dt__wrap_integer(dtypes[i], (int64_t)((uint64_t)max + 1)), min);
        assert_int_equal(dt__wrap_integer(dtypes[i], (int64_t)((uint64_t)min - 1)), max);
        assert_true(dt__is_within((double)min, min, max) && !dt__is_within(2 * (double)max + 2, min, max));
        assert_int_equal(memory[1], 77);
    }
    assert_false(dt__is_within(0x1p63, INT64_MIN, INT64_MAX));
    assert_true(dt__is_within(nextafter(0x1p63, 0), INT64_MIN, INT64_MAX) && dt__is_within(255.9, 0, 255));
}

static void elements__are_read_as_they_were_written(void **state) {
    (void)state;
    for (int i = DT_NO_DTYPE + 1; i < DT_N_DTYPES; i++) {
        const dt_dtype d = (dt_dtype)i;
        char memory[1 + 16]; /* at an odd address */
        const dt__element value = {.i = 1, .re = -1.5, .im = dt__is_complex(d) ? 0.25 : 0};
        dt__element_write(d, value, memory + 1);
        const dt__element back = dt__element_read(d, memory + 1);
        assert_true(dt__is_integral(d) ? back.i == 1 : back.re == -1.5 && back.im == value.im);
        dt__write_f64(d, 1, memory + 1);
        assert_true(dt__read_f64(d, memory + 1) == 1 && dt__read_i64(d, memory + 1) == 1);
        assert_true(dt__element_read(d, memory + 1).im == 0);
        dt__write_i64(d, 100, memory + 1);
        assert_true(dt__read_f64(d, memory + 1) == (d == DT_BOOL ? 1 : 100));
    }
}

static void identities__of_reductions(void **state) {
    (void)state;
    int8_t i8;
    float f32;
    dt__write_identity(DT_I8, DT_MIN, &i8);
    assert_int_equal(i8, INT8_MAX);
    dt__write_identity(DT_I8, DT_MAX, &i8);
    assert_int_equal(i8, INT8_MIN);
    dt__write_identity(DT_F32, DT_MAX, &f32);
    assert_true(f32 == -INFINITY);
    dt__write_identity(DT_F32, DT_PRODUCT, &f32);
    assert_true(f32 == 1);
    dt__write_identity(DT_BOOL, DT_MAX, &i8);
    assert_int_equal(i8, 0);
    dt__write_identity(DT_BOOL, DT_MIN, &i8);
    assert_int_equal(i8, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(half_float__every_code_is_converted_to_f32_exactly),
        cmocka_unit_test(half_float__f32_is_rounded_to_nearest_even),
        cmocka_unit_test(half_float__f64_is_rounded_once),
        cmocka_unit_test(dtype__each_is_in_exactly_one_class),
        cmocka_unit_test(dtype__promotion_is_commutative_and_reaches_a_fixed_point),
        cmocka_unit_test(dtype__integers_wrap_and_doubles_saturate),
        cmocka_unit_test(elements__are_read_as_they_were_written),
        cmocka_unit_test(identities__of_reductions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
