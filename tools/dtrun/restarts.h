/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether a launch that failed is started again, when, and on how many ranks.
 */
#ifndef DTRUN_RESTARTS_H
#define DTRUN_RESTARTS_H

#include <stdbool.h>
#include <stdint.h>

/* How a launch ended, as its supervisor tells the front. */
struct outcome {
    bool may_restart; /* a rank failed: not the user, the output or the command line ended the launch */
    int64_t rank;     /* that failed first */
    char reason[320]; /* "rank 2 ended with signal 9 (SIGKILL)" */
};

struct restarts {
    int64_t n_most, n_done; /* of --restarts */
    int64_t n_least;        /* ranks, of --min-ranks; 0: never fewer */
    int64_t n_ranks;        /* of the next launch */
    int64_t last_rank;      /* that failed first in the launch before; -1: none */
    int64_t delay_ms;
};

/* Decides about the next launch. False: there is none; the text says why not if one was wanted, or is "". Otherwise the
 * text says why there is one, and delay_ms is the time before it. ran_ms is how long the launch lasted. */
bool restarts_decide(struct restarts *self, const struct outcome *outcome, int64_t ran_ms, char text[640]);

#endif
