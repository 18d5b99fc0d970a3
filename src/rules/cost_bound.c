/* SPDX-License-Identifier: Apache-2.0
 *
 * Lower bounds and guesses of prices.
 */
#include "rules/cost_bound.h"

#include "base/size.h"

#include <math.h>

static int link_of(const dt__placed_inputs *on, int m) {
    return dt__machine_spans_hosts(on->machine, on->n_mesh_dims, on->mesh, m) ? DT__BETWEEN : DT__WITHIN;
}

static const dt__link *link_at(const dt__machine *machine, int link) {
    return link == DT__BETWEEN ? &machine->between : &machine->within;
}

/* How an input gets from what it is to what a row asks for. */
typedef enum change { STAYS, IS_CUT, IS_MOVED, IS_REDUCED, IS_SCATTERED } change;

static change change_of(const dt_placement *now, dt_row_entry asked) {
    if (dt__is_cut(now)) /* the same dim perhaps in another kind or order of cuts: only the planner knows */
        return asked > 0 && now->dim == asked - 1 ? STAYS : IS_MOVED;
    if (dt_placement_is_partial(*now) && asked != DT_ROW_P(now->reduce))
        return asked > 0 ? IS_SCATTERED : IS_REDUCED;
    return asked > 0 ? IS_CUT : STAYS;
}

/* Bytes of the part at coordinate 0, which is the largest of plain cuts. */
static double largest_part(const dt__sharding *of, const dt_op_value *value) {
    double bytes = (double)dt_dtype_size(value->dtype);
    for (int d = 0; d < of->n_dims; d++) {
        int64_t size = of->shape[d];
        for (int c = of->first_cut[d]; c < of->first_cut[d + 1]; c++) {
            const dt__cut *cut = &of->cuts[c];
            if (!cut->starts) /* explicit extents may be anything up to the whole */
                size = dt__cut_size(cut, size, 0);
        }
        bytes *= (double)size;
    }
    return bytes;
}

/* Whether any cuts of any dims by all mesh dims give parts of one size. */
static bool is_even(const dt__placed_inputs *on, const dt__sharding *of) {
    int64_t ranks = 1;
    for (int m = 0; m < on->n_mesh_dims; m++)
        if (!dt__mul_i64(ranks, on->mesh[m], &ranks))
            return false;
    for (int d = 0; d < of->n_dims; d++)
        if (of->shape[d] % ranks)
            return false;
    for (int m = 0; m < on->n_mesh_dims; m++)
        if (of->placements[m].n_extents || of->placements[m].kind == DT_PLACEMENT_STRIDED)
            return false;
    return true;
}

void dt__cost_bound_begin(const dt__placed_inputs *on, int i, const dt_op_value *value, const bool *may_cut,
                          dt__cost_bound *out) {
    *out = (dt__cost_bound){
        .held = (double)dt_dtype_size(value->dtype),
        .share = {1, 1},
        .summed = {1, 1},
        .same = {1, 1},
        .open = {1, 1},
        .gathered = 1,
        .anew = 1,
        .source = largest_part(on->inputs[i], value),
        .even = is_even(on, on->inputs[i]),
    };
    for (int d = 0; d < value->n_dims; d++)
        out->held *= (double)value->shape[d];
    for (int m = 0; m < on->n_mesh_dims; m++) {
        out->open[link_of(on, m)] *= (double)on->mesh[m];
        if (may_cut[m])
            out->held /= (double)on->mesh[m];
    }
}

void dt__cost_bound_decide(const dt__placed_inputs *on, int i, int m, bool may_cut, dt_row_entry asked,
                           const dt__cost_bound *before, dt__cost_bound *after) {
    const dt_placement *now = &on->inputs[i]->placements[m];
    change does = change_of(now, asked);
    double n = (double)on->mesh[m];
    int link = link_of(on, m);
    bool stays_partial = asked < 0 && dt_placement_is_partial(*now) && does == STAYS;
    *after = *before;
    after->open[link] /= n;
    if (asked <= 0 && may_cut)
        after->held *= n;
    if (asked <= 0 && !stays_partial)
        after->same[link] *= n;
    if (n == 1 || does == STAYS || does == IS_CUT)
        return;
    after->kinds |= 1u << does;
    after->peers_us += (n - 1) * link_at(on->machine, link)->peer_us * (does == IS_REDUCED ? 2 : 1);
    if (does != IS_MOVED) {
        after->summed[link] *= n;
        return;
    }
    after->share[link] /= n;
    after->spans |= link == DT__BETWEEN;
    if (asked <= 0)
        after->gathered /= n;
    else if (after->even)
        after->anew = fmin(after->anew, 1 / n);
}

/* In parts of the result. */
static double received(double share, double summed, double same) {
    return summed > 1 ? 1 + (summed - 2) / same : 1 - share;
}

static double collectives_us(const dt__machine *machine, const dt__cost_bound *of) {
    const double *same = of->same, *open = of->open;
    unsigned moved = 1u << IS_MOVED;
    double starts = of->kinds & moved && of->kinds & ~moved ? 2 : 1;
    double all = of->held * received(of->share[0] * of->share[1], of->summed[0] * of->summed[1],
                                     same[0] * same[1] * open[0] * open[1]);
    double between = of->held / same[DT__WITHIN] *
                     received(of->share[DT__BETWEEN], of->summed[DT__BETWEEN], same[DT__BETWEEN] * open[DT__BETWEEN]);
    return starts * machine->within.start_us + of->peers_us + between / machine->between.bytes_per_us +
           fmax(all - between, 0) / machine->within.bytes_per_us + of->held / machine->copy_bytes_per_us;
}

static double exchange_us(const dt__machine *machine, const dt__cost_bound *of) {
    const dt__link *link = link_at(machine, of->spans ? DT__BETWEEN : DT__WITHIN);
    double lacked = of->held * (1 - of->gathered * of->anew);
    double copied = of->held / machine->copy_bytes_per_us;
    if (lacked <= 0)
        return copied;
    return link->start_us + lacked / of->source * link->peer_us + lacked / link->bytes_per_us + copied;
}

double dt__cost_bound_us(const dt__machine *machine, const dt__cost_bound *of) {
    if (!of->kinds)
        return 0;
    double us = collectives_us(machine, of);
    return of->kinds == 1u << IS_MOVED ? fmin(us, exchange_us(machine, of)) : us;
}

double dt__estimate_us(const dt__placed_inputs *on, int i, int m, dt_row_entry asked, double source_bytes) {
    const dt_placement *now = &on->inputs[i]->placements[m];
    change does = change_of(now, asked);
    double n = (double)on->mesh[m];
    const dt__link *link = link_at(on->machine, link_of(on, m));
    double got = does == IS_MOVED && asked <= 0 ? source_bytes * (n - 1) : source_bytes * (n - 1) / n;
    if (n == 1 || does == STAYS || does == IS_CUT)
        return asked < 0 && !dt_placement_is_partial(*now) ? 1e-3 : 0;
    return link->start_us + (does == IS_REDUCED ? 2 : 1) * ((n - 1) * link->peer_us + got / link->bytes_per_us);
}
