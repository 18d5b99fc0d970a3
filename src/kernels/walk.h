/* SPDX-License-Identifier: Apache-2.0
 *
 * An iteration over several arrays of one shape, in its simplest form: no dim of size 1, no two dims that could be
 * joined, strides of the first array non-negative and ascending from dims[0]. Pure arithmetic.
 */
#ifndef DT_KERNELS_WALK_H
#define DT_KERNELS_WALK_H

#include "kernels/kernels.h"

enum { DT__WALK_ARRAYS = 4, DT__WALK_DIMS = 64 };

typedef struct dt__walk_dim {
    int64_t size, strides[DT__WALK_ARRAYS]; /* in bytes */
} dt__walk_dim;

/* dims[0] is the innermost. dims[0] and dims[1] can always be read: beyond n_dims they are { 1, {0} }. */
typedef struct dt__walk {
    int n_arrays, n_dims;
    char *at[DT__WALK_ARRAYS];
    dt__walk_dim dims[DT__WALK_DIMS];
} dt__walk;

/* The shape is that of arrays[0]; the others are broadcast to it: leading dims that they lack, and dims of size 1, have
 * stride 0. False if there are no elements. */
bool dt__walk_make(int n_arrays, const dt__array *const *arrays, dt__walk *out);

/* Moves to the next position of the dims from `first` on; after the last, returns to the start and false. position has
 * an index for each dim, initially 0. */
bool dt__walk_next(const dt__walk *walk, int first, int64_t *position, char **at);

/* The number of positions of the dims from `first` on; and a move from the start to the n-th of them. */
int64_t dt__walk_positions(const dt__walk *walk, int first);
void dt__walk_seek(const dt__walk *walk, int first, int64_t n, int64_t *position, char **at);

/* An array along the dims whose bits are set (reduced) and along the others (kept), each in order. */
typedef struct dt__split {
    int64_t kept_shape[DT__WALK_DIMS], kept_strides[DT__WALK_DIMS], reduced_shape[DT__WALK_DIMS],
        reduced_strides[DT__WALK_DIMS];
    dt__array kept, reduced;
} dt__split;
void dt__split_dims(const dt__array *array, uint64_t dims, dt__split *out);

#endif
