/* SPDX-License-Identifier: Apache-2.0
 *
 * What the ranks of a plan receive and hold, exactly and for the rank that has most. What a rank holds of a tensor
 * dim depends only on its coordinates along the mesh dims that cut that dim, so one table per tensor dim and step
 * answers for all ranks, and each rank costs a few multiplications.
 */
#ifndef DT_PLAN_BYTES_H
#define DT_PLAN_BYTES_H

#include "plan/placement_state.h"

typedef struct dt__counts {
    int64_t received; /* over all steps by one rank, the largest */
    int64_t needed;   /* the lower bound: from the first state to the last, the largest */
    int64_t peak;
    int64_t *step_received; /* per step, the largest */
    int64_t *step_most;     /* and the first position in the mesh that receives it */
} dt__counts;

/* Counts elements. The steps follow each other; `whole` is the step from the first state to the last, whose received
 * elements are what is needed. */
dt_status dt__count(dt__arena *arena, int n_steps, const dt__transfer *steps, const dt__transfer *whole,
                    dt__counts *out);

#endif
