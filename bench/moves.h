/* SPDX-License-Identifier: Apache-2.0
 *
 * How a redistribution is measured, for any library that can do one: a matrix of f32 changes its placements on a mesh
 * of one dim, or on one of 2x2. A program fills in a side with the functions of its library, and the same loops
 * measure all sides.
 *
 * A repeat is: the owners rewrite their shards of the source, a barrier, then the move with a clock around it; small
 * matrices are left alone and moved a hundred times in a row. The time of a repeat is that from the first rank's
 * start to the last rank's end, which also counts where ranks share cores. Every element of every rank's result is
 * checked once before.
 */
#ifndef BENCH_MOVES_H
#define BENCH_MOVES_H

#include "collectives.h"

/* One letter per mesh dim: 0 and 1 are S(0) and S(1), R, and P is P(sum). */
typedef struct bench_move {
    const char *from, *to;
} bench_move;

extern const bench_move bench_moves[];
enum { BENCH_N_MOVES = 10, BENCH_N_LINE_MOVES = 6, BENCH_SHARD_TO_SHARD = 2 }; /* those on a line come first */

/* The block of the matrix that a rank holds. */
typedef struct bench_block {
    int64_t row, rows, column, columns;
    int n_partial; /* ranks whose values are added up */
} bench_block;

static inline int64_t bench_block_count(const bench_block *block) { return block->rows * block->columns; }

/* A move between the ranks of a side. */
typedef struct bench_job {
    const bench_move *move;
    int64_t rows, columns;
    int rank, n_ranks, mesh[2], coordinate[2]; /* mesh[1] is 0 on a line */
    bench_block src, dst;                      /* this rank's */
} bench_job;

/* The functions of a library; calls return false if they fail. */
typedef struct bench_mover {
    int rank, n_ranks;
    const char *name;
    void *user;
    /* Prepares the move; returns the address of this rank's source shard. */
    float *(*open)(void *user, const bench_job *job);
    /* Moves; returns the address of this rank's result, which is valid until the next call; NULL after a failure. */
    const float *(*run)(void *user, const bench_job *job);
    void (*close)(void *user, const bench_job *job);
    bool (*barrier)(void *user);
    bool (*max)(void *user, double *values, size_t n);
} bench_mover;

/* The number of redistributions for this number of ranks: those on a grid are for four. */
int bench_n_moves(int n_ranks);
/* Move number k of a matrix of size by size. */
bench_job bench_job_of(const bench_mover *mover, int k, int64_t size);
/* "S(0),R" of "0R". */
const char *bench_place(const char *letters, char text[32]);
/* Bytes that all ranks together must read and write for the move. */
double bench_bytes_touched(const bench_job *job);

/* Seconds from the first start to the last end of all ranks, whose clock is one; negative after a failure. */
double bench_span(const bench_mover *mover, double start, double end);

/* Measures all moves, of matrices [2048,2048] and [64,64], and prints a row each on rank 0:
 * side, ranks, mesh, shape, move and microseconds, with tabs between. */
enum { BENCH_LARGE = 2048, BENCH_SMALL = 64 };
bool bench_measure_moves(const bench_mover *mover, double budget_s);
/* Only move number k, of a matrix of size by size. */
bool bench_measure_move(const bench_mover *mover, int k, int64_t size, double budget_s);
/* One row, on rank 0; move may be NULL. */
void bench_move_row(const bench_mover *mover, const char *side, const bench_job *job, double seconds);

#endif
