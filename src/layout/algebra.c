/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions made from layouts: complement, composition, inverses, and whether a layout is injective. Each flattens
 * its operands to modes, decides there, and checks divisibility instead of rounding, so that a result that is given
 * always has its defining property.
 */
#include "layout/layout.h"

#include "base/size.h"

#include <stdio.h>

dt_status dt__layout_complement(dt__arena *arena, const dt__layout *layout, int64_t size, dt__layout *out) {
    if (size < 1)
        return dt__fail(arena->ctx, DT_ERR_VALUE, "complement: wrong size: expected at least 1, got %lld",
                        (long long)size);
    int64_t n, n_rest;
    dt__mode *modes;
    DT__TRY(dt__layout_list_modes(arena, layout, &modes, &n));
    dt__mode *rest = DT__NEW_ARRAY(arena, dt__mode, n + 1);
    if (!rest)
        return DT_ERR_MEMORY;
    if (!dt__modes_complement(modes, n, size, rest, &n_rest))
        return dt__layout_fail(arena->ctx, DT_ERR_VALUE, "complement of", layout, "modes overlap");
    dt__layout result;
    DT__TRY(dt__layout_of_modes(arena, rest, n_rest, false, &result));
    return dt__layout_new(arena, &result.shape, &result.stride, out);
}

/* What the walk over b's nesting carries along. */
struct compose {
    dt__arena *arena;
    const dt__layout *a;
    const dt__mode *modes; /* of a, normal */
    int64_t n, *spare;
    dt__mode *found; /* the modes that one mode of b becomes */
};

static dt_status compose_mode(struct compose *job, dt__mode mode, dt__layout *out) {
    static const char *const reasons[] = {
        [DT__COMPOSE_INDIVISIBLE] = "does not divide its modes",
        [DT__COMPOSE_CARRY] = "together with those before it carries from one of its modes into the next",
        [DT__COMPOSE_OVERFLOW] = "has a stride that does not fit in 63 bits",
    };
    int64_t n;
    dt__compose result = dt__modes_compose_one(job->modes, job->n, mode, job->spare, job->found, &n);
    if (result == DT__COMPOSE_OK)
        return dt__layout_of_modes(job->arena, job->found, n, false, out);
    char what[160];
    snprintf(what, sizeof what, "the right operand's mode %lld:%lld %s", (long long)mode.size, (long long)mode.stride,
             reasons[result]);
    return dt__layout_fail(job->arena->ctx, DT_ERR_VALUE, "composition of", job->a, what);
}

static dt_status compose(struct compose *job, const dt_tuple *shape, const dt_tuple *stride, dt__layout *out) {
    if (dt_tuple_is_int(shape))
        return compose_mode(job, (dt__mode){shape->value, stride->value}, out);
    dt_tuple *shapes = DT__NEW_ARRAY(job->arena, dt_tuple, shape->n_items);
    dt_tuple *strides = DT__NEW_ARRAY(job->arena, dt_tuple, shape->n_items);
    if (!shapes || !strides)
        return DT_ERR_MEMORY;
    for (int64_t i = 0; i < shape->n_items; i++) {
        dt__layout item;
        DT__TRY(compose(job, &shape->items[i], &stride->items[i], &item));
        shapes[i] = item.shape;
        strides[i] = item.stride;
    }
    DT__TRY(dt__tuple_list(job->arena, shapes, shape->n_items, &out->shape));
    return dt__tuple_list(job->arena, strides, shape->n_items, &out->stride);
}

dt_status dt__layout_composition(dt__arena *arena, const dt__layout *a, const dt__layout *b, dt__layout *out) {
    int64_t n;
    dt__mode *modes;
    DT__TRY(dt__layout_list_modes(arena, a, &modes, &n));
    n = dt__modes_coalesce(modes, n);
    dt__mode *found = DT__NEW_ARRAY(arena, dt__mode, n + 1);
    int64_t *spare = DT__NEW_ARRAY(arena, int64_t, n);
    if (!found || !spare)
        return DT_ERR_MEMORY;
    for (int64_t i = 0; i < n; i++)
        spare[i] = modes[i].size - 1;
    struct compose job = {arena, a, modes, n, spare, found};
    dt__layout result;
    DT__TRY(compose(&job, &b->shape, &b->stride, &result));
    return dt__layout_new(arena, &result.shape, &result.stride, out);
}

/* A mode together with the step that it makes in the index. */
struct digit {
    dt__mode mode;
    int64_t place;
};

/* The modes that are not trivial, by ascending stride, then size, then place. */
static dt_status digits_of(dt__arena *arena, const dt__layout *layout, struct digit **out, int64_t *n_out) {
    int64_t n, n_digits = 0, place = 1;
    dt__mode *modes;
    DT__TRY(dt__layout_list_modes(arena, layout, &modes, &n));
    struct digit *digits = DT__NEW_ARRAY(arena, struct digit, n);
    if (!digits)
        return DT_ERR_MEMORY;
    for (int64_t i = n - 1; i >= 0; i--) {
        if (modes[i].size == 1)
            continue;
        struct digit digit = {modes[i], place};
        int64_t at = n_digits++;
        for (; at > 0; at--) { /* places only grow, so that equal modes stay in order */
            dt__mode left = digits[at - 1].mode;
            if (left.stride < digit.mode.stride || (left.stride == digit.mode.stride && left.size <= digit.mode.size))
                break;
            digits[at] = digits[at - 1];
        }
        digits[at] = digit;
        place *= modes[i].size;
    }
    *out = digits;
    *n_out = n_digits;
    return DT_OK;
}

/* Turns modes collected from the smallest value up into a row-major layout. */
static dt_status finish_inverse(dt__arena *arena, dt__mode *modes, int64_t n, dt__layout *out) {
    for (int64_t i = 0; i < n / 2; i++) {
        dt__mode mode = modes[i];
        modes[i] = modes[n - 1 - i];
        modes[n - 1 - i] = mode;
    }
    return dt__layout_of_modes(arena, modes, dt__modes_coalesce(modes, n), false, out);
}

dt_status dt__layout_right_inverse(dt__arena *arena, const dt__layout *layout, dt__layout *out) {
    struct digit *digits;
    int64_t n, n_modes = 0, reach = 1;
    DT__TRY(digits_of(arena, layout, &digits, &n));
    dt__mode *modes = DT__NEW_ARRAY(arena, dt__mode, n);
    if (!modes)
        return DT_ERR_MEMORY;
    for (; n_modes < n && digits[n_modes].mode.stride == reach; n_modes++) {
        modes[n_modes] = (dt__mode){digits[n_modes].mode.size, digits[n_modes].place};
        if (!dt__mul_i64(reach, digits[n_modes].mode.size, &reach))
            reach = -1; /* no stride continues from there */
    }
    return finish_inverse(arena, modes, n_modes, out);
}

enum { NO_PLACE = -1 }; /* beyond 63 bits */

/* Values that the layout skips are given indices from its size on, which keeps the inverse a layout. */
dt_status dt__layout_left_inverse(dt__arena *arena, const dt__layout *layout, dt__layout *out) {
    struct digit *digits;
    int64_t n, n_modes = 0, reach = 1, gap_place = dt__layout_size(layout);
    DT__TRY(digits_of(arena, layout, &digits, &n));
    dt__mode *modes = DT__NEW_ARRAY(arena, dt__mode, 2 * n);
    if (!modes)
        return DT_ERR_MEMORY;
    for (int64_t i = 0; i < n; i++) {
        dt__mode mode = digits[i].mode;
        if (mode.stride < reach)
            return dt__layout_fail(arena->ctx, DT_ERR_VALUE, "left inverse of", layout, "modes overlap");
        if (mode.stride % reach != 0)
            return dt__layout_fail(arena->ctx, DT_ERR_VALUE, "left inverse of", layout,
                                   "a stride is not a multiple of the extent below it");
        int64_t gap = mode.stride / reach;
        if (gap > 1 && gap_place == NO_PLACE)
            return dt__layout_fail(arena->ctx, DT_ERR_VALUE, "left inverse of", layout,
                                   "the inverse does not fit in 63 bits");
        if (gap > 1)
            modes[n_modes++] = (dt__mode){gap, gap_place};
        if (gap > 1 && !dt__mul_i64(gap_place, gap, &gap_place))
            gap_place = NO_PLACE;
        modes[n_modes++] = (dt__mode){mode.size, digits[i].place};
        if (!dt__mul_i64(mode.size, mode.stride, &reach))
            reach = INT64_MAX; /* beyond every stride that may follow, as the product is */
    }
    return finish_inverse(arena, modes, n_modes, out);
}

/* Two indices with one value differ by a vector x, |x_i| < size_i, not all zero, with sum x_i * stride_i = 0. */
struct search {
    const dt__mode *modes;  /* by descending stride */
    const int64_t *reaches; /* largest value of modes i … n-1 */
    int64_t n;
    long steps_left;
};

enum { MOST_STEPS = 1000000 };
typedef __int128 wide;

static wide floor_div(wide a, wide b) { return a / b - (a % b < 0); }

static bool collides(struct search *search, int64_t i, wide sum, bool nonzero) {
    if (i == search->n)
        return nonzero && sum == 0;
    wide stride = search->modes[i].stride, rest = search->reaches[i + 1], max = search->modes[i].size - 1;
    wide low = -floor_div(rest + sum, stride), high = floor_div(rest - sum, stride);
    if (low < (nonzero ? -max : 0)) /* x and -x are one pair: the first that is not 0 is positive */
        low = nonzero ? -max : 0;
    if (high > max)
        high = max;
    for (wide x = low; x <= high && search->steps_left > 0; x++, search->steps_left--)
        if (collides(search, i + 1, sum + x * stride, nonzero || x != 0))
            return true;
    return false;
}

dt_status dt__layout_is_injective(dt__arena *arena, const dt__layout *layout, bool *out) {
    int64_t n;
    dt__mode *modes;
    DT__TRY(dt__layout_list_modes(arena, layout, &modes, &n));
    n = dt__modes_coalesce(modes, n);
    if (dt__modes_orthogonal(modes, n)) {
        *out = true;
        return DT_OK;
    }
    int64_t *reaches = DT__NEW_ARRAY(arena, int64_t, n + 1);
    if (!reaches)
        return DT_ERR_MEMORY;
    for (int64_t i = n - 1; i >= 0; i--) {
        if (modes[i].stride == 0) {
            *out = false;
            return DT_OK;
        }
        reaches[i] = reaches[i + 1] + (modes[i].size - 1) * modes[i].stride;
    }
    struct search search = {modes, reaches, n, MOST_STEPS};
    bool found = collides(&search, 0, 0, false);
    if (!found && search.steps_left <= 0)
        return dt__fail(arena->ctx, DT_ERR_UNSUPPORTED, "layout: too many ways to check whether it is injective");
    *out = !found;
    return DT_OK;
}
