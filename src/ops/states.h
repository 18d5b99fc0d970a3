/* SPDX-License-Identifier: Apache-2.0
 *
 * States of ops that meet or scan (dt_meet), which several ops share: arrays with a number for each element that
 * remains when dims are reduced, and the statistics of what was reduced to it.
 */
#ifndef DT_OPS_STATES_H
#define DT_OPS_STATES_H

#include "ops/reduce_support.h"

/* How many elements of a tensor remain when these dims are reduced to one. */
int64_t dt__n_remaining(const dt_op_value *value, uint32_t dims);
/* A field with that many numbers as an array of the dims of the first input that remain. */
void dt__state_array(const dt_op_call *call, uint32_t dims, const dt_state_field *field, dt__reduced *out);

/* The fields of statistics: the first number and the second, or only the second (squares), then the count (moments). */
void dt__statistics_describe(const dt_op_call *call, dt__statistic kind, uint32_t dims, dt_state *state);
/* The statistics of `in`, which has the shape of the first input; powers may be NULL (dt__statistics.powers). */
void dt__statistics_begin(const dt_op_call *call, dt__statistic kind, uint32_t dims, const dt__array *in,
                          const dt__array *powers, const dt_state *state);
void dt__statistics_meet(const dt_op_call *call, dt__statistic kind, const dt_state *into, const dt_state *next);
/* The field of the second number. */
static inline int dt__second_field(dt__statistic kind) { return kind == DT__SQUARES ? 0 : 1; }

/* A state of this rank alone, for kernels that have all of the dims: begin and finish without a meeting. */
dt_status dt__run_alone(dt_op_call *call);

#endif
