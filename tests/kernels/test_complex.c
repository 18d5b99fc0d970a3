/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions of complex numbers over the whole range against the C library in a longer format (113 bits where the
 * compiler has them), within a stated number of units in the last place (ULP) of each part, or of the modulus where
 * parts may cancel; special values against the C library's functions of the same format, which follow Annex G of C,
 * except for divisors of 0.
 * All tables compute the same bits. src/kernels/complex_math.h derives the bounds.
 */
#include "kernels/support.h"

#include "base/half_float.h"

#include <complex.h>
#include <float.h>
#include <math.h>

enum { N = 1 << 9, N_KINDS = 6 };

/* The longest format of the C library, and its functions. */
#if defined __GNUC__ && !defined __clang__ && defined __HAVE_FLOAT128 && __HAVE_FLOAT128
typedef _Float128 wide;
typedef _Complex _Float128 wide_complex;
#define WIDE(f) f##f128
#else
typedef long double wide;
typedef _Complex long double wide_complex;
#define WIDE(f) f##l
#endif

typedef struct parts {
    double re, im;
} parts;

/* Keeps the parts as they are; re + im * I would not. */
static wide_complex wide_of(parts z) {
    const wide both[2] = {(wide)z.re, (wide)z.im};
    wide_complex x;
    memcpy(&x, both, sizeof x);
    return x;
}
static double complex complex_of(parts z) {
    double complex x;
    memcpy(&x, &z, sizeof x);
    return x;
}
static parts parts_of(double complex x) {
    parts z;
    memcpy(&z, &x, sizeof z);
    return z;
}

static wide_complex wide_abs(wide_complex x) { return WIDE(cabs)(x); }
/* The signs of a divisor of 0 do not matter, as in NumPy and PyTorch. */
static wide_complex wide_reciprocal(wide_complex x) { return 1 / (x == 0 ? 0 : x); }
static wide_complex wide_rsqrt(wide_complex x) { return 1 / WIDE(csqrt)(x); }
static double complex abs_of(double complex x) { return cabs(x); }
static double complex reciprocal(double complex x) { return 1 / (x == 0 ? 0 : x); }

/* A bound for c64 and for c128, in ULP of each part; or of the modulus. */
typedef struct function {
    dt__element_op op;
    const char *name;
    wide_complex (*reference)(wide_complex);
    double complex (*special)(double complex); /* NULL: not compared */
    double max_c64, max_c128;
    bool of_modulus;
} function;

static const function functions[] = {
    {DT__EL_ABS, "abs", wide_abs, abs_of, 0.51, 0.76, false},
    {DT__EL_EXP, "exp", WIDE(cexp), cexp, 0.51, 3.7, false},
    {DT__EL_LOG, "log", WIDE(clog), clog, 0.51, 3.4, false},
    {DT__EL_SQRT, "sqrt", WIDE(csqrt), csqrt, 0.51, 3.5, false},
    {DT__EL_RSQRT, "rsqrt", wide_rsqrt, NULL, 0.51, 9, true},
    {DT__EL_RECIPROCAL, "reciprocal", wide_reciprocal, reciprocal, 0.51, 5.5, true},
    {DT__EL_TANH, "tanh", WIDE(ctanh), ctanh, 0.51, 9, false},
    {DT__EL_SIN, "sin", WIDE(csin), csin, 0.51, 5, false},
    {DT__EL_COS, "cos", WIDE(ccos), ccos, 0.51, 5, false},
};
enum { N_FUNCTIONS = sizeof functions / sizeof *functions };

static const double special_values[] = {
    0.0,
    -0.0,
    1,
    -1,
    0.5,
    -3,
    INFINITY,
    -INFINITY,
    NAN,
    1e-3,
    1e3,
    -1e3,
    0x1p-1074,
    -0x1p-1022,
    1e300,
    -DBL_MAX,
    1e-300,
    22,
    -0x1.921fb54442d18p0,
};
enum { N_SPECIAL = sizeof special_values / sizeof *special_values };

static double one_ulp(dt_dtype dtype, wide of) {
    const int fraction = dtype == DT_C64 ? 23 : 52, lowest = dtype == DT_C64 ? -126 : -1022;
    const int e = of == 0 ? lowest : ilogbl((long double)of);
    return ldexp(1, (e < lowest ? lowest : e) - fraction);
}

/* The error in ULP of `of`; huge where a special case is wrong. */
static double error_in_ulp(dt_dtype dtype, double got, wide expected, wide of) {
    const double rounded = dtype == DT_C64 ? (double)(float)expected : (double)expected;
    const wide largest = dtype == DT_C64 ? (wide)FLT_MAX : (wide)DBL_MAX, size = expected < 0 ? -expected : expected;
    if (isnan(got) || isnan(rounded))
        return isnan(got) && isnan(rounded) ? 0 : 1e9;
    if (isinf(got)) { /* overflow, also of results up to 4 ULP below the largest number */
        const wide limit = largest * (1 - (wide)(dtype == DT_C64 ? 0x1p-21 : 0x1p-50));
        return got == rounded || (signbit(got) == signbit(rounded) && size > limit) ? 0 : 1e9;
    }
    if (size > (wide)DBL_MAX * (wide)DBL_MAX)
        return 1e9;
    if (rounded == 0 && got == 0)
        return signbit(got) == signbit(rounded) || expected != 0 ? 0 : 1e9;
    const wide error = (wide)got - expected;
    return (double)((error < 0 ? -error : error) / (wide)one_ulp(dtype, of));
}

/* n elements of either dtype, as parts. */
typedef struct block {
    unsigned char bytes[N * 16];
} block;

static void put(dt_dtype dtype, block *b, int64_t i, parts z) {
    if (dtype == DT_C64)
        memcpy(b->bytes + 8 * i, (float[]){(float)z.re, (float)z.im}, 8);
    else
        memcpy(b->bytes + 16 * i, &z, 16);
}
static parts get(dt_dtype dtype, const block *b, int64_t i) {
    float f[2];
    parts z;
    memcpy(f, b->bytes + 8 * i, 8);
    if (dtype == DT_C64)
        return (parts){(double)f[0], (double)f[1]};
    memcpy(&z, b->bytes + 16 * i, 16);
    return z;
}

/* Runs one block in every table and compares the bits with the baseline's, which it leaves in out. */
static void run_all_tables(dt__element_op op, dt_dtype dtype, int64_t n, const block *x, const block *y, block *out) {
    dt__kernels_baseline.loops->ops[op][dtype](n, out, (const void *[]){x, y, NULL}, NULL);
    for (int t = 0; t < N_NAMES; t++) {
        static block other;
        if (!table_at(t))
            continue;
        table_at(t)->loops->ops[op][dtype](n, &other, (const void *[]){x, y, NULL}, NULL);
        const int64_t at = first_difference(dtype, out, &other, (size_t)n);
        if (at >= 0) {
            const parts z = get(dtype, x, at / 2), a = get(dtype, out, at / 2), b = get(dtype, &other, at / 2);
            fail_msg("op %d of %a%+ai: %s computes %a%+ai, baseline %a%+ai", (int)op, z.re, z.im, table_names[t],
                     b.re, b.im, a.re, a.im);
        }
    }
}

static double fraction(uint64_t *random) { return ldexp((double)(test_random(random) >> 11), -53); }
static double uniform(uint64_t *random, double low, double high) { return low + (high - low) * fraction(random); }
static double any_bits(uint64_t *random, dt_dtype dtype) {
    return dtype == DT_C64 ? (double)dt__f32_from_bits((uint32_t)test_random(random))
                           : dt__f64_from_bits(test_random(random));
}
/* A magnitude from 2^low to 2^high with either sign. */
static double magnitude(uint64_t *random, int low, int high) {
    const double m = ldexp(1 + fraction(random), low + (int)test_below(random, high - low));
    return test_random(random) & 1 ? m : -m;
}

static parts random_parts(uint64_t *random, dt_dtype dtype, int kind) {
    const double x = uniform(random, -20, 20), y = uniform(random, -20, 20), turn = uniform(random, 0, 7);
    switch (kind) {
    case 0:
        return (parts){any_bits(random, dtype), any_bits(random, dtype)};
    case 1:
        return (parts){x, y};
    case 2: /* parts of different sizes */
        return (parts){magnitude(random, -40, 40), magnitude(random, -40, 40)};
    case 3: /* around the unit circle, at distances down to the last bit, and next to 1 */
        return test_random(random) & 1
                   ? (parts){cos(turn) * (1 + ldexp(x, -(int)test_below(random, 60))), sin(turn)}
                   : (parts){(1 + ldexp(x, -(int)test_below(random, 60))), magnitude(random, -600, -1)};
    case 4: /* exponentials at the ends of the range, with any angle and with multiples of a quarter turn */
        return test_random(random) & 1 ? (parts){x * 80, any_bits(random, dtype)}
                                       : (parts){x, (double)test_below(random, 1000) * 0x1.921fb54442d18p0};
    default:
        return test_random(random) & 1 ? (parts){any_bits(random, dtype), x * 80}
                                       : (parts){(double)test_below(random, 1000) * 0x1.921fb54442d18p0, y};
    }
}

static void random_block(uint64_t *random, dt_dtype dtype, int kind, block *b) {
    for (int64_t i = 0; i < N; i++)
        put(dtype, b, i, random_parts(random, dtype, kind));
}

static wide modulus(wide_complex z) { return WIDE(cabs)(z); }

/* The larger error of the two parts. The signs of zeros in quotients depend on the formula and are not compared. */
static double max_error_in_ulp(dt_dtype dtype, parts got, wide_complex expected, bool of_modulus) {
    const wide re = WIDE(creal)(expected), im = WIDE(cimag)(expected);
    const bool skips_re = of_modulus && got.re == 0 && re == 0, skips_im = of_modulus && got.im == 0 && im == 0;
    const double a = skips_re ? 0 : error_in_ulp(dtype, got.re, re, of_modulus ? modulus(expected) : re);
    const double b = skips_im ? 0 : error_in_ulp(dtype, got.im, im, of_modulus ? modulus(expected) : im);
    return a > b ? a : b;
}

static bool is_finite(parts z) { return isfinite(z.re) && isfinite(z.im); }

static void check_function(const function *f, dt_dtype dtype, const block *x, int64_t n) {
    static block out;
    const double max = dtype == DT_C64 ? f->max_c64 : f->max_c128;
    run_all_tables(f->op, dtype, n, x, NULL, &out);
    for (int64_t i = 0; i < n; i++) {
        const parts z = get(dtype, x, i), got = get(dtype, &out, i);
        if (!is_finite(z))
            continue;
        const wide_complex expected = f->reference(wide_of(z));
        const double error = max_error_in_ulp(dtype, got, expected, f->of_modulus);
        if (error > max)
            fail_msg("%s of %s %a%+ai: %a%+ai, expected %La%+Lai: %g ULP, more than %g", f->name,
                     dt_dtype_name(dtype), z.re, z.im, got.re, got.im, (long double)WIDE(creal)(expected),
                     (long double)WIDE(cimag)(expected), error, max);
    }
}

static void functions__are_within_their_bounds_everywhere(void **state) {
    (void)state;
    static block x;
    uint64_t random = test_seed(50);
    for (int f = 0; f < N_FUNCTIONS; f++)
        for (int d = 0; d < 2; d++)
            for (int round = 0; round < 3 * N_KINDS; round++) {
                const dt_dtype dtype = d ? DT_C128 : DT_C64;
                random_block(&random, dtype, round % N_KINDS, &x);
                check_function(&functions[f], dtype, &x, N);
            }
}

/* Whether a part is as C defines it: C does not specify the signs of zeros and infinities that have no direction. */
static bool agrees_with_c(double got, double expected, bool has_direction, bool of_modulus) {
    if (isnan(got) || isnan(expected))
        return isnan(got) && isnan(expected);
    if (isinf(expected) || (expected == 0 && !of_modulus))
        return fabs(got) == fabs(expected) && (!has_direction || signbit(got) == signbit(expected));
    return fabs(got - expected) <= 8 * one_ulp(DT_C128, (wide)expected);
}

static bool has_direction(parts z) { return !isnan(z.re) && !isnan(z.im) && !(isinf(z.re) && isinf(z.im)); }

static void functions__have_the_special_values_of_c(void **state) {
    (void)state;
    static block x, out;
    for (int f = 0; f < N_FUNCTIONS; f++) {
        int64_t n = 0;
        for (int i = 0; i < N_SPECIAL; i++)
            for (int j = 0; j < N_SPECIAL; j++)
                put(DT_C128, &x, n++, (parts){special_values[i], special_values[j]});
        check_function(&functions[f], DT_C128, &x, n);
        run_all_tables(functions[f].op, DT_C128, n, &x, NULL, &out);
        for (int64_t i = 0; functions[f].special && i < n; i++) {
            const parts z = get(DT_C128, &x, i), got = get(DT_C128, &out, i);
            const parts expected = parts_of(functions[f].special(complex_of(z)));
            if (is_finite(z))
                continue;
            const bool is_directed = has_direction(z) && !isnan(expected.re) && !isnan(expected.im),
                       of_modulus = functions[f].of_modulus;
            if (!agrees_with_c(got.re, expected.re, is_directed, of_modulus) ||
                !agrees_with_c(got.im, expected.im, is_directed, of_modulus))
                fail_msg("%s of %a%+ai: %a%+ai, expected %a%+ai", functions[f].name, z.re, z.im, got.re, got.im,
                         expected.re, expected.im);
        }
    }
}

static void quotients__are_within_their_bounds_everywhere(void **state) {
    (void)state;
    static block x, y, out;
    uint64_t random = test_seed(51);
    for (int round = 0; round < 6 * N_KINDS; round++) {
        const dt_dtype dtype = round % 2 ? DT_C128 : DT_C64;
        random_block(&random, dtype, round / 2 % N_KINDS, &x);
        random_block(&random, dtype, (int)test_below(&random, N_KINDS), &y);
        run_all_tables(DT__EL_DIV, dtype, N, &x, &y, &out);
        for (int64_t i = 0; i < N; i++) {
            const parts a = get(dtype, &x, i), b = get(dtype, &y, i), got = get(dtype, &out, i);
            if (!is_finite(a) || !is_finite(b) || (b.re == 0 && b.im == 0))
                continue;
            const double error = max_error_in_ulp(dtype, got, wide_of(a) / wide_of(b), true);
            if (error > (dtype == DT_C64 ? 0.51 : 5.5))
                fail_msg("(%a%+ai) / (%a%+ai) of %s: %a%+ai: %g ULP", a.re, a.im, b.re, b.im, dt_dtype_name(dtype),
                         got.re, got.im, error);
        }
    }
}

/* A number with an infinite part is an infinity, for any other part. */
static bool is_same_infinity(parts got, parts expected) {
    const bool re = isinf(got.re) && isinf(expected.re), im = isinf(got.im) && isinf(expected.im);
    return (re || im) && (!re || got.re == expected.re) && (!im || got.im == expected.im);
}

static bool has_infinity(parts z) { return isinf(z.re) || isinf(z.im); }

/* Both parts of each of a and b are special values. NaN without infinities is NaN here; compilers differ. */
static void quotients__have_the_special_values_of_c(void **state) {
    (void)state;
    static block x, y, out;
    for (int i = 0; i < N_SPECIAL; i++)
        for (int j = 0; j < N_SPECIAL; j++) {
            int64_t n = 0;
            for (int k = 0; k < N_SPECIAL; k++)
                for (int l = 0; l < N_SPECIAL; l++, n++) {
                    put(DT_C128, &x, n, (parts){special_values[i], special_values[j]});
                    put(DT_C128, &y, n, (parts){special_values[k], special_values[l]});
                }
            run_all_tables(DT__EL_DIV, DT_C128, n, &x, &y, &out);
            for (n--; n >= 0; n--) {
                const parts a = get(DT_C128, &x, n), b = get(DT_C128, &y, n), got = get(DT_C128, &out, n);
                const bool is_zero = b.re == 0 && b.im == 0,
                           is_open = !has_infinity(a) && !has_infinity(b) && !is_zero;
                const parts nan = {NAN, NAN},
                            expected = is_open ? nan : parts_of(complex_of(a) / (is_zero ? 0 : complex_of(b)));
                if (is_finite(a) && is_finite(b) && !is_zero)
                    continue;
                if (isinf(expected.re) || isinf(expected.im) ? !is_same_infinity(got, expected)
                                                             : !agrees_with_c(got.re, expected.re, true, true) ||
                                                                   !agrees_with_c(got.im, expected.im, true, true))
                    fail_msg("(%a%+ai) / (%a%+ai): %a%+ai, expected %a%+ai", a.re, a.im, b.re, b.im, got.re, got.im,
                             expected.re, expected.im);
            }
        }
}

static void quotients__of_real_numbers_are_those_of_real_numbers(void **state) {
    (void)state;
    static block x, y, out;
    uint64_t random = test_seed(52);
    for (int d = 0; d < 2; d++) {
        const dt_dtype dtype = d ? DT_C128 : DT_C64;
        for (int64_t i = 0; i < N; i++) {
            put(dtype, &x, i, (parts){magnitude(&random, -40, 40), magnitude(&random, -40, 40)});
            put(dtype, &y, i, (parts){magnitude(&random, -40, 40), 0});
        }
        run_all_tables(DT__EL_DIV, dtype, N, &x, &y, &out);
        for (int64_t i = 0; i < N; i++) {
            const parts a = get(dtype, &x, i), b = get(dtype, &y, i), got = get(dtype, &out, i);
            assert_true(got.re == (d ? a.re / b.re : (double)((float)a.re / (float)b.re)));
            assert_true(got.im == (d ? a.im / b.re : (double)((float)a.im / (float)b.re)));
        }
    }
}

/* The error of the logarithm is multiplied by the exponent: 5u + 8u (|cL| + |dA| + |dL| + |cA|) of the modulus, with u
 * = 2^-53, for z = e^(L + iA) and the exponent c + di; c64 adds the last rounding. */
static void powers__are_within_their_bounds_everywhere(void **state) {
    (void)state;
    static block x, y, out;
    uint64_t random = test_seed(53);
    for (int round = 0; round < 4 * N_KINDS; round++) {
        const dt_dtype dtype = round % 2 ? DT_C128 : DT_C64;
        random_block(&random, dtype, round / 2 % N_KINDS, &x);
        for (int64_t i = 0; i < N; i++) {
            const parts z = get(dtype, &x, i);
            const double size = fabs(log(hypot(z.re, z.im))) + 3, max_exponent = dtype == DT_C64 ? 100 : 750;
            const double a = uniform(&random, -max_exponent, max_exponent) / size,
                         b = uniform(&random, -max_exponent, max_exponent) / size;
            put(dtype, &y, i, (parts){i % 3 ? a : 0, i % 4 ? b : 0});
        }
        run_all_tables(DT__EL_POW, dtype, N, &x, &y, &out);
        for (int64_t i = 0; i < N; i++) {
            const parts z = get(dtype, &x, i), w = get(dtype, &y, i), got = get(dtype, &out, i);
            if (!is_finite(z) || (z.re == 0 && z.im == 0))
                continue;
            const wide_complex log = WIDE(clog)(wide_of(z)), expected = WIDE(cexp)(wide_of(w) * log);
            const wide size = modulus(expected), last = (wide)one_ulp(dtype, size);
            const wide sum =
                (WIDE(fabs)(WIDE(creal)(log)) + WIDE(fabs)(WIDE(cimag)(log))) * (wide)(fabs(w.re) + fabs(w.im));
            const wide allowed = size * (wide)0x1p-53 * (5 + 8 * sum) + (dtype == DT_C64 ? last : (wide)0x1p-1074);
            if (size > (dtype == DT_C64 ? (wide)FLT_MAX : (wide)DBL_MAX) / 2)
                continue;
            if (!(modulus(wide_of(got) - expected) <= allowed))
                fail_msg("(%a%+ai)^(%a%+ai) of %s: %a%+ai, expected %La%+Lai", z.re, z.im, w.re, w.im,
                         dt_dtype_name(dtype), got.re, got.im, (long double)WIDE(creal)(expected),
                         (long double)WIDE(cimag)(expected));
        }
    }
}

static void powers__have_special_values(void **state) {
    (void)state;
    const double inf = INFINITY, nan = (double)NAN;
    const struct {
        parts z, w, power;
    } rows[] = {
        {{0, 0}, {0, 0}, {1, 0}},       {{nan, 1}, {0, 0}, {1, 0}},  {{inf, -inf}, {0, -0.0}, {1, 0}},
        {{0, 0}, {2, 0}, {0, 0}},       {{0, 0}, {0.5, 0}, {0, 0}},  {{0, 0}, {-1, 0}, {inf, 0}},
        {{inf, 0}, {2, 0}, {inf, 0}},   {{inf, 0}, {-2, 0}, {0, 0}}, {{0, 0}, {1, nan}, {nan, nan}},
        {{2, 0}, {nan, 0}, {nan, nan}}, {{1, 0}, {5, 3}, {1, 0}},    {{2, 0}, {10, 0}, {1024, 0}},
        {{nan, 0}, {1, 0}, {nan, nan}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        block x, y, out;
        put(DT_C128, &x, 0, rows[i].z);
        put(DT_C128, &y, 0, rows[i].w);
        run_all_tables(DT__EL_POW, DT_C128, 1, &x, &y, &out);
        const parts got = get(DT_C128, &out, 0), expected = rows[i].power;
        if (!agrees_with_c(got.re, expected.re, false, false) || !agrees_with_c(got.im, expected.im, false, false))
            fail_msg("(%a%+ai)^(%a%+ai) is %a%+ai, expected %a%+ai", rows[i].z.re, rows[i].z.im, rows[i].w.re,
                     rows[i].w.im, got.re, got.im, expected.re, expected.im);
    }
}

/* Points whose distance from the unit circle is far below the last bit of a part: x^2 + y^2 - 1 cancels twice.
 * Pythagorean triples (m^2 - n^2, 2mn, m^2 + n^2), divided by their largest number, are such points. */
static void log__is_exact_beside_the_unit_circle(void **state) {
    (void)state;
    static block x;
    int64_t n = 0;
    for (int m = 2; n < N; m++)
        for (int k = 1; k < m && n < N; k++) {
            const double c = m * m + k * k;
            put(DT_C128, &x, n++, (parts){(m * m - k * k) / c, 2 * m * k / c});
        }
    for (int f = 0; f < N_FUNCTIONS; f++)
        if (functions[f].op == DT__EL_LOG)
            check_function(&functions[f], DT_C128, &x, n);
}

/* Whether the loop of an op reads or writes booleans. */
static bool has_booleans(int op) {
#define ROW(name, n_ins, bool_ins, is_bool) (bool_ins) || (is_bool),
    static const bool has[] = {DT__ELEMENT_LIST(ROW)};
#undef ROW
    return has[op];
}

/* An element does not depend on its neighbors, on its position or on whether the output is an input. */
static void results__depend_on_their_operands_alone(void **state) {
    (void)state;
    enum { N_ELEMENTS = 300 };
    uint64_t random = test_seed(54);
    for (int op = 0; op < DT__N_ELEMENT_OPS; op++)
        for (int d = 0; d < 2; d++) {
            static block x, y, block_result, single_result;
            const dt_dtype dtype = d ? DT_C128 : DT_C64;
            if (!dt__kernels_baseline.loops->ops[op][dtype] || has_booleans(op) || op == DT__EL_ADD_SCALED)
                continue;
            for (int64_t i = 0; i < N_ELEMENTS; i++) {
                put(dtype, &x, i, random_parts(&random, dtype, i % 7 ? 1 : (int)(i % N_KINDS)));
                put(dtype, &y, i, random_parts(&random, dtype, i % 5 ? 1 : (int)(i % N_KINDS)));
            }
            for (int t = 0; t < N_NAMES; t++) {
                if (!table_at(t))
                    continue;
                dt__loop *loop = table_at(t)->loops->ops[op][dtype];
                loop(N_ELEMENTS, &block_result, (const void *[]){&x, &y, NULL}, NULL);
                for (int64_t i = 0; i < N_ELEMENTS; i++) {
                    block a, b;
                    put(dtype, &a, 0, get(dtype, &x, i));
                    put(dtype, &b, 0, get(dtype, &y, i));
                    loop(1, &single_result, (const void *[]){&a, &b, NULL}, NULL);
                    const parts single = get(dtype, &single_result, 0), element = get(dtype, &block_result, i);
                    put(dtype, &a, 0, single);
                    put(dtype, &b, 0, element);
                    if (first_difference(dtype, &a, &b, 1) >= 0)
                        fail_msg("%s, op %d, element %d: %a%+ai by itself, %a%+ai in a block", table_names[t], op,
                                 (int)i, single.re, single.im, element.re, element.im);
                }
                single_result = x;
                loop(N_ELEMENTS, &single_result, (const void *[]){&single_result, &y, NULL}, NULL);
                assert_int_equal(first_difference(dtype, &single_result, &block_result, N_ELEMENTS), -1);
            }
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions__are_within_their_bounds_everywhere),
        cmocka_unit_test(functions__have_the_special_values_of_c),
        cmocka_unit_test(quotients__are_within_their_bounds_everywhere),
        cmocka_unit_test(quotients__have_the_special_values_of_c),
        cmocka_unit_test(quotients__of_real_numbers_are_those_of_real_numbers),
        cmocka_unit_test(powers__are_within_their_bounds_everywhere),
        cmocka_unit_test(powers__have_special_values),
        cmocka_unit_test(log__is_exact_beside_the_unit_circle),
        cmocka_unit_test(results__depend_on_their_operands_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
