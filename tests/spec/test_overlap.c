/* SPDX-License-Identifier: Apache-2.0
 *
 * Intersections of the shards of two ranks, against lists of indices.
 */
#include "spec/brute.h"

#include "spec/spec.h"

enum { N_CASES = 15000 };

static int position_of(const brute_list *list, int item) {
    for (int i = 0; i < list->n; i++)
        if (list->items[i] == item)
            return i;
    return -1;
}

/* Runs ascend, are not adjacent, and have each common index with its position in both lists. */
static void check_runs(const char *name, const dt__shard *shard_a, const dt__shard *shard_b, const brute_list *a,
                       const brute_list *b) {
    dt__overlap_run run = {0};
    int64_t at = 0, size = 0, last_end = -1;
    for (int i = 0; i < a->n; i++) {
        int j = position_of(b, a->items[i]);
        if (j < 0)
            continue;
        if (size == 0 || a->items[i] >= run.end) {
            if (!dt__overlap_next(shard_a, shard_b, &at, &run))
                fail_msg("%s: expected a run with the common index %d, got none", name, a->items[i]);
            check_equal(name, run.begin, a->items[i]);
            check_equal(name, run.begin == last_end, false);
            last_end = run.end;
        }
        check_equal(name, run.a + a->items[i] - run.begin, i);
        check_equal(name, run.b + a->items[i] - run.begin, j);
        size++;
    }
    check_equal(name, dt__overlap_next(shard_a, shard_b, &at, &run), false);
    check_equal(name, dt__overlap_size(shard_a, shard_b), size);
}

static void check_pair(const brute_case *a, const dt__sharding *sharding_a, int64_t rank_a, const brute_case *b,
                       const dt__sharding *sharding_b, int64_t rank_b) {
    char name[1100];
    int64_t at_a[BRUTE_MAX_DIMS], at_b[BRUTE_MAX_DIMS];
    snprintf(name, sizeof name, "%s rank %" PRId64 " and %s rank %" PRId64, a->text, rank_a, b->text, rank_b);
    brute_coordinate(a, rank_a, at_a);
    brute_coordinate(b, rank_b, at_b);
    for (int d = 0; d < a->n_dims; d++) {
        brute_list list_a = brute_shard(a, d, at_a), list_b = brute_shard(b, d, at_b);
        dt__shard shard_a, shard_b;
        dt__shard_at(sharding_a, d, at_a, &shard_a);
        dt__shard_at(sharding_b, d, at_b, &shard_b);
        check_runs(name, &shard_a, &shard_b, &list_a, &list_b);
    }
}

static void overlap__is_the_common_indices(void **state) {
    (void)state;
    dt_ctx *ctx = dt__ctx_new(NULL);
    dt__arena arena = dt__arena_new(ctx);
    uint64_t random = test_seed(4);
    for (int i = 0; i < N_CASES; i++) {
        brute_case a, b;
        int64_t shape[BRUTE_MAX_DIMS];
        dt__arena_mark mark = dt__arena_begin(&arena);
        int n_dims = brute_random_shape(&random, shape);
        brute_random_case_of(&random, 60, n_dims, shape, &a);
        brute_random_case_of(&random, 60, n_dims, shape, &b);
        dt__sharding sharding_a = brute_sharding(&arena, &a), sharding_b = brute_sharding(&arena, &b);
        for (int k = 0; k < 4; k++)
            check_pair(&a, &sharding_a, brute_below(&random, (int)brute_world(&a)), &b, &sharding_b,
                       brute_below(&random, (int)brute_world(&b)));
        dt__arena_rewind(&arena, mark);
    }
    dt__arena_free(&arena);
    dt__ctx_free(ctx);
}

/* 2^40 runs on one side: indices that are not common take no time, and neither does a common size. */
static void overlap__visits_only_common_runs(void **state) {
    (void)state;
    dt_ctx *ctx = dt__ctx_new(NULL);
    dt__arena arena = dt__arena_new(ctx);
    const int64_t size = INT64_C(1) << 62, n_a = 2, n_b = INT64_C(1) << 60;
    dt_placement strided = dt_placement_strided(0, INT64_C(1) << 40), plain = dt_placement_shard(0);
    dt__sharding a, b;
    dt__sharding_desc desc_a = {1, &n_a, 1, &size, 1, &strided}, desc_b = {1, &n_b, 1, &size, 1, &plain};
    assert_int_equal(dt__sharding_new(&arena, &desc_a, &a), DT_OK);
    assert_int_equal(dt__sharding_new(&arena, &desc_b, &b), DT_OK);
    /* Chunks of 2^22; coordinate 1 holds the upper half of each; each shard of b has 4 indices in one half. */
    const int64_t upper = (INT64_C(1) << 59) + (INT64_C(1) << 19), lower = INT64_C(1) << 59;
    dt__shard shard_a, shard_b;
    dt__overlap_run run;
    int64_t at = 0;
    dt__shard_at(&a, 0, (int64_t[]){1}, &shard_a);
    dt__shard_at(&b, 0, &upper, &shard_b);
    assert_true(dt__overlap_next(&shard_a, &shard_b, &at, &run));
    assert_int_equal(run.begin, 4 * upper);
    assert_int_equal(run.end - run.begin, 4);
    assert_int_equal(run.a, INT64_C(1) << 60);
    assert_int_equal(run.b, 0);
    assert_false(dt__overlap_next(&shard_a, &shard_b, &at, &run));
    dt__shard_at(&b, 0, &lower, &shard_b);
    assert_int_equal(dt__overlap_size(&shard_a, &shard_b), 0);
    /* 2^39 common runs of a shard that is one run take no time either. */
    const int64_t two = 2;
    desc_b.mesh = &two;
    assert_int_equal(dt__sharding_new(&arena, &desc_b, &b), DT_OK);
    dt__shard_at(&b, 0, (int64_t[]){1}, &shard_b);
    assert_int_equal(dt__overlap_size(&shard_a, &shard_b), INT64_C(1) << 60);
    assert_int_equal(dt__overlap_size(&shard_b, &shard_a), INT64_C(1) << 60);
    /* Nor do those of two strided shards, each 2^23 indices: there, coordinate 0 of b holds what a holds of the lower
     * half. */
    dt_placement wider = dt_placement_strided(0, INT64_C(1) << 39);
    desc_b.placements = &wider;
    assert_int_equal(dt__sharding_new(&arena, &desc_b, &b), DT_OK);
    dt__shard_at(&b, 0, (int64_t[]){0}, &shard_b);
    assert_int_equal(dt__overlap_size(&shard_a, &shard_b), INT64_C(1) << 60);
    dt__arena_free(&arena);
    dt__ctx_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(overlap__is_the_common_indices),
        cmocka_unit_test(overlap__visits_only_common_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
