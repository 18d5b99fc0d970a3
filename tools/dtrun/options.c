/* SPDX-License-Identifier: Apache-2.0
 *
 * The command line. One table makes the list for getopt, the help and the readers; a new option is one row and one
 * reader. The first word that is not an option is the program: everything after it belongs to the program.
 */
#include "dtrun/options.h"

#include "base/near_miss.h"
#include "base/quantity.h"
#include "base/size.h"
#include "dtrun/binding_text.h"
#include "dtrun/topology.h"
#include "launch/launch.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT(x)      TEXT_(x)
#define TEXT_(x)     #x
#define MAX_RANKS    4096
#define MAX_THREADS  4096
#define MAX_RESTARTS 1000000

static bool take_ranks(struct options *options, const char *value) {
    return dt__count_parse(value, DT__MAX_RANKS, &options->n_ranks);
}

static bool take_restarts(struct options *options, const char *value) {
    return dt__count_parse(value, MAX_RESTARTS, &options->n_restarts);
}

static bool take_min_ranks(struct options *options, const char *value) {
    return dt__count_parse(value, DT__MAX_RANKS, &options->min_ranks);
}

static bool take_binding(struct options *options, const char *value) {
    return binding_parse(value, &options->binding);
}

static bool take_show_binding(struct options *options, const char *value) {
    (void)value;
    return options->show_binding = true;
}

static bool take_topology(struct options *options, const char *value) {
    machine_free(&options->topology);
    options->topology_text = value;
    return machine_read(value, &options->topology);
}

static bool take_tag(struct options *options, const char *value) {
    (void)value;
    return options->tag_output = true;
}

static bool take_output_dir(struct options *options, const char *value) {
    options->output_dir = value;
    return *value;
}

static bool take_timeout(struct options *options, const char *value) {
    return dt__duration_parse(value, &options->timeout_ms);
}

static bool take_heap(struct options *options, const char *value) {
    return dt__size_parse(value, &options->heap_bytes);
}

static bool take_machine(struct options *options, const char *value) {
    options->machine_file = value;
    return *value;
}

static bool take_threads(struct options *options, const char *value) {
    int64_t n;
    if (!dt__count_parse(value, DT__MAX_THREADS, &n))
        return false;
    options->n_threads = (int)n;
    return true;
}

_Static_assert(MAX_RANKS == DT__MAX_RANKS && MAX_THREADS == DT__MAX_THREADS, "the texts state the limits");

static const struct row {
    const char *name;
    char letter;
    const char *value;    /* name of the value in the help, or NULL for a flag */
    const char *expected; /* description of a valid value */
    const char *help;
    const char *variable; /* serves as default */
    bool (*take)(struct options *options, const char *value);
} rows[] = {
    {"ranks", 'n', "N", "an integer from 1 to " TEXT(MAX_RANKS), "start N ranks (default: one per usable core)", NULL,
     take_ranks},
    {"bind", 0, "HOW", "none, core, numa or package",
     "core: each rank on its own share of the cores; numa: on a\n"
     "NUMA node; package: on a package; none (default: DTENSOR_BIND,\n"
     "or core if there is one for each of several ranks)",
     "DTENSOR_BIND", take_binding},
    {"show-binding", 0, NULL, "", "print who runs where; without a program, that is all", NULL, take_show_binding},
    {"topology", 0, "TEXT", TOPOLOGY_EXPECTED,
     "pretend this machine: \"package:2 numa:2 core:4 pu:2\", or an\n"
     "XML file of lstopo; no rank is bound (default: DTENSOR_TOPOLOGY)",
     "DTENSOR_TOPOLOGY", take_topology},
    {"tag-output", 0, NULL, "", "begin each line with the rank that wrote it: [3] …", NULL, take_tag},
    {"output-dir", 0, "DIR", "a folder", "write what rank 3 prints to DIR/rank-3.out and DIR/rank-3.err", NULL,
     take_output_dir},
    {"timeout", 0, "TIME", "a duration such as 500ms, 30s, 2m or 1h, or off",
     "a collective that waits longer fails: 500ms, 30s, 2m, 1h,\noff (default: DTENSOR_TIMEOUT, or 5m)", NULL,
     take_timeout},
    {"heap", 0, "SIZE", "a size such as 512M or 8G",
     "address space of each rank's shared heap: 512M, 8G\n(default: DTENSOR_HEAP, or the memory of the machine)",
     "DTENSOR_HEAP", take_heap},
    {"threads", 0, "K", "an integer from 1 to " TEXT(MAX_THREADS),
     "threads of each rank (default: DTENSOR_THREADS, or\nusable cores / ranks)", "DTENSOR_THREADS", take_threads},
    {"machine", 0, "FILE", "a file of dtensor calibrate",
     "machine model that prices plans and placements\n(default: DTENSOR_MACHINE, or a built-in table)",
     "DTENSOR_MACHINE", take_machine},
    {"restarts", 0, "N", "an integer from 1 to " TEXT(MAX_RESTARTS),
     "start the program again after a failure, at most N times", NULL, take_restarts},
    {"min-ranks", 0, "M", "an integer from 1 to " TEXT(MAX_RANKS),
     "with --restarts: if a rank keeps dying, start again on\nfewer ranks, but at least M", NULL, take_min_ranks},
    {"help", 'h', NULL, "", "this text", NULL, NULL},
    {"version", 'V', NULL, "", "the version", NULL, NULL},
};
enum { N_ROWS = sizeof rows / sizeof rows[0], LONG_ONLY = 256 };

/* The help in groups: the first option of each. */
static const struct group {
    const char *first, *title;
} groups[] = {
    {"ranks", "ranks, and where they run:"}, {"tag-output", "output:"}, {"timeout", "deadline and resources:"},
    {"restarts", "after a failure:"},        {"help", "about dtrun:"},
};

static void print_option(const struct row *row) {
    for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++)
        if (strcmp(row->name, groups[i].first) == 0)
            puts(groups[i].title);
    char left[64], letter[8] = "    ";
    if (row->letter)
        snprintf(letter, sizeof letter, "-%c, ", row->letter);
    snprintf(left, sizeof left, "%s--%s%s%s", letter, row->name, row->value ? " " : "", row->value ? row->value : "");
    for (const char *line = row->help; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
        printf("  %-20s %.*s\n", line == row->help ? left : "", (int)strcspn(line, "\n"), line);
}

static void print_help(void) {
    puts("usage: dtrun [options] program [arguments]\n"
         "Starts a program several times on this machine, as the ranks of one launch.\n");
    for (const struct row *row = rows; row < rows + N_ROWS; row++)
        print_option(row);
    puts("\nStandard input goes to rank 0. Lines of output are never mixed. Signals are passed on, except for USR1,\n"
         "which prints what every rank is doing. When a rank fails, dtrun reports which one and how, ends the\n"
         "others and exits with that code (128 + n for signal n).\n\n"
         "Examples:\n"
         "  dtrun -n 4 ./first                      four ranks\n"
         "  dtrun -n 2 --tag-output ./first --fast  --fast is the program's own option\n"
         "  dtrun -n 8 --timeout 30s ./train        no collective waits longer than 30 seconds\n"
         "  dtrun -n 2 --bind numa --threads 8 ./train < data\n"
         "  dtrun -n 8 --restarts 20 ./train        ./train continues from its newest checkpoint\n"
         "  dtrun -n 6 --show-binding               who would run where\n"
         "  kill -USR1 $(pidof dtrun)               what ranks are doing, and which ones they wait for\n"
         "  dtrun -n 4 sh -c 'echo I am $RANK of $WORLD_SIZE'\n\n"
         "More in dtrun(1).");
}

/* Prints what is wrong with the command line; false, so that it can end a reader. */
static bool complain(const char *format, ...) DT_PRINTF(1);
static bool complain(const char *format, ...) {
    va_list args;
    va_start(args, format);
    fputs("dtrun: ", stderr);
    vfprintf(stderr, format, args);
    fputs("\nTry 'dtrun --help'.\n", stderr);
    va_end(args);
    return false;
}

/* Makes getopt's two lists; short_names holds two characters of each row and three more. */
static void list_options(struct option *long_names, char *short_names) {
    size_t n = 0;
    short_names[n++] = '+'; /* stop at the first word that is not an option */
    short_names[n++] = ':'; /* tell a missing value from an unknown option */
    for (int i = 0; i < N_ROWS; i++) {
        int needs_value = rows[i].value ? required_argument : no_argument;
        long_names[i] = (struct option){.name = rows[i].name, .has_arg = needs_value, .val = LONG_ONLY + i};
        if (rows[i].letter)
            short_names[n++] = rows[i].letter;
        if (rows[i].letter && rows[i].value)
            short_names[n++] = ':';
    }
    short_names[n] = 0;
}

static const struct row *row_of(int key) {
    for (int i = 0; i < N_ROWS; i++) {
        if (key == LONG_ONLY + i || (rows[i].letter && key == rows[i].letter))
            return &rows[i];
    }
    return NULL;
}

static bool unknown(char **argv) {
    const char *word = argv[optind - 1];
    if (optopt && optopt < LONG_ONLY && strncmp(word, "--", 2) != 0)
        return complain("-%c: unknown option", optopt);
    if (optopt >= LONG_ONLY)
        return complain("--%s: expected no value, got one", row_of(optopt)->name);
    dt__near_miss near = dt__near_miss_of(word, strcspn(word, "="));
    for (int i = 0; i < N_ROWS; i++) {
        char name[DT__NEAR_MISS_CHARS];
        dt__near_miss_add(&near, name, (size_t)snprintf(name, sizeof name, "--%s", rows[i].name));
    }
    return complain("%s: unknown option%s", word, dt__near_miss_hint(&near));
}

/* True to continue; false when dtrun is to exit, with *code set. */
static bool take(const struct row *row, struct options *options, int *code) {
    if (!row->take) {
        *code = 0;
        if (row->letter == 'h')
            print_help();
        else
            printf("dtrun (dtensor) %s\n", dt_version_text());
        return false;
    }
    if (row->take(options, optarg))
        return true;
    dt__near_miss near = dt__near_miss_new(optarg);
    if (row->take == take_binding)
        dt__near_miss_add_list(&near, row->expected);
    return complain("--%s: expected %s, got \"%s\"%s", row->name, row->expected, optarg, dt__near_miss_hint(&near));
}

static bool take_arguments(int argc, char **argv, struct options *options, int *code) {
    struct option long_names[N_ROWS + 1] = {{0}};
    char short_names[2 * N_ROWS + 3];
    int key;
    list_options(long_names, short_names);
    opterr = 0;
    while ((key = getopt_long(argc, argv, short_names, long_names, NULL)) != -1) {
        if (key == '?')
            return unknown(argv);
        if (key == ':')
            return complain("%s: expected %s, got no value", argv[optind - 1], row_of(optopt)->expected);
        if (!take(row_of(key), options, code))
            return false;
    }
    options->command = argv + optind;
    return options->command[0] || options->show_binding || complain("expected a program to run, got none");
}

static bool take_variables(struct options *options) {
    for (const struct row *row = rows; row < rows + N_ROWS; row++) {
        const char *value = row->variable ? getenv(row->variable) : NULL;
        if (value && *value && !row->take(options, value))
            return complain("%s: expected %s, got \"%s\"", row->variable, row->expected, value);
    }
    return true;
}

/* Once for all ranks, before any of them starts. */
static bool read_machine(struct options *options) {
    char error[DT__MACHINE_ERROR_BYTES];
    const char *path = options->machine_file;
    options->machine = dt__machine_builtin;
    return !path || dt__machine_read(path, &options->machine, error, sizeof error) ||
           complain("%s: %s", path == getenv("DTENSOR_MACHINE") ? "DTENSOR_MACHINE" : "--machine", error);
}

/* Whether the ranks are to be bound, and to which CPUs. */
static bool plan_binding(struct options *options) {
    enum binding requested = options->requested_binding;
    options->binding = binding_settle(requested, options->n_ranks, options->n_planned_cores);
    bool is_needed = options->binding != BIND_NONE || options->show_binding;
    if (is_needed && !options->topology_text)
        machine_read(NULL, &options->topology); /* a machine that cannot be read is not bound to */
    options->shares = calloc((size_t)options->n_ranks, sizeof *options->shares);
    if (!options->shares)
        return complain("out of memory");
    if (binding_divide(&options->topology, options->binding, options->n_ranks, options->shares))
        return true;
    free(options->shares);
    options->shares = NULL;
    if (requested != BIND_DEFAULT && requested != BIND_NONE)
        fprintf(stderr,
                "dtrun: --bind %s: cannot share %d cores fairly among %" PRId64 " ranks; they are not bound\n",
                binding_name(requested), machine_cores(&options->topology), options->n_ranks);
    return true;
}

static void set_threads(struct options *options) {
    options->n_threads = options->requested_threads;
    if (options->n_threads)
        return;
    int64_t n = options->n_planned_cores / options->n_ranks;
    if (options->shares)
        n = dt__min_i64(n, binding_threads(&options->topology, options->shares, options->n_ranks));
    options->n_threads = n < 1 ? 1 : (int)n;
}

/* With a program, its standard output stays its own. */
static bool show_binding(const struct options *options, int *code) {
    binding_print(options, options->command[0] ? stderr : stdout);
    *code = 0;
    return options->command[0] != NULL;
}

bool options_set_ranks(struct options *options, int64_t n_ranks) {
    options->n_ranks = n_ranks;
    free(options->shares);
    options->shares = NULL;
    if (!options->topology_text)
        machine_free(&options->topology);
    if (!plan_binding(options))
        return false;
    set_threads(options);
    return true;
}

void options_free(struct options *options) {
    free(options->shares);
    machine_free(&options->topology);
}

bool options_read(int argc, char **argv, struct options *options, int *code) {
    *options = (struct options){.n_cores = dt__usable_cores()};
    *code = EXIT_USAGE;
    if (!take_variables(options) || !take_arguments(argc, argv, options, code) || !read_machine(options))
        return false;
    options->n_planned_cores = options->topology_text ? machine_cores(&options->topology) : options->n_cores;
    if (!options->n_ranks)
        options->n_ranks = dt__min_i64(options->n_planned_cores, DT__MAX_RANKS);
    if (options->min_ranks > options->n_ranks)
        return complain("--min-ranks: expected at most the number of ranks, %" PRId64 ", got %" PRId64,
                        options->n_ranks, options->min_ranks);
    if (options->min_ranks && !options->n_restarts)
        return complain("--min-ranks: expected --restarts, too");
    options->requested_binding = options->binding;
    options->requested_threads = options->n_threads;
    if (!options_set_ranks(options, options->n_ranks))
        return false;
    return !options->show_binding || show_binding(options, code);
}
