/* SPDX-License-Identifier: Apache-2.0 */
#include "support/check.h"

#include "base/arena.h"
#include "base/poison.h"

#include <string.h>

static test_memory memory;
static dt_ctx *ctx;

static int set_up(void **state) {
    (void)state;
    memory = (test_memory){0};
    ctx = dt__ctx_new(&(dt_init_options){.allocator = test_memory_allocator(&memory)});
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    dt__ctx_free(ctx);
    assert_int_equal(memory.n_live, 0);
    assert_false(memory.wrong_size);
    return 0;
}

static void arena__allocates_nothing_at_first(void **state) {
    (void)state;
    long n_before = memory.n_calls;
    dt__arena arena = dt__arena_new(ctx);
    assert_int_equal(memory.n_calls, n_before);
    dt__arena_free(&arena);
    dt__arena_free(&arena);
}

/* Memory of the caller is used first, and never freed. */
static void arena__uses_lent_memory_first(void **state) {
    (void)state;
    _Alignas(16) unsigned char lent[256];
    for (size_t n = 0; n < 300; n++) {
        const long n_before = memory.n_calls;
        memset(lent, 0xff, sizeof lent);
        dt__arena arena = dt__arena_on(ctx, lent, sizeof lent);
        dt__arena_mark mark = dt__arena_begin(&arena);
        unsigned char *item = dt__arena_alloc(&arena, n, 1);
        assert_non_null(item);
        assert_int_equal(item >= lent && item < lent + sizeof lent, n <= sizeof lent - DT__ARENA_HEADER);
        assert_int_equal(memory.n_calls - n_before, n > sizeof lent - DT__ARENA_HEADER);
        for (size_t i = 0; i < n; i++)
            assert_int_equal(item[i], 0);
        dt__arena_rewind(&arena, mark);
        assert_non_null(dt__arena_alloc(&arena, 2 * sizeof lent, 1));
        dt__arena_free(&arena);
        memset(lent, 0, sizeof lent); /* not poisoned any more */
    }
}

static void arena__items_are_aligned_and_zeroed_even_when_reused(void **state) {
    (void)state;
    dt__arena arena = dt__arena_new(ctx);
    for (int round = 0; round < 2; round++) {
        dt__arena_mark mark = dt__arena_begin(&arena);
        for (size_t n = 0; n < 300; n++) {
            unsigned char *item = dt__arena_alloc(&arena, n, 1);
            assert_non_null(item);
            assert_int_equal((uintptr_t)item % 16, 0);
            for (size_t i = 0; i < n; i++)
                assert_int_equal(item[i], 0);
            memset(item, 0xff, n);
        }
        dt__arena_rewind(&arena, mark);
    }
    dt__arena_free(&arena);
}

/* Random sizes and nested marks: every live item keeps its bytes, so that none overlap and none are freed early. */
static void arena__live_items_keep_their_bytes(void **state) {
    (void)state;
    enum { MAX_ITEMS = 2000 };
    static struct {
        unsigned char *bytes;
        size_t n;
    } items[MAX_ITEMS];
    struct {
        dt__arena_mark mark;
        size_t n_items;
    } marks[64];
    dt__arena arena = dt__arena_new(ctx);
    uint64_t random = test_seed(7);
    size_t n_items = 0, n_marks = 0;
    for (int step = 0; step < 20000; step++) {
        int64_t action = test_below(&random, 100);
        if (action < 5 && n_marks < 64) {
            marks[n_marks].mark = dt__arena_begin(&arena);
            marks[n_marks++].n_items = n_items;
        } else if (action < 10 && n_marks) {
            n_marks -= 1 + (size_t)test_below(&random, (int64_t)n_marks);
            dt__arena_rewind(&arena, marks[n_marks].mark);
            n_items = marks[n_marks].n_items;
        } else if (n_items < MAX_ITEMS) {
            size_t n = (size_t)test_below(&random, action == 99 ? 100000 : 200);
            unsigned char *bytes = dt__arena_alloc(&arena, n, 1);
            memset(bytes, (int)(n_items % 251), n);
            items[n_items].bytes = bytes;
            items[n_items++].n = n;
        }
        if (step % 500 == 0)
            for (size_t i = 0; i < n_items; i++)
                for (size_t j = 0; j < items[i].n; j++)
                    assert_int_equal(items[i].bytes[j], i % 251);
    }
    dt__arena_free(&arena);
}

static void arena__rewinding_to_the_start_frees_all_blocks(void **state) {
    (void)state;
    dt__arena arena = dt__arena_new(ctx);
    long n_before = memory.n_live;
    dt__arena_mark mark = dt__arena_begin(&arena);
    for (int i = 0; i < 100; i++)
        assert_non_null(DT__NEW_ARRAY(&arena, double, 1000));
    assert_true(memory.n_live > n_before);
    dt__arena_rewind(&arena, mark);
    assert_int_equal(memory.n_live, n_before);
}

/* The size of blocks doubles, so that a million small items take few allocations. */
static void arena__many_items_need_few_blocks(void **state) {
    (void)state;
    dt__arena arena = dt__arena_new(ctx);
    long n_before = memory.n_calls;
    for (int i = 0; i < 1000000; i++)
        assert_non_null(DT__NEW(&arena, int64_t));
    assert_in_range(memory.n_calls - n_before, 1, 80);
    dt__arena_free(&arena);
}

static void arena__sizes_that_overflow_are_refused(void **state) {
    (void)state;
    static const size_t sizes[][2] = {{SIZE_MAX, 2},      {SIZE_MAX, 1},      {SIZE_MAX / 2 + 1, 2},
                                      {SIZE_MAX - 20, 1}, {1, SIZE_MAX - 15}, {SIZE_MAX / 16 + 1, 16}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        dt_ctx *other_ctx = dt__ctx_new(NULL);
        dt__arena arena = dt__arena_new(other_ctx);
        assert_null(dt__arena_alloc(&arena, sizes[i][0], sizes[i][1]));
        assert_error_contains(other_ctx, DT_ERR_MEMORY, "out of memory");
        dt__arena_free(&arena);
        dt__ctx_free(other_ctx);
    }
}

static void arena__text_is_copied(void **state) {
    (void)state;
    dt__arena arena = dt__arena_new(ctx);
    char original[] = "dp=2,tp=4";
    char *copy = dt__arena_copy_text(&arena, original);
    original[0] = 'x';
    assert_string_equal(copy, "dp=2,tp=4");
    assert_string_equal(dt__arena_copy_text(&arena, ""), "");
    assert_string_equal(dt__arena_copy_chars(&arena, "tp=4,dp=2", 4), "tp=4");
    assert_string_equal(dt__arena_copy_chars(&arena, "tp", 0), "");
    dt__arena_free(&arena);
}

static void arena__items_are_copied(void **state) {
    (void)state;
    dt__arena arena = dt__arena_new(ctx);
    int64_t original[] = {3, 1, 2};
    int64_t *copy = dt__arena_copy(&arena, original, 3, sizeof *original);
    original[0] = 7;
    assert_memory_equal(copy, ((int64_t[]){3, 1, 2}), sizeof original);
    assert_non_null(dt__arena_copy(&arena, NULL, 0, sizeof *original));
    dt__arena_free(&arena);
}

#ifdef DT__HAS_POISON
static void arena__is_poisoned_after_rewind(void **state) {
    (void)state;
    dt__arena arena = dt__arena_new(ctx);
    char *kept = dt__arena_alloc(&arena, 10, 1);
    dt__arena_mark mark = dt__arena_begin(&arena);
    char *freed = dt__arena_alloc(&arena, 10, 1);
    assert_false(__asan_address_is_poisoned(freed));
    assert_true(__asan_address_is_poisoned(freed + 16));
    dt__arena_rewind(&arena, mark);
    assert_true(__asan_address_is_poisoned(freed));
    assert_false(__asan_address_is_poisoned(kept));
    dt__arena_free(&arena);
}
#endif

static bool use_arena(dt_ctx *other_ctx, void *user) {
    (void)user;
    dt__arena arena = dt__arena_new(other_ctx);
    bool ok = true;
    for (size_t n = 1; ok && n < 100000; n *= 3)
        ok = dt__arena_alloc(&arena, n, 8) && dt__arena_copy_text(&arena, "text");
    dt__arena_free(&arena);
    return ok;
}

static void arena__survives_failing_allocations(void **state) {
    (void)state;
    assert_in_range(assert_survives_failing_allocations(use_arena, NULL), 3, 1000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(arena__allocates_nothing_at_first, set_up, tear_down),
        cmocka_unit_test_setup_teardown(arena__uses_lent_memory_first, set_up, tear_down),
        cmocka_unit_test_setup_teardown(arena__items_are_aligned_and_zeroed_even_when_reused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(arena__live_items_keep_their_bytes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(arena__rewinding_to_the_start_frees_all_blocks, set_up, tear_down),
        cmocka_unit_test_setup_teardown(arena__many_items_need_few_blocks, set_up, tear_down),
        cmocka_unit_test(arena__sizes_that_overflow_are_refused),
        cmocka_unit_test_setup_teardown(arena__text_is_copied, set_up, tear_down),
        cmocka_unit_test_setup_teardown(arena__items_are_copied, set_up, tear_down),
#ifdef DT__HAS_POISON
        cmocka_unit_test_setup_teardown(arena__is_poisoned_after_rewind, set_up, tear_down),
#endif
        cmocka_unit_test(arena__survives_failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
