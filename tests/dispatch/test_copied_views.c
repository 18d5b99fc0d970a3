/* SPDX-License-Identifier: Apache-2.0
 *
 * Views of moved inputs are views of copies: they are not written to, and not read after their base has changed. With
 * placements that need no move the same calls are views of the tensor itself. Ranks 1 2 3 4.
 */
#include "dispatch/calls.h"

static int open_mesh(dt_ctx *ctx, dt_mesh **mesh) {
    int64_t n = dt_world(ctx);
    *mesh = dt_mesh_from_shape(ctx, &n, 1, NULL);
    CHECK(*mesh, "%s", dt_error_text(ctx));
    return 0;
}

/* The call fails with a text that has all of these. */
#define FAILS(call, ...)                                                                                             \
    do {                                                                                                             \
        bool failed_ = !(call) && dt_error_status(ctx) == DT_ERR_STATE;                                              \
        const char *parts_[] = {__VA_ARGS__};                                                                        \
        CHECK(failed_, "did not fail: %s", dt_error_text(ctx));                                                      \
        for (size_t i_ = 0; i_ < sizeof parts_ / sizeof *parts_; i_++)                                               \
            CHECK(strstr(dt_error_text(ctx), parts_[i_]), "expected '%s', got '%s'", parts_[i_],                     \
                  dt_error_text(ctx));                                                                               \
        CHECK_OK(ctx, dt_error_clear(ctx));                                                                          \
    } while (0)

static const char *at_line(int line) {
    static char text[512];
    snprintf(text, sizeof text, "(at %s:%d)", __FILE__, line);
    return text;
}

/* dt_fill_(dt_slice(x)) changes x where x is R, and is refused where x is S(0); it is never lost. */
static int write_through(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh;
    if (open_mesh(ctx, &mesh))
        return 1;
    dt_tensor *r = dt_zeros(ctx, DT_SHAPE(6, 4), .mesh = mesh, .place = "R");
    CHECK(dt_fill_(dt_slice(dt_transpose(dt_slice(r, 0, 1, 5, 1), 0, 1), 0, 0, 2, 1), 1), "%s", dt_error_text(ctx));
    CHECK(dt_item(dt_sum(r)) == 8, "%g", dt_item(dt_sum(r)));
    dt_tensor *s = dt_zeros(ctx, DT_SHAPE(6, 4), .mesh = mesh, .place = "S(0)");
    CHECK(dt_fill_(dt_slice(s, 1, 1, 3, 1), 1), "along a dim that is not sharded: %s", dt_error_text(ctx));
    CHECK(dt_item(dt_sum(s)) == 12, "%g", dt_item(dt_sum(s)));
    dt_tensor *view = dt_slice(s, 0, 1, 5, 1);
    int made = __LINE__ - 1;
    FAILS(dt_fill_(view, 1), "fill_", "cannot write to f32[4,4]", "it is a view of a copy made by slice",
          at_line(made), "redistribute the input before, or write to the input", at_line(__LINE__ - 1));
    FAILS(dt_fill_(dt_transpose(view, 0, 1), 1), "it is a view of a copy made by slice");
    FAILS(dt_uniform_(view) == DT_OK, "uniform_", "it is a view of a copy made by slice");
    FAILS(dt_copy_(dt_select(s, 0, 2), dt_ones(ctx, DT_SHAPE(4), .mesh = mesh)), "view of a copy made by select");
    CHECK(dt_item(dt_sum(s)) == 12, "nothing was written: %g", dt_item(dt_sum(s)));
    /* Copies that the program requested are its own. */
    CHECK(dt_fill_(dt_clone(view), 1) && dt_fill_(dt_redistribute(s, "R"), 1) && dt_fill_(dt_add(view, view), 1),
          "%s", dt_error_text(ctx));
    dt_tensor *whole = dt_redistribute(s, "R");
    CHECK(dt_fill_(dt_slice(whole, 0, 1, 5, 1), 1) && dt_item(dt_sum(whole)) == 20, "%g", dt_item(dt_sum(whole)));
    dt_mesh_release(mesh);
    return 0;
}

/* reshape copies where strides allow no view, on one rank as well; as in PyTorch that copy is an ordinary tensor. */
static int reshape_copies(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh;
    if (open_mesh(ctx, &mesh))
        return 1;
    dt_tensor *r = dt_zeros(ctx, DT_SHAPE(6, 4), .mesh = mesh, .place = "R");
    dt_tensor *copy = dt_reshape(dt_transpose(r, 0, 1), DT_SHAPE(24));
    CHECK(dt_fill_(copy, 1) && dt_item(dt_sum(copy)) == 24 && dt_item(dt_sum(r)) == 0, "%s", dt_error_text(ctx));
    CHECK(dt_fill_(r, 2) && dt_item(dt_sum(copy)) == 24, "%s", dt_error_text(ctx));
    dt_mesh_release(mesh);
    return 0;
}

/* A change of the base makes the copy stale, through whichever handle it was made; the error names both sites. */
static int read_stale(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh;
    if (open_mesh(ctx, &mesh))
        return 1;
    dt_tensor *s = dt_ones(ctx, DT_SHAPE(6, 4), .mesh = mesh, .place = "S(0)");
    dt_tensor *view = dt_slice(s, 0, 1, 5, 1), *second = dt_slice(view, 0, 0, 2, 1), *same = dt_transpose(view, 0, 1);
    int made = __LINE__ - 1;
    dt_tensor *total = dt_sum(view), *copy = dt_clone(view), *again = dt_slice(copy, 1, 1, 3, 1);
    CHECK(dt_item(total) == 16 && dt_item(dt_sum(second)) == 8, "%s", dt_error_text(ctx));
    CHECK(dt_add_scalar_(dt_slice(s, 1, 0, 1, 1), 1), "%s", dt_error_text(ctx));
    int changed = __LINE__ - 1;
    FAILS(dt_add(view, view), "add", "f32[4,4]", "is a view of a copy made by slice", at_line(made),
          "the input has been changed by add_", "take the view again");
    FAILS(dt_sum(same), at_line(changed));
    FAILS(dt_sum(second), at_line(changed), at_line(made));
    FAILS(dt_redistribute(view, "R"), "redistribute", at_line(changed));
    FAILS(dt_redistribute_start(view, "R"), "redistribute_start", at_line(changed));
    FAILS(dt_full_tensor(view), "full_tensor", at_line(changed));
    FAILS(dt_clone(view), "clone", at_line(changed));
    FAILS(dt_print(view) == DT_OK, "print", at_line(changed));
    FAILS(dt_item(dt_slice(dt_select(view, 0, 0), 0, 0, 1, 1)) == 1, at_line(changed));
    FAILS(dt_save_npy(view, "/nonexistent/x.npy") == DT_OK, "save_npy", at_line(changed));
    FAILS(dt_to_dlpack(view), "to_dlpack", at_line(changed));
    FAILS(dt_distribute_tensor(dt_to_local(view), mesh, "R"), "distribute_tensor", at_line(changed));
    FAILS(dt_add(s, dt_slice(s, 0, 0, 6, 1)) && dt_sum(view), at_line(changed)); /* s itself, and a new view */
    CHECK(dt_item(total) == 16 && dt_item(dt_sum(copy)) == 16 && dt_item(dt_sum(again)) == 8,
          "values that were computed before stay");
    CHECK(dt_item(dt_sum(dt_slice(s, 0, 1, 5, 1))) == 20, "taken again: %s", dt_error_text(ctx));
    dt_drop(view); /* a stale view is dropped like any */
    dt_mesh_release(mesh);
    return 0;
}

/* The copy needs the version of its base, not its memory. */
static int keep_no_memory(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh;
    if (open_mesh(ctx, &mesh))
        return 1;
    int64_t rows = 16 * dt_world(ctx);
    size_t before = dt_heap_stats(ctx).live_bytes;
    dt_tensor *s = dt_ones(ctx, DT_SHAPE(rows, 1024), .mesh = mesh, .place = "S(0)"), *view = dt_select(s, 0, 3);
    dt_drop(s);
    CHECK(dt_heap_stats(ctx).live_bytes - before <= (size_t)rows * 1024 * 4, "one copy is left, not the base");
    CHECK(dt_item(dt_sum(view)) == 1024, "%s", dt_error_text(ctx));
    FAILS(dt_fill_(view, 2), "it is a view of a copy made by select");
    dt_drop(view);
    dt_mesh_release(mesh);
    return 0;
}

#define TEST(name)                                                                                                   \
    static void copied_views__##name(void **state) {                                                                 \
        (void)state;                                                                                                 \
        for (int64_t n = 1; n <= 4; n++)                                                                             \
            run_ranks(n, name, NULL);                                                                                \
    }
TEST(write_through)
TEST(reshape_copies)
TEST(read_stale)
TEST(keep_no_memory)

static void copied_views__survive_failing_allocations(void **state) {
    (void)state;
    test_memory memory = {0};
    dt_ctx *ctx = dt_init(&(dt_init_options){.transport = "self", .allocator = test_memory_allocator(&memory)});
    dt_mesh *mesh = dt_mesh_new(ctx, "1");
    dt_tensor *s = dt_ones(ctx, DT_SHAPE(6, 4), .mesh = mesh, .place = "S(0)"), *view = NULL;
    size_t heap = dt_heap_stats(ctx).live_bytes;
    int n_failed = 0;
    for (; !view && n_failed < 100; n_failed += !view) {
        memory.fail_at = memory.n_calls + n_failed + 1;
        view = dt_slice(s, 0, 1, 5, 1);
        memory.fail_at = 0;
        if (!view) {
            assert_int_equal(dt_error_status(ctx), DT_ERR_MEMORY);
            assert_int_equal(dt_error_clear(ctx), DT_OK);
            assert_int_equal(dt_heap_stats(ctx).live_bytes, heap);
        }
    }
    assert_true(view && n_failed > 5 && n_failed < 100);
    dt_mesh_release(mesh);
    assert_int_equal(dt_close(ctx), 0);
    assert_int_equal(memory.n_live, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copied_views__write_through),
        cmocka_unit_test(copied_views__reshape_copies),
        cmocka_unit_test(copied_views__read_stale),
        cmocka_unit_test(copied_views__keep_no_memory),
        cmocka_unit_test(copied_views__survive_failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
