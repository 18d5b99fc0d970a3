/* SPDX-License-Identifier: Apache-2.0
 *
 * Names of PyTorch's functions that are no ops here: the error for such a name states that the op does not exist, and
 * suggests no other that is spelled like it.
 */
#ifndef DT_RULES_ABSENT_OPS_H
#define DT_RULES_ABSENT_OPS_H

#include <stddef.h>

/* Sorted; ends with NULL. */
extern const char *const dt__absent_ops[];

/* The name in the list that is this one, or the first that begins with it if it has at least four letters; or NULL. */
const char *dt__absent_op(const char *name);

#endif
