/* SPDX-License-Identifier: Apache-2.0
 *
 * `dtensor calibrate`: measures this machine and writes a machine model (base/machine.h), which DTENSOR_MACHINE, `dtrun
 * --machine` and the other commands read. calibration.h has the measurements; this file turns them into a model.
 */
#include "arguments.h"
#include "calibration.h"
#include "node_links.h"

#include "launch/launch.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MIN_DEFAULT_RANKS = 8, MAX_DEFAULT_RANKS = 32, MAX_RANKS = 128 };

static const calibration_series *find_series(const calibration_series *series, int n, dt__step_kind kind) {
    for (int i = 0; i < n; i++)
        if (series[i].kind == kind)
            return &series[i];
    return NULL;
}

/* Four digits: measurements have no more. */
static double rounded(double value) {
    char text[32];
    snprintf(text, sizeof text, "%.4g", value);
    return strtod(text, NULL);
}

static double fit(const calibration_series *series, dt__measured_step *out) {
    double ratio = calibration_fit(series, out);
    out->start_us = rounded(out->start_us);
    out->bytes_per_us = rounded(out->bytes_per_us);
    out->cache_bytes = rounded(out->cache_bytes);
    out->memory_bytes_per_us = rounded(out->memory_bytes_per_us);
    return ratio;
}

/* The model of the series, and the largest ratio between it and a measured time. The links, which price what is not
 * measured, are those of the smallest gather. */
static double make_model(const calibration_series *series, int n, dt__machine *out) {
    dt__measured_step gather, copy;
    double worst = 1;
    *out = (dt__machine){.n_measured = n};
    for (int i = 0; i < n; i++)
        worst = fmax(worst, fit(&series[i], &out->measured[i]));
    fit(find_series(series, n, DT__STEP_ALL_GATHER), &gather);
    fit(find_series(series, n, DT__STEP_NONE), &copy);
    out->within = out->between = (dt__link){.start_us = gather.start_us, .bytes_per_us = gather.bytes_per_us};
    out->copy_bytes_per_us = copy.bytes_per_us;
    dt__machine_derive(out);
    return worst;
}

static bool write_model(const calibration_options *options, const dt__machine *machine, double worst, FILE *file) {
    fprintf(file,
            "# Machine model by dtensor calibrate%s %s: %d cores, up to %lld ranks.\n"
            "# Bytes are those of the largest result. Within a factor of %.2f of every measured time.\n",
            options->quick ? " --quick" : "", dt_version_text(), dt__usable_cores(), (long long)options->max_ranks,
            worst);
    return dt__machine_write(machine, file) && fflush(file) == 0;
}

static int failed(const command *self, const char *path, const char *reason) {
    fprintf(stderr, "dtensor %s: %s: %s\n", self->name, path, reason);
    return EXIT_FAILED;
}

static int measure(const command *self, const calibration_options *options, dt__machine *out, double *worst,
                   bool ops) {
    calibration_series *series;
    int n;
    char *error;
    if (!calibration_measure(options, &series, &n, &error)) {
        fprintf(stderr, "dtensor %s: %s\n", self->name, error ? error : "memory: out of memory");
        free(error);
        return EXIT_FAILED;
    }
    *worst = make_model(series, n, out);
    free(series);
    return !ops || calibration_ops(options->quick, out) ? EXIT_OK : EXIT_FAILED;
}

/* The file is opened first, so that a path that cannot be written is an error before anything is measured. */
static int calibrate(const command *self, const calibration_options *options, const char *path, bool ops) {
    bool is_stdout = !strcmp(path, "-"), existed = access(path, F_OK) == 0;
    FILE *file = is_stdout ? stdout : fopen(path, "ae");
    dt__machine machine;
    double worst;
    if (!file)
        return failed(self, path, strerror(errno));
    int code = measure(self, options, &machine, &worst, ops);
    bool ok = code == EXIT_OK && (is_stdout || ftruncate(fileno(file), 0) == 0) &&
              write_model(options, &machine, worst, file);
    if (code == EXIT_OK && !ok)
        code = failed(self, is_stdout ? "standard output" : path, strerror(errno));
    if (!is_stdout && fclose(file) != 0 && code == EXIT_OK)
        code = failed(self, path, strerror(errno));
    if (!is_stdout && code != EXIT_OK && !existed)
        (void)unlink(path);
    return code;
}

static dt__link rounded_link(const dt__link *link) {
    return (dt__link){rounded(link->start_us), rounded(link->peer_us), rounded(link->bytes_per_us)};
}

/* Completes the model of a node that the file has; without one, the links are the model. */
static bool complete_model(const char *path, const node_links *links, dt__machine *out, char *error, size_t n) {
    bool exists = strcmp(path, "-") != 0 && access(path, F_OK) == 0;
    if (exists && !dt__machine_read(path, out, error, n))
        return false;
    if (!exists)
        *out = (dt__machine){.within = rounded_link(&links->within),
                             .copy_bytes_per_us = rounded(links->copy_bytes_per_us)};
    out->between = rounded_link(&links->between);
    out->ranks_per_host = links->ranks_per_node;
    dt__machine_derive(out);
    return true;
}

static bool write_completed(const char *path, int64_t n_ranks, const dt__machine *machine) {
    bool is_stdout = !strcmp(path, "-");
    FILE *file = is_stdout ? stdout : fopen(path, "we");
    if (!file)
        return false;
    fprintf(file, "# Machine model by dtensor calibrate %s: links between nodes, measured by %lld ranks.\n",
            dt_version_text(), (long long)n_ranks);
    bool ok = dt__machine_write(machine, file) && fflush(file) == 0;
    return (is_stdout || fclose(file) == 0) && ok;
}

/* On ranks that a launcher has started: measures the links between their nodes. Rank 0 reads and writes the file. */
static int calibrate_nodes(const command *self, dt_ctx *ctx, const char *path, bool quick) {
    node_links links;
    dt__machine machine;
    char error[DT__MACHINE_ERROR_BYTES] = "";
    int32_t failed_to_write = 0;
    dt_status status = node_links_measure(ctx, quick, &links);
    if (status == DT_OK && dt_rank(ctx) == 0) {
        if (!complete_model(path, &links, &machine, error, sizeof error))
            failed_to_write = 1;
        else if (!write_completed(path, dt_world(ctx), &machine)) {
            snprintf(error, sizeof error, "%.300s: %s", path, strerror(errno));
            failed_to_write = 1;
        }
        if (failed_to_write)
            fprintf(stderr, "dtensor %s: %s\n", self->name, error);
    }
    if (status == DT_OK)
        status = dt_comm_broadcast(dt_group_world(ctx), &failed_to_write, &failed_to_write, 1, DT_I32, 0);
    return status != DT_OK || failed_to_write ? EXIT_FAILED : EXIT_OK;
}

static int run_calibrate(const arguments *args) {
    int64_t max_ranks = dt__usable_cores();
    const char *path = args_value(args, "output");
    max_ranks = max_ranks < MIN_DEFAULT_RANKS ? MIN_DEFAULT_RANKS : max_ranks;
    max_ranks = max_ranks > MAX_DEFAULT_RANKS ? MAX_DEFAULT_RANKS : max_ranks;
    if (args_int(args, "ranks", 2, MAX_RANKS, &max_ranks) != DT_OK)
        return EXIT_USAGE;
    unsetenv("DTENSOR_MACHINE"); /* which may name the file that is to be written */
    calibration_options options = {max_ranks, args_has(args, "quick"), isatty(STDERR_FILENO)};
    dt_ctx *ctx = dt_init(NULL);
    if (!ctx)
        return EXIT_FAILED;
    int code = dt_world(ctx) > 1 ? calibrate_nodes(args->command, ctx, path ? path : "-", options.quick) : EXIT_OK;
    bool is_launched = dt_world(ctx) > 1;
    if (dt_close(ctx) != 0)
        code = EXIT_FAILED;
    return is_launched ? code : calibrate(args->command, &options, path ? path : "-", args_has(args, "ops"));
}

const command calibrate_command = {
    .name = "calibrate",
    .summary = "measure this machine and write a machine model",
    .synopsis = "[OPTIONS]",
    .about =
        "Measures redistributions over shared memory on this machine, for every kind of collective, several\n"
        "numbers of ranks, sizes of groups and bytes, on inputs that their owners have just written, and writes\n"
        "the times as a machine model. DTENSOR_MACHINE and dtrun --machine make programs compare plans and\n"
        "placements by it; dtensor plan --machine predicts times with it. Nothing else should run meanwhile.\n"
        "It takes less than a minute. On ranks that mpirun or srun starts on several nodes it measures the links\n"
        "between them, and adds them to the model of a node that the output file has.",
    .options =
        (const command_option[]){
            {.name = "output",
             .letter = 'o',
             .value = "FILE",
             .help = "write to this file, not to standard output; -o for short"},
            {.name = "ranks",
             .value = "N",
             .help = "measure up to N ranks, from 2 to 128; default: cores, at least 8"},
            {.name = "ops", .help = "also measure how fast a rank computes, for the times of dtensor estimate"},
            {.name = "quick", .help = "fewer sizes and repeats: a second or two, and less precise"},
            {0},
        },
    .examples = "  dtensor calibrate -o machine.txt\n"
                "  mpirun -n 8 dtensor calibrate -o machine.txt\n"
                "  DTENSOR_MACHINE=machine.txt dtrun -n 4 ./program\n"
                "  dtensor plan 'f32[4096,4096] S(0) on mesh(4)' R --machine machine.txt",
    .run = run_calibrate,
};
