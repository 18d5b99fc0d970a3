/* SPDX-License-Identifier: Apache-2.0
 *
 * Texts about endings. Ranks that ended alike are named together, as ranges.
 */
#include "dtrun/ending.h"

#include "dtrun/options.h"

#include "launch/launch.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

struct note {
    char *text;
    size_t capacity, n;
};

static void add(struct note *note, const char *format, ...) DT_PRINTF(2);
static void add(struct note *note, const char *format, ...) {
    va_list args;
    va_start(args, format);
    int n = vsnprintf(note->text + note->n, note->capacity - note->n, format, args);
    va_end(args);
    if (n > 0)
        note->n = note->n + (size_t)n < note->capacity ? note->n + (size_t)n : note->capacity - 1;
}

int ending_code(int wait_status) {
    return WIFSIGNALED(wait_status) ? EXIT_BY_SIGNAL + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

static bool are_alike(const struct rank_end *a, const struct rank_end *b) {
    return a->has_ended && b->has_ended && a->by_us == b->by_us && (a->by_us || a->status == b->status);
}

struct ends {
    const struct rank_end *of;
    int64_t n_ranks, first;
};

static bool is_in(const struct ends *ends, int64_t rank, const struct rank_end *like) {
    return rank < ends->n_ranks && rank != ends->first && are_alike(&ends->of[rank], like);
}

/* Names the ranks that ended like this one: "rank 3", "ranks 0-1,5". */
static void add_ranks(struct note *note, const struct ends *ends, const struct rank_end *like) {
    int64_t ranks[DT__MAX_RANKS], n = 0;
    char text[256];
    for (int64_t rank = 0; rank < ends->n_ranks; rank++)
        if (is_in(ends, rank, like))
            ranks[n++] = rank;
    dt__describe_ranks(ranks, n, text, sizeof text);
    add(note, "%s", text);
}

static bool is_first_of_its_kind(const struct ends *ends, int64_t rank) {
    for (int64_t before = 0; before < rank; before++) {
        if (is_in(ends, before, &ends->of[rank]))
            return false;
    }
    return true;
}

bool ending_summarize(const struct rank_end *of, int64_t n_ranks, int64_t first, char *text, size_t capacity) {
    const struct ends ends = {.of = of, .n_ranks = n_ranks, .first = first};
    struct note note = {.text = text, .capacity = capacity};
    for (int64_t rank = 0; rank < n_ranks; rank++) {
        const struct rank_end *end = &of[rank];
        if (rank == first || !end->has_ended || end->status == 0 || !is_first_of_its_kind(&ends, rank))
            continue;
        char how[64];
        dt__describe_wait_status(end->status, how, sizeof how);
        add(&note, "%s%s", note.n ? "; " : "", end->by_us ? "dtrun ended " : "");
        add_ranks(&note, &ends, end);
        if (!end->by_us)
            add(&note, " ended with %s", how);
    }
    return note.n > 0;
}
