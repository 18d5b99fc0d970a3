/* SPDX-License-Identifier: Apache-2.0
 *
 * dt_from_local: local tensors become a distributed one. The global shape is given, follows from this rank's local
 * tensor (all have the same shape), or is computed from the gathered shapes of all ranks.
 */
#include "base/options.h"
#include "base/size.h"
#include "mesh/mesh.h"
#include "move/move.h"
#include "spec/spec.h"

#include <string.h>

/* The global tensor, as far as it is known. */
struct global_tensor {
    dt_ctx *ctx;
    dt_mesh *mesh;
    const dt_tensor *local; /* NULL: this rank is not in the mesh */
    int n_placements;
    dt_placement *placements; /* with dims counted from 0 */
    int n_dims;
    int64_t shape[DT_SPEC_MAX_DIMS];
    int order[DT_SPEC_MAX_DIMS];
    int64_t n_ranks; /* with check, on a rank of the mesh: */
    int64_t *ranks;
    const int64_t *all; /* N_GATHERED numbers of each */
    dt__arena arena;
};

static bool cuts(const dt_placement *p) { return dt_placement_is_shard(*p) || dt_placement_is_strided(*p); }

static dt_status refuse(struct global_tensor *global, dt_status status, const char *why) {
    char text[256] = "no tensor";
    if (global->local)
        (void)dt_tensor_text(global->local, sizeof text, text);
    return dt__fail(global->ctx, status, "from_local: %s %s", text, why);
}

/* Explicit sizes along the one dim that is sharded. */
static dt_status use_extents(struct global_tensor *global, const int64_t *extents, bool have_shape) {
    int cut = -1;
    for (int m = 0; m < global->n_placements; m++)
        if (cuts(&global->placements[m])) {
            if (cut >= 0)
                return refuse(global, DT_ERR_PLACEMENT,
                              "with extents: expected one mesh dim that shards it, got several");
            cut = m;
        }
    if (cut < 0)
        return refuse(global, DT_ERR_PLACEMENT, "with extents: expected one mesh dim that shards it, got none");
    int64_t n = dt_mesh_dim_size(global->mesh, cut), total = 0;
    for (int64_t i = 0; i < n; i++)
        if (extents[i] < 0 || !dt__add_i64(total, extents[i], &total))
            return dt__fail(global->ctx, DT_ERR_VALUE, "from_local: extent %lld of %lld: expected a size, got %lld",
                            (long long)i, (long long)n, (long long)extents[i]);
    int64_t *size = &global->shape[global->placements[cut].dim];
    if (have_shape && *size != total)
        return dt__fail(global->ctx, DT_ERR_SHAPE,
                        "from_local: the extents do not add up to the size: expected %lld, got %lld",
                        (long long)*size, (long long)total);
    global->placements[cut].n_extents = n;
    global->placements[cut].extents = extents;
    *size = total;
    return DT_OK;
}

/* Every rank's local tensor has the shape of this one. */
static dt_status infer_shape(struct global_tensor *global, bool have_extents) {
    for (int m = 0; m < global->n_placements; m++) {
        const dt_placement *p = &global->placements[m];
        if (!cuts(p) || have_extents)
            continue;
        int64_t *size = &global->shape[p->dim];
        if (p->n_extents) {
            *size = 0;
            for (int64_t i = 0; i < p->n_extents; i++)
                *size += p->extents[i]; /* the spec refuses overflows */
        } else if (!dt__mul_i64(*size, dt_mesh_dim_size(global->mesh, m), size))
            return refuse(global, DT_ERR_SHAPE, "on every rank: the size of a dim overflows 64 bits");
    }
    return DT_OK;
}

/* What is gathered of each rank. */
enum {
    GATHERED_DTYPE,
    GATHERED_DIMS,
    GATHERED_GRAD,
    GATHERED_VALUES, /* a hash */
    GATHERED_SHAPE,
    GATHERED_ORDER = GATHERED_SHAPE + DT_SPEC_MAX_DIMS
};
enum { N_GATHERED = GATHERED_ORDER + DT_SPEC_MAX_DIMS };

static dt_status gather_locals(struct global_tensor *global) {
    int64_t n = dt_mesh_size(global->mesh);
    int64_t *ranks = DT__NEW_ARRAY(&global->arena, int64_t, n);
    int64_t *all = ranks ? DT__NEW_ARRAY(&global->arena, int64_t, (n + 1) * N_GATHERED) : NULL;
    if (!all)
        return DT_ERR_MEMORY;
    dt_mesh_ranks(global->mesh, ranks);
    dt_group *group = dt_group_new(global->ctx, ranks, n);
    if (!group)
        return dt_error_status(global->ctx);
    const dt_tensor *local = global->local;
    uint64_t values;
    if (dt__hash_values(local, &values) != DT_OK)
        return dt_group_release(group), dt_error_status(global->ctx);
    int64_t *mine = all + n * N_GATHERED;
    memset(mine, 0, N_GATHERED * sizeof *mine);
    int order[DT_SPEC_MAX_DIMS];
    dt__stride_order_of(local->n_dims, local->shape, local->strides, order);
    mine[GATHERED_DTYPE] = local->dtype;
    mine[GATHERED_DIMS] = local->n_dims;
    mine[GATHERED_GRAD] = local->record != NULL;
    mine[GATHERED_VALUES] = (int64_t)values;
    for (int d = 0; d < local->n_dims; d++) {
        mine[GATHERED_SHAPE + d] = local->shape[d];
        mine[GATHERED_ORDER + d] = order[d];
    }
    dt_status status = dt__comm_run_on_mesh(
        group, &(dt_comm_call){.op = DT_ALL_GATHER, .src = mine, .dst = all, .count = N_GATHERED, .dtype = DT_I64},
        dt__mesh_history(global->mesh));
    dt_group_release(group);
    global->n_ranks = n;
    global->ranks = ranks;
    global->all = all;
    return status;
}

static dt_status refuse_difference(struct global_tensor *global, int64_t a, int64_t b, const char *property) {
    return dt__fail(global->ctx, DT_ERR_VALUE, "from_local: the local tensors of ranks %lld and %lld differ in %s",
                    (long long)a, (long long)b, property);
}

/* Sizes along a dim that one mesh dim shards become its extents. */
static dt_status find_extents(struct global_tensor *global, int m) {
    dt_placement *p = &global->placements[m];
    int64_t n_shards = dt_mesh_dim_size(global->mesh, m), total = 0, coordinate[DT_SPEC_MAX_DIMS];
    int64_t *extents = DT__NEW_ARRAY(&global->arena, int64_t, n_shards);
    if (!extents)
        return DT_ERR_MEMORY;
    for (int64_t i = 0; i < global->n_ranks; i++) {
        (void)dt_mesh_coordinate_of(global->mesh, global->ranks[i], coordinate);
        extents[coordinate[m]] = global->all[i * N_GATHERED + GATHERED_SHAPE + p->dim];
    }
    for (int64_t i = 0; i < n_shards; i++)
        if (!dt__add_i64(total, extents[i], &total))
            return refuse(global, DT_ERR_SHAPE, "and those of its peers: the size of a dim overflows 64 bits");
    p->n_extents = n_shards;
    p->extents = extents;
    global->shape[p->dim] = total;
    return DT_OK;
}

static int n_cuts(const struct global_tensor *global, int dim) {
    int n = 0;
    for (int m = 0; m < global->n_placements; m++)
        n += cuts(&global->placements[m]) && global->placements[m].dim == dim;
    return n;
}

/* The size of a dim that several mesh dims shard: the sum over one rank for each of their coordinates. */
static int64_t total_of(const struct global_tensor *global, int dim) {
    int64_t total = 0, coordinate[DT_SPEC_MAX_DIMS];
    for (int64_t i = 0; i < global->n_ranks; i++) {
        (void)dt_mesh_coordinate_of(global->mesh, global->ranks[i], coordinate);
        bool first = true;
        for (int m = 0; m < global->n_placements; m++)
            first =
                first && ((cuts(&global->placements[m]) && global->placements[m].dim == dim) || coordinate[m] == 0);
        if (first)
            total += global->all[i * N_GATHERED + GATHERED_SHAPE + dim];
    }
    return total;
}

/* Compares what does not depend on placements. All ranks have the same numbers, so all find the same error, here and
 * below. */
static dt_status compare_locals(struct global_tensor *global) {
    static const struct {
        int at;
        const char *property;
    } equal[] = {{GATHERED_DTYPE, "dtype"}, {GATHERED_DIMS, "number of dims"}, {GATHERED_GRAD, "requires_grad"}};
    DT__TRY(gather_locals(global));
    for (int64_t i = 1; i < global->n_ranks; i++) {
        const int64_t *first = global->all, *other = first + i * N_GATHERED;
        for (size_t k = 0; k < sizeof equal / sizeof *equal; k++)
            if (other[equal[k].at] != first[equal[k].at])
                return refuse_difference(global, global->ranks[0], global->ranks[i], equal[k].property);
        for (int d = 0; d < global->local->n_dims; d++)
            if (other[GATHERED_ORDER + d] != first[GATHERED_ORDER + d])
                return refuse_difference(global, global->ranks[0], global->ranks[i], "stride order");
    }
    return DT_OK;
}

/* Ranks along mesh dims on which the tensor is replicated hold the same values. */
static dt_status compare_replicas(struct global_tensor *global) {
    int64_t coordinate[DT_MESH_MAX_DIMS];
    for (int64_t i = 0; i < global->n_ranks; i++) {
        (void)dt_mesh_coordinate_of(global->mesh, global->ranks[i], coordinate);
        int64_t first = dt__first_replica(global->mesh, global->placements, i, coordinate);
        if (global->all[i * N_GATHERED + GATHERED_VALUES] != global->all[first * N_GATHERED + GATHERED_VALUES])
            return refuse_difference(global, global->ranks[first], global->ranks[i],
                                     "values, although they are replicas");
    }
    return DT_OK;
}

/* Computes the global shape from all local ones. */
static dt_status join_shapes(struct global_tensor *global) {
    for (int64_t i = 1; i < global->n_ranks; i++)
        for (int d = 0; d < global->n_dims; d++)
            if (n_cuts(global, d) == 0 &&
                global->all[i * N_GATHERED + GATHERED_SHAPE + d] != global->all[GATHERED_SHAPE + d])
                return refuse_difference(global, global->ranks[0], global->ranks[i],
                                         "the size of a dim that is not sharded");
    for (int m = 0; m < global->n_placements; m++) {
        const dt_placement *p = &global->placements[m];
        if (!cuts(p))
            continue;
        if (n_cuts(global, p->dim) == 1 && dt_placement_is_shard(*p) && p->n_extents == 0)
            DT__TRY(find_extents(global, m));
        else
            global->shape[p->dim] = total_of(global, p->dim);
    }
    return DT_OK;
}

static bool has_shape(const dt_local *local, int n_dims, const int64_t *shape) {
    return !local->member ||
           (n_dims == local->n_dims && memcmp(shape, local->shape, (size_t)n_dims * sizeof *shape) == 0);
}

/* The local tensor of this rank, or with check of every rank, must have the shape of its shard. */
static dt_status check_shards(const struct global_tensor *global, const dt_spec *spec) {
    char got[256], expected[256], text[512];
    const dt_tensor *own = global->local;
    (void)dt_spec_text(spec, sizeof text, text);
    for (int64_t i = 0; i < global->n_ranks; i++) {
        const int64_t *gathered = global->all + i * N_GATHERED;
        dt_local local;
        dt_spec_local_of(spec, global->ranks[i], &local);
        if (!has_shape(&local, (int)gathered[GATHERED_DIMS], gathered + GATHERED_SHAPE))
            return dt__fail(global->ctx, DT_ERR_SHAPE, "from_local: rank %lld's shard of %s: expected [%s], got [%s]",
                            (long long)global->ranks[i], text,
                            dt__shape_text(local.n_dims, local.shape, sizeof expected, expected),
                            dt__shape_text((int)gathered[GATHERED_DIMS], gathered + GATHERED_SHAPE, sizeof got, got));
    }
    const dt_local *local = &spec->local;
    if (!local->member || has_shape(local, own->n_dims, own->shape))
        return DT_OK;
    return dt__fail_local(global->ctx, DT_ERR_SHAPE, "from_local: this rank's shard of %s: expected [%s], got [%s]",
                          text, dt__shape_text(local->n_dims, local->shape, sizeof expected, expected),
                          dt__shape_text(own->n_dims, own->shape, sizeof got, got));
}

/* Explicit global strides must be dense in some order. */
static dt_status use_stride(struct global_tensor *global, dt_ints stride) {
    int64_t dense[DT_SPEC_MAX_DIMS];
    char text[256];
    if (stride.n == global->n_dims) {
        dt__stride_order_of(stride.n, global->shape, stride.list, global->order);
        bool same = dt__dense_strides(stride.n, global->shape, global->order, dense);
        for (int d = 0; d < stride.n && same; d++)
            same = global->shape[d] <= 1 || dense[d] == stride.list[d];
        if (same)
            return DT_OK;
    }
    return dt__fail(global->ctx, DT_ERR_VALUE, "from_local: stride: expected those of a dense tensor, got (%s)",
                    dt__shape_text(stride.n, stride.list, sizeof text, text));
}

static dt_status check_dims(struct global_tensor *global) {
    dt_placements_resolve(global->n_placements, global->placements, global->n_dims);
    for (int m = 0; m < global->n_placements; m++)
        if (cuts(&global->placements[m]) &&
            (global->placements[m].dim < 0 || global->placements[m].dim >= global->n_dims))
            return dt__fail(global->ctx, DT_ERR_PLACEMENT,
                            "from_local: placement %d of %d on mesh(%s): wrong tensor dim: expected 0 to %d, got %d",
                            m + 1, global->n_placements, dt_mesh_text(global->mesh), global->n_dims - 1,
                            global->placements[m].dim);
    if (global->n_placements != dt_mesh_n_dims(global->mesh))
        return dt__fail(global->ctx, DT_ERR_PLACEMENT, "from_local: placements: expected %d for mesh(%s), got %d",
                        dt_mesh_n_dims(global->mesh), dt_mesh_text(global->mesh), global->n_placements);
    return DT_OK;
}

static dt_status find_global(struct global_tensor *global, const dt_from_local_options *o) {
    const dt_tensor *local = global->local;
    const bool have_shape = o->shape.sizes != NULL;
    if (o->stride.list && !have_shape)
        return refuse(global, DT_ERR_VALUE, "with a global stride: expected the global shape, too");
    if (!local && !have_shape)
        return dt__fail(global->ctx, DT_ERR_VALUE,
                        "from_local: a rank outside the mesh: expected a shape or a local tensor, got neither");
    if (o->check && dt_mesh_coordinate(global->mesh, (int64_t[DT_MESH_MAX_DIMS]){0}))
        DT__TRY(compare_locals(global)); /* before anything that only this rank may refuse */
    global->n_dims = have_shape ? o->shape.n : local->n_dims;
    if (have_shape) {
        int64_t elements;
        DT__TRY(dt__shape_check(global->ctx, "from_local", local ? local->dtype : DT_F32, o->shape.n, o->shape.sizes,
                                &elements));
    }
    memcpy(global->shape, have_shape ? o->shape.sizes : local->shape, (size_t)global->n_dims * sizeof *global->shape);
    DT__TRY(check_dims(global));
    if (local && local->n_dims == global->n_dims)
        dt__stride_order_of(global->n_dims, local->shape, local->strides, global->order);
    else
        dt__stride_order_row_major(global->n_dims, global->order);
    if (!have_shape)
        DT__TRY(global->all ? join_shapes(global) : infer_shape(global, o->extents != NULL));
    if (o->extents)
        DT__TRY(use_extents(global, o->extents, have_shape));
    return o->stride.list ? use_stride(global, o->stride) : DT_OK;
}

/* Records what was made, with the placements of the gradient. */
static dt_tensor *record(const struct global_tensor *global, dt_tensor *result, const char *grad_place) {
    dt_spec *grad_spec = NULL;
    if (result && dt__grad_place_parse("from_local", result->spec, grad_place, &grad_spec) != DT_OK) {
        dt_drop(result);
        return NULL;
    }
    if (global->local)
        result =
            dt__made_with_grad("from_local", global->local, dt__inherit_detached(result, global->local), grad_spec);
    dt_spec_release(grad_spec);
    return result;
}

static dt_tensor *wrap(struct global_tensor *global, dt_dtype dtype, const char *grad_place) {
    dt_spec *spec = dt_spec_new(global->mesh, &(dt_spec_desc){.dtype = dtype,
                                                              .n_dims = global->n_dims,
                                                              .shape = global->shape,
                                                              .n_placements = global->n_placements,
                                                              .placements = global->placements,
                                                              .stride_order = global->order});
    dt_tensor *result = NULL;
    bool agreed = !spec || !dt__call_is_noted(global->ctx) ||
                  dt__note_public_call(spec, &(dt__call_details){.text = grad_place}) == DT_OK;
    if (spec && agreed && check_shards(global, spec) == DT_OK && compare_replicas(global) == DT_OK)
        result = spec->local.member ? dt__tensor_wrap(spec, global->local->storage, dt__tensor_offset(global->local),
                                                      global->local->strides)
                                    : dt__tensor_of_spec(spec);
    dt_spec_release(spec);
    return record(global, result, grad_place);
}

dt_tensor *dt_from_local_sized(dt_ctx *ctx, dt_tensor *local, dt_mesh *mesh, const char *place,
                               const dt_from_local_options *options, size_t options_size) {
    dt_from_local_options full;
    DT__ENTER_OPTIONS(ctx, "from_local", options, options_size, &full);
    if (DT__REFUSAL() != DT_OK || !options || !ctx)
        return NULL;
    if ((local && !DT__LIVE(DT__KIND_TENSOR, local)) || (mesh && !DT__LIVE(DT__KIND_MESH, mesh)))
        return NULL;
    mesh = mesh ? mesh : dt_mesh_current(ctx);
    if (!mesh) {
        (void)dt__fail(ctx, DT_ERR_MESH, "from_local: mesh: expected a mesh, got NULL and there is no current mesh");
        return NULL;
    }
    if (!local && dt_mesh_coordinate(mesh, (int64_t[DT_MESH_MAX_DIMS]){0}))
        return dt__null_argument(ctx, "from_local", 2);
    if (!dt__check_context(ctx, "from_local", "mesh", dt_mesh_ctx(mesh)) ||
        (local && !dt__check_context(ctx, "from_local", "tensor", local->ctx)))
        return NULL;
    struct global_tensor global = {.ctx = ctx, .mesh = mesh, .local = local, .arena = dt__arena_new(ctx)};
    dt_tensor *result = NULL;
    if (local && local->spec) {
        (void)refuse(&global, DT_ERR_VALUE, "is distributed already: expected a plain tensor");
        return NULL;
    }
    dt_placement everywhere[DT_MESH_MAX_DIMS] = {{.kind = DT_PLACEMENT_REPLICATE}};
    global.placements = everywhere;
    global.n_placements = dt_mesh_n_dims(mesh);
    dt_status status =
        place ? dt__placements_parse_on(&global.arena, place, mesh, NULL, &global.n_placements, &global.placements)
              : DT_OK;
    if (status == DT_OK && find_global(&global, options) == DT_OK)
        result = wrap(&global, local ? local->dtype : DT_F32, options->grad_place);
    dt__arena_free(&global.arena);
    return dt__with_use(result, options->use);
}
