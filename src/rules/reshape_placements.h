/* SPDX-License-Identifier: Apache-2.0
 *
 * Cuts of a tensor whose dims are regrouped in row-major order ([8,4,6] as [32,6] or as [2,4,4,6]): which cuts of the
 * new dims leave every rank with the elements that it has.
 */
#ifndef DT_RULES_RESHAPE_PLACEMENTS_H
#define DT_RULES_RESHAPE_PLACEMENTS_H

#include "spec/spec.h"

/* Dims first[0] … first[0] + n[0] - 1 of the one side hold the elements of first[1] … of the other; no smaller groups
 * do. Dims of size 1 beside them belong to no group. */
typedef struct dt__dim_group {
    int first[2], n[2];
} dt__dim_group;

/* The groups of two shapes with equally many elements, at most DT_SPEC_MAX_DIMS; 0 where a size is 0. */
int dt__dim_groups_find(int n_from, const int64_t *from, int n_to, const int64_t *to, dt__dim_group *out);

/* Writes the placements of the regrouped tensor for those of `from`: cuts are mapped, the rest stays. *fits is false
 * where some rank would hold something else. Extents are made in the arena. */
dt_status dt__reshape_placements(dt__arena *arena, const dt__sharding *from, int n_to, const int64_t *to,
                                 dt_placement *out, bool *fits);

#endif
