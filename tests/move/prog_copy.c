/* SPDX-License-Identifier: Apache-2.0
 *
 * Loads tensors from a file and saves them to another, for the test of files of NumPy:
 *     move.copy RANKS PLACE IN.npy OUT.npy
 *     move.copy RANKS PLACE IN.npz OUT.npz NAME…
 * RANKS is 0 for plain tensors without a mesh.
 */
#include "dtensor/dtensor.h"

#include <stdlib.h>
#include <string.h>

struct job {
    int64_t n_ranks;
    const char *place, *in, *out;
    int n;
    const char *const *names;
};

static int copy(dt_ctx *ctx, void *arg) {
    const struct job *job = arg;
    dt_mesh *mesh = job->n_ranks ? dt_mesh_from_shape(ctx, &job->n_ranks, 1, NULL) : NULL;
    const char *place = mesh ? job->place : NULL;
    dt_tensor *tensors[64];
    if (job->n == 0)
        return dt_save_npy(dt_load_npy(ctx, job->in, .mesh = mesh, .place = place), job->out) != DT_OK;
    for (int i = 0; i < job->n; i++)
        tensors[i] = dt_load_npz(ctx, job->in, job->names[i], .mesh = mesh, .place = place, .check = true);
    return dt_save_npz(job->out, job->n, job->names, tensors) != DT_OK;
}

int main(int n_args, char **args) {
    if (n_args < 5 || n_args > 60)
        return 2;
    struct job job = {atoi(args[1]), args[2], args[3], args[4], n_args - 5, (const char *const *)(args + 5)};
    char *error = NULL;
    if (job.n_ranks)
        return dt_spawn(job.n_ranks, copy, &job, &error) != DT_OK;
    dt_ctx *ctx = dt_init(NULL);
    copy(ctx, &job);
    return dt_close(ctx);
}
