/* SPDX-License-Identifier: Apache-2.0
 *
 * The arithmetic of kernel_table.h on vector registers: unpacking elements, combining two registers, and packing the
 * result. A register of 16-bit floats is processed as two registers of f32; the order of the elements among the two
 * does not matter, as long as unpack and pack agree.
 */
#ifndef DT_KERNELS_LANES_H
#define DT_KERNELS_LANES_H

#include "kernels/simd.h"

typedef struct lanes {
    vec a, b; /* b is read for 16-bit floats only */
} lanes;

/* Broadcasts x to every element. */
INLINE vu32 all_u32(uint32_t x) { return (vu32){0} + x; }

INLINE vec widen_f16(vu32 h) {
    const uint32_t exponent_step = 1u << 23, infinity = 0x7c00u << 13;
    vu32 size = (h & 0x7fff) << 13; /* exponent and fraction where f32 has them */
    vu32 is_special = (vu32)((size & infinity) == infinity);
    vu32 is_small = (vu32)((size & infinity) == 0);
    size += (127 - 15) * exponent_step + (is_special & ((128 - 16) * exponent_step));
    /* A subnormal has no hidden bit: add one, and subtract it in floating point, which normalizes. */
    vu32 normalized = (vu32)((vf32)(size + exponent_step) - (vf32)all_u32((127 - 14) * exponent_step));
    size = (is_small & normalized) | (~is_small & size);
    return (vec)(size | (h & 0x8000) << 16);
}

/* Returns the f16 in the low half of each element. */
INLINE vu32 narrow_f16(vec f32) {
    const uint32_t exponent_step = 1u << 23;
    vu32 bits = (vu32)f32, size = bits & 0x7fffffff;
    /* Magnitudes have no sign bit, and every instruction set has signed comparisons. */
    vu32 is_nan = (vu32)((vi32)size > 0x7f800000);
    vu32 is_big = (vu32)((vi32)size >= (vi32)all_u32((127 + 16) * exponent_step));
    vu32 is_small = (vu32)((vi32)size < (vi32)all_u32((127 - 14) * exponent_step));
    /* Adds half of the last kept bit, less one if that bit is even: ties go to even. */
    vu32 normal = (size - (127 - 15) * exponent_step + 0xfff + (size >> 13 & 1)) >> 13;
    /* The last bit of 0.5f is worth as much as the last bit of a subnormal f16, so the addition rounds. */
    vu32 half = all_u32((127 - 1) * exponent_step);
    vu32 small = (vu32)((vf32)size + (vf32)half) - half;
    vu32 h = (is_small & small) | (~is_small & normal);
    h = (is_big & 0x7c00) | (~is_big & h);
    h = (is_nan & 0x7e00) | (~is_nan & h);
    return h | (bits >> 16 & 0x8000);
}

/* Returns the bf16 in the high half of each element; the low half is undefined. */
INLINE vu32 narrow_bf16(vec f32) {
    vu32 bits = (vu32)f32;
    vu32 is_nan = (vu32)((vf32)f32 != (vf32)f32);
    vu32 rounded = bits + 0x7fff + (bits >> 16 & 1);
    return (is_nan & (bits | 0x400000)) | (~is_nan & rounded);
}

INLINE lanes unpack_whole(vec x) { return (lanes){x, x}; }
INLINE vec pack_whole(lanes x) { return x.a; }

INLINE lanes unpack_bool(vec x) { return unpack_whole((vec)(x != 0) & 1); }
INLINE vec pack_bool(lanes x) { return x.a; }

INLINE lanes unpack_bf16(vec x) { return (lanes){(vec)((vu32)x << 16), (vec)((vu32)x & 0xffff0000)}; }
INLINE vec pack_bf16(lanes x) { return (vec)(narrow_bf16(x.a) >> 16 | (narrow_bf16(x.b) & 0xffff0000)); }

#ifdef HW_F16_PACK
INLINE lanes unpack_f16(vec x) { return (lanes){HW_F16_LOW(x), HW_F16_HIGH(x)}; }
INLINE vec pack_f16(lanes x) { return HW_F16_PACK(x.a, x.b); }
#else
INLINE lanes unpack_f16(vec x) { return (lanes){widen_f16((vu32)x & 0xffff), widen_f16((vu32)x >> 16)}; }
INLINE vec pack_f16(lanes x) { return (vec)(narrow_f16(x.a) | narrow_f16(x.b) << 16); }
#endif

INLINE vec add_f32(vec x, vec y) { return (vec)((vf32)x + (vf32)y); }
INLINE vec add_f64(vec x, vec y) { return (vec)((vf64)x + (vf64)y); }
INLINE vec add_8(vec x, vec y) { return x + y; }
INLINE vec add_16(vec x, vec y) { return (vec)((vu16)x + (vu16)y); }
INLINE vec add_32(vec x, vec y) { return (vec)((vu32)x + (vu32)y); }
INLINE vec add_64(vec x, vec y) { return (vec)((vu64)x + (vu64)y); }

INLINE vec multiply_f32(vec x, vec y) { return (vec)((vf32)x * (vf32)y); }
INLINE vec multiply_f64(vec x, vec y) { return (vec)((vf64)x * (vf64)y); }
INLINE vec multiply_8(vec x, vec y) { return x * y; }
INLINE vec multiply_16(vec x, vec y) { return (vec)((vu16)x * (vu16)y); }
INLINE vec multiply_32(vec x, vec y) { return (vec)((vu32)x * (vu32)y); }
INLINE vec multiply_64(vec x, vec y) { return (vec)((vu64)x * (vu64)y); }

INLINE vec or_bits(vec x, vec y) { return x | y; }
INLINE vec and_bits(vec x, vec y) { return x & y; }

INLINE vec min_i8(vec x, vec y) { return HW_MIN_I8(x, y); }
INLINE vec min_u8(vec x, vec y) { return HW_MIN_U8(x, y); }
INLINE vec min_i16(vec x, vec y) { return HW_MIN_I16(x, y); }
INLINE vec min_i32(vec x, vec y) { return HW_MIN_I32(x, y); }
INLINE vec min_i64(vec x, vec y) { return HW_MIN_I64(x, y); }

INLINE vec max_i8(vec x, vec y) { return HW_MAX_I8(x, y); }
INLINE vec max_u8(vec x, vec y) { return HW_MAX_U8(x, y); }
INLINE vec max_i16(vec x, vec y) { return HW_MAX_I16(x, y); }
INLINE vec max_i32(vec x, vec y) { return HW_MAX_I32(x, y); }
INLINE vec max_i64(vec x, vec y) { return HW_MAX_I64(x, y); }

/* Computed for both orders of the operands, so that one of the two results is NaN if an operand is, and zeros of both
 * signs appear: "or" then keeps the NaN and the minus sign. */
INLINE vec min_f32(vec x, vec y) { return HW_MIN_F32(x, y) | HW_MIN_F32(y, x); }
INLINE vec min_f64(vec x, vec y) { return HW_MIN_F64(x, y) | HW_MIN_F64(y, x); }

/* "and" drops the minus sign, but might turn a NaN into a number, so NaNs are restored. */
INLINE vec max_f32(vec x, vec y) {
    vec one = HW_MAX_F32(x, y), other = HW_MAX_F32(y, x);
    vec is_nan = (vec)((vf32)one != (vf32)one) | (vec)((vf32)other != (vf32)other);
    return (one & other) | is_nan;
}
INLINE vec max_f64(vec x, vec y) {
    vec one = HW_MAX_F64(x, y), other = HW_MAX_F64(y, x);
    vec is_nan = (vec)((vf64)one != (vf64)one) | (vec)((vf64)other != (vf64)other);
    return (one & other) | is_nan;
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
INLINE vec multiply_c64(vec x, vec y) {
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

INLINE vec multiply_c128(vec x, vec y) {
    vf64 p = (vf64)x, q = (vf64)y;
    vf64 bd_bc =
        __builtin_shufflevector(p, p, PAIR_INDEXES(1, 1)) * __builtin_shufflevector(q, q, PAIR_INDEXES(1, 0));
    const vu64 minus = (vu64){0} + (1ull << 63), zero = {0};
    vec signs = (vec)__builtin_shufflevector(minus, zero, PAIR_INDEXES(0, VEC_BYTES / 8));
    return (vec)(__builtin_shufflevector(p, p, PAIR_INDEXES(0, 0)) * q + (vf64)((vec)bd_bc ^ signs));
}

/* The final step on the combined value. */
INLINE vec keep(vec x, int64_t divisor) {
    (void)divisor;
    return x;
}
INLINE vec divide_f32(vec x, int64_t divisor) { return (vec)((vf32)x / (float)divisor); }
INLINE vec divide_f64(vec x, int64_t divisor) { return (vec)((vf64)x / (double)divisor); }

#endif
