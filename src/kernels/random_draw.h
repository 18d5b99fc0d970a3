/* SPDX-License-Identifier: Apache-2.0
 *
 * A draw of random numbers, as the loops of the kernel tables need it: how words of the generator become values.
 * src/random checks arguments and computes the constants; dtensor/random.h defines the bits.
 *
 * A group is 16 blocks of the generator: 64 elements of a 32-bit draw, 32 of a 64-bit draw, and 16 where each element
 * has a block of its own. Groups are always computed completely, so there is no code for tails, and no value depends
 * on where a range ends.
 */
#ifndef DT_KERNELS_RANDOM_DRAW_H
#define DT_KERNELS_RANDOM_DRAW_H

#include "dtensor/base.h"

struct dt__kernels;

enum { DT__GROUP_BLOCKS = 16, DT__GROUP_BYTES = 64 * 8 }; /* bytes: the maximum of any draw */

/* A generator's seed and the number of the draw, which is below 2^48. */
typedef struct dt__philox_key {
    uint64_t seed, draw;
} dt__philox_key;

typedef enum dt__distribution {
    DT__UNIFORM,          /* low, high */
    DT__NORMAL,           /* mean, std */
    DT__EXPONENTIAL,      /* rate */
    DT__TRUNCATED_NORMAL, /* mean, std of the untruncated distribution; low, high */
    DT__RANDINT,          /* from, to */
    DT__BERNOULLI,        /* p of one */
    DT__DROPOUT,          /* p of zero; the others are 1 / (1 - p) */
    DT__N_DISTRIBUTIONS
} dt__distribution;

/* The proposal distribution of the rejection sampling of a truncated normal distribution. */
typedef enum dt__proposal { DT__PROPOSE_NORMAL, DT__PROPOSE_UNIFORM, DT__PROPOSE_TAIL } dt__proposal;

typedef struct dt__draw {
    dt__philox_key key;
    dt__distribution distribution;
    dt_dtype dtype;
    int64_t group; /* elements of a group */
    double shift, scale;
    double low, high;   /* bounds of all values; infinite: none */
    double alpha, beta; /* truncated: the bounds, in standard deviations from the mean */
    dt__proposal proposal;
    bool mirrored;       /* truncated: alpha and beta are those of the mirrored distribution */
    uint64_t threshold;  /* bernoulli, dropout: words below it are hits */
    uint64_t range;      /* randint */
    uint64_t n_rejected; /* randint: 2^64 mod range, the number of words that are rejected */
    int64_t from;
    const struct dt__kernels *kernels;
} dt__draw;

/* The upper half of a product: an integer below range. */
static inline uint64_t dt__scale_word(uint64_t word, uint64_t range) {
    return (uint64_t)(((unsigned __int128)word * range) >> 64);
}

#endif
