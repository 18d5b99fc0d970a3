/* SPDX-License-Identifier: Apache-2.0 */
#include "support/check.h"

#include "mesh/mesh.h"

static dt_ctx *world(int64_t n, int64_t rank) {
    dt_ctx *ctx = dt__ctx_new(NULL);
    ctx->world = n;
    ctx->rank = rank;
    return ctx;
}

static void shape__is_row_major(void **state) {
    (void)state;
    dt_ctx *ctx = world(8, 6);
    dt_mesh *mesh = dt_mesh_from_shape(ctx, (int64_t[]){2, 4}, 2, &(dt_mesh_options){.names = "dp,tp"});
    assert_non_null(mesh);
    int64_t coordinate[2];
    assert_true(dt_mesh_coordinate(mesh, coordinate));
    assert_int_equal(coordinate[0], 1);
    assert_int_equal(coordinate[1], 2);
    dt_mesh_free(mesh);
    dt__ctx_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shape__is_row_major),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
