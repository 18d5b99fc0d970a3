/* SPDX-License-Identifier: Apache-2.0
 *
 * What a choice of rows costs: moving its inputs, by the minimum-cost planner, what its rows exchange, and what its
 * partial outputs will cost to reduce; and lower bounds of that while only some mesh dims are decided.
 */
#ifndef DT_RULES_CHOICE_PRICE_H
#define DT_RULES_CHOICE_PRICE_H

#include "rules/cost_bound.h"
#include "rules/move_prices.h"
#include "rules/row_choice.h"

/* Lower bounds of moving the inputs. */
typedef struct dt__input_bounds {
    bool *may_cut;         /* [input, mesh dim]: some row shards it there */
    dt__cost_bound *after; /* [mesh dims decided, input] */
} dt__input_bounds;

/* The input moves of a choice. */
typedef struct dt__choice_moves {
    dt_placement **targets; /* per input */
    double *us;             /* per input: its price, or a lower bound of that */
    int *order;             /* of pricing inputs: first those whose prices have excluded choices lately */
} dt__choice_moves;

typedef struct dt__choice_prices {
    const dt__row_choice *choice; /* the choice whose price is computed */
    dt__input_bounds bounds;
    dt__move_prices prices;
    dt__choice_moves moves;
    dt__way way; /* what the rows exchange */
} dt__choice_prices;

/* For choices among these rows, which it refers to by the pointer. */
dt_status dt__choice_prices_begin(const dt__row_choice *choice, const dt__row_list *rows, dt__choice_prices *out);

/* A lower bound of moving the inputs once mesh dims 0 to m are decided; those before m have been bounded. */
double dt__choice_bound(dt__choice_prices *prices, int m);
/* Whether some input has to be gathered, moved or reduced, once mesh dim m is bounded. */
bool dt__choice_must_send(const dt__choice_prices *prices, int m);

/* What the partial outputs will cost to reduce, at least; a lower bound while only n_decided mesh dims are decided. */
double dt__choice_finish_us(const dt__row_choice *choice, int n_decided);

/* The price of moving all inputs and of the exchange, if that and the extra cost are below the limit together;
 * otherwise infinity. All mesh dims are bounded. Sets moves and way. */
dt_status dt__choice_price_below(dt__choice_prices *prices, double extra_us, double limit, double *us);

#endif
