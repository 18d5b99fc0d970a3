/* SPDX-License-Identifier: Apache-2.0
 *
 * What attention and its gradients share: the division into blocks, the memory of a thread, and the scores of a block.
 *
 * Blocks of queries begin at multiples of their size in the full tensor, and a causal block reads the keys up to its
 * end. So the set of keys that are multiplied by zero, which matters if a value is NaN, does not depend on the
 * sharding.
 */
#ifndef DT_KERNELS_ATTENTION_BLOCKS_H
#define DT_KERNELS_ATTENTION_BLOCKS_H

#include "kernels/matrix_product.h"

#include <stdatomic.h>

/* Queries per block: few if it is causal, because a block computes some scores that the mask discards. */
enum { DT__CAUSAL_BLOCK = 64, DT__QUERY_BLOCK = 256, DT__KEY_BLOCK = 512 };

/* One thread's memory. */
typedef struct dt__attention_lane {
    char *scores, *score_grads;                    /* [queries, keys] */
    char *query, *key, *value, *grad, *out;        /* copies of blocks that BLAS cannot read */
    char *sums[3];                                 /* results before they are converted */
    char *gathered, *converted, *lowest;           /* a row of keys; lowest: -infinity */
    char *factors;                                 /* of dropout, of the weights of a row */
    double *largest, *totals, *logsumexps, *inner; /* per query */
} dt__attention_lane;

typedef struct dt__attention_job {
    dt__products *products;
    const dt__kernels *kernels;
    const dt__attention *args;
    dt_dtype dtype; /* computed in */
    int n_leading;
    const int64_t *leading;      /* sizes, of the queries */
    int64_t n_heads, n_kv_heads; /* 1 without leading dims */
    int64_t n_queries, n_keys, width, value_width;
    int64_t block_size, first_block, n_blocks; /* of queries, by global position */
    void (*run_item)(const struct dt__attention_job *job, dt__attention_lane *lane, int64_t item);
    const void *results;
    int64_t n_items;
    char *memory;
    size_t lane_bytes;
    bool has_grads;
    _Atomic int64_t next;
} dt__attention_job;

/* A block of queries: the first one and their number; the keys that it needs. */
typedef struct dt__query_block {
    int64_t first, n, n_keys;
} dt__query_block;

/* Sets all but run_item, results and n_items. False if there is nothing to compute: no queries. */
bool dt__attention_prepare(dt__attention_job *job, dt__products *products, const dt__attention *args, bool has_grads);
/* Runs all items on the threads of the pool. False when out of memory. */
bool dt__attention_spread(dt__attention_job *job);

dt__query_block dt__attention_block(const dt__attention_job *job, int64_t block);

/* The first element of an array that belongs to a head: item counts the leading dims of the queries (kv: of the keys,
 * where groups of query heads are one). An array of keys that an item of queries uses has kv false and grouped true. */
char *dt__attention_at(const dt__attention_job *job, const dt__array *array, int64_t item, bool kv, bool grouped);
/* n rows of the matrix at `at`, as a factor of a product: in place, or copied to the buffer. */
dt__matrix dt__attention_load(const dt__attention_job *job, const dt__array *array, char *at, int64_t first,
                              int64_t n, char *buffer);
/* Whether products can be added to rows of the array in place. */
bool dt__attention_is_direct(const dt__attention_job *job, const dt__array *array);
/* Numbers first to first + n of the last dim as doubles. */
void dt__attention_load_row(const dt__attention_job *job, const dt__array *array, const char *at, int64_t first,
                            int64_t n, double *out);
void dt__attention_store_row(const dt__attention_job *job, const dt__array *array, char *at, int64_t first, int64_t n,
                             const double *from);

/* lane->scores = scale query keyᵀ + mask of a block of queries and n keys from first_key on. */
void dt__attention_scores(const dt__attention_job *job, const dt__attention_lane *lane, const dt__query_block *block,
                          int64_t first_key, int64_t n, dt__matrix query, dt__matrix key, const char *mask);

/* What dropout multiplies n weights of a query by, from first_key on; item is the head, row the query in it. */
const void *dt__attention_factors(const dt__attention_job *job, const dt__attention_lane *lane, int64_t item,
                                  int64_t row, int64_t first_key, int64_t n);

static inline dt__matrix dt__transposed(dt__matrix x) { return (dt__matrix){x.at, x.column, x.row}; }
static inline dt__number dt__real(double x) { return (dt__number){.f = {x, 0}}; }
static inline int64_t dt__attention_bytes(const dt__attention_job *job) {
    return (int64_t)dt__dtype_bytes(job->dtype);
}

#endif
