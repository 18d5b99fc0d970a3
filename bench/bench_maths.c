/* SPDX-License-Identifier: Apache-2.0
 *
 * The elementary functions of the kernels compared with those of SLEEF, if that library is found when this is built:
 * the largest error in units in the last place (ULP), and nanoseconds per element on one thread. Of SLEEF only the
 * variants without fused products (`cinz`) are compared: no other computes the same bits on every instruction set.
 *
 * f32 is compared with the C library in f64, over all values of the argument with a stride; f64 with the C library in
 * long double, half of the arguments with random bits and half from the range in which the function varies. Ours and
 * SLEEF's are timed in turn until the fastest of either has settled (settle.h).
 *
 * Functions of complex numbers are compared with loops over the C library's functions of the same format; their
 * errors, the maximum over both parts, are those from the C library's functions of the next longer one. Quotients and
 * powers count in ULP of the modulus.
 *
 *     bench_maths [--quick | --exhaustive] [--complex-only]
 */
#include "base/half_float.h"
#include "kernels/kernels.h"
#include "settle.h"

#include <complex.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { N = 1 << 12 };
static const double budget_s = 0.005;

typedef void maths_loop(int64_t n, void *out, const void *const *ins, const dt__number *numbers);

/* SLEEF's loops of a function: with 32-byte registers and with 64-byte ones; NULL without the library. */
typedef struct sleef_loops {
    maths_loop *f32[2], *f64[2];
} sleef_loops;

#if defined HAVE_SLEEF && defined __x86_64__
#include <immintrin.h>

/* The names are declared here, because the header of SLEEF declares only those of the instruction set for which the
 * including file is compiled. */
#define UNARY(type)            type
#define BINARY(type)           type, type
#define UNARY_ARGUMENTS(load)  load(x + i)
#define BINARY_ARGUMENTS(load) load(x + i), load(y + i)
#define SLEEF_LOOP(isa, arity, name, real, type, lanes, load, store)                                                 \
    __attribute__((target(isa))) type Sleef_cinz_##name(arity(type));                                                \
    __attribute__((target(isa))) static void loop_##name(int64_t n, void *out, const void *const *ins,               \
                                                         const dt__number *numbers) {                                \
        const real *x = ins[0], *y = ins[1];                                                                         \
        (void)numbers, (void)y;                                                                                      \
        for (int64_t i = 0; i + lanes <= n; i += lanes)                                                              \
            store((real *)out + i, Sleef_cinz_##name(arity##_ARGUMENTS(load)));                                      \
    }
#define AVX_LOOPS(arity, f, u)                                                                                       \
    SLEEF_LOOP("avx", arity, f##f8_##u##avx, float, __m256, 8, _mm256_loadu_ps, _mm256_storeu_ps)                    \
    SLEEF_LOOP("avx", arity, f##d4_##u##avx, double, __m256d, 4, _mm256_loadu_pd, _mm256_storeu_pd)
#define AVX512_LOOPS(arity, f, u)                                                                                    \
    SLEEF_LOOP("avx512f", arity, f##f16_##u##avx512fnofma, float, __m512, 16, _mm512_loadu_ps, _mm512_storeu_ps)     \
    SLEEF_LOOP("avx512f", arity, f##d8_##u##avx512fnofma, double, __m512d, 8, _mm512_loadu_pd, _mm512_storeu_pd)
#define SLEEF_LIST(X)                                                                                                \
    X(UNARY, exp, u10)                                                                                               \
    X(UNARY, log, u10)                                                                                               \
    X(UNARY, tanh, u10)                                                                                              \
    X(UNARY, erf, u10)                                                                                               \
    X(UNARY, sin, u10)                                                                                               \
    X(UNARY, cos, u10)                                                                                               \
    X(UNARY, sqrt, u05)                                                                                              \
    X(BINARY, pow, u10)
SLEEF_LIST(AVX_LOOPS)
SLEEF_LOOP("avx", BINARY, fmodf8_avx, float, __m256, 8, _mm256_loadu_ps, _mm256_storeu_ps)
SLEEF_LOOP("avx", BINARY, fmodd4_avx, double, __m256d, 4, _mm256_loadu_pd, _mm256_storeu_pd)
SLEEF_LIST(AVX512_LOOPS)
SLEEF_LOOP("avx512f", BINARY, fmodf16_avx512fnofma, float, __m512, 16, _mm512_loadu_ps, _mm512_storeu_ps)
SLEEF_LOOP("avx512f", BINARY, fmodd8_avx512fnofma, double, __m512d, 8, _mm512_loadu_pd, _mm512_storeu_pd)
#define SLEEF(f, u)                                                                                                  \
    {                                                                                                                \
        {loop_##f##f8_##u##avx, loop_##f##f16_##u##avx512fnofma}, {                                                  \
            loop_##f##d4_##u##avx, loop_##f##d8_##u##avx512fnofma                                                    \
        }                                                                                                            \
    }
#define SLEEF_FMOD                                                                                                   \
    {                                                                                                                \
        {loop_fmodf8_avx, loop_fmodf16_avx512fnofma}, { loop_fmodd4_avx, loop_fmodd8_avx512fnofma }                  \
    }
#else
#define SLEEF(f, u)                                                                                                  \
    {                                                                                                                \
        {NULL, NULL}, { NULL, NULL }                                                                                 \
    }
#define SLEEF_FMOD SLEEF(fmod, )
#endif

static double floor_mod(double x, double y) {
    const double rest = fmod(x, y);
    return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
}
static long double floor_mod_long(long double x, long double y) {
    return (long double)floor_mod((double)x, (double)y);
}

/* SLEEF has the remainder of C only, which has another sign: its error is not compared. */
static const struct function {
    const char *name;
    dt__element_op op;
    double (*f32)(double);
    long double (*f64)(long double);
    double (*f32_2)(double, double);
    long double (*f64_2)(long double, long double);
    double low, high; /* arguments for speed, and half of those for the error of f64 */
    sleef_loops sleef;
} functions[] = {
    {"exp", DT__EL_EXP, exp, expl, NULL, NULL, -80, 80, SLEEF(exp, u10)},
    {"log", DT__EL_LOG, log, logl, NULL, NULL, 0, 10, SLEEF(log, u10)},
    {"tanh", DT__EL_TANH, tanh, tanhl, NULL, NULL, -8, 8, SLEEF(tanh, u10)},
    {"erf", DT__EL_ERF, erf, erfl, NULL, NULL, -5, 5, SLEEF(erf, u10)},
    {"sin", DT__EL_SIN, sin, sinl, NULL, NULL, -100, 100, SLEEF(sin, u10)},
    {"cos", DT__EL_COS, cos, cosl, NULL, NULL, -100, 100, SLEEF(cos, u10)},
    {"sqrt", DT__EL_SQRT, sqrt, sqrtl, NULL, NULL, 0, 10, SLEEF(sqrt, u05)},
    {"pow", DT__EL_POW, NULL, NULL, pow, powl, 0, 10, SLEEF(pow, u10)},
    {"remainder", DT__EL_REMAINDER, NULL, NULL, floor_mod, floor_mod_long, -10, 10, SLEEF_FMOD},
};

static uint64_t random_state = 88172645463325252u;

static uint64_t random_bits(void) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    return random_state ^= random_state << 17;
}
static double random_between(double low, double high) {
    return low + (high - low) * ((double)(random_bits() >> 11) * 0x1p-53);
}

static double now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* The error in ULP; 1e9 where a special case is wrong. */
static double units_off(dt_dtype dtype, double got, long double expected) {
    const int fraction = dtype == DT_F32 ? 23 : 52, lowest = dtype == DT_F32 ? -126 : -1022;
    const double rounded = dtype == DT_F32 ? (double)(float)expected : (double)expected;
    if (isnan(got) || isnan(rounded))
        return isnan(got) && isnan(rounded) ? 0 : 1e9;
    if (isinf(rounded) || isinf(got))
        return got == rounded || fabsl(expected) > (dtype == DT_F32 ? 0x1.fffffp127L : 0x1.fffffffffp1023L) ? 0 : 1e9;
    const int e = expected == 0 ? lowest : ilogbl(expected);
    return (double)(fabsl((long double)got - expected) / ldexpl(1, (e < lowest ? lowest : e) - fraction));
}

typedef struct data {
    double f64[3][N];
    float f32[3][N];
} data;

static void run(maths_loop *loop, dt_dtype dtype, data *d) {
    if (dtype == DT_F32)
        loop(N, d->f32[2], (const void *[]){d->f32[0], d->f32[1], NULL}, NULL);
    else
        loop(N, d->f64[2], (const void *[]){d->f64[0], d->f64[1], NULL}, NULL);
}

static double worst_of(const struct function *f, dt_dtype dtype, maths_loop *loop, data *d) {
    double worst = 0;
    run(loop, dtype, d);
    for (int i = 0; i < N; i++) {
        const double got = dtype == DT_F32 ? (double)d->f32[2][i] : d->f64[2][i];
        const double x = dtype == DT_F32 ? (double)d->f32[0][i] : d->f64[0][i];
        const double y = dtype == DT_F32 ? (double)d->f32[1][i] : d->f64[1][i];
        const long double expected = dtype == DT_F32 ? (long double)(f->f32 ? f->f32(x) : f->f32_2(x, y))
                                                     : (f->f64 ? f->f64(x) : f->f64_2(x, y));
        const double off = units_off(dtype, got, expected);
        worst = off > worst ? off : worst;
    }
    return worst;
}

/* Arguments for errors: bits count up for f32 functions of one argument, and are random otherwise. */
static void fill_errors(const struct function *f, dt_dtype dtype, uint64_t *bits, uint64_t stride, bool in_range,
                        data *d) {
    for (int i = 0; i < N; i++, *bits += stride) {
        const double x = in_range ? random_between(f->low, f->high) : dt__f64_from_bits(random_bits());
        const double power = random_between(-1, 1) * (dtype == DT_F32 ? 150 : 1080);
        d->f64[0][i] = f->f64 || f->op != DT__EL_POW ? x : fabs(x);
        d->f32[0][i] = f->f32 ? dt__f32_from_bits((uint32_t)*bits) : dt__f32_from_bits((uint32_t)random_bits());
        if (f->op == DT__EL_POW)
            d->f32[0][i] = fabsf(d->f32[0][i]);
        const double base = dtype == DT_F32 ? (double)d->f32[0][i] : d->f64[0][i], log = fabs(log2(base));
        d->f64[1][i] = f->op == DT__EL_POW ? power / (log > 0 ? log : 1) : random_between(f->low, f->high);
        d->f32[1][i] = (float)d->f64[1][i];
    }
}

static double max_error(const struct function *f, dt_dtype dtype, maths_loop *loop, uint64_t stride) {
    static data d;
    double worst = 0;
    uint64_t bits = 0;
    const bool counts = f->f32 && dtype == DT_F32;
    const int64_t n_blocks = (int64_t)((1ull << 32) / stride / N);
    random_state = 88172645463325252u;
    for (int64_t block = 0; counts ? bits < 1ull << 32 : block < (n_blocks < 500 ? n_blocks : 500); block++) {
        fill_errors(f, dtype, &bits, stride, block % 2, &d);
        const double off = worst_of(f, dtype, loop, &d);
        worst = off > worst ? off : worst;
    }
    return worst;
}

struct timed {
    maths_loop *loop;
    dt_dtype dtype;
    data *data;
};

static double repeat_loop(void *user) {
    const struct timed *timed = user;
    const double start = now_ns();
    run(timed->loop, timed->dtype, timed->data);
    return (now_ns() - start) / 1e9;
}

static void time_both(const struct function *f, dt_dtype dtype, maths_loop *ours, maths_loop *sleef, double ns[2]) {
    static data d;
    for (int i = 0; i < N; i++)
        for (int k = 0; k < 2; k++) {
            d.f64[k][i] = random_between(f->low, f->high);
            d.f32[k][i] = (float)d.f64[k][i];
        }
    struct timed a = {ours, dtype, &d}, b = {sleef ? sleef : ours, dtype, &d};
    (void)bench_settle_pair(budget_s, (bench_repeat *[]){repeat_loop, repeat_loop}, (void *[]){&a, &b}, ns);
    ns[0] *= 1e9 / N;
    ns[1] *= 1e9 / N;
}

static void print_cell(bool is_there, double value) {
    is_there ? printf(" %9.3f", value) : printf(" %9s", "skipped");
}

static void report(const struct function *f, dt_dtype dtype, const dt__kernels *kernels, int wide, uint64_t stride) {
    maths_loop *ours = kernels->loops->ops[f->op][dtype];
    maths_loop *sleef = dtype == DT_F32 ? f->sleef.f32[wide] : f->sleef.f64[wide];
    const bool compares = sleef && f->op != DT__EL_REMAINDER;
    const double error = max_error(f, dtype, ours, stride), other = compares ? max_error(f, dtype, sleef, stride) : 0;
    double ns[2];
    time_both(f, dtype, ours, sleef, ns);
    printf("%-10s %-4s %-7s", f->name, dt_dtype_name(dtype), kernels->name);
    print_cell(true, error);
    print_cell(compares, other);
    print_cell(true, ns[0]);
    print_cell(sleef, ns[1]);
    printf("\n{\"bench\":\"maths\",\"config\":{\"function\":\"%s\",\"dtype\":\"%s\",\"kernels\":\"%s\"},\"ulp\":%.4f,"
           "\"ours\":%.4f,\"unit\":\"ns/element\"",
           f->name, dt_dtype_name(dtype), kernels->name, error, ns[0]);
    if (compares)
        printf(",\"ulp_sleef\":%.4f", other);
    if (sleef)
        printf(",\"peer\":\"sleef\",\"theirs\":%.4f,\"ratio\":%.3f", ns[1], ns[1] / ns[0]);
    puts("}");
    fflush(stdout);
}

/* The C library's functions of complex numbers as loops. */
#define C_LOOP(name, type, expression)                                                                               \
    static void name(int64_t n, void *out, const void *const *ins, const dt__number *numbers) {                      \
        const type complex *x = ins[0], *y = ins[1];                                                                 \
        type complex *to = out;                                                                                      \
        (void)numbers, (void)y;                                                                                      \
        for (int64_t i = 0; i < n; i++)                                                                              \
            to[i] = expression;                                                                                      \
    }
#define C_LOOPS(f, c64, c128, c256)                                                                                  \
    C_LOOP(c64_##f, float, c64)                                                                                      \
    C_LOOP(c128_##f, double, c128)                                                                                   \
    static long double complex long_##f(long double complex x, long double complex y) {                              \
        (void)y;                                                                                                     \
        return c256;                                                                                                 \
    }
C_LOOPS(exp, cexpf(x[i]), cexp(x[i]), cexpl(x))
C_LOOPS(log, clogf(x[i]), clog(x[i]), clogl(x))
C_LOOPS(sqrt, csqrtf(x[i]), csqrt(x[i]), csqrtl(x))
C_LOOPS(tanh, ctanhf(x[i]), ctanh(x[i]), ctanhl(x))
C_LOOPS(sin, csinf(x[i]), csin(x[i]), csinl(x))
C_LOOPS(cos, ccosf(x[i]), ccos(x[i]), ccosl(x))
C_LOOPS(abs, cabsf(x[i]), cabs(x[i]), cabsl(x))
C_LOOPS(div, x[i] / y[i], x[i] / y[i], x / y)
C_LOOPS(pow, cpowf(x[i], y[i]), cpow(x[i], y[i]), cpowl(x, y))

static const struct complex_function {
    const char *name;
    dt__element_op op;
    maths_loop *c64, *c128;
    long double complex (*reference)(long double complex, long double complex);
    bool of_modulus;
} complex_functions[] = {
    {"exp", DT__EL_EXP, c64_exp, c128_exp, long_exp, false},
    {"log", DT__EL_LOG, c64_log, c128_log, long_log, false},
    {"sqrt", DT__EL_SQRT, c64_sqrt, c128_sqrt, long_sqrt, false},
    {"tanh", DT__EL_TANH, c64_tanh, c128_tanh, long_tanh, false},
    {"sin", DT__EL_SIN, c64_sin, c128_sin, long_sin, false},
    {"cos", DT__EL_COS, c64_cos, c128_cos, long_cos, false},
    {"abs", DT__EL_ABS, c64_abs, c128_abs, long_abs, false},
    {"div", DT__EL_DIV, c64_div, c128_div, long_div, true},
    {"pow", DT__EL_POW, c64_pow, c128_pow, long_pow, true},
};

/* Complex operands in the memory of real ones: twice as many reals. */
typedef struct complex_data {
    float complex c64[3][N];
    double complex c128[3][N];
} complex_data;

static void run_complex(maths_loop *loop, dt_dtype dtype, complex_data *d) {
    if (dtype == DT_C64)
        loop(N, d->c64[2], (const void *[]){d->c64[0], d->c64[1], NULL}, NULL);
    else
        loop(N, d->c128[2], (const void *[]){d->c128[0], d->c128[1], NULL}, NULL);
}

/* Parts from -4 to 4. */
static void fill_complex(complex_data *d) {
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < N; i++) {
            d->c128[k][i] = random_between(-4, 4) + random_between(-4, 4) * I;
            d->c64[k][i] = (float complex)d->c128[k][i];
        }
}

static double complex_error(const struct complex_function *f, dt_dtype dtype, maths_loop *loop, complex_data *d) {
    const dt_dtype part = dtype == DT_C64 ? DT_F32 : DT_F64;
    double worst = 0;
    for (int block = 0; block < 20; block++) {
        fill_complex(d);
        run_complex(loop, dtype, d);
        for (int i = 0; i < N; i++) {
            const bool is_short = dtype == DT_C64;
            const long double complex x = is_short ? (long double complex)d->c64[0][i] : d->c128[0][i];
            const long double complex y = is_short ? (long double complex)d->c64[1][i] : d->c128[1][i];
            const long double complex got = is_short ? (long double complex)d->c64[2][i] : d->c128[2][i];
            const long double complex expected = f->reference(x, y), off = got - expected;
            const double re = units_off(part, (double)creall(got), creall(expected));
            const double im = units_off(part, (double)cimagl(got), cimagl(expected));
            const double modulus = (double)(cabsl(off) / ldexpl(1, ilogbl(cabsl(expected)) - (is_short ? 23 : 52)));
            const double all = f->of_modulus ? modulus : re > im ? re : im;
            worst = all > worst ? all : worst;
        }
    }
    return worst;
}

struct timed_complex {
    maths_loop *loop;
    dt_dtype dtype;
    complex_data *data;
};

static double repeat_complex(void *user) {
    const struct timed_complex *timed = user;
    const double start = now_ns();
    run_complex(timed->loop, timed->dtype, timed->data);
    return (now_ns() - start) / 1e9;
}

static void report_complex(const struct complex_function *f, dt_dtype dtype, const dt__kernels *kernels) {
    static complex_data d;
    maths_loop *ours = kernels->loops->ops[f->op][dtype], *theirs = dtype == DT_C64 ? f->c64 : f->c128;
    random_state = 88172645463325252u;
    const double error = complex_error(f, dtype, ours, &d);
    random_state = 88172645463325252u;
    const double other = complex_error(f, dtype, theirs, &d);
    struct timed_complex a = {ours, dtype, &d}, b = {theirs, dtype, &d};
    double ns[2];
    (void)bench_settle_pair(budget_s, (bench_repeat *[]){repeat_complex, repeat_complex}, (void *[]){&a, &b}, ns);
    ns[0] *= 1e9 / N;
    ns[1] *= 1e9 / N;
    printf("%-10s %-4s %-8s %8.3f %9.3f %9.3f %9.3f\n", f->name, dt_dtype_name(dtype), kernels->name, error, other,
           ns[0], ns[1]);
    printf(
        "{\"bench\":\"maths\",\"config\":{\"function\":\"%s\",\"dtype\":\"%s\",\"kernels\":\"%s\"},\"ulp\":%.4f,"
        "\"ours\":%.4f,\"unit\":\"ns/element\",\"ulp_libm\":%.4f,\"peer\":\"libm\",\"theirs\":%.4f,\"ratio\":%.3f}\n",
        f->name, dt_dtype_name(dtype), kernels->name, error, ns[0], other, ns[1], ns[1] / ns[0]);
    fflush(stdout);
}

int main(int argc, char **argv) {
    static const char *const tables[] = {"avx2", "avx512"};
    static const dt_dtype dtypes[] = {DT_F32, DT_F64};
    uint64_t stride = 1021;
    bool has_real = true;
    for (int i = 1; i < argc; i++) {
        has_real = has_real && strcmp(argv[i], "--complex-only");
        stride = !strcmp(argv[i], "--quick") ? 20011 : !strcmp(argv[i], "--exhaustive") ? 1 : stride;
    }
#ifndef HAVE_SLEEF
    fprintf(stderr, "bench_maths: SLEEF was not found when this was built: its columns are skipped\n");
#endif
    printf("%-10s %-4s %-7s %9s %9s %9s %9s\n", "function", "", "table", "ULP", "SLEEF", "ns/elem", "SLEEF");
    for (size_t f = 0; has_real && f < sizeof functions / sizeof *functions; f++)
        for (int d = 0; d < 2; d++)
            for (int t = 0; t < 2; t++) {
                const dt__kernels *kernels = dt__kernels_named(tables[t]);
                if (kernels)
                    report(&functions[f], dtypes[d], kernels, t, stride);
            }
    printf("%-10s %-4s %-8s %8s %9s %9s %9s\n", "function", "", "table", "ULP", "libm", "ns/elem", "libm");
    for (size_t f = 0; f < sizeof complex_functions / sizeof *complex_functions; f++)
        for (int d = 0; d < 2; d++)
            for (int t = 0; t < 3; t++) {
                const dt__kernels *kernels = dt__kernels_named((const char *[]){"baseline", "avx2", "avx512"}[t]);
                if (kernels)
                    report_complex(&complex_functions[f], d ? DT_C128 : DT_C64, kernels);
            }
    return 0;
}
