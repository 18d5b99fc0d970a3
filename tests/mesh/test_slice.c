/* SPDX-License-Identifier: Apache-2.0 */
#include "mesh/meshes.h"

/* The slice of this mesh has these dims and ranks, on this rank of a world of 8. */
static void check_slice(int64_t rank, const char *mesh_text, const char *names, const char *dims, const char *ranks) {
    world w;
    dt_ctx *ctx = world_begin(&w, 8, rank);
    dt_mesh *mesh = require(ctx, dt_mesh_new(ctx, mesh_text)), *slice = require(ctx, dt_mesh_slice(mesh, names));
    assert_mesh(slice, dims, ranks);
    dt_mesh_release(mesh); /* the slice keeps its root */
    dt_mesh *root = dt_mesh_root(slice);
    assert_string_equal(dt_mesh_text(root), mesh_text);
    dt_mesh_release(root);
    dt_mesh_release(slice);
    world_end(&w);
}

static void slice__is_the_row_of_this_rank(void **state) {
    (void)state;
    static const char *const rows[] = {"0 1 2 3", "4 5 6 7"};
    static const char *const columns[] = {"0 4", "1 5", "2 6", "3 7"};
    for (int64_t rank = 0; rank < 8; rank++) { /* DM-039 */
        check_slice(rank, "DP=2,TP=4", "TP", "TP=4", rows[rank / 4]);
        check_slice(rank, "DP=2,TP=4", "DP", "DP=2", columns[rank % 4]);
    }
    static const char *const tp[] = {"0 1", "2 3", "4 5", "6 7"};
    static const char *const shard[] = {"0 2", "1 3", "4 6", "5 7"};
    for (int64_t rank = 0; rank < 8; rank++) { /* DM-041 */
        check_slice(rank, "Replicate=2,Shard=2,TP=2", "TP", "TP=2", tp[rank / 2]);
        check_slice(rank, "Replicate=2,Shard=2,TP=2", "Shard", "Shard=2", shard[rank % 2 + rank / 4 * 2]);
        check_slice(rank, "Replicate=2,Shard=2,TP=2", "Replicate", "Replicate=2", columns[rank % 4]);
        check_slice(rank, "Replicate=2,Shard=2,TP=2", "Replicate,Shard", "Replicate=2,Shard=2",
                    rank % 2 ? "1 3 5 7" : "0 2 4 6");                                                   /* DM-042 */
        check_slice(rank, "dp=2,pp=2,cp=2", "dp,cp", "dp=2,cp=2", rank / 2 % 2 ? "2 3 6 7" : "0 1 4 5"); /* DM-044 */
    }
}

static void slice__of_a_slice_is_the_slice(void **state) {
    (void)state;
    for (int64_t rank = 0; rank < 8; rank++) {
        world w;
        dt_ctx *ctx = world_begin(&w, 8, rank);
        dt_mesh *mesh = require(ctx, dt_mesh_new(ctx, "dp=2,pp=2,cp=2"));
        dt_mesh *both = require(ctx, dt_mesh_slice(mesh, "dp,cp"));
        dt_mesh *one = require(ctx, dt_mesh_slice(mesh, "cp")), *nested = require(ctx, dt_mesh_slice(both, "cp"));
        assert_true(dt_mesh_equal(one, nested)); /* DM-042 */
        int64_t row[2], expected[2];
        for (int64_t i = 0; i < 2; i++)
            row[i] = dt_mesh_rank_at(both, (int64_t[]){dt_mesh_local_rank(both, 0), i});
        dt_mesh_ranks(one, expected);
        assert_memory_equal(row, expected, sizeof row); /* DM-044 */
        assert_refused(ctx, dt_mesh_slice(both, "pp"), "no such dim; it has dp, cp");
        dt_mesh_release(nested);
        dt_mesh_release(one);
        dt_mesh_release(both);
        dt_mesh_release(mesh);
        world_end(&w);
    }
}

static void slice__of_all_dims_is_the_mesh_itself(void **state) {
    (void)state;
    world w;
    dt_ctx *ctx = world_begin(&w, 8, 3);
    dt_mesh *mesh = require(ctx, dt_mesh_new(ctx, "dp=8")), *slice = require(ctx, dt_mesh_slice(mesh, "dp"));
    assert_ptr_equal(slice, mesh); /* DM-040 */
    assert_refused(ctx, dt_mesh_slice(mesh, "tp"), "tp: no such dim; it has dp");
    dt_mesh_release(slice);
    dt_mesh_release(mesh);
    world_end(&w);
}

static void slice__wrong_names_are_refused(void **state) {
    (void)state;
    world w;
    dt_ctx *ctx = world_begin(&w, 8, 3);
    dt_mesh *plain = require(ctx, dt_mesh_new(ctx, "2x4")), *mesh = require(ctx, dt_mesh_new(ctx, "dp=2,pp=2,cp=2"));
    assert_refused(ctx, dt_mesh_slice(plain, "dp"), "mesh(2x4): the dims have no names");       /* DM-037 */
    assert_refused(ctx, dt_mesh_slice(mesh, "PP"), "PP: no such dim");                          /* DM-038 */
    assert_refused(ctx, dt_mesh_slice(mesh, "cp,dp"), "cp,dp: the dims overlap or are not in"); /* DM-045 */
    assert_refused(ctx, dt_mesh_slice(mesh, "dp,dp"), "'dp' appears twice");
    assert_refused(ctx, dt_mesh_slice(mesh, ""), "''");
    assert_refused(ctx, dt_mesh_slice(mesh, "dp,"), "''");
    assert_refused(ctx, dt_mesh_slice(mesh, NULL), "NULL");
    assert_null(dt_mesh_slice(NULL, "dp"));
    dt_mesh_release(mesh);
    dt_mesh_release(plain);
    world_end(&w);
}

static void slice__a_rank_outside_has_none(void **state) {
    (void)state;
    world w;
    dt_ctx *ctx = world_begin(&w, 8, 6);
    dt_mesh *mesh = require(ctx, dt_mesh_new(ctx, "dp=2,tp=2,x=1"));
    assert_refused(ctx, dt_mesh_slice(mesh, "dp"), "this rank is not in the mesh");
    assert_refused(ctx, dt_mesh_slice(mesh, "dp,x"), "this rank is not in the mesh");
    dt_mesh *all = require(ctx, dt_mesh_slice(mesh, "dp,tp,x")),
            *without_x = require(ctx, dt_mesh_slice(mesh, "dp,tp"));
    assert_mesh(without_x, "dp=2,tp=2", "0 1 2 3"); /* there is only one such mesh */
    dt_mesh *flat = require(ctx, dt_mesh_flatten(mesh, NULL));
    assert_mesh(flat, "dp_tp_x=4", "0 1 2 3");
    assert_int_equal(dt_mesh_local_rank(flat, 0), -1);
    dt_mesh_release(flat);
    dt_mesh_release(without_x);
    dt_mesh_release(all);
    dt_mesh_release(mesh);
    world_end(&w);
}

static void slices__of_every_subset_of_dims_exist(void **state) {
    (void)state;
    world w;
    dt_ctx *ctx = world_begin(&w, 12, 7);
    dt_mesh *mesh = require(ctx, dt_mesh_new(ctx, "replicate=2,shard=4"));
    static const char *const expected[] = {"0 4", "1 5", "2 6", "3 7"};
    assert_int_equal(dt_mesh_n_slices(mesh, "replicate"), 4); /* DM-069 */
    for (int64_t i = 0; i < 4; i++) {
        dt_mesh *slice = require(ctx, dt_mesh_slice_at(mesh, "replicate", i));
        assert_mesh(slice, "replicate=2", expected[i]);
        int64_t coordinate;
        assert_int_equal(dt_mesh_coordinate(slice, &coordinate), i == 3);
        if (i == 3) {
            dt_mesh *own_slice = require(ctx, dt_mesh_slice(mesh, "replicate"));
            assert_true(dt_mesh_equal(own_slice, slice));
            dt_mesh_release(own_slice);
        }
        dt_mesh_release(slice);
    }
    assert_refused(ctx, dt_mesh_slice_at(mesh, "replicate", 4), "no slice has index 4");
    assert_refused(ctx, dt_mesh_slice_at(mesh, "replicate", -1), "no slice has index -1");
    assert_refused(ctx, dt_mesh_slice_at(mesh, "tp", 0), "tp: no such dim");
    assert_refused(ctx, dt_mesh_slice_at(mesh, "shard,replicate", 0), "not in the order of the mesh");
    assert_int_equal(dt_mesh_n_slices(mesh, "replicate,shard"), 1);
    assert_int_equal(dt_mesh_n_slices(NULL, "replicate"), 0);
    assert_null(dt_mesh_slice_at(NULL, "replicate", 0));
    dt_mesh_release(mesh);
    world_end(&w);
}

/* A slice of other ranks is a mesh without this rank. */
static void slices__of_other_ranks_can_be_reshaped_but_not_sliced(void **state) {
    (void)state;
    world w;
    dt_ctx *ctx = world_begin(&w, 16, 1);
    dt_mesh *mesh = require(ctx, dt_mesh_new(ctx, "pp=2,dp=2,tp=4")), *other = dt_mesh_slice_at(mesh, "dp,tp", 1);
    assert_mesh(other, "dp=2,tp=4", "8 9 10 11 12 13 14 15");
    assert_refused(ctx, dt_mesh_slice(other, "tp"), "this rank is not in the mesh");
    dt_mesh *unflattened =
        require(ctx, dt_mesh_unflatten(other, 1, (int64_t[]){2, 2}, 2, &(dt_mesh_options){.names = "a,b"}));
    assert_mesh(unflattened, "dp=2,a=2,b=2", "8 9 10 11 12 13 14 15");
    dt_mesh *flat = require(ctx, dt_mesh_flatten(unflattened, "f"));
    assert_mesh(flat, "f=8", "8 9 10 11 12 13 14 15");
    dt_mesh *own_slice = require(ctx, dt_mesh_slice(mesh, "pp"));
    assert_refused(ctx, dt_mesh_concatenate((dt_mesh *[]){own_slice, other}, 2),
                   "in some of the meshes but not in all");
    dt_mesh *nested = require(ctx, dt_mesh_slice_at(other, "dp", 2));
    assert_mesh(nested, "dp=2", "10 14");
    dt_mesh_release(nested);
    dt_mesh_release(own_slice);
    dt_mesh_release(flat);
    dt_mesh_release(unflattened);
    dt_mesh_release(other);
    dt_mesh_release(mesh);
    world_end(&w);
}

static void root__is_the_mesh_that_was_sliced(void **state) {
    (void)state;
    world w;
    dt_ctx *ctx = world_begin(&w, 8, 5);
    dt_mesh *mesh = require(ctx, dt_mesh_new(ctx, "dp=2,cp=2,tp=2"));
    static const char *const names[] = {"dp", "cp", "tp", "dp,cp", "dp,tp", "cp,tp"}; /* DM-066 */
    for (int i = 0; i < 6; i++) {
        dt_mesh *slice = require(ctx, dt_mesh_slice(mesh, names[i])), *root = dt_mesh_root(slice);
        assert_ptr_equal(root, mesh);
        assert_int_equal(dt_mesh_root_dim(slice), i < 3 ? i : -1); /* DM-067 */
        dt_mesh_release(root);
        dt_mesh_release(slice);
    }
    assert_int_equal(dt_mesh_root_dim(mesh), -1);
    assert_int_equal(dt_mesh_dim(mesh, "dp"), 0); /* DM-068 */
    assert_int_equal(dt_mesh_dim(mesh, "tp"), 2);
    assert_int_equal(dt_mesh_dim(mesh, "xx"), -1);
    assert_null(dt_mesh_root(NULL));
    dt_mesh_release(mesh);
    world_end(&w);
}

static void root__of_independent_meshes_differs(void **state) {
    (void)state;
    world w;
    dt_ctx *ctx = world_begin(&w, 4, 1);
    dt_mesh *first = require(ctx, dt_mesh_new(ctx, "dp=2,tp=2")),
            *second = require(ctx, dt_mesh_new(ctx, "dim1=2,dim2=2"));
    dt_mesh *slice = require(ctx, dt_mesh_slice(first, "dp")), *other = require(ctx, dt_mesh_slice(second, "dim1"));
    dt_mesh *root = dt_mesh_root(slice), *other_root = dt_mesh_root(other);
    assert_ptr_equal(root, first);
    assert_ptr_equal(other_root, second);
    assert_false(dt_mesh_equal(root, second)); /* DM-022 */
    dt_mesh_release(root);
    dt_mesh_release(other_root);
    dt_mesh_release(slice);
    dt_mesh_release(other);
    dt_mesh_release(first);
    dt_mesh_release(second);
    world_end(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slice__is_the_row_of_this_rank),
        cmocka_unit_test(slice__of_a_slice_is_the_slice),
        cmocka_unit_test(slice__of_all_dims_is_the_mesh_itself),
        cmocka_unit_test(slice__wrong_names_are_refused),
        cmocka_unit_test(slice__a_rank_outside_has_none),
        cmocka_unit_test(slices__of_every_subset_of_dims_exist),
        cmocka_unit_test(slices__of_other_ranks_can_be_reshaped_but_not_sliced),
        cmocka_unit_test(root__is_the_mesh_that_was_sliced),
        cmocka_unit_test(root__of_independent_meshes_differs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
