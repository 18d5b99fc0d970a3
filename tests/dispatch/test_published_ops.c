/* SPDX-License-Identifier: Apache-2.0
 *
 * Published behaviors of makers that take a tensor, of losses and other decompositions, and of products: values are
 * those of plain tensors, and placements and numbers of collectives are the published ones, or those that
 * tests/conformance_deviations.md states.
 */
#include "dispatch/published.h"

static dt_tensor *filled_like(dt_tensor **in) { return dt_full_like(in[0], 42); }
static dt_tensor *ones_like(dt_tensor **in) { return dt_ones_like(in[0]); }
static dt_tensor *half_zeros_like(dt_tensor **in) { return dt_to(dt_zeros_like(in[0], .dtype = DT_BF16), DT_F32); }
static dt_tensor *filled(dt_tensor **in) { return dt_fill_(dt_clone(in[0]), 42); }
static dt_tensor *zeroed(dt_tensor **in) { return dt_zero_(dt_clone(in[0])); }
static dt_tensor *new_smaller(dt_tensor **in) { return dt_new_full(in[0], DT_SHAPE(4, 8), 3); }
static dt_tensor *new_equal(dt_tensor **in) { return dt_new_full(in[0], DT_SHAPE(12, 8), 3); }
static dt_tensor *new_ones(dt_tensor **in) { return dt_new_ones(in[0], DT_SHAPE(12, 8)); }
static dt_tensor *smallest(dt_tensor **in) { return dt_aminmax(in[0]).min; }
static dt_tensor *largest(dt_tensor **in) { return dt_aminmax(in[0]).max; }
static dt_tensor *bce(dt_tensor **in) {
    return dt_binary_cross_entropy_with_logits(in[0], dt_sigmoid(in[1]), .weight = dt_square(in[2]));
}
static dt_tensor *mse(dt_tensor **in) { return dt_mse_loss(in[0], in[1]); }
static dt_tensor *smooth_l1(dt_tensor **in) { return dt_smooth_l1_loss(in[0], in[1]); }
static dt_tensor *glu(dt_tensor **in) { return dt_glu(in[0]); }
static dt_tensor *index_add(dt_tensor **in) { return dt_index_add(in[0], 0, in[1], in[2]); }
static dt_tensor *heads(dt_tensor **in) { return dt_einsum("bld,dnh->blnh", DT_TENSORS(in[0], in[1])); }
static dt_tensor *squeezed(dt_tensor **in) { return dt_squeeze_dims(in[0], DT_DIMS(0)); }
/* [rows,pairs,2] times the angles [pairs,2], as complex numbers. */
static dt_tensor *rotated(dt_tensor **in) {
    return dt_view_as_real(dt_mul(dt_view_as_complex(in[0]), dt_view_as_complex(in[1])));
}

static const published cases[] = {
    {"TOP-011", "4", filled_like, {{{16, 8}, "S(0)", 0}}, "S(0)", 0},
    {"TOP-011", "4", ones_like, {{{16, 8}, "S(0)", 0}}, "S(0)", 0},
    {"TOP-011", "4", half_zeros_like, {{{16, 8}, "S(0)", 0}}, "S(0)", 0},
    {"TOP-011", "4", filled, {{{16, 8}, "S(0)", 0}}, "S(0)", 0},
    {"TOP-011", "4", zeroed, {{{16, 8}, "S(0)", 0}}, "S(0)", 0},
    {"TOP-012", "4", ones_like, {{{16, 8}, "P(sum)", 0}}, NULL, 0},
    {"TOP-012", "4", half_zeros_like, {{{16, 8}, "P(sum)", 0}}, NULL, 0},
    {"TOP-012", "4", filled, {{{16, 8}, "P(sum)", 0}}, "P(sum)", 0},
    {"TOP-014", "4", new_smaller, {{{12, 8}, "S(0)", 0}}, "R", 0},
    {"TOP-014", "4", new_smaller, {{{12, 8}, "R", 0}}, "R", 0},
    {"TOP-014", "4", new_equal, {{{12, 8}, "S(0)", 0}}, "S(0)", 0},
    {"TOP-014", "4", new_equal, {{{12, 8}, "R", 0}}, "R", 0},
    {"TOP-016", "4", new_ones, {{{12, 8}, "P(sum)", 0}}, NULL, 0},
    {"DEC-001", "4", smallest, {{{64}, "S(0)", 0}}, "P(min)", 0},
    {"DEC-001", "4", largest, {{{64}, "S(0)", 0}}, "P(max)", 0},
    {"DEC-001", "2,2", smallest, {{{16, 16}, "S(1),P(min)", 0}}, "P(min),P(min)", 1},
    {"DEC-001", "2,2", largest, {{{16, 16}, "S(1),P(min)", 0}}, "P(max),P(max)", 1},
    {"DEC-003", "4", bce, {{{8, 6}, "S(0)", 0}, {{8, 6}, "S(0)", 0}, {{8, 6}, "S(0)", 0}}, "P(sum)", 0},
    {"DEC-003", "4", mse, {{{8, 6}, "S(0)", 0}, {{8, 6}, "S(0)", 0}}, "P(sum)", 0},
    {"DEC-003", "2,2", smooth_l1, {{{8, 6}, "_S(0,2),S(0)", 0}, {{8, 6}, "_S(0,2),S(0)", 0}}, "P(sum),P(sum)", 0},
    {"DEC-003", "4", glu, {{{8, 4}, "P(sum)", 0}}, NULL, -1},
    {"DEC-003", "4", index_add, {{{4, 8}, "S(1)", 0}, {{3}, "R", 4}, {{3, 8}, "S(1)", 0}}, "S(1)", 0},
    {"DBG-008", "4,2", heads, {{{2, 3, 4}, "P(sum),R", 0}, {{4, 5, 6}, "R,P(sum)", 0}}, "P(sum),P(sum)", 0},
    {"VIEW-063", "3,2", squeezed, {{{1, 8}, "P(sum),S(1)", 0}}, "P(sum),S(0)", 0},
    {"VIEW-069", "4", squeezed, {{{1, 4}, "S(0)", 0}}, NULL, 1},
    {"MATH-038", "4", rotated, {{{8, 3, 2}, "S(0)", 0}, {{3, 2}, "R", 0}}, "S(0)", 0},
};

static int check_all(dt_ctx *ctx, void *arg) {
    return published_check(ctx, sizeof cases / sizeof *cases, cases, arg);
}

static void published__makers_and_decompositions(void **state) {
    (void)state;
    run_ranks(4, check_all, "4");
    run_ranks(4, check_all, "2,2");
    run_ranks(6, check_all, "3,2");
    run_ranks(8, check_all, "4,2");
}

/* TOP-011: local tensors have their shards' shapes, and the source keeps its dtype. */
static int check_shapes(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh = dt_mesh_new(ctx, "4");
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(16, 8), .mesh = mesh, .place = "S(0)");
    dt_tensor *made[] = {dt_empty_like(x), dt_ones_like(x), dt_zeros_like(x, .dtype = DT_BF16), dt_full_like(x, 42)};
    for (int i = 0; i < 4; i++) {
        CHECK(made[i], "maker %d: %s", i, dt_error_text(ctx));
        const int64_t *local = dt_tensor_local_shape(made[i]);
        CHECK(local[0] == 4 && local[1] == 8, "maker %d: [%d,%d]", i, (int)local[0], (int)local[1]);
        CHECK(dt_tensor_dtype(made[i]) == (i == 2 ? DT_BF16 : DT_F32), "maker %d", i);
    }
    CHECK(dt_tensor_dtype(x) == DT_F32, "the source");
    dt_mesh_release(mesh);
    return 0;
}

static void published__shapes_of_makers(void **state) {
    (void)state;
    run_ranks(4, check_shapes, NULL);
}

/* MATH-038: the gradient of a rotation is the rotation back, and nothing is sent. */
static int check_rotation(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh = dt_mesh_new(ctx, "4");
    const published_input x_of = {{8, 3, 2}, "S(0)", 0}, angles_of = {{3, 2}, "R", 0};
    dt_tensor *angles = published_value(ctx, &angles_of), *given = published_value(ctx, &x_of), *grads[2];
    dt_tensor *back = dt_view_as_real(dt_mul(dt_view_as_complex(given), dt_conj(dt_view_as_complex(angles))));
    CHECK_OK(ctx, dt_comm_stats_begin(ctx));
    dt_tensor *x = distributed(published_value(ctx, &x_of), mesh, "S(0)");
    CHECK_OK(ctx, dt_set_requires_grad(x, true));
    dt_tensor *y = rotated((dt_tensor *[]){x, distributed(angles, mesh, "R")});
    dt_tensor *loss = dt_mul(y, distributed(given, mesh, "S(0)"));
    CHECK(dt_gradients(DT_TENSORS(dt_sum(loss)), DT_TENSORS(x), grads) == DT_OK, "%s", dt_error_text(ctx));
    CHECK(n_collectives(ctx) == 0, "%lld collectives", (long long)n_collectives(ctx));
    dt_tensor *close = dt_allclose(dt_full_tensor(grads[0]), back, .rtol = DT_REAL(1e-6));
    CHECK(close && *(const bool *)dt_data(close), "the gradient differs: %s", dt_error_text(ctx));
    dt_mesh_release(mesh);
    return 0;
}

static void published__rotations_and_their_gradients(void **state) {
    (void)state;
    run_ranks(4, check_rotation, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(published__makers_and_decompositions),
                                       cmocka_unit_test(published__shapes_of_makers),
                                       cmocka_unit_test(published__rotations_and_their_gradients)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
