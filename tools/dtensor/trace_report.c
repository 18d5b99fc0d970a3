/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads traces. Text: a line per op, and below it, indented by two more blanks, what was redistributed for it; names of
 * scopes end with a slash. JSON: events, where those of the communication of an op precede the op's own.
 */
#include "trace_report.h"

#include "base/hash.h"
#include "json.h"
#include "table.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DEPTH = 256 };

typedef struct reading {
    dt__arena *arena;
    const char *file;
    trace_report *out;
    dt__map by_text;              /* all calls so far */
    traced_call *open[MAX_DEPTH]; /* by indentation: the op, or NULL for a scope */
    int64_t n_events;
} reading;

static uint64_t hash_of(const char *text, const char *site) {
    return dt__hash(site, strlen(site), dt__hash(text, strlen(text), 0));
}

static bool is_same(const void *value, const void *probe) {
    const traced_call *a = value, *b = probe;
    return !strcmp(a->text, b->text) && !strcmp(a->site, b->site);
}

/* The entry of a call, which is made on first use. */
static traced_call *entry_of(reading *self, const char *text, const char *site, bool is_op) {
    traced_call probe = {.text = text, .site = site, .moves = "", .is_op = is_op};
    uint64_t hash = hash_of(text, site);
    traced_call *found = dt__map_get(&self->by_text, hash, is_same, &probe);
    trace_report *out = self->out;
    if (found)
        return found;
    if (out->n == out->capacity) {
        int64_t capacity = out->capacity ? 2 * out->capacity : 64;
        traced_call **calls = DT__NEW_ARRAY(self->arena, traced_call *, capacity);
        if (!calls)
            return NULL;
        if (out->n)
            memcpy(calls, out->calls, (size_t)out->n * sizeof *calls);
        out->calls = calls;
        out->capacity = capacity;
    }
    if (!(found = DT__NEW(self->arena, traced_call)))
        return NULL;
    *found = probe;
    found->text = dt__arena_copy_text(self->arena, text);
    found->site = dt__arena_copy_text(self->arena, site);
    if (!found->text || !found->site || !dt__map_add(&self->by_text, hash, found))
        return NULL;
    return out->calls[out->n++] = found;
}

static dt_status count_call(reading *self, traced_call *entry) {
    if (!entry)
        return DT_ERR_MEMORY;
    entry->n_calls++;
    self->out->n_calls++;
    return DT_OK;
}

static dt_status count_bytes(reading *self, traced_call *entry, const char *moves, int64_t bytes) {
    if (!entry)
        return DT_ERR_MEMORY;
    entry->bytes += bytes;
    self->out->bytes += bytes;
    if (!*entry->moves)
        entry->moves = dt__arena_copy_text(self->arena, moves);
    return entry->moves ? DT_OK : DT_ERR_MEMORY;
}

/* The position after the parenthesis that closes the one at `open`; quotes hide parentheses. NULL where it is not
 * closed. */
static const char *behind_parenthesis(const char *open) {
    int depth = 0;
    for (const char *at = open; *at; at++) {
        if (*at == '"' && !(at = strchr(at + 1, '"')))
            return NULL;
        depth += (*at == '(') - (*at == ')');
        if (depth == 0)
            return at + 1;
    }
    return NULL;
}

/* "mm(…) -> … on mesh(8)" as the text of a call, "mm(…) on mesh(8)". NULL where it is not an op. */
static const char *call_of(reading *self, const char *line, const char **rest) {
    size_t name = 0;
    while (isalnum((unsigned char)line[name]) || line[name] == '_')
        name++;
    const char *end = name && line[name] == '(' ? behind_parenthesis(line + name) : NULL;
    if (!end || strncmp(end, " -> ", 4) != 0)
        return NULL;
    const char *mesh = strstr(end, " on mesh("), *mesh_end = mesh ? behind_parenthesis(strchr(mesh, '(')) : NULL;
    *rest = mesh_end ? mesh_end : end + strcspn(end, "\n");
    if (!mesh_end)
        return dt__arena_copy_chars(self->arena, line, (size_t)(end - line));
    return label_format(self->arena, "%.*s%.*s", (int)(end - line), line, (int)(mesh_end - mesh), mesh);
}

/* " (at model.c:12)" after a call; "" where there is none, NULL when memory is out. */
static const char *site_of(reading *self, const char *rest) {
    static const char begin[] = " (at ";
    const char *at = strstr(rest, begin), *end = at ? strrchr(at, ')') : NULL;
    if (!end)
        return "";
    at += strlen(begin);
    return dt__arena_copy_chars(self->arena, at, (size_t)(end - at));
}

/* "S(0)->R of f32[8,32]: all_gather 1, 896 bytes": the last number is that of the bytes. False for other lines. */
static bool split_bytes(char *line, int64_t *bytes) {
    size_t n = strlen(line), unit = strlen(" bytes");
    if (n <= unit || strcmp(line + n - unit, " bytes") != 0)
        return false;
    line[n - unit] = 0;
    char *comma = strrchr(line, ','), *end;
    if (!comma)
        return false;
    *bytes = strtoll(comma + 1, &end, 10);
    if (*end || end == comma + 1)
        return false;
    *comma = 0;
    return true;
}

/* A redistribution or a collective: of the op above it, or of the program's own, which has a name before it. */
static dt_status read_event(reading *self, int depth, char *line) {
    int64_t bytes = 0;
    if (!split_bytes(line, &bytes))
        return dt__fail(self->arena->ctx, DT_ERR_VALUE, "%s: expected a line of a trace, got '%.80s'", self->file,
                        line);
    traced_call *op = depth > 0 ? self->open[depth - 1] : NULL;
    if (op)
        return count_bytes(self, op, line, bytes);
    traced_call *own = entry_of(self, line, "", false);
    DT__TRY(count_call(self, own));
    return count_bytes(self, own, line, bytes);
}

static dt_status read_line(reading *self, char *line) {
    int depth = (int)strspn(line, " ") / 2;
    const char *rest = "", *text;
    line += strspn(line, " ");
    if (!*line)
        return DT_OK;
    if (depth >= MAX_DEPTH)
        return dt__fail(self->arena->ctx, DT_ERR_UNSUPPORTED, "%s: more than %d levels of indentation", self->file,
                        (int)MAX_DEPTH);
    self->n_events++;
    self->open[depth] = NULL;
    if (line[strlen(line) - 1] == '/')
        return DT_OK;
    if (!(text = call_of(self, line, &rest)))
        return dt_failed(self->arena->ctx) ? DT_ERR_MEMORY : read_event(self, depth, line);
    const char *site = site_of(self, rest);
    self->open[depth] = site ? entry_of(self, text, site, true) : NULL;
    return count_call(self, self->open[depth]);
}

static dt_status read_lines(reading *self, char *text) {
    for (char *line = text, *next; line; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = 0;
        DT__TRY(read_line(self, line));
    }
    return DT_OK;
}

static const char *string_in(const json_t *object, const char *key) {
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

static int64_t int_in(const json_t *object, const char *key) {
    return (int64_t)json_integer_value(json_object_get(object, key));
}

/* The line of the program that an event has; "" where it has none, NULL when memory is out. */
static const char *site_in(const reading *self, const json_t *args) {
    const char *file = string_in(args, "file");
    return *file ? label_format(self->arena, "%s:%lld", file, (long long)int_in(args, "line")) : "";
}

/* Communication that no op needed. */
static dt_status read_own(reading *self, const json_t *event) {
    const json_t *args = json_object_get(event, "args");
    const char *site = site_in(self, args);
    const char *text = label_format(self->arena, "%s: %s", string_in(event, "name"), string_in(args, "what"));
    traced_call *own = text && site ? entry_of(self, text, site, false) : NULL;
    DT__TRY(count_call(self, own));
    return count_bytes(self, own, text, int_in(args, "bytes"));
}

/* A finished op, and those events of communication since event `first` that began after it did. */
static dt_status read_op(reading *self, const json_t *events, size_t *first, size_t index) {
    const json_t *event = json_array_get(events, index), *args = json_object_get(event, "args");
    double begin = json_number_value(json_object_get(event, "ts"));
    const char *rest = "", *text = call_of(self, string_in(args, "call"), &rest), *site = site_in(self, args);
    if (!text || !site)
        return dt_failed(self->arena->ctx)
                   ? DT_ERR_MEMORY
                   : dt__fail(self->arena->ctx, DT_ERR_VALUE, "%s: event %zu has no call", self->file, index);
    traced_call *entry = entry_of(self, text, site, true);
    DT__TRY(count_call(self, entry));
    for (size_t i = *first; i < index; i++) {
        const json_t *moved = json_array_get(events, i), *details = json_object_get(moved, "args");
        if (strcmp(string_in(moved, "cat"), "comm") != 0)
            continue;
        if (json_number_value(json_object_get(moved, "ts")) < begin)
            DT__TRY(read_own(self, moved));
        else
            DT__TRY(count_bytes(self, entry, string_in(details, "what"), int_in(details, "bytes")));
    }
    *first = index + 1;
    return DT_OK;
}

static dt_status read_events(reading *self, const json_t *events) {
    size_t first = 0;
    self->n_events = (int64_t)json_array_size(events);
    for (size_t i = 0; i < json_array_size(events); i++)
        if (!strcmp(string_in(json_array_get(events, i), "cat"), "op"))
            DT__TRY(read_op(self, events, &first, i));
    for (size_t i = first; i < json_array_size(events); i++)
        if (!strcmp(string_in(json_array_get(events, i), "cat"), "comm"))
            DT__TRY(read_own(self, json_array_get(events, i)));
    return DT_OK;
}

static dt_status read_json(reading *self, const char *text) {
    json_error_t error;
    json_t *events = json_loads(text, 0, &error);
    if (!json_is_array(events)) {
        json_decref(events);
        return dt__fail(self->arena->ctx, DT_ERR_VALUE, "%s: expected a list of events: %s", self->file, error.text);
    }
    dt_status status = read_events(self, events);
    if (status == DT_OK)
        status = trace_times_add(self->arena, self->file, events, &self->out->times);
    json_decref(events);
    return status;
}

dt_status trace_report_add(dt__arena *arena, const char *file, trace_report *out) {
    dt_ctx *ctx = arena->ctx;
    dt__text text = dt__text_new(ctx);
    reading self = {.arena = arena, .file = file, .out = out, .by_text = dt__map_new(ctx)};
    dt_status status = args_read_file(ctx, file, &text);
    for (int64_t i = 0; status == DT_OK && i < out->n; i++) /* of the files before this one */
        if (!dt__map_add(&self.by_text, hash_of(out->calls[i]->text, out->calls[i]->site), out->calls[i]))
            status = DT_ERR_MEMORY;
    if (status == DT_OK && text.n_chars)
        status = text.chars[strspn(text.chars, " \n")] == '[' ? read_json(&self, text.chars)
                                                              : read_lines(&self, text.chars);
    if (status == DT_OK && self.n_events == 0)
        status = dt__fail(ctx, DT_ERR_VALUE, "%s: expected a trace, got an empty file", file);
    dt__map_free(&self.by_text);
    dt__text_free(&text);
    return status;
}

static int compare_calls(const void *a, const void *b) {
    const traced_call *x = *(traced_call *const *)a, *y = *(traced_call *const *)b;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    int by_site = strcmp(x->site, y->site);
    return by_site ? by_site : strcmp(x->text, y->text);
}

void trace_report_sort(trace_report *self) {
    if (self->n)
        qsort(self->calls, (size_t)self->n, sizeof *self->calls, compare_calls);
    trace_times_sort(&self->times);
}
