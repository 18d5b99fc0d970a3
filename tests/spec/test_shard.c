/* SPDX-License-Identifier: Apache-2.0
 *
 * Shard arithmetic against lists of indices that are split by the definition.
 */
#include "spec/brute.h"

#include "spec/spec.h"

enum { N_CASES = 20000, MAX_RANKS = 60 };

static void check_shard(const char *name, const dt__shard *shard, const brute_list *expected, int64_t global_size) {
    check_equal(name, shard->size, expected->n);
    check_equal(name, dt__shard_offset(shard), expected->n ? expected->items[0] : global_size);
    for (int i = 0; i < expected->n; i++)
        check_equal(name, dt__shard_to_global(shard, i), expected->items[i]);
    for (int64_t global = 0, next = 0; global <= global_size; global++) {
        while (next < expected->n && expected->items[next] < global)
            next++;
        bool held = next < expected->n && expected->items[next] == global;
        int64_t local = -1;
        check_equal(name, dt__shard_seek(shard, global), next);
        check_equal(name, dt__shard_to_local(shard, global, &local), held);
        check_equal(name, local, held ? next : -1);
    }
}

/* Runs are maximal, ascending, and cover the list; from the middle of one, the rest of it is returned. */
static void check_runs(const char *name, const dt__shard *shard, const brute_list *expected) {
    for (int i = 0; i < expected->n; i++) {
        int end = i + 1;
        while (end < expected->n && expected->items[end] == expected->items[end - 1] + 1)
            end++;
        dt_run run = dt__shard_run(shard, i);
        check_equal(name, run.begin, expected->items[i]);
        check_equal(name, run.end, expected->items[end - 1] + 1);
        check_equal(name, run.local, i);
    }
}

static void shard__holds_the_indices_of_the_definition(void **state) {
    (void)state;
    dt_ctx *ctx = dt__ctx_new(NULL);
    dt__arena arena = dt__arena_new(ctx);
    uint64_t random = test_seed(1);
    for (int i = 0; i < N_CASES; i++) {
        brute_case c;
        dt__arena_mark mark = dt__arena_begin(&arena);
        brute_random_case(&random, MAX_RANKS, &c);
        dt__sharding sharding = brute_sharding(&arena, &c);
        for (int64_t rank = 0; rank < brute_world(&c); rank++) {
            int64_t coordinate[BRUTE_MAX_DIMS], shape[BRUTE_MAX_DIMS], offset[BRUTE_MAX_DIMS];
            brute_coordinate(&c, rank, coordinate);
            dt__sharding_local(&sharding, coordinate, shape, offset);
            for (int d = 0; d < c.n_dims; d++) {
                dt__shard shard;
                brute_list expected = brute_shard(&c, d, coordinate);
                dt__shard_at(&sharding, d, coordinate, &shard);
                check_shard(c.text, &shard, &expected, c.shape[d]);
                check_runs(c.text, &shard, &expected);
                check_equal(c.text, shape[d], expected.n);
                check_equal(c.text, offset[d], expected.n ? expected.items[0] : c.shape[d]);
            }
        }
        dt__arena_rewind(&arena, mark);
    }
    dt__arena_free(&arena);
    dt__ctx_free(ctx);
}

static bool brute_holds(const brute_case *c, const int64_t *coordinate, const int64_t *element) {
    for (int d = 0; d < c->n_dims; d++) {
        brute_list list = brute_shard(c, d, coordinate);
        bool held = false;
        for (int i = 0; i < list.n; i++)
            held |= list.items[i] == element[d];
        if (!held)
            return false;
    }
    return true;
}

/* The enumeration yields, in row-major order, exactly the coordinates that hold the element. */
static void check_owners(const brute_case *c, const dt__sharding *sharding, const int64_t *element) {
    int64_t owner[BRUTE_MAX_DIMS], coordinate[BRUTE_MAX_DIMS], next_owner[BRUTE_MAX_DIMS], at = 0;
    dt__sharding_owner(sharding, element, owner);
    bool more = dt__sharding_next_owner(sharding, owner, &at, next_owner);
    for (int64_t rank = 0; rank < brute_world(c); rank++) {
        brute_coordinate(c, rank, coordinate);
        bool is_next = more && !memcmp(next_owner, coordinate, (size_t)c->n_mesh_dims * sizeof *next_owner);
        check_equal(c->text, is_next, brute_holds(c, coordinate, element));
        if (is_next)
            more = dt__sharding_next_owner(sharding, owner, &at, next_owner);
    }
    check_equal(c->text, more, false);
}

static void owners__are_exactly_those_that_hold_the_element(void **state) {
    (void)state;
    dt_ctx *ctx = dt__ctx_new(NULL);
    dt__arena arena = dt__arena_new(ctx);
    uint64_t random = test_seed(2);
    for (int i = 0; i < N_CASES; i++) {
        brute_case c;
        dt__arena_mark mark = dt__arena_begin(&arena);
        brute_random_case(&random, 24, &c);
        dt__sharding sharding = brute_sharding(&arena, &c);
        bool empty = false;
        for (int d = 0; d < c.n_dims; d++)
            empty |= c.shape[d] == 0;
        for (int k = 0; k < 8 && !empty; k++) {
            int64_t element[BRUTE_MAX_DIMS] = {0};
            for (int d = 0; d < c.n_dims; d++)
                element[d] = brute_below(&random, (int)c.shape[d]);
            check_owners(&c, &sharding, element);
        }
        dt__arena_rewind(&arena, mark);
    }
    dt__arena_free(&arena);
    dt__ctx_free(ctx);
}

static void shards__evenness_and_largest_size_consider_all_ranks(void **state) {
    (void)state;
    dt_ctx *ctx = dt__ctx_new(NULL);
    dt__arena arena = dt__arena_new(ctx);
    uint64_t random = test_seed(3);
    int n_even = 0, n_largest_elsewhere = 0;
    for (int i = 0; i < N_CASES; i++) {
        brute_case c;
        dt__arena_mark mark = dt__arena_begin(&arena);
        brute_random_case(&random, MAX_RANKS, &c);
        dt__sharding sharding = brute_sharding(&arena, &c);
        for (int d = 0; d < c.n_dims; d++) {
            int64_t max = 0, min = INT64_MAX, first = -1, largest = -1;
            for (int64_t rank = 0; rank < brute_world(&c); rank++) {
                int64_t coordinate[BRUTE_MAX_DIMS] = {0};
                brute_coordinate(&c, rank, coordinate);
                int64_t n = brute_shard(&c, d, coordinate).n;
                max = n > max ? n : max;
                min = n < min ? n : min;
                first = rank ? first : n;
            }
            assert_int_equal(dt__sharding_dim_largest(ctx, &sharding, d, &largest), DT_OK);
            check_equal(c.text, largest, max);
            check_equal(c.text, dt__sharding_dim_is_even(&sharding, d), max == min);
            n_even += max == min && max > 0;
            n_largest_elsewhere += first < max && c.n_order[d] > 1;
        }
        dt__arena_rewind(&arena, mark);
    }
    /* The random cases contain even shards, and dims split several times whose largest shard is not at coordinate 0.
     * */
    assert_true(n_even > 100);
    assert_true(n_largest_elsewhere > 10);
    dt__arena_free(&arena);
    dt__ctx_free(ctx);
}

static void largest__too_many_different_sizes_are_an_error(void **state) {
    (void)state;
    dt_ctx *ctx = dt__ctx_new(NULL);
    dt__arena arena = dt__arena_new(ctx);
    static const int64_t splits[][2] = {
        {2, 43},
        {2, 427277040337225771},
        {2, 46242954621793025},
        {2, 40462585294068897},
        {2, 56},
        {2, 49},
        {2, 6},
        {3, 1685941053919538},
        {3, 4},
        {2, 374653567537675},
        {2, 80282907329502},
        {4, 20070726832376},
        {2, 24111600187250},
    };
    enum { N_SPLITS = sizeof splits / sizeof *splits };
    int64_t mesh[N_SPLITS], shape = 2589605458820409599, largest = -1;
    dt_placement placements[N_SPLITS];
    for (int m = 0; m < N_SPLITS; m++) {
        mesh[m] = splits[m][0];
        placements[m] = dt_placement_strided(0, splits[m][1]);
    }
    dt__sharding sharding;
    dt__sharding_desc desc = {N_SPLITS, mesh, 1, &shape, N_SPLITS, placements};
    assert_int_equal(dt__sharding_new(&arena, &desc, &sharding), DT_OK);
    assert_int_equal(dt__sharding_dim_largest(ctx, &sharding, 0, &largest), DT_ERR_UNSUPPORTED);
    assert_error_contains(ctx, DT_ERR_UNSUPPORTED, "too many different sizes");
    assert_int_equal(largest, -1);
    dt__arena_free(&arena);
    dt__ctx_free(ctx);
}

/* Sizes near 2^63 and meshes of 10^5 … 10^9 ranks: indices at the ends and in the middle are checked by the inverse
 * functions. */
static void shard__is_exact_at_the_largest_sizes(void **state) {
    (void)state;
    static const struct {
        int64_t size, n, split;
    } cases[] = {
        {INT64_MAX, 3, 1},         {INT64_MAX, INT32_MAX, 1},
        {INT64_MAX, INT64_MAX, 1}, {INT64_MAX, INT64_MAX - 1, 1},
        {INT64_MAX, 2, INT64_MAX}, {INT64_MAX, 100003, INT64_C(1) << 40},
        {INT64_MAX - 1, 7, 3},     {(INT64_C(1) << 31) + 1, 100000, 1000},
        {5, INT64_MAX, INT64_MAX},
    };
    dt_ctx *ctx = dt__ctx_new(NULL);
    dt__arena arena = dt__arena_new(ctx);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char name[100];
        snprintf(name, sizeof name, "%" PRId64 " over %" PRId64 ", split %" PRId64, cases[i].size, cases[i].n,
                 cases[i].split);
        dt_placement placement =
            cases[i].split == 1 ? dt_placement_shard(0) : dt_placement_strided(0, cases[i].split);
        dt__sharding sharding;
        dt__sharding_desc desc = {1, &cases[i].n, 1, &cases[i].size, 1, &placement};
        assert_int_equal(dt__sharding_new(&arena, &desc, &sharding), DT_OK);
        int64_t n = cases[i].n, size = cases[i].size;
        const int64_t indices[] = {0, 1, size / 3, size / 2, size / 2 + 1, size - 2, size - 1};
        for (size_t k = 0; k < sizeof indices / sizeof *indices; k++) {
            int64_t coordinate = -1, local = -1;
            dt__shard shard;
            dt__sharding_owner(&sharding, &indices[k], &coordinate);
            assert_in_range(coordinate, 0, n - 1);
            dt__shard_at(&sharding, 0, &coordinate, &shard);
            check_equal(name, dt__shard_to_local(&shard, indices[k], &local), true);
            check_equal(name, dt__shard_to_global(&shard, local), indices[k]);
            dt_run run = dt__shard_run(&shard, local);
            check_equal(name, run.begin, indices[k]);
            assert_true(run.end > run.begin && run.end <= size);
        }
        const int64_t coordinates[] = {0, n / 2, n - 1};
        for (size_t k = 0; k < sizeof coordinates / sizeof *coordinates; k++) {
            dt__shard shard;
            int64_t back = -1;
            dt__shard_at(&sharding, 0, &coordinates[k], &shard);
            assert_in_range(dt__shard_offset(&shard), 0, size);
            if (shard.size == 0)
                continue;
            int64_t last = dt__shard_to_global(&shard, shard.size - 1);
            dt__sharding_owner(&sharding, &last, &back);
            check_equal(name, back, coordinates[k]);
        }
    }
    dt__arena_free(&arena);
    dt__ctx_free(ctx);
}

/* On a mesh of 317x331 ranks, the sizes of all shards add up to that of the dim. */
static void shard__sizes_on_a_large_mesh_add_up(void **state) {
    (void)state;
    dt_ctx *ctx = dt__ctx_new(NULL);
    dt__arena arena = dt__arena_new(ctx);
    static const char *const texts[] = {"S(0),S(0)", "S(0)[1],S(0)[0]", "_S(0,17),S(0)", "S(0),_S(0,1000)"};
    const int64_t mesh[] = {317, 331}, size = (INT64_C(1) << 33) + 12345;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        int n;
        dt_placement *placements;
        dt__sharding sharding;
        assert_int_equal(dt__placements_parse(&arena, texts[i], &n, &placements), DT_OK);
        dt__sharding_desc desc = {2, mesh, 1, &size, n, placements};
        assert_int_equal(dt__sharding_new(&arena, &desc, &sharding), DT_OK);
        int64_t sum = 0;
        for (int64_t r = 0; r < mesh[0] * mesh[1]; r++) {
            dt__shard shard;
            dt__shard_at(&sharding, 0, (int64_t[]){r / mesh[1], r % mesh[1]}, &shard);
            sum += shard.size;
        }
        check_equal(texts[i], sum, size);
    }
    dt__arena_free(&arena);
    dt__ctx_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shard__holds_the_indices_of_the_definition),
        cmocka_unit_test(owners__are_exactly_those_that_hold_the_element),
        cmocka_unit_test(shards__evenness_and_largest_size_consider_all_ranks),
        cmocka_unit_test(largest__too_many_different_sizes_are_an_error),
        cmocka_unit_test(shard__is_exact_at_the_largest_sizes),
        cmocka_unit_test(shard__sizes_on_a_large_mesh_add_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
