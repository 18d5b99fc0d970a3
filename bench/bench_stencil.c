/* SPDX-License-Identifier: Apache-2.0
 *
 * Sweeps of stencil.h by dt_local_map with halos, on ranks that are forked here.
 *
 *     bench_stencil --ranks 2|4 [--quick]
 */
#include "stencil.h"

#include "dtensor/dtensor.h"

static dt_status sweep(dt_ctx *ctx, dt_tensor *const *inputs, dt_tensor **outputs, void *user) {
    (void)ctx, (void)user;
    bench_sweep(dt_data(outputs[0]), dt_tensor_strides(outputs[0])[0], dt_data(inputs[0]),
                dt_tensor_strides(inputs[0])[0], dt_tensor_size(outputs[0], 0), dt_tensor_size(outputs[0], 1));
    return DT_OK;
}

typedef struct measurement {
    dt_ctx *ctx;
    dt_tensor *u;
    const char *place;
} measurement;

static dt_tensor *next_of(const measurement *self) {
    dt_tensor *next = NULL;
    dt_status status = dt_local_map(self->ctx,
                                    &(dt_local_mapping){.run = sweep,
                                                        .n_inputs = 1,
                                                        .inputs = &self->u,
                                                        .n_outputs = 1,
                                                        .out = &self->place,
                                                        .halo = (const char *const[]){"1,1"}},
                                    &next);
    return status == DT_OK ? next : NULL;
}

static double repeat(void *user) {
    measurement *self = user;
    dt_group *world = dt_group_world(self->ctx);
    if (dt_comm_barrier(world) != DT_OK)
        return -1;
    double start = bench_now();
    dt_tensor *next = next_of(self);
    if (!next)
        return -1;
    dt_drop(self->u);
    self->u = next;
    double seconds = bench_now() - start;
    return dt_comm_all_reduce(world, &seconds, &seconds, 1, DT_F64, DT_MAX) == DT_OK ? seconds : -1;
}

static bool measure(dt_ctx *ctx, dt_mesh *mesh, int64_t grid, double budget_s) {
    measurement self = {ctx, NULL, dt_world(ctx) == 4 ? "S(0),S(1)" : "S(0)"};
    dt_tensor *u = dt_empty(ctx, DT_SHAPE(grid, grid), .dtype = DT_F64);
    for (int64_t i = 0; u && i < grid * grid; i++)
        ((double *)dt_data(u))[i] = bench_initial(i / grid, i % grid);
    self.u = dt_distribute_tensor(u, mesh, self.place, .everywhere = true);
    dt_drop(u);
    dt_tensor *first = self.u ? next_of(&self) : NULL;
    double sum = first ? dt_item(dt_sum(first)) : 0;
    dt_drop(first);
    double seconds = self.u ? bench_settle_sweep(budget_s, repeat, &self) : -1;
    dt_drop(self.u);
    if (seconds > 0 && dt_rank(ctx) == 0)
        bench_print_sweep("ours", (int)dt_world(ctx), grid, seconds, sum);
    return seconds > 0;
}

static int rank_main(dt_ctx *ctx, void *arg) {
    double budget_s = *(const bool *)arg ? 0.1 : 0.5;
    dt_mesh *mesh = dt_mesh_new(ctx, dt_world(ctx) == 4 ? "2,2" : "*");
    bool fine = mesh != NULL;
    bench_bind((int)dt_rank(ctx), (int)dt_world(ctx));
    for (int g = 0; g < BENCH_N_GRIDS && fine; g++)
        fine = measure(ctx, mesh, bench_grids[g], budget_s);
    dt_mesh_release(mesh);
    return fine ? 0 : 1;
}

int main(int argc, char **argv) {
    bool quick = argc == 4 && !strcmp(argv[3], "--quick");
    int ranks = argc >= 3 && !strcmp(argv[1], "--ranks") ? atoi(argv[2]) : 0;
    char *error = NULL;
    if ((ranks != 2 && ranks != 4) || (argc > 3 && !quick)) {
        fprintf(stderr, "usage: bench_stencil --ranks 2|4 [--quick]\n");
        return 2;
    }
    if (dt_spawn(ranks, rank_main, &quick, &error) == DT_OK)
        return 0;
    fprintf(stderr, "bench_stencil: %s\n", error ? error : "out of memory");
    free(error);
    return 1;
}
