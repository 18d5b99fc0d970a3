/* SPDX-License-Identifier: Apache-2.0
 *
 * Simplifies the dims of several arrays together, as strided_plan.c does for the two arrays of a copy.
 */
#include "kernels/walk.h"

/* Stride in bytes of one array along dim d of the first. */
static int64_t stride_of(const dt__array *a, int n_dims, int d) {
    const int own = d - (n_dims - a->n_dims);
    if (own < 0 || a->shape[own] == 1)
        return 0;
    return a->strides[own] * (int64_t)dt__dtype_bytes(a->dtype);
}

static void make_forward(dt__walk *walk, dt__walk_dim *dim) {
    if (dim->strides[0] >= 0)
        return;
    for (int k = 0; k < walk->n_arrays; k++) {
        walk->at[k] += (dim->size - 1) * dim->strides[k];
        dim->strides[k] = -dim->strides[k];
    }
}

static void insert_by_first(dt__walk *walk, const dt__walk_dim *dim) {
    int at = walk->n_dims++;
    for (; at > 0 && walk->dims[at - 1].strides[0] > dim->strides[0]; at--)
        walk->dims[at] = walk->dims[at - 1];
    walk->dims[at] = *dim;
}

static bool can_join(const dt__walk *walk, const dt__walk_dim *inner, const dt__walk_dim *outer) {
    for (int k = 0; k < walk->n_arrays; k++)
        if (outer->strides[k] != inner->strides[k] * inner->size)
            return false;
    return true;
}

static void join_neighbors(dt__walk *walk) {
    int last = 0;
    for (int d = 1; d < walk->n_dims; d++)
        if (can_join(walk, &walk->dims[last], &walk->dims[d]))
            walk->dims[last].size *= walk->dims[d].size;
        else
            walk->dims[++last] = walk->dims[d];
    walk->n_dims = walk->n_dims ? last + 1 : 0;
}

bool dt__walk_make(int n_arrays, const dt__array *const *arrays, dt__walk *out) {
    const dt__array *first = arrays[0];
    out->n_arrays = n_arrays;
    out->n_dims = 0;
    for (int k = 0; k < n_arrays; k++)
        out->at[k] = arrays[k]->data;
    for (int d = 0; d < first->n_dims; d++)
        if (first->shape[d] == 0)
            return false;
    for (int d = first->n_dims - 1; d >= 0; d--) {
        if (first->shape[d] == 1)
            continue;
        dt__walk_dim dim = {.size = first->shape[d]};
        for (int k = 0; k < n_arrays; k++)
            dim.strides[k] = stride_of(arrays[k], first->n_dims, d);
        make_forward(out, &dim);
        insert_by_first(out, &dim);
    }
    join_neighbors(out);
    for (int d = out->n_dims; d < 2; d++)
        out->dims[d] = (dt__walk_dim){.size = 1};
    return true;
}

bool dt__walk_next(const dt__walk *walk, int first, int64_t *position, char **at) {
    for (int d = first; d < walk->n_dims; d++) {
        const dt__walk_dim *dim = &walk->dims[d];
        const bool wraps = ++position[d] == dim->size;
        const int64_t steps = wraps ? 1 - dim->size : 1;
        for (int k = 0; k < walk->n_arrays; k++)
            at[k] += steps * dim->strides[k];
        if (!wraps)
            return true;
        position[d] = 0;
    }
    return false;
}

int64_t dt__walk_positions(const dt__walk *walk, int first) {
    int64_t n = 1;
    for (int d = first; d < walk->n_dims; d++)
        n *= walk->dims[d].size;
    return n;
}

void dt__walk_seek(const dt__walk *walk, int first, int64_t n, int64_t *position, char **at) {
    for (int d = first; d < walk->n_dims; d++) {
        position[d] = n % walk->dims[d].size;
        n /= walk->dims[d].size;
        for (int k = 0; k < walk->n_arrays; k++)
            at[k] += position[d] * walk->dims[d].strides[k];
    }
}

void dt__split_dims(const dt__array *array, uint64_t dims, dt__split *out) {
    out->kept = (dt__array){array->data, array->dtype, 0, out->kept_shape, out->kept_strides};
    out->reduced = (dt__array){array->data, array->dtype, 0, out->reduced_shape, out->reduced_strides};
    for (int d = 0; d < array->n_dims; d++)
        if (dims >> d & 1) {
            out->reduced_shape[out->reduced.n_dims] = array->shape[d];
            out->reduced_strides[out->reduced.n_dims++] = array->strides[d];
        } else {
            out->kept_shape[out->kept.n_dims] = array->shape[d];
            out->kept_strides[out->kept.n_dims++] = array->strides[d];
        }
}
