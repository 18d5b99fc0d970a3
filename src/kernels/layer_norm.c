/* SPDX-License-Identifier: Apache-2.0
 *
 * Layer normalization: mean and variance of a row in two passes, to avoid cancellation, and a third pass that writes.
 * A row is all elements of the last dims, processed in blocks.
 */
#include "base/size.h"
#include "kernels/element_ops.h"
#include "kernels/gather.h"
#include "kernels/loops.h"
#include "kernels/short_rows.h"
#include "kernels/walk.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

enum { MIN_NARROW = 64 }; /* elements */
/* Sums of squares that f32 computes: none overflows, and those that are subnormal do not matter. */
#define NARROW_MIN 0x1p-90
#define NARROW_MAX 0x1p120

enum { BLOCK = 1024, PIECE = 1 << 14, MAX_DIRECT_ROWS = 64 };

/* The operands of a row. */
enum { OUT, IN, WEIGHT, BIAS, N_OPERANDS };

typedef struct job {
    const dt__kernels *kernels;
    const dt__layer_norm *args;
    dt_dtype dtype; /* computed in */
    const dt__array *operands[N_OPERANDS];
    dt__walk rows;     /* output, input, mean and rstd along the leading dims */
    dt__walk elements; /* the operands along the last dims */
    int64_t n, n_across, n_blocks, n_rows, n_per_piece;
    bool has_mean, has_rstd;
} job;

typedef struct buffers {
    const void *numbers[N_OPERANDS]; /* a weight or bias that is one number, repeated; NULL: not loaded yet */
    _Alignas(64) char gathered[N_OPERANDS][BLOCK * 8], converted[N_OPERANDS][BLOCK * 8];
} buffers;

/* Iterates over the blocks of a row: the position, and each operand's block. */
typedef struct block_iterator {
    int64_t position[DT__WALK_DIMS], across, n;
    char *at[N_OPERANDS], *block[N_OPERANDS];
} block_iterator;

static void iterator_start(const job *j, block_iterator *c, char *out, char *in) {
    for (int d = 0; d < j->elements.n_dims; d++)
        c->position[d] = 0;
    c->across = 0;
    for (int k = 0; k < N_OPERANDS; k++)
        c->at[k] = j->elements.at[k];
    c->at[OUT] += out - (char *)j->args->out->data;
    c->at[IN] += in - (char *)j->args->in->data;
}

static void iterator_next(const job *j, block_iterator *c) {
    const dt__walk_dim *inner = &j->elements.dims[0];
    const int64_t first = c->across * BLOCK;
    for (int k = 0; k < N_OPERANDS; k++)
        c->block[k] = c->at[k] + first * inner->strides[k];
    c->n = dt__min_i64(BLOCK, inner->size - first);
    if (++c->across == j->n_across) {
        c->across = 0;
        dt__walk_next(&j->elements, 1, c->position, c->at);
    }
}

static dt__patch patch(const job *j, const block_iterator *c, int k) {
    return (dt__patch){c->block[k], dt__dtype_bytes(j->operands[k]->dtype), c->n,
                       1,           j->elements.dims[0].strides[k],         0};
}

static const void *load_operand(const job *j, const block_iterator *c, buffers *b, int k) {
    const dt__patch p = patch(j, c, k);
    return dt__load_patch(j->kernels, &p, j->operands[k]->dtype, j->dtype, b->gathered[k], b->converted[k]);
}

/* One number for all elements is loaded once; the first block of a row is the longest. */
static const void *load_affine(const job *j, const block_iterator *c, buffers *b, int k) {
    if (j->operands[k]->n_dims > 0)
        return load_operand(j, c, b, k);
    if (!b->numbers[k])
        b->numbers[k] = load_operand(j, c, b, k);
    return b->numbers[k];
}

typedef struct statistics {
    double mean, rstd;
} statistics;

static statistics finish(const job *j, double mean, double squares) {
    return (statistics){mean, 1 / sqrt(squares / (double)j->n + j->args->eps)};
}

static double sum_of(const job *j, buffers *b, char *out, char *in) {
    block_iterator c;
    double sum = 0;
    iterator_start(j, &c, out, in);
    for (int64_t block = 0; block < j->n_blocks; block++) {
        iterator_next(j, &c);
        j->kernels->loops->folds[DT__FOLD_SUM][j->dtype](c.n, load_operand(j, &c, b, IN), &sum);
    }
    return sum;
}

/* Adds the squares of n differences from a mean: of long rows of f32 in f32, unless they leave its range. */
static double add_squares(const job *j, int64_t n, const void *x, double mean, double before) {
    const dt__loops *loops = j->kernels->loops;
    double sum = 0;
    if (j->dtype == DT_F32 && n >= MIN_NARROW) {
        loops->gradients[DT_F32].squares(n, x, mean, &sum);
        if (sum > NARROW_MIN && sum < NARROW_MAX)
            return before + sum;
    }
    sum = before;
    loops->deviations[j->dtype](n, x, mean, &sum);
    return sum;
}

static double squares_of(const job *j, buffers *b, char *out, char *in, double mean) {
    block_iterator c;
    double sum = 0;
    iterator_start(j, &c, out, in);
    for (int64_t block = 0; block < j->n_blocks; block++) {
        iterator_next(j, &c);
        sum = add_squares(j, c.n, load_operand(j, &c, b, IN), mean, sum);
    }
    return sum;
}

/* ins are input, weight and bias. */
static void write_block(const job *j, buffers *b, const block_iterator *c, const void *const *ins, statistics of) {
    const dt__number numbers[2] = {{.f = {of.mean, 0}}, {.f = {of.rstd, 0}}};
    const dt__patch to = patch(j, c, OUT);
    const bool direct = j->dtype == j->operands[OUT]->dtype && dt__patch_is_dense(&to);
    void *computed = direct ? (void *)to.at : b->converted[OUT];
    j->kernels->loops->ops[DT__EL_NORMALIZE][j->dtype](c->n, computed, ins, numbers);
    if (!direct)
        dt__store_patch(j->kernels, computed, j->dtype, &to, j->operands[OUT]->dtype, b->gathered[OUT]);
}

static void write_row(const job *j, buffers *b, char *out, char *in, statistics of) {
    block_iterator c;
    iterator_start(j, &c, out, in);
    for (int64_t block = 0; block < j->n_blocks; block++) {
        iterator_next(j, &c);
        const void *ins[] = {load_operand(j, &c, b, IN), load_affine(j, &c, b, WEIGHT), load_affine(j, &c, b, BIAS)};
        write_block(j, b, &c, ins, of);
    }
}

static statistics run_row(const job *j, buffers *b, char *out, char *in) {
    const double mean = j->args->is_rms ? 0 : sum_of(j, b, out, in) / (double)j->n;
    const statistics of = finish(j, mean, squares_of(j, b, out, in, mean));
    write_row(j, b, out, in, of);
    return of;
}

/* A row of one block, which is loaded once; weight and bias were loaded before. */
static statistics run_short_row(const job *j, buffers *b, const block_iterator *c, const void **ins) {
    double mean = 0, squares = 0;
    ins[0] = load_operand(j, c, b, IN);
    if (!j->args->is_rms) {
        j->kernels->loops->folds[DT__FOLD_SUM][j->dtype](c->n, ins[0], &mean);
        mean /= (double)j->n;
    }
    squares = add_squares(j, c->n, ins[0], mean, squares);
    const statistics of = finish(j, mean, squares);
    write_block(j, b, c, ins, of);
    return of;
}

static void store_number(const job *j, double x, const dt__array *to, char *at) {
    j->kernels->loops->convert[DT_F64][to->dtype](1, at, &x);
}

static void run_piece(void *arg, int64_t piece) {
    const job *j = arg;
    const int64_t begin = piece * j->n_per_piece, end = dt__min_i64(begin + j->n_per_piece, j->n_rows);
    const bool is_short = j->n_blocks == 1;
    const void *ins[3] = {NULL};
    ptrdiff_t out = 0, in = 0; /* of the block from the start of its row */
    int64_t position[DT__WALK_DIMS];
    char *at[DT__WALK_ARRAYS];
    block_iterator c;
    buffers b;
    b.numbers[WEIGHT] = b.numbers[BIAS] = NULL;
    for (int k = 0; k < DT__WALK_ARRAYS; k++)
        at[k] = j->rows.at[k];
    dt__walk_seek(&j->rows, 0, begin, position, at);
    if (is_short) {
        iterator_start(j, &c, at[0], at[1]);
        iterator_next(j, &c);
        ins[1] = load_operand(j, &c, &b, WEIGHT);
        ins[2] = load_operand(j, &c, &b, BIAS);
        out = c.block[OUT] - at[0];
        in = c.block[IN] - at[1];
    }
    for (int64_t row = begin; row < end; row++, dt__walk_next(&j->rows, 0, position, at)) {
        c.block[OUT] = at[0] + out;
        c.block[IN] = at[1] + in;
        if (j->args->has_statistics) {
            statistics of;
            memcpy(&of.mean, at[2], sizeof of.mean);
            memcpy(&of.rstd, at[3], sizeof of.rstd);
            if (is_short) {
                ins[0] = load_operand(j, &c, &b, IN);
                write_block(j, &b, &c, ins, of);
            } else {
                write_row(j, &b, at[0], at[1], of);
            }
            continue;
        }
        const statistics of = is_short ? run_short_row(j, &b, &c, ins) : run_row(j, &b, at[0], at[1]);
        if (j->has_mean)
            store_number(j, of.mean, j->args->mean, at[2]);
        if (j->has_rstd)
            store_number(j, of.rstd, j->args->rstd, at[3]);
    }
}

static dt__array first_dims(const dt__array *a, int n_dims) {
    return (dt__array){a->data, a->dtype, n_dims < a->n_dims ? n_dims : a->n_dims, a->shape, a->strides};
}

static dt__array last_dims(const dt__array *a, int n_dims) {
    const int skip = a->n_dims - n_dims;
    return (dt__array){a->data, a->dtype, n_dims, a->shape + skip, a->strides + skip};
}

static bool is_dense_f32(const dt__array *a, int64_t n) {
    return !a || (a->dtype == DT_F32 && dt__array_is_dense(a) && dt__array_count(a) == n);
}

/* A few elements of contiguous f32 arrays, inline, with the arithmetic of the loops; false if this does not apply. */
static bool run_directly(const dt__layer_norm *args) {
    const int n_leading = args->in->n_dims - args->n_dims;
    int64_t n_rows = 1, n = 1;
    for (int d = 0; d < args->in->n_dims; d++)
        *(d < n_leading ? &n_rows : &n) *= args->in->shape[d];
    if (n == 0 || n > DT__SHORT_ROW || n_rows > MAX_DIRECT_ROWS || !is_dense_f32(args->mean, n_rows) ||
        !is_dense_f32(args->rstd, n_rows) || !is_dense_f32(args->in, n * n_rows) ||
        !is_dense_f32(args->out, n * n_rows) || !is_dense_f32(args->weight, n) || !is_dense_f32(args->bias, n))
        return false;
    const dt__f32 *x = args->in->data, *weight = args->weight ? args->weight->data : NULL;
    const dt__f32 *bias = args->bias ? args->bias->data : NULL;
    dt__f32 *y = args->out->data;
    for (int64_t row = 0; row < n_rows; row++, x += n, y += n) {
        const double mean = args->is_rms ? 0 : dt__short_sum(x, (int)n) / (double)n;
        const double variance = dt__short_deviations(x, (int)n, mean) / (double)n;
        const float minus = (float)mean, factor = (float)(1 / sqrt(variance + args->eps));
        if (args->mean)
            ((dt__f32 *)args->mean->data)[row] = minus;
        if (args->rstd)
            ((dt__f32 *)args->rstd->data)[row] = factor;
        for (int64_t k = 0; k < n; k++)
            y[k] = ((x[k] - minus) * factor) * (weight ? weight[k] : 1) + (bias ? bias[k] : 0);
    }
    return true;
}

/* Rows without elements. */
static void store_nan(const job *j) {
    int64_t position[DT__WALK_DIMS] = {0};
    char *at[DT__WALK_ARRAYS];
    for (int k = 0; k < DT__WALK_ARRAYS; k++)
        at[k] = j->rows.at[k];
    do {
        if (j->has_mean)
            store_number(j, (double)NAN, j->args->mean, at[2]);
        if (j->has_rstd)
            store_number(j, (double)NAN, j->args->rstd, at[3]);
    } while (dt__walk_next(&j->rows, 0, position, at));
}

void dt__layer_norm_run(const dt__kernels *kernels, dt__pool *pool, const dt__layer_norm *args) {
    static const float zero = 0, one = 1;
    const dt__array none = {(void *)(uintptr_t)&zero, DT_F32, 0, NULL, NULL};
    const dt__array ones = {(void *)(uintptr_t)&one, DT_F32, 0, NULL, NULL};
    const int n_leading = args->in->n_dims - args->n_dims;
    const dt__array *mean = args->mean ? args->mean : &none, *rstd = args->rstd ? args->rstd : &none;
    const dt__array out_rows = first_dims(args->out, n_leading), in_rows = first_dims(args->in, n_leading);
    const dt__array mean_rows = first_dims(mean, n_leading), rstd_rows = first_dims(rstd, n_leading);
    const dt__array out_row = last_dims(args->out, args->n_dims), in_row = last_dims(args->in, args->n_dims);
    const dt__array *weight = args->weight ? args->weight : &ones, *bias = args->bias ? args->bias : &none;
    job j;
    if (!args->has_statistics && run_directly(args))
        return;
    j.kernels = kernels;
    j.args = args;
    j.dtype = args->in->dtype == DT_F64 ? DT_F64 : DT_F32;
    j.operands[OUT] = args->out;
    j.operands[IN] = args->in;
    j.operands[WEIGHT] = weight;
    j.operands[BIAS] = bias;
    j.has_mean = args->mean && !args->has_statistics;
    j.has_rstd = args->rstd && !args->has_statistics;
    const bool has_elements =
        dt__walk_make(4, (const dt__array *const[]){&out_row, &in_row, weight, bias}, &j.elements);
    if (!dt__walk_make(4, (const dt__array *const[]){&out_rows, &in_rows, &mean_rows, &rstd_rows}, &j.rows))
        return;
    if (!has_elements) {
        store_nan(&j);
        return;
    }
    j.n = dt__walk_positions(&j.elements, 0);
    j.n_across = dt__ceil_div(j.elements.dims[0].size, BLOCK);
    j.n_blocks = j.n_across * dt__walk_positions(&j.elements, 1);
    j.n_rows = dt__walk_positions(&j.rows, 0);
    j.n_per_piece = dt__ceil_div(PIECE, j.n);
    dt__pool_run(pool, dt__ceil_div(j.n_rows, j.n_per_piece), run_piece, &j);
}
