/* SPDX-License-Identifier: Apache-2.0
 *
 * The demo: ranks introduce themselves, pass a ball around, check every collective against arithmetic that each rank
 * does alone, and measure how fast they talk beside how fast this machine's memory is.
 *
 *     dtrun -n 4 demo
 */
#define _GNU_SOURCE
#include <dtensor/comm.h>

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { N = 1000, BALL_TURNS = 3 };

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* What rank r puts in at place i: small whole numbers, so that sums are exact. */
static float put_in(int64_t r, int64_t i) { return (float)((r * 7 + i * 3) % 11); }

static void introduce(dt_ctx *ctx, dt_group *world) {
    int64_t n = dt_world(ctx);
    struct me {
        int64_t pid, core, threads;
    } me = {getpid(), sched_getcpu(), dt_threads(ctx)}, *all = malloc((size_t)n * sizeof *all);
    dt_comm_gather(world, &me, all, 3, DT_I64, 0);
    for (int64_t r = 0; dt_rank(ctx) == 0 && r < n; r++)
        printf("  rank %lld   process %-8lld core %-3lld threads %lld\n", (long long)r, (long long)all[r].pid,
               (long long)all[r].core, (long long)all[r].threads);
    free(all);
}

/* The ball collects the number of every rank it passes; after a few turns rank 0 knows what it must say. */
static int pass_ball(dt_ctx *ctx, dt_group *world) {
    int64_t n = dt_world(ctx), me = dt_rank(ctx), ball = 0, next = (me + 1) % n, before = (me + n - 1) % n;
    double start = now();
    for (int turn = 0; turn < BALL_TURNS; turn++) {
        if (me != 0)
            dt_comm_recv(world, &ball, 1, DT_I64, before);
        ball += me + 1;
        dt_comm_send(world, &ball, 1, DT_I64, next);
        if (me == 0)
            dt_comm_recv(world, &ball, 1, DT_I64, before);
    }
    double hop = (now() - start) / (double)(BALL_TURNS * n) * 1e6;
    int64_t want = BALL_TURNS * n * (n + 1) / 2;
    if (me == 0) {
        printf("\n  ");
        for (int64_t r = 0; r < n; r++)
            printf("(%lld)-->", (long long)r);
        printf("(0)   %d turns, the ball says %lld, %lld is right, %.1f us a throw\n", BALL_TURNS, (long long)ball,
               (long long)want, hop);
    }
    return me == 0 && ball != want;
}

struct buffers {
    float *src, *dst;
    int64_t n, me;
};

static float sum_over_ranks(const struct buffers *b, int64_t i) {
    float sum = 0;
    for (int64_t r = 0; r < b->n; r++)
        sum += put_in(r, i);
    return sum;
}

/* One function per collective: what element i of the result must be. */
static float want_all_reduce(const struct buffers *b, int64_t i) { return sum_over_ranks(b, i); }
static float want_reduce_scatter(const struct buffers *b, int64_t i) { return sum_over_ranks(b, b->me * N + i); }
static float want_all_gather(const struct buffers *b, int64_t i) {
    (void)b;
    return put_in(i / N, i % N);
}
static float want_all_to_all(const struct buffers *b, int64_t i) { return put_in(i / N, b->me * N + i % N); }
static float want_broadcast(const struct buffers *b, int64_t i) { return put_in(b->n - 1, i); }
static float want_scatter(const struct buffers *b, int64_t i) { return put_in(0, b->me * N + i); }

static const struct {
    dt_collective op;
    float (*want)(const struct buffers *b, int64_t i);
    bool all;  /* the result has a block of every rank */
    bool last; /* the root is the last rank */
    const char *says;
} shown[] = {
    {DT_ALL_REDUCE, want_all_reduce, false, false, "everybody has the sum"},
    {DT_REDUCE_SCATTER, want_reduce_scatter, false, false, "everybody has a part of the sum"},
    {DT_ALL_GATHER, want_all_gather, true, false, "everybody has what all had"},
    {DT_ALL_TO_ALL, want_all_to_all, true, false, "everybody has a piece of each"},
    {DT_BROADCAST, want_broadcast, false, true, "everybody has what the last one had"},
    {DT_SCATTER, want_scatter, false, false, "everybody has a piece of what the first one had"},
};
enum { N_SHOWN = sizeof shown / sizeof *shown };

static dt_call call_of(int k, const struct buffers *b, int64_t count) {
    return (dt_call){.op = shown[k].op,
                     .dtype = DT_F32,
                     .reduce = DT_SUM,
                     .src = b->src,
                     .dst = b->dst,
                     .count = count,
                     .root = shown[k].last ? b->n - 1 : 0};
}

static int check_collectives(dt_ctx *ctx, dt_group *world, const struct buffers *b) {
    int wrong_here = 0;
    for (int64_t i = 0; i < b->n * N; i++)
        b->src[i] = put_in(b->me, i);
    for (int k = 0; k < N_SHOWN; k++) {
        dt_call call = call_of(k, b, N);
        int64_t wrong = dt_comm_run(world, &call) != DT_OK, any = 0;
        for (int64_t i = 0; i < (shown[k].all ? b->n * N : N); i++)
            wrong += b->dst[i] != shown[k].want(b, i);
        dt_comm_all_reduce(world, &wrong, &any, 1, DT_I64, DT_SUM);
        if (dt_rank(ctx) == 0)
            printf("  %-15s %s  %s\n", dt_collective_word(shown[k].op), any ? "WRONG" : "ok   ", shown[k].says);
        wrong_here += any != 0;
    }
    return wrong_here;
}

/* The fastest of several repeats, in seconds; a repeat takes as long as its slowest rank. */
static double measure(dt_group *world, const dt_call *call, int repeats) {
    double best = 1e9;
    for (int r = 0; r < repeats; r++) {
        dt_comm_barrier(world);
        double took = now(), slowest;
        dt_comm_run(world, call);
        took = now() - took;
        dt_comm_all_reduce(world, &took, &slowest, 1, DT_F64, DT_MAX);
        best = slowest < best ? slowest : best;
    }
    return best;
}

static double copy_bandwidth(const struct buffers *b, size_t bytes) {
    double best = 1e9;
    for (int r = 0; r < 5; r++) {
        double took = now();
        memcpy(b->dst, b->src, bytes);
        took = now() - took;
        best = took < best ? took : best;
    }
    return (double)bytes / best * 1e-9;
}

static void show_speed(dt_ctx *ctx, dt_group *world, const struct buffers *b, size_t large) {
    double copy = dt_rank(ctx) == 0 ? copy_bandwidth(b, large) : 0;
    if (dt_rank(ctx) == 0)
        printf("\n  %-15s %12s %14s\n", "", "8 bytes", "16 MiB");
    for (int k = 0; k < N_SHOWN - 1; k++) {
        bool blocks = shown[k].all || shown[k].op == DT_REDUCE_SCATTER;
        dt_call small = call_of(k, b, 2), big = call_of(k, b, (int64_t)(large / 4) / (blocks ? b->n : 1));
        double latency = measure(world, &small, 300), time = measure(world, &big, 8);
        if (dt_rank(ctx) == 0)
            printf("  %-15s %9.2f us %9.2f GB/s\n", dt_collective_word(shown[k].op), latency * 1e6,
                   (double)large / time * 1e-9);
    }
    if (dt_rank(ctx) == 0)
        printf("  %-15s %12s %9.2f GB/s   one core, this machine's memory\n", "memcpy", "", copy);
}

int main(void) {
    dt_ctx *ctx = dt_init(NULL);
    if (!ctx)
        return 1;
    dt_group *world = dt_group_world(ctx);
    size_t large = 16 << 20;
    struct buffers b = {dt_heap_alloc(ctx, large), dt_heap_alloc(ctx, large), dt_world(ctx), dt_rank(ctx)};
    if (!b.src || !b.dst)
        return dt_close(ctx);
    memset(b.src, 0, large);
    memset(b.dst, 0, large);
    if (dt_rank(ctx) == 0)
        printf("dtensor %s: %lld ranks\n\n", dt_version_text(), (long long)dt_world(ctx));
    introduce(ctx, world);
    int wrong = pass_ball(ctx, world);
    if (dt_rank(ctx) == 0)
        printf("\n  collectives of %d numbers, each checked against arithmetic done alone:\n", N);
    wrong += check_collectives(ctx, world, &b);
    show_speed(ctx, world, &b, large);
    if (dt_rank(ctx) == 0)
        printf("\n%s\n", wrong ? "Something is WRONG." : "All right.");
    return dt_close(ctx) || wrong;
}
