/* SPDX-License-Identifier: Apache-2.0
 *
 * Rules written as factors, "...mk,...kn->...mn": which dims of the inputs and outputs are the same.
 */
#ifndef DT_RULES_FACTORS_H
#define DT_RULES_FACTORS_H

#include "rules/rows.h"

/* Refuses (value) a text that is not of the form. */
dt_status dt__factors_check(dt_ctx *ctx, const char *text);

/* Which inputs are addends of the result, by bits; no rows where the rule does not fit the call. */
void dt__factors_add(dt_rows *rows, const char *text, uint64_t *addends);

#endif
