/* SPDX-License-Identifier: Apache-2.0
 *
 * dt_local_map: functions on local tensors. X is [16,8], W is [8,12]; the expected product is computed by
 * loops. Ranks 2, and 1, 3, 4, 5 for uneven shards, on shm.
 */
#include "dispatch/calls.h"

#include "dtensor/debug.h"

typedef struct setup {
    dt_ctx *ctx;
    dt_mesh *mesh;
    dt_tensor *x, *w, *product; /* plain */
} setup;

static setup open_setup(dt_ctx *ctx) {
    int64_t n = dt_world(ctx);
    setup self = {.ctx = ctx, .mesh = dt_mesh_from_shape(ctx, &n, 1, NULL)};
    self.x = calls_counting(ctx, DT_F64, DT_SHAPE(16, 8), -3, 0.25);
    self.w = calls_counting(ctx, DT_F64, DT_SHAPE(8, 12), 2, -0.5);
    self.product = dt_empty(ctx, DT_SHAPE(16, 12), .dtype = DT_F64);
    for (int64_t i = 0; i < 16; i++)
        for (int64_t j = 0; j < 12; j++) {
            double sum = 0;
            for (int64_t k = 0; k < 8; k++)
                sum += calls_element(self.x, i * 8 + k) * calls_element(self.w, k * 12 + j);
            calls_set_element(self.product, i * 12 + j, sum);
        }
    (void)dt_comm_stats_begin(ctx);
    return self;
}

static int64_t n_collectives(const setup *self) { return dt_comm_stats(self->ctx, NULL).n; }

static dt_status multiply(dt_ctx *ctx, dt_tensor *const *inputs, dt_tensor **outputs, void *user) {
    (void)user;
    outputs[0] = CALL(ctx, "mm($1; $2)", inputs[0], inputs[1]);
    return outputs[0] ? DT_OK : dt_error_status(ctx);
}

/* The products of the shards, summed over all ranks. */
static dt_status multiply_and_reduce(dt_ctx *ctx, dt_tensor *const *inputs, dt_tensor **outputs, void *user) {
    DT__TRY(multiply(ctx, inputs, outputs, user));
    dt_tensor *sum = dt_empty_like(outputs[0]);
    if (!sum)
        return dt_error_status(ctx);
    dt_status status = dt_comm_all_reduce(dt_group_world(ctx), dt_data(outputs[0]), dt_data(sum),
                                          dt_tensor_elements(sum), DT_F64, DT_SUM);
    outputs[0] = sum;
    return status;
}

static dt_status scale(dt_ctx *ctx, dt_tensor *const *inputs, dt_tensor **outputs, void *user) {
    char text[64];
    snprintf(text, sizeof text, "mul($1; %g)", *(const double *)user);
    outputs[0] = CALL(ctx, text, inputs[0]);
    return outputs[0] ? DT_OK : dt_error_status(ctx);
}

#define LIST(...) ((const char *const[]){__VA_ARGS__})

static int two_ranks(dt_ctx *ctx, void *arg) {
    (void)arg;
    setup s = open_setup(ctx);
    dt_tensor *out = NULL;
    dt_tensor *columns[] = {calls_distribute(s.x, s.mesh, "S(1)"), calls_distribute(s.w, s.mesh, "S(0)")};
    dt_tensor *rows[] = {calls_distribute(s.x, s.mesh, "S(0)"), calls_distribute(s.w, s.mesh, "R")};
    dt_tensor *wrong[] = {calls_distribute(s.x, s.mesh, "S(0)"), calls_distribute(s.w, s.mesh, "S(1)")};
    dt_tensor *plain[] = {s.x, s.w};
    dt_local_mapping reduce = {.run = multiply_and_reduce,
                               .n_inputs = 2,
                               .inputs = columns,
                               .in = LIST("S(1)", "S(0)"),
                               .n_outputs = 1,
                               .out = LIST("R")};
    dt_local_mapping local = {
        .run = multiply, .n_inputs = 2, .inputs = rows, .in = LIST("S(0)", "R"), .n_outputs = 1, .out = LIST("S(0)")};

    CHECK_OK(ctx, dt_comm_stats_begin(ctx)); /* LMP-001 */
    CHECK_OK(ctx, dt_local_map(ctx, &reduce, &out));
    CHECK(n_collectives(&s) == 1, "%" PRId64, n_collectives(&s));
    CHECK(!strcmp(calls_placements(out), "R") && tensors_equal(dt_full_tensor(out), s.product), "LMP-001");

    CHECK_OK(ctx, dt_comm_stats_begin(ctx)); /* LMP-002: an output that stays plain */
    dt_local_mapping unplaced = reduce;
    unplaced.out = NULL;
    CHECK_OK(ctx, dt_local_map(ctx, &unplaced, &out));
    CHECK(n_collectives(&s) == 1 && !dt_tensor_spec(out) && tensors_equal(out, s.product), "LMP-002");

    CHECK_OK(ctx, dt_comm_stats_begin(
                      ctx)); /* LMP-003, LMP-007: plain inputs, plain outputs, for any declared placements */
    dt_local_mapping all_plain = local;
    all_plain.inputs = plain;
    CHECK_OK(ctx, dt_local_map(ctx, &all_plain, &out));
    CHECK(n_collectives(&s) == 0 && !dt_tensor_spec(out) && tensors_equal(out, s.product), "LMP-003");
    all_plain.in = LIST(NULL, NULL);
    CHECK_OK(ctx, dt_local_map(ctx, &all_plain, &out));
    CHECK(!dt_tensor_spec(out) && tensors_equal(out, s.product), "LMP-007");

    dt_tensor *shard[] = {dt_to_local(rows[0]), s.w}; /* with a mesh the outputs are on it */
    all_plain.inputs = shard;
    all_plain.mesh = s.mesh;
    CHECK_OK(ctx, dt_local_map(ctx, &all_plain, &out));
    CHECK(n_collectives(&s) == 0 && dt_tensor_spec(out) && !strcmp(calls_placements(out), "S(0)"), "plain shards");
    CHECK(tensors_equal(dt_full_tensor(out), s.product), "plain shards");
    all_plain.out = LIST("S(7)");
    CHECK(dt_local_map(ctx, &all_plain, &out) != DT_OK && dt_error_is_agreed(ctx), "%s", dt_error_text(ctx));
    CHECK_OK(ctx, dt_error_clear(ctx));

    CHECK_OK(ctx, dt_comm_stats_begin(ctx)); /* LMP-004, LMP-005 */
    CHECK_OK(ctx, dt_local_map(ctx, &local, &out));
    CHECK(n_collectives(&s) == 0 && !strcmp(calls_placements(out), "S(0)"), "LMP-004: %" PRId64, n_collectives(&s));
    CHECK(tensors_equal(dt_full_tensor(out), s.product), "LMP-004");
    local.in = NULL;
    CHECK_OK(ctx, dt_comm_stats_begin(ctx));
    CHECK_OK(ctx, dt_local_map(ctx, &local, &out));
    CHECK(n_collectives(&s) == 0 && tensors_equal(dt_full_tensor(out), s.product), "LMP-005");

    double two = 2; /* LMP-006: other arguments are passed through the user pointer */
    CHECK_OK(ctx, dt_comm_stats_begin(ctx));
    CHECK_OK(ctx, dt_local_map(ctx,
                               &(dt_local_mapping){.run = scale,
                                                   .user = &two,
                                                   .n_inputs = 1,
                                                   .inputs = rows,
                                                   .in = LIST("S(0)"),
                                                   .n_outputs = 1,
                                                   .out = LIST("S(0)")},
                               &out));
    CHECK(n_collectives(&s) == 0 && !strcmp(calls_placements(out), "S(0)"), "LMP-006");
    CHECK(calls_element(dt_full_tensor(out), 5) == 2 * calls_element(s.x, 5), "LMP-006");

    local.in = LIST("S(0)", NULL); /* LMP-008 */
    CHECK(dt_local_map(ctx, &local, &out) == DT_ERR_PLACEMENT && !out, "LMP-008");
    CHECK(strstr(dt_error_text(ctx), "expected placements, got none"), "%s", dt_error_text(ctx));
    CHECK_OK(ctx, dt_error_clear(ctx));

    reduce.inputs = wrong; /* LMP-010, LMP-009 */
    CHECK_OK(ctx, dt_comm_stats_begin(ctx));
    CHECK(dt_local_map(ctx, &reduce, &out) == DT_ERR_VALUE && !out, "LMP-010");
    CHECK(strstr(dt_error_text(ctx), "redistributes") && n_collectives(&s) == 0, "%s", dt_error_text(ctx));
    CHECK_OK(ctx, dt_error_clear(ctx));
    reduce.redistributes = true;
    CHECK_OK(ctx, dt_local_map(ctx, &reduce, &out));
    CHECK(n_collectives(&s) == 3 && !strcmp(calls_placements(out), "R"), "LMP-009: %" PRId64, n_collectives(&s));
    CHECK(tensors_equal(dt_full_tensor(out), s.product), "LMP-009");
    dt_mesh_release(s.mesh);
    return 0;
}

static void local_map__runs_on_local_tensors(void **state) {
    (void)state;
    run_ranks(2, two_ranks, NULL);
}

/* LMP-012: [8,32] S(1) on a mesh of four and [16,8] S(0),S(1) on one of 2x2: shards [8,8] and [8,4]. */
static dt_status multiply_shards(dt_ctx *ctx, dt_tensor *const *inputs, dt_tensor **outputs, void *user) {
    (void)user;
    if (dt_tensor_size(inputs[0], 0) != 8 || dt_tensor_size(inputs[0], 1) != 8 || dt_tensor_size(inputs[1], 0) != 8 ||
        dt_tensor_size(inputs[1], 1) != 4)
        return dt_error_set(ctx, DT_ERR_SHAPE, "expected shards of [8,8] and [8,4]");
    outputs[0] = CALL(ctx, "mm($1; $2)", inputs[0], inputs[1]);
    return outputs[0] ? DT_OK : dt_error_status(ctx);
}

static int two_meshes(dt_ctx *ctx, void *arg) {
    (void)arg;
    int64_t four = 4, square[] = {2, 2};
    dt_mesh *line = dt_mesh_from_shape(ctx, &four, 1, NULL), *grid = dt_mesh_from_shape(ctx, square, 2, NULL);
    dt_tensor *inputs[] = {dt_ones(ctx, DT_SHAPE(8, 32), .mesh = line, .place = "S(1)"),
                           dt_ones(ctx, DT_SHAPE(16, 8), .mesh = grid, .place = "S(0),S(1)")};
    dt_tensor *out;
    CHECK_OK(ctx, dt_comm_stats_begin(ctx));
    CHECK_OK(ctx, dt_local_map(ctx,
                               &(dt_local_mapping){.run = multiply_shards,
                                                   .n_inputs = 2,
                                                   .inputs = inputs,
                                                   .n_outputs = 1,
                                                   .out = LIST("R,S(1)"),
                                                   .mesh = grid},
                               &out));
    CHECK(dt_comm_stats(ctx, NULL).n == 0, "%" PRId64, dt_comm_stats(ctx, NULL).n);
    CHECK(dt_tensor_mesh(out) == grid && !strcmp(calls_placements(out), "R,S(1)"), "%s", calls_placements(out));
    CHECK(dt_tensor_local_shape(out)[0] == 8 && dt_tensor_local_shape(out)[1] == 4 && dt_tensor_size(out, 1) == 8,
          "%" PRId64, dt_tensor_local_shape(out)[1]);
    dt_mesh_release(line);
    dt_mesh_release(grid);
    return 0;
}

static void local_map__takes_inputs_of_several_meshes(void **state) {
    (void)state;
    run_ranks(4, two_meshes, NULL);
}

/* Shards of different sizes, some of them empty; other tensors that the function creates are dropped. */
static int uneven_shards(dt_ctx *ctx, void *arg) {
    (void)arg;
    setup s = open_setup(ctx);
    double three = 3;
    dt_tensor *value = calls_counting(ctx, DT_F64, DT_SHAPE(7, 3), 1, 1), *out;
    dt_tensor *x = calls_distribute(value, s.mesh, "S(0)");
    int64_t n_live[2];
    for (int again = 0; again < 2; again++) { /* the first time, redistribution allocates buffers that it keeps */
        CHECK_OK(ctx, dt_local_map(ctx,
                                   &(dt_local_mapping){.run = scale,
                                                       .user = &three,
                                                       .n_inputs = 1,
                                                       .inputs = &x,
                                                       .n_outputs = 1,
                                                       .out = LIST("S(0)"),
                                                       .checks = true},
                                   &out));
        dt_tensor *full = dt_full_tensor(out);
        for (int64_t i = 0; i < 21; i++)
            CHECK(calls_element(full, i) == 3 * (double)(i + 1), "%" PRId64 ": %g", i, calls_element(full, i));
        dt_drop(full);
        dt_drop(out);
        n_live[again] = dt_heap_stats(ctx).n_live;
    }
    CHECK(n_live[0] == n_live[1], "%" PRId64 " blocks leak", n_live[1] - n_live[0]);
    dt_mesh_release(s.mesh);
    return 0;
}

static void local_map__of_uneven_shards(void **state) {
    (void)state;
    for (int64_t n = 1; n <= 5; n++)
        run_ranks(n, uneven_shards, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(local_map__runs_on_local_tensors),
        cmocka_unit_test(local_map__takes_inputs_of_several_meshes),
        cmocka_unit_test(local_map__of_uneven_shards),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
