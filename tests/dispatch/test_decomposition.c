/* SPDX-License-Identifier: Apache-2.0
 *
 * Ops with a kernel and a decomposition: the decomposition is planned without data and selected where it costs less.
 * Planning draws, counts, records and allocates nothing.
 */
#include "support/ranks.h"

#include "dtensor/autograd.h"
#include "dtensor/debug.h"
#include "dtensor/dtensor.h"

#include <math.h>
#include <string.h>

/* Rows less their means. The kernel needs whole rows. */
static dt_status shape_center(dt_op_call *call) {
    const dt_op_value *x = &call->inputs[0];
    if (x->n_dims != 2 || x->dtype != DT_F64)
        return dt_op_refuse(call, DT_ERR_SHAPE, "expected an f64 matrix");
    return dt_op_add_output(call, DT_F64, 2, x->shape);
}

static dt_status run_center(dt_op_call *call) {
    const dt_op_value *x = &call->inputs[0], *y = &call->outputs[0];
    for (int64_t i = 0; i < x->shape[0]; i++) {
        const double *row = (const double *)x->data + i * x->strides[0];
        double sum = 0;
        for (int64_t j = 0; j < x->shape[1]; j++)
            sum += row[j * x->strides[1]];
        for (int64_t j = 0; j < x->shape[1]; j++)
            ((double *)y->data)[i * y->strides[0] + j * y->strides[1]] =
                row[j * x->strides[1]] - sum / (double)x->shape[1];
    }
    return DT_OK;
}

static dt_status decompose_center(dt_op_call *call, dt_tensor *const *inputs, dt_tensor **outputs) {
    outputs[0] = dt_sub(inputs[0], dt_mean(inputs[0], .dim = DT_DIMS(1), .keepdim = true));
    return outputs[0] ? DT_OK : dt_error_status(call->ctx);
}

/* A decomposition that draws a number and does not use it. */
static dt_status decompose_with_draw(dt_op_call *call, dt_tensor *const *inputs, dt_tensor **outputs) {
    dt_tensor *noise = dt_dropout(inputs[0], .p = DT_REAL(0.5));
    return noise ? decompose_center(call, inputs, outputs) : dt_error_status(call->ctx);
}

/* A decomposition that reads a value, and fails for NaN. */
static dt_status decompose_by_value(dt_op_call *call, dt_tensor *const *inputs, dt_tensor **outputs) {
    double total = dt_item(dt_sum(inputs[0]));
    return dt_failed(call->ctx) || isnan(total) ? dt_error_status(call->ctx)
                                                : decompose_center(call, inputs, outputs);
}
static dt_status decompose_by_data(dt_op_call *call, dt_tensor *const *inputs, dt_tensor **outputs) {
    (void)dt_data(inputs[0]);
    return decompose_center(call, inputs, outputs);
}

static const dt_op center = {
    .schema = "center(Tensor x) -> Tensor",
    .rule = "mn!->mn",
    .partial = DT_PARTIAL_LINEAR,
    .shape = shape_center,
    .kernel = run_center,
    .decompose = decompose_center,
    .samples = "center(f64[5,3])",
};

static int center_on_ranks(dt_ctx *ctx, void *arg) {
    dt_mesh *mesh = dt_mesh_new(ctx, dt_world(ctx) == 4 ? "2,2" : "3");
    const char *place = dt_world(ctx) == 4 ? "S(0),S(1)" : "S(1)";
    (void)arg;
    CHECK_OK(ctx, dt_op_register(ctx, &center));
    for (int again = 0; again < 2; again++) {
        dt_tensor *x = dt_randn(ctx, DT_SHAPE(64, 1001), .dtype = DT_F64, .mesh = mesh, .place = place);
        dt_heap_statistics before = dt_heap_stats(ctx);
        CHECK(dt_explain(ctx, "center", x), "%s", dt_error_text(ctx));
        dt_heap_statistics after = dt_heap_stats(ctx);
        CHECK(!memcmp(&before, &after, sizeof before), "planning allocates");
        CHECK_OK(ctx, dt_comm_stats_begin(ctx));
        dt_tensor *y = dt_call(ctx, "center", x);
        CHECK(y, "%s", dt_error_text(ctx));
        int64_t reduced = dt_comm_stats(ctx, &(dt_comm_filter){.collective = "all_reduce"}).n;
        int64_t all = dt_comm_stats(ctx, NULL).n, bytes = dt_comm_stats(ctx, NULL).bytes;
        dt_comm_stats_end(ctx);
        CHECK(reduced == 1 && all == 1 && bytes <= 4 * 64 * 8, "%lld reductions of %lld, %lld bytes",
              (long long)reduced, (long long)all, (long long)bytes);
        dt_tensor *expected = dt_call(ctx, "center", dt_full_tensor(x));
        const double *a = dt_data(expected), *b = dt_data(dt_full_tensor(y));
        for (int64_t i = 0; i < dt_tensor_elements(expected); i++)
            CHECK(fabs(a[i] - b[i]) < 1e-12, "element %lld: %g and %g", (long long)i, a[i], b[i]);
        /* Whole rows: the kernel sends nothing. */
        CHECK_OK(ctx, dt_comm_stats_begin(ctx));
        CHECK(dt_call(ctx, "center",
                      dt_randn(ctx, DT_SHAPE(8, 6), .dtype = DT_F64, .mesh = mesh,
                               .place = dt_world(ctx) == 4 ? "S(0),R" : "S(0)")),
              "%s", dt_error_text(ctx));
        CHECK(dt_comm_stats(ctx, NULL).n == 0, "something was sent");
        dt_comm_stats_end(ctx);
    }
    dt_mesh_release(mesh);
    return 0;
}

static void decomposition__is_selected_where_it_costs_less(void **state) {
    (void)state;
    run_ranks(3, center_on_ranks, NULL);
    run_ranks(4, center_on_ranks, NULL);
}

typedef dt_status decompose_fn(dt_op_call *call, dt_tensor *const *inputs, dt_tensor **outputs);

/* A fake world, in which only planning happens: what a call would do shows in its placements. */
static void plan_with(decompose_fn *decompose, bool is_refused) {
    dt_op op = center;
    op.decompose = decompose;
    dt_ctx *ctx = dt_init(&(dt_init_options){.transport = "fake", .world = 4, .rank = 1});
    dt_mesh *mesh = dt_mesh_new(ctx, "4");
    assert_int_equal(dt_op_register(ctx, &op), DT_OK);
    dt_tensor *x = dt_empty(ctx, DT_SHAPE(64, 1000), .dtype = DT_F64, .mesh = mesh, .place = "S(1)");
    dt_generator_state before = dt_generator_save(dt_generator_default(ctx));
    dt_cache_statistics cache = dt_cache_stats(ctx);
    assert_int_equal(dt_comm_stats_begin(ctx), DT_OK);
    const char *text = dt_explain(ctx, "center", x);
    assert_non_null(text);
    assert_non_null(strstr(text, is_refused ? "\ndecomposition refused" : "\n* decomposition -> S(1)"));
    assert_int_equal(strstr(text, "\ninput 1: ") != NULL, is_refused); /* of the row that is selected, if one is */
    assert_int_equal(dt_comm_stats(ctx, NULL).n, 0);
    assert_int_equal(dt_cache_stats(ctx).n_misses, cache.n_misses);
    dt_generator_state after = dt_generator_save(dt_generator_default(ctx));
    assert_memory_equal(&before, &after, sizeof before);
    assert_false(dt_failed(ctx));
    if (decompose != decompose_by_value && decompose != decompose_by_data) {
        dt_tensor *y = dt_call(ctx, "center", x);
        assert_non_null(y);
        assert_int_equal(dt_comm_stats(ctx, &(dt_comm_filter){.collective = "all_reduce"}).n, 1);
    } else { /* the cheapest row */
        assert_non_null(dt_call(ctx, "center", x));
        assert_int_equal(dt_comm_stats(ctx, &(dt_comm_filter){.collective = "all_reduce"}).n, 0);
    }
    dt_comm_stats_end(ctx);
    dt_mesh_release(mesh);
    assert_int_equal(dt_close(ctx), 0);
}

static void planning__draws_and_counts_nothing(void **state) {
    (void)state;
    plan_with(decompose_center, false);
    plan_with(decompose_with_draw, false);
}

/* By the verifier, too. */
static void verify_with(decompose_fn *decompose, dt_status expected) {
    dt_op op = center;
    op.decompose = decompose;
    dt_ctx *ctx = dt_init(NULL);
    assert_int_equal(dt_op_register(ctx, &op), DT_OK);
    assert_int_equal(dt_op_verify(ctx, "center"), expected);
    if (expected != DT_OK)
        assert_error_contains(ctx, expected, "center: the op refuses one of its samples");
    assert_int_equal(dt_error_clear(ctx), DT_OK);
    assert_int_equal(dt_close(ctx), 0);
}

static void planning__refuses_to_read_values(void **state) {
    (void)state;
    verify_with(decompose_with_draw, DT_OK);
    verify_with(decompose_by_value, DT_ERR_VALUE);
    verify_with(decompose_by_data, DT_ERR_VALUE);
    plan_with(decompose_by_value, true);
    plan_with(decompose_by_data, true);
}

/* Ops with a decomposition only are explained, too. */
static void planning__explains_ops_without_a_kernel(void **state) {
    (void)state;
    dt_op op = center;
    op.kernel = NULL;
    dt_ctx *ctx = dt_init(&(dt_init_options){.transport = "fake", .world = 4, .rank = 1});
    dt_mesh *mesh = dt_mesh_new(ctx, "4");
    assert_int_equal(dt_op_register(ctx, &op), DT_OK);
    dt_tensor *x = dt_empty(ctx, DT_SHAPE(64, 1000), .dtype = DT_F64, .mesh = mesh, .place = "S(1)");
    const char *text = dt_explain(ctx, "center", x);
    assert_non_null(text);
    assert_non_null(strstr(text, "decomposition -> S(1)"));
    dt_mesh_release(mesh);
    assert_int_equal(dt_close(ctx), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decomposition__is_selected_where_it_costs_less),
        cmocka_unit_test(planning__draws_and_counts_nothing),
        cmocka_unit_test(planning__refuses_to_read_values),
        cmocka_unit_test(planning__explains_ops_without_a_kernel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
