/* SPDX-License-Identifier: Apache-2.0
 *
 * What the ranks of a mesh have done alike so far without talking: each such deed is a number that is mixed into the
 * history of the mesh, and the history goes into the tag of the next collective on it. Equal meshes share one. Clearing
 * errors, which all ranks do together, starts anew, or ranks that differ once would differ for ever.
 */
#include "comm/comm.h"
#include "mesh/mesh_internal.h"

typedef struct history {
    uint64_t number;
    uint32_t epoch;
} history;

dt_status dt__mesh_agree(dt_mesh *mesh, uint64_t number) {
    dt__mesh_state *state = dt__mesh_state_of(mesh->ctx);
    history *found = dt__map_get(&state->agreed, mesh->fingerprint, NULL, NULL);
    if (!found) {
        found = dt__alloc_zeroed(mesh->ctx, sizeof *found);
        if (!found)
            return dt__fail_memory(mesh->ctx, sizeof *found, "the history of a mesh");
        if (!dt__map_add(&state->agreed, mesh->fingerprint, found)) {
            dt__free(mesh->ctx, found, sizeof *found);
            return DT_ERR_MEMORY;
        }
    }
    *found = (history){dt__hash_u64(number, dt__mesh_agreed(mesh)), dt__clear_epoch(mesh->ctx)};
    return DT_OK;
}

uint64_t dt__mesh_agreed(const dt_mesh *mesh) {
    const dt__mesh_state *state = dt__mesh_state_of(mesh->ctx);
    if (!state->agreed.n_entries)
        return 0;
    const history *found = dt__map_get(&state->agreed, mesh->fingerprint, NULL, NULL);
    return found && found->epoch == dt__clear_epoch(mesh->ctx) ? found->number : 0;
}

void dt__mesh_forget_agreed(dt_ctx *ctx, dt__mesh_state *state) {
    size_t at = 0;
    for (void *value; (value = dt__map_next(&state->agreed, &at));)
        dt__free(ctx, value, sizeof(history));
    dt__map_free(&state->agreed);
}
