/* SPDX-License-Identifier: Apache-2.0
 *
 * The gradients of softmax and of its logarithm along one dim: the sum of a row, then its elements. A row that fits a
 * buffer is loaded once. If the dim is not the contiguous one, a block of columns is processed together.
 */
#include "base/size.h"
#include "kernels/element_ops.h"
#include "kernels/gather.h"
#include "kernels/loops.h"
#include "kernels/walk.h"

#include <string.h>

enum { BLOCK = 2048, MAX_COLUMNS = 2048, MIN_COLUMNS = 8, PIECE = 1 << 14 };

/* The arrays of the walk; without a result, OUT is the gradient and is not written. */
enum { OUT, GRAD, RESULT, SUMS, N_OPERANDS = 3 };

typedef struct job {
    const dt__kernels *kernels;
    const dt__softmax_grads *args;
    const dt__array *operands[N_OPERANDS];
    dt_dtype dtype;                     /* computed in */
    int64_t n, strides[N_OPERANDS];     /* along the dim; strides in bytes */
    dt__walk others;                    /* along all other dims */
    bool by_columns, adds_up, has_sums; /* the sums are computed; and where to keep them, or where they are */
    int64_t columns, n_across, n_items, n_per_piece;
} job;

static dt__patch patch(const job *j, int k, char *at, int64_t n, int64_t stride) {
    return (dt__patch){at, dt__dtype_bytes(j->operands[k]->dtype), n, 1, stride, 0};
}

typedef struct buffers {
    _Alignas(64) char gathered[N_OPERANDS][BLOCK * 8], converted[N_OPERANDS][BLOCK * 8];
} buffers;

static const void *load(const job *j, buffers *b, int k, char *at, int64_t n, int64_t stride) {
    const dt__patch p = patch(j, k, at, n, stride);
    return dt__load_patch(j->kernels, &p, j->operands[k]->dtype, j->dtype, b->gathered[k], b->converted[k]);
}

static void run_loop(const job *j, dt__element_op op, int64_t n, void *out, const void *const *ins, double number) {
    j->kernels->loops->ops[op][j->dtype](n, out, ins, (const dt__number[1]){{.f = {number, 0}}});
}

static double add_up(const job *j, int64_t n, const void *grad, const void *result, double before) {
    double sum = before;
    const dt__gradient_loops *loops = &j->kernels->loops->gradients[j->dtype];
    if (j->args->is_log)
        loops->sum(n, grad, &sum);
    else
        loops->dot(n, grad, result, &sum);
    return sum;
}

/* Where a block is computed: in the output if it is contiguous and of the same dtype, else in a buffer. */
static void *result_buffer(const job *j, buffers *b, const dt__patch *to) {
    return j->operands[OUT]->dtype == j->dtype && dt__patch_is_dense(to) ? (void *)to->at : b->converted[OUT];
}

static void store(const job *j, buffers *b, void *computed, const dt__patch *to) {
    if (computed != to->at)
        dt__store_patch(j->kernels, computed, j->dtype, to, j->operands[OUT]->dtype, b->gathered[OUT]);
}

static void write_block(const job *j, buffers *b, char *at, int64_t n, const void *grad, const void *result,
                        double sum) {
    const dt__patch to = patch(j, OUT, at, n, j->strides[OUT]);
    void *computed = result_buffer(j, b, &to);
    if (j->args->is_log)
        j->kernels->loops->gradients[j->dtype].sub_exp(n, grad, result, sum, computed);
    else
        run_loop(j, DT__EL_MUL_SHIFTED, n, computed, (const void *[]){result, grad}, sum);
    store(j, b, computed, &to);
}

static void run_row(const job *j, buffers *b, char *const *at) {
    const void *ins[N_OPERANDS] = {NULL};
    double sum = 0;
    for (int64_t first = 0; first < j->n && j->adds_up; first += BLOCK) {
        const int64_t n = dt__min_i64(BLOCK, j->n - first);
        for (int k = GRAD; k <= RESULT; k++)
            ins[k] = load(j, b, k, at[k] + first * j->strides[k], n, j->strides[k]);
        sum = add_up(j, n, ins[GRAD], ins[RESULT], sum);
    }
    if (j->has_sums && j->adds_up)
        memcpy(at[SUMS], &sum, sizeof sum);
    else if (j->has_sums)
        memcpy(&sum, at[SUMS], sizeof sum);
    for (int64_t first = 0; first < j->n && j->args->out; first += BLOCK) {
        const int64_t n = dt__min_i64(BLOCK, j->n - first);
        for (int k = GRAD; k <= RESULT && (!j->adds_up || j->n > BLOCK); k++)
            ins[k] = load(j, b, k, at[k] + first * j->strides[k], n, j->strides[k]);
        write_block(j, b, at[OUT] + first * j->strides[OUT], n, ins[GRAD], ins[RESULT], sum);
    }
}

static void run_rows(const job *j, int64_t begin, int64_t end) {
    buffers b;
    int64_t position[DT__WALK_DIMS];
    char *at[DT__WALK_ARRAYS] = {NULL};
    for (int k = 0; k < j->others.n_arrays; k++)
        at[k] = j->others.at[k];
    dt__walk_seek(&j->others, 0, begin, position, at);
    for (int64_t item = begin; item < end; item++, dt__walk_next(&j->others, 0, position, at))
        run_row(j, &b, at);
}

/* A block of columns. */
typedef struct columns {
    const job *j;
    char *at[DT__WALK_ARRAYS];
    int64_t n;
    buffers b;
    _Alignas(64) char powers[MAX_COLUMNS * 8],
        last[MAX_COLUMNS * 8]; /* last: the sums in the dtype that is computed in */
    _Alignas(64) double sums[MAX_COLUMNS];
} columns;

static const void *columns_row(columns *c, int k, int64_t i) {
    return load(c->j, &c->b, k, c->at[k] + i * c->j->strides[k], c->n, c->j->others.dims[0].strides[k]);
}

static void add_columns(columns *c) {
    const job *j = c->j;
    const dt__loops *loops = j->kernels->loops;
    memset(c->sums, 0, (size_t)c->n * sizeof *c->sums);
    for (int64_t i = 0; i < j->n; i++) {
        const void *terms = columns_row(c, GRAD, i);
        if (!j->args->is_log) {
            run_loop(j, DT__EL_MUL, c->n, c->b.converted[OUT], (const void *[]){terms, columns_row(c, RESULT, i)}, 0);
            terms = c->b.converted[OUT];
        }
        if (j->dtype == DT_F32)
            loops->add_widened(c->n, c->sums, terms, 1, 0);
        else
            loops->ops[DT__EL_ADD][DT_F64](c->n, c->sums, (const void *[]){c->sums, terms}, NULL);
    }
}

static void keep_sums(columns *c) {
    const int64_t stride = c->j->others.dims[0].strides[SUMS];
    for (int64_t i = 0; i < c->n; i++)
        if (c->j->adds_up)
            memcpy(c->at[SUMS] + i * stride, &c->sums[i], sizeof *c->sums);
        else
            memcpy(&c->sums[i], c->at[SUMS] + i * stride, sizeof *c->sums);
}

static void log_row(columns *c, const void *grad, const void *result, void *computed) {
    void *powers = c->powers;
    run_loop(c->j, DT__EL_EXP, c->n, powers, (const void *[]){result}, 0);
    run_loop(c->j, DT__EL_MUL, c->n, powers, (const void *[]){powers, c->last}, 0);
    run_loop(c->j, DT__EL_SUB, c->n, computed, (const void *[]){grad, powers}, 0);
}

static void run_block_of_columns(columns *c) {
    const job *j = c->j;
    if (j->adds_up)
        add_columns(c);
    if (j->has_sums)
        keep_sums(c);
    if (!j->args->out)
        return;
    j->kernels->loops->convert[DT_F64][j->dtype](c->n, c->last, c->sums);
    for (int64_t i = 0; i < j->n; i++) {
        const dt__patch to = patch(j, OUT, c->at[OUT] + i * j->strides[OUT], c->n, j->others.dims[0].strides[OUT]);
        void *computed = result_buffer(j, &c->b, &to);
        const void *grad = columns_row(c, GRAD, i), *result = columns_row(c, RESULT, i);
        if (j->args->is_log)
            log_row(c, grad, result, computed);
        else
            run_loop(j, DT__EL_MUL_DIFFERENCE, c->n, computed, (const void *[]){result, grad, c->last}, 0);
        store(j, &c->b, computed, &to);
    }
}

static void run_columns(const job *j, int64_t begin, int64_t end) {
    const dt__walk_dim *across = &j->others.dims[0];
    columns c;
    c.j = j;
    for (int64_t item = begin; item < end; item++) {
        const int64_t first = item % j->n_across * j->columns;
        int64_t position[DT__WALK_DIMS];
        for (int k = 0; k < j->others.n_arrays; k++)
            c.at[k] = j->others.at[k];
        dt__walk_seek(&j->others, 1, item / j->n_across, position, c.at);
        for (int k = 0; k < j->others.n_arrays; k++)
            c.at[k] += first * across->strides[k];
        c.n = dt__min_i64(j->columns, across->size - first);
        run_block_of_columns(&c);
    }
}

static void run_piece(void *arg, int64_t piece) {
    const job *j = arg;
    const int64_t begin = piece * j->n_per_piece, end = dt__min_i64(begin + j->n_per_piece, j->n_items);
    (j->by_columns ? run_columns : run_rows)(j, begin, end);
}

/* Runs of memory as long as possible that leave some for every thread; the result does not depend on it. */
static int64_t columns_per_item(int64_t n, int threads) {
    const int64_t share = dt__ceil_div(n, threads);
    return dt__max_i64(dt__min_i64(share, MAX_COLUMNS), dt__min_i64(n, MIN_COLUMNS));
}

static int64_t distance(int64_t stride) { return stride < 0 ? -stride : stride; }

void dt__softmax_grads_run(const dt__kernels *kernels, dt__pool *pool, const dt__softmax_grads *args) {
    const dt__array *grad = args->grad, *arrays[] = {args->out ? args->out : grad, grad, args->result};
    const bool has_dim = grad->n_dims > 0;
    int64_t shape[DT__WALK_DIMS], strides[N_OPERANDS][DT__WALK_DIMS];
    dt__array others[N_OPERANDS];
    job j;
    j.kernels = kernels;
    j.args = args;
    j.dtype = grad->dtype == DT_F64 || args->result->dtype == DT_F64 ? DT_F64 : DT_F32;
    j.has_sums = args->sums != NULL;
    j.adds_up = !args->sums || !args->out;
    j.n = has_dim ? grad->shape[args->dim] : 1;
    for (int k = 0; k < N_OPERANDS; k++) {
        int n_others = 0;
        for (int d = 0; d < grad->n_dims; d++)
            if (d != args->dim) {
                shape[n_others] = grad->shape[d];
                strides[k][n_others++] = arrays[k]->strides[d];
            }
        others[k] = (dt__array){arrays[k]->data, arrays[k]->dtype, n_others, shape, strides[k]};
        j.operands[k] = arrays[k];
        j.strides[k] = has_dim ? arrays[k]->strides[args->dim] * (int64_t)dt__dtype_bytes(arrays[k]->dtype) : 0;
    }
    if (!dt__walk_make(args->sums ? 4 : 3,
                       (const dt__array *const[]){&others[OUT], &others[GRAD], &others[RESULT], args->sums},
                       &j.others))
        return;
    const dt__walk_dim *across = &j.others.dims[0];
    j.by_columns = across->size >= MIN_COLUMNS && distance(across->strides[OUT]) < distance(j.strides[OUT]);
    j.columns = columns_per_item(across->size, dt__pool_threads(pool));
    j.n_across = j.by_columns ? dt__ceil_div(across->size, j.columns) : 1;
    j.n_items = j.n_across * dt__walk_positions(&j.others, j.by_columns ? 1 : 0);
    j.n_per_piece = dt__ceil_div(PIECE, dt__max_i64(j.n, 1) * (j.by_columns ? j.columns : 1));
    dt__pool_run(pool, dt__ceil_div(j.n_items, j.n_per_piece), run_piece, &j);
}
