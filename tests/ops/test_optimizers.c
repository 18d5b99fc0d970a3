/* SPDX-License-Identifier: Apache-2.0
 *
 * Steps of optimizers against the formulas of their papers, computed in f64 with plain loops; on shards, in lists, and
 * with states of another dtype than the parameter's.
 */
#include "support/ranks.h"

#include "dtensor/dtensor.h"

#include <math.h>

enum { N = 23, STEPS = 5 };

/* The gradient of step s at element i: anything that is not constant. */
static double grad_of(int s, int64_t i) { return sin(1.0 + (double)i * 0.7 + s * 1.3); }
static double start_of(int64_t i) { return cos((double)i); }

struct numbers {
    double lr, beta1, beta2, decay, eps, momentum, dampening;
    bool nesterov, maximize;
};

static void reference_adam(const struct numbers *with, bool is_decoupled, double *p) {
    double m[N] = {0}, v[N] = {0};
    for (int s = 1; s <= STEPS; s++)
        for (int i = 0; i < N; i++) {
            double g = grad_of(s, i) * (with->maximize ? -1 : 1);
            if (is_decoupled)
                p[i] -= with->lr * with->decay * p[i];
            else
                g += with->decay * p[i];
            m[i] = with->beta1 * m[i] + (1 - with->beta1) * g;
            v[i] = with->beta2 * v[i] + (1 - with->beta2) * g * g;
            double m_hat = m[i] / (1 - pow(with->beta1, s)), v_hat = v[i] / (1 - pow(with->beta2, s));
            p[i] -= with->lr * m_hat / (sqrt(v_hat) + with->eps);
        }
}

static void reference_sgd(const struct numbers *with, double *p) {
    double buffer[N] = {0};
    for (int s = 1; s <= STEPS; s++)
        for (int i = 0; i < N; i++) {
            double g = grad_of(s, i) * (with->maximize ? -1 : 1) + with->decay * p[i];
            buffer[i] = s == 1 ? g : with->momentum * buffer[i] + (1 - with->dampening) * g;
            p[i] -= with->lr * (with->momentum == 0 ? g
                                : with->nesterov    ? g + with->momentum * buffer[i]
                                                    : buffer[i]);
        }
}

static dt_tensor *vector_of(dt_ctx *ctx, dt_mesh *mesh, const char *place, dt_dtype dtype, int s) {
    dt_tensor *full = dt_zeros(ctx, DT_SHAPE(N), .dtype = DT_F64);
    double *values = dt_data(full);
    for (int64_t i = 0; i < N; i++)
        values[i] = s ? grad_of(s, i) : start_of(i);
    return dt_to(dt_distribute_tensor(full, mesh, place), dtype);
}

static int compare(dt_ctx *ctx, dt_tensor *p, const double *expected, double tolerance, const char *name) {
    const double *got = dt_data(dt_to(dt_full_tensor(p), DT_F64));
    CHECK(got, "%s: %s", name, dt_error_text(ctx));
    for (int i = 0; i < N; i++)
        CHECK(fabs(got[i] - expected[i]) <= tolerance, "%s: element %d: expected %.17g, got %.17g", name, i,
              expected[i], got[i]);
    return 0;
}

static int step_on_ranks(dt_ctx *ctx, void *arg) {
    static const struct numbers with = {0.05, 0.9, 0.99, 0.1, 1e-8, 0.9, 0.2, false, false};
    static const dt_dtype dtypes[] = {DT_F64, DT_F32, DT_BF16};
    static const double tolerances[] = {1e-14, 2e-6, 3e-2};
    static const char *const places[] = {"R", "S(0)"};
    (void)arg;
    dt_mesh *mesh = dt_mesh_from_shape(ctx, (int64_t[]){dt_world(ctx)}, 1, NULL);
    for (int d = 0; d < 3; d++)
        for (int place = 0; place < 2; place++)
            for (int kind = 0; kind < 5; kind++) {
                double expected[N];
                dt_dtype state_dtype = dtypes[d] == DT_F64 ? DT_F64 : DT_F32;
                dt_tensor *p = vector_of(ctx, mesh, places[place], dtypes[d], 0);
                dt_tensor *m = dt_to(dt_zeros_like(p), state_dtype), *v = dt_to(dt_zeros_like(p), state_dtype);
                struct numbers used = with;
                used.maximize = place;
                for (int i = 0; i < N; i++)
                    expected[i] = start_of(i);
                for (int s = 1; s <= STEPS; s++) {
                    dt_tensor *g = vector_of(ctx, mesh, "S(0)", dtypes[d], s);
                    bool maximize = place;
                    if (kind == 0)
                        dt_adam_(p, g, m, v, with.lr, s, .beta2 = DT_REAL(with.beta2),
                                 .weight_decay = DT_REAL(with.decay), .maximize = maximize);
                    else if (kind == 1)
                        dt_adamw_(p, g, m, v, with.lr, s, .beta2 = DT_REAL(with.beta2),
                                  .weight_decay = DT_REAL(with.decay), .maximize = maximize);
                    else if (kind == 2)
                        dt_sgd_(p, g, with.lr, .weight_decay = DT_REAL(with.decay), .maximize = maximize);
                    else
                        dt_sgd_momentum_(p, g, m, with.lr, .weight_decay = DT_REAL(with.decay),
                                         .momentum = DT_REAL(with.momentum),
                                         .dampening = DT_REAL(kind == 3 ? with.dampening : 0), .nesterov = kind == 4,
                                         .is_first = s == 1, .maximize = maximize);
                    CHECK(!dt_failed(ctx), "%s", dt_error_text(ctx));
                }
                if (kind == 2)
                    used.momentum = used.dampening = 0;
                used.nesterov = kind == 4;
                used.dampening = kind == 3 ? with.dampening : 0;
                if (kind < 2)
                    reference_adam(&used, kind == 1, expected);
                else
                    reference_sgd(&used, expected);
                static const char *const names[] = {"adam", "adamw", "sgd", "momentum", "nesterov"};
                if (compare(ctx, p, expected, tolerances[d], names[kind]))
                    return 1;
            }
    dt_mesh_release(mesh);
    return 0;
}

static void steps__follow_the_formulas(void **state) {
    (void)state;
    for (int64_t n = 1; n <= 3; n++)
        run_ranks(n, step_on_ranks, NULL);
}

/* A list is the same as its members one by one. */
static void lists__are_their_members(void **state) {
    (void)state;
    enum { LIST = 100 };
    dt_ctx *ctx = dt_init(NULL);
    dt_tensor *p[2][LIST], *g[LIST], *m[2][LIST], *v[2][LIST];
    for (int i = 0; i < LIST; i++) {
        g[i] = dt_randn(ctx, DT_SHAPE(4, i % 5));
        for (int copy = 0; copy < 2; copy++) {
            p[copy][i] = dt_full(ctx, DT_SHAPE(4, i % 5), 0.5);
            m[copy][i] = dt_zeros(ctx, DT_SHAPE(4, i % 5));
            v[copy][i] = dt_zeros(ctx, DT_SHAPE(4, i % 5));
        }
    }
    for (int s = 1; s <= 2; s++) {
        dt_tensors lists[] = {{LIST, p[0]}, {LIST, g}, {LIST, m[0]}, {LIST, v[0]}};
        assert_int_equal(dt_fused_adamw_(lists[0], lists[1], lists[2], lists[3], 0.1, s), DT_OK);
        for (int i = 0; i < LIST; i++)
            dt_adamw_(p[1][i], g[i], m[1][i], v[1][i], 0.1, s);
    }
    for (int i = 0; i < LIST; i++)
        assert_memory_equal(dt_data(p[0][i]), dt_data(p[1][i]), (size_t)(4 * (i % 5)) * sizeof(float));
    assert_int_equal(dt_close(ctx), 0);
}

static void steps__refuse_invalid_values(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    dt_tensor *p = dt_ones(ctx, DT_SHAPE(3)), *g = dt_ones(ctx, DT_SHAPE(3)), *m = dt_zeros(ctx, DT_SHAPE(3));
    for (int again = 0; again < 2; again++) { /* the second time a decision is cached */
        dt_adamw_(p, g, m, m, 0.1, 0);
        assert_error_contains(ctx, DT_ERR_VALUE, "step: expected 1 or more, got 0");
        assert_int_equal(dt_error_clear(ctx), DT_OK);
        dt_adam_(p, g, m, m, 0.1, 1, .beta1 = DT_REAL(1));
        assert_error_contains(ctx, DT_ERR_VALUE, "beta1: expected 0 <= beta1 < 1, got 1");
        assert_int_equal(dt_error_clear(ctx), DT_OK);
        dt_sgd_(p, g, 0.1, .momentum = DT_REAL(0.9));
        assert_error_contains(ctx, DT_ERR_VALUE, "momentum 0.9: expected a momentum_buffer, got none");
        assert_int_equal(dt_error_clear(ctx), DT_OK);
        dt_sgd_(p, dt_ones(ctx, DT_SHAPE(4)), 0.1);
        assert_error_contains(ctx, DT_ERR_SHAPE, "tensor 2: expected the shape of the parameter");
        assert_int_equal(dt_error_clear(ctx), DT_OK);
        dt_sgd_(p, g, 0);
    }
    assert_float_equal(((const float *)dt_data(p))[0], 1, 0);
    assert_int_equal(dt_close(ctx), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps__follow_the_formulas),
        cmocka_unit_test(lists__are_their_members),
        cmocka_unit_test(steps__refuse_invalid_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
