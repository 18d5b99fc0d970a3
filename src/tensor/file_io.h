/* SPDX-License-Identifier: Apache-2.0
 *
 * Reading and writing files at given offsets, and the mapping between this rank's shard of a tensor and the file that
 * holds the full tensor.
 */
#ifndef DT_TENSOR_FILE_IO_H
#define DT_TENSOR_FILE_IO_H

#include "dtensor/tensor.h"
#include "tensor/file_call.h"

/* An open file, and what its errors name. */
typedef struct dt__file {
    dt_ctx *ctx;
    dt__file_call *call;
    const char *entry; /* of a .npz file; NULL: the file itself */
    int fd;
} dt__file;

/* Fails the call with the error "OP: PATH: TEXT", or "OP: PATH: entry ENTRY: TEXT". */
dt_status dt__file_fail(const dt__file *file, dt_status status, const char *format, ...) DT_PRINTF(3);

/* "directory", "FIFO" and so on, of a mode of fstat. */
const char *dt__file_kind(mode_t mode);

/* Opens the path of the call for reading; refuses anything but a regular file. The caller closes fd if it is not
 * negative. */
dt_status dt__file_open(dt__file *file, struct stat *info);

/* Exactly n bytes; anything less is an error of this rank. */
dt_status dt__file_read(const dt__file *file, int64_t at, void *out, size_t n);
dt_status dt__file_write(const dt__file *file, int64_t at, const void *in, size_t n);

/* The CRC-32 of n bytes of the file. */
dt_status dt__file_crc(const dt__file *file, int64_t at, int64_t n, uint32_t *out);

/* Called for each segment: bytes that are contiguous in the file and in memory. Any result but DT_OK ends the walk. */
typedef dt_status dt__segment_fn(void *user, int64_t file_at, size_t memory_at, size_t bytes);

/* Visits the segments of this rank's shard in ascending order of both offsets. The shard is dense in memory, and the
 * full tensor in the file, in row-major or, with fortran, column-major order. Offsets are relative to the start of the
 * data. */
dt_status dt__file_segments(const dt_tensor *tensor, bool fortran, dt__segment_fn *segment, void *user);
/* Visits, in row-major order, the segments that this rank writes: ranks with equal shards divide them, large ones by
 * parts and small ones in turns, by the number of the tensor. Each byte of a tensor is in the share of one rank. */
dt_status dt__file_shared_segments(const dt_tensor *tensor, int64_t turn, dt__segment_fn *segment, void *user);

/* What a part, with `after` bytes following it, contributes to a CRC-32, which is the exclusive or of the contributions
 * of all parts, in any order. */
uint32_t dt__crc_part(const void *part, size_t n, int64_t after);

#endif
