/* SPDX-License-Identifier: Apache-2.0
 *
 * The arithmetic of kernels.h on registers. dtype and op are constants wherever these functions are used, so that
 * each use shrinks to the few instructions of its case. A register of 16-bit floats is worked on as two registers of
 * f32; which element lies where among the two does not matter, as long as unpack and pack agree.
 */
#ifndef DT_KERNELS_LANES_H
#define DT_KERNELS_LANES_H

#include "dtensor/base.h"
#include "kernels/simd.h"

typedef struct lanes {
    vec a, b; /* b for 16-bit floats only */
} lanes;

/* The register with the bits of x in every element. */
INLINE vu32 all_u32(uint32_t x) { return (vu32){0} + x; }

INLINE vec widen_f16(vu32 h) {
    const uint32_t exponent_step = 1u << 23, infinity = 0x7c00u << 13;
    vu32 size = (h & 0x7fff) << 13; /* exponent and fraction where f32 has them */
    vu32 is_special = (vu32)((size & infinity) == infinity);
    vu32 is_small = (vu32)((size & infinity) == 0);
    size += (127 - 15) * exponent_step + (is_special & ((128 - 16) * exponent_step));
    /* A subnormal has no hidden bit: lend it one, and take it away in floating point, which normalises. */
    vu32 normalised = (vu32)((vf32)(size + exponent_step) - (vf32)all_u32((127 - 14) * exponent_step));
    size = (is_small & normalised) | (~is_small & size);
    return (vec)(size | (h & 0x8000) << 16);
}

/* Gives the f16 in the low half of each element. */
INLINE vu32 narrow_f16(vec f32) {
    const uint32_t exponent_step = 1u << 23;
    vu32 bits = (vu32)f32, size = bits & 0x7fffffff;
    /* Sizes have no top bit, and signed comparisons are what every instruction set has. */
    vu32 is_nan = (vu32)((vi32)size > 0x7f800000);
    vu32 is_big = (vu32)((vi32)size >= (vi32)all_u32((127 + 16) * exponent_step));
    vu32 is_small = (vu32)((vi32)size < (vi32)all_u32((127 - 14) * exponent_step));
    /* Half of the last kept bit, less one if the last kept bit is even: ties stay with the even one. */
    vu32 normal = (size - (127 - 15) * exponent_step + 0xfff + (size >> 13 & 1)) >> 13;
    /* The last bit of 0.5f is worth as much as the last bit of a subnormal f16, so the addition rounds. */
    vu32 half = all_u32((127 - 1) * exponent_step);
    vu32 small = (vu32)((vf32)size + (vf32)half) - half;
    vu32 h = (is_small & small) | (~is_small & normal);
    h = (is_big & 0x7c00) | (~is_big & h);
    h = (is_nan & 0x7e00) | (~is_nan & h);
    return h | (bits >> 16 & 0x8000);
}

/* Gives the bf16 in the high half of each element, with anything below. */
INLINE vu32 narrow_bf16(vec f32) {
    vu32 bits = (vu32)f32;
    vu32 is_nan = (vu32)((vi32)(bits & 0x7fffffff) > 0x7f800000);
    vu32 rounded = bits + 0x7fff + (bits >> 16 & 1);
    return (is_nan & (bits | 0x400000)) | (~is_nan & rounded);
}

INLINE lanes lanes_unpack(dt_dtype dtype, vec x) {
    switch (dtype) {
    case DT_F16:
#ifdef HW_F16_PACK
        return (lanes){HW_F16_LOW(x), HW_F16_HIGH(x)};
#else
        return (lanes){widen_f16((vu32)x & 0xffff), widen_f16((vu32)x >> 16)};
#endif
    case DT_BF16:
        return (lanes){(vec)((vu32)x << 16), (vec)((vu32)x & 0xffff0000)};
    case DT_BOOL:
        return (lanes){(vec)(x != 0) & 1, x};
    default:
        return (lanes){x, x};
    }
}

INLINE vec lanes_pack(dt_dtype dtype, lanes x) {
    switch (dtype) {
    case DT_F16:
#ifdef HW_F16_PACK
        return HW_F16_PACK(x.a, x.b);
#else
        return (vec)(narrow_f16(x.a) | narrow_f16(x.b) << 16);
#endif
    case DT_BF16:
        return (vec)(narrow_bf16(x.a) >> 16 | (narrow_bf16(x.b) & 0xffff0000));
    default:
        return x.a;
    }
}

/* Both orders of the operands are taken, so that a NaN survives in one of them, and zeros of both signs in both: "or"
 * then keeps a NaN and the minus sign. */
INLINE vec min_f32(vec x, vec y) { return HW_MIN_F32(x, y) | HW_MIN_F32(y, x); }
INLINE vec min_f64(vec x, vec y) { return HW_MIN_F64(x, y) | HW_MIN_F64(y, x); }

/* "and" drops the minus sign, but might turn a NaN into a number, so NaN is put back. */
INLINE vec max_f32(vec x, vec y) {
    vec is_nan = (vec)((vf32)x != (vf32)x) | (vec)((vf32)y != (vf32)y);
    return (HW_MAX_F32(x, y) & HW_MAX_F32(y, x)) | is_nan;
}
INLINE vec max_f64(vec x, vec y) {
    vec is_nan = (vec)((vf64)x != (vf64)x) | (vec)((vf64)y != (vf64)y);
    return (HW_MAX_F64(x, y) & HW_MAX_F64(y, x)) | is_nan;
}

/* [0] and [1] of each pair of elements: {0, 0}, {1, 1} and {1, 0}. */
INLINE vf32 firsts_f32(vec x) {
    vu64 first = (vu64)x & 0xffffffff;
    return (vf32)(first | first << 32);
}
INLINE vf32 seconds_f32(vec x) {
    vu64 second = (vu64)x >> 32;
    return (vf32)(second | second << 32);
}
INLINE vf32 swapped_f32(vec x) { return (vf32)((vu64)x >> 32 | (vu64)x << 32); }

/* (a + bi)(c + di): {ac, ad} + {-bd, bc}. A minus sign on a term is a subtraction, to the bit. */
INLINE vec product_c64(vec x, vec y) {
    vf32 bd_bc = seconds_f32(x) * swapped_f32(y);
    vec signs = (vec)((vu64){0} + 0x80000000u);
    return (vec)(firsts_f32(x) * (vf32)y + (vf32)((vec)bd_bc ^ signs));
}

#if VEC_BYTES == 16
#define PAIR_INDEXES(p, q) p, q
#elif VEC_BYTES == 32
#define PAIR_INDEXES(p, q) p, q, 2 + p, 2 + q
#else
#define PAIR_INDEXES(p, q) p, q, 2 + p, 2 + q, 4 + p, 4 + q, 6 + p, 6 + q
#endif

INLINE vec product_c128(vec x, vec y) {
    vf64 p = (vf64)x, q = (vf64)y;
    vf64 bd_bc =
        __builtin_shufflevector(p, p, PAIR_INDEXES(1, 1)) * __builtin_shufflevector(q, q, PAIR_INDEXES(1, 0));
    const vu64 minus = (vu64){0} + (1ull << 63), zero = {0};
    vec signs = (vec)__builtin_shufflevector(minus, zero, PAIR_INDEXES(0, VEC_BYTES / 8));
    return (vec)(__builtin_shufflevector(p, p, PAIR_INDEXES(0, 0)) * q + (vf64)((vec)bd_bc ^ signs));
}

INLINE vec sum_of(dt_dtype dtype, vec x, vec y) {
    switch (dtype) {
    case DT_F32:
    case DT_F16:
    case DT_BF16:
        return (vec)((vf32)x + (vf32)y);
    case DT_F64:
        return (vec)((vf64)x + (vf64)y);
    case DT_I16:
        return (vec)((vu16)x + (vu16)y);
    case DT_I32:
        return (vec)((vu32)x + (vu32)y);
    case DT_I64:
        return (vec)((vu64)x + (vu64)y);
    case DT_BOOL:
        return x | y;
    default:
        return x + y;
    }
}

INLINE vec product_of(dt_dtype dtype, vec x, vec y) {
    switch (dtype) {
    case DT_F32:
    case DT_F16:
    case DT_BF16:
        return (vec)((vf32)x * (vf32)y);
    case DT_F64:
        return (vec)((vf64)x * (vf64)y);
    case DT_C64:
        return product_c64(x, y);
    case DT_C128:
        return product_c128(x, y);
    case DT_I16:
        return (vec)((vu16)x * (vu16)y);
    case DT_I32:
        return (vec)((vu32)x * (vu32)y);
    case DT_I64:
        return (vec)((vu64)x * (vu64)y);
    case DT_BOOL:
        return x & y;
    default:
        return x * y;
    }
}

INLINE vec min_of(dt_dtype dtype, vec x, vec y) {
    switch (dtype) {
    case DT_F32:
    case DT_F16:
    case DT_BF16:
        return min_f32(x, y);
    case DT_F64:
        return min_f64(x, y);
    case DT_I8:
        return HW_MIN_I8(x, y);
    case DT_I16:
        return HW_MIN_I16(x, y);
    case DT_I32:
        return HW_MIN_I32(x, y);
    case DT_I64:
        return HW_MIN_I64(x, y);
    case DT_BOOL:
        return x & y;
    default:
        return HW_MIN_U8(x, y);
    }
}

INLINE vec max_of(dt_dtype dtype, vec x, vec y) {
    switch (dtype) {
    case DT_F32:
    case DT_F16:
    case DT_BF16:
        return max_f32(x, y);
    case DT_F64:
        return max_f64(x, y);
    case DT_I8:
        return HW_MAX_I8(x, y);
    case DT_I16:
        return HW_MAX_I16(x, y);
    case DT_I32:
        return HW_MAX_I32(x, y);
    case DT_I64:
        return HW_MAX_I64(x, y);
    case DT_BOOL:
        return x | y;
    default:
        return HW_MAX_U8(x, y);
    }
}

INLINE vec combine_of(dt_dtype dtype, dt_reduce op, vec x, vec y) {
    switch (op) {
    case DT_PRODUCT:
        return product_of(dtype, x, y);
    case DT_MIN:
        return min_of(dtype, x, y);
    case DT_MAX:
        return max_of(dtype, x, y);
    default:
        return sum_of(dtype, x, y);
    }
}

INLINE lanes lanes_combine(dt_dtype dtype, dt_reduce op, lanes x, lanes y) {
    lanes all;
    all.a = combine_of(dtype, op, x.a, y.a);
    all.b = dtype == DT_F16 || dtype == DT_BF16 ? combine_of(dtype, op, x.b, y.b) : all.a;
    return all;
}

/* Floats only; divide.h has integers. */
INLINE vec quotient_of(dt_dtype dtype, vec x, int64_t divisor) {
    if (dtype == DT_F64)
        return (vec)((vf64)x / (double)divisor);
    return (vec)((vf32)x / (float)divisor);
}

INLINE lanes lanes_divide(dt_dtype dtype, lanes x, int64_t divisor) {
    lanes quotient;
    quotient.a = quotient_of(dtype, x.a, divisor);
    quotient.b = dtype == DT_F16 || dtype == DT_BF16 ? quotient_of(dtype, x.b, divisor) : quotient.a;
    return quotient;
}

#endif
