/* SPDX-License-Identifier: Apache-2.0
 *
 * Eigenvalues and eigenvectors of small Hermitian matrices: reflectors make a matrix tridiagonal and real, and implicit
 * QL steps diagonal.
 */
#ifndef SMALL_REAL
#include "kernels/small_matrix_loops.h"
#else

/* Memory of one group. */
typedef struct SMALL_NAME(eigen) {
    int n;
    bool has_vectors;
    NUMBER *a, *z; /* z: vectors, one after the other */
    VREAL *d, *e;  /* diagonal and off-diagonal elements */
    NUMBER *v, *w, *tau;
    int32_t *order; /* of the values of one lane */
} SMALL_NAME(eigen);

/* A := Hᴴ A H of the rows and columns after k: A - v wᴴ - w vᴴ with w = tau A v - (tau (tau A v)ᴴ v / 2) v. */
static void SMALL_NAME(reflect_both_sides)(SMALL_NAME(eigen) * self, int k) {
    const int n = self->n;
    NUMBER *v = self->v, *w = self->w, product = SMALL_NAME(zero)();
    for (int i = k + 1; i < n; i++)
        w[i] = SMALL_NAME(zero)();
    for (int i = k + 1; i < n; i++) {
        const NUMBER *row = self->a + i * n;
        NUMBER sum = SMALL_NAME(sum)(w[i], SMALL_NAME(scaled)(v[i], SMALL_NAME(real_part)(row[i])));
        for (int j = k + 1; j < i; j++) {
            sum = SMALL_NAME(add_product)(sum, row[j], v[j]);
            w[j] = SMALL_NAME(add_product)(w[j], SMALL_NAME(conj)(row[j]), v[i]);
        }
        w[i] = sum;
    }
    for (int i = k + 1; i < n; i++) {
        w[i] = SMALL_NAME(product)(w[i], self->tau[k]);
        product = SMALL_NAME(add_product)(product, SMALL_NAME(conj)(w[i]), v[i]);
    }
    product = SMALL_NAME(scaled)(SMALL_NAME(product)(product, self->tau[k]), LANE_NAME(all)((SMALL_REAL)0.5));
    for (int i = k + 1; i < n; i++)
        w[i] = SMALL_NAME(less_product)(w[i], product, v[i]);
    for (int i = k + 1; i < n; i++)
        for (int j = k + 1; j <= i; j++) {
            NUMBER *x = &self->a[i * n + j];
            *x = SMALL_NAME(less_product)(*x, v[i], SMALL_NAME(conj)(w[j]));
            *x = SMALL_NAME(less_product)(*x, w[i], SMALL_NAME(conj)(v[j]));
        }
}

/* The last off-diagonal element of complex matrices has a reflector, too, which makes it real. */
static void SMALL_NAME(make_tridiagonal)(SMALL_NAME(eigen) * self) {
    const int n = self->n, n_reflectors = n - 3 + N_PARTS;
    for (int k = 0; k < n_reflectors; k++) {
        NUMBER *column = self->a + (k + 1) * n + k;
        self->tau[k] = SMALL_NAME(reflect)(n - k - 1, n, column);
        self->e[k] = SMALL_NAME(real_part)(column[0]);
        self->v[k + 1] = SMALL_NAME(one)();
        for (int i = k + 2; i < n; i++)
            self->v[i] = self->a[i * n + k];
        SMALL_NAME(reflect_both_sides)(self, k);
    }
    for (int i = 0; i < n; i++)
        self->d[i] = SMALL_NAME(real_part)(self->a[i * n + i]);
    if (n > 1 && N_PARTS == 1)
        self->e[n - 2] = SMALL_NAME(real_part)(self->a[(n - 1) * n + n - 2]);
    self->e[n - 1] = (VREAL){0};
    if (self->has_vectors)
        SMALL_NAME(form_vectors)(n, n, n_reflectors, 1, self->a, n, 1, self->tau, self->v, self->z);
}

/* Where the block that begins at l ends: at the first off-diagonal element that counts as 0. */
static VMASK SMALL_NAME(block_end)(const SMALL_NAME(eigen) * self, int l) {
    VMASK end = (VMASK){0} + (self->n - 1);
    for (int i = self->n - 2; i >= l; i--) {
        const VREAL size = LANE_NAME(magnitude)(self->d[i]) + LANE_NAME(magnitude)(self->d[i + 1]);
        const VMASK is_small = (VMASK)(LANE_NAME(magnitude)(self->e[i]) <= REAL_EPSILON * size + NEGLIGIBLE);
        end = LANE_NAME(select_mask)(is_small, (VMASK){0} + i, end);
    }
    return end;
}

/* Two vectors of n numbers that follow one another, in the lanes of the mask: (x, y) becomes (c x + s y, c y - s x). */
static void SMALL_NAME(rotate)(int n, VMASK mask, VREAL c, VREAL s, NUMBER *vectors) {
    VREAL *x = (VREAL *)vectors, *y = x + n * N_PARTS;
    if (!LANE_NAME(any)(~mask)) {
        for (int k = 0; k < n * N_PARTS; k++) {
            const VREAL old_x = x[k], old_y = y[k];
            x[k] = c * old_x + s * old_y;
            y[k] = c * old_y - s * old_x;
        }
        return;
    }
    for (int k = 0; k < n * N_PARTS; k++) {
        const VREAL old_x = x[k], old_y = y[k];
        x[k] = LANE_NAME(select)(mask, c * old_x + s * old_y, old_x);
        y[k] = LANE_NAME(select)(mask, c * old_y - s * old_x, old_y);
    }
}

/* One step of the implicit QL iteration in the lanes whose block [l, end] has more than one element. */
static void SMALL_NAME(ql_step)(SMALL_NAME(eigen) * self, int l, VMASK end) {
    VREAL *d = self->d, *e = self->e, at_end = {0};
    const VREAL one = LANE_NAME(all)(1), none = {0};
    const VMASK active = (VMASK)(end > l);
    VMASK live = active;
    for (int i = l; i < self->n; i++)
        at_end = LANE_NAME(select)((VMASK)(end == i), d[i], at_end);
    VREAL g = (d[l + 1] - d[l]) / LANE_NAME(select)(active, 2 * e[l], one);
    const VREAL root = LANE_NAME(root)(g * g + one);
    g = at_end - d[l] + e[l] / LANE_NAME(select)(active, g + LANE_NAME(select)((VMASK)(g < 0), -root, root), one);
    VREAL s = one, c = one, p = none;
    for (int i = self->n - 2; i >= l; i--) {
        VMASK on = live & (VMASK)(end > i);
        if (!LANE_NAME(any)(on))
            continue;
        const VREAL f = s * e[i], b = c * e[i], squares = f * f + g * g, r = LANE_NAME(root)(squares);
        const VMASK breaks = on & (VMASK)(squares < REAL_MIN / REAL_EPSILON); /* which may have underflowed */
        e[i + 1] = LANE_NAME(select)(on, LANE_NAME(select)(breaks, none, r), e[i + 1]);
        d[i + 1] = LANE_NAME(select)(breaks, d[i + 1] - p, d[i + 1]);
        live &= ~breaks;
        on &= ~breaks;
        const VREAL divisor = LANE_NAME(select)(on, r, one);
        const VREAL new_s = f / divisor, new_c = g / divisor, left = d[i + 1] - p;
        const VREAL turned = (d[i] - left) * new_s + 2 * new_c * b, shift = new_s * turned;
        d[i + 1] = LANE_NAME(select)(on, left + shift, d[i + 1]);
        s = LANE_NAME(select)(on, new_s, s);
        c = LANE_NAME(select)(on, new_c, c);
        p = LANE_NAME(select)(on, shift, p);
        g = LANE_NAME(select)(on, new_c * turned - b, g);
        if (self->has_vectors)
            SMALL_NAME(rotate)(self->n, on, new_c, -new_s, self->z + i * self->n);
    }
    d[l] = LANE_NAME(select)(live, d[l] - p, d[l]);
    e[l] = LANE_NAME(select)(live, g, e[l]);
    for (int i = l; i < self->n; i++)
        e[i] = LANE_NAME(select)(active & (VMASK)(end == i), none, e[i]);
}

/* Bits in lanes that did not converge. */
static VMASK SMALL_NAME(iterate)(SMALL_NAME(eigen) * self) {
    enum { MAX_STEPS = 60 };
    VMASK failed = {0};
    for (int l = 0; l < self->n; l++) {
        VMASK end = SMALL_NAME(block_end)(self, l);
        for (int step = 0; step < MAX_STEPS && LANE_NAME(any)((VMASK)(end > l)); step++) {
            SMALL_NAME(ql_step)(self, l, end);
            end = SMALL_NAME(block_end)(self, l);
        }
        failed |= (VMASK)(end > l);
    }
    return failed;
}

/* Turns a vector so that its largest component is real and positive. */
static void SMALL_NAME(turn)(int n, NUMBER *vector) {
    VREAL largest = {0};
    NUMBER at_largest = SMALL_NAME(one)();
    for (int i = 0; i < n; i++) {
        const VREAL size = N_PARTS == 1 ? SMALL_NAME(size)(vector[i]) : SMALL_NAME(square)(vector[i]);
        const VMASK more = (VMASK)(size > largest);
        largest = LANE_NAME(select)(more, size, largest);
        at_largest = SMALL_NAME(choose)(more, vector[i], at_largest);
    }
#if N_PARTS == 1
    for (int i = 0; i < n; i++)
        vector[i] = LANE_NAME(select)((VMASK)(at_largest < 0), -vector[i], vector[i]);
#else
    const VREAL size = LANE_NAME(root)(SMALL_NAME(square)(at_largest));
    const NUMBER turn = {at_largest.re / size, -at_largest.im / size};
    for (int i = 0; i < n; i++) {
        const VMASK is_it = (VMASK)(vector[i].re == at_largest.re) & (VMASK)(vector[i].im == at_largest.im);
        vector[i] = SMALL_NAME(choose)(is_it, SMALL_NAME(of_real)(size), SMALL_NAME(product)(vector[i], turn));
    }
#endif
}

/* Writes the values of a lane in ascending order, and its vectors as columns. */
static void SMALL_NAME(write_eigen)(const SMALL_NAME(eigen) * self, int lane, VREAL unit, SMALL_REAL *values,
                                    SMALL_REAL *out) {
    const int n = self->n;
    LANE_NAME(sort)(n, lane, self->d, self->order);
    for (int j = 0; j < n; j++)
        values[j] = self->d[self->order[j]][lane] * unit[lane];
    for (int j = 0; j < n && self->has_vectors; j++) {
        const VREAL *vector = (const VREAL *)(self->z + self->order[j] * n);
        for (int i = 0; i < n; i++)
            for (int part = 0; part < N_PARTS; part++)
                out[(i * n + j) * N_PARTS + part] = vector[i * N_PARTS + part][lane];
    }
}

static void SMALL_NAME(eigh)(const dt__small_matrices *self, int64_t first, int n_matrices, void *memory) {
    const int n = self->n;
    const int64_t size = (int64_t)n * n;
    SMALL_NAME(eigen) group = {.n = n, .has_vectors = self->out != NULL, .a = memory};
    group.z = group.a + size;
    group.v = group.z + size;
    group.w = group.v + n;
    group.tau = group.w + n;
    group.d = (VREAL *)(group.tau + n);
    group.e = group.d + n;
    group.order = (int32_t *)(group.e + n);
    VMASK is_finite;
    SMALL_NAME(pack)(size, n_matrices, SMALL_NAME(read_at)(self->a, first * size), group.a);
    if (self->upper)
        SMALL_NAME(adjoin)(n, group.a);
    for (int i = 0; i < n; i++)
        for (int j = i + 1; j < n; j++)
            group.a[i * n + j] = SMALL_NAME(zero)();
    const VREAL unit = SMALL_NAME(scale)(size, group.a, &is_finite);
    SMALL_NAME(make_tridiagonal)(&group);
    const VMASK failed = SMALL_NAME(iterate)(&group);
    for (int j = 0; j < n && group.has_vectors; j++)
        SMALL_NAME(turn)(n, group.z + j * n);
    for (int l = 0; l < n_matrices; l++) {
        SMALL_REAL *values = (SMALL_REAL *)self->values + (first + l) * n;
        SMALL_REAL *out = group.has_vectors ? SMALL_NAME(write_at)(self->out, (first + l) * size) : NULL;
        SMALL_NAME(write_eigen)(&group, l, unit, values, out);
        const bool is_bad = !is_finite[l] || failed[l];
        for (int i = 0; is_bad && i < n; i++)
            values[i] = (SMALL_REAL)NAN;
        for (int64_t i = 0; is_bad && out && i < size * N_PARTS; i++)
            out[i] = (SMALL_REAL)NAN;
        self->infos[first + l] = !is_finite[l] ? -1 : failed[l] ? 1 : 0;
    }
}

#endif
