/* SPDX-License-Identifier: Apache-2.0
 *
 * Products of Householder reflectors: the kernels compared with the matrix products that recorded calls run, in every
 * dtype, for any tau and for matrices without elements; columns of the other matrix, which do not depend on each other,
 * also where reflectors are not finite; and shards of them, which send nothing. All of it with LAPACK, and by our own
 * code.
 */
#include "support/ranks.h"

#include "dtensor/debug.h"
#include "dtensor/dtensor.h"
#include "kernels/kernels.h"

#include <inttypes.h>
#include <math.h>

static const dt_dtype dtypes[] = {DT_F32, DT_F64, DT_C64, DT_C128};

/* Reflectors [m,n] of about length 1, k scales, and another matrix. 40 is more than LAPACK's block. */
static const struct {
    int64_t m, n, k, columns;
} sizes[] = {{5, 3, 3, 2}, {6, 4, 2, 3}, {1, 1, 1, 1}, {3, 3, 0, 2},
             {4, 0, 0, 2}, {0, 0, 0, 3}, {5, 5, 5, 0}, {70, 45, 40, 50}};

static double largest(dt_tensor *x) { return dt_tensor_elements(x) ? dt_item(dt_max(dt_abs(x))) : 0; }

static dt_tensor *noise(dt_ctx *ctx, dt_dtype dtype, int64_t rows, int64_t columns, double scale) {
    dt_tensor *real = dt_mul_scalar(dt_randn(ctx, DT_SHAPE(2, rows, columns, 2), .dtype = DT_F64), DT_NUMBER(scale));
    const bool is_complex = dtype == DT_C64 || dtype == DT_C128;
    return dt_to(is_complex ? dt_view_as_complex(real) : dt_select(real, -1, 0), dtype);
}

/* 0: the product of reflectors; then from the left and from the right, of Q and of its adjoint. */
enum { N_PRODUCTS = 5 };
static dt_tensor *product(int i, dt_tensor *a, dt_tensor *tau, dt_tensor *c) {
    const bool left = i < 3;
    return i == 0 ? dt_linalg_householder_product(a, tau)
                  : dt_ormqr(a, tau, left ? c : dt_transpose(c, -2, -1), .left = left ? DT_TRUE : DT_FALSE,
                             .transpose = i % 2 == 0);
}

static int compare_with_formula(dt_ctx *ctx, void *arg) {
    (void)arg;
    for (size_t t = 0; t < 4; t++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            const bool is_single = dtypes[t] == DT_F32 || dtypes[t] == DT_C64;
            const int64_t m = sizes[s].m, k = sizes[s].k;
            dt_tensor *a = noise(ctx, dtypes[t], m, sizes[s].n, 1 / sqrt((double)m + 1));
            dt_tensor *tau = dt_select(noise(ctx, dtypes[t], k, 1, 0.5), -1, 0);
            dt_tensor *c = noise(ctx, dtypes[t], m, sizes[s].columns, 1), *formula = dt_clone(tau);
            dt_set_requires_grad(formula, true);
            for (int i = 0; i < N_PRODUCTS; i++) {
                dt_tensor *result = product(i, a, tau, c), *expected = product(i, a, formula, c);
                CHECK(result && expected, "%s", dt_error_text(ctx));
                dt_tensor *difference = dt_sub(result, dt_detach(expected));
                const double error = largest(difference), size = 1 + largest(result);
                CHECK(error <= (is_single ? 1e-5 : 1e-13) * size, "%s, sizes %zu, product %d: differs by %g of %g",
                      dt_dtype_name(dtypes[t]), s, i, error, size);
            }
        }
    return 0;
}

static void products__are_those_of_the_formula(void **state) {
    (void)state;
    run_ranks(1, compare_with_formula, NULL);
}

/* LAPACK skips columns of zeros at the end. The second of four columns is one only among the first two. */
static int split_columns(dt_ctx *ctx, void *arg) {
    (void)arg;
    for (size_t t = 0; t < 4; t++)
        for (int i = 1; i < N_PRODUCTS; i++) {
            dt_tensor *a = noise(ctx, dtypes[t], 5, 3, 1), *c = noise(ctx, dtypes[t], 5, 4, 1);
            dt_tensor *tau = dt_select(noise(ctx, dtypes[t], 3, 1, 1), -1, 0);
            dt_fill_(dt_narrow(dt_narrow(a, -2, 4, 1), -1, 1, 1), NAN);
            dt_zero_(dt_narrow(c, -1, 1, 2));
            dt_tensor *whole = product(i, a, tau, c);
            for (int64_t first = 0; first < 4; first += 2) {
                dt_tensor *part = product(i, a, tau, dt_narrow(c, -1, first, 2));
                CHECK(whole && part, "%s", dt_error_text(ctx));
                dt_tensor *same = dt_eq(dt_isnan(part), dt_isnan(dt_narrow(whole, i < 3 ? -1 : -2, first, 2)));
                CHECK(dt_item(dt_all(same)) == 1, "%s, product %d: NaN of columns %" PRId64 " and %" PRId64 " differ",
                      dt_dtype_name(dtypes[t]), i, first, first + 1);
            }
        }
    return 0;
}

static void columns__do_not_depend_on_others(void **state) {
    (void)state;
    run_ranks(1, split_columns, NULL);
}

static int shard_columns(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh = dt_mesh_new(ctx, "*");
    dt_tensor *x = noise(ctx, DT_F64, 6, 3, 0.5), *terms = dt_randn(ctx, DT_SHAPE(4, 2, 6, 5), .dtype = DT_F64);
    dt_tensor *tau = dt_randn(ctx, DT_SHAPE(2, 3), .dtype = DT_F64), *c = dt_sum(terms, .dim = DT_DIMS(0));
    dt_tensor *on[] = {dt_distribute_tensor(x, mesh, "R", .everywhere = true),
                       dt_distribute_tensor(tau, mesh, "R", .everywhere = true),
                       dt_distribute_tensor(c, mesh, "S(2)", .everywhere = true),
                       dt_distribute_tensor(terms, mesh, "S(0)", .everywhere = true)};
    for (int i = 1; i < N_PRODUCTS; i++) {
        dt_tensor *whole = product(i, x, tau, c);
        CHECK_OK(ctx, dt_comm_policy(ctx, DT_COMM_ERROR));
        dt_tensor *shards = product(i, on[0], on[1], on[2]),
                  *partial = product(i, on[0], on[1], dt_sum(on[3], .dim = DT_DIMS(0)));
        CHECK_OK(ctx, dt_comm_policy(ctx, DT_COMM_ALLOW));
        CHECK(whole && shards && partial, "product %d: %s", i, dt_error_text(ctx));
        CHECK(largest(dt_sub(dt_full_tensor(shards), whole)) < 1e-12, "product %d of shards differs", i);
        CHECK(largest(dt_sub(dt_full_tensor(partial), whole)) < 1e-12, "product %d of a partial sum differs", i);
    }
    dt_mesh_release(mesh);
    return 0;
}

static void columns__and_terms_are_sharded_without_communication(void **state) {
    (void)state;
    run_ranks(1, shard_columns, NULL);
    run_ranks(3, shard_columns, NULL);
    run_ranks(7, shard_columns, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products__are_those_of_the_formula),
        cmocka_unit_test(columns__do_not_depend_on_others),
        cmocka_unit_test(columns__and_terms_are_sharded_without_communication),
    };
    int n_failed = cmocka_run_group_tests(tests, NULL, NULL);
    dt__lapack_use_library(false);
    return n_failed + cmocka_run_group_tests_name("without LAPACK", tests, NULL, NULL);
}
