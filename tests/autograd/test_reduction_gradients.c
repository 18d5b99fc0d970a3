/* SPDX-License-Identifier: Apache-2.0
 *
 * Gradients of reductions at NaN, infinities, zeros and ties, and of too few elements, on shards of one element and of
 * none: the numbers that PyTorch has, except for products, whose gradients are not divided by a factor and so are
 * finite next to infinite ones.
 */
#include "autograd/backward.h"

#include <math.h>

enum { N = 4 };

static dt_tensor *max_of_all(dt_tensor *x) { return dt_max(x); }
static dt_tensor *min_of_all(dt_tensor *x) { return dt_min(x); }
static dt_tensor *norm_inf(dt_tensor *x) { return dt_linalg_vector_norm(x, .ord = DT_NUMBER((double)INFINITY)); }
static dt_tensor *norm_minus_inf(dt_tensor *x) {
    return dt_linalg_vector_norm(x, .ord = DT_NUMBER(-(double)INFINITY));
}
static dt_tensor *norm_2(dt_tensor *x) { return dt_norm(x); }
static dt_tensor *norm_half(dt_tensor *x) { return dt_linalg_vector_norm(x, .ord = DT_NUMBER(0.5)); }
static dt_tensor *norm_minus_1(dt_tensor *x) { return dt_linalg_vector_norm(x, .ord = DT_NUMBER(-1)); }
static dt_tensor *norm_3(dt_tensor *x) { return dt_linalg_vector_norm(x, .ord = DT_NUMBER(3)); }
static dt_tensor *var_of_all(dt_tensor *x) { return dt_var_correction(x, .correction = DT_NUMBER(N)); }
static dt_tensor *var_of_fewer(dt_tensor *x) { return dt_var_correction(x, .correction = DT_NUMBER(N + 1)); }
static dt_tensor *var_along_dim(dt_tensor *x) {
    return dt_var_correction(x, .dim = DT_DIMS(0), .correction = DT_NUMBER(N));
}
static dt_tensor *var_of_fewer_along_dim(dt_tensor *x) {
    return dt_var_correction(x, .dim = DT_DIMS(0), .correction = DT_NUMBER(N + 1));
}
static dt_tensor *std_of_all(dt_tensor *x) { return dt_std(x); }
static dt_tensor *prod_along_dim(dt_tensor *x) { return dt_prod_dim_int(x, 0); }
static dt_tensor *prod_of_all(dt_tensor *x) { return dt_prod(x); }
static dt_tensor *running_product(dt_tensor *x) { return dt_cumprod(x, 0); }
static dt_tensor *log_running_sum(dt_tensor *x) { return dt_logcumsumexp(x, 0); }

static dt_tensor *max_of_two(dt_tensor *x) {
    const double values[] = {1, 3, (double)NAN, (double)NAN};
    dt_tensor *plain = dt_from_memory(x->ctx, values, DT_SHAPE(N), DT_F64);
    return dt_max_other(x, dt_distribute_tensor(plain, dt_tensor_mesh(x), "S(0)"));
}

/* For a gradient of 2 for each output, and 1, 2, 3, 4 for the gradients of these: the gradients of the input, and the
 * sum of those of the gradients of the outputs. */
static const struct limit {
    const char *name;
    dt_tensor *(*run)(dt_tensor *);
    double x[N], first[N], second[N], of_grads;
} limits[] = {
    /* clang-format off */
    {"max_of_all of NaN", max_of_all, {NAN, 3, NAN, 1}, {1, 0, 1, 0}, {0, 0, 0, 0}, 2},
    {"max_of_all of ties", max_of_all, {3, 3, 1, 2}, {1, 1, 0, 0}, {0, 0, 0, 0}, 1.5},
    {"min_of_all of NaN", min_of_all, {NAN, 3, 1, 1}, {2, 0, 0, 0}, {0, 0, 0, 0}, 1},
    {"max_of_two of NaN", max_of_two, {NAN, 3, 2, NAN}, {2, 1, 2, 2}, {0, 0, 0, 0}, 9},
    {"norm_inf of NaN", norm_inf, {NAN, -3, 2, 1}, {0, 0, 0, 0}, {0, 0, 0, 0}, 0},
    {"norm_inf of ties", norm_inf, {-3, 3, 2, 1}, {-1, 1, 0, 0}, {0, 0, 0, 0}, 0.5},
    {"norm_minus_inf of NaN", norm_minus_inf, {NAN, -3, 2, 1}, {0, 0, 0, 0}, {0, 0, 0, 0}, 0},
    {"norm_2 of zeros", norm_2, {0, 0, 0, 0}, {0, 0, 0, 0}, {NAN, NAN, NAN, NAN}, 0},
    {"norm_half at 0", norm_half, {0, -4, 1, 1}, {0, -4, 8, 8}, {NAN, -4, -6, -10}, 24},
    {"norm_half of infinity", norm_half, {INFINITY, -4, 1, 1}, {NAN, -INFINITY, INFINITY, INFINITY},
     {NAN, NAN, NAN, NAN}, NAN},
    {"norm_minus_1 at 0", norm_minus_1, {0, -4, 1, 1}, {0, 0, 0, 0}, {NAN, 0, 0, 0}, 0},
    {"norm_3 of zeros", norm_3, {0, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}, NAN},
    {"var_of_all of few", var_of_all, {1, 1, 1, 1}, {NAN, NAN, NAN, NAN}, {0, 0, 0, 0}, NAN},
    {"var_of_fewer of fewer", var_of_fewer, {1, 2, 3, 2}, {INFINITY, NAN, INFINITY, NAN}, {0, 0, 0, 0}, NAN},
    {"var_along_dim of few", var_along_dim, {1, 2, 3, 2}, {-INFINITY, NAN, INFINITY, NAN},
     {NAN, NAN, NAN, NAN}, INFINITY},
    {"var_along_dim of fewer", var_of_fewer_along_dim, {1, 2, 3, 4}, {6, 2, -2, -6}, {6, 2, -2, -6}, -10},
    {"std_of_all of equal", std_of_all, {2, 2, 2, 2}, {0, 0, 0, 0}, {0, 0, 0, 0}, NAN},
    {"prod_along_dim of a zero", prod_along_dim, {0, 2, 3, 4}, {48, 0, 0, 0}, {144, 24, 16, 12}, 24},
    {"prod_along_dim of two zeros", prod_along_dim, {0, 2, 0, 4}, {0, 0, 0, 0}, {48, 0, 16, 0}, 0},
    {"prod_along_dim of three zeros", prod_along_dim, {0, 0, 0, 4}, {0, 0, 0, 0}, {0, 0, 0, 0}, 0},
    {"prod_of_all of a zero", prod_of_all, {2, 0, 3, 4}, {0, 48, 0, 0}, {48, 120, 32, 24}, 48},
    {"running_product of zeros", running_product, {2, 0, 0, 4}, {2, 4, 0, 0}, {4, 62, 40, 0}, 5},
    {"log_running_sum of infinity", log_running_sum, {0, INFINITY, 0, 0}, {2, NAN, 0, 0}, {0, NAN, 0, 0}, NAN},
    {"log_running_sum of nothing", log_running_sum, {-INFINITY, -INFINITY, 0, -INFINITY}, {NAN, NAN, 4, 0},
     {NAN, NAN, 0, 0}, NAN},
    {"log_running_sum of NaN", log_running_sum, {NAN, 0, INFINITY, 0}, {NAN, NAN, NAN, NAN}, {NAN, NAN, NAN, NAN}, NAN},
    {"prod_of_all of two zeros", prod_of_all, {0, 2, 0, 4}, {0, 0, 0, 0}, {48, 0, 16, 0}, 0},
    {"prod_along_dim of infinity", prod_along_dim, {INFINITY, 2, 3, 4}, {48, INFINITY, INFINITY, INFINITY},
     {144, INFINITY, INFINITY, INFINITY}, INFINITY},
    {"prod_of_all of NaN", prod_of_all, {NAN, 2, 3, 4}, {48, NAN, NAN, NAN}, {144, NAN, NAN, NAN}, NAN},
    {"prod_of_all of NaN and infinity", prod_of_all, {NAN, 2, -INFINITY, 4}, {-INFINITY, NAN, NAN, NAN},
     {-INFINITY, NAN, NAN, NAN}, NAN},
    {"running_product of infinity", running_product, {INFINITY, 2, 3, 4}, {66, INFINITY, INFINITY, INFINITY},
     {172, INFINITY, INFINITY, INFINITY}, INFINITY},
    /* clang-format on */
};

static int check_values(const struct limit *limit, const char *order, dt_tensor *tensor, int n,
                        const double *expected) {
    dt_tensor *full = tensor ? dt_full_tensor(tensor) : NULL;
    for (int i = 0; i < n; i++) {
        double got = full ? at(full, i) : 0; /* NULL: zeros */
        bool same = got == expected[i] || (isnan(got) && isnan(expected[i]));
        CHECK(same || fabs(got - expected[i]) <= 1e-12 * fabs(expected[i]),
              "%s: %s derivative %d: expected %g, got %g", limit->name, order, i, expected[i], got);
    }
    return 0;
}

static int check_limits(dt_ctx *ctx, void *arg) {
    const double by_index[N] = {1, 2, 3, 4};
    dt_mesh *mesh = dt_mesh_new(ctx, "dp=*");
    int wrong = 0;
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        const struct limit *limit = &limits[i];
        dt_tensor *plain = dt_from_memory(ctx, limit->x, DT_SHAPE(N), DT_F64);
        dt_tensor *x = dt_distribute_tensor(plain, mesh, arg), *grads[1], *seconds[2];
        dt_tensor *weights = dt_distribute_tensor(dt_from_memory(ctx, by_index, DT_SHAPE(N), DT_F64), mesh, "R");
        CHECK_OK(ctx, dt_set_requires_grad(x, true));
        dt_tensor *out = limit->run(x), *given = out ? dt_detach(dt_full_like(dt_reduced(out), 2)) : NULL;
        CHECK(given, "%s: %s", limit->name, dt_error_text(ctx));
        CHECK_OK(ctx, dt_set_requires_grad(given, true));
        CHECK_OK(ctx,
                 dt_gradients(DT_TENSORS(out), DT_TENSORS(x), grads, .output_grads = &given, .create_graph = true));
        wrong += check_values(limit, "first", grads[0], N, limit->first);
        CHECK_OK(ctx, dt_gradients(DT_TENSORS(grads[0]), DT_TENSORS(x, given), seconds, .output_grads = &weights,
                                   .allow_unused = true));
        wrong += check_values(limit, "second", seconds[0], N, limit->second);
        wrong += check_values(limit, "mixed", dt_sum(seconds[1]), 1, &limit->of_grads);
    }
    dt_mesh_release(mesh);
    return wrong != 0;
}

static void reductions__have_the_derivatives_of_pytorch(void **state) {
    (void)state;
    for (int64_t n = 1; n <= 5; n++) {
        run_ranks(n, check_limits, "S(0)");
        run_ranks(n, check_limits, "R");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(reductions__have_the_derivatives_of_pytorch)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
