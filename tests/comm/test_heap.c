/* SPDX-License-Identifier: Apache-2.0
 *
 * The shared heap against a model; invalid pointers; pages that are returned to the system. Then every allocation
 * that a rank makes, ordinary or from the heap, is made to fail in turn: that rank reports it, the others get an error
 * at once, nothing leaks, and all can clear the error and continue.
 */
#include "support/collectives.h"
#include "support/launch.h"

#include "base/ctx.h"
#include "comm/comm.h"
#include "launch/launch.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The model: what is allocated, and the byte that fills it. */
enum { MAX_BLOCKS = 400 };

struct block {
    unsigned char *memory;
    size_t bytes;
    unsigned char fill;
};

struct model {
    dt_ctx *ctx;
    struct block blocks[MAX_BLOCKS];
    int n;
    size_t live, peak;
};

static size_t random_size(uint64_t *random) {
    static const size_t max[] = {1, 64, 65, 500, 5000, 33000, 70000, 3000000};
    return (size_t)test_below(random, (int64_t)max[test_below(random, 8)] + 1);
}

static int check_statistics(const struct model *model) {
    dt_heap_statistics stats = dt_heap_stats(model->ctx);
    CHECK(stats.live_bytes == model->live && stats.peak_bytes == model->peak && stats.n_live == model->n,
          "%zu bytes live, %zu at most, %" PRId64 " blocks; the model has %zu, %zu, %d", stats.live_bytes,
          stats.peak_bytes, stats.n_live, model->live, model->peak, model->n);
    CHECK(stats.held_bytes >= stats.live_bytes, "%zu bytes held, %zu live", stats.held_bytes, stats.live_bytes);
    return 0;
}

static int alloc_random(struct model *model, uint64_t *random) {
    size_t bytes = random_size(random);
    unsigned char *memory = dt_heap_alloc(model->ctx, bytes), fill = (unsigned char)test_random(random);
    CHECK(memory, "%zu bytes: %s", bytes, dt_error_text(model->ctx));
    CHECK((uintptr_t)memory % 64 == 0, "%p is not aligned to 64", (void *)memory);
    memset(memory, fill, bytes);
    model->blocks[model->n++] = (struct block){memory, bytes, fill};
    model->live += bytes;
    model->peak = model->live > model->peak ? model->live : model->peak;
    return 0;
}

static int free_random(struct model *model, uint64_t *random) {
    int i = (int)test_below(random, model->n);
    struct block block = model->blocks[i];
    model->blocks[i] = model->blocks[--model->n];
    for (size_t k = 0; k < block.bytes; k++)
        CHECK(block.memory[k] == block.fill, "byte %zu of %zu: expected %02x, got %02x", k, block.bytes, block.fill,
              block.memory[k]);
    model->live -= block.bytes;
    CHECK_OK(model->ctx, dt_heap_free(model->ctx, block.memory));
    return 0;
}

static int compare_with_model(dt_ctx *ctx, void *arg) {
    int n_steps = *(int *)arg;
    uint64_t random = test_seed(42 + (uint64_t)dt_rank(ctx));
    struct model *model = calloc(1, sizeof *model);
    model->ctx = ctx;
    for (int k = 0; k < n_steps; k++) {
        /* Alternately fills and empties. */
        bool take = test_below(&random, 10) < (k / 500 % 2 ? 3 : 7);
        if (model->n == 0 || (take && model->n < MAX_BLOCKS) ? alloc_random(model, &random)
                                                             : free_random(model, &random))
            return 1;
        if (check_statistics(model))
            return 1;
    }
    while (model->n)
        if (free_random(model, &random))
            return 1;
    int wrong = check_statistics(model);
    free(model);
    return wrong;
}

static void heap__agrees_with_a_model(void **state) {
    (void)state;
    int n_steps = test_with_tsan ? 1500 : 6000;
    test_memory memory;
    dt_ctx *ctx = dt_init(&(dt_init_options){.transport = "self"});
    assert_int_equal(compare_with_model(ctx, &n_steps), 0);
    assert_int_equal(dt_close(ctx), 0);
    run_ranks_with(&(test_ranks){.n = 2, .counted = &memory}, compare_with_model, &n_steps);
}

static dt_ctx *small_heap(size_t bytes) {
    dt_ctx *ctx = dt_init(&(dt_init_options){.transport = "self", .heap_bytes = bytes});
    assert_non_null(ctx);
    return ctx;
}

static void assert_not_freed(dt_ctx *ctx, void *memory) {
    dt_heap_statistics before = dt_heap_stats(ctx);
    assert_int_equal(dt_heap_free(ctx, memory), DT_ERR_VALUE);
    assert_error_contains(ctx, DT_ERR_VALUE, "expected a live block of this rank's heap, got 0x");
    assert_int_equal(dt_heap_stats(ctx).n_live, before.n_live);
    ctx->status = DT_OK;
}

static void heap__refuses_pointers_that_are_not_its_blocks(void **state) {
    (void)state;
    dt_ctx *ctx = small_heap((size_t)64 << 20);
    char *small = dt_heap_alloc(ctx, 1000), *large = dt_heap_alloc(ctx, 1000000), *outside = malloc(1000);
    memset(small, 0, 1000);
    memset(large, 0, 1000000);
    assert_int_equal(dt_heap_free(ctx, NULL), DT_OK);
    assert_not_freed(ctx, outside);
    assert_not_freed(ctx, &outside);
    assert_not_freed(ctx, small + 64);
    assert_not_freed(ctx, small + 1);
    assert_not_freed(ctx, large + 4096);
    assert_not_freed(ctx, large + ((size_t)1 << 30));
    assert_not_freed(ctx, (void *)(uintptr_t)64);
    assert_not_freed(ctx, (void *)UINTPTR_MAX);
    assert_int_equal(dt_heap_free(ctx, small), DT_OK);
    assert_int_equal(dt_heap_free(ctx, large), DT_OK);
    assert_not_freed(ctx, small);
    assert_not_freed(ctx, large);
    assert_null(dt_heap_alloc(NULL, 1));
    assert_int_equal(dt_heap_free(NULL, outside), DT_ERR_VALUE);
    assert_int_equal(dt_heap_stats(NULL).n_live, 0);
    free(outside);
    assert_int_equal(dt_close(ctx), 0);
}

static void assert_out_of_memory(dt_ctx *ctx, size_t bytes) {
    assert_null(dt_heap_alloc(ctx, bytes));
    assert_error_contains(ctx, DT_ERR_MEMORY, "heap: out of memory");
    ctx->status = DT_OK;
}

static void heap__reports_that_it_is_full(void **state) {
    (void)state;
    static const size_t sizes[] = {1, 100, 5000, 32000, 40000, 1000000};
    enum { HEAP = 16 << 20, MOST = HEAP / 64 };
    dt_ctx *ctx = small_heap(HEAP);
    void **blocks = calloc(MOST, sizeof *blocks);
    assert_out_of_memory(ctx, HEAP);
    assert_out_of_memory(ctx, HEAP + 1);
    assert_out_of_memory(ctx, SIZE_MAX);
    assert_out_of_memory(ctx, SIZE_MAX - 63);
    assert_out_of_memory(ctx, SIZE_MAX / 2);
    for (size_t k = 5; k < 6; k--) { /* from the largest, because small blocks are never joined again */
        size_t n = 0;
        while ((blocks[n] = dt_heap_alloc(ctx, sizes[k])))
            n++;
        assert_error_contains(ctx, DT_ERR_MEMORY, "heap: out of memory");
        ctx->status = DT_OK;
        size_t used = n * sizes[k];
        if (k == 5 && used < HEAP / 2)
            fail_msg("%zu blocks of %zu bytes fill a heap of %d", n, sizes[k], (int)HEAP);
        while (n)
            assert_int_equal(dt_heap_free(ctx, blocks[--n]), DT_OK);
        assert_int_equal(dt_heap_stats(ctx).live_bytes, 0);
    }
    free(blocks);
    assert_int_equal(dt_close(ctx), 0);
}

static size_t memory_available(void) {
    char line[128];
    size_t kib = 0;
    FILE *file = fopen("/proc/meminfo", "re");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "MemAvailable: %zu", &kib) == 1)
            break;
    if (file)
        fclose(file);
    return kib * 1024;
}

/* Resident bytes of the heap of a world of one. */
static size_t resident_of(const dt_ctx *ctx) {
    const dt__heap *heap = &dt__runtime_of(ctx)->heap;
    char line[256], range[64];
    size_t kib = 0;
    bool inside = false;
    FILE *file = fopen("/proc/self/smaps", "re");
    snprintf(range, sizeof range, "%" PRIxPTR "-", (uintptr_t)heap->base);
    while (file && fgets(line, sizeof line, file)) {
        unsigned long long start, end;
        if (sscanf(line, "%llx-%llx ", &start, &end) == 2)
            inside = start >= (uintptr_t)heap->base && end <= (uintptr_t)heap->base + heap->bytes;
        size_t rss;
        if (inside && sscanf(line, "Rss: %zu", &rss) == 1)
            kib += rss;
    }
    if (file)
        fclose(file);
    return kib * 1024;
}

/* Free blocks that kept their pages and free blocks that did not, next to each other all over the heap. */
static void heap__that_is_free_is_one_range(void **state) {
    (void)state;
    enum { N = 60 };
    void *small[N], *large[N];
    dt_ctx *ctx = dt_init(&(dt_init_options){.heap_bytes = (size_t)1 << 30});
    for (int i = 0; i < N; i++) {
        small[i] = dt_heap_alloc(ctx, 40000);
        large[i] = dt_heap_alloc(ctx, (size_t)16 << 20);
    }
    for (int i = 0; i < N; i++)
        assert_int_equal(dt_heap_free(ctx, small[i]), DT_OK);
    for (int i = 0; i < N; i++)
        assert_int_equal(dt_heap_free(ctx, large[i]), DT_OK);
    void *almost_all = dt_heap_alloc(ctx, (size_t)1000 << 20);
    assert_non_null(almost_all);
    assert_int_equal(dt_heap_free(ctx, almost_all), DT_OK);
    assert_int_equal(dt_close(ctx), 0);
}

/* Small blocks of one size fill the heap, then those of another size, then a large one. */
static void heap__small_blocks_do_not_keep_its_pages(void **state) {
    (void)state;
    enum { HEAP = 8 << 20, MOST = HEAP / 1000 };
    static unsigned char *blocks[MOST];
    static const size_t sizes[] = {1000, 30000, 5000, 30000, 1000};
    dt_ctx *ctx = dt_init(&(dt_init_options){.heap_bytes = HEAP});
    unsigned char *held = NULL;
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        size_t n = HEAP / 2 / sizes[k];
        for (size_t i = 0; i < n; i++) {
            blocks[i] = dt_heap_alloc(ctx, sizes[k]);
            assert_non_null(blocks[i]);
            memset(blocks[i], (int)i, sizes[k]);
        }
        for (size_t i = 0; i < n; i++) {
            assert_int_equal(blocks[i][sizes[k] - 1], i % 256);
            if (held || i != n / 2)
                assert_int_equal(dt_heap_free(ctx, blocks[i]), DT_OK);
            else
                held = memset(blocks[i], 77, sizes[k]); /* stays in use throughout */
        }
        void *large = dt_heap_alloc(ctx, (size_t)(HEAP * 0.4));
        assert_non_null(large);
        memset(large, 1, (size_t)(HEAP * 0.4));
        assert_int_equal(dt_heap_free(ctx, large), DT_OK);
    }
    for (size_t i = 0; i < sizes[0]; i++)
        assert_int_equal(held[i], 77);
    assert_int_equal(dt_heap_free(ctx, held), DT_OK);
    assert_int_equal(dt_heap_stats(ctx).n_live, 0);
    assert_int_equal(dt_close(ctx), 0);
}

static void heap__returns_pages_of_large_blocks(void **state) {
    (void)state;
    enum { BLOCK = 100 << 20, N = 5 };
    if (test_with_tsan)
        test_skip("the thread sanitizer keeps pages of its own");
    if (memory_available() < (size_t)1 << 30)
        test_skip("less than 1 GiB of memory is available");
    dt_ctx *ctx = small_heap((size_t)1 << 30);
    void *blocks[N];
    for (int k = 0; k < N; k++) {
        blocks[k] = dt_heap_alloc(ctx, BLOCK);
        memset(blocks[k], 1, BLOCK);
    }
    size_t full = resident_of(ctx);
    assert_in_range(full, (size_t)N * BLOCK, (size_t)(N + 1) * BLOCK);
    for (int k = 0; k < N; k++)
        assert_int_equal(dt_heap_free(ctx, blocks[k]), DT_OK);
    assert_in_range(resident_of(ctx), (size_t)4 * BLOCK, full); /* test_heap_pages.c has when they go back */
    assert_in_range(dt_heap_trim(ctx), (size_t)N * BLOCK, full);
    size_t kept = resident_of(ctx);
    if (kept > (size_t)8 << 20)
        fail_msg("expected at most 8 MiB resident, got %zu of %zu bytes", kept, full);
    /* The returned pages can be used again. */
    unsigned char *again = dt_heap_alloc(ctx, (size_t)4 * BLOCK);
    assert_non_null(again);
    memset(again, 7, (size_t)4 * BLOCK);
    for (size_t k = 0; k < (size_t)4 * BLOCK; k += 4096)
        assert_int_equal(again[k], 7);
    assert_int_equal(dt_heap_free(ctx, again), DT_OK);
    assert_int_equal(dt_close(ctx), 0);
}

/* Every allocation in turn. */

enum { N_RANKS = 3 };

struct failing_allocation {
    int64_t victim;
    long n;              /* which of the victim's allocations fails */
    _Atomic int32_t hit; /* it was made */
};

/* Every kind of call that allocates memory, on all ranks; returns the first status that is not DT_OK. */
static dt_status run_collectives(dt_ctx *ctx, dt_group *group) {
    static const struct {
        dt_collective op;
        int64_t count;
        bool unequal, started;
        enum test_memory_kind memory;
    } cases[] = {
        {DT_ALL_REDUCE, 100, false, false, TEST_OUTSIDE},  {DT_ALL_REDUCE, 20000, false, false, TEST_HEAP},
        {DT_ALL_REDUCE, 20000, false, true, TEST_OUTSIDE}, {DT_ALL_TO_ALL, 100, true, false, TEST_OUTSIDE},
        {DT_ALL_TO_ALL, 9000, true, true, TEST_MIXED},     {DT_BROADCAST, 20000, false, true, TEST_OUTSIDE},
        {DT_ALL_GATHER, 3000, true, true, TEST_OUTSIDE},   {DT_REDUCE_SCATTER, 5000, false, false, TEST_MIXED},
        {DT_GATHER, 5000, false, false, TEST_OUTSIDE},     {DT_SCATTER, 5000, true, false, TEST_OUTSIDE},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        test_run run;
        test_case collective = {.op = cases[k].op,
                                .dtype = DT_F32,
                                .count = cases[k].count,
                                .unequal = cases[k].unequal,
                                .memory = cases[k].memory,
                                .seed = test_seed(k)};
        if (test_prepare(&run, ctx, group, &collective))
            return dt_error_status(ctx);
        dt_work *work = cases[k].started ? dt_comm_start(group, &run.call) : NULL;
        dt_status status = work               ? dt_work_wait(work)
                           : cases[k].started ? dt_error_status(ctx)
                                              : dt_comm_run(group, &run.call);
        if (status == DT_OK && test_check(&run))
            status = DT_ERR_INTERNAL;
        test_drop(&run);
        DT__TRY(status);
    }
    return DT_OK;
}

static dt_status pass_messages(dt_ctx *ctx, dt_group *group) {
    int64_t n = dt_group_size(group), own_rank = dt_group_rank(group), value[100] = {own_rank}, got[100] = {-1};
    DT__TRY(dt_comm_send(group, value, 100, DT_I64, (own_rank + 1) % n));
    DT__TRY(dt_comm_recv(group, got, 100, DT_I64, (own_rank + n - 1) % n));
    if (got[0] != (own_rank + n - 1) % n)
        return DT_ERR_INTERNAL;
    DT__TRY(dt_comm_send(group, value, 100, DT_I64, own_rank));
    DT__TRY(dt_comm_recv(group, got, 100, DT_I64, own_rank));
    void *block = dt_heap_alloc(ctx, 123456);
    if (!block)
        return dt_error_status(ctx);
    return dt_heap_free(ctx, block);
}

static dt_status use_groups(dt_ctx *ctx) {
    static const int64_t members[N_RANKS] = {2, 0, 1};
    dt_group *world = dt_group_world(ctx), *group = dt_group_new(ctx, members, N_RANKS);
    dt_status status = world && group ? run_collectives(ctx, group) : dt_error_status(ctx);
    if (status == DT_OK)
        status = pass_messages(ctx, group);
    if (status == DT_OK)
        status = dt_comm_barrier(world);
    dt_group_release(group);
    return status;
}

static dt_ctx *open_ctx(const dt_init_options *options, const test_memory *memory) {
    dt_ctx *ctx = dt_init(options);
    if (!ctx && memory->n_calls >= memory->fail_at && !memory->n_live)
        ctx = dt_init(options); /* only one allocation fails */
    return ctx;
}

static int run_with_failing_allocation(dt_ctx *none, void *arg) {
    struct failing_allocation *failing_allocation = arg;
    dt__ticket ticket;
    test_memory memory = {0};
    (void)none;
    CHECK(dt__ticket_parse(getenv("DTENSOR_LAUNCH"), &ticket), "no ticket");
    bool victim = ticket.rank == failing_allocation->victim;
    memory.fail_at = victim ? failing_allocation->n : 0;
    dt_init_options options = {.allocator = test_memory_allocator(&memory), .timeout_s = 30};
    dt_ctx *ctx = open_ctx(&options, &memory);
    CHECK(ctx, "dt_init failed");
    bool inside = memory.n_calls < memory.fail_at || !victim; /* not in dt_init */
    double start = test_seconds();
    dt_status status = use_groups(ctx);
    double took = test_seconds() - start;
    if (victim) {
        bool hit = memory.n_calls >= memory.fail_at;
        atomic_store(&failing_allocation->hit, hit);
        CHECK(status == (hit && inside ? DT_ERR_MEMORY : DT_OK), "allocation %ld: %s: %s", failing_allocation->n,
              dt_status_name(status), dt_error_text(ctx));
    } else {
        CHECK(status == DT_OK || status == DT_ERR_PEER, "allocation %ld of rank %" PRId64 ": %s: %s",
              failing_allocation->n, failing_allocation->victim, dt_status_name(status), dt_error_text(ctx));
        CHECK(took < 10 * test_slowness, "allocation %ld: notified after %g s", failing_allocation->n, took);
    }
    memory.fail_at = 0;
    CHECK_OK(ctx, dt_error_clear(ctx));
    CHECK_OK(ctx, use_groups(ctx));
    CHECK(dt_heap_stats(ctx).n_live <= 12, "%" PRId64 " blocks of heap are in use", dt_heap_stats(ctx).n_live);
    CHECK(dt_close(ctx) == 0, "dt_close failed");
    CHECK(!memory.n_live && !memory.wrong_size, "allocation %ld: %ld blocks leak%s", failing_allocation->n,
          memory.n_live, memory.wrong_size ? " and a size was wrong" : "");
    return 0;
}

static void heap__and_ordinary_memory_may_fail_anywhere(void **state) {
    (void)state;
    if (test_with_tsan)
        test_skip("ranks are threads with the thread sanitizer");
    struct failing_allocation *failing_allocation = test_shared_memory(sizeof *failing_allocation);
    for (int64_t victim = 0; victim < N_RANKS; victim++) {
        long n = 0;
        do {
            failing_allocation->victim = victim;
            failing_allocation->n = ++n;
            failing_allocation->hit = 0;
            test_launch launch = {.bare = true};
            test_launch_begin(&launch, N_RANKS, NULL, run_with_failing_allocation, failing_allocation);
            test_launch_end(&launch, 60 * test_slowness);
            for (int rank = 0; rank < N_RANKS; rank++)
                if (launch.statuses[rank])
                    fail_msg("allocation %ld of rank %lld failed: rank %d failed", n, (long long)victim, rank);
        } while (failing_allocation->hit);
        assert_in_range(n, 30, 300);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(heap__agrees_with_a_model),
        cmocka_unit_test(heap__refuses_pointers_that_are_not_its_blocks),
        cmocka_unit_test(heap__reports_that_it_is_full),
        cmocka_unit_test(heap__that_is_free_is_one_range),
        cmocka_unit_test(heap__small_blocks_do_not_keep_its_pages),
        cmocka_unit_test(heap__returns_pages_of_large_blocks),
        cmocka_unit_test(heap__and_ordinary_memory_may_fail_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
