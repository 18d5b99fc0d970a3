/* SPDX-License-Identifier: Apache-2.0
 *
 * Lower bounds and estimates of the cost of moving an input.
 */
#include "rules/cost_bound.h"

#include "base/size.h"

#include <math.h>

static int link_of(const dt__placed_inputs *on, int m) {
    return dt__machine_spans_hosts(on->machine, on->n_mesh_dims, on->mesh, m) ? DT__BETWEEN : DT__WITHIN;
}

/* A link whose times are lower bounds of any step over it. */
static const dt__link *min_link(const dt__machine *machine, int link) {
    return link == DT__BETWEEN ? &machine->min_between : &machine->min_within;
}

/* How the placement of an input changes on a mesh dim. */
typedef enum change { STAYS, IS_CUT, IS_MOVED, IS_REDUCED, IS_SCATTERED } change;

static change change_of(const dt_placement *current, dt_row_entry entry) {
    if (dt__is_cut(current)) /* the kind or the order of shards may change; the planner decides that */
        return entry > 0 && current->dim == entry - 1 ? STAYS : IS_MOVED;
    if (dt_placement_is_partial(*current) && entry != DT_ROW_P(current->reduce))
        return entry > 0 ? IS_SCATTERED : IS_REDUCED;
    return entry > 0 ? IS_CUT : STAYS;
}

/* Bytes of the local tensor at coordinate 0, which is the largest of plain shards. */
static double largest_local_bytes(const dt__sharding *of, const dt_op_value *value) {
    double bytes = (double)dt_dtype_size(value->dtype);
    for (int d = 0; d < of->n_dims; d++) {
        int64_t size = of->shape[d];
        for (int c = of->first_cut[d]; c < of->first_cut[d + 1]; c++) {
            const dt__cut *cut = &of->cuts[c];
            if (!cut->starts) /* explicit extents may be anything up to the size of the dim */
                size = dt__cut_size(cut, size, 0);
        }
        bytes *= (double)size;
    }
    return bytes;
}

/* Whether all ways of sharding by all mesh dims yield shards of one size. */
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
        .resharded = 1,
        .source = largest_local_bytes(on->inputs[i], value),
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

void dt__cost_bound_decide(const dt__placed_inputs *on, int i, int m, bool may_cut, dt_row_entry entry,
                           const dt__cost_bound *before, dt__cost_bound *after) {
    const dt_placement *current = &on->inputs[i]->placements[m];
    change kind = change_of(current, entry);
    double n = (double)on->mesh[m];
    int link = link_of(on, m);
    bool stays_partial = entry < 0 && dt_placement_is_partial(*current) && kind == STAYS;
    *after = *before;
    after->open[link] /= n;
    if (entry <= 0 && may_cut)
        after->held *= n;
    if (entry <= 0 && !stays_partial)
        after->same[link] *= n;
    if (n == 1 || kind == STAYS || kind == IS_CUT)
        return;
    after->kinds |= 1u << kind;
    after->peers_us += (n - 1) * min_link(on->machine, link)->peer_us;
    if (kind == IS_REDUCED) /* received from all, and sent to all */
        after->again_us += (n - 1) * fmin(on->machine->min_within.peer_us, on->machine->min_between.peer_us);
    if (kind != IS_MOVED) {
        after->summed[link] *= n;
        return;
    }
    after->share[link] /= n;
    after->spans |= link == DT__BETWEEN;
    if (entry <= 0)
        after->gathered /= n;
    else if (after->even)
        after->resharded = fmin(after->resharded, 1 / n);
}

/* As a fraction of the result. */
static double received(double share, double summed, double same) {
    return summed > 1 ? 1 + (summed - 2) / same : 1 - share;
}

/* Collectives that move shards and those that reduce are not the same. */
static double starts_us(const dt__machine *machine, const dt__cost_bound *of) {
    double n = of->kinds & 1u << IS_MOVED && of->kinds != 1u << IS_MOVED ? 2 : 1;
    return n * fmin(machine->min_within.start_us, machine->min_between.start_us) + of->peers_us + of->again_us;
}

static double collectives_us(const dt__machine *machine, const dt__cost_bound *of) {
    const double *same = of->same, *open = of->open;
    double all = of->held * received(of->share[0] * of->share[1], of->summed[0] * of->summed[1],
                                     same[0] * same[1] * open[0] * open[1]);
    /* ranks of a host that get the same result share what passes between hosts: so may those of open mesh dims */
    double between = of->held / (same[DT__WITHIN] * open[DT__WITHIN]) *
                     received(of->share[DT__BETWEEN], of->summed[DT__BETWEEN], same[DT__BETWEEN] * open[DT__BETWEEN]);
    double fastest = fmax(machine->min_within.bytes_per_us, machine->min_between.bytes_per_us);
    return starts_us(machine, of) + between / machine->min_between.bytes_per_us + fmax(all - between, 0) / fastest +
           of->held / machine->min_copy_bytes_per_us;
}

static double exchange_us(const dt__machine *machine, const dt__cost_bound *of) {
    const dt__link *link = min_link(machine, of->spans ? DT__BETWEEN : DT__WITHIN);
    double missing = of->held * (1 - of->gathered * of->resharded);
    double copied = of->held / machine->min_copy_bytes_per_us;
    if (missing <= 0)
        return copied;
    return link->start_us + missing / of->source * link->peer_us + missing / link->bytes_per_us + copied;
}

double dt__cost_bound_us(const dt__machine *machine, const dt__cost_bound *of) {
    if (!of->kinds)
        return 0;
    double us = collectives_us(machine, of);
    return of->kinds == 1u << IS_MOVED ? fmin(us, exchange_us(machine, of)) : us;
}

double dt__estimate_us(const dt__placed_inputs *on, int i, int m, dt_row_entry entry, double source_bytes) {
    const dt_placement *current = &on->inputs[i]->placements[m];
    change kind = change_of(current, entry);
    double n = (double)on->mesh[m];
    const dt__link *link = link_of(on, m) == DT__BETWEEN ? &on->machine->between : &on->machine->within;
    double received_bytes = kind == IS_MOVED && entry <= 0 ? source_bytes * (n - 1) : source_bytes * (n - 1) / n;
    if (n == 1 || kind == STAYS || kind == IS_CUT)
        return entry < 0 && !dt_placement_is_partial(*current) ? 1e-3 : 0;
    return link->start_us +
           (kind == IS_REDUCED ? 2 : 1) * ((n - 1) * link->peer_us + received_bytes / link->bytes_per_us);
}
