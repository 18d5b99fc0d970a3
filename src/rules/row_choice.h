/* SPDX-License-Identifier: Apache-2.0
 *
 * A choice of rows: one option per mesh dim, and what follows from it for placements. Several shards of one tensor dim
 * may come in any order that an input has.
 */
#ifndef DT_RULES_ROW_CHOICE_H
#define DT_RULES_ROW_CHOICE_H

#include "rules/row_options.h"

typedef struct dt__row_choice {
    dt__arena *arena;
    const dt_op_call *call;
    const dt__placed_inputs *on;
    const dt__row_option **options; /* per mesh dim */
    const dt_placement *order;      /* shards are ordered as in these placements; NULL: from left to right */
} dt__row_choice;

static inline dt_row_entry dt__choice_entry(const dt__row_choice *choice, int m, int entry) {
    return dt__row_option_entry(choice->options[m], entry);
}
/* The flags of the row of mesh dim m, and those of all rows. */
static inline unsigned dt__choice_row_flags(const dt__row_choice *choice, int m) {
    return choice->options[m]->row ? choice->options[m]->row->flags : 0;
}
unsigned dt__choice_flags(const dt__row_choice *choice);

/* The placements to which input i is redistributed. */
void dt__choice_target(const dt__row_choice *choice, int i, dt_placement *out);
/* The placements of an input or output as the rows have them. */
void dt__choice_placements(const dt__row_choice *choice, int entry, dt_placement *out);
/* Whether placements can be had: a dim with explicit extents is sharded by one mesh dim only. */
bool dt__placements_are_possible(int n, const dt_placement *placements);

/* The placements of the outputs; *fits is false where the outputs cannot have them. */
dt_status dt__choice_outputs(const dt__row_choice *choice, dt_placement *const *out, bool *fits);
/* Whether tensors that are written keep their placements, as inputs and where they are outputs. */
bool dt__choice_keeps_written(const dt__row_choice *choice, dt_placement *const *outputs);

/* Whether each rank holds all of its new shard of every input, given that no shard is gathered or moved to another dim
 * and no partial reduced. */
bool dt__choice_moves_locally(const dt__row_choice *choice);
/* How many ranks repeat the same work although an input was distributed over them. */
double dt__choice_repeated_work(const dt__row_choice *choice);

/* n_lists lists of n placements; NULL when out of memory. */
dt_placement **dt__placement_lists_new(dt__arena *arena, int n_lists, int n);

#endif
