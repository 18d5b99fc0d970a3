/* SPDX-License-Identifier: Apache-2.0
 *
 * The pages of a heap: a loop whose temporaries have any size faults nothing once it repeats itself, on one rank, on
 * ranks that share memory and in a world of one, and has hardly more pages than its tensors need; and pages go back to
 * the system when they were not used for long, when memory of the node is short, when another rank's allocation fails,
 * and on request.
 *
 * mpi: no: sets what dt_init reads, and the heaps under MPI are those of shared memory
 */
/* ctest: processors=2 */
#include "support/launch.h"

#include "comm/comm.h"
#include "dtensor/dtensor.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#define MIB ((size_t)1 << 20)

static long n_faults(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_minflt;
}

/* Resident bytes of this rank's heap. */
static size_t resident_of(const dt_ctx *ctx) {
    const dt__heap *heap = &dt__runtime_of(ctx)->heap;
    size_t n = heap->top / 4096 + 1, n_resident = 0;
    unsigned char *is_resident = calloc(n, 1);
    assert_int_equal(mincore(heap->base, n * 4096, is_resident), 0);
    for (size_t i = 0; i < n; i++)
        n_resident += is_resident[i] & 1;
    free(is_resident);
    return n_resident * 4096;
}

static bool has_memory(size_t bytes) { return dt__available_memory("") > bytes + (512 << 20); }

/* Allocates and touches every page. */
static char *new_block(dt_ctx *ctx, size_t bytes) {
    char *block = dt_heap_alloc(ctx, bytes);
    for (size_t i = 0; block && i < bytes; i += 4096)
        block[i] = 1;
    return block;
}

enum { WARM_UPS = 2, REPEATS = 4, FEW_FAULTS = 24 };

/* Faults of REPEATS sums of this many bytes on all ranks together, into new memory. */
static int add_in_loop(dt_ctx *ctx, dt_mesh *mesh, size_t bytes) {
    dt_tensor *x = dt_ones(ctx, DT_SHAPE((int64_t)(bytes / sizeof(float))), .mesh = mesh, .place = "S(0)");
    CHECK(x, "%s", dt_error_text(ctx));
    long before = 0;
    for (int i = 0; i < WARM_UPS + REPEATS; i++) {
        dt_scope scope = dt_scope_begin(ctx);
        before = i == WARM_UPS ? n_faults() : before;
        CHECK(dt_add(x, x), "%s", dt_error_text(ctx));
        dt_scope_end(scope);
    }
    long n = n_faults() - before;
    CHECK(n <= FEW_FAULTS, "%d sums of %zu MiB fault %ld pages", REPEATS, bytes / MIB, n);
    dt_drop(x);
    return 0;
}

/* Blocks of many sizes that live for a while, as in a step of a training. */
static int mix_sizes(dt_ctx *ctx) {
    static const size_t mib[] = {90, 3, 40, 40, 17, 120, 1, 66, 5, 33, 8, 150, 2, 25};
    enum { N = sizeof mib / sizeof *mib, LIVE = 4 };
    long before = 0;
    for (int step = 0; step < WARM_UPS + REPEATS; step++) {
        char *live[N] = {0};
        before = step == WARM_UPS ? n_faults() : before;
        for (int i = 0; i < N + LIVE; i++) {
            if (i < N)
                CHECK(live[i] = new_block(ctx, mib[i] * MIB + 5000), "%s", dt_error_text(ctx));
            if (i >= LIVE)
                CHECK_OK(ctx, dt_heap_free(ctx, live[i - LIVE]));
        }
    }
    long n = n_faults() - before;
    CHECK(n <= FEW_FAULTS, "%d steps with blocks of many sizes fault %ld pages", REPEATS, n);
    return 0;
}

static int run_loops(dt_ctx *ctx, void *arg) {
    static const size_t mib[] = {64, 224, 256, 1024};
    (void)arg;
    dt_mesh *mesh = dt_mesh_new(ctx, "*");
    for (size_t i = 0; i < sizeof mib / sizeof *mib; i++)
        if (add_in_loop(ctx, mesh, mib[i] * MIB))
            return 1;
    dt_mesh_release(mesh);
    (void)dt_heap_trim(ctx);
    return mix_sizes(ctx);
}

static void pages__of_a_loop_stay(void **state) {
    (void)state;
    if (test_with_tsan)
        test_skip("the thread sanitizer has pages of its own");
    if (!has_memory((size_t)3 << 30))
        test_skip("less than 3 GiB of memory is available");
    dt_ctx *ctx = dt_init(&(dt_init_options){.transport = "self", .threads = 1});
    assert_int_equal(run_loops(ctx, NULL), 0);
    assert_int_equal(dt_close(ctx), 0);
    for (int64_t n = 1; n <= 2; n++)
        run_ranks_with(&(test_ranks){.n = n, .options = {.threads = 1}}, run_loops, NULL);
}

/* Pages that stay are used again by blocks of any size: the steps of a training need hardly more than its tensors. */
static int train(dt_ctx *ctx, void *arg) {
    enum { COLUMNS = 1100, N_PARAMETERS = 4 };
    static const int64_t rows[N_PARAMETERS] = {4000, 1500, 2300, 3100};
    (void)arg;
    dt_mesh *mesh = dt_mesh_new(ctx, "*");
    dt_tensor *w[N_PARAMETERS];
    for (int i = 0; i < N_PARAMETERS; i++)
        w[i] = dt_ones(ctx, DT_SHAPE(rows[i], COLUMNS), .mesh = mesh, .place = i % 2 ? "R" : "S(0)",
                       .requires_grad = true);
    dt_optimizer *optimizer = dt_adamw_new(ctx, 0.1);
    for (int step = 0; step < WARM_UPS + REPEATS; step++) {
        dt_scope scope = dt_scope_begin(ctx);
        for (int i = 0; i < N_PARAMETERS; i++)
            CHECK_OK(ctx, dt_backward(dt_mean(dt_gelu(dt_square(w[(i + step) % N_PARAMETERS])))));
        CHECK_OK(ctx, dt_optimizer_step(optimizer, .parameters = ((dt_tensors){N_PARAMETERS, w})));
        CHECK_OK(ctx, dt_zero_grad((dt_tensors){N_PARAMETERS, w}));
        dt_scope_end(scope);
    }
    size_t resident = resident_of(ctx), peak = dt_heap_stats(ctx).peak_bytes;
    CHECK(resident > peak / 2 && resident < peak + peak / 4, "%zu MiB are resident for tensors of at most %zu",
          resident / MIB, peak / MIB);
    dt_optimizer_free(optimizer);
    return 0;
}

static void pages__that_stay_are_used_again(void **state) {
    (void)state;
    if (test_with_tsan || !has_memory((size_t)1 << 30))
        test_skip("the thread sanitizer, or less than 1 GiB of memory");
    setenv("DTENSOR_HEAP_IDLE", "off", 1);
    for (int64_t n = 1; n <= 3; n += 2)
        run_ranks_with(&(test_ranks){.n = n, .options = {.threads = 1}}, train, NULL);
    unsetenv("DTENSOR_HEAP_IDLE");
}

enum { IDLE = 100 << 20 }; /* bytes */

/* Leaves IDLE bytes of free memory with pages, in front of a block that stays: they are no part of larger blocks. */
static int leave_idle(dt_ctx *ctx) {
    char *blocks[4];
    for (int i = 0; i < 4; i++)
        CHECK(blocks[i] = new_block(ctx, IDLE / 4), "%s", dt_error_text(ctx));
    CHECK(new_block(ctx, 100000), "%s", dt_error_text(ctx));
    for (int i = 0; i < 4; i++)
        CHECK_OK(ctx, dt_heap_free(ctx, blocks[i]));
    CHECK(resident_of(ctx) >= IDLE, "%zu bytes are resident after the blocks were freed", resident_of(ctx));
    return 0;
}

static int check_returned(dt_ctx *ctx, const char *when) {
    size_t kept = resident_of(ctx);
    CHECK(kept < IDLE / 10, "%s: %zu bytes are still resident", when, kept);
    return 0;
}

/* The next use of the heap returns pages that were idle for long, but not those that are used. */
static int return_by_time(dt_ctx *ctx, void *arg) {
    (void)arg;
    if (leave_idle(ctx))
        return 1;
    char *block = NULL;
    for (int i = 0; i < 8; i++) { /* a part of what is free is used again and again */
        test_sleep(0.1);
        CHECK(block = new_block(ctx, IDLE / 4), "%s", dt_error_text(ctx));
        CHECK_OK(ctx, dt_heap_free(ctx, block));
    }
    size_t kept = resident_of(ctx);
    CHECK(kept >= IDLE / 4 && kept < IDLE / 2, "%zu bytes are resident, %d of them are used", kept, IDLE / 4);
    test_sleep(0.8);
    CHECK_OK(ctx, dt_heap_free(ctx, dt_heap_alloc(ctx, 100000)));
    return check_returned(ctx, "after some time");
}

/* A rank that waits for another returns them, too. */
static int return_in_wait(dt_ctx *ctx, void *arg) {
    (void)arg;
    if (leave_idle(ctx))
        return 1;
    if (dt_rank(ctx) == 0)
        test_sleep(1.5);
    CHECK_OK(ctx, dt_comm_barrier(dt_group_world(ctx)));
    return dt_rank(ctx) > 0 ? check_returned(ctx, "after a wait") : 0;
}

static void pages__go_back_after_some_time(void **state) {
    (void)state;
    if (test_with_tsan || !has_memory((size_t)1 << 30))
        test_skip("the thread sanitizer, or less than 1 GiB of memory");
    setenv("DTENSOR_HEAP_IDLE", "400ms", 1);
    dt_ctx *ctx = dt_init(&(dt_init_options){.transport = "self"});
    assert_int_equal(return_by_time(ctx, NULL), 0);
    assert_int_equal(dt_close(ctx), 0);
    run_ranks(2, return_by_time, NULL);
    run_ranks(2, return_in_wait, NULL);
    unsetenv("DTENSOR_HEAP_IDLE");
}

/* DTENSOR_HEAP_IDLE=off: until the program requests it. */
static int return_on_request(dt_ctx *ctx, void *arg) {
    (void)arg;
    if (leave_idle(ctx))
        return 1;
    test_sleep(0.3);
    CHECK_OK(ctx, dt_heap_free(ctx, dt_heap_alloc(ctx, 100000)));
    CHECK(resident_of(ctx) >= IDLE, "%zu bytes are resident", resident_of(ctx));
    size_t n = dt_heap_trim(ctx);
    CHECK(n >= IDLE && n < IDLE + IDLE / 10, "%zu bytes were returned", n);
    CHECK(dt_heap_trim(ctx) == 0, "pages were returned twice");
    return check_returned(ctx, "on request");
}

static void pages__go_back_on_request(void **state) {
    (void)state;
    if (test_with_tsan || !has_memory((size_t)1 << 30))
        test_skip("the thread sanitizer, or less than 1 GiB of memory");
    assert_int_equal(dt_heap_trim(NULL), 0);
    setenv("DTENSOR_HEAP_IDLE", "off", 1);
    dt_ctx *ctx = dt_init(&(dt_init_options){.transport = "self"});
    assert_int_equal(return_on_request(ctx, NULL), 0);
    assert_int_equal(dt_close(ctx), 0);
    run_ranks(3, return_on_request, NULL);
    unsetenv("DTENSOR_HEAP_IDLE");
}

static size_t nothing_is_available(void) { return 1000; }

/* Rank 0 lacks memory: new pages find none left on the node, or the heap is full; its peers return theirs. */
static int lack_memory(dt_ctx *ctx, void *arg) {
    const bool heap_is_full = *(bool *)arg;
    if (leave_idle(ctx))
        return 1;
    CHECK_OK(ctx, dt_comm_barrier(dt_group_world(ctx)));
    if (dt_rank(ctx) == 0 && heap_is_full) {
        CHECK(!dt_heap_alloc(ctx, dt__runtime_of(ctx)->heap.bytes - 50000), "more than is free was allocated");
        CHECK(dt_error_status(ctx) == DT_ERR_MEMORY, "%s", dt_error_text(ctx));
    } else if (dt_rank(ctx) == 0) {
        dt__runtime_of(ctx)->heap.available = nothing_is_available;
        char *more = dt_heap_alloc(ctx, 2 * (size_t)IDLE);
        CHECK(more, "%s", dt_error_text(ctx));
        if (check_returned(ctx, "on the rank that needs memory"))
            return 1;
        CHECK_OK(ctx, dt_heap_free(ctx, more));
    } else {
        test_sleep(0.5);
        CHECK_OK(ctx, dt_heap_free(ctx, dt_heap_alloc(ctx, 100000)));
        if (check_returned(ctx, "after another rank lacked memory"))
            return 1;
    }
    CHECK_OK(ctx, dt_error_clear(ctx));
    return 0;
}

static void pages__go_back_when_memory_is_short(void **state) {
    (void)state;
    bool heap_is_full = false;
    if (test_with_tsan || !has_memory((size_t)1 << 30))
        test_skip("the thread sanitizer, or less than 1 GiB of memory");
    run_ranks_with(&(test_ranks){.n = 3}, lack_memory, &heap_is_full);
    heap_is_full = true;
    run_ranks_with(&(test_ranks){.n = 3}, lack_memory, &heap_is_full);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pages__of_a_loop_stay),
        cmocka_unit_test(pages__that_stay_are_used_again),
        cmocka_unit_test(pages__go_back_after_some_time),
        cmocka_unit_test(pages__go_back_on_request),
        cmocka_unit_test(pages__go_back_when_memory_is_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
