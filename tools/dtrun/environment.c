/* SPDX-License-Identifier: Apache-2.0
 *
 * Variables of the ranks. The library reads those that begin with DTENSOR_; RANK and the like are for the program;
 * the rest set the number of threads of numerical libraries, unless the user has set them.
 */
#include "dtrun/environment.h"

#include "base/quantity.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool set_number(const char *name, int64_t number, bool overwrite) {
    char text[24];
    snprintf(text, sizeof text, "%" PRId64, number);
    return setenv(name, text, overwrite) == 0;
}

void environment_print_timeout(int64_t ms, char *text, size_t capacity) {
    if (ms == DT__DURATION_OFF) {
        snprintf(text, capacity, "-1");
        return;
    }
    snprintf(text, capacity, "%" PRId64 ".%03d", ms / 1000, (int)(ms % 1000));
    size_t n = strlen(text);
    while (text[n - 1] == '0')
        n--;
    text[text[n - 1] == '.' ? n - 1 : n] = 0;
}

bool environment_set_common(const struct options *options) {
    static const char *const thread_counts[] = {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS",
                                                "BLIS_NUM_THREADS"};
    bool ok = set_number("WORLD_SIZE", options->n_ranks, true) &&
              set_number("LOCAL_WORLD_SIZE", options->n_ranks, true) &&
              set_number("DTENSOR_RESTART", options->n_done_restarts, true) &&
              set_number("DTENSOR_THREADS", options->n_threads, true);
    for (size_t i = 0; i < sizeof thread_counts / sizeof thread_counts[0]; i++)
        ok = ok && set_number(thread_counts[i], options->n_threads, false);
    if (options->timeout_ms) {
        char text[32];
        environment_print_timeout(options->timeout_ms, text, sizeof text);
        ok = ok && setenv("DTENSOR_TIMEOUT", text, true) == 0;
    }
    return ok;
}

bool environment_set_rank(const dt__ticket *ticket) {
    char text[128];
    dt__ticket_print(ticket, text, sizeof text);
    return setenv("DTENSOR_LAUNCH", text, true) == 0 && set_number("RANK", ticket->rank, true) &&
           set_number("LOCAL_RANK", ticket->rank, true);
}
