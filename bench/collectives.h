/* SPDX-License-Identifier: Apache-2.0
 *
 * How a collective is measured, for any library that has one. A program fills in a side with the functions of its
 * library, and the same loops measure all sides.
 *
 * A repeat is: the owner rewrites its input (if inputs are to be new), a barrier, then a call, or ten small calls,
 * with a clock around them. The time of a repeat is that of the slowest rank. Bytes are those of the buffer
 * (all_reduce, broadcast), of the gathered output (all_gather), or of the whole input (reduce_scatter, all_to_all); a
 * block has at least one element, so 4 bytes stand for 4 bytes per rank there.
 */
#ifndef BENCH_COLLECTIVES_H
#define BENCH_COLLECTIVES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum bench_op {
    BENCH_ALL_REDUCE,
    BENCH_ALL_GATHER,
    BENCH_REDUCE_SCATTER,
    BENCH_ALL_TO_ALL,
    BENCH_BROADCAST,
    BENCH_BARRIER,
    BENCH_N_OPS
} bench_op;

/* Buffers of one call, f32. Broadcast: dst only, from rank 0. */
typedef struct bench_call {
    const float *src;
    float *dst;
    int64_t count; /* of the value, or of one block */
} bench_call;

/* The functions of a library. Calls return false if they fail. */
typedef struct bench_side {
    int rank, n_ranks;
    void *user;
    void *(*take)(void *user, size_t bytes); /* memory for buffers, or NULL */
    void (*give)(void *user, void *memory);
    bool (*max)(void *user, double *values, size_t n); /* the largest of all ranks, in place */
    bool (*run[BENCH_N_OPS])(void *user, const bench_call *call);
} bench_side;

enum { BENCH_MAX_SIZES = 16 };

typedef struct bench_options {
    bool quick, json;
    bool left, fresh;      /* which inputs to measure */
    bool ops[BENCH_N_OPS]; /* which ops */
    bool copies;           /* memory copies, too (if a program has them) */
    int n_ranks;           /* for programs that start their own ranks */
    double budget_s;       /* time for one row */
    int64_t sizes[BENCH_MAX_SIZES];
    int n_sizes;
} bench_options;

/* Parses the command line; false after printing an error. */
bool bench_options_read(bench_options *options, int argc, char **argv);

/* Measures the requested collectives and prints a row for each on rank 0. False if a call failed or had a wrong
 * result. */
bool bench_collectives(const bench_side *side, const bench_options *options);

/* Its parts, for other measurements. Seconds of the repeats, slowest rank, best first. */
typedef struct bench_times {
    double best, median;
    int n;
} bench_times;

double bench_now(void);
/* Sorts; times of all ranks must have been joined. */
bench_times bench_summary(double *seconds, int n);
/* Binds this process to a core of its own, if there is one for each rank. */
void bench_bind(int rank, int n_ranks);
/* One row on standard output. */
void bench_row(const bench_options *options, const char *name, int n_ranks, int64_t bytes, bool fresh,
               bench_times times);

#endif
