/* SPDX-License-Identifier: Apache-2.0
 *
 * What scripts/bench_generate.sh needs to measure generation: a Llama of 120M parameters as a Hugging Face folder, and
 * how fast ranks read memory together, which bounds generation: every token reads all weights once.
 *
 *     bench_generate make FOLDER          prints "weights PARAMETERS"
 *     bench_generate read MEGABYTES       prints "read RANKS BYTES_PER_SECOND"; MEGABYTES over all ranks
 */
#include <dtensor/dtensor.h>

#include "settle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum { LAYERS = 12, WIDTH = 768, INNER = 2432, HEADS = 12, VOCAB = 32000 };

static void add(dt_params *p, const char *name, int64_t rows, int64_t columns) {
    const dt_shape shape = columns ? DT_SHAPE(rows, columns) : DT_SHAPE(rows);
    dt_param(p, name, shape, .std = DT_REAL(0.02), .value = DT_REAL(columns ? 0 : 1));
}

static void make(dt_ctx *ctx, const char *folder) {
    static const char config[] =
        "{\"model_type\": \"llama\", \"architectures\": [\"LlamaForCausalLM\"], \"hidden_size\": %d, "
        "\"intermediate_size\": %d, \"num_hidden_layers\": %d, \"num_attention_heads\": %d, \"vocab_size\": %d, "
        "\"max_position_embeddings\": 4096, \"rms_norm_eps\": 1e-06, \"tie_word_embeddings\": true, "
        "\"bos_token_id\": null, \"eos_token_id\": null, \"dtype\": \"float32\"}\n";
    char path[4096];
    int64_t n = 0;
    dt_params *p = dt_params_new(ctx);
    add(p, "tok.weight", VOCAB, WIDTH);
    for (int i = 0; i < LAYERS; i++) {
        dt_params_begin(p, "h.%d.", i);
        add(p, "norm1.weight", WIDTH, 0);
        add(p, "attn.wq.weight", WIDTH, WIDTH);
        add(p, "attn.wk.weight", WIDTH, WIDTH);
        add(p, "attn.wv.weight", WIDTH, WIDTH);
        add(p, "attn.wo.weight", WIDTH, WIDTH);
        add(p, "norm2.weight", WIDTH, 0);
        add(p, "mlp.gate.weight", INNER, WIDTH);
        add(p, "mlp.up.weight", INNER, WIDTH);
        add(p, "mlp.down.weight", WIDTH, INNER);
        dt_params_end(p);
    }
    add(p, "norm.weight", WIDTH, 0);
    dt_param(p, "head.weight", DT_SHAPE(VOCAB, WIDTH), .tied = "tok.weight");
    for (int i = 0; i < dt_params_n(p) - 1; i++)
        n += dt_tensor_elements(dt_params_tensor(p, i));
    dt_params_save(p, folder, .map = "llama", .unsynced = true);
    (void)snprintf(path, sizeof path, "%s/config.json", folder);
    FILE *file = fopen(path, "w");
    if (file) {
        (void)fprintf(file, config, WIDTH, INNER, LAYERS, HEADS, VOCAB);
        (void)fclose(file);
    }
    printf("weights\t%lld\n", (long long)n);
}

/* Reads memory as a product does: in order, with several loads at once. */
typedef unsigned long long lanes __attribute__((vector_size(64)));
static unsigned long long read_all(const lanes *from, size_t n) {
    lanes sums[8] = {{0}};
    unsigned long long all = 0;
    for (size_t i = 0; i + 8 <= n; i += 8)
        for (int k = 0; k < 8; k++)
            sums[k] += from[i + (size_t)k];
    for (int k = 0; k < 8; k++)
        for (int l = 0; l < 8; l++)
            all += sums[k][l];
    return all;
}

static double now(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void measure_reads(dt_ctx *ctx, int64_t megabytes) {
    const size_t bytes = (size_t)(megabytes << 20) / (size_t)dt_world(ctx) / 4096 * 4096;
    lanes *memory = aligned_alloc(64, bytes);
    volatile unsigned long long used = 0;
    double best = 1e9;
    if (!memory)
        exit(1);
    memset(memory, 1, bytes);
    for (int i = 0; i < 9; i++) {
        dt_comm_barrier(dt_group_world(ctx));
        const double begin = now();
        used += read_all(memory, bytes / sizeof *memory);
        double mine[] = {-begin, now()}, all[2]; /* from the first rank's start to the last rank's end */
        dt_comm_all_reduce(dt_group_world(ctx), mine, all, 2, DT_F64, DT_MAX);
        best = i && all[0] + all[1] < best ? all[0] + all[1] : best;
    }
    if (dt_rank(ctx) == 0)
        printf("read\t%lld\t%.0f\n", (long long)dt_world(ctx), (double)bytes * (double)dt_world(ctx) / best);
    (void)used; /* what was read */
    free(memory);
}

int main(int argc, char **argv) {
    if (argc != 3)
        return 2;
    dt_ctx *ctx = dt_init(NULL);
    if (!strcmp(argv[1], "make"))
        make(ctx, argv[2]);
    else
        measure_reads(ctx, atoll(argv[2]));
    return dt_close(ctx);
}
