/* SPDX-License-Identifier: Apache-2.0
 *
 * Ranks that run a pipeline with other schedules, hops, weights or options: every rank gets an error that names what
 * differs, where stages send to each other, and between replicas of a stage in the next transfer on its mesh.
 */
#include "support/ranks.h"

#include "dtensor/dtensor.h"

#include <string.h>

enum { WIDTH = 4, ROWS = 2, MICRO = 4 };

/* What rank `rank` does differently. */
typedef struct variant {
    const char *mesh;
    int64_t n_ranks, rank;
    const char *schedule, *hop, *hold;
    bool has_weights;
    const char *part, *differing_part;
} variant;

#define HOP "f32[2,4] dp=S(0)"
static const variant variants[] = {
    {"pp=2,dp=1", 2, 1, "gpipe", HOP, NULL, false, "=0F0,0F1,0B0,", "=0F0,0F1,0F2,0F3,0B0,"},
    {"pp=3,dp=1", 3, 0, "zb-h1", HOP, NULL, false, "0B0", "0I0"},
    {"pp=2,dp=1", 2, 0, "1f1b", "f32[2,4] R", NULL, false, "; hop=f32[2,4] dp=S(0))", "; hop=f32[2,4] R)"},
    {"pp=2,dp=2", 4, 3, "1f1b", HOP, NULL, true, "; hash of weights=", "; hash of weights="},
    {"pp=2,dp=2", 4, 1, "1f1b", HOP, "", false, "; hold=default)", "; hold=)"},
    {"dp=3", 3, 2, "gpipe", HOP, NULL, true, "; hash of weights=", "; hash of weights="},
    {"pp=1,dp=2", 2, 1, "gpipe", HOP, "", false, "; hold=default)", "; hold=)"},
};

typedef struct model {
    dt_tensor *weights[3], *inputs[3];
    int64_t n_stages;
} model;

static dt_tensor *run_stage(int64_t stage, int64_t micro, dt_tensor *x, void *user) {
    const model *self = user;
    (void)micro;
    dt_tensor *y = dt_linear(stage == 0 ? self->inputs[0] : x, self->weights[stage]);
    return stage + 1 == self->n_stages ? dt_reduced(dt_mean(dt_square(y))) : y;
}

static int diverge(dt_ctx *ctx, void *arg) {
    const variant *v = arg;
    static const double weights[MICRO] = {1, 2, 3, 4};
    const bool differs = v->differing_part && dt_rank(ctx) == v->rank;
    dt_mesh *mesh = dt_mesh_new(ctx, v->mesh);
    const int n_dims = dt_mesh_n_dims(mesh);
    const int64_t n = n_dims > 1 ? dt_mesh_dim_size(mesh, 0) : 1;
    dt_schedule *schedule = dt_schedule_new(ctx,
                                            differs ? v->schedule
                                            : n > 1 ? "1f1b"
                                                    : "gpipe",
                                            .ranks = DT_INT(n), .micro = DT_INT(MICRO));
    model self = {.n_stages = n};
    for (int64_t s = 0; s < n; s++) {
        dt_mesh *on = dt_pipeline_mesh(schedule, mesh, s);
        self.weights[s] = dt_ones(ctx, DT_SHAPE(WIDTH, WIDTH), .mesh = on, .requires_grad = true);
        self.inputs[s] = dt_ones(ctx, DT_SHAPE(ROWS, WIDTH), .mesh = on, .place = "dp=S(0)");
        dt_mesh_release(on);
    }
    dt_pipeline_run(schedule, mesh, run_stage, &self, .hop = differs ? v->hop : HOP, .hold = differs ? v->hold : NULL,
                    .weights = differs && v->has_weights ? weights : NULL);
    dt_item(dt_sum(dt_ones(ctx, DT_SHAPE(8), .mesh = mesh, .place = n_dims > 1 ? "R,S(0)" : "S(0)")));
    const char *text = dt_error_text(ctx);
    if (!v->differing_part) {
        CHECK(!dt_failed(ctx), "%s", text);
        return 0;
    }
    CHECK(dt_error_status(ctx) == DT_ERR_MISMATCH || dt_error_status(ctx) == DT_ERR_PEER,
          "%s: rank %lld: expected a mismatch, got %s: %s", v->part, (long long)dt_rank(ctx),
          dt_status_name(dt_error_status(ctx)), text);
    CHECK(strstr(text, "pipeline_run(") && strstr(text, v->part) && strstr(text, v->differing_part),
          "rank %lld: expected %s and %s, got: %s", (long long)dt_rank(ctx), v->part, v->differing_part, text);
    CHECK(dt_error_clear(ctx) == DT_OK, "%s", dt_error_text(ctx));
    return 0;
}

static void divergence__of_pipelines_names_what_differs(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++)
        run_ranks(variants[i].n_ranks, diverge, (void *)(uintptr_t)&variants[i]);
}

static void pipelines__alike_are_no_divergence(void **state) {
    (void)state;
    static const variant alike[] = {{"pp=2,dp=2", .n_ranks = 4}, {"pp=3,dp=1", .n_ranks = 3}, {"dp=2", .n_ranks = 2}};
    for (size_t i = 0; i < sizeof alike / sizeof *alike; i++)
        run_ranks(alike[i].n_ranks, diverge, (void *)(uintptr_t)&alike[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(divergence__of_pipelines_names_what_differs),
        cmocka_unit_test(pipelines__alike_are_no_divergence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
