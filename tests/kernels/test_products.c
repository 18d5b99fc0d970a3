/* SPDX-License-Identifier: Apache-2.0
 *
 * Products of random arrays, of all dtypes, strides and leading dims, against sums in long double; with one thread and
 * with three. Elements are small multiples of 1/8, so that every sum is exact in f32 and results are rounded only to
 * f16 and bf16.
 */
#include "kernels/arrays.h"

#include "base/ctx.h"
#include "kernels/kernels.h"

static const dt__scratch_source test_scratch = {dt__alloc, dt__free};

static void small_numbers(test_array *a, uint64_t *random) {
    const size_t size = dt_dtype_size(a->a.dtype);
    for (size_t i = 0; i * size < a->memory.bytes; i++)
        put(a->a.dtype,
            (wide){(long double)(test_below(random, 33) - 16) / 8, (long double)(test_below(random, 9) - 4) / 4},
            a->memory.data + i * size);
    if (is_integer(a->a.dtype))
        random_elements(a->a.dtype, random, a->memory.data, a->memory.bytes / size);
}

static void check_element(const dt__matmul *product, const int64_t *index, const void *before, const void *after) {
    const int n_dims = product->out->n_dims;
    const dt_dtype dtype = product->out->dtype;
    const int64_t k = product->a->shape[product->a->n_dims - 1];
    int64_t at_a[MAX_DIMS], at_b[MAX_DIMS];
    wide sum = {0, 0};
    uint64_t wrapped = 0;
    memcpy(at_a, index, sizeof at_a);
    memcpy(at_b, index, sizeof at_b);
    for (int64_t l = 0; l < k; l++) {
        at_a[n_dims - 1] = at_b[n_dims - 2] = l;
        const void *p = element_at(product->a, n_dims, at_a), *q = element_at(product->b, n_dims, at_b);
        const wide x = get(dtype, p), y = get(dtype, q);
        sum.re += x.re * y.re - x.im * y.im;
        sum.im += x.re * y.im + x.im * y.re;
        if (is_integer(dtype))
            wrapped += (uint64_t)get_integer(dtype, p) * (uint64_t)get_integer(dtype, q);
    }
    if (is_integer(dtype)) {
        uint64_t expected = 0, got = 0;
        wrapped = wrapped * (uint64_t)product->alpha.i;
        if (product->beta.i)
            wrapped += (uint64_t)product->beta.i * (uint64_t)get_integer(dtype, before);
        put_wrapped(dtype, (int64_t)wrapped, &expected);
        memcpy(&got, after, dt_dtype_size(dtype));
        if (got != expected)
            fail_msg("%s, k %ld: expected %lx, got %lx", dt_dtype_name(dtype), (long)k, (long)expected, (long)got);
        return;
    }
    const wide old = get(dtype, before), got = get(dtype, after);
    const long double ar = product->alpha.f.re, ai = product->alpha.f.im, br = product->beta.f.re,
                      bi = product->beta.f.im;
    wide expected = {ar * sum.re - ai * sum.im, ar * sum.im + ai * sum.re};
    if (br != 0 || bi != 0)
        expected = (wide){expected.re + br * old.re - bi * old.im, expected.im + br * old.im + bi * old.re};
    char rounded[16];
    put(dtype, expected, rounded);
    if (get(dtype, rounded).re != got.re || get(dtype, rounded).im != got.im)
        fail_msg("%s, k %ld: expected %Lg+%Lgi, got %Lg+%Lgi", dt_dtype_name(dtype), (long)k, expected.re,
                 expected.im, got.re, got.im);
}

typedef struct matmul_case {
    dt_dtype dtype;
    int n_leading;
    int64_t leading[MAX_DIMS], m, n, k;
} matmul_case;

/* Leading dims of an operand: some fewer, some of size 1. */
static void make_operand(test_array *t, const matmul_case *c, int64_t rows, int64_t columns, uint64_t *random) {
    int64_t shape[MAX_DIMS];
    const int skip = (int)test_below(random, c->n_leading + 1), n_dims = c->n_leading - skip + 2;
    for (int d = skip; d < c->n_leading; d++)
        shape[d - skip] = test_below(random, 4) == 0 ? 1 : c->leading[d];
    shape[n_dims - 2] = rows;
    shape[n_dims - 1] = columns;
    test_array_make(t, c->dtype, n_dims, shape, (test_layout)test_below(random, 3), random);
    small_numbers(t, random);
}

static void check_product(const matmul_case *c, dt__products *one, dt__products *three, uint64_t *random) {
    test_array a, b, out, bias;
    int64_t shape[MAX_DIMS] = {0}, index[MAX_DIMS] = {0};
    for (int d = 0; d < c->n_leading; d++)
        shape[d] = c->leading[d];
    shape[c->n_leading] = c->m;
    shape[c->n_leading + 1] = c->n;
    make_operand(&a, c, c->m, c->k, random);
    make_operand(&b, c, c->k, c->n, random);
    test_array_make(&out, c->dtype, c->n_leading + 2, shape, (test_layout)test_below(random, 2), random);
    const bool adds = test_below(random, 2);
    if (adds)
        small_numbers(&out, random);
    test_array_make(&bias, c->dtype, 1, &c->n, DENSE, random);
    small_numbers(&bias, random);
    dt__matmul product = {.a = &a.a, .b = &b.a, .out = &out.a};
    if (test_below(random, 3) == 0)
        product.bias = bias.a.data;
    if (is_integer(c->dtype)) {
        product.alpha.i = 1 + test_below(random, 2);
        product.beta.i = adds ? 3 : 0;
    } else {
        product.alpha.f.re = test_below(random, 2) ? 1 : -0.5;
        product.alpha.f.im = is_complex(c->dtype) ? 0.25 : 0;
        product.beta.f.re = adds ? 2 : 0;
    }
    unsigned char *before = malloc(out.memory.bytes), *first = malloc(out.memory.bytes);
    memcpy(before, out.memory.data, out.memory.bytes);
    assert_true(dt__matmul_run(one, &product));
    memcpy(first, out.memory.data, out.memory.bytes);
    memcpy(out.memory.data, before, out.memory.bytes);
    assert_true(dt__matmul_run(three, &product));
    assert_int_equal(first_difference(c->dtype, first, out.memory.data, out.memory.bytes / dt_dtype_size(c->dtype)),
                     -1);
    if (product.bias && is_integer(c->dtype))
        product.beta.i = 1;
    else if (product.bias)
        product.beta = (dt__number){.f = {1, 0}};
    const int64_t every = c->m * c->n * c->k > 1 << 24 ? 13 : 1; /* of the elements: each is a long sum */
    int64_t n = 0;
    if (!is_empty(&out.a))
        do {
            if (n++ % every)
                continue;
            const unsigned char *after = element_at(&out.a, out.a.n_dims, index);
            check_element(&product, index,
                          product.bias ? element_at(&bias.a, 1, &index[c->n_leading + 1])
                                       : before + (after - out.memory.data),
                          after);
        } while (next_index(out.a.n_dims, shape, index));
    test_array_free(&bias);
    free(before);
    free(first);
    test_array_free(&a);
    test_array_free(&b);
    test_array_free(&out);
}

static void matmul__random_products(void **state) {
    (void)state;
    uint64_t random = test_seed(1);
    dt_ctx *ctx = dt__ctx_new(NULL);
    dt__pool *pool = dt__pool_new(ctx, 3);
    for (int t = 0; t < N_NAMES; t++) {
        if (!table_at(t))
            continue;
        dt__products *one = dt__products_new(ctx, table_at(t), NULL, &test_scratch),
                     *three = dt__products_new(ctx, table_at(t), pool, &test_scratch);
        for (int d = DT_F32; d < DT_N_DTYPES; d++)
            for (int i = 0; i < 30; i++) {
                const int64_t max_size = i % 10 == 0 ? 40 : i % 3 == 0 ? 20 : 7;
                matmul_case c = {.dtype = (dt_dtype)d, .n_leading = (int)test_below(&random, 4)};
                for (int l = 0; l < c.n_leading; l++)
                    c.leading[l] = test_below(&random, 20) == 0 ? 0 : 1 + test_below(&random, 3);
                c.m = test_below(&random, max_size + 1);
                c.n = test_below(&random, max_size + 1);
                c.k = test_below(&random, max_size + 1);
                check_product(&c, one, three, &random);
            }
        dt__products_free(one);
        dt__products_free(three);
    }
    dt__products_free(NULL);
    dt__pool_free(pool);
    dt__ctx_free(ctx);
}

/* Large enough for tiles and threads. */
static void matmul__large_products(void **state) {
    (void)state;
    static const matmul_case cases[] = {
        {DT_F32, 0, {0}, 301, 77, 130},   {DT_F32, 0, {0}, 17, 400, 150}, {DT_F64, 1, {5}, 90, 60, 70},
        {DT_BF16, 1, {3}, 140, 50, 90},   {DT_C64, 0, {0}, 150, 60, 90},  {DT_I32, 0, {0}, 140, 70, 90},
        {DT_F32, 2, {3, 4}, 20, 30, 40},  {DT_F32, 0, {0}, 1, 700, 800},  {DT_F32, 0, {0}, 700, 1, 800},
        {DT_F32, 0, {0}, 1300, 1100, 9},  {DT_F64, 0, {0}, 20, 60000, 3}, {DT_F32, 0, {0}, 531, 257, 500},
        {DT_F32, 0, {0}, 64, 1030, 1030}, {DT_F32, 0, {0}, 2, 1000, 71},  {DT_F64, 0, {0}, 5, 301, 333},
        {DT_F64, 0, {0}, 333, 1, 301},    {DT_BF16, 0, {0}, 1, 701, 803}, {DT_BF16, 0, {0}, 4, 300, 515},
        {DT_BF16, 0, {0}, 8, 301, 64},    {DT_F16, 0, {0}, 7, 200, 129},  {DT_F16, 0, {0}, 200, 3, 1001},
        {DT_BF16, 0, {0}, 37, 70, 1101},  {DT_BF16, 0, {0}, 9, 2100, 33}, {DT_BF16, 0, {0}, 2057, 40, 31},
    };
    uint64_t random = test_seed(2);
    dt_ctx *ctx = dt__ctx_new(NULL);
    dt__pool *pool = dt__pool_new(ctx, 3);
    dt__products *one = dt__products_new(ctx, dt__kernels_best(), NULL, &test_scratch);
    dt__products *three = dt__products_new(ctx, dt__kernels_best(), pool, &test_scratch);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int repeat = 0; repeat < 2; repeat++)
            check_product(&cases[i], one, three, &random);
    dt__products_free(one);
    dt__products_free(three);
    dt__pool_free(pool);
    dt__ctx_free(ctx);
}

/* Numbers whose sums are rounded: in other tests every order of a sum has the same result. */
static void matmul__bits_do_not_depend_on_threads(void **state) {
    (void)state;
    static const matmul_case cases[] = {
        {DT_F32, 0, {0}, 1, 2500, 1700}, {DT_F64, 0, {0}, 3, 1300, 700},   {DT_F16, 0, {0}, 8, 1025, 999},
        {DT_BF16, 0, {0}, 1, 1800, 900}, {DT_BF16, 0, {0}, 40, 700, 1300}, {DT_F32, 0, {0}, 400, 300, 500},
    };
    uint64_t random = test_seed(5);
    dt_ctx *ctx = dt__ctx_new(NULL);
    dt__pool *pool = dt__pool_new(ctx, 3);
    dt__products *one = dt__products_new(ctx, dt__kernels_best(), NULL, &test_scratch);
    dt__products *three = dt__products_new(ctx, dt__kernels_best(), pool, &test_scratch);
    for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        const matmul_case *c = &cases[i / 2];
        const bool transposes = i % 2;
        const size_t size = dt_dtype_size(c->dtype), bytes = (size_t)(c->m * c->n) * size;
        const int64_t a_shape[] = {c->m, c->k}, b_shape[] = {c->k, c->n}, shape[] = {c->m, c->n};
        const int64_t a_strides[] = {c->k, 1}, strides[] = {c->n, 1},
                      b_strides[] = {transposes ? 1 : c->n, transposes ? c->k : 1};
        unsigned char *a = malloc((size_t)(c->m * c->k) * size), *b = malloc((size_t)(c->k * c->n) * size),
                      *first = malloc(bytes), *again = malloc(bytes);
        for (int64_t e = 0; e < c->m * c->k; e++)
            put(c->dtype, (wide){(long double)test_below(&random, 2001) / 1000 - 1, 0}, a + (size_t)e * size);
        for (int64_t e = 0; e < c->k * c->n; e++)
            put(c->dtype, (wide){(long double)test_below(&random, 2001) / 1000 - 1, 0}, b + (size_t)e * size);
        const dt__array a_array = {a, c->dtype, 2, a_shape, a_strides},
                        b_array = {b, c->dtype, 2, b_shape, b_strides}, of_one = {first, c->dtype, 2, shape, strides},
                        of_three = {again, c->dtype, 2, shape, strides};
        const dt__number alpha = {.f = {1, 0}};
        assert_true(dt__matmul_run(one, &(dt__matmul){.a = &a_array, .b = &b_array, .out = &of_one, .alpha = alpha}));
        assert_true(
            dt__matmul_run(three, &(dt__matmul){.a = &a_array, .b = &b_array, .out = &of_three, .alpha = alpha}));
        assert_memory_equal(first, again, bytes);
        for (int64_t e = 0; e < c->m * c->n; e += 1 + c->m * c->n / 50) { /* and are those of the product, about */
            long double sum = 0, magnitude = 0;
            for (int64_t l = 0; l < c->k; l++) {
                const int64_t at_b = l * b_strides[0] + e % c->n * b_strides[1];
                const long double term = get(c->dtype, a + (size_t)(e / c->n * c->k + l) * size).re *
                                         get(c->dtype, b + (size_t)at_b * size).re;
                sum += term;
                magnitude += fabsl(term);
            }
            const long double got = get(c->dtype, first + (size_t)e * size).re;
            const long double error = magnitude * 1e-5L + fabsl(sum) * (c->dtype == DT_BF16  ? 1 / 256.0L
                                                                        : c->dtype == DT_F16 ? 1 / 2048.0L
                                                                                             : 0);
            if (!(fabsl(got - sum) <= error))
                fail_msg("%s, m %ld, element %ld: expected %Lg, got %Lg", dt_dtype_name(c->dtype), (long)c->m,
                         (long)e, sum, got);
        }
        free(a);
        free(b);
        free(first);
        free(again);
    }
    dt__products_free(one);
    dt__products_free(three);
    dt__pool_free(pool);
    dt__ctx_free(ctx);
}

/* Scratch whose largest use is noted. */
static size_t scratch_bytes, most_scratch;

static void *take_counted(dt_ctx *ctx, size_t bytes) {
    scratch_bytes += bytes;
    most_scratch = scratch_bytes > most_scratch ? scratch_bytes : most_scratch;
    return dt__alloc(ctx, bytes);
}
static void give_back_counted(dt_ctx *ctx, void *memory, size_t bytes) {
    scratch_bytes -= bytes;
    dt__free(ctx, memory, bytes);
}

/* Operands and results beyond 32 MiB in the dtype of the computation are converted in blocks of that size. */
static void matmul__converts_in_blocks(void **state) {
    (void)state;
    static const dt__scratch_source counted = {take_counted, give_back_counted};
    static const matmul_case cases[] = {
        {DT_BF16, 0, {0}, 940, 1, 9001},
        {DT_F16, 0, {0}, 1, 940, 9001},
        {DT_I8, 0, {0}, 1, 1, 4300003},
        {DT_I16, 0, {0}, 3001, 1450, 1},
    };
    uint64_t random = test_seed(3);
    dt_ctx *ctx = dt__ctx_new(NULL);
    dt__pool *pool = dt__pool_new(ctx, 3);
    dt__products *one = dt__products_new(ctx, dt__kernels_best(), NULL, &counted);
    dt__products *three = dt__products_new(ctx, dt__kernels_best(), pool, &counted);
    most_scratch = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_product(&cases[i], one, three, &random);
    assert_int_equal(scratch_bytes, 0);
    assert_in_range(most_scratch, 1, (size_t)3 * 32 << 20);
    dt__products_free(one);
    dt__products_free(three);
    dt__pool_free(pool);
    dt__ctx_free(ctx);
}

/* Factors whose elements are all equal: only the sizes of blocks distinguish them. */
static void matmul__blocks_of_one_element(void **state) {
    (void)state;
    static const int64_t m = 3, n = 2, k = 4200007, none[] = {0, 0}, strides[] = {2, 1};
    int8_t x = 3, y = -5;
    int32_t z[3][2] = {{0}};
    dt_ctx *ctx = dt__ctx_new(NULL);
    dt__products *products = dt__products_new(ctx, dt__kernels_best(), NULL, &test_scratch);
    const int64_t a_shape[] = {m, k}, b_shape[] = {k, n}, c_shape[] = {m, n};
    const dt__array a = {&x, DT_I8, 2, a_shape, none}, b = {&y, DT_I8, 2, b_shape, none};
    int8_t c[3][2];
    assert_true(dt__matmul_run(
        products, &(dt__matmul){&a, &b, &(dt__array){c, DT_I8, 2, c_shape, strides}, {.i = 1}, {.i = 0}, NULL}));
    for (int i = 0; i < m * n; i++)
        assert_int_equal(c[i / n][i % n], (int8_t)(-15 * k));
    const int32_t wide_x = 3, wide_y = -5;
    const dt__array wide_a = {(void *)(uintptr_t)&wide_x, DT_I32, 2, a_shape, none},
                    wide_b = {(void *)(uintptr_t)&wide_y, DT_I32, 2, b_shape, none};
    assert_true(dt__matmul_run(
        products,
        &(dt__matmul){&wide_a, &wide_b, &(dt__array){z, DT_I32, 2, c_shape, strides}, {.i = 1}, {.i = 0}, NULL}));
    for (int i = 0; i < m * n; i++)
        assert_int_equal(z[i / n][i % n], -15 * k);
    dt__products_free(products);
    dt__ctx_free(ctx);
}

static void matmul__no_inner_elements_give_zero(void **state) {
    (void)state;
    dt_ctx *ctx = dt__ctx_new(NULL);
    dt__products *products = dt__products_new(ctx, dt__kernels_best(), NULL, &test_scratch);
    static float c[100][100];
    const int64_t a_shape[] = {100, 0}, b_shape[] = {0, 100}, c_shape[] = {100, 100}, strides[] = {100, 1};
    c[3][4] = NAN;
    const dt__array a = {NULL, DT_F32, 2, a_shape, strides}, b = {NULL, DT_F32, 2, b_shape, strides};
    const dt__array out = {c, DT_F32, 2, c_shape, strides};
    assert_true(dt__matmul_run(products, &(dt__matmul){&a, &b, &out, {.f = {1, 0}}, {.f = {0, 0}}, NULL}));
    for (int i = 0; i < 100; i++)
        for (int j = 0; j < 100; j++)
            assert_true(c[i][j] == 0);
    dt__products_free(products);
    dt__ctx_free(ctx);
}

/* bf16 needs copies of both operands and of the result. */
static bool multiply_bf16(dt_ctx *ctx, void *user) {
    (void)user;
    static uint16_t x[30 * 30], y[30 * 30];
    const int64_t shape[] = {30, 30}, strides[] = {30, 1};
    const dt__array a = {x, DT_BF16, 2, shape, strides}, out = {y, DT_BF16, 2, shape, strides};
    dt__products *products = dt__products_new(ctx, dt__kernels_best(), NULL, &test_scratch);
    const bool done =
        products && dt__matmul_run(products, &(dt__matmul){&a, &a, &out, {.f = {1, 0}}, {.f = {0, 0}}, NULL});
    dt__products_free(products);
    return done || (dt__fail_memory(ctx, 1, "a product") == DT_OK);
}

static void matmul__survives_lack_of_memory(void **state) {
    (void)state;
    assert_int_equal(assert_survives_failing_allocations(multiply_bf16, NULL), 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matmul__random_products),
        cmocka_unit_test(matmul__large_products),
        cmocka_unit_test(matmul__bits_do_not_depend_on_threads),
        cmocka_unit_test(matmul__converts_in_blocks),
        cmocka_unit_test(matmul__blocks_of_one_element),
        cmocka_unit_test(matmul__no_inner_elements_give_zero),
        cmocka_unit_test(matmul__survives_lack_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
