/* SPDX-License-Identifier: Apache-2.0
 *
 * `dtensor explain`: why an op chooses its placements. The cheapest combinations of rows side by side, which one is
 * taken and why, and what moves for it. Nothing is run, so the mesh may be of any size.
 */
#include "args.h"
#include "json_text.h"
#include "labels.h"
#include "moves.h"
#include "output.h"
#include "placed.h"
#include "plan_json.h"
#include "session.h"
#include "table.h"

enum { MOST_CANDIDATES = 64, DEFAULT_CANDIDATES = 5, PLACEMENTS_BYTES = 512 };

typedef struct explaining {
    session *session;
    int64_t most;
    dt_mesh *mesh;
    dt__placed_call placed;
    int n;
    dt__candidate choices[MOST_CANDIDATES];
    moves moved[MOST_CANDIDATES];
} explaining;

static dt_status read_call(explaining *self) {
    dt__arena *arena = self->session->arena;
    self->mesh = placed_mesh(self->session, "mesh");
    if (!self->mesh)
        return dt_error_status(self->session->ctx);
    int n = dt_mesh_n_dims(self->mesh);
    int64_t *sizes = DT__NEW_ARRAY(arena, int64_t, n);
    if (!sizes)
        return DT_ERR_MEMORY;
    for (int m = 0; m < n; m++)
        sizes[m] = dt_mesh_dim_size(self->mesh, m);
    return dt__placed_call_parse(arena, self->session->given->words[0], n, sizes, &self->placed);
}

static dt_status choose(explaining *self) {
    dt__arena *arena = self->session->arena;
    const dt__placed_call *placed = &self->placed;
    dt__placed_inputs on = {placed->n_mesh_dims, placed->mesh, placed->inputs, &dt__machine_builtin};
    DT__TRY(dt__list_candidates(arena, &placed->call, &on, (int)self->most, self->choices, &self->n));
    for (int c = 0; c < self->n; c++)
        DT__TRY(moves_plan(arena, placed, &self->choices[c], &self->moved[c]));
    return DT_OK;
}

static const char *keep(explaining *self, dt__text *text) { return label_keep(text, self->session->arena); }

static const char *label_time(explaining *self, double us) {
    dt__text text = dt__text_new(self->session->ctx);
    dt__text_add(&text,
                 us < 1000  ? "%.3g us"
                 : us < 1e6 ? "%.3g ms"
                            : "%.4g s",
                 us < 1000  ? us
                 : us < 1e6 ? us / 1e3
                            : us / 1e6);
    return keep(self, &text);
}

/* "S(0),R; R,S(1)" */
static void add_list(const explaining *self, int n, const dt_placement *const *lists, dt__text *out) {
    char text[PLACEMENTS_BYTES];
    for (int i = 0; i < n; i++) {
        dt_placements_text(self->placed.n_mesh_dims, lists[i], sizeof text, text);
        dt__text_add(out, "%s%s", i ? "; " : "", text);
    }
}

static const char *label_list(explaining *self, int n, const dt_placement *const *lists) {
    dt__text text = dt__text_new(self->session->ctx);
    add_list(self, n, lists, &text);
    return keep(self, &text);
}

/* "all_gather 2, all_reduce 1", or "nothing". */
static const char *label_moves(explaining *self, const moves *moved) {
    dt__text text = dt__text_new(self->session->ctx);
    for (int c = DT__STEP_NONE + 1; c < DT__N_STEP_KINDS; c++)
        if (moved->collectives[c])
            dt__text_add(&text, "%s%s %d", text.n_chars ? ", " : "", dt__step_kind_name((dt__step_kind)c),
                         moved->collectives[c]);
    if (!text.n_chars)
        dt__text_add(&text, "nothing");
    return keep(self, &text);
}

static dt_status add_candidates(explaining *self, dt__text *out) {
    dt__arena *arena = self->session->arena;
    const dt_op_call *call = &self->placed.call;
    table rows = table_new(arena, 6);
    DT__TRY(table_add(&rows, (const char *[]){" ", "inputs", "outputs", "collectives", "received", "time"}));
    for (int c = 0; c < self->n; c++) {
        const dt__candidate *choice = &self->choices[c];
        DT__TRY(table_add(&rows, (const char *[]){c ? " " : "*", label_list(self, call->n_inputs, choice->inputs),
                                                  label_list(self, call->n_outputs, choice->outputs),
                                                  label_moves(self, &self->moved[c]),
                                                  label_bytes(self->moved[c].bytes, arena),
                                                  label_time(self, choice->cost_us)}));
    }
    table_print(&rows, out);
    return DT_OK;
}

static void add_mesh_dim(const explaining *self, int m, dt__text *out) {
    const char *name = dt_mesh_dim_name(self->mesh, m);
    if (name)
        dt__text_add(out, "%s", name);
    else
        dt__text_add(out, "%d", m);
}

/* The rows of the choice, a line per mesh dim. */
static void add_rows(const explaining *self, dt__text *out) {
    const dt_op_call *call = &self->placed.call;
    dt_row_entry whole[1024] = {0};
    dt__row replicate = {0, whole};
    for (int m = 0; m < self->placed.n_mesh_dims; m++) {
        const dt__row *row = self->choices[0].rows[m];
        dt__text_add(out, "  mesh dim ");
        add_mesh_dim(self, m, out);
        dt__text_add(out, ": ");
        if (row || call->n_inputs + call->n_outputs <= 1024)
            dt__row_text(call, row ? row : &replicate, out);
        dt__text_add(out, "\n");
    }
}

static void add_reason(explaining *self, dt__text *out) {
    const char *time = label_time(self, self->choices[0].cost_us);
    const char *next = self->n > 1 ? label_time(self, self->choices[1].cost_us) : NULL;
    if (self->moved[0].n_collectives == 0)
        dt__text_add(out, "chosen because nothing has to be sent for it; by mesh dim:\n");
    else if (next)
        dt__text_add(out, "chosen because it moves for %s, and the next best for %s; by mesh dim:\n",
                     time ? time : "", next);
    else
        dt__text_add(out, "chosen because there is no other; by mesh dim:\n");
}

/* "input 1: S(0),R to R,R", its steps below; what each rank makes itself is told, too. */
static dt_status add_moves(explaining *self, dt__text *out) {
    dt__arena *arena = self->session->arena;
    const dt__candidate *choice = &self->choices[0];
    for (int i = 0; i < self->placed.call.n_inputs; i++) {
        const dt__plan *plan = &self->moved[0].plans[i];
        bool makes = false;
        for (int m = 0; m < choice->n_mesh_dims; m++)
            makes |= !dt_placement_equal(&choice->inputs[i][m], &choice->moved[i][m]);
        dt__text_add(out, "input %d: ", i);
        if (plan->n_steps == 0)
            dt__text_add(out, "stays");
        else
            dt__plan_trace(plan, out);
        if (makes) {
            dt__text_add(out, ", of which each rank makes ");
            add_list(self, 1, &choice->inputs[i], out);
        }
        dt__text_add(out, "\n");
        if (plan->n_steps == 0)
            continue;
        table steps = table_new(arena, 3);
        for (int s = 0; s < plan->n_steps; s++)
            DT__TRY(table_add(&steps, (const char *[]){dt__step_kind_name(plan->steps[s].collective),
                                                       label_bytes(plan->steps[s].bytes, arena),
                                                       label_time(self, plan->steps[s].cost_us)}));
        table_print(&steps, out);
    }
    return DT_OK;
}

static dt_status print_text(explaining *self, dt__text *out) {
    dt__text_add(out, "%s on %s\n\n", self->session->given->words[0], dt_mesh_text(self->mesh));
    DT__TRY(add_candidates(self, out));
    dt__text_add(out, "\n");
    add_reason(self, out);
    add_rows(self, out);
    dt__text_add(out, "\n");
    return add_moves(self, out);
}

static dt_status print_json(explaining *self, dt__text *out) {
    json_add(out, "{\"call\":");
    json_add_string(out, self->session->given->words[0]);
    json_add(out, ",\"candidates\":[");
    for (int c = 0; c < self->n; c++) {
        json_add(out, c ? ",{" : "{");
        moves_json(&self->placed, &self->choices[c], &self->moved[c], out);
        json_add(out, "}");
    }
    json_add(out, "],\"chosen\":0,\"plans\":[");
    for (int i = 0; i < self->placed.call.n_inputs; i++) {
        json_add(out, i ? ",{" : "{");
        plan_json(self->session->ctx, &self->moved[0].plans[i], out);
        json_add(out, "}");
    }
    json_add(out, "]}\n");
    return DT_OK;
}

static dt_status explain_it(session *run_by, void *user) {
    explaining *self = user;
    self->session = run_by;
    DT__TRY(read_call(self));
    DT__TRY(choose(self));
    DT__TRY((args_has(run_by->given, "json") ? print_json : print_text)(self, run_by->out));
    DT__TRY(dt__text_status(run_by->out));
    return output_write(run_by->out, NULL);
}

static int run(const command *self, int argc, char **argv) {
    args given;
    explaining one = {.most = DEFAULT_CANDIDATES};
    dt_status parsed = args_parse(self, argc, argv, 1, &given);
    if (parsed != DT_OK)
        return parsed == DT_IN_PROGRESS ? EXIT_OK : EXIT_USAGE;
    if (given.n_words != 1)
        return args_misused(self, "a call is wanted, such as 'mm(f32[8,4] S(0); f32[4,6] R)'");
    if (!args_has(&given, "mesh"))
        return args_misused(self, "--mesh is missing");
    if (args_has(&given, "most") && args_number(&given, "most", 1, MOST_CANDIDATES, &one.most) != DT_OK)
        return EXIT_USAGE;
    return session_run(&given, 0, explain_it, &one);
}

const command explain_command = {
    .name = "explain",
    .summary = "say why an op chooses its placements, and what moves",
    .synopsis = "--mesh MESH [OPTIONS] CALL",
    .about =
        "Shows the cheapest ways to run an op on inputs with these placements, the one that is chosen (*), the row\n"
        "of the op's rule that it follows on each mesh dim, and the collectives that bring each input there. A call "
        "is\n"
        "an op's name and its arguments between parentheses, separated by semicolons: tensors as f32[8,4] S(0),R\n"
        "(Replicate where placements are left out), lists of tensors in braces, other arguments as values or as\n"
        "name=value.",
    .options =
        (const command_option[]){
            {.name = "mesh", .value = "MESH", .help = "the mesh"},
            {.name = "most", .value = "COUNT", .help = "candidates to show, from 1 to 64; default 5"},
            {.name = "json", .help = "print candidates as dtensor query answers \"propagate\", and the plans"},
            {0},
        },
    .examples = "  dtensor explain 'matmul(f32[1024,512] S(0),R; f32[512,256] R,S(1))' --mesh 2,4\n"
                "  dtensor explain 'linear(f32[64,512] S(1); f32[256,512] S(1); f32[256] R)' --mesh tp=4\n"
                "  dtensor explain 'softmax(f32[64,512] S(1); dim=-1)' --mesh 8 --json",
    .run = run,
};
