/* SPDX-License-Identifier: Apache-2.0
 *
 * Gradients of softmax and of normalizations of random arrays against the formulas in long double, for all floats,
 * strides and dims, and with the sums of rows as given. Sums over rows have the same bits with any number of threads
 * and on every instruction set.
 */
#include "kernels/arrays.h"

#include "base/ctx.h"
#include "kernels/kernels.h"

static const dt_dtype floats[] = {DT_F32, DT_F64, DT_F16, DT_BF16};

static void moderate_numbers(test_array *a, uint64_t *random) {
    const size_t size = dt_dtype_size(a->a.dtype);
    for (size_t i = 0; i * size < a->memory.bytes; i++)
        put(a->a.dtype, (wide){(long double)(test_below(random, 4001) - 2000) / 512, 0}, a->memory.data + i * size);
}

/* `size` is the sum of the magnitudes of all terms: each is off by a few roundings of the format that is computed in
 * (f32, or f64 for f64), and so are the sums of 512 elements; then there is the rounding to the result. */
static bool is_near(dt_dtype dtype, long double got, long double expected, long double size) {
    const long double computed = dtype == DT_F64 ? 0x1p-53L : 0x1p-24L;
    const long double stored = dtype == DT_F16 ? 0x1p-11L : dtype == DT_BF16 ? 0x1p-8L : computed;
    const long double least = dtype == DT_F16 ? 0x1p-25L : 0x1p-140L;
    if (isinf(got) && dtype == DT_F16 && fabsl(expected) > 65000)
        return true;
    return fabsl(got - expected) <= 24 * computed * size + stored * 1.01L * fabsl(expected) + least;
}

static long double at(const test_array *a, int n_dims, const int64_t *index) {
    return get(a->a.dtype, element_at(&a->a, n_dims, index)).re;
}

static void check_softmax(const test_array *grad, const test_array *result, const test_array *out, int dim,
                          bool is_log, const char *name) {
    const int n_dims = grad->a.n_dims;
    int64_t index[MAX_DIMS] = {0}, slice[MAX_DIMS];
    if (is_empty(&grad->a))
        return;
    do {
        long double sum = 0, sizes = 0;
        memcpy(slice, index, sizeof slice);
        if (n_dims && index[dim] % (1 + grad->shape[dim] / 8) != 0 && index[dim] != grad->shape[dim] - 1)
            continue;
        for (int64_t i = 0; i < (n_dims ? grad->shape[dim] : 1); i++) {
            slice[dim] = i;
            const long double g = at(grad, n_dims, slice), term = is_log ? g : g * at(result, n_dims, slice);
            sum += term;
            sizes += fabsl(term);
        }
        const long double g = at(grad, n_dims, index), y = at(result, n_dims, index);
        const long double factor = is_log ? expl(y) : y, expected = is_log ? g - factor * sum : y * (g - sum);
        const long double size = is_log ? fabsl(g) + factor * sizes * (1 + fabsl(y)) : fabsl(y) * (fabsl(g) + sizes);
        const long double got = at(out, n_dims, index);
        if (!is_near(out->a.dtype, got, expected, size))
            fail_msg("%s: gradient of %ssoftmax of %s: expected %La, got %La", name, is_log ? "log_" : "",
                     dt_dtype_name(grad->a.dtype), expected, got);
    } while (next_index(n_dims, grad->shape, index));
}

static void softmax_case(uint64_t *random, dt__pool *pool, dt_dtype dtype, int n_dims, const int64_t *shape) {
    for (int t = 0; t < N_NAMES; t++) {
        test_array grad, result, out, sums;
        int64_t others[MAX_DIMS] = {0};
        int n_others = 0;
        if (!table_at(t))
            continue;
        const int dim = n_dims ? (int)test_below(random, n_dims) : 0;
        for (int d = 0; d < n_dims; d++)
            if (d != dim)
                others[n_others++] = shape[d];
        test_array_make(&grad, dtype, n_dims, shape, (test_layout)test_below(random, 3), random);
        test_array_make(&result, dtype, n_dims, shape, (test_layout)test_below(random, 3), random);
        test_array_make(&out, dtype, n_dims, shape, (test_layout)test_below(random, 2), random);
        test_array_make(&sums, DT_F64, n_others, others, (test_layout)test_below(random, 2), random);
        moderate_numbers(&grad, random);
        moderate_numbers(&result, random);
        dt__softmax_grads request = {.grad = &grad.a, .result = &result.a, .dim = dim, .out = &out.a};
        request.is_log = test_below(random, 2);
        if (test_below(random, 2)) {
            request.sums = &sums.a;
            request.out = NULL;
            dt__softmax_grads_run(table_at(t), pool, &request);
            request.out = &out.a;
        }
        dt__softmax_grads_run(table_at(t), pool, &request);
        check_softmax(&grad, &result, &out, dim, request.is_log, table_at(t)->name);
        test_array_free(&grad);
        test_array_free(&result);
        test_array_free(&out);
        test_array_free(&sums);
    }
}

static void softmax_grads__random_arrays(void **state) {
    (void)state;
    uint64_t random = test_seed(1);
    dt_ctx *ctx = dt__ctx_new(NULL);
    dt__pool *pool = dt__pool_new(ctx, 3);
    for (int d = 0; d < 4; d++) {
        for (int i = 0; i < 60; i++) {
            int64_t shape[MAX_DIMS] = {0};
            const int n_dims = random_shape(&random, shape, 1200);
            softmax_case(&random, i % 2 ? pool : NULL, floats[d], n_dims, shape);
        }
        softmax_case(&random, pool, floats[d], 2, (int64_t[]){2, 5003});
        softmax_case(&random, pool, floats[d], 2, (int64_t[]){60, 70});
    }
    dt__pool_free(pool);
    dt__ctx_free(ctx);
}

/* The operands of a norm, and its results. */
typedef struct norm_case {
    test_array grad, in, weight, out;
    int n_dims, n_leading;
    int64_t n, n_rows, n_sums;
    double *mean, *rstd, *sums, *products, *of_weight, *of_bias;
    dt__norm_grads request;
} norm_case;

static double *numbers(int64_t n) { return calloc((size_t)(n ? n : 1), sizeof(double)); }

static void case_make(norm_case *c, dt_dtype dtype, int n_dims, const int64_t *shape, uint64_t *random) {
    c->n_dims = n_dims;
    c->n_leading = (int)test_below(random, n_dims);
    c->n = c->n_rows = 1;
    for (int d = 0; d < n_dims; d++)
        *(d < c->n_leading ? &c->n_rows : &c->n) *= shape[d];
    test_array_make(&c->grad, dtype, n_dims, shape, (test_layout)test_below(random, 3), random);
    test_array_make(&c->in, dtype, n_dims, shape, (test_layout)test_below(random, 3), random);
    test_array_make(&c->weight, dtype, n_dims - c->n_leading, shape + c->n_leading,
                    (test_layout)test_below(random, 3), random);
    test_array_make(&c->out, dtype, n_dims, shape, DENSE, random);
    moderate_numbers(&c->grad, random);
    moderate_numbers(&c->in, random);
    moderate_numbers(&c->weight, random);
    c->n_sums = dt__norm_grads_pieces(c->n_rows, c->n) * c->n;
    c->mean = numbers(c->n_rows);
    c->rstd = numbers(c->n_rows);
    c->sums = numbers(c->n_rows);
    c->products = numbers(c->n_rows);
    c->of_weight = numbers(c->n_sums);
    c->of_bias = numbers(c->n_sums);
    for (int64_t i = 0; i < c->n_rows; i++) {
        c->mean[i] = (double)(test_below(random, 129) - 64) / 64;
        c->rstd[i] = (double)(1 + test_below(random, 64)) / 32;
    }
    c->request = (dt__norm_grads){.grad = &c->grad.a,
                                  .in = &c->in.a,
                                  .n_dims = n_dims - c->n_leading,
                                  .is_rms = test_below(random, 3) == 0,
                                  .count = (double)c->n,
                                  .mean = c->mean,
                                  .rstd = c->rstd,
                                  .weight = test_below(random, 2) ? &c->weight.a : NULL,
                                  .sums = c->sums,
                                  .products = c->products,
                                  .out = &c->out.a,
                                  .of_weight = test_below(random, 4) ? c->of_weight : NULL,
                                  .of_bias = test_below(random, 4) ? c->of_bias : NULL};
}

static void case_free(norm_case *c) {
    double *memory[] = {c->mean, c->rstd, c->sums, c->products, c->of_weight, c->of_bias};
    test_array_free(&c->grad);
    test_array_free(&c->in);
    test_array_free(&c->weight);
    test_array_free(&c->out);
    for (int i = 0; i < 6; i++)
        free(memory[i]);
}

/* The elements of a row with its number: y, h and where it is. */
typedef struct term {
    long double g, h, y;
} term;

static term term_at(const norm_case *c, int64_t row, const int64_t *index) {
    const long double x = at(&c->in, c->n_dims, index), g = at(&c->grad, c->n_dims, index);
    const long double mean = c->request.is_rms ? 0 : (long double)c->mean[row];
    const long double w = c->request.weight ? at(&c->weight, c->n_dims - c->n_leading, index + c->n_leading) : 1;
    return (term){g, g * w, (x - mean) * (long double)c->rstd[row]};
}

static void check_rows(const norm_case *c, const char *name) {
    const dt_dtype dtype = c->grad.a.dtype;
    int64_t index[MAX_DIMS] = {0};
    const int n_last = c->n_dims - c->n_leading;
    int64_t row = 0;
    do {
        long double sum = 0, product = 0, sizes = 0, product_sizes = 0;
        do {
            const term t = term_at(c, row, index);
            sum += t.h;
            sizes += fabsl(t.h);
            product += t.h * t.y;
            product_sizes += fabsl(t.h * t.y);
        } while (next_index(n_last, c->grad.shape + c->n_leading, index + c->n_leading));
        const long double n = (long double)c->n;
        sum = c->request.is_rms ? 0 : sum;
        do {
            const term t = term_at(c, row, index);
            const long double rstd = (long double)c->rstd[row];
            const long double expected = rstd * (t.h - sum / n - t.y * product / n);
            const long double size = rstd * (fabsl(t.h) + sizes / n + fabsl(t.y) * product_sizes / n);
            const long double got = at(&c->out, c->n_dims, index);
            if (!is_near(dtype, got, expected, size))
                fail_msg("%s: gradient of a norm of %s: expected %La, got %La", name, dt_dtype_name(dtype), expected,
                         got);
        } while (next_index(n_last, c->grad.shape + c->n_leading, index + c->n_leading));
        row++;
    } while (next_index(c->n_leading, c->grad.shape, index));
}

static void check_sums(const norm_case *c, const char *name) {
    const dt_dtype dtype = c->grad.a.dtype == DT_F64 ? DT_F64 : DT_F32;
    for (int64_t i = 0; i < c->n; i++) {
        int64_t index[MAX_DIMS] = {0}, rest = i, row = 0;
        long double weight = 0, bias = 0, weights = 0, biases = 0;
        for (int d = c->n_dims - 1; d >= c->n_leading; d--) {
            index[d] = rest % c->grad.shape[d];
            rest /= c->grad.shape[d];
        }
        do {
            const term t = term_at(c, row++, index);
            weight += t.g * t.y;
            weights += fabsl(t.g * t.y);
            bias += t.g;
            biases += fabsl(t.g);
        } while (next_index(c->n_leading, c->grad.shape, index));
        if (c->request.of_weight && !is_near(dtype, (long double)c->of_weight[i], weight, weights))
            fail_msg("%s: gradient of a weight: expected %La, got %a", name, weight, c->of_weight[i]);
        if (c->request.of_bias && !is_near(dtype, (long double)c->of_bias[i], bias, biases))
            fail_msg("%s: gradient of a bias: expected %La, got %a", name, bias, c->of_bias[i]);
    }
}

/* Runs on every instruction set, alone and with threads: the bits are the same. */
static void run_case(uint64_t *random, dt__pool *pool, dt_dtype dtype, int n_dims, const int64_t *shape) {
    norm_case c;
    case_make(&c, dtype, n_dims, shape, random);
    const size_t bytes = (size_t)c.n * sizeof(double), out_bytes = c.out.memory.bytes;
    unsigned char *first = malloc(2 * bytes + out_bytes + 1);
    bool is_first = true, in_steps = test_below(random, 2);
    for (int t = 0; t < N_NAMES; t++)
        for (int threads = 0; threads < 2 && table_at(t); threads++) {
            dt__norm_grads request = c.request;
            if (in_steps) {
                request.out = NULL;
                request.of_weight = request.of_bias = NULL;
                dt__norm_grads_run(table_at(t), threads ? pool : NULL, &request);
                request = c.request;
                request.has_sums = true;
            }
            dt__norm_grads_run(table_at(t), threads ? pool : NULL, &request);
            if (is_first && c.n && c.n_rows) {
                check_rows(&c, table_at(t)->name);
                check_sums(&c, table_at(t)->name);
            }
            if (is_first) {
                memcpy(first, c.of_weight, bytes);
                memcpy(first + bytes, c.of_bias, bytes);
                memcpy(first + 2 * bytes, c.out.memory.data, out_bytes);
            }
            is_first = false;
            assert_memory_equal(first, c.of_weight, bytes);
            assert_memory_equal(first + bytes, c.of_bias, bytes);
            assert_memory_equal(first + 2 * bytes, c.out.memory.data, out_bytes);
        }
    free(first);
    case_free(&c);
}

static void norm_grads__random_arrays(void **state) {
    (void)state;
    uint64_t random = test_seed(2);
    dt_ctx *ctx = dt__ctx_new(NULL);
    dt__pool *pool = dt__pool_new(ctx, 3);
    for (int d = 0; d < 4; d++) {
        for (int i = 0; i < 60; i++) {
            int64_t shape[MAX_DIMS] = {0};
            const int n_dims = random_shape(&random, shape, 1200);
            if (n_dims > 0)
                run_case(&random, pool, floats[d], n_dims, shape);
        }
        run_case(&random, pool, floats[d], 2, (int64_t[]){70, 1100});
        run_case(&random, pool, floats[d], 3, (int64_t[]){9, 7, 600});
    }
    dt__pool_free(pool);
    dt__ctx_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(softmax_grads__random_arrays),
        cmocka_unit_test(norm_grads__random_arrays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
