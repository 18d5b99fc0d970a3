/* SPDX-License-Identifier: Apache-2.0
 *
 * Saves some megabytes repeatedly, for tests that interrupt it:
 *     move.save named|unnamed FILE.npz
 * saves until it is ended; rank 0 prints "ready" after the first save.
 *     move.save limit RANK FILE.npz
 * saves once; files of that rank are limited to 1000 bytes.
 */
#include "dtensor/dtensor.h"
#include "move/save_npy.h"
#include "tensor/tensor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

int main(int n_args, char **args) {
    if (n_args < 3)
        return 2;
    dt_ctx *ctx = dt_init(NULL);
    bool once = !strcmp(args[1], "limit");
    const char *path = args[n_args - 1];
    dt__save_options options = {.limit = DT__ZIP_LIMIT, .named = !strcmp(args[1], "named")};
    int64_t n = dt_world(ctx);
    dt_mesh *mesh = dt_mesh_from_shape(ctx, &n, 1, NULL);
    dt_tensor *tensors[] = {dt_ones(ctx, DT_SHAPE(1000, 1001), .mesh = mesh, .place = "S(0)"),
                            dt_ones(ctx, DT_SHAPE(7), .mesh = mesh, .place = "P(sum)")};
    if (once && dt_rank(ctx) == atoi(args[2]))
        (void)setrlimit(RLIMIT_FSIZE, &(struct rlimit){1000, RLIM_INFINITY});
    for (int i = 0; !dt_failed(ctx) && !(once && i); i++) {
        (void)dt__save_npz(path, 2, (const char *[]){"large", "small"}, tensors, &options);
        if (i == 0 && dt_rank(ctx) == 0 && !dt_failed(ctx)) {
            (void)puts("ready");
            (void)fflush(stdout);
        }
    }
    dt_mesh_release(mesh);
    return dt_close(ctx);
}
