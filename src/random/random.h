/* SPDX-License-Identifier: Apache-2.0
 *
 * Random numbers on raw memory. A draw is prepared once (arguments checked, generator advanced) and then gives any
 * range of its elements, or a rank's part of them, as often as asked; it never changes, so threads may share one.
 * Which bits become which value is written down in dtensor/random.h.
 */
#ifndef DT_RANDOM_RANDOM_H
#define DT_RANDOM_RANDOM_H

#include "dtensor/random.h"
#include "spec/spec.h"

typedef enum dt__distribution {
    DT__UNIFORM,          /* low, high */
    DT__NORMAL,           /* mean, std */
    DT__EXPONENTIAL,      /* rate */
    DT__TRUNCATED_NORMAL, /* mean, std of the whole bell; low, high */
    DT__RANDINT,          /* from, to */
    DT__BERNOULLI,        /* p of one */
    DT__DROPOUT,          /* p of zero; the others are 1 / (1 - p) */
    DT__N_DISTRIBUTIONS
} dt__distribution;

/* Arguments; fields that a distribution does not name are not looked at. */
typedef struct dt__random {
    dt__distribution distribution;
    dt_dtype dtype;
    double low, high, mean, std, rate, p;
    int64_t from, to;
} dt__random;

/* How a truncated normal value is proposed before it is accepted or not. */
typedef enum dt__proposal { DT__PROPOSE_NORMAL, DT__PROPOSE_UNIFORM, DT__PROPOSE_TAIL } dt__proposal;

typedef struct dt__draw {
    dt_generator_state state;
    dt__distribution distribution;
    dt_dtype dtype;
    int64_t group; /* elements that are made together: 16 blocks' worth */
    double shift, scale;
    double low, high;   /* no value lies outside; infinite: no limit */
    double alpha, beta; /* truncated: the limits, in standard deviations from the mean */
    dt__proposal proposal;
    bool mirrored;      /* truncated: alpha and beta are those of the mirror image */
    uint64_t threshold; /* bernoulli, dropout: words below it are hits */
    uint64_t range;     /* randint */
    int64_t from;
    const struct dt__random_kernels *kernels;
} dt__draw;

/* Checks the arguments and takes the generator's next draw. On an error, which is agreed, nothing is taken. */
dt_status dt__draw_begin(dt_generator *generator, const dt__random *what, dt__draw *out);

/* Elements begin … begin + n - 1 into dst, one after the other. */
void dt__draw_range(const dt__draw *draw, int64_t begin, int64_t n, void *dst);

/* What the shards (one per dim) hold of a tensor whose sizes are their global sizes. dst has the strides given, in
 * elements; NULL: row-major. */
void dt__draw_shard(const dt__draw *draw, int n_dims, const dt__shard *shards, const int64_t *strides, void *dst);
/* What a coordinate holds under the spec, laid out as the spec says; NULL stands for a rank outside the mesh. */
dt_status dt__draw_spec(const dt__draw *draw, const dt_spec *spec, const int64_t *coordinate, void *dst);

/* Entries begin … begin + n - 1 of a random order of 0 … size - 1. Takes one draw; needs memory for the whole order
 * while it runs. */
dt_status dt__permutation(dt_generator *generator, int64_t size, int64_t begin, int64_t n, int64_t *dst);

/* Takes the next draw of a generator: its state, before it counts on. */
dt_status dt__generator_next(dt_generator *generator, dt_generator_state *out);
dt_ctx *dt__generator_ctx(const dt_generator *generator);

#endif
