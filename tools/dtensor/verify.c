/* SPDX-License-Identifier: Apache-2.0
 *
 * `dtensor verify`: tries every row of ops' rules against one rank.
 */
#include "verify/verify.h"

#include "json_text.h"
#include "output.h"
#include "rules/op_registry.h"
#include "session.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MOST_SUGGESTED = 5, PROGRESS_AFTER_S = 2 };

typedef struct verified {
    session *session;
    int n;
    dt__verdict *list;
    bool wrong;
    double began;
    bool showed; /* progress */
} verified;

static double now(void) {
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec + (double)at.tv_nsec / 1e9;
}

/* For people who wait, on the terminal only. */
static void show_progress(verified *self, const char *op, int done, int all) {
    if (!isatty(STDERR_FILENO) || now() - self->began < PROGRESS_AFTER_S)
        return;
    self->showed = true;
    fprintf(stderr, "\r\033[K%d of %d: %s", done, all, op);
    fflush(stderr);
}

static void end_progress(const verified *self) {
    if (self->showed)
        fprintf(stderr, "\r\033[K");
}

/* Ops that begin alike. */
static dt_status refuse_name(session *here, const char *pattern) {
    dt__text near = dt__text_new(here->ctx);
    int n = 0;
    for (int i = 0; i < dt__op_count(here->ctx) && n < MOST_SUGGESTED; i++) {
        const dt__op_info *info = dt__op_at(here->ctx, i);
        if (info && !strncmp(info->schema.name, pattern, 2))
            dt__text_add(&near, "%s%s", n++ ? ", " : "; there is ", info->schema.name);
    }
    dt_status status = dt__fail(here->ctx, DT_ERR_OP, "there is no op '%.60s'%s", pattern, dt__text_chars(&near));
    dt__text_free(&near);
    return status;
}

/* Marks the ops that the words name, by name or by pattern; no words: all. */
static dt_status mark_ops(session *here, bool *marked) {
    int n_ops = dt__op_count(here->ctx);
    for (int w = 0; w < here->given->n_words; w++) {
        bool any = false;
        for (int i = 0; i < n_ops; i++) {
            const dt__op_info *info = dt__op_at(here->ctx, i);
            if (!info)
                return dt_error_status(here->ctx);
            bool fits = fnmatch(here->given->words[w], info->schema.name, 0) == 0;
            marked[i] |= fits;
            any |= fits;
        }
        if (!any)
            return refuse_name(here, here->given->words[w]);
    }
    if (here->given->n_words == 0)
        memset(marked, 1, (size_t)n_ops * sizeof *marked);
    return DT_OK;
}

static int count_marked(int n, const bool *marked) {
    int all = 0;
    for (int i = 0; i < n; i++)
        all += marked[i];
    return all;
}

static dt_status verify_ops(verified *self) {
    session *here = self->session;
    int n_ops = dt__op_count(here->ctx);
    bool *marked = DT__NEW_ARRAY(here->arena, bool, n_ops);
    self->list = DT__NEW_ARRAY(here->arena, dt__verdict, n_ops);
    if (!marked || !self->list)
        return DT_ERR_MEMORY;
    DT__TRY(mark_ops(here, marked));
    int all = count_marked(n_ops, marked);
    for (int i = 0; i < n_ops; i++) {
        if (!marked[i])
            continue;
        const dt__op_info *info = dt__op_at(here->ctx, i);
        if (!info)
            return dt_error_status(here->ctx);
        dt__verdict *verdict = &self->list[self->n++];
        show_progress(self, info->schema.name, self->n, all);
        DT__TRY(dt__verify(here->arena, info, NULL, verdict));
        self->wrong |= verdict->n_wrong > 0;
    }
    return DT_OK;
}

static void print_verdict(const dt__verdict *one, bool verbose, dt__text *out) {
    if (one->state != DT__VERIFIED) {
        dt__text_add(out, "%-16s skipped: %s\n", one->op, dt__verify_state_words[one->state]);
        return;
    }
    dt__text_add(out, "%-16s %6d %7" PRId64 " %8" PRId64 " %6d %8d\n", one->op, one->n_calls, one->n_rows,
                 one->n_trials, one->n_wrong, one->n_missing);
    if (one->refusal)
        dt__text_add(out, "    %d of its samples %s refused: %s\n", one->n_refused,
                     one->n_refused == 1 ? "is" : "are", one->refusal);
    for (int i = 0; i < one->n_wrong; i++)
        dt__text_add(out, "    wrong    %s: %s on %d ranks: %s\n", one->wrong[i].row, one->wrong[i].call,
                     one->wrong[i].n_ranks, one->wrong[i].what);
    for (int i = 0; i < one->n_missing && verbose; i++)
        dt__text_add(out, "    missing  %s: %s\n", one->missing[i].row, one->missing[i].call);
}

static void print_text(const verified *self, dt__text *out) {
    int n_skipped = 0, n_wrong = 0, n_missing = 0;
    int64_t n_rows = 0;
    dt__text_add(out, "%-16s %6s %7s %8s %6s %8s\n", "op", "calls", "rows", "trials", "wrong", "missing");
    for (int i = 0; i < self->n; i++) {
        const dt__verdict *one = &self->list[i];
        print_verdict(one, args_has(self->session->given, "verbose"), out);
        n_skipped += one->state != DT__VERIFIED;
        n_wrong += one->n_wrong;
        n_missing += one->n_missing;
        n_rows += one->n_rows;
    }
    dt__text_add(out, "%d op%s, %d skipped; %" PRId64 " rows, %d wrong, %d missing\n", self->n,
                 self->n == 1 ? "" : "s", n_skipped, n_rows, n_wrong, n_missing);
}

static void add_member(dt__text *out, const char *name, const char *value) {
    json_add(out, name);
    json_add_string(out, value);
}

static void verdict_json(const dt__verdict *one, dt__text *out) {
    add_member(out, "{\"op\":", one->op);
    add_member(out, ",\"state\":", dt__verify_state_words[one->state]);
    dt__text_add(out, ",\"calls\":%d,\"refused\":%d,\"rows\":%" PRId64 ",\"trials\":%" PRId64 ",\"wrong\":[",
                 one->n_calls, one->n_refused, one->n_rows, one->n_trials);
    for (int i = 0; i < one->n_wrong; i++) {
        add_member(out, i ? ",{\"row\":" : "{\"row\":", one->wrong[i].row);
        add_member(out, ",\"call\":", one->wrong[i].call);
        dt__text_add(out, ",\"ranks\":%d", one->wrong[i].n_ranks);
        add_member(out, ",\"what\":", one->wrong[i].what);
        json_add(out, "}");
    }
    json_add(out, "],\"missing\":[");
    for (int i = 0; i < one->n_missing; i++) {
        add_member(out, i ? ",{\"row\":" : "{\"row\":", one->missing[i].row);
        add_member(out, ",\"call\":", one->missing[i].call);
        json_add(out, "}");
    }
    json_add(out, "]}");
}

static void print_json(const verified *self, dt__text *out) {
    json_add(out, "{\"ops\":[");
    for (int i = 0; i < self->n; i++) {
        json_add(out, i ? "," : "");
        verdict_json(&self->list[i], out);
    }
    json_add(out, "]}\n");
}

static dt_status verify_them(session *here, void *user) {
    verified *self = user;
    self->session = here;
    self->began = now();
    dt_status status = verify_ops(self);
    end_progress(self);
    DT__TRY(status);
    (args_has(here->given, "json") ? print_json : print_text)(self, here->out);
    DT__TRY(dt__text_status(here->out));
    return output_write(here->out, NULL);
}

static int run(const command *self, int argc, char **argv) {
    args given;
    verified all = {0};
    dt_status parsed = args_parse(self, argc, argv, ARGS_MAX, &given);
    if (parsed != DT_OK)
        return parsed == DT_IN_PROGRESS ? EXIT_OK : EXIT_USAGE;
    int code = session_run(&given, 0, verify_them, &all);
    return code == EXIT_OK && all.wrong ? EXIT_FAILED : code;
}

const command verify_command = {
    .name = "verify",
    .summary = "try every row of ops' rules against one rank",
    .synopsis = "[OPTIONS] [OP ...]",
    .about =
        "Tries each row that an op offers, for its samples and for samples with other sizes and dtypes, with 2, 3\n"
        "and 5 ranks that are played in this process: inputs are cut and split as the row says, the op runs on\n"
        "each part, and the parts together must be what one rank gets. Then all other combinations of placements\n"
        "are tried on the samples: those that hold are missing. An op is a name or a pattern; default: all.\n"
        "Ends with 1 where a row is wrong.",
    .options =
        (const command_option[]){
            {.name = "json", .help = "print one JSON object"},
            {.name = "verbose", .letter = 'v', .help = "also list the missing rows; -v for short"},
            {0},
        },
    .examples = "  dtensor verify add mul\n"
                "  dtensor verify 'mat*' --verbose\n"
                "  dtensor verify --json relu",
    .run = run,
};
