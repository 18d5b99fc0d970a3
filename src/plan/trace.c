/* SPDX-License-Identifier: Apache-2.0
 *
 * The text of a plan: its states, joined by arrows. Unlike anywhere else placements stand without commas, and the
 * place in the order of cuts is written wherever several mesh dims cut one tensor dim.
 */
#include "plan/plan.h"

static bool shares_dim(int n, const dt_placement *placements, int m) {
    for (int other = 0; other < n; other++)
        if (other != m && dt__is_cut(&placements[other]) && placements[other].dim == placements[m].dim)
            return true;
    return false;
}

void dt__plan_state_text(int n, const dt_placement *placements, dt__text *out) {
    for (int m = 0; m < n; m++) {
        dt_placement one = placements[m];
        char text[256];
        one.ordered = dt__is_cut(&one) && shares_dim(n, placements, m);
        size_t length = dt_placements_text(1, &one, sizeof text, text);
        if (length < sizeof text)
            dt__text_add(out, "%s", text);
        else
            dt__text_add(out, "S(%d:...)", one.dim);
    }
}

void dt__plan_trace(const dt__plan *plan, dt__text *out) {
    dt__plan_state_text(plan->n_mesh_dims, plan->source, out);
    for (int i = 0; i < plan->n_steps; i++) {
        dt__text_add(out, "->");
        dt__plan_state_text(plan->n_target_mesh_dims, plan->steps[i].after, out);
    }
}
