/* SPDX-License-Identifier: Apache-2.0
 *
 * The shards of a random tensor have the values of the full tensor, for all meshes, placements and memory layouts.
 */
#include "random/fills.h"
#include "spec/brute.h"

#include "spec/spec.h"

enum { N_CASES = 1500, MAX_RANKS = 60 };

static int64_t elements_of(int n_dims, const int64_t *shape) {
    int64_t n = 1;
    for (int d = 0; d < n_dims; d++)
        n *= shape[d];
    return n;
}

/* The row-major offset in the full tensor of an element of a shard. */
static int64_t global_offset(const brute_case *c, const brute_list *lists, const int64_t *local) {
    int64_t offset = 0;
    for (int d = 0; d < c->n_dims; d++)
        offset = offset * c->shape[d] + lists[d].items[local[d]];
    return offset;
}

static bool next_index(int n_dims, const int64_t *shape, int64_t *index) {
    for (int d = n_dims - 1; d >= 0; d--) {
        if (++index[d] < shape[d])
            return true;
        index[d] = 0;
    }
    return false;
}

/* Compares the shard, element by element, and checks that the byte after it is unchanged. */
static void compare_shard(const brute_case *c, const dt__draw *draw, dt__pool *pool, const dt__sharding *sharding,
                          const int64_t *coordinate, const char *full, const int *stride_order) {
    const size_t bytes = dt_dtype_size(draw->dtype);
    dt__shard shards[BRUTE_MAX_DIMS];
    brute_list lists[BRUTE_MAX_DIMS];
    int64_t shape[BRUTE_MAX_DIMS], strides[BRUTE_MAX_DIMS], index[BRUTE_MAX_DIMS] = {0};
    for (int d = 0; d < c->n_dims; d++) {
        dt__shard_at(sharding, d, coordinate, &shards[d]);
        lists[d] = brute_shard(c, d, coordinate);
        shape[d] = lists[d].n;
    }
    const int64_t n = elements_of(c->n_dims, shape);
    dt__dense_strides(c->n_dims, shape, stride_order, strides);
    char *got = malloc((size_t)n * bytes + 1);
    memset(got, 0x5a, (size_t)n * bytes + 1);
    dt__draw_shard(draw, pool, c->n_dims, shards, strides, got);
    check_equal(c->text, got[(size_t)n * bytes], 0x5a);
    for (int64_t i = 0; i < n; i++, next_index(c->n_dims, shape, index)) {
        int64_t at = 0;
        for (int d = 0; d < c->n_dims; d++)
            at += index[d] * strides[d];
        check_bytes(c->text, got + (size_t)at * bytes, full + (size_t)global_offset(c, lists, index) * bytes, bytes);
    }
    /* The local tensor in parts, contiguously. */
    memset(index, 0, sizeof index);
    for (int64_t begin = 0, some; begin < n; begin += some) {
        some = 1 + begin * 7 % 61 < n - begin ? 1 + begin * 7 % 61 : n - begin;
        dt__draw_local(draw, c->n_dims, shards, begin, some, got);
        for (int64_t i = 0; i < some; i++, next_index(c->n_dims, shape, index))
            check_bytes(c->text, got + (size_t)i * bytes, full + (size_t)global_offset(c, lists, index) * bytes,
                        bytes);
    }
    free(got);
}

static void shuffle(uint64_t *random, int n, int *order) {
    for (int i = n - 1; i > 0; i--) {
        int other = brute_below(random, i + 1), entry = order[i];
        order[i] = order[other];
        order[other] = entry;
    }
}

/* RND-013, RND-014, RND-017 */
static void shard__has_the_values_of_the_full_tensor(void **state) {
    (void)state;
    dt_ctx *ctx = dt__ctx_new(NULL);
    dt__arena arena = dt__arena_new(ctx);
    dt_generator *generator = dt_generator_new(ctx, test_seed(3));
    uint64_t random = test_seed(4);
    for (int i = 0; i < N_CASES; i++) {
        brute_case c;
        dt__arena_mark mark = dt__arena_begin(&arena);
        brute_random_case(&random, MAX_RANKS, &c);
        dt__sharding sharding = brute_sharding(&arena, &c);
        dt__draw draw = begin_draw(generator, &all_fills[i % N_FILLS]);
        int64_t n = elements_of(c.n_dims, c.shape);
        char *full = malloc((size_t)n * dt_dtype_size(draw.dtype) + 1);
        dt__draw_range(&draw, 0, n, full);
        int order[BRUTE_MAX_DIMS] = {0, 1, 2, 3};
        if (brute_below(&random, 2))
            shuffle(&random, c.n_dims, order);
        for (int64_t rank = 0; rank < brute_world(&c); rank++) {
            int64_t coordinate[BRUTE_MAX_DIMS];
            brute_coordinate(&c, rank, coordinate);
            compare_shard(&c, &draw, NULL, &sharding, coordinate, full, order);
        }
        free(full);
        dt__arena_rewind(&arena, mark);
    }
    dt__arena_free(&arena);
    dt__ctx_free(ctx);
}

/* A tensor of more than 2^31 elements, and a shard near its end. */
static void shard__of_a_huge_tensor_has_the_values_of_its_indices(void **state) {
    (void)state;
    dt_ctx *ctx = dt__ctx_new(NULL);
    ctx->world = 1 << 20;
    dt_spec *spec = dt_spec_parse(ctx, "f32[4194304,6,1048576] S(0),_S(2,3) on mesh(1024x1024)");
    if (!spec)
        fail_msg("%s", dt_error_text(ctx));
    dt__draw draw = begin_draw(dt_generator_default(ctx), &(dt__random){DT__NORMAL, DT_F32, .std = 1});
    int64_t coordinate[] = {1023, 1021}; /* the last strided shard of full size */
    dt_local local;
    assert_true(dt_spec_local_at(spec, coordinate, &local));
    float *shard_data = malloc((size_t)local.bytes), expected;
    dt__draw_spec(&draw, NULL, spec, coordinate, NULL, shard_data);
    uint64_t random = test_seed(6);
    for (int i = 0; i < 2000; i++) {
        int64_t at = test_below(&random, local.elements), global[3];
        int64_t index[] = {at / local.strides[0], at % local.strides[0] / local.strides[1], at % local.strides[1]};
        assert_true(dt_spec_to_global(spec, coordinate, index, global));
        dt__draw_range(&draw, (global[0] * 6 + global[1]) * 1048576 + global[2], 1, &expected);
        check_bytes("huge", &shard_data[at], &expected, sizeof expected);
    }
    free(shard_data);
    dt_spec_release(spec);
    dt__ctx_free(ctx);
}

static void spec__empty_shards_ranks_outside_and_scalars(void **state) {
    (void)state;
    dt_ctx *ctx = dt__ctx_new(NULL);
    ctx->world = 4;
    dt__draw draw = begin_draw(dt_generator_default(ctx), &(dt__random){DT__UNIFORM, DT_F64, .high = 1});
    double got = -1, expected;
    dt_spec *empty = dt_spec_parse(ctx, "f64[2,0,3] S(0) on mesh(4)"),
            *few = dt_spec_parse(ctx, "f64[2] S(0) on mesh(4)");
    dt_spec *scalar = dt_spec_parse(ctx, "f64[] R on mesh(4)");
    assert_true(empty && few && scalar);
    dt__draw_spec(&draw, NULL, empty, (int64_t[]){0}, NULL, NULL);
    dt__draw_spec(&draw, NULL, few, (int64_t[]){3}, NULL, NULL);
    dt__draw_spec(&draw, NULL, few, NULL, NULL, NULL);
    dt__draw_spec(&draw, NULL, scalar, (int64_t[]){2}, NULL, &got);
    dt__draw_range(&draw, 0, 1, &expected);
    check_bytes("0-d", &got, &expected, sizeof got);
    dt__draw_range(&draw, 0, 0, NULL);
    dt__ctx_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shard__has_the_values_of_the_full_tensor),
        cmocka_unit_test(shard__of_a_huge_tensor_has_the_values_of_its_indices),
        cmocka_unit_test(spec__empty_shards_ranks_outside_and_scalars),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
