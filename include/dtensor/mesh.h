/* SPDX-License-Identifier: Apache-2.0
 *
 * Meshes: ranks arranged in an n-dimensional grid whose dims may have names.
 *
 *     dt_mesh *mesh = dt_mesh_new(ctx, "dp=2,tp=4"); // ranks  0 1 2 3   row-major: the last dim runs fastest
 *                                                    //        4 5 6 7
 *     dt_mesh *tp = dt_mesh_slice(mesh, "tp");       // on rank 5: ranks 4 5 6 7, and this rank's coordinate is 1
 *     dt_mesh *all = dt_mesh_flatten(mesh, NULL);    // one dim "dp_tp" of 8 ranks
 *     dt_mesh_release(all), dt_mesh_release(tp), dt_mesh_release(mesh);
 *
 * A mesh is arithmetic: making, slicing or querying one never communicates, and costs time and memory proportional to
 * the number of its dims, not of its ranks, unless it was made from a list of ranks. All calls here are *Local*; ranks
 * that work together make the same calls, and collectives on a mesh's groups check that: ranks that made different
 * meshes get an error in the first one.
 *
 * A mesh made by a constructor is a *root*. Slices, flattened, unflattened and concatenated meshes are sub-meshes of
 * its root, to which they hold a reference; a sub-mesh is the one that contains this rank. A rank need not be in a
 * mesh: it then has no coordinate, and every query is still defined.
 *
 * Meshes are reference-counted: each maker returns a reference that the caller releases with dt_mesh_release; closing
 * the context frees what is left. Makers return NULL after an error, and for a NULL mesh. Errors are agreed, except for
 * lack of memory and for slicing on a rank outside the mesh.
 */
#ifndef DTENSOR_MESH_H
#define DTENSOR_MESH_H

#include <dtensor/comm.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dt_mesh dt_mesh;

enum {
    DT_MESH_MAX_DIMS = 64,
    DT_MESH_ONLY_DIM = -1 /* the dim of a mesh of one dim */
};

/* Each zeroed field means "the default". */
typedef struct dt_mesh_options {
    const char *names;  /* "dp,tp": one per dim; default: dims without names */
    const char *device; /* a word without an index; default "cpu" */
} dt_mesh_options;

/* Makes a mesh from its text form:
 *     dp=2,tp=4               named dims over ranks 0 … 7
 *     2x4                     dims without names
 *     dp=2,tp=*               one size may be a star: what is left of the world; "*" alone is a line of all ranks
 *     [[0,1],[2,3]]           these ranks in this order
 *     dp,tp=[[0,1],[2,3]]     the same with names
 *     tp=4:1+4 of dp=2,tp=4   a sub-mesh: size and stride of each dim and the first position, in its root's order
 * each optionally followed by " on DEVICE". A mesh may be smaller than the world, not larger. Local. */
DT_API dt_mesh *dt_mesh_new_site(dt_ctx *ctx, const char *text, DT_CALLER);

/* Ranks 0 … n-1 in a grid of this shape. Options may be NULL. Local. */
DT_API dt_mesh *dt_mesh_from_shape_sized(dt_ctx *ctx, const int64_t *shape, int n_dims,
                                         const dt_mesh_options *options, size_t options_size, DT_CALLER);
/* These ranks, row-major in a grid of this shape; no rank twice. Local. */
DT_API dt_mesh *dt_mesh_from_ranks_sized(dt_ctx *ctx, const int64_t *ranks, const int64_t *shape, int n_dims,
                                         const dt_mesh_options *options, size_t options_size, DT_CALLER);

/* Ranks in order. */
typedef struct dt_ranks {
    const int64_t *ranks;
    int64_t n_ranks;
} dt_ranks;

/* Ranks, row-major, in a grid of a shape. */
typedef struct dt_mesh_grid {
    const int64_t *ranks, *shape;
    int n_dims;
} dt_mesh_grid;

/* A mesh from this rank's groups, one per dim. Grid NULL: the 1-D mesh of one group. Otherwise the mesh of the grid;
 * groups[d] must be this rank's group along its dim d. Local. */
DT_API dt_mesh *dt_mesh_from_groups_sized(dt_ctx *ctx, const dt_ranks *groups, int n_groups, const dt_mesh_grid *grid,
                                          const dt_mesh_options *options, size_t options_size, DT_CALLER);

/* Adds a reference and returns the mesh; releases one, accepting NULL. Local. */
DT_API dt_mesh *dt_mesh_retain(dt_mesh *mesh);
DT_API void dt_mesh_release_site(dt_mesh *mesh, DT_CALLER);

/* The sub-mesh of these dims ("dp,tp", in the mesh's order) that contains this rank. A root also accepts the names
 * of meshes that were flattened from it. An error on a rank outside the mesh, unless there is only one such sub-mesh.
 * Local. */
DT_API dt_mesh *dt_mesh_slice_site(dt_mesh *mesh, const char *names, DT_CALLER);
/* All dims as one, called name (NULL: the dims' names joined by "_"), which must not name anything else in the root.
 * Local. */
DT_API dt_mesh *dt_mesh_flatten_site(dt_mesh *mesh, const char *name, DT_CALLER);
/* One dim as several whose sizes multiply to its own. Options give the names of the new dims, one each; device is not
 * allowed. Local. */
DT_API dt_mesh *dt_mesh_unflatten_sized(dt_mesh *mesh, int dim, const int64_t *sizes, int n_sizes,
                                        const dt_mesh_options *options, size_t options_size, DT_CALLER);
/* The dims of several sub-meshes of one root, in sequence; they must not overlap. Local. */
DT_API dt_mesh *dt_mesh_concatenate_site(dt_mesh *const *meshes, int n_meshes, DT_CALLER);

/* The root of the mesh, which may be the mesh itself. A new reference. Local. */
DT_API dt_mesh *dt_mesh_root(dt_mesh *mesh);
/* The dim of the root that a 1-D slice is; -1 for a root and for any other sub-mesh. Local. */
DT_API int dt_mesh_root_dim(const dt_mesh *mesh);
/* All sub-meshes of these dims, whether or not this rank is in them: their number, and one of them by its index,
 * row-major over the other dims. Local. */
DT_API int64_t dt_mesh_n_slices_site(dt_mesh *mesh, const char *names, DT_CALLER);
DT_API dt_mesh *dt_mesh_slice_at_site(dt_mesh *mesh, const char *names, int64_t index, DT_CALLER);

/* The context of the mesh; NULL for a NULL mesh. Local. */
DT_API dt_ctx *dt_mesh_ctx(const dt_mesh *mesh);
/* Number of dims; number of ranks; size of one dim. 0 for a NULL mesh and for a dim out of range. Local. */
DT_API int dt_mesh_n_dims(const dt_mesh *mesh);
DT_API int64_t dt_mesh_size(const dt_mesh *mesh);
DT_API int64_t dt_mesh_dim_size(const dt_mesh *mesh, int dim);
/* The name of a dim, or NULL, valid as long as the mesh; the dim of a name, or -1. No error is recorded. Local. */
DT_API const char *dt_mesh_dim_name(const dt_mesh *mesh, int dim);
DT_API int dt_mesh_dim(const dt_mesh *mesh, const char *name);
/* The device type that the mesh was made with, valid as long as the mesh. Local. */
DT_API const char *dt_mesh_device(const dt_mesh *mesh);

/* The coordinate of this rank, or of any rank, one number per dim; false, with out unchanged, for a rank outside the
 * mesh. Local. */
DT_API bool dt_mesh_coordinate(const dt_mesh *mesh, int64_t *out);
DT_API bool dt_mesh_coordinate_of(const dt_mesh *mesh, int64_t rank, int64_t *out);
/* The rank at a coordinate; -1 for one out of range. Local. */
DT_API int64_t dt_mesh_rank_at(const dt_mesh *mesh, const int64_t *coordinate);
/* This rank's coordinate along one dim; -1 if the rank is not in the mesh. DT_MESH_ONLY_DIM is an error on a mesh of
 * several dims. Local. */
DT_API int64_t dt_mesh_local_rank_site(const dt_mesh *mesh, int dim, DT_CALLER);
/* All ranks, row-major: dt_mesh_size of them. Local. */
DT_API void dt_mesh_ranks(const dt_mesh *mesh, int64_t *out);

/* Member i of this rank's group along a dim, 0 <= i < dt_mesh_dim_size; -1 for an index out of range or a rank outside
 * the mesh. Local. */
DT_API int64_t dt_mesh_group_rank(const dt_mesh *mesh, int dim, int64_t i);
/* All members: dt_mesh_dim_size ranks; false, with out unchanged, on a rank outside the mesh. Local. */
DT_API bool dt_mesh_group_ranks(const dt_mesh *mesh, int dim, int64_t *out);

/* This rank's group along a dim, for communication; DT_MESH_ONLY_DIM on a mesh of one dim. Made on first use, without
 * communicating; sub-meshes of one root share the group of the same ranks in the same order. It belongs to the meshes
 * that returned it and is freed with the last of them, unless it is retained. NULL, without an error, on a rank outside
 * the mesh; an error if the context has no transport. Local. */
DT_API dt_group *dt_mesh_group_site(dt_mesh *mesh, int dim, DT_CALLER);

/* Hosts: ranks are numbered host by host, dt_mesh_ranks_per_host on each. The number of hosts of the mesh, and of this
 * rank's group along a dim: 0 on a rank outside the mesh. Local. */
DT_API int64_t dt_mesh_ranks_per_host(const dt_mesh *mesh);
DT_API int64_t dt_mesh_n_hosts(const dt_mesh *mesh);
DT_API int64_t dt_mesh_dim_n_hosts(const dt_mesh *mesh, int dim);

/* Equality: same ranks of the root, offset, dims, names and device. Equal meshes have equal fingerprints on every rank
 * and in every run. Local. */
DT_API bool dt_mesh_equal(const dt_mesh *a, const dt_mesh *b);
DT_API uint64_t dt_mesh_fingerprint(const dt_mesh *mesh);

/* The text form, which dt_mesh_new parses to an equal mesh. Valid as long as the mesh; NULL if out of memory. Local. */
DT_API const char *dt_mesh_text_site(dt_mesh *mesh, DT_CALLER);

/* The current mesh of a context is that of the innermost mesh scope. A scope holds a reference to its mesh; ending one
 * that was not begun is an error. dt_mesh_current returns a borrowed reference, or NULL without an error. Local. */
DT_API dt_status dt_mesh_scope_begin_site(dt_mesh *mesh, DT_CALLER);
DT_API dt_status dt_mesh_scope_end_site(dt_ctx *ctx, DT_CALLER);
DT_API dt_mesh *dt_mesh_current(dt_ctx *ctx);

#ifndef __cplusplus
/* clang-format off */
#define dt_mesh_new(...) dt_mesh_new_site(__VA_ARGS__, DT_SITE)
#define dt_mesh_release(...) dt_mesh_release_site(__VA_ARGS__, DT_SITE)
#define dt_mesh_slice(...) dt_mesh_slice_site(__VA_ARGS__, DT_SITE)
#define dt_mesh_flatten(...) dt_mesh_flatten_site(__VA_ARGS__, DT_SITE)
#define dt_mesh_concatenate(...) dt_mesh_concatenate_site(__VA_ARGS__, DT_SITE)
#define dt_mesh_n_slices(...) dt_mesh_n_slices_site(__VA_ARGS__, DT_SITE)
#define dt_mesh_slice_at(...) dt_mesh_slice_at_site(__VA_ARGS__, DT_SITE)
#define dt_mesh_local_rank(...) dt_mesh_local_rank_site(__VA_ARGS__, DT_SITE)
#define dt_mesh_group(...) dt_mesh_group_site(__VA_ARGS__, DT_SITE)
#define dt_mesh_text(...) dt_mesh_text_site(__VA_ARGS__, DT_SITE)
#define dt_mesh_scope_begin(...) dt_mesh_scope_begin_site(__VA_ARGS__, DT_SITE)
#define dt_mesh_scope_end(...) dt_mesh_scope_end_site(__VA_ARGS__, DT_SITE)
#define dt_mesh_from_shape(...) dt_mesh_from_shape_sized(__VA_ARGS__, sizeof(dt_mesh_options), DT_SITE)
#define dt_mesh_from_ranks(...) dt_mesh_from_ranks_sized(__VA_ARGS__, sizeof(dt_mesh_options), DT_SITE)
#define dt_mesh_from_groups(...) dt_mesh_from_groups_sized(__VA_ARGS__, sizeof(dt_mesh_options), DT_SITE)
#define dt_mesh_unflatten(...) dt_mesh_unflatten_sized(__VA_ARGS__, sizeof(dt_mesh_options), DT_SITE)
/* clang-format on */
#endif

#ifdef __cplusplus
}
#endif

#endif
