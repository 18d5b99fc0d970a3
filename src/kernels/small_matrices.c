/* SPDX-License-Identifier: Apache-2.0
 *
 * Batches of small matrices, divided among threads. Each thread runs the loops of the instruction set on its own run of
 * matrices. A matrix is a lane, so results depend neither on the number of threads nor on the place in the batch.
 */
#include "kernels/kernels.h"

#include "base/size.h"

enum { REGISTER_BYTES = 64 }; /* the largest register, to which memory is aligned */

typedef struct division {
    dt__small_matrix_loop *run;
    const dt__small_matrices *args;
    int64_t n_matrices, per_piece;
    size_t piece_bytes;
    char *memory;
} division;

/* Registers of a group: two matrices, right sides, and vectors; of complex numbers twice as many. Right sides of one
 * triangular system are the lanes. */
static size_t piece_bytes(dt_dtype dtype, const dt__small_matrices *args, int64_t n_matrices) {
    const size_t n = (size_t)args->n, n_rhs = (size_t)args->n_rhs, m = args->m > args->n ? (size_t)args->m : n;
    const bool has_lanes =
        n_matrices == 1 && (args->kind == DT__SMALL_TRIANGULAR || args->kind == DT__SMALL_LU_SOLVE);
    const size_t n_registers = args->kind == DT__SMALL_SVD ? m
                               : has_lanes                 ? n_rhs * sizeof(double) / REGISTER_BYTES + 1
                                                           : n_rhs;
    const size_t parts = dtype == DT_C64 || dtype == DT_C128 ? 2 : 1;
    return parts * (2 * m * n + (m + 1) * n_registers + 8 * n) * REGISTER_BYTES;
}

static int64_t n_per_piece(dt__pool *pool, int64_t n_matrices) {
    const int64_t group = REGISTER_BYTES / (int64_t)sizeof(float);
    return dt__ceil_div(dt__ceil_div(n_matrices, dt__pool_threads(pool)), group) * group;
}

static void run_piece(void *arg, int64_t piece) {
    const division *d = arg;
    const int64_t begin = piece * d->per_piece, end = dt__min_i64(begin + d->per_piece, d->n_matrices);
    d->run(d->args, begin, end, d->memory + (size_t)piece * d->piece_bytes);
}

size_t dt__small_matrices_bytes(dt__pool *pool, dt_dtype dtype, const dt__small_matrices *args, int64_t n_matrices) {
    const int64_t n_pieces = dt__ceil_div(n_matrices, n_per_piece(pool, n_matrices));
    return (size_t)n_pieces * piece_bytes(dtype, args, n_matrices) + REGISTER_BYTES;
}

void dt__small_matrices_run(const dt__kernels *kernels, dt__pool *pool, dt_dtype dtype,
                            const dt__small_matrices *args, int64_t n_matrices, void *memory) {
    division d = {.run = kernels->loops->small_matrices[dtype],
                  .args = args,
                  .n_matrices = n_matrices,
                  .per_piece = n_per_piece(pool, n_matrices),
                  .piece_bytes = piece_bytes(dtype, args, n_matrices),
                  .memory = (char *)memory + (size_t)(-(uintptr_t)memory % REGISTER_BYTES)};
    dt__pool_run(pool, dt__ceil_div(n_matrices, d.per_piece), run_piece, &d);
}
