/* SPDX-License-Identifier: Apache-2.0
 *
 * 13: C++17. Options are written dt::place = "S(0)" instead of .place = "S(0)"; contexts and scopes are guards. A power
 * iteration finds the largest eigenvalue of a symmetric matrix.
 *
 *     $ dtrun -n 4 ./13_power_iteration           # any number of ranks computes the same
 */
#include <dtensor/dtensor.hpp>

#include <cmath>
#include <cstdio>

static double norm(dt_tensor *x) { return std::sqrt(dt_item(dt_sum(dt_mul(x, x)))); }

int main() {
    dt::context ctx;
    dt_mesh *mesh = dt_mesh_new(ctx, "*"); // freed with the context

    /* a = c + c^T, sharded by rows: a product with a replicated vector needs no transfer. */
    dt_tensor *c = dt_rand(ctx, DT_SHAPE(50, 50), dt::dtype = DT_F64, dt::mesh = mesh, dt::place = "R");
    dt_tensor *a = dt_redistribute(dt_add(c, dt_transpose(c, 0, 1)), "S(0)");
    auto x =
        dt::ref<dt_tensor>::share(dt_ones(ctx, DT_SHAPE(50), dt::dtype = DT_F64, dt::mesh = mesh, dt::place = "R"));

    double eigenvalue = 0, previous = -1;
    int steps = 0;
    for (; std::abs(eigenvalue - previous) > 1e-9 && !dt_failed(ctx); steps++) {
        dt::scope step(ctx); /* frees the tensors made in it; x keeps its new one and releases the old */
        dt_tensor *y = dt_matmul(a, x);
        previous = eigenvalue;
        eigenvalue = norm(y);
        x = dt::ref<dt_tensor>::share(dt_redistribute(dt_mul_scalar(y, 1 / eigenvalue), "R"));
    }
    if (dt_rank(ctx) == 0 && !dt_failed(ctx))
        std::printf("largest eigenvalue %.6f after %d steps\n", eigenvalue, steps);
    return ctx.close();
}
