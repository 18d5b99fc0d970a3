/* SPDX-License-Identifier: Apache-2.0
 *
 * What ops that add elements at indices share: index_add, scatter_add and the gradients of ops that read by index.
 */
#ifndef DT_OPS_ADD_AT_INDICES_H
#define DT_OPS_ADD_AT_INDICES_H

#include "kernels/kernels.h"
#include "ops/kernel_support.h"

/* Adds rows (dt__index_add), or elements along a dim (dt__scatter_along). Where an index is out of range, nothing is
 * added, and it is a verdict. */
dt_status dt__add_at_indices(const dt_op_call *call, const dt__indexed *args, bool along);

/* Memory for the terms of n indices, where sums of the dtype need it. */
dt_status dt__index_terms_new(const dt_op_call *call, dt_dtype dtype, int64_t n, dt__scratch *memory,
                              dt__index_term **out);
/* NULL is fine. */
void dt__index_terms_free(const dt_op_call *call, dt__scratch *memory, const dt__index_term *terms);

#endif
