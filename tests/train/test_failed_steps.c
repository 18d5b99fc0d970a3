/* SPDX-License-Identifier: Apache-2.0
 *
 * Training in a context that holds an error: nothing is changed, and after dt_error_clear replicas are equal, wherever
 * in a step one rank ran out of memory.
 */
#include "support/ranks.h"

#include "base/ctx.h"
#include "dtensor/dtensor.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static float first(const dt_tensor *tensor) { return *(const float *)dt_data(tensor); }

static void step__is_refused_after_a_failed_clip(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(&(dt_init_options){.transport = "self"});
    dt_tensor *w = dt_ones(ctx, DT_SHAPE(3), .requires_grad = true);
    dt_optimizer *optimizer = dt_sgd_new(ctx, 0.1);
    assert_int_equal(dt_backward(dt_sum(dt_mul_scalar(w, DT_NUMBER(INFINITY)))), DT_OK);
    assert_null(dt_clip_grad_norm(DT_TENSORS(w), 1.0, .error_if_nonfinite = true));
    assert_error_contains(ctx, DT_ERR_VALUE, "not finite");
    assert_int_equal(dt_optimizer_step(optimizer, .parameters = DT_TENSORS(w)), DT_ERR_VALUE);
    assert_int_equal(dt_zero_grad(DT_TENSORS(w)), DT_ERR_VALUE);
    assert_true(isinf(first(dt_grad(w))));
    assert_error_contains(ctx, DT_ERR_VALUE, "not finite");
    assert_int_equal(dt_error_clear(ctx), DT_OK);
    assert_true(first(w) == 1);
    assert_int_equal(dt_optimizer_n_steps(optimizer, w), 0);
    assert_int_equal(dt_zero_grad(DT_TENSORS(w)), DT_OK);
    assert_int_equal(dt_backward(dt_sum(w)), DT_OK);
    assert_int_equal(dt_optimizer_step(optimizer, .parameters = DT_TENSORS(w)), DT_OK);
    assert_true(fabsf(first(w) - 0.9F) < 1e-6F);
    dt_optimizer_free(optimizer);
    assert_int_equal(dt_close(ctx), 0);
}

/* A program that never checks its errors has no tensor to print. */
static void tensors__are_not_made_without_their_mesh(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(&(dt_init_options){.transport = "self"});
    dt_mesh *mesh = dt_mesh_new(ctx, "dp=2,tp=2");
    assert_null(mesh);
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(4, 4), .mesh = mesh, .place = "S(0)");
    assert_null(x);
    assert_null(dt_randn(ctx, DT_SHAPE(2)));
    assert_true(isnan(dt_item(dt_sum(x))));
    assert_error_contains(ctx, DT_ERR_MESH, "mesh_new");
    assert_int_equal(dt_error_clear(ctx), DT_OK);
    assert_non_null(dt_ones(ctx, DT_SHAPE(4, 4)));
    assert_int_equal(dt_close(ctx), 0);
}

/* Allocations of a rank, in the heap and outside; one may fail. */
typedef struct counted_memory {
    void *(*resize)(void *user, void *old, size_t old_size, size_t new_size);
    void *user;
    long n_calls, fail_at;
} counted_memory;

static bool is_permitted(counted_memory *memory) { return ++memory->n_calls != memory->fail_at; }

static void *resize_counted(void *user, void *old, size_t old_size, size_t new_size) {
    counted_memory *memory = user;
    if (new_size > 0 && !is_permitted(memory))
        return NULL;
    return memory->resize(memory->user, old, old_size, new_size);
}

static bool permit_counted(void *user, size_t bytes) {
    (void)bytes;
    return is_permitted(user);
}

static void train(dt_ctx *ctx, dt_mesh *mesh, dt_tensor *w, dt_tensor *b, dt_optimizer *optimizer) {
    dt_tensor *x = dt_full(ctx, DT_SHAPE(7, 5), DT_NUMBER(0.5), .mesh = mesh, .place = "S(0)");
    dt_tensor *loss = dt_sum(dt_square(dt_linear(x, w, b)));
    (void)dt_backward(loss);
    (void)dt_clip_grad_norm(DT_TENSORS(w, b), 1.0);
    (void)dt_optimizer_step(optimizer, .parameters = DT_TENSORS(w, b));
    (void)dt_zero_grad(DT_TENSORS(w, b));
}

/* Whether all ranks have the same bits of a replicated tensor. */
static int check_equal(dt_ctx *ctx, const dt_tensor *tensor, long n) {
    if (!tensor)
        return 0;
    int64_t count = dt_tensor_local_elements(tensor), world = dt_world(ctx);
    float *all = malloc((size_t)(count * world) * sizeof *all);
    CHECK_OK(ctx, dt_comm_all_gather(dt_group_world(ctx), dt_data(tensor), all, count, DT_F32));
    for (int64_t r = 0; r < world; r++)
        CHECK(!memcmp(all + r * count, dt_data(tensor), (size_t)count * sizeof *all),
              "allocation %ld failed: rank %lld has %g, rank %lld has %g", n, (long long)r, (double)all[r * count],
              (long long)dt_rank(ctx), (double)first(tensor));
    free(all);
    return 0;
}

static int fail_each_allocation(dt_ctx *ctx, void *arg) {
    long n_failed = 0;
    static _Thread_local counted_memory memory; /* outlives a failed check, after which the context is closed */
    memory = (counted_memory){.resize = ctx->allocator.resize, .user = ctx->allocator.user};
    int64_t world = dt_world(ctx);
    dt_mesh *mesh = dt_mesh_from_shape(ctx, &world, 1, NULL);
    dt_tensor *w = dt_ones(ctx, DT_SHAPE(4, 5), .mesh = mesh, .requires_grad = true);
    dt_tensor *b = dt_ones(ctx, DT_SHAPE(4), .mesh = mesh, .requires_grad = true);
    (void)arg;
    ctx->allocator = (dt_allocator){resize_counted, &memory, permit_counted};
    for (long n = 1, n_passed = 0; n_passed < world; n++) {
        dt_scope scope = dt_scope_begin(ctx);
        dt_optimizer *optimizer = dt_adamw_new(ctx, 0.1);
        memory.n_calls = 0;
        memory.fail_at = dt_rank(ctx) == n % world ? (n + world - 1) / world : 0;
        train(ctx, mesh, w, b, optimizer);
        memory.fail_at = 0;
        (void)dt_comm_barrier(dt_group_world(ctx)); /* a failure reaches all */
        bool failed = dt_failed(ctx);
        n_failed += failed;
        n_passed = failed ? 0 : n_passed + 1;
        if (failed)
            CHECK_OK(ctx, dt_error_clear(ctx));
        CHECK(!check_equal(ctx, w, n) && !check_equal(ctx, b, n), "replicas differ");
        int64_t least, own = dt_optimizer_n_steps(optimizer, w);
        CHECK_OK(ctx, dt_comm_all_reduce(dt_group_world(ctx), &own, &least, 1, DT_I64, DT_MIN));
        CHECK(own == least, "allocation %ld failed: %lld steps, another rank has %lld", n, (long long)own,
              (long long)least);
        if (own > 0)
            CHECK(!check_equal(ctx, dt_optimizer_state(optimizer, w, "exp_avg"), n), "states differ");
        dt_optimizer_free(optimizer);
        CHECK_OK(ctx, dt_zero_grad(DT_TENSORS(w, b)));
        dt_scope_end(scope);
    }
    ctx->allocator = (dt_allocator){memory.resize, memory.user, NULL};
    CHECK(n_failed > 20, "%ld failed allocations", n_failed);
    return 0;
}

static void replicas__are_equal_wherever_one_rank_ran_out_of_memory(void **state) {
    (void)state;
    run_ranks(2, fail_each_allocation, NULL);
    run_ranks(3, fail_each_allocation, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(step__is_refused_after_a_failed_clip),
        cmocka_unit_test(tensors__are_not_made_without_their_mesh),
        cmocka_unit_test(replicas__are_equal_wherever_one_rank_ran_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
