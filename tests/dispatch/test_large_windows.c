/* SPDX-License-Identifier: Apache-2.0
 *
 * Windows of dims of 2^31 elements and more: a slice moves what it needs, and each range has a decision of its own.
 * On ranks with data the shards are one element seen 2^30 times and more, so that they need no memory.
 */
#include "support/ranks.h"

#include "dtensor/debug.h"
#include "dtensor/dtensor.h"

#include <string.h>

#define LARGE ((int64_t)1 << 31)

static int64_t received(dt_ctx *ctx, dt_tensor *made) {
    int64_t bytes = dt_comm_stats(ctx, NULL).bytes;
    assert_non_null(made);
    return bytes;
}

/* The bytes that rank 0 of 2 receives, where windows end in the middle of the tensor. */
#define RECEIVED(ctx, expression)                                                                                    \
    (assert_int_equal(dt_comm_stats_begin(ctx), DT_OK), bytes_ = received(ctx, expression), dt_comm_stats_end(ctx),  \
     bytes_)

static void windows__of_large_dims_move_what_is_asked(void **state) {
    (void)state;
    static const int64_t sizes[] = {LARGE - 2, LARGE, LARGE + 6, LARGE * 4, LARGE * 1024};
    int64_t bytes_;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        int64_t size = sizes[i], half = size / 2;
        dt_ctx *ctx = dt_init(&(dt_init_options){.transport = "fake", .world = 2, .rank = 0});
        dt_mesh *mesh = dt_mesh_new(ctx, "2");
        dt_tensor *x = dt_empty(ctx, DT_SHAPE(size), .dtype = DT_U8, .mesh = mesh, .place = "S(0)");
        assert_int_equal(RECEIVED(ctx, dt_slice(x, 0, 100, 110, 1)), 5);
        assert_int_equal(RECEIVED(ctx, dt_slice(x, 0, half - 3, half + 5, 1)), 1);
        assert_int_equal(RECEIVED(ctx, dt_narrow(x, 0, size - 10, 10)), 5);
        assert_int_equal(RECEIVED(ctx, dt_select(x, 0, size - 1)), 0); /* P(sum) */
        assert_int_equal(RECEIVED(ctx, dt_slice(x, 0, 1, size, 1)), 1);
        assert_int_equal(RECEIVED(ctx, dt_roll(x, DT_INTS(3), .dims = DT_DIMS(0))), 3);
        dt_mesh_release(mesh);
        assert_int_equal(dt_close(ctx), 0);
    }
}

/* Start and length of a range do not fit one number any more: both are in the key. */
static void windows__of_large_dims_have_their_own_decisions(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(&(dt_init_options){.transport = "fake", .world = 3, .rank = 1});
    dt_mesh *mesh = dt_mesh_new(ctx, "3");
    dt_tensor *x = dt_empty(ctx, DT_SHAPE(LARGE * 16), .dtype = DT_U8, .mesh = mesh, .place = "S(0)");
    static const int64_t numbers[] = {0, 1, LARGE / 2, LARGE - 1, LARGE, LARGE * 2, LARGE * 4 + 1};
    enum { N = sizeof numbers / sizeof *numbers };
    int64_t n_misses = 0;
    for (int round = 0; round < 2; round++) {
        n_misses = dt_cache_stats(ctx).n_misses;
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++) {
                dt_scope scope = dt_scope_begin(ctx);
                dt_tensor *y = dt_slice(x, 0, numbers[i], numbers[i] + numbers[j], 1);
                assert_non_null(y);
                assert_int_equal(dt_tensor_size(y, 0), numbers[j]);
                dt_scope_end(scope);
            }
        assert_int_equal(dt_cache_stats(ctx).n_misses - n_misses, round == 0 ? N * N : 0);
    }
    dt_mesh_release(mesh);
    assert_int_equal(dt_close(ctx), 0);
}

/* All elements of the shard of a rank have its number. */
static dt_tensor *new_large(dt_ctx *ctx, dt_mesh *mesh) {
    dt_tensor *one = dt_full(ctx, DT_SHAPE(1), (double)dt_rank(ctx) + 1, .dtype = DT_U8);
    return dt_from_local(ctx, dt_expand(one, DT_SHAPE(LARGE / 2)), mesh, "S(0)");
}

static int fetch_across_shards(dt_ctx *ctx, void *arg) {
    (void)arg;
    int64_t n = dt_world(ctx);
    dt_mesh *mesh = dt_mesh_new(ctx, "*");
    dt_tensor *x = new_large(ctx, mesh);
    CHECK(x && dt_tensor_size(x, 0) == LARGE / 2 * n, "%s", dt_error_text(ctx));
    for (int round = 0; round < 2; round++)
        for (int64_t border = 1; border < n; border++) {
            int64_t at = LARGE / 2 * border;
            dt_tensor *y = dt_full_tensor(dt_slice(x, 0, at - 3, at + 4, 1)),
                      *z = dt_full_tensor(dt_narrow(x, 0, at - 1, 2));
            CHECK(y && z, "%s", dt_error_text(ctx));
            const unsigned char *values = dt_data(y), *two = dt_data(z);
            for (int i = 0; i < 7; i++)
                CHECK(values[i] == border + (i >= 3), "border %lld, element %d is %d", (long long)border, i,
                      values[i]);
            CHECK(two[0] == border && two[1] == border + 1, "border %lld: %d and %d", (long long)border, two[0],
                  two[1]);
            CHECK(dt_item(dt_select(x, 0, at)) == (double)(border + 1), "border %lld", (long long)border);
        }
    CHECK(dt_heap_stats(ctx).peak_bytes < 16 << 20, "a peak of %zu bytes", dt_heap_stats(ctx).peak_bytes);
    dt_mesh_release(mesh);
    return 0;
}

static void windows__of_large_dims_have_their_values(void **state) {
    (void)state;
    static const int64_t worlds[] = {2, 3, 5};
    for (size_t i = 0; i < sizeof worlds / sizeof *worlds; i++)
        run_ranks(worlds[i], fetch_across_shards, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows__of_large_dims_move_what_is_asked),
        cmocka_unit_test(windows__of_large_dims_have_their_own_decisions),
        cmocka_unit_test(windows__of_large_dims_have_their_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
