/* SPDX-License-Identifier: Apache-2.0
 *
 * Parameters that are tied across the stages of a pipeline are equal copies on several meshes. Their gradients are
 * added up in the order of the list on each mesh, so that all copies get the same bits.
 */
#include "train/train.h"

#include "dtensor/redistribute.h"
#include "mesh/mesh.h"

#include <string.h>

/* The copies of one parameter, the original first. */
typedef struct tied_copies {
    dt_ctx *ctx;
    int n;
    dt_tensor **parameters, **totals; /* totals: on the meshes that this rank is in */
} tied_copies;

static bool is_member(const dt_tensor *tensor) {
    int64_t coordinate[DT_MESH_MAX_DIMS];
    return dt_mesh_coordinate(tensor->spec->mesh, coordinate);
}

/* Copy `from` of the gradient where copy `to` is; an empty tensor on a rank that has neither. */
static dt_tensor *moved(const tied_copies *self, int from, int to) {
    const dt_spec *target = self->parameters[to]->spec;
    dt_tensor *grad = dt_grad(self->parameters[from]);
    char place[512];
    if (is_member(self->parameters[from]) && !grad) {
        (void)dt__fail(self->ctx, DT_ERR_STATE, "a tied parameter has no gradient: expected a stage that uses it");
        return NULL;
    }
    if (from == to)
        return grad;
    if (!grad)
        grad = dt__tensor_of_spec(self->parameters[from]->spec);
    (void)dt_placements_text(target->sharding.n_mesh_dims, target->sharding.placements, sizeof place, place);
    return grad ? dt_redistribute(grad, place, .mesh = target->mesh) : NULL;
}

/* Ranks that have neither copy of a pair do not take part in its move. */
static dt_status add_one(tied_copies *self, int from, int to) {
    const bool receives = is_member(self->parameters[to]);
    if (!receives && (from == to || !is_member(self->parameters[from])))
        return DT_OK;
    dt_tensor *grad = moved(self, from, to);
    if (grad && receives)
        self->totals[to] = self->totals[to] ? dt_add(self->totals[to], grad) : grad;
    return dt_error_status(self->ctx);
}

static dt_status sum_copies(tied_copies *self) {
    for (int to = 0; to < self->n; to++)
        for (int from = 0; from < self->n; from++)
            DT__TRY(add_one(self, from, to));
    for (int i = 0; i < self->n; i++)
        if (self->totals[i] && !dt_copy_(dt_grad(self->parameters[i]), self->totals[i]))
            return dt_error_status(self->ctx);
    return DT_OK;
}

static dt_status find_copies(dt__arena *arena, const dt_params *params, int first, tied_copies *out) {
    const int n = dt_params_n(params);
    *out = (tied_copies){.ctx = dt__params_ctx(params), .n = 0};
    for (int i = first; i < n; i++)
        out->n += i == first || dt__params_original(params, i) == first;
    if (out->n < 2)
        return DT_OK;
    out->parameters = DT__NEW_ARRAY(arena, dt_tensor *, out->n);
    out->totals = DT__NEW_ARRAY(arena, dt_tensor *, out->n);
    if (!out->parameters || !out->totals)
        return DT_ERR_MEMORY;
    for (int i = first, k = 0; i < n; i++)
        if (i == first || dt__params_original(params, i) == first)
            out->parameters[k++] = dt_params_tensor(params, i);
    return DT_OK;
}

dt_status dt__tied_gradients_sum(dt_params *params) {
    dt_ctx *ctx = dt__params_ctx(params);
    dt__arena arena = dt__arena_new(ctx);
    dt__training_setting setting = dt__training_begin(ctx);
    dt_scope scope = dt_scope_begin(ctx);
    dt_status status = DT_OK;
    for (int i = 0; i < dt_params_n(params) && status == DT_OK; i++) {
        tied_copies copies;
        status = find_copies(&arena, params, i, &copies);
        if (status == DT_OK && copies.n > 1 && dt_requires_grad(copies.parameters[0]))
            status = sum_copies(&copies);
    }
    dt_scope_end(scope);
    dt__training_end(&setting);
    dt__arena_free(&arena);
    return status;
}
