/* SPDX-License-Identifier: Apache-2.0
 *
 * Arithmetic on flat layouts. A list whose size fits in 63 bits has at most 63 modes that are not trivial, so
 * sorting them is by insertion.
 */
#include "layout/modes.h"

#include "base/size.h"

bool dt__modes_size(const dt__mode *modes, int64_t n, int64_t *out) {
    int64_t size = 1;
    for (int64_t i = 0; i < n; i++)
        if (!dt__mul_i64(size, modes[i].size, &size))
            return false;
    *out = size;
    return true;
}

bool dt__modes_cosize(const dt__mode *modes, int64_t n, int64_t *out) {
    int64_t largest = 0, reach;
    for (int64_t i = 0; i < n; i++)
        if (!dt__mul_i64(modes[i].size - 1, modes[i].stride, &reach) || !dt__add_i64(largest, reach, &largest))
            return false;
    return dt__add_i64(largest, 1, out);
}

int64_t dt__modes_at(const dt__mode *modes, int64_t n, int64_t index) {
    int64_t value = 0;
    for (int64_t i = n - 1; i > 0; i--) {
        value += index % modes[i].size * modes[i].stride;
        index /= modes[i].size;
    }
    return n ? value + index * modes[0].stride : value;
}

/* Whether outer continues where inner ends, so that the two count as one mode. */
static bool joins(dt__mode outer, dt__mode inner) {
    int64_t end;
    return dt__mul_i64(inner.size, inner.stride, &end) && outer.stride == end;
}

int64_t dt__modes_coalesce(dt__mode *modes, int64_t n) {
    int64_t top = n; /* modes[top … n-1] is the result so far, growing to the left */
    for (int64_t i = n - 1; i >= 0; i--) {
        if (modes[i].size == 1)
            continue;
        if (top < n && joins(modes[i], modes[top]))
            modes[top].size *= modes[i].size;
        else
            modes[--top] = modes[i];
    }
    for (int64_t i = top; i < n; i++)
        modes[i - top] = modes[i];
    return n - top;
}

bool dt__modes_equal(const dt__mode *a, int64_t n_a, const dt__mode *b, int64_t n_b) {
    if (n_a != n_b)
        return false;
    for (int64_t i = 0; i < n_a; i++)
        if (a[i].size != b[i].size || a[i].stride != b[i].stride)
            return false;
    return true;
}

static bool comes_before(dt__mode a, dt__mode b) {
    return a.stride != b.stride ? a.stride > b.stride : a.size > b.size;
}

int64_t dt__modes_sort(dt__mode *modes, int64_t n) {
    int64_t n_sorted = 0;
    for (int64_t i = 0; i < n; i++) {
        dt__mode mode = modes[i];
        if (mode.size == 1)
            continue;
        int64_t at = n_sorted++;
        for (; at > 0 && comes_before(mode, modes[at - 1]); at--)
            modes[at] = modes[at - 1];
        modes[at] = mode;
    }
    return n_sorted;
}

bool dt__modes_orthogonal(dt__mode *modes, int64_t n) {
    int64_t reach = 1; /* where the smaller modes end */
    for (int64_t i = dt__modes_sort(modes, n) - 1; i >= 0; i--) {
        if (modes[i].stride < reach)
            return false;
        if (!dt__mul_i64(modes[i].size, modes[i].stride, &reach))
            reach = INT64_MAX;
    }
    return true;
}

bool dt__modes_tile(dt__mode *modes, int64_t n, int64_t size) {
    int64_t reach = 1;
    for (int64_t i = dt__modes_sort(modes, n) - 1; i >= 0; i--) {
        if (modes[i].stride == 0 || modes[i].stride % reach != 0)
            return false;
        if (!dt__mul_i64(modes[i].size, modes[i].stride, &reach))
            return false;
    }
    return size % reach == 0;
}

/* Follows b's steps through the modes of a from the fastest to the slowest. `step` is the distance of two neighbors
 * in units of the mode at hand, `left` the number of steps that are still to be placed. The modes found are written
 * to out in reverse. */
dt__compose dt__modes_compose_one(const dt__mode *a, int64_t n_a, dt__mode b, int64_t *spare, dt__mode *out,
                                  int64_t *n_out) {
    int64_t n = 0, left = b.size, step = b.stride;
    dt__mode slowest = n_a ? a[0] : (dt__mode){.size = 1};
    for (int64_t i = n_a - 1; i > 0 && step > 0; i--) {
        int64_t take = 1;
        if (a[i].size % step == 0)
            take = dt__min_i64(a[i].size / step, left);
        else if (step % a[i].size != 0)
            return DT__COMPOSE_INDIVISIBLE;
        if (left % take != 0)
            return DT__COMPOSE_INDIVISIBLE;
        if (take > 1) {
            out[n].size = take;
            if (!dt__mul_i64(step, a[i].stride, &out[n++].stride))
                return DT__COMPOSE_OVERFLOW;
        }
        if (spare && (spare[i] -= (take - 1) * step) < 0)
            return DT__COMPOSE_CARRY;
        left /= take;
        step = dt__ceil_div(step, a[i].size);
    }
    if (left > 1 || n == 0) {
        out[n].size = left;
        if (!dt__mul_i64(step, slowest.stride, &out[n++].stride))
            return DT__COMPOSE_OVERFLOW;
    }
    for (int64_t i = 0; i < n / 2; i++) {
        dt__mode mode = out[i];
        out[i] = out[n - 1 - i];
        out[n - 1 - i] = mode;
    }
    *n_out = n;
    return DT__COMPOSE_OK;
}

bool dt__modes_complement(dt__mode *modes, int64_t n, int64_t size, dt__mode *out, int64_t *n_out) {
    int64_t reach = 1, at = n + 1; /* out is filled from its end: smallest stride last */
    for (int64_t i = dt__modes_sort(modes, n) - 1; i >= 0; i--) {
        if (modes[i].stride == 0)
            continue;
        if (modes[i].stride < reach)
            return false;
        out[--at] = (dt__mode){modes[i].stride / reach, reach};
        if (!dt__mul_i64(modes[i].size, modes[i].stride, &reach))
            return false;
    }
    out[--at] = (dt__mode){dt__ceil_div(size, reach), reach};
    int64_t n_found = n + 1 - at;
    for (int64_t i = 0; i < n_found; i++)
        out[i] = out[at + i];
    *n_out = dt__modes_coalesce(out, n_found);
    return true;
}
