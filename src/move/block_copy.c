/* SPDX-License-Identifier: Apache-2.0
 *
 * A block is a product of pieces. Each choice of one piece per dim is a *box*: a few nested loops, two at most for
 * each tensor dim. A box of one source is a strided copy. A box of several is normalized, the
 * loops ordered as the target is stored; where its innermost loop runs through consecutive elements on all
 * sides and is not short, whole runs are reduced in place, and otherwise tiles are first copied to scratch, small
 * enough to stay in the cache.
 */
#include "move/block_copy.h"

#include "base/assume.h"
#include "base/size.h"

#include <string.h>

enum { MAX_LOOPS = 2 * DT_SPEC_MAX_DIMS, MAX_ITEM_BYTES = 16, PREFETCHED_LINES = 8, SHORT_RUN_BYTES = 128 };

/* One loop: along a tensor dim, so many indices at a time on either side. */
typedef struct loop {
    int64_t size;
    int dim;
    int64_t src_step, dst_step;
} loop;

typedef struct box {
    const dt__block_copier *copier;
    bool same_strides; /* of all sources */
    int n_loops;
    loop loops[MAX_LOOPS]; /* outermost first */
} box;

static int64_t dst_stride(const box *self, const loop *l) { return l->dst_step * self->copier->dst_strides[l->dim]; }
static int64_t src_stride(const box *self, const loop *l, int i) {
    return l->src_step * self->copier->sources[i].strides[l->dim];
}

static void add_loop(box *self, loop l) {
    if (l.size > 1)
        self->loops[self->n_loops++] = l;
}

/* Sets the loops of one piece per dim, and at and *dst to its first element on both sides. */
static void open_box(box *self, int n_dims, const dt__piece *const *chosen, char **dst) {
    const dt__block_copier *copier = self->copier;
    int64_t dst_at = 0;
    self->n_loops = 0;
    for (int d = 0; d < n_dims; d++) {
        const dt__piece *piece = chosen[d];
        dst_at += piece->dst * copier->dst_strides[d];
        add_loop(self, (loop){piece->n, d, piece->src_step, piece->dst_step});
        add_loop(self, (loop){piece->size, d, 1, 1});
    }
    *dst = copier->dst + dst_at * (int64_t)copier->item_bytes;
    for (int i = 0; i < copier->n_sources; i++) {
        int64_t src_at = 0;
        for (int d = 0; d < n_dims; d++)
            src_at += chosen[d]->src * copier->sources[i].strides[d];
        copier->at[i] = copier->sources[i].at + src_at * (int64_t)copier->item_bytes;
    }
}

/* Strides of the loops from `first` on: of the target, of source i, and of a dense copy in their order. */
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
    const dt__block_copier *copier = self->copier;
    int64_t sizes[MAX_LOOPS], dst_strides[MAX_LOOPS], src_strides[MAX_LOOPS], dense[MAX_LOOPS];
    strides_of_loops(self, 0, 0, sizes, dst_strides, src_strides, dense);
    copier->kernels->copy_strided(
        &(dt__strided){dst, copier->at[0], copier->item_bytes, self->n_loops, sizes, dst_strides, src_strides},
        copier->store);
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

/* Whether the outer loop continues where the inner one ends. */
static bool are_contiguous(const box *self, const loop *outer, const loop *inner) {
    if (dst_stride(self, outer) != dst_stride(self, inner) * inner->size)
        return false;
    int n = self->same_strides ? 1 : self->copier->n_sources;
    for (int i = 0; i < n; i++)
        if (src_stride(self, outer, i) != src_stride(self, inner, i) * inner->size)
            return false;
    return true;
}

static void join_loops(box *self) {
    int n = self->n_loops > 0;
    for (int k = 1; k < self->n_loops; k++) {
        loop *outer = &self->loops[n - 1], inner = self->loops[k];
        if (are_contiguous(self, outer, &inner)) {
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
    int n = self->same_strides ? 1 : self->copier->n_sources;
    if (dst_stride(self, inner) != 1)
        return false;
    for (int i = 0; i < n; i++)
        if (src_stride(self, inner, i) != 1)
            return false;
    return true;
}

/* Many calls for short runs cost more than copying them first. */
static bool runs_are_short(const box *self) {
    return self->n_loops > 1 &&
           self->loops[self->n_loops - 1].size * (int64_t)self->copier->item_bytes < SHORT_RUN_BYTES;
}

/* Advances all pointers along a loop. */
static void advance(const box *self, const loop *l, int64_t by, char **dst) {
    const dt__block_copier *copier = self->copier;
    int64_t bytes = by * (int64_t)copier->item_bytes;
    *dst += dst_stride(self, l) * bytes;
    for (int i = 0; i < copier->n_sources; i++)
        copier->at[i] = (const char *)copier->at[i] + src_stride(self, l, i) * bytes;
}

static void reduce(const dt__block_copier *copier, void *dst, const void *const *srcs, int64_t n, dt__store store) {
    copier->kernels->reduce(copier->dtype, copier->reduce, dst, srcs, copier->n_sources, (size_t)n, copier->divisor,
                            store);
}

/* Prefetches the next runs: hardware prefetchers stop at page boundaries. */
static void prefetch_next(const box *self, const loop *l) {
    const dt__block_copier *copier = self->copier;
    for (int i = 0; i < copier->n_sources; i++) {
        const char *next = (const char *)copier->at[i] + src_stride(self, l, i) * (int64_t)copier->item_bytes;
        for (int line = 0; line < PREFETCHED_LINES; line++)
            __builtin_prefetch(next + line * 64);
    }
}

/* The outer loops around consecutive runs. */
static void reduce_runs(const box *self, int k, char *dst) {
    int inner = self->n_loops - 1;
    if (k >= inner) {
        reduce(self->copier, dst, self->copier->at, self->n_loops ? self->loops[inner].size : 1, self->copier->store);
        return;
    }
    const loop *l = &self->loops[k];
    bool prefetches =
        k + 1 == inner && self->loops[inner].size * (int64_t)self->copier->item_bytes >= PREFETCHED_LINES * 64;
    for (int64_t i = 0; i < l->size; i++) {
        if (prefetches && i + 1 < l->size)
            prefetch_next(self, l);
        reduce_runs(self, k + 1, dst);
        advance(self, l, 1, &dst);
    }
    advance(self, l, -l->size, &dst);
}

size_t dt__copy_scratch_bytes(int n_sources) {
    size_t min = ((size_t)n_sources + 1) * MAX_ITEM_BYTES;
    return min > DT__COPY_SCRATCH_BYTES ? min : DT__COPY_SCRATCH_BYTES;
}

/* Capacity of scratch in elements of each source and of the result. */
static int64_t tile_elements(const dt__block_copier *copier) {
    int64_t n = copier->n_sources + 1;
    return (int64_t)dt__copy_scratch_bytes(copier->n_sources) / (n * (int64_t)copier->item_bytes);
}

/* The loops from `first` on, which fit a tile: copied to scratch, reduced, copied to the target. */
static void reduce_tile(const box *self, int first, char *dst) {
    const dt__block_copier *copier = self->copier;
    int64_t sizes[MAX_LOOPS], dst_strides[MAX_LOOPS], src_strides[MAX_LOOPS], dense[MAX_LOOPS], n = 1;
    int n_loops = self->n_loops - first;
    for (int k = first; k < self->n_loops; k++)
        n *= self->loops[k].size;
    size_t bytes = (size_t)n * copier->item_bytes;
    unsigned char *result = copier->scratch + (size_t)copier->n_sources * bytes;
    const void **copies = copier->at + copier->n_sources;
    for (int i = 0; i < copier->n_sources; i++) {
        unsigned char *copy = copier->scratch + (size_t)i * bytes;
        strides_of_loops(self, first, i, sizes, dst_strides, src_strides, dense);
        copier->kernels->copy_strided(
            &(dt__strided){copy, copier->at[i], copier->item_bytes, n_loops, sizes, dense, src_strides}, DT__CACHED);
        copies[i] = copy;
    }
    reduce(copier, result, copies, n, DT__CACHED);
    copier->kernels->copy_strided(&(dt__strided){dst, result, copier->item_bytes, n_loops, sizes, dst_strides, dense},
                                  copier->store);
}

/* The loops from k on, tile by tile. */
static void reduce_tiles(box *self, int k, char *dst) {
    int64_t inner = 1, capacity = tile_elements(self->copier);
    for (int j = k + 1; j < self->n_loops; j++)
        inner = inner > capacity ? inner : inner * self->loops[j].size;
    if (k >= self->n_loops) {
        reduce_tile(self, k, dst);
        return;
    }
    loop *l = &self->loops[k];
    int64_t size = l->size, step = dt__max_i64(1, capacity / inner);
    for (int64_t i = 0; i < size; i += step) {
        int64_t n = dt__min_i64(step, size - i);
        l->size = n;
        if (inner <= capacity)
            reduce_tile(self, k, dst);
        else
            reduce_tiles(self, k + 1, dst);
        advance(self, l, n, &dst);
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

static bool have_same_strides(const dt__block_copier *copier, int n_dims) {
    for (int i = 1; i < copier->n_sources; i++)
        if (copier->sources[i].strides != copier->sources[0].strides &&
            (n_dims && memcmp(copier->sources[i].strides, copier->sources[0].strides,
                              (size_t)n_dims * sizeof *copier->sources[i].strides) != 0))
            return false;
    return true;
}

void dt__copy_block(const dt__block_copier *copier, int n_dims, const dt__block *block) {
    box current;
    DT__ASSUME(n_dims >= 0 && n_dims <= DT_SPEC_MAX_DIMS);
    current.copier = copier;
    current.same_strides = have_same_strides(copier, n_dims);
    int64_t index[DT_SPEC_MAX_DIMS] = {0};
    const dt__piece *chosen[DT_SPEC_MAX_DIMS];
    for (int d = 0; d < n_dims; d++)
        chosen[d] = block->pieces[d];
    for (;;) {
        char *dst;
        open_box(&current, n_dims, chosen, &dst);
        if (copier->n_sources == 1)
            copy_box(&current, dst);
        else
            reduce_box(&current, dst);
        int d = n_dims - 1;
        for (; d >= 0 && ++index[d] == block->n_pieces[d]; d--)
            index[d] = 0;
        if (d < 0)
            return;
        for (; d < n_dims; d++)
            chosen[d] = &block->pieces[d][index[d]];
    }
}

void dt__copy_chunk(const dt__block_copier *copier, int n_dims, const dt__block *block, const dt__chunk *chunk) {
    const dt__piece *pieces[DT_SPEC_MAX_DIMS];
    dt__piece slice;
    int64_t n_pieces[DT_SPEC_MAX_DIMS], first = 0;
    dt__block sliced = *block;
    sliced.pieces = pieces;
    sliced.n_pieces = n_pieces;
    for (int d = 0; d < n_dims; d++) {
        pieces[d] = d == chunk->dim ? &slice : block->pieces[d];
        n_pieces[d] = d == chunk->dim ? 1 : block->n_pieces[d];
    }
    for (int64_t i = 0; i < block->n_pieces[chunk->dim]; i++) {
        const dt__piece *piece = &block->pieces[chunk->dim][i];
        int64_t size = piece->size * piece->n, end = dt__min_i64(chunk->end - first, size);
        for (int64_t at = dt__max_i64(chunk->begin - first, 0); at < end; at += slice.size * slice.n) {
            slice = dt__piece_slice(piece, at, end);
            dt__copy_block(copier, n_dims, &sliced);
        }
        first += size;
    }
}
