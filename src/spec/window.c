/* SPDX-License-Identifier: Apache-2.0
 *
 * Intersections of windows with shards, run by run of both.
 */
#include "spec/window.h"

#include "base/size.h"

static int64_t last_of(const dt__window_run *run) { return run->start + (run->size - 1) * run->step; }

/* The positions first … end - 1 of a run whose indices are begin … end - 1. */
static void find_positions(const dt__window_run *run, int64_t begin, int64_t end, int64_t *first, int64_t *past) {
    int64_t step = run->step;
    if (step == 0) {
        *first = 0;
        *past = run->start >= begin && run->start < end ? run->size : 0;
        return;
    }
    int64_t from = step > 0 ? begin - run->start : run->start - (end - 1);
    int64_t to = step > 0 ? end - run->start : run->start - begin + 1;
    int64_t length = step > 0 ? step : -step;
    *first = from <= 0 ? 0 : dt__ceil_div(from, length);
    *past = to <= 0 ? 0 : dt__min_i64(dt__ceil_div(to, length), run->size);
}

/* The next piece of the current run. */
static bool next_in_run(const dt__shard *held, const dt__window_run *run, dt__window_cursor *at,
                        dt__window_piece *out) {
    int64_t last = last_of(run), largest = dt__max_i64(run->start, last), first, past;
    while (at->held < held->size) {
        int64_t local = at->held;
        dt_run common = dt__shard_run(held, local);
        if (common.begin > largest)
            return false;
        at->held += common.end - common.begin;
        find_positions(run, common.begin, common.end, &first, &past);
        if (first >= past)
            continue;
        *out = (dt__window_piece){past - first, local + run->start + first * run->step - common.begin, run->step,
                                  at->dst + first};
        return true;
    }
    return false;
}

bool dt__window_next(const dt__shard *held, const dt__dim_window *window, dt__window_cursor *at,
                     dt__window_piece *out) {
    for (; at->run < window->n_runs; at->run++) {
        const dt__window_run *run = &window->runs[at->run];
        if (run->size > 0 && !at->in_run)
            at->held = dt__shard_seek(held, dt__min_i64(run->start, last_of(run)));
        at->in_run = true;
        if (run->size > 0 && next_in_run(held, run, at, out))
            return true;
        at->dst += run->size;
        at->in_run = false;
    }
    return false;
}

int64_t dt__window_held(const dt__shard *held, const dt__dim_window *window) {
    dt__window_cursor at = {0};
    dt__window_piece piece;
    int64_t n = 0;
    if (window->is_own)
        return window->size;
    while (dt__window_next(held, window, &at, &piece))
        n += piece.n;
    return n;
}
