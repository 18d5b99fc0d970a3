/* SPDX-License-Identifier: Apache-2.0
 *
 * A program for the tests of estimates: trains layers of an uneven width with an optimizer, on a mesh, or makes calls
 * of every way to run a row.
 *
 *     tools.estimated MESH OPTIMIZER [hold] [checkpoint] [bf16] [f64] [stats]
 *     tools.estimated MESH calls
 *     tools.estimated MESH product|list|copy|embedding|cholesky|convolution|read|mapped|slice
 */
#include <dtensor/dtensor.h>

#include <stdio.h>
#include <string.h>

enum { LAYERS = 3, WIDTH = 21, HIDDEN = 35, BATCH = 10, CLASSES = 11, MICRO = 2, STEPS = 2 };

struct layer {
    dt_tensor *norm, *w1, *b1, *w2;
};

struct settings {
    bool holds, checkpoints;
    dt_dtype dtype, batch;    /* of parameters, and of what is computed */
    const char *rules, *rows; /* rows: of the batch */
};

static bool has_word(int argc, char **argv, const char *word) {
    for (int i = 3; i < argc; i++)
        if (!strcmp(argv[i], word))
            return true;
    return false;
}

static dt_optimizer *new_optimizer(dt_ctx *ctx, dt_params *p, const char *name) {
    if (!strcmp(name, "sgd"))
        return dt_sgd_new(ctx, 0.1, .params = p, .momentum = DT_REAL(0.9));
    if (!strcmp(name, "adagrad"))
        return dt_adagrad_new(ctx, 0.1, .params = p);
    if (!strcmp(name, "rmsprop"))
        return dt_rmsprop_new(ctx, 0.1, .params = p);
    if (!strcmp(name, "lion"))
        return dt_lion_new(ctx, 0.1, .params = p);
    if (!strcmp(name, "nadam"))
        return dt_nadam_new(ctx, 0.1, .params = p);
    return dt_adamw_new(ctx, 0.1, .params = p);
}

static dt_tensor *run_layer(dt_tensor *const *inputs, void *user) {
    const struct layer *l = user;
    dt_tensor *x = dt_rms_norm(inputs[0], DT_SHAPE(WIDTH), .weight = l->norm);
    dt_tensor *h = dt_dropout(dt_gelu(dt_linear(x, l->w1, l->b1)), .p = DT_REAL(0.1));
    return dt_add(inputs[0], dt_reduced(dt_linear(h, l->w2)));
}

static void train(dt_ctx *ctx, dt_mesh *mesh, const char *optimizer, const struct settings *s) {
    dt_params *p = dt_params_new(ctx, .mesh = mesh, .rules = s->rules);
    struct layer layers[LAYERS];
    for (int i = 0; i < LAYERS; i++) {
        dt_params_begin(p, "h.%d.", i);
        layers[i] = (struct layer){
            .norm = dt_param(p, "norm.weight", DT_SHAPE(WIDTH), .std = DT_REAL(1), .dtype = s->dtype),
            .w1 = dt_param(p, "fc1.weight", DT_SHAPE(HIDDEN, WIDTH), .std = DT_REAL(0.1), .dtype = s->dtype),
            .b1 = dt_param(p, "fc1.bias", DT_SHAPE(HIDDEN), .dtype = s->dtype),
            .w2 = dt_param(p, "fc2.weight", DT_SHAPE(WIDTH, HIDDEN), .std = DT_REAL(0.1), .dtype = s->dtype)};
        dt_params_end(p);
    }
    dt_tensor *head = dt_param(p, "head.weight", DT_SHAPE(CLASSES, WIDTH), .std = DT_REAL(0.1), .dtype = s->dtype);
    dt_optimizer *opt = new_optimizer(ctx, p, optimizer);
    for (int step = 0; step < STEPS && !dt_failed(ctx); step++) {
        dt_scope scope = dt_scope_begin(ctx);
        dt_comm_scope_begin(ctx, "step");
        for (int i = 0; i < MICRO; i++) {
            dt_tensor *x = dt_randn(ctx, DT_SHAPE(BATCH, WIDTH), .mesh = mesh, .place = s->rows, .dtype = s->batch);
            dt_tensor *y = dt_randint(ctx, 0, CLASSES, DT_SHAPE(BATCH), .mesh = mesh, .place = s->rows);
            for (int l = 0; l < LAYERS; l++) {
                dt_scope block = dt_scope_begin(ctx);
                x = dt_keep(s->checkpoints ? dt_checkpoint(run_layer, &layers[l], DT_TENSORS(x))
                                           : run_layer(&x, &layers[l]));
                dt_scope_end(block);
            }
            dt_tensor *loss = dt_cross_entropy(dt_linear(x, head), y);
            dt_backward(loss, .hold = s->holds && i + 1 < MICRO ? "dp" : NULL);
            if (dt_item(loss) < -1e30)
                printf("never\n");
        }
        dt_clip_grad_norm(dt_params_list(p, NULL), 1.0);
        dt_optimizer_step(opt);
        dt_zero_grad(dt_params_list(p, NULL));
        dt_comm_scope_end(ctx);
        dt_scope_end(scope);
    }
    dt_optimizer_free(opt);
    dt_params_free(p);
}

/* Rows that run locally, meet, scan, fetch windows, and decompose; indices, products, sorts; uneven shards. */
static void make_calls(dt_ctx *ctx, dt_mesh *mesh) {
    dt_tensor *x = dt_randn(ctx, DT_SHAPE(7, 37), .mesh = mesh, .place = "dp=S(0),tp=S(1)");
    dt_tensor *half = dt_to(x, DT_BF16), *wide = dt_transpose(dt_to(x, DT_F64), 0, 1);
    dt_tensor *index = dt_randint(ctx, 0, 7, DT_SHAPE(5), .mesh = mesh);
    dt_tensor *first = dt_slice(x, 1, 3, 31, 2);
    dt_tensor *made[] = {
        dt_softmax(x, 1),
        dt_cumsum(x, 1),
        dt_flip(x, DT_DIMS(0, 1)),
        dt_roll(x, DT_INTS(3), .dims = DT_DIMS(1)),
        dt_cat(DT_TENSORS(x, first), .dim = DT_INT(1)),
        dt_matmul(x, dt_transpose(x, 0, 1)),
        dt_matmul(half, dt_to(wide, DT_BF16)),
        dt_std(x, .dim = DT_DIMS(0)),
        dt_layer_norm(x, DT_SHAPE(37)),
        dt_index_select(x, 0, index),
        dt_topk(dt_redistribute(x, "R,R"), 3).values,
        dt_sort(dt_redistribute(x, "S(0),R")).values,
        dt_logsumexp(x, DT_DIMS(0, 1)),
        dt_clone(dt_expand(dt_sum(x, .dim = DT_DIMS(0), .keepdim = true), DT_SHAPE(5, 37))),
        dt_scaled_dot_product_attention(dt_reshape(x, DT_SHAPE(1, 7, 37)), dt_reshape(x, DT_SHAPE(1, 7, 37)),
                                        dt_reshape(x, DT_SHAPE(1, 7, 37)), .is_causal = true),
    };
    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        if (!made[i])
            return;
    dt_tensor *full = dt_full_tensor(made[0]);
    const float *data = dt_data(full);
    printf("%g %g\n", data ? (double)data[0] : 0, dt_item(dt_sum(made[1])));
}

/* One product, whose time is known. */
static void multiply(dt_ctx *ctx, dt_mesh *mesh) {
    dt_tensor *a = dt_zeros(ctx, DT_SHAPE(64, 128), .mesh = mesh, .place = "tp=S(1)");
    dt_tensor *b = dt_zeros(ctx, DT_SHAPE(128, 256), .mesh = mesh, .place = "tp=S(0)");
    (void)dt_matmul(a, b);
}

/* Three tensors of 400 bytes, in one call. */
static void scale_list(dt_ctx *ctx, dt_mesh *mesh) {
    dt_tensor *a = dt_zeros(ctx, DT_SHAPE(100), .mesh = mesh), *b = dt_zeros_like(a), *c = dt_zeros_like(a);
    (void)dt_foreach_mul_scalar_(DT_TENSORS(a, b, c), 2);
}

/* A view that needs a copy, of 400 bytes. */
static void copy(dt_ctx *ctx, dt_mesh *mesh) {
    (void)dt_reshape(dt_transpose(dt_zeros(ctx, DT_SHAPE(10, 10), .mesh = mesh), 0, 1), DT_SHAPE(100));
}

/* Matrices whose factors take more than their bytes. */
static void factor(dt_ctx *ctx, dt_mesh *mesh) {
    (void)dt_linalg_cholesky(dt_zeros(ctx, DT_SHAPE(2, 64, 64), .mesh = mesh));
}

static void convolve(dt_ctx *ctx, dt_mesh *mesh) {
    (void)dt_conv2d(dt_zeros(ctx, DT_SHAPE(2, 6, 18, 18), .mesh = mesh),
                    dt_zeros(ctx, DT_SHAPE(8, 6, 3, 3), .mesh = mesh));
}

/* The gradient of a table, whose rows indices name. */
static void embed(dt_ctx *ctx, dt_mesh *mesh) {
    dt_tensor *table = dt_zeros(ctx, DT_SHAPE(50, 8), .mesh = mesh, .requires_grad = true);
    dt_tensor *indices = dt_zeros(ctx, DT_SHAPE(7), .dtype = DT_I64, .mesh = mesh);
    dt_backward(dt_sum(dt_embedding(indices, table)));
}

/* A number of classes that follows from values. */
static void read_values(dt_ctx *ctx, dt_mesh *mesh) {
    (void)dt_one_hot(dt_zeros(ctx, DT_SHAPE(7), .dtype = DT_I64, .mesh = mesh), -1);
}

/* A tensor on a slice of the mesh, as those of a stage are. */
static void use_slice(dt_ctx *ctx, dt_mesh *mesh) {
    dt_mesh *dp = dt_mesh_slice(mesh, "dp");
    (void)dt_sum(dt_zeros(ctx, DT_SHAPE(8), .mesh = dp, .place = "S(0)"));
    dt_mesh_release(dp);
}

static dt_status copy_input(dt_ctx *ctx, dt_tensor *const *inputs, dt_tensor **outputs, void *user) {
    (void)ctx, (void)user;
    outputs[0] = dt_clone(inputs[0]);
    return DT_OK;
}

/* A function of the program on local tensors. */
static void map(dt_ctx *ctx, dt_mesh *mesh) {
    static const char *const placed[] = {"dp=S(0)"};
    dt_tensor *x = dt_zeros(ctx, DT_SHAPE(6, 2), .mesh = mesh, .place = placed[0]), *y;
    dt_local_map(
        ctx, &(dt_local_mapping){.run = copy_input, .n_inputs = 1, .inputs = &x, .n_outputs = 1, .out = placed}, &y);
}

int main(int argc, char **argv) {
    dt_ctx *ctx = dt_init(NULL);
    if (!ctx || argc < 3)
        return 1;
    static const char rules[] = "*.fc1.*      tp=col\n"
                                "*.fc2.weight tp=row\n"
                                "*            fsdp=free",
                      halves[] = "*.fc1.*      tp=col\n"
                                 "*.fc2.weight tp=row\n"
                                 "*            fsdp=free use=bf16 grad=f32";
    const bool dp = !strncmp(argv[1], "dp=", 3), fsdp = strstr(argv[1], "fsdp=") != NULL;
    struct settings settings = {.rows = dp && fsdp ? "dp=S(0),fsdp=S(0)"
                                        : fsdp     ? "fsdp=S(0)"
                                        : dp       ? "dp=S(0)"
                                                   : "tp=R",
                                .holds = has_word(argc, argv, "hold"),
                                .checkpoints = has_word(argc, argv, "checkpoint"),
                                .dtype = has_word(argc, argv, "f64") ? DT_F64 : DT_F32,
                                .batch = has_word(argc, argv, "f64")    ? DT_F64
                                         : has_word(argc, argv, "bf16") ? DT_BF16
                                                                        : DT_F32,
                                .rules = has_word(argc, argv, "bf16") ? halves : rules};
    dt_mesh *mesh = dt_mesh_new(ctx, argv[1]);
    if (mesh && !strcmp(argv[2], "calls"))
        make_calls(ctx, mesh);
    else if (mesh && !strcmp(argv[2], "product"))
        multiply(ctx, mesh);
    else if (mesh && !strcmp(argv[2], "list"))
        scale_list(ctx, mesh);
    else if (mesh && !strcmp(argv[2], "copy"))
        copy(ctx, mesh);
    else if (mesh && !strcmp(argv[2], "embedding"))
        embed(ctx, mesh);
    else if (mesh && !strcmp(argv[2], "cholesky"))
        factor(ctx, mesh);
    else if (mesh && !strcmp(argv[2], "convolution"))
        convolve(ctx, mesh);
    else if (mesh && !strcmp(argv[2], "read"))
        read_values(ctx, mesh);
    else if (mesh && !strcmp(argv[2], "mapped"))
        map(ctx, mesh);
    else if (mesh && !strcmp(argv[2], "slice"))
        use_slice(ctx, mesh);
    else if (mesh) {
        dt_comm_stats_begin(ctx);
        train(ctx, mesh, argv[2], &settings);
        if (has_word(argc, argv, "stats") && dt_rank(ctx) == 0)
            printf("%s\n%s", dt_memory_text(ctx), dt_comm_stats_text(ctx));
    }
    return dt_close(ctx);
}
