/* SPDX-License-Identifier: Apache-2.0
 *
 * `dtensor pipeline`: checks a pipeline schedule, simulates a step of it and draws the timeline, as text, as SVG or as
 * JSON.
 */
#include "arguments.h"
#include "dtensor/pipeline.h"
#include "json.h"
#include "show/show.h"
#include "table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct request {
    dt_schedule_new_options sizes;
    dt_stage_times times;
} request;

/* A schedule that was simulated. */
typedef struct picture {
    session *session;
    const request *request;
    dt_schedule *schedule;
    double makespan;
    double *begins; /* of the actions of all ranks */
} picture;

static double action_time(const dt_stage_times *times, char kind) {
    return kind == 'F'   ? times->forward
           : kind == 'I' ? times->input
           : kind == 'W' ? times->weight
                         : times->input + times->weight;
}

static const char *action_text(const dt_action *action, bool with_stage, dt__arena *arena) {
    return with_stage
               ? label_format(arena, "%lld%c%lld", (long long)action->stage, action->kind, (long long)action->micro)
               : label_format(arena, "%c%lld", action->kind, (long long)action->micro);
}

/* The time of the step less the work of a rank. */
static double idle_time(const picture *self, int64_t rank) {
    double busy = 0;
    dt_action action;
    for (int64_t i = 0; dt_schedule_action(self->schedule, rank, i, &action); i++)
        busy += action_time(&self->request->times, action.kind);
    return self->makespan - busy;
}

static json_t *row_json(const picture *self, int64_t rank, const double *begins) {
    json_t *actions = json_array();
    dt_action action;
    for (int64_t i = 0; dt_schedule_action(self->schedule, rank, i, &action); i++)
        json_append(&actions, json_pack("{s:o, s:o, s:o}", "action",
                                        string_json(action_text(&action, true, self->session->arena)), "begin",
                                        number_json(begins[i]), "end",
                                        number_json(begins[i] + action_time(&self->request->times, action.kind))));
    return json_pack("{s:I, s:o, s:I, s:o}", "rank", (json_int_t)rank, "idle", number_json(idle_time(self, rank)),
                     "live", (json_int_t)dt_schedule_n_live(self->schedule, rank), "actions", actions);
}

static dt_status print_json(const picture *self, dt__text *out) {
    json_t *rows = json_array();
    const double *begins = self->begins;
    for (int64_t rank = 0; rank < dt_schedule_n_ranks(self->schedule); rank++) {
        json_append(&rows, row_json(self, rank, begins));
        begins += dt_schedule_n_actions(self->schedule, rank);
    }
    json_t *answer = json_pack(
        "{s:I, s:I, s:I, s:o, s:o, s:o}", "ranks", (json_int_t)dt_schedule_n_ranks(self->schedule), "stages",
        (json_int_t)dt_schedule_n_stages(self->schedule), "micro", (json_int_t)dt_schedule_n_micro(self->schedule),
        "table", string_json(dt_schedule_text(self->schedule)), "makespan", number_json(self->makespan), "rows",
        rows);
    return json_write_line(self->session->ctx, answer, out);
}

enum {
    EDGE = 20,
    ROW_HEIGHT = 28,
    ROW_GAP = 4,
    UNIT_WIDTH = 30,  /* of the shortest action, if the drawing stays within MAX_WIDTH */
    MAX_WIDTH = 1600, /* of the timeline */
    MAX_BLOCKS = 16384,
    LABEL_MARGIN = 4,
};

/* Colors by kind; forward passes of later stages of a rank are darker. */
static const char *action_color(char kind) {
    return kind == 'F' ? "#afd7ff" : kind == 'I' ? "#afffaf" : kind == 'W' ? "#ffd7af" : "#afd7af";
}

typedef struct frame {
    int left, top;
    double scale; /* pixels per time */
    bool with_stages;
} frame;

static dt_status draw_action(const picture *self, const frame *at, const dt_action *action, double begin, int y,
                             dt__text *out) {
    const double width = action_time(&self->request->times, action->kind) * at->scale;
    const double x = at->left + begin * at->scale;
    const char *text = action_text(action, at->with_stages, self->session->arena);
    if (!text)
        return DT_ERR_MEMORY;
    dt__text_add(out, "<rect x=\"%.2f\" y=\"%d\" width=\"%.2f\" height=\"%d\" fill=\"%s\" class=\"block\"/>\n", x, y,
                 width, (int)ROW_HEIGHT, action_color(action->kind));
    if ((double)strlen(text) * SVG_INDEX_CHARACTER + LABEL_MARGIN <= width)
        dt__svg_add_text(out, (int)lround(x + width / 2), y + ROW_HEIGHT / 2 + 4, "index", text, strlen(text));
    return DT_OK;
}

static dt_status draw_row(const picture *self, const frame *at, int64_t rank, const double *begins, dt__text *out) {
    const int y = at->top + (int)rank * (ROW_HEIGHT + ROW_GAP);
    const char *name = label_format(self->session->arena, "%lld", (long long)rank);
    const char *facts = label_format(self->session->arena, "%.6g idle, %lld live", idle_time(self, rank),
                                     (long long)dt_schedule_n_live(self->schedule, rank));
    if (!name || !facts)
        return DT_ERR_MEMORY;
    dt_action action;
    dt__svg_add_text(out, at->left - 8, y + ROW_HEIGHT / 2 + 4, "index end", name, strlen(name));
    for (int64_t i = 0; dt_schedule_action(self->schedule, rank, i, &action); i++)
        DT__TRY(draw_action(self, at, &action, begins[i], y, out));
    dt__svg_add_text(out, at->left + (int)lround(self->makespan * at->scale) + 8, y + ROW_HEIGHT / 2 + 4, "small",
                     facts, strlen(facts));
    return DT_OK;
}

static double shortest_time(const dt_stage_times *times) {
    double least = INFINITY;
    const double all[] = {times->forward, times->input, times->weight};
    for (int i = 0; i < 3; i++)
        least = all[i] > 0 && all[i] < least ? all[i] : least;
    return least;
}

static const char *title_of(const picture *self) {
    const char *name = self->session->args->words[0];
    return label_format(self->session->arena, "%s: %lld ranks, %lld stages, %lld micro-batches, step %.6g",
                        strpbrk(name, ",\n") ? "a table" : name, (long long)dt_schedule_n_ranks(self->schedule),
                        (long long)dt_schedule_n_stages(self->schedule),
                        (long long)dt_schedule_n_micro(self->schedule), self->makespan);
}

static dt_status print_svg(const picture *self, int64_t n_actions, dt__text *out) {
    static const char legend[] = "F forward, I gradient of the input, W gradients of the weights, B both gradients";
    const int64_t n_ranks = dt_schedule_n_ranks(self->schedule);
    const char *title = title_of(self);
    if (!title)
        return DT_ERR_MEMORY;
    if (n_actions > MAX_BLOCKS)
        return dt__fail(self->session->ctx, DT_ERR_UNSUPPORTED,
                        "pipeline: too large to draw: expected at most %d actions, got %lld", (int)MAX_BLOCKS,
                        (long long)n_actions);
    const double natural = UNIT_WIDTH / shortest_time(&self->request->times);
    frame at = {.left = EDGE + 30, .top = EDGE + SVG_TITLE_LINE + 4};
    at.scale = natural * self->makespan <= MAX_WIDTH ? natural : MAX_WIDTH / self->makespan;
    at.with_stages = dt_schedule_n_stages(self->schedule) != n_ranks;
    const int timeline = at.left + (int)ceil(self->makespan * at.scale) + 24 * SVG_INDEX_CHARACTER;
    const int words = (int)strlen(title) * SVG_TITLE_CHARACTER + EDGE,
              notes = (int)sizeof legend * SVG_TEXT_CHARACTER;
    const int widest = words > notes ? words : notes, width = (timeline > widest ? timeline : widest) + EDGE;
    const int bottom = at.top + (int)n_ranks * (ROW_HEIGHT + ROW_GAP) + 16;
    dt__svg_begin(out, width, bottom + EDGE, title);
    (void)dt__svg_add_title(out, EDGE, EDGE + 14, width, title);
    const double *begins = self->begins;
    for (int64_t rank = 0; rank < n_ranks; rank++) {
        DT__TRY(draw_row(self, &at, rank, begins, out));
        begins += dt_schedule_n_actions(self->schedule, rank);
    }
    dt__svg_add_text(out, EDGE, bottom, "note", legend, strlen(legend));
    dt__svg_end(out);
    return DT_OK;
}

static dt_status run_session(session *started, void *user) {
    const request *of = user;
    picture self = {.session = started, .request = of};
    self.schedule = dt_schedule_new_sized(started->ctx, started->args->words[0], &of->sizes, sizeof of->sizes);
    if (!self.schedule)
        return dt_error_status(started->ctx);
    int64_t n_actions = 0;
    for (int64_t rank = 0; rank < dt_schedule_n_ranks(self.schedule); rank++)
        n_actions += dt_schedule_n_actions(self.schedule, rank);
    self.begins = DT__NEW_ARRAY(started->arena, double, n_actions);
    if (!self.begins)
        return DT_ERR_MEMORY;
    self.makespan = dt_schedule_simulate_site(self.schedule, &of->times, self.begins, NULL);
    if (self.makespan < 0)
        return dt_error_status(started->ctx);
    if (args_has(started->args, "svg"))
        return print_svg(&self, n_actions, started->out);
    if (args_has(started->args, "json"))
        return print_json(&self, started->out);
    const char *text = args_has(started->args, "table") ? dt_schedule_text(self.schedule)
                                                        : dt_schedule_timeline_site(self.schedule, &of->times, NULL);
    dt__text_add(started->out, "%s", text ? text : "");
    return text ? DT_OK : dt_error_status(started->ctx);
}

static bool read_time(const char **at, char end, double *out) {
    char *rest;
    *out = strtod(*at, &rest);
    const bool ok = rest != *at && *rest == end && isfinite(*out) && *out >= 0;
    *at = rest + (*rest == ',');
    return ok;
}

static bool read_times(const arguments *args, dt_stage_times *out) {
    const char *times = args_value(args, "times"), *hop = args_value(args, "hop");
    const bool ok = !times || (read_time(&times, ',', &out->forward) && read_time(&times, ',', &out->input) &&
                               read_time(&times, 0, &out->weight));
    if (!ok)
        (void)args_misused(args->command, "--times: expected three numbers such as 1,1,1, got '%s'",
                           args_value(args, "times"));
    if (ok && hop && !read_time(&hop, 0, &out->hop)) {
        (void)args_misused(args->command, "--hop: expected a number of at least 0, got '%s'",
                           args_value(args, "hop"));
        return false;
    }
    if (ok && !isfinite(shortest_time(out))) {
        (void)args_misused(args->command, "--times: expected a time above 0, got '%s'", args_value(args, "times"));
        return false;
    }
    return ok;
}

static bool read_size(const arguments *args, const char *name, dt_opt_int *out) {
    out->given = args_has(args, name);
    return args_int(args, name, 1, 1 << 24, &out->value) == DT_OK;
}

static int run_pipeline(const arguments *args) {
    request of = {.times = {1, 1, 1, 0}};
    if (args_has(args, "svg") + args_has(args, "json") + args_has(args, "table") > 1)
        return args_misused(args->command, "--svg, --json and --table exclude each other");
    if (!read_times(args, &of.times) || !read_size(args, "ranks", &of.sizes.ranks) ||
        !read_size(args, "stages", &of.sizes.stages) || !read_size(args, "micro", &of.sizes.micro))
        return EXIT_USAGE;
    return session_run(args, 0, run_session, &of);
}

const command pipeline_command = {
    .name = "pipeline",
    .summary = "check, simulate and draw a pipeline schedule",
    .synopsis = "[OPTIONS] SCHEDULE",
    .about =
        "Prints when each rank runs which part of a step, how long it is idle, and how many activations it holds.\n"
        "A schedule is gpipe, 1f1b, interleaved, zb-h1, zb-v, dualpipe-v, or a table: a line per rank with actions\n"
        "such as 2F0, separated by commas: stage, what is done, micro-batch. F is the forward pass, B the backward\n"
        "pass, or I and W its parts: the gradient of the input and those of the weights. A table that could not\n"
        "run is refused with the action and the reason.",
    .options =
        (const command_option[]){
            {.name = "stages", .value = "N", .help = "parts of the model; zb-v, dualpipe-v: two per rank"},
            {.name = "ranks", .value = "N", .help = "ranks; default: as many as the stages need"},
            {.name = "micro", .value = "N", .help = "micro-batches of a step"},
            {.name = "times", .value = "F,I,W", .help = "times of a stage; default 1,1,1"},
            {.name = "hop", .value = "TIME", .help = "time between a stage and the next on another rank; default 0"},
            {.name = "table", .help = "print the table instead of the timeline"},
            {.name = "svg", .value = "FILE", .help = "write the drawing as SVG; - is standard output"},
            {.name = "json", .help = "print one JSON object: ranks, stages, micro, table, makespan, rows"},
            {0},
        },
    .examples = "  dtensor pipeline zb-h1 --stages 4 --micro 8\n"
                "  dtensor pipeline interleaved --ranks 4 --stages 8 --micro 8 --times 1,1,0.8 --hop 0.1\n"
                "  dtensor pipeline zb-v --stages 8 --micro 8 --svg zb-v.svg\n"
                "  dtensor pipeline '0F0,0I0,0F1,0W0,0B1' --times 1,2,1",
    .min_words = 1,
    .max_words = 1,
    .operand = "a schedule, such as 1f1b",
    .run = run_pipeline,
};
