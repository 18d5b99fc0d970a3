/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies and fills, in parallel on the threads of a pool if they are large: copies are split along one dim, fills
 * at any element.
 */
#include "kernels/kernels.h"

#include "base/size.h"
#include "kernels/strided_plan.h"

static int64_t distance(int64_t stride) { return stride < 0 ? -stride : stride; }

int dt__spread_dim(int n_dims, const int64_t *sizes, const int64_t *dst_strides, int64_t n_pieces) {
    int best = 0;
    for (int d = 1; d < n_dims; d++) {
        bool long_enough = sizes[d] >= n_pieces, best_is = sizes[best] >= n_pieces;
        bool farther = distance(dst_strides[d]) > distance(dst_strides[best]);
        if (best_is ? long_enough && farther : sizes[d] > sizes[best])
            best = d;
    }
    return best;
}

/* A copy that is split along one dim. */
typedef struct split_copy {
    const dt__kernels *kernels;
    const dt__strided *whole;
    int dim;
    int64_t step; /* of a piece, along dim */
    dt__store store;
} split_copy;

static void copy_piece(void *arg, int64_t piece) {
    const split_copy *c = arg;
    int64_t sizes[DT__STRIDED_DIMS], begin = piece * c->step;
    dt__strided part = *c->whole;
    for (int d = 0; d < part.n_dims; d++)
        sizes[d] = part.sizes[d];
    sizes[c->dim] = dt__min_i64(c->step, sizes[c->dim] - begin);
    part.sizes = sizes;
    part.dst = (char *)part.dst + begin * part.dst_strides[c->dim] * (int64_t)part.element_bytes;
    part.src = (const char *)part.src + begin * part.src_strides[c->dim] * (int64_t)part.element_bytes;
    c->kernels->copy_strided(&part, c->store);
}

static int64_t bytes_of(const dt__strided *args) {
    int64_t bytes = (int64_t)args->element_bytes;
    for (int d = 0; d < args->n_dims; d++)
        bytes *= args->sizes[d];
    return bytes;
}

void dt__spread_copy(const dt__kernels *kernels, dt__pool *pool, const dt__strided *args, dt__store store) {
    if (dt__is_idle_memory(kernels, args->dst) || dt__is_idle_memory(kernels, args->src))
        return;
    int64_t n_pieces = dt__spread_pieces(dt__pool_threads(pool), bytes_of(args));
    if (n_pieces == 1 || args->n_dims == 0 || args->n_dims > DT__STRIDED_DIMS) {
        kernels->copy_strided(args, store);
        return;
    }
    int dim = dt__spread_dim(args->n_dims, args->sizes, args->dst_strides, n_pieces);
    split_copy c = {kernels, args, dim, dt__ceil_div(args->sizes[dim], n_pieces), store};
    dt__pool_run(pool, dt__ceil_div(args->sizes[dim], c.step), copy_piece, &c);
}

/* A fill that is split into runs. */
typedef struct split_fill {
    const dt__kernels *kernels;
    char *dst;
    const void *value;
    size_t value_bytes;
    int64_t n, step;
} split_fill;

static void fill_piece(void *arg, int64_t piece) {
    const split_fill *f = arg;
    int64_t begin = piece * f->step;
    f->kernels->fill(f->dst + (size_t)begin * f->value_bytes, f->value, f->value_bytes,
                     (size_t)dt__min_i64(f->step, f->n - begin), DT__CACHED);
}

void dt__spread_fill(const dt__kernels *kernels, dt__pool *pool, void *dst, const void *value, size_t value_bytes,
                     int64_t n) {
    if (dt__is_idle_memory(kernels, dst))
        return;
    int64_t n_pieces = dt__spread_pieces(dt__pool_threads(pool), n * (int64_t)value_bytes);
    if (n_pieces == 1) {
        kernels->fill(dst, value, value_bytes, (size_t)n, DT__CACHED);
        return;
    }
    split_fill f = {kernels, dst, value, value_bytes, n, dt__ceil_div(n, n_pieces)};
    dt__pool_run(pool, dt__ceil_div(n, f.step), fill_piece, &f);
}
