/* SPDX-License-Identifier: Apache-2.0
 *
 * The bound that OpenBLAS sets for a training step of examples/10_gpt.c: the time of the step's matrix products alone,
 * each by one call on dense matrices, as one rank has them. Prints it with the number of operations. bench/gpt.py runs
 * it, once per rank at the same time. Usage: bench_gpt MODE LAYERS WIDTH HEADS VOCAB SEQ BATCH SECONDS
 *
 * Per rank, with t tokens, a weight [out,in] takes three products of out*in*t multiplications: x W^T, and in the
 * backward pass g W and g^T x. Attention takes six of seq*seq*width/heads per sequence and head: two forward, four
 * backward. On two ranks dp and fsdp halve t, and tp halves one side of every weight, and the heads.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROW_MAJOR = 101, PLAIN = 111, TRANSPOSED = 112 }; /* of CBLAS */
typedef void sgemm_fn(int order, int trans_a, int trans_b, int m, int n, int k, float alpha, const float *a, int lda,
                      const float *b, int ldb, float beta, float *c, int ldc);

/* With one thread, as it takes from the environment when it is loaded. */
static sgemm_fn *load_sgemm(void) {
    sgemm_fn *sgemm = NULL;
    if (setenv("OPENBLAS_NUM_THREADS", "1", 1) == 0) {
        void *library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
        void *found = library ? dlsym(library, "cblas_sgemm") : NULL;
        memcpy(&sgemm, &found, sizeof found);
    }
    return sgemm;
}

/* count products [m,k] [k,n] in a step. */
struct product {
    int m, n, k, count;
    bool transposed_a, transposed_b;
};

enum { MAX_PRODUCTS = 32 };

struct step {
    struct product products[MAX_PRODUCTS];
    int n;
};

static void add(struct step *step, int m, int n, int k, int count, bool transposed_a, bool transposed_b) {
    step->products[step->n++] = (struct product){m, n, k, count, transposed_a, transposed_b};
}

static void add_weight(struct step *step, int out, int in, int tokens, int count) {
    add(step, tokens, out, in, count, false, true);
    add(step, tokens, in, out, count, false, false);
    add(step, out, in, tokens, count, true, false);
}

static struct step make_step(const char *mode, int layers, int width, int heads, int vocab, int seq, int batch) {
    struct step step = {.n = 0};
    const int tp = strcmp(mode, "tp") == 0 ? 2 : 1, dp = tp == 1 && strcmp(mode, "one") != 0 ? 2 : 1;
    const int tokens = seq * batch / dp, n_heads = layers * heads / tp * batch / dp, head = width / heads;
    add_weight(&step, width / tp, width, tokens, 3 * layers);
    add_weight(&step, width, width / tp, tokens, layers);
    add_weight(&step, 4 * width / tp, width, tokens, layers);
    add_weight(&step, width, 4 * width / tp, tokens, layers);
    add_weight(&step, vocab / tp, width, tokens, 1);
    add(&step, seq, seq, head, 2 * n_heads, false, true);
    add(&step, seq, head, seq, 2 * n_heads, false, false);
    add(&step, seq, head, seq, 2 * n_heads, true, false);
    return step;
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static float *new_matrix(int rows, int columns) {
    const size_t n = (size_t)rows * (size_t)columns;
    float *matrix = malloc(n * sizeof *matrix);
    for (size_t i = 0; matrix && i < n; i++)
        matrix[i] = (float)(i % 1009) * 1e-3F;
    return matrix;
}

/* Seconds of the fastest of many calls; negative when out of memory. */
static double time_product(sgemm_fn *sgemm, const struct product *p, double budget) {
    float *a = new_matrix(p->m, p->k), *b = new_matrix(p->k, p->n), *c = new_matrix(p->m, p->n);
    double best = a && b && c ? 1e30 : -1, spent = 0;
    for (int i = 0; best > 0 && (i < 5 || spent < budget); i++) {
        const double start = now();
        sgemm(ROW_MAJOR, p->transposed_a ? TRANSPOSED : PLAIN, p->transposed_b ? TRANSPOSED : PLAIN, p->m, p->n, p->k,
              1, a, p->transposed_a ? p->m : p->k, b, p->transposed_b ? p->k : p->n, 0, c, p->n);
        const double seconds = now() - start;
        spent += seconds;
        best = seconds < best ? seconds : best;
    }
    free(a);
    free(b);
    free(c);
    return best;
}

int main(int argc, char **argv) {
    sgemm_fn *sgemm = load_sgemm();
    if (argc != 9) {
        fprintf(stderr, "usage: bench_gpt MODE LAYERS WIDTH HEADS VOCAB SEQ BATCH SECONDS\n");
        return 2;
    }
    if (!sgemm) {
        fprintf(stderr, "bench_gpt: there is no libopenblas.so.0\n");
        return 1;
    }
    const struct step step =
        make_step(argv[1], atoi(argv[2]), atoi(argv[3]), atoi(argv[4]), atoi(argv[5]), atoi(argv[6]), atoi(argv[7]));
    double seconds = 0, gflop = 0;
    for (int i = 0; i < step.n; i++) {
        const struct product *p = &step.products[i];
        const double once = time_product(sgemm, p, atof(argv[8]) / step.n);
        if (once < 0)
            return 1;
        seconds += p->count * once;
        gflop += 2e-9 * p->count * (double)p->m * p->n * p->k;
    }
    printf("{\"seconds\":%.6g,\"gflop\":%.6g}\n", seconds, gflop);
    return 0;
}
