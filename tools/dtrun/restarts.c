/* SPDX-License-Identifier: Apache-2.0
 *
 * The delay doubles from launch to launch, so that a cause outside of the program may pass, and begins again after a
 * launch that did not fail at once. A rank that fails first twice in a row keeps dying: with --min-ranks the next
 * launch does without it. Its core and memory are not known here, so only the number of ranks changes.
 */
#include "dtrun/restarts.h"

#include <inttypes.h>
#include <stdio.h>

enum { FIRST_DELAY_MS = 100, LAST_DELAY_MS = 30000, LASTING_MS = 1000 };

static void choose_delay(struct restarts *self, int64_t ran_ms) {
    self->delay_ms = self->delay_ms && ran_ms < LASTING_MS ? 2 * self->delay_ms : FIRST_DELAY_MS;
    if (self->delay_ms > LAST_DELAY_MS)
        self->delay_ms = LAST_DELAY_MS;
}

static void choose_ranks(struct restarts *self, int64_t failed) {
    const bool keeps_dying = failed >= 0 && failed == self->last_rank;
    self->last_rank = keeps_dying ? -1 : failed;
    if (keeps_dying && self->n_least && self->n_ranks > self->n_least)
        self->n_ranks--;
}

bool restarts_decide(struct restarts *self, const struct outcome *outcome, int64_t ran_ms, char text[640]) {
    const int64_t before = self->n_ranks;
    text[0] = 0;
    if (!outcome->may_restart || !self->n_most)
        return false;
    if (self->n_done == self->n_most) {
        (void)snprintf(text, 640, "no more restarts: %s, after %" PRId64 " of %" PRId64, outcome->reason,
                       self->n_done, self->n_most);
        return false;
    }
    self->n_done++;
    choose_delay(self, ran_ms);
    choose_ranks(self, outcome->rank);
    char ranks[80] = "";
    if (self->n_ranks < before)
        (void)snprintf(ranks, sizeof ranks, ", with %" PRId64 " ranks instead of %" PRId64, self->n_ranks, before);
    (void)snprintf(text, 640, "restart %" PRId64 " of %" PRId64 " in %g s%s: %s", self->n_done, self->n_most,
                   (double)self->delay_ms * 1e-3, ranks, outcome->reason);
    return true;
}
