/* SPDX-License-Identifier: Apache-2.0
 *
 * What it costs to bring an input to other placements, asked of the minimum-cost planner once per input and target.
 */
#ifndef DT_RULES_PRICES_H
#define DT_RULES_PRICES_H

#include "rules/rules.h"

struct dt__priced_target;
enum { DT__N_PRICE_SLOTS = 64 };

typedef struct dt__prices {
    dt__arena *arena;
    const dt_op_call *call;
    const dt__placed *on;
    struct dt__priced_target *(*slots)[DT__N_PRICE_SLOTS]; /* per input */
    int n_exact;                                           /* prices asked for */
} dt__prices;

dt_status dt__prices_begin(dt__arena *arena, const dt_op_call *call, const dt__placed *on, dt__prices *out);
/* What bringing input i to the target costs at most. */
dt_status dt__price_at_most(dt__prices *prices, int i, const dt_placement *target, double *us);
/* What it costs if that is less than `most`, otherwise something that is not. */
dt_status dt__price_below(dt__prices *prices, int i, const dt_placement *target, double most, double *us);

/* The sharding of a value on the mesh by placements that are normalised. */
dt_status dt__sharding_of_value(dt__arena *arena, const dt__placed *on, const dt_op_value *value,
                                const dt_placement *placements, dt__sharding *out);
bool dt__same_placements(int n, const dt_placement *a, const dt_placement *b);

#endif
