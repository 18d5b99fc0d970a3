/* SPDX-License-Identifier: Apache-2.0
 *
 * `dtensor estimate`: what a program needs on ranks that do not exist. The program runs without data, once for each
 * class of ranks. Printed are its memory by kind, the largest tensors at the peak, and its collectives.
 */
#include "estimate_help.h"
#include "estimate_runs.h"
#include "json.h"
#include "table.h"

#include "base/machine.h"
#include "base/quantity.h"
#include "dispatch/dispatch.h"
#include "dtensor/debug.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct estimating {
    session *session;
    estimate_settings settings;
    int64_t rank;  /* -1: all classes */
    size_t memory; /* of a rank; 0: not stated */
    estimate_classes classes;
    estimate_help helps[ESTIMATE_N_HELPS];
    bool has_helps;
} estimating;

static const char *text_of(const json_t *object, const char *key) {
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

static int64_t integer_of(const json_t *object, const char *key) {
    return json_integer_value(json_object_get(object, key));
}

/* "model.c:12"; "" where it is unknown. */
static const char *label_place(const json_t *object, dt__arena *arena) {
    const char *file = text_of(object, "file"), *slash = strrchr(file, '/');
    return *file ? label_format(arena, "%s:%" PRId64, slash ? slash + 1 : file, integer_of(object, "line")) : "";
}

static bool fits(const estimating *self) {
    return !self->memory || estimate_peak(self->classes.list[0].report, "all") <= (int64_t)self->memory;
}

static void print_title(const estimating *self, const estimate_class *class) {
    dt__text *out = self->session->out;
    if (self->rank >= 0)
        dt__text_add(out, "rank %" PRId64 " of %" PRId64 "\n", self->rank, self->settings.ranks);
    else if (self->classes.n == 1)
        dt__text_add(out, "all %" PRId64 " rank%s\n", self->settings.ranks, self->settings.ranks == 1 ? "" : "s");
    else {
        const char *ranks = label_ranks(class->first, class->n_first, self->session->arena);
        if (self->classes.is_complete)
            dt__text_add(out, "rank%s %s\n", class->n_first == 1 ? "" : "s", ranks ? ranks : "");
        else
            dt__text_add(out, "%" PRId64 " ranks like %s\n", class->n_ranks, ranks ? ranks : "");
    }
}

static void print_memory(const estimating *self, const json_t *report) {
    dt__text *out = self->session->out;
    const char *kind;
    json_t *use;
    dt__text_add(out, "\n%-16s %14s %14s\n", "memory", "peak bytes", "live bytes");
    json_object_foreach(json_object_get(report, "memory"), kind, use) {
        if (strcmp(kind, "all") != 0)
            dt__text_add(out, "%-16s %14" PRId64 " %14" PRId64 "\n", kind, integer_of(use, "peak"),
                         integer_of(use, "live"));
    }
    use = json_object_get(json_object_get(report, "memory"), "all");
    dt__text_add(out, "%-16s %14" PRId64 " %14" PRId64 "\n", "all", integer_of(use, "peak"), integer_of(use, "live"));
}

/* Where the machine model has rates of ops. */
static void print_time(const estimating *self, const estimate_class *class) {
    const json_t *report = class->report;
    double all = json_number_value(json_object_get(report, "us")), sent = 0;
    size_t i;
    json_t *line;
    if (!json_is_true(json_object_get(report, "timed")))
        return;
    json_array_foreach(json_object_get(report, "communication"), i, line) sent +=
        json_number_value(json_object_get(line, "us"));
    bool is_known = !isnan(class->waited_us);
    const char *whole = label_time(is_known ? all + class->waited_us : all, self->session->arena),
               *part = label_time(sent, self->session->arena),
               *waited = label_time(is_known ? class->waited_us : 0, self->session->arena);
    dt__text_add(self->session->out, "\npredicted time of the whole run: %s, %s of it in collectives, ",
                 whole ? whole : "", part ? part : "");
    if (is_known)
        dt__text_add(self->session->out, "%s waiting for other ranks\n", waited ? waited : "");
    else
        dt__text_add(self->session->out, "without waiting for other ranks\n");
}

static dt_status print_largest(const estimating *self, const json_t *report) {
    dt__arena *arena = self->session->arena;
    table rows = table_new(arena, 5);
    size_t i;
    json_t *block;
    json_array_foreach(json_object_get(report, "largest"), i, block) {
        const char *cells[] = {label_bytes(integer_of(block, "bytes"), arena), text_of(block, "kind"),
                               text_of(block, "tensor"), text_of(block, "call"), label_place(block, arena)};
        DT__TRY(table_add(&rows, cells));
    }
    if (rows.n_rows)
        dt__text_add(self->session->out, "\nlargest at the peak\n");
    table_print(&rows, self->session->out);
    return DT_OK;
}

/* Communication by scope and op, by the printer of dt_comm_stats_text: as a run prints its own. */
static dt_status print_scopes(const estimating *self, const json_t *report) {
    dt_ctx *ctx = self->session->ctx;
    size_t i;
    json_t *line;
    json_array_foreach(json_object_get(report, "communication"), i, line) {
        int64_t n[DT_N_COLLECTIVES];
        for (int c = 0; c < DT_N_COLLECTIVES; c++)
            n[c] = integer_of(json_object_get(line, "collectives"), dt_collective_name((dt_collective)c));
        DT__TRY(dt__comm_stats_add(ctx, text_of(line, "scope"), text_of(line, "op"), n, integer_of(line, "bytes")));
    }
    const char *text = dt_comm_stats_text(ctx);
    dt__text_add(self->session->out, "\n%s", text ? text : "");
    return text ? DT_OK : dt_error_status(ctx);
}

static const char *label_collectives(const json_t *line, dt__arena *arena) {
    const char *text = "", *name;
    json_t *n;
    json_object_foreach(json_object_get(line, "collectives"), name, n) {
        text =
            label_format(arena, "%s%s%s %" JSON_INTEGER_FORMAT, text, *text ? ", " : "", name, json_integer_value(n));
        if (!text)
            return NULL;
    }
    return *text ? text : "nothing sent";
}

static dt_status print_communication(const estimating *self, const json_t *report) {
    dt__arena *arena = self->session->arena;
    table rows = table_new(arena, 5);
    int64_t bytes = 0;
    size_t i;
    json_t *line;
    json_array_foreach(json_object_get(report, "communication"), i, line) {
        bytes += integer_of(line, "bytes");
        if (!integer_of(line, "bytes") && !json_object_size(json_object_get(line, "collectives")))
            continue;
        const char *cells[] = {text_of(line, "op"), text_of(line, "scope"), label_place(line, arena),
                               label_collectives(line, arena), label_bytes(integer_of(line, "bytes"), arena)};
        DT__TRY(table_add(&rows, cells));
    }
    const char *total = label_bytes(bytes, arena);
    DT__TRY(print_scopes(self, report));
    dt__text_add(self->session->out, "\nreceived in the whole run, by line: %s\n", total ? total : "");
    table_print(&rows, self->session->out);
    return DT_OK;
}

static dt_status print_notes(const estimating *self, const json_t *report, const char *key, const char *title) {
    dt__arena *arena = self->session->arena;
    table rows = table_new(arena, 3);
    size_t i;
    json_t *note;
    json_array_foreach(json_object_get(report, key), i, note) {
        const char *cells[] = {text_of(note, "what"), label_place(note, arena),
                               label_format(arena, "%" PRId64 " times", integer_of(note, "times"))};
        DT__TRY(table_add(&rows, cells));
    }
    if (rows.n_rows)
        dt__text_add(self->session->out, "\n%s\n", title);
    table_print(&rows, self->session->out);
    return DT_OK;
}

static dt_status print_class(const estimating *self, const estimate_class *class) {
    print_title(self, class);
    print_time(self, class);
    print_memory(self, class->report);
    DT__TRY(print_largest(self, class->report));
    DT__TRY(print_communication(self, class->report));
    DT__TRY(print_notes(self, class->report, "stand_ins", "values that the program read and nobody computed"));
    return print_notes(self, class->report, "not_run", "not run");
}

/* Other classes in a line each: they differ from the first in few numbers. */
static dt_status print_others(const estimating *self) {
    dt__arena *arena = self->session->arena;
    table rows = table_new(arena, 3);
    for (int i = 1; i < self->classes.n; i++) {
        const estimate_class *class = &self->classes.list[i];
        const char *ranks = label_ranks(class->first, class->n_first, arena);
        const char *cells[] = {label_format(arena, "%" PRId64 " like %s", class->n_ranks, ranks ? ranks : ""),
                               label_bytes(estimate_peak(class->report, "all"), arena), "at the peak"};
        DT__TRY(table_add(&rows, cells));
    }
    if (rows.n_rows)
        dt__text_add(self->session->out, "\nother ranks\n");
    table_print(&rows, self->session->out);
    if (self->classes.n_left)
        dt__text_add(self->session->out,
                     "\nnot estimated: %" PRId64 " ranks of further classes; --rank estimates any of them\n",
                     self->classes.n_left);
    return DT_OK;
}

static dt_status print_verdict(const estimating *self) {
    dt__arena *arena = self->session->arena;
    int64_t peak = estimate_peak(self->classes.list[0].report, "all");
    const char *has = label_bytes((int64_t)self->memory, arena), *needs = label_bytes(peak, arena);
    dt__text *out = self->session->out;
    if (!self->memory)
        return DT_OK;
    dt__text_add(out, "\n%s %s: the peak is %s\n", fits(self) ? "fits" : "does not fit", has ? has : "",
                 needs ? needs : "");
    for (int i = 0; self->has_helps && i < ESTIMATE_N_HELPS; i++) {
        const estimate_help *help = &self->helps[i];
        const char *then = help->peak ? label_bytes(help->peak, arena) : NULL;
        if (help->peak)
            dt__text_add(out, "  %s (%s): %s, %s\n", help->what, help->change, then ? then : "",
                         help->peak <= (int64_t)self->memory ? "fits" : "does not fit");
        else if (help->change)
            dt__text_add(out, "  %s: not tried, the program does not take %s\n", help->what, help->change);
        else
            dt__text_add(out, "  %s: not tried, %s\n", help->what, help->reason);
    }
    return DT_OK;
}

static json_t *helps_json(const estimating *self) {
    json_t *list = json_array();
    for (int i = 0; self->has_helps && i < ESTIMATE_N_HELPS; i++)
        json_append(&list, json_pack("{s:s, s:s?, s:o}", "what", self->helps[i].what, "change", self->helps[i].change,
                                     "peak", self->helps[i].peak ? json_integer(self->helps[i].peak) : json_null()));
    return list;
}

static dt_status print_json(const estimating *self) {
    json_t *list = json_array();
    for (int i = 0; i < self->classes.n; i++) {
        const estimate_class *class = &self->classes.list[i];
        json_t *first = json_array();
        for (int k = 0; k < class->n_first; k++)
            json_append(&first, json_integer(class->first[k]));
        json_append(&list, json_pack("{s:o, s:I, s:o, s:O}", "run", first, "ranks", (json_int_t) class->n_ranks,
                                     "waited_us", isnan(class->waited_us) ? json_null() : json_real(class->waited_us),
                                     "report", class->report));
    }
    json_t *answer =
        json_pack("{s:I, s:o, s:o?, s:I, s:b, s:o}", "ranks", (json_int_t)self->settings.ranks, "memory",
                  self->memory ? json_integer((json_int_t)self->memory) : json_null(), "classes", list,
                  "not_estimated", (json_int_t)self->classes.n_left, "fits", fits(self), "helps", helps_json(self));
    return json_write_line(self->session->ctx, answer, self->session->out);
}

static dt_status estimate(estimating *self) {
    DT__TRY(estimate_all(self->session->arena, &self->settings, self->rank, &self->classes));
    if (!fits(self)) {
        DT__TRY(estimate_helps(self->session->arena, &self->settings, self->classes.list[0].first[0], self->helps));
        self->has_helps = true;
    }
    if (args_has(self->session->args, "json"))
        return print_json(self);
    DT__TRY(print_class(self, &self->classes.list[0]));
    DT__TRY(print_others(self));
    return print_verdict(self);
}

static dt_status run_session(session *started, void *user) {
    estimating *self = user;
    self->session = started;
    dt_status status = estimate(self);
    estimate_classes_free(&self->classes);
    return status;
}

/* "64GB" and "64GiB" as well as "64G". */
static bool read_memory(const char *text, size_t *out) {
    char copy[64];
    size_t n = strlen(text);
    n -= n > 2 && !strcmp(text + n - 2, "iB") ? 2 : n > 1 && text[n - 1] == 'B' ? 1 : 0;
    if (n >= sizeof copy)
        return false;
    memcpy(copy, text, n);
    copy[n] = 0;
    return dt__size_parse(copy, out);
}

/* The cores and the memory of a node that the model states; its ranks share both. */
static bool use_machine(estimating *self, const command *of) {
    static dt__machine machine;
    char error[DT__MACHINE_ERROR_BYTES];
    if (!dt__machine_read(self->settings.machine, &machine, error, sizeof error)) {
        args_misused(of, "--machine: %s", error);
        return false;
    }
    int64_t per_node = machine.ranks_per_host && machine.ranks_per_host < self->settings.ranks
                           ? machine.ranks_per_host
                           : self->settings.ranks;
    self->memory = (size_t)(machine.node_memory / per_node);
    if (!self->settings.cores && machine.node_cores)
        self->settings.cores = machine.node_cores;
    if (!self->settings.threads && machine.node_cores)
        self->settings.threads = machine.node_cores > per_node ? machine.node_cores / per_node : 1;
    return true;
}

static int run_estimate(const arguments *args) {
    estimating self = {.rank = -1,
                       .settings = {.ranks = 1,
                                    .machine = args_value(args, "machine"),
                                    .trace = args_value(args, "trace"),
                                    .value = args_value(args, "value"),
                                    .words = args->words,
                                    .n_words = args->n_words}};
    const char *memory = args_value(args, "memory");
    char *end = NULL;
    if (args_int(args, "ranks", 1, 1 << 24, &self.settings.ranks) != DT_OK ||
        args_int(args, "rank", 0, (1 << 24) - 1, &self.rank) != DT_OK ||
        args_int(args, "threads", 1, 4096, &self.settings.threads) != DT_OK ||
        args_int(args, "cores", 1, 1 << 20, &self.settings.cores) != DT_OK)
        return EXIT_USAGE;
    if (self.rank >= self.settings.ranks)
        return args_misused(args->command, "--rank: expected a rank below --ranks %" PRId64 ", got %" PRId64,
                            self.settings.ranks, self.rank);
    if (self.settings.machine && !memory && !use_machine(&self, args->command))
        return EXIT_USAGE;
    if (memory && !read_memory(memory, &self.memory))
        return args_misused(args->command, "--memory: expected a size such as 64G, got '%s'", memory);
    if (self.settings.value && (!isfinite(strtod(self.settings.value, &end)) || end == self.settings.value || *end))
        return args_misused(args->command, "--value: expected a number, got '%s'", self.settings.value);
    return session_run(args, 0, run_session, &self);
}

const command estimate_command = {
    .name = "estimate",
    .summary = "what a program needs on ranks that do not exist: memory, collectives",
    .synopsis = "[OPTIONS] -- PROGRAM [ARGUMENTS]",
    .about =
        "Runs the program without data, as it is, once for each class of ranks that hold the same shapes (each rank\n"
        "of up to 16), and prints what the class that needs most memory would need: peaks by kind, the ten largest\n"
        "blocks at the peak with the lines that made them, and collectives with the bytes that a rank receives.\n"
        "These are equal to those of real ranks that share memory. What the program prints is dropped. Values that\n"
        "it reads are stand-ins; they are listed, as are functions that were not run.",
    .options =
        (const command_option[]){
            {.name = "ranks", .value = "N", .help = "the size of the world; default: 1"},
            {.name = "rank", .value = "R", .help = "only this rank"},
            {.name = "memory",
             .value = "SIZE",
             .help = "of a rank, such as 64G: whether it fits, and what would help"},
            {.name = "value", .value = "X", .help = "the number that the program reads for every value; default: 1"},
            {.name = "threads", .value = "N", .help = "threads of a rank; default: its share of the cores"},
            {.name = "cores", .value = "N", .help = "cores of a node; default: those of this machine"},
            MACHINE_OPTION,
            {.name = "trace", .value = "FILE", .help = "write the trace of each run, as DTENSOR_TRACE does"},
            {.name = "json", .help = "print a JSON object with the report of each class"},
            {0},
        },
    .examples = "  dtensor estimate --ranks 8 -- ./gpt --mesh dp=2,fsdp=4\n"
                "  dtensor estimate --ranks 4096 --memory 64G -- ./gpt --mesh dp=8,fsdp=64,tp=8",
    .min_words = 1,
    .max_words = ARGS_MAX,
    .operand = "a program",
    .run = run_estimate,
};
