/* SPDX-License-Identifier: Apache-2.0
 *
 * Small models whose parallelism is the placements of their weights: values, gradients, steps and numbers of
 * collectives next to the same model without a mesh. Larger ones are trained by tests/tools/test_gpt.py.
 */
#include "support/ranks.h"

#include "dtensor/dtensor.h"

#include <string.h>

static int64_t n_collectives(const dt_ctx *ctx, const char *name) {
    return dt_comm_stats(ctx, &(dt_comm_filter){.collective = name}).n;
}

static bool is_placed(const dt_tensor *x, const char *expected) {
    char text[64] = "";
    const dt_spec *spec = dt_tensor_spec(x);
    if (spec)
        (void)dt_placements_text(dt_mesh_n_dims(dt_spec_mesh(spec)), dt_spec_placements(spec), sizeof text, text);
    return !strcmp(text, expected);
}

/* The largest difference between a distributed tensor and a plain one, relative to the largest element where that is
 * above 1. */
static double distance(dt_tensor *x, dt_tensor *plain) {
    const double largest = dt_item(dt_amax(dt_abs(dt_detach(plain))));
    return dt_item(dt_amax(dt_abs(dt_sub(dt_detach(dt_full_tensor(x)), dt_detach(plain))))) /
           (largest > 1 ? largest : 1);
}

static dt_tensor *distributed(dt_tensor *plain, dt_mesh *mesh, const char *place) {
    return dt_distribute_tensor(dt_detach(plain), mesh, place, .everywhere = true);
}

enum { N_WEIGHTS = 4 };

static dt_tensor *forward(dt_tensor *const *w, dt_tensor *x) {
    return dt_linear(dt_relu(dt_linear(x, w[0], w[1])), w[2], w[3]);
}

static void make_weights(dt_ctx *ctx, dt_tensor **w) {
    const int64_t sizes[N_WEIGHTS][2] = {{16, 10}, {16, 0}, {10, 16}, {10, 0}};
    for (int i = 0; i < N_WEIGHTS; i++)
        w[i] = dt_randn(ctx, ((dt_shape){i % 2 ? 1 : 2, sizes[i]}), .dtype = DT_F64, .requires_grad = true);
}

static void shard_weights(dt_mesh *mesh, dt_tensor *const *plain, dt_tensor **w) {
    static const char *const places[N_WEIGHTS] = {"S(0)", "S(0)", "S(1)", "R"};
    for (int i = 0; i < N_WEIGHTS; i++) {
        w[i] = distributed(plain[i], mesh, places[i]);
        dt_set_requires_grad(w[i], true);
    }
}

/* TPE-001, TPE-002, TPE-003. With sequences: the tokens of x and of the result are sharded. The scope keeps what was
 * gathered of x for its gradient, and the gradient of a sum is replicated: one all-gather. */
static int train_mlp(dt_ctx *ctx, void *arg) {
    const bool sequences = *(bool *)arg;
    dt_tensor *plain[N_WEIGHTS], *w[N_WEIGHTS];
    dt_mesh *mesh = dt_mesh_new(ctx, "tp=*");
    make_weights(ctx, plain);
    shard_weights(mesh, plain, w);
    dt_optimizer *of_plain = dt_sgd_new(ctx, 0.25), *of_sharded = dt_sgd_new(ctx, 0.25);
    for (int step = 0; step < 2; step++) {
        dt_tensor *x = dt_randn(ctx, DT_SHAPE(8, 10), .dtype = DT_F64);
        dt_tensor *in = distributed(x, mesh, sequences ? "S(0)" : "R"), *y = forward(plain, x);
        dt_comm_policy(ctx, DT_COMM_ERROR);
        if (sequences)
            dt_set_use(in, "R");
        dt_scope first = dt_scope_begin(ctx); /* what is gathered in it is freed with it */
        dt_tensor *z = dt_reduced(forward(w, in), .place = sequences ? "S(0)" : NULL);
        CHECK(z && distance(z, y) < 1e-12, "%s: outputs differ by %g", dt_error_text(ctx), distance(z, y));
        dt_scope_end(first);
        dt_comm_stats_begin(ctx);
        dt_scope scope = dt_scope_begin(ctx);
        dt_zero_grad(((dt_tensors){N_WEIGHTS, w}));
        z = dt_reduced(forward(w, in), .place = sequences ? "S(0)" : NULL);
        CHECK_OK(ctx, dt_backward(dt_sum(z)));
        int64_t reduced = n_collectives(ctx, "all_reduce"), gathered = n_collectives(ctx, "all_gather"),
                scattered = n_collectives(ctx, "reduce_scatter");
        CHECK(reduced == (sequences ? 0 : 1) && scattered == (sequences ? 1 : 0) && gathered == (sequences ? 1 : 0),
              "all_reduce %lld, all_gather %lld, reduce_scatter %lld", (long long)reduced, (long long)gathered,
              (long long)scattered);
        dt_zero_grad(((dt_tensors){N_WEIGHTS, plain}));
        CHECK_OK(ctx, dt_backward(dt_sum(y)));
        for (int i = 0; i < N_WEIGHTS; i++)
            CHECK(distance(dt_grad(w[i]), dt_grad(plain[i])) < 1e-12, "gradient %d differs", i);
        dt_comm_stats_begin(ctx);
        CHECK_OK(ctx, dt_optimizer_step(of_sharded, .parameters = ((dt_tensors){N_WEIGHTS, w})));
        CHECK(n_collectives(ctx, NULL) == 0, "a step communicates");
        CHECK_OK(ctx, dt_optimizer_step(of_plain, .parameters = ((dt_tensors){N_WEIGHTS, plain})));
        for (int i = 0; i < N_WEIGHTS; i++)
            CHECK(distance(w[i], plain[i]) < 1e-12, "parameter %d differs", i);
        dt_scope_end(scope);
    }
    dt_no_grad_begin(ctx);
    dt_tensor *x = dt_randn(ctx, DT_SHAPE(3, 10), .dtype = DT_F64);
    CHECK(distance(forward(w, distributed(x, mesh, "R")), forward(plain, x)) < 1e-12,
          "outputs differ after training");
    dt_no_grad_end(ctx);
    dt_mesh_release(mesh);
    return 0;
}

static void mlp__trains_as_without_a_mesh(void **state) {
    (void)state;
    for (int sequences = 0; sequences < 2; sequences++)
        for (int64_t n = 2; n <= 5; n++)
            run_ranks(n, train_mlp, &(bool){sequences});
}

/* TPE-007: one parameter as an embedding and as the output layer has one gradient, the sum of both. */
static int tie_weights(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh = dt_mesh_new(ctx, "tp=*");
    dt_tensor *plain = dt_randn(ctx, DT_SHAPE(16, 8), .dtype = DT_F64, .requires_grad = true);
    dt_tensor *tokens = dt_to(dt_mul_scalar(dt_rand(ctx, DT_SHAPE(5, 3)), 15.9), DT_I64);
    static const char *const places[] = {"S(0)", "S(1)", "R"};
    CHECK_OK(ctx, dt_backward(dt_sum(dt_linear(dt_embedding(tokens, plain), plain))));
    for (int i = 0; i < 3; i++) {
        dt_tensor *w = distributed(plain, mesh, places[i]);
        dt_set_requires_grad(w, true);
        dt_tensor *x = dt_reduced(dt_embedding(distributed(tokens, mesh, "R"), w));
        CHECK_OK(ctx, dt_backward(dt_sum(dt_linear(x, w))));
        CHECK(is_placed(dt_grad(w), places[i]) && distance(dt_grad(w), dt_grad(plain)) < 1e-12, "%s", places[i]);
    }
    dt_mesh_release(mesh);
    return 0;
}

static void tied_weights__have_one_gradient(void **state) {
    (void)state;
    for (int64_t n = 1; n <= 4; n++)
        run_ranks(n, tie_weights, NULL);
}

/* A loss over classes that tp shards, with other mesh dims. */
typedef struct loss_case {
    const char *mesh, *x, *target;
    int n_dims; /* of x */
    const char *none,
        *sum; /* the placements of the loss, by reduction; that of a mean is R where nothing is partial */
} loss_case;

static int check_loss(dt_ctx *ctx, void *arg) {
    const loss_case *self = arg;
    static const char *const reductions[] = {"none", "mean", "sum"};
    dt_mesh *mesh = dt_mesh_new(ctx, self->mesh);
    const int64_t classes = 4096; /* of a few, the cheapest way is another one */
    dt_tensor *x = self->n_dims == 2 ? dt_randn(ctx, DT_SHAPE(8, classes), .requires_grad = true)
                                     : dt_randn(ctx, DT_SHAPE(4, classes, 6), .requires_grad = true);
    dt_tensor *target =
        dt_to(dt_mul_scalar(self->n_dims == 2 ? dt_rand(ctx, DT_SHAPE(8)) : dt_rand(ctx, DT_SHAPE(4, 6)),
                            (double)classes - 0.1),
              DT_I64);
    dt_tensor *weight = dt_rand(ctx, DT_SHAPE(classes));
    for (int kind = 0; kind < 6; kind++) {
        const char *reduction = reductions[kind % 3];
        const bool weighted = kind / 3;
        dt_tensor *z = distributed(x, mesh, self->x), *t = distributed(target, mesh, self->target);
        dt_set_requires_grad(z, true);
        dt_zero_grad(DT_TENSORS(x));
        dt_tensor *expected = dt_cross_entropy(x, target, .weight = weighted ? weight : NULL, .reduction = reduction);
        dt_comm_stats_begin(ctx);
        dt_tensor *loss = dt_cross_entropy(z, t, .weight = weighted ? distributed(weight, mesh, NULL) : NULL,
                                           .reduction = reduction);
        CHECK(loss && n_collectives(ctx, NULL) <= (strcmp(reduction, "mean") == 0 ? 2 : 1), "%s: %lld collectives",
              dt_error_text(ctx), (long long)n_collectives(ctx, NULL));
        CHECK(distance(loss, expected) < 1e-6, "%s: the values differ", reduction);
        const char *place = *reduction == 'n' ? self->none : self->sum;
        CHECK(is_placed(loss, place), "%s: the loss is not %s", reduction, place);
        CHECK_OK(ctx, dt_backward(expected, .grad = dt_ones_like(expected)));
        dt_tensor *ones = dt_ones_like(expected), *grad = distributed(ones, mesh, NULL); /* replicated */
        dt_comm_stats_begin(ctx);
        CHECK_OK(ctx, dt_backward(loss, .grad = grad));
        CHECK(n_collectives(ctx, NULL) == 0, "backward: %lld collectives", (long long)n_collectives(ctx, NULL));
        CHECK(is_placed(dt_grad(z), self->x) && distance(dt_grad(z), dt_grad(x)) < 1e-6, "%s: the gradient differs",
              reduction);
    }
    dt_mesh_release(mesh);
    return 0;
}

static void loss__of_sharded_classes(void **state) {
    (void)state;
    static loss_case cases[] = {
        {"tp=4", "S(1)", "R", 2, "R", "R"},                            /* TPE-008 */
        {"tp=4", "S(1)", "R", 3, "R", "R"},                            /* TPE-008 */
        {"dp=2,tp=2", "S(0),S(1)", "S(0),R", 2, "S(0),R", "P(sum),R"}, /* TPE-010 */
        {"dp=2,tp=2", "R,S(1)", "R,R", 2, "R,R", "R,R"},               /* TPE-011 */
        {"tp=2,dp=2", "S(1),S(0)", "R,S(0)", 2, "R,S(0)", "R,P(sum)"}, /* TPE-012 */
        {"cp=2,tp=2", "S(2),S(1)", "S(1),R", 3, "S(1),R", "P(sum),R"}, /* TPE-013 */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        run_ranks(4, check_loss, &cases[i]);
}

/* TPR-001: shards of a weight differ within a tp group, and are the same in every dp group, whether the weight is on
 * the whole mesh or on the tp mesh of the group. */
static int draw_weights(dt_ctx *ctx, void *arg) {
    const bool on_slice = *(bool *)arg;
    dt_mesh *mesh = dt_mesh_new(ctx, "dp=2,tp=2"), *tp = dt_mesh_slice(mesh, "tp");
    dt_tensor *w = on_slice ? dt_randn(ctx, DT_SHAPE(8, 6), .mesh = tp, .place = "S(0)")
                            : dt_randn(ctx, DT_SHAPE(8, 6), .mesh = mesh, .place = "R,S(0)");
    CHECK(w && dt_tensor_mesh(w) == (on_slice ? tp : mesh), "%s", dt_error_text(ctx));
    float all[4][24];
    CHECK(dt_tensor_local_elements(w) == 24, "%s", dt_error_text(ctx));
    CHECK_OK(ctx, dt_comm_all_gather(dt_group_world(ctx), dt_data(w), all, 24, DT_F32));
    CHECK(!memcmp(all[0], all[2], sizeof all[0]) && !memcmp(all[1], all[3], sizeof all[0]), "dp groups differ");
    for (int i = 0; i < 24; i++)
        CHECK(all[0][i] != all[1][i], "element %d of two shards is the same", i);
    dt_mesh_release(tp);
    dt_mesh_release(mesh);
    return 0;
}

static void random_weights__differ_between_shards_only(void **state) {
    (void)state;
    for (int on_slice = 0; on_slice < 2; on_slice++)
        run_ranks(4, draw_weights, &(bool){on_slice});
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mlp__trains_as_without_a_mesh),
        cmocka_unit_test(tied_weights__have_one_gradient),
        cmocka_unit_test(loss__of_sharded_classes),
        cmocka_unit_test(random_weights__differ_between_shards_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
