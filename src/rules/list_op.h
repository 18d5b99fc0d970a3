/* SPDX-License-Identifier: Apache-2.0
 *
 * List ops for src/rules: resolving their descriptor and inferring their outputs (list_op.c).
 */
#ifndef DT_RULES_LIST_OP_H
#define DT_RULES_LIST_OP_H

#include "rules/rules.h"

/* Finds the op that a list op maps and sets info->list. */
dt_status dt__list_op_resolve(dt__arena *arena, dt__op_info *info);
/* The outputs of all items, in their order, if the op returns any. */
dt_status dt__list_op_infer(dt__arena *arena, dt_op_call *call);

#endif
