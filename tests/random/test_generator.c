/* SPDX-License-Identifier: Apache-2.0
 *
 * Generators: draws are counted, states are saved and restored, children have independent numbers, and invalid draws
 * change nothing; and permutations.
 */
#include "base/dtype.h"
#include "random/fills.h"
#include "random/statistics.h"
#include "support/random.h"

#include "tensor/tensor.h"

static void generator__counts_draws_and_restores_states(void **state) {
    (void)state; /* RND-003, RND-015, RND-016 */
    dt_ctx *ctx = dt__ctx_new(NULL);
    dt_generator *a = dt_generator_default(ctx), *b = dt_generator_new(ctx, 42);
    const dt__random fill = {DT__NORMAL, DT_F32, .std = 1};
    float x[24], y[24], again[24];
    assert_int_equal(dt_generator_save(a).seed, 0);
    assert_ptr_equal(dt_generator_default(ctx), a);
    assert_int_equal(dt_generator_seed(a, 42), DT_OK);
    dt__draw first = begin_draw(a, &fill);
    dt__draw_range(&first, 0, 24, x);
    dt_generator_state saved = dt_generator_save(a);
    assert_int_equal(saved.seed, 42);
    assert_int_equal(saved.draw, 1);
    dt__draw other = begin_draw(b, &fill);
    dt__draw_range(&other, 0, 24, y);
    check_bytes("same seed", y, x, sizeof x);

    dt__draw second = begin_draw(a, &fill);
    dt__draw_range(&second, 0, 24, y);
    assert_memory_not_equal(x, y, sizeof x);
    assert_int_equal(dt_generator_restore(a, saved), DT_OK);
    second = begin_draw(a, &fill);
    dt__draw_range(&second, 0, 24, again);
    check_bytes("restored", again, y, sizeof y);

    saved = (dt_generator_state){UINT64_MAX - 4, 17};
    assert_int_equal(dt_generator_restore(b, saved), DT_OK);
    assert_int_equal(dt_generator_save(b).seed, UINT64_MAX - 4);
    assert_int_equal(dt_generator_save(b).draw, 17);
    dt_generator_seed(b, 55);
    assert_int_equal(dt_generator_save(b).draw, 0);
    dt_generator_release(b);
    dt_generator_release(a); /* against the contract, but handled: the next default generator is new */
    assert_int_equal(dt_generator_save(dt_generator_default(ctx)).seed, 0);
    assert_int_equal(dt_generator_save(NULL).seed, 0);
    assert_int_equal(dt_generator_seed(NULL, 1), DT_ERR_VALUE);
    assert_null(dt_generator_new(NULL, 1));
    dt_generator_release(NULL);
    dt__ctx_free(ctx);
}

static void child__depends_on_seed_and_name_only(void **state) {
    (void)state; /* RND-011: stages of a pipeline */
    dt_ctx *ctx = dt__ctx_new(NULL);
    dt_generator *parent = dt_generator_new(ctx, 9);
    dt_generator *a = dt_generator_child(parent, "stage 0"), *b = dt_generator_child(parent, "stage 1");
    begin_draw(parent, &(dt__random){DT__NORMAL, DT_F32, .std = 1});
    dt_generator *late = dt_generator_child(parent, "stage 0"), *inner = dt_generator_child(a, "stage 0");
    assert_int_equal(dt_generator_save(a).seed, dt_generator_save(late).seed);
    assert_int_equal(dt_generator_save(late).draw, 0);
    assert_int_not_equal(dt_generator_save(a).seed, dt_generator_save(b).seed);
    assert_int_not_equal(dt_generator_save(a).seed, dt_generator_save(inner).seed);
    assert_int_not_equal(dt_generator_save(a).seed, dt_generator_save(parent).seed);
    assert_int_equal(dt_generator_tag(a), dt_generator_tag(late));
    assert_null(dt_generator_child(parent, ""));
    assert_error_contains(ctx, DT_ERR_VALUE, "expected a name");
    assert_null(dt_generator_child(NULL, "x"));
    dt__ctx_free(ctx);
}

static void generator__tags_differ_with_seed_and_draw(void **state) {
    (void)state;
    dt_ctx *ctx = dt__ctx_new(NULL);
    dt_generator *generator = dt_generator_new(ctx, 0);
    enum { N = 64 };
    uint64_t tags[N * N];
    for (uint64_t i = 0; i < N * N; i++) {
        dt_generator_restore(generator, (dt_generator_state){i / N, i % N});
        tags[i] = dt_generator_tag(generator);
        for (uint64_t k = 0; k < i; k++)
            if (tags[k] == tags[i])
                fail_msg("states %d and %d have the tag %" PRIx64, (int)k, (int)i, tags[i]);
    }
    dt__ctx_free(ctx);
}

static void draw__invalid_parameters_are_refused(void **state) {
    (void)state;
    static const struct {
        dt__random fill;
        dt_status status;
        const char *message;
    } cases[] = {
        {{DT__UNIFORM, DT_F32, .low = 2, .high = 1}, DT_ERR_VALUE, "low 2 and high 1"},
        {{DT__UNIFORM, DT_F32, .low = NAN, .high = 1}, DT_ERR_VALUE, "low nan"},
        {{DT__UNIFORM, DT_F32, .low = -3e38, .high = 3e38}, DT_ERR_VALUE, "finite in f32"},
        {{DT__UNIFORM, DT_F16, .low = 0, .high = 70000}, DT_ERR_VALUE, "finite in f16"},
        {{DT__UNIFORM, DT_F64, .low = 0, .high = INFINITY}, DT_ERR_VALUE, "finite in f64"},
        {{DT__UNIFORM, DT_I32, .low = 0, .high = 1},
         DT_ERR_DTYPE,
         "uniform: unsupported dtype: expected a float, got i32"},
        {{DT__NORMAL, DT_C64, .std = 1}, DT_ERR_DTYPE, "normal: unsupported dtype: expected a float, got c64"},
        {{DT__NORMAL, (dt_dtype)99, .std = 1}, DT_ERR_DTYPE, "expected a float, got ?"},
        {{DT__NORMAL, DT_F32, .std = -1}, DT_ERR_VALUE, "std -1"},
        {{DT__NORMAL, DT_F32, .mean = INFINITY, .std = 1}, DT_ERR_VALUE, "mean inf"},
        {{DT__NORMAL, DT_F32, .mean = 1e39, .std = 1}, DT_ERR_VALUE, "finite in f32, got mean 1e+39 and std 1"},
        {{DT__NORMAL, DT_BF16, .std = 1e300}, DT_ERR_VALUE, "finite in f32, got mean 0 and std 1e+300"},
        {{DT__EXPONENTIAL, DT_F32, .rate = 0}, DT_ERR_VALUE, "rate 0"},
        {{DT__EXPONENTIAL, DT_F16, .rate = 1e-39}, DT_ERR_VALUE, "finite in f32, got rate 1e-39"},
        {{DT__EXPONENTIAL, DT_F32, .rate = NAN}, DT_ERR_VALUE, "rate nan"},
        {{DT__TRUNCATED_NORMAL, DT_F32, .std = 1, .low = 1, .high = 1}, DT_ERR_VALUE, "low 1, high 1"},
        {{DT__TRUNCATED_NORMAL, DT_F32, .std = 0, .low = 0, .high = 1}, DT_ERR_VALUE, "std 0"},
        {{DT__TRUNCATED_NORMAL, DT_F16, .std = 1, .low = 1, .high = 1.0001}, DT_ERR_VALUE, "in f16"},
        {{DT__RANDINT, DT_I32, .from = 3, .to = 3}, DT_ERR_VALUE, "from 3 and to 3"},
        {{DT__RANDINT, DT_I8, .from = 0, .to = 129}, DT_ERR_VALUE, "range of i8, -128 to 127"},
        {{DT__RANDINT, DT_U8, .from = -1, .to = 9}, DT_ERR_VALUE, "range of u8, 0 to 255"},
        {{DT__RANDINT, DT_BOOL, .from = 0, .to = 3}, DT_ERR_VALUE, "range of bool, 0 to 1"},
        {{DT__RANDINT, DT_F16, .from = 2049, .to = 2050},
         DT_ERR_VALUE,
         "no integer from 2049 to below 2050 is a value of f16"},
        {{DT__RANDINT, DT_F32, .from = INT64_MAX - 9, .to = INT64_MAX}, DT_ERR_VALUE, "is a value of f32"},
        {{DT__BERNOULLI, DT_F32, .p = 1.5}, DT_ERR_VALUE, "expected p from 0 to 1, got 1.5"},
        {{DT__DROPOUT, DT_F32, .p = NAN}, DT_ERR_VALUE, "got nan"},
        {{DT__DROPOUT, DT_I32, .p = 0.5}, DT_ERR_DTYPE, "dropout: unsupported dtype: expected a float, got i32"},
        {{DT__N_DISTRIBUTIONS, DT_F32, .p = 0.5}, DT_ERR_VALUE, "unknown distribution"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        dt_ctx *ctx = dt__ctx_new(NULL);
        dt_generator *generator = dt_generator_new(ctx, 1);
        dt__draw draw = {.group = 12345};
        assert_int_equal(dt__draw_begin(generator, &cases[i].fill, &draw), cases[i].status);
        assert_error_contains(ctx, cases[i].status, cases[i].message);
        assert_int_equal(dt_generator_save(generator).draw, 0);
        assert_int_equal(draw.group, 12345);
        dt__ctx_free(ctx);
    }
}

static void generator__ends_after_2_to_the_48_draws(void **state) {
    (void)state;
    dt_ctx *ctx = dt__ctx_new(NULL);
    dt_generator *generator = dt_generator_new(ctx, 1);
    dt__draw draw;
    const dt__random fill = {DT__NORMAL, DT_F32, .std = 1};
    assert_int_equal(dt_generator_restore(generator, (dt_generator_state){5, 1ull << 48}), DT_ERR_VALUE);
    assert_int_equal(dt_generator_save(generator).seed, 1);
    ctx->status = DT_OK;
    assert_int_equal(dt_generator_restore(generator, (dt_generator_state){5, (1ull << 48) - 1}), DT_OK);
    assert_int_equal(dt__draw_begin(generator, &fill, &draw), DT_ERR_STATE);
    assert_error_contains(ctx, DT_ERR_STATE, "2^48 draws");
    dt__ctx_free(ctx);
}

/* Rounding to a dtype does not yield the upper limit. */
static void uniform__stays_below_its_upper_limit(void **state) {
    (void)state;
    enum { N = 1 << 16 };
    static const dt_dtype dtypes[] = {DT_F16, DT_BF16};
    static const double limits[][2] = {{0, 1}, {1, 2}, {-1, 0}, {-2, -1}, {0, 65504}, {1, 1}};
    uint16_t *got = malloc(N * sizeof *got);
    dt_ctx *ctx = dt__ctx_new(NULL);
    dt_generator *generator = dt_generator_new(ctx, test_seed(11));
    for (int t = 0; t < 2; t++)
        for (size_t k = 0; k < sizeof limits / sizeof *limits; k++) {
            dt__random fill = {DT__UNIFORM, dtypes[t], .low = limits[k][0], .high = limits[k][1]};
            dt__draw draw = begin_draw(generator, &fill);
            dt__draw_range(&draw, 0, N, got);
            for (int i = 0; i < N; i++) {
                const double value = f16_or_bf16_value(dtypes[t], got[i]);
                if (!(value >= fill.low && (value < fill.high || fill.low == fill.high)))
                    fail_msg("%s: %g is not in [%g,%g)", dt_dtype_name(fill.dtype), value, fill.low, fill.high);
            }
        }
    free(got);
    dt__ctx_free(ctx);
}

/* Integers that a float cannot represent are rounded, but not to numbers out of the range. */
static void randint__of_floats_stays_within_its_limits(void **state) {
    (void)state;
    enum { N = 1 << 12 };
    static const struct {
        dt_dtype dtype;
        int64_t from, to;
    } cases[] = {
        {DT_F16, 0, 2052},
        {DT_F16, 2049, 4099},
        {DT_F16, -4099, -2048},
        {DT_BF16, 257, 264},
        {DT_BF16, -263, -256},
        {DT_F32, 16777217, 16777220},
        {DT_F64, (INT64_C(1) << 53) + 1, (INT64_C(1) << 53) + 4},
        {DT_F64, INT64_MAX - 4000, INT64_MAX},
        {DT_F32, INT64_MIN, INT64_MAX},
    };
    unsigned char *got = malloc(N * 8);
    dt_ctx *ctx = dt__ctx_new(NULL);
    dt_generator *generator = dt_generator_new(ctx, test_seed(12));
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        dt__random fill = {DT__RANDINT, cases[k].dtype, .from = cases[k].from, .to = cases[k].to};
        dt__draw draw = begin_draw(generator, &fill);
        dt__draw_range(&draw, 0, N, got);
        for (int i = 0; i < N; i++) {
            double value = dt__read_f64(fill.dtype, got + (size_t)i * dt_dtype_size(fill.dtype));
            if (!(value < 0x1p63 && (int64_t)value >= fill.from && (int64_t)value < fill.to))
                fail_msg("%s: %.17g is not in [%lld,%lld)", dt_dtype_name(fill.dtype), value, (long long)fill.from,
                         (long long)fill.to);
        }
    }
    free(got);
    dt__ctx_free(ctx);
}

static void permutation__has_each_number_once_and_ranges_agree(void **state) {
    (void)state;
    static const int64_t sizes[] = {0, 1, 2, 3, 31, 32, 33, 1000, 4096, 4097, 4160, 4225, 65536, 65537, 300007};
    dt_ctx *ctx = dt__ctx_new(NULL);
    dt_generator *generator = dt_generator_new(ctx, test_seed(13));
    dt__order order, again;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        const int64_t n = sizes[s];
        int64_t *full = calloc((size_t)n + 1, sizeof *full), *range = calloc((size_t)n + 1, sizeof *range);
        bool *is_used = calloc((size_t)n + 1, sizeof *is_used);
        dt_generator_state before = dt_generator_save(generator);
        assert_int_equal(dt__order_begin(generator, n, &order), DT_OK);
        assert_int_equal(dt_generator_save(generator).draw, before.draw + 1);
        dt__order_range(&order, 0, n, full);
        for (int64_t i = 0; i < n; i++) {
            assert_true(full[i] >= 0 && full[i] < n && !is_used[full[i]]);
            is_used[full[i]] = true;
        }
        dt_generator_restore(generator, before);
        assert_int_equal(dt__order_begin(generator, n, &again), DT_OK);
        for (int64_t begin = 0; begin <= n; begin += 1 + n / 3) {
            const int64_t entries = (n - begin) / 2;
            dt__order_range(&again, begin, entries, range);
            check_bytes("range", range, full + begin, (size_t)entries * sizeof *range);
        }
        free(full);
        free(range);
        free(is_used);
    }
    assert_int_equal(dt__order_begin(generator, -1, &order), DT_ERR_VALUE);
    assert_error_contains(ctx, DT_ERR_VALUE, "expected a size of at least 0, got -1");
    dt__ctx_free(ctx);
}

/* The largest permutation: its last entries are in range and differ from each other. */
static void permutation__can_have_2_to_the_63_entries(void **state) {
    (void)state;
    dt_ctx *ctx = dt__ctx_new(NULL);
    dt__order order;
    int64_t entries[64];
    assert_int_equal(dt__order_begin(dt_generator_default(ctx), INT64_MAX, &order), DT_OK);
    dt__order_range(&order, INT64_MAX - 64, 64, entries);
    for (int i = 0; i < 64; i++) {
        assert_true(entries[i] >= 0 && entries[i] < INT64_MAX);
        for (int k = 0; k < i; k++)
            assert_true(entries[k] != entries[i]);
    }
    dt__ctx_free(ctx);
}

/* Computed by a program in another language from the description in the head of permutation.c. */
static void permutation__has_known_entries(void **state) {
    (void)state;
    static const struct {
        int64_t size, at, entry;
    } known[] = {
        {5003, 0, 1131},
        {5003, 1, 441},
        {5003, 2, 854},
        {5003, 3, 594},
        {5003, 4, 3771},
        {5003, 5, 4652},
        {(INT64_C(1) << 62) + 11, 0, INT64_C(943079731272215792)},
        {(INT64_C(1) << 62) + 11, 1, INT64_C(1291872768465520295)},
        {(INT64_C(1) << 62) + 11, INT64_C(1) << 61, INT64_C(423263119493706568)},
        {(INT64_C(1) << 62) + 11, INT64_C(1) << 62, INT64_C(380768846764833983)},
    };
    dt_ctx *ctx = dt__ctx_new(NULL);
    dt_generator *generator = dt_generator_new(ctx, 0);
    dt__order order;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        int64_t entry;
        dt_generator_restore(generator, (dt_generator_state){UINT64_C(0x123456789abcdef0), 3});
        assert_int_equal(dt__order_begin(generator, known[i].size, &order), DT_OK);
        dt__order_range(&order, known[i].at, 1, &entry);
        assert_int_equal(entry, known[i].entry);
    }
    dt__ctx_free(ctx);
}

static void check_chi(const char *name, const int *counts, int n_bins, double n) {
    const double got = chi_square(counts, n_bins, n / n_bins), limit = chi_limit(n_bins - 1);
    if (got > limit)
        fail_msg("%s: expected a chi-square of at most %g, got %g", name, limit, got);
}

static void permutation__orders_are_equally_likely(void **state) {
    (void)state;
    enum { N = 24000 };
    dt_ctx *ctx = dt__ctx_new(NULL);
    dt_generator *generator = dt_generator_new(ctx, test_seed(14));
    dt__order drawn;
    int64_t order[4];
    int counts[256] = {0}, found[24], n_orders = 0;
    for (int i = 0; i < N; i++) {
        assert_int_equal(dt__order_begin(generator, 4, &drawn), DT_OK);
        dt__order_range(&drawn, 0, 4, order);
        counts[order[0] << 6 | order[1] << 4 | order[2] << 2 | order[3]]++;
    }
    for (int i = 0; i < 256; i++)
        if (counts[i] && n_orders < 24)
            found[n_orders++] = counts[i];
    assert_int_equal(n_orders, 24);
    check_chi("orders of 4", found, 24, N);
    dt__ctx_free(ctx);
}

/* Over many draws: the distribution of the first entries, their distance, fixed points and ascents. */
static void permutation__of_many_entries_has_no_pattern(void **state) {
    (void)state;
    enum { N = 5003, DRAWS = 4000, BINS = 64 };
    dt_ctx *ctx = dt__ctx_new(NULL);
    dt_generator *generator = dt_generator_new(ctx, test_seed(15));
    dt__order drawn;
    int first[BINS] = {0}, pair[BINS] = {0}, step[BINS] = {0};
    int64_t order[N], n_fixed = 0, n_ascents = 0;
    for (int i = 0; i < DRAWS; i++) {
        assert_int_equal(dt__order_begin(generator, N, &drawn), DT_OK);
        dt__order_range(&drawn, 0, i < 400 ? N : 2, order);
        first[order[0] * BINS / N]++;
        pair[order[0] * 8 / N * 8 + order[1] * 8 / N]++;
        step[(order[1] - order[0] + N) % N * BINS / N]++;
        for (int k = 0; k < N && i < 400; k++) {
            n_fixed += order[k] == k;
            n_ascents += k > 0 && order[k] > order[k - 1];
        }
    }
    check_chi("first entry", first, BINS, DRAWS);
    check_chi("first two entries", pair, BINS, DRAWS);
    check_chi("their distance", step, BINS, DRAWS);
    /* One fixed point per permutation, of variance 1; (N - 1) / 2 ascents, of variance (N + 1) / 12. */
    if (fabs((double)n_fixed - 400) > SIGMAS * sqrt(400))
        fail_msg("expected about 400 fixed points in 400 permutations, got %d", (int)n_fixed);
    if (fabs((double)n_ascents - 400 * (N - 1) / 2.0) > SIGMAS * sqrt(400 * (N + 1) / 12.0))
        fail_msg("expected about %d ascents in 400 permutations, got %d", 400 * (N - 1) / 2, (int)n_ascents);
    dt__ctx_free(ctx);
}

static bool use_generators(dt_ctx *ctx, void *user) {
    (void)user;
    dt_generator *default_generator = dt_generator_default(ctx), *generator = dt_generator_new(ctx, 4);
    dt_generator *child = dt_generator_child(generator, "x"), *reference = dt_generator_retain(child);
    bool ok = default_generator && child;
    dt_spec *spec = ok ? dt_spec_parse(ctx, "f32[8,8] S(0) on mesh(1)") : NULL;
    dt__draw draw;
    float range[64];
    ok = spec && dt__draw_begin(child, &(dt__random){DT__NORMAL, DT_F32, .std = 1}, &draw) == DT_OK;
    if (ok)
        dt__draw_spec(&draw, NULL, spec, (int64_t[]){0}, NULL, range);
    dt_spec_release(spec);
    dt_generator_release(child);
    dt_generator_release(reference);
    return ok; /* the other generators are freed with the context */
}

static void generators__survive_failing_allocations(void **state) {
    (void)state;
    assert_true(assert_survives_failing_allocations(use_generators, NULL) >= 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(generator__counts_draws_and_restores_states),
        cmocka_unit_test(child__depends_on_seed_and_name_only),
        cmocka_unit_test(generator__tags_differ_with_seed_and_draw),
        cmocka_unit_test(draw__invalid_parameters_are_refused),
        cmocka_unit_test(generator__ends_after_2_to_the_48_draws),
        cmocka_unit_test(uniform__stays_below_its_upper_limit),
        cmocka_unit_test(randint__of_floats_stays_within_its_limits),
        cmocka_unit_test(permutation__has_each_number_once_and_ranges_agree),
        cmocka_unit_test(permutation__has_known_entries),
        cmocka_unit_test(permutation__can_have_2_to_the_63_entries),
        cmocka_unit_test(permutation__of_many_entries_has_no_pattern),
        cmocka_unit_test(permutation__orders_are_equally_likely),
        cmocka_unit_test(generators__survive_failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
