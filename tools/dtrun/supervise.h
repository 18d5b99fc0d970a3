/* SPDX-License-Identifier: Apache-2.0
 *
 * The process that runs a launch: parent of the ranks; it forwards their output and decides the exit code.
 */
#ifndef DTRUN_SUPERVISE_H
#define DTRUN_SUPERVISE_H

#include "dtrun/restarts.h"
#include "dtrun/start.h"

/* Signals that dtrun handles and passes on to the ranks. */
void supervise_list_signals(sigset_t *set);

/* Whether a signal requests the end of the launch. */
bool supervise_is_end_signal(int number);

/* Runs the launch to its end, fills in how it ended, and returns the exit code. life_fd is a pipe whose other end the
 * front holds: when it closes, the front is dead, and everything is killed. */
int supervise(const struct options *options, const struct inheritance *inheritance, int life_fd,
              struct outcome *outcome);

#endif
