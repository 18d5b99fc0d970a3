/* SPDX-License-Identifier: Apache-2.0
 *
 * The function table of one instruction set. All pointers may be unaligned; all counts may be zero.
 *
 * All tables compute the same bits from the same input (except the payloads of NaNs), and the result of an element
 * does not depend on its position in the buffer.
 *
 * Arithmetic, the same in every table:
 *   - f16 and bf16 are converted to f32, combined in f32 over all sources, and rounded once at the end, ties to even;
 *   - integers wrap; an integer average is the exact sum divided, rounding toward zero;
 *   - bool: sum and max are "or", product and min are "and"; any nonzero byte is true, results are 0 or 1;
 *   - min and max are NaN where any operand is NaN, and order -0 below +0;
 *   - a complex product is (ac - bd) + (ad + bc)i, with each operation rounded separately.
 */
#ifndef DT_KERNELS_KERNEL_TABLE_H
#define DT_KERNELS_KERNEL_TABLE_H

#include "kernels/loops.h"
#include "kernels/random_draw.h"

/* How results are written: through the caches, or past them. Streaming pays off for destinations that are larger than
 * the caches and are not read soon; like ordinary stores, it is visible to other cores when the call returns. */
typedef enum dt__store { DT__CACHED, DT__STREAM } dt__store;
enum { DT__STREAM_BYTES = 16 << 20 }; /* of a copy that streams: half a third cache, or more */

/* A copy between two arrays of the same shape. Strides count elements and may be negative; a stride of src may be 0
 * (broadcast). The elements of dst are distinct and do not overlap those of src. */
typedef struct dt__strided {
    void *dst;
    const void *src;
    size_t element_bytes; /* at least 1 */
    int n_dims;           /* any; 0 is one element */
    const int64_t *sizes, *dst_strides, *src_strides;
} dt__strided;

typedef struct dt__kernels {
    const char *name;

    /* dst and src do not overlap. */
    void (*copy)(void *dst, const void *src, size_t bytes, dt__store store);

    /* Rows of one size, from and to any addresses; a row without a src is set to 0. */
    void (*copy_rows)(int64_t n, void *const *dsts, const void *const *srcs, size_t bytes, dt__store store);

    /* dst[i] = srcs[0][i] op srcs[1][i] op ..., from the left, for n elements. n_srcs is at least 1. dst may be one
     * or several of srcs, exactly; otherwise it does not overlap them. divisor, at least 1, is read for DT_AVG only.
     */
    void (*reduce)(dt_dtype dtype, dt_reduce op, void *dst, const void *const *srcs, int n_srcs, size_t n,
                   int64_t divisor, dt__store store);

    /* dst[i] = dst[i] op src[i]; DT_AVG accumulates as DT_SUM. dst may be src. */
    void (*accumulate)(dt_dtype dtype, dt_reduce op, void *dst, const void *src, size_t n);

    /* Writes n copies of the value. The value does not overlap dst. */
    void (*fill)(void *dst, const void *value, size_t value_bytes, size_t n, dt__store store);

    void (*copy_strided)(const dt__strided *copy, dt__store store);

    /* The n groups from `group` on of a draw of random numbers (random_draw.h). */
    void (*random_groups)(const dt__draw *draw, uint64_t group, int64_t n, void *dst);
    /* The 32 words of a group of a 64-bit draw. */
    void (*random_words)(dt__philox_key key, uint64_t group, uint64_t *dst);

    /* The innermost loops of the kernels on arrays (array.h). The plain table has those of the baseline: these loops
     * are tested against scalar arithmetic instead. */
    const dt__loops *loops;

    /* Memory without data, in an estimate (comm/estimate.h): kernels neither read nor write it. The built-in tables
     * have none; an estimate uses a copy of a table that has. */
    const char *idle_at;
    size_t idle_bytes;
} dt__kernels;

/* Whether memory has no data. */
static inline bool dt__is_idle_memory(const dt__kernels *kernels, const void *memory) {
    return (size_t)((const char *)memory - kernels->idle_at) < kernels->idle_bytes;
}

extern const dt__kernels dt__kernels_plain;    /* the reference: one element at a time */
extern const dt__kernels dt__kernels_baseline; /* the tuned table that every CPU supports */
#ifdef __x86_64__
extern const dt__kernels dt__kernels_avx2;
extern const dt__kernels dt__kernels_avx512;
#endif

/* The fastest table that this CPU supports, or the one that DTENSOR_KERNELS names if the CPU supports it. Queries the
 * CPU: call once and keep the result. */
const dt__kernels *dt__kernels_best(void);
/* "plain", "baseline", "avx2" or "avx512"; NULL if this CPU or this build lacks it. */
const dt__kernels *dt__kernels_named(const char *name);

#endif
