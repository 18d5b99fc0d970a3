/* SPDX-License-Identifier: Apache-2.0
 *
 * Operations of every AArch64 CPU that generic vectors lack. Registers hold 16 bytes. Minimum and maximum of floats are
 * generic: the instructions treat NaN and zeros in another way than simd.h defines.
 */
#ifndef DT_KERNELS_SIMD_NEON_H
#define DT_KERNELS_SIMD_NEON_H

#include <arm_neon.h>

#define ISA_NAME  "baseline"
#define ISA_TABLE dt__kernels_baseline
#define ISA_LOOPS dt__loops_baseline
#define VEC_BYTES 16

/* The low 32 bits of each 64-bit lane of x times those of m. */
#define HW_MULTIPLY_U32(x, m) ((vu64)vmull_u32(vmovn_u64((uint64x2_t)(x)), vmovn_u64((uint64x2_t)(m))))

/* The lower and the upper half of a register of f32, as f64. */
#define HW_WIDEN_LOW(x)  ((vf64)vcvt_f64_f32(vget_low_f32((float32x4_t)(x))))
#define HW_WIDEN_HIGH(x) ((vf64)vcvt_high_f64_f32((float32x4_t)(x)))

/* Lower and upper half of a register of f16, each as a register of f32; and back; and half a register in memory. */
#define HW_F16_LOW(x)          ((vec)vcvt_f32_f16(vget_low_f16((float16x8_t)(x))))
#define HW_F16_HIGH(x)         ((vec)vcvt_high_f32_f16((float16x8_t)(x)))
#define HW_F16_PACK(low, high) ((vec)vcvt_high_f16_f32(vcvt_f16_f32((float32x4_t)(low)), (float32x4_t)(high)))
#define HW_LOAD_F16(from)      ((vf32)vcvt_f32_f16(vreinterpret_f16_u8(vld1_u8((const uint8_t *)(from)))))

/* The upper halves of the 32-bit elements of two registers, one after another. */
#define HW_PACK_HIGH(low, high) ((vec)vshrn_high_n_u32(vshrn_n_u32((uint32x4_t)(low), 16), (uint32x4_t)(high), 16))

#define HW_MIN_I8(x, y)  ((vec)vminq_s8((int8x16_t)(x), (int8x16_t)(y)))
#define HW_MIN_U8(x, y)  ((vec)vminq_u8((uint8x16_t)(x), (uint8x16_t)(y)))
#define HW_MIN_I16(x, y) ((vec)vminq_s16((int16x8_t)(x), (int16x8_t)(y)))
#define HW_MIN_I32(x, y) ((vec)vminq_s32((int32x4_t)(x), (int32x4_t)(y)))
#define HW_MAX_I8(x, y)  ((vec)vmaxq_s8((int8x16_t)(x), (int8x16_t)(y)))
#define HW_MAX_U8(x, y)  ((vec)vmaxq_u8((uint8x16_t)(x), (uint8x16_t)(y)))
#define HW_MAX_I16(x, y) ((vec)vmaxq_s16((int16x8_t)(x), (int16x8_t)(y)))
#define HW_MAX_I32(x, y) ((vec)vmaxq_s32((int32x4_t)(x), (int32x4_t)(y)))

#endif
