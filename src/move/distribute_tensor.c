/* SPDX-License-Identifier: Apache-2.0
 *
 * dt_distribute_tensor: from a plain value to a distributed tensor. The source's value is a tensor on a mesh of one
 * rank, so distributing it is a redistribution between two meshes; where every rank has the value, it is one from
 * Replicate, and the shards keep the value's order of dims in memory. Of a source's value other ranks do not know it.
 */
#include "base/options.h"
#include "comm/comm.h"
#include "kernels/kernels.h"
#include "move/move.h"

#include <stdio.h>

/* The value is redistributed with R in place of P. */
struct target {
    dt_spec *requested, *moved;
    bool keeps; /* this rank keeps the value; otherwise it holds zeros */
};

static void drop_target(struct target *target) {
    dt_spec_release(target->requested);
    dt_spec_release(target->moved);
}

/* order: of the dims in memory; NULL: row-major. */
static dt_status make_target(const dt_tensor *value, dt_mesh *mesh, const char *place, const int *order,
                             struct target *out) {
    *out = (struct target){.keeps = true};
    dt_placement placements[DT_SPEC_MAX_DIMS] = {{.kind = DT_PLACEMENT_REPLICATE}};
    dt_spec_desc desc = {.dtype = value->dtype,
                         .n_dims = value->n_dims,
                         .shape = value->shape,
                         .text = place,
                         .n_placements = place ? 0 : dt_mesh_n_dims(mesh),
                         .placements = place ? NULL : placements,
                         .stride_order = order};
    out->requested = dt_spec_new(mesh, &desc);
    if (!out->requested)
        return dt_error_status(value->ctx);
    int64_t coordinate[DT_SPEC_MAX_DIMS];
    bool member = dt_mesh_coordinate(mesh, coordinate);
    for (int m = 0; m < dt_mesh_n_dims(mesh); m++) {
        const dt_placement *p = &out->requested->sharding.placements[m];
        bool partial = dt_placement_is_partial(*p);
        if (!partial)
            placements[m] = *p;
        else if (p->kind == DT_PLACEMENT_MASKED || (p->reduce != DT_SUM && p->reduce != DT_AVG)) {
            char text[16];
            (void)dt_placements_text(1, p, sizeof text, text);
            return dt__fail(
                value->ctx, DT_ERR_PLACEMENT,
                "distribute_tensor: cannot make this partial of a value: expected P(sum) or P(avg), got %s", text);
        } else if (p->reduce == DT_SUM && member && coordinate[m] != 0)
            out->keeps = false;
    }
    desc.text = NULL;
    desc.n_placements = dt_mesh_n_dims(mesh);
    desc.placements = placements;
    out->moved = dt_spec_new(mesh, &desc);
    return out->moved ? DT_OK : dt_error_status(value->ctx);
}

/* The spec of the value: on one rank, or on all. */
static dt_spec *source_spec(const dt_tensor *value, dt_mesh *mesh, const dt_distribute_tensor_options *o) {
    int64_t one = 1, first = 0, coordinate[DT_SPEC_MAX_DIMS] = {0};
    dt_placement placements[DT_SPEC_MAX_DIMS] = {{.kind = DT_PLACEMENT_REPLICATE}};
    dt_mesh *from = NULL;
    if (!o->everywhere) {
        first = o->source.given ? o->source.value : dt_mesh_rank_at(mesh, coordinate);
        if (!dt_mesh_coordinate_of(mesh, first, coordinate)) {
            (void)dt__fail(value->ctx, DT_ERR_MESH,
                           "distribute_tensor: source: expected a rank of mesh(%s), got %lld", dt_mesh_text(mesh),
                           (long long)first);
            return NULL;
        }
        from = dt_mesh_from_ranks(value->ctx, &first, &one, 1, NULL);
        if (!from)
            return NULL;
    }
    dt_mesh *holders = from ? from : mesh;
    dt_spec *spec = dt_spec_new(holders, &(dt_spec_desc){.dtype = value->dtype,
                                                         .n_dims = value->n_dims,
                                                         .shape = value->shape,
                                                         .n_placements = dt_mesh_n_dims(holders),
                                                         .placements = placements});
    dt_mesh_release(from);
    return spec;
}

/* A distributed value is accepted if it has the requested mesh and placements. */
static dt_tensor *accept_distributed(dt_tensor *value, dt_mesh *mesh, const char *place) {
    dt_spec *requested = dt__spec_with(value->spec, mesh, place);
    bool same = requested == value->spec;
    dt_spec_release(requested);
    if (!requested)
        return NULL;
    if (same)
        return value;
    char text[512];
    (void)dt_tensor_text(value, sizeof text, text);
    (void)dt__fail(value->ctx, DT_ERR_PLACEMENT,
                   "distribute_tensor: expected a plain tensor or one with these placements, got %s; dt_redistribute "
                   "changes placements",
                   text);
    return NULL;
}

static dt_tensor *distribute(dt_tensor *value, const struct target *target, dt_spec *from) {
    if (value->record && !value->record->is_leaf && value->ctx->recorder) {
        (void)dt__fail(
            value->ctx, DT_ERR_STATE,
            "distribute_tensor: expected a leaf, got the result of a call that is recorded, whose gradient "
            "would end here; use dt_detach, or dt_from_local");
        return NULL;
    }
    if (dt__call_is_noted(value->ctx) && dt__note_public_call(target->requested, NULL) != DT_OK)
        return NULL;
    dt_tensor *result = dt__tensor_of_spec(target->requested);
    if (!result)
        return NULL;
    bool holds = from->local.member;
    dt__redistribution redistribution = {.from = from,
                                         .to = target->moved,
                                         .src = holds ? value->data : NULL,
                                         .src_strides = holds ? value->strides : NULL,
                                         .dst = result->data,
                                         .planner = DT__PLANNER_DIRECT};
    dt_status status = dt__redistribute_run(&redistribution);
    if (status != DT_OK) {
        dt_drop(result);
        return NULL;
    }
    if (!target->keeps && result->data) {
        unsigned char zero[16] = {0};
        dt__spread_fill(dt__kernels_of(value->ctx), dt__pool_of(value->ctx), result->data, zero, 1,
                        (int64_t)result->storage->bytes);
    }
    if (value->record && dt_set_requires_grad(result, true) != DT_OK) { /* a leaf, whatever the value is */
        dt_drop(result);
        return NULL;
    }
    return result;
}

dt_tensor *dt_distribute_tensor_sized(dt_tensor *value, dt_mesh *mesh, const char *place,
                                      const dt_distribute_tensor_options *options, size_t options_size) {
    dt_distribute_tensor_options full;
    DT__ENTER_OPTIONS(dt_tensor_ctx(value), "distribute_tensor", options, options_size, &full);
    if (DT__REFUSAL() != DT_OK)
        return NULL;
    value = DT__LIVE(DT__KIND_TENSOR, value);
    if (!options)
        return NULL;
    if (!value || (mesh && !DT__LIVE(DT__KIND_MESH, mesh)))
        return NULL;
    mesh = mesh ? mesh : dt_mesh_current(value->ctx);
    if (!mesh) {
        (void)dt__fail(value->ctx, DT_ERR_MESH,
                       "distribute_tensor: mesh: expected a mesh, got NULL and there is no current mesh");
        return NULL;
    }
    if (!dt__check_context(value->ctx, "distribute_tensor", "mesh", dt_mesh_ctx(mesh)))
        return NULL;
    if (dt__check_current(value) != DT_OK)
        return NULL;
    if (value->spec) {
        dt_tensor *accepted = accept_distributed(value, mesh, place);
        bool used = !accepted || !options->use || dt__set_use(accepted, options->use) == DT_OK;
        return used ? accepted : NULL;
    }
    struct target target;
    dt_tensor *result = NULL;
    int order[DT_SPEC_MAX_DIMS];
    dt__stride_order_of(value->n_dims, value->shape, value->strides, order);
    const bool keeps_order = options->everywhere && dt__is_permuted(value->n_dims, value->strides);
    if (make_target(value, mesh, place, keeps_order ? order : NULL, &target) == DT_OK) {
        dt_spec *from = source_spec(value, mesh, options);
        if (from)
            result = distribute(value, &target, from);
        dt_spec_release(from);
    }
    drop_target(&target);
    return dt__with_use(result, options->use);
}
