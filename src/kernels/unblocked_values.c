/* SPDX-License-Identifier: Apache-2.0
 *
 * Eigenvalues and singular values without a library: Jacobi rotations of Hermitian matrices and of columns, which are
 * accurate for small values, too, and for general matrices the QR iteration on a Hessenberg matrix with one shift. All
 * work on copies in c128.
 */
#include "kernels/unblocked.h"

#include "kernels/unblocked_numbers.h"

#include <float.h>
#include <string.h>

enum { MAX_SWEEPS = 60, MAX_STEPS = 60 };

/* A matrix of c128 in the memory of a call. */
static numbers take(char **memory, int64_t rows, int64_t columns) {
    const numbers out = {DT_C128, *memory, rows > 0 ? rows : 1, false};
    *memory += (size_t)(rows * columns) * sizeof(number);
    return out;
}

static void set_identity(const numbers *of, int n) {
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
            set(of, i, j, i == j);
}

static dt_dtype real_of(dt_dtype dtype) { return dtype == DT_F32 || dtype == DT_C64 ? DT_F32 : DT_F64; }

/* Elements of matrices are scaled by a power of two to about 1, so that no square overflows or is lost. */
static int exponent_of(const numbers *of, int m, int n) {
    double largest = 0;
    int exponent = 0;
    for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++)
            largest = fmax(largest, size(at(of, i, j)));
    (void)frexp(largest, &exponent);
    return largest > 0 && largest < INFINITY ? exponent : 0;
}

static number scaled(number x, int exponent) { return join(ldexp(creal(x), exponent), ldexp(cimag(x), exponent)); }

/* The rotation that makes [[a, r e], [r conj(e), b]] diagonal, where |e| = 1: column q is multiplied by conj(e), and
 * then p becomes c p - s q, and q becomes s p + c q. */
typedef struct rotation {
    double c, s;
    number phase; /* conj(e) */
} rotation;

static rotation find_rotation(double a, double b, number off) {
    const double r = cabs(off), z = (b - a) / (2 * r), t = copysign(1, z) / (fabs(z) + hypot(1, z)),
                 c = 1 / hypot(1, t);
    return (rotation){c, t * c, conj(off) / r};
}

static void rotate_columns(const numbers *of, int n, int p, int q, rotation by) {
    for (int k = 0; k < n; k++) {
        const number x = at(of, k, p), y = multiply(at(of, k, q), by.phase);
        set(of, k, p, by.c * x - by.s * y);
        set(of, k, q, by.s * x + by.c * y);
    }
}

static void rotate_rows(const numbers *of, int n, int p, int q, rotation by) {
    for (int k = 0; k < n; k++) {
        const number x = at(of, p, k), y = multiply(at(of, q, k), conj(by.phase));
        set(of, p, k, by.c * x - by.s * y);
        set(of, q, k, by.s * x + by.c * y);
    }
}

/* One rotation for each element off the diagonal; false if none was needed. */
static bool sweep_hermitian(const numbers *h, const numbers *v, int n) {
    bool rotated = false;
    for (int p = 0; p < n; p++)
        for (int q = p + 1; q < n; q++) {
            const double a = creal(at(h, p, p)), b = creal(at(h, q, q));
            const number off = at(h, p, q);
            if (cabs(off) <= DBL_EPSILON * sqrt(fabs(a)) * sqrt(fabs(b)) || cabs(off) < DBL_MIN)
                continue;
            const rotation by = find_rotation(a, b, off);
            rotate_columns(h, n, p, q, by);
            rotate_rows(h, n, p, q, by);
            set(h, p, q, 0);
            set(h, q, p, 0);
            rotate_columns(v, n, p, q, by);
            rotated = true;
        }
    return rotated;
}

/* The number of the k-th value in order; keys are destroyed. */
static int take_next(const numbers *keys, int n, bool ascending) {
    int best = -1;
    for (int i = 0; i < n; i++) {
        const double x = creal(at(keys, i, 0));
        if (!isnan(x) && (best < 0 || (ascending ? x < creal(at(keys, best, 0)) : x > creal(at(keys, best, 0)))))
            best = i;
    }
    set(keys, best, 0, (double)NAN);
    return best;
}

int dt__unblocked_heevd(dt_dtype dtype, char jobz, char uplo, int n, void *a, int lda, void *real_w,
                        dt__lapack_work *work) {
    const numbers of = {dtype, a, lda, uplo == 'U'}, w = {real_of(dtype), real_w, 1, false};
    char *memory = work->memory;
    if (!memory) {
        work->bytes = ((size_t)n * (size_t)n * 2 + (size_t)n) * sizeof(number);
        return 0;
    }
    const numbers h = take(&memory, n, n), v = take(&memory, n, n), keys = take(&memory, n, 1);
    int sweeps = 0;
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
            set(&h, i, j, i > j ? lower(&of, i, j) : i < j ? conj(lower(&of, j, i)) : creal(lower(&of, i, i)));
    set_identity(&v, n);
    while (sweep_hermitian(&h, &v, n))
        if (++sweeps == MAX_SWEEPS)
            return 1;
    for (int i = 0; i < n; i++)
        set(&keys, i, 0, at(&h, i, i));
    for (int k = 0; k < n; k++) {
        const int from = take_next(&keys, n, true);
        set(&w, 0, k, at(&h, from, from));
        for (int i = 0; i < n && jobz == 'V'; i++)
            set(&of, i, k, at(&v, i, from));
    }
    return 0;
}

/* One rotation for each pair of columns that are not orthogonal; false if there is none. */
static bool sweep_columns(const numbers *w, const numbers *v, int m, int n) {
    bool rotated = false;
    for (int p = 0; p < n; p++)
        for (int q = p + 1; q < n; q++) {
            double a = 0, b = 0;
            number inner = 0;
            for (int i = 0; i < m; i++) {
                const number x = at(w, i, p), y = at(w, i, q);
                a += square(x);
                b += square(y);
                inner += multiply(conj(x), y);
            }
            if (cabs(inner) <= DBL_EPSILON * sqrt(a) * sqrt(b) || cabs(inner) < DBL_MIN)
                continue;
            const rotation by = find_rotation(a, b, inner);
            rotate_columns(w, m, p, q, by);
            rotate_columns(v, n, p, q, by);
            rotated = true;
        }
    return rotated;
}

/* Makes column j of u a unit vector orthogonal to those before it, from the axis that they contain least of. */
static void complete(const numbers *u, int m, int j) {
    int least = 0;
    double part_of_least = INFINITY;
    for (int i = 0; i < m; i++) {
        double part = 0;
        for (int k = 0; k < j; k++)
            part += square(at(u, i, k));
        if (part < part_of_least) {
            part_of_least = part;
            least = i;
        }
    }
    for (int i = 0; i < m; i++)
        set(u, i, j, i == least);
    for (int again = 0; again < 2; again++) {
        double length = 0;
        for (int k = 0; k < j; k++) {
            number inner = 0;
            for (int i = 0; i < m; i++)
                inner += multiply(conj(at(u, i, k)), at(u, i, j));
            for (int i = 0; i < m; i++)
                set(u, i, j, at(u, i, j) - multiply(inner, at(u, i, k)));
        }
        for (int i = 0; i < m; i++)
            length = hypot(length, cabs(at(u, i, j)));
        for (int i = 0; i < m; i++)
            set(u, i, j, at(u, i, j) / length);
    }
}

/* U S V^H = A. A matrix with more columns than rows is decomposed as its adjoint. */
int dt__unblocked_gesdd(dt_dtype dtype, char jobz, int m, int n, const void *a, int lda, void *real_s, void *u,
                        int ldu, void *vt, int ldvt, dt__lapack_work *work) {
    const numbers of = {dtype, (void *)(uintptr_t)a, lda, false}, s = {real_of(dtype), real_s, 1, false},
                  left = {dtype, u, ldu, false}, right = {dtype, vt, ldvt, false};
    const bool wide = m < n;
    const int longer = wide ? n : m, k = wide ? m : n, n_long = jobz == 'A' ? longer : k;
    const int exponent = work->memory ? exponent_of(&of, m, n) : 0;
    char *memory = work->memory;
    if (!memory) {
        work->bytes =
            ((size_t)longer * (size_t)(k + n_long) + (size_t)k * (size_t)k + 2 * (size_t)k) * sizeof(number);
        return 0;
    }
    const numbers w = take(&memory, longer, k), v = take(&memory, k, k), all = take(&memory, longer, n_long),
                  keys = take(&memory, k, 1), values = take(&memory, k, 1);
    int sweeps = 0;
    for (int j = 0; j < k; j++)
        for (int i = 0; i < longer; i++)
            set(&w, i, j, scaled(wide ? conj(at(&of, j, i)) : at(&of, i, j), -exponent));
    set_identity(&v, k);
    while (sweep_columns(&w, &v, longer, k))
        if (++sweeps == MAX_SWEEPS)
            return 1;
    for (int j = 0; j < k; j++) {
        double length = 0;
        for (int i = 0; i < longer; i++)
            length = hypot(length, cabs(at(&w, i, j)));
        set(&keys, j, 0, length);
        set(&values, j, 0, length);
    }
    for (int j = 0; j < k; j++) {
        const int from = take_next(&keys, k, false);
        const double length = creal(at(&values, from, 0));
        set(&s, 0, j, scaled(length, exponent));
        for (int i = 0; i < longer && length > 0; i++)
            set(&all, i, j, at(&w, i, from) / length);
        if (!(length > 0))
            complete(&all, longer, j);
        for (int i = 0; i < k && jobz != 'N'; i++)
            set(wide ? &left : &right, wide ? i : j, wide ? j : i, wide ? at(&v, i, from) : conj(at(&v, i, from)));
    }
    for (int j = 0; j < n_long && jobz != 'N'; j++) {
        if (j >= k)
            complete(&all, longer, j);
        for (int i = 0; i < longer; i++)
            set(wide ? &right : &left, wide ? j : i, wide ? i : j, wide ? conj(at(&all, i, j)) : at(&all, i, j));
    }
    return 0;
}

/* Brings a matrix to Hessenberg form by reflections, which z accumulates. */
static void reduce_to_hessenberg(const numbers *h, const numbers *z, const numbers *v, int n) {
    for (int k = 0; k + 2 < n; k++) {
        double length = 0;
        for (int i = k + 1; i < n; i++)
            length = hypot(length, cabs(at(h, i, k)));
        if (length == 0)
            continue;
        const number first = at(h, k + 1, k);
        const number phase = first == 0 ? 1 : first / cabs(first);
        double norm = 0;
        for (int i = 0; i < n; i++)
            set(v, i, 0, i <= k ? 0 : at(h, i, k) / length + (i == k + 1 ? phase : 0));
        for (int i = k + 1; i < n; i++)
            norm += square(at(v, i, 0));
        for (int j = 0; j < n; j++) { /* I - 2 v v^H / |v|^2 from the left */
            number inner = 0;
            for (int i = k + 1; i < n; i++)
                inner += multiply(conj(at(v, i, 0)), at(h, i, j));
            for (int i = k + 1; i < n; i++)
                set(h, i, j, at(h, i, j) - multiply(inner * (2 / norm), at(v, i, 0)));
        }
        for (int which = 0; which < 2; which++) /* and from the right */
            for (int i = 0; i < n; i++) {
                const numbers *of = which ? z : h;
                number inner = 0;
                for (int j = k + 1; j < n; j++)
                    inner += multiply(at(of, i, j), at(v, j, 0));
                for (int j = k + 1; j < n; j++)
                    set(of, i, j, at(of, i, j) - multiply(inner * (2 / norm), conj(at(v, j, 0))));
            }
        for (int i = k + 2; i < n; i++)
            set(h, i, k, 0);
    }
}

/* The shift: of the two eigenvalues of the 2 x 2 block that ends at `last`, the one nearer to its last element. Every
 * tenth step takes another number, which ends cycles. */
static number find_shift(const numbers *h, int last, int steps) {
    const number a = at(h, last - 1, last - 1), b = at(h, last - 1, last), c = at(h, last, last - 1),
                 d = at(h, last, last);
    if (steps % 10 == 9)
        return d + cabs(c);
    const number half = (a - d) / 2, root = csqrt(multiply(half, half) + multiply(b, c));
    const number x = half + root, y = half - root;
    return d + (cabs(x) < cabs(y) ? x : y);
}

/* One step of the QR iteration on rows first to last: rotations from the left, then from the right. */
static void step_qr(const numbers *h, const numbers *z, const numbers *rotations, int n, int first, int last,
                    number shift) {
    for (int i = first; i <= last; i++)
        set(h, i, i, at(h, i, i) - shift);
    for (int k = first; k < last; k++) {
        const number x = at(h, k, k), y = at(h, k + 1, k);
        const double length = hypot(cabs(x), cabs(y));
        const number c = length == 0 ? 1 : x / length, s = length == 0 ? 0 : y / length;
        set(rotations, k, 0, c);
        set(rotations, k, 1, s);
        for (int j = k; j < n; j++) {
            const number p = at(h, k, j), q = at(h, k + 1, j);
            set(h, k, j, multiply(conj(c), p) + multiply(conj(s), q));
            set(h, k + 1, j, multiply(c, q) - multiply(s, p));
        }
    }
    for (int k = first; k < last; k++) {
        const number c = at(rotations, k, 0), s = at(rotations, k, 1);
        for (int which = 0; which < 2; which++) {
            const numbers *of = which ? z : h;
            const int end = which ? n : (k + 2 <= last ? k + 2 : last + 1);
            for (int i = 0; i < end; i++) {
                const number p = at(of, i, k), q = at(of, i, k + 1);
                set(of, i, k, multiply(p, c) + multiply(q, s));
                set(of, i, k + 1, multiply(q, conj(c)) - multiply(p, conj(s)));
            }
        }
    }
    for (int i = first; i <= last; i++)
        set(h, i, i, at(h, i, i) + shift);
}

/* Makes a Hessenberg matrix triangular; false if this takes too long. */
static bool iterate_qr(const numbers *h, const numbers *z, const numbers *rotations, int n) {
    int steps = 0;
    for (int last = n - 1; last > 0;) {
        int first = last;
        for (; first > 0; first--) {
            const double near = size(at(h, first, first)) + size(at(h, first - 1, first - 1));
            if (size(at(h, first, first - 1)) <= DBL_EPSILON * near || size(at(h, first, first - 1)) < DBL_MIN) {
                set(h, first, first - 1, 0);
                break;
            }
        }
        if (first == last) {
            last--;
            steps = 0;
        } else if (steps == MAX_STEPS) {
            return false;
        } else {
            step_qr(h, z, rotations, n, first, last, find_shift(h, last, steps));
            steps++;
        }
    }
    return true;
}

/* Vector k of a triangular matrix, times z; of length 1. */
static void find_vector(const numbers *h, const numbers *z, const numbers *x, int n, int k, const numbers *out) {
    double largest = 0, length = 0;
    for (int j = 0; j < n; j++)
        largest = fmax(largest, size(at(h, j, j)));
    const double least = fmax(DBL_EPSILON * largest, DBL_MIN);
    set(x, k, 0, 1);
    for (int i = k - 1; i >= 0; i--) {
        number sum = 0, gap = at(h, i, i) - at(h, k, k);
        for (int j = i + 1; j <= k; j++)
            sum -= multiply(at(h, i, j), at(x, j, 0));
        gap = cabs(gap) < least ? least : gap;
        set(x, i, 0, sum / gap);
        const double grown = size(at(x, i, 0)); /* unbounded where eigenvalues are equal */
        for (int j = i; j <= k && grown > 1 / DBL_EPSILON; j++)
            set(x, j, 0, at(x, j, 0) / grown);
    }
    for (int i = 0; i < n; i++) {
        number sum = 0;
        for (int j = 0; j <= k; j++)
            sum += multiply(at(z, i, j), at(x, j, 0));
        set(x, n + i, 0, sum);
        length = hypot(length, cabs(sum));
    }
    for (int i = 0; i < n; i++)
        set(out, i, k, at(x, n + i, 0) / length);
}

/* A value of a real matrix is real if its imaginary part is a rounding error. */
static number clean(number x, double largest) { return fabs(cimag(x)) <= 16 * DBL_EPSILON * largest ? creal(x) : x; }

int dt__unblocked_geev(dt_dtype dtype, dt_dtype result, char jobvr, int n, const void *a, int lda, void *w, void *vr,
                       int ldvr, dt__lapack_work *work) {
    const numbers of = {dtype, (void *)(uintptr_t)a, lda, false}, values = {result, w, 1, false},
                  vectors = {result, vr, ldvr, false};
    double largest = 0;
    char *memory = work->memory;
    if (!memory) {
        work->bytes = ((size_t)n * (size_t)n * 2 + (size_t)n * 2) * sizeof(number);
        return 0;
    }
    const int exponent = exponent_of(&of, n, n);
    const numbers h = take(&memory, n, n), z = take(&memory, n, n), scratch = take(&memory, n, 2);
    const numbers x = {DT_C128, scratch.data, 2 * (int64_t)n, false};
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
            set(&h, i, j, scaled(at(&of, i, j), -exponent));
    set_identity(&z, n);
    reduce_to_hessenberg(&h, &z, &scratch, n);
    if (!iterate_qr(&h, &z, &scratch, n))
        return 1;
    for (int k = 0; k < n; k++)
        largest = fmax(largest, size(at(&h, k, k)));
    for (int k = 0; k < n; k++) {
        set(&values, 0, k, scaled(dtype == result ? at(&h, k, k) : clean(at(&h, k, k), largest), exponent));
        if (jobvr == 'V')
            find_vector(&h, &z, &x, n, k, &vectors);
    }
    return 0;
}
