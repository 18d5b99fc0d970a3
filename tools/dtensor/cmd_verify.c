/* SPDX-License-Identifier: Apache-2.0
 *
 * `dtensor verify`: checks every row of the ops' rules against one rank.
 */
#include "arguments.h"
#include "json.h"
#include "op_patterns.h"
#include "rules/rules.h"
#include "verify/verify.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { PROGRESS_AFTER_S = 2 };

typedef struct verification {
    session *session;
    int n;
    dt__verdict *list;
    bool wrong;
    double start;
    bool has_progress; /* something was printed about it */
} verification;

static double now(void) {
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec + (double)at.tv_nsec / 1e9;
}

/* On a terminal only. */
static void show_progress(verification *self, const char *op, int done, int all) {
    if (!isatty(STDERR_FILENO) || now() - self->start < PROGRESS_AFTER_S)
        return;
    self->has_progress = true;
    fprintf(stderr, "\r\033[K%d of %d: %s", done, all, op);
    fflush(stderr);
}

static void end_progress(const verification *self) {
    if (self->has_progress)
        fprintf(stderr, "\r\033[K");
}

static int count_marked(int n, const bool *marked) {
    int all = 0;
    for (int i = 0; i < n; i++)
        all += marked[i];
    return all;
}

static dt_status verify_ops(verification *self) {
    session *started = self->session;
    int n_ops = dt__op_count(started->ctx);
    bool *marked = DT__NEW_ARRAY(started->arena, bool, n_ops);
    self->list = DT__NEW_ARRAY(started->arena, dt__verdict, n_ops);
    if (!marked || !self->list)
        return DT_ERR_MEMORY;
    DT__TRY(match_ops(started, fits_pattern, marked));
    int all = count_marked(n_ops, marked);
    for (int i = 0; i < n_ops; i++) {
        if (!marked[i])
            continue;
        const dt__op_info *info = dt__op_at(started->ctx, i);
        if (!info)
            return dt_error_status(started->ctx);
        dt__verdict *verdict = &self->list[self->n++];
        show_progress(self, info->schema.name, self->n, all);
        DT__TRY(dt__verify(started->arena, info, NULL, verdict));
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
                     one->wrong[i].n_ranks, one->wrong[i].failure);
    for (int i = 0; i < one->n_missing && verbose; i++)
        dt__text_add(out, "    missing  %s: %s\n", one->missing[i].row, one->missing[i].call);
}

static dt_status print_text(const verification *self, dt__text *out) {
    int n_skipped = 0, n_wrong = 0, n_missing = 0;
    int64_t n_rows = 0;
    dt__text_add(out, "%-16s %6s %7s %8s %6s %8s\n", "op", "calls", "rows", "trials", "wrong", "missing");
    for (int i = 0; i < self->n; i++) {
        const dt__verdict *one = &self->list[i];
        print_verdict(one, args_has(self->session->args, "verbose"), out);
        n_skipped += one->state != DT__VERIFIED;
        n_wrong += one->n_wrong;
        n_missing += one->n_missing;
        n_rows += one->n_rows;
    }
    dt__text_add(out, "%d op%s, %d skipped; %" PRId64 " rows, %d wrong, %d missing\n", self->n,
                 self->n == 1 ? "" : "s", n_skipped, n_rows, n_wrong, n_missing);
    return DT_OK;
}

static json_t *wrong_json(const dt__verdict *one) {
    json_t *list = json_array();
    for (int i = 0; i < one->n_wrong; i++)
        json_append(&list, json_pack("{s:o, s:o, s:i, s:o}", "row", string_json(one->wrong[i].row), "call",
                                     string_json(one->wrong[i].call), "ranks", one->wrong[i].n_ranks, "what",
                                     string_json(one->wrong[i].failure)));
    return list;
}

static json_t *missing_json(const dt__verdict *one) {
    json_t *list = json_array();
    for (int i = 0; i < one->n_missing; i++)
        json_append(&list, json_pack("{s:o, s:o}", "row", string_json(one->missing[i].row), "call",
                                     string_json(one->missing[i].call)));
    return list;
}

static json_t *verdict_json(const dt__verdict *one) {
    return json_pack("{s:s, s:s, s:i, s:i, s:I, s:I, s:o, s:o}", "op", one->op, "state",
                     dt__verify_state_words[one->state], "calls", one->n_calls, "refused", one->n_refused, "rows",
                     (json_int_t)one->n_rows, "trials", (json_int_t)one->n_trials, "wrong", wrong_json(one),
                     "missing", missing_json(one));
}

static dt_status print_json(const verification *self, dt__text *out) {
    json_t *list = json_array();
    for (int i = 0; i < self->n; i++)
        json_append(&list, verdict_json(&self->list[i]));
    return json_write_line(self->session->ctx, json_pack("{s:o}", "ops", list), out);
}

static dt_status run_session(session *started, void *user) {
    verification *self = user;
    self->session = started;
    self->start = now();
    dt_status status = verify_ops(self);
    end_progress(self);
    DT__TRY(status);
    return (args_has(started->args, "json") ? print_json : print_text)(self, started->out);
}

static int run_verify(const arguments *args) {
    verification self = {0};
    int code = session_run(args, 0, run_session, &self);
    return code == EXIT_OK && self.wrong ? EXIT_FAILED : code;
}

const command verify_command = {
    .name = "verify",
    .summary = "check every row of the ops' rules against one rank",
    .synopsis = "[OPTIONS] [OP ...]",
    .about =
        "Checks each row that an op offers, for its samples and for samples with other sizes and dtypes, with 2, 3\n"
        "and 5 simulated ranks: inputs are sharded and split as the row requires, the op runs on each local tensor,\n"
        "and the results together must equal the result of one rank. Then all other combinations of placements\n"
        "are tried on the samples: those that hold are missing. An op is a name or a pattern; default: all.\n"
        "Exits with 1 if a row is wrong.",
    .options =
        (const command_option[]){
            {.name = "json", .help = "print one JSON object"},
            {.name = "verbose", .letter = 'v', .help = "also list the missing rows; -v for short"},
            {0},
        },
    .examples = "  dtensor verify add mul\n"
                "  dtensor verify 'mat*' --verbose\n"
                "  dtensor verify --json relu",
    .max_words = ARGS_MAX,
    .run = run_verify,
};
