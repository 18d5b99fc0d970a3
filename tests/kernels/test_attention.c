/* SPDX-License-Identifier: Apache-2.0
 *
 * Attention and its gradients against sums over all scores in f64: every float, strided and broadcast operands, masks,
 * causal shards, grouped heads, sizes below and above a block; the same bits with every table and any number of
 * threads. The gradients of the reference are checked against finite differences themselves.
 */
#include "kernels/arrays.h"

#include "base/ctx.h"
#include "base/dtype.h"
#include "kernels/kernels.h"

static const dt__scratch_source test_scratch = {dt__alloc, dt__free};

typedef enum mask_kind { NO_MASK, BOOL_MASK, FLOAT_MASK } mask_kind;

typedef struct attention_case {
    int64_t batch, heads, kv_heads, queries, keys, width, value_width;
    mask_kind mask;
    bool is_causal;
    int64_t query_offset, key_offset, head_offset, group; /* group 0: not grouped */
} attention_case;

/* The operands, and their references as dense arrays of f64. */
enum { QUERY, KEY, VALUE, MASK, GRAD, N_INPUTS };
enum { OUT, LOGSUMEXP, QUERY_GRAD, KEY_GRAD, VALUE_GRAD, MASK_GRAD, N_RESULTS };

typedef struct setting {
    const attention_case *of;
    double scale;
    test_array inputs[N_INPUTS], results[N_RESULTS];
    dt__attention args;
    double *in[N_INPUTS], *expected[N_RESULTS];
} setting;

static int64_t kv_head(const attention_case *c, int64_t h) { return c->group ? (c->head_offset + h) / c->group : h; }

/* Shapes: [batch, heads, rows, columns], of logsumexp without columns. */
static void shape_of(const attention_case *c, bool is_result, int i, int64_t *shape) {
    const bool of_keys = is_result ? i == KEY_GRAD || i == VALUE_GRAD : i == KEY || i == VALUE;
    const bool of_scores = is_result ? i == MASK_GRAD : i == MASK;
    const bool has_value_width = is_result ? i == OUT || i == VALUE_GRAD : i == VALUE || i == GRAD;
    shape[0] = c->batch;
    shape[1] = of_keys ? c->kv_heads : c->heads;
    shape[2] = of_keys ? c->keys : c->queries;
    shape[3] = of_scores ? c->keys : has_value_width ? c->value_width : c->width;
}

static int64_t count_of(const attention_case *c, bool is_result, int i) {
    int64_t shape[4];
    shape_of(c, is_result, i, shape);
    return shape[0] * shape[1] * shape[2] * (is_result && i == LOGSUMEXP ? 1 : shape[3]);
}

static double *all_elements(const test_array *a, int64_t n) {
    double *out = calloc((size_t)n + 1, sizeof *out);
    int64_t index[MAX_DIMS] = {0};
    for (int64_t i = 0; i < n; i++, next_index(a->a.n_dims, a->shape, index))
        out[i] = (double)get(a->a.dtype, element_at(&a->a, a->a.n_dims, index)).re;
    return out;
}

/* The score of query i and key j of a head, with its mask. */
static double score(const setting *s, int64_t b, int64_t h, int64_t i, int64_t j) {
    const attention_case *c = s->of;
    const double *q = s->in[QUERY] + ((b * c->heads + h) * c->queries + i) * c->width;
    const double *k = s->in[KEY] + ((b * c->kv_heads + kv_head(c, h)) * c->keys + j) * c->width;
    double sum = 0;
    for (int64_t e = 0; e < c->width; e++)
        sum += q[e] * k[e];
    sum *= s->scale;
    if (c->mask) {
        const double mask = s->in[MASK][((b * c->heads + h) * c->queries + i) * c->keys + j];
        sum = c->mask == FLOAT_MASK ? sum + mask : mask != 0 ? sum : -INFINITY;
    }
    return c->is_causal && c->key_offset + j > c->query_offset + i ? -INFINITY : sum;
}

/* What one query contributes to all results. */
static void reference_row(const setting *s, int64_t b, int64_t h, int64_t i, double *weights) {
    const attention_case *c = s->of;
    const int64_t row = (b * c->heads + h) * c->queries + i, kv = b * c->kv_heads + kv_head(c, h);
    const double *value = s->in[VALUE] + kv * c->keys * c->value_width, *grad = s->in[GRAD] + row * c->value_width;
    const double *key = s->in[KEY] + kv * c->keys * c->width, *query = s->in[QUERY] + row * c->width;
    double *out = s->expected[OUT] + row * c->value_width, largest = -INFINITY, sum = 0, inner = 0;
    for (int64_t j = 0; j < c->keys; j++)
        largest = fmax(largest, weights[j] = score(s, b, h, i, j));
    for (int64_t j = 0; j < c->keys; j++)
        sum += weights[j] = largest == -INFINITY ? 0 : exp(weights[j] - largest);
    s->expected[LOGSUMEXP][row] = largest + log(sum);
    for (int64_t j = 0; j < c->keys; j++) {
        weights[j] = sum > 0 ? weights[j] / sum : 0;
        for (int64_t d = 0; d < c->value_width; d++)
            out[d] += weights[j] * value[j * c->value_width + d];
    }
    for (int64_t d = 0; d < c->value_width; d++)
        inner += grad[d] * out[d];
    for (int64_t j = 0; j < c->keys; j++) {
        double delta = -inner;
        for (int64_t d = 0; d < c->value_width; d++) {
            delta += grad[d] * value[j * c->value_width + d];
            s->expected[VALUE_GRAD][(kv * c->keys + j) * c->value_width + d] += weights[j] * grad[d];
        }
        delta *= weights[j];
        s->expected[MASK_GRAD][row * c->keys + j] = delta;
        for (int64_t e = 0; e < c->width; e++) {
            s->expected[QUERY_GRAD][row * c->width + e] += s->scale * delta * key[j * c->width + e];
            s->expected[KEY_GRAD][(kv * c->keys + j) * c->width + e] += s->scale * delta * query[e];
        }
    }
}

static void compute_reference(const setting *s) {
    const attention_case *c = s->of;
    double *weights = calloc((size_t)c->keys + 1, sizeof *weights);
    for (int r = 0; r < N_RESULTS; r++)
        memset(s->expected[r], 0, (size_t)count_of(c, true, r) * sizeof(double));
    for (int64_t b = 0; b < c->batch; b++)
        for (int64_t h = 0; h < c->heads; h++)
            for (int64_t i = 0; i < c->queries; i++)
                reference_row(s, b, h, i, weights);
    free(weights);
}

static void fill(test_array *a, uint64_t *random) {
    const size_t size = dt_dtype_size(a->a.dtype);
    for (size_t i = 0; i * size < a->memory.bytes; i++)
        put(a->a.dtype, (wide){(long double)(test_below(random, 257) - 128) / 64, 0}, a->memory.data + i * size);
}

static void setting_open(setting *s, const attention_case *c, dt_dtype dtype, test_layout layout, uint64_t *random) {
    *s = (setting){.of = c, .scale = 0.4};
    for (int i = 0; i < N_INPUTS; i++) {
        int64_t shape[4];
        shape_of(c, false, i, shape);
        test_array_make(&s->inputs[i], i == MASK && c->mask == BOOL_MASK ? DT_BOOL : dtype, 4, shape,
                        i == MASK && layout == STRIDED ? BROADCAST : layout, random);
        if (s->inputs[i].a.dtype != DT_BOOL)
            fill(&s->inputs[i], random);
        s->in[i] = all_elements(&s->inputs[i], count_of(c, false, i));
    }
    for (int r = 0; r < N_RESULTS; r++) {
        int64_t shape[4];
        shape_of(c, true, r, shape);
        test_array_make(&s->results[r], r == LOGSUMEXP ? dt__attention_dtype(dtype) : dtype, r == LOGSUMEXP ? 3 : 4,
                        shape, layout, random);
        s->expected[r] = calloc((size_t)count_of(c, true, r) + 1, sizeof(double));
    }
    s->args = (dt__attention){.query = &s->inputs[QUERY].a,
                              .key = &s->inputs[KEY].a,
                              .value = &s->inputs[VALUE].a,
                              .mask = c->mask ? &s->inputs[MASK].a : NULL,
                              .scale = s->scale,
                              .is_causal = c->is_causal,
                              .query_offset = c->query_offset,
                              .key_offset = c->key_offset,
                              .group = c->group,
                              .head_offset = c->head_offset};
    compute_reference(s);
}

static void setting_close(setting *s) {
    for (int i = 0; i < N_INPUTS; i++) {
        test_array_free(&s->inputs[i]);
        free(s->in[i]);
    }
    for (int r = 0; r < N_RESULTS; r++) {
        test_array_free(&s->results[r]);
        free(s->expected[r]);
    }
}

static void run(setting *s, dt_ctx *ctx, const dt__kernels *kernels, dt__pool *pool) {
    dt__products *products = dt__products_new(ctx, kernels, pool, &test_scratch);
    const dt__array *of[N_RESULTS];
    for (int r = 0; r < N_RESULTS; r++)
        of[r] = &s->results[r].a;
    assert_true(
        dt__attention_run(products, &s->args, &(dt__attention_result){.out = of[OUT], .logsumexp = of[LOGSUMEXP]}));
    assert_true(dt__attention_grads_run(products, &s->args,
                                        &(dt__attention_grads){.grad = &s->inputs[GRAD].a,
                                                               .out = of[OUT],
                                                               .logsumexp = of[LOGSUMEXP],
                                                               .query = of[QUERY_GRAD],
                                                               .key = of[KEY_GRAD],
                                                               .value = of[VALUE_GRAD],
                                                               .mask = of[MASK_GRAD]}));
    dt__products_free(products);
}

/* Relative to the largest of the elements: those of f16 and bf16 are rounded, and so is what gradients start from. */
static double tolerance(dt_dtype dtype) {
    return dtype == DT_F64 ? 1e-13 : dtype == DT_F32 ? 2e-6 : dtype == DT_F16 ? 2e-3 : 2e-2;
}

static void compare(const setting *s) {
    static const char *const names[] = {"out", "logsumexp", "grad_query", "grad_key", "grad_value", "grad_mask"};
    const dt_dtype dtype = s->inputs[QUERY].a.dtype;
    for (int r = 0; r < N_RESULTS; r++) {
        const int64_t n = count_of(s->of, true, r);
        double *got = all_elements(&s->results[r], n), size = 1;
        for (int64_t i = 0; i < n; i++)
            if (isfinite(s->expected[r][i]))
                size = fmax(size, fabs(s->expected[r][i]));
        for (int64_t i = 0; i < n; i++)
            if (got[i] != s->expected[r][i] && !(fabs(got[i] - s->expected[r][i]) <= size * tolerance(dtype)))
                fail_msg("%s: element %ld of %s: expected %.9g, got %.9g", dt_dtype_name(dtype), (long)i, names[r],
                         s->expected[r][i], got[i]);
        free(got);
    }
}

static const attention_case cases[] = {
    {2, 3, 3, 5, 7, 4, 3, NO_MASK, false, 0, 0, 0, 0},    {2, 2, 2, 6, 6, 3, 5, NO_MASK, true, 0, 0, 0, 0},
    {1, 2, 2, 9, 4, 5, 4, BOOL_MASK, false, 0, 0, 0, 0},  {2, 1, 1, 4, 8, 1, 1, FLOAT_MASK, false, 0, 0, 0, 0},
    {1, 6, 3, 5, 6, 3, 4, FLOAT_MASK, false, 0, 0, 0, 2}, {2, 3, 3, 4, 5, 2, 2, BOOL_MASK, true, 0, 0, 1, 2},
    {1, 2, 2, 5, 9, 4, 4, NO_MASK, true, 6, 0, 0, 0},     {1, 2, 2, 9, 5, 4, 4, NO_MASK, true, 3, 7, 0, 0},
    {1, 2, 2, 3, 4, 2, 2, NO_MASK, true, 0, 9, 0, 0},     {1, 2, 2, 1, 33, 8, 8, NO_MASK, false, 0, 0, 0, 0},
    {2, 3, 3, 5, 0, 4, 3, NO_MASK, false, 0, 0, 0, 0},    {2, 3, 3, 0, 5, 4, 3, NO_MASK, false, 0, 0, 0, 0},
    {0, 3, 3, 4, 5, 4, 3, NO_MASK, false, 0, 0, 0, 0},    {1, 2, 2, 4, 5, 0, 3, NO_MASK, false, 0, 0, 0, 0},
    {1, 1, 4, 3, 5, 2, 2, NO_MASK, false, 0, 0, 3, 2},
};
static const attention_case large_cases[] = {
    {1, 2, 2, 260, 1100, 9, 17, NO_MASK, false, 0, 0, 0, 0},
    {1, 2, 2, 300, 700, 16, 8, NO_MASK, true, 60, 0, 0, 0},
    {1, 4, 2, 140, 600, 8, 8, FLOAT_MASK, false, 0, 0, 0, 2},
    {1, 1, 1, 300, 620, 8, 8, BOOL_MASK, true, 500, 100, 0, 0},
};
static const dt_dtype floats[] = {DT_F32, DT_F64, DT_F16, DT_BF16};

static void attention__equals_sums_over_all_scores(void **state) {
    (void)state;
    uint64_t random = test_seed(1);
    dt_ctx *ctx = dt__ctx_new(NULL);
    dt__pool *pool = dt__pool_new(ctx, 3);
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        for (int d = 0; d < 4; d++)
            for (int layout = DENSE; layout <= STRIDED; layout++)
                for (int t = 0; t < N_NAMES; t++) {
                    setting s;
                    if (!table_at(t))
                        continue;
                    setting_open(&s, &cases[c], floats[d], (test_layout)layout, &random);
                    run(&s, ctx, table_at(t), layout == DENSE ? NULL : pool);
                    compare(&s);
                    setting_close(&s);
                }
    dt__pool_free(pool);
    dt__ctx_free(ctx);
}

static void attention__of_several_blocks(void **state) {
    (void)state;
    uint64_t random = test_seed(2);
    dt_ctx *ctx = dt__ctx_new(NULL);
    for (size_t c = 0; c < sizeof large_cases / sizeof *large_cases; c++)
        for (int d = 0; d < 4; d++) {
            setting s;
            setting_open(&s, &large_cases[c], floats[d], d % 2 ? STRIDED : DENSE, &random);
            run(&s, ctx, dt__kernels_best(), NULL);
            compare(&s);
            setting_close(&s);
        }
    dt__ctx_free(ctx);
}

/* One thread makes gradients in one pass, several in two. */
static void attention__has_the_same_bits_on_all_tables_and_threads(void **state) {
    (void)state;
    uint64_t random = test_seed(3);
    dt_ctx *ctx = dt__ctx_new(NULL);
    for (size_t c = 0; c < sizeof large_cases / sizeof *large_cases; c++) {
        setting s;
        void *first[N_RESULTS] = {NULL};
        setting_open(&s, &large_cases[c], DT_F32, DENSE, &random);
        for (int t = 0; t < N_NAMES; t++)
            for (int n_threads = 1; n_threads <= 5 && table_at(t); n_threads += 2) {
                dt__pool *pool = dt__pool_new(ctx, n_threads);
                run(&s, ctx, table_at(t), pool);
                dt__pool_free(pool);
                for (int r = 0; r < N_RESULTS; r++) {
                    const size_t bytes = s.results[r].memory.bytes;
                    if (first[r] && memcmp(first[r], s.results[r].memory.data, bytes) != 0)
                        fail_msg("case %zu, %s, %d threads: result %d differs", c, table_names[t], n_threads, r);
                    first[r] = first[r] ? first[r] : memcpy(malloc(bytes), s.results[r].memory.data, bytes);
                }
            }
        for (int r = 0; r < N_RESULTS; r++)
            free(first[r]);
        setting_close(&s);
    }
    dt__ctx_free(ctx);
}

/* An element of a dense array, which may be at any address. */
static double f32_at(const dt__array *array, int64_t i) {
    return dt__read_f64(DT_F32, (const char *)array->data + i * (int64_t)sizeof(float));
}

/* Rows without any key are zeros, as PyTorch has them, and so are their gradients; NaN stays in its row. */
static void attention__of_masked_rows_and_nan(void **state) {
    (void)state;
    static const attention_case c = {1, 1, 1, 4, 5, 3, 2, BOOL_MASK, false, 0, 0, 0, 0};
    static const attention_case unmasked = {1, 1, 1, 4, 5, 3, 2, NO_MASK, false, 0, 0, 0, 0};
    uint64_t random = test_seed(4);
    dt_ctx *ctx = dt__ctx_new(NULL);
    setting s;
    setting_open(&s, &c, DT_F32, DENSE, &random);
    memset(s.inputs[MASK].memory.data, 1, 20);
    memset(s.inputs[MASK].memory.data + 5, 0, 5);
    run(&s, ctx, dt__kernels_best(), NULL);
    for (int i = 0; i < 4; i++) {
        assert_true((f32_at(&s.results[OUT].a, 2 * i) == 0) == (i == 1));
        assert_true((f32_at(&s.results[QUERY_GRAD].a, 3 * i) == 0) == (i == 1));
        assert_true((f32_at(&s.results[LOGSUMEXP].a, i) == -INFINITY) == (i == 1));
    }
    setting_close(&s);
    setting_open(&s, &unmasked, DT_F32, DENSE, &random);
    dt__write_f64(DT_F32, NAN, (char *)s.inputs[QUERY].a.data + 2 * 3 * sizeof(float));
    run(&s, ctx, dt__kernels_best(), NULL);
    for (int i = 0; i < 4; i++)
        assert_int_equal(isnan(f32_at(&s.results[OUT].a, 2 * i)), i == 2);
    setting_close(&s);
    dt__ctx_free(ctx);
}

/* The loss is the sum of out times the given gradient. */
static double loss(const setting *s) {
    double sum = 0;
    compute_reference(s);
    for (int64_t i = 0; i < count_of(s->of, true, OUT); i++)
        sum += s->expected[OUT][i] * s->in[GRAD][i];
    return sum;
}

static void gradients__of_the_reference_are_finite_differences(void **state) {
    (void)state;
    static const struct {
        int input, result;
    } pairs[] = {{QUERY, QUERY_GRAD}, {KEY, KEY_GRAD}, {VALUE, VALUE_GRAD}, {MASK, MASK_GRAD}};
    const double step = 1e-5;
    uint64_t random = test_seed(5);
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        setting s;
        setting_open(&s, &cases[c], DT_F64, DENSE, &random);
        for (int p = 0; p < (cases[c].mask == FLOAT_MASK ? 4 : 3); p++)
            for (int64_t i = 0; i < count_of(&cases[c], false, pairs[p].input); i += 3) {
                double *x = &s.in[pairs[p].input][i], kept = *x;
                *x = kept + step;
                const double above = loss(&s);
                *x = kept - step;
                const double slope = (above - loss(&s)) / (2 * step);
                *x = kept;
                compute_reference(&s);
                if (fabs(slope - s.expected[pairs[p].result][i]) > 1e-6)
                    fail_msg("case %zu: gradient %d, element %ld: expected %.9g, got %.9g", c, pairs[p].result,
                             (long)i, slope, s.expected[pairs[p].result][i]);
            }
        setting_close(&s);
    }
}

/* Exponentials up to zero: within two units of f32 and f64, and their sum; the same bits in all tables. */
static void exp_sums__are_exponentials(void **state) {
    (void)state;
    enum { N = 1300 };
    uint64_t random = test_seed(6);
    for (int d = 0; d < 2; d++)
        for (int64_t n = 0; n < N; n = n < 70 ? n + 1 : n + 341) {
            double first[N], first_sum = 0, sum, shift = (double)(test_below(&random, 41) - 20);
            double x[N], got[N];
            for (int64_t i = 0; i < n; i++)
                x[i] = shift - (double)test_below(&random, 1 << 20) / (1 << (test_below(&random, 2) ? 20 : 13));
            if (n > 20)
                x[11] = shift - (double)INFINITY;
            for (int t = 0; t < N_NAMES; t++) {
                if (!table_at(t))
                    continue;
                for (int64_t i = 0; i < n; i++)
                    put(floats[d], (wide){x[i], 0}, (char *)got + i * (int64_t)dt_dtype_size(floats[d]));
                sum = 1;
                table_at(t)->loops->exp_sums[floats[d]](n, got, got, shift, &sum);
                long double expected_sum = 1;
                for (int64_t i = 0; i < n; i++) {
                    char stored[16];
                    put(floats[d], (wide){x[i], 0}, stored);
                    const long double difference = get(floats[d], stored).re - (long double)shift;
                    const long double rounded = d ? (double)difference : (float)difference, expected = expl(rounded);
                    const long double y = get(floats[d], (char *)got + i * (int64_t)dt_dtype_size(floats[d])).re;
                    expected_sum += y;
                    if (fabsl(y - expected) > expected * (d ? 0x1p-51L : 0x1p-22L) + (d ? 0 : 0x1p-149L))
                        fail_msg("%s: exp(%Lg): expected %La, got %La", table_names[t], rounded, expected, y);
                }
                assert_true(fabsl(sum - expected_sum) <= 1e-6L * expected_sum);
                if (first_sum != 0)
                    assert_true(sum == first_sum && !memcmp(first, got, (size_t)n * dt_dtype_size(floats[d])));
                first_sum = sum;
                memcpy(first, got, (size_t)n * dt_dtype_size(floats[d]));
            }
            if (n > 0 && table_at(1)) {
                put(floats[d], (wide){NAN, 0}, got);
                table_at(1)->loops->exp_sums[floats[d]](1, got, got, shift, &sum);
                assert_true(isnan(get(floats[d], got).re) && isnan(sum));
            }
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(attention__equals_sums_over_all_scores),
        cmocka_unit_test(attention__of_several_blocks),
        cmocka_unit_test(attention__has_the_same_bits_on_all_tables_and_threads),
        cmocka_unit_test(attention__of_masked_rows_and_nan),
        cmocka_unit_test(exp_sums__are_exponentials),
        cmocka_unit_test(gradients__of_the_reference_are_finite_differences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
