/* SPDX-License-Identifier: Apache-2.0
 *
 * A hash table of prices per input, and the limit of exact ones.
 */
#include "rules/move_prices.h"

#include "base/hash.h"

#include <math.h>

/* After so many exact prices, fewer on a mesh of many dims, upper bounds are used. Only meshes of many dims with
 * inputs whose placements conflict get there. */
enum { SCRATCH_BYTES = 4096 };
/* Exact prices before it are searched for one by one. A table takes about as long to make as so many searches, so that
 * neither a call with few prices nor one with many takes twice as long as it could. */
enum { FIRST_OF_TABLE = 10 };
enum { MAX_EXACT = 512, MAX_EXACT_MANY_DIMS = 16, MANY_MESH_DIMS = 5 };

typedef struct dt__priced_target {
    struct dt__priced_target *next; /* of the same slot */
    uint64_t hash;
    const dt_placement *target; /* the key */
    double us;                  /* exact, or a lower bound */
    bool exact;
    bool has_route; /* otherwise the table of the input has it, or the price is an upper bound */
    dt__route route;
} priced;

dt_status dt__move_prices_begin(dt__arena *arena, const dt_op_call *call, const dt__placed_inputs *on,
                                dt__move_prices *out) {
    *out = (dt__move_prices){.arena = arena, .call = call, .on = on};
    out->slots = dt__arena_alloc(arena, (size_t)call->n_inputs, sizeof *out->slots);
    out->tables = DT__NEW_ARRAY(arena, dt__price_table *, call->n_inputs);
    out->n_searched = DT__NEW_ARRAY(arena, int, call->n_inputs);
    return out->slots && out->tables && out->n_searched ? DT_OK : DT_ERR_MEMORY;
}

bool dt__same_placements(int n, const dt_placement *a, const dt_placement *b) {
    for (int m = 0; m < n; m++)
        if (!dt_placement_equal(&a[m], &b[m]))
            return false;
    return true;
}

static uint64_t hash_placements(int n, const dt_placement *placements) {
    uint64_t hash = 0;
    for (int m = 0; m < n; m++)
        hash = dt__hash_u64((uint64_t)placements[m].kind | (uint64_t)placements[m].reduce << 8 |
                                (uint64_t)placements[m].dim << 16 | (uint64_t)placements[m].position << 32 |
                                (uint64_t)placements[m].split_factor << 40,
                            hash);
    return hash;
}

dt_status dt__sharding_of_value(dt__arena *arena, const dt__placed_inputs *on, const dt_op_value *value,
                                const dt_placement *placements, dt__sharding *out) {
    dt__sharding_desc desc = {
        .n_mesh_dims = on->n_mesh_dims,
        .mesh = on->mesh,
        .n_dims = value->n_dims,
        .shape = value->shape,
        .n_placements = on->n_mesh_dims,
        .placements = placements,
    };
    return dt__sharding_build(arena, &desc, out);
}

/* What redistributing input i to a target takes: the price if it is below the limit, and its route, in the arena, where
 * that is not NULL; or a bound of the price. */
enum { UPPER_BOUND = 0, LOWER_BOUND = -1 }; /* in place of a limit */
static dt_status run_planner(dt__move_prices *self, int i, const dt_placement *target, double limit, dt__route *route,
                             double *us) {
    const dt_op_value *value = &self->call->inputs[i];
    _Alignas(16) char memory[SCRATCH_BYTES];
    dt__arena scratch = dt__arena_on(self->arena->ctx, memory, sizeof memory);
    dt__sharding to;
    dt__move move = {.from = self->on->inputs[i], .to = &to, .item_bytes = (int64_t)dt_dtype_size(value->dtype)};
    dt_status status = dt__sharding_of_value(&scratch, self->on, value, target, &to);
    if (status == DT_OK && limit == LOWER_BOUND)
        *us = dt__plan_price_lower_bound(&move, self->on->machine);
    else if (status == DT_OK && limit == UPPER_BOUND)
        status = dt__plan_price_upper_bound(&scratch, &move, self->on->machine, us);
    else if (status == DT_OK)
        status = dt__plan_price(&scratch, &move, self->on->machine, self->tables[i], limit, route, us);
    if (status == DT_OK && route)
        status = dt__route_keep(self->arena, self->on->n_mesh_dims, route);
    dt__arena_free(&scratch);
    return status;
}

/* The entry of a target among the prices of input i; NULL: there is none. */
static priced *find_entry(const dt__move_prices *self, int i, const dt_placement *target, uint64_t hash) {
    priced *known = self->slots[i][hash % DT__N_PRICE_SLOTS];
    while (known && !(known->hash == hash && dt__same_placements(self->on->n_mesh_dims, known->target, target)))
        known = known->next;
    return known;
}

/* Finds the entry of a target or adds one; NULL when out of memory. */
static priced *find_or_add_entry(dt__move_prices *self, int i, const dt_placement *target) {
    int n = self->on->n_mesh_dims;
    uint64_t hash = hash_placements(n, target);
    priced **slot = &self->slots[i][hash % DT__N_PRICE_SLOTS], *known = find_entry(self, i, target, hash);
    if (known)
        return known;
    priced *fresh = DT__NEW(self->arena, priced);
    const dt_placement *key = dt__arena_copy(self->arena, target, (size_t)n, sizeof *key);
    if (!fresh || !key)
        return NULL;
    *fresh = (priced){.next = *slot, .hash = hash, .target = key};
    *slot = fresh;
    return fresh;
}

/* Once an input has many targets, a table serves them all. */
static dt_status make_table(dt__move_prices *self, int i) {
    if (++self->n_searched[i] != FIRST_OF_TABLE)
        return DT_OK;
    return dt__price_table_new(self->arena, self->on->inputs[i], (int64_t)dt_dtype_size(self->call->inputs[i].dtype),
                               self->on->machine, &self->tables[i]);
}

static dt_status find_price(dt__move_prices *self, int i, double limit, priced *known) {
    int max_exact = self->on->n_mesh_dims < MANY_MESH_DIMS ? MAX_EXACT : MAX_EXACT_MANY_DIMS;
    if (known->exact || known->us >= limit)
        return DT_OK;
    if (self->n_exact++ >= max_exact) {
        self->arena->ctx->n_capped += self->n_exact == max_exact + 1;
        known->exact = true;
        return run_planner(self, i, known->target, UPPER_BOUND, NULL, &known->us);
    }
    DT__TRY(make_table(self, i));
    bool searches = !self->tables[i];
    DT__TRY(run_planner(self, i, known->target, limit, searches ? &known->route : NULL, &known->us));
    known->exact = known->us < limit;
    known->has_route = known->exact && searches;
    known->us = known->exact ? known->us : limit;
    return DT_OK;
}

double dt__move_price_known(const dt__move_prices *prices, int i, const dt_placement *target) {
    const priced *known = find_entry(prices, i, target, hash_placements(prices->on->n_mesh_dims, target));
    return known ? known->us : 0;
}

dt_status dt__move_price_below(dt__move_prices *prices, int i, const dt_placement *target, double limit, double *us) {
    priced *known = find_or_add_entry(prices, i, target);
    if (!known)
        return DT_ERR_MEMORY;
    DT__TRY(find_price(prices, i, limit, known));
    *us = known->us;
    return DT_OK;
}

dt_status dt__move_price_bound(dt__move_prices *prices, int i, const dt_placement *target, double *us) {
    priced *known = find_or_add_entry(prices, i, target);
    if (!known)
        return DT_ERR_MEMORY;
    if (known->us == 0 && !known->exact)
        DT__TRY(run_planner(prices, i, target, LOWER_BOUND, NULL, &known->us));
    *us = known->us;
    return DT_OK;
}

dt_status dt__move_route(dt__move_prices *prices, int i, const dt_placement *target, dt__route *out) {
    double us;
    *out = (dt__route){.arena = prices->arena};
    if (dt__same_placements(prices->on->n_mesh_dims, target, prices->on->inputs[i]->placements))
        return DT_OK;
    priced *known = find_or_add_entry(prices, i, target);
    if (!known)
        return DT_ERR_MEMORY;
    if (!known->has_route) /* a price of a table is found there again, without a search */
        return run_planner(prices, i, target, prices->tables[i] ? known->us * (1 + 1e-6) + 1e-6 : INFINITY, out, &us);
    *out = known->route;
    return DT_OK;
}
