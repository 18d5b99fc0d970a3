/* SPDX-License-Identifier: Apache-2.0
 *
 * What rows are tried with: values of whole tensors, and parts of partial ones. All follow from numbers, so that a
 * failure can be repeated. Numbers are small multiples of a power of two, of which sums are exact.
 */
#ifndef DT_VERIFY_TRIAL_VALUES_H
#define DT_VERIFY_TRIAL_VALUES_H

#include "verify/element.h"

/* Kinds of whole values. */
typedef enum dt__value_kind {
    DT__VALUES_MIXED,    /* of both signs */
    DT__VALUES_FEW,      /* -1, 0 and 1: ties and zeros */
    DT__VALUES_POSITIVE, /* inside the domains of roots and logarithms */
    DT__VALUES_NAN,      /* mixed, and here and there NaN */
    DT__VALUES_INFINITE, /* mixed, and here and there an infinity */
    DT__N_VALUE_KINDS
} dt__value_kind;

/* Kinds of partial ones. Replicate is made into a partial so that the first rank, or all, hold the value. */
typedef enum dt__partial_style {
    DT__STYLE_RANDOM,         /* parts that have nothing to do with each other */
    DT__STYLE_FROM_REPLICATE, /* as of Replicate: sums and products on the first rank, all others alike */
    DT__STYLE_IDENTITY,       /* extremes held by one rank, the others hold what changes nothing */
    DT__N_STYLES
} dt__partial_style;

/* Which element of which input; seed tells trials apart. */
typedef struct dt__element_id {
    uint64_t seed;
    int input;
    int64_t element;
} dt__element_id;

/* A value of a tensor. */
dt__element dt__trial_value(dt_dtype dtype, dt__value_kind fill, const dt__element_id *spot);
/* An index from 0 to n - 1. */
int64_t dt__trial_index(const dt__element_id *spot, int64_t n);
/* Rank r's part, of n, of a value. */
dt__element dt__partial_value(dt_dtype dtype, dt_reduce reduce, dt__partial_style style, const dt__element_id *spot,
                              dt__element value, int n, int r);

#endif
