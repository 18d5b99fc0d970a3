/* SPDX-License-Identifier: Apache-2.0
 *
 * What the ranks of a plan receive and hold: exact maxima over ranks. What a rank holds of a tensor dim depends only
 * on its coordinates along the mesh dims that cut that dim, so one table per tensor dim and step serves all ranks,
 * and each rank costs a few multiplications.
 */
#ifndef DT_PLAN_BYTE_COUNTS_H
#define DT_PLAN_BYTE_COUNTS_H

#include "plan/placement_state.h"

typedef struct dt__byte_counts {
    int64_t received; /* over all steps by one rank */
    int64_t needed;   /* the lower bound: from the first state to the last */
    int64_t peak;
    int64_t *step_received; /* per step */
    int64_t *step_busiest;  /* the first position in the mesh that receives it */
} dt__byte_counts;

/* Counts elements. The steps follow each other; `whole` is the transfer from the first state to the last, whose
 * received elements are those that are needed: `steps` itself where there is one step. */
dt_status dt__count_bytes(dt__arena *arena, int n_steps, const dt__transfer *steps, const dt__transfer *whole,
                          dt__byte_counts *out);

#endif
