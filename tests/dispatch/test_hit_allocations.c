/* SPDX-License-Identifier: Apache-2.0
 *
 * A call whose decision is cached allocates no ordinary memory: handles and storages come from pools, data and scratch
 * from the heap of the rank. Every sample of every op of the table, on plain tensors and on a mesh of one rank. A
 * decomposition is no cached decision: it infers the shapes of its outputs again, on the stack, and its parts are hits.
 */
#include "dispatch/matrix_structure.h"

#include <string.h>

typedef struct fixture {
    dt_ctx *ctx;
    dt_mesh *mesh;
    test_memory memory;
    int n_calls, n_wrong;
    char wrong[2048];
} fixture;

/* The outputs of a call are freed with their scope, so that pools have what the next call takes. */
static dt_status run_once(fixture *self, test_call *call) {
    dt_scope scope = dt_scope_begin(self->ctx);
    dt_status status = calls_run(self->ctx, call);
    dt_scope_end(scope);
    return status;
}

static void run_sample(fixture *self, const char *text, bool is_placed) {
    static const int64_t one[] = {1};
    test_call call = {.arena = dt__arena_new(self->ctx)};
    dt_scope scope = dt_scope_begin(self->ctx);
    if (dt__placed_call_parse(&call.arena, text, 1, one, &call.parsed) != DT_OK)
        fail_msg("%s: %s", text, dt_error_text(self->ctx));
    calls_prepare(&call);
    assert_true(calls_make_inputs(&call));
    for (int i = 0; i < call.parsed.call.n_inputs; i++)
        call.call.inputs[i] = structure_of(&call, i, call.call.inputs[i]);
    for (int i = 0; i < call.parsed.call.n_inputs && is_placed; i++)
        call.call.inputs[i] = calls_distribute(call.call.inputs[i], self->mesh, "R");
    dt_status status = DT_OK;
    for (int warm = 0; warm < 3 && status == DT_OK; warm++)
        status = run_once(self, &call);
    const long before = self->memory.n_calls;
    const int64_t n_misses = dt_cache_stats(self->ctx).n_misses;
    if (status == DT_OK)
        status = run_once(self, &call);
    const long n = self->memory.n_calls - before;
    if (status != DT_OK)
        fail_msg("%s: %s", text, dt_error_text(self->ctx));
    assert_int_equal(dt_cache_stats(self->ctx).n_misses, n_misses);
    self->n_calls++;
    if (n) {
        const size_t at = strlen(self->wrong);
        snprintf(self->wrong + at, sizeof self->wrong - at, "\n%s%s: %ld", text, is_placed ? " on a mesh" : "", n);
        self->n_wrong++;
    }
    dt__call_end(&call.call);
    dt_scope_end(scope);
    dt__arena_free(&call.arena);
}

/* Freed handles are kept for a while, so that they are recognized (base/lifetime.h); then their memory is reused. */
static void fill_queue_of_freed(dt_ctx *ctx) {
    for (int i = 0; i < 6000; i++) {
        dt_tensor *tensor = dt_empty(ctx, DT_SHAPE(1));
        assert_non_null(tensor);
        dt_drop(tensor);
    }
}

static void hit__allocates_nothing_but_the_outputs(void **state) {
    (void)state;
    fixture self = {.n_calls = 0};
    dt_allocator allocator = test_memory_allocator(&self.memory);
    allocator.permit = NULL; /* which would count memory of the heap */
    self.ctx = dt_init(&(dt_init_options){.transport = "self", .threads = 1, .allocator = allocator});
    assert_non_null(self.ctx);
    assert_int_equal(dt__ops_open(self.ctx), DT_OK);
    self.mesh = dt_mesh_from_shape(self.ctx, (int64_t[]){1}, 1, NULL);
    fill_queue_of_freed(self.ctx);
    for (int i = 0; i < dt__op_count(self.ctx); i++) {
        char samples[4096], *rest = samples, *sample;
        const dt_op *op = dt__op_at(self.ctx, i)->op;
        snprintf(samples, sizeof samples, "%s", op->samples ? op->samples : "");
        while ((sample = strsep(&rest, "\n")) != NULL)
            for (int is_placed = 0; is_placed < 2 && *sample; is_placed++)
                run_sample(&self, sample, is_placed);
    }
    if (self.n_wrong)
        fail_msg("%d of %d cached calls allocate:%s", self.n_wrong, self.n_calls, self.wrong);
    assert_true(self.n_calls > 1000);
    dt_mesh_release(self.mesh);
    assert_int_equal(dt_close(self.ctx), 0);
    assert_int_equal(self.memory.n_live, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hit__allocates_nothing_but_the_outputs),
    };
    return cmocka_run_group_tests_name("dispatch.hit_allocations", tests, NULL, NULL);
}
