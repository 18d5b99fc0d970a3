/* SPDX-License-Identifier: Apache-2.0
 *
 * Groups of mesh dims: created on first use, shared and freed; and collectives along a dim, whose results are computed
 * from ranks. Ranks 3 4 6 8, on shared memory.
 */
#include "support/ranks.h"

#include "mesh/mesh.h"

#include <string.h>

#define CHECK_MESH(ctx, mesh) CHECK(mesh, "%s", dt_error_text(ctx))

static int share_groups(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *line = dt_mesh_from_shape(ctx, (int64_t[]){8}, 1, NULL), *mesh = dt_mesh_new(ctx, "dp=2,cp=2,tp=2");
    CHECK_MESH(ctx, line && mesh);
    CHECK_OK(ctx, dt_comm_barrier(dt_group_world(ctx)));
    CHECK_OK(ctx, dt_comm_barrier(dt_mesh_group(line, 0)));
    CHECK(test_share_channel(dt_mesh_group(line, 0), dt_group_world(ctx)),
          "expected the channel of the world, got another"); /* DM-001 */
    CHECK(dt_mesh_group(line, DT_MESH_ONLY_DIM) == dt_mesh_group(line, 0),
          "expected the group of dim 0, got another");
    dt_mesh_release(line);
    dt_group *groups[3];
    int n_before = test_count_groups(ctx);
    for (int i = 0; i < 3; i++) {
        groups[i] = dt_mesh_group(mesh, i); /* DM-008, DM-009 */
        CHECK(groups[i] && dt_mesh_group(mesh, i) == groups[i], "%s", dt_error_text(ctx));
        CHECK(dt_group_size(groups[i]) == 2, "size %lld", (long long)dt_group_size(groups[i])); /* DM-101 */
        CHECK(dt_group_rank(groups[i]) == dt_mesh_local_rank(mesh, i), "expected rank %lld in the group, got %lld",
              (long long)dt_mesh_local_rank(mesh, i), (long long)dt_group_rank(groups[i]));
        for (int64_t k = 0; k < 2; k++)
            CHECK(dt_group_world_rank(groups[i], k) == dt_mesh_group_rank(mesh, i, k), "member %lld", (long long)k);
    }
    CHECK(groups[0] != groups[1] && groups[1] != groups[2], "dims share a group");
    CHECK(test_count_groups(ctx) == n_before + 3, "expected %d groups, got %d", n_before + 3, test_count_groups(ctx));

    dt_mesh *part = dt_mesh_slice(mesh, "dp,cp"), *tp = dt_mesh_slice(mesh, "tp");
    dt_mesh *flat = dt_mesh_flatten(part, NULL), *again = dt_mesh_flatten(part, NULL);
    dt_mesh *pair = dt_mesh_slice(mesh, "dp_cp,tp"), *joined = dt_mesh_concatenate((dt_mesh *[]){part, tp}, 2);
    dt_mesh *unflattened =
        dt_mesh_unflatten(flat, 0, (int64_t[]){2, 2}, 2, &(dt_mesh_options){.names = "dp_again,cp_again"});
    CHECK_MESH(ctx, part && tp && flat && again && pair && joined && unflattened);
    CHECK(dt_mesh_group(part, 0) == groups[0] && dt_mesh_group(part, 1) == groups[1],
          "expected the groups of the root for a slice");
    CHECK(dt_mesh_group(tp, 0) == groups[2], "expected the group of the root for a slice of one dim");
    CHECK(dt_mesh_group(unflattened, 0) == groups[0] && dt_mesh_group(unflattened, 1) == groups[1],
          "expected the groups of the root for unflattened dims");
    CHECK(dt_mesh_group(joined, 2) == groups[2], "expected the group of the root for concatenated dims");
    CHECK(test_count_groups(ctx) == n_before + 3,
          "expected no new groups of sub-meshes"); /* DM-043, DM-058, DM-062, DM-063 */
    dt_group *long_group = dt_mesh_group(flat, 0);
    CHECK(dt_mesh_group(again, 0) == long_group && dt_mesh_group(pair, 0) == long_group,
          "expected one group per flattened dim"); /* DM-050, DM-064, DM-065 */
    CHECK(test_count_groups(ctx) == n_before + 4, "expected %d groups, got %d", n_before + 4, test_count_groups(ctx));

    dt_mesh *all[] = {mesh, part, tp, flat, again, pair, joined};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        dt_mesh_release(all[i]);
    CHECK(test_count_groups(ctx) == n_before + 3, "expected the three groups of the root, got %d",
          test_count_groups(ctx) - n_before);
    dt_mesh_release(unflattened);
    CHECK(test_count_groups(ctx) == n_before, "expected %d groups, got %d", n_before, test_count_groups(ctx));
    return 0;
}

/* Elements per rank. */
enum { N = 9 };

static int run_collectives(dt_ctx *ctx, void *arg) {
    dt_mesh *mesh = dt_mesh_new(ctx, arg);
    CHECK_MESH(ctx, mesh);
    int64_t self = dt_rank(ctx);
    for (int dim = 0; dim < dt_mesh_n_dims(mesh); dim++) {
        dt_group *group = dt_mesh_group(mesh, dim);
        int64_t n = dt_mesh_dim_size(mesh, dim), value[N], all[8 * N], sum = 0, got;
        for (int i = 0; i < N; i++)
            value[i] = self;
        CHECK_OK(ctx, dt_comm_broadcast(group, value, value, N, DT_I64, 0)); /* DM-071, DM-077 */
        for (int i = 0; i < N; i++)
            CHECK(value[i] == dt_mesh_group_rank(mesh, dim, 0), "dim %d: %lld", dim, (long long)value[i]);
        for (int64_t k = 0; k < n * N; k++)
            all[k] = dt_mesh_group_rank(mesh, dim, k / N);
        CHECK_OK(ctx, dt_comm_scatter(group, all, value, N, DT_I64, 0)); /* DM-072, DM-078 */
        for (int i = 0; i < N; i++)
            CHECK(value[i] == self, "dim %d: %lld", dim, (long long)value[i]);
        CHECK_OK(ctx, dt_comm_all_reduce(group, &self, &got, 1, DT_I64, DT_SUM));
        for (int64_t k = 0; k < n; k++)
            sum += dt_mesh_group_rank(mesh, dim, k);
        CHECK(got == sum, "dim %d: expected %lld, got %lld", dim, (long long)sum, (long long)got);
    }
    dt_mesh_release(mesh);
    return 0;
}

/* DM-073, DM-074, DM-076: chunks of ceil size, the last ones short or empty; blocks are not padded. */
static int uneven_chunks(dt_ctx *ctx, void *arg) {
    (void)arg;
    enum { ROWS = 11, COLUMNS = 9 };
    dt_mesh *mesh = dt_mesh_from_shape(ctx, (int64_t[]){dt_world(ctx)}, 1, NULL);
    CHECK_MESH(ctx, mesh);
    dt_group *group = dt_mesh_group(mesh, 0);
    int64_t n = dt_world(ctx), r = dt_rank(ctx), chunk = (ROWS + n - 1) / n, counts[8];
    for (int64_t i = 0; i < n; i++) {
        int64_t begin = i * chunk < ROWS ? i * chunk : ROWS, end = (i + 1) * chunk < ROWS ? (i + 1) * chunk : ROWS;
        counts[i] = (end - begin) * COLUMNS;
    }
    float full[ROWS * COLUMNS], part[ROWS * COLUMNS], back[ROWS * COLUMNS] = {0};
    for (int i = 0; i < ROWS * COLUMNS; i++)
        full[i] = (float)i;
    dt_comm_call call = {.op = DT_SCATTER, .dtype = DT_F32, .src = full, .dst = part, .counts = counts};
    CHECK_OK(ctx, dt_comm_run(group, &call));
    int64_t begin = r * chunk < ROWS ? r * chunk * COLUMNS : ROWS * COLUMNS;
    for (int64_t i = 0; i < counts[r]; i++)
        CHECK(part[i] == (float)(begin + i), "rank %lld: %g", (long long)r, (double)part[i]);
    call = (dt_comm_call){.op = DT_ALL_GATHER, .dtype = DT_F32, .src = part, .dst = back, .counts = counts};
    CHECK_OK(ctx, dt_comm_run(group, &call));
    CHECK(!memcmp(full, back, sizeof full), "the gathered chunks differ from the source");
    for (int i = 0; i < ROWS * COLUMNS; i++)
        full[i] = (float)r;
    call = (dt_comm_call){
        .op = DT_REDUCE_SCATTER, .dtype = DT_F32, .reduce = DT_SUM, .src = full, .dst = part, .counts = counts};
    CHECK_OK(ctx, dt_comm_run(group, &call));
    for (int64_t i = 0; i < counts[r]; i++)
        CHECK(part[i] == (float)(n * (n - 1) / 2), "rank %lld: %g", (long long)r, (double)part[i]);
    dt_mesh_release(mesh);
    return 0;
}

/* DM-080 */
static int reduce_by_name(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh = dt_mesh_new(ctx, "pp=2,dp=2,tp=2"), *flat = dt_mesh_flatten(mesh, NULL);
    CHECK_MESH(ctx, flat);
    int64_t self = dt_rank(ctx), got;
    CHECK_OK(ctx, dt_comm_all_reduce(dt_mesh_group(mesh, dt_mesh_dim(mesh, "pp")), &self, &got, 1, DT_I64, DT_SUM));
    CHECK(got == 2 * (self % 4 + 2), "got %lld", (long long)got);
    CHECK_OK(ctx, dt_comm_all_reduce(dt_mesh_group(flat, 0), &self, &got, 1, DT_I64, DT_SUM));
    CHECK(got == 28, "got %lld", (long long)got);
    dt_mesh_release(flat);
    dt_mesh_release(mesh);
    return 0;
}

/* Ranks that created different meshes get an error from the first collective. */
static int use_different_meshes(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *same = dt_mesh_new(ctx, "dp=2,tp=2"), *other = dt_mesh_new(ctx, dt_rank(ctx) == 2 ? "2x2" : "a=2,b=2");
    CHECK_MESH(ctx, same && other);
    int64_t self = dt_rank(ctx), got;
    dt_comm_call call = {.op = DT_ALL_REDUCE, .dtype = DT_I64, .src = &self, .dst = &got, .count = 1};
    CHECK_OK(ctx, dt_comm_run(dt_mesh_group(same, 0), &call));
    dt_status status = dt_comm_run(dt_mesh_group(other, 0), &call);
    bool differs = self % 2 == 0; /* ranks 0 and 2 are a group along dim 0 */
    CHECK((status == DT_ERR_MISMATCH) == differs, "rank %lld: %s", (long long)self, dt_status_name(status));
    ctx->status = DT_OK;
    dt_mesh_release(other);
    dt_mesh_release(same);
    return 0;
}

static void groups__are_shared_and_freed(void **state) {
    (void)state;
    run_ranks(8, share_groups, NULL);
}

static void collectives__along_every_dim(void **state) {
    (void)state;
    run_ranks(3, run_collectives, "3");
    run_ranks(4, run_collectives, "[[0,1],[2,3]]");
    run_ranks(4, run_collectives, "[[3,0],[1,2]]");
    run_ranks(6, run_collectives, "dp=3,one=1,tp=2");
    run_ranks(8, run_collectives, "2x2x2");
    run_ranks(8, run_collectives, "f=(2,2):(4,1),g=2:2 of 2x2x2");
}

static void collectives__of_uneven_chunks(void **state) {
    (void)state;
    run_ranks(3, uneven_chunks, NULL);
    run_ranks(4, uneven_chunks, NULL);
    run_ranks(8, uneven_chunks, NULL);
}

static void collectives__by_name(void **state) {
    (void)state;
    run_ranks(8, reduce_by_name, NULL);
}

static void fingerprint__detects_that_meshes_differ(void **state) {
    (void)state;
    run_ranks(4, use_different_meshes, NULL);
}

static void group__without_a_transport_is_an_error(void **state) {
    (void)state;
    dt_ctx *ctx = dt__ctx_new(NULL);
    int64_t ten = 10;
    dt_mesh *mesh = dt__mesh_from_shape(ctx, (dt__mesh_self){10, 5}, &ten, 1, (dt__names){NULL, 0}, NULL);
    assert_null(dt_mesh_group(mesh, 0)); /* DM-014 */
    assert_error_contains(ctx, DT_ERR_STATE, "no transport");
    dt_mesh_release(mesh);
    dt__ctx_free(ctx);
}

static void group__of_a_fake_world_moves_nothing(void **state) {
    (void)state;
    test_memory memory = {0};
    dt_ctx *ctx = dt_init(
        &(dt_init_options){.transport = "fake", .world = 12, .rank = 5, .allocator = test_memory_allocator(&memory)});
    assert_non_null(ctx);
    dt_mesh *mesh = dt_mesh_new(ctx, "a=2,b=3,c=2");
    assert_non_null(mesh);
    dt_group *group = dt_mesh_group(mesh, 1);
    assert_int_equal(dt_group_size(group), 3);
    assert_int_equal(dt_group_rank(group), 2);
    float part[2 * 8] = {0}, full[3 * 2 * 8];
    assert_int_equal(dt_comm_all_gather(group, part, full, 2 * 8, DT_F32), DT_OK); /* DM-015 */
    assert_null(dt_mesh_group(mesh, 3));
    assert_error_contains(ctx, DT_ERR_MESH, "wrong mesh dim: expected 0 to 2, got 3");
    ctx->status = DT_OK;
    dt_mesh *small = dt_mesh_new(ctx, "2x2");
    assert_null(dt_mesh_group(small, 0)); /* a rank outside the mesh: no group, and no error */
    assert_false(dt_failed(ctx));
    dt_mesh *foreign =
        dt__mesh_from_shape(ctx, (dt__mesh_self){12, 6}, (int64_t[]){12}, 1, (dt__names){NULL, 0}, NULL);
    assert_null(dt_mesh_group(foreign, 0));
    assert_error_contains(ctx, DT_ERR_STATE, "rank 6 of 12, this is rank 5 of 12");
    ctx->status = DT_OK;
    assert_null(dt_mesh_group(NULL, 0));
    assert_int_equal(dt_close(ctx), 0); /* frees the meshes, then their groups */
    assert_int_equal(memory.n_live, 0);
    assert_false(memory.wrong_size);
}

static void memory__every_allocation_may_fail(void **state) {
    (void)state;
    bool done = false;
    for (long n = 1; !done; n++) {
        test_memory memory = {0};
        dt_ctx *ctx = dt_init(&(dt_init_options){
            .transport = "fake", .world = 8, .rank = 3, .allocator = test_memory_allocator(&memory)});
        assert_non_null(ctx);
        memory.fail_at = memory.n_calls + n;
        dt_mesh *mesh = dt_mesh_new(ctx, "dp=2,tp=4"), *tp = dt_mesh_slice(mesh, "tp");
        dt_mesh *line = dt_mesh_flatten(mesh, NULL);
        dt_group *first = dt_mesh_group(mesh, 1), *second = dt_mesh_group(tp, 0), *world = dt_mesh_group(line, 0);
        done = memory.n_calls < memory.fail_at;
        if (done)
            assert_true(first && first == second && dt_group_size(world) == 8);
        else
            assert_error_contains(ctx, DT_ERR_MEMORY, "out of memory");
        ctx->status = DT_OK;
        dt_mesh_release(line);
        dt_mesh_release(tp);
        dt_mesh_release(mesh);
        assert_int_equal(dt_close(ctx), 0);
        assert_int_equal(memory.n_live, 0);
        assert_false(memory.wrong_size);
        assert_true(n < 1000);
    }
}

static int query_small_meshes(dt_ctx *ctx, void *arg) {
    (void)arg;
    int64_t rank = dt_rank(ctx), at[2];
    dt_mesh *line = dt_mesh_new(ctx, "tp=2"), *grid = dt_mesh_new(ctx, "dp=2,tp=1");
    CHECK_MESH(ctx, line && grid);
    /* DTC-003 */
    CHECK(dt_mesh_size(grid) == 2 && dt_mesh_dim_size(grid, 0) == 2 && dt_mesh_dim_size(grid, 1) == 1,
          "DTC-003: sizes");
    CHECK(dt_mesh_coordinate(grid, at) && at[0] == rank && at[1] == 0, "DTC-003: coordinate");
    CHECK(dt_group_size(dt_mesh_group(grid, 0)) == 2 && dt_group_size(dt_mesh_group(grid, 1)) == 1,
          "DTC-003: groups");
    CHECK(dt_group_world_rank(dt_mesh_group(grid, 1), 0) == rank, "DTC-003: a group of one");
    /* DTC-005 */
    CHECK(dt_mesh_local_rank(line, dt_mesh_dim(line, "tp")) == rank && dt_mesh_local_rank(line, 0) == rank &&
              dt_mesh_local_rank(line, DT_MESH_ONLY_DIM) == rank,
          "DTC-005");
    /* DTC-014 */
    dt_mesh *dp = dt_mesh_slice(grid, "dp");
    CHECK_MESH(ctx, dp);
    CHECK(dt_mesh_group(dp, DT_MESH_ONLY_DIM) == dt_mesh_group(grid, 0), "DTC-014: 2-D");
    CHECK(dt_mesh_group(line, DT_MESH_ONLY_DIM) == dt_mesh_group(line, 0), "DTC-014: 1-D");
    float one = 1, sum = 0;
    CHECK_OK(ctx, dt_comm_all_reduce(dt_mesh_group(dp, 0), &one, &sum, 1, DT_F32, DT_SUM));
    CHECK(sum == 2, "DTC-014: %g ranks", (double)sum);
    dt_mesh_release(dp);
    dt_mesh_release(line);
    dt_mesh_release(grid);
    return 0;
}

static void queries__of_meshes_of_one_and_two_dims(void **state) {
    (void)state;
    run_ranks(2, query_small_meshes, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups__are_shared_and_freed),
        cmocka_unit_test(queries__of_meshes_of_one_and_two_dims),
        cmocka_unit_test(collectives__along_every_dim),
        cmocka_unit_test(collectives__of_uneven_chunks),
        cmocka_unit_test(collectives__by_name),
        cmocka_unit_test(fingerprint__detects_that_meshes_differ),
        cmocka_unit_test(group__without_a_transport_is_an_error),
        cmocka_unit_test(group__of_a_fake_world_moves_nothing),
        cmocka_unit_test(memory__every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
