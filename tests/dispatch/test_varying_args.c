/* SPDX-License-Identifier: Apache-2.0
 *
 * Arguments that vary from call to call: they cause no new decision, each call computes with its own, and they are
 * refused alike whether the decision is new or cached. Arguments that are not named as varying are in the key by
 * value, floating-point numbers and lists of them too.
 */
#include "dispatch/calls.h"

#include "base/ctx.h"

static dt_ctx *open_self(void) {
    dt_ctx *ctx = dt_init(&(dt_init_options){.transport = "self"});
    assert_non_null(ctx);
    return ctx;
}

static int64_t n_misses(const dt_ctx *ctx) { return dt_cache_stats(ctx).n_misses; }

/* x[i:i+7] of 10,007 rows, on a mesh with a shard of the other dim. */
static void slice__ten_thousand_starts_are_one_miss(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(&(dt_init_options){.transport = "fake", .world = 3, .rank = 1});
    int64_t n = 3;
    dt_mesh *mesh = dt_mesh_from_shape(ctx, &n, 1, NULL);
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(10007, 5), .mesh = mesh, .place = "S(1)");
    int64_t before = n_misses(ctx);
    for (int64_t start = 0; start < 10000; start++) {
        dt_scope scope = dt_scope_begin(ctx);
        dt_tensor *y = dt_slice(x, 0, start, start + 7, 1);
        assert_non_null(y);
        assert_int_equal(dt_tensor_size(y, 0), 7);
        assert_string_equal(calls_placements(y), "S(1)");
        dt_scope_end(scope);
    }
    assert_int_equal(n_misses(ctx), before + 1);
    assert_non_null(dt_slice(x, 0, -7, 1 << 20, 1)); /* also 7 rows */
    assert_int_equal(n_misses(ctx), before + 1);
    dt_tensor *longer = dt_slice(x, 0, 5, 13, 1), *steps = dt_slice(x, 0, 5, 12, 2);
    assert_int_equal(dt_tensor_size(longer, 0), 8);
    assert_int_equal(dt_tensor_size(steps, 0), 4);
    assert_int_equal(n_misses(ctx), before + 3);
    dt_mesh_release(mesh);
    assert_int_equal(dt_close(ctx), 0);
}

static void slice__hits_have_their_own_elements(void **state) {
    (void)state;
    dt_ctx *ctx = open_self();
    dt_tensor *x = calls_counting(ctx, DT_I32, DT_SHAPE(20, 3), 0, 1);
    int64_t before = n_misses(ctx);
    for (int64_t start = 0; start < 16; start++) {
        dt_tensor *y = dt_slice(x, 0, start, start + 4, 1), *z = dt_select(x, 0, start - 20);
        assert_int_equal(dt_tensor_size(y, 0), 4);
        assert_true(calls_element(y, 0) == (double)(3 * start) && calls_element(y, 11) == (double)(3 * start + 11));
        assert_true(calls_element(z, 2) == (double)(3 * start + 2));
    }
    assert_int_equal(n_misses(ctx), before + 2);
    assert_int_equal(dt_close(ctx), 0);
}

/* The error of the call, which is cleared. */
static const char *refusal(dt_ctx *ctx, const dt_tensor *made, dt_status status) {
    static _Thread_local char text[1024];
    assert_null(made);
    assert_int_equal(dt_error_status(ctx), status);
    snprintf(text, sizeof text, "%s", dt_error_text(ctx));
    assert_int_equal(dt_error_clear(ctx), DT_OK);
    return text;
}

/* The call is refused before its decision is cached, and with the same text after a call of its kind is. */
#define REFUSED(ctx, status, wrong, right)                                                                           \
    do {                                                                                                             \
        char first_[1024];                                                                                           \
        dt_cache_clear(ctx);                                                                                         \
        for (int cached_ = 0; cached_ < 2; cached_++) {                                                              \
            int64_t misses_ = n_misses(ctx);                                                                         \
            const char *text_ = refusal(ctx, wrong, status);                                                         \
            assert_int_equal(n_misses(ctx), misses_ + !cached_);                                                     \
            if (cached_)                                                                                             \
                assert_string_equal(text_, first_);                                                                  \
            else                                                                                                     \
                snprintf(first_, sizeof first_, "%s", text_);                                                        \
            assert_non_null(right);                                                                                  \
        }                                                                                                            \
    } while (0)

static void check__refuses_on_hits_as_on_misses(void **state) {
    (void)state;
    dt_ctx *ctx = open_self();
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(4, 3)), *i8 = dt_ones(ctx, DT_SHAPE(4), .dtype = DT_I8);
    dt_tensor *indices = dt_zeros(ctx, DT_SHAPE(2), .dtype = DT_I64),
              *mask = dt_ones(ctx, DT_SHAPE(4), .dtype = DT_BOOL);
    REFUSED(ctx, DT_ERR_VALUE, dt_dropout(x, .p = DT_REAL(7), .training = DT_FALSE),
            dt_dropout(x, .p = DT_REAL(0.5), .training = DT_FALSE));
    REFUSED(ctx, DT_ERR_VALUE, dt_dropout(x, .p = DT_REAL(-0.5)), dt_dropout(x, .p = DT_REAL(1)));
    REFUSED(ctx, DT_ERR_VALUE, dt_dropout(x, .p = DT_REAL(0.0 / 0.0)), dt_dropout(x, .p = DT_REAL(0)));
    REFUSED(ctx, DT_ERR_VALUE, dt_select(x, 0, 4), dt_select(x, 0, 3));
    REFUSED(ctx, DT_ERR_VALUE, dt_select(x, 0, -5), dt_select(x, 0, -4));
    REFUSED(ctx, DT_ERR_VALUE, dt_fill_(i8, 300), dt_fill_(i8, 100));
    REFUSED(ctx, DT_ERR_VALUE, dt_where_scalar_other(mask, i8, 1000), dt_where_scalar_other(mask, i8, 100));
    REFUSED(ctx, DT_ERR_VALUE, dt_embedding(indices, x, .padding_idx = DT_INT(4)),
            dt_embedding(indices, x, .padding_idx = DT_INT(3)));
    assert_true(calls_element(i8, 0) == 100);
    assert_int_equal(dt_close(ctx), 0);
}

/* An op of a program's own: n zeros, where n is a floating-point number; its summands do not decide. */
static dt_status shape_grown(dt_op_call *call) {
    double n = call->args[1].as.f;
    const dt_arg *more = &call->args[2];
    for (int i = 0; i < more->n; i++)
        n += more->as.floats[i];
    if (call->args[3].type == DT_ARG_COMPLEX)
        n += call->args[3].as.c[1];
    int64_t size = (int64_t)n;
    return dt_op_add_output(call, DT_F32, 1, &size);
}
static dt_status grown(dt_op_call *call) {
    for (int64_t i = 0; i < call->outputs[0].shape[0]; i++)
        ((float *)call->outputs[0].data)[i] = (float)call->args[4].as.i;
    return DT_OK;
}
static dt_status check_grown(const dt_op_call *call) {
    return call->args[4].as.i >= 0 ? DT_OK : dt_op_refuse(call, DT_ERR_VALUE, "value: expected at least 0, got less");
}
static const dt_op op_grown = {
    .schema = "test_grown(Tensor self, float n, float[] more, Scalar other=0, int value=0) -> Tensor",
    .shape = shape_grown,
    .kernel = grown,
    .varying = "value",
    .check = check_grown,
};

/* The size of the result, or -1 after an error. */
static int64_t size_of_grown(dt_ctx *ctx, dt_tensor *x, double n, dt_arg more, dt_arg other, int64_t value) {
    dt_op_argument args[] = {{.tensor = x},
                             {.value = {.type = DT_ARG_FLOAT, .as.f = n}},
                             {.value = more},
                             {.value = other},
                             {.name = "value", .value = {.type = DT_ARG_INT, .as.i = value}}};
    dt_tensor *outputs[1];
    int n_outputs;
    if (dt_op_run(ctx, "test_grown", 5, args, NULL, outputs, 1, &n_outputs) != DT_OK)
        return -1;
    assert_true(dt_tensor_elements(outputs[0]) == 0 || calls_element(outputs[0], 0) == (double)value);
    return dt_tensor_size(outputs[0], 0);
}

static void key__has_floats_lists_of_floats_and_complex_numbers(void **state) {
    (void)state;
    dt_ctx *ctx = open_self();
    if (dt_op_register(ctx, &op_grown) != DT_OK)
        fail_msg("%s", dt_error_text(ctx));
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(2));
    dt_arg none = {.type = DT_ARG_FLOATS}, zero = {.type = DT_ARG_INT};
    dt_arg lists[3] = {none, none, none}, complex[2] = {{.type = DT_ARG_COMPLEX}, {.type = DT_ARG_COMPLEX}};
    static const double values[] = {1, 2, 4, 1};
    for (int i = 0; i < 3; i++) {
        lists[i].as.floats = values + i;
        lists[i].n = i < 2 ? 2 : 1;
    }
    complex[0].as.c[1] = 3;
    complex[1].as.c[1] = 9;
    for (int again = 0; again < 2; again++) {
        int64_t before = n_misses(ctx);
        for (int64_t value = 1; value < 4; value++) {
            assert_int_equal(size_of_grown(ctx, x, 5, none, zero, value), 5);
            assert_int_equal(size_of_grown(ctx, x, 7, none, zero, value), 7);
            assert_int_equal(size_of_grown(ctx, x, 5, lists[0], zero, value), 8);
            assert_int_equal(size_of_grown(ctx, x, 5, lists[1], zero, value), 11);
            assert_int_equal(size_of_grown(ctx, x, 5, lists[2], zero, value), 9);
            assert_int_equal(size_of_grown(ctx, x, 5, none, complex[0], value), 8);
            assert_int_equal(size_of_grown(ctx, x, 5, none, complex[1], value), 14);
        }
        assert_int_equal(n_misses(ctx) - before, again ? 0 : 7);
    }
    assert_int_equal(size_of_grown(ctx, x, 5, none, zero, -1), -1);
    assert_error_contains(ctx, DT_ERR_VALUE, "test_grown: f32[2]: value: expected at least 0, got less");
    assert_int_equal(dt_error_clear(ctx), DT_OK);
    assert_int_equal(dt_close(ctx), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slice__ten_thousand_starts_are_one_miss),
        cmocka_unit_test(slice__hits_have_their_own_elements),
        cmocka_unit_test(check__refuses_on_hits_as_on_misses),
        cmocka_unit_test(key__has_floats_lists_of_floats_and_complex_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
