/* SPDX-License-Identifier: Apache-2.0
 *
 * The rule by which measurements end.
 */
#include "settle.h"

enum { QUIET_BATCHES = 4, MIN_BATCH = 3, MAX_BUDGETS = 50 };
static const double improvement = 0.01;

bench_settle bench_settle_new(double budget_s) {
    return (bench_settle){.best = 1e30, .reference = 1e30, .budget_s = budget_s};
}

/* As many as fill an equal share of the budget. */
int bench_settle_batch(const bench_settle *settle) {
    if (settle->n == 0)
        return MIN_BATCH;
    double n = settle->budget_s / (1 + QUIET_BATCHES) / settle->best;
    return n < MIN_BATCH ? MIN_BATCH : n < BENCH_MAX_BATCH ? (int)n : BENCH_MAX_BATCH;
}

bool bench_settle_continues(bench_settle *settle, const double *seconds, int n) {
    for (int i = 0; i < n; i++) {
        settle->spent += seconds[i];
        settle->best = seconds[i] < settle->best ? seconds[i] : settle->best;
    }
    settle->n += n;
    settle->n_quiet++;
    if (settle->best < (1 - improvement) * settle->reference) {
        settle->reference = settle->best;
        settle->n_quiet = 0;
    }
    return settle->n_quiet < QUIET_BATCHES && settle->spent < MAX_BUDGETS * settle->budget_s;
}

bool bench_settle_pair(double budget_s, bench_repeat *const repeat[2], void *const user[2], double best[2]) {
    static double seconds[BENCH_MAX_BATCH];
    bench_settle settle[2] = {bench_settle_new(budget_s), bench_settle_new(budget_s)};
    bool more[2] = {true, true};
    while (more[0] || more[1])
        for (int k = 0; k < 2; k++) {
            int n = bench_settle_batch(&settle[k]);
            for (int i = 0; i < n; i++)
                if ((seconds[i] = repeat[k](user[k])) < 0)
                    return false;
            more[k] = bench_settle_continues(&settle[k], seconds, n);
            best[k] = settle[k].best;
        }
    return true;
}
