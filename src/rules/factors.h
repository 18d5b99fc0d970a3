/* SPDX-License-Identifier: Apache-2.0
 *
 * Rules written as factors, "...mk,...kn->...mn": which dims of the inputs and outputs are the same.
 */
#ifndef DT_RULES_FACTORS_H
#define DT_RULES_FACTORS_H

#include "rules/rows.h"

/* Refuses (value) a text that is not of the form, or that names what the op has not. The argument `read` (dt_op.read),
 * or NULL, has no term. */
dt_status dt__factors_check(dt_ctx *ctx, const char *text, const dt__schema *schema, const char *read,
                            unsigned *flags);

/* Adds the rows of a rule; none where it does not fit the call. Sets the bits of inputs that are addends. */
void dt__factors_add(dt_rows *rows, const char *text, uint64_t *addends);

#endif
