/* SPDX-License-Identifier: Apache-2.0
 *
 * Names of PyTorch functions that have no op here: the error for such a name states that the op does not exist, and
 * does not suggest one with a similar spelling.
 */
#ifndef DT_RULES_ABSENT_OPS_H
#define DT_RULES_ABSENT_OPS_H

#include <stddef.h>

/* Sorted; ends with NULL. */
extern const char *const dt__absent_ops[];

/* The name in the list that is this one, or the first that begins with it if it has at least four letters; or NULL. */
const char *dt__absent_op(const char *name);

#endif
