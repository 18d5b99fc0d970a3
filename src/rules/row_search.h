/* SPDX-License-Identifier: Apache-2.0
 *
 * Enumerates choices of rows, one row per mesh dim, by branch and bound, and keeps the cheapest. Equivalent to
 * exhaustive search: a choice is skipped only if a lower bound of its price is not below the prices found so far.
 */
#ifndef DT_RULES_ROW_SEARCH_H
#define DT_RULES_ROW_SEARCH_H

#include "rules/choice_price.h"

/* Which choices compete, and on which price. */
typedef struct dt__search_goal {
    bool sends_nothing; /* those that send are left out */
    bool finishes;      /* prices include the reduction of partial outputs */
    double max_work;    /* those that repeat more of the work are left out */
    double min_us;      /* no choice costs less to move */
    double ceiling;     /* those that cost no less are left out */
} dt__search_goal;

typedef struct dt__priced_candidate {
    double us; /* what it competes by */
    dt__candidate candidate;
} dt__priced_candidate;

/* The cheapest candidates, the cheapest first. */
typedef struct dt__found_candidates {
    int max, n;
    dt__priced_candidate *items;
} dt__found_candidates;

typedef struct dt__row_search {
    dt__row_choice choice; /* the one being considered */
    dt__choice_prices prices;
    const int *n_options; /* per mesh dim */
    dt__row_option *const *options;
    unsigned char *kinds; /* [mesh dims decided, entry]: reductions of partials so far, by bits */
    int64_t n_nodes;      /* that were visited in this run */
    dt__search_goal goal;
    dt__found_candidates found;
} dt__row_search;

/* Lists the options of all mesh dims. The search points into itself: it is not copied. Keeps up to max candidates. */
dt_status dt__row_search_begin(dt__arena *arena, const dt_op_call *call, const dt__placed_inputs *on, int max,
                               dt__row_search *out);
/* Finds up to max candidates that fulfill the goal. */
dt_status dt__row_search_run(dt__row_search *self, const dt__search_goal *goal, int max);
/* Whether two candidates have the same rows and inputs. */
bool dt__same_candidate(const dt__row_search *self, const dt__candidate *a, const dt__candidate *b);

#endif
