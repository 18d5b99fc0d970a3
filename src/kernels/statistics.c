/* SPDX-License-Identifier: Apache-2.0
 *
 * Two numbers per row that summarize it, and how they merge. A row is read once, block by block: the statistics of a
 * block, which is in the cache, are merged into those of the row. Sums of exponentials are relative to the largest
 * element so far; the mean and squares of two sets of elements follow from those of each (Chan, Golub, LeVeque 1979).
 * If the kept dims are closer in memory than the others, a block of columns is processed together. A few long rows are
 * cut into segments, for threads.
 */
#include "kernels/kernels.h"

#include "base/size.h"
#include "kernels/element_ops.h"
#include "kernels/gather.h"
#include "kernels/loops.h"
#include "kernels/walk.h"

#include <math.h>
#include <string.h>

enum {
    BLOCK = 1024,     /* elements of a row that are loaded at once */
    COLUMNS = 256,    /* rows that are processed together, if these are columns in memory */
    MIN_COLUMNS = 16, /* fewer do not pay off */
    CHUNK = 32,       /* elements of each column that are loaded at once */
    PIECE = 1 << 15,  /* elements that are worth a thread, about */
    SEGMENTS = 64,
    FEW_RESULTS = 16,
};

typedef struct state {
    double count, first, second;
} state;

typedef struct job {
    const dt__kernels *kernels;
    const dt__statistics *args;
    dt_dtype dtype;    /* computed in */
    dt__walk results;  /* input, first, second and powers along the kept dims */
    dt__walk elements; /* input along the others */
    int64_t n_results, n_across, n_blocks, n_per_piece;
    state *segments;
} job;

static state identity_of(dt__statistic kind) { return (state){0, kind == DT__EXPONENTIALS ? -INFINITY : 0, 0}; }

/* What is subtracted from elements before the exponential: nothing if all are -inf. */
static double shift_of(double largest) { return largest == -INFINITY ? 0 : largest; }
static double larger(double a, double b) { return b > a || b != b ? b : a; }

static void merge_moments(state *into, state rest) {
    const double count = into->count + rest.count, apart = rest.first - into->first;
    if (rest.count == 0)
        return;
    if (into->count == 0) {
        *into = rest;
        return;
    }
    into->second += rest.second + apart * apart * (into->count * rest.count / count);
    into->first = (into->first * into->count + rest.first * rest.count) / count;
    into->count = count;
}

static void merge_exponentials(state *into, state rest) {
    const double largest = larger(into->first, rest.first), shift = shift_of(largest);
    into->second = (into->second == 0 ? 0 : into->second * exp(into->first - shift)) +
                   (rest.second == 0 ? 0 : rest.second * exp(rest.first - shift));
    into->first = largest;
}

static void merge(dt__statistic kind, state *into, state rest) {
    if (kind == DT__EXPONENTIALS)
        merge_exponentials(into, rest);
    else if (kind == DT__MOMENTS)
        merge_moments(into, rest);
    else
        into->second += rest.second;
}

static double largest_of(const job *j, int64_t n, const void *x, double before) {
    float narrow = (float)before;
    double wide = before;
    j->kernels->loops->folds[DT__FOLD_MAX][j->dtype](n, x, j->dtype == DT_F32 ? (void *)&narrow : &wide);
    return j->dtype == DT_F32 ? (double)narrow : wide;
}

static void add_block(const job *j, int64_t n, const void *x, void *work, state *row) {
    const dt__loops *loops = j->kernels->loops;
    state block = {(double)n, 0, 0};
    switch (j->args->kind) {
    case DT__EXPONENTIALS:
        block.first = largest_of(j, n, x, row->first);
        const double shift = shift_of(block.first);
        const dt__number numbers[2] = {{.f = {shift, 0}}};
        row->second = row->second == 0 ? 0 : row->second * exp(row->first - shift);
        row->first = block.first;
        loops->ops[DT__EL_EXP_SHIFTED][j->dtype](n, work, (const void *[]){x}, numbers);
        loops->folds[DT__FOLD_SUM][j->dtype](n, work, &row->second);
        break;
    case DT__MOMENTS:
        loops->folds[DT__FOLD_SUM][j->dtype](n, x, &block.first);
        block.first /= block.count;
        loops->deviations[j->dtype](n, x, block.first, &block.second);
        merge_moments(row, block);
        break;
    case DT__SQUARES:
        loops->deviations[j->dtype](n, x, 0, &row->second);
        break;
    }
}

static dt__patch row_patch(const dt__array *a, char *at, int64_t n, int64_t stride) {
    return (dt__patch){at, dt__dtype_bytes(a->dtype), n, 1, stride, 0};
}

/* Blocks begin to end of the row that starts here. */
static state add_blocks(const job *j, char *start, int64_t begin, int64_t end) {
    _Alignas(64) char gathered[BLOCK * 8], converted[BLOCK * 8], work[BLOCK * 8];
    const dt__walk_dim *inner = &j->elements.dims[0];
    int64_t position[DT__WALK_DIMS];
    char *at[1] = {j->elements.at[0] + (start - (char *)j->args->in->data)};
    state row = identity_of(j->args->kind);
    dt__walk_seek(&j->elements, 1, begin / j->n_across, position, at);
    for (int64_t block = begin, across = begin % j->n_across; block < end; block++) {
        const int64_t first = across * BLOCK;
        const dt__patch p = row_patch(j->args->in, at[0] + first * inner->strides[0],
                                      dt__min_i64(BLOCK, inner->size - first), inner->strides[0]);
        add_block(j, p.columns, dt__load_patch(j->kernels, &p, j->args->in->dtype, j->dtype, gathered, converted),
                  work, &row);
        if (++across == j->n_across) {
            across = 0;
            dt__walk_next(&j->elements, 1, position, at);
        }
    }
    return row;
}

/* Also with the exponentials of a row, which is contiguous. */
static state store_powers(const job *j, const char *x, char *powers) {
    const dt__loops *loops = j->kernels->loops;
    const int64_t size = (int64_t)dt__dtype_bytes(j->dtype), n = j->elements.dims[0].size;
    state row = {0, largest_of(j, n, x, -INFINITY), 0};
    const dt__number numbers[2] = {{.f = {shift_of(row.first), 0}}};
    for (int64_t first = 0; first < n; first += BLOCK) {
        const int64_t n_block = dt__min_i64(BLOCK, n - first);
        char *to = powers + first * size;
        loops->ops[DT__EL_EXP_SHIFTED][j->dtype](n_block, to, (const void *[]){x + first * size}, numbers);
        loops->folds[DT__FOLD_SUM][j->dtype](n_block, to, &row.second);
    }
    return row;
}

static void store_row(char *const *at, state row) {
    memcpy(at[1], &row.first, sizeof row.first);
    memcpy(at[2], &row.second, sizeof row.second);
}

static void start_at(const job *j, char **at) {
    for (int k = 0; k < j->results.n_arrays; k++)
        at[k] = j->results.at[k];
}

static void run_rows(void *arg, int64_t piece) {
    const job *j = arg;
    const int64_t first = piece * j->n_per_piece, end = dt__min_i64(first + j->n_per_piece, j->n_results);
    int64_t position[DT__WALK_DIMS];
    char *at[DT__WALK_ARRAYS];
    start_at(j, at);
    dt__walk_seek(&j->results, 0, first, position, at);
    for (int64_t r = first; r < end; r++, dt__walk_next(&j->results, 0, position, at))
        store_row(at, j->args->powers ? store_powers(j, at[0], at[3]) : add_blocks(j, at[0], 0, j->n_blocks));
}

/* A piece is one segment of one row. */
static void run_segment(void *arg, int64_t piece) {
    const job *j = arg;
    const int64_t segment = piece % SEGMENTS;
    int64_t position[DT__WALK_DIMS];
    char *at[DT__WALK_ARRAYS];
    start_at(j, at);
    dt__walk_seek(&j->results, 0, piece / SEGMENTS, position, at);
    j->segments[piece] =
        add_blocks(j, at[0], j->n_blocks * segment / SEGMENTS, j->n_blocks * (segment + 1) / SEGMENTS);
}

static void run_in_segments(job *j, dt__pool *pool) {
    state segments[FEW_RESULTS * SEGMENTS];
    int64_t position[DT__WALK_DIMS] = {0};
    char *at[DT__WALK_ARRAYS];
    start_at(j, at);
    j->segments = segments;
    dt__pool_run(pool, j->n_results * SEGMENTS, run_segment, j);
    for (int64_t r = 0; r < j->n_results; r++, dt__walk_next(&j->results, 0, position, at)) {
        state row = identity_of(j->args->kind);
        for (int s = 0; s < SEGMENTS; s++)
            merge(j->args->kind, &row, segments[r * SEGMENTS + s]);
        store_row(at, row);
    }
}

/* A block of columns, a chunk of each at a time. */
typedef struct columns {
    const job *j;
    int64_t n, n_in_chunk, stride;
    char *in_chunk[CHUNK]; /* the first column of each row of the chunk */
    _Alignas(64) char gathered[COLUMNS * 8], converted[COLUMNS * 8], work[COLUMNS * 8];
    _Alignas(64) char largest[COLUMNS * 8], before[COLUMNS * 8]; /* exponentials: in the dtype of loops */
    _Alignas(64) double first[COLUMNS], second[COLUMNS], mean[COLUMNS], squares[COLUMNS];
    double count;
} columns;

static const void *chunk_row(columns *c, int64_t i, dt_dtype dtype) {
    const dt__array *in = c->j->args->in;
    const dt__patch p = row_patch(in, c->in_chunk[i], c->n, c->stride);
    return dt__load_patch(c->j->kernels, &p, in->dtype, dtype, c->gathered, c->converted);
}

static void run_loop(const columns *c, dt__element_op op, dt_dtype dtype, void *out, const void *x, const void *y) {
    c->j->kernels->loops->ops[op][dtype](c->n, out, (const void *[]){x, y}, NULL);
}

/* Sums so far become relative to the largest elements, which have grown. */
static void rescale(columns *c) {
    const dt_dtype dtype = c->j->dtype;
    const dt__loops *loops = c->j->kernels->loops;
    if (!memcmp(c->before, c->largest, (size_t)c->n * dt__dtype_bytes(dtype)))
        return;
    loops->convert[dtype][DT_F64](c->n, c->mean, c->before);
    loops->convert[dtype][DT_F64](c->n, c->squares, c->largest);
    for (int64_t i = 0; i < c->n; i++)
        c->squares[i] = shift_of(c->squares[i]);
    run_loop(c, DT__EL_EXP_DIFFERENCE, DT_F64, c->mean, c->mean, c->squares);
    for (int64_t i = 0; i < c->n; i++)
        c->second[i] = c->second[i] == 0 ? 0 : c->second[i] * c->mean[i];
}

static void add_exponentials(columns *c) {
    const dt_dtype dtype = c->j->dtype;
    const size_t bytes = (size_t)c->n * dt__dtype_bytes(dtype);
    memcpy(c->before, c->largest, bytes);
    for (int64_t i = 0; i < c->n_in_chunk; i++)
        run_loop(c, DT__EL_MAXIMUM, dtype, c->largest, c->largest, chunk_row(c, i, dtype));
    rescale(c);
    memcpy(c->before, c->largest, bytes); /* -inf becomes 0 */
    for (int64_t i = 0; i < c->n; i++)
        if (dtype == DT_F64)
            ((double *)c->before)[i] = shift_of(((double *)c->before)[i]);
        else
            ((float *)c->before)[i] = (float)shift_of((double)((float *)c->before)[i]);
    for (int64_t i = 0; i < c->n_in_chunk; i++) {
        run_loop(c, DT__EL_EXP_DIFFERENCE, dtype, c->work, chunk_row(c, i, dtype), c->before);
        c->j->kernels->loops->convert[dtype][DT_F64](c->n, c->mean, c->work);
        run_loop(c, DT__EL_ADD, DT_F64, c->second, c->second, c->mean);
    }
}

static void add_moments(columns *c) {
    const double n = (double)c->n_in_chunk;
    memset(c->mean, 0, sizeof c->mean);
    memset(c->squares, 0, sizeof c->squares);
    for (int64_t i = 0; i < c->n_in_chunk; i++)
        run_loop(c, DT__EL_ADD, DT_F64, c->mean, c->mean, chunk_row(c, i, DT_F64));
    for (int64_t i = 0; i < c->n; i++)
        c->mean[i] /= n;
    for (int64_t i = 0; i < c->n_in_chunk; i++) {
        run_loop(c, DT__EL_SQUARED_DIFFERENCE, DT_F64, c->work, chunk_row(c, i, DT_F64), c->mean);
        run_loop(c, DT__EL_ADD, DT_F64, c->squares, c->squares, c->work);
    }
    for (int64_t i = 0; i < c->n; i++) {
        state all = {c->count, c->first[i], c->second[i]};
        merge_moments(&all, (state){n, c->mean[i], c->squares[i]});
        c->first[i] = all.first;
        c->second[i] = all.second;
    }
    c->count += n;
}

static void add_squares(columns *c) {
    for (int64_t i = 0; i < c->n_in_chunk; i++) {
        const void *x = chunk_row(c, i, DT_F64);
        run_loop(c, DT__EL_MUL, DT_F64, c->work, x, x);
        run_loop(c, DT__EL_ADD, DT_F64, c->second, c->second, c->work);
    }
}

static void start_columns(columns *c) {
    const dt_dtype dtype = c->j->dtype;
    const float narrow = -INFINITY;
    const double wide = -INFINITY;
    c->count = 0;
    memset(c->first, 0, sizeof c->first);
    memset(c->second, 0, sizeof c->second);
    if (c->j->args->kind == DT__EXPONENTIALS)
        c->j->kernels->fill(c->largest, dtype == DT_F32 ? (const void *)&narrow : &wide, dt__dtype_bytes(dtype),
                            (size_t)c->n, DT__CACHED);
}

static void run_columns(void *arg, int64_t piece) {
    static void (*const add[])(columns *) = {
        [DT__EXPONENTIALS] = add_exponentials, [DT__MOMENTS] = add_moments, [DT__SQUARES] = add_squares};
    const job *j = arg;
    const dt__walk_dim *across = &j->results.dims[0];
    const int64_t per_row = dt__ceil_div(across->size, COLUMNS), begin = piece % per_row * COLUMNS;
    int64_t position[DT__WALK_DIMS], in_position[DT__WALK_DIMS] = {0};
    bool more = true;
    char *at[DT__WALK_ARRAYS];
    columns c;
    for (int k = 0; k < 3; k++)
        at[k] = j->results.at[k] + begin * across->strides[k];
    dt__walk_seek(&j->results, 1, piece / per_row, position, at);
    char *in[1] = {j->elements.at[0] + (at[0] - (char *)j->args->in->data)};
    c.j = j;
    c.n = dt__min_i64(COLUMNS, across->size - begin);
    c.stride = across->strides[0];
    start_columns(&c);
    while (more) {
        for (c.n_in_chunk = 0; more && c.n_in_chunk < CHUNK; more = dt__walk_next(&j->elements, 0, in_position, in))
            c.in_chunk[c.n_in_chunk++] = in[0];
        add[j->args->kind](&c);
    }
    if (j->args->kind == DT__EXPONENTIALS)
        j->kernels->loops->convert[j->dtype][DT_F64](c.n, c.first, c.largest);
    for (int k = 1; k < 3; k++)
        for (int64_t i = 0; i < c.n; i++)
            memcpy(at[k] + i * across->strides[k], k == 1 ? &c.first[i] : &c.second[i], sizeof(double));
}

static int64_t distance(int64_t stride) { return stride < 0 ? -stride : stride; }

static bool prefers_columns(const job *j) {
    const dt__walk_dim *across = &j->results.dims[0], *along = &j->elements.dims[0];
    return across->size >= MIN_COLUMNS && across->strides[0] != 0 &&
           distance(across->strides[0]) < distance(along->strides[0]);
}

void dt__statistics_run(const dt__kernels *kernels, dt__pool *pool, const dt__statistics *args) {
    dt__split split;
    job j;
    j.kernels = kernels;
    j.args = args;
    j.dtype = args->in->dtype == DT_F64 ? DT_F64 : DT_F32;
    const dt__array *first = args->first ? args->first : args->second;
    dt__split_dims(args->in, args->dims, &split);
    dt__split powers;
    if (args->powers)
        dt__split_dims(args->powers, args->dims, &powers);
    if (!dt__walk_make(args->powers ? 4 : 3,
                       (const dt__array *const[]){&split.kept, first, args->second, &powers.kept}, &j.results))
        return;
    j.n_results = dt__walk_positions(&j.results, 0);
    j.n_across = 1;
    j.n_blocks = 0;
    int64_t n_elements = 1;
    if (dt__walk_make(1, (const dt__array *const[]){&split.reduced}, &j.elements)) {
        j.n_across = dt__ceil_div(j.elements.dims[0].size, BLOCK);
        j.n_blocks = j.n_across * dt__walk_positions(&j.elements, 1);
        n_elements = dt__walk_positions(&j.elements, 0);
        if (!args->powers && prefers_columns(&j)) {
            dt__pool_run(n_elements * j.n_results < PIECE ? NULL : pool,
                         dt__ceil_div(j.results.dims[0].size, COLUMNS) * dt__walk_positions(&j.results, 1),
                         run_columns, &j);
            return;
        }
    }
    if (!args->powers && j.n_results <= FEW_RESULTS && j.n_blocks >= 2 * SEGMENTS) {
        run_in_segments(&j, pool);
        return;
    }
    j.n_per_piece = dt__ceil_div(PIECE, n_elements);
    dt__pool_run(pool, dt__ceil_div(j.n_results, j.n_per_piece), run_rows, &j);
}

typedef struct scaling {
    const dt__kernels *kernels;
    const dt__array *rows;
    dt__walk walk; /* the first elements of the rows, and their factors */
    int64_t n, n_rows, n_per_piece;
} scaling;

static void scale_some(void *arg, int64_t piece) {
    const scaling *j = arg;
    const int64_t begin = piece * j->n_per_piece, end = dt__min_i64(begin + j->n_per_piece, j->n_rows);
    int64_t position[DT__WALK_DIMS];
    char *at[2] = {j->walk.at[0], j->walk.at[1]};
    dt__walk_seek(&j->walk, 0, begin, position, at);
    for (int64_t row = begin; row < end; row++, dt__walk_next(&j->walk, 0, position, at)) {
        dt__number numbers[2] = {{.f = {0, 0}}, {.f = {0, 0}}};
        memcpy(&numbers[0].f.re, at[1], sizeof(double));
        j->kernels->loops->ops[DT__EL_AFFINE][j->rows->dtype](j->n, at[0], (const void *[]){at[0]}, numbers);
    }
}

void dt__rows_scale(const dt__kernels *kernels, dt__pool *pool, const dt__array *factors, const dt__array *rows) {
    const int last = rows->n_dims - 1;
    scaling j = {.kernels = kernels, .rows = rows, .n = rows->shape[last]};
    dt__split split;
    dt__split_dims(rows, (uint64_t)1 << last, &split);
    if (j.n == 0 || !dt__walk_make(2, (const dt__array *const[]){&split.kept, factors}, &j.walk))
        return;
    j.n_rows = dt__walk_positions(&j.walk, 0);
    j.n_per_piece = dt__ceil_div(PIECE, j.n);
    dt__pool_run(pool, dt__ceil_div(j.n_rows, j.n_per_piece), scale_some, &j);
}

/* The sums of both, relative to the max of both. */
static void merge_block_of_exponentials(const dt__kernels *kernels, int64_t n, double *largest, double *sums,
                                        const double *rest_largest, const double *rest_sums) {
    dt__loop *exponential = kernels->loops->ops[DT__EL_EXP_DIFFERENCE][DT_F64];
    double shifts[COLUMNS], own[COLUMNS], rest[COLUMNS];
    for (int64_t i = 0; i < n; i++)
        shifts[i] = shift_of(larger(largest[i], rest_largest[i]));
    exponential(n, own, (const void *[]){largest, shifts}, NULL);
    exponential(n, rest, (const void *[]){rest_largest, shifts}, NULL);
    for (int64_t i = 0; i < n; i++) {
        sums[i] = (sums[i] == 0 ? 0 : sums[i] * own[i]) + (rest_sums[i] == 0 ? 0 : rest_sums[i] * rest[i]);
        largest[i] = larger(largest[i], rest_largest[i]);
    }
}

void dt__statistics_merge(const dt__kernels *kernels, dt__statistic kind, int64_t n, const dt__row_statistics *into,
                          const dt__row_statistics *rest) {
    for (int64_t at = 0; at < n && kind == DT__EXPONENTIALS; at += COLUMNS)
        merge_block_of_exponentials(kernels, dt__min_i64(COLUMNS, n - at), into->first + at, into->second + at,
                                    rest->first + at, rest->second + at);
    for (int64_t i = 0; i < n && kind == DT__SQUARES; i++)
        into->second[i] += rest->second[i];
    if (kind != DT__MOMENTS)
        return;
    for (int64_t i = 0; i < n; i++) {
        state all = {*into->count, into->first[i], into->second[i]};
        merge_moments(&all, (state){*rest->count, rest->first[i], rest->second[i]});
        into->first[i] = all.first;
        into->second[i] = all.second;
    }
    *into->count += *rest->count;
}
