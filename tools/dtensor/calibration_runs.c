/* SPDX-License-Identifier: Apache-2.0
 *
 * Measures redistributions. For each number of ranks, these are forked; every size of a group that divides them is
 * measured while all ranks do the same in groups of theirs, because they share cores and memory. A repeat is: the
 * owners rewrite their shards of the source, a barrier, then the call with a clock around it. The time of a repeat is
 * that from the first rank's start to the last rank's end. The result is the lower quartile of all repeats: other
 * programs on the machine only add to times, and if ranks share cores the fastest repeats are rare.
 */
#include "calibration.h"

#include "dtensor/ops.h"
#include "dtensor/redistribute.h"
#include "launch/launch.h"

#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The moves of a kind of step on the mesh dim of its groups. Rows are consecutive in memory, columns are not. */
static const struct kind_moves {
    dt__step_kind kind;
    bool strided;
    const char *moves[2][2]; /* from, to */
    bool result_is_whole;    /* the result is the full tensor, otherwise a shard of it */
} kinds[] = {
    {DT__STEP_NONE, false, {{"R", "S(0)"}}, false},
    {DT__STEP_NONE, true, {{"R", "S(1)"}}, false},
    {DT__STEP_ALL_GATHER, false, {{"S(0)", "R"}}, true},
    {DT__STEP_ALL_GATHER, true, {{"S(1)", "R"}}, true},
    {DT__STEP_ALL_REDUCE, false, {{"P(sum)", "R"}}, true},
    {DT__STEP_REDUCE_SCATTER, false, {{"P(sum)", "S(0)"}}, false},
    {DT__STEP_REDUCE_SCATTER, true, {{"P(sum)", "S(1)"}}, false},
    {DT__STEP_ALL_TO_ALL, true, {{"S(0)", "S(1)"}, {"S(1)", "S(0)"}}, false},
};
enum { N_KINDS = sizeof kinds / sizeof *kinds };

/* Bytes of the result of one rank. */
static const int64_t all_sizes[] = {1 << 10, 16 << 10, 128 << 10, 1 << 20, 8 << 20, 32 << 20};
static const int64_t quick_sizes[] = {1 << 10, 128 << 10, 2 << 20};

enum { N_SIZES = sizeof all_sizes / sizeof *all_sizes, N_QUICK_SIZES = sizeof quick_sizes / sizeof *quick_sizes };
enum { N_ROUNDS = 2 }; /* launches for each number of ranks, spread over the run: a machine may change meanwhile */
_Static_assert(2 * N_SIZES * N_ROUNDS <= CALIBRATION_MAX_POINTS, "two moves of each size");

enum { MAX_TOTAL_BYTES = 384 << 20, MIN_REPEATS = 5, MAX_REPEATS = 400, PROGRESS_AFTER_US = 2000000 };
static const double MIN_US = 1e-3; /* of a clock that did not advance */

/* All that is to be measured, in memory that the parent shares with the ranks; rank 0 writes. */
typedef struct calibration_run {
    calibration_options options;
    double begin_us;
    int64_t ranks; /* of this launch */
    int n_rounds;
    int n_done; /* series, in all rounds */
    int n_series;
    calibration_series series[];
} calibration_run;

/* One move on one rank. */
typedef struct measured_move {
    dt_ctx *ctx;
    dt_group *world;
    dt_tensor *src;
    const char *to;
} measured_move;

static double budget_us(const calibration_run *run) { return run->options.quick ? 4e3 : 25e3; }

static void bind_to_core(int64_t rank, int64_t n_ranks) {
    cpu_set_t all, own;
    int seen = 0;
    if (sched_getaffinity(0, sizeof all, &all) || CPU_COUNT(&all) < n_ranks)
        return;
    for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &all) && seen++ == rank) {
            CPU_ZERO(&own);
            CPU_SET(cpu, &own);
            (void)sched_setaffinity(0, sizeof own, &own);
        }
}

/* Microseconds of one repeat, the same on all ranks; negative after an error. */
static double repeat(const measured_move *self, int round) {
    size_t bytes = (size_t)dt_spec_local(dt_tensor_spec(self->src))->bytes;
    double times[2];
    memset(dt_data(self->src), round, bytes);
    if (dt_comm_barrier(self->world) != DT_OK)
        return -1;
    times[0] = -dt__now_us();
    dt_tensor *result = dt_redistribute(self->src, self->to);
    times[1] = dt__now_us();
    dt_drop(result);
    if (!result || dt_comm_all_reduce(self->world, times, times, 2, DT_F64, DT_MAX) != DT_OK)
        return -1;
    return times[0] + times[1];
}

static int compare_times(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* The lower quartile of as many repeats as fit into the budget; negative after an error. */
static double measure_move(const measured_move *self, double budget) {
    double times[MAX_REPEATS], spent = 0;
    int n = 0;
    if (repeat(self, 1) < 0) /* prepares the move */
        return -1;
    while (n < MIN_REPEATS || (n < MAX_REPEATS && spent < budget)) {
        times[n] = repeat(self, n & 1);
        if (times[n] < 0)
            return -1;
        spent += times[n++];
    }
    qsort(times, (size_t)n, sizeof *times, compare_times);
    return times[n / 4];
}

/* A matrix of about so many bytes whose dims the ranks divide: no shard is larger than another. */
static void shape_of(int64_t bytes, int64_t ranks, int64_t shape[2]) {
    int64_t side = (int64_t)sqrt((double)bytes / 4);
    shape[1] = (side / ranks + (side < ranks)) * ranks;
    int64_t rows = bytes / 4 / shape[1];
    shape[0] = (rows / ranks + (rows < ranks)) * ranks;
}

/* The ranks along the last dim of a series' mesh; where ranks only copy, half of what they have. */
static int64_t mesh_group(const calibration_series *series) {
    if (series->kind != DT__STEP_NONE)
        return series->group;
    return series->ranks % 2 ? series->ranks : 2;
}

static dt_mesh *new_mesh(dt_ctx *ctx, const calibration_series *series) {
    char text[48];
    int64_t group = mesh_group(series);
    if (group < series->ranks)
        snprintf(text, sizeof text, "%lldx%lld", (long long)(series->ranks / group), (long long)group);
    else
        snprintf(text, sizeof text, "%lld", (long long)group);
    return dt_mesh_new(ctx, text);
}

/* "R,S(0)" where the mesh has two dims, "S(0)" otherwise. */
static void place_on(const dt_mesh *mesh, const char *one, char out[32]) {
    snprintf(out, 32, "%s%s", dt_mesh_n_dims(mesh) > 1 ? "R," : "", one);
}

/* Adds the point of one move and size, unless it takes too much memory. */
static bool add_point(const calibration_run *run, calibration_series *series, dt_mesh *mesh,
                      const struct kind_moves *kind, int move, int64_t result_bytes) {
    char from[32], to[32];
    int64_t shape[2], n_shards = kind->result_is_whole ? 1 : mesh_group(series), full = result_bytes * n_shards;
    measured_move self = {.ctx = dt_mesh_ctx(mesh), .to = to};
    bool shards_source = kind->moves[move][0][0] == 'S';
    int64_t source_bytes = shards_source ? full / series->group : full;
    if ((source_bytes + result_bytes) * series->ranks > MAX_TOTAL_BYTES)
        return true;
    shape_of(full, series->ranks, shape);
    place_on(mesh, kind->moves[move][0], from);
    place_on(mesh, kind->moves[move][1], to);
    self.world = dt_group_world(self.ctx);
    self.src = dt_empty(self.ctx, DT_SHAPE(shape[0], shape[1]), .mesh = mesh, .place = from);
    double us = self.src ? measure_move(&self, budget_us(run)) : -1;
    dt_drop(self.src);
    if (us < 0)
        return false;
    if (dt_rank(self.ctx) == 0)
        series->points[series->n_points++] =
            (calibration_point){4.0 * (double)(shape[0] * shape[1] / n_shards), fmax(us, MIN_US)};
    return true;
}

static bool measure_series(const calibration_run *run, dt_ctx *ctx, calibration_series *series) {
    const struct kind_moves *kind = kinds;
    const int64_t *sizes = run->options.quick ? quick_sizes : all_sizes;
    int n_sizes = run->options.quick ? N_QUICK_SIZES : N_SIZES;
    while (kind->kind != series->kind || kind->strided != series->strided)
        kind++;
    dt_mesh *mesh = new_mesh(ctx, series);
    bool ok = mesh;
    for (int move = 0; move < 2 && kind->moves[move][0]; move++)
        for (int s = 0; ok && s < n_sizes; s++)
            ok = add_point(run, series, mesh, kind, move, sizes[s]);
    dt_mesh_release(mesh);
    return ok;
}

static void show_progress(const calibration_run *run) {
    if (run->options.progress && dt__now_us() - run->begin_us > PROGRESS_AFTER_US)
        fprintf(stderr, "\rdtensor calibrate: %d of %d ", run->n_done, run->n_rounds * run->n_series);
}

static int measure_on_rank(dt_ctx *ctx, void *arg) {
    calibration_run *run = arg;
    bind_to_core(dt_rank(ctx), run->ranks);
    for (int i = 0; i < run->n_series; i++) {
        if (run->series[i].ranks != run->ranks)
            continue;
        if (!measure_series(run, ctx, &run->series[i]))
            return 1;
        if (dt_rank(ctx) == 0) {
            run->n_done++;
            show_progress(run);
        }
    }
    return 0;
}

/* Powers of two, and the maximum; 0 after it. */
static int64_t next_group(int64_t group, int64_t max) {
    int64_t power = 2;
    while (power <= group)
        power *= 2;
    return group == max ? 0 : power < max ? power : max;
}

/* The next number of ranks to measure: these, and the first that is more than the cores, from which on ranks wait for
 * each other's cores. */
static int64_t next_ranks(int64_t ranks, int64_t max) {
    int64_t next = next_group(ranks, max), crowded = dt__usable_cores() + 1;
    return crowded > ranks && crowded < next ? crowded : next;
}

/* Lists every kind for every size of a group that divides the ranks; returns how many that are. */
static int list_series(int64_t max_ranks, calibration_series *out) {
    int n = 0;
    for (int64_t ranks = 2; ranks; ranks = next_ranks(ranks, max_ranks))
        for (int k = 0; k < N_KINDS; k++)
            for (int64_t group = 2; group; group = next_group(group, ranks)) {
                bool copies = kinds[k].kind == DT__STEP_NONE;
                if (ranks % group || (copies && group < ranks))
                    continue;
                if (out)
                    out[n] = (calibration_series){.kind = kinds[k].kind,
                                                  .strided = kinds[k].strided,
                                                  .group = copies ? 1 : group,
                                                  .ranks = ranks};
                n++;
            }
    return n;
}

static size_t run_bytes(int n_series) {
    return sizeof(calibration_run) + (size_t)n_series * sizeof(calibration_series);
}

bool calibration_measure(const calibration_options *options, calibration_series **out, int *n, char **error) {
    int n_series = list_series(options->max_ranks, NULL);
    size_t bytes = run_bytes(n_series);
    calibration_run *run = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    calibration_series *series = calloc((size_t)n_series, sizeof *series);
    bool ok = run != MAP_FAILED && series;
    *error = NULL;
    if (ok) {
        *run = (calibration_run){.options = *options,
                                 .begin_us = dt__now_us(),
                                 .n_rounds = options->quick ? 1 : N_ROUNDS,
                                 .n_series = n_series};
        list_series(options->max_ranks, run->series);
    }
    for (int round = 0; ok && round < run->n_rounds; round++)
        for (int64_t ranks = 2; ok && ranks; ranks = next_ranks(ranks, options->max_ranks)) {
            run->ranks = ranks;
            ok = dt_spawn(ranks, measure_on_rank, run, error) == DT_OK;
        }
    if (ok && options->progress)
        fprintf(stderr, "\r%*s\r", 60, "");
    if (ok)
        memcpy(series, run->series, (size_t)n_series * sizeof *series);
    if (run != MAP_FAILED)
        munmap(run, bytes);
    if (!ok)
        free(series);
    *out = ok ? series : NULL;
    *n = ok ? n_series : 0;
    return ok;
}
