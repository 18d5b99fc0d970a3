/* SPDX-License-Identifier: Apache-2.0
 *
 * SIGUSR1 to a rank prints what every rank of its node is doing.
 */
#ifndef DT_LAUNCH_ACTIVITY_SIGNAL_H
#define DT_LAUNCH_ACTIVITY_SIGNAL_H

#include "comm/comm.h"

/* Makes the signal print what the ranks of this board are doing, unless the program handles or ignores it; and undoes
 * that, before the board is closed. */
void dt__activity_signal_add(const dt__board *board);
void dt__activity_signal_remove(const dt__board *board);

#endif
