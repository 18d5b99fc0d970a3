/* SPDX-License-Identifier: Apache-2.0
 *
 * Chunks are of about one size, large enough to be worth a thread and few enough to be listed. Each block is divided
 * along one dim.
 */
#include "move/chunks.h"

#include "base/size.h"
#include "kernels/kernels.h"

enum { MAX_PER_THREAD = 16 };

static int64_t positions(const dt__block *block, int dim) {
    int64_t n = 0;
    for (int64_t i = 0; i < block->n_pieces[dim]; i++)
        n += block->pieces[dim][i].size * block->pieces[dim][i].n;
    return n;
}

/* How a block is divided: along a dim, so many positions at a time. */
typedef struct division {
    int dim;
    int64_t size, step;
} division;

static division division_of(const dt__chunk_request *request, const dt__block *block, int64_t chunk_elements) {
    int64_t sizes[DT_SPEC_MAX_DIMS], n = dt__max_i64(1, block->elements / chunk_elements);
    for (int d = 0; d < request->n_dims; d++)
        sizes[d] = positions(block, d);
    int dim = dt__spread_dim(request->n_dims, sizes, request->dst_strides, n);
    return (division){dim, sizes[dim], dt__ceil_div(sizes[dim], n)};
}

/* Size of a chunk in elements, because bytes could overflow; 0: nothing is divided. */
static int64_t chunk_elements_of(const dt__chunk_request *request) {
    int64_t elements = 0, min_elements = dt__ceil_div(DT__SPREAD_BYTES, request->bytes_read);
    for (int64_t b = 0; b < request->n_blocks; b++)
        elements += request->blocks[b].elements;
    if (request->n_threads == 1 || request->n_dims == 0 || elements < 2 * min_elements)
        return 0;
    return dt__max_i64(min_elements, elements / (MAX_PER_THREAD * request->n_threads));
}

dt_status dt__chunks_new(dt__arena *arena, const dt__chunk_request *request, dt__chunks *out) {
    int64_t chunk_elements = chunk_elements_of(request), n = 0;
    *out = (dt__chunks){0};
    if (!chunk_elements)
        return DT_OK;
    for (int64_t b = 0; b < request->n_blocks; b++) {
        division c = division_of(request, &request->blocks[b], chunk_elements);
        n += dt__ceil_div(c.size, c.step);
    }
    out->list = DT__NEW_ARRAY(arena, dt__chunk, n);
    if (!out->list)
        return DT_ERR_MEMORY;
    for (int64_t b = 0; b < request->n_blocks; b++) {
        division c = division_of(request, &request->blocks[b], chunk_elements);
        for (int64_t at = 0; at < c.size; at += c.step)
            out->list[out->n++] = (dt__chunk){b, c.dim, at, dt__min_i64(at + c.step, c.size)};
    }
    return DT_OK;
}

dt__piece dt__piece_slice(const dt__piece *piece, int64_t from, int64_t to) {
    int64_t run = from / piece->size, inside = from % piece->size, n_runs = (to - from) / piece->size;
    dt__piece slice = *piece;
    slice.src += run * piece->src_step + inside;
    slice.dst += run * piece->dst_step + inside;
    slice.n = inside == 0 && n_runs > 0 ? n_runs : 1;
    if (inside != 0 || n_runs == 0)
        slice.size = dt__min_i64(piece->size - inside, to - from);
    return slice;
}
