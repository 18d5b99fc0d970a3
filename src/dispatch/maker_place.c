/* SPDX-License-Identifier: Apache-2.0
 *
 * Where the results of makers are: plain, or on a mesh with the placements that the caller names. Every rank computes
 * the values of its shards. In a partial result, coordinate 0 of the mesh dim holds the values and the others the
 * identity of the reduction.
 */
#include "dispatch/dispatch_state.h"
#include "mesh/mesh.h"

dt_status dt__maker_place_check(dt_ctx *ctx, dt__call *call) {
    dt__maker_place *place = call->maker;
    const char *name = call->info->schema.name;
    if (!(call->info->op->flags & DT_OP_MAKER))
        return dt__fail(ctx, DT_ERR_STATE, "%s: only makers are placed by their caller", name);
    if (!place->mesh && place->place)
        place->mesh = dt_mesh_current(ctx);
    if (!place->mesh && place->place)
        return dt__fail(ctx, DT_ERR_MESH, "%s: placements %s without a mesh: expected .mesh or a current mesh", name,
                        place->place);
    if (place->mesh &&
        (!DT__LIVE(DT__KIND_MESH, place->mesh) || !dt__check_context(ctx, name, "mesh", dt_mesh_ctx(place->mesh))))
        return dt_error_status(ctx);
    return DT_OK;
}

bool dt__maker_holds_values(const dt__call *call, int n_outputs) {
    bool holds = true;
    for (int i = 0; i < n_outputs; i++)
        if (call->outputs[i]->spec && call->outputs[i]->data)
            holds = dt__needs_values(call->outputs[i]) && holds;
    return holds;
}

dt_status dt__maker_finish(dt__call *call) {
    dt_status status = DT_OK;
    for (int i = 0; i < call->n_outputs && status == DT_OK; i++) {
        status = dt__set_use(call->outputs[i], call->maker->use);
        if (status == DT_OK && call->maker->requires_grad)
            status = dt_set_requires_grad(call->outputs[i], true);
    }
    for (int i = 0; i < call->n_outputs && status != DT_OK; i++)
        dt_drop(call->outputs[i]);
    call->n_outputs = status == DT_OK ? call->n_outputs : 0;
    return status;
}
