/* SPDX-License-Identifier: Apache-2.0
 *
 * The process that the user started, between the terminal and the supervisor. If one of the two dies, the other one
 * ends everything.
 */
#ifndef DTRUN_FRONT_H
#define DTRUN_FRONT_H

#include "dtrun/options.h"

/* Runs the launch; returns the exit code. */
int front_run(struct options *options);

#endif
