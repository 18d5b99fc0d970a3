/* SPDX-License-Identifier: Apache-2.0
 *
 * When a rank of an estimate meets which others, as a text with a line per meeting, for `dtensor estimate`, which
 * replays the ranks of a program together and finds how long they wait. DTENSOR_MEETINGS names the file. Nothing is
 * written without rates of ops in the machine model, because the clock would stand still.
 *
 *     group 0 9f2e 4 0 2          group 0, with a direction, has 4 ranks, from rank 0 in steps of 2
 *     group 1 0 3 list 0 1 5      3 ranks that are not evenly spaced
 *     meet 12.5 0                 after 12.5 microseconds of its own, a collective of group 0
 *     send 13 1 5                 to rank 5
 *     recv 13 1 0
 *     end 20.25
 */
#ifndef DT_SHM_MEETING_LOG_H
#define DT_SHM_MEETING_LOG_H

#include "base/hash.h"
#include "comm/comm.h"

#include <stdio.h>

typedef struct dt__meeting_log {
    FILE *file;     /* NULL: none is written */
    dt__map groups; /* numbers plus 1, by ranks and direction */
    int64_t n_groups;
} dt__meeting_log;

/* Opens the file that the environment names, if it names one. */
dt_status dt__meeting_log_open(dt__meeting_log *self, dt_ctx *ctx);
void dt__meeting_log_add(dt__meeting_log *self, const dt_work *work);
void dt__meeting_log_close(dt__meeting_log *self, const dt_ctx *ctx);

#endif
