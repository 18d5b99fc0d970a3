/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows while they are collected.
 */
#ifndef DT_RULES_ROWS_H
#define DT_RULES_ROWS_H

#include "rules/rules.h"

struct dt_rows {
    dt__arena *arena;
    const dt_op_call *call;
    int n_rows, capacity;
    dt__row *rows;
    dt_status status; /* the first failure; rows are not added after it */
};

#endif
