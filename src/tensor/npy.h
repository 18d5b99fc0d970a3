/* SPDX-License-Identifier: Apache-2.0
 *
 * The header of a .npy file: a signature of six bytes, a version, a length, and a Python dictionary with dtype, memory
 * order and shape. Pure: from bytes and to bytes.
 */
#ifndef DT_TENSOR_NPY_H
#define DT_TENSOR_NPY_H

#include "dtensor/spec.h"

enum { DT__NPY_MAX_BYTES = 4096 }; /* of a header; no tensor needs more */

typedef struct dt__npy {
    dt_dtype dtype;
    bool swapped; /* big-endian */
    bool fortran; /* column-major */
    int n_dims;
    int64_t shape[DT_SPEC_MAX_DIMS];
    size_t header_bytes; /* the data follows */
    int64_t elements, bytes;
} dt__npy;

/* Parses the header in the first n bytes of a file. Returns NULL, or what is wrong. */
const char *dt__npy_read(const unsigned char *bytes, size_t n, dt__npy *out);
/* Writes the header of a little-endian, row-major file; returns its size, a multiple of 64. */
size_t dt__npy_write(dt_dtype dtype, int n_dims, const int64_t *shape, unsigned char out[DT__NPY_MAX_BYTES]);

#endif
