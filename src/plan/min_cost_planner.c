/* SPDX-License-Identifier: Apache-2.0
 *
 * The minimum-cost planner: the cheapest route, by the machine model, over collectives that may each run over
 * several mesh dims. A simple plan, with neighboring steps joined wherever one collective can do them and is
 * cheaper, and one exchange of just the blocks that ranks lack set an upper bound; the exact search tries to find
 * something cheaper. Where it would visit too many states, the search over single mesh dims competes, too, with its
 * steps joined.
 */
#include "plan/byte_counts.h"
#include "plan/cost.h"
#include "plan/min_cost_searches.h"

#include <math.h>
#include <string.h>

static const double ROUNDING = 1e-9; /* relative: a smaller difference counts as equal */

/* Cost of one collective from state i to state j of the route; infinite where there is none. */
static double joined_price(const dt__state_space *space, const dt__route *route, const double *bytes, int i, int j) {
    dt__change change;
    dt__state_change(space, dt__route_at(route, space, i), dt__route_at(route, space, j), &change);
    bool one = j == i + 1 || change.reduced == 1 || change.only_reduces || change.only_scatters;
    return one ? dt__change_price(space, &change, bytes[i], bytes[j]) : INFINITY;
}

static double route_price(const dt__state_space *space, const dt__route *route) {
    double us = 0;
    for (int i = 0; i + 1 < route->n_states; i++) {
        double bytes[] = {dt__state_bytes(space, dt__route_at(route, space, i)),
                          dt__state_bytes(space, dt__route_at(route, space, i + 1))};
        dt__change change;
        dt__state_change(space, dt__route_at(route, space, i), dt__route_at(route, space, i + 1), &change);
        us += dt__change_price(space, &change, bytes[0], bytes[1]);
    }
    return us;
}

static dt_status add_stops(const dt__state_space *space, const dt__route *route, const int *previous, int i,
                           dt__route *out) {
    if (i > 0)
        DT__TRY(add_stops(space, route, previous, previous[i], out));
    return dt__route_add(out, space, dt__route_at(route, space, i));
}

/* Keeps the subsequence of states that is cheapest. */
static dt_status join_steps(const dt__state_space *space, const dt__route *route, dt__route *out) {
    int n = route->n_states;
    double *best = DT__NEW_ARRAY(route->arena, double, n), *bytes = DT__NEW_ARRAY(route->arena, double, n);
    int *previous = DT__NEW_ARRAY(route->arena, int, n);
    if (!best || !bytes || !previous)
        return DT_ERR_MEMORY;
    for (int i = 0; i < n; i++)
        bytes[i] = dt__state_bytes(space, dt__route_at(route, space, i));
    for (int j = 1; j < n; j++) {
        best[j] = INFINITY;
        for (int i = j - 1; i >= 0; i--) {
            double us = best[i] + joined_price(space, route, bytes, i, j);
            if (us < best[j]) {
                best[j] = us;
                previous[j] = i;
            }
        }
    }
    return add_stops(space, route, previous, n - 1, out);
}

/* Gathers every cut, from the last, down to those that source and target have in common, reduces what has to be
 * reduced, and cuts again: never the best route, but one that always exists. */
static dt_status add_simple(const dt__state_space *space, dt__route *out) {
    dt__dim_state state[DT_SPEC_MAX_DIMS];
    size_t bytes = (size_t)space->n_mesh_dims * sizeof *state;
    memcpy(state, space->from, sizeof state);
    DT__TRY(dt__route_add(out, space, state));
    for (int position = space->n_mesh_dims - 1; position >= 0; position--)
        for (int m = 0; m < space->n_mesh_dims; m++) {
            bool cut = dt__token_is_cut(space, state[m].token) && state[m].position == position;
            bool partial = position == 0 && dt__token_is_partial(space, state[m].token);
            if (!(cut && !dt__cut_is_final(space, state, m)) && !(partial && state[m].token != space->to[m].token))
                continue;
            state[m] = (dt__dim_state){DT__TOKEN_REPLICATE, 0};
            DT__TRY(dt__route_add(out, space, state));
        }
    for (int position = 0; position < space->n_mesh_dims; position++)
        for (int m = 0; m < space->n_mesh_dims; m++)
            if (dt__token_is_cut(space, space->to[m].token) && space->to[m].position == position &&
                state[m].token == DT__TOKEN_REPLICATE) {
                state[m] = space->to[m];
                DT__TRY(dt__route_add(out, space, state));
            }
    return memcmp(state, space->to, bytes) == 0
               ? DT_OK
               : dt__fail(out->arena->ctx, DT_ERR_INTERNAL, "redistribute: the simple plan misses its target");
}

/* Joins the steps of the route, if there is one, and makes it the best one where it is cheaper. */
static dt_status offer(const dt__state_space *space, const dt__route *route, dt__route *best, double *best_us) {
    dt__route joined = {.arena = route->arena};
    if (route->n_states == 0)
        return DT_OK;
    DT__TRY(join_steps(space, route, &joined));
    double us = route_price(space, &joined);
    if (us < *best_us) {
        *best_us = us;
        *best = joined;
    }
    return DT_OK;
}

dt_status dt__exchange_us(dt__arena *arena, const dt__state_space *space, double *us) {
    dt__change change;
    dt__transfer transfer;
    dt__byte_counts counts;
    *us = INFINITY;
    dt__state_change(space, space->from, space->to, &change);
    if (change.collective != DT__STEP_ALL_TO_ALL)
        return DT_OK;
    dt__transfer_new(space->move->from, space->move->to, change.n_mesh_dims, change.mesh_dims,
                     space->move->item_bytes, &transfer);
    DT__TRY(dt__count_bytes(arena, 1, &transfer, &transfer, &counts));
    return dt__exchange_price(arena, space->machine,
                              &(dt__exchange_desc){.transfer = &transfer,
                                                   .kind = change.collective,
                                                   .item_bytes = space->move->item_bytes,
                                                   .spans_hosts = change.spans_hosts,
                                                   .busiest = counts.step_busiest[0],
                                                   .received = counts.step_received[0]},
                              us);
}

/* Makes one exchange from the source to the target the best route where it is cheaper. It helps when blocks move in
 * many directions; it is no better than a single collective that does the same. */
static dt_status offer_exchange(const dt__state_space *space, dt__route *best, double *best_us) {
    double us;
    if (!dt__exchange_may_cost_less(space, *best_us))
        return DT_OK;
    DT__TRY(dt__exchange_us(best->arena, space, &us));
    if (us >= *best_us * (1 - ROUNDING))
        return DT_OK;
    *best_us = us;
    *best = (dt__route){.arena = best->arena};
    return dt__plan_direct(space, best);
}

/* The simple plan, with its steps joined. */
static dt_status plan_simply(const dt__state_space *space, dt__route *out, double *us) {
    dt__route simple = {.arena = out->arena};
    *us = INFINITY;
    DT__TRY((space->ordered ? add_simple : dt__plan_greedy)(space, &simple));
    return offer(space, &simple, out, us);
}

/* What the search over single mesh dims finds. */
static dt_status offer_single(const dt__state_space *space, dt__route *best, double *best_us) {
    dt__route searched = {.arena = best->arena}, jumped = searched;
    DT__TRY(dt__single_dim_search(space, *best_us, &searched, &jumped));
    DT__TRY(offer(space, &searched, best, best_us));
    return offer(space, &jumped, best, best_us);
}

/* Searches for routes below max_cost only; without one, the simple plan or the exchange remains. */
dt_status dt__min_cost_route(const dt__state_space *space, double max_cost, dt__route *out, double *us) {
    dt__route searched = {.arena = out->arena};
    bool is_exact;
    DT__TRY(plan_simply(space, out, us));
    DT__TRY(offer_exchange(space, out, us));
    if (space->n_mesh_dims > 1 && *us <= dt__min_cost_bound_us(space) * (1 + ROUNDING))
        return DT_OK; /* over one mesh dim the search takes no longer than the bound */
    DT__TRY(dt__exact_search(space, fmin(*us, max_cost), &searched, &is_exact));
    DT__TRY(offer(space, &searched, out, us));
    if (is_exact)
        return DT_OK;
    out->arena->ctx->n_capped++;
    return offer_single(space, out, us);
}

dt_status dt__plan_min_cost(const dt__state_space *space, dt__route *out) {
    double us;
    return dt__min_cost_route(space, INFINITY, out, &us);
}

dt_status dt__simple_plan_price(dt__arena *arena, const dt__state_space *space, double *us) {
    dt__route route = {.arena = arena};
    return plan_simply(space, &route, us);
}
