/* SPDX-License-Identifier: Apache-2.0
 *
 * The gradients of layer and RMS normalization, in one pass over memory: a group of rows at a time; first the
 * sums are computed, then the elements, while they are in the cache. Sums over rows accumulate in f64, in a piece of
 * their own for each range of rows; the pieces are added in order.
 */
#include "base/size.h"
#include "kernels/element_ops.h"
#include "kernels/gather.h"
#include "kernels/loops.h"
#include "kernels/walk.h"

#include <stddef.h>
#include <string.h>

enum { BLOCK = 512, DIRECT = 4096, GROUP = 4, PIECE = 1 << 14, MAX_PIECES = 16, MAX_PIECE_NUMBERS = 1 << 20 };

/* The operands of a row. */
enum { OUT, GRAD, IN, WEIGHT, N_OPERANDS };

typedef struct job {
    const dt__kernels *kernels;
    const dt__gradient_loops *loops;
    const dt__norm_grads *args;
    dt_dtype dtype; /* computed in */
    const dt__array *operands[N_OPERANDS];
    int n_leading;
    dt__walk elements; /* the operands along the last dims, in row-major order */
    int64_t block;     /* elements: BLOCK, or DIRECT where all operands are used in place */
    int64_t n, n_across, n_blocks, n_rows, n_per_piece;
} job;

/* Rows of a group, at their first elements. */
typedef struct group {
    int n;
    int64_t first;
    char *at[GROUP][N_OPERANDS];
    dt__norm_row rows[GROUP];
} group;

/* A block of every row: where it begins, from the first element of the row. */
typedef struct block {
    int64_t position[DT__WALK_DIMS], across, n, first;
    char *start[N_OPERANDS];
    ptrdiff_t offset[N_OPERANDS];
} block;

typedef struct buffers {
    const void *ones; /* in place of a weight */
    _Alignas(64) char gathered[GROUP][N_OPERANDS][BLOCK * 8], converted[GROUP][N_OPERANDS][BLOCK * 8];
} buffers;

static void block_start(const job *j, block *b) {
    for (int d = 0; d < j->elements.n_dims; d++)
        b->position[d] = 0;
    b->across = b->n = b->first = 0;
    for (int k = 0; k < N_OPERANDS; k++)
        b->start[k] = j->elements.at[k];
}

static void block_next(const job *j, block *b) {
    const dt__walk_dim *inner = &j->elements.dims[0];
    const int64_t skip = b->across * j->block;
    b->first += b->n;
    for (int k = 0; k < N_OPERANDS; k++)
        b->offset[k] = b->start[k] + skip * inner->strides[k] - (char *)j->operands[k]->data;
    b->n = dt__min_i64(j->block, inner->size - skip);
    if (++b->across == j->n_across) {
        b->across = 0;
        dt__walk_next(&j->elements, 1, b->position, b->start);
    }
}

static dt__patch patch(const job *j, const group *g, const block *b, int row, int k) {
    return (dt__patch){g->at[row][k] + b->offset[k],
                       dt__dtype_bytes(j->operands[k]->dtype),
                       b->n,
                       1,
                       j->elements.dims[0].strides[k],
                       0};
}

static const void *load(const job *j, const group *g, const block *b, buffers *m, int row, int k) {
    const dt__patch p = patch(j, g, b, row, k);
    return dt__load_patch(j->kernels, &p, j->operands[k]->dtype, j->dtype, m->gathered[row][k], m->converted[row][k]);
}

static const void *load_weight(const job *j, const group *g, const block *b, buffers *m) {
    return m->ones ? m->ones : load(j, g, b, m, 0, WEIGHT);
}

static void add_up(const job *j, const group *g, buffers *m) {
    double sums[GROUP][2] = {{0}};
    block b;
    block_start(j, &b);
    for (int64_t i = 0; i < j->n_blocks; i++) {
        block_next(j, &b);
        const void *weight = load_weight(j, g, &b, m);
        for (int r = 0; r < g->n; r++)
            j->loops->norm_sums(b.n, load(j, g, &b, m, r, GRAD), load(j, g, &b, m, r, IN), weight, g->rows[r].mean,
                                g->rows[r].rstd, sums[r]);
    }
    for (int r = 0; r < g->n; r++) {
        if (!j->args->is_rms)
            j->args->sums[g->first + r] = sums[r][0];
        j->args->products[g->first + r] = sums[r][1];
    }
}

static void write_input(const job *j, const group *g, const block *b, buffers *m, int row, const void *const *ins) {
    const dt__patch to = patch(j, g, b, row, OUT);
    const bool direct = j->operands[OUT]->dtype == j->dtype && dt__patch_is_dense(&to);
    void *computed = direct ? (void *)to.at : m->converted[row][OUT];
    j->loops->norm_input(b->n, ins[GRAD], ins[IN], ins[WEIGHT], &g->rows[row], computed);
    if (!direct)
        dt__store_patch(j->kernels, computed, j->dtype, &to, j->operands[OUT]->dtype, m->gathered[row][OUT]);
}

/* of_weight and of_bias are the sums of this piece, or NULL. */
static void write_group(const job *j, const group *g, buffers *m, double *of_weight, double *of_bias) {
    block b;
    block_start(j, &b);
    for (int64_t i = 0; i < j->n_blocks; i++) {
        const void *grads[GROUP], *inputs[GROUP];
        block_next(j, &b);
        for (int r = 0; r < g->n; r++) {
            grads[r] = load(j, g, &b, m, r, GRAD);
            inputs[r] = load(j, g, &b, m, r, IN);
        }
        if (of_weight)
            j->loops->norm_weight(b.n, g->n, grads, inputs, g->rows, of_weight + b.first);
        if (of_bias)
            j->loops->norm_bias(b.n, g->n, grads, of_bias + b.first);
        if (!j->args->out)
            continue;
        const void *weight = load_weight(j, g, &b, m);
        for (int r = 0; r < g->n; r++)
            write_input(j, g, &b, m, r, (const void *[]){[GRAD] = grads[r], [IN] = inputs[r], [WEIGHT] = weight});
    }
}

/* The first elements of a row. */
static void row_at(const job *j, int64_t row, char **at) {
    for (int k = 0; k < N_OPERANDS; k++)
        at[k] = j->operands[k]->data;
    for (int d = j->n_leading - 1; d >= 0; d--) {
        const int64_t size = j->args->grad->shape[d], index = row % size;
        row /= size;
        for (int k = OUT; k <= IN; k++)
            at[k] += index * j->operands[k]->strides[d] * (int64_t)dt__dtype_bytes(j->operands[k]->dtype);
    }
}

static void run_group(const job *j, group *g, buffers *m, double *of_weight, double *of_bias) {
    const dt__norm_grads *args = j->args;
    for (int r = 0; r < g->n; r++) {
        const int64_t row = g->first + r;
        row_at(j, row, g->at[r]);
        g->rows[r].mean = args->is_rms ? 0 : args->mean[row];
        g->rows[r].rstd = args->rstd[row];
    }
    if (!args->has_sums)
        add_up(j, g, m);
    if (!args->out && !of_weight && !of_bias)
        return;
    for (int r = 0; r < g->n; r++) {
        g->rows[r].sum = args->is_rms ? 0 : args->sums[g->first + r] / args->count;
        g->rows[r].product = args->products[g->first + r] / args->count;
    }
    write_group(j, g, m, of_weight, of_bias);
}

static void set_ones(const job *j, buffers *m) {
    static const float one = 1;
    static const double wide = 1;
    const dt__patch ones = {j->dtype == DT_F64 ? (char *)(uintptr_t)&wide : (char *)(uintptr_t)&one,
                            dt__dtype_bytes(j->dtype),
                            BLOCK,
                            1,
                            0,
                            0};
    m->ones = j->args->weight ? NULL
                              : dt__load_patch(j->kernels, &ones, j->dtype, j->dtype, m->gathered[0][WEIGHT],
                                               m->converted[0][WEIGHT]);
}

static void run_piece(void *arg, int64_t piece) {
    const job *j = arg;
    const int64_t begin = piece * j->n_per_piece, end = dt__min_i64(begin + j->n_per_piece, j->n_rows);
    double *of_weight = j->args->of_weight ? j->args->of_weight + piece * j->n : NULL;
    double *of_bias = j->args->of_bias ? j->args->of_bias + piece * j->n : NULL;
    buffers m;
    group g;
    set_ones(j, &m);
    if (of_weight)
        memset(of_weight, 0, (size_t)j->n * sizeof *of_weight);
    if (of_bias)
        memset(of_bias, 0, (size_t)j->n * sizeof *of_bias);
    for (g.first = begin; g.first < end; g.first += GROUP) {
        g.n = (int)dt__min_i64(GROUP, end - g.first);
        run_group(j, &g, &m, of_weight, of_bias);
    }
}

/* As many as are worthwhile and fit MAX_PIECE_NUMBERS. */
int64_t dt__norm_grads_pieces(int64_t n_rows, int64_t n) {
    const int64_t worth = n_rows * dt__max_i64(n, 1) / PIECE, fitting = MAX_PIECE_NUMBERS / dt__max_i64(n, 1);
    const int64_t n_pieces = dt__min_i64(dt__min_i64(worth, fitting), MAX_PIECES);
    return dt__max_i64(dt__min_i64(n_pieces, n_rows / GROUP), 1);
}

/* Whether no operand needs a buffer. Long blocks are read and written row after row, as the hardware expects. */
static bool is_direct(const job *j) {
    for (int k = 0; k < N_OPERANDS; k++)
        if (j->operands[k]->dtype != j->dtype || j->elements.dims[0].strides[k] != (int64_t)dt__dtype_bytes(j->dtype))
            return false;
    return true;
}

static void join_pieces(const dt__kernels *kernels, int64_t n_pieces, int64_t n, double *sums) {
    for (int64_t p = 1; p < n_pieces && sums; p++)
        kernels->loops->ops[DT__EL_ADD][DT_F64](n, sums, (const void *[]){sums, sums + p * n}, NULL);
}

void dt__norm_grads_run(const dt__kernels *kernels, dt__pool *pool, const dt__norm_grads *args) {
    static const float one = 1;
    const dt__array ones = {(void *)(uintptr_t)&one, DT_F32, 0, NULL, NULL};
    const dt__array *all[N_OPERANDS] = {args->out ? args->out : args->grad, args->grad, args->in,
                                        args->weight ? args->weight : &ones};
    dt__array last[N_OPERANDS];
    int64_t dense[DT__WALK_DIMS], n = 1, n_pieces;
    job j;
    j.kernels = kernels;
    j.args = args;
    j.dtype = args->grad->dtype == DT_F64 || args->in->dtype == DT_F64 ? DT_F64 : DT_F32;
    j.loops = &kernels->loops->gradients[j.dtype];
    j.n_leading = args->grad->n_dims - args->n_dims;
    j.n_rows = 1;
    for (int d = 0; d < j.n_leading; d++)
        j.n_rows *= args->grad->shape[d];
    for (int d = args->n_dims - 1; d >= 0; d--) {
        dense[d] = n;
        n *= args->grad->shape[j.n_leading + d];
    }
    for (int k = 0; k < N_OPERANDS; k++) {
        const int skip = k == WEIGHT ? 0 : j.n_leading;
        j.operands[k] = all[k];
        last[k] = (dt__array){all[k]->data, all[k]->dtype, all[k]->n_dims - skip, all[k]->shape + skip,
                              all[k]->strides + skip};
    }
    if (!args->out)
        last[OUT].strides = dense; /* not written, but the order of the elements */
    j.n = n;
    n_pieces = dt__norm_grads_pieces(j.n_rows, n);
    if (!dt__walk_make(N_OPERANDS, (const dt__array *const[]){&last[0], &last[1], &last[2], &last[3]}, &j.elements)) {
        for (int64_t row = 0; row < j.n_rows && !args->has_sums; row++) {
            args->products[row] = 0;
            if (!args->is_rms)
                args->sums[row] = 0;
        }
        return;
    }
    j.block = is_direct(&j) ? DIRECT : BLOCK;
    j.n_across = dt__ceil_div(j.elements.dims[0].size, j.block);
    j.n_blocks = j.n_across * dt__walk_positions(&j.elements, 1);
    j.n_per_piece = dt__ceil_div(dt__ceil_div(j.n_rows, n_pieces), GROUP) * GROUP;
    if (j.n_rows == 0)
        j.n_per_piece = GROUP;
    const int64_t used = dt__max_i64(dt__ceil_div(j.n_rows, j.n_per_piece), 1); /* at least one, to set sums to 0 */
    dt__pool_run(pool, used, run_piece, &j);
    join_pieces(kernels, used, n, args->of_weight);
    join_pieces(kernels, used, n, args->of_bias);
}
