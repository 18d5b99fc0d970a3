/* SPDX-License-Identifier: Apache-2.0
 *
 * The options of one mesh dim: a row with a kind of shard. A row that shards may be used with any kind of shard that
 * an input has there (strided, explicit extents) besides the plain one; windows are fetched from shards of any kind.
 * Where other mesh dims fetch windows, a mesh dim on which inputs can stay as they are is not changed.
 */
#ifndef DT_RULES_ROW_OPTIONS_H
#define DT_RULES_ROW_OPTIONS_H

#include "rules/rules.h"

typedef struct dt__row_option {
    const dt__row *row;          /* NULL: all Replicate */
    const dt_placement *cut;     /* the kind of shard, as an input has it; NULL: plain */
    const dt_placement *grouped; /* of a grouped row, how each entry is sharded; NULL: by cut */
    double estimate_us;          /* estimated cost of this mesh dim alone, for trying cheap options first */
    bool strays; /* changes an input, although a local row leaves all unchanged: not used with windows */
} dt__row_option;

static inline dt_row_entry dt__row_option_entry(const dt__row_option *option, int entry) {
    return option->row ? option->row->entries[entry] : DT_ROW_R;
}

static inline bool dt__is_partial_of(const dt_placement *placement, dt_row_entry entry) {
    return dt_placement_is_partial(*placement) && DT_ROW_P(placement->reduce) == entry;
}

/* The placement of an entry, with the option's kind of shard; its position is not set. */
dt_placement dt__row_option_placement(const dt__row_option *option, int entry);

/* All options of mesh dim m, by estimated cost; source_bytes has the bytes of the local tensor of each input. */
dt_status dt__row_options_list(dt__arena *arena, const dt_op_call *call, const dt__placed_inputs *on,
                               const dt__row_list *rows, int m, const double *source_bytes, dt__row_option **out,
                               int *n);

#endif
