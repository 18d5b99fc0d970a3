/* SPDX-License-Identifier: Apache-2.0
 *
 * In-place twins: add_ has the rule, the functions and the samples of add, and writes its result to its first tensor.
 */
#ifndef DT_RULES_IN_PLACE_TWIN_H
#define DT_RULES_IN_PLACE_TWIN_H

#include "rules/rules.h"

/* The descriptor of a twin (dt_op.in_place_of), in the arena, from that of its op; a summary and samples of its own are
 * kept. Refuses (value) an op that does not return one new tensor. NULL with the error recorded. */
const dt_op *dt__in_place_twin(dt__arena *arena, const dt_op *twin, const dt__op_info *of);

/* For the shape function of a twin, after that of its op: the result has the shape of the first tensor, and gets its
 * dtype, or is refused. */
dt_status dt__in_place_check(dt_op_call *call);

#endif
