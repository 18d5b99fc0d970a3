/* SPDX-License-Identifier: Apache-2.0
 *
 * Generators: draws are counted, states come back, children have numbers of their own, what is refused changes
 * nothing, and permutations.
 */
#include "base/dtype.h"
#include "random/fills.h"

#include "tensor/tensor.h"

static void generator__counts_draws_and_goes_back(void **state) {
    (void)state; /* RND-003, RND-015, RND-016 */
    dt_ctx *ctx = dt__ctx_new(NULL);
    dt_generator *a = dt_generator_default(ctx), *b = dt_generator_new(ctx, 42);
    const dt__random what = {DT__NORMAL, DT_F32, .std = 1};
    float x[24], y[24], again[24];
    assert_int_equal(dt_generator_save(a).seed, 0);
    assert_ptr_equal(dt_generator_default(ctx), a);
    assert_int_equal(dt_generator_seed(a, 42), DT_OK);
    dt__draw first = begin_draw(a, &what);
    dt__draw_range(&first, 0, 24, x);
    dt_generator_state saved = dt_generator_save(a);
    assert_int_equal(saved.seed, 42);
    assert_int_equal(saved.draw, 1);
    dt__draw other = begin_draw(b, &what);
    dt__draw_range(&other, 0, 24, y);
    check_bytes("same seed", y, x, sizeof x);

    dt__draw second = begin_draw(a, &what);
    dt__draw_range(&second, 0, 24, y);
    assert_memory_not_equal(x, y, sizeof x);
    assert_int_equal(dt_generator_restore(a, saved), DT_OK);
    second = begin_draw(a, &what);
    dt__draw_range(&second, 0, 24, again);
    check_bytes("restored", again, y, sizeof y);

    saved = (dt_generator_state){UINT64_MAX - 4, 17};
    assert_int_equal(dt_generator_restore(b, saved), DT_OK);
    assert_int_equal(dt_generator_save(b).seed, UINT64_MAX - 4);
    assert_int_equal(dt_generator_save(b).draw, 17);
    dt_generator_seed(b, 55);
    assert_int_equal(dt_generator_save(b).draw, 0);
    dt_generator_release(b);
    dt_generator_release(a); /* against the contract, and harmless: the next one is new */
    assert_int_equal(dt_generator_save(dt_generator_default(ctx)).seed, 0);
    assert_int_equal(dt_generator_save(NULL).seed, 0);
    assert_int_equal(dt_generator_seed(NULL, 1), DT_ERR_VALUE);
    assert_null(dt_generator_new(NULL, 1));
    dt_generator_release(NULL);
    dt__ctx_free(ctx);
}

static void child__follows_from_seed_and_name_alone(void **state) {
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

static void draw__refuses_what_makes_no_sense(void **state) {
    (void)state;
    static const struct {
        dt__random what;
        dt_status status;
        const char *says;
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
        assert_int_equal(dt__draw_begin(generator, &cases[i].what, &draw), cases[i].status);
        assert_error_contains(ctx, cases[i].status, cases[i].says);
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
    const dt__random what = {DT__NORMAL, DT_F32, .std = 1};
    assert_int_equal(dt_generator_restore(generator, (dt_generator_state){5, 1ull << 48}), DT_ERR_VALUE);
    assert_int_equal(dt_generator_save(generator).seed, 1);
    ctx->status = DT_OK;
    assert_int_equal(dt_generator_restore(generator, (dt_generator_state){5, (1ull << 48) - 1}), DT_OK);
    assert_int_equal(dt__draw_begin(generator, &what, &draw), DT_ERR_STATE);
    assert_error_contains(ctx, DT_ERR_STATE, "2^48 draws");
    dt__ctx_free(ctx);
}

/* A limit that is given is kept to the bit, in every dtype. */
static void uniform__stays_below_its_upper_limit(void **state) {
    (void)state;
    enum { N = 1 << 16 };
    static const dt_dtype dtypes[] = {DT_F16, DT_BF16};
    static const double limits[][2] = {{0, 1}, {1, 2}, {-1, 0}, {-2, -1}, {0, 65504}, {1, 1}};
    uint16_t *got = malloc(N * sizeof *got);
    dt_ctx *ctx = dt__ctx_new(NULL);
    dt_generator *generator = dt_generator_new(ctx, 1);
    for (int t = 0; t < 2; t++)
        for (size_t k = 0; k < sizeof limits / sizeof *limits; k++) {
            dt__random what = {DT__UNIFORM, dtypes[t], .low = limits[k][0], .high = limits[k][1]};
            dt__draw draw = begin_draw(generator, &what);
            dt__draw_range(&draw, 0, N, got);
            for (int i = 0; i < N; i++) {
                const double value = value_of_16(dtypes[t], got[i]);
                if (!(value >= what.low && (value < what.high || what.low == what.high)))
                    fail_msg("%s: %g is not in [%g,%g)", dt_dtype_name(what.dtype), value, what.low, what.high);
            }
        }
    free(got);
    dt__ctx_free(ctx);
}

/* Integers that a float cannot hold are rounded, but never to a number that was not asked for. */
static void randint__of_floats_stays_between_its_limits(void **state) {
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
    dt_generator *generator = dt_generator_new(ctx, 1);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        dt__random what = {DT__RANDINT, cases[k].dtype, .from = cases[k].from, .to = cases[k].to};
        dt__draw draw = begin_draw(generator, &what);
        dt__draw_range(&draw, 0, N, got);
        for (int i = 0; i < N; i++) {
            double value = dt__read_f64(what.dtype, got + (size_t)i * dt_dtype_size(what.dtype));
            if (!(value < 0x1p63 && (int64_t)value >= what.from && (int64_t)value < what.to))
                fail_msg("%s: %.17g is not in [%lld,%lld)", dt_dtype_name(what.dtype), value, (long long)what.from,
                         (long long)what.to);
        }
    }
    free(got);
    dt__ctx_free(ctx);
}

static void permutation__holds_each_number_once_and_parts_agree(void **state) {
    (void)state;
    static const int64_t sizes[] = {0, 1, 2, 3, 31, 32, 33, 1000, 4096, 4097, 4160, 4225, 65536, 65537, 300007};
    dt_ctx *ctx = dt__ctx_new(NULL);
    dt_generator *generator = dt_generator_new(ctx, 1);
    dt__order order, again;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        const int64_t n = sizes[s];
        int64_t *whole = calloc((size_t)n + 1, sizeof *whole), *part = calloc((size_t)n + 1, sizeof *part);
        bool *seen = calloc((size_t)n + 1, sizeof *seen);
        dt_generator_state before = dt_generator_save(generator);
        assert_int_equal(dt__order_begin(generator, n, &order), DT_OK);
        assert_int_equal(dt_generator_save(generator).draw, before.draw + 1);
        dt__order_range(&order, 0, n, whole);
        for (int64_t i = 0; i < n; i++) {
            assert_true(whole[i] >= 0 && whole[i] < n && !seen[whole[i]]);
            seen[whole[i]] = true;
        }
        dt_generator_restore(generator, before);
        assert_int_equal(dt__order_begin(generator, n, &again), DT_OK);
        for (int64_t begin = 0; begin <= n; begin += 1 + n / 3) {
            const int64_t some = (n - begin) / 2;
            dt__order_range(&again, begin, some, part);
            check_bytes("part", part, whole + begin, (size_t)some * sizeof *part);
        }
        free(whole);
        free(part);
        free(seen);
    }
    assert_int_equal(dt__order_begin(generator, -1, &order), DT_ERR_VALUE);
    assert_error_contains(ctx, DT_ERR_VALUE, "expected a size of at least 0, got -1");
    dt__ctx_free(ctx);
}

/* The largest order there is: entries far out lie in range and differ from each other. */
static void permutation__of_2_to_the_63_entries_can_be_asked_for(void **state) {
    (void)state;
    dt_ctx *ctx = dt__ctx_new(NULL);
    dt__order order;
    int64_t some[64];
    assert_int_equal(dt__order_begin(dt_generator_default(ctx), INT64_MAX, &order), DT_OK);
    dt__order_range(&order, INT64_MAX - 64, 64, some);
    for (int i = 0; i < 64; i++) {
        assert_true(some[i] >= 0 && some[i] < INT64_MAX);
        for (int k = 0; k < i; k++)
            assert_true(some[k] != some[i]);
    }
    dt__ctx_free(ctx);
}

/* Computed from the words of the head of permutation.c by a program in another language. */
static void permutation__gives_known_entries(void **state) {
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

static void check_chi(const char *what, const int *counts, int n_bins, double n, double limit) {
    double chi = 0, want = n / n_bins;
    for (int i = 0; i < n_bins; i++)
        chi += (counts[i] - want) * (counts[i] - want) / want;
    if (chi > limit)
        fail_msg("%s: chi-square is %g; %g is the limit", what, chi, limit);
}

static void permutation__orders_are_equally_likely(void **state) {
    (void)state;
    enum { N = 24000 };
    dt_ctx *ctx = dt__ctx_new(NULL);
    dt_generator *generator = dt_generator_new(ctx, 1);
    dt__order made;
    int64_t order[4];
    int counts[256] = {0}, found[24], n_orders = 0;
    for (int i = 0; i < N; i++) {
        assert_int_equal(dt__order_begin(generator, 4, &made), DT_OK);
        dt__order_range(&made, 0, 4, order);
        counts[order[0] << 6 | order[1] << 4 | order[2] << 2 | order[3]]++;
    }
    for (int i = 0; i < 256; i++)
        if (counts[i] && n_orders < 24)
            found[n_orders++] = counts[i];
    assert_int_equal(n_orders, 24);
    check_chi("orders of 4", found, 24, N, 49.7); /* 23 degrees of freedom: one in a thousand is above */
    dt__ctx_free(ctx);
}

/* Long orders: where the first entries go, and how neighbours lie, is as it should be over many draws. */
static void permutation__of_many_entries_has_no_pattern(void **state) {
    (void)state;
    enum { N = 5003, DRAWS = 4000, BINS = 64 };
    dt_ctx *ctx = dt__ctx_new(NULL);
    dt_generator *generator = dt_generator_new(ctx, 8);
    dt__order made;
    int first[BINS] = {0}, pair[BINS] = {0}, step[BINS] = {0};
    int64_t order[N], fixed = 0, rising = 0;
    for (int i = 0; i < DRAWS; i++) {
        assert_int_equal(dt__order_begin(generator, N, &made), DT_OK);
        dt__order_range(&made, 0, i < 400 ? N : 2, order);
        first[order[0] * BINS / N]++;
        pair[order[0] * 8 / N * 8 + order[1] * 8 / N]++;
        step[(order[1] - order[0] + N) % N * BINS / N]++;
        for (int k = 0; k < N && i < 400; k++) {
            fixed += order[k] == k;
            rising += k > 0 && order[k] > order[k - 1];
        }
    }
    check_chi("first entry", first, BINS, DRAWS, 103.4); /* 63 degrees of freedom: one in a thousand is above */
    check_chi("first two entries", pair, BINS, DRAWS, 103.4);
    check_chi("their distance", step, BINS, DRAWS, 103.4);
    /* One fixed entry per order, of variance 1; (N - 1) / 2 rises, of variance (N + 1) / 12: four deviations. */
    if (fabs((double)fixed - 400) > 4 * sqrt(400))
        fail_msg("%d entries of 400 orders stay in place; it should be about 400", (int)fixed);
    if (fabs((double)rising - 400 * (N - 1) / 2.0) > 4 * sqrt(400 * (N + 1) / 12.0))
        fail_msg("%d rises in 400 orders; it should be about %d", (int)rising, 400 * (N - 1) / 2);
    dt__ctx_free(ctx);
}

static bool use_generators(dt_ctx *ctx, void *user) {
    (void)user;
    dt_generator *own = dt_generator_default(ctx), *new = dt_generator_new(ctx, 4);
    dt_generator *child = dt_generator_child(new, "x"), *kept = dt_generator_retain(child);
    bool worked = own && child;
    dt_spec *spec = worked ? dt_spec_parse(ctx, "f32[8,8] S(0) on mesh(1)") : NULL;
    dt__draw draw;
    float part[64];
    worked = spec && dt__draw_begin(child, &(dt__random){DT__NORMAL, DT_F32, .std = 1}, &draw) == DT_OK &&
             dt__draw_spec(&draw, NULL, spec, (int64_t[]){0}, NULL, part) == DT_OK;
    dt_spec_release(spec);
    dt_generator_release(child);
    dt_generator_release(kept);
    return worked; /* `new` and the default one go with the context */
}

static void generators__survive_failing_allocations(void **state) {
    (void)state;
    assert_true(assert_survives_failing_allocations(use_generators, NULL) >= 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(generator__counts_draws_and_goes_back),
        cmocka_unit_test(child__follows_from_seed_and_name_alone),
        cmocka_unit_test(generator__tags_differ_with_seed_and_draw),
        cmocka_unit_test(draw__refuses_what_makes_no_sense),
        cmocka_unit_test(generator__ends_after_2_to_the_48_draws),
        cmocka_unit_test(uniform__stays_below_its_upper_limit),
        cmocka_unit_test(randint__of_floats_stays_between_its_limits),
        cmocka_unit_test(permutation__holds_each_number_once_and_parts_agree),
        cmocka_unit_test(permutation__gives_known_entries),
        cmocka_unit_test(permutation__of_2_to_the_63_entries_can_be_asked_for),
        cmocka_unit_test(permutation__of_many_entries_has_no_pattern),
        cmocka_unit_test(permutation__orders_are_equally_likely),
        cmocka_unit_test(generators__survive_failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
