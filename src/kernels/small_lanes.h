/* SPDX-License-Identifier: Apache-2.0
 *
 * Registers of one real type, in which a lane is a matrix: selections by masks, and the transposition between matrices
 * in memory and registers. small_matrix_template.h includes this file for each real type.
 */
#ifndef SMALL_REAL
#include "kernels/small_matrix_loops.h"
#else

enum { LANES_OF(REAL_NAME) = VEC_BYTES / sizeof(SMALL_REAL) };
#define N_LANES LANES_OF(REAL_NAME)

INLINE VREAL LANE_NAME(select)(VMASK mask, VREAL x, VREAL y) {
    return (VREAL)(((VMASK)x & mask) | ((VMASK)y & ~mask));
}
INLINE VMASK LANE_NAME(select_mask)(VMASK mask, VMASK x, VMASK y) { return (x & mask) | (y & ~mask); }
INLINE VREAL LANE_NAME(all)(SMALL_REAL x) { return (VREAL){0} + x; }
INLINE VREAL LANE_NAME(magnitude)(VREAL x) { return (VREAL)((VMASK)x & MAGNITUDE_BITS); }
INLINE VREAL LANE_NAME(larger)(VREAL x, VREAL y) { return LANE_NAME(select)((VMASK)(x > y), x, y); }
INLINE VREAL LANE_NAME(root)(VREAL x) {
    VREAL y = x; /* all lanes are replaced */
    for (int l = 0; l < N_LANES; l++)
        y[l] = REAL_ROOT(x[l]);
    return y;
}
INLINE bool LANE_NAME(any)(VMASK mask) {
    const vu64 words = (vu64)mask; /* fewer than lanes of f32 */
    uint64_t any = 0;
    for (size_t i = 0; i < VEC_BYTES / sizeof any; i++)
        any |= words[i];
    return any != 0;
}

/* A power of 2 and its inverse, so that `down` times the magnitude is near 1. */
typedef struct LANE_NAME(powers) {
    VREAL down, up;
} LANE_NAME(powers);

INLINE LANE_NAME(powers) LANE_NAME(powers_of)(VREAL magnitude) {
    const VMASK most = (VMASK){0} + (MAX_EXPONENT - 1);
    VMASK exponent = (VMASK)magnitude >> FRACTION_BITS;
    exponent = LANE_NAME(select_mask)((VMASK)(exponent < 1), (VMASK){0} + 1, exponent);
    exponent = LANE_NAME(select_mask)((VMASK)(exponent > most), most, exponent);
    return (LANE_NAME(powers)){(VREAL)((MAX_EXPONENT - exponent) << FRACTION_BITS),
                               (VREAL)(exponent << FRACTION_BITS)};
}

/* Rows become columns of a square of registers. */
INLINE void LANE_NAME(transpose)(VREAL *x) {
    VREAL y[N_LANES];
    for (int stage = 1; stage < N_LANES; stage *= 2) {
        for (int i = 0; i < N_LANES / 2; i++) {
            y[2 * i] = INTERLEAVE_LOW(x[i], x[i + N_LANES / 2]);
            y[2 * i + 1] = INTERLEAVE_HIGH(x[i], x[i + N_LANES / 2]);
        }
        memcpy(x, y, sizeof y);
    }
}

/* Matrices of `size` reals that follow one another, from the first of a group on; in a group that is not full, the last
 * one fills the remaining lanes. */
static void LANE_NAME(pack_reals)(int64_t size, int n_matrices, const SMALL_REAL *from, VREAL *to) {
    int64_t e = 0;
    for (; e + N_LANES <= size; e += N_LANES) {
        VREAL x[N_LANES];
        for (int l = 0; l < N_LANES; l++)
            x[l] = (VREAL)vec_load(from + (l < n_matrices ? l : n_matrices - 1) * size + e);
        LANE_NAME(transpose)(x);
        memcpy(to + e, x, sizeof x);
    }
    for (; e < size; e++)
        for (int l = 0; l < N_LANES; l++)
            to[e][l] = from[(l < n_matrices ? l : n_matrices - 1) * size + e];
}

static void LANE_NAME(unpack_reals)(int64_t size, int n_matrices, const VREAL *from, SMALL_REAL *to) {
    int64_t e = 0;
    for (; e + N_LANES <= size; e += N_LANES) {
        VREAL x[N_LANES];
        memcpy(x, from + e, sizeof x);
        LANE_NAME(transpose)(x);
        for (int l = 0; l < n_matrices; l++)
            vec_store(to + l * size + e, (vec)x[l]);
    }
    for (; e < size; e++)
        for (int l = 0; l < n_matrices; l++)
            to[l * size + e] = from[e][l];
}

/* Indexes of n keys of a lane, in ascending order; equal ones keep theirs. */
static void LANE_NAME(sort)(int n, int lane, const VREAL *keys, int32_t *order) {
    for (int i = 0; i < n; i++) {
        int at = i;
        for (; at > 0 && keys[order[at - 1]][lane] > keys[i][lane]; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
}

#endif
