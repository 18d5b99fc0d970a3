/* SPDX-License-Identifier: Apache-2.0
 *
 * The header of a .npy file: a signature of six bytes, a version, a length, and a Python dictionary with dtype, memory
 * order and shape; and the numbers after it. Pure: from bytes and to bytes.
 */
#ifndef DT_TENSOR_NPY_H
#define DT_TENSOR_NPY_H

#include "dtensor/spec.h"

enum { DT__NPY_MAX_BYTES = 4096 }; /* of a header; no tensor needs more */

typedef struct dt__npy {
    dt_dtype dtype;
    int element_bytes; /* in the file */
    bool is_wider;     /* u2 and u4, for which there is no dtype: i64, wider than in the file */
    bool swapped;      /* big-endian */
    bool fortran;      /* column-major */
    int n_dims;
    int64_t shape[DT_SPEC_MAX_DIMS];
    size_t header_bytes; /* the data follows */
    int64_t elements, bytes;
    char error[256]; /* text of an error that names what the file has */
} dt__npy;

/* Parses the header in the first n bytes of a file. Returns NULL, or what is wrong, which
 * may be in *out. */
const char *dt__npy_read(const unsigned char *bytes, size_t n, dt__npy *out);
/* Accepts u2 and u4 besides. */
const char *dt__npy_read_unsigned(const unsigned char *bytes, size_t n, dt__npy *out);
/* What is wrong with a file of this many bytes, which may be in npy; or NULL. */
const char *dt__npy_check_bytes(dt__npy *npy, int64_t file_bytes);
/* Makes numbers of the dtype of bytes as the file has them, in place; not if they are wider than in the file. */
void dt__npy_decode(const dt__npy *npy, unsigned char *data, size_t bytes);
/* Makes i64 of n integers as the file has them. */
void dt__npy_widen(const dt__npy *npy, const unsigned char *in, int64_t n, int64_t *out);
/* Writes the header of a little-endian, row-major file; returns its size, a multiple of 64. */
size_t dt__npy_write(dt_dtype dtype, int n_dims, const int64_t *shape, unsigned char out[DT__NPY_MAX_BYTES]);

#endif
