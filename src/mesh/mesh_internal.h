/* SPDX-License-Identifier: Apache-2.0
 *
 * What the files of this folder share. A maker describes dims in a draft; building a mesh copies them into the mesh's
 * own memory and derives size, coordinate and fingerprint, the same way for roots and sub-meshes.
 */
#ifndef DT_MESH_MESH_INTERNAL_H
#define DT_MESH_MESH_INTERNAL_H

#include "base/hash.h"
#include "mesh/mesh.h"

/* The dims of a mesh that is to be built, in the caller's memory. */
typedef struct dt__mesh_draft {
    dt__mesh_dim dims[DT_MESH_MAX_DIMS];
    int n_dims;
} dt__mesh_draft;

/* Product of the sizes of n dims. */
int64_t dt__dims_size(const dt__mesh_dim *dims, int n);
/* The distance of coordinate number *index, row-major, from the first one in the root's list. *index, at least 0, is
 * divided by the product of the sizes: 0 remains of a valid one. */
int64_t dt__dims_at(const dt__mesh_dim *dims, int n, int64_t *index);
/* The dim of a name; -1: none. */
int dt__dims_find(const dt__mesh_dim *dims, int n, const char *name);
/* A copy whose modes and words are the arena's. */
dt_status dt__dim_copy(dt__arena *arena, const dt__mesh_dim *dim, dt__mesh_dim *out);

/* A root of these ranks (NULL: 0 … n-1). The draft's dims have a name and a size; their modes are filled in. */
dt_mesh *dt__mesh_build_root(dt_ctx *ctx, dt__mesh_self self, dt__mesh_draft *draft, const int64_t *ranks,
                             const char *device);
/* A sub-mesh of root whose all-zero coordinate is at offset. The caller has checked that the dims tile the root. */
dt_mesh *dt__mesh_build_sub(dt_mesh *root, const dt__mesh_draft *draft, int64_t offset);

/* The sub-mesh with these dims that contains this rank. An error on a rank outside the mesh, unless the dims cover all
 * of the mesh. */
dt_mesh *dt__mesh_build_containing_self(dt_mesh *mesh, const char *op, const dt__mesh_draft *draft);

/* All modes of a draft, in order, at most DT__DRAFT_MODES; and whether they are digits of the root's positions. */
enum { DT__DRAFT_MODES = DT_MESH_MAX_DIMS * DT__MESH_MAX_MODES };
int64_t dt__draft_modes(const dt__mesh_draft *draft, dt__mode *out);
bool dt__draft_tiles(const dt__mesh_draft *draft, const dt_mesh *root);
dt_status dt__draft_check_names(dt_ctx *ctx, const char *op, const dt__mesh_draft *draft);

/* Records "OP: mesh(dp=2,tp=4): TEXT". */
dt_status dt__mesh_fail(const dt_mesh *mesh, const char *op, const char *format, ...) DT_PRINTF(3);
dt_status dt__mesh_require_names(const dt_mesh *mesh, const char *op);

/* Replaces DT_MESH_ONLY_DIM by 0 on a mesh of one dim; an error for a dim out of range. */
dt_status dt__mesh_resolve_dim(const dt_mesh *mesh, const char *op, int *dim);

/* The flattened dim of this name; NULL: none. */
const dt__flattened *dt__mesh_find_flattened(const dt_mesh *root, const char *name);

/* The meshes of a context, in its slot from the first mesh on. */
typedef struct dt__mesh_state {
    dt_mesh *newest; /* of all */
    dt__freed_queue freed;
    dt_mesh **stack; /* of current meshes */
    size_t n_stack, capacity;
    dt__map groups; /* dt__mesh_group by the hash of its ranks */
} dt__mesh_state;

static inline dt__mesh_state *dt__mesh_state_of(const dt_ctx *ctx) { return ctx->slots[DT__SLOT_MESH].state; }
dt_status dt__mesh_register(dt_mesh *mesh);
void dt__mesh_unregister(dt_mesh *mesh);

/* Releases the groups of the mesh. */
void dt__mesh_drop_groups(dt_mesh *mesh);

/* The coordinate of a position in the root's list; false where it is not in the mesh. out may be NULL. */
bool dt__mesh_position_to_coordinate(const dt_mesh *mesh, int64_t position, int64_t *out);

/* Names: "dp,tp" as a list in the arena; check: names are valid and distinct. */
dt_status dt__names_split(dt__arena *arena, const char *text, dt__names *out);
dt_status dt__names_check(dt_ctx *ctx, const char *op, dt__names names);
int dt__names_find(dt__names names, const char *name);
void dt__names_print(dt__text *text, dt__names names);

/* Enters a public call on a mesh (base/ctx.h), which its errors then show. A freed mesh becomes NULL, with the error
 * recorded (base/lifetime.h); mesh may be NULL. */
void dt__mesh_describe(const void *mesh, char *out, size_t capacity);
#define DT__ENTER_MESH(mesh, name, site)                                                                             \
    DT__ENTER_ON(dt_mesh_ctx(mesh), name, site, mesh, dt__mesh_describe);                                            \
    (mesh) = DT__LIVE(DT__KIND_MESH, mesh)

#endif
