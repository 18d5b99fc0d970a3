/* SPDX-License-Identifier: Apache-2.0
 *
 * Views and copies of distributed tensors (permute, narrow, diagonal, unfold, clone, contiguous, and tensors like
 * another): the placements of the result, whether anything moves, whether memory is shared, and values against the
 * plain call.
 */
#include "dtensor/debug.h"
#include "dtensor/dtensor.h"
#include "support/ranks.h"
#include "tensor/tensors.h"

#include <string.h>

static dt_tensor *counting(dt_ctx *ctx, dt_shape shape) {
    int64_t n = 1;
    for (int d = 0; d < shape.n; d++)
        n *= shape.sizes[d];
    return dt_reshape(dt_arange(ctx, 0, (double)n, 1), shape);
}

typedef struct view_case {
    const char *place, *result; /* placements on a mesh of all ranks */
    bool moves;                 /* some input is redistributed, so that the result is no view of it */
} view_case;

static const char *placements_of(const dt_tensor *tensor) {
    static _Thread_local char text[256];
    dt_tensor_text(tensor, sizeof text, text);
    char *on = strstr(text, " on "), *place = strchr(text, ' ');
    if (on)
        *on = '\0';
    return place ? place + 1 : text;
}

/* Runs a call on a plain tensor and on a distributed one, twice: the second decision is a cached one. */
static int check_view(dt_ctx *ctx, const char *name, dt_tensor *(*call)(dt_tensor *), dt_tensor *value,
                      const view_case *c) {
    dt_scope scope = dt_scope_begin(ctx);
    dt_mesh *mesh = dt_mesh_new(ctx, "3");
    dt_tensor *x = dt_distribute_tensor(value, mesh, c->place, .everywhere = true), *expected = call(value);
    for (int again = 0; again < 2; again++) {
        CHECK_OK(ctx, dt_comm_stats_begin(ctx));
        dt_tensor *got = call(x);
        int64_t n = dt_comm_stats(ctx, &(dt_comm_filter){.op = NULL}).n;
        dt_comm_stats_end(ctx);
        CHECK(got, "%s of %s: %s", name, c->place, dt_error_text(ctx));
        CHECK(!strcmp(placements_of(got), c->result), "%s of %s: %s", name, c->place, placements_of(got));
        CHECK((n > 0) == c->moves && dt_tensor_shares(got, x) == !c->moves, "%s of %s: %lld", name, c->place,
              (long long)n);
        CHECK(tensors_equal(dt_full_tensor(got), expected), "%s of %s", name, c->place);
    }
    dt_mesh_release(mesh);
    dt_scope_end(scope);
    return 0;
}

static dt_tensor *permuted(dt_tensor *x) { return dt_permute(x, DT_DIMS(2, 0, -2)); }
static dt_tensor *narrowed(dt_tensor *x) { return dt_narrow(x, 1, -4, 3); }
static dt_tensor *narrowed_to_all(dt_tensor *x) { return dt_narrow(x, 1, 0, 5); }
static dt_tensor *on_diagonal(dt_tensor *x) { return dt_diagonal(x, -1, 1, 2); }
static dt_tensor *unfolded(dt_tensor *x) { return dt_unfold(x, -2, 3, 2); }
static dt_tensor *contiguous(dt_tensor *x) { return dt_contiguous(x); }

/* 7, 5 and 4 indices over three ranks: the last shard of each is short or empty. */
static int views_of_shards(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_tensor *value = counting(ctx, DT_SHAPE(7, 5, 4));
    static const struct {
        const char *name;
        dt_tensor *(*call)(dt_tensor *);
        view_case cases[6];
    } views[] = {
        {"permute",
         permuted,
         {{"S(0)", "S(1)", false},
          {"S(1)", "S(2)", false},
          {"S(2)", "S(0)", false},
          {"S(2:1,0,3)", "S(0:1,0,3)", false},
          {"_S(0,2)", "_S(1,2)", false},
          {"P(avg)", "P(avg)", false}}},
        {"narrow",
         narrowed,
         {{"S(0)", "S(0)", false},
          {"S(1)", "S(1)", true},
          {"S(2)", "S(2)", false},
          {"S(0:1,0,6)", "S(0:1,0,6)", false},
          {"_S(0,2)", "_S(0,2)", false},
          {"P(sum)", "P(sum)", false}}},
        {"narrow to all", narrowed_to_all, {{"S(1)", "S(1)", false}, {"S(1:1,0,4)", "S(1:1,0,4)", false}}},
        {"diagonal",
         on_diagonal,
         {{"S(0)", "S(0)", false}, {"S(0:1,0,6)", "S(0:1,0,6)", false}, {"P(avg)", "P(avg)", false}}},
        {"unfold", unfolded, {{"S(0)", "S(0)", false}, {"S(2)", "S(2)", false}, {"P(sum)", "P(sum)", false}}},
        {"contiguous", contiguous, {{"S(1)", "S(1)", false}, {"P(sum)", "P(sum)", false}}},
    };
    for (size_t v = 0; v < sizeof views / sizeof *views; v++)
        for (int i = 0; i < 6 && views[v].cases[i].place; i++)
            if (check_view(ctx, views[v].name, views[v].call, value, &views[v].cases[i]))
                return 1;
    return 0;
}

static const char *const all_places[] = {"R",      "S(0)",   "S(1)",    "S(0),S(0)", "S(0),S(1)",  "S(1),S(0)",
                                         "R,S(1)", "S(0),R", "_S(0,2)", "P(sum)",    "S(1),P(avg)"};

/* TOP-001, TOP-003 */
static int copies(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_tensor *value = counting(ctx, DT_SHAPE(16, 32));
    for (size_t p = 0; p < sizeof all_places / sizeof *all_places; p++) {
        dt_scope scope = dt_scope_begin(ctx);
        dt_mesh *mesh = dt_mesh_new(ctx, strchr(all_places[p], ',') && all_places[p][0] != '_' ? "2x2" : "4");
        dt_tensor *x = dt_distribute_tensor(value, mesh, all_places[p], .everywhere = true);
        CHECK_OK(ctx, dt_comm_stats_begin(ctx));
        dt_tensor *same = dt_contiguous(x), *turned = dt_transpose(x, 0, 1), *dense = dt_contiguous(turned);
        dt_tensor *clone = dt_clone(x), *turned_clone = dt_clone(turned);
        CHECK(dt_comm_stats(ctx, &(dt_comm_filter){.op = NULL}).n == 0, "%s: copies are local", all_places[p]);
        dt_comm_stats_end(ctx);
        CHECK(same && dt_tensor_shares(same, x) && dt_tensor_spec(same) == dt_tensor_spec(x), "TOP-001: %s",
              all_places[p]);
        CHECK(dense && !dt_tensor_shares(dense, x) && dt_tensor_is_contiguous(dense), "TOP-001: %s", all_places[p]);
        CHECK(!strcmp(placements_of(dense), placements_of(turned)), "TOP-001: %s", all_places[p]);
        CHECK(clone != x && !dt_tensor_shares(clone, x) && dt_tensor_spec(clone) == dt_tensor_spec(x), "TOP-003: %s",
              all_places[p]);
        CHECK(tensors_equal(clone, x) && tensors_equal(turned_clone, turned), "TOP-003: %s", all_places[p]);
        CHECK(dt_tensor_is_contiguous(turned_clone), "TOP-003: %s", all_places[p]);
        dt_tensor *full = dt_full_tensor(dense), *plain = dt_transpose(value, 0, 1);
        CHECK(tensors_equal(full, plain), "TOP-001: %s", all_places[p]);
        dt_mesh_release(mesh);
        dt_scope_end(scope);
    }
    return 0;
}

/* The result has the placements of the tensor, and nothing moves. */
static int like_another(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_tensor *value = counting(ctx, DT_SHAPE(5, 3));
    for (size_t p = 0; p < sizeof all_places / sizeof *all_places; p++) {
        dt_scope scope = dt_scope_begin(ctx);
        dt_mesh *mesh = dt_mesh_new(ctx, strchr(all_places[p], ',') && all_places[p][0] != '_' ? "2x2" : "4");
        dt_tensor *x = dt_distribute_tensor(value, mesh, all_places[p], .everywhere = true);
        CHECK_OK(ctx, dt_comm_stats_begin(ctx));
        dt_tensor *like[] = {dt_full_like(x, 2.5), dt_full_like(x, 3, .dtype = DT_I64), dt_zeros_like(x),
                             dt_ones_like(x, .dtype = DT_F64), dt_empty_like(x)};
        CHECK(dt_comm_stats(ctx, &(dt_comm_filter){.op = NULL}).n == 0, "%s: nothing is read", all_places[p]);
        dt_comm_stats_end(ctx);
        for (int i = 0; i < 5; i++)
            CHECK(like[i] && !strcmp(placements_of(like[i]), placements_of(x)), "%d of %s: %s", i, all_places[p],
                  like[i] ? placements_of(like[i]) : dt_error_text(ctx));
        dt_tensor *expected[] = {dt_full(ctx, DT_SHAPE(5, 3), 2.5), dt_full(ctx, DT_SHAPE(5, 3), 3, .dtype = DT_I64),
                                 dt_zeros(ctx, DT_SHAPE(5, 3)), dt_ones(ctx, DT_SHAPE(5, 3), .dtype = DT_F64)};
        for (int i = 0; i < 4; i++)
            CHECK(tensors_equal(dt_full_tensor(like[i]), expected[i]), "%d of %s", i, all_places[p]);
        dt_mesh_release(mesh);
        dt_scope_end(scope);
    }
    return 0;
}

/* The start as a tensor: replicated, partial, or plain, which counts as replicated. All ranks refuse one that is out
 * of range. */
static int narrow_from_a_tensor(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh = dt_mesh_new(ctx, "3");
    dt_tensor *value = counting(ctx, DT_SHAPE(7, 4));
    dt_tensor *x = dt_distribute_tensor(value, mesh, "S(1)", .everywhere = true);
    for (int64_t start = -7; start <= 4; start++) {
        dt_tensor *plain = dt_full(ctx, DT_SHAPE(), (double)start, .dtype = DT_I64);
        dt_tensor *starts[] = {plain, dt_distribute_tensor(plain, mesh, "R", .everywhere = true),
                               dt_distribute_tensor(plain, mesh, "P(sum)", .everywhere = true)};
        dt_tensor *expected = start > -3 && start < 0 ? NULL : dt_narrow(value, 0, start, 3);
        for (int i = 0; i < 3; i++) {
            dt_tensor *got = dt_narrow_tensor(x, 0, starts[i], 3);
            if (expected)
                CHECK(tensors_equal(dt_full_tensor(got), expected) && dt_tensor_shares(got, x), "%lld: %s",
                      (long long)start, dt_error_text(ctx));
            else {
                CHECK(!got && strstr(dt_error_text(ctx), "indices out of range"), "%s", dt_error_text(ctx));
                CHECK_OK(ctx, dt_error_clear(ctx));
            }
        }
    }
    dt_mesh_release(mesh);
    return 0;
}

static void views__keep_shards_and_partials(void **state) {
    (void)state;
    run_ranks(3, views_of_shards, NULL);
}
static void copies__are_local_and_keep_placements(void **state) {
    (void)state;
    run_ranks(4, copies, NULL);
}
static void likes__keep_placements_and_read_nothing(void **state) {
    (void)state;
    run_ranks(4, like_another, NULL);
}
static void narrow__takes_a_start_from_a_tensor(void **state) {
    (void)state;
    run_ranks(3, narrow_from_a_tensor, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(views__keep_shards_and_partials),
        cmocka_unit_test(copies__are_local_and_keep_placements),
        cmocka_unit_test(likes__keep_placements_and_read_nothing),
        cmocka_unit_test(narrow__takes_a_start_from_a_tensor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
