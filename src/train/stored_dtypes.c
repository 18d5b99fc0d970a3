/* SPDX-License-Identifier: Apache-2.0
 *
 * The dtypes of safetensors files. Those that the library does not have are read as the smallest one that holds all
 * their values; floats of 8 bits as bf16, in which both kinds are exact.
 */
#include "train/safetensors.h"

#include "base/half_float.h"

#include <string.h>

static uint64_t read_little_endian(const unsigned char *in, int bytes) {
    uint64_t value = 0;
    for (int b = 0; b < bytes; b++)
        value |= (uint64_t)in[b] << (8 * b);
    return value;
}

static bool decode_u16(int64_t n, const unsigned char *in, void *out) {
    int32_t *to = out;
    for (int64_t i = 0; i < n; i++)
        to[i] = (int32_t)read_little_endian(in + 2 * i, 2);
    return true;
}

static bool decode_u32(int64_t n, const unsigned char *in, void *out) {
    int64_t *to = out;
    for (int64_t i = 0; i < n; i++)
        to[i] = (int64_t)read_little_endian(in + 4 * i, 4);
    return true;
}

static bool decode_u64(int64_t n, const unsigned char *in, void *out) {
    int64_t *to = out;
    bool fits = true;
    for (int64_t i = 0; i < n; i++) {
        const uint64_t value = read_little_endian(in + 8 * i, 8);
        fits = fits && value <= INT64_MAX;
        to[i] = (int64_t)value;
    }
    return fits;
}

/* Any byte but 0 would be a bool that is not equal to itself. */
static bool decode_bool(int64_t n, const unsigned char *in, void *out) {
    unsigned char *to = out;
    for (int64_t i = 0; i < n; i++)
        to[i] = in[i] != 0;
    return true;
}

/* S EEEE FFF, bias 7, no infinities, one NaN per sign (the "fn" variant). */
static bool decode_e4m3(int64_t n, const unsigned char *in, void *out) {
    uint16_t *to = out;
    for (int64_t i = 0; i < n; i++) {
        const unsigned sign = (unsigned)in[i] >> 7, exponent = in[i] >> 3 & 15, fraction = in[i] & 7;
        float value = exponent ? (float)(8 + fraction) / 1024 * (float)(1u << exponent) : (float)fraction / 512;
        to[i] = (uint16_t)(dt__f32_to_bf16(value) | sign << 15);
        if (exponent == 15 && fraction == 7)
            to[i] = (uint16_t)(0x7fc0 | sign << 15);
    }
    return true;
}

/* The upper byte of an f16. */
static bool decode_e5m2(int64_t n, const unsigned char *in, void *out) {
    uint16_t *to = out;
    for (int64_t i = 0; i < n; i++)
        to[i] = dt__f32_to_bf16(dt__f16_to_f32((uint16_t)(in[i] << 8)));
    return true;
}

static const dt__stored_dtype dtypes[] = {
    {"F32", 4, DT_F32, NULL},
    {"F64", 8, DT_F64, NULL},
    {"F16", 2, DT_F16, NULL},
    {"BF16", 2, DT_BF16, NULL},
    {"I8", 1, DT_I8, NULL},
    {"I16", 2, DT_I16, NULL},
    {"I32", 4, DT_I32, NULL},
    {"I64", 8, DT_I64, NULL},
    {"U8", 1, DT_U8, NULL},
    {"BOOL", 1, DT_BOOL, decode_bool},
    {"C64", 8, DT_C64, NULL},
    {"U16", 2, DT_I32, decode_u16},
    {"U32", 4, DT_I64, decode_u32},
    {"U64", 8, DT_I64, decode_u64},
    {"F8_E4M3", 1, DT_BF16, decode_e4m3},
    {"F8_E5M2", 1, DT_BF16, decode_e5m2},
};
enum { N_DTYPES = sizeof dtypes / sizeof *dtypes };

const dt__stored_dtype *dt__stored_dtype_of(dt_dtype dtype) {
    for (int i = 0; i < N_DTYPES; i++) /* the first one has its bytes */
        if (dtypes[i].dtype == dtype && dtypes[i].bytes == (int)dt_dtype_size(dtype))
            return &dtypes[i];
    return NULL;
}

const dt__stored_dtype *dt__stored_dtype_named(const char *name) {
    for (int i = 0; i < N_DTYPES; i++)
        if (!strcmp(name, dtypes[i].name))
            return &dtypes[i];
    return NULL;
}
