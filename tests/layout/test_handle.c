/* SPDX-License-Identifier: Apache-2.0
 *
 * The public interface of layouts, and nothing else of the library: random nested layouts, made from tuples, whose
 * results are compared at every index with the definition; errors, ownership and text forms.
 */
#include "dtensor/comm.h"
#include "dtensor/layout.h"
#include "support/check.h"

#include <stdio.h>
#include <string.h>

enum { N_LAYOUTS = 2000, MAX_MODES = 5, MAX_VALUES = 1 << 16 };

static uint64_t random_state;

static int64_t draw(int64_t below) { return test_below(&random_state, below); }

static dt_ctx *new_ctx(test_memory *memory) {
    return dt_init(&(dt_init_options){.transport = "fake", .world = 1, .allocator = test_memory_allocator(memory)});
}

static void end_ctx(dt_ctx *ctx, const test_memory *memory) {
    if (dt_failed(ctx))
        fail_msg("%s", dt_error_text(ctx));
    assert_int_equal(dt_close(ctx), 0);
    assert_int_equal(memory->n_live, 0);
    assert_false(memory->wrong_size);
}

/* The value at an index by definition; an index beyond the size continues in the first mode. */
static int64_t evaluate(const dt_layout *layout, int64_t index) {
    int64_t sizes[64], strides[64], n = dt_tuple_count(dt_layout_shape(layout)), value = 0;
    assert_true(n <= 64);
    dt_tuple_values(dt_layout_shape(layout), sizes);
    dt_tuple_values(dt_layout_stride(layout), strides);
    for (int64_t i = n - 1; i >= 0; i--) {
        value += (i ? index % sizes[i] : index) * strides[i];
        index = i ? index / sizes[i] : 0;
    }
    return value;
}

static void assert_at(const dt_layout *layout, int64_t index, int64_t expected, const char *what) {
    int64_t got = dt_layout_at(layout, index);
    if (got != expected)
        fail_msg("%s: %s at %lld: expected %lld, got %lld", what, dt_layout_text(layout), (long long)index,
                 (long long)expected, (long long)got);
}

/* Modes in pairs and alone: (a,(b,c),d). */
static dt_layout *nested(dt_ctx *ctx, const int64_t *sizes, const int64_t *strides, int n) {
    dt_tuple shapes[MAX_MODES], steps[MAX_MODES], shape_pairs[MAX_MODES][2], step_pairs[MAX_MODES][2];
    int n_items = 0;
    for (int i = 0; i < n; n_items++) {
        if (i + 1 < n && draw(2)) {
            for (int k = 0; k < 2; k++, i++) {
                shape_pairs[n_items][k] = dt_tuple_int(sizes[i]);
                step_pairs[n_items][k] = dt_tuple_int(strides[i]);
            }
            shapes[n_items] = dt_tuple_list(shape_pairs[n_items], 2);
            steps[n_items] = dt_tuple_list(step_pairs[n_items], 2);
        } else {
            shapes[n_items] = dt_tuple_int(sizes[i]);
            steps[n_items] = dt_tuple_int(strides[i++]);
        }
    }
    dt_tuple shape = dt_tuple_list(shapes, n_items), step = dt_tuple_list(steps, n_items);
    return dt_layout_new(ctx, &shape, &step);
}

/* Strides that are compact in a random order, possibly with gaps, or any. */
static dt_layout *draw_layout(dt_ctx *ctx, int64_t max_size) {
    int64_t sizes[MAX_MODES], strides[MAX_MODES], size = 1, step = 1, kind = draw(3);
    int n = 1 + (int)draw(MAX_MODES), order[MAX_MODES];
    for (int i = 0; i < n; i++) {
        int at = (int)draw(i + 1);
        order[i] = order[at];
        order[at] = i;
        sizes[i] = 1 + draw(5);
        if (size * sizes[i] > max_size)
            sizes[i] = 1;
        size *= sizes[i];
    }
    for (int i = 0; i < n; i++) {
        step *= kind == 1 ? 1 + draw(3) : 1;
        strides[order[i]] = kind == 2 ? draw(9) : step;
        step *= sizes[order[i]];
    }
    return nested(ctx, sizes, strides, n);
}

static void check_values(dt_ctx *ctx, const dt_layout *layout) {
    int64_t size = 1, largest = 0, sizes[64], n = dt_tuple_count(dt_layout_shape(layout));
    dt_tuple_values(dt_layout_shape(layout), sizes);
    for (int64_t i = 0; i < n; i++)
        size *= sizes[i];
    assert_int_equal(dt_layout_size(layout), size);
    for (int64_t i = 0; i < size; i++) {
        int64_t value = evaluate(layout, i);
        assert_at(layout, i, value, "at");
        largest = value > largest ? value : largest;
        dt_tuple index = dt_tuple_int(i);
        assert_int_equal(dt_layout_at_coordinate(layout, &index), value);
    }
    assert_int_equal(dt_layout_cosize(layout), largest + 1);
    assert_at(layout, size, -1, "beyond the end");
    assert_at(layout, -1, -1, "before the beginning");
    dt_layout *again = dt_layout_parse(ctx, dt_layout_text(layout));
    assert_true(dt_layout_equal(again, layout));
    dt_layout_release(again);
}

static bool is_injective(const dt_layout *layout) {
    static char seen[MAX_VALUES];
    memset(seen, 0, sizeof seen);
    for (int64_t i = 0; i < dt_layout_size(layout); i++) {
        int64_t value = evaluate(layout, i);
        assert_in_range(value, 0, MAX_VALUES - 1);
        if (seen[value]++)
            return false;
    }
    return true;
}

/* Other forms of the same function. */
static void check_forms(const dt_layout *layout) {
    dt_layout *fewest = dt_layout_coalesce(layout), *flat = dt_layout_flatten(layout);
    dt_layout *both = dt_layout_coalesce(flat);
    bool injective;
    assert_int_equal(dt_layout_size(fewest), dt_layout_size(layout));
    assert_int_equal(dt_layout_size(flat), dt_layout_size(layout));
    for (int64_t i = 0; i < dt_layout_size(layout); i++) {
        assert_at(fewest, i, evaluate(layout, i), "coalesce");
        assert_at(flat, i, evaluate(layout, i), "flatten");
    }
    assert_true(dt_layout_equal(fewest, both));
    assert_true(dt_tuple_count(dt_layout_shape(fewest)) <= dt_tuple_count(dt_layout_shape(layout)));
    assert_true(dt_layout_shape(flat)->depth <= 1);
    assert_int_equal(dt_layout_is_injective(layout, &injective), DT_OK);
    assert_int_equal(injective, is_injective(layout));
    dt_layout_release(fewest);
    dt_layout_release(flat);
    dt_layout_release(both);
}

static void check_inverses(dt_ctx *ctx, const dt_layout *layout, int *n_checked) {
    dt_layout *right = dt_layout_right_inverse(layout), *left = dt_layout_left_inverse(layout);
    for (int64_t i = 0; i < dt_layout_size(right); i++)
        assert_at(layout, evaluate(right, i), i, "right inverse");
    if (left) {
        for (int64_t i = 0; i < dt_layout_size(layout); i++)
            assert_at(left, evaluate(layout, i), i, "left inverse");
        ++*n_checked;
    } else {
        assert_int_equal(dt_error_status(ctx), DT_ERR_VALUE);
    }
    dt_error_clear(ctx);
    dt_layout_release(right);
    dt_layout_release(left);
}

static void check_composition(dt_ctx *ctx, const dt_layout *outer, int *n_checked) {
    dt_layout *inner = draw_layout(ctx, 24), *got = dt_layout_composition(outer, inner);
    if (got) {
        for (int64_t i = 0; i < dt_layout_size(inner); i++)
            if (evaluate(inner, i) < dt_layout_size(outer))
                assert_at(got, i, evaluate(outer, evaluate(inner, i)), "composition");
        assert_int_equal(dt_layout_size(got), dt_layout_size(inner));
        ++*n_checked;
    } else {
        assert_int_equal(dt_error_status(ctx), DT_ERR_VALUE);
    }
    dt_error_clear(ctx);
    dt_layout_release(inner);
    dt_layout_release(got);
}

/* An injective layout and its complement reach no value twice. */
static void check_complement(dt_ctx *ctx, const dt_layout *layout, int *n_checked) {
    static char seen[8 * MAX_VALUES];
    dt_layout *rest = dt_layout_complement(layout, 1 + draw(2 * dt_layout_cosize(layout)));
    memset(seen, 0, sizeof seen);
    if (rest && is_injective(layout) && dt_layout_size(rest) * dt_layout_size(layout) < MAX_VALUES) {
        for (int64_t i = 0; i < dt_layout_size(rest); i++)
            for (int64_t k = 0; k < dt_layout_size(layout); k++) {
                int64_t value = evaluate(rest, i) + evaluate(layout, k);
                assert_in_range(value, 0, sizeof seen - 1);
                if (seen[value]++)
                    fail_msg("%s and its complement %s reach %lld twice", dt_layout_text(layout),
                             dt_layout_text(rest), (long long)value);
            }
        ++*n_checked;
    }
    dt_error_clear(ctx);
    dt_layout_release(rest);
}

static void algebra__has_its_defining_properties(void **state) {
    (void)state;
    test_memory memory = {0};
    dt_ctx *ctx = new_ctx(&memory);
    int n_inverses = 0, n_compositions = 0, n_complements = 0;
    random_state = test_seed(1);
    for (int i = 0; i < N_LAYOUTS; i++) {
        dt_layout *layout = draw_layout(ctx, 200);
        assert_non_null(layout);
        check_values(ctx, layout);
        check_forms(layout);
        check_inverses(ctx, layout, &n_inverses);
        check_composition(ctx, layout, &n_compositions);
        check_complement(ctx, layout, &n_complements);
        dt_layout_release(layout);
    }
    assert_in_range(n_inverses, N_LAYOUTS / 10, N_LAYOUTS);
    assert_in_range(n_compositions, N_LAYOUTS / 10, N_LAYOUTS);
    assert_in_range(n_complements, N_LAYOUTS / 10, N_LAYOUTS);
    end_ctx(ctx, &memory);
}

static void text__of_results(void **state) {
    (void)state;
    test_memory memory = {0};
    dt_ctx *ctx = new_ctx(&memory);
    dt_layout *a = dt_layout_parse(ctx, "(4,2):(1,4)"), *b = dt_layout_parse(ctx, "(2,4)");
    assert_string_equal(dt_layout_text(b), "(2,4):(4,1)");
    assert_string_equal(dt_layout_text(dt_layout_composition(a, b)), "(2,(2,2)):(2,(1,4))");
    assert_string_equal(dt_layout_text(dt_layout_left_inverse(a)), "(2,4):(1,2)");
    assert_string_equal(dt_layout_text(dt_layout_complement(dt_layout_parse(ctx, "4:2"), 24)), "(3,2):(8,1)");
    assert_string_equal(dt_layout_text(dt_layout_coalesce(dt_layout_parse(ctx, "(2,(1,6)):(6,(6,1))"))), "12:1");
    assert_string_equal(dt_layout_text(dt_layout_flatten(dt_layout_parse(ctx, "(2,(3,4))"))), "(2,3,4):(12,4,1)");
    assert_string_equal(dt_layout_text(dt_layout_from_shape(ctx, (const int64_t[]){2, 3}, NULL, 2)), "(2,3):(3,1)");
    assert_string_equal(
        dt_layout_text(dt_layout_from_shape(ctx, (const int64_t[]){2, 3}, (const int64_t[]){1, 2}, 2)),
        "(2,3):(1,2)");
    assert_string_equal(dt_layout_text(dt_layout_from_shape(ctx, NULL, NULL, 0)), "():()");
    end_ctx(ctx, &memory); /* closing frees all of these */
}

static void tuples__compare_and_print(void **state) {
    (void)state;
    test_memory memory = {0};
    dt_ctx *ctx = new_ctx(&memory);
    const dt_tuple *a = dt_layout_shape(dt_layout_parse(ctx, "(4,(2,2)):(8,(1,4))"));
    const dt_tuple *b = dt_layout_stride(dt_layout_parse(ctx, "(4,(2,2)):(8,(1,4))"));
    const dt_tuple *flat = dt_layout_shape(dt_layout_parse(ctx, "(4,2,2)"));
    char text[32];
    int64_t values[3];
    assert_true(dt_tuple_congruent(a, b));
    assert_false(dt_tuple_equal(a, b));
    assert_true(dt_tuple_equal(a, a));
    assert_false(dt_tuple_congruent(a, flat));
    assert_int_equal(dt_tuple_count(a), 3);
    dt_tuple_values(b, values);
    assert_int_equal(values[0] * 100 + values[1] * 10 + values[2], 814);
    assert_int_equal(dt_tuple_text(a, sizeof text, text), strlen("(4,(2,2))"));
    assert_string_equal(text, "(4,(2,2))");
    assert_int_equal(dt_tuple_text(a, 4, text), strlen("(4,(2,2))"));
    assert_string_equal(text, "(4,");
    assert_int_equal(dt_tuple_text(a, 0, NULL), strlen("(4,(2,2))"));
    dt_tuple one = dt_tuple_int(7), list = dt_tuple_list(&one, 1), none = dt_tuple_list(NULL, 0);
    assert_false(dt_tuple_equal(&one, &list));
    dt_tuple_text(&list, sizeof text, text);
    assert_string_equal(text, "(7)");
    dt_tuple_text(&none, sizeof text, text);
    assert_string_equal(text, "()");
    end_ctx(ctx, &memory);
}

static void coordinates__of_values_and_back(void **state) {
    (void)state;
    test_memory memory = {0};
    dt_ctx *ctx = new_ctx(&memory);
    dt_layout *layout = dt_layout_parse(ctx, "(4,(2,2)):(8,(1,4))");
    int64_t digits[3];
    for (int64_t i = 0; i < dt_layout_size(layout); i++) {
        assert_true(dt_layout_coordinate_of(layout, dt_layout_at(layout, i), digits));
        dt_tuple inner[2] = {dt_tuple_int(digits[1]), dt_tuple_int(digits[2])};
        dt_tuple items[2] = {dt_tuple_int(digits[0]), dt_tuple_list(inner, 2)};
        dt_tuple coordinate = dt_tuple_list(items, 2);
        assert_int_equal(dt_layout_at_coordinate(layout, &coordinate), dt_layout_at(layout, i));
    }
    assert_false(dt_layout_coordinate_of(layout, -1, digits));
    dt_tuple short_one = dt_tuple_list(NULL, 0);
    assert_int_equal(dt_layout_at_coordinate(layout, &short_one), -1);
    assert_error_contains(ctx, DT_ERR_SHAPE, "layout_at_coordinate");
    dt_error_clear(ctx);
    end_ctx(ctx, &memory);
}

static void assert_refused(dt_ctx *ctx, const dt_layout *made, dt_status status, const char *part) {
    assert_null(made);
    assert_error_contains(ctx, status, part);
    dt_error_clear(ctx);
}

static void errors__name_the_call(void **state) {
    (void)state;
    test_memory memory = {0};
    dt_ctx *ctx = new_ctx(&memory);
    dt_layout *overlap = dt_layout_parse(ctx, "(3,2):(2,3)");
    assert_refused(ctx, dt_layout_parse(ctx, "(3,2"), DT_ERR_VALUE, "layout_parse: ");
    assert_refused(ctx, dt_layout_parse(ctx, "(0,2)"), DT_ERR_VALUE, "expected a size of at least 1");
    assert_refused(ctx, dt_layout_parse(ctx, "(3,2):1"), DT_ERR_SHAPE, "do not nest alike");
    assert_refused(ctx, dt_layout_parse(ctx, NULL), DT_ERR_VALUE, "the text is NULL");
    assert_refused(ctx, dt_layout_new(ctx, NULL, NULL), DT_ERR_VALUE, "the shape is NULL");
    assert_refused(ctx, dt_layout_from_shape(ctx, NULL, NULL, 2), DT_ERR_VALUE, "the shape is NULL");
    assert_refused(ctx, dt_layout_from_shape(ctx, NULL, NULL, -1), DT_ERR_VALUE, "at least 0, got -1");
    assert_refused(ctx, dt_layout_complement(overlap, 12), DT_ERR_VALUE, "modes overlap");
    assert_refused(ctx, dt_layout_complement(overlap, 0), DT_ERR_VALUE, "expected at least 1, got 0");
    assert_refused(ctx, dt_layout_left_inverse(overlap), DT_ERR_VALUE, "layout_left_inverse: ");
    assert_refused(ctx, dt_layout_composition(overlap, dt_layout_parse(ctx, "5:1")), DT_ERR_VALUE, "composition of");
    assert_null(dt_layout_composition(overlap, NULL));
    assert_null(dt_layout_composition(NULL, overlap));
    assert_null(dt_layout_coalesce(NULL));
    assert_null(dt_layout_parse(NULL, "3"));
    assert_null(dt_layout_text(NULL));
    assert_int_equal(dt_layout_size(NULL), 0);
    assert_int_equal(dt_layout_at(NULL, 0), -1);
    end_ctx(ctx, &memory);
}

static void errors__nesting_is_bounded(void **state) {
    (void)state;
    test_memory memory = {0};
    dt_ctx *ctx = new_ctx(&memory);
    dt_tuple levels[DT_TUPLE_MAX_DEPTH + 2] = {dt_tuple_int(2)};
    for (int i = 1; i < DT_TUPLE_MAX_DEPTH + 2; i++)
        levels[i] = dt_tuple_list(&levels[i - 1], 1);
    assert_non_null(dt_layout_new(ctx, &levels[DT_TUPLE_MAX_DEPTH], NULL));
    assert_refused(ctx, dt_layout_new(ctx, &levels[DT_TUPLE_MAX_DEPTH + 1], NULL), DT_ERR_VALUE,
                   "expected at most 64 levels, got 65");
    end_ctx(ctx, &memory);
}

static void errors__layouts_of_two_contexts(void **state) {
    (void)state;
    test_memory memory = {0}, other_memory = {0};
    dt_ctx *ctx = new_ctx(&memory), *other = new_ctx(&other_memory);
    assert_refused(ctx, dt_layout_composition(dt_layout_parse(ctx, "4"), dt_layout_parse(other, "2")), DT_ERR_STATE,
                   "the layout 2:1 belongs to another context than 4:1");
    end_ctx(other, &other_memory);
    end_ctx(ctx, &memory);
}

static void references__keep_a_layout(void **state) {
    (void)state;
    test_memory memory = {0};
    dt_ctx *ctx = new_ctx(&memory);
    dt_layout *layout = dt_layout_parse(ctx, "(2,3)"), *first = dt_layout_parse(ctx, "1");
    assert_ptr_equal(dt_layout_retain(layout), layout);
    dt_layout_release(layout);
    assert_string_equal(dt_layout_text(layout), "(2,3):(3,1)");
    dt_layout_release(layout);
    assert_null(dt_layout_text(layout));
    assert_error_contains(ctx, DT_ERR_STATE, "layout_text: the layout made at ");
    dt_error_clear(ctx);
    dt_layout_release(first);
    dt_layout_release(NULL);
    end_ctx(ctx, &memory);
}

static bool call_all_functions(dt_ctx *ctx, void *user) {
    (void)user;
    dt_layout *a = dt_layout_parse(ctx, "((4,(2,2)),(3,5)):((8,(1,4)),(160,32))");
    dt_layout *made[] = {a,
                         dt_layout_from_shape(ctx, (const int64_t[]){2, 3}, NULL, 2),
                         dt_layout_coalesce(a),
                         dt_layout_flatten(a),
                         dt_layout_complement(a, 1000),
                         dt_layout_right_inverse(a),
                         dt_layout_left_inverse(a),
                         dt_layout_composition(a, a ? dt_layout_parse(ctx, "2") : NULL)};
    bool all = true;
    for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
        all &= made[i] != NULL;
        dt_layout_release(made[i]);
    }
    return all;
}

static void memory__every_allocation_may_fail(void **state) {
    (void)state;
    assert_in_range(assert_survives_failing_allocations(call_all_functions, NULL), 10, 1000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(algebra__has_its_defining_properties),
        cmocka_unit_test(text__of_results),
        cmocka_unit_test(tuples__compare_and_print),
        cmocka_unit_test(coordinates__of_values_and_back),
        cmocka_unit_test(errors__name_the_call),
        cmocka_unit_test(errors__nesting_is_bounded),
        cmocka_unit_test(errors__layouts_of_two_contexts),
        cmocka_unit_test(references__keep_a_layout),
        cmocka_unit_test(memory__every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
