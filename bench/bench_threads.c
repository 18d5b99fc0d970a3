/* SPDX-License-Identifier: Apache-2.0
 *
 * The speed-up by threads of a rank: large moves and makers on one rank that has one thread, and on one that has as
 * many as there are cores (or as requested), in turn. Times are those of the fastest of many repeats. Results are
 * written to memory that is allocated before, except for makers, which reuse memory of the heap.
 *
 *     bench_threads [--quick] [--threads N] [--size N]
 */
#include "dtensor/dtensor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { REPEATS = 300, QUICK = 30 };

static int64_t size = 2048; /* rows and columns */

/* One rank. */
struct rank {
    dt_ctx *ctx;
    dt_mesh *mesh;
    dt_tensor *src, *turned; /* f32[size,size], whole and as a transposed view */
    void *foreign;           /* the same outside the heap */
};

static dt_tensor *move(struct rank *r) { return dt_redistribute(r->src, "S(0)"); }
static dt_tensor *move_turned(struct rank *r) { return dt_redistribute(r->turned, "S(0)"); }
static dt_tensor *take_in(struct rank *r) { return dt_from_memory(r->ctx, r->foreign, DT_SHAPE(size, size), DT_F32); }
static dt_tensor *copy(struct rank *r) { return dt_clone(r->src); }
static dt_tensor *zeros(struct rank *r) { return dt_zeros(r->ctx, DT_SHAPE(size, size)); }
static dt_tensor *full(struct rank *r) { return dt_full(r->ctx, DT_SHAPE(size, size), 3); }
static dt_tensor *arange(struct rank *r) { return dt_arange(r->ctx, 0, (double)(size * size), 1); }
static dt_tensor *linspace(struct rank *r) { return dt_linspace(r->ctx, 0, 1, size * size); }
static dt_tensor *eye(struct rank *r) { return dt_eye(r->ctx, size, size); }
static dt_tensor *tri(struct rank *r) { return dt_tri(r->ctx, size, size, 0); }

static const struct {
    const char *word;
    dt_tensor *(*run)(struct rank *rank);
} jobs[] = {
    {"redistribute R to S(0)", move},
    {"redistribute, transposed", move_turned},
    {"from_memory", take_in},
    {"clone", copy},
    {"zeros", zeros},
    {"full", full},
    {"arange", arange},
    {"linspace", linspace},
    {"eye", eye},
    {"tri", tri},
};

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static bool open_rank(struct rank *r, int n_threads) {
    r->ctx = dt_init(&(dt_init_options){.threads = n_threads});
    if (!r->ctx)
        return false;
    r->mesh = dt_mesh_new(r->ctx, "1");
    r->src = dt_full(r->ctx, DT_SHAPE(size, size), 1, .mesh = r->mesh, .place = "R");
    r->turned = dt_transpose(dt_full_like(r->src, 2), 0, 1);
    r->foreign = calloc((size_t)(size * size), sizeof(float));
    return r->turned && r->foreign;
}

static int close_rank(struct rank *r) {
    free(r->foreign);
    dt_mesh_release(r->mesh);
    return dt_close(r->ctx);
}

/* Seconds of one run, or of the fastest so far. */
static double faster(struct rank *rank, dt_tensor *(*run)(struct rank *rank), double best) {
    double start = now();
    dt_tensor *result = run(rank);
    double took = now() - start;
    if (!result) {
        fprintf(stderr, "bench_threads: %s\n", dt_error_text(rank->ctx));
        exit(1);
    }
    dt_drop(result);
    return took < best ? took : best;
}

int main(int argc, char **argv) {
    int repeats = REPEATS, n_threads = 0;
    struct rank one, many;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--quick"))
            repeats = QUICK;
        else if (!strcmp(argv[i], "--threads") && i + 1 < argc)
            n_threads = atoi(argv[++i]);
        else if (!strcmp(argv[i], "--size") && i + 1 < argc)
            size = atoi(argv[++i]);
        else
            return fprintf(stderr, "usage: bench_threads [--quick] [--threads N] [--size N]\n"), 2;
    }
    if (!open_rank(&one, 1) || !open_rank(&many, n_threads))
        return 1;
    n_threads = dt_threads(many.ctx);
    printf("%-26s %10s %7d threads %7s   f32[%lld,%lld]\n", "", "1 thread", n_threads, "ratio", (long long)size,
           (long long)size);
    for (size_t j = 0; j < sizeof jobs / sizeof *jobs; j++) {
        double alone = 1e9, together = 1e9;
        for (int i = 0; i < repeats; i++) {
            alone = faster(&one, jobs[j].run, alone);
            together = faster(&many, jobs[j].run, together);
        }
        printf("%-26s %7.2f ms %12.2f ms %7.2f\n", jobs[j].word, 1e3 * alone, 1e3 * together, alone / together);
        printf("{\"bench\":\"threads\",\"config\":{\"job\":\"%s\",\"elements\":%lld,\"threads\":%d},\"ours\":%.4f,"
               "\"unit\":\"ms\",\"peer\":\"one thread\",\"theirs\":%.4f,\"ratio\":%.3f}\n",
               jobs[j].word, (long long)(size * size), n_threads, 1e3 * together, 1e3 * alone, alone / together);
        fflush(stdout);
    }
    return close_rank(&one) | close_rank(&many);
}
