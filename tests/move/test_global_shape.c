/* SPDX-License-Identifier: Apache-2.0
 *
 * The global shape that dt_from_local derives: from one local tensor, if all have the same shape (on the fake
 * transport), and from all of them with check. Ranks 8 on shm.
 */
#include "tensor/tensors.h"

#define SIZES(...) ((int64_t[]){__VA_ARGS__})

static bool has_shape_and_strides(const dt_tensor *t, const int64_t *shape, const int64_t *strides) {
    size_t bytes = (size_t)dt_tensor_n_dims(t) * sizeof *shape;
    return t && memcmp(dt_tensor_shape(t), shape, bytes) == 0 &&
           memcmp(dt_spec_strides(dt_tensor_spec(t)), strides, bytes) == 0;
}

static dt_ctx *fake_rank(int64_t world, int64_t rank) {
    return dt_init(&(dt_init_options){.transport = "fake", .world = world, .rank = rank});
}

static void global_shape__follows_from_one_local_tensor(void **state) {
    (void)state;
    dt_ctx *ctx = fake_rank(24, 0);
    dt_mesh *two = dt_mesh_new(ctx, "2x3"), *three = dt_mesh_new(ctx, "2x3x4");
    dt_tensor *columns = dt_as_strided(dt_zeros(ctx, DT_SHAPE(24)), DT_SHAPE(6, 4), DT_INTS(1, 6), 0);
    assert_true(
        has_shape_and_strides(dt_from_local(ctx, columns, two, "R,P(sum)"), SIZES(6, 4), SIZES(1, 6))); /* UTL-021 */
    dt_tensor *local = dt_as_strided(dt_zeros(ctx, DT_SHAPE(6)), DT_SHAPE(2, 3, 1), DT_INTS(3, 1, 1), 0);
    assert_true(has_shape_and_strides(dt_from_local(ctx, local, three, "S(0),S(1),S(-1)"), SIZES(4, 9, 4),
                                      SIZES(36, 4, 1))); /* UTL-022 */
    dt_mesh_release(two);
    dt_mesh_release(three);
    assert_int_equal(dt_close(ctx), 0);
}

static void global_shape__has_the_local_shapes(void **state) {
    (void)state; /* UTL-023 */
    const int64_t mesh_sizes[] = {8, 8, 4}, local[] = {4, 4, 4};
    for (int combination = 0; combination < 64; combination++) {
        static const char *const placements[] = {"S(0)", "S(1)", "S(2)", "R"};
        dt_ctx *ctx = fake_rank(256, 37);
        dt_mesh *mesh = dt_mesh_from_shape(ctx, mesh_sizes, 3, NULL);
        int64_t shape[] = {4, 4, 4};
        char place[32];
        const int choice[] = {combination % 4, combination / 4 % 4, combination / 16};
        (void)snprintf(place, sizeof place, "%s,%s,%s", placements[choice[0]], placements[choice[1]],
                       placements[choice[2]]);
        for (int m = 0; m < 3; m++)
            if (choice[m] < 3)
                shape[choice[m]] *= mesh_sizes[m];
        dt_tensor *t = dt_from_local(ctx, dt_zeros(ctx, DT_SHAPE(4, 4, 4)), mesh, place);
        if (!has_shape_and_strides(t, shape, SIZES(shape[1] * shape[2], shape[2], 1)))
            fail_msg("%s: %s", place, dt_error_text(ctx));
        for (int64_t rank = 0; rank < 256; rank++) {
            dt_local shard;
            dt_spec_local_of(dt_tensor_spec(t), rank, &shard);
            assert_memory_equal(shard.shape, local, sizeof local);
            assert_memory_equal(shard.strides, SIZES(16, 4, 1), sizeof local);
        }
        dt_mesh_release(mesh);
        assert_int_equal(dt_close(ctx), 0);
    }
}

static int derive_with_check(dt_ctx *ctx, void *arg) {
    (void)arg;
    int64_t r = dt_rank(ctx);
    dt_mesh *mesh = dt_mesh_new(ctx, "8"), *two = dt_mesh_new(ctx, "4x2");
    dt_tensor *t = dt_from_local(ctx, dt_zeros(ctx, DT_SHAPE(5, r)), mesh, "S(1)", .check = true); /* UTL-009 */
    CHECK(dt_tensor_size(t, 0) == 5 && dt_tensor_size(t, 1) == 28, "columns: %s", dt_error_text(ctx));
    t = dt_from_local(ctx, dt_zeros(ctx, DT_SHAPE(r, 5)), mesh, "S(0)", .check = true); /* UTL-009 */
    CHECK(dt_tensor_size(t, 0) == 28 && dt_tensor_size(t, 1) == 5, "rows: %s", dt_error_text(ctx));
    t = dt_from_local(ctx, dt_zeros(ctx, DT_SHAPE(5, 5)), mesh, "R", .check = true); /* UTL-009 */
    CHECK(dt_tensor_size(t, 0) == 5 && dt_tensor_size(t, 1) == 5, "replicated: %s", dt_error_text(ctx));
    t = dt_from_local(ctx, dt_zeros(ctx, DT_SHAPE(r % 2 ? 6 : 5, r)), mesh, "S(1)", .check = true); /* UTL-010 */
    CHECK(!t && dt_error_status(ctx) == DT_ERR_VALUE, "%s", dt_error_text(ctx));
    dt_error_clear(ctx);
    t = dt_from_local(ctx, dt_zeros(ctx, DT_SHAPE(5, r)), two, "S(1)", .check = true); /* UTL-011 */
    CHECK(!t && dt_error_status(ctx) == DT_ERR_PLACEMENT, "%s", dt_error_text(ctx));
    dt_error_clear(ctx);
    dt_mesh_release(mesh);
    dt_mesh_release(two);
    return 0;
}

static void global_shape__follows_from_all_local_tensors(void **state) {
    (void)state;
    run_ranks(8, derive_with_check, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(global_shape__follows_from_one_local_tensor),
        cmocka_unit_test(global_shape__has_the_local_shapes),
        cmocka_unit_test(global_shape__follows_from_all_local_tensors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
