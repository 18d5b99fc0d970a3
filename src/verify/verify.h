/* SPDX-License-Identifier: Apache-2.0
 *
 * Verifies rules by brute force. Each row that an op offers for its samples, and for variations of them, is tried on
 * simulated ranks and compared with one rank. Trying all rows finds those that hold without being offered.
 */
#ifndef DT_VERIFY_VERIFY_H
#define DT_VERIFY_VERIFY_H

#include "dtensor/verify.h"
#include "rules/rules.h"

/* A row that does not hold, with the smallest call that shows it. */
typedef struct dt__wrong_row {
    const char *row, *call;
    int n_ranks;
    const char *failure; /* "element [1,2] of output 1: expected 3, got 5" */
    int64_t elements;    /* of that call, for finding the smallest */
} dt__wrong_row;

/* A row that holds and is not offered. */
typedef struct dt__missing_row {
    const char *row, *call;
} dt__missing_row;

typedef enum dt__verify_state {
    DT__VERIFIED,
    DT__NO_KERNEL,
    DT__NO_SAMPLES, /* or none that the op accepts */
    DT__NO_ROWS,    /* a list op, or one that is only a decomposition: those of the ops that it runs hold */
    DT__N_VERIFIED
} dt__verify_state;
extern const char *const dt__verify_state_words[DT__N_VERIFIED];

/* The result for one op, in the arena. */
typedef struct dt__verdict {
    const char *op;
    dt__verify_state state;
    int n_calls, n_refused; /* samples and variations that were tried; samples that the op or its kernel refuses */
    const char *refusal;    /* of the first such sample; NULL: none */
    int64_t n_rows;         /* rows offered, over all calls */
    int64_t n_trials;
    int n_wrong, n_missing;
    dt__wrong_row *wrong;
    dt__missing_row *missing;
} dt__verdict;

typedef struct dt__verify_options {
    bool only_samples; /* no variations */
    bool no_missing;   /* do not search for rows that are not offered */
} dt__verify_options;

/* Fails only with local errors: out of memory. */
dt_status dt__verify(dt__arena *arena, const dt__op_info *info, const dt__verify_options *options, dt__verdict *out);

#endif
