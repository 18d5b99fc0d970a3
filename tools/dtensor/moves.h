/* SPDX-License-Identifier: Apache-2.0
 *
 * What a choice moves: the plan of each input, and their sums. Also the JSON that queries and `dtensor explain` share.
 */
#ifndef TOOLS_DTENSOR_MOVES_H
#define TOOLS_DTENSOR_MOVES_H

#include "rules/call_text.h"

typedef struct moves {
    int n; /* inputs */
    dt__plan *plans;
    int collectives[DT__N_STEP_KINDS];
    int n_collectives;
    int64_t bytes; /* received by the rank that receives most, input by input */
} moves;

/* Plans the moves; everything lives in the arena. */
dt_status moves_plan(dt__arena *arena, const dt__placed_call *placed, const dt__candidate *choice, moves *out);

/* Appends "inputs":[…],"outputs":[…],"collectives":{…},"bytes":…,"cost_us":… */
void moves_json(const dt__placed_call *placed, const dt__candidate *choice, const moves *moved, dt__text *out);

/* Appends placements as a JSON string. */
void moves_json_placements(int n, const dt_placement *placements, dt__text *out);

#endif
