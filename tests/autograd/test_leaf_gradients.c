/* SPDX-License-Identifier: Apache-2.0
 *
 * Gradients of parameters move together: one exchange for each mesh, with the bytes that each would take alone.
 */
#include "autograd/backward.h"

enum { N = 20 };

static int64_t exchanges(const dt_ctx *ctx) { return dt__redistribute_statistics(ctx).n_exchanges; }
static int64_t received(const dt_ctx *ctx) { return dt__redistribute_statistics(ctx).bytes_received; }

/* Data parallel: the gradient of each weight [4,4+i] and of each bias is a partial sum. */
static int check_data_parallel(dt_ctx *ctx, void *arg) {
    (void)arg;
    int64_t n = dt_world(ctx), elements = 0;
    dt_mesh *mesh = dt_mesh_from_shape(ctx, &n, 1, NULL);
    dt_tensor *w[N], *x = dt_ones(ctx, DT_SHAPE(3 * n + 1, 4), .mesh = mesh, .place = "S(0)");
    for (int i = 0; i < N; i++) {
        w[i] = dt_ones(ctx, DT_SHAPE(5 + i, 4), .mesh = mesh, .place = "R", .requires_grad = true);
        elements += dt_tensor_elements(w[i]);
    }
    for (int again = 0; again < 2; again++) {
        dt_tensor *loss = NULL;
        for (int i = 0; i < N; i++) {
            dt_tensor *part = dt_sum(dt_linear(x, w[i]));
            loss = loss ? dt_add(loss, part) : part;
        }
        counting counts = count_begin(ctx);
        int64_t before = exchanges(ctx), bytes = received(ctx);
        CHECK_OK(ctx, dt_zero_grad((dt_tensors){N, w}));
        CHECK_OK(ctx, dt_backward(loss));
        CHECK_COUNT(&counts, "all_reduce 1");
        CHECK(dt__has_nodes(ctx) || exchanges(ctx) - before == (n > 1), "%lld exchanges",
              (long long)(exchanges(ctx) - before));
        CHECK(received(ctx) - bytes == (n - 1) * 4 * elements, "%lld bytes", (long long)(received(ctx) - bytes));
        for (int i = 0; i < N; i++)
            CHECK_GRAD(w[i], "R", 3.0 * (double)n + 1);
    }
    dt_mesh_release(mesh);
    return 0;
}

static void gradients__of_replicated_parameters_move_together(void **state) {
    (void)state;
    for (int64_t n = 1; n <= 5; n++)
        run_ranks(n, check_data_parallel, NULL);
}

/* dp x tp: weights by columns, by rows, fully sharded ones and norms, whose gradients take different mesh dims. */
static int check_two_dims(dt_ctx *ctx, void *arg) {
    const int64_t *shape = arg;
    dt_mesh *mesh = dt_mesh_from_shape(ctx, shape, 2, NULL);
    static const char *const places[] = {"R,S(0)", "R,S(1)", "S(0),R", "R,R"};
    dt_tensor *w[N], *x = dt_ones(ctx, DT_SHAPE(6, 5), .mesh = mesh, .place = "S(0),R");
    for (int i = 0; i < N; i++)
        w[i] = dt_ones(ctx, DT_SHAPE(7, 5), .mesh = mesh, .place = places[i % 4], .requires_grad = true);
    for (int again = 0; again < 2; again++) {
        dt_tensor *loss = NULL;
        for (int i = 0; i < N; i++) {
            dt_tensor *in = i % 4 == 1 ? dt_redistribute(x, "S(0),S(1)") : x;
            dt_tensor *used = dt_linear(in, i % 4 == 2 ? dt_redistribute(w[i], "R,R") : w[i]);
            loss = loss ? dt_add(loss, dt_sum(used)) : dt_sum(used);
        }
        CHECK(loss, "%s", dt_error_text(ctx));
        int64_t before = exchanges(ctx);
        CHECK_OK(ctx, dt_zero_grad((dt_tensors){N, w}));
        CHECK_OK(ctx, dt_backward(loss));
        CHECK(dt__has_nodes(ctx) || exchanges(ctx) - before == (shape[0] > 1), "%lld exchanges",
              (long long)(exchanges(ctx) - before));
        for (int i = 0; i < N; i++)
            CHECK_GRAD(w[i], places[i % 4], 6);
    }
    dt_mesh_release(mesh);
    return 0;
}

static void gradients__over_different_mesh_dims_move_together(void **state) {
    (void)state;
    static const int64_t meshes[][2] = {{2, 2}, {3, 2}, {2, 1}, {1, 3}};
    for (size_t i = 0; i < sizeof meshes / sizeof *meshes; i++)
        run_ranks(meshes[i][0] * meshes[i][1], check_two_dims, (void *)meshes[i]);
}

/* More than 32 MiB do not wait for each other: three gradients of 16 MiB take two exchanges. */
static int check_large(dt_ctx *ctx, void *arg) {
    (void)arg;
    enum { SIZE = 2048 };
    int64_t n = dt_world(ctx);
    dt_mesh *mesh = dt_mesh_from_shape(ctx, &n, 1, NULL);
    dt_tensor *w[3], *loss = NULL, *x = dt_ones(ctx, DT_SHAPE(n, SIZE), .mesh = mesh, .place = "S(0)");
    for (int i = 0; i < 3; i++) {
        w[i] = dt_ones(ctx, DT_SHAPE(SIZE, SIZE), .mesh = mesh, .place = "R", .requires_grad = true);
        dt_tensor *part = dt_sum(dt_linear(x, w[i]));
        loss = loss ? dt_add(loss, part) : part;
    }
    int64_t before = exchanges(ctx);
    CHECK_OK(ctx, dt_backward(loss));
    CHECK(dt__has_nodes(ctx) || exchanges(ctx) - before == 1, "%lld exchanges", (long long)(exchanges(ctx) - before));
    CHECK_OK(ctx, dt_zero_grad((dt_tensors){3, w}));
    dt_tensor *v = dt_ones(ctx, DT_SHAPE(3), .mesh = mesh, .place = "R", .requires_grad = true);
    dt_tensor *y = dt_ones(ctx, DT_SHAPE(n, 3), .mesh = mesh, .place = "S(0)");
    loss = dt_sum(dt_mul(y, v));
    for (int i = 0; i < 3; i++)
        loss = dt_add(loss, dt_sum(dt_linear(x, w[i])));
    before = exchanges(ctx);
    CHECK_OK(ctx, dt_backward(loss));
    CHECK(dt__has_nodes(ctx) || exchanges(ctx) - before == 2, "%lld exchanges", (long long)(exchanges(ctx) - before));
    for (int i = 0; i < 3; i++)
        CHECK_GRAD(w[i], "R", (double)n);
    CHECK_GRAD(v, "R", (double)n);
    dt_mesh_release(mesh);
    return 0;
}

static void gradients__that_are_large_move_earlier(void **state) {
    (void)state;
    run_ranks(2, check_large, NULL);
}

/* A gradient, different on every rank, is exchanged in place: the results need no memory in addition to the partial
 * sums. */
static int check_in_place(dt_ctx *ctx, void *arg) {
    (void)arg;
    enum { ROWS = 301, COLUMNS = 1021, BYTES = ROWS * COLUMNS * 4 };
    int64_t n = dt_world(ctx);
    double sum = 0;
    dt_mesh *mesh = dt_mesh_from_shape(ctx, &n, 1, NULL);
    dt_tensor *w = dt_ones(ctx, DT_SHAPE(ROWS, COLUMNS), .mesh = mesh, .place = "R", .requires_grad = true);
    dt_tensor *v = dt_ones(ctx, DT_SHAPE(3), .mesh = mesh, .place = "R", .requires_grad = true);
    dt_tensor *local = dt_full(ctx, DT_SHAPE(1, COLUMNS), DT_NUMBER(dt_rank(ctx) + 1));
    dt_tensor *x = dt_from_local(ctx, local, mesh, "S(0)");
    dt_tensor *y = dt_ones(ctx, DT_SHAPE(n, 3), .mesh = mesh, .place = "S(0)");
    for (int64_t r = 0; r < n; r++)
        sum += (double)(r + 1);
    for (int again = 1; again <= 2; again++) { /* the second one adds to the first */
        dt_tensor *loss = dt_add(dt_sum(dt_linear(x, w)), dt_sum(dt_mul(y, v)));
        const size_t before = dt_heap_stats(ctx).live_bytes;
        CHECK_OK(ctx, dt_backward(loss));
        const size_t peak = dt_heap_stats(ctx).peak_bytes;
        CHECK(dt__has_nodes(ctx) || peak < before + BYTES + BYTES / 2, "%zu bytes, %zu before", peak, before);
        CHECK_GRAD(w, "R", sum * again);
        CHECK_GRAD(v, "R", (double)n * again);
    }
    dt_mesh_release(mesh);
    return 0;
}

static void gradients__are_exchanged_in_place(void **state) {
    (void)state;
    for (int64_t n = 2; n <= 5; n++)
        run_ranks(n, check_in_place, NULL);
}

/* Two parameters with one gradient: neither is overwritten before the other has read it. */
static int check_shared(dt_ctx *ctx, void *arg) {
    (void)arg;
    int64_t n = dt_world(ctx);
    dt_mesh *mesh = dt_mesh_from_shape(ctx, &n, 1, NULL);
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(2 * n, 700), .mesh = mesh, .place = "S(0)"), *w[2];
    for (int i = 0; i < 2; i++)
        w[i] = dt_ones(ctx, DT_SHAPE(500, 700), .mesh = mesh, .place = "R", .requires_grad = true);
    CHECK_OK(ctx, dt_backward(dt_sum(dt_linear(x, dt_add(w[0], w[1])))));
    for (int i = 0; i < 2; i++)
        CHECK_GRAD(w[i], "R", 2.0 * (double)n);
    CHECK(dt_data(dt_grad(w[0])) != dt_data(dt_grad(w[1])), "memory of their own");
    dt_mesh_release(mesh);
    return 0;
}

static void gradients__of_one_sum_are_not_overwritten(void **state) {
    (void)state;
    for (int64_t n = 1; n <= 3; n++)
        run_ranks(n, check_shared, NULL);
}

/* Parameters on meshes of some of the ranks, as stages have. */
static int check_stages(dt_ctx *ctx, void *arg) {
    (void)arg;
    static const int64_t ranks[2][2] = {{0, 1}, {1, 2}}, two = 2;
    int64_t before = exchanges(ctx);
    dt_tensor *w[2][3];
    for (int m = 0; m < 2; m++) {
        dt_mesh *mesh = dt_mesh_from_ranks(ctx, ranks[m], &two, 1, NULL);
        dt_tensor *x = dt_ones(ctx, DT_SHAPE(5, 4), .mesh = mesh, .place = "S(0)"), *loss = NULL;
        for (int i = 0; i < 3; i++) {
            w[m][i] = dt_ones(ctx, DT_SHAPE(3, 4), .mesh = mesh, .place = "R", .requires_grad = true);
            dt_tensor *part = dt_sum(dt_linear(x, w[m][i]));
            loss = loss ? dt_add(loss, part) : part;
        }
        CHECK_OK(ctx, dt_backward(loss));
        for (int i = 0; i < 3 && dt_tensor_local_elements(w[m][i]); i++)
            CHECK_GRAD(w[m][i], "R", 5);
        dt_mesh_release(mesh);
    }
    CHECK(dt__has_nodes(ctx) || exchanges(ctx) - before == (dt_rank(ctx) == 1 ? 2 : 1), "%lld exchanges",
          (long long)(exchanges(ctx) - before));
    return 0;
}

static void gradients__move_on_each_mesh(void **state) {
    (void)state;
    run_ranks(3, check_stages, NULL);
}

/* Four micro-batches take one all-reduce; until then the gradient is a partial sum, which no step takes. */
static int check_held(dt_ctx *ctx, void *arg) {
    (void)arg;
    enum { BATCHES = 4 };
    int64_t n = dt_world(ctx);
    char form[32];
    snprintf(form, sizeof form, "dp=%lld", (long long)n);
    dt_mesh *mesh = dt_mesh_new(ctx, form);
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(3 * n, 4), .mesh = mesh, .place = "S(0)"), *w[N];
    for (int i = 0; i < N; i++)
        w[i] = dt_ones(ctx, DT_SHAPE(3, 4), .mesh = mesh, .place = "R", .requires_grad = true);
    const dt_tensors all = {N, w};
    dt_optimizer *optimizer = dt_adamw_new(ctx, 0.1);
    for (int step = 0; step < 2; step++) {
        counting counts = count_begin(ctx);
        for (int b = 0; b < BATCHES; b++) {
            dt_tensor *loss = NULL;
            for (int i = 0; i < N; i++) {
                dt_tensor *part = dt_sum(dt_linear(x, w[i]));
                loss = loss ? dt_add(loss, part) : part;
            }
            const char *hold = b < BATCHES - 1 ? "dp" : NULL;
            CHECK_OK(ctx, dt_backward(loss, .hold = hold));
            CHECK_COUNT(&counts, hold ? "" : "all_reduce 1");
            if (!hold)
                break;
            CHECK_GRAD(w[0], "P(sum)", 3.0 * (b + 1));
            CHECK(dt_optimizer_step(optimizer, .parameters = all) == DT_ERR_STATE, "a step");
            CHECK(strstr(dt_error_text(ctx),
                         "parameter 1: expected a complete gradient, got f32[3,4] P(sum) on mesh(dp="),
                  "%s", dt_error_text(ctx));
            CHECK(strstr(dt_error_text(ctx), "held along 'dp'"), "%s", dt_error_text(ctx));
            CHECK_OK(ctx, dt_error_clear(ctx));
            CHECK(!dt_clip_grad_norm(all, 1) && dt_error_status(ctx) == DT_ERR_STATE, "clipping");
            CHECK_OK(ctx, dt_error_clear(ctx));
            CHECK(dt_save_npy(dt_grad(w[0]), "/nowhere/grad.npy") == DT_ERR_STATE, "a save");
            CHECK(strstr(dt_error_text(ctx), "tensor 0: expected a complete gradient, got one that is held"), "%s",
                  dt_error_text(ctx));
            CHECK_OK(ctx, dt_error_clear(ctx));
        }
        for (int i = 0; i < N; i++)
            CHECK_GRAD(w[i], "R", 3.0 * (double)n * BATCHES);
        CHECK_OK(ctx, dt_zero_grad(all));
    }
    /* A complete gradient stays complete. */
    CHECK_OK(ctx, dt_backward(dt_sum(dt_linear(x, w[0]))));
    CHECK_OK(ctx, dt_backward(dt_sum(dt_linear(x, w[0])), .hold = "dp"));
    CHECK_GRAD(w[0], "R", 6.0 * (double)n);
    /* One that the last walk does not reach stays held; 0 times its sum reaches it. */
    CHECK_OK(ctx, dt_zero_grad(all));
    CHECK_OK(ctx, dt_backward(dt_sum(dt_add(dt_linear(x, w[0]), dt_linear(x, w[1]))), .hold = "dp"));
    CHECK_OK(ctx, dt_backward(dt_sum(dt_linear(x, w[0]))));
    CHECK_GRAD(w[0], "R", 6.0 * (double)n);
    CHECK_GRAD(w[1], "P(sum)", 3);
    CHECK(dt_optimizer_step(optimizer, .parameters = all) == DT_ERR_STATE, "a step");
    CHECK(strstr(dt_error_text(ctx), "parameter 2: ") && strstr(dt_error_text(ctx), "whose loss uses the parameter"),
          "%s", dt_error_text(ctx));
    CHECK_OK(ctx, dt_error_clear(ctx));
    CHECK_OK(ctx, dt_backward(dt_mul_scalar(dt_sum(w[1]), 0)));
    CHECK_GRAD(w[1], "R", 3.0 * (double)n);
    CHECK(dt_backward(dt_sum(dt_linear(x, w[0])), .hold = "tp") == DT_ERR_VALUE, "an unknown dim");
    CHECK(strstr(dt_error_text(ctx), "hold: no mesh of a leaf has a dim 'tp'"), "%s", dt_error_text(ctx));
    CHECK_OK(ctx, dt_error_clear(ctx));
    CHECK(dt_backward(dt_sum(dt_linear(x, w[0])), .hold = "dp", .create_graph = true) == DT_ERR_VALUE, "a graph");
    CHECK_OK(ctx, dt_error_clear(ctx));
    dt_optimizer_free(optimizer);
    dt_mesh_release(mesh);
    return 0;
}

static void gradients__are_held_over_micro_batches(void **state) {
    (void)state;
    for (int64_t n = 1; n <= 5; n++)
        run_ranks(n, check_held, NULL);
}

/* Where parameters and files have names, the error has them. */
static int check_names(dt_ctx *ctx, void *arg) {
    (void)arg;
    static const char *const names[] = {"h.0.weight", "h.1.weight", "h.2.weight"};
    dt_mesh *mesh = dt_mesh_new(ctx, "dp=*");
    dt_params *params = dt_params_new(ctx, .mesh = mesh, .rules = "h.0.* freeze");
    dt_tensor *w[3];
    for (int i = 0; i < 3; i++)
        w[i] = dt_param(params, names[i], DT_SHAPE(3, 4));
    dt_optimizer *optimizer = dt_adamw_new(ctx, 0.1, .params = params);
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(3 * dt_world(ctx), 4), .mesh = mesh, .place = "S(0)");
    CHECK_OK(ctx, dt_backward(dt_sum(dt_linear(x, w[1]))));
    CHECK_OK(ctx, dt_backward(dt_sum(dt_linear(x, w[2])), .hold = "dp"));
    CHECK(dt_optimizer_step(optimizer) == DT_ERR_STATE, "a step");
    CHECK(strstr(dt_error_text(ctx), "parameter 2, h.2.weight: expected a complete gradient"), "%s",
          dt_error_text(ctx));
    CHECK_OK(ctx, dt_error_clear(ctx));
    dt_tensor *grads[] = {dt_grad(w[1]), dt_grad(w[2])};
    CHECK(dt_save_npz("/nowhere/grads.npz", 2, names + 1, grads) == DT_ERR_STATE, "a save");
    CHECK(strstr(dt_error_text(ctx), "tensor 1, h.2.weight: expected a complete gradient"), "%s", dt_error_text(ctx));
    CHECK_OK(ctx, dt_error_clear(ctx));
    dt_optimizer_free(optimizer);
    dt_params_free(params);
    dt_mesh_release(mesh);
    return 0;
}

static void gradients__that_are_held_are_named(void **state) {
    (void)state;
    for (int64_t n = 2; n <= 3; n++)
        run_ranks(n, check_names, NULL);
}

/* Hybrid sharding: each walk reduces over fsdp, and the last one over dp. A gradient that is not partial over dp cannot
 * be added to one that is: both are complete then. */
static int check_hybrid(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh = dt_mesh_new(ctx, "dp=2,fsdp=2");
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(8, 4), .mesh = mesh, .place = "S(0),S(0)"), *w[2];
    for (int i = 0; i < 2; i++)
        w[i] = dt_ones(ctx, DT_SHAPE(5, 4), .mesh = mesh, .place = "R,S(0)", .use = "R,R", .requires_grad = true);
    for (int b = 1; b <= 3; b++) {
        dt_tensor *loss = dt_sum(dt_add(dt_linear(x, w[0]), dt_linear(x, w[1])));
        counting counts = count_begin(ctx);
        CHECK_OK(ctx, dt_backward(loss, .hold = b < 3 ? "dp" : NULL));
        CHECK_COUNT(&counts, b < 3 ? "reduce_scatter 1" : "all_reduce 1, reduce_scatter 1");
        for (int i = 0; i < 2; i++)
            CHECK_GRAD(w[i], b < 3 ? "P(sum),S(0)" : "R,S(0)", b < 3 ? 4.0 * b : 24);
    }
    CHECK_OK(ctx, dt_zero_grad(DT_TENSORS(w[0], w[1])));
    CHECK_OK(ctx, dt_backward(dt_sum(dt_linear(x, w[0])), .hold = "dp"));
    CHECK_OK(ctx, dt_backward(dt_sum(dt_linear(dt_ones(ctx, DT_SHAPE(3, 4), .mesh = mesh), w[0])), .hold = "dp"));
    CHECK_GRAD(w[0], "R,S(0)", 11);
    dt_mesh_release(mesh);
    return 0;
}

static void gradients__are_held_along_one_of_two_dims(void **state) {
    (void)state;
    run_ranks(4, check_hybrid, NULL);
}

static dt_tensor *scale(dt_tensor *grad, void *user) {
    ++*(int *)user;
    return dt_mul_scalar(grad, 10);
}

/* Hooks get the gradient in its placement; a gradient that was there before is added to; an error leaves nothing. */
static int check_hooks(dt_ctx *ctx, void *arg) {
    (void)arg;
    int64_t n = dt_world(ctx);
    dt_mesh *mesh = dt_mesh_from_shape(ctx, &n, 1, NULL);
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(2 * n, 4), .mesh = mesh, .place = "S(0)");
    dt_tensor *a = dt_ones(ctx, DT_SHAPE(3, 4), .mesh = mesh, .place = "R", .requires_grad = true);
    dt_tensor *b = dt_ones(ctx, DT_SHAPE(3, 4), .mesh = mesh, .place = "R", .requires_grad = true), *grads[2];
    int calls = 0;
    CHECK(dt_grad_hook_add(a, scale, &calls) > 0, "%s", dt_error_text(ctx));
    for (int i = 1; i <= 2; i++) {
        CHECK_OK(ctx, dt_backward(dt_sum(dt_add(dt_linear(x, a), dt_linear(x, b)))));
        CHECK_GRAD(a, "R", 20.0 * (double)n * i);
        CHECK_GRAD(b, "R", 2.0 * (double)n * i);
        CHECK(calls == i, "%d calls", calls);
    }
    dt_tensor *loss = dt_sum(dt_mul(dt_linear(x, a), dt_linear(x, b)));
    CHECK_OK(ctx, dt_gradients(DT_TENSORS(loss), DT_TENSORS(a, b), grads, .create_graph = true));
    CHECK(dt_requires_grad(grads[0]) && all_are(grads[1], 8.0 * (double)n), "gradients with their graph");
    CHECK_OK(ctx, dt_zero_grad(DT_TENSORS(a, b)));
    CHECK_OK(ctx, dt_backward(dt_sum(grads[1]))); /* of a and x: 3 x 4 ones of sums over 2 n rows */
    CHECK_GRAD(a, "R", 10 * 4 * 2 * (double)n);
    dt_mesh_release(mesh);
    return 0;
}

static void gradients__that_wait_have_hooks_and_graphs(void **state) {
    (void)state;
    for (int64_t n = 1; n <= 3; n++)
        run_ranks(n, check_hooks, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients__of_replicated_parameters_move_together),
        cmocka_unit_test(gradients__over_different_mesh_dims_move_together),
        cmocka_unit_test(gradients__that_are_large_move_earlier),
        cmocka_unit_test(gradients__are_exchanged_in_place),
        cmocka_unit_test(gradients__of_one_sum_are_not_overwritten),
        cmocka_unit_test(gradients__move_on_each_mesh),
        cmocka_unit_test(gradients__that_wait_have_hooks_and_graphs),
        cmocka_unit_test(gradients__are_held_over_micro_batches),
        cmocka_unit_test(gradients__that_are_held_are_named),
        cmocka_unit_test(gradients__are_held_along_one_of_two_dims),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
