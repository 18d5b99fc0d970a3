/* SPDX-License-Identifier: Apache-2.0
 *
 * One place that output goes to: dtrun's standard output or standard error, or both where they are the same file. A
 * sink takes bytes into a bounded buffer and writes them when the file is ready, without ever blocking dtrun.
 */
#ifndef DTRUN_SINK_H
#define DTRUN_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stream;

struct sink {
    int fd;
    bool owns_fd, is_socket, is_terminal;
    size_t chunk_bytes; /* max of one write */
    int error;          /* errno of the write that failed; from then on everything is thrown away */
    char *bytes;        /* [at, at + n) is not yet written */
    size_t at, n;
    const struct stream *open_line; /* whose unfinished line was the last thing to come in, or NULL */
    int64_t held_until_ns;          /* until then only that stream may go on */
};

/* False if memory is out. */
bool sink_open(struct sink *sink, int fd);
void sink_close(struct sink *sink);

/* Bytes that still fit. */
size_t sink_capacity(const struct sink *sink);
/* Takes bytes that fit. */
void sink_add(struct sink *sink, const char *bytes, size_t n);
/* Whether there is something to write. */
bool sink_is_waiting(const struct sink *sink);
/* Writes what can be written at once; called when poll reports that the file is ready. */
void sink_write(struct sink *sink);

#endif
