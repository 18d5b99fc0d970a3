/* SPDX-License-Identifier: Apache-2.0
 *
 * Verifies the rule of an op by running its rows on simulated ranks:
 *
 *     dt_op_register(ctx, &swiglu);
 *     if (dt_op_verify(ctx, "swiglu") != DT_OK)
 *         return dt_report(ctx);
 *
 * Each row of the op, for its samples and for variants of them with other sizes and dtypes, is run on 2, 3 and 5
 * simulated ranks: inputs are sharded or made partial as the row states (with ties, zeros, NaN, infinities and
 * identities of reductions among their values), the kernel runs on each rank's local tensors, and the outputs together
 * are compared with those of the kernel on the full tensors. A row that fails is wrong; one that passes is not proven.
 */
#ifndef DTENSOR_VERIFY_H
#define DTENSOR_VERIFY_H

#include <dtensor/op.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Verifies all rows of an op, in at most a second. Errors: a wrong row (value), with the smallest failing call, the
 * number of ranks and the element; no samples, or a sample that the op refuses (value); no kernel (unsupported). Does
 * not communicate. Local. */
DT_API dt_status dt_op_verify_site(dt_ctx *ctx, const char *name, DT_CALLER);

#ifndef __cplusplus
/* clang-format off */
#define dt_op_verify(...) dt_op_verify_site(__VA_ARGS__, DT_SITE)
/* clang-format on */
#endif

#ifdef __cplusplus
}
#endif

#endif
