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
static bool misses(dt_ctx *ctx, const char *text, dt_tensor *const *tensors) {
    dt_cache_statistics before = dt_cache_stats(ctx);
    if (!calls_output(ctx, text, tensors))
        fail_msg("%s: %s", text, dt_error_text(ctx));
    dt_cache_statistics after = dt_cache_stats(ctx);
    assert_int_equal(after.n_hits - before.n_hits + after.n_misses - before.n_misses, 1);
    assert_int_equal(after.n_entries - before.n_entries, after.n_misses - before.n_misses);
    return after.n_misses > before.n_misses;
}
#define ASSERT_MISS(ctx, text, ...) assert_true(misses(ctx, text, (dt_tensor *const[]){__VA_ARGS__}))
#define ASSERT_HIT(ctx, text, ...)  assert_false(misses(ctx, text, (dt_tensor *const[]){__VA_ARGS__}))

static void cache__keys_are_op_static_arguments_and_specs(void **state) {
    (void)state;
    dt_ctx *ctx = open_fake(4);
    dt_mesh *mesh = mesh_of(ctx, 4);
    dt_tensor *a = dt_ones(ctx, DT_SHAPE(8, 4), .mesh = mesh, .place = "S(0)");
    dt_tensor *b = dt_ones(ctx, DT_SHAPE(8, 4), .mesh = mesh, .place = "S(1)");
    dt_tensor *c = dt_ones(ctx, DT_SHAPE(8, 4), .mesh = mesh, .place = "S(0)");
    ASSERT_MISS(ctx, "add($1; $2)", a, a);
    ASSERT_HIT(ctx, "add($1; $2)", a, c); /* the same spec */
    ASSERT_HIT(ctx, "add($1; $2)", c, a);
    ASSERT_MISS(ctx, "add($1; $2)", a, b);
    ASSERT_MISS(ctx, "add($1; $2)", b, a);
    ASSERT_MISS(ctx, "sub($1; $2)", a, a);
    ASSERT_MISS(ctx, "sum($1; [0])", a);
    ASSERT_MISS(ctx, "sum($1; [1])", a); /* DEC-007, DEC-008, STR-020: static arguments distinguish calls */
    ASSERT_MISS(ctx, "sum($1; [0,1])", a);
    ASSERT_MISS(ctx, "sum($1; [0]; true)", a);
    ASSERT_MISS(ctx, "sum($1; [0]; dtype=f64)", a);
    ASSERT_MISS(ctx, "sum($1)", a);
    ASSERT_HIT(ctx, "sum($1; [1])", a);
    ASSERT_MISS(ctx, "cat({$1; $1}; 0)", a);
    ASSERT_MISS(ctx, "cat({$1; $1; $1}; 0)", a);
    ASSERT_MISS(ctx, "cat({$1; $1}; 1)", a);
    ASSERT_HIT(ctx, "cat({$1; $2}; 1)", a, c);
    ASSERT_MISS(ctx, "gelu($1)", a);
    ASSERT_MISS(ctx, "gelu($1; approximate=tanh)", a);
    dt_mesh_release(mesh);
    assert_int_equal(dt_close(ctx), 0);
}

static void cache__keys_of_plain_tensors_are_dtype_and_shape(void **state) {
    (void)state;
    dt_ctx *ctx = open_self();
    dt_tensor *a = dt_ones(ctx, DT_SHAPE(8, 4)), *b = dt_ones(ctx, DT_SHAPE(4, 8)), *c = dt_ones(ctx, DT_SHAPE(8, 4));
    dt_tensor *d = dt_ones(ctx, DT_SHAPE(8, 4), .dtype = DT_F64), *e = dt_ones(ctx, DT_SHAPE(32));
    ASSERT_MISS(ctx, "neg($1)", a);
    ASSERT_HIT(ctx, "neg($1)", c);
    ASSERT_HIT(ctx, "neg($1)", dt_transpose(b, 0, 1)); /* strides are not part of the key */
    ASSERT_MISS(ctx, "neg($1)", b);
    ASSERT_MISS(ctx, "neg($1)", d);
    ASSERT_MISS(ctx, "neg($1)", e);
    assert_int_equal(dt_close(ctx), 0);
}

static void cache__varying_scalars_are_in_keys_by_their_class(void **state) {
    (void)state;
    dt_ctx *ctx = open_self();
    dt_tensor *a = dt_ones(ctx, DT_SHAPE(8, 4));
    ASSERT_MISS(ctx, "mul($1; 2.5)", a);
    for (int i = 1; i < 100; i++) {
        char text[64];
        snprintf(text, sizeof text, "mul($1; %d.25)", i);
        ASSERT_HIT(ctx, text, a);
    }
    ASSERT_MISS(ctx, "mul($1; -2.5)", a);
    ASSERT_MISS(ctx, "mul($1; 0.0)", a);
    ASSERT_MISS(ctx, "mul($1; 3)", a); /* another type */
    ASSERT_MISS(ctx, "add($1; $1)", a);
    ASSERT_MISS(ctx, "add($1; $1; alpha=2.0)", a); /* the default is an integer */
    ASSERT_HIT(ctx, "add($1; $1; alpha=2)", a);
    ASSERT_MISS(ctx, "add($1; $1; alpha=-2)", a);
    ASSERT_HIT(ctx, "add($1; $1; alpha=-7)", a);
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
            assert_true(calls_element(product, k) == (double)(i * (k + 1)));
    }
    assert_int_equal(dt_close(ctx), 0);
}

static void cache__is_bounded_and_keeps_recently_used_entries(void **state) {
    (void)state;
    dt_ctx *ctx = open_self();
    dt_tensor *reused = dt_ones(ctx, DT_SHAPE(3, 5));
    ASSERT_MISS(ctx, "neg($1)", reused);
    int64_t max = dt_cache_stats(ctx).max_entries;
    for (int64_t i = 0; i < 2 * max; i++) {
        dt_scope scope = dt_scope_begin(ctx);
        dt_tensor *fresh = dt_ones(ctx, DT_SHAPE(1 + i % 100, 1 + i / 100, 0));
        assert_non_null(CALL(ctx, "neg($1)", fresh));
        dt_cache_statistics before = dt_cache_stats(ctx);
        assert_non_null(CALL(ctx, "neg($1)", reused));
        dt_cache_statistics after = dt_cache_stats(ctx);
        assert_int_equal(after.n_hits, before.n_hits + 1);
        assert_true(after.n_entries <= max);
        assert_int_equal(after.n_entries, after.n_misses - after.n_evicted);
        dt_scope_end(scope);
    }
    assert_true(dt_cache_stats(ctx).n_evicted >= max);
    dt_cache_clear(ctx);
    assert_int_equal(dt_cache_stats(ctx).n_entries, 0);
    ASSERT_MISS(ctx, "neg($1)", reused);
    assert_int_equal(dt_close(ctx), 0);
}

/* On a mesh of five dims, inputs whose placements conflict need more exact prices than the search allows. */
static void searches__that_reach_a_limit_are_counted(void **state) {
    (void)state;
    dt_ctx *ctx = open_fake(32);
    dt_mesh *mesh = dt_mesh_new(ctx, "2x2x2x2x2");
    dt_tensor *a = dt_empty(ctx, DT_SHAPE(64, 64, 64), .mesh = mesh, .place = "S(0),S(2),R,S(0),S(0)");
    dt_tensor *b = dt_empty(ctx, DT_SHAPE(64, 64, 64), .mesh = mesh, .place = "S(1),S(2),S(1),S(0),S(1)");
    ASSERT_MISS(ctx, "mul($1; $2)", a, a);
    assert_int_equal(dt_cache_stats(ctx).n_capped, 0);
    ASSERT_MISS(ctx, "mul($1; $2)", a, b);
    int64_t n_capped = dt_cache_stats(ctx).n_capped;
    assert_true(n_capped > 0);
    ASSERT_HIT(ctx, "mul($1; $2)", a, b);
    assert_int_equal(dt_cache_stats(ctx).n_capped, n_capped);
    dt_mesh_release(mesh);
    assert_int_equal(dt_close(ctx), 0);
    assert_int_equal(dt_cache_stats(NULL).n_capped, 0);
}

/* Keys of any length are cached; hits of long ones allocate nothing for the key. */
static void cache__holds_long_keys(void **state) {
    (void)state;
    test_memory memory = {0};
    dt_ctx *ctx = dt_init(&(dt_init_options){.transport = "self", .allocator = test_memory_allocator(&memory)});
    assert_non_null(ctx);
    dt_tensor *a = calls_counting(ctx, DT_F32, DT_SHAPE(1, 1, 1), 3, 0);
    dt_tensor *b = calls_counting(ctx, DT_F32, DT_SHAPE(2, 1, 1), 4, 0), *tensors[] = {a, b};
    char text[512] = "cat({$1";
    for (int i = 1; i < 60; i++)
        strcat(text, "; $1");
    strcat(text, "}; 0)");
    assert_true(misses(ctx, text, tensors));
    assert_false(misses(ctx, text, tensors));
    strrchr(text, '$')[1] = '2'; /* the last tensor, at the end of the key, differs */
    assert_true(misses(ctx, text, tensors));
    test_call self, brief;
    assert_true(calls_open(ctx, text, tensors, &self) && calls_open(ctx, "cat({$1; $2}; 0)", tensors, &brief));
    for (int i = 0; i < 3; i++) {
        dt_scope scope = dt_scope_begin(ctx);
        long before = memory.n_calls;
        assert_int_equal(calls_run(ctx, &brief), DT_OK);
        long expected = memory.n_calls - before;
        before = memory.n_calls;
        assert_int_equal(calls_run(ctx, &self), DT_OK);
        assert_true(i == 0 || memory.n_calls - before == expected); /* the output's handle */
        assert_int_equal(dt_tensor_size(self.call.outputs[0], 0), 61);
        assert_true(calls_element(self.call.outputs[0], 60) == 4);
        dt_scope_end(scope);
    }
    calls_close(&brief);
    calls_close(&self);
    assert_int_equal(dt_close(ctx), 0);
    assert_int_equal(memory.n_live, 0);
}

static bool call_with_long_key(dt_ctx *ctx, void *user) {
    (void)user;
    dt_tensor *list[40];
    for (int i = 0; i < 40; i++)
        if (!(list[i] = dt_ones(ctx, DT_SHAPE(1, 1, 1))))
            return false;
    dt_tensors all = {40, list};
    for (int i = 0; i < 2; i++)
        if (!dt_cat(all))
            return false;
    return true;
}

static void cache__long_keys_survive_failing_allocations(void **state) {
    (void)state;
    assert_true(assert_survives_failing_allocations(call_with_long_key, NULL) > 2);
}

/* STR-021: the specs of an entry are valid as long as it, because it retains them. */
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

/* A user op that runs other ops and clears the cache while it runs. */
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
        assert_true(calls_element(y, 0) == 2 && calls_element(y, 1) == 4);
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

static dt_status sum_of_inputs(dt_op_call *call) {
    float *out = call->outputs[0].data;
    for (int64_t i = 0; i < call->outputs[0].shape[0]; i++) {
        out[i] = 0;
        for (int k = 0; k < call->n_inputs; k++)
            out[i] += ((const float *)call->inputs[k].data)[i * call->inputs[k].strides[0]];
    }
    return DT_OK;
}
static const dt_op op_two_lists = {
    .schema = "test_two_lists(Tensor[] a, Tensor[] b) -> Tensor", .shape = shape_twice, .kernel = sum_of_inputs};
static const dt_op op_options = {.schema = "test_options(Tensor a, Tensor? b=None, Tensor? c=None) -> Tensor",
                                 .shape = shape_twice,
                                 .kernel = sum_of_inputs};

static void cache__keys_have_conversions_lists_and_missing_tensors(void **state) {
    (void)state;
    dt_ctx *ctx = open_fake(4);
    dt_mesh *mesh = mesh_of(ctx, 4);
    dt_tensor *half = dt_ones(ctx, DT_SHAPE(8), .dtype = DT_BF16, .mesh = mesh, .place = "S(0)");
    dt_tensor *a = dt_ones(ctx, DT_SHAPE(8), .mesh = mesh, .place = "S(0)");
    dt_tensor *b = dt_ones(ctx, DT_SHAPE(8), .mesh = mesh, .place = "S(0)");
    assert_int_equal(dt_op_register(ctx, &op_two_lists), DT_OK);
    assert_int_equal(dt_op_register(ctx, &op_options), DT_OK);
    ASSERT_MISS(ctx, "to($1; f32)", half); /* TOP-049 */
    ASSERT_MISS(ctx, "to($1; bf16)", a);
    ASSERT_HIT(ctx, "to($1; f32)", half);
    ASSERT_MISS(ctx, "to($1; i32)", a); /* TOP-050 */
    ASSERT_MISS(ctx, "to($1; f64)", a);
    ASSERT_HIT(ctx, "to($1; i32)", b);
    ASSERT_MISS(ctx, "test_two_lists({$1}; {$2})", a, b); /* TOP-052 */
    ASSERT_MISS(ctx, "test_two_lists({$1; $2}; {})", a, b);
    ASSERT_HIT(ctx, "test_two_lists({$1}; {$2})", b, a);
    ASSERT_MISS(ctx, "test_options($1; $1; none)", a); /* TOP-053 */
    ASSERT_MISS(ctx, "test_options($1; none; $1)", a);
    ASSERT_HIT(ctx, "test_options($1; b=$1)", a);
    ASSERT_HIT(ctx, "test_options($1; c=$1)", a);
    dt_mesh_release(mesh);
    assert_int_equal(dt_close(ctx), 0);
}

/* Whether the second call uses the decision of the first. */
static bool same_key(dt_ctx *ctx, const char *a, const char *b) {
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(4, 4));
    dt_cache_clear(ctx);
    ASSERT_MISS(ctx, a, x, x);
    return !misses(ctx, b, (dt_tensor *const[]){x, x});
}

static void cache__keys_contain_what_decisions_depend_on(void **state) { /* SCH-001 SCH-003 SCH-004 STR-020 DEC-008 */
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
        cmocka_unit_test(cache__keys_contain_what_decisions_depend_on),
        cmocka_unit_test(cache__keys_of_plain_tensors_are_dtype_and_shape),
        cmocka_unit_test(cache__varying_scalars_are_in_keys_by_their_class),
        cmocka_unit_test(cache__a_hit_computes_with_the_values_of_its_own_call),
        cmocka_unit_test(cache__is_bounded_and_keeps_recently_used_entries),
        cmocka_unit_test(searches__that_reach_a_limit_are_counted),
        cmocka_unit_test(cache__holds_long_keys),
        cmocka_unit_test(cache__long_keys_survive_failing_allocations),
        cmocka_unit_test(cache__outlives_meshes_and_tensors),
        cmocka_unit_test(cache__may_be_cleared_by_a_kernel),
        cmocka_unit_test(cache__keys_have_conversions_lists_and_missing_tensors),
        cmocka_unit_test(cache__of_a_context_without_calls_is_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
