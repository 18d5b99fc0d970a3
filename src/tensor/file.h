/* SPDX-License-Identifier: Apache-2.0
 *
 * Between a rank's part of a tensor and the file that holds the whole: which bytes of the file belong to which bytes of
 * memory, and reading and writing them.
 */
#ifndef DT_TENSOR_FILE_H
#define DT_TENSOR_FILE_H

#include "tensor/tensor.h"

/* Called for each piece that lies in one piece in the file and in memory; anything but DT_OK ends the walk. */
typedef dt_status dt__piece_fn(void *user, int64_t file_at, size_t memory_at, size_t bytes);

/* Walks over the pieces of this rank's part, which is dense in memory, last dim fastest or, with fortran, first dim
 * fastest; the whole lies in the file alike. Offsets count from the start of the whole's data. */
dt_status dt__file_pieces(const dt_tensor *tensor, bool fortran, dt__piece_fn *piece, void *user);

/* All of n bytes; a local error that names the op and the file. */
dt_status dt__file_read(dt_ctx *ctx, const char *op, const char *path, int fd, int64_t at, void *out, size_t n);
dt_status dt__file_write(dt_ctx *ctx, const char *op, const char *path, int fd, int64_t at, const void *in, size_t n);

/* The checksum of a range of the file. */
dt_status dt__file_crc(dt_ctx *ctx, const char *op, const char *path, int fd, int64_t at, int64_t n, uint32_t *out);

#endif
