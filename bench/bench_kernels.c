/* SPDX-License-Identifier: Apache-2.0
 *
 * Speed of the local kernels, per table: contiguous copies, transpositions, reductions of several buffers to one, and
 * kernels on arrays (elementwise ops, sums, softmax along rows of 1024), from the first cache's size to memory's.
 * "ours" is every byte read and written (a reduction of k sources touches k + 1 times its result); the limit is the
 * faster of memcpy and a streaming copy of as many bytes, counted the same way, in the same process. Each figure is
 * the fastest of many repeats. Last come sums of large f32 tensors into new memory, as one rank of a launch makes
 * them, next to those of NumPy and PyTorch, in turn, where python3 has them; each has the threads that it uses by
 * default.
 *
 *     bench_kernels [--quick]
 */
#include "dtensor/dtensor.h"
#include "kernels/kernels.h"
#include "settle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_SRCS = 8, MAX_BYTES = 64 << 20, PLAIN_BYTES = 256 << 10 };

static const size_t sizes[] = {4 << 10, 256 << 10, 4 << 20, 64 << 20};
static const char *const names[] = {"plain", "baseline", "avx2", "avx512"};

typedef struct bench {
    bool quick;
    char *dst, *srcs[MAX_SRCS];
    double limit; /* GB/s of the best copy at the current size */
} bench;

/* The measured function: one call of run. */
typedef struct work {
    const dt__kernels *table;
    void (*run)(const bench *b, const struct work *w);
    size_t bytes; /* of the result */
    dt__store store;
    dt_dtype dtype;
    int n_srcs;
    dt__element_op op;
} work;

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* GB/s of the fastest repeat; touched is in units of the result's size. */
static double measure(const bench *b, const work *w, int touched) {
    const int calls = w->bytes < 65536 ? 64 : 1;
    const double budget = b->quick ? 0.03 : 0.2, start = seconds();
    double best = 1e9;
    for (int repeat = 0; repeat < 3 || seconds() - start < budget; repeat++) {
        double before = seconds();
        for (int i = 0; i < calls; i++)
            w->run(b, w);
        double took = (seconds() - before) / calls;
        best = took < best ? took : best;
    }
    return (double)w->bytes * touched / best * 1e-9;
}

static double best_of_stores(const bench *b, work w, int touched) {
    w.store = DT__CACHED;
    double cached = measure(b, &w, touched);
    w.store = DT__STREAM;
    double streamed = measure(b, &w, touched);
    return cached > streamed ? cached : streamed;
}

static void run_memcpy(const bench *b, const work *w) { memcpy(b->dst, b->srcs[0], w->bytes); }

static void run_copy(const bench *b, const work *w) { w->table->copy(b->dst, b->srcs[0], w->bytes, w->store); }

/* The largest square of f32 that fits. */
static void run_transpose(const bench *b, const work *w) {
    int64_t n = 1;
    while ((size_t)(4 * n * n) * 4 <= w->bytes)
        n *= 2;
    const int64_t square[] = {n, n}, by_row[] = {n, 1}, by_column[] = {1, n};
    w->table->copy_strided(&(dt__strided){b->dst, b->srcs[0], 4, 2, square, by_row, by_column}, w->store);
}

static void run_reduce(const bench *b, const work *w) {
    w->table->reduce(w->dtype, DT_SUM, b->dst, (const void *const *)b->srcs, w->n_srcs,
                     w->bytes / dt_dtype_size(w->dtype), 1, w->store);
}

/* The buffers as rows of 1024. */
static dt__array rows_of(void *data, const work *w, int64_t *shape) {
    static const int64_t strides[] = {1024, 1};
    shape[0] = (int64_t)(w->bytes / dt_dtype_size(w->dtype) / 1024);
    shape[1] = 1024;
    return (dt__array){data, w->dtype, 2, shape, strides};
}

static void run_elementwise(const bench *b, const work *w) {
    int64_t shape[2];
    const dt__array out = rows_of(b->dst, w, shape), x = rows_of(b->srcs[0], w, shape),
                    y = rows_of(b->srcs[1], w, shape);
    dt__elementwise_run(w->table, NULL,
                        &(dt__elementwise){.op = w->op, .dtype = w->dtype, .out = &out, .ins = {&x, &y}});
}

static void run_sum(const bench *b, const work *w) {
    int64_t shape[2];
    const dt__array x = rows_of(b->srcs[0], w, shape), out = {b->dst, w->dtype, 0, NULL, NULL};
    dt__reduce(w->table, NULL, &(dt__reduction){DT__FOLD_SUM, 3, 0, &x, &out});
}

static void run_softmax(const bench *b, const work *w) {
    int64_t shape[2];
    const dt__array x = rows_of(b->srcs[0], w, shape), out = rows_of(b->dst, w, shape);
    dt__softmax(w->table, NULL, &x, 1, false, &out);
}

static void report(const bench *b, const char *kind, const work *w, double ours) {
    const char *dtype = dt_dtype_name(w->dtype);
    printf("{\"bench\":\"%s\",\"config\":{\"dtype\":\"%s\",\"srcs\":%d,\"bytes\":%zu,\"kernels\":\"%s\"},"
           "\"ours\":%.2f,\"unit\":\"GB/s\",\"peer\":\"limit\",\"theirs\":%.2f,\"ratio\":%.3f}\n",
           kind, dtype, w->n_srcs, w->bytes, w->table->name, ours, b->limit, ours / b->limit);
    printf("%-10s %-5s %5d %10zu  %-9s %9.2f %9.2f %7.3f\n", kind, dtype, w->n_srcs, w->bytes, w->table->name, ours,
           b->limit, ours / b->limit);
    fflush(stdout);
}

static void bench_copies(bench *b, const dt__kernels *table, size_t bytes) {
    work w = {.table = table, .run = run_copy, .bytes = bytes, .dtype = DT_F32, .n_srcs = 1};
    report(b, "copy", &w, best_of_stores(b, w, 2));
    w.run = run_transpose;
    report(b, "transpose", &w, measure(b, &w, 2));
}

static void bench_reductions(bench *b, const dt__kernels *table, size_t bytes) {
    static const dt_dtype dtypes[] = {DT_F32, DT_BF16, DT_F16};
    static const int counts[] = {2, 3, 4, MAX_SRCS};
    for (int d = 0; d < (b->quick ? 2 : 3); d++)
        for (int c = 0; c < 4; c++) {
            work w = {.table = table, .run = run_reduce, .bytes = bytes, .dtype = dtypes[d], .n_srcs = counts[c]};
            if (b->quick && counts[c] % 2 == 1)
                continue;
            report(b, "reduce", &w, best_of_stores(b, w, counts[c] + 1));
        }
}

static void bench_arrays(bench *b, const dt__kernels *table, size_t bytes) {
    static const struct {
        const char *name;
        void (*run)(const bench *b, const work *w);
        dt__element_op op;
        int n_srcs, touched;
    } rows[] = {
        {"add", run_elementwise, DT__EL_ADD, 2, 3},   {"exp", run_elementwise, DT__EL_EXP, 1, 2},
        {"gelu", run_elementwise, DT__EL_GELU, 1, 2}, {"tanh", run_elementwise, DT__EL_TANH, 1, 2},
        {"sum", run_sum, DT__EL_ADD, 1, 1},           {"softmax", run_softmax, DT__EL_EXP, 1, 2},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int d = 0; d < (b->quick ? 1 : 2); d++) {
            const work w = {.table = table,
                            .run = rows[i].run,
                            .bytes = bytes,
                            .dtype = d ? DT_BF16 : DT_F32,
                            .n_srcs = rows[i].n_srcs,
                            .op = rows[i].op};
            report(b, rows[i].name, &w, measure(b, &w, rows[i].touched));
        }
}

static void bench_size(bench *b, size_t bytes) {
    work limit = {.table = dt__kernels_best(), .run = run_memcpy, .bytes = bytes};
    double plain = measure(b, &limit, 2);
    limit.run = run_copy;
    limit.store = DT__STREAM;
    double streamed = measure(b, &limit, 2);
    b->limit = plain > streamed ? plain : streamed;
    for (size_t t = 0; t < sizeof names / sizeof *names; t++) {
        const dt__kernels *table = dt__kernels_named(names[t]);
        if (!table || (table == &dt__kernels_plain && (b->quick || bytes > PLAIN_BYTES)))
            continue;
        bench_copies(b, table, bytes);
        bench_reductions(b, table, bytes);
        bench_arrays(b, table, bytes);
    }
}

static bool allocate(bench *b) {
    b->dst = aligned_alloc(4096, MAX_BYTES);
    bool have_all = b->dst && memset(b->dst, 0, MAX_BYTES);
    for (int k = 0; k < MAX_SRCS; k++) {
        b->srcs[k] = aligned_alloc(4096, MAX_BYTES);
        have_all = have_all && b->srcs[k] && memset(b->srcs[k], k, MAX_BYTES);
    }
    return have_all;
}

/* A sum into new memory: ours, and as a program of a peer. */
typedef struct new_sum {
    dt_tensor *x;
    size_t mib;
    const char *peer, *ones; /* its module, and the format of the expression that makes x */
} new_sum;

enum { SUMS_PER_REPEAT = 3 };

static double repeat_ours(void *user) {
    const new_sum *sum = user;
    double best = 1e9;
    for (int i = 0; i < SUMS_PER_REPEAT; i++) {
        dt_scope scope = dt_scope_begin(dt_tensor_ctx(sum->x));
        double start = seconds();
        bool made = dt_add(sum->x, sum->x);
        double took = made ? seconds() - start : -1;
        best = took < best ? took : best;
        dt_scope_end(scope);
    }
    return best;
}

/* The fastest of a few, after one to start with; negative where there is no such module. */
static double repeat_peer(void *user) {
    const new_sum *sum = user;
    char command[512];
    snprintf(command, sizeof command,
             "python3 -c '\n"
             "import time, %s\n"
             "n = %zu\n"
             "x, best = %s, 1e30\n"
             "for i in range(%d):\n"
             "    start = time.perf_counter()\n"
             "    x + x\n"
             "    best = min(best, time.perf_counter() - start)\n"
             "print(best)' 2>/dev/null",
             sum->peer, sum->mib << 18, sum->ones, SUMS_PER_REPEAT + 1);
    FILE *peer = popen(command, "r");
    double took = -1;
    if (peer && fscanf(peer, "%lf", &took) != 1)
        took = -1;
    if (peer)
        pclose(peer);
    return took;
}

static void report_sum(const new_sum *sum, double ours, double theirs) {
    printf("%-10s %-5s %5d %6zu MiB  %-9s %6.1f ms", "new sum", "f32", 1, sum->mib, theirs > 0 ? sum->peer : "",
           ours * 1e3);
    if (theirs > 0)
        printf(" %6.1f ms %7.2f", theirs * 1e3, theirs / ours);
    printf("\n{\"bench\":\"kernels\",\"config\":{\"kernel\":\"add into new memory\",\"dtype\":\"f32\",\"mib\":%zu},"
           "\"ours\":%.4f,\"unit\":\"ms\"",
           sum->mib, ours * 1e3);
    if (theirs > 0)
        printf(",\"peer\":\"%s\",\"theirs\":%.4f,\"ratio\":%.3f", sum->peer, theirs * 1e3, theirs / ours);
    puts("}");
    fflush(stdout);
}

static void bench_new_sum(new_sum *sum, double budget) {
    static const char *const peers[][2] = {{"numpy", "numpy.ones(n, numpy.float32)"}, {"torch", "torch.ones(n)"}};
    bool is_reported = false;
    for (int p = 0; p < 2; p++) {
        double best[2] = {0};
        sum->peer = peers[p][0];
        sum->ones = peers[p][1];
        bool has_peer = repeat_peer(sum) > 0;
        if (!has_peer && is_reported)
            continue;
        (void)bench_settle_pair(budget, (bench_repeat *[]){repeat_ours, has_peer ? repeat_peer : repeat_ours},
                                (void *[]){sum, sum}, best);
        report_sum(sum, best[0], has_peer ? best[1] : 0);
        is_reported = true;
    }
}

static int bench_new_sums(dt_ctx *ctx, void *arg) {
    static const size_t mib[] = {64, 256, 960};
    for (size_t i = 0; i < sizeof mib / sizeof *mib; i++) {
        new_sum sum = {.x = dt_ones(ctx, DT_SHAPE((int64_t)mib[i] << 18)), .mib = mib[i]};
        if (!sum.x)
            return 1;
        bench_new_sum(&sum, *(const bool *)arg ? 0.03 : 0.2);
        dt_drop(sum.x);
    }
    return 0;
}

int main(int argc, char **argv) {
    bench b = {0};
    for (int i = 1; i < argc; i++) {
        b.quick |= !strcmp(argv[i], "--quick");
    }
    if (!allocate(&b)) {
        fprintf(stderr, "bench_kernels: no memory for %d buffers of %d bytes\n", MAX_SRCS + 1, MAX_BYTES);
        return 1;
    }
    printf("%-10s %-5s %5s %10s  %-9s %9s %9s %7s\n", "kernel", "dtype", "srcs", "bytes", "table", "GB/s", "limit",
           "ratio");
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        bench_size(&b, sizes[s]);
    free(b.dst);
    for (int k = 0; k < MAX_SRCS; k++)
        free(b.srcs[k]);
    fflush(stdout);
    return dt_spawn(1, bench_new_sums, &b.quick, NULL) != DT_OK;
}
