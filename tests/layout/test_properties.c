/* SPDX-License-Identifier: Apache-2.0
 *
 * Random nested layouts, with every result compared at every index with plain evaluation. Three kinds of strides are
 * drawn, so that all branches of the algebra are reached: compact in a random order, compact with gaps, and any.
 */
#include "layout/layouts.h"

#include <stdlib.h>
#include <string.h>

enum { N_LAYOUTS = 40000, MAX_SIZE = 720 };

static uint64_t random_state;

static int64_t draw(int64_t below) { return test_below(&random_state, below); }

/* A random nesting of n integers, all 0. */
static dt_tuple draw_nesting(fixture *b, int n, int depth) {
    dt_tuple items[8];
    int n_items = 0;
    if (n == 1 && (depth > 2 || draw(3)))
        return dt_tuple_int(0);
    while (n > 0) {
        int part = depth > 2 ? 1 : 1 + (int)draw(n);
        items[n_items++] = depth > 2 ? dt_tuple_int(0) : draw_nesting(b, part, depth + 1);
        n -= part;
    }
    dt_tuple out;
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

static dt__layout draw_layout(fixture *b, int64_t largest) {
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
    dt_tuple nesting = draw_nesting(b, n, 0), shape, stride;
    dt__layout layout;
    assert_int_equal(dt__tuple_like(&b->arena, &nesting, sizes, &shape), DT_OK);
    assert_int_equal(dt__tuple_like(&b->arena, &nesting, strides, &stride), DT_OK);
    assert_int_equal(dt__layout_new(&b->arena, &shape, &stride, &layout), DT_OK);
    return layout;
}

static const char *text_of(fixture *b, const dt__layout *layout) {
    dt__text text = dt__text_new(b->ctx);
    dt__layout_print(&text, layout);
    const char *copy = dt__arena_copy_text(&b->arena, dt__text_chars(&text));
    dt__text_free(&text);
    return copy;
}

static void assert_same_function(const dt__layout *a, const dt__layout *b, const char *label) {
    assert_i64(dt__layout_size(a), dt__layout_size(b), label);
    for (int64_t i = 0; i < dt__layout_size(b); i++)
        assert_i64(dt__layout_at(a, i), evaluate(b, i), label);
}

static int compare_values(const void *a, const void *b) {
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

static bool all_differ(int64_t *values, int64_t n) {
    qsort(values, (size_t)n, sizeof *values, compare_values);
    for (int64_t i = 1; i < n; i++)
        if (values[i] == values[i - 1])
            return false;
    return true;
}

static bool is_injective(const dt__layout *layout) {
    int64_t values[MAX_SIZE];
    for (int64_t i = 0; i < dt__layout_size(layout); i++)
        values[i] = evaluate(layout, i);
    return all_differ(values, dt__layout_size(layout));
}

static void check_size_and_text(fixture *b, const dt__layout *layout, const char *label) {
    int64_t size = 1, largest = 0;
    dt__mode modes[8];
    dt__layout_modes(layout, modes);
    for (int64_t i = 0; i < dt_tuple_count(&layout->shape); i++)
        size *= modes[i].size;
    for (int64_t i = 0; i < size; i++)
        largest = evaluate(layout, i) > largest ? evaluate(layout, i) : largest;
    assert_i64(dt__layout_size(layout), size, label);
    assert_i64(dt__layout_cosize(layout), largest + 1, label);
    assert_same_function(layout, layout, label);
    dt__layout back = layout_of(b, label);
    assert_true(dt__layout_equal(&back, layout));
}

/* Every index as a coordinate of the full nesting, counted up digit by digit. */
static void check_coordinates(fixture *b, const dt__layout *layout, const char *label) {
    dt__mode modes[8];
    int64_t n = dt_tuple_count(&layout->shape), digits[8] = {0};
    dt__layout_modes(layout, modes);
    for (int64_t i = 0; i < dt__layout_size(layout); i++) {
        dt_tuple coord, integer = dt_tuple_int(i);
        int64_t value = -1, again = -2;
        assert_int_equal(dt__tuple_like(&b->arena, &layout->shape, digits, &coord), DT_OK);
        assert_int_equal(dt__layout_crd2idx(&b->arena, layout, &coord, &value), DT_OK);
        assert_int_equal(dt__layout_crd2idx(&b->arena, layout, &integer, &again), DT_OK);
        assert_i64(value, evaluate(layout, i), label);
        assert_i64(again, value, label);
        for (int64_t d = n - 1; d >= 0 && ++digits[d] == modes[d].size; d--)
            digits[d] = 0;
    }
}

static void check_coalesce(fixture *b, const dt__layout *layout, const char *label) {
    dt__layout got, again, flat;
    assert_int_equal(dt__layout_coalesce(&b->arena, layout, &got), DT_OK);
    assert_same_function(&got, layout, label);
    assert_int_equal(dt__layout_coalesce(&b->arena, &got, &again), DT_OK);
    assert_true(dt__layout_equal(&got, &again));
    assert_int_equal(dt__layout_flatten(&b->arena, layout, &flat), DT_OK);
    assert_same_function(&flat, layout, label);
    assert_true(flat.shape.depth <= 1);
    assert_true(got.shape.depth <= 1);
    dt__mode modes[8];
    dt__layout_modes(&got, modes);
    for (int64_t i = 0; i < got.shape.n_items; i++) {
        assert_true(modes[i].size > 1);
        assert_true(i == 0 || modes[i - 1].stride != modes[i].size * modes[i].stride);
    }
}

/* Whether a mode extends beyond the stride of a larger one. */
static bool has_overlap(const dt__layout *layout) {
    dt__mode modes[8];
    int64_t n = dt_tuple_count(&layout->shape);
    dt__layout_modes(layout, modes);
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < n; k++) {
            bool is_lower = modes[k].stride < modes[i].stride || (modes[k].stride == modes[i].stride && k < i);
            bool counts = modes[i].size > 1 && modes[k].size > 1 && modes[k].stride > 0;
            if (counts && is_lower && modes[k].size * modes[k].stride > modes[i].stride)
                return true;
        }
    return false;
}

/* A complement exists unless modes overlap, and the sums of its values and the layout's differ. */
static void check_complement(fixture *b, const dt__layout *layout, const char *label, int *n_checked) {
    dt__layout rest;
    int64_t size = 1 + draw(2 * dt__layout_cosize(layout));
    bool exists = dt__layout_complement(&b->arena, layout, size, &rest) == DT_OK;
    dt_error_clear(b->ctx);
    if (exists == has_overlap(layout))
        fail_msg("complement of %s: expected %s", label, exists ? "an error" : "a layout");
    if (!exists)
        return;
    int64_t n_rest = dt__layout_size(&rest), n_layout = dt__layout_size(layout), n = 0;
    if (n_rest * n_layout > 20000)
        return;
    dt__mode modes[8];
    dt__layout_modes(layout, modes);
    for (int64_t i = 0; i < dt_tuple_count(&layout->shape); i++)
        if (modes[i].stride == 0 && modes[i].size > 1)
            return; /* the layout itself repeats its values */
    int64_t *values = malloc((size_t)(n_rest * n_layout) * sizeof *values);
    for (int64_t i = 0; i < n_rest; i++)
        for (int64_t k = 0; k < n_layout; k++)
            values[n++] = evaluate(&rest, i) + evaluate(layout, k);
    if (!all_differ(values, n))
        fail_msg("complement of %s up to %lld repeats a value", label, (long long)size);
    dt__layout inverse;
    if (dt__layout_left_inverse(&b->arena, layout, &inverse) == DT_OK) /* all strides divisible: there are no gaps */
        for (int64_t i = 0; i < n && i < size; i++)
            assert_i64(values[i], i, label);
    dt_error_clear(b->ctx);
    free(values);
    ++*n_checked;
}

/* A composition of layouts is an error, although each mode of the right operand composes, only if the sum of these
 * compositions is not the composed function. */
static void check_refusal(fixture *b, const dt__layout *left, const dt__layout *right, const char *label) {
    dt__mode modes[8];
    dt__layout parts[8], coalesced;
    int64_t n = dt_tuple_count(&right->shape);
    dt__layout_modes(right, modes);
    assert_int_equal(dt__layout_coalesce(&b->arena, left, &coalesced), DT_OK);
    for (int64_t i = 0; i < n; i++) {
        dt__layout mode;
        assert_int_equal(dt__layout_of_modes(&b->arena, &modes[i], 1, false, &mode), DT_OK);
        if (dt__layout_composition(&b->arena, left, &mode, &parts[i]) != DT_OK)
            return;
    }
    for (int64_t i = 0; i < dt__layout_size(right); i++) {
        int64_t sum = 0, rest = i;
        for (int64_t d = n - 1; d >= 0; d--) {
            sum += evaluate(&parts[d], rest % modes[d].size);
            rest /= modes[d].size;
        }
        if (sum != evaluate(&coalesced, evaluate(right, i)))
            return;
    }
    fail_msg("composition of %s: expected a layout, got an error", label);
}

static void check_composition(fixture *b, const dt__layout *left, const char *label, int *n_checked) {
    dt__layout right = draw_layout(b, 100), got;
    if (dt__layout_composition(&b->arena, left, &right, &got) != DT_OK) {
        dt_error_clear(b->ctx);
        check_refusal(b, left, &right, label);
        dt_error_clear(b->ctx);
        return;
    }
    dt__layout coalesced; /* continues beyond the size of the left operand */
    assert_int_equal(dt__layout_coalesce(&b->arena, left, &coalesced), DT_OK);
    assert_i64(dt__layout_size(&got), dt__layout_size(&right), label);
    for (int64_t i = 0; i < dt__layout_size(&right); i++) {
        int64_t at = evaluate(&right, i);
        assert_i64(evaluate(&got, i), evaluate(at < dt__layout_size(left) ? left : &coalesced, at), label);
    }
    ++*n_checked;
}

/* Whether each stride is a multiple of the largest extent of the modes with smaller strides. */
static bool is_divisible(const dt__layout *layout) {
    dt__mode modes[8];
    int64_t n = dt_tuple_count(&layout->shape);
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

static void check_inverses(fixture *b, const dt__layout *layout, const char *label, int *n_checked) {
    dt__layout right, left;
    assert_int_equal(dt__layout_right_inverse(&b->arena, layout, &right), DT_OK);
    for (int64_t i = 0; i < dt__layout_size(&right); i++)
        assert_i64(evaluate(layout, evaluate(&right, i)), i, label);
    bool exists = dt__layout_left_inverse(&b->arena, layout, &left) == DT_OK;
    dt_error_clear(b->ctx);
    if (exists != is_divisible(layout))
        fail_msg("left inverse of %s: expected %s", label, exists ? "an error" : "a layout");
    if (!exists)
        return;
    for (int64_t i = 0; i < dt__layout_size(layout); i++)
        assert_i64(evaluate(&left, evaluate(layout, i)), i, label);
    ++*n_checked;
}

static void check_injective(fixture *b, const dt__layout *layout, const char *label, int *n_not) {
    bool got = false, expected = is_injective(layout);
    assert_int_equal(dt__layout_is_injective(&b->arena, layout, &got), DT_OK);
    if (got != expected)
        fail_msg("%s: expected injective %d, got %d", label, expected, got);
    dt__mode modes[8];
    dt__layout_modes(layout, modes);
    if (dt__modes_orthogonal(modes, dt_tuple_count(&layout->shape)))
        assert_true(expected);
    *n_not += !expected;
}

static void check_splice(fixture *b, const dt__layout *layout, const char *label) {
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
    assert_same_function(&back, layout, label);
}

static void layouts__behave_as_functions(void **state) {
    (void)state;
    random_state = test_seed(1);
    int n_complements = 0, n_compositions = 0, n_inverses = 0, n_not_injective = 0;
    fixture b;
    fixture_begin(&b);
    for (int i = 0; i < N_LAYOUTS; i++) {
        dt__arena_mark mark = dt__arena_begin(&b.arena);
        dt__layout layout = draw_layout(&b, i % 10 ? 120 : MAX_SIZE);
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
    fixture_end(&b);
    /* Both outcomes of every function are frequent. */
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
