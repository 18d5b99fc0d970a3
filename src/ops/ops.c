/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of ops, for the folders above.
 */
#include "ops/ops.h"

#include "rules/rules.h"

const dt_op *const dt__op_table[] = {
#define X(name) &dt__op_##name,
    DT__OP_LIST(X)
#undef X
};
const int dt__n_ops = DT__N_OPS;
