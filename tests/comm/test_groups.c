/* SPDX-License-Identifier: Apache-2.0
 *
 * Groups: their order, their members, what they refuse, what they share, and what they cost. Hundreds at a time, and
 * tens of thousands made and freed, must not leak files or memory.
 */
/* ctest: timeout=300 */
#include "support/collectives.h"
#include "support/launch.h"

#include "base/ctx.h"
#include "comm/runtime.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_RANKS = 8 };

/* Any distinct ranks in any order. */
static int64_t any_members(uint64_t *random, int64_t world, int64_t min, int64_t *members) {
    for (int64_t i = 0; i < world; i++) {
        int64_t at = test_below(random, i + 1);
        members[i] = members[at];
        members[at] = i;
    }
    return min + test_below(random, world - min + 1);
}

static bool is_among(const int64_t *members, int64_t n, int64_t rank) {
    for (int64_t i = 0; i < n; i++)
        if (members[i] == rank)
            return true;
    return false;
}

/* Order and places. */

static int follow_the_list(dt_ctx *ctx, void *arg) {
    (void)arg;
    uint64_t random = test_seed(5);
    for (int k = 0; k < 200; k++) {
        int64_t members[MOST_RANKS], n = any_members(&random, dt_world(ctx), 1, members), place = -1;
        dt_group *group = dt_group_new(ctx, members, n);
        CHECK(group, "%s", dt_error_text(ctx));
        for (int64_t i = 0; i < n; i++) {
            CHECK(dt_group_world_rank(group, i) == members[i], "member %" PRId64 " is %" PRId64 ", not %" PRId64, i,
                  dt_group_world_rank(group, i), members[i]);
            place = members[i] == dt_rank(ctx) ? i : place;
        }
        CHECK(dt_group_size(group) == n && dt_group_rank(group) == place,
              "size %" PRId64 " and place %" PRId64 ", not %" PRId64 " and %" PRId64, dt_group_size(group),
              dt_group_rank(group), n, place);
        CHECK(dt_group_world_rank(group, n) == -1 && dt_group_world_rank(group, -1) == -1, "a member too many");
        CHECK(dt_group_retain(group) == group, "retain returned another group");
        dt_group_release(group);
        CHECK(dt_group_size(group) == n, "a group that was kept is gone");
        dt_group_release(group);
    }
    dt_group *world = dt_group_world(ctx);
    CHECK(world == dt_group_world(ctx) && dt_group_size(world) == dt_world(ctx) &&
              dt_group_rank(world) == dt_rank(ctx) &&
              dt_group_world_rank(world, dt_world(ctx) - 1) == dt_world(ctx) - 1,
          "the world is not all ranks in order");
    return 0;
}

static void groups__follow_the_order_of_their_list(void **state) {
    (void)state;
    test_memory memory;
    for (int64_t n = 1; n <= MOST_RANKS; n += 3)
        run_ranks_with(&(test_ranks){.n = n, .counted = &memory}, follow_the_list, NULL);
}

static void groups__of_no_ranks_are_empty(void **state) {
    (void)state;
    assert_int_equal(dt_group_size(NULL), 0);
    assert_int_equal(dt_group_rank(NULL), -1);
    assert_int_equal(dt_group_world_rank(NULL, 0), -1);
    assert_null(dt_group_retain(NULL));
    dt_group_release(NULL);
    assert_null(dt_group_world(NULL));
    assert_null(dt_group_new(NULL, &(int64_t){0}, 1));
    assert_int_equal(dt_comm_barrier(NULL), DT_ERR_STATE);
    assert_null(dt_comm_start(NULL, &(dt_comm_call){.op = DT_BARRIER}));
    assert_int_equal(dt_work_test(NULL), DT_ERR_STATE);
    assert_int_equal(dt_work_wait(NULL), DT_ERR_STATE);
}

static void groups__of_impossible_ranks_are_refused(void **state) {
    (void)state;
    static const struct {
        int64_t ranks[3], n;
        const char *text;
    } cases[] = {
        {{0}, 0, "expected 1 to 7, got 0"},
        {{0}, -1, "expected 1 to 7, got -1"},
        {{0, 1, 2}, 8, "number of ranks: expected 1 to 7, got 8"},
        {{0, 7}, 2, "rank at index 1: expected 0 to 6, got 7"},
        {{-1, 2}, 2, "rank at index 0: expected 0 to 6, got -1"},
        {{4, 2, 4}, 3, "rank 4 is listed twice"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        dt_ctx *ctx = dt_init(&(dt_init_options){.transport = "fake", .world = 7, .rank = 2});
        assert_null(dt_group_new(ctx, cases[i].ranks, cases[i].n));
        assert_error_contains(ctx, DT_ERR_VALUE, cases[i].text);
        ctx->status = DT_OK;
        assert_null(dt_group_new(ctx, NULL, 2));
        assert_error_contains(ctx, DT_ERR_VALUE, "group_new");
        ctx->status = DT_OK;
        assert_int_equal(dt_close(ctx), 0);
    }
}

/* Outside. */

static int stay_outside(dt_ctx *ctx, void *arg) {
    (void)arg;
    int64_t members[] = {2, 0};
    float value = (float)dt_rank(ctx), sum = -1;
    dt_group *group = dt_group_new(ctx, members, 2);
    bool member = dt_group_rank(group) >= 0;
    for (int k = 0; k < 5; k++) {
        dt_status status = dt_comm_all_reduce(group, &value, &sum, 1, DT_F32, DT_SUM);
        dt_work *work = member ? NULL : dt_comm_start(group, &(dt_comm_call){.op = DT_BARRIER});
        if (member) {
            CHECK_OK(ctx, status);
            CHECK(sum == 2, "the sum is %g", (double)sum);
        } else {
            CHECK(status == DT_ERR_STATE && !work && sum == -1, "a rank outside could take part: %s",
                  dt_status_name(status));
            CHECK(strstr(dt_error_text(ctx), "rank 1 is not a member"), "%s", dt_error_text(ctx));
            CHECK(dt_comm_send(group, &value, 1, DT_F32, 0) == DT_ERR_STATE, "a rank outside could send");
            ctx->status = DT_OK;
        }
    }
    dt_group_release(group);
    CHECK_OK(ctx, dt_comm_barrier(dt_group_world(ctx)));
    return 0;
}

static void groups__refuse_calls_of_ranks_outside(void **state) {
    (void)state;
    run_ranks(3, stay_outside, NULL);
}

/* Sharing. */

static int share(dt_ctx *ctx, void *arg) {
    const test_memory *memory = arg;
    const int64_t orders[4][3] = {{0, 1, 2}, {2, 0, 1}, {1, 2, 0}, {2, 1, 0}};
    dt_group *groups[4], *world = dt_group_world(ctx);
    uint64_t random = test_seed(3);
    ctx->freed_kept = 0; /* blocks are counted */
    CHECK_OK(ctx, dt_comm_barrier(world));
    for (int i = 0; i < 4; i++)
        groups[i] = dt_group_new(ctx, orders[i], 3);
    for (int k = 0; k < 100; k++) {
        test_case collective = test_any_case(&random, 3, 20000);
        if (test_once(ctx, groups[test_below(&random, 4)], &collective))
            return 1;
    }
    long before = memory->n_live;
    dt_heap_statistics heap = dt_heap_stats(ctx);
    for (int i = 0; i < 4; i++) {
        dt_group *again = dt_group_new(ctx, orders[i], 3);
        CHECK_OK(ctx, dt_comm_barrier(again));
        CHECK(groups[i]->channel == world->channel && again->channel == world->channel,
              "groups of the same ranks do not share their channel");
        dt_group_release(again);
    }
    CHECK(memory->n_live == before && dt_heap_stats(ctx).live_bytes == heap.live_bytes,
          "%ld blocks and %zu bytes of heap more", memory->n_live - before,
          dt_heap_stats(ctx).live_bytes - heap.live_bytes);
    for (int i = 0; i < 4; i++)
        dt_group_release(groups[i]);
    return 0;
}

static void groups__of_the_same_ranks_share(void **state) {
    (void)state;
    test_memory memory = {0};
    run_ranks_with(&(test_ranks){.n = 3, .counted = &memory}, share, &memory);
}

/* Cost. */

static size_t resident_bytes(void) {
    long pages = 0, shared = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (!file)
        return 0;
    if (fscanf(file, "%*d %ld %ld", &pages, &shared) != 2)
        pages = 0;
    fclose(file);
    return (size_t)pages * (size_t)sysconf(_SC_PAGESIZE);
}

struct usage {
    int files;
    size_t resident, live, held, ordinary;
    long blocks;
};

/* Ranks that are threads have their files in common, also those that others open to count them. */
static struct usage usage_of(dt_ctx *ctx, const test_memory *memory) {
    dt_heap_statistics heap = dt_heap_stats(ctx);
    return (struct usage){test_with_tsan ? 0 : test_open_files(),
                          resident_bytes(),
                          heap.live_bytes,
                          heap.held_bytes,
                          memory->live_bytes,
                          memory->n_live};
}

enum { ALIVE = 500 };

static int keep_hundreds(dt_ctx *ctx, void *arg) {
    const test_memory *memory = arg;
    dt_group *groups[ALIVE];
    uint64_t random = test_seed(11);
    CHECK_OK(ctx, dt_comm_barrier(dt_group_world(ctx)));
    struct usage before = usage_of(ctx, memory);
    for (int i = 0; i < ALIVE; i++) {
        int64_t members[MOST_RANKS], n = any_members(&random, dt_world(ctx), 2, members);
        float values[50] = {0};
        groups[i] = dt_group_new(ctx, members, n);
        if (is_among(members, n, dt_rank(ctx)))
            CHECK_OK(ctx, dt_comm_all_reduce(groups[i], values, values, 50, DT_F32, DT_SUM));
    }
    for (int i = 0; i < ALIVE; i++) {
        test_case collective = test_any_case(&random, dt_group_size(groups[i]), 5000);
        if (dt_group_rank(groups[i]) >= 0 && test_once(ctx, groups[i], &collective))
            return 1;
    }
    struct usage after = usage_of(ctx, memory);
    CHECK(after.files == before.files, "%d open files, before %d", after.files, before.files);
    CHECK(after.ordinary - before.ordinary < (size_t)ALIVE * 1024, "%zu bytes of ordinary memory for %d groups",
          after.ordinary - before.ordinary, ALIVE);
    CHECK(after.held - before.held < (size_t)ALIVE * 100000, "%zu bytes of heap for %d groups",
          after.held - before.held, ALIVE);
    if (test_slowness == 1)
        CHECK(after.resident - before.resident < (size_t)48 << 20, "%zu bytes resident for %d groups",
              after.resident - before.resident, ALIVE);
    for (int i = 0; i < ALIVE; i++)
        dt_group_release(groups[i]);
    return 0;
}

static void groups__alive_by_the_hundred_cost_little(void **state) {
    (void)state;
    test_memory memory = {0};
    run_ranks_with(&(test_ranks){.n = 8, .counted = &memory}, keep_hundreds, &memory);
}

/* Makes groups out of a pool of lists, uses and frees them. Each rank decides for itself whether it makes a group
 * again, takes one that it kept, and keeps or frees it afterwards. */
enum { POOL = 60, MAKINGS = 10000 };

struct maker {
    dt_ctx *ctx;
    uint64_t shared, own;
    int64_t members[POOL][MOST_RANKS], n[POOL];
    dt_group *kept[POOL];
};

static int message_in(struct maker *maker, dt_group *group) {
    int64_t n = dt_group_size(group), from = test_below(&maker->shared, n), to = test_below(&maker->shared, n);
    int64_t values[20] = {0}, got[20] = {0}, me = dt_group_rank(group);
    values[19] = (int64_t)test_random(&maker->shared);
    if (me == from)
        CHECK_OK(maker->ctx, dt_comm_send(group, values, 20, DT_I64, to));
    if (me == to) {
        CHECK_OK(maker->ctx, dt_comm_recv(group, got, 20, DT_I64, from));
        CHECK(!memcmp(got, values, sizeof got), "received %" PRId64 ", not %" PRId64, got[19], values[19]);
    }
    return 0;
}

static int make_and_use(struct maker *maker) {
    int64_t k = test_below(&maker->shared, POOL);
    uint64_t numbers = test_random(&maker->shared);
    if (!is_among(maker->members[k], maker->n[k], dt_rank(maker->ctx)))
        return 0;
    uint64_t outer = maker->shared;
    dt_group *group = maker->kept[k];
    bool fresh = !group || test_below(&maker->own, 4) > 0;
    if (fresh)
        group = dt_group_new(maker->ctx, maker->members[k], maker->n[k]);
    CHECK(group, "no group: %s", dt_error_text(maker->ctx));
    maker->shared = numbers;
    test_case collective = test_any_case(&maker->shared, maker->n[k], 3000);
    if (test_once(maker->ctx, group, &collective) || message_in(maker, group))
        return 1;
    maker->shared = outer;
    if (fresh) {
        bool keep = test_below(&maker->own, 8) == 0;
        dt_group_release(keep ? maker->kept[k] : group);
        if (keep)
            maker->kept[k] = group;
    }
    return 0;
}

static int forget_kept(struct maker *maker) {
    for (int k = 0; k < POOL; k++) {
        dt_group_release(maker->kept[k]);
        maker->kept[k] = NULL;
    }
    CHECK_OK(maker->ctx, dt_comm_barrier(dt_group_world(maker->ctx)));
    return 0;
}

static int make_thousands(dt_ctx *ctx, void *arg) {
    const test_memory *memory = arg;
    static struct maker makers[MOST_RANKS]; /* one per rank: ranks may be threads */
    struct maker *maker = &makers[dt_rank(ctx)];
    ctx->freed_kept = 0; /* blocks are counted */
    *maker = (struct maker){.ctx = ctx, .shared = test_seed(21), .own = test_seed(22 + (uint64_t)dt_rank(ctx))};
    for (int k = 0; k < POOL; k++)
        maker->n[k] = any_members(&maker->shared, dt_world(ctx), 1, maker->members[k]);
    for (int k = 0; k < MAKINGS; k++)
        if (make_and_use(maker))
            return 1;
    if (forget_kept(maker))
        return 1;
    struct usage before = usage_of(ctx, memory);
    for (int k = 0; k < MAKINGS; k++)
        CHECK(!make_and_use(maker), "making %d", k);
    if (forget_kept(maker))
        return 1;
    struct usage after = usage_of(ctx, memory);
    CHECK(after.files == before.files, "%d open files, before %d", after.files, before.files);
    CHECK(after.blocks <= before.blocks + 8 && after.ordinary <= before.ordinary + 4096,
          "ordinary memory: %ld blocks of %zu bytes, before %ld of %zu", after.blocks, after.ordinary, before.blocks,
          before.ordinary);
    CHECK(after.live <= before.live + 300000 && after.held <= before.held + 1000000,
          "heap: %zu bytes live, %zu held; before %zu and %zu", after.live, after.held, before.live, before.held);
    if (test_slowness == 1) /* a rank reads the heaps of all ranks, each of which may hold so much more */
        CHECK(after.resident <= before.resident + (size_t)dt_world(ctx) * 1000000, "%zu bytes resident, before %zu",
              after.resident, before.resident);
    return 0;
}

static void groups__made_by_the_thousand_leak_nothing(void **state) {
    (void)state;
    test_memory memory = {0};
    run_ranks_with(&(test_ranks){.n = 4, .counted = &memory, .seconds = 120}, make_thousands, &memory);
}

/* Ever new groups: places for them in shared memory come back, and so does the heap; what stays of each is a number.
 */
enum { NEW_GROUPS = 3000 };

static int make_ever_new(dt_ctx *ctx, void *arg) {
    const test_memory *memory = arg;
    static struct maker makers[MOST_RANKS];
    struct maker *maker = &makers[dt_rank(ctx)];
    *maker = (struct maker){.ctx = ctx, .shared = test_seed(31)};
    struct usage before = {0};
    for (int k = 0; k < NEW_GROUPS; k++) {
        int64_t members[MOST_RANKS], n = any_members(&maker->shared, dt_world(ctx), 2, members);
        uint64_t numbers = test_random(&maker->shared), outer = maker->shared;
        if (k == NEW_GROUPS / 2)
            before = usage_of(ctx, memory);
        if (!is_among(members, n, dt_rank(ctx)))
            continue;
        dt_group *group = dt_group_new(ctx, members, n);
        maker->shared = numbers;
        for (int i = 0; i < 4; i++)
            if (message_in(maker, group))
                return 1;
        CHECK_OK(ctx, dt_comm_barrier(group));
        maker->shared = outer;
        dt_group_release(group);
    }
    struct usage after = usage_of(ctx, memory);
    CHECK(after.files == before.files, "%d open files, before %d", after.files, before.files);
    CHECK(after.held <= (size_t)40 << 20, "%zu bytes of heap are held, before %zu", after.held, before.held);
    CHECK(after.ordinary - before.ordinary < (size_t)NEW_GROUPS / 2 * 1500,
          "%zu bytes of ordinary memory for %d groups", after.ordinary - before.ordinary, NEW_GROUPS / 2);
    return 0;
}

static void groups__made_and_freed_do_not_fill_shared_memory(void **state) {
    (void)state;
    test_memory memory = {0};
    run_ranks_with(&(test_ranks){.n = 7, .counted = &memory, .seconds = 120}, make_ever_new, &memory);
}

/* Calls that look alike: the text lists what may differ. */

static int assert_differs(dt_ctx *ctx, const dt_comm_call *call, const char *collective) {
    const char *part = "but the sizes of the blocks, the order or the mesh of the group, or the tag differ";
    dt_group *group = dt_group_new(ctx, (int64_t[]){0, 1, 2}, 3);
    dt_status status = dt_comm_run(group, call);
    CHECK(status == DT_ERR_MISMATCH, "%s: %s", collective, dt_error_text(ctx));
    CHECK(strstr(dt_error_text(ctx), part) && strstr(dt_error_text(ctx), collective), "%s", dt_error_text(ctx));
    dt_group_release(group);
    CHECK_OK(ctx, dt_error_clear(ctx));
    return 0;
}

static int differ_a_little(dt_ctx *ctx, void *arg) {
    (void)arg;
    double src[16] = {0}, dst[16];
    bool other = dt_rank(ctx) == 1;
    dt_comm_call tagged = {
        .op = DT_ALL_REDUCE, .dtype = DT_F64, .reduce = DT_SUM, .src = src, .dst = dst, .count = 9, .tag = other};
    dt_comm_call blocks = {.op = DT_ALL_TO_ALL,
                           .dtype = DT_F64,
                           .src = src,
                           .dst = dst,
                           .counts = other ? (int64_t[]){1, 2, 4} : (int64_t[]){1, 2, 3},
                           .recv_counts = (int64_t[]){dt_rank(ctx) + 1, dt_rank(ctx) + 1, dt_rank(ctx) + 1}};
    return assert_differs(ctx, &tagged, "both call all_reduce of f64 x 9, sum") ||
           assert_differs(ctx, &blocks, "both call all_to_all of f64 in blocks,");
}

static int send_less(dt_ctx *ctx, void *arg) {
    (void)arg;
    static double values[5000];
    int64_t me = dt_rank(ctx);
    dt_group *world = dt_group_world(ctx);
    dt_status status =
        me ? dt_comm_send(world, values, 4000, DT_F64, 0) : dt_comm_recv(world, values, 5000, DT_F64, 1);
    const char *text = dt_error_text(ctx), *own = me ? "send of f64 x 4000 to 0, #1" : "recv of f64 x 5000, #1";
    CHECK(status == DT_ERR_MISMATCH && strstr(text, own), "%s", text);
    CHECK(strstr(text, "rank 0 calls recv of f64 x 5000") && strstr(text, "rank 1 calls send of f64 x 4000 to 0"),
          "%s", text);
    return dt_error_clear(ctx) != DT_OK;
}

static void mismatch__distinguishes_send_from_recv(void **state) {
    (void)state;
    run_ranks(2, send_less, NULL);
}

static void mismatch__reports_what_may_differ(void **state) {
    (void)state;
    run_ranks(3, differ_a_little, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups__follow_the_order_of_their_list),
        cmocka_unit_test(groups__of_no_ranks_are_empty),
        cmocka_unit_test(groups__of_impossible_ranks_are_refused),
        cmocka_unit_test(groups__refuse_calls_of_ranks_outside),
        cmocka_unit_test(groups__of_the_same_ranks_share),
        cmocka_unit_test(groups__alive_by_the_hundred_cost_little),
        cmocka_unit_test(groups__made_by_the_thousand_leak_nothing),
        cmocka_unit_test(groups__made_and_freed_do_not_fill_shared_memory),
        cmocka_unit_test(mismatch__reports_what_may_differ),
        cmocka_unit_test(mismatch__distinguishes_send_from_recv),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
