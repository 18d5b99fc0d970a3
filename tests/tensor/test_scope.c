/* SPDX-License-Identifier: Apache-2.0
 *
 * Ownership of tensors, and when their memory is freed: scopes, keep and drop, retain and release, storage that views
 * share, borrowed and adopted memory.
 */
#include "tensor/tensors.h"

#include "base/ctx.h"

#include <stdlib.h>

static int64_t n_blocks(dt_ctx *ctx) { return dt_heap_stats(ctx).n_live; }

static dt_tensor *make_tensor(dt_ctx *ctx) { return dt_ones(ctx, DT_SHAPE(10)); }

static void scope__drops_the_tensors_made_in_it(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    dt_tensor *outer = make_tensor(ctx);
    dt_scope scope = dt_scope_begin(ctx);
    for (int i = 0; i < 1000; i++)
        assert_non_null(make_tensor(ctx));
    assert_int_equal(n_blocks(ctx), 1001);
    dt_scope_end(scope);
    assert_int_equal(n_blocks(ctx), 1);
    assert_true(((float *)dt_data(outer))[9] == 1);
    dt_drop(outer);
    assert_int_equal(n_blocks(ctx), 0);
    assert_int_equal(dt_close(ctx), 0);
}

static void scope__ends_inner_scopes(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    dt_scope outer = dt_scope_begin(ctx);
    make_tensor(ctx);
    dt_scope inner = dt_scope_begin(ctx);
    make_tensor(ctx);
    dt_scope_end(outer);
    assert_int_equal(n_blocks(ctx), 0);
    dt_scope_end(inner);
    assert_error_contains(ctx, DT_ERR_STATE, "scope_end: the scope has already ended");
    dt_error_clear(ctx);
    /* Numbers of scopes are not reused: an old scope does not end a new one. */
    dt_scope next = dt_scope_begin(ctx);
    make_tensor(ctx);
    dt_scope_end(inner);
    assert_error_contains(ctx, DT_ERR_STATE, "already ended");
    dt_error_clear(ctx);
    assert_int_equal(n_blocks(ctx), 1);
    dt_scope_end(next);
    assert_int_equal(n_blocks(ctx), 0);
    dt_scope_end((dt_scope){0});
    assert_int_equal(dt_close(ctx), 0);
}

static void drop_newer__leaves_what_was_there(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    assert_null(dt_scope_newest(ctx));
    dt_tensor *old = make_tensor(ctx);
    assert_ptr_equal(dt_scope_newest(ctx), old);
    dt_tensor *kept = dt_tensor_retain(dt_add(make_tensor(ctx), old));
    dt_drop_newer(ctx, old);
    assert_int_equal(n_blocks(ctx), 2);
    assert_true(((float *)dt_data(kept))[9] == 2);
    dt_tensor_release(kept);
    dt_drop_newer(ctx, old);
    assert_ptr_equal(dt_scope_newest(ctx), old);
    dt_drop_newer(ctx, NULL);
    dt_drop_newer(NULL, NULL);
    assert_null(dt_scope_newest(NULL));
    assert_int_equal(n_blocks(ctx), 0);
    assert_int_equal(dt_close(ctx), 0);
}

/* Copies in use placements are shared by the ops of the scope, and end with it. */
static void drop_newer__leaves_used_copies(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(&(dt_init_options){.transport = "fake", .world = 2});
    dt_mesh *mesh = dt_mesh_new(ctx, "2");
    dt_tensor *w[3];
    for (int i = 0; i < 3; i++)
        w[i] = dt_ones(ctx, DT_SHAPE(4, 4), .mesh = mesh, .place = "S(0)", .use = "R");
    dt_scope scope = dt_scope_begin(ctx);
    dt_tensor *first = dt_matmul(w[0], w[1]);
    dt_drop_newer(ctx, NULL);
    assert_null(dt_scope_newest(ctx));
    first = dt_matmul(w[1], w[2]);
    assert_ptr_equal(dt_scope_newest(ctx), first);
    (void)dt_matmul(w[0], w[2]);
    dt_drop_newer(ctx, first);
    assert_ptr_equal(dt_scope_newest(ctx), first);
    dt_tensor_release(dt_tensor_retain(w[1]));
    dt_scope_end(scope);
    dt_drop_newer(ctx, NULL);
    dt_mesh_release(mesh);
    assert_int_equal(dt_close(ctx), 0);
}

static void keep__moves_to_the_next_outer_scope(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    dt_scope outer = dt_scope_begin(ctx), inner = dt_scope_begin(ctx);
    dt_tensor *once = make_tensor(ctx), *twice = make_tensor(ctx), *thrice = make_tensor(ctx);
    assert_true(dt_keep(once) == once);
    assert_true(dt_keep(dt_keep(twice)) == twice);
    dt_keep(dt_keep(dt_keep(thrice))); /* the context is the outermost */
    make_tensor(ctx);
    dt_scope_end(inner);
    assert_int_equal(n_blocks(ctx), 3);
    dt_scope_end(outer);
    assert_int_equal(n_blocks(ctx), 2);
    assert_true(((float *)dt_data(twice))[0] == 1 && ((float *)dt_data(thrice))[0] == 1);
    assert_null(dt_keep(NULL));
    assert_int_equal(dt_close(ctx), 0); /* frees them */
}

static void retain__outlives_scopes_until_released(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    dt_scope scope = dt_scope_begin(ctx);
    dt_tensor *t = dt_tensor_retain(dt_tensor_retain(make_tensor(ctx)));
    dt_scope_end(scope);
    assert_int_equal(n_blocks(ctx), 1);
    dt_drop(t); /* it is no longer in a scope */
    assert_error_contains(ctx, DT_ERR_STATE, "the tensor is in no scope");
    dt_error_clear(ctx);
    assert_true(dt_keep(t) == t);
    dt_tensor_release(t);
    assert_int_equal(n_blocks(ctx), 1);
    dt_tensor_release(t);
    assert_int_equal(n_blocks(ctx), 0);
    t = make_tensor(ctx);
    dt_tensor_release(t);
    assert_error_contains(ctx, DT_ERR_STATE, "the tensor was not retained");
    dt_error_clear(ctx);
    dt_tensor_retain(t);
    dt_tensor_release(t);
    assert_int_equal(n_blocks(ctx), 1);
    dt_drop(t);
    assert_int_equal(n_blocks(ctx), 0);
    assert_null(dt_tensor_retain(NULL));
    dt_tensor_release(NULL);
    dt_drop(NULL);
    assert_int_equal(dt_close(ctx), 0);
}

static void storage__lives_as_long_as_any_view(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    dt_tensor *t = dt_arange(ctx, 0, 12, 1), *row = dt_select(dt_view(t, DT_SHAPE(3, 4)), 0, 1);
    dt_tensor *other = make_tensor(ctx);
    assert_true(dt_tensor_shares(t, row) && !dt_tensor_shares(t, other) && !dt_tensor_shares(t, NULL));
    dt_drop(t);
    assert_int_equal(n_blocks(ctx), 2);
    assert_true(((float *)dt_data(row))[3] == 7);
    ((float *)dt_data(row))[3] = 70;
    dt_drop(row);
    assert_int_equal(n_blocks(ctx), 2); /* held by the intermediate view */
    assert_int_equal(dt_close(ctx), 0);
}

/* Handles of few dims and of many come from different pools; both are reused. */
static void handles__are_reused(void **state) {
    (void)state;
    test_memory memory = {0};
    dt_ctx *ctx = dt_init(&(dt_init_options){.transport = "self", .allocator = test_memory_allocator(&memory)});
    ctx->freed_kept = 0; /* blocks are counted */
    dt_tensor *t = make_tensor(ctx);
    dt_view(t, DT_SHAPE(1, 1, 1, 1, 1, 1, 1, 2, 5)); /* fills the cache of decisions */
    dt_view(t, DT_SHAPE(2, 5));
    long before = memory.n_calls - 1;
    for (int i = 0; i < 5000; i++) {
        dt_scope scope = dt_scope_begin(ctx);
        for (int k = 0; k < 20; k++) {
            assert_int_equal(dt_tensor_n_dims(dt_view(t, DT_SHAPE(1, 1, 1, 1, 1, 1, 1, 2, 5))), 9);
            assert_int_equal(dt_tensor_n_dims(dt_view(t, DT_SHAPE(2, 5))), 2);
        }
        dt_scope_end(scope);
    }
    assert_true(memory.n_calls - before <= 4);
    assert_int_equal(dt_close(ctx), 0);
    assert_int_equal(memory.n_live, 0);
    assert_false(memory.wrong_size);
}

static void count_and_free(void *user, void *memory) {
    ++*(int *)user;
    free(memory);
}

static void adopted_memory__is_freed_once(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    int n_freed = 0;
    float *memory = calloc(6, sizeof *memory);
    dt_tensor *t = dt_adopt(ctx, memory, DT_SHAPE(2, 3), DT_F32, count_and_free, &n_freed),
              *view = dt_transpose(t, 0, 1);
    assert_true(dt_data(t) == memory);
    assert_int_equal(n_blocks(ctx), 0);
    dt_drop(t);
    assert_int_equal(n_freed, 0);
    dt_drop(view);
    assert_int_equal(n_freed, 1);
    /* Also if the call fails: nothing else would free it. */
    assert_null(dt_adopt(ctx, calloc(1, 4), DT_SHAPE(-2), DT_F32, count_and_free, &n_freed));
    assert_int_equal(n_freed, 2);
    dt_error_clear(ctx);
    assert_null(dt_adopt(NULL, calloc(1, 4), DT_SHAPE(1), DT_F32, count_and_free, &n_freed));
    assert_int_equal(n_freed, 3);
    assert_null(dt_adopt(ctx, NULL, DT_SHAPE(1), DT_F32, count_and_free, &n_freed));
    assert_error_contains(ctx, DT_ERR_VALUE, "adopt: the memory of 1 elements of f32 is NULL");
    dt_error_clear(ctx);
    assert_non_null(dt_adopt(ctx, NULL, DT_SHAPE(0), DT_F32, NULL, NULL));
    dt_adopt(ctx, calloc(1, 4), DT_SHAPE(1), DT_F32, count_and_free, &n_freed);
    assert_int_equal(n_freed, 4);
    assert_int_equal(dt_close(ctx), 0);
    assert_int_equal(n_freed, 5);
}

static void borrowed_memory__is_owned_by_the_caller(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    int32_t numbers[6] = {1, 2, 3, 4, 5, 6};
    dt_tensor *t = dt_borrow(ctx, numbers, DT_SHAPE(2, 3), DT_I32);
    numbers[5] = 60;
    assert_int_equal(dt_item_i64(dt_select(dt_select(t, 0, 1), 0, 2)), 60);
    dt_tensor *copy = dt_from_memory(ctx, numbers, DT_SHAPE(6), DT_I32);
    numbers[0] = 10;
    assert_int_equal(dt_item_i64(dt_select(copy, 0, 0)), 1);
    assert_null(dt_from_memory(ctx, NULL, DT_SHAPE(2), DT_I32));
    assert_error_contains(ctx, DT_ERR_VALUE, "from_memory: the memory of 2 elements of i32 is NULL");
    dt_error_clear(ctx);
    assert_null(dt_from_memory(ctx, numbers, DT_SHAPE(2), (dt_dtype)99));
    assert_error_contains(ctx, DT_ERR_DTYPE, "from_memory: unknown dtype 99");
    dt_error_clear(ctx);
    assert_int_equal(dt_close(ctx), 0);
}

static void properties__of_null_are_zero(void **state) {
    (void)state;
    char text[32];
    assert_null(dt_tensor_ctx(NULL));
    assert_null(dt_tensor_shape(NULL));
    assert_null(dt_tensor_local_shape(NULL));
    assert_null(dt_tensor_strides(NULL));
    assert_null(dt_tensor_spec(NULL));
    assert_null(dt_tensor_mesh(NULL));
    assert_null(dt_data(NULL));
    assert_false(dt_tensor_is_contiguous(NULL));
    assert_false(dt_requires_grad(NULL));
    assert_int_equal(dt_tensor_n_dims(NULL), 0);
    assert_int_equal(dt_tensor_elements(NULL), 0);
    assert_int_equal(dt_tensor_local_elements(NULL), 0);
    assert_int_equal(dt_tensor_size(NULL, 0), -1);
    assert_int_equal(dt_tensor_text(NULL, sizeof text, text), strlen("no tensor"));
    assert_string_equal(text, "no tensor");
}

static void text__names_shape_dtype_and_placements(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    dt_mesh *mesh = dt_mesh_new(ctx, "dp=1,tp=1");
    char text[64];
    dt_tensor_text(dt_zeros(ctx, DT_SHAPE(3, 4), .dtype = DT_BF16), sizeof text, text);
    assert_string_equal(text, "bf16[3,4]");
    dt_tensor_text(dt_scalar(ctx, 1), sizeof text, text);
    assert_string_equal(text, "f32[]");
    dt_tensor *t = dt_zeros(ctx, DT_SHAPE(8, 4), .mesh = mesh, .place = "S(0),R");
    assert_int_equal(dt_tensor_text(t, sizeof text, text), strlen("f32[8,4] S(0),R on mesh(dp=1,tp=1)"));
    assert_string_equal(text, "f32[8,4] S(0),R on mesh(dp=1,tp=1)");
    assert_int_equal(dt_tensor_size(t, -1), 4);
    assert_int_equal(dt_tensor_size(t, 2), -1);
    assert_true(dt_tensor_mesh(t) == mesh);
    dt_tensor_text(t, 4, text);
    assert_string_equal(text, "f32");
    dt_mesh_release(mesh);
    assert_int_equal(dt_close(ctx), 0);
}

static void requires_grad__is_for_floating_tensors(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    dt_tensor *t = dt_ones(ctx, DT_SHAPE(2), .requires_grad = true);
    assert_true(dt_requires_grad(t));
    assert_int_equal(dt_set_requires_grad(t, false), DT_OK);
    assert_false(dt_requires_grad(t));
    assert_int_equal(dt_set_requires_grad(dt_ones(ctx, DT_SHAPE(2), .dtype = DT_C64), true), DT_OK);
    int64_t before = n_blocks(ctx);
    assert_null(dt_ones(ctx, DT_SHAPE(2), .dtype = DT_I32, .requires_grad = true));
    assert_error_contains(ctx, DT_ERR_DTYPE, "expected a floating-point or complex one, got i32");
    dt_error_clear(ctx);
    assert_int_equal(n_blocks(ctx), before);
    assert_int_equal(dt_set_requires_grad(NULL, true), DT_ERR_VALUE);
    assert_int_equal(dt_close(ctx), 0);
}

/* Every function that makes tensors; returns whether all calls succeeded. */
static bool call_all_functions(dt_ctx *ctx) {
    dt_scope scope = dt_scope_begin(ctx);
    if (!scope.number)
        return false; /* tensors would belong to the outer scope */
    dt_tensor *t = dt_arange(ctx, 0, 24, 1);
    dt_tensor *u = dt_reshape(dt_transpose(dt_view(t, DT_SHAPE(4, 6)), 0, 1), DT_SHAPE(1, 1, 1, 1, 1, 1, 24));
    dt_mesh *mesh = dt_mesh_new(ctx, "1");
    const char *text = mesh ? dt_mesh_text(mesh) : NULL;
    dt_tensor *v = dt_ones(ctx, DT_SHAPE(5, 2), .mesh = mesh, .place = "S(0)");
    dt_tensor *w = dt_full_tensor(dt_redistribute(v, "R"));
    dt_tensor *x = dt_from_local(ctx, dt_to_local(v), mesh, "S(1)", .shape = DT_SHAPE(5, 2));
    dt_tensor *y = dt_distribute_tensor(dt_clone(w), mesh, "S(1)");
    dt_tensor *copied = dt_copy_(y, x);
    dt_tensor *z = dt_transfer_wait(dt_redistribute_start(x, "R", .dtype = DT_F64));
    bool ok = u && v && text && w && x && y && z && copied == y;
    dt_mesh_release(mesh);
    dt_scope_end(scope);
    return ok;
}

static void tensors__survive_failing_allocations(void **state) {
    (void)state;
    long n_failed = 0;
    for (bool has_failed = true; has_failed;) {
        test_memory memory = {0};
        dt_ctx *ctx = dt_init(&(dt_init_options){
            .transport = "self", .heap_bytes = 1 << 20, .threads = 1, .allocator = test_memory_allocator(&memory)});
        assert_non_null(ctx);
        memory.fail_at = memory.n_calls + n_failed + 1;
        bool ok = call_all_functions(ctx);
        has_failed = memory.n_calls >= memory.fail_at;
        if (ok == has_failed || dt_error_status(ctx) != (has_failed ? DT_ERR_MEMORY : DT_OK))
            fail_msg("allocation %ld: %s, %s: %s", n_failed + 1, ok ? "succeeded" : "failed",
                     dt_status_name(dt_error_status(ctx)), dt_error_text(ctx));
        assert_int_equal(n_blocks(ctx), 0);
        memory.fail_at = 0;
        dt_error_clear(ctx);
        assert_true(call_all_functions(ctx)); /* the context is still usable */
        assert_int_equal(dt_close(ctx), 0);
        if (memory.n_live || memory.wrong_size)
            fail_msg("after allocation %ld failed: %ld blocks leak", n_failed + 1, memory.n_live);
        n_failed += has_failed;
    }
    assert_true(n_failed > 15);
}

/* On the fake transport tensors have shapes and specs of a large world, and no memory. */
static void fake__has_no_data(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(&(dt_init_options){.transport = "fake", .world = 100000, .rank = 77777});
    dt_mesh *mesh = dt_mesh_new(ctx, "dp=1000,tp=100");
    dt_tensor *t =
        dt_ones(ctx, DT_SHAPE(INT64_C(1) << 40, 1 << 16), .dtype = DT_F16, .mesh = mesh, .place = "S(0),S(1)");
    assert_non_null(t);
    assert_null(dt_data(t));
    assert_int_equal(dt_tensor_elements(t), INT64_C(1) << 56);
    dt_tensor *r = dt_redistribute(t, "S(1),S(0)");
    if (!r)
        fail_msg("%s", dt_error_text(ctx));
    assert_int_equal(dt_tensor_size(r, 0), INT64_C(1) << 40);
    assert_int_equal(dt_tensor_local_shape(r)[1], 66);
    assert_int_equal(dt_tensor_n_dims(dt_to_local(r)), 2);
    dt_tensor *plain = dt_arange(ctx, 0, 1e15, 1);
    assert_int_equal(dt_tensor_size(dt_slice(plain, 0, 5, 1000000000005, 1), 0), 1000000000000);
    assert_true(dt_item(dt_scalar(ctx, 5)) != dt_item(dt_scalar(ctx, 5)));
    assert_error_contains(ctx, DT_ERR_UNSUPPORTED, "tensors have no data on the fake transport");
    dt_error_clear(ctx);
    dt_mesh_release(mesh);
    assert_int_equal(dt_close(ctx), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scope__drops_the_tensors_made_in_it),
        cmocka_unit_test(scope__ends_inner_scopes),
        cmocka_unit_test(drop_newer__leaves_what_was_there),
        cmocka_unit_test(drop_newer__leaves_used_copies),
        cmocka_unit_test(keep__moves_to_the_next_outer_scope),
        cmocka_unit_test(retain__outlives_scopes_until_released),
        cmocka_unit_test(storage__lives_as_long_as_any_view),
        cmocka_unit_test(handles__are_reused),
        cmocka_unit_test(adopted_memory__is_freed_once),
        cmocka_unit_test(borrowed_memory__is_owned_by_the_caller),
        cmocka_unit_test(properties__of_null_are_zero),
        cmocka_unit_test(text__names_shape_dtype_and_placements),
        cmocka_unit_test(requires_grad__is_for_floating_tensors),
        cmocka_unit_test(tensors__survive_failing_allocations),
        cmocka_unit_test(fake__has_no_data),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
