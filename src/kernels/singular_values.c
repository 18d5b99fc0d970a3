/* SPDX-License-Identifier: Apache-2.0
 *
 * Singular value decompositions of a batch of matrices. Small ones are decomposed a register at once
 * (small_singular_values.h), and one by one where that does not converge. Before LAPACK overwrites a matrix it is
 * copied to the numbers that Jacobi rotations start from. The copy finds infinities and NaN, for which LAPACK might not
 * terminate. It is used if LAPACK has no routine or does not converge. LAPACK stores by columns: it decomposes the
 * transposed matrix, whose U is our Vh and whose Vt is our U, so that nothing is transposed. Rotations are for real
 * numbers: complex matrices need LAPACK, and are NaN where it does not converge.
 */
#include "kernels/kernels.h"

#include "base/size.h"
#include "kernels/jacobi_svd.h"

#include <limits.h>
#include <math.h>
#include <string.h>

/* The batch, and how it is divided. */
typedef struct division {
    const dt__svd *args;
    bool by_lapack;
    int64_t k, longer, n_left, n_right; /* vectors of U and Vh */
    int64_t n_pieces, per_piece;
    dt__lapack_work work;
    size_t numbers_bytes, piece_bytes; /* of Jacobi rotations; of a piece with its work */
    size_t small_bytes;                /* of small matrices; infos follow the pieces, then this memory */
    int32_t *infos;                    /* (optional) of small matrices: where it is 0, the results are there */
    char *memory;
} division;

static bool is_complex(dt_dtype dtype) { return dtype == DT_C64 || dtype == DT_C128; }
static bool is_double(dt_dtype dtype) { return dtype == DT_F64 || dtype == DT_C128; }

static size_t aligned(size_t bytes) { return (bytes + 15) / 16 * 16; }

static int call_lapack(const division *d, void *a, void *s, void *u, void *vh, dt__lapack_work *work) {
    const int m = (int)d->args->m, n = (int)d->args->n, n_left = (int)d->n_left;
    const char jobz = !d->args->has_vectors ? 'N' : d->args->is_full ? 'A' : 'S';
    return dt__lapack_gesdd(d->args->dtype, jobz, n, m, a, n, s, vh, n, u, n_left, work);
}

static dt__small_matrices small_matrices(const dt__svd *args) {
    return (dt__small_matrices){.kind = DT__SMALL_SVD,
                                .m = (int)args->m,
                                .n = (int)args->n,
                                .full = args->is_full,
                                .a = args->a,
                                .out = args->u,
                                .vh = args->vh,
                                .values = args->s};
}

static division divide(dt__pool *pool, const dt__svd *args) {
    const int64_t k = dt__min_i64(args->m, args->n), longer = dt__max_i64(args->m, args->n);
    division d = {.args = args,
                  .k = k,
                  .longer = longer,
                  .n_left = args->is_full ? args->m : k,
                  .n_right = args->is_full ? args->n : k};
    d.by_lapack = k > 0 && longer < INT_MAX &&
                  (is_complex(args->dtype) || dt__lapack_has(DT__LAPACK_GESDD, args->dtype)) &&
                  call_lapack(&d, NULL, NULL, NULL, NULL, &d.work) == 0;
    d.per_piece = dt__max_i64(dt__ceil_div(args->n_matrices, dt__pool_threads(pool)), 1);
    d.n_pieces = dt__ceil_div(args->n_matrices, d.per_piece);
    const int64_t n_vectors = args->m < args->n ? d.n_right : d.n_left;
    d.numbers_bytes =
        is_complex(args->dtype) ? 0 : aligned((size_t)(longer * n_vectors + k * k + k) * sizeof(double));
    d.piece_bytes = d.numbers_bytes + aligned(d.work.bytes);
    if (k > 0 && longer <= DT__SMALL_MATRIX && args->n_matrices) {
        const dt__small_matrices small = small_matrices(args);
        d.small_bytes = dt__small_matrices_bytes(pool, args->dtype, &small, args->n_matrices);
    }
    return d;
}

static void set_number(dt_dtype dtype, void *array, int64_t i, double x) {
    if (is_double(dtype))
        ((double *)array)[i] = x;
    else
        ((float *)array)[i] = (float)x;
}

/* The columns of the matrix, or if it is wide its rows. False if a number is not finite. */
static bool read_vectors(const division *d, const void *a, double *vectors) {
    const int64_t m = d->args->m, n = d->args->n;
    bool finite = true;
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            const double x =
                d->args->dtype == DT_F64 ? ((const double *)a)[i * n + j] : ((const float *)a)[i * n + j];
            vectors[m < n ? i * n + j : j * m + i] = x;
            finite &= isfinite(x) != 0;
        }
    return finite;
}

static bool is_finite(const division *d, const void *a) {
    const int64_t n = 2 * d->args->m * d->args->n;
    bool finite = true;
    for (int64_t i = 0; i < n; i++)
        finite &= isfinite(is_double(d->args->dtype) ? ((const double *)a)[i] : ((const float *)a)[i]) != 0;
    return finite;
}

/* Vectors of `length` numbers become columns or rows of a matrix. */
static void write_vectors(dt_dtype dtype, int64_t n, int64_t length, const double *vectors, bool as_columns,
                          void *out) {
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < length; k++)
            set_number(dtype, out, as_columns ? k * n + i : i * length + k, vectors[i * length + k]);
}

static void rotate_vectors(const division *d, double *vectors, void *s, void *u, void *vh) {
    const dt_dtype dtype = d->args->dtype;
    const bool wide = d->args->m < d->args->n;
    const int64_t n_out = wide ? d->n_right : d->n_left;
    double *right = vectors + d->longer * n_out, *values = right + d->k * d->k;
    dt__jacobi_svd(d->k, d->longer, n_out, vectors, right, values);
    write_vectors(dtype, d->k, 1, values, false, s);
    if (!d->args->has_vectors)
        return;
    write_vectors(dtype, wide ? d->k : d->n_left, wide ? d->k : d->args->m, wide ? right : vectors, true, u);
    write_vectors(dtype, wide ? d->n_right : d->k, wide ? d->args->n : d->k, wide ? vectors : right, false, vh);
}

static void fill_with_nan(const division *d, void *s, void *u, void *vh) {
    const dt__svd *args = d->args;
    const int64_t parts = is_complex(args->dtype) ? 2 : 1;
    for (int64_t i = 0; i < d->k; i++)
        set_number(args->dtype, s, i, NAN);
    for (int64_t i = 0; args->has_vectors && i < args->m * d->n_left * parts; i++)
        set_number(args->dtype, u, i, NAN);
    for (int64_t i = 0; args->has_vectors && i < args->n * d->n_right * parts; i++)
        set_number(args->dtype, vh, i, NAN);
}

/* The vectors of a matrix without elements; one of the two may have vectors. */
static void write_identity(dt_dtype dtype, int64_t n, void *out) {
    const int64_t parts = is_complex(dtype) ? 2 : 1;
    for (int64_t i = 0; i < n * n * parts; i++)
        set_number(dtype, out, i, i % ((n + 1) * parts) == 0);
}

static char *matrix_at(void *first, int64_t i, int64_t rows, int64_t columns, dt_dtype dtype) {
    return first ? (char *)first + i * rows * columns * (int64_t)dt_dtype_size(dtype) : NULL;
}

static void decompose(const division *d, int64_t i, char *memory) {
    const dt__svd *args = d->args;
    const dt_dtype dtype = args->dtype;
    char *a = matrix_at(args->a, i, args->m, args->n, dtype);
    char *s = matrix_at(args->s, i, d->k, 1, is_double(dtype) ? DT_F64 : DT_F32);
    char *u = matrix_at(args->u, i, args->m, d->n_left, dtype),
         *vh = matrix_at(args->vh, i, d->n_right, args->n, dtype);
    double *vectors = (double *)(void *)memory;
    const bool rotates = !is_complex(dtype);
    dt__lapack_work work = d->work;
    work.memory = memory + d->numbers_bytes;
    const bool has_numbers = rotates ? read_vectors(d, a, vectors) : is_finite(d, a);
    if (has_numbers && d->by_lapack && call_lapack(d, a, s, u, vh, &work) == 0)
        return;
    if (d->k == 0 && args->has_vectors) {
        write_identity(dtype, d->n_left, u);
        write_identity(dtype, d->n_right, vh);
    } else if (has_numbers && rotates)
        rotate_vectors(d, vectors, s, u, vh);
    else
        fill_with_nan(d, s, u, vh);
}

static void run_piece(void *arg, int64_t piece) {
    const division *d = arg;
    const int64_t end = dt__min_i64((piece + 1) * d->per_piece, d->args->n_matrices);
    for (int64_t i = piece * d->per_piece; i < end; i++)
        if (!d->infos || d->infos[i])
            decompose(d, i, d->memory + (size_t)piece * d->piece_bytes);
}

static size_t infos_bytes(const division *d) {
    return d->small_bytes ? aligned((size_t)d->args->n_matrices * sizeof *d->infos) : 0;
}

size_t dt__svd_bytes(dt__pool *pool, const dt__svd *args) {
    const division d = divide(pool, args);
    return (size_t)d.n_pieces * d.piece_bytes + infos_bytes(&d) + d.small_bytes;
}

void dt__svd_run(const dt__kernels *kernels, dt__pool *pool, const dt__svd *args, void *memory) {
    division d = divide(pool, args);
    d.memory = memory;
    if (d.small_bytes) {
        char *infos = d.memory + (size_t)d.n_pieces * d.piece_bytes;
        dt__small_matrices small = small_matrices(args);
        small.infos = d.infos = (int32_t *)(void *)infos;
        dt__small_matrices_run(kernels, pool, args->dtype, &small, args->n_matrices, infos + infos_bytes(&d));
    }
    dt__pool_run(pool, d.n_pieces, run_piece, &d);
}
