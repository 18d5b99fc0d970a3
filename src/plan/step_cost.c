/* SPDX-License-Identifier: Apache-2.0
 *
 * The tables of prices by sets of mesh dims, from the machine model.
 */
#include "plan/step_cost.h"

static const double FULL = 1099511627776.0; /* bytes at which rates are taken, so that nothing is lost by rounding */

static dt__rate rate_of(const dt__alphabet *alphabet, const dt__change *change) {
    double base = dt__change_price(alphabet, change, 0, 0);
    return (dt__rate){base, (dt__change_price(alphabet, change, FULL, 0) - base) / FULL,
                      (dt__change_price(alphabet, change, 0, FULL) - base) / FULL};
}

dt__rates *dt__rates_new(dt__arena *arena, const dt__alphabet *alphabet) {
    int n_sets = 1 << alphabet->n_mesh_dims;
    bool spans[DT__RATES_MOST_MESH_DIMS];
    dt__rates *rates = DT__NEW_ARRAY(arena, dt__rates, n_sets);
    if (!rates)
        return NULL;
    for (int m = 0; m < alphabet->n_mesh_dims; m++)
        spans[m] = alphabet->mesh[m] > 1 &&
                   dt__machine_spans_hosts(alphabet->machine, alphabet->n_mesh_dims, alphabet->mesh, m);
    for (int set = 0; set < n_sets; set++) {
        dt__change change = {.group = 1};
        for (int m = 0; m < alphabet->n_mesh_dims; m++)
            if (set >> m & 1) {
                change.group *= alphabet->mesh[m];
                change.spans_hosts |= spans[m];
            }
        for (int c = 0; c < DT__N_STEP_KINDS; c++) {
            change.collective = (dt__step_kind)c;
            rates[set].of[c] = rate_of(alphabet, &change);
        }
    }
    return rates;
}

static double least_of(double a, double b) { return a < b ? a : b; }

dt__rates *dt__rates_least(dt__arena *arena, int n_mesh_dims, const dt__rates *rates) {
    int n_sets = 1 << n_mesh_dims;
    dt__rates *least = dt__arena_copy(arena, rates, (size_t)n_sets, sizeof *rates);
    if (!least)
        return NULL;
    for (int set = n_sets - 1; set >= 0; set--)
        for (int m = 0; m < n_mesh_dims; m++)
            for (int c = 0; c < DT__N_STEP_KINDS && !(set >> m & 1); c++) {
                const dt__rate *larger = &least[set | 1 << m].of[c];
                dt__rate *rate = &least[set].of[c];
                *rate = (dt__rate){least_of(rate->base, larger->base), least_of(rate->before, larger->before),
                                   least_of(rate->after, larger->after)};
            }
    return least;
}
