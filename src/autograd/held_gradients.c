/* SPDX-License-Identifier: Apache-2.0
 *
 * Gradients of leaves that are held: they stay partial sums along some mesh dims, so that the micro-batches of a step
 * take one reduction along these. Along the other dims each walk brings its gradient to its placement before adding it
 * to the held one; hybrid sharding, for example, reduces over fsdp in every walk and over dp in the last. The first
 * walk that holds nothing moves the sum. All of this follows from specs, so that all ranks of a mesh do the same.
 */
#include "autograd/gradient_walk.h"

#include "mesh/mesh.h"

#include <string.h>

bool dt__gradient_is_held(const dt_tensor *grad) {
    for (int m = 0; grad && grad->spec && m < grad->spec->sharding.n_mesh_dims; m++)
        if (dt_placement_is_partial(grad->spec->sharding.placements[m]))
            return true;
    return false;
}

/* The next name of a list, without blanks; its length, 0 at the end. */
static size_t next_name(const char **at) {
    *at += strspn(*at, " ,");
    return strcspn(*at, " ,");
}

static bool is_dim(const dt_mesh *mesh, int m, const char *name, size_t n) {
    const char *own = dt_mesh_dim_name(mesh, m);
    return own && strlen(own) == n && !strncmp(own, name, n);
}

static bool names_dim(const char *hold, const dt_mesh *mesh, int m) {
    for (size_t n; (n = next_name(&hold)) > 0; hold += n)
        if (is_dim(mesh, m, hold, n))
            return true;
    return false;
}

static bool has_leaf_with(const dt__gradient_walk *walk, const char *name, size_t n) {
    for (int i = 0; i < walk->records.n; i++) {
        const dt_spec *spec = walk->records.list[i]->head.is_leaf ? walk->records.list[i]->tensors[0].spec : NULL;
        for (int m = 0; spec && m < spec->sharding.n_mesh_dims; m++)
            if (is_dim(spec->mesh, m, name, n))
                return true;
    }
    return false;
}

dt_status dt__hold_check(const dt__gradient_walk *walk) {
    const char *at = walk->hold;
    if (!next_name(&at))
        return dt__fail(walk->ctx, DT_ERR_VALUE, "hold: expected names of mesh dims, got '%s'", walk->hold);
    for (size_t n; (n = next_name(&at)) > 0; at += n)
        if (!has_leaf_with(walk, at, n))
            return dt__fail(walk->ctx, DT_ERR_VALUE, "hold: no mesh of a leaf has a dim '%.*s'", (int)n, at);
    return DT_OK;
}

static bool is_sum(const dt_placement *placement) {
    return dt_placement_is_partial(*placement) && placement->reduce == DT_SUM;
}

/* The spec in which the walk holds a new gradient; NULL in *out: it holds none. */
static dt_status find_held_spec(const dt__gradient_walk *walk, const dt__recorded_call *leaf, const dt_spec *from,
                                dt_spec **out) {
    dt_placement placements[DT_SPEC_MAX_DIMS];
    dt_spec *to = dt__gradient_spec(leaf->tensors[0].spec);
    bool any = false;
    *out = NULL;
    if (!to)
        return dt_error_status(walk->ctx);
    for (int m = 0; m < to->sharding.n_mesh_dims; m++) {
        bool held = is_sum(&from->sharding.placements[m]) && names_dim(walk->hold, to->mesh, m);
        placements[m] = held ? from->sharding.placements[m] : to->sharding.placements[m];
        any = any || held;
    }
    if (any)
        *out = dt_spec_new(to->mesh, &(dt_spec_desc){.dtype = to->dtype,
                                                     .n_dims = to->sharding.n_dims,
                                                     .shape = to->sharding.shape,
                                                     .n_placements = to->sharding.n_mesh_dims,
                                                     .placements = placements,
                                                     .stride_order = to->stride_order});
    dt_spec_release(to);
    return any && !*out ? dt_error_status(walk->ctx) : DT_OK;
}

/* Whether a gradient can move to the spec of the held one: it must be partial where that is partial. */
static bool can_join(const dt_spec *from, const dt_spec *held) {
    for (int m = 0; m < held->sharding.n_mesh_dims; m++)
        if (dt_placement_is_partial(held->sharding.placements[m]) &&
            !dt_placement_equal(&from->sharding.placements[m], &held->sharding.placements[m]))
            return false;
    return true;
}

/* Completes the held gradient, so that one that cannot be added to a partial sum can be added to it. */
static dt_status complete(dt__gradient_walk *walk, const dt__recorded_call *leaf, dt__gradient_slot *slot) {
    dt_tensor *own = dt__share_handle(slot->grad),
              *placed = own ? dt__gradient_place(own, leaf->tensors[0].spec) : NULL;
    if (!placed)
        return dt_error_status(walk->ctx);
    dt_tensor_release(slot->grad);
    slot->grad = dt_tensor_retain(placed);
    dt__storage_set_kind(placed->storage, DT_MEMORY_GRADIENTS);
    dt_drop(placed);
    return DT_OK;
}

dt_status dt__leaf_gradient_join(dt__gradient_walk *walk, dt__recorded_call *leaf, dt_tensor *grad) {
    dt__gradient_slot *slot = dt__gradient_slot_find(leaf, 0, false);
    if (!slot && !(slot = dt__gradient_slot_new(leaf, 0)))
        return dt_error_status(walk->ctx);
    DT__TRY(dt__gradient_store(walk, slot, grad));
    dt_drop(grad);
    slot->grad->storage->is_held = walk->hold;
    if (walk->hold)
        return DT_OK;
    dt_tensor *sum = dt__share_handle(slot->grad);
    if (!sum)
        return dt_error_status(walk->ctx);
    dt_tensor_release(slot->grad);
    slot->grad = NULL;
    return dt__leaf_gradient_add(walk, leaf, sum);
}

dt_status dt__leaf_gradient_hold(dt__gradient_walk *walk, dt__recorded_call *leaf, dt_tensor *grad, bool *taken) {
    const dt_spec *own = leaf->tensors[0].spec;
    dt__gradient_slot *slot = dt__gradient_slot_find(leaf, 0, false);
    bool held = slot && dt__gradient_is_held(slot->grad);
    dt_spec *to = NULL;
    *taken = false;
    if ((!held && !walk->hold) || walk->only_needed || !own || !grad->spec)
        return DT_OK;
    if (held && dt__mesh_same(grad->spec->mesh, own->mesh) && can_join(grad->spec, slot->grad->spec))
        to = dt_spec_retain(slot->grad->spec);
    else if (held)
        DT__TRY(complete(walk, leaf, slot));
    else if (!(slot && slot->grad) && dt__mesh_same(grad->spec->mesh, own->mesh))
        DT__TRY(find_held_spec(walk, leaf, grad->spec, &to));
    if (!to)
        return DT_OK;
    *taken = true;
    if (grad->spec != to)
        return dt__leaf_gradient_wait(walk,
                                      &(dt__leaf_gradient){.leaf = leaf, .grad = grad, .to = to, .joins = true});
    dt_spec_release(to);
    return dt__leaf_gradient_join(walk, leaf, grad);
}
