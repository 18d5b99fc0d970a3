/* SPDX-License-Identifier: Apache-2.0
 *
 * Singular value decompositions of small matrices. Reflectors from both sides make a matrix, or the adjoint of a wide
 * one, bidiagonal and real; implicit QR steps make that diagonal, from the last column to the first. Elements above the
 * diagonal count as 0 if they are at most a rounding error of the largest element, so that errors are small compared
 * with the largest singular value, as those of LAPACK.
 */
#ifndef SMALL_REAL
#include "kernels/small_matrix_loops.h"
#else

/* Memory of one group: of matrices [m,n] with m >= n. */
typedef struct SMALL_NAME(singular) {
    int m, n, n_left; /* n_left: vectors of U */
    bool has_vectors;
    NUMBER *a, *u, *v; /* u, v: vectors, one after the other */
    NUMBER *tau_left, *tau_right, *reflector;
    VREAL *d, *e; /* diagonal elements, and those to their right */
    VREAL negligible;
    int32_t *order; /* of the values of one lane */
} SMALL_NAME(singular);

/* The rows below i of A H, where H reflects columns from i + 1 on; row i has the conjugates of its v. */
static void SMALL_NAME(reflect_rows)(int m, int n, int i, NUMBER tau, const NUMBER *v, NUMBER *a) {
    for (int r = i + 1; r < m; r++) {
        NUMBER *row = a + r * n, sum = SMALL_NAME(zero)();
        for (int j = i + 1; j < n; j++)
            sum = SMALL_NAME(add_product)(sum, row[j], v[j]);
        sum = SMALL_NAME(product)(sum, tau);
        for (int j = i + 1; j < n; j++)
            row[j] = SMALL_NAME(less_product)(row[j], sum, SMALL_NAME(conj)(v[j]));
    }
}

static void SMALL_NAME(make_bidiagonal)(SMALL_NAME(singular) * self) {
    const int m = self->m, n = self->n;
    NUMBER *a = self->a;
    for (int i = 0; i < n; i++) {
        NUMBER *row = a + i * n;
        self->tau_left[i] = SMALL_NAME(reflect)(m - i, n, row + i);
        self->d[i] = SMALL_NAME(real_part)(row[i]);
        SMALL_NAME(reflect_columns)(m, i, a + i, n, SMALL_NAME(conj)(self->tau_left[i]), i + 1, n, a);
        self->e[i] = (VREAL){0};
        if (i + 1 == n)
            break;
        for (int j = i + 1; j < n; j++)
            row[j] = SMALL_NAME(conj)(row[j]);
        self->tau_right[i] = SMALL_NAME(reflect)(n - i - 1, 1, row + i + 1);
        self->e[i] = SMALL_NAME(real_part)(row[i + 1]);
        row[i + 1] = SMALL_NAME(one)();
        SMALL_NAME(reflect_rows)(m, n, i, self->tau_right[i], row, a);
    }
    if (!self->has_vectors)
        return;
    SMALL_NAME(form_vectors)(m, self->n_left, n, 0, a, n, 1, self->tau_left, self->reflector, self->u);
    SMALL_NAME(form_vectors)(n, n, n - 1, 1, a, 1, n, self->tau_right, self->reflector, self->v);
}

/* Where the block that ends at `last` begins: after the last element above the diagonal that counts as 0. */
static VMASK SMALL_NAME(block_begin)(const SMALL_NAME(singular) * self, int last) {
    VMASK begin = {0};
    for (int i = 0; i < last; i++) {
        const VMASK is_small = (VMASK)(LANE_NAME(magnitude)(self->e[i]) <= self->negligible);
        begin = LANE_NAME(select_mask)(is_small, (VMASK){0} + (i + 1), begin);
    }
    return begin;
}

/* The smaller singular value of the last two rows and columns; 0 if an element of the diagonal counts as 0, with which
 * the last one becomes 0. */
static VREAL SMALL_NAME(shift)(const SMALL_NAME(singular) * self, VMASK begin, int last) {
    const VREAL f = LANE_NAME(magnitude)(self->d[last - 1]), g = self->e[last - 1];
    const VREAL h = LANE_NAME(magnitude)(self->d[last]);
    const VREAL larger = LANE_NAME(root)((f + h) * (f + h) + g * g) + LANE_NAME(root)((f - h) * (f - h) + g * g);
    VMASK is_singular = (VMASK)(larger == 0);
    for (int i = 0; i <= last; i++)
        is_singular |= (VMASK)(begin <= i) & (VMASK)(LANE_NAME(magnitude)(self->d[i]) <= self->negligible);
    return LANE_NAME(select)(is_singular, (VREAL){0},
                             2 * f * h / LANE_NAME(select)(is_singular, LANE_NAME(all)(1), larger));
}

/* c and s with c f + s g = r and c g = s f. Where squares may underflow, both are far below a rounding error, and g
 * counts as 0, so that the rotation is one. */
INLINE VREAL SMALL_NAME(rotation)(VREAL f, VREAL g, VREAL *c, VREAL *s) {
    const VREAL squares = f * f + g * g, one = LANE_NAME(all)(1);
    const VMASK is_tiny = (VMASK)(squares < REAL_MIN / REAL_EPSILON);
    const VREAL root = LANE_NAME(root)(squares), divisor = LANE_NAME(select)(is_tiny, one, root);
    *c = LANE_NAME(select)(is_tiny, one, f / divisor);
    *s = LANE_NAME(select)(is_tiny, (VREAL){0}, g / divisor);
    return LANE_NAME(select)(is_tiny, f, root);
}

/* One implicit QR step in the lanes whose block [begin, last] has more than one element. */
static void SMALL_NAME(qr_step)(SMALL_NAME(singular) * self, VMASK begin, int last) {
    VREAL *d = self->d, *e = self->e, f = {0}, g = {0}, c, s;
    const VREAL one = LANE_NAME(all)(1), shift = SMALL_NAME(shift)(self, begin, last);
    const VMASK has_shift = (VMASK)(shift > 0);
    for (int i = 0; i < last; i++) {
        const VMASK on = (VMASK)(begin <= i), starts = (VMASK)(begin == i);
        if (!LANE_NAME(any)(on))
            continue;
        const VREAL ratio = shift / LANE_NAME(select)(has_shift & starts, d[i], one);
        const VREAL sign = LANE_NAME(select)((VMASK)(d[i] < 0), -one, one);
        const VREAL shifted = (LANE_NAME(magnitude)(d[i]) - shift) * (sign + ratio);
        f = LANE_NAME(select)(starts, LANE_NAME(select)(has_shift, shifted, d[i]), f);
        g = LANE_NAME(select)(starts, e[i], g);
        VREAL r = SMALL_NAME(rotation)(f, g, &c, &s);
        if (i)
            e[i - 1] = LANE_NAME(select)(on & ~starts, r, e[i - 1]);
        f = c * d[i] + s * e[i];
        const VREAL above = c * e[i] - s * d[i], below = s * d[i + 1], next = c * d[i + 1];
        if (self->has_vectors)
            SMALL_NAME(rotate)(self->n, on, c, s, self->v + i * self->n);
        r = SMALL_NAME(rotation)(f, below, &c, &s);
        d[i] = LANE_NAME(select)(on, r, d[i]);
        f = c * above + s * next;
        d[i + 1] = LANE_NAME(select)(on, c * next - s * above, d[i + 1]);
        e[i] = LANE_NAME(select)(on, f, e[i]);
        if (i + 1 < last) {
            g = s * e[i + 1];
            e[i + 1] = LANE_NAME(select)(on, c * e[i + 1], e[i + 1]);
        }
        if (self->has_vectors)
            SMALL_NAME(rotate)(self->m, on, c, s, self->u + i * self->m);
    }
}

/* Bits in lanes that did not converge. */
static VMASK SMALL_NAME(make_diagonal)(SMALL_NAME(singular) * self) {
    enum { MAX_STEPS = 60 };
    VMASK failed = {0};
    VREAL largest = {0};
    for (int i = 0; i < self->n; i++) {
        largest = LANE_NAME(larger)(LANE_NAME(magnitude)(self->d[i]), largest);
        largest = LANE_NAME(larger)(LANE_NAME(magnitude)(self->e[i]), largest);
    }
    self->negligible = REAL_EPSILON * largest;
    for (int last = self->n - 1; last > 0; last--) {
        VMASK begin = SMALL_NAME(block_begin)(self, last);
        for (int step = 0; step < MAX_STEPS && LANE_NAME(any)((VMASK)(begin < last)); step++) {
            SMALL_NAME(qr_step)(self, begin, last);
            begin = SMALL_NAME(block_begin)(self, last);
        }
        failed |= (VMASK)(begin < last);
    }
    return failed;
}

/* Writes a lane's vectors as columns of a matrix, or their adjoints as rows, in the order of the values. */
static void SMALL_NAME(write_vectors)(const SMALL_NAME(singular) * self, int lane, int n, int length, bool as_rows,
                                      const NUMBER *vectors, SMALL_REAL *out) {
    for (int j = 0; j < n; j++) {
        const VREAL *vector = (const VREAL *)(vectors + (j < self->n ? self->order[j] : j) * length);
        SMALL_REAL *to = SMALL_NAME(write_at)(out, as_rows ? j * length : j);
        const int step = (as_rows ? 1 : n) * N_PARTS;
        for (int i = 0; i < length; i++)
            for (int part = 0; part < N_PARTS; part++) {
                const SMALL_REAL x = vector[i * N_PARTS + part][lane];
                to[i * step + part] = part && as_rows ? -x : x;
            }
    }
}

/* Negates negative values with their vectors of V, and then all values, so that their order is ascending. */
static void SMALL_NAME(make_positive)(SMALL_NAME(singular) * self) {
    for (int i = 0; i < self->n; i++) {
        const VMASK is_negative = (VMASK)(self->d[i] < 0);
        NUMBER *vector = self->v + i * self->n;
        for (int j = 0; j < self->n && self->has_vectors; j++)
            vector[j] = SMALL_NAME(choose)(is_negative, SMALL_NAME(negative)(vector[j]), vector[j]);
        self->d[i] = -LANE_NAME(magnitude)(self->d[i]);
    }
}

/* The matrix of each lane, or its adjoint if it is wide. */
static void SMALL_NAME(pack_tall)(const dt__small_matrices *args, int64_t first, int n_matrices,
                                  SMALL_NAME(singular) * self) {
    const int m = args->m, n = args->n;
    const bool is_wide = m < n;
    NUMBER *to = is_wide ? self->u : self->a;
    SMALL_NAME(pack)((int64_t)m * n, n_matrices, SMALL_NAME(read_at)(args->a, first * m * n), to);
    for (int i = 0; is_wide && i < m; i++)
        for (int j = 0; j < n; j++)
            self->a[j * m + i] = SMALL_NAME(conj)(to[i * n + j]);
}

static SMALL_NAME(singular) SMALL_NAME(divide_memory)(const dt__small_matrices *args, void *memory) {
    const bool is_wide = args->m < args->n;
    const int m = is_wide ? args->n : args->m, n = is_wide ? args->m : args->n;
    SMALL_NAME(singular)
    group = {.m = m, .n = n, .n_left = args->full ? m : n, .has_vectors = args->out, .a = memory};
    group.u = group.a + m * n;
    group.v = group.u + m * m;
    group.tau_left = group.v + n * n;
    group.tau_right = group.tau_left + n;
    group.reflector = group.tau_right + n;
    group.d = (VREAL *)(group.reflector + m);
    group.e = group.d + n;
    group.order = (int32_t *)(group.e + n);
    return group;
}

/* Values that were not found are NaN. */
static void SMALL_NAME(svd)(const dt__small_matrices *self, int64_t first, int n_matrices, void *memory) {
    SMALL_NAME(singular) group = SMALL_NAME(divide_memory)(self, memory);
    const int m = group.m, n = group.n;
    const bool is_wide = self->m < self->n;
    VMASK is_finite;
    SMALL_NAME(pack_tall)(self, first, n_matrices, &group);
    const VREAL unit = SMALL_NAME(scale)((int64_t)m * n, group.a, &is_finite);
    SMALL_NAME(make_bidiagonal)(&group);
    const VMASK failed = SMALL_NAME(make_diagonal)(&group);
    SMALL_NAME(make_positive)(&group);
    for (int l = 0; l < n_matrices; l++) {
        SMALL_REAL *values = (SMALL_REAL *)self->values + (first + l) * n;
        LANE_NAME(sort)(n, l, group.d, group.order);
        for (int i = 0; i < n; i++)
            values[i] = failed[l] || !is_finite[l] ? (SMALL_REAL)NAN : -group.d[group.order[i]][l] * unit[l];
        self->infos[first + l] = !is_finite[l] ? -1 : failed[l] ? 1 : 0;
        if (!group.has_vectors)
            continue;
        const int64_t left = (first + l) * m * group.n_left, right = (first + l) * n * n;
        SMALL_REAL *of_u = SMALL_NAME(write_at)(is_wide ? self->vh : self->out, left);
        SMALL_REAL *of_v = SMALL_NAME(write_at)(is_wide ? self->out : self->vh, right);
        SMALL_NAME(write_vectors)(&group, l, group.n_left, m, is_wide, group.u, of_u);
        SMALL_NAME(write_vectors)(&group, l, n, n, !is_wide, group.v, of_v);
    }
}

#endif
