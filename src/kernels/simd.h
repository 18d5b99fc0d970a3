/* SPDX-License-Identifier: Apache-2.0
 *
 * Vector registers of the instruction set that the including file is compiled for: the compiler's generic vectors, and
 * a generic version of each HW_ macro that the instruction set's own header (included before) does not define.
 */
#ifndef DT_KERNELS_SIMD_H
#define DT_KERNELS_SIMD_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifndef VEC_BYTES
#define ISA_NAME  "baseline"
#define ISA_TABLE dt__kernels_baseline
#define ISA_LOOPS dt__loops_baseline
#define VEC_BYTES 16
#endif

#define INLINE static inline __attribute__((always_inline))

#define VECTOR __attribute__((vector_size(VEC_BYTES)))
typedef float vf32 VECTOR;
typedef double vf64 VECTOR;
typedef int8_t vi8 VECTOR;
typedef uint8_t vu8 VECTOR;
typedef int16_t vi16 VECTOR;
typedef uint16_t vu16 VECTOR;
typedef int32_t vi32 VECTOR;
typedef uint32_t vu32 VECTOR;
typedef int64_t vi64 VECTOR;
typedef uint64_t vu64 VECTOR;
typedef vu8 vec; /* a register with elements of any type */
typedef uint8_t vec_in_memory __attribute__((vector_size(VEC_BYTES), aligned(1), may_alias));

/* Bytes of x where the mask is set, of y elsewhere. */
#define VEC_SELECT(mask, x, y) (((vec)(mask) & (vec)(x)) | (~(vec)(mask) & (vec)(y)))

/* Before gcc 12 there is only a builtin of its own, which takes the indexes as a vector of integers as wide as the
 * elements; such integers are the result of a comparison. */
#if !defined(__clang__) && __GNUC__ < 12
#define SHUFFLE_INDEXES(a)                 __typeof__(((a) == (a))[0]) __attribute__((vector_size(sizeof(a))))
#define __builtin_shufflevector(a, b, ...) __builtin_shuffle(a, b, (SHUFFLE_INDEXES(a)){__VA_ARGS__})
#endif

enum { LINE_BYTES = 64 }; /* of the caches */

/* Bytes up to the next address at which vec_stream may write. */
INLINE size_t bytes_to_alignment(const void *at) { return -(uintptr_t)at % VEC_BYTES; }

INLINE vec vec_load(const void *from) { return *(const vec_in_memory *)from; }
INLINE void vec_store(void *to, vec x) { *(vec_in_memory *)to = x; }

/* The first n bytes of a word, for n up to 8, without touching others and without a buffer: two loads that overlap. */
INLINE uint64_t load_first(const char *from, size_t n) {
    uint64_t word = 0;
    uint32_t low4, high4;
    uint16_t low2, high2;
    if (n == 8) {
        memcpy(&word, from, 8);
    } else if (n >= 4) {
        memcpy(&low4, from, 4);
        memcpy(&high4, from + n - 4, 4);
        word = low4 | (uint64_t)high4 << (8 * (n - 4));
    } else if (n >= 2) {
        memcpy(&low2, from, 2);
        memcpy(&high2, from + n - 2, 2);
        word = low2 | (uint64_t)high2 << (8 * (n - 2));
    } else if (n == 1) {
        word = *(const unsigned char *)from;
    }
    return word;
}

INLINE void store_first(char *to, uint64_t word, size_t n) {
    if (n == 8) {
        memcpy(to, &word, 8);
    } else if (n >= 4) {
        memcpy(to, &word, 4);
        word >>= 8 * (n - 4);
        memcpy(to + n - 4, &word, 4);
    } else if (n >= 2) {
        memcpy(to, &word, 2);
        word >>= 8 * (n - 2);
        memcpy(to + n - 2, &word, 2);
    } else if (n == 1) {
        *to = (char)word;
    }
}

INLINE size_t part_of_word(size_t n, size_t word) { return n < 8 * word ? 0 : n - 8 * word < 8 ? n - 8 * word : 8; }

/* Word i of the first n bytes. */
INLINE uint64_t load_word(const char *from, size_t n, size_t i) {
    return load_first(from + 8 * i, part_of_word(n, i));
}

/* The first n bytes, for n below VEC_BYTES; the rest is zero, and memory beyond them is not touched. */
__attribute__((unused)) static vec vec_load_part(const char *from, size_t n) {
#if defined HW_LOAD_PART
    return HW_LOAD_PART(from, n);
#elif VEC_BYTES == 16
    return (vec)(vu64){load_word(from, n, 0), load_word(from, n, 1)};
#else
    return (vec)(vu64){load_word(from, n, 0), load_word(from, n, 1), load_word(from, n, 2), load_word(from, n, 3)};
#endif
}

__attribute__((unused)) static void vec_store_part(char *to, vec x, size_t n) {
#ifdef HW_STORE_PART
    HW_STORE_PART(to, x, n);
#else
    for (size_t i = 0; i < VEC_BYTES / 8; i++)
        store_first(to + 8 * i, ((vu64)x)[i], part_of_word(n, i));
#endif
}

/* Stores past the caches, to an address that is a multiple of VEC_BYTES; needs a fence before other threads read it. */
INLINE void vec_stream(void *to, vec x) {
#ifdef HW_STREAM
    HW_STREAM(to, x);
#else
    vec_store(to, x);
#endif
}

INLINE void vec_fence(void) {
#ifdef HW_FENCE
    HW_FENCE();
#endif
}

#ifndef HW_MULTIPLY_U32
#define HW_MULTIPLY_U32(x, m) (((x)&0xffffffffu) * (m))
#endif

/* Minimum and maximum of two registers. For floats, as on x86: x if x < y (x > y), and otherwise y, so that the result
 * is y for NaN and for two zeros. */
#ifndef HW_MIN_F32
#define HW_MIN_F32(x, y) VEC_SELECT((vf32)(x) < (vf32)(y), x, y)
#endif
#ifndef HW_MIN_F64
#define HW_MIN_F64(x, y) VEC_SELECT((vf64)(x) < (vf64)(y), x, y)
#endif
#ifndef HW_MIN_I8
#define HW_MIN_I8(x, y) VEC_SELECT((vi8)(x) < (vi8)(y), x, y)
#endif
#ifndef HW_MIN_U8
#define HW_MIN_U8(x, y) VEC_SELECT((vu8)(x) < (vu8)(y), x, y)
#endif
#ifndef HW_MIN_I16
#define HW_MIN_I16(x, y) VEC_SELECT((vi16)(x) < (vi16)(y), x, y)
#endif
#ifndef HW_MIN_I32
#define HW_MIN_I32(x, y) VEC_SELECT((vi32)(x) < (vi32)(y), x, y)
#endif
#ifndef HW_MIN_I64
#define HW_MIN_I64(x, y) VEC_SELECT((vi64)(x) < (vi64)(y), x, y)
#endif
#ifndef HW_MAX_F32
#define HW_MAX_F32(x, y) VEC_SELECT((vf32)(x) > (vf32)(y), x, y)
#endif
#ifndef HW_MAX_F64
#define HW_MAX_F64(x, y) VEC_SELECT((vf64)(x) > (vf64)(y), x, y)
#endif
#ifndef HW_MAX_I8
#define HW_MAX_I8(x, y) VEC_SELECT((vi8)(x) > (vi8)(y), x, y)
#endif
#ifndef HW_MAX_U8
#define HW_MAX_U8(x, y) VEC_SELECT((vu8)(x) > (vu8)(y), x, y)
#endif
#ifndef HW_MAX_I16
#define HW_MAX_I16(x, y) VEC_SELECT((vi16)(x) > (vi16)(y), x, y)
#endif
#ifndef HW_MAX_I32
#define HW_MAX_I32(x, y) VEC_SELECT((vi32)(x) > (vi32)(y), x, y)
#endif
#ifndef HW_MAX_I64
#define HW_MAX_I64(x, y) VEC_SELECT((vi64)(x) > (vi64)(y), x, y)
#endif

#endif
