/* SPDX-License-Identifier: Apache-2.0
 *
 * Shapes and dtypes of results, and errors: type promotion against the published table, broadcasting, dims, sizes of
 * zero; every sample of every op.
 */
#include "rules/calls.h"

#include "ops/shape_inference.h"

/* Rows and columns in the order of `order`; the published promotion table, symmetric. */
static const char *const order[] = {"bool", "u8",   "i8",  "i16", "i32", "i64",
                                    "f16",  "bf16", "f32", "f64", "c64", "c128"};
static const char *const table[12][12] = {
    {"bool", "u8", "i8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64", "c64", "c128"},
    {"u8", "u8", "i16", "i16", "i32", "i64", "f16", "bf16", "f32", "f64", "c64", "c128"},
    {"i8", "i16", "i8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64", "c64", "c128"},
    {"i16", "i16", "i16", "i16", "i32", "i64", "f16", "bf16", "f32", "f64", "c64", "c128"},
    {"i32", "i32", "i32", "i32", "i32", "i64", "f16", "bf16", "f32", "f64", "c64", "c128"},
    {"i64", "i64", "i64", "i64", "i64", "i64", "f16", "bf16", "f32", "f64", "c64", "c128"},
    {"f16", "f16", "f16", "f16", "f16", "f16", "f16", "f32", "f32", "f64", "c64", "c128"},
    {"bf16", "bf16", "bf16", "bf16", "bf16", "bf16", "f32", "bf16", "f32", "f64", "c64", "c128"},
    {"f32", "f32", "f32", "f32", "f32", "f32", "f32", "f32", "f32", "f64", "c64", "c128"},
    {"f64", "f64", "f64", "f64", "f64", "f64", "f64", "f64", "f64", "f64", "c128", "c128"},
    {"c64", "c64", "c64", "c64", "c64", "c64", "c64", "c64", "c64", "c128", "c64", "c128"},
    {"c128", "c128", "c128", "c128", "c128", "c128", "c128", "c128", "c128", "c128", "c128", "c128"},
};

static void promote__follows_the_table(void **state) {
    (void)state;
    for (int i = 0; i < 12; i++)
        for (int j = 0; j < 12; j++) {
            dt_dtype a = DT_F32, b = DT_F32;
            assert_true(dt_dtype_parse(order[i], &a) && dt_dtype_parse(order[j], &b));
            if (strcmp(dt_dtype_name(dt__promote(a, b)), table[i][j]) != 0)
                fail_msg("%s and %s: expected %s, got %s", order[i], order[j], table[i][j],
                         dt_dtype_name(dt__promote(a, b)));
        }
}

/* The outputs of a call: "f32[4,3] f32[1,3]". */
static void assert_result(const char *call, const char *expected) {
    test_calls self = calls_open("2");
    dt__placed_call placed = calls_parse(&self, call);
    char got[512] = "";
    for (int o = 0; o < placed.call.n_outputs; o++) {
        const dt_op_value *value = &placed.call.outputs[o];
        sprintf(got + strlen(got), "%s%s[", o ? " " : "", dt_dtype_name(value->dtype));
        for (int d = 0; d < value->n_dims; d++)
            sprintf(got + strlen(got), "%s%" PRId64, d ? "," : "", value->shape[d]);
        strcat(got, "]");
    }
    if (strcmp(got, expected) != 0)
        fail_msg("%s: expected %s, got %s", call, expected, got);
    calls_close(&self);
}

static void dtypes__of_results(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"add(i32[2]; f32[2])", "f32[2]"},
        {"add(i32[2]; f64[])", "f64[2]"}, /* a higher category counts even without dims */
        {"add(f32[2]; f64[])", "f32[2]"}, /* a wider dtype of the same category does not */
        {"add(i8[2]; i64[])", "i8[2]"},
        {"add(i64[]; i8[])", "i64[]"},
        {"add(i32[2]; 2.5)", "f32[2]"},
        {"add(f16[2]; 2.5)", "f16[2]"},
        {"add(bool[2]; 1)", "i64[2]"},
        {"add(bool[2]; bool[2])", "bool[2]"},
        {"add(u8[2]; true)", "u8[2]"},
        {"mul(f64[2]; c64[])", "c128[2]"},
        {"mul(f16[2]; f32[2])", "f32[2]"},
        {"div(i32[2]; i32[2])", "f32[2]"},
        {"div(i32[2]; 2; rounding_mode=floor)", "i32[2]"},
        {"exp(i64[2])", "f32[2]"},
        {"exp(bf16[2])", "bf16[2]"},
        {"relu(i64[2])", "i64[2]"},
        {"eq(f32[2]; i64[2])", "bool[2]"},
        {"clamp(i64[2]; 0.5)", "f32[2]"},
        {"where(bool[2]; f16[2]; i64[2])", "f16[2]"},
        {"where(bool[2]; 1; 2.0)", "f32[2]"},
        {"to(f32[2,3]; i8)", "i8[2,3]"},
        {"sum(bool[2,3])", "i64[]"},
        {"sum(i8[2,3]; 0; dtype=f64)", "f64[3]"},
        {"mean(i8[2,3]; dtype=f32)", "f32[]"},
        {"argmax(f32[2,3])", "i64[]"},
        {"cumsum(i16[2]; 0)", "i64[2]"},
        {"softmax(f16[2,3]; -1; f32)", "f32[2,3]"},
        {"embedding(i32[2]; bf16[4,3])", "bf16[2,3]"},
        {"cat({i32[2]; f32[3]})", "f32[5]"},
        {"add_(f32[2]; i64[2])", "f32[2]"},
        {"copy_(i32[2]; f64[2])", "i32[2]"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_result(cases[i][0], cases[i][1]);
}

static void shapes__of_results(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"add(f32[4,1,3]; f32[5,1])", "f32[4,5,3]"},
        {"add(f32[0,3]; f32[1,3])", "f32[0,3]"},
        {"add(f32[]; f32[2])", "f32[2]"},
        {"sum(f32[4,5,3]; [0,-1]; true)", "f32[1,5,1]"},
        {"sum(f32[4,5]; [])", "f32[]"},
        {"sum(f32[])", "f32[]"},
        {"sum(f32[]; 0)", "f32[]"},
        {"sum(f32[0,3]; 0)", "f32[3]"},
        {"amax(f32[4,5]; 1)", "f32[4]"},
        {"argmax(f32[4,5]; 1; true)", "i64[4,1]"},
        {"argmax(f32[4,5]; keepdim=true)", "i64[1,1]"},
        {"matmul(f32[3]; f32[3])", "f32[]"},
        {"matmul(f32[3]; f32[7,3,4])", "f32[7,4]"},
        {"matmul(f32[5,3]; f32[3])", "f32[5]"},
        {"matmul(f32[2,1,5,3]; f32[4,3,6])", "f32[2,4,5,6]"},
        {"mm(f32[5,0]; f32[0,4])", "f32[5,4]"},
        {"addmm(f32[1]; f32[5,3]; f32[3,4])", "f32[5,4]"},
        {"linear(f32[3]; f32[4,3]; f32[4])", "f32[4]"},
        {"view(f32[6,4]; [2,-1])", "f32[2,12]"},
        {"view(f32[]; [1,1])", "f32[1,1]"},
        {"reshape(f32[0,4]; [2,0])", "f32[2,0]"},
        {"view(f32[9223372036854775807,8,0]; [4611686018427387904,4,0])", "f32[4611686018427387904,4,0]"},
        {"transpose(f32[2,5,3]; -1; 0)", "f32[3,5,2]"},
        {"transpose(f32[]; 0; -1)", "f32[]"},
        {"expand(f32[5,1]; [2,-1,3])", "f32[2,5,3]"},
        {"slice(f32[10]; 0; 1; 9; 3)", "f32[3]"},
        {"slice(f32[10]; 0; -3)", "f32[3]"},
        {"slice(f32[10]; 0; 8; 3)", "f32[0]"},
        {"slice(f32[10]; 0; -100; 100)", "f32[10]"},
        {"select(f32[5,3]; -1; -3)", "f32[5]"},
        {"split(f32[7,2]; 3)", "f32[3,2] f32[3,2] f32[1,2]"},
        {"split(f32[2,7]; [0,7]; -1)", "f32[2,0] f32[2,7]"},
        {"split(f32[0,2]; 3)", "f32[0,2]"},
        {"cat({f32[0]; f32[2,3]; f32[4,3]})", "f32[6,3]"},
        {"embedding(i64[]; f32[4,3])", "f32[3]"},
        {"gather(f32[5,3]; 0; i64[9,2])", "f32[9,2]"},
        {"index_select(f32[5,3]; 1; i64[])", "f32[5,1]"},
        {"layer_norm(f32[2,4,3]; [4,3])", "f32[2,4,3]"},
        {"fill_(f32[2]; f32[])", "f32[2]"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_result(cases[i][0], cases[i][1]);
}

static void errors__name_the_op_the_tensors_and_the_reason(void **state) {
    (void)state;
    static const struct {
        const char *call, *error;
        dt_status status;
    } cases[] = {
        {"linear(f32[4,3]; f32[5,2])", "linear: f32[4,3], f32[5,2]: inner dimensions differ: 3 and 2", DT_ERR_SHAPE},
        {"add(f32[4]; f32[3])", "do not broadcast: sizes 4 and 3 in dim -1", DT_ERR_SHAPE},
        {"add(i32[4]; i32[4]; alpha=0.5)", "alpha: expected an integer, as the tensors are", DT_ERR_DTYPE},
        {"sub(bool[4]; bool[4])", "cannot subtract booleans", DT_ERR_DTYPE},
        {"neg(bool[4])", "expected a numeric dtype, got bool", DT_ERR_DTYPE},
        {"gelu(i32[4])", "expected a floating-point tensor, got i32", DT_ERR_DTYPE},
        {"gelu(f32[4]; approximate=wrong)", "expected 'none' or 'tanh', got 'wrong'", DT_ERR_VALUE},
        {"maximum(c64[4]; c64[4])", "expected real dtypes, got c64", DT_ERR_DTYPE},
        {"clamp(f32[4])", "expected min, max or both", DT_ERR_VALUE},
        {"where(f32[4]; f32[4]; f32[4])", "the condition: expected bool, got f32", DT_ERR_DTYPE},
        {"div(f32[4]; 2; rounding_mode=up)", "got 'up'", DT_ERR_VALUE},
        {"add_(f32[1]; f32[4])", "differs from that of the first tensor", DT_ERR_SHAPE},
        {"add_(i32[4]; 2.5)", "expected integer, got floating point (f32)", DT_ERR_DTYPE},
        {"copy_(f32[1]; f32[4])", "does not broadcast to the first", DT_ERR_SHAPE},
        {"fill_(f32[4]; f32[1])", "expected a tensor without dims, got 1 dims", DT_ERR_SHAPE},
        {"sum(f32[4,3]; 2)", "dim: expected -2 to 1, got 2", DT_ERR_VALUE},
        {"sum(f32[4,3]; [0,-2])", "dim 0 is given twice", DT_ERR_VALUE},
        {"mean(i64[4])", "expected a floating-point dtype, got i64", DT_ERR_DTYPE},
        {"amax(f32[0,3]; 0)", "cannot reduce dim 0: it is empty", DT_ERR_SHAPE},
        {"argmax(f32[0])", "argmax: f32[0]: cannot reduce dim 0: it is empty", DT_ERR_SHAPE},
        {"matmul(f32[]; f32[3])", "at least one dim", DT_ERR_SHAPE},
        {"matmul(f32[2,3]; f64[3,2])", "the dtypes differ: f32 and f64", DT_ERR_DTYPE},
        {"mm(f32[2,3,4]; f32[4,2])", "tensor 1: expected 2 dims, got 3", DT_ERR_SHAPE},
        {"bmm(f32[2,3,4]; f32[3,4,2])", "batch sizes differ: 2 and 3", DT_ERR_SHAPE},
        {"addmm(f32[3]; f32[2,3]; f32[3,4])", "does not broadcast to the product", DT_ERR_SHAPE},
        {"view(f32[6]; [4])", "the tensor has 6", DT_ERR_SHAPE},
        {"view(f32[6]; [-1,-1])", "expected at most one size of -1, got 2", DT_ERR_VALUE},
        {"view(f32[0]; [-1,0])", "the tensor has 0", DT_ERR_SHAPE},
        {"view(f32[6]; [-2,-3])", "got -2", DT_ERR_VALUE},
        {"view(f32[6]; [4611686018427387904,4])", "the tensor has 6", DT_ERR_SHAPE},
        {"expand(f32[5,2]; [5,3])", "cannot expand dim 1 to size 3", DT_ERR_SHAPE},
        {"expand(f32[5]; [-1,5])", "cannot expand dim 0 to size -1", DT_ERR_SHAPE},
        {"expand(f32[1]; [4611686018427387904])", "more than 2^63 - 1 bytes", DT_ERR_SHAPE},
        {"slice(f32[5]; step=0)", "step: expected at least 1, got 0", DT_ERR_VALUE},
        {"select(f32[5]; 0; 5)", "index 5 is out of range for dim 0 of size 5", DT_ERR_VALUE},
        {"split(f32[5]; 0)", "split_size: expected at least 1, got 0", DT_ERR_VALUE},
        {"split(f32[5]; [2,2])", "expected a sum of 5, the size of the dim, got 4", DT_ERR_SHAPE},
        {"cat({f32[2,3]; f32[2,4]})", "differ in a dim other than 0", DT_ERR_SHAPE},
        {"cat({})", "the list of tensors is empty", DT_ERR_VALUE},
        {"softmax(i64[3]; 0)", "expected a floating-point tensor or dtype, got i64", DT_ERR_DTYPE},
        {"layer_norm(f32[2,3]; [2])", "expected 3, got 2", DT_ERR_SHAPE},
        {"layer_norm(f32[2,3]; [3]; f32[2])", "the shape of weight differs from normalized_shape", DT_ERR_SHAPE},
        {"embedding(f32[2]; f32[4,3])", "expected indices as i64 or i32, got f32", DT_ERR_DTYPE},
        {"embedding(i64[2]; f32[4,3]; 9)", "padding_idx 9 is out of range for a weight of 4 rows", DT_ERR_VALUE},
        {"gather(f32[2,3]; 0; i64[5,4])", "dim 1 of the index: expected size 3 at most, as the tensor has, got 4",
         DT_ERR_SHAPE},
        {"index_select(f32[2,3]; 0; i64[2,2])", "expected a vector, got 2 dims", DT_ERR_SHAPE},
        {"dropout(f32[2]; 1.5)", "expected a probability from 0 to 1, got 1.5", DT_ERR_VALUE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        test_calls self = calls_open("2");
        dt__placed_call placed;
        dt_status status = dt__placed_call_parse(&self.arena, cases[i].call, 1, self.mesh, &placed);
        if (status != cases[i].status || !strstr(dt_error_text(self.ctx), cases[i].error))
            fail_msg("%s: expected status %d, \"%s\", got %d, \"%s\"", cases[i].call, cases[i].status, cases[i].error,
                     status, dt_error_text(self.ctx));
        calls_close(&self);
    }
}

/* Every sample is a valid call, and the selection for Replicate inputs is Replicate and has no cost. */
static void check_sample(const char *sample) {
    test_calls self = calls_open("2,3");
    dt__placed_call placed = calls_parse(&self, sample);
    if (placed.info->list) { /* selects for each tuple */
        calls_close(&self);
        return;
    }
    dt__placed_inputs inputs = calls_inputs(&self, &placed);
    dt__candidate selected;
    assert_true(placed.call.n_outputs > 0);
    if (dt__select_placements(&self.arena, &placed.call, &inputs, &selected) != DT_OK)
        fail_msg("%s: %s", sample, dt_error_text(self.ctx));
    assert_true(selected.cost_us == 0);
    for (int o = 0; o < placed.call.n_outputs; o++)
        for (int m = 0; m < 2; m++)
            assert_true(dt_placement_is_replicate(selected.outputs[o][m]));
    calls_close(&self);
}

static void ops__have_valid_samples(void **state) {
    (void)state;
    int n_samples = 0;
    test_calls self = calls_open("2");
    for (int i = 0; i < DT__N_OPS; i++) {
        const dt_op *op = dt__op_at(self.ctx, i)->op;
        const char *at = op->samples;
        if (!at)
            fail_msg("%s has no samples", op->schema);
        while (*at) {
            char sample[256];
            size_t n = strcspn(at, "\n");
            assert_true(n < sizeof sample);
            memcpy(sample, at, n);
            sample[n] = 0;
            check_sample(sample);
            n_samples++;
            at += n + (at[n] == '\n');
        }
    }
    assert_true(n_samples > DT__N_OPS);
    calls_close(&self);
}

/* One sentence of one line, for lists of ops. */
static void ops__have_a_summary(void **state) {
    (void)state;
    test_calls self = calls_open("2");
    for (int i = 0; i < DT__N_OPS; i++) {
        const dt_op *op = dt__op_at(self.ctx, i)->op;
        const char *schema = op->schema, *summary = op->summary;
        if (!summary || !*summary)
            fail_msg("%s has no summary", schema);
        size_t n = strlen(summary);
        if (n > 100 || strchr(summary, '\n') || summary[n - 1] != '.')
            fail_msg("%s: expected a sentence of at most 100 characters, got \"%s\"", schema, summary);
        for (int k = 0; k < i; k++)
            assert_string_not_equal(summary, dt__op_at(self.ctx, k)->op->summary);
    }
    calls_close(&self);
}

/* The table is in alphabetical order, each op is found by its name, and its index is its place. */
static void ops__are_found(void **state) {
    (void)state;
    test_calls self = calls_open("2");
    for (int i = 0; i < DT__N_OPS; i++) {
        const dt__op_info *info = dt__op_at(self.ctx, i);
        if (!info)
            fail_msg("%s", dt_error_text(self.ctx));
        assert_int_equal(info->index, i);
        assert_ptr_equal(dt__op_find(self.ctx, info->schema.name), info);
        if (i)
            assert_true(strcmp(dt__op_at(self.ctx, i - 1)->schema.name, info->schema.name) < 0);
    }
    calls_close(&self);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(promote__follows_the_table),
        cmocka_unit_test(dtypes__of_results),
        cmocka_unit_test(shapes__of_results),
        cmocka_unit_test(errors__name_the_op_the_tensors_and_the_reason),
        cmocka_unit_test(ops__have_valid_samples),
        cmocka_unit_test(ops__have_a_summary),
        cmocka_unit_test(ops__are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
