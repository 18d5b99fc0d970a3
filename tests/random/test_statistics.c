/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether the numbers have their distributions, for any seed. A true sample fails each of some 140 checks once in
 * 10^7, so that a run fails by chance about once in 70,000. For normal statistics the limit is SIGMAS standard
 * errors; the limits of the Kolmogorov-Smirnov and chi-square statistics are the same quantile.
 */
#include "random/fills.h"
#include "random/statistics.h"

enum { N = 1 << 18 };
/* The numbers of one draw as doubles. */
static double *sample(dt_generator *generator, const dt__random *fill) {
    dt__draw draw = begin_draw(generator, fill);
    double *values = malloc(N * sizeof *values);
    char *raw = malloc(N * dt_dtype_size(fill->dtype));
    dt__draw_range(&draw, 0, N, raw);
    for (size_t i = 0; i < N; i++)
        switch (fill->dtype) {
        case DT_F32:
            values[i] = (double)((float *)raw)[i];
            break;
        case DT_F16:
        case DT_BF16:
            values[i] = f16_or_bf16_value(fill->dtype, ((uint16_t *)raw)[i]);
            break;
        case DT_I64:
            values[i] = (double)((int64_t *)raw)[i];
            break;
        default:
            values[i] = ((double *)raw)[i];
        }
    free(raw);
    return values;
}

static double mean_power(const double *x, double center, int power) {
    double sum = 0;
    for (int i = 0; i < N; i++) {
        double term = 1;
        for (int k = 0; k < power; k++)
            term *= x[i] - center;
        sum += term;
    }
    return sum / N;
}

static void check_below(const char *name, dt_dtype dtype, double got, double limit) {
    if (!(fabs(got) <= limit))
        fail_msg("%s of %s: expected at most %g, got %g", name, dt_dtype_name(dtype), limit, got);
}

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The Kolmogorov-Smirnov statistic: the largest distance of the empirical distribution function from cdf. Sorts x. */
static double ks_distance(double *x, double (*cdf)(double)) {
    double max = 0;
    qsort(x, N, sizeof *x, compare_doubles);
    for (int i = 0; i < N; i++) {
        double p = cdf(x[i]);
        max = fmax(max, fmax(p - (double)i / N, (double)(i + 1) / N - p));
    }
    return max;
}
#define KS_LIMIT (2.9 / sqrt((double)N)) /* 2 * exp(-2 * 2.9^2) = 1e-7 */

static double uniform_cdf(double x) { return x; }
static double normal_cdf(double x) { return 0.5 * erfc(-x / sqrt(2.0)); }
static double exponential_cdf(double x) { return 1 - exp(-x); }
static double wide_cdf(double x) { return (normal_cdf(x) - normal_cdf(-2)) / (normal_cdf(2) - normal_cdf(-2)); }
static double narrow_cdf(double x) { return (normal_cdf(x) - normal_cdf(0.3)) / (normal_cdf(0.8) - normal_cdf(0.3)); }
static double half_cdf(double x) { return (normal_cdf(x) - normal_cdf(0.5)) / normal_cdf(-0.5); }
static double tail_cdf(double x) { return 1 - normal_cdf(-x) / normal_cdf(-5); }
static double mirrored_cdf(double x) { return normal_cdf(x) / normal_cdf(-3); }

static const struct {
    const char *name;
    dt__random fill;
    double (*cdf)(double);
    double mean, variance, fourth; /* central */
} shapes[] = {
    {"uniform", {DT__UNIFORM, .high = 1}, uniform_cdf, 0.5, 1 / 12.0, 1 / 80.0},
    {"normal", {DT__NORMAL, .std = 1}, normal_cdf, 0, 1, 3},
    {"exponential", {DT__EXPONENTIAL, .rate = 1}, exponential_cdf, 1, 1, 9},
};

static const struct {
    const char *name;
    double low, high;
    double (*cdf)(double);
} truncations[] = {
    {"bell", -2, 2, wide_cdf},       {"slice", 0.3, 0.8, narrow_cdf},           {"half", 0.5, INFINITY, half_cdf},
    {"tail", 5, INFINITY, tail_cdf}, {"mirrored", -INFINITY, -3, mirrored_cdf},
};

static void samples__have_the_distribution_function(void **state) {
    (void)state;
    static const dt_dtype dtypes[] = {DT_F32, DT_F64};
    dt_ctx *ctx = dt__ctx_new(NULL);
    dt_generator *generator = dt_generator_new(ctx, test_seed(2024));
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (int t = 0; t < 2; t++) {
            dt__random fill = shapes[s].fill;
            fill.dtype = dtypes[t];
            double *x = sample(generator, &fill);
            check_below(shapes[s].name, fill.dtype, ks_distance(x, shapes[s].cdf), KS_LIMIT);
            free(x);
        }
    for (size_t s = 0; s < sizeof truncations / sizeof *truncations; s++) {
        dt__random fill = {DT__TRUNCATED_NORMAL, DT_F64, .std = 1, .low = truncations[s].low,
                           .high = truncations[s].high};
        double *x = sample(generator, &fill);
        check_below(truncations[s].name, fill.dtype, ks_distance(x, truncations[s].cdf), KS_LIMIT);
        assert_true(x[0] >= fill.low && x[N - 1] <= fill.high);
        free(x);
    }
    dt__ctx_free(ctx);
}

static void moments__are_those_of_the_distributions(void **state) {
    (void)state;
    static const dt_dtype dtypes[] = {DT_F32, DT_F64, DT_F16, DT_BF16};
    dt_ctx *ctx = dt__ctx_new(NULL);
    dt_generator *generator = dt_generator_new(ctx, test_seed(2025));
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (int t = 0; t < 4; t++) {
            dt__random fill = shapes[s].fill;
            fill.dtype = dtypes[t];
            double *x = sample(generator, &fill), variance = shapes[s].variance;
            check_below(shapes[s].name, fill.dtype, mean_power(x, 0, 1) - shapes[s].mean,
                        SIGMAS * sqrt(variance / N));
            check_below(shapes[s].name, fill.dtype, mean_power(x, shapes[s].mean, 2) - variance,
                        SIGMAS * sqrt((shapes[s].fourth - variance * variance) / N));
            free(x);
        }
    double *x = sample(generator, &(dt__random){DT__NORMAL, DT_F32, .mean = 1.5, .std = 0.8});
    check_below("mean", DT_F32, mean_power(x, 0, 1) - 1.5, SIGMAS * 0.8 / sqrt((double)N));
    check_below("skew", DT_F32, mean_power(x, 1.5, 3) / 0.512, SIGMAS * sqrt(15.0 / N));
    check_below("kurtosis", DT_F32, mean_power(x, 1.5, 4) / 0.4096 - 3, SIGMAS * sqrt(96.0 / N));
    free(x);
    dt__ctx_free(ctx);
}

static void bits__are_uniform(void **state) {
    (void)state;
    static int high[256], low[256], pairs[65536];
    const dt__kernels *table = dt__kernels_best();
    uint64_t words[2 * DT__GROUP_BLOCKS];
    int64_t ones[64] = {0};
    const uint64_t seed = test_seed(31);
    for (uint64_t group = 0; group < N / 32; group++) {
        table->random_words((dt__philox_key){seed, 5}, group, words);
        for (int i = 0; i < 32; i++) {
            high[words[i] >> 56]++;
            low[words[i] & 255]++;
            pairs[(words[i] >> 56) << 8 | words[(i + 1) % 32] >> 56]++;
            for (int b = 0; b < 64; b++)
                ones[b] += (int64_t)(words[i] >> b & 1);
        }
    }
    check_below("high bytes", DT_I64, chi_square(high, 256, N / 256.0), chi_limit(255));
    check_below("low bytes", DT_I64, chi_square(low, 256, N / 256.0), chi_limit(255));
    check_below("neighbors", DT_I64, chi_square(pairs, 65536, N / 65536.0), chi_limit(65535));
    for (int b = 0; b < 64; b++)
        check_below("bit", DT_I64, (double)ones[b] - N / 2.0, SIGMAS * sqrt(N / 4.0));
}

/* 2^64 words for 3 * 2^61 numbers: without rejection, eight words for three numbers. */
static void integers__of_a_wide_range_are_equally_likely(void **state) {
    (void)state;
    int counts[3] = {0};
    int64_t *x = malloc(N * sizeof *x);
    dt_ctx *ctx = dt__ctx_new(NULL);
    dt__random fill = {DT__RANDINT, DT_I64, .from = 0, .to = INT64_C(3) << 61};
    dt__draw draw = begin_draw(dt_generator_new(ctx, test_seed(2026)), &fill);
    dt__draw_range(&draw, 0, N, x);
    for (int i = 0; i < N; i++) {
        assert_true(x[i] >= fill.from && x[i] < fill.to);
        counts[x[i] % 3]++;
    }
    check_below("remainders", DT_I64, chi_square(counts, 3, N / 3.0), chi_limit(2));
    free(x);
    dt__ctx_free(ctx);
}

static void integers_and_masks__have_their_frequencies(void **state) {
    (void)state;
    int counts[1000] = {0};
    dt_ctx *ctx = dt__ctx_new(NULL);
    dt_generator *generator = dt_generator_new(ctx, test_seed(2026));
    double *x = sample(generator, &(dt__random){DT__RANDINT, DT_I64, .from = -300, .to = 700});
    for (int i = 0; i < N; i++) {
        assert_true(x[i] >= -300 && x[i] < 700);
        counts[(int)x[i] + 300]++;
    }
    check_below("randint", DT_I64, chi_square(counts, 1000, N / 1000.0), chi_limit(999));
    free(x);
    static const double chances[] = {0, 0.1, 0.5, 0.9, 1};
    for (size_t i = 0; i < sizeof chances / sizeof *chances; i++) {
        const double p = chances[i], limit = SIGMAS * sqrt(p * (1 - p) / N);
        x = sample(generator, &(dt__random){DT__BERNOULLI, DT_F32, .p = p});
        check_below("bernoulli", DT_F32, mean_power(x, 0, 1) - p, limit);
        free(x);
        x = sample(generator, &(dt__random){DT__DROPOUT, DT_F64, .p = p});
        for (int k = 0; k < N; k++)
            assert_true(x[k] == 0 || x[k] == 1 / (1 - p));
        check_below("dropout", DT_F64, mean_power(x, 0, 1) * (1 - p) - (p < 1 ? 1 - p : 0), limit);
        free(x);
    }
    dt__ctx_free(ctx);
}

static double correlation(const double *x, const double *y, int n) {
    double xy = 0, xx = 0, yy = 0;
    for (int i = 0; i < n; i++) {
        xy += x[i] * y[i];
        xx += x[i] * x[i];
        yy += y[i] * y[i];
    }
    return xy / sqrt(xx * yy);
}

static void square_and_center(double *x) {
    for (int i = 0; i < N; i++)
        x[i] = x[i] * x[i] - 1;
}

static void neighbors_draws_and_seeds__are_not_correlated(void **state) {
    (void)state;
    static const int lags[] = {1, 2, 3, 4, 8, 15, 16, 17, 32, 48, 64, 1000};
    dt_ctx *ctx = dt__ctx_new(NULL);
    const uint64_t seed = test_seed(1);
    dt_generator *generator = dt_generator_new(ctx, seed), *next_seed = dt_generator_new(ctx, seed + 1);
    const dt__random fill = {DT__NORMAL, DT_F32, .std = 1};
    double *x = sample(generator, &fill), *next = sample(generator, &fill), *other = sample(next_seed, &fill);
    dt_generator *child = dt_generator_child(generator, "a");
    double *of_child = sample(child, &fill);
    for (int squared = 0; squared < 2; squared++) {
        for (size_t i = 0; i < sizeof lags / sizeof *lags; i++)
            check_below("lag", DT_F32, correlation(x, x + lags[i], N - lags[i]), SIGMAS / sqrt((double)N));
        check_below("next draw", DT_F32, correlation(x, next, N), SIGMAS / sqrt((double)N));
        check_below("next seed", DT_F32, correlation(x, other, N), SIGMAS / sqrt((double)N));
        check_below("child", DT_F32, correlation(x, of_child, N), SIGMAS / sqrt((double)N));
        square_and_center(x), square_and_center(next), square_and_center(other), square_and_center(of_child);
    }
    free(x), free(next), free(other), free(of_child);
    dt__ctx_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples__have_the_distribution_function),
        cmocka_unit_test(moments__are_those_of_the_distributions),
        cmocka_unit_test(bits__are_uniform),
        cmocka_unit_test(integers_and_masks__have_their_frequencies),
        cmocka_unit_test(integers__of_a_wide_range_are_equally_likely),
        cmocka_unit_test(neighbors_draws_and_seeds__are_not_correlated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
