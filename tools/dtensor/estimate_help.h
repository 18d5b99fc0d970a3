/* SPDX-License-Identifier: Apache-2.0
 *
 * What would help a program that does not fit: other arguments, each tried.
 */
#ifndef TOOLS_DTENSOR_ESTIMATE_HELP_H
#define TOOLS_DTENSOR_ESTIMATE_HELP_H

#include "estimate_runs.h"

enum { ESTIMATE_N_HELPS = 4 };

/* A change of the program's arguments. */
typedef struct estimate_help {
    const char *what;   /* "fsdp instead of dp" */
    const char *change; /* of the arguments: "--mesh fsdp=8"; NULL: there is nothing to change, for this reason */
    const char *reason;
    int64_t peak; /* with it; 0: the program does not take it */
} estimate_help;

dt_status estimate_helps(dt__arena *arena, const estimate_settings *settings, int64_t rank,
                         estimate_help out[ESTIMATE_N_HELPS]);

#endif
