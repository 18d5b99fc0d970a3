/* SPDX-License-Identifier: Apache-2.0
 *
 * The tables of rates by sets of mesh dims, from the machine model.
 */
#include "plan/step_rates.h"

static dt__rate rate_of(const dt__state_space *space, const dt__change *change) {
    dt__step_desc step = dt__change_step(space, change, 0, 0);
    dt__step_line line;
    if (dt__machine_measured_line(space->machine, &step, &line))
        return (dt__rate){line.cache.base, 0, line.cache.us_per_byte, line.memory.base, line.memory.us_per_byte};
    dt__step_formula formula = dt__machine_formula(space->machine, &step);
    return (dt__rate){formula.base, formula.before, formula.after, 0, 0};
}

dt__rates *dt__rates_new(dt__arena *arena, const dt__state_space *space) {
    int n_sets = 1 << space->n_mesh_dims;
    dt__rates *rates = DT__NEW_ARRAY(arena, dt__rates, n_sets);
    if (!rates)
        return NULL;
    for (int set = 0; set < n_sets; set++) {
        dt__change change = {.group = 1, .nodes = 1};
        for (int m = 0; m < space->n_mesh_dims; m++)
            if (set >> m & 1) {
                change.group *= space->mesh[m];
                change.nodes *= space->mesh[m] > 1 ? space->nodes[m] : 1;
                change.spans_hosts |= space->mesh[m] > 1 && space->spans_hosts[m];
            }
        for (int c = 0; c < DT__N_STEP_KINDS; c++) {
            change.collective = (dt__step_kind)c;
            rates[set].of[c] = rate_of(space, &change);
        }
    }
    return rates;
}

double dt__rates_min_write(int n_sets, const dt__rates *rates) {
    double us = INFINITY;
    for (int set = 0; set < n_sets; set++)
        for (int kind = 0; kind < DT__N_STEP_KINDS; kind++)
            us = fmin(us, rates[set].of[kind].after);
    return us;
}

/* In four parts, which do not wait for each other. */
int dt__first_min(int n, const double *numbers) {
    double mins[4] = {INFINITY, INFINITY, INFINITY, INFINITY};
    int i = 0;
    for (; i + 4 <= n; i += 4)
        for (int k = 0; k < 4; k++)
            mins[k] = numbers[i + k] < mins[k] ? numbers[i + k] : mins[k];
    for (; i < n; i++)
        mins[0] = numbers[i] < mins[0] ? numbers[i] : mins[0];
    double min = fmin(fmin(mins[0], mins[1]), fmin(mins[2], mins[3]));
    for (i = 0; i < n && isfinite(min); i++)
        if (numbers[i] == min)
            return i;
    return -1;
}

static double min_of(double a, double b) { return a < b ? a : b; }

static dt__rate min_rate(const dt__rate *a, const dt__rate *b) {
    return (dt__rate){min_of(a->base, b->base), min_of(a->before, b->before), min_of(a->after, b->after),
                      min_of(a->memory_base, b->memory_base), min_of(a->memory, b->memory)};
}

/* A mesh dim that goes from one cut to another makes an all-to-all of a copy or an all-gather over the others. By a
 * measured model that may cost less. */
static const bool may_be_all_to_all[DT__N_STEP_KINDS] = {[DT__STEP_NONE] = true, [DT__STEP_ALL_GATHER] = true};

dt__rates *dt__rates_lower_bound(dt__arena *arena, int n_mesh_dims, const dt__rates *rates) {
    int n_sets = 1 << n_mesh_dims;
    dt__rates *bound = dt__arena_copy(arena, rates, (size_t)n_sets, sizeof *rates);
    if (!bound)
        return NULL;
    for (int set = n_sets - 1; set >= 0; set--)
        for (int m = 0; m < n_mesh_dims; m++)
            for (int c = 0; c < DT__N_STEP_KINDS && !(set >> m & 1); c++) {
                const dt__rates *superset = &bound[set | 1 << m];
                dt__rate *rate = &bound[set].of[c];
                *rate = min_rate(rate, &superset->of[c]);
                if (may_be_all_to_all[c])
                    *rate = min_rate(rate, &superset->of[DT__STEP_ALL_TO_ALL]);
            }
    return bound;
}
