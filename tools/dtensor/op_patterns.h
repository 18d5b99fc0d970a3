/* SPDX-License-Identifier: Apache-2.0
 *
 * Which ops the operands of a command line select.
 */
#ifndef TOOLS_DTENSOR_OP_PATTERNS_H
#define TOOLS_DTENSOR_OP_PATTERNS_H

#include "arguments.h"

/* Whether an operand selects the op of this name. */
typedef bool op_fits_fn(const char *operand, const char *name);

/* By its name, or as a pattern of the shell: add, 'mat*'. */
bool fits_pattern(const char *operand, const char *name);
/* By its name, as a pattern, or if a word of the name begins with it: soft selects softmax and log_softmax. */
bool fits_word(const char *operand, const char *name);

/* Marks the ops that the operands select, by their index; without operands, all. An operand that is the name of an op
 * selects only that one. Refuses (op) one that selects none, with the nearest name. */
dt_status match_ops(session *self, op_fits_fn *fits, bool *marked);

#endif
