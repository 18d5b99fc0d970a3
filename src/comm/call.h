/* SPDX-License-Identifier: Apache-2.0
 *
 * What each collective reads and writes on this rank, as one table, and the check of a call before anything moves.
 */
#ifndef DT_COMM_CALL_H
#define DT_COMM_CALL_H

#include "comm/runtime.h"

/* How much of the data a rank gives or gets. */
enum dt__part {
    DT__NOTHING,
    DT__VALUE, /* count elements, the same on every rank */
    DT__OWN,   /* this rank's block */
    DT__ALL,   /* one block of each member */
};

typedef struct dt__op_shape {
    enum dt__part src, dst;
    bool src_on_root, dst_on_root; /* on the root only */
    bool rooted;                   /* call.root is read */
    bool reduces;
    bool pair; /* between this rank and call.root only */
} dt__op_shape;

extern const dt__op_shape dt__op_shapes[DT__N_WORK_OPS];

/* What this rank gives and gets, taking root and part into account; elements. */
enum dt__part dt__src_part(const dt_group *group, const dt_comm_call *call);
enum dt__part dt__dst_part(const dt_group *group, const dt_comm_call *call);
int64_t dt__src_count(const dt_group *group, const dt_comm_call *call);
int64_t dt__dst_count(const dt_group *group, const dt_comm_call *call);

/* Refuses a call that cannot be right; fills the fields of the work that describe it. After a refusal the work,
 * unless its group is NULL, is still to be run: it tells the members, so that none waits for this rank. Where all
 * refuse alike, the group stays usable. */
dt_status dt__call_check(dt_group *group, const dt_comm_call *call, dt_work *work);
/* Fills those fields for a call that is known to be right. */
void dt__call_describe(dt_group *group, dt__work_op op, const dt_comm_call *call, size_t item_bytes, dt_work *work);

/* Runs all started operations to their ends; they are still to be waited for. */
void dt__works_finish(dt__runtime *runtime);

#endif
