/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows that communicate: what a combination of rows exchanges in the middle of the call, after its inputs were moved.
 */
#ifndef DT_RULES_WAYS_H
#define DT_RULES_WAYS_H

#include "rules/rules.h"

/* The flags of rows that communicate. */
enum { DT__ROW_STATES = DT_ROW_MEET | DT_ROW_SCAN, DT__ROW_WAYS = DT__ROW_STATES };

/* A combination of rows with the placements of inputs and outputs in it. */
typedef struct dt__combination {
    const dt__placed_inputs *on;
    const dt__row *const *rows; /* per mesh dim; NULL: all Replicate */
    const dt_placement *const *inputs;
    const dt_placement *const *outputs;
} dt__combination;

/* What it exchanges; zeros if no row communicates. */
dt_status dt__way_of(dt__arena *arena, const dt_op_call *call, const dt__combination *combination, dt__way *out);

/* The bytes of a state, fields one after the other, each aligned. */
size_t dt__meet_state_bytes(const dt_state *state);
/* Sets the fields' data to parts of this memory. */
void dt__meet_state_place(dt_state *state, void *memory);
void dt__meet_state_set_identity(const dt_state *state);
/* Runs dt_meet.describe and checks what it sets. */
dt_status dt__meet_state_describe(const dt_op_call *call, dt_state *out);
/* Whether the shard of this rank is empty: some input has no elements. */
bool dt__meet_state_is_empty(const dt_op_call *call);

#endif
