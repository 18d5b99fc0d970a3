/* SPDX-License-Identifier: Apache-2.0
 *
 * Access to rows and elements by index. Rows (index_select, index_add) use the kernels for copies and sums; single
 * elements (gather) are processed one by one. Rows that are short or not contiguous are added element by element
 * (scatter.c). Sums of f16 and bf16 are left to index_sums.c: here only their terms are listed.
 */
#include "kernels/kernels.h"

#include "base/dtype.h"
#include "base/size.h"
#include "kernels/index_range.h"
#include "kernels/loops.h"
#include "kernels/walk.h"

#include <string.h>

enum { PIECE_BYTES = 1 << 16, PIECE_ROWS = 64, ADD_PIECES = 16, ADD_LARGE = 1 << 16, MIN_ROW = 16 };

/* A row of `indexed` and a row of `other`, as arrays of one shape: all dims except the indexed ones. */
typedef struct rows {
    int n_dims;
    int64_t shape[DT__WALK_DIMS], indexed_strides[DT__WALK_DIMS], other_strides[DT__WALK_DIMS];
    int64_t indexed_step, n_held; /* from one row of indexed to the next, in bytes; number of rows on this rank */
    dt__walk walk;                /* rows of other, and their indexes */
    size_t run_bytes;             /* of a row that is contiguous on both sides; else 0 */
} rows;

/* False when there is nothing to do. */
static bool rows_make(const dt__indexed *args, rows *r) {
    const dt__array *indexed = args->indexed, *other = args->other, *index = args->index;
    const dt__array at_rows = {other->data, other->dtype, index->n_dims, index->shape, other->strides + args->dim};
    bool is_dense = true;
    int64_t n = 1;
    r->n_dims = 0;
    for (int d = indexed->n_dims - 1; d >= 0; d--)
        if (d != args->dim) {
            const int64_t other_stride = other->strides[d < args->dim ? d : d - 1 + index->n_dims];
            is_dense = is_dense && (indexed->shape[d] == 1 || (indexed->strides[d] == n && other_stride == n));
            n *= indexed->shape[d];
            r->shape[r->n_dims] = indexed->shape[d];
            r->indexed_strides[r->n_dims] = indexed->strides[d];
            r->other_strides[r->n_dims++] = other_stride;
        }
    r->n_held = indexed->shape[args->dim];
    r->indexed_step = indexed->strides[args->dim] * (int64_t)dt_dtype_size(indexed->dtype);
    r->run_bytes = is_dense ? (size_t)n * dt_dtype_size(indexed->dtype) : 0;
    return n > 0 && dt__walk_make(2, (const dt__array *const[]){&at_rows, index}, &r->walk);
}

typedef struct row_job {
    const dt__kernels *kernels;
    const dt__indexed *args;
    rows r;
    int64_t n_rows, n_per_piece;
    dt__store store;
} row_job;

/* NULL if the row is another rank's. */
static const char *row_of(const row_job *j, int64_t row) {
    return row >= 0 && row < j->r.n_held ? (const char *)j->args->indexed->data + row * j->r.indexed_step : NULL;
}

static void select_row(const row_job *j, char *to, int64_t row) {
    static const char zero[16];
    static const int64_t still[DT__WALK_DIMS];
    const rows *r = &j->r;
    const char *from = row_of(j, row);
    j->kernels->copy_strided(&(dt__strided){to, from ? from : zero, dt_dtype_size(j->args->other->dtype), r->n_dims,
                                            r->shape, r->other_strides, from ? r->indexed_strides : still},
                             DT__CACHED);
}

/* Rows that are contiguous, of a piece. */
static void select_runs(const row_job *j, int64_t n, int64_t *position, char **at) {
    void *to[PIECE_ROWS];
    const void *from[PIECE_ROWS];
    for (int64_t i = 0; i < n; i++, dt__walk_next(&j->r.walk, 0, position, at)) {
        to[i] = at[0];
        from[i] = row_of(j, dt__index_at(j->args->index, at[1]) - j->args->offset);
    }
    j->kernels->copy_rows(n, to, from, j->r.run_bytes, j->store);
}

static void select_piece(void *arg, int64_t piece) {
    const row_job *j = arg;
    const int64_t begin = piece * j->n_per_piece, end = dt__min_i64(begin + j->n_per_piece, j->n_rows);
    int64_t position[DT__WALK_DIMS];
    char *at[2] = {j->r.walk.at[0], j->r.walk.at[1]};
    dt__walk_seek(&j->r.walk, 0, begin, position, at);
    for (int64_t i = begin, n; j->r.run_bytes && i < end; i += n)
        select_runs(j, n = dt__min_i64(end - i, PIECE_ROWS), position, at);
    for (int64_t i = begin; !j->r.run_bytes && i < end; i++, dt__walk_next(&j->r.walk, 0, position, at))
        select_row(j, at[0], dt__index_at(j->args->index, at[1]) - j->args->offset);
}

static int64_t row_bytes(const row_job *j) {
    int64_t n = (int64_t)dt_dtype_size(j->args->other->dtype);
    for (int d = 0; d < j->r.n_dims; d++)
        n *= j->r.shape[d];
    return n;
}

bool dt__index_select(const dt__kernels *kernels, dt__pool *pool, const dt__indexed *args, int64_t *bad) {
    row_job j;
    j.kernels = kernels;
    j.args = args;
    if (!dt__check_indexes(args->index, args->limit, bad))
        return false;
    if (!rows_make(args, &j.r))
        return true;
    j.n_rows = dt__walk_positions(&j.r.walk, 0);
    j.n_per_piece = dt__ceil_div(PIECE_BYTES, row_bytes(&j));
    j.store = j.n_rows * row_bytes(&j) >= DT__STREAM_BYTES ? DT__STREAM : DT__CACHED;
    dt__pool_run(pool, dt__ceil_div(j.n_rows, j.n_per_piece), select_piece, &j);
    return true;
}

static void add_row(const row_job *j, char *from, int64_t row) {
    const rows *r = &j->r;
    char *to = (char *)j->args->indexed->data + row * r->indexed_step;
    const dt_dtype dtype = j->args->indexed->dtype;
    dt__loop *loop = j->kernels->loops->ops[DT__EL_ADD][dtype];
    if (r->run_bytes && loop) {
        loop((int64_t)(r->run_bytes / dt_dtype_size(dtype)), to, (const void *[]){to, from}, NULL);
        return;
    }
    const dt__array out = {to, dtype, r->n_dims, r->shape, r->indexed_strides};
    const dt__array in = {from, dtype, r->n_dims, r->shape, r->other_strides};
    dt__elementwise_run(j->kernels, NULL,
                        &(dt__elementwise){.op = DT__EL_ADD, .dtype = dtype, .out = &out, .ins = {&out, &in}});
}

/* A piece is a range of destination rows, so that no two threads write to the same row; each piece scans all
 * indexes. */
static void add_piece(void *arg, int64_t piece) {
    const row_job *j = arg;
    const int64_t begin = piece * j->n_per_piece, end = dt__min_i64(begin + j->n_per_piece, j->r.n_held);
    int64_t position[DT__WALK_DIMS] = {0};
    char *at[2] = {j->r.walk.at[0], j->r.walk.at[1]};
    do {
        const int64_t row = dt__index_at(j->args->index, at[1]) - j->args->offset;
        if (row >= begin && row < end)
            add_row(j, at[0], row);
    } while (dt__walk_next(&j->r.walk, 0, position, at));
}

static void add_half_rows(const row_job *j, dt__pool *pool) {
    const rows *r = &j->r;
    const dt__array *indexed = j->args->indexed, *other = j->args->other;
    const dt__array sums = {indexed->data, indexed->dtype, r->n_dims, r->shape, r->indexed_strides};
    const dt__array terms = {other->data, other->dtype, r->n_dims, r->shape, r->other_strides};
    int64_t position[DT__WALK_DIMS] = {0}, n = 0;
    dt__index_term *list = j->args->memory;
    char *at[2] = {r->walk.at[0], r->walk.at[1]};
    do {
        const int64_t row = dt__index_at(j->args->index, at[1]) - j->args->offset;
        if (row >= 0 && row < r->n_held)
            list[n++] = (dt__index_term){row * indexed->strides[j->args->dim],
                                         (at[0] - (char *)other->data) / (int64_t)dt_dtype_size(other->dtype)};
    } while (dt__walk_next(&r->walk, 0, position, at));
    dt__index_sums_run(j->kernels, pool, &(dt__index_sums){&sums, &terms, list, n});
}

/* The elements of rows, for dt__scatter_along: the index repeated along the other dims. */
typedef struct repeated_index {
    int64_t strides[DT__WALK_DIMS];
    dt__array index;
    dt__indexed args;
} repeated_index;

/* False if the rows of a vector of indexes are long enough to be added as rows. */
static bool repeat_index(const dt__indexed *args, repeated_index *out) {
    const dt__array *indexed = args->indexed, *other = args->other;
    if (args->index->n_dims != 1)
        return false;
    for (int d = 0; d < other->n_dims; d++) {
        if (d != args->dim && other->shape[d] >= MIN_ROW && other->strides[d] == 1 && indexed->strides[d] == 1)
            return false;
        out->strides[d] = d == args->dim ? args->index->strides[0] : 0;
    }
    out->index = (dt__array){args->index->data, args->index->dtype, other->n_dims, other->shape, out->strides};
    out->args = *args;
    out->args.index = &out->index;
    return true;
}

int64_t dt__index_add_bytes(dt__pool *pool, const dt__indexed *args) {
    repeated_index repeated;
    if (repeat_index(args, &repeated))
        return dt__scatter_bytes(pool, &repeated.args);
    return dt__is_half(args->indexed->dtype) ? 2 * dt__array_count(args->index) * (int64_t)sizeof(dt__index_term) : 0;
}

bool dt__index_add(const dt__kernels *kernels, dt__pool *pool, const dt__indexed *args, int64_t *bad) {
    row_job j;
    repeated_index repeated;
    j.kernels = kernels;
    j.args = args;
    if (!dt__check_indexes(args->index, args->limit, bad))
        return false;
    if (!rows_make(args, &j.r) || j.r.n_held == 0)
        return true;
    if (repeat_index(args, &repeated)) {
        repeated.args.is_new = true; /* checked above */
        return dt__scatter_along(kernels, pool, &repeated.args, true, bad);
    }
    if (dt__is_half(args->indexed->dtype)) {
        add_half_rows(&j, pool);
        return true;
    }
    j.n_rows = dt__walk_positions(&j.r.walk, 0);
    const bool is_large = j.n_rows * row_bytes(&j) >= ADD_LARGE && dt__pool_threads(pool) > 1;
    j.n_per_piece = is_large ? dt__ceil_div(j.r.n_held, ADD_PIECES) : j.r.n_held;
    dt__pool_run(pool, dt__ceil_div(j.r.n_held, j.n_per_piece), add_piece, &j);
    return true;
}

/* Single elements: index, other, and the element of indexed at 0 along dim. */
typedef struct element_job {
    const dt__kernels *kernels;
    const dt__indexed *args;
    dt__walk walk;
    int64_t step, n_held; /* stride of indexed along dim, in bytes; its size along dim */
    int64_t n, n_per_piece;
    int64_t shape[DT__WALK_DIMS], strides[DT__WALK_DIMS];
    dt__array start; /* indexed, with stride 0 along dim */
} element_job;

static bool elements_make(const dt__indexed *args, const dt__array *first, element_job *j) {
    const dt__array *indexed = args->indexed;
    for (int d = 0; d < indexed->n_dims; d++) {
        j->shape[d] = args->index->shape[d];
        j->strides[d] = d == args->dim ? 0 : indexed->strides[d];
    }
    j->args = args;
    j->start = (dt__array){indexed->data, indexed->dtype, indexed->n_dims, j->shape, j->strides};
    j->n_held = indexed->n_dims ? indexed->shape[args->dim] : 1;
    j->step = indexed->n_dims ? indexed->strides[args->dim] * (int64_t)dt_dtype_size(indexed->dtype) : 0;
    const dt__array *second = first == args->index ? args->other : args->index;
    return dt__walk_make(3, (const dt__array *const[]){first, second, &j->start}, &j->walk);
}

static void gather_piece(void *arg, int64_t piece) {
    const element_job *j = arg;
    const size_t bytes = dt_dtype_size(j->args->other->dtype);
    const int64_t begin = piece * j->n_per_piece, end = dt__min_i64(begin + j->n_per_piece, j->n);
    int64_t position[DT__WALK_DIMS];
    char *at[3] = {j->walk.at[0], j->walk.at[1], j->walk.at[2]};
    dt__walk_seek(&j->walk, 0, begin, position, at);
    for (int64_t i = begin; i < end; i++, dt__walk_next(&j->walk, 0, position, at)) {
        const int64_t where = dt__index_at(j->args->index, at[1]) - j->args->offset;
        if (where >= 0 && where < j->n_held)
            memcpy(at[0], at[2] + where * j->step, bytes);
        else
            memset(at[0], 0, bytes);
    }
}

bool dt__gather_along(const dt__kernels *kernels, dt__pool *pool, const dt__indexed *args, int64_t *bad) {
    element_job j;
    j.kernels = kernels;
    if (!dt__check_indexes(args->index, args->limit, bad))
        return false;
    if (!elements_make(args, args->other, &j))
        return true;
    j.n = dt__walk_positions(&j.walk, 0);
    j.n_per_piece = PIECE_BYTES / 4;
    dt__pool_run(pool, dt__ceil_div(j.n, j.n_per_piece), gather_piece, &j);
    return true;
}
