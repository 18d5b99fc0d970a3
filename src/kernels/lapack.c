/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of LAPACK's Fortran routines, filled once per process, and a C function for each. Fortran passes everything
 * by address, and the lengths of texts as further arguments at the end. The size of its work is the routine's
 * answer to a query (lwork = -1), or the documented one where a routine has no answer.
 */
#include "kernels/lapack.h"

#include "base/size.h"
#include "kernels/blas.h"
#include "kernels/unblocked.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

enum { S, D, C, Z, N_KINDS };

typedef void routine(void); /* cast to its type where it is called */
static routine *routines[DT__N_LAPACK][N_KINDS];

static void find_routines(void) {
    static const char letters[] = {'s', 'd', 'c', 'z'};
    static const char *const names[DT__N_LAPACK][2] = {
#define NAMES(constant, real, complex) [DT__LAPACK_##constant] = {#real, #complex},
        DT__LAPACK_LIST(NAMES)
#undef NAMES
    };
    for (int i = 0; i < DT__N_LAPACK; i++)
        for (int kind = 0; kind < N_KINDS; kind++) {
            char name[16];
            snprintf(name, sizeof name, "%c%s_", letters[kind], names[i][kind >= C]);
            (void)dt__blas_find(name, &routines[i][kind]);
        }
}

static int kind_of(dt_dtype dtype) {
    return dtype == DT_F32 ? S : dtype == DT_F64 ? D : dtype == DT_C64 ? C : dtype == DT_C128 ? Z : N_KINDS;
}

static bool is_unused;

void dt__lapack_use_library(bool is_used) { is_unused = !is_used; }

bool dt__lapack_has(dt__lapack_routine which, dt_dtype dtype) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    return kind_of(dtype) < N_KINDS && !is_unused && pthread_once(&once, find_routines) == 0 &&
           routines[which][kind_of(dtype)];
}

/* NULL if it is missing. */
static routine *find(dt__lapack_routine which, dt_dtype dtype) {
    return dt__lapack_has(which, dtype) ? routines[which][kind_of(dtype)] : NULL;
}

/* Whether our own code has this dtype. */
static bool is_ours(dt_dtype dtype) { return kind_of(dtype) < N_KINDS; }

static bool is_complex(dt_dtype dtype) { return kind_of(dtype) >= C; }
static size_t real_bytes(dt_dtype dtype) { return kind_of(dtype) % 2 ? sizeof(double) : sizeof(float); }
static size_t number_bytes(dt_dtype dtype) { return real_bytes(dtype) * (is_complex(dtype) ? 2 : 1); }

/* What a routine answers to a query: one number of each kind, and where its work would be. */
typedef union one_number {
    float f[2];
    double d[2];
} one_number;

/* The parts of the work, or the places of a routine's answers. */
typedef struct parts {
    void *numbers, *reals;
    int *ints;
    int n, n_reals, n_ints; /* -1: a query for sizes */
    one_number number, real;
    int integer;
} parts;

static size_t aligned(size_t bytes) { return (bytes + 15) / 16 * 16; }

static void begin(dt_dtype dtype, const dt__lapack_work *work, parts *out) {
    *out = (parts){.n = -1, .n_reals = -1, .n_ints = -1};
    if (!work->memory) {
        out->numbers = &out->number;
        out->reals = &out->real;
        out->ints = &out->integer;
        return;
    }
    char *at = work->memory;
    out->numbers = at;
    at += aligned((size_t)work->n * number_bytes(dtype));
    out->reals = at;
    at += aligned((size_t)work->n_reals * real_bytes(dtype));
    out->ints = (int *)(void *)at;
    out->n = work->n;
    out->n_reals = work->n_reals;
    out->n_ints = work->n_ints;
}

/* Sizes come as floating-point numbers, which may have been rounded down. */
static int size_in(dt_dtype dtype, const one_number *x) {
    const double size = real_bytes(dtype) == sizeof(float) ? x->f[0] * (1 + 1.0 / (1 << 22)) : x->d[0];
    return (int)(size < INT32_MAX - 1 ? size + 1 : INT32_MAX - 1);
}

/* Sets the sizes after a query; n_reals and n_ints of -1 are in the answers. */
static void end(dt_dtype dtype, const parts *p, int64_t n_reals, int64_t n_ints, dt__lapack_work *work) {
    if (work->memory)
        return;
    work->n = size_in(dtype, &p->number);
    work->n_reals = n_reals >= 0 ? (int)n_reals : size_in(dtype, &p->real);
    work->n_ints = n_ints >= 0 ? (int)n_ints : p->integer;
    work->bytes = aligned((size_t)work->n * number_bytes(dtype)) +
                  aligned((size_t)work->n_reals * real_bytes(dtype)) + (size_t)work->n_ints * sizeof(int);
}

int dt__lapack_potrf(dt_dtype dtype, char uplo, int n, void *a, int lda) {
    typedef void potrf(const char *, const int *, void *, const int *, int *, size_t);
    routine *run = find(DT__LAPACK_POTRF, dtype);
    int info;
    if (!run)
        return is_ours(dtype) ? dt__unblocked_potrf(dtype, uplo, n, a, lda) : DT__LAPACK_ABSENT;
    ((potrf *)run)(&uplo, &n, a, &lda, &info, 1);
    return info;
}

int dt__lapack_potri(dt_dtype dtype, char uplo, int n, void *a, int lda) {
    typedef void potri(const char *, const int *, void *, const int *, int *, size_t);
    routine *run = find(DT__LAPACK_POTRI, dtype);
    int info;
    if (!run)
        return DT__LAPACK_ABSENT;
    ((potri *)run)(&uplo, &n, a, &lda, &info, 1);
    return info;
}

int dt__lapack_potrs(dt_dtype dtype, char uplo, int n, int n_rhs, const void *a, int lda, void *b, int ldb) {
    typedef void potrs(const char *, const int *, const int *, const void *, const int *, void *, const int *, int *,
                       size_t);
    routine *run = find(DT__LAPACK_POTRS, dtype);
    int info;
    if (!run)
        return DT__LAPACK_ABSENT;
    ((potrs *)run)(&uplo, &n, &n_rhs, a, &lda, b, &ldb, &info, 1);
    return info;
}

int dt__lapack_getrf(dt_dtype dtype, int m, int n, void *a, int lda, int *pivots) {
    typedef void getrf(const int *, const int *, void *, const int *, int *, int *);
    routine *run = find(DT__LAPACK_GETRF, dtype);
    int info;
    if (!run)
        return is_ours(dtype) ? dt__unblocked_getrf(dtype, m, n, a, lda, pivots) : DT__LAPACK_ABSENT;
    ((getrf *)run)(&m, &n, a, &lda, pivots, &info);
    return info;
}

int dt__lapack_getrs(dt_dtype dtype, char trans, int n, int n_rhs, const void *a, int lda, const int *pivots, void *b,
                     int ldb) {
    typedef void getrs(const char *, const int *, const int *, const void *, const int *, const int *, void *,
                       const int *, int *, size_t);
    routine *run = find(DT__LAPACK_GETRS, dtype);
    int info;
    if (!run)
        return is_ours(dtype) ? dt__unblocked_getrs(dtype, trans, n, n_rhs, a, lda, pivots, b, ldb)
                              : DT__LAPACK_ABSENT;
    ((getrs *)run)(&trans, &n, &n_rhs, a, &lda, pivots, b, &ldb, &info, 1);
    return info;
}

int dt__lapack_getri(dt_dtype dtype, int n, void *a, int lda, const int *pivots, dt__lapack_work *work) {
    typedef void getri(const int *, void *, const int *, const int *, void *, const int *, int *);
    routine *run = find(DT__LAPACK_GETRI, dtype);
    parts p;
    int info;
    if (!run)
        return is_ours(dtype) ? dt__unblocked_getri(dtype, n, a, lda, pivots, work) : DT__LAPACK_ABSENT;
    begin(dtype, work, &p);
    ((getri *)run)(&n, a, &lda, pivots, p.numbers, &p.n, &info);
    end(dtype, &p, 0, 0, work);
    return info;
}

int dt__lapack_trtrs(dt_dtype dtype, char uplo, char trans, char diag, int n, int n_rhs, const void *a, int lda,
                     void *b, int ldb) {
    typedef void trtrs(const char *, const char *, const char *, const int *, const int *, const void *, const int *,
                       void *, const int *, int *, size_t, size_t, size_t);
    routine *run = find(DT__LAPACK_TRTRS, dtype);
    int info;
    if (!run)
        return DT__LAPACK_ABSENT;
    ((trtrs *)run)(&uplo, &trans, &diag, &n, &n_rhs, a, &lda, b, &ldb, &info, 1, 1, 1);
    return info;
}

int dt__lapack_trtri(dt_dtype dtype, char uplo, char diag, int n, void *a, int lda) {
    typedef void trtri(const char *, const char *, const int *, void *, const int *, int *, size_t, size_t);
    routine *run = find(DT__LAPACK_TRTRI, dtype);
    int info;
    if (!run)
        return DT__LAPACK_ABSENT;
    ((trtri *)run)(&uplo, &diag, &n, a, &lda, &info, 1, 1);
    return info;
}

static int factor_symmetric(dt__lapack_routine which, dt_dtype dtype, char uplo, int n, void *a, int lda, int *pivots,
                            dt__lapack_work *work) {
    typedef void trf(const char *, const int *, void *, const int *, int *, void *, const int *, int *, size_t);
    routine *run = find(which, dtype);
    parts p;
    int info;
    if (!run)
        return is_ours(dtype) && uplo == 'L'
                   ? dt__unblocked_factor_symmetric(dtype, which == DT__LAPACK_HETRF, n, a, lda, pivots, work)
                   : DT__LAPACK_ABSENT;
    begin(dtype, work, &p);
    ((trf *)run)(&uplo, &n, a, &lda, pivots, p.numbers, &p.n, &info, 1);
    end(dtype, &p, 0, 0, work);
    return info;
}

static int solve_symmetric(dt__lapack_routine which, dt_dtype dtype, char uplo, int n, int n_rhs, const void *a,
                           int lda, const int *pivots, void *b, int ldb) {
    typedef void trs(const char *, const int *, const int *, const void *, const int *, const int *, void *,
                     const int *, int *, size_t);
    routine *run = find(which, dtype);
    int info;
    if (!run)
        return is_ours(dtype) && uplo == 'L'
                   ? dt__unblocked_solve_symmetric(dtype, which == DT__LAPACK_HETRS, n, n_rhs, a, lda, pivots, b, ldb)
                   : DT__LAPACK_ABSENT;
    ((trs *)run)(&uplo, &n, &n_rhs, a, &lda, pivots, b, &ldb, &info, 1);
    return info;
}

int dt__lapack_sytrf(dt_dtype dtype, char uplo, int n, void *a, int lda, int *pivots, dt__lapack_work *work) {
    return factor_symmetric(DT__LAPACK_SYTRF, dtype, uplo, n, a, lda, pivots, work);
}
int dt__lapack_hetrf(dt_dtype dtype, char uplo, int n, void *a, int lda, int *pivots, dt__lapack_work *work) {
    return factor_symmetric(DT__LAPACK_HETRF, dtype, uplo, n, a, lda, pivots, work);
}
int dt__lapack_sytrs(dt_dtype dtype, char uplo, int n, int n_rhs, const void *a, int lda, const int *pivots, void *b,
                     int ldb) {
    return solve_symmetric(DT__LAPACK_SYTRS, dtype, uplo, n, n_rhs, a, lda, pivots, b, ldb);
}
int dt__lapack_hetrs(dt_dtype dtype, char uplo, int n, int n_rhs, const void *a, int lda, const int *pivots, void *b,
                     int ldb) {
    return solve_symmetric(DT__LAPACK_HETRS, dtype, uplo, n, n_rhs, a, lda, pivots, b, ldb);
}

int dt__lapack_geqrf(dt_dtype dtype, int m, int n, void *a, int lda, void *tau, dt__lapack_work *work) {
    typedef void geqrf(const int *, const int *, void *, const int *, void *, void *, const int *, int *);
    routine *run = find(DT__LAPACK_GEQRF, dtype);
    parts p;
    int info;
    if (!run)
        return is_ours(dtype) ? dt__unblocked_geqrf(dtype, m, n, a, lda, tau, work) : DT__LAPACK_ABSENT;
    begin(dtype, work, &p);
    ((geqrf *)run)(&m, &n, a, &lda, tau, p.numbers, &p.n, &info);
    end(dtype, &p, 0, 0, work);
    return info;
}

int dt__lapack_ungqr(dt_dtype dtype, int m, int n, int k, void *a, int lda, const void *tau, dt__lapack_work *work) {
    typedef void ungqr(const int *, const int *, const int *, void *, const int *, const void *, void *, const int *,
                       int *);
    routine *run = find(DT__LAPACK_UNGQR, dtype);
    parts p;
    int info;
    if (!run)
        return is_ours(dtype) ? dt__unblocked_ungqr(dtype, m, n, k, a, lda, tau, work) : DT__LAPACK_ABSENT;
    begin(dtype, work, &p);
    ((ungqr *)run)(&m, &n, &k, a, &lda, tau, p.numbers, &p.n, &info);
    end(dtype, &p, 0, 0, work);
    return info;
}

int dt__lapack_unmqr(dt_dtype dtype, char side, char trans, int m, int n, int k, const void *a, int lda,
                     const void *tau, void *c, int ldc, dt__lapack_work *work) {
    typedef void unmqr(const char *, const char *, const int *, const int *, const int *, const void *, const int *,
                       const void *, void *, const int *, void *, const int *, int *, size_t, size_t);
    const char own_trans = trans == 'N' ? 'N' : is_complex(dtype) ? 'C' : 'T';
    routine *run = find(DT__LAPACK_UNMQR, dtype);
    parts p;
    int info;
    if (!run)
        return is_ours(dtype) ? dt__unblocked_unmqr(dtype, side, trans, m, n, k, a, lda, tau, c, ldc, work)
                              : DT__LAPACK_ABSENT;
    begin(dtype, work, &p);
    ((unmqr *)run)(&side, &own_trans, &m, &n, &k, a, &lda, tau, c, &ldc, p.numbers, &p.n, &info, 1, 1);
    end(dtype, &p, 0, 0, work);
    return info;
}

int dt__lapack_heevd(dt_dtype dtype, char jobz, char uplo, int n, void *a, int lda, void *real_w,
                     dt__lapack_work *work) {
    typedef void syevd(const char *, const char *, const int *, void *, const int *, void *, void *, const int *,
                       int *, const int *, int *, size_t, size_t);
    typedef void heevd(const char *, const char *, const int *, void *, const int *, void *, void *, const int *,
                       void *, const int *, int *, const int *, int *, size_t, size_t);
    routine *run = find(DT__LAPACK_HEEVD, dtype);
    parts p;
    int info;
    if (!run)
        return is_ours(dtype) ? dt__unblocked_heevd(dtype, jobz, uplo, n, a, lda, real_w, work) : DT__LAPACK_ABSENT;
    begin(dtype, work, &p);
    if (is_complex(dtype))
        ((heevd *)run)(&jobz, &uplo, &n, a, &lda, real_w, p.numbers, &p.n, p.reals, &p.n_reals, p.ints, &p.n_ints,
                       &info, 1, 1);
    else
        ((syevd *)run)(&jobz, &uplo, &n, a, &lda, real_w, p.numbers, &p.n, p.ints, &p.n_ints, &info, 1, 1);
    end(dtype, &p, is_complex(dtype) ? -1 : 0, -1, work);
    return info;
}

int dt__lapack_geev(dt_dtype dtype, char jobvl, char jobvr, int n, void *a, int lda, void *w, void *w_imag, void *vl,
                    int ldvl, void *vr, int ldvr, dt__lapack_work *work) {
    typedef void real_geev(const char *, const char *, const int *, void *, const int *, void *, void *, void *,
                           const int *, void *, const int *, void *, const int *, int *, size_t, size_t);
    typedef void complex_geev(const char *, const char *, const int *, void *, const int *, void *, void *,
                              const int *, void *, const int *, void *, const int *, void *, int *, size_t, size_t);
    routine *run = find(DT__LAPACK_GEEV, dtype);
    parts p;
    int info;
    if (!run)
        return is_ours(dtype) && is_complex(dtype) && jobvl == 'N'
                   ? dt__unblocked_geev(dtype, dtype, jobvr, n, a, lda, w, vr, ldvr, work)
                   : DT__LAPACK_ABSENT;
    begin(dtype, work, &p);
    if (is_complex(dtype))
        ((complex_geev *)run)(&jobvl, &jobvr, &n, a, &lda, w, vl, &ldvl, vr, &ldvr, p.numbers, &p.n, p.reals, &info,
                              1, 1);
    else
        ((real_geev *)run)(&jobvl, &jobvr, &n, a, &lda, w, w_imag, vl, &ldvl, vr, &ldvr, p.numbers, &p.n, &info, 1,
                           1);
    end(dtype, &p, is_complex(dtype) ? 2 * (int64_t)n : 0, 0, work);
    return info;
}

/* Real numbers of the work of a complex gesdd. */
static int64_t gesdd_reals(char jobz, int m, int n) {
    const int64_t shorter = m < n ? m : n, longer = m < n ? n : m;
    if (jobz == 'N')
        return 7 * shorter;
    return shorter * dt__max_i64(5 * shorter + 7, 2 * longer + 2 * shorter + 1);
}

int dt__lapack_gesdd(dt_dtype dtype, char jobz, int m, int n, void *a, int lda, void *real_s, void *u, int ldu,
                     void *vt, int ldvt, dt__lapack_work *work) {
    typedef void real_gesdd(const char *, const int *, const int *, void *, const int *, void *, void *, const int *,
                            void *, const int *, void *, const int *, int *, int *, size_t);
    typedef void complex_gesdd(const char *, const int *, const int *, void *, const int *, void *, void *,
                               const int *, void *, const int *, void *, const int *, void *, int *, int *, size_t);
    routine *run = find(DT__LAPACK_GESDD, dtype);
    parts p;
    int info;
    if (!run)
        return is_ours(dtype) ? dt__unblocked_gesdd(dtype, jobz, m, n, a, lda, real_s, u, ldu, vt, ldvt, work)
                              : DT__LAPACK_ABSENT;
    begin(dtype, work, &p);
    if (is_complex(dtype))
        ((complex_gesdd *)run)(&jobz, &m, &n, a, &lda, real_s, u, &ldu, vt, &ldvt, p.numbers, &p.n, p.reals, p.ints,
                               &info, 1);
    else
        ((real_gesdd *)run)(&jobz, &m, &n, a, &lda, real_s, u, &ldu, vt, &ldvt, p.numbers, &p.n, p.ints, &info, 1);
    end(dtype, &p, is_complex(dtype) ? gesdd_reals(jobz, m, n) : 0, 8 * (int64_t)(m < n ? m : n), work);
    return info;
}

int dt__lapack_gesvd(dt_dtype dtype, char jobu, char jobvt, int m, int n, void *a, int lda, void *real_s, void *u,
                     int ldu, void *vt, int ldvt, dt__lapack_work *work) {
    typedef void real_gesvd(const char *, const char *, const int *, const int *, void *, const int *, void *, void *,
                            const int *, void *, const int *, void *, const int *, int *, size_t, size_t);
    typedef void complex_gesvd(const char *, const char *, const int *, const int *, void *, const int *, void *,
                               void *, const int *, void *, const int *, void *, const int *, void *, int *, size_t,
                               size_t);
    routine *run = find(DT__LAPACK_GESVD, dtype);
    parts p;
    int info;
    if (!run)
        return DT__LAPACK_ABSENT;
    begin(dtype, work, &p);
    if (is_complex(dtype))
        ((complex_gesvd *)run)(&jobu, &jobvt, &m, &n, a, &lda, real_s, u, &ldu, vt, &ldvt, p.numbers, &p.n, p.reals,
                               &info, 1, 1);
    else
        ((real_gesvd *)run)(&jobu, &jobvt, &m, &n, a, &lda, real_s, u, &ldu, vt, &ldvt, p.numbers, &p.n, &info, 1, 1);
    end(dtype, &p, is_complex(dtype) ? 5 * (int64_t)(m < n ? m : n) : 0, 0, work);
    return info;
}

int dt__lapack_gelsd(dt_dtype dtype, int m, int n, int n_rhs, void *a, int lda, void *b, int ldb, void *real_s,
                     double rcond, int *rank, dt__lapack_work *work) {
    typedef void real_gelsd(const int *, const int *, const int *, void *, const int *, void *, const int *, void *,
                            const void *, int *, void *, const int *, int *, int *);
    typedef void complex_gelsd(const int *, const int *, const int *, void *, const int *, void *, const int *,
                               void *, const void *, int *, void *, const int *, void *, int *, int *);
    routine *run = find(DT__LAPACK_GELSD, dtype);
    const float rcond32 = (float)rcond;
    const void *tolerance = real_bytes(dtype) == sizeof rcond32 ? (const void *)&rcond32 : &rcond;
    parts p;
    int info;
    if (!run)
        return DT__LAPACK_ABSENT;
    begin(dtype, work, &p);
    if (is_complex(dtype))
        ((complex_gelsd *)run)(&m, &n, &n_rhs, a, &lda, b, &ldb, real_s, tolerance, rank, p.numbers, &p.n, p.reals,
                               p.ints, &info);
    else
        ((real_gelsd *)run)(&m, &n, &n_rhs, a, &lda, b, &ldb, real_s, tolerance, rank, p.numbers, &p.n, p.ints,
                            &info);
    end(dtype, &p, is_complex(dtype) ? -1 : 0, -1, work);
    return info;
}

int dt__lapack_gelsy(dt_dtype dtype, int m, int n, int n_rhs, void *a, int lda, void *b, int ldb, int *pivots,
                     double rcond, int *rank, dt__lapack_work *work) {
    typedef void real_gelsy(const int *, const int *, const int *, void *, const int *, void *, const int *, int *,
                            const void *, int *, void *, const int *, int *);
    typedef void complex_gelsy(const int *, const int *, const int *, void *, const int *, void *, const int *, int *,
                               const void *, int *, void *, const int *, void *, int *);
    routine *run = find(DT__LAPACK_GELSY, dtype);
    const float rcond32 = (float)rcond;
    const void *tolerance = real_bytes(dtype) == sizeof rcond32 ? (const void *)&rcond32 : &rcond;
    parts p;
    int info;
    if (!run)
        return DT__LAPACK_ABSENT;
    begin(dtype, work, &p);
    if (is_complex(dtype))
        ((complex_gelsy *)run)(&m, &n, &n_rhs, a, &lda, b, &ldb, pivots, tolerance, rank, p.numbers, &p.n, p.reals,
                               &info);
    else
        ((real_gelsy *)run)(&m, &n, &n_rhs, a, &lda, b, &ldb, pivots, tolerance, rank, p.numbers, &p.n, &info);
    end(dtype, &p, is_complex(dtype) ? 2 * (int64_t)n : 0, 0, work);
    return info;
}
