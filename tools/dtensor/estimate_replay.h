/* SPDX-License-Identifier: Apache-2.0
 *
 * How long ranks wait for each other. Each rank or class of ranks was estimated on its own, with a clock that waits for
 * nobody, and wrote when it met which others (DTENSOR_MEETINGS). Replayed together, a collective begins when its last
 * member arrives, and a message is received when it was sent.
 */
#ifndef TOOLS_DTENSOR_ESTIMATE_REPLAY_H
#define TOOLS_DTENSOR_ESTIMATE_REPLAY_H

#include "base/arena.h"

/* The ranks that were run. */
typedef struct replay {
    dt__arena *arena;
    int n, capacity;
    struct replay_rank *ranks;
    bool is_broken; /* what a rank wrote cannot be read, or is missing */
} replay;

/* The class of a rank, an index of the ranks that were run; -1: unknown. */
typedef int replay_class_of(const void *user, int64_t rank);

replay replay_new(dt__arena *arena, int capacity);
/* Adds a rank with the file that it wrote. */
dt_status replay_add(replay *self, int64_t rank, const char *path);
int64_t replay_rank_at(const replay *self, int i);
/* Finds the time that each has waited, in microseconds. False where the ranks do not fit together, as if the program
 * depends on values. */
bool replay_run(replay *self, replay_class_of *class_of, const void *user, double *waited);

#endif
