/* SPDX-License-Identifier: Apache-2.0
 *
 * Lack of memory: every allocation of texts, files and exported tensors is made to fail in turn. And tensors that the
 * program does not free: they are freed with the context.
 */
#include "tensor/tensors.h"

#include <stdlib.h>
#include <unistd.h>

static char path[64];

/* Each thing that can be done with a tensor beyond computing; made by one rank, plain and distributed. */
static bool use_all(dt_ctx *ctx) {
    dt_scope scope = dt_scope_begin(ctx);
    if (!scope.number)
        return false;
    dt_mesh *mesh = dt_mesh_new(ctx, "1");
    const char *name = mesh ? dt_mesh_text(mesh) : NULL;
    dt_tensor *plain = dt_reshape(dt_arange(ctx, 0, 12, 1), DT_SHAPE(3, 4));
    dt_tensor *placed = dt_ones(ctx, DT_SHAPE(3, 4), .mesh = mesh, .place = "P(sum)");
    char *text = dt_format(dt_transpose(plain, 0, 1)), *head = dt_format(placed),
         *part = dt_format(placed, .local = true);
    bool worked = name && text && head && part;
    free(text);
    free(head);
    free(part);
    worked = dt_save_npy(placed, path) == DT_OK && worked;
    dt_tensor *loaded = worked ? dt_load_npy(ctx, path, .mesh = mesh, .place = "S(0)") : NULL;
    worked = worked && loaded;
    worked = worked &&
             dt_save_npz(path, 2, (const char *[]){"a", "b"}, (dt_tensor *[]){plain, loaded ? plain : NULL}) == DT_OK;
    worked = worked && dt_load_npz(ctx, path, "b");
    dt_dlpack_managed *lent = plain ? dt_to_dlpack(plain) : NULL;
    dt_tensor *borrowed = lent ? dt_from_dlpack(ctx, lent) : NULL;
    if (lent && !borrowed)
        lent->deleter(lent);
    dt_mesh_release(mesh);
    dt_scope_end(scope);
    return worked && borrowed;
}

static void uses__survive_failing_allocations(void **state) {
    (void)state;
    long n_failed = 0;
    for (bool was_short = true; was_short;) {
        test_memory memory = {0};
        dt_ctx *ctx = dt_init(&(dt_init_options){
            .transport = "self", .heap_bytes = 1 << 20, .threads = 1, .allocator = test_memory_allocator(&memory)});
        assert_non_null(ctx);
        memory.fail_at = memory.n_calls + n_failed + 1;
        bool worked = use_all(ctx);
        was_short = memory.n_calls >= memory.fail_at;
        /* A redistribution keeps the text of its specs for errors; it continues without that text. */
        if (worked && was_short &&
            (strstr(dt_error_text(ctx), "for a text") || strstr(dt_error_text(ctx), "for the text of a mesh")))
            worked = false;
        if (worked == was_short || dt_error_status(ctx) != (was_short ? DT_ERR_MEMORY : DT_OK))
            fail_msg("allocation %ld: %s, %s: %s", n_failed + 1, worked ? "worked" : "did not work",
                     dt_status_name(dt_error_status(ctx)), dt_error_text(ctx));
        assert_int_equal(dt_heap_stats(ctx).n_live, 0);
        dt_error_clear(ctx);
        assert_int_equal(dt_close(ctx), 0);
        if (memory.n_live || memory.wrong_size)
            fail_msg("after allocation %ld failed, %ld blocks are left", n_failed + 1, memory.n_live);
        n_failed += was_short;
    }
    assert_true(n_failed > 30);
}

/* Transfers that were not waited for, lent tensors that were not given back, held tensors. */
static void forgotten__is_freed_with_the_context(void **state) {
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

static int begin(void **state) {
    (void)state;
    (void)snprintf(path, sizeof path, "/tmp/dtensor_memory_XXXXXX");
    int fd = mkstemp(path);
    return fd < 0 || close(fd) != 0;
}

static int end(void **state) {
    (void)state;
    return unlink(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(uses__survive_failing_allocations),
        cmocka_unit_test(forgotten__is_freed_with_the_context),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
