/* SPDX-License-Identifier: Apache-2.0
 *
 * Writing without blocking. Standard output is often shared with other processes, so it must not be made non-blocking
 * itself; a pipe or terminal is opened once more, which makes a descriptor with flags of its own. If that is refused,
 * writes are small enough that a file which poll reports as ready accepts them at once.
 */
#include "dtrun/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    BUFFER_BYTES = 4 << 20,
    TERMINAL_BYTES = 256, /* that a terminal takes at once when it is ready */
};

static void avoid_blocking(struct sink *sink, mode_t mode) {
    char path[64];
    if (!S_ISFIFO(mode) && !sink->is_terminal)
        return;
    snprintf(path, sizeof path, "/proc/self/fd/%d", sink->fd);
    int again = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (again < 0) {
        sink->chunk_bytes = S_ISFIFO(mode) ? PIPE_BUF : TERMINAL_BYTES;
        return;
    }
    sink->fd = again;
    sink->owns_fd = true;
}

bool sink_open(struct sink *sink, int fd) {
    struct stat info;
    *sink = (struct sink){.fd = fd, .chunk_bytes = BUFFER_BYTES, .bytes = malloc(BUFFER_BYTES)};
    if (!sink->bytes)
        return false;
    if (fstat(fd, &info))
        return true;
    sink->is_socket = S_ISSOCK(info.st_mode);
    sink->is_terminal = isatty(fd);
    avoid_blocking(sink, info.st_mode);
    return true;
}

void sink_close(struct sink *sink) {
    free(sink->bytes);
    sink->bytes = NULL;
    if (sink->owns_fd)
        close(sink->fd);
}

size_t sink_capacity(const struct sink *sink) { return BUFFER_BYTES - sink->n; }

void sink_add(struct sink *sink, const char *bytes, size_t n) {
    if (sink->error || n > sink_capacity(sink))
        return;
    if (n > BUFFER_BYTES - sink->at - sink->n) {
        memmove(sink->bytes, sink->bytes + sink->at, sink->n);
        sink->at = 0;
    }
    memcpy(sink->bytes + sink->at + sink->n, bytes, n);
    sink->n += n;
}

bool sink_is_waiting(const struct sink *sink) { return sink->n > 0; }

void sink_write(struct sink *sink) {
    const char *bytes = sink->bytes + sink->at;
    size_t n = sink->n < sink->chunk_bytes ? sink->n : sink->chunk_bytes;
    ssize_t written = sink->is_socket ? send(sink->fd, bytes, n, MSG_DONTWAIT) : write(sink->fd, bytes, n);
    if (written < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (written < 0) {
        sink->error = errno;
        sink->n = 0;
        return;
    }
    sink->n -= (size_t)written;
    sink->at = sink->n ? sink->at + (size_t)written : 0;
}
