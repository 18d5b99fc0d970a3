/* SPDX-License-Identifier: Apache-2.0
 *
 * 19: Gaussian processes. Each rank fits its part of a batch of regressions: the lengths over which curves are smooth
 * are found by the gradient of the likelihood, which needs a Cholesky factor, triangular systems and a determinant of
 * every covariance matrix. The batch is sharded, so that no matrix moves.
 *
 *     $ dtrun -n 3 ./19_gaussian_process       # any number of ranks computes the same
 */
#include <dtensor/dtensor.h>

#include <stdio.h>

enum { CURVES = 5, POINTS = 24, STEPS = 60 };
static const double noise = 0.05;

/* exp(-(a - b)² / 2 l²) of each pair of points of a [1,m] and b [1,n]: [CURVES,m,n]. */
static dt_tensor *covariance(dt_tensor *a, dt_tensor *b, dt_tensor *log_length) {
    dt_tensor *distance = dt_sub(dt_unsqueeze(a, -1), dt_unsqueeze(b, -2));
    dt_tensor *scale = dt_unsqueeze(dt_unsqueeze(dt_exp(dt_mul_scalar(log_length, -2)), -1), -1);
    return dt_exp(dt_mul(dt_mul_scalar(dt_square(distance), -0.5), scale));
}

int main(void) {
    dt_ctx *ctx = dt_init(NULL);
    if (!ctx)
        return 1;
    dt_mesh *mesh = dt_mesh_new(ctx, "batch=*");

    /* Curve c is sin((c + 1) x), at the same points for all. */
    dt_tensor *x = dt_unsqueeze(dt_linspace(ctx, 0, 3, POINTS, .dtype = DT_F64, .mesh = mesh), 0);
    dt_tensor *rate = dt_redistribute(dt_linspace(ctx, 1, CURVES, CURVES, .dtype = DT_F64, .mesh = mesh), "S(0)");
    dt_tensor *y = dt_unsqueeze(dt_sin(dt_mul(dt_unsqueeze(rate, -1), x)), -1); /* [CURVES,POINTS,1] */
    dt_tensor *noises = dt_mul_scalar(dt_eye(ctx, POINTS, POINTS, .dtype = DT_F64, .mesh = mesh), noise * noise);
    dt_tensor *log_length =
        dt_zeros(ctx, DT_SHAPE(CURVES), .dtype = DT_F64, .mesh = mesh, .place = "S(0)", .requires_grad = true);

    dt_optimizer *adam = dt_adam_new(ctx, 0.1);
    dt_comm_policy(ctx, DT_COMM_ERROR); /* nothing moves */
    for (int step = 0; step < STEPS && !dt_failed(ctx); step++) {
        dt_scope scope = dt_scope_begin(ctx);
        dt_tensor *k = dt_add(covariance(x, x, log_length), noises);
        dt_tensor *z = dt_linalg_solve_triangular(dt_linalg_cholesky(k), y, false);
        dt_tensor *misfit = dt_sum(dt_square(z), .dim = DT_DIMS(-2, -1)); /* yᵀ K⁻¹ y */
        dt_tensor *loss = dt_sum(dt_add(misfit, dt_logdet(k)));           /* minus twice the log-likelihood */
        dt_zero_grad(DT_TENSORS(log_length));
        dt_backward(loss);
        dt_optimizer_step(adam, .parameters = DT_TENSORS(log_length));
        dt_scope_end(scope);
    }

    /* Between the points: K(s, x) K⁻¹ y. */
    dt_tensor *at = dt_unsqueeze(dt_linspace(ctx, 0.4, 2.6, 5, .dtype = DT_F64, .mesh = mesh), 0);
    dt_tensor *l = dt_linalg_cholesky(dt_add(covariance(x, x, log_length), noises));
    dt_tensor *found = dt_matmul(covariance(at, x, log_length), dt_cholesky_solve(y, l));
    dt_tensor *expected = dt_unsqueeze(dt_sin(dt_mul(dt_unsqueeze(rate, -1), at)), -1);
    dt_tensor *error = dt_amax(dt_abs(dt_sub(found, expected)), .dim = DT_DIMS(-2, -1));
    dt_comm_policy(ctx, DT_COMM_ALLOW);
    const double *lengths = dt_data(dt_full_tensor(dt_exp(log_length)));
    const double *errors = dt_data(dt_full_tensor(error));
    for (int c = 0; c < CURVES && dt_rank(ctx) == 0 && lengths && errors; c++)
        printf("sin(%d x): length %.2f, largest error %s 0.01\n", c + 1, lengths[c],
               errors[c] < 0.01 ? "below" : "above");
    dt_mesh_release(mesh);
    return dt_close(ctx);
}
