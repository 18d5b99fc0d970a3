/* SPDX-License-Identifier: Apache-2.0
 *
 * Ops by name, and user ops: registered, verified, and run on any placements.
 */
#include "support/ranks.h"

#include "dtensor/dtensor.h"

#include <math.h>
#include <string.h>

static dt_status same_as_first(dt_op_call *call) {
    for (int i = 0; i < call->n_inputs; i++)
        if (call->inputs[i].dtype != DT_F32 || call->inputs[i].n_dims != 2)
            return dt_op_refuse(call, DT_ERR_DTYPE, "expected f32 and two dims");
    return dt_op_add_output(call, call->inputs[0].dtype, call->inputs[0].n_dims, call->inputs[0].shape);
}

static float element(const dt_op_value *value, const int64_t *index) {
    int64_t at = 0;
    for (int d = 0; d < value->n_dims; d++)
        at += index[d] * value->strides[d];
    return ((const float *)value->data)[at];
}

/* gate * sigmoid(gate) * up, for tensors of two dims. */
static dt_status swiglu_f32(dt_op_call *call) {
    const dt_op_value *gate = &call->inputs[0], *up = &call->inputs[1], *out = &call->outputs[0];
    for (int64_t i = 0; i < out->shape[0]; i++)
        for (int64_t j = 0; j < out->shape[1]; j++) {
            int64_t index[2] = {i, j};
            float g = element(gate, index);
            ((float *)out->data)[i * out->strides[0] + j * out->strides[1]] = g / (1 + expf(-g)) * element(up, index);
        }
    return DT_OK;
}

static const dt_op swiglu = {
    .schema = "swiglu(Tensor gate, Tensor up) -> Tensor",
    .rule = "ab,ab->ab",
    .shape = same_as_first,
    .kernel = swiglu_f32,
    .samples = "swiglu(f32[5,3]; f32[5,3])\nswiglu(f32[0,3]; f32[0,3])",
};

static int run_user_op(dt_ctx *ctx, void *arg) {
    static const char *const places[][2] = {{"S(0)", "S(0)"}, {"S(1)", "R"}, {"R", "S(0)"}, {"P(sum)", "S(1)"}};
    (void)arg;
    dt_mesh *mesh = dt_mesh_from_shape(ctx, (int64_t[]){dt_world(ctx)}, 1, NULL);
    CHECK_OK(ctx, dt_op_register(ctx, &swiglu));
    for (size_t p = 0; p < sizeof places / sizeof *places; p++) {
        dt_tensor *g = dt_randn(ctx, DT_SHAPE(7, 5), .mesh = mesh, .place = places[p][0]);
        dt_tensor *u = dt_randn(ctx, DT_SHAPE(7, 5), .mesh = mesh, .place = places[p][1]);
        dt_tensor *h = dt_full_tensor(dt_call(ctx, "swiglu", g, u));
        dt_tensor *expected = dt_call(ctx, "swiglu", dt_full_tensor(g), dt_full_tensor(u));
        CHECK(h && expected, "%s", dt_error_text(ctx));
        for (int i = 0; i < 35; i++)
            CHECK(((float *)dt_data(h))[i] == ((float *)dt_data(expected))[i], "%s,%s: element %d", places[p][0],
                  places[p][1], i);
    }
    dt_mesh_release(mesh);
    return 0;
}

static void user_op__runs_on_any_placement(void **state) {
    (void)state;
    for (int64_t n = 1; n <= 3; n++)
        run_ranks(n, run_user_op, NULL);
}

static void user_op__can_be_verified(void **state) {
    (void)state;
    static const dt_op wrong = {
        .schema = "wrong(Tensor gate, Tensor up) -> Tensor",
        .rule = "ab,ab->ab",
        .partial = DT_PARTIAL_LINEAR,
        .shape = same_as_first,
        .kernel = swiglu_f32,
        .samples = "wrong(f32[5,3]; f32[5,3])",
    };
    dt_ctx *ctx = dt_init(NULL);
    assert_int_equal(dt_op_register(ctx, &swiglu), DT_OK);
    assert_int_equal(dt_op_register(ctx, &wrong), DT_OK);
    if (dt_op_verify(ctx, "swiglu") != DT_OK)
        fail_msg("%s", dt_error_text(ctx));
    assert_int_not_equal(dt_op_verify(ctx, "wrong"), DT_OK);
    assert_non_null(strstr(dt_error_text(ctx), "P(sum)"));
    assert_int_equal(dt_error_clear(ctx), DT_OK);
    assert_int_equal(dt_close(ctx), 0);
}

/* relu(x + x) as a decomposition into ops, each with its own placement selection. */
static dt_status twice_relu(dt_op_call *call, dt_tensor *const *inputs, dt_tensor **outputs) {
    outputs[0] = dt_relu(dt_add(inputs[0], inputs[0]));
    return outputs[0] ? DT_OK : dt_error_status(call->ctx);
}

static dt_status wrong_shape(dt_op_call *call, dt_tensor *const *inputs, dt_tensor **outputs) {
    outputs[0] = dt_sum(inputs[0]);
    return outputs[0] ? DT_OK : dt_error_status(call->ctx);
}

static const dt_op decomposed_op = {
    .schema = "twice_relu(Tensor self) -> Tensor",
    .shape = same_as_first,
    .decompose = twice_relu,
};
static const dt_op wrongly_decomposed = {
    .schema = "wrongly_decomposed(Tensor self) -> Tensor",
    .shape = same_as_first,
    .decompose = wrong_shape,
};

static int run_decomposed(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh = dt_mesh_from_shape(ctx, (int64_t[]){dt_world(ctx)}, 1, NULL);
    CHECK_OK(ctx, dt_op_register(ctx, &decomposed_op));
    CHECK_OK(ctx, dt_op_register(ctx, &wrongly_decomposed));
    dt_tensor *x = dt_randn(ctx, DT_SHAPE(5, 3), .mesh = mesh, .place = "S(0)");
    dt_tensor *y = dt_call(ctx, "twice_relu", x), *full = dt_full_tensor(x), *got = dt_full_tensor(y);
    CHECK(got, "%s", dt_error_text(ctx));
    CHECK(dt_tensor_spec(y) == dt_tensor_spec(x), "expected the spec of x");
    for (int i = 0; i < 15; i++) {
        float in = ((float *)dt_data(full))[i], expected = in > 0 ? in + in : 0;
        CHECK(((float *)dt_data(got))[i] == expected, "element %d", i);
    }
    const char *explanation = dt_explain(ctx, "twice_relu", x);
    CHECK(explanation && strstr(explanation, "through its decomposition"), "%s",
          explanation ? explanation : dt_error_text(ctx));
    CHECK(!dt_call(ctx, "wrongly_decomposed", x), "expected an error, got a tensor");
    CHECK(dt_error_status(ctx) == DT_ERR_VALUE, "%s", dt_error_text(ctx));
    CHECK(dt_error_clear(ctx) == DT_OK, "%s", dt_error_text(ctx));
    dt_mesh_release(mesh);
    return 0;
}

static void user_op__may_be_a_decomposition(void **state) {
    (void)state;
    run_ranks(1, run_decomposed, NULL);
    run_ranks(3, run_decomposed, NULL);
}

static void arguments__are_passed_by_position_or_name(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    dt_tensor *x = dt_reshape(dt_arange(ctx, 0, 6, 1), DT_SHAPE(2, 3)), *outputs[8];
    int n = 0;
    dt_op_argument sum[] = {{.tensor = x},
                            {.value = {.type = DT_ARG_INTS, .n = 1, .as.ints = (int64_t[]){1}}},
                            {.name = "keepdim", .value = {.type = DT_ARG_BOOL, .as.b = true}}};
    assert_int_equal(dt_op_run(ctx, "sum", 3, sum, NULL, outputs, 8, &n), DT_OK);
    assert_int_equal(n, 1);
    assert_int_equal(dt_tensor_n_dims(outputs[0]), 2);
    assert_true(((float *)dt_data(outputs[0]))[1] == 12);
    dt_op_argument split[] = {{.tensor = x}, {.value = {.type = DT_ARG_INT, .as.i = 1}}};
    assert_int_equal(dt_op_run(ctx, "split", 2, split, NULL, outputs, 8, &n), DT_OK);
    assert_int_equal(n, 2);
    assert_true(dt_tensor_shares(outputs[1], x));
    dt_op_argument cat[] = {{.n_tensors = 2, .tensors = (dt_tensor *const[]){outputs[0], outputs[1]}}};
    assert_int_equal(dt_op_run(ctx, "cat", 1, cat, NULL, outputs, 8, &n), DT_OK);
    assert_int_equal(dt_tensor_size(outputs[0], 0), 2);
    assert_int_equal(dt_close(ctx), 0);
}

static void names__that_do_not_exist_are_refused(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(2));
    assert_null(dt_call(ctx, "no_such_op", x));
    assert_int_equal(dt_error_status(ctx), DT_ERR_OP);
    assert_int_equal(dt_error_clear(ctx), DT_OK);
    assert_null(dt_call(ctx, "add", x, NULL));
    assert_non_null(strstr(dt_error_text(ctx), "argument 2 of add is NULL"));
    assert_int_equal(dt_error_clear(ctx), DT_OK);
    assert_null(dt_call(ctx, "add", x));
    assert_int_equal(dt_error_status(ctx), DT_ERR_VALUE);
    assert_int_equal(dt_error_clear(ctx), DT_OK);
    assert_int_equal(dt_close(ctx), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(user_op__runs_on_any_placement),
        cmocka_unit_test(user_op__can_be_verified),
        cmocka_unit_test(user_op__may_be_a_decomposition),
        cmocka_unit_test(arguments__are_passed_by_position_or_name),
        cmocka_unit_test(names__that_do_not_exist_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
