/* SPDX-License-Identifier: Apache-2.0
 *
 * 10: a GPT that trains on a mesh, written once. The model below is written for one device. The rules that place its
 * parameters, the placement of its inputs, and two marks in each block where partial sums are resolved make it
 * parallel. --help lists the options. Mesh dims have the names dp (data parallel), fsdp (data parallel with sharded
 * parameters), tp (tensor parallel) and pp (pipeline).
 *
 *     $ ./gpt
 *     $ dtrun -n 4 ./gpt --mesh dp=2,tp=2              also fsdp=4, or tp=4 --sequence-parallel
 *     $ dtrun -n 4 ./gpt --mesh pp=2,dp=2 --schedule zb-h1
 */
#define _GNU_SOURCE
#include "text_program.h"

static struct options {
    int64_t layers, width, heads, vocab, seq, tied; /* the model: checkpoints have these numbers */
    int64_t batch, steps, stop, warmup, seed, sample, every, micro, stages;
    double lr, min_lr, weight_decay, clip, dropout;
    bool sequence_parallel, checkpoint, live;
    const char *mesh, *dtype, *data, *tokens, *init, *save, *resume, *log, *times, *trace, *svg, *policy, *schedule;
} o;

static const struct option all_options[] = {
#define NUMBER(name, kind, field, lowest, highest, value, help)                                                      \
    { name, kind, offsetof(struct options, field), lowest, highest, value, help }
#define OPTION(name, kind, field, value, help) NUMBER(name, kind, field, 0, 0, value, help)
    NUMBER("layers", INT, layers, 1, 255, "4", "blocks of attention and MLP"),
    NUMBER("width", INT, width, 1, 65536, "64", "size of the hidden state; a multiple of heads"),
    NUMBER("heads", INT, heads, 1, INT_MAX, "4", "attention heads; they need not divide by the ranks of tp"),
    NUMBER("vocab", INT, vocab, 0, INT_MAX, "0", "number of tokens; 0: the characters of the text"),
    NUMBER("seq", INT, seq, 1, INT_MAX - 1, "64", "tokens per sequence"),
    NUMBER("batch", INT, batch, 1, INT_MAX, "16", "sequences per step, over all ranks"),
    NUMBER("steps", INT, steps, 1, INT_MAX, "600", "training steps"),
    NUMBER("stop", INT, stop, 0, INT_MAX, "0", "the step to stop after, for --resume later; 0: all steps"),
    NUMBER("tied", INT, tied, 0, 1, "1", "1: the output layer has the weights of the embedding; 0: its own"),
    NUMBER("dropout", REAL, dropout, 0, 1, "0.1", "probability of dropout, less than 1"),
    NUMBER("lr", REAL, lr, 0, INT_MAX, "0.003", "learning rate after the warm-up"),
    NUMBER("min-lr", REAL, min_lr, 0, INT_MAX, "0.0003", "learning rate at the end"),
    NUMBER("warmup", INT, warmup, 0, INT_MAX, "20", "steps in which the learning rate rises"),
    NUMBER("weight-decay", REAL, weight_decay, 0, INT_MAX, "0.1", "of AdamW, for parameters of two dims"),
    NUMBER("clip", REAL, clip, 0, INT_MAX, "1", "largest norm of the gradients; 0: any"),
    OPTION("mesh", TEXT, mesh, NULL, "the ranks, such as dp=2,tp=2 or fsdp=4; default: dp over all"),
    OPTION("sequence-parallel", FLAG, sequence_parallel, NULL, "shard sequences over tp between linear layers"),
    OPTION("checkpoint", FLAG, checkpoint, NULL, "keep the inputs of blocks only, and run them again for gradients"),
    OPTION("schedule", TEXT, schedule, "1f1b", "of a pipeline: a name or a table, see dtensor pipeline --help"),
    NUMBER("micro", INT, micro, 0, 65536, "0", "micro-batches of a pipeline; 0: two per rank of pp, or the batch"),
    NUMBER("stages", INT, stages, 0, 65536, "0", "stages of a pipeline; 0: as many per rank as the schedule needs"),
    OPTION("dtype", CHOICE, dtype, "f32", "f32, f64 or bf16: computed in bf16, with parameters of f32"),
    NUMBER("seed", INT, seed, 0, INT_MAX, "1", "of parameters, dropout, batches and the sample"),
    OPTION("data", INPUT, data, NULL, "text to train on, a token per byte; default: sentences of a small grammar"),
    OPTION("tokens", INPUT, tokens, NULL, "batches from a .npy file, i64[steps,batch,seq+1]; needs --vocab"),
    OPTION("init", INPUT, init, NULL, "parameters from a .npz file"),
    OPTION("save", OUTPUT, save, NULL, "write parameters and the optimizer's state to a .npz file at the end"),
    OPTION("resume", INPUT, resume, NULL, "continue from a file that --save wrote, on the same mesh or another one"),
    OPTION("log", OUTPUT, log, NULL, "step, loss, grad_norm and lr as JSON Lines"),
    OPTION("times", OUTPUT, times, NULL, "when each step began (Unix time) and its seconds, as JSON Lines"),
    OPTION("live", FLAG, live, NULL, "one line that changes, as one rank prints on a terminal"),
    NUMBER("every", INT, every, 1, INT_MAX, "25", "steps per line of output, if that is not a terminal"),
    NUMBER("sample", INT, sample, 0, INT_MAX, "200", "characters to generate at the end"),
    OPTION("svg", OUTPUT, svg, NULL, "write the loss curve to this file"),
    OPTION("trace", OUTPUT, trace, NULL, "trace to a .json file, for Perfetto; one per rank, NAME.RANK.json"),
    OPTION("comm-policy", CHOICE, policy, "allow",
           "allow, warn or error: transfers that the program did not request"),
};
enum { N_OPTIONS = sizeof all_options / sizeof *all_options, N_NUMBERS = 6, MAX_UNITS = 257 };

static const dt_ints config = {.n = N_NUMBERS, .list = &o.layers};
struct linear {
    dt_tensor *weight, *bias;
};
struct block {
    struct linear ln1, ln2, wq, wk, wv, wo, fc1, fc2;
};

static dt_ctx *ctx;
static dt_mesh *mesh, *on[MAX_UNITS]; /* NULL: one device; and that of each unit: embedding, blocks, output layer */
static char input[64], residual[64];  /* placements of the hidden state in linear layers, and between them */
static dt_mesh *pipeline;             /* the mesh, if it has a dim pp */
static dt_schedule *schedule;         /* without pp: of one stage */
static int64_t n_stages, rows[65536]; /* sequences of each micro-batch */
static dt_params *params;
static dt_optimizer *optimizer;
static dt_tensor *tok, *pos, *head;
static struct linear ln;
static struct block blocks[MAX_UNITS - 2];
static struct text text;
static int64_t first_step, *batch; /* [batch,seq+1], of the current step */
static double *losses;
static FILE *log_file, *times_file;

/* Megatron's way: the rows of a layer's weights are sharded over tp, and its results; then the columns of the next one,
 * whose results are partial sums. fsdp shards what tp does not. %d: the width of a head. */
static const char rules[] = "*.attn.w[qkv].*  tp=S(0)*%d\n"
                            "*.attn.wo.weight tp=S(1)*%d\n"
                            "*.mlp.fc1.*      tp=col\n"
                            "*.mlp.fc2.weight tp=row\n"
                            "tok.weight       tp=vocab\n"
                            "head.weight?     tp=vocab\n"
                            "*.bias           decay=0\n"
                            "*ln*.weight      decay=0\n"
                            "*                fsdp=free %s\n";

static bool make_mesh(void) {
    if (!o.mesh && dt_world(ctx) == 1 && strcmp(o.dtype, "bf16") != 0)
        return true; /* parameters of f32 that are used as bf16 need a mesh */
    if (!(mesh = dt_mesh_new(ctx, o.mesh ? o.mesh : "dp=*")))
        return complain_of_call(ctx, "--mesh ", o.mesh);
    for (int i = 0; i < dt_mesh_n_dims(mesh); i++) {
        const char *name = dt_mesh_dim_name(mesh, i);
        if (!name || !is_choice(name, "dp, fsdp, tp, pp"))
            return complain("--mesh %s: expected dims dp, fsdp, tp and pp, got '%s'", o.mesh, name ? name : "");
    }
    return dt_mesh_size(mesh) == dt_world(ctx) ||
           complain("--mesh %s: expected " I64 " ranks, got " I64 "; start it with dtrun -n " I64, o.mesh,
                    dt_mesh_size(mesh), dt_world(ctx), dt_mesh_size(mesh));
}

/* The stages of a pipeline divide the units as evenly as possible; without pp there is one. */
static int64_t first_unit(int64_t stage) { return (stage * (o.layers + 2) + n_stages - 1) / n_stages; }

static bool make_stages(void) {
    const int dim = dt_mesh_dim(mesh, "pp");
    const int64_t n_ranks = dim < 0 ? 1 : dt_mesh_dim_size(mesh, dim), n_units = o.layers + 2;
    pipeline = dim < 0 ? NULL : mesh;
    o.stages = pipeline ? o.stages : 1;
    o.micro = !pipeline ? 1 : o.micro ? o.micro : o.batch < 2 * n_ranks ? o.batch : 2 * n_ranks;
    const dt_opt_int n_wanted = {.given = o.stages > 0, .value = o.stages};
    schedule = dt_schedule_new(ctx, pipeline ? o.schedule : "1f1b", .ranks = DT_INT(n_ranks),
                               .micro = DT_INT(o.micro), .stages = n_wanted);
    n_stages = dt_schedule_n_stages(schedule);
    if (!schedule)
        return complain_of_call(ctx, "--schedule ", o.schedule);
    if (n_stages > n_units)
        return complain("--stages: expected at most the " I64 " units of the model, got " I64, n_units, n_stages);
    if (o.micro > o.batch)
        return complain("--micro: expected at most the " I64 " sequences of a batch, got " I64, o.batch, o.micro);
    for (int64_t m = 0; m < o.micro; m++)
        rows[m] = o.batch / o.micro + (m < o.batch % o.micro);
    for (int64_t stage = 0, unit = 0; stage < n_stages; stage++)
        while (unit < first_unit(stage + 1))
            on[unit++] = dt_pipeline_mesh(schedule, mesh, stage);
    for (int i = 0; i < dt_mesh_n_dims(on[0]); i++) { /* dp, fsdp or tp; or the one rank of a stage */
        const char *name = dt_mesh_dim_name(on[0], i), *place = strstr(name, "dp") ? "S(0)" : "R";
        sprintf(input + strlen(input), "%s%s", i ? "," : "", place);
        sprintf(residual + strlen(residual), "%s%s", i ? "," : "", strcmp(name, "tp") ? place : "S(1)");
    }
    o.sequence_parallel = o.sequence_parallel && mesh;
    return !dt_failed(ctx) || complain_of_call(ctx, "--mesh ", o.mesh);
}

/* Weights are normal numbers of this deviation; 0: ones. */
static struct linear layer(const char *name, dt_mesh *of, dt_shape shape, double std) {
    const dt_opt_real deviation = {.given = std > 0, .value = std};
    dt_params_begin(params, "%s.", name);
    struct linear made;
    made.weight = dt_param(params, "weight", shape, .std = deviation, .value = DT_REAL(std > 0 ? 0 : 1), .on = of);
    made.bias = dt_param(params, "bias", DT_SHAPE(shape.sizes[0]), .on = of);
    dt_params_end(params);
    return made;
}

static struct block make_block(int i) {
    const int64_t n = o.width;
    const double std = 0.02, deep = std / sqrt(2.0 * (double)o.layers);
    dt_mesh *of = on[i + 1];
    struct block b;
    dt_params_begin(params, "blocks.%d.", i);
    b.ln1 = layer("ln1", of, DT_SHAPE(n), 0);
    b.ln2 = layer("ln2", of, DT_SHAPE(n), 0);
    b.wq = layer("attn.wq", of, DT_SHAPE(n, n), std);
    b.wk = layer("attn.wk", of, DT_SHAPE(n, n), std);
    b.wv = layer("attn.wv", of, DT_SHAPE(n, n), std);
    b.wo = layer("attn.wo", of, DT_SHAPE(n, n), deep);
    b.fc1 = layer("mlp.fc1", of, DT_SHAPE(4 * n, n), std);
    b.fc2 = layer("mlp.fc2", of, DT_SHAPE(n, 4 * n), deep);
    dt_params_end(params);
    return b;
}

static void make_model(void) {
    const int64_t last = o.layers + 1;
    const dt_shape shape = {2, (int64_t[]){o.vocab, o.width}};
    char placed[1024];
    snprintf(placed, sizeof placed, rules, (int)(o.width / o.heads), (int)(o.width / o.heads),
             strcmp(o.dtype, "bf16") ? "" : "use=bf16");
    dt_generator_seed(dt_generator_default(ctx), (uint64_t)o.seed);
    params = dt_params_new(ctx, .mesh = mesh, .rules = placed, .dtype = strcmp(o.dtype, "f64") ? DT_F32 : DT_F64);
    tok = dt_param(params, "tok.weight", shape, .std = DT_REAL(0.02), .on = on[0]);
    pos = dt_param(params, "pos.weight", DT_SHAPE(o.seq, o.width), .std = DT_REAL(0.02), .on = on[0]);
    for (int i = 0; i < o.layers; i++)
        blocks[i] = make_block(i);
    ln = layer("ln", on[last], DT_SHAPE(o.width), 0);
    head = o.tied ? dt_param(params, "head.weight", shape, .tied = "tok.weight", .on = on[last])
                  : dt_param(params, "head.weight", shape, .std = DT_REAL(0.02), .on = on[last]);
    optimizer =
        dt_adamw_new(ctx, o.lr, .beta2 = DT_REAL(0.95), .weight_decay = DT_REAL(o.weight_decay), .params = params);
}

/* From here to the loss, only the next two functions depend on the mesh. Resolves partial sums over tp; sequence
 * parallel shards the sum by tokens. */
static dt_tensor *finished(dt_tensor *x) { return dt_reduced(x, .place = o.sequence_parallel ? residual : NULL); }

/* The input of linear layers is normalized, and gathered if sequence parallel shards it. */
static dt_tensor *entering(const struct linear *norm, dt_tensor *x) {
    x = dt_layer_norm(x, DT_SHAPE(o.width), .weight = norm->weight, .bias = norm->bias);
    if (o.sequence_parallel)
        dt_set_use(x, input);
    return x;
}

static dt_tensor *linear(const struct linear *l, dt_tensor *x) { return dt_linear(x, l->weight, l->bias); }
static dt_tensor *dropout(dt_tensor *x) { return o.dropout > 0 ? dt_dropout(x, .p = DT_REAL(o.dropout)) : x; }
/* [batch,seq,width] as [batch,heads,seq,width/heads] */
static dt_tensor *heads(dt_tensor *x) { return dt_transpose(dt_unflatten(x, -1, DT_SHAPE(o.heads, -1)), 1, 2); }

static dt_tensor *attention(const struct block *b, dt_tensor *x) {
    dt_tensor *q = heads(linear(&b->wq, x)), *k = heads(linear(&b->wk, x)), *v = heads(linear(&b->wv, x));
    x = dt_transpose(dt_scaled_dot_product_attention(q, k, v, .is_causal = true), 1, 2);
    return linear(&b->wo, dt_flatten(x, .start_dim = DT_INT(2)));
}

/* Each unit begins with its parameters, which are gathered together. */
static dt_tensor *embed(dt_tensor *tokens) {
    dt_use(DT_TENSORS(tok, pos));
    return dropout(dt_add(finished(dt_embedding(tokens, tok)), dt_narrow(pos, 0, 0, dt_tensor_size(tokens, 1))));
}

static dt_tensor *run_block(dt_tensor *const *inputs, void *user) {
    const struct block *b = user;
    dt_use((dt_tensors){sizeof *b / sizeof(dt_tensor *), (dt_tensor *const *)b});
    dt_tensor *x = dt_add(inputs[0], dropout(finished(attention(b, entering(&b->ln1, inputs[0])))));
    dt_tensor *y = dt_gelu(linear(&b->fc1, entering(&b->ln2, x)), .approximate = "tanh");
    return dt_add(x, dropout(finished(linear(&b->fc2, y))));
}

static dt_tensor *output(dt_tensor *x) {
    dt_use(DT_TENSORS(ln.weight, ln.bias, head));
    return dt_linear(entering(&ln, x), head);
}

/* Unit 0 embeds tokens i64[batch,n]; the last one makes logits [batch,n,vocab]. */
static dt_tensor *run_unit(int64_t unit, dt_tensor *x) {
    dt_scope scope = dt_scope_begin(ctx);
    if (unit == 0 || unit > o.layers)
        x = dt_keep(unit == 0 ? embed(x) : output(x));
    else
        x = dt_keep(o.checkpoint ? dt_checkpoint(run_block, &blocks[unit - 1], DT_TENSORS(x))
                                 : run_block(&x, &blocks[unit - 1]));
    dt_scope_end(scope); /* frees what was gathered */
    return x;
}

static dt_tensor *loss_of(dt_tensor *logits, dt_tensor *targets) {
    dt_scope scope = dt_scope_begin(ctx);
    const dt_mesh *of = dt_tensor_mesh(logits);
    /* Requested: a few numbers per token over sharded classes, and sequences that do not divide by the ranks. */
    if (of && (dt_mesh_dim(of, "tp") >= 0 || dt_tensor_size(logits, 0) % dt_mesh_size(of)))
        dt_comm_policy(ctx, DT_COMM_ALLOW);
    logits = dt_flatten(dt_to(logits, dt_tensor_dtype(tok)), .end_dim = DT_INT(1));
    dt_tensor *loss = dt_keep(dt_cross_entropy(logits, dt_flatten(targets)));
    dt_scope_end(scope);
    return loss;
}

/* Integers that every rank has, on a mesh. */
static dt_tensor *integers(void *from, dt_shape shape, dt_mesh *to, const char *place) {
    dt_tensor *plain = dt_from_memory(ctx, from, shape, DT_I64);
    return to ? dt_distribute_tensor(plain, to, place, .everywhere = true) : plain;
}

/* Sequences of the batch as tokens or, one further, as targets: i64[rows,seq]. */
static dt_tensor *sequences(int64_t micro, int64_t shift, dt_mesh *to) {
    int64_t *from = batch;
    for (int64_t m = 0; m < micro; m++)
        from += rows[m] * (o.seq + 1);
    return dt_narrow(integers(from, DT_SHAPE(rows[micro], o.seq + 1), to, input), 1, shift, o.seq);
}

static dt_tensor *run_stage(int64_t stage, int64_t micro, dt_tensor *x, void *user) {
    const int64_t end = first_unit(stage + 1);
    (void)user;
    if (stage == 0)
        x = sequences(micro, 0, on[0]);
    for (int64_t unit = first_unit(stage); unit < end; unit++)
        x = run_unit(unit, x);
    return end < o.layers + 2 ? x : loss_of(x, sequences(micro, 1, on[end - 1]));
}

/* The loss of a batch; its gradients are added to those of the parameters. */
static double run_batch(void) {
    double loss = NAN;
    char hop[256];
    if (!pipeline) {
        dt_tensor *mean = run_stage(0, 0, NULL, NULL);
        dt_backward(mean);
        return dt_item(mean);
    }
    snprintf(hop, sizeof hop, "%s[" I64 "," I64 "," I64 "] %s", o.dtype, rows[0], o.seq, o.width,
             o.sequence_parallel ? residual : input);
    dt_pipeline_run(schedule, mesh, run_stage, NULL, .hop = hop, .rows = rows, .loss = &loss, .params = params,
                    .hold = dt_mesh_dim(mesh, "dp") >= 0 ? "dp" : "");
    return loss;
}

static void train_step(int64_t step) {
    const double lr = dt_lr_cosine(step, o.lr, o.min_lr, o.warmup, o.steps);
    const dt_tensors all = dt_params_list(params, NULL);
    dt_scope scope = dt_scope_begin(ctx);
    dt_generator_seed(dt_generator_default(ctx), mix((uint64_t)o.seed << 32 ^ (uint64_t)step));
    fill_batch(&text, (uint64_t)o.seed, step, o.batch, o.seq + 1, batch);
    losses[step] = run_batch();
    const bool has_norm = o.clip > 0 || o.log;
    dt_tensor *total = has_norm ? dt_clip_grad_norm(all, o.clip > 0 ? o.clip : INFINITY, .mesh = pipeline) : NULL;
    dt_optimizer_set_lr(optimizer, lr);
    dt_optimizer_step(optimizer);
    dt_zero_grad(all); /* here, so that the memory is free in the next forward pass */
    if (log_file)
        fprintf(log_file, "{\"step\":" I64 ",\"loss\":%.17g,\"grad_norm\":%.17g,\"lr\":%.17g}\n", step, losses[step],
                dt_item(total), lr);
    dt_scope_end(scope);
}

/* The logits of the last token. Between units of different stages, the hidden state moves from mesh to mesh. */
static dt_tensor *predict(int64_t *tokens, int64_t n) {
    dt_tensor *x = integers(tokens, DT_SHAPE(1, n), on[0], NULL);
    for (int64_t unit = 0; unit < o.layers + 2; unit++)
        x = run_unit(unit, pipeline ? dt_redistribute(x, NULL, .mesh = on[unit]) : x);
    x = pipeline ? dt_redistribute(x, NULL, .mesh = mesh) : x;
    return dt_to(dt_full_tensor(dt_at(x, "0, -1")), DT_F32);
}

static bool check_options(void) {
    const char *both = o.init && o.resume ? "init and --resume" : o.tokens && o.data ? "tokens and --data" : NULL;
    return (o.width % o.heads == 0 ||
            complain("--heads: expected a divisor of the width " I64 ", got " I64, o.width, o.heads)) &&
           (o.dropout < 1 || complain("--dropout: expected less than 1, got %g", o.dropout)) &&
           (!o.tokens || o.vocab > 0 || complain("--tokens: expected --vocab with it")) &&
           (!both || complain("--%s: expected one of them", both));
}

static bool prepare_text(void) {
    if (!(o.tokens ? read_tokens(ctx, o.tokens, (int64_t[]){o.steps, o.batch, o.seq + 1}, o.vocab, &text)
                   : read_text(o.data, (uint64_t)o.seed, &text)))
        return false;
    o.vocab = o.vocab ? o.vocab : text.n_characters;
    return ((int64_t)text.n > o.seq || complain("%s%s: expected more than the " I64 " tokens of a sequence, got %zu",
                                                o.data ? "--data " : "--seq", o.data ? o.data : "", o.seq, text.n)) &&
           (o.vocab >= text.n_characters ||
            complain("--vocab: expected at least the " I64 " characters of the text, got " I64, text.n_characters,
                     o.vocab));
}

/* Parameters from --init, or parameters, the optimizer's state and its step from --resume. */
static bool prepare_model(void) {
    const char *path = o.resume ? o.resume : o.init ? o.init : "";
    losses = calloc((size_t)o.steps, sizeof *losses);
    batch = calloc((size_t)(o.batch * (o.seq + 1)), sizeof *batch);
    if (!losses || !batch)
        return complain("out of memory");
    make_model();
    if (o.resume)
        dt_params_load_npz(params, path, .optimizer = optimizer, .config = config);
    else if (o.init)
        dt_params_load_npz(params, path);
    first_step = o.resume && !dt_failed(ctx) ? dt_item_i64(dt_load_npz(ctx, path, "step.tok.weight")) : 0;
    return !dt_failed(ctx) || complain_of_call(ctx, o.resume ? "--resume " : o.init ? "--init " : "the model", path);
}

static bool prepare_run(void) {
    o.stop = o.stop == 0 || o.stop > o.steps ? o.steps : o.stop;
    dt_comm_policy(ctx, *o.policy == 'e' ? DT_COMM_ERROR : *o.policy == 'w' ? DT_COMM_WARN : DT_COMM_ALLOW);
    if (first_step >= o.stop)
        return complain("--steps or --stop: expected more than the " I64 " of the checkpoint, got " I64, first_step,
                        o.stop);
    log_file = dt_rank(ctx) == 0 && o.log ? fopen(o.log, "w") : NULL;
    times_file = dt_rank(ctx) == 0 && o.times ? fopen(o.times, "w") : NULL;
    if (dt_rank(ctx) == 0 && ((o.log && !log_file) || (o.times && !times_file)))
        return complain("--%s: cannot be written: %s", log_file || !o.log ? "times" : "log", strerror(errno));
    return !o.trace || dt_trace_begin(ctx, o.trace) == DT_OK || complain_of_call(ctx, "--trace ", o.trace);
}

static void print_begin(void) {
    int64_t n = 0;
    for (int i = 0; i < dt_params_n(params) - (int)o.tied; i++)
        n += dt_tensor_elements(dt_params_tensor(params, i));
    printf("A GPT of " I64 " layers, width " I64 ", " I64 " heads and " I64 " tokens: " I64
           " parameters in %s, on %s%s%s\n",
           o.layers, o.width, o.heads, o.vocab, n, o.dtype, mesh ? "mesh(" : "one rank",
           mesh ? dt_mesh_text(mesh) : "", mesh ? ")" : "");
}

static void print_end(double seconds) {
    const int64_t n = o.stop - first_step;
    char out[4096];
    dt_curve_text(n, losses + first_step, 0, 0, sizeof out, out);
    if (!o.tokens)
        printf("\nLoss over " I64 " steps:\n\n%s", n, out);
    if (o.svg)
        dt_curve_save_svg(ctx, o.svg, n, losses + first_step, .title = "Loss", .first = DT_INT(first_step));
    if (mesh)
        printf("\nCommunication of a step as rank 0 sees it; its time includes waiting for other ranks:\n\n%s",
               dt_comm_steps_text(ctx, n, seconds));
    printf("\nMemory of rank 0:\n\n%s", dt_memory_text(ctx));
}

static void train(void) {
    dt_progress progress = dt_progress_begin(ctx, o.steps);
    progress.first = first_step, progress.stop = o.stop, progress.every = o.every, progress.unit = "tokens";
    progress.per_step = (double)(o.batch * o.seq), progress.live = progress.live || o.live;
    const double start = dt_now(ctx); /* also in estimates */
    struct timespec date;
    if (dt_rank(ctx) == 0)
        print_begin();
    dt_comm_stats_begin(ctx);
    for (int64_t step = first_step; step < o.stop && !dt_failed(ctx); step++) {
        const double begin = dt_now(ctx);
        timespec_get(&date, TIME_UTC);
        train_step(step);
        dt_progress_step(&progress, step, "loss %.4f", losses[step]);
        if (times_file)
            fprintf(times_file, "{\"step\":" I64 ",\"begin\":%.6f,\"seconds\":%.9f}\n", step,
                    (double)date.tv_sec + 1e-9 * (double)date.tv_nsec, dt_now(ctx) - begin);
    }
    dt_comm_stats_end(ctx);
    const double seconds = dt_now(ctx) - start;
    dt_progress_end(&progress);
    if (o.save)
        dt_params_save_npz(params, o.save, .optimizer = optimizer, .config = config);
    o.dropout = 0;
    if (!o.tokens && o.sample > 0)
        print_sample(ctx, &text, o.sample, batch, o.seq, (uint64_t)o.seed, predict);
    if (dt_rank(ctx) == 0 && !dt_failed(ctx))
        print_end(seconds);
}

int main(int argc, char **argv) {
    static bool (*const todo[])(void) = {check_options, make_mesh,     make_stages,
                                         prepare_text,  prepare_model, prepare_run};
    if (!(ctx = dt_init(NULL)))
        return 1;
    const bool help = gives_help(ctx, argc, argv, "Trains a GPT, alone or on a mesh.\n\nUsage: [dtrun -n RANKS] gpt",
                                 N_OPTIONS, all_options);
    bool ready = !help && all_ready(ctx, "gpt", parse_options(argc, argv, N_OPTIONS, all_options, &o));
    for (size_t i = 0; ready && i < sizeof todo / sizeof *todo; i++)
        ready = all_ready(ctx, "gpt", todo[i]()); /* on all ranks */
    if (ready)
        train();
    fflush(NULL);
    return help || ready ? dt_close(ctx) : (dt_close(ctx), 2);
}
