/* SPDX-License-Identifier: Apache-2.0
 *
 * `dtensor query`: reads requests line by line, answers each with one line and flushes it. No line can end the process;
 * only the end of input does, or an output that cannot be written. A request is parsed, its kind is found in the table,
 * and a failure becomes an error object.
 */
#include "arguments.h"
#include "json.h"
#include "query.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { FIRST_CAPACITY = 64 << 10, MAX_LINE_BYTES = 64 << 20, KEPT_ANSWER_BYTES = 1 << 20 };

/* Input cut into lines. A line longer than MAX_LINE_BYTES is skipped and returned as `too_long`. */
typedef struct lines {
    dt_ctx *ctx;
    int file;
    char *chars;
    size_t capacity, begin, end; /* unread input is at begin .. end */
    bool finished;
} lines;

typedef struct input_line {
    const char *chars; /* valid until the next line is read */
    size_t n;
    bool too_long;
} input_line;

/* Moves the unread input to the front and makes space after it; false when the line has become too long. */
static bool reserve(lines *in) {
    memmove(in->chars, in->chars + in->begin, in->end - in->begin);
    in->end -= in->begin;
    in->begin = 0;
    if (in->end < in->capacity)
        return true;
    if (in->capacity >= MAX_LINE_BYTES)
        return false;
    char *chars = dt__resize(in->ctx, in->chars, in->capacity, in->capacity * 2);
    if (!chars)
        return false;
    in->chars = chars;
    in->capacity *= 2;
    return true;
}

static dt_status read_more(lines *in) {
    ssize_t n;
    do
        n = read(in->file, in->chars + in->end, in->capacity - in->end);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return dt__fail_local(in->ctx, DT_ERR_SYSTEM, "standard input: %s", strerror(errno));
    in->finished = n == 0;
    in->end += (size_t)n;
    return DT_OK;
}

/* The next line; DT_IN_PROGRESS at the end of input. The last line may lack its newline. */
static dt_status next_line(lines *in, input_line *out) {
    *out = (input_line){0};
    for (size_t scanned = 0;;) {
        const char *newline = memchr(in->chars + in->begin + scanned, '\n', in->end - in->begin - scanned);
        if (newline || (in->finished && in->begin < in->end)) {
            out->chars = in->chars + in->begin;
            out->n = newline ? (size_t)(newline - out->chars) : in->end - in->begin;
            in->begin += out->n + (newline != NULL);
            return DT_OK;
        }
        if (in->finished)
            return out->too_long ? DT_OK : DT_IN_PROGRESS;
        scanned = in->end - in->begin;
        if (!reserve(in)) {
            out->too_long = true;
            in->begin = in->end = scanned = 0;
        }
        DT__TRY(read_more(in));
    }
}

static dt_status write_line(dt__text *answer) {
    dt__text_add_chars(answer, "\n", 1);
    DT__TRY(dt__text_status(answer));
    if (fwrite(dt__text_chars(answer), 1, answer->n_chars, stdout) != answer->n_chars || fflush(stdout) == EOF)
        return dt__fail_local(answer->ctx, DT_ERR_SYSTEM, "standard output: %s", strerror(errno));
    if (answer->capacity > KEPT_ANSWER_BYTES)
        dt__text_free(answer);
    return DT_OK;
}

/* The codes of the protocol. */
static const dt_status codes[] = {
    DT_ERR_JSON,  DT_ERR_FIELD,     DT_ERR_OP,   DT_ERR_SHAPE,       DT_ERR_DTYPE,
    DT_ERR_VALUE, DT_ERR_PLACEMENT, DT_ERR_MESH, DT_ERR_UNSUPPORTED, DT_ERR_INTERNAL,
};

/* {"error":{"code":…,"message":…}}; statuses that are not part of the protocol become "internal". */
static void answer_error(dt__text *out, dt_status status, const char *message) {
    const char *code = dt_status_name(DT_ERR_INTERNAL);
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (codes[i] == status)
            code = dt_status_name(status);
    dt__text_clear(out);
    (void)json_write(out->ctx, json_pack("{s:{s:s, s:o}}", "error", "code", code, "message", string_json(message)),
                     JSON_COST_DIGITS, out);
}

static dt_status serve(lines *in, dt__text *answer) {
    for (input_line line;;) {
        dt_status status = next_line(in, &line);
        if (status != DT_OK)
            return status == DT_IN_PROGRESS ? DT_OK : status;
        if (line.too_long)
            answer_error(answer, DT_ERR_JSON, "expected a line of at most 67108864 bytes");
        else
            query_answer(line.chars, line.n, answer);
        DT__TRY(write_line(answer));
    }
}

static const request_kind *const kinds[] = {&query_layout, &query_mesh,      &query_shard, &query_redistribute,
                                            &query_rules,  &query_propagate, &query_run};
enum { N_KINDS = sizeof kinds / sizeof *kinds };

static dt_status find_kind(const request *req, const request_kind **out) {
    const char *q = NULL;
    DT__TRY(request_string(req, "q", request_get(req, "q"), &q));
    for (int i = 0; i < N_KINDS; i++)
        if (!strcmp(q, kinds[i]->q)) {
            *out = kinds[i];
            return DT_OK;
        }
    dt__text names = dt__text_new(req->ctx);
    for (int i = 0; i < N_KINDS; i++)
        dt__text_add(&names, "%s%s", i ? ", " : "", kinds[i]->q);
    dt_status status = dt__text_status(&names);
    if (status == DT_OK)
        status = dt__fail(req->ctx, DT_ERR_FIELD, "field 'q': expected one of %s, got \"%.60s\"",
                          dt__text_chars(&names), q);
    dt__text_free(&names);
    return status;
}

static dt_status answer_object(const request *req, dt__text *out) {
    if (!json_is_object(req->fields))
        return dt__fail(req->ctx, DT_ERR_FIELD, "expected an object with a field 'q'");
    const request_kind *kind = NULL;
    DT__TRY(find_kind(req, &kind));
    DT__TRY(request_check_fields(req, kind->q, kind->fields));
    DT__TRY(kind->answer(req, out));
    return request_check_size(req, out);
}

static dt_status answer_in(dt_ctx *ctx, const char *line, size_t n, dt__text *out) {
    json_error_t error;
    json_t *fields = json_loadb(line, n, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);
    if (!fields)
        return dt__fail(ctx, DT_ERR_JSON, "%s at column %d", error.text, error.column);
    dt__arena arena = dt__arena_new(ctx);
    dt_status status = answer_object(&(request){.ctx = ctx, .arena = &arena, .fields = fields}, out);
    dt__arena_free(&arena);
    json_decref(fields);
    return status;
}

void query_answer(const char *line, size_t n, dt__text *out) {
    dt__text_clear(out);
    dt_ctx *ctx = dt__ctx_new(&(dt_init_options){.allocator = out->ctx->allocator});
    dt_status status = ctx ? dt__ctx_set_machine(ctx, out->ctx->machine) : DT_ERR_MEMORY;
    if (status == DT_OK)
        status = answer_in(ctx, line, n, out);
    if (status != DT_OK)
        answer_error(out, status, ctx ? dt_error_text(ctx) : dt_status_text(status));
    dt__ctx_free(ctx);
}

static int run_query(const arguments *args) {
    dt_ctx *ctx = dt__ctx_new(NULL);
    lines in = {.ctx = ctx, .file = STDIN_FILENO, .capacity = FIRST_CAPACITY};
    if (ctx && args_set_machine(args, ctx) != DT_OK) {
        dt__ctx_free(ctx);
        return EXIT_USAGE;
    }
    in.chars = ctx ? dt__alloc(ctx, in.capacity) : NULL;
    if (!in.chars) {
        fprintf(stderr, "dtensor query: memory: out of memory\n");
        dt__ctx_free(ctx);
        return EXIT_FAILED;
    }
    dt__text answer = dt__text_new(ctx);
    int code = serve(&in, &answer) == DT_OK ? EXIT_OK : args_failed(args->command, ctx);
    query_run_end();
    dt__text_free(&answer);
    dt__free(ctx, in.chars, in.capacity);
    dt__ctx_free(ctx);
    return code;
}

const command query_command = {
    .name = "query",
    .summary = "answer requests given as JSON Lines",
    .synopsis = "[OPTIONS] < REQUESTS > ANSWERS",
    .about =
        "Reads one JSON object per line from standard input and answers each, in order, with one line on\n"
        "standard output. The field \"q\" selects the request: \"layout\" (algebra of shape and stride), \"mesh\"\n"
        "(slices, groups and coordinates of a mesh), \"shard\" (what each rank holds), \"redistribute\" (how a\n"
        "tensor gets from one list of placements to another), \"rules\" and \"propagate\" (which placements are\n"
        "correct for a call of an op, and what the call does), \"run\" (its values, on ranks of this process). A\n"
        "request that cannot be served is answered by {\"error\":{\"code\":…,\"message\":…}}; the next one is "
        "served\n"
        "as usual.",
    .options = (const command_option[]){MACHINE_OPTION, {0}},
    .examples =
        "  echo '{\"q\":\"shard\",\"mesh\":[2,2],\"shape\":[10,5],\"placements\":\"S(0),S(0)\"}' | dtensor query\n"
        "  echo '{\"q\":\"layout\",\"do\":\"coalesce\",\"a\":{\"shape\":[2,[1,6]],\"stride\":[6,[6,1]]}}' | dtensor "
        "query",
    .run = run_query,
};
