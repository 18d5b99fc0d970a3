/* SPDX-License-Identifier: Apache-2.0
 *
 * Speed of linear algebra on plain tensors of f32, with .f64 or .c64 in the name of that dtype: one matrix of 256 or
 * 1024 rows, and batches of small ones.
 * torch_linalg_peer.py measures the same calls with PyTorch and NumPy in turn: with --serve a line NAME N on the
 * standard input runs a call N times, and the seconds are printed in one line.
 *
 *     bench_linalg [--threads N] [--serve | --list]
 */
#include "dtensor/dtensor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static dt_ctx *ctx;

/* Hermitian positive definite matrices, and right sides. */
typedef struct batch {
    int64_t n_matrices, n; /* n_matrices: 0 for one matrix */
    dt_tensor *a, *b, *a64, *complex_a, *complex_b;
} batch;
static batch batches[] = {{.n = 256}, {.n = 1024}, {.n_matrices = 10000, .n = 8}, {.n_matrices = 1000, .n = 32}};
enum { N_BATCHES = sizeof batches / sizeof *batches };

typedef dt_tensor *run_fn(const batch *of);
static dt_tensor *run_cholesky(const batch *of) { return dt_linalg_cholesky(of->a); }
static dt_tensor *run_lu(const batch *of) { return dt_linalg_lu_factor(of->a).LU; }
static dt_tensor *run_qr(const batch *of) { return dt_linalg_qr(of->a).Q; }
static dt_tensor *run_solve(const batch *of) { return dt_linalg_solve(of->a, of->b); }
static dt_tensor *run_inv(const batch *of) { return dt_linalg_inv(of->a); }
static dt_tensor *run_eigh(const batch *of) { return dt_linalg_eigh(of->a).eigenvectors; }
static dt_tensor *run_svd(const batch *of) { return dt_linalg_svd(of->a, .full_matrices = DT_FALSE).U; }
static dt_tensor *run_svdvals(const batch *of) { return dt_linalg_svdvals(of->a64); }
static dt_tensor *run_norm_2(const batch *of) { return dt_linalg_matrix_norm(of->a64, 2); }
static dt_tensor *run_complex_cholesky(const batch *of) { return dt_linalg_cholesky(of->complex_a); }
static dt_tensor *run_complex_solve(const batch *of) { return dt_linalg_solve(of->complex_a, of->complex_b); }
static dt_tensor *run_complex_eigh(const batch *of) { return dt_linalg_eigh(of->complex_a).eigenvectors; }

static const struct {
    const char *name;
    run_fn *run;
    bool of_one, of_many; /* measured on one matrix, on batches */
} calls[] = {
    {"cholesky", run_cholesky, true, true},
    {"lu", run_lu, true, false},
    {"qr", run_qr, true, false},
    {"solve", run_solve, true, true},
    {"inv", run_inv, false, true},
    {"eigh", run_eigh, true, true},
    {"svd", run_svd, true, true},
    {"svdvals.f64", run_svdvals, true, false},
    {"norm2.f64", run_norm_2, true, false},
    {"cholesky.c64", run_complex_cholesky, false, true},
    {"solve.c64", run_complex_solve, false, true},
    {"eigh.c64", run_complex_eigh, false, true},
};
enum { N_CALLS = sizeof calls / sizeof *calls };

/* X Xᴴ + n. */
static dt_tensor *definite(dt_tensor *x, int64_t n) {
    dt_tensor *one = dt_diag_embed(dt_ones(ctx, DT_SHAPE(n)));
    return dt_add(dt_matmul(x, dt_conj(dt_transpose(x, -2, -1))), dt_mul_scalar(one, (double)n));
}

static void make_batch(batch *of) {
    const int64_t count = of->n_matrices ? of->n_matrices : 1, n = of->n;
    of->a = definite(dt_randn(ctx, DT_SHAPE(count, n, n)), n);
    of->b = dt_randn(ctx, DT_SHAPE(count, n, 1));
    if (!of->n_matrices) {
        of->a = dt_reshape(of->a, DT_SHAPE(n, n));
        of->b = dt_reshape(of->b, DT_SHAPE(n, 1));
    }
    of->a64 = dt_to(of->a, DT_F64);
    of->complex_a = definite(dt_view_as_complex(dt_randn(ctx, DT_SHAPE(count, n, n, 2))), n);
    of->complex_b = dt_view_as_complex(dt_randn(ctx, DT_SHAPE(count, n, 1, 2)));
}

/* cholesky_256, or cholesky_10000x8 */
static void write_name(int call, const batch *of, size_t capacity, char *out) {
    if (of->n_matrices)
        snprintf(out, capacity, "%s_%lldx%lld", calls[call].name, (long long)of->n_matrices, (long long)of->n);
    else
        snprintf(out, capacity, "%s_%lld", calls[call].name, (long long)of->n);
}

static double seconds_of(run_fn *run, const batch *of) {
    struct timespec begin, end;
    dt_scope scope = dt_scope_begin(ctx);
    clock_gettime(CLOCK_MONOTONIC, &begin);
    bool made = run(of) != NULL;
    clock_gettime(CLOCK_MONOTONIC, &end);
    dt_scope_end(scope);
    if (!made) {
        fprintf(stderr, "bench_linalg: %s\n", dt_error_text(ctx));
        exit(1);
    }
    return (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
}

typedef void visit_fn(int call, const batch *of, const char *name, void *arg);
static void for_each(visit_fn *visit, void *arg) {
    for (int b = 0; b < N_BATCHES; b++)
        for (int c = 0; c < N_CALLS; c++)
            if (batches[b].n_matrices ? calls[c].of_many : calls[c].of_one) {
                char name[64];
                write_name(c, &batches[b], sizeof name, name);
                visit(c, &batches[b], name, arg);
            }
}

typedef struct request {
    char name[64];
    int n;
} request;

static void list(int call, const batch *of, const char *name, void *arg) {
    (void)call, (void)of, (void)arg;
    puts(name);
}

static void serve(int call, const batch *of, const char *name, void *arg) {
    const request *asked = arg;
    for (int i = 0; !strcmp(name, asked->name) && i < asked->n; i++)
        printf("%.9f%c", seconds_of(calls[call].run, of), i + 1 < asked->n ? ' ' : '\n');
}

static void show(int call, const batch *of, const char *name, void *arg) {
    double best = seconds_of(calls[call].run, of);
    (void)arg;
    for (int i = 0; i < 5; i++) {
        const double seconds = seconds_of(calls[call].run, of);
        best = seconds < best ? seconds : best;
    }
    printf("%-20s %9.3f\n", name, best * 1e3);
}

int main(int argc, char **argv) {
    bool serves = false;
    int threads = 1;
    for (int i = 1; i < argc; i++) {
        serves = serves || !strcmp(argv[i], "--serve");
        if (!strcmp(argv[i], "--threads") && i + 1 < argc)
            threads = atoi(argv[++i]);
        if (!strcmp(argv[i], "--list")) {
            for_each(list, NULL);
            return 0;
        }
    }
    ctx = dt_init(&(dt_init_options){.threads = threads});
    if (!ctx)
        return 1;
    for (int b = 0; b < N_BATCHES; b++)
        make_batch(&batches[b]);
    if (!serves) {
        printf("%-20s %9s\n", "f32", "ms");
        for_each(show, NULL);
    }
    for (request asked; serves && scanf("%63s %d", asked.name, &asked.n) == 2; fflush(stdout))
        for_each(serve, &asked);
    return dt_close(ctx);
}
