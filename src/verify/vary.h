/* SPDX-License-Identifier: Apache-2.0
 *
 * Variations of a call's text: other sizes (none, one, even, more) and other dtypes. Not each is a call that the op
 * takes.
 */
#ifndef DT_VERIFY_VARY_H
#define DT_VERIFY_VARY_H

#include "base/arena.h"

typedef struct dt__texts {
    int n;
    const char **list; /* the call itself comes first */
} dt__texts;

dt_status dt__vary(dt__arena *arena, const char *call, dt__texts *out);
/* The lines of a text. */
dt_status dt__lines(dt__arena *arena, const char *text, dt__texts *out);

#endif
