/* SPDX-License-Identifier: Apache-2.0
 *
 * How ranks ended, in words and as an exit code.
 */
#ifndef DTRUN_ENDING_H
#define DTRUN_ENDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rank_end {
    bool has_ended;
    bool by_us; /* dtrun had sent it a signal to end, and it ended with that signal */
    int status; /* of waitpid */
};

/* The exit code, or 128 + n for signal n. */
int ending_code(int wait_status);

/* "ranks 0-1 ended with exit code 1; dtrun ended rank 3": the ranks other than `first` that failed. False
 * if there are none. */
bool ending_summarize(const struct rank_end *ends, int64_t n_ranks, int64_t first, char *text, size_t capacity);

#endif
