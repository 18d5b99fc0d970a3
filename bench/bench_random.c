/* SPDX-License-Identifier: Apache-2.0
 *
 * The time of a random fill, in nanoseconds per element on one thread, for each instruction set that the CPU has. For
 * normal f32 numbers NumPy's standard_normal runs in turn as the peer, if python3 has NumPy; the fill should be at
 * least as fast. Both fill memory that is allocated before; times are those of the fastest of many repeats.
 *
 *     bench_random [--quick]
 */
#include "random/random.h"
#include "settle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { N = 1 << 16, REPEATS = 300 }; /* short repeats: few of them are disturbed */
static const double few_s = 1e-3;    /* starting NumPy takes longer than its fills: batches of three repeats */

static const char *const names[] = {"plain", "baseline", "avx2", "avx512"};

static const struct {
    const char *word;
    dt__random what;
} fills[] = {
    {"normal", {DT__NORMAL, DT_F32, .std = 1}},
    {"normal", {DT__NORMAL, DT_F64, .std = 1}},
    {"normal", {DT__NORMAL, DT_BF16, .std = 1}},
    {"normal", {DT__NORMAL, DT_F16, .std = 1}},
    {"uniform", {DT__UNIFORM, DT_F32, .high = 1}},
    {"uniform", {DT__UNIFORM, DT_F64, .high = 1}},
    {"exponential", {DT__EXPONENTIAL, DT_F32, .rate = 1}},
    {"truncated_normal", {DT__TRUNCATED_NORMAL, DT_F32, .std = 1, .low = -2, .high = 2}},
    {"randint", {DT__RANDINT, DT_I32, .to = 1000}},
    {"bernoulli", {DT__BERNOULLI, DT_BOOL, .p = 0.5}},
    {"dropout", {DT__DROPOUT, DT_F32, .p = 0.1}},
};

static double now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double fastest_fill(const dt__draw *draw, int repeats, void *dst) {
    double best = 1e30;
    for (int i = 0; i < repeats; i++) {
        double start = now_ns();
        dt__draw_range(draw, 0, N, dst);
        double took = (now_ns() - start) / N;
        best = took < best ? took : best;
    }
    return best;
}

/* Nanoseconds per element of NumPy's fill; 0 where there is none. */
static double numpy_fill(int repeats) {
    char command[512];
    snprintf(command, sizeof command,
             "OMP_NUM_THREADS=1 python3 -c '\n"
             "import time, numpy\n"
             "g, x, best = numpy.random.default_rng(1), numpy.empty(%d, numpy.float32), 1e30\n"
             "for i in range(%d):\n"
             "    start = time.perf_counter_ns()\n"
             "    g.standard_normal(out=x, dtype=numpy.float32)\n"
             "    best = min(best, (time.perf_counter_ns() - start) / x.size)\n"
             "print(best)' 2>/dev/null",
             N, repeats);
    FILE *peer = popen(command, "r");
    double ns = 0;
    if (peer && fscanf(peer, "%lf", &ns) != 1)
        ns = 0;
    if (peer)
        pclose(peer);
    return ns;
}

static void report(const char *word, const dt__draw *draw, double ours, double theirs) {
    const char *dtype = dt_dtype_name(draw->dtype), *table = draw->kernels->name;
    printf("%-17s %-5s %-9s %10.3f", word, dtype, table, ours);
    if (theirs > 0)
        printf(" %10.3f %7.2f", theirs, theirs / ours);
    printf("\n{\"bench\":\"random\",\"config\":{\"fill\":\"%s\",\"dtype\":\"%s\",\"elements\":%d,\"kernels\":\"%s\"},"
           "\"ours\":%.4f,\"unit\":\"ns/element\"",
           word, dtype, N, table, ours);
    if (theirs > 0)
        printf(",\"peer\":\"numpy\",\"theirs\":%.4f,\"ratio\":%.3f", theirs, theirs / ours);
    puts("}");
    fflush(stdout);
}

struct fill {
    const dt__draw *draw;
    int repeats;
    void *dst;
};

static double repeat_ours(void *user) {
    const struct fill *fill = user;
    return fastest_fill(fill->draw, fill->repeats, fill->dst) * N / 1e9;
}

static double repeat_numpy(void *user) { return numpy_fill(((struct fill *)user)->repeats) * N / 1e9; }

/* Takes turns with the peer, so that both run under the same load; a repeat is the fastest of many fills. */
static void bench_beside_numpy(const dt__draw *draw, int repeats, void *dst) {
    struct fill fill = {draw, repeats, dst};
    double best[2] = {0};
    bool has_numpy = numpy_fill(1) > 0;
    if (!has_numpy)
        fprintf(stderr, "bench_random: python3 has no NumPy: the peer is left out\n");
    (void)bench_settle_pair(few_s, (bench_repeat *[]){repeat_ours, has_numpy ? repeat_numpy : repeat_ours},
                            (void *[]){&fill, &fill}, best);
    report("normal", draw, best[0] * 1e9 / N, has_numpy ? best[1] * 1e9 / N : 0);
}

int main(int argc, char **argv) {
    int repeats = REPEATS;
    for (int i = 1; i < argc; i++)
        repeats = strcmp(argv[i], "--quick") ? repeats : 30;
    dt_ctx *ctx = dt_init(NULL);
    dt_generator *generator = dt_generator_default(ctx);
    void *dst = calloc(N, 8);
    if (!generator || !dst)
        return 1;
    printf("%-17s %-5s %-9s %10s %10s %7s\n", "fill", "dtype", "table", "ns/element", "numpy", "ratio");
    for (size_t f = 0; f < sizeof fills / sizeof *fills; f++) {
        dt__draw draw;
        if (dt__draw_begin(generator, &fills[f].what, &draw) != DT_OK)
            break;
        if (f == 0)
            bench_beside_numpy(&draw, repeats, dst);
        for (size_t t = 0; t < sizeof names / sizeof *names; t++)
            if ((draw.kernels = dt__kernels_named(names[t])))
                report(fills[f].word, &draw, fastest_fill(&draw, repeats, dst), 0);
    }
    free(dst);
    return dt_close(ctx);
}
