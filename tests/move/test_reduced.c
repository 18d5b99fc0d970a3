/* SPDX-License-Identifier: Apache-2.0
 *
 * dt_reduced: partial values become replicated or sharded, everything else stays as it is, one device too; gradients
 * pass through. Ranks 1, 2, 3, 4, 5.
 */
#include "tensor/tensors.h"

#include "dtensor/autograd.h"
#include "dtensor/debug.h"
#include "dtensor/dispatch.h"

#include <string.h>

enum { ROWS = 7, COLUMNS = 3 };

static bool is_placed(const dt_tensor *t, const char *place) {
    char text[128], expected[64];
    dt_tensor_text(t, sizeof text, text);
    snprintf(expected, sizeof expected, "] %s on", place);
    return strstr(text, expected);
}

/* On every rank element i is i: the sum has n i. */
static dt_tensor *partial_of(dt_ctx *ctx, dt_mesh *mesh) {
    dt_tensor *local = dt_reshape(dt_arange(ctx, 0, ROWS * COLUMNS, 1, .dtype = DT_F64), DT_SHAPE(ROWS, COLUMNS));
    return dt_from_local(ctx, local, mesh, "P(sum)");
}

static bool is_multiple(dt_tensor *t, double factor) {
    dt_tensor *full = dt_full_tensor(t);
    const double *x = dt_data(full);
    for (int i = 0; x && i < ROWS * COLUMNS; i++)
        if (x[i] != factor * i)
            return false;
    return x;
}

static int reduce_on_ranks(dt_ctx *ctx, void *arg) {
    (void)arg;
    const double n = (double)dt_world(ctx);
    dt_mesh *mesh = dt_mesh_new(ctx, "tp=*");
    CHECK_OK(ctx, dt_comm_policy(ctx, DT_COMM_ERROR));
    for (int round = 0; round < 2; round++) {
        dt_tensor *x = partial_of(ctx, mesh), *rows = dt_redistribute(x, "S(0)");
        CHECK_OK(ctx, dt_comm_stats_begin(ctx));
        dt_tensor *all = dt_reduced(x), *sharded = dt_reduced(x, .place = "S(0)");
        dt_comm_stats_end(ctx);
        CHECK(is_placed(all, "R") && is_multiple(all, n), "%s", dt_error_text(ctx));
        CHECK(is_placed(sharded, "S(0)") && is_multiple(sharded, n), "%s", dt_error_text(ctx));
        const int64_t n_reduced = dt_comm_stats(ctx, &(dt_comm_filter){.op = "reduced"}).n;
        CHECK(n_reduced == (n > 1 ? 2 : 0), "%lld transfers", (long long)n_reduced);
        CHECK(dt_reduced(all) == all && dt_reduced(rows) == rows && dt_reduced(rows, .place = "S(0)") == rows,
              "returned");
    }
    CHECK(!dt_reduced(partial_of(ctx, mesh), .place = "S(5)") && strstr(dt_error_text(ctx), "reduced: "), "%s",
          dt_error_text(ctx));
    dt_error_clear(ctx);
    dt_mesh_release(mesh);
    return 0;
}

/* Gradients of partial sums are those of their sum. */
static int differentiate_on_ranks(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh = dt_mesh_new(ctx, "tp=*");
    dt_tensor *w =
        dt_ones(ctx, DT_SHAPE(COLUMNS, ROWS), .dtype = DT_F64, .mesh = mesh, .place = "S(1)", .requires_grad = true);
    dt_tensor *x = dt_redistribute(dt_ones(ctx, DT_SHAPE(2, ROWS), .dtype = DT_F64, .mesh = mesh), "S(1)");
    dt_tensor *partial = dt_linear(x, w);
    CHECK(is_placed(partial, "P(sum)"), "the product is partial");
    dt_tensor *y = dt_reduced(partial);
    CHECK_OK(ctx, dt_backward(dt_sum(dt_mul(y, y))));
    CHECK(is_placed(dt_grad(w), "S(1)"), "%s", dt_error_text(ctx));
    dt_tensor *full = dt_full_tensor(dt_grad(w));
    for (int i = 0; i < COLUMNS * ROWS; i++) /* the sum over 2 rows of 2 y, and y is ROWS */
        CHECK(((const double *)dt_data(full))[i] == 4 * ROWS, "%g", ((const double *)dt_data(full))[i]);
    dt_mesh_release(mesh);
    return 0;
}

static int reduce_on_a_grid(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh = dt_mesh_new(ctx, "dp=2,tp=2");
    dt_tensor *local = dt_ones(ctx, DT_SHAPE(2, COLUMNS), .dtype = DT_F64);
    dt_tensor *x = dt_from_local(ctx, local, mesh, "S(0),P(max)");
    CHECK(is_placed(dt_reduced(x), "S(0),R"), "dims that are not partial stay");
    dt_mesh_release(mesh);
    return 0;
}

static void reduced__ends_partial_values(void **state) {
    (void)state;
    for (int64_t n = 1; n <= 5; n++) {
        run_ranks(n, reduce_on_ranks, NULL);
        run_ranks(n, differentiate_on_ranks, NULL);
    }
    run_ranks(4, reduce_on_a_grid, NULL);
}

static void reduced__returns_plain_tensors(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(3));
    assert_ptr_equal(dt_reduced(x), x);
    assert_ptr_equal(dt_reduced(x, .place = "S(0),S(1)"), x);
    assert_null(dt_reduced(NULL));
    assert_int_equal(dt_close(ctx), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reduced__ends_partial_values),
        cmocka_unit_test(reduced__returns_plain_tensors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
