/* SPDX-License-Identifier: Apache-2.0
 *
 * The call history of a mesh (comm/call_history.h), found once per mesh. Equal meshes share one. With
 * DTENSOR_CHECK_CALLS its members meet at every call and compare it, in an exchange that moves no data and that
 * counters, traces and policies do not see.
 */
#include "comm/comm.h"
#include "mesh/mesh_internal.h"

dt__history *dt__mesh_history(dt_mesh *mesh) {
    if (mesh->history || !mesh->coordinate || mesh->ctx->world == 1 || !dt__has_histories(mesh->ctx))
        return mesh->history;
    dt__text name = dt__text_new(mesh->ctx);
    dt__mesh_print_dims(&name, mesh);
    mesh->history = dt__history_of(mesh->ctx, mesh->fingerprint, dt__text_chars(&name));
    for (int m = 0; mesh->history && m < dt_mesh_n_dims(mesh); m++)
        mesh->history->mesh_dims |= (uint64_t)(dt_mesh_dim_size(mesh, m) > 1) << m;
    dt__text_free(&name);
    return mesh->history;
}

dt_status dt__mesh_meet(dt_mesh *mesh) {
    dt_ctx *ctx = mesh->ctx;
    dt__history *history = dt__mesh_history(mesh);
    int64_t n = dt_mesh_size(mesh);
    if (!history || n == 1 || ctx->call.apart)
        return DT_OK;
    dt__arena arena = dt__arena_new(ctx);
    int64_t *ranks = DT__NEW_ARRAY(&arena, int64_t, n);
    dt_group *group = NULL;
    if (ranks) {
        dt_mesh_ranks(mesh, ranks);
        group = dt__group_new_for(ctx, ranks, n, 0);
    }
    static const dt__exchange_call check_calls = {.name = "check_calls"};
    dt__exchange exchange = {.call = &check_calls,
                             .histories = {history},
                             .n_histories = 1,
                             .mesh_dims = DT__ALL_MESH_DIMS,
                             .dtype = DT_U8};
    dt_status status = !group ? dt_error_status(ctx)
                       : dt__group_spans_nodes(group)
                           ? dt__carry_run(group, &exchange, &(dt_comm_call){.op = DT_BARRIER})
                           : dt__exchange_run(group, &exchange);
    dt_group_release(group);
    dt__arena_free(&arena);
    return status;
}

dt_status dt__mesh_history_add(dt_mesh *mesh, uint64_t number) {
    dt__history *history = dt__mesh_history(mesh);
    if (!history)
        return DT_OK;
    dt__history_amend(history, number);
    return dt__mesh_check_calls(mesh);
}
