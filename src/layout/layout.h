/* SPDX-License-Identifier: Apache-2.0
 *
 * Layout algebra. A layout consists of a shape and a stride, two congruent nested tuples, and represents a function
 * from indices 0 … size-1 to integers: the index is split row-major (the last mode is the fastest) and the coordinates
 * are multiplied with the strides and added. `(2,4):(4,1)` counts 0 … 7; `(4,2):(1,4)` reads the same numbers column by
 * column.
 *
 * All functions are pure: results live in the arena, errors go to its context and leave *out as it was. A layout that
 * dt__layout_new accepted has sizes of at least 1, strides of at least 0, and a size and a cosize that fit in 63
 * bits, so that evaluating it cannot overflow. Text form: `(4,(2,2)):(8,(1,4))`; a missing stride means the row-major
 * one.
 */
#ifndef DT_LAYOUT_LAYOUT_H
#define DT_LAYOUT_LAYOUT_H

#include "layout/modes.h"
#include "layout/tuple.h"

typedef struct dt__layout {
    dt_tuple shape, stride;
} dt__layout;

/* Checks these bounds. stride NULL: row-major strides. */
dt_status dt__layout_new(dt__arena *arena, const dt_tuple *shape, const dt_tuple *stride, dt__layout *out);
/* One mode for n = 1 and as_list = false, else a list; `1:0` for n = 0. */
dt_status dt__layout_of_modes(dt__arena *arena, const dt__mode *modes, int64_t n, bool as_list, dt__layout *out);
/* The modes of all integers from left to right: dt_tuple_count(&layout->shape) of them. */
void dt__layout_modes(const dt__layout *layout, dt__mode *out);
/* All modes from left to right, in a new array of the arena. */
dt_status dt__layout_list_modes(dt__arena *arena, const dt__layout *layout, dt__mode **modes, int64_t *n);

/* Records "SUBJECT LAYOUT: PROBLEM". */
dt_status dt__layout_fail(dt_ctx *ctx, dt_status status, const char *subject, const dt__layout *layout,
                          const char *problem);

bool dt__layout_equal(const dt__layout *a, const dt__layout *b);

/* Number of indices; largest value plus one. */
int64_t dt__layout_size(const dt__layout *layout);
int64_t dt__layout_cosize(const dt__layout *layout);
/* The function's value at 0 <= index < size. */
int64_t dt__layout_at(const dt__layout *layout, int64_t index);

/* Value at a coordinate, which may have an integer for a nested mode: that is split row-major, and what exceeds the
 * mode is added to its first item. coord NULL: zeros. Errors: coordinate and shape do not fit; negative; overflow. */
dt_status dt__layout_crd2idx(dt__arena *arena, const dt__layout *layout, const dt_tuple *coord, int64_t *out);
/* The coordinate of a value: per mode (value / stride) mod size. The coordinate of a stride of 0 is 0. The second form
 * writes one number per integer of the shape, for a value of at least 0. */
dt_status dt__layout_idx2crd(dt__arena *arena, const dt__layout *layout, int64_t value, dt_tuple *out);
void dt__layout_digits(const dt__layout *layout, int64_t value, int64_t *out);

/* The layout of this function with the fewest modes, flat; `1:0` if the size is 1. */
dt_status dt__layout_coalesce(dt__arena *arena, const dt__layout *layout, dt__layout *out);
/* The modes in one flat list; an integer layout stays as it is. */
dt_status dt__layout_flatten(dt__arena *arena, const dt__layout *layout, dt__layout *out);
/* The layout with its top-level modes from … to-1 replaced by those of `by` (an integer `by` is one mode). */
dt_status dt__layout_splice(dt__arena *arena, const dt__layout *layout, int64_t from, int64_t to,
                            const dt__layout *by, dt__layout *out);

/* The layout of the values below size that this one skips: composed side by side, the two reach each value at most
 * once. A stride that is not a multiple of the extent below it is rounded down. Error: overlapping modes. */
dt_status dt__layout_complement(dt__arena *arena, const dt__layout *layout, int64_t size, dt__layout *out);
/* i -> a(b(i)), with b's nesting: a mode of b that is split becomes a list. b may exceed a's size: a continues in
 * the direction of its first mode. Errors: indivisible modes; modes of b whose sum carries. */
dt_status dt__layout_composition(dt__arena *arena, const dt__layout *a, const dt__layout *b, dt__layout *out);
/* The longest layout with layout(inverse(i)) = i for all its i; at least `1:0`. */
dt_status dt__layout_right_inverse(dt__arena *arena, const dt__layout *layout, dt__layout *out);
/* A layout with inverse(layout(i)) = i for all i. Error: overlapping or indivisible modes. */
dt_status dt__layout_left_inverse(dt__arena *arena, const dt__layout *layout, dt__layout *out);

/* Whether no two indices have the same value. Exact; cheap unless strides interleave; DT_ERR_UNSUPPORTED where it would
 * take more than about a million steps. */
dt_status dt__layout_is_injective(dt__arena *arena, const dt__layout *layout, bool *out);

void dt__layout_print(dt__text *text, const dt__layout *layout);
/* Reads the whole text; an error points at the character. */
dt_status dt__layout_parse(dt__arena *arena, const char *text, dt__layout *out);

#endif
