/* SPDX-License-Identifier: Apache-2.0
 *
 * Expected results by definition. Values are small integers, so that every dtype represents them and their sums
 * exactly, and the arithmetic here, in double, needs no rounding rules of its own; it has signed zeros as floats do.
 */
#include "support/collectives.h"

#include "base/dtype.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { GUARD = 64, GUARD_BYTE = 0xa5, WRONG_BYTE = 0x5a };

static bool on_root(const test_run *run) { return dt_group_rank(run->group) == run->collective.root; }

/* Numbers are drawn, reduced and converted in pieces, in loops that a compiler can vectorize. */
enum { PIECE = 1024 };
struct numbers {
    double re[PIECE], im[PIECE];
};

/* From -2 to 3, and from -1 to 1 for products, which then stay small. */
static void draw(const test_case *collective, int64_t rank, int64_t first, int64_t n, double *out) {
    uint64_t start = collective->seed * 1000003 + (uint64_t)rank * 7919 + (uint64_t)first;
    uint64_t kinds = collective->reduce == DT_PRODUCT ? 3 : 6;
    int32_t shift = (int32_t)kinds / 3;
    for (int64_t i = 0; i < n; i++)
        out[i] = (int32_t)(((start + (uint64_t)i) * 0x9e3779b97f4a7c15u >> 32) * kinds >> 32) - shift;
    if (collective->dtype == DT_U8)
        for (int64_t i = 0; i < n; i++)
            out[i] = fabs(out[i]);
    if (collective->dtype == DT_BOOL)
        for (int64_t i = 0; i < n; i++)
            out[i] = out[i] > 0;
}

/* Elements `first` and on of the input of a rank of the world. */
static void draw_input(const test_case *collective, int64_t rank, int64_t first, int64_t n, struct numbers *out) {
    draw(collective, rank, first, n, out->re);
    if (dt__is_complex(collective->dtype))
        draw(collective, rank + 100, first, n, out->im);
}

static double min_of(double a, double b) { return b < a ? b : a; }
static double max_of(double a, double b) { return b > a ? b : a; }

static void multiply_complex(struct numbers *a, const struct numbers *b, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        double re = a->re[i], im = a->im[i];
        a->re[i] = re * b->re[i] - im * b->im[i];
        a->im[i] = re * b->im[i] + im * b->re[i];
    }
}

/* a becomes the reduction of a and b. */
static void combine(const test_case *collective, struct numbers *a, const struct numbers *b, int64_t n) {
    bool complex = dt__is_complex(collective->dtype);
    if (collective->reduce == DT_PRODUCT && complex)
        multiply_complex(a, b, n);
    else if (collective->reduce == DT_PRODUCT)
        for (int64_t i = 0; i < n; i++)
            a->re[i] *= b->re[i];
    else if (collective->reduce == DT_MIN)
        for (int64_t i = 0; i < n; i++)
            a->re[i] = min_of(a->re[i], b->re[i]);
    else if (collective->reduce == DT_MAX)
        for (int64_t i = 0; i < n; i++)
            a->re[i] = max_of(a->re[i], b->re[i]);
    else
        for (int64_t i = 0; i < n; i++)
            a->re[i] += b->re[i];
    if (complex && collective->reduce != DT_PRODUCT)
        for (int64_t i = 0; i < n; i++)
            a->im[i] += b->im[i];
}

/* Averages of integers are truncated toward zero. */
static void divide(const test_case *collective, struct numbers *a, int64_t n, double divisor) {
    bool is_integer = dt__is_integral(collective->dtype);
    for (int64_t i = 0; i < n; i++)
        a->re[i] = is_integer ? trunc(a->re[i] / divisor) : a->re[i] / divisor;
    if (dt__is_complex(collective->dtype))
        for (int64_t i = 0; i < n; i++)
            a->im[i] /= divisor;
}

/* The reduction over all members, in group order. */
static void reduce(const test_run *run, int64_t first, int64_t n, struct numbers *out) {
    const test_case *collective = &run->collective;
    struct numbers next;
    draw_input(collective, dt_group_world_rank(run->group, 0), first, n, out);
    for (int64_t k = 1; k < dt_group_size(run->group); k++) {
        draw_input(collective, dt_group_world_rank(run->group, k), first, n, &next);
        combine(collective, out, &next, n);
    }
    for (int64_t i = 0; collective->dtype == DT_BOOL && i < n; i++)
        out->re[i] = out->re[i] != 0;
    if (collective->reduce == DT_AVG)
        divide(collective, out, n, (double)dt_group_size(run->group));
}

/* The nearest f16, ties to even: numbers are finite here, and too large ones become infinite. */
static uint16_t half_of(double value) {
    int exponent = 0;
    uint16_t sign = signbit(value) ? 0x8000 : 0;
    (void)frexp(value, &exponent); /* |value| is in [2^(exponent-1), 2^exponent) */
    int unit = (exponent < -13 ? -13 : exponent) - 11;
    double steps = nearbyint(ldexp(fabs(value), -unit)); /* in units of the last place: at most 2048 */
    double bits = steps + (unit + 24) * 1024.0;
    return (uint16_t)(sign | (value == 0 ? 0 : (uint16_t)(bits < 0x7c00 ? bits : 0x7c00)));
}

/* The nearest bf16, ties to even. Averages of at most 16 small integers are not within 2^-24 of a tie. */
static uint16_t bfloat_of(double value) {
    float number = (float)value;
    uint32_t bits;
    memcpy(&bits, &number, sizeof bits);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/* Writes numbers as elements of a dtype. */
static void convert(dt_dtype dtype, void *memory, const struct numbers *from, int64_t n) {
#define EACH(type, value)                                                                                            \
    for (int64_t i = 0; i < n; i++)                                                                                  \
        ((type *)memory)[i] = (type)(value);                                                                         \
    break
    switch (dtype) {
    case DT_F32:
        EACH(float, from->re[i]);
    case DT_F64:
        EACH(double, from->re[i]);
    case DT_F16:
        EACH(uint16_t, half_of(from->re[i]));
    case DT_BF16:
        EACH(uint16_t, bfloat_of(from->re[i]));
    case DT_I8:
        EACH(int8_t, from->re[i]);
    case DT_I16:
        EACH(int16_t, from->re[i]);
    case DT_I32:
        EACH(int32_t, from->re[i]);
    case DT_I64:
        EACH(int64_t, from->re[i]);
    case DT_U8:
    case DT_BOOL:
        EACH(uint8_t, (int)from->re[i]);
    case DT_C64:
        for (int64_t i = 0; i < n; i++) {
            ((float *)memory)[2 * i] = (float)from->re[i];
            ((float *)memory)[2 * i + 1] = (float)from->im[i];
        }
        break;
    case DT_C128:
        for (int64_t i = 0; i < n; i++) {
            ((double *)memory)[2 * i] = from->re[i];
            ((double *)memory)[2 * i + 1] = from->im[i];
        }
        break;
    case DT_NO_DTYPE:
    case DT_N_DTYPES:
        break;
    }
#undef EACH
}

/* Writes n elements to element `at` of memory: those of a rank of the world from element `first` on, or, for rank -1,
 * of the reduction. */
static void write_elements(const test_run *run, void *memory, int64_t at, int64_t rank, int64_t first, int64_t n) {
    const test_case *collective = &run->collective;
    size_t item = dt_dtype_size(collective->dtype);
    struct numbers numbers;
    for (int64_t done = 0; done < n; done += PIECE) {
        int64_t piece = n - done < PIECE ? n - done : PIECE;
        if (rank < 0)
            reduce(run, first + done, piece, &numbers);
        else
            draw_input(collective, rank, first + done, piece, &numbers);
        convert(collective->dtype, (char *)memory + (size_t)(at + done) * item, &numbers, piece);
    }
}

/* An all-to-all in place receives as much from each member as it sends to it. */
static int64_t block_of(const test_case *collective, int64_t from, int64_t to) {
    if (!collective->unequal)
        return collective->count;
    if (collective->op == DT_ALL_TO_ALL && collective->in_place && from > to)
        return block_of(collective, to, from);
    uint64_t state = collective->seed + (uint64_t)(from * 64 + to);
    return test_below(&state, collective->count + 1);
}

/* Numbers of elements that this rank sends and receives. */
static void count_elements(const test_run *run, int64_t *n_sent, int64_t *n_received) {
    const test_case *collective = &run->collective;
    int64_t n = dt_group_size(run->group), own_rank = dt_group_rank(run->group), all = 0, all_received = 0;
    for (int64_t i = 0; i < n; i++) {
        all += run->counts ? run->counts[i] : collective->count;
        all_received += run->recv_counts ? run->recv_counts[i] : run->counts ? run->counts[i] : collective->count;
    }
    int64_t own = run->counts ? run->counts[own_rank] : collective->count, value = collective->count;
    switch (collective->op) {
    case DT_BARRIER:
    case DT_N_COLLECTIVES:
        *n_sent = *n_received = 0;
        return;
    case DT_BROADCAST:
        *n_sent = on_root(run) ? value : 0;
        *n_received = value;
        return;
    case DT_SCATTER:
        *n_sent = on_root(run) ? all : 0;
        *n_received = own;
        return;
    case DT_GATHER:
        *n_sent = own;
        *n_received = on_root(run) ? all : 0;
        return;
    case DT_ALL_GATHER:
        *n_sent = own;
        *n_received = all;
        return;
    case DT_ALL_REDUCE:
        *n_sent = *n_received = value;
        return;
    case DT_REDUCE_SCATTER:
        *n_sent = all;
        *n_received = own;
        return;
    case DT_ALL_TO_ALL:
        *n_sent = all;
        *n_received = all_received;
        return;
    case DT_SEND:
        *n_sent = value;
        *n_received = 0;
        return;
    case DT_RECV:
        *n_sent = 0;
        *n_received = value;
        return;
    }
}

static unsigned char *guarded_alloc(test_run *run, size_t bytes) {
    unsigned char *memory = run->heap ? dt_heap_alloc(run->ctx, bytes + 2 * GUARD) : malloc(bytes + 2 * GUARD);
    if (memory)
        memset(memory, GUARD_BYTE, bytes + 2 * GUARD);
    return memory;
}

static void guarded_free(const test_run *run, unsigned char *memory) {
    if (run->heap)
        dt_heap_free(run->ctx, memory);
    else
        free(memory);
}

static int make_counts(test_run *run) {
    int64_t n = dt_group_size(run->group), own_rank = dt_group_rank(run->group);
    bool exchange = run->collective.op == DT_ALL_TO_ALL;
    if (!run->collective.unequal)
        return 0;
    run->counts = calloc((size_t)n, sizeof(int64_t));
    run->recv_counts = exchange ? calloc((size_t)n, sizeof(int64_t)) : NULL;
    for (int64_t i = 0; i < n; i++) {
        run->counts[i] = block_of(&run->collective, exchange ? own_rank : 0, i);
        if (exchange)
            run->recv_counts[i] = block_of(&run->collective, i, own_rank);
    }
    return 0;
}

static void fill_source(const test_run *run, void *memory) {
    int64_t n_sent, n_received;
    count_elements(run, &n_sent, &n_received);
    write_elements(run, memory, 0, dt_rank(run->ctx), 0, n_sent);
}

static int64_t sum_before(const test_case *collective, const int64_t *counts, int64_t i) {
    int64_t at = 0;
    for (int64_t k = 0; k < i; k++)
        at += counts ? counts[k] : collective->count;
    return at;
}

int test_prepare(test_run *run, dt_ctx *ctx, dt_group *group, const test_case *collective) {
    *run = (test_run){.ctx = ctx, .group = group, .collective = *collective};
    run->heap = collective->memory == TEST_HEAP || (collective->memory == TEST_MIXED && dt_rank(ctx) % 2);
    make_counts(run);
    int64_t n_sent, n_received, own_rank = dt_group_rank(group);
    size_t item = dt_dtype_size(collective->dtype);
    count_elements(run, &n_sent, &n_received);
    run->src_bytes = (size_t)n_sent * item;
    run->dst_bytes = (size_t)n_received * item;
    bool gather_like = collective->op == DT_GATHER || collective->op == DT_ALL_GATHER;
    bool in_place = collective->in_place && n_sent && n_received;
    size_t capacity = run->src_bytes > run->dst_bytes ? run->src_bytes : run->dst_bytes;
    run->src = guarded_alloc(run, in_place ? capacity : run->src_bytes);
    run->dst = in_place ? run->src : guarded_alloc(run, run->dst_bytes);
    if (!run->src || !run->dst) {
        test_drop(run);
        return 1;
    }
    char *src = (char *)run->src + GUARD, *dst = (char *)run->dst + GUARD;
    size_t own_at = (size_t)sum_before(collective, run->counts, own_rank) * item;
    if (in_place && gather_like)
        src += own_at;
    if (in_place && (collective->op == DT_SCATTER || collective->op == DT_REDUCE_SCATTER))
        dst += own_at;
    fill_source(run, src);
    run->call = (dt_comm_call){.op = collective->op,
                               .dtype = collective->dtype,
                               .reduce = collective->reduce,
                               .src = src,
                               .dst = dst,
                               .count = collective->count,
                               .counts = run->counts,
                               .recv_counts = run->recv_counts,
                               .root = collective->root,
                               .tag = collective->tag};
    return 0;
}

static void compute_expected(const test_run *run, void *memory) {
    const test_case *collective = &run->collective;
    int64_t n = dt_group_size(run->group), own_rank = dt_group_rank(run->group), n_sent, n_received;
    int64_t root = dt_group_world_rank(run->group, collective->root);
    int64_t own_at = sum_before(collective, run->counts, own_rank);
    count_elements(run, &n_sent, &n_received);
    if (collective->op == DT_BROADCAST || collective->op == DT_RECV)
        write_elements(run, memory, 0, root, 0, n_received);
    if (collective->op == DT_SCATTER)
        write_elements(run, memory, 0, root, own_at, n_received);
    if (collective->op == DT_ALL_REDUCE)
        write_elements(run, memory, 0, -1, 0, n_received);
    if (collective->op == DT_REDUCE_SCATTER)
        write_elements(run, memory, 0, -1, own_at, n_received);
    int64_t at = 0;
    for (int64_t k = 0; k < n && n_received; k++) {
        int64_t rank = dt_group_world_rank(run->group, k), size = 0, from = 0;
        if (collective->op == DT_GATHER || collective->op == DT_ALL_GATHER)
            size = run->counts ? run->counts[k] : collective->count;
        if (collective->op == DT_ALL_TO_ALL) {
            size = block_of(collective, k, own_rank);
            for (int64_t j = 0; j < own_rank; j++)
                from += block_of(collective, k, j);
        }
        write_elements(run, memory, at, rank, from, size);
        at += size;
    }
}

static int check_guards(const unsigned char *memory, size_t bytes, const char *name) {
    for (size_t i = 0; i < GUARD; i++)
        CHECK(memory[i] == GUARD_BYTE && memory[GUARD + bytes + i] == GUARD_BYTE, "a byte next to %s was written",
              name);
    return 0;
}

static int compare_result(test_run *run) {
    const unsigned char *got = run->call.dst;
    if (!run->expected) {
        run->expected = malloc(run->dst_bytes + 1);
        compute_expected(run, run->expected);
    }
    bool equal = !run->dst_bytes || !memcmp(got, run->expected, run->dst_bytes);
    size_t at = 0, item = dt_dtype_size(run->collective.dtype);
    while (!equal && got[at] == run->expected[at])
        at++;
    CHECK(equal, "rank %lld, %s of %s x %lld, %s%s%s, memory %d: element %zu: expected byte %02x, got %02x",
          (long long)dt_rank(run->ctx), dt_collective_name(run->collective.op), dt_dtype_name(run->collective.dtype),
          (long long)run->collective.count, dt_reduce_name(run->collective.reduce),
          run->collective.in_place ? ", in place" : "", run->collective.unequal ? ", unequal" : "",
          (int)run->collective.memory, at / item, run->expected[at], got[at]);
    return 0;
}

static int source_is_untouched(const test_run *run) {
    unsigned char *expected = malloc(run->src_bytes + 1);
    fill_source(run, expected);
    bool same_bytes = !run->src_bytes || !memcmp(run->call.src, expected, run->src_bytes);
    free(expected);
    CHECK(same_bytes, "%s changed its source", dt_collective_name(run->collective.op));
    return 0;
}

static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

int test_source_is_intact(const test_run *run) {
    bool is_separate = run->src != run->dst;
    size_t capacity = larger(run->src_bytes, run->dst_bytes);
    return check_guards(run->src, is_separate ? run->src_bytes : capacity, "src") ||
           check_guards(run->dst, is_separate ? run->dst_bytes : capacity, "dst") ||
           (is_separate && source_is_untouched(run));
}

void test_reset(test_run *run) {
    bool is_separate = run->src != run->dst;
    memset(run->dst + GUARD, WRONG_BYTE, is_separate ? run->dst_bytes : larger(run->src_bytes, run->dst_bytes));
    if (!is_separate)
        fill_source(run, (void *)(uintptr_t)run->call.src);
}

int test_check(test_run *run) { return compare_result(run) || test_source_is_intact(run); }

void test_drop(test_run *run) {
    if (run->src != run->dst)
        guarded_free(run, run->dst);
    guarded_free(run, run->src);
    run->src = run->dst = NULL;
    test_drop_closed(run);
}

void test_drop_closed(test_run *run) {
    if (!run->heap && run->src != run->dst)
        free(run->dst);
    if (!run->heap)
        free(run->src);
    free(run->counts);
    free(run->recv_counts);
    free(run->expected);
}

int test_finish(test_run *run) {
    int wrong = test_check(run);
    test_drop(run);
    return wrong;
}

int test_run_once(dt_ctx *ctx, dt_group *group, const test_case *collective) {
    test_run run;
    CHECK(!test_prepare(&run, ctx, group, collective), "%s", dt_error_text(ctx));
    CHECK_OK(ctx, dt_comm_run(group, &run.call));
    return test_finish(&run);
}

/* Most calls are small, so that programs have many of them; every size from 0 to the maximum occurs. */
static int64_t any_count(uint64_t *random, int64_t max_count) {
    int64_t limit = max_count;
    for (int64_t halvings = test_below(random, 20); halvings > 0 && limit > 0; halvings--)
        limit /= 2;
    return test_below(random, limit + 1);
}

test_case test_random_case(uint64_t *random, int64_t n_members, int64_t max_bytes) {
    test_case collective = {
        .op = (dt_collective)test_below(random, DT_SEND),
        .dtype = (dt_dtype)(DT_F32 + test_below(random, DT_N_DTYPES - DT_F32)),
        .unequal = test_below(random, 3) == 0,
        .in_place = test_below(random, 3) == 0,
        .root = test_below(random, n_members),
        .memory = (enum test_memory_kind)test_below(random, 3),
        .seed = test_random(random),
        .tag = test_random(random),
    };
    do
        collective.reduce = (dt_reduce)test_below(random, DT_N_REDUCES);
    while (!dt_reduce_allowed(collective.dtype, collective.reduce));
    collective.count = any_count(random, max_bytes / n_members / (int64_t)dt_dtype_size(collective.dtype));
    return collective;
}
