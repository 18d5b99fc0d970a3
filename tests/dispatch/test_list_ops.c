/* SPDX-License-Identifier: Apache-2.0
 *
 * List ops: each item of tensors is decided and computed as the single op would, on its own mesh; a list costs one
 * lookup, is refused as a whole, and is one call for histories and traces.
 */
#include "autograd/records.h"

#include "base/ctx.h"
#include "dtensor/debug.h"

static const dt_op op_fill = {
    .schema = "_foreach_fill_.Scalar(Tensor(a!)[] self, Scalar value) -> ()",
    .flags = DT_OP_LIST,
    .each = "fill_",
};

enum { N = 400 };

static dt_status open_ops(dt_ctx *ctx) { return dt_op_register(ctx, &op_fill); }

static dt_op_argument list_of(dt_tensor *const *tensors, int n) {
    return (dt_op_argument){.tensors = tensors, .n_tensors = n};
}
static dt_op_argument number(const char *name, double value) {
    return (dt_op_argument){.name = name, .value = {.type = DT_ARG_FLOAT, .as.f = value}};
}

static dt_status add_lists(dt_tensor *const *self, dt_tensor *const *other, int n, double alpha) {
    dt_tensors a = {n, self}, b = {n, other};
    return dt_foreach_add_(a, b, .alpha = DT_NUMBER(alpha));
}
static dt_status with_number(dt_ctx *ctx, const char *op, dt_tensor *const *self, int n, double value) {
    const dt_op_argument args[] = {list_of(self, n), number(NULL, value)};
    int n_outputs = 0;
    return dt_op_run(ctx, op, 2, args, DT_SITE, NULL, 0, &n_outputs);
}

/* Tensor i of a list: shapes, dtypes, meshes and placements change at different rates; some are plain. */
typedef struct meshes {
    dt_mesh *line, *grid, *part;
} meshes;

static dt_tensor *make(dt_ctx *ctx, const meshes *on, int i, bool other) {
    static const char *const places[] = {"R", "S(0)", "S(1)"}, *const grid_places[] = {"S(0),R", "R,S(1)",
                                                                                       "S(0),S(1)"};
    static const dt_dtype dtypes[] = {DT_F32, DT_F64, DT_BF16, DT_I32};
    int64_t rows = 1 + i % 7, columns = 1 + i % 5;
    dt_tensor *value = dt_empty(ctx, DT_SHAPE(rows, columns), .dtype = dtypes[i % 4]);
    for (int64_t k = 0; value && k < rows * columns; k++)
        calls_set_element(value, k, (double)((i + 3 * k + (other ? 5 : 0)) % 11 - 4));
    int kind = i % 4, place = (i / 4 + (other ? i % 2 : 0)) % 3; /* every second other one is placed differently */
    if (kind == 0)
        return value;
    dt_mesh *mesh = kind == 1 ? on->line : kind == 2 ? on->grid : on->part;
    return dt_distribute_tensor(value, mesh, kind == 2 ? grid_places[place] : places[place], .everywhere = true);
}

static int64_t n_collectives(const dt_ctx *ctx, const char *op) {
    return dt_comm_stats(ctx, &(dt_comm_filter){.op = op}).n;
}

enum kind { ADD, MUL, ADD_NUMBER, MUL_NUMBER, N_KINDS };

static dt_status apply(enum kind kind, dt_tensor *const *self, dt_tensor *const *other, int64_t factor) {
    dt_tensors a = {N, self}, b = {N, other};
    return kind == ADD          ? dt_foreach_add_(a, b, .alpha = DT_NUMBER(factor))
           : kind == MUL        ? dt_foreach_mul_(a, b)
           : kind == ADD_NUMBER ? dt_foreach_add_scalar_(a, factor)
                                : dt_foreach_mul_scalar_(a, factor);
}
static dt_tensor *apply_single(enum kind kind, dt_tensor *self, dt_tensor *other, int64_t factor) {
    return kind == ADD          ? dt_add_(self, other, .alpha = DT_NUMBER(factor))
           : kind == MUL        ? dt_mul_(self, other)
           : kind == ADD_NUMBER ? dt_add_scalar_(self, factor)
                                : dt_mul_scalar_(self, factor);
}

/* Lists and single calls, each three times with other factors; the later ones are cached. */
static int mixed_lists(dt_ctx *ctx, void *arg) {
    (void)arg;
    int64_t world = dt_world(ctx);
    char grid[32];
    snprintf(grid, sizeof grid, "a=%lld,b=%lld", (long long)(world % 2 ? 1 : 2),
             (long long)(world % 2 ? world : world / 2));
    meshes on = {dt_mesh_new(ctx, "x=*"), dt_mesh_new(ctx, grid), NULL};
    int64_t ranks[8], n_ranks = world - 1; /* all but rank 0 */
    for (int64_t r = 0; r < n_ranks; r++)
        ranks[r] = r + 1;
    on.part = dt_mesh_from_ranks(ctx, ranks, (int64_t[]){n_ranks}, 1, NULL);
    CHECK(on.line && on.grid && on.part, "%s", dt_error_text(ctx));
    CHECK_OK(ctx, open_ops(ctx));
    dt_tensor *self[N], *other[N], *single[N];
    for (int i = 0; i < N; i++) {
        self[i] = make(ctx, &on, i, false);
        single[i] = make(ctx, &on, i, false);
        other[i] = make(ctx, &on, i, true);
        CHECK(self[i] && single[i] && other[i], "%d: %s", i, dt_error_text(ctx));
    }
    CHECK_OK(ctx, dt_comm_stats_begin(ctx));
    for (int k = 0; k < N_KINDS * 3; k++) {
        enum kind kind = (enum kind)(k / 3);
        int64_t factor = k % 3 - 3; /* integers are scaled by integers only */
        dt_cache_statistics before = dt_cache_stats(ctx);
        int64_t sent = n_collectives(ctx, NULL);
        CHECK_OK(ctx, apply(kind, self, other, factor));
        dt_cache_statistics after = dt_cache_stats(ctx);
        CHECK(k % 3 == 0 || (after.n_hits == before.n_hits + 1 && after.n_misses == before.n_misses),
              "one lookup: %lld hits, %lld misses", (long long)(after.n_hits - before.n_hits),
              (long long)(after.n_misses - before.n_misses));
        sent = n_collectives(ctx, NULL) - sent;
        CHECK(dt_rank(ctx) == 0 || kind >= ADD_NUMBER || sent > 0, "some of the tensors move");
        int64_t sent_alone = n_collectives(ctx, NULL);
        for (int i = 0; i < N; i++)
            CHECK(apply_single(kind, single[i], other[i], factor), "%d: %s", i, dt_error_text(ctx));
        CHECK(n_collectives(ctx, NULL) - sent_alone == sent, "collectives: %lld and %lld", (long long)sent,
              (long long)(n_collectives(ctx, NULL) - sent_alone));
        CHECK(dt_cache_stats(ctx).n_misses == after.n_misses, "single calls find the decisions of the items");
    }
    CHECK(n_collectives(ctx, "_foreach_add_") == n_collectives(ctx, "add_"), "counted under the name of the list op");
    for (int i = 0; i < N; i++) {
        CHECK(!strcmp(calls_placements(self[i]), calls_placements(single[i])), "%d: placements", i);
        dt_tensor *a = self[i]->spec ? dt_to_local(self[i]) : self[i],
                  *b = single[i]->spec ? dt_to_local(single[i]) : single[i];
        CHECK(a && b && tensors_equal(a, b), "%d: values differ: %s", i, dt_error_text(ctx));
    }
    dt_mesh_release(on.line);
    dt_mesh_release(on.grid);
    dt_mesh_release(on.part);
    return 0;
}

static void list__is_computed_as_single_calls(void **state) {
    (void)state;
    run_ranks(3, mixed_lists, NULL);
    run_ranks(4, mixed_lists, NULL);
    run_ranks(5, mixed_lists, NULL);
}

typedef struct lists {
    dt_ctx *ctx;
    dt_mesh *mesh, *other_mesh;
    dt_tensor *a[20], *b[20];
} lists;

static lists open_lists(const char *place) {
    lists self = {.ctx = dt_init(&(dt_init_options){.transport = "fake", .world = 6, .rank = 1})};
    assert_non_null(self.ctx);
    assert_int_equal(open_ops(self.ctx), DT_OK);
    self.mesh = dt_mesh_new(self.ctx, "x=6");
    self.other_mesh = dt_mesh_new(self.ctx, "y=2,z=3");
    for (int i = 0; i < 20; i++) {
        self.a[i] = dt_ones(self.ctx, DT_SHAPE(4, 1 + i), .mesh = self.mesh, .place = place);
        self.b[i] = dt_ones(self.ctx, DT_SHAPE(4, 1 + i), .mesh = self.mesh, .place = place);
    }
    return self;
}

static void close_lists(lists *self) {
    dt_mesh_release(self->mesh);
    dt_mesh_release(self->other_mesh);
    assert_int_equal(dt_close(self->ctx), 0);
}

#define REFUSED(self, status, text, call)                                                                            \
    do {                                                                                                             \
        assert_int_equal(call, status);                                                                              \
        assert_error_contains((self).ctx, status, text);                                                             \
        dt_error_clear((self).ctx);                                                                                  \
    } while (0)

/* MATH-020: mixing meshes within a pair is refused, too. */
static void list__is_refused_as_a_whole_and_names_the_item(void **state) {
    (void)state;
    lists self = open_lists("S(0)");
    dt_tensor *b16 = self.b[16];
    for (int cached = 0; cached < 2; cached++) {
        self.b[16] = self.b[15];
        uint64_t before = self.a[0]->storage->version;
        REFUSED(self, DT_ERR_SHAPE,
                "_foreach_add_: item 17: f32[4,17] S(0) on mesh(x=6); f32[4,16] S(0) on mesh(x=6): the shapes do not "
                "broadcast",
                add_lists(self.a, self.b, 20, 2));
        self.b[16] = dt_ones(self.ctx, DT_SHAPE(4, 17), .mesh = self.other_mesh, .place = "R,R");
        REFUSED(self, DT_ERR_MESH, "_foreach_add_: item 17: ", add_lists(self.a, self.b, 20, 2));
        self.b[16] = dt_ones(self.ctx, DT_SHAPE(4, 17));
        REFUSED(self, DT_ERR_PLACEMENT, "is plain", add_lists(self.a, self.b, 20, 2));
        assert_int_equal(self.a[0]->storage->version, before); /* nothing was written */
        self.b[16] = b16;
        assert_int_equal(add_lists(self.a, self.b, 20, 2), DT_OK);
        assert_int_equal(self.a[0]->storage->version, before + 1);
    }
    REFUSED(self, DT_ERR_VALUE, "the lists differ in length", ({
                const dt_op_argument args[] = {list_of(self.a, 3), list_of(self.b, 2)};
                int n;
                dt_op_run(self.ctx, "_foreach_add_", 2, args, NULL, NULL, 0, &n);
            }));
    REFUSED(self, DT_ERR_VALUE, "at least one tensor", with_number(self.ctx, "_foreach_add_", self.a, 0, 2));
    close_lists(&self);
}

static void list__checks_values_and_memory_on_hits(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(&(dt_init_options){.transport = "self"});
    lists self = {.ctx = ctx};
    assert_int_equal(open_ops(ctx), DT_OK);
    dt_tensor *list[3] = {dt_ones(ctx, DT_SHAPE(3)), dt_ones(ctx, DT_SHAPE(4), .dtype = DT_I8),
                          dt_ones(ctx, DT_SHAPE(2))};
    for (int cached = 0; cached < 2; cached++) {
        REFUSED(self, DT_ERR_VALUE, "_foreach_fill_: item 2: i8[4]: 300 does not fit i8",
                with_number(ctx, "_foreach_fill_", list, 3, 300));
        assert_true(calls_element(list[0], 0) == (cached ? 100 : 1));
        assert_int_equal(with_number(ctx, "_foreach_fill_", list, 3, 100), DT_OK);
        assert_true(calls_element(list[0], 2) == 100 && calls_element(list[1], 3) == 100);
    }
    dt_tensor *kept = list[2];
    list[2] = dt_expand(dt_ones(ctx, DT_SHAPE(1)), DT_SHAPE(2));
    int64_t misses = dt_cache_stats(ctx).n_misses;
    REFUSED(self, DT_ERR_STATE, "_foreach_fill_: item 3: f32[2]: cannot write",
            with_number(ctx, "_foreach_fill_", list, 3, 7));
    assert_int_equal(dt_cache_stats(ctx).n_misses, misses);
    assert_true(calls_element(list[0], 0) == 100);
    list[2] = kept;
    assert_int_equal(with_number(ctx, "_foreach_fill_", list, 3, 7), DT_OK);
    assert_true(calls_element(list[2], 1) == 7);
    assert_int_equal(dt_close(ctx), 0);
}

/* The rows of a partial sum depend on whether the value is 0: the classes of the items are in the key. */
static void list__key_has_the_classes_of_its_items(void **state) {
    (void)state;
    lists self = open_lists("P(sum)");
    dt_tensor *list[3] = {self.a[0], self.a[1], dt_ones(self.ctx, DT_SHAPE(3), .dtype = DT_I64)};
    int64_t misses = dt_cache_stats(self.ctx).n_misses;
    assert_int_equal(with_number(self.ctx, "_foreach_fill_", list, 3, 2), DT_OK);
    assert_int_equal(dt_cache_stats(self.ctx).n_misses, misses + 4); /* the list and its items */
    assert_int_equal(with_number(self.ctx, "_foreach_fill_", list, 3, 9), DT_OK);
    assert_int_equal(dt_cache_stats(self.ctx).n_misses, misses + 4);
    assert_int_equal(with_number(self.ctx, "_foreach_fill_", list, 3, 0), DT_OK);
    assert_int_equal(dt_cache_stats(self.ctx).n_misses, misses + 8);
    assert_int_equal(with_number(self.ctx, "_foreach_fill_", list, 2, 0), DT_OK); /* another list, known items */
    assert_int_equal(dt_cache_stats(self.ctx).n_misses, misses + 9);
    close_lists(&self);
}

static void list__returns_the_outputs_of_its_items(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(&(dt_init_options){.transport = "self"});
    assert_int_equal(open_ops(ctx), DT_OK);
    enum { MANY = 150 };
    dt_tensor *a[MANY], *outputs[MANY];
    for (int i = 0; i < MANY; i++)
        a[i] = calls_counting(ctx, i % 2 ? DT_F32 : DT_I32, DT_SHAPE(1 + i % 3), i, 1);
    const dt_op_argument args[] = {list_of(a, MANY), list_of(a, MANY)};
    for (int round = 0; round < 2; round++) {
        int n = 0;
        assert_int_equal(dt_op_run(ctx, "_foreach_add", 2, args, NULL, outputs, MANY, &n), DT_OK);
        assert_int_equal(n, MANY);
        for (int i = 0; i < MANY; i++) {
            assert_int_equal(outputs[i]->dtype, a[i]->dtype);
            assert_true(calls_element(outputs[i], 0) == 2 * i);
        }
    }
    assert_int_equal(dt_close(ctx), 0);
}

/* MATH-019, MATH-020: the tensors of a list are on submeshes, and so are the results. */
static int norms_on_submeshes(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *grid = dt_mesh_new(ctx, "x=2,y=2"), *x = dt_mesh_slice(grid, "x"), *y = dt_mesh_slice(grid, "y");
    dt_tensor *list[] = {dt_full(ctx, DT_SHAPE(4, 4), 2, .mesh = x, .place = "S(0)"),
                         dt_full(ctx, DT_SHAPE(8, 2), 3, .mesh = y, .place = "S(0)")};
    dt_tensor *norms[2], *sums[2];
    int n = 0;
    const dt_op_argument args[] = {list_of(list, 2), list_of(list, 2)};
    CHECK_OK(ctx, dt_op_run(ctx, "_foreach_norm", 1, args, NULL, norms, 2, &n));
    CHECK_OK(ctx, dt_op_run(ctx, "_foreach_add", 2, args, NULL, sums, 2, &n));
    for (int i = 0; i < 2; i++) {
        CHECK(dt_tensor_mesh(norms[i]) == (i ? y : x) && dt_tensor_mesh(sums[i]) == (i ? y : x), "mesh of %d", i);
        CHECK(calls_element(dt_full_tensor(norms[i]), 0) == (i ? 12 : 8), "norm %d", i);
        CHECK(calls_element(dt_full_tensor(sums[i]), 5) == (i ? 6 : 4), "sum %d", i);
    }
    dt_mesh_release(x);
    dt_mesh_release(y);
    dt_mesh_release(grid);
    return 0;
}

static void list__has_tensors_of_several_meshes(void **state) {
    (void)state;
    run_ranks(4, norms_on_submeshes, NULL);
}

/* Each item that requires a gradient is recorded; a leaf must not be written. */
static void list__records_its_items(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(&(dt_init_options){.transport = "self"});
    lists self = {.ctx = ctx};
    assert_int_equal(open_ops(ctx), DT_OK);
    dt_tensor *leaf = dt_ones(ctx, DT_SHAPE(3), .requires_grad = true), *plain = dt_ones(ctx, DT_SHAPE(3));
    dt_tensor *a[] = {dt_ones(ctx, DT_SHAPE(3)), leaf}, *b[] = {plain, plain}, *outputs[2];
    for (int cached = 0; cached < 2; cached++) {
        a[1] = leaf;
        REFUSED(self, DT_ERR_STATE, "_foreach_add_: item 2: f32[3]; f32[3]: ", add_lists(a, b, 2, 1));
        assert_true(calls_element(a[0], 0) == (cached ? 2 : 1));
        a[1] = dt_exp(leaf);
        assert_int_equal(add_lists(a, b, 2, 1), DT_OK);
        assert_true(dt_requires_grad(a[1]) && !dt_requires_grad(a[0]));
        assert_string_equal(records_last(a[1]), "_foreach_add_(f32[3]; f32[3]; alpha=1.0) -> f32[3]; changes 2, -");
    }
    const dt_op_argument args[] = {list_of(a, 2), list_of(b, 2)};
    int n;
    assert_int_equal(dt_op_run(ctx, "_foreach_add", 2, args, NULL, outputs, 2, &n), DT_OK);
    assert_true(dt_requires_grad(outputs[1]) && !dt_requires_grad(outputs[0]));
    assert_int_equal(dt_close(ctx), 0);
}

static void list__obeys_the_policy_and_may_lose_its_cache(void **state) {
    (void)state;
    lists self = open_lists("S(0)");
    self.b[3] = dt_ones(self.ctx, DT_SHAPE(4, 4), .mesh = self.mesh, .place = "S(1)");
    dt_scope scope = dt_scope_begin(self.ctx);
    assert_int_equal(dt_comm_policy(self.ctx, DT_COMM_ERROR), DT_OK);
    for (int cached = 0; cached < 2; cached++)
        REFUSED(self, DT_ERR_PLACEMENT,
                "_foreach_add_: item 4: f32[4,4] S(0) on mesh(x=6); f32[4,4] S(1) on mesh(x=6): moves argument 2, ",
                add_lists(self.a, self.b, 20, 2));
    dt_scope_end(scope);
    assert_int_equal(add_lists(self.a, self.b, 20, 2), DT_OK);
    dt_cache_clear(self.ctx);
    assert_int_equal(dt_cache_stats(self.ctx).n_entries, 0);
    assert_int_equal(add_lists(self.a, self.b, 20, 2), DT_OK);
    close_lists(&self);
}

static bool run_once(dt_ctx *ctx, void *user) {
    (void)user;
    dt_tensor *a[30], *b[30];
    if (open_ops(ctx) != DT_OK)
        return false;
    for (int i = 0; i < 30; i++)
        if (!(a[i] = dt_ones(ctx, DT_SHAPE(1 + i, 2))) || !(b[i] = dt_ones(ctx, DT_SHAPE(1 + i, 2))))
            return false;
    for (int round = 0; round < 2; round++)
        if (add_lists(a, b, 30, 2) != DT_OK)
            return false;
    return true;
}

static void list__survives_failing_allocations(void **state) {
    (void)state;
    assert_true(assert_survives_failing_allocations(run_once, NULL) > 30);
}

static void register__refuses_list_ops_that_map_nothing(void **state) {
    (void)state;
    static const struct {
        dt_op op;
        const char *text;
    } cases[] = {
        {{.schema = "many(Tensor[] self) -> Tensor[]"}, "names the op that it maps"},
        {{.schema = "many(Tensor[] self) -> Tensor[]", .each = "nothing"}, "there is no op 'nothing'"},
        {{.schema = "many(Tensor[] self, int n) -> Tensor[]", .each = "neg"},
         "no signature of 'neg' takes the members"},
        {{.schema = "many(Tensor[] self) -> Tensor[]", .each = "add_"}, "no signature of 'add_' takes the members"},
        {{.schema = "many(Tensor[] self, Tensor[] other) -> Tensor[]", .each = "add_"}, "no signature of 'add_'"},
        {{.schema = "many(Tensor[] self) -> Tensor[]", .each = "dropout"}, "draws nothing"},
        {{.schema = "many(Tensor[] self, int[] size) -> Tensor[]", .each = "view"}, "makes no views"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        dt_ctx *ctx = dt_init(&(dt_init_options){.transport = "self"});
        dt_op op = cases[i].op;
        op.flags = DT_OP_LIST;
        assert_true(dt_op_register(ctx, &op) < 0);
        if (!strstr(dt_error_text(ctx), cases[i].text))
            fail_msg("expected %s, got %s", cases[i].text, dt_error_text(ctx));
        dt_error_clear(ctx);
        assert_int_equal(dt_close(ctx), 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(list__is_computed_as_single_calls),
        cmocka_unit_test(list__is_refused_as_a_whole_and_names_the_item),
        cmocka_unit_test(list__checks_values_and_memory_on_hits),
        cmocka_unit_test(list__key_has_the_classes_of_its_items),
        cmocka_unit_test(list__returns_the_outputs_of_its_items),
        cmocka_unit_test(list__has_tensors_of_several_meshes),
        cmocka_unit_test(list__records_its_items),
        cmocka_unit_test(list__obeys_the_policy_and_may_lose_its_cache),
        cmocka_unit_test(list__survives_failing_allocations),
        cmocka_unit_test(register__refuses_list_ops_that_map_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
