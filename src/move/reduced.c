/* SPDX-License-Identifier: Apache-2.0
 *
 * dt_reduced: resolves Partial to Replicate, in a model that is written once for one device and for meshes.
 */
#include "move/move.h"

#include "base/options.h"

/* The spec with Replicate for every Partial; a reference. */
static dt_spec *without_partials(dt_spec *spec) {
    dt_placement placements[DT_SPEC_MAX_DIMS];
    const int n = spec->sharding.n_mesh_dims;
    for (int m = 0; m < n; m++)
        placements[m] = dt_placement_is_partial(spec->sharding.placements[m])
                            ? (dt_placement){.kind = DT_PLACEMENT_REPLICATE}
                            : spec->sharding.placements[m];
    return dt_spec_new(spec->mesh, &(dt_spec_desc){.dtype = spec->dtype,
                                                   .n_dims = spec->sharding.n_dims,
                                                   .shape = spec->sharding.shape,
                                                   .n_placements = n,
                                                   .placements = placements,
                                                   .stride_order = spec->stride_order});
}

dt_tensor *dt_reduced_sized(dt_tensor *tensor, const dt_reduced_options *options, size_t options_size) {
    dt_reduced_options full;
    DT__ENTER_TENSOR_OPTIONS(tensor, "reduced", options, options_size, &full);
    if (DT__REFUSAL() != DT_OK || !options || !tensor || dt__check_current(tensor) != DT_OK)
        return NULL;
    if (!tensor->spec)
        return tensor;
    if (!dt__noted_read(tensor, &(dt__call_details){.text = options->place}))
        return NULL;
    dt_spec *to = options->place ? dt__spec_with(tensor->spec, tensor->spec->mesh, options->place)
                                 : without_partials(tensor->spec);
    dt_tensor *result = !to                  ? NULL
                        : to == tensor->spec ? tensor
                                             : dt__tensor_redistribute(tensor, to, DT__PLANNER_DIRECT);
    dt_spec_release(to);
    return result == tensor ? tensor : dt__made_from("redistribute", tensor, result, 0, NULL);
}
