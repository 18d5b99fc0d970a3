/* SPDX-License-Identifier: Apache-2.0 */
#include "mesh/meshes.h"

static void shape__is_row_major_from_rank_0(void **state) {
    (void)state;
    world w;
    dt_ctx *ctx = world_begin(&w, 8, 6);
    dt_mesh *mesh = require(ctx, dt_mesh_from_shape(ctx, (int64_t[]){2, 4}, 2, &(dt_mesh_options){.names = "DP,TP"}));
    assert_mesh(mesh, "DP=2,TP=4", "0 1 2 3 4 5 6 7");
    int64_t ranks[8] = {0, 1, 2, 3, 4, 5, 6, 7}, coordinate[2];
    dt_mesh *same =
        require(ctx, dt_mesh_from_ranks(ctx, ranks, (int64_t[]){2, 4}, 2, &(dt_mesh_options){.names = "DP,TP"}));
    assert_true(dt_mesh_equal(mesh, same)); /* DM-030 */
    assert_true(dt_mesh_coordinate(mesh, coordinate));
    assert_int_equal(coordinate[0], 1);
    assert_int_equal(coordinate[1], 2);
    assert_string_equal(dt_mesh_device(mesh), "cpu");
    assert_ptr_equal(dt_mesh_ctx(mesh), ctx);
    dt_mesh_release(mesh);
    dt_mesh_release(same);
    world_end(&w);
}

/* Several dims, some of size 1, of fewer ranks than the world. */
static void shape__may_be_smaller_than_the_world(void **state) {
    (void)state;
    world w;
    dt_ctx *ctx = world_begin(&w, 7, 5);
    dt_mesh *mesh = require(ctx, dt_mesh_new(ctx, "1x3x1"));
    assert_mesh(mesh, "1x3x1", "0 1 2");
    int64_t coordinate[3] = {7, 7, 7};
    assert_false(dt_mesh_coordinate(mesh, coordinate));
    assert_int_equal(coordinate[0], 7);
    assert_int_equal(dt_mesh_local_rank(mesh, 1), -1);
    assert_int_equal(dt_mesh_group_rank(mesh, 1, 0), -1);
    assert_group(mesh, 1, "");
    assert_true(dt_mesh_coordinate_of(mesh, 2, coordinate));
    assert_int_equal(coordinate[1], 2);
    dt_mesh_release(mesh);
    world_end(&w);
}

static void shape__invalid_sizes_are_refused(void **state) {
    (void)state;
    world w;
    dt_ctx *ctx = world_begin(&w, 8, 0);
    int64_t eight = 8, shape[] = {2, 4}, zero[] = {2, 0}, negative[] = {2, -4}, large[] = {1 << 30, 1 << 30, 1 << 30};
    int64_t many[DT_MESH_MAX_DIMS + 1];
    for (int i = 0; i <= DT_MESH_MAX_DIMS; i++)
        many[i] = 1;
    assert_refused(ctx, dt_mesh_from_shape(ctx, shape, 2, &(dt_mesh_options){.names = "dp,dp"}),
                   "'dp' appears twice"); /* DM-031 */
    assert_refused(ctx, dt_mesh_from_shape(ctx, &eight, 1, &(dt_mesh_options){.names = "dp,tp"}),
                   "wrong number of names: expected 1, got 2"); /* DM-032 */
    assert_refused(ctx, dt_mesh_from_shape(ctx, shape, 2, &(dt_mesh_options){.names = ""}),
                   "wrong number of names: expected 2, got 1");
    assert_refused(ctx, dt_mesh_from_shape(ctx, shape, 2, &(dt_mesh_options){.names = "dp,"}), "'' is not a name");
    assert_refused(ctx, dt_mesh_from_shape(ctx, shape, 2, &(dt_mesh_options){.names = "dp,2"}), "'2' is not a name");
    assert_refused(ctx, dt_mesh_from_shape(ctx, shape, 2, &(dt_mesh_options){.names = "d p,tp"}),
                   "'d p' is not a name");
    assert_refused(ctx, dt_mesh_from_shape(ctx, shape, 2, &(dt_mesh_options){.device = "cpu:0"}),
                   "'cpu:0'"); /* DM-021 */
    assert_refused(ctx, dt_mesh_from_shape(ctx, shape, 2, &(dt_mesh_options){.device = ""}), "''");
    assert_refused(ctx, dt_mesh_from_shape(ctx, zero, 2, NULL), "wrong size of dim 1: expected at least 1, got 0");
    assert_refused(ctx, dt_mesh_from_shape(ctx, negative, 2, NULL),
                   "wrong size of dim 1: expected at least 1, got -4");
    assert_refused(ctx, dt_mesh_from_shape(ctx, large, 3, NULL), "more than 2147483647 ranks");
    assert_refused(ctx, dt_mesh_from_shape(ctx, many, DT_MESH_MAX_DIMS + 1, NULL), "expected 1 to 64, got 65");
    assert_refused(ctx, dt_mesh_from_shape(ctx, shape, 0, NULL), "got 0");
    assert_refused(ctx, dt_mesh_from_shape(ctx, NULL, 2, NULL), "dims");
    shape[0] = 3;
    assert_refused(ctx, dt_mesh_from_shape(ctx, shape, 2, NULL), "expected at least 12 ranks, got 8");
    dt_mesh *max = require(ctx, dt_mesh_from_shape(ctx, many, DT_MESH_MAX_DIMS, NULL));
    assert_int_equal(dt_mesh_size(max), 1);
    dt_mesh_release(max);
    assert_null(dt_mesh_from_shape(NULL, shape, 2, NULL));
    world_end(&w);
}

static void world_of_one__error_shows_how_to_start_more_ranks(void **state) {
    (void)state;
    world w;
    dt_ctx *ctx = world_begin(&w, 1, 0);
    assert_refused(ctx, dt_mesh_new(ctx, "dp=2,tp=2"), "dtrun -n 4");
    world_end(&w);
}

static void ranks__keep_their_order(void **state) {
    (void)state;
    static const int64_t ranks[] = {9, 1, 4, 6, 2, 11}, shape[] = {3, 2};
    for (int64_t rank = 0; rank < 12; rank++) {
        world w;
        dt_ctx *ctx = world_begin(&w, 12, rank);
        dt_mesh *mesh = require(ctx, dt_mesh_from_ranks(ctx, ranks, shape, 2, NULL));
        assert_mesh(mesh, "3x2", "9 1 4 6 2 11");
        int64_t at = -1, coordinate[2] = {-1, -1}, other[2] = {-1, -1};
        for (int i = 0; i < 6; i++)
            if (ranks[i] == rank)
                at = i;
        assert_int_equal(dt_mesh_coordinate(mesh, coordinate), at >= 0);
        if (at >= 0) {
            assert_int_equal(coordinate[0], at / 2);
            assert_int_equal(coordinate[1], at % 2);
            assert_int_equal(dt_mesh_rank_at(mesh, coordinate), rank);
        }
        for (int64_t r = -3; r < 15; r++) {
            bool is_member = false;
            for (int i = 0; i < 6; i++)
                is_member = is_member || ranks[i] == r;
            assert_int_equal(dt_mesh_coordinate_of(mesh, r, other), is_member);
            if (is_member)
                assert_int_equal(dt_mesh_rank_at(mesh, other), r);
        }
        assert_int_equal(dt_mesh_rank_at(mesh, (int64_t[]){3, 0}), -1);
        assert_int_equal(dt_mesh_rank_at(mesh, (int64_t[]){0, -1}), -1);
        dt_mesh_release(mesh);
        world_end(&w);
    }
}

/* Evenly spaced lists, ascending and descending, are stored as first rank and stride. */
static void ranks__evenly_spaced_lists_are_stored_as_a_stride(void **state) {
    (void)state;
    static const int64_t lists[][4] = {{0, 1, 2, 3}, {4, 6, 8, 10}, {9, 6, 3, 0}, {3, 2, 1, 0}, {1, 2, 3, 5}};
    for (int l = 0; l < 5; l++) {
        world w;
        dt_ctx *ctx = world_begin(&w, 12, lists[l][2]);
        dt_mesh *mesh = require(ctx, dt_mesh_from_ranks(ctx, lists[l], (int64_t[]){2, 2}, 2, NULL));
        int64_t got[4], coordinate[2];
        dt_mesh_ranks(mesh, got);
        assert_memory_equal(got, lists[l], sizeof got);
        assert_int_equal(mesh->ranks->ranks == NULL, l < 4);
        for (int64_t rank = -5; rank < 20; rank++) {
            int at = -1;
            for (int i = 0; i < 4; i++)
                at = lists[l][i] == rank ? i : at;
            assert_int_equal(dt_mesh_coordinate_of(mesh, rank, coordinate), at >= 0);
            if (at >= 0)
                assert_int_equal(coordinate[0] * 2 + coordinate[1], at);
        }
        assert_false(dt_mesh_coordinate_of(mesh, INT64_MIN, coordinate));
        assert_false(dt_mesh_coordinate_of(mesh, INT64_MAX, coordinate));
        dt_mesh_release(mesh);
        world_end(&w);
    }
}

static void ranks__invalid_lists_are_refused(void **state) {
    (void)state;
    world w;
    dt_ctx *ctx = world_begin(&w, 6, 0);
    int64_t three = 3;
    assert_refused(ctx, dt_mesh_from_ranks(ctx, (int64_t[]){2, 2, 0}, &three, 1, NULL), "rank 2 appears twice");
    assert_refused(ctx, dt_mesh_from_ranks(ctx, (int64_t[]){2, 2, 2}, &three, 1, NULL), "rank 2 appears twice");
    assert_refused(ctx, dt_mesh_from_ranks(ctx, (int64_t[]){2, 6, 0}, &three, 1, NULL),
                   "rank 6 is not in a world of");
    assert_refused(ctx, dt_mesh_from_ranks(ctx, (int64_t[]){2, -1, 0}, &three, 1, NULL), "rank -1 is not in a world");
    assert_refused(ctx, dt_mesh_from_ranks(ctx, NULL, &three, 1, NULL), "the list of ranks is NULL");
    world_end(&w);
}

static void self__must_be_in_the_world(void **state) {
    (void)state;
    world w;
    dt_ctx *ctx = world_begin(&w, 1, 0);
    int64_t two = 2, ten = 10, coordinate;
    dt__names none = {NULL, 0};
    assert_refused(ctx, dt__mesh_from_shape(ctx, (dt__mesh_self){8, 8}, &two, 1, none, NULL), "rank 8 is not in");
    assert_refused(ctx, dt__mesh_from_shape(ctx, (dt__mesh_self){8, -1}, &two, 1, none, NULL), "rank -1 is not in");
    assert_refused(ctx, dt__mesh_from_shape(ctx, (dt__mesh_self){0, 0}, &two, 1, none, NULL), "rank 0 is not in");
    /* DM-014: coordinates need no communication, and any rank of any world can be queried. */
    dt_mesh *mesh = require(ctx, dt__mesh_from_shape(ctx, (dt__mesh_self){10, 5}, &ten, 1, none, NULL));
    assert_true(dt_mesh_coordinate(mesh, &coordinate));
    assert_int_equal(coordinate, 5);
    dt_mesh_release(mesh);
    world_end(&w);
}

static void groups__one_group_is_a_mesh(void **state) {
    (void)state;
    for (int64_t rank = 0; rank < 4; rank++) {
        world w;
        dt_ctx *ctx = world_begin(&w, 4, rank);
        int64_t all[] = {0, 1, 2, 3}, shape = 4, coordinate;
        dt_ranks group = {all, 4};
        dt_mesh *expected = require(ctx, dt_mesh_from_shape(ctx, &shape, 1, NULL));
        dt_mesh *got = require(ctx, dt_mesh_from_groups(ctx, &group, 1, NULL, NULL)); /* DM-017 */
        assert_true(dt_mesh_equal(got, expected));
        assert_true(dt_mesh_coordinate(got, &coordinate));
        assert_int_equal(coordinate, rank);
        assert_group(got, 0, "0 1 2 3");
        dt_mesh *again = require(ctx, dt_mesh_from_groups(ctx, &group, 1, &(dt_mesh_grid){all, &shape, 1}, NULL));
        assert_true(dt_mesh_equal(again, expected)); /* DM-018 */
        dt_mesh_release(again);
        dt_mesh_release(got);
        dt_mesh_release(expected);
        world_end(&w);
    }
}

static void groups__must_be_those_of_the_grid(void **state) {
    (void)state;
    world w;
    dt_ctx *ctx = world_begin(&w, 4, 1);
    int64_t all[] = {0, 1, 2, 3}, pair[] = {0, 1}, column[] = {1, 3}, four = 4, square[] = {2, 2};
    dt_ranks whole = {all, 4}, two[] = {{column, 2}, {pair, 2}}, swapped[] = {{pair, 2}, {column, 2}};
    dt_mesh_grid line = {all, &four, 1}, grid = {all, square, 2};
    assert_refused(ctx, dt_mesh_from_groups(ctx, &whole, 1, &grid, NULL), "expected 2, got 1"); /* DM-019 */
    assert_refused(ctx, dt_mesh_from_groups(ctx, two, 2, &line, NULL), "expected 1, got 2");    /* DM-020 */
    assert_refused(ctx, dt_mesh_from_groups(ctx, two, 2, NULL, NULL), "without a grid: expected 1, got 2");
    assert_refused(ctx, dt_mesh_from_groups(ctx, swapped, 2, &grid, NULL), "group 0 is not this rank's group");
    dt_mesh *mesh = require(ctx, dt_mesh_from_groups(ctx, two, 2, &grid, NULL));
    assert_mesh(mesh, "2x2", "0 1 2 3");
    dt_mesh_release(mesh);
    world_end(&w);
}

/* DM-029: explicit groups for 2 replicas of 4 shards. */
static void groups__of_every_dim_form_the_mesh_of_the_shape(void **state) {
    (void)state;
    for (int64_t rank = 0; rank < 8; rank++) {
        world w;
        dt_ctx *ctx = world_begin(&w, 8, rank);
        int64_t all[] = {0, 1, 2, 3, 4, 5, 6, 7}, shape[] = {2, 4}, shard[4], replicate[2];
        for (int64_t i = 0; i < 4; i++)
            shard[i] = rank / 4 * 4 + i;
        for (int64_t i = 0; i < 2; i++)
            replicate[i] = rank % 4 + 4 * i;
        dt_ranks groups[] = {{replicate, 2}, {shard, 4}};
        dt_mesh_options options = {.names = "replicate,shard"};
        dt_mesh *got = require(ctx, dt_mesh_from_groups(ctx, groups, 2, &(dt_mesh_grid){all, shape, 2}, &options));
        dt_mesh *expected = require(ctx, dt_mesh_from_shape(ctx, shape, 2, &options));
        assert_true(dt_mesh_equal(got, expected));
        for (int i = 0; i < 2; i++) {
            dt_mesh *left = dt_mesh_slice(got, i ? "shard" : "replicate");
            dt_mesh *right = dt_mesh_slice(expected, i ? "shard" : "replicate");
            assert_true(dt_mesh_equal(left, right));
            dt_mesh_release(left);
            dt_mesh_release(right);
        }
        dt_mesh_release(got);
        dt_mesh_release(expected);
        world_end(&w);
    }
}

/* DM-028: a 2-D mesh from the groups of two of three dims. */
static void groups__of_some_dims_form_their_slice(void **state) {
    (void)state;
    for (int64_t rank = 0; rank < 8; rank++) {
        world w;
        dt_ctx *ctx = world_begin(&w, 8, rank);
        dt_mesh *root = require(ctx, dt_mesh_new(ctx, "dp_replicate=2,dp_shard=2,tp=2"));
        int64_t replicate[2], shard[2], grid[4];
        assert_true(dt_mesh_group_ranks(root, 0, replicate));
        assert_true(dt_mesh_group_ranks(root, 1, shard));
        for (int64_t i = 0; i < 4; i++)
            grid[i] = dt_mesh_rank_at(root, (int64_t[]){i / 2, i % 2, dt_mesh_local_rank(root, 2)});
        dt_ranks groups[] = {{replicate, 2}, {shard, 2}};
        dt_mesh *got = require(ctx, dt_mesh_from_groups(ctx, groups, 2, &(dt_mesh_grid){grid, (int64_t[]){2, 2}, 2},
                                                        &(dt_mesh_options){.names = "dp_replicate,dp_shard"}));
        for (int i = 0; i < 2; i++) {
            const char *name = i ? "dp_shard" : "dp_replicate";
            dt_mesh *left = require(ctx, dt_mesh_slice(got, name)), *right = require(ctx, dt_mesh_slice(root, name));
            int64_t of_left[2], of_right[2];
            dt_mesh_ranks(left, of_left);
            dt_mesh_ranks(right, of_right);
            assert_memory_equal(of_left, of_right, sizeof of_left);
            dt_mesh_release(left);
            dt_mesh_release(right);
        }
        dt_mesh_release(got);
        dt_mesh_release(root);
        world_end(&w);
    }
}

/* DM-016: the device is a name; it need not exist. */
static void device__is_a_name(void **state) {
    (void)state;
    world w;
    dt_ctx *ctx = world_begin(&w, 4, 0);
    int64_t one = 1;
    dt_mesh *mesh =
        require(ctx, dt_mesh_from_shape(ctx, &one, 1, &(dt_mesh_options){.names = "dp", .device = "cuda"}));
    assert_mesh(mesh, "dp=1", "0");
    assert_string_equal(dt_mesh_device(mesh), "cuda");
    dt_mesh_release(mesh);
    world_end(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shape__is_row_major_from_rank_0),
        cmocka_unit_test(shape__may_be_smaller_than_the_world),
        cmocka_unit_test(shape__invalid_sizes_are_refused),
        cmocka_unit_test(world_of_one__error_shows_how_to_start_more_ranks),
        cmocka_unit_test(ranks__keep_their_order),
        cmocka_unit_test(ranks__evenly_spaced_lists_are_stored_as_a_stride),
        cmocka_unit_test(ranks__invalid_lists_are_refused),
        cmocka_unit_test(self__must_be_in_the_world),
        cmocka_unit_test(groups__one_group_is_a_mesh),
        cmocka_unit_test(groups__must_be_those_of_the_grid),
        cmocka_unit_test(groups__of_every_dim_form_the_mesh_of_the_shape),
        cmocka_unit_test(groups__of_some_dims_form_their_slice),
        cmocka_unit_test(device__is_a_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
