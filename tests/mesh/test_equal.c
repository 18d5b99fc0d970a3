/* SPDX-License-Identifier: Apache-2.0 */
#include "mesh/meshes.h"

static void assert_equality(const dt_mesh *a, const dt_mesh *b, bool expected) {
    assert_non_null(a);
    assert_non_null(b);
    assert_int_equal(dt_mesh_equal(a, b), expected);
    assert_int_equal(dt_mesh_equal(b, a), expected);
    assert_int_equal(dt_mesh_fingerprint(a) == dt_mesh_fingerprint(b), expected);
}

static void equality__compares_ranks_dims_names_and_device(void **state) {
    (void)state;
    static const char *const texts[] = {
        "4x2",
        "2x2x2",
        "2x4",
        "8",
        "dp=4,tp=2",
        "dp=4,cp=2",
        "tp=4,dp=2",
        "4x2 on cuda",
        "[[0,1],[3,2]]",
        "[[0,1],[2,3]]",
        "[[4,5],[6,7]]",
        "[[0,2],[4,6]]",
        "[[1,0],[3,2]]",
        "2x2x1",
        "2x1x2",
        "a=2:4,b=2:2 of dp=4,tp=2",
        "dp=4:2 of dp=4,tp=2",
        "dp=4:2+1 of dp=4,tp=2",
        "tp=2:1 of dp=4,tp=2",
        "1x8",
    };
    enum { N = sizeof texts / sizeof *texts };
    world w;
    dt_ctx *ctx = world_begin(&w, 8, 0);
    dt_mesh *first[N], *second[N];
    for (int i = 0; i < N; i++) {
        first[i] = require(ctx, dt_mesh_new(ctx, texts[i]));
        second[i] = require(ctx, dt_mesh_new(ctx, texts[i]));
    }
    for (int i = 0; i < N; i++) /* DM-024, DM-027 */
        for (int k = 0; k < N; k++)
            assert_equality(first[i], second[k], i == k);
    for (int i = 0; i < N; i++) {
        dt_mesh_release(first[i]);
        dt_mesh_release(second[i]);
    }
    assert_true(dt_mesh_equal(NULL, NULL));
    world_end(&w);
}

/* Meshes with equal ranks and shapes are equal, whichever constructor made them. */
static void equality__is_independent_of_the_constructor(void **state) {
    (void)state;
    static const int64_t permuted[] = {3, 0, 2, 1}, plain[] = {0, 1, 2, 3}, shape[] = {2, 2};
    const dt_ranks groups[] = {{(int64_t[]){0, 2}, 2}, {(int64_t[]){0, 1}, 2}};
    world w;
    dt_ctx *ctx = world_begin(&w, 4, 0);
    dt_mesh *meshes[] = {
        dt_mesh_new(ctx, "2x2"),
        dt_mesh_new(ctx, "[[0,1],[2,3]]"),
        dt_mesh_from_shape(ctx, shape, 2, NULL),
        dt_mesh_from_ranks(ctx, plain, shape, 2, NULL),
        dt_mesh_from_groups(ctx, groups, 2, &(dt_mesh_grid){plain, shape, 2}, NULL),
    };
    for (int i = 0; i < 5; i++)
        assert_equality(meshes[0], meshes[i], true);
    dt_mesh *listed = dt_mesh_from_ranks(ctx, permuted, shape, 2, NULL), *read = dt_mesh_new(ctx, "[[3,0],[2,1]]");
    assert_equality(listed, read, true);
    assert_equality(listed, meshes[0], false);
    for (int i = 0; i < 5; i++)
        dt_mesh_release(meshes[i]);
    dt_mesh_release(listed);
    dt_mesh_release(read);
    world_end(&w);
}

/* DM-026: a slice and a mesh without names of the same ranks are equal except for their names. */
static void equality__of_a_slice_and_an_independent_mesh(void **state) {
    (void)state;
    for (int64_t rank = 0; rank < 8; rank++) {
        world w;
        dt_ctx *ctx = world_begin(&w, 8, rank);
        dt_mesh *mesh = require(ctx, dt_mesh_new(ctx, "DP=2,TP=4")), *tp = require(ctx, dt_mesh_slice(mesh, "TP"));
        const char *ranks = rank < 4 ? "[0,1,2,3]" : "[4,5,6,7]";
        dt_mesh *independent = require(ctx, dt_mesh_new(ctx, ranks)), *twin = require(ctx, dt_mesh_new(ctx, ranks));
        int64_t left[4], right[4];
        dt_mesh_ranks(tp, left);
        dt_mesh_ranks(independent, right);
        assert_memory_equal(left, right, sizeof left);
        dt__arena arena = dt__arena_new(ctx);
        dt__layout of_tp, of_independent;
        assert_int_equal(dt__mesh_layout(&arena, tp, &of_tp), DT_OK);
        assert_int_equal(dt__mesh_layout(&arena, independent, &of_independent), DT_OK);
        assert_true(dt__layout_equal(&of_tp, &of_independent));
        dt__arena_free(&arena);
        assert_string_equal(dt_mesh_device(tp), dt_mesh_device(independent));
        assert_equality(tp, independent, false);
        assert_equality(independent, twin, true); /* DM-027 */
        dt_mesh *all[] = {twin, independent, tp, mesh};
        for (int i = 0; i < 4; i++)
            dt_mesh_release(all[i]);
        world_end(&w);
    }
}

/* All members of a sub-mesh have the same fingerprint of it; those of other sub-meshes differ. */
static void fingerprint__is_shared_by_the_members(void **state) {
    (void)state;
    static const char *const names[] = {"dp", "cp", "tp", "dp,cp", "cp,tp", "dp,tp", "dp,cp,tp"};
    uint64_t fingerprints[24];
    int64_t firsts[24];
    for (int n = 0; n < 7; n++) {
        for (int64_t rank = 0; rank < 24; rank++) {
            world w;
            dt_ctx *ctx = world_begin(&w, 24, rank);
            dt_mesh *mesh = require(ctx, dt_mesh_new(ctx, "dp=2,cp=3,tp=4"));
            dt_mesh *slice = require(ctx, dt_mesh_slice(mesh, names[n]));
            fingerprints[rank] = dt_mesh_fingerprint(slice);
            int64_t zero[3] = {0};
            firsts[rank] = dt_mesh_rank_at(slice, zero);
            dt_mesh_release(slice);
            dt_mesh_release(mesh);
            world_end(&w);
        }
        for (int a = 0; a < 24; a++)
            for (int b = 0; b < 24; b++)
                assert_int_equal(fingerprints[a] == fingerprints[b], firsts[a] == firsts[b]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equality__compares_ranks_dims_names_and_device),
        cmocka_unit_test(equality__is_independent_of_the_constructor),
        cmocka_unit_test(equality__of_a_slice_and_an_independent_mesh),
        cmocka_unit_test(fingerprint__is_shared_by_the_members),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
