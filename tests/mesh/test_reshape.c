/* SPDX-License-Identifier: Apache-2.0 */
#include "mesh/meshes.h"

static dt_mesh *flatten_dims(dt_mesh *mesh, const char *dims, const char *name) {
    dt_mesh *part = dt_mesh_slice(mesh, dims), *flat = dt_mesh_flatten(part, name);
    dt_mesh_release(part);
    return flat;
}

static dt_mesh *unflatten(dt_mesh *mesh, int dim, const int64_t *sizes, int n, const char *names) {
    return dt_mesh_unflatten(mesh, dim, sizes, n, &(dt_mesh_options){.names = names});
}

static dt_mesh *concatenate(dt_mesh *mesh, const char *first, const char *second) {
    dt_mesh *parts[] = {dt_mesh_slice(mesh, first), dt_mesh_slice(mesh, second)};
    dt_mesh *concatenated = dt_mesh_concatenate(parts, 2);
    dt_mesh_release(parts[0]);
    dt_mesh_release(parts[1]);
    return concatenated;
}

static void assert_same_ranks(const dt_mesh *a, const dt_mesh *b) {
    int64_t left[64], right[64];
    assert_int_equal(dt_mesh_size(a), dt_mesh_size(b));
    dt_mesh_ranks(a, left);
    dt_mesh_ranks(b, right);
    assert_memory_equal(left, right, (size_t)dt_mesh_size(a) * sizeof *left);
}

static void flatten__of_one_dim(void **state) {
    (void)state;
    world w;
    dt_ctx *ctx = world_begin(&w, 8, 3);
    dt_mesh *mesh = require(ctx, dt_mesh_new(ctx, "default=4"));
    dt_mesh *same = require(ctx, dt_mesh_flatten(mesh, NULL)); /* DM-046 */
    assert_ptr_equal(same, mesh);
    dt_mesh *named = require(ctx, dt_mesh_flatten(mesh, "line"));
    assert_mesh(named, "line=4", "0 1 2 3");
    dt_mesh *plain = require(ctx, dt_mesh_new(ctx, "2x2"));
    assert_refused(ctx, dt_mesh_flatten(plain, "line"), "the dims have no names");
    assert_null(dt_mesh_flatten(NULL, "line"));
    dt_mesh_release(plain);
    dt_mesh_release(named);
    dt_mesh_release(same);
    dt_mesh_release(mesh);
    world_end(&w);
}

static void flatten__of_adjacent_and_of_other_dims(void **state) {
    (void)state;
    static const char *const dp_cp[] = {"0 2 4 6", "1 3 5 7"}, *const dp_tp[] = {"0 1 4 5", "2 3 6 7"};
    for (int64_t rank = 0; rank < 8; rank++) {
        world w;
        dt_ctx *ctx = world_begin(&w, 8, rank);
        dt_mesh *mesh = require(ctx, dt_mesh_new(ctx, "dp=2,cp=2,tp=2"));
        assert_refused(ctx, dt_mesh_flatten(mesh, "dp"), "the name 'dp' is used by a dim"); /* DM-047, DM-054 */
        dt_mesh *flat = require(ctx, flatten_dims(mesh, "dp,cp", NULL));
        assert_mesh(flat, "dp_cp=4", dp_cp[rank % 2]); /* DM-048 */
        dt_mesh *root = dt_mesh_root(flat);
        assert_ptr_equal(root, mesh);
        dt_mesh *sliced = require(ctx, dt_mesh_slice(mesh, "dp_cp")),
                *pair = require(ctx, dt_mesh_slice(mesh, "dp_cp,tp"));
        assert_true(dt_mesh_equal(sliced, flat));
        assert_mesh(pair, "dp_cp=4,tp=2", "0 1 2 3 4 5 6 7"); /* DM-049, DM-065 */
        dt_mesh *again = require(ctx, flatten_dims(mesh, "dp,cp", NULL));
        assert_true(dt_mesh_equal(again, flat)); /* DM-050 */
        dt_mesh *apart = require(ctx, flatten_dims(mesh, "dp,tp", NULL));
        assert_mesh(apart, "dp_tp=4", dp_tp[rank / 2 % 2]);                                            /* DM-051 */
        assert_refused(ctx, dt_mesh_slice(mesh, "dp_tp,cp"), "dp_tp,cp: the dims overlap or are not"); /* DM-052 */
        assert_refused(ctx, dt_mesh_slice(mesh, "dp_cp,cp"), "the dims overlap or are not in the order of the mesh");
        dt_mesh *named = require(ctx, flatten_dims(mesh, "cp,tp", "dummy"));
        dt_mesh *found = require(ctx, dt_mesh_slice(mesh, "dummy"));
        assert_string_equal(dt_mesh_dim_name(found, 0), "dummy"); /* DM-053 */
        assert_true(dt_mesh_equal(found, named));
        assert_refused(ctx, flatten_dims(mesh, "cp,tp", "dp_tp"),
                       "the name 'dp_tp' is used by other flattened dims"); /* DM-054 */
        assert_refused(ctx, flatten_dims(mesh, "cp,tp", "a=b"), "'a=b' is not a name");
        dt_mesh *all[] = {flat, root, sliced, pair, again, apart, named, found, mesh};
        for (size_t i = 0; i < sizeof all / sizeof *all; i++)
            dt_mesh_release(all[i]);
        world_end(&w);
    }
}

/* The names of flattened meshes belong to the root: a slice does not have them. */
static void flatten__names_are_found_in_the_root_only(void **state) {
    (void)state;
    world w;
    dt_ctx *ctx = world_begin(&w, 8, 1);
    dt_mesh *mesh = require(ctx, dt_mesh_new(ctx, "dp=2,cp=2,tp=2")),
            *part = require(ctx, dt_mesh_slice(mesh, "dp,cp"));
    dt_mesh *flat = require(ctx, dt_mesh_flatten(part, "f"));
    assert_refused(ctx, dt_mesh_slice(part, "f"), "no such dim; it has dp, cp");
    dt_mesh *whole =
        require(ctx, concatenate(mesh, "dp,cp", "tp")); /* equal to the root: the same dims of the same ranks */
    assert_true(dt_mesh_equal(whole, mesh));
    dt_mesh *found = require(ctx, dt_mesh_slice(whole, "f"));
    assert_true(dt_mesh_equal(found, flat));
    dt_mesh *all[] = {mesh, part, flat, whole, found};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        dt_mesh_release(all[i]);
    world_end(&w);
}

static void flatten__in_steps(void **state) {
    (void)state;
    world w;
    dt_ctx *ctx = world_begin(&w, 8, 6);
    dt_mesh *mesh = require(ctx, dt_mesh_new(ctx, "dp_replicate=2,dp_shard=2,cp=2,tp=1"));
    dt_mesh *flat = require(ctx, flatten_dims(mesh, "dp_replicate,dp_shard,cp", "dp_cp"));
    dt_mesh *found = require(ctx, dt_mesh_slice(mesh, "dp_cp")), *root = dt_mesh_root(flat);
    assert_true(dt_mesh_equal(flat, found)); /* DM-055 */
    assert_mesh(flat, "dp_cp=8", "0 1 2 3 4 5 6 7");
    assert_ptr_equal(root, mesh);
    dt_mesh *inner = require(ctx, flatten_dims(mesh, "dp_shard,cp", "dp_shard_cp"));
    dt_mesh *outer = require(ctx, flatten_dims(mesh, "dp_replicate,dp_shard_cp", "dp"));
    dt_mesh *pair = require(ctx, dt_mesh_slice(mesh, "dp,tp"));
    assert_mesh(pair, "dp=8,tp=1", "0 1 2 3 4 5 6 7"); /* DM-056 */
    dt_mesh *tiny = require(ctx, dt_mesh_new(ctx, "dp_replicate=1,dp_shard=1,cp=1,tp=1"));
    dt_mesh *tiny_flat = require(ctx, flatten_dims(tiny, "dp_shard,cp", "dp_cp"));
    dt_mesh *tiny_slice = require(ctx, dt_mesh_slice(tiny, "dp_replicate,dp_cp,tp"));
    assert_mesh(tiny_slice, "dp_replicate=1,dp_cp=1,tp=1", "0"); /* DM-057 */
    dt_mesh *all[] = {flat, found, root, inner, outer, pair, tiny, tiny_flat, tiny_slice, mesh};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        dt_mesh_release(all[i]);
    world_end(&w);
}

/* DM-064 */
static void flatten__rebuilds_a_mesh_with_the_flattened_dim(void **state) {
    (void)state;
    for (int64_t rank = 0; rank < 8; rank++) {
        world w;
        dt_ctx *ctx = world_begin(&w, 8, rank);
        dt_mesh *mesh = require(ctx, dt_mesh_new(ctx, "replicate=2,shard=2,cp=2"));
        dt_mesh *flat = require(ctx, flatten_dims(mesh, "shard,cp", NULL));
        dt_mesh *pair = require(ctx, dt_mesh_slice(mesh, "replicate,shard_cp"));
        assert_mesh(pair, "replicate=2,shard_cp=4", "0 1 2 3 4 5 6 7");
        const char *row = rank < 4 ? "0 1 2 3" : "4 5 6 7";
        assert_group(flat, 0, row);
        assert_group(pair, 1, row);
        dt_mesh_release(pair);
        dt_mesh_release(flat);
        dt_mesh_release(mesh);
        world_end(&w);
    }
}

static void unflatten__splits_one_dim(void **state) {
    (void)state;
    for (int64_t rank = 0; rank < 8; rank++) {
        world w;
        dt_ctx *ctx = world_begin(&w, 8, rank);
        dt_mesh *mesh = require(ctx, dt_mesh_new(ctx, "dp=4,tp=2"));
        dt_mesh *more = require(ctx, unflatten(mesh, 0, (int64_t[]){2, 2}, 2, "dp_shard,dp_replicate"));
        assert_mesh(more, "dp_shard=2,dp_replicate=2,tp=2", "0 1 2 3 4 5 6 7"); /* DM-058 */
        dt_mesh *old_tp = require(ctx, dt_mesh_slice(mesh, "tp")), *new_tp = require(ctx, dt_mesh_slice(more, "tp"));
        assert_true(dt_mesh_equal(old_tp, new_tp));
        assert_refused(ctx, dt_mesh_slice(mesh, "dp_shard"), "no such dim");
        dt_mesh *root = dt_mesh_root(more);
        assert_ptr_equal(root, mesh);
        dt_mesh *all[] = {root, old_tp, new_tp, more, mesh};
        for (size_t i = 0; i < sizeof all / sizeof *all; i++)
            dt_mesh_release(all[i]);
        world_end(&w);
    }
}

static void unflatten__of_the_same_dim_and_of_an_unflattened_one(void **state) {
    (void)state;
    for (int64_t rank = 0; rank < 8; rank++) {
        world w;
        dt_ctx *ctx = world_begin(&w, 8, rank);
        dt_mesh *mesh = require(ctx, dt_mesh_new(ctx, "world=8"));
        dt_mesh *dense = require(ctx, unflatten(mesh, 0, (int64_t[]){2, 2, 2}, 3, "dp,cp,tp"));
        dt_mesh *sparse = require(ctx, unflatten(mesh, 0, (int64_t[]){2, 2, 2}, 3, "dp,ep,ep_tp"));
        dt_mesh *cp = require(ctx, dt_mesh_slice(dense, "cp")), *ep = require(ctx, dt_mesh_slice(sparse, "ep"));
        dt_mesh *tp = require(ctx, dt_mesh_slice(dense, "tp")), *ep_tp = require(ctx, dt_mesh_slice(sparse, "ep_tp"));
        assert_same_ranks(cp, ep); /* DM-059 */
        assert_same_ranks(tp, ep_tp);
        dt_mesh *three = require(ctx, unflatten(mesh, 0, (int64_t[]){4, 2, 1}, 3, "dp,cp,tp"));
        dt_mesh *four = require(ctx, unflatten(three, 0, (int64_t[]){2, 2}, 2, "dp_shard,dp_replicate"));
        assert_mesh(four, "dp_shard=2,dp_replicate=2,cp=2,tp=1", "0 1 2 3 4 5 6 7"); /* DM-060 */
        static const char *const kept[] = {"cp", "tp"};
        for (int i = 0; i < 2; i++) {
            dt_mesh *before = require(ctx, dt_mesh_slice(three, kept[i]));
            dt_mesh *after = require(ctx, dt_mesh_slice(four, kept[i]));
            assert_true(dt_mesh_equal(before, after));
            dt_mesh_release(before);
            dt_mesh_release(after);
        }
        dt_mesh *all[] = {cp, ep, tp, ep_tp, three, four, dense, sparse, mesh};
        for (size_t i = 0; i < sizeof all / sizeof *all; i++)
            dt_mesh_release(all[i]);
        world_end(&w);
    }
}

/* A dim that was flattened from dims that are not adjacent can be split between these dims and within one of them. */
static void unflatten__of_a_flattened_dim(void **state) {
    (void)state;
    world w;
    dt_ctx *ctx = world_begin(&w, 24, 23);
    dt_mesh *mesh = require(ctx, dt_mesh_new(ctx, "pp=2,cp=2,dp=6")),
            *flat = require(ctx, flatten_dims(mesh, "pp,dp", "f"));
    dt_mesh *fine = require(ctx, unflatten(flat, 0, (int64_t[]){4, 3}, 2, "x,y"));
    assert_mesh(fine, "x=4,y=3", "6 7 8 9 10 11 18 19 20 21 22 23");
    assert_refused(ctx, unflatten(flat, 0, (int64_t[]){3, 4}, 2, "x,y"), "cannot be split into a size of 3");
    dt_mesh_release(fine);
    dt_mesh_release(flat);
    dt_mesh_release(mesh);
    world_end(&w);
}

static void unflatten__invalid_sizes_are_refused(void **state) {
    (void)state;
    world w;
    dt_ctx *ctx = world_begin(&w, 8, 0);
    dt_mesh *mesh = require(ctx, dt_mesh_new(ctx, "dp=4,tp=2")), *plain = require(ctx, dt_mesh_new(ctx, "4x2"));
    int64_t two[] = {2, 2}, three[] = {2, 3}, huge[] = {INT64_MAX, 4}, zero[] = {4, 0}, many[DT_MESH_MAX_DIMS];
    for (int i = 0; i < DT_MESH_MAX_DIMS; i++)
        many[i] = 1;
    assert_refused(ctx, unflatten(mesh, 2, two, 2, "a,b"), "wrong dim: expected 0 to 1, got 2");
    assert_refused(ctx, unflatten(mesh, -1, two, 2, "a,b"), "got -1");
    assert_refused(ctx, unflatten(mesh, 0, two, 2, "a"), "wrong number of names: expected 2, got 1");
    assert_refused(ctx, unflatten(mesh, 0, two, 2, NULL), "wrong number of names: expected 2, got 0");
    assert_refused(ctx, unflatten(mesh, 0, three, 2, "a,b"), "expected 4, got 6");
    assert_refused(ctx, unflatten(mesh, 0, huge, 2, "a,b"), "more than 2^63 - 1");
    assert_refused(ctx, unflatten(mesh, 0, zero, 2, "a,b"), "wrong size of new dim 1: expected at least 1, got 0");
    assert_refused(ctx, unflatten(mesh, 0, two, 2, "a,tp"), "'tp' appears twice");
    assert_refused(ctx, unflatten(mesh, 0, many, DT_MESH_MAX_DIMS, "a"), "expected 1 to 63, got 64");
    assert_refused(ctx, unflatten(mesh, 0, two, 0, "a"), "expected 1 to 63, got 0");
    assert_refused(ctx, unflatten(plain, 0, two, 2, "a,b"), "the dims have no names");
    assert_refused(ctx, dt_mesh_unflatten(mesh, 0, two, 2, &(dt_mesh_options){.names = "a,b", .device = "cpu"}),
                   "device");
    assert_null(unflatten(NULL, 0, two, 2, "a,b"));
    dt_mesh_release(plain);
    dt_mesh_release(mesh);
    world_end(&w);
}

static void concatenate__has_the_dims_of_all_meshes(void **state) {
    (void)state;
    for (int64_t rank = 0; rank < 8; rank++) {
        world w;
        dt_ctx *ctx = world_begin(&w, 8, rank);
        dt_mesh *flat = require(ctx, dt_mesh_new(ctx, "dp=2,tp=4")),
                *both = require(ctx, concatenate(flat, "dp", "tp"));
        assert_true(dt_mesh_equal(both, flat)); /* DM-062 */
        dt_mesh *mesh = require(ctx, dt_mesh_new(ctx, "pp=2,dp=2,tp=2"));
        dt_mesh *pair = require(ctx, concatenate(mesh, "dp", "tp")),
                *slice = require(ctx, dt_mesh_slice(mesh, "dp,tp"));
        assert_true(dt_mesh_equal(pair, slice)); /* DM-063 */
        dt_mesh *whole = require(ctx, concatenate(mesh, "pp,dp", "tp"));
        assert_true(dt_mesh_equal(whole, mesh));
        dt_mesh *reversed = require(ctx, concatenate(mesh, "tp", "pp")); /* in any order */
        assert_mesh(reversed, "tp=2,pp=2", rank / 2 % 2 ? "2 6 3 7" : "0 4 1 5");
        assert_int_equal(dt_mesh_local_rank(reversed, 0), rank % 2);
        assert_int_equal(dt_mesh_local_rank(reversed, 1), rank / 4);
        dt_mesh *line = require(ctx, dt_mesh_flatten(reversed, NULL));
        assert_mesh(line, "tp_pp=4", rank / 2 % 2 ? "2 6 3 7" : "0 4 1 5");
        dt_mesh *all[] = {line, reversed, whole, slice, pair, mesh, both, flat};
        for (size_t i = 0; i < sizeof all / sizeof *all; i++)
            dt_mesh_release(all[i]);
        world_end(&w);
    }
}

static void concatenate__incompatible_meshes_are_refused(void **state) {
    (void)state;
    world w;
    dt_ctx *ctx = world_begin(&w, 12, 2);
    dt_mesh *mesh = require(ctx, dt_mesh_new(ctx, "dp=2,tp=6")), *other = require(ctx, dt_mesh_new(ctx, "ep=2,x=3"));
    dt_mesh *into_a_b = require(ctx, unflatten(mesh, 1, (int64_t[]){2, 3}, 2, "a,b"));
    dt_mesh *into_c_d = require(ctx, unflatten(mesh, 1, (int64_t[]){3, 2}, 2, "c,d"));
    dt_mesh *a = require(ctx, dt_mesh_slice(into_a_b, "a")), *d = require(ctx, dt_mesh_slice(into_c_d, "d"));
    dt_mesh *dp = require(ctx, dt_mesh_slice(mesh, "dp")), *ep = require(ctx, dt_mesh_slice(other, "ep"));
    dt_mesh *plain = require(ctx, dt_mesh_new(ctx, "12"));
    assert_refused(ctx, dt_mesh_concatenate((dt_mesh *[]){dp, dp}, 2), "'dp' appears twice");
    assert_refused(ctx, dt_mesh_concatenate((dt_mesh *[]){into_a_b, d}, 2), "shares ranks");
    assert_refused(ctx, dt_mesh_concatenate((dt_mesh *[]){a, d}, 2),
                   "shares ranks"); /* 2:3 and 2:1 split 6 in different ways */
    assert_refused(ctx, dt_mesh_concatenate((dt_mesh *[]){dp, ep}, 2), "other ranks");
    assert_refused(ctx, dt_mesh_concatenate((dt_mesh *[]){dp, plain}, 2), "the dims have no names");
    assert_null(dt_mesh_concatenate((dt_mesh *[]){dp, NULL}, 2));
    assert_null(dt_mesh_concatenate(NULL, 0));
    dt_mesh *all[] = {plain, ep, dp, a, d, into_a_b, into_c_d, other, mesh};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        dt_mesh_release(all[i]);
    world_end(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flatten__of_one_dim),
        cmocka_unit_test(flatten__of_adjacent_and_of_other_dims),
        cmocka_unit_test(flatten__names_are_found_in_the_root_only),
        cmocka_unit_test(flatten__in_steps),
        cmocka_unit_test(flatten__rebuilds_a_mesh_with_the_flattened_dim),
        cmocka_unit_test(unflatten__splits_one_dim),
        cmocka_unit_test(unflatten__of_the_same_dim_and_of_an_unflattened_one),
        cmocka_unit_test(unflatten__of_a_flattened_dim),
        cmocka_unit_test(unflatten__invalid_sizes_are_refused),
        cmocka_unit_test(concatenate__has_the_dims_of_all_meshes),
        cmocka_unit_test(concatenate__incompatible_meshes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
