/* SPDX-License-Identifier: Apache-2.0
 *
 * Turns the result of a formula into the gradient of a tensor, with its shape, dtype and placements. A formula may
 * return any placements, partial sums included. The results of all consumers are summed as they are, and the sum is
 * brought to the placement of the gradient once.
 */
#include "autograd/gradient_walk.h"

#include "base/dtype.h"
#include "mesh/mesh.h"
#include "move/move.h"

dt_spec *dt__gradient_spec(dt_spec *spec) {
    dt_placement placements[DT_SPEC_MAX_DIMS];
    bool partial = false;
    for (int m = 0; m < spec->sharding.n_mesh_dims; m++) {
        placements[m] = spec->sharding.placements[m];
        if (!dt_placement_is_partial(placements[m]))
            continue;
        placements[m] = (dt_placement){.kind = DT_PLACEMENT_REPLICATE};
        partial = true;
    }
    if (!partial)
        return dt_spec_retain(spec);
    return dt_spec_new(spec->mesh, &(dt_spec_desc){.dtype = spec->dtype,
                                                   .n_dims = spec->sharding.n_dims,
                                                   .shape = spec->sharding.shape,
                                                   .n_placements = spec->sharding.n_mesh_dims,
                                                   .placements = placements,
                                                   .stride_order = spec->stride_order});
}

dt_tensor *dt__share_handle(dt_tensor *tensor) {
    dt_tensor *other = dt__tensor_alias(tensor);
    if (other && tensor->record) {
        tensor->record->n_refs++;
        other->record = tensor->record;
        other->output = tensor->output;
    }
    return other;
}

dt_tensor *dt__constant_gradient(dt_ctx *ctx, const dt__recorded_tensor *of, double value) {
    unsigned char element[16] = {0};
    dt_tensor *result;
    if (of->spec) {
        dt_spec *spec = dt__gradient_spec(of->spec);
        result = spec ? dt__tensor_of_spec(spec) : NULL;
        dt_spec_release(spec);
    } else
        result = dt__tensor_new(ctx, "backward", of->dtype, of->n_dims, of->sizes);
    dt__write_f64(of->dtype, value, element);
    if (result && result->data)
        dt__spread_fill(dt__kernels_of(ctx), dt__pool_of(ctx), result->data, element, dt_dtype_size(of->dtype),
                        dt_tensor_local_elements(result));
    return result;
}

/* Returns the result and drops the tensor that it replaces. */
static dt_tensor *replace(dt_tensor *tensor, dt_tensor *result) {
    if (result != tensor)
        dt_drop(tensor);
    return result;
}

/* Sums the dims along which the tensor was broadcast. */
static dt_tensor *sum_to(dt_tensor *grad, int n_dims, const int64_t *shape) {
    int64_t dims[DT_SPEC_MAX_DIMS];
    int extra = grad->n_dims - n_dims, n = 0;
    for (int d = 0; d < extra; d++)
        dims[d] = d;
    if (extra > 0)
        grad = replace(grad, dt__gradient_reduce(grad, extra, dims, false));
    for (int d = 0; grad && d < n_dims; d++)
        if (shape[d] == 1 && grad->shape[d] != 1)
            dims[n++] = d;
    return grad && n ? replace(grad, dt__gradient_reduce(grad, n, dims, true)) : grad;
}

static bool same_shape(const dt_tensor *grad, int n_dims, const int64_t *shape) {
    for (int d = 0; d < n_dims && grad->n_dims == n_dims; d++)
        if (grad->shape[d] != shape[d])
            return false;
    return grad->n_dims == n_dims;
}

static dt_tensor *refuse_shape(dt_tensor *grad, const dt__recorded_tensor *to) {
    char expected[256], actual[256];
    (void)dt__fail(grad->ctx, DT_ERR_SHAPE, "the gradient does not fit its tensor: expected [%s], got [%s]",
                   dt__shape_text(to->n_dims, dt__recorded_shape(to), sizeof expected, expected),
                   dt__shape_text(grad->n_dims, grad->shape, sizeof actual, actual));
    dt_drop(grad);
    return NULL;
}

dt_tensor *dt__gradient_fit(dt_tensor *grad, const dt__recorded_tensor *to) {
    const int64_t *shape = dt__recorded_shape(to);
    if (!same_shape(grad, to->n_dims, shape)) {
        if (grad->n_dims < to->n_dims || !(grad = sum_to(grad, to->n_dims, shape)))
            return grad ? refuse_shape(grad, to) : NULL;
        if (!same_shape(grad, to->n_dims, shape))
            return refuse_shape(grad, to);
    }
    if (grad->dtype != to->dtype && !(grad = replace(grad, dt__gradient_convert(grad, to->dtype))))
        return NULL;
    if (grad->spec && !to->spec)
        return replace(grad, dt_full_tensor(grad));
    if (!grad->spec && to->spec) /* plain: the same on every rank */
        return replace(grad, dt_from_local(grad->ctx, grad, to->spec->mesh, NULL));
    return grad;
}

bool dt__gradient_is_placed(const dt_tensor *grad, const dt_spec *to) {
    static const dt_placement replicate = {.kind = DT_PLACEMENT_REPLICATE};
    const dt_spec *from = grad->spec;
    if (!from || !to)
        return true;
    if (!dt__mesh_same(from->mesh, to->mesh))
        return false;
    for (int m = 0; m < to->sharding.n_mesh_dims; m++) {
        const dt_placement *placement = &to->sharding.placements[m];
        if (!dt_placement_equal(dt_placement_is_partial(*placement) ? &replicate : placement,
                                &from->sharding.placements[m]))
            return false;
    }
    return true;
}

dt_tensor *dt__gradient_place(dt_tensor *grad, dt_spec *to) {
    dt_spec *spec = dt__gradient_spec(to), *own = spec;
    dt_tensor *placed = NULL;
    if (spec && spec->dtype != grad->dtype) {
        spec = dt__spec_with_dtype(own, grad->dtype);
        dt_spec_release(own);
    }
    if (spec)
        placed =
            dt__made_from("redistribute", grad, dt__tensor_redistribute(grad, spec, DT__PLANNER_DIRECT), 0, NULL);
    dt_spec_release(spec);
    dt_drop(grad);
    return placed;
}
