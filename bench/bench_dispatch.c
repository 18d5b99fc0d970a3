/* SPDX-License-Identifier: Apache-2.0
 *
 * The time of a call of an op besides its arithmetic: each op on [4,4] tensors, once plain and once distributed, with
 * its decision in the cache. The difference is the overhead of distribution; limits are 100 ns for it, and 150 ns for
 * a plain call. Then the same distributed call on tensors that require a gradient: the difference is the time of its
 * record, made and freed; its limit is 100 ns. The outputs are dropped within the time. Times are those of the fastest
 * of many short runs (settle.h). Products of larger matrices are compared with the bare call of OpenBLAS, both on one
 * thread; the target is a ratio of 0.97.
 *
 *     bench_dispatch [--quick]
 *     bench_dispatch --run OP plain|distributed|recorded N     N calls and nothing else, to count instructions
 */
#include <dtensor/dtensor.h>

#include "kernels/blas.h"
#include "kernels/kernels.h"
#include "settle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CALLS = 200, LIMIT_NS = 100, PLAIN_LIMIT_NS = 150 };

/* Operands of all calls: x and y are [4,4] and, distributed, S(0); w is [4,4] and b is [4], both R. */
typedef struct operands {
    dt_tensor *x, *y, *w, *b;
} operands;

#define CASE(name, call)                                                                                             \
    static dt_tensor *run_##name(const operands *o) { return call; }
CASE(add, dt_add(o->x, o->y))
CASE(mul, dt_mul(o->x, o->y))
CASE(mul_scalar, dt_mul_scalar(o->x, 2.5))
CASE(relu, dt_relu(o->x))
CASE(mm, dt_mm(o->x, o->w))
CASE(linear, dt_linear(o->x, o->w, .bias = o->b))
CASE(sum, dt_sum(o->x, .dim = DT_DIMS(1)))
CASE(softmax, dt_softmax(o->x, -1))
CASE(layer_norm, dt_layer_norm(o->x, DT_SHAPE(4), .weight = o->b, .bias = o->b))
CASE(view, dt_view(o->x, DT_SHAPE(4, 2, 2)))
CASE(transpose, dt_transpose(o->x, 0, 1))
CASE(add_, dt_add_(o->x, o->y))

static const struct {
    const char *op;
    dt_tensor *(*run)(const operands *);
} cases[] = {
    {"add", run_add},
    {"mul", run_mul},
    {"mul_scalar", run_mul_scalar},
    {"relu", run_relu},
    {"mm", run_mm},
    {"linear", run_linear},
    {"sum", run_sum},
    {"softmax", run_softmax},
    {"layer_norm", run_layer_norm},
    {"view", run_view},
    {"transpose", run_transpose},
    {"add_", run_add_},
};
enum { N_CASES = sizeof cases / sizeof *cases };

static double now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static bool make_operands(dt_ctx *ctx, dt_mesh *mesh, operands *out) {
    *out = (operands){
        .x = dt_full(ctx, DT_SHAPE(4, 4), 0.5, .mesh = mesh, .place = mesh ? "S(0)" : NULL),
        .y = dt_full(ctx, DT_SHAPE(4, 4), 0.5, .mesh = mesh, .place = mesh ? "S(0)" : NULL),
        .w = dt_full(ctx, DT_SHAPE(4, 4), 0.5, .mesh = mesh),
        .b = dt_full(ctx, DT_SHAPE(4), 0.5, .mesh = mesh),
    };
    return out->x && out->y && out->w && out->b;
}

/* Not inlined: programs that count instructions find it by name. */
static bool __attribute__((noinline)) bench_calls(int which, const operands *o, int n) {
    for (int i = 0; i < n; i++) {
        dt_tensor *result = cases[which].run(o);
        if (!result)
            return false;
        if (result != o->x)
            dt_drop(result);
    }
    return true;
}

struct calls {
    int which;
    operands operands;
};

static double repeat_calls(void *user) {
    const struct calls *calls = user;
    double start = now_ns();
    return bench_calls(calls->which, &calls->operands, CALLS) ? (now_ns() - start) / 1e9 : -1;
}

static bool measure(dt_ctx *ctx, dt_mesh *mesh, int which, double budget_s) {
    dt_scope scope = dt_scope_begin(ctx);
    struct calls plain = {.which = which}, spread = {.which = which};
    double best[2] = {0};
    bool fine = make_operands(ctx, NULL, &plain.operands) && make_operands(ctx, mesh, &spread.operands) &&
                bench_settle_pair(budget_s, (bench_repeat *[]){repeat_calls, repeat_calls},
                                  (void *[]){&plain, &spread}, best);
    dt_scope_end(scope);
    if (!fine)
        return false;
    double a = best[0] * 1e9 / CALLS, b = best[1] * 1e9 / CALLS;
    printf("%-12s %9.1f %12.1f %11.1f %7d %8d\n", cases[which].op, a, b, b - a, LIMIT_NS, PLAIN_LIMIT_NS);
    printf("{\"bench\":\"dispatch\",\"config\":{\"op\":\"%s\",\"what\":\"added\"},\"ours\":%.1f,\"unit\":\"ns\","
           "\"peer\":\"limit\",\"theirs\":%d}\n",
           cases[which].op, b - a, LIMIT_NS);
    printf("{\"bench\":\"dispatch\",\"config\":{\"op\":\"%s\",\"what\":\"plain\"},\"ours\":%.1f,\"unit\":\"ns\","
           "\"peer\":\"limit\",\"theirs\":%d}\n",
           cases[which].op, a, PLAIN_LIMIT_NS);
    return true;
}

static bool require_grad(const operands *o) {
    dt_tensor *const all[] = {o->x, o->y, o->w, o->b};
    for (int i = 0; i < 4; i++)
        if (dt_set_requires_grad(all[i], true) != DT_OK)
            return false;
    return true;
}

static bool measure_recorded(dt_ctx *ctx, dt_mesh *mesh, int which, double budget_s) {
    dt_scope scope = dt_scope_begin(ctx);
    struct calls bare = {.which = which}, recorded = {.which = which};
    double best[2] = {0};
    bool fine = make_operands(ctx, mesh, &bare.operands) && make_operands(ctx, mesh, &recorded.operands) &&
                require_grad(&recorded.operands) &&
                bench_settle_pair(budget_s, (bench_repeat *[]){repeat_calls, repeat_calls},
                                  (void *[]){&bare, &recorded}, best);
    dt_scope_end(scope);
    if (!fine)
        return false;
    double a = best[0] * 1e9 / CALLS, b = best[1] * 1e9 / CALLS;
    printf("%-12s %9.1f %12.1f %11.1f %7d\n", cases[which].op, a, b, b - a, LIMIT_NS);
    printf("{\"bench\":\"dispatch\",\"config\":{\"op\":\"%s\",\"what\":\"recorded\"},\"ours\":%.1f,\"unit\":\"ns\","
           "\"peer\":\"limit\",\"theirs\":%d}\n",
           cases[which].op, b - a, LIMIT_NS);
    return true;
}

struct product {
    const dt__blas *blas;
    int n;
    dt_tensor *a, *b, *c;
};

static double repeat_product(void *user) {
    const struct product *p = user;
    double start = now_ns();
    dt_tensor *product = dt_mm(p->a, p->b);
    double took = now_ns() - start;
    dt_drop(product);
    return product ? took / 1e9 : -1;
}

static double repeat_blas(void *user) {
    const struct product *p = user;
    double start = now_ns();
    p->blas->sgemm(DT__BLAS_ROW_MAJOR, DT__BLAS_PLAIN, DT__BLAS_PLAIN, p->n, p->n, p->n, 1, dt_data(p->a), p->n,
                   dt_data(p->b), p->n, 0, dt_data(p->c), p->n);
    return (now_ns() - start) / 1e9;
}

/* The fastest of some products, by dt_matmul and by the bare call in turn. */
static bool measure_product(dt_ctx *ctx, const dt__blas *blas, int64_t n, double budget_s) {
    dt_scope scope = dt_scope_begin(ctx);
    struct product product = {blas, (int)n, dt_randn(ctx, DT_SHAPE(n, n)), dt_randn(ctx, DT_SHAPE(n, n)),
                              dt_zeros(ctx, DT_SHAPE(n, n))};
    double best[2] = {0};
    bool fine = product.a && product.b && product.c &&
                bench_settle_pair(budget_s, (bench_repeat *[]){repeat_product, repeat_blas},
                                  (void *[]){&product, &product}, best);
    dt_scope_end(scope);
    if (fine) {
        double ours = best[0] * 1e9, theirs = best[1] * 1e9;
        printf("matmul %-5d %9.1f us %9.1f us of OpenBLAS, ratio %.3f\n", (int)n, ours / 1e3, theirs / 1e3,
               theirs / ours);
        printf("{\"bench\":\"matmul\",\"config\":{\"n\":%d},\"ours\":%.1f,\"unit\":\"us\",\"peer\":\"openblas\","
               "\"theirs\":%.1f,\"ratio\":%.4g}\n",
               (int)n, ours / 1e3, theirs / 1e3, theirs / ours);
    }
    return fine;
}

static bool measure_products(dt_ctx *ctx, bool quick) {
    dt__blas blas;
    bool fine = true;
    if (!dt__blas_load(&blas)) {
        printf("matmul: skipped, there is no OpenBLAS\n");
        return true;
    }
    for (int64_t n = 256; n <= 1024 && fine; n *= 2)
        fine = measure_product(ctx, &blas, n, quick ? 0.5 : 2);
    return fine;
}

static bool run_one(dt_ctx *ctx, dt_mesh *mesh, bool recorded, const char *op, int n) {
    operands o;
    for (int i = 0; i < N_CASES; i++)
        if (!strcmp(cases[i].op, op)) {
            bool fine = make_operands(ctx, mesh, &o) && (!recorded || require_grad(&o));
            for (int warm = 0; warm < 3 && fine; warm++) /* not in the function that is counted */
                fine = cases[i].run(&o) != NULL;
            return fine && bench_calls(i, &o, n);
        }
    return false;
}

int main(int argc, char **argv) {
    bool quick = argc == 2 && !strcmp(argv[1], "--quick"), one = argc == 5 && !strcmp(argv[1], "--run");
    const int64_t sizes[] = {1};
    if (argc > 1 && !quick && !one) {
        fprintf(stderr, "usage: bench_dispatch [--quick] | --run OP plain|distributed|recorded N\n");
        return 2;
    }
    dt_ctx *ctx = dt_init(&(dt_init_options){.transport = "self", .heap_bytes = (size_t)64 << 20, .threads = 1});
    dt_mesh *mesh = ctx ? dt_mesh_from_shape(ctx, sizes, 1, NULL) : NULL;
    bool fine = mesh;
    if (fine && one)
        fine = run_one(ctx, strcmp(argv[3], "plain") ? mesh : NULL, !strcmp(argv[3], "recorded"), argv[2],
                       atoi(argv[4]));
    else if (fine) {
        printf("%-12s %9s %12s %11s %7s %8s\n", "op", "plain ns", "distributed", "added ns", "limit", "plain's");
        for (int i = 0; i < N_CASES; i++)
            if (!measure(ctx, mesh, i, quick ? 0.02 : 0.2)) {
                printf("%-12s skipped: %s\n", cases[i].op, dt_error_text(ctx));
                (void)dt_error_clear(ctx);
            }
        fine = measure_products(ctx, quick);
        printf("%-12s %9s %12s %11s %7s\n", "op", "bare ns", "recorded", "added ns", "limit");
        for (int i = 0; i < N_CASES && fine; i++)
            fine = cases[i].run == run_add_ || measure_recorded(ctx, mesh, i, quick ? 0.02 : 0.2); /* not on leaves */
    }
    dt_mesh_release(mesh);
    return dt_close(ctx) || !fine;
}
