/* SPDX-License-Identifier: Apache-2.0
 *
 * `dtensor query`: reads requests line by line, answers each with one line and flushes it. Nothing that a line holds
 * ends the process; only the end of input does, or an output that cannot be written.
 */
#include "args.h"
#include "query_answer.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { FIRST_ROOM = 64 << 10, MAX_LINE_BYTES = 64 << 20, KEPT_ANSWER_BYTES = 1 << 20 };

/* Input cut into lines. A line longer than MAX_LINE_BYTES is skipped and given as `too_long`. */
typedef struct lines {
    dt_ctx *ctx;
    int file;
    char *chars;
    size_t room, begin, end; /* unread input stands at begin .. end */
    bool finished;
} lines;

typedef struct line {
    const char *chars; /* valid until the next line is read */
    size_t n;
    bool too_long;
} line;

/* Moves the unread input to the front and makes room behind it; false when the line has become too long. */
static bool make_room(lines *in) {
    memmove(in->chars, in->chars + in->begin, in->end - in->begin);
    in->end -= in->begin;
    in->begin = 0;
    if (in->end < in->room)
        return true;
    if (in->room >= MAX_LINE_BYTES)
        return false;
    char *chars = dt__resize(in->ctx, in->chars, in->room, in->room * 2);
    if (!chars)
        return false;
    in->chars = chars;
    in->room *= 2;
    return true;
}

static dt_status read_more(lines *in) {
    ssize_t n;
    do
        n = read(in->file, in->chars + in->end, in->room - in->end);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return dt__fail_local(in->ctx, DT_ERR_SYSTEM, "standard input: %s", strerror(errno));
    in->finished = n == 0;
    in->end += (size_t)n;
    return DT_OK;
}

/* The next line; DT_IN_PROGRESS at the end of input. The last line may lack its newline. */
static dt_status next_line(lines *in, line *out) {
    *out = (line){0};
    for (size_t seen = 0;;) {
        const char *newline = memchr(in->chars + in->begin + seen, '\n', in->end - in->begin - seen);
        if (newline || (in->finished && in->begin < in->end)) {
            out->chars = in->chars + in->begin;
            out->n = newline ? (size_t)(newline - out->chars) : in->end - in->begin;
            in->begin += out->n + (newline != NULL);
            return DT_OK;
        }
        if (in->finished)
            return out->too_long ? DT_OK : DT_IN_PROGRESS;
        seen = in->end - in->begin;
        if (!make_room(in)) {
            out->too_long = true;
            in->begin = in->end = seen = 0;
        }
        DT__TRY(read_more(in));
    }
}

static dt_status write_line(dt__text *answer) {
    dt__text_add_chars(answer, "\n", 1);
    DT__TRY(dt__text_status(answer));
    if (fwrite(dt__text_chars(answer), 1, answer->n_chars, stdout) != answer->n_chars || fflush(stdout) == EOF)
        return dt__fail_local(answer->ctx, DT_ERR_SYSTEM, "standard output: %s", strerror(errno));
    if (answer->room > KEPT_ANSWER_BYTES)
        dt__text_free(answer);
    return DT_OK;
}

static dt_status serve(lines *in, dt__text *answer) {
    for (line asked;;) {
        dt_status status = next_line(in, &asked);
        if (status != DT_OK)
            return status == DT_IN_PROGRESS ? DT_OK : status;
        if (asked.too_long)
            query_answer_error(answer, DT_ERR_JSON, "a request may have up to 67108864 bytes");
        else
            query_answer(asked.chars, asked.n, answer);
        DT__TRY(write_line(answer));
    }
}

static int run(const command *self, int argc, char **argv) {
    args given;
    dt_status parsed = args_parse(self, argc, argv, 0, &given);
    if (parsed != DT_OK)
        return parsed == DT_IN_PROGRESS ? EXIT_OK : EXIT_USAGE;
    dt_ctx *ctx = dt__ctx_new(NULL);
    lines in = {.ctx = ctx, .file = STDIN_FILENO, .room = FIRST_ROOM};
    in.chars = ctx ? dt__alloc(ctx, in.room) : NULL;
    if (!in.chars) {
        fprintf(stderr, "dtensor query: memory: there is none to start with\n");
        dt__ctx_free(ctx);
        return EXIT_FAILED;
    }
    dt__text answer = dt__text_new(ctx);
    int code = serve(&in, &answer) == DT_OK ? EXIT_OK : args_failed(self, ctx);
    query_run_end();
    dt__text_free(&answer);
    dt__free(ctx, in.chars, in.room);
    dt__ctx_free(ctx);
    return code;
}

const command query_command = {
    .name = "query",
    .summary = "answer questions given as JSON Lines",
    .synopsis = "< REQUESTS > ANSWERS",
    .about =
        "Reads one JSON object per line from standard input and answers each, in order, with one line on\n"
        "standard output. The field \"q\" says what is asked: \"layout\" (algebra of shape and stride), \"mesh\"\n"
        "(slices, groups and coordinates of a mesh), \"shard\" (what each rank holds), \"redistribute\" (how a\n"
        "tensor gets from one list of placements to another), \"rules\" and \"propagate\" (what a call of an op\n"
        "may do and does), \"run\" (its values, on ranks of this process). A request that cannot be served is\n"
        "answered by\n"
        "{\"error\":{\"code\":…,\"message\":…}}; the next one is served as usual.",
    .options = (const command_option[]){{0}},
    .examples =
        "  echo '{\"q\":\"shard\",\"mesh\":[2,2],\"shape\":[10,5],\"placements\":\"S(0),S(0)\"}' | dtensor query\n"
        "  echo '{\"q\":\"layout\",\"do\":\"coalesce\",\"a\":{\"shape\":[2,[1,6]],\"stride\":[6,[6,1]]}}' | dtensor "
        "query",
    .run = run,
};
