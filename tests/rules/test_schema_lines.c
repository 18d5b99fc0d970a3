/* SPDX-License-Identifier: Apache-2.0
 *
 * Every signature of the well-known ops (tests/golden/ops.tsv) is parsed, and printed as it was written.
 */
#include "rules/calls.h"

#include <stdlib.h>

/* What is no signature, or has types that no op of this library takes. */
static const struct {
    const char *name, *error;
} refused[] = {
    {"__getitem__", "there is no type 'Dict'"},
    {"broadcast_shapes", "expected a name"}, /* int[][] */
    {"linear_cross_entropy", "there is no type 'LinearCrossEntropyOptions'"},
    {"sparse_mm", "expected '(' after the name"},
};

/* The one line with the alias of a list after its brackets. */
static const char AFTER[] = "Tensor[](a!)", BEFORE[] = "Tensor(a!)[]";

static void check_refused(test_calls *self, const char *name, const char *line) {
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (!strcmp(refused[i].name, name)) {
            assert_error_contains(self->ctx, DT_ERR_VALUE, refused[i].error);
            return;
        }
    fail_msg("%s: %s", line, dt_error_text(self->ctx));
}

static bool check_line(const char *name, char *line) {
    test_calls self = calls_open("2");
    dt__schema schema;
    bool parsed = dt__schema_parse(&self.arena, line, &schema) == DT_OK;
    if (parsed) {
        dt__text text = dt__text_new(self.ctx);
        dt__schema_text(&schema, &text);
        char *after = strstr(line, AFTER);
        if (after)
            memcpy(after, BEFORE, strlen(BEFORE));
        assert_string_equal(dt__text_chars(&text), line);
        dt__text_free(&text);
    } else
        check_refused(&self, name, line);
    calls_close(&self);
    return parsed;
}

static void schema_lines__are_printed_as_written(void **state) {
    (void)state;
    char path[4096], *line = NULL;
    size_t capacity = 0;
    int n_parsed = 0, n_refused = 0, n_aliases = 0;
    const char *source = getenv("DTENSOR_SOURCE");
    snprintf(path, sizeof path, "%s/tests/golden/ops.tsv", source ? source : "..");
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_true(getline(&line, &capacity, file) > 0);
    while (getline(&line, &capacity, file) > 0) {
        char *name = strtok(line, "\t"), *tier = strtok(NULL, "\t"), *signature = strtok(NULL, "\t");
        assert_non_null(tier);
        assert_non_null(signature);
        char *note = strstr(signature, "; "); /* "-> Tensor; one number stands for every spatial dim" */
        if (note)
            *note = 0;
        if (!strncmp(signature, "alias of ", 9))
            n_aliases++;
        else if (check_line(name, signature))
            n_parsed++;
        else
            n_refused++;
    }
    free(line);
    fclose(file);
    assert_int_equal(n_aliases, 13);
    assert_int_equal(n_refused, sizeof refused / sizeof *refused);
    assert_int_equal(n_parsed, 658 - 13 - 4);
}

/* The lines of the library's own ops too. */
static void schema_lines__of_the_table(void **state) {
    (void)state;
    test_calls self = calls_open("2");
    for (int i = 0; i < dt__op_count(self.ctx); i++) {
        const dt__op_info *info = dt__op_at(self.ctx, i);
        dt__text text = dt__text_new(self.ctx);
        assert_non_null(info);
        dt__schema_text(&info->schema, &text);
        assert_string_equal(dt__text_chars(&text), info->op->schema);
        dt__text_free(&text);
    }
    calls_close(&self);
}

static const dt__signature *parse(test_calls *self, const char *line) {
    static dt__schema schema;
    if (dt__schema_parse(&self->arena, line, &schema) != DT_OK)
        fail_msg("%s: %s", line, dt_error_text(self->ctx));
    return schema.signatures;
}

static void returns__have_names_and_aliases(void **state) {
    (void)state;
    test_calls self = calls_open("2");
    const dt__signature *it =
        parse(&self, "f(Tensor self, Tensor(a!) mean, Tensor(b!)[] more, Tensor(c) seen, Tensor(d -> *) parts) -> "
                     "(Tensor values, Tensor(a!), Tensor(b!)[], Tensor(c) view, Tensor(d)[])");
    assert_int_equal(it->written, 1 << 1 | 1 << 2);
    assert_int_equal(it->n_returns, 5);
    assert_int_equal(it->return_form, DT__RETURNS_SEVERAL);
    static const int params[] = {-1, 1, 2, 3, 4};
    static const char *const names[] = {"values", "", "", "view", ""};
    for (int r = 0; r < 5; r++) {
        assert_int_equal(it->returns[r].param, params[r]);
        assert_string_equal(it->returns[r].name, names[r]);
    }
    assert_int_equal(it->returns[2].type.kind, DT__PARAM_TENSORS);
    assert_true(it->params[4].type.spreads && !it->params[4].type.written);
    it = parse(&self, "f(Tensor self) -> ()");
    assert_int_equal(it->n_returns, 0);
    it = parse(&self, "f(Tensor self) -> Tensor or (Tensor, Tensor)");
    assert_int_equal(it->n_returns, 2);
    assert_int_equal(it->return_form, DT__RETURNS_EITHER);
    it = parse(&self, "f(Tensor self) -> (Tensor, ...)");
    assert_int_equal(it->n_returns, 1);
    assert_int_equal(it->return_form, DT__RETURNS_MORE);
    calls_close(&self);
}

static void params__lists_with_none_and_bare_numbers(void **state) {
    (void)state;
    test_calls self = calls_open("2");
    const dt__signature *it =
        parse(&self, "f(Tensor?[] some, Tensor[]? list, int[2] padding=0, ScalarType? dtype=long, "
                     "*, Generator? generator=None) -> bool");
    assert_true(it->params[0].type.optional_members && !it->params[0].type.optional);
    assert_true(!it->params[1].type.optional_members && it->params[1].type.optional);
    assert_int_equal(it->params[2].absent.type, DT_ARG_INTS);
    assert_int_equal(it->params[2].absent.n, 2);
    assert_true(it->params[2].absent.as.ints[1] == 0);
    assert_int_equal(it->params[3].absent.as.dtype, DT_I64);
    assert_int_equal(it->params[4].type.kind, DT__PARAM_GENERATOR);
    assert_int_equal(it->returns[0].type.kind, DT__PARAM_BOOL);
    calls_close(&self);
}

static void malformed_lines__are_refused(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"f(Tensor a) -> ", "expected a name"},
        {"f(Tensor a) -> Tenor", "there is no type 'Tenor'"},
        {"f(Tensor a) -> Tensor b", "expected '|' or the end after the returns"},
        {"f(Tensor a) -> Tensor; a note", "expected '|' or the end after the returns"},
        {"f(Tensor a) -> Tensor |", "expected a name"},
        {"f(Tensor a) -> (Tensor b", "expected ',' between returns"},
        {"f(Tensor a) -> (Tensor b,)", "expected a name"},
        {"f(Tensor a) -> (...)", "expected a name"},
        {"f(Tensor a) -> Tensor(a)", "no parameter has the alias 'a'"},
        {"f(Tensor(a) a) -> Tensor(a!)", "the alias 'a' is written in one place only"},
        {"f(Tensor(a!) a) -> Tensor(a)", "the alias 'a' is written in one place only"},
        {"f(Tensor(A) a) -> Tensor", "expected the letter of an alias"},
        {"f(Tensor(a a) -> Tensor", "expected ')' after an alias"},
        {"f(int(a) a) -> Tensor", "only tensors have aliases"},
        {"f(Tensor(a)[](a) a) -> Tensor", "this type has two aliases"},
        {"f(Tensor a) -> Tensor or Tensor", "expected '(' after or"},
        {"f(Tensor a) -> Tensor or (Tensor)", "expected several returns"},
        {"f(Tensor a) -> bool or (Tensor, Tensor)", "expected several returns"},
        {"f(int a=None) -> Tensor", "only an optional parameter has the default None"},
        {"f(int a=1.5) -> Tensor", "the default does not have the type of 'a'"},
        {"f(Tensor a=1) -> Tensor", "the default does not have the type of 'a'"},
        {"f(str a=1) -> Tensor", "the default does not have the type of 'a'"},
        {"f(ScalarType a=wide) -> Tensor", "expected a dtype as default"},
        {"f(Tensor a, *) -> Tensor", "expected a parameter after the *"},
        {"f(Tensor a, *, *, int b) -> Tensor", "expected a name"},
        {"f(Generator[] a) -> Tensor", "this type has no lists"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        test_calls self = calls_open("2");
        dt__schema schema;
        if (dt__schema_parse(&self.arena, cases[i][0], &schema) != DT_ERR_VALUE)
            fail_msg("'%s' was not refused", cases[i][0]);
        assert_error_contains(self.ctx, DT_ERR_VALUE, cases[i][1]);
        calls_close(&self);
    }
}

static dt_status no_shape(dt_op_call *call) {
    return dt_op_add_output(call, call->inputs[0].dtype, call->inputs[0].n_dims, call->inputs[0].shape);
}

static void bind__lists_with_none(void **state) {
    (void)state;
    static const dt_op gaps = {.schema = "gaps(Tensor self, Tensor?[] some, Tensor last) -> Tensor",
                               .shape = no_shape};
    static const char *const texts[] = {
        "gaps(f32[3] R; {none; f32[2] R; none; i64[4] R}; f32[5] R)",
        "gaps(f32[3] R; {i64[4] R; none}; f32[5] R)",
        "gaps(f32[3] R; {none}; f32[5] R)",
        "gaps(f32[3] R; {}; f32[5] R)",
        "gaps(f32[3] R; {i64[4] R; i64[4] R}; f32[5] R)",
    };
    static const int members[][4] = {{-1, 1, -1, 2}, {1, -1}, {-1}, {0}, {1, 2}};
    static const int n_inputs[] = {4, 3, 2, 2, 4};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        test_calls self = calls_open("2");
        assert_int_equal(dt_op_register(self.ctx, &gaps), DT_OK);
        dt__placed_call made = calls_parse(&self, texts[i]);
        const dt_arg *list = &made.call.args[1];
        assert_int_equal(made.call.n_inputs, n_inputs[i]);
        for (int m = 0; m < list->n; m++)
            assert_int_equal(dt_arg_member(list, m), members[i][m]);
        assert_int_equal(made.call.args[2].as.first, n_inputs[i] - 1);
        dt__text text = dt__text_new(self.ctx);
        dt_op_value values[8];
        for (int k = 0; k < made.call.n_inputs; k++)
            values[k] = made.call.inputs[k];
        dt__call_form_text(made.info, made.bound.overload, made.call.args, values, NULL, 0, &text);
        dt__placed_call again = calls_parse(&self, dt__text_chars(&text));
        assert_int_equal(again.call.n_inputs, n_inputs[i]);
        for (int m = 0; m < list->n; m++)
            assert_int_equal(dt_arg_member(&again.call.args[1], m), members[i][m]);
        dt__text_free(&text);
        calls_close(&self);
    }
    test_calls self = calls_open("2");
    dt__placed_call made;
    assert_int_equal(dt__placed_call_parse(&self.arena, "cat({f32[2]; none})", 1, self.mesh, &made), DT_ERR_VALUE);
    assert_error_contains(self.ctx, DT_ERR_VALUE,
                          "cat: argument 'tensors': expected a tensor as member 2 of the list, got none");
    calls_close(&self);
}

/* Lists of any length: tensors, and numbers. */
static void call_text__has_no_longest_list(void **state) {
    (void)state;
    enum { N = 600 };
    test_calls self = calls_open("2");
    dt__text text = dt__text_new(self.ctx);
    dt__text_add(&text, "cat({");
    for (int i = 0; i < N; i++)
        dt__text_add(&text, "%sf32[%d] S(0)", i ? "; " : "", i);
    dt__text_add(&text, "})");
    dt__placed_call made = calls_parse(&self, dt__text_chars(&text));
    assert_int_equal(made.call.n_inputs, N);
    assert_int_equal(made.call.outputs[0].shape[0], N * (N - 1) / 2);
    dt__text_clear(&text);
    dt__text_add(&text, "split(f32[%d]; [", N);
    for (int i = 0; i < N; i++)
        dt__text_add(&text, "%s1", i ? "," : "");
    dt__text_add(&text, "])");
    made = calls_parse(&self, dt__text_chars(&text));
    assert_int_equal(made.call.n_outputs, N);
    dt__text_free(&text);
    calls_close(&self);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(schema_lines__are_printed_as_written),
        cmocka_unit_test(schema_lines__of_the_table),
        cmocka_unit_test(returns__have_names_and_aliases),
        cmocka_unit_test(params__lists_with_none_and_bare_numbers),
        cmocka_unit_test(malformed_lines__are_refused),
        cmocka_unit_test(bind__lists_with_none),
        cmocka_unit_test(call_text__has_no_longest_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
