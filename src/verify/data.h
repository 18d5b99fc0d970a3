/* SPDX-License-Identifier: Apache-2.0
 *
 * What rows are tried with: values of whole tensors, and parts of partial ones. All follow from numbers, so that a
 * failure can be repeated. Numbers are small multiples of a power of two, of which sums are exact.
 */
#ifndef DT_VERIFY_DATA_H
#define DT_VERIFY_DATA_H

#include "verify/element.h"

/* Kinds of whole values. */
typedef enum dt__fill {
    DT__FILL_MIXED,    /* of both signs */
    DT__FILL_FEW,      /* -1, 0 and 1: ties and zeros */
    DT__FILL_POSITIVE, /* inside the domains of roots and logarithms */
    DT__FILL_NAN,      /* mixed, and here and there NaN */
    DT__FILL_INFINITE, /* mixed, and here and there an infinity */
    DT__N_FILLS
} dt__fill;

/* Kinds of partial ones. Replicate is made into a partial so that the first rank, or all, hold the value. */
typedef enum dt__style {
    DT__STYLE_RANDOM, /* parts that have nothing to do with each other */
    DT__STYLE_MADE,   /* as of Replicate: sums and products on the first rank, all others alike */
    DT__STYLE_BLANK,  /* extremes held by one rank, the others hold what changes nothing */
    DT__N_STYLES
} dt__style;

/* Which element of which input; seed tells trials apart. */
typedef struct dt__spot {
    uint64_t seed;
    int input;
    int64_t element;
} dt__spot;

/* A value of a tensor. */
dt__element dt__value_at(dt_dtype dtype, dt__fill fill, const dt__spot *spot);
/* An index from 0 to n - 1. */
int64_t dt__index_at(const dt__spot *spot, int64_t n);
/* Rank r's part, of n, of a value. */
dt__element dt__part_of(dt_dtype dtype, dt_reduce reduce, dt__style style, const dt__spot *spot, dt__element value,
                        int n, int r);

#endif
