/* SPDX-License-Identifier: Apache-2.0
 *
 * The process that the user started. It stands between the terminal and the supervisor, and each of the two outlives
 * the other's death for just long enough to end everything.
 */
#ifndef DTRUN_FRONT_H
#define DTRUN_FRONT_H

#include "dtrun/options.h"

/* Runs the launch; gives the code to exit with. */
int front_run(const struct options *options);

#endif
