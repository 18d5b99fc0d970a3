/* SPDX-License-Identifier: Apache-2.0
 *
 * Counts beyond 2^31: two ranks broadcast, gather and reduce more bytes than an int can count. Skipped where there is
 * not enough memory.
 *
 * mpi: no: mpi.large_counts runs it
 */
/* ctest: labels=long processors=2 */
#include "support/ranks.h"

#include <stdlib.h>
#include <string.h>

#define COUNT ((int64_t)0x80000000 + 4099)

/* A byte that depends on its index and its rank, with a period that is not a power of two. */
static unsigned char byte_at(int64_t rank, int64_t i) { return (unsigned char)((uint64_t)i % 251 + (uint64_t)rank); }

static void fill_bytes(unsigned char *memory, int64_t rank, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        memory[i] = byte_at(rank, i);
}

static int64_t first_difference(const unsigned char *memory, int64_t rank, int64_t n) {
    int64_t i = 0;
    while (i < n && memory[i] == byte_at(rank, i))
        i++;
    return i;
}

static int broadcast_from_the_heap(dt_ctx *ctx, dt_group *world) {
    unsigned char *memory = dt_heap_alloc(ctx, (size_t)COUNT);
    CHECK(memory, "%s", dt_error_text(ctx));
    if (dt_rank(ctx) == 1)
        fill_bytes(memory, 1, COUNT);
    CHECK_OK(ctx, dt_comm_broadcast(world, memory, memory, COUNT, DT_U8, 1));
    int64_t wrong = first_difference(memory, 1, COUNT);
    CHECK(wrong == COUNT, "byte %lld is wrong: got %d", (long long)wrong, memory[wrong]);
    return dt_heap_free(ctx, memory) != DT_OK;
}

static int send_from_outside(dt_ctx *ctx, dt_group *world) {
    unsigned char *memory = malloc((size_t)COUNT);
    CHECK(memory, "no memory");
    fill_bytes(memory, 7 * dt_rank(ctx), dt_rank(ctx) == 0 ? COUNT : 1);
    if (dt_rank(ctx) == 0)
        CHECK_OK(ctx, dt_comm_send(world, memory, COUNT, DT_U8, 1));
    else
        CHECK_OK(ctx, dt_comm_recv(world, memory, COUNT, DT_U8, 0));
    int64_t wrong = first_difference(memory, 0, COUNT);
    CHECK(wrong == COUNT, "byte %lld is wrong: got %d", (long long)wrong, memory[wrong]);
    free(memory);
    return 0;
}

/* The gathered result is beyond 2^31, its blocks are not; one of them is empty. */
static int gather_unequal(dt_ctx *ctx, dt_group *world) {
    const int64_t counts[] = {COUNT, 0};
    int64_t own = counts[dt_rank(ctx)];
    unsigned char *src = dt_heap_alloc(ctx, (size_t)own + 1), *dst = dt_heap_alloc(ctx, (size_t)COUNT);
    CHECK(src && dst, "%s", dt_error_text(ctx));
    fill_bytes(src, 3, own);
    CHECK_OK(ctx,
             dt_comm_run(world, &(dt_comm_call){
                                    .op = DT_ALL_GATHER, .dtype = DT_U8, .src = src, .dst = dst, .counts = counts}));
    int64_t wrong = first_difference(dst, 3, COUNT);
    CHECK(wrong == COUNT, "byte %lld is wrong: got %d", (long long)wrong, dst[wrong]);
    return dt_heap_free(ctx, src) != DT_OK || dt_heap_free(ctx, dst) != DT_OK;
}

static int reduce_in_place(dt_ctx *ctx, dt_group *world) {
    unsigned char *memory = dt_heap_alloc(ctx, (size_t)COUNT);
    CHECK(memory, "%s", dt_error_text(ctx));
    fill_bytes(memory, dt_rank(ctx), COUNT);
    CHECK_OK(ctx, dt_comm_all_reduce(world, memory, memory, COUNT, DT_U8, DT_SUM));
    for (int64_t i = 0; i < COUNT; i++) {
        unsigned char expected = (unsigned char)(byte_at(0, i) + byte_at(1, i));
        CHECK(memory[i] == expected, "byte %lld: expected %d, got %d", (long long)i, expected, memory[i]);
    }
    return dt_heap_free(ctx, memory) != DT_OK;
}

static int run_large_collectives(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_group *world = dt_group_world(ctx);
    return broadcast_from_the_heap(ctx, world) || send_from_outside(ctx, world) || gather_unequal(ctx, world) ||
           reduce_in_place(ctx, world);
}

static bool has_memory(double bytes) {
    char line[128];
    long long kilobytes = 0;
    FILE *file = fopen("/proc/meminfo", "r");
    while (file && fgets(line, sizeof line, file) && !sscanf(line, "MemAvailable: %lld", &kilobytes))
        ;
    if (file)
        fclose(file);
    return (double)kilobytes * 1024 > bytes;
}

static void counts__beyond_31_bits(void **state) {
    (void)state;
    if (!has_memory(5.0 * (double)COUNT))
        test_skip("too little memory is available for 2^31 elements");
    run_ranks(2, run_large_collectives, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(counts__beyond_31_bits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
