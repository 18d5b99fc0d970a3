/* SPDX-License-Identifier: Apache-2.0
 *
 * 15: a stencil of your own. The steady temperature of a plate with cold edges and a heat source is found by Jacobi
 * sweeps: each point becomes the mean of its four neighbors, plus the source. The grid is cut into blocks; the loop is
 * written for a block, and dt_local_map brings the rows and columns around it that other ranks hold. Slices of the
 * whole grid, as in NumPy, need no loop, but each makes a temporary. If a file is named, the temperatures are saved to
 * it for NumPy.
 *
 *     $ dtrun -n 4 ./15_jacobi        # any number of ranks computes the same
 */
#include <dtensor/dtensor.h>

#include <math.h>
#include <stdio.h>

enum { N = 30, SWEEPS = 2000 };

/* Fills a part of the new grid. The old one has a halo of one point: u[0] is above and to the left of next[0], and
 * beyond the edges of the plate it is 0. The source has no halo. The arrays are parts of larger ones: rows are a stride
 * apart. */
static dt_status sweep(dt_ctx *ctx, dt_tensor *const *inputs, dt_tensor **outputs, void *user) {
    int64_t u_stride = dt_tensor_strides(inputs[0])[0], source_stride = dt_tensor_strides(inputs[1])[0];
    int64_t rows = dt_tensor_size(outputs[0], 0), columns = dt_tensor_size(outputs[0], 1);
    int64_t stride = dt_tensor_strides(outputs[0])[0];
    const double *u = dt_data(inputs[0]), *source = dt_data(inputs[1]);
    double *next = dt_data(outputs[0]);
    (void)ctx, (void)user;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++) {
            const double *here = u + (i + 1) * u_stride + j + 1;
            next[i * stride + j] =
                0.25 * (here[-u_stride] + here[u_stride] + here[-1] + here[1] + source[i * source_stride + j]);
        }
    return DT_OK;
}

/* The same sweep of the whole grid by slices. */
static dt_tensor *sweep_by_slices(dt_tensor *u, dt_tensor *source) {
    dt_tensor *wide = dt_pad(u, DT_INTS(1, 1, 1, 1)); /* zeros beyond the edges */
    dt_tensor *above_below = dt_add(dt_at(wide, ":-2, 1:-1"), dt_at(wide, "2:, 1:-1"));
    dt_tensor *sides = dt_add(dt_at(wide, "1:-1, :-2"), dt_at(wide, "1:-1, 2:"));
    return dt_mul_scalar(dt_add(dt_add(above_below, sides), source), 0.25);
}

static dt_tensor *sweep_by_blocks(dt_tensor *u, dt_tensor *source, const char *place) {
    dt_tensor *next = NULL;
    const dt_local_mapping mapping = {.run = sweep,
                                      .n_inputs = 2,
                                      .inputs = (dt_tensor *const[]){u, source},
                                      .halo = (const char *const[]){"1,1", "0,0"},
                                      .n_outputs = 1,
                                      .out = &place};
    return dt_local_map(dt_tensor_ctx(u), &mapping, &next) == DT_OK ? next : NULL;
}

int main(int argc, char **argv) {
    dt_ctx *ctx = dt_init(NULL);
    if (!ctx)
        return 1;
    dt_mesh *mesh = dt_mesh_new(ctx, dt_world(ctx) % 2 ? "rows=1,columns=*" : "rows=2,columns=*");
    const char *place = "S(0),S(1)";

    /* A source for which the answer is known: sin(x) sin(y), with the edges at 0 and pi. */
    double h = acos(-1) / (N + 1);
    dt_tensor *x = dt_sin(dt_mul_scalar(dt_arange(ctx, 1, N + 1, 1, .dtype = DT_F64), DT_NUMBER(h)));
    dt_tensor *answer = dt_distribute_tensor(dt_outer(x, x), mesh, place);
    dt_tensor *source = dt_mul_scalar(answer, DT_NUMBER(4 - 4 * cos(h)));

    dt_tensor *u = dt_zeros(ctx, DT_SHAPE(N, N), .dtype = DT_F64, .mesh = mesh, .place = place);
    if (dt_comm_stats_begin(ctx) != DT_OK)
        return dt_close(ctx);
    for (int i = 0; i < SWEEPS && !dt_failed(ctx); i++) {
        dt_tensor *next = sweep_by_blocks(u, source, place);
        dt_drop(u);
        u = next;
    }
    dt_comm_statistics sent = dt_comm_stats(ctx, NULL);
    dt_comm_stats_end(ctx);
    double error = dt_item(dt_amax(dt_abs(dt_sub(u, answer))));
    dt_tensor *next = sweep_by_blocks(u, source, place);
    double difference = dt_item(dt_amax(dt_abs(dt_sub(sweep_by_slices(u, source), next))));
    if (argc > 1)
        (void)dt_save_npy(u, argv[1]);
    if (dt_rank(ctx) == 0 && !dt_failed(ctx)) {
        printf("after %d sweeps the largest error is %.1e\n", SWEEPS, error);
        printf("a sweep by slices gives %s values\n", difference < 1e-15 ? "the same" : "other");
        printf("moved: %lld bytes to rank 0 in each sweep\n", (long long)(sent.bytes / SWEEPS));
    }
    dt_mesh_release(mesh);
    return dt_close(ctx);
}
