/* SPDX-License-Identifier: Apache-2.0
 *
 * Builds plans: checks the move, lets a planner find the states, and derives everything else from the states alone,
 * the same way for every planner. Also the text of a plan.
 */
#include "plan/plan.h"

#include "base/size.h"
#include "plan/byte_counts.h"
#include "plan/cost.h"
#include "plan/planners.h"
#include "plan/price_table.h"
#include "plan/traffic.h"

#include <math.h>
#include <string.h>

/* Whether the meshes have the same ranks at the same coordinates, whatever their dims are called. */
static bool same_ranks(const dt_mesh *a, const dt_mesh *b) {
    int64_t sizes[DT_MESH_MAX_DIMS], coordinate[DT_MESH_MAX_DIMS];
    int n = dt_mesh_n_dims(a);
    if (dt_mesh_equal(a, b))
        return true;
    bool same = n == dt_mesh_n_dims(b) && dt_mesh_size(a) <= DT__CROSS_MESH_MAX_RANKS;
    for (int m = 0; m < n && same; m++) {
        sizes[m] = dt_mesh_dim_size(a, m);
        same = sizes[m] == dt_mesh_dim_size(b, m);
    }
    for (int64_t position = 0; same && position < dt_mesh_size(a); position++) {
        dt__coordinate(n, sizes, position, coordinate);
        same = dt_mesh_rank_at(a, coordinate) == dt_mesh_rank_at(b, coordinate);
    }
    return same;
}

static dt_status refuse_specs(const dt_spec *from, const dt_spec *to, dt_status status, const char *property) {
    char texts[2][160];
    dt_spec_text(from, sizeof texts[0], texts[0]);
    dt_spec_text(to, sizeof texts[1], texts[1]);
    return dt__fail(from->ctx, status, "redistribute: %s to %s: the %s differ", texts[0], texts[1], property);
}

dt_status dt__move_of_specs(const dt_spec *from, const dt_spec *to, dt__move *out) {
    if (from->dtype != to->dtype)
        return refuse_specs(from, to, DT_ERR_DTYPE, "dtypes");
    if (from->sharding.n_dims != to->sharding.n_dims ||
        (from->sharding.n_dims && memcmp(from->sharding.shape, to->sharding.shape,
                                         (size_t)from->sharding.n_dims * sizeof *from->sharding.shape) != 0))
        return refuse_specs(from, to, DT_ERR_SHAPE, "shapes");
    *out =
        (dt__move){.from = &from->sharding, .to = &to->sharding, .item_bytes = (int64_t)dt_dtype_size(from->dtype)};
    if (!same_ranks(from->mesh, to->mesh)) {
        out->from_mesh = from->mesh;
        out->to_mesh = to->mesh;
    }
    return DT_OK;
}

/* Of a target on another mesh. */
static dt_status check_cross_mesh_partials(dt_ctx *ctx, const dt__move *move) {
    for (int m = 0; m < move->to->n_mesh_dims; m++) {
        char text[40];
        if (!dt_placement_is_partial(move->to->placements[m]))
            continue;
        dt_placements_text(1, &move->to->placements[m], sizeof text, text);
        return dt__fail(
            ctx, DT_ERR_PLACEMENT,
            "redistribute: mesh dim %d: a target on another mesh may not be partial: expected R or S, got %s", m,
            text);
    }
    return DT_OK;
}

static dt_status check_partials(dt_ctx *ctx, const dt__move *move) {
    for (int m = 0; m < move->from->n_mesh_dims; m++) {
        const dt_placement *from = &move->from->placements[m], *to = &move->to->placements[m];
        if (!dt_placement_is_partial(*to) || dt_placement_equal(from, to))
            continue;
        char texts[2][40];
        dt_placements_text(1, from, sizeof texts[0], texts[0]);
        dt_placements_text(1, to, sizeof texts[1], texts[1]);
        return dt__fail(ctx, DT_ERR_PLACEMENT,
                        "redistribute: mesh dim %d: can not redistribute %s to %s; a target may be partial only "
                        "where the source is the same partial",
                        m, texts[0], texts[1]);
    }
    return DT_OK;
}

/* The bytes of the full tensor fit into 64 bits. */
static dt_status check_size(dt_ctx *ctx, const dt__move *move) {
    int64_t bytes;
    if (dt__product(move->from->n_dims, move->from->shape, move->item_bytes, &bytes))
        return DT_OK;
    return dt__fail(ctx, DT_ERR_SHAPE, "redistribute: the tensor has more than 2^63 - 1 bytes");
}

/* A plan while it is built. */
typedef struct builder {
    dt__arena *arena;
    const dt__state_space *space;
    dt__route route;
    dt__sharding *states; /* n_states */
    dt__plan_step *steps;
    dt__transfer *transfers;
} builder;

static dt_status build_state(builder *self, int i, dt__sharding *out) {
    const dt_placement *placements;
    const dt__state_space *space = self->space;
    DT__TRY(dt__state_placements(self->arena, space, dt__route_at(&self->route, space, i), &placements));
    dt__sharding_desc desc = {
        .n_mesh_dims = space->n_mesh_dims,
        .mesh = space->mesh,
        .n_dims = space->n_dims,
        .shape = space->move->from->shape,
        .n_placements = space->n_mesh_dims,
        .placements = placements,
    };
    return dt__sharding_build(self->arena, &desc, out);
}

static void fill_step(builder *self, int i, dt__plan_step *out) {
    const dt__dim_state *before = dt__route_at(&self->route, self->space, i);
    const dt__dim_state *after = dt__route_at(&self->route, self->space, i + 1);
    dt__change change;
    dt__state_change(self->space, before, after, &change);
    *out = (dt__plan_step){
        .collective = change.collective,
        .n_mesh_dims = change.n_mesh_dims,
        .before = self->states[i].placements,
        .after = self->states[i + 1].placements,
        .cost_us = dt__change_price(self->space, &change, dt__state_bytes(self->space, before),
                                    dt__state_bytes(self->space, after)),
    };
    memcpy(out->mesh_dims, change.mesh_dims, sizeof out->mesh_dims);
}

static dt_status build_steps(builder *self, int n_steps) {
    self->states = DT__NEW_ARRAY(self->arena, dt__sharding, n_steps + 1);
    self->steps = DT__NEW_ARRAY(self->arena, dt__plan_step, n_steps);
    self->transfers = DT__NEW_ARRAY(self->arena, dt__transfer, n_steps);
    if (!self->states || !self->steps || !self->transfers)
        return DT_ERR_MEMORY;
    for (int i = 0; i <= n_steps; i++)
        DT__TRY(build_state(self, i, &self->states[i]));
    for (int i = 0; i < n_steps; i++) {
        fill_step(self, i, &self->steps[i]);
        dt__transfer_new(&self->states[i], &self->states[i + 1], self->steps[i].n_mesh_dims, self->steps[i].mesh_dims,
                         self->space->move->item_bytes, &self->transfers[i]);
        self->steps[i].transfer = &self->transfers[i];
    }
    return DT_OK;
}

/* An exchange is priced by who receives how much. */
static dt_status price_exchange(builder *self, const dt__byte_counts *counts, int i) {
    dt__change change;
    dt__state_change(self->space, dt__route_at(&self->route, self->space, i),
                     dt__route_at(&self->route, self->space, i + 1), &change);
    return dt__exchange_price(self->arena, self->space->machine,
                              &(dt__exchange_desc){.transfer = &self->transfers[i],
                                                   .kind = change.collective,
                                                   .item_bytes = self->space->move->item_bytes,
                                                   .spans_hosts = change.spans_hosts,
                                                   .busiest = counts->step_busiest[i],
                                                   .received = counts->step_received[i]},
                              &self->steps[i].cost_us);
}

static bool to_bytes(const dt__move *move, int64_t *elements) {
    return dt__mul_i64(*elements, move->item_bytes, elements);
}

static dt_status add_totals(builder *self, int n_steps, dt__plan *plan) {
    const dt__move *move = self->space->move;
    dt__transfer whole;
    dt__byte_counts counts;
    dt__change all;
    dt__state_change(self->space, self->space->from, self->space->to, &all);
    dt__transfer_new(&self->states[0], &self->states[n_steps], all.n_mesh_dims, all.mesh_dims, move->item_bytes,
                     &whole);
    const dt__transfer *counted = n_steps == 1 ? self->transfers : &whole;
    DT__TRY(dt__count_bytes(self->arena, n_steps, self->transfers, counted, &counts));
    bool fits = to_bytes(move, &counts.received) && to_bytes(move, &counts.needed) && to_bytes(move, &counts.peak);
    for (int i = 0; i < n_steps; i++) {
        if (self->route.exchange)
            DT__TRY(price_exchange(self, &counts, i));
        fits = fits && to_bytes(move, &counts.step_received[i]);
        self->steps[i].bytes = counts.step_received[i];
        self->steps[i].busiest = counts.step_busiest[i];
        plan->n_collectives += self->steps[i].collective != DT__STEP_NONE;
        plan->cost_us += self->steps[i].cost_us;
    }
    if (!fits)
        return dt__fail(self->arena->ctx, DT_ERR_SHAPE,
                        "redistribute: a rank would receive or hold more than 2^63 - 1 bytes");
    plan->n_mesh_dims = plan->n_target_mesh_dims = self->space->n_mesh_dims;
    plan->source = self->states[0].placements;
    plan->n_steps = n_steps;
    plan->steps = self->steps;
    plan->bytes = counts.received;
    plan->lower_bound_bytes = counts.needed;
    plan->peak_bytes = counts.peak;
    return DT_OK;
}

/* The plan along the route. */
static dt_status build_plan(builder *self, dt__planner planner, dt__plan *out) {
    dt__plan plan = {.planner = planner};
    int n_steps = self->route.n_states - 1;
    DT__TRY(build_steps(self, n_steps));
    DT__TRY(add_totals(self, n_steps, &plan));
    *out = plan;
    return DT_OK;
}

dt_status dt__plan_new(dt__arena *arena, const dt__move *move, dt__planner planner, const dt__machine *machine,
                       dt__plan *out) {
    dt__state_space space;
    DT__TRY((move->to_mesh ? check_cross_mesh_partials : check_partials)(arena->ctx, move));
    DT__TRY(check_size(arena->ctx, move));
    if (move->to_mesh)
        return dt__plan_cross_mesh(arena, move, planner, machine, out);
    dt__state_space_new(move, machine, &space);
    builder self = {.arena = arena, .space = &space, .route = {.arena = arena}};
    bool same = !memcmp(space.from, space.to, (size_t)space.n_mesh_dims * sizeof *space.from);
    if (same)
        DT__TRY(dt__route_add(&self.route, &space, space.from));
    else
        DT__TRY(dt__planners[planner](&space, &self.route));
    return build_plan(&self, planner, out);
}

dt_status dt__plan_along(dt__arena *arena, const dt__move *move, const dt__machine *machine, const dt__route *route,
                         dt__plan *out) {
    dt__state_space space;
    dt__state_space_new(move, machine, &space);
    builder self = {.arena = arena, .space = &space, .route = *route};
    self.route.arena = arena;
    if (route->n_states == 0)
        DT__TRY(dt__route_add(&self.route, &space, space.from));
    return build_plan(&self, DT__PLANNER_MIN_COST, out);
}

dt__step_counts dt__plan_count(const dt__plan *plan) {
    dt__step_counts counts = {{0}};
    for (int i = 0; i < plan->n_steps; i++)
        counts.of[plan->steps[i].collective]++;
    return counts;
}

dt__step_counts dt__route_count(const dt__move *move, const dt__machine *machine, const dt__route *route) {
    dt__step_counts counts = {{0}};
    dt__state_space space;
    dt__change change;
    if (route->n_states == 0)
        return counts;
    dt__state_space_new(move, machine, &space);
    for (int i = 0; i + 1 < route->n_states; i++) {
        dt__state_change(&space, dt__route_at(route, &space, i), dt__route_at(route, &space, i + 1), &change);
        counts.of[change.collective]++;
    }
    return counts;
}

static bool makes_partial(const dt__move *move) {
    for (int m = 0; m < move->from->n_mesh_dims; m++) {
        const dt_placement *from = &move->from->placements[m], *to = &move->to->placements[m];
        if (dt_placement_is_partial(*to) && !dt_placement_equal(from, to))
            return true;
    }
    return false;
}

/* False where the cost, 0 or infinity, needs no planner. */
static bool needs_planner(const dt__move *move, const dt__machine *machine, dt__state_space *space, double *us) {
    *us = INFINITY;
    if (makes_partial(move))
        return false;
    dt__state_space_new(move, machine, space);
    *us = 0;
    return memcmp(space->from, space->to, (size_t)space->n_mesh_dims * sizeof *space->from) != 0;
}

dt_status dt__plan_price(dt__arena *arena, const dt__move *move, const dt__machine *machine, dt__price_table *table,
                         double max_cost, dt__route *route, double *us) {
    dt__state_space space;
    dt__route found = {.arena = arena};
    if (route)
        *route = found;
    DT__TRY(check_size(arena->ctx, move));
    if (!needs_planner(move, machine, &space, us))
        return DT_OK;
    DT__TRY(table ? dt__price_table_find(table, arena, &space, max_cost, route ? &found : NULL, us)
                  : dt__min_cost_route(&space, max_cost, &found, us));
    if (route && *us < max_cost)
        *route = found;
    return DT_OK;
}

double dt__plan_price_lower_bound(const dt__move *move, const dt__machine *machine) {
    dt__state_space space;
    double us;
    return needs_planner(move, machine, &space, &us) ? dt__min_cost_bound_us(&space) : us;
}

dt_status dt__plan_price_upper_bound(dt__arena *arena, const dt__move *move, const dt__machine *machine,
                                     double *out) {
    dt__state_space space;
    DT__TRY(check_size(arena->ctx, move));
    return needs_planner(move, machine, &space, out) ? dt__simple_plan_price(arena, &space, out) : DT_OK;
}

static bool shares_dim(int n, const dt_placement *placements, int m) {
    for (int other = 0; other < n; other++)
        if (other != m && dt__is_cut(&placements[other]) && placements[other].dim == placements[m].dim)
            return true;
    return false;
}

void dt__plan_state_text(int n, const dt_placement *placements, dt__text *out) {
    for (int m = 0; m < n; m++) {
        dt_placement one = placements[m];
        char text[256];
        one.ordered = dt__is_cut(&one) && shares_dim(n, placements, m);
        size_t length = dt_placements_text(1, &one, sizeof text, text);
        if (length < sizeof text)
            dt__text_add(out, "%s", text);
        else
            dt__text_add(out, "S(%d:...)", one.dim);
    }
}

void dt__plan_trace(const dt__plan *plan, dt__text *out) {
    dt__plan_state_text(plan->n_mesh_dims, plan->source, out);
    for (int i = 0; i < plan->n_steps; i++) {
        dt__text_add(out, "->");
        dt__plan_state_text(plan->n_target_mesh_dims, plan->steps[i].after, out);
    }
}
