/* SPDX-License-Identifier: Apache-2.0
 *
 * The gradients of attention. The scores of a block are recomputed, and their exponentials follow from the saved
 * logarithms of sums. With P the weights of a block, of queries i and keys j, and g the gradient of the result:
 *
 *     value grads j  +=  Pᵀ g                      delta = P ∘ (g valueᵀ - rows of g ∘ out, summed)
 *     key grads j    +=  scale deltaᵀ query        query grads i  +=  scale delta key
 *
 * With dropout, Pᵀ and g valueᵀ are multiplied by its factors. One pass over all blocks of a head makes all of them.
 * If there are fewer heads than threads, one pass makes those of keys, in parallel over blocks of keys, and another
 * those of queries, in parallel over blocks of queries: sums are in the same order, and have the same bits.
 */
#include "kernels/attention_blocks.h"

#include "base/size.h"
#include "kernels/element_types.h"

#include <math.h>
#include <string.h>

enum { KEYS = 1 << 0, QUERIES = 1 << 1 }; /* what a pass makes */

/* Where a block of a gradient is summed up: in the array, or in a lane's memory and then converted. */
typedef struct target {
    const dt__array *array; /* NULL: not requested */
    dt__matrix at, sums;
    int64_t rows;
} target;

static target target_of(const dt__attention_job *job, const dt__array *array, char *at, int64_t first, int64_t n,
                        char *buffer) {
    if (!array)
        return (target){0};
    const int64_t *strides = array->strides + array->n_dims - 2;
    const dt__matrix to = {at + first * strides[0] * (int64_t)dt__dtype_bytes(array->dtype), strides[0], strides[1]};
    const dt__matrix copy = {buffer, array->shape[array->n_dims - 1], 1};
    return (target){array, to, dt__attention_is_direct(job, array) ? to : copy, n};
}

static void clear(const dt__attention_job *job, const target *t) {
    if (!t->array)
        return;
    const int64_t bytes = dt__attention_bytes(job), columns = t->array->shape[t->array->n_dims - 1];
    for (int64_t row = 0; columns && row < t->rows; row++)
        memset(t->sums.at + row * t->sums.row * bytes, 0, (size_t)(columns * bytes));
}

static void convert(const dt__attention_job *job, const target *t) {
    if (!t->array || t->sums.at == t->at.at)
        return;
    const int64_t shape[] = {t->rows, t->array->shape[t->array->n_dims - 1]}, dense[] = {shape[1], 1};
    dt__convert(job->kernels, NULL,
                &(dt__array){t->at.at, t->array->dtype, 2, shape, t->array->strides + t->array->n_dims - 2},
                &(dt__array){t->sums.at, job->dtype, 2, shape, dense});
}

static void add_product(const dt__attention_job *job, int64_t m, int64_t k, dt__matrix a, dt__matrix b,
                        const target *t, double alpha) {
    if (t->array)
        dt__matrix_product_run(job->products, job->dtype,
                               &(dt__matrix_product){m, t->array->shape[t->array->n_dims - 1], k, a, b, t->sums,
                                                     dt__real(alpha), dt__real(1)});
}

/* A head of the queries, with the head of the keys that it uses. */
typedef struct head {
    char *query, *key, *value, *grad, *out, *logsumexp, *query_grad, *mask_grad;
    const char *mask;
    int64_t item;
} head;

static char *at_or_null(const dt__attention_job *job, const dt__array *array, int64_t item) {
    return array ? dt__attention_at(job, array, item, false, false) : NULL;
}

static head head_of(const dt__attention_job *job, int64_t item) {
    const dt__attention *args = job->args;
    const dt__attention_grads *grads = job->results;
    return (head){.query = at_or_null(job, args->query, item),
                  .key = dt__attention_at(job, args->key, item, false, true),
                  .value = dt__attention_at(job, args->value, item, false, true),
                  .grad = at_or_null(job, grads->grad, item),
                  .out = at_or_null(job, grads->out, item),
                  .logsumexp = at_or_null(job, grads->logsumexp, item),
                  .query_grad = at_or_null(job, grads->query, item),
                  .mask_grad = at_or_null(job, grads->mask, item),
                  .mask = at_or_null(job, args->mask, item),
                  .item = item};
}

/* A block of queries while its gradients are computed: the factors of products, and what each query has. */
typedef struct queries {
    dt__query_block block;
    dt__matrix query, grad;
} queries;

/* The sum of products of a row of two matrices. */
static double inner_product(const dt__attention_job *job, dt__matrix a, dt__matrix b, int64_t row) {
    const int64_t bytes = dt__attention_bytes(job), n = job->value_width;
    const char *x = a.at + row * a.row * bytes, *y = b.at + row * b.row * bytes;
    double sum = 0;
    if (a.column == 1 && b.column == 1) {
        job->kernels->loops->gradients[job->dtype].dot(n, x, y, &sum);
        return sum;
    }
    for (int64_t d = 0; d < n; d++, x += a.column * bytes, y += b.column * bytes)
        sum += job->dtype == DT_F64 ? *(dt__f64 *)x * *(dt__f64 *)y : (double)*(dt__f32 *)x * (double)*(dt__f32 *)y;
    return sum;
}

static queries load_queries(const dt__attention_job *job, dt__attention_lane *lane, const head *of, int64_t block) {
    const dt__attention_grads *grads = job->results;
    queries q = {.block = dt__attention_block(job, block)};
    const int64_t first = q.block.first, n = q.block.n;
    q.query = dt__attention_load(job, job->args->query, of->query, first, n, lane->query);
    q.grad = dt__attention_load(job, grads->grad, of->grad, first, n, lane->grad);
    const dt__matrix out = dt__attention_load(job, grads->out, of->out, first, n, lane->out);
    dt__attention_load_row(job, grads->logsumexp, of->logsumexp, first, n, lane->logsumexps);
    for (int64_t row = 0; row < n; row++)
        lane->inner[row] = inner_product(job, q.grad, out, row);
    return q;
}

/* The keys of a block, and where their gradients are summed up. */
typedef struct keys {
    int64_t first, n;
    dt__matrix key, value;
    target key_grad, value_grad;
} keys;

static keys load_keys(const dt__attention_job *job, dt__attention_lane *lane, char *key, char *value, int64_t first) {
    keys k = {.first = first, .n = dt__min_i64(DT__KEY_BLOCK, job->n_keys - first)};
    k.key = dt__attention_load(job, job->args->key, key, first, k.n, lane->key);
    k.value = dt__attention_load(job, job->args->value, value, first, k.n, lane->value);
    return k;
}

/* lane->scores become weights, lane->score_grads their gradients' contribution to the scores. */
static void weigh(const dt__attention_job *job, dt__attention_lane *lane, const head *of, const queries *q,
                  const keys *k, int64_t n) {
    const dt__loops *loops = job->kernels->loops;
    const int64_t row_bytes = n * dt__attention_bytes(job);
    dt__matrix_product_run(job->products, job->dtype,
                           &(dt__matrix_product){q->block.n, n, job->value_width, q->grad, dt__transposed(k->value),
                                                 (dt__matrix){lane->score_grads, n, 1}, dt__real(1), dt__real(0)});
    for (int64_t row = 0; row < q->block.n; row++) {
        char *weights = lane->scores + row * row_bytes, *deltas = lane->score_grads + row * row_bytes;
        const double logsumexp = lane->logsumexps[row];
        const dt__number shift[2] = {dt__real(logsumexp == -INFINITY ? 0 : logsumexp), dt__real(0)};
        const dt__number inner[2] = {dt__real(lane->inner[row]), dt__real(0)};
        const void *factors = NULL;
        if (job->args->dropout) {
            factors = dt__attention_factors(job, lane, of->item, q->block.first + row, k->first, n);
            loops->ops[DT__EL_MUL][job->dtype](n, deltas, (const void *[]){deltas, factors}, NULL);
        }
        loops->ops[DT__EL_EXP_SHIFTED][job->dtype](n, weights, (const void *[]){weights}, shift);
        loops->ops[DT__EL_MUL_SHIFTED][job->dtype](n, deltas, (const void *[]){weights, deltas}, inner);
        if (factors)
            loops->ops[DT__EL_MUL][job->dtype](n, weights, (const void *[]){weights, factors}, NULL);
    }
}

static void store_mask_grad(const dt__attention_job *job, const dt__attention_lane *lane, const head *of,
                            const queries *q, const keys *k, int64_t n) {
    const dt__attention_grads *grads = job->results;
    if (!grads->mask)
        return;
    const int64_t *strides = grads->mask->strides + grads->mask->n_dims - 2;
    const int64_t shape[] = {q->block.n, n}, dense[] = {n, 1};
    char *to = of->mask_grad +
               (q->block.first * strides[0] + k->first * strides[1]) * (int64_t)dt__dtype_bytes(grads->mask->dtype);
    dt__convert(job->kernels, NULL, &(dt__array){to, grads->mask->dtype, 2, shape, strides},
                &(dt__array){lane->score_grads, job->dtype, 2, shape, dense});
}

/* The contributions of a block of queries and a block of keys; the queries use n of these keys. */
static void add_block(const dt__attention_job *job, dt__attention_lane *lane, const head *of, const queries *q,
                      const keys *k, const target *query_grad) {
    const double scale = job->args->scale;
    const int64_t n = dt__min_i64(k->n, q->block.n_keys - k->first);
    if (n <= 0)
        return;
    const dt__matrix weights = {lane->scores, n, 1}, deltas = {lane->score_grads, n, 1};
    dt__attention_scores(job, lane, &q->block, k->first, n, q->query, k->key, of->mask);
    weigh(job, lane, of, q, k, n);
    add_product(job, n, q->block.n, dt__transposed(weights), q->grad, &k->value_grad, 1);
    add_product(job, n, q->block.n, dt__transposed(deltas), q->query, &k->key_grad, scale);
    add_product(job, q->block.n, n, deltas, k->key, query_grad, scale);
    store_mask_grad(job, lane, of, q, k, n);
}

static target query_target(const dt__attention_job *job, dt__attention_lane *lane, const head *of,
                           const dt__query_block *block) {
    const dt__attention_grads *grads = job->results;
    return target_of(job, grads->query, of->query_grad, block->first, block->n, lane->sums[0]);
}

/* All that a block of keys contributes to, of the queries of all heads that share it. */
static void run_keys(const dt__attention_job *job, dt__attention_lane *lane, int64_t kv_item, int64_t first,
                     unsigned makes) {
    const dt__attention *args = job->args;
    const dt__attention_grads *grads = job->results;
    const int64_t kv_head = kv_item % job->n_kv_heads, outer = kv_item / job->n_kv_heads;
    const int64_t begin = args->group ? dt__max_i64(kv_head * args->group - args->head_offset, 0) : kv_head;
    const int64_t end =
        args->group ? dt__min_i64((kv_head + 1) * args->group - args->head_offset, job->n_heads) : kv_head + 1;
    keys k = load_keys(job, lane, dt__attention_at(job, args->key, kv_item, true, true),
                       dt__attention_at(job, args->value, kv_item, true, true), first);
    if (makes & KEYS && grads->key)
        k.key_grad = target_of(job, grads->key, dt__attention_at(job, grads->key, kv_item, true, true), first, k.n,
                               lane->sums[1]);
    if (makes & KEYS && grads->value)
        k.value_grad = target_of(job, grads->value, dt__attention_at(job, grads->value, kv_item, true, true), first,
                                 k.n, lane->sums[2]);
    clear(job, &k.key_grad);
    clear(job, &k.value_grad);
    for (int64_t h = begin; h < end; h++) {
        const head of = head_of(job, outer * job->n_heads + h);
        for (int64_t b = 0; b < job->n_blocks; b++) {
            const queries q = load_queries(job, lane, &of, b);
            const target query_grad = makes & QUERIES ? query_target(job, lane, &of, &q.block) : (target){0};
            if (first == 0)
                clear(job, &query_grad);
            add_block(job, lane, &of, &q, &k, &query_grad);
        }
    }
    convert(job, &k.key_grad);
    convert(job, &k.value_grad);
}

/* An item is a head of the keys. */
static void run_head(const dt__attention_job *job, dt__attention_lane *lane, int64_t item) {
    for (int64_t first = 0; first < job->n_keys; first += DT__KEY_BLOCK)
        run_keys(job, lane, item, first, KEYS | QUERIES);
}

/* An item is a block of keys of a head. */
static void run_key_block(const dt__attention_job *job, dt__attention_lane *lane, int64_t item) {
    const int64_t n = dt__ceil_div(job->n_keys, DT__KEY_BLOCK);
    run_keys(job, lane, item / n, item % n * DT__KEY_BLOCK, KEYS);
}

/* An item is a block of queries of a head. */
static void run_query_block(const dt__attention_job *job, dt__attention_lane *lane, int64_t item) {
    const head of = head_of(job, item / job->n_blocks);
    const queries q = load_queries(job, lane, &of, item % job->n_blocks);
    const target query_grad = query_target(job, lane, &of, &q.block);
    clear(job, &query_grad);
    for (int64_t first = 0; first < job->n_keys; first += DT__KEY_BLOCK) {
        const keys k = load_keys(job, lane, of.key, of.value, first);
        add_block(job, lane, &of, &q, &k, &query_grad);
    }
    convert(job, &query_grad);
}

static void clear_all(const dt__attention_job *job, const dt__array *array) {
    static const float zero = 0;
    if (array)
        dt__convert(job->kernels, dt__products_pool(job->products), array,
                    &(dt__array){(void *)(uintptr_t)&zero, DT_F32, 0, NULL, NULL});
}

bool dt__attention_grads_run(dt__products *products, const dt__attention *args, const dt__attention_grads *grads) {
    dt__attention_job job;
    const bool has_queries = dt__attention_prepare(&job, products, args, true);
    int64_t n_outer = 1;
    for (int d = 0; d + 1 < job.n_leading; d++)
        n_outer *= job.leading[d];
    const int64_t n_kv = n_outer * job.n_kv_heads, n = n_outer * job.n_heads;
    if (!has_queries || job.n_keys == 0 || n == 0) {
        clear_all(&job, grads->query);
        clear_all(&job, grads->key);
        clear_all(&job, grads->value);
        return true;
    }
    const int n_threads = dt__pool_threads(dt__products_pool(products));
    const bool one_pass =
        (!grads->query || dt__attention_is_direct(&job, grads->query)) && (n_threads == 1 || n_kv >= 2 * n_threads);
    job.results = grads;
    if (args->is_causal) /* keys that a causal block does not use have no gradient; all others are written */
        clear_all(&job, grads->mask);
    if (one_pass) {
        job.run_item = run_head;
        job.n_items = n_kv;
        return dt__attention_spread(&job);
    }
    if (grads->key || grads->value) {
        job.run_item = run_key_block;
        job.n_items = n_kv * dt__ceil_div(job.n_keys, DT__KEY_BLOCK);
        if (!dt__attention_spread(&job))
            return false;
    }
    job.run_item = run_query_block;
    job.n_items = n * job.n_blocks;
    return !(grads->query || grads->mask) || dt__attention_spread(&job);
}
