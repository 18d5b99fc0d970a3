/* SPDX-License-Identifier: Apache-2.0
 *
 * What tests of published behaviors share: tensors that count up, placed without a transfer, and the number of
 * collectives.
 */
#ifndef DT_TESTS_DISPATCH_PUBLISHED_H
#define DT_TESTS_DISPATCH_PUBLISHED_H

#include "tensor/tensors.h"

#include "dtensor/debug.h"

static inline dt_tensor *counting(dt_ctx *ctx, dt_shape shape) {
    int64_t n = 1;
    for (int d = 0; d < shape.n; d++)
        n *= shape.sizes[d];
    return dt_reshape(dt_arange(ctx, 0, (double)n, 1), shape);
}

static inline dt_tensor *distributed(dt_tensor *value, dt_mesh *mesh, const char *place) {
    return dt_distribute_tensor(value, mesh, place, .everywhere = true);
}

static inline int64_t n_collectives(const dt_ctx *ctx) { return dt_comm_stats(ctx, &(dt_comm_filter){.op = NULL}).n; }

#endif
