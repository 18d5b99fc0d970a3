/* SPDX-License-Identifier: Apache-2.0
 *
 * The list of ranks of a root mesh: rank of a position, position of a rank. Arithmetic where the ranks are evenly
 * spaced, which needs no memory; otherwise the list and an index sorted by rank.
 */
#ifndef DT_MESH_RANK_LIST_H
#define DT_MESH_RANK_LIST_H

#include "mesh/mesh.h"

/* Ranks 0 … n - 1. */
dt__rank_list dt__rank_list_range(int64_t n);
/* These ranks; an error if one is outside the world or appears twice. Memory comes from the arena. */
dt_status dt__rank_list_of(dt__arena *arena, const int64_t *ranks, int64_t n, int64_t world, dt__rank_list *out);

int64_t dt__rank_list_at(const dt__rank_list *list, int64_t position);
/* -1: not in the list. */
int64_t dt__rank_list_find(const dt__rank_list *list, int64_t rank);
bool dt__rank_list_equal(const dt__rank_list *a, const dt__rank_list *b);

#endif
