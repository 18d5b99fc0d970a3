/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of the library's ops, made from the list of ops.h.
 */
#include "ops/ops.h"

const dt_op *const dt__op_table[DT__N_OPS] = {
#define X(name) &dt__op_##name,
    DT__OP_LIST(X)
#undef X
};
