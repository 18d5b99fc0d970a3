/* SPDX-License-Identifier: Apache-2.0
 *
 * Replicas with different values: dt_from_local with check refuses them, and with DTENSOR_CHECK_REPLICAS the first call
 * that reads them does, however they came about. Every rank gets the same error. Replicas that are equal, and values
 * that were never written, are no error.
 */
#include "support/launch.h"

#include <dtensor/dtensor.h>

#include <stdlib.h>
#include <string.h>

static const int64_t worlds[] = {2, 3, 5};

/* A plain tensor that rank `odd` fills with another value. */
static dt_tensor *local_of(dt_ctx *ctx, int64_t odd) {
    return dt_full(ctx, DT_SHAPE(3, 2), DT_NUMBER(dt_rank(ctx) == odd ? 2.0 : 1.0));
}

static int check_from_local(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh = dt_mesh_new(ctx, "*");
    int64_t last = dt_world(ctx) - 1;
    char expected[128];
    CHECK(dt_from_local(ctx, local_of(ctx, -1), mesh, "R", .check = true), "%s", dt_error_text(ctx));
    CHECK(dt_from_local(ctx, local_of(ctx, last), mesh, "S(0)", .check = true), "%s", dt_error_text(ctx));
    CHECK(dt_from_local(ctx, local_of(ctx, last), mesh, "P(sum)", .check = true), "%s", dt_error_text(ctx));
    CHECK(dt_from_local(ctx, dt_empty(ctx, DT_SHAPE(0, 4)), mesh, "R", .check = true), "%s", dt_error_text(ctx));
    CHECK(!dt_from_local(ctx, local_of(ctx, last), mesh, "R", .check = true), "no error");
    snprintf(expected, sizeof expected, "the local tensors of ranks 0 and %d differ in values", (int)last);
    CHECK(dt_error_status(ctx) == DT_ERR_VALUE && strstr(dt_error_text(ctx), expected), "expected %s, got %s",
          expected, dt_error_text(ctx));
    return dt_error_clear(ctx) != DT_OK;
}

/* On a 2x2 mesh, ranks 0 and 1, and 2 and 3, are replicas of S(0),R; ranks 0 and 2 of R,S(0). */
static int check_on_two_dims(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh = dt_mesh_new(ctx, "2x2");
    dt_tensor *rows = dt_full(ctx, DT_SHAPE(2), DT_NUMBER((double)(dt_rank(ctx) / 2)));
    CHECK(dt_from_local(ctx, rows, mesh, "S(0),R", .check = true), "%s", dt_error_text(ctx));
    CHECK(!dt_from_local(ctx, rows, mesh, "R,S(0)", .check = true), "no error");
    CHECK(strstr(dt_error_text(ctx), "ranks 0 and 2 differ in values"), "%s", dt_error_text(ctx));
    return dt_error_clear(ctx) != DT_OK;
}

static void from_local__with_check_compares_replicas(void **state) {
    (void)state;
    for (size_t w = 0; w < sizeof worlds / sizeof *worlds; w++)
        run_ranks(worlds[w], check_from_local, NULL);
    run_ranks(4, check_on_two_dims, NULL);
}

/* Programs in which the replicas of rank 1 differ, and which read them. */
static void by_from_local(dt_ctx *ctx, dt_mesh *mesh, dt_tensor *x) {
    dt_add(x, dt_from_local(ctx, local_of(ctx, 1), mesh, "R"));
}
static void by_copy(dt_ctx *ctx, dt_mesh *mesh, dt_tensor *x) {
    (void)mesh;
    dt_copy_(x, local_of(ctx, 1));
    dt_sum(x);
}
static void write_one(dt_tensor *x) {
    if (dt_rank(dt_tensor_ctx(x)) == 1)
        ((float *)dt_data(x))[5] = 7;
}
static void by_data(dt_ctx *ctx, dt_mesh *mesh, dt_tensor *x) {
    (void)ctx, (void)mesh;
    write_one(x);
    dt_full_tensor(x);
}
static void by_data_in_a_view(dt_ctx *ctx, dt_mesh *mesh, dt_tensor *x) {
    (void)ctx, (void)mesh;
    write_one(x);
    dt_exp(dt_transpose(x, 0, 1));
}
static void by_data_in_a_list(dt_ctx *ctx, dt_mesh *mesh, dt_tensor *x) {
    dt_tensor *outputs[2], *other = dt_ones(ctx, DT_SHAPE(4), .mesh = mesh, .place = "S(0)");
    write_one(x);
    dt_foreach_neg(DT_TENSORS(other, x), outputs, 2);
}
static void by_data_in_a_step(dt_ctx *ctx, dt_mesh *mesh, dt_tensor *x) {
    (void)mesh;
    dt_optimizer *optimizer = dt_sgd_new(ctx, 0.1);
    dt_set_requires_grad(x, true);
    dt_backward(dt_sum(dt_square(x)));
    write_one(x);
    dt_optimizer_step(optimizer, .parameters = DT_TENSORS(x));
}

typedef struct program {
    const char *name;
    void (*run)(dt_ctx *ctx, dt_mesh *mesh, dt_tensor *x);
    const char *call, *part;
} program;
static const program programs[] = {
    {"from_local", by_from_local, "add: ", "tensor 2, f32[3,2] R on mesh("},
    {"copy_", by_copy, "sum: ", "tensor 1, f32[3,2] R on mesh("},
    {"data", by_data, "full_tensor: ", "tensor 1, f32[3,2] R on mesh("},
    {"a view", by_data_in_a_view, "exp: ", "tensor 1, f32[2,3] R on mesh("},
    {"a list", by_data_in_a_list, "_foreach_neg: ", "tensor 2, f32[3,2] R on mesh("},
    {"a step", by_data_in_a_step, "optimizer_step: ", "tensor 1, f32[3,2] R on mesh("},
};

static int diverge(dt_ctx *ctx, void *arg) {
    const program *p = arg;
    dt_mesh *mesh = dt_mesh_new(ctx, "*");
    p->run(ctx, mesh, dt_ones(ctx, DT_SHAPE(3, 2), .mesh = mesh));
    const char *text = dt_error_text(ctx);
    CHECK(dt_error_status(ctx) == DT_ERR_VALUE, "%s: rank %lld: expected value, got %s: %s", p->name,
          (long long)dt_rank(ctx), dt_status_name(dt_error_status(ctx)), text);
    CHECK(strstr(text, p->call) == text && strstr(text, p->part) &&
              strstr(text, "the replicas differ: ranks 0 and 1 hold other values") &&
              strstr(text, "test_replicas.c:"),
          "%s: %s", p->name, text);
    CHECK(dt_error_clear(ctx) == DT_OK, "%s: %s", p->name, dt_error_text(ctx));
    return 0;
}

static int stay_equal(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh = dt_mesh_new(ctx, "*");
    dt_tensor *x = dt_randn(ctx, DT_SHAPE(7, 3), .mesh = mesh, .requires_grad = true);
    dt_tensor *y = dt_empty(ctx, DT_SHAPE(5), .mesh = mesh);
    if (dt_rank(ctx) == 1)
        memset(dt_data(y), 7, 20); /* never written by the program */
    dt_fill_(y, 2.0);
    dt_tensor *s = dt_from_local(ctx, local_of(ctx, 1), mesh, "S(0)"),
              *none = dt_ones(ctx, DT_SHAPE(0), .mesh = mesh);
    dt_optimizer *optimizer = dt_adamw_new(ctx, 0.1);
    for (int i = 0; i < 2; i++) {
        dt_backward(dt_add(dt_add(dt_sum(dt_exp(x)), dt_sum(y)), dt_add(dt_sum(s), dt_sum(none))));
        CHECK_OK(ctx, dt_optimizer_step(optimizer, .parameters = DT_TENSORS(x)));
    }
    CHECK(dt_full_tensor(dt_transpose(x, 0, 1)), "%s", dt_error_text(ctx));
    return 0;
}

static void divergence__of_replicas_is_found_where_they_are_read(void **state) {
    (void)state;
    setenv("DTENSOR_CHECK_REPLICAS", "1", 1);
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        run_ranks(worlds[i % 3], diverge, (void *)&programs[i]);
    for (int64_t n = 1; n <= 4; n++)
        run_ranks(n, stay_equal, NULL);
    unsetenv("DTENSOR_CHECK_REPLICAS");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(from_local__with_check_compares_replicas),
        cmocka_unit_test(divergence__of_replicas_is_found_where_they_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
