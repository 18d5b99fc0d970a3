/* SPDX-License-Identifier: Apache-2.0
 *
 * Random programs: every rank derives the same long list of steps from a seed and runs its part of it. Groups of any
 * members in any order are made and freed along the way; collectives and messages of every kind, dtype and size run
 * on them, blocking or started; each rank tests and waits for its operations in progress in an order of its own.
 * Every result is compared with arithmetic. Ranks 2 to 8.
 *
 * DTENSOR_TEST_STEPS is the length of a program.
 */
#include "support/collectives.h"
#include "support/launch.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_RANKS = 8, MAX_GROUPS = 24, MAX_IN_FLIGHT = 14, MAX_BYTES = 400000, MAX_SELF_MESSAGES = 3 };

/* Equal on every rank. */
struct group {
    int64_t members[MAX_RANKS], n; /* n 0: the slot is free */
};

/* An operation that this rank has started. */
struct operation {
    test_run run;
    dt_work *work;
    int slot; /* of its group */
};

struct program {
    dt_ctx *ctx;
    uint64_t shared, own; /* numbers that are the same on every rank, and this rank's */
    int64_t step;
    struct group groups[MAX_GROUPS];
    dt_group *handles[MAX_GROUPS];
    struct operation operations[MAX_IN_FLIGHT];
    int n_operations;
};

struct plan {
    uint64_t seed;
    int64_t n_steps;
};

static int64_t rank_in_group(const struct group *group, int64_t rank) {
    for (int64_t i = 0; i < group->n; i++)
        if (group->members[i] == rank)
            return i;
    return -1;
}

static int wait_for(struct program *program, int i) {
    struct operation operation = program->operations[i];
    program->operations[i] = program->operations[--program->n_operations];
    for (int64_t tests = test_below(&program->own, 4); tests > 0; tests--) {
        dt_status status = dt_work_test(operation.work);
        CHECK(status >= 0, "step %" PRId64 ": %s: %s", program->step, dt_status_name(status),
              dt_error_text(program->ctx));
    }
    CHECK_OK(program->ctx, dt_work_wait(operation.work));
    return test_finish(&operation.run);
}

static int wait_for_any(struct program *program) {
    return wait_for(program, (int)test_below(&program->own, program->n_operations));
}

static int limit_operations(struct program *program) {
    while (program->n_operations > MAX_IN_FLIGHT - 2 * MAX_SELF_MESSAGES)
        if (wait_for_any(program))
            return 1;
    return 0;
}

/* The call and its counts are overwritten once it has started. */
static dt_work *start_with_temporary_call(dt_group *group, dt_comm_call call) {
    int64_t counts[2][MAX_RANKS];
    size_t bytes = (size_t)dt_group_size(group) * sizeof(int64_t);
    if (call.counts)
        call.counts = memcpy(counts[0], call.counts, bytes);
    if (call.recv_counts)
        call.recv_counts = memcpy(counts[1], call.recv_counts, bytes);
    dt_work *work = dt_comm_start(group, &call);
    memset(counts, 0x55, sizeof counts);
    memset(&call, 0x55, sizeof call);
    return work;
}

static int start_operation(struct program *program, int slot, const test_case *collective) {
    struct operation *operation = &program->operations[program->n_operations];
    operation->slot = slot;
    CHECK(!test_prepare(&operation->run, program->ctx, program->handles[slot], collective), "%s",
          dt_error_text(program->ctx));
    operation->work = start_with_temporary_call(program->handles[slot], operation->run.call);
    CHECK(operation->work, "step %" PRId64 ": %s", program->step, dt_error_text(program->ctx));
    program->n_operations++;
    return 0;
}

static int run_operation(struct program *program, int slot, const test_case *collective, bool blocking) {
    return blocking ? test_run_once(program->ctx, program->handles[slot], collective)
                    : start_operation(program, slot, collective);
}

/* The steps. Each draws the same shared numbers on every rank, whether or not the rank is a member. */

static int make_group(struct program *program, int slot) {
    struct group *group = &program->groups[slot];
    int64_t n = dt_world(program->ctx), order[MAX_RANKS];
    for (int64_t i = 0; i < n; i++) {
        int64_t at = test_below(&program->shared, i + 1);
        order[i] = order[at];
        order[at] = i;
    }
    *group = (struct group){.n = 1 + test_below(&program->shared, n)};
    memcpy(group->members, order, (size_t)group->n * sizeof *order);
    bool member = rank_in_group(group, dt_rank(program->ctx)) >= 0;
    if (!member && test_below(&program->own, 2)) /* a rank outside may make the group, or not */
        return 0;
    program->handles[slot] = dt_group_new(program->ctx, group->members, group->n);
    CHECK(program->handles[slot], "no group: %s", dt_error_text(program->ctx));
    return 0;
}

static int free_group(struct program *program, int slot) {
    for (int i = program->n_operations - 1; i >= 0; i--)
        if (program->operations[i].slot == slot && wait_for(program, i))
            return 1;
    dt_group_release(program->handles[slot]);
    program->handles[slot] = NULL;
    program->groups[slot].n = 0;
    return 0;
}

static int change_groups(struct program *program) {
    int slot = 1 + (int)test_below(&program->shared, MAX_GROUPS - 1);
    return program->groups[slot].n ? free_group(program, slot) : make_group(program, slot);
}

/* A random group; slot 0 is never free. */
static int random_group(struct program *program) {
    int slot = (int)test_below(&program->shared, MAX_GROUPS);
    return program->groups[slot].n ? slot : 0;
}

static int run_collective(struct program *program) {
    int slot = random_group(program);
    test_case collective = test_random_case(&program->shared, program->groups[slot].n, MAX_BYTES);
    bool blocking = test_below(&program->shared, 3) == 0;
    if (rank_in_group(&program->groups[slot], dt_rank(program->ctx)) < 0)
        return 0;
    return run_operation(program, slot, &collective, blocking);
}

/* Receives from this rank itself may precede the sends; they complete in order. */
static int self_messages(struct program *program, int slot, test_case collective) {
    int64_t n = 1 + test_below(&program->own, MAX_SELF_MESSAGES);
    bool receives_first = test_below(&program->own, 2);
    for (int pass = 0; pass < 2; pass++)
        for (int64_t i = 0; i < n; i++) {
            collective.op = (pass == 0) == receives_first ? DT_RECV : DT_SEND;
            collective.seed += pass == 0 || i ? 1 : (uint64_t)(1 - n);
            if (run_operation(program, slot, &collective, collective.op == DT_SEND && test_below(&program->own, 2)))
                return 1;
        }
    return 0;
}

static int run_message(struct program *program) {
    int slot = random_group(program);
    const struct group *group = &program->groups[slot];
    int64_t from = test_below(&program->shared, group->n), to = test_below(&program->shared, group->n);
    test_case collective = test_random_case(&program->shared, 1, MAX_BYTES);
    int64_t own_rank = rank_in_group(group, dt_rank(program->ctx));
    collective.unequal = collective.in_place = false;
    if (own_rank == from && own_rank == to) {
        collective.root = own_rank;
        return self_messages(program, slot, collective);
    }
    if (own_rank != from && own_rank != to)
        return 0;
    collective.op = own_rank == from ? DT_SEND : DT_RECV;
    collective.root = own_rank == from ? to : from;
    return run_operation(program, slot, &collective, test_below(&program->own, 3) == 0);
}

static int run_step(struct program *program) {
    int64_t kind = test_below(&program->shared, 10);
    if (limit_operations(program))
        return 1;
    if (kind == 0 ? change_groups(program) : kind < 4 ? run_message(program) : run_collective(program))
        return 1;
    while (program->n_operations && test_below(&program->own, 3) == 0)
        if (wait_for_any(program))
            return 1;
    return 0;
}

static int run_program(dt_ctx *ctx, void *arg) {
    const struct plan *plan = arg;
    struct program *program = calloc(1, sizeof *program);
    program->ctx = ctx;
    program->shared = plan->seed;
    program->own = plan->seed + 1000 + (uint64_t)dt_rank(ctx);
    dt_heap_statistics before = dt_heap_stats(ctx);
    if (make_group(program, 0))
        return 1;
    for (; program->step < plan->n_steps; program->step++)
        CHECK(run_step(program) == 0, "seed %" PRIu64 ", %lld ranks, step %" PRId64 ", rank %lld", plan->seed,
              (long long)dt_world(ctx), program->step, (long long)dt_rank(ctx));
    while (program->n_operations)
        if (wait_for_any(program))
            return 1;
    for (int slot = 0; slot < MAX_GROUPS; slot++)
        dt_group_release(program->handles[slot]);
    free(program);
    CHECK(dt_heap_stats(ctx).peak_bytes >= before.peak_bytes, "the heap's peak went down");
    return 0;
}

static uint64_t number_from(const char *variable, uint64_t default_value) {
    const char *text = getenv(variable);
    return text ? strtoull(text, NULL, 10) : default_value;
}

static void random_programs__compute_the_expected_values(void **state) {
    (void)state;
    struct plan plan = {.n_steps = (int64_t)number_from("DTENSOR_TEST_STEPS", 1000)};
    for (int64_t n = 2; n <= MAX_RANKS; n++) {
        plan.seed = test_seed((uint64_t)n);
        run_ranks(n, run_program, &plan);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_programs__compute_the_expected_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
