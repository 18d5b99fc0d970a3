/* SPDX-License-Identifier: Apache-2.0
 *
 * Lines of several streams in one sink: never mixed, never changed except as documented.
 */
#include "support/check.h"

#include "dtrun/lines.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SECOND INT64_C(1000000000)

struct fixture {
    struct sink sink;
    struct stream streams[3];
};

static void set_up(struct fixture *f, const char *tag, int64_t patience_ns) {
    assert_true(sink_open(&f->sink, STDOUT_FILENO));
    for (int i = 0; i < 3; i++) {
        f->streams[i] = (struct stream){.fd = -1, .sink = &f->sink, .patience_ns = patience_ns};
        snprintf(f->streams[i].tag, sizeof f->streams[i].tag, "%s", tag);
        if (tag[0])
            f->streams[i].tag[1] = (char)('0' + i);
    }
}

static void tear_down(struct fixture *f) {
    for (int i = 0; i < 3; i++)
        lines_end(&f->streams[i]);
    sink_close(&f->sink);
}

static void feed(struct fixture *f, int i, const char *text) { lines_feed(&f->streams[i], text, strlen(text), 0); }

static void assert_sink(struct fixture *f, const char *expected) {
    char *got = strndup(f->sink.bytes + f->sink.at, f->sink.n);
    assert_string_equal(got, expected);
    free(got);
}

static void lines__wait_until_they_are_complete(void **state) {
    (void)state;
    struct fixture f;
    set_up(&f, "", FOR_EVER);
    feed(&f, 0, "a");
    feed(&f, 1, "x\ny");
    feed(&f, 0, "b\nc\nd");
    feed(&f, 1, "z\n");
    assert_sink(&f, "x\nab\nc\nyz\n");
    lines_end(&f.streams[0]);
    assert_sink(&f, "x\nab\nc\nyz\nd\n");
    tear_down(&f);
}

static void lines__have_tags(void **state) {
    (void)state;
    struct fixture f;
    set_up(&f, "[?] ", FOR_EVER);
    feed(&f, 0, "a\n\nb");
    feed(&f, 2, "x\n");
    feed(&f, 0, "\n");
    assert_sink(&f, "[0] a\n[0] \n[2] x\n[0] b\n");
    tear_down(&f);
}

static void lines__of_a_stream_without_patience_are_not_buffered(void **state) {
    (void)state;
    struct fixture f;
    set_up(&f, "", 0);
    feed(&f, 0, "a");
    assert_sink(&f, "a");
    feed(&f, 0, "b\nc");
    lines_end(&f.streams[0]);
    assert_sink(&f, "ab\nc");
    tear_down(&f);
}

static void lines__shown_early_are_continued_or_ended_before_others(void **state) {
    (void)state;
    struct fixture f;
    set_up(&f, "[?] ", FOR_EVER);
    f.streams[0].patience_ns = SECOND / 10;
    assert_true(lines_due_ns(&f.streams[0]) == FOR_EVER);
    lines_feed(&f.streams[0], "name", 4, 5 * SECOND);
    assert_int_equal(lines_due_ns(&f.streams[0]), 5 * SECOND + SECOND / 10);
    lines_show(&f.streams[0]);
    feed(&f, 0, "? ");
    assert_sink(&f, "[0] name? ");
    assert_int_equal(f.sink.held_until_ns, 0);
    feed(&f, 1, "x\n");
    assert_sink(&f, "[0] name? \n[1] x\n");
    feed(&f, 0, "more\n");
    assert_sink(&f, "[0] name? \n[1] x\n[0] more\n");
    tear_down(&f);
}

/* A line of LINE_BYTES is buffered; a longer one is written in pieces and reserves the sink for its stream. */
static void lines__that_are_too_long_reserve_the_sink(void **state) {
    (void)state;
    struct fixture f;
    set_up(&f, "", FOR_EVER);
    char *chunk = malloc(CHUNK_BYTES);
    assert_non_null(chunk);
    memset(chunk, 'x', CHUNK_BYTES);
    for (int i = 0; i < LINE_BYTES / CHUNK_BYTES; i++)
        lines_feed(&f.streams[0], chunk, CHUNK_BYTES, SECOND);
    assert_int_equal(f.sink.n, 0);
    lines_feed(&f.streams[0], "y", 1, 2 * SECOND);
    assert_int_equal(f.sink.n, LINE_BYTES + 1);
    assert_int_equal(f.sink.held_until_ns, 3 * SECOND);
    lines_feed(&f.streams[0], "y", 1, 3 * SECOND);
    assert_int_equal(f.sink.n, LINE_BYTES + 2);
    assert_int_equal(f.sink.held_until_ns, 4 * SECOND);
    lines_feed(&f.streams[0], "z\n", 2, 4 * SECOND);
    assert_int_equal(f.sink.n, LINE_BYTES + 4);
    assert_int_equal(f.sink.held_until_ns, 0);
    assert_null(f.sink.open_line);
    free(chunk);
    tear_down(&f);
}

/* For pieces of random lengths, the bytes of each stream are in order, and every line of the sink is of one stream. */
static void lines__are_complete_for_random_pieces(void **state) {
    (void)state;
    uint64_t random = test_seed(7);
    for (int round = 0; round < 200; round++) {
        struct fixture f;
        char text[3][400], line[64];
        size_t at[3] = {0}, n[3] = {0};
        set_up(&f, "", FOR_EVER);
        for (int i = 0; i < 3; i++) {
            for (int k = 0; k < 10; k++)
                n[i] += (size_t)sprintf(text[i] + n[i], "%d:%d:%.*s\n", i, k, (int)test_below(&random, 20),
                                        "aaaaaaaaaaaaaaaaaaaa");
        }
        while (at[0] < n[0] || at[1] < n[1] || at[2] < n[2]) {
            int i = (int)test_below(&random, 3);
            size_t piece = (size_t)test_below(&random, 30), left = n[i] - at[i];
            piece = piece < left ? piece : left;
            if (piece)
                lines_feed(&f.streams[i], text[i] + at[i], piece, 0);
            at[i] += piece;
        }
        int next[3] = {0};
        size_t n_matched[3] = {0};
        for (size_t from = 0; from < f.sink.n; from += strlen(line)) {
            size_t length =
                (size_t)((char *)memchr(f.sink.bytes + from, '\n', f.sink.n - from) - f.sink.bytes) + 1 - from;
            memcpy(line, f.sink.bytes + from, length);
            line[length] = 0;
            int i = line[0] - '0';
            assert_in_range(i, 0, 2);
            assert_int_equal(line[2] - '0', next[i]++);
            assert_memory_equal(line, text[i] + n_matched[i], length);
            n_matched[i] += length;
        }
        for (int i = 0; i < 3; i++)
            assert_int_equal(n_matched[i], n[i]);
        tear_down(&f);
    }
}

static void sink__writes_in_pieces_and_discards_after_an_error(void **state) {
    (void)state;
    struct sink sink;
    int ends[2];
    char got[8];
    assert_int_equal(pipe(ends), 0);
    assert_true(sink_open(&sink, ends[1]));
    size_t capacity = sink_capacity(&sink);
    char *bytes = malloc(capacity);
    assert_non_null(bytes);
    memset(bytes, 'x', capacity);
    memcpy(bytes, "12345678", 8);
    sink_add(&sink, bytes, capacity);
    assert_int_equal(sink_capacity(&sink), 0);
    sink_write(&sink); /* the pipe is full, and does not block */
    sink_write(&sink);
    assert_true(sink_is_waiting(&sink));
    size_t written = sink_capacity(&sink);
    assert_true(written > 0);
    assert_int_equal(read(ends[0], got, 8), 8);
    assert_memory_equal(got, "12345678", 8);
    sink_add(&sink, bytes, written); /* moves the rest to the front */
    assert_int_equal(sink_capacity(&sink), 0);
    close(ends[0]);
    sink_write(&sink);
    assert_int_not_equal(sink.error, 0);
    assert_false(sink_is_waiting(&sink));
    sink_add(&sink, "abc", 3);
    assert_false(sink_is_waiting(&sink));
    sink_close(&sink);
    close(ends[1]);
    free(bytes);
}

int main(void) {
    signal(SIGPIPE, SIG_IGN);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines__wait_until_they_are_complete),
        cmocka_unit_test(lines__have_tags),
        cmocka_unit_test(lines__of_a_stream_without_patience_are_not_buffered),
        cmocka_unit_test(lines__shown_early_are_continued_or_ended_before_others),
        cmocka_unit_test(lines__that_are_too_long_reserve_the_sink),
        cmocka_unit_test(lines__are_complete_for_random_pieces),
        cmocka_unit_test(sink__writes_in_pieces_and_discards_after_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
