/* SPDX-License-Identifier: Apache-2.0
 *
 * `dtensor rules` and `dtensor ops`: the rows that are correct for a call on one mesh dim, and the table of ops.
 */
#include "arguments.h"
#include "json.h"
#include "op_patterns.h"
#include "rules/rules.h"

#include <string.h>

/* The rows of a call without those that have one of these flags, spelled out for its inputs and outputs. */
static dt_status read_rows(const session *self, const char *text, unsigned without, dt__placed_call *placed,
                           dt__row_list *rows) {
    DT__TRY(dt__placed_call_parse(self->arena, text, 0, NULL, placed));
    DT__TRY(dt__op_call_rows(self->arena, &placed->call, rows));
    return dt__rows_expand(self->arena, &placed->call, without, rows);
}

static dt_status add_rows(session *self, const char *call, const char *indent, dt__text *out) {
    dt__placed_call placed;
    dt__row_list rows;
    DT__TRY(read_rows(self, call, DT_ROW_UNLISTED, &placed, &rows));
    for (int r = 0; r < rows.n_rows; r++) {
        dt__text_add(out, "%s", indent);
        dt__row_text(&placed.call, &rows.rows[r], out);
        dt__text_add(out, "%s\n",
                     rows.rows[r].flags & DT_ROW_MEET      ? "  (the ranks meet)"
                     : rows.rows[r].flags & DT_ROW_SCAN    ? "  (a scan over the ranks)"
                     : rows.rows[r].flags & DT_ROW_WINDOW  ? "  (each rank fetches its window)"
                     : rows.rows[r].flags & DT_ROW_OFFSET  ? "  (the kernel needs its offset)"
                     : rows.rows[r].flags & DT_ROW_RESHAPE ? "  (where the sizes divide)"
                                                           : "");
    }
    return DT_OK;
}

static dt_status print_rows_json(session *self, const char *call) {
    dt__placed_call placed;
    dt__row_list rows;
    DT__TRY(read_rows(self, call, DT_ROW_UNLISTED | DT__ROW_WAYS, &placed, &rows)); /* as golden has them */
    dt__text text = dt__text_new(self->ctx);
    json_t *list = json_array();
    for (int r = 0; r < rows.n_rows; r++) {
        dt__text_clear(&text);
        dt__row_query_text(&placed.call, &rows.rows[r], &text);
        json_append(&list, text.broken ? NULL : string_json(dt__text_chars(&text)));
    }
    dt__text_free(&text);
    return json_write_line(self->ctx, json_pack("{s:o}", "rows", list), self->out);
}

static dt_status print_rules(session *self, void *user) {
    (void)user;
    if (args_has(self->args, "json"))
        return print_rows_json(self, self->args->words[0]);
    return add_rows(self, self->args->words[0], "", self->out);
}

/* Each signature on a line of its own. */
static void add_signatures(const dt__schema *schema, const char *indent, dt__text *out) {
    for (int i = 0; i < schema->n_signatures; i++) {
        dt__text_add(out, "%s", indent);
        dt__signature_text(schema, i, out);
        dt__text_add(out, "\n");
    }
}

static dt_status add_samples(session *self, const char *samples, dt__text *out) {
    for (const char *at = samples; at && *at;) {
        size_t n = strcspn(at, "\n");
        const char *sample = dt__arena_copy_chars(self->arena, at, n);
        if (!sample)
            return DT_ERR_MEMORY;
        dt__text_add(out, "\n%s\n", sample);
        DT__TRY(add_rows(self, sample, "  ", out));
        at += n + (at[n] == '\n');
    }
    return DT_OK;
}

/* One op in detail. */
static dt_status print_op(session *self, const dt__op_info *info) {
    if (info->op->summary)
        dt__text_add(self->out, "%s\n\n", info->op->summary);
    add_signatures(&info->schema, "", self->out);
    if (info->op->rule)
        dt__text_add(self->out, "rule: %s\n", info->op->rule);
    if (info->op->flags & DT_OP_LIST) {
        dt__text_add(self->out, "each tuple of tensors is decided alone, as %s is\n", info->op->each);
        return dt__text_status(self->out);
    }
    return add_samples(self, info->op->samples, self->out);
}

/* A line per op: its name, and what it does. */
static dt_status print_table(session *self, const bool *marked) {
    bool verbose = args_has(self->args, "verbose");
    int width = 0;
    for (int i = 0; i < dt__op_count(self->ctx); i++) {
        int n = marked[i] ? (int)strlen(dt__op_at(self->ctx, i)->schema.name) : 0;
        width = n > width ? n : width;
    }
    for (int i = 0; i < dt__op_count(self->ctx); i++) {
        if (!marked[i])
            continue;
        const dt__op_info *info = dt__op_at(self->ctx, i);
        const char *summary = info->op->summary ? info->op->summary : "";
        dt__text_add(self->out, "%-*s  %s\n", width, info->schema.name, summary);
        if (verbose)
            add_signatures(&info->schema, "    ", self->out);
    }
    return DT_OK;
}

static dt_status print_table_json(session *self, const bool *marked) {
    dt__json_writer json = dt__json_writer_new(self->out);
    dt__json_open(&json, '[');
    for (int i = 0; i < dt__op_count(self->ctx); i++)
        if (marked[i])
            dt__op_info_json(self->ctx, dt__op_at(self->ctx, i), &json);
    dt__json_close(&json, ']');
    dt__text_add(self->out, "\n");
    return dt__text_status(self->out);
}

/* The only op that is marked, or NULL. */
static const dt__op_info *only_op(session *self, const bool *marked) {
    const dt__op_info *found = NULL;
    for (int i = 0; i < dt__op_count(self->ctx); i++) {
        if (marked[i] && found)
            return NULL;
        found = marked[i] ? dt__op_at(self->ctx, i) : found;
    }
    return found;
}

static dt_status print_ops(session *self, void *user) {
    (void)user;
    bool *marked = DT__NEW_ARRAY(self->arena, bool, dt__op_count(self->ctx));
    if (!marked)
        return DT_ERR_MEMORY;
    DT__TRY(match_ops(self, fits_substring, marked));
    for (int i = 0; i < dt__op_count(self->ctx); i++)
        if (!dt__op_at(self->ctx, i))
            return dt_error_status(self->ctx);
    if (args_has(self->args, "json"))
        return print_table_json(self, marked);
    const dt__op_info *only = only_op(self, marked);
    return only ? print_op(self, only) : print_table(self, marked);
}

static int run_rules(const arguments *args) { return session_run(args, 0, print_rules, NULL); }

static int run_ops(const arguments *args) { return session_run(args, 0, print_ops, NULL); }

const command rules_command = {
    .name = "rules",
    .summary = "print which placements are correct for a call, on one mesh dim",
    .synopsis = "[OPTIONS] CALL",
    .about =
        "Prints the rows of an op's rule: placements of the inputs, an arrow, placements of the outputs. Each row\n"
        "holds for any number of ranks and for uneven and empty shards. The row in which everything is Replicate\n"
        "is implied. Rows that exchange something while the op runs are marked. A call is written as for dtensor "
        "explain, without placements.",
    .options =
        (const command_option[]){
            {.name = "json", .help = "print the answer of dtensor query to \"rules\""},
            {0},
        },
    .examples = "  dtensor rules 'matmul(f32[8,4]; f32[4,6])'\n"
                "  dtensor rules 'sum(f32[8,4]; dim=[1])' --json",
    .min_words = 1,
    .max_words = 1,
    .operand = "a call, such as 'mm(f32[8,4]; f32[4,6])'",
    .run = run_rules,
};

const command ops_command = {
    .name = "ops",
    .summary = "list the ops, or describe one",
    .synopsis = "[OPTIONS] [PATTERN ...]",
    .about =
        "Prints what each op does, a line per op. A pattern selects ops: a name, a pattern of the shell such as\n"
        "'*mm', or a part of a name. Where it selects one op, its signatures, its rule, and the rows of its rule\n"
        "for a few calls are printed.",
    .options =
        (const command_option[]){
            {.name = "verbose", .letter = 'v', .help = "also the signatures of each; -v for short"},
            {.name = "json", .help = "print a list of objects with name, schema, summary and signatures"},
            {0},
        },
    .examples = "  dtensor ops\n"
                "  dtensor ops '*mm' norm --verbose\n"
                "  dtensor ops addmm",
    .max_words = ARGS_MAX,
    .run = run_ops,
};
