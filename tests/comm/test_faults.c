/* SPDX-License-Identifier: Apache-2.0
 *
 * Faults of a rank in a group. A group of ranks repeats one collective; at a seeded point one of them, the victim, is
 * killed, stopped, exits, closes its context, gets a local error, or makes another call than the others. Every other
 * member must get an error in time that describes the fault, the group must be unusable at once, other memory must be
 * unchanged, and groups without the victim must continue with correct results. A victim that was stopped is resumed
 * when the others have reused their memory: it must get an error and corrupt nothing. While the victim dies, another
 * member may be late: it makes its call only when all others have their error.
 *
 * A fault follows from its number and the seed. DTENSOR_TEST_FIRST and DTENSOR_TEST_RUNS are the first number and the
 * number of faults. Ranks that mpirun started run those of their number of ranks, except kills and exits, after which a
 * launcher ends the others; a stopped rank is one that waits in a signal handler there. Between nodes calls have no
 * more data than fits into packets: MPI may read the larger messages of a failed call until all ranks have closed, when
 * this program has freed them, and is not finalized after it, which Open MPI's launcher takes for a failure.
 */
#include "base/dtype.h"
#include "support/collectives.h"
#include "support/launch.h"

#include "base/ctx.h"
#include "cluster/cluster.h"
#include "comm/comm.h"
#include "shm/shm.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum kind {
    KILL,
    STOP,
    EXIT,
    CLOSE,
    LOCAL_ERROR,
    OTHER_OP,
    OTHER_COUNT,
    OTHER_DTYPE,
    OTHER_REDUCE,
    OTHER_ROOT,
    OTHER_TAG,
    OTHER_ORDER,
    OTHER_BLOCKS,
    INVALID,
    N_KINDS
};

static const struct {
    const char *name;
    dt_status status; /* that the other members get */
    bool by_signal;   /* may happen at any instruction */
    const char *text; /* part of their error */
} kinds[N_KINDS] = {
    [KILL] = {"kill", DT_ERR_PEER, true, "is dead"},
    [STOP] = {"stop", DT_ERR_TIMEOUT, true, "did not arrive within"},
    [EXIT] = {"exit", DT_ERR_PEER, true, "is dead"},
    [CLOSE] = {"close", DT_ERR_PEER, false, "has closed its context"},
    [LOCAL_ERROR] = {"local error", DT_ERR_PEER, false, "the victim's own words"},
    [OTHER_OP] = {"other op", DT_ERR_MISMATCH, false, "call"},
    [OTHER_COUNT] = {"other count", DT_ERR_MISMATCH, false, "call"},
    [OTHER_DTYPE] = {"other dtype", DT_ERR_MISMATCH, false, "call"},
    [OTHER_REDUCE] = {"other reduce", DT_ERR_MISMATCH, false, "call"},
    [OTHER_ROOT] = {"other root", DT_ERR_MISMATCH, false, "call"},
    [OTHER_TAG] = {"other tag", DT_ERR_MISMATCH, false, "call"},
    [OTHER_ORDER] = {"other order", DT_ERR_MISMATCH, false, "call"},
    [OTHER_BLOCKS] = {"other blocks", DT_ERR_MISMATCH, false, "call"},
    [INVALID] = {"invalid call", DT_ERR_MISMATCH, false, "refused its call as invalid"},
};

enum { MAX_RANKS = 5, MAX_BYTES = 1500000, DECOY_BYTES = 5000, STOP_TIMEOUT_MS = 1000 };

struct note {
    _Atomic int64_t error_ns; /* when it got its error; 0 before */
};

struct board {
    _Atomic int64_t fault_ns; /* when it happened */
    _Atomic int32_t n_opened; /* ranks that have made their first calls */
    _Atomic int32_t arrived;  /* survivors that have reached the stage */
    _Atomic int32_t may_wake, victim_is_over;
    _Atomic int32_t is_near;    /* the victim has reached the call at which it happens */
    _Atomic int32_t n_notified; /* survivors that have got their error */
    struct note ranks[MAX_RANKS];
};

struct fault {
    uint64_t number, seed; /* the number within the run, and what it is derived from */
    enum kind kind;
    int64_t n, victim;
    int64_t late; /* a member that makes no call from then on until all others have their error, or -1 */
    int64_t members[MAX_RANKS], n_members; /* of the group that fails */
    test_case collective;
    bool pair;    /* the first member sends to the second */
    bool started; /* dt_comm_start and dt_work_wait instead of dt_comm_run */
    bool tested;  /* dt_work_test until it is over, before waiting */
    bool inside;  /* by signal: after a delay; otherwise: with an operation in flight */
    int64_t at;   /* number of the victim's call at which it happens */
    int64_t delay_us;
    bool notifies;
    bool threads;
    struct board *board;
};

/* A rank in a run. */
struct rank {
    const struct fault *fault;
    dt_ctx *ctx;
    dt_group *group, *others; /* the one that fails; all but the victim, or NULL */
    uint64_t random;          /* the same sequence on all survivors */
    int64_t n_calls;          /* made so far in the group */
    test_run run;             /* the call that is repeated */
    unsigned char *decoys[2]; /* blocks that no call uses */
    bool victim;
};

static bool is_member(const struct fault *fault, int64_t rank) {
    for (int64_t i = 0; i < fault->n_members; i++)
        if (fault->members[i] == rank)
            return true;
    return false;
}

static double limit_of(const struct fault *fault) {
    double base = fault->kind == STOP ? STOP_TIMEOUT_MS / 1000.0 : 1;
    return base + 9.0 * test_slowness;
}

/* Synchronizes the survivors without the library. */
static int reach_stage(const struct rank *rank, int32_t stage) {
    struct board *board = rank->fault->board;
    double deadline = test_seconds() + 10 * test_slowness;
    atomic_fetch_add(&board->arrived, 1);
    while (atomic_load(&board->arrived) < stage * (rank->fault->n - 1)) {
        CHECK(test_seconds() < deadline, "the survivors did not reach stage %d", (int)stage);
        test_sleep(0.0005);
    }
    return 0;
}

/* The faults themselves. */

static struct {
    enum kind kind;
    struct board *board;
} pending; /* for the signal handler of a victim that is a process of its own */

/* Stops without a process that would resume it. */
static void wait_to_wake(void) {
    int64_t end = dt__now_ns() + (int64_t)(10e9 * test_slowness);
    while (!atomic_load(&pending.board->may_wake) && dt__now_ns() < end)
        test_sleep(0.001);
}

static void inject_fault(int signal_number) {
    (void)signal_number;
    atomic_store(&pending.board->fault_ns, dt__now_ns());
    if (pending.kind == KILL)
        kill(getpid(), SIGKILL);
    if (pending.kind == STOP && test_started_ranks())
        wait_to_wake();
    else if (pending.kind == STOP)
        kill(getpid(), SIGSTOP);
    if (pending.kind == EXIT)
        _exit(3);
}

static void inject_fault_later(const struct fault *fault) {
    struct itimerval timer = {.it_value = {0, fault->delay_us}};
    struct sigaction action = {.sa_handler = inject_fault};
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &timer, NULL);
}

static void inject_fault_by_signal(const struct rank *rank) {
    const struct fault *fault = rank->fault;
    pending.kind = fault->kind;
    pending.board = fault->board;
    if (fault->inside)
        inject_fault_later(fault);
    else
        inject_fault(0);
}

/* Memory for mismatched calls of the victim; zeroed, and large enough for all. */
struct scratch {
    void *src, *dst;
    int64_t counts[MAX_RANKS], recv_counts[MAX_RANKS];
    dt_group *group; /* in another order */
};

static dt_group *swapped_group(const struct rank *rank) {
    int64_t members[MAX_RANKS], n = rank->fault->n_members;
    memcpy(members, rank->fault->members, sizeof members);
    int64_t last = members[n - 1];
    members[n - 1] = members[0];
    members[0] = last;
    return dt_group_new(rank->ctx, members, n);
}

static bool is_reduction(dt_collective op) { return op == DT_ALL_REDUCE || op == DT_REDUCE_SCATTER; }

static dt_reduce another_reduce(const test_case *collective) {
    int reduce = (int)collective->reduce;
    do
        reduce = (reduce + 1) % DT_N_REDUCES;
    while (!dt_reduce_allowed(collective->dtype, (dt_reduce)reduce));
    return (dt_reduce)reduce;
}

static void make_invalid(dt_comm_call *call, uint64_t *random, int64_t n_members) {
    switch (test_below(random, 3)) {
    case 0:
        if (call->op == DT_BARRIER)
            call->op = DT_ALL_REDUCE;
        call->dtype = DT_N_DTYPES;
        return;
    case 1:
        if (call->op == DT_BARRIER)
            call->op = DT_BROADCAST;
        call->counts = call->recv_counts = NULL;
        call->count = -1;
        return;
    default:
        if (call->op != DT_SEND && call->op != DT_RECV)
            call->op = DT_BROADCAST;
        call->counts = call->recv_counts = NULL;
        call->count = 100;
        call->root = call->op == DT_BROADCAST ? n_members : call->root;
        call->src = NULL;
        call->dst = NULL;
        return;
    }
}

/* One element moves from one block to another: the total stays. In an exchange, the block for the next member gets
 * another size; the one for the rank itself concerns no other. */
static void change_blocks(const dt_comm_call *call, const dt_group *group, int64_t *counts) {
    int64_t from = 0, n = dt_group_size(group), next = (dt_group_rank(group) + 1) % n;
    if (call->op == DT_ALL_TO_ALL) {
        counts[next] += counts[next] ? -1 : 1;
        return;
    }
    while (from < n && !counts[from])
        from++;
    if (from == n) {
        counts[0]++;
        return;
    }
    counts[from]--;
    counts[(from + 1) % n]++;
}

/* Makes another call than the other members. */
static dt_status call_mismatched(const struct rank *rank, const test_run *run, struct scratch *scratch) {
    const struct fault *fault = rank->fault;
    dt_comm_call call = run->call;
    dt_group *group = rank->group;
    uint64_t random = fault->seed;
    int64_t n = fault->n_members;
    call.src = scratch->src;
    call.dst = scratch->dst;
    switch (fault->kind) {
    case OTHER_OP:
        call.op = (dt_collective)((call.op + 1 + test_below(&random, DT_SEND - 1)) % DT_SEND);
        if (is_reduction(call.op) && !dt_reduce_allowed(call.dtype, call.reduce))
            call.reduce = DT_SUM;
        if (call.op == DT_ALL_TO_ALL && call.counts) {
            memcpy(scratch->recv_counts, call.counts, (size_t)n * sizeof *call.counts);
            call.recv_counts = scratch->recv_counts;
        }
        break;
    case OTHER_COUNT:
        call.count--;
        break;
    case OTHER_DTYPE:
        call.dtype = call.dtype == DT_U8 ? DT_I8 : DT_U8;
        break;
    case OTHER_REDUCE:
        call.reduce = another_reduce(&run->collective);
        break;
    case OTHER_ROOT:
        call.root = (call.root + 1 + test_below(&random, n - 1)) % n;
        break;
    case OTHER_TAG:
        call.tag++;
        break;
    case OTHER_ORDER:
        group = scratch->group;
        if (call.recv_counts) { /* what a rank sends to itself, it receives in the same order */
            int64_t own_rank = dt_group_rank(group);
            memcpy(scratch->recv_counts, call.recv_counts, (size_t)n * sizeof *call.recv_counts);
            scratch->recv_counts[own_rank] = call.counts[own_rank];
            call.recv_counts = scratch->recv_counts;
        }
        break;
    case OTHER_BLOCKS:
        memcpy(scratch->counts, call.counts, (size_t)n * sizeof *call.counts);
        change_blocks(&call, group, scratch->counts);
        call.counts = scratch->counts;
        break;
    case INVALID:
        make_invalid(&call, &random, n);
        break;
    default:
        break;
    }
    return dt_comm_run(group, &call);
}

static bool is_mismatch(enum kind kind) { return kind >= OTHER_OP; }

static dt_status make_mismatch(const struct rank *rank, const test_run *run) {
    const struct fault *fault = rank->fault;
    size_t bytes = (size_t)(fault->collective.count + 101) * (size_t)fault->n_members * 16;
    struct scratch scratch = {calloc(1, bytes), calloc(1, bytes), .group = swapped_group(rank)};
    dt_status status = call_mismatched(rank, run, &scratch);
    free(scratch.src);
    free(scratch.dst);
    dt_group_release(scratch.group);
    return status;
}

/* The fault of the victim instead of its call number fault->at, or with the call in flight. DT_OK: it continues. */
static dt_status commit_fault(const struct rank *rank, const test_run *run) {
    const struct fault *fault = rank->fault;
    if (kinds[fault->kind].by_signal) {
        inject_fault_by_signal(rank);
        return DT_OK;
    }
    atomic_store(&fault->board->fault_ns, dt__now_ns());
    if (fault->kind == LOCAL_ERROR)
        return dt_error_set(rank->ctx, DT_ERR_SYSTEM, "the victim's own words");
    if (is_mismatch(fault->kind))
        return make_mismatch(rank, run);
    return DT_ERR_STATE; /* CLOSE: the caller does */
}

/* The repeated call. */

static dt_status wait_for(const struct fault *fault, dt_work *work) {
    while (fault->tested && dt_work_test(work) == DT_IN_PROGRESS)
        test_sleep(0.00002);
    return dt_work_wait(work);
}

static dt_status call_once(struct rank *rank, test_run *run, bool at_fault) {
    const struct fault *fault = rank->fault;
    dt_status status = DT_OK;
    if (at_fault && !(fault->started && fault->inside))
        status = commit_fault(rank, run);
    if (status != DT_OK)
        return status;
    rank->n_calls += at_fault && is_mismatch(fault->kind) ? 2 : 1;
    if (!fault->started)
        return dt_comm_run(rank->group, &run->call);
    dt_work *work = dt_comm_start(rank->group, &run->call);
    if (!work)
        return dt_error_status(rank->ctx);
    if (at_fault && fault->inside)
        status = commit_fault(rank, run);
    if (status != DT_OK && fault->kind == CLOSE)
        return status; /* closing finishes or abandons it */
    dt_status waited = wait_for(fault, work);
    return status != DT_OK ? status : waited;
}

/* Repeats the call until it fails; *status is the reason. */
static int repeat_call(struct rank *rank, test_run *run, dt_status *status) {
    double deadline = test_seconds() + 10 * test_slowness;
    struct board *board = rank->fault->board;
    bool late = rank->fault->late == dt_rank(rank->ctx);
    for (int64_t i = 0;; i++) {
        test_reset(run);
        if (rank->victim && i == rank->fault->at)
            atomic_store(&board->is_near, 1);
        while (late && atomic_load(&board->is_near) &&
               atomic_load(&board->n_notified) < (int32_t)rank->fault->n_members - 2) {
            CHECK(test_seconds() < deadline, "the death was not detected while rank %lld was late",
                  (long long)rank->fault->late);
            test_sleep(0.0005);
        }
        *status = call_once(rank, run, rank->victim && i == rank->fault->at);
        if (*status != DT_OK)
            return 0;
        if (test_check(run))
            return 1;
        CHECK(test_seconds() < deadline, "rank %lld: %lld calls and no error", (long long)dt_rank(rank->ctx),
              (long long)i);
    }
}

/* What the error of a survivor must contain. */

static int check_durations(const char *text) {
    for (const char *at = text; (at = strstr(at, ", for ")); at++) {
        double seconds = strtod(at + 6, NULL);
        CHECK(seconds >= 0 && seconds < 60, "expected durations below 60 s: %s", text);
    }
    return 0;
}

static int check_contains(const char *text, const char *part) {
    CHECK(strstr(text, part), "expected '%s' in: %s", part, text);
    return 0;
}

static int check_error_text(const struct rank *rank, const char *text) {
    const struct fault *fault = rank->fault;
    char part[200], set_text[160];
    uint64_t set[2] = {0, 0};
    bool sends = fault->members[0] == dt_rank(rank->ctx);
    dt_collective op = !fault->pair ? fault->collective.op : sends ? DT_SEND : DT_RECV;
    for (int64_t i = 0; i < fault->n_members; i++)
        set[0] |= UINT64_C(1) << fault->members[i];
    dt__describe_set(set, (uint64_t)fault->n_members, set_text, sizeof set_text);
    snprintf(part, sizeof part, "#%" PRId64 " of %s", rank->n_calls, set_text);
    if (check_contains(text, dt_collective_name(op)) || check_contains(text, kinds[fault->kind].text) ||
        check_durations(text))
        return 1;
    if (dt__group_spans_nodes(rank->group)) /* the call may be that of the members on one node, with its own number */
        return 0;
    if (check_contains(text, part))
        return 1;
    for (int64_t i = 0; i < fault->n_members; i++) {
        if (fault->members[i] == dt_rank(rank->ctx))
            continue;
        snprintf(part, sizeof part, "\n  rank %" PRId64, fault->members[i]);
        if (check_contains(text, part))
            return 1;
    }
    return 0;
}

static int check_group_is_broken(const struct rank *rank, const test_run *run) {
    double start = test_seconds();
    dt_status status = dt_comm_run(rank->group, &run->call);
    double took = test_seconds() - start;
    CHECK(status == DT_ERR_GROUP, "rank %lld: a call in the broken group: expected group, got %s",
          (long long)dt_rank(rank->ctx), dt_status_name(status));
    CHECK(took < 5 * test_slowness, "the call in the broken group took %g s", took);
    CHECK(!dt_comm_start(rank->group, &run->call), "a call could be started in the broken group");
    return 0;
}

static int check_error_of_survivor(const struct rank *rank, dt_status status, test_run *run) {
    const struct fault *fault = rank->fault;
    int64_t now = dt__now_ns(), happened = atomic_load(&fault->board->fault_ns);
    double took = (double)(now - happened) * 1e-9;
    CHECK(happened, "rank %lld got %s before anything happened: %s", (long long)dt_rank(rank->ctx),
          dt_status_name(status), dt_error_text(rank->ctx));
    CHECK(status == kinds[fault->kind].status, "rank %lld: expected %s, got %s: %s", (long long)dt_rank(rank->ctx),
          dt_status_name(kinds[fault->kind].status), dt_status_name(status), dt_error_text(rank->ctx));
    atomic_fetch_add(&fault->board->n_notified, 1);
    CHECK(took <= limit_of(fault) || fault->late == dt_rank(rank->ctx),
          "rank %lld got its error after %.2f s, expected at most %.2f s: %s", (long long)dt_rank(rank->ctx), took,
          limit_of(fault), dt_error_text(rank->ctx));
    return check_error_text(rank, dt_error_text(rank->ctx)) || test_source_is_intact(run) ||
           check_group_is_broken(rank, run);
}

/* After the fault. */

static int run_collectives(struct rank *rank, dt_group *group, int n_cases) {
    for (int i = 0; i < n_cases; i++) {
        test_case collective = test_random_case(&rank->random, dt_group_size(group), 100000);
        if (test_run_once(rank->ctx, group, &collective))
            return 1;
    }
    return 0;
}

/* Continues until all survivors have seen that the victim has ended. */
static int run_collectives_until_victim_ends(struct rank *rank, dt_group *group) {
    struct board *board = rank->fault->board;
    double deadline = test_seconds() + 10 * test_slowness;
    for (int64_t over = 0; !over;) {
        CHECK(test_seconds() < deadline, "the resumed victim did not get an error");
        int64_t ended = atomic_load(&board->victim_is_over);
        if (group) {
            CHECK_OK(rank->ctx, dt_comm_all_reduce(group, &ended, &over, 1, DT_I64, DT_MAX));
            if (run_collectives(rank, group, 2))
                return 1;
        } else {
            over = ended;
            test_sleep(0.001);
        }
    }
    return 0;
}

/* A new group, created after the failure: the survivors in descending order. */
static dt_group *survivors_in_reverse(const struct rank *rank) {
    int64_t ranks[MAX_RANKS], n = 0;
    for (int64_t i = rank->fault->n - 1; i >= 0; i--)
        if (i != rank->fault->victim)
            ranks[n++] = i;
    return dt_group_new(rank->ctx, ranks, n);
}

static int continue_without_victim(struct rank *rank) {
    const struct fault *fault = rank->fault;
    dt_group *reversed = rank->others ? survivors_in_reverse(rank) : NULL;
    rank->random = fault->seed ^ 0xabcd;
    if (reach_stage(rank, 1))
        return 1;
    if (rank->others && (run_collectives(rank, rank->others, 10) || run_collectives(rank, reversed, 10)))
        return 1;
    if (fault->kind == STOP) {
        atomic_store(&fault->board->may_wake, 1);
        if (run_collectives_until_victim_ends(rank, rank->others))
            return 1;
    }
    dt_group_release(reversed);
    return reach_stage(rank, 2);
}

/* A victim that is alive gets an error too. */
static int check_error_of_victim(struct rank *rank, dt_status status, test_run *run) {
    const struct fault *fault = rank->fault;
    if (fault->kind == STOP || (is_mismatch(fault->kind) && fault->kind != INVALID))
        CHECK(status == kinds[fault->kind].status, "the victim: expected %s, got %s: %s",
              dt_status_name(kinds[fault->kind].status), dt_status_name(status), dt_error_text(rank->ctx));
    if (test_source_is_intact(run) || check_durations(dt_error_text(rank->ctx)))
        return 1;
    atomic_store(&fault->board->victim_is_over, 1);
    return 0;
}

static int run_member(struct rank *rank) {
    const struct fault *fault = rank->fault;
    test_case collective = fault->collective;
    test_run *run = &rank->run;
    dt_status status;
    if (fault->pair) {
        bool sends = fault->members[0] == dt_rank(rank->ctx);
        collective.op = sends ? DT_SEND : DT_RECV;
        collective.root = sends ? 1 : 0;
    }
    CHECK(!test_prepare(run, rank->ctx, rank->group, &collective), "%s", dt_error_text(rank->ctx));
    if (repeat_call(rank, run, &status))
        return 1;
    if (rank->victim && fault->kind == CLOSE)
        return 0; /* closes with its memory in use */
    int wrong = rank->victim ? check_error_of_victim(rank, status, run) : check_error_of_survivor(rank, status, run);
    if (!wrong)
        test_drop(run);
    return wrong;
}

static int open_rank(struct rank *rank) {
    const struct fault *fault = rank->fault;
    int64_t others[MAX_RANKS], n = 0;
    for (int64_t i = 0; i < fault->n; i++)
        if (i != fault->victim)
            others[n++] = i;
    for (int i = 0; i < 2; i++) {
        rank->decoys[i] = dt_heap_alloc(rank->ctx, DECOY_BYTES);
        memset(rank->decoys[i], 0x3c + i, DECOY_BYTES);
    }
    rank->group = dt_group_new(rank->ctx, fault->members, fault->n_members);
    rank->others = n > 1 && !rank->victim ? dt_group_new(rank->ctx, others, n) : NULL;
    CHECK(rank->group && (rank->others || n == 1 || rank->victim), "no group: %s", dt_error_text(rank->ctx));
    if (is_member(fault, dt_rank(rank->ctx)) && !fault->pair) {
        for (; rank->n_calls < 3; rank->n_calls++)
            if (run_collectives(rank, rank->group, 1))
                return 1;
    }
    rank->random = fault->seed ^ 0x1234;
    return rank->others ? run_collectives(rank, rank->others, 3) : 0;
}

/* The victim waits until no rank is in one of these first calls: its death inside a later one would fail them. */
static int wait_until_opened(const struct rank *rank) {
    const struct fault *fault = rank->fault;
    double deadline = test_seconds() + 10 * test_slowness;
    atomic_fetch_add(&fault->board->n_opened, 1);
    while (rank->victim && atomic_load(&fault->board->n_opened) < fault->n) {
        CHECK(test_seconds() < deadline, "the ranks did not finish their first calls");
        test_sleep(0.0002);
    }
    return 0;
}

/* The victim stays until the others have their errors: with its context open, or, when closing is its fault, alive. */
static int wait_for_survivors(const struct rank *rank) {
    const struct fault *fault = rank->fault;
    double deadline = test_seconds() + 10 * test_slowness;
    while (rank->victim && atomic_load(&fault->board->arrived) < fault->n - 1) {
        CHECK(test_seconds() < deadline, "the survivors did not get their errors");
        test_sleep(0.001);
    }
    return 0;
}

static int close_rank(struct rank *rank) {
    const struct fault *fault = rank->fault;
    for (int i = 0; i < 2; i++)
        for (size_t k = 0; k < DECOY_BYTES; k++)
            CHECK(rank->decoys[i][k] == 0x3c + i, "byte %zu of an unused block has changed", k);
    if (fault->kind != CLOSE && wait_for_survivors(rank))
        return 1;
    dt_group_release(rank->group);
    dt_group_release(rank->others);
    rank->ctx->status = DT_OK; /* it has been checked: nothing to print */
    if (fault->threads)
        return 0;
    int code = dt_close(rank->ctx);
    if (rank->victim && fault->kind == CLOSE) {
        test_drop_closed(&rank->run);
        CHECK(!code || (fault->started && fault->inside), "closed with an error and without a started operation");
        code = 0; /* whether the operation in flight could be finished depends on the peers */
    }
    return code ? code : wait_for_survivors(rank);
}

static bool spans_nodes(const struct fault *fault, const dt_ctx *ctx) {
    for (int64_t i = 1; i < fault->n_members; i++)
        if (dt__node_of(ctx, fault->members[i]) != dt__node_of(ctx, fault->members[0]))
            return true;
    return false;
}

/* The fault with as many elements as fit into packets. */
static struct fault in_packets(const struct fault *fault) {
    struct fault smaller = *fault;
    test_case *collective = &smaller.collective;
    int64_t element = (int64_t)dt_dtype_size(collective->dtype) * fault->n_members;
    int64_t most = (int64_t)dt__packets_max_bytes() / element;
    collective->count = collective->count < most ? collective->count : most;
    return smaller;
}

static int run_rank(dt_ctx *ctx, void *arg) {
    const struct fault fault = spans_nodes(arg, ctx) ? in_packets(arg) : *(const struct fault *)arg;
    struct rank rank = {.fault = &fault, .ctx = ctx, .random = fault.seed, .victim = dt_rank(ctx) == fault.victim};
    if (open_rank(&rank) || wait_until_opened(&rank) || (is_member(&fault, dt_rank(ctx)) && run_member(&rank)) ||
        (!rank.victim && continue_without_victim(&rank)))
        return 1;
    return close_rank(&rank);
}

/* From a seed to a run. */

static bool has_root(dt_collective op) { return op == DT_BROADCAST || op == DT_SCATTER || op == DT_GATHER; }
static bool has_blocks(dt_collective op) {
    return op != DT_BARRIER && op != DT_BROADCAST && op != DT_ALL_REDUCE && op < DT_SEND;
}

static bool is_applicable(const struct fault *fault) {
    const test_case *collective = &fault->collective;
    switch (fault->kind) {
    case OTHER_OP:
        return !fault->pair;
    case OTHER_COUNT:
        return collective->op != DT_BARRIER && !collective->unequal && collective->count > 0;
    case OTHER_DTYPE:
        return collective->op != DT_BARRIER && collective->dtype != DT_BOOL &&
               (!is_reduction(collective->op) || !dt__is_complex(collective->dtype));
    case OTHER_REDUCE:
        return is_reduction(collective->op);
    case OTHER_ROOT:
        return has_root(collective->op);
    case OTHER_ORDER:
        return !fault->pair;
    case OTHER_BLOCKS:
        return has_blocks(collective->op) && collective->unequal;
    default:
        return true;
    }
}

static void draw_ranks(struct fault *fault, uint64_t *random) {
    int64_t order[MAX_RANKS];
    fault->n = 2 + test_below(random, MAX_RANKS - 1);
    for (int64_t i = 0; i < fault->n; i++) {
        int64_t at = test_below(random, i + 1);
        order[i] = order[at];
        order[at] = i;
    }
    fault->pair = test_below(random, 6) == 0;
    fault->n_members = fault->pair ? 2 : 2 + test_below(random, fault->n - 1);
    memcpy(fault->members, order, sizeof order);
    fault->victim = fault->members[test_below(random, fault->n_members)];
    fault->late = fault->members[test_below(random, fault->n_members)];
    bool dies = fault->kind == KILL || fault->kind == EXIT;
    if (!dies || fault->n_members < 3 || fault->late == fault->victim)
        fault->late = -1;
}

static void draw_call(struct fault *fault, uint64_t *random) {
    static const int64_t max[] = {16, DT__EAGER_BYTES, MAX_BYTES, MAX_BYTES};
    do {
        fault->collective = test_random_case(random, fault->n_members, 1000);
        int64_t bytes = 1 + test_below(random, max[test_below(random, 4)]);
        fault->collective.count = bytes / fault->n_members / (int64_t)dt_dtype_size(fault->collective.dtype);
        if (fault->pair) {
            fault->collective.op = DT_SEND;
            fault->collective.unequal = fault->collective.in_place = false;
        }
    } while (!is_applicable(fault));
}

static struct fault draw_fault(uint64_t number) {
    uint64_t random = test_seed(number);
    struct fault fault = {.number = number, .seed = random};
    do
        fault.kind = (enum kind)test_below(&random, N_KINDS);
    while (test_with_tsan && (kinds[fault.kind].by_signal || fault.kind == CLOSE));
    do
        draw_ranks(&fault, &random);
    while (fault.pair && (fault.kind == OTHER_OP || fault.kind == OTHER_REDUCE || fault.kind == OTHER_ROOT ||
                          fault.kind == OTHER_ORDER || fault.kind == OTHER_BLOCKS));
    draw_call(&fault, &random);
    fault.started = test_below(&random, 2);
    fault.tested = test_below(&random, 2);
    fault.inside = test_below(&random, 2);
    if (is_mismatch(fault.kind))
        fault.inside = false;
    fault.at = test_below(&random, 12);
    fault.delay_us = 1 + test_below(&random, 3000);
    fault.notifies = test_below(&random, 2);
    /* One that runs ahead, because it waits for no rank in this call, may have finished what the others wait in when it
     * exits between two calls, or dies there without a supervisor that publishes how: that does not end their call, and
     * the late member comes last. */
    if (has_root(fault.collective.op) && (fault.kind == EXIT || !fault.notifies))
        fault.late = -1;
    fault.threads = test_with_tsan;
    return fault;
}

static void describe(const struct fault *fault) {
    const test_case *collective = &fault->collective;
    fprintf(stderr,
            "fault %" PRIu64 ": %s of rank %" PRId64 " of %" PRId64 " at call %" PRId64 "%s (%" PRId64
            " us); %s of %s x %" PRId64 ", %s, root %" PRId64 "%s%s, memory %d; %s%s%s; members",
            fault->number, kinds[fault->kind].name, fault->victim, fault->n, fault->at,
            fault->inside ? ", inside" : "", fault->delay_us, dt_collective_name(collective->op),
            dt_dtype_name(collective->dtype), collective->count, dt_reduce_name(collective->reduce), collective->root,
            collective->unequal ? ", unequal" : "", collective->in_place ? ", in place" : "", (int)collective->memory,
            fault->started ? "started" : "blocking", fault->started && fault->tested ? ", tested" : "",
            fault->notifies ? ", published" : "");
    for (int64_t i = 0; i < fault->n_members; i++)
        fprintf(stderr, " %" PRId64, fault->members[i]);
    if (fault->late >= 0)
        fprintf(stderr, "; rank %" PRId64 " is late", fault->late);
    fputc('\n', stderr);
}

static bool ended_as_expected(const struct fault *fault, int64_t rank, int status) {
    if (rank == fault->victim && fault->kind == KILL)
        return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    return status == (rank == fault->victim && fault->kind == EXIT ? 3 << 8 : 0);
}

static void run_as_processes(struct fault *fault, const dt_init_options *options) {
    test_launch launch = {.notifies = fault->notifies};
    double deadline = test_seconds() + 60 * test_slowness;
    bool woken = false;
    test_launch_begin(&launch, fault->n, options, run_rank, fault);
    while (test_launch_poll(&launch) && test_seconds() < deadline) {
        if (!woken && atomic_load(&fault->board->may_wake)) {
            kill(launch.pids[fault->victim], SIGCONT);
            woken = true;
        }
        test_sleep(0.0005);
    }
    if (test_launch_poll(&launch))
        describe(fault);
    test_launch_end(&launch, 0);
    for (int64_t rank = 0; rank < fault->n; rank++)
        if (!ended_as_expected(fault, rank, launch.statuses[rank])) {
            char ending[64];
            dt__describe_wait_status(launch.statuses[rank], ending, sizeof ending);
            describe(fault);
            fail_msg("rank %lld ended with %s", (long long)rank, ending);
        }
}

static void run_as_started(struct fault *fault, const dt_init_options *options) {
    if (test_run_started(options, run_rank, fault)) {
        describe(fault);
        fail_msg("this rank failed");
    }
}

static void run_as_threads(struct fault *fault, const dt_init_options *options) {
    int codes[MAX_RANKS] = {0};
    assert_true(dt__run_threads(fault->n, options, run_rank, fault, codes));
    for (int64_t rank = 0; rank < fault->n; rank++)
        if (codes[rank]) {
            describe(fault);
            fail_msg("rank %lld failed", (long long)rank);
        }
}

/* Started ranks cannot die. */
static bool is_runnable(const struct fault *fault) {
    return !test_started_ranks() || (fault->kind != KILL && fault->kind != EXIT && test_is_started(fault->n));
}

static void run_fault(uint64_t number) {
    static struct board *board;
    if (!board)
        board = test_shared_memory(sizeof *board);
    struct fault fault = draw_fault(number);
    if (!is_runnable(&fault))
        return;
    if (test_leads())
        memset(board, 0, sizeof *board);
    fault.board = board;
    dt_init_options options = {.timeout_s = fault.kind == STOP ? STOP_TIMEOUT_MS / 1000.0 : 60,
                               .heap_bytes = (size_t)64 << 20};
    if (getenv("DTENSOR_TEST_VERBOSE"))
        describe(&fault);
    if (test_started_ranks())
        run_as_started(&fault, &options);
    else if (fault.threads)
        run_as_threads(&fault, &options);
    else
        run_as_processes(&fault, &options);
}

static uint64_t number_from(const char *variable, uint64_t default_value) {
    const char *text = getenv(variable);
    return text ? strtoull(text, NULL, 10) : default_value;
}

static void faults__every_member_gets_an_error_and_others_continue(void **state) {
    (void)state;
    uint64_t first = number_from("DTENSOR_TEST_FIRST", 1), n = number_from("DTENSOR_TEST_RUNS", 60);
    int files = test_open_files();
    for (uint64_t number = first; number < first + n; number++)
        run_fault(number);
    if (!test_started_ranks()) /* MPI opens some when it needs them */
        assert_int_equal(test_open_files(), files);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(faults__every_member_gets_an_error_and_others_continue),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
