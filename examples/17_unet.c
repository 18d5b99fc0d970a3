/* SPDX-License-Identifier: Apache-2.0
 *
 * 17: a convolutional network, sharded by batch and by space. A small U-Net learns to find disks in noisy images that
 * the program draws. The network is one function. Placements alone decide what is sharded: images of the batch, rows of
 * each image, both, or the parameters too (each is gathered where it is used). Convolutions and pooling of rows that
 * other ranks hold exchange halos; every arrangement computes the same losses.
 *
 *     $ dtrun -n 4 ./17_unet            # any number of ranks computes the same
 */
#include <dtensor/dtensor.h>

#include <math.h>
#include <stdio.h>

enum { BATCH = 4, SIZE = 16, WIDTH = 4, STEPS = 8, N_PARAMS = 8 };

/* Weights and biases: two convolutions down, one up, one to a map of logits. */
static const int64_t shapes[N_PARAMS][4] = {
    {WIDTH, 1, 3, 3},         {WIDTH},     /* the image */
    {2 * WIDTH, WIDTH, 3, 3}, {2 * WIDTH}, /* half its size */
    {WIDTH, 3 * WIDTH, 3, 3}, {WIDTH},     /* both, at the size of the image */
    {1, WIDTH, 1, 1},         {1},
};

static dt_tensor *unet(dt_tensor *const *p, dt_tensor *x) {
    dt_tensor *fine = dt_relu(dt_conv2d(x, p[0], .bias = p[1], .padding = DT_INTS(1, 1)));
    dt_tensor *coarse = dt_max_pool2d(fine, DT_INTS(2, 2));
    coarse = dt_relu(dt_conv2d(coarse, p[2], .bias = p[3], .padding = DT_INTS(1, 1)));
    coarse = dt_interpolate(coarse, .scale_factor = DT_REALS(2, 2), .mode = "bilinear");
    dt_tensor *both = dt_cat(DT_TENSORS(fine, coarse), .dim = DT_INT(1));
    dt_tensor *up = dt_relu(dt_conv2d(both, p[4], .bias = p[5], .padding = DT_INTS(1, 1)));
    return dt_conv2d(up, p[6], .bias = p[7]);
}

/* A disk per image, with noise that follows from the position; the target is 1 inside. */
static void draw(dt_ctx *ctx, dt_tensor **images, dt_tensor **targets) {
    static double image[BATCH][1][SIZE][SIZE], target[BATCH][1][SIZE][SIZE];
    for (int n = 0; n < BATCH; n++)
        for (int i = 0; i < SIZE; i++)
            for (int j = 0; j < SIZE; j++) {
                double y = i - 5 - n, x = j - 9 + n;
                target[n][0][i][j] = x * x + y * y < 16;
                image[n][0][i][j] = target[n][0][i][j] + 0.8 * sin(12.9 * i + 78.2 * j + n);
            }
    *images = dt_clone(dt_from_memory(ctx, image, DT_SHAPE(BATCH, 1, SIZE, SIZE), DT_F64));
    *targets = dt_clone(dt_from_memory(ctx, target, DT_SHAPE(BATCH, 1, SIZE, SIZE), DT_F64));
}

/* Numbers that follow from their index: every arrangement begins with the same ones. */
static dt_tensor *parameter(dt_ctx *ctx, dt_mesh *mesh, const char *place, const char *use, int i) {
    int n_dims = i % 2 ? 1 : 4;
    int64_t n = 1;
    for (int d = 0; d < n_dims; d++)
        n *= shapes[i][d];
    dt_tensor *index = dt_arange(ctx, 0, n, 1, .dtype = DT_F64);
    dt_tensor *values = dt_mul_scalar(dt_sin(dt_add_scalar(dt_mul_scalar(index, 1.7), i)), 0.3);
    values =
        dt_distribute_tensor(dt_reshape(values, ((dt_shape){n_dims, shapes[i]})), mesh, place, .everywhere = true);
    if (use && dt_set_use(values, use) != DT_OK)
        return NULL;
    return dt_set_requires_grad(values, true) == DT_OK ? values : NULL;
}

/* How images and parameters are placed on a mesh. */
static const struct arrangement {
    const char *name, *mesh, *images, *parameters, *use;
} arrangements[] = {
    {"batch", "*", "S(0)", "R", NULL},
    {"space", "*", "S(2)", "R", NULL},
    {"batch and space", "2,*", "S(0),S(2)", "R,R", NULL},
    {"batch, fully sharded", "*", "S(0)", "S(0)", "R"},
};
enum { N_ARRANGEMENTS = sizeof arrangements / sizeof *arrangements };

/* The largest difference between two runs. */
static double difference(const double *a, const double *b) {
    double largest = 0;
    for (int i = 0; i < STEPS; i++)
        largest = fmax(largest, fabs(a[i] - b[i]));
    return largest;
}

/* One step of gradient descent; the loss before it. */
static double step(dt_ctx *ctx, dt_tensor *const *p, dt_tensor *images, dt_tensor *targets) {
    dt_scope scope = dt_scope_begin(ctx);
    dt_tensor *loss = dt_binary_cross_entropy_with_logits(unet(p, images), targets);
    double value = dt_item(loss);
    if (dt_backward(loss) == DT_OK) {
        dt_no_grad_begin(ctx);
        for (int i = 0; i < N_PARAMS; i++)
            (void)dt_add_(p[i], dt_grad(p[i]), .alpha = DT_NUMBER(-0.5));
        dt_no_grad_end(ctx);
        (void)dt_zero_grad((dt_tensors){N_PARAMS, p});
    }
    dt_scope_end(scope);
    return value;
}

static void train(dt_ctx *ctx, const struct arrangement *of, double *losses) {
    dt_scope scope = dt_scope_begin(ctx);
    const bool is_odd = dt_world(ctx) % 2; /* then the mesh of two dims has one row */
    dt_mesh *mesh = dt_mesh_new(ctx, is_odd && of->mesh[0] == '2' ? "1,*" : of->mesh);
    dt_tensor *p[N_PARAMS], *images, *targets;
    draw(ctx, &images, &targets);
    images = dt_distribute_tensor(images, mesh, of->images, .everywhere = true);
    targets = dt_distribute_tensor(targets, mesh, of->images, .everywhere = true);
    for (int i = 0; i < N_PARAMS; i++)
        p[i] = parameter(ctx, mesh, of->parameters, of->use, i);
    for (int i = 0; i < STEPS && !dt_failed(ctx); i++)
        losses[i] = step(ctx, p, images, targets);
    dt_mesh_release(mesh);
    dt_scope_end(scope);
}

int main(void) {
    static double losses[N_ARRANGEMENTS][STEPS];
    dt_ctx *ctx = dt_init(NULL);
    if (!ctx)
        return 1;
    for (int a = 0; a < N_ARRANGEMENTS && !dt_failed(ctx); a++)
        train(ctx, &arrangements[a], losses[a]);
    if (dt_rank(ctx) == 0 && !dt_failed(ctx)) {
        for (int i = 0; i < STEPS; i++)
            printf("step %d: loss %.9f\n", i, losses[0][i]);
        for (int a = 1; a < N_ARRANGEMENTS; a++)
            printf("%s: %s losses as by %s\n", arrangements[a].name,
                   difference(losses[a], losses[0]) < 1e-12 ? "the same" : "other", arrangements[0].name);
    }
    return dt_close(ctx);
}
