/* SPDX-License-Identifier: Apache-2.0
 *
 * Faults during ops. The ranks of a mesh run a random program of local and communicating calls again and again. At a
 * seeded point one of them, the victim, makes another call than the rest (another op, other arguments, another order,
 * one more or one less), or is killed, stopped, exits, closes its context or gets a local error; sometimes a second
 * rank is at fault as well. Every other rank must get an error in time that names what happened, both calls where they
 * differ, and until then read right values only, which it also computes on plain tensors. Where all ranks live, they
 * clear the error and run the program once more with right values. In some rounds every call is checked
 * (DTENSOR_CHECK_CALLS). On a mesh of two dims a call may involve a part of the ranks only: at least one rank gets the
 * error that names the calls, and others may get one because of it.
 *
 * A fault follows from its number and the seed. DTENSOR_TEST_FIRST and DTENSOR_TEST_RUNS are the first number, and
 * how many faults are run. Ranks that mpirun started run those of their number of ranks, except kills, stops and exits:
 * a launcher ends all ranks when one dies.
 */
#include "support/launch.h"

#include <dtensor/dtensor.h>

#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Programs. */

enum { N_POOL = 3, N_STEPS = 20, MAX_RANKS = 6 };

enum action {
    RELU,
    NEG,
    ADD,
    SUB,
    MAXIMUM,
    MULTIPLY, /* by a number, in place or not */
    FILL,
    SUM_DIM,
    MEAN_DIM,
    FLIP, /* fetches windows along a sharded dim */
    ROLL,
    SOFTMAX, /* meets */
    CUMSUM,  /* scans */
    MAKE,
    DRAW,
    REDISTRIBUTE,
    TRANSFER, /* started, with a call before the wait */
    CLONE,
    DETACH,
    FORMAT,
    READ,
    N_ACTIONS,
    MEET = N_ACTIONS /* all ranks, at the end of the program */
};

typedef struct step {
    enum action action;
    int to, from, other; /* of the pool */
    double number;
    int dim;
    const char *place, *target; /* of what is made, and to which it is redistributed */
    int64_t shape[2];           /* of what is made */
    dt_dtype dtype;
    bool in_place;
} step;

/* The last ones are partial, which a tensor can be made with, but not redistributed to. */
static const char *const places_1d[] = {"S(0)", "S(1)", "R", "P(sum)"};
static const char *const places_2d[] = {"S(0),S(1)", "S(0),R", "R,S(1)", "R,R", "S(0),S(0)", "P(sum),S(0)"};

/* What a rank computes, distributed and, for comparison, on plain tensors, with a generator for each. */
typedef struct machine {
    dt_ctx *ctx;
    dt_mesh *mesh;
    dt_tensor *pool[N_POOL], *plain[N_POOL];
    dt_generator *draws, *plain_draws;
    bool compares; /* no longer, once this rank was at fault */
    bool leaves;   /* closes its context instead of the next step */
} machine;

/* Puts a result into the pool; the old one is freed with the scope. */
static bool put(dt_tensor **pool, int to, dt_tensor *value) {
    if (value)
        pool[to] = value;
    return value != NULL;
}

static dt_tensor *run_unary(enum action action, dt_tensor *x) { return action == RELU ? dt_relu(x) : dt_neg(x); }
static dt_tensor *run_binary(enum action action, dt_tensor *x, dt_tensor *y) {
    return action == ADD ? dt_add(x, y) : action == SUB ? dt_sub(x, y) : dt_maximum(x, y);
}
static dt_tensor *run_reduction(const step *s, dt_tensor *x) {
    return s->action == SUM_DIM ? dt_sum(x, .dim = DT_DIMS(s->dim)) : dt_mean(x, .dim = DT_DIMS(s->dim));
}

static dt_tensor *run_window(const step *s, dt_tensor *x) {
    return s->action == FLIP ? dt_flip(x, DT_DIMS(s->dim))
                             : dt_roll(x, DT_INTS((int64_t)s->number), .dims = DT_DIMS(s->dim));
}
static dt_tensor *run_states(const step *s, dt_tensor *x) {
    return s->action == SOFTMAX ? dt_softmax(x, s->dim) : dt_cumsum(x, s->dim);
}

static bool draw(machine *m, const step *s) {
    dt_shape shape = DT_SHAPE(6, 5);
    return put(m->pool, s->to,
               dt_randint(m->ctx, -3, 4, shape, .dtype = DT_F64, .mesh = m->mesh, .place = s->place,
                          .generator = m->draws)) &&
           put(m->plain, s->to, dt_randint(m->ctx, -3, 4, shape, .dtype = DT_F64, .generator = m->plain_draws));
}

/* Results of other shapes or dtypes are not kept. */
static bool make(machine *m, const step *s) {
    dt_shape shape = {2, s->shape};
    dt_tensor *made = dt_full(m->ctx, shape, s->number, .dtype = s->dtype, .mesh = m->mesh, .place = s->place);
    if (!made || s->shape[0] != 6 || s->dtype != DT_F64)
        return made != NULL;
    return put(m->pool, s->to, made) && put(m->plain, s->to, dt_full(m->ctx, shape, s->number, .dtype = DT_F64));
}

static bool transfer(machine *m, const step *s) {
    dt_transfer *started = dt_redistribute_start(m->pool[s->from], s->target);
    bool called = started && dt_relu(m->pool[s->other]);
    dt_tensor *moved = started ? dt_transfer_wait(started) : NULL;
    return called && put(m->pool, s->to, moved) && put(m->plain, s->to, m->plain[s->from]);
}

/* The sum of all elements weighted by their place, so that a shard at a wrong place changes it. */
static int read_value(machine *m, const step *s, bool *ok) {
    dt_tensor *full = dt_full_tensor(m->pool[s->from]), *expected = m->plain[s->from];
    *ok = full != NULL;
    for (int64_t i = 0; *ok && m->compares && i < 30; i++) {
        const double *a = dt_data(dt_contiguous(full)), *b = dt_data(dt_contiguous(expected));
        CHECK(a[i] == b[i], "rank %lld: element %lld: expected %g, got %g", (long long)dt_rank(m->ctx), (long long)i,
              b[i], a[i]);
    }
    return 0;
}

static bool meet(const machine *m, const step *s) {
    return dt_full_tensor(dt_ones(m->ctx, DT_SHAPE(6, 5), .mesh = m->mesh, .place = s->place)) != NULL;
}

static bool format(const machine *m, const step *s) {
    char *text = dt_format(m->pool[s->from]);
    free(text);
    return text != NULL;
}

/* Runs a step; *ok: without an error. 1 if a value is wrong. */
static int run_step(machine *m, const step *s, bool *ok) {
    dt_tensor **pool = m->pool, **plain = m->plain, *x = pool[s->from], *p = plain[s->from];
    switch (s->action) {
    case RELU:
    case NEG:
        *ok = put(pool, s->to, run_unary(s->action, x)) && put(plain, s->to, run_unary(s->action, p));
        return 0;
    case ADD:
    case SUB:
    case MAXIMUM:
        *ok = put(pool, s->to, run_binary(s->action, x, pool[s->other])) &&
              put(plain, s->to, run_binary(s->action, p, plain[s->other]));
        return 0;
    case MULTIPLY:
        *ok = put(pool, s->to, s->in_place ? dt_mul_scalar_(dt_clone(x), s->number) : dt_mul_scalar(x, s->number)) &&
              put(plain, s->to, dt_mul_scalar(p, s->number));
        return 0;
    case FILL:
        *ok = put(pool, s->to, dt_fill_(dt_clone(x), s->number)) &&
              put(plain, s->to, dt_full(m->ctx, DT_SHAPE(6, 5), s->number, .dtype = DT_F64));
        return 0;
    case SUM_DIM:
    case MEAN_DIM:
        *ok = run_reduction(s, x) != NULL;
        return 0;
    case FLIP:
    case ROLL:
        *ok = put(pool, s->to, run_window(s, x)) && put(plain, s->to, run_window(s, p));
        return 0;
    case SOFTMAX:
    case CUMSUM:
        *ok = run_states(s, x) != NULL;
        return 0;
    case MAKE:
        *ok = make(m, s);
        return 0;
    case DRAW:
        *ok = draw(m, s);
        return 0;
    case REDISTRIBUTE:
        *ok = put(pool, s->to, dt_redistribute(x, s->target)) && put(plain, s->to, p);
        return 0;
    case TRANSFER:
        *ok = transfer(m, s);
        return 0;
    case CLONE:
        *ok = dt_clone(x) != NULL;
        return 0;
    case DETACH:
        *ok = dt_detach(x) != NULL;
        return 0;
    case FORMAT:
        *ok = format(m, s);
        return 0;
    case READ:
        return read_value(m, s, ok);
    default:
        *ok = meet(m, s);
        return 0;
    }
}

static bool begin_program(machine *m, const char *const *places, int n_places) {
    for (int i = 0; i < N_POOL; i++) {
        const char *place = places[i % n_places];
        m->plain[i] = dt_full(m->ctx, DT_SHAPE(6, 5), i + 1, .dtype = DT_F64);
        m->pool[i] = dt_full(m->ctx, DT_SHAPE(6, 5), i + 1, .dtype = DT_F64, .mesh = m->mesh, .place = place);
        if (!m->pool[i] || !m->plain[i])
            return false;
    }
    return true;
}

/* Faults. */

enum kind {
    OTHER_OP,
    OTHER_REDUCTION,
    OTHER_DIM,
    OTHER_WINDOW,
    OTHER_STATES,
    OTHER_NUMBER,
    OTHER_FILL,
    OTHER_PLACEMENT,
    OTHER_TRANSFER,
    OTHER_SHAPE,
    OTHER_DTYPE,
    OTHER_VALUE,
    OTHER_DRAW,
    OTHER_KIND,
    OTHER_ORDER,
    EXTRA,
    SKIPPED,
    INVALID,
    KILL,
    STOP,
    EXIT,
    CLOSE,
    LOCAL_ERROR,
    N_KINDS,
    N_MISMATCHES = KILL
};

static const struct {
    const char *name;
    int signal;              /* sent to the victim at the moment, or 0: the victim does it itself */
    dt_status status;        /* that the others get */
    const char *texts[2];    /* parts of their errors; NULL: none is certain */
    enum action base, other; /* of a mismatch: what all call, and the victim instead; N_ACTIONS: see run_victim */
} kinds[N_KINDS] = {
    [OTHER_OP] = {"other op", 0, DT_ERR_MISMATCH, {"relu(", "neg("}, RELU, NEG},
    [OTHER_REDUCTION] = {"other reduction", 0, DT_ERR_MISMATCH, {"sum(", "mean("}, SUM_DIM, MEAN_DIM},
    [OTHER_DIM] = {"other dim", 0, DT_ERR_MISMATCH, {"dim=[0]", "dim=[1]"}, SUM_DIM, SUM_DIM},
    [OTHER_WINDOW] = {"other window", 0, DT_ERR_MISMATCH, {"shifts=[2]", "shifts=[3]"}, ROLL, ROLL},
    [OTHER_STATES] = {"other states", 0, DT_ERR_MISMATCH, {"softmax(", "cumsum("}, SOFTMAX, CUMSUM},
    [OTHER_NUMBER] = {"other number", 0, DT_ERR_MISMATCH, {"with 2", "with 3"}, MULTIPLY, MULTIPLY},
    [OTHER_FILL] = {"other fill", 0, DT_ERR_MISMATCH, {"with 2", "with 3"}, FILL, FILL},
    [OTHER_PLACEMENT] = {"other placement", 0, DT_ERR_MISMATCH, {"redistribute(", NULL}, REDISTRIBUTE, REDISTRIBUTE},
    [OTHER_TRANSFER] = {"other transfer", 0, DT_ERR_MISMATCH, {"redistribute_start(", NULL}, TRANSFER, TRANSFER},
    [OTHER_SHAPE] = {"other shape", 0, DT_ERR_MISMATCH, {"full(size=[6,5]", "full(size=[5,6]"}, MAKE, MAKE},
    [OTHER_DTYPE] = {"other dtype", 0, DT_ERR_MISMATCH, {"dtype=f64)", "dtype=f32)"}, MAKE, MAKE},
    [OTHER_VALUE] = {"other value", 0, DT_ERR_MISMATCH, {"with 2", "with 3"}, MAKE, MAKE},
    [OTHER_DRAW] = {"other draw", 0, DT_ERR_MISMATCH, {"randint(", "different random draws"}, DRAW, N_ACTIONS},
    [OTHER_KIND] = {"other kind of call", 0, DT_ERR_MISMATCH, {"clone(", "detach("}, CLONE, DETACH},
    [OTHER_ORDER] = {"other order", 0, DT_ERR_MISMATCH, {"relu(", "neg("}, RELU, N_ACTIONS},
    [EXTRA] = {"extra call", 0, DT_ERR_MISMATCH, {"clone(", NULL}, RELU, N_ACTIONS},
    [SKIPPED] = {"skipped call", 0, DT_ERR_MISMATCH, {"clone(", NULL}, CLONE, N_ACTIONS},
    [INVALID] = {"invalid call", 0, DT_ERR_MISMATCH, {"matmul(", NULL}, RELU, N_ACTIONS},
    [KILL] = {"kill", SIGKILL, DT_ERR_PEER, {"is dead", NULL}, N_ACTIONS, N_ACTIONS},
    [STOP] = {"stop", SIGSTOP, DT_ERR_TIMEOUT, {"did not arrive within", NULL}, N_ACTIONS, N_ACTIONS},
    [EXIT] = {"exit", 0, DT_ERR_PEER, {"is dead", NULL}, N_ACTIONS, N_ACTIONS},
    [CLOSE] = {"close", 0, DT_ERR_PEER, {NULL, NULL}, N_ACTIONS, N_ACTIONS}, /* closed, or dead already */
    [LOCAL_ERROR] = {"local error", 0, DT_ERR_PEER, {"the victim's own words", NULL}, N_ACTIONS, N_ACTIONS},
};

typedef struct misdeed {
    enum kind kind;
    int64_t rank; /* -1: there is none */
    int64_t pass, at;
} misdeed;

struct board {
    _Atomic int32_t ready;   /* ranks that have run the program once */
    _Atomic int32_t n_named; /* ranks whose error names the fault */
};

typedef struct fault {
    uint64_t number;
    int64_t n, shape[2];
    int n_mesh_dims;
    misdeed deeds[2];
    int64_t delay_us; /* of signals, after all are ready */
    bool notifies, checked;
    step steps[N_STEPS];
    const char *const *places;
    int n_places;
    struct board *board;
} fault;

static bool is_victim(const fault *f, int64_t rank) { return rank == f->deeds[0].rank || rank == f->deeds[1].rank; }
static bool is_mismatch(enum kind kind) { return kind < N_MISMATCHES; }
static bool all_live(const fault *f) {
    return is_mismatch(f->deeds[0].kind) && (f->deeds[1].rank < 0 || is_mismatch(f->deeds[1].kind));
}

static const char *another_target(const fault *f, const char *target) {
    for (int i = 0; i < f->n_places - 1; i++)
        if (f->places[i] == target)
            return f->places[(i + 1) % (f->n_places - 1)];
    return f->places[0];
}

/* What the victim calls instead of a step; N_ACTIONS: see run_victim. */
static step changed_step(const fault *f, enum kind kind, step s) {
    s.action = kinds[kind].other;
    if (kind == OTHER_DIM)
        s.dim = 1;
    if (kind == OTHER_WINDOW || kind == OTHER_NUMBER || kind == OTHER_FILL || kind == OTHER_VALUE)
        s.number = 3;
    if (kind == OTHER_PLACEMENT || kind == OTHER_TRANSFER)
        s.target = another_target(f, s.target);
    if (kind == OTHER_SHAPE)
        s.shape[0] = 5, s.shape[1] = 6;
    if (kind == OTHER_DTYPE)
        s.dtype = DT_F32;
    return s;
}

/* The victim's step; *i is that of the program, which the victim may leave out or exchange with the next. */
static int run_victim(const fault *f, machine *m, enum kind kind, int *i, bool *ok) {
    const step *s = &f->steps[*i];
    m->compares = false;
    switch (kind) {
    case EXIT:
        _exit(3);
    case CLOSE:
        m->leaves = true;
        *ok = false;
        return 0;
    case LOCAL_ERROR:
        *ok = dt_error_set(m->ctx, DT_ERR_SYSTEM, "the victim's own words") == DT_OK;
        return 0;
    case EXTRA:
        *ok = dt_clone(m->pool[s->from]) != NULL;
        return *ok ? run_step(m, s, ok) : 0;
    case SKIPPED:
        *ok = true;
        return 0;
    case INVALID:
        *ok = dt_matmul(m->pool[0], m->pool[0]) != NULL;
        if (dt_error_status(m->ctx) == DT_ERR_SHAPE)
            *ok = dt_error_clear(m->ctx) == DT_OK;
        return *ok ? run_step(m, s, ok) : 0;
    case OTHER_DRAW:
        dt_randint(m->ctx, 0, 2, DT_SHAPE(1), .generator = m->draws);
        return run_step(m, s, ok);
    case OTHER_ORDER:
        ++*i;
        return run_step(m, s + 1, ok) || (*ok && run_step(m, s, ok));
    default:
        return run_step(m, &(step){0}, ok);
    }
}

static const misdeed *deed_at(const fault *f, int64_t rank, int64_t pass, int i) {
    for (int k = 0; k < 2; k++) {
        const misdeed *deed = &f->deeds[k];
        if (deed->rank == rank && !kinds[deed->kind].signal && deed->pass == pass && deed->at == i)
            return deed;
    }
    return NULL;
}

/* Runs the program once; *ok: without an error. 1 if a value is wrong. */
static int run_program(const fault *f, machine *m, int64_t pass, bool *ok) {
    dt_scope scope = dt_scope_begin(m->ctx);
    *ok = begin_program(m, f->places, f->n_places);
    int wrong = 0;
    for (int i = 0; i < N_STEPS && *ok && !wrong; i++) {
        const misdeed *deed = deed_at(f, dt_rank(m->ctx), pass, i);
        if (!deed) {
            wrong = run_step(m, &f->steps[i], ok);
        } else if (is_mismatch(deed->kind) && kinds[deed->kind].other != N_ACTIONS) {
            step s = changed_step(f, deed->kind, f->steps[i]);
            m->compares = false;
            wrong = run_step(m, &s, ok);
        } else {
            wrong = run_victim(f, m, deed->kind, &i, ok);
        }
    }
    dt_scope_end(scope);
    return wrong;
}

static bool has_texts(const char *text, enum kind kind) {
    for (int i = 0; i < 2; i++)
        if (kinds[kind].texts[i] && !strstr(text, kinds[kind].texts[i]))
            return false;
    return true;
}

static bool names_rank(const char *text, int64_t rank) {
    char part[2][32];
    (void)snprintf(part[0], sizeof part[0], "rank %lld ", (long long)rank);
    (void)snprintf(part[1], sizeof part[1], "rank %lld,", (long long)rank);
    return strstr(text, part[0]) || strstr(text, part[1]);
}

static bool is_expected(const char *text, dt_status status, const misdeed *deed) {
    return deed->rank >= 0 && status == kinds[deed->kind].status && has_texts(text, deed->kind) &&
           (!is_mismatch(deed->kind) || strstr(text, "made different calls on mesh(")) &&
           (deed->kind == STOP || names_rank(text, deed->rank));
}

/* A rank that is stopped or killed is no witness; all others get an error of one of the faults. */
static int check_error(const dt_ctx *ctx, const fault *f) {
    const char *text = dt_error_text(ctx);
    dt_status status = dt_error_status(ctx);
    for (int k = 0; k < 2; k++)
        if (f->deeds[k].rank == dt_rank(ctx) && !is_mismatch(f->deeds[k].kind))
            return 0;
    bool named = is_expected(text, status, &f->deeds[0]) || is_expected(text, status, &f->deeds[1]);
    bool has_followed = f->n_mesh_dims > 1 && (status == DT_ERR_PEER || status == DT_ERR_TIMEOUT);
    atomic_fetch_add(&f->board->n_named, named);
    CHECK(named || has_followed, "rank %lld of %lld: %s: %s", (long long)dt_rank(ctx), (long long)f->n,
          dt_status_name(status), text);
    return 0;
}

static int recover(const fault *f, machine *m) {
    bool ok;
    CHECK_OK(m->ctx, dt_error_clear(m->ctx));
    dt_generator_seed(m->draws, 8);
    dt_generator_seed(m->plain_draws, 8);
    m->compares = true;
    if (run_program(f, m, -1, &ok))
        return 1;
    CHECK(ok, "rank %lld, after clearing: %s", (long long)dt_rank(m->ctx), dt_error_text(m->ctx));
    return 0;
}

static int run_rank(dt_ctx *ctx, void *arg) {
    const fault *f = arg;
    dt_mesh *mesh = dt_mesh_from_shape(ctx, f->shape, f->n_mesh_dims, NULL);
    machine m = {.ctx = ctx,
                 .mesh = mesh,
                 .draws = dt_generator_new(ctx, 7),
                 .plain_draws = dt_generator_new(ctx, 7),
                 .compares = true};
    double deadline = test_seconds() + 20 * test_slowness;
    bool ok = true;
    for (int64_t pass = 0; ok; pass++) {
        if (run_program(f, &m, pass, &ok))
            return 1;
        if (pass == 0)
            atomic_fetch_add(&f->board->ready, 1);
        CHECK(test_seconds() < deadline, "rank %lld: no error", (long long)dt_rank(ctx));
    }
    int code = m.leaves ? 0 : check_error(ctx, f);
    if (!code && all_live(f))
        code = recover(f, &m);
    dt_generator_release(m.draws);
    dt_generator_release(m.plain_draws);
    dt_mesh_release(mesh);
    if (!test_started_ranks())
        freopen("/dev/null", "w", stderr); /* the error was checked */
    bool fails = dt_close(ctx) != 0;
    return !m.leaves && fails == all_live(f) ? 1 : code;
}

/* From a number to a fault. */

static step draw_step(const fault *f, uint64_t *random) {
    return (step){.action = (enum action)test_below(random, N_ACTIONS),
                  .to = (int)test_below(random, N_POOL),
                  .from = (int)test_below(random, N_POOL),
                  .other = (int)test_below(random, N_POOL),
                  .number = (double)(1 + test_below(random, 2)),
                  .dim = (int)test_below(random, 2),
                  .place = f->places[test_below(random, f->n_places)],
                  .target = f->places[test_below(random, f->n_places - 1)],
                  .shape = {6, 5},
                  .dtype = DT_F64,
                  .in_place = test_below(random, 2)};
}

/* Makes the step of a misdeed one that it changes. */
static void prepare_step(fault *f, const misdeed *deed) {
    if (deed->rank < 0 || kinds[deed->kind].base == N_ACTIONS)
        return;
    step *s = &f->steps[deed->at];
    s->action = kinds[deed->kind].base;
    s->number = 2;
    s->dim = 0;
    if (deed->kind == OTHER_ORDER)
        f->steps[deed->at + 1] = *s, f->steps[deed->at + 1].action = NEG;
}

static void choose_mesh(fault *f, uint64_t *random) {
    f->n = 2 + test_below(random, MAX_RANKS - 1);
    bool flat = f->n % 2 || f->n == 2 || test_below(random, 2);
    f->n_mesh_dims = flat ? 1 : 2;
    f->shape[0] = flat ? f->n : 2;
    f->shape[1] = f->n / 2;
    f->places = flat ? places_1d : places_2d;
    f->n_places = flat ? (int)(sizeof places_1d / sizeof *places_1d) : (int)(sizeof places_2d / sizeof *places_2d);
}

static fault draw_fault(uint64_t number, struct board *board) {
    uint64_t random = test_seed(9500) + number * UINT64_C(0x9e3779b97f4a7c15);
    (void)test_below(&random, 2);
    fault f = {.number = number, .board = board, .deeds[1] = {.rank = -1}};
    choose_mesh(&f, &random);
    for (int i = 0; i < N_STEPS; i++)
        f.steps[i] = draw_step(&f, &random);
    f.steps[N_STEPS - 2].action = READ;
    f.steps[N_STEPS - 1] = (step){.action = MEET, .place = f.places[0]};
    for (int k = 0; k < 2; k++) { /* at different steps of different halves, by different ranks */
        misdeed deed = {.kind = (enum kind)test_below(&random, N_KINDS),
                        .rank = test_below(&random, f.n),
                        .pass = test_below(&random, 4),
                        .at = test_below(&random, N_STEPS / 2 - 2) + k * N_STEPS / 2};
        bool allowed = k == 0 || (test_below(&random, 2) && deed.rank != f.deeds[0].rank && deed.kind != STOP &&
                                  f.deeds[0].kind != STOP);
        if (allowed)
            f.deeds[k] = deed;
        prepare_step(&f, &f.deeds[k]);
    }
    f.delay_us = test_below(&random, 20000);
    f.notifies = test_below(&random, 2);
    f.checked = test_below(&random, 4) == 0;
    return f;
}

static void describe(const fault *f) {
    for (int k = 0; k < 2; k++)
        if (f->deeds[k].rank >= 0)
            fprintf(stderr, "fault %llu: %s of rank %lld of %lld at step %lld of pass %lld%s\n",
                    (unsigned long long)f->number, kinds[f->deeds[k].kind].name, (long long)f->deeds[k].rank,
                    (long long)f->n, (long long)f->deeds[k].at, (long long)f->deeds[k].pass,
                    f->checked ? ", calls checked" : "");
}

/* Not before all ranks have run the program once, or one of them has ended because of the other fault. */
static void harm(test_launch *launch, const fault *f) {
    double deadline = test_seconds() + 20 * test_slowness;
    while (atomic_load(&f->board->ready) < f->n && test_launch_poll(launch) == f->n && test_seconds() < deadline)
        test_sleep(0.0005);
    test_sleep((double)f->delay_us / 1e6);
    for (int k = 0; k < 2; k++)
        if (f->deeds[k].rank >= 0 && kinds[f->deeds[k].kind].signal && launch->pids[f->deeds[k].rank])
            kill(launch->pids[f->deeds[k].rank], kinds[f->deeds[k].kind].signal);
}

/* Waits for those that are not at fault, then continues who is stopped. */
static void wait_for_survivors(test_launch *launch, const fault *f) {
    double deadline = test_seconds() + 20 * test_slowness;
    for (bool waits = true; waits && test_seconds() < deadline; test_sleep(0.001)) {
        (void)test_launch_poll(launch);
        waits = false;
        for (int64_t rank = 0; rank < f->n; rank++)
            waits = waits || (launch->pids[rank] && !is_victim(f, rank));
    }
    if (f->deeds[0].kind == STOP && launch->pids[f->deeds[0].rank])
        kill(launch->pids[f->deeds[0].rank], SIGCONT);
}

/* A rank that a signal or its own exit ended has no say. */
static bool has_exit_code(const fault *f, int64_t rank) {
    for (int k = 0; k < 2; k++)
        if (f->deeds[k].rank == rank && !is_mismatch(f->deeds[k].kind))
            return false;
    return true;
}

static void check_named(const fault *f) {
    int64_t n_witnesses = 0;
    for (int64_t rank = 0; rank < f->n; rank++)
        n_witnesses += has_exit_code(f, rank);
    if (n_witnesses && !atomic_load(&f->board->n_named)) {
        describe(f);
        fail_msg("fault %llu: no rank has an error that names it", (unsigned long long)f->number);
    }
}

static void run_as_processes(fault *f, const dt_init_options *options) {
    test_launch launch = {.notifies = f->notifies};
    test_launch_begin(&launch, f->n, options, run_rank, f);
    if (!all_live(f))
        harm(&launch, f);
    wait_for_survivors(&launch, f);
    if (test_launch_poll(&launch))
        test_sleep(0.01);
    test_launch_end(&launch, 60 * test_slowness);
    check_named(f);
    for (int64_t rank = 0; rank < f->n; rank++)
        if (has_exit_code(f, rank) && launch.statuses[rank]) {
            describe(f);
            fail_msg("fault %llu: rank %lld of %lld ended with status %x", (unsigned long long)f->number,
                     (long long)rank, (long long)f->n, launch.statuses[rank]);
        }
}

static void run_as_started(fault *f, const dt_init_options *options) {
    if (test_run_started(options, run_rank, f)) {
        describe(f);
        fail_msg("fault %llu: this rank failed", (unsigned long long)f->number);
    }
    if (test_leads())
        check_named(f);
}

/* Started ranks can neither die nor be stopped. */
static bool is_runnable(const fault *f) {
    if (!test_started_ranks())
        return true;
    for (int k = 0; k < 2; k++)
        if (f->deeds[k].rank >= 0 && (kinds[f->deeds[k].kind].signal || f->deeds[k].kind == EXIT))
            return false;
    return test_is_started(f->n);
}

static void run_fault(uint64_t number, struct board *board) {
    fault f = draw_fault(number, board);
    dt_init_options options = {.timeout_s = f.deeds[0].kind == STOP ? test_slowness : 60,
                               .heap_bytes = (size_t)64 << 20};
    if (!is_runnable(&f))
        return;
    if (test_leads())
        memset(board, 0, sizeof *board);
    if (getenv("DTENSOR_TEST_VERBOSE"))
        describe(&f);
    if (f.checked)
        setenv("DTENSOR_CHECK_CALLS", "1", 1);
    test_started_ranks() ? run_as_started(&f, &options) : run_as_processes(&f, &options);
    unsetenv("DTENSOR_CHECK_CALLS");
}

static void faults__in_ops_are_noticed_and_values_are_right(void **state) {
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
        cmocka_unit_test(faults__in_ops_are_noticed_and_values_are_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
