/* SPDX-License-Identifier: Apache-2.0
 *
 * Splitting a stream of bytes into complete lines, so that the lines of several streams can share one sink without
 * being mixed. A line that is not finished waits in its stream.
 */
#ifndef DTRUN_LINES_H
#define DTRUN_LINES_H

#include "dtrun/sink.h"

enum {
    LINE_BYTES = 1 << 20,  /* longer lines are not kept until they are whole */
    CHUNK_BYTES = 1 << 16, /* max that a stream is fed at once */
    TAG_BYTES = 8,         /* "[4095] " */
    FEED_CAPACITY = LINE_BYTES + CHUNK_BYTES * (1 + TAG_BYTES) + 64, /* max that one feeding adds to the sink */
};

#define FOR_EVER INT64_MAX

/* One output of one rank. */
struct stream {
    int fd; /* -1 after its end */
    struct sink *sink;
    char tag[TAG_BYTES + 1]; /* before every line; may be empty */
    int64_t patience_ns;     /* an unfinished line waits for its end as long as this; 0: bytes pass as they are */
    char *part;              /* the unfinished line */
    size_t n_part, part_capacity;
    int64_t last_ns; /* when something came in */
};

/* Takes n <= CHUNK_BYTES bytes; the sink has FEED_CAPACITY. */
void lines_feed(struct stream *stream, const char *bytes, size_t n, int64_t now_ns);
/* When the unfinished line will have waited long enough; FOR_EVER if it need not be shown before its end. */
int64_t lines_due_ns(const struct stream *stream);
/* Passes on the unfinished line as it is. Its end, if it comes, follows it; if another stream's line comes first, a
 * newline is put between. */
void lines_show(struct stream *stream);
/* The stream has ended: passes on the rest, and frees memory. */
void lines_end(struct stream *stream);

#endif
