/* SPDX-License-Identifier: Apache-2.0
 *
 * 10: a GPT that trains on a mesh, written once. The model below is that of one device; how it is parallel follows from
 * the placements of its parameters and inputs (struct layout), and from two marks in each block where partial sums are
 * finished.
 *
 *     $ ./gpt                                          one rank
 *     $ dtrun -n 4 ./gpt --mesh dp=2,tp=2              data and tensor parallel
 *     $ dtrun -n 4 ./gpt --mesh fsdp=4                 fully sharded
 *     $ dtrun -n 2 ./gpt --mesh tp=2 --sequence-parallel
 *
 * --help lists the options. Mesh dims have the names dp (data parallel), fsdp (data parallel with sharded parameters)
 * and tp (tensor parallel). The exit code is 0; 2 if an option or a file that it names is not usable, with one line
 * before anything starts; 1 if something fails later.
 */
#define _GNU_SOURCE
#include <dtensor/dtensor.h>

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Options. */

enum { MAX_LAYERS = 255, MAX_PARAMETERS = 16 * MAX_LAYERS + 16, NAME_BYTES = 64 };

struct options {
    int64_t layers, width, heads, vocab, seq, batch, steps, stop, tied, warmup, seed, sample, every;
    double lr, min_lr, weight_decay, clip, dropout;
    bool sequence_parallel, live;
    const char *mesh, *dtype, *data, *tokens, *init, *save, *resume, *log, *times, *trace, *svg, *policy;
};

enum kind { INTEGER, REAL, TEXT, PATH, FLAG };

static const struct option {
    const char *name;
    enum kind kind;
    size_t offset;
    int lowest, highest; /* of numbers */
    const char *value, *help;
} all_options[] = {
#define NUMBER(name, kind, field, lowest, highest, value, help)                                                      \
    { name, kind, offsetof(struct options, field), lowest, highest, value, help }
#define OPTION(name, kind, field, value, help) NUMBER(name, kind, field, 0, 0, value, help)
    NUMBER("layers", INTEGER, layers, 1, MAX_LAYERS, "4", "blocks of attention and MLP"),
    NUMBER("width", INTEGER, width, 1, 65536, "64", "size of the hidden state; a multiple of heads"),
    NUMBER("heads", INTEGER, heads, 1, INT_MAX, "4", "attention heads; they need not divide by the ranks of tp"),
    NUMBER("vocab", INTEGER, vocab, 0, INT_MAX, "0", "number of tokens; 0: the characters of the text"),
    NUMBER("seq", INTEGER, seq, 1, INT_MAX - 1, "64", "tokens per sequence"),
    NUMBER("batch", INTEGER, batch, 1, INT_MAX, "16", "sequences per step, over all ranks"),
    NUMBER("steps", INTEGER, steps, 1, INT_MAX, "600", "training steps"),
    NUMBER("stop", INTEGER, stop, 0, INT_MAX, "0",
           "stop after this step, to go on later with --resume; 0: after --steps"),
    NUMBER("tied", INTEGER, tied, 0, 1, "1",
           "1: the output layer has the weights of the token embedding; 0: its own"),
    NUMBER("dropout", REAL, dropout, 0, 1, "0.1", "probability of dropout, less than 1"),
    NUMBER("lr", REAL, lr, 0, INT_MAX, "0.003", "learning rate after the warm-up"),
    NUMBER("min-lr", REAL, min_lr, 0, INT_MAX, "0.0003", "learning rate at the end"),
    NUMBER("warmup", INTEGER, warmup, 0, INT_MAX, "20", "steps in which the learning rate rises"),
    NUMBER("weight-decay", REAL, weight_decay, 0, INT_MAX, "0.1",
           "weight decay of AdamW, for parameters of two dims"),
    NUMBER("clip", REAL, clip, 0, INT_MAX, "1", "largest norm of the gradients; 0: any"),
    OPTION("mesh", TEXT, mesh, NULL,
           "the ranks, such as dp=2,tp=2 or fsdp=4: data parallel, tensor parallel, fully sharded; default: dp over "
           "all"),
    OPTION("sequence-parallel", FLAG, sequence_parallel, NULL,
           "shard the sequence over tp between the linear layers"),
    OPTION("dtype", TEXT, dtype, "f32", "f32, f64, or bf16: computed in bf16, with parameters of f32"),
    NUMBER("seed", INTEGER, seed, 0, INT_MAX, "1", "of parameters, dropout, batches and the sample"),
    OPTION("data", PATH, data, NULL, "text to train on, a token per byte; default: sentences of a small grammar"),
    OPTION("tokens", PATH, tokens, NULL, "batches from a .npy file, i64[steps,batch,seq+1]; needs --vocab"),
    OPTION("init", PATH, init, NULL, "parameters from a .npz file"),
    OPTION("save", PATH, save, NULL, "write parameters and the optimizer's state to a .npz file at the end"),
    OPTION("resume", PATH, resume, NULL, "go on from a file that --save wrote, on the same mesh or another one"),
    OPTION("log", PATH, log, NULL, "step, loss, grad_norm and lr as JSON Lines"),
    OPTION("times", PATH, times, NULL, "when each step began (Unix time) and its seconds, as JSON Lines"),
    OPTION("live", FLAG, live, NULL, "one line that changes, as one rank prints on a terminal"),
    NUMBER("every", INTEGER, every, 1, INT_MAX, "25", "steps per line of output, where that is no terminal"),
    NUMBER("sample", INTEGER, sample, 0, INT_MAX, "200", "characters to generate at the end"),
    OPTION("svg", PATH, svg, NULL, "write the loss curve to this file"),
    OPTION("trace", PATH, trace, NULL, "trace to a .json file, for Perfetto; one per rank, NAME.RANK.json"),
    OPTION("comm-policy", TEXT, policy, "allow", "allow, warn or error: transfers that the program did not request"),
#undef NUMBER
#undef OPTION
};
enum { N_OPTIONS = sizeof all_options / sizeof *all_options };

/* Whether a text is a value of the option, which is set then. */
static bool set_option(struct options *to, const struct option *option, const char *text) {
    void *field = (char *)to + option->offset;
    char *end = "";
    double number = 0;
    switch (option->kind) {
    case INTEGER:
        number = (double)(*(int64_t *)field = strtoll(text, &end, 10));
        break;
    case REAL:
        number = *(double *)field = strtod(text, &end);
        break;
    case TEXT:
    case PATH:
        *(const char **)field = text;
        return *text;
    case FLAG:
        return *(bool *)field = true;
    }
    return end != text && !*end && number >= option->lowest &&
           (number <= option->highest || (option->kind == REAL && option->highest == INT_MAX));
}

static void print_help(void) {
    static const char *const values[] = {
        [INTEGER] = " N", [REAL] = " X", [TEXT] = " TEXT", [PATH] = " FILE", [FLAG] = ""};
    printf("Trains a small GPT on one rank or on a mesh of them.\n\nUsage: [dtrun -n RANKS] gpt [OPTION]...\n\n");
    for (int i = 0; i < N_OPTIONS; i++) {
        const struct option *option = &all_options[i];
        char name[64];
        snprintf(name, sizeof name, "--%s%s", option->name, values[option->kind]);
        printf("  %-22s %s", name, option->help);
        printf(option->value ? " (%s)\n" : "\n", option->value);
    }
    printf("  %-22s %s\n\n", "--help", "this text");
    printf("Defaults are in parentheses. The exit code is 0; 2 if an option or a file that it names is not usable,\n"
           "with one line before anything starts; 1 if something fails later.\n");
}

/* What is wrong, found before anything starts. */
static char problem[1024];

static bool complain(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    if (!*problem) /* the first one */
        vsnprintf(problem, sizeof problem, format, arguments);
    va_end(arguments);
    return false;
}

/* The same for a call that failed: its first line, without the line of this file that made it. */
static bool complain_of_call(dt_ctx *ctx, const char *subject, const char *value) {
    const char *text = dt_error_text(ctx), *site = strstr(text, " (at ");
    size_t line = strcspn(text, "\n");
    complain("%s%s: %.*s", subject, value, (int)(site && site < text + line ? (size_t)(site - text) : line), text);
    dt_error_clear(ctx);
    return false;
}

/* Whether all ranks are ready. If not, the first one that is not prints why. */
static bool all_ready(dt_ctx *ctx, bool ready) {
    int64_t mine = ready ? INT64_MAX : dt_rank(ctx), first = mine;
    dt_comm_all_reduce(dt_group_world(ctx), &mine, &first, 1, DT_I64, DT_MIN);
    if (first == dt_rank(ctx))
        fprintf(stderr, "gpt: %s\n", problem);
    return first == INT64_MAX && !dt_failed(ctx);
}

/* "--name value" or "--name=value" */
static bool parse_option(struct options *to, char **argv, int argc, int *at) {
    const char *name = argv[*at], *value = strchr(name, '=');
    const struct option *option = NULL;
    size_t n = value ? (size_t)(value - name) : strlen(name);
    for (int i = 0; i < N_OPTIONS; i++)
        if (n > 2 && !strncmp(name, "--", 2) && strlen(all_options[i].name) == n - 2 &&
            !strncmp(name + 2, all_options[i].name, n - 2))
            option = &all_options[i];
    if (!option)
        return complain("unknown option '%s'; --help lists them", name);
    if (option->kind == FLAG && value)
        return complain("--%s: expected no value, got '%s'", option->name, value + 1);
    if (option->kind != FLAG && !value && *at + 1 == argc)
        return complain("--%s: expected a value", option->name);
    const char *text = option->kind == FLAG ? "" : value ? value + 1 : argv[++*at];
    if (set_option(to, option, text))
        return true;
    if (option->kind == TEXT || option->kind == PATH)
        return complain("--%s: expected a text, got an empty one", option->name);
    if (option->highest == INT_MAX)
        return complain("--%s: expected %s of at least %d, got '%s'", option->name,
                        option->kind == INTEGER ? "an integer" : "a number", option->lowest, text);
    return complain("--%s: expected %s from %d to %d, got '%s'", option->name,
                    option->kind == INTEGER ? "an integer" : "a number", option->lowest, option->highest, text);
}

static bool parse_options(int argc, char **argv, struct options *to) {
    for (int i = 0; i < N_OPTIONS; i++)
        if (all_options[i].value)
            set_option(to, &all_options[i], all_options[i].value);
    for (int a = 1; a < argc; a++)
        if (!parse_option(to, argv, argc, &a))
            return false;
    return true;
}

/* Whether a file can be written to: before the training, not after it. */
static bool check_writable(const char *option, const char *path) {
    char folder[4096];
    const char *slash = path ? strrchr(path, '/') : NULL;
    struct stat found;
    if (path && !stat(path, &found) && S_ISDIR(found.st_mode))
        return complain("--%s: cannot write '%s': %s", option, path, strerror(EISDIR));
    if (!path || (!access(path, F_OK) && !access(path, W_OK)))
        return true;
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
    return (access(path, F_OK) && !access(folder, W_OK)) ||
           complain("--%s: cannot write '%s': %s", option, path, strerror(errno));
}

/* With bf16, parameters, gradients and the optimizer's state are f32, and the layers compute in bf16. */
static bool dtypes_of(const char *name, dt_dtype *stored, dt_dtype *computed) {
    *computed = !strcmp(name, "f64") ? DT_F64 : !strcmp(name, "bf16") ? DT_BF16 : DT_F32;
    *stored = *computed == DT_BF16 ? DT_F32 : *computed;
    return *computed != DT_F32 || !strcmp(name, "f32");
}

static bool check_options(const struct options *o) {
    if (o->width % o->heads)
        return complain("--heads: expected a divisor of the width %" PRId64 ", got %" PRId64, o->width, o->heads);
    if (o->dropout >= 1)
        return complain("--dropout: expected less than 1, got %g", o->dropout);
    dt_dtype stored, computed;
    if (!dtypes_of(o->dtype, &stored, &computed))
        return complain("--dtype: expected f32, f64 or bf16, got '%s'", o->dtype);
    if (strcmp(o->policy, "allow") != 0 && strcmp(o->policy, "warn") != 0 && strcmp(o->policy, "error") != 0)
        return complain("--comm-policy: expected allow, warn or error, got '%s'", o->policy);
    if (o->tokens && o->vocab < 1)
        return complain("--tokens: expected --vocab with it");
    if (o->tokens && o->data)
        return complain("--tokens and --data: expected one of them");
    if (o->init && o->resume)
        return complain("--init and --resume: expected one of them");
    return check_writable("save", o->save) && check_writable("log", o->log) && check_writable("svg", o->svg) &&
           check_writable("trace", o->trace);
}

/* How the model is parallel: everything that depends on the mesh. */

enum { TEXT_BYTES = 256 };

struct layout {
    dt_mesh *mesh;             /* NULL: one device */
    int64_t n_tp, n_data;      /* ranks that share a sequence, and that share a batch */
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
    *to = (struct layout){.n_tp = 1, .n_data = 1};
    if (!o->mesh && dt_world(ctx) == 1 && strcmp(o->dtype, "bf16") != 0)
        return true; /* parameters of f32 that are used as bf16 have a mesh */
    to->mesh = dt_mesh_new(ctx, o->mesh ? o->mesh : "dp=*");
    if (!to->mesh)
        return complain_of_call(ctx, "--mesh ", o->mesh);
    for (int i = 0; i < dt_mesh_n_dims(to->mesh); i++) {
        const char *name = dt_mesh_dim_name(to->mesh, i);
        if (!name || (strcmp(name, "dp") != 0 && strcmp(name, "fsdp") != 0 && strcmp(name, "tp") != 0))
            return complain("--mesh %s: expected dims dp, fsdp and tp, got '%s'", o->mesh, name ? name : "");
        if (!strcmp(name, "tp"))
            to->n_tp = dt_mesh_dim_size(to->mesh, i);
    }
    if (dt_mesh_size(to->mesh) != dt_world(ctx))
        return complain("--mesh %s: expected %" PRId64 " ranks, got %" PRId64 "; start it with dtrun -n %" PRId64,
                        o->mesh, dt_mesh_size(to->mesh), dt_world(ctx), dt_mesh_size(to->mesh));
    to->n_data = dt_mesh_size(to->mesh) / to->n_tp;
    placements(to, "S(0)", "S(0)", "R", to->input);
    placements(to, "S(0)", "S(0)", "S(1)", to->residual);
    placements(to, "S(0)", "S(0)", "R", to->entered);
    return true;
}

/* Parameters. */

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
    dt_dtype dtype, computed; /* of parameters, and inside the layers */
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

/* A parameter from a file, which must have its shape. */
static dt_tensor *load_parameter(struct gpt *self, const char *name, dt_shape shape, const char *place) {
    const char *path = self->o.resume ? self->o.resume : self->o.init;
    dt_tensor *t = dt_load_npz(self->ctx, path, name, .mesh = self->at.mesh, .place = place);
    bool same = dt_tensor_n_dims(t) == shape.n;
    for (int i = 0; same && i < shape.n; i++)
        same = dt_tensor_size(t, i) == shape.sizes[i];
    if (t && !same) {
        char got[TEXT_BYTES], columns[32] = "";
        dt_tensor_text(t, sizeof got, got);
        if (shape.n > 1)
            snprintf(columns, sizeof columns, ",%" PRId64, shape.sizes[1]);
        complain("%s: %s: expected [%" PRId64 "%s], got %s", path, name, shape.sizes[0], columns, got);
    }
    return t && dt_tensor_dtype(t) != self->dtype ? dt_to(t, self->dtype) : t;
}

/* A parameter with normal numbers, or with one number where std is 0. fsdp shards the first dim that tp does not; ops
 * see the parameter gathered over it, in the dtype of the layers. */
static dt_tensor *parameter(struct gpt *self, const char *name, dt_shape shape, enum tp_dim dim, bool heads,
                            double value, double std) {
    char tp[TEXT_BYTES], stored[TEXT_BYTES], used[2 * TEXT_BYTES];
    const char *fsdp = dim == ROWS ? shape.n > 1 ? "S(1)" : "R" : "S(0)";
    tp_placement(self, dim, heads && self->o.heads % self->at.n_tp, tp);
    const char *place = placements(&self->at, "R", fsdp, tp, stored);
    int n_dtype = snprintf(used, TEXT_BYTES, "%s ", dt_dtype_name(self->computed));
    dt_tensor *t;
    if (self->o.init || self->o.resume)
        t = load_parameter(self, name, shape, place);
    else
        t = std > 0 ? dt_randn(self->ctx, shape, .std = DT_REAL(std), .dtype = self->dtype, .mesh = self->at.mesh,
                               .place = place)
                    : dt_full(self->ctx, shape, DT_NUMBER(value), .dtype = self->dtype, .mesh = self->at.mesh,
                              .place = place);
    if (placements(&self->at, "R", "R", tp, used + n_dtype))
        dt_set_use(t, used);
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

/* Each part of the model begins a scope, in which its parameters are gathered together, and whose end frees them. */
static dt_scope begin_part(const struct gpt *self, int n, dt_tensor *const *parameters) {
    dt_scope scope = dt_scope_begin(self->ctx);
    dt_use((dt_tensors){n, parameters});
    return scope;
}

static dt_tensor *end_part(dt_scope scope, dt_tensor *x) {
    dt_keep(x);
    dt_scope_end(scope);
    return x;
}

static dt_tensor *block_forward(const struct gpt *self, const struct block *b, dt_tensor *x, bool training) {
    dt_scope scope = begin_part(self, sizeof *b / sizeof(dt_tensor *), (dt_tensor *const *)b);
    x = dt_add(x,
               dropout(self, finished(self, attention(self, b, entering(self, norm(self, &b->ln1, x)))), training));
    x = dt_add(x, dropout(self, finished(self, mlp(b, entering(self, norm(self, &b->ln2, x)))), training));
    return end_part(scope, x);
}

static dt_tensor *embed(const struct gpt *self, dt_tensor *tokens, bool training) {
    dt_scope scope = begin_part(self, 2, (dt_tensor *[]){self->tok, self->pos});
    dt_tensor *pos = dt_narrow(self->pos, 0, 0, dt_tensor_size(tokens, 1));
    dt_tensor *x = dt_add(finished(self, dt_embedding(tokens, self->tok)), pos);
    return end_part(scope, dropout(self, x, training));
}

static dt_tensor *output(const struct gpt *self, dt_tensor *x) {
    dt_scope scope = begin_part(self, 3, (dt_tensor *[]){self->ln.weight, self->ln.bias, self->head});
    return end_part(scope, dt_linear(entering(self, norm(self, &self->ln, x)), self->head));
}

/* Tokens i64[batch,n] to logits [batch,n,vocab] */
static dt_tensor *forward(const struct gpt *self, dt_tensor *tokens, bool training) {
    dt_tensor *x = embed(self, tokens, training);
    for (int i = 0; i < self->o.layers; i++)
        x = block_forward(self, &self->blocks[i], x, training);
    return output(self, x);
}

static dt_tensor *loss_of(const struct gpt *self, dt_tensor *tokens, dt_tensor *targets) {
    dt_tensor *logits = forward(self, tokens, true);
    dt_scope scope = dt_scope_begin(self->ctx);
    /* Requested: over sharded classes, ranks exchange a few numbers per token; and sequences that do not divide by the
     * ranks of several mesh dims move where they are flattened. */
    if (self->at.n_tp > 1 || self->o.batch % self->at.n_data)
        dt_comm_policy(self->ctx, DT_COMM_ALLOW);
    if (self->computed != self->dtype)
        logits = dt_to(logits, self->dtype);
    dt_tensor *loss = dt_keep(dt_cross_entropy(dt_flatten(logits, .end_dim = DT_INT(1)), dt_flatten(targets)));
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
static char *make_sentences(uint64_t seed, int64_t *n_bytes) {
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
    *n_bytes = (int64_t)used;
    return out;
}

/* All bytes of a file; NULL with errno. */
static char *read_file(const char *path, int64_t *n_bytes) {
    FILE *file = fopen(path, "rb");
    char *out = NULL;
    size_t used = 0, capacity = 0, n = file != NULL;
    while (n > 0) {
        char *larger = used == capacity ? realloc(out, capacity = 2 * capacity + 65536) : out;
        if (!larger)
            break;
        out = larger;
        used += n = fread(out + used, 1, capacity - used, file);
    }
    if (file && (n > 0 || ferror(file))) {
        free(out);
        out = NULL;
    }
    if (file)
        fclose(file);
    *n_bytes = (int64_t)used;
    return out;
}

/* The text, and a token for each byte that occurs in it. */
static bool read_text(const struct options *o, struct text *to) {
    int64_t token_of[256] = {0};
    char *text = o->data ? read_file(o->data, &to->n) : make_sentences((uint64_t)o->seed, &to->n);
    if (!text)
        return complain("--data: cannot read '%s': %s", o->data ? o->data : "", strerror(errno));
    to->tokens = malloc((size_t)to->n + 1);
    to->characters = calloc(1, 257);
    for (int64_t i = 0; i < to->n; i++)
        token_of[(unsigned char)text[i]] = 1;
    for (int c = 0; c < 256 && to->characters; c++)
        if (token_of[c]) {
            to->characters[to->n_characters] = (char)c;
            token_of[c] = to->n_characters++;
        }
    for (int64_t i = 0; i < to->n && to->tokens; i++)
        to->tokens[i] = (uint8_t)token_of[(unsigned char)text[i]];
    free(text);
    if (!to->tokens || !to->characters)
        return complain("out of memory");
    return to->n > o->seq || complain("%s%s: expected more than the %" PRId64 " tokens of a sequence, got %" PRId64,
                                      o->data ? "--data " : "--seq", o->data ? o->data : "", o->seq, to->n);
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
    FILE *log, *times;
    bool first;
    int64_t first_step; /* of a run that continues from a checkpoint */
    dt_progress progress;
};

static double read_clock(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
static double now(void) { return read_clock(CLOCK_MONOTONIC); }

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

/* What is trained, on what. */
static void show_model(const struct run *self) {
    const struct gpt *model = self->model;
    const struct options *o = &model->o;
    int64_t n = 0;
    for (int i = 0; i < model->n; i++)
        n += dt_tensor_elements(model->parameters[i]);
    printf("A GPT of %" PRId64 " layers, width %" PRId64 ", %" PRId64 " heads and %" PRId64 " tokens: %" PRId64
           " parameters in %s, on %s%s%s\n",
           o->layers, o->width, o->heads, o->vocab, n, o->dtype, model->at.mesh ? "mesh(" : "one rank",
           model->at.mesh ? dt_mesh_text(model->at.mesh) : "", model->at.mesh ? ")" : "");
    if (o->batch % model->at.n_data)
        printf("%" PRId64 " sequences do not divide by %" PRId64
               " data-parallel ranks: some ranks compute more than others\n",
               o->batch, model->at.n_data);
    if (o->heads % model->at.n_tp)
        printf("%" PRId64 " heads do not divide by the %" PRId64
               " ranks of tp: some ranks compute more than others\n",
               o->heads, model->at.n_tp);
    fflush(stdout);
}

static void train_step(struct run *self, int64_t step) {
    struct gpt *model = self->model;
    const struct options *o = &model->o;
    const double lr = dt_lr_cosine(step, o->lr, o->min_lr, o->warmup, o->steps);
    dt_scope scope = dt_scope_begin(model->ctx);
    dt_generator_seed(dt_generator_default(model->ctx), mix((uint64_t)model->o.seed << 32 ^ (uint64_t)step));
    next_batch(self, step);
    dt_tensor *batch = batch_tensor(self);
    dt_tensor *loss = loss_of(model, dt_narrow(batch, 1, 0, model->o.seq), dt_narrow(batch, 1, 1, model->o.seq));
    dt_backward(loss);
    dt_tensor *norm = NULL;
    if (model->o.clip > 0 || model->o.log)
        norm = dt_clip_grad_norm(self->all, model->o.clip > 0 ? model->o.clip : INFINITY);
    dt_optimizer_set_lr(self->decayed, lr);
    dt_optimizer_set_lr(self->other, lr);
    dt_optimizer_step(self->decayed, .parameters = self->matrices);
    dt_optimizer_step(self->other, .parameters = self->vectors);
    dt_zero_grad(self->all); /* here, so that the memory is free in the next forward pass */
    self->losses[step] = dt_item(loss);
    if (self->log)
        fprintf(self->log, "{\"step\":%" PRId64 ",\"loss\":%.17g,\"grad_norm\":%.17g,\"lr\":%.17g}\n", step,
                self->losses[step], dt_item(norm), lr);
    dt_progress_step(&self->progress, step, "loss %.4f", self->losses[step]);
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

static void print_curve(const struct run *self) {
    const int64_t n = self->model->o.stop - self->first_step;
    char text[4096];
    dt_curve_text(n, self->losses + self->first_step, 0, 0, sizeof text, text);
    printf("\nLoss over %" PRId64 " steps:\n\n%s", n, text);
}

static void save_curve(const struct run *self) {
    const struct gpt *model = self->model;
    char title[TEXT_BYTES];
    snprintf(title, sizeof title, "Loss: a GPT of %" PRId64 " layers, width %" PRId64 ", on %s", model->o.layers,
             model->o.width, model->at.mesh ? dt_mesh_text(model->at.mesh) : "one rank");
    dt_curve_save_svg(model->ctx, model->o.svg, model->o.stop - self->first_step, self->losses + self->first_step,
                      .title = title, .first = DT_INT(self->first_step));
}

/* The communication of a step, by the call that it is for. */

static void print_bytes(double bytes) {
    static const char *const units[] = {"B", "KiB", "MiB", "GiB"};
    int unit = 0;
    for (; unit < 3 && bytes >= 1024; unit++)
        bytes /= 1024;
    printf("  %7.*f %-3s", unit ? 1 : 0, bytes, units[unit]);
}

/* The collectives of a call, or of all calls, each with its number per step; false without any. */
static bool print_collectives(dt_ctx *ctx, const char *title, const char *call, double steps, double seconds) {
    char text[256] = "";
    for (int c = 0; c < DT_N_COLLECTIVES; c++) {
        const char *name = dt_collective_name((dt_collective)c);
        const int64_t n = dt_comm_stats(ctx, &(dt_comm_filter){.op = call, .collective = name}).n;
        if (n)
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s%g %s", *text ? ", " : "", (double)n / steps,
                     name);
    }
    const dt_comm_statistics all = dt_comm_stats(ctx, &(dt_comm_filter){.op = call});
    if (!all.n)
        return false;
    printf("%-44s", title);
    print_bytes((double)all.bytes / steps);
    printf("  %5.1f %%  %s\n", 100 * all.seconds / seconds, text);
    return true;
}

static void print_communication(const struct run *self, double seconds) {
    static const char *const calls[][2] = {
        {"reduced", "partial sums of the layers (dt_reduced)"},
        {"use", "parameters and tokens, gathered (dt_set_use)"},
        {"cross_entropy", "states of the loss (dt_cross_entropy)"},
        {"class_total", "its number of targets (dt_cross_entropy)"},
        {"backward", "gradients (dt_backward)"},
        {"clip_grad_norm", "their norm (dt_clip_grad_norm)"},
        {"item", "the loss as a number (dt_item)"},
    };
    dt_ctx *ctx = self->model->ctx;
    const double steps = (double)(self->model->o.stop - self->first_step);
    printf("\nCommunication of a step as rank 0 sees it; its time includes waiting for other ranks:\n\n");
    printf("%-44s  %11s  %7s  collectives\n", "", "received", "of time");
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        print_collectives(ctx, calls[i][1], calls[i][0], steps, seconds);
    if (!print_collectives(ctx, "all", NULL, steps, seconds))
        printf("none\n");
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
 * the number of steps, and the numbers that make the model. */

enum { N_NUMBERS = 6 };

static void model_numbers(const struct options *o, int64_t *to) {
    const int64_t numbers[N_NUMBERS] = {o->layers, o->width, o->heads, o->vocab, o->seq, o->tied};
    memcpy(to, numbers, sizeof numbers);
}

static const char *const averages[] = {"exp_avg", "exp_avg_sq"};
enum { N_AVERAGES = sizeof averages / sizeof *averages };

static dt_optimizer *optimizer_of(const struct run *self, const dt_tensor *parameter) {
    return dt_tensor_n_dims(parameter) == 2 ? self->decayed : self->other;
}

static void save(struct run *self) {
    struct gpt *model = self->model;
    static char names[MAX_PARAMETERS * N_AVERAGES][NAME_BYTES + 16];
    static const char *all_names[MAX_PARAMETERS * (1 + N_AVERAGES) + 2];
    static dt_tensor *all[MAX_PARAMETERS * (1 + N_AVERAGES) + 2];
    int64_t numbers[N_NUMBERS];
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
    model_numbers(&model->o, numbers);
    dt_tensor *config = dt_from_memory(model->ctx, numbers, DT_SHAPE(N_NUMBERS), DT_I64);
    all_names[n] = "config";
    all[n++] = model->at.mesh ? dt_distribute_tensor(config, model->at.mesh, NULL, .everywhere = true) : config;
    dt_save_npz(model->o.save, n, all_names, all);
}

/* Whether a checkpoint is one of this model. */
static bool check_checkpoint(const struct gpt *model) {
    static const char *const names[N_NUMBERS] = {"layers", "width", "heads", "vocab", "seq", "tied"};
    int64_t numbers[N_NUMBERS];
    dt_tensor *config = dt_load_npz(model->ctx, model->o.resume, "config");
    const int64_t *saved = dt_data(config);
    if (!saved || dt_tensor_elements(config) != N_NUMBERS || dt_tensor_dtype(config) != DT_I64)
        return saved ? complain("--resume %s: not a file that --save wrote", model->o.resume)
                     : complain_of_call(model->ctx, "--resume ", model->o.resume);
    model_numbers(&model->o, numbers);
    for (int i = 0; i < N_NUMBERS; i++)
        if (saved[i] != numbers[i])
            return complain("--resume %s: another model: it has --%s %" PRId64 ", expected %" PRId64, model->o.resume,
                            names[i], saved[i], numbers[i]);
    return true;
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

/* The tokens of --tokens: a batch for each step, of tokens that the model has. */
static bool load_tokens(struct run *self) {
    const struct options *o = &self->model->o;
    dt_tensor *t = self->tokens = dt_load_npy(self->model->ctx, o->tokens);
    const int64_t *tokens = dt_data(t), n = dt_tensor_elements(t);
    if (!t)
        return complain_of_call(self->model->ctx, "--tokens ", o->tokens);
    if (dt_tensor_dtype(t) != DT_I64 || dt_tensor_n_dims(t) != 3 || dt_tensor_size(t, 0) < o->steps ||
        dt_tensor_size(t, 1) != o->batch || dt_tensor_size(t, 2) != o->seq + 1)
        return complain("--tokens %s: expected i64[%" PRId64 ",%" PRId64 ",%" PRId64
                        "], for --steps, --batch and --seq + 1",
                        o->tokens, o->steps, o->batch, o->seq + 1);
    for (int64_t i = 0; i < n; i++)
        if (tokens[i] < 0 || tokens[i] >= o->vocab)
            return complain("--tokens %s: expected 0 to %" PRId64 ", got %" PRId64, o->tokens, o->vocab - 1,
                            tokens[i]);
    return true;
}

static bool prepare_text(struct run *self) {
    struct options *o = &self->model->o;
    if (o->tokens ? !load_tokens(self) : !read_text(o, &self->text))
        return false;
    if (o->vocab == 0)
        o->vocab = self->text.n_characters;
    return o->vocab >= self->text.n_characters ||
           complain("--vocab: expected at least the %" PRId64 " characters of the text, got %" PRId64,
                    self->text.n_characters, o->vocab);
}

static bool prepare_model(struct run *self) {
    struct gpt *model = self->model;
    struct options *o = &model->o;
    dt_ctx *ctx = model->ctx;
    static dt_tensor *matrices[MAX_PARAMETERS], *vectors[MAX_PARAMETERS];
    if (o->resume && !check_checkpoint(model))
        return false;
    if (!(model->blocks = calloc((size_t)o->layers, sizeof *model->blocks)) ||
        !(self->losses = calloc((size_t)o->steps, sizeof *self->losses)) ||
        !(self->batch = calloc((size_t)(o->batch * (o->seq + 1)), sizeof *self->batch)))
        return complain("out of memory");
    dtypes_of(o->dtype, &model->dtype, &model->computed);
    dt_generator_seed(dt_generator_default(ctx), (uint64_t)o->seed);
    make_model(model);
    self->all = (dt_tensors){model->n, model->parameters};
    self->matrices = select_parameters(model, matrices, true);
    self->vectors = select_parameters(model, vectors, false);
    self->decayed = dt_adamw_new(ctx, o->lr, .beta2 = DT_REAL(0.95), .weight_decay = DT_REAL(o->weight_decay));
    self->other = dt_adamw_new(ctx, o->lr, .beta2 = DT_REAL(0.95), .weight_decay = DT_REAL(0));
    if (o->resume)
        resume(self);
    if (dt_failed(ctx))
        return o->resume ? complain_of_call(ctx, "--resume ", o->resume)
               : o->init ? complain_of_call(ctx, "--init ", o->init)
                         : complain_of_call(ctx, "the model", "");
    return !*problem;
}

static bool prepare_run(struct run *self) {
    struct options *o = &self->model->o;
    if (o->stop == 0 || o->stop > o->steps)
        o->stop = o->steps;
    if (self->first_step >= o->stop)
        return complain("--steps or --stop: expected more than the %" PRId64 " of the checkpoint, got %" PRId64,
                        self->first_step, o->stop);
    if (self->first && o->log && !(self->log = fopen(o->log, "w")))
        return complain("--log: cannot write '%s': %s", o->log, strerror(errno));
    if (self->first && o->times && !(self->times = fopen(o->times, "w")))
        return complain("--times: cannot write '%s': %s", o->times, strerror(errno));
    if (o->trace && dt_trace_begin(self->model->ctx, o->trace) != DT_OK)
        return complain_of_call(self->model->ctx, "--trace ", o->trace);
    dt_comm_policy(self->model->ctx, !strcmp(o->policy, "error")  ? DT_COMM_ERROR
                                     : !strcmp(o->policy, "warn") ? DT_COMM_WARN
                                                                  : DT_COMM_ALLOW);
    return true;
}

/* Everything that can be wrong before the first step; ranks agree after each part. */
static bool start(struct run *self, int argc, char **argv) {
    struct gpt *model = self->model;
    struct options *o = &model->o;
    dt_ctx *ctx = model->ctx;
    return all_ready(ctx, parse_options(argc, argv, o) && check_options(o)) &&
           all_ready(ctx, make_layout(ctx, o, &model->at)) && all_ready(ctx, prepare_text(self)) &&
           all_ready(ctx, prepare_model(self)) && all_ready(ctx, prepare_run(self));
}

static void begin_progress(struct run *self) {
    const struct options *o = &self->model->o;
    dt_progress *progress = &self->progress;
    *progress = dt_progress_begin(self->model->ctx, o->steps);
    progress->first = self->first_step;
    progress->stop = o->stop;
    progress->every = o->every;
    progress->unit = "tokens";
    progress->per_step = (double)(o->batch * o->seq);
    progress->live = progress->live || o->live;
}

static void train(struct run *self) {
    struct gpt *model = self->model;
    if (self->first)
        show_model(self);
    const double start = now();
    begin_progress(self);
    dt_comm_stats_begin(model->ctx);
    for (int64_t step = self->first_step; step < model->o.stop && !dt_failed(model->ctx); step++) {
        const double begin = now();
        train_step(self, step);
        const double seconds = now() - begin;
        if (self->times)
            fprintf(self->times, "{\"step\":%" PRId64 ",\"begin\":%.6f,\"seconds\":%.9f}\n", step,
                    read_clock(CLOCK_REALTIME) - seconds, seconds);
    }
    dt_comm_stats_end(model->ctx);
    const double seconds = now() - start;
    dt_progress_end(&self->progress);
    if (model->o.save)
        save(self);
    if (self->log)
        fclose(self->log);
    if (self->times)
        fclose(self->times);
    if (!model->o.tokens && model->o.sample > 0)
        print_sample(self);
    if (!self->first || dt_failed(model->ctx))
        return;
    if (!model->o.tokens)
        print_curve(self);
    if (model->o.svg)
        save_curve(self);
    if (model->at.mesh)
        print_communication(self, seconds);
    printf("\nMemory of rank 0:\n\n%s", dt_memory_text(model->ctx));
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
    bool help = false;
    for (int i = 1; i < argc; i++)
        help = help || !strcmp(argv[i], "--help");
    if (!(model.ctx = dt_init(NULL)))
        return 1;
    run.first = dt_rank(model.ctx) == 0;
    if (help && run.first)
        print_help();
    if (help)
        return dt_close(model.ctx);
    bool started = start(&run, argc, argv);
    if (started)
        train(&run);
    free_run(&run);
    dt_mesh_release(model.at.mesh);
    int code = dt_close(model.ctx);
    return started ? code : 2;
}
