/* SPDX-License-Identifier: Apache-2.0 */
#include "mesh/meshes.h"

static void local_rank__is_the_coordinate_along_a_dim(void **state) {
    (void)state;
    for (int64_t rank = 0; rank < 8; rank++) {
        world w;
        dt_ctx *ctx = world_begin(&w, 8, rank);
        dt_mesh *mesh = require(ctx, dt_mesh_new(ctx, "dp=2,pp=2,tp=2")); /* DM-025 */
        assert_int_equal(dt_mesh_local_rank(mesh, dt_mesh_dim(mesh, "tp")), rank % 2);
        assert_int_equal(dt_mesh_local_rank(mesh, dt_mesh_dim(mesh, "pp")), rank % 4 <= 1 ? 0 : 1);
        assert_int_equal(dt_mesh_local_rank(mesh, dt_mesh_dim(mesh, "dp")), rank / 4);
        for (int i = 0; i < 3; i++) { /* DM-011 */
            dt_mesh *slice = require(ctx, dt_mesh_slice(mesh, dt_mesh_dim_name(mesh, i)));
            assert_int_equal(dt_mesh_local_rank(slice, DT_MESH_ONLY_DIM), dt_mesh_local_rank(mesh, i));
            dt_mesh_release(slice);
        }
        dt_mesh *flat = require(ctx, dt_mesh_flatten(mesh, NULL));
        assert_int_equal(dt_mesh_local_rank(flat, DT_MESH_ONLY_DIM), rank); /* DM-012 */
        static const int wrong[] = {DT_MESH_ONLY_DIM, 3, -2};
        for (int i = 0; i < 3; i++) { /* DM-010 */
            assert_int_equal(dt_mesh_local_rank(mesh, wrong[i]), -1);
            assert_refused(ctx, NULL, "wrong mesh dim: expected 0 to 2");
        }
        dt_mesh_release(flat);
        dt_mesh_release(mesh);
        world_end(&w);
    }
}

static void groups__are_the_ranks_along_a_dim(void **state) {
    (void)state;
    static const char *const of_2d[2][4] = {{"0 2", "1 3", "0 2", "1 3"}, {"0 1", "0 1", "2 3", "2 3"}};
    for (int64_t rank = 0; rank < 4; rank++) { /* DM-013 */
        world w;
        dt_ctx *ctx = world_begin(&w, 4, rank);
        dt_mesh *mesh = require(ctx, dt_mesh_new(ctx, "[[0,1],[2,3]]"));
        for (int dim = 0; dim < 2; dim++) {
            assert_group(mesh, dim, of_2d[dim][rank]);
            assert_int_equal(dt_mesh_dim_size(mesh, dim), 2);
        }
        dt_mesh_release(mesh);
        world_end(&w);
    }
    static const char *const of_3d[3][4] = {
        {"0 4", "1 5", "2 6", "3 7"}, {"0 2", "1 3", "4 6", "5 7"}, {"0 1", "2 3", "4 5", "6 7"}};
    for (int64_t rank = 0; rank < 8; rank++) { /* DM-023 */
        world w;
        dt_ctx *ctx = world_begin(&w, 8, rank);
        dt_mesh *mesh = require(ctx, dt_mesh_new(ctx, "2x2x2"));
        assert_group(mesh, 0, of_3d[0][rank % 4]);
        assert_group(mesh, 1, of_3d[1][rank / 4 * 2 + rank % 2]);
        assert_group(mesh, 2, of_3d[2][rank / 2]);
        dt_mesh_release(mesh);
        world_end(&w);
    }
}

/* DM-008: the group of a dim and that of its slice have the same ranks, and so are one group of the runtime. */
static void groups__of_a_dim_and_of_its_slice_agree(void **state) {
    (void)state;
    for (int64_t rank = 0; rank < 12; rank++) {
        world w;
        dt_ctx *ctx = world_begin(&w, 12, rank);
        dt_mesh *mesh = require(ctx, dt_mesh_new(ctx, "dp=3,tp=4"));
        for (int dim = 0; dim < 2; dim++) {
            dt_mesh *slice = require(ctx, dt_mesh_slice(mesh, dt_mesh_dim_name(mesh, dim)));
            int64_t of_mesh[4], of_slice[4];
            size_t bytes = (size_t)dt_mesh_dim_size(mesh, dim) * sizeof(int64_t);
            assert_true(dt_mesh_group_ranks(mesh, dim, of_mesh));
            assert_true(dt_mesh_group_ranks(slice, 0, of_slice));
            assert_memory_equal(of_mesh, of_slice, bytes);
            dt_mesh_release(slice);
        }
        dt_mesh_release(mesh);
        world_end(&w);
    }
}

/* DM-098, DM-099, DM-100: ranks of a root, selected by a layout over their positions. */
static void layout__selects_ranks_of_the_root(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"a=2:2,b=2:1 of [0,1,2,3]", "0 1 2 3"},       {"a=2:2,b=2:1 of [10,20,30,40]", "10 20 30 40"},
        {"a=2:2,b=2:1 of [5,10,15,20]", "5 10 15 20"}, {"a=4:1 of [0,1,2,3]", "0 1 2 3"},
        {"a=2:1,b=2:2 of [0,2,1,3]", "0 1 2 3"},       {"a=2:1,b=2:2 of [0,2,1,4]", "0 1 2 4"},
    };
    world w;
    dt_ctx *ctx = world_begin(&w, 64, 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        dt_mesh *mesh = require(ctx, dt_mesh_new(ctx, cases[i][0]));
        assert_mesh(mesh, i == 3 ? "a=4" : "a=2,b=2", cases[i][1]);
        dt_mesh_release(mesh);
    }
    world_end(&w);
}

static void queries__of_no_mesh_or_no_dim_return_defaults(void **state) {
    (void)state;
    world w;
    dt_ctx *ctx = world_begin(&w, 4, 0);
    dt_mesh *mesh = require(ctx, dt_mesh_new(ctx, "2x2"));
    int64_t out = 77;
    assert_null(dt_mesh_ctx(NULL));
    assert_int_equal(dt_mesh_n_dims(NULL), 0);
    assert_int_equal(dt_mesh_size(NULL), 0);
    assert_int_equal(dt_mesh_dim_size(mesh, 2), 0);
    assert_int_equal(dt_mesh_dim_size(mesh, -1), 0);
    assert_int_equal(dt_mesh_dim_size(NULL, 0), 0);
    assert_null(dt_mesh_dim_name(mesh, 0));
    assert_null(dt_mesh_dim_name(mesh, 9));
    assert_int_equal(dt_mesh_dim(mesh, "dp"), -1);
    assert_int_equal(dt_mesh_dim(mesh, NULL), -1);
    assert_null(dt_mesh_device(NULL));
    assert_false(dt_mesh_coordinate(NULL, &out));
    assert_false(dt_mesh_coordinate_of(NULL, 0, &out));
    assert_int_equal(dt_mesh_rank_at(NULL, &out), -1);
    assert_int_equal(dt_mesh_local_rank(NULL, 0), -1);
    dt_mesh_ranks(NULL, &out);
    assert_int_equal(dt_mesh_group_rank(mesh, 0, 2), -1);
    assert_int_equal(dt_mesh_group_rank(mesh, 0, -1), -1);
    assert_int_equal(dt_mesh_group_rank(mesh, 2, 0), -1);
    assert_false(dt_mesh_group_ranks(mesh, 2, &out));
    assert_false(dt_mesh_group_ranks(NULL, 0, &out));
    assert_int_equal(dt_mesh_root_dim(NULL), -1);
    assert_null(dt_mesh_text(NULL));
    assert_true(dt_mesh_fingerprint(NULL) == 0);
    assert_null(dt_mesh_retain(NULL));
    dt_mesh_release(NULL);
    assert_int_equal(out, 77);
    dt_mesh_release(mesh);
    world_end(&w);
}

static void hosts__are_counted_by_the_ranks_on_them(void **state) {
    (void)state;
    world w;
    dt_ctx *ctx = world_begin(&w, 24, 9);
    dt_mesh *mesh = require(ctx, dt_mesh_new(ctx, "pp=2,dp=3,tp=4"));
    assert_int_equal(dt_mesh_ranks_per_host(mesh), 24); /* one host unless the runtime reports another number */
    assert_int_equal(dt_mesh_n_hosts(mesh), 1);
    ctx->ranks_per_host = 8;
    assert_int_equal(dt_mesh_ranks_per_host(mesh), 8);
    assert_int_equal(dt_mesh_n_hosts(mesh), 3);
    assert_int_equal(dt_mesh_dim_n_hosts(mesh, 0), 2); /* 9 and 21 */
    assert_int_equal(dt_mesh_dim_n_hosts(mesh, 1), 2); /* 1, 5, 9 */
    assert_int_equal(dt_mesh_dim_n_hosts(mesh, 2), 1); /* 8 … 11 */
    assert_int_equal(dt_mesh_dim_n_hosts(mesh, 3), 0);
    ctx->ranks_per_host = 5;
    assert_int_equal(dt_mesh_n_hosts(mesh), 5);
    dt_mesh *small = require(ctx, dt_mesh_new(ctx, "[4,5,23]"));
    assert_int_equal(dt_mesh_n_hosts(small), 3);
    assert_int_equal(dt_mesh_dim_n_hosts(small, 0), 0); /* rank 9 is not in it */
    assert_int_equal(dt_mesh_n_hosts(NULL), 0);
    dt_mesh_release(small);
    dt_mesh_release(mesh);
    world_end(&w);
}

/* A world of a million ranks: meshes are stored as sizes and strides, and every query is arithmetic. */
static void large__a_million_ranks_take_little_memory(void **state) {
    (void)state;
    world w;
    dt_ctx *ctx = world_begin(&w, 1000000, 765432);
    dt_mesh *mesh = require(ctx, dt_mesh_new(ctx, "a=10,b=10,c=10,d=10,e=10,f=10"));
    int64_t coordinate[6], expected[] = {7, 6, 5, 4, 3, 2};
    assert_true(dt_mesh_coordinate(mesh, coordinate));
    assert_memory_equal(coordinate, expected, sizeof expected);
    dt_mesh *slice = require(ctx, dt_mesh_slice(mesh, "a,c,e")), *flat = require(ctx, dt_mesh_flatten(slice, NULL));
    assert_int_equal(dt_mesh_size(flat), 1000);
    assert_int_equal(dt_mesh_local_rank(flat, 0), 753);
    assert_int_equal(dt_mesh_group_rank(flat, 0, 0), 60402);
    assert_int_equal(dt_mesh_group_rank(flat, 0, 999), 969492);
    assert_string_equal(dt_mesh_text(flat),
                        "a_c_e=(10,10,10):(100000,1000,10)+60402 of a=10,b=10,c=10,d=10,e=10,f=10");
    assert_true(w.memory.live_bytes < 20000);
    dt_mesh_release(flat);
    dt_mesh_release(slice);
    dt_mesh_release(mesh);
    world_end(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(local_rank__is_the_coordinate_along_a_dim),
        cmocka_unit_test(groups__are_the_ranks_along_a_dim),
        cmocka_unit_test(groups__of_a_dim_and_of_its_slice_agree),
        cmocka_unit_test(layout__selects_ranks_of_the_root),
        cmocka_unit_test(queries__of_no_mesh_or_no_dim_return_defaults),
        cmocka_unit_test(hosts__are_counted_by_the_ranks_on_them),
        cmocka_unit_test(large__a_million_ranks_take_little_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
