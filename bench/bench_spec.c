/* SPDX-License-Identifier: Apache-2.0
 *
 * The times of placements and specs: a request in text answered for all ranks of a small mesh, interning a spec that
 * exists, and queries about one rank. Each query is run on a mesh of 4 ranks and on one of 100,000; the large mesh is
 * measured against the small one, because its cost may not grow. Each figure is the fastest of many repeats, in
 * nanoseconds per call; a ratio above 1 is better than the peer.
 *
 *     bench_spec [--quick]
 */
#include "spec/spec.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { CALLS = 200 };

typedef struct work {
    dt_ctx *ctx;
    dt_mesh *mesh;
    dt_spec *spec, *other; /* other: what overlaps are taken with */
    dt_spec_desc desc;
    int64_t rank; /* changes with every call, so that branches are not predicted */
} work;

static volatile int64_t sink; /* keeps results alive */

static double now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double fastest_ns(bool quick, void (*run)(work *), work *w) {
    const double start = now_ns(), budget = quick ? 5e6 : 1e8;
    double best = 1e30;
    for (int repeat = 0; repeat < 3 || now_ns() - start < budget; repeat++) {
        double before = now_ns();
        for (int i = 0; i < CALLS; i++)
            run(w);
        double took = (now_ns() - before) / CALLS;
        best = took < best ? took : best;
    }
    return best;
}

static int64_t next_rank(work *w) {
    w->rank = (w->rank + 12347) % dt_mesh_size(w->mesh);
    return w->rank;
}

static void next_coordinate(work *w, int64_t *out) { dt_mesh_coordinate_of(w->mesh, next_rank(w), out); }

/* A complete request: text to placements, checks, and every rank's shape, offset and runs. */
static void answer_request(work *w) {
    const int64_t mesh[] = {2, 2}, shape[] = {10, 5};
    dt__arena arena = dt__arena_new(w->ctx);
    int n;
    dt_placement *placements;
    dt__sharding sharding;
    if (dt__placements_parse(&arena, "_S(0,2),S(0)", &n, &placements) == DT_OK &&
        dt__sharding_new(&arena, &(dt__sharding_desc){2, mesh, 2, shape, n, placements}, &sharding) == DT_OK)
        for (int64_t rank = 0; rank < 4; rank++)
            for (int d = 0; d < 2; d++) {
                dt__shard shard;
                dt__shard_at(&sharding, d, (int64_t[]){rank / 2, rank % 2}, &shard);
                sink += dt__shard_offset(&shard);
                for (int64_t i = 0; i < shard.size;) {
                    dt_run run = dt__shard_run(&shard, i);
                    i += run.end - run.begin;
                }
            }
    dt__arena_free(&arena);
}

static void intern_values(work *w) { dt_spec_release(dt_spec_new(w->mesh, &w->desc)); }

static void intern_text(work *w) {
    dt_spec_desc desc = w->desc;
    desc.n_placements = 0;
    desc.text = "S(0),S(1)";
    dt_spec_release(dt_spec_new(w->mesh, &desc));
}

static void make_new(work *w) {
    int64_t shape[] = {1 << 20, 4096 + 1};
    dt_spec_desc desc = w->desc;
    desc.shape = shape;
    dt_spec_release(dt_spec_new(w->mesh, &desc));
}

static void local_of(work *w) {
    dt_local local;
    dt_spec_local_of(w->spec, next_rank(w), &local);
    sink += local.offset[0];
}

static void index_there_and_back(work *w) {
    int64_t coordinate[DT_SPEC_MAX_DIMS], global[2], local[2];
    next_coordinate(w, coordinate);
    if (dt_spec_to_global(w->spec, coordinate, (int64_t[]){0, 0}, global) &&
        dt_spec_to_local(w->spec, coordinate, global, local))
        sink += local[0];
}

static void owners(work *w) {
    int64_t coordinate[DT_SPEC_MAX_DIMS];
    dt_spec_owners(w->spec, (int64_t[]){next_rank(w) % (1 << 20), 77}, coordinate);
    sink += coordinate[0];
}

static void overlap(work *w) {
    int64_t a[DT_SPEC_MAX_DIMS], b[DT_SPEC_MAX_DIMS];
    next_coordinate(w, a);
    next_coordinate(w, b);
    for (int d = 0; d < 2; d++) {
        dt__shard shard_a, shard_b;
        dt__shard_at(&w->spec->sharding, d, a, &shard_a);
        dt__shard_at(&w->other->sharding, d, b, &shard_b);
        sink += dt__overlap_size(&shard_a, &shard_b);
    }
}

static void report(const char *step, const char *placements, int64_t ranks, double ours, const char *peer,
                   double theirs) {
    printf("{\"bench\":\"spec\",\"config\":{\"step\":\"%s\",\"placements\":\"%s\",\"ranks\":%" PRId64 "},"
           "\"ours\":%.1f,\"unit\":\"ns\",\"peer\":\"%s\",\"theirs\":%.1f,\"ratio\":%.2f}\n",
           step, placements, ranks, ours, peer, theirs, theirs / ours);
    printf("%-14s %-15s %8" PRId64 " %9.1f  %-8s %9.1f %8.2f\n", step, placements, ranks, ours, peer, theirs,
           theirs / ours);
}

/* Costs that have a limit, on a small mesh. The limit of a request is 20,000 of them in a second. */
static const struct {
    const char *name, *placements;
    void (*run)(work *);
    double limit_ns;
} limited[] = {
    {"request", "_S(0,2),S(0)", answer_request, 50000},
    {"intern hit", "S(0),S(1)", intern_values, 500},
    {"text hit", "S(0),S(1)", intern_text, 2000},
    {"make and free", "S(0),S(1)", make_new, 5000},
};

static const struct {
    const char *name;
    void (*run)(work *);
} questions[] = {
    {"local of rank", local_of},
    {"index", index_there_and_back},
    {"owners", owners},
    {"overlap", overlap},
};

static const char *const layouts[] = {"S(0),S(1)", "S(0),S(0)", "S(0)[1],S(0)[0]", "_S(0,4),S(0)"};

static work prepare(const int64_t *mesh, const char *placements) {
    static const int64_t shape[] = {1 << 20, 4096};
    static const dt_placement values[] = {{.kind = DT_PLACEMENT_SHARD}, {.kind = DT_PLACEMENT_SHARD, .dim = 1}};
    work w = {.ctx = dt__ctx_new(NULL)};
    w.ctx->world = mesh[0] * mesh[1];
    w.mesh = dt_mesh_from_shape(w.ctx, mesh, 2, NULL);
    w.desc = (dt_spec_desc){.n_dims = 2, .shape = shape, .n_placements = 2, .placements = values};
    w.spec = dt_spec_new(w.mesh, &(dt_spec_desc){.n_dims = 2, .shape = shape, .text = placements});
    w.other = dt_spec_new(w.mesh, &w.desc);
    return w;
}

static int finish(work *w) {
    int failed = dt_report(w->ctx);
    dt__ctx_free(w->ctx);
    return failed;
}

int main(int argc, char **argv) {
    bool quick = false;
    int failed = 0;
    for (int i = 1; i < argc; i++) {
        quick |= !strcmp(argv[i], "--quick");
    }
    printf("%-14s %-15s %8s %9s  %-8s %9s %8s\n", "step", "placements", "ranks", "ns", "peer", "ns", "ratio");
    const int64_t small[] = {2, 2}, large[] = {250, 400};
    for (size_t i = 0; i < sizeof limited / sizeof *limited; i++) {
        work w = prepare(small, "S(0),S(1)");
        report(limited[i].name, limited[i].placements, 4, fastest_ns(quick, limited[i].run, &w), "limit",
               limited[i].limit_ns);
        failed |= finish(&w);
    }
    for (size_t l = 0; l < sizeof layouts / sizeof *layouts; l++)
        for (size_t i = 0; i < sizeof questions / sizeof *questions; i++) {
            work four = prepare(small, layouts[l]), many = prepare(large, layouts[l]);
            double theirs = fastest_ns(quick, questions[i].run, &four);
            report(questions[i].name, layouts[l], 100000, fastest_ns(quick, questions[i].run, &many), "4 ranks",
                   theirs);
            failed |= finish(&four) | finish(&many);
        }
    return failed;
}
