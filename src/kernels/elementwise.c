/* SPDX-License-Identifier: Apache-2.0
 *
 * Chooses the loop and its dtypes for an op; blocks.c does the rest. Small operands that lie together in the dtype of
 * the loop go straight to it.
 */
#include "kernels/elementwise.h"

#include "kernels/blocks.h"
#include "kernels/walk.h"

enum { COPY_PIECE_BYTES = 1 << 19, COPY_DIMS = 64 };

/* A copy cut along one dim. */
typedef struct cut_copy {
    const dt__kernels *kernels;
    dt__strided whole;
    int dim;
    int64_t step; /* of a piece, along dim */
    dt__store store;
} cut_copy;

static void copy_piece(void *arg, int64_t piece) {
    const cut_copy *c = arg;
    int64_t sizes[DT__WALK_DIMS], begin = piece * c->step, left = c->whole.sizes[c->dim] - begin;
    dt__strided part = c->whole;
    for (int d = 0; d < part.n_dims; d++)
        sizes[d] = part.sizes[d];
    sizes[c->dim] = left < c->step ? left : c->step;
    part.sizes = sizes;
    part.dst = (char *)part.dst + begin * part.dst_strides[c->dim] * (int64_t)part.element_bytes;
    part.src = (const char *)part.src + begin * part.src_strides[c->dim] * (int64_t)part.element_bytes;
    c->kernels->copy_strided(&part, c->store);
}

/* Along the dim that moves dst farthest, so that threads write apart. */
static void copy(const dt__kernels *kernels, dt__pool *pool, const dt__array *dst, const dt__array *src) {
    const dt__array *const arrays[] = {dst, src};
    const int64_t bytes = (int64_t)dt_dtype_size(dst->dtype);
    int64_t sizes[DT__WALK_DIMS], to[DT__WALK_DIMS], from[DT__WALK_DIMS], n = bytes;
    dt__walk walk;
    if (!dt__walk_make(2, arrays, &walk))
        return;
    for (int d = 0; d < walk.n_dims; d++) {
        sizes[d] = walk.dims[d].size;
        to[d] = walk.dims[d].strides[0] / bytes;
        from[d] = walk.dims[d].strides[1] / bytes;
        n *= sizes[d];
    }
    cut_copy c = {.kernels = kernels,
                  .whole = {walk.at[0], walk.at[1], (size_t)bytes, walk.n_dims, sizes, to, from},
                  .dim = walk.n_dims - 1};
    if (n < 2 * COPY_PIECE_BYTES || dt__pool_threads(pool) == 1) {
        kernels->copy_strided(&c.whole, c.store);
        return;
    }
    int64_t n_pieces = n / COPY_PIECE_BYTES < sizes[c.dim] ? n / COPY_PIECE_BYTES : sizes[c.dim];
    c.step = (sizes[c.dim] + n_pieces - 1) / n_pieces;
    dt__pool_run(pool, (sizes[c.dim] + c.step - 1) / c.step, copy_piece, &c);
}

void dt__convert(const dt__kernels *kernels, dt__pool *pool, const dt__array *dst, const dt__array *src) {
    if (dst->dtype == src->dtype) {
        copy(kernels, pool, dst, src);
        return;
    }
    dt__blocks_run(&(dt__blocks){.kernels = kernels,
                                 .pool = pool,
                                 .n_arrays = 2,
                                 .arrays = {dst, src},
                                 .loop_dtypes = {src->dtype, src->dtype}});
}
