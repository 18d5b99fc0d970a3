/* SPDX-License-Identifier: Apache-2.0
 *
 * Published behaviors of the specs of tensors in a world of 8: sizes of shards, shard orders, strided shards.
 * The transport is fake, and tensors have no data.
 */
#include "tensor/tensors.h"

static dt_ctx *world_of_eight(int64_t rank) {
    return dt_init(&(dt_init_options){.transport = "fake", .world = 8, .rank = rank});
}

/* DT-053: sizes 0 to 7 for 8 ranks. Nothing is padded: ranks beyond the size hold nothing. */
static void shards__of_small_sizes(void **state) {
    (void)state;
    for (int64_t rank = 0; rank < 8; rank++) {
        dt_ctx *ctx = world_of_eight(rank);
        dt_mesh *mesh = dt_mesh_new(ctx, "8");
        for (int64_t size = 0; size < 8; size++) {
            dt_tensor *t = dt_empty(ctx, DT_SHAPE(size, 3), .mesh = mesh, .place = "S(0)");
            assert_int_equal(dt_tensor_local_shape(t)[0], rank < size);
        }
        dt_mesh_release(mesh);
        assert_int_equal(dt_close(ctx), 0);
    }
}

static void assert_text(int n, const dt_placement *placements, const char *expected) {
    char text[128];
    dt_placements_text(n, placements, sizeof text, text);
    assert_string_equal(text, expected);
}

static void orders__are_printed_checked_and_compared(void **state) {
    (void)state;
    dt_ctx *ctx = world_of_eight(0);
    dt_mesh *mesh = dt_mesh_new(ctx, "2x2x2");
    int n;
    /* DT-054 */
    dt_placement *p = dt_placements_parse(ctx, "S(2),S(1),S(0)", &n);
    assert_text(n, p, "S(2),S(1),S(0)");
    dt_placements_free(ctx, p);
    p = dt_placements_parse(ctx, "S(1),S(1),S(1)", &n);
    assert_int_equal(dt_placements_set_order(ctx, n, p, 1, 3, (int[]){2, 0, 1}), DT_OK);
    assert_text(n, p, "S(1)[1],S(1)[2],S(1)[0]");
    dt_placements_free(ctx, p);
    p = dt_placements_parse(ctx, "R,R,S(1)", &n);
    assert_text(n, p, "R,R,S(1)");
    assert_text(2, p, "R,R");
    dt_placements_free(ctx, p);
    /* DT-055 */
    p = dt_placements_parse(ctx, "S(1),S(1),S(0)", &n);
    assert_int_equal(dt_placements_set_order(ctx, n, p, 0, 1, (int[]){2}), DT_OK);
    assert_int_equal(dt_placements_set_order(ctx, n, p, 1, 2, (int[]){1, 0}), DT_OK);
    static const struct {
        int dim, n, dims[2];
    } wrong[] = {{1, 0, {0}}, {0, 1, {1}}, {1, 2, {1, 3}}, {1, 2, {1, 1}}, {-1, 1, {2}}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_not_equal(dt_placements_set_order(ctx, n, p, wrong[i].dim, wrong[i].n, wrong[i].dims), DT_OK);
        assert_true(dt_failed(ctx));
        dt_error_clear(ctx);
    }
    dt_placements_free(ctx, p);
    /* DT-056, DT-058 */
    dt_tensor *plain = dt_empty(ctx, DT_SHAPE(8, 8, 8), .mesh = mesh, .place = "S(1),S(2),S(1)");
    dt_tensor *same = dt_empty(ctx, DT_SHAPE(8, 8, 8), .mesh = mesh, .place = "S(1)[0],S(2),S(1)[1]");
    dt_tensor *other = dt_empty(ctx, DT_SHAPE(8, 8, 8), .mesh = mesh, .place = "S(1)[1],S(2),S(1)[0]");
    assert_true(dt_tensor_spec(plain) == dt_tensor_spec(same) && dt_tensor_spec(plain) != dt_tensor_spec(other));
    assert_int_not_equal(dt_spec_fingerprint(dt_tensor_spec(plain)), dt_spec_fingerprint(dt_tensor_spec(other)));
    /* DT-057 */
    int mesh_dims[DT_SPEC_MAX_DIMS];
    dt_tensor *t = dt_empty(ctx, DT_SHAPE(8, 8), .mesh = mesh, .place = "S(1),S(1),S(0)");
    assert_int_equal(dt_spec_cut_order(dt_tensor_spec(t), 0, mesh_dims), 1);
    assert_int_equal(mesh_dims[0], 2);
    assert_int_equal(dt_spec_cut_order(dt_tensor_spec(t), 1, mesh_dims), 2);
    assert_true(mesh_dims[0] == 0 && mesh_dims[1] == 1);
    t = dt_empty(ctx, DT_SHAPE(8, 8), .mesh = mesh, .place = "R,R,R");
    assert_int_equal(dt_spec_cut_order(dt_tensor_spec(t), 0, mesh_dims), 0);
    t = dt_empty(ctx, DT_SHAPE(8, 8), .mesh = mesh, .place = "P(sum),R,R");
    assert_int_equal(dt_spec_cut_order(dt_tensor_spec(t), 1, mesh_dims), 0);
    dt_mesh_release(mesh);
    assert_int_equal(dt_close(ctx), 0);
}

/* DT-059, DT-060: a shard of an inner dim that was flattened with the dim before it. */
static void strided_shards__split_the_flattened_dim(void **state) {
    (void)state;
    dt_ctx *ctx = world_of_eight(3);
    dt_mesh *mesh = dt_mesh_new(ctx, "8");
    int mesh_dims[DT_SPEC_MAX_DIMS];
    dt_tensor *t = dt_empty(ctx, DT_SHAPE(64, 6), .mesh = mesh, .place = "_S(0,4)"); /* (4,16,6) S(1) */
    assert_int_equal(dt_spec_n_shards(dt_tensor_spec(t)), 8);
    assert_int_equal(dt_spec_dim_shards(dt_tensor_spec(t), 0), 8);
    assert_int_equal(dt_spec_cut_order(dt_tensor_spec(t), 0, mesh_dims), 1);
    assert_int_equal(mesh_dims[0], 0);
    assert_true(dt_tensor_local_shape(t)[0] == 8 && dt_tensor_local_shape(t)[1] == 6);
    assert_true(dt_tensor_strides(t)[0] == 6 && dt_tensor_strides(t)[1] == 1);
    t = dt_empty(ctx, DT_SHAPE(3, 80), .mesh = mesh, .place = "_S(1,5)"); /* (3,5,16) S(2) */
    assert_true(dt_tensor_local_shape(t)[0] == 3 && dt_tensor_local_shape(t)[1] == 10);
    dt_mesh_release(mesh);
    assert_int_equal(dt_close(ctx), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shards__of_small_sizes),
        cmocka_unit_test(orders__are_printed_checked_and_compared),
        cmocka_unit_test(strided_shards__split_the_flattened_dim),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
