/* SPDX-License-Identifier: Apache-2.0
 *
 * Traces: a line of text per op, followed by its redistributions; or events in the format of Chrome's trace viewer. The
 * line of an op depends only on its decision, so it precedes its redistributions; an event needs a duration, so it
 * follows them. Text has no times, so that two runs of a program write the same trace.
 *
 *     mm(f32[8,8] S(0); f32[8,32] S(0)) -> f32[8,32] S(0) on mesh(8) at model.c:12
 *       S(0)->R of f32[8,32]: all_gather 1, 896 bytes
 *     softmax(f32[512,512] S(1); 1) -> f32[512,512] S(1) on mesh(8) at model.c:13
 *       meet of 8 ranks: all_gather 1, 57344 bytes
 */
#include "base/json_writer.h"
#include "base/regular_file.h"
#include "base/size_guard.h"
#include "dispatch/dispatch_state.h"
#include "dispatch/monitor.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FLUSH_BYTES = 1 << 16 };

struct dt__trace {
    bool runs, is_json;
    int depth;      /* ops and scopes that are open */
    int n_open_ops; /* among them */
    FILE *file;
    char *name; /* of the file, for errors; NULL: in memory */
    size_t name_bytes;
    int write_error; /* errno of the first write that failed, or 0 */
    double noted_us; /* of the observer's waiting: belongs to events before this one */
    dt__text text;
};

bool dt__trace_runs(const dt__monitor *self) { return self->trace && self->trace->runs; }

static void note_error(dt__trace *trace, bool failed) {
    if (failed && !trace->write_error)
        trace->write_error = errno ? errno : EIO;
}

static void flush(dt__trace *trace) {
    if (!trace->file || trace->text.n_chars == 0)
        return;
    dt__size_guard guard = dt__size_guard_begin();
    size_t n = fwrite(dt__text_chars(&trace->text), 1, trace->text.n_chars, trace->file);
    note_error(trace, n != trace->text.n_chars);
    dt__size_guard_end(&guard);
    dt__text_clear(&trace->text);
}

static void close_file(dt__trace *trace) {
    dt__size_guard guard = dt__size_guard_begin();
    note_error(trace, fclose(trace->file) != 0);
    dt__size_guard_end(&guard);
    trace->file = NULL;
}

static void maybe_flush(dt__trace *trace) {
    if (trace->text.n_chars >= FLUSH_BYTES)
        flush(trace);
}

void dt__call_decision_text(const dt__call *call, const dt__decision *decision, dt__text *out) {
    dt__call_print(call, 0, out);
    dt__text_add(out, " -> ");
    for (int i = 0; i < decision->n_outputs; i++) {
        const dt__output_decision *output = &decision->outputs[i];
        dt__text_add(out, i ? "; " : "");
        dt__tensor_form_text(output->dtype, output->n_dims, output->shape, output->spec, out);
    }
    if (decision->mesh) {
        const char *mesh = dt_mesh_text(decision->mesh);
        dt__text_add(out, " on mesh(%s)", mesh ? mesh : "?");
    }
}

/* The states of the plan that a direct exchange replaces: "S(0)R->RR". */
static void add_plan(dt_ctx *ctx, const dt__redistribution_report *report, dt__text *out) {
    const dt_spec *from = report->from;
    dt__arena arena = dt__arena_new(ctx);
    dt__move move;
    dt__plan plan;
    dt__planner planner = report->planner;
    if (dt__move_of_specs(from, report->to, &move) != DT_OK)
        return;
    if (planner == DT__PLANNER_DIRECT && !move.from_mesh)
        planner = DT__PLANNER_MIN_COST;
    if (dt__plan_new(&arena, &move, planner, ctx->machine, &plan) == DT_OK)
        dt__plan_trace(&plan, out);
    dt__arena_free(&arena);
    dt__text_add(out, " of ");
    dt__tensor_form_text(from->dtype, from->sharding.n_dims, from->sharding.shape, NULL, out);
}

static void add_counts(const int64_t *collectives, dt__text *out) {
    const char *before = "";
    for (int c = 0; c < DT_N_COLLECTIVES; c++)
        if (collectives[c]) {
            dt__text_add(out, "%s%s %" PRId64, before, dt_collective_name((dt_collective)c), collectives[c]);
            before = ", ";
        }
    if (!*before)
        dt__text_add(out, "nothing sent");
}

/* An event of Chrome's trace format up to its time; phase is "X" (complete), "B" (begin) or "E" (end). */
static dt__json_writer begin_event(dt__trace *trace, const char *name, const char *category, const char *phase,
                                   double begin_us) {
    dt__json_writer json = dt__json_writer_new(&trace->text);
    dt__text_add(&trace->text, ",\n");
    dt__json_open(&json, '{');
    dt__json_key(&json, "name");
    dt__json_string(&json, name);
    dt__json_key(&json, "cat");
    dt__json_string(&json, category);
    dt__json_key(&json, "ph");
    dt__json_string(&json, phase);
    dt__json_key(&json, "ts");
    dt__json_real(&json, begin_us);
    return json;
}

static void add_rank(dt_ctx *ctx, dt__json_writer *json) {
    dt__json_key(json, "pid");
    dt__json_int(json, ctx->rank);
    dt__json_key(json, "tid");
    dt__json_int(json, 0);
}

/* Where the program made the outermost call; ops of a decomposition have the site of the op. */
static void add_site(dt_ctx *ctx, dt__json_writer *json) {
    const dt_site *site = dt__call_site(ctx);
    if (!site)
        return;
    dt__json_key(json, "line");
    dt__json_int(json, site->line);
    dt__json_key(json, "file");
    dt__json_string(json, site->file);
}

/* The time within an event that this rank waited for others. Waiting before it began, while nothing was traced, is left
 * out. */
static double take_wait_us(const dt_ctx *ctx, dt__trace *trace, double duration_us) {
    double waited_us = ctx->observer ? ctx->observer->waited_us - trace->noted_us : 0;
    trace->noted_us += waited_us;
    return waited_us < duration_us ? waited_us : duration_us;
}

/* The duration, the rank, and the beginning of the event's arguments, which end_event completes. */
static void begin_args(dt_ctx *ctx, dt__json_writer *json, double duration_us) {
    dt__json_key(json, "dur");
    dt__json_real(json, duration_us);
    add_rank(ctx, json);
    dt__json_key(json, "args");
    dt__json_open(json, '{');
}

static void end_event(dt__trace *trace, dt__json_writer *json) {
    dt__json_close(json, '}');
    dt__json_close(json, '}');
    maybe_flush(trace);
}

void dt__trace_op_begin(dt__monitor *self, const dt__call *call, const dt__decision *decision) {
    dt__trace *trace = self ? self->trace : NULL;
    if (!trace || !trace->runs)
        return;
    if (!trace->is_json) {
        dt__text_add(&trace->text, "%*s", 2 * trace->depth, "");
        dt__call_decision_text(call, decision, &trace->text);
        char where[DT__SITE_TEXT_BYTES];
        dt__site_text(dt__call_site(call->op_call.ctx), where, sizeof where);
        dt__text_add(&trace->text, "%s\n", where);
    }
    trace->depth++;
    trace->n_open_ops++;
}

void dt__trace_op_end(dt_ctx *ctx, dt__monitor *self, const dt__call *call, const dt__decision *decision,
                      double begin_us) {
    dt__trace *trace = self ? self->trace : NULL;
    if (!trace || !trace->runs)
        return;
    trace->depth -= trace->depth > 0;
    trace->n_open_ops -= trace->n_open_ops > 0;
    if (!trace->is_json) {
        maybe_flush(trace);
        return;
    }
    double end_us = dt__clock_us(ctx);
    dt__text text = dt__text_new(ctx);
    dt__call_decision_text(call, decision, &text);
    dt__json_writer json = begin_event(trace, call->info->schema.name, "op", "X", begin_us);
    begin_args(ctx, &json, end_us - begin_us);
    dt__json_key(&json, "call");
    dt__json_string(&json, dt__text_chars(&text));
    add_site(ctx, &json);
    end_event(trace, &json);
    (void)dt__text_status(&text);
    dt__text_free(&text);
}

void dt__trace_event(dt_ctx *ctx, dt__monitor *self, const dt__comm_event *event) {
    dt__trace *trace = self->trace;
    if (!trace || !trace->runs)
        return;
    bool is_use = !strcmp(event->call, DT__USE_NAME);
    bool in_op = trace->n_open_ops > 0; /* below the op's own line */
    const char *name = !in_op || is_use        ? event->call
                       : event->redistribution ? "redistribute"
                       : event->way            ? dt__way_name(event->way)
                                               : "comm";
    dt__text text = dt__text_new(ctx);
    if (event->redistribution) {
        add_plan(ctx, event->redistribution, &text);
        dt__text_add(&text, ": ");
    }
    if (event->way)
        dt__text_add(&text, "%s of %" PRId64 " ranks: ", dt__way_name(event->way), event->way->group);
    add_counts(event->collectives, &text);
    if (trace->is_json) {
        dt__json_writer json = begin_event(trace, name, "comm", "X", event->begin_us);
        begin_args(ctx, &json, event->end_us - event->begin_us);
        dt__json_key(&json, "bytes");
        dt__json_int(&json, event->bytes);
        dt__json_key(&json, "what");
        dt__json_string(&json, dt__text_chars(&text));
        dt__json_key(&json, "wait_us");
        dt__json_real(&json, take_wait_us(ctx, trace, event->end_us - event->begin_us));
        add_site(ctx, &json);
        end_event(trace, &json);
    } else {
        dt__text_add(&trace->text, "%*s%s%s%s, %" PRId64 " bytes\n", 2 * trace->depth, "",
                     in_op && !is_use ? "" : name, in_op && !is_use ? "" : ": ", dt__text_chars(&text), event->bytes);
        maybe_flush(trace);
    }
    (void)dt__text_status(&text);
    dt__text_free(&text);
}

void dt__trace_scope(dt_ctx *ctx, dt__monitor *self, const char *name, bool begins) {
    dt__trace *trace = self->trace;
    if (!trace || !trace->runs)
        return;
    if (trace->is_json) {
        dt__json_writer json = begin_event(trace, name, "scope", begins ? "B" : "E", dt__clock_us(ctx));
        add_rank(ctx, &json);
        dt__json_close(&json, '}');
    } else if (begins) {
        dt__text_add(&trace->text, "%*s%s/\n", 2 * trace->depth, "", name);
        trace->depth++;
    } else
        trace->depth -= trace->depth > 0;
    maybe_flush(trace);
}

char *dt__rank_file_name(dt_ctx *ctx, const char *file, size_t *bytes) {
    *bytes = strlen(file) + 32;
    char *name = dt__alloc(ctx, *bytes);
    const char *slash = strrchr(file, '/'), *dot = strrchr(slash ? slash : file, '.');
    if (!name)
        return NULL;
    if (ctx->world == 1)
        snprintf(name, *bytes, "%s", file);
    else
        snprintf(name, *bytes, "%.*s.%" PRId64 "%s", dot ? (int)(dot - file) : (int)strlen(file), file, ctx->rank,
                 dot ? dot : "");
    return name;
}

/* Begins the list of events with the name that viewers show for this rank. */
static void name_rank(dt_ctx *ctx, dt__trace *trace) {
    dt__json_writer json = dt__json_writer_new(&trace->text);
    char name[32];
    snprintf(name, sizeof name, "rank %" PRId64, ctx->rank);
    dt__json_open(&json, '[');
    dt__json_open(&json, '{');
    dt__json_key(&json, "name");
    dt__json_string(&json, "process_name");
    dt__json_key(&json, "ph");
    dt__json_string(&json, "M");
    add_rank(ctx, &json);
    dt__json_key(&json, "args");
    dt__json_open(&json, '{');
    dt__json_key(&json, "name");
    dt__json_string(&json, name);
    dt__json_close(&json, '}');
    dt__json_close(&json, '}');
}

static dt_status open_file(dt_ctx *ctx, dt__trace *trace, const char *file) {
    size_t n = strlen(file);
    trace->is_json = n > 5 && !strcmp(file + n - 5, ".json");
    trace->name = dt__rank_file_name(ctx, file, &trace->name_bytes);
    if (!trace->name)
        return dt__fail_memory(ctx, trace->name_bytes, "a trace");
    char why[DT__REGULAR_ERROR_BYTES];
    trace->file = dt__regular_file_write(trace->name, why);
    if (!trace->file)
        return dt__fail_local(ctx, DT_ERR_SYSTEM, "trace: cannot open %s for writing: %s", trace->name, why);
    if (trace->is_json)
        name_rank(ctx, trace);
    return DT_OK;
}

static void free_trace(dt_ctx *ctx, dt__trace *trace) {
    if (trace->file)
        close_file(trace);
    if (trace->name)
        dt__free(ctx, trace->name, trace->name_bytes);
    dt__text_free(&trace->text);
    dt__free(ctx, trace, sizeof *trace);
}

dt_status dt_trace_begin_site(dt_ctx *ctx, const char *file, const dt_site *site) {
    DT__ENTER(ctx, "trace_begin", site);
    DT__TRY(DT__REFUSAL());
    dt__monitor *self = ctx ? dt__monitor_of(ctx) : NULL;
    if (!self)
        return ctx ? dt_error_status(ctx) : DT_ERR_VALUE;
    DT__TRY(dt_trace_end(ctx));
    if (self->trace)
        free_trace(ctx, self->trace);
    self->trace = dt__alloc_zeroed(ctx, sizeof *self->trace);
    if (!self->trace)
        return dt__fail_memory(ctx, sizeof *self->trace, "a trace");
    self->trace->text = dt__text_new(ctx);
    self->trace->noted_us = self->comm.waited_us;
    dt_status status = file ? open_file(ctx, self->trace, file) : DT_OK;
    self->trace->runs = status == DT_OK;
    dt__monitor_update(ctx, self);
    return status;
}

static dt__trace *trace_of(const dt_ctx *ctx) {
    const dt__dispatch_state *state = ctx ? ctx->slots[DT__SLOT_DISPATCH].state : NULL;
    return state && state->monitor ? state->monitor->trace : NULL;
}

dt_status dt_trace_end_site(dt_ctx *ctx, const dt_site *site) {
    DT__ENTER(ctx, "trace_end", site);
    dt__trace *trace = trace_of(ctx);
    if (!trace || !trace->runs)
        return DT_OK;
    trace->runs = false;
    dt__monitor_update(ctx, dt__monitor_of(ctx));
    dt_status status = dt__text_status(&trace->text);
    if (!trace->file)
        return status;
    if (trace->is_json)
        dt__text_add(&trace->text, "]\n");
    flush(trace);
    close_file(trace);
    if (trace->write_error)
        return dt__fail_local(ctx, DT_ERR_SYSTEM, "trace: cannot write all of %s: %s; the file is cut off",
                              trace->name, strerror(trace->write_error));
    return status;
}

const char *dt_trace_text(const dt_ctx *ctx) {
    const dt__trace *trace = trace_of(ctx);
    return trace && !trace->name ? dt__text_chars(&trace->text) : "";
}

void dt__trace_free(dt_ctx *ctx, dt__monitor *self) {
    if (!self->trace)
        return;
    (void)dt_trace_end(ctx);
    free_trace(ctx, self->trace);
    self->trace = NULL;
}

void dt__trace_from_environment(dt_ctx *ctx) {
    const char *file = secure_getenv("DTENSOR_TRACE");
    if (file && *file)
        (void)dt_trace_begin(ctx, file);
}
