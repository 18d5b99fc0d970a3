/* SPDX-License-Identifier: Apache-2.0
 *
 * Pooling and interpolation of images that are sharded in space: values and gradients as on one rank, whose values the
 * published cases check, for even, uneven, tiny and empty shards; only halos move. MATH-039, MATH-040, MATH-041.
 */
#include "dispatch/calls.h"

#include "dtensor/autograd.h"
#include "dtensor/debug.h"
#include "dtensor/dtensor.h"

#include <math.h>

/* A call on one tensor, f64[2,3,h,w]. */
static const char *const calls[] = {
    "avg_pool2d($1; 3; 1; 1)",
    "avg_pool2d($1; [3,2]; [2,3]; [1,0]; ceil_mode=true; count_include_pad=false)",
    "adaptive_avg_pool2d($1; [7,none])",
    "adaptive_avg_pool2d($1; 1)",
    "max_pool2d($1; 2)",
    "max_pool2d($1; 3; 2; 1; ceil_mode=true)",
    "max_pool2d($1; 3; 1; 2; [2,3])",
    "adaptive_max_pool2d($1; [5,9])",
    "interpolate($1; scale_factor=2)",
    "interpolate($1; [9,31]; mode=bilinear)",
    "interpolate($1; scale_factor=[1.5,0.6]; mode=bilinear; align_corners=true)",
    "interpolate($1; [30,11]; mode=bicubic)",
    "interpolate($1; [7,9]; mode=bicubic; antialias=true)",
    "interpolate($1; [5,40]; mode=area)",
    "interpolate($1; scale_factor=0.7; mode=\"nearest-exact\")",
};

typedef struct placing {
    int n_ranks;
    const char *mesh, *place;
    int64_t height, width;
} placing;

static int compare(const char *call, const char *what, dt_tensor *got, dt_tensor *want) {
    CHECK(got && want, "%s: %s failed", call, what);
    dt_tensor *full = dt_contiguous(dt_full_tensor(got)), *alone = dt_contiguous(want);
    CHECK(full && dt_tensor_elements(full) == dt_tensor_elements(alone), "%s: %s: another shape", call, what);
    for (int64_t i = 0; i < dt_tensor_elements(full); i++) {
        const double a = calls_element(full, i), b = calls_element(alone, i);
        CHECK(a - b <= 1e-12 && b - a <= 1e-12, "%s: %s: element %" PRId64 ": expected %.17g, got %.17g", call, what,
              i, b, a);
    }
    return 0;
}

static dt_tensor *run_backward(dt_ctx *ctx, const char *call, dt_tensor *x, dt_tensor **out) {
    if (dt_set_requires_grad(x, true) != DT_OK)
        return NULL;
    *out = CALL(ctx, call, x);
    dt_tensor *weighted = *out ? dt_mul(*out, *out) : NULL;
    return weighted && dt_backward(dt_sum(weighted)) == DT_OK ? dt_grad(x) : NULL;
}

static int run_calls(dt_ctx *ctx, void *arg) {
    const placing *of = arg;
    dt_mesh *mesh = dt_mesh_new(ctx, of->mesh);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        dt_tensor *x = dt_randn(ctx, DT_SHAPE(2, 3, of->height, of->width), .dtype = DT_F64,
                                .generator = dt_generator_new(ctx, 11));
        dt_tensor *placed = calls_distribute(x, mesh, of->place), *out, *alone;
        dt_tensor *grad = run_backward(ctx, calls[i], placed, &out);
        CHECK(grad, "%s: %s", calls[i], dt_error_text(ctx));
        dt_tensor *grad_alone = run_backward(ctx, calls[i], x, &alone);
        if (compare(calls[i], "values", dt_detach(out), dt_detach(alone)) ||
            compare(calls[i], "gradients", grad, grad_alone))
            return 1;
    }
    dt_mesh_release(mesh);
    return 0;
}

static void image_ops__on_shards_are_those_of_one_rank(void **state) {
    (void)state;
    static const placing placings[] = {
        {1, "1", "S(2)", 12, 10},        {2, "2", "S(2)", 12, 10},
        {3, "3", "S(3)", 11, 13},        {5, "5", "S(2)", 7, 10},
        {7, "7", "S(2)", 6, 8},          {4, "2,2", "S(2),S(3)", 13, 11},
        {4, "2,2", "S(0),S(2)", 12, 10}, {4, "2,2", "S(2),P(sum)", 12, 10},
        {2, "2", "S(2:9,2)", 11, 10},    {2, "2", "_S(2,2)", 12, 10},
        {3, "3", "S(1)", 12, 10},
    };
    for (size_t i = 0; i < sizeof placings / sizeof *placings; i++)
        run_ranks(placings[i].n_ranks, run_calls, (void *)(uintptr_t)&placings[i]);
}

/* MATH-039, MATH-040, MATH-041: nothing moves where batch or channels are sharded, forward and backward. */
typedef struct batch_call {
    const char *call;
    int n_dims;
    int64_t shape[5];
} batch_call;

static int run_batch_call(dt_ctx *ctx, const batch_call *of, dt_mesh *mesh, const char *place) {
    dt_shape shape = {of->n_dims, of->shape};
    dt_tensor *x = dt_randn(ctx, shape, .dtype = DT_F64, .generator = dt_generator_new(ctx, 5)), *alone;
    dt_tensor *placed = calls_distribute(x, mesh, place);
    CHECK_OK(ctx, dt_set_requires_grad(placed, true));
    dt_tensor *grad_alone = run_backward(ctx, of->call, x, &alone);
    dt_tensor *twice = dt_mul_scalar(dt_detach(alone), 2), *grad = calls_distribute(twice, mesh, place);
    CHECK(grad && grad_alone, "%s: %s", of->call, dt_error_text(ctx));
    CHECK_OK(ctx, dt_comm_stats_begin(ctx));
    dt_tensor *out = CALL(ctx, of->call, placed);
    CHECK(out && dt_backward(out, .grad = grad) == DT_OK, "%s: %s", of->call, dt_error_text(ctx));
    dt_comm_statistics sent = dt_comm_stats(ctx, NULL);
    dt_comm_stats_end(ctx);
    CHECK(sent.n == 0 && !strcmp(calls_placements(out), place), "%s of %s: %lld collectives, placed %s", of->call,
          place, (long long)sent.n, calls_placements(out));
    return compare(of->call, "values", dt_detach(out), dt_detach(alone)) ||
           compare(of->call, "gradients", dt_grad(placed), grad_alone);
}

static int run_batch(dt_ctx *ctx, void *arg) {
    static const batch_call batch_calls[] = {
        {"avg_pool2d($1; 3)", 4, {8, 3, 16, 16}},
        {"adaptive_avg_pool2d($1; 4)", 4, {8, 3, 16, 16}},
        {"adaptive_max_pool2d_with_indices($1; 4)", 4, {8, 3, 16, 16}},
        {"avg_pool3d($1; 2)", 5, {8, 3, 8, 8, 8}},
        {"interpolate($1; scale_factor=2; mode=bilinear)", 4, {1, 1, 2, 2}},
        {"interpolate($1; scale_factor=2)", 4, {1, 1, 2, 2}},
        {"interpolate($1; scale_factor=2; mode=bicubic)", 4, {1, 1, 2, 2}},
        {"interpolate($1; 8; mode=linear)", 3, {8, 4, 16}},
        {"interpolate($1; 32)", 3, {8, 4, 16}},
        {"interpolate($1; [16,16]; mode=bilinear; align_corners=true)", 4, {8, 4, 8, 8}},
        {"interpolate($1; [16,16]; mode=bicubic; antialias=true)", 4, {8, 4, 8, 8}},
        {"interpolate($1; [4,4])", 4, {8, 4, 8, 8}},
        {"interpolate($1; [8,8,8]; mode=trilinear)", 5, {8, 4, 4, 4, 4}},
        {"interpolate($1; [3,3]; mode=area)", 4, {8, 4, 8, 8}},
    };
    static const char *const places[] = {"S(0)", "S(1)", "R"};
    (void)arg;
    dt_mesh *mesh = dt_mesh_new(ctx, "4");
    for (size_t i = 0; i < sizeof batch_calls / sizeof *batch_calls; i++)
        for (size_t p = 0; p < sizeof places / sizeof *places; p++)
            if (run_batch_call(ctx, &batch_calls[i], mesh, places[p]))
                return 1;
    dt_mesh_release(mesh);
    return 0;
}

static void image_ops__of_a_sharded_batch_move_nothing(void **state) {
    (void)state;
    run_ranks(4, run_batch, NULL);
}

static int check_bytes(dt_ctx *ctx, const char *call, const char *what, int64_t elements) {
    const dt_comm_statistics sent = dt_comm_stats(ctx, NULL);
    const int64_t bytes = elements * 2 * 3 * (int64_t)sizeof(double);
    dt_comm_stats_end(ctx);
    CHECK(sent.bytes == bytes, "%s, %s: received %lld bytes, expected %lld", call, what, (long long)sent.bytes,
          (long long)bytes);
    return 0;
}

/* Of f64[2,3,40,20] on two ranks: rows of x that a rank receives forward; backward, elements of each channel of the
 * output's gradient, and of the indices of maximums. */
static int run_bytes(dt_ctx *ctx, void *arg) {
    static const struct {
        const char *call;
        int64_t rows[2], backward[2];
    } cases[] = {
        {"avg_pool2d($1; 3; 1; 1)", {1, 1}, {20, 20}},
        {"avg_pool2d($1; 2)", {0, 0}, {0, 0}},
        {"max_pool2d($1; 3; 2; 1)", {0, 1}, {2 * 10, 0}},
        {"max_pool2d($1; 5; 1; 2)", {2, 2}, {2 * 2 * 20, 2 * 2 * 20}},
        {"adaptive_avg_pool2d($1; 20)", {0, 0}, {0, 0}},
        {"interpolate($1; scale_factor=2)", {0, 0}, {0, 0}},
        {"interpolate($1; scale_factor=2; mode=bilinear)", {1, 1}, {40, 40}},
        {"interpolate($1; scale_factor=2; mode=bicubic)", {2, 2}, {3 * 40, 3 * 40}},
    };
    (void)arg;
    dt_mesh *mesh = dt_mesh_new(ctx, "2");
    dt_tensor *x =
        dt_randn(ctx, DT_SHAPE(2, 3, 40, 20), .dtype = DT_F64, .mesh = mesh, .place = "S(2)", .requires_grad = true);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int again = 0; again < 2; again++) {
            CHECK_OK(ctx, dt_comm_stats_begin(ctx));
            dt_tensor *y = CALL(ctx, cases[i].call, x), *grad;
            CHECK(y && !strcmp(calls_placements(y), "S(2)"), "%s: expected S(2), got %s", cases[i].call,
                  calls_placements(y));
            if (check_bytes(ctx, cases[i].call, "forward", cases[i].rows[dt_rank(ctx)] * 20))
                return 1;
            dt_tensor *of_y = dt_ones_like(dt_detach(y));
            CHECK_OK(ctx, dt_comm_stats_begin(ctx));
            CHECK_OK(ctx, dt_gradients(DT_TENSORS(y), DT_TENSORS(x), &grad, .output_grads = &of_y));
            CHECK(!strcmp(calls_placements(grad), "S(2)"), "%s: expected a gradient S(2), got %s", cases[i].call,
                  calls_placements(grad));
            if (check_bytes(ctx, cases[i].call, "backward", cases[i].backward[dt_rank(ctx)]))
                return 1;
        }
    dt_mesh_release(mesh);
    return 0;
}

static void image_ops__move_halos(void **state) {
    (void)state;
    run_ranks(2, run_bytes, NULL);
}

static int run_indices(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_tensor *x = calls_counting(ctx, DT_F32, DT_SHAPE(1, 1, 4, 6), 0, 1), *outputs[2];
    static const int64_t kernel[] = {2, 3}, want[] = {8, 11, 20, 23};
    const dt_op_argument arguments[] = {
        {.tensor = x},
        {.value = {.type = DT_ARG_INTS, .n = 2, .as.ints = kernel}},
        {.name = "return_indices", .value = {.type = DT_ARG_BOOL, .as.b = true}},
    };
    int n = 0;
    CHECK_OK(ctx, dt_op_run(ctx, "max_pool2d", 3, arguments, NULL, outputs, 2, &n));
    CHECK(n == 2, "expected values and indices, got %d outputs", n);
    for (int i = 0; i < 4; i++)
        CHECK((int64_t)calls_element(outputs[0], i) == want[i] && (int64_t)calls_element(outputs[1], i) == want[i],
              "index %d: %g", i, calls_element(outputs[1], i));
    return 0;
}

static void max_pool__returns_indices(void **state) {
    (void)state;
    run_ranks(1, run_indices, NULL);
}

/* Rows of many windows, with equal elements and NaN: the first of the largest, or the last NaN. */
static int run_wide_rows(dt_ctx *ctx, void *arg) {
    enum { ROWS = 3, COLUMNS = 171, STRIDE = 2 };
    (void)arg;
    for (int kernel = 1; kernel <= 5; kernel++) {
        float image[ROWS * COLUMNS];
        for (int i = 0; i < ROWS * COLUMNS; i++)
            image[i] = i % 29 == 7 ? NAN : (float)(i * 7919 % 13) - 6;
        dt_tensor *x = dt_from_memory(ctx, image, DT_SHAPE(1, 1, ROWS, COLUMNS), DT_F32);
        const dt_max_pool2d_with_indices_result of = dt_max_pool2d_with_indices(
            x, DT_INTS(1, kernel), .stride = DT_INTS(1, STRIDE), .padding = DT_INTS(0, kernel / 2));
        CHECK(of.output, "%s", dt_error_text(ctx));
        const int n = (int)dt_tensor_size(of.output, 3);
        for (int o = 0; o < ROWS * n; o++) {
            const int row = o / n, begin = o % n * STRIDE - kernel / 2;
            int best = -1;
            for (int c = begin < 0 ? 0 : begin; c < begin + kernel && c < COLUMNS; c++) {
                const int at = row * COLUMNS + c;
                best = best < 0 || image[at] > image[best] || isnan(image[at]) ? at : best;
            }
            const double value = calls_element(of.output, o), index = calls_element(of.indices, o);
            CHECK(index == best && (isnan(image[best]) ? isnan(value) : value == (double)image[best]),
                  "kernel %d, element %d: expected %g at %d, got %g at %g", kernel, o, (double)image[best], best,
                  value, index);
        }
    }
    return 0;
}

static void max_pool__finds_the_same_in_long_rows(void **state) {
    (void)state;
    run_ranks(1, run_wide_rows, NULL);
}

/* Whether an index in space [4,7,17] is in the window of [a,b,c], which begins at twice that and has 2 elements. */
static bool is_in_window(int64_t of, int64_t a, int64_t b, int64_t c) {
    if (of < 0 || of >= 4 * 7 * 17)
        return false;
    const int64_t i = of / (7 * 17) - 2 * a, j = of / 17 % 7 - 2 * b, k = of % 17 - 2 * c;
    return i >= 0 && i < 2 && j >= 0 && j < 2 && k >= 0 && k < 2;
}

/* Indices outside of their windows, and of the image, count as none, added or read, in views, too. */
static int run_any_indices(dt_ctx *ctx, void *arg) {
    enum { A = 2, B = 3, C = 8, N = A * B * C };
    const dt_ints two = DT_INTS(2, 2, 2), none = DT_INTS(0, 0, 0), one = DT_INTS(1, 1, 1);
    double sums[4 * 7 * 17] = {0}, grads[N];
    int64_t indices[N];
    (void)arg;
    for (int o = 0; o < N; o++) {
        const int a = o / (B * C), b = o / C % B, c = o % C;
        grads[o] = o + 1;
        indices[o] = ((2 * a + o % 3 % 2) * 7 + 2 * b + o / 2 % 2) * 17 + 2 * c + o / 5 % 3 - (o % 11 == 0) * 400;
        if (is_in_window(indices[o], a, b, c))
            sums[indices[o]] += grads[o];
    }
    dt_tensor *of = dt_from_memory(ctx, indices, DT_SHAPE(1, 1, A, B, C), DT_I64);
    dt_tensor *grad = dt_from_memory(ctx, grads, DT_SHAPE(1, 1, A, B, C), DT_F64);
    dt_tensor *image = dt_max_pool_backward(grad, of, DT_SHAPE(1, 1, 4, 7, 17), two, two, none, one);
    CHECK(image, "%s", dt_error_text(ctx));
    for (int i = 0; i < 4 * 7 * 17; i++)
        CHECK(calls_element(image, i) == sums[i], "element %d: expected %g, got %g", i, sums[i],
              calls_element(image, i));
    for (int flips = 0; flips < 2; flips++) {
        dt_tensor *from = flips ? dt_transpose(dt_contiguous(dt_transpose(image, 2, 4)), 2, 4) : image;
        dt_tensor *read = dt_max_pool_read(from, of, two, two, none, one);
        for (int o = 0; o < N; o++) {
            const bool is_here = is_in_window(indices[o], o / (B * C), o / C % B, o % C);
            CHECK(read && calls_element(read, o) == (is_here ? sums[indices[o]] : 0), "read element %d: %g", o,
                  calls_element(read, o));
        }
    }
    return 0;
}

static void max_pool__follows_indices_in_their_windows(void **state) {
    (void)state;
    run_ranks(1, run_any_indices, NULL);
}

static int run_refused(dt_ctx *ctx, void *arg) {
    static const struct {
        const char *call, *error;
    } cases[] = {
        {"avg_pool2d($1; 0)", "expected a kernel_size and a stride of at least 1, got 0 and 0"},
        {"avg_pool2d($1; 3; 1; 2)", "padding: expected 0 to 1, half of the kernel_size, got 2"},
        {"avg_pool2d($1; 9)", "expected sizes of at least 1, got 0 from 6"},
        {"avg_pool2d($1; [2,2,2])", "kernel_size: expected 2 numbers, or one, got 3"},
        {"avg_pool2d($1; 2; divisor_override=0)", "divisor_override: expected a number other than 0, got 0"},
        {"avg_pool1d($1; 2)", "expected 3 dims, got 4"},
        {"max_pool2d($1; 2; 1; 2)", "padding: expected 0 to 1, half of the window, got 2"},
        {"max_pool2d($1; [])", "kernel_size: expected 2 numbers, or one, got 0"},
        {"interpolate($1)", "expected either size or scale_factor"},
        {"interpolate($1; 3; 2.0)", "expected either size or scale_factor"},
        {"interpolate($1; 3; mode=linear)", "mode linear: expected 3 dims, got 4"},
        {"interpolate($1; 3; mode=other)", "mode: expected nearest, nearest-exact, area"},
        {"interpolate($1; 3; align_corners=true)", "align_corners: expected a linear or cubic mode, got nearest"},
        {"interpolate($1; 3; antialias=true)", "antialias: expected mode bilinear or bicubic, got nearest"},
        {"interpolate($1; scale_factor=0.01)", "expected sizes of at least 1, got 0 from 6"},
    };
    (void)arg;
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(2, 3, 6, 6));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        dt_tensor *got = CALL(ctx, cases[i].call, x);
        CHECK(!got && strstr(dt_error_text(ctx), cases[i].error), "%s: expected '%s', got '%s'", cases[i].call,
              cases[i].error, dt_error_text(ctx));
        CHECK_OK(ctx, dt_error_clear(ctx));
    }
    return 0;
}

static void image_ops__refuse_what_does_not_fit(void **state) {
    (void)state;
    run_ranks(1, run_refused, NULL);
}

/* Scales whose sizes are rounded, as PyTorch 2.13 treats them: a size that stays the same is a copy in linear modes;
 * nearest elements of a doubled size are pairs in two dims of space, and follow the scale in others. */
static int run_scales(dt_ctx *ctx, void *arg) {
    static const struct {
        const char *call;
        int n_dims;
        double last[4];
    } cases[] = {
        {"interpolate($1; scale_factor=1.3; mode=linear)", 1, {0, 1}},
        {"interpolate($1; scale_factor=[1,1.3]; mode=bilinear)", 2, {0, 1}},
        {"interpolate($1; scale_factor=[1,1.3]; mode=bicubic; antialias=true)", 2, {0, 1}},
        {"interpolate($1; scale_factor=2.3)", 1, {0, 0, 0, 1}},
        {"interpolate($1; scale_factor=[1,2.3])", 2, {0, 0, 1, 1}},
        {"interpolate($1; scale_factor=[1,1,2.3])", 3, {0, 0, 0, 1}},
    };
    (void)arg;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const int64_t sizes[] = {1, 1, 1, 1, 2}, *from = sizes + 3 - cases[i].n_dims;
        dt_tensor *x = dt_view(dt_arange(ctx, 0, 2, 1, .dtype = DT_F64), ((dt_shape){cases[i].n_dims + 2, from}));
        dt_tensor *got = CALL(ctx, cases[i].call, x);
        CHECK(got, "%s: %s", cases[i].call, dt_error_text(ctx));
        for (int64_t k = 0; k < dt_tensor_elements(got); k++)
            CHECK(calls_element(got, k) == cases[i].last[k], "%s: element %" PRId64 ": expected %g, got %g",
                  cases[i].call, k, cases[i].last[k], calls_element(got, k));
    }
    return 0;
}

static void interpolation__knows_sizes_that_stay(void **state) {
    (void)state;
    run_ranks(1, run_scales, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(image_ops__on_shards_are_those_of_one_rank),
        cmocka_unit_test(image_ops__of_a_sharded_batch_move_nothing),
        cmocka_unit_test(image_ops__move_halos),
        cmocka_unit_test(max_pool__returns_indices),
        cmocka_unit_test(max_pool__finds_the_same_in_long_rows),
        cmocka_unit_test(max_pool__follows_indices_in_their_windows),
        cmocka_unit_test(image_ops__refuse_what_does_not_fit),
        cmocka_unit_test(interpolation__knows_sizes_that_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
