/* SPDX-License-Identifier: Apache-2.0
 *
 * Words for sets of ranks, sizes and ranges, as they stand in pictures and tables. All texts live in the arena; NULL
 * when memory is out.
 */
#ifndef TOOLS_DTENSOR_LABELS_H
#define TOOLS_DTENSOR_LABELS_H

#include "base/text.h"
#include "holdings.h"

/* Moves a text into the arena. */
const char *label_keep(dt__text *text, dt__arena *arena);
/* "0-3", "0,2,5", "0,8,..,56"; ranks are sorted in place. */
const char *label_ranks(int64_t *ranks, int64_t n, dt__arena *arena);
/* Who holds a block, by positions of the mesh: the ranks, or per copy the ranks whose values make it, such as
 * "sum(0,4), sum(1,5)". */
const char *label_holders(const holdings *held, const int64_t *positions, int64_t n, dt__arena *arena);
/* "0:512"; several runs are joined by blanks, many are cut short. */
const char *label_runs(const run_list *list, dt__arena *arena);
/* "f32[8,8] S(0) on mesh(2)", however long */
const char *label_spec(const dt_spec *spec, dt__arena *arena);
/* "1.5 MiB" */
const char *label_bytes(int64_t n_bytes, dt__arena *arena);
/* "[512,512]" */
const char *label_shape(const int64_t *shape, int n, dt__arena *arena);

#endif
