/* SPDX-License-Identifier: Apache-2.0
 *
 * Standard input, where it is a terminal. Only the terminal's foreground process group may read from one, and ranks
 * are not in it; so the front reads the keyboard and passes it on through a pipe. Any other standard input is passed
 * to rank 0 as it is.
 */
#ifndef DTRUN_KEYBOARD_H
#define DTRUN_KEYBOARD_H

#include <poll.h>
#include <stddef.h>

enum { KEYBOARD_POLLS = 2 };

struct keyboard {
    int to_rank; /* write end of the pipe; -1: nothing to do (any more) */
    char bytes[4096];
    size_t at, n; /* [at, at + n) is read and not yet passed on */
};

/* Returns the descriptor that becomes the standard input of rank 0: one end of a pipe, or standard input itself. */
int keyboard_open(struct keyboard *keyboard);
void keyboard_close(struct keyboard *keyboard);

/* Fills in what to wait for, KEYBOARD_POLLS entries; returns milliseconds after which to poll again, or -1. */
int keyboard_wait_for(const struct keyboard *keyboard, struct pollfd *polls);
void keyboard_advance(struct keyboard *keyboard, const struct pollfd *polls);

#endif
