/* SPDX-License-Identifier: Apache-2.0
 *
 * The minimum-cost planner: the cheapest way, by the machine model, over collectives that may each run over several
 * mesh dims. A simple plan, with neighbouring steps joined wherever one collective can do them and is cheaper, and one
 * exchange of just the blocks that ranks lack, give the cost to be beaten; then the exact search looks for something
 * cheaper. Where there are too many states for it, so does the search over single mesh dims, and its steps are joined.
 */
#include "plan/bytes.h"
#include "plan/exact_search.h"
#include "plan/exchange_cost.h"
#include "plan/single_dim_search.h"

#include <math.h>
#include <string.h>

static const double ROUNDING = 1e-9; /* relative: what is not cheaper by more than this is not cheaper */

/* Price of one collective from state i to state j of the route; infinite where there is none that does it. */
static double joined_price(const dt__alphabet *alphabet, const dt__route *route, const double *bytes, int i, int j) {
    dt__change change;
    dt__state_change(alphabet, dt__route_at(route, alphabet, i), dt__route_at(route, alphabet, j), &change);
    bool one = j == i + 1 || change.reduced == 1 || change.only_reduces || change.only_scatters;
    return one ? dt__change_price(alphabet, &change, bytes[i], bytes[j]) : INFINITY;
}

static double route_price(const dt__alphabet *alphabet, const dt__route *route) {
    double us = 0;
    for (int i = 0; i + 1 < route->n_states; i++) {
        double bytes[] = {dt__state_bytes(alphabet, dt__route_at(route, alphabet, i)),
                          dt__state_bytes(alphabet, dt__route_at(route, alphabet, i + 1))};
        dt__change change;
        dt__state_change(alphabet, dt__route_at(route, alphabet, i), dt__route_at(route, alphabet, i + 1), &change);
        us += dt__change_price(alphabet, &change, bytes[0], bytes[1]);
    }
    return us;
}

static dt_status add_stops(const dt__alphabet *alphabet, const dt__route *route, const int *previous, int i,
                           dt__route *out) {
    if (i > 0)
        DT__TRY(add_stops(alphabet, route, previous, previous[i], out));
    return dt__route_add(out, alphabet, dt__route_at(route, alphabet, i));
}

/* Keeps the states of the route at which stopping is cheapest. */
static dt_status join(const dt__alphabet *alphabet, const dt__route *route, dt__route *out) {
    int n = route->n_states;
    double *best = DT__NEW_ARRAY(route->arena, double, n), *bytes = DT__NEW_ARRAY(route->arena, double, n);
    int *previous = DT__NEW_ARRAY(route->arena, int, n);
    if (!best || !bytes || !previous)
        return DT_ERR_MEMORY;
    for (int i = 0; i < n; i++)
        bytes[i] = dt__state_bytes(alphabet, dt__route_at(route, alphabet, i));
    for (int j = 1; j < n; j++) {
        best[j] = INFINITY;
        for (int i = j - 1; i >= 0; i--) {
            double us = best[i] + joined_price(alphabet, route, bytes, i, j);
            if (us < best[j]) {
                best[j] = us;
                previous[j] = i;
            }
        }
    }
    return add_stops(alphabet, route, previous, n - 1, out);
}

/* Takes every cut off, from the last, down to those that source and target have in common, reduces what has to be
 * reduced, and cuts again: never the best way, but one that there always is. */
static dt_status add_simple(const dt__alphabet *alphabet, dt__route *out) {
    dt__rank_position state[DT_SPEC_MAX_DIMS];
    size_t bytes = (size_t)alphabet->n_mesh_dims * sizeof *state;
    memcpy(state, alphabet->from, sizeof state);
    DT__TRY(dt__route_add(out, alphabet, state));
    for (int position = alphabet->n_mesh_dims - 1; position >= 0; position--)
        for (int m = 0; m < alphabet->n_mesh_dims; m++) {
            bool cut = dt__token_is_cut(alphabet, state[m].token) && state[m].position == position;
            bool partial = position == 0 && dt__token_is_partial(alphabet, state[m].token);
            if (!(cut && !dt__is_settled(alphabet, state, m)) &&
                !(partial && state[m].token != alphabet->to[m].token))
                continue;
            state[m] = (dt__rank_position){DT__TOKEN_REPLICATE, 0};
            DT__TRY(dt__route_add(out, alphabet, state));
        }
    for (int position = 0; position < alphabet->n_mesh_dims; position++)
        for (int m = 0; m < alphabet->n_mesh_dims; m++)
            if (dt__token_is_cut(alphabet, alphabet->to[m].token) && alphabet->to[m].position == position &&
                state[m].token == DT__TOKEN_REPLICATE) {
                state[m] = alphabet->to[m];
                DT__TRY(dt__route_add(out, alphabet, state));
            }
    return memcmp(state, alphabet->to, bytes) == 0
               ? DT_OK
               : dt__fail(out->arena->ctx, DT_ERR_INTERNAL, "redistribute: the simple plan misses its target");
}

/* Joins the steps of the route, if there is one, and takes it where it is cheaper than the best so far. */
static dt_status offer(const dt__alphabet *alphabet, const dt__route *route, dt__route *best, double *best_us) {
    dt__route joined = {.arena = route->arena};
    if (route->n_states == 0)
        return DT_OK;
    DT__TRY(join(alphabet, route, &joined));
    double us = route_price(alphabet, &joined);
    if (us < *best_us) {
        *best_us = us;
        *best = joined;
    }
    return DT_OK;
}

/* One exchange from the source to the target; infinite where what changes is not of that kind. */
static dt_status exchange_us(dt__arena *arena, const dt__alphabet *alphabet, double *us) {
    dt__change change;
    dt__transfer transfer;
    dt__counts counts;
    *us = INFINITY;
    dt__state_change(alphabet, alphabet->from, alphabet->to, &change);
    if (change.collective != DT__STEP_ALL_TO_ALL)
        return DT_OK;
    dt__transfer_new(alphabet->move->from, alphabet->move->to, change.n_mesh_dims, change.mesh_dims,
                     alphabet->move->item_bytes, &transfer);
    DT__TRY(dt__count(arena, 1, &transfer, &transfer, &counts));
    return dt__exchange_price(arena, alphabet->machine,
                              &(dt__exchange_desc){.transfer = &transfer,
                                                   .item_bytes = alphabet->move->item_bytes,
                                                   .spans_hosts = change.spans_hosts,
                                                   .most = counts.step_most[0],
                                                   .received = counts.step_received[0]},
                              us);
}

/* Takes one exchange from the source to the target where it is cheaper than the best so far. It is for blocks that go
 * criss-cross; what a collective does alone it does not do better. */
static dt_status offer_exchange(const dt__alphabet *alphabet, dt__route *best, double *best_us) {
    double us;
    DT__TRY(exchange_us(best->arena, alphabet, &us));
    if (us >= *best_us * (1 - ROUNDING))
        return DT_OK;
    *best_us = us;
    *best = (dt__route){.arena = best->arena};
    return dt__plan_direct(alphabet, best);
}

/* The simple plan, its steps joined. */
static dt_status plan_simply(const dt__alphabet *alphabet, dt__route *out, double *us) {
    dt__route simple = {.arena = out->arena};
    *us = INFINITY;
    DT__TRY((alphabet->ordered ? add_simple : dt__plan_greedy)(alphabet, &simple));
    return offer(alphabet, &simple, out, us);
}

/* What the search over single mesh dims finds. */
static dt_status offer_single(const dt__alphabet *alphabet, dt__route *best, double *best_us) {
    dt__route searched = {.arena = best->arena}, jumped = searched;
    DT__TRY(dt__single_run(alphabet, *best_us, &searched, &jumped));
    DT__TRY(offer(alphabet, &searched, best, best_us));
    return offer(alphabet, &jumped, best, best_us);
}

/* Nothing that costs `most` or more is looked for; what the simple plan costs stands otherwise. */
static dt_status plan_below(const dt__alphabet *alphabet, double most, dt__route *out, double *us) {
    dt__route searched = {.arena = out->arena};
    bool done;
    DT__TRY(plan_simply(alphabet, out, us));
    DT__TRY(offer_exchange(alphabet, out, us));
    DT__TRY(dt__exact_run(alphabet, fmin(*us, most), &searched, &done));
    DT__TRY(offer(alphabet, &searched, out, us));
    return done ? DT_OK : offer_single(alphabet, out, us);
}

dt_status dt__plan_min_cost(const dt__alphabet *alphabet, dt__route *out) {
    double us;
    return plan_below(alphabet, INFINITY, out, &us);
}

dt_status dt__min_cost_price(dt__arena *arena, const dt__alphabet *alphabet, double most, double *us) {
    dt__route route = {.arena = arena};
    return plan_below(alphabet, most, &route, us);
}

dt_status dt__simple_price(dt__arena *arena, const dt__alphabet *alphabet, double *us) {
    dt__route route = {.arena = arena};
    return plan_simply(alphabet, &route, us);
}
