/* SPDX-License-Identifier: Apache-2.0
 *
 * A run that survives: it trains a small model with dropout on batches of a file, continues from its newest checkpoint,
 * and saves often, in turns at once and later. tests/train/killed_runs.py kills its ranks.
 *
 *     train.run FOLDER STEPS [PAUSE]
 *
 * FOLDER has tokens.bin; PAUSE is a number of microseconds after each step. The checkpoints are in FOLDER/run; rank 0
 * adds a line "STEP LOSS" with all bits of the loss to FOLDER/losses for each step.
 */
#include <dtensor/dtensor.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { VOCABULARY = 61, WIDTH = 48, LENGTH = 12, BATCH = 6, SAVE_STEPS = 5 };

struct run {
    dt_ctx *ctx;
    dt_mesh *mesh;
    dt_params *params;
    dt_optimizer *optimizer;
    dt_batches *batches;
    dt_tensor *embedding, *hidden, *bias, *output;
    char folder[1024];
    FILE *losses;
};

static const char *in_folder(struct run *run, const char *name) {
    static char path[1100];
    (void)snprintf(path, sizeof path, "%s/%s", run->folder, name);
    return path;
}

static void make_model(struct run *run) {
    dt_params *p = run->params =
        dt_params_new(run->ctx, .mesh = run->mesh, .rules = "*.weight dp=free\n*.bias decay=0");
    run->embedding = dt_param(p, "tok.weight", DT_SHAPE(VOCABULARY, WIDTH), .std = DT_REAL(0.5));
    run->hidden = dt_param(p, "hidden.weight", DT_SHAPE(WIDTH, WIDTH), .std = DT_REAL(0.2));
    run->bias = dt_param(p, "hidden.bias", DT_SHAPE(WIDTH));
    run->output = dt_param(p, "output.weight", DT_SHAPE(VOCABULARY, WIDTH), .std = DT_REAL(0.2));
    run->optimizer = dt_adamw_new(run->ctx, 1e-2, .params = p);
}

static dt_tensor *loss_of(struct run *run) {
    dt_tensor *rows = dt_batches_next(run->batches);
    dt_tensor *x = dt_embedding(dt_at(rows, ":, :-1"), run->embedding);
    x = dt_dropout(dt_gelu(dt_linear(x, run->hidden, .bias = run->bias)), .p = DT_REAL(0.1));
    dt_tensor *logits = dt_linear(x, run->output);
    return dt_cross_entropy(dt_reshape(logits, DT_SHAPE(-1, VOCABULARY)),
                            dt_reshape(dt_at(rows, ":, 1:"), DT_SHAPE(-1)));
}

static void make_step(struct run *run, int64_t step) {
    dt_scope scope = dt_scope_begin(run->ctx);
    dt_optimizer_set_lr(run->optimizer, dt_lr_cosine(step, 1e-2, 1e-3, 5, 1000));
    dt_tensor *loss = loss_of(run);
    dt_backward(loss);
    dt_clip_grad_norm(dt_params_list(run->params, NULL), 1.0);
    dt_optimizer_step(run->optimizer);
    dt_zero_grad(dt_params_list(run->params, NULL));
    const double value = dt_item(loss);
    if (run->losses && !dt_failed(run->ctx)) {
        (void)fprintf(run->losses, "%" PRId64 " %a\n", step, value);
        (void)fflush(run->losses);
    }
    dt_scope_end(scope);
}

/* Every second save is one of a thread. */
static void save(struct run *run, int64_t step, dt_saving **saving) {
    const bool later = step / SAVE_STEPS % 2;
    dt_save(run->params, in_folder(run, "run"), step, .optimizer = run->optimizer,
            .generator = dt_generator_default(run->ctx), .batches = run->batches, .file_bytes = DT_INT(20000),
            .later = later ? saving : NULL);
}

int main(int argc, char **argv) {
    struct run run = {.ctx = dt_init(NULL)};
    dt_saving *saving = NULL;
    int64_t step = 0, n_steps = argc >= 3 ? atoi(argv[2]) : 0;
    const useconds_t pause = argc >= 4 ? (useconds_t)atoi(argv[3]) : 0;
    if (!n_steps)
        return 2;
    (void)snprintf(run.folder, sizeof run.folder, "%s", argv[1]);
    run.mesh = dt_mesh_new(run.ctx, "dp=*");
    make_model(&run);
    run.batches = dt_batches_open(run.ctx, in_folder(&run, "tokens.bin"), BATCH, .mesh = run.mesh, .place = "S(0)",
                                  .format = "u16", .length = DT_INT(LENGTH), .seed = DT_INT(5));
    dt_load(run.params, in_folder(&run, "run"), .optimizer = run.optimizer,
            .generator = dt_generator_default(run.ctx), .batches = run.batches, .step = &step, .optional = true);
    run.losses = dt_rank(run.ctx) == 0 ? fopen(in_folder(&run, "losses"), "a") : NULL;
    for (; step < n_steps && !dt_failed(run.ctx); step++) {
        make_step(&run, step);
        if (pause)
            usleep(pause);
        if (step % SAVE_STEPS == SAVE_STEPS - 1)
            save(&run, step + 1, &saving);
    }
    dt_saving_wait(saving);
    if (run.losses)
        (void)fclose(run.losses);
    return dt_close(run.ctx);
}
