/* SPDX-License-Identifier: Apache-2.0
 *
 * Labels of pictures and tables. They are allocated in the arena; NULL when memory is out.
 */
#ifndef DT_SHOW_LABELS_H
#define DT_SHOW_LABELS_H

#include "base/arena.h"
#include "base/text.h"
#include "dtensor/mesh.h"
#include "dtensor/spec.h"

/* Ranges of one tensor dim, ascending, none touching the next. */
typedef struct run_list {
    const dt_run *runs;
    int64_t n;
} run_list;

/* Moves a text into the arena. */
const char *dt__label_keep(dt__text *text, dt__arena *arena);
const char *dt__label_format(dt__arena *arena, const char *format, ...) DT_PRINTF(2);
/* "0-3", "0,2,5", "0,8,..,56"; ranks are sorted in place. */
const char *dt__label_ranks(int64_t *ranks, int64_t n, dt__arena *arena);
void dt__label_add_ranks(dt__text *text, const int64_t *sorted_ranks, int64_t n);
/* "0:512"; several runs are joined by blanks, of many only the first are shown. */
const char *dt__label_runs(const dt_run *runs, int64_t n, dt__arena *arena);
/* The text forms of a spec and of placements, however long. */
const char *dt__label_spec(const dt_spec *spec, dt__arena *arena);
const char *dt__label_placements(int n, const dt_placement *placements, dt__arena *arena);
/* "1.5 MiB" */
const char *dt__label_bytes(int64_t n_bytes, dt__arena *arena);
/* "[512,512]" */
const char *dt__label_shape(const int64_t *shape, int n, dt__arena *arena);

/* Bytes of the UTF-8 character at the beginning of the text, or 0 where there is none: overlong forms, surrogates and
 * values beyond U+10FFFF are none. The text ends with a NUL, so no byte after the end is read. */
size_t dt__utf8_length(const char *text);

#endif
