/* SPDX-License-Identifier: Apache-2.0
 *
 * Strided copies for the instruction set of the including file. The two innermost dims of a plan are copied by one of
 * three loops: rows (runs longer than 16 bytes), elements (short runs), or tiles (short runs whose fastest dim differs
 * between src and dst, as in a transposition); the outer dims are iterated over.
 */
#ifndef DT_KERNELS_STRIDED_H
#define DT_KERNELS_STRIDED_H

#include "kernels/copy.h"
#include "kernels/strided_plan.h"

enum {
    SQUARE_BYTES = 16,    /* side of a square that is transposed in registers */
    TILE_BYTES = 64,      /* side of a tile, so that cache lines are used completely while they are cached */
    FIELD_BYTES = 512,    /* side of a field of tiles, whose rows are in few enough pages for the TLB */
    SHORT_ROW_BYTES = 64, /* rows up to this are not worth a call, nor streaming */
};

typedef uint8_t square_row __attribute__((vector_size(SQUARE_BYTES)));
typedef uint8_t square_row_in_memory __attribute__((vector_size(SQUARE_BYTES), aligned(1), may_alias));

/* Two dims of a copy: x, which has the smallest stride of dst, and y. */
typedef struct plane {
    char *dst;
    const char *src;
    size_t run_bytes;
    dt__strided_dim x, y;
    bool streams;
} plane;

typedef void plane_loop(const plane *p);

INLINE char *plane_dst(const plane *p, int64_t x, int64_t y) { return p->dst + x * p->x.dst + y * p->y.dst; }
INLINE const char *plane_src(const plane *p, int64_t x, int64_t y) { return p->src + x * p->x.src + y * p->y.src; }

/* Pieces of 16 bytes; the last overlaps the one before; less than one piece as two words. */
INLINE void copy_short_row(char *dst, const char *src, size_t bytes) {
    if (bytes < SQUARE_BYTES) {
        uint64_t low = load_word(src, bytes, 0), high = load_word(src, bytes, 1);
        store_first(dst, low, part_of_word(bytes, 0));
        store_first(dst + 8, high, part_of_word(bytes, 1));
        return;
    }
    const size_t last_at = bytes - SQUARE_BYTES;
    const square_row last = *(const square_row_in_memory *)(src + last_at);
    for (size_t at = 0; at < last_at; at += SQUARE_BYTES)
        *(square_row_in_memory *)(dst + at) = *(const square_row_in_memory *)(src + at);
    *(square_row_in_memory *)(dst + last_at) = last;
}

static void copy_runs(const plane *p) {
    const size_t bytes = p->run_bytes;
    for (int64_t y = 0; y < p->y.size; y++)
        for (int64_t x = 0; x < p->x.size; x++) {
            char *dst = plane_dst(p, x, y);
            const char *src = plane_src(p, x, y);
            if (bytes <= SHORT_ROW_BYTES)
                copy_short_row(dst, src, bytes);
            else if (p->streams)
                copy_past_caches(dst, src, bytes);
            else
                memcpy(dst, src, bytes);
        }
}

/* bytes is a constant in each use. */
INLINE void copy_elements(const plane *p, size_t bytes) {
    for (int64_t y = 0; y < p->y.size; y++) {
        char *dst = plane_dst(p, 0, y);
        const char *src = plane_src(p, 0, y);
        for (int64_t x = 0; x < p->x.size; x++, dst += p->x.dst, src += p->x.src)
            memcpy(dst, src, bytes);
    }
}

static void copy_elements_1(const plane *p) { copy_elements(p, 1); }
static void copy_elements_2(const plane *p) { copy_elements(p, 2); }
static void copy_elements_4(const plane *p) { copy_elements(p, 4); }
static void copy_elements_8(const plane *p) { copy_elements(p, 8); }
static void copy_elements_16(const plane *p) { copy_elements(p, 16); }

/* Indexed by log2 of the run. */
static plane_loop *const element_loops[] = {copy_elements_1, copy_elements_2, copy_elements_4, copy_elements_8,
                                            copy_elements_16};

/* The elements of a and b alternating: of their lower halves, and of their upper halves. */
INLINE square_row interleave_low(square_row a, square_row b, size_t bytes) {
    switch (bytes) {
    case 1:
        return __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    case 2:
        return __builtin_shufflevector(a, b, 0, 1, 16, 17, 2, 3, 18, 19, 4, 5, 20, 21, 6, 7, 22, 23);
    case 4:
        return __builtin_shufflevector(a, b, 0, 1, 2, 3, 16, 17, 18, 19, 4, 5, 6, 7, 20, 21, 22, 23);
    default:
        return __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
    }
}

INLINE square_row interleave_high(square_row a, square_row b, size_t bytes) {
    switch (bytes) {
    case 1:
        return __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
    case 2:
        return __builtin_shufflevector(a, b, 8, 9, 24, 25, 10, 11, 26, 27, 12, 13, 28, 29, 14, 15, 30, 31);
    case 4:
        return __builtin_shufflevector(a, b, 8, 9, 10, 11, 24, 25, 26, 27, 12, 13, 14, 15, 28, 29, 30, 31);
    default:
        return __builtin_shufflevector(a, b, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31);
    }
}

/* One square of n by n elements, n = 16 / bytes. Interleaving row i with row i + n/2, for all i, moves one bit of an
 * element's row number into its column number and vice versa; log2(n) rounds swap all bits. */
INLINE void transpose_square(const char *src, int64_t src_stride, char *dst, int64_t dst_stride, size_t bytes) {
    const int64_t n = (int64_t)(SQUARE_BYTES / bytes);
    square_row rows[SQUARE_BYTES], next[SQUARE_BYTES];
    for (int64_t i = 0; i < n; i++)
        rows[i] = *(const square_row_in_memory *)(src + i * src_stride);
    for (int64_t round = 1; round < n; round *= 2) {
        for (int64_t i = 0; i < n / 2; i++) {
            next[2 * i] = interleave_low(rows[i], rows[i + n / 2], bytes);
            next[2 * i + 1] = interleave_high(rows[i], rows[i + n / 2], bytes);
        }
        for (int64_t i = 0; i < n; i++)
            rows[i] = next[i];
    }
    for (int64_t i = 0; i < n; i++)
        *(square_row_in_memory *)(dst + i * dst_stride) = rows[i];
}

#if VEC_BYTES > 16
/* For full registers of 4- and 8-byte elements: reads and writes are then full or half cache lines, each
 * touched once, so that conflicts in a cache set do not matter. */
#define INDEXES_LOW_4   0, 4, 1, 5
#define INDEXES_HIGH_4  2, 6, 3, 7
#define INDEXES_LOW_8   0, 8, 1, 9, 2, 10, 3, 11
#define INDEXES_HIGH_8  4, 12, 5, 13, 6, 14, 7, 15
#define INDEXES_LOW_16  0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23
#define INDEXES_HIGH_16 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31
#if VEC_BYTES == 64
#define INTERLEAVE(half, a, b)                                                                                       \
    (bytes == 4 ? (vec)__builtin_shufflevector((vu32)(a), (vu32)(b), INDEXES_##half##_16)                            \
                : (vec)__builtin_shufflevector((vu64)(a), (vu64)(b), INDEXES_##half##_8))
#else
#define INTERLEAVE(half, a, b)                                                                                       \
    (bytes == 4 ? (vec)__builtin_shufflevector((vu32)(a), (vu32)(b), INDEXES_##half##_8)                             \
                : (vec)__builtin_shufflevector((vu64)(a), (vu64)(b), INDEXES_##half##_4))
#endif

INLINE void transpose_registers(const char *src, int64_t src_stride, char *dst, int64_t dst_stride, size_t bytes) {
    const int64_t n = (int64_t)(VEC_BYTES / bytes);
    vec rows[VEC_BYTES / 4], next[VEC_BYTES / 4];
    for (int64_t i = 0; i < n; i++)
        rows[i] = vec_load(src + i * src_stride);
    for (int64_t round = 1; round < n; round *= 2) {
        for (int64_t i = 0; i < n / 2; i++) {
            next[2 * i] = INTERLEAVE(LOW, rows[i], rows[i + n / 2]);
            next[2 * i + 1] = INTERLEAVE(HIGH, rows[i], rows[i + n / 2]);
        }
        for (int64_t i = 0; i < n; i++)
            rows[i] = next[i];
    }
    for (int64_t i = 0; i < n; i++)
        vec_store(dst + i * dst_stride, rows[i]);
}
#endif

/* The block of a plane from x0, y0 on. */
INLINE plane plane_block(const plane *p, int64_t x0, int64_t y0, int64_t x_size, int64_t y_size) {
    plane part = *p;
    part.dst = plane_dst(p, x0, y0);
    part.src = plane_src(p, x0, y0);
    part.x.size = x_size;
    part.y.size = y_size;
    return part;
}

/* x is contiguous in dst, y in src. */
INLINE void transpose_squares(const plane *p, int64_t whole_x, int64_t whole_y, size_t bytes) {
    const int64_t n = (int64_t)(SQUARE_BYTES / bytes), step = (int64_t)bytes;
    const int64_t src_stride = p->x.src, dst_stride = p->y.dst;
    for (int64_t y = 0; y < whole_y; y += n)
        for (int64_t x = 0; x < whole_x; x += n)
            transpose_square(p->src + x * src_stride + y * step, src_stride, p->dst + x * step + y * dst_stride,
                             dst_stride, bytes);
}

INLINE bool is_transposition(const plane *p, size_t bytes) {
    return p->x.dst == (int64_t)bytes && p->y.src == (int64_t)bytes;
}

INLINE void copy_tile_in_squares(const plane *p, size_t bytes) {
    const int64_t n = (int64_t)(SQUARE_BYTES / bytes);
    const int64_t whole_x = is_transposition(p, bytes) ? p->x.size / n * n : 0, whole_y = p->y.size / n * n;
    transpose_squares(p, whole_x, whole_y, bytes);
    plane right = plane_block(p, whole_x, 0, p->x.size - whole_x, whole_y);
    plane below = plane_block(p, 0, whole_y, p->x.size, p->y.size - whole_y);
    copy_elements(&right, bytes);
    copy_elements(&below, bytes);
}

INLINE void copy_tile(const plane *p, size_t bytes) {
#if VEC_BYTES > 16
    const int64_t n = (int64_t)(VEC_BYTES / bytes), step = (int64_t)bytes;
    if ((bytes == 4 || bytes == 8) && is_transposition(p, bytes)) {
        const int64_t whole_x = p->x.size / n * n, whole_y = p->y.size / n * n;
        for (int64_t y = 0; y < whole_y; y += n)
            for (int64_t x = 0; x < whole_x; x += n)
                transpose_registers(p->src + x * p->x.src + y * step, p->x.src, p->dst + x * step + y * p->y.dst,
                                    p->y.dst, bytes);
        const plane right = plane_block(p, whole_x, 0, p->x.size - whole_x, whole_y);
        const plane below = plane_block(p, 0, whole_y, p->x.size, p->y.size - whole_y);
        if (right.x.size)
            copy_tile_in_squares(&right, bytes);
        if (below.y.size)
            copy_tile_in_squares(&below, bytes);
        return;
    }
#endif
    copy_tile_in_squares(p, bytes);
}

/* Calls loop for each piece of at most side by side elements. */
INLINE void for_pieces(const plane *p, int64_t side, size_t bytes, void (*loop)(const plane *piece, size_t bytes)) {
    for (int64_t y = 0; y < p->y.size; y += side)
        for (int64_t x = 0; x < p->x.size; x += side) {
            plane piece = plane_block(p, x, y, p->x.size - x < side ? p->x.size - x : side,
                                      p->y.size - y < side ? p->y.size - y : side);
            loop(&piece, bytes);
        }
}

INLINE void copy_tiles_of_field(const plane *p, size_t bytes) {
    for_pieces(p, (int64_t)(TILE_BYTES / bytes), bytes, copy_tile);
}

INLINE void copy_fields(const plane *p, size_t bytes) {
    for_pieces(p, (int64_t)(FIELD_BYTES / bytes), bytes, copy_tiles_of_field);
}

static void copy_tiles_1(const plane *p) { copy_fields(p, 1); }
static void copy_tiles_2(const plane *p) { copy_fields(p, 2); }
static void copy_tiles_4(const plane *p) { copy_fields(p, 4); }
static void copy_tiles_8(const plane *p) { copy_fields(p, 8); }
static void copy_tiles_16(const plane *p) { copy_fields(p, 16); }

/* Indexed by log2 of the run. */
static plane_loop *const tile_loops[] = {copy_tiles_1, copy_tiles_2, copy_tiles_4, copy_tiles_8, copy_tiles_16};

/* Each element of src repeated along x, without gaps. */
static void copy_repeated(const plane *p) {
    for (int64_t y = 0; y < p->y.size; y++)
        fill(plane_dst(p, 0, y), plane_src(p, 0, y), p->run_bytes, (size_t)p->x.size, DT__CACHED);
}

static int64_t distance(int64_t stride) { return stride < 0 ? -stride : stride; }

/* The dim with the smallest stride of src; dims[0] if there are several. Dims with stride 0 of src do not count, except
 * dims[0]. */
static int fastest_of_src(const dt__strided_plan *plan) {
    int fastest = 0;
    for (int d = 1; d < plan->n_dims; d++)
        if (plan->dims[d].src != 0 && distance(plan->dims[d].src) < distance(plan->dims[fastest].src))
            fastest = d;
    return fastest;
}

static plane_loop *choose_loop(const dt__strided_plan *plan, bool transposes) {
    const size_t run = plan->run_bytes;
    const dt__strided_dim *x = &plan->dims[0];
    if (x->src == 0 && x->dst == (int64_t)run && x->size * (int64_t)run >= VEC_BYTES)
        return copy_repeated;
    if (run > 16 || (run & (run - 1)) != 0)
        return copy_runs;
    return (transposes ? tile_loops : element_loops)[__builtin_ctzll(run)];
}

static void remove_dim(dt__strided_plan *plan, int dim) {
    plan->n_dims--;
    for (int d = dim; d < plan->n_dims; d++)
        plan->dims[d] = plan->dims[d + 1];
}

/* Moves the plane to the next position of the dims of the plan; false at the end. */
static bool next_plane(const dt__strided_plan *plan, int64_t *position, plane *p) {
    for (int d = 0; d < plan->n_dims; d++) {
        const dt__strided_dim *dim = &plan->dims[d];
        if (++position[d] < dim->size) {
            p->dst += dim->dst;
            p->src += dim->src;
            return true;
        }
        position[d] = 0;
        p->dst -= (dim->size - 1) * dim->dst;
        p->src -= (dim->size - 1) * dim->src;
    }
    return false;
}

static void copy_planes(dt__strided_plan *plan, bool streams) {
    const int fastest = fastest_of_src(plan), y = fastest > 0 ? fastest : 1;
    plane p = {plan->dst, plan->src, plan->run_bytes, plan->dims[0], {1, 0, 0}, streams};
    plane_loop *loop = choose_loop(plan, fastest > 0);
    if (plan->n_dims > 1) {
        p.y = plan->dims[y];
        remove_dim(plan, y);
    }
    remove_dim(plan, 0);
    int64_t position[DT__STRIDED_DIMS] = {0};
    do
        loop(&p);
    while (next_plane(plan, position, &p));
}

static void copy_strided(const dt__strided *args, dt__store store) {
    dt__strided_plan plan;
    if (!dt__strided_plan_make(args, &plan))
        return;
    if (plan.n_dims == 0) {
        copy(plan.dst, plan.src, plan.run_bytes, store);
        return;
    }
    copy_planes(&plan, store == DT__STREAM);
    if (store == DT__STREAM)
        vec_fence();
}

#endif
