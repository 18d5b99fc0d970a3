/* SPDX-License-Identifier: Apache-2.0
 *
 * Nested integer tuples: an integer, or a list of nested tuples. They are values: made in an arena, never changed
 * afterwards, copied by assignment. `6` and `(6)` differ; `()` is the empty list. Text form: `(4,(2,2))`.
 *
 * A tuple nests at most DT__TUPLE_MAX_DEPTH deep, which the makers check, so that functions may recurse. Linear order
 * is row-major everywhere: the last item runs fastest.
 */
#ifndef DT_LAYOUT_TUPLE_H
#define DT_LAYOUT_TUPLE_H

#include "base/arena.h"
#include "base/cursor.h"
#include "base/text.h"

enum { DT__TUPLE_MAX_DEPTH = 64 };

typedef struct dt__tuple {
    const struct dt__tuple *items; /* of a list */
    int64_t value;                 /* of an integer */
    int64_t n_items;               /* of a list */
    int depth;                     /* 0: an integer; else 1 + the deepest item's */
} dt__tuple;

static inline bool dt__tuple_is_int(const dt__tuple *tuple) { return tuple->depth == 0; }
static inline dt__tuple dt__tuple_int(int64_t value) { return (dt__tuple){.value = value}; }

/* A list of copies of the items; an error when it would nest too deep. items may be NULL for n = 0. */
dt_status dt__tuple_list(dt__arena *arena, const dt__tuple *items, int64_t n, dt__tuple *out);
/* A flat list of integers. */
dt_status dt__tuple_ints(dt__arena *arena, const int64_t *values, int64_t n, dt__tuple *out);

bool dt__tuple_equal(const dt__tuple *a, const dt__tuple *b);
/* Whether both have the same nesting, whatever their integers. */
bool dt__tuple_congruent(const dt__tuple *a, const dt__tuple *b);

/* Number of integers, and the integers from left to right. */
int64_t dt__tuple_count(const dt__tuple *tuple);
dt_status dt__tuple_flatten(dt__arena *arena, const dt__tuple *tuple, dt__tuple *out);
/* The same nesting with other integers, taken from left to right. */
dt_status dt__tuple_like(dt__arena *arena, const dt__tuple *form, const int64_t *values, dt__tuple *out);

/* Product of all integers; of `()` it is 1. */
dt_status dt__tuple_product(dt_ctx *ctx, const dt__tuple *tuple, int64_t *out);
/* Sum of the products of corresponding integers; the two must be congruent. */
dt_status dt__tuple_inner_product(dt_ctx *ctx, const dt__tuple *a, const dt__tuple *b, int64_t *out);
/* Each integer becomes the product of all integers to its right: the row-major strides of a shape. */
dt_status dt__tuple_suffix_product(dt__arena *arena, const dt__tuple *shape, dt__tuple *out);
/* Divides a shape by an integer that is consumed from the left: (3,4)/6 is (1,2). Indivisible is an error. */
dt_status dt__tuple_shape_div(dt__arena *arena, const dt__tuple *shape, int64_t divisor, dt__tuple *out);

void dt__tuple_print(dt__text *text, const dt__tuple *tuple);
/* Parses the tuple at the cursor and moves the cursor behind it; after an error, always DT_ERR_VALUE, the cursor is
 * unchanged. The form has no blanks. */
dt_status dt__tuple_parse(dt__arena *arena, dt__cursor *cursor, dt__tuple *out);

#endif
