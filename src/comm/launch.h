/* SPDX-License-Identifier: Apache-2.0
 *
 * Ranks of one launch inside one program: forked (dt_spawn, public) or as threads of this process. Threads share all
 * memory, so a race detector sees what ranks do to each other; they are for tests.
 */
#ifndef DT_COMM_LAUNCH_H
#define DT_COMM_LAUNCH_H

#include "dtensor/comm.h"

/* Runs fn on n threads, each a rank with a context of its own made with these options (NULL: defaults); codes[rank],
 * unless NULL, is what fn returned, or dt_close if fn returned 0. false if the launch could not be made. */
bool dt__run_threads(int64_t n_ranks, const dt_init_options *options, dt_rank_fn *fn, void *arg, int *codes);

#endif
