/* SPDX-License-Identifier: Apache-2.0
 *
 * dt_from_local: parts that are here already become a distributed tensor. The whole's shape is given, follows from
 * this rank's part (all parts are alike), or is put together from what all ranks show.
 */
#include "base/options.h"
#include "base/size.h"
#include "move/move.h"
#include "spec/spec.h"

#include <string.h>

/* What is known of the whole. */
struct whole {
    dt_ctx *ctx;
    dt_mesh *mesh;
    const dt_tensor *local; /* NULL: this rank is not in the mesh, or holds nothing */
    int n_placements;
    dt_placement *placements; /* with dims counted from 0 */
    int n_dims;
    int64_t shape[DT_SPEC_MAX_DIMS];
    int order[DT_SPEC_MAX_DIMS];
    int64_t n_ranks; /* with check, on a rank of the mesh: */
    int64_t *ranks;
    const int64_t *all; /* N_SHOWN numbers of each */
    dt__arena arena;    /* of all that was found */
};

static bool cuts(const dt_placement *p) { return dt_placement_is_shard(*p) || dt_placement_is_strided(*p); }

static dt_status text_of(dt_status status, struct whole *whole, const char *why) {
    char text[256] = "no tensor";
    if (whole->local)
        (void)dt_tensor_text(whole->local, sizeof text, text);
    return dt__fail(whole->ctx, status, "from_local: %s %s", text, why);
}

/* Sizes along the one dim that is cut, as the caller gave them. */
static dt_status use_extents(struct whole *whole, const int64_t *extents, bool have_shape) {
    int cut = -1;
    for (int m = 0; m < whole->n_placements; m++)
        if (cuts(&whole->placements[m])) {
            if (cut >= 0)
                return text_of(DT_ERR_PLACEMENT, whole, "with extents: exactly one mesh dim must shard it");
            cut = m;
        }
    if (cut < 0)
        return text_of(DT_ERR_PLACEMENT, whole, "with extents: no mesh dim shards it");
    int64_t n = dt_mesh_dim_size(whole->mesh, cut), total = 0;
    for (int64_t i = 0; i < n; i++)
        if (extents[i] < 0 || !dt__add_i64(total, extents[i], &total))
            return dt__fail(whole->ctx, DT_ERR_VALUE, "from_local: extent %lld of %lld is %lld", (long long)i,
                            (long long)n, (long long)extents[i]);
    int64_t *size = &whole->shape[whole->placements[cut].dim];
    if (have_shape && *size != total)
        return dt__fail(whole->ctx, DT_ERR_SHAPE,
                        "from_local: the extents add up to %lld, but the size given is %lld", (long long)total,
                        (long long)*size);
    whole->placements[cut].n_extents = n;
    whole->placements[cut].extents = extents;
    *size = total;
    return DT_OK;
}

/* Every other rank's part is as large as this one. */
static dt_status infer(struct whole *whole, bool have_extents) {
    for (int m = 0; m < whole->n_placements; m++) {
        const dt_placement *p = &whole->placements[m];
        if (!cuts(p) || have_extents)
            continue;
        int64_t *size = &whole->shape[p->dim];
        if (p->n_extents) {
            *size = 0;
            for (int64_t i = 0; i < p->n_extents; i++)
                *size += p->extents[i]; /* what cannot be counted is refused by the spec */
        } else if (!dt__mul_i64(*size, dt_mesh_dim_size(whole->mesh, m), size))
            return text_of(DT_ERR_SHAPE, whole, "on every rank makes a dim larger than can be counted");
    }
    return DT_OK;
}

/* What a rank shows to the others. */
enum { SHOWN_DTYPE, SHOWN_DIMS, SHOWN_GRAD, SHOWN_SHAPE, SHOWN_ORDER = SHOWN_SHAPE + DT_SPEC_MAX_DIMS };
enum { N_SHOWN = SHOWN_ORDER + DT_SPEC_MAX_DIMS };

static dt_status gather(struct whole *whole) {
    int64_t n = dt_mesh_size(whole->mesh);
    int64_t *ranks = DT__NEW_ARRAY(&whole->arena, int64_t, n);
    int64_t *all = ranks ? DT__NEW_ARRAY(&whole->arena, int64_t, (n + 1) * N_SHOWN) : NULL;
    if (!all)
        return DT_ERR_MEMORY;
    dt_mesh_ranks(whole->mesh, ranks);
    dt_group *group = dt_group_new(whole->ctx, ranks, n);
    if (!group)
        return dt_error_status(whole->ctx);
    const dt_tensor *local = whole->local;
    int64_t *mine = all + n * N_SHOWN;
    memset(mine, 0, N_SHOWN * sizeof *mine);
    int order[DT_SPEC_MAX_DIMS];
    dt__stride_order_of(local->n_dims, local->strides, order);
    mine[SHOWN_DTYPE] = local->dtype;
    mine[SHOWN_DIMS] = local->n_dims;
    mine[SHOWN_GRAD] = local->requires_grad;
    for (int d = 0; d < local->n_dims; d++) {
        mine[SHOWN_SHAPE + d] = local->shape[d];
        mine[SHOWN_ORDER + d] = order[d];
    }
    dt_status status = dt_comm_all_gather(group, mine, all, N_SHOWN, DT_I64);
    dt_group_release(group);
    whole->n_ranks = n;
    whole->ranks = ranks;
    whole->all = all;
    return status;
}

static dt_status differ(struct whole *whole, int64_t a, int64_t b, const char *what) {
    return dt__fail(whole->ctx, DT_ERR_VALUE, "from_local: ranks %lld and %lld have parts of another %s",
                    (long long)a, (long long)b, what);
}

/* Sizes along a dim that one mesh dim cuts become its extents. */
static dt_status find_extents(struct whole *whole, int m) {
    dt_placement *p = &whole->placements[m];
    int64_t n_parts = dt_mesh_dim_size(whole->mesh, m), total = 0, coordinate[DT_SPEC_MAX_DIMS];
    int64_t *extents = DT__NEW_ARRAY(&whole->arena, int64_t, n_parts);
    if (!extents)
        return DT_ERR_MEMORY;
    for (int64_t i = 0; i < whole->n_ranks; i++) {
        (void)dt_mesh_coordinate_of(whole->mesh, whole->ranks[i], coordinate);
        extents[coordinate[m]] = whole->all[i * N_SHOWN + SHOWN_SHAPE + p->dim];
    }
    for (int64_t i = 0; i < n_parts; i++)
        if (!dt__add_i64(total, extents[i], &total))
            return text_of(DT_ERR_SHAPE, whole, "and its peers make a dim larger than can be counted");
    p->n_extents = n_parts;
    p->extents = extents;
    whole->shape[p->dim] = total;
    return DT_OK;
}

static int n_cuts(const struct whole *whole, int dim) {
    int n = 0;
    for (int m = 0; m < whole->n_placements; m++)
        n += cuts(&whole->placements[m]) && whole->placements[m].dim == dim;
    return n;
}

/* The size of a dim that several mesh dims cut: the sum over one rank for each of their coordinates. */
static int64_t total_of(const struct whole *whole, int dim) {
    int64_t total = 0, coordinate[DT_SPEC_MAX_DIMS];
    for (int64_t i = 0; i < whole->n_ranks; i++) {
        (void)dt_mesh_coordinate_of(whole->mesh, whole->ranks[i], coordinate);
        bool first = true;
        for (int m = 0; m < whole->n_placements; m++)
            first = first && ((cuts(&whole->placements[m]) && whole->placements[m].dim == dim) || coordinate[m] == 0);
        if (first)
            total += whole->all[i * N_SHOWN + SHOWN_SHAPE + dim];
    }
    return total;
}

/* Gathers what all ranks show and compares what has nothing to do with placements. All see the same, so all find the
 * same error, here and below. */
static dt_status compare(struct whole *whole) {
    static const struct {
        int at;
        const char *what;
    } alike[] = {{SHOWN_DTYPE, "dtype"}, {SHOWN_DIMS, "number of dims"}, {SHOWN_GRAD, "requires_grad"}};
    DT__TRY(gather(whole));
    for (int64_t i = 1; i < whole->n_ranks; i++) {
        const int64_t *first = whole->all, *other = first + i * N_SHOWN;
        for (size_t k = 0; k < sizeof alike / sizeof *alike; k++)
            if (other[alike[k].at] != first[alike[k].at])
                return differ(whole, whole->ranks[0], whole->ranks[i], alike[k].what);
        for (int d = 0; d < whole->local->n_dims; d++)
            if (other[SHOWN_ORDER + d] != first[SHOWN_ORDER + d])
                return differ(whole, whole->ranks[0], whole->ranks[i], "stride order");
    }
    return DT_OK;
}

/* Puts the whole's shape together from the parts. */
static dt_status join(struct whole *whole) {
    for (int64_t i = 1; i < whole->n_ranks; i++)
        for (int d = 0; d < whole->n_dims; d++)
            if (n_cuts(whole, d) == 0 && whole->all[i * N_SHOWN + SHOWN_SHAPE + d] != whole->all[SHOWN_SHAPE + d])
                return differ(whole, whole->ranks[0], whole->ranks[i], "size along a dim that is not sharded");
    for (int m = 0; m < whole->n_placements; m++) {
        const dt_placement *p = &whole->placements[m];
        if (!cuts(p))
            continue;
        if (n_cuts(whole, p->dim) == 1 && dt_placement_is_shard(*p) && p->n_extents == 0)
            DT__TRY(find_extents(whole, m));
        else
            whole->shape[p->dim] = total_of(whole, p->dim);
    }
    return DT_OK;
}

static bool has_shape(const dt_local *local, int n_dims, const int64_t *shape) {
    return !local->member ||
           (n_dims == local->n_dims && memcmp(shape, local->shape, (size_t)n_dims * sizeof *shape) == 0);
}

/* This rank's part, or with check everybody's, must be what the spec says. */
static dt_status check_parts(const struct whole *whole, const dt_spec *spec) {
    char is[256], should[256], text[512];
    const dt_tensor *part = whole->local;
    (void)dt_spec_text(spec, sizeof text, text);
    for (int64_t i = 0; i < whole->n_ranks; i++) {
        const int64_t *shown = whole->all + i * N_SHOWN;
        dt_local local;
        dt_spec_local_of(spec, whole->ranks[i], &local);
        if (!has_shape(&local, (int)shown[SHOWN_DIMS], shown + SHOWN_SHAPE))
            return dt__fail(whole->ctx, DT_ERR_SHAPE, "from_local: rank %lld's part of %s is [%s], but it gave [%s]",
                            (long long)whole->ranks[i], text,
                            dt__shape_text(local.n_dims, local.shape, sizeof should, should),
                            dt__shape_text((int)shown[SHOWN_DIMS], shown + SHOWN_SHAPE, sizeof is, is));
    }
    const dt_local *local = &spec->local;
    if (!local->member || has_shape(local, part->n_dims, part->shape))
        return DT_OK;
    return dt__fail_local(whole->ctx, DT_ERR_SHAPE, "from_local: this rank's part of %s is [%s], but [%s] was given",
                          text, dt__shape_text(local->n_dims, local->shape, sizeof should, should),
                          dt__shape_text(part->n_dims, part->shape, sizeof is, is));
}

/* Strides of the whole that were given must be dense in some order. */
static dt_status use_stride(struct whole *whole, dt_shape stride) {
    int64_t dense[DT_SPEC_MAX_DIMS];
    char text[256];
    if (stride.n == whole->n_dims) {
        dt__stride_order_of(stride.n, stride.sizes, whole->order);
        bool same = dt__dense_strides(stride.n, whole->shape, whole->order, dense);
        for (int d = 0; d < stride.n && same; d++)
            same = whole->shape[d] <= 1 || dense[d] == stride.sizes[d];
        if (same)
            return DT_OK;
    }
    return dt__fail(whole->ctx, DT_ERR_VALUE,
                    "from_local: strides (%s) of the whole; they must be those of a tensor without gaps",
                    dt__shape_text(stride.n, stride.sizes, sizeof text, text));
}

static dt_status check_dims(struct whole *whole) {
    dt_placements_resolve(whole->n_placements, whole->placements, whole->n_dims);
    for (int m = 0; m < whole->n_placements; m++)
        if (cuts(&whole->placements[m]) &&
            (whole->placements[m].dim < 0 || whole->placements[m].dim >= whole->n_dims))
            return text_of(DT_ERR_PLACEMENT, whole, "has no dim that a placement names");
    if (whole->n_placements != dt_mesh_n_dims(whole->mesh))
        return dt__fail(whole->ctx, DT_ERR_PLACEMENT, "from_local: %d placements for the %d dims of mesh(%s)",
                        whole->n_placements, dt_mesh_n_dims(whole->mesh), dt_mesh_text(whole->mesh));
    return DT_OK;
}

static dt_status find_whole(struct whole *whole, const dt_from_local_options *o) {
    const dt_tensor *local = whole->local;
    const bool have_shape = o->shape.sizes != NULL;
    if (o->stride.sizes && !have_shape)
        return text_of(DT_ERR_VALUE, whole, "with the stride of the whole, but not its shape; give both");
    if (!local && !have_shape)
        return dt__fail(whole->ctx, DT_ERR_VALUE,
                        "from_local: a rank outside the mesh knows the shape only if it is given, or from a part");
    if (o->check && dt_mesh_coordinate(whole->mesh, (int64_t[DT_MESH_MAX_DIMS]){0}))
        DT__TRY(compare(whole)); /* before anything that only this rank may refuse */
    whole->n_dims = have_shape ? o->shape.n : local->n_dims;
    if (have_shape) {
        int64_t elements;
        DT__TRY(dt__shape_check(whole->ctx, "from_local", local ? local->dtype : DT_F32, o->shape.n, o->shape.sizes,
                                &elements));
    }
    memcpy(whole->shape, have_shape ? o->shape.sizes : local->shape, (size_t)whole->n_dims * sizeof *whole->shape);
    DT__TRY(check_dims(whole));
    if (local && local->n_dims == whole->n_dims)
        dt__stride_order_of(whole->n_dims, local->strides, whole->order);
    else
        dt__stride_order_row_major(whole->n_dims, whole->order);
    if (!have_shape)
        DT__TRY(whole->all ? join(whole) : infer(whole, o->extents != NULL));
    if (o->extents)
        DT__TRY(use_extents(whole, o->extents, have_shape));
    return o->stride.sizes ? use_stride(whole, o->stride) : DT_OK;
}

static dt_tensor *wrap(struct whole *whole, dt_dtype dtype) {
    dt_spec *spec = dt_spec_new(whole->mesh, &(dt_spec_desc){.dtype = dtype,
                                                             .n_dims = whole->n_dims,
                                                             .shape = whole->shape,
                                                             .n_placements = whole->n_placements,
                                                             .placements = whole->placements,
                                                             .stride_order = whole->order});
    dt_tensor *result = NULL;
    if (spec && check_parts(whole, spec) == DT_OK)
        result = spec->local.member ? dt__tensor_wrap(spec, whole->local->storage, dt__tensor_offset(whole->local),
                                                      whole->local->strides)
                                    : dt__tensor_of_spec(spec);
    if (result && whole->local)
        result->requires_grad = whole->local->requires_grad;
    dt_spec_release(spec);
    return result;
}

dt_tensor *dt_from_local_sized(dt_ctx *ctx, dt_tensor *local, dt_mesh *mesh, const char *place,
                               const dt_from_local_options *options, size_t options_size) {
    dt_from_local_options full;
    options = DT__OPTIONS(ctx, "from_local", options, options_size, &full);
    if (!options)
        return NULL;
    if (!ctx)
        return NULL;
    mesh = mesh ? mesh : dt_mesh_current(ctx);
    if (!mesh) {
        (void)dt__fail(ctx, DT_ERR_MESH, "from_local: no mesh is given and none is current");
        return NULL;
    }
    if (!local && dt_mesh_coordinate(mesh, (int64_t[DT_MESH_MAX_DIMS]){0}))
        return dt__null_argument(ctx, "from_local", 2);
    if (!dt__check_context(ctx, "from_local", "mesh", dt_mesh_ctx(mesh)) ||
        (local && !dt__check_context(ctx, "from_local", "tensor", local->ctx)))
        return NULL;
    struct whole whole = {.ctx = ctx, .mesh = mesh, .local = local, .arena = dt__arena_new(ctx)};
    dt_tensor *result = NULL;
    if (local && local->spec) {
        (void)text_of(DT_ERR_VALUE, &whole, "is distributed already; a part is a plain tensor");
        return NULL;
    }
    dt_placement everywhere[DT_MESH_MAX_DIMS] = {{.kind = DT_PLACEMENT_REPLICATE}};
    dt_placement *parsed = place ? dt_placements_parse(ctx, place, &whole.n_placements) : NULL;
    whole.placements = parsed ? parsed : everywhere;
    if (!place)
        whole.n_placements = dt_mesh_n_dims(mesh);
    if ((parsed || !place) && find_whole(&whole, options) == DT_OK)
        result = wrap(&whole, local ? local->dtype : DT_F32);
    dt_placements_free(ctx, parsed);
    dt__arena_free(&whole.arena);
    return result;
}
