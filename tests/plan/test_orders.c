/* SPDX-License-Identifier: Apache-2.0
 *
 * All orders in which the mesh dims of a mesh may cut a tensor, every mesh dim cutting something: how many there
 * are, that they differ, and that a detour never pays between them.
 */
#include "support/check.h"

#include "mesh/mesh.h"
#include "plan/plan.h"
#include "spec/spec.h"

#include <stdio.h>
#include <string.h>

enum { N_MESH_DIMS = 3, MOST_ORDERS = 200 };

/* Which tensor dim each mesh dim cuts, and its position in that dim's order. */
typedef struct order {
    int dim[N_MESH_DIMS], position[N_MESH_DIMS];
} order;

typedef struct orders {
    int n_dims, n;
    order items[MOST_ORDERS];
} orders;

static bool is_order(const order *o, int n_dims) {
    for (int d = 0; d < n_dims; d++) {
        int n = 0, seen = 0;
        for (int m = 0; m < N_MESH_DIMS; m++)
            if (o->dim[m] == d) {
                seen |= 1 << o->position[m];
                n++;
            }
        if (seen != (1 << n) - 1)
            return false;
    }
    return true;
}

/* Every choice of a dim and a position per mesh dim, as digits of a number. */
static void list_orders(int n_dims, orders *out) {
    int choices = n_dims * N_MESH_DIMS, all = choices * choices * choices;
    *out = (orders){.n_dims = n_dims};
    for (int i = 0; i < all; i++) {
        order o;
        for (int m = 0, left = i; m < N_MESH_DIMS; m++, left /= choices) {
            o.dim[m] = left % choices / N_MESH_DIMS;
            o.position[m] = left % N_MESH_DIMS;
        }
        if (is_order(&o, n_dims)) {
            assert_true(out->n < MOST_ORDERS);
            out->items[out->n++] = o;
        }
    }
}

static void read_order(const order *o, dt_placement *out) {
    for (int m = 0; m < N_MESH_DIMS; m++) {
        out[m] = dt_placement_shard(o->dim[m]);
        out[m].ordered = true;
        out[m].position = o->position[m];
    }
}

/* Specs are interned, so different pointers are different specs. */
static void orders__have_the_expected_number(void **state) {
    static const int64_t shape[4] = {24, 24, 24, 24};
    (void)state;
    for (int n_dims = 2; n_dims <= 4; n_dims++) { /* RED-035 */
        static orders all;
        dt_ctx *ctx = dt__ctx_new(NULL);
        ctx->world = 8;
        dt_mesh *mesh = dt_mesh_new(ctx, "2x2x2");
        dt_spec *specs[MOST_ORDERS];
        list_orders(n_dims, &all);
        assert_int_equal(all.n, n_dims == 2 ? 24 : n_dims == 3 ? 60 : 120);
        for (int i = 0; i < all.n; i++) {
            dt_placement placements[N_MESH_DIMS];
            read_order(&all.items[i], placements);
            specs[i] = dt_spec_new(
                mesh, &(dt_spec_desc){
                          .shape = shape, .n_dims = n_dims, .placements = placements, .n_placements = N_MESH_DIMS});
            assert_non_null(specs[i]);
            for (int j = 0; j < i; j++)
                assert_ptr_not_equal(specs[i], specs[j]);
        }
        for (int i = 0; i < all.n; i++)
            dt_spec_release(specs[i]);
        dt_mesh_release(mesh);
        dt__ctx_free(ctx);
    }
}

/* What it costs from each order to each. */
typedef struct costs {
    orders all;
    double us[MOST_ORDERS][MOST_ORDERS];
} costs;

static void make_sharding(dt__arena *arena, const order *o, int n_dims, const int64_t *shape, dt__sharding *out) {
    static const int64_t mesh[N_MESH_DIMS] = {2, 2, 2};
    dt_placement placements[N_MESH_DIMS];
    read_order(o, placements);
    dt__sharding_desc desc = {.n_mesh_dims = N_MESH_DIMS,
                              .mesh = mesh,
                              .n_dims = n_dims,
                              .shape = shape,
                              .n_placements = N_MESH_DIMS,
                              .placements = placements};
    assert_int_equal(dt__sharding_new(arena, &desc, out), DT_OK);
}

static void find_costs(int n_dims, const int64_t *shape, costs *out) {
    static dt__sharding shardings[MOST_ORDERS];
    dt_ctx *ctx = dt__ctx_new(NULL);
    dt__arena kept = dt__arena_new(ctx);
    list_orders(n_dims, &out->all);
    for (int i = 0; i < out->all.n; i++)
        make_sharding(&kept, &out->all.items[i], n_dims, shape, &shardings[i]);
    for (int i = 0; i < out->all.n; i++)
        for (int j = 0; j < out->all.n; j++) {
            dt__arena arena = dt__arena_new(ctx);
            dt__plan plan;
            dt__move move = {.from = &shardings[i], .to = &shardings[j], .item_bytes = 4};
            assert_int_equal(dt__plan_new(&arena, &move, DT__PLANNER_MIN_COST, &dt__machine_builtin, &plan), DT_OK);
            out->us[i][j] = plan.cost_us;
            dt__arena_free(&arena);
        }
    dt__arena_free(&kept);
    dt__ctx_free(ctx);
}

static void detours__never_pay(void **state) {
    static const int64_t matrix[] = {16, 8}, cube[] = {13, 2, 13};
    static costs found;
    (void)state;
    for (int i = 0; i < 2; i++) { /* RED-038, for all orders and all detours */
        find_costs(i ? 3 : 2, i ? cube : matrix, &found);
        for (int a = 0; a < found.all.n; a++)
            for (int b = 0; b < found.all.n; b++)
                for (int x = 0; x < found.all.n; x++)
                    if (found.us[a][b] > (found.us[a][x] + found.us[x][b]) * (1 + 1e-9))
                        fail_msg("%d dims, order %d to %d: %g us, by way of %d only %g", i ? 3 : 2, a, b,
                                 found.us[a][b], x, found.us[a][x] + found.us[x][b]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orders__have_the_expected_number),
        cmocka_unit_test(detours__never_pay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
