/* SPDX-License-Identifier: Apache-2.0
 *
 * Cumulative sums and products along one dim, by rows (one accumulator) or by columns (a block of accumulators), as in
 * reductions.c. Several rows at a time hide the latency of the additions of each.
 */
#include "base/size.h"
#include "kernels/element_ops.h"
#include "kernels/element_types.h"
#include "kernels/gather.h"
#include "kernels/walk.h"

#include <string.h>

enum { BLOCK = 1024, MIN_COLUMNS = 8, PIECE = 1 << 15, ROWS = 4 };

typedef struct job {
    const dt__kernels *kernels;
    const dt__array *in, *out;
    dt__fold fold;
    dt_dtype acc_dtype;
    int64_t n, out_stride, in_stride; /* along the dim, in bytes */
    dt__walk others;                  /* output, input and what precedes, along all other dims */
    bool by_columns, has_before;
    int64_t n_across, n_items, n_per_piece;
} job;

#define RUNNING(name, type, one, sum, product)                                                                       \
    static void running_##name(bool adds, int64_t n, type *x, void *last) {                                          \
        type a;                                                                                                      \
        memcpy(&a, last, sizeof a);                                                                                  \
        for (int64_t i = 0; i < n; i++) {                                                                            \
            const type b = x[i];                                                                                     \
            x[i] = a = adds ? (sum) : (product);                                                                     \
        }                                                                                                            \
        memcpy(last, &a, sizeof a);                                                                                  \
    }
RUNNING(f64, double, 1, a + b, a *b)
RUNNING(i64, uint64_t, 1, a + b, a *b)
RUNNING(c128, dt__c128, 1, ((dt__c128){a.re + b.re, a.im + b.im}),
        ((dt__c128){a.re * b.re - a.im * b.im, a.re *b.im + a.im *b.re}))
#undef RUNNING

static void running_rows(bool adds, int64_t n, double *const *rows, double *last) {
    double *x = rows[0], *y = rows[1], *z = rows[2], *w = rows[3];
    double a = last[0], b = last[1], c = last[2], d = last[3];
    for (int64_t i = 0; i < n && adds; i++) {
        x[i] = a += x[i];
        y[i] = b += y[i];
        z[i] = c += z[i];
        w[i] = d += w[i];
    }
    for (int64_t i = 0; i < n && !adds; i++) {
        x[i] = a *= x[i];
        y[i] = b *= y[i];
        z[i] = c *= z[i];
        w[i] = d *= w[i];
    }
    last[0] = a;
    last[1] = b;
    last[2] = c;
    last[3] = d;
}

/* Scans f32 in rows of f32, without a pass for each conversion. */
static void running_f32_rows(bool adds, int64_t n, char *const *out, char *const *in, double *last) {
    const dt__f32 *x = (const dt__f32 *)in[0], *y = (const dt__f32 *)in[1], *z = (const dt__f32 *)in[2],
                  *w = (const dt__f32 *)in[3];
    dt__f32 *p = (dt__f32 *)out[0], *q = (dt__f32 *)out[1], *r = (dt__f32 *)out[2], *s = (dt__f32 *)out[3];
    double a = last[0], b = last[1], c = last[2], d = last[3];
    for (int64_t i = 0; i < n && adds; i++) {
        p[i] = (float)(a += (double)x[i]);
        q[i] = (float)(b += (double)y[i]);
        r[i] = (float)(c += (double)z[i]);
        s[i] = (float)(d += (double)w[i]);
    }
    for (int64_t i = 0; i < n && !adds; i++) {
        p[i] = (float)(a *= (double)x[i]);
        q[i] = (float)(b *= (double)y[i]);
        r[i] = (float)(c *= (double)z[i]);
        s[i] = (float)(d *= (double)w[i]);
    }
}

static void scan_block(const job *j, int64_t n, void *x, void *last) {
    const bool adds = j->fold == DT__FOLD_SUM;
    if (j->acc_dtype == DT_F64)
        running_f64(adds, n, x, last);
    else if (j->acc_dtype == DT_I64)
        running_i64(adds, n, x, last);
    else
        running_c128(adds, n, x, last);
}

static dt__patch patch(const dt__array *a, char *at, int64_t n, int64_t stride) {
    return (dt__patch){at, dt_dtype_size(a->dtype), n, 1, stride, 0};
}

static void set_to_identity(const job *j, int64_t n, char *kept) {
    const double one = 1;
    const int64_t integer_one = 1;
    const size_t size = dt_dtype_size(j->acc_dtype);
    memset(kept, 0, (size_t)n * size);
    for (int64_t i = 0; i < n && j->fold == DT__FOLD_PROD; i++)
        memcpy(kept + (size_t)i * size, j->acc_dtype == DT_I64 ? (const void *)&integer_one : &one, 8);
}

/* Accumulators of n columns at the start. */
static void load_before(const job *j, int64_t n, char *kept, const char *before) {
    const size_t size = dt_dtype_size(j->acc_dtype);
    if (!j->has_before) {
        set_to_identity(j, n, kept);
        return;
    }
    for (int64_t i = 0; i < n; i++)
        memcpy(kept + (size_t)i * size, before + i * j->others.dims[0].strides[2], size);
}

static void scan_row(const job *j, char *out, char *in, const char *before) {
    _Alignas(64) char gathered[BLOCK * 16], converted[BLOCK * 16], narrow[BLOCK * 16];
    char last[16];
    const size_t size = dt_dtype_size(j->acc_dtype);
    load_before(j, 1, last, before);
    for (int64_t first = 0; first < j->n; first += BLOCK) {
        const int64_t n = dt__min_i64(BLOCK, j->n - first);
        const dt__patch from = patch(j->in, in + first * j->in_stride, n, j->in_stride);
        const dt__patch to = patch(j->out, out + first * j->out_stride, n, j->out_stride);
        const void *x = dt__load_patch(j->kernels, &from, j->in->dtype, j->acc_dtype, gathered, converted);
        if (x != converted)
            memcpy(converted, x, (size_t)n * size);
        scan_block(j, n, converted, last);
        dt__store_patch(j->kernels, converted, j->acc_dtype, &to, j->out->dtype, narrow);
    }
}

/* ROWS rows of floating point. */
static void scan_rows(const job *j, char *const *out, char *const *in, char *const *before) {
    _Alignas(64) char gathered[BLOCK * 8], narrow[BLOCK * 8];
    _Alignas(64) double converted[ROWS][BLOCK];
    double *const rows[ROWS] = {converted[0], converted[1], converted[2], converted[3]}, last[ROWS];
    for (int r = 0; r < ROWS; r++)
        load_before(j, 1, (char *)&last[r], before[r]);
    if (j->in->dtype == DT_F32 && j->out->dtype == DT_F32 && j->in_stride == 4 && j->out_stride == 4) {
        running_f32_rows(j->fold == DT__FOLD_SUM, j->n, out, in, last);
        return;
    }
    for (int64_t first = 0; first < j->n; first += BLOCK) {
        const int64_t n = dt__min_i64(BLOCK, j->n - first);
        for (int r = 0; r < ROWS; r++) {
            const dt__patch from = patch(j->in, in[r] + first * j->in_stride, n, j->in_stride);
            const void *x = dt__load_patch(j->kernels, &from, j->in->dtype, DT_F64, gathered, converted[r]);
            if (x != converted[r])
                memcpy(converted[r], x, (size_t)n * sizeof(double));
        }
        running_rows(j->fold == DT__FOLD_SUM, n, rows, last);
        for (int r = 0; r < ROWS; r++) {
            const dt__patch to = patch(j->out, out[r] + first * j->out_stride, n, j->out_stride);
            dt__store_patch(j->kernels, converted[r], DT_F64, &to, j->out->dtype, narrow);
        }
    }
}

static void scan_columns(const job *j, char *out, char *in, const char *before, int64_t n) {
    _Alignas(64) char gathered[BLOCK * 16], converted[BLOCK * 16], narrow[BLOCK * 16], last[BLOCK * 16];
    const dt__walk_dim *across = &j->others.dims[0];
    dt__loop *combine = j->kernels->loops->ops[j->fold == DT__FOLD_SUM ? DT__EL_ADD : DT__EL_MUL][j->acc_dtype];
    load_before(j, n, last, before);
    for (int64_t i = 0; i < j->n; i++) {
        const dt__patch from = patch(j->in, in + i * j->in_stride, n, across->strides[1]);
        const dt__patch to = patch(j->out, out + i * j->out_stride, n, across->strides[0]);
        const void *x = dt__load_patch(j->kernels, &from, j->in->dtype, j->acc_dtype, gathered, converted);
        combine(n, last, (const void *[]){last, x}, NULL);
        dt__store_patch(j->kernels, last, j->acc_dtype, &to, j->out->dtype, narrow);
    }
}

/* Items begin to end, which are rows. */
static void run_rows(const job *j, int64_t begin, int64_t end) {
    const int n_together = j->acc_dtype == DT_F64 ? ROWS : 1;
    int64_t position[DT__WALK_DIMS];
    char *at[3] = {j->others.at[0], j->others.at[1], j->others.at[2]}, *rows[3][ROWS];
    dt__walk_seek(&j->others, 0, begin, position, at);
    for (int64_t item = begin; item < end; item += n_together) {
        const int n = (int)dt__min_i64(n_together, end - item);
        for (int r = 0; r < n; r++, dt__walk_next(&j->others, 0, position, at))
            for (int k = 0; k < 3; k++)
                rows[k][r] = at[k];
        if (n == ROWS)
            scan_rows(j, rows[0], rows[1], rows[2]);
        for (int r = 0; r < n && n < ROWS; r++)
            scan_row(j, rows[0][r], rows[1][r], rows[2][r]);
    }
}

static void scan_piece(void *arg, int64_t piece) {
    const job *j = arg;
    const int64_t begin = piece * j->n_per_piece, end = dt__min_i64(begin + j->n_per_piece, j->n_items);
    if (!j->by_columns) {
        run_rows(j, begin, end);
        return;
    }
    for (int64_t item = begin; item < end; item++) {
        const int64_t first = item % j->n_across * BLOCK;
        const dt__walk_dim *across = &j->others.dims[0];
        int64_t position[DT__WALK_DIMS];
        char *at[3] = {j->others.at[0], j->others.at[1], j->others.at[2]};
        dt__walk_seek(&j->others, 1, item / j->n_across, position, at);
        scan_columns(j, at[0] + first * across->strides[0], at[1] + first * across->strides[1],
                     at[2] + first * across->strides[2], dt__min_i64(BLOCK, across->size - first));
    }
}

static int64_t distance(int64_t stride) { return stride < 0 ? -stride : stride; }

dt_dtype dt__scan_dtype(dt_dtype dtype) {
    static const dt_dtype acc_dtype[DT_N_DTYPES] = {
        [DT_F32] = DT_F64,  [DT_F16] = DT_F64,   [DT_BF16] = DT_F64, [DT_F64] = DT_F64,
        [DT_C64] = DT_C128, [DT_C128] = DT_C128, [DT_I8] = DT_I64,   [DT_I16] = DT_I64,
        [DT_I32] = DT_I64,  [DT_I64] = DT_I64,   [DT_U8] = DT_I64,   [DT_BOOL] = DT_I64,
    };
    return acc_dtype[dtype];
}

void dt__scan(const dt__kernels *kernels, dt__pool *pool, dt__fold fold, int dim, const dt__array *in,
              const dt__array *before, const dt__array *out) {
    int64_t shape[DT__WALK_DIMS], in_strides[DT__WALK_DIMS], out_strides[DT__WALK_DIMS];
    int n_others = 0;
    for (int d = 0; d < in->n_dims; d++)
        if (d != dim) {
            shape[n_others] = in->shape[d];
            in_strides[n_others] = in->strides[d];
            out_strides[n_others++] = out->strides[d];
        }
    const bool has_dim = in->n_dims > 0; /* a single number is its own sum */
    job j = {.kernels = kernels, .in = in, .out = out, .fold = fold, .acc_dtype = dt__scan_dtype(in->dtype)};
    j.has_before = before != NULL;
    j.n = has_dim ? in->shape[dim] : 1;
    j.in_stride = has_dim ? in->strides[dim] * (int64_t)dt_dtype_size(in->dtype) : 0;
    j.out_stride = has_dim ? out->strides[dim] * (int64_t)dt_dtype_size(out->dtype) : 0;
    const dt__array to = {out->data, out->dtype, n_others, shape, out_strides};
    const dt__array from = {in->data, in->dtype, n_others, shape, in_strides};
    if (j.n == 0 || !dt__walk_make(3, (const dt__array *const[]){&to, &from, before ? before : &to}, &j.others))
        return;
    const dt__walk_dim *across = &j.others.dims[0];
    j.by_columns = across->size >= MIN_COLUMNS && distance(across->strides[0]) < distance(j.out_stride);
    j.n_across = j.by_columns ? dt__ceil_div(across->size, BLOCK) : 1;
    j.n_items = j.n_across * dt__walk_positions(&j.others, j.by_columns ? 1 : 0);
    j.n_per_piece = dt__ceil_div(PIECE, j.n * (j.by_columns ? dt__min_i64(across->size, BLOCK) : 1));
    dt__pool_run(pool, dt__ceil_div(j.n_items, j.n_per_piece), scan_piece, &j);
}
