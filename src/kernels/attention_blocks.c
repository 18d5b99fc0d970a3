/* SPDX-License-Identifier: Apache-2.0
 *
 * Threads take items one after another, each thread with memory of its own; an item's result does not depend on the
 * thread.
 */
#include "kernels/attention_blocks.h"

#include "base/size.h"
#include "kernels/gather.h"

#include <math.h>
#include <string.h>

bool dt__attention_prepare(dt__attention_job *job, dt__products *products, const dt__attention *args,
                           bool has_grads) {
    const dt__array *query = args->query, *key = args->key;
    const int n = query->n_dims;
    const int64_t offset = args->is_causal ? args->query_offset : 0;
    memset(job, 0, sizeof *job);
    job->products = products;
    job->kernels = dt__products_kernels(products);
    job->args = args;
    job->dtype = dt__attention_dtype(query->dtype);
    job->n_leading = n - 2;
    job->leading = query->shape;
    job->n_heads = n > 2 ? query->shape[n - 3] : 1;
    job->n_kv_heads = args->group ? key->shape[n - 3] : job->n_heads;
    job->n_queries = query->shape[n - 2];
    job->n_keys = key->shape[n - 2];
    job->width = query->shape[n - 1];
    job->value_width = args->value->shape[n - 1];
    job->block_size = args->is_causal ? DT__CAUSAL_BLOCK : DT__QUERY_BLOCK;
    job->first_block = offset / job->block_size;
    job->n_blocks = dt__ceil_div(offset + job->n_queries, job->block_size) - job->first_block;
    job->has_grads = has_grads;
    dt__products_open(products);
    return job->n_queries > 0;
}

dt__query_block dt__attention_block(const dt__attention_job *job, int64_t block) {
    const dt__attention *args = job->args;
    const int64_t offset = args->is_causal ? args->query_offset : 0;
    const int64_t begin = (job->first_block + block) * job->block_size, end = begin + job->block_size;
    const int64_t first = dt__max_i64(begin - offset, 0);
    dt__query_block out = {first, dt__min_i64(end - offset, job->n_queries) - first, job->n_keys};
    if (args->is_causal)
        out.n_keys = dt__max_i64(dt__min_i64(end - args->key_offset, job->n_keys), 0);
    return out;
}

/* The next bytes of a lane's memory; only counted if there is none yet. */
static void *take(char *memory, size_t *used, int64_t n, int64_t bytes) {
    void *at = memory ? memory + *used : NULL;
    *used += ((size_t)(n * bytes) + 63) / 64 * 64;
    return at;
}

static size_t divide_lane(const dt__attention_job *job, char *memory, dt__attention_lane *lane) {
    const int64_t bytes = dt__attention_bytes(job), queries = dt__min_i64(job->n_queries, job->block_size);
    const int64_t keys = dt__min_i64(job->n_keys, DT__KEY_BLOCK);
    const int64_t wider = dt__max_i64(job->width, job->value_width);
    size_t used = 0;
    lane->scores = take(memory, &used, queries * keys, bytes);
    lane->query = take(memory, &used, queries * job->width, bytes);
    lane->key = take(memory, &used, keys * job->width, bytes);
    lane->value = take(memory, &used, keys * job->value_width, bytes);
    lane->sums[0] = take(memory, &used, queries * wider, bytes);
    lane->gathered = take(memory, &used, keys, 8);
    lane->converted = take(memory, &used, keys, 8);
    lane->lowest = take(memory, &used, keys, bytes);
    lane->factors = take(memory, &used, job->args->dropout ? keys : 0, bytes);
    lane->largest = take(memory, &used, queries, sizeof(double));
    lane->totals = take(memory, &used, queries, sizeof(double));
    if (!job->has_grads)
        return used;
    lane->score_grads = take(memory, &used, queries * keys, bytes);
    lane->grad = take(memory, &used, queries * job->value_width, bytes);
    lane->out = take(memory, &used, queries * job->value_width, bytes);
    lane->sums[1] = take(memory, &used, keys * job->width, bytes);
    lane->sums[2] = take(memory, &used, keys * job->value_width, bytes);
    lane->logsumexps = take(memory, &used, queries, sizeof(double));
    lane->inner = take(memory, &used, queries, sizeof(double));
    return used;
}

static void run_lane(void *arg, int64_t piece) {
    dt__attention_job *job = arg;
    dt__attention_lane lane = {0};
    (void)divide_lane(job, job->memory + (size_t)piece * job->lane_bytes, &lane);
    const double lowest = -INFINITY;
    for (int64_t i = 0, n = dt__min_i64(job->n_keys, DT__KEY_BLOCK); i < n; i++)
        job->kernels->loops->convert[DT_F64][job->dtype](1, lane.lowest + i * dt__attention_bytes(job), &lowest);
    int64_t item;
    while ((item = atomic_fetch_add_explicit(&job->next, 1, memory_order_relaxed)) < job->n_items)
        job->run_item(job, &lane, item);
}

bool dt__attention_spread(dt__attention_job *job) {
    dt__pool *pool = dt__products_pool(job->products);
    const int64_t n_lanes = dt__min_i64(dt__pool_threads(pool), job->n_items);
    dt__attention_lane none = {0};
    job->lane_bytes = divide_lane(job, NULL, &none) + 64;
    if (n_lanes == 0)
        return true;
    const size_t bytes = (size_t)n_lanes * job->lane_bytes + 64;
    char *memory = dt__products_take(job->products, bytes);
    if (!memory)
        return false;
    job->memory = memory + (64 - (uintptr_t)memory % 64) % 64;
    atomic_store(&job->next, 0);
    dt__pool_run(pool, n_lanes, run_lane, job);
    dt__products_give_back(job->products, memory, bytes);
    return true;
}

char *dt__attention_at(const dt__attention_job *job, const dt__array *array, int64_t item, bool kv, bool grouped) {
    int64_t offset = 0;
    for (int d = job->n_leading - 1; d >= 0; d--) {
        const bool is_head = d == job->n_leading - 1;
        const int64_t size = is_head && kv ? job->n_kv_heads : job->leading[d];
        int64_t index = item % size;
        item /= size;
        if (is_head && grouped && !kv && job->args->group)
            index = (job->args->head_offset + index) / job->args->group;
        offset += index * array->strides[d];
    }
    return (char *)array->data + offset * (int64_t)dt__dtype_bytes(array->dtype);
}

dt__matrix dt__attention_load(const dt__attention_job *job, const dt__array *array, char *at, int64_t first,
                              int64_t n, char *buffer) {
    const int64_t *strides = array->strides + array->n_dims - 2, columns = array->shape[array->n_dims - 1];
    dt__matrix x = {at + first * strides[0] * (int64_t)dt__dtype_bytes(array->dtype), strides[0], strides[1]};
    if (array->dtype == job->dtype && dt__matrix_is_readable(x, n, columns))
        return x;
    const int64_t shape[] = {n, columns}, dense[] = {columns, 1};
    dt__convert(job->kernels, NULL, &(dt__array){buffer, job->dtype, 2, shape, dense},
                &(dt__array){x.at, array->dtype, 2, shape, strides});
    return (dt__matrix){buffer, columns, 1};
}

bool dt__attention_is_direct(const dt__attention_job *job, const dt__array *array) {
    const int n = array->n_dims;
    return array->dtype == job->dtype && (array->strides[n - 1] == 1 || array->shape[n - 1] == 1) &&
           (array->strides[n - 2] >= array->shape[n - 1] || array->shape[n - 2] == 1);
}

static dt__patch row_of(const dt__array *array, const char *at, int64_t first, int64_t n) {
    const int64_t bytes = (int64_t)dt__dtype_bytes(array->dtype), stride = array->strides[array->n_dims - 1] * bytes;
    return (dt__patch){(char *)(uintptr_t)at + first * stride, (size_t)bytes, n, 1, stride, 0};
}

void dt__attention_load_row(const dt__attention_job *job, const dt__array *array, const char *at, int64_t first,
                            int64_t n, double *out) {
    double gathered[DT__QUERY_BLOCK], converted[DT__QUERY_BLOCK];
    const dt__patch row = row_of(array, at, first, n);
    const void *from = dt__load_patch(job->kernels, &row, array->dtype, DT_F64, gathered, converted);
    memcpy(out, from, (size_t)n * sizeof *out);
}

void dt__attention_store_row(const dt__attention_job *job, const dt__array *array, char *at, int64_t first, int64_t n,
                             const double *from) {
    double converted[DT__QUERY_BLOCK];
    const dt__patch row = row_of(array, at, first, n);
    dt__store_patch(job->kernels, from, DT_F64, &row, array->dtype, converted);
}

/* Adds a row of the mask, or sets what it leaves out to -infinity. */
static void mask_row(const dt__attention_job *job, const dt__attention_lane *lane, char *scores, const char *mask,
                     int64_t row, int64_t first_key, int64_t n) {
    const dt__array *array = job->args->mask;
    const int64_t stride = array->strides[array->n_dims - 2] * (int64_t)dt__dtype_bytes(array->dtype);
    const dt__patch from = row_of(array, mask + row * stride, first_key, n);
    const dt_dtype dtype = array->dtype == DT_BOOL ? DT_BOOL : job->dtype;
    const void *x = dt__load_patch(job->kernels, &from, array->dtype, dtype, lane->gathered, lane->converted);
    if (dtype == DT_BOOL)
        job->kernels->loops->ops[DT__EL_WHERE][job->dtype](n, scores, (const void *[]){x, scores, lane->lowest},
                                                           NULL);
    else
        job->kernels->loops->ops[DT__EL_ADD][job->dtype](n, scores, (const void *[]){scores, x}, NULL);
}

void dt__attention_scores(const dt__attention_job *job, const dt__attention_lane *lane, const dt__query_block *block,
                          int64_t first_key, int64_t n, dt__matrix query, dt__matrix key, const char *mask) {
    const dt__attention *args = job->args;
    const int64_t bytes = dt__attention_bytes(job);
    dt__matrix_product_run(job->products, job->dtype,
                           &(dt__matrix_product){block->n, n, job->width, query, dt__transposed(key),
                                                 (dt__matrix){lane->scores, n, 1}, dt__real(args->scale),
                                                 dt__real(0)});
    for (int64_t row = 0; row < block->n && mask; row++)
        mask_row(job, lane, lane->scores + row * n * bytes, mask, block->first + row, first_key, n);
    for (int64_t row = 0; row < block->n && args->is_causal; row++) {
        const int64_t last = args->query_offset + block->first + row - args->key_offset - first_key; /* visible key */
        const int64_t n_visible = dt__min_i64(dt__max_i64(last + 1, 0), n);
        memcpy(lane->scores + (row * n + n_visible) * bytes, lane->lowest, (size_t)((n - n_visible) * bytes));
    }
}

/* The index of the first weight of a row. */
static int64_t weight_index(const dt__attention_job *job, int64_t item, int64_t row, int64_t first_key) {
    const dt__attention_dropout *dropout = job->args->dropout;
    int64_t index = dropout->offsets[job->n_leading] + row, step = dropout->sizes[job->n_leading];
    for (int d = job->n_leading - 1; d >= 0; d--) {
        index += (dropout->offsets[d] + item % job->leading[d]) * step;
        step *= dropout->sizes[d];
        item /= job->leading[d];
    }
    return index * dropout->n_keys + dropout->key_offset + first_key;
}

const void *dt__attention_factors(const dt__attention_job *job, const dt__attention_lane *lane, int64_t item,
                                  int64_t row, int64_t first_key, int64_t n) {
    const dt__attention_dropout *dropout = job->args->dropout;
    dropout->draw(dropout->from, weight_index(job, item, row, first_key), n, lane->factors);
    return lane->factors;
}
