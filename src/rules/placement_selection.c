/* SPDX-License-Identifier: Apache-2.0
 *
 * Placement selection: one row per mesh dim. A choice of rows that sends nothing is selected before any that sends.
 * Among those that send, the cheapest wins, counting the moves of the inputs and the later reduction of partial
 * outputs; it must not repeat more work than the choice whose moves cost least. row_search.h finds the cheapest.
 */
#include "rules/row_search.h"

#include <math.h>

/* Choices that send nothing, by what moving the inputs costs; and all, by the whole price. */
static const dt__search_goal local_goal = {.sends_nothing = true, .max_work = INFINITY, .ceiling = INFINITY};
static const dt__search_goal whole_goal = {.finishes = true, .max_work = INFINITY, .ceiling = INFINITY};

/* A little above a known price, so that the search finds it again in spite of rounding. */
static double just_above(double us) { return us * (1 + 1e-6) + 1e-6; }

/* Replaces the cheapest candidate if it repeats more of the work than the one that is cheapest to move. */
static dt_status limit_work(dt__row_search *search) {
    const dt__candidate cheapest = search->found.items[0].candidate;
    dt__search_goal goal = {.max_work = INFINITY, .ceiling = just_above(cheapest.cost_us)};
    DT__TRY(dt__row_search_run(search, &goal, 1));
    const dt__candidate moved = search->found.items[0].candidate;
    if (cheapest.repeated_work <= moved.repeated_work) {
        search->found.items[0].candidate = cheapest;
        return DT_OK;
    }
    goal = (dt__search_goal){.finishes = true,
                             .max_work = moved.repeated_work,
                             .min_us = moved.cost_us,
                             .ceiling = just_above(moved.cost_us + moved.finish_us)};
    return dt__row_search_run(search, &goal, 1);
}

/* Leaves the selected candidate in what was found, if there is one. */
static dt_status select_candidate(dt__row_search *search) {
    DT__TRY(dt__row_search_run(search, &local_goal, 1));
    if (search->found.n)
        return DT_OK;
    DT__TRY(dt__row_search_run(search, &whole_goal, 1));
    bool repeats = search->found.n && search->found.items[0].candidate.repeated_work > 1;
    return repeats ? limit_work(search) : DT_OK;
}

/* Appends the cheapest that fulfill the goal, without those that are listed already. */
static dt_status append_cheapest(dt__row_search *search, const dt__search_goal *goal, int max, dt__candidate *out,
                                 int *n) {
    DT__TRY(dt__row_search_run(search, goal, max));
    for (int f = 0; f < search->found.n && *n < max; f++) {
        bool listed = false;
        for (int c = 0; c < *n && !listed; c++)
            listed = dt__same_candidate(search, &out[c], &search->found.items[f].candidate);
        if (!listed)
            out[(*n)++] = search->found.items[f].candidate;
    }
    return DT_OK;
}

/* Adds the routes of its inputs to a candidate. */
static dt_status add_routes(dt__row_search *search, dt__candidate *to) {
    int n = search->choice.call->n_inputs;
    dt__route *routes = DT__NEW_ARRAY(search->choice.arena, dt__route, n);
    if (!routes)
        return DT_ERR_MEMORY;
    for (int i = 0; i < n; i++)
        DT__TRY(dt__move_route(&search->prices.prices, i, to->moved[i], &routes[i]));
    to->routes = routes;
    return DT_OK;
}

static dt_status refuse(const dt_op_call *call, const dt__placed_inputs *on) {
    char text[160] = "";
    if (call->n_inputs)
        dt_placements_text(on->n_mesh_dims, on->inputs[0]->placements, sizeof text, text);
    return dt_op_refuse(call, DT_ERR_PLACEMENT,
                        "an in-place op cannot keep the placements %s of its first tensor; redistribute it first",
                        text);
}

dt_status dt__list_candidates(dt__arena *arena, const dt_op_call *call, const dt__placed_inputs *on, int max,
                              dt__candidate *out, int *n) {
    dt__row_search search;
    DT__TRY(dt__row_search_begin(arena, call, on, max, &search));
    DT__TRY(select_candidate(&search));
    if (search.found.n == 0)
        return refuse(call, on);
    out[0] = search.found.items[0].candidate;
    *n = 1;
    if (max > 1) {
        DT__TRY(append_cheapest(&search, &local_goal, max, out, n));
        DT__TRY(append_cheapest(&search, &whole_goal, max, out, n));
    }
    for (int c = 0; c < *n; c++)
        DT__TRY(add_routes(&search, &out[c]));
    return DT_OK;
}

dt_status dt__select_placements(dt__arena *arena, const dt_op_call *call, const dt__placed_inputs *on,
                                dt__candidate *out) {
    int n;
    return dt__list_candidates(arena, call, on, 1, out, &n);
}
