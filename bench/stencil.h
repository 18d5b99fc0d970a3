/* SPDX-License-Identifier: Apache-2.0
 *
 * A Jacobi sweep on a square grid of f64, cut into 2 blocks of rows or 2x2 blocks: what the library's and the MPI
 * program have in common. Each element becomes the mean of its four neighbors; beyond the borders is 0.
 */
#ifndef BENCH_STENCIL_H
#define BENCH_STENCIL_H

#include "collectives.h"
#include "settle.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Fills rows x columns of `to`; from is the element before and above the first one. Strides are those of rows. */
static inline void bench_sweep(double *restrict to, int64_t to_stride, const double *restrict from,
                               int64_t from_stride, int64_t rows, int64_t columns) {
    for (int64_t i = 0; i < rows; i++) {
        const double *above = from + i * from_stride + 1, *here = above + from_stride - 1,
                     *below = here + from_stride + 1;
        for (int64_t j = 0; j < columns; j++)
            to[i * to_stride + j] = 0.25 * (above[j] + below[j] + here[j] + here[j + 2]);
    }
}

static inline double bench_initial(int64_t i, int64_t j) { return (double)((i * 7 + j * 3) % 11); }

static const int64_t bench_grids[] = {4096, 512};
enum { BENCH_N_GRIDS = sizeof bench_grids / sizeof *bench_grids };

/* One line of results: "side ranks grid us sum", with tabs between. */
static inline void bench_print_sweep(const char *side, int ranks, int64_t grid, double seconds, double sum) {
    printf("%s\t%d\t%lld\t%.2f\t%.17g\n", side, ranks, (long long)grid, seconds * 1e6, sum);
    fflush(stdout);
}

/* Repeats a sweep until its time settles; the time is that of the slowest rank, or negative after an error. */
static inline double bench_settle_sweep(double budget_s, bench_repeat *sweep, void *user) {
    static double seconds[BENCH_MAX_BATCH];
    bench_settle settle = bench_settle_new(budget_s);
    int n;
    do {
        n = bench_settle_batch(&settle);
        for (int i = 0; i < n; i++)
            if ((seconds[i] = sweep(user)) < 0)
                return -1;
    } while (bench_settle_continues(&settle, seconds, n));
    return settle.best;
}

#endif
