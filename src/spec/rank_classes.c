/* SPDX-License-Identifier: Apache-2.0
 *
 * Classes of ranks, for estimates: ranks that hold the same shapes need the same memory, so that one of them stands for
 * all. Along each dim of the mesh of all ranks, cuts are the coordinates where shapes change. Shapes along a
 * mesh dim never grow and shrink again, so there are no cuts between two coordinates with the same shapes, and
 * bisection finds the others.
 */
#include "comm/comm.h"
#include "mesh/mesh.h"
#include "spec/spec.h"

#include <string.h>

static void add_cut(dt__rank_classes *self, int dim, int64_t cut) {
    int n = self->n_cuts[dim], at = n;
    int64_t *cuts = self->cuts[dim];
    while (at > 0 && cuts[at - 1] > cut)
        at--;
    if (n == DT__MAX_CUTS || (at > 0 && cuts[at - 1] == cut))
        return;
    memmove(&cuts[at + 1], &cuts[at], (size_t)(n - at) * sizeof *cuts);
    cuts[at] = cut;
    self->n_cuts[dim]++;
}

/* Sizes and steps of the mesh of all ranks; false if the mesh does not have all ranks, or not evenly spaced. */
static bool describe(const dt_mesh *mesh, dt__rank_classes *out) {
    int64_t coordinate[DT_MESH_MAX_DIMS] = {0}, last;
    int n = dt_mesh_n_dims(mesh);
    if (n > DT__MAX_CLASS_DIMS || dt_mesh_size(mesh) != dt_mesh_ctx(mesh)->world)
        return false;
    *out = (dt__rank_classes){.first_rank = dt_mesh_rank_at(mesh, coordinate)};
    last = out->first_rank;
    for (int m = 0; m < n; m++) {
        out->sizes[m] = dt_mesh_dim_size(mesh, m);
        coordinate[m] = out->sizes[m] > 1;
        out->steps[m] = dt_mesh_rank_at(mesh, coordinate) - out->first_rank;
        coordinate[m] = 0;
        last += (out->sizes[m] - 1) * out->steps[m];
    }
    for (int m = 0; m < n; m++)
        coordinate[m] = out->sizes[m] - 1;
    if (dt_mesh_rank_at(mesh, coordinate) != last)
        return false;
    out->n_dims = n;
    return true;
}

static bool same_shape(const dt_spec *spec, int64_t *coordinate, int m, int64_t a, int64_t b) {
    dt_local first, second;
    coordinate[m] = a;
    dt__spec_local(spec, coordinate, &first);
    coordinate[m] = b;
    dt__spec_local(spec, coordinate, &second);
    return !memcmp(first.shape, second.shape, (size_t)first.n_dims * sizeof *first.shape);
}

/* The cuts between two coordinates along mesh dim m. */
static void bisect(dt__rank_classes *self, const dt_spec *spec, int64_t *coordinate, int m, int64_t low,
                   int64_t high) {
    if (low >= high || same_shape(spec, coordinate, m, low, high))
        return;
    if (high == low + 1) {
        add_cut(self, m, high);
        return;
    }
    int64_t middle = (low + high) / 2;
    bisect(self, spec, coordinate, m, low, middle);
    bisect(self, spec, coordinate, m, middle, high);
}

/* A dim of the mesh of all ranks that a tensor is not on, such as the stages of a pipeline, separates classes of
 * ranks. */
static void cut_stages(dt__rank_classes *self, const dt_mesh *root, const dt_mesh *mesh) {
    for (int m = 0; m < self->n_dims; m++) {
        const char *name = dt_mesh_dim_name(root, m);
        bool is_stage = !name || dt_mesh_dim(mesh, name) < 0;
        for (int64_t c = 1; is_stage && c < self->sizes[m] && c <= DT__MAX_CUTS; c++)
            add_cut(self, m, c);
    }
}

void dt__rank_classes_note(const dt_spec *spec) {
    dt__rank_classes *self = &spec->ctx->estimate->classes;
    const dt_mesh *root = dt_mesh_root((dt_mesh *)spec->mesh);
    dt__rank_classes found;
    if (!self->n_dims && describe(root, &found))
        *self = found;
    if (dt_mesh_size(spec->mesh) == 1 && spec->ctx->world > 1)
        return;
    if (!self->n_dims || root != spec->mesh) {
        if (self->n_dims && dt_mesh_n_dims(spec->mesh) < self->n_dims)
            cut_stages(self, root, spec->mesh);
        return;
    }
    for (int m = 0; m < self->n_dims; m++)
        for (int end = 0; end < 2; end++) {
            int64_t coordinate[DT_SPEC_MAX_DIMS] = {0};
            for (int k = 0; k < self->n_dims && end; k++)
                coordinate[k] = self->sizes[k] - 1;
            bisect(self, spec, coordinate, m, 0, self->sizes[m] - 1);
        }
}
