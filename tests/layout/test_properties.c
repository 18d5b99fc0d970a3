/* SPDX-License-Identifier: Apache-2.0
 *
 * Random nested layouts, every result checked at every index against plain evaluation. Three kinds of strides are
 * drawn, so that all branches of the algebra are met: compact in a random order, compact with gaps, and anything.
 */
#include "layout/layouts.h"

#include <stdlib.h>
#include <string.h>

enum { N_LAYOUTS = 40000, LARGEST = 720 };

static uint64_t random_state;

static int64_t draw(int64_t below) { return test_below(&random_state, below); }

/* A nesting of n integers, all zero, in `room` items or fewer per level. */
static dt__tuple draw_form(bench *b, int n, int depth) {
    dt__tuple items[8];
    int n_items = 0;
    if (n == 1 && (depth > 2 || draw(3)))
        return dt__tuple_int(0);
    while (n > 0) {
        int part = depth > 2 ? 1 : 1 + (int)draw(n);
        items[n_items++] = depth > 2 ? dt__tuple_int(0) : draw_form(b, part, depth + 1);
        n -= part;
    }
    dt__tuple out;
    assert_int_equal(dt__tuple_list(&b->arena, items, n_items, &out), DT_OK);
    return out;
}

static void draw_strides(dt__mode *modes, int n) {
    int kind = (int)draw(3), order[8];
    int64_t step = 1;
    for (int i = 0; i < n; i++) {
        int at = (int)draw(i + 1);
        order[i] = order[at];
        order[at] = i;
    }
    for (int i = 0; i < n; i++) {
        dt__mode *mode = &modes[order[i]];
        if (kind == 1 && !draw(3))
            step *= 1 + draw(3);
        mode->stride = kind == 2 ? draw(13) * (draw(4) ? 1 : 4) : step;
        step *= mode->size;
    }
}

static dt__layout draw_layout(bench *b, int64_t largest) {
    dt__mode modes[8];
    int64_t sizes[8], strides[8], size = 1;
    int n = 1 + (int)draw(6);
    for (int i = 0; i < n; i++) {
        modes[i].size = 1 + draw(7);
        if (size * modes[i].size > largest)
            modes[i].size = 1;
        size *= modes[i].size;
    }
    draw_strides(modes, n);
    for (int i = 0; i < n; i++) {
        sizes[i] = modes[i].size;
        strides[i] = modes[i].stride;
    }
    dt__tuple form = draw_form(b, n, 0), shape, stride;
    dt__layout layout;
    assert_int_equal(dt__tuple_like(&b->arena, &form, sizes, &shape), DT_OK);
    assert_int_equal(dt__tuple_like(&b->arena, &form, strides, &stride), DT_OK);
    assert_int_equal(dt__layout_new(&b->arena, &shape, &stride, &layout), DT_OK);
    return layout;
}

static const char *text_of(bench *b, const dt__layout *layout) {
    dt__text text = dt__text_new(b->ctx);
    dt__layout_print(&text, layout);
    const char *copy = dt__arena_copy_text(&b->arena, dt__text_chars(&text));
    dt__text_free(&text);
    return copy;
}

static void same_function(const dt__layout *a, const dt__layout *b, const char *label) {
    assert_i64(dt__layout_size(a), dt__layout_size(b), label);
    for (int64_t i = 0; i < dt__layout_size(b); i++)
        assert_i64(dt__layout_at(a, i), value_beyond(b, i), label);
}

/* Sorted values, for questions about which values are reached. */
static int by_value(const void *a, const void *b) {
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

static bool all_differ(int64_t *values, int64_t n) {
    qsort(values, (size_t)n, sizeof *values, by_value);
    for (int64_t i = 1; i < n; i++)
        if (values[i] == values[i - 1])
            return false;
    return true;
}

static bool is_injective(const dt__layout *layout) {
    int64_t values[LARGEST];
    for (int64_t i = 0; i < dt__layout_size(layout); i++)
        values[i] = value_beyond(layout, i);
    return all_differ(values, dt__layout_size(layout));
}

static void check_size_and_text(bench *b, const dt__layout *layout, const char *label) {
    int64_t size = 1, largest = 0;
    dt__mode modes[8];
    dt__layout_modes(layout, modes);
    for (int64_t i = 0; i < dt__tuple_count(&layout->shape); i++)
        size *= modes[i].size;
    for (int64_t i = 0; i < size; i++)
        largest = value_beyond(layout, i) > largest ? value_beyond(layout, i) : largest;
    assert_i64(dt__layout_size(layout), size, label);
    assert_i64(dt__layout_cosize(layout), largest + 1, label);
    same_function(layout, layout, label);
    dt__layout back = layout_of(b, label);
    assert_true(dt__layout_equal(&back, layout));
}

/* Every index as a coordinate of the full nesting, made by counting like an odometer. */
static void check_coordinates(bench *b, const dt__layout *layout, const char *label) {
    dt__mode modes[8];
    int64_t n = dt__tuple_count(&layout->shape), digits[8] = {0};
    dt__layout_modes(layout, modes);
    for (int64_t i = 0; i < dt__layout_size(layout); i++) {
        dt__tuple coord, integer = dt__tuple_int(i);
        int64_t value = -1, again = -2;
        assert_int_equal(dt__tuple_like(&b->arena, &layout->shape, digits, &coord), DT_OK);
        assert_int_equal(dt__layout_crd2idx(&b->arena, layout, &coord, &value), DT_OK);
        assert_int_equal(dt__layout_crd2idx(&b->arena, layout, &integer, &again), DT_OK);
        assert_i64(value, value_beyond(layout, i), label);
        assert_i64(again, value, label);
        for (int64_t d = n - 1; d >= 0 && ++digits[d] == modes[d].size; d--)
            digits[d] = 0;
    }
}

static void check_coalesce(bench *b, const dt__layout *layout, const char *label) {
    dt__layout got, again, flat;
    assert_int_equal(dt__layout_coalesce(&b->arena, layout, &got), DT_OK);
    same_function(&got, layout, label);
    assert_int_equal(dt__layout_coalesce(&b->arena, &got, &again), DT_OK);
    assert_true(dt__layout_equal(&got, &again));
    assert_int_equal(dt__layout_flatten(&b->arena, layout, &flat), DT_OK);
    same_function(&flat, layout, label);
    assert_true(flat.shape.depth <= 1);
    assert_true(got.shape.depth <= 1);
    dt__mode modes[8];
    dt__layout_modes(&got, modes);
    for (int64_t i = 0; i < got.shape.n_items; i++) {
        assert_true(modes[i].size > 1);
        assert_true(i == 0 || modes[i - 1].stride != modes[i].size * modes[i].stride);
    }
}

/* Layout and complement, side by side, reach no value twice. */
static void check_complement(bench *b, const dt__layout *layout, const char *label, int *n_done) {
    dt__layout rest;
    int64_t size = 1 + draw(2 * dt__layout_cosize(layout));
    if (dt__layout_complement(&b->arena, layout, size, &rest) != DT_OK) {
        dt_error_clear(b->ctx);
        return;
    }
    int64_t n_rest = dt__layout_size(&rest), n_layout = dt__layout_size(layout), n = 0;
    if (n_rest * n_layout > 20000)
        return;
    dt__mode modes[8];
    dt__layout_modes(layout, modes);
    for (int64_t i = 0; i < dt__tuple_count(&layout->shape); i++)
        if (modes[i].stride == 0 && modes[i].size > 1)
            return; /* the layout by itself repeats its values */
    int64_t *values = malloc((size_t)(n_rest * n_layout) * sizeof *values);
    for (int64_t i = 0; i < n_rest; i++)
        for (int64_t k = 0; k < n_layout; k++)
            values[n++] = value_beyond(&rest, i) + value_beyond(layout, k);
    if (!all_differ(values, n))
        fail_msg("complement of %s up to %lld repeats a value", label, (long long)size);
    dt__layout inverse;
    if (dt__layout_left_inverse(&b->arena, layout, &inverse) == DT_OK) /* divisible: no gap is left */
        for (int64_t i = 0; i < n && i < size; i++)
            assert_i64(values[i], i, label);
    dt_error_clear(b->ctx);
    free(values);
    ++*n_done;
}

/* Where each mode of the right operand composes by itself and all together do not, the sum of the parts is indeed not
 * the function. */
static void check_refusal(bench *b, const dt__layout *left, const dt__layout *right, const char *label) {
    dt__mode modes[8];
    dt__layout parts[8], slim;
    int64_t n = dt__tuple_count(&right->shape);
    dt__layout_modes(right, modes);
    assert_int_equal(dt__layout_coalesce(&b->arena, left, &slim), DT_OK);
    for (int64_t i = 0; i < n; i++) {
        dt__layout mode;
        assert_int_equal(dt__layout_of_modes(&b->arena, &modes[i], 1, false, &mode), DT_OK);
        if (dt__layout_composition(&b->arena, left, &mode, &parts[i]) != DT_OK)
            return;
    }
    for (int64_t i = 0; i < dt__layout_size(right); i++) {
        int64_t sum = 0, rest = i;
        for (int64_t d = n - 1; d >= 0; d--) {
            sum += value_beyond(&parts[d], rest % modes[d].size);
            rest /= modes[d].size;
        }
        if (sum != value_beyond(&slim, value_beyond(right, i)))
            return;
    }
    fail_msg("composition of %s was refused without need", label);
}

static void check_composition(bench *b, const dt__layout *left, const char *label, int *n_done) {
    dt__layout right = draw_layout(b, 100), got;
    if (dt__layout_composition(&b->arena, left, &right, &got) != DT_OK) {
        dt_error_clear(b->ctx);
        check_refusal(b, left, &right, label);
        dt_error_clear(b->ctx);
        return;
    }
    dt__layout slim; /* beyond the left operand's size its coalesced form continues */
    assert_int_equal(dt__layout_coalesce(&b->arena, left, &slim), DT_OK);
    assert_i64(dt__layout_size(&got), dt__layout_size(&right), label);
    for (int64_t i = 0; i < dt__layout_size(&right); i++) {
        int64_t at = value_beyond(&right, i);
        assert_i64(value_beyond(&got, i), value_beyond(at < dt__layout_size(left) ? left : &slim, at), label);
    }
    ++*n_done;
}

/* Whether in order of stride each stride is a multiple of all smaller ones: by comparing all pairs. */
static bool is_divisible(const dt__layout *layout) {
    dt__mode modes[8];
    int64_t n = dt__tuple_count(&layout->shape);
    dt__layout_modes(layout, modes);
    for (int64_t i = 0; i < n; i++) {
        int64_t below = 1;
        for (int64_t k = 0; k < n; k++) {
            int64_t reach = modes[k].size * modes[k].stride;
            bool lower = modes[k].stride < modes[i].stride || (modes[k].stride == modes[i].stride && k < i);
            if (modes[k].size > 1 && lower && reach > below)
                below = reach;
        }
        if (modes[i].size > 1 && (modes[i].stride == 0 || modes[i].stride % below != 0))
            return false;
    }
    return true;
}

static void check_inverses(bench *b, const dt__layout *layout, const char *label, int *n_done) {
    dt__layout right, left;
    assert_int_equal(dt__layout_right_inverse(&b->arena, layout, &right), DT_OK);
    for (int64_t i = 0; i < dt__layout_size(&right); i++)
        assert_i64(value_beyond(layout, value_beyond(&right, i)), i, label);
    bool exists = dt__layout_left_inverse(&b->arena, layout, &left) == DT_OK;
    dt_error_clear(b->ctx);
    if (exists != is_divisible(layout))
        fail_msg("left inverse of %s: %s", label, exists ? "given" : "refused");
    if (!exists)
        return;
    for (int64_t i = 0; i < dt__layout_size(layout); i++)
        assert_i64(value_beyond(&left, value_beyond(layout, i)), i, label);
    ++*n_done;
}

static void check_injective(bench *b, const dt__layout *layout, const char *label, int *n_not) {
    bool got = false, expected = is_injective(layout);
    assert_int_equal(dt__layout_is_injective(&b->arena, layout, &got), DT_OK);
    if (got != expected)
        fail_msg("%s: got injective %d, expected %d", label, got, expected);
    dt__mode modes[8];
    dt__layout_modes(layout, modes);
    if (dt__modes_orthogonal(modes, dt__tuple_count(&layout->shape)))
        assert_true(expected);
    *n_not += !expected;
}

static void check_splice(bench *b, const dt__layout *layout, const char *label) {
    int64_t n = layout->shape.depth ? layout->shape.n_items : 1, from = draw(n + 1), to = from + draw(n - from + 1);
    dt__layout by = draw_layout(b, 30), got, back;
    if (dt__layout_splice(&b->arena, layout, from, to, &by, &got) != DT_OK)
        fail_msg("splice of %s: %s", label, dt_error_text(b->ctx));
    int64_t n_by = by.shape.depth ? by.shape.n_items : 1;
    assert_i64(got.shape.n_items, n - (to - from) + n_by, label);
    dt__layout middle = {{.n_items = to - from, .depth = 60}, {.n_items = to - from, .depth = 60}};
    middle.shape.items = layout->shape.depth ? layout->shape.items + from : &layout->shape;
    middle.stride.items = layout->stride.depth ? layout->stride.items + from : &layout->stride;
    assert_int_equal(dt__layout_splice(&b->arena, &got, from, from + n_by, &middle, &back), DT_OK);
    same_function(&back, layout, label);
}

static void layouts__behave_as_functions(void **state) {
    (void)state;
    random_state = test_seed(1);
    int n_complements = 0, n_compositions = 0, n_inverses = 0, n_not_injective = 0;
    bench b;
    bench_begin(&b);
    for (int i = 0; i < N_LAYOUTS; i++) {
        dt__arena_mark mark = dt__arena_begin(&b.arena);
        dt__layout layout = draw_layout(&b, i % 10 ? 120 : LARGEST);
        const char *label = text_of(&b, &layout);
        check_size_and_text(&b, &layout, label);
        check_coordinates(&b, &layout, label);
        check_coalesce(&b, &layout, label);
        check_complement(&b, &layout, label, &n_complements);
        check_composition(&b, &layout, label, &n_compositions);
        check_inverses(&b, &layout, label, &n_inverses);
        check_injective(&b, &layout, label, &n_not_injective);
        check_splice(&b, &layout, label);
        dt__arena_rewind(&b.arena, mark);
    }
    bench_end(&b);
    /* The draw reaches both outcomes of every decision often. */
    assert_in_range(n_complements, N_LAYOUTS / 5, N_LAYOUTS);
    assert_in_range(n_compositions, N_LAYOUTS / 10, N_LAYOUTS * 9 / 10);
    assert_in_range(n_inverses, N_LAYOUTS / 5, N_LAYOUTS * 9 / 10);
    assert_in_range(n_not_injective, N_LAYOUTS / 20, N_LAYOUTS / 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layouts__behave_as_functions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
