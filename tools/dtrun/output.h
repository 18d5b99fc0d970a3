/* SPDX-License-Identifier: Apache-2.0
 *
 * What the ranks write, on its way to dtrun's own standard output and standard error, and dtrun's own messages.
 */
#ifndef DTRUN_OUTPUT_H
#define DTRUN_OUTPUT_H

#include "dtrun/lines.h"
#include "launch/launch.h"

#include <poll.h>
#include <stdarg.h>

enum { OUTPUT_POLLS = 4 };

struct output {
    struct sink sinks[2]; /* of standard output and standard error; the second is unused where both are one file */
    int n_sinks;
    int sources[2];         /* per sink: epoll descriptor of the streams that feed it */
    struct stream *streams; /* rank r has 2r (standard output) and 2r + 1 (standard error) */
    int64_t n_ranks;
    struct stream own;     /* dtrun's messages */
    struct stream reports; /* what ranks leave to dtrun to print */
    bool tag;
    char *chunk;
};

/* False, with errno set, when the system refuses. output_close is right in both cases. */
bool output_open(struct output *output, int64_t n_ranks, bool tag);
void output_close(struct output *output);

/* Connects a rank's stream, 0 standard output or 1 standard error, to the read end of its pipe. False with errno. */
bool output_connect(struct output *output, int64_t rank, int which, int fd);

/* Fills in what to wait for, OUTPUT_POLLS entries, and makes *wake_ns earlier where something is due then. */
void output_wait_for(struct output *output, struct pollfd *polls, int64_t now_ns, int64_t *wake_ns);
/* Moves bytes along after the wait. */
void output_advance(struct output *output, const struct pollfd *polls, int64_t now_ns);
/* Reads what a rank has written until now, so that it precedes the next message. */
void output_catch_up(struct output *output, int64_t rank, int64_t now_ns);
/* No process writes any more: reads what is left in the pipes. True when all has been read and written, or cannot be.
 */
bool output_finish(struct output *output, int64_t now_ns);

/* errno of the first write that failed, or 0. */
int output_error(const struct output *output);
/* Whether a report can be taken without exceeding the memory for output. */
bool output_has_capacity(const struct output *output);
/* A report on standard error, after what its ranks have written until now. */
void output_report(struct output *output, const dt__report *report, int64_t now_ns);
/* "dtrun: " and a line, on standard error. */
void output_say(struct output *output, const char *format, ...) DT_PRINTF(2);

#endif
