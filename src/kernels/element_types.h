/* SPDX-License-Identifier: Apache-2.0
 *
 * The C types of elements in memory, and the conversion of one element. Nothing here branches in a way that a compiler
 * cannot turn into selects, so that loops over it are vectorized. Results are bitwise the same in every instruction
 * set.
 */
#ifndef DT_KERNELS_ELEMENT_TYPES_H
#define DT_KERNELS_ELEMENT_TYPES_H

#include "base/half_float.h"
#include "dtensor/base.h"

#define DT__IN_MEMORY __attribute__((aligned(1), may_alias))
typedef float dt__f32 DT__IN_MEMORY;
typedef double dt__f64 DT__IN_MEMORY;
typedef uint16_t dt__f16 DT__IN_MEMORY;
typedef uint16_t dt__bf16 DT__IN_MEMORY;
typedef int8_t dt__i8 DT__IN_MEMORY;
typedef int16_t dt__i16 DT__IN_MEMORY;
typedef int32_t dt__i32 DT__IN_MEMORY;
typedef int64_t dt__i64 DT__IN_MEMORY;
typedef uint8_t dt__u8 DT__IN_MEMORY;
typedef uint8_t dt__bool8 DT__IN_MEMORY;
typedef struct __attribute__((packed, may_alias)) dt__c64 {
    float re, im;
} dt__c64;
typedef struct __attribute__((packed, may_alias)) dt__c128 {
    double re, im;
} dt__c128;

/* A loop whose iterations are independent of each other. The output may be exactly one of the inputs. */
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed" /* some loops call functions and cannot be vectorized */
#define DT__EACH _Pragma("clang loop vectorize(assume_safety)")
#else
#define DT__EACH _Pragma("GCC ivdep")
#endif

/* Float to integer, toward zero and saturating; NaN becomes 0. `below` is the largest number of the float type that
 * is less than the integer type's maximum plus one. */
#define DT__SATURATE(name, type, real, lowest, highest, below)                                                       \
    DT__INLINE type name(real x) {                                                                                   \
        real inside = x >= (real)(lowest) ? x : (real)(lowest); /* also for NaN */                                   \
        inside = inside > (real)(below) ? (real)(below) : inside;                                                    \
        type truncated = (type)inside;                                                                               \
        truncated = x > (real)(below) ? (highest) : truncated;                                                       \
        return x == x ? truncated : 0;                                                                               \
    }
DT__SATURATE(dt__i8_of_f32, int8_t, float, INT8_MIN, INT8_MAX, INT8_MAX)
DT__SATURATE(dt__i8_of_f64, int8_t, double, INT8_MIN, INT8_MAX, INT8_MAX)
DT__SATURATE(dt__u8_of_f32, uint8_t, float, 0, UINT8_MAX, UINT8_MAX)
DT__SATURATE(dt__u8_of_f64, uint8_t, double, 0, UINT8_MAX, UINT8_MAX)
DT__SATURATE(dt__i16_of_f32, int16_t, float, INT16_MIN, INT16_MAX, INT16_MAX)
DT__SATURATE(dt__i16_of_f64, int16_t, double, INT16_MIN, INT16_MAX, INT16_MAX)
DT__SATURATE(dt__i32_of_f32, int32_t, float, INT32_MIN, INT32_MAX, 0x1.fffffep30f)
DT__SATURATE(dt__i32_of_f64, int32_t, double, INT32_MIN, INT32_MAX, INT32_MAX)
DT__SATURATE(dt__i64_of_f32, int64_t, float, INT64_MIN, INT64_MAX, 0x1.fffffep62f)
DT__SATURATE(dt__i64_of_f64, int64_t, double, INT64_MIN, INT64_MAX, 0x1.fffffffffffffp62)
#undef DT__SATURATE

/* The value of an element in memory; 16-bit floats become f32. */
#define DT__GET_F32(e)  ((float)(e))
#define DT__GET_F64(e)  ((double)(e))
#define DT__GET_F16(e)  dt__f16_to_f32(e)
#define DT__GET_BF16(e) dt__bf16_to_f32(e)
#define DT__GET_I8(e)   ((int8_t)(e))
#define DT__GET_I16(e)  ((int16_t)(e))
#define DT__GET_I32(e)  ((int32_t)(e))
#define DT__GET_I64(e)  ((int64_t)(e))
#define DT__GET_U8(e)   ((uint8_t)(e))
#define DT__GET_BOOL(e) ((uint8_t)((e) != 0))

/* The element for a value of any real C type. Integers wrap. */
#define DT__BY_TYPE(value, of_f32, of_f64, of_integer)                                                               \
    _Generic((value), float : of_f32, double : of_f64, default : of_integer)

DT__INLINE int8_t dt__i8_of_integer(int64_t x) { return (int8_t)x; }
DT__INLINE uint8_t dt__u8_of_integer(int64_t x) { return (uint8_t)x; }
DT__INLINE int16_t dt__i16_of_integer(int64_t x) { return (int16_t)x; }
DT__INLINE int32_t dt__i32_of_integer(int64_t x) { return (int32_t)x; }
DT__INLINE int64_t dt__i64_of_integer(int64_t x) { return x; }
DT__INLINE float dt__short_of_f32(float x) { return x; }
DT__INLINE float dt__short_of_integer(int64_t x) { return (float)x; }

#define DT__PUT_F32(v)  ((float)(v))
#define DT__PUT_F64(v)  ((double)(v))
#define DT__SHORT(v)    DT__BY_TYPE(v, dt__short_of_f32, dt__f64_to_odd_f32, dt__short_of_integer)(v)
#define DT__PUT_F16(v)  dt__f32_to_f16(DT__SHORT(v))
#define DT__PUT_BF16(v) dt__f32_to_bf16(DT__SHORT(v))
#define DT__PUT_I8(v)   DT__BY_TYPE(v, dt__i8_of_f32, dt__i8_of_f64, dt__i8_of_integer)(v)
#define DT__PUT_I16(v)  DT__BY_TYPE(v, dt__i16_of_f32, dt__i16_of_f64, dt__i16_of_integer)(v)
#define DT__PUT_I32(v)  DT__BY_TYPE(v, dt__i32_of_f32, dt__i32_of_f64, dt__i32_of_integer)(v)
#define DT__PUT_I64(v)  DT__BY_TYPE(v, dt__i64_of_f32, dt__i64_of_f64, dt__i64_of_integer)(v)
#define DT__PUT_U8(v)   DT__BY_TYPE(v, dt__u8_of_f32, dt__u8_of_f64, dt__u8_of_integer)(v)
#define DT__PUT_BOOL(v) ((uint8_t)((v) != 0))

#endif
