/* SPDX-License-Identifier: Apache-2.0
 *
 * One element of any dtype from a number and back, and the element that changes nothing in a reduction.
 */
#include "tensor/tensor.h"

#include <math.h>
#include <string.h>

/* The nearest number with `digits` binary digits and exponents from `lowest` on, in units of which it is counted;
 * ties go to the even one. */
static double round_to(double value, int digits, int lowest) {
    int exponent;
    if (value == 0 || !isfinite(value))
        return value;
    (void)frexp(value, &exponent);
    int unit = (exponent < lowest ? lowest : exponent) - digits;
    return ldexp(nearbyint(ldexp(value, -unit)), unit);
}

static uint16_t half_of(double value) {
    uint16_t sign = signbit(value) ? 0x8000 : 0;
    if (isnan(value))
        return sign | 0x7e00;
    double size = fabs(round_to(value, 11, -13));
    if (size >= 65536)
        return sign | 0x7c00;
    int exponent;
    (void)frexp(size, &exponent);
    if (exponent < -13 || size == 0) /* of 0 the exponent is 0 */
        return (uint16_t)(sign | (uint16_t)ldexp(size, 24));
    return (uint16_t)(sign | (uint16_t)((exponent + 14) << 10) | ((uint16_t)ldexp(size, 11 - exponent) & 0x3ff));
}

static uint16_t bfloat_of(double value) {
    float number = (float)round_to(value, 8, -125);
    uint32_t bits;
    memcpy(&bits, &number, sizeof bits);
    return isnan(value) ? 0x7fc0 : (uint16_t)(bits >> 16);
}

/* Truncated; NaN is 0, and what lies outside becomes the nearest end of the range. */
static int64_t whole(double value, int64_t low, int64_t high) {
    if (isnan(value))
        return 0;
    if (value <= (double)low)
        return low;
    return value >= (double)high ? high : (int64_t)value;
}

bool dt__whole_limits(dt_dtype dtype, int64_t *least, int64_t *most) {
    static const int64_t limits[DT_N_DTYPES][2] = {
        [DT_I8] = {INT8_MIN, INT8_MAX},    [DT_I16] = {INT16_MIN, INT16_MAX}, [DT_I32] = {INT32_MIN, INT32_MAX},
        [DT_I64] = {INT64_MIN, INT64_MAX}, [DT_U8] = {0, UINT8_MAX},
    };
    *least = limits[dtype][0];
    *most = limits[dtype][1];
    return *most > 0;
}

bool dt__is_within(double value, int64_t least, int64_t most) {
    double above = 2 * (double)(most / 2 + 1), number = trunc(value); /* the most itself may not be a double */
    return number >= (double)least && number < above;
}

dt_status dt__want_number(dt_ctx *ctx, const char *op, dt_dtype dtype, double value) {
    int64_t least, most;
    if (!dt_dtype_size(dtype) || !dt__whole_limits(dtype, &least, &most) || dt__is_within(value, least, most))
        return DT_OK;
    return dt__fail(ctx, DT_ERR_VALUE, "%s: %.17g does not fit %s; wanted a number from %lld to %lld", op, value,
                    dt_dtype_name(dtype), (long long)least, (long long)most);
}

void dt__put_number(dt_dtype dtype, double value, void *out) {
    union {
        float f32;
        double f64, c128[2];
        float c64[2];
        uint16_t bits;
        int8_t i8;
        int16_t i16;
        int32_t i32;
        int64_t i64;
        uint8_t u8;
    } to = {.c128 = {0, 0}};
    switch (dtype) {
    case DT_F32:
        to.f32 = (float)value;
        break;
    case DT_F64:
        to.f64 = value;
        break;
    case DT_F16:
        to.bits = half_of(value);
        break;
    case DT_BF16:
        to.bits = bfloat_of(value);
        break;
    case DT_I8:
        to.i8 = (int8_t)whole(value, INT8_MIN, INT8_MAX);
        break;
    case DT_I16:
        to.i16 = (int16_t)whole(value, INT16_MIN, INT16_MAX);
        break;
    case DT_I32:
        to.i32 = (int32_t)whole(value, INT32_MIN, INT32_MAX);
        break;
    case DT_I64:
        to.i64 = whole(value, INT64_MIN, INT64_MAX);
        break;
    case DT_U8:
        to.u8 = (uint8_t)whole(value, 0, UINT8_MAX);
        break;
    case DT_BOOL:
        to.u8 = value != 0;
        break;
    case DT_C64:
        to.c64[0] = (float)value;
        break;
    case DT_C128:
        to.c128[0] = value;
        break;
    default:
        return;
    }
    memcpy(out, &to, dt_dtype_size(dtype));
}

static double from_half(uint16_t bits) {
    double fraction = bits & 0x3ff, sign = bits & 0x8000 ? -1 : 1;
    int exponent = bits >> 10 & 0x1f;
    if (exponent == 0x1f)
        return fraction != 0 ? (double)NAN : sign * (double)INFINITY;
    return sign * (exponent ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24));
}

double dt__get_number(dt_dtype dtype, const void *element) {
#define AS(type) (*(const type *)memcpy(&(type){0}, element, sizeof(type)))
    switch (dtype) {
    case DT_C64:
    case DT_F32:
        return (double)AS(float);
    case DT_C128:
    case DT_F64:
        return AS(double);
    case DT_F16:
        return from_half(AS(uint16_t));
    case DT_BF16: {
        uint32_t bits = (uint32_t)AS(uint16_t) << 16;
        float number;
        memcpy(&number, &bits, sizeof number);
        return (double)number;
    }
    case DT_I8:
        return AS(int8_t);
    case DT_I16:
        return AS(int16_t);
    case DT_I32:
        return AS(int32_t);
    case DT_I64:
        return (double)AS(int64_t);
    case DT_U8:
        return AS(uint8_t);
    case DT_BOOL:
        return AS(uint8_t) != 0;
    default:
        return (double)NAN;
    }
#undef AS
}

void dt__put_identity(dt_dtype dtype, dt_reduce reduce, void *out) {
    static const double identity[DT_N_REDUCES] = {
        [DT_PRODUCT] = 1, [DT_MIN] = (double)INFINITY, [DT_MAX] = -(double)INFINITY};
    dt__put_number(dtype, dtype == DT_BOOL && reduce == DT_MAX ? 0 : identity[reduce], out);
}

bool dt__holds_value(const dt_spec *spec, dt_reduce *identity) {
    int64_t coordinate[DT_SPEC_MAX_DIMS];
    if (!dt_mesh_coordinate(spec->mesh, coordinate))
        return true; /* of nothing */
    bool first = true;
    for (int m = 0; m < spec->sharding.n_mesh_dims; m++) {
        const dt_placement *p = &spec->sharding.placements[m];
        if (!dt_placement_is_partial(*p) || p->reduce == DT_AVG || coordinate[m] == 0)
            continue;
        first = false;
        *identity = p->reduce;
    }
    return first;
}
