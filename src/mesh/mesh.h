/* SPDX-License-Identifier: Apache-2.0
 *
 * The mesh as other folders see it. A root owns a list of ranks; a mesh is, per dim, a flat layout (modes) over
 * the positions in that list, and an offset: the rank at a coordinate is ranks[offset + sum of the dims' values]. The
 * root itself is the compact row-major layout at offset 0, so every stride of a sub-mesh is a product of root sizes
 * and a position is split into digits by division. Everything here costs O(dims), except listing ranks.
 *
 * A mesh has the world size and the rank that it was made for: those of its context, unless a tool or a test passes
 * others.
 */
#ifndef DT_MESH_MESH_H
#define DT_MESH_MESH_H

#include "base/lifetime.h"
#include "base/text.h"
#include "dtensor/mesh.h"
#include "layout/layout.h"

/* More ranks than any transport can number; keeps positions and products of sizes far from overflow. */
enum { DT__MESH_MAX_RANKS = INT32_MAX, DT__MESH_MAX_MODES = 31 };

/* The world of a context that is not a rank of a launch, such as that of a tool: a mesh may have any size, and "*" has
 * no value. */
enum { DT__ANY_WORLD = DT__MESH_MAX_RANKS };

/* A rank of a world. */
typedef struct dt__mesh_self {
    int64_t world, rank;
} dt__mesh_self;

/* The ranks of a root, in order: first, first+step, … or a list. Shared by a root and its sub-meshes. */
typedef struct dt__rank_list {
    int64_t n, first, step;
    int64_t *ranks;                   /* NULL: arithmetic */
    struct dt__rank_position *sorted; /* of a list: rank and position, by rank */
    uint64_t hash;
} dt__rank_list;

typedef struct dt__mesh_dim {
    const char *name; /* NULL: none */
    int64_t size;
    const dt__mode *modes; /* normal, over positions in the root's list */
    int n_modes;
} dt__mesh_dim;

/* A root's record of a mesh that was flattened from it. */
typedef struct dt__flattened {
    dt__mesh_dim dim;
    struct dt__flattened *older;
} dt__flattened;

struct dt_mesh {
    dt__lifetime life;
    dt_ctx *ctx;
    int64_t n_refs;
    dt__mesh_self self;
    dt_mesh *root;              /* itself for a root; else holds a reference */
    const dt__rank_list *ranks; /* the root's */
    const char *device;
    int n_dims;
    dt__mesh_dim *dims;
    int64_t size;
    int64_t offset;      /* position of the all-zero coordinate */
    int64_t position;    /* of self.rank in the root's list; -1: not there */
    int64_t *coordinate; /* of self.rank; NULL: not in the mesh */
    uint64_t fingerprint;
    dt__flattened *flattened;       /* of a root: newest first */
    struct dt__history *history;    /* found on first use; or NULL */
    struct dt__mesh_group **groups; /* one per dim, made on first use; or NULL */
    char *text;                     /* made on first use */
    dt__arena arena;                /* holds all that the pointers above point to, but for root, groups and text */
    dt_mesh *older, *newer;         /* all meshes of the context */
};

/* A list of dim names; items NULL: none. */
typedef struct dt__names {
    const char *const *items;
    int n;
} dt__names;

/* The public makers, for any world and rank, and with names as a list. options->names is ignored. */
dt_mesh *dt__mesh_from_shape(dt_ctx *ctx, dt__mesh_self self, const int64_t *shape, int n_dims, dt__names names,
                             const dt_mesh_options *options);
dt_mesh *dt__mesh_from_ranks(dt_ctx *ctx, dt__mesh_self self, const int64_t *ranks, const int64_t *shape, int n_dims,
                             dt__names names, const dt_mesh_options *options);
dt_mesh *dt__mesh_parse(dt_ctx *ctx, dt__mesh_self self, const char *text);

/* The public functions with names as a list. */
dt_mesh *dt__mesh_slice(dt_mesh *mesh, dt__names names);
dt_mesh *dt__mesh_unflatten(dt_mesh *mesh, int dim, const int64_t *sizes, int n_sizes, dt__names names,
                            const dt_mesh_options *options);
/* Whether two meshes are equal. Equal specs are one object, with the mesh that the first of them was made on, and ranks
 * may have made or dropped them in different orders: code that decides about communication must compare meshes by
 * value. */
static inline bool dt__mesh_same(const dt_mesh *a, const dt_mesh *b) { return a == b || dt_mesh_equal(a, b); }

/* The dim of a name; an error of `op` where there is none. */
dt_status dt__mesh_find_dim(const dt_mesh *mesh, const char *op, const char *name, int *out);

/* One layout mode per mesh dim: an integer, or a list for a dim of several modes; `1:0` for a dim of size 1. */
dt_status dt__mesh_layout(dt__arena *arena, const dt_mesh *mesh, dt__layout *out);

/* This rank's group along a dim as arithmetic: member i is at position first + modes(i) of the root's list. The modes
 * are the mesh's own. False, with *out untouched, if there is no such dim or the rank is not in the mesh. */
typedef struct dt__mesh_line {
    int64_t size, first;
    const dt__mode *modes;
    int n_modes;
} dt__mesh_line;
bool dt__mesh_line_of(const dt_mesh *mesh, int dim, dt__mesh_line *out);

/* The nodes that the groups along each mesh dim span at most, anywhere in the mesh; false: all are on one. */
bool dt__mesh_nodes(const dt_mesh *mesh, int64_t *out);

/* The mesh's call history on this rank; NULL where no peer compares it: see dt__history_of. */
struct dt__history *dt__mesh_history(dt_mesh *mesh);
/* Meets the other members of the mesh, if this rank is one, and compares the histories. */
dt_status dt__mesh_meet(dt_mesh *mesh);
/* Meets the other members if DTENSOR_CHECK_CALLS is set: called when a call was added to the history, before it
 * runs. */
static inline dt_status dt__mesh_check_calls(dt_mesh *mesh) {
    return __builtin_expect(mesh->ctx->checks_calls, false) ? dt__mesh_meet(mesh) : DT_OK;
}
/* Adds a number to the last call of the history: every rank of the mesh must add the same. */
dt_status dt__mesh_history_add(dt_mesh *mesh, uint64_t number);

/* "mesh(dp=2,tp=4)", without the ranks: for errors and for the text of a tensor. */
void dt__mesh_print_dims(dt__text *text, const dt_mesh *mesh);

#endif
