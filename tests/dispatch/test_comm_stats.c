/* SPDX-License-Identifier: Apache-2.0
 *
 * Counts of communication by collective, by name and by scope. Ranks of a fake world, where nothing moves and
 * everything is counted; and ranks on shm, whose bytes are known.
 */
#include "dispatch/calls.h"

#include "dtensor/debug.h"

#include <jansson.h>

static int64_t count(const dt_ctx *ctx, const char *collective, const char *op, const char *scope) {
    return dt_comm_stats(ctx, &(dt_comm_filter){collective, op, scope}).n;
}

typedef struct world {
    dt_ctx *ctx;
    dt_mesh *mesh;
} world;

static world open_world(int64_t n) {
    world self = {.ctx = dt_init(&(dt_init_options){.transport = "fake", .world = n, .rank = 1})};
    assert_non_null(self.ctx);
    self.mesh = dt_mesh_from_shape(self.ctx, &n, 1, NULL);
    return self;
}

static void close_world(world *self) {
    dt_mesh_release(self->mesh);
    assert_int_equal(dt_close(self->ctx), 0);
}

static dt_tensor *ones(const world *self, int64_t m, int64_t n, const char *place) {
    return dt_ones(self->ctx, DT_SHAPE(m, n), .mesh = self->mesh, .place = place);
}

/* CM-001 */
static void count__by_collective(void **state) {
    (void)state;
    world w = open_world(2);
    assert_int_equal(dt_comm_stats_begin(w.ctx), DT_OK);
    assert_non_null(dt_redistribute(ones(&w, 8, 8, "S(0)"), "R"));
    assert_non_null(dt_redistribute(ones(&w, 8, 8, "P(sum)"), "S(0)"));
    assert_non_null(dt_redistribute(ones(&w, 8, 8, "P(sum)"), "R"));
    assert_non_null(dt_redistribute(ones(&w, 8, 8, "R"), "S(0)"));
    dt_comm_stats_end(w.ctx);
    assert_non_null(dt_redistribute(ones(&w, 8, 8, "S(1)"), "R")); /* not counted any more */
    assert_int_equal(count(w.ctx, NULL, NULL, NULL), 3);
    assert_int_equal(count(w.ctx, "all_gather", NULL, NULL), 1);
    assert_int_equal(count(w.ctx, "reduce_scatter", NULL, NULL), 1);
    assert_int_equal(count(w.ctx, "all_reduce", NULL, NULL), 1);
    assert_int_equal(count(w.ctx, NULL, "redistribute", NULL), 3);
    close_world(&w);
}

/* CM-003: one collective. Here it is the all-to-all of the smaller factor, which the cost model prices below the
 * all-gather of the larger one. */
static void count__of_an_op_is_its_own(void **state) {
    (void)state;
    world w = open_world(2);
    assert_int_equal(dt_comm_stats_begin(w.ctx), DT_OK);
    assert_non_null(CALL(w.ctx, "mm($1; $2)", ones(&w, 8, 8, "S(0)"), ones(&w, 8, 32, "S(0)")));
    assert_int_equal(count(w.ctx, NULL, NULL, NULL), 1);
    assert_int_equal(count(w.ctx, "all_reduce", NULL, NULL) + count(w.ctx, "reduce_scatter", NULL, NULL), 0);
    assert_int_equal(count(w.ctx, NULL, "mm", NULL), 1);
    assert_int_equal(count(w.ctx, NULL, "redistribute", NULL), 0);
    assert_non_null(dt_full_tensor(ones(&w, 8, 8, "S(0)")));
    assert_int_equal(count(w.ctx, NULL, "full_tensor", NULL), 1);
    close_world(&w);
}

/* CM-005 */
static void count__begins_from_zero(void **state) {
    (void)state;
    world w = open_world(2);
    assert_int_equal(count(w.ctx, NULL, NULL, NULL), 0);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(dt_comm_stats_begin(w.ctx), DT_OK);
        assert_int_equal(count(w.ctx, NULL, NULL, NULL), 0);
        assert_non_null(dt_redistribute(ones(&w, 8, 8, "S(0)"), "R"));
        assert_int_equal(count(w.ctx, NULL, NULL, NULL), 1);
    }
    dt_comm_stats_end(w.ctx);
    dt_comm_stats_end(w.ctx);
    close_world(&w);
}

/* A two-layer perceptron, its weights sharded by columns and by rows; CMF-003, CMF-004, DBG-015. */
static void run_perceptron(const world *w, const char *name, dt_tensor *x) {
    assert_int_equal(dt_comm_scope_begin(w->ctx, name), DT_OK);
    assert_int_equal(dt_comm_scope_begin(w->ctx, "net1"), DT_OK);
    dt_tensor *h = CALL(w->ctx, "relu($1)", CALL(w->ctx, "linear($1; $2)", x, ones(w, 16, 8, "S(0)")));
    dt_comm_scope_end(w->ctx);
    assert_int_equal(dt_comm_scope_begin(w->ctx, "net2"), DT_OK);
    dt_tensor *y = CALL(w->ctx, "linear($1; $2)", h, ones(w, 8, 16, "S(1)"));
    assert_string_equal(calls_placements(y), "P(sum)");
    assert_non_null(dt_redistribute(y, "R"));
    dt_comm_scope_end(w->ctx);
    dt_comm_scope_end(w->ctx);
}

static void count__by_scope_with_all_that_is_inside(void **state) {
    (void)state;
    world w = open_world(4);
    assert_int_equal(dt_comm_stats_begin(w.ctx), DT_OK);
    assert_int_equal(count(w.ctx, NULL, NULL, NULL), 0);
    dt_tensor *x = ones(&w, 4, 8, "R");
    run_perceptron(&w, "mlp", x);
    run_perceptron(&w, "mlp2", x);
    dt_comm_scope_end(w.ctx); /* one too many */
    assert_non_null(dt_redistribute(ones(&w, 8, 8, "S(0)"), "R"));
    assert_int_equal(count(w.ctx, "all_reduce", NULL, NULL), 2);
    assert_int_equal(count(w.ctx, "all_reduce", NULL, "mlp"), 1); /* not mlp2 */
    assert_int_equal(count(w.ctx, "all_reduce", NULL, "mlp/net2"), 1);
    assert_int_equal(count(w.ctx, "all_reduce", NULL, "mlp/net1"), 0);
    assert_int_equal(count(w.ctx, NULL, NULL, ""), 3);
    assert_int_equal(count(w.ctx, "all_gather", NULL, NULL), 1);
    const char *text = dt_comm_stats_text(w.ctx);
    assert_non_null(strstr(text, "all_reduce"));
    assert_non_null(strstr(text, "mlp2"));
    assert_non_null(strstr(text, "- redistribute"));
    assert_null(strstr(text, "net1"));
    json_error_t error;
    json_t *json = json_loads(dt_comm_stats_json(w.ctx), 0, &error), *scopes = json_object_get(json, "scopes");
    assert_non_null(json);
    json_t *total = json_object_get(json_object_get(json, "total"), "collectives");
    assert_int_equal(json_integer_value(json_object_get(total, "all_reduce")), 2);
    assert_int_equal(json_object_size(scopes), 4);
    json_t *net2 = json_object_get(json_object_get(json_object_get(scopes, "mlp/net2"), "ops"), "redistribute");
    assert_int_equal(json_integer_value(json_object_get(json_object_get(net2, "collectives"), "all_reduce")), 1);
    json_decref(json);
    text = dt_comm_steps_text(w.ctx, 2, 1e6); /* by call, whatever the scope, per step */
    assert_non_null(strstr(text, "redistribute "));
    assert_ptr_equal(strstr(text, "redistribute "), strstr(text, "\nredistribute ") + 1);
    assert_null(strstr(strstr(text, "redistribute ") + 1, "redistribute "));
    assert_non_null(strstr(strstr(text, "\nall "), "1 all_reduce\n"));
    assert_null(dt_comm_steps_text(w.ctx, 0, 1));
    assert_non_null(strstr(dt_error_text(w.ctx), "expected steps and seconds above 0, got 0 and 1"));
    assert_int_equal(dt_error_clear(w.ctx), DT_OK);
    assert_int_equal(dt_comm_scope_begin(w.ctx, "a/b"), DT_ERR_VALUE);
    assert_int_equal(dt_error_clear(w.ctx), DT_OK);
    close_world(&w);
}

/* One call of printf may show all of them. */
static void texts__of_different_functions_are_valid_together(void **state) {
    (void)state;
    world w = open_world(4);
    dt_tensor *x = ones(&w, 4, 8, "S(0)");
    const char *texts[] = {dt_comm_stats_text(w.ctx), dt_comm_stats_json(w.ctx), dt_memory_text(w.ctx),
                           dt_explain(w.ctx, "relu", x), dt_comm_steps_text(w.ctx, 1, 1)};
    static const char *const begins[] = {"scope", "{", "memory", "relu(", "call"};
    for (int i = 0; i < 5; i++) {
        assert_non_null(texts[i]);
        assert_memory_equal(texts[i], begins[i], strlen(begins[i]));
    }
    close_world(&w);
}

/* CM-004 */
static int raw_calls(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_group *all = dt_group_world(ctx);
    int64_t n = dt_world(ctx), rank = dt_rank(ctx);
    float in[64], out[64];
    memset(in, 0, sizeof in);
    CHECK_OK(ctx, dt_comm_stats_begin(ctx));
    CHECK_OK(ctx, dt_comm_all_reduce(all, in, out, 4, DT_F32, DT_SUM));
    CHECK_OK(ctx, dt_comm_all_gather(all, in, out, 2, DT_F32));
    CHECK_OK(ctx, dt_comm_reduce_scatter(all, in, out, 2, DT_F32, DT_SUM));
    CHECK_OK(ctx, dt_comm_broadcast(all, in, out, 3, DT_F32, 0));
    CHECK_OK(ctx, dt_comm_gather(all, in, out, 2, DT_F32, 0));
    CHECK_OK(ctx, dt_comm_scatter(all, in, out, 2, DT_F32, 0));
    CHECK_OK(ctx, dt_comm_all_to_all(all, in, out, 2, DT_F32));
    CHECK_OK(ctx, dt_comm_barrier(all));
    dt_work *work =
        dt_comm_start(all, &(dt_comm_call){.op = DT_ALL_REDUCE, .dtype = DT_F32, .src = in, .dst = out, .count = 4});
    CHECK_OK(ctx, dt_work_wait(work));
    static const struct {
        const char *name;
        int64_t n;
    } expected[] = {{"all_reduce", 2}, {"all_gather", 1}, {"reduce_scatter", 1}, {"broadcast", 1},
                    {"gather", 1},     {"scatter", 1},    {"all_to_all", 1},     {"barrier", 1}};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        CHECK(count(ctx, expected[i].name, "comm", NULL) == expected[i].n, "%s: %" PRId64, expected[i].name,
              count(ctx, expected[i].name, "comm", NULL));
    CHECK(count(ctx, NULL, NULL, NULL) == 9, "%" PRId64, count(ctx, NULL, NULL, NULL));
    int64_t floats = 2 * 4 + 2 * n + 2 + 3 + (rank == 0 ? 2 * n : 0) + 2 + 2 * n;
    CHECK(dt_comm_stats(ctx, NULL).bytes == 4 * floats, "expected %" PRId64 " bytes, got %" PRId64, 4 * floats,
          dt_comm_stats(ctx, NULL).bytes);
    dt_comm_stats_end(ctx);
    CHECK_OK(ctx, dt_comm_barrier(all));
    CHECK(count(ctx, NULL, NULL, NULL) == 9, "%" PRId64, count(ctx, NULL, NULL, NULL));
    return 0;
}

/* A rank receives the elements that it does not hold. */
static int bytes_received(dt_ctx *ctx, void *arg) {
    (void)arg;
    int64_t n = dt_world(ctx);
    dt_mesh *mesh = dt_mesh_from_shape(ctx, &n, 1, NULL);
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(7, 3), .mesh = mesh, .place = "S(0)");
    CHECK_OK(ctx, dt_comm_stats_begin(ctx));
    const double start = dt__now_us();
    CHECK(dt_redistribute(x, "R"), "%s", dt_error_text(ctx));
    const double limit = 1e-6 * (dt__now_us() - start), seconds = dt_comm_stats(ctx, NULL).seconds;
    CHECK(n == 1 || (seconds > 0 && seconds <= limit), "expected up to %g s, got %g", limit, seconds);
    CHECK(seconds == dt_comm_stats(ctx, &(dt_comm_filter){.collective = "all_gather"}).seconds, "%g s", seconds);
    int64_t expected = 4 * (21 - dt_tensor_local_elements(x));
    CHECK(dt_comm_stats(ctx, NULL).bytes == expected, "expected %" PRId64 " bytes, got %" PRId64, expected,
          dt_comm_stats(ctx, NULL).bytes);
    CHECK_OK(ctx, dt_comm_stats_begin(ctx));
    CHECK(dt_item(CALL(ctx, "sum($1)", x)) == 21, "%s", dt_error_text(ctx));
    CHECK(count(ctx, "all_reduce", "item", NULL) == (n > 1), "%" PRId64, count(ctx, "all_reduce", "item", NULL));
    CHECK(count(ctx, NULL, NULL, NULL) == (n > 1), "%" PRId64, count(ctx, NULL, NULL, NULL));
    dt_mesh_release(mesh);
    return 0;
}

static void count__raw_collectives_by_their_names(void **state) {
    (void)state;
    run_ranks(2, raw_calls, NULL);
    run_ranks(3, raw_calls, NULL);
}

static void count__bytes_are_those_received(void **state) {
    (void)state;
    for (int64_t n = 1; n <= 5; n++)
        run_ranks(n, bytes_received, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(count__by_collective),
        cmocka_unit_test(count__of_an_op_is_its_own),
        cmocka_unit_test(count__begins_from_zero),
        cmocka_unit_test(count__by_scope_with_all_that_is_inside),
        cmocka_unit_test(texts__of_different_functions_are_valid_together),
        cmocka_unit_test(count__raw_collectives_by_their_names),
        cmocka_unit_test(count__bytes_are_those_received),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
