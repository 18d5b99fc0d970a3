/* SPDX-License-Identifier: Apache-2.0
 *
 * Arguments that are read from values (dt_op.read): the classes of one_hot, the indices of tensor_split and the start
 * of narrow as tensors, against the calls that pass numbers. Values change from call to call, so that a cached decision
 * must not return the shapes of an earlier one. Ranks 1 to 5 on shm, meshes of one and two dims, ranks outside a mesh.
 */
#include "dispatch/calls.h"

#include "dtensor/autograd.h"
#include "dtensor/debug.h"
#include "dtensor/dtensor.h"
#include "support/ranks.h"

#include <string.h>

static dt_tensor *integers(dt_ctx *ctx, dt_shape shape, const int64_t *values) {
    return dt_from_memory(ctx, values, shape, DT_I64);
}

static dt_tensor *counting(dt_ctx *ctx, int64_t m, int64_t n) {
    return dt_reshape(dt_arange(ctx, 0, (double)(m * n), 1), DT_SHAPE(m, n));
}

static dt_mesh *line(dt_ctx *ctx) {
    int64_t n = dt_world(ctx);
    return dt_mesh_from_shape(ctx, &n, 1, NULL);
}

static int64_t n_collectives(dt_ctx *ctx, const char *op) {
    return dt_comm_stats(ctx, &(dt_comm_filter){.op = op}).n;
}

/* One value on each mesh, with each placement; the largest index grows from call to call. */
static int classes_on(dt_ctx *ctx, dt_mesh *mesh, int n_places, const char *const *places) {
    for (int p = 0; p < n_places; p++)
        for (int64_t largest = 3; largest < 8; largest += 2) {
            dt_scope scope = dt_scope_begin(ctx);
            int64_t values[15];
            for (int i = 0; i < 15; i++)
                values[i] = i == 13 ? largest : i % 4;
            dt_tensor *value = integers(ctx, DT_SHAPE(5, 3), values);
            dt_tensor *x = dt_distribute_tensor(value, mesh, places[p], .everywhere = true);
            dt_tensor *expected = dt_one_hot(value, largest + 1);
            CHECK(tensors_equal(dt_one_hot(value, -1), expected), "plain: %s", dt_error_text(ctx));
            CHECK(tensors_equal(dt_full_tensor(dt_one_hot(x, -1)), expected), "%s, %lld: %s", places[p],
                  (long long)largest, dt_error_text(ctx));
            dt_scope_end(scope);
        }
    return 0;
}

static int count_classes(dt_ctx *ctx, void *arg) {
    static const char *const places[] = {"S(0)", "S(1)", "R", "P(sum)", "_S(0,2)"}, *const pairs[] = {
                                                                                        "S(0),S(1)", "S(0),S(0)",
                                                                                        "R,S(1)", "P(sum),S(0)",
                                                                                        "P(sum),P(sum)"};
    (void)arg;
    dt_mesh *mesh = line(ctx);
    if (classes_on(ctx, mesh, 5, places))
        return 1;
    dt_mesh_release(mesh);
    if (dt_world(ctx) != 4)
        return 0;
    mesh = dt_mesh_new(ctx, "2x2");
    int failed = classes_on(ctx, mesh, 5, pairs);
    dt_mesh_release(mesh);
    return failed;
}

static void one_hot__counts_classes_with_any_placement(void **state) {
    (void)state;
    for (int n = 1; n <= 5; n++)
        run_ranks(n, count_classes, NULL);
}

/* The largest index of a sharded tensor is one reduction, under the name of the op, and a number of elements that does
 * not depend on the tensor; of a replicated one it is read in place. Nothing but the result is left. */
static int count_transfers(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh = line(ctx);
    for (int again = 0; again < 2; again++) {
        dt_scope scope = dt_scope_begin(ctx);
        dt_tensor *x = dt_full(ctx, DT_SHAPE(3000), 1, .dtype = DT_I64, .mesh = mesh, .place = "S(0)");
        dt_tensor *whole = dt_full(ctx, DT_SHAPE(3000), 1, .dtype = DT_I64, .mesh = mesh);
        int64_t before = dt_heap_stats(ctx).n_live;
        CHECK_OK(ctx, dt_comm_stats_begin(ctx));
        CHECK(dt_one_hot(x, -1), "%s", dt_error_text(ctx));
        CHECK(n_collectives(ctx, NULL) == 1 && n_collectives(ctx, "one_hot") == 1, "%s", dt_comm_stats_text(ctx));
        CHECK(dt_comm_stats(ctx, &(dt_comm_filter){.collective = "all_reduce"}).bytes <= 64, "%s",
              dt_comm_stats_text(ctx));
        CHECK(dt_one_hot(whole, -1), "%s", dt_error_text(ctx));
        CHECK(n_collectives(ctx, NULL) == 1, "%s", dt_comm_stats_text(ctx));
        dt_comm_stats_end(ctx);
        /* the first exchange allocates its scratch */
        CHECK(!again || dt_heap_stats(ctx).n_live == before + 2, "expected %lld blocks, got %lld",
              (long long)before + 2, (long long)dt_heap_stats(ctx).n_live);
        dt_scope_end(scope);
    }
    dt_mesh_release(mesh);
    return 0;
}

static void reading__sends_one_number_and_leaves_nothing(void **state) {
    (void)state;
    run_ranks(3, count_transfers, NULL);
}

/* Views, and gradients of their sum times themselves, against the call with numbers. */
static int same_split(dt_ctx *ctx, dt_tensor *x, dt_tensor *at, int n, dt_tensor *const *expected) {
    enum { MAX = 8 };
    dt_tensor *views[MAX] = {0}, *squares[MAX] = {0}, *grad = NULL;
    CHECK_OK(ctx, dt_set_requires_grad(x, true));
    int n_views = dt_tensor_split_tensor_indices_or_sections(x, at, views, MAX, .dim = DT_INT(-2));
    CHECK(n_views == n, "expected %d views, got %d: %s", n, n_views, dt_error_text(ctx));
    for (int i = 0; i < n; i++) {
        CHECK(tensors_equal(dt_full_tensor(views[i]), expected[i]), "view %d: %s", i, dt_error_text(ctx));
        squares[i] = dt_sum(dt_mul(views[i], views[i]));
    }
    dt_tensors of = {n, squares}, to = {1, &x};
    CHECK_OK(ctx, dt_gradients(of, to, &grad));
    CHECK(tensors_equal(dt_full_tensor(grad), dt_full_tensor(dt_add(dt_detach(x), dt_detach(x)))), "gradient");
    return 0;
}

static int split_by_tensors(dt_ctx *ctx, void *arg) {
    static const char *const places[] = {"S(0)", "S(1)", "R", "P(sum)"}, *const index_places[] = {"S(0)", "R",
                                                                                                  "P(sum)"};
    static const int64_t indices[][3] = {{1, 2, 5}, {-2, 6, 9}, {4, 6, 6}};
    (void)arg;
    dt_mesh *mesh = line(ctx);
    for (int k = 0; k < 3 * 4 * 3; k++) {
        const int64_t *list = indices[k % 3];
        const char *place = places[k / 3 % 4], *index_place = index_places[k / 12];
        dt_scope scope = dt_scope_begin(ctx);
        dt_tensor *value = counting(ctx, 7, 4), *expected[8];
        dt_tensor *x = dt_distribute_tensor(value, mesh, place, .everywhere = true);
        dt_ints at_rows = {.n = 3, .list = list};
        int n = dt_tensor_split_indices(value, at_rows, expected, 8);
        dt_tensor *at = dt_to(integers(ctx, DT_SHAPE(3), list), k % 2 ? DT_I64 : DT_I32);
        at = dt_distribute_tensor(at, mesh, index_place, .everywhere = true);
        if (same_split(ctx, x, at, n, expected))
            CHECK(false, "%s at %s: %lld", place, index_place, (long long)list[0]);
        dt_tensor *sections =
            dt_full(ctx, DT_SHAPE(), 1 + k % 4, .dtype = DT_I64, .mesh = mesh, .place = k / 12 ? "P(sum)" : "R");
        n = dt_tensor_split(value, 1 + k % 4, expected, 8);
        x = dt_distribute_tensor(value, mesh, place, .everywhere = true);
        if (same_split(ctx, x, sections, n, expected))
            CHECK(false, "%s, %d sections", place, n);
        dt_scope_end(scope);
    }
    dt_mesh_release(mesh);
    return 0;
}

static void tensor_split__reads_sections_and_indices(void **state) {
    (void)state;
    for (int n = 1; n <= 5; n++)
        run_ranks(n, split_by_tensors, NULL);
}

/* Every second element of a longer list; what is not moved is a view of the tensor. */
static int split_in_place(dt_ctx *ctx, void *arg) {
    static const int64_t list[] = {2, 0, 3, 0, 5, 0};
    (void)arg;
    dt_mesh *mesh = line(ctx);
    dt_tensor *views[8], *plain[8], *value = counting(ctx, 6, 4);
    dt_tensor *strided = dt_slice(integers(ctx, DT_SHAPE(6), list), 0, 0, 6, 2);
    int n = dt_tensor_split_tensor_indices_or_sections(value, strided, plain, 8);
    CHECK(n == 4 && dt_tensor_shares(plain[2], value) && dt_tensor_size(plain[2], 0) == 2, "%d: %s", n,
          dt_error_text(ctx));
    dt_tensor *x = dt_distribute_tensor(value, mesh, "S(1)", .everywhere = true);
    n = dt_tensor_split_tensor_indices_or_sections(x, dt_distribute_tensor(strided, mesh, "R", .everywhere = true),
                                                   views, 8);
    CHECK(n == 4 && dt_tensor_shares(views[2], x), "%d: %s", n, dt_error_text(ctx));
    for (int i = 0; i < 4; i++)
        CHECK(tensors_equal(dt_full_tensor(views[i]), plain[i]), "view %d", i);
    dt_tensor *none = dt_empty(ctx, DT_SHAPE(0), .dtype = DT_I64, .mesh = mesh, .place = "S(0)");
    CHECK(dt_tensor_split_tensor_indices_or_sections(x, none, views, 8) == 1, "%s", dt_error_text(ctx));
    dt_mesh_release(mesh);
    return 0;
}

static void tensor_split__makes_views(void **state) {
    (void)state;
    run_ranks(1, split_in_place, NULL);
    run_ranks(3, split_in_place, NULL);
}

/* A start that was read is like one that is passed: a sharded dim is fetched in windows, not gathered. */
static int narrow_along_shards(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh = line(ctx);
    dt_tensor *value = counting(ctx, 600, 4), *x = dt_distribute_tensor(value, mesh, "S(0)", .everywhere = true);
    for (int64_t start = 100; start < 104; start++) {
        dt_tensor *from = dt_full(ctx, DT_SHAPE(), (double)start, .dtype = DT_I64, .mesh = mesh);
        CHECK_OK(ctx, dt_comm_stats_begin(ctx));
        dt_tensor *by_tensor = dt_narrow_tensor(x, 0, from, 300);
        int64_t bytes = dt_comm_stats(ctx, NULL).bytes;
        CHECK_OK(ctx, dt_comm_stats_begin(ctx));
        dt_tensor *by_number = dt_narrow(x, 0, start, 300);
        int64_t expected = dt_comm_stats(ctx, NULL).bytes;
        dt_comm_stats_end(ctx);
        dt_comm_stats_end(ctx);
        CHECK(by_tensor && by_tensor->spec == by_number->spec, "%s", dt_error_text(ctx));
        CHECK(bytes == expected, "expected %lld bytes, got %lld", (long long)expected, (long long)bytes);
        CHECK(tensors_equal(dt_full_tensor(by_tensor), dt_narrow(value, 0, start, 300)), "%lld", (long long)start);
    }
    dt_mesh_release(mesh);
    return 0;
}

static void narrow__fetches_windows_from_a_start_that_is_read(void **state) {
    (void)state;
    run_ranks(4, narrow_along_shards, NULL);
}

/* Ranks outside the mesh have no values; of a plain tensor every rank has them. */
static int read_outside(dt_ctx *ctx, void *arg) {
    static const int64_t values[] = {0, 4, 2}, one = 1;
    (void)arg;
    dt_mesh *mesh = dt_mesh_new(ctx, "[0,1]");
    bool outside = dt_rank(ctx) > 1;
    dt_tensor *value = integers(ctx, DT_SHAPE(3), values), *views[8];
    dt_tensor *x = dt_distribute_tensor(value, mesh, "S(0)", .everywhere = true), *y = dt_one_hot(x, -1);
    if (outside) {
        CHECK(!y && dt_error_status(ctx) == DT_ERR_MESH && strstr(dt_error_text(ctx), "ranks outside the mesh"), "%s",
              dt_error_text(ctx));
        CHECK_OK(ctx, dt_error_clear(ctx));
    } else
        CHECK(y && tensors_equal(dt_full_tensor(y), dt_one_hot(value, 5)), "%s", dt_error_text(ctx));
    dt_tensor *at = dt_reshape(integers(ctx, DT_SHAPE(1), &one), DT_SHAPE());
    CHECK(dt_tensor_split_tensor_indices_or_sections(x, at, views, 8) == 1, "%s", dt_error_text(ctx));
    CHECK(dt_tensor_size(views[0], 0) == 3, "%s", dt_error_text(ctx));
    dt_mesh_release(mesh);
    return 0;
}

static void reading__needs_ranks_of_the_mesh(void **state) {
    (void)state;
    run_ranks(3, read_outside, NULL);
}

/* The error of a call that returned NULL or -1; cleared. */
static int refused(dt_ctx *ctx, bool fails, dt_status status, const char *text) {
    CHECK(fails && dt_error_status(ctx) == status && strstr(dt_error_text(ctx), text), "expected %s: %s, got: %s",
          dt_status_name(status), text, dt_error_text(ctx));
    CHECK_OK(ctx, dt_error_clear(ctx));
    return 0;
}

static bool splits(dt_tensor *x, dt_tensor *at) {
    dt_tensor *views[8];
    return dt_tensor_split_tensor_indices_or_sections(x, at, views, 8) >= 0;
}

static int refuse_values(dt_ctx *ctx, void *arg) {
    static const int64_t two[] = {1, 2};
    (void)arg;
    dt_mesh *mesh = line(ctx), *other = dt_mesh_new(ctx, "[1,0]");
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(4), .mesh = mesh, .place = "S(0)");
    dt_tensor *empty = dt_empty(ctx, DT_SHAPE(0, 3), .dtype = DT_I64, .mesh = mesh, .place = "S(1)");
    dt_tensor *zero = dt_full(ctx, DT_SHAPE(), 0, .dtype = DT_I64, .mesh = mesh, .place = "P(sum)");
    dt_tensor *grid = dt_full(ctx, DT_SHAPE(2, 1), 1, .dtype = DT_I64, .mesh = mesh);
    dt_tensor *plain = integers(ctx, DT_SHAPE(2), two);
    dt_tensor *elsewhere = dt_full(ctx, DT_SHAPE(2), 1, .dtype = DT_I64, .mesh = other);
    bool failed =
        refused(ctx, !dt_one_hot(empty, -1), DT_ERR_VALUE, "num_classes: there is no largest index") ||
        refused(ctx, !dt_one_hot(x, -1), DT_ERR_DTYPE, "expected indices of dtype i64, got f32") ||
        refused(ctx, !dt_one_hot(grid, 0), DT_ERR_VALUE, "num_classes: expected at least 1, or -1") ||
        refused(ctx, !dt_one_hot(grid, -2), DT_ERR_VALUE, "num_classes: expected at least 1, or -1") ||
        refused(ctx, !splits(x, zero), DT_ERR_VALUE, "sections: expected at least 1, got 0") ||
        refused(ctx, !splits(x, x), DT_ERR_VALUE, "expected an integer tensor with at most one dim, got f32[4]") ||
        refused(ctx, !splits(x, grid), DT_ERR_VALUE,
                "expected an integer tensor with at most one dim, got i64[2,1]") ||
        refused(ctx, !splits(x, plain), DT_ERR_PLACEMENT, "is plain and") ||
        refused(ctx, !splits(x, elsewhere), DT_ERR_MESH, "are on different meshes") ||
        refused(ctx, !splits(x, NULL), DT_ERR_VALUE, "argument 2 of tensor_split is NULL") ||
        refused(ctx, !splits(NULL, zero), DT_ERR_VALUE, "argument 1 of tensor_split is NULL") ||
        refused(ctx, !dt_narrow_tensor(x, 0, dt_reshape(grid, DT_SHAPE(2)), 1), DT_ERR_VALUE,
                "'start': expected an integer, got a list");
    CHECK(!dt_one_hot(NULL, -1) && !dt_failed(ctx), "%s", dt_error_text(ctx));
    dt_mesh_release(mesh);
    dt_mesh_release(other);
    return failed;
}

static void values__are_checked_alike_on_all_ranks(void **state) {
    (void)state;
    run_ranks(2, refuse_values, NULL);
}

/* As with a number of classes that is passed: the error of the rank that has the index reaches the others. */
static int refuse_negative(dt_ctx *ctx, void *arg) {
    static const int64_t values[] = {0, 1, -3};
    (void)arg;
    dt_mesh *mesh = line(ctx);
    for (int all = 0; all < 2; all++) {
        dt_tensor *value = all ? dt_full(ctx, DT_SHAPE(3), -3, .dtype = DT_I64) : integers(ctx, DT_SHAPE(3), values);
        dt_tensor *x = dt_distribute_tensor(value, mesh, "S(0)", .everywhere = true);
        dt_tensor *full = dt_full_tensor(dt_one_hot(x, -1));
        CHECK(!full && strstr(dt_error_text(ctx), "index -3 is out of range: expected 0 to "), "%s",
              dt_error_text(ctx));
        CHECK_OK(ctx, dt_error_clear(ctx));
    }
    dt_mesh_release(mesh);
    return 0;
}

static void one_hot__refuses_negative_indices(void **state) {
    (void)state;
    run_ranks(1, refuse_negative, NULL);
    run_ranks(3, refuse_negative, NULL);
}

/* What a policy has to say about what is read; what the program moves before, or by a use placement, is its own. */
static int obey_policy(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh = line(ctx);
    dt_tensor *x = dt_full(ctx, DT_SHAPE(4), 2, .dtype = DT_I64, .mesh = mesh, .place = "S(0)");
    dt_tensor *used = dt_full(ctx, DT_SHAPE(2), 2, .dtype = DT_I64, .mesh = mesh, .place = "S(0)", .use = "R");
    dt_tensor *w = dt_ones(ctx, DT_SHAPE(4), .mesh = mesh);
    dt_scope scope = dt_scope_begin(ctx);
    CHECK_OK(ctx, dt_comm_policy(ctx, DT_COMM_ERROR));
    if (refused(ctx, !dt_one_hot(x, -1), DT_ERR_PLACEMENT, "reads num_classes from i64[] P(max) on mesh(3)") ||
        refused(ctx, !splits(w, x), DT_ERR_PLACEMENT, "which the communication policy forbids"))
        return 1;
    CHECK(splits(w, used), "%s", dt_error_text(ctx));
    CHECK(dt_one_hot(dt_redistribute(x, "R"), -1), "%s", dt_error_text(ctx));
    dt_scope_end(scope);
    CHECK(dt_one_hot(x, -1), "%s", dt_error_text(ctx));
    dt_mesh_release(mesh);
    return 0;
}

static void reading__obeys_the_communication_policy(void **state) {
    (void)state;
    run_ranks(3, obey_policy, NULL);
}

/* Without data there is nothing to read. */
static void planning__needs_numbers(void **state) {
    (void)state;
    static const char text[] = "num_classes is read from values, and a call that is only planned has none";
    dt_ctx *ctx = dt_init(&(dt_init_options){.transport = "fake", .world = 4, .rank = 2});
    dt_mesh *mesh = line(ctx);
    dt_tensor *x = dt_full(ctx, DT_SHAPE(4), 2, .dtype = DT_I64, .mesh = mesh, .place = "S(0)");
    assert_null(dt_one_hot(x, -1));
    assert_error_contains(ctx, DT_ERR_UNSUPPORTED, text);
    assert_int_equal(dt_error_clear(ctx), DT_OK);
    assert_null(dt_explain(ctx, "one_hot($1)", x));
    assert_error_contains(ctx, DT_ERR_UNSUPPORTED, text);
    assert_int_equal(dt_error_clear(ctx), DT_OK);
    assert_non_null(dt_one_hot(x, 5));
    assert_non_null(dt_explain(ctx, "one_hot($1; 5)", x));
    dt_mesh_release(mesh);
    assert_int_equal(dt_close(ctx), 0);
}

/* Ops of a program. */
static dt_tensor *nothing(const dt_op_call *call, dt_tensor *const *inputs) {
    (void)call, (void)inputs;
    return NULL;
}

static bool is_none(const dt_arg *argument) { return argument->type == DT_ARG_NONE; }

static dt_tensor *largest(const dt_op_call *call, dt_tensor *const *inputs) {
    (void)call;
    return dt_amax(inputs[0]);
}

static dt_status shape_of_size(dt_op_call *call) {
    return dt_op_add_output(call, DT_F32, 1, &dt_op_arg(call, "size")->as.i);
}

static dt_status fill_ones(dt_op_call *call) {
    for (int64_t i = 0; i < call->outputs[0].shape[0]; i++)
        ((float *)call->outputs[0].data)[i] = 1;
    return DT_OK;
}

#define ONES_OF(name_, argument_, values_)                                                                           \
    {                                                                                                                \
        .schema = name_ "(Tensor[] like, *, int? size=None) -> Tensor", .shape = shape_of_size, .kernel = fill_ones, \
        .flags = DT_OP_NOT_DIFFERENTIABLE,                                                                           \
        .read = &(const dt_read){.argument = argument_, .is_read = is_none, .values = values_},                      \
    }
static const dt_op ones_of = ONES_OF("ones_of", "size", largest), none_of = ONES_OF("none_of", "size", nothing),
                   lost = ONES_OF("lost", "sizes", largest);

static void program__has_arguments_that_are_read(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    assert_int_equal(dt_op_register(ctx, &ones_of), DT_OK);
    assert_int_equal(dt_op_register(ctx, &none_of), DT_OK);
    assert_int_equal(dt_op_register(ctx, &lost), DT_ERR_VALUE);
    assert_error_contains(ctx, DT_ERR_VALUE, "lost: read: no signature has an argument 'sizes'");
    assert_int_equal(dt_error_clear(ctx), DT_OK);
    for (int64_t n = 2; n < 5; n++) {
        dt_tensor *like[] = {dt_full(ctx, DT_SHAPE(3), (double)n, .dtype = DT_U8), dt_zeros(ctx, DT_SHAPE(2))}, *y;
        int n_outputs;
        dt_op_argument arguments[] = {{.tensors = like, .n_tensors = 2},
                                      {.name = "size", .value = {.type = DT_ARG_INT, .as.i = 7}}};
        assert_int_equal(dt_op_run(ctx, "ones_of", 1, arguments, NULL, &y, 1, &n_outputs), DT_OK);
        assert_int_equal(dt_tensor_size(y, 0), n);
        assert_int_equal(dt_op_run(ctx, "ones_of", 2, arguments, NULL, &y, 1, &n_outputs), DT_OK);
        assert_int_equal(dt_tensor_size(y, 0), 7);
        assert_int_equal(dt_op_run(ctx, "none_of", 1, arguments, NULL, &y, 1, &n_outputs), DT_ERR_VALUE);
        assert_error_contains(ctx, DT_ERR_VALUE, "size: there is no tensor to read it from");
        assert_int_equal(dt_error_clear(ctx), DT_OK);
    }
    assert_int_equal(dt_close(ctx), 0);
}

/* A default is left out of the text of a call: next to a rank that passes another value the texts still differ,
 * whichever of them is the default. */
static int another_value_than_the_default(dt_ctx *ctx, void *arg) {
    static const struct {
        int64_t values[2];
        const char *texts[2];
    } cases[] = {{{-1, 5}, {"one_hot(i64[8] S(0)) ", "one_hot(i64[8] S(0); num_classes=5) "}},
                 {{5, -1}, {"one_hot(i64[8] S(0)) ", "one_hot(i64[8] S(0); num_classes=5) "}},
                 {{5, 6}, {"one_hot(i64[8] S(0); num_classes=5) ", "one_hot(i64[8] S(0); num_classes=6) "}}};
    (void)arg;
    dt_mesh *mesh = line(ctx);
    for (int c = 0; c < 3; c++) {
        dt_scope scope = dt_scope_begin(ctx);
        dt_tensor *x = dt_ones(ctx, DT_SHAPE(8), .dtype = DT_I64, .mesh = mesh, .place = "S(0)");
        dt_tensor *y = dt_one_hot(x, cases[c].values[dt_rank(ctx) == 1]);
        CHECK(!y || !dt_full_tensor(y), "expected an error");
        CHECK(dt_error_status(ctx) == DT_ERR_MISMATCH, "%s", dt_error_text(ctx));
        for (int i = 0; i < 2; i++)
            CHECK(strstr(dt_error_text(ctx), cases[c].texts[i]), "expected %s, got: %s", cases[c].texts[i],
                  dt_error_text(ctx));
        CHECK_OK(ctx, dt_error_clear(ctx));
        dt_scope_end(scope);
    }
    dt_mesh_release(mesh);
    return 0;
}

static void mismatch__shows_values_beside_a_default(void **state) {
    (void)state;
    run_ranks(3, another_value_than_the_default, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mismatch__shows_values_beside_a_default),
        cmocka_unit_test(one_hot__counts_classes_with_any_placement),
        cmocka_unit_test(reading__sends_one_number_and_leaves_nothing),
        cmocka_unit_test(tensor_split__reads_sections_and_indices),
        cmocka_unit_test(tensor_split__makes_views),
        cmocka_unit_test(narrow__fetches_windows_from_a_start_that_is_read),
        cmocka_unit_test(reading__needs_ranks_of_the_mesh),
        cmocka_unit_test(values__are_checked_alike_on_all_ranks),
        cmocka_unit_test(one_hot__refuses_negative_indices),
        cmocka_unit_test(reading__obeys_the_communication_policy),
        cmocka_unit_test(planning__needs_numbers),
        cmocka_unit_test(program__has_arguments_that_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
