/* SPDX-License-Identifier: Apache-2.0
 *
 * `dtensor plan`: the steps that take a tensor from one list of placements to another, with what they move, hold and
 * cost, beside the lower bound of any plan; or all planners side by side. Nothing is run, so the mesh may be of any
 * size.
 */
#include "arguments.h"
#include "json.h"
#include "plan_svg.h"
#include "table.h"

#include <string.h>

typedef struct planning {
    session *session;
    bool all; /* every planner */
    dt__planner planner;
    dt_spec *from, *to;
    dt__plan plans[DT__N_PLANNERS];
    const char *refused[DT__N_PLANNERS]; /* why there is no such plan, or NULL */
    int n_plans;
} planning;

static dt_spec *make_spec(dt_mesh *mesh, dt_spec_desc desc, const char *placements) {
    desc.text = placements;
    return dt_spec_new(mesh, &desc);
}

static dt_status read_specs(planning *self) {
    const arguments *args = self->session->args;
    int64_t shape[DT_SPEC_MAX_DIMS];
    dt_spec_desc desc = {.shape = shape};
    DT__TRY(session_dtype(self->session, &desc.dtype));
    DT__TRY(session_shape(self->session, shape, &desc.n_dims));
    dt_mesh *mesh = session_mesh(self->session, "mesh");
    dt_mesh *to = mesh && args_has(args, "to-mesh") ? session_mesh(self->session, "to-mesh") : mesh;
    self->from = mesh && to ? make_spec(mesh, desc, args->words[0]) : NULL;
    self->to = self->from ? make_spec(to, desc, args->words[1]) : NULL;
    return dt_error_status(self->session->ctx);
}

/* With --planner all, one planner may refuse what another can do. */
static dt_status make_plan(planning *self, const dt__move *move, dt__planner planner) {
    dt_ctx *ctx = self->session->ctx;
    dt__plan *plan = &self->plans[self->n_plans];
    const char **refused = &self->refused[self->n_plans++];
    plan->planner = planner;
    dt_status status = dt__plan_new(self->session->arena, move, planner, &dt__machine_builtin, plan);
    if (!self->all || (status != DT_ERR_MESH && status != DT_ERR_UNSUPPORTED))
        return status;
    *refused = dt__arena_copy_text(self->session->arena, dt_error_text(ctx));
    if (planner == DT__PLANNER_DIRECT) /* which can do what any other can */
        return status;
    dt_error_clear(ctx);
    return *refused ? DT_OK : DT_ERR_MEMORY;
}

static dt_status make_plans(planning *self) {
    dt__move move;
    DT__TRY(dt__move_of_specs(self->from, self->to, &move));
    if (move.to_mesh && !args_has(self->session->args, "planner"))
        self->planner = DT__PLANNER_DIRECT;
    for (int planner = 0; planner < DT__N_PLANNERS; planner++)
        if (self->all || planner == (int)self->planner)
            DT__TRY(make_plan(self, &move, (dt__planner)planner));
    return DT_OK;
}

/* "dp,tp": the mesh dims over which a step communicates. */
static const char *label_mesh_dims(const planning *self, const dt__plan_step *step) {
    dt__arena *arena = self->session->arena;
    if (step->n_mesh_dims == 0)
        return step->transfer->from_mesh ? "both meshes" : "-";
    dt__text text = dt__text_new(arena->ctx);
    for (int i = 0; i < step->n_mesh_dims; i++) {
        const char *name = label_mesh_dim(dt_spec_mesh(self->from), step->mesh_dims[i], arena);
        dt__text_add(&text, "%s%s", i ? "," : "", name ? name : "");
    }
    return label_keep(&text, arena);
}

static const char *label_state(const planning *self, int n_mesh_dims, const dt_placement *placements) {
    dt__text text = dt__text_new(self->session->ctx);
    dt__plan_state_text(n_mesh_dims, placements, &text);
    return label_keep(&text, self->session->arena);
}

static const char *label_trace(const planning *self, const dt__plan *plan) {
    dt__text text = dt__text_new(self->session->ctx);
    dt__plan_trace(plan, &text);
    return label_keep(&text, self->session->arena);
}

static dt_status add_steps(const planning *self, const dt__plan *plan, dt__text *out) {
    dt__arena *arena = self->session->arena;
    table steps = table_new(arena, 6);
    DT__TRY(table_add(&steps, (const char *[]){"collective", "over", "from", "to", "received", "time"}));
    for (int i = 0; i < plan->n_steps; i++) {
        const dt__plan_step *step = &plan->steps[i];
        DT__TRY(
            table_add(&steps, (const char *[]){dt__step_kind_name(step->collective), label_mesh_dims(self, step),
                                               label_state(self, plan->n_mesh_dims, step->before),
                                               label_state(self, plan->n_target_mesh_dims, step->after),
                                               label_bytes(step->bytes, arena), label_time(step->cost_us, arena)}));
    }
    table_print(&steps, out);
    return DT_OK;
}

/* The figures of a plan as text. */
typedef struct plan_figures {
    const char *received, *bound, *peak, *time;
} plan_figures;

static dt_status make_figures(const planning *self, const dt__plan *plan, plan_figures *out) {
    dt__arena *arena = self->session->arena;
    *out = (plan_figures){label_bytes(plan->bytes, arena), label_bytes(plan->lower_bound_bytes, arena),
                          label_bytes(plan->peak_bytes, arena), label_time(plan->cost_us, arena)};
    return out->received && out->bound && out->peak && out->time ? DT_OK : DT_ERR_MEMORY;
}

static dt_status print_plan(const planning *self, const dt__plan *plan, dt__text *out) {
    plan_figures figures;
    DT__TRY(make_figures(self, plan, &figures));
    if (plan->n_steps == 0)
        dt__text_add(out, "%s: nothing to do\n", dt__planner_name(plan->planner));
    else {
        dt__text_add(out, "%s: %d step%s, %d collective%s\n", dt__planner_name(plan->planner), plan->n_steps,
                     plan->n_steps == 1 ? "" : "s", plan->n_collectives, plan->n_collectives == 1 ? "" : "s");
        DT__TRY(add_steps(self, plan, out));
    }
    dt__text_add(out, "\nreceived by one rank, at most: %s (lower bound of any plan: %s)\n", figures.received,
                 figures.bound);
    dt__text_add(out, "held by one rank, at most: %s\n", figures.peak);
    dt__text_add(out, "predicted time: %s\n", figures.time);
    return DT_OK;
}

/* Received bytes by the lower bound, "2.50"; "-" where nothing has to move. */
static const char *label_ratio(const planning *self, const dt__plan *plan) {
    if (!plan->lower_bound_bytes)
        return "-";
    return label_format(self->session->arena, "%.2f", (double)plan->bytes / (double)plan->lower_bound_bytes);
}

static dt_status add_planner_row(const planning *self, const dt__plan *plan, table *rows) {
    plan_figures figures;
    DT__TRY(make_figures(self, plan, &figures));
    return table_add(rows,
                     (const char *[]){dt__planner_name(plan->planner),
                                      label_format(rows->arena, "%d", plan->n_collectives), figures.received,
                                      label_ratio(self, plan), figures.peak, figures.time, label_trace(self, plan)});
}

static dt_status print_comparison(const planning *self, dt__text *out) {
    dt__arena *arena = self->session->arena;
    const char *bound = label_bytes(self->plans[DT__PLANNER_DIRECT].lower_bound_bytes, arena);
    table rows = table_new(arena, 7);
    if (!bound)
        return DT_ERR_MEMORY;
    DT__TRY(table_add(&rows,
                      (const char *[]){"planner", "collectives", "received", "of bound", "held", "time", "trace"}));
    for (int i = 0; i < self->n_plans; i++)
        if (self->refused[i])
            DT__TRY(table_add(&rows, (const char *[]){dt__planner_name(self->plans[i].planner), "-", "-", "-", "-",
                                                      "-", self->refused[i]}));
        else
            DT__TRY(add_planner_row(self, &self->plans[i], &rows));
    table_print(&rows, out);
    dt__text_add(out, "\nlower bound of any plan, for the rank that receives most: %s\n", bound);
    return DT_OK;
}

static dt_status print_text(planning *self, dt__text *out) {
    const arguments *args = self->session->args;
    const char *from = label_spec(self->from, self->session->arena);
    if (!from)
        return DT_ERR_MEMORY;
    dt__text_add(out, "%s to %s", from, args->words[1]);
    if (args_has(args, "to-mesh"))
        dt__text_add(out, " on mesh(%s)", dt_mesh_text(dt_spec_mesh(self->to)));
    dt__text_add(out, "\n\n");
    return self->all ? print_comparison(self, out) : print_plan(self, &self->plans[0], out);
}

/* One planner's plan, or why it refused. */
static json_t *planner_json(const planning *self, int i) {
    json_t *object = json_pack("{s:s}", "planner", dt__planner_name(self->plans[i].planner));
    json_t *members = self->refused[i] ? json_pack("{s:o}", "refused", string_json(self->refused[i]))
                                       : plan_json(self->session->ctx, &self->plans[i]);
    bool ok = object && members && json_object_update(object, members) == 0;
    json_decref(members);
    if (ok)
        return object;
    json_decref(object);
    return NULL;
}

static dt_status print_json(planning *self, dt__text *out) {
    const char *from = label_spec(self->from, self->session->arena), *to = label_spec(self->to, self->session->arena);
    json_t *plans = json_array();
    for (int i = 0; i < self->n_plans; i++)
        json_append(&plans, planner_json(self, i));
    json_t *answer = json_pack("{s:o, s:o, s:o}", "from", string_json(from), "to", string_json(to), "plans", plans);
    return json_write_line(self->session->ctx, answer, out);
}

static dt_status fill_step_texts(const planning *self, const dt__plan *plan, int i, const char **out) {
    dt__arena *arena = self->session->arena;
    const dt__plan_step *step = &plan->steps[i];
    const char *bytes = label_bytes(step->bytes, arena), *time = label_time(step->cost_us, arena);
    const char *mesh_dims = label_mesh_dims(self, step);
    if (!bytes || !time || !mesh_dims)
        return DT_ERR_MEMORY;
    out[0] = label_format(arena, "%d: %s", i + 1, dt__step_kind_name(step->collective));
    out[1] = label_format(arena, "over %s", mesh_dims);
    out[2] = label_format(arena, "at most %s, %s", bytes, time);
    return out[0] && out[1] && out[2] ? DT_OK : DT_ERR_MEMORY;
}

static dt_status fill_titles(const planning *self, const dt__plan *plan, plan_svg_texts *out) {
    const arguments *args = self->session->args;
    dt__arena *arena = self->session->arena;
    plan_figures figures;
    const char *from = label_spec(self->from, arena), *to = label_spec(self->to, arena);
    DT__TRY(make_figures(self, plan, &figures));
    if (!from || !to)
        return DT_ERR_MEMORY;
    out->title = label_format(arena, "%s to %s", from, args_has(args, "to-mesh") ? to : args->words[1]);
    out->summary =
        label_format(arena, "%s: received at most %s (lower bound %s), held at most %s, %s",
                     dt__planner_name(plan->planner), figures.received, figures.bound, figures.peak, figures.time);
    return out->title && out->summary ? DT_OK : DT_ERR_MEMORY;
}

static dt_status print_svg(planning *self, dt__text *out) {
    dt__arena *arena = self->session->arena;
    const dt__plan *plan = &self->plans[0];
    plan_svg_texts texts = {.states = DT__NEW_ARRAY(arena, const char *, plan->n_steps + 1),
                            .steps = DT__NEW_ARRAY(arena, const char *, 3 * plan->n_steps)};
    if (!texts.states || !texts.steps)
        return DT_ERR_MEMORY;
    DT__TRY(fill_titles(self, plan, &texts));
    for (int i = 0; i <= plan->n_steps; i++) {
        texts.states[i] = i ? label_state(self, plan->n_target_mesh_dims, plan->steps[i - 1].after)
                            : label_state(self, plan->n_mesh_dims, plan->source);
        if (!texts.states[i])
            return DT_ERR_MEMORY;
    }
    for (int i = 0; i < plan->n_steps; i++)
        DT__TRY(fill_step_texts(self, plan, i, &texts.steps[3 * i]));
    return plan_svg(self->from, self->to, plan, &texts, arena, out);
}

static dt_status run_session(session *started, void *user) {
    planning *self = user;
    self->session = started;
    DT__TRY(read_specs(self));
    DT__TRY(make_plans(self));
    if (args_has(started->args, "svg"))
        return print_svg(self, started->out);
    return (args_has(started->args, "json") ? print_json : print_text)(self, started->out);
}

static int run_plan(const arguments *args) {
    planning self = {.planner = DT__PLANNER_MIN_COST};
    const char *planner = args_value(args, "planner");
    if (!args_has(args, "mesh") || !args_has(args, "shape"))
        return args_misused(args->command, "expected --mesh and --shape");
    self.all = planner && !strcmp(planner, "all");
    if (planner && !self.all && !dt__planner_parse(planner, &self.planner))
        return args_misused(args->command, "--planner: expected " DT__PLANNER_NAMES "or all, got '%s'", planner);
    if (args_has(args, "svg") && (self.all || args_has(args, "json")))
        return args_misused(args->command, "--svg draws one plan and excludes --json and --planner all");
    return session_run(args, 0, run_session, &self);
}

#define PLANNER_LINE(upper, lower, meaning) "\n  " #lower ": " meaning

const command plan_command = {
    .name = "plan",
    .summary = "show how a tensor gets from one list of placements to another",
    .synopsis = "--mesh MESH --shape SIZES [OPTIONS] FROM TO",
    .about =
        "Shows the collectives that redistribute a tensor, the bytes that the rank that receives most receives,\n"
        "the bytes that the rank that holds most holds, and the predicted time, beside the lower bound of any\n"
        "plan. Placements and meshes are written as for dtensor show; with S(0)[1],S(0)[0] the second mesh dim\n"
        "cuts first. Planners:" DT__PLANNER_LIST(PLANNER_LINE),
    .options =
        (const command_option[]){
            TENSOR_OPTIONS,
            {.name = "planner",
             .value = "PLANNER",
             .help = DT__PLANNER_NAMES "or all to compare them; default min_cost"},
            {.name = "to-mesh", .value = "MESH", .help = "the mesh of the target, if it is another one"},
            {.name = "svg", .value = "FILE", .help = "draw who sends what to whom as SVG; - is standard output"},
            {.name = "json", .help = "print the answer of dtensor query to \"redistribute\", for each planner"},
            {0},
        },
    .examples = "  dtensor plan --mesh 2,4 --shape 4096,4096 'S(0),R' 'R,S(1)'\n"
                "  dtensor plan --mesh dp=2,tp=4 --shape 4096,4096 --planner all 'S(0),S(0)' 'R,S(1)'\n"
                "  dtensor plan --mesh 2x2 --shape 8,8 'S(0)[1],S(0)[0]' 'S(0),S(0)' --json\n"
                "  dtensor plan --mesh 4 --to-mesh 2x3 --shape 64,64 'S(0)' 'S(1),R' --svg move.svg",
    .min_words = 2,
    .max_words = 2,
    .operand = "two lists of placements: from and to",
    .run = run_plan,
};
