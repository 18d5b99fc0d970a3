/* SPDX-License-Identifier: Apache-2.0
 *
 * Makes plans: checks the move, lets a planner find the states, and derives everything else from the states alone,
 * the same way for every planner.
 */
#include "plan/plan.h"

#include "base/size.h"
#include "plan/bytes.h"
#include "plan/cross_mesh.h"
#include "plan/exchange_cost.h"
#include "plan/placement_state.h"

#include <math.h>
#include <string.h>

static const char *const names[] = {
#define X(upper, lower) #lower,
    DT__PLANNER_LIST(X)
#undef X
};

static dt__planner_fn *const planners[] = {
#define X(upper, lower) dt__plan_##lower,
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

/* Whether the meshes have the same ranks in the same places, whatever their dims are called. */
static bool same_places(const dt_mesh *a, const dt_mesh *b) {
    int64_t sizes[DT_MESH_MAX_DIMS], coordinate[DT_MESH_MAX_DIMS];
    int n = dt_mesh_n_dims(a);
    if (dt_mesh_equal(a, b))
        return true;
    bool same = n == dt_mesh_n_dims(b) && dt_mesh_size(a) <= DT__MOST_CROSSING_RANKS;
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

/* Says what of two specs differs. Texts are made only here, because making them takes memory. */
static dt_status differ(const dt_spec *from, const dt_spec *to, dt_status status, const char *what) {
    char texts[2][160];
    dt_spec_text(from, sizeof texts[0], texts[0]);
    dt_spec_text(to, sizeof texts[1], texts[1]);
    return dt__fail(from->ctx, status, "redistribute: %s to %s: the %s differ", texts[0], texts[1], what);
}

dt_status dt__move_of_specs(const dt_spec *from, const dt_spec *to, dt__move *out) {
    if (from->dtype != to->dtype)
        return differ(from, to, DT_ERR_DTYPE, "dtypes");
    if (from->sharding.n_dims != to->sharding.n_dims ||
        (from->sharding.n_dims && memcmp(from->sharding.shape, to->sharding.shape,
                                         (size_t)from->sharding.n_dims * sizeof *from->sharding.shape) != 0))
        return differ(from, to, DT_ERR_SHAPE, "shapes");
    *out =
        (dt__move){.from = &from->sharding, .to = &to->sharding, .item_bytes = (int64_t)dt_dtype_size(from->dtype)};
    if (!same_places(from->mesh, to->mesh)) {
        out->from_mesh = from->mesh;
        out->to_mesh = to->mesh;
    }
    return DT_OK;
}

static dt_status check_partials(dt_ctx *ctx, const dt__move *move) {
    for (int m = 0; move->to_mesh && m < move->to->n_mesh_dims; m++)
        if (dt_placement_is_partial(move->to->placements[m]))
            return dt__fail(ctx, DT_ERR_PLACEMENT,
                            "redistribute: mesh dim %d: on another mesh the target may not be partial", m);
    for (int m = 0; !move->to_mesh && m < move->from->n_mesh_dims; m++) {
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

/* Elements and bytes of the whole tensor can be counted. */
static dt_status check_size(dt_ctx *ctx, const dt__move *move) {
    int64_t bytes;
    if (dt__product(move->from->n_dims, move->from->shape, move->item_bytes, &bytes))
        return DT_OK;
    return dt__fail(ctx, DT_ERR_SHAPE, "redistribute: the tensor has more than 2^63 - 1 bytes");
}

/* Everything that is known of a plan while it is made. */
typedef struct making {
    dt__arena *arena;
    const dt__alphabet *alphabet;
    dt__route route;
    dt__sharding *states; /* n_states */
    dt__plan_step *steps;
    dt__transfer *transfers;
} making;

static dt_status make_state(making *self, int i, dt__sharding *out) {
    const dt_placement *placements;
    const dt__alphabet *alphabet = self->alphabet;
    DT__TRY(dt__state_placements(self->arena, alphabet, dt__route_at(&self->route, alphabet, i), &placements));
    dt__sharding_desc desc = {
        .n_mesh_dims = alphabet->n_mesh_dims,
        .mesh = alphabet->mesh,
        .n_dims = alphabet->n_dims,
        .shape = alphabet->move->from->shape,
        .n_placements = alphabet->n_mesh_dims,
        .placements = placements,
    };
    return dt__sharding_build(self->arena, &desc, out);
}

static void fill_step(making *self, int i, dt__plan_step *out) {
    const dt__rank_position *before = dt__route_at(&self->route, self->alphabet, i);
    const dt__rank_position *after = dt__route_at(&self->route, self->alphabet, i + 1);
    dt__change change;
    dt__state_change(self->alphabet, before, after, &change);
    *out = (dt__plan_step){
        .collective = change.collective,
        .n_mesh_dims = change.n_mesh_dims,
        .before = self->states[i].placements,
        .after = self->states[i + 1].placements,
        .cost_us = dt__change_price(self->alphabet, &change, dt__state_bytes(self->alphabet, before),
                                    dt__state_bytes(self->alphabet, after)),
    };
    memcpy(out->mesh_dims, change.mesh_dims, sizeof out->mesh_dims);
}

static dt_status make_steps(making *self, int n_steps) {
    self->states = DT__NEW_ARRAY(self->arena, dt__sharding, n_steps + 1);
    self->steps = DT__NEW_ARRAY(self->arena, dt__plan_step, n_steps);
    self->transfers = DT__NEW_ARRAY(self->arena, dt__transfer, n_steps);
    if (!self->states || !self->steps || !self->transfers)
        return DT_ERR_MEMORY;
    for (int i = 0; i <= n_steps; i++)
        DT__TRY(make_state(self, i, &self->states[i]));
    for (int i = 0; i < n_steps; i++) {
        fill_step(self, i, &self->steps[i]);
        dt__transfer_new(&self->states[i], &self->states[i + 1], self->steps[i].n_mesh_dims, self->steps[i].mesh_dims,
                         self->alphabet->move->item_bytes, &self->transfers[i]);
        self->steps[i].transfer = &self->transfers[i];
    }
    return DT_OK;
}

/* The price of an exchange needs who receives how much. */
static dt_status price_exchange(making *self, const dt__counts *counts, int i) {
    dt__change change;
    dt__state_change(self->alphabet, dt__route_at(&self->route, self->alphabet, i),
                     dt__route_at(&self->route, self->alphabet, i + 1), &change);
    return dt__exchange_price(self->arena, self->alphabet->machine,
                              &(dt__exchange_desc){.transfer = &self->transfers[i],
                                                   .item_bytes = self->alphabet->move->item_bytes,
                                                   .spans_hosts = change.spans_hosts,
                                                   .most = counts->step_most[i],
                                                   .received = counts->step_received[i]},
                              &self->steps[i].cost_us);
}

static bool in_bytes(const dt__move *move, int64_t *elements) {
    return dt__mul_i64(*elements, move->item_bytes, elements);
}

static dt_status finish(making *self, int n_steps, dt__plan *plan) {
    const dt__move *move = self->alphabet->move;
    dt__transfer whole;
    dt__counts counts;
    dt__change all;
    dt__state_change(self->alphabet, self->alphabet->from, self->alphabet->to, &all);
    dt__transfer_new(&self->states[0], &self->states[n_steps], all.n_mesh_dims, all.mesh_dims, move->item_bytes,
                     &whole);
    DT__TRY(dt__count(self->arena, n_steps, self->transfers, &whole, &counts));
    bool fits = in_bytes(move, &counts.received) && in_bytes(move, &counts.needed) && in_bytes(move, &counts.peak);
    for (int i = 0; i < n_steps; i++) {
        if (self->route.exchange)
            DT__TRY(price_exchange(self, &counts, i));
        fits = fits && in_bytes(move, &counts.step_received[i]);
        self->steps[i].bytes = counts.step_received[i];
        self->steps[i].most = counts.step_most[i];
        plan->n_collectives += self->steps[i].collective != DT__STEP_NONE;
        plan->cost_us += self->steps[i].cost_us;
    }
    if (!fits)
        return dt__fail(self->arena->ctx, DT_ERR_SHAPE,
                        "redistribute: a rank would receive or hold more than 2^63 - 1 bytes");
    plan->n_mesh_dims = plan->n_target_mesh_dims = self->alphabet->n_mesh_dims;
    plan->source = self->states[0].placements;
    plan->n_steps = n_steps;
    plan->steps = self->steps;
    plan->bytes = counts.received;
    plan->lower_bound_bytes = counts.needed;
    plan->peak_bytes = counts.peak;
    return DT_OK;
}

dt_status dt__plan_new(dt__arena *arena, const dt__move *move, dt__planner planner, const dt__machine *machine,
                       dt__plan *out) {
    dt__alphabet alphabet;
    dt__plan plan = {.planner = planner};
    DT__TRY(check_partials(arena->ctx, move));
    DT__TRY(check_size(arena->ctx, move));
    if (move->to_mesh)
        return dt__plan_between(arena, move, planner, machine, out);
    dt__alphabet_new(move, machine, &alphabet);
    making self = {.arena = arena, .alphabet = &alphabet, .route = {.arena = arena}};
    bool same = !memcmp(alphabet.from, alphabet.to, (size_t)alphabet.n_mesh_dims * sizeof *alphabet.from);
    if (same)
        DT__TRY(dt__route_add(&self.route, &alphabet, alphabet.from));
    else
        DT__TRY(planners[planner](&alphabet, &self.route));
    DT__TRY(make_steps(&self, self.route.n_states - 1));
    DT__TRY(finish(&self, self.route.n_states - 1, &plan));
    *out = plan;
    return DT_OK;
}

static bool makes_partial(const dt__move *move) {
    for (int m = 0; m < move->from->n_mesh_dims; m++) {
        const dt_placement *from = &move->from->placements[m], *to = &move->to->placements[m];
        if (dt_placement_is_partial(*to) && !dt_placement_equal(from, to))
            return true;
    }
    return false;
}

/* False where the answer, 0 or infinity, is known without a planner. */
static bool needs_planner(const dt__move *move, const dt__machine *machine, dt__alphabet *alphabet, double *us) {
    *us = INFINITY;
    if (makes_partial(move))
        return false;
    dt__alphabet_new(move, machine, alphabet);
    *us = 0;
    return memcmp(alphabet->from, alphabet->to, (size_t)alphabet->n_mesh_dims * sizeof *alphabet->from) != 0;
}

dt_status dt__plan_price(dt__arena *arena, const dt__move *move, const dt__machine *machine, double most,
                         double *out) {
    dt__alphabet alphabet;
    DT__TRY(check_size(arena->ctx, move));
    return needs_planner(move, machine, &alphabet, out) ? dt__min_cost_price(arena, &alphabet, most, out) : DT_OK;
}

dt_status dt__plan_price_at_most(dt__arena *arena, const dt__move *move, const dt__machine *machine, double *out) {
    dt__alphabet alphabet;
    DT__TRY(check_size(arena->ctx, move));
    return needs_planner(move, machine, &alphabet, out) ? dt__simple_price(arena, &alphabet, out) : DT_OK;
}
