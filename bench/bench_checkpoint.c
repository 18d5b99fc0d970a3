/* SPDX-License-Identifier: Apache-2.0
 *
 * Saving and loading a checkpoint of a given size on this rank's world, by placement: rows
 * "ours RANKS PLACEMENT WHAT SECONDS", the fastest of some repeats. scripts/bench_checkpoint.sh starts it by dtrun, and
 * compares with dd and PyTorch.
 *
 *     bench_checkpoint FOLDER MEGABYTES REPEATS
 */
#include "comm/comm.h"
#include "dtensor/checkpoint.h"
#include "dtensor/comm.h"
#include "dtensor/ops.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N_TENSORS = 8, COLUMNS = 4096 };
enum what { LATER, COPY, SAVE_NPZ, SAVE, SAVE_SYNCED, LOAD, N_WHAT };
static const char *const words[N_WHAT] = {"later", "memcpy", "save_npz", "save", "save_synced", "load"};

typedef struct bench {
    dt_ctx *ctx;
    dt_params *params;
    const char *folder;
    dt_saving *saving;
    void *copies[N_TENSORS];
} bench;

/* From the first rank's start to the last rank's end. */
static double slowest(dt_ctx *ctx, double begin, double end) {
    double mine[] = {-begin, end}, all[2];
    dt_comm_all_reduce(dt_group_world(ctx), mine, all, 2, DT_F64, DT_MAX);
    return all[0] + all[1];
}

static void copy_local(bench *self) {
    for (int i = 0; i < N_TENSORS; i++) {
        const dt_tensor *tensor = dt_params_tensor(self->params, i);
        const size_t bytes = (size_t)dt_tensor_local_elements(tensor) * sizeof(float);
        if (!self->copies[i])
            self->copies[i] = malloc(bytes);
        memcpy(self->copies[i], dt_data(tensor), bytes);
    }
}

static void run(bench *self, enum what what) {
    if (what == SAVE || what == SAVE_SYNCED)
        dt_save(self->params, self->folder, 1, .unsynced = what == SAVE);
    else if (what == LOAD)
        dt_load(self->params, self->folder);
    else if (what == SAVE_NPZ)
        dt_params_save_npz(self->params, self->folder);
    else if (what == LATER)
        dt_save(self->params, self->folder, 2, .unsynced = true, .later = &self->saving);
    else
        copy_local(self);
}

/* Removing an older checkpoint is no part of a save. */
static void remove_run(const bench *self) {
    char command[1200];
    (void)snprintf(command, sizeof command, "rm -rf '%s'", self->folder);
    if (dt_rank(self->ctx) == 0 && system(command) != 0)
        dt_error_set(self->ctx, DT_ERR_SYSTEM, "%s", command);
}

static double measure(bench *self, enum what what, int n_repeats) {
    double best = 1e9;
    for (int i = 0; i <= n_repeats; i++) { /* the first one is not counted */
        if (what != LOAD)
            remove_run(self);
        dt_comm_barrier(dt_group_world(self->ctx));
        const double begin = (double)dt__now_ns() * 1e-9;
        run(self, what);
        const double seconds = slowest(self->ctx, begin, (double)dt__now_ns() * 1e-9);
        if (what == LATER)
            dt_saving_wait(self->saving);
        best = i && seconds < best ? seconds : best;
    }
    return best;
}

static void measure_placement(dt_ctx *ctx, const char *folder, int64_t megabytes, int n_repeats, const char *place) {
    char rules[32];
    dt_mesh *mesh = dt_mesh_new(ctx, "x=*");
    (void)snprintf(rules, sizeof rules, "* x=%s", place);
    bench self = {.ctx = ctx, .folder = folder, .params = dt_params_new(ctx, .mesh = mesh, .rules = rules)};
    for (int i = 0; i < N_TENSORS; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "w%d", i);
        dt_param(self.params, name, DT_SHAPE((megabytes << 20) / N_TENSORS / COLUMNS / 4, COLUMNS),
                 .value = DT_REAL(i));
    }
    for (int what = 0; what < N_WHAT && !dt_failed(ctx); what++) {
        const double seconds = measure(&self, (enum what)what, n_repeats);
        if (dt_rank(ctx) == 0)
            printf("ours\t%lld\t%s\t%s\t%.4f\n", (long long)dt_world(ctx), place, words[what], seconds);
        (void)fflush(stdout);
    }
    for (int i = 0; i < N_TENSORS; i++)
        free(self.copies[i]);
    dt_params_free(self.params);
    dt_mesh_release(mesh);
}

int main(int argc, char **argv) {
    static const char *const places[] = {"R", "S(0)", "S(1)"};
    dt_ctx *ctx = dt_init(NULL);
    if (argc != 4)
        return 2;
    for (int i = 0; i < (dt_world(ctx) > 1 ? 3 : 1) && !dt_failed(ctx); i++)
        measure_placement(ctx, argv[1], atoll(argv[2]), atoi(argv[3]), places[i]);
    return dt_close(ctx);
}
