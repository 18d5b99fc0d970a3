/* SPDX-License-Identifier: Apache-2.0
 *
 * Who holds what, as the pictures and tables need it: what each placement means, and what each position of the mesh
 * holds. Drawing reads this and nothing else of the library.
 */
#ifndef TOOLS_DTENSOR_HOLDINGS_H
#define TOOLS_DTENSOR_HOLDINGS_H

#include "base/arena.h"
#include "dtensor/spec.h"

enum {
    HOLDINGS_MAX_POSITIONS = 4096, /* meshes beyond are not listed rank by rank */
    HOLDINGS_MAX_RUNS = 300        /* of one rank in one dim; what follows is left out */
};

/* Ranges of one tensor dim, ascending, none touching the next. */
typedef struct run_list {
    const dt_run *runs;
    int64_t n;
} run_list;

/* What one position of the mesh holds. */
typedef struct holding {
    dt_local local;
    const run_list *runs; /* per tensor dim */
} holding;

typedef struct holdings_mesh_dim {
    const char *name; /* "dp", or "mesh dim 0" for a mesh without names */
    bool is_named;
    const char *placement; /* text form, "S(0)" */
    const char *meaning;   /* "cuts dim 0 into 4" */
    const char *reduce;    /* "sum" where the placement is partial, else NULL */
    int64_t size;
} holdings_mesh_dim;

typedef struct holdings {
    const char *spec;    /* text form */
    const char *summary; /* "8 ranks, 1 MiB of 2 MiB on each" */
    int n_dims;          /* of the tensor */
    const int64_t *shape;
    int n_mesh_dims;
    const holdings_mesh_dim *mesh_dims;
    int64_t n_positions;  /* of the mesh, row-major */
    const int64_t *ranks; /* which rank sits at a position; NULL beyond HOLDINGS_MAX_POSITIONS */
    const holding *of;    /* position to what it holds; NULL beyond HOLDINGS_MAX_POSITIONS */
} holdings;

/* Asks the library; everything lives in the arena. */
dt_status holdings_new(const dt_spec *spec, dt__arena *arena, holdings *out);
/* Whether values still have to be reduced. */
bool holdings_is_partial(const holdings *held);
/* What one position holds; needs no list of the others. */
dt_status holdings_at(const dt_spec *spec, int64_t position, dt__arena *arena, int64_t *rank, holding *out);

#endif
