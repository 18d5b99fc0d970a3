/* SPDX-License-Identifier: Apache-2.0
 *
 * How a mesh comes into being and goes: inside this folder only. A maker describes the dims; the build copies them
 * into the mesh's own memory and derives size, coordinate and fingerprint, the same way for roots and sub-meshes.
 */
#ifndef DT_MESH_BUILD_H
#define DT_MESH_BUILD_H

#include "base/hash.h"
#include "mesh/mesh.h"

/* What a mesh is made of, in the caller's memory. */
typedef struct dt__mesh_draft {
    dt__mesh_dim dims[DT_MESH_MAX_DIMS];
    int n_dims;
} dt__mesh_draft;

/* Number of coordinates that n dims have together. */
int64_t dt__dims_size(const dt__mesh_dim *dims, int n);
/* How far coordinate number *index, row-major, lies from the first one in the root's list. *index, at least 0, becomes
 * what lies beyond the dims: 0 for a coordinate that there is. */
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

/* The sub-mesh with these dims that contains this rank. A rank outside the mesh has none, except where the dims hold
 * all of the mesh. op is for the message. */
dt_mesh *dt__mesh_build_around_self(dt_mesh *mesh, const char *op, const dt__mesh_draft *draft);

/* All modes of a draft, in order, for which there is room; and whether they are digits of the root's positions. */
enum { DT__DRAFT_MODES = DT_MESH_MAX_DIMS * DT__MESH_MAX_MODES };
int64_t dt__draft_modes(const dt__mesh_draft *draft, dt__mode *out);
bool dt__draft_tiles(const dt__mesh_draft *draft, const dt_mesh *root);
dt_status dt__draft_check_names(dt_ctx *ctx, const char *op, const dt__mesh_draft *draft);

/* Records "OP on mesh(dp=2,tp=4): WHAT". */
dt_status dt__mesh_fail(const dt_mesh *mesh, const char *op, const char *format, ...) DT_PRINTF(3);
dt_status dt__mesh_need_names(const dt_mesh *mesh, const char *op);

/* Turns DT_MESH_ONLY_DIM into 0 on a mesh of one dim; an error where there is no such dim. */
dt_status dt__mesh_resolve_dim(const dt_mesh *mesh, const char *op, int *dim);

/* What was flattened from the root under this name; NULL: nothing. */
const dt__flattened *dt__mesh_find_flattened(const dt_mesh *root, const char *name);

/* What a context knows of meshes; hangs in its slot from its first mesh on. */
typedef struct dt__mesh_state {
    dt_mesh *newest; /* of all that live */
    dt_mesh **stack; /* of current meshes */
    size_t n_stack, room;
    dt__map groups; /* dt__mesh_group by the hash of its ranks */
    dt__map agreed; /* histories by fingerprint: agreed.c */
} dt__mesh_state;

static inline dt__mesh_state *dt__mesh_state_of(const dt_ctx *ctx) { return ctx->slots[DT__SLOT_MESH].state; }
dt_status dt__mesh_register(dt_mesh *mesh);
void dt__mesh_unregister(dt_mesh *mesh);

/* Frees the histories. */
void dt__mesh_forget_agreed(dt_ctx *ctx, dt__mesh_state *state);
/* Gives back the groups that the mesh has asked for. */
void dt__mesh_drop_groups(dt_mesh *mesh);

/* Takes a position of the root's list apart; false where it is not in the mesh. out may be NULL. */
bool dt__mesh_take_apart(const dt_mesh *mesh, int64_t position, int64_t *out);

/* Names: "dp,tp" as a list in the arena; a list's names are words and differ from each other. */
dt_status dt__names_split(dt__arena *arena, const char *text, dt__names *out);
dt_status dt__names_check(dt_ctx *ctx, const char *op, dt__names names);
int dt__names_find(dt__names names, const char *name);
void dt__names_print(dt__text *text, dt__names names);

#endif
