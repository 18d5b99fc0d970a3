/* SPDX-License-Identifier: Apache-2.0
 *
 * The lower or upper triangle of matrices: each row is split into columns that are copied and columns that are zeroed.
 */
#include "base/size.h"
#include "kernels/walk.h"

enum { PIECE = 1 << 15 };

typedef struct job {
    const dt__kernels *kernels;
    const dt__triangle *args;
    dt__walk matrices;                              /* output and input, along the leading dims */
    int64_t n_rows, n_columns, n, n_per_piece;      /* n: rows of all matrices */
    int64_t out_row, out_column, in_row, in_column; /* strides in elements */
} job;

static void copy_columns(const job *j, char *out, const char *in, int64_t begin, int64_t end) {
    const int64_t size = (int64_t)dt_dtype_size(j->args->out->dtype), n = end - begin;
    out += begin * j->out_column * size;
    in += begin * j->in_column * size;
    if (n > 0 && out != in)
        j->kernels->copy_strided(&(dt__strided){out, in, (size_t)size, 1, &n, &j->out_column, &j->in_column},
                                 DT__CACHED);
}

static void clear_columns(const job *j, char *out, int64_t begin, int64_t end) {
    static const char zero[16];
    static const int64_t still = 0;
    const int64_t size = (int64_t)dt_dtype_size(j->args->out->dtype), n = end - begin;
    out += begin * j->out_column * size;
    if (n > 0)
        j->kernels->copy_strided(&(dt__strided){out, zero, (size_t)size, 1, &n, &j->out_column, &still}, DT__CACHED);
}

/* The lower triangle ends after the last column j with j + column - (i + row) <= diagonal, the upper one starts at the
 * first with >=. */
static void write_row(const job *j, char *out, const char *in, int64_t i) {
    const dt__triangle *args = j->args;
    const int64_t diagonal_column = i + args->row + args->diagonal - args->column;
    const int64_t split =
        dt__max_i64(0, dt__min_i64(args->upper ? diagonal_column : diagonal_column + 1, j->n_columns));
    if (args->upper) {
        clear_columns(j, out, 0, split);
        copy_columns(j, out, in, split, j->n_columns);
    } else {
        copy_columns(j, out, in, 0, split);
        clear_columns(j, out, split, j->n_columns);
    }
}

static void run_piece(void *arg, int64_t piece) {
    const job *j = arg;
    const int64_t size = (int64_t)dt_dtype_size(j->args->out->dtype);
    const int64_t begin = piece * j->n_per_piece, end = dt__min_i64(begin + j->n_per_piece, j->n);
    int64_t position[DT__WALK_DIMS], i = begin % j->n_rows;
    char *at[2] = {j->matrices.at[0], j->matrices.at[1]};
    dt__walk_seek(&j->matrices, 0, begin / j->n_rows, position, at);
    for (int64_t row = begin; row < end; row++) {
        write_row(j, at[0] + i * j->out_row * size, at[1] + i * j->in_row * size, i);
        if (++i == j->n_rows) {
            i = 0;
            dt__walk_next(&j->matrices, 0, position, at);
        }
    }
}

void dt__triangle_run(const dt__kernels *kernels, dt__pool *pool, const dt__triangle *args) {
    const dt__array *in = args->in, *out = args->out;
    const int last = in->n_dims - 1;
    const dt__array outs = {out->data, out->dtype, last - 1, out->shape, out->strides};
    const dt__array ins = {in->data, in->dtype, last - 1, in->shape, in->strides};
    job j;
    j.kernels = kernels;
    j.args = args;
    j.n_rows = in->shape[last - 1];
    j.n_columns = in->shape[last];
    j.out_row = out->strides[last - 1];
    j.out_column = out->strides[last];
    j.in_row = in->strides[last - 1];
    j.in_column = in->strides[last];
    if (j.n_rows == 0 || j.n_columns == 0 || !dt__walk_make(2, (const dt__array *const[]){&outs, &ins}, &j.matrices))
        return;
    j.n = j.n_rows * dt__walk_positions(&j.matrices, 0);
    j.n_per_piece = dt__ceil_div(PIECE, j.n_columns);
    dt__pool_run(pool, dt__ceil_div(j.n, j.n_per_piece), run_piece, &j);
}
