/* SPDX-License-Identifier: Apache-2.0
 *
 * The lifetime of meshes: reference counts, roots held by sub-meshes, the stack of current meshes, the end of a
 * context, and every allocation failing in turn.
 */
#include "mesh/meshes.h"

static void references__are_counted(void **state) {
    (void)state;
    world w;
    dt_ctx *ctx = world_begin(&w, 8, 5);
    ctx->freed_kept = 0; /* blocks are counted */
    dt_mesh *mesh = require(ctx, dt_mesh_new(ctx, "dp=2,tp=4"));
    long with_root = w.memory.n_live;
    assert_ptr_equal(dt_mesh_retain(mesh), mesh);
    dt_mesh *slice = require(ctx, dt_mesh_slice(mesh, "tp")), *flat = require(ctx, dt_mesh_flatten(slice, "f"));
    dt_mesh_release(mesh);
    dt_mesh_release(mesh);
    assert_mesh(slice, "tp=4", "4 5 6 7");
    dt_mesh_release(slice);
    assert_mesh(flat, "f=4", "4 5 6 7");
    dt_mesh *root = dt_mesh_root(flat);
    assert_mesh(root, "dp=2,tp=4", "0 1 2 3 4 5 6 7");
    dt_mesh_release(flat);
    assert_int_equal(w.memory.n_live, with_root);
    dt_mesh_release(root);
    assert_true(w.memory.n_live < with_root);
    world_end(&w);
}

static void context__frees_what_is_left(void **state) {
    (void)state;
    world w;
    dt_ctx *ctx = world_begin(&w, 8, 5);
    dt_mesh *mesh = require(ctx, dt_mesh_new(ctx, "dp=2,tp=4")), *other = require(ctx, dt_mesh_new(ctx, "[7,5,1]"));
    dt_mesh *slice = require(ctx, dt_mesh_slice(mesh, "tp"));
    dt_mesh_retain(slice);
    require(ctx, dt_mesh_flatten(mesh, NULL));
    assert_non_null(dt_mesh_text(slice));
    assert_int_equal(dt_mesh_scope_begin(slice), DT_OK);
    assert_int_equal(dt_mesh_scope_begin(other), DT_OK);
    dt_mesh_release(mesh); /* held by its sub-meshes */
    world_end(&w);
}

static void current__is_the_one_pushed_last(void **state) {
    (void)state;
    world w;
    dt_ctx *ctx = world_begin(&w, 8, 0);
    assert_null(dt_mesh_current(ctx));
    assert_int_equal(dt_mesh_scope_end(ctx), DT_ERR_STATE);
    assert_error_contains(ctx, DT_ERR_STATE, "no scope is open");
    dt_error_clear(ctx);
    dt_mesh *outer = require(ctx, dt_mesh_new(ctx, "8")), *inner = require(ctx, dt_mesh_new(ctx, "2x4"));
    assert_int_equal(dt_mesh_scope_begin(outer), DT_OK);
    assert_int_equal(dt_mesh_scope_begin(inner), DT_OK);
    dt_mesh_release(inner); /* the stack holds it */
    assert_mesh(dt_mesh_current(ctx), "2x4", "0 1 2 3 4 5 6 7");
    assert_int_equal(dt_mesh_scope_end(ctx), DT_OK);
    assert_ptr_equal(dt_mesh_current(ctx), outer);
    for (int i = 0; i < 100; i++)
        assert_int_equal(dt_mesh_scope_begin(outer), DT_OK);
    for (int i = 0; i < 101; i++)
        assert_int_equal(dt_mesh_scope_end(ctx), DT_OK);
    assert_null(dt_mesh_current(ctx));
    assert_int_equal(dt_mesh_scope_end(ctx), DT_ERR_STATE);
    dt_error_clear(ctx);
    assert_int_equal(dt_mesh_scope_begin(NULL), DT_ERR_VALUE);
    assert_null(dt_mesh_current(NULL));
    assert_int_equal(dt_mesh_scope_end(NULL), DT_ERR_STATE);
    dt_mesh_release(outer);
    world_end(&w);
}

/* Repeated operations on one root allocate nothing that stays but the names of the root. */
static void operations__do_not_leak(void **state) {
    (void)state;
    world w;
    dt_ctx *ctx = world_begin(&w, 8, 5);
    ctx->freed_kept = 0; /* blocks are counted */
    dt_mesh *mesh = require(ctx, dt_mesh_new(ctx, "dp=2,tp=4"));
    long blocks = 0;
    for (int i = 0; i < 1000; i++) {
        dt_mesh *slice = require(ctx, dt_mesh_slice(mesh, "tp")), *flat = require(ctx, dt_mesh_flatten(mesh, NULL));
        dt_mesh *unflattened =
            require(ctx, dt_mesh_unflatten(mesh, 1, (int64_t[]){2, 2}, 2, &(dt_mesh_options){.names = "a,b"}));
        dt_mesh_release(slice);
        dt_mesh_release(flat);
        dt_mesh_release(unflattened);
        if (i == 0)
            blocks = w.memory.n_live;
    }
    assert_int_equal(w.memory.n_live, blocks);
    dt_mesh_release(mesh);
    world_end(&w);
}

/* Every constructor once, text and stack included; returns whether all calls succeeded. */
static bool call_all_constructors(dt_ctx *ctx, void *user) {
    (void)user;
    ctx->world = 8;
    ctx->rank = 7;
    dt_mesh *meshes[16] = {NULL};
    int n = 0;
    int64_t hosts = 0;
    dt_mesh *mesh = meshes[n++] =
        dt_mesh_from_shape(ctx, (int64_t[]){2, 2, 2}, 3, &(dt_mesh_options){.names = "dp,cp,tp", .device = "cuda"});
    dt_mesh *list = meshes[n++] = dt_mesh_new(ctx, "a,b=[[5,1],[0,7]]");
    meshes[n++] = dt_mesh_new(ctx, "f=(2,2):(4,1)+2 of dp=2,cp=2,tp=2");
    dt_mesh *slice = meshes[n++] = dt_mesh_slice(mesh, "cp,tp");
    dt_mesh *tp = meshes[n++] = dt_mesh_slice(slice, "tp");
    dt_mesh *dp = meshes[n++] = dt_mesh_slice_at(mesh, "dp", 3);
    dt_mesh *flat = meshes[n++] = dt_mesh_flatten(slice, NULL);
    meshes[n++] = dt_mesh_slice(mesh, "dp,cp_tp");
    meshes[n++] = dt_mesh_unflatten(flat, 0, (int64_t[]){2, 2}, 2, &(dt_mesh_options){.names = "x,y"});
    meshes[n++] = dt_mesh_concatenate((dt_mesh *[]){tp}, 1);
    meshes[n++] = dt_mesh_root(dp);
    bool ok = dt_mesh_text(flat) && dt_mesh_text(list) && dt_mesh_scope_begin(flat) == DT_OK;
    if (ok)
        dt_mesh_scope_end(ctx);
    ctx->ranks_per_host = 2;
    hosts = dt_mesh_n_hosts(mesh);
    ok = ok && hosts == 4 && dt_mesh_n_slices(mesh, "dp") == 4;
    for (int i = 0; i < n; i++) {
        ok = ok && meshes[i];
        dt_mesh_release(meshes[i]);
    }
    return ok;
}

static void log_nothing(void *user, dt_log_level level, const char *line) { (void)user, (void)level, (void)line; }

/* A call on a mesh prints its text for the log; if the copy of that fails, the error describes the mesh once more. */
static bool slice_with_log(dt_ctx *ctx, void *user) {
    (void)user;
    ctx->world = 4;
    ctx->log = log_nothing;
    ctx->log_level = DT_LOG_DEBUG;
    ctx->log_is_default = false;
    dt_mesh *mesh = dt_mesh_new(ctx, "dp=2,tp=2"), *slice = dt_mesh_slice(mesh, "tp");
    bool ok = mesh && slice && !dt_failed(ctx);
    dt_mesh_release(slice);
    dt_mesh_release(mesh);
    return ok;
}

static void memory__every_allocation_may_fail(void **state) {
    (void)state;
    assert_in_range(assert_survives_failing_allocations(slice_with_log, NULL), 3, 1000);
    assert_in_range(assert_survives_failing_allocations(call_all_constructors, NULL), 10, 1000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(references__are_counted),           cmocka_unit_test(context__frees_what_is_left),
        cmocka_unit_test(current__is_the_one_pushed_last),   cmocka_unit_test(operations__do_not_leak),
        cmocka_unit_test(memory__every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
