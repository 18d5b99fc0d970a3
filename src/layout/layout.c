/* SPDX-License-Identifier: Apache-2.0
 *
 * Layouts: making, evaluating, reshaping, text. What combines layouts into new functions is in algebra.c.
 */
#include "layout/layout.h"

#include "base/size.h"

/* The promise of layout.h: every index can be evaluated, every mode can be stepped over, without overflow. */
static dt_status check_modes(dt_ctx *ctx, const dt__mode *modes, int64_t n) {
    int64_t ignored;
    for (int64_t i = 0; i < n; i++) {
        if (modes[i].size < 1 || modes[i].stride < 0)
            return dt__fail(
                ctx, DT_ERR_VALUE,
                "layout: wrong mode: expected a size of at least 1 and a stride of at least 0, got %lld:%lld",
                (long long)modes[i].size, (long long)modes[i].stride);
        if (!dt__mul_i64(modes[i].size, modes[i].stride, &ignored))
            return dt__fail(ctx, DT_ERR_VALUE, "layout: mode %lld:%lld reaches beyond 63 bits",
                            (long long)modes[i].size, (long long)modes[i].stride);
    }
    if (!dt__modes_size(modes, n, &ignored) || !dt__modes_cosize(modes, n, &ignored))
        return dt__fail(ctx, DT_ERR_VALUE, "layout: the size or the largest value does not fit in 63 bits");
    return DT_OK;
}

dt_status dt__layout_fail(dt_ctx *ctx, dt_status status, const char *subject, const dt__layout *layout,
                          const char *problem) {
    dt__text text = dt__text_new(ctx);
    dt__layout_print(&text, layout);
    dt_status result = dt__text_status(&text);
    if (result == DT_OK)
        result = dt__fail(ctx, status, "%s %.500s: %s", subject, dt__text_chars(&text), problem);
    dt__text_free(&text);
    return result;
}

dt_status dt__layout_new(dt__arena *arena, const dt_tuple *shape, const dt_tuple *stride, dt__layout *out) {
    dt__layout layout = {.shape = *shape};
    if (stride)
        layout.stride = *stride;
    else
        DT__TRY(dt__tuple_suffix_product(arena, shape, &layout.stride));
    if (!dt_tuple_congruent(&layout.shape, &layout.stride))
        return dt__layout_fail(arena->ctx, DT_ERR_SHAPE, "layout", &layout, "shape and stride do not nest alike");
    int64_t n;
    dt__mode *modes;
    DT__TRY(dt__layout_list_modes(arena, &layout, &modes, &n));
    DT__TRY(check_modes(arena->ctx, modes, n));
    *out = layout;
    return DT_OK;
}

dt_status dt__layout_of_modes(dt__arena *arena, const dt__mode *modes, int64_t n, bool as_list, dt__layout *out) {
    static const dt__mode point = {.size = 1};
    if (n == 0 && !as_list) {
        modes = &point;
        n = 1;
    }
    dt_tuple *shape = DT__NEW_ARRAY(arena, dt_tuple, n), *stride = DT__NEW_ARRAY(arena, dt_tuple, n);
    if (!shape || !stride)
        return DT_ERR_MEMORY;
    for (int64_t i = 0; i < n; i++) {
        shape[i] = dt_tuple_int(modes[i].size);
        stride[i] = dt_tuple_int(modes[i].stride);
    }
    dt__layout layout;
    if (n == 1 && !as_list) {
        layout = (dt__layout){shape[0], stride[0]};
    } else {
        DT__TRY(dt__tuple_list(arena, shape, n, &layout.shape));
        DT__TRY(dt__tuple_list(arena, stride, n, &layout.stride));
    }
    *out = layout;
    return DT_OK;
}

static dt__mode *collect(const dt_tuple *shape, const dt_tuple *stride, dt__mode *out) {
    if (dt_tuple_is_int(shape))
        *out++ = (dt__mode){shape->value, stride->value};
    for (int64_t i = 0; i < shape->n_items; i++)
        out = collect(&shape->items[i], &stride->items[i], out);
    return out;
}

void dt__layout_modes(const dt__layout *layout, dt__mode *out) { collect(&layout->shape, &layout->stride, out); }

dt_status dt__layout_list_modes(dt__arena *arena, const dt__layout *layout, dt__mode **modes, int64_t *n) {
    *n = dt_tuple_count(&layout->shape);
    *modes = DT__NEW_ARRAY(arena, dt__mode, *n);
    if (!*modes)
        return DT_ERR_MEMORY;
    dt__layout_modes(layout, *modes);
    return DT_OK;
}

bool dt__layout_equal(const dt__layout *a, const dt__layout *b) {
    return dt_tuple_equal(&a->shape, &b->shape) && dt_tuple_equal(&a->stride, &b->stride);
}

static int64_t size_of(const dt_tuple *shape) {
    if (dt_tuple_is_int(shape))
        return shape->value;
    int64_t size = 1;
    for (int64_t i = 0; i < shape->n_items; i++)
        size *= size_of(&shape->items[i]);
    return size;
}

static int64_t largest(const dt_tuple *shape, const dt_tuple *stride) {
    if (dt_tuple_is_int(shape))
        return (shape->value - 1) * stride->value;
    int64_t sum = 0;
    for (int64_t i = 0; i < shape->n_items; i++)
        sum += largest(&shape->items[i], &stride->items[i]);
    return sum;
}

/* Takes the fastest modes off *index, from right to left. */
static int64_t value_at(const dt_tuple *shape, const dt_tuple *stride, int64_t *index) {
    int64_t value = 0;
    if (dt_tuple_is_int(shape)) {
        value = *index % shape->value * stride->value;
        *index /= shape->value;
    }
    for (int64_t i = shape->n_items - 1; i >= 0; i--)
        value += value_at(&shape->items[i], &stride->items[i], index);
    return value;
}

int64_t dt__layout_size(const dt__layout *layout) { return size_of(&layout->shape); }
int64_t dt__layout_cosize(const dt__layout *layout) { return largest(&layout->shape, &layout->stride) + 1; }
int64_t dt__layout_at(const dt__layout *layout, int64_t index) {
    return value_at(&layout->shape, &layout->stride, &index);
}

/* Adds coordinate times stride. */
static dt_status add_term(dt_ctx *ctx, int64_t coordinate, int64_t stride, int64_t *sum) {
    int64_t term;
    if (!dt__mul_i64(coordinate, stride, &term) || !dt__add_i64(*sum, term, sum))
        return dt__fail(ctx, DT_ERR_VALUE, "crd2idx: the value does not fit in 63 bits");
    return DT_OK;
}

/* An integer as coordinate of a nested mode: its modes from right to left, the first one takes the rest. */
static dt_status add_integer(dt_ctx *ctx, const dt_tuple *shape, const dt_tuple *stride, bool first, int64_t *rest,
                             int64_t *sum) {
    if (dt_tuple_is_int(shape)) {
        int64_t coordinate = first ? *rest : *rest % shape->value;
        *rest = first ? 0 : *rest / shape->value;
        return add_term(ctx, coordinate, stride->value, sum);
    }
    for (int64_t i = shape->n_items - 1; i >= 0; i--)
        DT__TRY(add_integer(ctx, &shape->items[i], &stride->items[i], first && i == 0, rest, sum));
    return DT_OK;
}

static dt_status add_coordinate(dt_ctx *ctx, const dt_tuple *coord, const dt_tuple *shape, const dt_tuple *stride,
                                int64_t *sum) {
    if (dt_tuple_is_int(coord)) {
        int64_t rest = coord->value;
        if (rest < 0)
            return dt__fail(ctx, DT_ERR_VALUE, "crd2idx: wrong coordinate: expected at least 0, got %lld",
                            (long long)rest);
        return add_integer(ctx, shape, stride, true, &rest, sum);
    }
    if (dt_tuple_is_int(shape) || coord->n_items != shape->n_items)
        return dt__fail(ctx, DT_ERR_SHAPE, "crd2idx: wrong number of coordinates in a mode: expected %lld, got %lld",
                        dt_tuple_is_int(shape) ? 1 : (long long)shape->n_items, (long long)coord->n_items);
    for (int64_t i = 0; i < coord->n_items; i++)
        DT__TRY(add_coordinate(ctx, &coord->items[i], &shape->items[i], &stride->items[i], sum));
    return DT_OK;
}

dt_status dt__layout_crd2idx(dt__arena *arena, const dt__layout *layout, const dt_tuple *coord, int64_t *out) {
    static const dt_tuple zero;
    int64_t sum = 0;
    DT__TRY(add_coordinate(arena->ctx, coord ? coord : &zero, &layout->shape, &layout->stride, &sum));
    *out = sum;
    return DT_OK;
}

static int64_t *write_digits(const dt_tuple *shape, const dt_tuple *stride, int64_t value, int64_t *out) {
    if (dt_tuple_is_int(shape))
        *out++ = stride->value ? value / stride->value % shape->value : 0;
    for (int64_t i = 0; i < shape->n_items; i++)
        out = write_digits(&shape->items[i], &stride->items[i], value, out);
    return out;
}

void dt__layout_digits(const dt__layout *layout, int64_t value, int64_t *out) {
    write_digits(&layout->shape, &layout->stride, value, out);
}

dt_status dt__layout_idx2crd(dt__arena *arena, const dt__layout *layout, int64_t value, dt_tuple *out) {
    if (value < 0)
        return dt__fail(arena->ctx, DT_ERR_VALUE, "idx2crd: wrong index: expected at least 0, got %lld",
                        (long long)value);
    int64_t *digits = DT__NEW_ARRAY(arena, int64_t, dt_tuple_count(&layout->shape));
    if (!digits)
        return DT_ERR_MEMORY;
    dt__layout_digits(layout, value, digits);
    return dt__tuple_like(arena, &layout->shape, digits, out);
}

dt_status dt__layout_coalesce(dt__arena *arena, const dt__layout *layout, dt__layout *out) {
    int64_t n;
    dt__mode *modes;
    DT__TRY(dt__layout_list_modes(arena, layout, &modes, &n));
    return dt__layout_of_modes(arena, modes, dt__modes_coalesce(modes, n), false, out);
}

dt_status dt__layout_flatten(dt__arena *arena, const dt__layout *layout, dt__layout *out) {
    int64_t n;
    dt__mode *modes;
    DT__TRY(dt__layout_list_modes(arena, layout, &modes, &n));
    return dt__layout_of_modes(arena, modes, n, !dt_tuple_is_int(&layout->shape), out);
}

/* The items of a list; an integer counts as a list of itself. */
static const dt_tuple *items_of(const dt_tuple *tuple, int64_t *n) {
    *n = dt_tuple_is_int(tuple) ? 1 : tuple->n_items;
    return dt_tuple_is_int(tuple) ? tuple : tuple->items;
}

static dt_status splice(dt__arena *arena, const dt_tuple *tuple, int64_t from, int64_t to, const dt_tuple *by,
                        dt_tuple *out) {
    int64_t n, n_by;
    const dt_tuple *items = items_of(tuple, &n), *new_items = items_of(by, &n_by);
    if (from < 0 || to < from || to > n)
        return dt__fail(arena->ctx, DT_ERR_VALUE, "splice: wrong modes: %lld to %lld of %lld", (long long)from,
                        (long long)to, (long long)n);
    int64_t n_all = n - (to - from) + n_by;
    dt_tuple *all = DT__NEW_ARRAY(arena, dt_tuple, n_all);
    if (!all)
        return DT_ERR_MEMORY;
    for (int64_t i = 0; i < n_all; i++)
        all[i] = i < from ? items[i] : i < from + n_by ? new_items[i - from] : items[i - n_by + (to - from)];
    return dt__tuple_list(arena, all, n_all, out);
}

dt_status dt__layout_splice(dt__arena *arena, const dt__layout *layout, int64_t from, int64_t to,
                            const dt__layout *by, dt__layout *out) {
    dt_tuple shape, stride;
    DT__TRY(splice(arena, &layout->shape, from, to, &by->shape, &shape));
    DT__TRY(splice(arena, &layout->stride, from, to, &by->stride, &stride));
    return dt__layout_new(arena, &shape, &stride, out);
}

void dt__layout_print(dt__text *text, const dt__layout *layout) {
    dt__tuple_print(text, &layout->shape);
    dt__text_add(text, ":");
    dt__tuple_print(text, &layout->stride);
}

dt_status dt__layout_parse(dt__arena *arena, const char *text, dt__layout *out) {
    dt__cursor cursor = dt__cursor_new(arena->ctx, DT_ERR_VALUE, "layout", text);
    dt_tuple shape, stride;
    DT__TRY(dt__tuple_parse(arena, &cursor, &shape));
    bool has_stride = dt__cursor_skip(&cursor, ":");
    if (has_stride)
        DT__TRY(dt__tuple_parse(arena, &cursor, &stride));
    if (*cursor.at)
        return dt__cursor_fail(&cursor, has_stride ? "expected the end" : "expected ':' or the end");
    return dt__layout_new(arena, &shape, has_stride ? &stride : NULL, out);
}
