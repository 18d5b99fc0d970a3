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
    CHECK(explanation && strstr(explanation, "decomposition -> "), "%s",
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

/* Rows of an op whose elements along one dim belong together: every other dim may be sharded. */
static void rows_of_other_dims(const dt_op_call *call, dt_rows *rows) {
    int n = call->inputs[0].n_dims, dim = (int)((dt_op_arg(call, "dim")->as.i + n) % n);
    for (int d = 0; d < n; d++)
        if (d != dim)
            dt_rows_add(rows, 0, (dt_row_entry[]){DT_ROW_S(d), DT_ROW_S(d)});
}

static dt_status shape_of_first(dt_op_call *call) {
    if (call->inputs[0].dtype != DT_F32)
        return dt_op_refuse(call, DT_ERR_DTYPE, "expected f32");
    return dt_op_add_output(call, call->inputs[0].dtype, call->inputs[0].n_dims, call->inputs[0].shape);
}

/* One dim is of size 1 in the output. */
static dt_status shape_argmax(dt_op_call *call) {
    int64_t shape[DT_SPEC_MAX_DIMS];
    const dt_op_value *x = &call->inputs[0];
    if (x->dtype != DT_F32)
        return dt_op_refuse(call, DT_ERR_DTYPE, "expected f32");
    memcpy(shape, x->shape, (size_t)x->n_dims * sizeof *shape);
    shape[dt_op_arg(call, "dim")->as.i] = 1;
    return dt_op_add_output(call, DT_I64, x->n_dims, shape);
}

/* The next index of all dims but one; false after the last one. */
static bool next_line(const dt_op_value *x, int dim, int64_t *index) {
    for (int d = x->n_dims - 1; d >= 0; d--) {
        if (d == dim)
            continue;
        if (++index[d] < x->shape[d])
            return true;
        index[d] = 0;
    }
    return false;
}

static int64_t offset_of(const dt_op_value *x, const int64_t *index) {
    int64_t at = 0;
    for (int d = 0; d < x->n_dims; d++)
        at += index[d] * x->strides[d];
    return at;
}

static bool is_empty(const dt_op_value *x) {
    for (int d = 0; d < x->n_dims; d++)
        if (x->shape[d] == 0)
            return true;
    return false;
}

static dt_status softmax_of_lines(dt_op_call *call) {
    const dt_op_value *x = &call->inputs[0], *y = &call->outputs[0];
    int dim = (int)((dt_op_arg(call, "dim")->as.i + x->n_dims) % x->n_dims);
    int64_t index[DT_SPEC_MAX_DIMS] = {0}, n = x->shape[dim];
    if (is_empty(x))
        return DT_OK;
    do {
        const float *in = (const float *)x->data + offset_of(x, index);
        float *out = (float *)y->data + offset_of(y, index), sum = 0;
        for (int64_t i = 0; i < n; i++)
            sum += out[i * y->strides[dim]] = expf(in[i * x->strides[dim]]);
        for (int64_t i = 0; i < n; i++)
            out[i * y->strides[dim]] /= sum;
    } while (next_line(x, dim, index));
    return DT_OK;
}

static dt_status argmax_of_lines(dt_op_call *call) {
    const dt_op_value *x = &call->inputs[0], *y = &call->outputs[0];
    int dim = (int)dt_op_arg(call, "dim")->as.i;
    int64_t index[DT_SPEC_MAX_DIMS] = {0};
    if (is_empty(x))
        return DT_OK;
    do {
        const float *in = (const float *)x->data + offset_of(x, index);
        int64_t *out = (int64_t *)y->data + offset_of(y, index);
        *out = 0;
        for (int64_t i = 1; i < x->shape[dim]; i++)
            if (in[i * x->strides[dim]] > in[*out * x->strides[dim]])
                *out = i;
    } while (next_line(x, dim, index));
    return DT_OK;
}

static const dt_op own_softmax = {.schema = "own_softmax(Tensor self, int dim) -> Tensor",
                                  .rows = rows_of_other_dims,
                                  .shape = shape_of_first,
                                  .kernel = softmax_of_lines,
                                  .samples = "own_softmax(f32[3,4,5]; -1)\nown_softmax(f32[3,4,5]; 0)"};
static const dt_op own_argmax = {.schema = "own_argmax(Tensor self, int? dim=None, bool keepdim=False) -> Tensor",
                                 .rows = rows_of_other_dims,
                                 .shape = shape_argmax,
                                 .kernel = argmax_of_lines,
                                 .samples = "own_argmax(f32[5,3]; 1; true)"};
/* Without rows, every input is Replicate. */
static const dt_op own_named = {.schema = "own_named(str name, Tensor self, int dim) -> Tensor",
                                .shape = shape_of_first,
                                .kernel = softmax_of_lines};

static bool is_placed(dt_tensor *x, const char *place) {
    char text[32];
    (void)dt_placements_text(1, dt_spec_placements(dt_tensor_spec(x)), sizeof text, text);
    return strcmp(text, place) == 0;
}

static bool nearly_equal(dt_tensor *a, dt_tensor *b) {
    for (int64_t i = 0; i < dt_tensor_elements(a); i++)
        if (fabsf(((float *)dt_data(a))[i] - ((float *)dt_data(b))[i]) > 1e-6F)
            return false;
    return true;
}

#define INT_ARGUMENT(number)                                                                                         \
    {                                                                                                                \
        .value = {.type = DT_ARG_INT, .as.i = (number) }                                                             \
    }

static int run_registered_rows(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh = dt_mesh_new(ctx, "*");
    dt_tensor *output;
    int n;
    CHECK_OK(ctx, dt_op_register(ctx, &own_softmax));
    CHECK_OK(ctx, dt_op_register(ctx, &own_argmax));
    CHECK_OK(ctx, dt_op_register(ctx, &own_named));
    for (int64_t dim = -1; dim <= 1; dim++) /* REG-001 */
        for (int shard = 0; shard < 3; shard++) {
            char place[16];
            snprintf(place, sizeof place, "S(%d)", shard);
            dt_tensor *x = dt_randn(ctx, DT_SHAPE(8, 12, 16), .mesh = mesh, .place = place);
            dt_op_argument arguments[] = {{.tensor = x}, INT_ARGUMENT(dim)};
            CHECK_OK(ctx, dt_op_run(ctx, "own_softmax", 2, arguments, NULL, &output, 1, &n));
            bool kept = shard != (dim + 3) % 3;
            CHECK(is_placed(output, place) == kept, "REG-001: dim %d of %s", (int)dim, place);
            CHECK(nearly_equal(dt_full_tensor(output), dt_softmax(dt_full_tensor(x), (int)dim)),
                  "REG-001: dim %d of %s: other values", (int)dim, place);
        }
    dt_tensor *x = dt_randn(ctx, DT_SHAPE(8, 12), .mesh = mesh, .place = "S(0)"); /* REG-002 */
    dt_op_argument argmax[] = {{.tensor = x}, INT_ARGUMENT(1), {.value = {.type = DT_ARG_BOOL, .as.b = true}}};
    CHECK_OK(ctx, dt_op_run(ctx, "own_argmax", 3, argmax, NULL, &output, 1, &n));
    dt_tensor *expected = dt_argmax(dt_full_tensor(x), .dim = DT_INT(1), .keepdim = true);
    CHECK(is_placed(output, "S(0)"), "REG-002: placements");
    CHECK(memcmp(dt_data(dt_full_tensor(output)), dt_data(expected), 8 * sizeof(int64_t)) == 0, "REG-002: values");
    dt_tensor *r = dt_randn(ctx, DT_SHAPE(8, 12), .mesh = mesh, .place = "R"); /* REG-004 */
    dt_op_argument named[] = {{.value = {.type = DT_ARG_TEXT, .as.text = "name"}}, {.tensor = r}, INT_ARGUMENT(1)};
    CHECK_OK(ctx, dt_op_run(ctx, "own_named", 3, named, NULL, &output, 1, &n));
    CHECK(is_placed(output, "R") && dt_tensor_mesh(output) == mesh, "REG-004: placements");
    CHECK(nearly_equal(dt_to_local(output), dt_softmax(dt_to_local(r), 1)), "REG-004: values");
    /* EMB-002 */
    dt_tensor *index = dt_zeros(ctx, DT_SHAPE(4), .dtype = DT_I64, .mesh = mesh, .place = "R");
    dt_tensor *weight = dt_randn(ctx, DT_SHAPE(8, 12), .mesh = mesh, .place = "S(1)");
    dt_op_argument embedding[] = {
        {.tensor = index}, {.tensor = weight}, {.name = "max_norm", .value = {.type = DT_ARG_FLOAT, .as.f = 1}}};
    CHECK(dt_op_run(ctx, "embedding", 3, embedding, NULL, &output, 1, &n) == DT_ERR_UNSUPPORTED, "EMB-002: %s",
          dt_error_text(ctx));
    CHECK(strstr(dt_error_text(ctx), "embedding") && strstr(dt_error_text(ctx), "max_norm"), "EMB-002: %s",
          dt_error_text(ctx));
    CHECK_OK(ctx, dt_error_clear(ctx));
    dt_mesh_release(mesh);
    return 0;
}

static void own_op__has_the_rows_that_it_lists(void **state) {
    (void)state;
    run_ranks(4, run_registered_rows, NULL);
    run_ranks(3, run_registered_rows, NULL);
    dt_ctx *ctx = dt_init(NULL);
    assert_int_equal(dt_op_register(ctx, &own_softmax), DT_OK);
    assert_int_equal(dt_op_register(ctx, &own_argmax), DT_OK);
    if (dt_op_verify(ctx, "own_softmax") != DT_OK || dt_op_verify(ctx, "own_argmax") != DT_OK)
        fail_msg("%s", dt_error_text(ctx));
    assert_int_equal(dt_close(ctx), 0);
}

/* The caller's text ends with the call. */
static void names__are_not_kept(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    dt_mesh *mesh = dt_mesh_new(ctx, "1");
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(6), .mesh = mesh, .place = "S(0)"), *view;
    dt_op_argument arguments[] = {{.tensor = x},
                                  {.name = "dim", .value = {.type = DT_ARG_INT, .as.i = 0}},
                                  {.name = "start", .value = {.type = DT_ARG_INT, .as.i = 2}}};
    char name[] = "slice";
    int n;
    assert_int_equal(dt_op_run(ctx, name, 3, arguments, NULL, &view, 1, &n), DT_OK);
    memset(name, 'x', sizeof name - 1);
    assert_null(dt_fill_(view, 2)); /* which had to move */
    if (!strstr(dt_error_text(ctx), "made by slice"))
        fail_msg("expected the name of the op, got: %s", dt_error_text(ctx));
    assert_int_equal(dt_error_clear(ctx), DT_OK);
    dt_mesh_release(mesh);
    assert_int_equal(dt_close(ctx), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(own_op__has_the_rows_that_it_lists),
        cmocka_unit_test(user_op__runs_on_any_placement),
        cmocka_unit_test(user_op__can_be_verified),
        cmocka_unit_test(user_op__may_be_a_decomposition),
        cmocka_unit_test(arguments__are_passed_by_position_or_name),
        cmocka_unit_test(names__that_do_not_exist_are_refused),
        cmocka_unit_test(names__are_not_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
