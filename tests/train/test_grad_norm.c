/* SPDX-License-Identifier: Apache-2.0
 *
 * The norm of gradients on shards: against sums in f64 over the full gradients, with the number of reductions, and with
 * the same bits on every rank.
 */
#include "support/ranks.h"

#include "dtensor/dtensor.h"

#include <math.h>
#include <string.h>

enum { N_PARAMS = 5 };
static const int64_t sizes[N_PARAMS][2] = {{7, 3}, {1, 4}, {5, 1}, {0, 2}, {6, 6}};

static double grad_at(int p, int64_t i) { return sin(p + 1.3 * (double)i) * (p == 2 ? -3 : 1); }

/* A parameter whose gradient is grad_at. */
static dt_tensor *param_new(dt_ctx *ctx, int p, dt_dtype dtype, dt_mesh *mesh, const char *place) {
    dt_tensor *full = dt_zeros(ctx, ((dt_shape){2, sizes[p]}), .dtype = DT_F64);
    double *values = dt_data(full);
    for (int64_t i = 0; i < dt_tensor_elements(full); i++)
        values[i] = grad_at(p, i);
    dt_tensor *grad = dt_to(mesh ? dt_distribute_tensor(full, mesh, place) : full, dtype);
    dt_tensor *param = dt_zeros_like(grad);
    dt_set_requires_grad(param, true);
    dt_backward(dt_sum(dt_mul(param, grad)));
    return param;
}

static double expected_norm(double ord) {
    double total = 0;
    for (int p = 0; p < N_PARAMS; p++)
        for (int64_t i = 0; i < sizes[p][0] * sizes[p][1]; i++) {
            double value = fabs(grad_at(p, i));
            total = isinf(ord) ? fmax(total, value) : total + pow(value, ord);
        }
    return isinf(ord) ? total : pow(total, 1 / ord);
}

/* Whether all ranks have the same bits. */
static int check_bits(dt_ctx *ctx, double norm) {
    int64_t bits, pair[2];
    memcpy(&bits, &norm, sizeof bits);
    pair[0] = bits;
    pair[1] = ~bits;
    CHECK_OK(ctx, dt_comm_all_reduce(dt_group_world(ctx), pair, pair, 2, DT_I64, DT_MAX));
    CHECK(pair[0] == ~pair[1], "the bits of the norm differ between ranks");
    return 0;
}

typedef struct layout {
    const char *mesh;
    const char *places[N_PARAMS];
    int n_reductions;
} layout;

static int norms(dt_ctx *ctx, void *arg) {
    const layout *of = arg;
    static const double ords[] = {2, 1, 3, INFINITY};
    dt_mesh *mesh = dt_mesh_new(ctx, of->mesh);
    dt_tensor *params[N_PARAMS];
    for (int p = 0; p < N_PARAMS; p++)
        params[p] = param_new(ctx, p, DT_F64, mesh, of->places[p]);
    const dt_tensors all = {N_PARAMS, params};
    for (int o = 0; o < 4; o++) {
        dt_comm_policy(ctx, DT_COMM_ERROR); /* the reduction is requested */
        CHECK_OK(ctx, dt_comm_stats_begin(ctx));
        dt_tensor *norm = dt_grad_norm(all, .norm_type = DT_REAL(ords[o]));
        int64_t n = dt_comm_stats(ctx, &(dt_comm_filter){0}).n;
        dt_comm_stats_end(ctx);
        CHECK(norm, "%s", dt_error_text(ctx));
        CHECK(n == of->n_reductions, "expected %d collectives, got %lld", of->n_reductions, (long long)n);
        double expected = expected_norm(ords[o]), got = dt_item(norm);
        CHECK(fabs(got - expected) <= 1e-13 * expected, "ord %g: expected %.17g, got %.17g", ords[o], expected, got);
        if (check_bits(ctx, got))
            return 1;
    }
    double before = dt_item(dt_clip_grad_norm(all, 1e6)), kept = dt_item(dt_grad_norm(all));
    CHECK(before == kept, "a norm below the maximum: expected %.17g, got %.17g", before, kept);
    double clipped = dt_item(dt_clip_grad_norm(all, 0.5)), after = dt_item(dt_grad_norm(all));
    CHECK(clipped == before, "expected %.17g, got %.17g", before, clipped);
    CHECK(fabs(after - 0.5 * before / (before + 1e-6)) < 1e-13, "after clipping to 0.5: %.17g", after);
    const double *grad = dt_data(dt_full_tensor(dt_grad(params[4])));
    for (int64_t i = 0; i < 36; i++)
        CHECK(fabs(grad[i] - grad_at(4, i) * 0.5 / (before + 1e-6)) < 1e-15, "element %lld", (long long)i);
    dt_mesh_release(mesh);
    return 0;
}

static void norm__takes_one_reduction(void **state) {
    (void)state;
    static const layout layouts[] = {
        {"1", {"S(0)", "S(0)", "S(0)", "S(0)", "S(0)"}, 0},
        {"2", {"S(0)", "R", "S(1)", "S(0)", "S(1)"}, 1},
        {"3", {"S(0)", "S(0)", "S(0)", "S(0)", "S(0)"}, 1},
        {"3", {"R", "R", "R", "R", "R"}, 0},
        {"2,2", {"S(0),R", "R,R", "R,S(0)", "S(0),S(1)", "S(1),R"}, 1},
        {"2,2", {"S(0),R", "R,R", "S(0),R", "S(1),R", "S(1),R"}, 1},
        {"5", {"S(1)", "R", "S(0)", "R", "S(0)"}, 1},
    };
    static const int64_t n_ranks[] = {1, 2, 3, 3, 4, 4, 5};
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++)
        run_ranks(n_ranks[i], norms, (void *)&layouts[i]);
}

/* Each mesh has its reduction. */
static int several_meshes(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *grid = dt_mesh_new(ctx, "x=2,y=2"), *flat = dt_mesh_flatten(grid, "xy");
    dt_tensor *params[N_PARAMS];
    for (int p = 0; p < N_PARAMS; p++)
        params[p] = p % 2 ? param_new(ctx, p, DT_F32, grid, "R,S(0)") : param_new(ctx, p, DT_F32, flat, "S(0)");
    CHECK_OK(ctx, dt_comm_stats_begin(ctx));
    double got = dt_item(dt_clip_grad_norm(((dt_tensors){N_PARAMS, params}), 1));
    CHECK(dt_comm_stats(ctx, &(dt_comm_filter){0}).n == 2, "expected 2 collectives");
    dt_comm_stats_end(ctx);
    CHECK(fabs(got - expected_norm(2)) < 1e-6, "expected %g, got %g", expected_norm(2), got);
    dt_mesh_release(flat);
    dt_mesh_release(grid);
    return check_bits(ctx, got);
}

static void norm__counts_all_meshes(void **state) {
    (void)state;
    run_ranks(4, several_meshes, NULL);
}

/* A mesh whose dim "pp" has the stages of a pipeline, and which stage has which parameter, -1: it is on the whole mesh;
 * then all ranks list all parameters, because positions in the list agree on a mesh. */
typedef struct pipeline {
    const char *mesh, *stage_dims;
    int stage_of[N_PARAMS];
    const char *places[N_PARAMS];
} pipeline;

/* The parameters that this rank lists: all of them, or those of meshes that it is in. */
static dt_tensors listed(dt_ctx *ctx, const pipeline *of, dt_mesh *mesh, bool own_only, dt_tensor **params) {
    dt_tensors list = {0, params};
    for (int p = 0; p < N_PARAMS; p++) {
        int stage = of->stage_of[p];
        dt_mesh *on = stage < 0 ? dt_mesh_retain(mesh) : dt_mesh_slice_at(mesh, of->stage_dims, stage);
        int64_t coordinate[8];
        if (!own_only || dt_mesh_coordinate(on, coordinate))
            params[list.n++] = param_new(ctx, p, DT_F64, on, of->places[p]);
        dt_mesh_release(on);
    }
    return list;
}

static int norms_of_stages(dt_ctx *ctx, void *arg) {
    const pipeline *of = arg;
    static const double ords[] = {2, 1, INFINITY};
    dt_mesh *mesh = dt_mesh_new(ctx, of->mesh);
    for (int own_only = 0; own_only < (of->stage_of[1] < 0 ? 1 : 2); own_only++) {
        dt_tensor *params[N_PARAMS];
        dt_tensors list = listed(ctx, of, mesh, own_only, params);
        for (int o = 0; o < 3; o++) {
            CHECK_OK(ctx, dt_comm_stats_begin(ctx));
            dt_tensor *norm = dt_grad_norm(list, .norm_type = DT_REAL(ords[o]), .mesh = mesh);
            int64_t n = dt_comm_stats(ctx, &(dt_comm_filter){0}).n;
            dt_comm_stats_end(ctx);
            CHECK(norm, "%s", dt_error_text(ctx));
            CHECK(n == 1, "expected 1 collective, got %lld", (long long)n);
            double expected = expected_norm(ords[o]), got = dt_item(norm);
            CHECK(fabs(got - expected) <= 1e-13 * expected, "%s: ord %g: expected %.17g, got %.17g", of->mesh,
                  ords[o], expected, got);
            if (check_bits(ctx, got))
                return 1;
        }
        double before = dt_item(dt_clip_grad_norm(list, 0.5, .mesh = mesh));
        double after = dt_item(dt_grad_norm(list, .mesh = mesh));
        CHECK(fabs(after - 0.5 * before / (before + 1e-6)) < 1e-13, "after clipping to 0.5: %.17g", after);
    }
    dt_mesh_release(mesh);
    return 0;
}

static void norm__of_stages_is_one(void **state) {
    (void)state;
    static const pipeline pipelines[] = {
        {"pp=3,tp=1", "tp", {0, 0, 0, 2, 0}, {"S(0)", "R", "S(0)", "R", "R"}}, /* a stage without any */
        {"pp=2,tp=2", "tp", {0, 1, 1, 1, 0}, {"S(0)", "R", "S(1)", "S(0)", "S(1)"}},
        {"pp=5,tp=1", "tp", {4, 0, 4, 4, 3}, {"R", "S(0)", "S(1)", "R", "S(1)"}},
        {"dp=2,pp=2,tp=2", "dp,tp", {0, 1, 0, 1, 0}, {"R,S(0)", "R,R", "S(0),S(1)", "R,S(0)", "R,R"}},
        {"pp=2,tp=2", "tp", {0, -1, 1, 0, -1}, {"R", "R,R", "S(0)", "R", "R,S(0)"}}, /* shared by the stages */
    };
    static const int64_t n_ranks[] = {3, 4, 5, 8, 4};
    for (size_t i = 0; i < sizeof pipelines / sizeof *pipelines; i++)
        run_ranks(n_ranks[i], norms_of_stages, (void *)&pipelines[i]);
}

static int check_refused(dt_ctx *ctx, const dt_tensor *norm, const char *part) {
    CHECK(!norm && dt_error_status(ctx) == DT_ERR_VALUE && strstr(dt_error_text(ctx), part), "expected %s, got %s",
          part, dt_error_text(ctx));
    CHECK_OK(ctx, dt_error_clear(ctx));
    return 0;
}

/* Gradients 3 and 4 on two stages: norm 5 on all ranks, also on one that lists none. */
static int three_and_four(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh = dt_mesh_new(ctx, "pp=*"), *stages[2];
    dt_tensor *params[2];
    for (int s = 0; s < 2; s++) {
        stages[s] = dt_mesh_new(ctx, s ? "[1]" : "[0]");
        params[s] = dt_ones(ctx, DT_SHAPE(1), .mesh = stages[s], .requires_grad = true);
        dt_backward(dt_sum(dt_mul_scalar(params[s], 3 + s)));
    }
    int64_t rank = dt_rank(ctx);
    dt_tensors own = {rank < 2, &params[rank < 2 ? rank : 0]};
    double norm = dt_item(dt_clip_grad_norm(own, 1, .mesh = mesh));
    CHECK(norm == 5, "expected 5, got %.17g: %s", norm, dt_error_text(ctx));
    norm = dt_item(dt_grad_norm(own, .mesh = mesh));
    CHECK(fabs(norm - 5 / (5 + 1e-6)) < 1e-6, "expected 1, got %.17g", norm);
    const dt_tensors both = {2, params};
    if (check_refused(ctx, dt_grad_norm(both),
                      "grad_norm: parameter 2: expected the ranks of the parameters before it, those of 1, got those "
                      "of [1]; pass a mesh that has all of them as .mesh") ||
        check_refused(ctx, dt_grad_norm(both, .mesh = stages[0]),
                      "parameter 2: expected ranks of the option mesh, 1, got those of [1]") ||
        check_refused(ctx, dt_grad_norm(DT_TENSORS(dt_ones(ctx, DT_SHAPE(1))), .mesh = mesh),
                      "parameter 1: expected a distributed tensor because of the option mesh, got a plain one"))
        return 1;
    for (int s = 0; s < 2; s++)
        dt_mesh_release(stages[s]);
    dt_mesh_release(mesh);
    return 0;
}

static void norm__of_two_stages_is_five(void **state) {
    (void)state;
    for (int64_t n = 2; n <= 3; n++)
        run_ranks(n, three_and_four, NULL);
}

/* Ranks of different stages that differ in an option. */
static int divergence(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh = dt_mesh_new(ctx, "pp=*,tp=1"), *stage = dt_mesh_slice(mesh, "tp");
    dt_tensor *param = dt_ones(ctx, DT_SHAPE(2), .mesh = stage, .requires_grad = true);
    dt_backward(dt_sum(param));
    CHECK(!dt_clip_grad_norm(DT_TENSORS(param), dt_rank(ctx) == 1 ? 2 : 1, .mesh = mesh), "expected a mismatch");
    const char *text = dt_error_text(ctx);
    CHECK(dt_error_status(ctx) == DT_ERR_MISMATCH && strstr(text, "clip_grad_norm(f64[]") &&
              strstr(text, "; max_norm=1)") && strstr(text, "; max_norm=2)"),
          "%s", text);
    CHECK_OK(ctx, dt_error_clear(ctx));
    dt_mesh_release(stage);
    dt_mesh_release(mesh);
    return 0;
}

static void norm__of_stages_compares_options(void **state) {
    (void)state;
    run_ranks(2, divergence, NULL);
    run_ranks(3, divergence, NULL);
}

static void norm__is_infinite_or_nan(void **state) {
    (void)state;
    static const double ords[] = {2, INFINITY}, values[] = {NAN, INFINITY};
    dt_ctx *ctx = dt_init(NULL);
    for (int v = 0; v < 2; v++)
        for (int o = 0; o < 2; o++) {
            dt_tensor *p = dt_ones(ctx, DT_SHAPE(3), .requires_grad = true);
            dt_tensor *q = dt_ones(ctx, DT_SHAPE(3), .requires_grad = true);
            dt_backward(dt_sum(dt_add(dt_mul_scalar(p, values[v]), q)));
            double norm = dt_item(dt_grad_norm(DT_TENSORS(p, q), .norm_type = DT_REAL(ords[o])));
            assert_true(v == 0 ? isnan(norm) : isinf(norm));
            assert_null(
                dt_clip_grad_norm(DT_TENSORS(p, q), 1, .norm_type = DT_REAL(ords[o]), .error_if_nonfinite = true));
            assert_error_contains(ctx, DT_ERR_VALUE, "clip_grad_norm: the norm of the gradients is not finite");
            assert_int_equal(dt_error_clear(ctx), DT_OK);
            assert_float_equal(((const float *)dt_data(dt_grad(q)))[0], 1, 0);
        }
    assert_int_equal(dt_close(ctx), 0);
}

static void norm__refuses_what_it_cannot_add(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    dt_mesh *mesh = dt_mesh_new(ctx, "1");
    dt_tensor *plain = dt_ones(ctx, DT_SHAPE(2), .requires_grad = true);
    dt_tensor *placed = dt_ones(ctx, DT_SHAPE(2), .mesh = mesh, .place = "S(0)", .requires_grad = true);
    assert_float_equal(dt_item(dt_clip_grad_norm(DT_TENSORS(plain, placed), 1)), 0, 0); /* no gradients */
    dt_backward(dt_sum(plain));
    dt_backward(dt_sum(placed));
    assert_null(dt_grad_norm(DT_TENSORS(plain, placed)));
    assert_error_contains(ctx, DT_ERR_VALUE,
                          "grad_norm: the gradient of parameter 2 is distributed: expected all plain or all "
                          "distributed");
    assert_int_equal(dt_error_clear(ctx), DT_OK);
    assert_null(dt_grad_norm(DT_TENSORS(plain), .norm_type = DT_REAL(0)));
    assert_error_contains(ctx, DT_ERR_VALUE, "norm_type: expected a number > 0 or inf, got 0");
    assert_int_equal(dt_error_clear(ctx), DT_OK);
    assert_null(dt_clip_grad_norm(DT_TENSORS(plain), NAN));
    assert_error_contains(ctx, DT_ERR_VALUE, "max_norm: expected a number >= 0");
    assert_int_equal(dt_error_clear(ctx), DT_OK);
    dt_mesh_release(mesh);
    assert_int_equal(dt_close(ctx), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(norm__takes_one_reduction),        cmocka_unit_test(norm__counts_all_meshes),
        cmocka_unit_test(norm__of_stages_is_one),           cmocka_unit_test(norm__of_two_stages_is_five),
        cmocka_unit_test(norm__of_stages_compares_options), cmocka_unit_test(norm__is_infinite_or_nan),
        cmocka_unit_test(norm__refuses_what_it_cannot_add),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
