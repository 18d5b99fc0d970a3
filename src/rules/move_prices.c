/* SPDX-License-Identifier: Apache-2.0
 *
 * A hash table of prices per input, and the limit of exact ones.
 */
#include "rules/move_prices.h"

#include "base/hash.h"

#include <math.h>

/* After so many exact prices, fewer on a mesh of many dims, upper bounds are used. Only meshes of many dims with
 * inputs whose placements conflict get there. */
enum { FIRST_OF_TABLE = 3 }; /* exact prices before it are searched for one by one: a table takes some time to make */
enum { MAX_EXACT = 512, MAX_EXACT_MANY_DIMS = 16, MANY_MESH_DIMS = 5 };

typedef struct dt__priced_target {
    struct dt__priced_target *next; /* of the same slot */
    uint64_t hash;
    const dt_placement *target; /* the key */
    double us;                  /* exact, or a lower bound */
    bool exact;
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

/* An upper bound of the price where limit is 0, otherwise the price if it is below the limit. */
static dt_status run_planner(dt__move_prices *self, int i, const dt_placement *target, double limit, double *us) {
    const dt_op_value *value = &self->call->inputs[i];
    const dt__machine *machine = self->on->machine;
    dt__sharding to;
    if (limit != 0 && ++self->n_searched[i] == FIRST_OF_TABLE)
        DT__TRY(dt__price_table_new(self->arena, self->on->inputs[i], (int64_t)dt_dtype_size(value->dtype), machine,
                                    &self->tables[i]));
    dt__arena_mark mark = dt__arena_begin(self->arena);
    DT__TRY(dt__sharding_of_value(self->arena, self->on, value, target, &to));
    dt__move move = {.from = self->on->inputs[i], .to = &to, .item_bytes = (int64_t)dt_dtype_size(value->dtype)};
    DT__TRY(limit == 0 ? dt__plan_price_upper_bound(self->arena, &move, machine, us)
                       : dt__plan_price(self->arena, &move, machine, self->tables[i], limit, us));
    dt__arena_rewind(self->arena, mark);
    return DT_OK;
}

/* The entry of a target among the prices of input i; NULL when out of memory. */
static priced *find_entry(dt__move_prices *self, int i, const dt_placement *target) {
    int n = self->on->n_mesh_dims;
    uint64_t hash = hash_placements(n, target);
    priced **slot = &self->slots[i][hash % DT__N_PRICE_SLOTS];
    for (priced *known = *slot; known; known = known->next)
        if (known->hash == hash && dt__same_placements(n, known->target, target))
            return known;
    priced *fresh = DT__NEW(self->arena, priced);
    const dt_placement *key = dt__arena_copy(self->arena, target, (size_t)n, sizeof *key);
    if (!fresh || !key)
        return NULL;
    *fresh = (priced){.next = *slot, .hash = hash, .target = key};
    *slot = fresh;
    return fresh;
}

static dt_status find_price(dt__move_prices *self, int i, double limit, priced *known) {
    int max_exact = self->on->n_mesh_dims < MANY_MESH_DIMS ? MAX_EXACT : MAX_EXACT_MANY_DIMS;
    if (known->exact || known->us >= limit)
        return DT_OK;
    if (self->n_exact++ >= max_exact) {
        self->arena->ctx->n_capped += self->n_exact == max_exact + 1;
        known->exact = true;
        return run_planner(self, i, known->target, 0, &known->us);
    }
    DT__TRY(run_planner(self, i, known->target, limit, &known->us));
    known->exact = known->us < limit;
    known->us = known->exact ? known->us : limit;
    return DT_OK;
}

dt_status dt__move_price_below(dt__move_prices *prices, int i, const dt_placement *target, double limit, double *us) {
    priced *known = find_entry(prices, i, target);
    if (!known)
        return DT_ERR_MEMORY;
    DT__TRY(find_price(prices, i, limit, known));
    *us = known->us;
    return DT_OK;
}
