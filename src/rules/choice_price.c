/* SPDX-License-Identifier: Apache-2.0
 *
 * Prices of choices. Mesh dims interact (what one of them shards, another has less of; steps are joined), so a choice
 * is priced as a whole. An input is priced exactly only while the prices so far, and lower bounds of the others, are
 * below the limit.
 */
#include "rules/choice_price.h"

#include "base/dtype.h"
#include "rules/ways.h"

#include <math.h>
#include <string.h>

static void begin_bounds(const dt__row_choice *choice, const dt__row_list *rows, dt__input_bounds *out) {
    int n = choice->on->n_mesh_dims;
    for (int i = 0; i < choice->call->n_inputs; i++) {
        bool *may_cut = &out->may_cut[i * n];
        for (int r = 0; r < rows->n_rows; r++)
            for (int m = 0; m < n && rows->rows[r].entries[i] > 0; m++)
                may_cut[m] = true;
        dt__cost_bound_begin(choice->on, i, &choice->call->inputs[i], may_cut, &out->after[i]);
    }
}

dt_status dt__choice_prices_begin(const dt__row_choice *choice, const dt__row_list *rows, dt__choice_prices *out) {
    int n = choice->on->n_mesh_dims, n_inputs = choice->call->n_inputs;
    *out = (dt__choice_prices){
        .choice = choice,
        .bounds = {.may_cut = DT__NEW_ARRAY(choice->arena, bool, n *n_inputs),
                   .after = DT__NEW_ARRAY(choice->arena, dt__cost_bound, (n + 1) * n_inputs)},
        .moves = {.targets = dt__placement_lists_new(choice->arena, n_inputs, n),
                  .us = DT__NEW_ARRAY(choice->arena, double, n_inputs),
                  .order = DT__NEW_ARRAY(choice->arena, int, n_inputs)},
    };
    if (!out->bounds.may_cut || !out->bounds.after || !out->moves.targets || !out->moves.us || !out->moves.order)
        return DT_ERR_MEMORY;
    for (int i = 0; i < n_inputs; i++)
        out->moves.order[i] = i;
    begin_bounds(choice, rows, &out->bounds);
    return dt__move_prices_begin(choice->arena, choice->call, choice->on, &out->prices);
}

/* The bounds of the inputs after n_decided mesh dims. */
static dt__cost_bound *bounds_after(const dt__choice_prices *self, int n_decided) {
    return self->bounds.after + (int64_t)n_decided * self->choice->call->n_inputs;
}

double dt__choice_bound(dt__choice_prices *prices, int m) {
    const dt__placed_inputs *on = prices->choice->on;
    const dt__cost_bound *before = bounds_after(prices, m);
    dt__cost_bound *after = bounds_after(prices, m + 1);
    double us = 0;
    for (int i = 0; i < prices->choice->call->n_inputs; i++) {
        bool may_cut = prices->bounds.may_cut[i * on->n_mesh_dims + m];
        dt__cost_bound_decide(on, i, m, may_cut, dt__choice_entry(prices->choice, m, i), &before[i], &after[i]);
        us += dt__cost_bound_us(on->machine, &after[i]);
    }
    return us;
}

bool dt__choice_must_send(const dt__choice_prices *prices, int m) {
    const dt__cost_bound *bounds = bounds_after(prices, m + 1);
    for (int i = 0; i < prices->choice->call->n_inputs; i++)
        if (bounds[i].kinds)
            return true;
    return false;
}

/* The bytes of an output on one rank, about; mesh dims that are not decided count as cutting it. */
static double output_bytes(const dt__row_choice *choice, int o, int n_decided) {
    const dt_op_value *value = &choice->call->outputs[o];
    double bytes = (double)dt_dtype_size(value->dtype);
    for (int d = 0; d < value->n_dims; d++)
        bytes *= (double)value->shape[d];
    for (int m = 0; m < choice->on->n_mesh_dims; m++)
        if (m >= n_decided || dt__choice_entry(choice, m, choice->call->n_inputs + o) > 0)
            bytes /= (double)choice->on->mesh[m];
    return bytes;
}

/* Whether the op makes this partial sum of inputs that are not partial. */
static bool makes_partial_sum(const dt__row_choice *choice, int o, int m) {
    bool made = dt__choice_entry(choice, m, choice->call->n_inputs + o) == DT_ROW_P(DT_SUM);
    for (int i = 0; i < choice->call->n_inputs && made; i++)
        made = dt__choice_entry(choice, m, i) >= 0;
    return made;
}

/* The cost of reducing output o on mesh dim m, where a rank holds so many bytes of it. */
static double reduction_us(const dt__row_choice *choice, int o, int m, bool far, double bytes) {
    const dt_op_value *output = &choice->call->outputs[o];
    dt__step_desc reduction = {.kind = output->n_dims > 0 ? DT__STEP_REDUCE_SCATTER : DT__STEP_ALL_REDUCE,
                               .group = choice->on->mesh[m],
                               .ranks = dt__mesh_ranks(choice->on->n_mesh_dims, choice->on->mesh),
                               .spans_hosts = far,
                               .before_bytes = bytes,
                               .after_bytes = bytes};
    if (!dt__is_half(output->dtype) || !makes_partial_sum(choice, o, m))
        return dt__machine_reduction_us(choice->on->machine, &reduction);
    reduction.kind = DT__STEP_ALL_REDUCE;
    return dt__machine_price(choice->on->machine, &reduction);
}

/* The bandwidth of reduce-scatters, of all-reduces where there is no dim to scatter, groups within a host first,
 * without start-up. Views and in-place ops only pass on a partial. Partial sums in f16 and bf16 are rounded before they
 * are added: an op that makes one is charged a whole all-reduce, so that it does so only where that pays. */
double dt__choice_finish_us(const dt__row_choice *choice, int n_decided) {
    const dt__placed_inputs *on = choice->on;
    double us = 0;
    if (choice->call->op->flags & DT_OP_VIEW || dt__call_writes(choice->call))
        return 0;
    for (int o = 0; o < choice->call->n_outputs; o++) {
        double bytes = output_bytes(choice, o, n_decided);
        for (int link = DT__WITHIN; link < DT__N_LINKS; link++)
            for (int m = 0; m < n_decided; m++) {
                bool is_partial = dt__choice_entry(choice, m, choice->call->n_inputs + o) < 0;
                if (!is_partial || on->mesh[m] == 1)
                    continue;
                bool far = dt__machine_spans_hosts(on->machine, on->n_mesh_dims, on->mesh, m);
                if (far != (link == DT__BETWEEN))
                    continue;
                us += reduction_us(choice, o, m, far, bytes);
                bytes /= choice->call->outputs[o].n_dims > 0 ? (double)on->mesh[m] : 1;
            }
    }
    return us;
}

/* The cost of making partials of Replicate where that takes writing zeros or ones. */
static double filling_us(const dt__row_choice *choice, int i) {
    const dt_op_value *value = &choice->call->inputs[i];
    double bytes = (double)dt_dtype_size(value->dtype);
    bool fills = false;
    for (int d = 0; d < value->n_dims; d++)
        bytes *= (double)value->shape[d];
    for (int m = 0; m < choice->on->n_mesh_dims; m++) {
        dt_row_entry row_entry = dt__choice_entry(choice, m, i);
        if (row_entry > 0)
            bytes /= (double)choice->on->mesh[m];
        else if (row_entry == DT_ROW_P(DT_SUM) || row_entry == DT_ROW_P(DT_PRODUCT))
            fills |= !dt__is_partial_of(&choice->on->inputs[i]->placements[m], row_entry);
    }
    return fills ? bytes / choice->on->machine->copy_bytes_per_us : 0;
}

/* The exchange of rows that communicate; its price is infinite where their placements are impossible. */
static dt_status price_way(const dt__row_choice *choice, dt__arena *scratch, dt__way *out) {
    int n = choice->on->n_mesh_dims, n_entries = choice->call->n_inputs + choice->call->n_outputs;
    const dt__row *rows[DT_SPEC_MAX_DIMS];
    dt_placement **placed = dt__placement_lists_new(scratch, n_entries, n);
    if (!placed)
        return DT_ERR_MEMORY;
    for (int m = 0; m < n; m++)
        rows[m] = choice->options[m]->row;
    for (int e = 0; e < n_entries; e++) {
        dt__choice_placements(choice, e, placed[e]);
        if (!dt__placements_are_possible(n, placed[e])) {
            out->us = INFINITY;
            return DT_OK;
        }
    }
    dt__combination combination = {choice->on, rows, (const dt_placement *const *)placed,
                                   (const dt_placement *const *)placed + choice->call->n_inputs};
    return dt__way_of(scratch, choice->call, &combination, out);
}

static dt_status find_way(const dt__row_choice *choice, dt__way *out) {
    *out = (dt__way){.group = 1};
    if (!(dt__choice_flags(choice) & DT__ROW_WAYS))
        return DT_OK;
    dt__arena_mark mark = dt__arena_begin(choice->arena);
    dt_status status = price_way(choice, choice->arena, out);
    dt__arena_rewind(choice->arena, mark);
    return status;
}

/* A lower bound of input i's price, which is what is known of it. */
static double known_us(dt__choice_prices *self, int i) {
    const dt__placed_inputs *on = self->choice->on;
    dt_placement *target = self->moves.targets[i];
    dt__choice_target(self->choice, i, target);
    if (dt__same_placements(on->n_mesh_dims, target, on->inputs[i]->placements))
        return 0;
    if (!dt__placements_are_possible(on->n_mesh_dims, target))
        return INFINITY;
    double bound = dt__cost_bound_us(on->machine, &bounds_after(self, on->n_mesh_dims)[i]);
    return fmax(bound, dt__move_price_known(&self->prices, i, target));
}

static void move_to_front(int *order, int at) {
    int first = order[at];
    memmove(order + 1, order, (size_t)at * sizeof *order);
    order[0] = first;
}

/* Replaces the lower bounds of the inputs by prices; *us, which includes them, becomes infinite where it reaches the
 * limit. */
static dt_status price_inputs(dt__choice_prices *self, double limit, double *us) {
    const dt__placed_inputs *on = self->choice->on;
    for (int k = 0; k < self->choice->call->n_inputs; k++) {
        int i = self->moves.order[k];
        double *input_us = &self->moves.us[i], others = *us - *input_us;
        const dt_placement *target = self->moves.targets[i];
        if (dt__same_placements(on->n_mesh_dims, target, on->inputs[i]->placements))
            continue;
        DT__TRY(dt__move_price_below(&self->prices, i, target, limit - others, input_us));
        *us = others + *input_us;
        if (!dt__is_cheaper(*us, limit)) {
            move_to_front(self->moves.order, k);
            *us = INFINITY;
            return DT_OK;
        }
    }
    return DT_OK;
}

/* Raises the lower bounds of the inputs to those that follow from all mesh dims together. */
static dt_status raise_bounds(dt__choice_prices *self, double limit, double *us) {
    const dt__placed_inputs *on = self->choice->on;
    for (int i = 0; i < self->choice->call->n_inputs && dt__is_cheaper(*us, limit); i++) {
        double *input_us = &self->moves.us[i], others = *us - *input_us, bound;
        if (dt__same_placements(on->n_mesh_dims, self->moves.targets[i], on->inputs[i]->placements))
            continue;
        DT__TRY(dt__move_price_bound(&self->prices, i, self->moves.targets[i], &bound));
        *input_us = fmax(*input_us, bound);
        *us = others + *input_us;
    }
    return DT_OK;
}

dt_status dt__choice_price_below(dt__choice_prices *prices, double extra_us, double limit, double *us) {
    int n_inputs = prices->choice->call->n_inputs;
    double sum = extra_us;
    DT__TRY(find_way(prices->choice, &prices->way));
    sum += prices->way.us;
    for (int i = 0; i < n_inputs && dt__is_cheaper(sum, limit); i++) {
        prices->moves.us[i] = known_us(prices, i);
        sum += prices->moves.us[i] + filling_us(prices->choice, i);
    }
    *us = INFINITY;
    if (!dt__is_cheaper(sum, limit))
        return DT_OK;
    DT__TRY(raise_bounds(prices, limit, &sum));
    if (!dt__is_cheaper(sum, limit))
        return DT_OK;
    DT__TRY(price_inputs(prices, limit, &sum));
    if (isinf(sum))
        return DT_OK;
    *us = prices->way.us;
    for (int i = 0; i < n_inputs; i++)
        *us += prices->moves.us[i] + filling_us(prices->choice, i);
    return DT_OK;
}
