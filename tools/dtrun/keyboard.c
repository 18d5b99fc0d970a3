/* SPDX-License-Identifier: Apache-2.0
 *
 * The keyboard. It is read only while rank 0 reads what is typed, and only in the foreground: a background job
 * continues without being stopped for it.
 */
#include "dtrun/keyboard.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <unistd.h>

enum { POLL_MS = 250 };

int keyboard_open(struct keyboard *keyboard) {
    int ends[2];
    keyboard->to_rank = -1;
    keyboard->n = 0;
    if (!isatty(STDIN_FILENO) || pipe2(ends, O_CLOEXEC))
        return STDIN_FILENO;
    fcntl(ends[1], F_SETFL, O_NONBLOCK);
    keyboard->to_rank = ends[1];
    return ends[0];
}

void keyboard_close(struct keyboard *keyboard) {
    if (keyboard->to_rank >= 0)
        close(keyboard->to_rank);
    keyboard->to_rank = -1;
}

static bool is_in_foreground(void) { return tcgetpgrp(STDIN_FILENO) == getpgrp(); }

/* The pipe is always polled: this shows when rank 0 has closed its end. */
int keyboard_wait_for(const struct keyboard *keyboard, struct pollfd *polls) {
    bool is_open = keyboard->to_rank >= 0, may_read = is_open && keyboard->n == 0 && is_in_foreground();
    polls[0] = (struct pollfd){.fd = may_read ? STDIN_FILENO : -1, .events = POLLIN};
    polls[1] = (struct pollfd){.fd = keyboard->to_rank, .events = keyboard->n ? POLLOUT : 0};
    return is_open && !may_read && keyboard->n == 0 ? POLL_MS : -1;
}

static void read_keys(struct keyboard *keyboard) {
    ssize_t n = read(STDIN_FILENO, keyboard->bytes, sizeof keyboard->bytes);
    keyboard->at = 0;
    keyboard->n = n > 0 ? (size_t)n : 0;
    bool try_again = n < 0 && (errno == EINTR || errno == EAGAIN || (errno == EIO && !is_in_foreground()));
    if (n <= 0 && !try_again)
        keyboard_close(keyboard);
}

static void pass_on(struct keyboard *keyboard) {
    ssize_t n = write(keyboard->to_rank, keyboard->bytes + keyboard->at, keyboard->n);
    if (n < 0 && errno != EAGAIN && errno != EINTR)
        keyboard_close(keyboard);
    if (n > 0) {
        keyboard->at += (size_t)n;
        keyboard->n -= (size_t)n;
    }
}

void keyboard_advance(struct keyboard *keyboard, const struct pollfd *polls) {
    if (polls[1].revents & POLLERR)
        keyboard_close(keyboard);
    else if (polls[1].revents)
        pass_on(keyboard);
    else if (polls[0].revents)
        read_keys(keyboard);
}
