/* SPDX-License-Identifier: Apache-2.0
 *
 * The loops that measure collectives, their command line and their output. Nothing here depends on the measured
 * library.
 */
#include "collectives.h"
#include "settle.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    SMALL_BYTES = 65536, /* calls up to this size are timed ten at a time */
    SMALL_CALLS = 10,
    MAX_REPEATS = 10 * BENCH_MAX_BATCH,
};

static const char *const op_names[BENCH_N_OPS] = {
    [BENCH_ALL_REDUCE] = "all_reduce", [BENCH_ALL_GATHER] = "all_gather", [BENCH_REDUCE_SCATTER] = "reduce_scatter",
    [BENCH_ALL_TO_ALL] = "all_to_all", [BENCH_BROADCAST] = "broadcast",   [BENCH_BARRIER] = "barrier",
};

double bench_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

bench_times bench_summary(double *seconds, int n) {
    qsort(seconds, (size_t)n, sizeof *seconds, by_value);
    return (bench_times){seconds[0], seconds[n / 2], n};
}

void bench_bind(int rank, int n_ranks) {
    cpu_set_t all, own;
    if (sched_getaffinity(0, sizeof all, &all) || CPU_COUNT(&all) < n_ranks)
        return;
    int seen = 0;
    for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &all) && seen++ == rank) {
            CPU_ZERO(&own);
            CPU_SET(cpu, &own);
            sched_setaffinity(0, sizeof own, &own);
            return;
        }
}

/* The text form is for scripts: op, ranks, bytes, inputs, best, median (both in microseconds), repeats. */
void bench_row(const bench_options *options, const char *name, int n_ranks, int64_t bytes, bool fresh,
               bench_times times) {
    if (options->json)
        printf(
            "{\"bench\":\"%s\",\"config\":{\"ranks\":%d,\"bytes\":%lld,\"fresh\":%s},\"ours\":%.5g,\"unit\":\"us\","
            "\"median\":%.5g,\"repeats\":%d}\n",
            name, n_ranks, (long long)bytes, fresh ? "true" : "false", times.best * 1e6, times.median * 1e6, times.n);
    else
        printf("%-16s %3d %10lld %-6s %12.5g %12.5g %6d\n", name, n_ranks, (long long)bytes, fresh ? "fresh" : "left",
               times.best * 1e6, times.median * 1e6, times.n);
    fflush(stdout);
}

/* One measured collective and its memory. */
struct job {
    const bench_side *side;
    const bench_options *options;
    bench_op op;
    int64_t bytes;
    bool fresh;
    bench_call call;
    int64_t src_count, dst_count;
    double *seconds; /* of each repeat */
};

static int64_t at_least_one(int64_t n) { return n > 0 ? n : 1; }

static void size_job(struct job *job) {
    int64_t n = job->side->n_ranks, whole = at_least_one(job->bytes / (int64_t)sizeof(float));
    int64_t block = at_least_one(whole / n);
    const struct {
        int64_t count, src, dst;
    } sizes[BENCH_N_OPS] = {
        [BENCH_ALL_REDUCE] = {whole, whole, whole},
        [BENCH_ALL_GATHER] = {block, block, block * n},
        [BENCH_REDUCE_SCATTER] = {block, block * n, block},
        [BENCH_ALL_TO_ALL] = {block, block * n, block * n},
        [BENCH_BROADCAST] = {whole, 0, whole},
        [BENCH_BARRIER] = {0, 0, 0},
    };
    job->call.count = sizes[job->op].count;
    job->src_count = sizes[job->op].src;
    job->dst_count = sizes[job->op].dst;
}

static void write_all(float *memory, int64_t n, float value) {
    for (int64_t i = 0; i < n; i++)
        memory[i] = value;
}

/* Rank r contributes r + 1 everywhere. */
static void write_input(const struct job *job) {
    if (job->op == BENCH_BROADCAST) {
        if (job->side->rank == 0)
            write_all(job->call.dst, job->dst_count, 1);
    } else {
        write_all((float *)job->call.src, job->src_count, (float)(job->side->rank + 1));
    }
}

static bool result_is_right(const struct job *job) {
    float n = (float)job->side->n_ranks, sum = n * (n + 1) / 2;
    const float first[BENCH_N_OPS] = {sum, 1, sum, 1, 1, 0}, last[BENCH_N_OPS] = {sum, n, sum, n, 1, 0};
    const float *dst = job->call.dst;
    if (job->op == BENCH_BARRIER || (dst[0] == first[job->op] && dst[job->dst_count - 1] == last[job->op]))
        return true;
    fprintf(stderr, "%s of %lld bytes on rank %d: result %g … %g; %g … %g would be right\n", op_names[job->op],
            (long long)job->bytes, job->side->rank, (double)dst[0], (double)dst[job->dst_count - 1],
            (double)first[job->op], (double)last[job->op]);
    return false;
}

static bool run_calls(const struct job *job, int n) {
    bool fine = true;
    for (int i = 0; i < n; i++)
        fine = job->side->run[job->op](job->side->user, &job->call) && fine;
    return fine;
}

static bool repeat(const struct job *job, int n_calls, double *seconds) {
    static const bench_call nothing;
    if (job->fresh)
        write_input(job);
    if (!job->side->run[BENCH_BARRIER](job->side->user, &nothing))
        return false;
    double start = bench_now();
    bool fine = run_calls(job, n_calls);
    *seconds = (bench_now() - start) / n_calls;
    return fine;
}

/* Repeats in batches until the best has settled; the time of a repeat is that of the slowest rank. Returns the number
 * of repeats, 0 after a failure. */
static int repeat_often(const struct job *job, int n_calls) {
    const bench_side *side = job->side;
    bench_settle settle = bench_settle_new(job->options->budget_s / n_calls); /* times are those of one call */
    double *batch;
    int n;
    do {
        batch = job->seconds + settle.n;
        n = bench_settle_batch(&settle);
        for (int i = 0; i < n; i++)
            if (!repeat(job, n_calls, &batch[i]))
                return 0;
        if (!side->max(side->user, batch, (size_t)n))
            return 0;
    } while (bench_settle_continues(&settle, batch, n) && settle.n + BENCH_MAX_BATCH <= MAX_REPEATS);
    return settle.n;
}

static bool run_job(const struct job *job, bench_times *times) {
    int n_calls = job->bytes <= SMALL_BYTES && !job->fresh ? SMALL_CALLS : 1;
    write_input(job);
    write_all(job->call.dst, job->op == BENCH_BROADCAST && job->side->rank == 0 ? 0 : job->dst_count, 0);
    if (!run_calls(job, 1) || !result_is_right(job))
        return false;
    int n = repeat_often(job, n_calls);
    if (n)
        *times = bench_summary(job->seconds, n);
    return n > 0;
}

static float *take_floats(const struct job *job, int64_t n) {
    return job->side->take(job->side->user, (size_t)at_least_one(n) * sizeof(float));
}

static bool measure(struct job *job) {
    const bench_side *side = job->side;
    bench_times times;
    size_job(job);
    float *src = take_floats(job, job->src_count), *dst = take_floats(job, job->dst_count);
    job->call.src = src;
    job->call.dst = dst;
    job->seconds = side->take(side->user, MAX_REPEATS * sizeof(double));
    bool fine = src && dst && job->seconds && run_job(job, &times);
    side->give(side->user, src);
    side->give(side->user, dst);
    side->give(side->user, job->seconds);
    if (fine && side->rank == 0)
        bench_row(job->options, op_names[job->op], side->n_ranks, job->bytes, job->fresh, times);
    return fine;
}

bool bench_collectives(const bench_side *side, const bench_options *options) {
    for (int op = 0; op < BENCH_N_OPS; op++)
        for (int i = 0; i < (op == BENCH_BARRIER ? 1 : options->n_sizes); i++)
            for (int fresh = 0; fresh < (op == BENCH_BARRIER ? 1 : 2); fresh++) {
                struct job job = {.side = side, .options = options, .op = (bench_op)op, .fresh = fresh};
                job.bytes = op == BENCH_BARRIER ? 0 : options->sizes[i];
                bool wanted = options->ops[op] && (op == BENCH_BARRIER || (fresh ? options->fresh : options->left));
                if (wanted && !measure(&job))
                    return false;
            }
    return true;
}

static bool read_op(bench_options *options, const char *name) {
    static bool none[BENCH_N_OPS];
    if (!strcmp(name, "copy")) {
        memcpy(options->ops, none, sizeof none);
        return options->copies = true;
    }
    for (int op = 0; op < BENCH_N_OPS; op++)
        if (!strcmp(name, op_names[op])) {
            memcpy(options->ops, none, sizeof none);
            options->copies = false;
            return options->ops[op] = true;
        }
    return false;
}

static bool read_sizes(bench_options *options, char *list) {
    options->n_sizes = 0;
    for (char *word = strtok(list, ","); word; word = strtok(NULL, ",")) {
        if (options->n_sizes == BENCH_MAX_SIZES || atoll(word) < 1)
            return false;
        options->sizes[options->n_sizes++] = atoll(word);
    }
    return options->n_sizes > 0;
}

static bool read_option(bench_options *options, const char *name, char *value, int *n_read) {
    *n_read = 1;
    if (!strcmp(name, "--quick"))
        return options->quick = true;
    if (!strcmp(name, "--json"))
        return options->json = true;
    if (!strcmp(name, "--fresh"))
        return options->left = false, options->fresh = true;
    if (!strcmp(name, "--left"))
        return options->fresh = false, options->left = true;
    *n_read = 2;
    if (!value)
        return false;
    if (!strcmp(name, "--ranks"))
        return (options->n_ranks = atoi(value)) > 0;
    if (!strcmp(name, "--budget"))
        return (options->budget_s = atof(value)) > 0;
    if (!strcmp(name, "--op"))
        return read_op(options, value);
    if (!strcmp(name, "--bytes"))
        return read_sizes(options, value);
    return false;
}

bool bench_options_read(bench_options *options, int argc, char **argv) {
    int n_read;
    *options = (bench_options){.left = true, .fresh = true, .copies = true, .n_ranks = 2, .n_sizes = 5};
    memcpy(options->sizes, (int64_t[]){4, 4 << 10, 256 << 10, 4 << 20, 64 << 20}, 5 * sizeof(int64_t));
    for (int op = 0; op < BENCH_N_OPS; op++)
        options->ops[op] = true;
    for (int i = 1; i < argc; i += n_read)
        if (!read_option(options, argv[i], argv[i + 1], &n_read)) {
            fprintf(stderr,
                    "%s: %s %s is not understood\n"
                    "usage: %s [--ranks N] [--quick] [--json] [--left|--fresh] [--op NAME] [--bytes N,N…] "
                    "[--budget SECONDS]\n",
                    argv[0], argv[i], argv[i + 1] ? argv[i + 1] : "", argv[0]);
            return false;
        }
    if (options->budget_s == 0)
        options->budget_s = options->quick ? 0.02 : 0.1;
    return true;
}
