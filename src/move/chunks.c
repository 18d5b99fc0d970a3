/* SPDX-License-Identifier: Apache-2.0
 *
 * Chunks are of about one size, large enough to be worth a thread and few enough to be listed. Each block is cut
 * along one dim.
 */
#include "move/chunks.h"

#include "base/size.h"
#include "kernels/spread.h"

enum { MOST_PER_THREAD = 16 };

static int64_t positions(const dt__block *block, int dim) {
    int64_t n = 0;
    for (int64_t i = 0; i < block->n_pieces[dim]; i++)
        n += block->pieces[dim][i].size * block->pieces[dim][i].n;
    return n;
}

/* How a block is cut: along a dim, so many positions at a time. */
typedef struct cut {
    int dim;
    int64_t size, step;
} cut;

static cut cut_of(const dt__chunks_of *what, const dt__block *block, int64_t chunk_elements) {
    int64_t sizes[DT_SPEC_MAX_DIMS], n = dt__max_i64(1, block->elements / chunk_elements);
    for (int d = 0; d < what->n_dims; d++)
        sizes[d] = positions(block, d);
    int dim = dt__spread_dim(what->n_dims, sizes, what->dst_strides, n);
    return (cut){dim, sizes[dim], dt__ceil_div(sizes[dim], n)};
}

/* How large a chunk is; 0: nothing is to be cut. Counted in elements, because the bytes may be too many to count. */
static int64_t chunk_elements_of(const dt__chunks_of *what) {
    int64_t elements = 0, worth_it = dt__ceil_div(DT__SPREAD_BYTES, what->bytes_read);
    for (int64_t b = 0; b < what->n_blocks; b++)
        elements += what->blocks[b].elements;
    if (what->n_threads == 1 || what->n_dims == 0 || elements < 2 * worth_it)
        return 0;
    return dt__max_i64(worth_it, elements / (MOST_PER_THREAD * what->n_threads));
}

dt_status dt__chunks_new(dt__arena *arena, const dt__chunks_of *what, dt__chunks *out) {
    int64_t chunk_elements = chunk_elements_of(what), n = 0;
    *out = (dt__chunks){0};
    if (!chunk_elements)
        return DT_OK;
    for (int64_t b = 0; b < what->n_blocks; b++) {
        cut c = cut_of(what, &what->blocks[b], chunk_elements);
        n += dt__ceil_div(c.size, c.step);
    }
    out->list = DT__NEW_ARRAY(arena, dt__chunk, n);
    if (!out->list)
        return DT_ERR_MEMORY;
    for (int64_t b = 0; b < what->n_blocks; b++) {
        cut c = cut_of(what, &what->blocks[b], chunk_elements);
        for (int64_t at = 0; at < c.size; at += c.step)
            out->list[out->n++] = (dt__chunk){b, c.dim, at, dt__min_i64(at + c.step, c.size)};
    }
    return DT_OK;
}

dt__piece dt__piece_part(const dt__piece *piece, int64_t from, int64_t to) {
    int64_t run = from / piece->size, inside = from % piece->size, whole = (to - from) / piece->size;
    dt__piece part = *piece;
    part.src += run * piece->src_step + inside;
    part.dst += run * piece->dst_step + inside;
    part.n = inside == 0 && whole > 0 ? whole : 1;
    if (inside != 0 || whole == 0)
        part.size = dt__min_i64(piece->size - inside, to - from);
    return part;
}
