/* SPDX-License-Identifier: Apache-2.0
 *
 * A row on one mesh dim of n ranks: the spec of each input and output on each simulated rank.
 */
#ifndef DT_VERIFY_ROW_SPECS_H
#define DT_VERIFY_ROW_SPECS_H

#include "verify/simulated_ranks.h"

/* How dims are sharded: a row may be used with any kind of shard that an input has. */
typedef enum dt__cut_kind {
    DT__CUT_PLAIN,
    DT__CUT_STRIDED,
    DT__CUT_EXTENTS, /* explicit and uneven */
    DT__N_CUT_KINDS
} dt__cut_kind;

typedef struct dt__row_specs {
    int n, n_entries;
    dt_spec **specs; /* [rank, entry]; inputs, then outputs */
} dt__row_specs;

static inline const dt_spec *dt__row_specs_at(const dt__row_specs *self, int r, int entry) {
    return self->specs[r * self->n_entries + entry];
}

/* *fits is false where the row cannot be used with this kind of shard; then nothing is to be freed. */
dt_status dt__row_specs_new(dt__arena *arena, const dt__sim_rank *ranks, int n, const dt_op_call *call,
                            const dt__row *row, dt__cut_kind cut, dt__row_specs *out, bool *fits);
void dt__row_specs_free(dt__row_specs *self);

/* Whether on every rank the shape function, applied to the local inputs, returns the local shapes of the outputs, or of
 * one, from 1; 0: all. */
dt_status dt__row_specs_are_local(dt__arena *arena, const dt__sim_rank *ranks, const dt__row_specs *self,
                                  const dt__placed_call *placed, int only_output, bool *out);

#endif
