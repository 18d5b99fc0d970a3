/* SPDX-License-Identifier: Apache-2.0
 *
 * `dtensor rules` and `dtensor ops`: the rows that are correct for a call on one mesh dim, and the table of ops.
 */
#include "args.h"
#include "json_text.h"
#include "output.h"
#include "rules/call_text.h"
#include "rules/op_registry.h"
#include "session.h"

#include <string.h>

static dt_status add_rows(session *self, const char *call, const char *indent, dt__text *out) {
    dt__placed_call placed;
    dt__row_list rows;
    DT__TRY(dt__placed_call_parse(self->arena, call, 0, NULL, &placed));
    DT__TRY(dt__op_call_rows(self->arena, &placed.call, &rows));
    DT__TRY(dt__rows_expand(self->arena, &placed.call, &rows));
    for (int r = 0; r < rows.n_rows; r++) {
        dt__text_add(out, "%s", indent);
        dt__row_text(&placed.call, &rows.rows[r], out);
        dt__text_add(out, "%s\n",
                     rows.rows[r].flags & DT_ROW_OFFSET    ? "  (the kernel knows its offset)"
                     : rows.rows[r].flags & DT_ROW_RESHAPE ? "  (where the sizes allow it)"
                                                           : "");
    }
    return DT_OK;
}

static dt_status add_rows_json(session *self, const char *call, dt__text *out) {
    dt__placed_call placed;
    dt__row_list rows;
    dt__text text = dt__text_new(self->ctx);
    dt_status status = dt__placed_call_parse(self->arena, call, 0, NULL, &placed);
    if (status == DT_OK)
        status = dt__op_call_rows(self->arena, &placed.call, &rows);
    if (status == DT_OK)
        status = dt__rows_expand(self->arena, &placed.call, &rows);
    for (int r = 0; status == DT_OK && r < rows.n_rows; r++) {
        dt__text_clear(&text);
        dt__row_text(&placed.call, &rows.rows[r], &text);
        json_add(out, r ? "," : "");
        json_add_string(out, dt__text_chars(&text));
        status = dt__text_status(&text);
    }
    dt__text_free(&text);
    return status;
}

static dt_status finish(session *self) {
    DT__TRY(dt__text_status(self->out));
    return output_write(self->out, NULL);
}

static dt_status print_rules(session *self, void *user) {
    (void)user;
    const char *call = self->given->words[0];
    if (args_has(self->given, "json")) {
        json_add(self->out, "{\"rows\":[");
        DT__TRY(add_rows_json(self, call, self->out));
        json_add(self->out, "]}\n");
    } else
        DT__TRY(add_rows(self, call, "", self->out));
    return finish(self);
}

/* Each signature on a line of its own. */
static void add_schema(const char *schema, const char *indent, dt__text *out) {
    for (const char *end; *schema; schema = *end ? end + 3 : end) {
        end = strstr(schema, " | ");
        end = end ? end : schema + strlen(schema);
        dt__text_add(out, "%s%.*s\n", indent, (int)(end - schema), schema);
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

static dt_status print_op(session *self, const char *name) {
    const dt__op_info *info = dt__op_find(self->ctx, name);
    if (!info)
        return dt_error_status(self->ctx);
    add_schema(info->op->schema, "", self->out);
    if (info->op->rule)
        dt__text_add(self->out, "rule: %s\n", info->op->rule);
    return add_samples(self, info->op->samples, self->out);
}

static dt_status print_table(session *self) {
    for (int i = 0; i < dt__op_count(self->ctx); i++) {
        const dt__op_info *info = dt__op_at(self->ctx, i);
        if (!info)
            return dt_error_status(self->ctx);
        add_schema(info->op->schema, "", self->out);
    }
    return DT_OK;
}

static dt_status print_table_json(session *self) {
    json_add(self->out, "[");
    for (int i = 0; i < dt__op_count(self->ctx); i++) {
        const dt__op_info *info = dt__op_at(self->ctx, i);
        if (!info)
            return dt_error_status(self->ctx);
        json_add(self->out, i ? ",{\"name\":" : "{\"name\":");
        json_add_string(self->out, info->schema.name);
        json_add(self->out, ",\"schema\":");
        json_add_string(self->out, info->op->schema);
        json_add(self->out, "}");
    }
    json_add(self->out, "]\n");
    return DT_OK;
}

static dt_status print_ops(session *self, void *user) {
    (void)user;
    if (self->given->n_words)
        DT__TRY(print_op(self, self->given->words[0]));
    else
        DT__TRY((args_has(self->given, "json") ? print_table_json : print_table)(self));
    return finish(self);
}

static int run_rules(const command *self, int argc, char **argv) {
    args given;
    dt_status parsed = args_parse(self, argc, argv, 1, &given);
    if (parsed != DT_OK)
        return parsed == DT_IN_PROGRESS ? EXIT_OK : EXIT_USAGE;
    if (given.n_words != 1)
        return args_misused(self, "a call is wanted, such as 'mm(f32[8,4]; f32[4,6])'");
    return session_run(&given, 0, print_rules, NULL);
}

static int run_ops(const command *self, int argc, char **argv) {
    args given;
    dt_status parsed = args_parse(self, argc, argv, 1, &given);
    if (parsed != DT_OK)
        return parsed == DT_IN_PROGRESS ? EXIT_OK : EXIT_USAGE;
    if (given.n_words && args_has(&given, "json"))
        return args_misused(self, "--json prints the whole table: leave out the name");
    return session_run(&given, 0, print_ops, NULL);
}

const command rules_command = {
    .name = "rules",
    .summary = "print which placements are correct for a call, on one mesh dim",
    .synopsis = "[OPTIONS] CALL",
    .about =
        "Prints the rows of an op's rule: placements of the inputs, an arrow, placements of the outputs. Each row\n"
        "holds for any number of ranks and for uneven and empty shards. That all Replicate gives Replicate goes\n"
        "without saying. A call is written as for dtensor explain, without placements.",
    .options =
        (const command_option[]){
            {.name = "json", .help = "print what dtensor query answers to \"rules\""},
            {0},
        },
    .examples = "  dtensor rules 'matmul(f32[8,4]; f32[4,6])'\n"
                "  dtensor rules 'sum(f32[8,4]; dim=[1])' --json",
    .run = run_rules,
};

const command ops_command = {
    .name = "ops",
    .summary = "list the ops, or tell about one",
    .synopsis = "[OPTIONS] [NAME]",
    .about =
        "Prints the signature of every op. With a name, prints the op's signatures, its rule, and the rows of its\n"
        "rule for a few calls.",
    .options =
        (const command_option[]){
            {.name = "json", .help = "print the table as a list of objects with name and schema"},
            {0},
        },
    .examples = "  dtensor ops\n"
                "  dtensor ops addmm",
    .run = run_ops,
};
