/* SPDX-License-Identifier: Apache-2.0
 *
 * The cost of meshes: a mesh of many ranks is created, sliced, flattened and queried for this rank's groups, in total
 * and step by step. The limit in total is 100 µs at 1,000,000 ranks in 6 dims; nothing may grow with the ranks.
 *
 *     bench_mesh
 */
#include "mesh/mesh.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { REPEATS = 2000, LIMIT_US = 100 };

static double now_us(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static volatile int64_t sink; /* keeps results alive */

static void ask_groups(const dt_mesh *mesh) {
    dt__mesh_line line;
    for (int dim = 0; dt__mesh_line_of(mesh, dim, &line); dim++)
        sink += line.first + line.size;
}

struct job {
    dt_ctx *ctx;
    const char *text, *names; /* the mesh, and the dims to slice */
    dt_mesh *mesh, *slice;    /* ready for the single steps */
};

static void all_in_all(struct job *job) {
    dt_mesh *mesh = dt_mesh_new(job->ctx, job->text), *slice = dt_mesh_slice(mesh, job->names);
    dt_mesh *flat = dt_mesh_flatten(slice, NULL);
    ask_groups(mesh);
    ask_groups(slice);
    ask_groups(flat);
    dt_mesh_release(flat);
    dt_mesh_release(slice);
    dt_mesh_release(mesh);
}

static void make(struct job *job) { dt_mesh_release(dt_mesh_new(job->ctx, job->text)); }
static void slice(struct job *job) { dt_mesh_release(dt_mesh_slice(job->mesh, job->names)); }
static void flatten(struct job *job) { dt_mesh_release(dt_mesh_flatten(job->slice, NULL)); }
static void groups(struct job *job) { ask_groups(job->mesh); }

static const struct {
    const char *name;
    void (*run)(struct job *);
} steps[] = {{"all", all_in_all}, {"make", make}, {"slice", slice}, {"flatten", flatten}, {"groups", groups}};

static double fastest_us(void (*run)(struct job *), struct job *job) {
    double best = 1e30;
    for (int i = 0; i < REPEATS; i++) {
        double start = now_us();
        run(job);
        double took = now_us() - start;
        best = took < best ? took : best;
    }
    return best;
}

/* The limit is for the total; single steps are in the table only. */
static void report(bool whole, const char *step, const dt_mesh *mesh, double us) {
    long long ranks = dt_mesh_size(mesh);
    int dims = dt_mesh_n_dims(mesh);
    if (whole)
        printf("{\"bench\":\"mesh\",\"config\":{\"step\":\"%s\",\"ranks\":%lld,\"dims\":%d},\"ours\":%.3f,"
               "\"unit\":\"us\",\"peer\":\"limit\",\"theirs\":%d,\"ratio\":%.1f}\n",
               step, ranks, dims, us, LIMIT_US, LIMIT_US / us);
    if (whole)
        printf("%-8s %9lld %5d %9.3f %9d %8.1f\n", step, ranks, dims, us, LIMIT_US, LIMIT_US / us);
    else
        printf("%-8s %9lld %5d %9.3f\n", step, ranks, dims, us);
}

static int measure(const char *text, const char *names) {
    dt_ctx *ctx = dt__ctx_new(NULL);
    ctx->world = 1000000;
    ctx->rank = 7;
    struct job job = {.ctx = ctx, .text = text, .names = names, .mesh = dt_mesh_new(ctx, text)};
    job.slice = dt_mesh_slice(job.mesh, names);
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        report(i == 0, steps[i].name, job.mesh, fastest_us(steps[i].run, &job));
    int failed = dt_report(ctx);
    dt__ctx_free(ctx);
    return failed;
}

int main(void) {
    printf("%-8s %9s %5s %9s %9s %8s\n", "step", "ranks", "dims", "us", "limit us", "ratio");
    return measure("a=2,b=2,c=2", "a,c") | measure("a=10,b=10,c=10,d=10,e=10,f=10", "a,c,e");
}
