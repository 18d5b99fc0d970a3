/* SPDX-License-Identifier: Apache-2.0
 *
 * Gradients as text: what is read from them, what records keep because of it, and what is refused when an op is
 * registered.
 */
#include "rules/calls.h"

#include "dtensor/dtensor.h"

static dt_status shape_first(dt_op_call *call) {
    return dt_op_add_output(call, call->inputs[0].dtype, call->inputs[0].n_dims, call->inputs[0].shape);
}
static dt_status no_kernel(dt_op_call *call) {
    (void)call;
    return DT_OK;
}
static dt_status no_backward(const dt_op_backward *call, dt_tensor **input_grads) {
    (void)call, (void)input_grads;
    return DT_OK;
}

static dt_op op_of(const char *schema, const char *gradient) {
    return (dt_op){.schema = schema, .shape = shape_first, .kernel = no_kernel, .gradient = gradient};
}

static const char one[] = "f(Tensor self, *, float p=1, str mode=\"a\") -> Tensor";
static const char two[] =
    "f.Tensor(Tensor self, Tensor other, int[] dim=[]) -> (Tensor values, Tensor indices) | "
    "f.Scalar(Tensor self, Scalar other, int[] dim=[], *, int k=1) -> (Tensor values, Tensor indices)";

static dt_status shape_two(dt_op_call *call) {
    for (int i = 0; i < 2; i++)
        DT__TRY(shape_first(call));
    return DT_OK;
}

static void text__is_parsed_for_each_signature(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    dt_op op = op_of(two, "self: grad_values * other / sum(self, dim); other: -(grad1 + 2) * indices");
    op.shape = shape_two;
    assert_int_equal(dt_op_register(ctx, &op), DT_OK);
    const dt__op_info *info = dt__op_find(ctx, "f");
    const dt__gradient *tensor = &info->gradient[0], *scalar = &info->gradient[1];
    assert_true(tensor->of_param[0] == 0 && tensor->of_param[1] == 1 && tensor->of_param[2] == -1);
    assert_true(scalar->of_param[0] == 0 && scalar->of_param[1] == -1);
    assert_int_equal(tensor->formulas[0].grads, 1);
    assert_int_equal(tensor->formulas[1].grads, 2);
    dt__saved_values self = dt__values_to_save(info, 0, 1), other = dt__values_to_save(info, 0, 2);
    assert_true(self.params == 3 && self.outputs == 0 && other.params == 0 && other.outputs == 2);
    dt__saved_values both = dt__values_to_save(info, 0, 3), number = dt__values_to_save(info, 1, 1);
    assert_true(both.params == 3 && both.outputs == 2);
    assert_true(number.params == 1 && number.outputs == 0); /* the number is an argument, and no tensor */
    const dt__formula *formula = &tensor->formulas[0];
    const dt__formula_node *last = &formula->nodes[formula->n_nodes - 1];
    assert_true(last->kind == DT__FORMULA_OP && !strcmp(last->name, "div") && last->n_args == 2);
    assert_string_equal(formula->nodes[last->args[0].node].name, "mul");
    assert_string_equal(formula->nodes[last->args[1].node].name, "sum");
    assert_int_equal(dt_close(ctx), 0);
}

static void text__has_formulas_for_one_overload_and_for_several_arguments(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    dt_op op = op_of(two, "self: grad; self.Scalar: none; other: grad * 1.5e-3");
    op.shape = shape_two;
    assert_int_equal(dt_op_register(ctx, &op), DT_OK);
    const dt__op_info *info = dt__op_find(ctx, "f");
    assert_int_equal(info->gradient[0].of_param[0], 0);
    assert_int_equal(info->gradient[1].of_param[0], 1);
    assert_int_equal(info->gradient[1].formulas[1].n_nodes, 0);
    dt_op tuple =
        op_of("g(Tensor a, Tensor b, Tensor c) -> Tensor", "a, _, c: max(grad, dim=0, keepdim=true); b: none");
    assert_int_equal(dt_op_register(ctx, &tuple), DT_OK);
    const dt__gradient *gradient = dt__op_find(ctx, "g")->gradient;
    assert_true(gradient->of_param[0] == 0 && gradient->of_param[1] == 1 && gradient->of_param[2] == 0);
    assert_true(gradient->formulas[0].targets[0] == 0 && gradient->formulas[0].targets[1] == -1 &&
                gradient->formulas[0].targets[2] == 2);
    dt_op itself = op_of("h(Tensor a) -> Tensor", "a: h(grad) + view(a, a.shape)");
    assert_int_equal(dt_op_register(ctx, &itself), DT_OK);
    assert_int_equal(dt_close(ctx), 0);
}

static void text__is_refused_with_its_place(void **state) {
    (void)state;
    static const struct {
        const char *schema, *gradient, *error;
    } cases[] = {
        {one, "self: grad * cosine(self)", "f: gradient: column 21: there is no op or function 'cosine'"},
        {one, "self: grad * slf", "'slf' is no argument, result or gradient of this signature; did you mean self?"},
        {one, "self: grad_values", "'grad_values' is no argument"},
        {one, "self grad", "expected ':'"},
        {one, "self: (grad", "expected ')'"},
        {one, "self: grad grad", "expected ';'"},
        {one, "self: grad *", "expected a value"},
        {one, "self: sum(grad,", "expected a value"},
        {one, "self: sum(grad dim=0)", "expected ','"},
        {one, "self: grad; self: grad", "'self' has two formulas"},
        {one, "other: grad", "f: gradient: formula 1: expected the name of a tensor argument"},
        {one, "p: grad", "f: gradient: formula 1: expected the name of a tensor argument"},
        {one, "self: p.shape", "'p' is no tensor argument"},
        {one, "self: self.size", "expected .shape or .dtype"},
        {one, "self: count(self.shape)", "count: expected 2 arguments, got 1"},
        {one, "self: gelu(grad, approximate=\"tanh)", "expected a closing quote"},
        {one, "", ""},
        {one, ": grad", "expected a name"},
        {two, "self: grad * k", "'k' is no argument, result or gradient of this signature"},
        {one, "self: ((((((((((((((((((((((((((((((((((grad))))))))))))))))))))))))))))))))))", "nested too deeply"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        dt_ctx *ctx = dt_init(NULL);
        dt_op op = op_of(cases[i].schema, cases[i].gradient);
        if (!*cases[i].error) {
            assert_int_equal(dt_op_register(ctx, &op), DT_OK);
        } else {
            assert_int_equal(dt_op_register(ctx, &op), DT_ERR_VALUE);
            assert_error_contains(ctx, DT_ERR_VALUE, cases[i].error);
            (void)dt_error_clear(ctx);
        }
        assert_int_equal(dt_close(ctx), 0);
    }
}

static void descriptor__has_one_gradient(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    dt_op op = op_of(one, "self: grad");
    op.backward = no_backward;
    assert_int_equal(dt_op_register(ctx, &op), DT_ERR_VALUE);
    assert_error_contains(ctx, DT_ERR_VALUE, "f: the descriptor has two gradients");
    (void)dt_error_clear(ctx);
    op.backward = NULL;
    op.saves = "self";
    assert_int_equal(dt_op_register(ctx, &op), DT_ERR_VALUE);
    assert_error_contains(ctx, DT_ERR_VALUE, "f: saves: the gradient states what is saved");
    (void)dt_error_clear(ctx);
    op.gradient = NULL;
    op.backward = no_backward;
    assert_int_equal(dt_op_register(ctx, &op), DT_OK);
    assert_int_equal(dt_close(ctx), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text__is_parsed_for_each_signature),
        cmocka_unit_test(text__has_formulas_for_one_overload_and_for_several_arguments),
        cmocka_unit_test(text__is_refused_with_its_place),
        cmocka_unit_test(descriptor__has_one_gradient),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
