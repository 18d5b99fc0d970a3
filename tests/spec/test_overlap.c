/* SPDX-License-Identifier: Apache-2.0
 *
 * Intersections of two ranks' parts, against lists of indices.
 */
#include "spec/brute.h"

#include "spec/overlap.h"

enum { N_CASES = 15000 };

static int position_of(const brute_list *list, int item) {
    for (int i = 0; i < list->n; i++)
        if (list->items[i] == item)
            return i;
    return -1;
}

/* Runs ascend without touching, and name each common index with its place in both lists. */
static int64_t check_dim(const char *name, const dt__overlap_dim *dim, const brute_list *a, const brute_list *b) {
    int64_t run = -1, size = 0;
    for (int i = 0; i < a->n; i++) {
        int j = position_of(b, a->items[i]);
        if (j < 0)
            continue;
        if (run < 0 || a->items[i] >= dim->runs[run].end) {
            if (++run >= dim->n_runs)
                fail_msg("%s: %d is common and in none of the %" PRId64 " runs", name, a->items[i], dim->n_runs);
            check_equal(name, dim->runs[run].begin, a->items[i]);
            check_equal(name, run > 0 && dim->runs[run - 1].end == a->items[i], false);
        }
        check_equal(name, dim->runs[run].a + a->items[i] - dim->runs[run].begin, i);
        check_equal(name, dim->runs[run].b + a->items[i] - dim->runs[run].begin, j);
        size++;
    }
    check_equal(name, dim->n_runs, run + 1);
    check_equal(name, dim->size, size);
    return size;
}

static void check_boxes(const char *name, const dt__overlap *overlap, int64_t elements) {
    int64_t sum = 0;
    for (int64_t i = 0; i < overlap->n_boxes; i++) {
        dt__overlap_box box = dt__overlap_box_at(overlap, i);
        int64_t volume = 1, number = 0;
        for (int d = 0; d < overlap->n_dims; d++) {
            volume *= box.run[d]->end - box.run[d]->begin;
            number = number * overlap->dims[d].n_runs + (box.run[d] - overlap->dims[d].runs);
        }
        check_equal(name, number, i);
        sum += volume;
    }
    check_equal(name, overlap->elements, elements);
    check_equal(name, sum, elements);
}

static void check_pair(dt__arena *arena, const brute_case *a, const dt__sharding *sharding_a, int64_t rank_a,
                       const brute_case *b, const dt__sharding *sharding_b, int64_t rank_b) {
    char name[1100];
    int64_t at_a[BRUTE_MOST_DIMS], at_b[BRUTE_MOST_DIMS], elements = 1;
    snprintf(name, sizeof name, "%s rank %" PRId64 " and %s rank %" PRId64, a->text, rank_a, b->text, rank_b);
    brute_coordinate(a, rank_a, at_a);
    brute_coordinate(b, rank_b, at_b);
    dt__overlap overlap;
    assert_int_equal(dt__overlap_new(arena, sharding_a, at_a, sharding_b, at_b, &overlap), DT_OK);
    for (int d = 0; d < a->n_dims; d++) {
        brute_list list_a = brute_shard(a, d, at_a), list_b = brute_shard(b, d, at_b);
        dt__shard shard_a, shard_b;
        dt__shard_at(sharding_a, d, at_a, &shard_a);
        dt__shard_at(sharding_b, d, at_b, &shard_b);
        int64_t size = check_dim(name, &overlap.dims[d], &list_a, &list_b);
        check_equal(name, dt__overlap_size(&shard_a, &shard_b), size);
        elements *= size;
    }
    check_boxes(name, &overlap, elements);
}

static void overlap__is_the_product_of_common_indices(void **state) {
    (void)state;
    dt_ctx *ctx = dt__ctx_new(NULL);
    dt__arena arena = dt__arena_new(ctx);
    uint64_t random = test_seed(4);
    for (int i = 0; i < N_CASES; i++) {
        brute_case a, b;
        int64_t shape[BRUTE_MOST_DIMS];
        dt__arena_mark mark = dt__arena_begin(&arena);
        int n_dims = brute_random_shape(&random, shape);
        brute_random_case_of(&random, 60, n_dims, shape, &a);
        brute_random_case_of(&random, 60, n_dims, shape, &b);
        dt__sharding sharding_a = brute_sharding(&arena, &a), sharding_b = brute_sharding(&arena, &b);
        for (int k = 0; k < 4; k++)
            check_pair(&arena, &a, &sharding_a, brute_below(&random, (int)brute_world(&a)), &b, &sharding_b,
                       brute_below(&random, (int)brute_world(&b)));
        dt__arena_rewind(&arena, mark);
    }
    dt__arena_free(&arena);
    dt__ctx_free(ctx);
}

/* 2^40 runs on one side: what is not common costs nothing. */
static void overlap__follows_the_common_runs_only(void **state) {
    (void)state;
    dt_ctx *ctx = dt__ctx_new(NULL);
    dt__arena arena = dt__arena_new(ctx);
    const int64_t size = INT64_C(1) << 62, n_a = 2, n_b = INT64_C(1) << 60;
    dt_placement strided = dt_placement_strided(0, INT64_C(1) << 40), plain = dt_placement_shard(0);
    dt__sharding a, b;
    dt__sharding_desc desc_a = {1, &n_a, 1, &size, 1, &strided}, desc_b = {1, &n_b, 1, &size, 1, &plain};
    assert_int_equal(dt__sharding_new(&arena, &desc_a, &a), DT_OK);
    assert_int_equal(dt__sharding_new(&arena, &desc_b, &b), DT_OK);
    dt__overlap overlap;
    /* Chunks of 2^22, of which coordinate 1 holds the upper half; b's parts of 4 lie wholly in one half. */
    const int64_t upper = (INT64_C(1) << 59) + (INT64_C(1) << 19), lower = INT64_C(1) << 59;
    assert_int_equal(dt__overlap_new(&arena, &a, (int64_t[]){1}, &b, &upper, &overlap), DT_OK);
    assert_int_equal(overlap.elements, 4);
    assert_int_equal(overlap.dims[0].runs[0].begin, 4 * upper);
    assert_int_equal(overlap.dims[0].runs[0].a, INT64_C(1) << 60);
    assert_int_equal(overlap.dims[0].runs[0].b, 0);
    assert_int_equal(dt__overlap_new(&arena, &a, (int64_t[]){1}, &b, &lower, &overlap), DT_OK);
    assert_int_equal(overlap.elements, 0);
    dt__arena_free(&arena);
    dt__ctx_free(ctx);
}

static void overlap__of_empty_tensors_does_not_multiply_sizes(void **state) {
    (void)state;
    dt_ctx *ctx = dt__ctx_new(NULL);
    dt__arena arena = dt__arena_new(ctx);
    const int64_t shape[] = {INT64_C(1) << 62, 8, 0}, n = 1;
    dt_placement placement = dt_placement_replicate();
    dt__sharding a;
    dt__sharding_desc desc = {1, &n, 3, shape, 1, &placement};
    assert_int_equal(dt__sharding_new(&arena, &desc, &a), DT_OK);
    dt__overlap overlap;
    assert_int_equal(dt__overlap_new(&arena, &a, (int64_t[]){0}, &a, (int64_t[]){0}, &overlap), DT_OK);
    assert_int_equal(overlap.elements, 0);
    assert_int_equal(overlap.n_boxes, 0);
    dt__arena_free(&arena);
    dt__ctx_free(ctx);
}

static bool overlap_once(dt_ctx *ctx, void *user) {
    (void)user;
    const int64_t mesh = 2, shape[] = {7, 5}, sizes[] = {3, 4};
    dt_placement strided = dt_placement_strided(0, 2), extents = dt_placement_shard(0);
    extents.n_extents = 2;
    extents.extents = sizes;
    dt__arena arenas[3] = {dt__arena_new(ctx), dt__arena_new(ctx), dt__arena_new(ctx)};
    dt__sharding a, b;
    dt__overlap overlap;
    dt__sharding_desc desc_a = {1, &mesh, 2, shape, 1, &strided}, desc_b = {1, &mesh, 2, shape, 1, &extents};
    bool done = dt__sharding_new(&arenas[0], &desc_a, &a) == DT_OK &&
                dt__sharding_new(&arenas[1], &desc_b, &b) == DT_OK &&
                dt__overlap_new(&arenas[2], &a, (int64_t[]){0}, &b, (int64_t[]){1}, &overlap) == DT_OK;
    if (done)
        assert_int_equal(overlap.elements, 2 * 5);
    for (int i = 0; i < 3; i++)
        dt__arena_free(&arenas[i]);
    return done;
}

static void overlap__every_allocation_may_fail(void **state) {
    (void)state;
    assert_in_range(assert_survives_failing_allocations(overlap_once, NULL), 3, 1000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(overlap__is_the_product_of_common_indices),
        cmocka_unit_test(overlap__follows_the_common_runs_only),
        cmocka_unit_test(overlap__of_empty_tensors_does_not_multiply_sizes),
        cmocka_unit_test(overlap__every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
