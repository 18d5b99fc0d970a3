/* SPDX-License-Identifier: Apache-2.0
 *
 * Groups: their order, their members, invalid ranks, shared channels and memory. Hundreds at a time, and tens of
 * thousands created and freed, must not leak files or memory.
 */
#include "support/collectives.h"
#include "support/launch.h"

#include "base/ctx.h"
#include "comm/comm.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_RANKS = 8 };

/* Random distinct ranks in random order. */
static int64_t random_members(uint64_t *random, int64_t world, int64_t min, int64_t *members) {
    for (int64_t i = 0; i < world; i++) {
        int64_t at = test_below(random, i + 1);
        members[i] = members[at];
        members[at] = i;
    }
    return min + test_below(random, world - min + 1);
}

static bool is_member(const int64_t *members, int64_t n, int64_t rank) {
    for (int64_t i = 0; i < n; i++)
        if (members[i] == rank)
            return true;
    return false;
}

/* Order of ranks. */

static int check_order(dt_ctx *ctx, void *arg) {
    (void)arg;
    uint64_t random = test_seed(5);
    for (int k = 0; k < 200; k++) {
        int64_t members[MAX_RANKS], n = random_members(&random, dt_world(ctx), 1, members), rank_in_group = -1;
        dt_group *group = dt_group_new(ctx, members, n);
        CHECK(group, "%s", dt_error_text(ctx));
        for (int64_t i = 0; i < n; i++) {
            CHECK(dt_group_world_rank(group, i) == members[i],
                  "member %" PRId64 ": expected rank %" PRId64 ", got %" PRId64, i, members[i],
                  dt_group_world_rank(group, i));
            rank_in_group = members[i] == dt_rank(ctx) ? i : rank_in_group;
        }
        CHECK(dt_group_size(group) == n && dt_group_rank(group) == rank_in_group,
              "expected size %" PRId64 " and rank %" PRId64 ", got %" PRId64 " and %" PRId64, n, rank_in_group,
              dt_group_size(group), dt_group_rank(group));
        CHECK(dt_group_world_rank(group, n) == -1 && dt_group_world_rank(group, -1) == -1,
              "expected -1 for members that do not exist");
        CHECK(dt_group_retain(group) == group, "retain returned another group");
        dt_group_release(group);
        CHECK(dt_group_size(group) == n, "a retained group was freed");
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
    for (int64_t n = 1; n <= MAX_RANKS; n += 3)
        run_ranks_with(&(test_ranks){.n = n, .counted = &memory}, check_order, NULL);
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

static void groups__of_invalid_ranks_are_refused(void **state) {
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

/* Ranks outside the group. */

static int call_from_outside(dt_ctx *ctx, void *arg) {
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
            CHECK(status == DT_ERR_STATE && !work && sum == -1,
                  "expected an error for a rank outside the group, got %s", dt_status_name(status));
            CHECK(strstr(dt_error_text(ctx), "rank 1 is not a member"), "%s", dt_error_text(ctx));
            CHECK(dt_comm_send(group, &value, 1, DT_F32, 0) == DT_ERR_STATE,
                  "expected an error for a send from outside the group");
            ctx->status = DT_OK;
        }
    }
    dt_group_release(group);
    CHECK_OK(ctx, dt_comm_barrier(dt_group_world(ctx)));
    return 0;
}

static void groups__refuse_calls_of_ranks_outside(void **state) {
    (void)state;
    run_ranks(3, call_from_outside, NULL);
}

/* Groups of the same ranks. */

static int share_channel(dt_ctx *ctx, void *arg) {
    const test_memory *memory = arg;
    const int64_t orders[4][3] = {{0, 1, 2}, {2, 0, 1}, {1, 2, 0}, {2, 1, 0}};
    dt_group *groups[4], *world = dt_group_world(ctx);
    uint64_t random = test_seed(3);
    ctx->freed_kept = 0; /* blocks are counted */
    CHECK_OK(ctx, dt_comm_barrier(world));
    for (int i = 0; i < 4; i++)
        groups[i] = dt_group_new(ctx, orders[i], 3);
    for (int k = 0; k < 100; k++) {
        test_case collective = test_random_case(&random, 3, 20000);
        if (test_run_once(ctx, groups[test_below(&random, 4)], &collective))
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
    run_ranks_with(&(test_ranks){.n = 3, .counted = &memory}, share_channel, &memory);
}

/* Memory. */

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

enum { N_ALIVE = 500 };

static int use_hundreds(dt_ctx *ctx, void *arg) {
    const test_memory *memory = arg;
    dt_group *groups[N_ALIVE];
    uint64_t random = test_seed(11);
    CHECK_OK(ctx, dt_comm_barrier(dt_group_world(ctx)));
    struct usage before = usage_of(ctx, memory);
    for (int i = 0; i < N_ALIVE; i++) {
        int64_t members[MAX_RANKS], n = random_members(&random, dt_world(ctx), 2, members);
        float values[50] = {0};
        groups[i] = dt_group_new(ctx, members, n);
        if (is_member(members, n, dt_rank(ctx)))
            CHECK_OK(ctx, dt_comm_all_reduce(groups[i], values, values, 50, DT_F32, DT_SUM));
    }
    for (int i = 0; i < N_ALIVE; i++) {
        test_case collective = test_random_case(&random, dt_group_size(groups[i]), 5000);
        if (dt_group_rank(groups[i]) >= 0 && test_run_once(ctx, groups[i], &collective))
            return 1;
    }
    struct usage after = usage_of(ctx, memory);
    CHECK(after.files == before.files, "%d open files, before %d", after.files, before.files);
    const size_t members =
        dt__has_nodes(ctx) ? (size_t)dt_world(ctx) : 0; /* whose states a group between nodes has */
    const size_t allowed = 1024 + members * sizeof(dt__remote);
    CHECK(after.ordinary - before.ordinary < N_ALIVE * allowed, "%zu bytes of ordinary memory for %d groups",
          after.ordinary - before.ordinary, N_ALIVE);
    CHECK(after.held - before.held < (size_t)N_ALIVE * 100000, "%zu bytes of heap for %d groups",
          after.held - before.held, N_ALIVE);
    if (test_slowness == 1)
        CHECK(after.resident - before.resident < (size_t)48 << 20, "%zu bytes resident for %d groups",
              after.resident - before.resident, N_ALIVE);
    for (int i = 0; i < N_ALIVE; i++)
        dt_group_release(groups[i]);
    return 0;
}

static void groups__use_little_memory(void **state) {
    (void)state;
    test_memory memory = {0};
    run_ranks_with(&(test_ranks){.n = 8, .counted = &memory}, use_hundreds, &memory);
}

/* Creates groups from a pool of lists, uses and frees them. Each rank decides for itself whether it creates the group
 * again or uses one that it kept, and whether it keeps or frees it afterwards. */
enum { POOL = 60, N_ROUNDS = 10000 };

struct group_user {
    dt_ctx *ctx;
    uint64_t shared, own;
    int64_t members[POOL][MAX_RANKS], n[POOL];
    dt_group *kept[POOL];
};

static int send_message(struct group_user *group_user, dt_group *group) {
    int64_t n = dt_group_size(group), from = test_below(&group_user->shared, n),
            to = test_below(&group_user->shared, n);
    int64_t values[20] = {0}, got[20] = {0}, own_rank = dt_group_rank(group);
    values[19] = (int64_t)test_random(&group_user->shared);
    if (own_rank == from)
        CHECK_OK(group_user->ctx, dt_comm_send(group, values, 20, DT_I64, to));
    if (own_rank == to) {
        CHECK_OK(group_user->ctx, dt_comm_recv(group, got, 20, DT_I64, from));
        CHECK(!memcmp(got, values, sizeof got), "expected %" PRId64 ", got %" PRId64, values[19], got[19]);
    }
    return 0;
}

static int use_random_group(struct group_user *group_user) {
    int64_t k = test_below(&group_user->shared, POOL);
    uint64_t numbers = test_random(&group_user->shared);
    if (!is_member(group_user->members[k], group_user->n[k], dt_rank(group_user->ctx)))
        return 0;
    uint64_t saved = group_user->shared;
    dt_group *group = group_user->kept[k];
    bool is_new = !group || test_below(&group_user->own, 4) > 0;
    if (is_new)
        group = dt_group_new(group_user->ctx, group_user->members[k], group_user->n[k]);
    CHECK(group, "no group: %s", dt_error_text(group_user->ctx));
    group_user->shared = numbers;
    test_case collective = test_random_case(&group_user->shared, group_user->n[k], 3000);
    if (test_run_once(group_user->ctx, group, &collective) || send_message(group_user, group))
        return 1;
    group_user->shared = saved;
    if (is_new) {
        bool keep = test_below(&group_user->own, 8) == 0;
        dt_group_release(keep ? group_user->kept[k] : group);
        if (keep)
            group_user->kept[k] = group;
    }
    return 0;
}

static int release_kept(struct group_user *group_user) {
    for (int k = 0; k < POOL; k++) {
        dt_group_release(group_user->kept[k]);
        group_user->kept[k] = NULL;
    }
    CHECK_OK(group_user->ctx, dt_comm_barrier(dt_group_world(group_user->ctx)));
    return 0;
}

static int create_thousands(dt_ctx *ctx, void *arg) {
    const test_memory *memory = arg;
    static struct group_user group_users[MAX_RANKS]; /* one per rank: ranks may be threads */
    struct group_user *group_user = &group_users[dt_rank(ctx)];
    ctx->freed_kept = 0; /* blocks are counted */
    *group_user =
        (struct group_user){.ctx = ctx, .shared = test_seed(21), .own = test_seed(22 + (uint64_t)dt_rank(ctx))};
    for (int k = 0; k < POOL; k++)
        group_user->n[k] = random_members(&group_user->shared, dt_world(ctx), 1, group_user->members[k]);
    for (int k = 0; k < N_ROUNDS; k++)
        if (use_random_group(group_user))
            return 1;
    if (release_kept(group_user))
        return 1;
    struct usage before = usage_of(ctx, memory);
    for (int k = 0; k < N_ROUNDS; k++)
        CHECK(!use_random_group(group_user), "round %d", k);
    if (release_kept(group_user))
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

static void groups__created_by_the_thousand_leak_nothing(void **state) {
    (void)state;
    test_memory memory = {0};
    run_ranks_with(&(test_ranks){.n = 4, .counted = &memory}, create_thousands, &memory);
}

/* New groups in each round: their slots in shared memory and their heap blocks are reused; only a number per group is
 * kept. */
enum { NEW_GROUPS = 3000 };

static int create_new_groups(dt_ctx *ctx, void *arg) {
    const test_memory *memory = arg;
    static struct group_user group_users[MAX_RANKS];
    struct group_user *group_user = &group_users[dt_rank(ctx)];
    *group_user = (struct group_user){.ctx = ctx, .shared = test_seed(31)};
    struct usage before = {0};
    for (int k = 0; k < NEW_GROUPS; k++) {
        int64_t members[MAX_RANKS], n = random_members(&group_user->shared, dt_world(ctx), 2, members);
        uint64_t numbers = test_random(&group_user->shared), saved = group_user->shared;
        if (k == NEW_GROUPS / 2)
            before = usage_of(ctx, memory);
        if (!is_member(members, n, dt_rank(ctx)))
            continue;
        dt_group *group = dt_group_new(ctx, members, n);
        group_user->shared = numbers;
        for (int i = 0; i < 4; i++)
            if (send_message(group_user, group))
                return 1;
        CHECK_OK(ctx, dt_comm_barrier(group));
        group_user->shared = saved;
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
    run_ranks_with(&(test_ranks){.n = 7, .counted = &memory}, create_new_groups, &memory);
}

/* Calls that differ in details: the text lists what may differ. */

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

static int mismatch_in_details(dt_ctx *ctx, void *arg) {
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
    int64_t own_rank = dt_rank(ctx);
    dt_group *world = dt_group_world(ctx);
    dt_status status =
        own_rank ? dt_comm_send(world, values, 4000, DT_F64, 0) : dt_comm_recv(world, values, 5000, DT_F64, 1);
    const char *text = dt_error_text(ctx), *own = own_rank ? "send of f64 x 4000 to 0, #1" : "recv of f64 x 5000, #1";
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
    run_ranks(3, mismatch_in_details, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups__follow_the_order_of_their_list),
        cmocka_unit_test(groups__of_no_ranks_are_empty),
        cmocka_unit_test(groups__of_invalid_ranks_are_refused),
        cmocka_unit_test(groups__refuse_calls_of_ranks_outside),
        cmocka_unit_test(groups__of_the_same_ranks_share),
        cmocka_unit_test(groups__use_little_memory),
        cmocka_unit_test(groups__created_by_the_thousand_leak_nothing),
        cmocka_unit_test(groups__made_and_freed_do_not_fill_shared_memory),
        cmocka_unit_test(mismatch__reports_what_may_differ),
        cmocka_unit_test(mismatch__distinguishes_send_from_recv),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
