/* SPDX-License-Identifier: Apache-2.0
 *
 * Convolutions by oneDNN against our own way in f64, in integers, whose sums are exact in both: maps, gradients of
 * images and of weights, of one to three dims, with strides, dilation, padding, groups, biases, halos, odd sizes and
 * elements in any order of dims; nothing outside the result is written, and bits do not depend on the number of
 * threads.
 */
#include "base/ctx.h"
#include "kernels/library_convolution.h"
#include "kernels/onednn.h"
#include "support/check.h"

#include <stdlib.h>
#include <string.h>

enum { SPACE = 3, DIMS = SPACE + 2, GAP = 3, N_PARTS = 3 };

static const dt__scratch_source scratch = {dt__alloc, dt__free};

typedef struct conv_case {
    int n_dims;
    int64_t batch, channels, filters, groups;
    int64_t image[SPACE], taps[SPACE], stride[SPACE], dilation[SPACE], begin[SPACE];
    int64_t map[SPACE]; /* 0: as many positions as end in the image, plus -begin more */
} conv_case;

static const conv_case cases[] = {
    {2, 8, 16, 32, 1, {28, 28}, {3, 3}, {1, 1}, {1, 1}, {-1, -1}, {0}},
    {2, 1, 16, 32, 1, {40, 41}, {3, 3}, {1, 1}, {1, 1}, {-1, -1}, {0}},
    {2, 3, 3, 64, 1, {33, 31}, {7, 7}, {2, 2}, {1, 1}, {-3, -3}, {0}},
    {2, 2, 24, 40, 1, {37, 19}, {3, 5}, {2, 3}, {1, 1}, {-2, 0}, {0}},
    {2, 2, 32, 16, 1, {30, 30}, {3, 3}, {1, 1}, {3, 2}, {-3, -2}, {0}},
    {2, 3, 48, 80, 1, {24, 20}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, {0}},
    {2, 2, 64, 64, 64, {60, 52}, {3, 3}, {1, 1}, {1, 1}, {-1, -1}, {0}},
    {2, 2, 64, 128, 4, {24, 24}, {3, 3}, {1, 1}, {1, 1}, {-1, -1}, {0}},
    {2, 17, 16, 16, 1, {16, 16}, {3, 3}, {1, 1}, {1, 1}, {-1, -1}, {0}},
    {2, 2, 16, 32, 1, {34, 30}, {3, 3}, {1, 1}, {1, 1}, {2, 0}, {30, 30}}, /* the inside of a shard */
    {2, 2, 16, 32, 1, {12, 30}, {3, 3}, {1, 1}, {1, 1}, {-1, -1}, {12, 30}},
    {1, 3, 32, 32, 1, {1000}, {3}, {1}, {1}, {-1}, {0}},
    {1, 2, 32, 48, 1, {2000}, {5}, {3}, {2}, {0}, {0}},
    {3, 2, 16, 16, 1, {10, 12, 14}, {3, 3, 3}, {1, 1, 1}, {1, 1, 1}, {-1, -1, -1}, {0}},
};
enum { N_CASES = sizeof cases / sizeof *cases };
static const conv_case too_little_work = {2, 1, 4, 4, 1, {8, 8}, {3, 3}, {1, 1}, {1, 1}, {-1, -1}, {0}};

static int64_t map_size(const conv_case *c, int d) {
    const int64_t reach = (c->taps[d] - 1) * c->dilation[d];
    return c->map[d] ? c->map[d] : (c->image[d] - 2 * c->begin[d] - reach - 1) / c->stride[d] + 1;
}

/* An array in memory that is larger than it: with gaps after its rows, or with channels last. */
typedef struct operand {
    dt__array a;
    int64_t shape[DIMS], strides[DIMS], n, n_memory;
    char *memory;
} operand;

static operand new_operand(dt_dtype dtype, int n_dims, const int64_t *shape, bool is_dense, bool is_last) {
    operand out = {.n = 1};
    int64_t stride = 1;
    memcpy(out.shape, shape, (size_t)n_dims * sizeof *shape);
    if (is_last) {
        out.strides[1] = 1;
        stride = shape[1] + GAP;
    }
    for (int d = n_dims - 1; d >= 0; d--) {
        out.n *= shape[d];
        if (is_last && d == 1)
            continue;
        out.strides[d] = stride;
        stride *= shape[d] + (d == n_dims - 1 && !is_dense && !is_last ? GAP : 0);
    }
    out.n_memory = stride;
    out.memory = calloc((size_t)stride + 1, dt_dtype_size(dtype));
    assert_non_null(out.memory);
    out.a = (dt__array){out.memory, dtype, n_dims, NULL, NULL};
    return out;
}

static int64_t offset_of(const operand *of, int64_t i) {
    int64_t at = 0;
    for (int d = of->a.n_dims - 1; d >= 0; d--) {
        at += i % of->shape[d] * of->strides[d];
        i /= of->shape[d];
    }
    return at;
}

static double read(const operand *of, int64_t at) {
    return of->a.dtype == DT_F32 ? ((const float *)(const void *)of->memory)[at]
                                 : ((const double *)(const void *)of->memory)[at];
}

static void write(const operand *of, int64_t at, double x) {
    if (of->a.dtype == DT_F32)
        ((float *)(void *)of->memory)[at] = (float)x;
    else
        ((double *)(void *)of->memory)[at] = x;
}

/* Elements are small integers, the same for both dtypes; gaps are 77. */
static void fill(const operand *of, int64_t seed) {
    for (int64_t i = 0; i < of->n_memory; i++)
        write(of, i, 77);
    for (int64_t i = 0; i < of->n; i++)
        write(of, offset_of(of, i), (double)((i * 7 + i / 13 + seed) % 7 - 3));
}

enum { IMAGE, WEIGHT, MAP, BIAS, N_OPERANDS };

typedef struct setting {
    operand of[N_OPERANDS];
    dt__convolution args;
} setting;

static void make(const conv_case *c, dt_dtype dtype, dt__convolution_part out, bool has_bias, bool is_last,
                 setting *s) {
    int64_t image[DIMS] = {c->batch, c->channels}, map[DIMS] = {c->batch, c->filters},
            weight[DIMS] = {c->filters, c->channels / c->groups},
            bias[] = {out == DT__CONV_IMAGE ? c->channels : c->filters};
    for (int d = 0; d < c->n_dims; d++) {
        image[2 + d] = c->image[d];
        map[2 + d] = map_size(c, d);
        weight[2 + d] = c->taps[d];
    }
    s->of[IMAGE] = new_operand(dtype, c->n_dims + 2, image, false, is_last);
    s->of[MAP] = new_operand(dtype, c->n_dims + 2, map, false, is_last);
    s->of[WEIGHT] = new_operand(dtype, c->n_dims + 2, weight, true, false);
    s->of[BIAS] = new_operand(dtype, 1, bias, true, false);
    for (int i = 0; i < N_OPERANDS; i++) {
        fill(&s->of[i], i);
        s->of[i].a.shape = s->of[i].shape;
        s->of[i].a.strides = s->of[i].strides;
    }
    s->args = (dt__convolution){.out = out,
                                .n_dims = c->n_dims,
                                .image = &s->of[IMAGE].a,
                                .weight = &s->of[WEIGHT].a,
                                .map = &s->of[MAP].a,
                                .bias = has_bias ? &s->of[BIAS].a : NULL,
                                .image_group = c->channels / c->groups,
                                .map_group = c->filters / c->groups};
    memcpy(s->args.stride, c->stride, sizeof c->stride);
    memcpy(s->args.dilation, c->dilation, sizeof c->dilation);
    memcpy(s->args.begin, c->begin, sizeof c->begin);
}

static void drop(setting *s) {
    for (int i = 0; i < N_OPERANDS; i++)
        free(s->of[i].memory);
}

static const operand *result_of(const setting *s) {
    return &s->of[s->args.out == DT__CONV_MAP ? MAP : s->args.out == DT__CONV_IMAGE ? IMAGE : WEIGHT];
}

/* The result has the elements of `expected`, and nothing between them was written. */
static void expect_equal(int number, const setting *got, const setting *expected) {
    const operand *g = result_of(got), *e = result_of(expected);
    bool *is_element = calloc((size_t)g->n_memory, sizeof *is_element);
    assert_non_null(is_element);
    for (int64_t i = 0; i < g->n; i++) {
        const double x = read(g, offset_of(g, i)), y = read(e, offset_of(e, i));
        is_element[offset_of(g, i)] = true;
        if (x != y)
            fail_msg("case %d, part %d: element %lld is %g, expected %g", number, (int)got->args.out, (long long)i, x,
                     y);
    }
    for (int64_t i = 0; i < g->n_memory; i++)
        if (!is_element[i] && read(g, i) != 77)
            fail_msg("case %d, part %d: writes %g outside the result", number, (int)got->args.out, read(g, i));
    free(is_element);
}

/* Runs a case by the library, twice, so that the second run uses code that is prepared; false if it was declined. */
static bool run(dt_ctx *ctx, const setting *s, int n_threads) {
    dt__pool *pool = dt__pool_new(ctx, n_threads);
    dt__products *products = dt__products_new(ctx, dt__kernels_best(), pool, &scratch);
    bool done = false, applies = false;
    assert_true(pool && products);
    for (int again = 0; again < 2; again++) {
        fill(result_of(s), 5);
        applies = dt__library_convolution_run(products, &s->args, &done);
        assert_true(done || !applies);
    }
    dt__products_free(products);
    dt__pool_free(pool);
    return applies;
}

static void run_own_way(dt_ctx *ctx, const setting *s) {
    dt__products *products = dt__products_new(ctx, dt__kernels_best(), NULL, &scratch);
    assert_non_null(products);
    assert_true(dt__convolution_run(products, &s->args));
    dt__products_free(products);
}

static bool check_case(dt_ctx *ctx, int number, dt__convolution_part out, bool has_bias, bool is_last) {
    setting got, expected;
    bool applies = false;
    make(&cases[number], DT_F64, out, has_bias, is_last, &expected);
    run_own_way(ctx, &expected);
    for (int threads = 1; threads <= 3; threads++) {
        make(&cases[number], DT_F32, out, has_bias, is_last, &got);
        applies = run(ctx, &got, threads);
        if (applies)
            expect_equal(number, &got, &expected);
        drop(&got);
    }
    drop(&expected);
    return applies;
}

static dt_ctx *begin(void) {
    if (!dt__onednn_load())
        test_skip("oneDNN is not installed");
    dt_ctx *ctx = dt__ctx_new(NULL);
    assert_non_null(ctx);
    return ctx;
}

/* The library lacks code for some strides and dilations, on each CPU for others: our own way computes these. */
static void library_convolution__has_the_values_of_our_own_way(void **state) {
    (void)state;
    dt_ctx *ctx = begin();
    int n = 0;
    for (int i = 0; i < N_CASES; i++)
        for (int out = 0; out < N_PARTS; out++)
            for (int way = 0; way < 2; way++)
                n += check_case(ctx, i, (dt__convolution_part)out, way && out != DT__CONV_WEIGHT, way);
    if (n < N_CASES * N_PARTS)
        fail_msg("the library computed %d of %d convolutions", n, 2 * N_CASES * N_PARTS);
    dt__ctx_free(ctx);
}

static void library_convolution__is_for_enough_work_and_tuned_kernels(void **state) {
    (void)state;
    dt_ctx *ctx = begin();
    dt__products *plain = dt__products_new(ctx, dt__kernels_named("plain"), NULL, &scratch);
    assert_non_null(plain);
    for (int out = 0; out < N_PARTS; out++) {
        setting small, large;
        bool done = false;
        make(&too_little_work, DT_F32, (dt__convolution_part)out, false, false, &small);
        make(&cases[0], DT_F32, (dt__convolution_part)out, false, false, &large);
        assert_false(run(ctx, &small, 1));
        assert_true(run(ctx, &large, 1));
        assert_false(dt__library_convolution_run(plain, &large.args, &done));
        drop(&small);
        drop(&large);
    }
    dt__products_free(plain);
    dt__ctx_free(ctx);
}

/* Numbers whose sums are rounded: all bits, with one thread to three. */
static void library_convolution__has_the_same_bits_for_any_threads(void **state) {
    (void)state;
    dt_ctx *ctx = begin();
    for (int i = 0; i < N_CASES; i++)
        for (int out = 0; out < N_PARTS; out++) {
            setting of[3];
            for (int threads = 1; threads <= 3; threads++) {
                setting *s = &of[threads - 1];
                make(&cases[i], DT_F32, (dt__convolution_part)out, false, false, s);
                for (int o = 0; o < N_OPERANDS; o++)
                    for (int64_t e = 0; e < s->of[o].n; e++)
                        write(&s->of[o], offset_of(&s->of[o], e), 1.0 / (double)(e % 1009 + o + 1));
                (void)run(ctx, s, threads);
                assert_memory_equal(result_of(s)->memory, result_of(&of[0])->memory,
                                    (size_t)result_of(s)->n_memory * sizeof(float));
            }
            for (int t = 0; t < 3; t++)
                drop(&of[t]);
        }
    dt__ctx_free(ctx);
}

/* More sizes than are kept. */
static void library_convolution__forgets_what_was_not_used_for_longest(void **state) {
    (void)state;
    dt_ctx *ctx = begin();
    dt__products *products = dt__products_new(ctx, dt__kernels_best(), NULL, &scratch);
    assert_non_null(products);
    for (int round = 0; round < 2; round++)
        for (int64_t size = 0; size < 40; size++) {
            conv_case c = cases[0];
            setting got, expected;
            bool done = false;
            c.batch = 1;
            c.image[0] = 24 + size;
            make(&c, DT_F32, DT__CONV_MAP, true, false, &got);
            make(&c, DT_F64, DT__CONV_MAP, true, false, &expected);
            run_own_way(ctx, &expected);
            assert_true(dt__library_convolution_run(products, &got.args, &done) && done);
            expect_equal((int)size, &got, &expected);
            drop(&got);
            drop(&expected);
        }
    dt__products_free(products);
    dt__ctx_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(library_convolution__has_the_values_of_our_own_way),
        cmocka_unit_test(library_convolution__is_for_enough_work_and_tuned_kernels),
        cmocka_unit_test(library_convolution__has_the_same_bits_for_any_threads),
        cmocka_unit_test(library_convolution__forgets_what_was_not_used_for_longest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
