/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds the inside of a part by bisection along each axis.
 */
#include "dispatch/tiles.h"

#include "base/arena.h"

#include <string.h>

/* The search along one axis, in the middle of the others. */
typedef struct search {
    int n_axes, axis;
    const int64_t *sizes;
    dt__tile_reach_fn *reach;
    void *user;
} search;

static dt_status reach_at(const search *self, int64_t at, dt__tile_reach *out) {
    dt__range tile[DT_SPEC_MAX_DIMS];
    for (int a = 0; a < self->n_axes; a++) {
        int64_t index = a == self->axis ? at : self->sizes[a] / 2;
        tile[a] = (dt__range){index, index + 1};
    }
    return self->reach(self->user, tile, out);
}

/* The first index that does not reach back, or the first one that reaches ahead; the size where there is none. */
static dt_status bisect(const search *self, bool ahead, int64_t *out) {
    int64_t begin = 0, end = self->sizes[self->axis];
    while (begin < end) {
        int64_t middle = begin + (end - begin) / 2;
        dt__tile_reach reach = {false, false};
        DT__TRY(reach_at(self, middle, &reach));
        if (ahead ? reach.after : !reach.before)
            end = middle;
        else
            begin = middle + 1;
    }
    *out = begin;
    return DT_OK;
}

static void add_tile(dt__tiles *to, const dt__range *tile) {
    memcpy(to->ranges + (ptrdiff_t)to->n++ * to->n_axes, tile, (size_t)to->n_axes * sizeof *tile);
}

/* What is around the inside: of each axis, what is before and after, across the axes that follow. */
static void add_rest(dt__tiles *to, const int64_t *sizes, const dt__range *inside) {
    dt__range tile[DT_SPEC_MAX_DIMS];
    for (int axis = 0; axis < to->n_axes; axis++)
        for (int is_after = 0; is_after < 2; is_after++) {
            for (int a = 0; a < to->n_axes; a++)
                tile[a] = a < axis ? inside[a] : (dt__range){0, sizes[a]};
            tile[axis] = is_after ? (dt__range){inside[axis].end, sizes[axis]} : (dt__range){0, inside[axis].begin};
            if (tile[axis].begin < tile[axis].end)
                add_tile(to, tile);
        }
}

dt_status dt__tiles_new(dt__arena *arena, int n_axes, const int64_t *sizes, dt__tile_reach_fn *reach, void *user,
                        dt__tiles *out) {
    dt__range inside[DT_SPEC_MAX_DIMS];
    bool has_inside = n_axes > 0;
    *out = (dt__tiles){.n_axes = n_axes, .ranges = DT__NEW_ARRAY(arena, dt__range, (2 * n_axes + 1) * n_axes + 1)};
    if (!out->ranges)
        return DT_ERR_MEMORY;
    for (int axis = 0; axis < n_axes && has_inside; axis++) {
        search self = {n_axes, axis, sizes, reach, user};
        DT__TRY(bisect(&self, false, &inside[axis].begin));
        DT__TRY(bisect(&self, true, &inside[axis].end));
        has_inside = inside[axis].begin < inside[axis].end;
    }
    if (has_inside) {
        dt__tile_reach of_inside = {false, false};
        DT__TRY(reach(user, inside, &of_inside));
        has_inside = !of_inside.before && !of_inside.after;
    }
    for (int a = 0; a < n_axes && !has_inside; a++)
        inside[a] = (dt__range){0, sizes[a]};
    add_tile(out, inside);
    if (has_inside)
        add_rest(out, sizes, inside);
    return DT_OK;
}
