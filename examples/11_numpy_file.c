/* SPDX-License-Identifier: Apache-2.0
 *
 * 11: NumPy files. A file holds the full tensor, and each rank reads and writes its shard of it: no rank needs memory
 * for all of it. Here ranks read the columns of a matrix, compute the softmax of its rows, and write the result.
 *
 *     $ dtrun -n 4 ./11_numpy_file      # any number of ranks writes the same softmax.npy
 *     $ python3 -c 'import numpy; print(numpy.load("softmax.npy").sum(axis=1))'
 */
#include <dtensor/dtensor.h>

#include <stdio.h>

int main(void) {
    dt_ctx *ctx = dt_init(NULL);
    if (!ctx)
        return 1;
    bool first = dt_rank(ctx) == 0;
    dt_mesh *mesh = dt_mesh_new(ctx, "*");

    /* A file to start with; numpy.save("scores.npy", …) does as well. Saving returns on every rank when the file is
     * complete. */
    dt_save_npy(dt_randn(ctx, DT_SHAPE(6, 1000), .mesh = mesh, .place = "S(0)"), "scores.npy");

    /* Each rank reads its columns. */
    dt_tensor *scores = dt_load_npy(ctx, "scores.npy", .mesh = mesh, .place = "S(1)");

    /* A softmax needs the largest element and the sum of exponentials of each row: the ranks exchange these. */
    dt_comm_stats_begin(ctx);
    dt_tensor *y = dt_softmax(scores, -1);
    dt_comm_stats_end(ctx);
    dt_save_npy(y, "softmax.npy");

    /* Reductions of the result are partial or sharded; reading them adds up. */
    dt_tensor *sums = dt_full_tensor(dt_sum(y, .dim = DT_DIMS(1)));
    dt_tensor *largest = dt_full_tensor(dt_argmax(y, .dim = DT_INT(1)));
    for (int i = 0; first && sums && largest && i < 6; i++)
        printf("row %d: sum %.6f, largest at column %d\n", i, (double)((float *)dt_data(sums))[i],
               (int)((int64_t *)dt_data(largest))[i]);
    if (first && !dt_failed(ctx)) {
        dt_comm_statistics moved = dt_comm_stats(ctx, &(dt_comm_filter){.op = "softmax"});
        printf("moved: %d collective, %d bytes received\n", (int)moved.n, (int)moved.bytes);
    }
    dt_mesh_release(mesh);
    return dt_close(ctx);
}
