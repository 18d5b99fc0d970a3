/* SPDX-License-Identifier: Apache-2.0
 *
 * `dtensor explain`: why an op selects its placements. The cheapest combinations of rows side by side, which one is
 * selected and why, and what moves for it. Nothing is run, so the mesh may be of any size.
 */
#include "arguments.h"
#include "dispatch/dispatch.h"
#include "explain_svg.h"
#include "json.h"
#include "table.h"

#include <string.h>

enum { MAX_CANDIDATES = 64, DEFAULT_CANDIDATES = 5 };

typedef struct explanation {
    session *session;
    int64_t max_candidates;
    dt_mesh *mesh;
    dt__placed_call placed;
    dt__explanation found;     /* the cheapest candidate first: the one that is selected, unless the op decomposes */
    const char *decomposition; /* its lines; empty: there is none */
    bool decomposes;
} explanation;

static dt_status read_call(explanation *self) {
    dt__arena *arena = self->session->arena;
    self->mesh = dt__call_text_mesh(arena, self->session->args->words[0]);
    if (!self->mesh)
        return dt_error_status(self->session->ctx);
    int n = dt_mesh_n_dims(self->mesh);
    int64_t *sizes = DT__NEW_ARRAY(arena, int64_t, n);
    if (!sizes)
        return DT_ERR_MEMORY;
    for (int m = 0; m < n; m++)
        sizes[m] = dt_mesh_dim_size(self->mesh, m);
    return dt__placed_call_parse(arena, self->session->args->words[0], n, sizes, &self->placed);
}

/* "S(0),R; R,S(1)" */
static const char *label_lists(const explanation *self, int n, const dt_placement *const *lists) {
    dt__text text = dt__text_new(self->session->ctx);
    dt__placement_lists_text(self->placed.n_mesh_dims, n, lists, &text);
    return label_keep(&text, self->session->arena);
}

/* "all_gather 2, all_reduce 1", or "none". */
static const char *label_collectives(const explanation *self, const dt__input_moves *moved) {
    dt__text text = dt__text_new(self->session->ctx);
    if (!dt__input_moves_text(moved, &text))
        dt__text_add(&text, "none");
    return label_keep(&text, self->session->arena);
}

static dt_status add_candidates(const explanation *self, dt__text *out) {
    dt__arena *arena = self->session->arena;
    const dt_op_call *call = &self->placed.call;
    bool reduces = false; /* a column that would be all zeros is left out */
    for (int c = 0; c < self->found.n_candidates; c++)
        reduces |= self->found.candidates[c].finish_us > 0;
    table rows = table_new(arena, reduces ? 7 : 6);
    DT__TRY(table_add(&rows,
                      (const char *[]){" ", "inputs", "outputs", "collectives", "received", "to move", "to reduce"}));
    for (int c = 0; c < self->found.n_candidates; c++) {
        const dt__candidate *candidate = &self->found.candidates[c];
        const char *mark = c == 0 && !self->decomposes ? "*" : " ";
        DT__TRY(table_add(&rows, (const char *[]){mark, label_lists(self, call->n_inputs, candidate->inputs),
                                                  label_lists(self, call->n_outputs, candidate->outputs),
                                                  label_collectives(self, &self->found.moves[c]),
                                                  label_bytes(self->found.moves[c].bytes, arena),
                                                  label_time(candidate->cost_us, arena),
                                                  label_time(candidate->finish_us, arena)}));
    }
    table_print(&rows, out);
    return DT_OK;
}

/* The rows of the selected combination, a line per mesh dim. */
static void add_rows(const explanation *self, dt__text *out) {
    const dt_op_call *call = &self->placed.call;
    dt_row_entry replicated[1024] = {0};
    dt__row replicate = {.entries = replicated};
    for (int m = 0; m < self->placed.n_mesh_dims; m++) {
        const dt__row *row = self->found.candidates[0].rows[m];
        const char *name = label_mesh_dim(self->mesh, m, self->session->arena);
        dt__text_add(out, "  mesh dim %s: ", name ? name : "");
        if (row || call->n_inputs + call->n_outputs <= 1024)
            dt__row_text(call, row ? row : &replicate, out);
        dt__text_add(out, "\n");
    }
}

static const char *label_sum(const explanation *self, int c) {
    const dt__candidate *candidate = &self->found.candidates[c];
    const char *label = label_time(candidate->cost_us + candidate->finish_us, self->session->arena);
    return label ? label : "";
}

static void add_reason(const explanation *self, dt__text *out) {
    const dt__candidate *candidates = self->found.candidates;
    bool reduces = candidates[0].finish_us > 0 || (self->found.n_candidates > 1 && candidates[1].finish_us > 0);
    if (self->found.moves[0].n_collectives == 0)
        dt__text_add(out, "selected because it sends nothing; rows by mesh dim:\n");
    else if (self->found.n_candidates > 1)
        dt__text_add(out,
                     "selected because moving its inputs%s takes %s, and %s for the next best; rows by mesh dim:\n",
                     reduces ? " and reducing its partial outputs" : "", label_sum(self, 0), label_sum(self, 1));
    else
        dt__text_add(out, "selected because there is no other; rows by mesh dim:\n");
}

static dt_status add_steps(const explanation *self, const dt__plan *plan, dt__text *out) {
    dt__arena *arena = self->session->arena;
    table steps = table_new(arena, 3);
    for (int s = 0; plan && s < plan->n_steps; s++)
        DT__TRY(table_add(&steps, (const char *[]){dt__step_kind_name(plan->steps[s].collective),
                                                   label_bytes(plan->steps[s].bytes, arena),
                                                   label_time(plan->steps[s].cost_us, arena)}));
    table_print(&steps, out);
    return DT_OK;
}

/* "input 1: S(0)R->RR" with its steps below. */
static dt_status add_input(const explanation *self, int i, dt__text *out) {
    const dt__candidate *candidate = &self->found.candidates[0];
    const dt__plan *plan = &self->found.moves[0].plans[i];
    bool made_locally = false;
    for (int m = 0; m < candidate->n_mesh_dims; m++)
        made_locally |= !dt_placement_equal(&candidate->inputs[i][m], &candidate->moved[i][m]);
    dt__text_add(out, "input %d: ", i + 1);
    dt__explain_use(&self->placed, &self->found, i, out);
    if (plan->n_steps == 0)
        dt__text_add(out, "stays");
    else
        dt__plan_trace(plan, out);
    if (made_locally) {
        const char *placements = label_lists(self, 1, &candidate->inputs[i]);
        dt__text_add(out, ", then each rank makes %s of it locally", placements ? placements : "");
    }
    dt__text_add(out, "\n");
    DT__TRY(add_steps(self, self->found.uses ? &self->found.uses[i] : NULL, out));
    return add_steps(self, plan, out);
}

static dt_status read_decomposition(explanation *self) {
    dt__text text = dt__text_new(self->session->ctx);
    const dt__candidate *best = self->placed.info->op->kernel ? self->found.candidates : NULL;
    dt_status status =
        dt__explain_decomposition(self->session->arena, self->mesh, &self->placed, best, &text, &self->decomposes);
    self->decomposition = label_keep(&text, self->session->arena);
    return status == DT_OK && !self->decomposition ? DT_ERR_MEMORY : status;
}

/* The dry run of a decomposition, above the rows of the kernel, if there is one. */
static dt_status print_text(explanation *self, dt__text *out) {
    dt__text_add(out, "%s\n\n%s", self->session->args->words[0], self->decomposition);
    if (!self->placed.info->op->kernel)
        return DT_OK;
    DT__TRY(add_candidates(self, out));
    dt__text_add(out, "\n");
    if (self->decomposes) {
        dt__text_add(out, "the decomposition is selected because the best of these rows takes %s\n",
                     label_sum(self, 0));
        return DT_OK;
    }
    add_reason(self, out);
    add_rows(self, out);
    dt__text_add(out, "\n");
    for (int i = 0; i < self->placed.call.n_inputs; i++)
        DT__TRY(add_input(self, i, out));
    return DT_OK;
}

/* Where the decomposition is selected, `chosen` is null and there are no plans. */
static dt_status print_json(explanation *self, dt__text *out) {
    json_t *candidates = json_array(), *plans = json_array();
    for (int c = 0; c < self->found.n_candidates; c++)
        json_append(&candidates, moves_json(&self->placed, &self->found.candidates[c], &self->found.moves[c]));
    for (int i = 0; i < self->placed.call.n_inputs && !self->decomposes; i++)
        json_append(&plans, plan_json(self->session->ctx, &self->found.moves[0].plans[i]));
    json_t *uses = self->found.uses ? json_array() : NULL; /* null for an input that is seen as it is stored */
    for (int i = 0; uses && i < self->placed.call.n_inputs; i++)
        json_append(&uses,
                    self->placed.stored[i] ? plan_json(self->session->ctx, &self->found.uses[i]) : json_null());
    json_t *decomposition = *self->decomposition ? string_json(self->decomposition) : NULL;
    json_t *answer = json_pack("{s:o, s:o, s:o, s:o, s:o*, s:o*}", "call", string_json(self->session->args->words[0]),
                               "candidates", candidates, "chosen", self->decomposes ? json_null() : json_integer(0),
                               "plans", plans, "uses", uses, "decomposition", decomposition);
    return json_write_line(self->session->ctx, answer, out);
}

static dt_status print_svg(explanation *self, dt__text *out) {
    dt__arena *arena = self->session->arena;
    if (self->decomposes)
        return dt__fail(self->session->ctx, DT_ERR_UNSUPPORTED,
                        "%s: the decomposition is selected, whose ops are not drawn: expected a call without --svg",
                        self->placed.info->schema.name);
    const dt__input_moves *moves = &self->found.moves[0];
    const char *bytes = label_bytes(moves->bytes, arena),
               *time = label_time(self->found.candidates[0].cost_us, arena);
    const char *collectives = label_collectives(self, moves);
    drawn_op op = {.title = self->session->args->words[0],
                   .mesh = self->mesh,
                   .placed = &self->placed,
                   .selected = &self->found.candidates[0],
                   .moves = moves};
    if (!bytes || !time || !collectives)
        return DT_ERR_MEMORY;
    op.summary = moves->n_collectives
                     ? label_format(arena, "%s: one rank receives at most %s, in %s", collectives, bytes, time)
                     : "nothing is sent";
    return op.summary ? explain_svg(&op, arena, out) : DT_ERR_MEMORY;
}

static dt_status run_session(session *started, void *user) {
    explanation *self = user;
    self->session = started;
    DT__TRY(read_call(self));
    if (self->placed.info->op->kernel)
        DT__TRY(dt__explanation_new(started->arena, &self->placed, (int)self->max_candidates, &self->found));
    else if (args_has(started->args, "svg") || args_has(started->args, "json"))
        return dt__fail(started->ctx, DT_ERR_UNSUPPORTED,
                        "%s: the op has a decomposition only: expected a call without --svg and --json",
                        self->placed.info->schema.name);
    DT__TRY(read_decomposition(self));
    if (args_has(started->args, "svg"))
        return print_svg(self, started->out);
    return (args_has(started->args, "json") ? print_json : print_text)(self, started->out);
}

static int run_explain(const arguments *args) {
    explanation self = {.max_candidates = DEFAULT_CANDIDATES};
    if (args_int(args, "most", 1, MAX_CANDIDATES, &self.max_candidates) != DT_OK)
        return EXIT_USAGE;
    if (args_has(args, "svg") && args_has(args, "json"))
        return args_misused(args->command, "--svg and --json exclude each other");
    return session_run(args, 0, run_session, &self);
}

const command explain_command = {
    .name = "explain",
    .summary = "explain why an op selects its placements, and what moves",
    .synopsis = "[OPTIONS] CALL",
    .about =
        "Shows the cheapest ways to run an op on inputs with these placements, the one that is selected (*), the\n"
        "row of the op's rule that it follows on each mesh dim, and the collectives that redistribute each input.\n"
        "A call is an op's name and its arguments between parentheses, separated by semicolons: tensors as\n"
        "f32[8,4] S(0),R (Replicate where placements are left out), lists of tensors in braces, other arguments\n"
        "as values or as name=value. The mesh follows, as in dtensor show: after the call or after a tensor.\n"
        "dtensor trace explains the calls of a whole program.",
    .options =
        (const command_option[]){
            RANKS_OPTION,
            MACHINE_OPTION,
            {.name = "most", .value = "COUNT", .help = "max number of candidates, from 1 to 64; default 5"},
            {.name = "svg",
             .value = "FILE",
             .help = "draw inputs, what moves, and outputs as SVG; - is standard output"},
            {.name = "json", .help = "print candidates as dtensor query answers \"propagate\", and the plans"},
            {0},
        },
    .examples =
        "  dtensor explain 'matmul(f32[1024,512] S(0),R; f32[512,256] R,S(1)) on mesh(2x4)'\n"
        "  dtensor explain 'linear(f32[64,512] S(1); f32[256,512] S(1); f32[256] R) on mesh(tp=*)' --ranks 4\n"
        "  dtensor explain 'mm(f32[6,4] S(0),R; f32[4,8] S(0),R) on mesh(dp=2,tp=2)' --svg product.svg\n"
        "  dtensor explain 'softmax(f32[64,512] S(1) on mesh(8); dim=-1)' --json",
    .min_words = 1,
    .max_words = 1,
    .operand = "a call, such as 'mm(f32[8,4] S(0); f32[4,6] R) on mesh(4)'",
    .run = run_explain,
};
