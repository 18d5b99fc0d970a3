/* SPDX-License-Identifier: Apache-2.0
 *
 * What one collective costs from a state to another, as the exact search asks for it many thousand times: a price is
 * a line in the bytes before and after, whose coefficients follow from the collective and the set of mesh dims that
 * change. Sets are bits; mesh dims of one rank are in none.
 */
#ifndef DT_PLAN_STEP_COST_H
#define DT_PLAN_STEP_COST_H

#include "plan/placement_state.h"

#include <math.h>

enum { DT__RATES_MOST_MESH_DIMS = 8 };

/* base + before·bytes + after·bytes */
typedef struct dt__rate {
    double base, before, after;
} dt__rate;

/* Of each collective over one set. */
typedef struct dt__rates {
    dt__rate of[DT__N_STEP_KINDS];
} dt__rates;

/* The mesh dims that a state has as Replicate, as partials and as cuts. */
typedef struct dt__roles {
    uint8_t replicate, partial, cut;
} dt__roles;

/* Per set of mesh dims, in the arena; NULL without memory. */
dt__rates *dt__rates_new(dt__arena *arena, const dt__alphabet *alphabet);
/* The same, where each coefficient is the least of any set that holds the set, too. */
dt__rates *dt__rates_least(dt__arena *arena, int n_mesh_dims, const dt__rates *rates);

/* The price of one collective that changes this set; infinite where none does it. */
static inline double dt__rates_price(const dt__rates *rates, dt__roles a, dt__roles b, int set, double before,
                                     double after) {
    dt__step_kind collective;
    if (set & a.partial) {
        if (set & ~a.partial || (set & b.replicate && set & b.cut))
            return INFINITY;
        collective = set & b.cut ? DT__STEP_REDUCE_SCATTER : DT__STEP_ALL_REDUCE;
    } else if (set & b.partial)
        return INFINITY;
    else if (!(set & ~a.replicate))
        collective = DT__STEP_NONE;
    else
        collective = set & ~b.replicate ? DT__STEP_ALL_TO_ALL : DT__STEP_ALL_GATHER;
    const dt__rate *rate = &rates[set].of[collective];
    return rate->base + rate->before * before + rate->after * after;
}

#endif
