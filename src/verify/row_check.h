/* SPDX-License-Identifier: Apache-2.0
 *
 * All trials of one row of one call.
 */
#ifndef DT_VERIFY_ROW_CHECK_H
#define DT_VERIFY_ROW_CHECK_H

#include "verify/trial.h"

/* Which trials are run. */
typedef struct dt__trial_set {
    int n_worlds;
    const int *worlds; /* numbers of ranks */
    bool all_cuts;     /* with strided shards and explicit extents, too */
    bool only_local;   /* refuse a row unless the shape function maps local inputs to local outputs */
    int only_output;   /* the output to compare, from 1; 0: all */
} dt__trial_set;

/* *failure stays NULL where the row holds; otherwise *n_ranks is how many ranks refute it. Adds to *n_trials. */
dt_status dt__check_row(dt__trial_call *trial_call, const dt__row *row, const dt__trial_set *trial_set,
                        const char **failure, int *n_ranks, int64_t *n_trials);

/* Whether the shape function maps the local inputs of a row to such a local output, from 0, in all worlds; other
 * outputs do not matter. */
dt_status dt__output_is_local(dt__trial_call *trial_call, const dt__row *row, const dt__trial_set *trial_set,
                              int output, bool *out);

#endif
