/* SPDX-License-Identifier: Apache-2.0
 *
 * The statistics of the heap tell parameters, gradients, the state of optimizers, activations and scratch memory apart.
 */
#include "support/ranks.h"

#include "dtensor/dtensor.h"

#include <stdio.h>
#include <string.h>

enum { N = 48, BYTES = N * N * 4 };

static size_t live(const dt_ctx *ctx, dt_memory_kind kind) { return dt_heap_stats(ctx).by_kind[kind].live_bytes; }
static size_t peak(const dt_ctx *ctx, dt_memory_kind kind) { return dt_heap_stats(ctx).by_kind[kind].peak_bytes; }

static void assert_kinds_add_up(const dt_ctx *ctx) {
    const dt_heap_statistics stats = dt_heap_stats(ctx);
    size_t sum = 0;
    for (int k = 0; k < DT_N_MEMORY_KINDS; k++) {
        sum += stats.by_kind[k].live_bytes;
        assert_true(stats.by_kind[k].live_bytes <= stats.by_kind[k].peak_bytes);
        assert_true(stats.by_kind[k].peak_bytes <= stats.peak_bytes);
    }
    assert_int_equal(sum, stats.live_bytes);
}

static void memory__is_counted_by_kind(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    const size_t scratch = live(ctx, DT_MEMORY_SCRATCH);
    dt_tensor *w = dt_ones(ctx, DT_SHAPE(N, N), .requires_grad = true);
    assert_int_equal(live(ctx, DT_MEMORY_PARAMETERS), BYTES);
    assert_int_equal(live(ctx, DT_MEMORY_ACTIVATIONS), 0);
    dt_scope scope = dt_scope_begin(ctx);
    dt_tensor *loss = dt_sum(dt_mul(dt_exp(w), w));
    assert_int_equal(live(ctx, DT_MEMORY_ACTIVATIONS), 2 * BYTES + 4);
    assert_int_equal(dt_backward(loss), DT_OK);
    assert_int_equal(live(ctx, DT_MEMORY_GRADIENTS), BYTES);
    assert_int_equal(peak(ctx, DT_MEMORY_GRADIENTS), BYTES);
    assert_true(peak(ctx, DT_MEMORY_SCRATCH) >= scratch + BYTES);
    dt_scope_end(scope);
    assert_int_equal(live(ctx, DT_MEMORY_ACTIVATIONS), 0);
    assert_int_equal(peak(ctx, DT_MEMORY_ACTIVATIONS), 2 * BYTES + 4);
    dt_optimizer *optimizer = dt_adamw_new(ctx, 0.1);
    assert_int_equal(dt_optimizer_step(optimizer, .parameters = DT_TENSORS(w)), DT_OK);
    assert_int_equal(live(ctx, DT_MEMORY_OPTIMIZER), 2 * BYTES);
    assert_kinds_add_up(ctx);
    dt_zero_grad(DT_TENSORS(w));
    assert_int_equal(live(ctx, DT_MEMORY_GRADIENTS), 0);
    dt_optimizer_free(optimizer);
    assert_int_equal(live(ctx, DT_MEMORY_OPTIMIZER), 0);
    assert_int_equal(dt_set_requires_grad(w, false), DT_OK);
    assert_int_equal(live(ctx, DT_MEMORY_PARAMETERS), 0);
    assert_int_equal(live(ctx, DT_MEMORY_ACTIVATIONS), BYTES);
    dt_drop(w);
    assert_int_equal(live(ctx, DT_MEMORY_ACTIVATIONS), 0);
    assert_int_equal(peak(ctx, DT_MEMORY_PARAMETERS), BYTES);
    assert_kinds_add_up(ctx);
    assert_int_equal(dt_close(ctx), 0);
}

static void memory__has_a_table(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    dt_tensor *w = dt_ones(ctx, DT_SHAPE(N, N), .requires_grad = true);
    const char *text = dt_memory_text(ctx);
    char row[64];
    assert_non_null(text);
    for (int k = 0; k < DT_N_MEMORY_KINDS; k++)
        assert_non_null(strstr(text, dt_memory_kind_name((dt_memory_kind)k)));
    (void)snprintf(row, sizeof row, "\n%-16s %14d %14d\n", "parameters", BYTES, BYTES);
    assert_non_null(strstr(text, row));
    assert_string_equal(dt_memory_kind_name(DT_N_MEMORY_KINDS), "?");
    assert_null(dt_memory_text(NULL));
    dt_drop(w);
    assert_int_equal(dt_close(ctx), 0);
}

/* A sharded parameter that is used gathered: the copy is scratch, the parameter and its gradient are shards. */
static int check_used(dt_ctx *ctx, void *user) {
    (void)user;
    dt_mesh *mesh = dt_mesh_new(ctx, "fsdp=2");
    dt_tensor *w = dt_ones(ctx, DT_SHAPE(N, N), .mesh = mesh, .place = "S(0)", .requires_grad = true);
    assert_int_equal(dt_set_use(w, "R"), DT_OK);
    assert_int_equal(live(ctx, DT_MEMORY_PARAMETERS), BYTES / 2);
    const size_t scratch = live(ctx, DT_MEMORY_SCRATCH);
    dt_scope scope = dt_scope_begin(ctx);
    dt_tensor *y = dt_exp(w);
    assert_true(live(ctx, DT_MEMORY_SCRATCH) >= scratch + BYTES);
    assert_int_equal(live(ctx, DT_MEMORY_ACTIVATIONS), BYTES);
    assert_int_equal(dt_backward(dt_sum(y)), DT_OK);
    assert_int_equal(live(ctx, DT_MEMORY_GRADIENTS), BYTES / 2);
    dt_scope_end(scope);
    assert_kinds_add_up(ctx);
    dt_drop(w);
    dt_mesh_release(mesh);
    return 0;
}

static void memory__of_used_parameters_is_scratch(void **state) {
    (void)state;
    run_ranks(2, check_used, NULL);
}

/* f32 copies of two f16 factors and of their product; they are given back when the product is done. */
static void memory__of_products_is_scratch(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(N, N), .dtype = DT_F16);
    const size_t scratch = live(ctx, DT_MEMORY_SCRATCH);
    assert_non_null(dt_matmul(x, x));
    assert_true(peak(ctx, DT_MEMORY_SCRATCH) >= scratch + 3 * BYTES);
    assert_int_equal(live(ctx, DT_MEMORY_SCRATCH), scratch);
    assert_kinds_add_up(ctx);
    assert_int_equal(dt_close(ctx), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory__is_counted_by_kind),
        cmocka_unit_test(memory__has_a_table),
        cmocka_unit_test(memory__of_used_parameters_is_scratch),
        cmocka_unit_test(memory__of_products_is_scratch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
