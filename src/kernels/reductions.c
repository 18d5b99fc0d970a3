/* SPDX-License-Identifier: Apache-2.0
 *
 * Reductions of arrays along any of their dims. Two ways to reduce. By rows: for each element of the result, its
 * elements are loaded block by block and folded. By columns, if the stride of the kept dims is smaller in the input: a
 * block of accumulators is combined with blocks of input by the loops of elementwise ops. A few results of many
 * elements each are folded in segments, in parallel, and the segments are combined in order.
 */
#include "kernels/kernels.h"

#include "base/size.h"
#include "kernels/element_ops.h"
#include "kernels/element_types.h"
#include "kernels/gather.h"
#include "kernels/walk.h"

#include <math.h>
#include <string.h>

enum {
    BLOCK = 1024,     /* elements that are loaded at once */
    COLUMNS = 256,    /* accumulators of a block of columns */
    MIN_COLUMNS = 16, /* for columns to pay off */
    CHUNK = 128,      /* rows that are summed before their sum is added to the total */
    PIECE = 1 << 15,  /* elements that are worth a thread, about */
    SEGMENTS = 64,
    FEW_RESULTS = 64,
};

typedef union element {
    double f[2];
    float f32;
    int64_t i;
    uint8_t boolean;
} element;

typedef struct job {
    const dt__kernels *kernels;
    const dt__reduction *args;
    dt_dtype loop_dtype, acc_dtype; /* of the loops' input, and of their accumulators */
    element identity;
    dt__walk results;  /* output and input, along the kept dims */
    dt__walk elements; /* input, along the reduced dims */
    bool is_empty;     /* no elements */
    bool has_direct_rows;
    int64_t n_results, n_across; /* n_across: blocks along the innermost reduced dim */
    int64_t n_blocks;            /* of elements, per result */
    int64_t n_per_piece;         /* results, or blocks of columns */
    int64_t n_segments;
    element *segments;
} job;

/* The dtype in which elements are loaded: one of a few that hold all values exactly. */
static dt_dtype loop_dtype_of(dt__fold fold, dt_dtype dtype) {
    static const dt_dtype holds[DT_N_DTYPES] = {
        [DT_F32] = DT_F32,  [DT_F16] = DT_F32,   [DT_BF16] = DT_F32, [DT_F64] = DT_F64,
        [DT_C64] = DT_C128, [DT_C128] = DT_C128, [DT_I8] = DT_I64,   [DT_I16] = DT_I64,
        [DT_I32] = DT_I64,  [DT_I64] = DT_I64,   [DT_U8] = DT_I64,   [DT_BOOL] = DT_I64,
    };
    return fold == DT__FOLD_ANY || fold == DT__FOLD_ALL ? DT_BOOL : holds[dtype];
}

static dt_dtype acc_dtype_of(dt__fold fold, dt_dtype loop_dtype) {
    return loop_dtype == DT_F32 && (fold == DT__FOLD_SUM || fold == DT__FOLD_PROD) ? DT_F64 : loop_dtype;
}

static element identity_of(dt__fold fold, dt_dtype acc_dtype) {
    element e = {{0, 0}};
    const bool is_integer = acc_dtype == DT_I64;
    switch (fold) {
    case DT__FOLD_PROD:
        if (is_integer)
            e.i = 1;
        else
            e.f[0] = 1;
        break;
    case DT__FOLD_MAX:
    case DT__FOLD_MIN:
        if (is_integer)
            e.i = fold == DT__FOLD_MAX ? INT64_MIN : INT64_MAX;
        else if (acc_dtype == DT_F32)
            e.f32 = fold == DT__FOLD_MAX ? -INFINITY : INFINITY;
        else
            e.f[0] = fold == DT__FOLD_MAX ? -INFINITY : INFINITY;
        break;
    case DT__FOLD_ALL:
        e.boolean = 1;
        break;
    default:
        break;
    }
    return e;
}

/* The elementwise op that combines columns. */
static const dt__element_op column_ops[DT__N_FOLDS] = {
    [DT__FOLD_SUM] = DT__EL_ADD,     [DT__FOLD_PROD] = DT__EL_MUL, [DT__FOLD_MAX] = DT__EL_MAXIMUM,
    [DT__FOLD_MIN] = DT__EL_MINIMUM, [DT__FOLD_ANY] = DT__EL_OR,   [DT__FOLD_ALL] = DT__EL_AND,
};

static dt__patch row_patch(const dt__array *a, char *at, int64_t n, int64_t stride) {
    return (dt__patch){at, dt__dtype_bytes(a->dtype), n, 1, stride, 0};
}

/* Writes n accumulators, divided if requested, to a row of the output. */
static void store_results(const job *j, void *kept, int64_t n, char *at, int64_t stride) {
    char converted[COLUMNS * 16];
    const double divisor = j->args->divisor;
    if (divisor != 0 && (j->acc_dtype == DT_F64 || j->acc_dtype == DT_C128))
        for (int64_t i = 0; i < n * (j->acc_dtype == DT_C128 ? 2 : 1); i++)
            ((double *)kept)[i] /= divisor;
    else if (divisor != 0) { /* integers: the quotient is f64 */
        for (int64_t i = 0; i < n; i++) {
            const double quotient = (double)((int64_t *)kept)[i] / divisor;
            memcpy((char *)kept + 8 * i, &quotient, 8);
        }
    }
    const dt_dtype dtype = divisor != 0 && j->acc_dtype == DT_I64 ? DT_F64 : j->acc_dtype;
    const dt__patch to = row_patch(j->args->out, at, n, stride);
    dt__store_patch(j->kernels, kept, dtype, &to, j->args->out->dtype, converted);
}

static void set_to_identity(const job *j, int64_t n, char *kept) {
    const size_t bytes = dt__dtype_bytes(j->acc_dtype);
    j->kernels->fill(kept, &j->identity, bytes, (size_t)n, DT__CACHED);
}

/* Combines blocks begin to end of the elements of one result with *kept. */
static void fold_blocks(const job *j, char *start, int64_t begin, int64_t end, void *kept) {
    _Alignas(64) char gathered[BLOCK * 16], converted[BLOCK * 16];
    const dt__walk_dim *inner = &j->elements.dims[0];
    dt__fold_loop *fold = j->kernels->loops->folds[j->args->fold][j->loop_dtype];
    int64_t position[DT__WALK_DIMS];
    char *at[1] = {start};
    dt__walk_seek(&j->elements, 1, begin / j->n_across, position, at);
    for (int64_t block = begin, across = begin % j->n_across; block < end; block++) {
        const int64_t first = across * BLOCK;
        const dt__patch p = row_patch(j->args->in, at[0] + first * inner->strides[0],
                                      dt__min_i64(BLOCK, inner->size - first), inner->strides[0]);
        fold(p.columns, dt__load_patch(j->kernels, &p, j->args->in->dtype, j->loop_dtype, gathered, converted), kept);
        if (++across == j->n_across) {
            across = 0;
            dt__walk_next(&j->elements, 1, position, at);
        }
    }
}

/* Whether the elements of a result are contiguous, and are read in place. */
static bool has_direct_rows(const job *j) {
    return !j->is_empty && j->elements.n_dims <= 1 && j->args->in->dtype == j->loop_dtype &&
           (j->elements.dims[0].size == 1 ||
            j->elements.dims[0].strides[0] == (int64_t)dt__dtype_bytes(j->loop_dtype));
}

/* Combines all elements of one result with *kept, block by block. */
static void fold_all(const job *j, char *start, void *kept) {
    if (!j->has_direct_rows) {
        fold_blocks(j, start, 0, j->n_blocks, kept);
        return;
    }
    dt__fold_loop *fold = j->kernels->loops->folds[j->args->fold][j->loop_dtype];
    const int64_t n = j->elements.dims[0].size, bytes = (int64_t)dt__dtype_bytes(j->loop_dtype);
    for (int64_t i = 0; i < n; i += BLOCK)
        fold(dt__min_i64(BLOCK, n - i), start + i * bytes, kept);
}

/* Results are stored a row at a time. */
static void reduce_rows(void *arg, int64_t piece) {
    const job *j = arg;
    _Alignas(64) char kept[COLUMNS * 16];
    const dt__walk_dim *along = &j->results.dims[0];
    const size_t bytes = dt__dtype_bytes(j->acc_dtype);
    const int64_t first = piece * j->n_per_piece, end = dt__min_i64(first + j->n_per_piece, j->n_results);
    int64_t position[DT__WALK_DIMS] = {0}, n;
    char *at[2] = {j->results.at[0], j->results.at[1]};
    dt__walk_seek(&j->results, 0, first, position, at);
    for (int64_t r = first; r < end; r += n) {
        char *start = j->is_empty ? NULL : j->elements.at[0] + (at[1] - (char *)j->args->in->data);
        n = dt__min_i64(dt__min_i64(COLUMNS, end - r), along->size - position[0]);
        set_to_identity(j, n, kept);
        for (int64_t i = 0; i < n && !j->is_empty; i++)
            fold_all(j, start + i * along->strides[1], kept + (size_t)i * bytes);
        store_results(j, kept, n, at[0], along->strides[0]);
        position[0] += n - 1;
        at[0] += (n - 1) * along->strides[0];
        at[1] += (n - 1) * along->strides[1];
        dt__walk_next(&j->results, 0, position, at);
    }
}

/* A piece is one segment of one result. */
static void reduce_segment(void *arg, int64_t piece) {
    const job *j = arg;
    const int64_t result = piece / j->n_segments, segment = piece % j->n_segments;
    int64_t position[DT__WALK_DIMS];
    char *at[2] = {j->results.at[0], j->results.at[1]};
    dt__walk_seek(&j->results, 0, result, position, at);
    j->segments[piece] = j->identity;
    fold_blocks(j, j->elements.at[0] + (at[1] - (char *)j->args->in->data), j->n_blocks * segment / j->n_segments,
                j->n_blocks * (segment + 1) / j->n_segments, &j->segments[piece]);
}

static void reduce_in_segments(job *j, dt__pool *pool) {
    element segments[FEW_RESULTS * SEGMENTS];
    int64_t position[DT__WALK_DIMS] = {0};
    char *at[2] = {j->results.at[0], j->results.at[1]};
    dt__fold_loop *fold = j->kernels->loops->folds[j->args->fold][j->acc_dtype];
    j->segments = segments;
    dt__pool_run(pool, j->n_results * j->n_segments, reduce_segment, j);
    for (int64_t r = 0; r < j->n_results; r++, dt__walk_next(&j->results, 0, position, at)) {
        element kept = j->identity;
        for (int64_t s = 0; s < j->n_segments; s++)
            fold(1, &segments[r * j->n_segments + s], &kept);
        store_results(j, &kept, 1, at[0], 0);
    }
}

/* One block of columns, along dims[0] of the results. Sums are computed in chunks, so that rounding errors do not
 * accumulate over all rows. */
static void reduce_columns(void *arg, int64_t piece) {
    const job *j = arg;
    _Alignas(64) char all[COLUMNS * 16], chunk[COLUMNS * 16], gathered[COLUMNS * 16], converted[COLUMNS * 16];
    const dt__walk_dim *columns = &j->results.dims[0];
    const int64_t per_row = dt__ceil_div(columns->size, COLUMNS), first = piece % per_row * COLUMNS;
    const int64_t n = dt__min_i64(COLUMNS, columns->size - first);
    dt__loop *combine = j->kernels->loops->ops[column_ops[j->args->fold]][j->acc_dtype];
    int64_t position[DT__WALK_DIMS], in_position[DT__WALK_DIMS] = {0}, row = 0;
    char *at[2] = {j->results.at[0] + first * columns->strides[0], j->results.at[1] + first * columns->strides[1]};
    dt__walk_seek(&j->results, 1, piece / per_row, position, at);
    char *in[1] = {j->elements.at[0] + (at[1] - (char *)j->args->in->data)};
    const bool widens = j->args->fold == DT__FOLD_SUM && j->loop_dtype == DT_F32;
    set_to_identity(j, n, all);
    set_to_identity(j, n, chunk);
    do {
        const dt__patch p = row_patch(j->args->in, in[0], n, columns->strides[1]);
        const void *x =
            dt__load_patch(j->kernels, &p, j->args->in->dtype, widens ? DT_F32 : j->acc_dtype, gathered, converted);
        if (widens && x == in[0]) { /* all rows of the dim and of the chunk at once */
            const dt__walk_dim *along = &j->elements.dims[0];
            const int64_t n_rows = dt__min_i64(CHUNK - row % CHUNK, along->size - in_position[0]);
            j->kernels->loops->add_widened(n, (double *)(void *)chunk, x, n_rows, along->strides[0]);
            in_position[0] += n_rows - 1;
            in[0] += (n_rows - 1) * along->strides[0];
            row += n_rows - 1;
        } else if (widens)
            j->kernels->loops->add_widened(n, (double *)(void *)chunk, x, 1, 0);
        else
            combine(n, chunk, (const void *[]){chunk, x}, NULL);
        if (++row % CHUNK == 0) {
            combine(n, all, (const void *[]){all, chunk}, NULL);
            set_to_identity(j, n, chunk);
        }
    } while (dt__walk_next(&j->elements, 0, in_position, in));
    combine(n, all, (const void *[]){all, chunk}, NULL);
    store_results(j, all, n, at[0], columns->strides[0]);
}

static int64_t distance(int64_t stride) { return stride < 0 ? -stride : stride; }

static bool prefers_columns(const job *j) {
    const dt__walk_dim *across = &j->results.dims[0], *along = &j->elements.dims[0];
    return !j->is_empty && across->size >= MIN_COLUMNS && across->strides[1] != 0 &&
           distance(across->strides[1]) < distance(along->strides[0]);
}

/* Passes a few short contiguous rows directly to the loop, with the same result as reduce_rows. False if the case is
 * not this one. */
static bool reduce_directly(const job *j) {
    const dt__array *in = j->args->in, *out = j->args->out;
    _Alignas(64) char kept[FEW_RESULTS * sizeof(element)];
    const size_t bytes = dt__dtype_bytes(j->acc_dtype), in_bytes = dt__dtype_bytes(in->dtype);
    int64_t n_results = 1, n = 1;
    for (int d = 0; d < in->n_dims; d++) {
        const bool is_reduced = j->args->dims >> d & 1;
        if (!is_reduced && d > 0 && j->args->dims >> (d - 1) & 1)
            return false; /* only the last dims may be reduced */
        if (is_reduced)
            n *= in->shape[d];
        else
            n_results *= in->shape[d];
    }
    if (n == 0 || n > BLOCK || n_results == 0 || n_results > FEW_RESULTS || in->dtype != j->loop_dtype ||
        !dt__array_is_dense(in) || !dt__array_is_dense(out))
        return false;
    dt__fold_loop *fold = j->kernels->loops->folds[j->args->fold][j->loop_dtype];
    for (int64_t r = 0; r < n_results; r++) {
        element one = j->identity;
        fold(n, (const char *)in->data + (size_t)(r * n) * in_bytes, &one);
        memcpy(kept + (size_t)r * bytes, &one, sizeof one); /* a constant size is no loop; the next one follows */
    }
    store_results(j, kept, n_results, out->data, (int64_t)dt__dtype_bytes(out->dtype));
    return true;
}

void dt__reduce(const dt__kernels *kernels, dt__pool *pool, const dt__reduction *args) {
    dt__split v;
    job j;
    j.kernels = kernels;
    j.args = args;
    j.loop_dtype = loop_dtype_of(args->fold, args->in->dtype);
    j.acc_dtype = acc_dtype_of(args->fold, j.loop_dtype);
    j.identity = identity_of(args->fold, j.acc_dtype);
    if (reduce_directly(&j))
        return;
    dt__split_dims(args->in, args->dims, &v);
    if (!dt__walk_make(2, (const dt__array *const[]){args->out, &v.kept}, &j.results))
        return;
    j.is_empty = !dt__walk_make(1, (const dt__array *const[]){&v.reduced}, &j.elements);
    j.has_direct_rows = has_direct_rows(&j);
    j.n_results = dt__walk_positions(&j.results, 0);
    j.n_across = dt__ceil_div(j.is_empty ? 1 : j.elements.dims[0].size, BLOCK);
    j.n_blocks = j.is_empty ? 0 : j.n_across * dt__walk_positions(&j.elements, 1);
    const int64_t n_elements = j.is_empty ? 1 : dt__walk_positions(&j.elements, 0);
    if (prefers_columns(&j)) {
        const dt__walk_dim *columns = &j.results.dims[0];
        dt__pool_run(n_elements * j.n_results < PIECE ? NULL : pool,
                     dt__ceil_div(columns->size, COLUMNS) * dt__walk_positions(&j.results, 1), reduce_columns, &j);
        return;
    }
    if (j.n_results <= FEW_RESULTS && j.n_blocks >= 2 * SEGMENTS) {
        j.n_segments = SEGMENTS;
        reduce_in_segments(&j, pool);
        return;
    }
    j.n_per_piece = dt__ceil_div(PIECE, n_elements);
    dt__pool_run(pool, dt__ceil_div(j.n_results, j.n_per_piece), reduce_rows, &j);
}

/* The position of the largest or smallest element: each block is folded first, and searched only if its result is
 * better than the best so far. */
typedef struct arg_job {
    const dt__kernels *kernels;
    const dt__reduction *args;
    dt_dtype loop_dtype;
    bool has_values;
    dt__walk results;
    dt__split v;
    int64_t n_elements, n_per_piece, n_results;
} arg_job;

/* The first that equals the best, by groups, which the compiler compares at once. */
static int64_t find_f32(const dt__f32 *x, int64_t n, float best) {
    enum { GROUP = 32 };
    int64_t i = 0;
    for (; i + GROUP <= n && best == best; i += GROUP) {
        int n_equal = 0;
        for (int k = 0; k < GROUP; k++)
            n_equal += x[i + k] == best;
        if (n_equal)
            break;
    }
    for (; i < n; i++)
        if (x[i] == best || (x[i] != x[i] && best != best))
            return i;
    return -1;
}

static int64_t find_f64(const dt__f64 *x, int64_t n, double best) {
    for (int64_t i = 0; i < n; i++)
        if (x[i] == best || (x[i] != x[i] && best != best))
            return i;
    return -1;
}

static int64_t find_i64(const dt__i64 *x, int64_t n, int64_t best) {
    for (int64_t i = 0; i < n; i++)
        if (x[i] == best)
            return i;
    return -1;
}

static bool is_better(const arg_job *j, element now, element before) {
    const bool is_max = j->args->fold == DT__FOLD_MAX;
    if (j->loop_dtype == DT_I64)
        return is_max ? now.i > before.i : now.i < before.i;
    if (before.f[0] != before.f[0])
        return false;
    return now.f[0] != now.f[0] || (is_max ? now.f[0] > before.f[0] : now.f[0] < before.f[0]);
}

/* In logical order, whatever the strides. */
static int64_t arg_of(const arg_job *j, char *start, element *best_of_all) {
    _Alignas(64) char gathered[BLOCK * 16];
    _Alignas(64) element converted[BLOCK];
    const dt__array *reduced = &j->v.reduced;
    const int last = reduced->n_dims - 1;
    const int64_t size = (int64_t)dt__dtype_bytes(reduced->dtype), n = last < 0 ? 1 : reduced->shape[last];
    const int64_t stride = last < 0 ? 0 : reduced->strides[last] * size;
    dt__fold_loop *fold = j->kernels->loops->folds[j->args->fold][j->loop_dtype];
    const element worst = identity_of(j->args->fold, j->loop_dtype);
    element best = worst;
    int64_t where = -1, index[DT__WALK_DIMS] = {0};
    for (int64_t row = 0; row < j->n_elements; row += n) {
        char *at = start;
        for (int d = 0; d < last; d++)
            at += index[d] * reduced->strides[d] * size;
        for (int64_t first = 0; first < n; first += BLOCK) {
            const dt__patch p = row_patch(reduced, at + first * stride, dt__min_i64(BLOCK, n - first), stride);
            const void *x = dt__load_patch(j->kernels, &p, reduced->dtype, j->loop_dtype, gathered, converted);
            element now = worst;
            fold(p.columns, x, &now);
            const float narrow = now.f32;
            if (j->loop_dtype == DT_F32)
                now.f[0] = (double)narrow;
            if (where >= 0 && !is_better(j, now, best))
                continue;
            best = now;
            where = row + first +
                    (j->loop_dtype == DT_I64   ? find_i64(x, p.columns, now.i)
                     : j->loop_dtype == DT_F32 ? find_f32(x, p.columns, narrow)
                                               : find_f64(x, p.columns, now.f[0]));
        }
        for (int d = last - 1; d >= 0 && ++index[d] == reduced->shape[d]; d--)
            index[d] = 0;
    }
    *best_of_all = best;
    return where;
}

static void reduce_args(void *arg, int64_t piece) {
    const arg_job *j = arg;
    const int64_t first = piece * j->n_per_piece, end = dt__min_i64(first + j->n_per_piece, j->n_results);
    int64_t position[DT__WALK_DIMS];
    char *at[3] = {j->results.at[0], j->results.at[1], j->results.at[2]};
    dt__walk_seek(&j->results, 0, first, position, at);
    for (int64_t r = first; r < end; r++, dt__walk_next(&j->results, 0, position, at)) {
        element best;
        const int64_t where = arg_of(j, at[1], &best);
        if (j->has_values)
            memcpy(at[2], &best, sizeof where);
        memcpy(at[0], &where, sizeof where);
    }
}

void dt__reduce_arg(const dt__kernels *kernels, dt__pool *pool, const dt__reduction *args, const dt__array *values) {
    arg_job j = {.kernels = kernels, .args = args, .has_values = values != NULL};
    j.loop_dtype = loop_dtype_of(args->fold, args->in->dtype);
    dt__split_dims(args->in, args->dims, &j.v);
    j.n_elements = dt__array_count(&j.v.reduced);
    if (j.n_elements == 0 ||
        !dt__walk_make(3, (const dt__array *const[]){args->out, &j.v.kept, values ? values : args->out}, &j.results))
        return;
    j.n_results = dt__walk_positions(&j.results, 0);
    j.n_per_piece = dt__ceil_div(PIECE, j.n_elements);
    dt__pool_run(pool, dt__ceil_div(j.n_results, j.n_per_piece), reduce_args, &j);
}
