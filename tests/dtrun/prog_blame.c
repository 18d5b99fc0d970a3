/* SPDX-License-Identifier: Apache-2.0
 *
 * Rank 1 of four dies. On a mesh of 2x2 its neighbors along each dim get an error, the others a little later, because
 * a neighbor of theirs has failed. Every rank makes the same calls whether they fail or not.
 */
#include "dtensor/dtensor.h"

#include <unistd.h>

int main(void) {
    dt_ctx *ctx = dt_init(NULL);
    dt_mesh *mesh = dt_mesh_new(ctx, "dp=2,tp=2");
    dt_tensor *rows = dt_ones(ctx, DT_SHAPE(4, 4), .mesh = mesh, .place = "S(0),R");
    dt_tensor *columns = dt_ones(ctx, DT_SHAPE(4, 4), .mesh = mesh, .place = "R,S(0)");
    (void)dt_comm_barrier(dt_group_world(ctx));
    if (dt_rank(ctx) == 1)
        _exit(3);
    (void)dt_relu(dt_redistribute(columns, "R,R")); /* fails on rank 0 only */
    (void)dt_redistribute(dt_neg(rows), "R,R");
    return dt_close(ctx);
}
