/* SPDX-License-Identifier: Apache-2.0
 *
 * Adds up times of events. Events of a rank nest by their times: sorted by when they begin, the longer first, the open
 * ones form a stack, and the time of an event is subtracted from the event around it. A transfer belongs to the op that
 * needed it, and one outside of ops to its own name.
 */
#include "trace_times.h"

#include "table.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_OPEN = 256 };

/* An op or a transfer. */
typedef struct timed_event {
    const char *name, *file; /* of the JSON value */
    int64_t rank, line;
    size_t index; /* in the file: what is inside an event precedes it */
    bool is_op;
    double begin_us, end_us, waiting_us;
    double inside_us; /* of the events directly inside */
} timed_event;

typedef struct adding {
    dt__arena *arena;
    trace_times *out;
    timed_event *events;
    size_t n;
    timed_event *open[MAX_OPEN];
    int n_open;
} adding;

double traced_time_sum(const traced_time *self) {
    return self->compute_us + self->communication_us + self->waiting_us;
}

static const char *text_in(const json_t *object, const char *key) {
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

static bool is_timed(const json_t *event) {
    const char *category = text_in(event, "cat");
    return !strcmp(text_in(event, "ph"), "X") && (!strcmp(category, "op") || !strcmp(category, "comm"));
}

static dt_status read_event(const adding *self, const char *file, const json_t *event, size_t index,
                            timed_event *out) {
    const json_t *args = json_object_get(event, "args"), *begin = json_object_get(event, "ts"),
                 *duration = json_object_get(event, "dur");
    double us = json_number_value(duration);
    if (!json_is_number(begin) || !json_is_number(duration) || us < 0)
        return dt__fail(self->arena->ctx, DT_ERR_VALUE, "%s: event %zu: expected a time and a duration", file, index);
    *out = (timed_event){.name = text_in(event, "name"),
                         .file = text_in(args, "file"),
                         .rank = (int64_t)json_integer_value(json_object_get(event, "pid")),
                         .line = (int64_t)json_integer_value(json_object_get(args, "line")),
                         .index = index,
                         .is_op = !strcmp(text_in(event, "cat"), "op"),
                         .begin_us = json_number_value(begin),
                         .end_us = json_number_value(begin) + us,
                         .waiting_us = fmin(fmax(json_number_value(json_object_get(args, "wait_us")), 0), us)};
    return DT_OK;
}

static int by_begin(const void *a, const void *b) {
    const timed_event *x = a, *y = b;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    if (x->begin_us != y->begin_us)
        return x->begin_us < y->begin_us ? -1 : 1;
    if (x->end_us != y->end_us)
        return x->end_us > y->end_us ? -1 : 1;
    return x->index > y->index ? -1 : 1;
}

/* The item with this name and rank, which is made on first use; NULL when memory is out. */
static traced_time *item_of(const adding *self, traced_time_list *list, const char *name, int64_t rank) {
    for (int64_t i = 0; i < list->n; i++)
        if (list->items[i].rank == rank && (!name || !strcmp(list->items[i].name, name)))
            return &list->items[i];
    if (list->n == list->capacity) {
        int64_t capacity = list->capacity ? 2 * list->capacity : 32;
        traced_time *items = DT__NEW_ARRAY(self->arena, traced_time, capacity);
        if (!items)
            return NULL;
        if (list->n)
            memcpy(items, list->items, (size_t)list->n * sizeof *items);
        list->items = items;
        list->capacity = capacity;
    }
    const char *copy = name ? dt__arena_copy_text(self->arena, name) : NULL;
    if (name && !copy)
        return NULL;
    list->items[list->n] = (traced_time){.name = copy, .rank = rank};
    return &list->items[list->n++];
}

static dt_status add_own_time(const adding *self, const timed_event *event, const timed_event *of,
                              traced_time *item) {
    if (!item)
        return dt_error_status(self->arena->ctx);
    double own_us = fmax(event->end_us - event->begin_us - event->inside_us, 0),
           waiting_us = event->is_op ? 0 : fmin(event->waiting_us, own_us);
    item->n_calls += event == of;
    item->waiting_us += waiting_us;
    *(event->is_op ? &item->compute_us : &item->communication_us) += own_us - waiting_us;
    return DT_OK;
}

/* The event ends: its time is added to its rank, to the op that it belongs to, and to that op's line. */
static dt_status close_event(adding *self) {
    const timed_event *event = self->open[--self->n_open], *of = event;
    for (int i = self->n_open - 1; i >= 0 && !of->is_op; i--)
        if (self->open[i]->is_op)
            of = self->open[i];
    char line[512] = "";
    if (*of->file)
        (void)snprintf(line, sizeof line, "%.480s:%" PRId64, of->file, of->line);
    DT__TRY(add_own_time(self, event, of, item_of(self, &self->out->ranks, NULL, event->rank)));
    DT__TRY(add_own_time(self, event, of, item_of(self, &self->out->ops, of->name, 0)));
    return add_own_time(self, event, of, item_of(self, &self->out->lines, line, 0));
}

static dt_status add_rank(adding *self, size_t first, size_t end) {
    double last_us = self->events[first].end_us;
    for (size_t i = first; i < end; i++) {
        timed_event *event = &self->events[i];
        last_us = fmax(last_us, event->end_us);
        while (self->n_open && self->open[self->n_open - 1]->end_us <= event->begin_us)
            DT__TRY(close_event(self));
        if (self->n_open == MAX_OPEN)
            return dt__fail(self->arena->ctx, DT_ERR_UNSUPPORTED, "more than %d nested events", (int)MAX_OPEN);
        if (self->n_open)
            self->open[self->n_open - 1]->inside_us += event->end_us - event->begin_us;
        self->open[self->n_open++] = event;
    }
    while (self->n_open)
        DT__TRY(close_event(self));
    traced_time *rank = item_of(self, &self->out->ranks, NULL, self->events[first].rank);
    if (!rank)
        return DT_ERR_MEMORY;
    rank->whole_us += last_us - self->events[first].begin_us;
    return DT_OK;
}

dt_status trace_times_add(dt__arena *arena, const char *file, const json_t *events, trace_times *out) {
    adding self = {
        .arena = arena, .out = out, .events = DT__NEW_ARRAY(arena, timed_event, json_array_size(events) + 1)};
    if (!self.events)
        return DT_ERR_MEMORY;
    for (size_t i = 0; i < json_array_size(events); i++)
        if (is_timed(json_array_get(events, i)))
            DT__TRY(read_event(&self, file, json_array_get(events, i), i, &self.events[self.n++]));
    if (self.n)
        qsort(self.events, self.n, sizeof *self.events, by_begin);
    for (size_t first = 0, end; first < self.n; first = end) {
        for (end = first + 1; end < self.n && self.events[end].rank == self.events[first].rank;)
            end++;
        DT__TRY(add_rank(&self, first, end));
    }
    return DT_OK;
}

static int by_rank(const void *a, const void *b) {
    const traced_time *x = a, *y = b;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

static int by_time(const void *a, const void *b) {
    double x = traced_time_sum(a), y = traced_time_sum(b);
    return x != y ? (x < y) - (x > y) : strcmp(((const traced_time *)a)->name, ((const traced_time *)b)->name);
}

static void sort_list(traced_time_list *list, int (*compare)(const void *, const void *)) {
    if (list->n)
        qsort(list->items, (size_t)list->n, sizeof *list->items, compare);
}

void trace_times_sort(trace_times *self) {
    sort_list(&self->ranks, by_rank);
    sort_list(&self->ops, by_time);
    sort_list(&self->lines, by_time);
}
