/* SPDX-License-Identifier: Apache-2.0
 *
 * The call history of a mesh (comm/call_history.h), found once per mesh. Equal meshes share one.
 */
#include "comm/comm.h"
#include "mesh/mesh_internal.h"

dt__history *dt__mesh_history(dt_mesh *mesh) {
    if (mesh->history || !mesh->coordinate || mesh->ctx->world == 1)
        return mesh->history;
    dt__text name = dt__text_new(mesh->ctx);
    dt__mesh_print_dims(&name, mesh);
    mesh->history = dt__history_of(mesh->ctx, mesh->fingerprint, dt__text_chars(&name));
    dt__text_free(&name);
    return mesh->history;
}

void dt__mesh_history_add(dt_mesh *mesh, uint64_t number) {
    dt__history *history = dt__mesh_history(mesh);
    if (history)
        dt__history_amend(history, number);
}
