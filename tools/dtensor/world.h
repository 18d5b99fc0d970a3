/* SPDX-License-Identifier: Apache-2.0
 *
 * Ranks that stay alive between requests: threads of this process, each a rank of the shm transport with a context of
 * its own. The same function runs on all of them.
 */
#ifndef TOOLS_DTENSOR_WORLD_H
#define TOOLS_DTENSOR_WORLD_H

#include "dtensor/comm.h"

typedef struct world world;

/* Starts n ranks; NULL when that is not possible. */
world *world_open(int64_t n_ranks);
int64_t world_size(const world *self);
/* Runs fn on every rank and waits for all; the code of each rank is what fn returned. */
void world_run(world *self, dt_rank_fn *fn, void *arg);
/* Ends the ranks. NULL is fine. */
void world_close(world *self);

#endif
