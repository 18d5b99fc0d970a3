/* SPDX-License-Identifier: Apache-2.0
 *
 * Blocking and consuming SIGXFSZ. The kernel sends it to the thread that writes, so the other threads of the process
 * are not involved.
 */
#include "base/size_guard.h"

#include <time.h>

static sigset_t size_signal(void) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGXFSZ);
    return set;
}

static bool is_pending(void) {
    sigset_t pending;
    return sigpending(&pending) == 0 && sigismember(&pending, SIGXFSZ) == 1;
}

dt__size_guard dt__size_guard_begin(void) {
    dt__size_guard guard = {.was_pending = is_pending()};
    sigset_t set = size_signal();
    (void)pthread_sigmask(SIG_BLOCK, &set, &guard.mask);
    return guard;
}

void dt__size_guard_end(const dt__size_guard *guard) {
    sigset_t set = size_signal();
    const struct timespec now = {0, 0};
    if (!guard->was_pending && is_pending())
        (void)sigtimedwait(&set, NULL, &now);
    (void)pthread_sigmask(SIG_SETMASK, &guard->mask, NULL);
}
