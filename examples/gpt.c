/* SPDX-License-Identifier: Apache-2.0
 *
 * A GPT that trains on a mesh, written once. The model below is that of one device; how it is parallel follows from
 * the placements of its parameters and inputs (struct layout), and from two marks in each block where partial sums are
 * finished.
 *
 *     $ ./gpt                                          one rank
 *     $ dtrun -n 4 ./gpt --mesh dp=2,tp=2              data and tensor parallel
 *     $ dtrun -n 4 ./gpt --mesh fsdp=4                 fully sharded
 *     $ dtrun -n 2 ./gpt --mesh tp=2 --sequence-parallel
 *
 * --help lists the options. Mesh dims have the names dp (data parallel), fsdp (data parallel with sharded parameters)
 * and tp (tensor parallel).
 */
#define _GNU_SOURCE
#include <dtensor/dtensor.h>

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Options. */

struct options {
    int64_t layers, width, heads, vocab, seq, batch, steps, stop, tied, warmup, seed, sample, every;
    double lr, min_lr, weight_decay, clip, dropout;
    bool sequence_parallel, live;
    const char *mesh, *dtype, *data, *tokens, *init, *save, *resume, *log, *trace, *svg, *policy;
};

enum kind { INTEGER, REAL, TEXT, FLAG };

static const struct option {
    const char *name;
    enum kind kind;
    size_t offset;
    const char *value, *help;
} all_options[] = {
#define OPTION(name, kind, field, value, help)                                                                       \
    { name, kind, offsetof(struct options, field), value, help }
    OPTION("layers", INTEGER, layers, "4", "blocks of attention and MLP"),
    OPTION("width", INTEGER, width, "64", "size of the hidden state; a multiple of heads"),
    OPTION("heads", INTEGER, heads, "4", "attention heads"),
    OPTION("vocab", INTEGER, vocab, "0", "number of tokens; 0: the characters of the text"),
    OPTION("seq", INTEGER, seq, "64", "tokens per sequence"),
    OPTION("batch", INTEGER, batch, "16", "sequences per step, over all ranks"),
    OPTION("steps", INTEGER, steps, "300", "training steps"),
    OPTION("stop", INTEGER, stop, "0", "stop after this step, to go on later with --resume; 0: after --steps"),
    OPTION("tied", INTEGER, tied, "1", "1: the output layer has the weights of the token embedding"),
    OPTION("dropout", REAL, dropout, "0.1", "probability of dropout"),
    OPTION("lr", REAL, lr, "0.003", "learning rate after the warm-up"),
    OPTION("min-lr", REAL, min_lr, "0.0003", "learning rate at the end"),
    OPTION("warmup", INTEGER, warmup, "20", "steps in which the learning rate rises"),
    OPTION("weight-decay", REAL, weight_decay, "0.1", "weight decay of AdamW, for parameters of two dims"),
    OPTION("clip", REAL, clip, "1", "largest norm of the gradients; 0: any"),
    OPTION("mesh", TEXT, mesh, NULL, "the ranks, such as dp=2,tp=2; default: dp over all"),
    OPTION("sequence-parallel", FLAG, sequence_parallel, NULL,
           "shard the sequence over tp between the linear layers"),
    OPTION("dtype", TEXT, dtype, "f32", "f32 or f64"),
    OPTION("seed", INTEGER, seed, "1", "of parameters, dropout, batches and the sample"),
    OPTION("data", TEXT, data, NULL, "text file to train on; default: sentences of a small grammar"),
    OPTION("tokens", TEXT, tokens, NULL, "batches from a .npy file, i64[steps,batch,seq+1]"),
    OPTION("init", TEXT, init, NULL, "parameters from a .npz file"),
    OPTION("save", TEXT, save, NULL, "write parameters and the optimizer's state to a .npz file at the end"),
    OPTION("resume", TEXT, resume, NULL, "go on from a file that --save wrote"),
    OPTION("log", TEXT, log, NULL, "step, loss, grad_norm and lr as JSON Lines"),
    OPTION("live", FLAG, live, NULL, "one line that changes, as on a terminal, which dtrun hides"),
    OPTION("every", INTEGER, every, "25", "steps per line of output, where that is no terminal"),
    OPTION("sample", INTEGER, sample, "200", "characters to generate at the end"),
    OPTION("svg", TEXT, svg, NULL, "write the loss curve to this file"),
    OPTION("trace", TEXT, trace, NULL, "trace to a .json file, for Perfetto"),
    OPTION("comm-policy", TEXT, policy, "allow", "allow, warn or error: transfers that the program did not request"),
#undef OPTION
};
enum { N_OPTIONS = sizeof all_options / sizeof *all_options };

static bool set_option(struct options *to, const struct option *option, const char *text) {
    void *field = (char *)to + option->offset;
    char *end = "";
    errno = 0;
    switch (option->kind) {
    case INTEGER:
        *(int64_t *)field = strtoll(text, &end, 10);
        break;
    case REAL:
        *(double *)field = strtod(text, &end);
        break;
    case TEXT:
        *(const char **)field = text;
        return true;
    case FLAG:
        *(bool *)field = true;
        return true;
    }
    return end != text && !*end && !errno;
}

static void print_help(void) {
    printf("Trains a small GPT.\n\nUsage: [dtrun -n RANKS] gpt [OPTION]...\n\n");
    for (int i = 0; i < N_OPTIONS; i++) {
        const struct option *option = &all_options[i];
        char name[64];
        snprintf(name, sizeof name, "--%s%s", option->name,
                 option->kind == FLAG   ? ""
                 : option->kind == TEXT ? " TEXT"
                                        : " N");
        printf("  %-22s %s", name, option->help);
        printf(option->value ? " (%s)\n" : "\n", option->value);
    }
    printf("  %-22s %s\n", "--help", "this text");
}

/* An error before anything has begun: one line, from the first rank. */
static bool complain(dt_ctx *ctx, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    if (dt_rank(ctx) == 0) {
        fprintf(stderr, "gpt: ");
        vfprintf(stderr, format, arguments);
        fputc('\n', stderr);
    }
    va_end(arguments);
    return false;
}

static bool parse_options(dt_ctx *ctx, int argc, char **argv, struct options *to) {
    for (int i = 0; i < N_OPTIONS; i++)
        if (all_options[i].value)
            set_option(to, &all_options[i], all_options[i].value);
    for (int a = 1; a < argc; a++) {
        const struct option *option = NULL;
        const char *name = argv[a];
        for (int i = 0; i < N_OPTIONS; i++)
            if (!strncmp(name, "--", 2) && !strcmp(name + 2, all_options[i].name))
                option = &all_options[i];
        if (!option)
            return complain(ctx, "unknown option '%s'; --help lists them", name);
        if (option->kind != FLAG && ++a == argc)
            return complain(ctx, "%s: expected a value", name);
        if (!set_option(to, option, argv[a]))
            return complain(ctx, "%s: expected %s, got '%s'", name,
                            option->kind == INTEGER ? "an integer" : "a number", argv[a]);
    }
    return true;
}

static bool check_options(dt_ctx *ctx, const struct options *o) {
    if (o->layers < 1 || o->width < 1 || o->heads < 1 || o->seq < 1 || o->batch < 1 || o->steps < 1 || o->every < 1)
        return complain(ctx, "--layers, --width, --heads, --seq, --batch, --steps, --every: expected at least 1");
    if (o->width % o->heads)
        return complain(ctx, "--heads: expected a divisor of the width %" PRId64 ", got %" PRId64, o->width,
                        o->heads);
    if (o->dropout < 0 || o->dropout >= 1)
        return complain(ctx, "--dropout: expected 0 to less than 1, got %g", o->dropout);
    if (strcmp(o->dtype, "f32") != 0 && strcmp(o->dtype, "f64") != 0)
        return complain(ctx, "--dtype: expected f32 or f64, got '%s'", o->dtype);
    if (strcmp(o->policy, "allow") != 0 && strcmp(o->policy, "warn") != 0 && strcmp(o->policy, "error") != 0)
        return complain(ctx, "--comm-policy: expected allow, warn or error, got '%s'", o->policy);
    if (o->tokens && o->vocab < 1)
        return complain(ctx, "--tokens: expected --vocab with it");
    return true;
}

/* How the model is parallel: everything that depends on the mesh. */

enum { TEXT_BYTES = 256 };

struct layout {
    dt_mesh *mesh; /* NULL: one device */
    int64_t n_tp;
    char input[TEXT_BYTES];    /* of token batches: sharded by sequence number over dp and fsdp */
    char residual[TEXT_BYTES]; /* of the hidden state between the layers, where that is sharded by tokens */
    char entered[TEXT_BYTES];  /* of the same as the linear layers see it */
};

/* One placement per mesh dim: `tp` for tp, `fsdp` for fsdp, `dp` for the others. */
static const char *placements(const struct layout *at, const char *dp, const char *fsdp, const char *tp, char *out) {
    size_t used = 0;
    if (!at->mesh)
        return NULL;
    for (int i = 0; i < dt_mesh_n_dims(at->mesh); i++) {
        const char *name = dt_mesh_dim_name(at->mesh, i), *text = !strcmp(name, "tp")     ? tp
                                                                  : !strcmp(name, "fsdp") ? fsdp
                                                                                          : dp;
        used += (size_t)snprintf(out + used, used < TEXT_BYTES ? TEXT_BYTES - used : 0, "%s%s", i ? "," : "", text);
    }
    return out;
}

static bool make_layout(dt_ctx *ctx, const struct options *o, struct layout *to) {
    *to = (struct layout){.n_tp = 1};
    if (!o->mesh && dt_world(ctx) == 1)
        return true;
    to->mesh = dt_mesh_new(ctx, o->mesh ? o->mesh : "dp=*");
    if (!to->mesh)
        return complain(ctx, "%s", dt_error_text(ctx));
    for (int i = 0; i < dt_mesh_n_dims(to->mesh); i++) {
        const char *name = dt_mesh_dim_name(to->mesh, i);
        if (!name || (strcmp(name, "dp") != 0 && strcmp(name, "fsdp") != 0 && strcmp(name, "tp") != 0))
            return complain(ctx, "--mesh %s: expected dims dp, fsdp and tp, got '%s'", o->mesh, name ? name : "");
        if (!strcmp(name, "tp"))
            to->n_tp = dt_mesh_dim_size(to->mesh, i);
    }
    if (dt_mesh_size(to->mesh) != dt_world(ctx))
        return complain(ctx, "--mesh %s: expected %" PRId64 " ranks, got %" PRId64, o->mesh, dt_mesh_size(to->mesh),
                        dt_world(ctx));
    placements(to, "S(0)", "S(0)", "R", to->input);
    placements(to, "S(0)", "S(0)", "S(1)", to->residual);
    placements(to, "S(0)", "S(0)", "R", to->entered);
    return true;
}

/* Parameters. */

enum { MAX_PARAMETERS = 4096, NAME_BYTES = 64 };

struct linear {
    dt_tensor *weight, *bias;
};

struct block {
    struct linear ln1, ln2, wq, wk, wv, wo, fc1, fc2;
};

struct gpt {
    dt_ctx *ctx;
    struct options o;
    struct layout at;
    dt_dtype dtype;
    struct linear ln;
    dt_tensor *tok, *pos, *head;
    struct block *blocks;
    int n;
    char names[MAX_PARAMETERS][NAME_BYTES];
    dt_tensor *parameters[MAX_PARAMETERS];
};

/* Which dim of a parameter is sharded over tp. */
enum tp_dim { WHOLE = -1, ROWS, COLUMNS };

/* S(dim), in shards of entire heads where `heads`; n heads need not divide by the number of ranks. */
static const char *tp_placement(const struct gpt *self, enum tp_dim dim, bool heads, char *out) {
    const int64_t n = self->at.n_tp, chunk = (self->o.heads + n - 1) / n;
    size_t used = (size_t)snprintf(out, TEXT_BYTES, dim == WHOLE ? "R" : "S(%d", (int)dim);
    if (dim == WHOLE)
        return out;
    for (int64_t r = 0; heads && r < n && used < TEXT_BYTES; r++) {
        int64_t rest = self->o.heads - r * chunk, mine = rest < 0 ? 0 : rest < chunk ? rest : chunk;
        used += (size_t)snprintf(out + used, TEXT_BYTES - used, "%s%" PRId64, r ? "," : ":",
                                 mine * (self->o.width / self->o.heads));
    }
    snprintf(out + used, used < TEXT_BYTES ? TEXT_BYTES - used : 0, ")");
    return out;
}

/* A parameter with normal numbers, or with one number where std is 0. fsdp shards the first dim that tp does not; ops
 * see the parameter gathered over it. */
static dt_tensor *parameter(struct gpt *self, const char *name, dt_shape shape, enum tp_dim dim, bool heads,
                            double value, double std) {
    char tp[TEXT_BYTES], stored[TEXT_BYTES], used[TEXT_BYTES];
    const char *fsdp = dim == ROWS ? shape.n > 1 ? "S(1)" : "R" : "S(0)";
    tp_placement(self, dim, heads && self->o.heads % self->at.n_tp, tp);
    const char *place = placements(&self->at, "R", fsdp, tp, stored),
               *use = placements(&self->at, "R", "R", tp, used);
    dt_tensor *t;
    if (self->o.init || self->o.resume) {
        t = dt_load_npz(self->ctx, self->o.resume ? self->o.resume : self->o.init, name, .mesh = self->at.mesh,
                        .place = place);
        if (t && dt_tensor_dtype(t) != self->dtype)
            t = dt_to(t, self->dtype);
    } else
        t = std > 0 ? dt_randn(self->ctx, shape, .std = DT_REAL(std), .dtype = self->dtype, .mesh = self->at.mesh,
                               .place = place)
                    : dt_full(self->ctx, shape, DT_NUMBER(value), .dtype = self->dtype, .mesh = self->at.mesh,
                              .place = place);
    if (use && strcmp(use, place) != 0)
        dt_set_use(t, use);
    dt_set_requires_grad(t, true);
    snprintf(self->names[self->n], NAME_BYTES, "%s", name);
    return self->parameters[self->n++] = t;
}

static struct linear norm_layer(struct gpt *self, const char *prefix) {
    char name[2][NAME_BYTES];
    snprintf(name[0], NAME_BYTES, "%s.weight", prefix);
    snprintf(name[1], NAME_BYTES, "%s.bias", prefix);
    dt_tensor *weight = parameter(self, name[0], DT_SHAPE(self->o.width), WHOLE, false, 1, 0);
    return (struct linear){weight, parameter(self, name[1], DT_SHAPE(self->o.width), WHOLE, false, 0, 0)};
}

/* Megatron's way: the rows of a layer's weights are sharded, and its results; then the columns of the next one, whose
 * results are partial sums. */
static struct linear linear_layer(struct gpt *self, int layer, const char *suffix, int64_t out, int64_t in,
                                  enum tp_dim dim, bool heads, double std) {
    char name[2][NAME_BYTES];
    snprintf(name[0], NAME_BYTES, "blocks.%d.%s.weight", layer, suffix);
    snprintf(name[1], NAME_BYTES, "blocks.%d.%s.bias", layer, suffix);
    dt_tensor *weight = parameter(self, name[0], DT_SHAPE(out, in), dim, heads, 0, std);
    return (struct linear){weight, parameter(self, name[1], DT_SHAPE(out), dim == ROWS ? ROWS : WHOLE, heads, 0, 0)};
}

static void make_block(struct gpt *self, int layer) {
    const int64_t width = self->o.width;
    const double std = 0.02, deep = std / sqrt(2.0 * (double)self->o.layers);
    char name[NAME_BYTES];
    struct block *b = &self->blocks[layer];
    snprintf(name, sizeof name, "blocks.%d.ln1", layer);
    b->ln1 = norm_layer(self, name);
    snprintf(name, sizeof name, "blocks.%d.ln2", layer);
    b->ln2 = norm_layer(self, name);
    b->wq = linear_layer(self, layer, "attn.wq", width, width, ROWS, true, std);
    b->wk = linear_layer(self, layer, "attn.wk", width, width, ROWS, true, std);
    b->wv = linear_layer(self, layer, "attn.wv", width, width, ROWS, true, std);
    b->wo = linear_layer(self, layer, "attn.wo", width, width, COLUMNS, true, deep);
    b->fc1 = linear_layer(self, layer, "mlp.fc1", 4 * width, width, ROWS, false, std);
    b->fc2 = linear_layer(self, layer, "mlp.fc2", width, 4 * width, COLUMNS, false, deep);
}

static void make_model(struct gpt *self) {
    const struct options *o = &self->o;
    self->tok = parameter(self, "tok.weight", DT_SHAPE(o->vocab, o->width), ROWS, false, 0, 0.02);
    self->pos = parameter(self, "pos.weight", DT_SHAPE(o->seq, o->width), WHOLE, false, 0, 0.02);
    for (int i = 0; i < o->layers; i++)
        make_block(self, i);
    self->ln = norm_layer(self, "ln");
    self->head =
        o->tied ? self->tok : parameter(self, "head.weight", DT_SHAPE(o->vocab, o->width), ROWS, false, 0, 0.02);
}

/* The model. Nothing here depends on the mesh but the two functions that follow. */

/* Partial sums over tp are finished; sequence parallel shards the sum by tokens. */
static dt_tensor *finished(const struct gpt *self, dt_tensor *x) {
    return self->o.sequence_parallel ? dt_reduced(x, .place = self->at.residual) : dt_reduced(x);
}

/* Sequence parallel: the linear layers see all tokens. */
static dt_tensor *entering(const struct gpt *self, dt_tensor *x) {
    if (self->o.sequence_parallel && self->at.mesh)
        dt_set_use(x, self->at.entered);
    return x;
}

static dt_tensor *norm(const struct gpt *self, const struct linear *layer, dt_tensor *x) {
    return dt_layer_norm(x, DT_SHAPE(self->o.width), .weight = layer->weight, .bias = layer->bias);
}

static dt_tensor *linear(const struct linear *layer, dt_tensor *x) {
    return dt_linear(x, layer->weight, layer->bias);
}

static dt_tensor *dropout(const struct gpt *self, dt_tensor *x, bool training) {
    return training && self->o.dropout > 0 ? dt_dropout(x, .p = DT_REAL(self->o.dropout)) : x;
}

/* [batch,seq,width] as [batch,heads,seq,width/heads] */
static dt_tensor *split_heads(const struct gpt *self, dt_tensor *x) {
    const int64_t *shape = dt_tensor_shape(x);
    if (!shape)
        return NULL;
    return dt_transpose(dt_view(x, DT_SHAPE(shape[0], shape[1], self->o.heads, self->o.width / self->o.heads)), 1, 2);
}

static dt_tensor *attention(const struct gpt *self, const struct block *b, dt_tensor *x) {
    dt_tensor *q = split_heads(self, linear(&b->wq, x)), *k = split_heads(self, linear(&b->wk, x)),
              *v = split_heads(self, linear(&b->wv, x));
    dt_tensor *y = dt_transpose(dt_scaled_dot_product_attention(q, k, v, .is_causal = true), 1, 2);
    const int64_t *shape = dt_tensor_shape(y);
    return shape ? linear(&b->wo, dt_reshape(y, DT_SHAPE(shape[0], shape[1], self->o.width))) : NULL;
}

static dt_tensor *mlp(const struct block *b, dt_tensor *x) {
    return linear(&b->fc2, dt_gelu(linear(&b->fc1, x), .approximate = "tanh"));
}

/* A scope of its own frees what the block has gathered and does not need any more. */
static dt_tensor *block_forward(const struct gpt *self, const struct block *b, dt_tensor *x, bool training) {
    dt_scope scope = dt_scope_begin(self->ctx);
    x = dt_add(x,
               dropout(self, finished(self, attention(self, b, entering(self, norm(self, &b->ln1, x)))), training));
    x = dt_add(x, dropout(self, finished(self, mlp(b, entering(self, norm(self, &b->ln2, x)))), training));
    dt_keep(x);
    dt_scope_end(scope);
    return x;
}

/* Tokens i64[batch,n] to logits [batch,n,vocab] */
static dt_tensor *forward(const struct gpt *self, dt_tensor *tokens, bool training) {
    dt_tensor *pos = dt_narrow(self->pos, 0, 0, dt_tensor_size(tokens, 1));
    dt_tensor *x = dropout(self, dt_add(finished(self, dt_embedding(tokens, self->tok)), pos), training);
    for (int i = 0; i < self->o.layers; i++)
        x = block_forward(self, &self->blocks[i], x, training);
    return dt_linear(entering(self, norm(self, &self->ln, x)), self->head);
}

static dt_tensor *loss_of(const struct gpt *self, dt_tensor *tokens, dt_tensor *targets) {
    dt_tensor *logits = dt_flatten(forward(self, tokens, true), .end_dim = DT_INT(1));
    dt_scope scope = dt_scope_begin(self->ctx);
    dt_comm_policy(self->ctx,
                   DT_COMM_ALLOW); /* requested: over sharded classes, ranks exchange a few numbers per token */
    dt_tensor *loss = dt_keep(dt_cross_entropy(logits, dt_flatten(targets)));
    dt_scope_end(scope);
    return loss;
}

/* Text, one token per character. */

struct text {
    char *characters; /* by token */
    int64_t n_characters;
    uint8_t *tokens;
    int64_t n;
};

static uint64_t mix(uint64_t x) {
    x ^= x >> 31;
    x *= UINT64_C(0x7fb5d329728ea185);
    x ^= x >> 27;
    x *= UINT64_C(0x81dadef4bc2dd44d);
    return x ^ x >> 33;
}

static const char *pick(uint64_t *state, const char *const *words, int n) {
    return words[mix(++*state) % (uint64_t)n];
}

/* Sentences such as "the old fox follows a river to the village." */
static char *make_sentences(uint64_t seed) {
    static const char *const articles[] = {"the", "a"};
    static const char *const adjectives[] = {"old", "small", "quiet", "bright", "green", "cold", "young"};
    static const char *const nouns[] = {"fox", "river", "village", "garden", "bird", "mountain", "child", "stone"};
    static const char *const verbs[] = {"follows", "finds", "leaves", "sees", "remembers", "passes"};
    static const char *const ways[] = {"to", "behind", "under", "near"};
#define PICK(words) pick(&state, words, sizeof words / sizeof *words)
    enum { BYTES = 100000, LONGEST = 100 };
    uint64_t state = seed << 32;
    char *out = malloc(BYTES + LONGEST);
    size_t used = 0;
    while (out && used < BYTES) {
        used += (size_t)sprintf(out + used, "%s %s %s %s %s %s", PICK(articles), PICK(adjectives), PICK(nouns),
                                PICK(verbs), PICK(articles), PICK(nouns));
        if (mix(++state) % 2)
            used += (size_t)sprintf(out + used, " %s %s %s", PICK(ways), PICK(articles), PICK(nouns));
        used += (size_t)sprintf(out + used, ".\n");
    }
#undef PICK
    return out;
}

static char *read_file(const char *path) {
    FILE *file = fopen(path, "rb");
    char *out = NULL;
    size_t used = 0, capacity = 0, n;
    do {
        char *larger = file && used == capacity ? realloc(out, (capacity = 2 * capacity + 65536) + 1) : out;
        if (!larger)
            break;
        out = larger;
        used += n = fread(out + used, 1, capacity - used, file);
    } while (n > 0);
    if (out)
        out[used] = 0;
    if (file)
        fclose(file);
    return out;
}

static bool read_text(dt_ctx *ctx, const struct options *o, struct text *to) {
    int64_t token_of[256];
    char *text = o->data ? read_file(o->data) : make_sentences((uint64_t)o->seed);
    if (!text)
        return complain(ctx, "cannot read '%s': %s", o->data ? o->data : "", strerror(errno));
    to->n = (int64_t)strlen(text);
    to->tokens = malloc((size_t)to->n + 1);
    to->characters = calloc(1, 257);
    if (!to->tokens || !to->characters || to->n <= o->seq)
        return complain(ctx, "'%s': expected more than %" PRId64 " characters, got %" PRId64, o->data ? o->data : "",
                        o->seq, to->n);
    bool seen[256] = {0};
    for (int64_t i = 0; i < to->n; i++)
        seen[(unsigned char)text[i]] = true;
    for (int c = 0; c < 256; c++)
        if (seen[c]) {
            to->characters[to->n_characters] = (char)c;
            token_of[c] = to->n_characters++;
        }
    for (int64_t i = 0; i < to->n; i++)
        to->tokens[i] = (uint8_t)token_of[(unsigned char)text[i]];
    free(text);
    return true;
}

/* Training. */

struct run {
    struct gpt *model;
    struct text text;
    dt_tensor *tokens; /* of --tokens */
    int64_t *batch;    /* [batch,seq+1] */
    double *losses;
    dt_optimizer *decayed, *other;
    dt_tensors all, matrices, vectors;
    FILE *log;
    bool first, live;
    int64_t first_step; /* of a run that continues from a checkpoint */
    double start;
};

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Every rank has all batches, and keeps its sequences of them. */
static void next_batch(struct run *self, int64_t step) {
    const struct options *o = &self->model->o;
    const int64_t row = o->seq + 1;
    if (self->tokens) {
        memcpy(self->batch, (const int64_t *)dt_data(self->tokens) + step * o->batch * row,
               (size_t)(o->batch * row) * sizeof *self->batch);
        return;
    }
    for (int64_t b = 0; b < o->batch; b++) {
        int64_t at = (int64_t)(mix((uint64_t)o->seed << 40 ^ (uint64_t)(step * o->batch + b)) %
                               (uint64_t)(self->text.n - row + 1));
        for (int64_t i = 0; i < row; i++)
            self->batch[b * row + i] = self->text.tokens[at + i];
    }
}

static dt_tensor *batch_tensor(struct run *self) {
    const struct gpt *model = self->model;
    dt_tensor *all = dt_from_memory(model->ctx, self->batch, DT_SHAPE(model->o.batch, model->o.seq + 1), DT_I64);
    return model->at.mesh ? dt_distribute_tensor(all, model->at.mesh, model->at.input, .everywhere = true) : all;
}

static double learning_rate(const struct options *o, int64_t step) {
    if (step < o->warmup)
        return o->lr * (double)(step + 1) / (double)o->warmup;
    return o->min_lr +
           (o->lr - o->min_lr) / 2 * (1 + cos(M_PI * (double)(step - o->warmup) / (double)(o->steps - o->warmup)));
}

static void show_step(struct run *self, int64_t step, double loss) {
    const struct options *o = &self->model->o;
    const double seconds = now() - self->start, done = (double)(step + 1 - self->first_step);
    const bool last = step + 1 == o->stop;
    if (!self->first || !(self->live || step == self->first_step || last || (step + 1) % o->every == 0))
        return;
    printf("%sstep %4" PRId64 "/%" PRId64 "  loss %.4f  %6.0f tokens/s  %3.0f s left%s", self->live ? "\r" : "",
           step + 1, o->steps, loss, done * (double)(o->batch * o->seq) / seconds,
           seconds / done * (double)(o->stop - step - 1), self->live && !last ? "" : "\n");
    fflush(stdout);
}

static void train_step(struct run *self, int64_t step) {
    struct gpt *model = self->model;
    const double lr = learning_rate(&model->o, step);
    dt_scope scope = dt_scope_begin(model->ctx);
    dt_generator_seed(dt_generator_default(model->ctx), mix((uint64_t)model->o.seed << 32 ^ (uint64_t)step));
    next_batch(self, step);
    dt_tensor *batch = batch_tensor(self);
    dt_tensor *loss = loss_of(model, dt_narrow(batch, 1, 0, model->o.seq), dt_narrow(batch, 1, 1, model->o.seq));
    dt_zero_grad(self->all);
    dt_backward(loss);
    dt_tensor *norm = dt_clip_grad_norm(self->all, model->o.clip > 0 ? model->o.clip : INFINITY);
    dt_optimizer_set_lr(self->decayed, lr);
    dt_optimizer_set_lr(self->other, lr);
    dt_adamw_step(self->decayed, self->matrices);
    dt_adamw_step(self->other, self->vectors);
    self->losses[step] = dt_item(loss);
    if (self->log)
        fprintf(self->log, "{\"step\":%" PRId64 ",\"loss\":%.17g,\"grad_norm\":%.17g,\"lr\":%.17g}\n", step,
                self->losses[step], dt_item(norm), lr);
    show_step(self, step, self->losses[step]);
    dt_scope_end(scope);
}

/* A sample: characters are drawn from the model's distribution, given those before. All ranks draw the same. */

static int64_t draw_token(const float *logits, int64_t n, uint64_t *state) {
    const double temperature = 0.7;
    double largest = -INFINITY, sum = 0, at = (double)(mix(++*state) >> 11) * 0x1p-53;
    for (int64_t i = 0; i < n; i++)
        largest = fmax(largest, (double)logits[i]);
    for (int64_t i = 0; i < n; i++)
        sum += exp(((double)logits[i] - largest) / temperature);
    for (int64_t i = 0; i < n; i++)
        if ((at -= exp(((double)logits[i] - largest) / temperature) / sum) < 0)
            return i;
    return n - 1;
}

static void print_sample(struct run *self) {
    struct gpt *model = self->model;
    const int64_t seq = model->o.seq, vocab = model->o.vocab;
    int64_t *tokens = malloc((size_t)(seq + model->o.sample) * sizeof *tokens), n = 1;
    uint64_t state = (uint64_t)model->o.seed;
    if (!tokens)
        return;
    tokens[0] = self->text.tokens[0];
    dt_no_grad_begin(model->ctx);
    while (n <= model->o.sample && !dt_failed(model->ctx)) {
        const int64_t length = n < seq ? n : seq;
        dt_scope scope = dt_scope_begin(model->ctx);
        dt_tensor *input = dt_from_memory(model->ctx, tokens + n - length, DT_SHAPE(1, length), DT_I64);
        if (model->at.mesh)
            input = dt_distribute_tensor(input, model->at.mesh, NULL, .everywhere = true);
        dt_tensor *last = dt_select(dt_select(forward(model, input, false), 0, 0), 0, length - 1);
        last = dt_to(dt_full_tensor(last), DT_F32);
        if (last)
            tokens[n++] = draw_token(dt_data(last), vocab, &state);
        dt_scope_end(scope);
    }
    dt_no_grad_end(model->ctx);
    if (self->first && !dt_failed(model->ctx)) {
        printf("\nA sample of what it writes:\n\n");
        for (int64_t i = 0; i < n; i++)
            putchar(tokens[i] < self->text.n_characters ? self->text.characters[tokens[i]] : '?');
        printf("\n");
    }
    free(tokens);
}

/* The loss curve. */

enum { CURVE_ROWS = 10, CURVE_COLUMNS = 64 };

/* The mean of the losses of a column of the picture. */
static double column_loss(const struct run *self, int column) {
    const int64_t n = self->model->o.stop - self->first_step, from = column * n / CURVE_COLUMNS;
    int64_t to = (column + 1) * n / CURVE_COLUMNS;
    double sum = 0;
    to = to > from ? to : from + 1;
    for (int64_t i = from; i < to; i++)
        sum += self->losses[self->first_step + i];
    return sum / (double)(to - from);
}

static void print_curve(const struct run *self) {
    static const char *const bars[] = {" ",      "\u2581", "\u2582", "\u2583", "\u2584",
                                       "\u2585", "\u2586", "\u2587", "\u2588"};
    double highest = 0, values[CURVE_COLUMNS];
    for (int c = 0; c < CURVE_COLUMNS; c++)
        highest = fmax(highest, values[c] = column_loss(self, c));
    printf("\nLoss over %" PRId64 " steps:\n\n", self->model->o.stop - self->first_step);
    for (int r = CURVE_ROWS - 1; r >= 0; r--) {
        printf("%6.2f |", highest * (r + 1) / CURVE_ROWS);
        for (int c = 0; c < CURVE_COLUMNS; c++) {
            int eighths = (int)(values[c] / highest * CURVE_ROWS * 8) - 8 * r;
            printf("%s", bars[eighths < 0 ? 0 : eighths > 8 ? 8 : eighths]);
        }
        printf("\n");
    }
}

static void write_svg(const struct run *self) {
    enum { WIDTH = 640, HEIGHT = 320, LEFT = 56, RIGHT = 16, TOP = 24, BOTTOM = 40 };
    const int64_t n = self->model->o.stop - self->first_step;
    const double *losses = self->losses + self->first_step;
    double highest = 0;
    FILE *file = fopen(self->model->o.svg, "w");
    if (!file) {
        fprintf(stderr, "gpt: cannot write '%s': %s\n", self->model->o.svg, strerror(errno));
        return;
    }
    for (int64_t i = 0; i < n; i++)
        highest = fmax(highest, losses[i]);
    highest = ceil(highest);
    fprintf(file,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" "
            "font-size=\"12\">\n",
            WIDTH, HEIGHT);
    fprintf(file, "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n<text x=\"%d\" y=\"16\">Loss</text>\n",
            LEFT);
    for (int i = 0; i <= 4; i++) {
        double y = HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * i / 4.0, x = LEFT + (WIDTH - LEFT - RIGHT) * i / 4.0;
        fprintf(
            file,
            "<path d=\"M%d %.1fH%d\" stroke=\"#ddd\"/><text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%.2f</text>\n",
            LEFT, y, WIDTH - RIGHT, LEFT - 6, y + 4, highest * i / 4);
        fprintf(file, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%.0f</text>\n", x, HEIGHT - BOTTOM + 18,
                (double)self->first_step + (double)n * i / 4);
    }
    fprintf(file,
            "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">step</text>\n<path fill=\"none\" stroke=\"#1f6fb4\" "
            "stroke-width=\"1.5\" d=\"",
            (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 6);
    for (int64_t i = 0; i < n; i++)
        fprintf(file, "%c%.1f %.1f", i ? 'L' : 'M',
                LEFT + (WIDTH - LEFT - RIGHT) * (double)i / (double)(n > 1 ? n - 1 : 1),
                HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * losses[i] / highest);
    fprintf(file, "\"/>\n</svg>\n");
    if (fclose(file))
        fprintf(stderr, "gpt: cannot write '%s': %s\n", self->model->o.svg, strerror(errno));
}

/* Starts and ends. */

static dt_tensors select_parameters(struct gpt *model, dt_tensor **to, bool matrices) {
    int n = 0;
    for (int i = 0; i < model->n; i++)
        if ((dt_tensor_n_dims(model->parameters[i]) == 2) == matrices)
            to[n++] = model->parameters[i];
    return (dt_tensors){n, to};
}

/* A checkpoint holds full tensors, so that it can be loaded on any mesh: every parameter, its two averages of AdamW,
 * and the number of steps. */

static const char *const averages[] = {"exp_avg", "exp_avg_sq"};
enum { N_AVERAGES = sizeof averages / sizeof *averages };

static dt_optimizer *optimizer_of(const struct run *self, const dt_tensor *parameter) {
    return dt_tensor_n_dims(parameter) == 2 ? self->decayed : self->other;
}

static void save(struct run *self) {
    struct gpt *model = self->model;
    static char names[MAX_PARAMETERS * N_AVERAGES][NAME_BYTES + 16];
    static const char *all_names[MAX_PARAMETERS * (1 + N_AVERAGES) + 1];
    static dt_tensor *all[MAX_PARAMETERS * (1 + N_AVERAGES) + 1];
    int n = 0;
    for (int i = 0; i < model->n; i++) {
        dt_tensor *parameter = model->parameters[i];
        all_names[n] = model->names[i];
        all[n++] = parameter;
        for (int a = 0; a < N_AVERAGES; a++) {
            char *name = names[i * N_AVERAGES + a];
            snprintf(name, sizeof names[0], "%s.%s", averages[a], model->names[i]);
            all_names[n] = name;
            all[n++] = dt_optimizer_state(optimizer_of(self, parameter), parameter, averages[a]);
        }
    }
    all_names[n] = "step";
    all[n++] = dt_full(model->ctx, DT_SHAPE(), DT_NUMBER(model->o.stop), .dtype = DT_I64, .mesh = model->at.mesh);
    dt_save_npz(model->o.save, n, all_names, all);
}

static void resume(struct run *self) {
    struct gpt *model = self->model;
    self->first_step = dt_item_i64(dt_load_npz(model->ctx, model->o.resume, "step"));
    for (int i = 0; i < model->n; i++) {
        dt_tensor *parameter = model->parameters[i];
        dt_optimizer *optimizer = optimizer_of(self, parameter);
        dt_optimizer_set_n_steps(optimizer, parameter, self->first_step);
        for (int a = 0; a < N_AVERAGES; a++) {
            char name[NAME_BYTES + 16];
            dt_tensor *state = dt_optimizer_state(optimizer, parameter, averages[a]);
            snprintf(name, sizeof name, "%s.%s", averages[a], model->names[i]);
            dt_copy_(state, dt_load_npz(model->ctx, model->o.resume, name, .mesh = model->at.mesh));
        }
    }
}

static bool start(struct run *self) {
    struct gpt *model = self->model;
    struct options *o = &model->o;
    dt_ctx *ctx = model->ctx;
    static dt_tensor *matrices[MAX_PARAMETERS], *vectors[MAX_PARAMETERS];
    if (o->tokens)
        self->tokens = dt_load_npy(ctx, o->tokens);
    else if (!read_text(ctx, o, &self->text))
        return false;
    if (o->stop == 0 || o->stop > o->steps)
        o->stop = o->steps;
    if (o->vocab == 0)
        o->vocab = self->text.n_characters;
    if (o->vocab < self->text.n_characters)
        return complain(ctx, "--vocab: expected at least the %" PRId64 " characters of the text, got %" PRId64,
                        self->text.n_characters, o->vocab);
    if (!(model->blocks = calloc((size_t)o->layers, sizeof *model->blocks)) ||
        !(self->losses = calloc((size_t)o->steps, sizeof *self->losses)) ||
        !(self->batch = calloc((size_t)(o->batch * (o->seq + 1)), sizeof *self->batch)))
        return complain(ctx, "out of memory");
    if (11 + 16 * o->layers > MAX_PARAMETERS)
        return complain(ctx, "--layers: expected at most %d, got %" PRId64, (MAX_PARAMETERS - 11) / 16, o->layers);
    dt_generator_seed(dt_generator_default(ctx), (uint64_t)o->seed);
    make_model(model);
    self->all = (dt_tensors){model->n, model->parameters};
    self->matrices = select_parameters(model, matrices, true);
    self->vectors = select_parameters(model, vectors, false);
    self->decayed = dt_adamw_new(ctx, o->lr, .beta2 = DT_REAL(0.95), .weight_decay = DT_REAL(o->weight_decay));
    self->other = dt_adamw_new(ctx, o->lr, .beta2 = DT_REAL(0.95), .weight_decay = DT_REAL(0));
    if (self->first && o->log && !(self->log = fopen(o->log, "w")))
        return complain(ctx, "cannot write '%s': %s", o->log, strerror(errno));
    if (o->resume)
        resume(self);
    if (self->first_step >= o->stop)
        return complain(ctx, "--steps or --stop: expected more than the %" PRId64 " of the checkpoint, got %" PRId64,
                        self->first_step, o->stop);
    if (o->trace)
        dt_trace_begin(ctx, o->trace);
    dt_comm_policy(ctx, !strcmp(o->policy, "error")  ? DT_COMM_ERROR
                        : !strcmp(o->policy, "warn") ? DT_COMM_WARN
                                                     : DT_COMM_ALLOW);
    return !dt_failed(ctx);
}

static void train(struct run *self) {
    struct gpt *model = self->model;
    self->start = now();
    dt_comm_stats_begin(model->ctx);
    for (int64_t step = self->first_step; step < model->o.stop && !dt_failed(model->ctx); step++)
        train_step(self, step);
    dt_comm_stats_end(model->ctx);
    if (model->o.save)
        save(self);
    if (self->log)
        fclose(self->log);
    if (!model->o.tokens && model->o.sample > 0)
        print_sample(self);
    if (!self->first || dt_failed(model->ctx))
        return;
    if (!model->o.tokens)
        print_curve(self);
    if (model->o.svg)
        write_svg(self);
    if (model->at.mesh)
        printf("\nCommunication of all steps, as rank 0 sees it:\n\n%s", dt_comm_stats_text(model->ctx));
}

static void free_run(struct run *self) {
    free(self->text.characters);
    free(self->text.tokens);
    free(self->batch);
    free(self->losses);
    free(self->model->blocks);
}

int main(int argc, char **argv) {
    static struct gpt model;
    struct run run = {.model = &model};
    if (argc == 2 && !strcmp(argv[1], "--help")) {
        print_help();
        return 0;
    }
    if (!(model.ctx = dt_init(NULL)))
        return 1;
    run.first = dt_rank(model.ctx) == 0;
    if (!parse_options(model.ctx, argc, argv, &model.o) || !check_options(model.ctx, &model.o)) {
        dt_close(model.ctx);
        return 2;
    }
    run.live = model.o.live || isatty(STDOUT_FILENO);
    model.dtype = !strcmp(model.o.dtype, "f64") ? DT_F64 : DT_F32;
    bool started = make_layout(model.ctx, &model.o, &model.at) && start(&run);
    if (started)
        train(&run);
    else
        dt_error_clear(model.ctx); /* it was printed */
    free_run(&run);
    dt_mesh_release(model.at.mesh);
    int code = dt_close(model.ctx);
    return started ? code : 2;
}
