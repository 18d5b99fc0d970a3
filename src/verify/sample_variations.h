/* SPDX-License-Identifier: Apache-2.0
 *
 * Variations of the text of a call: other sizes (0, 1, even, odd) and other dtypes. The op may refuse some of them.
 */
#ifndef DT_VERIFY_SAMPLE_VARIATIONS_H
#define DT_VERIFY_SAMPLE_VARIATIONS_H

#include "base/arena.h"

typedef struct dt__text_list {
    int n;
    const char **list; /* the call itself comes first */
} dt__text_list;

dt_status dt__sample_variations(dt__arena *arena, const char *call, dt__text_list *out);
/* The lines of a text, without empty ones. */
dt_status dt__split_lines(dt__arena *arena, const char *text, dt__text_list *out);

#endif
