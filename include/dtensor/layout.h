/* SPDX-License-Identifier: Apache-2.0
 *
 * Layout algebra: functions from indices to offsets, as CuTe has them. A layout is a shape and a stride, two nested
 * tuples of one form. Its value at an index is found by splitting the index into coordinates, row-major (the last mode
 * runs fastest), and adding coordinate times stride over all modes.
 *
 *     dt_layout *a = dt_layout_parse(ctx, "(4,2):(1,4)");     // 0 4 1 5 2 6 3 7: a 4 x 2 matrix, column-major
 *     dt_layout *b = dt_layout_parse(ctx, "(2,4)");           // no stride: row-major, (2,4):(4,1)
 *     dt_layout *c = dt_layout_composition(a, b);             // i -> a(b(i)): (2,(2,2)):(2,(1,4))
 *     dt_layout *d = dt_layout_left_inverse(a);               // (2,4):(1,2): d(a(i)) = i
 *     int64_t offset = dt_layout_at(c, 5);                    // 6
 *     dt_layout_release(a), dt_layout_release(b), dt_layout_release(c), dt_layout_release(d);
 *
 * Text form: `(4,(2,2)):(8,(1,4))`, without blanks; a missing stride means the row-major one. Sizes are at least 1,
 * strides at least 0, and the size and all values fit in 63 bits: makers check this, so that evaluating cannot fail.
 * An operation is an error if no layout has the property that defines its result. `dtensor layout` evaluates
 * expressions and draws them.
 *
 * Layouts never change and belong to their context, like meshes: a maker returns a reference that the caller releases,
 * closing the context frees what is left, and a maker returns NULL after an error and for a NULL layout. All calls are
 * *Local*; errors are agreed, except for lack of memory.
 */
#ifndef DTENSOR_LAYOUT_H
#define DTENSOR_LAYOUT_H

#include <dtensor/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A nested tuple: an integer, or a list of nested tuples. `6` and `(6)` differ; `()` is the empty list. A tuple is a
 * value that refers to the memory of its items; those of a layout live as long as the layout. */
typedef struct dt_tuple {
    const struct dt_tuple *items; /* of a list */
    int64_t value;                /* of an integer */
    int64_t n_items;              /* of a list */
    int depth;                    /* 0: an integer; else 1 + the deepest item's */
} dt_tuple;

/* Levels of lists that a tuple of a layout may have. */
enum { DT_TUPLE_MAX_DEPTH = 64 };

static inline dt_tuple dt_tuple_int(int64_t value) {
    dt_tuple tuple = {NULL, value, 0, 0};
    return tuple;
}
static inline bool dt_tuple_is_int(const dt_tuple *tuple) { return tuple->depth == 0; }
/* A list that refers to these items, which must outlive it. Local. */
DT_API dt_tuple dt_tuple_list(const dt_tuple *items, int64_t n);

/* Equality of nesting and integers, and of the nesting alone. Local. */
DT_API bool dt_tuple_equal(const dt_tuple *a, const dt_tuple *b);
DT_API bool dt_tuple_congruent(const dt_tuple *a, const dt_tuple *b);
/* Number of integers, and the integers from left to right. Local. */
DT_API int64_t dt_tuple_count(const dt_tuple *tuple);
DT_API void dt_tuple_values(const dt_tuple *tuple, int64_t *out);
/* Writes the text form, cut to capacity with a terminating NUL; returns its full length. Local. */
DT_API size_t dt_tuple_text(const dt_tuple *tuple, size_t capacity, char *out);

typedef struct dt_layout dt_layout;

/* Makes a layout from its text form; an error points at the character. Local. */
DT_API dt_layout *dt_layout_parse_site(dt_ctx *ctx, const char *text, DT_CALLER);
/* A layout of two congruent tuples, which are copied. stride NULL: row-major. Local. */
DT_API dt_layout *dt_layout_new_site(dt_ctx *ctx, const dt_tuple *shape, const dt_tuple *stride, DT_CALLER);
/* A flat layout of n modes, such as the shape and the strides of an array. strides NULL: row-major. Local. */
DT_API dt_layout *dt_layout_from_shape_site(dt_ctx *ctx, const int64_t *shape, const int64_t *strides, int n,
                                            DT_CALLER);

/* The context of the layout; NULL for a NULL layout. Local. */
DT_API dt_ctx *dt_layout_ctx(const dt_layout *layout);
/* Adds a reference and returns the layout; releases one, accepting NULL. Local. */
DT_API dt_layout *dt_layout_retain(dt_layout *layout);
DT_API void dt_layout_release_site(dt_layout *layout, DT_CALLER);

/* Shape and stride, valid as long as the layout; NULL for a NULL layout. Local. */
DT_API const dt_tuple *dt_layout_shape(const dt_layout *layout);
DT_API const dt_tuple *dt_layout_stride(const dt_layout *layout);
/* The text form, valid as long as the layout; NULL for a NULL layout. Local. */
DT_API const char *dt_layout_text(const dt_layout *layout);
/* Equality of shape and stride. Different layouts may be the same function: compare their dt_layout_coalesce. Local. */
DT_API bool dt_layout_equal(const dt_layout *a, const dt_layout *b);

/* Number of indices; largest value plus one. 0 for a NULL layout. Local. */
DT_API int64_t dt_layout_size(const dt_layout *layout);
DT_API int64_t dt_layout_cosize(const dt_layout *layout);
/* The value at an index; -1 unless 0 <= index < dt_layout_size. Local. */
DT_API int64_t dt_layout_at(const dt_layout *layout, int64_t index);
/* The value at a coordinate of the shape's nesting, in which an integer may stand for a nested mode: it is split
 * row-major, and what exceeds the mode is added to its first item. -1 after an error: the nesting does not fit, a
 * number is negative, or the value exceeds 63 bits. Local. */
DT_API int64_t dt_layout_at_coordinate_site(const dt_layout *layout, const dt_tuple *coordinate, DT_CALLER);
/* The coordinate of a value, one number per integer of the shape: (value / stride) mod size, and 0 for a stride of 0.
 * False, with out unchanged, for a negative value and a NULL layout. Local. */
DT_API bool dt_layout_coordinate_of(const dt_layout *layout, int64_t value, int64_t *out);
/* Whether no two indices have the same value; exact. DT_ERR_UNSUPPORTED if strides interleave so much that it would
 * take more than about a million steps. Local. */
DT_API dt_status dt_layout_is_injective_site(const dt_layout *layout, bool *out, DT_CALLER);

/* The layout of this function with the fewest modes, flat; `1:0` if the size is 1. Layouts are the same function if
 * and only if these are equal. Local. */
DT_API dt_layout *dt_layout_coalesce_site(const dt_layout *layout, DT_CALLER);
/* The modes in one flat list; an integer layout stays as it is. Local. */
DT_API dt_layout *dt_layout_flatten_site(const dt_layout *layout, DT_CALLER);
/* The layout of the values below size that this one skips: the sums of one value of each layout are distinct, and if
 * each stride is a multiple of the extent below it, they are all values up to size or beyond. Error: overlapping modes.
 * Local. */
DT_API dt_layout *dt_layout_complement_site(const dt_layout *layout, int64_t size, DT_CALLER);
/* i -> a(b(i)), with b's nesting: a mode of b that a splits becomes a list. b may exceed a's size: a continues in the
 * direction of its first mode. Errors: indivisible modes; modes of b whose sum carries. Local. */
DT_API dt_layout *dt_layout_composition_site(const dt_layout *a, const dt_layout *b, DT_CALLER);
/* The longest layout with layout(inverse(i)) = i for all its i; at least `1:0`. Local. */
DT_API dt_layout *dt_layout_right_inverse_site(const dt_layout *layout, DT_CALLER);
/* A layout with inverse(layout(i)) = i for all i. Error: overlapping or indivisible modes. Local. */
DT_API dt_layout *dt_layout_left_inverse_site(const dt_layout *layout, DT_CALLER);

#ifndef __cplusplus
/* clang-format off */
#define dt_layout_parse(...) dt_layout_parse_site(__VA_ARGS__, DT_SITE)
#define dt_layout_new(...) dt_layout_new_site(__VA_ARGS__, DT_SITE)
#define dt_layout_from_shape(...) dt_layout_from_shape_site(__VA_ARGS__, DT_SITE)
#define dt_layout_release(...) dt_layout_release_site(__VA_ARGS__, DT_SITE)
#define dt_layout_at_coordinate(...) dt_layout_at_coordinate_site(__VA_ARGS__, DT_SITE)
#define dt_layout_is_injective(...) dt_layout_is_injective_site(__VA_ARGS__, DT_SITE)
#define dt_layout_coalesce(...) dt_layout_coalesce_site(__VA_ARGS__, DT_SITE)
#define dt_layout_flatten(...) dt_layout_flatten_site(__VA_ARGS__, DT_SITE)
#define dt_layout_complement(...) dt_layout_complement_site(__VA_ARGS__, DT_SITE)
#define dt_layout_composition(...) dt_layout_composition_site(__VA_ARGS__, DT_SITE)
#define dt_layout_right_inverse(...) dt_layout_right_inverse_site(__VA_ARGS__, DT_SITE)
#define dt_layout_left_inverse(...) dt_layout_left_inverse_site(__VA_ARGS__, DT_SITE)
/* clang-format on */
#endif

#ifdef __cplusplus
}
#endif

#endif
