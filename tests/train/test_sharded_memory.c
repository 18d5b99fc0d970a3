/* SPDX-License-Identifier: Apache-2.0
 *
 * Fully sharded parameters bound the memory of a training step: in addition to the shards of parameters, gradients and
 * optimizer state, and the activations of its batch, a rank holds two blocks whole and 64 MiB.
 *
 * mpi: no: moves between nodes also hold what is sent and received, which the bound does not count
 */
#include "support/ranks.h"

#include "dtensor/dtensor.h"

#include <string.h>

enum { MAX_LAYERS = 64, MAX_BLOCKS = MAX_LAYERS + 2, MAX_WEIGHTS = 8, SLACK = 64 << 20 };

/* Layers of a weight each, or transformer blocks; with a vocabulary, whose weight is read first and last. */
typedef struct model {
    int layers, width;
    bool attends;
    int vocab, rows; /* tokens, or rows of the input, per rank */
    size_t activations;
} model;

static const model weights = {.layers = 64, .width = 1024, .rows = 2};
static const model deep = {.layers = 24, .width = 512, .attends = true, .rows = 16};
static const model wide = {.layers = 1, .width = 768, .attends = true, .vocab = 50257, .rows = 16};

typedef struct block {
    int n;
    dt_tensor *weights[MAX_WEIGHTS];
} block;

typedef struct training {
    const model *of;
    dt_ctx *ctx;
    dt_mesh *mesh;
    bool sharded;
    int n_blocks, n;
    block blocks[MAX_BLOCKS]; /* the first layers, then the embedding and the output layer */
    dt_tensor *all[MAX_BLOCKS * MAX_WEIGHTS];
    dt_optimizer *optimizer;
} training;

static dt_tensor *add_weight(training *self, block *to, int64_t rows, int64_t columns) {
    dt_tensor *weight =
        dt_full(self->ctx, columns ? DT_SHAPE(rows, columns) : DT_SHAPE(rows), DT_NUMBER(0.01), .mesh = self->mesh,
                .place = self->sharded ? "S(0)" : "R", .use = self->sharded ? "R" : NULL, .requires_grad = true);
    self->all[self->n++] = weight;
    return to->weights[to->n++] = weight;
}

static void make(training *self) {
    const model *of = self->of;
    self->optimizer = dt_adamw_new(self->ctx, 0.01);
    for (int i = 0; i < of->layers; i++) {
        block *layer = &self->blocks[self->n_blocks++];
        int64_t width = of->width;
        for (int w = 0; w < (of->attends ? 4 : 1); w++)
            add_weight(self, layer, width, width);
        if (!of->attends)
            continue;
        add_weight(self, layer, 4 * width, width);
        add_weight(self, layer, width, 4 * width);
        add_weight(self, layer, width, 0);
        add_weight(self, layer, width, 0);
    }
    if (!of->vocab)
        return;
    block *first = &self->blocks[self->n_blocks++], *last = &self->blocks[self->n_blocks++];
    last->weights[last->n++] = add_weight(self, first, of->vocab, of->width);
}

/* [rows,width] -> [rows,width] */
static dt_tensor *run_block(const training *self, const block *b, dt_tensor *x) {
    dt_tensor *const *w = b->weights;
    const int64_t width = self->of->width, n = dt_tensor_size(x, 0);
    if (!self->of->attends)
        return dt_tanh(dt_linear(x, w[0]));
    dt_tensor *y = dt_layer_norm(x, DT_SHAPE(width), .weight = w[6]), *heads[3];
    for (int i = 0; i < 3; i++)
        heads[i] = dt_transpose(
            dt_view(dt_linear(y, w[i]), DT_SHAPE(n / self->of->rows, self->of->rows, 8, width / 8)), 1, 2);
    y = dt_transpose(dt_scaled_dot_product_attention(heads[0], heads[1], heads[2], .is_causal = true), 1, 2);
    x = dt_add(x, dt_linear(dt_reshape(y, DT_SHAPE(n, width)), w[3]));
    y = dt_layer_norm(x, DT_SHAPE(width), .weight = w[7]);
    return dt_add(x, dt_linear(dt_gelu(dt_linear(y, w[4])), w[5]));
}

static dt_tensor *in_scope(const training *self, const block *b, dt_tensor *x) {
    dt_scope scope = dt_scope_begin(self->ctx);
    x = dt_keep(run_block(self, b, x));
    dt_scope_end(scope);
    return x;
}

static dt_tensor *loss_of(const training *self) {
    const model *of = self->of;
    int64_t n = of->rows * dt_mesh_size(self->mesh);
    if (!of->vocab) {
        dt_tensor *x =
            dt_full(self->ctx, DT_SHAPE(n, of->width), DT_NUMBER(0.1), .mesh = self->mesh, .place = "S(0)");
        for (int i = 0; i < of->layers; i++)
            x = in_scope(self, &self->blocks[i], x);
        return dt_sum(dt_mul(x, x));
    }
    dt_tensor *tokens = dt_arange(self->ctx, 0, n, 1, .dtype = DT_I64, .mesh = self->mesh, .place = "S(0)");
    dt_scope scope = dt_scope_begin(self->ctx);
    dt_tensor *x = dt_keep(dt_embedding(tokens, self->blocks[of->layers].weights[0]));
    dt_scope_end(scope);
    for (int i = 0; i < of->layers; i++)
        x = in_scope(self, &self->blocks[i], x);
    scope = dt_scope_begin(self->ctx);
    dt_tensor *logits = dt_keep(dt_linear(x, self->blocks[of->layers + 1].weights[0]));
    dt_scope_end(scope);
    return dt_cross_entropy(logits, tokens);
}

/* Returns the last loss. */
static double train(training *self, int n_steps) {
    double loss = 0;
    for (int i = 0; i < n_steps; i++) {
        dt_scope scope = dt_scope_begin(self->ctx);
        dt_tensor *t = loss_of(self);
        dt_backward(t);
        loss = dt_item(t);
        dt_optimizer_step(self->optimizer, .parameters = ((dt_tensors){self->n, self->all}));
        dt_zero_grad((dt_tensors){self->n, self->all});
        dt_scope_end(scope);
    }
    return loss;
}

static void end(training *self) {
    dt_optimizer_free(self->optimizer);
    for (int i = 0; i < self->n; i++)
        dt_drop(self->all[i]);
    dt_mesh_release(self->mesh);
}

/* Bytes of the two largest blocks. */
static size_t two_largest(const training *self) {
    size_t largest[2] = {0, 0};
    for (int b = 0; b < self->n_blocks; b++) {
        size_t bytes = 0;
        for (int w = 0; w < self->blocks[b].n; w++)
            bytes += 4 * (size_t)dt_tensor_elements(self->blocks[b].weights[w]);
        if (bytes > largest[0]) {
            largest[1] = largest[0];
            largest[0] = bytes;
        } else if (bytes > largest[1])
            largest[1] = bytes;
    }
    return largest[0] + largest[1];
}

/* The activations of one rank when its loss is computed: those of each rank of dp with the same local batch. */
static int measure_activations(dt_ctx *ctx, void *arg) {
    training self = {.of = arg, .ctx = ctx, .mesh = dt_mesh_new(ctx, "dp=*")};
    make(&self);
    dt_scope scope = dt_scope_begin(ctx);
    (void)loss_of(&self);
    CHECK(!dt_failed(ctx), "%s", dt_error_text(ctx));
    ((model *)arg)->activations = dt_heap_stats(ctx).by_kind[DT_MEMORY_ACTIVATIONS].live_bytes;
    dt_scope_end(scope);
    end(&self);
    return 0;
}

static int check_peak(dt_ctx *ctx, void *arg) {
    const model *of = arg;
    training self = {.of = of, .ctx = ctx, .mesh = dt_mesh_new(ctx, "fsdp=*"), .sharded = true};
    size_t parameters = 0;
    make(&self);
    (void)train(&self, 2);
    CHECK(!dt_failed(ctx), "%s", dt_error_text(ctx));
    for (int i = 0; i < self.n; i++)
        parameters += 4 * (size_t)dt_tensor_local_elements(self.all[i]);
    size_t bound = 4 * parameters + of->activations + two_largest(&self) + SLACK,
           peak = dt_heap_stats(ctx).peak_bytes;
    CHECK(peak <= bound, "peak %zu, bound %zu bytes", peak, bound);
    end(&self);
    return 0;
}

static void check_model(const model *of) {
    model *shared = test_shared_memory(sizeof *shared);
    *shared = *of;
    if (test_leads())
        run_ranks(1, measure_activations, shared);
    for (int64_t n = 2; n <= 4; n += 2)
        run_ranks(n, check_peak, shared);
}

static void sharded__memory_of_many_weights_is_bounded(void **state) {
    (void)state;
    check_model(&weights);
}

static void sharded__memory_of_many_layers_is_bounded(void **state) {
    (void)state;
    check_model(&deep);
}

static void sharded__memory_of_a_tied_vocabulary_is_bounded(void **state) {
    (void)state;
    check_model(&wide);
}

/* Shards of gradients are sums in the order of the ranks, as the whole ones are. */
static int check_bits(dt_ctx *ctx, void *arg) {
    double losses[2];
    for (int sharded = 0; sharded < 2; sharded++) {
        training self = {.of = arg, .ctx = ctx, .mesh = dt_mesh_new(ctx, "fsdp=*"), .sharded = sharded};
        make(&self);
        losses[sharded] = train(&self, 4);
        CHECK(!dt_failed(ctx), "%s", dt_error_text(ctx));
        end(&self);
    }
    CHECK(losses[0] == losses[1] && losses[0] > 0, "losses %.17g and %.17g", losses[0], losses[1]);
    return 0;
}

static void sharded__losses_have_the_bits_of_replicated_parameters(void **state) {
    (void)state;
    static const model small = {.layers = 3, .width = 48, .attends = true, .vocab = 101, .rows = 5};
    for (int64_t n = 1; n <= 5; n++)
        run_ranks(n, check_bits, (void *)&small);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sharded__memory_of_many_weights_is_bounded),
        cmocka_unit_test(sharded__memory_of_many_layers_is_bounded),
        cmocka_unit_test(sharded__memory_of_a_tied_vocabulary_is_bounded),
        cmocka_unit_test(sharded__losses_have_the_bits_of_replicated_parameters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
