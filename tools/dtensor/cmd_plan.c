/* SPDX-License-Identifier: Apache-2.0
 *
 * `dtensor plan`: the steps that take a tensor from one list of placements to another, with what they move, hold and
 * cost, next to the lower bound of any plan, and who sends what to whom; or all planners side by side. Nothing is run,
 * so the mesh may be of any size.
 */
#include "arguments.h"
#include "base/near_miss.h"
#include "json.h"
#include "plan_flows.h"
#include "plan_svg.h"
#include "table.h"

#include <string.h>

enum {
    MAX_PAIRS = 32, /* of ranks, in the table of who sends what; */
    MAX_RANKS = 64, /* with more of either, the pairs of one receiver are listed: */
    MAX_SENDERS = 12,
    MAX_JSON_PAIRS = 1 << 16,
    MAX_JSON_RANKS = 4096,
};

typedef struct planning {
    session *session;
    bool all; /* every planner */
    dt__planner planner;
    int64_t rank; /* whose pairs are listed; -1: all that fit */
    dt_spec *from, *to;
    dt__plan plans[DT__N_PLANNERS];
    const char *refused[DT__N_PLANNERS]; /* why there is no such plan, or NULL */
    int n_plans;
} planning;

/* The mesh of "R,S(1) on mesh(2x3)"; *place is set to what precedes it. NULL where it is wrong. */
static dt_mesh *split_target(const planning *self, const char *text, const char *on, const char **place) {
    dt__arena *arena = self->session->arena;
    const char *begin = on + strlen(" on mesh("), *end = text + strlen(text) - 1;
    if (*end != ')' || end < begin) {
        dt__fail(self->session->ctx, DT_ERR_MESH, "expected ')' at the end of '%.200s'", text);
        return NULL;
    }
    const char *mesh = dt__arena_copy_chars(arena, begin, (size_t)(end - begin));
    *place = dt__arena_copy_chars(arena, text, (size_t)(on - text));
    return mesh && *place ? dt_mesh_new(self->session->ctx, mesh) : NULL;
}

/* A tensor, or placements for the source's, perhaps on another mesh. */
static dt_spec *read_target(const planning *self, const char *text) {
    const dt_spec *from = self->from;
    const char *on = strstr(text, " on mesh("), *place = text;
    if (text[strcspn(text, "[( ")] == '[')
        return dt_spec_parse(self->session->ctx, text);
    dt_mesh *mesh = on ? split_target(self, text, on, &place) : from->mesh;
    dt_spec_desc desc = {.dtype = from->dtype,
                         .n_dims = from->sharding.n_dims,
                         .shape = from->sharding.shape,
                         .stride_order = from->stride_order,
                         .text = place,
                         .others = on ? NULL : from->sharding.placements};
    dt_spec *spec = mesh ? dt_spec_new(mesh, &desc) : NULL;
    dt_mesh_release(on ? mesh : NULL);
    return spec;
}

static dt_status read_specs(planning *self) {
    const arguments *args = self->session->args;
    self->from = dt_spec_parse(self->session->ctx, args->words[0]);
    self->to = self->from ? read_target(self, args->words[1]) : NULL;
    return dt_error_status(self->session->ctx);
}

/* With --planner all, one planner may refuse what another can do. */
static dt_status make_plan(planning *self, const dt__move *move, dt__planner planner) {
    dt_ctx *ctx = self->session->ctx;
    dt__plan *plan = &self->plans[self->n_plans];
    const char **refused = &self->refused[self->n_plans++];
    plan->planner = planner;
    dt_status status = dt__plan_new(self->session->arena, move, planner, self->session->ctx->machine, plan);
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

static dt_status add_pair_row(const planning *self, const flow_pair *pair, table *rows) {
    dt__arena *arena = self->session->arena;
    const char *cells[DT_SPEC_MAX_DIMS + 4];
    int n = 0, n_dims = self->from->sharding.n_dims;
    cells[n++] = label_format(arena, "%d", pair->step + 1);
    cells[n++] = label_format(arena, "%lld", (long long)pair->sender);
    cells[n++] = label_format(arena, "%lld", (long long)pair->receiver);
    cells[n++] = label_bytes(pair->elements * (int64_t)dt_dtype_size(self->from->dtype), arena);
    for (int d = 0; d < n_dims; d++)
        cells[n++] = pair->indices ? label_runs(pair->indices[d].runs, pair->indices[d].n, arena) : "portions";
    return table_add(rows, cells);
}

/* Who sends what to whom: step, sender, receiver, bytes, and a column of index ranges per tensor dim. */
static dt_status add_pairs(const planning *self, const dt__plan *plan, dt__text *out) {
    dt__arena *arena = self->session->arena;
    int n_dims = self->from->sharding.n_dims;
    table rows = table_new(arena, n_dims + 4);
    const char *titles[DT_SPEC_MAX_DIMS + 4] = {"step", "from", "to", "bytes"};
    flow_list flows;
    DT__TRY(flow_list_new(arena, self->from, self->to, plan, MAX_PAIRS, MAX_RANKS, self->rank, &flows));
    for (int d = 0; d < n_dims; d++)
        titles[4 + d] = label_format(arena, "dim %d", d);
    DT__TRY(table_add(&rows, titles));
    int64_t max = flows.receiver >= 0 && self->rank < 0 ? MAX_SENDERS : flows.n;
    for (int64_t i = 0; i < flows.n && i < max; i++)
        DT__TRY(add_pair_row(self, &flows.pairs[i], &rows));
    if (flows.n == 0) {
        dt__text_add(out, "\nnothing is sent\n");
        return DT_OK;
    }
    if (flows.receiver >= 0)
        dt__text_add(out, "\nsent to rank %lld%s:\n", (long long)flows.receiver,
                     self->rank < 0 ? ", which receives most" : "");
    else
        dt__text_add(out, "\nwho sends what to whom:\n");
    table_print(&rows, out);
    if (flows.n > max)
        dt__text_add(out, "  .. %lld more\n", (long long)(flows.n - max));
    return DT_OK;
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
    return add_pairs(self, plan, out);
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

/* "f32[8,6] S(0) on mesh(4) to R", with the mesh of the target where it is another one. */
static const char *label_move(const planning *self) {
    dt__arena *arena = self->session->arena;
    const dt__sharding *to = &self->to->sharding;
    const char *from = label_spec(self->from, arena);
    const char *place = label_placements(to->n_mesh_dims, to->placements, arena);
    if (!from || !place)
        return NULL;
    if (dt_mesh_equal(self->from->mesh, self->to->mesh))
        return label_format(arena, "%s to %s", from, place);
    return label_format(arena, "%s to %s on mesh(%s)", from, place, dt_mesh_text(self->to->mesh));
}

static dt_status print_text(planning *self, dt__text *out) {
    const char *title = label_move(self);
    if (!title)
        return DT_ERR_MEMORY;
    dt__text_add(out, "%s\n\n", title);
    return self->all ? print_comparison(self, out) : print_plan(self, &self->plans[0], out);
}

/* [[[0,4]],[[2,8]]]: the index ranges of each tensor dim, as those of a shard. */
static json_t *indices_json(const planning *self, const flow_pair *pair) {
    json_t *dims = json_array();
    if (!pair->indices) {
        json_decref(dims);
        return json_null();
    }
    for (int d = 0; d < self->from->sharding.n_dims; d++) {
        json_t *runs = json_array();
        for (int64_t i = 0; i < pair->indices[d].n; i++)
            json_append(&runs, json_pack("[I, I]", (json_int_t)pair->indices[d].runs[i].begin,
                                         (json_int_t)pair->indices[d].runs[i].end));
        json_append(&dims, runs);
    }
    return dims;
}

/* {"sent_to":…,"sends":[…]}: sent_to is the only rank whose pairs are listed, or null. */
static json_t *sends_json(const planning *self, const dt__plan *plan) {
    flow_list flows;
    int64_t item_bytes = (int64_t)dt_dtype_size(self->from->dtype);
    if (flow_list_new(self->session->arena, self->from, self->to, plan, MAX_JSON_PAIRS, MAX_JSON_RANKS, self->rank,
                      &flows) != DT_OK)
        return NULL;
    json_t *sends = json_array();
    for (int64_t i = 0; i < flows.n; i++) {
        const flow_pair *pair = &flows.pairs[i];
        json_append(&sends,
                    json_pack("{s:i, s:I, s:I, s:I, s:I, s:o}", "step", pair->step, "from", (json_int_t)pair->sender,
                              "to", (json_int_t)pair->receiver, "elements", (json_int_t)pair->elements, "bytes",
                              (json_int_t)(pair->elements * item_bytes), "indices", indices_json(self, pair)));
    }
    return json_pack("{s:o, s:o}", "sent_to",
                     flows.receiver < 0 ? json_null() : json_integer((json_int_t)flows.receiver), "sends", sends);
}

/* One planner's plan with its pairs of ranks, or why it refused. */
static json_t *planner_json(const planning *self, int i) {
    json_t *object = json_pack("{s:s}", "planner", dt__planner_name(self->plans[i].planner));
    json_t *members = self->refused[i] ? json_pack("{s:o}", "refused", string_json(self->refused[i]))
                                       : plan_json(self->session->ctx, &self->plans[i]);
    json_t *sends = self->refused[i] ? json_object() : sends_json(self, &self->plans[i]);
    bool ok = object && members && sends && json_object_update(object, members) == 0 &&
              json_object_update(object, sends) == 0;
    json_decref(members);
    json_decref(sends);
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
    if (dt_failed(self->session->ctx)) {
        json_decref(plans);
        return dt_error_status(self->session->ctx);
    }
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
    dt__arena *arena = self->session->arena;
    plan_figures figures;
    DT__TRY(make_figures(self, plan, &figures));
    out->title = label_move(self);
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

static int refuse_planner(const arguments *args, const char *planner) {
    dt__near_miss near = dt__near_miss_new(planner);
    dt__near_miss_add_list(&near, DT__PLANNER_NAMES "all");
    return args_misused(args->command, "--planner: expected " DT__PLANNER_NAMES "or all, got '%s'%s", planner,
                        dt__near_miss_hint(&near));
}

static int run_plan(const arguments *args) {
    planning self = {.planner = DT__PLANNER_DIRECT, .rank = -1};
    const char *planner = args_value(args, "planner");
    self.all = planner && !strcmp(planner, "all");
    if (planner && !self.all && !dt__planner_parse(planner, &self.planner))
        return refuse_planner(args, planner);
    if (args_has(args, "svg") && (self.all || args_has(args, "json")))
        return args_misused(args->command, "--svg draws one plan and excludes --json and --planner all");
    if (args_int(args, "rank", 0, DT__MESH_MAX_RANKS - 1, &self.rank) != DT_OK)
        return EXIT_USAGE;
    return session_run(args, 0, run_session, &self);
}

#define PLANNER_LINE(upper, lower, meaning) "\n  " #lower ": " meaning

const command plan_command = {
    .name = "plan",
    .summary = "show how a tensor gets from one list of placements to another",
    .synopsis = "[OPTIONS] TENSOR TARGET",
    .about =
        "Shows the steps that redistribute a tensor, the bytes that the rank that receives most receives, the\n"
        "bytes that the rank that holds most holds, the predicted time, the lower bound of any plan, and\n"
        "who sends what to whom. The tensor is written as for dtensor show; the target is a list of placements,\n"
        "on the same mesh unless another one follows it: 'R,S(1) on mesh(2x3)'. Without --planner it is the plan\n"
        "that dt_redistribute runs. Planners:" DT__PLANNER_LIST(PLANNER_LINE),
    .options =
        (const command_option[]){
            RANKS_OPTION,
            MACHINE_OPTION,
            {.name = "planner",
             .value = "PLANNER",
             .help = DT__PLANNER_NAMES "or all to compare them; default direct"},
            {.name = "rank", .value = "N", .help = "list only what is sent to this rank"},
            {.name = "svg", .value = "FILE", .help = "draw who sends what to whom as SVG; - is standard output"},
            {.name = "json", .help = "print the answer of dtensor query to \"redistribute\", for each planner"},
            {0},
        },
    .examples = "  dtensor plan 'f32[4096,4096] S(0),R on mesh(dp=2,tp=4)' 'R,S(1)'\n"
                "  dtensor plan 'f32[4096,4096] S(0),S(0) on mesh(dp=2,tp=*)' 'R,S(1)' --ranks 8 --planner all\n"
                "  dtensor plan 'f32[8,8] S(0)[1],S(0)[0] on mesh(2x2)' 'S(0),S(0)' --json\n"
                "  dtensor plan 'f32[64,64] S(0) on mesh(4)' 'S(1),R on mesh(2x3)' --svg move.svg",
    .min_words = 2,
    .max_words = 2,
    .operand = "a tensor and a target, such as 'f32[8,8] S(0) on mesh(2)' R",
    .run = run_plan,
};
