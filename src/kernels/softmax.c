/* SPDX-License-Identifier: Apache-2.0
 *
 * Softmax along one dim: the largest element, the sum of exponentials, and the result, in three passes over a row. A
 * row that fits a buffer is loaded once. If the dim is not the contiguous one, a block of columns is processed
 * together. Or only the last pass, where the caller has the statistics of the rows (dt__statistics); it then takes as
 * many rows of the block at once as follow each other in memory and fit a buffer.
 */
#include "base/size.h"
#include "kernels/element_ops.h"
#include "kernels/gather.h"
#include "kernels/loops.h"
#include "kernels/short_rows.h"
#include "kernels/walk.h"

#include <math.h>
#include <string.h>

enum { BLOCK = 2048, MAX_COLUMNS = 2048, MIN_COLUMNS = 8, STACKED = 512, PIECE = 1 << 14, GROUP = 64 };

typedef struct job {
    const dt__kernels *kernels;
    const dt__array *in, *out;
    dt_dtype dtype; /* computed in */
    bool is_log, by_columns, has_statistics;
    int64_t n, out_stride, in_stride; /* along the dim, in bytes */
    dt__walk others;                  /* output, input, largest and sums, along all other dims */
    int64_t columns, n_across, n_items, n_per_piece;
} job;

static dt__patch patch(const dt__array *a, char *at, int64_t n, int64_t stride) {
    return (dt__patch){at, dt__dtype_bytes(a->dtype), n, 1, stride, 0};
}

static void run_loop(const job *j, dt__element_op op, int64_t n, void *out, const void *x, const void *y, double p,
                     double q) {
    const dt__number numbers[2] = {{.f = {p, 0}}, {.f = {q, 0}}};
    j->kernels->loops->ops[op][j->dtype](n, out, (const void *[]){x, y}, numbers);
}

static double update_largest(const job *j, int64_t n, const void *x, double before) {
    float narrow = (float)before;
    double wide = before;
    void *kept = j->dtype == DT_F32 ? (void *)&narrow : &wide;
    j->kernels->loops->folds[DT__FOLD_MAX][j->dtype](n, x, kept);
    return j->dtype == DT_F32 ? (double)narrow : wide;
}

/* y = exp(x - largest); adds their sum. For a logarithm, which may be close to 0, all of it is in f64. */
static double add_exponentials(const job *j, int64_t n, const void *x, void *y, double largest, double before) {
    double sum = before;
    j->kernels->loops->exp_sums[j->dtype](n, x, y, largest, &sum);
    if (!j->is_log)
        return sum;
    sum = before;
    j->kernels->loops->folds[DT__FOLD_SUM][j->dtype](n, y, &sum);
    return sum;
}

/* One row, a block at a time. */
typedef struct row {
    const job *j;
    char *out, *in;
    _Alignas(64) char gathered[BLOCK * 8], converted[BLOCK * 8], work[BLOCK * 8];
} row;

static const void *row_block(row *r, int64_t first, int64_t n) {
    const dt__patch p = patch(r->j->in, r->in + first * r->j->in_stride, n, r->j->in_stride);
    return dt__load_patch(r->j->kernels, &p, r->j->in->dtype, r->j->dtype, r->gathered, r->converted);
}

/* Where a block is computed: in the output if it is contiguous and of the same dtype, else in the work buffer. */
static void *result_buffer(row *r, const dt__patch *to) {
    return r->j->out->dtype == r->j->dtype && dt__patch_is_dense(to) ? (void *)to->at : r->work;
}

/* The last pass. */
static void write_row(row *r, double largest, double sum) {
    const job *j = r->j;
    for (int64_t first = 0; first < j->n; first += BLOCK) {
        const int64_t n = dt__min_i64(BLOCK, j->n - first);
        const dt__patch to = patch(j->out, r->out + first * j->out_stride, n, j->out_stride);
        void *computed = result_buffer(r, &to);
        if (j->is_log) {
            run_loop(j, DT__EL_SHIFTED, n, computed, row_block(r, first, n), NULL, largest, log(sum));
        } else {
            run_loop(j, DT__EL_EXP_SCALED, n, computed, row_block(r, first, n), NULL, largest, 1 / sum);
        }
        dt__store_patch(j->kernels, computed, j->dtype, &to, j->out->dtype, r->gathered);
    }
}

/* A row of one block. */
static void softmax_short_row(row *r) {
    const job *j = r->j;
    const dt__patch to = patch(j->out, r->out, j->n, j->out_stride);
    const void *x = row_block(r, 0, j->n);
    const double largest = update_largest(j, j->n, x, -INFINITY);
    void *computed = result_buffer(r, &to);
    double sum = 0;
    sum = add_exponentials(j, j->n, x, r->work, largest, sum);
    if (j->is_log)
        run_loop(j, DT__EL_SHIFTED, j->n, computed, x, NULL, largest, log(sum));
    else
        run_loop(j, DT__EL_AFFINE, j->n, computed, r->work, NULL, 1 / sum, 0);
    if (computed == r->work)
        dt__store_patch(j->kernels, computed, j->dtype, &to, j->out->dtype, r->gathered);
}

static void softmax_row(row *r) {
    const job *j = r->j;
    double largest = -INFINITY, sum = 0;
    const void *x = NULL;
    for (int64_t first = 0; first < j->n; first += BLOCK) {
        const int64_t n = dt__min_i64(BLOCK, j->n - first);
        x = row_block(r, first, n);
        largest = update_largest(j, n, x, largest);
    }
    for (int64_t first = 0; first < j->n; first += BLOCK) {
        const int64_t n = dt__min_i64(BLOCK, j->n - first);
        x = row_block(r, first, n);
        sum = add_exponentials(j, n, x, r->work, largest, sum);
    }
    write_row(r, largest, sum);
}

/* A block of columns. */
typedef struct columns {
    const job *j;
    char *out, *in, *statistics[2];
    int64_t n;
    _Alignas(64) char gathered[MAX_COLUMNS * 8], converted[MAX_COLUMNS * 8], work[MAX_COLUMNS * 8];
    _Alignas(64) char largest[MAX_COLUMNS * 8], last[MAX_COLUMNS * 8]; /* last: the operand of the final step */
    _Alignas(64) double sums[MAX_COLUMNS], wide[MAX_COLUMNS];
} columns;

/* Elements i to i + n of each column of the output. */
static dt__patch result_rows(const columns *c, int64_t i, int64_t n) {
    const job *j = c->j;
    return (dt__patch){c->out + i * j->out_stride,
                       dt__dtype_bytes(j->out->dtype),
                       c->n,
                       n,
                       j->others.dims[0].strides[0],
                       j->out_stride};
}

static const void *columns_rows(columns *c, int64_t i, int64_t n) {
    const job *j = c->j;
    const dt__patch from = {
        c->in + i * j->in_stride, dt__dtype_bytes(j->in->dtype), c->n, n, j->others.dims[0].strides[1], j->in_stride};
    return dt__load_patch(j->kernels, &from, j->in->dtype, j->dtype, c->gathered, c->converted);
}

static const void *columns_row(columns *c, int64_t i) { return columns_rows(c, i, 1); }

static void find_largest(columns *c) {
    memcpy(c->largest, columns_row(c, 0), (size_t)c->n * dt__dtype_bytes(c->j->dtype));
    for (int64_t i = 1; i < c->j->n; i++)
        run_loop(c->j, DT__EL_MAXIMUM, c->n, c->largest, c->largest, columns_row(c, i), 0, 0);
}

/* The output, if what is computed can be left there between two passes. */
static void *direct(const columns *c, const dt__patch *to) {
    return c->j->out->dtype == c->j->dtype && dt__patch_is_dense(to) ? (void *)to->at : NULL;
}

static void *direct_row(const columns *c, int64_t i) {
    const dt__patch to = result_rows(c, i, 1);
    return direct(c, &to);
}

/* The exponentials go to the output, where the last pass reads them, unless they would be rounded there. */
static void find_sums(columns *c) {
    const dt__loops *loops = c->j->kernels->loops;
    memset(c->sums, 0, (size_t)c->n * sizeof *c->sums);
    for (int64_t i = 0; i < c->j->n; i++) {
        void *to = c->j->is_log ? NULL : direct_row(c, i);
        to = to ? to : c->work;
        run_loop(c->j, DT__EL_SUB, c->n, to, columns_row(c, i), c->largest, 0, 0);
        run_loop(c->j, DT__EL_EXP, c->n, to, to, NULL, 0, 0);
        if (c->j->dtype == DT_F32)
            loops->add_widened(c->n, c->sums, to, 1, 0);
        else
            loops->ops[DT__EL_ADD][DT_F64](c->n, c->sums, (const void *[]){c->sums, to}, NULL);
    }
}

static void load_statistics(columns *c) {
    const dt__walk_dim *across = &c->j->others.dims[0];
    for (int64_t i = 0; i < c->n; i++) {
        memcpy(&c->wide[i], c->statistics[0] + i * across->strides[2], sizeof *c->wide);
        memcpy(&c->sums[i], c->statistics[1] + i * across->strides[3], sizeof *c->sums);
    }
    c->j->kernels->loops->convert[DT_F64][c->j->dtype](c->n, c->largest, c->wide);
}

/* The last pass on rows i to i + n. */
static void write_columns(columns *c, int64_t i, int64_t n) {
    const job *j = c->j;
    const int64_t n_elements = n * c->n;
    const dt__patch to = result_rows(c, i, n);
    void *left = direct(c, &to), *computed = left ? left : c->work;
    if (left && !j->is_log && !j->has_statistics) {
        run_loop(j, DT__EL_MUL, n_elements, left, left, c->last, 0, 0);
        return;
    }
    run_loop(j, j->is_log ? DT__EL_SUB : DT__EL_EXP_DIFFERENCE, n_elements, computed, columns_rows(c, i, n),
             c->largest, 0, 0);
    run_loop(j, j->is_log ? DT__EL_SUB : DT__EL_MUL, n_elements, computed, computed, c->last, 0, 0);
    if (!left)
        dt__store_patch(j->kernels, c->work, j->dtype, &to, j->out->dtype, c->gathered);
}

/* How many rows the last pass takes at once: where it may find exponentials in the output, rows that follow each other
 * there. */
static int64_t rows_at_once(const columns *c) {
    const int64_t n = dt__min_i64(dt__max_i64(STACKED / c->n, 1), c->j->n);
    const dt__patch to = result_rows(c, 0, n);
    return c->j->has_statistics || c->j->is_log || dt__patch_is_dense(&to) ? n : 1;
}

static void softmax_columns(columns *c) {
    const job *j = c->j;
    const int64_t stacked = rows_at_once(c);
    if (j->has_statistics) {
        load_statistics(c);
    } else {
        find_largest(c);
        find_sums(c);
    }
    for (int64_t i = 0; i < c->n; i++)
        c->sums[i] = j->is_log ? log(c->sums[i]) : 1 / c->sums[i];
    j->kernels->loops->convert[DT_F64][j->dtype](c->n, c->last, c->sums);
    dt__repeat_row(c->largest, (size_t)c->n * dt__dtype_bytes(j->dtype), stacked);
    dt__repeat_row(c->last, (size_t)c->n * dt__dtype_bytes(j->dtype), stacked);
    for (int64_t i = 0; i < j->n; i += stacked)
        write_columns(c, i, dt__min_i64(stacked, j->n - i));
}

/* Rows of a few contiguous f32 elements, a group at a time: one loop computes the exponentials of all. */
static bool has_short_rows(const job *j) {
    return !j->has_statistics && j->n <= DT__SHORT_ROW && j->in->dtype == DT_F32 && j->out->dtype == DT_F32 &&
           !j->by_columns && (j->n == 1 || (j->in_stride == sizeof(float) && j->out_stride == sizeof(float)));
}

static void finish_short_row(const job *j, const float *shifted, const float *powers, dt__f32 *out) {
    const int n = (int)j->n;
    const double sum = dt__short_sum(powers, n);
    if (j->is_log) {
        const float minus = (float)log(sum);
        for (int k = 0; k < n; k++)
            out[k] = shifted[k] - minus;
        return;
    }
    const float factor = (float)(1 / sum);
    for (int k = 0; k < n; k++)
        out[k] = powers[k] * factor + 0.0F;
}

static void start_at(const job *j, char **at) {
    for (int k = 0; k < j->others.n_arrays; k++)
        at[k] = j->others.at[k];
}

static void run_short_rows(const job *j, int64_t begin, int64_t end) {
    const int n = (int)j->n;
    float shifted[GROUP * DT__SHORT_ROW], powers[GROUP * DT__SHORT_ROW];
    dt__f32 *outs[GROUP];
    int64_t position[DT__WALK_DIMS];
    char *at[DT__WALK_ARRAYS];
    start_at(j, at);
    dt__walk_seek(&j->others, 0, begin, position, at);
    for (int64_t item = begin; item < end; item += GROUP) {
        const int n_rows = (int)dt__min_i64(GROUP, end - item);
        for (int r = 0; r < n_rows; r++, dt__walk_next(&j->others, 0, position, at)) {
            const dt__f32 *x = (const dt__f32 *)at[1];
            const float largest = dt__short_max(x, n);
            outs[r] = (dt__f32 *)at[0];
            for (int k = 0; k < n; k++)
                shifted[r * n + k] = x[k] - largest;
        }
        run_loop(j, DT__EL_EXP, n_rows * n, powers, shifted, NULL, 0, 0);
        for (int r = 0; r < n_rows; r++)
            finish_short_row(j, shifted + r * n, powers + r * n, outs[r]);
    }
}

static void run_rows(const job *j, int64_t begin, int64_t end) {
    row r;
    int64_t position[DT__WALK_DIMS];
    char *at[DT__WALK_ARRAYS];
    start_at(j, at);
    r.j = j;
    dt__walk_seek(&j->others, 0, begin, position, at);
    for (int64_t item = begin; item < end; item++, dt__walk_next(&j->others, 0, position, at)) {
        r.out = at[0];
        r.in = at[1];
        if (j->has_statistics) {
            double largest, sum;
            memcpy(&largest, at[2], sizeof largest);
            memcpy(&sum, at[3], sizeof sum);
            write_row(&r, largest, sum);
            continue;
        }
        (j->n <= BLOCK ? softmax_short_row : softmax_row)(&r);
    }
}

static void run_columns(const job *j, int64_t begin, int64_t end) {
    const dt__walk_dim *across = &j->others.dims[0];
    columns c;
    c.j = j;
    for (int64_t item = begin; item < end; item++) {
        const int64_t first = item % j->n_across * j->columns;
        int64_t position[DT__WALK_DIMS];
        char *at[DT__WALK_ARRAYS];
        start_at(j, at);
        dt__walk_seek(&j->others, 1, item / j->n_across, position, at);
        c.out = at[0] + first * across->strides[0];
        c.in = at[1] + first * across->strides[1];
        for (int k = 2; k < j->others.n_arrays; k++)
            c.statistics[k - 2] = at[k] + first * across->strides[k];
        c.n = dt__min_i64(j->columns, across->size - first);
        softmax_columns(&c);
    }
}

static void softmax_piece(void *arg, int64_t piece) {
    const job *j = arg;
    const int64_t begin = piece * j->n_per_piece, end = dt__min_i64(begin + j->n_per_piece, j->n_items);
    (j->by_columns ? run_columns : has_short_rows(j) ? run_short_rows : run_rows)(j, begin, end);
}

/* Runs of memory as long as possible that leave every thread some of all blocks; results do not depend on it. */
static int64_t columns_per_item(int64_t n, int64_t n_blocks, int threads) {
    const int64_t share = dt__ceil_div(n, dt__ceil_div(threads, n_blocks));
    return dt__max_i64(dt__min_i64(share, MAX_COLUMNS), dt__min_i64(n, MIN_COLUMNS));
}

static int64_t distance(int64_t stride) { return stride < 0 ? -stride : stride; }

void dt__softmax_finish(const dt__kernels *kernels, dt__pool *pool, const dt__array *in, int dim, bool is_log,
                        const dt__array *largest, const dt__array *sums, const dt__array *out) {
    int64_t shape[DT__WALK_DIMS], in_strides[DT__WALK_DIMS], out_strides[DT__WALK_DIMS];
    int n_others = 0;
    for (int d = 0; d < in->n_dims; d++)
        if (d != dim) {
            shape[n_others] = in->shape[d];
            in_strides[n_others] = in->strides[d];
            out_strides[n_others++] = out->strides[d];
        }
    const bool has_dim = in->n_dims > 0;
    job j;
    j.kernels = kernels;
    j.in = in;
    j.out = out;
    j.dtype = in->dtype == DT_F64 ? DT_F64 : DT_F32;
    j.is_log = is_log;
    j.has_statistics = largest != NULL;
    j.n = has_dim ? in->shape[dim] : 1;
    j.in_stride = has_dim ? in->strides[dim] * (int64_t)dt__dtype_bytes(in->dtype) : 0;
    j.out_stride = has_dim ? out->strides[dim] * (int64_t)dt__dtype_bytes(out->dtype) : 0;
    const dt__array to = {out->data, out->dtype, n_others, shape, out_strides};
    const dt__array from = {in->data, in->dtype, n_others, shape, in_strides};
    if (j.n == 0 || !dt__walk_make(largest ? 4 : 2, (const dt__array *const[]){&to, &from, largest, sums}, &j.others))
        return;
    const dt__walk_dim *across = &j.others.dims[0];
    j.by_columns =
        across->size >= (largest ? 2 : MIN_COLUMNS) && distance(across->strides[0]) < distance(j.out_stride);
    const int64_t n_blocks = dt__walk_positions(&j.others, j.by_columns ? 1 : 0);
    j.columns = columns_per_item(across->size, n_blocks, dt__pool_threads(pool));
    j.n_across = j.by_columns ? dt__ceil_div(across->size, j.columns) : 1;
    j.n_items = j.n_across * n_blocks;
    j.n_per_piece = dt__ceil_div(PIECE, j.n * (j.by_columns ? j.columns : 1));
    dt__pool_run(pool, dt__ceil_div(j.n_items, j.n_per_piece), softmax_piece, &j);
}

void dt__softmax(const dt__kernels *kernels, dt__pool *pool, const dt__array *in, int dim, bool is_log,
                 const dt__array *out) {
    dt__softmax_finish(kernels, pool, in, dim, is_log, NULL, NULL, out);
}
