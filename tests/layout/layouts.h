/* SPDX-License-Identifier: Apache-2.0
 *
 * For tests of layouts: a context and an arena per test, layouts written as text, and evaluation at
 * every index, which is independent of the algebra under test.
 */
#ifndef DT_TESTS_LAYOUTS_H
#define DT_TESTS_LAYOUTS_H

#include "support/check.h"

#include "layout/layout.h"

typedef struct fixture {
    test_memory memory;
    dt_ctx *ctx;
    dt__arena arena;
} fixture;

static inline void fixture_begin(fixture *b) {
    *b = (fixture){.memory = {0}};
    b->ctx = dt__ctx_new(&(dt_init_options){.allocator = test_memory_allocator(&b->memory)});
    b->arena = dt__arena_new(b->ctx);
}

static inline void fixture_end(fixture *b) {
    dt__arena_free(&b->arena);
    dt__ctx_free(b->ctx);
    assert_int_equal(b->memory.n_live, 0);
    assert_false(b->memory.wrong_size);
}

static inline dt__layout layout_of(fixture *b, const char *text) {
    dt__layout layout;
    if (dt__layout_parse(&b->arena, text, &layout) != DT_OK)
        fail_msg("%s: %s", text, dt_error_text(b->ctx));
    return layout;
}

static inline dt_tuple tuple_of(fixture *b, const char *text) {
    dt_tuple tuple;
    dt__cursor cursor = dt__cursor_new(b->ctx, DT_ERR_VALUE, "tuple", text);
    if (dt__tuple_parse(&b->arena, &cursor, &tuple) != DT_OK || *cursor.at)
        fail_msg("%s: %s", text, dt_error_text(b->ctx));
    return tuple;
}

static inline void assert_tuple(fixture *b, const dt_tuple *tuple, const char *expected) {
    dt__text text = dt__text_new(b->ctx);
    dt__tuple_print(&text, tuple);
    assert_string_equal(dt__text_chars(&text), expected);
    dt__text_free(&text);
}

static inline void assert_layout(fixture *b, const dt__layout *layout, const char *expected) {
    dt__text text = dt__text_new(b->ctx);
    dt__layout_print(&text, layout);
    assert_string_equal(dt__text_chars(&text), expected);
    dt__text_free(&text);
}

static inline void assert_i64(int64_t got, int64_t expected, const char *label) {
    if (got != expected)
        fail_msg("%s: expected %lld, got %lld", label, (long long)expected, (long long)got);
}

/* A layout as a function on all integers from 0 on, by the definition: an index beyond the size continues in the
 * first mode. */
static inline int64_t evaluate(const dt__layout *layout, int64_t index) {
    dt__mode modes[64];
    int64_t n = dt_tuple_count(&layout->shape), value = 0;
    assert_true(n <= 64);
    dt__layout_modes(layout, modes);
    for (int64_t i = n - 1; i >= 0; i--) {
        int64_t coordinate = i ? index % modes[i].size : index;
        value += coordinate * modes[i].stride;
        index = i ? index / modes[i].size : 0;
    }
    return value;
}

#endif
