/* SPDX-License-Identifier: Apache-2.0
 *
 * Processes that came from this one. A process that calls descendants_adopt becomes the parent of every descendant that
 * loses its own parent, including those in a session of their own, so that none can get lost.
 */
#ifndef DTRUN_DESCENDANTS_H
#define DTRUN_DESCENDANTS_H

#include <stdint.h>
#include <sys/types.h>

void descendants_adopt(void);
/* Sends a signal to each child of this process, and to the others of its process group if the child leads the group
 * or the group is one of the n given. A child that shares its group with another may get the signal twice. */
void descendants_signal(int signal_number, const pid_t *groups, int64_t n_groups);
/* Sends a signal to the processes of these groups that handle it: it would end the others. */
void descendants_signal_handlers(int signal_number, const pid_t *groups, int64_t n_groups);
/* Kills everything below this process and waits for its end, for a few seconds at most. */
void descendants_kill(void);

#endif
