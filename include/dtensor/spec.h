/* SPDX-License-Identifier: Apache-2.0
 *
 * Placements and specs: who holds which part of a tensor.
 *
 * A placement says what one mesh dim does with a tensor: Shard cuts a tensor dim into one part per coordinate,
 * Replicate gives every coordinate the same, Partial leaves values that still have to be reduced. A spec joins a
 * mesh, one placement per mesh dim, a global shape and a dtype. Nothing here communicates: any rank's part is
 * arithmetic.
 *
 *     S(0)       Shard: ceil(size / n) indices per coordinate, the last ones fewer or none; S(-1) is the last dim
 *     S(0:3,5,2) Shard with explicit extents: 3, 5 and 2 indices
 *     _S(0,2)    strided shard: the dim is cut into 2 chunks, each chunk into n parts; coordinate r holds the r-th
 *                part of each
 *     R          Replicate
 *     P(sum)     Partial: sum, avg, product, min, max; P(mask) is the masked partial of embeddings
 *     S(0)[1]    the bracket is the position in the order in which mesh dims cut one tensor dim; without it they cut
 *                from left to right
 *
 *     f32[1024,512] S(0),R on mesh(dp=2,tp=4)
 */
#ifndef DTENSOR_SPEC_H
#define DTENSOR_SPEC_H

#include <dtensor/mesh.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dt_spec dt_spec;

/* The most dims that a tensor or the mesh of a spec may have. */
enum { DT_SPEC_MAX_DIMS = 32 };

typedef enum dt_placement_kind {
    DT_PLACEMENT_REPLICATE,
    DT_PLACEMENT_SHARD,
    DT_PLACEMENT_STRIDED,
    DT_PLACEMENT_PARTIAL,
    DT_PLACEMENT_MASKED,
    DT_N_PLACEMENT_KINDS
} dt_placement_kind;

/* What one mesh dim does with a tensor. Fields that a kind does not use stay zero; all zero is Replicate. */
typedef struct dt_placement {
    dt_placement_kind kind;
    dt_reduce reduce;       /* partial */
    int dim;                /* shard, strided: the tensor dim; negative counts from the end */
    int position;           /* shard, strided: where this mesh dim stands in the order of cuts, if ordered */
    bool ordered;           /* false on every cut of a tensor dim: mesh dims cut from left to right */
    int64_t split_factor;   /* strided */
    int64_t n_extents;      /* shard: number of explicit sizes, one per coordinate of the mesh dim; 0: chunk rule */
    const int64_t *extents; /* shard: the sizes, owned by whoever made them */
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

/* A strided shard is a kind of its own, even with factor 1: not a Shard. A masked partial is a Partial. Local. */
static inline bool dt_placement_is_replicate(dt_placement placement) {
    return placement.kind == DT_PLACEMENT_REPLICATE;
}
static inline bool dt_placement_is_shard(dt_placement placement) { return placement.kind == DT_PLACEMENT_SHARD; }
static inline bool dt_placement_is_strided(dt_placement placement) { return placement.kind == DT_PLACEMENT_STRIDED; }
static inline bool dt_placement_is_partial(dt_placement placement) {
    return placement.kind == DT_PLACEMENT_PARTIAL || placement.kind == DT_PLACEMENT_MASKED;
}

/* Whether both say the same, extents and position in the order included; dims as they are written. Local. */
DT_API bool dt_placement_equal(const dt_placement *a, const dt_placement *b);

/* Reads "S(0),R,P(sum)" into an array that the caller frees; n gets its length. NULL with an error that names the
 * column where the text stops making sense. Local. */
DT_API dt_placement *dt_placements_parse(dt_ctx *ctx, const char *text, int *n);
DT_API void dt_placements_free(dt_ctx *ctx, dt_placement *placements);

/* Writes the text form into out, cut off after capacity - 1 characters and always ended where capacity > 0; returns the
 * length of the whole text. Parsing the text gives the same placements. Local. */
DT_API size_t dt_placements_text(int n, const dt_placement *placements, size_t capacity, char *out);

/* Counts negative dims from 0 instead, for a tensor of n_dims; a dim out of range stays as it is, to be refused when
 * a spec is made. Local. */
DT_API void dt_placements_resolve(int n, dt_placement *placements, int n_dims);

/* Gives the order in which mesh dims cut a tensor dim: mesh_dims[0] cuts first. It must name each mesh dim that
 * shards this dim once. Dims are compared as they are written: resolve negative ones first. Local. */
DT_API dt_status dt_placements_set_order(dt_ctx *ctx, int n, dt_placement *placements, int dim, int n_mesh_dims,
                                         const int *mesh_dims);

/* Gives explicit sizes along a tensor dim that one mesh dim shards; they must outlive the placements. Local. */
DT_API dt_status dt_placements_set_extents(dt_ctx *ctx, int n, dt_placement *placements, int dim, int64_t n_sizes,
                                           const int64_t *sizes);

/* What a spec is made of, besides its mesh. Placements are given as text or as values. */
typedef struct dt_spec_desc {
    dt_dtype dtype; /* default f32 */
    int n_dims;
    const int64_t *shape;           /* of the global tensor */
    const char *text;               /* placements as text, or NULL: */
    int n_placements;               /* as values */
    const dt_placement *placements; /* copied */
    const int *stride_order;        /* dims from the slowest to the fastest in memory; NULL: row-major, 0, 1, 2 … */
} dt_spec_desc;

/* Gives the spec: a new one, or one more reference to the equal one that exists. The spec keeps its mesh. Explicit
 * extents that are what the chunk rule gives, and orders that run from left to right, are left out: equal layouts
 * that are written so are equal specs. NULL with an agreed error. Local. */
DT_API dt_spec *dt_spec_new_sized(dt_mesh *mesh, const dt_spec_desc *desc, size_t desc_size);
static inline dt_spec *dt_spec_new(dt_mesh *mesh, const dt_spec_desc *desc) {
    return dt_spec_new_sized(mesh, desc, sizeof *desc);
}
/* The same from its text form; makes the mesh, too. Local. */
DT_API dt_spec *dt_spec_parse(dt_ctx *ctx, const char *text);
DT_API dt_spec *dt_spec_retain(dt_spec *spec);
/* Drops one reference; NULL is allowed. Local. */
DT_API void dt_spec_release(dt_spec *spec);
/* As dt_placements_text: "f32[1024,512] S(0),R on mesh(dp=2,tp=4)". A stride order other than row-major follows the
 * shape: "f32[8,4] major(1,0) R on mesh(2)" lies in memory column by column. Local. */
DT_API size_t dt_spec_text(const dt_spec *spec, size_t capacity, char *out);

/* Equal specs of one context are one pointer; the id, from 1, is never given to another spec. Local. */
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
/* Strides, in elements, of the global tensor laid out densely in its stride order. Local. */
DT_API const int64_t *dt_spec_strides(const dt_spec *spec);
DT_API int64_t dt_spec_elements(const dt_spec *spec);
DT_API int64_t dt_spec_bytes(const dt_spec *spec);

/* Number of different parts: the product of the mesh dims that shard (this tensor dim). Local. */
DT_API int64_t dt_spec_n_shards(const dt_spec *spec);
DT_API int64_t dt_spec_dim_shards(const dt_spec *spec, int dim);
/* The mesh dims that cut a tensor dim, in the order in which they cut; returns how many. Local. */
DT_API int dt_spec_cut_order(const dt_spec *spec, int dim, int mesh_dims[DT_SPEC_MAX_DIMS]);
/* Whether every rank of the mesh holds a part of the same shape. Local. */
DT_API bool dt_spec_is_even(const dt_spec *spec);
/* Bytes of the largest part that any rank holds. Local. */
DT_API int64_t dt_spec_max_bytes(const dt_spec *spec);

/* What one rank holds. A rank outside the mesh holds an empty tensor of shape (0). */
typedef struct dt_local {
    bool member; /* of the mesh */
    int n_dims;
    int64_t shape[DT_SPEC_MAX_DIMS];
    int64_t offset[DT_SPEC_MAX_DIMS];  /* first global index held; the global size where none is */
    int64_t strides[DT_SPEC_MAX_DIMS]; /* in elements: dense, in the stride order of the global tensor */
    int64_t elements, bytes;
} dt_local;

/* This rank's part, derived once; lives as long as the spec. Local. */
DT_API const dt_local *dt_spec_local(const dt_spec *spec);
/* Another rank's part, at a cost that does not grow with the mesh. Local. */
DT_API void dt_spec_local_of_sized(const dt_spec *spec, int64_t rank, dt_local *out, size_t out_size);
static inline void dt_spec_local_of(const dt_spec *spec, int64_t rank, dt_local *out) {
    dt_spec_local_of_sized(spec, rank, out, sizeof *out);
}
/* The same by mesh coordinate; false, with out untouched, where the mesh has no such coordinate. Local. */
DT_API bool dt_spec_local_at_sized(const dt_spec *spec, const int64_t *coordinate, dt_local *out, size_t out_size);
static inline bool dt_spec_local_at(const dt_spec *spec, const int64_t *coordinate, dt_local *out) {
    return dt_spec_local_at_sized(spec, coordinate, out, sizeof *out);
}

/* Indices begin … end - 1 of a global dim; locally they start at `local`. */
typedef struct dt_run {
    int64_t begin, end, local;
} dt_run;

/* The index ranges that the coordinate holds of a tensor dim, ascending and joined, from local index `from` on:
 * writes at most capacity of them and returns how many; fewer than capacity means that there are no more. Continue
 * after the last one with from = local + end - begin. -1 where the coordinate or the dim does not exist. Local. */
DT_API int64_t dt_spec_runs(const dt_spec *spec, const int64_t *coordinate, int dim, int64_t from, int64_t capacity,
                            dt_run *out);

/* The global index of a local one at a coordinate, and the other way round; false where the index does not exist
 * there (to_local: the coordinate does not hold that element). Local. */
DT_API bool dt_spec_to_global(const dt_spec *spec, const int64_t *coordinate, const int64_t *local, int64_t *global);
DT_API bool dt_spec_to_local(const dt_spec *spec, const int64_t *coordinate, const int64_t *global, int64_t *local);

/* Who holds an element: per mesh dim the coordinate, or -1 where every coordinate does. False for an index outside
 * the tensor. Local. */
DT_API bool dt_spec_owners(const dt_spec *spec, const int64_t *global, int64_t *coordinate);
/* Walks the ranks that such an answer stands for: start with *at = 0; false at the end. Local. */
DT_API bool dt_spec_next_owner(const dt_spec *spec, const int64_t *coordinate, int64_t *at, int64_t *rank);

#ifdef __cplusplus
}
#endif

#endif
