/* SPDX-License-Identifier: Apache-2.0
 *
 * The cache of decisions: what its keys contain, eviction, and that it stays within its bounds. One rank, or
 * one rank of a fake world: decisions do not depend on data.
 */
#include "dispatch/calls.h"

#include "base/ctx.h"

static dt_ctx *open_fake(int64_t world) {
    dt_ctx *ctx = dt_init(&(dt_init_options){.transport = "fake", .world = world, .rank = 1});
    assert_non_null(ctx);
    return ctx;
}

static dt_ctx *open_self(void) {
    dt_ctx *ctx = dt_init(&(dt_init_options){.transport = "self"});
    assert_non_null(ctx);
    return ctx;
}

static dt_mesh *mesh_of(dt_ctx *ctx, int64_t n) {
    dt_mesh *mesh = dt_mesh_from_shape(ctx, &n, 1, NULL);
    assert_non_null(mesh);
    return mesh;
}

/* Runs the call; returns whether it was a cache miss. */
static bool decides(dt_ctx *ctx, const char *text, dt_tensor *const *tensors) {
    dt_cache_statistics before = dt_cache_stats(ctx);
    if (!calls_do(ctx, text, tensors))
        fail_msg("%s: %s", text, dt_error_text(ctx));
    dt_cache_statistics now = dt_cache_stats(ctx);
    assert_int_equal(now.n_hits - before.n_hits + now.n_misses - before.n_misses, 1);
    assert_int_equal(now.n_entries - before.n_entries, now.n_misses - before.n_misses);
    return now.n_misses > before.n_misses;
}
#define NEW(ctx, text, ...)  assert_true(decides(ctx, text, (dt_tensor *const[]){__VA_ARGS__}))
#define SEEN(ctx, text, ...) assert_false(decides(ctx, text, (dt_tensor *const[]){__VA_ARGS__}))

static void cache__keys_are_op_static_arguments_and_specs(void **state) {
    (void)state;
    dt_ctx *ctx = open_fake(4);
    dt_mesh *mesh = mesh_of(ctx, 4);
    dt_tensor *a = dt_ones(ctx, DT_SHAPE(8, 4), .mesh = mesh, .place = "S(0)");
    dt_tensor *b = dt_ones(ctx, DT_SHAPE(8, 4), .mesh = mesh, .place = "S(1)");
    dt_tensor *c = dt_ones(ctx, DT_SHAPE(8, 4), .mesh = mesh, .place = "S(0)");
    NEW(ctx, "add($1; $2)", a, a);
    SEEN(ctx, "add($1; $2)", a, c); /* the same spec */
    SEEN(ctx, "add($1; $2)", c, a);
    NEW(ctx, "add($1; $2)", a, b);
    NEW(ctx, "add($1; $2)", b, a);
    NEW(ctx, "sub($1; $2)", a, a);
    NEW(ctx, "sum($1; [0])", a);
    NEW(ctx, "sum($1; [1])", a); /* DEC-007, DEC-008, STR-020: static arguments distinguish calls */
    NEW(ctx, "sum($1; [0,1])", a);
    NEW(ctx, "sum($1; [0]; true)", a);
    NEW(ctx, "sum($1; [0]; dtype=f64)", a);
    NEW(ctx, "sum($1)", a);
    SEEN(ctx, "sum($1; [1])", a);
    NEW(ctx, "cat({$1; $1}; 0)", a);
    NEW(ctx, "cat({$1; $1; $1}; 0)", a);
    NEW(ctx, "cat({$1; $1}; 1)", a);
    SEEN(ctx, "cat({$1; $2}; 1)", a, c);
    NEW(ctx, "gelu($1)", a);
    NEW(ctx, "gelu($1; approximate=tanh)", a);
    dt_mesh_release(mesh);
    assert_int_equal(dt_close(ctx), 0);
}

static void cache__keys_of_plain_tensors_are_dtype_and_shape(void **state) {
    (void)state;
    dt_ctx *ctx = open_self();
    dt_tensor *a = dt_ones(ctx, DT_SHAPE(8, 4)), *b = dt_ones(ctx, DT_SHAPE(4, 8)), *c = dt_ones(ctx, DT_SHAPE(8, 4));
    dt_tensor *d = dt_ones(ctx, DT_SHAPE(8, 4), .dtype = DT_F64), *e = dt_ones(ctx, DT_SHAPE(32));
    NEW(ctx, "neg($1)", a);
    SEEN(ctx, "neg($1)", c);
    SEEN(ctx, "neg($1)", dt_transpose(b, 0, 1)); /* strides decide nothing */
    NEW(ctx, "neg($1)", b);
    NEW(ctx, "neg($1)", d);
    NEW(ctx, "neg($1)", e);
    assert_int_equal(dt_close(ctx), 0);
}

static void cache__scalars_that_vary_add_nothing_but_their_classes_do(void **state) {
    (void)state;
    dt_ctx *ctx = open_self();
    dt_tensor *a = dt_ones(ctx, DT_SHAPE(8, 4));
    NEW(ctx, "mul($1; 2.5)", a);
    for (int i = 1; i < 100; i++) {
        char text[64];
        snprintf(text, sizeof text, "mul($1; %d.25)", i);
        SEEN(ctx, text, a);
    }
    NEW(ctx, "mul($1; -2.5)", a);
    NEW(ctx, "mul($1; 0.0)", a);
    NEW(ctx, "mul($1; 3)", a); /* another type */
    NEW(ctx, "add($1; $1)", a);
    NEW(ctx, "add($1; $1; alpha=2.0)", a); /* the default is an integer */
    SEEN(ctx, "add($1; $1; alpha=2)", a);
    NEW(ctx, "add($1; $1; alpha=-2)", a);
    SEEN(ctx, "add($1; $1; alpha=-7)", a);
    assert_int_equal(dt_close(ctx), 0);
}

static void cache__a_hit_computes_with_the_values_of_its_own_call(void **state) {
    (void)state;
    dt_ctx *ctx = open_self();
    dt_tensor *a = calls_counting(ctx, DT_F32, DT_SHAPE(3), 1, 1);
    for (int i = 1; i < 5; i++) {
        char text[64];
        snprintf(text, sizeof text, "mul($1; %d)", i);
        dt_tensor *product = CALL(ctx, text, a);
        for (int64_t k = 0; k < 3; k++)
            assert_true(calls_number(product, k) == (double)(i * (k + 1)));
    }
    assert_int_equal(dt_close(ctx), 0);
}

static void cache__stays_within_its_bounds_and_keeps_what_is_used(void **state) {
    (void)state;
    dt_ctx *ctx = open_self();
    dt_tensor *often = dt_ones(ctx, DT_SHAPE(3, 5));
    NEW(ctx, "neg($1)", often);
    int64_t max = dt_cache_stats(ctx).max_entries;
    for (int64_t i = 0; i < 2 * max; i++) {
        dt_scope scope = dt_scope_begin(ctx);
        dt_tensor *once = dt_ones(ctx, DT_SHAPE(1 + i % 100, 1 + i / 100, 0));
        assert_non_null(CALL(ctx, "neg($1)", once));
        dt_cache_statistics before = dt_cache_stats(ctx);
        assert_non_null(CALL(ctx, "neg($1)", often));
        dt_cache_statistics now = dt_cache_stats(ctx);
        assert_int_equal(now.n_hits, before.n_hits + 1);
        assert_true(now.n_entries <= max);
        assert_int_equal(now.n_entries, now.n_misses - now.n_evicted);
        dt_scope_end(scope);
    }
    assert_true(dt_cache_stats(ctx).n_evicted >= max);
    dt_cache_clear(ctx);
    assert_int_equal(dt_cache_stats(ctx).n_entries, 0);
    NEW(ctx, "neg($1)", often);
    assert_int_equal(dt_close(ctx), 0);
}

static void cache__skips_keys_that_are_too_long(void **state) {
    (void)state;
    dt_ctx *ctx = open_self();
    dt_tensor *a = calls_counting(ctx, DT_F32, DT_SHAPE(1, 1, 1), 3, 0);
    char text[512] = "cat({$1";
    for (int i = 1; i < 60; i++)
        strcat(text, "; $1");
    strcat(text, "}; 0)");
    for (int i = 0; i < 3; i++) {
        dt_cache_statistics before = dt_cache_stats(ctx);
        dt_tensor *all = CALL(ctx, text, a);
        assert_non_null(all);
        assert_int_equal(dt_tensor_size(all, 0), 60);
        assert_true(calls_number(all, 59) == 3);
        assert_int_equal(dt_cache_stats(ctx).n_misses, before.n_misses + 1);
        assert_int_equal(dt_cache_stats(ctx).n_entries, before.n_entries);
    }
    assert_int_equal(dt_close(ctx), 0);
}

/* STR-021 in our form: an entry never outlives what it was decided for, because it holds its specs. */
static void cache__outlives_meshes_and_tensors(void **state) {
    (void)state;
    test_memory memory = {0};
    dt_ctx *ctx =
        dt_init(&(dt_init_options){.transport = "fake", .world = 6, .allocator = test_memory_allocator(&memory)});
    assert_non_null(ctx);
    for (int i = 0; i < 50; i++) {
        int64_t shape[] = {i % 2 ? 2 : 3, i % 2 ? 3 : 2};
        dt_mesh *mesh = dt_mesh_from_shape(ctx, shape, 2, NULL);
        dt_scope scope = dt_scope_begin(ctx);
        dt_tensor *a = dt_ones(ctx, DT_SHAPE(8, 4), .mesh = mesh, .place = i % 3 ? "S(0),R" : "R,S(1)");
        dt_tensor *sum = CALL(ctx, "add($1; $2)", a, a);
        assert_non_null(sum);
        assert_true(dt_mesh_equal(dt_tensor_mesh(sum), mesh));
        dt_scope_end(scope);
        dt_mesh_release(mesh);
    }
    assert_int_equal(dt_close(ctx), 0);
    assert_int_equal(memory.n_live, 0);
    assert_false(memory.wrong_size);
}

/* An op of a program's own that runs others inside, and makes the cache forget while it runs. */
static dt_status shape_twice(dt_op_call *call) {
    return dt_op_add_output(call, call->inputs[0].dtype, call->inputs[0].n_dims, call->inputs[0].shape);
}
static dt_status twice(dt_op_call *call) {
    dt_scope scope = dt_scope_begin(call->ctx);
    dt_tensor *x = calls_counting(call->ctx, DT_F32, DT_SHAPE(2), 1, 1), *sum = CALL(call->ctx, "add($1; $1)", x);
    dt_cache_clear(call->ctx);
    if (sum)
        memcpy(call->outputs[0].data, dt_data(sum), 2 * sizeof(float));
    dt_scope_end(scope);
    return sum ? DT_OK : dt_error_status(call->ctx);
}
static const dt_op op_twice = {
    .schema = "test_twice(Tensor self) -> Tensor", .rule = "...->...", .shape = shape_twice, .kernel = twice};

static void cache__may_be_cleared_by_a_kernel(void **state) {
    (void)state;
    dt_ctx *ctx = open_self();
    assert_int_equal(dt_op_register(ctx, &op_twice), DT_OK);
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(2));
    for (int i = 0; i < 3; i++) {
        dt_tensor *y = CALL(ctx, "test_twice($1)", x);
        assert_non_null(y);
        assert_true(calls_number(y, 0) == 2 && calls_number(y, 1) == 4);
        assert_int_equal(dt_cache_stats(ctx).n_entries, 0);
    }
    assert_int_equal(dt_close(ctx), 0);
}

static void cache__of_a_context_without_calls_is_empty(void **state) {
    (void)state;
    dt_ctx *ctx = open_self();
    assert_int_equal(dt_cache_stats(ctx).n_entries, 0);
    assert_true(dt_cache_stats(ctx).max_entries > 0);
    dt_cache_clear(ctx);
    dt_cache_clear(NULL);
    assert_int_equal(dt_close(ctx), 0);
}

/* Whether the second call finds what the first one decided. */
static bool same_key(dt_ctx *ctx, const char *a, const char *b) {
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(4, 4));
    dt_cache_clear(ctx);
    NEW(ctx, a, x, x);
    return !decides(ctx, b, (dt_tensor *const[]){x, x});
}

static void cache__keys_hold_what_decides(void **state) { /* SCH-001 SCH-003 SCH-004 STR-020 DEC-008 */
    (void)state;
    dt_ctx *ctx = open_self();
    assert_true(same_key(ctx, "softmax($1; 1)", "softmax($1; dim=1)"));
    assert_false(same_key(ctx, "softmax($1; 1)", "softmax($1; 0)"));
    assert_false(same_key(ctx, "softmax($1; 1)", "softmax($1; 1; f64)"));
    assert_false(same_key(ctx, "sum($1; [0])", "sum($1; [0,1])"));
    assert_false(same_key(ctx, "sum($1; [0]; true)", "sum($1; [0])"));
    assert_true(same_key(ctx, "mul($1; 2.5)", "mul($1; 3.5)"));
    assert_false(same_key(ctx, "mul($1; 2.5)", "mul($1; 2)"));
    assert_true(same_key(ctx, "add($1; $2; alpha=2)", "add($1; $2)"));
    assert_false(same_key(ctx, "gelu($1; approximate=tanh)", "gelu($1)"));
    assert_false(same_key(ctx, "clamp($1; 1.0)", "clamp($1; 1.0; 2.0)"));
    assert_int_equal(dt_close(ctx), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cache__keys_are_op_static_arguments_and_specs),
        cmocka_unit_test(cache__keys_hold_what_decides),
        cmocka_unit_test(cache__keys_of_plain_tensors_are_dtype_and_shape),
        cmocka_unit_test(cache__scalars_that_vary_add_nothing_but_their_classes_do),
        cmocka_unit_test(cache__a_hit_computes_with_the_values_of_its_own_call),
        cmocka_unit_test(cache__stays_within_its_bounds_and_keeps_what_is_used),
        cmocka_unit_test(cache__skips_keys_that_are_too_long),
        cmocka_unit_test(cache__outlives_meshes_and_tensors),
        cmocka_unit_test(cache__may_be_cleared_by_a_kernel),
        cmocka_unit_test(cache__of_a_context_without_calls_is_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
