/* SPDX-License-Identifier: Apache-2.0
 *
 * Rank 1 of four dies, stops or fails, as the argument says. On a mesh of 2x2 its neighbors along each dim get an
 * error, the others a little later, because a neighbor of theirs has failed. Every rank makes the same calls whether
 * they fail or not.
 */
#include "dtensor/dtensor.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

static void have_trouble(dt_ctx *ctx, const char *kind) {
    if (strcmp(kind, "die") == 0)
        _exit(3);
    if (strcmp(kind, "stop") == 0)
        kill(getpid(), SIGSTOP);
    if (strcmp(kind, "fail") == 0)
        dt_error_set(ctx, DT_ERR_SYSTEM, "trouble of one rank");
}

int main(int argc, char **argv) {
    dt_ctx *ctx = dt_init(NULL);
    dt_mesh *mesh = dt_mesh_new(ctx, "dp=2,tp=2");
    dt_tensor *rows = dt_ones(ctx, DT_SHAPE(4, 4), .mesh = mesh, .place = "S(0),R");
    dt_tensor *columns = dt_ones(ctx, DT_SHAPE(4, 4), .mesh = mesh, .place = "R,S(0)");
    (void)dt_comm_barrier(dt_group_world(ctx));
    if (dt_rank(ctx) == 1)
        have_trouble(ctx, argc > 1 ? argv[1] : "");
    (void)dt_relu(dt_redistribute(columns, "R,R")); /* fails on rank 0 only */
    (void)dt_redistribute(dt_neg(rows), "R,R");
    return dt_close(ctx);
}
