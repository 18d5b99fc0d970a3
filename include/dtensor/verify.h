/* SPDX-License-Identifier: Apache-2.0
 *
 * Verifies the rule of an op by trying its rows:
 *
 *     dt_op_register(ctx, &swiglu);
 *     if (dt_op_verify(ctx, "swiglu") != DT_OK)
 *         return dt_report(ctx);
 *
 * Each row that the op offers for its samples, and for samples with other sizes and dtypes, is tried with 2, 3 and 5
 * simulated ranks: inputs are sharded or made partial as the row states (with ties, zeros, NaN, infinities and
 * identities of reductions among their values), the kernel runs on each rank's local tensors, and the outputs together
 * are compared with those of the kernel on the full tensors. A row that passes is not proven; one that fails is wrong.
 */
#ifndef DTENSOR_VERIFY_H
#define DTENSOR_VERIFY_H

#include <dtensor/op.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Tries all rows of an op; takes a second at most. Refuses (value) a rule with a wrong row, and names the row, the
 * smallest call that shows it, the number of ranks, and the element; (value) an op without samples or with one that it
 * refuses; (unsupported) an op without a kernel. Nothing is sent. Local. */
DT_API dt_status dt_op_verify(dt_ctx *ctx, const char *name);

#ifdef __cplusplus
}
#endif

#endif
