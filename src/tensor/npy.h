/* SPDX-License-Identifier: Apache-2.0
 *
 * The header of a .npy file: six bytes that say what it is, a version, a length, and a Python dictionary with the
 * dtype, the order in memory and the shape. Pure: from bytes and to bytes.
 */
#ifndef DT_TENSOR_NPY_H
#define DT_TENSOR_NPY_H

#include "dtensor/spec.h"

enum { DT__NPY_MOST_BYTES = 4096 }; /* of a header that a tensor can need, with room to spare */

typedef struct dt__npy {
    dt_dtype dtype;
    bool swapped; /* the other byte order */
    bool fortran; /* the first dim runs fastest */
    int n_dims;
    int64_t shape[DT_SPEC_MAX_DIMS];
    size_t header_bytes; /* data begins here */
    int64_t elements, bytes;
} dt__npy;

/* Reads a header from the first n bytes of a file. NULL, or why not. */
const char *dt__npy_read(const unsigned char *bytes, size_t n, dt__npy *out);
/* Writes a header for a dtype and a shape, native and row by row; its length, a multiple of 64. */
size_t dt__npy_write(dt_dtype dtype, int n_dims, const int64_t *shape, unsigned char out[DT__NPY_MOST_BYTES]);

#endif
