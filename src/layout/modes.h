/* SPDX-License-Identifier: Apache-2.0
 *
 * Flat layouts: a list of modes, each a size and a stride, row-major. The nested layouts of layout.h are flattened to
 * this form for arithmetic, and a mesh keeps one such list per mesh dim. As a function, the list maps index i to the
 * sum of coordinate times stride over its modes.
 *
 * Sizes are at least 1 and strides at least 0; a *normal* list is coalesced: no mode of size 1, no two neighbors
 * that could be one. The normal list of a function is unique, so equal functions have equal normal lists.
 */
#ifndef DT_LAYOUT_MODES_H
#define DT_LAYOUT_MODES_H

#include "base/arena.h"

typedef struct dt__mode {
    int64_t size, stride;
} dt__mode;

/* Size of the domain. False where it does not fit. */
bool dt__modes_size(const dt__mode *modes, int64_t n, int64_t *out);
/* Largest value plus one. False where it does not fit. */
bool dt__modes_cosize(const dt__mode *modes, int64_t n, int64_t *out);

/* Value at index; the first mode takes the rest, so that an index beyond the size continues in its direction. The
 * result must fit, as it does for every index below the size of a checked list. */
int64_t dt__modes_at(const dt__mode *modes, int64_t n, int64_t index);

/* Brings the list to normal form in place and returns its new length, 0 for a list whose size is 1. */
int64_t dt__modes_coalesce(dt__mode *modes, int64_t n);
bool dt__modes_equal(const dt__mode *a, int64_t n_a, const dt__mode *b, int64_t n_b);

/* Drops modes of size 1 and sorts the others by stride, then size, descending: row-major order of the values. Returns
 * how many there are. */
int64_t dt__modes_sort(dt__mode *modes, int64_t n);

/* Whether each mode, in order of stride, steps over all that the smaller ones reach. Such a list maps no two indices
 * to one value, and a value is split again by division. (The converse does not hold: (3,2):(2,3).) The list is
 * scratch: its order changes. */
bool dt__modes_orthogonal(dt__mode *modes, int64_t n);

/* Whether the modes are digits of the numbers below size: in order of stride, each stride is a multiple of what the
 * smaller modes reach, and size of what the largest reaches. A number's digit is then (number / stride) mod size,
 * and what its digits leave over selects one of the copies that together cover all numbers once. Scratch as above. */
bool dt__modes_tile(dt__mode *modes, int64_t n, int64_t size);

/* i -> A(b(i)) for one mode b, as a list of at most n_a + 1 modes, which out must hold. A is normal. Indivisible:
 * b cuts a mode of A at a place that is not a multiple of it, so that no list of modes is that function.
 *
 * Several modes compose one by one as long as their sum never carries from one mode of A into the next. spare, unless
 * NULL, has what each mode of A can still take before it would, at first its size - 1; each call uses some of it up.
 */
typedef enum dt__compose {
    DT__COMPOSE_OK,
    DT__COMPOSE_INDIVISIBLE,
    DT__COMPOSE_CARRY,
    DT__COMPOSE_OVERFLOW
} dt__compose;
dt__compose dt__modes_compose_one(const dt__mode *a, int64_t n_a, dt__mode b, int64_t *spare, dt__mode *out,
                                  int64_t *n_out);

/* The modes that, together with these, reach every value below size (rounded up to whole steps): normal, at most n + 1
 * of them. False where the given modes are not orthogonal. The given list is sorted in place. */
bool dt__modes_complement(dt__mode *modes, int64_t n, int64_t size, dt__mode *out, int64_t *n_out);

#endif
