/* SPDX-License-Identifier: Apache-2.0
 *
 * Placements and specs: which rank holds which part of a tensor.
 *
 * A placement describes what one mesh dim does with a tensor: Shard splits a tensor dim into one shard per coordinate,
 * Replicate stores the same on every coordinate, Partial stores values that have yet to be reduced. A spec joins a
 * mesh, one placement per mesh dim, a global shape and a dtype. Nothing here communicates: the shard of any rank is
 * arithmetic.
 *
 *     S(0)       Shard: ceil(size / n) indices per coordinate, the last ones fewer or none; S(-1) is the last dim
 *     S(0:3,5,2) Shard with explicit extents: 3, 5 and 2 indices
 *     _S(0,2)    strided shard: the dim is split into 2 chunks, each chunk into n blocks; coordinate r holds the r-th
 *                block of each
 *     R          Replicate
 *     P(sum)     Partial: sum, avg, product, min, max; P(mask) is the masked partial of embeddings
 *     S(0)[1]    the bracket is the position among the mesh dims that split one tensor dim; default: from left
 *                to right
 *
 *     f32[1024,512] S(0),R on mesh(dp=2,tp=4)
 *
 * Placements are listed in the order of the mesh dims, or by their names: "tp=S(0)" and "tp=S(0),dp=R" are "R,S(0)" on
 * mesh(dp=2,tp=4). Mesh dims that a named list leaves out are Replicate where a tensor or a spec is made, and stay as
 * they are where a tensor is redistributed or its use placement is set. On a mesh with a dim of pipeline stages, called
 * pp, a maker's list names that dim.
 */
#ifndef DTENSOR_SPEC_H
#define DTENSOR_SPEC_H

#include <dtensor/mesh.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dt_spec dt_spec;

/* Max dims of a tensor and of the mesh of a spec. */
enum { DT_SPEC_MAX_DIMS = 32 };

typedef enum dt_placement_kind {
    DT_PLACEMENT_REPLICATE,
    DT_PLACEMENT_SHARD,
    DT_PLACEMENT_STRIDED,
    DT_PLACEMENT_PARTIAL,
    DT_PLACEMENT_MASKED,
    DT_N_PLACEMENT_KINDS
} dt_placement_kind;

/* What one mesh dim does with a tensor. Fields that a kind does not use are zero; all zero is Replicate. */
typedef struct dt_placement {
    dt_placement_kind kind;
    dt_reduce reduce;       /* partial */
    int dim;                /* shard, strided: the tensor dim; negative counts from the end */
    int position;           /* shard, strided: position of this mesh dim in the order of splitting, if ordered */
    bool ordered;           /* false for all shards of a tensor dim: mesh dims split it from left to right */
    int64_t split_factor;   /* strided */
    int64_t n_extents;      /* shard: number of explicit sizes, one per coordinate of the mesh dim; 0: ceil rule */
    const int64_t *extents; /* shard: the sizes, owned by the caller */
} dt_placement;

static inline dt_placement dt_placement_replicate(void) {
    dt_placement placement = {DT_PLACEMENT_REPLICATE, DT_SUM, 0, 0, false, 0, 0, NULL};
    return placement;
}
static inline dt_placement dt_placement_shard(int dim) {
    dt_placement placement = {DT_PLACEMENT_SHARD, DT_SUM, dim, 0, false, 0, 0, NULL};
    return placement;
}
static inline dt_placement dt_placement_strided(int dim, int64_t split_factor) {
    dt_placement placement = {DT_PLACEMENT_STRIDED, DT_SUM, dim, 0, false, split_factor, 0, NULL};
    return placement;
}
static inline dt_placement dt_placement_partial(dt_reduce reduce) {
    dt_placement placement = {DT_PLACEMENT_PARTIAL, reduce, 0, 0, false, 0, 0, NULL};
    return placement;
}
static inline dt_placement dt_placement_masked(void) {
    dt_placement placement = {DT_PLACEMENT_MASKED, DT_SUM, 0, 0, false, 0, 0, NULL};
    return placement;
}

/* A strided shard is not a Shard, even with factor 1. A masked partial is a Partial. Local. */
static inline bool dt_placement_is_replicate(dt_placement placement) {
    return placement.kind == DT_PLACEMENT_REPLICATE;
}
static inline bool dt_placement_is_shard(dt_placement placement) { return placement.kind == DT_PLACEMENT_SHARD; }
static inline bool dt_placement_is_strided(dt_placement placement) { return placement.kind == DT_PLACEMENT_STRIDED; }
static inline bool dt_placement_is_partial(dt_placement placement) {
    return placement.kind == DT_PLACEMENT_PARTIAL || placement.kind == DT_PLACEMENT_MASKED;
}

/* Equality, extents and order included; negative dims are not resolved. Local. */
DT_API bool dt_placement_equal(const dt_placement *a, const dt_placement *b);

/* Parses "S(0),R,P(sum)" into an array of *n placements, freed with dt_placements_free. Names of mesh dims need a mesh,
 * as dt_spec_new has one. NULL after an error that names the column. Local. */
DT_API dt_placement *dt_placements_parse_site(dt_ctx *ctx, const char *text, int *n, DT_CALLER);
DT_API void dt_placements_free(dt_ctx *ctx, dt_placement *placements);

/* Writes the text form into out, truncated to capacity - 1 characters and NUL-terminated if capacity > 0; returns the
 * length of the entire text. Parsing it returns the same placements. Local. */
DT_API size_t dt_placements_text(int n, const dt_placement *placements, size_t capacity, char *out);

/* Resolves negative dims for a tensor of n_dims; a dim out of range is unchanged, for dt_spec_new to refuse. Local. */
DT_API void dt_placements_resolve(int n, dt_placement *placements, int n_dims);

/* Sets the order of the mesh dims that split a tensor dim: mesh_dims[0] first. It must name each mesh dim that shards
 * the dim once. Negative dims must have been resolved. Local. */
DT_API dt_status dt_placements_set_order_site(dt_ctx *ctx, int n, dt_placement *placements, int dim, int n_mesh_dims,
                                              const int *mesh_dims, DT_CALLER);

/* Sets explicit sizes along a tensor dim that one mesh dim shards; they must outlive the placements. Local. */
DT_API dt_status dt_placements_set_extents_site(dt_ctx *ctx, int n, dt_placement *placements, int dim,
                                                int64_t n_sizes, const int64_t *sizes, DT_CALLER);

/* The parts of a spec other than its mesh. Placements are a text or values. */
typedef struct dt_spec_desc {
    dt_dtype dtype; /* default f32 */
    int n_dims;
    const int64_t *shape;           /* of the global tensor */
    const char *text;               /* placements as text, or NULL: */
    int n_placements;               /* as values */
    const dt_placement *placements; /* copied */
    const int *stride_order;        /* dims from the slowest to the fastest in memory; NULL: row-major, 0, 1, 2 … */
    const dt_placement *others; /* one per mesh dim, for those that a text with names leaves out; NULL: Replicate */
} dt_spec_desc;

/* Returns a new spec, or one more reference to the equal one that exists. The spec holds a reference to its mesh.
 * Explicit extents that equal the ceil rule, and orders from left to right, are normalized away. NULL after an agreed
 * error. Local. */
DT_API dt_spec *dt_spec_new_sized(dt_mesh *mesh, const dt_spec_desc *desc, size_t desc_size, DT_CALLER);
/* The context of the spec; NULL for a NULL spec. Local. */
DT_API dt_ctx *dt_spec_ctx(const dt_spec *spec);
/* Makes a spec and its mesh from the text form of the spec. The use placement in the text of a tensor is left out.
 * Local. */
DT_API dt_spec *dt_spec_parse_site(dt_ctx *ctx, const char *text, DT_CALLER);
DT_API dt_spec *dt_spec_retain(dt_spec *spec);
/* Releases one reference; accepts NULL. Local. */
DT_API void dt_spec_release_site(dt_spec *spec, DT_CALLER);
/* As dt_placements_text: "f32[1024,512] S(0),R on mesh(dp=2,tp=4)". A stride order other than row-major follows the
 * shape: "f32[8,4] major(1,0) R on mesh(2)" is column-major. Local. */
DT_API size_t dt_spec_text(const dt_spec *spec, size_t capacity, char *out);

/* Equal specs of one context are one pointer; the id, from 1 on, is never reused. Local. */
DT_API uint64_t dt_spec_id(const dt_spec *spec);
/* Equal for equal specs on every rank and in every run. Local. */
DT_API uint64_t dt_spec_fingerprint(const dt_spec *spec);
DT_API dt_mesh *dt_spec_mesh(const dt_spec *spec);
DT_API dt_dtype dt_spec_dtype(const dt_spec *spec);
DT_API int dt_spec_n_dims(const dt_spec *spec);
DT_API const int64_t *dt_spec_shape(const dt_spec *spec);
/* One per mesh dim, with dims counted from 0 and positions filled in. Local. */
DT_API const dt_placement *dt_spec_placements(const dt_spec *spec);
DT_API const int *dt_spec_stride_order(const dt_spec *spec);
/* Strides, in elements, of the global tensor, dense in its stride order. Local. */
DT_API const int64_t *dt_spec_strides(const dt_spec *spec);
DT_API int64_t dt_spec_elements(const dt_spec *spec);
DT_API int64_t dt_spec_bytes(const dt_spec *spec);

/* Number of different shards: the product of the mesh dims that shard the tensor, or this dim. Local. */
DT_API int64_t dt_spec_n_shards(const dt_spec *spec);
DT_API int64_t dt_spec_dim_shards(const dt_spec *spec, int dim);
/* The mesh dims that shard a tensor dim, in order of splitting; returns how many. Local. */
DT_API int dt_spec_cut_order(const dt_spec *spec, int dim, int mesh_dims[DT_SPEC_MAX_DIMS]);
/* Whether the local tensors of all ranks of the mesh have the same shape. Local. */
DT_API bool dt_spec_is_even(const dt_spec *spec);
/* Bytes of the largest local tensor of any rank. Local. */
DT_API int64_t dt_spec_max_bytes(const dt_spec *spec);

/* The local tensor of a rank. That of a rank outside the mesh has shape [0]. */
typedef struct dt_local {
    bool member; /* the rank is in the mesh */
    int n_dims;
    int64_t shape[DT_SPEC_MAX_DIMS];
    int64_t offset[DT_SPEC_MAX_DIMS];  /* first global index; the global size if empty */
    int64_t strides[DT_SPEC_MAX_DIMS]; /* in elements: dense, in the stride order of the global tensor */
    int64_t elements, bytes;
} dt_local;

/* That of this rank, valid as long as the spec. Local. */
DT_API const dt_local *dt_spec_local(const dt_spec *spec);
/* That of any rank; the cost does not depend on the size of the mesh. Local. */
DT_API void dt_spec_local_of_sized(const dt_spec *spec, int64_t rank, dt_local *out, size_t out_size);
static inline void dt_spec_local_of(const dt_spec *spec, int64_t rank, dt_local *out) {
    dt_spec_local_of_sized(spec, rank, out, sizeof *out);
}
/* The local shard at a mesh coordinate; false, with out unchanged, for a coordinate outside the mesh. Local. */
DT_API bool dt_spec_local_at_sized(const dt_spec *spec, const int64_t *coordinate, dt_local *out, size_t out_size);
static inline bool dt_spec_local_at(const dt_spec *spec, const int64_t *coordinate, dt_local *out) {
    return dt_spec_local_at_sized(spec, coordinate, out, sizeof *out);
}

/* Indices begin … end - 1 of a global dim; `local` is the local index of the first. */
typedef struct dt_run {
    int64_t begin, end, local;
} dt_run;

/* The runs of indices that a coordinate holds of a tensor dim, ascending and maximal, from local index `from` on:
 * writes at most capacity of them and returns how many; fewer than capacity means no more. Continue after the last one
 * with from = local + end - begin. -1 for a coordinate or a dim that does not exist. Local. */
DT_API int64_t dt_spec_runs(const dt_spec *spec, const int64_t *coordinate, int dim, int64_t from, int64_t capacity,
                            dt_run *out);

/* Converts between local indices of a coordinate and global ones; false for an index out of range, or (to_local) one
 * that the coordinate does not hold. Local. */
DT_API bool dt_spec_to_global(const dt_spec *spec, const int64_t *coordinate, const int64_t *local, int64_t *global);
DT_API bool dt_spec_to_local(const dt_spec *spec, const int64_t *coordinate, const int64_t *global, int64_t *local);

/* The owners of an element: per mesh dim the coordinate, or -1 where every coordinate holds it. False for an index
 * outside the tensor. Local. */
DT_API bool dt_spec_owners(const dt_spec *spec, const int64_t *global, int64_t *coordinate);
/* Enumerates the ranks of owners: start with *at = 0; false at the end. Local. */
DT_API bool dt_spec_next_owner(const dt_spec *spec, const int64_t *coordinate, int64_t *at, int64_t *rank);

#ifndef __cplusplus
/* clang-format off */
#define dt_placements_parse(...) dt_placements_parse_site(__VA_ARGS__, DT_SITE)
#define dt_placements_set_order(...) dt_placements_set_order_site(__VA_ARGS__, DT_SITE)
#define dt_placements_set_extents(...) dt_placements_set_extents_site(__VA_ARGS__, DT_SITE)
#define dt_spec_parse(...) dt_spec_parse_site(__VA_ARGS__, DT_SITE)
#define dt_spec_release(...) dt_spec_release_site(__VA_ARGS__, DT_SITE)
#define dt_spec_new(...) dt_spec_new_sized(__VA_ARGS__, sizeof(dt_spec_desc), DT_SITE)
/* clang-format on */
#endif

#ifdef __cplusplus
}
#endif

#endif
