/* SPDX-License-Identifier: Apache-2.0
 *
 * A program for faults: it trains a small model on a mesh, saves and loads its parameters, and prints a hash of them at
 * its end, which depends on its arguments alone. tests/train/soak.py disturbs it from outside; or a rank disturbs it
 * from inside, at a step.
 *
 *     train.soak WORK SEED STEPS FOLDER [FAULT RANK STEP]
 *
 * WORK is what steps are made of: "gradients", "optimizers", "files" or "checkpoints". FAULT is one of those in the
 * table below. After an error of one rank alone, all ranks clear it and continue; after any other one they close. Ends
 * with 0, 1 after errors, 2 if it was called wrongly, or 3 if values are wrong: replicas that differ, or a file or a
 * checkpoint with other values than were saved.
 */
#include <dtensor/dtensor.h>

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { N_PARAMETERS = 3, FILE_STEPS = 10, EXIT_WRONG = 3 };

struct run {
    dt_ctx *ctx;
    dt_mesh *mesh;
    dt_tensor *x, *parameters[N_PARAMETERS];
    dt_params *params;
    dt_optimizer *optimizer;
    dt_saving *saving;
    const char *work, *fault;
    char path[4096], checkpoints[4096];
    uint64_t seed;
    int64_t fault_rank, fault_step;
    bool may_clear;
};

static bool is(const char *a, const char *b) { return !strcmp(a, b); }

/* Faults of one rank. The others get an error; those of the table's second column are cleared by all. */
static const struct {
    const char *name;
    bool is_cleared;
} faults[] = {{"none", true},  {"exit", false}, {"close", false}, {"abort", false}, {"diverge", false},
              {"rate", false}, {"skip", false}, {"error", true},  {"memory", true}};

static void commit_fault(struct run *run) {
    dt_ctx *ctx = run->ctx;
    if (is(run->fault, "exit"))
        _exit(7);
    if (is(run->fault, "abort"))
        kill(getpid(), SIGABRT);
    if (is(run->fault, "close"))
        exit(dt_close(ctx));
    if (is(run->fault, "diverge"))
        dt_relu(run->parameters[0]);
    if (is(run->fault, "rate"))
        dt_optimizer_set_lr(run->optimizer, 1);
    if (is(run->fault, "error"))
        dt_error_set(ctx, DT_ERR_SYSTEM, "the error of one rank");
    if (is(run->fault, "memory"))
        dt_ones(ctx, DT_SHAPE((int64_t)1 << 50));
}

static dt_tensors parameters(struct run *run) { return (dt_tensors){N_PARAMETERS, run->parameters}; }

static dt_tensor *loss_of(struct run *run) {
    dt_tensor *const *p = run->parameters;
    dt_tensor *h = dt_gelu(dt_add(dt_matmul(run->x, p[0]), p[1]));
    return dt_mean(dt_square(dt_matmul(h, p[2])));
}

static void train(struct run *run) {
    dt_backward(loss_of(run));
    dt_clip_grad_norm(parameters(run), 1.0);
    dt_optimizer_step(run->optimizer);
    dt_zero_grad(parameters(run));
}

/* Saves the parameters, loads the first one again, in another placement, and compares. */
static int use_files(struct run *run) {
    static const char *const names[N_PARAMETERS] = {"w1", "b1", "w2"};
    dt_no_grad_begin(run->ctx);
    dt_save_npz(run->path, N_PARAMETERS, names, run->parameters);
    dt_tensor *loaded = dt_load_npz(run->ctx, run->path, "w1", .mesh = run->mesh, .place = "S(0)");
    double difference = loaded ? dt_item(dt_sum(dt_abs(dt_sub(loaded, run->parameters[0])))) : 0;
    dt_no_grad_end(run->ctx);
    return !dt_failed(run->ctx) && difference != 0 ? EXIT_WRONG : 0;
}

/* Saves a checkpoint, every second time in the background, loads the newest one, and compares the first parameter. */
static int use_checkpoints(struct run *run, int64_t step) {
    bool is_later = step / FILE_STEPS % 2;
    int64_t loaded = -1;
    dt_no_grad_begin(run->ctx);
    dt_tensor *saved = dt_clone(run->parameters[0]);
    dt_save(run->params, run->checkpoints, step, .optimizer = run->optimizer, .keep = DT_INT(2), .unsynced = true,
            .later = is_later ? &run->saving : NULL);
    dt_saving_wait(run->saving);
    dt_load(run->params, run->checkpoints, .optimizer = run->optimizer, .step = &loaded);
    double difference = dt_failed(run->ctx) ? 0 : dt_item(dt_sum(dt_abs(dt_sub(saved, run->parameters[0]))));
    dt_no_grad_end(run->ctx);
    return !dt_failed(run->ctx) && (difference != 0 || loaded != step) ? EXIT_WRONG : 0;
}

static int make_step(struct run *run, int64_t step) {
    dt_ctx *ctx = run->ctx;
    dt_scope scope = dt_scope_begin(ctx);
    int code = 0;
    bool is_faulty = dt_rank(ctx) == run->fault_rank && step == run->fault_step;
    if (is_faulty)
        commit_fault(run);
    if (is(run->work, "gradients"))
        for (int i = 0; i < 3 && !dt_failed(ctx); i++)
            dt_backward(loss_of(run)); /* accumulates; the step takes the sum */
    if (!(is_faulty && is(run->fault, "skip")))
        train(run);
    if (is(run->work, "files") && step % FILE_STEPS == 0)
        code = use_files(run);
    if (is(run->work, "checkpoints") && step % FILE_STEPS == 0)
        code = use_checkpoints(run, step);
    dt_scope_end(scope);
    return code;
}

static uint64_t hash_bytes(const unsigned char *bytes, size_t n, uint64_t hash) {
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    return hash;
}

/* The bits of all parameters; the same on every rank, or 3. */
static int print_hash(struct run *run) {
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    dt_no_grad_begin(run->ctx);
    for (int i = 0; i < N_PARAMETERS; i++) {
        dt_tensor *full = dt_full_tensor(run->parameters[i]);
        if (full)
            hash = hash_bytes(dt_data(full), (size_t)dt_tensor_elements(full) * sizeof(float), hash);
    }
    int64_t own[2] = {(int64_t)(hash >> 1), -(int64_t)(hash >> 1)}, most[2] = {0, 0};
    dt_status status = dt_comm_all_reduce(dt_group_world(run->ctx), own, most, 2, DT_I64, DT_MAX);
    dt_no_grad_end(run->ctx);
    if (status == DT_OK && most[0] != -most[1])
        return EXIT_WRONG;
    if (status == DT_OK && !dt_failed(run->ctx) && dt_rank(run->ctx) == 0)
        printf("hash %016" PRIx64 "\n", hash);
    return 0;
}

/* Placements follow from the seed: replicated, sharded in one dim or the other, or fully sharded. */
static void make_model(struct run *run) {
    static const char *const rules[] = {"* dp=R", "w1 dp=S(1)\n* dp=S(0)", "* dp=S(0)",
                                        "w1 dp=S(0)\nw2 dp=S(1)\n* dp=R"};
    dt_generator_seed(dt_generator_default(run->ctx), run->seed);
    run->x = dt_randn(run->ctx, DT_SHAPE(13, 24), .mesh = run->mesh, .place = run->seed % 3 ? "S(0)" : "R");
    run->params = dt_params_new(run->ctx, .mesh = run->mesh, .rules = rules[run->seed % 4]);
    run->parameters[0] = dt_param(run->params, "w1", DT_SHAPE(24, 40), .std = DT_REAL(1));
    run->parameters[1] = dt_param(run->params, "b1", DT_SHAPE(40), .std = DT_REAL(1));
    run->parameters[2] = dt_param(run->params, "w2", DT_SHAPE(40, 7), .std = DT_REAL(1));
    run->optimizer = run->seed % 2 ? dt_adamw_new(run->ctx, 0.01, .params = run->params)
                                   : dt_sgd_new(run->ctx, 0.01, .momentum = DT_REAL(0.9), .params = run->params);
}

/* Whether the ranks can go on after the error that this one has. */
static bool clear(struct run *run) {
    if (run->may_clear)
        fprintf(stderr, "rank %" PRId64 " clears %s\n", dt_rank(run->ctx), dt_error_text(run->ctx));
    if (!run->may_clear || dt_error_clear(run->ctx) != DT_OK)
        return false;
    return dt_zero_grad(parameters(run)) == DT_OK;
}

static bool read_fault(struct run *run, int argc, char **argv) {
    run->fault = argc > 5 ? argv[5] : "none";
    run->fault_rank = argc > 7 ? strtoll(argv[6], NULL, 10) : -1;
    run->fault_step = argc > 7 ? strtoll(argv[7], NULL, 10) : -1;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        if (is(run->fault, faults[i].name)) {
            run->may_clear = faults[i].is_cleared;
            return true;
        }
    return false;
}

int main(int argc, char **argv) {
    struct run run = {0};
    if (argc < 5 || !read_fault(&run, argc, argv))
        return 2;
    run.work = argv[1];
    run.seed = strtoull(argv[2], NULL, 10);
    int64_t n_steps = strtoll(argv[3], NULL, 10);
    snprintf(run.path, sizeof run.path, "%s/parameters.npz", argv[4]);
    snprintf(run.checkpoints, sizeof run.checkpoints, "%s/run", argv[4]);
    run.ctx = dt_init(NULL);
    run.mesh = dt_mesh_new(run.ctx, "dp=*");
    make_model(&run);
    if (!run.ctx || dt_failed(run.ctx))
        return dt_close(run.ctx);
    int code = 0;
    for (int64_t step = 0; step < n_steps && !code; step++) {
        code = make_step(&run, step);
        if (dt_failed(run.ctx) && !clear(&run))
            return dt_close(run.ctx);
    }
    code = code ? code : print_hash(&run);
    dt_optimizer_free(run.optimizer);
    int closed = dt_close(run.ctx);
    return code ? code : closed;
}
