/* SPDX-License-Identifier: Apache-2.0
 *
 * Faults during file calls. A group of ranks saves and loads some megabytes repeatedly; at a random moment one of
 * them, the victim, is killed, stopped, ended by a signal, exits, closes its context, gets a local error, or makes
 * another file call than the others; sometimes a second victim is killed, too. Every survivor must get an error in
 * time, and there must be no process, no shared memory, and in the folder at most the complete file.
 *
 * A fault follows from its number and the seed. DTENSOR_TEST_FIRST and DTENSOR_TEST_RUNS are the first number and the
 * number of faults. Ranks that mpirun started run those of their number of ranks, except signals and exits: a launcher
 * ends all ranks when one dies.
 */
#include "move/folder.h"
#include "support/launch.h"
#include "tensor/tensors.h"

#include "move/save_npy.h"
#include "tensor/tensor.h"

#include <signal.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>

enum kind {
    KILL,
    STOP,
    TERMINATE,
    INTERRUPT,
    HANG_UP,
    EXIT,
    CLOSE,
    LOCAL_ERROR,
    OTHER_PATH,
    OTHER_SHAPE,
    OTHER_DTYPE,
    OTHER_PLACEMENT,
    OTHER_NAME,
    OTHER_NUMBER,
    OTHER_ORDER,
    OTHER_KIND,
    OTHER_LOAD,
    SKIPPED,
    N_KINDS
};

static const struct {
    const char *name;
    int signal;       /* sent to the victim, or 0: the victim causes the fault itself */
    dt_status status; /* of the errors of the others */
    const char *text; /* part of their errors, or NULL */
} kinds[N_KINDS] = {
    [KILL] = {"kill", SIGKILL, DT_ERR_PEER, "is dead"},
    [STOP] = {"stop", SIGSTOP, DT_ERR_TIMEOUT, "did not arrive within"},
    [TERMINATE] = {"SIGTERM", SIGTERM, DT_ERR_PEER, "is dead"},
    [INTERRUPT] = {"SIGINT", SIGINT, DT_ERR_PEER, "is dead"},
    [HANG_UP] = {"SIGHUP", SIGHUP, DT_ERR_PEER, "is dead"},
    [EXIT] = {"exit", 0, DT_ERR_PEER, "is dead"},
    [CLOSE] = {"close", 0, DT_ERR_PEER, NULL}, /* the victim has closed its context, or is dead */
    [LOCAL_ERROR] = {"local error", 0, DT_ERR_PEER, "an error of the victim"},
    [OTHER_PATH] = {"other path", 0, DT_ERR_MISMATCH, "other.npz"},
    [OTHER_SHAPE] = {"other shape", 0, DT_ERR_MISMATCH, "i32[7,3]"},
    [OTHER_DTYPE] = {"other dtype", 0, DT_ERR_MISMATCH, "i16[5,3]"},
    [OTHER_PLACEMENT] = {"other placement", 0, DT_ERR_MISMATCH, "i32[5,3] S(1)"},
    [OTHER_NAME] = {"other name", 0, DT_ERR_MISMATCH, "d=i32[5,3]"},
    [OTHER_NUMBER] = {"other number", 0, DT_ERR_MISMATCH, "calls save_npz(\""},
    [OTHER_ORDER] = {"other order", 0, DT_ERR_MISMATCH, ", c=i32[5,3] S(0)"},
    [OTHER_KIND] = {"other kind", 0, DT_ERR_MISMATCH, "save_npy(\""},
    [OTHER_LOAD] = {"load instead", 0, DT_ERR_MISMATCH, "load_npz(\""},
    [SKIPPED] = {"skipped call", 0, DT_ERR_MISMATCH, "save_npz"},
};

enum { MAX_RANKS = 5, MAX_ELEMENTS = 3 << 18, MIN_MS = 1000 };

struct board {
    _Atomic int32_t ready; /* ranks that have made their first call */
};

struct fault {
    uint64_t seed;
    enum kind kind;
    int64_t n, victim, second; /* second: killed as well, or -1 */
    int64_t at;                /* the victim's call, if it causes the fault itself */
    int64_t delay_us;          /* otherwise, after all ranks are ready */
    int64_t elements;
    bool named, notifies, loads;
    struct board *board;
};

static bool is_victim(const struct fault *fault, int64_t rank) {
    return rank == fault->victim || rank == fault->second;
}

/* One step of a rank: a save, and sometimes a load. */
struct step {
    const struct fault *fault;
    dt_mesh *mesh;
    dt_tensor *large;
    int64_t number;
    enum kind kind; /* the fault of the victim in this step, or N_KINDS */
};

/* Every second step uses another name, so that a skipped step is detected. */
static dt_status save_all(dt_ctx *ctx, const struct step *step) {
    enum kind kind = step->kind;
    dt_tensor *small =
        dt_ones(ctx, kind == OTHER_SHAPE ? DT_SHAPE(7, 3) : DT_SHAPE(5, 3), .mesh = step->mesh,
                .dtype = kind == OTHER_DTYPE ? DT_I16 : DT_I32, .place = kind == OTHER_PLACEMENT ? "S(1)" : "S(0)");
    dt_tensor *partial = dt_ones(ctx, DT_SHAPE(11), .mesh = step->mesh, .place = "P(sum)");
    const char *path = in_folder(kind == OTHER_PATH ? "other.npz" : "all.npz"), *last = step->number % 2 ? "p" : "q";
    const char *names[] = {kind == OTHER_NAME ? "d" : "c", "large", last}, *swapped_names[] = {last, "c", "large"};
    dt_tensor *tensors[] = {small, step->large, partial}, *swapped[] = {partial, small, step->large};
    dt__save_options options = {.limit = DT__ZIP_LIMIT, .named = step->fault->named};
    switch (kind) {
    case OTHER_ORDER:
        return dt__save_npz(path, 3, swapped_names, swapped, &options);
    case OTHER_KIND:
        return dt__save_npy(step->large, path, &options);
    case OTHER_LOAD:
        return dt_load_npz(ctx, path, "c", .mesh = step->mesh, .place = "S(0)") ? DT_OK : dt_error_status(ctx);
    case SKIPPED:
        return DT_OK;
    default:
        return dt__save_npz(path, kind == OTHER_NUMBER ? 2 : 3, names, tensors, &options);
    }
}

static dt_status run_step(dt_ctx *ctx, const struct step *step) {
    dt_scope scope = dt_scope_begin(ctx);
    dt_status status = save_all(ctx, step);
    if (status == DT_OK && step->fault->loads && step->kind != SKIPPED) {
        dt_tensor *again = dt_load_npz(ctx, in_folder("all.npz"), "large", .mesh = step->mesh, .place = "S(0)");
        status = again ? DT_OK : dt_error_status(ctx);
    }
    dt_scope_end(scope);
    return status;
}

/* The faults that are not calls. */
static void commit_fault(dt_ctx *ctx, enum kind kind) {
    if (kind == EXIT)
        _exit(3);
    if (kind == LOCAL_ERROR)
        (void)dt_error_set(ctx, DT_ERR_SYSTEM, "an error of the victim");
}

static bool names_rank(const char *text, int64_t rank) {
    char part[32];
    int n = snprintf(part, sizeof part, "rank %lld", (long long)rank);
    for (text = strstr(text, part); text; text = strstr(text + 1, part))
        if (text[n] < '0' || text[n] > '9')
            return true;
    return false;
}

static int check_error(dt_ctx *ctx, const struct fault *fault, dt_status status) {
    const char *text = dt_error_text(ctx), *part = kinds[fault->kind].text;
    if (is_victim(fault, dt_rank(ctx)))
        return 0;
    bool diverged = status == DT_ERR_MISMATCH && strstr(text, "made different calls on mesh("); /* an earlier call */
    bool expected = status == kinds[fault->kind].status && (!part || diverged || strstr(text, part)) &&
                    (fault->kind == STOP || names_rank(text, fault->victim));
    if (fault->second >= 0) /* the error may be about either victim */
        expected = expected || (status == DT_ERR_PEER && strstr(text, "is dead"));
    CHECK(expected && status == dt_error_status(ctx), "rank %lld of %lld, %s of rank %lld: %s: %s",
          (long long)dt_rank(ctx), (long long)fault->n, kinds[fault->kind].name, (long long)fault->victim,
          dt_status_name(status), text);
    CHECK(strstr(text, "save_npz") || strstr(text, "load_npz") || strstr(text, "redistribute"), "%s", text);
    return 0;
}

static int run_rank(dt_ctx *ctx, void *arg) {
    const struct fault *fault = arg;
    (void)signal(kinds[fault->kind].signal, SIG_DFL); /* a shell ignores it in what it runs in the background */
    dt_mesh *mesh = dt_mesh_from_shape(ctx, &fault->n, 1, NULL);
    struct step step = {fault, mesh, dt_ones(ctx, DT_SHAPE(fault->elements), .mesh = mesh, .place = "S(0)"), 0,
                        N_KINDS};
    dt_status status = DT_OK;
    for (; status == DT_OK; step.number++) {
        bool at_fault = dt_rank(ctx) == fault->victim && !kinds[fault->kind].signal && step.number == fault->at;
        if (at_fault && fault->kind == CLOSE)
            break;
        if (at_fault)
            commit_fault(ctx, fault->kind);
        step.kind = at_fault ? fault->kind : N_KINDS;
        status = run_step(ctx, &step);
        if (step.number == 0)
            atomic_fetch_add(&fault->board->ready, 1);
    }
    int code = check_error(ctx, fault, status);
    dt_mesh_release(mesh);
    (void)dt_close(ctx);
    return code;
}

static struct fault draw_fault(uint64_t number, struct board *board) {
    uint64_t random = test_seed(9000) + number * UINT64_C(0x9e3779b97f4a7c15);
    (void)test_below(&random, 2);
    struct fault fault = {.seed = number, .board = board, .second = -1};
    fault.kind = (enum kind)test_below(&random, N_KINDS);
    fault.n = 2 + test_below(&random, MAX_RANKS - 1);
    fault.victim = test_below(&random, 3) ? test_below(&random, fault.n) : 0;
    fault.at = test_below(&random, 4);
    fault.delay_us = test_below(&random, 30000);
    fault.elements = test_below(&random, 4) ? test_below(&random, MAX_ELEMENTS) : test_below(&random, 100);
    fault.named = test_below(&random, 2);
    fault.notifies = test_below(&random, 2);
    fault.loads = test_below(&random, 3) == 0;
    if (kinds[fault.kind].signal && fault.n > 2 && test_below(&random, 4) == 0)
        fault.second = (fault.victim + 1 + test_below(&random, fault.n - 1)) % fault.n;
    return fault;
}

/* Waits for the survivors, with a time-out. */
static void wait_for_survivors(test_launch *launch, const struct fault *fault) {
    double deadline = test_seconds() + 20 * test_slowness;
    for (bool is_waiting = true; is_waiting && test_seconds() < deadline; test_sleep(0.001)) {
        (void)test_launch_poll(launch);
        is_waiting = false;
        for (int64_t rank = 0; rank < fault->n; rank++)
            is_waiting = is_waiting || (launch->pids[rank] && !is_victim(fault, rank));
    }
}

static void send_signals(const test_launch *launch, const struct fault *fault) {
    double deadline = test_seconds() + 20 * test_slowness;
    while (atomic_load(&fault->board->ready) < fault->n && test_seconds() < deadline)
        test_sleep(0.0005);
    test_sleep((double)fault->delay_us / 1e6);
    kill(launch->pids[fault->victim], kinds[fault->kind].signal);
    if (fault->second >= 0)
        kill(launch->pids[fault->second], SIGKILL);
}

/* A stopped victim is continued when the others have ended, and then ends with an error. */
static void end_victims(const test_launch *launch, const struct fault *fault) {
    if (fault->kind != STOP || !launch->pids[fault->victim])
        return;
    kill(launch->pids[fault->victim], SIGCONT);
}

static int n_wrong;
static void check_name(const char *name) {
    struct stat info;
    if (strcmp(name, "all.npz") != 0 || stat(in_folder(name), &info) != 0 || info.st_size == 0) {
        fprintf(stderr, "unexpected file: %s\n", name);
        n_wrong++;
    }
}

static void check_complete(const struct fault *fault) {
    dt_ctx *ctx = dt_init(NULL);
    n_wrong = 0;
    int n = folder_each(check_name);
    if (n) {
        const dt_tensor *large = dt_load_npz(ctx, in_folder("all.npz"), "large");
        assert_int_equal(dt_tensor_elements(large), fault->elements);
        const dt_tensor *partial = dt_load_npz(ctx, in_folder("all.npz"), "p");
        if (!partial) {
            (void)dt_error_clear(ctx);
            partial = dt_load_npz(ctx, in_folder("all.npz"), "q");
        }
        assert_int_equal(dt_tensor_elements(partial), 11);
    }
    assert_int_equal(n_wrong, 0);
    assert_int_equal(dt_close(ctx), 0);
    folder_empty();
}

static void run_as_processes(struct fault *fault, const dt_init_options *options) {
    test_launch launch = {.notifies = fault->notifies};
    test_launch_begin(&launch, fault->n, options, run_rank, fault);
    if (kinds[fault->kind].signal)
        send_signals(&launch, fault);
    wait_for_survivors(&launch, fault);
    end_victims(&launch, fault);
    test_launch_end(&launch, 60 * test_slowness);
    for (int64_t rank = 0; rank < fault->n; rank++)
        if (!is_victim(fault, rank) && launch.statuses[rank])
            fail_msg("fault %llu: %s of rank %lld: rank %lld of %lld ended with status %x",
                     (unsigned long long)fault->seed, kinds[fault->kind].name, (long long)fault->victim,
                     (long long)rank, (long long)fault->n, launch.statuses[rank]);
}

static void run_as_started(struct fault *fault, const dt_init_options *options) {
    if (test_run_started(options, run_rank, fault))
        fail_msg("fault %llu: %s of rank %lld of %lld: this rank failed", (unsigned long long)fault->seed,
                 kinds[fault->kind].name, (long long)fault->victim, (long long)fault->n);
}

/* Started ranks can neither die nor be stopped. */
static bool is_runnable(const struct fault *fault) {
    return !test_started_ranks() || (!kinds[fault->kind].signal && fault->kind != EXIT && test_is_started(fault->n));
}

static void run_fault(uint64_t number, struct board *board) {
    struct fault fault = draw_fault(number, board);
    dt_init_options options = {.timeout_s = fault.kind == STOP ? MIN_MS / 1000.0 * test_slowness : 60};
    if (!is_runnable(&fault))
        return;
    if (test_leads())
        memset(board, 0, sizeof *board);
    test_started_ranks() ? run_as_started(&fault, &options) : run_as_processes(&fault, &options);
    if (test_leads())
        check_complete(&fault);
}

static void faults__in_file_calls_are_errors_and_leave_no_files(void **state) {
    (void)state;
    if (test_with_tsan)
        test_skip("ranks are processes, in which the thread sanitizer sees no races");
    const char *first = getenv("DTENSOR_TEST_FIRST"), *runs = getenv("DTENSOR_TEST_RUNS");
    uint64_t begin = first ? strtoull(first, NULL, 10) : 0, n = runs ? strtoull(runs, NULL, 10) : 60;
    struct board *board = test_shared_memory(sizeof *board);
    for (uint64_t i = begin; i < begin + n; i++)
        run_fault(i, board);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(faults__in_file_calls_are_errors_and_leave_no_files),
    };
    return cmocka_run_group_tests(tests, folder_begin, folder_end);
}
