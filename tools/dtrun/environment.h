/* SPDX-License-Identifier: Apache-2.0
 *
 * The environment variables that dtrun sets for the ranks.
 */
#ifndef DTRUN_ENVIRONMENT_H
#define DTRUN_ENVIRONMENT_H

#include "dtrun/options.h"
#include "launch/launch.h"

/* Sets, in this process, what all ranks share. False if memory is out. */
bool environment_set_common(const struct options *options);
/* Sets what is one rank's own. */
bool environment_set_rank(const dt__ticket *ticket);
/* A time as the library reads it: seconds, "30" or "0.5"; "-1" for none. */
void environment_print_timeout(int64_t ms, char *text, size_t capacity);

#endif
