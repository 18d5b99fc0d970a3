/* SPDX-License-Identifier: Apache-2.0
 *
 * Expected results by definition. Values are small integers, so that every dtype holds them and their sums exactly,
 * and the arithmetic here (in long long and double) needs no rounding rules of its own. Averages are of even sums.
 */
#include "support/collectives.h"

#include <stdlib.h>
#include <string.h>

enum { GUARD = 64, GUARD_BYTE = 0xa5, WRONG_BYTE = 0x5a };

static bool on_root(const test_run *run) { return dt_group_rank(run->group) == run->what.root; }

/* Element `i` of what a member puts in, from -2 to 3; products of up to 8 of them stay small. */
static int value_of(const test_case *what, int64_t world_rank, int64_t i) {
    uint64_t x = (what->seed * 1000003 + (uint64_t)world_rank * 7919 + (uint64_t)i) * 0x9e3779b97f4a7c15u;
    uint64_t kinds = what->reduce == DT_PRODUCT ? 3 : 6;
    int v = (int)((x >> 32) * kinds >> 32) - (int)kinds / 3;
    if (what->dtype == DT_U8 && v < 0)
        v = -v;
    return what->dtype == DT_BOOL ? v > 0 : v;
}

static void put(dt_dtype dtype, void *memory, int64_t i, double re, double im) {
    float f = (float)re;
    uint32_t bits;
    memcpy(&bits, &f, 4);
    switch (dtype) {
    case DT_F32:
        ((float *)memory)[i] = f;
        return;
    case DT_F64:
        ((double *)memory)[i] = re;
        return;
    case DT_BF16:
        ((uint16_t *)memory)[i] = (uint16_t)(bits >> 16);
        return;
    case DT_F16: /* exact for the small integers and quarters used here */
        ((uint16_t *)memory)[i] =
            (uint16_t)((bits >> 16 & 0x8000) | (f != 0 ? (bits >> 13 & 0x3ffff) - ((127 - 15) << 10) : 0));
        return;
    case DT_I8:
        ((int8_t *)memory)[i] = (int8_t)re;
        return;
    case DT_I16:
        ((int16_t *)memory)[i] = (int16_t)re;
        return;
    case DT_I32:
        ((int32_t *)memory)[i] = (int32_t)re;
        return;
    case DT_I64:
        ((int64_t *)memory)[i] = (int64_t)re;
        return;
    case DT_U8:
    case DT_BOOL:
        ((uint8_t *)memory)[i] = (uint8_t)(int)re;
        return;
    case DT_C64:
        ((float *)memory)[2 * i] = f;
        ((float *)memory)[2 * i + 1] = (float)im;
        return;
    case DT_C128:
        ((double *)memory)[2 * i] = re;
        ((double *)memory)[2 * i + 1] = im;
        return;
    case DT_N_DTYPES:
        return;
    }
}

static double imaginary(const test_case *what, int64_t rank, int64_t i) {
    return what->dtype == DT_C64 || what->dtype == DT_C128 ? value_of(what, rank + 100, i) : 0;
}

static void put_value(const test_case *what, void *memory, int64_t at, int64_t rank, int64_t i) {
    put(what->dtype, memory, at, value_of(what, rank, i), imaginary(what, rank, i));
}

static bool is_float(dt_dtype dtype) { return dtype <= DT_BF16 || dtype >= DT_C64; }

/* The reduction of element i over all members, in group order. */
static void put_reduced(const test_run *run, void *memory, int64_t at, int64_t i) {
    const test_case *what = &run->what;
    int64_t n = dt_group_size(run->group);
    double re = 0, im = 0;
    for (int64_t k = 0; k < n; k++) {
        int64_t rank = dt_group_world_rank(run->group, k);
        double a = value_of(what, rank, i), b = imaginary(what, rank, i), old = re;
        if (k == 0) {
            re = a;
            im = b;
        } else if (what->reduce == DT_SUM || what->reduce == DT_AVG) {
            re += a;
            im += b;
        } else if (what->reduce == DT_PRODUCT && what->dtype < DT_C64) {
            re *= a;
        } else if (what->reduce == DT_PRODUCT) {
            re = re * a - im * b;
            im = old * b + im * a;
        } else {
            re = what->reduce == DT_MIN ? (a < re ? a : re) : (a > re ? a : re);
        }
    }
    if (what->dtype == DT_BOOL)
        re = re != 0;
    if (what->reduce == DT_AVG) {
        re = is_float(what->dtype) ? re / (double)n : (double)((long long)re / (long long)n);
        im /= (double)n;
    }
    put(what->dtype, memory, at, re, im);
}

/* An exchange in place takes as much from each member as it gives to it. */
static int64_t block_of(const test_case *what, int64_t from, int64_t to) {
    if (!what->unequal)
        return what->count;
    if (what->op == DT_ALL_TO_ALL && what->in_place && from > to)
        return block_of(what, to, from);
    uint64_t state = what->seed + (uint64_t)(from * 64 + to);
    return test_below(&state, what->count + 1);
}

/* Sizes of the parts that this rank gives and gets. */
static void count_parts(const test_run *run, int64_t *gives, int64_t *gets) {
    const test_case *what = &run->what;
    int64_t n = dt_group_size(run->group), me = dt_group_rank(run->group), all = 0, all_back = 0;
    for (int64_t i = 0; i < n; i++) {
        all += run->counts ? run->counts[i] : what->count;
        all_back += run->recv_counts ? run->recv_counts[i] : run->counts ? run->counts[i] : what->count;
    }
    int64_t own = run->counts ? run->counts[me] : what->count, value = what->count;
    switch (what->op) {
    case DT_BARRIER:
    case DT_N_COLLECTIVES:
        *gives = *gets = 0;
        return;
    case DT_BROADCAST:
        *gives = on_root(run) ? value : 0;
        *gets = value;
        return;
    case DT_SCATTER:
        *gives = on_root(run) ? all : 0;
        *gets = own;
        return;
    case DT_GATHER:
        *gives = own;
        *gets = on_root(run) ? all : 0;
        return;
    case DT_ALL_GATHER:
        *gives = own;
        *gets = all;
        return;
    case DT_ALL_REDUCE:
        *gives = *gets = value;
        return;
    case DT_REDUCE_SCATTER:
        *gives = all;
        *gets = own;
        return;
    case DT_ALL_TO_ALL:
        *gives = all;
        *gets = all_back;
        return;
    case DT_SEND:
        *gives = value;
        *gets = 0;
        return;
    case DT_RECV:
        *gives = 0;
        *gets = value;
        return;
    }
}

static unsigned char *take(test_run *run, size_t bytes) {
    unsigned char *memory = run->heap ? dt_heap_alloc(run->ctx, bytes + 2 * GUARD) : malloc(bytes + 2 * GUARD);
    if (memory)
        memset(memory, GUARD_BYTE, bytes + 2 * GUARD);
    return memory;
}

static void give(const test_run *run, unsigned char *memory) {
    if (run->heap)
        dt_heap_free(run->ctx, memory);
    else
        free(memory);
}

static int make_counts(test_run *run) {
    int64_t n = dt_group_size(run->group), me = dt_group_rank(run->group);
    bool exchange = run->what.op == DT_ALL_TO_ALL;
    if (!run->what.unequal)
        return 0;
    run->counts = calloc((size_t)n, sizeof(int64_t));
    run->recv_counts = exchange ? calloc((size_t)n, sizeof(int64_t)) : NULL;
    for (int64_t i = 0; i < n; i++) {
        run->counts[i] = block_of(&run->what, exchange ? me : 0, i);
        if (exchange)
            run->recv_counts[i] = block_of(&run->what, i, me);
    }
    return 0;
}

static void fill_source(const test_run *run, void *memory) {
    int64_t gives, gets, rank = dt_rank(run->ctx);
    count_parts(run, &gives, &gets);
    for (int64_t i = 0; i < gives; i++)
        put_value(&run->what, memory, i, rank, i);
}

static int64_t sum_before(const test_case *what, const int64_t *counts, int64_t i) {
    int64_t at = 0;
    for (int64_t k = 0; k < i; k++)
        at += counts ? counts[k] : what->count;
    return at;
}

int test_prepare(test_run *run, dt_ctx *ctx, dt_group *group, const test_case *what) {
    *run = (test_run){.ctx = ctx, .group = group, .what = *what};
    run->heap = what->memory == TEST_HEAP || (what->memory == TEST_MIXED && dt_rank(ctx) % 2);
    make_counts(run);
    int64_t gives, gets, me = dt_group_rank(group);
    size_t item = dt_dtype_size(what->dtype);
    count_parts(run, &gives, &gets);
    run->src_bytes = (size_t)gives * item;
    run->dst_bytes = (size_t)gets * item;
    bool gather_like = what->op == DT_GATHER || what->op == DT_ALL_GATHER;
    bool in_place = what->in_place && gives && gets;
    size_t room = run->src_bytes > run->dst_bytes ? run->src_bytes : run->dst_bytes;
    run->src = take(run, in_place ? room : run->src_bytes);
    run->dst = in_place ? run->src : take(run, run->dst_bytes);
    if (!run->src || !run->dst) {
        test_drop(run);
        return 1;
    }
    char *src = (char *)run->src + GUARD, *dst = (char *)run->dst + GUARD;
    size_t own_at = (size_t)sum_before(what, run->counts, me) * item;
    if (in_place && gather_like)
        src += own_at;
    if (in_place && (what->op == DT_SCATTER || what->op == DT_REDUCE_SCATTER))
        dst += own_at;
    fill_source(run, src);
    run->call = (dt_call){.op = what->op,
                          .dtype = what->dtype,
                          .reduce = what->reduce,
                          .src = src,
                          .dst = dst,
                          .count = what->count,
                          .counts = run->counts,
                          .recv_counts = run->recv_counts,
                          .root = what->root,
                          .tag = what->tag};
    return 0;
}

static void expect(const test_run *run, void *memory) {
    const test_case *what = &run->what;
    int64_t n = dt_group_size(run->group), me = dt_group_rank(run->group), gives, gets;
    int64_t root = dt_group_world_rank(run->group, what->root);
    int64_t own_at = sum_before(what, run->counts, me);
    count_parts(run, &gives, &gets);
    if (what->op == DT_BROADCAST || what->op == DT_RECV)
        for (int64_t i = 0; i < gets; i++)
            put_value(what, memory, i, root, i);
    if (what->op == DT_SCATTER)
        for (int64_t i = 0; i < gets; i++)
            put_value(what, memory, i, root, own_at + i);
    if (what->op == DT_ALL_REDUCE)
        for (int64_t i = 0; i < gets; i++)
            put_reduced(run, memory, i, i);
    if (what->op == DT_REDUCE_SCATTER)
        for (int64_t i = 0; i < gets; i++)
            put_reduced(run, memory, i, own_at + i);
    int64_t at = 0;
    for (int64_t k = 0; k < n && gets; k++) {
        int64_t rank = dt_group_world_rank(run->group, k);
        if (what->op == DT_GATHER || what->op == DT_ALL_GATHER)
            for (int64_t i = 0, size = run->counts ? run->counts[k] : what->count; i < size; i++)
                put_value(what, memory, at++, rank, i);
        if (what->op == DT_ALL_TO_ALL) {
            int64_t from = 0;
            for (int64_t j = 0; j < me; j++)
                from += block_of(what, k, j);
            for (int64_t i = 0, size = block_of(what, k, me); i < size; i++)
                put_value(what, memory, at++, rank, from + i);
        }
    }
}

static int guards_hold(const unsigned char *memory, size_t bytes, const char *name) {
    for (size_t i = 0; i < GUARD; i++)
        CHECK(memory[i] == GUARD_BYTE && memory[GUARD + bytes + i] == GUARD_BYTE, "a byte next to %s was written",
              name);
    return 0;
}

/* An f16 or bf16 average is rounded; the small sums here divide exactly only by powers of two, so those two dtypes
 * are compared through the library's reference kernels elsewhere and with a tolerance of one unit here. */
static bool same(const test_run *run, const unsigned char *got, const unsigned char *want, size_t bytes) {
    if (!bytes || !memcmp(got, want, bytes))
        return true;
    if (run->what.reduce != DT_AVG || (run->what.dtype != DT_F16 && run->what.dtype != DT_BF16))
        return false;
    for (size_t i = 0; i < bytes / 2; i++) {
        uint16_t a, b;
        memcpy(&a, got + 2 * i, 2);
        memcpy(&b, want + 2 * i, 2);
        if (a > b ? a - b > 1 : b - a > 1)
            return false;
    }
    return true;
}

static int compare(test_run *run) {
    const unsigned char *got = run->call.dst;
    if (!run->want) {
        run->want = malloc(run->dst_bytes + 1);
        expect(run, run->want);
    }
    bool right = same(run, got, run->want, run->dst_bytes);
    size_t at = 0, item = dt_dtype_size(run->what.dtype);
    while (!right && got[at] == run->want[at])
        at++;
    CHECK(right, "rank %lld, %s of %s x %lld, %s%s%s, memory %d: element %zu: got byte %02x, want %02x",
          (long long)dt_rank(run->ctx), dt_collective_word(run->what.op), dt_dtype_word(run->what.dtype),
          (long long)run->what.count, dt_reduce_word(run->what.reduce), run->what.in_place ? ", in place" : "",
          run->what.unequal ? ", unequal" : "", (int)run->what.memory, at / item, got[at], run->want[at]);
    return 0;
}

static int source_is_untouched(const test_run *run) {
    unsigned char *want = malloc(run->src_bytes + 1);
    fill_source(run, want);
    bool same_bytes = !run->src_bytes || !memcmp(run->call.src, want, run->src_bytes);
    free(want);
    CHECK(same_bytes, "%s changed its source", dt_collective_word(run->what.op));
    return 0;
}

static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

int test_spared(const test_run *run) {
    bool apart = run->src != run->dst;
    size_t room = larger(run->src_bytes, run->dst_bytes);
    return guards_hold(run->src, apart ? run->src_bytes : room, "src") ||
           guards_hold(run->dst, apart ? run->dst_bytes : room, "dst") || (apart && source_is_untouched(run));
}

void test_again(test_run *run) {
    bool apart = run->src != run->dst;
    memset(run->dst + GUARD, WRONG_BYTE, apart ? run->dst_bytes : larger(run->src_bytes, run->dst_bytes));
    if (!apart)
        fill_source(run, (void *)(uintptr_t)run->call.src);
}

int test_check(test_run *run) { return compare(run) || test_spared(run); }

void test_drop(test_run *run) {
    if (run->src != run->dst)
        give(run, run->dst);
    give(run, run->src);
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
    free(run->want);
}

int test_finish(test_run *run) {
    int wrong = test_check(run);
    test_drop(run);
    return wrong;
}

int test_once(dt_ctx *ctx, dt_group *group, const test_case *what) {
    test_run run;
    CHECK(!test_prepare(&run, ctx, group, what), "%s", dt_error_text(ctx));
    CHECK_OK(ctx, dt_comm_run(group, &run.call));
    return test_finish(&run);
}

/* Most calls are small, so that a program gets far; each size from nothing to the most has its share. */
static int64_t any_count(uint64_t *random, int64_t most) {
    int64_t limit = most;
    for (int64_t halvings = test_below(random, 20); halvings > 0 && limit > 0; halvings--)
        limit /= 2;
    return test_below(random, limit + 1);
}

test_case test_any_case(uint64_t *random, int64_t n_members, int64_t most_bytes) {
    test_case what = {
        .op = (dt_collective)test_below(random, DT_SEND),
        .dtype = (dt_dtype)test_below(random, DT_N_DTYPES),
        .unequal = test_below(random, 3) == 0,
        .in_place = test_below(random, 3) == 0,
        .root = test_below(random, n_members),
        .memory = (enum test_memory_kind)test_below(random, 3),
        .seed = test_random(random),
        .tag = test_random(random),
    };
    do
        what.reduce = (dt_reduce)test_below(random, DT_N_REDUCES);
    while (!dt_reduce_allowed(what.dtype, what.reduce));
    what.count = any_count(random, most_bytes / n_members / (int64_t)dt_dtype_size(what.dtype));
    return what;
}
