/* SPDX-License-Identifier: Apache-2.0
 *
 * From pipes to sinks. A sink's streams are read only while it has capacity, so a slow reader of dtrun's output slows
 * the ranks down and costs no memory. The streams of a sink hang on one epoll descriptor, which dtrun polls like a
 * file: a wait costs the same for one rank and for thousands.
 */
#include "dtrun/output.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

#define TERMINAL_PATIENCE_NS INT64_C(100000000)

enum {
    MESSAGE_BYTES = 8192,
    MESSAGE_CAPACITY = 16 * MESSAGE_BYTES, /* kept free for dtrun's messages */
    N_EVENTS = 16,
};

static bool are_same_file(int a, int b) {
    struct stat left, right;
    return fstat(a, &left) == 0 && fstat(b, &right) == 0 && left.st_dev == right.st_dev &&
           left.st_ino == right.st_ino;
}

/* Unfinished lines of rank 0 are shown on a terminal: a prompt or a progress bar would be missed otherwise. */
static int64_t patience_of(const struct output *output, int64_t rank, const struct sink *sink, bool tag) {
    if (output->n_ranks == 1 && !tag)
        return 0;
    return rank == 0 && sink->is_terminal ? TERMINAL_PATIENCE_NS : FOR_EVER;
}

static void prepare_streams(struct output *output, bool tag) {
    for (int64_t i = 0; i < 2 * output->n_ranks; i++) {
        struct stream *stream = &output->streams[i];
        stream->fd = -1;
        stream->sink = &output->sinks[i % output->n_sinks];
        stream->patience_ns = patience_of(output, i / 2, stream->sink, tag);
        if (tag)
            snprintf(stream->tag, sizeof stream->tag, "[%d] ", (int)(i / 2));
    }
    output->own = (struct stream){
        .fd = -1, .sink = &output->sinks[output->n_sinks - 1], .tag = "dtrun: ", .patience_ns = FOR_EVER};
    output->reports = (struct stream){.fd = -1, .sink = output->own.sink, .patience_ns = FOR_EVER};
}

bool output_open(struct output *output, int64_t n_ranks, bool tag) {
    *output = (struct output){.n_ranks = n_ranks, .sources = {-1, -1}, .tag = tag};
    output->n_sinks = are_same_file(STDOUT_FILENO, STDERR_FILENO) ? 1 : 2;
    output->streams = calloc((size_t)n_ranks, 2 * sizeof *output->streams);
    output->chunk = malloc(CHUNK_BYTES);
    if (!output->streams || !output->chunk)
        return false;
    for (int i = 0; i < output->n_sinks; i++) {
        output->sources[i] = epoll_create1(EPOLL_CLOEXEC);
        if (output->sources[i] < 0 || !sink_open(&output->sinks[i], i == 0 ? STDOUT_FILENO : STDERR_FILENO))
            return false;
    }
    prepare_streams(output, tag);
    return true;
}

static void end_stream(struct stream *stream) {
    if (stream->fd < 0)
        return;
    close(stream->fd);
    stream->fd = -1;
    lines_end(stream);
}

void output_close(struct output *output) {
    for (int64_t i = 0; output->streams && i < 2 * output->n_ranks; i++)
        end_stream(&output->streams[i]);
    for (int i = 0; i < output->n_sinks; i++) {
        if (output->sources[i] >= 0)
            close(output->sources[i]);
        if (output->sinks[i].bytes)
            sink_close(&output->sinks[i]);
    }
    free(output->streams);
    free(output->chunk);
    *output = (struct output){0};
}

bool output_connect(struct output *output, int64_t rank, int which, int fd) {
    struct stream *stream = &output->streams[2 * rank + which];
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = stream};
    if (epoll_ctl(output->sources[stream->sink - output->sinks], EPOLL_CTL_ADD, fd, &event))
        return false;
    stream->fd = fd;
    return true;
}

static bool has_capacity(const struct sink *sink) { return sink_capacity(sink) >= FEED_CAPACITY + MESSAGE_CAPACITY; }

static bool is_held(const struct sink *sink, int64_t now_ns) {
    return sink->open_line && sink->open_line->fd >= 0 && now_ns < sink->held_until_ns;
}

enum reading { READ_MORE, READ_DRY, READ_OVER };

static enum reading read_stream(struct output *output, struct stream *stream, int64_t now_ns) {
    if (stream->fd < 0)
        return READ_OVER;
    ssize_t n = read(stream->fd, output->chunk, CHUNK_BYTES);
    if (n > 0) {
        lines_feed(stream, output->chunk, (size_t)n, now_ns);
        return READ_MORE;
    }
    if (n < 0 && errno == EINTR)
        return READ_MORE;
    if (n < 0 && errno == EAGAIN)
        return READ_DRY;
    end_stream(stream);
    return READ_OVER;
}

static int64_t earlier(int64_t a, int64_t b) { return a < b ? a : b; }

/* Two entries per sink: where it is fed from, and itself where it has something to write. */
void output_wait_for(struct output *output, struct pollfd *polls, int64_t now_ns, int64_t *wake_ns) {
    for (int i = 0; i < 2; i++) {
        struct sink *sink = &output->sinks[i];
        bool used = i < output->n_sinks, held = used && is_held(sink, now_ns);
        int source = held ? sink->open_line->fd : output->sources[i];
        polls[2 * i] = (struct pollfd){.fd = used && has_capacity(sink) ? source : -1, .events = POLLIN};
        polls[2 * i + 1] = (struct pollfd){.fd = used && sink_is_waiting(sink) ? sink->fd : -1, .events = POLLOUT};
        if (held)
            *wake_ns = earlier(*wake_ns, sink->held_until_ns);
    }
    for (int i = 0; i < 2; i++)
        *wake_ns = earlier(*wake_ns, lines_due_ns(&output->streams[i])); /* only rank 0's can be due */
}

static void read_ready(struct output *output, int i, int64_t now_ns) {
    struct epoll_event events[N_EVENTS];
    struct sink *sink = &output->sinks[i];
    int n = epoll_wait(output->sources[i], events, N_EVENTS, 0);
    for (int at = 0; at < n && has_capacity(sink); at++) {
        struct stream *stream = events[at].data.ptr;
        if (!is_held(sink, now_ns) || sink->open_line == stream)
            read_stream(output, stream, now_ns);
    }
}

void output_advance(struct output *output, const struct pollfd *polls, int64_t now_ns) {
    for (int i = 0; i < output->n_sinks; i++) {
        if (polls[2 * i].revents)
            read_ready(output, i, now_ns);
        if (polls[2 * i + 1].revents)
            sink_write(&output->sinks[i]);
    }
    for (int i = 0; i < 2; i++) {
        if (lines_due_ns(&output->streams[i]) <= now_ns)
            lines_show(&output->streams[i]);
    }
}

void output_catch_up(struct output *output, int64_t rank, int64_t now_ns) {
    for (int i = 0; i < 2; i++) {
        struct stream *stream = &output->streams[2 * rank + i];
        while (has_capacity(stream->sink) && read_stream(output, stream, now_ns) == READ_MORE)
            continue;
    }
}

/* True when nothing is left in the pipe. */
static bool finish_stream(struct output *output, struct stream *stream, int64_t now_ns) {
    enum reading reading = READ_MORE;
    while (has_capacity(stream->sink) && reading == READ_MORE)
        reading = read_stream(output, stream, now_ns);
    if (reading == READ_MORE)
        return false;
    end_stream(stream);
    return true;
}

bool output_finish(struct output *output, int64_t now_ns) {
    bool done = true;
    for (int i = 0; i < output->n_sinks; i++) {
        const struct stream *open_line = output->sinks[i].open_line;
        if (open_line && open_line != &output->own) /* its line goes to its end before others begin */
            done = finish_stream(output, &output->streams[open_line - output->streams], now_ns) && done;
    }
    for (int64_t i = 0; done && i < 2 * output->n_ranks; i++)
        done = finish_stream(output, &output->streams[i], now_ns);
    for (int i = 0; i < output->n_sinks; i++)
        done = done && !sink_is_waiting(&output->sinks[i]);
    return done;
}

int output_error(const struct output *output) {
    return output->sinks[0].error ? output->sinks[0].error : output->sinks[1].error;
}

bool output_has_capacity(const struct output *output) { return has_capacity(output->own.sink); }

void output_report(struct output *output, const dt__report *report, int64_t now_ns) {
    struct stream *stream = &output->reports;
    char lines[sizeof report->text + 1];
    for (int64_t i = 0; i < report->n_ranks; i++)
        output_catch_up(output, report->ranks[i], now_ns);
    if (output->tag)
        snprintf(stream->tag, sizeof stream->tag, "[%d] ", (int)report->ranks[0]);
    int n = snprintf(lines, sizeof lines, "%s\n", report->text);
    lines_feed(stream, lines, (size_t)n, now_ns);
}

void output_say(struct output *output, const char *format, ...) {
    char line[MESSAGE_BYTES];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(line, sizeof line - 1, format, args);
    va_end(args);
    if (n < 0)
        return;
    size_t n_chars = (size_t)n < sizeof line - 1 ? (size_t)n : sizeof line - 2;
    line[n_chars++] = '\n';
    lines_feed(&output->own, line, n_chars, 0);
}
