/* SPDX-License-Identifier: Apache-2.0
 *
 * Every allocation of texts, files and exported tensors fails in turn; and tensors that the program does not free are
 * freed with the context.
 */
#include "tensor/tensors.h"

#include <stdlib.h>
#include <unistd.h>

static char path[64];

/* Texts, files and exports of plain and of distributed tensors; returns whether all calls succeeded. */
static bool call_all_functions(dt_ctx *ctx) {
    dt_scope scope = dt_scope_begin(ctx);
    if (!scope.number)
        return false;
    dt_mesh *mesh = dt_mesh_new(ctx, "1");
    const char *name = mesh ? dt_mesh_text(mesh) : NULL;
    dt_tensor *plain = dt_reshape(dt_arange(ctx, 0, 12, 1), DT_SHAPE(3, 4));
    dt_tensor *placed = dt_ones(ctx, DT_SHAPE(3, 4), .mesh = mesh, .place = "P(sum)");
    char *text = dt_format(dt_transpose(plain, 0, 1)), *full_text = dt_format(placed),
         *local_text = dt_format(placed, .local = true);
    bool ok = name && text && full_text && local_text;
    free(text);
    free(full_text);
    free(local_text);
    ok = dt_save_npy(placed, path) == DT_OK && ok;
    dt_tensor *loaded = ok ? dt_load_npy(ctx, path, .mesh = mesh, .place = "S(0)") : NULL;
    ok = ok && loaded;
    ok = ok &&
         dt_save_npz(path, 2, (const char *[]){"a", "b"}, (dt_tensor *[]){plain, loaded ? plain : NULL}) == DT_OK;
    ok = ok && dt_load_npz(ctx, path, "b");
    dt_dlpack_managed *exported = plain ? dt_to_dlpack(plain) : NULL;
    dt_tensor *borrowed = exported ? dt_from_dlpack(ctx, exported) : NULL;
    if (exported && !borrowed)
        exported->deleter(exported);
    dt_mesh_release(mesh);
    dt_scope_end(scope);
    return ok && borrowed;
}

static void texts_files_and_exports__survive_failing_allocations(void **state) {
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
        /* A redistribution stores the text of its specs for errors, and continues if that fails. */
        if (ok && has_failed &&
            (strstr(dt_error_text(ctx), "for a text") || strstr(dt_error_text(ctx), "for the text of a mesh")))
            ok = false;
        if (ok == has_failed || dt_error_status(ctx) != (has_failed ? DT_ERR_MEMORY : DT_OK))
            fail_msg("allocation %ld: %s, %s: %s", n_failed + 1, ok ? "succeeded" : "failed",
                     dt_status_name(dt_error_status(ctx)), dt_error_text(ctx));
        assert_int_equal(dt_heap_stats(ctx).n_live, 0);
        dt_error_clear(ctx);
        assert_int_equal(dt_close(ctx), 0);
        if (memory.n_live || memory.wrong_size)
            fail_msg("after allocation %ld failed: %ld blocks leak", n_failed + 1, memory.n_live);
        n_failed += has_failed;
    }
    assert_true(n_failed > 30);
}

/* Transfers that were not waited for, exported tensors whose deleter was not called, retained tensors. */
static void objects__are_freed_with_the_context(void **state) {
    (void)state;
    test_memory memory = {0};
    dt_ctx *ctx = dt_init(&(dt_init_options){.transport = "self", .allocator = test_memory_allocator(&memory)});
    dt_mesh *mesh = dt_mesh_new(ctx, "1");
    dt_tensor *t = dt_tensor_retain(dt_ones(ctx, DT_SHAPE(4), .mesh = mesh, .place = "S(0)"));
    assert_non_null(dt_redistribute_start(t, "R"));
    assert_non_null(dt_redistribute_start(t, "S(0)"));
    assert_non_null(dt_to_dlpack(t));
    dt_scope_begin(ctx);
    dt_keep(dt_tensor_retain(dt_clone(t)));
    assert_int_equal(dt_close(ctx), 0);
    assert_int_equal(memory.n_live, 0);
    assert_false(memory.wrong_size);
}

static void data__is_not_freed_under_its_tensor(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    dt_tensor *small = dt_ones(ctx, DT_SHAPE(3)), *large = dt_ones(ctx, DT_SHAPE(100000));
    dt_tensor *both[] = {small, large};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(dt_heap_free(ctx, dt_data(both[i])), DT_ERR_VALUE);
        assert_error_contains(ctx, DT_ERR_VALUE, "heap_free: expected memory of dt_heap_alloc, got that of a tensor");
        assert_int_equal(dt_error_clear(ctx), DT_OK);
        assert_true(*(const float *)dt_data(both[i]) == 1);
        dt_drop(both[i]);
    }
    void *memory = dt_heap_alloc(ctx, 100); /* perhaps where a tensor was */
    assert_int_equal(dt_heap_free(ctx, memory), DT_OK);
    assert_int_equal(dt_close(ctx), 0);
}

static int make_path(void **state) {
    (void)state;
    (void)snprintf(path, sizeof path, "/tmp/dtensor_memory_XXXXXX");
    int fd = mkstemp(path);
    return fd < 0 || close(fd) != 0;
}

static int remove_path(void **state) {
    (void)state;
    return unlink(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_files_and_exports__survive_failing_allocations),
        cmocka_unit_test(objects__are_freed_with_the_context),
        cmocka_unit_test(data__is_not_freed_under_its_tensor),
    };
    return cmocka_run_group_tests(tests, make_path, remove_path);
}
