/* SPDX-License-Identifier: Apache-2.0
 *
 * From a call and the placements of its inputs to what is done: outputs and their shapes, the rows that are correct,
 * and the cheapest way to use them on all mesh dims. Pure: sizes, dtypes and placements only.
 */
#ifndef DT_RULES_RULES_H
#define DT_RULES_RULES_H

#include "plan/plan.h"
#include "rules/schema.h"

/* An op as a context knows it. */
typedef struct dt__op_info {
    const dt_op *op;
    int index; /* from 0: the library's ops in the order of its table, then registered ones */
    dt__schema schema;
} dt__op_info;

/* The library's ops; defined beside them. */
extern const dt_op *const dt__op_table[];
extern const int dt__n_ops;

/* By index, of which the glue of each op knows its own, and by name. NULL with the error recorded: memory, a malformed
 * line, or (op) no such name. Schema lines are parsed on first use. */
const dt__op_info *dt__op_at(dt_ctx *ctx, int index);
const dt__op_info *dt__op_find(dt_ctx *ctx, const char *name);

/* A call with its arguments; nothing is copied. Outputs are added by dt__op_call_infer, into the arena. */
dt_op_call dt__op_call_new(dt_ctx *ctx, const dt__op_info *info, int overload, const dt_arg *args, int n_inputs,
                           const dt_op_value *inputs);
dt_status dt__op_call_infer(dt__arena *arena, dt_op_call *call);

/* Rows for one mesh dim: entries of inputs, then of outputs. */
typedef struct dt__row {
    unsigned flags;
    const dt_row_entry *entries;
} dt__row;

typedef struct dt__row_list {
    int n_rows, n_entries; /* entries per row */
    const dt__row *rows;   /* without the row that is all Replicate */
} dt__row_list;

/* Each row once, those that an input's dtype forbids left out. The outputs must be known. */
dt_status dt__op_call_rows(dt__arena *arena, const dt_op_call *call, dt__row_list *out);
/* For lists that people read: adds the rows that follow because Replicate serves as P(avg), P(max) and P(min), unless
 * a row has more than DT__MAX_VARIANTS such entries, and leaves out those that are not to be listed. */
enum { DT__MAX_VARIANTS = 4 };
dt_status dt__rows_expand(dt__arena *arena, const dt_op_call *call, dt__row_list *list);
/* Appends "S(0),R->S(0)". */
void dt__row_text(const dt_op_call *call, const dt__row *row, dt__text *out);

/* What is done with a call. Lists have an entry per input or output, of n_mesh_dims placements each. */
typedef struct dt__candidate {
    int n_mesh_dims;
    const dt_placement *const *inputs;  /* what the kernel gets */
    const dt_placement *const *moved;   /* what redistribution has to give: R where each rank makes a partial of it */
    const dt_placement *const *outputs; /* what the kernel makes */
    const dt__row *const *rows;         /* per mesh dim; NULL: all Replicate */
    const double *input_us;             /* what moving each input costs */
    double cost_us;                     /* in all */
    unsigned flags;                     /* DT_ROW_… of the rows together */
} dt__candidate;

/* Where a call runs: mesh sizes, and the inputs' shardings on that mesh. A call without inputs gives Replicate. */
typedef struct dt__placed_inputs {
    int n_mesh_dims;
    const int64_t *mesh;
    const dt__sharding *const *inputs;
    const dt__machine *machine;
} dt__placed_inputs;

/* The cheapest of all combinations of rows over the mesh dims; of equally cheap ones the first. The outputs must be
 * known. An in-place op keeps its first input where it is, or is refused (placement). A partial that a row asks for and
 * that an input, being Replicate, is not, is made by each rank: P(avg), P(max) and P(min) as they are, P(sum) by zeros
 * and P(product) by ones on all coordinates of that mesh dim but the first. */
dt_status dt__select_placements(dt__arena *arena, const dt_op_call *call, const dt__placed_inputs *on,
                                dt__candidate *out);
/* Up to `most` of the cheapest combinations, from the cheapest on; *n gets how many. */
dt_status dt__list_candidates(dt__arena *arena, const dt_op_call *call, const dt__placed_inputs *on, int most,
                              dt__candidate *out, int *n);

#endif
