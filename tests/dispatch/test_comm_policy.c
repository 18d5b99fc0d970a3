/* SPDX-License-Identifier: Apache-2.0
 *
 * How ops may change the placements of their inputs: communication policies, plain tensors among distributed ones,
 * meshes that differ, ops in place and views. One rank of a fake world where data does not matter.
 */
#include "dispatch/calls.h"

#include "base/ctx.h"

enum { MAX_LINES = 8 };
typedef struct lines {
    int n;
    char text[MAX_LINES][512];
} lines;

static void keep_line(void *user, dt_log_level level, const char *line) {
    lines *self = user;
    if (level == DT_LOG_WARN && self->n < MAX_LINES)
        snprintf(self->text[self->n++], sizeof self->text[0], "%s", line);
}

typedef struct world {
    dt_ctx *ctx;
    dt_mesh *mesh;
    lines log;
} world;

static world *open_world(void) {
    static world self;
    int64_t four = 4;
    self = (world){0};
    self.ctx = dt_init(&(dt_init_options){.transport = "fake",
                                          .world = 4,
                                          .rank = 2,
                                          .log = keep_line,
                                          .log_user = &self.log}); /* warnings are on by default */
    assert_non_null(self.ctx);
    self.mesh = dt_mesh_from_shape(self.ctx, &four, 1, NULL);
    return &self;
}

static void close_world(world *self) {
    dt_mesh_release(self->mesh);
    assert_int_equal(dt_close(self->ctx), 0);
}

static dt_tensor *ones(world *self, int64_t m, int64_t n, const char *place) {
    return dt_ones(self->ctx, DT_SHAPE(m, n), .mesh = self->mesh, .place = place);
}

/* With a call site, as the macros of the API pass it. */
static dt_tensor *call_at(world *self, const char *file, int line, const char *text, dt_tensor *const *tensors) {
    test_call call;
    dt_site site = {file, line};
    assert_true(calls_open(self->ctx, text, tensors, &call));
    DT__ENTER(self->ctx, call.call.info->schema.name, &site);
    dt_status status = calls_run(self->ctx, &call);
    calls_close(&call);
    return status == DT_OK ? call.call.outputs[0] : NULL;
}

static void policy__allows_by_default(void **state) {
    (void)state;
    world *w = open_world();
    dt_tensor *y = CALL(w->ctx, "mm($1; $2)", ones(w, 8, 8, "S(0)"), ones(w, 8, 8, "S(0)"));
    assert_string_equal(calls_placements(y), "P(sum)"); /* one all-to-all is the cheapest */
    assert_int_equal(w->log.n, 0);
    close_world(w);
}

static void policy__warns_with_file_and_line(void **state) {
    (void)state;
    world *w = open_world();
    dt_tensor *x = ones(w, 8, 8, "S(0)"), *v = ones(w, 8, 8, "S(0)");
    /* UTL-046: a warning, which names the op */
    assert_int_equal(dt_comm_policy(w->ctx, DT_COMM_WARN), DT_OK);
    assert_non_null(call_at(w, "model.c", 12, "mm($1; $2)", (dt_tensor *[]){x, v}));
    assert_int_equal(w->log.n, 1);
    assert_non_null(strstr(w->log.text[0], "mm: moves argument 1, f32[8,8] S(0) on mesh(4), to S(1)"));
    assert_non_null(strstr(w->log.text[0], " (at model.c:12)"));
    assert_non_null(call_at(w, "model.c", 13, "mm($1; $2)", (dt_tensor *[]){x, v})); /* from the cache, too */
    assert_int_equal(w->log.n, 2);
    assert_non_null(strstr(w->log.text[1], "model.c:13"));
    assert_non_null(CALL(w->ctx, "add($1; $2)", x, v)); /* moves nothing */
    assert_int_equal(w->log.n, 2);
    for (int i = 0; i < 3; i++) /* once per call site and decision */
        assert_non_null(call_at(w, "model.c", 12, "mm($1; $2)", (dt_tensor *[]){x, v}));
    assert_int_equal(w->log.n, 2);
    dt_tensor *wide = ones(w, 8, 12, "S(0)");
    for (int i = 0; i < 3; i++)
        assert_non_null(call_at(w, "model.c", 12, "mm($1; $2)", (dt_tensor *[]){x, wide}));
    assert_int_equal(w->log.n, 3);
    assert_non_null(call_at(w, "other.c", 12, "mm($1; $2)", (dt_tensor *[]){x, v}));
    assert_int_equal(w->log.n, 4);
    for (int i = 0; i < 3; i++) /* without a call site */
        assert_non_null(CALL(w->ctx, "mm($1; $2)", x, v));
    assert_int_equal(w->log.n, 5);
    close_world(w);
}

static void policy__refuses_before_anything_moves(void **state) {
    (void)state;
    world *w = open_world();
    dt_tensor *x = ones(w, 8, 8, "S(0)"), *v = ones(w, 8, 8, "S(0)");
    assert_int_equal(dt_comm_policy(w->ctx, DT_COMM_ERROR), DT_OK);
    dt__redistribute_stats before = dt__redistribute_statistics(w->ctx);
    int64_t refs[] = {x->n_refs, v->n_refs, x->storage->n_refs, x->spec->n_refs};
    assert_null(call_at(w, "model.c", 12, "mm($1; $2)", (dt_tensor *[]){x, v}));
    assert_error_contains(w->ctx, DT_ERR_PLACEMENT, "mm: moves argument 1");
    assert_error_contains(w->ctx, DT_ERR_PLACEMENT, "redistribute it first (at model.c:12)");
    assert_int_equal(dt__redistribute_statistics(w->ctx).n_runs, before.n_runs);
    assert_int_equal(dt__redistribute_statistics(w->ctx).n_misses, before.n_misses); /* nothing is prepared either */
    assert_int_equal(x->n_refs, refs[0]);
    assert_int_equal(v->n_refs, refs[1]);
    assert_int_equal(x->storage->n_refs, refs[2]);
    assert_string_equal(calls_placements(x), "S(0)");
    assert_int_equal(dt_error_clear(w->ctx), DT_OK);
    dt_tensor *moved = dt_redistribute(v, "R"); /* explicit: allowed */
    assert_non_null(CALL(w->ctx, "mm($1; $2)", x, moved));
    dt_tensor *full_value = ones(w, 8, 8, "R");
    assert_non_null(CALL(w->ctx, "add($1; $2)", x, full_value)); /* R to S(0) takes no message */
    assert_non_null(dt_full_tensor(x));                          /* reading is always allowed */
    close_world(w);
}

static void policy__belongs_to_the_scope(void **state) {
    (void)state;
    world *w = open_world();
    dt_tensor *x = ones(w, 8, 8, "S(0)");
    dt_scope outer = dt_scope_begin(w->ctx);
    assert_int_equal(dt_comm_policy(w->ctx, DT_COMM_ERROR), DT_OK);
    dt_scope inner = dt_scope_begin(w->ctx);
    assert_null(CALL(w->ctx, "mm($1; $1)", x)); /* inner scopes inherit it */
    assert_int_equal(dt_error_clear(w->ctx), DT_OK);
    assert_int_equal(dt_comm_policy(w->ctx, DT_COMM_ALLOW), DT_OK);
    assert_non_null(CALL(w->ctx, "mm($1; $1)", x));
    dt_scope_end(inner);
    assert_null(CALL(w->ctx, "mm($1; $1)", x));
    assert_int_equal(dt_error_clear(w->ctx), DT_OK);
    dt_scope_end(outer);
    assert_non_null(CALL(w->ctx, "mm($1; $1)", x));
    dt_scope other = dt_scope_begin(w->ctx); /* at the depth of one that had a policy */
    assert_non_null(CALL(w->ctx, "mm($1; $1)", x));
    dt_scope_end(other);
    assert_int_equal(dt_comm_policy(w->ctx, DT_N_POLICIES), DT_ERR_VALUE);
    assert_int_equal(dt_error_clear(w->ctx), DT_OK);
    close_world(w);
}

static void mixed__plain_and_distributed_is_refused(void **state) {
    (void)state;
    world *w = open_world();
    dt_tensor *x = ones(w, 8, 8, "S(0)"), *plain = dt_ones(w->ctx, DT_SHAPE(8, 8));
    assert_null(CALL(w->ctx, "add($1; $2)", x, plain));
    assert_error_contains(
        w->ctx, DT_ERR_PLACEMENT,
        "add: f32[8,8] is plain and f32[8,8] S(0) on mesh(4) is distributed; distribute the plain one "
        "with dt_distribute_tensor, or count it as replicated between "
        "dt_implicit_replication_begin and _end");
    assert_int_equal(dt_error_clear(w->ctx), DT_OK);
    dt_implicit_replication_begin(w->ctx);
    dt_implicit_replication_begin(w->ctx);
    assert_string_equal(calls_placements(CALL(w->ctx, "add($1; $2)", x, plain)), "S(0)");
    dt_implicit_replication_end(w->ctx);
    assert_non_null(CALL(w->ctx, "add($1; $2)", x, plain));
    dt_implicit_replication_end(w->ctx);
    assert_null(CALL(w->ctx, "add($1; $2)", x, plain)); /* not from the cache */
    assert_int_equal(dt_error_clear(w->ctx), DT_OK);
    dt_implicit_replication_end(w->ctx); /* one too many changes nothing */
    assert_null(CALL(w->ctx, "add($1; $2)", x, plain));
    assert_int_equal(dt_error_clear(w->ctx), DT_OK);
    close_world(w);
}

static void mixed__one_element_counts_as_replicated(void **state) {
    (void)state;
    world *w = open_world();
    dt_tensor *x = ones(w, 8, 8, "S(0)");
    assert_string_equal(calls_placements(CALL(w->ctx, "add($1; $2)", x, dt_scalar(w->ctx, 2))), "S(0)");
    assert_string_equal(calls_placements(CALL(w->ctx, "add($1; $2)", x, dt_ones(w->ctx, DT_SHAPE(1)))), "S(0)");
    assert_string_equal(calls_placements(CALL(w->ctx, "mul($2; $1)", x, dt_ones(w->ctx, DT_SHAPE(1, 1)))), "S(0)");
    assert_null(CALL(w->ctx, "add($1; $2)", x, dt_ones(w->ctx, DT_SHAPE(8))));
    assert_int_equal(dt_error_clear(w->ctx), DT_OK);
    close_world(w);
}

static void mixed__meshes_must_be_equal(void **state) {
    (void)state;
    world *w = open_world();
    int64_t four = 4, two[] = {2, 2};
    dt_mesh *same = dt_mesh_from_shape(w->ctx, &four, 1, NULL), *other = dt_mesh_from_shape(w->ctx, two, 2, NULL);
    dt_tensor *x = ones(w, 8, 8, "S(0)");
    assert_non_null(CALL(w->ctx, "add($1; $2)", x, dt_ones(w->ctx, DT_SHAPE(8, 8), .mesh = same, .place = "S(0)")));
    dt_tensor *y = dt_ones(w->ctx, DT_SHAPE(8, 8), .mesh = other, .place = "S(0),R");
    assert_null(CALL(w->ctx, "add($1; $2)", x, y));
    assert_error_contains(w->ctx, DT_ERR_MESH, "add: f32[8,8] S(0) on mesh(4) and f32[8,8] S(0),R on mesh(2x2)");
    assert_int_equal(dt_error_clear(w->ctx), DT_OK);
    dt_mesh_release(same);
    dt_mesh_release(other);
    close_world(w);
}

/* SDS-016 */
static void in_place__that_would_have_to_move_is_refused(void **state) {
    (void)state;
    world *w = open_world();
    dt_tensor *partial = ones(w, 8, 8, "P(sum)"), *x = ones(w, 8, 8, "S(0)");
    assert_null(CALL(w->ctx, "add_($1; 2.0)", partial));
    assert_int_equal(dt_error_status(w->ctx), DT_ERR_PLACEMENT);
    assert_int_equal(dt_error_clear(w->ctx), DT_OK);
    assert_string_equal(calls_placements(partial), "P(sum)");
    dt_tensor *y = ones(w, 8, 8, "S(1)");
    assert_ptr_equal(CALL(w->ctx, "add_($1; $2)", x, y), x); /* CMR-016: the other one is redistributed */
    assert_string_equal(calls_placements(x), "S(0)");
    close_world(w);
}

/* x += x^T and x += its own first row: inputs that overlap the output are read first. */
static int overlapping_inputs(dt_ctx *ctx, void *arg) {
    (void)arg;
    int64_t n_ranks = dt_world(ctx);
    dt_mesh *mesh = dt_mesh_from_shape(ctx, &n_ranks, 1, NULL);
    dt_tensor *full_value = calls_counting(ctx, DT_F32, DT_SHAPE(5, 5), 0, 1);
    for (int distributed = 0; distributed < 2; distributed++) {
        dt_tensor *x = distributed ? calls_distribute(full_value, mesh, "R") : dt_clone(full_value);
        CHECK(CALL(ctx, "add_($1; $2)", x, CALL(ctx, "transpose($1; 0; 1)", x)) == x, "%s", dt_error_text(ctx));
        dt_tensor *full = dt_full_tensor(x);
        for (int64_t i = 0; i < 25; i++) {
            double expected = (double)(i + i % 5 * 5 + i / 5);
            CHECK(calls_element(full, i) == expected, "element %" PRId64 ": expected %g, got %g", i, expected,
                  calls_element(full, i));
        }
        dt_tensor *y = distributed ? calls_distribute(full_value, mesh, "S(1)") : dt_clone(full_value);
        CHECK(CALL(ctx, "add_($1; $2)", y, CALL(ctx, "select($1; 0; 4)", y)) == y, "%s", dt_error_text(ctx));
        full = dt_full_tensor(y);
        for (int64_t i = 0; i < 25; i++)
            CHECK(calls_element(full, i) == (double)(i + 20 + i % 5), "%" PRId64 ": %g", i, calls_element(full, i));
    }
    dt_tensor *wide = CALL(ctx, "expand($1; [4,3])", dt_ones(ctx, DT_SHAPE(1, 3)));
    CHECK(!CALL(ctx, "add_($1; 1.0)", wide) && dt_error_status(ctx) == DT_ERR_STATE, "%s", dt_error_text(ctx));
    CHECK_OK(ctx, dt_error_clear(ctx));
    dt_mesh_release(mesh);
    return 0;
}

static void in_place__reads_what_overlaps_before_it_writes(void **state) {
    (void)state;
    for (int64_t n = 1; n <= 3; n++)
        run_ranks(n, overlapping_inputs, NULL);
}

/* On ranks with data. */
static int views_share(dt_ctx *ctx, void *arg) {
    (void)arg;
    int64_t n_ranks = dt_world(ctx);
    dt_mesh *mesh = dt_mesh_from_shape(ctx, &n_ranks, 1, NULL);
    dt_tensor *full_value = calls_counting(ctx, DT_F32, DT_SHAPE(7, 4), 0, 1);
    dt_tensor *x = calls_distribute(full_value, mesh, "S(0)"), *expected = dt_clone(full_value);
    dt_tensor *v = CALL(ctx, "transpose($1; 0; 1)", x);
    CHECK(v && dt_tensor_shares(v, x), "the transpose is a copy: %s", dt_error_text(ctx));
    CHECK(!strcmp(calls_placements(v), "S(1)"), "%s", calls_placements(v));
    dt_tensor *part = CALL(ctx, "select($1; 0; 2)", v); /* column 2 of x */
    CHECK(part && dt_tensor_shares(part, x), "the selection is a copy: %s", dt_error_text(ctx));
    uint64_t version = x->storage->version;
    CHECK(CALL(ctx, "add_($1; 100.0)", part) == part, "%s", dt_error_text(ctx));
    CHECK(x->storage->version == version + 1, "version %llu", (unsigned long long)x->storage->version);
    for (int64_t i = 0; i < 7; i++)
        calls_set_element(expected, i * 4 + 2, (double)(i * 4 + 2) + 100);
    CHECK(tensors_equal(dt_full_tensor(x), expected), "x does not have the change made through its view");
    dt_tensor *flat = CALL(ctx, "view($1; [28])", x);
    CHECK(flat && dt_tensor_shares(flat, x), "the flat view is a copy: %s", dt_error_text(ctx));
    dt_tensor *copied = CALL(ctx, "reshape($1; [28])", v); /* column by column: cannot be a view */
    CHECK(copied, "%s", dt_error_text(ctx));
    CHECK(!dt_tensor_shares(copied, x) || dt_tensor_local_elements(x) <= 4, "the reshape is a view");
    CHECK(tensors_equal(dt_full_tensor(copied), dt_reshape(dt_transpose(expected, 0, 1), DT_SHAPE(28))),
          "the reshape has other values: %s", dt_error_text(ctx));
    dt_mesh_release(mesh);
    return 0;
}

static void views__share_storage_and_show_changes(void **state) {
    (void)state;
    for (int64_t n = 1; n <= 5; n++)
        run_ranks(n, views_share, NULL);
}

/* Ranks outside the mesh run the same program and hold nothing. */
static int ranks_outside_the_mesh(dt_ctx *ctx, void *arg) {
    (void)arg;
    int64_t two = 2;
    dt_mesh *mesh = dt_mesh_from_shape(ctx, &two, 1, NULL);
    dt_tensor *x = calls_distribute(calls_counting(ctx, DT_F32, DT_SHAPE(5, 3), 0, 1), mesh, "S(0)");
    dt_tensor *y = CALL(ctx, "mm($1; $2)", x, CALL(ctx, "transpose($1; 0; 1)", x));
    CHECK(y, "%s", dt_error_text(ctx));
    CHECK(dt_tensor_size(y, 0) == 5 && dt_tensor_size(y, 1) == 5, "%" PRId64, dt_tensor_size(y, 0));
    CHECK(dt_rank(ctx) < 2 || dt_tensor_local_elements(y) == 0, "%" PRId64, dt_tensor_local_elements(y));
    CHECK(CALL(ctx, "add_($1; 1.0)", y) == y, "%s", dt_error_text(ctx));
    dt_tensor *sum = CALL(ctx, "sum($1)", y);
    double value = dt_item(sum), expected = 0;
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 5; j++) {
            expected += 1;
            for (int k = 0; k < 3; k++)
                expected += (double)((i * 3 + k) * (j * 3 + k));
        }
    CHECK(dt_rank(ctx) >= 2 || value == expected, "expected %g, got %g", expected, value);
    CHECK(!dt_failed(ctx), "%s", dt_error_text(ctx));
    dt_mesh_release(mesh);
    return 0;
}

static void ranks__outside_the_mesh_hold_nothing(void **state) {
    (void)state;
    run_ranks(3, ranks_outside_the_mesh, NULL);
    run_ranks(5, ranks_outside_the_mesh, NULL);
}

static void fake__plans_on_meshes_of_any_size(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(&(dt_init_options){.transport = "fake", .world = 100000, .rank = 77});
    int64_t sizes[] = {1000, 100};
    dt_mesh *mesh = dt_mesh_from_shape(ctx, sizes, 2, NULL);
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(100000, 4096), .mesh = mesh, .place = "S(0),R");
    dt_tensor *w = dt_ones(ctx, DT_SHAPE(4096, 8192), .mesh = mesh, .place = "R,S(1)");
    dt_tensor *y = CALL(ctx, "relu($1)", CALL(ctx, "mm($1; $2)", x, w));
    assert_string_equal(calls_placements(y), "S(0),S(1)");
    assert_int_equal(dt_tensor_local_shape(y)[0], 100);
    assert_int_equal(dt_tensor_local_shape(y)[1], 82);
    assert_null(dt_data(y));
    dt_mesh_release(mesh);
    assert_int_equal(dt_close(ctx), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(policy__allows_by_default),
        cmocka_unit_test(policy__warns_with_file_and_line),
        cmocka_unit_test(policy__refuses_before_anything_moves),
        cmocka_unit_test(policy__belongs_to_the_scope),
        cmocka_unit_test(mixed__plain_and_distributed_is_refused),
        cmocka_unit_test(mixed__one_element_counts_as_replicated),
        cmocka_unit_test(mixed__meshes_must_be_equal),
        cmocka_unit_test(in_place__that_would_have_to_move_is_refused),
        cmocka_unit_test(in_place__reads_what_overlaps_before_it_writes),
        cmocka_unit_test(views__share_storage_and_show_changes),
        cmocka_unit_test(ranks__outside_the_mesh_hold_nothing),
        cmocka_unit_test(fake__plans_on_meshes_of_any_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
