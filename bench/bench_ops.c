/* SPDX-License-Identifier: Apache-2.0
 *
 * Speed of ops on plain tensors with one thread, f32 [4096,1024] if nothing else is stated: milliseconds of the CPU, of
 * the fastest repeat, once it has settled (settle.h). torch_ops_peer.py measures the same calls with PyTorch in turn:
 * with --serve a line NAME N on the standard input runs an op N times, and the times are printed in one line.
 *
 *     bench_ops [--quick] [--serve] [--list]
 */
#include "dtensor/dtensor.h"
#include "settle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    ROWS = 4096,
    COLUMNS = 1024,
    BATCH = 4,
    HEADS = 8,
    TOKENS = 512,
    WIDTH = 64,
    WORDS = 50000,
    TEXT = 8192,
    PLACES = 1 << 20,
    WIDE = 4096,
    N_PRODUCTS = 3
};

static dt_ctx *ctx;
static dt_tensor *x, *y, *half, *weight, *bias, *mean, *variance, *query, *key, *value, *grad, *sums, *table, *text,
    *classes, *rows, *columns, *places;
static dt_tensor *leaf, *affine, *shift, *words, *half_words; /* which require gradients */
/* So do these: images [8,64,56,56], signals [8,64,4096], filters of 3 and 1, of each channel, and to twice the size. */
static dt_tensor *image, *signal, *filter_3, *filter_1, *filter_each, *filter_signal, *filter_up, *per_channel,
    *offsets;
static dt_tensor *bounds, *which, *batch_x, *batch_y; /* boundaries, indices of rows, and batches of matrices */

/* Products x W and x Wt in three dtypes: [1,4096] and [8,4096] by [4096,4096], and [512,1024] by [1024,1024]. */
static const dt_dtype product_dtypes[] = {DT_F32, DT_BF16, DT_F16};
static struct product { dt_tensor *x, *w, *wt; } products[N_PRODUCTS][3];
#define PRODUCT_LIST(X)                                                                                              \
    X(f32, 0)                                                                                                        \
    X(bf16, 1)                                                                                                       \
    X(f16, 2)
#define PRODUCT(dtype, d)                                                                                            \
    static dt_tensor *run_product_1_##dtype(void) { return dt_matmul(products[0][d].x, products[0][d].w); }          \
    static dt_tensor *run_product_t_1_##dtype(void) { return dt_matmul(products[0][d].x, products[0][d].wt); }       \
    static dt_tensor *run_product_8_##dtype(void) { return dt_matmul(products[1][d].x, products[1][d].w); }          \
    static dt_tensor *run_product_t_8_##dtype(void) { return dt_matmul(products[1][d].x, products[1][d].wt); }       \
    static dt_tensor *run_product_512_##dtype(void) { return dt_matmul(products[2][d].x, products[2][d].w); }        \
    static dt_tensor *run_product_t_512_##dtype(void) { return dt_matmul(products[2][d].x, products[2][d].wt); }
PRODUCT_LIST(PRODUCT)
#undef PRODUCT

static dt_tensor *run_add(void) { return dt_add(x, y); }
static dt_tensor *run_mul(void) { return dt_mul(x, y); }
static dt_tensor *run_relu(void) { return dt_relu(x); }
static dt_tensor *run_exp(void) { return dt_exp(x); }
static dt_tensor *run_tanh(void) { return dt_tanh(x); }
static dt_tensor *run_gelu(void) { return dt_gelu(x); }
static dt_tensor *run_gelu_tanh(void) { return dt_gelu(x, .approximate = "tanh"); }
static dt_tensor *run_softmax(void) { return dt_softmax(x, 1); }
static dt_tensor *run_softmax_0(void) { return dt_softmax(x, 0); }
static dt_tensor *run_log_softmax(void) { return dt_log_softmax(x, 1); }
static dt_tensor *run_layer_norm(void) { return dt_layer_norm(x, DT_SHAPE(COLUMNS), .weight = weight, .bias = bias); }
static dt_tensor *run_rms_norm(void) { return dt_rms_norm(x, DT_SHAPE(COLUMNS), .weight = weight); }
static dt_tensor *run_sum_0(void) { return dt_sum(x, .dim = DT_DIMS(0)); }
static dt_tensor *run_sum_1(void) { return dt_sum(x, .dim = DT_DIMS(1)); }
static dt_tensor *run_max(void) { return dt_max_dim(x, 1).values; }
static dt_tensor *run_argmax(void) { return dt_argmax(x, .dim = DT_INT(1)); }
static dt_tensor *run_cumsum(void) { return dt_cumsum(x, 1); }
static dt_tensor *run_transposed(void) { return dt_contiguous(dt_transpose(x, 0, 1)); }
static dt_tensor *run_cat(void) { return dt_cat(DT_TENSORS(x, y), .dim = DT_INT(1)); }
static dt_tensor *run_to_bf16(void) { return dt_to(x, DT_BF16); }
static dt_tensor *run_from_bf16(void) { return dt_to(half, DT_F32); }
static dt_tensor *run_normal(void) { return dt_randn(ctx, DT_SHAPE(ROWS, COLUMNS)); }
static dt_tensor *run_dropout(void) { return dt_dropout(x, .p = DT_REAL(0.1)); }
static dt_tensor *run_adamw(void) {
    const dt_status status = dt_fused_adamw_(DT_TENSORS(x), DT_TENSORS(y), DT_TENSORS(mean), DT_TENSORS(variance),
                                             0.0, 7, .weight_decay = DT_REAL(0.01));
    return status == DT_OK ? x : NULL;
}
static dt_tensor *run_cross_entropy(void) { return dt_cross_entropy(x, classes); }
static dt_tensor *run_embedding(void) { return dt_embedding(text, table); }
static dt_tensor *run_scatter_add_0(void) { return dt_scatter_add(x, 0, rows, y); }
static dt_tensor *run_scatter_add_1(void) { return dt_scatter_add(x, 1, columns, y); }
static dt_tensor *run_scatter_add_bf16_0(void) { return dt_scatter_add(half, 0, rows, half); }
static dt_tensor *run_scatter_add_bf16_1(void) { return dt_scatter_add(half, 1, columns, half); }
/* Of all elements into a vector of PLACES. */
static dt_tensor *add_vector(dt_tensor *of) {
    dt_tensor *all = dt_reshape(of, DT_SHAPE(ROWS * COLUMNS));
    return dt_scatter_add(dt_narrow(all, 0, 0, PLACES), 0, places, all);
}
static dt_tensor *run_scatter_add_vector(void) { return add_vector(y); }
static dt_tensor *run_scatter_add_bf16_vector(void) { return add_vector(half); }
static dt_tensor *run_attention(void) { return dt_scaled_dot_product_attention(query, key, value); }
static dt_tensor *run_attention_causal(void) {
    return dt_scaled_dot_product_attention(query, key, value, .is_causal = true);
}
static dt_tensor *run_attention_grads(void) {
    return dt_attention_backward(grad, query, key, value, value, sums).grad_key;
}
static dt_tensor *run_attention_causal_grads(void) {
    return dt_attention_backward(grad, query, key, value, value, sums, .is_causal = true).grad_key;
}

/* Gradients of a call that was recorded before, so that only they are measured. */
typedef struct recorded {
    dt_tensor *out, *grad, *inputs[3];
    int n_inputs;
} recorded;

static dt_tensor *gradients_of(const recorded *of) {
    dt_tensor *grads[3];
    const dt_status status = dt_gradients(DT_TENSORS(of->out), ((dt_tensors){of->n_inputs, (dt_tensor **)of->inputs}),
                                          grads, .output_grads = &(dt_tensor *){of->grad}, .retain_graph = true);
    return status == DT_OK ? grads[0] : NULL;
}

/* X(name, call, inputs): the gradients of these inputs; leaf is f32[4096,1024], and affine and shift f32[1024]. */
#define RECORDED_LIST(X)                                                                                             \
    X(mul, dt_mul(leaf, y), {leaf}, 1)                                                                               \
    X(relu, dt_relu(leaf), {leaf}, 1)                                                                                \
    X(exp, dt_exp(leaf), {leaf}, 1)                                                                                  \
    X(tanh, dt_tanh(leaf), {leaf}, 1)                                                                                \
    X(gelu, dt_gelu(leaf), {leaf}, 1)                                                                                \
    X(gelu_tanh, dt_gelu(leaf, .approximate = "tanh"), {leaf}, 1)                                                    \
    X(softmax, dt_softmax(leaf, 1), {leaf}, 1)                                                                       \
    X(softmax_0, dt_softmax(leaf, 0), {leaf}, 1)                                                                     \
    X(log_softmax, dt_log_softmax(leaf, 1), {leaf}, 1)                                                               \
    X(layer_norm, dt_layer_norm(leaf, DT_SHAPE(COLUMNS), .weight = affine, .bias = shift), {leaf, affine, shift}, 3) \
    X(rms_norm, dt_rms_norm(leaf, DT_SHAPE(COLUMNS), .weight = affine), {leaf, affine}, 2)                           \
    X(cross_entropy, dt_cross_entropy(leaf, classes), {leaf}, 1)                                                     \
    X(embedding, dt_embedding(text, words), {words}, 1)                                                              \
    X(embedding_bf16, dt_embedding(text, half_words), {half_words}, 1)

/* As above, of images and signals, and measured without gradients, too. */
#define IMAGE_LIST(X)                                                                                                \
    X(conv2d_3, dt_conv2d(image, filter_3, .padding = DT_INTS(1, 1)), {image, filter_3}, 2)                          \
    X(conv2d_1, dt_conv2d(image, filter_1), {image, filter_1}, 2)                                                    \
    X(conv2d_depthwise, dt_conv2d(image, filter_each, .padding = DT_INTS(1, 1), .groups = DT_INT(64)),               \
      {image, filter_each}, 2)                                                                                       \
    X(conv1d, dt_conv1d(signal, filter_signal, .padding = DT_INTS(1)), {signal, filter_signal}, 2)                   \
    X(conv_transpose2d, dt_conv_transpose2d(image, filter_up, .stride = DT_INTS(2, 2)), {image, filter_up}, 2)       \
    X(max_pool2d, dt_max_pool2d(image, DT_INTS(2, 2)), {image}, 1)                                                   \
    X(avg_pool2d, dt_avg_pool2d(image, DT_INTS(2, 2)), {image}, 1)                                                   \
    X(batch_norm, dt_batch_norm(image, .weight = per_channel, .bias = offsets, .training = true),                    \
      {image, per_channel, offsets}, 3)                                                                              \
    X(group_norm, dt_group_norm(image, 8, .weight = per_channel, .bias = offsets), {image, per_channel, offsets}, 3) \
    X(interpolate_nearest, dt_interpolate(image, .scale_factor = DT_REALS(2, 2)), {image}, 1)                        \
    X(interpolate_bilinear, dt_interpolate(image, .scale_factor = DT_REALS(2, 2), .mode = "bilinear"), {image}, 1)

#define RECORDED(name, call, ...)                                                                                    \
    static recorded recorded_##name;                                                                                 \
    static dt_tensor *run_##name##_backward(void) { return gradients_of(&recorded_##name); }
RECORDED_LIST(RECORDED)
IMAGE_LIST(RECORDED)
#undef RECORDED
#define UNRECORDED(name, call, ...)                                                                                  \
    static dt_tensor *run_##name(void) {                                                                             \
        dt_no_grad_begin(ctx);                                                                                       \
        dt_tensor *result = call;                                                                                    \
        dt_no_grad_end(ctx);                                                                                         \
        return result;                                                                                               \
    }
IMAGE_LIST(UNRECORDED)
#undef UNRECORDED

static dt_tensor *run_index_put(void) { return dt_index_put(x, DT_TENSORS(which), y); }
static dt_tensor *run_index_put_add(void) { return dt_index_put(x, DT_TENSORS(which), y, .accumulate = true); }
static dt_tensor *run_histc(void) { return dt_histc(x, 100, -3, 3); }
static dt_tensor *run_median(void) { return dt_median_dim(x, 1).values; }
static dt_tensor *run_searchsorted(void) { return dt_searchsorted(bounds, x); }
static dt_tensor *run_einsum_product(void) {
    return dt_einsum("ij,kj->ik", DT_TENSORS(products[2][0].x, products[2][0].w));
}
static dt_tensor *run_einsum_batch(void) { return dt_einsum("bij,bjk->bik", DT_TENSORS(batch_x, batch_y)); }
static dt_tensor *run_einsum_heads(void) { return dt_einsum("bhqd,bhkd->bhqk", DT_TENSORS(query, key)); }
static dt_tensor *run_einsum_outer(void) { return dt_einsum("i,j->ij", DT_TENSORS(bias, weight)); }
static dt_tensor *run_einsum_sum(void) { return dt_einsum("ij,ij->i", DT_TENSORS(x, y)); }

static const struct op {
    const char *name;
    dt_tensor *(*run)(void);
} ops[] = {{"add", run_add},
           {"mul", run_mul},
           {"relu", run_relu},
           {"exp", run_exp},
           {"tanh", run_tanh},
           {"gelu", run_gelu},
           {"gelu_tanh", run_gelu_tanh},
           {"softmax", run_softmax},
           {"softmax_0", run_softmax_0},
           {"log_softmax", run_log_softmax},
           {"layer_norm", run_layer_norm},
           {"rms_norm", run_rms_norm},
           {"sum_0", run_sum_0},
           {"sum_1", run_sum_1},
           {"max", run_max},
           {"argmax", run_argmax},
           {"cumsum", run_cumsum},
           {"transposed_copy", run_transposed},
           {"cat", run_cat},
           {"to_bf16", run_to_bf16},
           {"from_bf16", run_from_bf16},
           {"normal", run_normal},
           {"dropout", run_dropout},
           {"adamw", run_adamw},
           {"cross_entropy", run_cross_entropy},
           {"embedding", run_embedding},
           {"scatter_add_0", run_scatter_add_0},
           {"scatter_add_1", run_scatter_add_1},
           {"scatter_add_bf16_0", run_scatter_add_bf16_0},
           {"scatter_add_bf16_1", run_scatter_add_bf16_1},
           {"scatter_add_vector", run_scatter_add_vector},
           {"scatter_add_bf16_vector", run_scatter_add_bf16_vector},
           {"index_put", run_index_put},
           {"index_put_add", run_index_put_add},
           {"histc", run_histc},
           {"median", run_median},
           {"searchsorted", run_searchsorted},
           {"einsum_product", run_einsum_product},
           {"einsum_batch", run_einsum_batch},
           {"einsum_heads", run_einsum_heads},
           {"einsum_outer", run_einsum_outer},
           {"einsum_sum", run_einsum_sum},
           {"attention", run_attention},
           {"attention_causal", run_attention_causal},
           {"attention_backward", run_attention_grads},
           {"attention_causal_backward", run_attention_causal_grads},
#define PRODUCT(dtype, d)                                                                                            \
    {"product_1_" #dtype, run_product_1_##dtype}, {"product_t_1_" #dtype, run_product_t_1_##dtype},                  \
        {"product_8_" #dtype, run_product_8_##dtype}, {"product_t_8_" #dtype, run_product_t_8_##dtype},              \
        {"product_512_" #dtype, run_product_512_##dtype}, {"product_t_512_" #dtype, run_product_t_512_##dtype},
           PRODUCT_LIST(PRODUCT)
#undef PRODUCT
#define RECORDED(name, ...) {#name "_backward", run_##name##_backward},
               RECORDED_LIST(RECORDED) IMAGE_LIST(RECORDED)
#undef RECORDED
#define UNRECORDED(name, ...) {#name, run_##name},
                   IMAGE_LIST(UNRECORDED)
#undef UNRECORDED
};
enum { N_OPS = sizeof ops / sizeof *ops };

static double cpu_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double repeat(const struct op *op) {
    dt_scope scope = dt_scope_begin(ctx);
    const double before = cpu_seconds();
    const dt_tensor *result = op->run();
    const double took = cpu_seconds() - before;
    if (!result) {
        fprintf(stderr, "bench_ops: %s: %s\n", op->name, dt_error_text(ctx));
        exit(1);
    }
    dt_scope_end(scope);
    return took;
}

static dt_tensor *heads(void) { return dt_randn(ctx, DT_SHAPE(BATCH, HEADS, TOKENS, WIDTH)); }

static void record(recorded *to, dt_tensor *out, recorded of) {
    *to = of;
    to->out = out;
    to->grad = dt_randn_like(out);
}

static dt_tensor *make_matrix(int64_t n_rows, int64_t n_columns, dt_dtype dtype) {
    return dt_to(dt_randn(ctx, DT_SHAPE(n_rows, n_columns)), dtype);
}

static void make_products(void) {
    static const int64_t sizes[N_PRODUCTS][2] = {{1, WIDE}, {8, WIDE}, {TOKENS, COLUMNS}};
    for (int i = 0; i < N_PRODUCTS; i++)
        for (int d = 0; d < 3; d++) {
            const int64_t k = sizes[i][1];
            struct product *p = &products[i][d];
            p->x = make_matrix(sizes[i][0], k, product_dtypes[d]);
            p->w = i == 1 ? products[0][d].w : make_matrix(k, k, product_dtypes[d]);
            p->wt = dt_transpose(p->w, 0, 1);
        }
}

static void make_images(void) {
    image = dt_randn(ctx, DT_SHAPE(8, 64, 56, 56), .requires_grad = true);
    signal = dt_randn(ctx, DT_SHAPE(8, 64, 4096), .requires_grad = true);
    filter_3 = dt_randn(ctx, DT_SHAPE(64, 64, 3, 3), .requires_grad = true);
    filter_1 = dt_randn(ctx, DT_SHAPE(64, 64, 1, 1), .requires_grad = true);
    filter_each = dt_randn(ctx, DT_SHAPE(64, 1, 3, 3), .requires_grad = true);
    filter_signal = dt_randn(ctx, DT_SHAPE(64, 64, 3), .requires_grad = true);
    filter_up = dt_randn(ctx, DT_SHAPE(64, 32, 2, 2), .requires_grad = true);
    per_channel = dt_randn(ctx, DT_SHAPE(64), .requires_grad = true);
    offsets = dt_randn(ctx, DT_SHAPE(64), .requires_grad = true);
}

static void make_tensors(void) {
    const dt_shape shape = DT_SHAPE(ROWS, COLUMNS);
    x = dt_randn(ctx, shape);
    y = dt_randn(ctx, shape);
    half = dt_to(x, DT_BF16);
    weight = dt_randn(ctx, DT_SHAPE(COLUMNS));
    bias = dt_randn(ctx, DT_SHAPE(COLUMNS));
    mean = dt_randn(ctx, shape);
    variance = dt_ones(ctx, shape);
    query = heads();
    key = heads();
    value = heads();
    grad = heads();
    sums = dt_full(ctx, DT_SHAPE(BATCH, HEADS, TOKENS), 7, .dtype = DT_F32);
    table = dt_randn(ctx, DT_SHAPE(WORDS, COLUMNS));
    text = dt_to(dt_mul_scalar(dt_rand(ctx, DT_SHAPE(TEXT)), WORDS - 1.0), DT_I64);
    classes = dt_to(dt_mul_scalar(dt_rand(ctx, DT_SHAPE(ROWS)), COLUMNS - 1.0), DT_I64);
    rows = dt_to(dt_mul_scalar(dt_rand(ctx, shape), ROWS - 1.0), DT_I64);
    columns = dt_to(dt_mul_scalar(dt_rand(ctx, shape), COLUMNS - 1.0), DT_I64);
    places = dt_to(dt_mul_scalar(dt_rand(ctx, DT_SHAPE(ROWS * COLUMNS)), PLACES - 1.0), DT_I64);
    leaf = dt_randn(ctx, shape, .requires_grad = true);
    affine = dt_randn(ctx, DT_SHAPE(COLUMNS), .requires_grad = true);
    shift = dt_randn(ctx, DT_SHAPE(COLUMNS), .requires_grad = true);
    words = dt_randn(ctx, DT_SHAPE(WORDS, COLUMNS), .requires_grad = true);
    half_words = dt_randn(ctx, DT_SHAPE(WORDS, COLUMNS), .dtype = DT_BF16, .requires_grad = true);
    make_images();
    bounds = dt_sort(dt_randn(ctx, DT_SHAPE(COLUMNS))).values;
    which = dt_randperm(ctx, ROWS);
    batch_x = dt_randn(ctx, DT_SHAPE(64, 128, 128));
    batch_y = dt_randn(ctx, DT_SHAPE(64, 128, 128));
#define RECORDED(name, call, ...) record(&recorded_##name, call, (recorded){.inputs = __VA_ARGS__});
    RECORDED_LIST(RECORDED)
    IMAGE_LIST(RECORDED)
#undef RECORDED
    make_products();
    if (!text || dt_failed(ctx)) {
        fprintf(stderr, "bench_ops: %s\n", dt_error_text(ctx));
        exit(1);
    }
}

static int serve(void) {
    char name[64];
    int n;
    while (scanf("%63s %d", name, &n) == 2) {
        int i = 0;
        while (i < N_OPS && strcmp(ops[i].name, name) != 0)
            i++;
        if (i == N_OPS)
            return 2;
        for (int r = 0; r < n; r++)
            printf("%s%.9f", r ? " " : "", repeat(&ops[i]));
        printf("\n");
        fflush(stdout);
    }
    return 0;
}

int main(int argc, char **argv) {
    bool quick = false, serves = false;
    for (int i = 1; i < argc; i++) {
        quick = quick || !strcmp(argv[i], "--quick");
        serves = serves || !strcmp(argv[i], "--serve");
        if (!strcmp(argv[i], "--list")) {
            for (int op = 0; op < N_OPS; op++)
                puts(ops[op].name);
            return 0;
        }
    }
    ctx = dt_init(&(dt_init_options){.threads = 1});
    if (!ctx)
        return 1;
    make_tensors();
    if (serves)
        return serve() + dt_close(ctx);
    printf("%-26s %9s\n", "op, one thread", "ms");
    for (int i = 0; i < N_OPS; i++) {
        bench_settle settle = bench_settle_new(quick ? 0.02 : 0.2);
        double seconds[BENCH_MAX_BATCH];
        int n;
        do {
            n = bench_settle_batch(&settle);
            for (int r = 0; r < n; r++)
                seconds[r] = repeat(&ops[i]);
        } while (bench_settle_continues(&settle, seconds, n));
        printf("{\"bench\":\"ops\",\"config\":{\"op\":\"%s\"},\"ours\":%.4f,\"unit\":\"ms\"}\n", ops[i].name,
               settle.best * 1e3);
        printf("%-26s %9.3f\n", ops[i].name, settle.best * 1e3);
        fflush(stdout);
    }
    return dt_close(ctx);
}
