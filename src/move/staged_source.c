/* SPDX-License-Identifier: Apache-2.0
 *
 * Boxes of a shard are cut along one dim: the slowest in memory for which all faster ones fit the staging buffer
 * together. Dims that are slower have one index in a box.
 */
#include "move/staged_source.h"

#include "base/size.h"

#include <string.h>

/* How a shard is cut: dim order[at] into n_chunks chunks. */
typedef struct cutting {
    int at;
    int64_t chunk, n_chunks, n_outer;
} cutting;

static cutting cut(const dt_spec *from, const int64_t *shape, int64_t bytes) {
    const int64_t most = bytes / (int64_t)dt_dtype_size(from->dtype);
    const int n = from->sharding.n_dims, *order = from->stride_order;
    int64_t inner = 1;
    cutting self = {n - 1, 0, 0, 1};
    for (int d = 0; d < n; d++)
        if (shape[d] == 0)
            return (cutting){0, 0, 0, 0};
    while (self.at > 0 && shape[order[self.at]] <= most / inner)
        inner *= shape[order[self.at--]];
    int64_t size = n > 0 ? shape[order[self.at]] : 1;
    self.n_chunks = dt__ceil_div(size, most / inner);
    self.chunk = dt__ceil_div(size, self.n_chunks);
    self.n_chunks = dt__ceil_div(size, self.chunk);
    for (int p = 0; p < self.at; p++)
        self.n_outer *= shape[order[p]];
    return self;
}

int64_t dt__staged_rounds(const dt_spec *from, int64_t bytes) {
    int64_t shape[DT_SPEC_MAX_DIMS];
    for (int d = 0; d < from->sharding.n_dims; d++)
        if (!dt__sharding_dim_max(&from->sharding, d, &shape[d]))
            shape[d] = from->sharding.shape[d];
    cutting largest = cut(from, shape, bytes);
    return largest.n_outer * largest.n_chunks;
}

bool dt__staged_box_at(const dt_spec *from, const int64_t *shape, int64_t bytes, int64_t round, dt__staged_box *out) {
    const int n = from->sharding.n_dims, *order = from->stride_order;
    int64_t strides[DT_SPEC_MAX_DIMS];
    cutting self = cut(from, shape, bytes);
    if (round >= self.n_outer * self.n_chunks)
        return false;
    memset(out, 0, sizeof *out);
    memcpy(out->size, shape, (size_t)n * sizeof *shape);
    if (n == 0)
        return true;
    int dim = order[self.at];
    out->begin[dim] = round % self.n_chunks * self.chunk;
    out->size[dim] = dt__min_i64(self.chunk, shape[dim] - out->begin[dim]);
    int64_t rest = round / self.n_chunks;
    for (int p = self.at - 1; p >= 0; p--) {
        out->begin[order[p]] = rest % shape[order[p]];
        out->size[order[p]] = 1;
        rest /= shape[order[p]];
    }
    (void)dt__dense_strides(n, shape, order, strides);
    for (int d = 0; d < n; d++)
        out->first += out->begin[d] * strides[d];
    return true;
}

/* Appends the part of `n` runs from run `run` on, `from` to `to` within each. */
static void add_runs(const dt__piece *piece, int64_t run, int64_t n, int64_t from, int64_t to, dt__piece *out,
                     int64_t *n_out) {
    if (n < 1 || from >= to)
        return;
    out[*n_out] = *piece;
    out[*n_out].n = n;
    out[*n_out].size = to - from;
    out[*n_out].src = piece->src + run * piece->src_step + from;
    out[*n_out].dst = piece->dst + run * piece->dst_step + from;
    ++*n_out;
}

/* The part of a piece whose source indices are begin to end - 1, in at most three pieces. */
static void clip_piece(const dt__piece *piece, int64_t begin, int64_t end, dt__piece *out, int64_t *n_out) {
    const int64_t step = piece->n > 1 ? piece->src_step : piece->size;
    const int64_t low = begin - piece->src, high = end - piece->src; /* from the first index of the piece on */
    if (high <= 0 || low >= (piece->n - 1) * step + piece->size)
        return;
    const int64_t first = low <= 0 ? 0 : low / step, last = dt__min_i64((high - 1) / step, piece->n - 1);
    const int64_t from = dt__max_i64(low - first * step, 0), to = dt__min_i64(high - last * step, piece->size);
    if (first == last) {
        add_runs(piece, first, 1, from, to, out, n_out);
        return;
    }
    if (from > 0)
        add_runs(piece, first, 1, from, piece->size, out, n_out);
    const int64_t whole = first + (from > 0), n_whole = last - whole + (to == piece->size);
    add_runs(piece, whole, n_whole, 0, piece->size, out, n_out);
    if (to < piece->size)
        add_runs(piece, last, 1, 0, to, out, n_out);
}

dt_status dt__block_in_box(dt__arena *arena, int n_dims, const dt__block *block, const dt__staged_box *box,
                           dt__block *out) {
    const dt__piece **pieces = DT__NEW_ARRAY(arena, const dt__piece *, n_dims + 1);
    int64_t *n_pieces = DT__NEW_ARRAY(arena, int64_t, n_dims + 1);
    if (!pieces || !n_pieces)
        return DT_ERR_MEMORY;
    *out = *block;
    out->pieces = pieces;
    out->n_pieces = n_pieces;
    out->elements = 1;
    for (int d = 0; d < n_dims; d++) {
        dt__piece *list = DT__NEW_ARRAY(arena, dt__piece, 3 * block->n_pieces[d] + 1);
        int64_t size = 0;
        if (!list)
            return DT_ERR_MEMORY;
        for (int64_t i = 0; i < block->n_pieces[d]; i++)
            clip_piece(&block->pieces[d][i], box->begin[d], box->begin[d] + box->size[d], list, &n_pieces[d]);
        for (int64_t i = 0; i < n_pieces[d]; i++)
            size += list[i].size * list[i].n;
        pieces[d] = list;
        out->elements *= size;
    }
    return DT_OK;
}
