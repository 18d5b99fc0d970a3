/* SPDX-License-Identifier: Apache-2.0
 *
 * Arithmetic of a register of numbers, one of each matrix: of real ones a register, of complex ones (N_PARTS is 2) a
 * register of real and one of imaginary parts, as they lie in memory after LANE_NAME(pack_reals).
 */
#ifndef SMALL_REAL
#include "kernels/small_matrix_loops.h"
#else

#if N_PARTS == 1

typedef VREAL SMALL_NAME(number);
#define NUMBER SMALL_NAME(number)

INLINE NUMBER SMALL_NAME(of_real)(VREAL x) { return x; }
INLINE VREAL SMALL_NAME(real_part)(NUMBER x) { return x; }
INLINE NUMBER SMALL_NAME(conj)(NUMBER x) { return x; }
INLINE NUMBER SMALL_NAME(negative)(NUMBER x) { return -x; }
INLINE NUMBER SMALL_NAME(choose)(VMASK mask, NUMBER x, NUMBER y) { return LANE_NAME(select)(mask, x, y); }
INLINE NUMBER SMALL_NAME(sum)(NUMBER x, NUMBER y) { return x + y; }
INLINE NUMBER SMALL_NAME(product)(NUMBER x, NUMBER y) { return x * y; }
INLINE NUMBER SMALL_NAME(scaled)(NUMBER x, VREAL by) { return x * by; }
INLINE NUMBER SMALL_NAME(less_product)(NUMBER x, NUMBER a, NUMBER b) { return x - a * b; }
INLINE NUMBER SMALL_NAME(add_product)(NUMBER x, NUMBER a, NUMBER b) { return x + a * b; }
INLINE VREAL SMALL_NAME(square)(NUMBER x) { return x * x; }
INLINE VREAL SMALL_NAME(imaginary_square)(NUMBER x) { return (void)x, (VREAL){0}; }
INLINE VREAL SMALL_NAME(size)(NUMBER x) { return LANE_NAME(magnitude)(x); }
INLINE VREAL SMALL_NAME(largest_part)(NUMBER x) { return LANE_NAME(magnitude)(x); }
INLINE VMASK SMALL_NAME(is_zero)(NUMBER x) { return (VMASK)(x == 0); }
INLINE VMASK SMALL_NAME(is_finite)(NUMBER x) { return (VMASK)(x - x == 0); }
INLINE NUMBER SMALL_NAME(quotient)(NUMBER x, NUMBER y) { return x / y; }

/* Divides by a number: by its reciprocal, unless that has lost bits. */
typedef struct SMALL_NAME(reciprocal) {
    VREAL divisor, inverse;
    VMASK divides;
    bool any_divides;
} SMALL_NAME(reciprocal);

INLINE SMALL_NAME(reciprocal) SMALL_NAME(reciprocal_of)(NUMBER y) {
    const VREAL inverse = 1 / y, size = LANE_NAME(magnitude)(inverse);
    const VMASK divides = ~((VMASK)(size >= REAL_MIN) & (VMASK)(size <= REAL_MAX));
    return (SMALL_NAME(reciprocal)){y, inverse, divides, LANE_NAME(any)(divides)};
}
INLINE NUMBER SMALL_NAME(times)(NUMBER x, const SMALL_NAME(reciprocal) * of) {
    return of->any_divides ? LANE_NAME(select)(of->divides, x / of->divisor, x * of->inverse) : x * of->inverse;
}

#else

typedef struct SMALL_NAME(number) {
    VREAL re, im;
} SMALL_NAME(number);
#define NUMBER SMALL_NAME(number)

INLINE NUMBER SMALL_NAME(of_real)(VREAL x) { return (NUMBER){x, {0}}; }
INLINE VREAL SMALL_NAME(real_part)(NUMBER x) { return x.re; }
INLINE NUMBER SMALL_NAME(conj)(NUMBER x) { return (NUMBER){x.re, -x.im}; }
INLINE NUMBER SMALL_NAME(negative)(NUMBER x) { return (NUMBER){-x.re, -x.im}; }
INLINE NUMBER SMALL_NAME(choose)(VMASK mask, NUMBER x, NUMBER y) {
    return (NUMBER){LANE_NAME(select)(mask, x.re, y.re), LANE_NAME(select)(mask, x.im, y.im)};
}
INLINE NUMBER SMALL_NAME(sum)(NUMBER x, NUMBER y) { return (NUMBER){x.re + y.re, x.im + y.im}; }
INLINE NUMBER SMALL_NAME(product)(NUMBER x, NUMBER y) {
    return (NUMBER){x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re};
}
INLINE NUMBER SMALL_NAME(scaled)(NUMBER x, VREAL by) { return (NUMBER){x.re * by, x.im * by}; }
INLINE NUMBER SMALL_NAME(less_product)(NUMBER x, NUMBER a, NUMBER b) {
    return (NUMBER){x.re - a.re * b.re + a.im * b.im, x.im - a.re * b.im - a.im * b.re};
}
INLINE NUMBER SMALL_NAME(add_product)(NUMBER x, NUMBER a, NUMBER b) {
    return (NUMBER){x.re + a.re * b.re - a.im * b.im, x.im + a.re * b.im + a.im * b.re};
}
INLINE VREAL SMALL_NAME(square)(NUMBER x) { return x.re * x.re + x.im * x.im; }
INLINE VREAL SMALL_NAME(imaginary_square)(NUMBER x) { return x.im * x.im; }
/* As LAPACK compares pivots. */
INLINE VREAL SMALL_NAME(size)(NUMBER x) { return LANE_NAME(magnitude)(x.re) + LANE_NAME(magnitude)(x.im); }
INLINE VREAL SMALL_NAME(largest_part)(NUMBER x) {
    return LANE_NAME(larger)(LANE_NAME(magnitude)(x.re), LANE_NAME(magnitude)(x.im));
}
INLINE VMASK SMALL_NAME(is_zero)(NUMBER x) { return (VMASK)(x.re == 0) & (VMASK)(x.im == 0); }
INLINE VMASK SMALL_NAME(is_finite)(NUMBER x) { return (VMASK)(x.re - x.re == 0) & (VMASK)(x.im - x.im == 0); }

/* The reciprocal of y is `inverse` times a power of 2: no square overflows. */
typedef struct SMALL_NAME(reciprocal) {
    NUMBER inverse;
    VREAL down;
} SMALL_NAME(reciprocal);

INLINE SMALL_NAME(reciprocal) SMALL_NAME(reciprocal_of)(NUMBER y) {
    const LANE_NAME(powers) powers = LANE_NAME(powers_of)(SMALL_NAME(largest_part)(y));
    const NUMBER near_one = SMALL_NAME(scaled)(y, powers.down);
    const VREAL square = SMALL_NAME(square)(near_one);
    return (SMALL_NAME(reciprocal)){{near_one.re / square, -near_one.im / square}, powers.down};
}
INLINE NUMBER SMALL_NAME(times)(NUMBER x, const SMALL_NAME(reciprocal) * of) {
    return SMALL_NAME(scaled)(SMALL_NAME(product)(x, of->inverse), of->down);
}
INLINE NUMBER SMALL_NAME(quotient)(NUMBER x, NUMBER y) {
    const SMALL_NAME(reciprocal) of = SMALL_NAME(reciprocal_of)(y);
    return SMALL_NAME(times)(x, &of);
}

#endif

INLINE NUMBER SMALL_NAME(zero)(void) { return SMALL_NAME(of_real)((VREAL){0}); }
INLINE NUMBER SMALL_NAME(one)(void) { return SMALL_NAME(of_real)(LANE_NAME(all)(1)); }

/* Matrices of `size` numbers in memory, and in registers. */
INLINE const SMALL_REAL *SMALL_NAME(read_at)(const void *first, int64_t i) {
    return (const SMALL_REAL *)first + i * N_PARTS;
}
INLINE SMALL_REAL *SMALL_NAME(write_at)(void *first, int64_t i) { return (SMALL_REAL *)first + i * N_PARTS; }
INLINE void SMALL_NAME(pack)(int64_t size, int n_matrices, const SMALL_REAL *from, NUMBER *to) {
    LANE_NAME(pack_reals)(size * N_PARTS, n_matrices, from, (VREAL *)to);
}
INLINE void SMALL_NAME(unpack)(int64_t size, int n_matrices, const NUMBER *from, SMALL_REAL *to) {
    LANE_NAME(unpack_reals)(size * N_PARTS, n_matrices, (const VREAL *)from, to);
}

/* Divides numbers by a power of 2 so that the largest part is near 1, and returns it; of matrices that are not finite
 * they become zeros, and *is_finite has no bits. */
static VREAL SMALL_NAME(scale)(int64_t n, NUMBER *x, VMASK *is_finite) {
    VREAL largest = {0};
    VMASK finite = (VMASK){0} == 0;
    for (int64_t i = 0; i < n; i++) {
        finite &= SMALL_NAME(is_finite)(x[i]);
        largest = LANE_NAME(larger)(SMALL_NAME(largest_part)(x[i]), largest);
    }
    const LANE_NAME(powers) powers = LANE_NAME(powers_of)(largest);
    for (int64_t i = 0; i < n; i++)
        x[i] = SMALL_NAME(choose)(finite, SMALL_NAME(scaled)(x[i], powers.down), SMALL_NAME(zero)());
    *is_finite = finite;
    return powers.up;
}

/* A := Aᴴ. */
static void SMALL_NAME(adjoin)(int n, NUMBER *a) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            const NUMBER x = SMALL_NAME(conj)(a[i * n + j]);
            a[i * n + j] = SMALL_NAME(conj)(a[j * n + i]);
            a[j * n + i] = x;
        }
}

#endif
