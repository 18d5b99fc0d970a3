/* SPDX-License-Identifier: Apache-2.0
 *
 * The time of the first propagation of a call, uncached: from parsed placements to the selected ones, shapes
 * and rows included. Seeded random placements of all inputs on meshes of 1 to 4 dims, which is harder than in programs,
 * of two sets of calls: some with sizes as programs have them, and 1,000 drawn over all ops of the table from their
 * samples, which have the odd sizes that verification needs. Of each call the fastest of several repeats counts; of
 * each mesh the median over all calls and the slowest call are shown, and how often a limit of the search was reached.
 * Times are of the CPU, so that other programs do not count.
 * Limits: a median of 20 us on up to 3 mesh dims, of 100 us on 4, and 5,000 us for the slowest.
 *
 *     bench_rules [--quick] [--json]
 */
#include "ops/ops.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct bench_mesh {
    const char *name;
    int n_mesh_dims;
    int64_t mesh[4];
    double limit_us;
} bench_mesh;

static const bench_mesh meshes[] = {
    {"8", 1, {8}, 20},
    {"4x8", 2, {4, 8}, 20},
    {"2x4x8", 3, {2, 4, 8}, 20},
    {"2x2x4x4", 4, {2, 2, 4, 4}, 100},
};

static const char *const calls[] = {
    "add(f32[1024,512,64]; f32[512,64])",
    "mul(f32[1024,512,64]; f32[1024,512,64])",
    "gelu(f32[1024,512,64])",
    "where(bool[1024,512]; f32[1024,512]; f32[1024,512])",
    "sum(f32[1024,512,64]; [1])",
    "mean(f32[1024,512,64])",
    "amax(f32[1024,512]; [0])",
    "cumsum(f32[1024,512]; 0)",
    "matmul(f32[64,512,256]; f32[256,1024])",
    "matmul(f32[64,512,256]; f32[64,256,512])",
    "mm(f32[1024,512]; f32[512,2048])",
    "addmm(f32[2048]; f32[1024,512]; f32[512,2048])",
    "linear(f32[64,512,256]; f32[1024,256]; f32[1024])",
    "view(f32[64,512,256]; [64,512,16,16])",
    "reshape(f32[64,512,256]; [32768,256])",
    "transpose(f32[64,512,256]; 1; 2)",
    "cat({f32[1024,512]; f32[1024,512]; f32[1024,512]}; 1)",
    "split(f32[1024,512]; 256)",
    "softmax(f32[64,512,256]; -1)",
    "layer_norm(f32[64,512,256]; [256]; f32[256]; f32[256])",
    "embedding(i64[64,512]; f32[32768,256])",
    "gather(f32[1024,512]; 1; i64[1024,16])",
    "index_select(f32[1024,512]; 0; i64[256])",
    "dropout(f32[64,512,256]; 0.1)",
};
enum { N_CALLS = sizeof calls / sizeof *calls, N_DRAWS = 64, N_DRAWN = 1000, MAX_TIMES = N_CALLS * N_DRAWS };
static const double slowest_limit_us = 5000;

static uint64_t seed;

static int below(int n) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (int)((seed >> 33) % (uint64_t)n);
}

static double now_us(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

/* Plain shards, Replicate and, on floating-point tensors, partial sums. */
static dt_status scatter(dt__arena *arena, dt__placed_call *made) {
    const dt__sharding **inputs = DT__NEW_ARRAY(arena, const dt__sharding *, made->call.n_inputs);
    if (!inputs)
        return DT_ERR_MEMORY;
    for (int i = 0; i < made->call.n_inputs; i++) {
        const dt_op_value *value = &made->call.inputs[i];
        dt_placement placements[4];
        for (int m = 0; m < made->n_mesh_dims; m++) {
            int dice = below(value->n_dims + 2);
            placements[m] = dice < value->n_dims ? dt_placement_shard(dice) : dt_placement_replicate();
            if (dice == value->n_dims + 1 && value->dtype == DT_F32)
                placements[m] = dt_placement_partial(DT_SUM);
        }
        dt__sharding *placed = DT__NEW(arena, dt__sharding);
        dt__sharding_desc desc = {made->n_mesh_dims, made->mesh,        value->n_dims,
                                  value->shape,      made->n_mesh_dims, placements};
        if (!placed)
            return DT_ERR_MEMORY;
        DT__TRY(dt__sharding_new(arena, &desc, placed));
        inputs[i] = placed;
    }
    made->inputs = inputs;
    return DT_OK;
}

/* Fastest of the repeats; negative after an error. An op in place may be refused, which takes a search, too. */
static double propagate_us(dt_ctx *ctx, const dt__placed_call *made, int repeats) {
    double best = 1e30;
    for (int i = 0; i < repeats; i++) {
        dt__arena arena = dt__arena_new(ctx);
        dt_op_call call = made->call;
        dt__candidate choice;
        dt__placed_inputs on = {made->n_mesh_dims, made->mesh, made->inputs, &dt__machine_builtin};
        double before = now_us();
        dt_status status = dt__op_call_infer(&arena, &call);
        if (status == DT_OK)
            status = dt__select_placements(&arena, &call, &on, &choice);
        double took = now_us() - before;
        dt__arena_free(&arena);
        if (status == DT_ERR_PLACEMENT)
            dt_error_clear(ctx);
        else if (status != DT_OK)
            return -1;
        best = took < best ? took : best;
    }
    return best;
}

static int by_time(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The calls of one mesh while they are measured. */
typedef struct measurement {
    dt_ctx *ctx;
    const bench_mesh *on;
    int n;
    double times[MAX_TIMES], slowest;
    char slow[512]; /* the slowest call */
} measurement;

static void add_placements(const dt__placed_call *made, size_t capacity, char *out) {
    for (int i = 0; i < made->call.n_inputs; i++) {
        char text[128];
        size_t n = strlen(out);
        dt_placements_text(made->n_mesh_dims, made->inputs[i]->placements, sizeof text, text);
        snprintf(out + n, capacity - n, "%s%s", i ? "; " : " with ", text);
    }
}

/* Measures a call with random placements; calls without tensors do not count. */
static bool measure_call(measurement *self, const char *text) {
    dt__arena arena = dt__arena_new(self->ctx);
    dt__placed_call made;
    double us = -1;
    if (dt__placed_call_parse(&arena, text, self->on->n_mesh_dims, self->on->mesh, &made) == DT_OK &&
        scatter(&arena, &made) == DT_OK)
        us = propagate_us(self->ctx, &made, 3);
    if (us >= 0 && made.call.n_inputs)
        self->times[self->n++] = us;
    if (us > self->slowest) {
        self->slowest = us;
        snprintf(self->slow, sizeof self->slow, "%.200s", text);
        add_placements(&made, sizeof self->slow, self->slow);
    }
    dt__arena_free(&arena);
    return us >= 0;
}

static bool measure_programs(measurement *self, bool quick) {
    for (int c = 0; c < N_CALLS; c++)
        for (int draw = 0; draw < (quick ? 4 : N_DRAWS); draw++)
            if (!measure_call(self, calls[c]))
                return false;
    return true;
}

/* Writes a random one of the lines. */
static void draw_line(const char *lines, size_t capacity, char *out) {
    int n = 1;
    for (const char *at = lines; (at = strchr(at, '\n')); at++)
        n++;
    for (int skip = below(n); skip > 0; skip--)
        lines = strchr(lines, '\n') + 1;
    snprintf(out, capacity, "%.*s", (int)strcspn(lines, "\n"), lines);
}

/* A random sample of a random op. */
static bool measure_samples(measurement *self, bool quick) {
    for (int tries = 0; self->n < (quick ? 50 : N_DRAWN) && tries < 2 * N_DRAWN; tries++) {
        const dt__op_info *info = dt__op_at(self->ctx, below(dt__op_count(self->ctx)));
        char sample[1024];
        if (!info)
            return false;
        if (!info->op->samples || !info->op->kernel || info->list)
            continue;
        draw_line(info->op->samples, sizeof sample, sample);
        if (!measure_call(self, sample))
            return false;
    }
    return true;
}

static const struct {
    const char *name;
    bool (*measure)(measurement *self, bool quick);
} sets[] = {{"programs", measure_programs}, {"all ops", measure_samples}};

static void print(measurement *self, const char *set, bool json) {
    qsort(self->times, (size_t)self->n, sizeof *self->times, by_time);
    double median = self->times[self->n / 2], limit = self->on->limit_us;
    int64_t capped = self->ctx->n_capped;
    if (json)
        printf("{\"bench\":\"rules\",\"calls\":\"%s\",\"mesh\":\"%s\",\"n\":%d,\"median_us\":%.3f,"
               "\"slowest_us\":%.3f,\"limit_us\":%g,\"slowest_limit_us\":%g,\"capped\":%" PRId64 ",\"ratio\":%.2f}\n",
               set, self->on->name, self->n, median, self->slowest, limit, slowest_limit_us, capped, limit / median);
    else
        printf("%-9s %-8s %5d %10.2f %6.0f %11.2f %6.0f %7" PRId64 "  %s\n", set, self->on->name, self->n, median,
               limit, self->slowest, slowest_limit_us, capped, self->slow);
}

static bool measure(const bench_mesh *on, size_t set, bool quick, bool json) {
    static measurement self;
    self = (measurement){.ctx = dt__ctx_new(NULL), .on = on};
    bool fine = self.ctx && dt__ops_open(self.ctx) == DT_OK;
    seed = 7;
    fine = fine && sets[set].measure(&self, quick);
    if (fine)
        print(&self, sets[set].name, json);
    else
        fprintf(stderr, "bench_rules: %s\n", self.ctx ? dt_error_text(self.ctx) : "no memory");
    dt__ctx_free(self.ctx);
    return fine;
}

int main(int argc, char **argv) {
    bool quick = false, json = false;
    for (int i = 1; i < argc; i++) {
        quick |= !strcmp(argv[i], "--quick");
        json |= !strcmp(argv[i], "--json");
    }
    if (!json)
        printf("%-9s %-8s %5s %10s %6s %11s %6s %7s  %s\n", "calls", "mesh", "n", "median us", "limit", "slowest us",
               "limit", "capped", "slowest call");
    for (size_t set = 0; set < sizeof sets / sizeof *sets; set++)
        for (size_t i = 0; i < sizeof meshes / sizeof *meshes; i++)
            if (!measure(&meshes[i], set, quick, json))
                return 1;
    return 0;
}
