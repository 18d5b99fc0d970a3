/* SPDX-License-Identifier: Apache-2.0
 *
 * Gradients of recorded functions that are not ops. Functions that convert between plain and distributed tensors, or
 * between placements, do the opposite with the gradient:
 *
 *     y = redistribute(x)   the gradient of y, as it was summed, goes to the placement of the gradient of x in one
 *                           step: of a shard that was gathered and is used in partial sums, a reduce-scatter
 *     y = from_local(x)     the local tensor of the gradient of y, in its placement or in grad_place
 *     y = to_local(x)       the gradient of y is a local tensor of the gradient of x, in its placement or in grad_place
 *     y = full_tensor(x)    the same with Replicate
 *     y = as_strided(x)     the gradient of y at the addresses of x (shared_storage.c)
 *
 * A function that overwrites a tensor, such as dt_normal_, passes no gradient on.
 */
#include "autograd/gradient_walk.h"

#include "mesh/mesh.h"
#include "move/move.h"

#include <string.h>

/* Computes the gradient of an input from that of y, which belongs to the caller. */
typedef dt_tensor *gradient_fn(const dt__backward_call *call, int input, dt_tensor *grad);

static dt_tensor *of_redistribute(const dt__backward_call *call, int i, dt_tensor *grad) {
    const dt__recorded_tensor *input = &call->record->tensors[i];
    const dt__recorded_call *record = call->record;
    dt_dtype dtype = record->n_numbers ? (dt_dtype)record->numbers[0] : input->dtype;
    dt_tensor *own = dt__share_handle(grad);
    if (own && own->dtype != dtype) {
        dt_tensor *converted = dt__gradient_convert(own, dtype);
        dt_drop(own);
        own = converted;
    }
    if (!own)
        return NULL;
    /* On one mesh the gradient is added to the other gradients of x without moving, and moves with them. */
    bool moves_later =
        own->spec && input->spec && dt__mesh_same(own->spec->mesh, input->spec->mesh) && dtype == input->dtype;
    if (moves_later || !own->spec || !input->spec || dt__gradient_is_placed(own, input->spec))
        return own;
    return dt__gradient_place(own, input->spec);
}

/* The spec that a gradient is moved to on its way to `expected`: Replicate where a partial begins. *keeps is false on
 * ranks that then hold zeros. */
static dt_spec *before_partials(const dt_spec *from, const dt_spec *expected, bool *keeps) {
    dt_placement placements[DT_SPEC_MAX_DIMS];
    int64_t coordinate[DT_SPEC_MAX_DIMS] = {0};
    bool member = dt_mesh_coordinate(expected->mesh, coordinate);
    *keeps = member;
    for (int m = 0; m < expected->sharding.n_mesh_dims; m++) {
        placements[m] = expected->sharding.placements[m];
        if (!dt_placement_is_partial(placements[m]) ||
            dt_placement_equal(&placements[m], &from->sharding.placements[m]))
            continue;
        *keeps = *keeps && (placements[m].reduce != DT_SUM || coordinate[m] == 0);
        placements[m] = dt_placement_replicate();
    }
    return dt_spec_new(expected->mesh, &(dt_spec_desc){.dtype = from->dtype,
                                                       .n_dims = from->sharding.n_dims,
                                                       .shape = from->sharding.shape,
                                                       .n_placements = expected->sharding.n_mesh_dims,
                                                       .placements = placements,
                                                       .stride_order = expected->stride_order});
}

/* A gradient in the placements that the program stated. Where a partial sum begins, the first coordinate holds the
 * value and the others hold zeros. */
static dt_tensor *place_as_stated(dt_tensor *grad, dt_spec *expected) {
    bool keeps;
    dt_spec *whole = before_partials(grad->spec, expected, &keeps);
    dt_tensor *moved = whole ? dt__tensor_redistribute(grad, whole, DT__PLANNER_DIRECT) : NULL;
    dt_tensor *placed = moved && whole != expected ? dt__tensor_of_spec(expected) : moved;
    if (placed && placed != moved && placed->data) {
        const dt_local *local = &expected->local;
        dt_ctx *ctx = grad->ctx;
        if (keeps)
            dt__spread_copy(dt__kernels_of(ctx), dt__pool_of(ctx),
                            &(dt__strided){placed->data, moved->data, dt_dtype_size(grad->dtype), local->n_dims,
                                           local->shape, placed->strides, moved->strides},
                            DT__CACHED);
        else
            dt__spread_fill(dt__kernels_of(ctx), dt__pool_of(ctx), placed->data, (unsigned char[16]){0},
                            dt_dtype_size(grad->dtype), local->elements);
    }
    if (moved != placed)
        dt_drop(moved);
    dt_spec_release(whole);
    return dt__made_from("redistribute", grad, placed, 0, NULL);
}

/* The handle on the local tensor; a call of its own in the record if the graph is recorded. */
static dt_tensor *of_from_local(const dt__backward_call *call, int input, dt_tensor *grad) {
    (void)input;
    dt_spec *expected = call->record->grad_spec;
    if (!expected || grad->spec == expected)
        return dt_to_local(grad);
    dt_tensor *placed = place_as_stated(grad, expected);
    dt_tensor *local = placed ? dt_to_local(placed) : NULL;
    dt_drop(placed);
    return local;
}

/* A distributed handle on a local tensor. */
static dt_tensor *wrap(dt_tensor *local, dt_spec *spec) {
    if (!spec)
        return NULL;
    dt_tensor *result = spec->local.member
                            ? dt__tensor_wrap(spec, local->storage, dt__tensor_offset(local),
                                              local->n_dims == spec->local.n_dims ? local->strides : NULL)
                            : dt__tensor_of_spec(spec);
    return dt__made_from("from_local", local, result, 0, NULL);
}

static dt_tensor *of_to_local(const dt__backward_call *call, int input, dt_tensor *grad) {
    (void)input;
    const dt__recorded_call *record = call->record;
    dt_spec *spec =
        record->grad_spec ? dt_spec_retain(record->grad_spec) : dt__gradient_spec(record->tensors[0].spec);
    dt_tensor *result = wrap(grad, spec);
    dt_spec_release(spec);
    return result;
}

static dt_tensor *of_full_tensor(const dt__backward_call *call, int input, dt_tensor *grad) {
    (void)input;
    const dt__recorded_call *record = call->record;
    dt_spec *of = record->tensors[0].spec;
    dt_spec *spec = record->grad_spec ? dt_spec_retain(record->grad_spec) : dt__spec_with(of, of->mesh, NULL);
    dt_tensor *result = wrap(grad, spec);
    dt_spec_release(spec);
    return result;
}

static const struct {
    const char *name;
    gradient_fn *gradient;
    bool places; /* brings the gradient of y elsewhere itself */
} functions[] = {
    {"redistribute", of_redistribute, true},
    {"from_local", of_from_local, false},
    {"to_local", of_to_local, false},
    {"full_tensor", of_full_tensor, false},
    {"as_strided", dt__gradient_of_as_strided, false},
    {"overlay", dt__gradient_of_overlay, false},
    {"overlap", dt__gradient_of_overlap, false},
};
enum { N_FUNCTIONS = sizeof functions / sizeof *functions };

static int find_function(const char *name) {
    int f = 0;
    while (f < N_FUNCTIONS && strcmp(functions[f].name, name) != 0)
        f++;
    return f;
}

bool dt__function_places_gradient(const dt__recorded_call *record) {
    if (record->info || !record->name)
        return false;
    int f = find_function(record->name);
    return f < N_FUNCTIONS && (functions[f].places || (record->grad_spec && !strcmp(record->name, "from_local")));
}

dt_status dt__function_gradient(const dt__backward_call *call, int input, dt_tensor **out) {
    const dt__recorded_call *record = call->record;
    int f = find_function(record->name);
    *out = NULL;
    if (f < N_FUNCTIONS)
        return (*out = functions[f].gradient(call, input, call->grads[0])) ? DT_OK : dt_error_status(call->ctx);
    if (record->is_in_place)
        return DT_OK;
    return dt__fail(call->ctx, DT_ERR_UNSUPPORTED, "%s has no gradient", record->name);
}
