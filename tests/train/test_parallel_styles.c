/* SPDX-License-Identifier: Apache-2.0
 *
 * Parallel styles as rules: models whose parameters rules place compute what they compute on one device, forward,
 * backward and after a step, and the layers of each style move what the style needs. Ranks 2, 3, 4 and 5 on shm.
 */
#include "support/ranks.h"

#include "dtensor/dtensor.h"

#include <math.h>
#include <string.h>

/* A model of one or two linear layers, and where its input, hidden state and output are. */
typedef struct style {
    const char *id, *rules, *prefix;
    int n_layers;
    const char *in, *used, *hidden, *out; /* used: of the input where the layers read it; hidden NULL: as it is */
} style;

static const style styles[] = {
    {"TPA-001", "net*.* tp=col", "", 2, "R", NULL, "R", "R"},
    {"TPA-002", "dummy_encoder.net*.* tp=col", "dummy_encoder.", 2, "R", NULL, "R", "R"},
    {"TPA-003", "net1.weight tp=row", "", 1, "S(1)", NULL, NULL, "R"},
    {"TPA-004", "net1.* tp=col", "", 1, "R", NULL, NULL, "R"},
    {"TPA-008", "net?.* tp=col", "", 2, "R", NULL, "R", "R"},
    {"TPA-008", "net[1-2].* tp=col", "", 2, "R", NULL, "R", "R"},
    {"TPA-008", "layers.*.net[1].* tp=col\nlayers.*.net[2].weight tp=row", "layers.0.", 2, "R", NULL, NULL, "R"},
    {"TPA-010", "net1.* tp=col\nnet2.weight tp=row", "", 2, "S(0)", "R", NULL, "S(0)"},
    {"TPA-013", "", "", 2, "R", NULL, NULL, "R"},
};

static dt_params *model_new(dt_ctx *ctx, const style *s, dt_mesh *mesh) {
    dt_params *p = dt_params_new(ctx, .mesh = mesh, .rules = mesh ? s->rules : NULL, .dtype = DT_F64);
    dt_generator_seed(dt_generator_default(ctx), 3);
    dt_params_begin(p, "%s", s->prefix);
    for (int i = 0; i < s->n_layers; i++) {
        dt_params_begin(p, "net%d.", i + 1);
        dt_param(p, "weight", i ? DT_SHAPE(10, 16) : DT_SHAPE(16, 10), .std = DT_REAL(0.3));
        dt_param(p, "bias", i ? DT_SHAPE(10) : DT_SHAPE(16), .std = DT_REAL(0.3));
        dt_params_end(p);
    }
    dt_params_end(p);
    return p;
}

static dt_tensor *forward(const style *s, const dt_params *p, dt_tensor *x) {
    const bool placed = dt_tensor_spec(x) != NULL;
    dt_tensor *y = dt_linear(x, dt_params_tensor(p, 0), dt_params_tensor(p, 1));
    if (s->n_layers == 2) {
        y = placed && s->hidden ? dt_redistribute(y, s->hidden) : y;
        y = dt_linear(dt_relu(y), dt_params_tensor(p, 2), dt_params_tensor(p, 3));
    }
    return placed ? dt_redistribute(y, s->out) : y;
}

static double distance(dt_tensor *a, dt_tensor *b) {
    const double *x = dt_data(dt_tensor_spec(a) ? dt_full_tensor(a) : a), *y = dt_data(b);
    double most = x && y ? 0 : INFINITY;
    for (int64_t i = 0; x && y && i < dt_tensor_elements(b); i++)
        most = fmax(most, fabs(x[i] - y[i]));
    return most;
}

static int trains_alike(dt_ctx *ctx, void *arg) {
    const style *s = arg;
    dt_mesh *mesh = dt_mesh_new(ctx, "tp=*");
    dt_params *p = model_new(ctx, s, mesh), *plain = model_new(ctx, s, NULL);
    dt_optimizer *opt = dt_sgd_new(ctx, 0.25, .params = p), *plain_opt = dt_sgd_new(ctx, 0.25, .params = plain);
    dt_tensor *x = dt_randn(ctx, DT_SHAPE(12, 10), .dtype = DT_F64), *in = dt_distribute_tensor(x, mesh, s->in);
    CHECK_OK(ctx, dt_set_use(in, s->used));
    dt_tensor *y = forward(s, plain, x), *z = forward(s, p, in);
    CHECK(distance(z, y) < 1e-12, "%s: outputs differ by %g: %s", s->id, distance(z, y), dt_error_text(ctx));
    CHECK_OK(ctx, dt_backward(dt_mean(dt_mul(y, y))));
    CHECK_OK(ctx, dt_backward(dt_mean(dt_mul(z, z))));
    for (int i = 0; i < dt_params_n(p); i++)
        CHECK(distance(dt_grad(dt_params_tensor(p, i)), dt_grad(dt_params_tensor(plain, i))) < 1e-12,
              "%s: gradient of %s", s->id, dt_params_name(p, i));
    CHECK_OK(ctx, dt_optimizer_step(opt));
    CHECK_OK(ctx, dt_optimizer_step(plain_opt));
    for (int i = 0; i < dt_params_n(p); i++)
        CHECK(distance(dt_detach(dt_params_tensor(p, i)), dt_params_tensor(plain, i)) < 1e-12, "%s: %s after a step",
              s->id, dt_params_name(p, i));
    dt_mesh_release(mesh);
    return 0;
}

static void style__trains_as_on_one_device(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof styles / sizeof *styles; i++)
        for (int64_t n = 2; n <= 5; n++)
            run_ranks(n, trains_alike, (void *)&styles[i]);
}

/* What is moved. */

static int64_t moved(dt_ctx *ctx, const char *collective) {
    return dt_comm_stats(ctx, &(dt_comm_filter){.collective = collective}).n;
}

/* The collectives so far: all-reduces, all-gathers, reduce-scatters, and no others. */
#define CHECK_MOVED(title, reduced, gathered, scattered)                                                             \
    do {                                                                                                             \
        const int64_t r = moved(ctx, "all_reduce"), g = moved(ctx, "all_gather"), s = moved(ctx, "reduce_scatter");  \
        CHECK(r == (reduced) && g == (gathered) && s == (scattered) && r + g + s == moved(ctx, NULL),                \
              "%s: all_reduce %lld, all_gather %lld, reduce_scatter %lld of %lld: %s", title, (long long)r,          \
              (long long)g, (long long)s, (long long)moved(ctx, NULL), dt_error_text(ctx));                          \
    } while (0)

typedef struct layer {
    dt_ctx *ctx;
    dt_mesh *mesh;
    dt_tensor *weight, *bias, *x;
} layer;

static layer layer_new(dt_ctx *ctx, const char *rules, dt_shape shape, const char *in) {
    layer self = {.ctx = ctx, .mesh = dt_mesh_new(ctx, "tp=*")};
    dt_params *p = dt_params_new(ctx, .mesh = self.mesh, .rules = rules);
    self.weight = dt_param(p, "weight", DT_SHAPE(16, 16), .std = DT_REAL(0.3));
    self.bias = dt_param(p, "bias", DT_SHAPE(16), .std = DT_REAL(0.3));
    self.x = dt_randn(ctx, shape, .mesh = self.mesh, .place = in, .requires_grad = true);
    dt_comm_policy(ctx, DT_COMM_ERROR);
    dt_comm_stats_begin(ctx);
    return self;
}

static int moves_what_it_needs(dt_ctx *ctx, void *arg) {
    (void)arg;
    const int64_t n = dt_world(ctx), share = (16 + n - 1) / n;
    /* TPS-001: column-wise sends nothing forward, and reduces the gradient of its input. */
    layer l = layer_new(ctx, "* tp=col", DT_SHAPE(8, 16), "R");
    dt_tensor *y = dt_linear(l.x, l.weight, l.bias);
    CHECK_MOVED("TPS-001 forward", 0, 0, 0);
    CHECK(dt_tensor_local_shape(y)[1] <= share, "%lld columns", (long long)dt_tensor_local_shape(y)[1]);
    CHECK_OK(ctx, dt_backward(dt_sum(y)));
    CHECK_MOVED("TPS-001 backward", 1, 0, 0);
    /* TPS-002: an input that is sharded by rows is gathered forward, and its gradient is reduce-scattered. */
    l = layer_new(ctx, "* tp=col", DT_SHAPE(32, 16), "S(0)");
    y = dt_linear(dt_redistribute(l.x, "tp=R"), l.weight, l.bias);
    CHECK_MOVED("TPS-002 forward", 0, 1, 0);
    CHECK_OK(ctx, dt_backward(dt_sum(y)));
    CHECK_MOVED("TPS-002 backward", 0, 1, 1);
    /* TPS-005: row-wise reduces its output, and sends nothing backward. */
    l = layer_new(ctx, "weight tp=row", DT_SHAPE(8, 16), "S(1)");
    y = dt_reduced(dt_linear(l.x, l.weight, l.bias));
    CHECK_MOVED("TPS-005 forward", 1, 0, 0);
    CHECK_OK(ctx, dt_backward(dt_sum(y)));
    CHECK_MOVED("TPS-005 backward", 1, 0, 0);
    /* TPS-006: with an output that is sharded by rows, a reduce-scatter forward and an all-gather backward. */
    l = layer_new(ctx, "weight tp=row", DT_SHAPE(20, 16), "S(1)");
    y = dt_reduced(dt_linear(l.x, l.weight), .place = "tp=S(0)");
    CHECK_MOVED("TPS-006 forward", 0, 0, 1);
    CHECK_OK(ctx, dt_backward(dt_sum(dt_mul(y, y))));
    CHECK_MOVED("TPS-006 backward", 0, 1, 1);
    dt_mesh_release(l.mesh);
    return 0;
}

/* Embeddings: TPS-003 with sharded columns sends nothing; TPS-007 with sharded rows reduces its output. */
static int looks_up(dt_ctx *ctx, void *arg) {
    (void)arg;
    layer l = layer_new(ctx, "weight tp=S(1)", DT_SHAPE(2), "R");
    dt_tensor *index = dt_randint(ctx, 0, 16, DT_SHAPE(4, 2), .mesh = l.mesh);
    dt_tensor *y = dt_embedding(index, l.weight);
    CHECK(y && dt_tensor_local_shape(y)[2] <= (16 + dt_world(ctx) - 1) / dt_world(ctx), "%s", dt_error_text(ctx));
    CHECK_OK(ctx, dt_backward(dt_sum(dt_mul(y, y))));
    CHECK_MOVED("TPS-003", 0, 0, 0);
    l = layer_new(ctx, "weight tp=vocab", DT_SHAPE(2), "R");
    y = dt_reduced(dt_embedding(index, l.weight));
    CHECK_MOVED("TPS-007 forward", 1, 0, 0);
    CHECK_OK(ctx, dt_backward(dt_sum(dt_mul(y, y))));
    CHECK_MOVED("TPS-007 backward", 1, 0, 0);
    dt_mesh_release(l.mesh);
    return 0;
}

/* TPS-004, TPS-008: rules freeze a weight and leave its bias, in either style. */
static int freezes(dt_ctx *ctx, void *arg) {
    const char *rules = arg;
    layer l = layer_new(ctx, rules, DT_SHAPE(8, 16), "R");
    CHECK(!dt_requires_grad(l.weight) && dt_requires_grad(l.bias), "%s", dt_error_text(ctx));
    dt_mesh_release(l.mesh);
    return 0;
}

/* TPA-005, TPA-006, TPA-007, TPS-009, TPS-013: inputs and outputs are prepared by redistributions. */
static int prepares(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh = dt_mesh_new(ctx, "tp=*");
    dt_tensor *x = dt_randn(ctx, DT_SHAPE(5, 7), .dtype = DT_F64), *in = dt_distribute_tensor(x, mesh, "tp=S(0)");
    dt_tensor *whole = dt_redistribute(in, "tp=R"), *back = dt_redistribute(whole, "tp=S(0)");
    CHECK(distance(whole, x) == 0 && distance(back, x) == 0, "%s", dt_error_text(ctx));
    CHECK(dt_tensor_local_elements(back) == dt_tensor_local_elements(in), "shards");
    dt_tensor *columns = dt_redistribute(whole, "tp=S(1)"), *direct = dt_redistribute(in, "tp=S(1)");
    CHECK(dt_tensor_spec(columns) == dt_tensor_spec(direct) && distance(columns, x) == 0, "%s", dt_error_text(ctx));
    dt_mesh_release(mesh);
    return 0;
}

static void style__moves_what_it_needs(void **state) {
    (void)state;
    for (int64_t n = 2; n <= 5; n++) {
        run_ranks(n, moves_what_it_needs, NULL);
        run_ranks(n, prepares, NULL);
        run_ranks(n, looks_up, NULL);
    }
    run_ranks(3, freezes, "weight tp=col freeze\nbias tp=col");
    run_ranks(3, freezes, "weight tp=row freeze");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(style__trains_as_on_one_device),
        cmocka_unit_test(style__moves_what_it_needs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
