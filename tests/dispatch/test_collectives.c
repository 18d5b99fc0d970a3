/* SPDX-License-Identifier: Apache-2.0
 *
 * Number and kind of the collectives that known calls take, and the placements of their results: published cases
 * first. Fake worlds: the selection does not depend on the transport.
 */
#include "dispatch/calls.h"

#include "dtensor/debug.h"

enum { MAX_TENSORS = 3 };

typedef struct known_call {
    const char *id, *call;
    int64_t mesh[3];
    const char *tensors[MAX_TENSORS]; /* "8,4 S(0)", "8,4 bool S(0)" */
    const char *result;               /* placements of the first output */
    const char *collectives;          /* "all_gather 1", "" for nothing */
} known_call;

static const known_call cases[] = {
    {"CMR-001", "mm($1; $2)", {4}, {"8,4 R", "4,8 S(1)"}, "S(1)", ""},
    {"CMR-002", "mm($1; $2)", {4}, {"8,4 S(0)", "4,8 R"}, "S(0)", ""},
    {"CMR-003", "mm($1; $2)", {4}, {"8,4 S(1)", "4,8 S(0)"}, "P(sum)", ""},
    {"CMR-004", "mul($1; $2)", {4}, {"8,4 S(0)", "8,4 S(0)"}, "S(0)", ""},
    {"CMR-005", "mul($1; $2)", {4}, {"8,4,2 S(1)", "2 R"}, "S(1)", ""},
    {"CMR-006", "mul($1; $2)", {4}, {"8,4,2 S(0)", "1,2 R"}, "S(0)", ""},
    {"CMR-007", "mm($1; $2)", {2, 2}, {"8,4 S(0),R", "4,8 R,S(1)"}, "S(0),S(1)", ""},
    {"CMR-009", "mm($1; $2)", {2, 2}, {"8,4 S(0),P(sum)", "4,8 R,R"}, "S(0),P(sum)", ""},
    {"CMR-009", "add($1; $2)", {2, 2}, {"8,4 S(0),P(sum)", "8,4 S(0),R"}, "S(0),P(sum)", ""},
    {"CMR-010", "mm($1; $2)", {4}, {"64,96 S(0)", "96,4 S(0)"}, "S(0)", "all_gather 1"},
    {"CMR-012", "where($1; $2; $3)", {4}, {"8 bool S(0)", "1 R", "1,1 R"}, "S(1)", ""},
    {"CMR-014", "add($1; $2)", {2, 2}, {"20,6 S(1),R", "6 S(0),R"}, "S(1),R", ""},
    {"CMR-016", "add_($1; $2)", {2, 2}, {"12,4,8 S(0),S(2)", "12,1,8 S(2),R"}, "S(0),S(2)", "all_to_all 1"},
    {"STR-015", "mm($1; $2)", {4}, {"6,8 R", "8,12 R"}, "R", ""},
    {"STR-015", "mm($1; $2)", {4}, {"6,8 S(1)", "8,12 S(0)"}, "P(sum)", ""},
    {"STR-016", "bmm($1; $2)", {4}, {"8,6,8 S(0)", "8,8,12 S(0)"}, "S(0)", ""},
    {"STR-016", "bmm($1; $2)", {4}, {"8,6,8 S(2)", "8,8,12 S(1)"}, "P(sum)", ""},
    {"STR-016", "bmm($1; $2)", {4}, {"8,6,8 S(1)", "8,8,12 R"}, "S(1)", ""},
    {"SDS-003", "add($1; $2)", {2, 2, 2}, {"8,8,8 R,S(0),S(1)", "8,8,8 S(0),R,R"}, NULL, NULL},
    {"SDS-004",
     "cat({$1; $2}; 0)",
     {2, 2, 2},
     {"8,8,8 R,R,S(1)", "8,8,8 S(1),S(1),S(1)"},
     "S(1),S(1),S(1)",
     "all_to_all 1"},
    {"SDS-018", "mm($1; $2)", {2, 2, 2}, {"64,32 S(0),R,R", "32,64 R,R,R"}, "S(0),R,R", ""},
    {"SDS-021", "mm($1; $2)", {2, 2}, {"64,32 S(0),R", "32,64 R,S(0)"}, NULL, NULL},
    {"an elementwise op on a sum reduces it", "relu($1)", {4}, {"8,4 P(sum)"}, "S(0)", "reduce_scatter 1"},
    {"a linear op does not", "neg($1)", {4}, {"8,4 P(sum)"}, "P(sum)", ""},
    {"a monotone op keeps a partial max", "relu($1)", {4}, {"8,4 P(max)"}, "P(max)", ""},
    {"a sum over a sharded dim is partial", "sum($1; [0])", {4}, {"8,4 S(0)"}, "P(sum)", ""},
    {"a sum of another dim is not", "sum($1; [1])", {4}, {"8,4 S(0)"}, "S(0)", ""},
    {"a view keeps its shards", "view($1; [8,2,2])", {4}, {"8,4 S(0)"}, "S(0)", ""},
    {"columns, then rows", "linear($1; $2)", {4}, {"8,16 S(1)", "4,16 S(1)"}, "P(sum)", ""},
};
enum { N_CASES = sizeof cases / sizeof *cases };

static dt_tensor *tensor_of(dt_ctx *ctx, dt_mesh *mesh, const char *text) {
    int64_t sizes[4];
    int n = 0, used = 0;
    for (; sscanf(text, "%" SCNd64 "%n", &sizes[n], &used) == 1; n++)
        text += used + (text[used] == ',');
    text += strspn(text, " ");
    dt_dtype dtype = strncmp(text, "bool ", 5) == 0 ? DT_BOOL : DT_F32;
    text += dtype == DT_BOOL ? 5 : 0;
    return dt_ones(ctx, TENSORS_SHAPE(n, sizes), .dtype = dtype, .mesh = mesh, .place = text);
}

/* "all_gather 1, all_to_all 2" */
static const char *collectives(const dt_ctx *ctx) {
    static _Thread_local char text[256];
    size_t n = 0;
    text[0] = '\0';
    for (int c = 0; c < DT_N_COLLECTIVES; c++) {
        const char *word = dt_collective_name((dt_collective)c);
        int64_t times = dt_comm_stats(ctx, &(dt_comm_filter){.collective = word}).n;
        if (times)
            n += (size_t)snprintf(text + n, sizeof text - n, "%s%s %" PRId64, n ? ", " : "", word, times);
    }
    return text;
}

static void run_case(const known_call *known) {
    int n = known->mesh[2] ? 3 : known->mesh[1] ? 2 : 1;
    int64_t ranks = 1;
    for (int m = 0; m < n; m++)
        ranks *= known->mesh[m];
    dt_ctx *ctx = dt_init(&(dt_init_options){.transport = "fake", .world = ranks, .rank = ranks - 1});
    assert_non_null(ctx);
    dt_mesh *mesh = dt_mesh_from_shape(ctx, known->mesh, n, NULL);
    dt_tensor *tensors[MAX_TENSORS] = {NULL};
    for (int i = 0; i < MAX_TENSORS && known->tensors[i]; i++)
        tensors[i] = tensor_of(ctx, mesh, known->tensors[i]);
    for (int again = 0; again < 2; again++) {
        assert_int_equal(dt_comm_stats_begin(ctx), DT_OK);
        dt_tensor *result = calls_output(ctx, known->call, tensors);
        if (!result)
            fail_msg("%s: %s: %s", known->id, known->call, dt_error_text(ctx));
        if (known->result && strcmp(calls_placements(result), known->result) != 0)
            fail_msg("%s: %s: expected %s, got %s", known->id, known->call, known->result, calls_placements(result));
        if (known->collectives && strcmp(collectives(ctx), known->collectives) != 0)
            fail_msg("%s: %s: expected '%s', got '%s'", known->id, known->call, known->collectives, collectives(ctx));
        if (!known->collectives) /* one collective at most, whichever of several it is */
            assert_in_range(dt_comm_stats(ctx, NULL).n, 0, 1);
    }
    dt_mesh_release(mesh);
    assert_int_equal(dt_close(ctx), 0);
}

static void collectives__of_known_calls(void **state) {
    (void)state;
    for (int i = 0; i < N_CASES; i++)
        run_case(&cases[i]);
}

/* User ops. */
static dt_status shape_same(dt_op_call *call) {
    return dt_op_add_output(call, call->inputs[0].dtype, call->inputs[0].n_dims, call->inputs[0].shape);
}
static dt_status add_all(dt_op_call *call) {
    float *out = call->outputs[0].data;
    int64_t n = 1;
    for (int d = 0; d < call->outputs[0].n_dims; d++)
        n *= call->outputs[0].shape[d];
    for (int64_t i = 0; i < n; i++) {
        out[i] = 0;
        for (int k = 0; k < call->n_inputs; k++)
            out[i] += ((const float *)call->inputs[k].data)[i];
    }
    return DT_OK;
}
static const dt_op op_two = {
    .schema = "test_two(Tensor a, Tensor b) -> Tensor", .shape = shape_same, .kernel = add_all};
static const dt_op op_list = {
    .schema = "test_list(Tensor a, Tensor[] more) -> Tensor", .shape = shape_same, .kernel = add_all};
static const dt_op op_no_kernel = {.schema = "test_no_kernel(Tensor a) -> Tensor", .shape = shape_same};

/* STR-018, STR-019, SDS-030: an op without rows gathers, runs and returns Replicate. An input of S(0),S(1) takes one
 * all-gather over both mesh dims, or one over each. */
static int without_rows(dt_ctx *ctx, void *arg) {
    (void)arg;
    int64_t sizes[] = {2, 2};
    dt_mesh *mesh = dt_mesh_from_shape(ctx, sizes, 2, NULL);
    CHECK_OK(ctx, dt_op_register(ctx, &op_two));
    CHECK_OK(ctx, dt_op_register(ctx, &op_list));
    dt_tensor *whole = calls_counting(ctx, DT_F32, DT_SHAPE(8, 16, 32), 0, 1);
    dt_tensor *a = calls_distribute(whole, mesh, "S(0),S(1)"), *b = calls_distribute(whole, mesh, "S(1),S(1)");
    CHECK_OK(ctx, dt_comm_stats_begin(ctx));
    dt_tensor *y = CALL(ctx, "test_two($1; $2)", a, a);
    CHECK(y && !strcmp(calls_placements(y), "R,R"), "%s %s", calls_placements(y), dt_error_text(ctx));
    CHECK(dt_comm_stats(ctx, &(dt_comm_filter){.collective = "all_gather"}).n == dt_comm_stats(ctx, NULL).n &&
              dt_comm_stats(ctx, NULL).n >= 2 && dt_comm_stats(ctx, NULL).n <= 4,
          "%s", collectives(ctx));
    dt_tensor *z = CALL(ctx, "test_list($1; {$2; $1})", a, b);
    CHECK(z && !strcmp(calls_placements(z), "R,R"), "%s %s", calls_placements(z), dt_error_text(ctx));
    dt_tensor *two = dt_to_local(y), *three = dt_to_local(z);
    for (int64_t i = 0; i < 8 * 16 * 32; i += 7)
        CHECK(calls_element(two, i) == 2 * (double)i && calls_element(three, i) == 3 * (double)i,
              "%g and %g at %" PRId64, calls_element(two, i), calls_element(three, i), i);
    dt_mesh_release(mesh);
    return 0;
}

static void collectives__an_op_without_rows_gathers(void **state) {
    (void)state;
    run_ranks(4, without_rows, NULL);
}

/* STR-022, SDS-030 */
static void collectives__an_op_without_a_kernel_is_refused(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(&(dt_init_options){.transport = "self"});
    assert_int_equal(dt_op_register(ctx, &op_no_kernel), DT_OK);
    assert_null(CALL(ctx, "test_no_kernel($1)", dt_ones(ctx, DT_SHAPE(3))));
    assert_error_contains(ctx, DT_ERR_UNSUPPORTED, "test_no_kernel: the op has no kernel");
    assert_int_equal(dt_error_clear(ctx), DT_OK);
    assert_null(CALL(ctx, "test_unknown($1)", dt_ones(ctx, DT_SHAPE(3))));
    assert_error_contains(ctx, DT_ERR_OP, "test_unknown");
    assert_int_equal(dt_error_clear(ctx), DT_OK);
    assert_int_equal(dt_close(ctx), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(collectives__of_known_calls),
        cmocka_unit_test(collectives__an_op_without_rows_gathers),
        cmocka_unit_test(collectives__an_op_without_a_kernel_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
