/* SPDX-License-Identifier: Apache-2.0
 *
 * Elementary functions over the whole range of f32 and f64 against the C library in the next longer format, within a
 * stated number of units in the last place (ULP), with all special cases; remainders exactly. All tables compute the
 * same bits. f32 takes every value with a stride; f64 takes random bits, and values from where the function varies.
 */
#include "kernels/support.h"

#include "base/half_float.h"

#include <float.h>
#include <math.h>

enum { N = 1 << 10 };

typedef struct function {
    dt__element_op op;
    const char *name;
    double (*f32)(double);
    long double (*f64)(long double);
    double max_f32, max_f64; /* ULP */
    double low, high;        /* where f64 varies */
} function;

static double sigmoid(double x) { return 1 / (1 + exp(-x)); }
static long double sigmoid_long(long double x) { return 1 / (1 + expl(-x)); }
static double rsqrt(double x) { return 1 / sqrt(x); }
static long double rsqrt_long(long double x) { return 1 / sqrtl(x); }

static const function functions[] = {
    {DT__EL_EXP, "exp", exp, expl, 1.1, 1.1, -746, 710},
    {DT__EL_LOG, "log", log, logl, 0.51, 1, 0.4, 2.5},
    {DT__EL_SQRT, "sqrt", sqrt, sqrtl, 0.501, 0.501, 0, 10},
    {DT__EL_RSQRT, "rsqrt", rsqrt, rsqrt_long, 1.5, 1.5, 0, 10},
    {DT__EL_TANH, "tanh", tanh, tanhl, 0.51, 2.5, -20, 20},
    {DT__EL_SIGMOID, "sigmoid", sigmoid, sigmoid_long, 3.9, 3.9, -40, 40},
    {DT__EL_ERF, "erf", erf, erfl, 2.55, 2.5, -6, 6},
    {DT__EL_SIN, "sin", sin, sinl, 0.52, 1, -100, 100},
    {DT__EL_COS, "cos", cos, cosl, 0.52, 1, -100, 100},
    {DT__EL_TAN, "tan", tan, tanl, 0.52, 3, -100, 100},
    {DT__EL_ACOS, "acos", acos, acosl, 0.52, 4, -1, 1},
    {DT__EL_ASIN, "asin", asin, asinl, 0.52, 4, -1, 1},
    {DT__EL_ATAN, "atan", atan, atanl, 0.52, 3.4, -10, 10},
    {DT__EL_COSH, "cosh", cosh, coshl, 0.52, 4, -720, 720},
    {DT__EL_SINH, "sinh", sinh, sinhl, 0.52, 4, -720, 720},
    {DT__EL_ERFC, "erfc", erfc, erfcl, 0.52, 4, -6, 28},
    {DT__EL_EXP2, "exp2", exp2, exp2l, 0.52, 1.1, -1080, 1025},
    {DT__EL_EXPM1, "expm1", expm1, expm1l, 0.52, 3, -40, 40},
    {DT__EL_LOG10, "log10", log10, log10l, 0.52, 1.5, 0.4, 2.5},
    {DT__EL_LOG1P, "log1p", log1p, log1pl, 0.52, 2, -0.6, 1.5},
    {DT__EL_LOG2, "log2", log2, log2l, 0.52, 1.1, 0.4, 2.5},
};
enum { N_FUNCTIONS = sizeof functions / sizeof *functions };

static const double special_values[] = {
    0.0,
    -0.0,
    1,
    -1,
    2,
    -2,
    0.5,
    -0.5,
    3,
    -3,
    INFINITY,
    -INFINITY,
    NAN,
    1e6,
    -1e6,
    0x1p52,
    0x1p53,
    0x1p52 + 1,
    1e300,
    -1e300,
    1e30,
    -1e30,
    1e-8,
    -1e-20,
    0x1p-1074,
    -0x1p-1074,
    0x1p-1022,
    0x1p-149,
    0x1p-126,
    1.5,
    -2.5,
    1e-320,
    88.7,
    709.7,
    -745.2,
    -103.9,
    FLT_MAX,
    DBL_MAX,
    -DBL_MAX,
    0x1.fffffep-1,
    0x1.fffffffffffffp-1,
    1 + 0x1p-52,
    0x1.921fb54442d18p0,
};
enum { N_SPECIAL = sizeof special_values / sizeof *special_values };

/* The error in ULP of the dtype; huge where a special case is wrong. */
static double error_in_ulp(dt_dtype dtype, double got, long double expected) {
    const int fraction = dtype == DT_F32 ? 23 : 52, lowest = dtype == DT_F32 ? -126 : -1022;
    const double rounded = dtype == DT_F32 ? (double)(float)expected : (double)expected;
    const double largest = dtype == DT_F32 ? (double)FLT_MAX : DBL_MAX;
    if (isnan(got) || isnan(rounded))
        return isnan(got) && isnan(rounded) ? 0 : 1e9;
    if (isinf(got)) /* overflow, also of results up to 4 ULP below the largest number */
        return got == rounded || (signbit(got) == signbit(rounded) &&
                                  fabsl(expected) > (long double)largest * (1 - ldexpl(1, 2 - fraction)))
                   ? 0
                   : 1e9;
    if (isinf(expected))
        return 1e9;
    if (rounded == 0 && got == 0)
        return signbit(got) == signbit(rounded) || expected != 0 ? 0 : 1e9;
    const int e = expected == 0 ? lowest : ilogbl(expected);
    return (double)(fabsl((long double)got - expected) / ldexpl(1, (e < lowest ? lowest : e) - fraction));
}

static void run_loop(const dt__kernels *kernels, dt__element_op op, dt_dtype dtype, int64_t n, const void *x,
                     const void *y, void *out) {
    kernels->loops->ops[op][dtype](n, out, (const void *[]){x, y, NULL}, NULL);
}

/* Runs one block in every table and compares the bits with the baseline's, which it leaves in out. */
static void run_all_tables(dt__element_op op, dt_dtype dtype, int64_t n, const void *x, const void *y, void *out) {
    double other[N];
    run_loop(&dt__kernels_baseline, op, dtype, n, x, y, out);
    for (int t = 0; t < N_NAMES; t++) {
        if (!table_at(t))
            continue;
        run_loop(table_at(t), op, dtype, n, x, y, other);
        for (int64_t i = 0; i < n; i++) {
            const double a = dtype == DT_F32 ? (double)((float *)out)[i] : ((double *)out)[i];
            const double b = dtype == DT_F32 ? (double)((float *)other)[i] : other[i];
            if (memcmp(&a, &b, sizeof a) && !(isnan(a) && isnan(b)))
                fail_msg("op %d: %s computes %a, baseline %a", (int)op, table_names[t], b, a);
        }
    }
}

static void check_f32(const function *f, const float *x, int64_t n) {
    float out[N];
    run_all_tables(f->op, DT_F32, n, x, NULL, out);
    for (int64_t i = 0; i < n; i++) {
        const double expected = f->f32((double)x[i]), error = error_in_ulp(DT_F32, (double)out[i], expected);
        if (error > f->max_f32)
            fail_msg("%s of f32 %a: %a, expected %a: %g ULP, more than %g", f->name, (double)x[i], (double)out[i],
                     expected, error, f->max_f32);
    }
}

static void check_f64(const function *f, const double *x, int64_t n) {
    double out[N];
    run_all_tables(f->op, DT_F64, n, x, NULL, out);
    for (int64_t i = 0; i < n; i++) {
        const long double expected = f->f64((long double)x[i]);
        const double error = error_in_ulp(DT_F64, out[i], expected);
        if (error > f->max_f64)
            fail_msg("%s of f64 %a: %a, expected %La: %g ULP, more than %g", f->name, x[i], out[i], expected, error,
                     f->max_f64);
    }
}

static void functions__of_f32_are_within_their_bounds_everywhere(void **state) {
    (void)state;
    uint64_t random = test_seed(40);
    enum { STRIDE = 5003 };
    for (int f = 0; f < N_FUNCTIONS; f++) {
        float x[N];
        int64_t n = 0;
        for (uint64_t bits = test_random(&random) % STRIDE; bits < 1ull << 32; bits += STRIDE) {
            x[n++] = dt__f32_from_bits((uint32_t)bits);
            if (n == N)
                check_f32(&functions[f], x, n), n = 0;
        }
        check_f32(&functions[f], x, n);
        for (n = 0; n < N_SPECIAL; n++)
            x[n] = (float)special_values[n];
        check_f32(&functions[f], x, n);
    }
}

static void functions__of_f64_are_within_their_bounds_everywhere(void **state) {
    (void)state;
    uint64_t random = test_seed(41);
    for (int f = 0; f < N_FUNCTIONS; f++) {
        double x[N];
        const double width = functions[f].high - functions[f].low;
        for (int round = 0; round < 150; round++) {
            for (int i = 0; i < N; i++)
                x[i] = round % 2 ? dt__f64_from_bits(test_random(&random))
                                 : functions[f].low + width * ldexp((double)(test_random(&random) >> 11), -53);
            check_f64(&functions[f], x, N);
        }
        check_f64(&functions[f], special_values, N_SPECIAL);
    }
}

/* Bases of all sizes with exponents for which the power is finite, and some for which it is not. */
static double power_exponent(uint64_t *random, double base, double max) {
    const double log = fabs(log2(fabs(base)));
    const double fraction = ldexp((double)(test_random(random) >> 11), -53) * 2 - 1;
    return test_below(random, 4) ? fraction * max / (log > 1e-17 ? log : 1) : (double)(test_below(random, 41) - 20);
}

static void pow__is_within_its_bounds_everywhere(void **state) {
    (void)state;
    uint64_t random = test_seed(42);
    for (int round = 0; round < 150; round++) {
        double x[N], y[N], out[N];
        float x32[N], y32[N], out32[N];
        for (int i = 0; i < N; i++) {
            x[i] = dt__f64_from_bits(test_random(&random));
            if (round % 3 == 0) /* around 1 */
                x[i] = 1 + (ldexp((double)(test_random(&random) >> 11), -53) - 0.5) * ldexp(1, -(int)(i % 50));
            x32[i] = round % 3 ? dt__f32_from_bits((uint32_t)test_random(&random)) : (float)x[i];
            y[i] = power_exponent(&random, x[i], 1090);
            y32[i] = (float)power_exponent(&random, (double)x32[i], 155);
        }
        run_all_tables(DT__EL_POW, DT_F64, N, x, y, out);
        run_all_tables(DT__EL_POW, DT_F32, N, x32, y32, out32);
        for (int i = 0; i < N; i++) {
            const long double expected = powl((long double)x[i], (long double)y[i]);
            if (error_in_ulp(DT_F64, out[i], expected) > 0.9)
                fail_msg("pow(%a, %a) is %a, expected %La", x[i], y[i], out[i], expected);
            const double expected32 = pow((double)x32[i], (double)y32[i]);
            if (error_in_ulp(DT_F32, (double)out32[i], expected32) > 0.51)
                fail_msg("pow(%a, %a) of f32 is %a, expected %a", (double)x32[i], (double)y32[i], (double)out32[i],
                         expected32);
        }
    }
}

static void pow__has_the_special_cases_of_c(void **state) {
    (void)state;
    for (int i = 0; i < N_SPECIAL; i++) {
        double x[N_SPECIAL], out[N];
        float x32[N_SPECIAL], y32[N_SPECIAL], out32[N];
        for (int j = 0; j < N_SPECIAL; j++) {
            x[j] = special_values[i];
            x32[j] = (float)x[j];
            y32[j] = (float)special_values[j];
        }
        run_all_tables(DT__EL_POW, DT_F64, N_SPECIAL, x, special_values, out);
        run_all_tables(DT__EL_POW, DT_F32, N_SPECIAL, x32, y32, out32);
        for (int j = 0; j < N_SPECIAL; j++) {
            if (error_in_ulp(DT_F64, out[j], (long double)pow(x[j], special_values[j])) > 1)
                fail_msg("pow(%a, %a) is %a, expected %a", x[j], special_values[j], out[j],
                         pow(x[j], special_values[j]));
            if (error_in_ulp(DT_F32, (double)out32[j], (long double)powf(x32[j], y32[j])) > 1)
                fail_msg("powf(%a, %a) is %a, expected %a", (double)x32[j], (double)y32[j], (double)out32[j],
                         (double)powf(x32[j], y32[j]));
        }
    }
}

static void pow__is_exact_where_the_power_is_a_number_of_the_format(void **state) {
    (void)state;
    for (int base = 2; base < 1000; base++) {
        double x[64], y[64], out[N], exact[64];
        int n = 0;
        for (double power = base; power < 0x1p53; power *= base, n++) {
            x[n] = n % 2 ? base : -base;
            y[n] = n + 1;
            exact[n] = n % 2 || (n + 1) % 2 == 0 ? power : -power;
        }
        run_all_tables(DT__EL_POW, DT_F64, n, x, y, out);
        for (int i = 0; i < n; i++)
            assert_true(out[i] == exact[i]);
    }
}

static double floor_mod(double x, double y) {
    const double modulo = fmod(x, y);
    return modulo != 0 && (modulo < 0) != (y < 0) ? modulo + y : modulo;
}
static float floor_mod_f32(float x, float y) {
    const float modulo = fmodf(x, y);
    return modulo != 0 && (modulo < 0) != (y < 0) ? modulo + y : modulo;
}

static void check_remainders(int64_t n, const double *x, const double *y) {
    double out[N];
    float x32[N], y32[N], out32[N];
    for (int64_t i = 0; i < n; i++) {
        x32[i] = (float)x[i];
        y32[i] = (float)y[i];
    }
    run_all_tables(DT__EL_REMAINDER, DT_F64, n, x, y, out);
    run_all_tables(DT__EL_REMAINDER, DT_F32, n, x32, y32, out32);
    for (int64_t i = 0; i < n; i++) {
        const double expected[] = {floor_mod(x[i], y[i]), (double)floor_mod_f32(x32[i], y32[i])};
        const double got[] = {out[i], (double)out32[i]};
        for (int k = 0; k < 2; k++)
            if (memcmp(&got[k], &expected[k], sizeof(double)) && !(isnan(got[k]) && isnan(expected[k])))
                fail_msg("remainder(%a, %a) is %a, expected %a", k ? (double)x32[i] : x[i], k ? (double)y32[i] : y[i],
                         got[k], expected[k]);
    }
}

static void remainder__is_exact(void **state) {
    (void)state;
    uint64_t random = test_seed(43);
    for (int round = 0; round < 150; round++) {
        double x[N], y[N];
        for (int i = 0; i < N; i++) {
            int exponent;
            x[i] = dt__f64_from_bits(test_random(&random));
            y[i] = dt__f64_from_bits(test_random(&random));
            const double fraction = ldexp((double)(1 + (test_random(&random) >> 11)), -53);
            if (round % 4 == 1) /* quotients of all moderate sizes */
                y[i] = x[i] * ldexp(fraction, -(int)test_below(&random, 60));
            if (round % 4 == 2) /* exact multiples */
                y[i] = x[i] / (double)(1 + test_below(&random, 1000));
            if (round % 4 == 3) /* in the range of f32 */
                x[i] = frexp(x[i], &exponent) * 1e10, y[i] = frexp(y[i], &exponent) * (i % 2 ? 1e-30 : 1e3);
        }
        check_remainders(N, x, y);
    }
    for (int i = 0; i < N_SPECIAL; i++) {
        double x[N_SPECIAL];
        for (int j = 0; j < N_SPECIAL; j++)
            x[j] = special_values[i];
        check_remainders(N_SPECIAL, x, special_values);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions__of_f32_are_within_their_bounds_everywhere),
        cmocka_unit_test(functions__of_f64_are_within_their_bounds_everywhere),
        cmocka_unit_test(pow__is_within_its_bounds_everywhere),
        cmocka_unit_test(pow__has_the_special_cases_of_c),
        cmocka_unit_test(pow__is_exact_where_the_power_is_a_number_of_the_format),
        cmocka_unit_test(remainder__is_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
