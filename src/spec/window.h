/* SPDX-License-Identifier: Apache-2.0
 *
 * Windows: lists of indices of a tensor dim that a rank needs, in runs with any step, and what a shard holds of them.
 * Pure arithmetic.
 */
#ifndef DT_SPEC_WINDOW_H
#define DT_SPEC_WINDOW_H

#include "spec/shard.h"

/* `size` indices from `start` on, `step` apart; a step may be negative, or 0: the same index again. */
typedef struct dt__window_run {
    int64_t start, size, step;
} dt__window_run;

/* Indices begin to end - 1 of a dim. */
typedef struct dt__range {
    int64_t begin, end;
} dt__range;

/* What a rank needs of one tensor dim: the runs one after the other. */
typedef struct dt__dim_window {
    bool is_own; /* what the rank holds of the dim anyway; there are no runs */
    int n_runs;
    const dt__window_run *runs;
    int64_t size; /* of all runs, or of its shard if the window is the shard */
    int64_t at;   /* where the window begins in the output, if it is the result */
} dt__dim_window;

/* `n` indices of a shard that a window has one after the other: from local index src on, src_step apart, to dst. */
typedef struct dt__window_piece {
    int64_t n, src, src_step, dst;
} dt__window_piece;

/* Where an enumeration of pieces is: start with zeros. */
typedef struct dt__window_cursor {
    int run;
    bool in_run;
    int64_t held; /* next local index of the shard */
    int64_t dst;  /* where the run begins in the window */
} dt__window_cursor;

/* The next indices that the shard holds of a window; false when there are no more. */
bool dt__window_next(const dt__shard *held, const dt__dim_window *window, dt__window_cursor *at,
                     dt__window_piece *out);
/* How many indices of the window the shard holds. */
int64_t dt__window_held(const dt__shard *held, const dt__dim_window *window);

#endif
