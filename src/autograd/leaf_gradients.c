/* SPDX-License-Identifier: Apache-2.0
 *
 * Gradients of leaves that are not in their placement yet wait until the end of the walk, and then move together, in
 * one exchange per mesh. They move earlier if those of a mesh take more than MAX_WAITING_BYTES, as in a large model
 * with sharded parameters. Both follow from the specs, so that all ranks of a mesh move the same ones. Sums of partial
 * gradients overwrite them where nothing else has their memory.
 */
#include "autograd/gradient_walk.h"

#include "mesh/mesh.h"
#include "move/move.h"

enum { MAX_WAITING_BYTES = 32 << 20 };

dt_status dt__leaf_gradient_wait(dt__gradient_walk *walk, const dt__leaf_gradient *waiting) {
    dt_ctx *ctx = walk->ctx;
    if (walk->n_waiting == walk->waiting_capacity) {
        int capacity = 2 * walk->waiting_capacity + 16;
        size_t bytes = (size_t)capacity * sizeof *walk->waiting;
        dt__leaf_gradient *all = dt__resize(ctx, walk->waiting, (size_t)walk->waiting_capacity * sizeof *all, bytes);
        if (!all)
            return dt_spec_release(waiting->to), dt__fail_memory(ctx, bytes, "gradients");
        walk->waiting = all;
        walk->waiting_capacity = capacity;
    }
    waiting->leaf->head.n_refs++;
    walk->waiting[walk->n_waiting++] = *waiting;
    const dt_mesh *mesh = waiting->to->mesh;
    int64_t bytes = 0;
    for (int i = 0; i < walk->n_waiting; i++)
        bytes += dt__mesh_same(walk->waiting[i].to->mesh, mesh) ? walk->waiting[i].grad->spec->max_bytes : 0;
    return bytes > MAX_WAITING_BYTES ? dt__leaf_gradients_move(walk, mesh) : DT_OK;
}

dt_status dt__leaf_gradient_add(dt__gradient_walk *walk, dt__recorded_call *leaf, dt_tensor *grad) {
    dt_spec *to = dt__gradient_spec(leaf->tensors[0].spec);
    return to ? dt__leaf_gradient_wait(walk, &(dt__leaf_gradient){.leaf = leaf, .grad = grad, .to = to})
              : dt_error_status(walk->ctx);
}

/* Moves those of `own`, which belong to the caller, and stores them. */
static dt_status move(dt__gradient_walk *walk, int n, const dt__leaf_gradient *own, dt__arena *arena) {
    dt_tensor **from = DT__NEW_ARRAY(arena, dt_tensor *, n), **placed = DT__NEW_ARRAY(arena, dt_tensor *, n);
    dt_spec **to = DT__NEW_ARRAY(arena, dt_spec *, n);
    if (!from || !to || !placed)
        return DT_ERR_MEMORY;
    for (int i = 0; i < n; i++) {
        from[i] = own[i].grad;
        to[i] = own[i].to;
    }
    DT__TRY(dt__tensors_redistribute(walk->ctx, n, from, to, true, placed));
    for (int i = 0; i < n; i++) {
        dt_drop(from[i]);
        if (own[i].joins) {
            DT__TRY(dt__leaf_gradient_join(walk, own[i].leaf, placed[i]));
            continue;
        }
        DT__TRY(dt__gradient_deliver(walk, own[i].leaf, 0, &placed[i]));
        dt_drop(placed[i]);
    }
    return DT_OK;
}

dt_status dt__leaf_gradients_move(dt__gradient_walk *walk, const dt_mesh *mesh) {
    dt__arena arena = dt__arena_new(walk->ctx);
    dt__leaf_gradient *own = DT__NEW_ARRAY(&arena, dt__leaf_gradient, walk->n_waiting + 1);
    int n = 0, n_left = 0;
    dt_status status = own ? DT_OK : DT_ERR_MEMORY;
    for (int i = 0; i < walk->n_waiting && own; i++)
        if (!mesh || dt__mesh_same(walk->waiting[i].to->mesh, mesh))
            own[n++] = walk->waiting[i];
        else
            walk->waiting[n_left++] = walk->waiting[i];
    if (own)
        walk->n_waiting = n_left;
    if (n)
        status = move(walk, n, own, &arena);
    for (int i = 0; i < n; i++) {
        dt_spec_release(own[i].to);
        dt__record_release(&own[i].leaf->head);
    }
    dt__arena_free(&arena);
    return status;
}

void dt__leaf_gradients_end(dt__gradient_walk *walk) {
    for (int i = 0; i < walk->n_waiting; i++) {
        dt_spec_release(walk->waiting[i].to);
        dt__record_release(&walk->waiting[i].leaf->head);
    }
    dt__free(walk->ctx, walk->waiting, (size_t)walk->waiting_capacity * sizeof *walk->waiting);
    walk->waiting = NULL;
    walk->n_waiting = walk->waiting_capacity = 0;
}
