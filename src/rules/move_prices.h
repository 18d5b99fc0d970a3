/* SPDX-License-Identifier: Apache-2.0
 *
 * Prices of redistributing an input, and the routes that have them, by the minimum-cost planner, which runs once per
 * input and target.
 */
#ifndef DT_RULES_MOVE_PRICES_H
#define DT_RULES_MOVE_PRICES_H

#include "rules/rules.h"

struct dt__priced_target;
enum { DT__N_PRICE_SLOTS = 64 };

typedef struct dt__move_prices {
    dt__arena *arena;
    const dt_op_call *call;
    const dt__placed_inputs *on;
    struct dt__priced_target *(*slots)[DT__N_PRICE_SLOTS]; /* per input */
    dt__price_table **tables;                              /* per input; NULL: none yet, or impossible */
    int *n_searched;                                       /* per input: exact prices without the table */
    int n_exact;                                           /* exact prices computed */
} dt__move_prices;

dt_status dt__move_prices_begin(dt__arena *arena, const dt_op_call *call, const dt__placed_inputs *on,
                                dt__move_prices *out);
/* The price of redistributing input i to the target if it is below `limit`, otherwise some number that is not. */
dt_status dt__move_price_below(dt__move_prices *prices, int i, const dt_placement *target, double limit, double *us);

/* What is known of that price: the price, or a lower bound; 0 where nothing is. */
double dt__move_price_known(const dt__move_prices *prices, int i, const dt_placement *target);
/* A lower bound of that price, which is found faster and then known. */
dt_status dt__move_price_bound(dt__move_prices *prices, int i, const dt_placement *target, double *us);
/* The route of redistributing input i to the target; empty where it has nothing to move. */
dt_status dt__move_route(dt__move_prices *prices, int i, const dt_placement *target, dt__route *out);

/* The sharding of a value on the mesh by placements that are normalized. */
dt_status dt__sharding_of_value(dt__arena *arena, const dt__placed_inputs *on, const dt_op_value *value,
                                const dt_placement *placements, dt__sharding *out);
bool dt__same_placements(int n, const dt_placement *a, const dt_placement *b);

#endif
