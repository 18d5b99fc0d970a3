/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies and fills, in parallel on the threads of a pool if they are large. Work is split by elements of the result, so
 * the result does not depend on the number of threads.
 */
#ifndef DT_KERNELS_SPREAD_H
#define DT_KERNELS_SPREAD_H

#include "kernels/kernel_table.h"
#include "kernels/thread_pool.h"

enum { DT__SPREAD_BYTES = 1 << 19 }; /* that are worth a thread */

/* The number of pieces to split so many bytes into: 1 if they are few, or if there is one thread. */
static inline int64_t dt__spread_pieces(int n_threads, int64_t bytes) {
    return bytes < 2 * DT__SPREAD_BYTES || n_threads == 1 ? 1 : bytes / DT__SPREAD_BYTES;
}

/* The dim to split into so many pieces: of those that are long enough, the one with the largest stride of dst, so that
 * threads write far apart; if none is, the longest. There is at least one dim. */
int dt__spread_dim(int n_dims, const int64_t *sizes, const int64_t *dst_strides, int64_t n_pieces);

void dt__spread_copy(const dt__kernels *kernels, dt__pool *pool, const dt__strided *args, dt__store store);
/* Writes n copies of the value. */
void dt__spread_fill(const dt__kernels *kernels, dt__pool *pool, void *dst, const void *value, size_t value_bytes,
                     int64_t n);

#endif
