/* SPDX-License-Identifier: Apache-2.0
 *
 * Words for sets of ranks, sizes and ranges.
 */
#include "labels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MIN_PROGRESSION = 5, MAX_RUNS_SHOWN = 4 };

const char *label_keep(dt__text *text, dt__arena *arena) {
    const char *copy = dt__text_status(text) == DT_OK ? dt__arena_copy_text(arena, dt__text_chars(text)) : NULL;
    dt__text_free(text);
    return copy;
}

static int compare_i64(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* How many from the front have one distance to the next. */
static int64_t progression(const int64_t *ranks, int64_t n) {
    int64_t i = 1;
    while (i + 1 < n && ranks[i + 1] - ranks[i] == ranks[1] - ranks[0])
        i++;
    return n < 2 ? n : i + 1;
}

static void add_ranks(dt__text *text, const int64_t *ranks, int64_t n) {
    for (int64_t at = 0; at < n;) {
        int64_t many = progression(ranks + at, n - at);
        long long first = ranks[at], second = many > 1 ? ranks[at + 1] : 0, last = ranks[at + many - 1];
        dt__text_add(text, "%s%lld", at ? "," : "", first);
        if (many > 1 && second == first + 1) {
            dt__text_add(text, "%c%lld", many == 2 ? ',' : '-', last);
        } else if (many >= MIN_PROGRESSION) {
            dt__text_add(text, ",%lld,..,%lld", second, last);
        } else {
            many = 1;
        }
        at += many;
    }
}

const char *label_ranks(int64_t *ranks, int64_t n, dt__arena *arena) {
    qsort(ranks, (size_t)n, sizeof *ranks, compare_i64);
    dt__text text = dt__text_new(arena->ctx);
    add_ranks(&text, ranks, n);
    return label_keep(&text, arena);
}

/* The position with its coordinate set to 0 along partial mesh dims: equal for the ranks that reduce together. */
static int64_t reduced_position(const holdings *held, int64_t position) {
    int64_t step = 1, reduced = 0;
    for (int dim = held->n_mesh_dims - 1; dim >= 0; dim--) {
        int64_t size = held->mesh_dims[dim].size;
        if (!held->mesh_dims[dim].reduce)
            reduced += position % size * step;
        position /= size;
        step *= size;
    }
    return reduced;
}

/* "sum", or "sum/avg" where mesh dims differ. */
static void add_reduce(dt__text *text, const holdings *held) {
    const char *last = NULL;
    for (int dim = 0; dim < held->n_mesh_dims; dim++) {
        const char *reduce = held->mesh_dims[dim].reduce;
        if (reduce && (!last || strcmp(reduce, last) != 0))
            dt__text_add(text, "%s%s", last ? "/" : "", reduce);
        last = reduce ? reduce : last;
    }
}

/* A rank and the copy of the block that it belongs to. */
typedef struct holder {
    int64_t copy, rank;
} holder;

static int compare_holders(const void *a, const void *b) {
    const holder *x = a, *y = b;
    if (x->copy != y->copy)
        return x->copy < y->copy ? -1 : 1;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

/* "sum(0,4), sum(1,5)" */
static void add_copies(dt__text *text, const holdings *held, const holder *holders, int64_t n, int64_t *room) {
    for (int64_t first = 0, end; first < n; first = end) {
        for (end = first; end < n && holders[end].copy == holders[first].copy; end++)
            room[end - first] = holders[end].rank;
        dt__text_add(text, "%s", first ? ", " : "");
        add_reduce(text, held);
        dt__text_add(text, "(");
        add_ranks(text, room, end - first);
        dt__text_add(text, ")");
    }
}

const char *label_holders(const holdings *held, const int64_t *positions, int64_t n, dt__arena *arena) {
    int64_t *ranks = DT__NEW_ARRAY(arena, int64_t, n);
    holder *holders = DT__NEW_ARRAY(arena, holder, n);
    if (!ranks || !holders)
        return NULL;
    for (int64_t i = 0; i < n; i++) {
        ranks[i] = held->ranks[positions[i]];
        holders[i] = (holder){reduced_position(held, positions[i]), ranks[i]};
    }
    if (!holdings_is_partial(held))
        return label_ranks(ranks, n, arena);
    dt__text text = dt__text_new(arena->ctx);
    qsort(holders, (size_t)n, sizeof *holders, compare_holders);
    add_copies(&text, held, holders, n, ranks);
    return label_keep(&text, arena);
}

const char *label_runs(const run_list *list, dt__arena *arena) {
    dt__text text = dt__text_new(arena->ctx);
    for (int64_t i = 0; i < list->n && i < MAX_RUNS_SHOWN; i++)
        dt__text_add(&text, "%s%lld:%lld", i ? " " : "", (long long)list->runs[i].begin,
                     (long long)list->runs[i].end);
    if (list->n > MAX_RUNS_SHOWN)
        dt__text_add(&text, " ..");
    if (list->n == 0)
        dt__text_add(&text, "-");
    return label_keep(&text, arena);
}

const char *label_spec(const dt_spec *spec, dt__arena *arena) {
    size_t room = dt_spec_text(spec, 0, NULL) + 1;
    char *text = DT__NEW_ARRAY(arena, char, room);
    if (text)
        dt_spec_text(spec, room, text);
    return text;
}

const char *label_bytes(int64_t n_bytes, dt__arena *arena) {
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double amount = (double)n_bytes;
    int unit = 0;
    while (amount >= (unit ? 1023.5 : 1024) && unit < 6) { /* what would be rounded to 1024 is 1.0 of the next */
        amount /= 1024;
        unit++;
    }
    dt__text text = dt__text_new(arena->ctx);
    dt__text_add(&text, "%.*f %s", unit && amount < 100 && amount != (double)(int64_t)amount ? 1 : 0, amount,
                 units[unit]);
    return label_keep(&text, arena);
}

const char *label_shape(const int64_t *shape, int n, dt__arena *arena) {
    dt__text text = dt__text_new(arena->ctx);
    dt__text_add(&text, "[");
    for (int i = 0; i < n; i++)
        dt__text_add(&text, "%s%lld", i ? "," : "", (long long)shape[i]);
    dt__text_add(&text, "]");
    return label_keep(&text, arena);
}
