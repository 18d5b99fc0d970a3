/* SPDX-License-Identifier: Apache-2.0
 *
 * Where the time of a traced program went: by rank, by op and by line of the program. The time of an op is its own: the
 * time of ops and transfers inside it counts for them. Only traces in JSON have times.
 */
#ifndef TOOLS_DTENSOR_TRACE_TIMES_H
#define TOOLS_DTENSOR_TRACE_TIMES_H

#include "base/arena.h"

#include <jansson.h>

/* The time of a rank, an op or a line. Waiting for other ranks is apart from communication. */
typedef struct traced_time {
    const char *name; /* of the op, or "model.c:12"; NULL for a rank */
    int64_t rank;
    int64_t n_calls;
    double compute_us, communication_us, waiting_us;
    double whole_us; /* of a rank: from its first event to its last */
} traced_time;

typedef struct traced_time_list {
    traced_time *items;
    int64_t n, capacity;
} traced_time_list;

typedef struct trace_times {
    traced_time_list ranks, ops, lines;
} trace_times;

/* Adds the events of a file; refuses (value) an event whose time is not a number. `file` is for errors. */
dt_status trace_times_add(dt__arena *arena, const char *file, const json_t *events, trace_times *out);
/* Sorts ranks by their number, and ops and lines by their time, longest first. */
void trace_times_sort(trace_times *self);
/* Computing, communicating and waiting together. */
double traced_time_sum(const traced_time *self);

#endif
