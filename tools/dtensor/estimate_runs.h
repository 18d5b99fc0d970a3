/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs of a program without data, one per rank or class of ranks: the program is started with DTENSOR_ESTIMATE, and its
 * report (DTENSOR_REPORT) is read.
 */
#ifndef TOOLS_DTENSOR_ESTIMATE_RUNS_H
#define TOOLS_DTENSOR_ESTIMATE_RUNS_H

#include "arguments.h"
#include "estimate_replay.h"

#include <jansson.h>

typedef struct estimate_settings {
    int64_t ranks;
    const char *machine, *trace, *value; /* NULL: none */
    int64_t threads, cores;              /* 0: as on this machine */
    const char *const *words;            /* the program and its arguments */
    int n_words;
    bool is_quiet; /* what the program writes to standard error is dropped, too */
} estimate_settings;

/* Runs the program as this rank; NULL with the error recorded. Meetings are added to the replay unless it is NULL. */
json_t *estimate_run(dt_ctx *ctx, const estimate_settings *settings, int64_t rank, replay *meetings);

/* Ranks that need the same. */
typedef struct estimate_class {
    json_t *report; /* of the first */
    int64_t *first; /* ranks that were run; those of larger worlds stand for others */
    int n_first;
    int64_t n_ranks;
    double waited_us; /* for other ranks, in the rank that waits longest; NAN: unknown */
} estimate_class;

typedef struct estimate_classes {
    estimate_class *list; /* those that need most memory first */
    int n;
    bool is_complete; /* every rank was run */
    int64_t n_left;   /* ranks of classes that were not run, because there are too many */
} estimate_classes;

/* One run of every rank of a small world, or of one rank of each class of a large one; only_rank: -1, or the only one
 * to run. */
dt_status estimate_all(dt__arena *arena, const estimate_settings *settings, int64_t only_rank, estimate_classes *out);
void estimate_classes_free(estimate_classes *self);

/* Numbers of a report. */
int64_t estimate_peak(const json_t *report, const char *kind);

#endif
