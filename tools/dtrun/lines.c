/* SPDX-License-Identifier: Apache-2.0
 *
 * Whole lines. Bytes up to the last newline of a chunk go to the sink in one piece; the rest is kept. A line beyond
 * LINE_BYTES, or for which there is no memory, goes out in parts, and the sink is then held for its stream until the
 * line ends or the stream pauses for HOLD_NS. Every line gets its newline, except where a stream has no patience: its
 * bytes pass as they are.
 */
#include "dtrun/lines.h"

#include <stdlib.h>
#include <string.h>

#define HOLD_NS INT64_C(1000000000)

static void add_tag(struct stream *stream) { sink_add(stream->sink, stream->tag, strlen(stream->tag)); }

/* Ends the unfinished line in the sink, if any. */
static void close_line(struct sink *sink) {
    if (sink->open_line)
        sink_add(sink, "\n", 1);
    sink->open_line = NULL;
    sink->held_until_ns = 0;
}

/* Puts bytes into the sink: each line gets its tag, and a line that stays open is remembered. */
static void pass_on(struct stream *stream, const char *bytes, size_t n) {
    struct sink *sink = stream->sink;
    if (n == 0)
        return;
    if (sink->open_line != stream)
        close_line(sink);
    bool at_start = sink->open_line != stream;
    sink->open_line = bytes[n - 1] == '\n' ? NULL : stream;
    if (!stream->tag[0]) {
        sink_add(sink, bytes, n);
        return;
    }
    while (n > 0) {
        const char *newline = memchr(bytes, '\n', n);
        size_t line_bytes = newline ? (size_t)(newline - bytes) + 1 : n;
        if (at_start)
            add_tag(stream);
        sink_add(sink, bytes, line_bytes);
        bytes += line_bytes;
        n -= line_bytes;
        at_start = true;
    }
}

void lines_show(struct stream *stream) {
    pass_on(stream, stream->part, stream->n_part);
    stream->n_part = 0;
}

/* False if the line would get too long or memory is out. */
static bool keep(struct stream *stream, const char *bytes, size_t n) {
    size_t needed = stream->n_part + n;
    if (needed > LINE_BYTES)
        return false;
    if (needed > stream->part_capacity) {
        size_t capacity = stream->part_capacity ? stream->part_capacity : 256;
        while (capacity < needed)
            capacity *= 2;
        char *part = realloc(stream->part, capacity);
        if (!part)
            return false;
        stream->part = part;
        stream->part_capacity = capacity;
    }
    memcpy(stream->part + stream->n_part, bytes, n);
    stream->n_part = needed;
    return true;
}

/* Takes the beginning of a line that is not finished, or more of one. */
static void feed_part(struct stream *stream, const char *bytes, size_t n, int64_t now_ns) {
    struct sink *sink = stream->sink;
    bool is_out = sink->open_line == stream;
    if (!is_out && stream->patience_ns > 0 && keep(stream, bytes, n))
        return;
    lines_show(stream);
    pass_on(stream, bytes, n);
    bool too_long = !is_out && stream->patience_ns > 0;
    if (too_long || sink->held_until_ns)
        sink->held_until_ns = now_ns + HOLD_NS;
}

void lines_feed(struct stream *stream, const char *bytes, size_t n, int64_t now_ns) {
    const char *newline = memrchr(bytes, '\n', n);
    size_t n_whole = newline ? (size_t)(newline - bytes) + 1 : 0;
    stream->last_ns = now_ns;
    if (n_whole) {
        lines_show(stream);
        pass_on(stream, bytes, n_whole);
        stream->sink->held_until_ns = 0;
    }
    if (n > n_whole)
        feed_part(stream, bytes + n_whole, n - n_whole, now_ns);
}

int64_t lines_due_ns(const struct stream *stream) {
    if (stream->n_part == 0 || stream->patience_ns == FOR_EVER)
        return FOR_EVER;
    return stream->last_ns + stream->patience_ns;
}

void lines_end(struct stream *stream) {
    lines_show(stream);
    if (stream->sink->open_line == stream && stream->patience_ns > 0)
        close_line(stream->sink);
    free(stream->part);
    stream->part = NULL;
    stream->part_capacity = 0;
}
