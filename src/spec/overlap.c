/* SPDX-License-Identifier: Apache-2.0
 *
 * Intersections. Each shard in turn seeks the position of the other one's next index, so the work is proportional to
 * the common runs, not to the runs of either side. Strided shards repeat themselves, and so does what two of them have
 * in common, which is counted in one period.
 */
#include "spec/overlap.h"

#include "base/size.h"

/* The first common run at or after *at that begins below `end`. */
static bool next_below(const dt__shard *a, const dt__shard *b, int64_t end, int64_t *at, dt__overlap_run *out) {
    while (*at < end) {
        int64_t i = dt__shard_seek(a, *at);
        if (i == a->size)
            return false;
        dt_run run_a = dt__shard_run(a, i);
        int64_t j = dt__shard_seek(b, run_a.begin);
        if (j == b->size)
            return false;
        dt_run run_b = dt__shard_run(b, j);
        if (run_b.begin < run_a.end) {
            *at = dt__min_i64(run_a.end, run_b.end);
            *out = (dt__overlap_run){run_b.begin, *at, i + run_b.begin - run_a.begin, j};
            return run_b.begin < end;
        }
        *at = run_b.begin;
    }
    return false;
}

bool dt__overlap_next(const dt__shard *a, const dt__shard *b, int64_t *at, dt__overlap_run *out) {
    return next_below(a, b, a->global_size, at, out);
}

/* Whether a shard that is not empty is one run. */
static bool is_one_run(const dt__shard *shard) {
    const dt_run first = dt__shard_run(shard, 0);
    return first.end - first.begin == shard->size;
}

/* How many indices of a run a shard holds, at a cost that does not depend on its own runs: seeking a position counts
 * the indices before it. */
static int64_t held_of_run(const dt__shard *shard, dt_run run) {
    return dt__shard_seek(shard, run.end) - dt__shard_seek(shard, run.begin);
}

/* Common indices from `begin` on, below `end`. */
static int64_t common_between(const dt__shard *a, const dt__shard *b, int64_t begin, int64_t end) {
    dt__overlap_run run;
    int64_t size = 0;
    for (int64_t at = begin; next_below(a, b, end, &at, &run);)
        size += dt__min_i64(run.end, end) - run.begin;
    return size;
}

/* In which global indices a shard repeats itself. */
typedef struct pattern {
    int64_t begin, end, period;
} pattern;

/* The least common multiple, or `limit` where it is not below that. */
static int64_t common_multiple(int64_t a, int64_t b, int64_t limit) {
    int64_t x = a, y = b;
    while (y) {
        const int64_t rest = x % y;
        x = y;
        y = rest;
    }
    return a / x > limit / b ? limit : dt__min_i64(a / x * b, limit);
}

/* Local indices repeat with any period. Each level up the chain either moves the pattern with its block, or spreads it
 * over chunks: those that lie wholly in the pattern repeat, with the period counted in chunks. */
static pattern pattern_of(const dt__shard *shard) {
    pattern is = {0, shard->size, 1};
    for (int l = shard->n_levels - 1; l >= 0; l--) {
        const dt__shard_level *level = &shard->levels[l];
        if (level->n_whole == 1 && !level->tail_mine) {
            is.begin += level->begin;
            is.end += level->begin;
            continue;
        }
        const int64_t first = dt__ceil_div(is.begin, level->mine);
        const int64_t last = dt__min_i64(is.end / level->mine, level->n_whole);
        const int64_t chunks = common_multiple(is.period, level->mine, shard->global_size) / level->mine;
        if (first >= last || chunks > last - first)
            return (pattern){0, 0, 1};
        is = (pattern){first * level->chunk, last * level->chunk, chunks * level->chunk};
    }
    return is;
}

int64_t dt__overlap_size(const dt__shard *a, const dt__shard *b) {
    if (a->size == 0 || b->size == 0)
        return 0;
    if (is_one_run(b))
        return held_of_run(a, dt__shard_run(b, 0));
    if (is_one_run(a))
        return held_of_run(b, dt__shard_run(a, 0));
    const pattern of_a = pattern_of(a), of_b = pattern_of(b);
    const int64_t begin = dt__max_i64(of_a.begin, of_b.begin), end = dt__min_i64(of_a.end, of_b.end);
    const int64_t period = common_multiple(of_a.period, of_b.period, a->global_size);
    const int64_t n = end > begin ? (end - begin) / period : 0;
    if (n < 2)
        return common_between(a, b, 0, a->global_size);
    return common_between(a, b, 0, begin) + n * common_between(a, b, begin, begin + period) +
           common_between(a, b, begin + n * period, a->global_size);
}
