/* SPDX-License-Identifier: Apache-2.0
 *
 * One call with values, its reference outputs on one rank, and a row that is compared with them.
 */
#ifndef DT_VERIFY_TRIAL_H
#define DT_VERIFY_TRIAL_H

#include "verify/row_specs.h"
#include "verify/trial_values.h"

/* The outputs on one rank, and inputs that are written, by entry of a row, element by element in row-major order; NULL
 * until they are computed. */
typedef struct dt__reference_outputs {
    dt__element **entries;
    bool has_nonzero; /* some element is not 0: otherwise a comparison proves little */
} dt__reference_outputs;

/* Calls with few elements are tried with several draws of each kind of values. */
enum { DT__N_ROUNDS = 6, DT__FEW_ELEMENTS = 24 };

/* A call that the op accepts. */
typedef struct dt__trial_call {
    dt__sim *sim;
    dt__arena *arena; /* of the caller's context */
    const char *text;
    dt__placed_call placed;
    int64_t elements;   /* of all inputs and outputs */
    uint64_t indices;   /* by bits: inputs that hold indices */
    int64_t index_size; /* indices are below this */
    size_t pad; /* guard bytes around each local tensor, against kernels that a wrong row leads out of bounds */
    dt__reference_outputs references[DT__N_VALUE_KINDS][DT__N_ROUNDS];
    bool is_refused[DT__N_VALUE_KINDS]; /* kinds of values that are bad data for the op */
} dt__trial_call;

/* *usable is false where the op or its kernel refuses the call; the reason is written to `reason`. */
dt_status dt__trial_call_new(dt__sim *sim, dt__arena *arena, const char *text, dt__trial_call *out, bool *usable,
                             size_t capacity, char *reason);

static inline int dt__trial_call_rounds(const dt__trial_call *self) {
    return self->elements <= DT__FEW_ELEMENTS ? DT__N_ROUNDS : 1;
}

/* How a row is tried. */
typedef struct dt__trial {
    dt__value_kind kind;
    int round;
    int style;       /* of partials: a dt__partial_style; from DT__N_STYLES on, one per input */
    int only_output; /* the output to compare, from 1; 0: all */
} dt__trial;

/* Whether the row must hold for such values: see trial.c. */
bool dt__trial_applies(const dt__trial_call *trial_call, const dt__row *row, dt__trial trial);

/* *failure stays NULL where the row holds; otherwise it describes the first difference, in the arena. */
dt_status dt__trial_run(dt__trial_call *trial_call, const dt__sim_rank *ranks, const dt__row_specs *specs,
                        const dt__row *row, dt__trial trial, const char **failure);

#endif
