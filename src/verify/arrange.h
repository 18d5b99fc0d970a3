/* SPDX-License-Identifier: Apache-2.0
 *
 * A row on one mesh dim of n ranks: the spec of each input and output on each played rank.
 */
#ifndef DT_VERIFY_ARRANGE_H
#define DT_VERIFY_ARRANGE_H

#include "verify/stage.h"

/* How dims are cut: a row may be used with any kind of cut that an input has. */
typedef enum dt__cut_kind {
    DT__CUT_PLAIN,
    DT__CUT_STRIDED,
    DT__CUT_EXTENTS, /* explicit, far from even */
    DT__N_CUT_KINDS
} dt__cut_kind;

typedef struct dt__arranged {
    int n, n_entries;
    dt_spec **specs; /* [rank, entry]; inputs, then outputs */
} dt__arranged;

static inline const dt_spec *dt__arranged_spec(const dt__arranged *self, int r, int entry) {
    return self->specs[r * self->n_entries + entry];
}

/* *fits is false where the row cannot be used so; then there is nothing to free. The ranks are a world of n. */
dt_status dt__arrange(dt__arena *arena, const dt__actor *ranks, int n, const dt_op_call *call, const dt__row *row,
                      dt__cut_kind cut, dt__arranged *out, bool *fits);
void dt__arranged_free(dt__arranged *self);

/* Whether the op, asked with the parts' shapes, would make parts of the shapes that the row says: on every rank. */
dt_status dt__arranged_is_local(dt__arena *arena, const dt__actor *ranks, const dt__arranged *self,
                                const dt__placed_call *of, bool *out);

#endif
