/* SPDX-License-Identifier: Apache-2.0
 *
 * The report that DTENSOR_REPORT=FILE requests: what a rank used from its first op to dt_close, as JSON. It has the
 * memory of its heap by kind, the collectives by scope, op and line of the program, and, of a program that is
 * estimated, the values that the program read although nobody had computed them, and what was not run. A real run and
 * an estimate write the same fields, so that they can be compared. The program's own counts (dt_comm_stats_begin) are
 * independent of it.
 */
#include "base/json_writer.h"
#include "base/regular_file.h"
#include "dispatch/dispatch_state.h"
#include "dispatch/monitor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The communication of one call in one line and scope. */
typedef struct counted_line {
    struct counted_line *next;
    const char *scope, *op, *file;
    int line;
    int64_t n[DT_N_COLLECTIVES], bytes;
    double us;
} counted_line;

struct dt__run_report {
    char *file; /* where it is written */
    size_t file_bytes;
    dt__arena arena;
    counted_line *lines, **end; /* in the order of their first event */
    double begin_us;
};

void dt__report_from_environment(dt_ctx *ctx) {
    const char *file = secure_getenv("DTENSOR_REPORT");
    dt__monitor *monitor = file && *file ? dt__monitor_of(ctx) : NULL;
    if (!monitor)
        return;
    dt__run_report *self = dt__alloc_zeroed(ctx, sizeof *self);
    char *name = self ? dt__rank_file_name(ctx, file, &self->file_bytes) : NULL;
    if (!name) {
        dt__free(ctx, self, sizeof *self);
        (void)dt__fail_memory(ctx, sizeof *self, "a report");
        return;
    }
    self->file = name;
    self->arena = dt__arena_new(ctx);
    self->end = &self->lines;
    self->begin_us = dt__clock_us(ctx);
    monitor->report = self;
    dt__monitor_update(ctx, monitor);
}

static counted_line *line_of(dt__run_report *self, const char *scope, const char *op, const dt_site *site) {
    const char *file = site ? site->file : NULL;
    int number = site ? site->line : 0;
    for (counted_line *line = self->lines; line; line = line->next)
        if (line->line == number && line->file == file && line->scope == scope && !strcmp(line->op, op))
            return line;
    counted_line *line = DT__NEW(&self->arena, counted_line);
    if (!line)
        return NULL;
    *line = (counted_line){.scope = scope, .op = op, .file = file, .line = number};
    *self->end = line;
    self->end = &line->next;
    return line;
}

void dt__report_event(dt_ctx *ctx, dt__monitor *monitor, const dt__comm_event *event) {
    const dt_site *site = dt__noted_site(ctx);
    counted_line *line = line_of(monitor->report, monitor->scope->path, event->call, site);
    for (int c = 0; line && c < DT_N_COLLECTIVES; c++)
        line->n[c] += event->collectives[c];
    if (line) {
        line->bytes += event->bytes;
        line->us += event->end_us - event->begin_us;
    }
}

double dt_now(const dt_ctx *ctx) { return (ctx ? dt__clock_us(ctx) : dt__now_us()) * 1e-6; }

static void write_int(dt__json_writer *json, const char *key, int64_t value) {
    dt__json_key(json, key);
    dt__json_int(json, value);
}

static void write_string(dt__json_writer *json, const char *key, const char *value) {
    dt__json_key(json, key);
    dt__json_string(json, value);
}

static void write_place(dt__json_writer *json, const char *file, int line) {
    if (!file)
        return;
    write_string(json, "file", file);
    write_int(json, "line", line);
}

static void write_use(dt__json_writer *json, size_t peak, size_t live) {
    dt__json_open(json, '{');
    write_int(json, "peak", (int64_t)peak);
    write_int(json, "live", (int64_t)live);
    dt__json_close(json, '}');
}

static void write_memory(const dt_ctx *ctx, dt__json_writer *json) {
    const dt_heap_statistics stats = dt_heap_stats(ctx);
    dt__json_key(json, "memory");
    dt__json_open(json, '{');
    dt__json_key(json, "all");
    write_use(json, stats.peak_bytes, stats.live_bytes);
    for (int k = 0; k < DT_N_MEMORY_KINDS; k++) {
        dt__json_key(json, dt_memory_kind_name((dt_memory_kind)k));
        write_use(json, stats.by_kind[k].peak_bytes, stats.by_kind[k].live_bytes);
    }
    dt__json_close(json, '}');
}

static void write_lines(const dt__run_report *self, dt__json_writer *json) {
    dt__json_key(json, "communication");
    dt__json_open(json, '[');
    for (const counted_line *line = self->lines; line; line = line->next) {
        dt__json_open(json, '{');
        write_string(json, "scope", line->scope);
        write_string(json, "op", line->op);
        write_place(json, line->file, line->line);
        dt__json_key(json, "collectives");
        dt__json_open(json, '{');
        for (int c = 0; c < DT_N_COLLECTIVES; c++)
            if (line->n[c])
                write_int(json, dt_collective_name((dt_collective)c), line->n[c]);
        dt__json_close(json, '}');
        write_int(json, "bytes", line->bytes);
        dt__json_key(json, "us");
        dt__json_real(json, line->us);
        dt__json_close(json, '}');
    }
    dt__json_close(json, ']');
}

static void write_notes(const dt__estimate *estimate, dt__estimate_event event, const char *key,
                        dt__json_writer *json) {
    dt__json_key(json, key);
    dt__json_open(json, '[');
    for (const dt__estimate_note *note = estimate->notes; note; note = note->next) {
        if (note->event != event)
            continue;
        dt__json_open(json, '{');
        write_string(json, "what", note->what);
        write_place(json, note->file, note->line);
        write_int(json, "times", note->n);
        dt__json_close(json, '}');
    }
    dt__json_close(json, ']');
}

/* The largest blocks when the heap was fullest. */
static void write_largest(dt__estimate *estimate, dt__json_writer *json) {
    dt__block_watch_settle(&estimate->blocks);
    dt__json_key(json, "largest");
    dt__json_open(json, '[');
    for (int i = 0; i < estimate->blocks.n_largest; i++) {
        const dt__watched_block *block = &estimate->blocks.largest[i];
        dt__json_open(json, '{');
        write_int(json, "bytes", (int64_t)block->bytes);
        write_string(json, "kind", dt_memory_kind_name(block->kind));
        if (block->label)
            write_string(json, "tensor", block->label);
        if (block->call)
            write_string(json, "call", block->call);
        write_place(json, block->file, block->line);
        dt__json_close(json, '}');
    }
    dt__json_close(json, ']');
}

/* The first rank of each class, and how many ranks it stands for. */
static void write_classes(const dt__rank_classes *classes, dt__json_writer *json) {
    enum { MAX_CLASSES = 256 };
    int at[DT__MAX_CLASS_DIMS] = {0}, n = 0;
    dt__json_key(json, "classes");
    dt__json_open(json, '[');
    for (int m = 0; classes->n_dims && m >= 0 && n < MAX_CLASSES; n++) {
        int64_t rank = classes->first_rank, ranks = 1;
        for (int k = 0; k < classes->n_dims; k++) {
            int64_t begin = at[k] ? classes->cuts[k][at[k] - 1] : 0,
                    end = at[k] < classes->n_cuts[k] ? classes->cuts[k][at[k]] : classes->sizes[k];
            rank += begin * classes->steps[k];
            ranks *= end - begin;
        }
        dt__json_open(json, '{');
        write_int(json, "rank", rank);
        write_int(json, "ranks", ranks);
        dt__json_close(json, '}');
        for (m = classes->n_dims - 1; m >= 0 && at[m] == classes->n_cuts[m]; m--)
            at[m] = 0;
        if (m >= 0)
            at[m]++;
    }
    dt__json_close(json, ']');
}

/* Along each dim of the mesh of all ranks: the coordinates at which another class begins. */
static void write_class_dims(const dt__rank_classes *classes, dt__json_writer *json) {
    write_int(json, "class_first", classes->first_rank);
    dt__json_key(json, "class_dims");
    dt__json_open(json, '[');
    for (int m = 0; m < classes->n_dims; m++) {
        dt__json_open(json, '{');
        write_int(json, "size", classes->sizes[m]);
        write_int(json, "step", classes->steps[m]);
        dt__json_key(json, "cuts");
        dt__json_open(json, '[');
        for (int i = 0; i < classes->n_cuts[m]; i++)
            dt__json_int(json, classes->cuts[m][i]);
        dt__json_close(json, ']');
        dt__json_close(json, '}');
    }
    dt__json_close(json, ']');
}

static void print_report(dt_ctx *ctx, const dt__run_report *self, dt__text *out) {
    dt__json_writer json = dt__json_writer_new(out);
    dt__json_open(&json, '{');
    write_int(&json, "rank", ctx->rank);
    write_int(&json, "world", ctx->world);
    write_int(&json, "threads", ctx->threads);
    dt__json_key(&json, "estimated");
    dt__json_bool(&json, ctx->estimate != NULL);
    dt__json_key(&json, "us");
    dt__json_real(&json, dt__clock_us(ctx) - self->begin_us);
    dt__json_key(&json, "timed");
    dt__json_bool(&json, !ctx->estimate || ctx->machine->n_op_rates > 0);
    write_memory(ctx, &json);
    write_lines(self, &json);
    if (ctx->estimate) {
        write_notes(ctx->estimate, DT__STAND_IN, "stand_ins", &json);
        write_notes(ctx->estimate, DT__NOT_RUN, "not_run", &json);
        write_largest(ctx->estimate, &json);
        write_classes(&ctx->estimate->classes, &json);
        write_class_dims(&ctx->estimate->classes, &json);
    }
    dt__json_close(&json, '}');
    dt__text_add(out, "\n");
}

void dt__report_end(dt_ctx *ctx, dt__monitor *monitor) {
    dt__run_report *self = monitor->report;
    if (!self)
        return;
    monitor->report = NULL;
    dt__monitor_update(ctx, monitor);
    dt__text text = dt__text_new(ctx);
    char why[DT__REGULAR_ERROR_BYTES];
    print_report(ctx, self, &text);
    FILE *file = dt__text_status(&text) == DT_OK ? dt__regular_file_write(self->file, why) : NULL;
    bool written = file && fwrite(dt__text_chars(&text), 1, text.n_chars, file) == text.n_chars;
    if (file && (fclose(file) != 0 || !written))
        (void)dt__fail_local(ctx, DT_ERR_SYSTEM, "report: cannot write %s: %s", self->file, strerror(errno));
    else if (!file && dt__text_status(&text) == DT_OK)
        (void)dt__fail_local(ctx, DT_ERR_SYSTEM, "report: cannot open %s for writing: %s", self->file, why);
    dt__text_free(&text);
    dt__arena_free(&self->arena);
    dt__free(ctx, self->file, self->file_bytes);
    dt__free(ctx, self, sizeof *self);
}
