/* SPDX-License-Identifier: Apache-2.0
 *
 * One call with values, the truth of one rank, and a row that is tried against it.
 */
#ifndef DT_VERIFY_TRIAL_H
#define DT_VERIFY_TRIAL_H

#include "verify/row_specs.h"
#include "verify/trial_values.h"

/* The outputs of one rank, each element by element in row-major order; NULL until they are asked for. */
typedef struct dt__reference_outputs {
    dt__element **outputs;
    bool says_something; /* some element is not 0 */
} dt__reference_outputs;

/* Values of a kind are drawn again for calls with few elements, which alone would say little. */
enum { DT__N_ROUNDS = 6, DT__FEW_ELEMENTS = 24 };

/* A call that the op takes. */
typedef struct dt__trial_call {
    dt__sim *stage;
    dt__arena *arena; /* of the caller's context */
    const char *text;
    dt__placed_call of;
    int64_t elements;   /* of all inputs and outputs */
    uint64_t indices;   /* by bits: inputs that hold indices */
    int64_t index_size; /* indices are below this */
    size_t pad;         /* bytes around each part: a kernel that is led astray stays in memory that is ours */
    dt__reference_outputs truths[DT__N_VALUE_KINDS][DT__N_ROUNDS];
} dt__trial_call;

/* *usable is false where the op, or its kernel, refuses the call, with the reason in `why`, which has room. */
dt_status dt__trial_call_new(dt__sim *stage, dt__arena *arena, const char *text, dt__trial_call *out, bool *usable,
                             size_t room, char *why);

static inline int dt__trial_call_rounds(const dt__trial_call *self) {
    return self->elements <= DT__FEW_ELEMENTS ? DT__N_ROUNDS : 1;
}

/* How a row is tried. */
typedef struct dt__trial {
    dt__value_kind fill;
    int round;
    int style; /* of the partials, a dt__partial_style; from DT__N_STYLES on a mixture */
} dt__trial;

/* Whether the row has anything to say about such values: see trial.c. */
bool dt__trial_applies(const dt__trial_call *subject, const dt__row *row, dt__trial trial);

/* *what stays NULL where the row holds; otherwise it tells, in the subject's arena, what went wrong first. */
dt_status dt__trial_run(dt__trial_call *subject, const dt__sim_rank *ranks, const dt__row_specs *arranged,
                        const dt__row *row, dt__trial trial, const char **what);

#endif
