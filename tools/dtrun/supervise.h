/* SPDX-License-Identifier: Apache-2.0
 *
 * The process that runs a launch: parent of the ranks, carrier of their output, judge of how it all ends.
 */
#ifndef DTRUN_SUPERVISE_H
#define DTRUN_SUPERVISE_H

#include "dtrun/start.h"

/* Signals that dtrun takes itself and passes on to the ranks. */
void supervise_list_signals(sigset_t *set);

/* Runs the launch to its end and gives the code to exit with. life_fd is a pipe whose other end the front holds: when
 * it closes, the front is dead, and everything is killed. */
int supervise(const struct options *options, const struct inheritance *inheritance, int life_fd);

#endif
