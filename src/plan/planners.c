/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of planners, made from the list in plan.h; routes; and the direct planner, whose route is source and
 * target.
 */
#include "plan/planners.h"

#include <stdio.h>
#include <string.h>

dt__planner_fn *const dt__planners[DT__N_PLANNERS] = {
#define X(upper, lower, meaning) dt__plan_##lower,
    DT__PLANNER_LIST(X)
#undef X
};

static const char *const names[DT__N_PLANNERS] = {
#define X(upper, lower, meaning) #lower,
    DT__PLANNER_LIST(X)
#undef X
};

const char *dt__planner_name(dt__planner planner) { return names[planner]; }

bool dt__planner_parse(const char *name, dt__planner *out) {
    for (int i = 0; i < DT__N_PLANNERS; i++)
        if (!strcmp(names[i], name)) {
            *out = (dt__planner)i;
            return true;
        }
    return false;
}

const char *dt__planner_names(size_t capacity, char *out) {
    size_t n = 0;
    for (int i = 0; i < DT__N_PLANNERS && n < capacity; i++)
        n += (size_t)snprintf(out + n, capacity - n, "%s%s",
                              i == 0                   ? ""
                              : i + 1 < DT__N_PLANNERS ? ", "
                                                       : " or ",
                              names[i]);
    return out;
}

dt_status dt__route_add(dt__route *route, const dt__state_space *space, const dt__dim_state *state) {
    size_t n = (size_t)space->n_mesh_dims;
    if (route->n_states == route->capacity) {
        int capacity = route->capacity ? 2 * route->capacity : 8;
        dt__dim_state *states = DT__NEW_ARRAY(route->arena, dt__dim_state, (size_t)capacity * n);
        if (!states)
            return DT_ERR_MEMORY;
        if (route->n_states)
            memcpy(states, route->states, (size_t)route->n_states * n * sizeof *states);
        route->states = states;
        route->capacity = capacity;
    }
    memcpy(dt__route_at(route, space, route->n_states++), state, n * sizeof *state);
    return DT_OK;
}

dt_status dt__route_keep(dt__arena *arena, int n_mesh_dims, dt__route *route) {
    size_t n = (size_t)route->n_states * (size_t)n_mesh_dims;
    route->arena = arena;
    route->capacity = route->n_states;
    route->states = n ? dt__arena_copy(arena, route->states, n, sizeof *route->states) : NULL;
    return n && !route->states ? DT_ERR_MEMORY : DT_OK;
}

dt_status dt__plan_direct(const dt__state_space *space, dt__route *out) {
    out->exchange = true;
    DT__TRY(dt__route_add(out, space, space->from));
    return dt__route_add(out, space, space->to);
}
