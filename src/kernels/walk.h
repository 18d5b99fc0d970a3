/* SPDX-License-Identifier: Apache-2.0
 *
 * A walk over several arrays of one shape at once, in its simplest form: no dim of size 1, no two dims that could be
 * one, the first array moving forward and least along dims[0]. Pure arithmetic.
 */
#ifndef DT_KERNELS_WALK_H
#define DT_KERNELS_WALK_H

#include "kernels/array.h"

enum { DT__WALK_ARRAYS = 4, DT__WALK_DIMS = 64 };

typedef struct dt__walk_dim {
    int64_t size, strides[DT__WALK_ARRAYS]; /* in bytes */
} dt__walk_dim;

/* dims[0] is the innermost; dims that are not there are { 1, {0} } up to the second one, so that dims[0] and dims[1]
 * can always be read. */
typedef struct dt__walk {
    int n_arrays, n_dims;
    char *at[DT__WALK_ARRAYS];
    dt__walk_dim dims[DT__WALK_DIMS];
} dt__walk;

/* The shape is that of arrays[0]; the others are broadcast to it: dims that they lack in front, or in which their
 * size is 1, do not move. False when there is no element. */
bool dt__walk_make(int n_arrays, const dt__array *const *arrays, dt__walk *out);

/* Moves to the next position of the dims from `first` on; false, back at the start, after the last. position has a
 * number for each dim, all 0 at first. */
bool dt__walk_next(const dt__walk *walk, int first, int64_t *position, char **at);

/* Number of positions of the dims from `first` on, and moving from the start to position number n of them. */
int64_t dt__walk_positions(const dt__walk *walk, int first);
void dt__walk_seek(const dt__walk *walk, int first, int64_t n, int64_t *position, char **at);

#endif
