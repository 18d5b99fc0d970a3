/* SPDX-License-Identifier: Apache-2.0
 *
 * Dtypes: their classes, limits and promotion, wrapping of integers, and one element of any dtype as a double, an
 * int64_t or a complex number. All properties of a dtype are defined here; no code depends on the order of dtypes in
 * the enum. Loops over many elements are in src/kernels.
 */
#ifndef DT_BASE_DTYPE_H
#define DT_BASE_DTYPE_H

#include "dtensor/base.h"

/* "f32, f64, …": for errors. */
#define DT__DTYPE_NAME(name, size, word) word ", "
#define DT__DTYPE_NAMES                  DT_DTYPE_LIST(DT__DTYPE_NAME)

/* Half-precision floats: f16 and bf16. */
static inline bool dt__is_half(dt_dtype dtype) { return dtype == DT_F16 || dtype == DT_BF16; }
/* Real floating-point numbers. */
static inline bool dt__is_float(dt_dtype dtype) { return dtype == DT_F32 || dtype == DT_F64 || dt__is_half(dtype); }
static inline bool dt__is_complex(dt_dtype dtype) { return dtype == DT_C64 || dtype == DT_C128; }
/* Real or complex floating-point numbers. */
static inline bool dt__is_inexact(dt_dtype dtype) { return dt__is_float(dtype) || dt__is_complex(dtype); }
/* Integers without bool, and with it. */
static inline bool dt__is_integer(dt_dtype dtype) {
    return dtype == DT_I8 || dtype == DT_I16 || dtype == DT_I32 || dtype == DT_I64 || dtype == DT_U8;
}
static inline bool dt__is_integral(dt_dtype dtype) { return dt__is_integer(dtype) || dtype == DT_BOOL; }
static inline bool dt__is_unsigned(dt_dtype dtype) { return dtype == DT_U8 || dtype == DT_BOOL; }
/* Numbers with the range and precision of f64. */
static inline bool dt__is_double_precision(dt_dtype dtype) { return dtype == DT_F64 || dtype == DT_C128; }

/* The smallest and the largest value of an integer dtype or bool. */
void dt__integer_limits(dt_dtype dtype, int64_t *min, int64_t *max);
/* Whether a number, truncated, is in [min, max]; exact even if max is not representable as a double. */
bool dt__is_within(double value, int64_t min, int64_t max);
/* The value modulo 2^bits, as arithmetic in an integer dtype computes it; for bool, whether it is nonzero. */
int64_t dt__wrap_integer(dt_dtype dtype, int64_t value);
/* Whether conversion keeps the order of all values: integers that do not fit wrap around; complex numbers have none. */
bool dt__keeps_order(dt_dtype from, dt_dtype to);
/* The spacing of a dtype's numbers around 1; 0 for integers and bool. */
double dt__dtype_epsilon(dt_dtype dtype);

/* The smallest dtype to which both promote, as in PyTorch: u8 and i8 to i16, f16 and bf16 to f32. */
dt_dtype dt__promote(dt_dtype a, dt_dtype b);
/* Integers and bool become f32; others stay. */
static inline dt_dtype dt__promote_to_inexact(dt_dtype dtype) { return dt__is_integral(dtype) ? DT_F32 : dtype; }
/* The complex dtype of a dtype's precision. */
static inline dt_dtype dt__promote_to_complex(dt_dtype dtype) {
    return dt__is_double_precision(dtype) ? DT_C128 : DT_C64;
}

/* One element in memory, at any address. Reading drops an imaginary part; writing sets it to 0. Conversions are those
 * of dt__convert: float to integer truncates and saturates, and NaN becomes 0; integers wrap, and convert to 16-bit
 * floats through f32; nonzero becomes true. */
double dt__read_f64(dt_dtype dtype, const void *from);
void dt__write_f64(dt_dtype dtype, double value, void *to);
int64_t dt__read_i64(dt_dtype dtype, const void *from);
void dt__write_i64(dt_dtype dtype, int64_t value, void *to);

/* An element of any dtype without loss: integers and bool in i, others in re and im. */
typedef struct dt__element {
    int64_t i;
    double re, im;
} dt__element;

dt__element dt__element_read(dt_dtype dtype, const void *from);
/* Integers wrap, others are rounded. */
void dt__element_write(dt_dtype dtype, dt__element value, void *to);

/* Writes the identity of a reduction: 0, 1, the largest or the smallest value. */
void dt__write_identity(dt_dtype dtype, dt_reduce reduce, void *to);

#endif
