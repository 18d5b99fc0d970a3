/* SPDX-License-Identifier: Apache-2.0
 *
 * Generators, draws and random tensors. A draw is prepared once (arguments checked, generator advanced) and then
 * computes any range of its elements, or the shard of a rank, any number of times; it never changes, so threads may
 * share one. The loops are in the kernel tables; dtensor/random.h defines the bits.
 */
#ifndef DT_RANDOM_RANDOM_H
#define DT_RANDOM_RANDOM_H

#include "dtensor/random.h"
#include "kernels/kernels.h"
#include "spec/spec.h"

/* Arguments; fields that a distribution does not name are ignored. */
typedef struct dt__random {
    dt__distribution distribution;
    dt_dtype dtype;
    double low, high, mean, std, rate, p;
    int64_t from, to;
    const char *op; /* for errors; NULL: the name of the distribution */
} dt__random;

/* Checks the arguments; the caller sets the key of the draw. */
dt_status dt__draw_prepare(dt_ctx *ctx, const dt__kernels *kernels, const dt__random *args, dt__draw *out);
/* Checks the arguments and takes the generator's next draw. On an error, which is agreed, no draw is taken. */
dt_status dt__draw_begin(dt_generator *generator, const dt__random *args, dt__draw *out);

/* Writes elements begin … begin + n - 1 to dst, contiguously. */
void dt__draw_range(const dt__draw *draw, int64_t begin, int64_t n, void *dst);

/* The local tensor of the shards (one per dim) of a tensor whose sizes are their global sizes. dst has these strides,
 * in elements; NULL: row-major. Large ones are split among the threads of the pool, which may be NULL. */
void dt__draw_shard(const dt__draw *draw, dt__pool *pool, int n_dims, const dt__shard *shards, const int64_t *strides,
                    void *dst);
/* Elements begin … begin + n - 1 of that, in row-major order, contiguously. */
void dt__draw_local(const dt__draw *draw, int n_dims, const dt__shard *shards, int64_t begin, int64_t n, void *dst);
/* The local tensor of a coordinate under the spec, NULL for a rank outside the mesh; NULL strides: the spec's. */
void dt__draw_spec(const dt__draw *draw, dt__pool *pool, const dt_spec *spec, const int64_t *coordinate,
                   const int64_t *strides, void *dst);

/* A random permutation of 0 … size - 1; any entry can be computed by itself. It never changes, so threads may share
 * it. */
enum { DT__ORDER_TABLE = 4096, DT__ORDER_ROUNDS = 8 };

typedef struct dt__order {
    int64_t size;
    uint64_t rows, columns;          /* of the smallest nearly square table that holds all entries */
    uint64_t keys[DT__ORDER_ROUNDS]; /* of orders beyond DT__ORDER_TABLE */
    uint16_t table[DT__ORDER_TABLE]; /* of the others */
} dt__order;

/* The permutation of this draw; the size is at least 0. */
void dt__order_of(dt__philox_key key, const dt__kernels *kernels, int64_t size, dt__order *out);
/* Takes one draw. A negative size is an agreed error. */
dt_status dt__order_begin(dt_generator *generator, int64_t size, dt__order *out);
/* Entries begin … begin + n - 1, which must exist. */
void dt__order_range(const dt__order *order, int64_t begin, int64_t n, int64_t *dst);

/* Draws that were taken, so that they can be taken again: installed in the context (ctx->draw_log), which takes draws
 * from it where it repeats, whatever the generator, and otherwise adds them to it and to the logs outside it. */
typedef struct dt__draw_log {
    struct dt__draw_log *outer;
    bool repeats;
    int n, at, capacity;
    dt__philox_key *keys;
} dt__draw_log;
void dt__draw_log_free(dt_ctx *ctx, dt__draw_log *log);

/* Takes the next draw of a generator: returns its state and increments the draw number. */
dt_status dt__generator_next(dt_generator *generator, dt__philox_key *out);
/* The kernel table of the generator's context. */
const dt__kernels *dt__generator_kernels(const dt_generator *generator);
dt_ctx *dt__generator_ctx(const dt_generator *generator);

#endif
