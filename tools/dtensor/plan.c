/* SPDX-License-Identifier: Apache-2.0
 *
 * `dtensor plan`: the steps that take a tensor from one list of placements to another, with what they move, hold and
 * cost, beside the least that any plan must move; or the planners side by side. Nothing is run, so the mesh may be of
 * any size.
 */
#include "args.h"
#include "json_text.h"
#include "labels.h"
#include "output.h"
#include "placed.h"
#include "plan_json.h"
#include "plan_svg.h"
#include "session.h"
#include "table.h"

#include <string.h>

/* What is planned. */
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
    const args *given = self->session->given;
    int64_t shape[DT_SPEC_MAX_DIMS];
    dt_spec_desc desc = {.shape = shape};
    DT__TRY(placed_dtype(self->session, &desc.dtype));
    DT__TRY(placed_shape(self->session, args_value(given, "shape"), shape, &desc.n_dims));
    dt_mesh *mesh = placed_mesh(self->session, "mesh");
    dt_mesh *to = mesh && args_has(given, "to-mesh") ? placed_mesh(self->session, "to-mesh") : mesh;
    self->from = mesh && to ? make_spec(mesh, desc, given->words[0]) : NULL;
    self->to = self->from ? make_spec(to, desc, given->words[1]) : NULL;
    return dt_error_status(self->session->ctx);
}

/* Where all planners are asked, one may refuse what another can do. */
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
    if (move.to_mesh && !args_has(self->session->given, "planner"))
        self->planner = DT__PLANNER_DIRECT;
    for (int planner = 0; planner < DT__N_PLANNERS; planner++)
        if (self->all || planner == (int)self->planner)
            DT__TRY(make_plan(self, &move, (dt__planner)planner));
    return DT_OK;
}

/* A text in the arena; NULL when memory is out. */
static const char *keep(planning *self, dt__text *text) { return label_keep(text, self->session->arena); }

static const char *label_time(planning *self, double us) {
    dt__text text = dt__text_new(self->session->ctx);
    if (us < 1000)
        dt__text_add(&text, "%.3g us", us);
    else
        dt__text_add(&text, us < 1e6 ? "%.3g ms" : "%.4g s", us < 1e6 ? us / 1e3 : us / 1e6);
    return keep(self, &text);
}

/* Names of the mesh dims where they have any, numbers elsewhere. */
static const char *label_mesh_dims(planning *self, const dt__plan_step *step) {
    const dt_mesh *mesh = dt_spec_mesh(self->from);
    dt__text text = dt__text_new(self->session->ctx);
    if (step->n_mesh_dims == 0)
        dt__text_add(&text, step->transfer->from_mesh ? "both meshes" : "-");
    for (int i = 0; i < step->n_mesh_dims; i++) {
        const char *name = dt_mesh_dim_name(mesh, step->mesh_dims[i]);
        dt__text_add(&text, i ? "," : "");
        if (name)
            dt__text_add(&text, "%s", name);
        else
            dt__text_add(&text, "%d", step->mesh_dims[i]);
    }
    return keep(self, &text);
}

static const char *label_state(planning *self, int n_mesh_dims, const dt_placement *placements) {
    dt__text text = dt__text_new(self->session->ctx);
    dt__plan_state_text(n_mesh_dims, placements, &text);
    return keep(self, &text);
}

static const char *label_trace(planning *self, const dt__plan *plan) {
    dt__text text = dt__text_new(self->session->ctx);
    dt__plan_trace(plan, &text);
    return keep(self, &text);
}

static dt_status add_steps(planning *self, const dt__plan *plan, dt__text *out) {
    dt__arena *arena = self->session->arena;
    table steps = table_new(arena, 6);
    DT__TRY(table_add(&steps, (const char *[]){"collective", "over", "from", "to", "received", "time"}));
    for (int i = 0; i < plan->n_steps; i++) {
        const dt__plan_step *step = &plan->steps[i];
        DT__TRY(
            table_add(&steps, (const char *[]){dt__step_kind_name(step->collective), label_mesh_dims(self, step),
                                               label_state(self, plan->n_mesh_dims, step->before),
                                               label_state(self, plan->n_target_mesh_dims, step->after),
                                               label_bytes(step->bytes, arena), label_time(self, step->cost_us)}));
    }
    table_print(&steps, out);
    return DT_OK;
}

static dt_status print_plan(planning *self, const dt__plan *plan, dt__text *out) {
    dt__arena *arena = self->session->arena;
    const char *received = label_bytes(plan->bytes, arena), *least = label_bytes(plan->lower_bound_bytes, arena);
    const char *peak = label_bytes(plan->peak_bytes, arena), *time = label_time(self, plan->cost_us);
    if (!received || !least || !peak || !time)
        return DT_ERR_MEMORY;
    if (plan->n_steps == 0)
        dt__text_add(out, "%s: nothing to do\n", dt__planner_name(plan->planner));
    else {
        dt__text_add(out, "%s: %d step%s, %d collective%s\n", dt__planner_name(plan->planner), plan->n_steps,
                     plan->n_steps == 1 ? "" : "s", plan->n_collectives, plan->n_collectives == 1 ? "" : "s");
        DT__TRY(add_steps(self, plan, out));
    }
    dt__text_add(out, "\nreceived by one rank, at most: %s; no plan needs less than %s\n", received, least);
    dt__text_add(out, "held by one rank, at most: %s\n", peak);
    dt__text_add(out, "predicted time: %s\n", time);
    return DT_OK;
}

/* "2.50" times the least; "-" where nothing has to move. */
static const char *label_ratio(planning *self, const dt__plan *plan) {
    dt__text text = dt__text_new(self->session->ctx);
    if (plan->lower_bound_bytes)
        dt__text_add(&text, "%.2f", (double)plan->bytes / (double)plan->lower_bound_bytes);
    else
        dt__text_add(&text, "-");
    return keep(self, &text);
}

static const char *label_count(planning *self, int n) {
    dt__text text = dt__text_new(self->session->ctx);
    dt__text_add(&text, "%d", n);
    return keep(self, &text);
}

static dt_status print_comparison(planning *self, dt__text *out) {
    dt__arena *arena = self->session->arena;
    const char *least = label_bytes(self->plans[DT__PLANNER_DIRECT].lower_bound_bytes, arena);
    table rows = table_new(arena, 7);
    if (!least)
        return DT_ERR_MEMORY;
    DT__TRY(table_add(&rows,
                      (const char *[]){"planner", "collectives", "received", "of least", "held", "time", "trace"}));
    for (int i = 0; i < self->n_plans; i++) {
        const dt__plan *plan = &self->plans[i];
        if (self->refused[i]) {
            DT__TRY(table_add(
                &rows, (const char *[]){dt__planner_name(plan->planner), "-", "-", "-", "-", "-", self->refused[i]}));
            continue;
        }
        DT__TRY(
            table_add(&rows, (const char *[]){dt__planner_name(plan->planner), label_count(self, plan->n_collectives),
                                              label_bytes(plan->bytes, arena), label_ratio(self, plan),
                                              label_bytes(plan->peak_bytes, arena), label_time(self, plan->cost_us),
                                              label_trace(self, plan)}));
    }
    table_print(&rows, out);
    dt__text_add(out, "\nno plan needs less than %s, for the rank that receives most\n", least);
    return DT_OK;
}

static dt_status print_text(planning *self, dt__text *out) {
    const char *from = label_spec(self->from, self->session->arena);
    if (!from)
        return DT_ERR_MEMORY;
    dt__text_add(out, "%s to %s", from, self->session->given->words[1]);
    if (args_has(self->session->given, "to-mesh"))
        dt__text_add(out, " on mesh(%s)", dt_mesh_text(dt_spec_mesh(self->to)));
    dt__text_add(out, "\n\n");
    return self->all ? print_comparison(self, out) : print_plan(self, &self->plans[0], out);
}

static dt_status print_json(planning *self, dt__text *out) {
    const char *from = label_spec(self->from, self->session->arena), *to = label_spec(self->to, self->session->arena);
    if (!from || !to)
        return DT_ERR_MEMORY;
    json_add(out, "{\"from\":");
    json_add_string(out, from);
    json_add(out, ",\"to\":");
    json_add_string(out, to);
    json_add(out, ",\"plans\":[");
    for (int i = 0; i < self->n_plans; i++) {
        json_add(out, i ? ",{\"planner\":" : "{\"planner\":");
        json_add_string(out, dt__planner_name(self->plans[i].planner));
        json_add(out, ",");
        if (self->refused[i]) {
            json_add(out, "\"refused\":");
            json_add_string(out, self->refused[i]);
        } else
            plan_json(self->session->ctx, &self->plans[i], out);
        json_add(out, "}");
    }
    json_add(out, "]}\n");
    return DT_OK;
}

static dt_status fill_step_texts(planning *self, const dt__plan *plan, int i, const char **out) {
    const dt__plan_step *step = &plan->steps[i];
    dt__text name = dt__text_new(self->session->ctx), over = dt__text_new(self->session->ctx);
    dt__text costs = dt__text_new(self->session->ctx);
    const char *bytes = label_bytes(step->bytes, self->session->arena), *time = label_time(self, step->cost_us);
    const char *mesh_dims = label_mesh_dims(self, step);
    dt__text_add(&name, "%d: %s", i + 1, dt__step_kind_name(step->collective));
    dt__text_add(&over, "over %s", mesh_dims ? mesh_dims : "");
    dt__text_add(&costs, "at most %s, %s", bytes ? bytes : "", time ? time : "");
    out[0] = keep(self, &name);
    out[1] = keep(self, &over);
    out[2] = keep(self, &costs);
    return bytes && time && mesh_dims && out[0] && out[1] && out[2] ? DT_OK : DT_ERR_MEMORY;
}

static dt_status fill_texts(planning *self, const dt__plan *plan, plan_svg_texts *out) {
    dt__arena *arena = self->session->arena;
    dt__text title = dt__text_new(self->session->ctx), summary = dt__text_new(self->session->ctx);
    const char *received = label_bytes(plan->bytes, arena), *least = label_bytes(plan->lower_bound_bytes, arena);
    const char *peak = label_bytes(plan->peak_bytes, arena), *time = label_time(self, plan->cost_us);
    const char *from = label_spec(self->from, self->session->arena), *to = label_spec(self->to, self->session->arena);
    out->states = DT__NEW_ARRAY(arena, const char *, plan->n_steps + 1);
    out->steps = DT__NEW_ARRAY(arena, const char *, 3 * plan->n_steps);
    if (!received || !least || !peak || !time || !from || !to || !out->states || !out->steps)
        return DT_ERR_MEMORY;
    bool crossing = args_has(self->session->given, "to-mesh");
    dt__text_add(&title, "%s to %s", from, crossing ? to : self->session->given->words[1]);
    dt__text_add(&summary, "%s: received at most %s of least %s, held at most %s, %s",
                 dt__planner_name(plan->planner), received, least, peak, time);
    out->title = keep(self, &title);
    out->summary = keep(self, &summary);
    out->states[0] = label_state(self, plan->n_mesh_dims, plan->source);
    for (int i = 0; i < plan->n_steps; i++) {
        out->states[i + 1] = label_state(self, plan->n_target_mesh_dims, plan->steps[i].after);
        DT__TRY(fill_step_texts(self, plan, i, &out->steps[3 * i]));
        if (!out->states[i + 1])
            return DT_ERR_MEMORY;
    }
    return out->title && out->summary && out->states[0] ? DT_OK : DT_ERR_MEMORY;
}

static dt_status print_svg(planning *self, dt__text *out) {
    plan_svg_texts texts;
    DT__TRY(fill_texts(self, &self->plans[0], &texts));
    return plan_svg(self->from, self->to, &self->plans[0], &texts, self->session->arena, out);
}

static dt_status plan_it(session *run_by, void *user) {
    planning *self = user;
    const char *svg = args_value(run_by->given, "svg");
    self->session = run_by;
    DT__TRY(read_specs(self));
    DT__TRY(make_plans(self));
    DT__TRY((svg ? print_svg : args_has(run_by->given, "json") ? print_json : print_text)(self, run_by->out));
    DT__TRY(dt__text_status(run_by->out));
    return output_write(run_by->out, svg);
}

/* What getopt cannot check. */
static int misuse(const args *given, planning *self) {
    const char *planner = args_value(given, "planner");
    if (given->n_words != 2)
        return args_misused(given->command, "two lists of placements are wanted: from and to");
    if (!args_has(given, "mesh") || !args_has(given, "shape"))
        return args_misused(given->command, "--mesh and --shape are missing");
    self->all = planner && !strcmp(planner, "all");
    if (planner && !self->all && !dt__planner_parse(planner, &self->planner))
        return args_misused(given->command, "there is no planner '%s': wanted greedy, graph, min_cost, direct or all",
                            planner);
    if (args_has(given, "svg") && (self->all || args_has(given, "json")))
        return args_misused(given->command, "--svg draws one plan: not with --json or --planner all");
    return EXIT_OK;
}

static int run(const command *self, int argc, char **argv) {
    args given;
    planning one = {.planner = DT__PLANNER_MIN_COST};
    dt_status parsed = args_parse(self, argc, argv, 2, &given);
    if (parsed != DT_OK)
        return parsed == DT_IN_PROGRESS ? EXIT_OK : EXIT_USAGE;
    if (misuse(&given, &one) != EXIT_OK)
        return EXIT_USAGE;
    return session_run(&given, 0, plan_it, &one);
}

const command plan_command = {
    .name = "plan",
    .summary = "show how a tensor gets from one list of placements to another",
    .synopsis = "--mesh MESH --shape SIZES [OPTIONS] FROM TO",
    .about =
        "Shows the collectives that redistribute a tensor, what the rank that receives most receives, what the\n"
        "rank that holds most holds, and the predicted time, beside the least that any plan has to move.\n"
        "Planners: min_cost (cheapest by the machine model), direct (one exchange), and greedy and graph, which\n"
        "follow PyTorch's. Placements and meshes are written as for dtensor show; S(0)[1],S(0)[0] lets the second\n"
        "mesh dim cut first.",
    .options =
        (const command_option[]){
            {.name = "mesh", .value = "MESH", .help = "the mesh"},
            {.name = "shape", .value = "SIZES", .help = "sizes of the whole tensor, such as 1024,512"},
            {.name = "dtype", .value = "DTYPE", .help = "element type, for the bytes; default f32"},
            {.name = "planner",
             .value = "PLANNER",
             .help = "greedy, graph, min_cost (default), direct, or all to compare them"},
            {.name = "to-mesh", .value = "MESH", .help = "the mesh of the target, if it is another one"},
            {.name = "svg", .value = "FILE", .help = "draw who sends what to whom as SVG; - is standard output"},
            {.name = "json", .help = "print what dtensor query answers to \"redistribute\", for each planner"},
            {0},
        },
    .examples = "  dtensor plan --mesh 2,4 --shape 4096,4096 'S(0),R' 'R,S(1)'\n"
                "  dtensor plan --mesh dp=2,tp=4 --shape 4096,4096 --planner all 'S(0),S(0)' 'R,S(1)'\n"
                "  dtensor plan --mesh 2x2 --shape 8,8 'S(0)[1],S(0)[0]' 'S(0),S(0)' --json\n"
                "  dtensor plan --mesh 4 --to-mesh 2x3 --shape 64,64 'S(0)' 'S(1),R' --svg move.svg",
    .run = run,
};
