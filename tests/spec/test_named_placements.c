/* SPDX-License-Identifier: Apache-2.0
 *
 * Placements by the names of mesh dims: in specs, in calls as text, in makers, redistributions and use placements.
 * Ranks 1, 2, 3, 4 and 6 on shm.
 */
#include "support/check.h"
#include "support/ranks.h"

#include "dtensor/dtensor.h"
#include "spec/spec.h"

#include <string.h>

/* A context that is rank 0 of a world without a transport. */
static dt_ctx *context_of(int64_t world) {
    dt_ctx *ctx = dt__ctx_new(NULL);
    ctx->world = world;
    return ctx;
}

static void named__lists_are_those_in_the_order_of_the_mesh(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"f32[8,6] tp=S(0) on mesh(dp=2,tp=4)", "f32[8,6] R,S(0) on mesh(dp=2,tp=4)"},
        {"f32[8,6] tp=S(0),dp=R on mesh(dp=2,tp=4)", "f32[8,6] R,S(0) on mesh(dp=2,tp=4)"},
        {"f32[8,6] dp = S(-1) , tp = S(0) on mesh(dp=2,tp=4)", "f32[8,6] S(1),S(0) on mesh(dp=2,tp=4)"},
        {"f32[8,6] tp=S(0)[0],dp=S(0)[1] on mesh(dp=2,tp=4)", "f32[8,6] S(0)[1],S(0)[0] on mesh(dp=2,tp=4)"},
        {"f32[8,6] dp=S(0:3,5) on mesh(dp=2,tp=4)", "f32[8,6] S(0:3,5),R on mesh(dp=2,tp=4)"},
        {"f32[8,6] tp=P(sum),dp=_S(0,2) on mesh(dp=2,tp=4)", "f32[8,6] _S(0,2),P(sum) on mesh(dp=2,tp=4)"},
        {"f32[] tp=P(max) on mesh(tp=3)", "f32[] P(max) on mesh(tp=3)"},
        {"f32[8] S=S(0) on mesh(R=2,S=2)", "f32[8] R,S(0) on mesh(R=2,S=2)"},
        {"f32[8] pp=R,tp=S(0) on mesh(pp=2,tp=2)", "f32[8] R,S(0) on mesh(pp=2,tp=2)"},
        {"f32[8] a-b=S(0) use a-b=R on mesh(a-b=2,c=2)", "f32[8] S(0),R on mesh(a-b=2,c=2)"},
    };
    dt_ctx *ctx = context_of(8);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[128] = "";
        dt_spec *spec = dt_spec_parse(ctx, cases[i][0]);
        dt_spec_text(spec, sizeof text, text);
        if (strcmp(text, cases[i][1]) != 0)
            fail_msg("%s: expected %s, got %s%s", cases[i][0], cases[i][1], text, dt_error_text(ctx));
        dt_spec_release(spec);
    }
    dt__ctx_free(ctx);
}

static void named__errors_name_the_dim(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"f32[8] tpp=S(0) on mesh(dp=2,tp=4)", "expected a dim of mesh(dp=2,tp=4), got 'tpp'; did you mean tp?"},
        {"f32[8] ep=S(0) on mesh(2x4)", "expected a dim of mesh(2x4), got 'ep'"},
        {"f32[8] tp=S(0),tp=R on mesh(dp=2,tp=4)", "mesh dim 'tp': expected one placement, got two"},
        {"f32[8] tp=S(0),R on mesh(dp=2,tp=4)", "expected a mesh dim, as in tp=S(0)"},
        {"f32[8] R,tp=S(0) on mesh(dp=2,tp=4)", "expected a placement without a name"},
        {"f32[8] tp= on mesh(dp=2,tp=4)", "expected a placement"},
        {"f32[8] =S(0) on mesh(dp=2,tp=4)", "expected a placement"},
        {"f32[8] tp=S(0) on mesh(pp=2,tp=4)", "expected a placement of the stage dim 'pp'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        dt_ctx *ctx = context_of(8);
        assert_null(dt_spec_parse(ctx, cases[i][0]));
        if (dt_error_status(ctx) != DT_ERR_PLACEMENT || !strstr(dt_error_text(ctx), cases[i][1]))
            fail_msg("%s: expected %s, got %s", cases[i][0], cases[i][1], dt_error_text(ctx));
        dt__ctx_free(ctx);
    }
    dt_ctx *ctx = context_of(8);
    int n = 0;
    assert_null(dt_placements_parse(ctx, "tp=S(0)", &n));
    assert_non_null(strstr(dt_error_text(ctx), "there is no mesh with names"));
    dt__ctx_free(ctx);
}

/* The placements of a tensor, as text. */
static const char *placed(const dt_tensor *t, char out[64]) {
    const dt_spec *spec = dt_tensor_spec(t);
    strcpy(out, "none");
    if (spec)
        dt_placements_text(dt_mesh_n_dims(dt_spec_mesh(spec)), dt_spec_placements(spec), 64, out);
    return out;
}

#define CHECK_PLACED(t, expected)                                                                                    \
    do {                                                                                                             \
        char got[64];                                                                                                \
        CHECK(!strcmp(placed(t, got), expected), "%s: expected %s, got %s: %s", #t, expected, got,                   \
              dt_error_text(ctx));                                                                                   \
    } while (0)

static int place_by_names(dt_ctx *ctx, void *arg) {
    (void)arg;
    const int64_t world = dt_world(ctx), dp = world % 2 ? 1 : 2;
    dt_mesh *mesh = dt_mesh_from_shape(ctx, (int64_t[]){dp, world / dp}, 2, &(dt_mesh_options){.names = "dp,tp"});
    dt_tensor *a = dt_randn(ctx, DT_SHAPE(35), .mesh = mesh, .place = "tp=S(0)");
    CHECK_PLACED(a, "R,S(0)");
    dt_tensor *m = dt_randn(ctx, DT_SHAPE(5, 7), .mesh = mesh, .place = "dp=S(1)", .use = "dp=R");
    CHECK_PLACED(m, "S(1),R");
    CHECK(dt_placement_is_replicate(dt_spec_placements(dt_tensor_use(m))[0]), "use");
    /* What is not named stays: here both dims are sharded, and the use gathers one of them. */
    dt_tensor *both = dt_randn(ctx, DT_SHAPE(5, 7), .mesh = mesh, .place = "tp=S(0),dp=S(1)");
    CHECK_PLACED(both, "S(1),S(0)");
    CHECK_OK(ctx, dt_set_use(both, "bf16 dp=R"));
    const dt_placement *use = dt_spec_placements(dt_tensor_use(both));
    CHECK(dt_placement_is_replicate(use[0]) && dt_placement_is_shard(use[1]), "use of both");
    CHECK_OK(ctx, dt_set_use(both, NULL));
    CHECK_PLACED(dt_redistribute(both, "tp=R"), "S(1),R");
    CHECK_PLACED(dt_redistribute(both, "dp=S(0),tp=S(1)"), "S(0),S(1)");
    dt_tensor *results[2];
    CHECK_OK(ctx, dt_redistribute_list(DT_TENSORS(both, a), ((const char *const[]){"dp=R", "dp=S(0)"}), results));
    CHECK_PLACED(results[0], "R,S(0)");
    CHECK_PLACED(results[1], "S(0),S(0)");
    dt_tensor *partial = dt_from_local(ctx, dt_ones(ctx, DT_SHAPE(4)), mesh, "tp=P(sum)");
    CHECK_PLACED(partial, "R,P(sum)");
    CHECK_PLACED(dt_reduced(partial, .place = "tp=S(0)"), "R,S(0)");
    CHECK_PLACED(dt_distribute_tensor(dt_ones(ctx, DT_SHAPE(4, 4)), mesh, "dp=S(1)"), "S(1),R");
    CHECK(dt_item(dt_sum(dt_full_tensor(partial))) == 4.0 * (double)(world / dp), "%s", dt_error_text(ctx));
    CHECK(!dt_redistribute(both, "tpp=R") && strstr(dt_error_text(ctx), "did you mean tp?"), "%s",
          dt_error_text(ctx));
    CHECK_OK(ctx, dt_error_clear(ctx));
    CHECK(!dt_redistribute(both, "dp=R,") && dt_failed(ctx), "a comma at the end");
    CHECK_OK(ctx, dt_error_clear(ctx));
    dt_mesh_release(mesh);
    return 0;
}

static void named__tensors_are_placed_by_names(void **state) {
    (void)state;
    static const int64_t worlds[] = {1, 2, 3, 4, 6};
    for (size_t i = 0; i < sizeof worlds / sizeof *worlds; i++)
        run_ranks(worlds[i], place_by_names, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(named__lists_are_those_in_the_order_of_the_mesh),
        cmocka_unit_test(named__errors_name_the_dim),
        cmocka_unit_test(named__tensors_are_placed_by_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
