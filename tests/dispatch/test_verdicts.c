/* SPDX-License-Identifier: Apache-2.0
 *
 * Verdicts on data: bad data that some ranks find in their shards is no error of theirs, but one that all ranks get in
 * the next transfer that all of them take part in, with the call that found it. Ops that read and write by index, ops
 * that meet, meshes of several dims whose transfers join some ranks only, two meshes, sub-meshes, started transfers,
 * backward passes, errors in between, and contexts that are closed without another transfer.
 */
#include "support/launch.h"
#include "support/ranks.h"

#include "dtensor/debug.h"
#include "dtensor/dtensor.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* An op that refuses negative numbers, and whose gradient does, too. */
static dt_status shape_same(dt_op_call *call) {
    return dt_op_add_output(call, call->inputs[0].dtype, call->inputs[0].n_dims, call->inputs[0].shape);
}

static dt_status run_checked(dt_op_call *call) {
    const dt_op_value *x = &call->inputs[0], *y = &call->outputs[0];
    int64_t n = 1;
    for (int d = 0; d < x->n_dims; d++)
        n *= x->shape[d];
    for (int64_t i = 0; i < n; i++) {
        double value = ((const double *)x->data)[i];
        ((double *)y->data)[i] = value;
        if (value < 0)
            return dt_op_verdict(call, DT_ERR_VALUE, "element %" PRId64 " is negative: expected at least 0, got %g",
                                 i, value);
    }
    return DT_OK;
}

static const dt_op checked = {
    .schema = "checked(Tensor x) -> Tensor",
    .rule = "...->...",
    .shape = shape_same,
    .kernel = run_checked,
    .gradient = "x: checked(grad)",
    .samples = "checked(f64[3])",
};

/* 0 to n - 1, with -1 at one place (or none, where it is negative). */
static dt_tensor *numbers(dt_mesh *mesh, dt_dtype dtype, int64_t n, int64_t bad, const char *place) {
    dt_ctx *ctx = dt_mesh_ctx(mesh);
    dt_tensor *all = dt_arange(ctx, 0, n, 1, .dtype = dtype);
    if (bad >= 0)
        all = dt_cat(DT_TENSORS(dt_narrow(all, 0, 0, bad), dt_full(ctx, DT_SHAPE(1), -1, .dtype = dtype),
                                dt_narrow(all, 0, bad + 1, n - bad - 1)),
                     .dim = DT_INT(0));
    return dt_distribute_tensor(all, mesh, place, .everywhere = true);
}

static dt_mesh *line(dt_ctx *ctx) { return dt_mesh_new(ctx, "*"); }

/* All ranks have an error with these parts, each of the same text; then it is cleared. */
static int expect(dt_ctx *ctx, const char *first, const char *second) {
    char text[1024];
    snprintf(text, sizeof text, "%s", dt_error_text(ctx));
    CHECK(dt_failed(ctx), "rank %" PRId64 ": expected an error with \"%s\", got none", dt_rank(ctx), first);
    CHECK(strstr(text, first) && strstr(text, second), "expected \"%s\" and \"%s\", got \"%s\"", first, second, text);
    CHECK(strstr(text, "test_verdicts.c:"), "expected the line of the call, got \"%s\"", text);
    CHECK_OK(ctx, dt_error_clear(ctx));
    char *all = malloc((size_t)dt_world(ctx) * sizeof text);
    dt_status status = dt_comm_all_gather(dt_group_world(ctx), text, all, sizeof text, DT_U8);
    for (int64_t i = 0; status == DT_OK && i < dt_world(ctx); i++)
        if (strcmp(all + i * (int64_t)sizeof text, text) != 0)
            CHECK(false, "rank %" PRId64 " has \"%s\", rank %" PRId64 " has \"%s\"", dt_rank(ctx), text, i,
                  all + i * (int64_t)sizeof text);
    free(all);
    CHECK_OK(ctx, status);
    return 0;
}

/* The program continues: what was refused before works. */
static int expect_works(dt_ctx *ctx, dt_mesh *mesh) {
    const char *place[] = {"", "S(0)", "S(0),S(0)", "S(0),S(0),S(0)"};
    dt_tensor *x = numbers(mesh, DT_F64, 6, -1, place[dt_mesh_n_dims(mesh)]);
    double sum = dt_item(dt_sum(dt_call(ctx, "checked", x)));
    CHECK(sum == 15, "expected 15, got %g: %s", sum, dt_error_text(ctx));
    return 0;
}

static int defer(dt_ctx *ctx, void *arg) {
    (void)arg;
    CHECK_OK(ctx, dt_op_register(ctx, &checked));
    dt_mesh *mesh = line(ctx);
    int64_t n = dt_world(ctx), last = (6 - 1) / ((6 + n - 1) / n); /* the rank that holds the last element */
    char rank[64];
    snprintf(rank, sizeof rank, "got -1 (at ");
    for (int again = 0; again < 2; again++) { /* the second time from the cache */
        dt_tensor *y = dt_call(ctx, "checked", numbers(mesh, DT_F64, 6, 5, "S(0)"));
        if (n == 1) {
            CHECK(!y, "expected an error at once");
        } else {
            CHECK(y && !dt_failed(ctx), "expected no error yet: %s", dt_error_text(ctx));
            dt_tensor *z = dt_mul(y, y); /* sends nothing */
            CHECK(z && !dt_failed(ctx), "expected no error yet: %s", dt_error_text(ctx));
            CHECK(!dt_redistribute(z, "R"), "expected an error in the transfer");
            snprintf(rank, sizeof rank, "found on rank %" PRId64 ", reported by redistribute (at ", last);
        }
        if (expect(ctx, "checked: ", rank) || expect_works(ctx, mesh))
            return 1;
    }
    dt_mesh_release(mesh);
    return 0;
}

static void verdict__is_the_error_of_the_next_transfer(void **state) {
    (void)state;
    for (int64_t n = 1; n <= 7; n++)
        if (n != 6)
            run_ranks(n, defer, NULL);
}

/* Calls that end in values, text or a file. */
static int defer_to_reads(dt_ctx *ctx, void *arg) {
    (void)arg;
    CHECK_OK(ctx, dt_op_register(ctx, &checked));
    dt_mesh *mesh = line(ctx);
    for (int way = 0; way < 5; way++) {
        dt_tensor *y = dt_call(ctx, "checked", numbers(mesh, DT_F64, 6, 5, "S(0)"));
        static const char *const names[] = {"by item (at", "by print (at", "by full_tensor (at", "by save_npy (at",
                                            "by from_local (at"};
        if (way == 0)
            (void)dt_item(dt_sum(y));
        else if (way == 1)
            CHECK(dt_print(y) == DT_ERR_VALUE, "expected an error: %s", dt_error_text(ctx));
        else if (way == 2)
            CHECK(!dt_full_tensor(y), "expected an error");
        else if (way == 3)
            CHECK(dt_save_npy(y, "never_written.npy") == DT_ERR_VALUE, "expected an error: %s", dt_error_text(ctx));
        else
            CHECK(!dt_from_local(ctx, dt_ones(ctx, DT_SHAPE(2)), mesh, "S(0)", .check = true), "expected an error");
        if (expect(ctx, "checked: ", names[way]) || expect_works(ctx, mesh))
            return 1;
    }
    dt_mesh_release(mesh);
    return 0;
}

static void verdict__is_the_error_of_what_reads(void **state) {
    (void)state;
    run_ranks(3, defer_to_reads, NULL);
    run_ranks(4, defer_to_reads, NULL);
}

/* Every op that reads or writes by index, with a bad index in the last shard. */
static dt_tensor *gather(dt_tensor *i) { return dt_gather(dt_ones_like(i, .dtype = DT_F32), 0, i); }
static dt_tensor *select_rows(dt_tensor *i) {
    return dt_index_select(dt_ones(dt_tensor_ctx(i), DT_SHAPE(6, 2), .mesh = dt_tensor_mesh(i)), 0, i);
}
static dt_tensor *select_row_shards(dt_tensor *i) {
    return dt_index_select(dt_ones(dt_tensor_ctx(i), DT_SHAPE(6, 2), .mesh = dt_tensor_mesh(i), .place = "S(0)"), 0,
                           dt_redistribute(i, "R"));
}
static dt_tensor *embed(dt_tensor *i) {
    return dt_embedding(i, dt_ones(dt_tensor_ctx(i), DT_SHAPE(6, 2), .mesh = dt_tensor_mesh(i)));
}
static dt_tensor *rows_of(dt_tensor *i) {
    return dt_zeros(dt_tensor_ctx(i), DT_SHAPE(6, 9), .mesh = dt_tensor_mesh(i), .place = "S(0)");
}
static dt_tensor *columns_of(dt_tensor *i) { return dt_expand(dt_unsqueeze(i, 1), DT_SHAPE(6, 4)); }
static dt_tensor *scatter(dt_tensor *i) { return dt_scatter(rows_of(i), 1, columns_of(i), dt_ones_like(rows_of(i))); }
static dt_tensor *scatter_value(dt_tensor *i) { return dt_scatter_value(rows_of(i), 1, columns_of(i), 2); }
static dt_tensor *scatter_in_place(dt_tensor *i) { return dt_scatter_value_(rows_of(i), 1, columns_of(i), 2); }
static dt_tensor *scatter_add(dt_tensor *i) {
    return dt_scatter_add(rows_of(i), 1, columns_of(i), dt_ones_like(rows_of(i)));
}
static dt_tensor *scatter_reduce(dt_tensor *i) {
    return dt_scatter_reduce(rows_of(i), 1, columns_of(i), dt_ones_like(rows_of(i)), "amax");
}
static dt_tensor *index_copy(dt_tensor *i) {
    dt_tensor *x = dt_zeros(dt_tensor_ctx(i), DT_SHAPE(6, 3), .mesh = dt_tensor_mesh(i));
    return dt_index_copy(x, 0, i, dt_ones_like(x));
}
static dt_tensor *index_fill(dt_tensor *i) {
    return dt_index_fill(dt_zeros(dt_tensor_ctx(i), DT_SHAPE(6, 3), .mesh = dt_tensor_mesh(i)), 0, i, 7);
}
static dt_tensor *index_reduce(dt_tensor *i) {
    dt_tensor *x = dt_zeros(dt_tensor_ctx(i), DT_SHAPE(6, 3), .mesh = dt_tensor_mesh(i));
    return dt_index_reduce(x, 0, i, dt_ones_like(x), "amax");
}
static dt_tensor *index_put(dt_tensor *i) {
    dt_tensor *x = dt_zeros(dt_tensor_ctx(i), DT_SHAPE(6, 3), .mesh = dt_tensor_mesh(i));
    return dt_index_put(x, DT_TENSORS(dt_sub_scalar(i, 6)), dt_ones_like(x));
}
static dt_tensor *index_add(dt_tensor *i) {
    dt_tensor *x = dt_zeros(dt_tensor_ctx(i), DT_SHAPE(6, 3), .mesh = dt_tensor_mesh(i));
    return dt_index_add(x, 0, i, dt_ones_like(x));
}
static dt_tensor *one_hot(dt_tensor *i) { return dt_one_hot(i, 6); }
static dt_tensor *index_by_tensors(dt_tensor *i) {
    dt_tensor *x = dt_zeros(dt_tensor_ctx(i), DT_SHAPE(6, 3), .mesh = dt_tensor_mesh(i));
    return dt_index(x, DT_TENSORS(dt_sub_scalar(i, 6)));
}
static dt_tensor *nll(dt_tensor *i) {
    return dt_nll_loss(dt_zeros(dt_tensor_ctx(i), DT_SHAPE(6, 6), .mesh = dt_tensor_mesh(i)), i);
}
static dt_tensor *cross_entropy(dt_tensor *i) {
    return dt_cross_entropy(dt_zeros(dt_tensor_ctx(i), DT_SHAPE(6, 6), .mesh = dt_tensor_mesh(i), .place = "S(0)"),
                            i);
}
static dt_tensor *cross_entropy_of_sharded_classes(dt_tensor *i) {
    return dt_cross_entropy(dt_zeros(dt_tensor_ctx(i), DT_SHAPE(6, 6), .mesh = dt_tensor_mesh(i), .place = "S(1)"),
                            dt_redistribute(i, "R"));
}

static const struct {
    const char *error;
    dt_tensor *(*run)(dt_tensor *index);
} by_index[] = {
    {"gather: ", gather},
    {"index_select: ", select_rows},
    {"index_select: ", select_row_shards},
    {"embedding: ", embed},
    {"scatter: ", scatter},
    {"scatter: ", scatter_value},
    {"scatter_: ", scatter_in_place},
    {"scatter_add: ", scatter_add},
    {"scatter_reduce: ", scatter_reduce},
    {"index_copy: ", index_copy},
    {"index_fill: ", index_fill},
    {"index_reduce: ", index_reduce},
    {"index_put: ", index_put},
    {"index_add: ", index_add},
    {"one_hot: ", one_hot},
    {"index: ", index_by_tensors},
    {"nll_loss: ", nll},
    {"cross_entropy: ", cross_entropy},
    {"cross_entropy: ", cross_entropy_of_sharded_classes},
};

static int index_badly(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh = line(ctx);
    for (size_t k = 0; k < sizeof by_index / sizeof *by_index; k++) {
        dt_tensor *good = dt_full_tensor(by_index[k].run(numbers(mesh, DT_I64, 6, -1, "S(0)")));
        CHECK(good, "%s%s", by_index[k].error, dt_error_text(ctx));
        CHECK(!dt_full_tensor(by_index[k].run(numbers(mesh, DT_I64, 6, 5, "S(0)"))), "%sexpected an error",
              by_index[k].error);
        if (expect(ctx, by_index[k].error, "out of range"))
            return 1;
    }
    dt_mesh_release(mesh);
    return 0;
}

static void verdict__of_every_op_by_index(void **state) {
    (void)state;
    run_ranks(2, index_badly, NULL);
    run_ranks(3, index_badly, NULL);
    run_ranks(5, index_badly, NULL);
}

/* The earliest call counts, then the lowest rank. */
static int several(dt_ctx *ctx, void *arg) {
    (void)arg;
    CHECK_OK(ctx, dt_op_register(ctx, &checked));
    dt_mesh *mesh = line(ctx);
    int64_t n = dt_world(ctx);
    dt_tensor *all = dt_full(ctx, DT_SHAPE(n), -2, .dtype = DT_F64, .mesh = mesh, .place = "S(0)");
    dt_tensor *late = dt_call(ctx, "checked", numbers(mesh, DT_F64, n, n - 1, "S(0)"));
    dt_tensor *y = dt_call(ctx, "checked", all);
    CHECK(!dt_failed(ctx), "%s", dt_error_text(ctx));
    CHECK(!dt_full_tensor(dt_add(late, y)), "expected an error");
    char rank[64];
    snprintf(rank, sizeof rank, "found on rank %" PRId64, n - 1);
    if (expect(ctx, "got -1", rank))
        return 1;
    CHECK(!dt_full_tensor(dt_call(ctx, "checked", all)), "expected an error");
    return expect(ctx, "got -2", "found on rank 0") || expect_works(ctx, mesh) ? 1 : (dt_mesh_release(mesh), 0);
}

static void verdict__of_the_earliest_call_and_the_lowest_rank(void **state) {
    (void)state;
    run_ranks(2, several, NULL);
    run_ranks(5, several, NULL);
}

/* On meshes of two and three dims: transfers along one of them reach the ranks along it. */
static int tell_by_dims(dt_ctx *ctx, void *arg) {
    const int64_t *shape = arg;
    CHECK_OK(ctx, dt_op_register(ctx, &checked));
    dt_mesh *mesh = dt_mesh_from_shape(ctx, shape, shape[2] ? 3 : 2, NULL);
    const char *all = shape[2] ? "S(0),S(0),S(0)" : "S(0),S(0)", *some = shape[2] ? "S(0),S(0),R" : "S(0),R";
    for (int64_t bad = 0; bad < 24; bad += 5) {
        dt_tensor *y = dt_call(ctx, "checked", numbers(mesh, DT_F64, 24, bad, all));
        dt_tensor *z = dt_redistribute(y, some); /* ranks along the last dim */
        CHECK(z && !dt_failed(ctx), "expected no error yet: %s", dt_error_text(ctx));
        z = dt_redistribute(z, all);
        z = dt_redistribute(z, some);
        CHECK(z && !dt_failed(ctx), "expected no error yet: %s", dt_error_text(ctx));
        dt_tensor *later = dt_call(ctx, "checked", numbers(mesh, DT_F64, 24, 23, all));
        (void)later;
        if (shape[2])
            z = dt_redistribute(z, "S(0),R,R");
        CHECK(z && !dt_failed(ctx), "expected no error yet: %s", dt_error_text(ctx));
        CHECK(!dt_redistribute(z, shape[2] ? "R,R,R" : "R,R"), "expected an error");
        if (expect(ctx, "checked: ", "reported by redistribute") || expect_works(ctx, mesh))
            return 1;
    }
    /* Ranks of a column that hold nothing do not meet: all wait for the next transfer of all. */
    dt_tensor *y = dt_call(ctx, "checked", numbers(mesh, DT_F64, 1, 0, all));
    dt_tensor *z = dt_redistribute(y, some);
    CHECK(z && !dt_failed(ctx), "expected no error yet: %s", dt_error_text(ctx));
    CHECK(!dt_redistribute(dt_ones(ctx, DT_SHAPE(24), .mesh = mesh, .place = all), shape[2] ? "R,R,R" : "R,R"),
          "expected an error");
    if (expect(ctx, "got -1", "found on rank 0") || expect_works(ctx, mesh))
        return 1;
    dt_mesh_release(mesh);
    return 0;
}

static void verdict__spreads_over_the_dims_of_a_mesh(void **state) {
    (void)state;
    run_ranks(4, tell_by_dims, (int64_t[]){2, 2, 0});
    run_ranks(6, tell_by_dims, (int64_t[]){3, 2, 0});
    run_ranks(8, tell_by_dims, (int64_t[]){2, 2, 2});
}

/* Of a sub-mesh only its ranks have the error; a move to another mesh is an error there, too. */
static int tell_other_meshes(dt_ctx *ctx, void *arg) {
    (void)arg;
    CHECK_OK(ctx, dt_op_register(ctx, &checked));
    int64_t ranks[] = {0, 1, 2, 3};
    dt_mesh *world = line(ctx), *a = dt_mesh_from_ranks(ctx, ranks, (int64_t[]){2}, 1, NULL),
            *b = dt_mesh_from_ranks(ctx, ranks + 2, (int64_t[]){2}, 1, NULL);
    dt_tensor *x = numbers(a, DT_F64, 4, 3, "S(0)");
    dt_tensor *y = dt_call(ctx, "checked", x);
    CHECK(!dt_failed(ctx), "%s", dt_error_text(ctx));
    dt_tensor *z = dt_redistribute(y, "R");
    CHECK(dt_failed(ctx) == (dt_rank(ctx) < 2), "rank %" PRId64 ": %s", dt_rank(ctx), dt_error_text(ctx));
    (void)z;
    CHECK_OK(ctx, dt_failed(ctx) ? dt_error_clear(ctx) : DT_OK);
    if (expect_works(ctx, world))
        return 1;
    y = dt_call(ctx, "checked", x);
    CHECK(!dt_redistribute(y, "S(0)", .mesh = b), "expected an error");
    if (expect(ctx, "got -1", "found on rank 1") || expect_works(ctx, world))
        return 1;
    dt_mesh_release(a);
    dt_mesh_release(b);
    dt_mesh_release(world);
    return 0;
}

static void verdict__of_a_sub_mesh(void **state) {
    (void)state;
    run_ranks(4, tell_other_meshes, NULL);
}

static int backward(dt_ctx *ctx, void *arg) {
    (void)arg;
    CHECK_OK(ctx, dt_op_register(ctx, &checked));
    dt_mesh *mesh = line(ctx);
    dt_tensor *w = dt_ones(ctx, DT_SHAPE(), .dtype = DT_F64, .mesh = mesh, .requires_grad = true);
    dt_tensor *x = dt_mul(w, numbers(mesh, DT_F64, 6, -1, "S(0)"));
    dt_tensor *sign = numbers(mesh, DT_F64, 6, 5, "S(0)");
    dt_tensor *loss = dt_sum(dt_mul(dt_call(ctx, "checked", x), sign)); /* its gradient is `sign` */
    CHECK(loss && !dt_failed(ctx), "%s", dt_error_text(ctx));
    CHECK(dt_backward(loss) == DT_ERR_VALUE, "expected an error: %s", dt_error_text(ctx));
    if (expect(ctx, "checked: element", "got -1") || expect_works(ctx, mesh))
        return 1;
    dt_mesh_release(mesh);
    return 0;
}

static void verdict__in_a_backward_pass(void **state) {
    (void)state;
    run_ranks(2, backward, NULL);
    run_ranks(3, backward, NULL);
}

/* Errors in between, of all ranks and of one, do not hide it; nor does a transfer that was started before. */
static int meet_errors(dt_ctx *ctx, void *arg) {
    (void)arg;
    CHECK_OK(ctx, dt_op_register(ctx, &checked));
    dt_mesh *mesh = line(ctx);
    dt_tensor *bad = numbers(mesh, DT_F64, 6, 5, "S(0)"), *good = numbers(mesh, DT_F64, 6, -1, "S(0)");
    dt_tensor *y = dt_call(ctx, "checked", bad);
    CHECK(!dt_matmul(y, dt_ones(ctx, DT_SHAPE(5), .dtype = DT_F64, .mesh = mesh)), "expected an error");
    CHECK(strstr(dt_error_text(ctx), "matmul: "), "%s", dt_error_text(ctx));
    CHECK(!dt_full_tensor(y), "a failed context refuses");
    CHECK_OK(ctx, dt_error_clear(ctx));
    CHECK(!dt_full_tensor(good), "expected an error");
    if (expect(ctx, "checked: ", "reported by full_tensor"))
        return 1;
    y = dt_call(ctx, "checked", bad);
    if (dt_rank(ctx) == 0)
        (void)dt_error_set(ctx, DT_ERR_SYSTEM, "no more coffee");
    CHECK(!dt_full_tensor(good), "expected the error of rank 0");
    CHECK(strstr(dt_error_text(ctx), "coffee"), "%s", dt_error_text(ctx));
    CHECK_OK(ctx, dt_error_clear(ctx));
    CHECK(!dt_full_tensor(good), "expected an error");
    if (expect(ctx, "checked: ", "reported by full_tensor"))
        return 1;
    dt_transfer *before = dt_redistribute_start(good, "R");
    y = dt_call(ctx, "checked", bad);
    dt_transfer *after = dt_redistribute_start(good, "R");
    CHECK(dt_transfer_wait(before), "%s", dt_error_text(ctx));
    CHECK(!dt_failed(ctx) && !dt_transfer_wait(after), "expected an error");
    if (expect(ctx, "checked: ", "reported by transfer_wait"))
        return 1;
    /* A started transfer that carries what another call has reported does not report it again. */
    y = dt_call(ctx, "checked", bad);
    after = dt_redistribute_start(good, "R");
    CHECK(!dt_full_tensor(good), "expected an error");
    if (expect(ctx, "checked: ", "reported by full_tensor"))
        return 1;
    CHECK(dt_transfer_wait(after), "%s", dt_error_text(ctx));
    dt_mesh_release(mesh);
    return 0;
}

static void verdict__among_other_errors(void **state) {
    (void)state;
    run_ranks(2, meet_errors, NULL);
    run_ranks(5, meet_errors, NULL);
}

static int alone(dt_ctx *ctx, void *arg) {
    (void)arg;
    CHECK_OK(ctx, dt_op_register(ctx, &checked));
    int64_t rank = dt_rank(ctx);
    dt_mesh *mesh = line(ctx), *own = dt_mesh_from_ranks(ctx, &rank, (int64_t[]){1}, 1, NULL);
    dt_tensor *plain = dt_full(ctx, DT_SHAPE(2), -3, .dtype = DT_F64);
    dt_tensor *bad = numbers(mesh, DT_F64, 6, 5, "S(0)");
    CHECK(!dt_call(ctx, "checked", plain) && strstr(dt_error_text(ctx), "got -3"), "%s", dt_error_text(ctx));
    CHECK_OK(ctx, dt_error_clear(ctx));
    CHECK(!dt_call(ctx, "checked", dt_distribute_tensor(plain, own, "S(0)")), "expected an error");
    CHECK_OK(ctx, dt_error_clear(ctx));
    dt_apart_begin(ctx);
    CHECK(!dt_call(ctx, "checked", dt_full(ctx, DT_SHAPE(6), -3, .dtype = DT_F64, .mesh = mesh)),
          "expected an error");
    CHECK_OK(ctx, dt_apart_end(ctx));
    CHECK_OK(ctx, dt_error_clear(ctx));
    (void)bad;
    dt_mesh_release(mesh);
    dt_mesh_release(own);
    return 0;
}

static void verdict__of_data_that_no_other_rank_shares_is_an_error_at_once(void **state) {
    (void)state;
    run_ranks(1, alone, NULL);
    run_ranks(3, alone, NULL);
}

static int check_at_once(dt_ctx *ctx, void *arg) {
    (void)arg;
    CHECK_OK(ctx, dt_op_register(ctx, &checked));
    dt_mesh *mesh = line(ctx);
    for (int again = 0; again < 2; again++) {
        dt_tensor *x = numbers(mesh, DT_F64, 6, 5, "S(0)");
        CHECK(!dt_call(ctx, "checked", x), "expected an error at once");
        char text[64];
        snprintf(text, sizeof text, "found on rank %d", dt_world(ctx) == 2 ? 1 : 2);
        if (expect(ctx, "checked: ", text) || expect_works(ctx, mesh))
            return 1;
    }
    dt_mesh_release(mesh);
    return 0;
}

static void verdict__is_an_error_at_once_where_calls_are_checked(void **state) {
    (void)state;
    setenv("DTENSOR_CHECK_CALLS", "1", 1);
    run_ranks(2, check_at_once, NULL);
    run_ranks(3, check_at_once, NULL);
    unsetenv("DTENSOR_CHECK_CALLS");
}

/* No transfer follows: the ranks that found it report it when they close. */
static int close_with(dt_ctx *ctx, void *arg) {
    (void)arg;
    int64_t rank = dt_rank(ctx);
    CHECK_OK(ctx, dt_op_register(ctx, &checked));
    dt_mesh *mesh = line(ctx);
    dt_tensor *y = dt_call(ctx, "checked", numbers(mesh, DT_F64, 6, 5, "S(0)"));
    CHECK(y && !dt_failed(ctx), "%s", dt_error_text(ctx));
    dt_mesh_release(mesh);
    int code = dt_close(ctx);
    CHECK(code == (rank == 2), "rank %" PRId64 ": expected the exit code %d, got %d", rank, rank == 2, code);
    return 0;
}

static void verdict__without_a_transfer_is_reported_by_close(void **state) {
    (void)state;
    test_launch launch;
    if (test_started_ranks())
        return;
    test_launch_begin(&launch, 3, NULL, close_with, NULL);
    test_launch_end(&launch, 60 * test_slowness);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(verdict__is_the_error_of_the_next_transfer),
        cmocka_unit_test(verdict__is_the_error_of_what_reads),
        cmocka_unit_test(verdict__of_every_op_by_index),
        cmocka_unit_test(verdict__of_the_earliest_call_and_the_lowest_rank),
        cmocka_unit_test(verdict__spreads_over_the_dims_of_a_mesh),
        cmocka_unit_test(verdict__of_a_sub_mesh),
        cmocka_unit_test(verdict__in_a_backward_pass),
        cmocka_unit_test(verdict__among_other_errors),
        cmocka_unit_test(verdict__of_data_that_no_other_rank_shares_is_an_error_at_once),
        cmocka_unit_test(verdict__is_an_error_at_once_where_calls_are_checked),
        cmocka_unit_test(verdict__without_a_transfer_is_reported_by_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
