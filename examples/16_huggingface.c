/* SPDX-License-Identifier: Apache-2.0
 *
 * 16: a model that others trained. Opens a Hugging Face folder, GPT-2 or Llama by its config.json, computes logits,
 * generates tokens and continues the training, on one rank or on a mesh: the model below is written for one device, and
 * a text of rules places its parameters. Tokens are numbers, i64 [rows,n] in .npy files. Exit code 2: options.
 *
 *     16_huggingface --model FOLDER --tokens prompt.npy --logits logits.npy
 *     dtrun -n 2 16_huggingface --model FOLDER --mesh tp=2 --dtype bf16 --tokens prompt.npy --generate 24
 *     dtrun -n 4 16_huggingface --model FOLDER --mesh dp=2,fsdp=2 --tokens ids.npy --train 100 --save NEW
 */
#include <dtensor/dtensor.h>

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct options {
    const char *model, *dtype, *mesh, *tokens, *logits, *out, *log, *save;
    double generate, train, lr, beta1, beta2, weight_decay, clip, temperature, top_p, seed;
};

static const struct option {
    const char *name;
    size_t offset;
    bool is_number;
    const char *help;
} all_options[] = {
    {"--model", offsetof(struct options, model), false, "folder with config.json and model.safetensors"},
    {"--dtype", offsetof(struct options, dtype), false, "f64, f32 or bf16 (f32)"},
    {"--mesh", offsetof(struct options, mesh), false, "ranks by dims dp, fsdp and tp, such as dp=2,tp=2 (dp=*)"},
    {"--tokens", offsetof(struct options, tokens), false, ".npy file of i64 [rows,n]"},
    {"--logits", offsetof(struct options, logits), false, ".npy file to write: the logits of every token"},
    {"--generate", offsetof(struct options, generate), true, "number of tokens that follow the row"},
    {"--out", offsetof(struct options, out), false, "JSON file to write: {\"tokens\": [...]}"},
    {"--temperature", offsetof(struct options, temperature), true, "0: the best token; otherwise drawn (0)"},
    {"--top-p", offsetof(struct options, top_p), true, "draw from the best tokens with this probability in all (1)"},
    {"--seed", offsetof(struct options, seed), true, "of draws (1)"},
    {"--train", offsetof(struct options, train), true, "steps of AdamW on the tokens"},
    {"--lr", offsetof(struct options, lr), true, "learning rate (1e-4)"},
    {"--beta1", offsetof(struct options, beta1), true, "of AdamW (0.9)"},
    {"--beta2", offsetof(struct options, beta2), true, "of AdamW (0.999)"},
    {"--weight-decay", offsetof(struct options, weight_decay), true, "of all parameters (0.01)"},
    {"--clip", offsetof(struct options, clip), true, "largest norm of the gradients (1)"},
    {"--log", offsetof(struct options, log), false, "JSON Lines to write: step, loss, grad_norm"},
    {"--save", offsetof(struct options, save), false, "folder to write, as --model reads it"},
};
enum { N_OPTIONS = sizeof all_options / sizeof *all_options, TEXT = 1024 };

static bool parse_options(int argc, char **argv, struct options *to) {
    *to = (struct options){.dtype = "f32", .lr = 1e-4, .beta1 = 0.9, .beta2 = 0.999, .weight_decay = 0.01};
    to->clip = to->top_p = to->seed = 1;
    for (int a = 1; a < argc; a += 2) {
        const struct option *option = NULL;
        char *end = "";
        for (int i = 0; i < N_OPTIONS; i++)
            option = strcmp(argv[a], all_options[i].name) ? option : &all_options[i];
        if (!option || a + 1 == argc)
            return false;
        if (option->is_number)
            *(double *)((char *)to + option->offset) = strtod(argv[a + 1], &end);
        else
            *(const char **)((char *)to + option->offset) = argv[a + 1];
        if (*end || (option->is_number && !*argv[a + 1]))
            return false;
    }
    return to->model && to->tokens && (to->logits || to->generate > 0 || to->train > 0) &&
           fmod(to->generate, 1) == 0 && fmod(to->train, 1) == 0 && to->generate < 1e9 && to->train < 1e9 &&
           (!strcmp(to->dtype, "f32") || !strcmp(to->dtype, "f64") || !strcmp(to->dtype, "bf16"));
}

static void print_help(void) {
    fprintf(stderr, "usage: huggingface --model FOLDER --tokens FILE (--logits FILE | --generate N | --train N)\n");
    for (int i = 0; i < N_OPTIONS; i++)
        fprintf(stderr, "  %-16s %s\n", all_options[i].name, all_options[i].help);
}

/* The model. */
struct model {
    dt_ctx *ctx;
    dt_mesh *mesh;
    dt_params *params;
    const char *map; /* of their names */
    dt_config *config;
    bool is_llama, is_training, is_tied, has_attention_bias, has_mlp_bias, scales, scales_by_layer;
    dt_dtype dtype; /* of the computation */
    int64_t layers, width, heads, kv_heads, head_dim;
    double eps, dropout, attention_dropout, embedding_dropout;
    dt_opt_int padding;     /* the token whose embedding is not trained */
    char activation[32];    /* an op */
    dt_tensor *frequencies; /* of rotary embeddings; NULL: positions are embedded */
    dt_tensor **cache;      /* keys and values of each layer, while generating */
};

/* A setting that is not implemented is refused by name. */
static bool refuse(const struct model *m, const char *key, const char *value) {
    dt_error_set(m->ctx, DT_ERR_UNSUPPORTED, "config.json: %s is not implemented: %s", key, value ? value : "null");
    return false;
}

/* Names of transformers, and the ops that they are. */
static bool read_activation(struct model *m, const char *key, const char *absent) {
    static const char names[] =
        " gelu=gelu gelu_python=gelu gelu_new=gelu_tanh gelu_pytorch_tanh=gelu_tanh gelu_fast=gelu_tanh silu=silu "
        "gelu_python_tanh=gelu_tanh gelu_accurate=gelu_tanh quick_gelu=quick_gelu swish=silu hardswish=hardswish "
        "relu=relu relu6=relu6 leaky_relu=leaky_relu tanh=tanh sigmoid=sigmoid mish=mish ";
    const char *name = dt_config_text(m->config, key);
    char word[TEXT];
    snprintf(word, sizeof word, " %s=", name ? name : absent);
    const char *found = strstr(names, word);
    return (found && sscanf(found + strlen(word), "%31s", m->activation) == 1) || refuse(m, key, name);
}

static dt_tensor *activate(const struct model *m, dt_tensor *x) {
    return !strcmp(m->activation, "gelu_tanh")    ? dt_gelu(x, .approximate = "tanh")
           : !strcmp(m->activation, "quick_gelu") ? dt_mul(x, dt_sigmoid(dt_mul_scalar(x, 1.702)))
                                                  : dt_call(m->ctx, m->activation, x);
}

/* Angles per position, as transformers computes them: in f32; llama3 stretches those of long waves. The settings are
 * members of an object, where the older spelling wins; one that is unknown would change the result. */
static bool read_rope(struct model *m) {
    const dt_config *c = m->config;
    const char *object = "rope_parameters", *type = NULL;
    double theta = dt_config_real(c, "rope_theta", 10000), factor = -1, low = 0, high = 0;
    double original = dt_config_real(c, "max_position_embeddings", 2048), part = 1;
    for (int i = 0; i < dt_config_n(c); i++)
        if (!strncmp(dt_config_key(c, i), "rope_scaling", 12) && dt_config_text(c, dt_config_key(c, i)))
            object = "rope_scaling";
    for (int i = 0; i < dt_config_n(c); i++) {
        const char *key = dt_config_key(c, i), *text = dt_config_text(c, key);
        const size_t n = strlen(object);
        if (!text || strncmp(key, object, n) != 0)
            continue;
        const char *name = key[n] ? key + n + 1 : "";
        double *number = !strcmp(name, "rope_theta")                         ? &theta
                         : !strcmp(name, "factor")                           ? &factor
                         : !strcmp(name, "low_freq_factor")                  ? &low
                         : !strcmp(name, "high_freq_factor")                 ? &high
                         : !strcmp(name, "original_max_position_embeddings") ? &original
                         : !strcmp(name, "partial_rotary_factor")            ? &part
                                                                             : NULL;
        if (number)
            *number = dt_config_real(c, key, 0);
        else if (strcmp(name, "rope_type") != 0 && strcmp(name, "type") != 0)
            return refuse(m, key, text);
        else
            type = type ? type : text;
    }
    original = dt_config_real(c, "original_max_position_embeddings", original); /* outside of the object wins */
    const bool is_llama3 = type && !strcmp(type, "llama3"), is_linear = type && !strcmp(type, "linear");
    float frequencies[TEXT];
    if (type && strcmp(type, "default") != 0 && !is_llama3 && !is_linear)
        return refuse(m, object, type);
    if (part != 1 || ((is_linear || is_llama3) && !(factor > 0)) || (is_llama3 && !(low > 0 && low < high)))
        return refuse(m, object, "partial_rotary_factor, or factors that are missing");
    if (m->head_dim < 2 || m->head_dim % 2 || m->head_dim > 2 * TEXT)
        return refuse(m, "head_dim", dt_config_text(c, "head_dim"));
    for (int64_t i = 0; i < m->head_dim / 2; i++) {
        const float f = 1.0f / powf((float)theta, (float)(2 * i) / (float)m->head_dim), wave = 2 * (float)M_PI / f;
        const float smooth = ((float)original / wave - (float)low) / (float)(high - low);
        const float kept = is_llama3 ? fminf(fmaxf(smooth, 0), 1) : !is_linear;
        frequencies[i] = (1 - kept) * f / (float)factor + kept * f;
    }
    dt_tensor *plain = dt_from_memory(m->ctx, frequencies, DT_SHAPE(m->head_dim / 2), DT_F32);
    m->frequencies = dt_distribute_tensor(plain, m->mesh, NULL, .everywhere = true);
    return true;
}

/* Settings that would change the result. */
static bool check_config(const struct model *m) {
    static const char refused[] =
        " quantization_config pruned_heads auto_map add_cross_attention is_encoder_decoder sliding_window "
        "logit_scale attn_logit_softcapping final_logit_softcapping query_pre_attn_scalar embedding_multiplier "
        "logits_scaling residual_multiplier attention_multiplier num_local_experts use_qk_norm alibi parallel_attn ";
    for (int i = 0; i < dt_config_n(m->config); i++) {
        const char *key = dt_config_key(m->config, i), *text = dt_config_text(m->config, key);
        char word[TEXT];
        snprintf(word, sizeof word, " %.*s ", (int)strcspn(key, "."), key);
        if (strstr(refused, word) && text && strcmp(text, "false") != 0)
            return refuse(m, key, text);
    }
    return dt_config_real(m->config, "partial_rotary_factor", 1) == 1 || refuse(m, "partial_rotary_factor", "not 1");
}

static bool read_config(struct model *m) {
    const dt_config *c = m->config;
    const char *type = dt_config_text(c, "model_type");
    m->is_llama = type && !strcmp(type, "llama");
    if (!m->is_llama && (!type || strcmp(type, "gpt2") != 0))
        return refuse(m, "model_type", type);
    m->layers = dt_config_int(c, "num_hidden_layers", m->is_llama ? 32 : dt_config_int(c, "n_layer", 12));
    m->width = dt_config_int(c, "hidden_size", m->is_llama ? 4096 : dt_config_int(c, "n_embd", 768));
    m->heads = dt_config_int(c, "num_attention_heads", m->is_llama ? 32 : dt_config_int(c, "n_head", 12));
    m->kv_heads = m->is_llama ? dt_config_int(c, "num_key_value_heads", m->heads) : m->heads;
    if (m->layers < 1 || m->heads < 1 || m->kv_heads < 1 || m->heads % m->kv_heads)
        return refuse(m, "the number of layers, heads or key-value heads", "it does not fit");
    m->head_dim = m->is_llama ? dt_config_int(c, "head_dim", m->width / m->heads) : m->width / m->heads;
    m->eps = dt_config_real(c, m->is_llama ? "rms_norm_eps" : "layer_norm_epsilon", m->is_llama ? 1e-6 : 1e-5);
    m->is_tied = dt_config_bool(c, "tie_word_embeddings", !m->is_llama);
    m->padding = DT_INT(dt_config_int(c, "pad_token_id", 0));
    m->padding.given = m->is_llama && dt_config_text(c, "pad_token_id");
    m->scales = dt_config_bool(c, "scale_attn_weights", true);
    m->scales_by_layer = dt_config_bool(c, "scale_attn_by_inverse_layer_idx", false);
    m->has_attention_bias = !m->is_llama || dt_config_bool(c, "attention_bias", false);
    m->has_mlp_bias = !m->is_llama || dt_config_bool(c, "mlp_bias", false);
    m->dropout = m->is_llama ? 0 : dt_config_real(c, "resid_pdrop", 0.1);
    m->embedding_dropout = m->is_llama ? 0 : dt_config_real(c, "embd_pdrop", 0.1);
    m->attention_dropout = dt_config_real(c, m->is_llama ? "attention_dropout" : "attn_pdrop", m->is_llama ? 0 : 0.1);
    return check_config(m) && (!m->is_llama || read_rope(m)) && !dt_failed(m->ctx) &&
           (m->is_llama ? read_activation(m, "hidden_act", "silu")
                        : read_activation(m, "activation_function", "gelu_new"));
}

/* Parameters, placed: heads by whole groups over tp, the layers of the MLP by columns and rows, tokens by rows. */

/* As in transformers, an output layer that differs from the embedding is not tied to it. */
static bool open_files(struct model *m, const char *folder, const char *rules, dt_dtype dtype, const char *map) {
    m->params = dt_params_open(m->ctx, folder, .mesh = m->mesh, .rules = rules, .map = m->map = map, .dtype = dtype);
    if (!m->params || dt_params_check(m->params) != DT_OK)
        return false;
    dt_tensor *head = dt_params_get(m->params, "head.weight"), *tok = dt_params_get(m->params, "tok.weight");
    return !m->is_tied || head == tok || dt_item(dt_equal(head, tok)) == 0 ||
           open_files(m, folder, rules, dtype,
                      m->is_llama ? "ignore lm_head.weight\nuse llama" : "ignore lm_head.weight\nuse gpt2");
}

static bool open_params(struct model *m, const struct options *o) {
    const int64_t group = m->heads / m->kv_heads * m->head_dim;
    const bool is_mixed = o->train > 0 && m->dtype == DT_BF16; /* parameters of f32 that are used as bf16 */
    char rules[TEXT];
    snprintf(rules, sizeof rules,
             "*.attn.wq.*       tp=S(0)*%" PRId64 "\n"
             "*.attn.w[kv].*    tp=S(0)*%" PRId64 "\n"
             "*.attn.wo.weight  tp=S(1)*%" PRId64 "\n"
             "*.mlp.[gu]*.*     tp=col\n"
             "*.mlp.down.weight tp=row\n"
             "tok.weight        tp=vocab\n"
             "head.weight?      tp=vocab\n"
             "*                 fsdp=free%s\n",
             group, m->head_dim, group, is_mixed ? " use=bf16" : "");
    if (!open_files(m, o->model, rules, is_mixed ? DT_F32 : m->dtype, m->is_llama ? "llama" : "gpt2"))
        return false;
    const int64_t per_layer = m->is_llama ? 9 + 4 * m->has_attention_bias + 3 * m->has_mlp_bias : 16;
    if (dt_params_n(m->params) != m->layers * per_layer + (m->is_llama ? 3 : 5))
        return refuse(m, "attention_bias, mlp_bias or the number of layers", "the files have other tensors");
    return m->is_tied || dt_params_get(m->params, "head.weight") != dt_params_get(m->params, "tok.weight") ||
           refuse(m, "tie_word_embeddings", "false, without lm_head.weight");
}

/* The parameter NAME.SUFFIX of a layer, or of the model (-1). */
static dt_tensor *param(const struct model *m, int64_t layer, const char *name, const char *suffix) {
    char full[TEXT], prefix[32] = "";
    if (layer >= 0)
        snprintf(prefix, sizeof prefix, "h.%" PRId64 ".", layer);
    snprintf(full, sizeof full, "%s%s.%s", prefix, name, suffix);
    return dt_params_get(m->params, full);
}

static dt_tensor *linear(const struct model *m, int64_t layer, const char *name, dt_tensor *x) {
    const bool has_bias = !strncmp(name, "attn", 4) ? m->has_attention_bias : m->has_mlp_bias;
    return dt_linear(x, param(m, layer, name, "weight"), has_bias ? param(m, layer, name, "bias") : NULL);
}

static dt_tensor *norm(const struct model *m, int64_t layer, const char *name, dt_tensor *x) {
    dt_tensor *weight = param(m, layer, name, "weight");
    if (m->is_llama)
        return dt_rms_norm(x, DT_SHAPE(m->width), .weight = weight, .eps = DT_REAL(m->eps));
    return dt_layer_norm(x, DT_SHAPE(m->width), .weight = weight, .bias = param(m, layer, name, "bias"),
                         .eps = DT_REAL(m->eps));
}

static dt_tensor *dropout(const struct model *m, dt_tensor *x, double p) {
    return m->is_training && p > 0 ? dt_dropout(x, .p = DT_REAL(p)) : x;
}

/* [rows,n,heads*d] as [rows,heads,n,d] */
static dt_tensor *split_heads(const struct model *m, dt_tensor *x, int64_t heads) {
    return dt_transpose(dt_unflatten(x, -1, DT_SHAPE(heads, m->head_dim)), 1, 2);
}

/* Writes keys or values after those of `start` positions, and returns all of them. */
static dt_tensor *cached(const struct model *m, int64_t index, dt_tensor *x, int64_t start) {
    const int64_t end = start + dt_tensor_size(x, 2);
    if (!m->cache)
        return x;
    dt_slice_scatter_(m->cache[index], x, 2, start, end, 1);
    return dt_narrow(m->cache[index], 2, 0, end);
}

static dt_tensor *attention(const struct model *m, int64_t layer, dt_tensor *x, int64_t start) {
    dt_tensor *q = split_heads(m, linear(m, layer, "attn.wq", x), m->heads);
    dt_tensor *k = split_heads(m, linear(m, layer, "attn.wk", x), m->kv_heads);
    dt_tensor *v = split_heads(m, linear(m, layer, "attn.wv", x), m->kv_heads);
    if (m->frequencies) {
        q = dt_rotary_embedding(q, m->frequencies, .offset = DT_INT(start));
        k = dt_rotary_embedding(k, m->frequencies, .offset = DT_INT(start));
    }
    k = cached(m, 2 * layer, k, start);
    v = cached(m, 2 * layer + 1, v, start);
    double scale = m->scales ? 1 / sqrt((double)m->head_dim) : 1;
    scale /= m->scales_by_layer ? (double)(layer + 1) : 1;
    dt_tensor *y = dt_scaled_dot_product_attention(q, k, v, .is_causal = dt_tensor_size(q, 2) > 1,
                                                   .scale = DT_REAL(scale), .enable_gqa = m->kv_heads != m->heads,
                                                   .dropout_p = DT_REAL(m->is_training ? m->attention_dropout : 0));
    return linear(m, layer, "attn.wo", dt_flatten(dt_transpose(y, 1, 2), .start_dim = DT_INT(2)));
}

static dt_tensor *mlp(const struct model *m, int64_t layer, dt_tensor *x) {
    dt_tensor *up = linear(m, layer, "mlp.up", x);
    up = m->is_llama ? dt_mul(activate(m, linear(m, layer, "mlp.gate", x)), up) : activate(m, up);
    return linear(m, layer, "mlp.down", up);
}

/* A block has a scope, in which its parameters are gathered together, and whose end frees them. */
static dt_tensor *block(const struct model *m, int64_t layer, dt_tensor *x, int64_t start) {
    char pattern[64];
    dt_scope scope = dt_scope_begin(m->ctx);
    snprintf(pattern, sizeof pattern, "h.%" PRId64 ".*", layer);
    dt_use(dt_params_list(m->params, pattern));
    x = dt_add(x, dropout(m, dt_reduced(attention(m, layer, norm(m, layer, "norm1", x), start)), m->dropout));
    x = dt_add(x, dropout(m, dt_reduced(mlp(m, layer, norm(m, layer, "norm2", x))), m->dropout));
    dt_keep(x);
    dt_scope_end(scope);
    return x;
}

/* Tokens i64 [rows,n] at positions from `start` to logits [rows,n,vocab] */
static dt_tensor *forward(const struct model *m, dt_tensor *tokens, int64_t start) {
    dt_tensor *x = dt_reduced(dt_embedding(tokens, param(m, -1, "tok", "weight"), .padding_idx = m->padding));
    if (!m->is_llama)
        x = dt_add(x, dt_narrow(param(m, -1, "pos", "weight"), 0, start, dt_tensor_size(tokens, 1)));
    x = dropout(m, x, m->embedding_dropout);
    for (int64_t layer = 0; layer < m->layers; layer++)
        x = block(m, layer, x, start);
    return dt_linear(norm(m, -1, "norm", x), param(m, -1, "head", "weight"));
}

/* Rows of tokens, sharded over dp and fsdp, or whole on every rank. */
static dt_tensor *place_tokens(const struct model *m, dt_tensor *plain, bool is_sharded) {
    char place[TEXT] = "";
    for (int d = 0; is_sharded && d < dt_mesh_n_dims(m->mesh); d++)
        snprintf(place + strlen(place), sizeof place - strlen(place), "%s%s", d ? "," : "",
                 strcmp(dt_mesh_dim_name(m->mesh, d), "tp") ? "S(0)" : "R");
    return dt_distribute_tensor(plain, m->mesh, *place ? place : NULL, .everywhere = true);
}

static int by_probability(const void *a, const void *b) {
    const double *x = a, *y = b;
    return x[0] != y[0] ? (x[0] < y[0]) - (x[0] > y[0]) : (x[1] > y[1]) - (x[1] < y[1]);
}

/* The next token: the best one, or one of the best ones whose probabilities add up to top_p. Every rank draws alike. */
static int64_t pick(const struct options *o, const double *logits, int64_t n, uint64_t *state) {
    double(*all)[2] = calloc((size_t)n, sizeof *all), sum = 0, kept = 0;
    int64_t best = 0, i = 0;
    for (int64_t t = 1; t < n; t++)
        best = logits[t] > logits[best] ? t : best;
    for (int64_t t = 0; all && t < n; t++) {
        all[t][0] = exp((logits[t] - logits[best]) / o->temperature);
        all[t][1] = (double)t;
        sum += all[t][0];
    }
    if (all && o->temperature > 0) {
        qsort(all, (size_t)n, sizeof *all, by_probability);
        while (i < n && kept < o->top_p * sum)
            kept += all[i++][0];
        *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        double left = (double)(*state >> 11) * 0x1p-53 * kept;
        for (i = 0; i < n - 1 && left >= all[i][0]; i++)
            left -= all[i][0];
        best = (int64_t)all[i][1];
    }
    free(all);
    return best;
}

/* A file of the first rank; NULL: there is no path, or an error. */
static FILE *open_output(const struct model *m, const char *path) {
    FILE *file = path && dt_rank(m->ctx) == 0 ? fopen(path, "w") : NULL;
    if (path && !file && dt_rank(m->ctx) == 0)
        dt_error_set(m->ctx, DT_ERR_SYSTEM, "%s: cannot be written: %s", path, strerror(errno));
    return file;
}

static void generate(struct model *m, const struct options *o, dt_tensor *tokens) {
    const int64_t n = dt_tensor_size(tokens, 1), more = (int64_t)o->generate, *prompt = dt_data(tokens);
    FILE *file = o->out || dt_rank(m->ctx) ? open_output(m, o->out) : stdout;
    const char *place = dt_mesh_dim(m->mesh, "tp") >= 0 ? "tp=S(1)" : NULL; /* of the cache: heads */
    int64_t *made = calloc((size_t)more, sizeof *made);
    uint64_t state = (uint64_t)o->seed;
    m->cache = calloc((size_t)(2 * m->layers), sizeof *m->cache);
    for (int64_t i = 0; m->cache && i < 2 * m->layers; i++)
        m->cache[i] = dt_zeros(m->ctx, DT_SHAPE(1, m->kv_heads, n + more, m->head_dim), .dtype = m->dtype,
                               .mesh = m->mesh, .place = place);
    for (int64_t i = 0; made && i < more && !dt_failed(m->ctx); i++) {
        dt_scope scope = dt_scope_begin(m->ctx);
        const int64_t start = i ? n + i - 1 : 0, length = i ? 1 : n;
        dt_tensor *x = dt_from_memory(m->ctx, i ? &made[i - 1] : prompt, DT_SHAPE(1, length), DT_I64);
        dt_tensor *logits = dt_narrow(forward(m, place_tokens(m, x, false), start), 1, length - 1, 1);
        const double *numbers = dt_data(dt_full_tensor(dt_to(logits, DT_F64)));
        if (numbers)
            made[i] = pick(o, numbers, dt_tensor_size(logits, 2), &state);
        dt_scope_end(scope);
    }
    for (int64_t i = 0; file && made && i < more && !dt_failed(m->ctx); i++)
        fprintf(file, "%s%" PRId64 "%s", i ? ", " : "{\"tokens\": [", made[i], i + 1 == more ? "]}\n" : "");
    if (file && o->out)
        fclose(file);
    free(made);
    free(m->cache);
}

/* config.json as it was, but with the dtype of the parameters. */
static void write_config(const struct model *m, const struct options *o) {
    static char text[1 << 20];
    const char *name = !strcmp(o->dtype, "f64") ? "float64" : !strcmp(o->dtype, "f32") ? "float32" : "bfloat16";
    char path[TEXT];
    snprintf(path, sizeof path, "%s/config.json", o->model);
    FILE *from = fopen(path, "r");
    snprintf(path, sizeof path, "%s/config.json", o->save);
    FILE *to = from && fread(text, 1, sizeof text - 1, from) ? open_output(m, path) : NULL;
    const char *old = dt_config_text(m->config, dt_config_text(m->config, "dtype") ? "dtype" : "torch_dtype");
    const char *key = old ? strstr(text, "dtype\"") : NULL, *value = key ? strstr(key, old) : NULL;
    if (to)
        fprintf(to, "%.*s%s%s", value ? (int)(value - text) : 0, text, value ? name : "",
                value ? value + strlen(old) : text);
    if (from)
        fclose(from);
    if (to && fclose(to))
        dt_error_set(m->ctx, DT_ERR_SYSTEM, "%s: %s", path, strerror(errno));
}

static void train(struct model *m, const struct options *o, dt_tensor *tokens) {
    dt_optimizer *optimizer = dt_adamw_new(m->ctx, o->lr, .beta1 = DT_REAL(o->beta1), .beta2 = DT_REAL(o->beta2),
                                           .weight_decay = DT_REAL(o->weight_decay), .params = m->params);
    const dt_tensors params = dt_params_list(m->params, NULL);
    const int64_t n = dt_tensor_size(tokens, 1) - 1;
    FILE *log = open_output(m, o->log);
    dt_generator_seed(dt_generator_default(m->ctx), (uint64_t)o->seed);
    dt_tensor *ids = place_tokens(m, tokens, true);
    m->is_training = true;
    for (int step = 1; step <= (int)o->train && !dt_failed(m->ctx); step++) {
        dt_scope scope = dt_scope_begin(m->ctx);
        dt_tensor *logits = forward(m, dt_narrow(ids, 1, 0, n), 0), *targets = dt_narrow(ids, 1, 1, n);
        logits = dt_to(dt_flatten(logits, .end_dim = DT_INT(1)), m->dtype == DT_F64 ? DT_F64 : DT_F32);
        dt_tensor *loss = dt_cross_entropy(logits, dt_flatten(targets));
        dt_backward(loss);
        const double norm = dt_item(dt_clip_grad_norm(params, o->clip)), value = dt_item(loss);
        dt_optimizer_step(optimizer);
        dt_zero_grad(params);
        if (log)
            fprintf(log, "{\"step\": %d, \"loss\": %.17g, \"grad_norm\": %.17g}\n", step, value, norm);
        dt_scope_end(scope);
    }
    if (log)
        fclose(log);
    if (o->save && dt_params_save(m->params, o->save, .map = m->map, .dtype = m->dtype) == DT_OK &&
        dt_rank(m->ctx) == 0)
        write_config(m, o);
}

static bool run(struct model *m, const struct options *o) {
    char path[TEXT];
    snprintf(path, sizeof path, "%s/config.json", o->model);
    m->dtype = !strcmp(o->dtype, "f64") ? DT_F64 : !strcmp(o->dtype, "f32") ? DT_F32 : DT_BF16;
    m->mesh = dt_mesh_new(m->ctx, o->mesh ? o->mesh : "dp=*");
    m->config = dt_config_open(m->ctx, path);
    dt_tensor *tokens = dt_load_npy(m->ctx, o->tokens);
    if (!m->mesh || !m->config || !tokens || !read_config(m) || !open_params(m, o))
        return false;
    if (dt_tensor_dtype(tokens) != DT_I64 || dt_tensor_n_dims(tokens) != 2 ||
        (o->generate > 0 && dt_tensor_size(tokens, 0) != 1))
        return dt_error_set(m->ctx, DT_ERR_SHAPE, "--tokens: expected i64 [rows,n], and one row to generate") ==
               DT_OK;
    dt_no_grad_begin(m->ctx);
    if (o->logits) {
        dt_tensor *logits = forward(m, place_tokens(m, tokens, true), 0);
        dt_save_npy(m->dtype == DT_BF16 ? dt_to(logits, DT_F32) : logits, o->logits);
    }
    if (o->generate > 0)
        generate(m, o, tokens);
    dt_no_grad_end(m->ctx);
    if (o->train > 0)
        train(m, o, tokens);
    return true;
}

int main(int argc, char **argv) {
    struct options o;
    struct model m = {.ctx = dt_init(NULL)};
    if (!m.ctx)
        return 1;
    const bool is_usable = parse_options(argc, argv, &o), ok = is_usable && run(&m, &o);
    if (!is_usable && dt_rank(m.ctx) == 0)
        print_help();
    return dt_close(m.ctx) || !ok ? (is_usable ? 1 : 2) : 0;
}
