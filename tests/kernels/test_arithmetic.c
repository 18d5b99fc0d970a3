/* SPDX-License-Identifier: Apache-2.0
 *
 * Results of reductions against the definition: floats by operations in a format so wide that rounding its result
 * rounds the exact one, integers by 128-bit arithmetic reduced to the width, 16-bit floats by searching the list of
 * all their values for the nearest. Every table is compared with it, on special values and on random ones.
 */
#include "kernels/support.h"

#if __LDBL_MANT_DIG__ >= 113
typedef long double wide;
#else
typedef __float128 wide;
#endif
typedef __int128 integer;

/* The values of the codes 0, 1, 2, … of a 16-bit format, ascending; the code of infinity has the value that would
 * come next if there were no infinity. */
typedef struct format {
    int fraction_bits, e_min;
    int infinity;
    double values[0x7f81];
} format;

static format f16 = {.fraction_bits = 10, .e_min = -14, .infinity = 0x7c00};
static format bf16 = {.fraction_bits = 7, .e_min = -126, .infinity = 0x7f80};

static double power_of_two(int e) {
    double power = 1;
    for (; e > 0; e--)
        power *= 2;
    for (; e < 0; e++)
        power /= 2;
    return power;
}

static void list_values(format *as) {
    int steps =
        1 << as->fraction_bits; /* per power of two; the subnormals are 0, 1, … steps - 1 of the smallest step */
    for (int code = 0; code <= as->infinity; code++) {
        int power = code < steps ? 0 : code / steps - 1;
        int multiple = code < steps ? code : steps + code % steps;
        as->values[code] = multiple * power_of_two(power + as->e_min - as->fraction_bits);
    }
}

static double value_of(const format *as, uint16_t code) {
    int size = code & 0x7fff;
    double value = size > as->infinity ? (double)NAN : size == as->infinity ? (double)INFINITY : as->values[size];
    return code & 0x8000 ? -value : value;
}

/* The code whose value is nearest, the even one of two; any NaN for NaN. */
static uint16_t nearest_code(const format *as, float x) {
    int sign = signbit(x) ? 0x8000 : 0;
    double size = fabs((double)x);
    if (isnan(x))
        return 0x7fff;
    int low = 0, high = as->infinity; /* value(low) <= x, and value(high) > x or high is the highest */
    if (size >= as->values[high])
        return (uint16_t)(sign | high);
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (as->values[middle] <= size)
            low = middle;
        else
            high = middle;
    }
    double below = size - as->values[low], above = as->values[high] - size;
    int code = below < above || (below == above && low % 2 == 0) ? low : high;
    return (uint16_t)(sign | code);
}

static bool is_min(dt_reduce op) { return op == DT_MIN; }

/* -1, 0, 1 with -0 below +0; neither is NaN. */
static int order(double a, double b) {
    if (a != b)
        return a < b ? -1 : 1;
    return (signbit(a) == 0) - (signbit(b) == 0);
}

static double extreme(dt_reduce op, double a, double b) {
    if (isnan(a) || isnan(b))
        return (double)NAN;
    return (order(a, b) < 0) == is_min(op) ? a : b;
}

static float combine_f32(dt_reduce op, float a, float b) {
    if (op == DT_MIN || op == DT_MAX)
        return (float)extreme(op, (double)a, (double)b);
    return op == DT_PRODUCT ? (float)((wide)a * (wide)b) : (float)((wide)a + (wide)b);
}

static double combine_f64(dt_reduce op, double a, double b) {
    if (op == DT_MIN || op == DT_MAX)
        return extreme(op, a, b);
    return op == DT_PRODUCT ? (double)((wide)a * (wide)b) : (double)((wide)a + (wide)b);
}

/* Modulo 2^bits, in the range of the type. */
static integer wrapped(integer x, int bits, bool is_signed) {
    integer modulus = (integer)1 << bits;
    integer modulo = (x % modulus + modulus) % modulus;
    return is_signed && modulo >= modulus / 2 ? modulo - modulus : modulo;
}

static integer combine_integers(dt_reduce op, integer a, integer b) {
    if (op == DT_MIN || op == DT_MAX)
        return (a < b) == is_min(op) ? a : b;
    return op == DT_PRODUCT ? a * b : a + b;
}

enum { MAX_SRCS = 5 };

static void expect_float16(const format *as, dt_reduce op, const void *const *srcs, int n_srcs, size_t i,
                           int64_t divisor, void *out) {
    const uint16_t *const *s = (const uint16_t *const *)srcs;
    float all = (float)value_of(as, s[0][i]);
    for (int k = 1; k < n_srcs; k++)
        all = combine_f32(op, all, (float)value_of(as, s[k][i]));
    if (op == DT_AVG)
        all = (float)((wide)all / (wide)divisor);
    ((uint16_t *)out)[i] = nearest_code(as, all);
}

static void expect_f32(dt_reduce op, const void *const *srcs, int n_srcs, size_t i, int64_t divisor, void *out) {
    const float *const *s = (const float *const *)srcs;
    float all = s[0][i];
    for (int k = 1; k < n_srcs; k++)
        all = combine_f32(op, all, s[k][i]);
    ((float *)out)[i] = op == DT_AVG ? (float)((wide)all / (wide)divisor) : all;
}

static void expect_f64(dt_reduce op, const void *const *srcs, int n_srcs, size_t i, int64_t divisor, void *out) {
    const double *const *s = (const double *const *)srcs;
    double all = s[0][i];
    for (int k = 1; k < n_srcs; k++)
        all = combine_f64(op, all, s[k][i]);
    ((double *)out)[i] = op == DT_AVG ? (double)((wide)all / (wide)divisor) : all;
}

static void expect_c64_product(const void *const *srcs, int n_srcs, size_t i, void *out) {
    const float *const *s = (const float *const *)srcs;
    float re = s[0][2 * i], im = s[0][2 * i + 1];
    for (int k = 1; k < n_srcs; k++) {
        float c = s[k][2 * i], d = s[k][2 * i + 1];
        float ac = combine_f32(DT_PRODUCT, re, c), bd = combine_f32(DT_PRODUCT, im, d);
        float ad = combine_f32(DT_PRODUCT, re, d), bc = combine_f32(DT_PRODUCT, im, c);
        re = combine_f32(DT_SUM, ac, -bd);
        im = combine_f32(DT_SUM, ad, bc);
    }
    ((float *)out)[2 * i] = re;
    ((float *)out)[2 * i + 1] = im;
}

static void expect_c128_product(const void *const *srcs, int n_srcs, size_t i, void *out) {
    const double *const *s = (const double *const *)srcs;
    double re = s[0][2 * i], im = s[0][2 * i + 1];
    for (int k = 1; k < n_srcs; k++) {
        double c = s[k][2 * i], d = s[k][2 * i + 1];
        double ac = combine_f64(DT_PRODUCT, re, c), bd = combine_f64(DT_PRODUCT, im, d);
        double ad = combine_f64(DT_PRODUCT, re, d), bc = combine_f64(DT_PRODUCT, im, c);
        re = combine_f64(DT_SUM, ac, -bd);
        im = combine_f64(DT_SUM, ad, bc);
    }
    ((double *)out)[2 * i] = re;
    ((double *)out)[2 * i + 1] = im;
}

static integer integer_at(dt_dtype dtype, const void *from, size_t i) {
    switch (dtype) {
    case DT_I8:
        return ((const int8_t *)from)[i];
    case DT_I16:
        return ((const int16_t *)from)[i];
    case DT_I32:
        return ((const int32_t *)from)[i];
    case DT_I64:
        return ((const int64_t *)from)[i];
    default:
        return ((const uint8_t *)from)[i];
    }
}

static void expect_integer(dt_dtype dtype, dt_reduce op, const void *const *srcs, int n_srcs, size_t i,
                           int64_t divisor, void *out) {
    int bits = 8 * (int)dt_dtype_size(dtype);
    integer all = integer_at(dtype, srcs[0], i);
    for (int k = 1; k < n_srcs; k++) {
        all = combine_integers(op, all, integer_at(dtype, srcs[k], i));
        all = op == DT_AVG ? all : wrapped(all, bits, dtype != DT_U8);
    }
    if (op == DT_AVG)
        all = all < 0 ? -(-all / divisor) : all / divisor;
    memcpy((char *)out + i * (size_t)bits / 8, &all, (size_t)bits / 8);
}

static void expect_bool(dt_reduce op, const void *const *srcs, int n_srcs, size_t i, void *out) {
    int n_true = 0;
    for (int k = 0; k < n_srcs; k++)
        n_true += ((const uint8_t *)srcs[k])[i] != 0;
    ((uint8_t *)out)[i] = op == DT_SUM || op == DT_MAX ? n_true > 0 : n_true == n_srcs;
}

static void expect_element(dt_dtype dtype, dt_reduce op, const void *const *srcs, int n_srcs, size_t i,
                           int64_t divisor, void *out) {
    bool is_complex = dtype == DT_C64 || dtype == DT_C128;
    if (dtype == DT_F16 || dtype == DT_BF16)
        expect_float16(dtype == DT_F16 ? &f16 : &bf16, op, srcs, n_srcs, i, divisor, out);
    else if (dtype == DT_BOOL)
        expect_bool(op, srcs, n_srcs, i, out);
    else if (is_complex && op == DT_PRODUCT)
        (dtype == DT_C64 ? expect_c64_product : expect_c128_product)(srcs, n_srcs, i, out);
    else if (dtype == DT_F32 || dtype == DT_F64)
        (dtype == DT_F32 ? expect_f32 : expect_f64)(op, srcs, n_srcs, i, divisor, out);
    else if (is_complex)
        for (size_t part = 0; part < 2; part++)
            (dtype == DT_C64 ? expect_f32 : expect_f64)(op, srcs, n_srcs, 2 * i + part, divisor, out);
    else
        expect_integer(dtype, op, srcs, n_srcs, i, divisor, out);
}

static void check_tables(dt_dtype dtype, dt_reduce op, const void *const *srcs, int n_srcs, size_t n,
                         int64_t divisor) {
    char *expected = malloc(n * dt_dtype_size(dtype)), *got = malloc(n * dt_dtype_size(dtype));
    for (size_t i = 0; i < n; i++)
        expect_element(dtype, op, srcs, n_srcs, i, divisor, expected);
    for (int t = 0; t < N_NAMES; t++) {
        const dt__kernels *table = table_at(t);
        if (!table)
            continue;
        table->reduce(dtype, op, got, srcs, n_srcs, n, divisor, DT__CACHED);
        int64_t at = first_difference(dtype, got, expected, n);
        if (at >= 0)
            fail_msg("%s %s %s of %d, divisor %ld: sources %lx %lx...: expected %lx, got %lx", table->name,
                     dt_dtype_name(dtype), dt_reduce_name(op), n_srcs, (long)divisor,
                     (unsigned long)real_bits(dtype, srcs[0], at),
                     (unsigned long)real_bits(dtype, srcs[n_srcs > 1], at),
                     (unsigned long)real_bits(dtype, expected, at), (unsigned long)real_bits(dtype, got, at));
    }
    free(expected);
    free(got);
}

static void reduce__equals_the_definition_for_every_dtype_and_reduction(void **state) {
    (void)state;
    enum { N = 4000 };
    static const int64_t divisors[] = {1, 2, 3, 5, 127, 128, 129, 40000, 5000000000};
    uint64_t random = test_seed(1);
    for (int dtype = DT_NO_DTYPE + 1; dtype < DT_N_DTYPES; dtype++) {
        void *srcs[MAX_SRCS];
        for (int k = 0; k < MAX_SRCS; k++) {
            srcs[k] = malloc(N * dt_dtype_size((dt_dtype)dtype));
            random_elements((dt_dtype)dtype, &random, srcs[k], N);
        }
        for (int op = 0; op < DT_N_REDUCES; op++)
            for (int n_srcs = 1; n_srcs <= MAX_SRCS; n_srcs++)
                for (int d = 0; d < (op == DT_AVG ? 9 : 1); d++)
                    if (dt_reduce_allowed((dt_dtype)dtype, (dt_reduce)op))
                        check_tables((dt_dtype)dtype, (dt_reduce)op, (const void *const *)srcs, n_srcs, N,
                                     divisors[d]);
        for (int k = 0; k < MAX_SRCS; k++)
            free(srcs[k]);
    }
}

enum { N_CODES = 0x10000 };

static const dt_dtype halves[] = {DT_F16, DT_BF16};

/* A code that is not NaN is unchanged, and NaN is NaN. */
static void float16__every_code_survives_widening_and_narrowing(void **state) {
    (void)state;
    uint16_t codes[N_CODES], got[N_CODES];
    for (int i = 0; i < N_CODES; i++)
        codes[i] = (uint16_t)i;
    for (int t = 0; t < N_NAMES; t++)
        for (int h = 0; h < 2; h++) {
            const dt_dtype dtype = halves[h];
            if (!table_at(t))
                continue;
            table_at(t)->reduce(dtype, DT_SUM, got, (const void *[]){codes}, 1, N_CODES, 1, DT__CACHED);
            int64_t at = first_difference(dtype, got, codes, N_CODES);
            if (at >= 0)
                fail_msg("%s: %s code %lx became %x", table_names[t], dt_dtype_name(dtype), (unsigned long)at,
                         got[at]);
        }
}

/* Every code with partners that cause each kind of rounding: ties, carries, underflow, overflow. */
static void float16__every_code_with_many_partners_equals_the_definition(void **state) {
    (void)state;
    static uint16_t codes[N_CODES], partners[N_CODES];
    static const uint16_t fixed[] = {0x0000, 0x8000, 0x0001, 0x8001, 0x03ff, 0x0400, 0x3c00, 0xbc00, 0x3c01,
                                     0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00, 0x007f, 0x0080, 0x3f80, 0xbf81,
                                     0x7f7f, 0x7f80, 0xff80, 0x3800, 0x1400, 0x0c00, 0x4d01, 0x3f01};
    enum { N_FIXED = sizeof fixed / sizeof *fixed, N_RANDOM = 4 };
    uint64_t random = test_seed(2);
    for (int i = 0; i < N_CODES; i++)
        codes[i] = (uint16_t)i;
    for (int p = 0; p < N_FIXED + N_RANDOM; p++) {
        for (int i = 0; i < N_CODES; i++)
            partners[i] = p < N_FIXED ? fixed[p] : (uint16_t)test_random(&random);
        for (int h = 0; h < 2; h++)
            for (int op = 0; op < DT_N_REDUCES; op++)
                check_tables(halves[h], (dt_reduce)op, (const void *[]){codes, partners}, 2, N_CODES, 3);
    }
}

static int set_up(void **state) {
    (void)state;
    list_values(&f16);
    list_values(&bf16);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reduce__equals_the_definition_for_every_dtype_and_reduction),
        cmocka_unit_test(float16__every_code_survives_widening_and_narrowing),
        cmocka_unit_test(float16__every_code_with_many_partners_equals_the_definition),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
