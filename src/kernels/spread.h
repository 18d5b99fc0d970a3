/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies and fills that the threads of a pool share where they are large. Work is cut by elements of the result, so the
 * bits do not depend on how many threads there are.
 */
#ifndef DT_KERNELS_SPREAD_H
#define DT_KERNELS_SPREAD_H

#include "kernels/kernel_table.h"
#include "kernels/thread_pool.h"

enum { DT__SPREAD_BYTES = 1 << 19 }; /* that are worth a thread */

/* Pieces that so many bytes are cut into: 1 where they are few, or where there is one thread. */
static inline int64_t dt__spread_pieces(int n_threads, int64_t bytes) {
    return bytes < 2 * DT__SPREAD_BYTES || n_threads == 1 ? 1 : bytes / DT__SPREAD_BYTES;
}

/* The dim to cut into so many pieces: of those that are long enough the one along which dst moves farthest, so that
 * threads write apart; the longest where none is. There is at least one dim. */
int dt__spread_dim(int n_dims, const int64_t *sizes, const int64_t *dst_strides, int64_t n_pieces);

void dt__spread_copy(const dt__kernels *kernels, dt__pool *pool, const dt__strided *args, dt__store store);
/* n times the value, one after another. */
void dt__spread_fill(const dt__kernels *kernels, dt__pool *pool, void *dst, const void *value, size_t value_bytes,
                     int64_t n);

#endif
