/* SPDX-License-Identifier: Apache-2.0
 *
 * A block is a product of pieces. Each choice of one piece per dim is a *box*: a few nested loops, two at most for
 * each tensor dim. A box of one source is a strided copy. A box of several is brought into its simplest form, the
 * loops ordered as the target lies in memory; where its innermost loop runs through consecutive elements on all
 * sides and is not short, whole runs are reduced in place, and otherwise tiles are first copied to scratch, small
 * enough to stay in the cache.
 */
#include "move/block_copy.h"

#include "base/known.h"
#include "base/size.h"

#include <string.h>

enum { MOST_LOOPS = 2 * DT_SPEC_MAX_DIMS, LARGEST_ITEM = 16, FETCHED_LINES = 8, SHORT_RUN_BYTES = 128 };

/* One loop: along a tensor dim, so many indices at a time on either side. */
typedef struct loop {
    int64_t size;
    int dim;
    int64_t src_step, dst_step;
} loop;

typedef struct box {
    const dt__carrier *carrier;
    bool alike; /* all sources have the same strides */
    int n_loops;
    loop loops[MOST_LOOPS]; /* outermost first */
} box;

static int64_t dst_stride(const box *self, const loop *l) { return l->dst_step * self->carrier->dst_strides[l->dim]; }
static int64_t src_stride(const box *self, const loop *l, int i) {
    return l->src_step * self->carrier->views[i].strides[l->dim];
}

static void add_loop(box *self, loop l) {
    if (l.size > 1)
        self->loops[self->n_loops++] = l;
}

/* The box of one piece per dim; offsets of its first element on both sides are added to at and *dst. */
static void open_box(box *self, int n_dims, const dt__piece *const *chosen, char **dst) {
    const dt__carrier *carrier = self->carrier;
    int64_t dst_at = 0;
    self->n_loops = 0;
    for (int d = 0; d < n_dims; d++) {
        const dt__piece *piece = chosen[d];
        dst_at += piece->dst * carrier->dst_strides[d];
        add_loop(self, (loop){piece->n, d, piece->src_step, piece->dst_step});
        add_loop(self, (loop){piece->size, d, 1, 1});
    }
    *dst = carrier->dst + dst_at * (int64_t)carrier->item_bytes;
    for (int i = 0; i < carrier->n_sources; i++) {
        int64_t src_at = 0;
        for (int d = 0; d < n_dims; d++)
            src_at += chosen[d]->src * carrier->views[i].strides[d];
        carrier->at[i] = carrier->views[i].at + src_at * (int64_t)carrier->item_bytes;
    }
}

/* Strides of the loops from `first` on, of source i and of a side that is dense in their order. */
static void strides_of_loops(const box *self, int first, int i, int64_t *sizes, int64_t *dst, int64_t *src,
                             int64_t *dense) {
    int64_t step = 1;
    for (int k = self->n_loops - 1; k >= first; k--) {
        sizes[k - first] = self->loops[k].size;
        dst[k - first] = dst_stride(self, &self->loops[k]);
        src[k - first] = src_stride(self, &self->loops[k], i);
        dense[k - first] = step;
        step *= self->loops[k].size;
    }
}

static void copy_box(const box *self, char *dst) {
    const dt__carrier *carrier = self->carrier;
    int64_t sizes[MOST_LOOPS], dst_strides[MOST_LOOPS], src_strides[MOST_LOOPS], dense[MOST_LOOPS];
    strides_of_loops(self, 0, 0, sizes, dst_strides, src_strides, dense);
    carrier->kernels->copy_strided(
        &(dt__strided){dst, carrier->at[0], carrier->item_bytes, self->n_loops, sizes, dst_strides, src_strides},
        carrier->store);
}

static void order_loops(box *self) {
    for (int k = 1; k < self->n_loops; k++) {
        loop l = self->loops[k];
        int at = k;
        for (; at > 0 && dst_stride(self, &self->loops[at - 1]) < dst_stride(self, &l); at--)
            self->loops[at] = self->loops[at - 1];
        self->loops[at] = l;
    }
}

/* Whether the outer loop goes on where the inner one ends. */
static bool are_one(const box *self, const loop *outer, const loop *inner) {
    if (dst_stride(self, outer) != dst_stride(self, inner) * inner->size)
        return false;
    int n = self->alike ? 1 : self->carrier->n_sources;
    for (int i = 0; i < n; i++)
        if (src_stride(self, outer, i) != src_stride(self, inner, i) * inner->size)
            return false;
    return true;
}

static void join_loops(box *self) {
    int n = self->n_loops > 0;
    for (int k = 1; k < self->n_loops; k++) {
        loop *outer = &self->loops[n - 1], inner = self->loops[k];
        if (are_one(self, outer, &inner)) {
            inner.size *= outer->size;
            *outer = inner;
        } else {
            self->loops[n++] = inner;
        }
    }
    self->n_loops = n;
}

static bool runs_are_consecutive(const box *self) {
    if (!self->n_loops)
        return true;
    const loop *inner = &self->loops[self->n_loops - 1];
    int n = self->alike ? 1 : self->carrier->n_sources;
    if (dst_stride(self, inner) != 1)
        return false;
    for (int i = 0; i < n; i++)
        if (src_stride(self, inner, i) != 1)
            return false;
    return true;
}

/* A call for each of many short runs costs more than copying them. */
static bool runs_are_short(const box *self) {
    return self->n_loops > 1 &&
           self->loops[self->n_loops - 1].size * (int64_t)self->carrier->item_bytes < SHORT_RUN_BYTES;
}

/* Moves all sources along a loop. */
static void advance(const box *self, const loop *l, int64_t by, char **dst) {
    const dt__carrier *carrier = self->carrier;
    int64_t bytes = by * (int64_t)carrier->item_bytes;
    *dst += dst_stride(self, l) * bytes;
    for (int i = 0; i < carrier->n_sources; i++)
        carrier->at[i] = (const char *)carrier->at[i] + src_stride(self, l, i) * bytes;
}

static void reduce(const dt__carrier *carrier, void *dst, const void *const *srcs, int64_t n, dt__store store) {
    carrier->kernels->reduce(carrier->dtype, carrier->reduce, dst, srcs, carrier->n_sources, (size_t)n,
                             carrier->divisor, store);
}

/* The beginnings of the runs that come next: processors foresee what follows within a page only. */
static void fetch_next(const box *self, const loop *l) {
    const dt__carrier *carrier = self->carrier;
    for (int i = 0; i < carrier->n_sources; i++) {
        const char *next = (const char *)carrier->at[i] + src_stride(self, l, i) * (int64_t)carrier->item_bytes;
        for (int line = 0; line < FETCHED_LINES; line++)
            __builtin_prefetch(next + line * 64);
    }
}

/* The outer loops around consecutive runs. */
static void reduce_runs(const box *self, int k, char *dst) {
    int inner = self->n_loops - 1;
    if (k >= inner) {
        reduce(self->carrier, dst, self->carrier->at, self->n_loops ? self->loops[inner].size : 1,
               self->carrier->store);
        return;
    }
    const loop *l = &self->loops[k];
    bool fetches =
        k + 1 == inner && self->loops[inner].size * (int64_t)self->carrier->item_bytes >= FETCHED_LINES * 64;
    for (int64_t i = 0; i < l->size; i++) {
        if (fetches && i + 1 < l->size)
            fetch_next(self, l);
        reduce_runs(self, k + 1, dst);
        advance(self, l, 1, &dst);
    }
    advance(self, l, -l->size, &dst);
}

size_t dt__carry_scratch_bytes(int n_sources) {
    size_t least = ((size_t)n_sources + 1) * LARGEST_ITEM;
    return least > DT__CARRY_SCRATCH_BYTES ? least : DT__CARRY_SCRATCH_BYTES;
}

/* Elements that scratch holds of each source and of the result. */
static int64_t tile_elements(const dt__carrier *carrier) {
    int64_t n = carrier->n_sources + 1;
    return (int64_t)dt__carry_scratch_bytes(carrier->n_sources) / (n * (int64_t)carrier->item_bytes);
}

/* The loops from `first` on, which are a tile: to scratch, reduced, to the target. */
static void reduce_tile(const box *self, int first, char *dst) {
    const dt__carrier *carrier = self->carrier;
    int64_t sizes[MOST_LOOPS], dst_strides[MOST_LOOPS], src_strides[MOST_LOOPS], dense[MOST_LOOPS], n = 1;
    int n_loops = self->n_loops - first;
    for (int k = first; k < self->n_loops; k++)
        n *= self->loops[k].size;
    size_t bytes = (size_t)n * carrier->item_bytes;
    unsigned char *result = carrier->scratch + (size_t)carrier->n_sources * bytes;
    const void **copies = carrier->at + carrier->n_sources;
    for (int i = 0; i < carrier->n_sources; i++) {
        unsigned char *copy = carrier->scratch + (size_t)i * bytes;
        strides_of_loops(self, first, i, sizes, dst_strides, src_strides, dense);
        carrier->kernels->copy_strided(
            &(dt__strided){copy, carrier->at[i], carrier->item_bytes, n_loops, sizes, dense, src_strides},
            DT__CACHED);
        copies[i] = copy;
    }
    reduce(carrier, result, copies, n, DT__CACHED);
    carrier->kernels->copy_strided(
        &(dt__strided){dst, result, carrier->item_bytes, n_loops, sizes, dst_strides, dense}, carrier->store);
}

/* The loops from k on, tile by tile. */
static void reduce_tiles(box *self, int k, char *dst) {
    int64_t inside = 1, most = tile_elements(self->carrier);
    for (int j = k + 1; j < self->n_loops; j++)
        inside = inside > most ? inside : inside * self->loops[j].size;
    if (k >= self->n_loops) {
        reduce_tile(self, k, dst);
        return;
    }
    loop *l = &self->loops[k];
    int64_t size = l->size, step = dt__max_i64(1, most / inside);
    for (int64_t i = 0; i < size; i += step) {
        int64_t now = dt__min_i64(step, size - i);
        l->size = now;
        if (inside <= most)
            reduce_tile(self, k, dst);
        else
            reduce_tiles(self, k + 1, dst);
        advance(self, l, now, &dst);
    }
    l->size = size;
    advance(self, l, -size, &dst);
}

static void reduce_box(box *self, char *dst) {
    order_loops(self);
    join_loops(self);
    if (runs_are_consecutive(self) && !runs_are_short(self))
        reduce_runs(self, 0, dst);
    else
        reduce_tiles(self, 0, dst);
}

static bool are_alike(const dt__carrier *carrier, int n_dims) {
    for (int i = 1; i < carrier->n_sources; i++)
        if (carrier->views[i].strides != carrier->views[0].strides &&
            (n_dims && memcmp(carrier->views[i].strides, carrier->views[0].strides,
                              (size_t)n_dims * sizeof *carrier->views[i].strides) != 0))
            return false;
    return true;
}

void dt__carry_block(const dt__carrier *carrier, int n_dims, const dt__block *block) {
    box now;
    DT__KNOWN(n_dims >= 0 && n_dims <= DT_SPEC_MAX_DIMS);
    now.carrier = carrier;
    now.alike = are_alike(carrier, n_dims);
    int64_t index[DT_SPEC_MAX_DIMS] = {0};
    const dt__piece *chosen[DT_SPEC_MAX_DIMS];
    for (int d = 0; d < n_dims; d++)
        chosen[d] = block->pieces[d];
    for (;;) {
        char *dst;
        open_box(&now, n_dims, chosen, &dst);
        if (carrier->n_sources == 1)
            copy_box(&now, dst);
        else
            reduce_box(&now, dst);
        int d = n_dims - 1;
        for (; d >= 0 && ++index[d] == block->n_pieces[d]; d--)
            index[d] = 0;
        if (d < 0)
            return;
        for (; d < n_dims; d++)
            chosen[d] = &block->pieces[d][index[d]];
    }
}

void dt__carry_chunk(const dt__carrier *carrier, int n_dims, const dt__block *block, const dt__chunk *chunk) {
    const dt__piece *pieces[DT_SPEC_MAX_DIMS];
    dt__piece now;
    int64_t n_pieces[DT_SPEC_MAX_DIMS], first = 0;
    dt__block part = *block;
    part.pieces = pieces;
    part.n_pieces = n_pieces;
    for (int d = 0; d < n_dims; d++) {
        pieces[d] = d == chunk->dim ? &now : block->pieces[d];
        n_pieces[d] = d == chunk->dim ? 1 : block->n_pieces[d];
    }
    for (int64_t i = 0; i < block->n_pieces[chunk->dim]; i++) {
        const dt__piece *piece = &block->pieces[chunk->dim][i];
        int64_t size = piece->size * piece->n, end = dt__min_i64(chunk->end - first, size);
        for (int64_t at = dt__max_i64(chunk->begin - first, 0); at < end; at += now.size * now.n) {
            now = dt__piece_part(piece, at, end);
            dt__carry_block(carrier, n_dims, &part);
        }
        first += size;
    }
}
