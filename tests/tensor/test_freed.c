/* SPDX-License-Identifier: Apache-2.0
 *
 * Uses of freed objects: the texts of the errors, how long an object is recognized, and memory that is freed at once.
 * tests/project/test_freed_objects.py checks that every public function recognizes them.
 */
#include "tensor/tensors.h"

#include "base/lifetime.h"

#include <math.h>
#include <stdlib.h>

/* Checks and clears the error of the last call; `made` and `freed` are lines of this file. */
static void assert_freed(dt_ctx *ctx, const char *call, int made, const char *verb, int freed) {
    char text[400];
    snprintf(text, sizeof text, "%s made at %s:%d was %s at %s:%d; ", call, __FILE__, made, verb, __FILE__, freed);
    assert_error_contains(ctx, DT_ERR_STATE, text);
    dt_error_clear(ctx);
}

static void scope__end_frees_the_tensors_made_in_it(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    dt_tensor *outer = dt_ones(ctx, DT_SHAPE(4));
    dt_scope scope = dt_scope_begin(ctx);
    int made = __LINE__ + 1;
    dt_tensor *inner = dt_full(ctx, DT_SHAPE(4), 7);
    int freed = __LINE__ + 1;
    dt_scope_end(scope);
    dt_tensor *reused = dt_full(ctx, DT_SHAPE(4), 9); /* may have the memory of the freed one */
    for (int round = 0; round < 2; round++) {         /* the second round uses cached decisions */
        assert_null(dt_add(outer, inner));
        assert_freed(ctx, "add: tensor 2", made, "freed with its scope", freed);
        assert_null(dt_relu(inner));
        assert_freed(ctx, "relu: the tensor", made, "freed with its scope", freed);
        assert_null(dt_add_(inner, outer));
        assert_freed(ctx, "add_: tensor 1", made, "freed with its scope", freed);
        assert_null(dt_add_(outer, inner));
        assert_freed(ctx, "add_: tensor 2", made, "freed with its scope", freed);
        assert_null(dt_view(inner, DT_SHAPE(2, 2)));
        assert_freed(ctx, "view: the tensor", made, "freed with its scope", freed);
        assert_null(dt_narrow(inner, 0, 0, 2));
        assert_freed(ctx, "narrow: the tensor", made, "freed with its scope", freed);
        assert_non_null(dt_add(outer, reused)); /* the same kind of call with live tensors */
        assert_false(dt_failed(ctx));
    }
    assert_null(dt_data(inner));
    assert_freed(ctx, "data: the tensor", made, "freed with its scope", freed);
    assert_int_equal(dt_tensor_n_dims(inner), 0);
    assert_freed(ctx, "tensor_n_dims: the tensor", made, "freed with its scope", freed);
    assert_true(dt_tensor_ctx(inner) == ctx); /* for the error */
    assert_false(dt_failed(ctx));
    assert_int_equal(dt_close(ctx), 0);
}

static void text__has_both_sites(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    dt_site made = {"a.c", 12}, freed = {"a.c", 20}, used = {"b.c", 3};
    dt_scope scope = dt_scope_begin(ctx);
    dt_tensor *t = dt_zeros_sized(ctx, DT_SHAPE(2), DT_NAMED(dt_make_options, .site = &made));
    dt_scope_end_site(scope, &freed);
    (void)dt_item_site(t, &used);
    assert_string_equal(
        dt_error_text(ctx),
        "item: the tensor made at a.c:12 was freed with its scope at a.c:20; dt_keep moves a tensor to "
        "the outer scope, dt_tensor_retain holds it (at b.c:3)");
    dt_error_clear(ctx);
    /* Without sites, as from another language. */
    scope = dt_scope_begin(ctx);
    t = dt_zeros_sized(ctx, DT_SHAPE(2), NULL, 0);
    dt_scope_end_site(scope, NULL);
    (void)dt_item_site(t, NULL);
    assert_string_equal(dt_error_text(ctx),
                        "item: the tensor was freed with its scope; dt_keep moves a tensor to the "
                        "outer scope, dt_tensor_retain holds it");
    dt_error_clear(ctx);
    assert_int_equal(dt_close(ctx), 0);
}

static void scope__nested_has_the_site_of_the_end_that_freed(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    dt_scope outer = dt_scope_begin(ctx), inner = dt_scope_begin(ctx);
    int made = __LINE__ + 1;
    dt_tensor *in_inner = dt_ones(ctx, DT_SHAPE(2)), *kept = dt_keep(dt_ones(ctx, DT_SHAPE(2)));
    (void)inner;
    int freed = __LINE__ + 1;
    dt_scope_end(outer); /* ends both */
    (void)dt_sum(in_inner);
    assert_freed(ctx, "sum: the tensor", made, "freed with its scope", freed);
    (void)dt_sum(kept);
    assert_freed(ctx, "sum: the tensor", made, "freed with its scope", freed);
    assert_int_equal(dt_close(ctx), 0);
}

static void drop__twice_is_an_error(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    int made = __LINE__ + 1;
    dt_tensor *t = dt_ones(ctx, DT_SHAPE(2));
    int freed = __LINE__ + 1;
    dt_drop(t);
    dt_drop(t);
    assert_freed(ctx, "drop: the tensor", made, "dropped", freed);
    dt_tensor_release(t);
    assert_freed(ctx, "tensor_release: the tensor", made, "dropped", freed);
    assert_null(dt_keep(t));
    assert_freed(ctx, "keep: the tensor", made, "dropped", freed);
    assert_null(dt_tensor_retain(t));
    assert_freed(ctx, "tensor_retain: the tensor", made, "dropped", freed);
    assert_int_equal(dt_heap_stats(ctx).n_live, 0);
    assert_int_equal(dt_close(ctx), 0);
}

static void release__of_the_last_reference_frees(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    dt_scope scope = dt_scope_begin(ctx);
    int made = __LINE__ + 1;
    dt_tensor *t = dt_tensor_retain(dt_full(ctx, DT_SHAPE(1), 5));
    dt_scope_end(scope);
    assert_true(dt_item(t) == 5); /* retained: still valid */
    int freed = __LINE__ + 1;
    dt_tensor_release(t);
    (void)dt_item(t);
    assert_freed(ctx, "item: the tensor", made, "released", freed);
    assert_int_equal(dt_close(ctx), 0);
}

static void storage__is_freed_at_once_unless_views_hold_it(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    dt_tensor *t = dt_arange(ctx, 0, 12, 1), *row = dt_narrow(t, 0, 4, 4);
    dt_drop(t);
    assert_int_equal(dt_heap_stats(ctx).n_live, 1);
    assert_true(((float *)dt_data(row))[3] == 7);
    dt_drop(row);
    assert_int_equal(dt_heap_stats(ctx).n_live, 0);
    assert_false(dt_failed(ctx));
    assert_null(dt_data(row));
    assert_true(dt_failed(ctx));
    dt_error_clear(ctx);
    assert_int_equal(dt_close(ctx), 0);
}

/* Makes and drops n tensors of n_dims dims, one after the other. */
static void make_and_drop(dt_ctx *ctx, int n_dims, int n) {
    int64_t sizes[DT_SPEC_MAX_DIMS] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    for (int i = 0; i < n; i++)
        dt_drop(dt_zeros(ctx, ((dt_shape){n_dims, sizes})));
}

static void freed__the_last_4096_are_recognized(void **state) {
    (void)state;
    static const int dims[] = {1, 10}; /* from both pools of handles */
    for (int k = 0; k < 2; k++) {
        int64_t sizes[DT_SPEC_MAX_DIMS] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
        test_memory memory = {0};
        dt_ctx *ctx = dt_init(&(dt_init_options){.allocator = test_memory_allocator(&memory)});
        dt_tensor *t = dt_ones(ctx, ((dt_shape){dims[k], sizes}));
        dt_drop(t);
        make_and_drop(ctx, dims[k], DT__FREED_KEPT - 1);
        assert_true(isnan(dt_item(t))); /* the oldest of 4,096 */
        assert_error_contains(ctx, DT_ERR_STATE, "was dropped at");
        dt_error_clear(ctx);
        make_and_drop(ctx, dims[k], 1); /* the 4,097th: still recognized until its memory is reused */
        assert_true(isnan(dt_item(t)));
        dt_error_clear(ctx);
        dt_tensor *next = dt_full(ctx, ((dt_shape){dims[k], sizes}), 3);
        assert_true(next == t);
        assert_true(dt_item(t) == 3);
        size_t bytes = memory.live_bytes;
        make_and_drop(ctx, dims[k], 3 * DT__FREED_KEPT); /* memory is bounded */
        assert_int_equal(memory.live_bytes, bytes);
        assert_false(dt_failed(ctx));
        assert_int_equal(dt_close(ctx), 0);
        assert_int_equal(memory.n_live, 0);
        assert_false(memory.wrong_size);
    }
}

static void freed__all_are_recognized_with_the_variable(void **state) {
    (void)state;
    setenv("DTENSOR_KEEP_FREED", "1", 1);
    dt_ctx *ctx = dt_init(NULL);
    unsetenv("DTENSOR_KEEP_FREED");
    dt_tensor *t = dt_ones(ctx, DT_SHAPE(1));
    dt_drop(t);
    make_and_drop(ctx, 1, 5 * DT__FREED_KEPT);
    assert_true(isnan(dt_item(t)));
    assert_error_contains(ctx, DT_ERR_STATE, "item: the tensor made at");
    dt_error_clear(ctx);
    assert_int_equal(dt_close(ctx), 0);
    setenv("DTENSOR_KEEP_FREED", "0", 1); /* as without it */
    ctx = dt_init(NULL);
    unsetenv("DTENSOR_KEEP_FREED");
    make_and_drop(ctx, 1, 2 * DT__FREED_KEPT);
    assert_int_equal(ctx->freed_kept, DT__FREED_KEPT);
    assert_int_equal(dt_close(ctx), 0);
}

/* Meshes, specs, groups and generators: what they own is freed at once, and the oldest handles are freed later. */
static void objects__memory_is_bounded(void **state) {
    (void)state;
    test_memory memory = {0};
    dt_ctx *ctx =
        dt_init(&(dt_init_options){.transport = "fake", .world = 64, .allocator = test_memory_allocator(&memory)});
    int64_t sizes[] = {8, 8}, ranks[] = {5, 3};
    long blocks[3] = {0};
    dt_mesh *mesh = dt_mesh_from_shape(ctx, sizes, 2, NULL);
    for (int i = 0; i < 3 * DT__FREED_KEPT; i++) {
        int64_t size = i;
        dt_mesh_release(dt_mesh_from_shape(ctx, sizes, 2, NULL));
        dt_spec_release(dt_spec_new(mesh, &(dt_spec_desc){.n_dims = 1, .shape = &size, .text = "S(0),R"}));
        dt_group_release(dt_group_new(ctx, ranks, 2));
        dt_generator_release(dt_generator_new(ctx, 1));
        if ((i + 1) % DT__FREED_KEPT == 0)
            blocks[i / DT__FREED_KEPT] = memory.n_live;
    }
    assert_int_equal(blocks[1], blocks[0]);
    assert_int_equal(blocks[2], blocks[0]);
    assert_false(dt_failed(ctx));
    dt_mesh_release(mesh);
    assert_int_equal(dt_close(ctx), 0);
    assert_int_equal(memory.n_live, 0);
    assert_false(memory.wrong_size);
}

static void objects__errors_name_the_call_that_freed_them(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    int made = __LINE__ + 1;
    dt_mesh *mesh = dt_mesh_new(ctx, "x=1");
    dt_tensor *t = dt_tri(ctx, 3, 3, 0, .mesh = mesh, .place = "S(0)"); /* an op's cached decision holds the spec */
    dt_spec *spec = dt_tensor_spec(t);                                  /* borrowed */
    dt_mesh_release(mesh);                                              /* the tensor holds it */
    assert_int_equal(dt_mesh_size(mesh), 1);
    assert_false(dt_failed(ctx));
    int freed = __LINE__ + 1;
    dt_drop(t);
    assert_int_equal(dt_spec_n_dims(spec), 0);
    assert_freed(ctx, "spec_n_dims: the spec", made + 1, "freed by dt_drop", freed);
    assert_int_equal(dt_mesh_size(mesh), 0);
    assert_freed(ctx, "mesh_size: the mesh", made, "freed by dt_drop", freed);
    assert_null(dt_ones(ctx, DT_SHAPE(3), .mesh = mesh));
    assert_freed(ctx, "ones: the mesh", made, "freed by dt_drop", freed);
    dt_group_release(dt_group_world(ctx));
    assert_error_contains(ctx, DT_ERR_STATE, "group_release: the group of all ranks belongs to the context");
    dt_error_clear(ctx);
    assert_int_equal(dt_group_size(dt_group_world(ctx)), 1);
    made = __LINE__ + 1;
    dt_generator *generator = dt_generator_new(ctx, 1);
    freed = __LINE__ + 1;
    dt_generator_release(generator);
    assert_null(dt_rand(ctx, DT_SHAPE(3), .generator = generator));
    assert_freed(ctx, "rand: the generator", made, "released", freed);
    dt_generator_release(generator);
    assert_freed(ctx, "generator_release: the generator", made, "released", freed);
    dt_generator_seed(generator, 3);
    assert_freed(ctx, "generator_seed: the generator", made, "released", freed);
    assert_int_equal(dt_close(ctx), 0);
}

static dt_status drop_output(dt_ctx *ctx, dt_tensor *const *inputs, dt_tensor **outputs, void *user) {
    (void)user;
    (void)inputs;
    outputs[0] = dt_ones(ctx, DT_SHAPE(2));
    dt_drop(outputs[0]);
    return DT_OK;
}

static void local_map__checks_returned_tensors(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    dt_tensor *input = dt_ones(ctx, DT_SHAPE(2)), *output = NULL;
    assert_int_not_equal(
        dt_local_map(ctx, &(dt_local_mapping){.run = drop_output, .n_inputs = 1, .inputs = &input, .n_outputs = 1},
                     &output),
        DT_OK);
    assert_error_contains(ctx, DT_ERR_STATE, "local_map: tensor 1 made at ");
    dt_error_clear(ctx);
    assert_null(output);
    assert_int_equal(dt_close(ctx), 0);
}

/* On ranks the error is agreed: no rank waits, and all continue. */
static int use_freed_objects(dt_ctx *ctx, void *arg) {
    (void)arg;
    int64_t world = dt_world(ctx);
    dt_mesh *mesh = dt_mesh_from_shape(ctx, &world, 1, NULL);
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(2, 5), .mesh = mesh, .place = "S(0)"); /* empty on the last ranks */
    for (int round = 0; round < 3; round++) {
        dt_scope scope = dt_scope_begin(ctx);
        dt_tensor *y = dt_redistribute(x, "S(1)");
        dt_transfer *transfer = dt_redistribute_start(x, "R");
        dt_tensor *moved = dt_transfer_wait(transfer);
        CHECK(y && moved && !dt_failed(ctx), "%s", dt_error_text(ctx));
        dt_scope_end(scope);
        CHECK(!dt_transfer_wait(transfer) && dt_error_status(ctx) == DT_ERR_STATE, "%s", dt_error_text(ctx));
        CHECK(strstr(dt_error_text(ctx), "transfer_wait: the transfer made at "), "%s", dt_error_text(ctx));
        CHECK_OK(ctx, dt_error_clear(ctx));
        CHECK(!dt_add(x, y), "expected an error for the sum with a freed tensor"); /* would redistribute */
        CHECK(strstr(dt_error_text(ctx), "was freed with its scope at "), "%s", dt_error_text(ctx));
        CHECK_OK(ctx, dt_error_clear(ctx));
        CHECK(!dt_full_tensor(y), "expected an error for the gather of a freed tensor");
        CHECK(dt_error_status(ctx) == DT_ERR_STATE, "%s", dt_error_text(ctx));
        CHECK_OK(ctx, dt_error_clear(ctx));
        dt_work *work = dt_comm_start(dt_group_world(ctx), &(dt_comm_call){.op = DT_BARRIER});
        CHECK_OK(ctx, dt_work_wait(work));
        CHECK(dt_work_wait(work) == DT_ERR_STATE, "expected an error for the second wait");
        CHECK(strstr(dt_error_text(ctx), "work_wait: the operation made at "), "%s", dt_error_text(ctx));
        CHECK_OK(ctx, dt_error_clear(ctx));
        double sum = dt_item(dt_sum(x));
        CHECK(sum == 10, "%g: %s", sum, dt_error_text(ctx));
    }
    dt_mesh_release(mesh);
    return dt_failed(ctx);
}

static void ranks__all_get_the_error_and_continue(void **state) {
    (void)state;
    run_ranks(1, use_freed_objects, NULL);
    run_ranks(3, use_freed_objects, NULL);
}

#ifdef DT__HAS_POISON
/* Under the address sanitizer the contents of a freed handle are poisoned until it is reused. */
static void freed__is_poisoned(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    dt_tensor *t = dt_ones(ctx, DT_SHAPE(3));
    const int64_t *shape = dt_tensor_shape(t);
    assert_false(__asan_address_is_poisoned(shape));
    dt_drop(t);
    assert_true(__asan_address_is_poisoned(shape));
    dt_generator *generator = dt_generator_new(ctx, 1);
    dt_generator_release(generator);
    assert_true(__asan_address_is_poisoned((char *)generator + sizeof(dt__lifetime) + sizeof ctx));
    assert_false(__asan_address_is_poisoned(generator));
    assert_int_equal(dt_close(ctx), 0);
}
#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scope__end_frees_the_tensors_made_in_it),
        cmocka_unit_test(text__has_both_sites),
        cmocka_unit_test(scope__nested_has_the_site_of_the_end_that_freed),
        cmocka_unit_test(drop__twice_is_an_error),
        cmocka_unit_test(release__of_the_last_reference_frees),
        cmocka_unit_test(storage__is_freed_at_once_unless_views_hold_it),
        cmocka_unit_test(freed__the_last_4096_are_recognized),
        cmocka_unit_test(freed__all_are_recognized_with_the_variable),
        cmocka_unit_test(objects__memory_is_bounded),
        cmocka_unit_test(objects__errors_name_the_call_that_freed_them),
        cmocka_unit_test(local_map__checks_returned_tensors),
        cmocka_unit_test(ranks__all_get_the_error_and_continue),
#ifdef DT__HAS_POISON
        cmocka_unit_test(freed__is_poisoned),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
