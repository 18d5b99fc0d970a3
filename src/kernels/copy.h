/* SPDX-License-Identifier: Apache-2.0
 *
 * Contiguous copy and fill for the instruction set of the including file.
 */
#ifndef DT_KERNELS_COPY_H
#define DT_KERNELS_COPY_H

#include "kernels/kernel_table.h"
#include "kernels/simd.h"

enum {
    COPY_VECS = 4,
    COPY_BYTES = COPY_VECS * VEC_BYTES,
    COPY_AHEAD_BYTES = 512, /* prefetch distance */
    COPY_LONG_BYTES = 8 << 20,
    FILL_PERIOD_BYTES = 1024, /* for values whose size does not divide that of a register */
};

/* A streaming copy without the fence at its end. What is at `ahead` is read next, as many bytes. */
INLINE void copy_and_prefetch(char *dst, const char *src, size_t bytes, const char *ahead) {
    size_t at = bytes_to_alignment(dst);
    if (bytes < at + COPY_BYTES) {
        memcpy(dst, src, bytes);
        return;
    }
    memcpy(dst, src, at);
    for (; bytes - at >= COPY_BYTES; at += COPY_BYTES) {
        vec x[COPY_VECS];
        for (int i = 0; i < COPY_BYTES; i += LINE_BYTES)
            __builtin_prefetch(ahead + at + i);
        for (int i = 0; i < COPY_VECS; i++)
            x[i] = vec_load(src + at + i * VEC_BYTES);
        for (int i = 0; i < COPY_VECS; i++)
            vec_stream(dst + at + i * VEC_BYTES, x[i]);
    }
    memcpy(dst + at, src + at, bytes - at);
}

static void copy_past_caches(char *dst, const char *src, size_t bytes) {
    copy_and_prefetch(dst, src, bytes, src + COPY_AHEAD_BYTES);
}

/* The hardware prefetches within a row at most: streaming copies prefetch the next one. */
static void copy_rows(int64_t n, void *const *dsts, const void *const *srcs, size_t bytes, dt__store store) {
    for (int64_t i = 0; i < n; i++)
        if (!srcs[i])
            memset(dsts[i], 0, bytes);
        else if (store == DT__CACHED)
            memcpy(dsts[i], srcs[i], bytes);
        else
            copy_and_prefetch(dsts[i], srcs[i], bytes, i + 1 < n && srcs[i + 1] ? srcs[i + 1] : srcs[i]);
    if (store == DT__STREAM)
        vec_fence();
}

/* memcpy is as fast as any loop until the buffers exceed the caches; beyond that the string instruction, which does
 * not read the lines that it overwrites, copies 16 GB/s, memcpy and vector loops 11 GB/s (64 MB on a Zen 4). */
static void copy_through_caches(char *dst, const char *src, size_t bytes) {
#ifdef HW_COPY_BYTES
    if (bytes >= COPY_LONG_BYTES) {
        HW_COPY_BYTES(dst, src, bytes);
        return;
    }
#endif
    memcpy(dst, src, bytes);
}

static void copy(void *dst, const void *src, size_t bytes, dt__store store) {
    if (bytes == 0)
        return;
    if (store == DT__CACHED) {
        copy_through_caches(dst, src, bytes);
        return;
    }
    copy_past_caches(dst, src, bytes);
    vec_fence();
}

/* Repeats the bytes at the start of dst, up to n bytes in all, by doubling. */
static void repeat_start(char *dst, size_t start_bytes, size_t n) {
    for (size_t done = start_bytes; done < n;) {
        size_t more = done < n - done ? done : n - done;
        memcpy(dst + done, dst, more);
        done += more;
    }
}

/* For a value whose size divides that of a register: stores one register, rotated so that it starts at the alignment
 * of dst. */
static void fill_with_register(char *dst, const void *value, size_t value_bytes, size_t bytes, bool streams) {
    char pattern[2 * VEC_BYTES];
    memcpy(pattern, value, value_bytes);
    repeat_start(pattern, value_bytes, sizeof pattern);
    size_t at = bytes_to_alignment(dst);
    if (bytes <= at + VEC_BYTES)
        at = 0;
    memcpy(dst, pattern, at);
    const vec x = vec_load(pattern + at % value_bytes);
    for (; bytes - at >= VEC_BYTES; at += VEC_BYTES)
        if (streams)
            vec_stream(dst + at, x);
        else
            vec_store(dst + at, x);
    vec_store_part(dst + at, x, bytes - at);
}

/* For any other value: fills the start of dst, which stays in the L1 cache, and copies that repeatedly. */
static void fill_with_period(char *dst, const void *value, size_t value_bytes, size_t bytes) {
    size_t period = value_bytes;
    while (period < FILL_PERIOD_BYTES)
        period *= 2;
    memcpy(dst, value, value_bytes);
    if (period > bytes)
        period = bytes;
    repeat_start(dst, value_bytes, period);
    for (size_t at = period; at < bytes; at += period)
        memcpy(dst + at, dst, period < bytes - at ? period : bytes - at);
}

static void fill(void *dst, const void *value, size_t value_bytes, size_t n, dt__store store) {
    if (n == 0 || value_bytes == 0)
        return;
    const bool streams = store == DT__STREAM && n * value_bytes > 2 * VEC_BYTES;
    if (VEC_BYTES % value_bytes == 0)
        fill_with_register(dst, value, value_bytes, n * value_bytes, streams);
    else
        fill_with_period(dst, value, value_bytes, n * value_bytes);
    if (streams)
        vec_fence();
}

#endif
