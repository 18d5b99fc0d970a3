/* SPDX-License-Identifier: Apache-2.0
 *
 * `dtensor trace`: a summary of the traces of a program's ranks. Where the time went, by rank, op and line of the
 * program, and which calls received most, with the placement of an input that would have avoided it.
 */
#include "json.h"
#include "table.h"
#include "trace_report.h"

#include <inttypes.h>
#include <string.h>

enum { MAX_MOST = 64, DEFAULT_MOST = 5 };

static const char *label_share(double part, double whole, dt__arena *arena) {
    return label_format(arena, "%.1f%%", whole > 0 ? 100 * part / whole : 0);
}

static dt_status print_ranks(session *self, const traced_time_list *ranks) {
    dt__arena *arena = self->arena;
    table rows = table_new(arena, 6);
    const char *titles[] = {"rank", "time", "compute", "communication", "waiting", "outside of calls"};
    DT__TRY(table_add(&rows, titles));
    for (int64_t i = 0; i < ranks->n; i++) {
        const traced_time *rank = &ranks->items[i];
        double whole = rank->whole_us;
        const char *cells[] = {
            label_format(arena, "%" PRId64, rank->rank), label_time(whole, arena),
            label_share(rank->compute_us, whole, arena), label_share(rank->communication_us, whole, arena),
            label_share(rank->waiting_us, whole, arena), label_share(whole - traced_time_sum(rank), whole, arena)};
        DT__TRY(table_add(&rows, cells));
    }
    table_print(&rows, self->out);
    return DT_OK;
}

/* The longest; shares are of the time of all ranks. */
static dt_status print_times(session *self, const char *title, const traced_time_list *list, double whole,
                             int64_t max) {
    dt__arena *arena = self->arena;
    table rows = table_new(arena, 7);
    const char *titles[] = {title, "calls", "time", "share", "compute", "communication", "waiting"};
    DT__TRY(table_add(&rows, titles));
    for (int64_t i = 0; i < list->n && i < max; i++) {
        const traced_time *item = &list->items[i];
        double sum = traced_time_sum(item);
        const char *cells[] = {*item->name ? item->name : "unknown",
                               label_format(arena, "%" PRId64, item->n_calls),
                               label_time(sum, arena),
                               label_share(sum, whole, arena),
                               label_time(item->compute_us, arena),
                               label_time(item->communication_us, arena),
                               label_time(item->waiting_us, arena)};
        DT__TRY(table_add(&rows, cells));
    }
    dt__text_add(self->out, "\n");
    table_print(&rows, self->out);
    if (list->n > max)
        dt__text_add(self->out, "  and %" PRId64 " more\n", list->n - max);
    return DT_OK;
}

/* What would have avoided the communication of a call, as a line. */
static dt_status add_advice(session *started, const traced_call *call, dt__text *out) {
    dt__arena *arena = started->arena;
    trace_advice advice;
    bool found;
    if (!call->is_op) {
        dt__text_add(out, "   requested by the program, not by an op\n");
        return DT_OK;
    }
    if (trace_advise(arena, call, &found, &advice) != DT_OK) {
        if (dt_error_status(started->ctx) == DT_ERR_MEMORY)
            return DT_ERR_MEMORY;
        const char *text = dt_error_text(started->ctx);
        dt__text_add(out, "   not explained: %.*s\n", (int)strcspn(text, "\n"), text);
        return dt_error_clear(started->ctx);
    }
    if (!found) {
        dt__text_add(out, "   no other placement of one input would have moved less\n");
        return DT_OK;
    }
    const char *held = label_bytes(advice.held, arena), *better_held = label_bytes(advice.better_held, arena);
    const char *bytes = label_bytes(advice.bytes, arena), *better = label_bytes(advice.better_bytes, arena);
    if (!held || !better_held || !bytes || !better)
        return DT_ERR_MEMORY;
    dt__text_add(
        out, "   avoided by %s as %s instead of %s: a call moves %s instead of %s; a rank holds %s of it, now %s\n",
        advice.name, advice.better, advice.now, advice.better_bytes ? better : "nothing", bytes, better_held, held);
    return DT_OK;
}

static dt_status print_moved(session *started, const trace_report *report, int64_t max) {
    dt__text *out = started->out;
    const char *all = label_bytes(report->bytes, started->arena);
    if (!all)
        return DT_ERR_MEMORY;
    dt__text_add(out, "%s%lld calls received %s\n", report->times.ranks.n ? "\n" : "", (long long)report->n_calls,
                 all);
    for (int64_t i = 0; i < report->n && i < max && report->calls[i]->bytes > 0; i++) {
        const traced_call *call = report->calls[i];
        const char *bytes = label_bytes(call->bytes, started->arena);
        if (!bytes)
            return DT_ERR_MEMORY;
        dt__text_add(out, "\n%lld. %s in %lld call%s%s%s\n", (long long)i + 1, bytes, (long long)call->n_calls,
                     call->n_calls == 1 ? "" : "s", *call->site ? " at " : "", call->site);
        dt__text_add(out, "   %s\n", call->text);
        if (call->is_op)
            dt__text_add(out, "   moved %s\n", call->moves);
        DT__TRY(add_advice(started, call, out));
    }
    return DT_OK;
}

static dt_status print_text(session *self, const trace_report *report, int64_t max) {
    const trace_times *times = &report->times;
    double whole = 0;
    for (int64_t i = 0; i < times->ranks.n; i++)
        whole += times->ranks.items[i].whole_us;
    if (times->ranks.n) {
        DT__TRY(print_ranks(self, &times->ranks));
        DT__TRY(print_times(self, "op", &times->ops, whole, max));
        DT__TRY(print_times(self, "line", &times->lines, whole, max));
    }
    return print_moved(self, report, max);
}

static json_t *advice_json(session *started, const traced_call *call) {
    trace_advice advice;
    bool found = false;
    if (call->is_op && trace_advise(started->arena, call, &found, &advice) != DT_OK) {
        if (dt_error_status(started->ctx) == DT_ERR_MEMORY)
            return NULL;
        dt_error_clear(started->ctx);
    }
    if (!found)
        return json_null();
    return json_pack("{s:i, s:s, s:o, s:o, s:I, s:I, s:I, s:I}", "input", advice.input + 1, "name", advice.name,
                     "from", string_json(advice.now), "to", string_json(advice.better), "bytes",
                     (json_int_t)advice.bytes, "better_bytes", (json_int_t)advice.better_bytes, "held",
                     (json_int_t)advice.held, "better_held", (json_int_t)advice.better_held);
}

static json_t *moved_json(session *self, const trace_report *report, int64_t max) {
    json_t *list = json_array();
    for (int64_t i = 0; i < report->n && i < max && report->calls[i]->bytes > 0; i++) {
        const traced_call *call = report->calls[i];
        json_append(&list, json_pack("{s:o, s:o, s:I, s:I, s:o, s:o}", "call", string_json(call->text), "site",
                                     string_json(call->site), "calls", (json_int_t)call->n_calls, "bytes",
                                     (json_int_t)call->bytes, "moves", string_json(call->moves), "avoid",
                                     advice_json(self, call)));
    }
    return list;
}

/* key: what the name of an item is; NULL for ranks, which have a number and a time as a whole. */
static json_t *times_json(const traced_time_list *times, const char *key, int64_t max) {
    json_t *list = json_array();
    for (int64_t i = 0; i < times->n && i < max; i++) {
        const traced_time *item = &times->items[i];
        json_append(&list, json_pack("{s:o, s:I, s:f, s:f, s:f, s:f}", key ? key : "rank",
                                     key ? string_json(item->name) : json_integer(item->rank), "calls",
                                     (json_int_t)item->n_calls, "us", key ? traced_time_sum(item) : item->whole_us,
                                     "compute_us", item->compute_us, "communication_us", item->communication_us,
                                     "waiting_us", item->waiting_us));
    }
    return list;
}

static dt_status print_json(session *self, const trace_report *report, int64_t max) {
    const trace_times *times = &report->times;
    json_t *answer = json_pack("{s:I, s:I, s:o, s:o, s:o, s:o}", "calls", (json_int_t)report->n_calls, "bytes",
                               (json_int_t)report->bytes, "ranks", times_json(&times->ranks, NULL, times->ranks.n),
                               "ops", times_json(&times->ops, "op", max), "lines",
                               times_json(&times->lines, "site", max), "moved_most", moved_json(self, report, max));
    return json_write_line(self->ctx, answer, self->out);
}

static dt_status run_session(session *self, void *user) {
    const int64_t *max = user;
    trace_report report = {0};
    for (int i = 0; i < self->args->n_words; i++)
        DT__TRY(trace_report_add(self->arena, self->args->words[i], &report));
    trace_report_sort(&report);
    return (args_has(self->args, "json") ? print_json : print_text)(self, &report, *max);
}

static int run_trace(const arguments *args) {
    int64_t max = DEFAULT_MOST;
    if (args_int(args, "most", 1, MAX_MOST, &max) != DT_OK)
        return EXIT_USAGE;
    return session_run(args, 0, run_session, &max);
}

const command trace_command = {
    .name = "trace",
    .summary = "where the time of a traced program went, and which calls moved most",
    .synopsis = "[OPTIONS] FILE...",
    .about =
        "Reads the traces that the ranks of a program wrote (DTENSOR_TRACE=run.json, dtensor estimate --trace) and\n"
        "prints the shares of computing, communicating and waiting for other ranks, the ops and the lines of the\n"
        "program that took longest, and the calls that received most, with the placement of one input that would\n"
        "have avoided it. Times and bytes of all files add up. Traces as text have no times. - is standard input.",
    .options =
        (const command_option[]){
            MACHINE_OPTION,
            {.name = "most", .value = "COUNT", .help = "max number of ops, lines and calls, from 1 to 64; default 5"},
            {.name = "json", .help = "print a JSON object"},
            {0},
        },
    .examples = "  DTENSOR_TRACE=run.json dtrun -n 2 ./program && dtensor trace run.*.json\n"
                "  dtensor trace --most 20 run.0.json",
    .min_words = 1,
    .max_words = ARGS_MAX,
    .operand = "a file",
    .run = run_trace,
};
