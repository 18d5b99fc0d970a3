/* SPDX-License-Identifier: Apache-2.0
 *
 * Values as text, read and printed: defaults of schema lines and arguments of calls. Numbers, true, false, none, nan,
 * inf, dtypes, quoted or bare words, and lists of numbers: -1, 1e-5, "tanh", [0,2].
 */
#ifndef DT_RULES_LITERAL_H
#define DT_RULES_LITERAL_H

#include "base/arena.h"
#include "base/cursor.h"
#include "base/text.h"
#include "dtensor/op.h"

/* Reads one value; lists and words go into the arena. A bare word is a string. */
dt_status dt__literal_read(dt__cursor *cursor, dt__arena *arena, dt_arg *out);
/* Appends a value as dt__literal_read reads it, floating-point numbers with as many digits as they need. Complex
 * numbers, which it does not read, are appended as 1+2j; tensors are not values. */
void dt__literal_text(const dt_arg *value, dt__text *out);
/* A name: letters, digits and underscores, in the arena. NULL with the error recorded where there is none. */
const char *dt__literal_name(dt__cursor *cursor, dt__arena *arena);

#endif
