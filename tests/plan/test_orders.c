/* SPDX-License-Identifier: Apache-2.0
 *
 * All orders in which the mesh dims of a mesh can shard a tensor, if every mesh dim shards some tensor dim: their
 * number, that they differ, and that no plan costs more than one over an intermediate order.
 */
#include "support/check.h"

#include "mesh/mesh.h"
#include "plan/plan.h"
#include "spec/spec.h"

#include <stdio.h>
#include <string.h>

enum { N_MESH_DIMS = 3, MAX_ORDERS = 200 };

/* The tensor dim that each mesh dim shards, and its position in the shard order of that dim. */
typedef struct order {
    int dim[N_MESH_DIMS], position[N_MESH_DIMS];
} order;

typedef struct orders {
    int n_dims, n;
    order items[MAX_ORDERS];
} orders;

static bool is_order(const order *o, int n_dims) {
    for (int d = 0; d < n_dims; d++) {
        int n = 0, positions = 0;
        for (int m = 0; m < N_MESH_DIMS; m++)
            if (o->dim[m] == d) {
                positions |= 1 << o->position[m];
                n++;
            }
        if (positions != (1 << n) - 1)
            return false;
    }
    return true;
}

/* Every combination of a dim and a position per mesh dim, as digits of a number. */
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
            assert_true(out->n < MAX_ORDERS);
            out->items[out->n++] = o;
        }
    }
}

static void make_placements(const order *o, dt_placement *out) {
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
        dt_spec *specs[MAX_ORDERS];
        list_orders(n_dims, &all);
        assert_int_equal(all.n, n_dims == 2 ? 24 : n_dims == 3 ? 60 : 120);
        for (int i = 0; i < all.n; i++) {
            dt_placement placements[N_MESH_DIMS];
            make_placements(&all.items[i], placements);
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

/* The cost from each order to each other. */
typedef struct costs {
    orders all;
    double us[MAX_ORDERS][MAX_ORDERS];
} costs;

static void make_sharding(dt__arena *arena, const order *o, int n_dims, const int64_t *shape, dt__sharding *out) {
    static const int64_t mesh[N_MESH_DIMS] = {2, 2, 2};
    dt_placement placements[N_MESH_DIMS];
    make_placements(o, placements);
    dt__sharding_desc desc = {.n_mesh_dims = N_MESH_DIMS,
                              .mesh = mesh,
                              .n_dims = n_dims,
                              .shape = shape,
                              .n_placements = N_MESH_DIMS,
                              .placements = placements};
    assert_int_equal(dt__sharding_new(arena, &desc, out), DT_OK);
}

static void find_costs(int n_dims, const int64_t *shape, costs *out) {
    static dt__sharding shardings[MAX_ORDERS];
    dt_ctx *ctx = dt__ctx_new(NULL);
    dt__arena sharding_arena = dt__arena_new(ctx);
    list_orders(n_dims, &out->all);
    for (int i = 0; i < out->all.n; i++)
        make_sharding(&sharding_arena, &out->all.items[i], n_dims, shape, &shardings[i]);
    for (int i = 0; i < out->all.n; i++)
        for (int j = 0; j < out->all.n; j++) {
            dt__arena arena = dt__arena_new(ctx);
            dt__plan plan;
            dt__move move = {.from = &shardings[i], .to = &shardings[j], .item_bytes = 4};
            assert_int_equal(dt__plan_new(&arena, &move, DT__PLANNER_MIN_COST, &dt__machine_builtin, &plan), DT_OK);
            out->us[i][j] = plan.cost_us;
            dt__arena_free(&arena);
        }
    dt__arena_free(&sharding_arena);
    dt__ctx_free(ctx);
}

static void intermediate_orders__never_reduce_the_cost(void **state) {
    static const int64_t matrix[] = {16, 8}, cube[] = {13, 2, 13};
    static costs table;
    (void)state;
    for (int i = 0; i < 2; i++) { /* RED-038, for all orders and all intermediate orders */
        find_costs(i ? 3 : 2, i ? cube : matrix, &table);
        for (int a = 0; a < table.all.n; a++)
            for (int b = 0; b < table.all.n; b++)
                for (int x = 0; x < table.all.n; x++)
                    if (table.us[a][b] > (table.us[a][x] + table.us[x][b]) * (1 + 1e-9))
                        fail_msg("%d dims, order %d to %d: %g us, over order %d only %g us", i ? 3 : 2, a, b,
                                 table.us[a][b], x, table.us[a][x] + table.us[x][b]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orders__have_the_expected_number),
        cmocka_unit_test(intermediate_orders__never_reduce_the_cost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
