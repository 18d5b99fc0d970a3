/* SPDX-License-Identifier: Apache-2.0
 *
 * `dtensor rules` and `dtensor ops`: the rows that are correct for a call on one mesh dim, and the table of ops.
 */
#include "arguments.h"
#include "c_calls.h"
#include "dispatch/dispatch.h"
#include "json.h"
#include "mesh/mesh.h"
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

/* The entries that input i of a decomposition is tried with: R, its dims, partials that its dtype has. */
static int list_entries(const dt_op_value *value, dt_row_entry *out) {
    int n = 0;
    out[n++] = DT_ROW_R;
    for (int d = 0; d < value->n_dims; d++)
        out[n++] = DT_ROW_S(d);
    for (int reduce = 0; reduce < DT_N_REDUCES; reduce++)
        if (dt_reduce_allowed(value->dtype, (dt_reduce)reduce))
            out[n++] = DT_ROW_P(reduce);
    return n;
}

static dt_placement placement_of(dt_row_entry entry) {
    return entry > 0   ? dt_placement_shard(entry - 1)
           : entry < 0 ? dt_placement_partial((dt_reduce)(-1 - entry))
                       : dt_placement_replicate();
}

static dt_row_entry entry_of(const dt_placement *placement) {
    return dt_placement_is_partial(*placement)     ? DT_ROW_P(placement->reduce)
           : dt_placement_is_replicate(*placement) ? DT_ROW_R
                                                   : DT_ROW_S(placement->dim);
}

/* Adds the row of these inputs if the ops of the decomposition move nothing. */
static dt_status try_row(session *self, const dt__placed_call *placed, dt_mesh *mesh, dt_row_entry *entries,
                         const char *indent, dt__text *out) {
    const int64_t ranks = dt_mesh_size(mesh);
    int n = placed->call.n_inputs;
    const dt__sharding **inputs = DT__NEW_ARRAY(self->arena, const dt__sharding *, n + 1);
    dt__sharding *shardings = DT__NEW_ARRAY(self->arena, dt__sharding, n + 1);
    dt__dry_plan plan;
    if (!inputs || !shardings)
        return DT_ERR_MEMORY;
    for (int i = 0; i < n; i++) {
        const dt_op_value *value = &placed->call.inputs[i];
        dt_placement placement = placement_of(entries[i]);
        inputs[i] = &shardings[i];
        DT__TRY(dt__sharding_new(
            self->arena, &(dt__sharding_desc){1, &ranks, value->n_dims, value->shape, 1, &placement}, &shardings[i]));
    }
    DT__TRY(dt__dry_run(self->arena,
                        &(dt__dry_request){placed->info, placed->bound.overload, n, placed->call.args,
                                           placed->call.inputs, mesh, inputs, false, NULL},
                        &plan));
    if (*plan.refusal || plan.us > 0 || plan.n_outputs != placed->call.n_outputs)
        return DT_OK;
    for (int o = 0; o < plan.n_outputs; o++)
        entries[n + o] = entry_of(plan.outputs[o]);
    dt__text_add(out, "%s", indent);
    dt__row_text(&placed->call, &(dt__row){.entries = entries}, out);
    dt__text_add(out, "  (a decomposition)\n");
    return DT_OK;
}

/* The combinations of placements on two ranks with which the ops of a decomposition move nothing; a decomposition has
 * no rows of its own. */
static dt_status add_decomposed_rows(session *self, const dt__placed_call *placed, const char *indent,
                                     dt__text *out) {
    enum { MAX_OPTIONS = DT_SPEC_MAX_DIMS + DT_N_REDUCES + 1, MAX_TRIES = 1024 };
    int n = placed->call.n_inputs, n_tries = 1;
    dt_row_entry(*options)[MAX_OPTIONS] = dt__arena_alloc(self->arena, (size_t)n + 1, sizeof *options);
    dt_row_entry *entries = DT__NEW_ARRAY(self->arena, dt_row_entry, n + placed->call.n_outputs + 1);
    int *n_options = DT__NEW_ARRAY(self->arena, int, n + 1);
    if (!options || !entries || !n_options)
        return DT_ERR_MEMORY;
    for (int i = 0; i < n; i++) {
        n_options[i] = list_entries(&placed->call.inputs[i], options[i]);
        n_tries *= n_tries <= MAX_TRIES ? n_options[i] : 1;
    }
    dt_mesh *mesh = dt__mesh_from_shape(self->ctx, (dt__mesh_self){DT__ANY_WORLD, 0}, &(int64_t){2}, 1,
                                        (dt__names){0}, &(dt_mesh_options){0});
    dt_status status = mesh ? DT_OK : dt_error_status(self->ctx);
    size_t before = out->n_chars;
    for (int k = 1; k < n_tries && n_tries <= MAX_TRIES && status == DT_OK; k++) { /* the first one is all R */
        for (int i = n - 1, rest = k; i >= 0; rest /= n_options[i--])
            entries[i] = options[i][rest % n_options[i]];
        status = try_row(self, placed, mesh, entries, indent, out);
    }
    dt_mesh_release(mesh);
    if (out->n_chars == before)
        dt__text_add(out, "%s(a decomposition whose ops communicate: dtensor explain shows what it selects)\n",
                     indent);
    return status;
}

static dt_status add_rows(session *self, const char *call, const char *indent, dt__text *out) {
    dt__placed_call placed;
    dt__row_list rows;
    DT__TRY(read_rows(self, call, DT_ROW_UNLISTED, &placed, &rows));
    if (!placed.info->op->kernel)
        return add_decomposed_rows(self, &placed, indent, out);
    for (int r = 0; r < rows.n_rows; r++) {
        dt__text_add(out, "%s", indent);
        dt__row_text(&placed.call, &rows.rows[r], out);
        dt__text_add(out, "%s\n",
                     rows.rows[r].flags & DT_ROW_MEET      ? "  (the ranks meet)"
                     : rows.rows[r].flags & DT_ROW_SCAN    ? "  (a scan over the ranks)"
                     : rows.rows[r].flags & DT_ROW_WINDOW  ? "  (each rank fetches its window)"
                     : rows.rows[r].flags & DT_ROW_GROUPED ? "  (by whole groups)"
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

/* A call in C of each of the op's functions. */
static void add_c_calls(const char *op, dt__text *out) {
    for (const c_call *call = c_calls; call->op; call++)
        if (strcmp(call->op, op) == 0)
            dt__text_add(out, "\n%s", call->text);
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
    if (info->op->flags & DT_OP_LIST)
        dt__text_add(self->out, "each item of the lists is decided alone, as %s is\n", info->op->each);
    add_c_calls(info->schema.name, self->out);
    if (info->op->flags & DT_OP_LIST)
        return dt__text_status(self->out);
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
    DT__TRY(match_ops(self, fits_word, marked));
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
        "holds for any number of ranks and for uneven and empty shards. The row with everything Replicate\n"
        "is implied. Rows that exchange something while the op runs are marked. A call is written as for dtensor\n"
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
        "'*mm', or the beginning of a word in a name: soft for log_softmax. Where it selects one op, its\n"
        "signatures, its rule, a call in C with the types of its arguments and results, and the rows of its rule\n"
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
