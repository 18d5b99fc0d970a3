/* SPDX-License-Identifier: Apache-2.0
 *
 * 9: a complete training program. A classifier of points on three spirals is one function; rules place its parameters:
 * data parallel over dp, tensor parallel over tp. A step accumulates the gradients of two micro-batches, holding them
 * partial over dp until the second, clips them, and AdamW follows a cosine schedule. Numbers follow from the seed and
 * the global index, so every mesh trains the same model.
 *
 *     $ dtrun -n 4 ./09_mlp             # any number of ranks computes the same
 */
#include <dtensor/dtensor.h>

#include <math.h>
#include <stdio.h>

enum { CLASSES = 3, POINTS = 120, MICRO = 2, HIDDEN = 40, STEPS = 100 };

/* Hidden units are sharded over tp: rows of fc1 and of its bias, columns of fc2. 40 need not divide by the ranks. */
static const char rules[] = "fc1.*      tp=col\n"
                            "fc2.weight tp=row\n"
                            "*.bias     decay=0\n";

struct mlp {
    dt_tensor *w1, *b1, *w2, *b2; /* [HIDDEN,2] [HIDDEN] [CLASSES,HIDDEN] [CLASSES] */
};

static struct mlp mlp_new(dt_params *p) {
    return (struct mlp){
        .w1 = dt_param(p, "fc1.weight", DT_SHAPE(HIDDEN, 2), .std = DT_REAL(1)),
        .b1 = dt_param(p, "fc1.bias", DT_SHAPE(HIDDEN), .std = DT_REAL(0.5)),
        .w2 = dt_param(p, "fc2.weight", DT_SHAPE(CLASSES, HIDDEN), .std = DT_REAL(0.2)),
        .b2 = dt_param(p, "fc2.bias", DT_SHAPE(CLASSES)),
    };
}

/* The sum over the hidden units is partial over tp until it is reduced: one all-reduce. */
static dt_tensor *mlp_forward(const struct mlp *m, dt_tensor *x) {
    return dt_reduced(dt_linear(dt_gelu(dt_linear(x, m->w1, m->b1)), m->w2, m->b2));
}

/* Micro-batch i: every second point. All ranks compute all points, and keep their rows. */
static dt_tensor *points(dt_ctx *ctx, dt_mesh *mesh, int i, dt_tensor **classes) {
    static float x[POINTS / MICRO][2];
    static int64_t y[POINTS / MICRO];
    for (int k = 0; k < POINTS / MICRO; k++) {
        int n = MICRO * k + i;
        double radius = 0.1 + 0.9 * (n / CLASSES) / (POINTS / CLASSES), angle = 5 * radius + 2.0944 * (n % CLASSES);
        x[k][0] = (float)(radius * cos(angle));
        x[k][1] = (float)(radius * sin(angle));
        y[k] = n % CLASSES;
    }
    dt_tensor *all = dt_clone(dt_from_memory(ctx, x, DT_SHAPE(POINTS / MICRO, 2), DT_F32));
    *classes = dt_clone(dt_from_memory(ctx, y, DT_SHAPE(POINTS / MICRO), DT_I64));
    *classes = dt_distribute_tensor(*classes, mesh, "dp=S(0)", .everywhere = true);
    return dt_distribute_tensor(all, mesh, "dp=S(0)", .everywhere = true);
}

static double accuracy(const struct mlp *m, dt_tensor *const *x, dt_tensor *const *y) {
    double right = 0;
    for (int i = 0; i < MICRO; i++)
        right += dt_item(dt_sum(dt_to(dt_eq(dt_argmax(mlp_forward(m, x[i]), .dim = DT_INT(1)), y[i]), DT_F32)));
    return 100 * right / POINTS;
}

int main(void) {
    dt_ctx *ctx = dt_init(NULL);
    if (!ctx)
        return 1;
    const bool first = dt_rank(ctx) == 0;
    dt_mesh *mesh = dt_mesh_new(ctx, dt_world(ctx) % 2 ? "dp=1,tp=*" : "dp=2,tp=*");
    dt_generator_seed(dt_generator_default(ctx), 6);
    dt_params *p = dt_params_new(ctx, .mesh = mesh, .rules = rules);
    struct mlp model = mlp_new(p);
    dt_optimizer *opt = dt_adamw_new(ctx, 0.05, .params = p);
    dt_tensor *x[MICRO], *y[MICRO];
    for (int i = 0; i < MICRO; i++)
        x[i] = points(ctx, mesh, i, &y[i]);

    for (int step = 0; step < STEPS && !dt_failed(ctx); step++) {
        dt_scope scope = dt_scope_begin(ctx);
        double total = 0;
        dt_optimizer_set_lr(opt, dt_lr_cosine(step, 0.05, 0.001, 10, STEPS));
        for (int i = 0; i < MICRO; i++) {
            dt_tensor *loss = dt_div_scalar(dt_cross_entropy(mlp_forward(&model, x[i]), y[i]), MICRO);
            dt_backward(loss, .hold = i + 1 < MICRO ? "dp" : NULL);
            total += dt_item(loss);
        }
        dt_clip_grad_norm(dt_params_list(p, NULL), 1.0);
        dt_optimizer_step(opt);
        dt_zero_grad(dt_params_list(p, NULL));
        dt_scope_end(scope);
        if (first && (step + 1) % 25 == 0)
            printf("step %3d: loss %.2f\n", step + 1, total);
    }
    double right = accuracy(&model, x, y);
    if (first)
        printf("accuracy: %.0f %%\n", right);
    dt_mesh_release(mesh);
    return dt_close(ctx);
}
