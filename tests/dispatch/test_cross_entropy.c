/* SPDX-License-Identifier: Apache-2.0
 *
 * cross_entropy and nll_loss of distributed logits, and their gradients, against loops over the full tensors: any dim
 * sharded, in uneven and empty shards, with targets that are ignored, weights and label smoothing. Over sharded classes
 * only states are sent, and the gradient sends nothing.
 */
#include "dispatch/published.h"

#include "dtensor/autograd.h"
#include "support/random.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { IGNORED = 2, MAX_ELEMENTS = 256 };

/* A loss of logits [n, c, k]; without k the last dim is missing. */
typedef struct loss_case {
    int64_t n, c, k;
    bool nll, weighted;
    const char *reduction;
    double smoothing;
    double x[MAX_ELEMENTS], w[MAX_ELEMENTS];
    int64_t target[MAX_ELEMENTS];
    double losses[MAX_ELEMENTS], loss, grad[MAX_ELEMENTS]; /* grad: of the sum of the result */
} loss_case;

static int64_t n_inner(const loss_case *self) { return self->k ? self->k : 1; }

/* The definition, row by row. */
static void compute(loss_case *self) {
    int64_t inner = n_inner(self), n_rows = self->n * inner;
    double total = 0, all = 0, smooth = self->smoothing / (double)self->c;
    self->loss = 0;
    for (int64_t c = 0; c < self->c; c++)
        all += self->w[c];
    for (int64_t r = 0; r < n_rows; r++)
        total += self->target[r] == IGNORED ? 0 : self->w[self->target[r]];
    for (int64_t r = 0; r < n_rows; r++) {
        const double *x = self->x + r / inner * self->c * inner + r % inner;
        double *grad = self->grad + r / inner * self->c * inner + r % inner, powers = 0, weighted = 0;
        int64_t t = self->target[r];
        double counts = t == IGNORED ? 0 : 1, by = *self->reduction == 'm' ? total : 1;
        for (int64_t c = 0; c < self->c; c++) {
            powers += exp(x[c * inner]);
            weighted += self->w[c] * x[c * inner];
        }
        double l = self->nll ? 0 : log(powers), of_class = (1 - self->smoothing) * self->w[t];
        self->losses[r] = counts * (of_class * (l - x[t * inner]) + smooth * (all * l - weighted));
        self->loss += self->losses[r] / by;
        for (int64_t c = 0; c < self->c; c++) {
            double p = self->nll ? 0 : exp(x[c * inner] - l) * (of_class + smooth * all);
            grad[c * inner] = counts / by * (p - smooth * self->w[c] - (c == t ? of_class : 0));
        }
    }
}

static void fill(loss_case *self, uint64_t seed) {
    uint64_t state = seed;
    for (int64_t i = 0; i < self->n * self->c * n_inner(self); i++)
        self->x[i] = (double)(test_below(&state, 97) - 48) / 16;
    for (int64_t c = 0; c < self->c; c++)
        self->w[c] = self->weighted ? (double)(1 + test_below(&state, 7)) / 4 : 1;
    for (int64_t r = 0; r < self->n * n_inner(self); r++)
        self->target[r] = test_below(&state, self->c);
    self->target[0] = IGNORED;
    self->target[1] = 0; /* not all are ignored */
}

static dt_tensor *tensor_of(dt_ctx *ctx, dt_shape shape, dt_dtype dtype, const double *from) {
    dt_tensor *wide = dt_empty(ctx, shape, .dtype = DT_F64);
    if (wide)
        memcpy(dt_data(wide), from, (size_t)dt_tensor_elements(wide) * sizeof *from);
    return dt_to(wide, dtype);
}

static dt_tensor *run(const loss_case *self, dt_tensor *x, dt_tensor *target, dt_tensor *w) {
    if (self->nll)
        return dt_nll_loss(x, target, .weight = w, .ignore_index = DT_INT(IGNORED), .reduction = self->reduction);
    return dt_cross_entropy(x, target, .weight = w, .ignore_index = DT_INT(IGNORED), .reduction = self->reduction,
                            .label_smoothing = DT_REAL(self->smoothing));
}

/* Whether all elements are near; of an f64 copy of the full tensor. */
static bool is_near(dt_tensor *tensor, const double *expected, double tolerance) {
    dt_tensor *full = dt_contiguous(dt_to(dt_full_tensor(tensor), DT_F64));
    const double *data = full ? dt_data(full) : NULL;
    bool near = data != NULL;
    for (int64_t i = 0; near && i < dt_tensor_elements(full); i++)
        near = fabs(data[i] - expected[i]) <= tolerance * (1 + fabs(expected[i]));
    return near;
}

static int check_case(dt_ctx *ctx, loss_case *self, dt_dtype dtype, dt_mesh *mesh, const char *const places[2]) {
    double numbers[MAX_ELEMENTS], tolerance = dtype == DT_F64 ? 1e-12 : dtype == DT_F32 ? 1e-5 : 2e-2;
    int n_dims = self->k ? 3 : 2;
    const int64_t sizes[] = {self->n, self->c, self->k}, rows[] = {self->n, self->k};
    for (int64_t i = 0; i < self->n * n_inner(self); i++)
        numbers[i] = (double)self->target[i];
    dt_tensor *x = distributed(tensor_of(ctx, (dt_shape){n_dims, sizes}, dtype, self->x), mesh, places[0]);
    dt_tensor *target = distributed(tensor_of(ctx, (dt_shape){n_dims - 1, rows}, DT_I64, numbers), mesh, places[1]);
    dt_tensor *w = self->weighted ? tensor_of(ctx, DT_SHAPE(self->c), dtype, self->w) : NULL;
    for (int again = 0; again < 2; again++) { /* also from the cache */
        dt_tensor *leaf = dt_detach(x);
        CHECK_OK(ctx, dt_set_requires_grad(leaf, true));
        dt_tensor *loss =
            run(self, leaf, target, w ? distributed(w, mesh, dt_mesh_n_dims(mesh) > 1 ? "R,S(0)" : "R") : NULL);
        CHECK(loss, "%s", dt_error_text(ctx));
        const double *expected = *self->reduction == 'n' ? self->losses : &self->loss;
        CHECK(is_near(loss, expected, tolerance), "%s %s %s %s %s %g: the loss differs", self->nll ? "nll" : "ce",
              places[0], places[1], self->reduction, self->weighted ? "weighted" : "", self->smoothing);
        CHECK_OK(ctx, dt_backward(dt_sum(loss)));
        CHECK(is_near(dt_grad(leaf), self->grad, tolerance), "%s %s %s %s %g: the gradient differs",
              self->nll ? "nll" : "ce", places[0], places[1], self->reduction, self->smoothing);
    }
    return 0;
}

static int losses(dt_ctx *ctx, void *arg) {
    (void)arg;
    static const char *const reductions[] = {"none", "mean", "sum"};
    static const char *const places[][2] = {{"S(0)", "S(0)"}, {"S(1)", "R"}, {"S(2)", "S(1)"},
                                            {"S(1)", "S(0)"}, {"R", "S(0)"}, {"P(sum)", "R"}};
    static const dt_dtype dtypes[] = {DT_F64, DT_F32, DT_BF16, DT_F16};
    char text[16];
    snprintf(text, sizeof text, "%d", (int)dt_world(ctx));
    dt_mesh *mesh = dt_mesh_new(ctx, text);
    uint64_t seed = test_seed(1);
    int count = 0;
    for (int variant = 0; variant < 3 * 2 * 3; variant++)
        for (size_t p = 0; p < sizeof places / sizeof *places; p++) {
            bool cube = strcmp(places[p][0], "S(2)") == 0 || (variant + (int)p) % 2;
            loss_case self = {.n = 3,
                              .c = 5,
                              .k = cube ? 4 : 0,
                              .nll = variant / 6 == 2,
                              .weighted = variant / 3 % 2,
                              .reduction = reductions[variant % 3],
                              .smoothing = variant / 6 == 1 ? 0.2 : 0};
            fill(&self, seed + (uint64_t)count);
            compute(&self);
            dt_scope scope = dt_scope_begin(ctx);
            int failed = check_case(ctx, &self, dtypes[count++ % 4], mesh, places[p]);
            dt_scope_end(scope);
            if (failed)
                return failed;
        }
    dt_mesh_release(mesh);
    return 0;
}

static int several_mesh_dims(dt_ctx *ctx, void *arg) {
    (void)arg;
    static const char *const places[][2] = {
        {"S(1),S(0)", "S(0),S(0)"}, {"S(1),S(1)", "R,S(0)"}, {"S(0),S(1)", "R,R"}, {"S(2),S(1)", "S(1),R"}};
    static const char *const reductions[] = {"none", "mean", "sum"};
    dt_mesh *mesh = dt_mesh_new(ctx, "2,3");
    for (int variant = 0; variant < 12; variant++) {
        loss_case self = {.n = 5,
                          .c = 7,
                          .k = 3,
                          .weighted = variant / 3 % 2,
                          .nll = variant % 5 == 4,
                          .reduction = reductions[variant % 3]};
        self.smoothing = self.nll ? 0 : variant % 2 ? 0.1 : 0;
        fill(&self, test_seed(2) + (uint64_t)variant);
        compute(&self);
        dt_scope scope = dt_scope_begin(ctx);
        int failed = check_case(ctx, &self, DT_F32, mesh, places[variant % 4]);
        dt_scope_end(scope);
        if (failed)
            return failed;
    }
    dt_mesh_release(mesh);
    return 0;
}

/* Logits of 4,096 classes: per row 3 numbers of every other rank. */
static int states(dt_ctx *ctx, void *arg) {
    (void)arg;
    char text[16];
    snprintf(text, sizeof text, "%d", (int)dt_world(ctx));
    dt_mesh *mesh = dt_mesh_new(ctx, text);
    dt_tensor *x = dt_randn(ctx, DT_SHAPE(64, 4096), .mesh = mesh, .place = "S(1)", .requires_grad = true);
    dt_tensor *target = distributed(dt_arange(ctx, 0, 64, 1, .dtype = DT_I64), mesh, "R");
    for (int again = 0; again < 2; again++) {
        CHECK_OK(ctx, dt_comm_stats_begin(ctx));
        dt_tensor *loss = dt_cross_entropy(x, target);
        dt_comm_statistics sent = dt_comm_stats(ctx, &(dt_comm_filter){.op = NULL});
        CHECK(loss && sent.n == 1, "%s: %lld collectives", dt_error_text(ctx), (long long)sent.n);
        CHECK(sent.bytes == 64 * 3 * 8 * (dt_world(ctx) - 1), "%lld bytes", (long long)sent.bytes);
        CHECK_OK(ctx, dt_comm_stats_begin(ctx));
        CHECK_OK(ctx, dt_backward(loss));
        CHECK(n_collectives(ctx) == 0, "backward: %lld collectives", (long long)n_collectives(ctx));
    }
    dt_tensor *plain = dt_detach(dt_full_tensor(x));
    CHECK_OK(ctx, dt_set_requires_grad(plain, true));
    CHECK_OK(ctx, dt_backward(dt_cross_entropy(plain, dt_arange(ctx, 0, 64, 1, .dtype = DT_I64))));
    dt_tensor *twice = dt_mul_scalar(dt_grad(plain), 2);
    CHECK(dt_item(dt_amax(dt_abs(dt_sub(dt_full_tensor(dt_grad(x)), twice)))) < 1e-7, "the gradient differs");
    dt_mesh_release(mesh);
    return 0;
}

/* A mean over sharded rows exchanges one number per rank, not the targets, however few they are, which no policy
 * forbids; its gradient exchanges nothing. Every third target is ignored, so that the counts of the ranks differ. */
static int counts_of(dt_ctx *ctx, dt_mesh *mesh, int64_t n_rows, dt_dtype dtype) {
    dt_tensor *logits = dt_randn(ctx, DT_SHAPE(n_rows, 5), .dtype = dtype);
    dt_tensor *classes = dt_remainder_scalar_other(dt_arange(ctx, 0, n_rows, 1, .dtype = DT_I64), 3);
    dt_tensor *weights = dt_rand(ctx, DT_SHAPE(5), .dtype = dtype);
    const double near = dtype == DT_F64 ? 1e-12 : 1e-2, near_grad = dtype == DT_F64 ? 1e-15 : 1e-2;
    for (int kind = 0; kind < 8; kind++) {
        bool nll = kind % 2, weighted = kind / 2 % 2, records = kind / 4;
        const loss_case with = {.nll = nll, .weighted = weighted, .reduction = "mean", .smoothing = nll ? 0 : 0.1};
        dt_tensor *plain = dt_detach(logits), *x = distributed(plain, mesh, "S(0)");
        dt_tensor *target = distributed(classes, mesh, "S(0)"), *w = distributed(weights, mesh, "R");
        CHECK_OK(ctx, dt_set_requires_grad(plain, true));
        CHECK_OK(ctx, dt_set_requires_grad(x, records));
        CHECK_OK(ctx, dt_comm_policy(ctx, DT_COMM_ERROR));
        CHECK_OK(ctx, dt_comm_stats_begin(ctx));
        dt_tensor *loss = run(&with, x, target, weighted ? w : NULL);
        dt_comm_statistics sent = dt_comm_stats(ctx, &(dt_comm_filter){.op = NULL});
        CHECK(loss && sent.n == 1, "kind %d: %s: %lld collectives", kind, dt_error_text(ctx), (long long)sent.n);
        CHECK(sent.bytes <= 2 * 8 * (dt_world(ctx) - 1), "kind %d: %lld bytes", kind, (long long)sent.bytes);
        dt_tensor *expected = run(&with, plain, classes, weighted ? weights : NULL);
        CHECK(fabs(dt_item(loss) - dt_item(expected)) < near, "kind %d: expected %.17g, got %.17g", kind,
              dt_item(expected), dt_item(loss));
        if (!records)
            continue;
        CHECK_OK(ctx, dt_backward(expected));
        CHECK_OK(ctx, dt_comm_stats_begin(ctx));
        CHECK_OK(ctx, dt_backward(loss));
        CHECK(n_collectives(ctx) == 0, "kind %d: backward: %lld collectives", kind, (long long)n_collectives(ctx));
        dt_tensor *difference = dt_sub(dt_full_tensor(dt_grad(x)), dt_grad(plain));
        CHECK(dt_item(dt_amax(dt_abs(difference))) < near_grad, "kind %d: the gradient differs", kind);
    }
    return 0;
}

static int counts(dt_ctx *ctx, void *arg) {
    (void)arg;
    char text[16];
    snprintf(text, sizeof text, "%d", (int)dt_world(ctx));
    dt_mesh *mesh = dt_mesh_new(ctx, text);
    if (counts_of(ctx, mesh, 7, DT_F64) || counts_of(ctx, mesh, 1000, DT_F64) || counts_of(ctx, mesh, 1000, DT_BF16))
        return 1;
    dt_mesh_release(mesh);
    return 0;
}

/* MATH-024: where rows are sharded nothing is sent; over classes one collective of cross_entropy, none of nll_loss. */
static int collectives(dt_ctx *ctx, void *arg) {
    (void)arg;
    static const char *const reductions[] = {"none", "mean", "sum"};
    dt_mesh *mesh = dt_mesh_new(ctx, "4");
    dt_tensor *inputs[] = {dt_randn(ctx, DT_SHAPE(8, 16)), dt_randn(ctx, DT_SHAPE(8, 16, 12))};
    dt_tensor *targets[] = {dt_to(dt_mul_scalar(dt_rand(ctx, DT_SHAPE(8)), 15.9), DT_I64),
                            dt_to(dt_mul_scalar(dt_rand(ctx, DT_SHAPE(8, 12)), 15.9), DT_I64)};
    static const char *const places[] = {"S(0)", "S(1)", "S(2)"}, *const outputs[] = {"S(0)", NULL, "S(1)"};
    for (int kind = 0; kind < 2 * 2 * 3 * 3; kind++) {
        bool nll = kind % 2, cube = kind / 2 % 2;
        int d = kind / 4 % 3;
        const char *reduction = reductions[kind / 12];
        if (d == 2 && !cube)
            continue;
        dt_tensor *plain = inputs[cube], *x = distributed(plain, mesh, places[d]);
        dt_tensor *target = distributed(targets[cube], mesh, "R");
        CHECK_OK(ctx, dt_comm_stats_begin(ctx));
        dt_tensor *loss = nll ? dt_nll_loss(x, target, .reduction = reduction)
                              : dt_cross_entropy(x, target, .reduction = reduction);
        CHECK(loss, "MATH-024: %s", dt_error_text(ctx));
        CHECK(n_collectives(ctx) == (d == 1 && !nll), "MATH-024: %s %s %s: %lld collectives", nll ? "nll" : "ce",
              places[d], reduction, (long long)n_collectives(ctx));
        char text[32];
        (void)dt_placements_text(1, dt_spec_placements(dt_tensor_spec(loss)), sizeof text, text);
        if (d != 1)
            CHECK(strcmp(text, *reduction == 'n' ? outputs[d] : "P(sum)") == 0, "MATH-024: %s", text);
        dt_tensor *expected = nll ? dt_nll_loss(plain, targets[cube], .reduction = reduction)
                                  : dt_cross_entropy(plain, targets[cube], .reduction = reduction);
        dt_tensor *difference = dt_amax(dt_abs(dt_sub(dt_full_tensor(loss), expected)));
        CHECK(dt_item(difference) < 1e-5, "MATH-024: %s %s %s: the values differ", nll ? "nll" : "ce", places[d],
              reduction);
        dt_tensor *leaves[2] = {dt_clone(plain), distributed(plain, mesh, places[d])},
                  *targets_of[2] = {targets[cube], target};
        for (int i = 0; i < 2; i++) {
            CHECK_OK(ctx, dt_set_requires_grad(leaves[i], true));
            dt_tensor *again = nll ? dt_nll_loss(leaves[i], targets_of[i], .reduction = reduction)
                                   : dt_cross_entropy(leaves[i], targets_of[i], .reduction = reduction);
            CHECK_OK(ctx, dt_backward(dt_sum(again)));
        }
        CHECK(dt_tensor_spec(dt_grad(leaves[1])) == dt_tensor_spec(leaves[1]), "MATH-024: %s %s: gradient", places[d],
              reduction);
        difference = dt_amax(dt_abs(dt_sub(dt_full_tensor(dt_grad(leaves[1])), dt_grad(leaves[0]))));
        CHECK(dt_item(difference) < 1e-6, "MATH-024: %s %s %s: the gradients differ", nll ? "nll" : "ce", places[d],
              reduction);
    }
    dt_mesh_release(mesh);
    return 0;
}

/* MATH-025: the gradient sends nothing, whatever the reduction. EXO-003: it equals that of plain tensors. */
static int gradients(dt_ctx *ctx, void *arg) {
    (void)arg;
    static const char *const reductions[] = {"none", "mean", "sum"};
    dt_mesh *mesh = dt_mesh_new(ctx, "4");
    for (int i = 0; i < 6; i++) {
        int64_t n = i / 3 ? 1024 : 8, classes = i / 3 ? 10 : 16;
        dt_tensor *plain = dt_randn(ctx, DT_SHAPE(n, classes), .requires_grad = true);
        dt_tensor *target = dt_to(dt_mul_scalar(dt_rand(ctx, DT_SHAPE(n)), (double)classes - 0.1), DT_I64);
        dt_tensor *x = dt_detach(distributed(dt_detach(plain), mesh, "S(0)"));
        CHECK_OK(ctx, dt_set_requires_grad(x, true));
        dt_tensor *loss =
            dt_sum(dt_cross_entropy(x, distributed(target, mesh, "S(0)"), .reduction = reductions[i % 3]));
        CHECK_OK(ctx, dt_comm_stats_begin(ctx));
        CHECK_OK(ctx, dt_backward(loss));
        CHECK(n_collectives(ctx) == 0, "MATH-025: %lld collectives", (long long)n_collectives(ctx));
        dt_tensor *expected = dt_sum(dt_cross_entropy(plain, target, .reduction = reductions[i % 3]));
        CHECK_OK(ctx, dt_backward(expected));
        double difference = dt_item(dt_abs(dt_sub(dt_full_tensor(loss), expected))) / dt_item(expected);
        CHECK(difference < 1e-6, "EXO-003: the loss differs by %g", difference);
        difference = dt_item(dt_amax(dt_abs(dt_sub(dt_full_tensor(dt_grad(x)), dt_grad(plain)))));
        CHECK(difference < 1e-6, "EXO-003: the gradient differs by %g", difference);
    }
    dt_mesh_release(mesh);
    return 0;
}

/* VIEW-050 */
static int strided(dt_ctx *ctx, void *arg) {
    (void)arg;
    static const char *const reductions[] = {"none", "mean", "sum"};
    dt_mesh *mesh = dt_mesh_new(ctx, "2,2");
    for (int i = 0; i < 6; i++) {
        bool cube = i / 3;
        dt_tensor *x = cube ? dt_randn(ctx, DT_SHAPE(2, 10, 36)) : dt_randn(ctx, DT_SHAPE(48, 10));
        dt_tensor *t = dt_rand(ctx, cube ? DT_SHAPE(2, 36) : DT_SHAPE(48));
        t = dt_to(dt_mul_scalar(t, 9.9), DT_I64);
        dt_tensor *got =
            dt_nll_loss(distributed(x, mesh, cube ? "_S(2,2),S(2)" : "_S(0,2),S(0)"),
                        distributed(t, mesh, cube ? "_S(1,2),S(1)" : "_S(0,2),S(0)"), .reduction = reductions[i % 3]);
        dt_tensor *expected = dt_nll_loss(x, t, .reduction = reductions[i % 3]);
        CHECK(got && dt_item(dt_amax(dt_abs(dt_sub(dt_full_tensor(got), expected)))) < 1e-5, "VIEW-050: %s",
              dt_error_text(ctx));
    }
    dt_mesh_release(mesh);
    return 0;
}

/* A class that does not exist is an error of the rank, which names it; so is a reduction. */
static int refusals(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(2, 3)), *classes = dt_full(ctx, DT_SHAPE(2), 3, .dtype = DT_I64);
    CHECK(!dt_cross_entropy(x, classes) && strstr(dt_error_text(ctx), "class 3 is out of range: expected 0 to 2"),
          "%s", dt_error_text(ctx));
    CHECK_OK(ctx, dt_error_clear(ctx));
    CHECK(!dt_nll_loss(x, classes, .reduction = "max") && strstr(dt_error_text(ctx), "'none', 'mean' or 'sum'"), "%s",
          dt_error_text(ctx));
    CHECK_OK(ctx, dt_error_clear(ctx));
    CHECK(!dt_cross_entropy(x, dt_ones(ctx, DT_SHAPE(2, 2))), "probabilities of another shape");
    CHECK_OK(ctx, dt_error_clear(ctx));
    CHECK(isnan(dt_item(dt_cross_entropy(x, classes, .ignore_index = DT_INT(3)))), "a mean of nothing");
    return 0;
}

static void losses__equal_their_definition(void **state) {
    (void)state;
    for (int n = 1; n <= 5; n++)
        run_ranks(n, losses, NULL);
    run_ranks(6, several_mesh_dims, NULL);
}

static void cross_entropy__sends_states_only(void **state) {
    (void)state;
    run_ranks(2, states, NULL);
    run_ranks(3, states, NULL);
}

static void mean__over_sharded_rows_exchanges_a_count(void **state) {
    (void)state;
    for (int64_t n = 2; n <= 5; n++)
        run_ranks(n, counts, NULL);
}

/* On meshes of many nodes, too, where a count from each rank takes longer than few large messages. */
static void mean__over_the_rows_of_many_ranks_exchanges_a_count(void **state) {
    (void)state;
    static const struct {
        const char *mesh, *place;
        int64_t world;
    } worlds[] = {
        {"16", "S(0)", 16},
        {"1024", "S(0)", 1024},
        {"dp=16,fsdp=64", "S(0),S(0)", 1024},
        {"dp=8,fsdp=64,tp=8", "S(0),S(0),R", 4096},
        {"dp=16,fsdp=64,tp=16", "S(0),S(0),R", 16384},
    };
    for (size_t i = 0; i < sizeof worlds / sizeof *worlds; i++)
        for (int64_t rows = 1; rows <= 64; rows *= 64) {
            dt_ctx *ctx = dt_init(
                &(dt_init_options){.transport = "fake", .world = worlds[i].world, .rank = worlds[i].world - 3});
            dt_mesh *mesh = dt_mesh_new(ctx, worlds[i].mesh);
            dt_tensor *x =
                dt_empty(ctx, DT_SHAPE(rows * worlds[i].world, 1000), .mesh = mesh, .place = worlds[i].place);
            dt_tensor *target = dt_empty(ctx, DT_SHAPE(rows * worlds[i].world), .dtype = DT_I64, .mesh = mesh,
                                         .place = worlds[i].place);
            assert_int_equal(dt_comm_policy(ctx, DT_COMM_ERROR), DT_OK);
            if (!dt_cross_entropy(x, target) || !dt_nll_loss(x, target))
                fail_msg("%s", dt_error_text(ctx));
            dt_mesh_release(mesh);
            assert_int_equal(dt_close(ctx), 0);
        }
}

/* Rows and classes of a large model are sharded: ranks exchange 3 numbers per row of theirs with those that have its
 * other classes, and a count, as for fewer rows; the gradient exchanges nothing. */
static void mean__over_a_large_batch_exchanges_states_only(void **state) {
    (void)state;
    enum { CLASSES = 32000, TP = 8, WORLD = 4096 };
    static const int64_t batches[] = {4096, 800000, 2097152, 2097153};
    for (size_t i = 0; i < sizeof batches / sizeof *batches; i++) {
        dt_ctx *ctx = dt_init(&(dt_init_options){.transport = "fake", .world = WORLD, .rank = 5});
        dt_mesh *mesh = dt_mesh_new(ctx, "dp=8,fsdp=64,tp=8");
        const dt_shape shape = DT_SHAPE(batches[i], CLASSES);
        dt_tensor *x = dt_empty(ctx, shape, .mesh = mesh, .place = "S(0),S(0),S(1)", .requires_grad = true);
        dt_tensor *target =
            dt_empty(ctx, DT_SHAPE(batches[i]), .dtype = DT_I64, .mesh = mesh, .place = "S(0),S(0),R");
        assert_int_equal(dt_comm_stats_begin(ctx), DT_OK);
        dt_tensor *loss = dt_cross_entropy(x, target);
        if (!loss)
            fail_msg("%" PRId64 " rows: %s", batches[i], dt_error_text(ctx));
        const dt_comm_statistics sent = dt_comm_stats(ctx, &(dt_comm_filter){.op = NULL});
        const int64_t of_rows = (TP - 1) * 3 * 8 * dt_tensor_local_elements(target);
        assert_in_range(sent.bytes, of_rows, of_rows + 8 * (WORLD - 1));
        assert_int_equal(dt_backward(loss), DT_OK);
        assert_int_equal(dt_comm_stats(ctx, &(dt_comm_filter){.op = NULL}).n, sent.n);
        assert_ptr_equal(dt_tensor_spec(dt_grad(x)), dt_tensor_spec(x));
        dt_mesh_release(mesh);
        assert_int_equal(dt_close(ctx), 0);
    }
}

static void losses__send_no_more_than_they_must(void **state) {
    (void)state;
    run_ranks(4, collectives, NULL);
    run_ranks(4, gradients, NULL);
    run_ranks(4, strided, NULL);
}

static void losses__refuse_what_is_no_class(void **state) {
    (void)state;
    run_ranks(1, refusals, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(losses__equal_their_definition),
        cmocka_unit_test(cross_entropy__sends_states_only),
        cmocka_unit_test(mean__over_sharded_rows_exchanges_a_count),
        cmocka_unit_test(mean__over_the_rows_of_many_ranks_exchanges_a_count),
        cmocka_unit_test(mean__over_a_large_batch_exchanges_states_only),
        cmocka_unit_test(losses__send_no_more_than_they_must),
        cmocka_unit_test(losses__refuse_what_is_no_class),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
