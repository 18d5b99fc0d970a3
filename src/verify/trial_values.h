/* SPDX-License-Identifier: Apache-2.0
 *
 * The values that rows are tried with: of full tensors, and of the terms of partial ones. All follow from seeds, so
 * that a failure can be reproduced. Numbers are small multiples of a power of two, so that sums are exact.
 */
#ifndef DT_VERIFY_TRIAL_VALUES_H
#define DT_VERIFY_TRIAL_VALUES_H

#include "verify/element_arithmetic.h"

/* Kinds of values of full tensors. */
typedef enum dt__value_kind {
    DT__VALUES_MIXED,    /* of both signs */
    DT__VALUES_FEW,      /* -1, 0 and 1: ties and zeros */
    DT__VALUES_POSITIVE, /* inside the domains of roots and logarithms */
    DT__VALUES_NAN,      /* mixed, with some NaN */
    DT__VALUES_INFINITE, /* mixed, with some infinities */
    DT__N_VALUE_KINDS
} dt__value_kind;

/* Kinds of partial values. */
typedef enum dt__partial_style {
    DT__STYLE_RANDOM,         /* terms that are independent of each other */
    DT__STYLE_FROM_REPLICATE, /* as dispatch makes them: sums and products on the first rank, others on all */
    DT__STYLE_IDENTITY,       /* one rank holds the max or min, the others the identity */
    DT__N_STYLES
} dt__partial_style;

/* An element of an input in a trial, which has its own seed. */
typedef struct dt__element_id {
    uint64_t seed;
    int input;
    int64_t element;
} dt__element_id;

/* The value of an element. */
dt__element dt__trial_value(dt_dtype dtype, dt__value_kind kind, const dt__element_id *spot);
/* An index from 0 to n - 1. */
int64_t dt__trial_index(const dt__element_id *spot, int64_t n);
/* The term of rank r, of n ranks, of a partial value. */
dt__element dt__partial_value(dt_dtype dtype, dt_reduce reduce, dt__partial_style style, const dt__element_id *spot,
                              dt__element value, int n, int r);

#endif
