/* SPDX-License-Identifier: Apache-2.0
 *
 * The cost of one collective from a state to another in the form that the exact search evaluates many thousand
 * times: a linear function of the bytes before and after, or of those after alone if that is more, whose coefficients
 * follow from the collective and the set of mesh dims that change. Sets are bits; mesh dims of one rank are in none.
 */
#ifndef DT_PLAN_STEP_RATES_H
#define DT_PLAN_STEP_RATES_H

#include "plan/placement_state.h"

#include <math.h>

enum { DT__RATES_MAX_MESH_DIMS = 8 };

/* base + before·bytes + after·bytes, or memory_base + memory·bytes after if that is more */
typedef struct dt__rate {
    double base, before, after, memory_base, memory;
} dt__rate;

/* Of each kind of step over one set. */
typedef struct dt__rates {
    dt__rate of[DT__N_STEP_KINDS];
} dt__rates;

/* The sets of mesh dims that are Replicate, partial and cut in a state. */
typedef struct dt__roles {
    uint8_t replicate, partial, cut;
} dt__roles;

/* Per set of mesh dims, in the arena; NULL without memory. */
dt__rates *dt__rates_new(dt__arena *arena, const dt__state_space *space);
/* Rates per set of mesh dims, where each coefficient is the minimum over all supersets of the set, and over the kinds
 * that a step may be once a mesh dim that is not in the set changes, too. */
dt__rates *dt__rates_lower_bound(dt__arena *arena, int n_mesh_dims, const dt__rates *rates);

/* The least that a step into a state of one byte costs, over all sets: every step writes its result. */
double dt__rates_min_write(int n_sets, const dt__rates *rates);

/* The index of the first of the smallest numbers; -1: all are infinite. For searches that take the nearest state. */
int dt__first_min(int n, const double *numbers);

/* The cost of one collective that changes this set; infinite where there is none. */
static inline double dt__rates_price(const dt__rates *rates, dt__roles a, dt__roles b, int set, double before,
                                     double after) {
    dt__step_kind kind;
    if (set & a.partial) {
        if (set & ~a.partial || (set & b.replicate && set & b.cut))
            return INFINITY;
        kind = set & b.cut ? DT__STEP_REDUCE_SCATTER : DT__STEP_ALL_REDUCE;
    } else if (set & b.partial)
        return INFINITY;
    else if (!(set & ~a.replicate))
        kind = DT__STEP_NONE;
    else
        kind = set & ~b.replicate ? DT__STEP_ALL_TO_ALL : DT__STEP_ALL_GATHER;
    const dt__rate *rate = &rates[set].of[kind];
    double us = rate->base + rate->before * before + rate->after * after;
    double memory_us = rate->memory_base + rate->memory * after;
    return us < memory_us ? memory_us : us;
}

#endif
