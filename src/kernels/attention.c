/* SPDX-License-Identifier: Apache-2.0
 *
 * Attention that never holds all scores. For a block of queries, it visits one block of keys after another: one product
 * computes the scores; exponentials replace them in place, and the result so far is scaled down where a larger score is
 * found; a second product adds the weighted values. Of q queries and k keys it takes 2 q k (E + D) operations and q k
 * exponentials.
 */
#include "kernels/attention_blocks.h"

#include "base/size.h"

#include <math.h>
#include <string.h>

static double larger(const dt__attention_job *job, int64_t n, const void *x, double before) {
    float narrow = (float)before;
    double wide = before;
    void *kept = job->dtype == DT_F32 ? (void *)&narrow : &wide;
    job->kernels->loops->folds[DT__FOLD_MAX][job->dtype](n, x, kept);
    return job->dtype == DT_F32 ? (double)narrow : wide;
}

static void scale_row(const dt__attention_job *job, char *row, double factor) {
    const dt__number numbers[2] = {dt__real(factor), dt__real(0)};
    job->kernels->loops->ops[DT__EL_AFFINE][job->dtype](job->value_width, row, (const void *[]){row}, numbers);
}

/* Scores to exponentials, of one query; its sum so far is scaled to the largest score. */
static void exponentials(const dt__attention_job *job, dt__attention_lane *lane, int64_t row, int64_t n, char *sums) {
    char *x = lane->scores + row * n * dt__attention_bytes(job);
    const double before = lane->largest[row], largest = larger(job, n, x, before);
    const double shift = largest == -INFINITY ? 0 : largest;
    if (largest != before) {
        const double factor = exp(before - shift);
        lane->totals[row] *= factor;
        if (sums)
            scale_row(job, sums, factor);
    }
    lane->largest[row] = largest;
    job->kernels->loops->exp_sums[job->dtype](n, x, x, shift, &lane->totals[row]);
}

/* Weights, which are in the sum of their exponentials already, times factors. */
static void drop_weights(const dt__attention_job *job, const dt__attention_lane *lane, const dt__query_block *block,
                         int64_t item, int64_t first, int64_t n) {
    for (int64_t row = 0; row < block->n; row++) {
        char *x = lane->scores + row * n * dt__attention_bytes(job);
        const void *factors = dt__attention_factors(job, lane, item, block->first + row, first, n);
        job->kernels->loops->ops[DT__EL_MUL][job->dtype](n, x, (const void *[]){x, factors}, NULL);
    }
}

/* The sums of values of a block, and the largest scores and totals in the lane. */
static void add_keys(const dt__attention_job *job, dt__attention_lane *lane, const dt__query_block *block,
                     int64_t item, dt__matrix sums) {
    const dt__attention *args = job->args;
    const int64_t row_bytes = sums.row * dt__attention_bytes(job);
    const dt__matrix query =
        dt__attention_load(job, args->query, dt__attention_at(job, args->query, item, false, false), block->first,
                           block->n, lane->query);
    char *keys = dt__attention_at(job, args->key, item, false, true);
    char *values = dt__attention_at(job, args->value, item, false, true);
    const char *mask = args->mask ? dt__attention_at(job, args->mask, item, false, false) : NULL;
    for (int64_t first = 0; first < block->n_keys; first += DT__KEY_BLOCK) {
        const int64_t n = dt__min_i64(DT__KEY_BLOCK, block->n_keys - first);
        const dt__matrix key = dt__attention_load(job, args->key, keys, first, n, lane->key);
        const dt__matrix value = dt__attention_load(job, args->value, values, first, n, lane->value);
        dt__attention_scores(job, lane, block, first, n, query, key, mask);
        for (int64_t row = 0; row < block->n; row++)
            exponentials(job, lane, row, n, first ? sums.at + row * row_bytes : NULL);
        if (args->dropout)
            drop_weights(job, lane, block, item, first, n);
        dt__matrix_product_run(job->products, job->dtype,
                               &(dt__matrix_product){block->n, job->value_width, n, (dt__matrix){lane->scores, n, 1},
                                                     value, sums, dt__real(1), dt__real(first ? 1 : 0)});
    }
}

/* Divides by the totals, and writes the other results that are requested. */
static void finish(const dt__attention_job *job, dt__attention_lane *lane, const dt__query_block *block, int64_t item,
                   dt__matrix sums) {
    const dt__attention_result *result = job->results;
    const int64_t row_bytes = sums.row * dt__attention_bytes(job);
    const struct {
        const dt__array *to;
        const double *from;
    } states[] = {{result->largest, lane->largest}, {result->sums, lane->totals}};
    for (int i = 0; i < 2; i++)
        if (states[i].to)
            dt__attention_store_row(job, states[i].to, dt__attention_at(job, states[i].to, item, false, false),
                                    block->first, block->n, states[i].from);
    for (int64_t row = 0; row < block->n && !result->sums; row++)
        if (lane->totals[row] != 0)
            scale_row(job, sums.at + row * row_bytes, 1 / lane->totals[row]);
    if (!result->logsumexp)
        return;
    for (int64_t row = 0; row < block->n; row++)
        lane->largest[row] += log(lane->totals[row]);
    dt__attention_store_row(job, result->logsumexp, dt__attention_at(job, result->logsumexp, item, false, false),
                            block->first, block->n, lane->largest);
}

static void run_block(const dt__attention_job *job, dt__attention_lane *lane, int64_t item) {
    const dt__attention_result *result = job->results;
    const dt__array *out = result->out;
    const dt__query_block block = dt__attention_block(job, item % job->n_blocks);
    const int64_t head = item / job->n_blocks, *strides = out->strides + out->n_dims - 2;
    const bool direct = dt__attention_is_direct(job, out);
    const dt__matrix to = {dt__attention_at(job, out, head, false, false) +
                               block.first * strides[0] * (int64_t)dt__dtype_bytes(out->dtype),
                           strides[0], strides[1]};
    const dt__matrix sums = direct ? to : (dt__matrix){lane->sums[0], job->value_width, 1};
    for (int64_t row = 0; row < block.n; row++) {
        lane->largest[row] = -INFINITY;
        lane->totals[row] = 0;
        if (block.n_keys == 0 && job->value_width)
            memset(sums.at + row * sums.row * dt__attention_bytes(job), 0,
                   (size_t)(job->value_width * dt__attention_bytes(job)));
    }
    add_keys(job, lane, &block, head, sums);
    finish(job, lane, &block, head, sums);
    if (direct)
        return;
    const int64_t shape[] = {block.n, job->value_width}, dense[] = {job->value_width, 1};
    dt__convert(job->kernels, NULL, &(dt__array){to.at, out->dtype, 2, shape, strides},
                &(dt__array){sums.at, job->dtype, 2, shape, dense});
}

bool dt__attention_run(dt__products *products, const dt__attention *args, const dt__attention_result *result) {
    dt__attention_job job;
    if (!dt__attention_prepare(&job, products, args, false))
        return true;
    job.run_item = run_block;
    job.results = result;
    job.n_items = job.n_blocks;
    for (int d = 0; d < job.n_leading; d++)
        job.n_items *= job.leading[d];
    return dt__attention_spread(&job);
}
