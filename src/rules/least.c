/* SPDX-License-Identifier: Apache-2.0
 *
 * Lower bounds and guesses of prices.
 */
#include "rules/least.h"

#include <math.h>

static int link_of(const dt__placed *on, int m) {
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

void dt__least_begin(const dt__placed *on, const dt_op_value *value, const bool *may_cut, dt__least *out) {
    *out = (dt__least){.held = (double)dt_dtype_size(value->dtype),
                       .share = {1, 1},
                       .summed = {1, 1},
                       .same = {1, 1},
                       .open = {1, 1}};
    for (int d = 0; d < value->n_dims; d++)
        out->held *= (double)value->shape[d];
    for (int m = 0; m < on->n_mesh_dims; m++) {
        out->open[link_of(on, m)] *= (double)on->mesh[m];
        if (may_cut[m])
            out->held /= (double)on->mesh[m];
    }
}

void dt__least_decide(const dt__placed *on, int i, int m, bool may_cut, dt_row_entry asked, const dt__least *before,
                      dt__least *after) {
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
    if (does == IS_MOVED)
        after->share[link] /= n;
    else
        after->summed[link] *= n;
}

/* In parts of the result. */
static double received(double share, double summed, double same) {
    return summed > 1 ? 1 + (summed - 2) / same : 1 - share;
}

double dt__least_us(const dt__machine *machine, const dt__least *of) {
    const double *same = of->same, *open = of->open;
    if (!of->kinds)
        return 0;
    double starts = of->kinds & (of->kinds - 1) ? 2 : 1;
    double all = of->held * received(of->share[0] * of->share[1], of->summed[0] * of->summed[1],
                                     same[0] * same[1] * open[0] * open[1]);
    double between = of->held / same[DT__WITHIN] *
                     received(of->share[DT__BETWEEN], of->summed[DT__BETWEEN], same[DT__BETWEEN] * open[DT__BETWEEN]);
    return starts * machine->within.start_us + of->peers_us + between / machine->between.bytes_per_us +
           fmax(all - between, 0) / machine->within.bytes_per_us + of->held / machine->copy_bytes_per_us;
}

double dt__guess_us(const dt__placed *on, int i, int m, dt_row_entry asked, double source_bytes) {
    const dt_placement *now = &on->inputs[i]->placements[m];
    change does = change_of(now, asked);
    double n = (double)on->mesh[m];
    const dt__link *link = link_at(on->machine, link_of(on, m));
    double got = does == IS_MOVED && asked <= 0 ? source_bytes * (n - 1) : source_bytes * (n - 1) / n;
    if (n == 1 || does == STAYS || does == IS_CUT)
        return asked < 0 && !dt_placement_is_partial(*now) ? 1e-3 : 0;
    return link->start_us + (does == IS_REDUCED ? 2 : 1) * ((n - 1) * link->peer_us + got / link->bytes_per_us);
}
