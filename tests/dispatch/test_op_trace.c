/* SPDX-License-Identifier: Apache-2.0
 *
 * Traces as text and as events of a trace viewer, and explanations. One rank of a fake world of eight: what is traced
 * follows from specs alone. Files of several ranks on shm.
 */
#include "dispatch/calls.h"

#include "dtensor/debug.h"

#include <jansson.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct world {
    dt_ctx *ctx;
    dt_mesh *mesh;
} world;

static world open_world(int64_t m, int64_t n) {
    world self = {.ctx = dt_init(&(dt_init_options){.transport = "fake", .world = m * n, .rank = 1})};
    int64_t sizes[] = {m, n};
    assert_non_null(self.ctx);
    self.mesh = dt_mesh_from_shape(self.ctx, sizes, n > 1 ? 2 : 1, NULL);
    return self;
}

static void close_world(world *self) {
    dt_mesh_release(self->mesh);
    assert_int_equal(dt_close(self->ctx), 0);
}

static dt_tensor *ones(const world *self, int64_t m, int64_t n, const char *place) {
    return dt_ones(self->ctx, DT_SHAPE(m, n), .mesh = self->mesh, .place = place);
}

static void assert_contains(const char *text, const char *expected) {
    if (!text || !strstr(text, expected))
        fail_msg("expected\n%s\nin\n%s", expected, text ? text : "(nothing)");
}

/* DBG-001, DBG-004, DBG-006 */
static void trace__has_specs_and_redistributions(void **state) {
    (void)state;
    world w = open_world(8, 1);
    assert_int_equal(dt_trace_begin(w.ctx, NULL), DT_OK);
    dt_tensor *y = CALL(w.ctx, "mm($1; $2)", ones(&w, 64, 64, "S(0)"), ones(&w, 64, 8, "S(0)"));
    assert_non_null(CALL(w.ctx, "sum($1)", y));
    assert_non_null(CALL(w.ctx, "add($1; $2)", ones(&w, 8, 8, "S(0)"), ones(&w, 8, 8, "S(1)")));
    assert_non_null(dt_redistribute(ones(&w, 8, 8, "S(0)"), "R"));
    assert_non_null(dt_full_tensor(ones(&w, 8, 8, "P(sum)")));
    char trace[4096];
    snprintf(trace, sizeof trace, "%s", dt_trace_text(w.ctx));
    assert_int_equal(dt_trace_end(w.ctx), DT_OK);
    assert_string_equal(dt_trace_text(w.ctx), trace); /* DBG-002 */
    assert_non_null(CALL(w.ctx, "relu($1)", y));
    assert_string_equal(dt_trace_text(w.ctx), trace);
    assert_contains(trace, "mm(f32[64,64] S(0); f32[64,8] S(0)) -> f32[64,8] S(0) on mesh(8)\n"
                           "  S(0)->R of f32[64,8]: all_gather 1, ");
    assert_contains(trace, "\nsum(f32[64,8] S(0)) -> f32[] P(sum) on mesh(8)\n");
    assert_contains(trace, "add(f32[8,8] S(0); f32[8,8] S(1)) -> f32[8,8] S(");
    assert_contains(trace, " of f32[8,8]: all_to_all 1, ");
    assert_contains(trace, "\nredistribute: S(0)->R of f32[8,8]: all_gather 1, ");
    assert_contains(trace, "\nfull_tensor: P(sum)->R of f32[8,8]: all_reduce 1, ");
    close_world(&w);
}

/* DBG-005: the trace of a redistribution over two mesh dims; DBG-007: several outputs. */
static void trace__of_two_mesh_dims_and_of_several_outputs(void **state) {
    (void)state;
    world w = open_world(4, 2);
    assert_int_equal(dt_trace_begin(w.ctx, NULL), DT_OK);
    assert_non_null(dt_redistribute(ones(&w, 8, 128, "S(1),S(1)"), "R,R", .planner = "greedy"));
    assert_contains(dt_trace_text(w.ctx), "redistribute: S(1)[0]S(1)[1]->S(1)R->RR of f32[8,128]: all_gather 2, ");
    dt_tensor *x = ones(&w, 8, 8, "S(0),R");
    assert_int_equal(dt_trace_begin(w.ctx, NULL), DT_OK); /* starts over */
    assert_non_null(CALL(w.ctx, "split($1; 4; 1)", x));
    assert_string_equal(
        dt_trace_text(w.ctx),
        "split(f32[8,8] S(0),R; split_size=4; dim=1) -> f32[8,4] S(0),R; f32[8,4] S(0),R on mesh(4x2)\n");
    close_world(&w);
}

static void trace__shows_arguments(void **state) {
    (void)state;
    world w = open_world(8, 1);
    dt_tensor *x = ones(&w, 8, 8, "S(0)");
    assert_int_equal(dt_trace_begin(w.ctx, NULL), DT_OK);
    assert_non_null(dt_sum(x, .dim = DT_DIMS(1), .keepdim = true));
    assert_non_null(CALL(w.ctx, "softmax($1; 1)", x));
    assert_non_null(CALL(w.ctx, "sum($1; dim=[0,1]; dtype=f64)", x));
    assert_non_null(CALL(w.ctx, "add($1; 2.5; alpha=2)", x));
    assert_non_null(CALL(w.ctx, "gelu($1; approximate='tanh')", x));
    assert_non_null(CALL(w.ctx, "cat({$1; $1}; dim=1)", x));
    assert_non_null(CALL(w.ctx, "clamp($1; max=0.1)", x));
    const char *text = dt_trace_text(w.ctx);
    assert_contains(text, "sum(f32[8,8] S(0); dim=[1]; keepdim=true) -> f32[8,1] S(0) on mesh(8)");
    assert_contains(text, "softmax(f32[8,8] S(0); dim=1) -> f32[8,8] S(0) on mesh(8)");
    assert_contains(text, "sum(f32[8,8] S(0); dim=[0,1]; dtype=f64) -> f64[] P(sum) on mesh(8)");
    assert_contains(text, "add(f32[8,8] S(0); 2.5; alpha=2) -> ");
    assert_contains(text, "gelu(f32[8,8] S(0); approximate=\"tanh\") -> ");
    assert_contains(text, "cat({f32[8,8] S(0); f32[8,8] S(0)}; dim=1) -> f32[8,16] S(0) on mesh(8)");
    assert_contains(text, "clamp(f32[8,8] S(0); max=0.1) -> ");
    close_world(&w);
}

/* DBG-009, DBG-015 */
static void trace__nests_under_scopes(void **state) {
    (void)state;
    world w = open_world(8, 1);
    dt_tensor *x = dt_ones(w.ctx, DT_SHAPE(3));
    assert_int_equal(dt_trace_begin(w.ctx, NULL), DT_OK);
    assert_int_equal(dt_comm_scope_begin(w.ctx, "layer1"), DT_OK);
    assert_non_null(CALL(w.ctx, "relu($1)", x));
    dt_comm_scope_end(w.ctx);
    assert_non_null(CALL(w.ctx, "neg($1)", x));
    assert_string_equal(dt_trace_text(w.ctx), "layer1/\n  relu(f32[3]) -> f32[3]\nneg(f32[3]) -> f32[3]\n");
    dt_tensor *rows = ones(&w, 8, 8, "S(0)"), *terms = ones(&w, 8, 8, "P(sum)");
    dt_tensor *a = ones(&w, 64, 64, "S(0)"), *b = ones(&w, 64, 8, "S(0)");
    assert_int_equal(dt_trace_begin(w.ctx, NULL), DT_OK); /* calls that are not ops keep their names in a scope */
    assert_int_equal(dt_comm_scope_begin(w.ctx, "outer"), DT_OK);
    assert_int_equal(dt_comm_scope_begin(w.ctx, "inner"), DT_OK);
    assert_non_null(dt_redistribute(rows, "R"));
    assert_non_null(CALL(w.ctx, "mm($1; $2)", a, b));
    assert_non_null(dt_full_tensor(terms));
    dt_comm_scope_end(w.ctx);
    dt_comm_scope_end(w.ctx);
    assert_string_equal(dt_trace_text(w.ctx), "outer/\n"
                                              "  inner/\n"
                                              "    redistribute: S(0)->R of f32[8,8]: all_gather 1, 0 bytes\n"
                                              "    mm(f32[64,64] S(0); f32[64,8] S(0)) -> f32[64,8] S(0) on mesh(8)\n"
                                              "      S(0)->R of f32[64,8]: all_gather 1, 0 bytes\n"
                                              "    full_tensor: P(sum)->R of f32[8,8]: all_reduce 1, 0 bytes\n");
    close_world(&w);
}

/* Each rank writes events that are complete and nested. */
static int write_events(dt_ctx *ctx, void *arg) {
    char name[256], file_of_rank[300];
    int64_t n = dt_world(ctx);
    snprintf(name, sizeof name, "%s/trace.json", (const char *)arg);
    if (n > 1)
        snprintf(file_of_rank, sizeof file_of_rank, "%s/trace.%" PRId64 ".json", (const char *)arg, dt_rank(ctx));
    else
        snprintf(file_of_rank, sizeof file_of_rank, "%s", name);
    dt_mesh *mesh = dt_mesh_from_shape(ctx, &n, 1, NULL);
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(8, 8), .mesh = mesh, .place = "S(0)");
    dt_tensor *t = dt_ones(ctx, DT_SHAPE(8, 8), .mesh = mesh, .place = "S(1)");
    CHECK_OK(ctx, dt_trace_begin(ctx, name));
    CHECK_OK(ctx, dt_comm_scope_begin(ctx, "a \"scope\""));
    for (int i = 0; i < 1000; i++) {
        dt_scope scope = dt_scope_begin(ctx);
        CHECK(CALL(ctx, "add($1; $2)", x, t), "%s", dt_error_text(ctx));
        dt_scope_end(scope);
    }
    dt_comm_scope_end(ctx);
    CHECK_OK(ctx, dt_trace_end(ctx));
    json_error_t error;
    json_t *events = json_load_file(file_of_rank, 0, &error), *event;
    CHECK(events, "%s: line %d: %s", file_of_rank, error.line, error.text);
    size_t i;
    int n_ops = 0, n_moves = 0, n_scopes = 0;
    double op_begin = 0, move_begin = -1, move_end = -1;
    json_array_foreach(events, i, event) {
        const char *kind = json_string_value(json_object_get(event, "cat"));
        CHECK(json_integer_value(json_object_get(event, "pid")) == dt_rank(ctx), "an event of another rank");
        if (!kind)
            continue;
        double begin = json_number_value(json_object_get(event, "ts"));
        double end = begin + json_number_value(json_object_get(event, "dur"));
        if (!strcmp(kind, "comm")) {
            n_moves++;
            move_begin = begin;
            move_end = end;
            CHECK(json_object_get(json_object_get(event, "args"), "bytes"), "no bytes");
        } else if (!strcmp(kind, "op")) {
            n_ops++;
            CHECK(begin >= op_begin && (n == 1 || (begin <= move_begin && move_end <= end + 0.01)),
                  "expected the transfer [%f,%f] within the op [%f,%f]", move_begin, move_end, begin, end);
            op_begin = begin;
        } else
            n_scopes++;
    }
    json_decref(events);
    CHECK(n_ops == 1000 && n_scopes == 2 && n_moves == 1000,
          "expected 1000 ops, 1000 transfers and 2 scope events, got %d, %d and %d", n_ops, n_moves, n_scopes);
    CHECK(remove(file_of_rank) == 0, "%s does not exist", file_of_rank);
    dt_mesh_release(mesh);
    return 0;
}

static void trace__writes_events_for_viewers(void **state) {
    (void)state;
    char folder[] = "/tmp/dtensor-trace-XXXXXX";
    assert_non_null(mkdtemp(folder));
    for (int64_t n = 1; n <= 3; n++)
        run_ranks(n, write_events, folder);
    assert_int_equal(rmdir(folder), 0);
}

/* The event of an exchange inside an op: its name, its bytes, and the collective that it counts as; within the time of
 * the op's own event, which follows. */
static int check_way(json_t *events, const char *op, const char *name, const char *what, int64_t bytes) {
    size_t i;
    json_t *event, *found = NULL;
    double begin = 0, end = 0;
    json_array_foreach(events, i, event) {
        const char *kind = json_string_value(json_object_get(event, "cat"));
        const char *called = json_string_value(json_object_get(event, "name"));
        CHECK(json_string_value(json_object_get(event, "ph")) && called, "an event without phase or name");
        CHECK(json_is_integer(json_object_get(event, "pid")), "an event without a process");
        if (!kind)
            continue;
        CHECK(json_is_number(json_object_get(event, "ts")), "an event without a time");
        if (!strcmp(kind, "comm") && !strcmp(called, name)) {
            found = event;
            begin = json_number_value(json_object_get(event, "ts"));
            end = begin + json_number_value(json_object_get(event, "dur"));
        }
        if (strcmp(kind, "op") || strcmp(called, op) || !found)
            continue;
        double op_begin = json_number_value(json_object_get(event, "ts"));
        double op_end = op_begin + json_number_value(json_object_get(event, "dur"));
        CHECK(op_begin <= begin && end <= op_end + 0.01, "%s is not within %s", name, op);
        json_t *args = json_object_get(found, "args");
        CHECK(json_integer_value(json_object_get(args, "bytes")) == bytes, "%s of %s: expected %lld bytes, got %lld",
              name, op, (long long)bytes, (long long)json_integer_value(json_object_get(args, "bytes")));
        const char *text = json_string_value(json_object_get(args, "what"));
        CHECK(text && !strcmp(text, what), "%s of %s: expected \"%s\", got \"%s\"", name, op, what, text);
        return 0;
    }
    CHECK(false, "expected an event %s in %s", name, op);
    return 0;
}

static int write_ways(dt_ctx *ctx, void *folder) {
    char name[64], file_of_rank[64];
    snprintf(name, sizeof name, "%s/ways.json", (const char *)folder);
    snprintf(file_of_rank, sizeof file_of_rank, "%s/ways.%d.json", (const char *)folder, (int)dt_rank(ctx));
    dt_mesh *mesh = dt_mesh_new(ctx, "2");
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(256, 512), .mesh = mesh, .place = "S(1)");
    CHECK_OK(ctx, dt_trace_begin(ctx, name));
    CHECK(dt_softmax(x, 1) && dt_cumsum(x, 1) && dt_slice(x, 1, 1, 512, 1), "%s", dt_error_text(ctx));
    CHECK_OK(ctx, dt_trace_end(ctx));
    json_error_t error;
    json_t *events = json_load_file(file_of_rank, 0, &error);
    CHECK(events, "%s: line %d: %s", file_of_rank, error.line, error.text);
    int64_t lacking = dt_rank(ctx) == 0 ? 256 * 4 : 0; /* a column; the last rank has all of its window */
    int failed = check_way(events, "softmax", "meet", "meet of 2 ranks: all_gather 1", (int64_t)256 * 2 * 8) ||
                 check_way(events, "cumsum", "scan", "scan of 2 ranks: all_gather 1", (int64_t)256 * 8) ||
                 check_way(events, "slice", "window", "window of 2 ranks: all_to_all 1", lacking);
    json_decref(events);
    CHECK(remove(file_of_rank) == 0, "%s does not exist", file_of_rank);
    dt_mesh_release(mesh);
    return failed;
}

static void trace__has_an_event_for_what_rows_exchange(void **state) {
    (void)state;
    char folder[] = "/tmp/dtensor-trace-XXXXXX";
    assert_non_null(mkdtemp(folder));
    run_ranks(2, write_ways, folder);
    assert_int_equal(rmdir(folder), 0);
}

static void trace__reports_what_it_cannot_write(void **state) {
    (void)state;
    world w = open_world(8, 1);
    assert_int_equal(dt_trace_begin(w.ctx, "/nowhere/at/all.json"), DT_ERR_SYSTEM);
    assert_error_contains(w.ctx, DT_ERR_SYSTEM, "cannot open /nowhere/at/all.1.json for writing");
    assert_int_equal(dt_error_clear(w.ctx), DT_OK);
    assert_non_null(CALL(w.ctx, "relu($1)", dt_ones(w.ctx, DT_SHAPE(3))));
    assert_int_equal(dt_trace_end(w.ctx), DT_OK);
    close_world(&w);
}

static void trace__begins_by_environment_variable(void **state) {
    (void)state;
    char folder[] = "/tmp/dtensor-trace-XXXXXX", name[64], line[256] = "";
    assert_non_null(mkdtemp(folder));
    snprintf(name, sizeof name, "%s/ops.txt", folder);
    setenv("DTENSOR_TRACE", name, 1);
    dt_ctx *ctx = dt_init(&(dt_init_options){.transport = "self"});
    unsetenv("DTENSOR_TRACE");
    assert_null(ctx->observer); /* not before the first op */
    setenv("DTENSOR_TRACE", name, 1);
    assert_non_null(CALL(ctx, "relu($1)", dt_scalar(ctx, 3)));
    unsetenv("DTENSOR_TRACE");
    assert_int_equal(dt_close(ctx), 0);
    FILE *file = fopen(name, "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    assert_string_equal(line, "relu(f32[]) -> f32[]\n");
    (void)fclose(file);
    assert_int_equal(remove(name), 0);
    assert_int_equal(rmdir(folder), 0);
}

/* The exit status of a process whose trace cannot be written completely and that does not check for it. */
static int trace_beyond_the_limit(const char *name, bool limited, const char *message) {
    char text[512] = "";
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        (void)dup2(ends[1], STDERR_FILENO);
        setenv("DTENSOR_TRACE", name, 1);
        if (limited)
            setrlimit(RLIMIT_FSIZE, &(struct rlimit){100000, RLIM_INFINITY});
        dt_ctx *ctx = dt_init(&(dt_init_options){.transport = "self"});
        dt_tensor *x = dt_ones(ctx, DT_SHAPE(3));
        for (int i = 0; i < 10000; i++)
            dt_drop(CALL(ctx, "relu($1)", x));
        _exit(dt_close(ctx));
    }
    close(ends[1]);
    for (ssize_t n = 0, at = 0; (n = read(ends[0], text + at, sizeof text - 1 - (size_t)at)) > 0;)
        at += n;
    close(ends[0]);
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (!strstr(text, message))
        fail_msg("expected '%s', got '%s'", message, text);
    return status;
}

static void trace__that_cannot_be_written_is_an_error_at_the_end(void **state) {
    (void)state;
    char folder[] = "/tmp/dtensor-trace-XXXXXX", name[64];
    assert_non_null(mkdtemp(folder));
    int status =
        trace_beyond_the_limit("/dev/full", false, "trace: cannot write all of /dev/full: No space left on device");
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 1);
    static const char *const names[] = {"ops.txt", "ops.json"};
    for (int i = 0; i < 2; i++) {
        snprintf(name, sizeof name, "%s/%s", folder, names[i]);
        status = trace_beyond_the_limit(name, true, "File too large; the file is cut off");
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 1); /* not by SIGXFSZ */
        assert_int_equal(remove(name), 0);
    }
    assert_int_equal(rmdir(folder), 0);
}

static void explain__takes_the_name_of_an_op(void **state) {
    (void)state;
    world w = open_world(8, 1);
    dt_tensor *x = ones(&w, 64, 64, "S(0)"), *v = ones(&w, 64, 8, "S(0)");
    const char *text = dt_explain(w.ctx, "matmul", x, v);
    assert_contains(text, "matmul(f32[64,64] S(0); f32[64,8] S(0)) on mesh(8)\n* S(0); R -> S(0)  ");
    char *copy = strdup(text);
    assert_string_equal(dt_explain(w.ctx, "matmul($1; $2)", x, v), copy); /* the same call in full */
    assert_string_equal(dt_explain_tensors(w.ctx, "matmul", 2, (dt_tensor *[]){x, v}, NULL), copy);
    free(copy);
    assert_contains(dt_explain(w.ctx, "relu", v), "relu(f32[64,8] S(0)) on mesh(8)\n* S(0) -> S(0)  0 us");
    assert_null(dt_explain(w.ctx, "matmul", x)); /* the second tensor is missing */
    assert_error_contains(w.ctx, DT_ERR_VALUE, "matmul");
    assert_int_equal(dt_error_clear(w.ctx), DT_OK);
    dt_tensor *none = dt_matmul(v, v); /* fails, and its error is the one that is kept */
    assert_null(dt_explain(w.ctx, "matmul", x, none));
    assert_error_contains(w.ctx, DT_ERR_SHAPE, "matmul");
    assert_int_equal(dt_error_clear(w.ctx), DT_OK);
    assert_null(dt_explain_tensors(w.ctx, "relu", 0, NULL, NULL));
    assert_error_contains(w.ctx, DT_ERR_VALUE, "expected a call and at least one tensor");
    assert_int_equal(dt_error_clear(w.ctx), DT_OK);
    close_world(&w);
}

static void explain__shows_candidates_and_the_selected_one(void **state) {
    (void)state;
    world w = open_world(8, 1);
    dt_tensor *x = ones(&w, 64, 64, "S(0)"), *v = ones(&w, 64, 8, "S(0)");
    const char *text = dt_explain(w.ctx, "mm($1; $2)", x, v);
    assert_contains(text, "mm(f32[64,64] S(0); f32[64,8] S(0)) on mesh(8)\n* S(0); R -> S(0)  ");
    assert_contains(text, "all_gather 1, ");
    assert_contains(text, "input 1: stays\ninput 2: S(0)->R\n");
    assert_contains(text, "\n  "); /* others */
    text = dt_explain(w.ctx, "sum($1; dim=[1])", x);
    assert_contains(text, "* S(0) -> S(0)  0 us  nothing is sent\n");
    dt_tensor *y = CALL(w.ctx, "mm($1; $2)", x, v); /* the call does so */
    assert_string_equal(calls_placements(y), "S(0)");
    assert_null(dt_explain(w.ctx, "mm($1; $3)", x, v));
    assert_error_contains(w.ctx, DT_ERR_VALUE, "'$3)' does not name a tensor: expected $1 to $2");
    assert_int_equal(dt_error_clear(w.ctx), DT_OK);
    assert_null(dt_explain(w.ctx, "mm($0; $1)", x, v)); /* counted from 1, as in "argument 1" and "input 1" */
    assert_error_contains(w.ctx, DT_ERR_VALUE, "'$0; $1)' does not name a tensor: expected $1 to $2");
    assert_int_equal(dt_error_clear(w.ctx), DT_OK);
    dt_tensor *plain = dt_ones(w.ctx, DT_SHAPE(3));
    assert_null(dt_explain(w.ctx, "relu", plain));
    assert_int_equal(dt_error_clear(w.ctx), DT_OK);
    assert_null(dt_explain(w.ctx, "nothing_such", x));
    assert_error_contains(w.ctx, DT_ERR_OP, "nothing_such");
    assert_int_equal(dt_error_clear(w.ctx), DT_OK);
    close_world(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trace__has_specs_and_redistributions),
        cmocka_unit_test(trace__of_two_mesh_dims_and_of_several_outputs),
        cmocka_unit_test(trace__shows_arguments),
        cmocka_unit_test(trace__nests_under_scopes),
        cmocka_unit_test(trace__writes_events_for_viewers),
        cmocka_unit_test(trace__has_an_event_for_what_rows_exchange),
        cmocka_unit_test(trace__reports_what_it_cannot_write),
        cmocka_unit_test(trace__begins_by_environment_variable),
        cmocka_unit_test(trace__that_cannot_be_written_is_an_error_at_the_end),
        cmocka_unit_test(explain__takes_the_name_of_an_op),
        cmocka_unit_test(explain__shows_candidates_and_the_selected_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
