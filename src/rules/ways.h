/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows that communicate: what a combination of rows exchanges in the middle of the call, after its inputs were moved.
 */
#ifndef DT_RULES_WAYS_H
#define DT_RULES_WAYS_H

#include "rules/rules.h"

/* A combination of rows with the placements of inputs and outputs in it. */
typedef struct dt__combination {
    const dt__placed_inputs *on;
    const dt__row *const *rows; /* per mesh dim; NULL: all Replicate */
    const dt_placement *const *inputs;
    const dt_placement *const *outputs;
} dt__combination;

/* What it exchanges; zeros if no row communicates. */
dt_status dt__way_of(dt__arena *arena, const dt_op_call *call, const dt__combination *combination, dt__way *out);

#endif
