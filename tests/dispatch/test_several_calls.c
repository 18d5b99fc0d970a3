/* SPDX-License-Identifier: Apache-2.0
 *
 * Published behaviors that take several calls, or concern more than values: collectives by their numbers, strides and
 * addresses of views, gathering of uneven shards, meshes that differ.
 */
#include "dispatch/published.h"

#include <string.h>

/* LTM-007 */
static int collectives_of_two(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_group *world = dt_group_world(ctx);
    static const float in[2][4] = {{1, 2, 3, 4}, {5, 6, 7, 8}}, sum[4] = {6, 8, 10, 12};
    float out[4] = {0};
    CHECK_OK(ctx, dt_comm_all_reduce(world, in[dt_rank(ctx)], out, 4, DT_F32, DT_SUM));
    CHECK(!memcmp(out, sum, sizeof sum), "LTM-007: sum");
    CHECK_OK(ctx, dt_comm_broadcast(world, in[0], out, 4, DT_F32, 0));
    CHECK(!memcmp(out, in[0], sizeof out), "LTM-007: broadcast");
    return 0;
}

/* LTM-008, LTM-009 */
static int collectives_of_three(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_group *world = dt_group_world(ctx);
    int rank = (int)dt_rank(ctx);
    static const float in[3][4] = {{1, 4, 2, 5}, {2, 1, 3, 6}, {3, 2, 1, 4}};
    static const struct {
        dt_reduce op;
        float value[4];
    } reduced[] = {{DT_SUM, {6, 7, 6, 15}}, {DT_MAX, {3, 4, 3, 6}}, {DT_MIN, {1, 1, 1, 4}}};
    float out[12] = {0};
    for (int i = 0; i < 3; i++) {
        CHECK_OK(ctx, dt_comm_all_reduce(world, in[rank], out, 4, DT_F32, reduced[i].op));
        CHECK(!memcmp(out, reduced[i].value, sizeof reduced[i].value), "LTM-008: reduction %d", i);
    }
    float more[6], sums[6];
    static const float scale[3] = {1, 10, 100}, all[6] = {114, 225, 336, 447, 558, 669};
    for (int i = 0; i < 6; i++)
        more[i] = scale[rank] * (float)(i + 1) + 1;
    CHECK_OK(ctx, dt_comm_all_reduce(world, more, sums, 6, DT_F32, DT_SUM));
    CHECK(!memcmp(sums, all, sizeof all), "LTM-008: sum of x + 1: %g", (double)sums[0]);
    CHECK_OK(ctx, dt_comm_all_gather(world, in[rank], out, 4, DT_F32));
    CHECK(!memcmp(out, in, sizeof in), "LTM-009: all-gather");
    float sent[6], shards[2], received[6];
    for (int i = 0; i < 6; i++) {
        sent[i] = (float)rank;
        more[i] = scale[rank] * (float)(i + 1);
    }
    CHECK_OK(ctx, dt_comm_all_to_all(world, sent, received, 2, DT_F32));
    for (int i = 0; i < 6; i++)
        CHECK(received[i] == (float)(i / 2), "LTM-009: all-to-all: %g", (double)received[i]);
    CHECK_OK(ctx, dt_comm_reduce_scatter(world, more, shards, 2, DT_F32, DT_SUM));
    CHECK(shards[0] == (float)(111 * (2 * rank + 1)) && shards[1] == (float)(111 * (2 * rank + 2)),
          "LTM-009: reduce-scatter: %g", (double)shards[0]);
    return 0;
}

/* TBS-001: every group of a mesh of three dims is created and used, and all ranks end. */
static int thirty_ranks(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh = dt_mesh_new(ctx, "data=2,fsdp=3,tensor=5");
    static const float sizes[] = {2, 3, 5};
    for (int dim = 0; dim < 3; dim++) {
        dt_group *group = dt_mesh_group(mesh, dim);
        float one = 1, n = 0;
        CHECK(group, "%s", dt_error_text(ctx));
        CHECK_OK(ctx, dt_comm_all_reduce(group, &one, &n, 1, DT_F32, DT_SUM));
        CHECK(n == sizes[dim], "TBS-001: dim %d: %g", dim, (double)n);
    }
    dt_mesh_release(mesh);
    return 0;
}

static bool strides_are(const dt_tensor *tensor, const int64_t *strides, int n) {
    return memcmp(dt_tensor_strides(tensor), strides, sizeof *strides * (size_t)n) == 0;
}

static int transposed_and_contiguous(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh = dt_mesh_new(ctx, "4");
    dt_tensor *value = counting(ctx, DT_SHAPE(3, 5, 6)), *x = distributed(value, mesh, "S(0)");
    CHECK(strides_are(x, (int64_t[]){30, 6, 1}, 3), "TOP-006: made contiguous");
    dt_tensor *transposed = dt_transpose(x, 0, 2), *again = dt_contiguous(transposed);
    CHECK(strides_are(transposed, (int64_t[]){1, 6, 30}, 3), "TOP-006: transposed");
    CHECK(dt_tensor_shares(x, transposed), "TOP-006: a view");
    int64_t rows = dt_tensor_local_shape(x)[0]; /* none on the last rank */
    CHECK(rows == (dt_rank(ctx) < 3), "TOP-006: %lld rows", (long long)rows);
    dt_tensor *local = dt_to_local(again);
    CHECK(!rows || strides_are(local, (int64_t[]){5 * rows, rows, 1}, 3), "TOP-006: contiguous again");
    CHECK(tensors_equal(dt_full_tensor(again), dt_transpose(value, 0, 2)), "TOP-006: %s", dt_error_text(ctx));
    dt_mesh_release(mesh);
    return 0;
}

/* Whether the view starts n elements after its base on this rank, without communication. */
static bool has_offset(const dt_ctx *ctx, const dt_tensor *base, const dt_tensor *view, int64_t n) {
    return view && n_collectives(ctx) == 0 && (float *)dt_data(view) - (float *)dt_data(base) == n;
}

static int slices(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh = dt_mesh_new(ctx, "6");
    dt_tensor *line = distributed(counting(ctx, DT_SHAPE(10)), mesh, "R");
    dt_tensor *rows = distributed(counting(ctx, DT_SHAPE(12, 8)), mesh, "S(0)");
    dt_tensor *columns = distributed(counting(ctx, DT_SHAPE(10, 12)), mesh, "S(1)");
    CHECK_OK(ctx, dt_comm_stats_begin(ctx));
    CHECK(has_offset(ctx, line, dt_slice(line, 0, 1, 10, 1), 1), "VIEW-071: %s", dt_error_text(ctx));
    CHECK(has_offset(ctx, rows, dt_slice(rows, 1, 2, 8, 1), 2), "VIEW-072: %s", dt_error_text(ctx));
    CHECK(has_offset(ctx, columns, dt_slice(columns, 0, 2, 10, 1), 4), "VIEW-073: %s", dt_error_text(ctx));
    dt_mesh_release(mesh);
    return 0;
}

static int gathered_and_changed(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *cube = dt_mesh_new(ctx, "2,2,2"), *pair = dt_mesh_new(ctx, "8"), *same = dt_mesh_new(ctx, "2,2,2");
    dt_tensor *value = counting(ctx, DT_SHAPE(8, 3));
    dt_tensor *replicated = dt_redistribute(distributed(value, cube, "S(0),S(0),R"), "R,R,R");
    CHECK(tensors_equal(dt_to_local(replicated), value), "DTC-012: %s", dt_error_text(ctx));
    dt_tensor *wide = counting(ctx, DT_SHAPE(1, 9, 8));
    dt_tensor *flat = dt_view(dt_redistribute(distributed(wide, pair, "S(1)"), "R"), DT_SHAPE(1, 72));
    CHECK(flat && tensors_equal(dt_to_local(flat), dt_view(wide, DT_SHAPE(1, 72))), "DTC-013: %s",
          dt_error_text(ctx));
    dt_tensor *local_ones = dt_from_local(ctx, dt_ones(ctx, DT_SHAPE(2, 2)), same, "R,R,R");
    CHECK(dt_tensor_mesh(local_ones) == same, "DTC-004");
    /* DTC-020: an asynchronous redistribution has the value of a synchronous one. */
    dt_tensor *target = dt_transfer_wait(dt_redistribute_start(distributed(value, pair, "S(0)"), "R"));
    CHECK(target && tensors_equal(dt_to_local(target), value), "DTC-020: %s", dt_error_text(ctx));
    /* DTC-024 */
    dt_tensor *first = distributed(value, pair, "S(0)"), *second = distributed(value, pair, "S(0)");
    CHECK(dt_add_(second, first) == second, "DTC-024: %s", dt_error_text(ctx));
    CHECK(tensors_equal(dt_full_tensor(second), dt_mul_scalar(value, 2)), "DTC-024: the changed one");
    CHECK(tensors_equal(dt_full_tensor(first), value), "DTC-024: the other one");
    dt_mesh_release(cube);
    dt_mesh_release(pair);
    dt_mesh_release(same);
    return 0;
}

/* DTC-009: the spec of the result follows from shapes alone, so a rank of a fake world has the same. */
static int scatters_on_a_sub_mesh(dt_ctx *ctx, void *arg) {
    (void)arg;
    static const int64_t ranks[] = {1, 3}, two = 2;
    dt_mesh *mesh = dt_mesh_from_ranks(ctx, ranks, &two, 1, NULL);
    dt_tensor *value = counting(ctx, DT_SHAPE(10, 257, 160));
    dt_tensor *x = dt_from_local(ctx, value, mesh, "P(sum)"), *y = dt_redistribute(x, "S(1)");
    CHECK(y, "DTC-009: %s", dt_error_text(ctx));
    CHECK(memcmp(dt_spec_strides(dt_tensor_spec(y)), (int64_t[]){257 * 160, 160, 1}, 3 * sizeof(int64_t)) == 0,
          "DTC-009: the global tensor is contiguous");
    dt_ctx *fake = dt_init(&(dt_init_options){.transport = "fake", .world = 4, .rank = dt_rank(ctx)});
    dt_mesh *same = dt_mesh_from_ranks(fake, ranks, &two, 1, NULL);
    dt_tensor *shaped =
        dt_redistribute(dt_zeros(fake, DT_SHAPE(10, 257, 160), .mesh = same, .place = "P(sum)"), "S(1)");
    CHECK(shaped, "DTC-009: %s", dt_error_text(fake));
    int64_t n = dt_tensor_local_elements(y), place = dt_rank(ctx) / 2;
    CHECK(n == (dt_rank(ctx) % 2 ? 10 * (129 - place) * 160 : 0), "DTC-009: %lld elements", (long long)n);
    CHECK(tensors_same_shape(y, shaped), "DTC-009: another local shape");
    CHECK(!n || memcmp(dt_tensor_strides(y), dt_tensor_strides(shaped), 3 * sizeof(int64_t)) == 0,
          "DTC-009: other local strides");
    dt_tensor *full = dt_full_tensor(y);
    CHECK(!n || tensors_equal(full, dt_mul_scalar(value, 2)), "DTC-009: %s", dt_error_text(ctx));
    dt_mesh_release(same);
    CHECK(dt_close(fake) == 0, "DTC-009: close");
    dt_mesh_release(mesh);
    return 0;
}

/* LTM-013: each stage sends its local tensor to the next one. */
static int stages(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh = dt_mesh_new(ctx, "dp=2,pp=3"), *dp = dt_mesh_slice(mesh, "dp");
    dt_group *group = dt_mesh_group(mesh, 1);
    int64_t stage = dt_mesh_local_rank(mesh, 1);
    dt_tensor *x = distributed(dt_add_scalar(counting(ctx, DT_SHAPE(5, 4)), (double)stage), dp, "S(0)");
    dt_tensor *sent = dt_to_local(x), *received = dt_mul_scalar(sent, 0);
    int64_t n = dt_tensor_local_elements(sent);
    if (stage < 2)
        CHECK_OK(ctx, dt_comm_send(group, dt_data(sent), n, DT_F32, stage + 1));
    if (stage > 0) {
        CHECK_OK(ctx, dt_comm_recv(group, dt_data(received), n, DT_F32, stage - 1));
        dt_tensor *full = dt_full_tensor(dt_from_local(ctx, received, dp, "S(0)", .shape = DT_SHAPE(5, 4)));
        CHECK(tensors_equal(full, dt_add_scalar(counting(ctx, DT_SHAPE(5, 4)), (double)stage - 1)), "LTM-013: %s",
              dt_error_text(ctx));
    }
    dt_mesh_release(dp);
    dt_mesh_release(mesh);
    return 0;
}

/* OPDB-007: the error names the op and both meshes. */
static int meshes_that_differ(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *grid = dt_mesh_new(ctx, "dp=2,tp=2"), *line = dt_mesh_slice(grid, "tp");
    dt_tensor *weight = distributed(dt_ones(ctx, DT_SHAPE(16, 4)), line, "S(0)");
    dt_tensor *index = distributed(dt_zeros(ctx, DT_SHAPE(4, 8), .dtype = DT_I64), grid, "S(0),R");
    CHECK(weight && index, "%s", dt_error_text(ctx));
    CHECK(!dt_embedding(index, weight), "OPDB-007: expected an error, got a tensor");
    CHECK(strstr(dt_error_text(ctx), "embedding") && strstr(dt_error_text(ctx), "mesh"), "OPDB-007: %s",
          dt_error_text(ctx));
    CHECK_OK(ctx, dt_error_clear(ctx));
    dt_mesh_release(line);
    dt_mesh_release(grid);
    return 0;
}

static void collectives__have_the_published_values(void **state) {
    (void)state;
    run_ranks(2, collectives_of_two, NULL);
    run_ranks(3, collectives_of_three, NULL);
    run_ranks(30, thirty_ranks, NULL);
}

static void views__have_the_published_strides_and_offsets(void **state) {
    (void)state;
    run_ranks(4, transposed_and_contiguous, NULL);
    run_ranks(6, slices, NULL);
}

static void tensors__keep_value_and_mesh(void **state) {
    (void)state;
    run_ranks(8, gathered_and_changed, NULL);
    run_ranks(4, scatters_on_a_sub_mesh, NULL);
    run_ranks(6, stages, NULL);
    run_ranks(4, meshes_that_differ, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(collectives__have_the_published_values),
        cmocka_unit_test(views__have_the_published_strides_and_offsets),
        cmocka_unit_test(tensors__keep_value_and_mesh),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
