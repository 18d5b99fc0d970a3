/* SPDX-License-Identifier: Apache-2.0
 *
 * All trials of one row of one call.
 */
#ifndef DT_VERIFY_ROW_CHECK_H
#define DT_VERIFY_ROW_CHECK_H

#include "verify/trial.h"

/* What is tried. */
typedef struct dt__trial_set {
    int n_worlds;
    const int *worlds; /* numbers of ranks */
    bool all_cuts;     /* strided shards and explicit extents, too */
    bool only_local;   /* refuse a row unless the op makes parts of those shapes of the parts alone */
} dt__trial_set;

/* *what stays NULL where the row holds; otherwise *n_ranks is the world in which it does not. *n_trials is added to. */
dt_status dt__check_row(dt__trial_call *subject, const dt__row *row, const dt__trial_set *effort, const char **what,
                        int *n_ranks, int64_t *n_trials);

#endif
