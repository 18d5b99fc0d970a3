/* SPDX-License-Identifier: Apache-2.0
 *
 * Histories of meshes: a hash of the calls that every rank of a mesh makes alike without communicating, such as random
 * draws. The tag of the next collective on the mesh includes it, so ranks that differ get an error there. Equal meshes
 * share one history. Clearing errors, which is collective, resets it; otherwise ranks that differed once would differ
 * for ever.
 */
#include "comm/comm.h"
#include "mesh/mesh_internal.h"

typedef struct history {
    uint64_t number;
    uint32_t epoch;
} history;

dt_status dt__mesh_history_add(dt_mesh *mesh, uint64_t number) {
    dt__mesh_state *state = dt__mesh_state_of(mesh->ctx);
    history *found = dt__map_get(&state->histories, mesh->fingerprint, NULL, NULL);
    if (!found) {
        found = dt__alloc_zeroed(mesh->ctx, sizeof *found);
        if (!found)
            return dt__fail_memory(mesh->ctx, sizeof *found, "the history of a mesh");
        if (!dt__map_add(&state->histories, mesh->fingerprint, found)) {
            dt__free(mesh->ctx, found, sizeof *found);
            return DT_ERR_MEMORY;
        }
    }
    *found = (history){dt__hash_u64(number, dt__mesh_history(mesh)), dt__clear_epoch(mesh->ctx)};
    return DT_OK;
}

uint64_t dt__mesh_history(const dt_mesh *mesh) {
    const dt__mesh_state *state = dt__mesh_state_of(mesh->ctx);
    if (!state->histories.n_entries)
        return 0;
    const history *found = dt__map_get(&state->histories, mesh->fingerprint, NULL, NULL);
    return found && found->epoch == dt__clear_epoch(mesh->ctx) ? found->number : 0;
}

void dt__mesh_histories_free(dt_ctx *ctx, dt__mesh_state *state) {
    size_t at = 0;
    for (void *value; (value = dt__map_next(&state->histories, &at));)
        dt__free(ctx, value, sizeof(history));
    dt__map_free(&state->histories);
}
