/* SPDX-License-Identifier: Apache-2.0
 *
 * Placements as values: equality, explicit orders and extents, and the one place that checks a list of placements
 * against a mesh and a shape. The result is normalized (see dt__sharding): no negative dims, no order that is the
 * default one, no extents that equal the ceil rule.
 */
#include "spec/placement.h"

#include "base/size.h"

#include <inttypes.h>
#include <string.h>

bool dt_placement_equal(const dt_placement *a, const dt_placement *b) {
    if (a->kind != b->kind)
        return false;
    if (a->kind == DT_PLACEMENT_PARTIAL)
        return a->reduce == b->reduce;
    if (!dt__is_cut(a))
        return true;
    return a->dim == b->dim && a->ordered == b->ordered && (!a->ordered || a->position == b->position) &&
           (a->kind != DT_PLACEMENT_STRIDED || a->split_factor == b->split_factor) && a->n_extents == b->n_extents &&
           (!a->n_extents || !memcmp(a->extents, b->extents, (size_t)a->n_extents * sizeof *a->extents));
}

/* The text form of placements for an error, truncated. */
typedef struct shown {
    char text[120];
} shown;

static shown show(int n, const dt_placement *placements) {
    shown out;
    size_t length = dt_placements_text(n, placements, sizeof out.text, out.text);
    if (length >= sizeof out.text)
        memcpy(out.text + sizeof out.text - 4, "...", 4);
    return out;
}

static bool shards_dim(const dt_placement *placement, int dim) {
    return dt__is_cut(placement) && placement->dim == dim;
}

void dt_placements_resolve(int n, dt_placement *placements, int n_dims) {
    for (int m = 0; m < n; m++)
        if (dt__is_cut(&placements[m]) && placements[m].dim < 0 && placements[m].dim >= -n_dims)
            placements[m].dim += n_dims;
}

dt_status dt_placements_set_order_site(dt_ctx *ctx, int n, dt_placement *placements, int dim, int n_mesh_dims,
                                       const int *mesh_dims, const dt_site *site) {
    DT__ENTER(ctx, "placements_set_order", site);
    DT__TRY(DT__REFUSAL());
    int n_cuts = 0;
    for (int m = 0; m < n; m++)
        n_cuts += shards_dim(&placements[m], dim);
    if (n_cuts != n_mesh_dims)
        return dt__fail(ctx, DT_ERR_PLACEMENT,
                        "placements_set_order: wrong number of mesh dims for dim %d of %s: expected %d, got %d", dim,
                        show(n, placements).text, n_cuts, n_mesh_dims);
    for (int i = 0; i < n_mesh_dims; i++) {
        int m = mesh_dims[i];
        if (m < 0 || m >= n || !shards_dim(&placements[m], dim))
            return dt__fail(ctx, DT_ERR_PLACEMENT, "placements_set_order: mesh dim %d does not shard dim %d in %s", m,
                            dim, show(n, placements).text);
        for (int k = 0; k < i; k++)
            if (mesh_dims[k] == m)
                return dt__fail(ctx, DT_ERR_PLACEMENT,
                                "placements_set_order: mesh dim %d appears twice in the order of dim %d", m, dim);
    }
    for (int i = 0; i < n_mesh_dims; i++) {
        placements[mesh_dims[i]].ordered = true;
        placements[mesh_dims[i]].position = i;
    }
    return DT_OK;
}

dt_status dt_placements_set_extents_site(dt_ctx *ctx, int n, dt_placement *placements, int dim, int64_t n_sizes,
                                         const int64_t *sizes, const dt_site *site) {
    DT__ENTER(ctx, "placements_set_extents", site);
    DT__TRY(DT__REFUSAL());
    dt_placement *only = NULL;
    for (int m = 0; m < n; m++)
        if (shards_dim(&placements[m], dim)) {
            if (only || placements[m].kind == DT_PLACEMENT_STRIDED)
                return dt__fail(ctx, DT_ERR_PLACEMENT,
                                "placements_set_extents: dim %d of %s is sharded %s: expected one plain shard", dim,
                                show(n, placements).text, only ? "by several mesh dims" : "by a strided shard");
            only = &placements[m];
        }
    if (!only)
        return dt__fail(ctx, DT_ERR_PLACEMENT, "placements_set_extents: dim %d of %s is not sharded", dim,
                        show(n, placements).text);
    if (n_sizes < 1)
        return dt__fail(ctx, DT_ERR_PLACEMENT,
                        "placements_set_extents: no sizes for dim %d: expected one per coordinate of the mesh dim",
                        dim);
    only->n_extents = n_sizes;
    only->extents = sizes;
    return DT_OK;
}

static dt_status check_counts(dt_ctx *ctx, const dt__sharding_desc *desc) {
    if (desc->n_dims < 0 || desc->n_dims > DT_SPEC_MAX_DIMS)
        return dt__fail(ctx, DT_ERR_SHAPE, "placements: wrong number of tensor dims: expected 0 to %d, got %d",
                        DT_SPEC_MAX_DIMS, desc->n_dims);
    if (desc->n_mesh_dims < 0 || desc->n_mesh_dims > DT_SPEC_MAX_DIMS)
        return dt__fail(ctx, DT_ERR_MESH, "placements: too many mesh dims: expected at most %d, got %d",
                        DT_SPEC_MAX_DIMS, desc->n_mesh_dims);
    if (desc->n_placements != desc->n_mesh_dims)
        return dt__fail(ctx, DT_ERR_PLACEMENT, "placements '%s': wrong number: expected %d, one per mesh dim, got %d",
                        show(desc->n_placements, desc->placements).text, desc->n_mesh_dims, desc->n_placements);
    return DT_OK;
}

bool dt__product(int n, const int64_t *sizes, int64_t factor, int64_t *out) {
    int64_t result = factor;
    bool fits = true;
    for (int i = 0; i < n; i++) {
        if (sizes[i] == 0) {
            *out = 0;
            return true;
        }
        fits = fits && dt__mul_i64(result, sizes[i], &result);
    }
    if (fits)
        *out = result;
    return fits;
}

static dt_status check_shape(dt_ctx *ctx, const dt__sharding_desc *desc) {
    int64_t elements;
    for (int d = 0; d < desc->n_dims; d++)
        if (desc->shape[d] < 0)
            return dt__fail(ctx, DT_ERR_SHAPE, "placements: the size of dim %d is negative: %" PRId64, d,
                            desc->shape[d]);
    if (!dt__product(desc->n_dims, desc->shape, 1, &elements))
        return dt__fail(ctx, DT_ERR_SHAPE, "placements: the tensor has more than 2^63 - 1 elements");
    return DT_OK;
}

static dt_status check_mesh(dt_ctx *ctx, const dt__sharding_desc *desc) {
    int64_t n_ranks;
    for (int m = 0; m < desc->n_mesh_dims; m++)
        if (desc->mesh[m] < 1)
            return dt__fail(ctx, DT_ERR_MESH,
                            "placements: wrong size of mesh dim %d: expected at least 1, got %" PRId64, m,
                            desc->mesh[m]);
    if (!dt__product(desc->n_mesh_dims, desc->mesh, 1, &n_ranks))
        return dt__fail(ctx, DT_ERR_MESH, "placements: the mesh has more than 2^63 - 1 ranks");
    return DT_OK;
}

/* Extents of mesh dim m: one per coordinate, none negative, together the size of the dim. */
static dt_status check_extents(dt_ctx *ctx, const dt__sharding_desc *desc, int m, int64_t size) {
    const dt_placement *in = &desc->placements[m];
    int64_t sum = 0;
    if (in->n_extents != desc->mesh[m] || !in->extents)
        return dt__fail(ctx, DT_ERR_PLACEMENT,
                        "%s on mesh dim %d: wrong number of extents: expected %" PRId64 ", got %" PRId64,
                        show(1, in).text, m, desc->mesh[m], in->n_extents);
    for (int64_t r = 0; r < in->n_extents; r++) {
        if (in->extents[r] < 0)
            return dt__fail(ctx, DT_ERR_PLACEMENT, "%s: an extent is negative: %" PRId64, show(1, in).text,
                            in->extents[r]);
        if (!dt__add_i64(sum, in->extents[r], &sum) || sum > size)
            return dt__fail(ctx, DT_ERR_PLACEMENT,
                            "%s: the extents add up to more than the size of the dim: %" PRId64, show(1, in).text,
                            size);
    }
    if (sum != size)
        return dt__fail(ctx, DT_ERR_PLACEMENT, "%s: wrong sum of the extents: expected %" PRId64 ", got %" PRId64,
                        show(1, in).text, size, sum);
    return DT_OK;
}

static bool is_chunk_rule(const dt_placement *placement, int64_t size) {
    int64_t chunk = dt__ceil_div(size, placement->n_extents);
    for (int64_t r = 0; r < placement->n_extents; r++, size -= dt__min_i64(chunk, size))
        if (placement->extents[r] != dt__min_i64(chunk, size))
            return false;
    return true;
}

static dt_status normalize_cut(dt_ctx *ctx, const dt__sharding_desc *desc, int m, dt_placement *out) {
    const dt_placement *in = &desc->placements[m];
    int dim = in->dim < 0 ? in->dim + desc->n_dims : in->dim;
    if (desc->n_dims == 0)
        return dt__fail(ctx, DT_ERR_PLACEMENT, "%s on mesh dim %d: a tensor without dims cannot be sharded",
                        show(1, in).text, m);
    if (dim < 0 || dim >= desc->n_dims)
        return dt__fail(ctx, DT_ERR_PLACEMENT, "%s on mesh dim %d: wrong tensor dim: expected %d to %d, got %d",
                        show(1, in).text, m, -desc->n_dims, desc->n_dims - 1, in->dim);
    *out = (dt_placement){.kind = in->kind, .dim = dim, .ordered = in->ordered, .position = in->position};
    if (in->kind == DT_PLACEMENT_STRIDED) {
        if (in->split_factor < 1)
            return dt__fail(ctx, DT_ERR_PLACEMENT,
                            "%s on mesh dim %d: wrong split factor: expected at least 1, got %" PRId64,
                            show(1, in).text, m, in->split_factor);
        if (in->n_extents)
            return dt__fail(ctx, DT_ERR_PLACEMENT, "%s on mesh dim %d: a strided shard cannot have explicit extents",
                            show(1, in).text, m);
        out->split_factor = in->split_factor;
    } else if (in->n_extents) {
        DT__TRY(check_extents(ctx, desc, m, desc->shape[dim]));
        if (!is_chunk_rule(in, desc->shape[dim])) {
            out->n_extents = in->n_extents;
            out->extents = in->extents;
        }
    }
    return DT_OK;
}

static dt_status normalize_partial(dt_ctx *ctx, const dt__sharding_desc *desc, int m, dt_placement *out) {
    const dt_placement *in = &desc->placements[m];
    if ((unsigned)in->reduce >= DT_N_REDUCES)
        return dt__fail(ctx, DT_ERR_PLACEMENT, "placements: unknown reduction of the partial on mesh dim %d: %d", m,
                        (int)in->reduce);
    *out = dt_placement_partial(in->reduce);
    return DT_OK;
}

static dt_status normalize_plain(dt_ctx *ctx, const dt__sharding_desc *desc, int m, dt_placement *out) {
    (void)ctx;
    *out = (dt_placement){.kind = desc->placements[m].kind};
    return DT_OK;
}

typedef dt_status normalize_fn(dt_ctx *ctx, const dt__sharding_desc *desc, int m, dt_placement *out);

static normalize_fn *const normalize_kind[DT_N_PLACEMENT_KINDS] = {
    [DT_PLACEMENT_REPLICATE] = normalize_plain, [DT_PLACEMENT_SHARD] = normalize_cut,
    [DT_PLACEMENT_STRIDED] = normalize_cut,     [DT_PLACEMENT_PARTIAL] = normalize_partial,
    [DT_PLACEMENT_MASKED] = normalize_plain,
};

/* The cuts of one tensor dim, while its order is checked. */
typedef struct dim_cuts {
    int n, n_ordered, n_placed;
    uint32_t positions; /* taken */
    bool left_to_right;
} dim_cuts;

static void count_cuts(int n, const dt_placement *placements, dim_cuts *dims) {
    for (int m = 0; m < n; m++)
        if (dt__is_cut(&placements[m])) {
            dim_cuts *dim = &dims[placements[m].dim];
            dim->left_to_right = true;
            dim->n++;
            dim->n_ordered += placements[m].ordered;
        }
}

/* The position of a cut: its own, or the next from left to right. */
static dt_status place_cut(dt_ctx *ctx, const dt__sharding_desc *desc, dim_cuts *dim, dt_placement *out) {
    int next = dim->n_placed++;
    if (dim->n_ordered == 0)
        out->position = next;
    else if (dim->n_ordered < dim->n)
        return dt__fail(ctx, DT_ERR_PLACEMENT,
                        "%s: %d of the %d shards of dim %d have a position: expected all or none",
                        show(desc->n_placements, desc->placements).text, dim->n_ordered, dim->n, out->dim);
    if (out->position < 0 || out->position >= dim->n)
        return dt__fail(ctx, DT_ERR_PLACEMENT,
                        "%s: wrong position among the shards of dim %d: expected 0 to %d, got %d",
                        show(desc->n_placements, desc->placements).text, out->dim, dim->n - 1, out->position);
    if (dim->positions >> out->position & 1)
        return dt__fail(ctx, DT_ERR_PLACEMENT, "%s: two shards of dim %d have position %d",
                        show(desc->n_placements, desc->placements).text, out->dim, out->position);
    dim->positions |= UINT32_C(1) << out->position;
    dim->left_to_right &= out->position == next;
    return DT_OK;
}

/* Fills positions in, keeps `ordered` only where the order is not from left to right. */
static dt_status normalize_order(dt_ctx *ctx, const dt__sharding_desc *desc, dt_placement *out) {
    dim_cuts dims[DT_SPEC_MAX_DIMS];
    memset(dims, 0, (size_t)desc->n_dims * sizeof *dims);
    count_cuts(desc->n_mesh_dims, out, dims);
    for (int m = 0; m < desc->n_mesh_dims; m++) {
        if (!dt__is_cut(&out[m]))
            continue;
        dim_cuts *dim = &dims[out[m].dim];
        if (dim->n > 1 && desc->placements[m].n_extents)
            return dt__fail(ctx, DT_ERR_PLACEMENT,
                            "%s: too many mesh dims shard dim %d, which has explicit extents: expected 1, got %d",
                            show(desc->n_placements, desc->placements).text, out[m].dim, dim->n);
        DT__TRY(place_cut(ctx, desc, dim, &out[m]));
    }
    for (int m = 0; m < desc->n_mesh_dims; m++)
        out[m].ordered = dt__is_cut(&out[m]) && !dims[out[m].dim].left_to_right;
    return DT_OK;
}

/* One bit per partial kind; the masked one comes after the reductions. */
static unsigned partial_bit(const dt_placement *placement) {
    if (placement->kind == DT_PLACEMENT_PARTIAL)
        return 1u << placement->reduce;
    return placement->kind == DT_PLACEMENT_MASKED ? 1u << DT_N_REDUCES : 0;
}

static dt_status check_partials(dt_ctx *ctx, int n, const dt_placement *placements) {
    const unsigned linear = 1u << DT_SUM | 1u << DT_AVG;
    unsigned kinds = 0;
    for (int m = 0; m < n; m++)
        kinds |= partial_bit(&placements[m]);
    if ((kinds & (kinds - 1)) && (kinds & ~linear))
        return dt__fail(ctx, DT_ERR_PLACEMENT, "%s: kinds of partial cannot be mixed, except sum with avg",
                        show(n, placements).text);
    return DT_OK;
}

dt_status dt__placements_normalize(dt_ctx *ctx, const dt__sharding_desc *desc, dt_placement *out) {
    DT__TRY(check_counts(ctx, desc));
    DT__TRY(check_shape(ctx, desc));
    DT__TRY(check_mesh(ctx, desc));
    for (int m = 0; m < desc->n_mesh_dims; m++) {
        unsigned kind = (unsigned)desc->placements[m].kind;
        if (kind >= DT_N_PLACEMENT_KINDS)
            return dt__fail(ctx, DT_ERR_PLACEMENT, "placements: unknown kind of placement on mesh dim %d: %u", m,
                            kind);
        DT__TRY(normalize_kind[kind](ctx, desc, m, &out[m]));
    }
    DT__TRY(normalize_order(ctx, desc, out));
    return check_partials(ctx, desc->n_mesh_dims, out);
}

dt_status dt__placements_check_dtype(dt_ctx *ctx, int n, const dt_placement *placements, dt_dtype dtype) {
    for (int m = 0; m < n; m++)
        if (placements[m].kind == DT_PLACEMENT_PARTIAL && !dt_reduce_allowed(dtype, placements[m].reduce))
            return dt__fail(ctx, DT_ERR_PLACEMENT, "P(%s) on mesh dim %d: %s values cannot be reduced by %s",
                            dt_reduce_name(placements[m].reduce), m, dt_dtype_name(dtype),
                            dt_reduce_name(placements[m].reduce));
    return DT_OK;
}
