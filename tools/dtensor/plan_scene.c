/* SPDX-License-Identifier: Apache-2.0
 *
 * Selects the rows of a scene and collects its arrows.
 */
#include "base/size.h"
#include "plan_svg.h"

#include <stdlib.h>
#include <string.h>

static int compare_rows(const void *a, const void *b) {
    int64_t x = ((const scene_row *)a)->rank, y = ((const scene_row *)b)->rank;
    return (x > y) - (x < y);
}

static int find_row(const scene *self, int64_t rank) {
    const scene_row *found = self->n_rows ? bsearch(&(scene_row){.rank = rank}, self->rows, (size_t)self->n_rows,
                                                    sizeof *self->rows, compare_rows)
                                          : NULL;
    return found ? (int)(found - self->rows) : -1;
}

static int64_t rank_at(const dt_spec *spec, int64_t position) {
    int64_t coordinate[DT_SPEC_MAX_DIMS];
    dt__coordinate(spec->sharding.n_mesh_dims, spec->sharding.mesh, position, coordinate);
    return dt_mesh_rank_at(spec->mesh, coordinate);
}

static int64_t position_of(const dt_spec *spec, int64_t rank) {
    int64_t coordinate[DT_SPEC_MAX_DIMS];
    if (!dt_mesh_coordinate_of(spec->mesh, rank, coordinate))
        return -1;
    return dt__position(spec->sharding.n_mesh_dims, spec->sharding.mesh, coordinate);
}

static void add_row(scene *self, const dt_spec *from, const dt_spec *to, int64_t rank) {
    for (int i = 0; i < self->n_rows; i++)
        if (self->rows[i].rank == rank)
            return;
    self->rows[self->n_rows++] = (scene_row){rank, position_of(from, rank), position_of(to, rank)};
}

/* Adds up to max ranks of the mesh. */
static void add_ranks(scene *self, const dt_spec *of, const dt_spec *from, const dt_spec *to, int max) {
    for (int64_t i = 0; i < dt_mesh_size(of->mesh) && i < max; i++)
        add_row(self, from, to, rank_at(of, i));
}

static int compare_flows(const void *a, const void *b) {
    const dt__flow *x = a, *y = b;
    if (x->elements != y->elements)
        return x->elements > y->elements ? -1 : 1;
    return (x->sender > y->sender) - (x->sender < y->sender);
}

/* One arrow for what one rank sends to another, also where it is in both meshes and sends in both phases. */
static void add_arrow(scene_step *step, scene_arrow arrow) {
    for (int64_t i = step->n_arrows - 1; i >= 0 && step->arrows[i].to == arrow.to; i--)
        if (step->arrows[i].from == arrow.from) {
            step->arrows[i].bytes += arrow.bytes;
            return;
        }
    step->arrows[step->n_arrows++] = arrow;
}

/* Adds the flows into one row as arrows, as far as their senders have rows. */
static dt_status add_arrows(dt__arena *arena, scene *self, const dt_spec *const *ends, scene_step *step, int row) {
    dt__flows flows;
    DT__TRY(dt__flows_new(arena, step->step->transfer, self->rows[row].target, &flows));
    for (int64_t i = 0; i < flows.n; i++) {
        int sender = find_row(self, rank_at(ends[flows.items[i].in_target], flows.items[i].sender));
        int64_t bytes = flows.items[i].elements * self->item_bytes;
        if (sender < 0) {
            step->n_left_out++;
            step->left_out_bytes += bytes;
        } else {
            add_arrow(step, (scene_arrow){sender, row, bytes});
        }
    }
    return DT_OK;
}

/* The step in which most is received. */
static const dt__plan_step *largest_step(const dt__plan *plan) {
    const dt__plan_step *largest = &plan->steps[0];
    for (int i = 1; i < plan->n_steps; i++)
        if (plan->steps[i].bytes > largest->bytes)
            largest = &plan->steps[i];
    return largest;
}

/* The rank that receives most in one step, and its largest senders in each. */
static dt_status choose_few(dt__arena *arena, scene *self, const dt_spec *from, const dt_spec *to) {
    const dt__plan *plan = self->plan;
    int64_t receiver = plan->n_steps ? largest_step(plan)->busiest : 0;
    add_row(self, from, to, rank_at(to, receiver));
    for (int i = 0; i < plan->n_steps; i++) {
        dt__flows flows;
        DT__TRY(dt__flows_new(arena, plan->steps[i].transfer, receiver, &flows));
        if (flows.n)
            qsort(flows.items, (size_t)flows.n, sizeof *flows.items, compare_flows);
        for (int64_t k = 0; k < flows.n && k < SCENE_MAX_SENDERS; k++)
            add_row(self, from, to, rank_at(flows.items[k].in_target ? to : from, flows.items[k].sender));
    }
    self->receiver = 0;
    return DT_OK;
}

static dt_status choose_rows(dt__arena *arena, scene *self, const dt_spec *from, const dt_spec *to) {
    bool one_mesh = self->plan->n_steps == 0 || !self->plan->steps[0].transfer->from_mesh;
    int capacity = 2 * SCENE_MAX_RANKS + 2 + SCENE_MAX_SENDERS * (self->plan->n_steps + 1);
    self->rows = DT__NEW_ARRAY(arena, scene_row, capacity);
    if (!self->rows)
        return DT_ERR_MEMORY;
    add_ranks(self, from, from, to, SCENE_MAX_RANKS + 1);
    if (!one_mesh)
        add_ranks(self, to, from, to, SCENE_MAX_RANKS + 1);
    if (self->n_rows > SCENE_MAX_RANKS) {
        self->n_rows = 0;
        DT__TRY(choose_few(arena, self, from, to));
    }
    int64_t receiver = self->receiver < 0 ? -1 : self->rows[0].rank;
    qsort(self->rows, (size_t)self->n_rows, sizeof *self->rows, compare_rows);
    self->receiver = receiver < 0 ? -1 : find_row(self, receiver);
    return DT_OK;
}

static dt_status fill_step(dt__arena *arena, scene *self, const dt_spec *const *ends, scene_step *step) {
    step->arrows = DT__NEW_ARRAY(arena, scene_arrow, (int64_t)self->n_rows * self->n_rows);
    if (!step->arrows)
        return DT_ERR_MEMORY;
    for (int row = 0; row < self->n_rows; row++)
        if (self->rows[row].target >= 0 && (self->receiver < 0 || self->receiver == row))
            DT__TRY(add_arrows(arena, self, ends, step, row));
    for (int row = 0; row < self->n_rows; row++) {
        int64_t in = 0, out = 0;
        for (int64_t i = 0; i < step->n_arrows; i++) {
            in += step->arrows[i].to == row ? step->arrows[i].bytes : 0;
            out += step->arrows[i].from == row ? step->arrows[i].bytes : 0;
        }
        self->max_bytes = dt__max_i64(self->max_bytes, dt__max_i64(in, out));
    }
    return DT_OK;
}

dt_status scene_new(dt__arena *arena, const dt_spec *from, const dt_spec *to, const dt__plan *plan, scene *out) {
    *out = (scene){.plan = plan, .item_bytes = (int64_t)dt_dtype_size(from->dtype), .receiver = -1};
    DT__TRY(choose_rows(arena, out, from, to));
    out->steps = DT__NEW_ARRAY(arena, scene_step, plan->n_steps);
    if (!out->steps)
        return DT_ERR_MEMORY;
    for (int i = 0; i < plan->n_steps; i++) {
        out->steps[i].step = &plan->steps[i];
        DT__TRY(fill_step(arena, out, (const dt_spec *[]){from, to}, &out->steps[i]));
    }
    out->max_receiver = plan->n_steps ? find_row(out, rank_at(to, largest_step(plan)->busiest)) : -1;
    return DT_OK;
}

const dt__sharding *scene_state(const scene *self, const dt_spec *from, int column) {
    return column ? self->plan->steps[column - 1].transfer->after : &from->sharding;
}

int64_t scene_position(const scene *self, int column, int row) {
    return column ? self->rows[row].target : self->rows[row].source;
}
