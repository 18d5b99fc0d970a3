/* SPDX-License-Identifier: Apache-2.0
 *
 * The operations of layout algebra by name, for requests of `dtensor query` and expressions of `dtensor layout`. An
 * operation takes a layout and at most one operand besides it.
 */
#ifndef TOOLS_DTENSOR_LAYOUT_OPERATIONS_H
#define TOOLS_DTENSOR_LAYOUT_OPERATIONS_H

#include "layout/layout.h"

typedef enum operand_kind { OPERAND_NONE, OPERAND_LAYOUT, OPERAND_NUMBER, OPERAND_TUPLE } operand_kind;

/* A layout; or an integer or a tuple. */
typedef struct layout_value {
    bool is_layout;
    dt__layout layout;
    dt_tuple tuple;
} layout_value;

typedef struct layout_operation {
    const char *name;
    const char *field; /* of a request: the name of the operand; NULL: there is none */
    operand_kind operand;
    dt_status (*compute)(dt__arena *arena, const dt__layout *layout, const layout_value *operand, layout_value *out);
} layout_operation;

/* NULL: there is none of this name, which need not end with a NUL. */
const layout_operation *layout_operation_find(const char *name, size_t length);
/* Evaluates an expression: a layout, or NAME(EXPRESSION) or NAME(EXPRESSION, OPERAND). A layout without a stride is
 * row-major. */
dt_status layout_evaluate(dt__arena *arena, const char *expression, layout_value *out);

#endif
