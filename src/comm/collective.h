/* SPDX-License-Identifier: Apache-2.0
 *
 * Which data each collective reads and writes on this rank, as one table, and the validation of a call.
 */
#ifndef DT_COMM_COLLECTIVE_H
#define DT_COMM_COLLECTIVE_H

#include "comm/runtime.h"

/* How much data a rank reads or writes. */
enum dt__data_extent {
    DT__NO_DATA,
    DT__VALUE,      /* count elements, the same on every rank */
    DT__OWN_BLOCK,  /* this rank's block */
    DT__ALL_BLOCKS, /* one block of each member */
};

typedef struct dt__op_shape {
    enum dt__data_extent src, dst;
    bool src_on_root, dst_on_root; /* on the root only */
    bool rooted;                   /* call.root is read */
    bool reduces;
    bool pair; /* between this rank and call.root only */
} dt__op_shape;

extern const dt__op_shape dt__op_shapes[DT__N_WORK_OPS];

/* The extent of src and dst on this rank, root or not, and their size in elements. */
enum dt__data_extent dt__src_extent(const dt_group *group, const dt_comm_call *call);
enum dt__data_extent dt__dst_extent(const dt_group *group, const dt_comm_call *call);
int64_t dt__src_count(const dt_group *group, const dt_comm_call *call);
int64_t dt__dst_count(const dt_group *group, const dt_comm_call *call);

/* Refuses an invalid call, and fills in the fields of the work that describe the call. After a refusal the work must
 * still be run, unless its group is NULL: it publishes the refusal, so that no member waits for this rank. If all
 * members refuse the call, the group stays usable. */
dt_status dt__call_check(dt_group *group, const dt_comm_call *call, dt_work *work);
/* Fills in those fields for a call that is known to be valid. */
void dt__call_prepare(dt_group *group, dt__work_op op, const dt_comm_call *call, size_t item_bytes, dt_work *work);

#endif
