/* SPDX-License-Identifier: Apache-2.0
 *
 * Nested integer tuples. Functions recurse over the nesting, whose depth the makers bound.
 */
#include "layout/tuple.h"

#include "base/size.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>

dt_tuple dt_tuple_list(const dt_tuple *items, int64_t n) {
    int deepest = 0;
    for (int64_t i = 0; i < n; i++)
        deepest = items[i].depth > deepest ? items[i].depth : deepest;
    return (dt_tuple){.items = items, .n_items = n, .depth = deepest + 1};
}

dt_status dt__tuple_list(dt__arena *arena, const dt_tuple *items, int64_t n, dt_tuple *out) {
    dt_tuple list = dt_tuple_list(items, n);
    if (list.depth > DT_TUPLE_MAX_DEPTH)
        return dt__fail(arena->ctx, DT_ERR_VALUE, "a tuple may nest %d levels deep, not more", DT_TUPLE_MAX_DEPTH);
    list.items = dt__arena_copy(arena, items, (size_t)n, sizeof *items);
    if (!list.items)
        return DT_ERR_MEMORY;
    *out = list;
    return DT_OK;
}

dt_status dt__tuple_ints(dt__arena *arena, const int64_t *values, int64_t n, dt_tuple *out) {
    dt_tuple *items = DT__NEW_ARRAY(arena, dt_tuple, n);
    if (!items)
        return DT_ERR_MEMORY;
    for (int64_t i = 0; i < n; i++)
        items[i] = dt_tuple_int(values[i]);
    *out = (dt_tuple){.items = items, .n_items = n, .depth = 1};
    return DT_OK;
}

/* One walk serves equality and congruence. */
static bool same(const dt_tuple *a, const dt_tuple *b, bool values_too) {
    if (dt_tuple_is_int(a) || dt_tuple_is_int(b))
        return a->depth == b->depth && (!values_too || a->value == b->value);
    if (a->n_items != b->n_items)
        return false;
    for (int64_t i = 0; i < a->n_items; i++)
        if (!same(&a->items[i], &b->items[i], values_too))
            return false;
    return true;
}

bool dt_tuple_equal(const dt_tuple *a, const dt_tuple *b) { return same(a, b, true); }
bool dt_tuple_congruent(const dt_tuple *a, const dt_tuple *b) { return same(a, b, false); }

int64_t dt_tuple_count(const dt_tuple *tuple) {
    if (dt_tuple_is_int(tuple))
        return 1;
    int64_t n = 0;
    for (int64_t i = 0; i < tuple->n_items; i++)
        n += dt_tuple_count(&tuple->items[i]);
    return n;
}

static int64_t *flatten(const dt_tuple *tuple, int64_t *out) {
    if (dt_tuple_is_int(tuple))
        *out++ = tuple->value;
    for (int64_t i = 0; i < tuple->n_items; i++)
        out = flatten(&tuple->items[i], out);
    return out;
}

void dt_tuple_values(const dt_tuple *tuple, int64_t *out) { flatten(tuple, out); }

dt_status dt__tuple_flatten(dt__arena *arena, const dt_tuple *tuple, dt_tuple *out) {
    int64_t n = dt_tuple_count(tuple);
    int64_t *values = DT__NEW_ARRAY(arena, int64_t, n);
    if (!values)
        return DT_ERR_MEMORY;
    flatten(tuple, values);
    return dt__tuple_ints(arena, values, n, out);
}

static dt_status like(dt__arena *arena, const dt_tuple *form, const int64_t **values, dt_tuple *out) {
    if (dt_tuple_is_int(form)) {
        *out = dt_tuple_int(*(*values)++);
        return DT_OK;
    }
    dt_tuple *items = DT__NEW_ARRAY(arena, dt_tuple, form->n_items);
    if (!items)
        return DT_ERR_MEMORY;
    for (int64_t i = 0; i < form->n_items; i++)
        DT__TRY(like(arena, &form->items[i], values, &items[i]));
    *out = (dt_tuple){.items = items, .n_items = form->n_items, .depth = form->depth};
    return DT_OK;
}

dt_status dt__tuple_like(dt__arena *arena, const dt_tuple *form, const int64_t *values, dt_tuple *out) {
    return like(arena, form, &values, out);
}

dt_status dt__tuple_copy(dt__arena *arena, const dt_tuple *tuple, dt_tuple *out) {
    if (dt_tuple_is_int(tuple)) {
        *out = *tuple;
        return DT_OK;
    }
    dt_tuple *items = DT__NEW_ARRAY(arena, dt_tuple, tuple->n_items);
    if (!items)
        return DT_ERR_MEMORY;
    for (int64_t i = 0; i < tuple->n_items; i++)
        DT__TRY(dt__tuple_copy(arena, &tuple->items[i], &items[i]));
    *out = (dt_tuple){.items = items, .n_items = tuple->n_items, .depth = tuple->depth};
    return DT_OK;
}

static bool product(const dt_tuple *tuple, int64_t *out) {
    if (dt_tuple_is_int(tuple))
        return dt__mul_i64(*out, tuple->value, out);
    for (int64_t i = 0; i < tuple->n_items; i++)
        if (!product(&tuple->items[i], out))
            return false;
    return true;
}

dt_status dt__tuple_product(dt_ctx *ctx, const dt_tuple *tuple, int64_t *out) {
    int64_t result = 1;
    if (!product(tuple, &result))
        return dt__fail(ctx, DT_ERR_VALUE, "the product of a tuple's integers does not fit in 63 bits");
    *out = result;
    return DT_OK;
}

static bool inner_product(const dt_tuple *a, const dt_tuple *b, int64_t *out) {
    if (dt_tuple_is_int(a)) {
        int64_t term;
        return dt__mul_i64(a->value, b->value, &term) && dt__add_i64(*out, term, out);
    }
    for (int64_t i = 0; i < a->n_items; i++)
        if (!inner_product(&a->items[i], &b->items[i], out))
            return false;
    return true;
}

dt_status dt__tuple_inner_product(dt_ctx *ctx, const dt_tuple *a, const dt_tuple *b, int64_t *out) {
    if (!dt_tuple_congruent(a, b))
        return dt__fail(ctx, DT_ERR_SHAPE, "inner product: expected tuples of the same nesting, got two that differ");
    int64_t result = 0;
    if (!inner_product(a, b, &result))
        return dt__fail(ctx, DT_ERR_VALUE, "the inner product of two tuples does not fit in 63 bits");
    *out = result;
    return DT_OK;
}

/* A function on the integers of a tuple from left to right, for results of the same nesting. */
typedef dt_status per_integer(dt_ctx *ctx, int64_t *values, int64_t n, int64_t argument);

static dt_status map_integers(dt__arena *arena, const dt_tuple *tuple, per_integer *change, int64_t argument,
                              dt_tuple *out) {
    int64_t n = dt_tuple_count(tuple);
    int64_t *values = DT__NEW_ARRAY(arena, int64_t, n);
    if (!values)
        return DT_ERR_MEMORY;
    flatten(tuple, values);
    DT__TRY(change(arena->ctx, values, n, argument));
    return dt__tuple_like(arena, tuple, values, out);
}

static dt_status suffix_product(dt_ctx *ctx, int64_t *values, int64_t n, int64_t argument) {
    (void)argument;
    int64_t product_so_far = 1;
    for (int64_t i = n - 1; i >= 0; i--) {
        int64_t value = values[i];
        values[i] = product_so_far;
        if (i > 0 && !dt__mul_i64(product_so_far, value, &product_so_far))
            return dt__fail(ctx, DT_ERR_VALUE, "the row-major strides of a shape do not fit in 63 bits");
    }
    return DT_OK;
}

dt_status dt__tuple_suffix_product(dt__arena *arena, const dt_tuple *shape, dt_tuple *out) {
    return map_integers(arena, shape, suffix_product, 0, out);
}

/* A divisor that is a multiple of a size consumes the mode; the quotient continues with the next. */
static dt_status shape_div(dt_ctx *ctx, int64_t *values, int64_t n, int64_t divisor) {
    if (divisor < 1)
        return dt__fail(ctx, DT_ERR_VALUE, "shape division: wrong divisor: expected at least 1, got %lld",
                        (long long)divisor);
    for (int64_t i = 0; i < n; i++) {
        int64_t size = values[i];
        if (size < 1 || (size % divisor != 0 && divisor % size != 0))
            return dt__fail(ctx, DT_ERR_VALUE,
                            "shape division: expected sizes that divide each other, got %lld and %lld",
                            (long long)size, (long long)divisor);
        values[i] = dt__ceil_div(size, divisor);
        divisor = dt__ceil_div(divisor, size);
    }
    return DT_OK;
}

dt_status dt__tuple_shape_div(dt__arena *arena, const dt_tuple *shape, int64_t divisor, dt_tuple *out) {
    return map_integers(arena, shape, shape_div, divisor, out);
}

/* The characters that fit, and the number of all. */
typedef struct fixed_text {
    char *chars;
    size_t capacity, n;
} fixed_text;

static void put(fixed_text *text, const char *chars) {
    for (; *chars; chars++, text->n++)
        if (text->n + 1 < text->capacity)
            text->chars[text->n] = *chars;
}

static void put_tuple(fixed_text *text, const dt_tuple *tuple) {
    char number[24];
    snprintf(number, sizeof number, "%" PRId64, tuple->value);
    put(text, dt_tuple_is_int(tuple) ? number : "(");
    for (int64_t i = 0; i < tuple->n_items; i++) {
        put(text, i ? "," : "");
        put_tuple(text, &tuple->items[i]);
    }
    put(text, dt_tuple_is_int(tuple) ? "" : ")");
}

size_t dt_tuple_text(const dt_tuple *tuple, size_t capacity, char *out) {
    fixed_text text = {out, capacity, 0};
    put_tuple(&text, tuple);
    if (capacity > 0)
        out[text.n < capacity ? text.n : capacity - 1] = 0;
    return text.n;
}

void dt__tuple_print(dt__text *text, const dt_tuple *tuple) {
    if (dt_tuple_is_int(tuple)) {
        dt__text_add(text, "%lld", (long long)tuple->value);
        return;
    }
    dt__text_add(text, "(");
    for (int64_t i = 0; i < tuple->n_items; i++) {
        dt__text_add(text, i ? "," : "");
        dt__tuple_print(text, &tuple->items[i]);
    }
    dt__text_add(text, ")");
}

static dt_status parse_integer(dt__cursor *cursor, dt_tuple *out) {
    int64_t value;
    if (*cursor->at != '-' && !isdigit((unsigned char)*cursor->at))
        return dt__cursor_fail(cursor, "expected a number or '('");
    DT__TRY(dt__cursor_number(cursor, INT64_MIN, INT64_MAX, "a number", &value));
    *out = dt_tuple_int(value);
    return DT_OK;
}

struct parsed {
    dt_tuple tuple;
    struct parsed *before;
};

static dt_status parse(dt__arena *arena, dt__cursor *cursor, int level, dt_tuple *out);

/* What follows the bracket. */
static dt_status parse_list(dt__arena *arena, dt__cursor *cursor, int level, dt_tuple *out) {
    struct parsed *last = NULL;
    int64_t n = 0;
    bool ended = dt__cursor_skip(cursor, ")");
    while (!ended) {
        struct parsed *item = DT__NEW(arena, struct parsed);
        if (!item)
            return DT_ERR_MEMORY;
        DT__TRY(parse(arena, cursor, level + 1, &item->tuple));
        item->before = last;
        last = item;
        n++;
        ended = dt__cursor_skip(cursor, ")");
        if (!ended && !dt__cursor_skip(cursor, ","))
            return dt__cursor_fail(cursor, "expected ',' or ')'");
    }
    dt_tuple *items = DT__NEW_ARRAY(arena, dt_tuple, n);
    if (!items)
        return DT_ERR_MEMORY;
    for (int64_t i = n; last; last = last->before)
        items[--i] = last->tuple;
    return dt__tuple_list(arena, items, n, out);
}

static dt_status parse(dt__arena *arena, dt__cursor *cursor, int level, dt_tuple *out) {
    if (*cursor->at != '(')
        return parse_integer(cursor, out);
    if (level == DT_TUPLE_MAX_DEPTH)
        return dt__cursor_fail(cursor, "a tuple may nest %d levels deep, not more", DT_TUPLE_MAX_DEPTH);
    cursor->at++;
    return parse_list(arena, cursor, level, out);
}

dt_status dt__tuple_parse(dt__arena *arena, dt__cursor *cursor, dt_tuple *out) {
    dt__cursor ahead = *cursor;
    ahead.status = DT_ERR_VALUE;
    DT__TRY(parse(arena, &ahead, 0, out));
    cursor->at = ahead.at;
    return DT_OK;
}
