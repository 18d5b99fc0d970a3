/* SPDX-License-Identifier: Apache-2.0
 *
 * The rule of every op of the table: no row is wrong, every sample is valid, and the rows that hold but are not in the
 * rule are those of missing_rows.txt, each with its reason there. VAL-022, OPDB-008.
 */
#include "support/check.h"

#include "ops/ops.h"
#include "verify/verify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* With a sanitizer, which makes this slow, only the samples are tried, and not what rows are missing: that does not
 * depend on the build. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
static const dt__verify_options options = {.only_samples = true, .no_missing = true};
#else
static const dt__verify_options options;
#endif

/* Ops that cannot be verified, with the reason; none today. */
static const char *const unverified[] = {NULL};

enum { MAX_LINES = 256, LINE_BYTES = 512 };

/* A line of the list: a row of a call and the reason. */
typedef struct waiver {
    char call[LINE_BYTES];
    char rows[LINE_BYTES]; /* with " | " before and after each */
    int n_rows, n_found;
    bool all;
} waiver;

typedef struct table_test {
    dt_ctx *ctx;
    int n_waivers;
    waiver waivers[MAX_LINES];
} table_test;

static void read_line(table_test *self, char *line) {
    char *colon = strstr(line, "): ");
    line[strcspn(line, "\n")] = 0;
    if (!*line || *line == '#')
        return;
    if (!colon || self->n_waivers == MAX_LINES)
        fail_msg("missing_rows.txt: cannot read '%s'", line);
    waiver *entry = &self->waivers[self->n_waivers++];
    snprintf(entry->call, sizeof entry->call, "%.*s", (int)(colon + 1 - line), line);
    snprintf(entry->rows, sizeof entry->rows, " | %s | ", colon + 3);
    entry->all = !strcmp(colon + 3, "*");
    for (const char *at = colon + 3; *at; at++)
        entry->n_rows += strncmp(at, "->", 2) == 0;
}

static void read_list(table_test *self) {
    char path[1024], line[LINE_BYTES];
    const char *source = getenv("DTENSOR_SOURCE");
    snprintf(path, sizeof path, "%s/tests/verify/missing_rows.txt", source ? source : ".");
    FILE *file = fopen(path, "r");
    if (!file)
        fail_msg("cannot open %s", path);
    while (fgets(line, sizeof line, file))
        read_line(self, line);
    fclose(file);
}

static bool is_listed(table_test *self, const dt__missing_row *row) {
    char probe[LINE_BYTES];
    snprintf(probe, sizeof probe, " | %s | ", row->row);
    for (int w = 0; w < self->n_waivers; w++) {
        waiver *entry = &self->waivers[w];
        if (strcmp(entry->call, row->call) != 0 || !(entry->all || strstr(entry->rows, probe)))
            continue;
        entry->n_found++;
        return true;
    }
    return false;
}

static bool may_be_unverified(const char *op) {
    for (int i = 0; unverified[i]; i++)
        if (!strcmp(unverified[i], op))
            return true;
    return false;
}

/* Every op is verified: by its rows here, by its decomposition (test_decompositions.c tries each that exists), or as
 * a list of calls of another op, which has rows. Makers have no inputs and so no rows (tests/ops/test_makers.c). */
static bool is_verified(table_test *self, const dt__verdict *verdict) {
    const dt_op *op = dt__op_find(self->ctx, verdict->op)->op;
    if (verdict->state != DT__NO_ROWS)
        return verdict->state == DT__VERIFIED &&
               (verdict->n_trials > 0 || options.only_samples || op->flags & DT_OP_MAKER);
    const dt__op_info *each = op->each ? dt__op_find(self->ctx, op->each) : NULL;
    return op->decompose || (each && (each->op->kernel || each->op->decompose));
}

static int check_verdict(table_test *self, const dt__verdict *verdict) {
    int n_bad = 0;
    bool is_unverified = !is_verified(self, verdict);
    if (is_unverified != may_be_unverified(verdict->op)) {
        print_message("%s: is not verified: %s, %lld trials\n", verdict->op, dt__verify_state_words[verdict->state],
                      (long long)verdict->n_trials);
        n_bad++;
    }
    if (verdict->n_refused) {
        print_message("%s: a sample is not valid: %s\n", verdict->op, verdict->refusal);
        n_bad++;
    }
    for (int i = 0; i < verdict->n_wrong; i++, n_bad++)
        print_message("wrong: %s: %s on %d ranks: %s\n", verdict->wrong[i].row, verdict->wrong[i].call,
                      verdict->wrong[i].n_ranks, verdict->wrong[i].failure);
    for (int i = 0; i < verdict->n_missing; i++)
        if (!is_listed(self, &verdict->missing[i])) {
            print_message("missing: %s: %s\n", verdict->missing[i].call, verdict->missing[i].row);
            n_bad++;
        }
    return n_bad;
}

static void table__has_no_wrong_row_and_no_missing_one_without_a_reason(void **state) {
    (void)state;
    table_test *self = calloc(1, sizeof *self);
    int n_bad = 0;
    int64_t n_rows = 0;
    assert_non_null(self);
    self->ctx = dt__ctx_new(NULL);
    assert_int_equal(dt__ops_open(self->ctx), DT_OK);
    read_list(self);
    for (int i = 0; i < dt__op_count(self->ctx); i++) {
        dt__arena arena = dt__arena_new(self->ctx);
        dt__verdict verdict;
        assert_int_equal(dt__verify(&arena, dt__op_at(self->ctx, i), &options, &verdict), DT_OK);
        n_bad += check_verdict(self, &verdict);
        n_rows += verdict.n_rows;
        dt__arena_free(&arena);
    }
    for (int w = 0; w < self->n_waivers && !options.no_missing; w++) {
        const waiver *entry = &self->waivers[w];
        if (entry->all ? entry->n_found > 0 : entry->n_found == entry->n_rows)
            continue;
        print_message("missing_rows.txt lists a row that is offered or does not hold: %s: %s\n", entry->call,
                      entry->rows);
        n_bad++;
    }
    assert_int_equal(n_bad, 0);
    assert_true(n_rows > (options.only_samples ? 1000 : 10000)); /* they were tried */
    dt__ctx_free(self->ctx);
    free(self);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table__has_no_wrong_row_and_no_missing_one_without_a_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
