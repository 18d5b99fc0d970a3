/* SPDX-License-Identifier: Apache-2.0
 *
 * Checks of a list of parameters, which optimisers and norms of gradients begin with.
 */
#include "train/train.h"

#include "mesh/mesh.h"

dt_ctx *dt__parameters_ctx(dt_tensors parameters) {
    for (int i = 0; i < parameters.n; i++)
        if (parameters.list[i])
            return parameters.list[i]->ctx;
    return NULL;
}

dt_status dt__parameters_check(dt_ctx *ctx, dt_tensors parameters, double number) {
    const dt_mesh *mesh = NULL;
    for (int i = 0; i < parameters.n; i++) {
        dt_tensor *parameter = parameters.list[i];
        if (!parameter)
            return dt_failed(ctx) ? dt_error_status(ctx) : dt__fail(ctx, DT_ERR_VALUE, "parameter %d is NULL", i + 1);
        if (!DT__LIVE_ARGUMENT(DT__KIND_TENSOR, parameter, i + 1))
            return DT_ERR_STATE;
        if (parameter->ctx != ctx)
            return dt__fail(ctx, DT_ERR_STATE, "parameter %d belongs to another context", i + 1);
        if (parameter->spec && !(mesh && dt__mesh_same(parameter->spec->mesh, mesh)))
            DT__TRY(dt__fold_tensor(parameter, &(dt__call_details){.n_values = 2, .values = {number, parameters.n}}));
        mesh = parameter->spec ? parameter->spec->mesh : mesh;
    }
    return DT_OK;
}
