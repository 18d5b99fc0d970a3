/* SPDX-License-Identifier: Apache-2.0
 *
 * Writing without being killed: a write beyond the limit of file sizes (RLIMIT_FSIZE) sends SIGXFSZ, which ends the
 * process by default. Between begin and end the signal is blocked in the calling thread, so that the write fails with
 * EFBIG; a signal that was sent is consumed. How the process handles the signal does not change.
 */
#ifndef DT_BASE_SIZE_GUARD_H
#define DT_BASE_SIZE_GUARD_H

#include <signal.h>
#include <stdbool.h>

typedef struct dt__size_guard {
    sigset_t mask;    /* of the thread, to be restored */
    bool was_pending; /* a signal that is not ours */
} dt__size_guard;

dt__size_guard dt__size_guard_begin(void);
void dt__size_guard_end(const dt__size_guard *guard);

#endif
