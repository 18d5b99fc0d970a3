/* SPDX-License-Identifier: Apache-2.0
 *
 * Ops of a program that meet and scan: a softmax along the columns of a matrix and a running sum along its rows, over
 * sharded dims, with uneven and empty shards and several mesh dims on one tensor dim. Only states are exchanged;
 * policies, traces and logs name the exchange. Wrong merges and identities, and dims over which the ranks could meet
 * and do not, are found by the verifier.
 */
#include "support/ranks.h"

#include "dtensor/debug.h"
#include "dtensor/dtensor.h"
#include "rules/rules.h"
#include "verify/verify.h"

#include <math.h>
#include <string.h>

static dt_status shape_matrix(dt_op_call *call) {
    const dt_op_value *x = &call->inputs[0];
    if (x->n_dims != 2 || x->dtype != DT_F64)
        return dt_op_refuse(call, DT_ERR_SHAPE, "expected an f64 matrix");
    return dt_op_add_output(call, DT_F64, 2, x->shape);
}

static double at(const dt_op_value *x, int64_t i, int64_t j) {
    return ((const double *)x->data)[i * x->strides[0] + j * x->strides[1]];
}
static void set(const dt_op_value *x, int64_t i, int64_t j, double value) {
    ((double *)x->data)[i * x->strides[0] + j * x->strides[1]] = value;
}

/* Softmax: the largest element and the sum of exponentials of each row. */
static void describe_rows(const dt_op_call *call, dt_state *state) {
    int64_t n = call->inputs[0].shape[0];
    state->n_fields = 2;
    state->fields[0] = (dt_state_field){.dtype = DT_F64, .n = n, .identity = -INFINITY};
    state->fields[1] = (dt_state_field){.dtype = DT_F64, .n = n, .identity = 0};
}

static dt_status begin_softmax(dt_op_call *call, const dt_state *state) {
    const dt_op_value *x = &call->inputs[0];
    double *largest = state->fields[0].data, *sum = state->fields[1].data;
    for (int64_t i = 0; i < x->shape[0]; i++) {
        for (int64_t j = 0; j < x->shape[1]; j++)
            largest[i] = isnan(at(x, i, j)) || at(x, i, j) > largest[i] ? at(x, i, j) : largest[i];
        for (int64_t j = 0; j < x->shape[1] && largest[i] != -INFINITY; j++)
            sum[i] += exp(at(x, i, j) - largest[i]);
    }
    return DT_OK;
}

static void merge_softmax(const dt_op_call *call, const dt_state *into, const dt_state *next) {
    double *largest = into->fields[0].data, *sum = into->fields[1].data;
    const double *next_largest = next->fields[0].data, *next_sum = next->fields[1].data;
    (void)call;
    for (int64_t i = 0; i < into->fields[0].n; i++) {
        double both = isnan(next_largest[i]) || next_largest[i] > largest[i] ? next_largest[i] : largest[i];
        double a = sum[i] == 0 ? 0 : sum[i] * exp(largest[i] - both);
        sum[i] = a + (next_sum[i] == 0 ? 0 : next_sum[i] * exp(next_largest[i] - both));
        largest[i] = both;
    }
}

static dt_status finish_softmax(dt_op_call *call, const dt_state *merged) {
    const dt_op_value *x = &call->inputs[0], *y = &call->outputs[0];
    const double *largest = merged->fields[0].data, *sum = merged->fields[1].data;
    for (int64_t i = 0; i < x->shape[0]; i++)
        for (int64_t j = 0; j < x->shape[1]; j++)
            set(y, i, j, exp(at(x, i, j) - largest[i]) / sum[i]);
    return DT_OK;
}

/* The kernel on whole rows is the same with a state of its own. */
static dt_status run_softmax(dt_op_call *call) {
    enum { MAX_ROWS = 4096 };
    static _Thread_local double memory[2][MAX_ROWS];
    dt_state state;
    if (call->inputs[0].shape[0] > MAX_ROWS)
        return dt_op_refuse(call, DT_ERR_UNSUPPORTED, "expected at most %d rows", MAX_ROWS);
    describe_rows(call, &state);
    for (int64_t i = 0; i < state.fields[0].n; i++) {
        memory[0][i] = -INFINITY;
        memory[1][i] = 0;
    }
    state.fields[0].data = memory[0];
    state.fields[1].data = memory[1];
    (void)begin_softmax(call, &state);
    return finish_softmax(call, &state);
}

static const dt_meet softmax_meet = {describe_rows, begin_softmax, merge_softmax, finish_softmax};
static const dt_op row_softmax = {
    .schema = "row_softmax(Tensor x) -> Tensor",
    .rule = "mn~->mn",
    .shape = shape_matrix,
    .kernel = run_softmax,
    .meet = &softmax_meet,
    .samples = "row_softmax(f64[3,5])\nrow_softmax(f64[0,4])\nrow_softmax(f64[2,1])",
};

/* A running sum along the columns: the sums of what precedes. */
static void describe_columns(const dt_op_call *call, dt_state *state) {
    state->n_fields = 1;
    state->fields[0] = (dt_state_field){.dtype = DT_F64, .n = call->inputs[0].shape[1], .identity = 0};
}

static dt_status begin_sums(dt_op_call *call, const dt_state *state) {
    const dt_op_value *x = &call->inputs[0];
    double *sums = state->fields[0].data;
    for (int64_t i = 0; i < x->shape[0]; i++)
        for (int64_t j = 0; j < x->shape[1]; j++)
            sums[j] += at(x, i, j);
    return DT_OK;
}

static void merge_sums(const dt_op_call *call, const dt_state *into, const dt_state *next) {
    double *sums = into->fields[0].data;
    const double *more = next->fields[0].data;
    (void)call;
    for (int64_t j = 0; j < into->fields[0].n; j++)
        sums[j] += more[j];
}

static dt_status finish_sums(dt_op_call *call, const dt_state *before) {
    const dt_op_value *x = &call->inputs[0], *y = &call->outputs[0];
    for (int64_t j = 0; j < x->shape[1]; j++) {
        double sum = before ? ((const double *)before->fields[0].data)[j] : 0;
        for (int64_t i = 0; i < x->shape[0]; i++)
            set(y, i, j, sum += at(x, i, j));
    }
    return DT_OK;
}
static dt_status run_sums(dt_op_call *call) { return finish_sums(call, NULL); }

static const dt_meet sums_meet = {describe_columns, begin_sums, merge_sums, finish_sums};
static const dt_op running_sum = {
    .schema = "running_sum(Tensor x) -> Tensor",
    .rule = "m>n!->mn", /* so that even tiny calls scan */
    .partial = DT_PARTIAL_LINEAR,
    .shape = shape_matrix,
    .kernel = run_sums,
    .meet = &sums_meet,
    .samples = "running_sum(f64[5,3])\nrunning_sum(f64[1,2])",
};

static int register_all(dt_ctx *ctx) {
    CHECK_OK(ctx, dt_op_register(ctx, &row_softmax));
    CHECK_OK(ctx, dt_op_register(ctx, &running_sum));
    return 0;
}

static void states__are_verified(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    assert_int_equal(register_all(ctx), 0);
    for (int i = 0; i < 2; i++)
        if (dt_op_verify(ctx, i ? "running_sum" : "row_softmax") != DT_OK)
            fail_msg("%s", dt_error_text(ctx));
    assert_int_equal(dt_close(ctx), 0);
}

/* Wrong in one function each. */
static void merge_without_rescaling(const dt_op_call *call, const dt_state *into, const dt_state *next) {
    double *largest = into->fields[0].data, *sum = into->fields[1].data;
    const double *next_largest = next->fields[0].data, *next_sum = next->fields[1].data;
    (void)call;
    for (int64_t i = 0; i < into->fields[0].n; i++) {
        sum[i] += next_sum[i];
        largest[i] = next_largest[i] > largest[i] ? next_largest[i] : largest[i];
    }
}
static void describe_with_zero(const dt_op_call *call, dt_state *state) {
    describe_rows(call, state);
    state->fields[0].identity = 1000;
}
static void describe_by_columns(const dt_op_call *call, dt_state *state) {
    describe_rows(call, state);
    state->fields[0].n = state->fields[1].n = call->inputs[0].shape[0] + call->inputs[0].shape[1];
}

static void states__that_are_wrong_are_found(void **state) {
    (void)state;
    static const dt_meet wrong[] = {
        {describe_rows, begin_softmax, merge_without_rescaling, finish_softmax},
        {describe_with_zero, begin_softmax, merge_softmax, finish_softmax},
        {describe_by_columns, begin_softmax, merge_softmax, finish_softmax},
    };
    static const char *const texts[] = {"expected", "expected", "have different sizes"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        dt_ctx *ctx = dt_init(NULL);
        dt_op op = row_softmax;
        op.meet = &wrong[i];
        assert_int_equal(dt_op_register(ctx, &op), DT_OK);
        assert_int_not_equal(dt_op_verify(ctx, "row_softmax"), DT_OK);
        assert_error_contains(ctx, dt_error_status(ctx), texts[i]);
        assert_error_contains(ctx, dt_error_status(ctx), "S(1) -> S(1)");
        assert_int_equal(dt_error_clear(ctx), DT_OK);
        assert_int_equal(dt_close(ctx), 0);
    }
}

/* Scans that are wrong in one function each. */
static void merge_without_adding(const dt_op_call *call, const dt_state *into, const dt_state *next) {
    (void)call;
    memcpy(into->fields[0].data, next->fields[0].data, (size_t)into->fields[0].n * sizeof(double));
}
static void describe_with_one(const dt_op_call *call, dt_state *state) {
    describe_columns(call, state);
    state->fields[0].identity = 1;
}
static dt_status finish_without_state(dt_op_call *call, const dt_state *before) {
    (void)before;
    return finish_sums(call, NULL);
}

static void scans__that_are_wrong_are_found(void **state) {
    (void)state;
    static const dt_meet wrong[] = {
        {describe_columns, begin_sums, merge_without_adding, finish_sums},
        {describe_with_one, begin_sums, merge_sums, finish_sums},
        {describe_columns, begin_sums, merge_sums, finish_without_state},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        dt_ctx *ctx = dt_init(NULL);
        dt_op op = running_sum;
        op.meet = &wrong[i];
        assert_int_equal(dt_op_register(ctx, &op), DT_OK);
        assert_int_not_equal(dt_op_verify(ctx, "running_sum"), DT_OK);
        assert_error_contains(ctx, dt_error_status(ctx), "S(0) -> S(0) is wrong");
        assert_int_equal(dt_error_clear(ctx), DT_OK);
        assert_int_equal(dt_close(ctx), 0);
    }
}

/* The root of the sum of squares, on every rank; the rule lacks a dim over which the ranks could meet. */
static dt_status shape_number(dt_op_call *call) { return dt_op_add_output(call, DT_F64, 0, NULL); }

static void describe_number(const dt_op_call *call, dt_state *state) {
    (void)call;
    state->n_fields = 1;
    state->fields[0] = (dt_state_field){.dtype = DT_F64, .n = 1, .identity = 0};
}

static dt_status begin_squares(dt_op_call *call, const dt_state *state) {
    const dt_op_value *x = &call->inputs[0];
    double *squares = state->fields[0].data;
    for (int64_t i = 0; i < x->shape[0]; i++)
        for (int64_t j = 0; j < x->shape[1]; j++)
            *squares += at(x, i, j) * at(x, i, j);
    return DT_OK;
}

static dt_status finish_root(dt_op_call *call, const dt_state *merged) {
    *(double *)call->outputs[0].data = sqrt(*(const double *)merged->fields[0].data);
    return DT_OK;
}

static dt_status run_root(dt_op_call *call) {
    double squares = 0;
    dt_state state = {1, {{.dtype = DT_F64, .n = 1, .identity = 0, .data = &squares}}};
    (void)begin_squares(call, &state);
    return finish_root(call, &state);
}

static const dt_meet root_meet = {describe_number, begin_squares, merge_sums, finish_root};

static void rows__by_which_ranks_could_meet_are_missing(void **state) {
    (void)state;
    static const char *const rules[] = {"m!n~->", "m~n~->"};
    for (int i = 0; i < 2; i++) {
        dt_ctx *ctx = dt_init(NULL);
        const dt_op op = {.schema = "root_of(Tensor x) -> Tensor",
                          .rule = rules[i],
                          .shape = shape_number,
                          .kernel = run_root,
                          .meet = &root_meet,
                          .samples = "root_of(f64[5,3])"};
        assert_int_equal(dt_op_register(ctx, &op), DT_OK);
        dt__arena arena = dt__arena_new(ctx);
        dt__verdict verdict;
        assert_int_equal(dt__verify(&arena, dt__op_find(ctx, "root_of"), &(dt__verify_options){0}, &verdict), DT_OK);
        bool found = false;
        for (int m = 0; m < verdict.n_missing; m++)
            found |= !strcmp(verdict.missing[m].row, "S(0) -> R (the ranks meet)");
        assert_int_equal(verdict.n_wrong, 0);
        assert_int_equal(found, i == 0);
        dt__arena_free(&arena);
        assert_int_equal(dt_close(ctx), 0);
    }
}

static void registration__needs_a_rule_and_functions_that_agree(void **state) {
    (void)state;
    static const dt_meet incomplete = {describe_rows, begin_softmax, NULL, finish_softmax};
    static const struct {
        const char *rule;
        const dt_meet *meet;
        const char *text;
    } refused[] = {
        {"mn~->mn", NULL,
         "row_softmax: the ranks meet (~) or scan (>) in the rule \"mn~->mn\": expected .meet in the descriptor, got "
         "none"},
        {"m>n->mn", NULL, "expected .meet in the descriptor, got none"},
        {"mn!->mn", &softmax_meet,
         "row_softmax: the descriptor has .meet: expected a rule with ~ or > after a dim, got \"mn!->mn\""},
        {NULL, &softmax_meet, "expected a rule with ~ or > after a dim, got \"\""},
        {"mn~->mn", &incomplete, "row_softmax: meet: expected describe, begin, merge and finish, got no merge"},
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        dt_ctx *ctx = dt_init(NULL);
        dt_op op = row_softmax;
        op.rule = refused[i].rule;
        op.meet = refused[i].meet;
        assert_int_equal(dt_op_register(ctx, &op), DT_ERR_VALUE);
        assert_error_contains(ctx, DT_ERR_VALUE, refused[i].text);
        assert_int_equal(dt_error_clear(ctx), DT_OK);
        assert_int_equal(dt_close(ctx), 0);
    }
}

static void describe_too_much(const dt_op_call *call, dt_state *state) {
    describe_rows(call, state);
    state->n_fields = DT_STATE_MAX_FIELDS + 1;
}
static void describe_too_many(const dt_op_call *call, dt_state *state) {
    describe_rows(call, state);
    state->fields[1].n = INT64_MAX / 4;
}

static void states__of_impossible_sizes_are_refused(void **state) {
    (void)state;
    static const dt_meet wrong[] = {
        {describe_too_much, begin_softmax, merge_softmax, finish_softmax},
        {describe_too_many, begin_softmax, merge_softmax, finish_softmax},
    };
    static const char *const texts[] = {"the state has 5 fields: expected 1 to 4",
                                        "field 2 of the state: expected a dtype and at most 2^48 numbers"};
    for (int i = 0; i < 2; i++) {
        dt_ctx *ctx = dt_init(&(dt_init_options){.transport = "fake", .world = 2});
        dt_mesh *mesh = dt_mesh_new(ctx, "2");
        dt_op op = row_softmax;
        op.meet = &wrong[i];
        assert_int_equal(dt_op_register(ctx, &op), DT_OK);
        dt_tensor *x = dt_ones(ctx, DT_SHAPE(8, 8), .dtype = DT_F64, .mesh = mesh, .place = "S(1)");
        assert_null(dt_call(ctx, "row_softmax", x));
        assert_error_contains(ctx, DT_ERR_VALUE, texts[i]);
        assert_int_equal(dt_error_clear(ctx), DT_OK);
        dt_mesh_release(mesh);
        assert_int_equal(dt_close(ctx), 0);
    }
}

static void exchanges__are_named_by_policies_and_traces(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(&(dt_init_options){.transport = "fake", .world = 4});
    dt_mesh *mesh = dt_mesh_new(ctx, "4");
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(512, 1024), .mesh = mesh, .place = "S(1)");
    assert_int_equal(dt_trace_begin(ctx, NULL), DT_OK);
    assert_non_null(dt_softmax(x, 1));
    assert_non_null(dt_cumsum(x, 1));
    assert_int_equal(dt_trace_end(ctx), DT_OK);
    assert_non_null(strstr(dt_trace_text(ctx), "\n  meet of 4 ranks: all_gather 1, 24576 bytes\n"));
    assert_non_null(strstr(dt_trace_text(ctx), "\n  scan of 4 ranks: all_gather 1, 12288 bytes\n"));
    assert_int_equal(dt_comm_policy(ctx, DT_COMM_ERROR), DT_OK);
    assert_null(dt_softmax(x, 1));
    assert_error_contains(ctx, DT_ERR_PLACEMENT,
                          "merges the states of 4 ranks, because a dim that it reduces is sharded, which the "
                          "communication policy forbids");
    assert_int_equal(dt_error_clear(ctx), DT_OK);
    assert_null(dt_cumsum(x, 1));
    assert_error_contains(ctx, DT_ERR_PLACEMENT, "scans the states of 4 ranks");
    assert_int_equal(dt_error_clear(ctx), DT_OK);
    dt_mesh_release(mesh);
    assert_int_equal(dt_close(ctx), 0);
}

/* A call on a mesh against the same call on one rank; twice, the second from the cache. */
struct request {
    const char *op, *mesh, *place;
    int64_t rows, columns;
};

static int compare_with_one_rank(dt_ctx *ctx, void *arg) {
    const struct request *request = arg;
    dt_mesh *mesh = dt_mesh_new(ctx, request->mesh);
    CHECK(mesh, "%s", dt_error_text(ctx));
    if (register_all(ctx))
        return 1;
    for (int again = 0; again < 2; again++) {
        dt_tensor *x = dt_randn(ctx, DT_SHAPE(request->rows, request->columns), .dtype = DT_F64, .mesh = mesh,
                                .place = request->place);
        CHECK_OK(ctx, dt_comm_stats_begin(ctx));
        dt_tensor *y = dt_call(ctx, request->op, x);
        CHECK(y, "%s", dt_error_text(ctx));
        dt_comm_statistics counts = dt_comm_stats(ctx, &(dt_comm_filter){.collective = "all_gather"});
        dt_comm_statistics all = dt_comm_stats(ctx, NULL);
        dt_comm_stats_end(ctx);
        char text[128], expected_text[128];
        (void)dt_tensor_text(y, sizeof text, text);
        (void)dt_tensor_text(x, sizeof expected_text, expected_text);
        CHECK(!strcmp(text, expected_text), "%s: expected %s, got %s", request->op, expected_text, text);
        CHECK(counts.n == 1 && all.n == 1, "%lld exchanges", (long long)all.n);
        dt_tensor *expected = dt_call(ctx, request->op, dt_full_tensor(x));
        const double *a = dt_data(expected), *b = dt_data(dt_full_tensor(y));
        for (int64_t i = 0; i < request->rows * request->columns; i++)
            CHECK(fabs(a[i] - b[i]) <= 1e-12 * (1 + fabs(a[i])),
                  "%s on mesh(%s) %s: element %lld: expected %g, got %g", request->op, request->mesh, request->place,
                  (long long)i, a[i], b[i]);
    }
    dt_mesh_release(mesh);
    return 0;
}

static void states__give_the_values_of_one_rank(void **state) {
    (void)state;
    static const struct {
        int64_t n;
        struct request request;
    } requests[] = {
        {2, {"row_softmax", "2", "S(1)", 16, 97}},        {3, {"row_softmax", "3", "S(1)", 16, 64}},
        {5, {"row_softmax", "5", "S(1)", 64, 101}},       {4, {"row_softmax", "2,2", "S(1),S(1)", 64, 111}},
        {4, {"row_softmax", "2,2", "S(0),S(1)", 50, 60}}, {2, {"row_softmax", "2", "S(1)", 700, 900}},
        {3, {"running_sum", "3", "S(0)", 700, 800}},      {2, {"running_sum", "2", "S(0)", 300, 200}},
        {4, {"running_sum", "2,2", "S(0),S(0)", 90, 90}}, {5, {"running_sum", "5", "S(0)", 6, 99}},
    };
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++)
        run_ranks(requests[i].n, compare_with_one_rank, (void *)&requests[i].request);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(states__are_verified),
        cmocka_unit_test(states__that_are_wrong_are_found),
        cmocka_unit_test(scans__that_are_wrong_are_found),
        cmocka_unit_test(rows__by_which_ranks_could_meet_are_missing),
        cmocka_unit_test(registration__needs_a_rule_and_functions_that_agree),
        cmocka_unit_test(states__of_impossible_sizes_are_refused),
        cmocka_unit_test(exchanges__are_named_by_policies_and_traces),
        cmocka_unit_test(states__give_the_values_of_one_rank),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
