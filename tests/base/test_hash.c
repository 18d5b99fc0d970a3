/* SPDX-License-Identifier: Apache-2.0 */
#include "support/check.h"

#include "base/hash.h"

#include <string.h>

/* A value of the map: the map gets its hash; its id distinguishes values of the same hash. */
struct item {
    uint64_t hash;
    int id;
    bool is_stored;
};

static bool has_id(const void *value, const void *probe) {
    return ((const struct item *)value)->id == *(const int *)probe;
}

enum { N_ITEMS = 500 };
static struct item items[N_ITEMS];

static void assert_map_equals_items(const dt__map *map) {
    static bool visited[N_ITEMS];
    memset(visited, 0, sizeof visited);
    size_t n_stored = 0, n_visited = 0;
    for (int i = 0; i < N_ITEMS; i++) {
        n_stored += items[i].is_stored;
        assert_ptr_equal(dt__map_get(map, items[i].hash, has_id, &i), items[i].is_stored ? &items[i] : NULL);
    }
    assert_int_equal(map->n_entries, n_stored);
    size_t at = 0;
    for (const struct item *item; (item = dt__map_next(map, &at)); n_visited++) {
        assert_true(item->is_stored);
        assert_false(visited[item - items]);
        visited[item - items] = true;
    }
    assert_int_equal(n_visited, n_stored);
    assert_null(dt__map_next(map, &at));
}

/* Random additions and removals against a list of the stored items; hashes collide on purpose. */
static void compare_with_list(uint64_t n_hashes, uint64_t stride) {
    test_memory memory = {0};
    dt_ctx *ctx = dt__ctx_new(&(dt_init_options){.allocator = test_memory_allocator(&memory)});
    uint64_t random = test_seed(n_hashes);
    for (int i = 0; i < N_ITEMS; i++)
        items[i] = (struct item){test_random(&random) % n_hashes * stride, i, false};
    dt__map map = dt__map_new(ctx);
    assert_map_equals_items(&map);
    for (int step = 0; step < 20000; step++) {
        struct item *item = &items[test_below(&random, N_ITEMS)];
        bool adds = test_below(&random, 100) < (step / 4000 % 2 ? 30 : 70);
        if (item->is_stored && !adds)
            assert_true(dt__map_remove(&map, item->hash, item));
        else if (!item->is_stored && adds)
            assert_true(dt__map_add(&map, item->hash, item));
        else if (!item->is_stored)
            assert_false(dt__map_remove(&map, item->hash, item));
        item->is_stored = adds;
        if (step % 400 == 0)
            assert_map_equals_items(&map);
        assert_in_range(map.n_used * 2, 0, map.capacity);
    }
    assert_map_equals_items(&map);
    dt__map_free(&map);
    dt__ctx_free(ctx);
    assert_int_equal(memory.n_live, 0);
    assert_false(memory.wrong_size);
}

static void map__agrees_with_a_list(void **state) {
    (void)state;
    compare_with_list(UINT64_C(1) << 62, 1); /* all different */
    compare_with_list(100, 1);               /* several values per hash */
    compare_with_list(1, 1);                 /* one hash for all */
    compare_with_list(1000, UINT64_C(1) << 40);
}

static void map__values_may_be_removed_during_iteration(void **state) {
    (void)state;
    dt_ctx *ctx = dt__ctx_new(NULL);
    dt__map map = dt__map_new(ctx);
    for (int i = 0; i < N_ITEMS; i++) {
        items[i] = (struct item){dt__hash_u64((uint64_t)i, 0), i, true};
        assert_true(dt__map_add(&map, items[i].hash, &items[i]));
    }
    size_t at = 0;
    for (struct item *item; (item = dt__map_next(&map, &at)); item->is_stored = false)
        assert_true(dt__map_remove(&map, item->hash, item));
    assert_map_equals_items(&map);
    assert_int_equal(map.n_entries, 0);
    dt__map_free(&map);
    dt__ctx_free(ctx);
}

/* Tombstones are removed, so that the table does not grow while few values are added and removed. */
static void map__capacity_is_bounded_over_many_changes(void **state) {
    (void)state;
    dt_ctx *ctx = dt__ctx_new(NULL);
    dt__map map = dt__map_new(ctx);
    for (uint64_t i = 0; i < 100000; i++) {
        assert_true(dt__map_add(&map, i, &items[i % 4]));
        if (i >= 4)
            assert_true(dt__map_remove(&map, i - 4, &items[i % 4]));
    }
    assert_in_range(map.capacity, 16, 32);
    dt__map_free(&map);
    dt__ctx_free(ctx);
}

/* Integers can be hashes: those with equal low bits are not one long probe sequence. */
static void map__multiples_of_a_power_of_two_are_spread(void **state) {
    (void)state;
    enum { N = 100000 };
    static struct item many[N];
    dt_ctx *ctx = dt__ctx_new(NULL);
    dt__map map = dt__map_new(ctx);
    for (uint64_t i = 0; i < N; i++) /* one probe sequence would take 5,000,000,000 steps */
        assert_true(dt__map_add(&map, i << 20, &many[i]));
    for (uint64_t i = 0; i < N; i++)
        assert_ptr_equal(dt__map_get(&map, i << 20, NULL, NULL), &many[i]);
    dt__map_free(&map);
    dt__ctx_free(ctx);
}

static bool fill_map(dt_ctx *ctx, void *user) {
    (void)user;
    dt__map map = dt__map_new(ctx);
    bool ok = true;
    size_t n_added = 0;
    while (ok && n_added < N_ITEMS) {
        ok = dt__map_add(&map, n_added, &items[n_added]);
        n_added += ok;
    }
    for (size_t i = 0; i < n_added; i++) /* values that were added before the failure are still stored */
        assert_ptr_equal(dt__map_get(&map, i, NULL, NULL), &items[i]);
    assert_int_equal(map.n_entries, n_added);
    dt__map_free(&map);
    return ok;
}

static void map__survives_failing_allocations(void **state) {
    (void)state;
    assert_in_range(assert_survives_failing_allocations(fill_map, NULL), 4, 100);
}

static void hash__depends_on_every_byte_and_the_length(void **state) {
    (void)state;
    unsigned char bytes[40] = {0};
    for (size_t n = 0; n <= sizeof bytes; n++) {
        uint64_t plain = dt__hash(bytes, n, 1);
        assert_true(plain == dt__hash(bytes, n, 1));
        assert_true(plain != dt__hash(bytes, n, 2));
        assert_true(n == 0 || plain != dt__hash(bytes, n - 1, 1));
        for (size_t i = 0; i < n; i++) {
            bytes[i] = 1;
            assert_true(plain != dt__hash(bytes, n, 1));
            bytes[i] = 0;
        }
    }
}

static void hash__does_not_depend_on_alignment(void **state) {
    (void)state;
    char text[64];
    uint64_t first = dt__hash("who holds what, and where", 25, 3);
    for (size_t shift = 0; shift < 16; shift++) {
        memcpy(text + shift, "who holds what, and where", 25);
        assert_true(first == dt__hash(text + shift, 25, 3));
    }
}

/* Hashes are written to files and compared between ranks, so that the values must not change. */
static void hash__values_are_fixed(void **state) {
    (void)state;
    assert_true(dt__hash_u64(0, 0) == UINT64_C(0xe220a8397b1dcdaf));
    assert_true(dt__hash("", 0, 0) == UINT64_C(0xe220a8397b1dcdaf));
}

/* Avalanche: if one input bit flips, each output bit flips with probability 1/2, about 32 of 64 on average. */
static void hash__one_input_bit_flips_half_of_the_output(void **state) {
    (void)state;
    long n_flips = 0;
    for (uint64_t value = 0; value < 100; value++)
        for (int bit = 0; bit < 64; bit++)
            n_flips += __builtin_popcountll(dt__hash_u64(value, 5) ^ dt__hash_u64(value ^ UINT64_C(1) << bit, 5));
    assert_in_range(n_flips, 6400 * 31, 6400 * 33);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(map__agrees_with_a_list),
        cmocka_unit_test(map__values_may_be_removed_during_iteration),
        cmocka_unit_test(map__capacity_is_bounded_over_many_changes),
        cmocka_unit_test(map__multiples_of_a_power_of_two_are_spread),
        cmocka_unit_test(map__survives_failing_allocations),
        cmocka_unit_test(hash__depends_on_every_byte_and_the_length),
        cmocka_unit_test(hash__does_not_depend_on_alignment),
        cmocka_unit_test(hash__values_are_fixed),
        cmocka_unit_test(hash__one_input_bit_flips_half_of_the_output),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
