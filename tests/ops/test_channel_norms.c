/* SPDX-License-Identifier: Apache-2.0
 *
 * Gradients of norms of images: one meet where batch or space are sharded, the formula in any memory format and with
 * any number of threads; statistics of one element, and those that are returned instead of being written. TOP-010.
 */
#include "dispatch/calls.h"

#include "dtensor/autograd.h"
#include "dtensor/debug.h"
#include "dtensor/dtensor.h"

#include <math.h>

typedef struct gradients {
    dt_tensor *input, *weight, *bias;
} gradients;

static gradients run_gradients(dt_ctx *ctx, const char *call, dt_tensor *x, dt_tensor *weight, dt_tensor *bias,
                               dt_tensor *grad) {
    dt_tensor *leaves[] = {x, weight, bias};
    for (int i = 0; i < 3; i++)
        if (dt_set_requires_grad(leaves[i], true) != DT_OK)
            return (gradients){NULL, NULL, NULL};
    dt_tensor *out = CALL(ctx, call, x, weight, bias);
    if (!out || dt_comm_stats_begin(ctx) != DT_OK || dt_backward(out, .grad = grad) != DT_OK)
        return (gradients){NULL, NULL, NULL};
    return (gradients){dt_grad(x), dt_grad(weight), dt_grad(bias)};
}

static int compare(const char *what, dt_tensor *got, dt_tensor *want, double tolerance) {
    dt_tensor *full = dt_contiguous(dt_full_tensor(got)), *alone = dt_contiguous(want);
    for (int64_t i = 0; i < dt_tensor_elements(alone); i++)
        CHECK(fabs(calls_element(full, i) - calls_element(alone, i)) <= tolerance,
              "%s: element %" PRId64 ": expected %.17g, got %.17g", what, i, calls_element(alone, i),
              calls_element(full, i));
    return 0;
}

typedef struct placing {
    int n_ranks;
    const char *mesh, *place, *call;
    int n_collectives;
    const char *of_weight;
} placing;

static int run_sharded(dt_ctx *ctx, void *arg) {
    const placing *of = arg;
    dt_mesh *mesh = dt_mesh_new(ctx, of->mesh);
    dt_generator *draw = dt_generator_new(ctx, 3);
    const dt_shape shape = DT_SHAPE(5, 4, 50, 40);
    dt_tensor *x = dt_randn(ctx, shape, .dtype = DT_F64, .generator = draw),
              *grad = dt_randn_like(x, .generator = draw);
    dt_tensor *weight = dt_randn(ctx, DT_SHAPE(4), .dtype = DT_F64, .generator = draw), *bias = dt_randn_like(weight);
    dt_tensor *copies[] = {dt_clone(weight), dt_clone(bias)};
    const bool by_channel = strstr(of->place, "S(1)") != NULL;
    const gradients alone = run_gradients(ctx, of->call, dt_clone(x), weight, bias, grad);
    dt_comm_stats_end(ctx);
    for (int i = 0; i < 2; i++)
        copies[i] = calls_distribute(copies[i], mesh, by_channel ? "S(0)" : strchr(of->place, ',') ? "R,R" : "R");
    dt_tensor *placed = calls_distribute(x, mesh, of->place), *placed_grad = calls_distribute(grad, mesh, of->place);
    const gradients got = run_gradients(ctx, of->call, placed, copies[0], copies[1], placed_grad);
    CHECK(got.input && alone.input, "%s on %s: %s", of->call, of->place, dt_error_text(ctx));
    const dt_comm_statistics sent = dt_comm_stats(ctx, NULL);
    dt_comm_stats_end(ctx);
    CHECK(sent.n == of->n_collectives && !strcmp(calls_placements(got.input), of->place) &&
              !strcmp(calls_placements(got.weight), of->of_weight),
          "%s on %s: expected %d collectives and a gradient of the weight on %s, got %d, %s and %s", of->call,
          of->place, of->n_collectives, of->of_weight, (int)sent.n, calls_placements(got.weight),
          calls_placements(got.input));
    return compare("input", got.input, alone.input, 1e-12) || compare("weight", got.weight, alone.weight, 1e-12) ||
           compare("bias", got.bias, alone.bias, 1e-12);
}

static void norm_gradients__meet_once(void **state) {
    (void)state;
    static const char batch[] = "batch_norm($1; none; none; $2; $3; true)";
    static const char group[] = "group_norm($1; 2; $2; $3)";
    static const placing placings[] = {
        {2, "2", "S(0)", batch, 1, "R"},          {3, "3", "S(2)", batch, 1, "R"},
        {3, "3", "S(0)", batch, 1, "R"},          {7, "7", "S(0)", batch, 1, "R"}, /* two have no part of the batch */
        {4, "2,2", "S(0),S(2)", batch, 1, "R,R"}, {3, "3", "S(1)", batch, 0, "S(0)"},
        {3, "3", "S(0)", group, 2, "R"}, /* the partial sums of weight and bias */
        {3, "3", "S(2)", group, 3, "R"}, /* and one meet */
    };
    for (size_t i = 0; i < sizeof placings / sizeof *placings; i++)
        run_ranks(placings[i].n_ranks, run_sharded, (void *)(uintptr_t)&placings[i]);
}

/* The element at a position of a dense [n,c,s], and the formula by plain loops: of rows of channels, or of each
 * instance. */
enum { N = 3, C = 5, S = 70000 };
static void expect_gradients(const double *g, const double *x, int n, int c, bool of_batch, double weight,
                             double *out, double *of_weight, double *of_bias) {
    double mean = 0, squares = 0, sum = 0, product = 0;
    const int begin = of_batch ? 0 : n, end = of_batch ? N : n + 1;
    const double count = (double)(end - begin) * S;
    for (int m = begin; m < end; m++)
        for (int s = 0; s < S; s++)
            mean += x[(m * C + c) * S + s] / count;
    for (int m = begin; m < end; m++)
        for (int s = 0; s < S; s++)
            squares += (x[(m * C + c) * S + s] - mean) * (x[(m * C + c) * S + s] - mean);
    const double rstd = 1 / sqrt(squares / count + 1e-5);
    for (int m = begin; m < end; m++)
        for (int s = 0; s < S; s++) {
            sum += g[(m * C + c) * S + s];
            product += g[(m * C + c) * S + s] * (x[(m * C + c) * S + s] - mean) * rstd;
        }
    *out = rstd * weight * (g[(n * C + c) * S] - sum / count - (x[(n * C + c) * S] - mean) * rstd * product / count);
    *of_weight = product;
    *of_bias = sum;
}

/* In NCHW, channels last, and with the batch innermost; threads: the same bits. */
static void norm_gradients__are_the_formula_in_any_format(void **state) {
    (void)state;
    static const char *const calls[] = {"batch_norm($1; none; none; $2; $3; true)",
                                        "instance_norm($1; none; none; $2; $3)"};
    static const int64_t orders[][3] = {{0, 1, 2}, {0, 2, 1}, {2, 1, 0}};
    dt_ctx *contexts[2];
    for (int t = 0; t < 2; t++)
        contexts[t] = dt_init(&(dt_init_options){.transport = "self", .threads = t ? 3 : 1});
    for (int k = 0; k < 6; k++) {
        dt_tensor *full[2][3];
        for (int t = 0; t < 2; t++) {
            dt_ctx *ctx = contexts[t];
            const int64_t *order = orders[k / 2];
            int64_t back[3];
            for (int d = 0; d < 3; d++)
                back[order[d]] = d;
            dt_generator *draw = dt_generator_new(ctx, 3);
            dt_tensor *x = dt_randn(ctx, DT_SHAPE(N, C, S), .generator = draw),
                      *grad = dt_randn_like(x, .generator = draw);
            x = dt_permute(dt_contiguous(dt_permute(x, ((dt_dims){.n = 3, .list = order}))),
                           ((dt_dims){.n = 3, .list = back}));
            dt_tensor *weight = dt_full(ctx, DT_SHAPE(C), 2, .dtype = DT_F32), *bias = dt_zeros(ctx, DT_SHAPE(C));
            x = dt_detach(x);
            const gradients got = run_gradients(ctx, calls[k % 2], x, weight, bias, grad);
            dt_comm_stats_end(ctx);
            assert_true(got.input != NULL);
            full[t][0] = dt_contiguous(got.input);
            full[t][1] = got.weight;
            full[t][2] = got.bias;
            if (t > 0)
                continue;
            dt_tensor *wide = dt_to(dt_contiguous(dt_detach(x)), DT_F64), *wide_grad = dt_to(grad, DT_F64);
            double of_weight[N], of_bias[N], out[N], sums[2] = {0, 0};
            for (int n = 0; n < N; n++) {
                expect_gradients(dt_data(wide_grad), dt_data(wide), n, C - 1, k % 2 == 0, 2, &out[n], &of_weight[n],
                                 &of_bias[n]);
                sums[0] = k % 2 == 0 ? of_weight[n] : sums[0] + of_weight[n];
                sums[1] = k % 2 == 0 ? of_bias[n] : sums[1] + of_bias[n];
                const double is = calls_element(full[0][0], (n * C + C - 1) * S);
                if (fabs(is - out[n]) > 1e-5)
                    fail_msg("%s, format %d: expected %.9g, got %.9g", calls[k % 2], k / 2, out[n], is);
            }
            for (int i = 0; i < 2; i++)
                if (fabs(calls_element(full[0][1 + i], C - 1) - sums[i]) > 1e-3)
                    fail_msg("%s, format %d: weight or bias: expected %.9g, got %.9g", calls[k % 2], k / 2, sums[i],
                             calls_element(full[0][1 + i], C - 1));
        }
        for (int i = 0; i < 3; i++)
            assert_memory_equal(dt_data(full[0][i]), dt_data(full[1][i]),
                                (size_t)dt_tensor_elements(full[0][i]) * sizeof(float));
    }
    for (int t = 0; t < 2; t++)
        assert_int_equal(dt_close(contexts[t]), 0);
}

/* As PyTorch: the functions refuse statistics of one element, native forms have a variance that is not a number. */
static int run_one_element(dt_ctx *ctx, void *arg) {
    static const struct {
        const char *call, *error;
        int64_t sizes[3];
    } cases[] = {
        {"batch_norm($1; $2; $3; training=true)", "expected more than 1 element per channel, got 1", {1, 3, 1}},
        {"instance_norm($1; $2; $3)", "expected more than 1 element per channel of an instance, got 1", {4, 3, 1}},
        {"group_norm($1; 3)", "expected more than 1 element per group of a batch, got 1", {1, 3, 1}},
    };
    dt_tensor *mean = dt_zeros(ctx, DT_SHAPE(3)), *var = dt_ones(ctx, DT_SHAPE(3));
    (void)arg;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        dt_tensor *x = dt_ones(ctx, ((dt_shape){3, cases[i].sizes}));
        dt_tensor *got = CALL(ctx, cases[i].call, x, mean, var);
        CHECK(!got && strstr(dt_error_text(ctx), cases[i].error), "expected '%s', got '%s'", cases[i].error,
              dt_error_text(ctx));
        CHECK_OK(ctx, dt_error_clear(ctx));
    }
    dt_tensor *x = dt_full(ctx, DT_SHAPE(1, 3), 7, .dtype = DT_F32, .requires_grad = true);
    CHECK(CALL(ctx, "batch_norm($1; $2; $3)", x, mean, var), "without training: %s", dt_error_text(ctx));
    dt_tensor *none = dt_ones(ctx, DT_SHAPE(0, 3));
    CHECK(CALL(ctx, "batch_norm($1; $2; $3; training=true)", none, mean, var), "no batch: %s", dt_error_text(ctx));
    CHECK(calls_element(mean, 0) == 0 && calls_element(var, 0) == 1, "an empty batch changed statistics");
    const dt_native_batch_norm_result of =
        dt_native_batch_norm(x, true, 0.1, 1e-5, .running_mean = mean, .running_var = var);
    CHECK(of.output && dt_backward(dt_sum(dt_mul(of.output, of.output))) == DT_OK, "%s", dt_error_text(ctx));
    CHECK(isnan(calls_element(var, 0)) && fabs(calls_element(mean, 0) - 0.7) < 1e-6, "running statistics: %g and %g",
          calls_element(mean, 0), calls_element(var, 0));
    CHECK(fabs(calls_element(of.output, 0)) < 1e-3 && calls_element(dt_grad(x), 0) == 0, "the gradient: %g",
          calls_element(dt_grad(x), 0));
    return 0;
}

static void norms__of_one_element(void **state) {
    (void)state;
    run_ranks(1, run_one_element, NULL);
}

/* TOP-010 */
static int run_functional(dt_ctx *ctx, void *arg) {
    dt_mesh *mesh = dt_mesh_new(ctx, "4");
    dt_generator *draw = dt_generator_new(ctx, 3);
    dt_tensor *full[5], *placed[5], *out[5], *want[3];
    (void)arg;
    for (int i = 0; i < 5; i++) {
        full[i] =
            i ? dt_rand(ctx, DT_SHAPE(4), .generator = draw) : dt_randn(ctx, DT_SHAPE(8, 4, 3, 3), .generator = draw);
        placed[i] = calls_distribute(full[i], mesh, i ? "S(0)" : "S(1)");
    }
    dt_tensor *before[] = {dt_clone(full[3]), dt_clone(full[4])};
    const dt_native_batch_norm_legit_functional_result of = dt_native_batch_norm_legit_functional(
        placed[0], placed[3], placed[4], true, 0.1, 1e-5, .weight = placed[1], .bias = placed[2]);
    CHECK(of.output, "%s", dt_error_text(ctx));
    memcpy(out, (dt_tensor *[]){of.output, of.save_mean, of.save_invstd, of.running_mean_out, of.running_var_out},
           sizeof out);
    for (int i = 0; i < 2; i++)
        if (compare("running statistics that are inputs", placed[3 + i], before[i], 0))
            return 1;
    const dt_native_batch_norm_result written =
        dt_native_batch_norm(full[0], true, 0.1, 1e-5, .weight = full[1], .bias = full[2], .running_mean = full[3],
                             .running_var = full[4]);
    CHECK(written.output, "%s", dt_error_text(ctx));
    memcpy(want, (dt_tensor *[]){written.output, written.save_mean, written.save_invstd}, sizeof want);
    for (int i = 0; i < 5; i++) {
        CHECK(!strcmp(calls_placements(out[i]), i ? "S(0)" : "S(1)"), "output %d is on %s", i,
              calls_placements(out[i]));
        if (compare("output", out[i], i < 3 ? want[i] : full[i], 1e-6))
            return 1;
    }
    dt_mesh_release(mesh);
    return 0;
}

static void native_batch_norm__returns_running_statistics(void **state) {
    (void)state;
    run_ranks(4, run_functional, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(norm_gradients__meet_once),
        cmocka_unit_test(norm_gradients__are_the_formula_in_any_format),
        cmocka_unit_test(norms__of_one_element),
        cmocka_unit_test(native_batch_norm__returns_running_statistics),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
