/* SPDX-License-Identifier: Apache-2.0
 *
 * Schema lines and calls that are bound to them: types, defaults, overloads, errors, and the class of the scalar
 * arguments.
 */
#include "rules/calls.h"

static dt__schema parse(test_calls *self, const char *line) {
    dt__schema schema;
    if (dt__schema_parse(&self->arena, line, &schema) != DT_OK)
        fail_msg("%s: %s", line, dt_error_text(self->ctx));
    return schema;
}

static void schema__types_defaults_and_keywords(void **state) {
    (void)state;
    test_calls self = calls_open("2");
    dt__schema schema = parse(&self, "f.over(Tensor(a!) self, Tensor[] more, int[2]? size=None, float eps=1e-05, *, "
                                     "Scalar alpha=1, str how=\"none\", ScalarType? dtype=None, int[] dims=[0, -1]) "
                                     "-> (Tensor values, Tensor indices)");
    const dt__signature *signature = &schema.signatures[0];
    assert_string_equal(schema.name, "f");
    assert_string_equal(signature->overload, "over");
    assert_int_equal(signature->n_params, 8);
    assert_int_equal(signature->params[0].type.kind, DT__PARAM_TENSOR);
    assert_true(signature->params[0].required);
    assert_int_equal(signature->params[1].type.kind, DT__PARAM_TENSORS);
    assert_int_equal(signature->params[2].type.kind, DT__PARAM_INTS);
    assert_int_equal(signature->params[2].type.n, 2);
    assert_true(signature->params[2].type.optional && !signature->params[2].required);
    assert_true(signature->params[3].absent.as.f == 1e-05);
    assert_false(signature->params[3].keyword_only);
    assert_true(signature->params[4].keyword_only);
    assert_int_equal(signature->params[4].absent.type, DT_ARG_INT);
    assert_string_equal(signature->params[5].absent.as.text, "none");
    assert_int_equal(signature->params[7].absent.n, 2);
    assert_true(signature->params[7].absent.as.ints[1] == -1);
    calls_close(&self);
}

static void schema__malformed_lines_are_refused(void **state) {
    (void)state;
    static const char *const lines[] = {
        "",
        "f",
        "f(",
        "f(Tensor)",
        "f(Tensor a, ) -> Tensor",
        "f(Wrong a) -> Tensor",
        "f(int a=) -> Tensor",
        "f(int[ a) -> Tensor",
        "f(Tensor a) Tensor",
        "f(str[] a) -> Tensor",
        "f(Tensor a) -> Tensor | g(Tensor a) -> Tensor",
        "f(str a='x) -> Tensor",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        test_calls self = calls_open("2");
        dt__schema schema;
        if (dt__schema_parse(&self.arena, lines[i], &schema) != DT_ERR_VALUE)
            fail_msg("'%s': expected an error, got none", lines[i]);
        calls_close(&self);
    }
}

static void bind__chooses_the_overload_by_types(void **state) {
    (void)state;
    static const struct {
        const char *call;
        int overload;
    } cases[] = {
        {"add(f32[2]; f32[2])", 0},
        {"add(f32[2]; 3)", 1},
        {"add(f32[2]; other=f32[2]; alpha=2)", 0},
        {"sum(f32[2])", 1},
        {"sum(f32[2]; none)", 0},
        {"sum(f32[2]; dim=0)", 0},
        {"clamp(f32[2]; min=1)", 0},
        {"clamp(f32[2]; max=f32[2])", 1},
        {"split(f32[4]; 2)", 0},
        {"split(f32[4]; [1,3])", 1},
        {"where(bool[2]; 1; f32[2])", 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        test_calls self = calls_open("2");
        dt__placed_call placed = calls_parse(&self, cases[i].call);
        if (placed.bound.overload != cases[i].overload)
            fail_msg("%s: expected overload %d, got %d", cases[i].call, cases[i].overload, placed.bound.overload);
        calls_close(&self);
    }
}

static void bind__errors_name_op_and_argument(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"softmax(f32[2])", "softmax: argument 'dim' is missing"},
        {"softmax(f32[2]; 0; 0)", "argument 'dtype': expected a dtype such as f32, got an integer"},
        {"softmax(f32[2]; 1.5)", "argument 'dim': expected an integer, got a floating-point number"},
        {"softmax(f32[2]; 0; wrong=1)", "there is no argument 'wrong'"},
        {"softmax(f32[2]; dimm=1)", "there is no argument 'dimm'; did you mean dim?"},
        {"softmax(f32[2]; 0; dtype=f46)",
         "argument 'dtype': expected a dtype such as f32, got 'f46'; did you mean f64?"},
        {"softmax(f23[2]; 0)",
         "call: column 9: expected a dtype: f32, f64, f16, bf16, i8, i16, i32, i64, u8, bool, c64, "
         "c128; did you mean f32?\n    softmax(f23[2]; 0)\n            ^"},
        {"mm(f32[2,2] R, f32[2,2] R)", "call: column 14: expected ';' between arguments, got ','"},
        {"softmax(f32[2] S(0), dim=0)", "column 20: expected ';' between arguments, got ','"},
        {"clamp(f32[2]; 0, 1)", "column 16: expected ';' between arguments, got ','"},
        {"neg(f32[2]) on mesh(3)", "column 21: expected the mesh of the call"},
        {"neg(f32[2] on mesh(2x2))", "column 20: expected the mesh of the call"},
        {"neg(f32[2]) on mesh(2) x", "expected the end of the call"},
        {"neg(f32[2]) on mesh(2", "expected ')' after the mesh"},
        {"softmax(f32[2]; 0; dim=1)", "argument 'dim' is given twice"},
        {"gelu(f32[2]; none)", "too many arguments by position: expected at most 1, got 2"},
        {"mm(f32[2]; 2)", "argument 'mat2': expected a tensor, got an integer"},
        {"mm(f32[2]; none)", "argument 'mat2': expected a tensor, got none"},
        {"cat(f32[2])", "argument 'tensors': expected a list of tensors, got a tensor"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        test_calls self = calls_open("2");
        self.ctx->world = 8;
        dt__placed_call placed;
        assert_int_equal(dt__placed_call_parse(&self.arena, cases[i][0], 1, self.mesh, &placed), DT_ERR_VALUE);
        assert_error_contains(self.ctx, DT_ERR_VALUE, cases[i][1]);
        calls_close(&self);
    }
}

static void bind__an_unknown_op_has_its_own_status(void **state) {
    (void)state;
    test_calls self = calls_open("2");
    dt__placed_call placed;
    assert_int_equal(dt__placed_call_parse(&self.arena, "no_such_op(f32[2])", 1, self.mesh, &placed), DT_ERR_OP);
    assert_error_contains(self.ctx, DT_ERR_OP, "there is no op 'no_such_op'");
    calls_close(&self);
    self = calls_open("2");
    assert_int_equal(dt__placed_call_parse(&self.arena, "matmull(f32[2])", 1, self.mesh, &placed), DT_ERR_OP);
    assert_error_contains(self.ctx, DT_ERR_OP, "there is no op 'matmull'; did you mean matmul?");
    calls_close(&self);
}

/* A mesh after the call or after its tensors is parsed and does not change the call. */
static void call_text__may_name_the_mesh(void **state) {
    (void)state;
    static const char *const calls[] = {
        "mm(f32[8,4] S(0),R; f32[4,6] R,S(1)) on mesh(dp=2,tp=3)",
        "mm(f32[8,4] S(0),R on mesh(dp=2,tp=3); f32[4,6] R,S(1))",
        "mm(f32[8,4] S(0),R on mesh(dp=2,tp=3); f32[4,6] R,S(1) on mesh(dp=2,tp=3)) on mesh(dp=2,tp=3)",
        "mm(f32[8,4] S(0),R; f32[4,6] R,S(1) on mesh(dp=2,tp=*))",
        "mm(f32[8,4] dp=S(0); f32[4,6] tp=S(1)) on mesh(dp=2,tp=3)",
        "mm(f32[8,4] tp=R,dp=S(0) use tp=R on mesh(dp=2,tp=3); f32[4,6] dp=R,tp=S(1))",
    };
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        test_calls self = calls_open("2,3");
        self.ctx->world = 6;
        dt_mesh *mesh = dt__call_text_mesh(&self.arena, calls[i]);
        assert_non_null(mesh);
        assert_string_equal(dt_mesh_text(mesh), "dp=2,tp=3");
        dt__placed_call placed = calls_parse(&self, calls[i]);
        char text[80];
        assert_int_equal(placed.call.n_inputs, 2);
        assert_string_equal(calls_placements(2, placed.inputs[1]->placements, text, sizeof text), "R,S(1)");
        dt_mesh_release(mesh);
        calls_close(&self);
    }
    static const char *const wrong[][2] = {
        {"neg(f32[2])", "call: expected a mesh, as in"},
        {"mm(f32[2,2] on mesh(2x3); f32[2,2] on mesh(3x2))",
         "call: the tensors are on different meshes: 2x3 and 3x2"},
        {"neg(f32[2]) on mesh(0)", "mesh"},
        {"neg(f32[2]) on mesh(", "mesh"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        test_calls self = calls_open("2,3");
        self.ctx->world = 6;
        assert_null(dt__call_text_mesh(&self.arena, wrong[i][0]));
        assert_error_contains(self.ctx, DT_ERR_MESH, wrong[i][1]);
        calls_close(&self);
    }
}

/* The class separates the scalars that rules depend on. */
static int64_t class_of(const char *text) {
    test_calls self = calls_open("2");
    dt__placed_call placed = calls_parse(&self, text);
    int64_t class = placed.call.op->class_of(&placed.call);
    calls_close(&self);
    return class;
}

static void key__has_a_class_of_scalars(void **state) {
    (void)state;
    assert_int_equal(class_of("mul(f32[4]; 2.5)"), class_of("mul(f32[4]; 7)"));
    assert_int_not_equal(class_of("mul(f32[4]; 2.5)"), class_of("mul(f32[4]; -2.5)"));
    assert_int_not_equal(class_of("mul(f32[4]; 2.5)"), class_of("mul(f32[4]; 0)"));
    assert_int_not_equal(class_of("add(f32[4]; f32[4])"), class_of("add(f32[4]; f32[4]; alpha=-1)"));
    assert_int_not_equal(class_of("clamp(f32[4]; 1.0)"), class_of("clamp(f32[4]; nan)"));
    assert_int_not_equal(class_of("where(bool[4]; f32[4]; 0)"), class_of("where(bool[4]; f32[4]; 2)"));
    assert_int_equal(class_of("slice(f32[9]; 0; 2; 5)"), class_of("slice(f32[9]; 0; -4; -1)"));
    assert_int_not_equal(class_of("slice(f32[9]; 0; 2; 5)"), class_of("slice(f32[9]; 0; 2; 6)"));
}

/* Names are resolved in each signature; "other" is a tensor in the first. */
static void varying__is_by_name_in_each_signature(void **state) {
    (void)state;
    test_calls self = calls_open("2");
    dt__schema schema = parse(&self, "f.T(Tensor self, Tensor other, *, int n=1) -> Tensor | "
                                     "f.S(Tensor self, float a, Scalar other, int n=1) -> Tensor");
    assert_int_equal(schema.signatures[1].varying, 0); /* whatever the types */
    assert_int_equal(dt__schema_set_varying(&self.arena, &schema, "other,n"), DT_OK);
    assert_int_equal(schema.signatures[0].varying, 1 << 2);
    assert_int_equal(schema.signatures[1].varying, 1 << 2 | 1 << 3);
    calls_close(&self);
}

static dt_status same_as_first(dt_op_call *call) {
    return dt_op_add_output(call, call->inputs[0].dtype, call->inputs[0].n_dims, call->inputs[0].shape);
}

static void register__a_user_op(void **state) { /* SDS-030 */
    (void)state;
    static const dt_op swiglu = {
        .schema = "swiglu(Tensor gate, Tensor up) -> Tensor",
        .rule = "...,... -> ...",
        .shape = same_as_first,
    };
    test_calls self = calls_open("2,2");
    int before = dt__op_count(self.ctx);
    assert_int_equal(dt_op_register(self.ctx, &swiglu), DT_OK);
    assert_int_equal(dt__op_count(self.ctx), before + 1);
    dt__placed_call placed = calls_parse(&self, "swiglu(f32[8,4] S(0),R; f32[8,4] S(0),S(1))");
    dt__placed_inputs inputs = calls_inputs(&self, &placed);
    dt__candidate selected;
    char text[100];
    assert_int_equal(dt__select_placements(&self.arena, &placed.call, &inputs, &selected), DT_OK);
    assert_string_equal(calls_placements(2, selected.outputs[0], text, sizeof text), "S(0),S(1)");
    assert_int_equal(placed.info->index, before);
    assert_ptr_equal(dt__op_at(self.ctx, before), placed.info);
    calls_close(&self);
}

static void register__refusals(void **state) {
    (void)state;
    static const struct {
        dt_op op;
        const char *error;
    } cases[] = {
        {{.schema = "add(Tensor a) -> Tensor", .shape = same_as_first}, "add: an op of this name exists already"},
        {{.schema = "mine(Tensor a) -> Tensor"}, "no shape function"},
        {{.schema = "mine(Tensor a -> Tensor", .shape = same_as_first}, "schema"},
        {{.schema = "mine(Tensor a) -> Tensor", .rule = "ij-ij", .shape = same_as_first}, "rule"},
        {{.schema = "mine(Tensor a, int b) -> Tensor", .varying = "b,c", .shape = same_as_first},
         "mine: varying: expected names of arguments that are not tensors, separated by commas, got 'c'"},
        {{.schema = "mine(Tensor a, int b) -> Tensor", .varying = "b,", .shape = same_as_first}, "got ''"},
        {{.schema = "mine(Tensor a, int b) -> Tensor", .varying = "b, b", .shape = same_as_first}, "got ' b'"},
        {{.schema = "mine(Tensor a, int b) -> Tensor", .varying = "a", .shape = same_as_first}, "got 'a'"},
        {{.schema = "mine(Tensor a, int b) -> Tensor", .varying = "b,b", .shape = same_as_first},
         "mine: varying: 'b' is named twice"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        test_calls self = calls_open("2");
        assert_int_equal(dt_op_register(self.ctx, &cases[i].op), DT_ERR_VALUE);
        assert_error_contains(self.ctx, DT_ERR_VALUE, cases[i].error);
        assert_int_equal(dt__op_count(self.ctx), DT__N_OPS);
        calls_close(&self);
    }
}

static bool register_once(dt_ctx *ctx, void *user) { return dt_op_register(ctx, user) == DT_OK; }

static void register__survives_failing_allocations(void **state) {
    (void)state;
    dt_op mine = {.schema = "mine(Tensor a) -> Tensor", .rule = "...->...", .shape = same_as_first};
    assert_true(assert_survives_failing_allocations(register_once, &mine) > 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(schema__types_defaults_and_keywords),
        cmocka_unit_test(schema__malformed_lines_are_refused),
        cmocka_unit_test(bind__chooses_the_overload_by_types),
        cmocka_unit_test(bind__errors_name_op_and_argument),
        cmocka_unit_test(bind__an_unknown_op_has_its_own_status),
        cmocka_unit_test(call_text__may_name_the_mesh),
        cmocka_unit_test(key__has_a_class_of_scalars),
        cmocka_unit_test(varying__is_by_name_in_each_signature),
        cmocka_unit_test(register__a_user_op),
        cmocka_unit_test(register__refusals),
        cmocka_unit_test(register__survives_failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
