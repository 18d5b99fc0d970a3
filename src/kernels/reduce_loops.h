/* SPDX-License-Identifier: Apache-2.0
 *
 * Reductions for the instruction set of the including file: one pass over all sources, a few registers of each at a
 * time, in the order of the sources. A block of all sources is loaded before it is stored, so that dst may be a
 * source. Heads and tails use the same arithmetic on partly filled registers.
 */
#ifndef DT_KERNELS_REDUCE_LOOPS_H
#define DT_KERNELS_REDUCE_LOOPS_H

#include "kernels/average.h"
#include "kernels/kernel_table.h"
#include "kernels/lanes.h"

enum {
    BLOCK_VECS = 4, /* registers of each source that are processed together */
    BLOCK_BYTES = BLOCK_VECS * VEC_BYTES,
    REDUCE_AHEAD_BYTES = 256, /* prefetch distance; farther is slower with many sources */
};

typedef struct reduction {
    char *dst;
    const char *const *srcs;
    int n_srcs;
    size_t begin, end; /* in bytes, of every buffer */
    int64_t divisor;
    bool streams; /* dst + begin is aligned */
} reduction;

/* The operations on elements: functions of lanes.h, which are compile-time constants in each loop. */
typedef struct arithmetic {
    lanes (*unpack)(vec x);
    vec (*combine)(vec x, vec y);
    vec (*finish)(vec x, int64_t divisor);
    vec (*pack)(lanes x);
} arithmetic;

INLINE lanes combine_lanes(arithmetic with, lanes x, lanes y) {
    return (lanes){with.combine(x.a, y.a), with.combine(x.b, y.b)};
}

INLINE vec finish_lanes(arithmetic with, lanes x, int64_t divisor) {
    return with.pack((lanes){with.finish(x.a, divisor), with.finish(x.b, divisor)});
}

INLINE void reduce_vec(arithmetic with, const reduction *r, size_t at) {
    lanes all = with.unpack(vec_load(r->srcs[0] + at));
    for (int k = 1; k < r->n_srcs; k++)
        all = combine_lanes(with, all, with.unpack(vec_load(r->srcs[k] + at)));
    vec_store(r->dst + at, finish_lanes(with, all, r->divisor));
}

/* Fewer bytes than a register holds. */
INLINE void reduce_part(arithmetic with, const reduction *r, size_t at, size_t bytes) {
    lanes all = with.unpack(vec_load_part(r->srcs[0] + at, bytes));
    for (int k = 1; k < r->n_srcs; k++)
        all = combine_lanes(with, all, with.unpack(vec_load_part(r->srcs[k] + at, bytes)));
    vec_store_part(r->dst + at, finish_lanes(with, all, r->divisor), bytes);
}

INLINE void prefetch_block(const char *src) {
    for (int i = 0; i < BLOCK_BYTES; i += LINE_BYTES)
        __builtin_prefetch(src + REDUCE_AHEAD_BYTES + i);
}

INLINE void reduce_block(arithmetic with, const reduction *r, int n_srcs, size_t at) {
    lanes all[BLOCK_VECS];
    prefetch_block(r->srcs[0] + at);
    for (int i = 0; i < BLOCK_VECS; i++)
        all[i] = with.unpack(vec_load(r->srcs[0] + at + i * VEC_BYTES));
    for (int k = 1; k < n_srcs; k++) {
        const char *src = r->srcs[k] + at;
        prefetch_block(src);
        for (int i = 0; i < BLOCK_VECS; i++)
            all[i] = combine_lanes(with, all[i], with.unpack(vec_load(src + i * VEC_BYTES)));
    }
    for (int i = 0; i < BLOCK_VECS; i++) {
        vec x = finish_lanes(with, all[i], r->divisor);
        if (r->streams)
            vec_stream(r->dst + at + i * VEC_BYTES, x);
        else
            vec_store(r->dst + at + i * VEC_BYTES, x);
    }
}

/* Full blocks; returns the offset of their end. n_srcs is r->n_srcs, as a constant where that makes a faster loop. */
INLINE size_t reduce_blocks(arithmetic with, const reduction *r, int n_srcs) {
    const reduction own = *r; /* a local copy, which no store can alias */
    size_t at = own.begin;
    for (; own.end - at >= BLOCK_BYTES; at += BLOCK_BYTES)
        reduce_block(with, &own, n_srcs, at);
    return at;
}

INLINE size_t reduce_blocks_of_any(arithmetic with, const reduction *r) {
    switch (r->n_srcs) {
    case 2:
        return reduce_blocks(with, r, 2);
    case 3:
        return reduce_blocks(with, r, 3);
    case 4:
        return reduce_blocks(with, r, 4);
    default:
        return reduce_blocks(with, r, r->n_srcs);
    }
}

INLINE void reduce_range(arithmetic with, const reduction *r) {
    size_t at = reduce_blocks_of_any(with, r);
    for (; r->end - at >= VEC_BYTES; at += VEC_BYTES)
        reduce_vec(with, r, at);
    if (at < r->end)
        reduce_part(with, r, at, r->end - at);
}

/* One loop per arithmetic: X(loop, packing, combine, finish). Complex numbers are added and divided part by part;
 * wrapping sums and products are the same for signed and unsigned integers. */
#define LOOP_LIST(X)                                                                                                 \
    X(sum_f32, whole, add_f32, keep)                                                                                 \
    X(sum_f64, whole, add_f64, keep)                                                                                 \
    X(sum_f16, f16, add_f32, keep)                                                                                   \
    X(sum_bf16, bf16, add_f32, keep)                                                                                 \
    X(sum_8, whole, add_8, keep)                                                                                     \
    X(sum_16, whole, add_16, keep)                                                                                   \
    X(sum_32, whole, add_32, keep)                                                                                   \
    X(sum_64, whole, add_64, keep)                                                                                   \
    X(avg_f32, whole, add_f32, divide_f32)                                                                           \
    X(avg_f64, whole, add_f64, divide_f64)                                                                           \
    X(avg_f16, f16, add_f32, divide_f32)                                                                             \
    X(avg_bf16, bf16, add_f32, divide_f32)                                                                           \
    X(product_f32, whole, multiply_f32, keep)                                                                        \
    X(product_f64, whole, multiply_f64, keep)                                                                        \
    X(product_f16, f16, multiply_f32, keep)                                                                          \
    X(product_bf16, bf16, multiply_f32, keep)                                                                        \
    X(product_8, whole, multiply_8, keep)                                                                            \
    X(product_16, whole, multiply_16, keep)                                                                          \
    X(product_32, whole, multiply_32, keep)                                                                          \
    X(product_64, whole, multiply_64, keep)                                                                          \
    X(product_c64, whole, multiply_c64, keep)                                                                        \
    X(product_c128, whole, multiply_c128, keep)                                                                      \
    X(min_f32, whole, min_f32, keep)                                                                                 \
    X(min_f64, whole, min_f64, keep)                                                                                 \
    X(min_f16, f16, min_f32, keep)                                                                                   \
    X(min_bf16, bf16, min_f32, keep)                                                                                 \
    X(min_i8, whole, min_i8, keep)                                                                                   \
    X(min_i16, whole, min_i16, keep)                                                                                 \
    X(min_i32, whole, min_i32, keep)                                                                                 \
    X(min_i64, whole, min_i64, keep)                                                                                 \
    X(min_u8, whole, min_u8, keep)                                                                                   \
    X(max_f32, whole, max_f32, keep)                                                                                 \
    X(max_f64, whole, max_f64, keep)                                                                                 \
    X(max_f16, f16, max_f32, keep)                                                                                   \
    X(max_bf16, bf16, max_f32, keep)                                                                                 \
    X(max_i8, whole, max_i8, keep)                                                                                   \
    X(max_i16, whole, max_i16, keep)                                                                                 \
    X(max_i32, whole, max_i32, keep)                                                                                 \
    X(max_i64, whole, max_i64, keep)                                                                                 \
    X(max_u8, whole, max_u8, keep)                                                                                   \
    X(or_bool, bool, or_bits, keep)                                                                                  \
    X(and_bool, bool, and_bits, keep)

#define REDUCE_LOOP(name, form, combine, finish)                                                                     \
    static void reduce_##name(const reduction *r) {                                                                  \
        reduce_range((arithmetic){unpack_##form, combine, finish, pack_##form}, r);                                  \
    }
LOOP_LIST(REDUCE_LOOP)
#undef REDUCE_LOOP

/* NULL where dt_reduce_allowed is false, and for averages of integers, which are in average.h. */
static void (*const reduce_loops[DT_N_DTYPES][DT_N_REDUCES])(const reduction *) = {
    [DT_F32] = {reduce_sum_f32, reduce_avg_f32, reduce_product_f32, reduce_min_f32, reduce_max_f32},
    [DT_F64] = {reduce_sum_f64, reduce_avg_f64, reduce_product_f64, reduce_min_f64, reduce_max_f64},
    [DT_F16] = {reduce_sum_f16, reduce_avg_f16, reduce_product_f16, reduce_min_f16, reduce_max_f16},
    [DT_BF16] = {reduce_sum_bf16, reduce_avg_bf16, reduce_product_bf16, reduce_min_bf16, reduce_max_bf16},
    [DT_I8] = {reduce_sum_8, NULL, reduce_product_8, reduce_min_i8, reduce_max_i8},
    [DT_I16] = {reduce_sum_16, NULL, reduce_product_16, reduce_min_i16, reduce_max_i16},
    [DT_I32] = {reduce_sum_32, NULL, reduce_product_32, reduce_min_i32, reduce_max_i32},
    [DT_I64] = {reduce_sum_64, NULL, reduce_product_64, reduce_min_i64, reduce_max_i64},
    [DT_U8] = {reduce_sum_8, NULL, reduce_product_8, reduce_min_u8, reduce_max_u8},
    [DT_BOOL] = {reduce_or_bool, NULL, reduce_and_bool, reduce_and_bool, reduce_or_bool},
    [DT_C64] = {reduce_sum_f32, reduce_avg_f32, reduce_product_c64, NULL, NULL},
    [DT_C128] = {reduce_sum_f64, reduce_avg_f64, reduce_product_c128, NULL, NULL},
};
_Static_assert(DT_SUM == 0 && DT_AVG == 1 && DT_PRODUCT == 2 && DT_MIN == 3 && DT_MAX == 4, "columns of the table");

/* Through the caches up to the alignment of dst, then past them. */
static void reduce_past_caches(dt_dtype dtype, dt_reduce op, const reduction *r, size_t head_bytes) {
    reduction head = *r, body = *r;
    head.end = body.begin = head_bytes;
    body.streams = true;
    reduce_loops[dtype][op](&head);
    reduce_loops[dtype][op](&body);
    vec_fence();
}

static void reduce(dt_dtype dtype, dt_reduce op, void *dst, const void *const *srcs, int n_srcs, size_t n,
                   int64_t divisor, dt__store store) {
    const size_t size = dt_dtype_size(dtype), head_bytes = bytes_to_alignment(dst);
    const reduction r = {
        .dst = dst, .srcs = (const char *const *)srcs, .n_srcs = n_srcs, .end = n * size, .divisor = divisor};
    if (op == DT_AVG && average_loops[dtype])
        average_loops[dtype](dst, srcs, n_srcs, n, divisor);
    else if (store == DT__STREAM && head_bytes % size == 0 && r.end >= head_bytes + BLOCK_BYTES)
        reduce_past_caches(dtype, op, &r, head_bytes);
    else
        reduce_loops[dtype][op](&r);
}

static void accumulate(dt_dtype dtype, dt_reduce op, void *dst, const void *src, size_t n) {
    reduce(dtype, op == DT_AVG ? DT_SUM : op, dst, (const void *[]){dst, src}, 2, n, 1, DT__CACHED);
}

#endif
