/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes a draw to memory: ranges of elements, and shards. Groups are always computed completely: in place if a range
 * contains them, and in a buffer if it contains only some of their elements; the buffer keeps its last group, so that
 * many short runs in one group compute it once. The index of an element is its row-major index in the global shape,
 * however the tensor is sharded and laid out.
 */
#include "base/size.h"
#include "random/random.h"

#include <string.h>

typedef struct cursor {
    const dt__draw *draw;
    size_t element_bytes;
    int64_t group; /* that `buffer` holds; -1: none */
    char buffer[DT__GROUP_BYTES];
} cursor;

static cursor cursor_new(const dt__draw *draw) {
    return (cursor){.draw = draw, .element_bytes = dt_dtype_size(draw->dtype), .group = -1};
}

/* Elements of one group. */
static void copy_part(cursor *at, int64_t begin, int64_t n, char *dst) {
    const int64_t group = begin / at->draw->group;
    if (group != at->group)
        at->draw->kernels->random_groups(at->draw, (uint64_t)group, 1, at->buffer);
    at->group = group;
    memcpy(dst, at->buffer + (size_t)(begin % at->draw->group) * at->element_bytes, (size_t)n * at->element_bytes);
}

static void fill_range(cursor *at, int64_t begin, int64_t n, char *dst) {
    const int64_t group = at->draw->group;
    const int64_t head = dt__min_i64(n, -begin & (group - 1)), whole = (n - head) / group;
    const int64_t tail = n - head - whole * group;
    if (head)
        copy_part(at, begin, head, dst);
    dst += (size_t)head * at->element_bytes;
    if (whole)
        at->draw->kernels->random_groups(at->draw, (uint64_t)((begin + head) / group), whole, dst);
    dst += (size_t)(whole * group) * at->element_bytes;
    if (tail)
        copy_part(at, begin + head + whole * group, tail, dst);
}

void dt__draw_range(const dt__draw *draw, int64_t begin, int64_t n, void *dst) {
    cursor at = cursor_new(draw);
    fill_range(&at, begin, n, dst);
}

/* Fills elements with a stride between them. */
static void fill_strided(cursor *at, int64_t begin, int64_t n, int64_t stride, char *dst) {
    char part[DT__GROUP_BYTES];
    const int64_t room = (int64_t)(sizeof part / at->element_bytes);
    const ptrdiff_t step = (ptrdiff_t)stride * (ptrdiff_t)at->element_bytes;
    for (int64_t done = 0; done < n; done += room) {
        const int64_t some = dt__min_i64(room, n - done);
        fill_range(at, begin + done, some, part);
        for (int64_t i = 0; i < some; i++, dst += step)
            memcpy(dst, part + (size_t)i * at->element_bytes, at->element_bytes);
    }
}

/* An iteration over a shard: dims 0 … row - 1 one index at a time, dim `row` run by run. The dims after `row` are not
 * sharded and are contiguous in both index and memory: together they are `inner` elements per index of dim `row`. */
typedef struct walk {
    int n_dims, row;
    int64_t inner;
    const dt__shard *shards;
    int64_t strides[DT_SPEC_MAX_DIMS];        /* of the memory */
    int64_t global_strides[DT_SPEC_MAX_DIMS]; /* of the index */
} walk;

static walk walk_new(int n_dims, const dt__shard *shards, const int64_t *strides) {
    walk w = {.n_dims = n_dims, .row = n_dims - 1, .inner = 1, .shards = shards};
    int64_t dense = 1, global = 1;
    for (int d = n_dims - 1; d >= 0; d--) {
        w.strides[d] = strides ? strides[d] : dense;
        w.global_strides[d] = global;
        dense *= shards[d].size;
        global *= shards[d].global_size;
    }
    while (w.row > 0 && shards[w.row].size == shards[w.row].global_size && w.strides[w.row] == w.inner &&
           w.strides[w.row - 1] == w.inner * shards[w.row].size)
        w.inner *= shards[w.row--].size;
    return w;
}

/* Elements begin … end - 1 of a row, whose element 0 belongs to place `first` of dst. */
static void fill_row(const walk *w, cursor *at, int64_t base, char *dst, int64_t first, int64_t begin, int64_t end) {
    const dt__shard *shard = &w->shards[w->row];
    const int64_t stride = w->strides[w->row];
    for (int64_t e = begin; e < end;) {
        const int64_t i = e / w->inner, into = e % w->inner;
        const dt_run run = dt__shard_run(shard, i);
        const int64_t n = dt__min_i64((run.end - run.begin) * w->inner - into, end - e);
        const int64_t index = base + run.begin * w->inner + into;
        if (stride == w->inner)
            fill_range(at, index, n, dst + (first + e) * (int64_t)at->element_bytes);
        else
            fill_strided(at, index, n, stride, dst + (first + e * stride) * (int64_t)at->element_bytes);
        e += n;
    }
}

/* The next index of the dims before the row. */
static void next_row(const walk *w, int64_t *index) {
    for (int d = w->row - 1; d >= 0; d--) {
        if (++index[d] < w->shards[d].size)
            return;
        index[d] = 0;
    }
}

/* Elements e … end - 1 of the shard, by local row-major index. dst is the address of place `origin`. */
static void fill_elements(const walk *w, cursor *at, int64_t e, int64_t end, char *dst, int64_t origin) {
    const int64_t per_row = w->shards[w->row].size * w->inner;
    int64_t index[DT_SPEC_MAX_DIMS] = {0}, row = e / per_row;
    for (int d = w->row - 1; d >= 0; d--) {
        index[d] = row % w->shards[d].size;
        row /= w->shards[d].size;
    }
    for (; e < end; next_row(w, index)) {
        int64_t base = 0, place = 0, begin = e % per_row, n = dt__min_i64(per_row - begin, end - e);
        for (int d = 0; d < w->row; d++) {
            base += dt__shard_to_global(&w->shards[d], index[d]) * w->global_strides[d];
            place += index[d] * w->strides[d];
        }
        fill_row(w, at, base, dst, place - origin, begin, begin + n);
        e += n;
    }
}

/* Pieces of the shard for the threads of the pool. */
enum { PIECE = 1 << 15 };

typedef struct pieces {
    const dt__draw *draw;
    const walk *walk;
    int64_t n; /* elements */
    char *dst;
} pieces;

static void fill_piece(void *arg, int64_t piece) {
    const pieces *all = arg;
    cursor at = cursor_new(all->draw);
    fill_elements(all->walk, &at, piece * PIECE, dt__min_i64((piece + 1) * PIECE, all->n), all->dst, 0);
}

void dt__draw_local(const dt__draw *draw, int n_dims, const dt__shard *shards, int64_t begin, int64_t n, void *dst) {
    if (n == 0)
        return;
    if (n_dims == 0) {
        dt__draw_range(draw, 0, 1, dst);
        return;
    }
    const walk w = walk_new(n_dims, shards, NULL);
    cursor at = cursor_new(draw);
    fill_elements(&w, &at, begin, begin + n, dst, begin);
}

void dt__draw_shard(const dt__draw *draw, dt__pool *pool, int n_dims, const dt__shard *shards, const int64_t *strides,
                    void *dst) {
    int64_t n = 1;
    for (int d = 0; d < n_dims; d++)
        n *= shards[d].size;
    if (n == 0)
        return;
    if (n_dims == 0) {
        dt__draw_range(draw, 0, 1, dst);
        return;
    }
    const walk w = walk_new(n_dims, shards, strides);
    pieces all = {draw, &w, n, dst};
    dt__pool_run(n > PIECE ? pool : NULL, dt__ceil_div(n, PIECE), fill_piece, &all);
}

void dt__draw_spec(const dt__draw *draw, dt__pool *pool, const dt_spec *spec, const int64_t *coordinate,
                   const int64_t *strides, void *dst) {
    dt__shard shards[DT_SPEC_MAX_DIMS];
    dt_local local;
    if (!coordinate)
        return;
    for (int d = 0; d < spec->sharding.n_dims; d++)
        dt__shard_at(&spec->sharding, d, coordinate, &shards[d]);
    dt__spec_local(spec, coordinate, &local);
    dt__draw_shard(draw, pool, spec->sharding.n_dims, shards, strides ? strides : local.strides, dst);
}
