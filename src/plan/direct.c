/* SPDX-License-Identifier: Apache-2.0
 *
 * The direct planner: one exchange in which every rank takes what it lacks from whoever has it.
 */
#include "plan/placement_state.h"

dt_status dt__plan_direct(const dt__alphabet *alphabet, dt__route *out) {
    out->exchange = true;
    DT__TRY(dt__route_add(out, alphabet, alphabet->from));
    return dt__route_add(out, alphabet, alphabet->to);
}
