/* SPDX-License-Identifier: Apache-2.0
 *
 * Softmax and layer normalization of random arrays against the formulas in long double, for all floats, strides and
 * dims, with threads and in place.
 */
#include "kernels/arrays.h"

#include "base/ctx.h"
#include "kernels/kernels.h"

static const dt_dtype floats[] = {DT_F32, DT_F64, DT_F16, DT_BF16};

static void moderate_numbers(test_array *a, uint64_t *random) {
    const size_t size = dt_dtype_size(a->a.dtype);
    for (size_t i = 0; i * size < a->memory.bytes; i++)
        put(a->a.dtype, (wide){(long double)(test_below(random, 4001) - 2000) / 256, 0}, a->memory.data + i * size);
}

/* The error is a multiple of the rounding error of the format that is computed in (f32, or f64 for f64), relative to
 * `size`, plus one rounding in f64 relative to `sums`, plus the rounding to the result. */
static bool is_near(dt_dtype dtype, long double got, long double expected, long double size, long double sums) {
    const long double computed = dtype == DT_F64 ? 0x1p-53L : 0x1p-24L;
    const long double stored = dtype == DT_F16 ? 0x1p-11L : dtype == DT_BF16 ? 0x1p-8L : 0;
    if (isnan(expected) || isnan(got))
        return isnan(expected) && isnan(got);
    if (got == expected)
        return true;
    if (isinf(expected))
        return false;
    if (isinf(got)) /* too large for the dtype, or for the one that is computed in */
        return fabsl(expected) > (dtype == DT_F16 ? 65500.0L : dtype == DT_F64 ? 1.7e308L : 3.38e38L);
    return fabsl(got - expected) <= 8 * computed * size + 0x1p-53L * sums + stored * 1.01L * fabsl(expected) +
                                        (dtype == DT_F16    ? 0x1p-25L
                                         : dtype == DT_BF16 ? 0x1p-133L
                                         : dtype == DT_F32  ? 0x1p-147L
                                                            : 0x1p-1072L);
}

static void check_softmax(test_array *in, test_array *out, const dt__kernels *kernels, dt__pool *pool, int dim,
                          bool is_log) {
    const int n_dims = in->a.n_dims;
    unsigned char *kept = malloc(in->memory.bytes);
    memcpy(kept, in->memory.data, in->memory.bytes);
    dt__softmax(kernels, pool, &in->a, dim, is_log, &out->a);
    dt__array before = in->a;
    before.data = kept + ((unsigned char *)in->a.data - in->memory.data);
    int64_t index[MAX_DIMS] = {0}, slice[MAX_DIMS];
    if (!is_empty(&in->a))
        do {
            long double largest = -INFINITY, sum = 0;
            memcpy(slice, index, sizeof slice);
            if (n_dims && index[dim] % (1 + in->shape[dim] / 8) != 0 && index[dim] != in->shape[dim] - 1)
                continue;
            for (int pass = 0; pass < 2; pass++)
                for (int64_t i = 0; i < (n_dims ? in->shape[dim] : 1); i++) {
                    slice[dim] = i;
                    const long double x = get(in->a.dtype, element_at(&before, n_dims, slice)).re;
                    if (pass == 0)
                        largest = isnan(x) || isnan(largest) ? NAN : fmaxl(x, largest);
                    else
                        sum += expl(x - largest);
                }
            const long double x = get(in->a.dtype, element_at(&before, n_dims, index)).re;
            const long double expected = is_log ? x - largest - logl(sum) : expl(x - largest) / sum;
            const long double got = get(out->a.dtype, element_at(&out->a, n_dims, index)).re;
            /* Differences from the largest are rounded before their exponentials are taken. The sum of n positive
             * numbers is accurate to n units of f64, for any dtype; its logarithm may be much smaller. */
            const long double min_size = in->a.dtype == DT_F64 ? 1 : 0x1p-26L;
            const long double size =
                is_log ? fabsl(x - largest) + 4 * fabsl(logl(sum)) + min_size : expected * (1 + fabsl(x - largest));
            const long double sums = (long double)(n_dims ? in->shape[dim] : 1) * (is_log ? 1 : expected);
            if (!is_near(out->a.dtype, got, expected, isfinite(size) ? size : 1, isfinite(sums) ? sums : 0))
                fail_msg("%s: %ssoftmax of %s: %Lg: expected %La, got %La", kernels->name, is_log ? "log_" : "",
                         dt_dtype_name(in->a.dtype), x, expected, got);
        } while (next_index(n_dims, in->shape, index));
    free(kept);
}

static void softmax_case(uint64_t *random, dt__pool *pool, dt_dtype dtype, int n_dims, const int64_t *shape) {
    for (int t = 0; t < N_NAMES; t++) {
        test_array in, out;
        if (!table_at(t))
            continue;
        const bool in_place = test_below(random, 4) == 0;
        test_array_make(&in, dtype, n_dims, shape, in_place ? STRIDED : (test_layout)test_below(random, 3), random);
        test_array_make(&out, dtype, n_dims, shape, (test_layout)test_below(random, 2), random);
        if (test_below(random, 4))
            moderate_numbers(&in, random);
        const int dim = n_dims ? (int)test_below(random, n_dims) : 0;
        const bool is_log = test_below(random, 2);
        check_softmax(&in, in_place ? &in : &out, table_at(t), pool, dim, is_log);
        test_array_free(&in);
        test_array_free(&out);
    }
}

static void softmax__random_arrays(void **state) {
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
        softmax_case(&random, pool, floats[d], 2, (int64_t[]){3, 5003});
        softmax_case(&random, pool, floats[d], 2, (int64_t[]){60, 700});
    }
    dt__pool_free(pool);
    dt__ctx_free(ctx);
}

static long double number_at(const test_array *a, int n_dims, const int64_t *index, long double default_value) {
    return a ? get(a->a.dtype, element_at(&a->a, n_dims, index)).re : default_value;
}

static void check_norm(const test_array *in, const test_array *out, const test_array *weight, const test_array *bias,
                       const test_array *mean, const test_array *rstd, const dt__layer_norm *request,
                       const unsigned char *kept) {
    const int n_dims = in->a.n_dims, n_leading = n_dims - request->n_dims;
    const dt_dtype dtype = in->a.dtype;
    dt__array before = in->a;
    before.data = (void *)(uintptr_t)(kept + ((unsigned char *)in->a.data - in->memory.data));
    int64_t row[MAX_DIMS] = {0};
    if (is_empty(&in->a))
        return;
    do {
        int64_t index[MAX_DIMS] = {0}, *last = index + n_leading, n = 0;
        memcpy(index, row, sizeof index);
        for (int d = n_leading; d < n_dims; d++)
            index[d] = 0;
        long double sum = 0, sizes = 0, squares = 0, largest = 0;
        do {
            const long double x = get(dtype, element_at(&before, n_dims, index)).re;
            sum += x;
            sizes += fabsl(x);
            largest = fmaxl(largest, fabsl(x));
            n++;
        } while (next_index(request->n_dims, in->shape + n_leading, last));
        const long double m = request->is_rms ? 0 : sum / (long double)n;
        do {
            const long double off = get(dtype, element_at(&before, n_dims, index)).re - m;
            squares += off * off;
        } while (next_index(request->n_dims, in->shape + n_leading, last));
        const long double r = 1 / sqrtl(squares / (long double)n + (long double)request->eps);
        do {
            const long double x = get(dtype, element_at(&before, n_dims, index)).re;
            const long double w = number_at(weight, request->n_dims, last, 1),
                              b = number_at(bias, request->n_dims, last, 0);
            const long double expected = (x - m) * r * w + b, got = get(dtype, element_at(&out->a, n_dims, index)).re;
            /* The mean is off by up to n units of the mean magnitude, and rstd by n / 2 units of itself. */
            const long double sums = (sizes + (long double)n * fabsl(x - m) / 2) * r * fabsl(w);
            if (!is_near(dtype, got, expected, (largest + fabsl(m)) * r * fabsl(w) + fabsl(b), sums))
                fail_msg("layer_norm of %s: %Lg with mean %Lg, rstd %Lg, weight %Lg, bias %Lg: expected %Lg, got %Lg",
                         dt_dtype_name(dtype), x, m, r, w, b, expected, got);
        } while (next_index(request->n_dims, in->shape + n_leading, last));
        if (mean) {
            assert_true(is_near(mean->a.dtype, number_at(mean, n_leading, row, 0), m, largest, sizes));
            assert_true(is_near(rstd->a.dtype, number_at(rstd, n_leading, row, 0), r, r, (long double)n * r / 2));
        }
    } while (next_index(n_leading, in->shape, row));
}

static void norm_case(uint64_t *random, dt__pool *pool, dt_dtype dtype, int n_dims, const int64_t *shape) {
    for (int t = 0; t < N_NAMES; t++) {
        test_array in, out, weight, bias, mean, rstd;
        if (!table_at(t))
            continue;
        const int n_last = 1 + (int)test_below(random, n_dims), n_leading = n_dims - n_last;
        const bool in_place = test_below(random, 4) == 0, scales = test_below(random, 2),
                   shifts = test_below(random, 2), with_statistics = test_below(random, 2);
        const dt_dtype outputs = dtype == DT_F64 ? DT_F64 : DT_F32;
        test_array_make(&in, dtype, n_dims, shape, in_place ? STRIDED : (test_layout)test_below(random, 3), random);
        test_array_make(&out, dtype, n_dims, shape, (test_layout)test_below(random, 2), random);
        test_array_make(&weight, dtype, n_last, shape + n_leading, (test_layout)test_below(random, 3), random);
        test_array_make(&bias, dtype, n_last, shape + n_leading, (test_layout)test_below(random, 3), random);
        test_array_make(&mean, outputs, n_leading, shape, (test_layout)test_below(random, 2), random);
        test_array_make(&rstd, outputs, n_leading, shape, (test_layout)test_below(random, 2), random);
        moderate_numbers(&in, random);
        moderate_numbers(&weight, random);
        moderate_numbers(&bias, random);
        test_array *to = in_place ? &in : &out;
        unsigned char *kept = malloc(in.memory.bytes);
        memcpy(kept, in.memory.data, in.memory.bytes);
        const dt__layer_norm request = {.in = &in.a,
                                        .out = &to->a,
                                        .n_dims = n_last,
                                        .eps = 1e-5,
                                        .is_rms = test_below(random, 4) == 0,
                                        .weight = scales ? &weight.a : NULL,
                                        .bias = shifts ? &bias.a : NULL,
                                        .mean = with_statistics ? &mean.a : NULL,
                                        .rstd = with_statistics ? &rstd.a : NULL};
        dt__layer_norm_run(table_at(t), pool, &request);
        check_norm(&in, to, scales ? &weight : NULL, shifts ? &bias : NULL, with_statistics ? &mean : NULL,
                   with_statistics ? &rstd : NULL, &request, kept);
        free(kept);
        test_array_free(&in);
        test_array_free(&out);
        test_array_free(&weight);
        test_array_free(&bias);
        test_array_free(&mean);
        test_array_free(&rstd);
    }
}

static void layer_norm__random_arrays(void **state) {
    (void)state;
    uint64_t random = test_seed(2);
    dt_ctx *ctx = dt__ctx_new(NULL);
    dt__pool *pool = dt__pool_new(ctx, 3);
    for (int d = 0; d < 4; d++) {
        for (int i = 0; i < 60; i++) {
            int64_t shape[MAX_DIMS] = {0};
            const int n_dims = random_shape(&random, shape, 1200);
            if (n_dims > 0)
                norm_case(&random, i % 2 ? pool : NULL, floats[d], n_dims, shape);
        }
        norm_case(&random, pool, floats[d], 2, (int64_t[]){40, 1500});
    }
    dt__pool_free(pool);
    dt__ctx_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(softmax__random_arrays),
        cmocka_unit_test(layer_norm__random_arrays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
