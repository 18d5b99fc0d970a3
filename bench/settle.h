/* SPDX-License-Identifier: Apache-2.0
 *
 * When a measurement ends: repeats are made in batches, until the fastest repeat has not become faster by more than 1
 * % in four batches. The rule is the same for the library and for every peer (settle.py has it in Python), so that
 * slow first calls of neither are measured. Decisions depend on the times of the repeats alone: where ranks have
 * joined their times, all of them stop together.
 *
 *     bench_settle settle = bench_settle_new(budget_s);
 *     do {
 *         int n = bench_settle_batch(&settle);
 *         ... n repeats, seconds[0..n)
 *     } while (bench_settle_continues(&settle, seconds, n));
 */
#ifndef BENCH_SETTLE_H
#define BENCH_SETTLE_H

#include <stdbool.h>

enum { BENCH_MAX_BATCH = 2000 };

typedef struct bench_settle {
    double best;      /* seconds of the fastest repeat */
    double reference; /* the best when it last became faster by more than 1 % */
    double spent;     /* seconds of all repeats */
    double budget_s;
    int n, n_quiet; /* repeats; batches since then */
} bench_settle;

/* The budget is the time for a quantity that settles at once; it may take fifty times as long and no longer. */
bench_settle bench_settle_new(double budget_s);
/* The number of repeats in the next batch, 1 to BENCH_MAX_BATCH. */
int bench_settle_batch(const bench_settle *settle);
/* Adds a batch; whether there should be another one. */
bool bench_settle_continues(bench_settle *settle, const double *seconds, int n);

/* Seconds of a repeat, negative after an error. */
typedef double bench_repeat(void *user);
/* Two quantities, such as ours and a peer's, in turn, so that a disturbance meets both: batch by batch until both have
 * settled. The best of each is stored; false after an error. */
bool bench_settle_pair(double budget_s, bench_repeat *const repeat[2], void *const user[2], double best[2]);

#endif
